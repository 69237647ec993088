//! The dictionary of results.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::json;

/// The JSON Schema of results: of `run.json`, with those of tables under `$defs`.
#[pyfunction]
pub(crate) fn results_schema() -> PyResult<String> {
    let schemas = hopcast_sim::results::dictionary::schemas();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of hopcast",
        "$ref": "#/$defs/run",
        "$defs": schemas,
    });
    serde_json::to_string_pretty(&schema).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
