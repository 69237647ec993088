//! Applications of flows.

use std::cell::Cell;
use std::sync::Arc;

use hopcast_protocols::application::{Application, MediaSource, Timeline};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::registry::{FlowContext, MakeApplication, Registry};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::object::{Class, Model, Object};
use super::random::PyStream;
use super::time::{instant, seconds};

/// More than any transport takes at once: over TCP a write may be as long as the send buffer, which is far below.
const MAX_WRITE: u32 = 1 << 30;
/// An application that writes more often at one instant would write for ever.
const MAX_WRITES_AT_ONCE: u32 = 100_000;

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    let known_as = name.to_owned();
    registry.add_application_factory(name, move |parameters| {
        let trial = (seconds(Instant::START), PyStream::trial());
        let model = class.clone().with_checked(parameters, trial, Traits::of)?;
        let known_as = known_as.clone();
        Ok(Arc::new(move |flow: FlowContext<'_>| -> Box<dyn Application> {
            Box::new(Program::new(&model, &known_as, flow))
        }) as MakeApplication)
    });
}

/// The attributes of an application, which are read once.
#[derive(Clone, Debug)]
struct Traits {
    largest_write: u32,
    is_blocking: bool,
    is_finite: bool,
    timeline: Option<Timeline>,
}

impl Traits {
    /// Of an object that could not be made: its run has failed.
    const NONE: Self = Self { largest_write: 1, is_blocking: false, is_finite: false, timeline: None };

    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let most: i128 = attribute(object, "largest_write")?;
        let largest_write =
            u32::try_from(most).ok().filter(|most| (1..=MAX_WRITE).contains(most)).ok_or_else(|| {
                PyValueError::new_err(format!("largest_write is {most} bytes, should be from 1 to {MAX_WRITE}"))
            })?;
        let timeline = object.getattr(intern!(py, "timeline"))?;
        Ok(Self {
            largest_write,
            is_blocking: attribute(object, "is_blocking")?,
            is_finite: attribute(object, "is_finite")?,
            timeline: if timeline.is_none() { None } else { Some(media(&timeline)?) },
        })
    }
}

/// An attribute, with its name in the message where it has the wrong type.
fn attribute<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<T> {
    let value = object.getattr(name)?;
    value.extract().map_err(|error: PyErr| PyTypeError::new_err(format!("{name}: {}", error.value(object.py()))))
}

static CONSTANT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static FILM: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The media of a `Constant` or a `Film` of `hopcast.application`.
fn media(given: &Bound<'_, PyAny>) -> PyResult<Timeline> {
    let py = given.py();
    let interval = || -> PyResult<f64> {
        let interval: f64 = attribute(given, "interval")?;
        match interval > 0.0 && interval.is_finite() {
            true => Ok(interval),
            false => {
                Err(PyValueError::new_err(format!("timeline: the interval is {interval} s, should be more than 0 s")))
            }
        }
    };
    if given.is_instance(CONSTANT.import(py, "hopcast.application", "Constant")?)? {
        return Ok(Timeline::even(interval()?));
    }
    if given.is_instance(FILM.import(py, "hopcast.application", "Film")?)? {
        let frames: Vec<u32> = attribute(given, "frames")?;
        let packet: u32 = attribute(given, "packet")?;
        if packet == 0 || frames.iter().all(|&frame| frame == 0) {
            return Err(PyValueError::new_err("timeline: a film needs frames and packets of at least 1 byte"));
        }
        let interval = Duration::from_secs_f64(interval()?);
        let source = MediaSource::new(Instant::START, frames.into(), interval, packet);
        return Ok(source.timeline().expect("a film has a timeline"));
    }
    let given = given.repr()?;
    Err(PyTypeError::new_err(format!(
        "timeline is {given}, should be a Constant or Film of hopcast.application, or None"
    )))
}

/// The application of one flow, which ends with an exception.
#[derive(Debug)]
struct Program {
    object: Object,
    traits: Traits,
    /// When it next wants to write, as it has said since its last change.
    timeout: Option<Instant>,
    /// The write that is due, once it was asked for: it stays the same until it is made.
    write: Cell<Option<u32>>,
    /// How often it has written at one instant.
    writes: (Instant, u32),
}

impl Program {
    fn new(model: &Model, known_as: &str, flow: FlowContext<'_>) -> Self {
        let FlowContext { name, start, random, .. } = flow;
        let who = format!("flow \"{name}\": application \"{known_as}\"");
        let object = model.object_called(who, (seconds(start), PyStream(random)));
        let traits = object.ask(Traits::of).unwrap_or(Traits::NONE);
        let timeout = poll_timeout(&object);
        Self { object, traits, timeout, write: Cell::new(None), writes: (Instant::START, 0) }
    }

    /// Asks for the write that is due at `now`.
    fn ask_for_write(&self, now: Instant) -> Option<u32> {
        let most = self.traits.largest_write;
        self.object.call("poll_write", |object| {
            let write: Option<i128> =
                object.call_method1(intern!(object.py(), "poll_write"), (seconds(now),))?.extract()?;
            let octets = write.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the write is None at {} s although poll_timeout has come, should be its bytes",
                    seconds(now)
                ))
            })?;
            u32::try_from(octets).ok().filter(|octets| (1..=most).contains(octets)).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "a write of {octets} bytes, should be from 1 to {most}, the largest_write"
                ))
            })
        })
    }
}

/// When the application next wants to write; after an exception, never.
fn poll_timeout(object: &Object) -> Option<Instant> {
    let due = object.call("poll_timeout", |object| time(&object.call_method0(intern!(object.py(), "poll_timeout"))?));
    due.flatten()
}

/// A time that Python has said: from the start of the run to infinity.
fn time(given: &Bound<'_, PyAny>) -> PyResult<Option<Instant>> {
    match given.extract::<Option<f64>>()? {
        Some(at) if at < 0.0 => Err(PyValueError::new_err(format!("the time is {at} s, should be at least 0 s"))),
        Some(at) => instant(at).map(Some),
        None => Ok(None),
    }
}

impl Application for Program {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        if self.poll_timeout().is_none_or(|due| due > now) {
            return None;
        }
        if self.write.get().is_none() {
            self.write.set(self.ask_for_write(now));
        }
        self.write.get()
    }

    fn handle_written(&mut self, now: Instant) {
        self.write.set(None);
        let (at, writes) = self.writes;
        self.writes = (now, if at == now { writes + 1 } else { 1 });
        let is_endless = self.writes.1 > MAX_WRITES_AT_ONCE;
        self.object.call("handle_written", |object| match is_endless {
            true => Err(PyValueError::new_err(format!(
                "{MAX_WRITES_AT_ONCE} writes at {} s, poll_timeout should be later after some of them",
                seconds(now)
            ))),
            false => object.call_method1(intern!(object.py(), "handle_written"), (seconds(now),)).map(drop),
        });
        self.timeout = poll_timeout(&self.object);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout.filter(|_| !self.object.is_silent())
    }

    fn handle_received(&mut self, octets: u32, now: Instant) {
        let name = "handle_received";
        self.object.call(name, |object| object.call_method1(name, (octets, seconds(now))).map(drop));
        self.timeout = poll_timeout(&self.object);
    }

    fn largest_write(&self) -> u32 {
        self.traits.largest_write
    }

    fn expires(&self) -> Option<Instant> {
        let expires =
            self.object.call("expires", |object| time(&object.call_method0(intern!(object.py(), "expires"))?));
        expires.flatten()
    }

    fn is_finite(&self) -> bool {
        self.traits.is_finite
    }

    fn is_blocking(&self) -> bool {
        self.traits.is_blocking
    }

    fn timeline(&self) -> Option<Timeline> {
        self.traits.timeline.clone()
    }
}
