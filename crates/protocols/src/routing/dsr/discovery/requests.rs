//! The Route Request Table (RFC 4728, 4.3).

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use super::super::config::{Config, Rules};
use super::super::timers::{Key, after};
use crate::lru::Lru;
use crate::time::Instant;

/// What is known of the search for a target.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::routing::dsr) struct Discovery {
    /// Whether a propagating request is next: one with a hop limit of 1 was sent.
    pub(in crate::routing::dsr) neighbours_asked: bool,
    /// How many requests were sent since the last Route Reply with a route to the target; those that are followed by a longer time
    /// each.
    pub(in crate::routing::dsr) attempts: u32,
    /// How many of them since the last time that packets were told that there is no route.
    pub(in crate::routing::dsr) attempts_of_search: u32,
    /// When the next request with a hop limit of 1 may be sent.
    pub(in crate::routing::dsr) next_nonpropagating: Instant,
    /// When the next propagating request may be sent.
    pub(in crate::routing::dsr) next_propagating: Instant,
    /// Until when packets of this node may be waiting; `None`: it looks for no route.
    pub(in crate::routing::dsr) wanted_until: Option<Instant>,
    /// Until when packets of other nodes may be waiting.
    pub(in crate::routing::dsr) wanted_by_others_until: Option<Instant>,
    /// The timer of the next step.
    pub(in crate::routing::dsr) timer: Option<Key>,
}

impl Discovery {
    /// When the next request may be sent.
    pub(in crate::routing::dsr) fn next_step(&self) -> Instant {
        if self.neighbours_asked { self.next_propagating } else { self.next_nonpropagating }
    }

    /// Takes the next step, which is due (RFC 4728, 4.3 and 8.2.1): the hop limit of its request.
    pub(in crate::routing::dsr) fn take_step(&mut self, config: &Config, now: Instant) -> u8 {
        let is_propagating = match config.rules {
            Rules::Rfc4728 => self.neighbours_asked,
            Rules::Ns2 => self.neighbours_asked && now < self.next_nonpropagating,
        };
        let soon = after(now, config.nonprop_request_timeout);
        match (config.rules, is_propagating) {
            (Rules::Rfc4728, false) => {
                self.next_nonpropagating = soon;
                self.next_propagating = self.next_propagating.max(soon);
            }
            (Rules::Rfc4728, true) => {
                self.next_propagating = after(now, config.request_timeout(self.attempts));
                self.count();
            }
            (Rules::Ns2, false) => {
                self.count();
                self.next_nonpropagating = after(now, config.request_timeout(self.attempts));
                self.next_propagating = soon;
            }
            (Rules::Ns2, true) => {}
        }
        self.neighbours_asked = config.rules == Rules::Rfc4728 || !is_propagating;
        if is_propagating { config.discovery_hop_limit } else { 1 }
    }

    fn count(&mut self) {
        self.attempts = self.attempts.saturating_add(1);
        self.attempts_of_search += 1;
    }

    /// What is remembered of a search that is over, since there is a route. Whether the next ones are slow, only a reply changes.
    pub(in crate::routing::dsr) fn over(self, rules: Rules) -> Self {
        let Self { next_nonpropagating, next_propagating, attempts, .. } = self;
        // By the RFC, each search begins with the neighbours.
        let neighbours_asked = self.neighbours_asked && rules == Rules::Ns2;
        Self { next_nonpropagating, next_propagating, neighbours_asked, attempts, ..Self::default() }
    }

    /// There is a reply.
    pub(in crate::routing::dsr) fn on_reply(&mut self, rules: Rules) {
        match rules {
            // The least times until the next requests stay in force; those behind them grow from the first one on.
            Rules::Rfc4728 => self.attempts = 0,
            // The next search may begin at once.
            Rules::Ns2 => {
                let Self { timer, wanted_until, wanted_by_others_until, .. } = *self;
                *self = Self { timer, wanted_until, wanted_by_others_until, ..Self::default() };
            }
        }
    }
}

/// Requests that this node has sent and passed on.
#[derive(Debug)]
pub(in crate::routing::dsr) struct RequestTable {
    /// Searches by target.
    pub(in crate::routing::dsr) originated: Lru<Ipv4Addr, Discovery>,
    /// Identifications and targets of the last requests, by initiator.
    seen: Lru<Ipv4Addr, VecDeque<(u16, Ipv4Addr)>>,
    ids: usize,
    rules: Rules,
    identification: u16,
    made: u64,
}

impl RequestTable {
    /// An empty table. The first request will have the identification behind this one.
    pub(in crate::routing::dsr) fn new(config: &Config, identification: u16) -> Self {
        Self {
            originated: Lru::new(config.request_table_size),
            seen: Lru::new(config.request_table_size),
            ids: config.request_table_ids.max(1),
            rules: config.rules,
            identification,
            made: 0,
        }
    }

    /// How many requests were made.
    pub(in crate::routing::dsr) fn made(&self) -> u64 {
        self.made
    }

    /// Identification of a new request.
    pub(in crate::routing::dsr) fn next_identification(&mut self) -> u16 {
        self.made += 1;
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// Whether this request is among the last ones of its initiator; if not, it is from now on.
    pub(in crate::routing::dsr) fn is_seen(
        &mut self,
        initiator: Ipv4Addr,
        identification: u16,
        target: Ipv4Addr,
    ) -> bool {
        let request = (identification, target);
        match self.seen.get_mut(&initiator) {
            None => {
                self.seen.insert(initiator, VecDeque::from([request]));
                false
            }
            Some(requests) if requests.iter().any(|&known| is_known(self.rules, request, known)) => true,
            Some(requests) => {
                if requests.len() >= self.ids {
                    requests.pop_front();
                }
                requests.push_back(request);
                false
            }
        }
    }

    /// How many targets and requests there are.
    #[cfg(test)]
    pub(in crate::routing::dsr) fn size(&self) -> usize {
        self.originated.len() + self.seen.values().map(VecDeque::len).sum::<usize>()
    }
}

/// Whether a request was met before, since another of the same initiator was.
fn is_known(rules: Rules, request: (u16, Ipv4Addr), met: (u16, Ipv4Addr)) -> bool {
    match rules {
        Rules::Rfc4728 => request == met,
        Rules::Ns2 => (request.0.wrapping_sub(met.0)).cast_signed() <= 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_requests_of_each_initiator_are_known() {
        let node = |n| Ipv4Addr::new(10, 0, 0, n);
        let config = Config { request_table_ids: 2, request_table_size: 2, ..Config::RFC_4728 };
        let mut table = RequestTable::new(&config, u16::MAX);
        assert_eq!((table.next_identification(), table.next_identification()), (0, 1));
        assert!(!table.is_seen(node(1), 7, node(9)));
        assert!(table.is_seen(node(1), 7, node(9)));
        assert!(!table.is_seen(node(1), 7, node(8)), "another target is another request");
        assert!(!table.is_seen(node(2), 7, node(9)), "another initiator is another request");
        assert!(!table.is_seen(node(1), 8, node(9)));
        assert!(!table.is_seen(node(1), 7, node(9)), "the oldest of three is forgotten");
        assert!(!table.is_seen(node(3), 1, node(9)));
        assert!(
            !table.is_seen(node(2), 7, node(9)),
            "of three initiators the one that was silent for longest is forgotten"
        );
    }
}
