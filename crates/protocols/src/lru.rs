//! A table with a fixed number of places, where what was used longest ago makes room.

use std::collections::BTreeMap;

/// A table of at most `capacity` entries. Each operation takes O(log n).
#[derive(Debug)]
pub(crate) struct Lru<K, V> {
    capacity: usize,
    entries: BTreeMap<K, (u64, V)>,
    /// By the number of the last use.
    order: BTreeMap<u64, K>,
    uses: u64,
}

impl<K: Ord + Copy, V> Lru<K, V> {
    /// An empty table. A capacity of zero counts as one.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), entries: BTreeMap::new(), order: BTreeMap::new(), uses: 0 }
    }

    /// The entry, without using it.
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// The entry, which is used by that.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let (used, value) = self.entries.get_mut(key)?;
        self.order.remove(used);
        self.uses += 1;
        *used = self.uses;
        self.order.insert(self.uses, *key);
        Some(value)
    }

    /// Makes or replaces an entry; the one that had to make room, if there was one.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if let Some(entry) = self.get_mut(&key) {
            *entry = value;
            return None;
        }
        let full = self.entries.len() >= self.capacity;
        let evicted = full.then(|| {
            let (_, oldest) = self.order.pop_first().expect("a full table has an oldest entry");
            let (_, value) = self.entries.remove(&oldest).expect("both maps hold the same entries");
            (oldest, value)
        });
        self.uses += 1;
        self.entries.insert(key, (self.uses, value));
        self.order.insert(self.uses, key);
        evicted
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let (used, value) = self.entries.remove(key)?;
        self.order.remove(&used);
        Some(value)
    }

    /// All entries.
    #[cfg(test)]
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.values().map(|(_, value)| value)
    }

    /// How many entries there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let mut table = Lru::new(2);
        assert_eq!(table.insert(1, 'a'), None);
        assert_eq!(table.insert(2, 'b'), None);
        assert_eq!(table.get_mut(&1).copied(), Some('a'));
        assert_eq!(table.insert(3, 'c'), Some((2, 'b')));
        assert_eq!(table.get(&1), Some(&'a'));
        assert_eq!(table.insert(1, 'd'), None);
        assert_eq!((table.remove(&1), table.remove(&1)), (Some('d'), None));
        assert_eq!(table.insert(4, 'e'), None);
        assert_eq!(table.len(), 2);
    }
}
