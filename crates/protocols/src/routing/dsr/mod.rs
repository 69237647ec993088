//! Dynamic source routing (RFC 4728) for IPv4, without the flow state extension.
//!
//! A node that has a packet for a destination floods a Route Request (`discovery`), and puts the route of the Route Reply, node by
//! node, into a header before the data of each packet (`header`). Whoever passes a packet on finds the next node there
//! (`forwarding`). Each node makes sure that the next one has the packet (`acknowledging`), and tells the sender of a broken link by
//! a Route Error (`repair`). What passes by, routes above all, is learned (`learning`) and kept in a cache (`cache`).
//!
//! The limits and decisions are in `docs/models/dsr.md`.

mod acknowledging;
mod blacklist;
mod cache;
mod config;
mod discovery;
mod forwarding;
mod header;
mod learning;
mod lru;
mod maintenance;
mod overheard;
mod parked;
mod repair;
mod requests;
mod schedule;
mod shortening;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use hopcast_wire::dsr::DsrOption;
use hopcast_wire::ipv4::Protocol;

use self::blacklist::Blacklist;
use self::cache::RouteCache;
pub use self::config::{Acknowledgement, Cache, Config, Lifetime, MaxLife, Rules};
use self::discovery::{CachedReply, HeldRequest};
use self::learning::Recent;
use self::lru::Lru;
use self::maintenance::Maintenance;
use self::overheard::Overheard;
use self::parked::Parked;
use self::repair::{Break, SpreadError};
use self::requests::RequestTable;
use self::schedule::{Schedule, Timer};
use super::{
    Arrival, Encapsulation, LinkEvent, Message, NextHop, Node, Output, Packet, ROUTE_QUEUE_PACKETS, Routing, Verdict,
};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Time to live of messages that follow a source route, which has at most 64 hops.
const TTL: u8 = 64;

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
    maintenance: Maintenance,
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
            maintenance: Maintenance::new(&config, config.request_table_size),
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

    /// A neighbour was heard.
    fn on_heard(&mut self, from: NextHop) {
        if self.interfaces > 1 {
            self.heard_over.insert(from.address, from.interface);
        }
    }

    /// A neighbour, over the interface where it was last heard.
    fn hop_to(&self, neighbour: Ipv4Addr) -> NextHop {
        NextHop { interface: self.heard_over.get(&neighbour).copied().unwrap_or(0), address: neighbour }
    }

    /// A message with these options, along this route from this node. One that was salvaged names this node in its route.
    fn message_along(&self, hops: &[Ipv4Addr], options: Vec<DsrOption<'_>>, salvage: u8) -> Option<Message> {
        let (&destination, between) = hops.split_last()?;
        if hops.len() > cache::MAX_HOPS - usize::from(salvage > 0) {
            return None;
        }
        let addresses = [&[self.address], between].concat();
        // A list of options that also may live no longer than the addresses.
        let mut options: Vec<DsrOption<'_>> = options;
        if salvage > 0 {
            options.push(DsrOption::SourceRoute(header::salvaged_route(&addresses, false, salvage)));
        } else if !between.is_empty() {
            options.push(DsrOption::SourceRoute(header::fresh_route(between, false)));
        }
        let octets = header::emit(Protocol::NoNextHeader, &options);
        Some(Message { source: None, destination, hop: Some(self.hop_to(hops[0])), ttl: TTL, octets })
    }

    /// Sends a message after a delay. There is a limit to how many wait, as to everything that comes from outside.
    fn send_after(&mut self, delay: Duration, message: Message, now: Instant) {
        if delay == Duration::ZERO {
            self.send(message, now);
        } else if self.schedule.messages() < self.config.request_table_size * self.config.request_table_ids {
            self.schedule.add(after(now, delay), Timer::Send(message));
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
        let Some(from) = packet.from else { return Arrival::Deliver };
        let arrival = match self.attend(packet, from, now) {
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
        let Some(from) = packet.from else { return };
        if let Some(header) = self.attend(packet, from, now) {
            self.on_message(packet, &header, from, now);
        }
        self.on_learned(now);
    }

    fn handle_overheard(&mut self, packet: &Packet<'_>, receiver: Ipv4Addr, now: Instant) {
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
        while let Some(timer) = self.schedule.pop(now) {
            match timer {
                Timer::Send(message) => self.send(message, now),
                Timer::Discovery(target) => self.on_discovery_timeout(target, now),
                Timer::CachedReply(initiator, target) => self.on_reply_delay_over(initiator, target, now),
                Timer::Probe(neighbour) => drop(self.held_requests.remove(&neighbour)),
                Timer::Maintenance(number) => self.on_unacknowledged(number, now),
            }
        }
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

    fn is_promiscuous(&self) -> bool {
        self.config.promiscuous
    }

    fn header_len(&mut self, destination: Ipv4Addr, now: Instant) -> usize {
        self.longest_header(destination, now)
    }
}

/// The instant so long after `now`, or the last one.
fn after(now: Instant, duration: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_add(duration.as_nanos()))
}
