//! Laws of TCP's congestion window that are written in Python.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::congestion::{Ack, CongestionControl};
use hopcast_sim::registry::{MakeCongestionControl, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Map, Value};

/// What a law raised during a run: the first exception of all.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Takes it out.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// A vocabulary with these classes of laws, by name.
pub(crate) fn registry(classes: Vec<(String, Py<PyAny>)>, raised: &Raised) -> Registry {
    let mut registry = Registry::default();
    for (name, class) in classes {
        let (class, raised) = (Arc::new(class), raised.clone());
        registry.add_congestion_factory(&name, move |parameters| {
            let made =
                Python::attach(|py| instance(py, &class, &parameters).map(drop).map_err(|error| error.to_string()));
            made?;
            let (class, raised) = (Arc::clone(&class), raised.clone());
            Ok(Arc::new(move || -> Box<dyn CongestionControl> {
                Box::new(Law::new(&class, &parameters, raised.clone()))
            }) as MakeCongestionControl)
        });
    }
    registry
}

/// Calls the class with the parameters of the scenario.
fn instance(py: Python<'_>, class: &Py<PyAny>, parameters: &Map<String, Value>) -> PyResult<Py<PyAny>> {
    let loads = py.import("json")?.getattr("loads")?;
    let arguments = PyDict::new(py);
    for (name, value) in parameters {
        arguments.set_item(name, loads.call1((value.to_string(),))?)?;
    }
    class.call(py, (), Some(&arguments))
}

/// One end of a connection. After an exception nothing is asked of Python any more, and the window stays.
struct Law {
    /// `None` once it has raised something.
    object: Option<Py<PyAny>>,
    raised: Raised,
    window: u32,
    slow_start_threshold: u32,
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Law").field("window", &self.window).finish_non_exhaustive()
    }
}

impl Law {
    fn new(class: &Py<PyAny>, parameters: &Map<String, Value>, raised: Raised) -> Self {
        let made = Python::attach(|py| instance(py, class, parameters));
        let object = made.map_err(|error| raised.set(error)).ok();
        Self { object, raised, window: 1, slow_start_threshold: u32::MAX }
    }

    /// Calls a method, and reads what it made of the window.
    fn call(&mut self, method: &str, arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>>) {
        let Some(object) = &self.object else { return };
        let told = Python::attach(|py| {
            let object = object.bind(py);
            object.call_method1(method, arguments(py)?)?;
            Ok((octets(object, "window", 1)?, octets(object, "slow_start_threshold", 0)?))
        });
        match told {
            Ok((window, threshold)) => (self.window, self.slow_start_threshold) = (window, threshold),
            Err(error) => {
                self.raised.set(error);
                self.object = None;
            }
        }
    }
}

/// An attribute that counts octets. More than fits into 32 bits is as much as there can be.
fn octets(object: &Bound<'_, PyAny>, name: &str, least: i128) -> PyResult<u32> {
    let value: i128 = object.getattr(name)?.extract()?;
    match value {
        _ if value < least => Err(PyValueError::new_err(format!("{name} is {value}, should be at least {least}"))),
        _ => Ok(u32::try_from(value).unwrap_or(u32::MAX)),
    }
}

fn seconds(now: Instant) -> f64 {
    now.saturating_since(Instant::START).as_secs_f64()
}

impl CongestionControl for Law {
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
