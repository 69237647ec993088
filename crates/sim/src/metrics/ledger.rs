//! The result of each datagram of a flow.

use std::collections::VecDeque;

use super::DropCause;

/// An entry for each unsettled datagram, and for recent settled ones: a datagram that was reported as dropped may still
/// arrive, if the frame was received and only its acknowledgement was lost.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Sequence number of the first entry.
    base: u64,
    entries: VecDeque<Fate>,
    received: u64,
    lost: Losses,
    duplicates: u64,
}

/// What is known of one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    /// For the first cause that was reported.
    Lost(Option<DropCause>),
    Received,
}

/// Numbers of lost datagrams by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    by_cause: [u64; DropCause::ALL.len()],
    unexplained: u64,
}

impl Losses {
    /// Those of one cause.
    pub(crate) fn of(&self, cause: DropCause) -> u64 {
        self.by_cause[cause as usize]
    }

    /// Those that no part of the network reported as dropped.
    pub(crate) fn unexplained(&self) -> u64 {
        self.unexplained
    }

    fn total(&self) -> u64 {
        self.by_cause.iter().sum::<u64>() + self.unexplained
    }

    fn count(&mut self, cause: Option<DropCause>) -> &mut u64 {
        match cause {
            Some(cause) => &mut self.by_cause[cause as usize],
            None => &mut self.unexplained,
        }
    }
}

/// Kind of an arrival of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It arrived for the first time.
    First,
    /// It had arrived before.
    Duplicate,
}

/// Number of settled datagrams to remember, so that a late report is assigned correctly: at the 1470 bytes and 54 Mb/s of
/// a saturated link, over ten seconds.
const MEMORY: usize = 1 << 16;

impl Ledger {
    /// A datagram is sent. Returns its sequence number; they count up from 0.
    pub fn handle_sent(&mut self) -> u64 {
        while self.entries.len() >= MEMORY && self.entries.front().is_some_and(|&fate| fate != Fate::InFlight) {
            self.entries.pop_front();
            self.base += 1;
        }
        if self.entries.capacity() == 0 {
            // All at once, so that the run's events needn't; flows that never send a datagram take nothing.
            self.entries.reserve_exact(MEMORY);
        }
        self.entries.push_back(Fate::InFlight);
        self.base + self.entries.len() as u64 - 1
    }

    /// A datagram, or a part of it without which it can't be delivered, was dropped somewhere, for `cause` if that is known.
    pub(crate) fn handle_lost(&mut self, seq: u64, cause: Option<DropCause>) {
        if let Some(fate @ Fate::InFlight) = self.entry(seq) {
            *fate = Fate::Lost(cause);
            *self.lost.count(cause) += 1;
        }
    }

    /// The next `datagrams` are sent and lost, and all before them are settled and forgotten: what is in flight is lost.
    pub(crate) fn handle_abandoned(&mut self, datagrams: u64) {
        *self.lost.count(None) += self.in_flight().count() as u64 + datagrams;
        self.base = self.sent() + datagrams;
        self.entries.clear();
    }

    /// A datagram reached the application at the far end.
    pub fn handle_received(&mut self, seq: u64) -> Arrival {
        match self.entry(seq) {
            Some(fate) if *fate != Fate::Received => {
                if let Fate::Lost(cause) = std::mem::replace(fate, Fate::Received) {
                    *self.lost.count(cause) -= 1;
                }
                self.received += 1;
                Arrival::First
            }
            _ => {
                self.duplicates += 1;
                Arrival::Duplicate
            }
        }
    }

    /// A datagram reached the far end, which had no use for it.
    pub(crate) fn handle_refused(&mut self, seq: u64) {
        match self.entry(seq) {
            Some(Fate::InFlight | Fate::Lost(_)) => self.handle_lost(seq, None),
            Some(Fate::Received) | None => self.duplicates += 1,
        }
    }

    /// Datagrams sent so far.
    pub fn sent(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Datagrams that arrived, each once.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Datagrams of which a part was dropped, and that did not arrive by another copy.
    pub fn lost(&self) -> u64 {
        self.lost.total()
    }

    /// The same by cause.
    pub(crate) fn losses(&self) -> &Losses {
        &self.lost
    }

    /// Further arrivals of datagrams that had arrived.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Sequence numbers of the datagrams that are neither received nor lost.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = u64> + '_ {
        let unsettled = self.entries.iter().enumerate().filter(|&(_, &fate)| fate == Fate::InFlight);
        unsettled.map(|(index, _)| self.base + index as u64)
    }

    fn entry(&mut self, seq: u64) -> Option<&mut Fate> {
        self.entries.get_mut(usize::try_from(seq.checked_sub(self.base)?).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_counts_once_and_arrival_beats_loss() {
        let mut ledger = Ledger::default();
        assert_eq!([0; 4].map(|_| ledger.handle_sent()), [0, 1, 2, 3]);
        assert_eq!(ledger.handle_received(0), Arrival::First);
        assert_eq!(ledger.handle_received(0), Arrival::Duplicate);
        ledger.handle_lost(0, None);
        ledger.handle_lost(1, None);
        ledger.handle_lost(1, None);
        ledger.handle_lost(2, None);
        assert_eq!(ledger.handle_received(2), Arrival::First);
        ledger.handle_lost(2, None);
        assert_eq!((ledger.sent(), ledger.received(), ledger.lost(), ledger.duplicates()), (4, 2, 1, 1));
        assert_eq!(ledger.in_flight().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn what_nobody_has_a_use_for_was_there_before_or_is_lost() {
        let mut ledger = Ledger::default();
        assert_eq!([0; 2].map(|_| ledger.handle_sent()), [0, 1]);
        ledger.handle_received(0);
        ledger.handle_refused(0);
        ledger.handle_refused(1);
        ledger.handle_refused(1);
        assert_eq!((ledger.received(), ledger.lost(), ledger.duplicates()), (1, 1, 1));
    }

    #[test]
    fn a_loss_counts_for_its_first_cause_until_the_datagram_arrives_all_the_same() {
        let mut ledger = Ledger::default();
        assert_eq!([0; 3].map(|_| ledger.handle_sent()), [0, 1, 2]);
        let counts = |ledger: &Ledger| {
            let losses = ledger.losses();
            let of_cause = [DropCause::QueueFull, DropCause::RetryLimitLong].map(|cause| losses.of(cause));
            (of_cause, losses.unexplained(), ledger.lost())
        };
        ledger.handle_lost(0, Some(DropCause::RetryLimitLong));
        ledger.handle_lost(0, Some(DropCause::QueueFull));
        ledger.handle_lost(1, Some(DropCause::QueueFull));
        ledger.handle_lost(2, None);
        assert_eq!(counts(&ledger), ([1, 1], 1, 3));
        ledger.handle_received(0);
        ledger.handle_received(2);
        assert_eq!(counts(&ledger), ([1, 0], 0, 1));
    }

    #[test]
    fn memory_is_bounded_by_what_is_in_flight() {
        let mut ledger = Ledger::default();
        for seq in 0..3 * MEMORY as u64 {
            ledger.handle_sent();
            if seq != MEMORY as u64 {
                ledger.handle_received(seq);
            }
        }
        assert_eq!(ledger.base, MEMORY as u64, "the one in flight is kept, with all after it");
        ledger.handle_received(MEMORY as u64);
        ledger.handle_sent();
        assert_eq!(ledger.entries.len(), MEMORY);
        assert_eq!(ledger.in_flight().count(), 1);
    }
}
