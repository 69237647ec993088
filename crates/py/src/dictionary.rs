//! The dictionary of results.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::json;

/// The JSON Schema of results: of `run.json`, with those of tables and, on Linux, of what live commands print under `$defs`.
#[pyfunction]
pub(crate) fn results_schema() -> PyResult<String> {
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "live commands are for Linux"))]
    let mut schemas = hopcast_sim::results::dictionary::schemas();
    #[cfg(target_os = "linux")]
    schemas.extend(hopcast_live::dictionary::schemas());
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of hopcast",
        "$ref": "#/$defs/run",
        "$defs": schemas,
    });
    serde_json::to_string_pretty(&schema).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
