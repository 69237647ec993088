//! User CPU time.

/// User CPU of this process in seconds: what other programs take from the machine does not count.
#[cfg(unix)]
pub(crate) fn user_seconds() -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask for its own usage");
    usage.user_time().num_microseconds() as f64 * 1e-6
}

/// Wall-clock time in seconds, where the system has no `getrusage`: read it on a quiet machine.
#[cfg(not(unix))]
pub(crate) fn user_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
