//! DSDV: destination-sequenced distance vectors (C. Perkins and P. Bhagwat, "Highly dynamic destination-sequenced
//! distance-vector routing (DSDV) for mobile computers", ACM SIGCOMM 1994).
//!
//! Every node tells its neighbours how far it is from every destination: now and then all of it (a full dump), and in between
//! what has changed (an incremental update). Each way carries a sequence number that its destination has given out, even, or,
//! once the way is broken, the odd one behind it, given out by who found it broken. A newer number wins, then the lower
//! metric; that is why no loop can arise.
//!
//! * A way is used at once. It is told at once if it is new, broken, or whole again; if only its metric has changed, it is
//!   told after twice the average settling time of its destination, and until then updates repeat what was told before.
//! * Incremental updates are sent for changes of metric, not for new numbers alone, at most one in a
//!   [`triggered_interval`](Config::triggered_interval), and hold all changes since the last full dump. Where these don't fit
//!   into one datagram, a full dump goes in their place.
//! * A destination that hears of a break of the way to itself tells a newer number of its own.
//! * Packets without a way wait, at the driver: DSDV doesn't look for ways, but one may come with any update.
//!
//! Each message costs O(log n) for each of its entries, a lost link and a full dump O(n), with n destinations.

mod config;
mod neighbours;
mod table;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::dsdv::{self, ENTRY_LEN, Entry, HEADER_LEN, Kind};

pub use self::config::Config;
use self::neighbours::Neighbours;
use self::table::{Claim, Table};
use super::{Encapsulation, Forward, LinkEvent, Message, NextHop, Node, Output, Packet, Route, Routing, Verdict};
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// The longest way that is used: no packet gets further, for its time to live has eight bits.
const MAX_METRIC: u32 = 255;

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

    fn handle_entry(&mut self, entry: Entry, from: NextHop, now: Instant) {
        let Entry { destination, metric, sequence } = entry;
        let claim = Claim { sequence, metric };
        if destination == self.address {
            return self.handle_rumour(claim);
        }
        // Only a node itself is at no distance from it.
        if (metric == 0) != (destination == from.address) || (metric >= MAX_METRIC && !claim.is_broken()) {
            return;
        }
        let claim = Claim { metric: if claim.is_broken() { metric } else { metric + 1 }, ..claim };
        if self.table.learn(destination, claim, from, now) {
            self.outputs.push_back(Output::Found(destination));
        }
    }

    /// What a neighbour says of the way to this node, which has the last word on itself (as in ns-2).
    fn handle_rumour(&mut self, rumour: Claim) {
        let is_newer = rumour.is_newer_than(Claim { sequence: self.sequence, metric: 0 });
        if is_newer {
            // The next even number.
            self.sequence = (rumour.sequence | 1).wrapping_add(1);
        }
        self.has_own_news |= is_newer || rumour.is_broken();
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

    fn schedule_update(&mut self, now: Instant) {
        // A node's first word is its first full dump.
        let Some(last) = self.last_update else { return };
        if self.triggered_at.is_none() && (self.has_own_news || self.table.has_news()) {
            let earliest = now.max(last + self.config.triggered_interval);
            self.triggered_at = Some(earliest + up_to(self.config.broadcast_jitter, &mut self.random));
        }
    }

    fn update(&mut self, kind: Kind, now: Instant) {
        let mut entries = Vec::new();
        match kind {
            Kind::FullDump => {
                self.sequence = self.sequence.wrapping_add(2);
                self.full_dump_at = now + self.draw_period();
                self.table.tell_all(now, |entry| entries.push(entry));
            }
            _ => self.table.tell_changes(now, |entry| entries.push(entry)),
        }
        self.last_update = Some(now);
        self.triggered_at = None;
        self.has_own_news = false;
        let own = Claim { sequence: self.sequence, metric: 0 }.about(self.address);
        // The sender's entry leads each datagram: whoever misses the others still knows a neighbour.
        let room = self.config.entries() - 1;
        let parts = entries.len().div_ceil(room).max(1);
        for part in 0..parts {
            let entries = &entries[part * room..entries.len().min((part + 1) * room)];
            let octets = datagram(kind, core::iter::once(&own).chain(entries), entries.len() + 1);
            self.outputs.push_back(Output::Send(Message::to_neighbours(octets)));
        }
    }

    /// Three quarters of the period, and up to a quarter more (ns-2).
    fn draw_period(&mut self) -> Duration {
        let quarter = self.config.period / 4;
        quarter * 3 + up_to(quarter, &mut self.random)
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
        let Some(from) = packet.from.filter(|from| from.address == packet.source && from.address != self.address)
        else {
            return;
        };
        let Ok(update) = dsdv::Packet::new_checked(packet.octets) else { return };
        if !self.neighbours.hear(from, now + self.config.silence()) {
            return;
        }
        for entry in update.entries().flatten() {
            self.handle_entry(entry, from, now);
        }
        self.schedule_update(now);
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
        while let Some(hop) = self.neighbours.silent(now) {
            self.lose_for_good(hop, now);
        }
        self.table.handle_timeout(now);
        self.schedule_update(now);
        let is_triggered = self.triggered_at.is_some_and(|at| at <= now);
        if self.full_dump_at <= now || (is_triggered && self.table.changes() >= self.config.entries()) {
            self.update(Kind::FullDump, now);
        } else if is_triggered {
            self.update(Kind::Incremental, now);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [Some(self.full_dump_at), self.triggered_at, self.table.poll_timeout(), self.neighbours.poll_timeout()]
            .into_iter()
            .flatten()
            .min()
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

/// Uniform from zero up to `bound`.
fn up_to(bound: Duration, random: &mut Stream) -> Duration {
    Duration::from_nanos((random.unit() * bound.as_nanos() as f64) as u64)
}

/// An update with `count` entries.
fn datagram<'a>(kind: Kind, entries: impl Iterator<Item = &'a Entry>, count: usize) -> Vec<u8> {
    let mut octets = vec![0; HEADER_LEN + count * ENTRY_LEN];
    let repr = dsdv::Repr { kind, entries: count as u16 };
    repr.emit(&mut dsdv::Packet::new_unchecked(&mut octets));
    for (entry, octets) in entries.zip(octets[HEADER_LEN..].chunks_exact_mut(ENTRY_LEN)) {
        entry.emit(octets);
    }
    octets
}
