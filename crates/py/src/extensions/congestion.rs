//! Congestion controls of TCP.

use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::congestion::{Ack, CongestionControl};
use hopcast_sim::registry::{MakeCongestionControl, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::object::{Class, Object};
use super::time::seconds;

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_congestion_control_factory(name, move |parameters| {
        let model = class.clone().with(parameters, ())?;
        Ok(Arc::new(move || -> Box<dyn CongestionControl> {
            let object = model.object(());
            Box::new(Window { object, window: 1, slow_start_threshold: u32::MAX })
        }) as MakeCongestionControl)
    });
}

/// One end of a connection. After an exception the window stays.
#[derive(Debug)]
struct Window {
    object: Object,
    window: u32,
    slow_start_threshold: u32,
}

impl Window {
    /// Calls a method, and reads what it made of the window.
    fn call(&mut self, method: &str, arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>>) {
        let told = self.object.ask(|object| {
            let py = object.py();
            object.call_method1(method, arguments(py)?)?;
            let window = octets(object, intern!(py, "window"), 1)?;
            Ok((window, octets(object, intern!(py, "slow_start_threshold"), 0)?))
        });
        if let Some(told) = told {
            (self.window, self.slow_start_threshold) = told;
        }
    }
}

/// An attribute that counts bytes. More than fits into 32 bits is as much as there can be.
fn octets(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, least: i128) -> PyResult<u32> {
    let value: i128 = object.getattr(name)?.extract()?;
    match value {
        _ if value < least => Err(PyValueError::new_err(format!("{name} is {value}, should be at least {least}"))),
        _ => Ok(u32::try_from(value).unwrap_or(u32::MAX)),
    }
}

impl CongestionControl for Window {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        self.call("on_established", |py| (segment, initial_window).into_pyobject(py));
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rtt = ack.smoothed_rtt.map(Duration::as_secs_f64);
        self.call("on_ack", |py| (ack.acked, ack.flight, rtt, seconds(ack.now)).into_pyobject(py));
    }

    fn on_loss(&mut self, flight: u32, now: Instant) {
        self.call("on_loss", |py| (flight, seconds(now)).into_pyobject(py));
    }

    fn on_recovered(&mut self, limit: u32, now: Instant) {
        self.call("on_recovered", |py| (limit, seconds(now)).into_pyobject(py));
    }

    fn on_timeout(&mut self, flight: u32, first: bool, now: Instant) {
        self.call("on_timeout", |py| (flight, first, seconds(now)).into_pyobject(py));
    }

    fn on_idle(&mut self) {
        self.call("on_idle", |py| Ok(PyTuple::empty(py)));
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn slow_start_threshold(&self) -> u32 {
        self.slow_start_threshold
    }
}
