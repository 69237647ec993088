//! Models that are written in Python: classes that a scenario names, each of a kind.

mod congestion;
mod errors;
mod mobility;
mod object;
mod position;
mod propagation;
mod random;
mod routing;
mod time;

use std::sync::{Arc, Mutex, PoisonError};

use hopcast_sim::registry::Registry;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use object::Class;
pub(crate) use random::{PyStream, PyStreams};

/// A class of models: its kind, the name that scenarios use, and what makes an object of it.
pub(crate) type Extension = (String, String, Py<PyAny>);

/// The first exception that a model raised during a run, and what raised it: the kind of the model with its article.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<(&'static str, PyErr)>>>);

impl Raised {
    /// Takes it out.
    pub(crate) fn take(&self) -> Option<(&'static str, PyErr)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, kind: &'static str, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((kind, error));
    }
}

/// A vocabulary with these classes.
pub(crate) fn registry(extensions: Vec<Extension>, raised: &Raised) -> PyResult<Registry> {
    let mut registry = Registry::default();
    for (kind, name, class) in extensions {
        let class = |kind| Class::new(kind, class, raised.clone());
        match kind.as_str() {
            "congestion" => congestion::add(&mut registry, &name, class("a congestion control")),
            "errors" => errors::add(&mut registry, &name, class("an error model")),
            "mobility" => mobility::add(&mut registry, &name, class("a mobility model")),
            "propagation" => propagation::add(&mut registry, &name, class("a propagation model")),
            "routing" => routing::add(&mut registry, &name, class("a routing protocol")),
            _ => return Err(PyValueError::new_err(format!("there is no kind of models {kind:?}"))),
        }
    }
    Ok(registry)
}
