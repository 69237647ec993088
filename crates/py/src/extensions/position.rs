//! Places, which are `hopcast.propagation.Position` in Python: x, y and z in metres.

use hopcast_radio::propagation::Position;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A place on its way to Python, or from there, where its coordinates are finite.
pub(super) struct Place(pub(super) Position);

impl<'py> IntoPyObject<'py> for Place {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let class = CLASS.import(py, "hopcast.propagation", "Position")?;
        class.call1((self.0.x, self.0.y, self.0.z))
    }
}

impl<'py> FromPyObject<'_, 'py> for Place {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let (x, y, z): (f64, f64, f64) = given.extract()?;
        match [x, y, z].iter().all(|coordinate| coordinate.is_finite()) {
            true => Ok(Self(Position { x, y, z })),
            false => Err(PyValueError::new_err(format!("{} is no place: coordinates must be finite", given.repr()?))),
        }
    }
}
