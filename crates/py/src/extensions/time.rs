//! Times, which are seconds since the start of the run in Python.

use hopcast_protocols::time::Instant;

/// An instant as Python is told of it.
pub(super) fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::START).as_secs_f64()
}
