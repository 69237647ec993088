use std::collections::BTreeSet;

use crate::time::Instant;

/// What is due when: at one instant by key.
#[derive(Debug)]
pub(super) struct Schedule<K> {
    entries: BTreeSet<(Instant, K)>,
    /// When the first is due. It is asked for with each message, and to find it in the tree costs what the message does.
    first: Option<Instant>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self { entries: BTreeSet::new(), first: None }
    }
}

impl<K: Ord + Copy> Schedule<K> {
    /// Adds an entry. Whoever adds it knows the instant, should it have to be removed.
    pub(super) fn insert(&mut self, at: Instant, key: K) {
        self.entries.insert((at, key));
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, at: Instant, key: K) {
        self.entries.remove(&(at, key));
        if self.first == Some(at) {
            self.find_first();
        }
    }

    /// When the first entry is due.
    pub(super) fn first(&self) -> Option<Instant> {
        self.first
    }

    /// Takes the first entry that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<K> {
        if self.first? > now {
            return None;
        }
        let (_, key) = self.entries.pop_first()?;
        self.find_first();
        Some(key)
    }

    fn find_first(&mut self) {
        self.first = self.entries.first().map(|&(at, _)| at);
    }
}
