//! Ad hoc on-demand distance vector routing (AODV, RFC 3561) for unicast in IPv4.
//!
//! A node looks for a route when it has a packet and none (`discovery`): a request (RREQ) spreads in growing rings, leaving
//! routes back to its originator (`request`), until the destination or somebody with a fresh route answers with a reply (RREP)
//! that leaves the route there (`reply`). When a link breaks, those that send over it are told by an error (RERR), unless the
//! route is repaired on the spot (`error`). `table` holds the routes and the rule by which one replaces another.
//!
//! Where the RFC leaves room for loops or contradicts itself, `docs/models/aodv.md` says what is done here.

mod blacklist;
mod config;
mod discovery;
mod duplicates;
mod error;
mod hello;
mod hop_times;
mod neighbours;
mod rate;
mod recipients;
mod reply;
mod request;
mod schedule;
mod sequence;
mod table;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::aodv::{MessageType, PORT, Repr};

use self::blacklist::Blacklist;
use self::discovery::{Discoveries, Outcome, Purpose};
use self::duplicates::Duplicates;
use self::neighbours::Neighbours;
use self::rate::RateLimit;
use self::sequence::Sequence;
use self::table::Table;
use super::{Arrival, Encapsulation, Forward, LinkEvent, Message, NextHop, Node, Output, Packet, Routing, Verdict};
use crate::random::Stream;
use crate::time::{Duration, Instant};

pub use self::config::{Config, Constants, LinkDetection, LocalRepair, Rules};

/// The most neighbours that are watched, blacklisted, or waited for; further ones are not.
const MAX_NEIGHBOURS: usize = 1 << 10;

/// AODV at one node.
///
/// Whatever its neighbours send, it keeps at most 2¹⁴ routes, 2¹⁶ numbers of requests, as many requests to be passed on, and
/// 2¹⁰ neighbours of each kind (watched, blacklisted, to acknowledge something), and what was put out and not yet taken. Beside them it
/// keeps a discovery for each destination that packets wait for, as far as its driver tells ([`Routing::handle_abandoned`]).
///
/// Its parts are laid out in the order in which they stand here: most messages are requests that are known, and what these look
/// at comes first, in few lines of the processor's cache.
#[derive(Debug)]
#[repr(C)]
pub struct Aodv {
    /// When something is to be done next, or might be: not after the soonest of all timers.
    due: Instant,
    /// What [`Routing::poll_timeout`] tells.
    timeout: Option<Instant>,
    address: Ipv4Addr,
    /// End of the silence after a reboot.
    silent_until: Option<Instant>,
    outputs: VecDeque<Output>,
    duplicates: Duplicates,
    neighbours: Neighbours,
    blacklist: Blacklist,
    config: Config,
    random: Stream,
    /// This node's own sequence number.
    sequence: Sequence,
    /// Number of the last request.
    request_id: u32,
    table: Table,
    discoveries: Discoveries,
    errors: RateLimit,
    /// Broadcasts that wait for their jitter to pass, with that instant; the next one stands last, and of those of one instant the
    /// one that came first.
    delayed: Vec<(Instant, Message)>,
    /// Part of an active route up to this instant.
    active_until: Instant,
    /// When a hello may be due next; `None`: none is, as this node is not part of an active route.
    next_hello: Option<Instant>,
    /// When it last sent all neighbours something else than a hello.
    last_broadcast: Option<Instant>,
}

impl Aodv {
    /// AODV at a node that starts for the first time.
    pub fn new(config: Config, node: Node, now: Instant) -> Self {
        let config = config.clamped();
        let secret = node.random.clone().next_u64();
        let mut aodv = Self {
            due: Instant::MAX,
            timeout: None,
            address: node.address,
            random: node.random,
            sequence: Sequence(0),
            request_id: 0,
            table: Table::new(config.delete_period(), config.longest_lifetime(), secret),
            duplicates: Duplicates::new(config.path_discovery_time(), config.is_ns2(), secret),
            discoveries: Discoveries::new(&config),
            neighbours: Neighbours::default(),
            blacklist: Blacklist::new(config.blacklist_timeout(), config.next_hop_wait()),
            errors: RateLimit::new(config.rerr_ratelimit),
            delayed: Vec::new(),
            active_until: now,
            next_hello: None,
            last_broadcast: None,
            silent_until: None,
            outputs: VecDeque::new(),
            config,
        };
        if aodv.config.hello_always {
            aodv.start_hellos(now);
        }
        aodv.arm();
        aodv
    }

    /// AODV at a node that has forgotten everything, while its neighbours may still have routes over it: it learns, but says
    /// nothing for DELETE_PERIOD (RFC 3561, section 6.13).
    pub fn after_reboot(config: Config, node: Node, now: Instant) -> Self {
        let mut aodv = Self::new(config, node, now);
        aodv.silent_until = Some(now + aodv.config.delete_period());
        aodv.arm();
        aodv
    }

    /// What to do with a packet with data: a decision made when it comes, and again when it could not be sent.
    fn decide(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let destination = packet.destination;
        let is_own = packet.from.is_none() && packet.source == self.address;
        if !self.is_node(destination) {
            return Verdict::Drop;
        }
        if let Some(until) = &mut self.silent_until
            && !is_own
        {
            *until = now + self.config.delete_period();
            self.report_unreachable(packet, now);
            return Verdict::Drop;
        }
        if let Some(hop) = self.table.valid(destination).map(|route| route.hop) {
            self.use_route(packet, hop, now);
            return Verdict::Forward(Forward::to(hop));
        }
        self.table.remember(destination, now);
        if is_own {
            let hops = self.table.get(destination).map(|route| route.hops);
            self.discoveries.search(destination, hops, &self.config);
            self.send_requests(now);
            return Verdict::Wait;
        }
        if self.discoveries.join_repair(destination) {
            return Verdict::Wait;
        }
        if self.start_repair(packet, now) {
            self.send_requests(now);
            return Verdict::Wait;
        }
        self.report_unreachable(packet, now);
        Verdict::Drop
    }

    /// A packet is sent over a route: what it uses stays valid (RFC 3561, section 6.2), and to ns-2 no more than the route.
    fn use_route(&mut self, packet: &Packet<'_>, hop: NextHop, now: Instant) {
        let until = now + self.config.active_route_timeout;
        self.table.extend(packet.destination, until, now);
        if !self.config.is_ns2() {
            self.extend_neighbour(hop, until, now);
        }
        self.use_reverse_route(packet, now);
    }

    /// A packet has come: the route back to its source stays valid if it leads back the same way. Over another neighbour it
    /// would outlive what that neighbour remembers.
    fn use_reverse_route(&mut self, packet: &Packet<'_>, now: Instant) {
        let until = now + self.config.active_route_timeout;
        self.activate(until, now);
        let Some(from) = packet.from.filter(|_| !self.config.is_ns2()) else { return };
        match self.table.valid(packet.source) {
            Some(route) if route.hop == from => self.table.extend(packet.source, until, now),
            Some(_) => {}
            None => self.table.remember(packet.source, now),
        }
        self.extend_neighbour(from, until, now);
    }

    fn extend_neighbour(&mut self, neighbour: NextHop, until: Instant, now: Instant) {
        if self.table.valid(neighbour.address).is_some_and(|route| route.hop == neighbour) {
            self.table.extend(neighbour.address, until, now);
        }
    }

    /// There is a new route: what waits for it may go, and whoever sends over a repaired route learns if it is longer now
    /// (RFC 3561, section 6.12).
    fn handle_route(&mut self, destination: Ipv4Addr, now: Instant) {
        let Some(purpose) = self.discoveries.finish(destination) else { return };
        self.outputs.push_back(Output::Found(destination));
        if let Purpose::Repair { hops, .. } = purpose
            && !self.config.fails_as_ns2()
        {
            self.report_repair(destination, hops, now);
        }
    }

    /// Whether the address may be that of another node.
    fn is_node(&self, address: Ipv4Addr) -> bool {
        let is_of_a_host = !(address.is_broadcast() || address.is_multicast() || address.is_unspecified());
        is_of_a_host && !address.is_loopback() && address != self.address
    }

    /// Brings everything up to `now`: what was due is done.
    #[inline]
    fn catch_up(&mut self, now: Instant) {
        if self.due <= now {
            self.expire(now);
            self.arm();
        }
    }

    /// Timers may have changed.
    fn arm(&mut self) {
        let delayed = self.delayed.last().map(|&(at, _)| at);
        let others = [
            self.table.poll_timeout(),
            self.neighbours.poll_timeout(),
            self.blacklist.poll_timeout(),
            delayed,
            self.next_hello,
        ];
        let others = others.into_iter().flatten().min();
        let requests = self.discoveries.poll_timeout();
        let due = [others, requests, self.silent_until];
        self.due = due.into_iter().flatten().min().unwrap_or(Instant::MAX);
        // Requests wait for the end of the silence, whatever else they wait for.
        self.timeout = others.into_iter().chain(requests.max(self.silent_until)).min();
    }

    fn expire(&mut self, now: Instant) {
        if self.silent_until.is_some_and(|until| until <= now) {
            self.silent_until = None;
        }
        self.table.handle_timeout(now);
        self.blacklist.handle_timeout(now);
        while let Some(hop) = self.neighbours.poll_lost(now) {
            self.lose_link(hop, now);
        }
        while let Some((destination, outcome)) = self.discoveries.poll_outcome(&self.config, now) {
            self.handle_outcome(destination, outcome, now);
        }
        self.send_requests(now);
        self.send_hello(now);
        while let Some((_, message)) = self.delayed.pop_if(|(at, _)| *at <= now) {
            self.broadcast(message, now);
        }
    }

    fn handle_outcome(&mut self, destination: Ipv4Addr, outcome: Outcome, now: Instant) {
        let Outcome::NotFound(purpose) = outcome else { return };
        if let Purpose::Repair { with_own, .. } = purpose
            && !self.config.fails_as_ns2()
        {
            self.table.give_up(destination);
            self.report_lost(&[destination], now);
            if with_own {
                let hops = self.table.get(destination).map(|route| route.hops);
                self.discoveries.search(destination, hops, &self.config);
                return;
            }
        }
        self.outputs.push_back(Output::NotFound(destination));
    }

    /// Something happened to a link; what to do with the packet that the event carries.
    fn decide_after(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        let packet = match event {
            LinkEvent::NeighbourLost(hop) => {
                if self.config.link_detection.uses_link_layer() {
                    self.lose_link(*hop, now);
                }
                return Verdict::Drop;
            }
            LinkEvent::FrameDropped { hop, packet } => {
                let is_heard = packet.has_data || !self.config.is_ns2();
                if !self.config.link_detection.uses_link_layer() || !is_heard {
                    return Verdict::Drop;
                }
                if !packet.has_data && MessageType::of(packet.octets) == Some(MessageType::Reply) {
                    self.blacklist.insert(*hop, now);
                }
                if !self.lose_route(packet, *hop, now) {
                    self.lose_link(*hop, now);
                    if self.config.fails_as_ns2() {
                        return Verdict::Drop;
                    }
                }
                packet
            }
            LinkEvent::QueuePurged { .. } if self.config.fails_as_ns2() => return Verdict::Drop,
            LinkEvent::QueuePurged { packet, .. } => packet,
        };
        if packet.has_data { self.decide(packet, now) } else { Verdict::Drop }
    }

    /// Sends a message to a neighbour.
    fn send(&mut self, hop: NextHop, message: &Repr<'_>) {
        self.outputs.push_back(Output::Send(Message::to(hop, message.to_octets())));
    }

    /// Sends a message to all neighbours, which shows them that this node is there.
    fn broadcast(&mut self, message: Message, now: Instant) {
        self.last_broadcast = Some(now);
        self.outputs.push_back(Output::Send(message));
    }

    /// Sends a message to all neighbours once its jitter has passed.
    fn broadcast_with_jitter(&mut self, message: Message, now: Instant) {
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        if jitter == Duration::ZERO {
            return self.broadcast(message, now);
        }
        let at = now + jitter;
        let place = self.delayed.partition_point(|(later, _)| *later > at);
        self.delayed.insert(place, (at, message));
    }
}

impl Routing for Aodv {
    fn encapsulation(&self) -> Encapsulation {
        if self.config.in_arp { Encapsulation::Arp } else { Encapsulation::Udp { port: PORT } }
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        self.catch_up(now);
        if let Some(from) = packet.from {
            self.neighbours.handle_sign(from, now);
        }
        let verdict = self.decide(packet, now);
        self.arm();
        verdict
    }

    fn handle_abandoned(&mut self, destination: Ipv4Addr, now: Instant) {
        self.catch_up(now);
        self.discoveries.abandon(destination);
        self.arm();
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, now: Instant) -> Arrival {
        self.catch_up(now);
        if let Some(from) = packet.from {
            self.neighbours.handle_sign(from, now);
        }
        self.use_reverse_route(packet, now);
        self.arm();
        Arrival::Deliver
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        self.catch_up(now);
        let Some(from) = packet.from.filter(|from| self.is_node(from.address)) else { return };
        self.neighbours.handle_sign(from, now);
        match Repr::parse(packet.octets) {
            Ok(Repr::Request(request)) => {
                if !self.handle_request(&request, from, packet.ttl, now) {
                    return;
                }
            }
            Ok(Repr::Reply(reply)) if packet.destination == self.address => self.handle_reply(&reply, from, now),
            Ok(Repr::Reply(hello)) => self.handle_hello(&hello, from, now),
            Ok(Repr::Error(error)) => self.handle_error(&error, from, now),
            Ok(Repr::Acknowledgement) => self.blacklist.acknowledge(from),
            Err(_) => {}
        }
        self.arm();
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        self.catch_up(now);
        let verdict = self.decide_after(event, now);
        self.arm();
        verdict
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.catch_up(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn glance(&self) -> u64 {
        let held = self.outputs.len() + self.neighbours.glance() + self.blacklist.glance();
        self.due.as_nanos() ^ held as u64 ^ u64::from(self.config.is_ns2()) ^ self.duplicates.glance()
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        self.table.valid(destination).filter(|route| now < route.expires()).map(|route| route.hop)
    }

    fn routes(&self, now: Instant) -> Vec<super::Route> {
        let valid = self.table.iter().filter(|(_, route)| route.is_valid() && now < route.expires());
        valid
            .map(|(destination, route)| super::Route { destination, hop: route.hop, hops: route.hops.into() })
            .collect()
    }
}
