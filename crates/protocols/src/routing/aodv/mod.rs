//! Ad hoc on-demand distance vector routing (AODV, RFC 3561) for unicast in IPv4.
//!
//! A node without a route to a destination floods a request (RREQ), in growing rings. The request leaves routes back to its
//! originator, until the destination or a node with a fresh route replies (RREP), which leaves the route there. When a link
//! breaks, an error (RERR) tells the nodes that send over it, unless the route is repaired locally.
//!
//! Where the RFC leaves room for loops or contradicts itself, `docs/models/aodv.md` says what is done here.

mod config;
mod discovery;
mod forwarding;
mod maintenance;
mod messages;
mod neighbours;
mod table;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::aodv::PORT;

use self::discovery::Discoveries;
use self::discovery::seen::SeenRequests;
use self::messages::rate_limit::RateLimit;
use self::neighbours::Neighbours;
use self::neighbours::blacklist::Blacklist;
use self::table::Table;
use self::table::sequence::Sequence;
use super::{Arrival, Encapsulation, LinkEvent, Message, NextHop, Node, Output, Packet, Routing, Verdict};
use crate::contract::assert_drained;
use crate::random::Stream;
use crate::time::Instant;

pub use self::config::{Config, Constants, LinkDetection, LocalRepair, Rules};

/// The most neighbours that are watched, blacklisted, or waited for; further ones are not.
const MAX_NEIGHBOURS: usize = 1 << 10;

/// AODV at one node.
///
/// Whatever its neighbours send, it keeps at most 2¹⁴ routes, 2¹⁶ numbers of requests, as many requests to be passed on,
/// and 2¹⁰ neighbours of each kind (watched, blacklisted, to acknowledge something), and outputs that were not yet taken.
/// In addition it keeps a discovery for each destination that packets wait for, as far as its driver tells
/// ([`Routing::handle_abandoned`]).
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
    seen: SeenRequests,
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
            seen: SeenRequests::new(config.path_discovery_time(), config.is_ns2(), secret),
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

    /// Reads what a message that is known already needs, for [`super::prefetch`].
    pub(super) fn prefetch(&self) -> u64 {
        let lengths = self.outputs.len() + self.neighbours.len() + self.blacklist.len();
        self.due.as_nanos() ^ lengths as u64 ^ u64::from(self.config.is_ns2()) ^ self.seen.prefetch()
    }

    /// Whether the address may be that of another node.
    fn is_node(&self, address: Ipv4Addr) -> bool {
        let is_of_a_host = !(address.is_broadcast() || address.is_multicast() || address.is_unspecified());
        is_of_a_host && !address.is_loopback() && address != self.address
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
        assert_drained(self.outputs.is_empty());
        self.catch_up(now);
        self.discoveries.abandon(destination);
        self.arm();
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, now: Instant) -> Arrival {
        assert_drained(self.outputs.is_empty());
        self.catch_up(now);
        if let Some(from) = packet.from {
            self.neighbours.handle_sign(from, now);
        }
        self.use_reverse_route(packet, now);
        self.arm();
        Arrival::Deliver
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        assert_drained(self.outputs.is_empty());
        self.catch_up(now);
        if self.handle_octets(packet, now) {
            self.arm();
        }
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        self.catch_up(now);
        let verdict = self.decide_after(event, now);
        self.arm();
        verdict
    }

    fn handle_timeout(&mut self, now: Instant) {
        assert_drained(self.outputs.is_empty());
        self.catch_up(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.timeout
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        self.table.valid(destination).filter(|route| now < route.expires()).map(|route| route.hop)
    }

    fn requests(&self) -> u64 {
        // The first one has the number 1.
        self.request_id.into()
    }

    fn routes(&self, now: Instant) -> Vec<super::Route> {
        let valid = self.table.iter().filter(|(_, route)| route.is_valid() && now < route.expires());
        valid
            .map(|(destination, route)| super::Route { destination, hop: route.hop, hops: route.hops.into() })
            .collect()
    }

    fn routes_version(&self, now: Instant) -> Option<u64> {
        self.table.version(now)
    }
}
