//! Results: JSON text, and Arrow tables without a copy.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use hopcast_sim::results::{self, RunResult};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// What one replication measured.
#[pyclass(name = "RunResult", module = "hopcast._core", frozen)]
pub(crate) struct PyRunResult(pub(crate) Arc<RunResult>);

#[pymethods]
impl PyRunResult {
    /// Seed of every draw.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.provenance.seed
    }

    /// One JSON object, on one line.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// A row for each flow.
    fn flows(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::flow_table(&self.0)))
    }

    /// A row for each node.
    fn nodes(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::node_table(&self.0)))
    }

    /// What developed over time.
    fn series(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::series_table(&self.0)))
    }

    /// A row for each conversation between real nodes.
    fn conversations(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::conversation_table(&self.0)))
    }

    /// A row for each stream of RTP in a conversation.
    fn rtp(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::rtp_table(&self.0)))
    }

    /// A row for each request in a streaming cloud.
    fn streams(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::stream_table(&self.0)))
    }

    /// Conversations over time.
    fn conversation_series(&self, py: Python<'_>) -> ArrowTable {
        ArrowTable(py.detach(|| results::conversation_series_table(&self.0)))
    }
}

/// A table for whatever reads the Arrow PyCapsule interface.
#[pyclass(module = "hopcast._core", frozen)]
pub(crate) struct ArrowTable(RecordBatch);

#[pymethods]
impl ArrowTable {
    /// An Arrow C stream. The schema is the table's, whatever is requested, as the interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}
