//! DSR by hand at exact instants, over a network of machines, and under bytes of anybody.

mod acknowledging;
mod bench;
mod discovery;
mod hostile;
mod ns2;
mod properties;
mod repair;

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{DsrOption, Packet as View};

use super::table::has_duplicates;
use super::{Acknowledgement, Cache, Config, Dsr, Lifetime, MaxLife, Rules};
use crate::routing::network::{Fate, Network, TTL, address};
use crate::routing::{Arrival, Encapsulation, LinkEvent, Message, NextHop, Node, Output, Packet, Routing, Verdict};
use crate::time::{Duration, Instant};

/// The RFC's values without jitter, so that instants are known.
const EXACT: Config = Config { broadcast_jitter: Duration::ZERO, ..Config::RFC_4728 };

/// The same with a cache of paths.
const PATHS: Config = Config { cache: Cache::Path { primary: 30, secondary: 64, timeout: None }, ..EXACT };

/// A machine, all of whose source routes are looked at: none may visit a node twice.
#[derive(Debug)]
struct Checked(Dsr);

impl Checked {
    fn new(config: Config) -> impl Fn(Node) -> Self {
        move |node| Self(Dsr::new(node, config))
    }

    fn check(&self, source: Ipv4Addr, destination: Ipv4Addr, octets: &[u8]) {
        if octets.is_empty() {
            return;
        }
        for option in View::new_checked(octets).expect("what is sent is whole").options() {
            let mut nodes = Vec::new();
            match option.expect("what is sent is whole") {
                DsrOption::SourceRoute(route) => {
                    if route.salvage == 0 {
                        nodes.push(source);
                    }
                    nodes.extend(route.addresses.iter());
                    nodes.push(destination);
                }
                DsrOption::RouteReply(reply) => {
                    nodes.push(destination);
                    nodes.extend(reply.addresses.iter());
                }
                DsrOption::RouteRequest(request) => {
                    nodes.push(source);
                    nodes.extend(request.addresses.iter());
                    nodes.push(request.target);
                }
                _ => {}
            }
            assert!(!has_duplicates(&nodes), "{option:?} from {source} to {destination} has a loop");
        }
    }

    fn check_verdict(&self, packet: &Packet<'_>, verdict: Verdict) -> Verdict {
        if let Verdict::Forward(forward) = &verdict
            && let Some(header) = &forward.header
        {
            self.check(packet.source, packet.destination, header);
        }
        verdict
    }
}

impl Routing for Checked {
    fn encapsulation(&self) -> Encapsulation {
        self.0.encapsulation()
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let verdict = self.0.handle_packet(packet, now);
        self.check_verdict(packet, verdict)
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, now: Instant) -> Arrival {
        self.0.handle_arrival(packet, now)
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        self.0.handle_message(packet, now);
    }

    fn handle_overheard(&mut self, packet: &Packet<'_>, receiver: Ipv4Addr, now: Instant) {
        self.0.handle_overheard(packet, receiver, now);
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        let verdict = self.0.handle_link_event(event, now);
        match event {
            LinkEvent::FrameDropped { packet, .. } | LinkEvent::QueuePurged { packet, .. } => {
                self.check_verdict(packet, verdict)
            }
            LinkEvent::NeighbourLost(_) => verdict,
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout()
    }

    fn poll_output(&mut self) -> Option<Output> {
        let output = self.0.poll_output();
        if let Some(Output::Send(Message { source, destination, octets, .. })) = &output {
            self.check(source.unwrap_or(self.0.address), *destination, octets);
        }
        output
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        self.0.next_hop(destination, now)
    }

    fn is_promiscuous(&self) -> bool {
        self.0.is_promiscuous()
    }
}

/// What a node knows of the way to another one, as nodes.
fn known_route(network: &Network<Checked>, from: usize, to: usize) -> Option<Vec<usize>> {
    let route = network.nodes[from].0.cache.peek(address(to), network.now)?;
    Some(route.hops.into_iter().map(crate::routing::network::index).collect())
}
