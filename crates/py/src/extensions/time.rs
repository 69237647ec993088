//! Times, which are seconds since the start of the run in Python.

use hopcast_protocols::time::{Duration, Instant};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An instant as Python is told of it.
pub(super) fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::START).as_secs_f64()
}

/// The first instant of which Python is told a time that is not before `at`: what is due then finds that its time has come.
pub(super) fn instant(at: f64) -> PyResult<Instant> {
    if at.is_nan() {
        return Err(PyValueError::new_err("nan is no time"));
    }
    let mut instant = Instant::START + Duration::from_secs_f64(at);
    while seconds(instant) < at && instant < Instant::MAX {
        instant = instant.saturating_add(Duration::from_nanos(1));
    }
    Ok(instant)
}
