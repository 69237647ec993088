//! A Route Cache of whole paths (RFC 4728, 4.1; Broch et al., MobiCom 1998).

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use super::super::config::Rules;
use super::{Learned, MAX_HOPS, Route};
use crate::time::{Duration, Instant};

/// Number of a path in the cache.
type Number = u32;

#[derive(Debug)]
struct Path {
    /// The nodes behind the owner of the cache.
    nodes: Box<[Ipv4Addr]>,
    is_last_external: bool,
    /// Of those that have not been looked for, used or asked for by the owner.
    is_secondary: bool,
    expires: Instant,
    /// Counts uses of the cache: when the path was last learned or used; under ns-2's rules, when it came to its place.
    used: u64,
}

/// Paths from the owner of the cache. What leads to a destination is any path, or beginning of a path, that ends there.
///
/// Of the two sizes the first is for paths that the owner has looked for or used; one that has to make room there becomes one of
/// the others, where the path that was learned or used longest ago is given up. Under ns-2's rules (`dsr/mobicache.cc`) whatever came
/// first to its place is given up, and a link breaks in one direction.
#[derive(Debug)]
pub(in super::super) struct PathCache {
    owner: Ipv4Addr,
    primary: usize,
    secondary: usize,
    timeout: Option<Duration>,
    rules: Rules,
    paths: BTreeMap<Number, Path>,
    by_nodes: BTreeMap<Box<[Ipv4Addr]>, Number>,
    /// Node, its place in the path, whether the path is secondary, the path: the first of a node is the best.
    by_node: BTreeSet<(Ipv4Addr, u8, bool, Number)>,
    by_use: BTreeSet<(bool, u64, Number)>,
    /// How many paths are secondary.
    secondaries: usize,
    next: Number,
    uses: u64,
    additions: u64,
}

impl PathCache {
    pub(super) fn new(
        owner: Ipv4Addr,
        primary: usize,
        secondary: usize,
        timeout: Option<Duration>,
        rules: Rules,
    ) -> Self {
        Self {
            owner,
            primary,
            secondary,
            timeout,
            rules,
            paths: BTreeMap::new(),
            by_nodes: BTreeMap::new(),
            by_node: BTreeSet::new(),
            by_use: BTreeSet::new(),
            secondaries: 0,
            next: 0,
            uses: 0,
            additions: 0,
        }
    }

    /// Learns what leads away from the owner, in both directions. A path without the owner is of no use here.
    pub(super) fn add(&mut self, learned: Learned<'_>, now: Instant) {
        let Learned { nodes, is_last_external, is_wanted } = learned;
        let Some(place) = nodes.iter().position(|&node| node == self.owner) else { return };
        let backward: Vec<_> = nodes[..place].iter().rev().copied().collect();
        let forward = &nodes[place + 1..];
        let (expires, is_secondary) = (self.expiry(now), !is_wanted);
        let path = |nodes: &[Ipv4Addr], is_last_external, used| Path {
            nodes: nodes.into(),
            is_last_external,
            is_secondary,
            expires,
            used,
        };
        let used = self.next_use();
        self.insert(path(forward, is_last_external, used), now);
        // At the far end of an external hop nothing is known of the way back.
        if !(is_last_external && forward.is_empty()) {
            let used = self.next_use();
            self.insert(path(&backward, false, used), now);
        }
    }

    /// Every path that uses the link ends before it.
    pub(super) fn remove_link(&mut self, a: Ipv4Addr, b: Ipv4Addr) {
        let directions = match self.rules {
            Rules::Rfc4728 => &[(a, b), (b, a)][..],
            Rules::Ns2 => &[(a, b)],
        };
        for &(from, to) in directions {
            let of_node = (to, 0, false, 0)..=(to, u8::MAX, true, Number::MAX);
            let places: Vec<_> = self.by_node.range(of_node).map(|&(_, place, _, number)| (number, place)).collect();
            for (number, place) in places {
                let place = usize::from(place);
                let nodes = &self.paths[&number].nodes;
                if from == place.checked_sub(1).map_or(self.owner, |before| nodes[before]) {
                    let path = self.remove(number);
                    // What is left of it keeps its time, whatever that is.
                    if place > 0 {
                        let used = match self.rules {
                            Rules::Rfc4728 => self.next_use(),
                            Rules::Ns2 => path.used,
                        };
                        let nodes = path.nodes[..place].into();
                        self.insert(Path { nodes, is_last_external: false, used, ..path }, Instant::START);
                    }
                }
            }
        }
    }

    pub(super) fn search(&mut self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        let of_node = (destination, 0, false, 0)..=(destination, u8::MAX, true, Number::MAX);
        let is_expired = |number: &Number| self.paths[number].expires <= now;
        let expired: Vec<_> = self.by_node.range(of_node).map(|entry| entry.3).filter(is_expired).collect();
        for number in expired {
            self.remove(number);
        }
        self.peek(destination, now)
    }

    pub(super) fn peek(&self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        let of_node = (destination, 0, false, 0)..=(destination, u8::MAX, true, Number::MAX);
        let mut external = None;
        for &(_, place, _, number) in self.by_node.range(of_node) {
            let path = &self.paths[&number];
            if path.expires <= now {
                continue;
            }
            let hops = &path.nodes[..=usize::from(place)];
            if path.is_last_external && hops.len() == path.nodes.len() {
                external = external.or(Some(hops));
            } else {
                return Some(Route { hops: hops.to_vec(), is_last_external: false });
            }
        }
        external.map(|hops| Route { hops: hops.to_vec(), is_last_external: true })
    }

    pub(super) fn on_use(&mut self, route: &Route, now: Instant) {
        if let Some(number) = self.find_longer(&route.hops) {
            let expires = self.expiry(now);
            self.refresh(number, false, expires);
        }
    }

    pub(super) fn additions(&self) -> u64 {
        self.additions
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.paths.values().map(|path| path.nodes.len()).sum()
    }

    fn expiry(&self, now: Instant) -> Instant {
        self.timeout
            .map_or(Instant::MAX, |timeout| Instant::from_nanos(now.as_nanos().saturating_add(timeout.as_nanos())))
    }

    /// A path that begins with these nodes, or consists of them.
    fn find_longer(&self, nodes: &[Ipv4Addr]) -> Option<Number> {
        let from = (core::ops::Bound::Included(nodes), core::ops::Bound::Unbounded);
        let (longer, number) = self.by_nodes.range::<[Ipv4Addr], _>(from).next()?;
        longer.starts_with(nodes).then_some(*number)
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    fn insert(&mut self, mut path: Path, now: Instant) {
        if path.nodes.is_empty() || path.nodes.len() > MAX_HOPS {
            return;
        }
        if let Some(number) = self.find_longer(&path.nodes) {
            let known = &self.paths[&number];
            let is_better = !path.is_last_external && known.is_last_external && known.nodes.len() == path.nodes.len();
            if known.expires > now && !is_better {
                return self.refresh(number, path.is_secondary, path.expires);
            }
            // It has expired, or led through another network.
            self.remove(number);
        }
        for length in 1..path.nodes.len() {
            // What the new path begins with is in it.
            if let Some(&number) = self.by_nodes.get(&path.nodes[..length]) {
                let shorter = self.remove(number);
                // Under ns-2's rules it keeps its place where that is no worse.
                if self.rules == Rules::Ns2 && (path.is_secondary || !shorter.is_secondary) {
                    path.used = path.used.min(shorter.used);
                }
                path.is_secondary &= shorter.is_secondary;
            }
        }
        self.additions += 1;
        self.next = self.next.wrapping_add(1);
        self.enter(self.next, path);
        self.make_room();
    }

    fn refresh(&mut self, number: Number, is_secondary: bool, expires: Instant) {
        let used = self.next_use();
        let path = self.paths.get_mut(&number).expect("the indices name paths that are there");
        let is_promoted = path.is_secondary && !is_secondary;
        path.expires = path.expires.max(expires);
        if is_promoted || self.rules == Rules::Rfc4728 {
            self.by_use.remove(&(path.is_secondary, path.used, number));
            path.used = used;
            self.by_use.insert((path.is_secondary, path.used, number));
        }
        if is_promoted {
            let mut path = self.remove(number);
            path.is_secondary = false;
            self.enter(number, path);
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        if self.paths.len() - self.secondaries > self.primary {
            let (_, _, oldest) = *self.by_use.first().expect("there are more than none");
            let mut path = self.remove(oldest);
            if self.rules == Rules::Rfc4728 {
                path.is_secondary = true;
                self.enter(oldest, path);
            }
        }
        if self.secondaries > self.secondary {
            let (_, _, oldest) = *self.by_use.range((true, 0, 0)..).next().expect("there are more than none");
            self.remove(oldest);
        }
    }

    fn enter(&mut self, number: Number, path: Path) {
        self.by_nodes.insert(path.nodes.clone(), number);
        self.by_use.insert((path.is_secondary, path.used, number));
        for (place, &node) in path.nodes.iter().enumerate() {
            self.by_node.insert((node, place as u8, path.is_secondary, number));
        }
        self.secondaries += usize::from(path.is_secondary);
        self.paths.insert(number, path);
    }

    fn remove(&mut self, number: Number) -> Path {
        let path = self.paths.remove(&number).expect("the indices name paths that are there");
        self.by_nodes.remove(&path.nodes);
        self.by_use.remove(&(path.is_secondary, path.used, number));
        for (place, &node) in path.nodes.iter().enumerate() {
            self.by_node.remove(&(node, place as u8, path.is_secondary, number));
        }
        self.secondaries -= usize::from(path.is_secondary);
        path
    }
}
