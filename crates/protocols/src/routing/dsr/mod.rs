//! Dynamic source routing (RFC 4728) for IPv4, without the flow state extension.
//!
//! A node that has a packet for a destination floods a Route Request (`discovery`), and puts the route of the Route Reply, node by
//! node, into a header before the data of each packet. The nodes on the way find the next one there (`forwarding`). Each node makes
//! sure that the next one has the packet, and sends a Route Error about a broken link (`maintenance`). A node learns routes from
//! what it forwards and overhears, and keeps them in a route cache (`table`).
//!
//! The limits and decisions are in `docs/models/dsr.md`.

mod config;
mod discovery;
mod forwarding;
mod header;
mod maintenance;
mod messages;
mod neighbours;
mod table;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use hopcast_wire::ipv4::Protocol;

pub use self::config::{Acknowledgement, Cache, Config, Lifetime, MaxLife, Rules};
use self::discovery::requests::RequestTable;
use self::forwarding::learning::Recent;
use self::forwarding::overheard::Overheard;
use self::maintenance::Break;
use self::maintenance::buffer::MaintenanceBuffer;
use self::maintenance::parked::Parked;
use self::messages::route_error::SpreadError;
use self::messages::route_reply::CachedReply;
use self::messages::route_request::HeldRequest;
use self::neighbours::blacklist::Blacklist;
use self::table::RouteCache;
use self::timers::Schedule;
use super::{Arrival, Encapsulation, LinkEvent, NextHop, Node, Output, Packet, ROUTE_QUEUE_PACKETS, Routing, Verdict};
use crate::contract::assert_drained;
use crate::lru::Lru;
use crate::random::Stream;
use crate::time::Instant;

/// DSR at one node.
#[derive(Debug)]
pub struct Dsr {
    config: Config,
    address: Ipv4Addr,
    interfaces: u32,
    random: Stream,
    cache: RouteCache,
    recent: Recent,
    overheard: Overheard,
    requests: RequestTable,
    /// Targets that packets wait for.
    searching: BTreeSet<Ipv4Addr>,
    /// What [`RouteCache::additions`] was when they were last looked up.
    additions_seen: u64,
    /// Route Replies from the cache that wait, by initiator and target.
    cached_replies: BTreeMap<(Ipv4Addr, Ipv4Addr), CachedReply>,
    /// Route Requests that wait until the neighbour that has sent them proves that it hears this node.
    held_requests: BTreeMap<Ipv4Addr, HeldRequest>,
    /// The Gratuitous Route Reply Table: until when none goes to this sender on account of this neighbour.
    gratuitous: Lru<(Ipv4Addr, Ipv4Addr), Instant>,
    blacklist: Blacklist,
    maintenance: MaintenanceBuffer,
    /// Packets that the driver was asked to give back, and has not yet.
    recalled: usize,
    parked: Parked,
    last_break: Option<Break>,
    /// How often packets of this node have failed whose source routes don't count it, by their destinations, identifications and
    /// fragment offsets.
    failures: Lru<(Ipv4Addr, u16, u16), u8>,
    spread_error: Option<SpreadError>,
    /// The interfaces over which neighbours were heard; not used where there is one only.
    heard_over: Lru<Ipv4Addr, u32>,
    schedule: Schedule,
    outputs: VecDeque<Output>,
}

impl Dsr {
    /// The machine of `node`.
    pub fn new(node: Node, config: Config) -> Self {
        let Node { address, interfaces, mut random } = node;
        // RFC 4728, 4.3: without a memory of the time before, a random number.
        let identification = random.next_u64() as u16;
        Self {
            config,
            address,
            interfaces,
            random,
            cache: RouteCache::new(&config, address),
            recent: Recent::default(),
            overheard: Overheard::default(),
            requests: RequestTable::new(&config, identification),
            searching: BTreeSet::new(),
            additions_seen: 0,
            cached_replies: BTreeMap::new(),
            held_requests: BTreeMap::new(),
            gratuitous: Lru::new(config.request_table_size),
            blacklist: Blacklist::new(config.blacklist_timeout, config.request_table_size),
            maintenance: MaintenanceBuffer::new(&config, config.request_table_size),
            recalled: 0,
            parked: Parked::default(),
            last_break: None,
            failures: Lru::new(config.rexmt_buffer_size + ROUTE_QUEUE_PACKETS as usize),
            spread_error: None,
            heard_over: Lru::new(config.request_table_size),
            schedule: Schedule::default(),
            outputs: VecDeque::new(),
        }
    }
}

impl Routing for Dsr {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Ip { protocol: Protocol::Dsr.into() }
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let verdict = match packet.from {
            None => self.originate(packet, now),
            Some(from) => self.forward(packet, from, now),
        };
        self.on_learned(now);
        verdict
    }

    fn handle_arrival(&mut self, packet: &Packet<'_>, now: Instant) -> Arrival {
        assert_drained(self.outputs.is_empty());
        let Some(from) = packet.from else { return Arrival::Deliver };
        let arrival = match self.process_header(packet, from, now) {
            Some(header) => {
                self.on_replies(packet, &header, from, now);
                Arrival::Deliver
            }
            None => Arrival::Drop,
        };
        self.on_learned(now);
        arrival
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        assert_drained(self.outputs.is_empty());
        let Some(from) = packet.from else { return };
        if let Some(header) = self.process_header(packet, from, now) {
            self.on_message(packet, &header, from, now);
        }
        self.on_learned(now);
    }

    fn handle_overheard(&mut self, packet: &Packet<'_>, receiver: Ipv4Addr, now: Instant) {
        assert_drained(self.outputs.is_empty());
        if let Some(from) = packet.from.filter(|_| self.config.promiscuous) {
            self.overhear(packet, from, receiver, now);
            self.on_learned(now);
        }
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        match event {
            LinkEvent::FrameDropped { hop, packet } => self.on_frame_dropped(*hop, packet, now),
            LinkEvent::QueuePurged { hop, packet } => self.on_purged(*hop, packet, now),
            LinkEvent::NeighbourLost(hop) => {
                self.on_unreachable(*hop, now);
                Verdict::Drop
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        assert_drained(self.outputs.is_empty());
        self.expire(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.schedule.next()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        let route = self.cache.peek(destination, now)?;
        Some(self.hop_to(route.hops[0]))
    }

    fn requests(&self) -> u64 {
        self.requests.made()
    }

    fn is_promiscuous(&self) -> bool {
        self.config.promiscuous
    }

    fn header_len(&mut self, destination: Ipv4Addr, now: Instant) -> usize {
        self.longest_header(destination, now)
    }
}
