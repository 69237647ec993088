//! Real hosts in a run: Ethernet frames in and out, and conversations.

mod transit;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::StationId;
use hopcast_wire::{MacAddress, ethernet};

use crate::address::{mac_address, station_of, wire_address};
use crate::engine::{Attachment, Port, Ports};
use crate::host::packet::{Body, Packet};
use crate::host::{Arrival, BegunDatagrams, Ends, Hop, Host, Listener, Neighbour, Neighbours, RealFrame, Sdu};
use crate::id::{FlowId, NodeId};
use crate::layout;
use crate::metrics::conversation::{Conversations, Key, Segment};
use crate::metrics::{Census, FlowTable};
use crate::octets::{self, Encoder};
use crate::scenario::model::Scenario;
use transit::Transit;

/// Reason why a frame of a real host is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not an Ethernet frame with an EtherType.
    #[error(transparent)]
    Malformed(#[from] hopcast_wire::ParseError),
    /// Its source address is not that of the interface, as behind a bridge: a station sends only for itself.
    #[error("it comes from {0}, which is not the address of the interface")]
    ForeignSource(MacAddress),
    /// No other station has its destination address.
    #[error("no other station has the address {0}")]
    NoStation(MacAddress),
    /// The simulated node at the other end of the wire does not have its destination address.
    #[error("the node at the other end of the wire does not have the address {0}")]
    NotAtOtherEnd(MacAddress),
}

/// A frame for a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Time when its station had received it.
    pub at: Instant,
    /// The receiving node.
    pub node: NodeId,
    /// Index of the receiving interface at the node.
    pub interface: u32,
    /// The Ethernet frame.
    pub octets: Vec<u8>,
}

/// What lies between the hosts of a run and real ones.
pub(super) struct RealHosts {
    encoder: Encoder,
    neighbours: Neighbours,
    pub(super) listeners: Vec<Listener>,
    pub(super) begun: BegunDatagrams,
    pub(super) conversations: Conversations,
    transit: Transit,
    /// Where they stand, in ascending order.
    nodes: Vec<NodeId>,
}

impl core::fmt::Debug for RealHosts {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RealHosts").field("listeners", &self.listeners).finish_non_exhaustive()
    }
}

impl RealHosts {
    pub(super) fn new(scenario: &Scenario, hosts: &[Host], listeners: Vec<Listener>) -> Self {
        let neighbours = layout::neighbours(scenario);
        let nodes = hosts.iter().filter(|host| host.is_real()).map(Host::node).collect();
        Self {
            encoder: Encoder::new(scenario),
            neighbours,
            listeners,
            begun: BegunDatagrams::default(),
            conversations: Conversations::default(),
            transit: Transit::default(),
            nodes,
        }
    }

    /// The real host at `node` sends `packet`, now: makes it known as one of a conversation, if it goes from one real host to
    /// another one and belongs to no flow.
    pub(super) fn handle_sent(&mut self, packet: &mut Packet, node: NodeId, flows: &mut FlowTable, now: Instant) {
        // Nobody acknowledges a frame to a group: of a packet in it that nobody receives, no loss is told.
        let is_in_group_frame = packet.real().is_some_and(|part| part.destination.is_group());
        if packet.tag.flow != FlowId::NONE || is_in_group_frame {
            return;
        }
        if packet.ip.source != node {
            // One of another host, which this one passes on.
            if let Some(tag) = self.transit.take(packet, node) {
                (packet.tag.flow, packet.tag.seq, packet.tag.created) = (tag.flow, tag.seq, tag.created);
            }
            return;
        }
        let Some(segment) = self.segment(packet) else { return };
        if let Some((flow, seq)) = self.conversations.handle_sent(&segment, flows, now) {
            (packet.tag.flow, packet.tag.seq) = (flow, seq);
        }
    }

    /// What a packet of a real host says, if it is for another one.
    fn segment<'p>(&self, packet: &'p Packet) -> Option<Segment<'p>> {
        let Body::Real { protocol, .. } = packet.body else { return None };
        let (from, to) = (packet.ip.source, packet.ip.destination);
        self.nodes.binary_search(&to).ok().filter(|_| from != to)?;
        let key = Key { from, to, protocol, ports: packet.real_ports() };
        let fragment = packet.is_fragment().then_some((packet.ip.id, packet.ip.offset == 0));
        Some(Segment { key, fragment, payload: packet.real_payload() })
    }

    /// The run ends at `now`: packets that real hosts have not passed on for long are lost there.
    pub(super) fn finish(&mut self, flows: &mut FlowTable, now: Instant) {
        self.transit.expire(flows, now);
    }

    /// Counts the packets that real hosts hold which are to pass them on.
    pub(super) fn count_in_flight(&self, census: &mut Census) {
        self.transit.tags().for_each(|tag| census.insert(tag.flow, tag.seq));
    }

    /// The next frame for a real host at one of `hosts`, in the order in which they came, and of equals by node.
    pub(super) fn poll_delivery(&mut self, hosts: &mut [Host], flows: &mut FlowTable) -> Option<Delivery> {
        loop {
            let next = |&node: &NodeId| Some((hosts[node.0 as usize].next_arrival()?, node));
            let (_, node) = self.nodes.iter().filter_map(next).min()?;
            let Arrival { at, from, sdu } = hosts[node.0 as usize].poll_arrival()?;
            if let Sdu::Ip(packet) = &sdu {
                self.handle_handed_out(packet, node, flows, at);
            }
            let octets = match self.neighbours.wire(node, from.interface) {
                // It came over the other direction of the link.
                Some(wire) => self.encoder.encode_ethernet_on_wire(&sdu, wire ^ 1),
                None => {
                    let own = self.neighbours.radios(node).nth(from.interface as usize).map(mac_address);
                    let own = own.unwrap_or(MacAddress::BROADCAST);
                    let source = self.source(node, from).map_or(own, mac_address);
                    self.encoder.encode_ethernet(&sdu, octets::group(&sdu).unwrap_or(own), source)
                }
            };
            if let Some(octets) = octets {
                return Some(Delivery { at, node, interface: from.interface, octets: octets.to_vec() });
            }
        }
    }

    /// The real host at `node` was given `packet` at `at`.
    fn handle_handed_out(&mut self, packet: &Packet, node: NodeId, flows: &mut FlowTable, at: Instant) {
        if packet.tag.flow == FlowId::NONE {
            return;
        }
        if packet.ip.destination == node {
            let (tag, payload) = (packet.tag, packet.real_payload());
            self.conversations.handle_received(tag.flow, payload, tag.created, at);
        } else if packet.datagram().is_some() {
            self.transit.insert(packet, node, flows, at);
        }
    }

    /// The station that `from` sent with.
    fn source(&self, node: NodeId, from: Neighbour) -> Option<StationId> {
        self.neighbours.hop(node, from.interface, from.node).and_then(|hop| hop.station)
    }
}

/// Reads a frame that the real host at `port` sends: what it is, and whom it is for.
pub(super) fn read_frame(
    octets: &[u8],
    port: Port,
    ports: &Ports,
    hosts: &[Host],
    now: Instant,
) -> Result<(Hop, Sdu), Refusal> {
    let packet = ethernet::Packet::new_checked(octets)?;
    let is_routed = hosts[port.host as usize].router().is_some();
    let own = match ports.attachment(port.host as usize, port.interface) {
        Attachment::Station(station) => station,
        Attachment::Wire(wire) => {
            let other = &hosts[ports.of_wire(wire as usize)[1].host as usize];
            return read_frame_for_wire(&packet, port, wire, is_routed, other, now);
        }
    };
    let header = ethernet::Repr::parse(&packet)?;
    if header.source != mac_address(own) {
        return Err(Refusal::ForeignSource(header.source));
    }
    let destination = header.destination;
    // Behind a routing protocol of the simulation a host has no neighbours, and addresses itself.
    let is_handed_over = is_routed && destination == header.source;
    let station = if destination.is_group() || is_handed_over {
        None
    } else {
        let is_other = |station: &StationId| *station != own && (station.0 as usize) < ports.stations();
        Some(station_of(destination).filter(is_other).ok_or(Refusal::NoStation(destination))?)
    };
    let to = station.map_or(NodeId::ALL, |station| NodeId(ports.of_station(station).host));
    let ethernet::Repr { source, ether_type, .. } = header;
    let frame = RealFrame { destination, source, ether_type, octets: packet.payload() };
    let sdu = Sdu::of_real(&frame, Ends { source: NodeId(port.host), destination: to }, now);
    Ok((Hop { interface: port.interface, node: to, station }, sdu))
}

/// The same for a frame that goes to `other` over a wire.
fn read_frame_for_wire(
    packet: &ethernet::Packet<&[u8]>,
    port: Port,
    wire: u32,
    is_routed: bool,
    other: &Host,
    now: Instant,
) -> Result<(Hop, Sdu), Refusal> {
    let (destination, source) = (packet.destination(), packet.source());
    let is_between_real = !is_routed && other.is_real() && other.router().is_none();
    if !is_between_real {
        ethernet::Repr::parse(packet)?;
        let own = wire_address(wire);
        if source != own {
            return Err(Refusal::ForeignSource(source));
        }
        let is_handed_over = is_routed && destination == own;
        if !destination.is_group() && destination != wire_address(wire ^ 1) && !is_handed_over {
            return Err(Refusal::NotAtOtherEnd(destination));
        }
    }
    let node = other.node();
    let to = if destination.is_group() { NodeId::ALL } else { node };
    let ends = Ends { source: NodeId(port.host), destination: to };
    let ether_type = packet.length_or_type().into();
    let frame = RealFrame { destination, source, ether_type, octets: packet.payload() };
    let sdu = if is_between_real { Sdu::between_real(&frame, ends, now) } else { Sdu::of_real(&frame, ends, now) };
    Ok((Hop { interface: port.interface, node, station: None }, sdu))
}
