//! Error models.

use std::sync::Arc;

use hopcast_radio::errors::{ErrorModel, ReceivedFrame};
use hopcast_radio::frame::FrameKind;
use hopcast_sim::registry::{MakeErrorModel, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::object::{Class, Object};
use super::random::PyStreams;
use super::time::seconds;

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_error_model_factory(name, move |parameters| {
        let model = class.clone().with(parameters, (PyStreams::trial(),))?;
        Ok(Arc::new(move |streams| -> Box<dyn ErrorModel> { Box::new(Errors(model.object((PyStreams(streams),)))) })
            as MakeErrorModel)
    });
}

/// A model, by which nothing is lost after an exception.
#[derive(Debug)]
struct Errors(Object);

impl ErrorModel for Errors {
    fn loss(&mut self, frame: &ReceivedFrame<'_>) -> f64 {
        let loss = self.0.ask(|model| {
            let loss: f64 = model.call_method1(intern!(model.py(), "loss"), (Shown(frame),))?.extract()?;
            match (0.0..=1.0).contains(&loss) {
                true => Ok(loss),
                false => Err(PyValueError::new_err(format!("loss is {loss}, should be from 0 to 1"))),
            }
        });
        loss.unwrap_or(0.0)
    }
}

/// A frame on its way to Python, where it is a `hopcast.error_model.ReceivedFrame`.
struct Shown<'a>(&'a ReceivedFrame<'a>);

static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl<'py> IntoPyObject<'py> for Shown<'_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let ReceivedFrame { frame, receiver, power, start, end } = *self.0;
        CLASS.import(py, "hopcast.error_model", "ReceivedFrame")?.call1((
            kind(frame.kind),
            frame.transmitter.0,
            receiver.0,
            frame.octets,
            f64::from(frame.vector.data_rate().as_kbps()) * 1e3,
            power.as_dbm(),
            seconds(start),
            seconds(end),
        ))
    }
}

fn kind(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Rts => "rts",
        FrameKind::Cts => "cts",
        FrameKind::Ack => "ack",
        FrameKind::Data => "data",
        FrameKind::Management => "management",
        FrameKind::BlockAck => "block-ack",
        FrameKind::BlockAckRequest => "block-ack-request",
    }
}
