//! Mistakes of a user's routing protocol that do not harm the run.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use hopcast_protocols::routing::{Encapsulation, LinkEvent, Message, NextHop, Output, Packet, Routing, Verdict};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::DropCause;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::model;

use super::scenarios::{line, scenario};

/// Asks for a time that has passed whenever it sees a packet, and then sends a message over an interface that there is not.
#[derive(Debug)]
struct Careless {
    due: Option<Instant>,
    message: Option<Message>,
    /// When any of them was called.
    calls: Arc<Mutex<Vec<Instant>>>,
}

impl Careless {
    fn called(&self, now: Instant) {
        self.calls.lock().expect("nobody panics with it").push(now);
    }
}

impl Routing for Careless {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: 9 }
    }

    fn handle_packet(&mut self, _packet: &Packet<'_>, now: Instant) -> Verdict {
        self.called(now);
        self.due = Some(Instant::START);
        Verdict::Drop
    }

    fn handle_message(&mut self, _packet: &Packet<'_>, now: Instant) {
        self.called(now);
    }

    fn handle_link_event(&mut self, _event: &LinkEvent<'_>, now: Instant) -> Verdict {
        self.called(now);
        Verdict::Drop
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.called(now);
        self.due = Some(now + Duration::from_millis(300));
        let nowhere = NextHop { interface: 7, address: Ipv4Addr::BROADCAST };
        self.message = Some(Message::to(nowhere, vec![0; 8]));
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.message.take().map(Output::Send)
    }

    fn next_hop(&self, _destination: Ipv4Addr, _now: Instant) -> Option<NextHop> {
        None
    }
}

#[test]
fn a_time_that_has_passed_is_due_now_and_an_interface_that_there_is_not_leads_nowhere() {
    let mut scenario = scenario(&line(3, r#"routing = { protocol = "aodv" }"#, "5 s", 0));
    let calls = Arc::new(Mutex::new(Vec::new()));
    for group in &mut scenario.groups {
        let model::Routing::Protocol(protocol) = &mut group.routing else { panic!("all have a protocol") };
        let calls = Arc::clone(&calls);
        protocol.make = Arc::new(move |_| Box::new(Careless { due: None, message: None, calls: Arc::clone(&calls) }));
    }
    let mut simulation = Simulation::new(&scenario, 1).expect("the scenario can be set up");
    simulation.run_until(simulation.end());
    assert_eq!(simulation.check(), Ok(()));
    let calls = calls.lock().expect("nobody panics with it");
    assert!(calls.len() > 10 && calls.is_sorted(), "{calls:?}");
    let lost: u64 = simulation.counters().iter().map(|counters| counters[DropCause::NoRoute]).sum();
    assert!(lost > 10);
}
