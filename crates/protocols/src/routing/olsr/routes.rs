//! The routing table (RFC 3626, 10).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::interfaces::Interfaces;
use super::neighbourhood::Neighbourhood;
use super::topology::Topology;
use crate::routing::NextHop;
use crate::time::Instant;

/// First hops of shortest paths.
#[derive(Debug)]
pub(super) struct Routes {
    hops: BTreeMap<Ipv4Addr, NextHop>,
    /// A tuple that a route rests on passes then.
    until: Instant,
}

impl Routes {
    /// Calculates all routes from `own`: O((n + m) log n) with n nodes and m tuples.
    ///
    /// Of two paths of the same length, the one is taken whose nodes come first in the order of addresses, from the near end on.
    pub(super) fn calculate(
        own: Ipv4Addr,
        neighbourhood: &Neighbourhood,
        topology: &Topology,
        interfaces: &Interfaces,
        now: Instant,
    ) -> Self {
        let mut hops = BTreeMap::new();
        let mut until = Instant::MAX;
        // Step 2. The node's own address is no destination: it is taken out at the end.
        for (address, links) in neighbourhood.symmetric_neighbours() {
            hops.entry(address).or_insert(links[0]);
        }
        // Step 3: what lies at two hops is known from the neighbours themselves.
        let mut frontier = Vec::new();
        for (address, links) in neighbourhood.symmetric_neighbours() {
            for node in neighbourhood.two_hops(address).filter(|&node| node != own) {
                hops.entry(node).or_insert_with(|| {
                    frontier.push(node);
                    links[0]
                });
            }
        }
        // And from there on, hop by hop.
        while !frontier.is_empty() {
            let mut next = Vec::new();
            for last in frontier {
                let hop = hops[&last];
                for (node, tuple_until) in topology.advertised(last, now).filter(|&(node, _)| node != own) {
                    hops.entry(node).or_insert_with(|| {
                        next.push(node);
                        until = until.min(tuple_until);
                        hop
                    });
                }
            }
            frontier = next;
        }
        // Further addresses: of neighbours as their links have them, of others as they have told (step 4).
        for (_, links) in neighbourhood.symmetric_neighbours() {
            for &hop in links {
                hops.entry(hop.address).or_insert(hop);
            }
        }
        for (address, main, tuple_until) in interfaces.iter(now).filter(|&(address, _, _)| address != own) {
            if let Some(&hop) = hops.get(&main) {
                hops.entry(address).or_insert_with(|| {
                    until = until.min(tuple_until);
                    hop
                });
            }
        }
        Self { hops, until }
    }

    /// The first hop towards a destination.
    pub(super) fn next_hop(&self, destination: Ipv4Addr) -> Option<NextHop> {
        self.hops.get(&destination).copied()
    }

    /// Whether no tuple that a route rests on has passed.
    pub(super) fn hold(&self, now: Instant) -> bool {
        self.until > now
    }
}
