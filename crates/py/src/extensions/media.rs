//! Congestion controls of media. What they are shown are the named tuples of `hopcast.media`.

use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::media::{
    Ecn, Feedback, Frame, MediaCongestionControl, PacketResult, Probe, SentPacket, Source,
};
use hopcast_sim::registry::{MakeMediaCongestionControl, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple, PyType};

use super::object::{Class, Model, Object};
use super::time::{instant, seconds};

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_media_congestion_control_factory(name, move |parameters| {
        let model = class.clone().with(parameters, ())?;
        Ok(Arc::new(move |source| -> Box<dyn MediaCongestionControl> { Box::new(Control::new(&model, source)) })
            as MakeMediaCongestionControl)
    });
}

/// The sender of a session. After an exception its output stays.
#[derive(Debug)]
struct Control {
    object: Object,
    told: Told,
    /// The probe that it has asked for.
    probe: Option<Probe>,
}

/// The attributes of the object.
#[derive(Clone, Copy, Debug)]
struct Told {
    target_rate: u64,
    pacing_rate: Option<u64>,
    window: Option<u64>,
    timeout: Option<Instant>,
    ecn: Ecn,
}

impl Control {
    fn new(model: &Model, source: Source) -> Self {
        let told =
            Told { target_rate: source.min_rate, pacing_rate: None, window: None, timeout: None, ecn: Ecn::NotEct };
        let mut control = Self { object: model.object(()), told, probe: None };
        control.call("on_start", |py| {
            let period = source.frame_period.as_secs_f64();
            let Source { min_rate, max_rate, headers, packet, is_markable, weight, .. } = source;
            let fields = (min_rate, max_rate, period, headers, packet, is_markable, weight);
            (class(py, &SOURCE, "Source")?.call1(fields)?,).into_pyobject(py)
        });
        control
    }

    /// Calls a method, and reads what it made of the attributes.
    fn call(&mut self, method: &str, arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>>) {
        let told = self.object.ask(|object| {
            object.call_method1(method, arguments(object.py())?)?;
            Ok((Told::of(object)?, take_probe(object)?))
        });
        if let Some((told, probe)) = told {
            self.told = told;
            self.probe = probe.or(self.probe);
        } else {
            self.told.timeout = None;
        }
    }
}

static SOURCE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static RESULT: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A class of `hopcast.media`.
fn class<'py>(py: Python<'py>, place: &PyOnceLock<Py<PyType>>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(place.import(py, "hopcast.media", name)?.clone())
}

impl Told {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let target_rate = rate("target_rate", object.getattr(intern!(py, "target_rate"))?.extract()?)?;
        let pacing_rate: Option<f64> = object.getattr(intern!(py, "pacing_rate"))?.extract()?;
        let pacing_rate = pacing_rate.map(|bits| positive("pacing_rate", bits)).transpose()?;
        let window: Option<i128> = object.getattr(intern!(py, "window"))?.extract()?;
        let window = window.map(|bytes| {
            let wrong = || PyValueError::new_err(format!("window is {bytes}, should be at least 0"));
            u64::try_from(bytes.min(u64::MAX.into())).map_err(|_| wrong())
        });
        let timeout: Option<f64> = object.getattr(intern!(py, "timeout"))?.extract()?;
        let ecn: String = object.getattr(intern!(py, "ecn"))?.extract()?;
        let ecn = match ecn.as_str() {
            "not-ect" => Ecn::NotEct,
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "ecn is {ecn:?}, should be \"not-ect\", \"ect0\" or \"ect1\""
                )));
            }
        };
        Ok(Self {
            target_rate,
            pacing_rate,
            window: window.transpose()?,
            timeout: timeout.map(instant).transpose()?,
            ecn,
        })
    }
}

/// A rate of at least 0.
fn rate(name: &str, bits: f64) -> PyResult<u64> {
    match bits >= 0.0 {
        // A rate beyond 64 bits is as much as there can be.
        true => Ok(bits as u64),
        false => Err(PyValueError::new_err(format!("{name} is {bits} b/s, should be at least 0"))),
    }
}

/// A rate above 0; less than 1 b/s is 1 b/s.
fn positive(name: &str, bits: f64) -> PyResult<u64> {
    match bits > 0.0 {
        true => Ok((bits as u64).max(1)),
        false => Err(PyValueError::new_err(format!("{name} is {bits} b/s, should be above 0"))),
    }
}

/// Takes out the probe that is due.
fn take_probe(object: &Bound<'_, PyAny>) -> PyResult<Option<Probe>> {
    let name = intern!(object.py(), "probe");
    let told: Option<(u32, f64, u32, u32)> = object.getattr(name)?.extract()?;
    let Some((id, bits, packets, bytes)) = told else { return Ok(None) };
    object.setattr(name, object.py().None())?;
    Ok(Some(Probe { id, rate: positive("rate of the probe", bits)?, packets, bytes }))
}

/// The fates that feedback tells.
fn results<'py>(py: Python<'py>, packets: &[PacketResult]) -> PyResult<Bound<'py, PyList>> {
    let class = class(py, &RESULT, "PacketResult")?;
    let shown = packets.iter().map(|PacketResult { packet, arrival }| {
        let time = arrival.map(|arrival| seconds(arrival.time));
        let is_marked = arrival.is_some_and(|arrival| arrival.ecn == Ecn::Ce);
        class.call1((packet.number, packet.size, seconds(packet.sent), time, is_marked, packet.probe))
    });
    PyList::new(py, shown.collect::<PyResult<Vec<_>>>()?)
}

impl MediaCongestionControl for Control {
    fn on_sent(&mut self, packet: &SentPacket) {
        let SentPacket { number, size, sent, in_flight, .. } = *packet;
        self.call("on_sent", |py| (number, size, in_flight, seconds(sent)).into_pyobject(py));
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let rtt = feedback.rtt.map(Duration::as_secs_f64);
        self.call("on_feedback", |py| {
            (results(py, feedback.packets)?, rtt, feedback.in_flight, seconds(feedback.now)).into_pyobject(py)
        });
    }

    fn on_frame(&mut self, frame: &Frame) {
        let Frame { size, now, queued, queue_delay } = *frame;
        self.call("on_frame", |py| (size, queued, queue_delay.as_secs_f64(), seconds(now)).into_pyobject(py));
    }

    fn handle_timeout(&mut self, now: Instant) {
        let before = self.told.timeout;
        self.call("on_timeout", |py| (seconds(now),).into_pyobject(py));
        if self.told.timeout.is_some_and(|due| due <= now) {
            let wrong = format!("timeout is still {} s", before.map_or(0.0, seconds));
            self.object.call("on_timeout", |_| -> PyResult<()> {
                Err(PyValueError::new_err(format!("{wrong}, should be later or None")))
            });
            self.told.timeout = None;
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.told.timeout
    }

    fn target_rate(&self) -> u64 {
        self.told.target_rate
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.told.pacing_rate
    }

    fn window(&self) -> Option<u64> {
        self.told.window
    }

    fn poll_probe(&mut self, _now: Instant) -> Option<Probe> {
        self.probe.take()
    }

    fn ecn(&self) -> Ecn {
        self.told.ecn
    }

    fn metrics(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}
