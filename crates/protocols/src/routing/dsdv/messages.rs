//! Updates: what each that arrives does, and what is sent.

use hopcast_wire::dsdv::{self, ENTRY_LEN, Entry, HEADER_LEN, Kind};

use super::Dsdv;
use super::table::Claim;
use crate::routing::{Message, NextHop, Output, Packet};
use crate::time::Instant;

/// The longest way that is used: no packet gets further, for its time to live has eight bits.
const MAX_METRIC: u32 = 255;

impl Dsdv {
    /// A message has arrived.
    pub(super) fn handle_octets(&mut self, packet: &Packet<'_>, now: Instant) {
        let Some(from) = packet.from.filter(|from| from.address == packet.source && from.address != self.address)
        else {
            return;
        };
        let Ok(update) = dsdv::Packet::new_checked(packet.octets) else { return };
        if !self.neighbours.handle_update(from, now + self.config.silence()) {
            return;
        }
        for entry in update.entries().flatten() {
            self.handle_entry(entry, from, now);
        }
        self.schedule_update(now);
    }

    fn handle_entry(&mut self, entry: Entry, from: NextHop, now: Instant) {
        let Entry { destination, metric, sequence } = entry;
        let claim = Claim { sequence, metric };
        if destination == self.address {
            return self.handle_own_entry(claim);
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

    /// An entry about this node itself, which answers a newer or broken one with a newer number (as in ns-2).
    fn handle_own_entry(&mut self, claim: Claim) {
        let is_newer = claim.is_newer_than(Claim { sequence: self.sequence, metric: 0 });
        if is_newer {
            // The next even number.
            self.sequence = (claim.sequence | 1).wrapping_add(1);
        }
        self.has_own_news |= is_newer || claim.is_broken();
    }

    pub(super) fn update(&mut self, kind: Kind, now: Instant) {
        let mut entries = Vec::new();
        match kind {
            Kind::FullDump => {
                self.sequence = self.sequence.wrapping_add(2);
                self.full_dump_at = now + self.draw_period();
                self.table.advertise_all(now, |entry| entries.push(entry));
            }
            _ => self.table.advertise_changes(now, |entry| entries.push(entry)),
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
}

/// An update with `count` entries.
pub(super) fn datagram<'a>(kind: Kind, entries: impl Iterator<Item = &'a Entry>, count: usize) -> Vec<u8> {
    let mut octets = vec![0; HEADER_LEN + count * ENTRY_LEN];
    let repr = dsdv::Repr { kind, entries: count as u16 };
    repr.emit(&mut dsdv::Packet::new_unchecked(&mut octets));
    for (entry, octets) in entries.zip(octets[HEADER_LEN..].chunks_exact_mut(ENTRY_LEN)) {
        entry.emit(octets);
    }
    octets
}
