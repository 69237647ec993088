//! What is to happen, in the order of time.

use std::collections::BTreeMap;
use std::collections::btree_map::OccupiedEntry;

use crate::time::Instant;

/// Items in the order of their instants; those of one instant come in the order in which they were inserted.
#[derive(Clone, Debug)]
pub struct Agenda<T> {
    inserted: u64,
    items: BTreeMap<(Instant, u64), T>,
}

impl<T> Agenda<T> {
    /// An agenda without items.
    pub const fn new() -> Self {
        Self { inserted: 0, items: BTreeMap::new() }
    }

    /// Enters an item for the instant `at`.
    pub fn insert(&mut self, at: Instant, item: T) {
        self.inserted += 1;
        self.items.insert((at, self.inserted), item);
    }

    /// The instant of the first item.
    pub fn next(&self) -> Option<Instant> {
        self.items.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Takes the first item out, if its instant is `now` or before.
    pub fn pop(&mut self, now: Instant) -> Option<T> {
        self.items.first_entry().filter(|entry| entry.key().0 <= now).map(OccupiedEntry::remove)
    }

    /// Items in the agenda.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self::new()
    }
}
