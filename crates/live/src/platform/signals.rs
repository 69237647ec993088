//! SIGINT, SIGTERM, SIGHUP and SIGUSR1 as something to wait for.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{SigId, flag, low_level};

/// The signals that end a program.
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// A signal ends the program at once: nothing has listened to signals yet.
static LEAVES: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Lets a signal end the program at once, with the status that a shell gives it, until [`Signals::listen`] for the first time: what has
/// been made until then does not have to be put in order. Ignored signals stay so. The first process of a process namespace needs this: it
/// gets no signal that it does not catch (pid_namespaces(7)).
///
/// # Errors
///
/// The platform's, where a handler can't be installed.
pub(crate) fn leave_at_once() -> io::Result<()> {
    let leaves = Arc::new(AtomicBool::new(true));
    if LEAVES.set(Arc::clone(&leaves)).is_err() {
        return Ok(());
    }
    for signal in ENDING.into_iter().filter(|&signal| !is_ignored(signal)) {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&leaves))?;
    }
    Ok(())
}

/// The signals that end a program, caught as long as this exists. A signal during the handling of another changes
/// nothing, since cleaning up takes a short, bounded time. An ignored SIGHUP stays ignored, as under `nohup`. Others are
/// caught even if ignored, since shells start background jobs with SIGINT ignored.
#[derive(Debug)]
pub struct Signals {
    last: Arc<AtomicUsize>,
    /// SIGUSR1 has come.
    again: Arc<AtomicBool>,
    wake: UnixStream,
    /// Of `wake`.
    waker: UnixStream,
    handlers: Vec<SigId>,
}

impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// The platform's, where a handler can't be installed.
    pub(crate) fn listen() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let (last, again) = (Arc::default(), Arc::default());
        let mut signals = Self { last, again, wake, waker, handlers: Vec::new() };
        for signal in ENDING.into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(signal)) {
            let number = usize::try_from(signal).expect("numbers of signals are positive");
            // In this order: whoever is woken finds the number.
            signals.handlers.push(flag::register_usize(signal, Arc::clone(&signals.last), number)?);
            signals.handlers.push(low_level::pipe::register(signal, signals.waker.try_clone()?)?);
        }
        if let Some(leaves) = LEAVES.get() {
            leaves.store(false, Ordering::SeqCst);
        }
        Ok(signals)
    }

    /// Listens to SIGUSR1 too, which ends nothing: see [`Self::take_again`].
    ///
    /// # Errors
    ///
    /// The platform's, where a handler can't be installed.
    pub(crate) fn listen_again(&mut self) -> io::Result<()> {
        self.handlers.push(flag::register(SIGUSR1, Arc::clone(&self.again))?);
        self.handlers.push(low_level::pipe::register(SIGUSR1, self.waker.try_clone()?)?);
        Ok(())
    }

    /// Whether SIGUSR1 has come since the last call. Ask for [`Self::received`] after it: this takes what wakes.
    pub(crate) fn take_again(&self) -> bool {
        let again = self.again.swap(false, Ordering::SeqCst);
        if again {
            let mut octets = [0; 64];
            while (&self.wake).read(&mut octets).is_ok_and(|len| len > 0) {}
        }
        again
    }

    /// The number of the last signal, if one has come.
    pub(crate) fn received(&self) -> Option<i32> {
        match self.last.load(Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}

/// Whether this process ignores a signal. The kernel's word is read: to ask for a handler is unsafe.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Becomes readable once a signal has come, and stays so after one that ends the program.
impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            low_level::unregister(handler);
        }
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};

    use super::*;

    #[test]
    fn a_signal_is_seen_and_wakes() {
        let signals = Signals::listen().expect("handlers can be installed");
        assert_eq!(signals.received(), None);
        let mut signals = signals;
        signals.listen_again().expect("handlers can be installed");
        raise(Signal::SIGUSR1).expect("a process may signal itself");
        assert!(signals.take_again() && !signals.take_again());
        assert_eq!(signals.received(), None, "it ends nothing");
        let nothing = io::Read::read(&mut &signals.wake, &mut [0]).map_err(|error| error.kind());
        assert_eq!(nothing, Err(io::ErrorKind::WouldBlock), "what wakes was taken");
        raise(Signal::SIGTERM).expect("a process may signal itself");
        assert_eq!(signals.received(), Some(SIGTERM));
        let mut octet = [0];
        assert_eq!(io::Read::read(&mut &signals.wake, &mut octet).expect("readable"), 1);
    }
}
