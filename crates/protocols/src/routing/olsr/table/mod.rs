//! The routing table (RFC 3626, 10).

pub(super) mod interfaces;
pub(super) mod topology;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use self::interfaces::Interfaces;
use self::topology::Topology;
use super::neighbours::Neighbourhood;
use crate::routing::{NextHop, Route};
use crate::time::Instant;

/// First hops and lengths of shortest paths.
#[derive(Debug)]
pub(super) struct Routes {
    ways: BTreeMap<Ipv4Addr, Way>,
    /// When they were calculated.
    pub(super) calculated: Instant,
    /// A tuple that a route rests on passes then.
    until: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    first: NextHop,
    /// Hops to the destination.
    hops: u32,
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
        let mut ways = BTreeMap::new();
        let mut hops = 1;
        let mut until = Instant::MAX;
        // Step 2. The node's own address is no destination: it is taken out at the end.
        for (address, links) in neighbourhood.symmetric_neighbours() {
            ways.entry(address).or_insert(Way { first: links[0], hops });
        }
        // Step 3: what lies at two hops is known from the neighbours themselves.
        hops += 1;
        let mut frontier = Vec::new();
        for (address, links) in neighbourhood.symmetric_neighbours() {
            for node in neighbourhood.two_hops(address).filter(|&node| node != own) {
                ways.entry(node).or_insert_with(|| {
                    frontier.push(node);
                    Way { first: links[0], hops }
                });
            }
        }
        // And from there on, hop by hop.
        while !frontier.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for last in frontier {
                let Way { first, .. } = ways[&last];
                for (node, tuple_until) in topology.advertised(last, now).filter(|&(node, _)| node != own) {
                    ways.entry(node).or_insert_with(|| {
                        next.push(node);
                        until = until.min(tuple_until);
                        Way { first, hops }
                    });
                }
            }
            frontier = next;
        }
        // Further addresses: of neighbours as their links have them, of others as they have told (step 4).
        for (_, links) in neighbourhood.symmetric_neighbours() {
            for &hop in links {
                ways.entry(hop.address).or_insert(Way { first: hop, hops: 1 });
            }
        }
        for (address, main, tuple_until) in interfaces.iter(now).filter(|&(address, _, _)| address != own) {
            if let Some(&way) = ways.get(&main) {
                ways.entry(address).or_insert_with(|| {
                    until = until.min(tuple_until);
                    way
                });
            }
        }
        Self { ways, calculated: now, until }
    }

    /// The first hop towards a destination.
    pub(super) fn next_hop(&self, destination: Ipv4Addr) -> Option<NextHop> {
        self.ways.get(&destination).map(|way| way.first)
    }

    /// All of them, in the order of addresses.
    pub(super) fn iter(&self) -> impl Iterator<Item = Route> {
        self.ways.iter().map(|(&destination, way)| Route { destination, hop: way.first, hops: way.hops })
    }

    /// Whether no tuple that a route rests on has passed.
    pub(super) fn hold(&self, now: Instant) -> bool {
        self.until > now
    }
}
