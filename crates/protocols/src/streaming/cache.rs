//! Which clips or blocks a device keeps of those that it has displayed, if its storage has not room for all.
//!
//! Policies: least recently used; least frequently used, of equal ones the one that was not used for longest; and GreedyDual-Frequency: the priority of
//! an object is the device's clock plus its number of uses divided by its size, the least goes first, and the clock becomes its priority
//! (Cherkasova, "Improving WWW proxies performance with Greedy-Dual-Size-Frequency caching policy", HPL-98-69R1, 1998, with equal costs; after Young,
//! "The k-server dual and loose competitiveness for paging", Algorithmica 11, 1994). What is being sent to others is not dropped.

use std::collections::BTreeMap;

use super::carrier;

/// What goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// What was used longest ago.
    Lru,
    /// What was used least often.
    Lfu,
    /// What has the lowest sum of age and of uses for each byte.
    GreedyDualFrequency,
}

/// What a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// What goes first.
    pub policy: Policy,
    /// Room in bytes.
    pub capacity: u64,
    /// How the device fetches what others look for without success; `None`: it does not.
    pub carry: Option<carrier::Config>,
}

/// A cache of whole objects.
#[derive(Clone, Debug)]
pub struct Cache {
    policy: Policy,
    capacity: u64,
    used: u64,
    /// Inserted and used so far.
    steps: u64,
    /// Priority of what was dropped last.
    clock: f64,
    objects: BTreeMap<u32, Object>,
    /// Uses of all objects that were ever here.
    uses: BTreeMap<u32, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Object {
    size: u64,
    last: u64,
    priority: f64,
}

impl Cache {
    /// An empty cache.
    pub fn new(config: Config) -> Self {
        let Config { policy, capacity, .. } = config;
        Self { policy, capacity, used: 0, steps: 0, clock: 0.0, objects: BTreeMap::new(), uses: BTreeMap::new() }
    }

    /// Whether an object is here.
    pub fn contains(&self, object: u32) -> bool {
        self.objects.contains_key(&object)
    }

    /// Bytes of all objects.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// An object that is here was used.
    pub fn handle_use(&mut self, object: u32) {
        if let Some(&Object { size, .. }) = self.objects.get(&object) {
            self.touch(object, size);
        }
    }

    /// An object of `size` bytes has come. Returns what was dropped for it; the object itself if there is no room. `is_pinned` tells what must stay.
    pub fn handle_object(&mut self, object: u32, size: u64, is_pinned: impl Fn(u32) -> bool) -> Vec<u32> {
        if self.contains(object) {
            self.handle_use(object);
            return Vec::new();
        }
        let may_go: Vec<u32> = self.objects.keys().copied().filter(|&other| !is_pinned(other)).collect();
        let least: u64 = self.used - may_go.iter().map(|other| self.objects[other].size).sum::<u64>();
        if least.saturating_add(size) > self.capacity {
            return vec![object];
        }
        let mut dropped = Vec::new();
        while self.used + size > self.capacity {
            let rank = |other: &u32| {
                let Object { last, priority, .. } = self.objects[other];
                let uses = self.uses.get(other).copied().unwrap_or_default();
                let key = match self.policy {
                    Policy::Lru => 0.0,
                    Policy::Lfu => uses as f64,
                    Policy::GreedyDualFrequency => priority,
                };
                (key, last)
            };
            let left = may_go.iter().filter(|other| self.objects.contains_key(other));
            let order = |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            let Some(&first) = left.min_by(|a, b| order(&rank(a), &rank(b))) else { break };
            let gone = self.objects.remove(&first).expect("it is here");
            self.used -= gone.size;
            if self.policy == Policy::GreedyDualFrequency {
                self.clock = gone.priority;
            }
            dropped.push(first);
        }
        self.used += size;
        self.touch(object, size);
        dropped
    }

    fn touch(&mut self, object: u32, size: u64) {
        self.steps += 1;
        let uses = self.uses.entry(object).or_default();
        *uses += 1;
        let priority = self.clock + *uses as f64 / size.max(1) as f64;
        self.objects.insert(object, Object { size, last: self.steps, priority });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Room for three of the objects, each of 10 bytes.
    fn cache(policy: Policy) -> Cache {
        Cache::new(Config { policy, capacity: 30, carry: None })
    }

    fn insert(cache: &mut Cache, object: u32) -> Vec<u32> {
        cache.handle_object(object, 10, |_| false)
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut cache = cache(Policy::Lru);
        assert!((1..=3).all(|object| insert(&mut cache, object).is_empty()));
        cache.handle_use(1);
        assert_eq!((insert(&mut cache, 4), insert(&mut cache, 5)), (vec![2], vec![3]));
        assert!(cache.contains(1) && cache.used() == 30);
        assert_eq!(insert(&mut cache, 5), [], "it is here");
    }

    #[test]
    fn what_was_used_least_often_goes_first_and_uses_are_remembered() {
        let mut cache = cache(Policy::Lfu);
        (1..=3).for_each(|object| _ = insert(&mut cache, object));
        for object in [1, 1, 3] {
            cache.handle_use(object);
        }
        assert_eq!(insert(&mut cache, 4), [2]);
        // 2 has been used once before: with now two uses it ties with 3, which was used before it.
        assert_eq!(insert(&mut cache, 2), [4]);
        assert_eq!(insert(&mut cache, 5), [3]);
    }

    /// By hand: two uses of 20 bytes are 0.1, one of 10 bytes is 0.1, one of 5 is 0.2. The first of the equal ones was used before, and goes. Then the
    /// clock is 0.1, and a new object of 20 bytes has 0.15. The next one in turn is that of 10 bytes with 0.1.
    #[test]
    fn greedy_dual_weighs_uses_against_size_and_ages() {
        let mut cache = Cache::new(Config { policy: Policy::GreedyDualFrequency, capacity: 40, carry: None });
        let insert = |cache: &mut Cache, object, size| cache.handle_object(object, size, |_| false);
        insert(&mut cache, 1, 20);
        cache.handle_use(1);
        insert(&mut cache, 2, 10);
        insert(&mut cache, 3, 5);
        assert_eq!(insert(&mut cache, 4, 20), [1]);
        assert_eq!(insert(&mut cache, 5, 10), [2]);
        // 4 has 0.1 + 1/20 = 0.15, 3 has 0.2, 5 has 0.1 + 1/10 = 0.2.
        assert_eq!(insert(&mut cache, 6, 20), [4]);
    }

    #[test]
    fn what_is_sent_stays_and_what_does_not_fit_is_not_kept() {
        let mut cache = cache(Policy::Lru);
        (1..=3).for_each(|object| _ = insert(&mut cache, object));
        assert_eq!(cache.handle_object(4, 10, |object| object == 1), [2]);
        assert_eq!(cache.handle_object(5, 31, |_| false), [5]);
        assert_eq!(cache.handle_object(5, 20, |object| object != 4), [5]);
        assert_eq!((cache.used(), cache.contains(1), cache.contains(5)), (30, true, false));
    }

    proptest! {
        /// The cache never has more than its capacity, what is pinned is never dropped, and what is reported as dropped is gone.
        #[test]
        fn a_cache_keeps_its_bounds(
            policy in prop::sample::select(vec![Policy::Lru, Policy::Lfu, Policy::GreedyDualFrequency]),
            steps in prop::collection::vec((0_u32..12, 1_u64..40, any::<bool>()), 0..120),
            pinned in 0_u32..12,
        ) {
            let mut cache = Cache::new(Config { policy, capacity: 100, carry: None });
            let mut here: BTreeMap<u32, u64> = BTreeMap::new();
            for (object, size, is_use) in steps {
                if is_use {
                    cache.handle_use(object);
                } else {
                    here.entry(object).or_insert(size);
                    for gone in cache.handle_object(object, size, |other| other == pinned) {
                        prop_assert!(gone != pinned || gone == object);
                        here.remove(&gone);
                    }
                }
                prop_assert!(cache.used() <= 100);
                prop_assert_eq!(cache.used(), here.values().sum::<u64>());
                prop_assert!(here.keys().all(|&object| cache.contains(object)));
            }
        }
    }
}
