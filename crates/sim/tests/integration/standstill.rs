//! Models that never finish with one instant: a run of them ends when it is asked to.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration as Patience;

use hopcast_protocols::application::Application;
use hopcast_protocols::routing::{Encapsulation, LinkEvent, NextHop, Output, Packet, Routing, Verdict};
use hopcast_protocols::time::Instant;
use hopcast_sim::execute::{Control, Job, Outcome, execute};
use hopcast_sim::registry::Registry;
use hopcast_sim::scenario::{Scenario, Source};
use serde::Deserialize;
use std::net::Ipv4Addr;

/// Has always written too little.
#[derive(Debug)]
struct Endless {
    is_blocking: bool,
}

#[derive(Deserialize)]
struct Parameters {
    is_blocking: bool,
}

impl Application for Endless {
    fn poll_write(&self, _now: Instant) -> Option<u32> {
        Some(100)
    }

    fn handle_written(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        Some(Instant::START)
    }

    fn largest_write(&self) -> u32 {
        100
    }

    fn is_blocking(&self) -> bool {
        self.is_blocking
    }
}

/// Is always late.
#[derive(Debug)]
struct Late;

impl Routing for Late {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: 9 }
    }

    fn handle_packet(&mut self, _packet: &Packet<'_>, _now: Instant) -> Verdict {
        Verdict::Drop
    }

    fn handle_message(&mut self, _packet: &Packet<'_>, _now: Instant) {}

    fn handle_link_event(&mut self, _event: &LinkEvent<'_>, _now: Instant) -> Verdict {
        Verdict::Drop
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        Some(Instant::START)
    }

    fn poll_output(&mut self) -> Option<Output> {
        None
    }

    fn next_hop(&self, _destination: Ipv4Addr, _now: Instant) -> Option<NextHop> {
        None
    }
}

/// How a run of two nodes ends that is asked to stop after 300 ms, and the simulated time until then; `None`: not within 20 s more.
fn stopped(routing: &str, flow: &str) -> Option<(Outcome, usize, f64)> {
    let text = format!(
        r#"
        duration = "10 s"
        [[nodes]]
        name = "n"
        count = 2
        placement = {{ shape = "line", spacing = "5 m" }}
        {routing}
        [[flows]]
        name = "f"
        from = "n0"
        to = "n1"
        start = "1 s"
        {flow}
        "#
    );
    let mut registry = Registry::default();
    registry
        .add_application("endless", |_, _, parameters: &Parameters| Endless { is_blocking: parameters.is_blocking });
    registry.add_routing("late", |_, _: &serde_json::Value| Late);
    let source = Source { text, name: "standstill.toml".into(), registry, ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("it is valid").scenario;
    let control = Arc::new(Control::new());
    let (tell, ended) = channel();
    // Not joined: a run that does not end must not hold up the test.
    std::thread::spawn({
        let control = Arc::clone(&control);
        move || {
            let job = Job { scenario: &scenario, seeds: &[1, 2], threads: 1, captures: None, recordings: None };
            let mut finished = 0;
            let outcome = execute(&job, &control, &(), |_, _| finished += 1).expect("nothing fails");
            let _ = tell.send((outcome, finished));
        }
    });
    assert_eq!(ended.recv_timeout(Patience::from_millis(300)), Err(RecvTimeoutError::Timeout), "it stands still");
    control.stop();
    let (outcome, finished) = ended.recv_timeout(Patience::from_secs(20)).ok()?;
    Some((outcome, finished, control.simulated().as_secs_f64()))
}

#[test]
fn an_application_that_writes_for_ever_at_one_instant_is_stopped() {
    for (transport, is_blocking) in [("udp", false), ("tcp", false)] {
        let flow = format!(
            r#"
            transport = {{ protocol = "{transport}" }}
            application = {{ kind = "custom", name = "endless", parameters = {{ is_blocking = {is_blocking} }} }}
            "#
        );
        let (outcome, finished, simulated) = stopped("", &flow).expect("it stops");
        assert_eq!((outcome, finished), (Outcome::Stopped, 0), "{transport}");
        assert!(simulated <= 1.0, "{transport}: {simulated} s");
    }
}

#[test]
fn a_routing_protocol_whose_timer_is_always_due_is_stopped() {
    let routing = r#"routing = { protocol = "custom", name = "late" }"#;
    let flow = r#"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "10 kb/s", packet = "100 B" }
    "#;
    let (outcome, finished, simulated) = stopped(routing, flow).expect("it stops");
    assert_eq!((outcome, finished, simulated), (Outcome::Stopped, 0, 0.0));
}
