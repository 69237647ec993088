//! The nodes that the interfaces of all hosts lead to, for routing protocols that name a neighbour by its address.

use super::routes::Hop;
use crate::address::{mac_address, wire_address};
use crate::id::NodeId;
use hopcast_radio::mac::StationId;
use hopcast_wire::MacAddress;

/// Possible neighbours on each interface of each node, whether in range or not.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// By node: its radios, in the order of its interfaces.
    radios: Vec<Vec<(StationId, Channel)>>,
    /// By node: the wires that begin there and the nodes at their other ends, in the order of the interfaces after the radios.
    wires: Vec<Vec<(u32, NodeId)>>,
    /// Number of wires, two for each link.
    wire_count: u32,
}

/// What radios share that may hear each other's frames and heed them: the frequency, and the name of the network.
type Channel = (u64, u32);

impl Neighbours {
    /// This number of nodes without interfaces.
    pub fn new(nodes: usize) -> Self {
        Self { radios: vec![Vec::new(); nodes], wires: vec![Vec::new(); nodes], wire_count: 0 }
    }

    /// Adds a radio to `node`, after the existing ones.
    pub(crate) fn add_radio(&mut self, node: NodeId, station: StationId, channel: Channel) {
        self.radios[node.0 as usize].push((station, channel));
    }

    /// Adds a link between two nodes, after the existing ones: a wire in each direction.
    pub(crate) fn add_wire(&mut self, [a, b]: [NodeId; 2]) {
        self.wires[a.0 as usize].push((self.wire_count, b));
        self.wires[b.0 as usize].push((self.wire_count + 1, a));
        self.wire_count += 2;
    }

    /// The hop from `node` over one of its interfaces to `to`; `None` if the interface does not lead there.
    pub fn hop(&self, node: NodeId, interface: u32, to: NodeId) -> Option<Hop> {
        let radios = &self.radios[node.0 as usize];
        match radios.get(interface as usize) {
            Some((_, channel)) if to != node => {
                let (station, _) = self.radios.get(to.0 as usize)?.iter().find(|(_, other)| other == channel)?;
                Some(Hop { interface, node: to, station: Some(*station) })
            }
            Some(_) => None,
            None => {
                let (_, other) = *self.wires[node.0 as usize].get(interface as usize - radios.len())?;
                (other == to).then_some(Hop { interface, node: to, station: None })
            }
        }
    }

    /// The radios of `node`, in the order of its interfaces, of which they are the first.
    pub fn radios(&self, node: NodeId) -> impl Iterator<Item = StationId> {
        self.radios[node.0 as usize].iter().map(|&(station, _)| station)
    }

    /// The wires that begin at `node`, in the order of its interfaces after the radios.
    pub fn wires(&self, node: NodeId) -> impl Iterator<Item = u32> {
        self.wires[node.0 as usize].iter().map(|&(wire, _)| wire)
    }

    /// The wire that begins at an interface of `node`; `None` for a radio.
    pub(crate) fn wire(&self, node: NodeId, interface: u32) -> Option<u32> {
        let place = (interface as usize).checked_sub(self.radios[node.0 as usize].len())?;
        self.wires(node).nth(place)
    }

    /// The hardware addresses of a node's interfaces, in their order.
    pub fn hardware(&self, node: NodeId) -> impl Iterator<Item = MacAddress> {
        self.radios(node).map(mac_address).chain(self.wires(node).map(wire_address))
    }

    /// All nodes that an interface of `node` leads to.
    pub fn all(&self, node: NodeId, interface: u32) -> Hop {
        let wire = (interface as usize).checked_sub(self.radios[node.0 as usize].len());
        Hop { interface, node: wire.map_or(NodeId::ALL, |wire| self.wires[node.0 as usize][wire].1), station: None }
    }
}
