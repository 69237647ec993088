//! Progress of running replications for other threads, and a way to stop them.

use std::sync::atomic::{AtomicU64, Ordering};

use hopcast_protocols::time::Duration;

use crate::stop::Stop;

/// Progress and stop of one [`super::execute`]; can be shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    stop: Stop,
    prepared: AtomicU64,
    simulated: AtomicU64,
}

impl Control {
    /// No progress, not stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops all replications within milliseconds, also those that stand still within one event, unless a model does not return from
    /// a call. Finished ones have already been passed on.
    pub fn stop(&self) {
        self.stop.set();
    }

    /// Whether [`Self::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    /// What runs look at.
    pub(super) fn request(&self) -> &Stop {
        &self.stop
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
