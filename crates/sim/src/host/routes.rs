//! Where a host sends what is for another: a forwarding table (RFC 1812, section 5.2.4).

use super::NodeId;
use hopcast_radio::mac::StationId;

/// A neighbour of a host, and the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The interface that leads there, by its place among those of the host.
    pub interface: u32,
    /// The neighbour.
    pub node: NodeId,
    /// Its radio; `None` at the other end of a wire.
    pub station: Option<StationId>,
}

/// The next hop towards each destination.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    hops: Vec<Hop>,
    /// By destination: place in `hops`, or [`NONE`], which is beyond them.
    to: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Routes {
    /// A table for so many destinations, with routes to none. `hops` are those that its routes may take.
    pub fn new(hops: Vec<Hop>, destinations: usize) -> Self {
        Self { hops, to: vec![NONE; destinations] }
    }

    /// Sends what is for `destination` over the hop at this place.
    pub fn set(&mut self, destination: NodeId, hop: usize) {
        self.to[destination.0 as usize] = hop as u32;
    }

    /// Sends what is for `destination` over this hop, which need not be one of those so far; or nowhere.
    pub fn redirect(&mut self, destination: NodeId, hop: Option<Hop>) {
        let place = hop.map_or(NONE as usize, |hop| {
            self.hops.iter().position(|&known| known == hop).unwrap_or_else(|| {
                self.hops.push(hop);
                self.hops.len() - 1
            })
        });
        self.set(destination, place);
    }

    /// The next hop towards `destination`.
    pub fn get(&self, destination: NodeId) -> Option<&Hop> {
        self.hops.get(*self.to.get(destination.0 as usize)? as usize)
    }
}
