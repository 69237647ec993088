//! Models that are written in Python: classes that a scenario names, each of a kind.

mod application;
mod congestion;
mod errors;
mod media;
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
use pyo3::intern;
use pyo3::prelude::*;

use object::Class;
pub(crate) use random::{PyStream, PyStreams};

/// A class of models: its kind, the name that scenarios use, and what makes an object of it.
pub(crate) type Extension = (String, String, Py<PyAny>);

/// The first exception that a model raised during a run, and what raised it: the kind of the model with its article, or its name
/// and method.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<(String, PyErr)>>>);

impl Raised {
    /// Takes it out.
    pub(crate) fn take(&self) -> Option<(String, PyErr)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn set(&self, who: String, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((who, error));
    }
}

/// What the first exception was, in a line: who raised it, what it says, and where.
pub(crate) fn told(py: Python<'_>, who: &str, error: &PyErr) -> PyResult<String> {
    let mut message = format!("{who} raised {}", error.get_type(py).name()?);
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    if !text.is_empty() {
        message += &format!(": {text}");
    }
    let Some(mut at) = error.traceback(py).map(Bound::into_any) else { return Ok(message) };
    while let Some(inner) = at.getattr(intern!(py, "tb_next"))?.extract::<Option<Bound<'_, PyAny>>>()? {
        at = inner;
    }
    let file =
        at.getattr(intern!(py, "tb_frame"))?.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?;
    Ok(format!("{message} ({file}, line {})", at.getattr(intern!(py, "tb_lineno"))?))
}

/// A vocabulary with these classes.
pub(crate) fn registry(extensions: Vec<Extension>, raised: &Raised) -> PyResult<Registry> {
    let mut registry = Registry::default();
    for (kind, name, class) in extensions {
        let class = |kind| Class::new(kind, class, raised.clone());
        match kind.as_str() {
            "application" => application::add(&mut registry, &name, class("an application")),
            "congestion" => congestion::add(&mut registry, &name, class("a congestion control")),
            "media" => media::add(&mut registry, &name, class("a congestion control of media")),
            "errors" => errors::add(&mut registry, &name, class("an error model")),
            "mobility" => mobility::add(&mut registry, &name, class("a mobility model")),
            "propagation" => propagation::add(&mut registry, &name, class("a propagation model")),
            "routing" => routing::add(&mut registry, &name, class("a routing protocol")),
            _ => return Err(PyValueError::new_err(format!("there is no kind of models {kind:?}"))),
        }
    }
    Ok(registry)
}
