//! What TC messages tell of the network (RFC 3626, 4.4 and 9.5).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::time::Instant;

/// The most topology tuples at a time; more are ignored.
pub(in crate::routing::olsr) const MAX_TUPLES: usize = 65536;

/// The topology set.
#[derive(Debug, Default)]
pub(in crate::routing::olsr) struct Topology {
    /// By T_last_addr.
    nodes: BTreeMap<Ipv4Addr, Advertised>,
    /// Tuples of all nodes.
    tuples: usize,
}

/// What one node advertises.
#[derive(Debug)]
struct Advertised {
    /// T_seq, of all tuples: older ones are removed, newer ones remove.
    ansn: u16,
    /// T_dest_addr and T_time, in the order of addresses.
    neighbours: Vec<(Ipv4Addr, Instant)>,
}

impl Topology {
    /// A TC message has come that holds until `until`. Returns whether another set of tuples is in force now.
    pub(in crate::routing::olsr) fn handle_tc(
        &mut self,
        originator: Ipv4Addr,
        ansn: u16,
        neighbours: impl Iterator<Item = Ipv4Addr>,
        until: Instant,
        now: Instant,
    ) -> bool {
        let node = self.nodes.entry(originator).or_insert_with(|| Advertised { ansn, neighbours: Vec::new() });
        let is_in_force = |tuple: &(Ipv4Addr, Instant)| tuple.1 > now;
        let age = ansn.wrapping_sub(node.ansn) as i16;
        if age < 0 && node.neighbours.iter().any(is_in_force) {
            return false;
        }
        let mut told: Vec<_> = neighbours.collect();
        told.sort_unstable();
        told.dedup();
        let others = self.tuples - node.neighbours.len();
        let mut is_changed = false;
        let mut merged = Vec::with_capacity(told.len());
        let mut old = core::mem::take(&mut node.neighbours).into_iter().peekable();
        let mut told = told.into_iter().peekable();
        while let Some(address) = old.peek().map(|tuple| tuple.0).into_iter().chain(told.peek().copied()).min() {
            let old = old.next_if(|tuple| tuple.0 == address);
            let was_in_force = old.as_ref().is_some_and(is_in_force);
            let new = match told.next_if_eq(&address) {
                Some(address) => Some((address, until)),
                // A number as before: this message tells another part of the set.
                None => old.filter(|_| age == 0),
            };
            is_changed |= was_in_force != new.as_ref().is_some_and(is_in_force);
            merged.extend(new);
        }
        let room = MAX_TUPLES - others;
        is_changed |= merged.len() > room;
        merged.truncate(room);
        (node.ansn, node.neighbours) = (ansn, merged);
        self.tuples = others + node.neighbours.len();
        if node.neighbours.is_empty() {
            self.nodes.remove(&originator);
        }
        is_changed
    }

    /// Whom a node advertises, and until when that holds.
    pub(in crate::routing::olsr) fn advertised(
        &self,
        node: Ipv4Addr,
        now: Instant,
    ) -> impl Iterator<Item = (Ipv4Addr, Instant)> + '_ {
        let tuples = self.nodes.get(&node).into_iter().flat_map(|node| &node.neighbours);
        tuples.copied().filter(move |&(_, until)| until > now)
    }

    /// Forgets what has passed. Nothing depends on when, but the memory.
    pub(in crate::routing::olsr) fn sweep(&mut self, now: Instant) {
        self.nodes.retain(|_, node| {
            node.neighbours.retain(|&(_, until)| until > now);
            !node.neighbours.is_empty()
        });
        self.tuples = self.nodes.values().map(|node| node.neighbours.len()).sum();
    }

    /// How many tuples there are.
    pub(in crate::routing::olsr) fn len(&self) -> usize {
        #[cfg(test)]
        assert_eq!(self.tuples, self.nodes.values().map(|node| node.neighbours.len()).sum::<usize>());
        self.tuples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    fn address(node: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, node)
    }

    const fn at(secs: u64) -> Instant {
        Instant::from_nanos(secs * 1_000_000_000)
    }

    fn tell(topology: &mut Topology, ansn: u16, neighbours: &[u8], now: u64) -> bool {
        let until = at(now) + Duration::from_secs(15);
        topology.handle_tc(address(1), ansn, neighbours.iter().map(|&node| address(node)), until, at(now))
    }

    fn known(topology: &Topology, now: u64) -> Vec<u8> {
        topology.advertised(address(1), at(now)).map(|(address, _)| address.octets()[3]).collect()
    }

    #[test]
    fn a_newer_number_replaces_and_the_same_one_adds() {
        let mut topology = Topology::default();
        assert!(tell(&mut topology, 65535, &[3, 2], 0));
        assert!(tell(&mut topology, 65535, &[4], 1), "the second part of one set");
        assert_eq!(known(&topology, 1), [2, 3, 4]);
        assert!(!tell(&mut topology, 65535, &[2, 3, 4], 2), "refreshed");
        assert!(tell(&mut topology, 0, &[2, 3], 3), "numbers wrap around");
        assert_eq!(known(&topology, 3), [2, 3]);
        assert!(!tell(&mut topology, 1, &[3, 2], 4), "another number, but the same set");
        assert!(!tell(&mut topology, 65535, &[7], 5), "an old message");
        assert_eq!((known(&topology, 5), topology.len()), (vec![2, 3], 2));
        assert!(tell(&mut topology, 2, &[], 6), "an empty one takes all back");
        assert_eq!((known(&topology, 6), topology.len()), (vec![], 0));
    }

    #[test]
    fn a_tuple_holds_for_its_time_and_then_any_number_is_new() {
        let mut topology = Topology::default();
        tell(&mut topology, 100, &[2, 3], 0);
        tell(&mut topology, 100, &[3], 5);
        assert_eq!(known(&topology, 14), [2, 3]);
        assert_eq!(known(&topology, 15), [3]);
        assert!(tell(&mut topology, 100, &[2], 16), "2 is back");
        topology.sweep(at(20));
        assert_eq!((known(&topology, 20), topology.len()), (vec![2], 1));
        assert!(!tell(&mut topology, 99, &[2], 30));
        assert!(tell(&mut topology, 7, &[2], 31), "a node that was started anew");
    }

    #[test]
    fn the_number_of_tuples_is_bounded() {
        let mut topology = Topology::default();
        let many = |from: u32, count: u32| (from..from + count).map(Ipv4Addr::from_bits);
        topology.handle_tc(address(1), 1, many(0, 60_000), at(15), at(0));
        topology.handle_tc(address(2), 1, many(0, 60_000), at(15), at(0));
        assert_eq!(topology.len(), MAX_TUPLES);
        topology.handle_tc(address(2), 2, many(100, 60_000), at(15), at(1));
        assert_eq!(topology.len(), MAX_TUPLES);
        topology.handle_tc(address(1), 2, many(0, 10), at(15), at(1));
        assert_eq!(topology.len(), 10 + 5536);
    }
}
