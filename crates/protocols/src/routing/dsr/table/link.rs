//! A Route Cache of links (RFC 4728, 4.1 and appendix A; Hu and Johnson, MobiCom 2000).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use super::super::config::{Lifetime, MaxLife};
use super::{Learned, MAX_HOPS, Route};
use crate::lru::Lru;
use crate::time::{Duration, Instant};

/// A link from one node to another.
type Ends = (Ipv4Addr, Ipv4Addr);

#[derive(Clone, Copy, Debug)]
struct Link {
    expires: Instant,
    /// When it was last learned, or part of a route that the owner used.
    touched: Instant,
    /// Its instant in `by_touch`: at most `touched`, which may have moved on since.
    listed: Instant,
    /// When it was last part of a route that the owner used.
    used: Option<Instant>,
    is_external: bool,
}

/// Where a node stands in the tree of shortest routes.
#[derive(Clone, Copy, Debug)]
struct Place {
    hops: usize,
    parent: Ipv4Addr,
    /// When the first link on the way there expires.
    lifetime: Instant,
}

/// Links, of which a breadth-first search makes the shortest routes. Among routes of equal length it takes the one whose first
/// link to expire lasts longest, as Link-MaxLife does.
///
/// The tree of routes to all nodes is kept from one search to the next. A new link changes it where it makes routes
/// shorter; if one of the tree's links went, it is made again. So routes are always the shortest, and ties are decided
/// when the tree is made.
#[derive(Debug)]
pub(in super::super) struct LinkCache {
    owner: Ipv4Addr,
    capacity: usize,
    lifetime: Lifetime,
    links: BTreeMap<Ends, Link>,
    by_touch: BTreeSet<(Instant, Ends)>,
    /// External links by their far ends.
    external: BTreeSet<Ends>,
    /// The Stability Table. Nodes that are not there are as stable as at the beginning.
    stability: Lru<Ipv4Addr, Duration>,
    tree: BTreeMap<Ipv4Addr, Place>,
    is_tree_right: bool,
    additions: u64,
}

impl LinkCache {
    pub(super) fn new(owner: Ipv4Addr, capacity: usize, lifetime: Lifetime) -> Self {
        Self {
            owner,
            capacity: capacity.max(1),
            lifetime,
            links: BTreeMap::new(),
            by_touch: BTreeSet::new(),
            external: BTreeSet::new(),
            stability: Lru::new(capacity),
            tree: BTreeMap::new(),
            is_tree_right: false,
            additions: 0,
        }
    }

    pub(super) fn add(&mut self, learned: Learned<'_>, now: Instant) {
        let last = learned.nodes.len() - 2;
        for (place, pair) in learned.nodes.windows(2).enumerate() {
            let is_external = learned.is_last_external && place == last;
            self.add_link((pair[0], pair[1]), is_external, now);
            if !is_external {
                self.add_link((pair[1], pair[0]), false, now);
            }
        }
    }

    pub(super) fn remove_link(&mut self, a: Ipv4Addr, b: Ipv4Addr) {
        let (forward, backward) = (self.remove((a, b)), self.remove((b, a)));
        if let Lifetime::Adaptive(MaxLife { init_stability, stability_decr_divisor, .. }) = self.lifetime
            && (forward || backward)
        {
            for node in [a, b] {
                let stability = self.stability.get(&node).copied().unwrap_or(init_stability);
                self.stability.insert(node, stability / stability_decr_divisor.max(1));
            }
        }
    }

    pub(super) fn search(&mut self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        loop {
            if !self.is_tree_right {
                self.tree = self.shortest_routes(now);
                self.is_tree_right = true;
            }
            let route = self.route(&self.tree, destination, now)?;
            let nodes = core::iter::once(self.owner).chain(route.hops.iter().copied());
            let expired = nodes.zip(route.hops.iter().copied()).find(|ends| self.links[ends].expires <= now);
            match expired {
                None => return Some(route),
                Some(ends) => self.remove(ends),
            };
        }
    }

    pub(super) fn peek(&self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        self.route(&self.shortest_routes(now), destination, now)
    }

    /// Appendix A: the ends of links that are used grow stable, and the links last.
    pub(super) fn on_use(&mut self, route: &Route, now: Instant) {
        let mut from = self.owner;
        for &to in &route.hops {
            let link = self.links.get_mut(&(from, to)).expect("the search has just found it");
            match self.lifetime {
                Lifetime::Fixed(timeout) => link.expires = after(now, timeout),
                Lifetime::Adaptive(MaxLife { init_stability, stability_incr_factor, use_extends, .. }) => {
                    link.expires = link.expires.max(after(now, use_extends));
                    // The first use tells nothing about the time before.
                    let since = link.used.map_or(Duration::ZERO, |used| now.saturating_since(used));
                    let gain = Duration::from_nanos(since.as_nanos().saturating_mul(stability_incr_factor));
                    if gain > Duration::ZERO {
                        for node in [from, to] {
                            let stability = self.stability.get(&node).copied().unwrap_or(init_stability);
                            self.stability.insert(node, stability.saturating_add(gain));
                        }
                    }
                }
            }
            (link.used, link.touched) = (Some(now), now);
            from = to;
        }
    }

    pub(super) fn additions(&self) -> u64 {
        self.additions
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        assert_eq!(self.links.len(), self.by_touch.len());
        2 * self.links.len() + self.stability.len()
    }

    fn lifetime_of(&self, (from, to): Ends) -> Duration {
        match self.lifetime {
            Lifetime::Fixed(timeout) => timeout,
            Lifetime::Adaptive(MaxLife { init_stability, min_lifetime, .. }) => {
                let stability = |node| self.stability.get(&node).copied().unwrap_or(init_stability);
                stability(from).min(stability(to)).max(min_lifetime)
            }
        }
    }

    fn add_link(&mut self, ends: Ends, is_external: bool, now: Instant) {
        let expires = after(now, self.lifetime_of(ends));
        if let Some(link) = self.links.get_mut(&ends) {
            // One that leads through the network itself is better.
            if link.expires > now && (is_external || !link.is_external) {
                (link.expires, link.touched) = (link.expires.max(expires), now);
                return;
            }
            self.remove(ends);
        }
        if self.links.len() >= self.capacity {
            self.make_room();
        }
        self.links.insert(ends, Link { expires, touched: now, listed: now, used: None, is_external });
        self.by_touch.insert((now, ends));
        self.additions += 1;
        let (from, to) = ends;
        if is_external {
            self.external.insert((to, from));
        } else if self.is_tree_right {
            self.shorten(ends, now);
        }
    }

    /// A new link may bring its far end nearer, and what lies behind that.
    fn shorten(&mut self, ends: Ends, now: Instant) {
        let mut pending = VecDeque::from([ends]);
        while let Some((parent, node)) = pending.pop_front() {
            let Some(near) = self.tree.get(&parent) else { continue };
            let (hops, link) = (near.hops + 1, &self.links[&(parent, node)]);
            if self.tree.get(&node).is_some_and(|far| far.hops <= hops) {
                continue;
            }
            let lifetime = near.lifetime.min(link.expires);
            self.tree.insert(node, Place { hops, parent, lifetime });
            let behind = self.links_of(node).filter(|(_, link)| !link.is_external && link.expires > now);
            pending.extend(behind.map(|(next, _)| (node, next)));
        }
    }

    /// Where the links of a node lead.
    fn links_of(&self, node: Ipv4Addr) -> impl Iterator<Item = (Ipv4Addr, &Link)> {
        let from_here = (node, Ipv4Addr::UNSPECIFIED)..=(node, Ipv4Addr::BROADCAST);
        self.links.range(from_here).map(|(&(_, to), link)| (to, link))
    }

    /// Whether there was one.
    fn remove(&mut self, ends: Ends) -> bool {
        let Some(link) = self.links.remove(&ends) else { return false };
        self.by_touch.remove(&(link.listed, ends));
        let (from, to) = ends;
        if link.is_external {
            self.external.remove(&(to, from));
        } else {
            self.is_tree_right &= self.tree.get(&to).is_none_or(|place| place.hops == 0 || place.parent != from);
        }
        true
    }

    /// Gives up the link that was learned or used longest ago. What expires first may have been learned just now, and be wanted.
    fn make_room(&mut self) {
        while let Some((listed, ends)) = self.by_touch.first().copied() {
            let link = self.links.get_mut(&ends).expect("what is listed is there");
            if link.touched == listed {
                self.remove(ends);
                return;
            }
            link.listed = link.touched;
            let entry = (link.listed, ends);
            self.by_touch.remove(&(listed, ends));
            self.by_touch.insert(entry);
        }
    }

    /// The tree of shortest routes to all nodes.
    fn shortest_routes(&self, now: Instant) -> BTreeMap<Ipv4Addr, Place> {
        let root = Place { hops: 0, parent: self.owner, lifetime: Instant::MAX };
        let mut tree = BTreeMap::from([(self.owner, root)]);
        let mut level = tree.clone();
        while !level.is_empty() {
            let mut next = BTreeMap::new();
            for (&parent, place) in &level {
                for (node, link) in self.links_of(parent) {
                    if link.is_external || link.expires <= now || tree.contains_key(&node) {
                        continue;
                    }
                    let lifetime = place.lifetime.min(link.expires);
                    let found = next.entry(node).or_insert(Place { hops: place.hops + 1, parent, lifetime });
                    if found.lifetime < lifetime {
                        *found = Place { parent, lifetime, ..*found };
                    }
                }
            }
            tree.extend(next.iter().map(|(&node, &place)| (node, place)));
            level = next;
        }
        tree
    }

    fn route(&self, tree: &BTreeMap<Ipv4Addr, Place>, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        if destination == self.owner {
            return None;
        }
        let (last, is_last_external) = match tree.get(&destination) {
            Some(_) => (destination, false),
            None => {
                let behind = (destination, Ipv4Addr::UNSPECIFIED)..=(destination, Ipv4Addr::BROADCAST);
                let lasts = self.external.range(behind).filter(|&&(to, from)| self.links[&(from, to)].expires > now);
                let near = lasts.filter_map(|&(_, from)| Some((tree.get(&from)?.hops, from))).min();
                (near?.1, true)
            }
        };
        let mut hops = Vec::with_capacity(tree[&last].hops + 1);
        if is_last_external {
            hops.push(destination);
        }
        let mut at = last;
        while at != self.owner {
            hops.push(at);
            at = tree[&at].parent;
        }
        hops.reverse();
        (hops.len() <= MAX_HOPS).then_some(Route { hops, is_last_external })
    }
}

fn after(now: Instant, duration: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_add(duration.as_nanos()))
}
