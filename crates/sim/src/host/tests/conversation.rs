//! Flows whose applications answer each other, over each transport.

use super::net::{Fate, Net};
use super::streams::{PER_OCTET, scenario, tcp};
use super::units::{adtfrc, tfrc};
use super::*;
use crate::metrics::FlowSummary;
use crate::scenario::model::{self, Application, Relay, Transport};
use hopcast_protocols::application::Application as Writes;
use hopcast_protocols::fec::Config;

/// Bytes of a message.
const SIZE: u32 = 100;

/// Writes a message for each that it hears.
#[derive(Debug)]
struct Echo {
    heard: u32,
    since: Instant,
}

impl Writes for Echo {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (self.heard >= SIZE && now >= self.since).then_some(SIZE)
    }

    fn handle_written(&mut self, _now: Instant) {
        self.heard -= SIZE;
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(if self.heard >= SIZE { self.since } else { Instant::MAX })
    }

    fn handle_received(&mut self, octets: u32, now: Instant) {
        self.heard += octets;
        self.since = now;
    }

    fn largest_write(&self) -> u32 {
        SIZE
    }
}

/// Summaries of both flows after ten seconds at most: the first begins with one message at 1 s.
fn conversation(relay: Relay, transport: Transport, change: impl FnOnce(&mut [model::Flow])) -> [FlowSummary; 2] {
    let first = Application::new(|start, _| Echo { heard: SIZE, since: start });
    let mut scenario = scenario(3, relay, transport, first);
    let mut back = scenario.flows[0].clone();
    (back.from, back.to) = (back.to, back.from);
    back.application = Application::new(|start, _| Echo { heard: 0, since: start });
    back.listens_to = Some(0);
    scenario.flows.push(back);
    scenario.flows[0].listens_to = Some(1);
    change(&mut scenario.flows);
    let mut net = Net::new(&scenario, PER_OCTET, |_| Fate::Arrives);
    net.run(at(10));
    let audit = net.audit();
    [audit[0].clone(), audit[1].clone()]
}

fn at(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

#[test]
fn each_message_brings_one_answer_over_each_transport() {
    for transport in [Transport::Udp, tcp(None), tfrc(), adtfrc()] {
        for relay in [Relay::Os, Relay::Application] {
            let [there, back] = conversation(relay, transport.clone(), |_| {});
            assert!(there.sent_packets > 20, "{relay:?} {transport:?}: {}", there.sent_packets);
            assert_eq!(back.sent_packets, there.received_packets, "{relay:?} {transport:?}");
            assert!(there.sent_packets - back.received_packets <= 1, "{relay:?} {transport:?}");
        }
    }
}

#[test]
fn what_is_protected_is_answered_once() {
    let protect = |flows: &mut [model::Flow]| flows.iter_mut().for_each(|flow| flow.fec = Some(Config::default()));
    let [there, back] = conversation(Relay::Os, Transport::Udp, protect);
    assert!(there.sent_packets > 100, "{}", there.sent_packets);
    assert_eq!(back.sent_packets, there.received_packets);
}

#[test]
fn an_application_hears_nothing_before_its_start_nor_after_its_stop() {
    let [there, back] = conversation(Relay::Os, Transport::Udp, |flows| flows[1].start = at(2));
    assert_eq!((there.sent_packets, there.received_packets, back.sent_packets), (1, 1, 0));
    let [there, back] = conversation(Relay::Os, Transport::Udp, |flows| flows[1].stop = Some(at(2)));
    assert!(back.sent_packets > 100 && there.sent_packets == back.sent_packets + 1, "{}", back.sent_packets);
    let all = conversation(Relay::Os, Transport::Udp, |_| {});
    assert!(all[1].sent_packets > 5 * back.sent_packets, "{}", all[1].sent_packets);
}

#[test]
fn who_does_not_listen_is_not_told() {
    let [there, back] = conversation(Relay::Os, Transport::Udp, |flows| flows[1].listens_to = None);
    assert_eq!((there.received_packets, back.sent_packets), (1, 0));
}
