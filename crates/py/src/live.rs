//! The live commands, from their arguments to their exit status.

use std::ffi::OsString;

use hopcast_live::command;
use hopcast_live::models::Models;
use hopcast_sim::registry::Registry;
use pyo3::prelude::*;

use crate::extensions::{Extension, Raised, registry, told};

/// Runs the live command that `arguments` (the name of the program first) ask for; what it has to say it prints. `load` makes classes
/// of models of what `--extension` names. Returns its exit status.
#[pyfunction]
pub(crate) fn live(py: Python<'_>, arguments: Vec<OsString>, load: Py<PyAny>) -> u8 {
    let models = PythonModels { load, raised: Raised::default() };
    py.detach(|| command::main_with(arguments, &models))
}

/// Models written in Python.
struct PythonModels {
    load: Py<PyAny>,
    raised: Raised,
}

impl Models for PythonModels {
    fn registry(&self, extensions: &[String]) -> Result<Registry, String> {
        if extensions.is_empty() {
            return Ok(Registry::default());
        }
        let made = Python::attach(|py| {
            let classes: Vec<Extension> = self.load.bind(py).call1((extensions,))?.extract()?;
            registry(classes, &self.raised)
        });
        made.map_err(|error| Python::attach(|py| error.value(py).to_string()))
    }

    fn poll_failure(&self) -> Option<String> {
        let (who, error) = self.raised.take()?;
        Some(Python::attach(|py| told(py, &who, &error)).unwrap_or_else(|error| error.to_string()))
    }
}
