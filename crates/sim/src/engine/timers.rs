//! One timer for each of a fixed number of owners, in a tree of minima: to move one costs at most the height of the tree,
//! and a move ends at the first minimum that it does not change.

use hopcast_protocols::time::Instant;

use super::{Key, Rank};

/// The timers of all owners.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    rank: Rank,
    /// `tree[1]` is the soonest of all; the children of `i` are `2 i` and `2 i + 1`; the leaf of owner `i` is `leaves + i`.
    tree: Vec<Key>,
    leaves: usize,
}

impl Timers {
    /// `owners` timers of events with this rank, all unset.
    pub(super) fn new(rank: Rank, owners: usize) -> Self {
        let leaves = owners.next_power_of_two();
        Self { rank, tree: vec![Key::LAST; 2 * leaves], leaves }
    }

    /// The place in the order of events of the soonest timer, among equals of the lowest owner; [`Key::LAST`] if none is
    /// set.
    pub(super) fn first(&self) -> Key {
        self.tree[1]
    }

    /// Sets or clears `owner`'s timer.
    pub(super) fn set(&mut self, owner: usize, time: Option<Instant>) {
        let key = time.map_or(Key::LAST, |time| Key::new(time, self.rank, owner as u64));
        let mut place = self.leaves + owner;
        self.tree[place] = key;
        while place > 1 {
            let soonest = self.tree[place].min(self.tree[place ^ 1]);
            place /= 2;
            if self.tree[place] == soonest {
                return;
            }
            self.tree[place] = soonest;
        }
    }

    /// Sets `owner`'s timer if it is unset or later than `time`.
    pub(super) fn set_earlier(&mut self, owner: usize, time: Instant) {
        if Key::new(time, self.rank, owner as u64) < self.tree[self.leaves + owner] {
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
            let mut timers = Timers::new(Rank::Host, owners);
            let mut plain = vec![None; owners];
            for (owner, time) in moves {
                let owner = owner.index(owners);
                let time = time.map(Instant::from_nanos);
                timers.set(owner, time);
                plain[owner] = time;
                let keys = plain.iter().zip(0..).filter_map(|(time, owner)| time.map(|time| Key::new(time, Rank::Host, owner)));
                prop_assert_eq!(timers.first(), keys.min().unwrap_or(Key::LAST));
            }
        }
    }
}
