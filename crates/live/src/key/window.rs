//! Counters of a sender that have been seen: a sliding window (RFC 6479) with a lower end.

/// Bits in a block of the bitmap.
const BLOCK: u64 = u64::BITS as u64;
/// Blocks in the bitmap; a power of two (RFC 6479, section 2).
const BLOCKS: u64 = 8;
/// Counters that far below the highest one, and further, are not taken any more (RFC 6479, section 2: all blocks but one).
pub(crate) const WINDOW: u64 = BLOCK * (BLOCKS - 1);

/// The counters that have been seen from one sender.
#[derive(Clone, Debug)]
pub struct Window {
    /// None below is taken.
    floor: u64,
    /// The highest that has come; the floor before any has.
    top: u64,
    /// A bit for each counter of the last [`BLOCKS`] blocks, modulo that.
    seen: [u64; BLOCKS as usize],
}

impl Window {
    /// A window in which nothing has come, of a sender whose counters below `floor` are not taken.
    pub(crate) const fn new(floor: u64) -> Self {
        Self { floor, top: floor, seen: [0; BLOCKS as usize] }
    }

    /// From now on no counter below `floor` is taken.
    pub(crate) fn raise(&mut self, floor: u64) {
        self.floor = self.floor.max(floor);
    }

    /// Whether this counter would not be taken any more.
    pub(crate) fn has_come(&self, counter: u64) -> bool {
        !self.clone().accept(counter)
    }

    /// Whether this counter comes for the first time, as far as can be told; if so, it has come now.
    pub(crate) fn accept(&mut self, counter: u64) -> bool {
        if counter < self.floor || self.top.saturating_sub(counter) >= WINDOW {
            return false;
        }
        let (block, top) = (counter / BLOCK, self.top / BLOCK);
        if block > top {
            for passed in top + 1..=block.min(top + BLOCKS) {
                self.seen[(passed % BLOCKS) as usize] = 0;
            }
        }
        self.top = self.top.max(counter);
        let (bits, bit) = (&mut self.seen[(block % BLOCKS) as usize], 1 << (counter % BLOCK));
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_counter_is_taken_once_in_any_order() {
        let mut window = Window::new(0);
        for counter in [3, 0, 7, 1, 2, 447, 446] {
            assert!(window.accept(counter), "{counter}");
            assert!(!window.accept(counter), "{counter} again");
        }
    }

    #[test]
    fn what_is_far_behind_is_refused() {
        let mut window = Window::new(0);
        assert!(window.accept(WINDOW));
        assert!(!window.accept(0), "as far behind as the window is long");
        assert!(window.accept(1), "one less");
    }

    #[test]
    fn nothing_below_the_floor_is_taken() {
        let mut window = Window::new(1000);
        assert!(!window.accept(999));
        assert!(window.accept(1000));
        window.raise(1200);
        window.raise(1100);
        assert!(window.has_come(1199) && !window.accept(1199));
        assert!(!window.has_come(1200) && window.accept(1200));
        assert!(window.has_come(1200));
    }

    #[test]
    fn a_leap_forgets_what_is_behind_and_nothing_wraps() {
        let mut window = Window::new(0);
        assert!(window.accept(5));
        // The same place in the bitmap, many turns later.
        assert!(window.accept(5 + BLOCK * BLOCKS * 1000));
        assert!(!window.accept(5));
        assert!(window.accept(u64::MAX));
        assert!(!window.accept(u64::MAX));
        assert!(window.accept(u64::MAX - 1));
    }

    proptest! {
        /// Against a set that remembers everything.
        #[test]
        fn it_takes_what_a_perfect_memory_would_take(
            floor in 0u64..600,
            steps in proptest::collection::vec((-600i64..900, any::<bool>()), 1..200),
        ) {
            let (mut window, mut memory, mut at) = (Window::new(floor), BTreeSet::new(), floor as i64);
            let mut top = floor;
            for (step, stays) in steps {
                let counter = (at + step).max(0) as u64;
                let expected = counter >= floor && top.saturating_sub(counter) < WINDOW && !memory.contains(&counter);
                prop_assert_eq!(window.accept(counter), expected, "{} with {} on top", counter, top);
                if expected {
                    memory.insert(counter);
                    top = top.max(counter);
                }
                if !stays {
                    at = counter as i64;
                }
            }
        }
    }
}
