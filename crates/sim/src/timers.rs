//! One timer for each owner, in a tree of minima: moving one costs at most the height of the tree, and ends at the first
//! minimum that does not change. The owners are the stations or hosts of an engine, or the machines within a host.

use hopcast_protocols::time::Instant;

/// Children of a node: as many as fill a line of the processor's cache. To compare them costs less than another level.
const WIDTH: usize = 8;

/// The timers of all owners.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// The soonest of all, the value of node 1.
    first: Instant,
    /// The children of node `i` are `8 i` to `8 i + 7`; the leaf of owner `i` is `leaves + i`. Siblings are looked at together,
    /// and so they are one item: `tree[i]` holds the children of node `i`.
    tree: Vec<[Instant; WIDTH]>,
    /// A power of [`WIDTH`].
    leaves: usize,
}

impl Timers {
    /// Stands for a timer that is not set: later than all.
    pub(crate) const NEVER: Instant = Instant::MAX;

    /// `owners` timers, all unset.
    pub(crate) fn new(owners: usize) -> Self {
        let mut leaves = WIDTH;
        while leaves < owners {
            leaves *= WIDTH;
        }
        Self { first: Self::NEVER, tree: vec![[Self::NEVER; WIDTH]; 2 * leaves / WIDTH], leaves }
    }

    /// Makes room for `owners` timers; those that are there stay as they are.
    pub(crate) fn grow(&mut self, owners: usize) {
        if owners <= self.leaves {
            return;
        }
        let mut larger = Self::new(owners);
        for owner in 0..self.leaves {
            let node = self.leaves + owner;
            larger.set(owner, Some(self.tree[node / WIDTH][node % WIDTH]));
        }
        *self = larger;
    }

    /// The soonest timer, or [`Self::NEVER`].
    #[inline]
    pub(crate) fn first(&self) -> Instant {
        self.first
    }

    /// Whose the soonest timer is; among equals the lowest owner's.
    #[inline]
    pub(crate) fn first_owner(&self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            // Without branches, which nothing could predict.
            let hits =
                self.tree[node].iter().rev().fold(0_u32, |hits, time| hits << 1 | u32::from(*time == self.first));
            let child = hits.trailing_zeros() as usize;
            node = WIDTH * node + child;
        }
        node - self.leaves
    }

    /// Sets or clears `owner`'s timer.
    #[inline]
    pub(crate) fn set(&mut self, owner: usize, time: Option<Instant>) {
        let mut soonest = time.unwrap_or(Self::NEVER);
        let mut node = self.leaves + owner;
        while node > 1 {
            let siblings = &mut self.tree[node / WIDTH];
            if siblings[node % WIDTH] == soonest {
                return;
            }
            siblings[node % WIDTH] = soonest;
            let [a, b, c, d, e, f, g, h] = *siblings;
            soonest = a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)));
            node /= WIDTH;
        }
        self.first = soonest;
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
