//! Neighbours: the interface over which each was heard, and those that may not hear this node.

pub(super) mod blacklist;

use std::net::Ipv4Addr;

use super::Dsr;
use crate::routing::NextHop;

impl Dsr {
    /// A neighbour was heard.
    pub(super) fn on_heard(&mut self, from: NextHop) {
        if self.interfaces > 1 {
            self.heard_over.insert(from.address, from.interface);
        }
    }

    /// A neighbour, over the interface where it was last heard.
    pub(super) fn hop_to(&self, neighbour: Ipv4Addr) -> NextHop {
        NextHop { interface: self.heard_over.get(&neighbour).copied().unwrap_or(0), address: neighbour }
    }
}
