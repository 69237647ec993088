//! RTP packets in their order again.

use std::collections::{BTreeMap, BTreeSet};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::rtp;

/// Farthest jump ahead that is a gap; beyond it, the sender has started anew (MAX_DROPOUT of RFC 3550, appendix A.1).
const FARTHEST: u64 = 3000;
/// Farthest behind that is late rather than a new start (MAX_MISORDER of the same).
const FARTHEST_BEHIND: u64 = 3000;
/// Most packets held behind a gap.
const CAPACITY: usize = 2048;
/// Sequence numbers have 16 bits.
const MODULUS: u64 = 1 << 16;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets of gaps that were given up; those that came late nevertheless are among them.
    pub lost: u64,
    /// Packets that came after their gap had been given up.
    pub late: u64,
    /// Copies of packets that are there or were delivered.
    pub duplicates: u64,
}

/// Holds back what comes after a gap until the gap is filled or has lasted for too long.
#[derive(Debug)]
pub(super) struct Reorder {
    patience: Duration,
    /// The source, and the number of the packet that is to be delivered next, unrolled.
    next: Option<(u32, u64)>,
    /// Held packets by number, and when they came.
    held: BTreeMap<u64, (Instant, Vec<u8>)>,
    /// Numbers of the latest packets that were given up, so that one that comes late is told from a copy.
    given_up: BTreeSet<u64>,
    counts: Counts,
}

impl Reorder {
    /// Waits for a gap to be filled for `patience` at most.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, next: None, held: BTreeMap::new(), given_up: BTreeSet::new(), counts: Counts::default() }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// A packet comes. What may be delivered by it goes to `deliver`.
    pub(super) fn handle_packet(
        &mut self,
        packet: rtp::Packet<&[u8]>,
        octets: &[u8],
        now: Instant,
        deliver: &mut impl FnMut(&[u8]),
    ) {
        let (source, sequence) = (packet.source(), packet.sequence());
        let number = match self.next {
            Some((current, next)) if current == source => {
                let ahead = u64::from(sequence.wrapping_sub(next as u16));
                if ahead <= FARTHEST {
                    next + ahead
                } else if MODULUS - ahead <= FARTHEST_BEHIND {
                    // Numbers begin one turn above zero.
                    self.count_behind(next - (MODULUS - ahead));
                    return;
                } else {
                    self.restart(source, sequence, deliver)
                }
            }
            _ => self.restart(source, sequence, deliver),
        };
        let Some((_, next)) = &mut self.next else { return };
        if number == *next {
            *next += 1;
            self.counts.delivered += 1;
            deliver(octets);
            self.deliver_run(deliver);
            return;
        }
        if self.held.insert(number, (now, octets.to_vec())).is_some() {
            self.counts.duplicates += 1;
        }
        if self.held.len() > CAPACITY {
            self.skip_gap(deliver);
        }
    }

    /// Time has come to `now`: gaps that have lasted for too long are given up.
    pub(super) fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        while self.poll_timeout().is_some_and(|due| due <= now) {
            self.skip_gap(deliver);
        }
    }

    /// No more will come: what is held is delivered.
    pub(super) fn handle_end(&mut self, deliver: &mut impl FnMut(&[u8])) {
        while !self.held.is_empty() {
            self.skip_gap(deliver);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let (_, (came, _)) = self.held.first_key_value()?;
        Some(Instant::from_nanos(came.as_nanos().saturating_add(self.patience.as_nanos())))
    }

    /// A packet before the next one: it was given up, or it is a copy.
    fn count_behind(&mut self, number: u64) {
        if self.given_up.remove(&number) {
            self.counts.late += 1;
        } else {
            self.counts.duplicates += 1;
        }
    }

    /// Another source, or the same with other numbers. Returns the packet's number.
    fn restart(&mut self, source: u32, sequence: u16, deliver: &mut impl FnMut(&[u8])) -> u64 {
        self.handle_end(deliver);
        self.given_up.clear();
        let number = MODULUS + u64::from(sequence);
        self.next = Some((source, number));
        number
    }

    /// Gives the first gap up.
    fn skip_gap(&mut self, deliver: &mut impl FnMut(&[u8])) {
        if let (Some((_, next)), Some((&first, _))) = (&mut self.next, self.held.first_key_value()) {
            self.counts.lost += first - *next;
            // A gap is at most as wide as the farthest jump.
            self.given_up.extend(*next..first);
            *next = first;
            let oldest = first.saturating_sub(FARTHEST_BEHIND);
            while self.given_up.first().is_some_and(|&number| number < oldest) {
                self.given_up.pop_first();
            }
        }
        self.deliver_run(deliver);
    }

    /// Delivers what is held without a gap.
    fn deliver_run(&mut self, deliver: &mut impl FnMut(&[u8])) {
        let Some((_, next)) = &mut self.next else { return };
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key() == next) {
            let (_, octets) = entry.remove();
            *next += 1;
            self.counts.delivered += 1;
            deliver(&octets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    /// Feeds packets of source 1, by number and time in milliseconds; returns what was delivered, by number.
    fn run(packets: &[(u16, u64)]) -> (Vec<u16>, Reorder) {
        let mut reorder = Reorder::new(PATIENCE);
        let mut delivered = Vec::new();
        for &(sequence, at) in packets {
            let mut take = |octets: &[u8]| delivered.push(rtp::Packet::new_unchecked(octets).sequence());
            reorder.handle_timeout(ms(at), &mut take);
            feed(&mut reorder, 1, sequence, ms(at), &mut take);
        }
        (delivered, reorder)
    }

    fn feed(reorder: &mut Reorder, source: u32, sequence: u16, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        let mut octets = [0; rtp::HEADER_LEN];
        octets[0] = 0x80;
        octets[2..4].copy_from_slice(&sequence.to_be_bytes());
        octets[8..].copy_from_slice(&source.to_be_bytes());
        reorder.handle_packet(rtp::Packet::new_checked(&octets[..]).unwrap(), &octets, now, deliver);
    }

    #[test]
    fn a_gap_that_fills_in_time_is_none() {
        let (delivered, reorder) = run(&[(65_534, 0), (0, 1), (1, 2), (65_535, 99), (2, 100)]);
        assert_eq!(delivered, [65_534, 65_535, 0, 1, 2]);
        assert_eq!(reorder.counts(), Counts { delivered: 5, ..Counts::default() });
        assert_eq!(reorder.poll_timeout(), None);
    }

    #[test]
    fn a_gap_is_given_up_when_the_first_behind_it_has_waited_long_enough() {
        let (delivered, reorder) = run(&[(5, 0), (7, 10), (8, 20)]);
        assert_eq!(delivered, [5]);
        assert_eq!(reorder.poll_timeout(), Some(ms(110)));
        let (delivered, reorder) = run(&[(5, 0), (7, 10), (8, 20), (6, 110), (6, 111), (5, 112), (9, 113)]);
        assert_eq!(delivered, [5, 7, 8, 9]);
        assert_eq!(reorder.counts(), Counts { delivered: 4, lost: 1, late: 1, duplicates: 2 });
    }

    #[test]
    fn another_source_or_a_far_jump_is_a_new_start() {
        let (mut delivered, mut reorder) = run(&[(5, 0), (7, 1), (20_000, 2), (20_001, 3)]);
        assert_eq!(delivered, [5, 7, 20_000, 20_001]);
        let mut take = |octets: &[u8]| delivered.push(rtp::Packet::new_unchecked(octets).sequence());
        feed(&mut reorder, 2, 3, ms(4), &mut take);
        assert_eq!(delivered.last(), Some(&3));
        assert_eq!(reorder.counts().lost, 1);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let held = (0..5000).map(|n| (2 + n, 0)).filter(|&(sequence, _)| sequence % 2 == 0);
        let (_, reorder) = run(&[(0, 0)].into_iter().chain(held).collect::<Vec<_>>());
        assert!(reorder.held.len() <= CAPACITY && reorder.given_up.len() <= FARTHEST_BEHIND as usize + 1);
    }

    proptest! {
        /// Whatever comes, what is delivered of one source ascends, and each packet is counted once.
        #[test]
        fn each_packet_has_one_fate(packets in prop::collection::vec((0_u16..400, 0_u64..30), 1..300)) {
            let mut now = 0;
            let packets: Vec<_> = packets.into_iter().map(|(sequence, gap)| { now += gap; (sequence, now) }).collect();
            let (mut delivered, mut reorder) = run(&packets);
            reorder.handle_end(&mut |octets: &[u8]| delivered.push(rtp::Packet::new_unchecked(octets).sequence()));
            prop_assert!(delivered.is_sorted_by(|one, other| one < other));
            let counts = reorder.counts();
            prop_assert_eq!(counts.delivered as usize, delivered.len());
            prop_assert_eq!((counts.delivered + counts.late + counts.duplicates) as usize, packets.len());
            let (first, last) = (delivered[0], delivered[delivered.len() - 1]);
            prop_assert_eq!(counts.delivered + counts.lost, u64::from(last - first) + 1);
        }
    }
}
