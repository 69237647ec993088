//! Errors as Python's exceptions, which `hopcast.errors` defines.

use hopcast_sim::results::OutputError;
use hopcast_sim::scenario::{ScenarioError, ScenarioErrors};
use hopcast_sim::traffic::TrafficError;
use pyo3::import_exception;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::result::PyRunResult;

mod classes {
    use super::import_exception;
    import_exception!(hopcast.errors, Interrupted);
    import_exception!(hopcast.errors, OutputError);
    import_exception!(hopcast.errors, RunError);
    import_exception!(hopcast.errors, ScenarioError);
}

/// `hopcast.ScenarioError`: the first error, which carries the others.
pub(crate) fn scenario_error(py: Python<'_>, errors: &ScenarioErrors) -> PyErr {
    build(py, errors).unwrap_or_else(|error| error)
}

/// `hopcast.ScenarioError` for flows that can't be set up where the nodes stand.
pub(crate) fn traffic_error(py: Python<'_>, file: &str, error: &TrafficError) -> PyErr {
    scenario_error(py, &error.in_file(file).into())
}

/// `hopcast.OutputError`: a file can't be written, found out before anything ran.
pub(crate) fn output_error(error: &OutputError) -> PyErr {
    let path = error.path.display().to_string();
    classes::OutputError::new_err((error.error.raw_os_error(), error.problem(), path))
}

/// `hopcast.RunError`: a run failed, with the finished replications out of the wanted number.
pub(crate) fn run_error(py: Python<'_>, message: String, finished: Vec<PyRunResult>, wanted: usize) -> PyErr {
    match finished.into_pyobject(py) {
        Ok(finished) => classes::RunError::new_err((message, finished.unbind(), wanted)),
        Err(error) => error,
    }
}

/// `hopcast.Interrupted`: Ctrl-C, with the finished replications out of the wanted number.
pub(crate) fn interrupted(py: Python<'_>, finished: Vec<PyRunResult>, wanted: usize) -> PyErr {
    match finished.into_pyobject(py) {
        Ok(finished) => classes::Interrupted::new_err((finished.unbind(), wanted)),
        Err(error) => error,
    }
}

fn build(py: Python<'_>, errors: &ScenarioErrors) -> PyResult<PyErr> {
    let Some((first, others)) = errors.errors().split_first() else {
        return Ok(classes::ScenarioError::new_err(("", "", None::<&str>, errors.to_string())));
    };
    let class = py.get_type::<classes::ScenarioError>();
    let others: Vec<_> =
        others.iter().map(|error| class.call1(arguments(py, error, Vec::new())?)).collect::<PyResult<_>>()?;
    Ok(PyErr::from_value(class.call1(arguments(py, first, others)?)?))
}

/// In the order of the constructor: file, field, value, message, line, others.
fn arguments<'py>(
    py: Python<'py>,
    error: &ScenarioError,
    others: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let message = match &error.expected {
        Some(expected) => format!("{}; expected {expected}", error.problem),
        None => error.problem.clone(),
    };
    (&error.file, &error.field, &error.value, message, error.line, PyTuple::new(py, others)?).into_pyobject(py)
}
