//! What the kinds share: a class with a scenario's parameters, and an object that may raise.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use super::Raised;

/// A class of models of one kind.
#[derive(Clone)]
pub(super) struct Class {
    kind: &'static str,
    class: Arc<Py<PyAny>>,
    raised: Raised,
}

impl Class {
    pub(super) fn new(kind: &'static str, class: Py<PyAny>, raised: Raised) -> Self {
        Self { kind, class: Arc::new(class), raised }
    }

    /// The class with the parameters of a scenario, or what is wrong with them: an object is made of them and `context`, which stands
    /// for what a run hands to the constructor.
    pub(super) fn with(
        self,
        parameters: Map<String, Value>,
        context: impl for<'py> PyCallArgs<'py>,
    ) -> Result<Model, String> {
        self.with_checked(parameters, context, |_| Ok(()))
    }

    /// The same, or what `check` finds wrong with that object.
    pub(super) fn with_checked<T>(
        self,
        parameters: Map<String, Value>,
        context: impl for<'py> PyCallArgs<'py>,
        check: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<Model, String> {
        let model = Model { class: self, parameters: Arc::new(parameters) };
        let checked = Python::attach(|py| check(model.call(py, context)?.bind(py)).map(drop));
        checked.map_err(|error| error.to_string())?;
        Ok(model)
    }
}

/// A class with the parameters that a scenario gives it.
#[derive(Clone)]
pub(super) struct Model {
    class: Class,
    parameters: Arc<Map<String, Value>>,
}

impl Model {
    /// An object for a run.
    pub(super) fn object(&self, context: impl for<'py> PyCallArgs<'py>) -> Object {
        self.make(self.class.kind.into(), context)
    }

    /// An object for a run, which messages call so.
    pub(super) fn object_called(&self, who: String, context: impl for<'py> PyCallArgs<'py>) -> Object {
        self.make(who.into(), context)
    }

    fn make(&self, who: Cow<'static, str>, context: impl for<'py> PyCallArgs<'py>) -> Object {
        let made = Python::attach(|py| self.call(py, context));
        let raised = self.class.raised.clone();
        let object = made.map_err(|error| raised.set(who.to_string(), error)).ok();
        Object { is_silent: Cell::new(object.is_none()), object, who, raised }
    }

    fn call(&self, py: Python<'_>, context: impl for<'py> PyCallArgs<'py>) -> PyResult<Py<PyAny>> {
        let loads = py.import("json")?.getattr("loads")?;
        let parameters = PyDict::new(py);
        for (name, value) in &*self.parameters {
            parameters.set_item(name, loads.call1((value.to_string(),))?)?;
        }
        self.class.class.call(py, context, Some(&parameters))
    }
}

/// An object of a run. After an exception nothing is asked of it any more.
pub(super) struct Object {
    object: Option<Py<PyAny>>,
    is_silent: Cell<bool>,
    /// What messages call it: its kind with an article, or its own name.
    who: Cow<'static, str>,
    raised: Raised,
}

impl Object {
    /// What the object says when it is asked; `None` once it has raised an exception, now or earlier.
    pub(super) fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        self.ask_as(ask, || self.who.to_string())
    }

    /// The same for a call of `method`, which messages name.
    pub(super) fn call<T>(&self, method: &str, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        self.ask_as(call, || format!("{}: {method}", self.who))
    }

    /// Whether it has raised an exception.
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent.get()
    }

    fn ask_as<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>, who: impl FnOnce() -> String) -> Option<T> {
        let object = self.object.as_ref().filter(|_| !self.is_silent())?;
        let told = Python::attach(|py| ask(object.bind(py)));
        told.map_err(|error| {
            self.is_silent.set(true);
            self.raised.set(who(), error);
        })
        .ok()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("who", &self.who).finish_non_exhaustive()
    }
}
