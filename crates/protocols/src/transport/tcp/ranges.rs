//! Sets of positions, as ranges: what arrived out of order, and what the peer says has.

/// Ranges that are kept. A window of 208 KiB in 1000 B segments with every second one missing makes 107.
pub const MAX_RANGES: usize = 128;

/// Disjoint, non-adjacent ranges of positions in ascending order, at most [`MAX_RANGES`] of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// Start and end (exclusive). Room for all is made when the first is needed, and never again.
    ranges: Vec<(u64, u64)>,
    /// Positions in all of them.
    total: u64,
}

impl Ranges {
    /// Adds a range and merges it with those that it touches. `false` if it would be one too many and is not kept.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> bool {
        debug_assert!(start < end, "an empty range");
        if self.ranges.capacity() == 0 {
            self.ranges.reserve_exact(MAX_RANGES);
        }
        let first = self.ranges.partition_point(|&(_, other_end)| other_end < start);
        let touched = self.ranges[first..].partition_point(|&(other_start, _)| other_start <= end);
        if touched == 0 {
            if self.ranges.len() == MAX_RANGES {
                return false;
            }
            self.ranges.insert(first, (start, end));
            self.total += end - start;
        } else {
            let last = first + touched - 1;
            let before: u64 = self.ranges[first..=last].iter().map(|(start, end)| end - start).sum();
            let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last].1));
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..=last);
            self.total += merged.1 - merged.0 - before;
        }
        true
    }

    /// Everything before `next` is done with: removes the range that continues it, if one does, and returns the position
    /// up to which it is continued.
    pub(super) fn advance(&mut self, next: u64) -> u64 {
        let reached = self.ranges.partition_point(|&(start, _)| start <= next);
        let end = self.ranges[..reached].last().map_or(next, |&(_, end)| end.max(next));
        self.total -= self.ranges.drain(..reached).map(|(start, end)| end - start).sum::<u64>();
        end
    }

    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
    }

    /// Whether nothing is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges in ascending order.
    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// The range that holds a position.
    pub(super) fn containing(&self, position: u64) -> Option<(u64, u64)> {
        let next = self.ranges.partition_point(|&(start, _)| start <= position);
        self.ranges[..next].last().copied().filter(|&(_, end)| position < end)
    }

    /// Where the first range after a position begins.
    pub(super) fn next_start(&self, position: u64) -> Option<u64> {
        let next = self.ranges.partition_point(|&(start, _)| start <= position);
        self.ranges.get(next).map(|&(start, _)| start)
    }

    /// The end of the last range.
    pub(super) fn end(&self) -> Option<u64> {
        self.ranges.last().map(|&(_, end)| end)
    }

    /// Positions that are held before `limit`.
    pub(super) fn total_before(&self, limit: u64) -> u64 {
        // Where loss is repaired in order, most ranges lie on one side: count from the shorter one.
        let split = self.ranges.partition_point(|&(start, _)| start < limit);
        let (before, after) = self.ranges.split_at(split);
        let len = |ranges: &[(u64, u64)]| ranges.iter().map(|(start, end)| end - start).sum::<u64>();
        let beyond = before.last().map_or(0, |&(_, end)| end.saturating_sub(limit));
        if before.len() < after.len() { len(before) - beyond } else { self.total - len(after) - beyond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_merge_where_they_touch() {
        let mut held = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (50, 60)] {
            assert!(held.insert(start, end));
        }
        assert!(held.insert(20, 30));
        assert_eq!(held.ranges, [(10, 40), (50, 60)]);
        assert!(held.insert(5, 70));
        assert_eq!(held.ranges, [(5, 70)]);
        assert_eq!(held.advance(4), 4);
        assert_eq!(held.advance(5), 70);
        assert!(held.is_empty());
    }

    #[test]
    fn one_range_too_many_is_refused_but_a_known_one_still_grows() {
        let mut held = Ranges::default();
        for n in 0..MAX_RANGES as u64 {
            assert!(held.insert(10 * n + 1, 10 * n + 5));
        }
        assert!(!held.insert(100_000, 100_001));
        assert!(held.insert(5, 7));
        assert_eq!(held.advance(1), 7);
        assert!(held.insert(100_000, 100_001));
        assert_eq!(held.ranges.capacity(), MAX_RANGES);
    }

    proptest! {
        #[test]
        fn agrees_with_a_set_of_positions(inserts in prop::collection::vec((1_u64..300, 1_u64..40), 1..60)) {
            let mut held = Ranges::default();
            let mut set = std::collections::BTreeSet::new();
            let mut next = 0;
            for (start, len) in inserts {
                // Everything up to `next` has arrived in order; what is held lies beyond a gap of at least one.
                let start = start.max(next + 2);
                prop_assert!(held.insert(start, start + len));
                set.extend(start..start + len);
                prop_assert!(held.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                prop_assert_eq!(held.total, set.len() as u64);
                for position in [next + 1, start, start + len, start + 3 * len] {
                    prop_assert_eq!(held.total_before(position), set.range(..position).count() as u64);
                    prop_assert_eq!(held.containing(position).is_some(), set.contains(&position));
                    let after = set.range(position + 1..).find(|&&other| !set.contains(&(other - 1))).copied();
                    prop_assert_eq!(held.next_start(position), after);
                }
                prop_assert_eq!(held.end(), set.last().map(|last| last + 1));
                // Now and then the first missing position arrives.
                if len % 7 == 0 {
                    next += 1;
                    set.remove(&next);
                    let advanced = held.advance(next + 1);
                    while set.remove(&(next + 1)) {
                        next += 1;
                    }
                    prop_assert_eq!(advanced, next + 1);
                }
            }
        }
    }
}
