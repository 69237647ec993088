//! One timer for each of a fixed number of owners, in a tournament tree: to move one costs at most the height of the
//! tree, and most moves end at the first match that they do not decide.

use hopcast_protocols::time::Instant;

/// The timers of all owners.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// By owner; [`NEVER`] is unset.
    times: Vec<Instant>,
    /// `winners[1]` is the owner of the soonest timer; the children of `i` are `2 i` and `2 i + 1`; owners are the leaves.
    winners: Vec<u32>,
    leaves: usize,
}

const NEVER: Instant = Instant::MAX;

impl Timers {
    /// `owners` timers, all unset.
    pub(super) fn new(owners: usize) -> Self {
        let leaves = owners.next_power_of_two().max(2);
        let mut winners = vec![0; leaves];
        for node in (1..leaves).rev() {
            let child = 2 * node;
            winners[node] = if child >= leaves { (child - leaves) as u32 } else { winners[child] };
        }
        Self { times: vec![NEVER; leaves], winners, leaves }
    }

    /// The soonest timer and its owner; among equals the lowest owner.
    pub(super) fn first(&self) -> Option<(Instant, usize)> {
        let owner = self.winners[1] as usize;
        let time = self.times[owner];
        (time != NEVER).then_some((time, owner))
    }

    /// When `owner`'s timer is due.
    pub(super) fn get(&self, owner: usize) -> Option<Instant> {
        let time = self.times[owner];
        (time != NEVER).then_some(time)
    }

    /// Sets or clears `owner`'s timer.
    pub(super) fn set(&mut self, owner: usize, time: Option<Instant>) {
        let time = time.unwrap_or(NEVER);
        if self.times[owner] == time {
            return;
        }
        self.times[owner] = time;
        let mut node = (self.leaves + owner) / 2;
        while node >= 1 {
            let before = self.winners[node] as usize;
            let winner = self.play(node);
            self.winners[node] = winner as u32;
            // A match that `owner` has neither won before nor wins now leaves those above as they were.
            if winner == before && winner != owner {
                return;
            }
            node /= 2;
        }
    }

    /// The winner of the match at `node`.
    fn play(&self, node: usize) -> usize {
        let child = 2 * node;
        let (left, right) = if child >= self.leaves {
            (child - self.leaves, child + 1 - self.leaves)
        } else {
            (self.winners[child] as usize, self.winners[child + 1] as usize)
        };
        if self.times[left] <= self.times[right] { left } else { right }
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
                let soonest = plain.iter().enumerate().filter_map(|(owner, time)| time.map(|time| (time, owner))).min();
                prop_assert_eq!(timers.first(), soonest);
                prop_assert_eq!(timers.get(owner), time);
            }
        }
    }
}
