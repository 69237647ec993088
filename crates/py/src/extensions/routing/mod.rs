//! Routing protocols. What they are shown and what they say are the classes of `hopcast.routing`.

mod convert;

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_protocols::routing::{
    Arrival, Encapsulation, LinkEvent, NextHop, Node, Output, Packet, Route, Routing, Verdict,
};
use hopcast_protocols::time::Instant;
use hopcast_sim::registry::{MakeRouting, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::object::{Class, Model, Object};
use super::random::PyStream;
use super::time::{instant, seconds};
use convert::{Shown, Told};

pub(super) fn add(registry: &mut Registry, name: &str, class: Class) {
    registry.add_routing_factory(name, move |parameters| {
        let trial = Node { address: Ipv4Addr::new(10, 0, 0, 1), interfaces: 1, random: PyStream::trial().0 };
        let model = class.clone().with(parameters, (Shown(trial),))?;
        Ok(Arc::new(move |node| -> Box<dyn Routing> { Box::new(Protocol::new(&model, node)) }) as MakeRouting)
    });
}

/// The protocol at a node. After an exception it knows no route and says nothing.
#[derive(Debug)]
struct Protocol {
    object: Object,
    encapsulation: Encapsulation,
    is_promiscuous: bool,
    /// What Python wants done since its last call.
    outputs: VecDeque<Output>,
    timeout: Option<Instant>,
}

impl Protocol {
    fn new(model: &Model, node: Node) -> Self {
        let object = model.object((Shown(node),));
        let told = object.ask(|object| {
            let py = object.py();
            let Told(encapsulation) = object.getattr(intern!(py, "encapsulation"))?.extract()?;
            Ok((encapsulation, object.getattr(intern!(py, "is_promiscuous"))?.extract()?))
        });
        let (encapsulation, is_promiscuous) = told.unwrap_or((Encapsulation::Udp { port: 0 }, false));
        let mut protocol = Self { object, encapsulation, is_promiscuous, outputs: VecDeque::new(), timeout: None };
        protocol.tell(|_| Ok(()));
        protocol
    }

    /// Calls the object, then takes what it wants done, and when its timer is due.
    fn tell<T>(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let told = self.object.ask(|object| {
            let said = call(object)?;
            let mut outputs = VecDeque::new();
            while let Some(Told(output)) = object.call_method0(intern!(object.py(), "poll_output"))?.extract()? {
                outputs.push_back(output);
            }
            Ok((said, outputs, poll_timeout(object)?))
        });
        match told {
            Some((said, outputs, timeout)) => {
                self.outputs.extend(outputs);
                self.timeout = timeout;
                Some(said)
            }
            None => {
                self.timeout = None;
                None
            }
        }
    }
}

fn poll_timeout(object: &Bound<'_, PyAny>) -> PyResult<Option<Instant>> {
    let due: Option<f64> = object.call_method0(intern!(object.py(), "poll_timeout"))?.extract()?;
    due.map(instant).transpose()
}

impl Routing for Protocol {
    fn encapsulation(&self) -> Encapsulation {
        self.encapsulation
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let verdict = self.tell(|object| {
            let name = intern!(object.py(), "handle_packet");
            object.call_method1(name, (Shown(*packet), seconds(now)))?.extract()
        });
        verdict.map_or(Verdict::Drop, |Told(verdict)| verdict)
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, now: Instant) -> Arrival {
        let is_taken = self.tell(|object| {
            let name = intern!(object.py(), "handle_arrival");
            object.call_method1(name, (Shown(*packet), seconds(now)))?.extract()
        });
        match is_taken {
            Some(false) => Arrival::Drop,
            _ => Arrival::Deliver,
        }
    }

    fn handle_abandoned(&mut self, destination: Ipv4Addr, now: Instant) {
        self.tell(|object| {
            object.call_method1(intern!(object.py(), "handle_abandoned"), (destination, seconds(now))).map(drop)
        });
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        self.tell(|object| {
            object.call_method1(intern!(object.py(), "handle_message"), (Shown(*packet), seconds(now))).map(drop)
        });
    }

    fn handle_overheard(&mut self, packet: &Packet<'_>, receiver: Ipv4Addr, now: Instant) {
        self.tell(|object| {
            let name = intern!(object.py(), "handle_overheard");
            object.call_method1(name, (Shown(*packet), receiver, seconds(now))).map(drop)
        });
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        let verdict = self.tell(|object| {
            let name = intern!(object.py(), "handle_link_event");
            object.call_method1(name, (Shown(*event), seconds(now)))?.extract()
        });
        verdict.map_or(Verdict::Drop, |Told(verdict)| verdict)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.tell(|object| {
            object.call_method1(intern!(object.py(), "handle_timeout"), (seconds(now),))?;
            match poll_timeout(object)?.filter(|&due| due <= now) {
                // It would be called for ever.
                Some(due) => Err(PyValueError::new_err(format!(
                    "poll_timeout is {} after handle_timeout at {}, should be later or None",
                    seconds(due),
                    seconds(now)
                ))),
                None => Ok(()),
            }
        });
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        let hop = self.object.ask(|object| {
            object.call_method1(intern!(object.py(), "next_hop"), (destination, seconds(now)))?.extract()
        });
        hop.flatten().map(|Told(hop)| hop)
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        let routes = self.object.ask(|object| {
            let given = object.call_method1(intern!(object.py(), "routes"), (seconds(now),))?;
            given.try_iter()?.map(|route| route?.extract().map(|Told(route): Told<Route>| route)).collect()
        });
        let mut routes: Vec<Route> = routes.unwrap_or_default();
        routes.sort_by_key(|route| route.destination);
        routes
    }

    fn header_len(&mut self, destination: Ipv4Addr, now: Instant) -> usize {
        if !matches!(self.encapsulation, Encapsulation::Ip { .. }) {
            return 0;
        }
        let length = self.tell(|object| {
            object.call_method1(intern!(object.py(), "header_len"), (destination, seconds(now)))?.extract()
        });
        length.unwrap_or(0)
    }

    fn is_promiscuous(&self) -> bool {
        self.is_promiscuous
    }
}
