//! What the peer says has arrived beyond a gap, and what follows from it: the scoreboard of RFC 6675, section 4.
//!
//! Ends of ranges are exclusive here: HighRxt of the RFC is `retransmitted − 1`, HighACK `una − 1`, HighData `sent − 1`.

use super::ranges::Ranges;
use super::recovery::DUPLICATE_THRESHOLD;

/// Bytes between the first unacknowledged position `una` and the end `sent` of all that was ever sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    sacked: Ranges,
    /// The end of what was sent again in this loss recovery, HighRxt.
    retransmitted: u64,
    /// RescueRxt; as with `retransmitted`, its end.
    rescued: u64,
}

impl Scoreboard {
    /// Update(): a SACK block, as positions. `true` if it tells of bytes that were not known to have arrived. Blocks that
    /// speak of what is acknowledged (duplicates, RFC 2883, section 4) or was never sent tell nothing.
    pub(super) fn insert(&mut self, start: u64, end: u64, una: u64, sent: u64) -> bool {
        let known = |(_, known_end)| end <= known_end;
        if start <= una || start >= end || end > sent || self.sacked.containing(start).is_some_and(known) {
            return false;
        }
        self.sacked.insert(start, end)
    }

    /// Everything before `una` is acknowledged. If `una` itself is among what had arrived, the peer has thrown that away
    /// (RFC 2018, section 8), and nothing that it said can be relied on.
    pub(super) fn advance(&mut self, una: u64) {
        if self.sacked.is_empty() {
            return;
        }
        let reneged = self.sacked.containing(una).is_some();
        self.sacked.advance(una);
        if reneged {
            self.sacked.clear();
        }
    }

    /// Forgets all (RFC 2018, section 8).
    pub(super) fn clear(&mut self) {
        self.sacked.clear();
    }

    /// Bytes before `limit` that have arrived.
    pub(super) fn sacked_before(&self, limit: u64) -> u64 {
        if self.sacked.is_empty() { 0 } else { self.sacked.total_before(limit) }
    }

    /// Where what has arrived begins next after a position, which is not among it.
    pub(super) fn hole_end(&self, position: u64) -> Option<u64> {
        self.sacked.next_start(position)
    }

    /// The position itself, or the first one after it that is not known to have arrived.
    pub(super) fn skip(&self, position: u64) -> u64 {
        self.sacked.containing(position).map_or(position, |(_, end)| end)
    }

    /// IsLost() of a position that has not arrived.
    pub(super) fn is_lost(&self, position: u64, segment: u32) -> bool {
        position < self.lost_before(segment)
    }

    /// The end of what IsLost() takes for lost. It is one number, since whatever is said to have arrived above a byte is
    /// above all bytes before it.
    fn lost_before(&self, segment: u32) -> u64 {
        let enough = u64::from(DUPLICATE_THRESHOLD - 1) * u64::from(segment);
        let mut octets = 0;
        for (count, &(start, end)) in (1..).zip(self.sacked.as_slice().iter().rev()) {
            octets += end - start;
            if count == DUPLICATE_THRESHOLD || octets > enough {
                return start;
            }
        }
        0
    }

    /// SetPipe(): bytes that are taken to be in the network, of those between `una` and `sent`.
    pub(super) fn pipe(&self, una: u64, sent: u64, segment: u32) -> u64 {
        let missing =
            |from: u64, to: u64| (to - from) - (self.sacked.total_before(to) - self.sacked.total_before(from));
        let not_lost = missing(self.lost_before(segment).max(una), sent);
        not_lost + missing(una, self.retransmitted.clamp(una, sent))
    }

    /// Loss recovery begins with the retransmission of what lies before `end` (section 5, step 4.3).
    pub(super) fn start_recovery(&mut self, end: u64) {
        self.on_retransmitted(end);
        self.rescued = self.rescued.max(end);
    }

    /// Bytes before `end` were sent again.
    pub(super) fn on_retransmitted(&mut self, end: u64) {
        self.retransmitted = self.retransmitted.max(end);
    }

    /// NextSeg(), rule 1 if `lost`, rule 3 if not: where to go on with retransmissions, and where the hole ends. Rule 2 is
    /// the sender's.
    pub(super) fn next_hole(&self, una: u64, segment: u32, lost: bool) -> Option<(u64, u64)> {
        let start = self.skip(self.retransmitted.max(una));
        let limit = if lost { self.lost_before(segment) } else { self.sacked.end()? };
        if start >= limit {
            return None;
        }
        self.sacked.next_start(start).map(|end| (start, end))
    }

    /// NextSeg(), rule 4: once for each recovery, up to `recovery_point`, what ends with the last byte that has not
    /// arrived.
    pub(super) fn rescue(&mut self, una: u64, sent: u64, segment: u32, recovery_point: u64) -> Option<(u64, u64)> {
        // HighACK > RescueRxt.
        if una <= self.rescued {
            return None;
        }
        self.rescued = recovery_point;
        let last = self.sacked.as_slice().last().copied();
        let (from, end) = match last {
            // It runs up to the very end: the last hole lies before it.
            Some((start, end)) if end >= sent => (self.hole_start(start).max(una), start),
            Some((_, end)) => (end.max(una), sent),
            None => (una, sent),
        };
        (from < end).then(|| (from.max(end.saturating_sub(segment.into())), end))
    }

    /// Where the hole begins that ends at `end`.
    fn hole_start(&self, end: u64) -> u64 {
        let ranges = self.sacked.as_slice();
        let before = ranges.partition_point(|&(_, other_end)| other_end < end);
        ranges[..before].last().map_or(0, |&(_, other_end)| other_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMSS: u32 = 100;

    /// From `una` 1000, sent up to 3000.
    fn board(blocks: &[(u64, u64)]) -> Scoreboard {
        let mut board = Scoreboard::default();
        for &(start, end) in blocks {
            assert!(board.insert(start, end, 1000, 3000), "{start}-{end}");
        }
        board
    }

    #[test]
    fn rfc_6675_section_4_update_takes_what_is_new_and_possible() {
        let mut board = board(&[(1200, 1400)]);
        let told = [(1200, 1400), (1250, 1300), (900, 1000), (900, 1100), (1000, 1100), (2900, 3001), (1300, 1300)];
        for (start, end) in told {
            assert!(!board.insert(start, end, 1000, 3000), "{start}-{end}");
        }
        assert!(board.insert(1300, 1401, 1000, 3000));
        assert_eq!(board.sacked_before(3000), 201);
    }

    #[test]
    fn rfc_6675_section_4_is_lost_by_three_ranges_or_more_than_two_segments() {
        assert!(!board(&[(1100, 1110), (1200, 1210)]).is_lost(1000, SMSS));
        let three = board(&[(1100, 1110), (1200, 1210), (1300, 1310)]);
        assert!(three.is_lost(1000, SMSS) && three.is_lost(1099, SMSS) && !three.is_lost(1110, SMSS));
        // Octets: exactly two segments are too few.
        assert!(!board(&[(1100, 1300)]).is_lost(1000, SMSS));
        assert!(board(&[(1100, 1301)]).is_lost(1000, SMSS));
        let far = board(&[(1100, 1200), (1500, 1700)]);
        assert!(far.is_lost(1000, SMSS) && !far.is_lost(1200, SMSS));
    }

    #[test]
    fn rfc_6675_section_4_set_pipe_by_hand() {
        // Nothing is lost: all that has not arrived is in the network.
        assert_eq!(board(&[(1100, 1300)]).pipe(1000, 3000, SMSS), 1800);
        // 1000–1100 and 1200–1400 are lost, what follows 1700 is not.
        let mut board = board(&[(1100, 1200), (1400, 1700)]);
        assert_eq!(board.pipe(1000, 3000, SMSS), 1300);
        // What was sent again is in the network, once more.
        board.start_recovery(1100);
        assert_eq!(board.pipe(1000, 3000, SMSS), 1400);
        board.on_retransmitted(1300);
        assert_eq!(board.pipe(1000, 3000, SMSS), 1500);
    }

    #[test]
    fn rfc_6675_section_4_next_seg_by_hand() {
        let mut board = board(&[(1100, 1200), (1400, 1700), (2000, 2100)]);
        board.start_recovery(1100);
        // Lost: before 1400. Rule 1 finds the second hole, rule 3 would also find the third.
        assert_eq!(board.next_hole(1000, SMSS, true), Some((1200, 1400)));
        board.on_retransmitted(1300);
        assert_eq!(board.next_hole(1000, SMSS, true), Some((1300, 1400)));
        board.on_retransmitted(1400);
        assert_eq!(board.next_hole(1000, SMSS, true), None);
        assert_eq!(board.next_hole(1000, SMSS, false), Some((1700, 2000)));
        board.on_retransmitted(2000);
        assert_eq!(board.next_hole(1000, SMSS, false), None);
        // Rule 4: not before the cumulative acknowledgement has passed the first retransmission, and once.
        assert_eq!(board.rescue(1100, 3000, SMSS, 3000), None);
        board.advance(1200);
        assert_eq!(board.rescue(1200, 3000, SMSS, 3000), Some((2900, 3000)));
        assert_eq!(board.rescue(1200, 3000, SMSS, 3000), None);
    }

    #[test]
    fn rfc_6675_section_4_rule_4_takes_the_last_that_has_not_arrived() {
        let rescue = |blocks: &[(u64, u64)]| board(blocks).rescue(1000, 3000, SMSS, 3000);
        assert_eq!(rescue(&[(1100, 2950)]), Some((2950, 3000)));
        assert_eq!(rescue(&[(1100, 1200), (1250, 3000)]), Some((1200, 1250)));
        assert_eq!(rescue(&[(1001, 3000)]), Some((1000, 1001)));
        assert_eq!(rescue(&[]), Some((2900, 3000)));
    }

    #[test]
    fn rfc_2018_section_8_a_receiver_that_reneges_is_not_believed() {
        let mut board = board(&[(1200, 1400), (2000, 2100)]);
        board.advance(1100);
        assert_eq!(board.sacked_before(3000), 300);
        board.advance(1200);
        assert_eq!(board.sacked_before(3000), 0);
    }

    proptest! {
        /// Against the definitions of section 4, byte by byte.
        #[test]
        fn agrees_with_the_definitions(
            blocks in prop::collection::vec((1_u64..60, 1_u64..12), 0..12),
            retransmitted in 0_u64..70,
            segment in 1_u32..8,
        ) {
            let sent = 72;
            let mut board = Scoreboard::default();
            let mut sacked = std::collections::BTreeSet::new();
            for (start, len) in blocks {
                let before = sacked.len();
                sacked.extend(start..start + len);
                prop_assert_eq!(board.insert(start, start + len, 0, sent), sacked.len() > before);
            }
            board.start_recovery(retransmitted);
            let is_lost = |octet: u64| {
                let above = sacked.range(octet + 1..);
                let ranges = above.clone().filter(|&&other| other == octet + 1 || !sacked.contains(&(other - 1))).count();
                ranges >= 3 || above.count() as u64 > 2 * u64::from(segment)
            };
            let (mut pipe, mut holes) = (0, [None, None]);
            let highest = sacked.last().copied().unwrap_or(0);
            for octet in (0..sent).filter(|octet| !sacked.contains(octet)) {
                prop_assert_eq!(board.is_lost(octet, segment), is_lost(octet));
                pipe += u64::from(!is_lost(octet)) + u64::from(octet < retransmitted);
                if octet >= retransmitted && octet < highest {
                    holes[0] = holes[0].or(is_lost(octet).then_some(octet));
                    holes[1] = holes[1].or(Some(octet));
                }
            }
            prop_assert_eq!(board.pipe(0, sent, segment), pipe);
            for (lost, expected) in [(true, holes[0]), (false, holes[1])] {
                prop_assert_eq!(board.next_hole(0, segment, lost).map(|(start, _)| start), expected);
            }
        }
    }
}
