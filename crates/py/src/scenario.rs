//! Scenarios.

use std::path::PathBuf;

use crate::error::scenario_error;
use crate::extensions::{Extension, Raised, registry};
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};
use pyo3::prelude::*;

/// A scenario that can be run.
#[pyclass(name = "Scenario", module = "hopcast._core", frozen)]
pub(crate) struct PyScenario {
    pub(crate) loaded: Loaded,
    /// What messages call the file.
    pub(crate) file: String,
    /// What its models written in Python raise.
    pub(crate) raised: Raised,
}

#[pymethods]
impl PyScenario {
    /// Reads TOML. `extensions` are classes of models. Raises ScenarioError.
    #[staticmethod]
    fn from_toml(
        py: Python<'_>,
        text: String,
        file: String,
        directory: PathBuf,
        trace_dirs: Vec<PathBuf>,
        overrides: Vec<String>,
        extensions: Vec<Extension>,
    ) -> PyResult<Self> {
        load(py, Scenario::parse, source(text, file, directory, trace_dirs), overrides, extensions)
    }

    /// Reads JSON with the same vocabulary, and the same classes. Raises ScenarioError.
    #[staticmethod]
    fn from_json(
        py: Python<'_>,
        text: String,
        file: String,
        directory: PathBuf,
        trace_dirs: Vec<PathBuf>,
        overrides: Vec<String>,
        extensions: Vec<Extension>,
    ) -> PyResult<Self> {
        load(py, Scenario::from_json, source(text, file, directory, trace_dirs), overrides, extensions)
    }

    /// Every value in force: key, value with its unit, source.
    fn explain(&self) -> Vec<(String, String, String)> {
        self.loaded.explain().iter().map(|row| (row.key.clone(), row.value.clone(), row.source.clone())).collect()
    }

    /// For people.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.scenario.name
    }

    /// Simulated time of a run, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.loaded.scenario.duration.as_secs_f64()
    }

    /// Seed of a run that is given no other.
    #[getter]
    fn seed(&self) -> u64 {
        self.loaded.scenario.seed
    }

    /// SHA-256 of the values in force but the seed, in one canonical spelling.
    #[getter]
    fn sha256(&self) -> &str {
        &self.loaded.scenario.sha256
    }
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub(crate) fn json_schema() -> PyResult<String> {
    serde_json::to_string_pretty(&hopcast_sim::scenario::json_schema())
        .map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

fn source(text: String, name: String, directory: PathBuf, trace_dirs: Vec<PathBuf>) -> Source {
    Source { text, name, directory, trace_dirs, ..Source::default() }
}

fn load(
    py: Python<'_>,
    read: impl FnOnce(&Source, &[String]) -> Result<Loaded, ScenarioErrors> + Send,
    mut source: Source,
    overrides: Vec<String>,
    extensions: Vec<Extension>,
) -> PyResult<PyScenario> {
    let raised = Raised::default();
    source.registry = registry(extensions, &raised)?;
    let loaded = py.detach(|| read(&source, &overrides));
    match loaded {
        Ok(loaded) => Ok(PyScenario { loaded, file: source.name, raised }),
        Err(errors) => Err(scenario_error(py, &errors)),
    }
}
