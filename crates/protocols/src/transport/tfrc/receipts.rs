//! What arrived within the last round trip.

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// Arrivals closer than this part of the span are kept as one.
const RESOLUTION: u64 = 256;
/// Most entries kept; more than [`RESOLUTION`] are needed only while the span grows.
const CAPACITY: usize = 1024;

/// Packets and bytes over a span of time that moves along. Instants are exact to 1/256 of the span, so that memory is
/// bounded whatever the rate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    entries: VecDeque<Entry>,
    packets: u64,
    octets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    packets: u64,
    octets: u64,
}

impl Receipts {
    /// Nothing arrived yet.
    pub(crate) const fn new() -> Self {
        Self { entries: VecDeque::new(), packets: 0, octets: 0 }
    }

    /// `packets` with `octets` together arrive; the latest `span` counts from now on.
    pub(crate) fn add(&mut self, packets: u64, octets: u64, span: Duration, now: Instant) {
        self.forget(span, now);
        self.packets += packets;
        self.octets += octets;
        let full = self.entries.len() == CAPACITY;
        match self.entries.back_mut() {
            Some(last) if full || now.saturating_since(last.at) < span / RESOLUTION => {
                last.packets += packets;
                last.octets += octets;
            }
            _ => self.entries.push_back(Entry { at: now, packets, octets }),
        }
    }

    /// Forgets what arrived `span` ago or earlier.
    pub(crate) fn forget(&mut self, span: Duration, now: Instant) {
        while let Some(first) = self.entries.front().filter(|first| now.saturating_since(first.at) >= span) {
            self.packets -= first.packets;
            self.octets -= first.octets;
            self.entries.pop_front();
        }
    }

    /// Packets within the span.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes within the span.
    pub(crate) fn octets(&self) -> u64 {
        self.octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_a_span_old_is_gone() {
        let ms = |n: u64| Instant::START + Duration::from_millis(n);
        let span = Duration::from_millis(100);
        let mut receipts = Receipts::new();
        receipts.add(1, 10, span, ms(0));
        receipts.add(1, 20, span, ms(99));
        assert_eq!((receipts.packets(), receipts.octets()), (2, 30));
        receipts.forget(span, ms(100));
        assert_eq!((receipts.packets(), receipts.octets()), (1, 20));
        receipts.add(0, 0, span, ms(198));
        assert_eq!(receipts.packets(), 1);
        receipts.forget(span, ms(199));
        assert_eq!((receipts.packets(), receipts.octets()), (0, 0));
    }

    proptest! {
        #[test]
        fn the_count_is_right_to_the_resolution_and_memory_bounded(
            steps in prop::collection::vec((0_u64..5_000_000, 1_u64..3000), 1..600),
            span in 1_000_000_u64..1_000_000_000,
        ) {
            let span = Duration::from_nanos(span);
            let mut receipts = Receipts::new();
            let mut all = Vec::new();
            let mut now = Instant::START;
            for (gap, octets) in steps {
                now += Duration::from_nanos(gap);
                all.push((now, octets));
                receipts.add(1, octets, span, now);
                let within = |span: Duration| {
                    all.iter().filter(|&&(at, _)| now.saturating_since(at) < span).map(|&(_, octets)| octets).sum::<u64>()
                };
                prop_assert!(receipts.octets() <= within(span));
                prop_assert!(receipts.octets() >= within(span - span / RESOLUTION));
                prop_assert!(receipts.entries.len() <= CAPACITY);
            }
        }
    }
}
