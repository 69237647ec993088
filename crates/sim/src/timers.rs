//! One timer for each owner, in a tree of minima: to move one costs at most the height of the tree, and a move ends at the
//! first minimum that it does not change. The owners are the stations or hosts of an engine, or the machines within a host.

use hopcast_protocols::time::Instant;

/// The timers of all owners.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// `tree[1]` is the soonest of all; the children of `i` are `2 i` and `2 i + 1`; the leaf of owner `i` is `leaves + i`.
    tree: Vec<Instant>,
    leaves: usize,
}

impl Timers {
    /// Stands for a timer that is not set: later than all.
    pub(crate) const NEVER: Instant = Instant::MAX;

    /// `owners` timers, all unset.
    pub(crate) fn new(owners: usize) -> Self {
        let leaves = owners.next_power_of_two();
        Self { tree: vec![Self::NEVER; 2 * leaves], leaves }
    }

    /// Makes room for `owners` timers; those that are there stay as they are.
    pub(crate) fn grow(&mut self, owners: usize) {
        if owners <= self.leaves {
            return;
        }
        let mut larger = Self::new(owners);
        for (owner, &time) in self.tree[self.leaves..].iter().enumerate() {
            larger.set_earlier(owner, time);
        }
        *self = larger;
    }

    /// The soonest timer, or [`Self::NEVER`].
    pub(crate) fn first(&self) -> Instant {
        self.tree[1]
    }

    /// Whose the soonest timer is; among equals the lowest owner's.
    pub(crate) fn first_owner(&self) -> usize {
        let mut place = 1;
        while place < self.leaves {
            place *= 2;
            place += usize::from(self.tree[place] > self.tree[place + 1]);
        }
        place - self.leaves
    }

    /// Sets or clears `owner`'s timer.
    pub(crate) fn set(&mut self, owner: usize, time: Option<Instant>) {
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
    pub(crate) fn set_earlier(&mut self, owner: usize, time: Instant) {
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

        #[test]
        fn growing_keeps_the_timers_and_makes_room(
            times in prop::collection::vec(prop::option::of(0_u64..50), 1..20),
            more in 0_usize..40,
        ) {
            let times: Vec<_> = times.into_iter().map(|time| time.map(Instant::from_nanos)).collect();
            let owners = times.len() + more;
            let (mut grown, mut whole) = (Timers::new(times.len()), Timers::new(owners));
            for (owner, &time) in times.iter().enumerate() {
                grown.set(owner, time);
                whole.set(owner, time);
            }
            grown.grow(owners);
            for timers in [&mut grown, &mut whole] {
                timers.set(owners - 1, Some(Instant::from_nanos(25)));
            }
            // One after the other, until none is left.
            while grown.first() < Timers::NEVER || whole.first() < Timers::NEVER {
                prop_assert_eq!((grown.first(), grown.first_owner()), (whole.first(), whole.first_owner()));
                for timers in [&mut grown, &mut whole] {
                    timers.set(timers.first_owner(), None);
                }
            }
        }
    }
}
