//! Progress of running replications for other threads, and a way to stop them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hopcast_protocols::time::Duration;

/// Progress and stop of one [`super::execute`]; can be shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    is_stopped: AtomicBool,
    prepared: AtomicU64,
    simulated: AtomicU64,
}

impl Control {
    /// No progress, not stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops all replications within milliseconds. Finished ones have already been passed on.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Steps of preparation so far, added up over all replications; one has [`Job::preparation`](super::Job::preparation).
    pub fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }

    /// Simulated time so far, added up over all replications.
    pub fn simulated(&self) -> Duration {
        Duration::from_nanos(self.simulated.load(Ordering::Relaxed))
    }

    /// The preparation of a replication has come on by a step.
    pub(super) fn on_prepared(&self) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
    }

    /// A replication has come on by `time`. The sum stays at the largest time there is.
    pub(super) fn on_progress(&self, time: Duration) {
        let add = |done: u64| Some(done.saturating_add(time.as_nanos()));
        let _ = self.simulated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}
