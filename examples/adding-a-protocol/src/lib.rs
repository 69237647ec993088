//! A collection tree: every node knows the way to one root, and the root knows the way back to whoever has spoken to it.
//!
//! The root broadcasts a beacon now and then, and every node passes each beacon on once, with one hop more. The neighbour from
//! which a node heard the newest beacon over the fewest hops is its parent. Packets for the root go from parent to parent, and
//! leave a trail on which others come back.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use hopcast_protocols::random::Stream;
use hopcast_protocols::routing::{
    Arrival, Encapsulation, Forward, LinkEvent, Message, NextHop, Node, Output, Packet, Route, Routing, Verdict,
};
use hopcast_protocols::time::{Duration, Instant};
use serde::Deserialize;

/// Port of the beacons: one of those that are free for experiments (RFC 4727, section 6).
const PORT: u16 = 1021;
/// A beacon is passed on after up to this time, so that neighbours do not all do it at once.
const JITTER: Duration = Duration::from_millis(10);
/// A parent is lost after so many beacons that did not come.
const ALLOWED_LOSS: u64 = 3;

/// What a scenario may say under `routing.parameters`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The address of the root; that of the first node of a scenario is 10.0.0.1.
    pub root: Ipv4Addr,
    /// Time between two beacons in seconds.
    #[serde(default = "one_second")]
    pub interval: f64,
}

fn one_second() -> f64 {
    1.0
}

/// A beacon: sequence number, then hops from the root, both with the most significant octet first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beacon {
    sequence: u32,
    hops: u32,
}

impl Beacon {
    fn emit(self) -> Vec<u8> {
        [self.sequence.to_be_bytes(), self.hops.to_be_bytes()].concat()
    }

    /// `None` if that is no beacon.
    fn parse(octets: &[u8]) -> Option<Self> {
        let (sequence, hops) = octets.split_first_chunk::<4>()?;
        Some(Self { sequence: u32::from_be_bytes(*sequence), hops: u32::from_be_bytes(hops.try_into().ok()?) })
    }
}

/// The protocol at one node.
#[derive(Debug)]
pub struct Tree {
    address: Ipv4Addr,
    root: Ipv4Addr,
    interval: Duration,
    random: Stream,
    /// The newest beacon, and at all but the root the neighbour that it came from and when the parent is lost.
    newest: Option<Beacon>,
    parent: Option<(NextHop, Instant)>,
    /// By source: the neighbour over which its packets came.
    trails: BTreeMap<Ipv4Addr, NextHop>,
    /// A beacon that is to be sent, and when.
    next: Option<(Beacon, Instant)>,
    outputs: VecDeque<Output>,
}

impl Tree {
    /// The protocol at `node`.
    pub fn new(node: Node, config: &Config) -> Self {
        let is_root = node.address == config.root;
        let first = Beacon { sequence: 0, hops: 0 };
        Self {
            address: node.address,
            root: config.root,
            interval: Duration::from_secs_f64(config.interval.max(0.01)),
            random: node.random,
            newest: None,
            parent: None,
            trails: BTreeMap::new(),
            next: is_root.then_some((first, Instant::START)),
            outputs: VecDeque::new(),
        }
    }

    fn hop_towards(&self, destination: Ipv4Addr) -> Option<NextHop> {
        match destination == self.root {
            true => self.parent.map(|(parent, _)| parent),
            false => self.trails.get(&destination).copied(),
        }
    }
}

impl Routing for Tree {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: PORT }
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, _: Instant) -> Verdict {
        if let Some(from) = packet.from {
            self.trails.insert(packet.source, from);
        }
        match self.hop_towards(packet.destination) {
            Some(hop) => Verdict::Forward(Forward::to(hop)),
            // A parent may come with the next beacon.
            None if packet.destination == self.root => Verdict::Wait,
            None => Verdict::Drop,
        }
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, _: Instant) -> Arrival {
        if let Some(from) = packet.from {
            self.trails.insert(packet.source, from);
        }
        Arrival::Deliver
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        let (Some(beacon), Some(from)) = (Beacon::parse(packet.octets), packet.from) else { return };
        let hops = beacon.hops.saturating_add(1);
        let is_better = self.newest.is_none_or(|newest| {
            let age = beacon.sequence.wrapping_sub(newest.sequence) as i32;
            age > 0 || age == 0 && hops < newest.hops
        });
        if self.address == self.root || !is_better {
            return;
        }
        let own = Beacon { sequence: beacon.sequence, hops };
        self.newest = Some(own);
        self.parent = Some((from, now + self.interval * ALLOWED_LOSS));
        let jitter = Duration::from_nanos((self.random.unit() * JITTER.as_nanos() as f64) as u64);
        self.next = Some((own, now + jitter));
        self.outputs.push_back(Output::Found(self.root));
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, _: Instant) -> Verdict {
        let (LinkEvent::FrameDropped { hop, .. } | LinkEvent::QueuePurged { hop, .. } | LinkEvent::NeighbourLost(hop)) =
            *event;
        self.parent.take_if(|(parent, _)| *parent == hop);
        self.trails.retain(|_, next| *next != hop);
        Verdict::Drop
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.parent.take_if(|(_, lost_at)| *lost_at <= now);
        if let Some((beacon, _)) = self.next.take_if(|(_, at)| *at <= now) {
            self.outputs.push_back(Output::Send(Message::to_neighbours(beacon.emit())));
            if self.address == self.root {
                let following = Beacon { sequence: beacon.sequence.wrapping_add(1), ..beacon };
                self.next = Some((following, now + self.interval));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let beacon = self.next.map(|(_, at)| at);
        beacon.into_iter().chain(self.parent.map(|(_, lost_at)| lost_at)).min()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, _: Instant) -> Option<NextHop> {
        self.hop_towards(destination)
    }

    /// For `hopcast node`, whose kernel forwards along these. How long a trail is nobody knows.
    fn routes(&self, _: Instant) -> Vec<Route> {
        let to_root = self.parent.zip(self.newest);
        let to_root = to_root.map(|((hop, _), newest)| Route { destination: self.root, hop, hops: newest.hops });
        let trails = self.trails.iter().filter(|(destination, _)| **destination != self.root);
        let trails = trails.map(|(&destination, &hop)| Route { destination, hop, hops: 1 });
        let mut routes: Vec<Route> = to_root.into_iter().chain(trails).collect();
        routes.sort_by_key(|route| route.destination);
        routes
    }
}
