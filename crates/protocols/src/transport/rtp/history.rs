//! What a sender remembers of its packets.

use std::collections::VecDeque;

use crate::time::Instant;
use crate::transport::media::{Arrival, PacketResult, SentPacket};

/// Packets that may be outstanding; the oldest are forgotten. A gigabit per second for 100 ms.
pub(super) const OUTSTANDING: usize = 16_384;
/// Lost packets that may still turn out to have arrived.
pub(super) const LOST: usize = 1_024;

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// With consecutive numbers.
    outstanding: VecDeque<SentPacket>,
    /// By number, ascending.
    lost: VecDeque<SentPacket>,
    next: u64,
    in_flight: u64,
    /// Packets that arrived, and that count as lost.
    fates: (u64, u64),
}

impl History {
    /// The number of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that were sent, and of which nothing was heard.
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Packets that arrived by all reports so far, and that count as lost.
    pub(super) fn fates(&self) -> (u64, u64) {
        self.fates
    }

    /// A packet of `size` bytes leaves.
    pub(super) fn on_sent(&mut self, size: u32, probe: Option<u32>, sent: Instant) -> SentPacket {
        self.in_flight += u64::from(size);
        let packet = SentPacket { number: self.next, size, sent, probe, in_flight: self.in_flight };
        self.next += 1;
        self.outstanding.push_back(packet);
        if self.outstanding.len() > OUTSTANDING {
            self.pop();
        }
        packet
    }

    /// A report tells of packets by ascending number. Returns what was not known. Packets before them and between them are forgotten
    /// without a fate: their report was lost.
    pub(super) fn on_report(&mut self, packets: impl Iterator<Item = (u64, Option<Arrival>)>) -> Vec<PacketResult> {
        let mut results = Vec::new();
        for (number, arrival) in packets {
            while self.outstanding.front().is_some_and(|packet| packet.number < number) {
                self.pop();
            }
            let is_outstanding = self.outstanding.front().is_some_and(|packet| packet.number == number);
            let packet = match arrival {
                _ if is_outstanding => self.pop(),
                Some(_) => self.take_lost(number),
                None => None,
            };
            let Some(packet) = packet else { continue };
            let (arrived, lost) = &mut self.fates;
            *arrived += u64::from(arrival.is_some());
            // It counted as lost before, unless nothing was known of it.
            *lost = if is_outstanding { *lost + u64::from(arrival.is_none()) } else { *lost - 1 };
            if arrival.is_none() {
                self.lost.push_back(packet);
                if self.lost.len() > LOST {
                    self.lost.pop_front();
                }
            }
            results.push(PacketResult { packet, arrival });
        }
        results
    }

    fn pop(&mut self) -> Option<SentPacket> {
        let packet = self.outstanding.pop_front()?;
        self.in_flight -= u64::from(packet.size);
        Some(packet)
    }

    fn take_lost(&mut self, number: u64) -> Option<SentPacket> {
        let place = self.lost.binary_search_by_key(&number, |packet| packet.number).ok()?;
        self.lost.remove(place)
    }
}
