//! Forwarding table of a host (RFC 1812, section 5.2.4).

use crate::id::NodeId;
use hopcast_radio::mac::StationId;
use std::sync::Arc;

/// A neighbour of a host, and the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index of the interface that leads to it.
    pub interface: u32,
    /// The neighbour.
    pub node: NodeId,
    /// Its radio; `None` at the other end of a wire.
    pub station: Option<StationId>,
}

/// The nodes to which packets may be sent: forwarding tables have no routes to others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Destinations {
    /// By node: its place among them, or [`NONE`].
    places: Vec<u32>,
    count: usize,
}

const NONE: u32 = u32::MAX;

impl Destinations {
    /// Some of this number of nodes, in any order.
    pub(crate) fn new(nodes: usize, destinations: impl IntoIterator<Item = u32>) -> Self {
        let (mut places, mut count) = (vec![NONE; nodes], 0);
        for node in destinations {
            let place = &mut places[node as usize];
            if *place == NONE {
                *place = count as u32;
                count += 1;
            }
        }
        Self { places, count }
    }

    /// All of them, by their number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.places.iter().zip(0..).filter(|&(&place, _)| place != NONE).map(|(_, node)| node)
    }

    fn place(&self, node: NodeId) -> Option<usize> {
        self.places.get(node.0 as usize).filter(|&&place| place != NONE).map(|&place| place as usize)
    }
}

/// The next hop towards each destination.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    hops: Vec<Hop>,
    destinations: Arc<Destinations>,
    /// By place of the destination: place in `hops`, or [`NONE`], which is beyond them.
    to: Vec<u32>,
}

impl Routes {
    /// A table without routes to `destinations`. `hops` are those that its routes can use.
    pub(crate) fn new(hops: Vec<Hop>, destinations: Arc<Destinations>) -> Self {
        let to = vec![NONE; destinations.count];
        Self { hops, destinations, to }
    }

    /// Sends packets for `destination`, if it is one of the destinations, over the hop with this index.
    pub(crate) fn set(&mut self, destination: NodeId, hop: usize) {
        if let Some(place) = self.destinations.place(destination) {
            self.to[place] = hop as u32;
        }
    }

    /// Sends packets for `destination` over this hop, which may be a new one; or nowhere.
    pub(crate) fn redirect(&mut self, destination: NodeId, hop: Option<Hop>) {
        let place = hop.map_or(NONE as usize, |hop| {
            self.hops.iter().position(|&known| known == hop).unwrap_or_else(|| {
                self.hops.push(hop);
                self.hops.len() - 1
            })
        });
        self.set(destination, place);
    }

    /// The next hop towards `destination`.
    pub(crate) fn get(&self, destination: NodeId) -> Option<&Hop> {
        self.hops.get(self.to[self.destinations.place(destination)?] as usize)
    }
}
