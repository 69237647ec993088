//! The timers of a host: one slot for each machine, and the earliest of them at hand.

use hopcast_protocols::time::Instant;

/// A tournament tree: changing one of n slots takes log₂ n steps, the earliest is at the root.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// Node k has the children 2k and 2k + 1; the slots are the leaves, the root is node 1.
    nodes: Vec<Instant>,
    leaves: usize,
}

impl Timers {
    pub(super) fn new(slots: usize) -> Self {
        let leaves = slots.max(1).next_power_of_two();
        Self { nodes: vec![Instant::MAX; 2 * leaves], leaves }
    }

    /// Makes place for `slots` slots; those that are there keep their timers.
    pub(super) fn grow(&mut self, slots: usize) {
        if slots <= self.leaves {
            return;
        }
        let mut larger = Self::new(slots);
        for slot in 0..self.leaves {
            larger.set(slot, Some(self.nodes[self.leaves + slot]));
        }
        *self = larger;
    }

    /// Sets or clears the timer of a slot.
    pub(super) fn set(&mut self, slot: usize, at: Option<Instant>) {
        let mut node = self.leaves + slot;
        self.nodes[node] = at.unwrap_or(Instant::MAX);
        while node > 1 {
            node /= 2;
            let earliest = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == earliest {
                break;
            }
            self.nodes[node] = earliest;
        }
    }

    /// The earliest timer.
    pub(super) fn earliest(&self) -> Option<Instant> {
        Some(self.nodes[1]).filter(|&at| at < Instant::MAX)
    }

    /// A slot whose timer is due at `now`: the earliest, among equals the lowest slot.
    pub(super) fn due(&self, now: Instant) -> Option<usize> {
        let earliest = self.earliest().filter(|&at| at <= now)?;
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.nodes[node] != earliest);
        }
        Some(node - self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_list(
            slots in 1_usize..20,
            changes in prop::collection::vec((0_usize..20, prop::option::of(0_u64..50)), 1..60),
        ) {
            let mut timers = Timers::new(slots);
            let mut list = vec![None; slots];
            for (slot, at) in changes {
                let (slot, at) = (slot % slots, at.map(Instant::from_nanos));
                timers.set(slot, at);
                list[slot] = at;
                let earliest = list.iter().flatten().min().copied();
                prop_assert_eq!(timers.earliest(), earliest);
                let due = earliest.filter(|&at| at <= Instant::from_nanos(25));
                prop_assert_eq!(timers.due(Instant::from_nanos(25)), due.and_then(|e| list.iter().position(|&at| at == Some(e))));
            }
        }
    }
}
