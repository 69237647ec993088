//! A table that finds what belongs to a number, in one step however many there are.
//!
//! It has no order that a result could depend on: what is taken out of it as a whole comes sorted.

use hashbrown::HashTable;

use crate::random::mix;

/// What belongs to each number.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<V> {
    entries: HashTable<(u64, V)>,
    /// Not known to who sends the numbers, so that none can be chosen to share their places.
    secret: u64,
}

impl<V> Lookup<V> {
    pub(crate) fn new(secret: u64) -> Self {
        Self { entries: HashTable::new(), secret }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        self.entries.find(hash(self.secret, key), |entry| entry.0 == key).map(|(_, value)| value)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        self.entries.find_mut(hash(self.secret, key), |entry| entry.0 == key).map(|(_, value)| value)
    }

    /// Enters a number with its value; false, and nothing is changed, if it is there.
    #[inline]
    pub(crate) fn insert(&mut self, key: u64, value: V) -> bool {
        let secret = self.secret;
        let place = self.entries.entry(hash(secret, key), |entry| entry.0 == key, |entry| hash(secret, entry.0));
        match place {
            hashbrown::hash_table::Entry::Occupied(_) => false,
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert((key, value));
                true
            }
        }
    }

    /// Forgets a number; its value, if it was there.
    pub(crate) fn remove(&mut self, key: u64) -> Option<V> {
        let found = self.entries.find_entry(hash(self.secret, key), |entry| entry.0 == key).ok()?;
        Some(found.remove().0.1)
    }

    /// Those that `is_meant`, in the order of their numbers.
    pub(crate) fn sorted(&self, is_meant: impl Fn(&V) -> bool) -> Vec<(u64, &V)> {
        let meant = self.entries.iter().filter(|(_, value)| is_meant(value));
        let mut meant: Vec<_> = meant.map(|(key, value)| (*key, value)).collect();
        meant.sort_unstable_by_key(|(key, _)| *key);
        meant
    }
}

fn hash(secret: u64, key: u64) -> u64 {
    mix(secret ^ key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_a_map_in_order_finds(
            secret: u64,
            steps in prop::collection::vec((0_u64..40, any::<u8>(), 0_u8..3), 0..400),
        ) {
            let (mut lookup, mut map) = (Lookup::new(secret), BTreeMap::new());
            for (key, value, step) in steps {
                match step {
                    0 => {
                        let is_new = !map.contains_key(&key);
                        prop_assert_eq!(lookup.insert(key, value), is_new);
                        map.entry(key).or_insert(value);
                    }
                    1 => prop_assert_eq!(lookup.remove(key), map.remove(&key)),
                    _ => prop_assert_eq!(
                        lookup.get_mut(key).map(|known| std::mem::replace(known, value)),
                        map.get_mut(&key).map(|known| std::mem::replace(known, value)),
                    ),
                }
                prop_assert_eq!(lookup.get(key), map.get(&key));
                prop_assert_eq!(lookup.len(), map.len());
            }
            let even = |value: &u8| value.is_multiple_of(2);
            let expected: Vec<_> = map.iter().filter(|(_, value)| even(value)).map(|(key, value)| (*key, value)).collect();
            prop_assert_eq!(lookup.sorted(even), expected);
        }
    }
}
