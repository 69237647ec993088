//! Puts RTP packets in order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::rtp;

/// Farthest jump ahead of all others that a single packet is believed (MAX_DROPOUT of RFC 3550, appendix A.1).
const FARTHEST: u64 = 3000;
/// Farthest behind that is late for certain (MAX_MISORDER of the same).
const FARTHEST_BEHIND: u64 = 3000;
/// Most packets held behind a gap.
const CAPACITY: usize = 2048;
/// Sequence numbers have 16 bits.
const MODULUS: u64 = 1 << 16;

/// Counters of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets of gaps that were given up; includes those that came late.
    pub lost: u64,
    /// Packets that came after their gap had been given up, or far from all others.
    pub late: u64,
    /// Copies of packets that are held or were delivered.
    pub duplicates: u64,
}

/// Holds back what comes after a gap until the gap is filled or has lasted for too long.
#[derive(Debug)]
pub(super) struct Reorder {
    patience: Duration,
    /// The source, and the number of the packet that is to be delivered next, unrolled.
    next: Option<(u32, u64)>,
    /// Held packets by number.
    held: BTreeMap<u64, Vec<u8>>,
    /// When held packets came, by number, in the order in which they did; those that were delivered meanwhile are among them, but
    /// for the first.
    arrivals: VecDeque<(u64, Instant)>,
    /// A packet that is far from all others, which the next one may confirm.
    far: Option<(u16, Vec<u8>)>,
    /// Numbers of the latest packets that were given up, so that one that comes late is told from a copy.
    given_up: BTreeSet<u64>,
    counts: Counts,
}

impl Reorder {
    /// Waits for a gap to be filled for `patience` at most.
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            patience,
            next: None,
            held: BTreeMap::new(),
            arrivals: VecDeque::new(),
            far: None,
            given_up: BTreeSet::new(),
            counts: Counts::default(),
        }
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
        let Some(number) = self.place(packet.source(), packet.sequence(), octets, deliver) else { return };
        let Some((_, next)) = &mut self.next else { return };
        if number == *next {
            *next += 1;
            self.counts.delivered += 1;
            deliver(octets);
            self.deliver_run(deliver);
            return;
        }
        if self.held.contains_key(&number) {
            self.counts.duplicates += 1;
            return;
        }
        self.held.insert(number, octets.to_vec());
        self.arrivals.push_back((number, now));
        while self.held.len() > CAPACITY || self.reach() > FARTHEST {
            self.skip_gap(deliver);
        }
    }

    /// The unrolled number of a packet that is to be delivered now or later.
    fn place(&mut self, source: u32, sequence: u16, octets: &[u8], deliver: &mut impl FnMut(&[u8])) -> Option<u64> {
        let Some((_, next)) = self.next.filter(|&(current, _)| current == source) else {
            return Some(self.restart(source, sequence, deliver));
        };
        let ahead = u64::from(sequence.wrapping_sub(next as u16));
        if ahead <= self.reach() + FARTHEST {
            self.drop_far();
            return Some(next + ahead);
        }
        if MODULUS - ahead <= FARTHEST_BEHIND {
            self.drop_far();
            // Numbers begin one turn above zero.
            self.count_behind(next - (MODULUS - ahead));
            return None;
        }
        let Some((first, confirmed)) = self.far.take_if(|(far, _)| sequence == far.wrapping_add(1)) else {
            self.drop_far();
            self.far = Some((sequence, octets.to_vec()));
            return None;
        };
        // Two in a row are believed: half of the numbers lie ahead, and those between are lost; else the source has started anew.
        let number = if ahead <= MODULUS / 2 { next + ahead - 1 } else { self.restart(source, first, deliver) };
        self.held.insert(number, confirmed);
        self.handle_end(deliver);
        Some(number + 1)
    }

    /// Time has come to `now`: gaps that have lasted for too long are given up.
    pub(super) fn handle_timeout(&mut self, now: Instant, deliver: &mut impl FnMut(&[u8])) {
        while self.poll_timeout().is_some_and(|due| due <= now) {
            self.skip_gap(deliver);
        }
    }

    /// No more will come: what is held is delivered.
    pub(super) fn handle_end(&mut self, deliver: &mut impl FnMut(&[u8])) {
        self.drop_far();
        while !self.held.is_empty() {
            self.skip_gap(deliver);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        // The first that came of those behind the first gap, which are all, showed that there is one.
        let (_, came) = self.arrivals.front()?;
        Some(came.saturating_add(self.patience))
    }

    /// How far the newest packet is ahead of the next one.
    fn reach(&self) -> u64 {
        let newest = self.held.last_key_value();
        newest.zip(self.next).map_or(0, |((newest, _), (_, next))| newest - next)
    }

    /// A packet before the next one: it was given up, or it is a copy.
    fn count_behind(&mut self, number: u64) {
        if self.given_up.remove(&number) {
            self.counts.late += 1;
        } else {
            self.counts.duplicates += 1;
        }
    }

    /// What is far from all others, and is not confirmed, is dropped.
    fn drop_far(&mut self) {
        self.counts.late += u64::from(self.far.take().is_some());
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
            let oldest = first.saturating_sub(FARTHEST_BEHIND);
            self.given_up.extend(oldest.max(*next)..first);
            *next = first;
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
            *next += 1;
            self.counts.delivered += 1;
            deliver(&entry.remove());
        }
        while self.arrivals.front().is_some_and(|(number, _)| number < next) {
            self.arrivals.pop_front();
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
    fn a_gap_lasts_from_the_first_packet_behind_it_whatever_comes_between() {
        let packets = [(5, 0), (8, 10), (7, 60), (8, 70)];
        assert_eq!(run(&packets).1.poll_timeout(), Some(ms(110)));
        // Each of two gaps: from 10 on the first, from 60 on the second.
        let (delivered, reorder) = run(&[(5, 0), (7, 10), (9, 60), (12, 61), (11, 110)]);
        assert_eq!((delivered, reorder.poll_timeout()), (vec![5, 7], Some(ms(160))));
        let (delivered, reorder) = run(&[(5, 0), (20, 0), (19, 50), (18, 90), (7, 100)]);
        assert_eq!((delivered, reorder.poll_timeout()), (vec![5, 18, 19, 20], None));
        assert_eq!(reorder.counts(), Counts { delivered: 4, lost: 12, late: 1, duplicates: 0 });
    }

    #[test]
    fn a_single_packet_far_from_all_others_is_none_of_them() {
        for far in [4000, 20_000, 60_000] {
            let (delivered, reorder) = run(&[(5, 0), (7, 1), (far, 2), (6, 3), (far + 1, 4), (8, 5)]);
            assert_eq!(delivered, [5, 6, 7, 8], "{far}");
            assert_eq!(reorder.counts(), Counts { delivered: 4, late: 2, ..Counts::default() }, "{far}");
        }
    }

    #[test]
    fn what_lies_between_is_lost_however_many_that_are() {
        let packets: Vec<_> = (100..110).chain(4000..4010).chain([3999, 3999]).map(|sequence| (sequence, 0)).collect();
        let (delivered, reorder) = run(&packets);
        assert_eq!(delivered, Vec::from_iter((100..110).chain(4000..4010)));
        assert_eq!(reorder.counts(), Counts { delivered: 20, lost: 3890, late: 1, duplicates: 1 });
    }

    #[test]
    fn another_source_or_other_numbers_are_a_new_start() {
        let (mut delivered, mut reorder) = run(&[(5, 0), (7, 1), (40_000, 2), (40_001, 3)]);
        assert_eq!(delivered, [5, 7, 40_000, 40_001]);
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
        let counts = reorder.counts();
        assert_eq!(counts.delivered as usize + reorder.held.len(), 2501, "{counts:?}");
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

        /// Also where numbers jump, and the source with them.
        #[test]
        fn each_packet_is_counted_once(jumps in prop::collection::vec((any::<u16>(), 1_u16..9, 0_u32..8, 0_u64..60), 1..100)) {
            let (mut reorder, mut delivered, mut now, mut count) = (Reorder::new(PATIENCE), 0, 0, 0);
            for (first, length, source, gap) in jumps {
                now += gap;
                count += u64::from(length);
                for nth in 0..length {
                    let mut take = |_: &[u8]| delivered += 1;
                    feed(&mut reorder, source / 7, first.wrapping_add(nth), ms(now), &mut take);
                    reorder.handle_timeout(ms(now), &mut take);
                }
                prop_assert!(reorder.held.len() <= CAPACITY && reorder.reach() <= FARTHEST);
                prop_assert_eq!(reorder.poll_timeout().is_some(), !reorder.held.is_empty());
            }
            reorder.handle_end(&mut |_| delivered += 1);
            let counts = reorder.counts();
            prop_assert_eq!(counts.delivered, delivered);
            prop_assert_eq!(counts.delivered + counts.late + counts.duplicates, count);
        }
    }
}
