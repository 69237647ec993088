//! A request to stop a run, also within one event.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, which threads share. Clones are the same request.
///
/// Loops of the engine and of hosts look at it in each turn, because a model that has something to do again and again at
/// one instant keeps them there. What has stopped there is in no state to go on.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks to stop; there is no way back.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::set`] was called.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
