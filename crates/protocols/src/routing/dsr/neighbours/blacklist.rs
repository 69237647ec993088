//! Neighbours that may not hear this node (RFC 4728, 4.6).

use std::net::Ipv4Addr;

use crate::lru::Lru;
use crate::time::{Duration, Instant};

/// What is believed of the link to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::routing::dsr) enum Unidirectional {
    /// It was found unreachable not long ago.
    Probable,
    /// It was found unreachable some time ago.
    Questionable,
}

/// The Blacklist: when each neighbour was last found unreachable although it is heard.
#[derive(Debug)]
pub(in crate::routing::dsr) struct Blacklist {
    timeout: Duration,
    pub(in crate::routing::dsr) found: Lru<Ipv4Addr, Instant>,
}

impl Blacklist {
    /// An empty list, which keeps up to `capacity` neighbours for twice `timeout`.
    pub(in crate::routing::dsr) fn new(timeout: Duration, capacity: usize) -> Self {
        Self { timeout, found: Lru::new(capacity) }
    }

    /// The neighbour was found unreachable.
    pub(in crate::routing::dsr) fn add(&mut self, neighbour: Ipv4Addr, now: Instant) {
        self.found.insert(neighbour, now);
    }

    /// The neighbour was found to hear this node.
    pub(in crate::routing::dsr) fn remove(&mut self, neighbour: Ipv4Addr) {
        self.found.remove(&neighbour);
    }

    /// What is believed of the neighbour.
    pub(in crate::routing::dsr) fn state(&self, neighbour: Ipv4Addr, now: Instant) -> Option<Unidirectional> {
        let age = now.saturating_since(*self.found.get(&neighbour)?);
        if age < self.timeout {
            Some(Unidirectional::Probable)
        } else {
            (age.saturating_sub(self.timeout) < self.timeout).then_some(Unidirectional::Questionable)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_belief_fades() {
        let neighbour = Ipv4Addr::new(10, 0, 0, 2);
        let at = |secs| Instant::START + Duration::from_secs(secs);
        let mut list = Blacklist::new(Duration::from_secs(5), 4);
        assert_eq!(list.state(neighbour, at(0)), None);
        list.add(neighbour, at(1));
        assert_eq!(list.state(neighbour, at(5)), Some(Unidirectional::Probable));
        assert_eq!(list.state(neighbour, at(6)), Some(Unidirectional::Questionable));
        assert_eq!(list.state(neighbour, at(11)), None);
        list.add(neighbour, at(12));
        list.remove(neighbour);
        assert_eq!(list.state(neighbour, at(12)), None);
    }
}
