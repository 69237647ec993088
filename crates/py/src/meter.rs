//! What a replication takes from the machine.

#![expect(clippy::disallowed_types, reason = "this is where the clock of the machine is read, for the cost of a run")]

use std::time::Instant;

use hopcast_sim::results::{Meter, Spent};
use pyo3::Python;

/// The clocks of this machine: wall-clock time anywhere, user time of the thread and memory on Linux.
pub(crate) struct Machine;

impl Meter for Machine {
    type Mark = (Instant, Option<f64>);

    /// Python keeps what it knows of a thread as long as the thread is attached once, so that each call of a model is cheap: half a
    /// microsecond instead of eight.
    fn on_thread(&self, work: impl FnOnce() + Send) {
        Python::attach(|py| py.detach(work));
    }

    fn begin(&self) -> Self::Mark {
        (Instant::now(), usage().0)
    }

    fn end(&self, (wall, user): Self::Mark) -> Spent {
        let (user_now, peak_rss_bytes) = usage();
        let user_s = user_now.zip(user).map(|(now, then)| now - then);
        Spent { wall_s: Some(wall.elapsed().as_secs_f64()), user_s, peak_rss_bytes }
    }
}

/// User CPU seconds of this thread, and the process's largest resident set in bytes.
#[cfg(target_os = "linux")]
fn usage() -> (Option<f64>, Option<u64>) {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;

    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return (None, None) };
    // getrusage(2) counts in kilobytes of 1024.
    let peak = u64::try_from(usage.max_rss()).ok().map(|kilobytes| kilobytes * 1024);
    (Some(usage.user_time().num_microseconds() as f64 * 1e-6), peak)
}

#[cfg(not(target_os = "linux"))]
fn usage() -> (Option<f64>, Option<u64>) {
    (None, None)
}
