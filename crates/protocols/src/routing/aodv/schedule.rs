use std::collections::BTreeSet;

use crate::time::Instant;

/// What is due when: at one instant by key.
#[derive(Debug)]
pub(super) struct Schedule<K> {
    entries: BTreeSet<(Instant, K)>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self { entries: BTreeSet::new() }
    }
}

impl<K: Ord + Copy> Schedule<K> {
    /// Adds an entry. Whoever adds it knows the instant, should it have to be removed.
    pub(super) fn insert(&mut self, at: Instant, key: K) {
        self.entries.insert((at, key));
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, at: Instant, key: K) {
        self.entries.remove(&(at, key));
    }

    /// When the first entry is due.
    pub(super) fn first(&self) -> Option<Instant> {
        self.entries.first().map(|&(at, _)| at)
    }

    /// Takes the first entry that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<K> {
        if self.first()? > now {
            return None;
        }
        self.entries.pop_first().map(|(_, key)| key)
    }
}
