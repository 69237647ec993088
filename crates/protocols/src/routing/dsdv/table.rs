//! The routing table, and what is advertised of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopcast_wire::dsdv::{Entry, INFINITE};

use super::config::Config;
use crate::routing::{self, NextHop};
use crate::time::{Duration, Instant};

/// The most destinations that are known at a time; what is heard of more is ignored. Five times the nodes of the largest
/// simulation: a bound on memory, not on networks.
pub(super) const MAX_DESTINATIONS: usize = 16384;

/// A metric and its sequence number, as a node advertises them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Sequence number: even from the destination, odd from who found the way broken.
    pub(super) sequence: u32,
    /// Hops, or [`INFINITE`].
    pub(super) metric: u32,
}

impl Claim {
    pub(super) fn is_broken(self) -> bool {
        self.metric == INFINITE
    }

    /// Whether the sequence number is newer; numbers wrap around.
    pub(super) fn is_newer_than(self, other: Self) -> bool {
        (self.sequence.wrapping_sub(other.sequence) as i32) > 0
    }

    pub(super) fn about(self, destination: Ipv4Addr) -> Entry {
        Entry { destination, metric: self.metric, sequence: self.sequence }
    }
}

/// The route to a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    /// The route in use.
    pub(super) claim: Claim,
    /// Its first hop; of a broken way the one that it had.
    pub(super) hop: NextHop,
    /// What was advertised last.
    pub(super) advertised: Option<Claim>,
    /// When the route in use may be advertised; until then updates repeat `advertised`.
    settled_at: Instant,
    /// Weighted average of the times that it took, for one sequence number, from the first way to the best.
    settling: Duration,
    /// When the sequence number was first heard.
    first_heard: Instant,
    /// When the route last changed.
    changed: Instant,
}

/// The routing table of a node.
#[derive(Debug)]
pub(super) struct Table {
    config: Config,
    routes: BTreeMap<Ipv4Addr, Route>,
    /// Destinations whose ways have changed since the last full dump, and may be advertised.
    changed: BTreeSet<Ipv4Addr>,
    /// Ways that are to be advertised later, by [`Route::settled_at`].
    settling: BTreeSet<(Instant, Ipv4Addr)>,
    /// Whether there is something in `changed` that no update has advertised.
    has_news: bool,
}

impl Table {
    pub(super) fn new(config: Config) -> Self {
        let (routes, changed, settling) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { config, routes, changed, settling, has_news: false }
    }

    /// The first hop of the way to a destination, if it isn't broken.
    pub(super) fn next_hop(&self, destination: Ipv4Addr) -> Option<NextHop> {
        self.routes.get(&destination).filter(|route| !route.claim.is_broken()).map(|route| route.hop)
    }

    /// All ways that aren't broken, in the order of addresses.
    pub(super) fn routes(&self) -> impl Iterator<Item = routing::Route> {
        let whole = self.routes.iter().filter(|(_, route)| !route.claim.is_broken());
        whole.map(|(&destination, route)| routing::Route { destination, hop: route.hop, hops: route.claim.metric })
    }

    /// Takes in what is claimed of the way over `hop`, the hop there counted. Returns whether there is a way where there was
    /// none.
    ///
    /// Selection is that of section 3.2 of the paper: the newer sequence number, and with equal numbers the lower metric. So a
    /// node's claim only ever gets better in this order, the first hop of each way has a better one than the node itself, and
    /// no circle of first hops can close, whatever is lost or late.
    pub(super) fn learn(&mut self, destination: Ipv4Addr, claim: Claim, hop: NextHop, now: Instant) -> bool {
        let Some(route) = self.routes.get_mut(&destination) else {
            if claim.is_broken() || self.routes.len() >= MAX_DESTINATIONS {
                return false;
            }
            let route = Route {
                claim,
                hop,
                advertised: None,
                settled_at: now,
                settling: self.config.first_settling,
                first_heard: now,
                changed: now,
            };
            self.routes.insert(destination, route);
            match self.config.settle_everything {
                true => self.advertise_later(destination, now + self.config.first_settling * 2),
                false => self.advertise_now(destination, now),
            }
            return true;
        };
        let old = route.claim;
        if claim.is_newer_than(old) {
            if !claim.is_broken() {
                if !old.is_broken() {
                    let sample = (route.changed - route.first_heard).as_nanos() as f64;
                    let past = route.settling.as_nanos() as f64;
                    let weight = self.config.settling_weight;
                    let average = libm::round(weight * past + (1.0 - weight) * sample);
                    route.settling = Duration::from_nanos(average as u64);
                }
                route.first_heard = now;
                route.hop = hop;
            }
        } else if claim.sequence == old.sequence {
            if claim.metric >= old.metric {
                return false;
            }
            route.hop = hop;
        } else {
            let knows_better = claim.is_broken() && !old.is_broken();
            // The neighbour has missed the break, which is advertised no more: advertise it again.
            let is_forgotten = !claim.is_broken() && old.is_broken() && route.is_forgotten(&self.config, now);
            if is_forgotten {
                route.changed = now;
            }
            if knows_better || is_forgotten {
                self.advertise_now(destination, now);
            }
            return false;
        }
        route.claim = claim;
        route.changed = now;
        if self.config.settle_everything {
            self.advertise_settled(destination, old, now);
        } else {
            self.advertise_change(destination, old, now);
        }
        old.is_broken() && !claim.is_broken()
    }

    /// Decides when a changed route, `old` before, is advertised (sections 3.3 and 3.4 of the paper): another metric once it has settled,
    /// a newer number alone mostly with other changes, and everything else at once.
    fn advertise_change(&mut self, destination: Ipv4Addr, old: Claim, now: Instant) {
        let route = &self.routes[&destination];
        let claim = route.claim;
        match route.advertised.filter(|advertised| !advertised.is_broken()) {
            // A new number alone is no news (section 3.3), unless it is to be; nor is a metric that has come back.
            Some(advertised) if advertised.metric == claim.metric => {
                if self.config.sequence_number_triggers && claim.is_newer_than(advertised) {
                    self.advertise_now(destination, now);
                } else {
                    self.settle(destination, now);
                }
            }
            Some(_) if !claim.is_broken() => {
                // What waits already has been stable since, if only its number is another one now.
                let is_waiting = old.metric == claim.metric && route.settled_at > now;
                let at = if is_waiting { route.settled_at } else { now + route.settling * 2 };
                self.advertise_later(destination, at);
            }
            _ => self.advertise_now(destination, now),
        }
    }

    /// The same where everything settles (ns-2.35, `DSDV_Agent::processUpdate`): a whole way after twice the average settling
    /// time, a break and a way that is whole again without delay; but only another metric of the same number has an update sent
    /// for it.
    fn advertise_settled(&mut self, destination: Ipv4Addr, old: Claim, now: Instant) {
        let route = &self.routes[&destination];
        let (claim, advertised) = (route.claim, route.advertised);
        let is_settling = !old.is_broken() && !claim.is_broken();
        let at = if is_settling { now + route.settling * 2 } else { now };
        if claim.is_newer_than(old) || advertised.is_some_and(|advertised| advertised.metric == claim.metric) {
            self.settle(destination, at);
            self.changed.insert(destination);
        } else {
            self.advertise_later(destination, at);
        }
    }

    /// Breaks all ways over `hop`: their numbers become odd ones of this node's making.
    pub(super) fn lose(&mut self, hop: NextHop, now: Instant) {
        let over_it = |route: &Route| route.hop == hop && !route.claim.is_broken();
        let lost: Vec<_> = self.routes.iter().filter(|(_, route)| over_it(route)).map(|(&to, _)| to).collect();
        for destination in lost {
            let route = self.routes.get_mut(&destination).expect("it was there a moment ago");
            route.claim = Claim { sequence: route.claim.sequence.wrapping_add(1), metric: INFINITE };
            route.changed = now;
            self.advertise_now(destination, now);
        }
    }

    /// Lets ways settle whose time has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, destination)) = self.settling.first()
            && at <= now
        {
            self.advertise_now(destination, now);
        }
    }

    /// When the next way settles.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.settling.first().map(|&(at, _)| at)
    }

    /// Whether an incremental update is due before the next full dump.
    pub(super) fn has_news(&self) -> bool {
        self.has_news
    }

    /// How many destinations an incremental update names.
    pub(super) fn changes(&self) -> usize {
        self.changed.len()
    }

    /// What an incremental update says: all that has changed since the last full dump (section 3.3).
    pub(super) fn advertise_changes(&mut self, now: Instant, mut emit: impl FnMut(Entry)) {
        self.has_news = false;
        for &destination in &self.changed {
            let route = self.routes.get_mut(&destination).expect("what has changed is in the table");
            if let Some(claim) = route.advertise(&self.config, now) {
                emit(claim.about(destination));
            }
        }
    }

    /// What a full dump says. Ways that broke so long ago that every neighbour has heard it or is lost itself are left out.
    pub(super) fn advertise_all(&mut self, now: Instant, mut emit: impl FnMut(Entry)) {
        self.has_news = false;
        // What settles is advertised later.
        let routes = &self.routes;
        self.changed.retain(|destination| routes[destination].is_withheld(&self.config, now));
        if self.routes.len() > MAX_DESTINATIONS / 2 {
            self.routes.retain(|_, route| !route.is_forgotten(&self.config, now));
        }
        for (&destination, route) in &mut self.routes {
            if !route.is_forgotten(&self.config, now)
                && let Some(claim) = route.advertise(&self.config, now)
            {
                emit(claim.about(destination));
            }
        }
    }

    fn advertise_now(&mut self, destination: Ipv4Addr, now: Instant) {
        self.settle(destination, now);
        self.changed.insert(destination);
        self.has_news = true;
    }

    fn advertise_later(&mut self, destination: Ipv4Addr, at: Instant) {
        self.settle(destination, at);
        self.settling.insert((at, destination));
    }

    /// From `at` on, the route in use is advertised.
    fn settle(&mut self, destination: Ipv4Addr, at: Instant) {
        let route = self.routes.get_mut(&destination).expect("only known destinations settle");
        self.settling.remove(&(route.settled_at, destination));
        route.settled_at = at;
    }

    #[cfg(test)]
    pub(super) fn get(&self, destination: Ipv4Addr) -> Option<&Route> {
        self.routes.get(&destination)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }
}

impl Route {
    /// What is said of it now, if anything is.
    fn advertise(&mut self, config: &Config, now: Instant) -> Option<Claim> {
        if self.is_withheld(config, now) {
            return None;
        }
        let claim = match self.advertised {
            Some(advertised) if self.settled_at > now => advertised,
            _ => self.claim,
        };
        Some(*self.advertised.insert(claim))
    }

    /// Whether nothing is said of it until it has settled.
    fn is_withheld(&self, config: &Config, now: Instant) -> bool {
        config.settle_everything && self.settled_at > now
    }

    /// Whether it is a broken way that neighbours are advertised no more of. It stays in the table, so that older claims are known
    /// for what they are.
    fn is_forgotten(&self, config: &Config, now: Instant) -> bool {
        self.claim.is_broken() && now.saturating_since(self.changed) > config.silence()
    }

    #[cfg(test)]
    pub(super) fn settling(&self) -> Duration {
        self.settling
    }
}
