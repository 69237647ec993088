//! Which packets of a session the sequence numbers of a source name.

use std::collections::VecDeque;

use super::history::{LOST, OUTSTANDING};
use super::unwrap;

/// The packets of one source, in the order of their sequence numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    /// Numbers of packets in the session, from the `first`-th packet of the source on.
    numbers: VecDeque<u64>,
    first: u64,
}

impl Sequences {
    /// How many packets of the source were sent.
    pub(super) fn next(&self) -> u64 {
        self.first + self.numbers.len() as u64
    }

    /// The next packet of the source is packet `number` of the session.
    pub(super) fn on_sent(&mut self, number: u64) {
        self.numbers.push_back(number);
        // The history knows of no more.
        if self.numbers.len() > OUTSTANDING + LOST {
            self.numbers.pop_front();
            self.first += 1;
        }
    }

    /// Which packet of the source has this sequence number, if the first one had `first`.
    pub(super) fn place(&self, sequence: u16, first: u16) -> u64 {
        unwrap(sequence.wrapping_sub(first).into(), 16, self.next())
    }

    /// The number in the session of the `place`-th packet of the source.
    pub(super) fn number(&self, place: u64) -> Option<u64> {
        self.numbers.get(usize::try_from(place.checked_sub(self.first)?).ok()?).copied()
    }
}
