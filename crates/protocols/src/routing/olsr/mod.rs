//! OLSR: optimized link state routing (RFC 3626).
//!
//! Each node tells its neighbours whom it hears (HELLO), so that all know their neighbours' neighbours, and selects among its
//! neighbours multipoint relays (MPRs) that reach all of these. Only relays pass messages of the others on, and only relays tell
//! the whole network of links: of those to the neighbours that have selected them (TC). Shortest paths need no more.
//!
//! * `neighbours`: the state of links with their hysteresis, what HELLO messages tell, and the selection of relays.
//! * `table`: the topology and the further addresses that TC and MID messages tell, and the routes. These are calculated when a
//!   route is asked for and something has changed since, and not before.
//! * `messages`: what has arrived already, and what waits to be sent.
//!
//! A packet without a route is dropped: OLSR looks for none, it has them or not.
//!
//! # Several interfaces
//!
//! A node has one address, the same on all interfaces, which is its main address. So it never sends MID messages; it
//! processes those of others. Each interface has separate HELLO messages, with the links there: they go to all neighbours
//! at that interface, which a [`Message`] says by a [`NextHop`] with the broadcast address. Where the RFC tells
//! interfaces of this node apart by address, their number does it here.

mod config;
mod messages;
mod neighbours;
mod table;
#[cfg(test)]
mod tests;
mod timers;

use core::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::olsr;

pub use self::config::{Config, Hysteresis, WILL_ALWAYS, WILL_NEVER};
use self::messages::duplicates::Duplicates;
use self::messages::outbox::Outbox;
use self::neighbours::{Changes, Neighbourhood};
use self::table::Routes;
use self::table::interfaces::Interfaces;
use self::table::topology::Topology;
use self::timers::{jitter, to_next};
#[cfg(doc)]
use super::Message;
use super::{Encapsulation, Forward, LinkEvent, NextHop, Node, Output, Packet, Route, Routing, Verdict};
use crate::contract::assert_drained;
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
    /// Something has changed since.
    is_stale: Cell<bool>,
    /// Calculations so far.
    calculations: Cell<u64>,
    outbox: Outbox,
    /// Message sequence number: of the next message.
    sequence: u16,
    /// What the last TC message has advertised, and its number.
    advertised: Vec<Ipv4Addr>,
    ansn: u16,
    /// Time until which TC messages without advertised neighbours take back earlier ones.
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
            is_stale: Cell::new(false),
            calculations: Cell::new(0),
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

    fn apply(&mut self, changes: Changes, now: Instant) {
        if changes.routes {
            self.is_stale.set(true);
        }
        // A link has failed over which this node relayed: the others hear of it early (9.3).
        if changes.lost_selector {
            let earliest = self.last_tc.map_or(now, |last| now.max(last + self.config.hello_interval));
            self.tc_at = self.tc_at.min(earliest + jitter(self.config.max_jitter(), &mut self.random));
        }
    }

    fn lose(&mut self, hop: NextHop, now: Instant) {
        let changes = self.neighbourhood.lose(hop, now);
        if changes.routes {
            // Not told by a message: no route leads there any longer.
            *self.routes.get_mut() = None;
        }
        self.apply(changes, now);
    }

    /// The routes, calculated again if something has changed.
    fn calculated(&self, now: Instant) -> Ref<'_, Routes> {
        let is_due = self
            .routes
            .borrow()
            .as_ref()
            .is_none_or(|routes| (self.is_stale.get() || !routes.hold(now)) && self.pause_ends(routes) <= now);
        if is_due {
            let (neighbourhood, topology, interfaces) = (&self.neighbourhood, &self.topology, &self.interfaces);
            let calculated = Routes::calculate(self.address, neighbourhood, topology, interfaces, now);
            *self.routes.borrow_mut() = Some(calculated);
            self.is_stale.set(false);
            self.calculations.set(self.calculations.get() + 1);
        }
        Ref::map(self.routes.borrow(), |routes| routes.as_ref().expect("they were calculated"))
    }

    /// When routes may be calculated again.
    fn pause_ends(&self, routes: &Routes) -> Instant {
        let (_, two_hops) = self.neighbourhood.len();
        let tuples = two_hops + self.topology.len() + self.interfaces.len();
        routes.calculated + self.config.calculation_pause * tuples as u64
    }

    /// When routes are to be calculated that had to stay as they are.
    fn calculation_due(&self) -> Option<Instant> {
        let is_held = self.is_stale.get() && self.config.calculation_pause > Duration::ZERO;
        self.routes.borrow().as_ref().filter(|_| is_held).map(|routes| self.pause_ends(routes))
    }

    fn route(&self, destination: Ipv4Addr, now: Instant) -> Verdict {
        self.next_hop(destination, now).map_or(Verdict::Drop, |hop| Verdict::Forward(Forward::to(hop)))
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
        assert_drained(self.outputs.is_empty());
        self.handle_octets(packet, now);
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
        assert_drained(self.outputs.is_empty());
        self.expire(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next_timer())
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

    fn routes_version(&self, now: Instant) -> Option<u64> {
        drop(self.calculated(now));
        Some(self.calculations.get())
    }
}
