//! The Route Cache (RFC 4728, 4.1), in the two forms that the RFC describes.
//!
//! As the MAC of these networks needs links in both directions for unicast packets, what is learned of a link is taken to hold for
//! both (RFC 4728, 3.3.1, third case), and so is what is learned of its end.

mod link;
mod path;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;

use hopcast_wire::dsr::MAX_ADDRESSES_OF_ROUTE;

use self::link::LinkCache;
use self::path::PathCache;
use super::config::{Cache, Config};
use crate::time::Instant;

/// The most hops that a source route can have.
pub(super) const MAX_HOPS: usize = MAX_ADDRESSES_OF_ROUTE + 1;

/// A route from this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// The nodes behind this one; the last is the destination.
    pub(super) hops: Vec<Ipv4Addr>,
    /// Whether the last hop is a path through another network (RFC 4728, 6.3).
    pub(super) is_last_external: bool,
}

/// Nodes along a path that was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Learned<'a> {
    /// The nodes in their order.
    pub(super) nodes: &'a [Ipv4Addr],
    /// Whether the last hop is a path through another network.
    pub(super) is_last_external: bool,
    /// Whether this node has asked for the path; paths that it happened to hear of make room first.
    pub(super) is_wanted: bool,
}

/// The Route Cache of a node.
#[derive(Debug)]
pub(super) enum RouteCache {
    Path(PathCache),
    Link(LinkCache),
}

impl RouteCache {
    /// An empty cache of the node `owner`.
    pub(super) fn new(config: &Config, owner: Ipv4Addr) -> Self {
        match config.cache {
            Cache::Path { primary, secondary, timeout } => {
                Self::Path(PathCache::new(owner, primary, secondary, timeout, config.rules))
            }
            Cache::Link { capacity, lifetime } => Self::Link(LinkCache::new(owner, capacity, lifetime)),
        }
    }

    /// Learns a path. One that visits a node twice is not learned.
    pub(super) fn add(&mut self, learned: Learned<'_>, now: Instant) {
        if learned.nodes.len() < 2 || has_duplicates(learned.nodes) {
            return;
        }
        match self {
            Self::Path(cache) => cache.add(learned, now),
            Self::Link(cache) => cache.add(learned, now),
        }
    }

    /// The link between these two has broken.
    pub(super) fn remove_link(&mut self, a: Ipv4Addr, b: Ipv4Addr) {
        match self {
            Self::Path(cache) => cache.remove_link(a, b),
            Self::Link(cache) => cache.remove_link(a, b),
        }
    }

    /// The best route to `destination`: the shortest of those without external hops, else the shortest.
    pub(super) fn search(&mut self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        match self {
            Self::Path(cache) => cache.search(destination, now),
            Self::Link(cache) => cache.search(destination, now),
        }
    }

    /// The same, of a cache that stays as it is.
    pub(super) fn peek(&self, destination: Ipv4Addr, now: Instant) -> Option<Route> {
        match self {
            Self::Path(cache) => cache.peek(destination, now),
            Self::Link(cache) => cache.peek(destination, now),
        }
    }

    /// A packet takes this route, which a search has just found.
    pub(super) fn on_use(&mut self, route: &Route, now: Instant) {
        match self {
            Self::Path(cache) => cache.on_use(route, now),
            Self::Link(cache) => cache.on_use(route, now),
        }
    }

    /// Changes whenever there may be a route where there was none.
    pub(super) fn additions(&self) -> u64 {
        match self {
            Self::Path(cache) => cache.additions(),
            Self::Link(cache) => cache.additions(),
        }
    }

    /// How many addresses are stored.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Path(cache) => cache.size(),
            Self::Link(cache) => cache.size(),
        }
    }
}

/// Whether a node is in the list twice.
pub(super) fn has_duplicates(nodes: &[Ipv4Addr]) -> bool {
    // Routes are short: comparing all pairs is faster than a set.
    nodes.iter().enumerate().any(|(place, node)| nodes[..place].contains(node))
}
