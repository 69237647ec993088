//! One timer for each of a fixed number of owners, in a tree of minima: to move one costs at most the height of the tree,
//! and a move ends at the first minimum that it does not change.

use hopcast_protocols::time::Instant;

/// The timers of all owners.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// `tree[1]` is the soonest of all; the children of `i` are `2 i` and `2 i + 1`; the leaf of owner `i` is `leaves + i`.
    tree: Vec<Instant>,
    leaves: usize,
}

impl Timers {
    /// Stands for a timer that is not set: later than all.
    pub(super) const NEVER: Instant = Instant::MAX;

    /// `owners` timers, all unset.
    pub(super) fn new(owners: usize) -> Self {
        let leaves = owners.next_power_of_two();
        Self { tree: vec![Self::NEVER; 2 * leaves], leaves }
    }

    /// The soonest timer, or [`Self::NEVER`].
    pub(super) fn first(&self) -> Instant {
        self.tree[1]
    }

    /// Whose the soonest timer is; among equals the lowest owner's.
    pub(super) fn first_owner(&self) -> usize {
        let mut place = 1;
        while place < self.leaves {
            place *= 2;
            place += usize::from(self.tree[place] > self.tree[place + 1]);
        }
        place - self.leaves
    }

    /// Sets or clears `owner`'s timer.
    pub(super) fn set(&mut self, owner: usize, time: Option<Instant>) {
        let mut soonest = time.unwrap_or(Self::NEVER);
        let mut place = self.leaves + owner;
        self.tree[place] = soonest;
        while place > 1 {
            soonest = soonest.min(self.tree[place ^ 1]);
            place /= 2;
            if self.tree[place] == soonest {
                return;
            }
            self.tree[place] = soonest;
        }
    }

    /// Sets `owner`'s timer if it is unset or later than `time`.
    pub(super) fn set_earlier(&mut self, owner: usize, time: Instant) {
        if time < self.tree[self.leaves + owner] {
            self.set(owner, Some(time));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_soonest_and_among_equals_the_lowest(
            owners in 1_usize..40,
            moves in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(0_u64..50)), 1..200),
        ) {
            let mut timers = Timers::new(owners);
            let mut plain = vec![None; owners];
            for (owner, time) in moves {
                let owner = owner.index(owners);
                let time = time.map(Instant::from_nanos);
                timers.set(owner, time);
                plain[owner] = time;
                let soonest = plain.iter().zip(0..).filter_map(|(time, owner)| time.map(|time| (time, owner))).min();
                prop_assert_eq!(timers.first(), soonest.map_or(Timers::NEVER, |(time, _)| time));
                if let Some((_, owner)) = soonest {
                    prop_assert_eq!(timers.first_owner(), owner);
                }
            }
        }
    }
}
