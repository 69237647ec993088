//! Streams of random numbers.

use hopcast_protocols::random::{Purpose, Stream, Streams};
use pyo3::prelude::*;

/// A stream of random numbers. `Stream(seed)` is one that no run uses, for tests by hand.
#[pyclass(name = "Stream", module = "hopcast._core")]
pub(crate) struct PyStream(pub(super) Stream);

impl PyStream {
    /// One for an object that no run uses.
    pub(super) fn trial() -> Self {
        Self::new(0)
    }
}

#[pymethods]
impl PyStream {
    #[new]
    fn new(seed: u64) -> Self {
        Self(Stream::new(seed, Purpose::Application, u64::MAX, u64::MAX))
    }

    /// 64 uniform bits.
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0 ≤ x < `bound`, which is below 2³².
    fn below(&mut self, bound: u32) -> u32 {
        self.0.below(bound)
    }

    /// Uniform in 0 ≤ x < 1.
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }
}

/// Streams of random numbers, one for each thing that draws. `Streams(seed)` are some that no run uses, for tests by hand.
#[pyclass(name = "Streams", module = "hopcast._core")]
pub(crate) struct PyStreams(pub(super) Streams);

impl PyStreams {
    /// Those for an object that no run uses.
    pub(super) fn trial() -> Self {
        Self::new(0)
    }
}

#[pymethods]
impl PyStreams {
    #[new]
    fn new(seed: u64) -> Self {
        Self(Streams::new(seed, Purpose::Application, u64::MAX))
    }

    /// The stream of the thing with this number, which is below 2⁶⁴; from its beginning at each call.
    fn stream(&self, number: u64) -> PyStream {
        PyStream(self.0.stream(number))
    }
}
