//! The Maintenance Buffer (RFC 4728, 4.5): packets that the next node has not acknowledged yet.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::super::config::{Acknowledgement, Config};
use super::super::timers::Key;
use crate::lru::Lru;
use crate::round_trip::RoundTrip;
use crate::routing::{Message, NextHop, Packet, Token};
use crate::time::{Duration, Instant};

/// Where the copy of a packet is.
#[derive(Clone, Debug)]
pub(in crate::routing::dsr) enum Copy {
    /// The driver holds it: a packet with data.
    Held(Token, Identity),
    /// A message of this node.
    Own(Message),
}

/// What tells a packet from others, wherever it is met again: with the next node that passes it on (RFC 4728, 8.3.2), or in the queue of
/// the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing::dsr) struct Identity {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    identification: u16,
    fragment_offset: u16,
}

impl Identity {
    /// That of this packet, the data of which are of this protocol.
    pub(in crate::routing::dsr) fn of(packet: &Packet<'_>, protocol: u8) -> Self {
        let Packet { source, destination, identification, fragment_offset, .. } = *packet;
        Self { source, destination, protocol, identification, fragment_offset }
    }

    /// One of this number of places, over which packets of all sources are spread evenly.
    pub(in crate::routing::dsr) fn place(self, places: usize) -> usize {
        // Consecutive packets of a source have consecutive places, those of the next source begin elsewhere.
        let start = u32::from(self.source).wrapping_mul(0x9E37_79B9) >> 16;
        (start as usize + usize::from(self.identification)) % places
    }
}

/// A packet that was sent.
#[derive(Clone, Debug)]
pub(in crate::routing::dsr) struct Entry {
    /// The node that is to acknowledge it.
    pub(in crate::routing::dsr) hop: NextHop,
    pub(in crate::routing::dsr) copy: Copy,
    /// Identification of the Acknowledgement Request; `None`: it is listened for.
    pub(in crate::routing::dsr) identification: Option<u16>,
    /// What the next node will pass on, and Segments Left of what it was given.
    pub(in crate::routing::dsr) passive: Option<(Identity, u8)>,
    /// How often it was repeated.
    pub(in crate::routing::dsr) repetitions: u32,
    /// How many requests for an acknowledgement were repeated.
    pub(in crate::routing::dsr) requests: u32,
    pub(in crate::routing::dsr) sent: Instant,
    pub(in crate::routing::dsr) timer: Key,
}

/// What is known of the way to a neighbour and back.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbour {
    confirmed: Option<Instant>,
    round_trip: RoundTrip,
}

/// Packets that wait for an acknowledgement, and what is known of the neighbours that owe it.
#[derive(Debug)]
pub(in crate::routing::dsr) struct MaintenanceBuffer {
    capacity: usize,
    holdoff: Duration,
    first_timeout: Duration,
    least_timeout: Duration,
    entries: BTreeMap<u32, Entry>,
    by_hop: BTreeSet<(NextHop, u32)>,
    neighbours: Lru<Ipv4Addr, Neighbour>,
    next: u32,
    identification: u16,
}

impl MaintenanceBuffer {
    /// An empty buffer, which knows up to `neighbours` neighbours.
    pub(in crate::routing::dsr) fn new(config: &Config, neighbours: usize) -> Self {
        Self {
            capacity: config.rexmt_buffer_size,
            holdoff: config.maint_holdoff_time,
            first_timeout: config.passive_ack_timeout,
            // The RFC gives no least time; this is what it gives a neighbour to answer a request.
            least_timeout: config.nonprop_request_timeout,
            entries: BTreeMap::new(),
            by_hop: BTreeSet::new(),
            neighbours: Lru::new(neighbours),
            next: 0,
            identification: 0,
        }
    }

    /// Whether a packet to this neighbour has to be acknowledged (RFC 4728, 8.3).
    pub(in crate::routing::dsr) fn is_needed(&self, how: Acknowledgement, neighbour: Ipv4Addr, now: Instant) -> bool {
        let confirmed = self.neighbours.get(&neighbour).and_then(|known| known.confirmed);
        how != Acknowledgement::LinkLayer && confirmed.is_none_or(|at| now.saturating_since(at) >= self.holdoff)
    }

    /// Whether there is no room for another packet.
    pub(in crate::routing::dsr) fn is_full(&self) -> bool {
        self.entries.len() >= self.capacity
    }

    /// Number of the next packet.
    pub(in crate::routing::dsr) fn next_number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    /// Identification of the next Acknowledgement Request.
    pub(in crate::routing::dsr) fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// Enters the packet with this number.
    pub(in crate::routing::dsr) fn insert(&mut self, number: u32, entry: Entry) {
        self.by_hop.insert((entry.hop, number));
        self.entries.insert(number, entry);
    }

    pub(in crate::routing::dsr) fn get_mut(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut(&number)
    }

    /// Time to wait for an acknowledgement of this neighbour, after this number of repetitions (RFC 6298, 2 and 5.5).
    pub(in crate::routing::dsr) fn timeout(&self, neighbour: Ipv4Addr, repetitions: u32) -> Duration {
        let known = self.neighbours.get(&neighbour).and_then(|known| known.round_trip.timeout(Duration::ZERO));
        let nanos = known.unwrap_or(self.first_timeout).max(self.least_timeout).as_nanos();
        Duration::from_nanos(nanos.saturating_mul(1 << repetitions.min(16)))
    }

    /// Whether this acknowledgement of a neighbour answers a request of this node; it tells the time that it took.
    pub(in crate::routing::dsr) fn on_ack(&mut self, neighbour: NextHop, identification: u16, now: Instant) -> bool {
        let sent = self.of(neighbour).map(|number| &self.entries[&number]);
        let asked = |entry: &&Entry| entry.identification == Some(identification);
        let Some((repetitions, sent)) = { sent }.find(asked).map(|entry| (entry.repetitions, entry.sent)) else {
            return false;
        };
        // Of a repeated request it is not known which copy is answered (Karn).
        if repetitions == 0 {
            let mut known = self.neighbours.get(&neighbour.address).copied().unwrap_or_default();
            known.round_trip.on_sample(now.saturating_since(sent), 1);
            self.neighbours.insert(neighbour.address, known);
        }
        true
    }

    /// Whether a packet of a neighbour, with this number of segments left, shows that it has received the packet.
    pub(in crate::routing::dsr) fn is_passed_on(
        &self,
        neighbour: NextHop,
        identity: Identity,
        segments_left: u8,
    ) -> bool {
        self.of(neighbour).any(|number| {
            self.entries[&number].passive.is_some_and(|(given, before)| given == identity && segments_left < before)
        })
    }

    /// The neighbour is reachable: what was sent to it before has arrived.
    pub(in crate::routing::dsr) fn confirm(&mut self, neighbour: NextHop, now: Instant) -> Vec<Entry> {
        let mut known = self.neighbours.get(&neighbour.address).copied().unwrap_or_default();
        known.confirmed = Some(now);
        self.neighbours.insert(neighbour.address, known);
        self.take(neighbour)
    }

    /// The neighbour can't be reached any more: what was sent to it has not arrived.
    pub(in crate::routing::dsr) fn give_up(&mut self, neighbour: NextHop) -> Vec<Entry> {
        if let Some(known) = self.neighbours.get_mut(&neighbour.address) {
            known.confirmed = None;
        }
        self.take(neighbour)
    }

    fn of(&self, neighbour: NextHop) -> impl Iterator<Item = u32> {
        self.by_hop.range((neighbour, 0)..=(neighbour, u32::MAX)).map(|&(_, number)| number)
    }

    fn take(&mut self, neighbour: NextHop) -> Vec<Entry> {
        let numbers: Vec<_> = self.of(neighbour).collect();
        let take = |number: u32| {
            self.by_hop.remove(&(neighbour, number));
            self.entries.remove(&number).expect("what is listed is there")
        };
        numbers.into_iter().map(take).collect()
    }

    /// How many packets and neighbours there are.
    #[cfg(test)]
    pub(in crate::routing::dsr) fn size(&self) -> usize {
        self.entries.len() + self.neighbours.len()
    }
}
