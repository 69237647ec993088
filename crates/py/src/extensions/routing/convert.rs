//! Between the types of the trait and the classes of `hopcast.routing`, which have the same names and fields.

use std::net::{IpAddr, Ipv4Addr};

use hopcast_protocols::routing::{
    Encapsulation, Forward, LinkEvent, Message, NextHop, Node, Output, Packet, Route, Token, Verdict,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

use crate::extensions::random::PyStream;

/// Something on its way to Python.
pub(super) struct Shown<T>(pub(super) T);

/// Something that Python has said.
pub(super) struct Told<T>(pub(super) T);

/// A class of `hopcast.routing`.
struct Class {
    name: &'static str,
    class: PyOnceLock<Py<PyType>>,
}

impl Class {
    const fn new(name: &'static str) -> Self {
        Self { name, class: PyOnceLock::new() }
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        self.class.import(py, "hopcast.routing", self.name)
    }

    fn has(&self, given: &Bound<'_, PyAny>) -> PyResult<bool> {
        given.is_instance(self.get(given.py())?)
    }
}

static NODE: Class = Class::new("Node");
static NEXT_HOP: Class = Class::new("NextHop");
static ROUTE: Class = Class::new("Route");
static PACKET: Class = Class::new("Packet");
static FRAME_DROPPED: Class = Class::new("FrameDropped");
static QUEUE_PURGED: Class = Class::new("QueuePurged");
static NEIGHBOUR_LOST: Class = Class::new("NeighbourLost");
static UDP: Class = Class::new("Udp");
static IP: Class = Class::new("Ip");
static ARP: Class = Class::new("Arp");
static FORWARD: Class = Class::new("Forward");
static WAIT: Class = Class::new("Wait");
static DROP: Class = Class::new("Drop");
static MESSAGE: Class = Class::new("Message");
static SEND: Class = Class::new("Send");
static FOUND: Class = Class::new("Found");
static NOT_FOUND: Class = Class::new("NotFound");
static PURGE: Class = Class::new("Purge");
static RESEND: Class = Class::new("Resend");
static RELEASE: Class = Class::new("Release");
static RECALL: Class = Class::new("Recall");

impl<'py> IntoPyObject<'py> for Shown<Node> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let Node { address, interfaces, random } = self.0;
        NODE.get(py)?.call1((address, interfaces, PyStream(random)))
    }
}

impl<'py> IntoPyObject<'py> for Shown<NextHop> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        NEXT_HOP.get(py)?.call1((self.0.interface, self.0.address))
    }
}

impl<'py> IntoPyObject<'py> for Shown<Packet<'_>> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let packet = self.0;
        PACKET.get(py)?.call1((
            packet.source,
            packet.destination,
            packet.ttl,
            packet.from.map(Shown),
            PyBytes::new(py, packet.octets),
            packet.has_data,
            packet.protocol,
            packet.identification,
            packet.fragment_offset,
        ))
    }
}

impl<'py> IntoPyObject<'py> for Shown<LinkEvent<'_>> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        match self.0 {
            LinkEvent::FrameDropped { hop, packet } => FRAME_DROPPED.get(py)?.call1((Shown(hop), Shown(packet))),
            LinkEvent::QueuePurged { hop, packet } => QUEUE_PURGED.get(py)?.call1((Shown(hop), Shown(packet))),
            LinkEvent::NeighbourLost(hop) => NEIGHBOUR_LOST.get(py)?.call1((Shown(hop),)),
        }
    }
}

/// Says what was expected in place of what Python has said.
fn unexpected(given: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let given = given.repr().map_or_else(|error| error.to_string(), |text| text.to_string());
    PyTypeError::new_err(format!("{given} is not {expected} of hopcast.routing"))
}

/// An address, as `ipaddress.IPv4Address` or as text.
fn address(given: &Bound<'_, PyAny>) -> PyResult<Ipv4Addr> {
    match given.extract()? {
        IpAddr::V4(address) => Ok(address),
        IpAddr::V6(address) => Err(PyValueError::new_err(format!("{address} is no IPv4 address"))),
    }
}

/// What one of the outputs carries.
fn destination(output: &Bound<'_, PyAny>) -> PyResult<Ipv4Addr> {
    address(&output.getattr(intern!(output.py(), "destination"))?)
}

fn hop(given: &Bound<'_, PyAny>) -> PyResult<NextHop> {
    let Told(hop) = given.getattr(intern!(given.py(), "hop"))?.extract()?;
    Ok(hop)
}

fn token(output: &Bound<'_, PyAny>) -> PyResult<Token> {
    output.getattr(intern!(output.py(), "token"))?.extract().map(Token)
}

fn octets(given: &Bound<'_, PyAny>) -> PyResult<std::sync::Arc<[u8]>> {
    Ok(given.cast::<PyBytes>()?.as_bytes().into())
}

impl<'py> FromPyObject<'_, 'py> for Told<NextHop> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !NEXT_HOP.has(&given)? {
            return Err(unexpected(&given, "a NextHop"));
        }
        let py = given.py();
        let interface = given.getattr(intern!(py, "interface"))?.extract()?;
        Ok(Self(NextHop { interface, address: address(&given.getattr(intern!(py, "address"))?)? }))
    }
}

impl<'py> FromPyObject<'_, 'py> for Told<Route> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !ROUTE.has(&given)? {
            return Err(unexpected(&given, "a Route"));
        }
        let hops = given.getattr(intern!(given.py(), "hops"))?.extract()?;
        Ok(Self(Route { destination: destination(&given)?, hop: hop(&given)?, hops }))
    }
}

impl<'py> FromPyObject<'_, 'py> for Told<Encapsulation> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if UDP.has(&given)? {
            Ok(Self(Encapsulation::Udp { port: given.getattr(intern!(py, "port"))?.extract()? }))
        } else if IP.has(&given)? {
            Ok(Self(Encapsulation::Ip { protocol: given.getattr(intern!(py, "protocol"))?.extract()? }))
        } else if ARP.has(&given)? {
            Ok(Self(Encapsulation::Arp))
        } else {
            Err(unexpected(&given, "a Udp, Ip or Arp"))
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Told<Verdict> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if FORWARD.has(&given)? {
            let header: Option<Bound<'_, PyAny>> = given.getattr(intern!(py, "header"))?.extract()?;
            let held: Option<u32> = given.getattr(intern!(py, "held"))?.extract()?;
            let header = header.as_ref().map(octets).transpose()?;
            Ok(Self(Verdict::Forward(Forward { hop: hop(&given)?, header, held: held.map(Token) })))
        } else if WAIT.has(&given)? {
            Ok(Self(Verdict::Wait))
        } else if DROP.has(&given)? {
            Ok(Self(Verdict::Drop))
        } else {
            Err(unexpected(&given, "a Forward, Wait or Drop"))
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Told<Message> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !MESSAGE.has(&given)? {
            return Err(unexpected(&given, "a Message"));
        }
        let py = given.py();
        let source: Option<Bound<'_, PyAny>> = given.getattr(intern!(py, "source"))?.extract()?;
        let hop: Option<Told<NextHop>> = given.getattr(intern!(py, "hop"))?.extract()?;
        Ok(Self(Message {
            source: source.as_ref().map(address).transpose()?,
            destination: destination(&given)?,
            hop: hop.map(|Told(hop)| hop),
            ttl: given.getattr(intern!(py, "ttl"))?.extract()?,
            octets: octets(&given.getattr(intern!(py, "octets"))?)?,
        }))
    }
}

impl<'py> FromPyObject<'_, 'py> for Told<Output> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if SEND.has(&given)? {
            let Told(message) = given.getattr(intern!(given.py(), "message"))?.extract()?;
            return Ok(Self(Output::Send(message)));
        }
        Ok(Self(if FOUND.has(&given)? {
            Output::Found(destination(&given)?)
        } else if NOT_FOUND.has(&given)? {
            Output::NotFound(destination(&given)?)
        } else if PURGE.has(&given)? {
            Output::Purge(hop(&given)?)
        } else if RESEND.has(&given)? {
            Output::Resend(token(&given)?)
        } else if RELEASE.has(&given)? {
            Output::Release(token(&given)?)
        } else if RECALL.has(&given)? {
            Output::Recall(token(&given)?)
        } else {
            return Err(unexpected(&given, "an output (Send, Found, NotFound, Purge, Resend, Release or Recall)"));
        }))
    }
}
