//! The routing table, and the rule by which one route replaces another.

pub(super) mod precursors;
pub(super) mod sequence;

use std::net::Ipv4Addr;

use self::precursors::Precursors;
use self::sequence::Sequence;
use super::timers::Schedule;
use crate::lookup::Lookup;
use crate::routing::NextHop;
use crate::time::{Duration, Instant};

/// The most destinations in a table; what is learnt of further ones is ignored.
pub(super) const MAX_ROUTES: usize = 1 << 14;

/// What is known of the way to a destination (RFC 3561, section 6.2).
///
/// A route's *rank* is its sequence number, then its nearness: a higher number ranks above a lower one, and of equal
/// numbers fewer hops rank above more. A lost route ranks directly below its least number. The rank of an entry never
/// falls, and a node that takes over a route from a neighbour ranks below that neighbour: therefore no loop forms.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The neighbour on the way; the last one, if the route is lost.
    pub(super) hop: NextHop,
    /// Hops to the destination; the last number known, if the route is lost.
    pub(super) hops: u8,
    /// In state [`State::Numbered`] the number of the route; otherwise the least number that the next such route must have.
    pub(super) sequence: Option<Sequence>,
    pub(super) state: State,
    /// Neighbours that may send packets this way.
    pub(super) precursors: Precursors,
    /// Whether a reply has gone to the destination since the route was taken over, of a request that it had sent.
    pub(super) is_answered: bool,
    /// A valid route is lost then, a lost one forgotten.
    expires: Instant,
    /// Its place in the schedule: not after `expires`.
    alarm: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Valid, with a valid sequence number.
    Numbered,
    /// Valid, as the destination itself was heard, but without a valid sequence number, so the node does not advertise
    /// it.
    Heard,
    /// Not valid.
    Lost {
        /// Whether a packet for the destination starts a local repair up to some instant.
        repairable_until: Option<Instant>,
    },
}

impl Route {
    pub(super) fn is_valid(&self) -> bool {
        !matches!(self.state, State::Lost { .. })
    }

    /// When a valid route is lost, or a lost one forgotten.
    pub(super) fn expires(&self) -> Instant {
        self.expires
    }

    fn extend(&mut self, expires: Instant) {
        self.expires = self.expires.max(expires);
    }

    pub(super) fn is_repairable(&self, now: Instant) -> bool {
        matches!(self.state, State::Lost { repairable_until: Some(until) } if now < until)
    }

    /// Whether a route with this number and length ranks above this one (sections 6.2 and 6.7).
    fn is_surpassed_by(&self, offer: &Offer) -> bool {
        match (self.state, self.sequence) {
            (State::Numbered, Some(own)) => {
                offer.sequence.is_newer_than(own) || offer.sequence == own && offer.hops < self.hops
            }
            (_, least) => least.is_none_or(|least| offer.sequence.is_at_least(least)),
        }
    }
}

/// A route that a neighbour tells of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) destination: Ipv4Addr,
    pub(super) sequence: Sequence,
    pub(super) hops: u8,
    pub(super) hop: NextHop,
    pub(super) expires: Instant,
}

/// The routes of a node.
#[derive(Debug)]
pub(super) struct Table {
    delete_period: Duration,
    longest_lifetime: Duration,
    /// By address.
    routes: Lookup<Route>,
    alarms: Schedule<Ipv4Addr>,
    /// Routes that became valid or lost, or changed their hop or hops.
    changes: u64,
}

impl Table {
    /// A table without routes, where lost ones are forgotten after `delete_period`, and valid ones are valid no longer than
    /// `longest_lifetime` without having been used. `secret` is that of [`Lookup`].
    pub(super) fn new(delete_period: Duration, longest_lifetime: Duration, secret: u64) -> Self {
        Self { delete_period, longest_lifetime, routes: Lookup::new(secret), alarms: Schedule::default(), changes: 0 }
    }

    /// What is known of a destination.
    pub(super) fn get(&self, destination: Ipv4Addr) -> Option<&Route> {
        self.routes.get(key(destination))
    }

    /// The precursors of a destination.
    pub(super) fn precursors_mut(&mut self, destination: Ipv4Addr) -> Option<&mut Precursors> {
        self.routes.get_mut(key(destination)).map(|route| &mut route.precursors)
    }

    /// The route to a destination, if there is a valid one.
    pub(super) fn valid(&self, destination: Ipv4Addr) -> Option<&Route> {
        self.routes.get(key(destination)).filter(|route| route.is_valid())
    }

    /// The route to a destination that others may be told of: a valid one with a valid number, and the number.
    pub(super) fn numbered(&self, destination: Ipv4Addr) -> Option<(&Route, Sequence)> {
        let route = self.routes.get(key(destination)).filter(|route| route.state == State::Numbered)?;
        Some((route, route.sequence?))
    }

    /// Destinations to which this neighbour is the next hop, in the order of their addresses.
    pub(super) fn over(&self, hop: NextHop) -> Vec<Ipv4Addr> {
        let over = self.routes.sorted(|route| route.hop == hop && route.is_valid());
        over.into_iter().map(|(key, _)| address(key)).collect()
    }

    /// Takes a route over if it ranks above what is known; whether it does.
    pub(super) fn adopt(&mut self, offer: &Offer, now: Instant) -> bool {
        if self.routes.get(key(offer.destination)).is_some_and(|route| !route.is_surpassed_by(offer)) {
            return false;
        }
        self.set(offer.destination, offer.hop, offer.hops, Some(offer.sequence), State::Numbered, offer.expires, now)
    }

    /// The neighbour itself was heard: there is a route to it, if there was none. Whether it was made.
    ///
    /// A valid route over others is left as it is, since to be heard is not to hear.
    pub(super) fn update_neighbour(&mut self, neighbour: NextHop, expires: Instant, now: Instant) -> bool {
        let latest = now + self.longest_lifetime;
        match self.routes.get_mut(key(neighbour.address)) {
            Some(route) if route.is_valid() => {
                if route.hop == neighbour {
                    route.extend(expires.min(latest));
                }
                false
            }
            known => {
                let least = known.and_then(|route| route.sequence);
                self.set(neighbour.address, neighbour, 1, least, State::Heard, expires, now)
            }
        }
    }

    /// Makes a valid route last until `expires` at least.
    pub(super) fn extend(&mut self, destination: Ipv4Addr, expires: Instant, now: Instant) {
        let latest = now + self.longest_lifetime;
        if let Some(route) = self.routes.get_mut(key(destination)).filter(|route| route.is_valid()) {
            route.extend(expires.min(latest));
        }
    }

    /// A reply goes to this destination.
    pub(super) fn mark_answered(&mut self, destination: Ipv4Addr) {
        if let Some(route) = self.routes.get_mut(key(destination)) {
            route.is_answered = true;
        }
    }

    /// Remembers a lost route for as long as if it had been lost now.
    pub(super) fn remember(&mut self, destination: Ipv4Addr, now: Instant) {
        if let Some(route) = self.routes.get_mut(key(destination)).filter(|route| !route.is_valid()) {
            route.expires = now + self.delete_period;
        }
    }

    /// The route is valid no more. A following one must have a newer number, and `least` at least (sections 6.1 and 6.11).
    pub(super) fn lose(
        &mut self,
        destination: Ipv4Addr,
        least: Option<Sequence>,
        repairable_until: Option<Instant>,
        now: Instant,
    ) {
        let Some(route) = self.routes.get_mut(key(destination)).filter(|route| route.is_valid()) else { return };
        if route.state == State::Numbered {
            let next = route.sequence.map(Sequence::next);
            route.sequence = next.map(|next| least.map_or(next, |least| next.or_newer(least)));
        }
        route.state = State::Lost { repairable_until };
        self.changes += 1;
        // Later than any valid route expires: the alarm need not move.
        route.expires = now + self.delete_period;
    }

    /// A repair of the route has failed: no further one is tried.
    pub(super) fn give_up(&mut self, destination: Ipv4Addr) {
        if let Some(route) = self.routes.get_mut(key(destination)).filter(|route| !route.is_valid()) {
            route.state = State::Lost { repairable_until: None };
        }
    }

    /// A number that changes whenever the valid routes do, or their hops; `None` if some may have expired that [`Self::handle_timeout`] has not lost.
    pub(super) fn version(&self, now: Instant) -> Option<u64> {
        self.alarms.first().is_none_or(|alarm| now < alarm).then_some(self.changes)
    }

    /// When [`Self::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.alarms.first()
    }

    /// Loses and forgets what has expired.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while let Some(destination) = self.alarms.pop_due(now) {
            let route = self.routes.get(key(destination)).expect("a route has its alarm for as long as it is known");
            if route.expires <= now {
                if !route.is_valid() {
                    self.routes.remove(key(destination));
                    continue;
                }
                self.lose(destination, None, None, now);
            }
            let route = self.routes.get_mut(key(destination)).expect("it was there");
            route.alarm = route.expires;
            self.alarms.insert(route.alarm, destination);
        }
    }

    /// All that is known, in the order of addresses.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.routes.sorted(|_| true).into_iter().map(|(key, route)| (address(key), route))
    }

    /// Makes the route valid; `false` if there is no place for it.
    #[expect(clippy::too_many_arguments, reason = "the parts of an entry")]
    fn set(
        &mut self,
        destination: Ipv4Addr,
        hop: NextHop,
        hops: u8,
        sequence: Option<Sequence>,
        state: State,
        expires: Instant,
        now: Instant,
    ) -> bool {
        let expires = expires.min(now + self.longest_lifetime);
        let Some(route) = self.routes.get_mut(key(destination)) else {
            if self.routes.len() >= MAX_ROUTES {
                return false;
            }
            self.alarms.insert(expires, destination);
            self.changes += 1;
            let precursors = Precursors::None;
            let route = Route { hop, hops, sequence, state, precursors, is_answered: false, expires, alarm: expires };
            self.routes.insert(key(destination), route);
            return true;
        };
        // Mostly it stays as it is.
        let alarm = route.alarm.min(expires);
        if alarm != route.alarm {
            self.alarms.remove(route.alarm, destination);
            self.alarms.insert(alarm, destination);
        }
        self.changes += u64::from(!route.is_valid() || route.hop != hop || route.hops != hops);
        let precursors = route.precursors;
        *route = Route { hop, hops, sequence, state, precursors, is_answered: false, expires, alarm };
        true
    }
}

fn key(address: Ipv4Addr) -> u64 {
    u32::from(address).into()
}

/// That of a key.
fn address(key: u64) -> Ipv4Addr {
    Ipv4Addr::from(key as u32)
}
