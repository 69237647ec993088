//! When the packets left that may still be acknowledged.

use std::collections::VecDeque;

use crate::time::Instant;

/// Most packets remembered. Feedback for older ones tells no round-trip time.
const CAPACITY: usize = 1 << 16;

/// A data packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// Its number, unrolled.
    pub(super) number: u64,
    /// When.
    pub(super) at: Instant,
    /// Its window counter.
    pub(super) counter: u8,
}

/// The latest data packets, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    departures: VecDeque<Departure>,
}

impl Sent {
    pub(super) fn push(&mut self, departure: Departure) {
        if self.departures.len() == CAPACITY {
            self.departures.pop_front();
        }
        self.departures.push_back(departure);
    }

    /// Takes out the packet that is acknowledged by `number`, and forgets those before it. A packet without data
    /// acknowledges the one before it.
    pub(super) fn acknowledge(&mut self, number: u64) -> Option<Departure> {
        let behind = self.departures.partition_point(|departure| departure.number <= number);
        self.departures.drain(..behind).next_back()
    }

    pub(super) fn clear(&mut self) {
        self.departures.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_forgets_what_is_older() {
        let mut sent = Sent::default();
        let departure = |number| Departure { number, at: Instant::from_nanos(number), counter: 0 };
        [3, 4, 6, 7].into_iter().for_each(|number| sent.push(departure(number)));
        assert_eq!(sent.acknowledge(2), None);
        assert_eq!(sent.acknowledge(5), Some(departure(4)));
        assert_eq!(sent.acknowledge(4), None);
        assert_eq!(sent.acknowledge(7), Some(departure(7)));
        (0..100_000).for_each(|number| sent.push(departure(number)));
        assert_eq!(sent.departures.len(), CAPACITY);
        assert_eq!(sent.acknowledge(100), None);
    }
}
