//! What a receiver remembers of arrivals.

use std::collections::VecDeque;

use hopcast_wire::ecn::Ecn;

use crate::time::Instant;

/// Numbers back from the newest for which an arrival is remembered, and may be reported.
const REMEMBERED: u64 = 1_024;
/// The most packets of one report: 1 kB by RFC 8888, which fits into one datagram everywhere.
const REPORTED: u64 = 500;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) time: Instant,
    pub(super) ecn: Ecn,
}

/// What is known of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It has not come before.
    First,
    /// It has come before.
    Repetition,
    /// It is older than what is remembered.
    TooOld,
}

/// Arrivals by number. Numbers count from 2¹⁶, so that one that is a little lower than the first is a number as well.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    packets: VecDeque<Option<Received>>,
    /// The number of the first of them.
    first: u64,
    /// The first number of the next report.
    from: u64,
    /// The first number that no report has told.
    fresh: u64,
    /// Packets since the last report.
    unreported: u32,
}

impl Arrivals {
    /// The newest number; `None` before the first packet.
    pub(super) fn newest(&self) -> Option<u64> {
        (!self.packets.is_empty()).then(|| self.first + self.packets.len() as u64 - 1)
    }

    /// Packets since the last report.
    pub(super) fn unreported(&self) -> u32 {
        self.unreported
    }

    /// A packet has come. Those that were sent before the first one that came may come later.
    pub(super) fn insert(&mut self, number: u64, received: Received) -> Arrival {
        let Some(newest) = self.newest() else {
            (self.first, self.from, self.fresh) = (number, number, number);
            self.packets.push_back(Some(received));
            self.unreported += 1;
            return Arrival::First;
        };
        if newest >= number + REMEMBERED {
            return Arrival::TooOld;
        }
        while number < self.first {
            self.packets.push_front(None);
            self.first -= 1;
        }
        while self.newest().is_none_or(|newest| newest < number) {
            self.packets.push_back(None);
            if self.packets.len() as u64 > REMEMBERED {
                self.packets.pop_front();
                self.first += 1;
            }
        }
        let packet = &mut self.packets[(number - self.first) as usize];
        if packet.is_some() {
            return Arrival::Repetition;
        }
        *packet = Some(received);
        self.unreported += 1;
        self.from = self.from.min(number);
        Arrival::First
    }

    /// What is to be reported: the first number, and the packets from there to the newest one.
    pub(super) fn report(&self) -> (u64, impl Iterator<Item = Option<Received>> + '_) {
        let end = self.first + self.packets.len() as u64;
        let from = self.from.max(self.first).max(end.saturating_sub(REPORTED));
        (from, self.packets.range((from - self.first) as usize..).copied())
    }

    /// All up to the newest was reported. With `again`, the next report repeats what this one told first, in case it is lost.
    pub(super) fn on_reported(&mut self, again: bool) {
        let end = self.first + self.packets.len() as u64;
        self.from = if again { self.fresh } else { end };
        self.fresh = end;
        self.unreported = 0;
    }
}
