//! DSDV: destination-sequenced distance vectors (C. Perkins and P. Bhagwat, "Highly dynamic destination-sequenced
//! distance-vector routing (DSDV) for mobile computers", ACM SIGCOMM 1994).
//!
//! Every node tells its neighbours how far it is from every destination: now and then all of it (a full dump), and in between
//! what has changed (an incremental update). Each way carries a sequence number that its destination has given out, even, or,
//! once the way is broken, the odd one behind it, given out by who found it broken. A newer number wins, then the lower
//! metric; that is why no loop can arise.
//!
//! * A way is used at once. It is advertised at once if it is new, broken, or whole again; if only its metric has changed, it is
//!   advertised after twice the average settling time of its destination, and until then updates repeat what was advertised before.
//! * Incremental updates are sent for changes of metric, not for new numbers alone, at most one in a
//!   [`triggered_interval`](Config::triggered_interval), and hold all changes since the last full dump. Where these don't fit
//!   into one datagram, a full dump goes in their place.
//! * A destination that hears that the route to itself is broken advertises a newer number.
//! * Packets without a way wait, at the driver: DSDV doesn't look for ways, but one may come with any update.
//!
//! Each message costs O(log n) for each of its entries, a lost link and a full dump O(n), with n destinations.

mod config;
mod messages;
mod neighbours;
mod table;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::dsdv;

pub use self::config::Config;
use self::neighbours::Neighbours;
use self::table::Table;
use self::timers::up_to;
use super::{Encapsulation, Forward, LinkEvent, NextHop, Node, Output, Packet, Route, Routing, Verdict};
use crate::contract::assert_drained;
use crate::random::Stream;
use crate::time::Instant;

/// DSDV at one node.
#[derive(Debug)]
pub struct Dsdv {
    config: Config,
    address: Ipv4Addr,
    random: Stream,
    table: Table,
    neighbours: Neighbours,
    /// This node's own sequence number: even.
    sequence: u32,
    /// Whether the neighbours should hear this number before the next full dump.
    has_own_news: bool,
    last_update: Option<Instant>,
    full_dump_at: Instant,
    triggered_at: Option<Instant>,
    outputs: VecDeque<Output>,
}

impl Dsdv {
    /// DSDV at `node`, which starts at [`Instant::START`].
    pub fn new(config: Config, mut node: Node) -> Self {
        let full_dump_at = Instant::START + up_to(config.startup_jitter, &mut node.random);
        Self {
            config,
            address: node.address,
            random: node.random,
            table: Table::new(config),
            neighbours: Neighbours::default(),
            sequence: 0,
            has_own_news: false,
            last_update: None,
            full_dump_at,
            triggered_at: None,
            outputs: VecDeque::new(),
        }
    }

    fn route(&self, destination: Ipv4Addr) -> Verdict {
        match self.table.next_hop(destination) {
            Some(hop) => Verdict::Forward(Forward::to(hop)),
            None => Verdict::Wait,
        }
    }

    fn lose(&mut self, hop: NextHop, now: Instant) {
        if self.neighbours.lose(hop) {
            self.table.lose(hop, now);
        }
    }

    /// The neighbour isn't there any more, so that nothing should wait for it.
    fn lose_for_good(&mut self, hop: NextHop, now: Instant) {
        self.lose(hop, now);
        self.outputs.push_back(Output::Purge(hop));
    }
}

impl Routing for Dsdv {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: dsdv::PORT }
    }

    fn handle_packet(&mut self, packet: &Packet<'_>, _now: Instant) -> Verdict {
        self.route(packet.destination)
    }

    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant) {
        assert_drained(self.outputs.is_empty());
        self.handle_octets(packet, now);
    }

    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict {
        let verdict = match event {
            LinkEvent::FrameDropped { .. } if !self.config.link_layer_notification => Verdict::Drop,
            LinkEvent::FrameDropped { hop, packet } => {
                // What else waits for the neighbour is tried, as in ns-2: one frame without an answer is often a collision.
                self.lose(*hop, now);
                self.route(packet.destination)
            }
            LinkEvent::QueuePurged { packet, .. } => self.route(packet.destination),
            LinkEvent::NeighbourLost(hop) => {
                self.lose_for_good(*hop, now);
                Verdict::Drop
            }
        };
        self.schedule_update(now);
        verdict
    }

    fn handle_timeout(&mut self, now: Instant) {
        assert_drained(self.outputs.is_empty());
        self.expire(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_timer()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn next_hop(&self, destination: Ipv4Addr, _now: Instant) -> Option<NextHop> {
        self.table.next_hop(destination)
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        self.table.routes().collect()
    }
}
