//! OLSR: optimized link state routing (RFC 3626).
//!
//! Each node tells its neighbours whom it hears (HELLO), so that all know their neighbours' neighbours, and selects among its
//! neighbours multipoint relays (MPRs) that reach all of these. Only relays pass messages of the others on, and only relays tell
//! the whole network of links: of those to the neighbours that have selected them (TC). Shortest paths need no more.
//!
//! * `link` is the state of one link with its hysteresis, `neighbourhood` what HELLO messages tell, `mpr` the selection.
//! * `topology` and `interfaces` are what comes from afar, `duplicates` what has come already, `outbox` what goes out.
//! * `routes` is calculated when a route is asked for and something has changed since, and not before.
//!
//! A packet without a route is dropped: OLSR looks for none, it has them or not.
//!
//! # Several interfaces
//!
//! A node has one address, the same on all interfaces, which is its main address. So it never sends MID messages; those of others
//! are heeded. Each interface has HELLO messages of its own, with the links there: they go to all neighbours at that interface, which
//! a [`Message`] says by a [`NextHop`] with the broadcast address. Where the RFC tells interfaces of this node apart by address,
//! their number does it here.

mod config;
mod duplicates;
mod interfaces;
mod link;
mod mpr;
mod neighbourhood;
mod outbox;
mod routes;
#[cfg(test)]
mod tests;
mod topology;

use core::cell::{Ref, RefCell};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::olsr::{self, MESSAGE_HEADER_LEN, MessageRepr, MessageType, TimeCode, hello, mid, tc};

pub use self::config::{Config, Hysteresis, WILL_ALWAYS, WILL_NEVER};
use self::duplicates::Duplicates;
use self::interfaces::Interfaces;
use self::neighbourhood::{Changes, Hello, Neighbourhood};
use self::outbox::Outbox;
use self::routes::Routes;
use self::topology::Topology;
#[cfg(doc)]
use super::Message;
use super::{Encapsulation, Forward, LinkEvent, NextHop, Node, Output, Packet, Route, Routing, Verdict};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// OLSR at one node.
#[derive(Debug)]
pub struct Olsr {
    config: Config,
    address: Ipv4Addr,
    random: Stream,
    neighbourhood: Neighbourhood,
    topology: Topology,
    interfaces: Interfaces,
    duplicates: Duplicates,
    /// Calculated when asked for.
    routes: RefCell<Option<Routes>>,
    outbox: Outbox,
    /// Message sequence number: of the next message.
    sequence: u16,
    /// What the last TC message has advertised, and its number.
    advertised: Vec<Ipv4Addr>,
    ansn: u16,
    /// Until then, TC messages that advertise nobody take back what former ones have said.
    empty_until: Instant,
    hello_at: Instant,
    tc_at: Instant,
    last_tc: Option<Instant>,
    /// When messages are passed on.
    pass_at: Option<Instant>,
    sweep_at: Instant,
    outputs: VecDeque<Output>,
}

impl Olsr {
    /// OLSR at `node`, which starts at [`Instant::START`].
    pub fn new(config: Config, mut node: Node) -> Self {
        let now = Instant::START;
        let hello_at = now + jitter(config.max_jitter(), &mut node.random);
        let tc_at = now + to_next(&config, config.tc_interval, &mut node.random);
        // Numbers begin anywhere, so that a node that is started anew isn't taken for what it was before.
        let mut number = || node.random.next_u64() as u16;
        let (sequence, ansn) = (number(), number());
        let sequences = (0..node.interfaces).map(|_| number()).collect();
        Self {
            config,
            address: node.address,
            random: node.random,
            neighbourhood: Neighbourhood::new(config),
            topology: Topology::default(),
            interfaces: Interfaces::default(),
            duplicates: Duplicates::new(config.duplicate_hold, node.interfaces),
            routes: RefCell::new(None),
            outbox: Outbox::new(config.payload(), sequences),
            sequence,
            advertised: Vec::new(),
            ansn,
            empty_until: now,
            hello_at,
            tc_at,
            last_tc: None,
            pass_at: None,
            sweep_at: now + config.topology_hold(),
            outputs: VecDeque::new(),
        }
    }

    fn handle_one(&mut self, from: NextHop, sequence: u16, message: olsr::Message<'_>, now: Instant) {
        let header = message.header();
        if header.time_to_live == 0 || header.originator == self.address || header.originator.is_unspecified() {
            return;
        }
        let validity = Duration::from_nanos(header.validity.as_nanos());
        if header.kind == MessageType::Hello {
            if let Ok(body) = hello::View::new_checked(message.body()) {
                let hello = Hello { from, sequence, originator: header.originator, validity, body };
                let main = |address| self.interfaces.main(address, now);
                let changes = self.neighbourhood.handle_hello(hello, self.address, main, now);
                self.apply(changes, now);
            }
            return;
        }
        // All others are heeded and passed on only if they come from a neighbour in both directions (3.4.1, 5.4, 9.5).
        let Some(sender) = self.neighbourhood.symmetric(from, now) else { return };
        let standing = self.duplicates.handle_message(header.originator, header.sequence, from.interface, now);
        if standing.is_new {
            let is_changed = match header.kind {
                MessageType::Tc => tc::View::new_checked(message.body()).is_ok_and(|body| {
                    let neighbours = body.neighbours().iter();
                    self.topology.handle_tc(header.originator, body.ansn(), neighbours, now + validity, now)
                }),
                MessageType::Mid => mid::View::new_checked(message.body()).is_ok_and(|body| {
                    let interfaces = body.interfaces().iter().filter(|&address| address != self.address);
                    self.interfaces.handle_mid(header.originator, interfaces, now + validity, now)
                }),
                _ => false,
            };
            if is_changed {
                *self.routes.get_mut() = None;
            }
        }
        if standing.may_pass && header.time_to_live > 1 && self.neighbourhood.is_selector(sender, now) {
            self.duplicates.pass_on(header.originator, header.sequence);
            let header = MessageRepr {
                time_to_live: header.time_to_live - 1,
                hop_count: header.hop_count.saturating_add(1),
                ..header
            };
            self.outbox.push(header, message.body());
            if self.pass_at.is_none() {
                self.pass_at = Some(now + jitter(self.config.max_jitter(), &mut self.random));
            }
        }
    }

    fn apply(&mut self, changes: Changes, now: Instant) {
        if changes.routes {
            *self.routes.get_mut() = None;
        }
        // A link has failed over which this node relayed: the others hear of it early (9.3).
        if changes.lost_selector {
            let earliest = self.last_tc.map_or(now, |last| now.max(last + self.config.hello_interval));
            self.tc_at = self.tc_at.min(earliest + jitter(self.config.max_jitter(), &mut self.random));
        }
    }

    fn lose(&mut self, hop: NextHop, now: Instant) {
        let changes = self.neighbourhood.lose(hop, now);
        self.apply(changes, now);
    }

    /// The routes, calculated anew if something has changed.
    fn calculated(&self, now: Instant) -> Ref<'_, Routes> {
        let holds = |routes: &Option<Routes>| routes.as_ref().is_some_and(|routes| routes.hold(now));
        if !holds(&self.routes.borrow()) {
            let (neighbourhood, topology, interfaces) = (&self.neighbourhood, &self.topology, &self.interfaces);
            let calculated = Routes::calculate(self.address, neighbourhood, topology, interfaces, now);
            *self.routes.borrow_mut() = Some(calculated);
        }
        Ref::map(self.routes.borrow(), |routes| routes.as_ref().expect("they were calculated"))
    }

    fn route(&self, destination: Ipv4Addr, now: Instant) -> Verdict {
        self.next_hop(destination, now).map_or(Verdict::Drop, |hop| Verdict::Forward(Forward::to(hop)))
    }

    /// HELLO messages for one interface: several where one would not fit into a packet (6.2).
    fn hellos(&mut self, interface: u32, now: Instant) -> Vec<Vec<u8>> {
        /// Length of a HELLO, or of a link message, without addresses.
        const FIXED: usize = 4;
        let empty = hello::Repr {
            interval: TimeCode::from_nanos(self.config.hello_interval.as_nanos()),
            willingness: self.config.willingness,
            links: Vec::new(),
        };
        let mut reprs = vec![empty.clone()];
        let room = self.config.payload() - MESSAGE_HEADER_LEN;
        let mut length = FIXED;
        for (code, addresses) in self.neighbourhood.links_on(interface, now) {
            let mut addresses = &addresses[..];
            while !addresses.is_empty() {
                if length + FIXED + 4 > room {
                    reprs.push(empty.clone());
                    length = FIXED;
                }
                let (said, rest) = addresses.split_at(addresses.len().min((room - length - FIXED) / 4));
                reprs.last_mut().expect("there is one").links.push((code, said.to_vec()));
                length += FIXED + said.len() * 4;
                addresses = rest;
            }
        }
        let message = |repr: &hello::Repr| {
            let mut body = vec![0; repr.buffer_len()];
            repr.emit(&mut body);
            self.message(MessageType::Hello, self.config.neighbour_hold(), 1, &body)
        };
        reprs.iter().map(message).collect()
    }

    /// TC messages that are due, if there is something to advertise or to take back (9.3).
    fn tcs(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.tc_at = now + to_next(&self.config, self.config.tc_interval, &mut self.random);
        let advertised = self.neighbourhood.advertised(now);
        if advertised != self.advertised {
            self.ansn = self.ansn.wrapping_add(1);
            self.advertised = advertised;
        }
        let hold = self.config.topology_hold();
        if !self.advertised.is_empty() {
            self.empty_until = now + hold;
        } else if self.empty_until <= now {
            return Vec::new();
        }
        self.last_tc = Some(now);
        let most = (self.config.payload() - MESSAGE_HEADER_LEN - 4) / 4;
        let parts = self.advertised.len().div_ceil(most).max(1);
        let part = |nth: usize| {
            let neighbours = self.advertised[nth * most..self.advertised.len().min((nth + 1) * most)].to_vec();
            let repr = tc::Repr { ansn: self.ansn, neighbours };
            let mut body = vec![0; repr.buffer_len()];
            repr.emit(&mut body);
            body
        };
        let bodies: Vec<_> = (0..parts).map(part).collect();
        bodies.iter().map(|body| self.message(MessageType::Tc, hold, 255, body)).collect()
    }

    fn message(&mut self, kind: MessageType, validity: Duration, time_to_live: u8, body: &[u8]) -> Vec<u8> {
        let header = MessageRepr {
            kind,
            validity: TimeCode::from_nanos(validity.as_nanos()),
            originator: self.address,
            time_to_live,
            hop_count: 0,
            sequence: self.sequence,
            body_len: body.len() as u16,
        };
        self.sequence = self.sequence.wrapping_add(1);
        let mut octets = Vec::new();
        outbox::push(&mut octets, header, body);
        octets
    }
}

impl Routing for Olsr {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: olsr::PORT }
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        self.route(packet.destination, now)
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        let Some(from) = packet.from.filter(|from| from.address != self.address) else { return };
        let Ok(view) = olsr::Packet::new_checked(packet.octets) else { return };
        let changes = self.neighbourhood.handle_packet(from, view.sequence(), now);
        self.apply(changes, now);
        for message in view.messages().flatten() {
            self.handle_one(from, view.sequence(), message, now);
        }
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        match event {
            LinkEvent::FrameDropped { .. } if !self.config.link_layer_notification => Verdict::Drop,
            LinkEvent::FrameDropped { hop, packet } => {
                // What else waits for the neighbour is tried: one frame without an answer is often a collision.
                self.lose(*hop, now);
                self.route(packet.destination, now)
            }
            LinkEvent::QueuePurged { packet, .. } => self.route(packet.destination, now),
            LinkEvent::NeighbourLost(hop) => {
                self.lose(*hop, now);
                self.outputs.push_back(Output::Purge(*hop));
                Verdict::Drop
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        let changes = self.neighbourhood.handle_timeout(now);
        self.apply(changes, now);
        if self.sweep_at <= now {
            self.sweep_at = now + self.config.topology_hold();
            self.topology.sweep(now);
            self.interfaces.sweep(now);
            self.duplicates.sweep(now);
        }
        let says_hello = self.hello_at <= now;
        if !says_hello && self.tc_at > now && self.pass_at.is_none_or(|at| at > now) {
            return;
        }
        let tcs = if self.tc_at <= now { self.tcs(now) } else { Vec::new() };
        let mut own = Vec::new();
        for interface in 0..self.outbox.interfaces() {
            let mut messages = if says_hello { self.hellos(interface, now) } else { Vec::new() };
            messages.extend(tcs.iter().cloned());
            own.push(messages);
        }
        if says_hello {
            self.hello_at = now + to_next(&self.config, self.config.hello_interval, &mut self.random);
        }
        self.pass_at = None;
        self.outbox.send(&own, |output| self.outputs.push_back(output));
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let own = self.hello_at.min(self.tc_at).min(self.sweep_at);
        Some(own).into_iter().chain(self.pass_at).chain(self.neighbourhood.poll_timeout()).min()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        self.calculated(now).next_hop(destination)
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        self.calculated(now).iter().collect()
    }
}

/// The time to the next message that is sent at this interval (3.5). MAXJITTER follows from another interval, and may be longer than
/// this one: a quarter of it is the most that is taken away (RFC 5148, 5.4).
fn to_next(config: &Config, interval: Duration, random: &mut Stream) -> Duration {
    interval - jitter(config.max_jitter().min(interval / 4), random)
}

/// Uniform from zero up to `most` (3.5).
fn jitter(most: Duration, random: &mut Stream) -> Duration {
    Duration::from_nanos((random.unit() * most.as_nanos() as f64) as u64)
}
