//! Who is heard, whom they hear, and who relays for whom (RFC 3626, 4.2, 4.3, 7 and 8).

mod link;
mod mpr;

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopcast_wire::olsr::hello::{self, LinkCode, LinkType, NeighbourType};

use self::link::{Arrival, Link};
use self::mpr::Candidate;
use super::config::{Config, WILL_ALWAYS, WILL_NEVER};
use crate::routing::NextHop;
use crate::time::{Duration, Instant};

/// The most links at a time; those of more neighbours are ignored.
pub(super) const MAX_LINKS: usize = 1024;
/// The most 2-hop tuples at a time; more are ignored.
pub(super) const MAX_TWO_HOPS: usize = 65536;

/// Link set, neighbour set, 2-hop neighbour set, MPR set and MPR selector set.
#[derive(Debug)]
pub(super) struct Neighbourhood {
    config: Config,
    links: BTreeMap<NextHop, Link>,
    neighbours: BTreeMap<Ipv4Addr, Neighbour>,
    /// Neighbour and neighbour of it, by main addresses: until when.
    two_hops: BTreeMap<(Ipv4Addr, Ipv4Addr), Instant>,
    /// MPR selectors: until when.
    selectors: BTreeMap<Ipv4Addr, Instant>,
    /// `None`: to be selected again.
    relays: Option<BTreeSet<Ipv4Addr>>,
    /// Nothing changes by itself before.
    check_at: Option<Instant>,
}

/// A neighbour, by main address.
#[derive(Clone, Debug)]
struct Neighbour {
    willingness: u8,
    /// In their order.
    links: Vec<NextHop>,
    /// Those of the links that are symmetric.
    symmetric: Vec<NextHop>,
}

impl Neighbour {
    fn is_symmetric(&self) -> bool {
        !self.symmetric.is_empty()
    }
}

/// A HELLO and how it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hello<'a> {
    pub(super) from: NextHop,
    /// Sequence number of its packet.
    pub(super) sequence: u16,
    pub(super) originator: Ipv4Addr,
    pub(super) validity: Duration,
    pub(super) body: hello::View<'a>,
}

/// What has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Neighbours, their neighbours, or the links to them: routes have to be calculated again.
    pub(super) routes: bool,
    /// Somebody for whom this node relayed isn't a neighbour any more.
    pub(super) lost_selector: bool,
}

impl Neighbourhood {
    pub(super) fn new(config: Config) -> Self {
        Self {
            config,
            links: BTreeMap::new(),
            neighbours: BTreeMap::new(),
            two_hops: BTreeMap::new(),
            selectors: BTreeMap::new(),
            relays: None,
            check_at: None,
        }
    }

    /// A packet has come, of whatever messages.
    pub(super) fn handle_packet(&mut self, from: NextHop, sequence: u16, now: Instant) -> Changes {
        let hold = self.config.neighbour_hold();
        if self.config.hysteresis.is_none() {
            return Changes::default();
        }
        let Some(link) = self.links.get_mut(&from) else { return Changes::default() };
        link.handle_packet(sequence, hold, now);
        let (neighbour, check_at) = (link.neighbour, link.poll_timeout(now));
        self.check_by(check_at);
        self.review(neighbour, now)
    }

    /// A HELLO has come. `own` is the address of this node, `main` tells the main address of an interface's.
    pub(super) fn handle_hello(
        &mut self,
        hello: Hello<'_>,
        own: Ipv4Addr,
        main: impl Fn(Ipv4Addr) -> Ipv4Addr,
        now: Instant,
    ) -> Changes {
        let Hello { from, sequence, originator, validity, body } = hello;
        let mut changes = Changes::default();
        if self.links.get(&from).is_some_and(|link| link.neighbour != originator) {
            changes = changes.and(self.forget(from, now));
        }
        if self.links.len() >= MAX_LINKS && !self.links.contains_key(&from) {
            return changes;
        }
        let known = || body.links().filter_map(|(code, addresses)| Some((LinkCode::parse(code)?, addresses)));
        let of_own =
            known().find(|(_, addresses)| addresses.iter().any(|address| address == own)).map(|(code, _)| code);
        let interval = Duration::from_nanos(body.interval().as_nanos());
        let until = now + validity;
        let arrival = Arrival { sequence, interval, at: now };
        let hysteresis = self.config.hysteresis;
        let link = self.links.entry(from).or_insert_with(|| Link::new(originator, hysteresis, arrival));
        link.handle_hello(of_own.map(|code| code.link), interval, until, self.config.neighbour_hold(), now);
        let check_at = link.poll_timeout(now);
        self.check_by(check_at);

        let willingness = body.willingness().min(WILL_ALWAYS);
        let neighbour = self.neighbours.entry(originator).or_insert_with(|| Neighbour {
            willingness,
            links: Vec::new(),
            symmetric: Vec::new(),
        });
        if let Err(place) = neighbour.links.binary_search(&from) {
            neighbour.links.insert(place, from);
        }
        if neighbour.willingness != willingness {
            neighbour.willingness = willingness;
            self.relays = None;
            changes.routes = true;
        }
        changes = changes.and(self.review(originator, now));
        if !self.neighbours.get(&originator).is_some_and(Neighbour::is_symmetric) {
            return changes;
        }
        if of_own.is_some_and(|code| code.neighbour == NeighbourType::Mpr) {
            self.selectors.insert(originator, until);
        }
        let mut is_changed = false;
        for (code, addresses) in known() {
            for address in addresses.iter().map(&main).filter(|&address| address != own) {
                let tuple = (originator, address);
                is_changed |= if code.neighbour == NeighbourType::NotNeighbour {
                    self.two_hops.remove(&tuple).is_some()
                } else if let Some(time) = self.two_hops.get_mut(&tuple) {
                    *time = until;
                    false
                } else {
                    self.two_hops.len() < MAX_TWO_HOPS && self.two_hops.insert(tuple, until).is_none()
                };
            }
        }
        if is_changed {
            self.relays = None;
            changes.routes = true;
        }
        self.check_by(until);
        changes
    }

    /// The interface says that a link is gone (13).
    pub(super) fn lose(&mut self, hop: NextHop, now: Instant) -> Changes {
        let hold = self.config.neighbour_hold();
        let Some(link) = self.links.get_mut(&hop) else { return Changes::default() };
        link.lose(hold, now);
        let neighbour = link.neighbour;
        self.check_by(now + hold);
        self.review(neighbour, now)
    }

    /// Forgets what has passed.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Changes {
        if self.check_at.is_none_or(|at| at > now) {
            return Changes::default();
        }
        let hold = self.config.neighbour_hold();
        let mut changes = Changes::default();
        self.links.values_mut().for_each(|link| link.handle_timeout(hold, now));
        let over: Vec<_> = self.links.iter().filter(|(_, link)| link.is_over(now)).map(|(&hop, _)| hop).collect();
        for hop in over {
            changes = changes.and(self.forget(hop, now));
        }
        let all: Vec<_> = self.neighbours.keys().copied().collect();
        for address in all {
            changes = changes.and(self.review(address, now));
        }
        let before = self.two_hops.len();
        self.two_hops.retain(|_, until| *until > now);
        if self.two_hops.len() != before {
            self.relays = None;
            changes.routes = true;
        }
        self.selectors.retain(|_, until| *until > now);
        let links = self.links.values().map(|link| link.poll_timeout(now));
        let tuples = self.two_hops.values().chain(self.selectors.values());
        self.check_at = links.chain(tuples.copied()).min();
        changes
    }

    /// When [`Self::handle_timeout`] is due, or earlier than it would have to be.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.check_at
    }

    /// The main address of the neighbour over this link, if it is a symmetric one.
    pub(super) fn symmetric(&self, hop: NextHop, now: Instant) -> Option<Ipv4Addr> {
        self.links.get(&hop).filter(|link| link.is_symmetric(now)).map(|link| link.neighbour)
    }

    /// Whether a neighbour has selected this node for a relay.
    pub(super) fn is_selector(&self, neighbour: Ipv4Addr, now: Instant) -> bool {
        self.selectors.get(&neighbour).is_some_and(|&until| until > now)
    }

    /// The neighbours that TC messages advertise, in the order of addresses (9.3, 15.1).
    pub(super) fn advertised(&mut self, now: Instant) -> Vec<Ipv4Addr> {
        let redundancy = if self.config.willingness == WILL_NEVER { 0 } else { self.config.tc_redundancy };
        let mut advertised: BTreeSet<_> =
            self.selectors.iter().filter(|(_, until)| **until > now).map(|(&selector, _)| selector).collect();
        if redundancy == 1 {
            advertised.extend(self.relays());
        } else if redundancy > 1 {
            advertised.extend(self.symmetric_neighbours().map(|(address, _)| address));
        }
        advertised.into_iter().collect()
    }

    /// What a HELLO on this interface says (6.2).
    pub(super) fn links_on(&mut self, interface: u32, now: Instant) -> BTreeMap<LinkCode, Vec<Ipv4Addr>> {
        let relays = self.relays().clone();
        let kind = |address: &Ipv4Addr| match self.neighbours.get(address) {
            Some(neighbour) if neighbour.is_symmetric() => match relays.contains(address) {
                true => NeighbourType::Mpr,
                false => NeighbourType::Symmetric,
            },
            _ => NeighbourType::NotNeighbour,
        };
        let mut said = BTreeMap::<_, Vec<_>>::new();
        let mut named = BTreeSet::new();
        for (hop, link) in self.links.iter().filter(|(hop, _)| hop.interface == interface) {
            if let Some(link_type) = link.link_type(now) {
                let code = LinkCode { link: link_type, neighbour: kind(&link.neighbour) };
                said.entry(code).or_default().push(hop.address);
                named.insert(link.neighbour);
            }
        }
        // Who isn't symmetric any more is named too: nodes at this interface drop the way over this one at once. A neighbour whose links
        // are all pending isn't (14.2).
        let is_advertised = |hop: &NextHop| self.links[hop].link_type(now).is_some();
        for (address, neighbour) in self.neighbours.iter().filter(|(address, _)| !named.contains(*address)) {
            if neighbour.links.iter().any(is_advertised) {
                let code = LinkCode { link: LinkType::Unspecified, neighbour: kind(address) };
                said.entry(code).or_default().push(*address);
            }
        }
        said
    }

    /// Neighbours over symmetric links, in the order of addresses: main address, and all such links.
    pub(super) fn symmetric_neighbours(&self) -> impl Iterator<Item = (Ipv4Addr, &[NextHop])> {
        let symmetric = self.neighbours.iter().filter(|(_, neighbour)| neighbour.is_symmetric());
        symmetric.map(|(&address, neighbour)| (address, &neighbour.symmetric[..]))
    }

    /// Neighbours of a neighbour that passes packets on, by main address.
    pub(super) fn two_hops(&self, neighbour: Ipv4Addr) -> impl Iterator<Item = Ipv4Addr> + '_ {
        let relays = self.neighbours.get(&neighbour).is_some_and(|neighbour| neighbour.willingness != WILL_NEVER);
        relays.then(|| self.neighbours_of(neighbour)).into_iter().flatten()
    }

    /// The MPR set, selected again if something has changed (8.3.1).
    pub(super) fn relays(&mut self) -> &BTreeSet<Ipv4Addr> {
        if self.relays.is_none() {
            self.relays = Some(self.select_relays());
        }
        self.relays.as_ref().expect("it was selected a moment ago")
    }

    fn select_relays(&self) -> BTreeSet<Ipv4Addr> {
        let mut by_interface = BTreeMap::<_, Vec<_>>::new();
        for (address, links) in self.symmetric_neighbours() {
            let is_beyond = |node: &Ipv4Addr| !self.neighbours.get(node).is_some_and(Neighbour::is_symmetric);
            let reaches: Vec<_> = self.neighbours_of(address).filter(is_beyond).collect();
            let willingness = self.neighbours[&address].willingness;
            let interfaces: BTreeSet<_> = links.iter().map(|hop| hop.interface).collect();
            for interface in interfaces {
                let candidate = Candidate { address, willingness, reaches: reaches.clone() };
                by_interface.entry(interface).or_default().push(candidate);
            }
        }
        by_interface.values().flat_map(|candidates| mpr::select(candidates, self.config.mpr_coverage)).collect()
    }

    fn neighbours_of(&self, neighbour: Ipv4Addr) -> impl Iterator<Item = Ipv4Addr> + '_ {
        let all = (neighbour, Ipv4Addr::UNSPECIFIED)..=(neighbour, Ipv4Addr::BROADCAST);
        self.two_hops.range(all).map(|(&(_, address), _)| address)
    }

    fn forget(&mut self, hop: NextHop, now: Instant) -> Changes {
        let Some(link) = self.links.remove(&hop) else { return Changes::default() };
        if let Some(neighbour) = self.neighbours.get_mut(&link.neighbour) {
            neighbour.links.retain(|&other| other != hop);
        }
        self.review(link.neighbour, now)
    }

    /// Looks whether a neighbour still is one, over the same links, and what follows if not (8.1, 8.5).
    fn review(&mut self, address: Ipv4Addr, now: Instant) -> Changes {
        let mut changes = Changes::default();
        let Some(neighbour) = self.neighbours.get_mut(&address) else { return changes };
        let is_symmetric = |hop: &&NextHop| self.links[*hop].is_symmetric(now);
        if !neighbour.links.iter().filter(is_symmetric).eq(&neighbour.symmetric) {
            neighbour.symmetric = neighbour.links.iter().filter(is_symmetric).copied().collect();
            self.relays = None;
            changes.routes = true;
            if !neighbour.is_symmetric() {
                changes.lost_selector = self.selectors.remove(&address).is_some();
                let lost: Vec<_> = self.neighbours_of(address).collect();
                for two_hop in lost {
                    self.two_hops.remove(&(address, two_hop));
                }
            }
        }
        if self.neighbours[&address].links.is_empty() {
            self.neighbours.remove(&address);
        }
        changes
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty() && self.neighbours.is_empty() && self.two_hops.is_empty() && self.selectors.is_empty()
    }

    /// Links and 2-hop tuples.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.links.len(), self.two_hops.len())
    }

    #[cfg(test)]
    pub(super) fn quality(&self, hop: NextHop) -> Option<f64> {
        self.links[&hop].quality()
    }

    fn check_by(&mut self, at: Instant) {
        self.check_at = Some(self.check_at.map_or(at, |earlier| earlier.min(at)));
    }
}

impl Changes {
    fn and(self, other: Self) -> Self {
        Self { routes: self.routes || other.routes, lost_selector: self.lost_selector || other.lost_selector }
    }
}
