//! An IP datagram, or a fragment of one, as a small value: its headers, and the identity of its data.

use crate::id::{FlowId, NodeId};
use hopcast_protocols::fec;
use hopcast_protocols::random::{self, Purpose};
use hopcast_protocols::routing::Encapsulation;
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::tcp::Segment;
use hopcast_protocols::transport::{dccp, rtp};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::{MacAddress, arp};
use std::sync::Arc;

/// Bytes of an IPv4 header without options (RFC 791, section 3.1).
pub(crate) const IPV4_HEADER: u32 = 20;
/// Protocol number of TCP ("Assigned internet protocol numbers", IANA).
pub(in crate::host) const TCP: u8 = 6;
/// That of UDP.
pub(in crate::host) const UDP: u8 = 17;
/// That of DCCP.
pub(in crate::host) const DCCP: u8 = 33;
/// Bytes of a UDP header (RFC 768).
pub(crate) const UDP_HEADER: u32 = 8;
/// Bytes of a TCP header without options (RFC 9293, section 3.1).
pub(crate) const TCP_HEADER: u32 = 20;
/// Bytes of an ARP packet (RFC 826).
pub(crate) const ARP_PACKET: u32 = arp::PACKET_LEN as u32;
/// Most bytes of one IP datagram: the total length field has 16 bits (RFC 791, section 3.1).
pub(crate) const MAX_IP_DATAGRAM: u32 = 65_535;
/// Most bytes of one IP datagram after its header.
pub(crate) const MAX_IP_PAYLOAD: u32 = MAX_IP_DATAGRAM - IPV4_HEADER;
/// Most bytes of one UDP datagram of an application.
pub(crate) const MAX_UDP_PAYLOAD: u32 = MAX_IP_PAYLOAD - UDP_HEADER;
/// Time to live of a new datagram (RFC 1700, "Assigned numbers", IP time to live parameter).
pub(crate) const DEFAULT_TTL: u8 = 64;

/// One IPv4 packet. It carries no bytes of applications, except those of real hosts; a capture fills them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The IP header.
    pub ip: Ipv4,
    /// The transport header of the whole datagram; each fragment has a copy, though only the first one carries its bytes.
    pub body: Body,
    /// Information for measurement.
    pub tag: Tag,
    /// Parts that most packets do not have.
    pub part: Option<Arc<Part>>,
}

/// Parts of some packets in addition to their headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The part of a routing protocol after the IP header.
    pub routing: Option<RoutingPart>,
    /// Meaning of the payload for FEC.
    pub coded: Option<Arc<Coded>>,
    /// The bytes of a real host.
    pub real: Option<RealPart>,
    /// The first bytes of a program's datagram, where they mean something.
    pub content: Option<Arc<[u8]>>,
    /// Number of packets like this one for which it stands besides itself.
    pub more: u8,
}

/// The bytes of a frame of a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPart {
    /// Receiver in the Ethernet frame: for a group address, the intended receivers of a frame to all.
    pub destination: MacAddress,
    /// Sender in the Ethernet frame.
    pub source: MacAddress,
    /// Bytes after the Ethernet header. Fields of an IPv4 header that change on the way are those of [`Packet::ip`].
    pub octets: Arc<[u8]>,
}

/// A datagram of an application, identified by number instead of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Its number in the flow.
    pub seq: u64,
    /// Time when the application wrote it.
    pub created: Instant,
}

/// A source packet or a repair packet of FEC.
pub type Coded = fec::Packet<fec::Counting<Datagram>>;

/// A message of a routing protocol, or its header before the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingPart {
    /// Encapsulation.
    pub encapsulation: Encapsulation,
    /// The bytes, in the protocol's format.
    pub octets: Arc<[u8]>,
}

impl RoutingPart {
    /// Bytes after the IP header, including a UDP header if there is one; in ARP all bytes, as there is no IP header.
    pub(crate) fn octets_on_air(&self) -> u32 {
        let header = match self.encapsulation {
            Encapsulation::Udp { .. } => UDP_HEADER,
            Encapsulation::Ip { .. } => 0,
            Encapsulation::Arp => ARP_PACKET,
        };
        header + self.octets.len() as u32
    }
}

/// The fields of the IPv4 header (RFC 791, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4 {
    /// Source address.
    pub source: NodeId,
    /// Destination address.
    pub destination: NodeId,
    /// Identification of the datagram among those of this source, destination and protocol.
    pub id: u16,
    /// Offset of this fragment in the datagram, in bytes; a multiple of 8.
    pub offset: u16,
    /// Bytes of the datagram in this packet, after the IP header and the routing protocol's part.
    pub payload: u16,
    /// Whether further fragments follow in the datagram.
    pub more_fragments: bool,
    /// Time to live.
    pub ttl: u8,
    /// Explicit congestion notification (RFC 3168, section 5).
    pub ecn: Ecn,
}

/// The transport header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// UDP (RFC 768).
    Udp {
        /// Source port.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
        /// Bytes of the application.
        length: u16,
    },
    /// TCP (RFC 9293).
    Tcp {
        /// Source port.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
        /// The rest of the header, and the extent of the payload.
        segment: Segment,
    },
    /// DCCP (RFC 4340): its header is bytes, including ports.
    Dccp(dccp::Packet),
    /// RTP (RFC 3550) and its control protocol over UDP.
    Rtp {
        /// Source port.
        source_port: u16,
        /// Destination port.
        destination_port: u16,
        /// The header, or a control packet, and what follows.
        packet: rtp::Packet,
    },
    /// Of a real host: [`Part::real`] has the bytes.
    Real {
        /// The protocol number.
        protocol: u8,
        /// Source port; zero without one, and of a fragment.
        source_port: u16,
        /// Destination port, the same.
        destination_port: u16,
    },
    /// No data: the packet is a message of a routing protocol.
    Message,
}

/// Information for measurement and the source's socket; it is not on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The flow to which its data or its acknowledgement belongs.
    pub flow: FlowId,
    /// Over UDP, DCCP, RTP and from real hosts the sequence number of the application's datagram in the flow, or
    /// `Tag::NO_DATAGRAM` without one; for a repair packet a separate number, from `Tag::FIRST_REPAIR` on. Over TCP
    /// the position of the byte in the stream.
    pub seq: u64,
    /// Over UDP, DCCP and RTP the time when the application wrote the datagram; otherwise the time when the packet was
    /// created.
    pub created: Instant,
    /// Index of the socket at the source of this packet; none for a message.
    pub socket: u16,
    /// User priority at interfaces.
    pub priority: UserPriority,
    /// Time after which it is not worth sending.
    pub expires: Expiry,
}

/// Time after which a packet is not worth sending, or never. Half as large as an `Option<Instant>`: a packet is copied often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry(Instant);

impl Expiry {
    /// The packet does not expire.
    pub const NEVER: Self = Self(Instant::MAX);

    /// The time; `None`: never.
    #[inline]
    pub fn at(self) -> Option<Instant> {
        (self.0 < Instant::MAX).then_some(self.0)
    }
}

impl From<Option<Instant>> for Expiry {
    fn from(at: Option<Instant>) -> Self {
        Self(at.unwrap_or(Instant::MAX))
    }
}

impl Tag {
    /// [`Self::seq`] of a packet of DCCP or RTP that carries no data, and of one over UDP or of a real host that belongs to no flow.
    pub(crate) const NO_DATAGRAM: u64 = u64::MAX;
    /// [`Self::seq`] of a flow's first repair packet; those of datagrams are lower.
    pub(crate) const FIRST_REPAIR: u64 = 1 << 63;
}

impl Packet {
    /// Number of the application's datagram in the flow, or of the repair packet, if this is one, or a part of one, that is
    /// lost with it.
    pub fn datagram(&self) -> Option<u64> {
        match self.body {
            Body::Udp { .. } | Body::Dccp(_) | Body::Rtp { .. } | Body::Real { .. } => {
                Some(self.tag.seq).filter(|&seq| seq != Tag::NO_DATAGRAM)
            }
            Body::Tcp { .. } | Body::Message => None,
        }
    }

    /// The flow that its data or acknowledgement belongs to, and [`Tag::seq`]; `None` for messages of routing protocols.
    pub(crate) fn flow_and_number(&self) -> Option<(FlowId, u64)> {
        (self.tag.flow != FlowId::NONE).then_some((self.tag.flow, self.tag.seq))
    }

    /// Identity of the flow for queues that are fair to flows: addresses, protocol and ports (RFC 8290, section 4.1).
    /// Fragments go without the ports, which only the first of them carries, and so stay in order among themselves.
    pub fn flow(&self) -> u64 {
        let ports = match self.is_fragment() {
            true => 0,
            false => u64::from(self.body.source_port()) << 16 | u64::from(self.body.destination_port()),
        };
        flow_between(self.ip.source, self.ip.destination, u64::from(self.body.protocol()) << 32 | ports)
    }

    /// Puts a routing protocol's part after the IP header, replacing an existing one.
    pub(crate) fn set_routing(&mut self, routing: Option<RoutingPart>) {
        if routing.is_none() && self.routing().is_none() {
            return;
        }
        let others = self.part.as_deref().cloned().unwrap_or_default();
        let part = Part { routing, ..others };
        self.part = (part != Part::default()).then(|| Arc::new(part));
    }

    /// Meaning of the payload for FEC, if the flow is protected.
    pub fn coded(&self) -> Option<&Arc<Coded>> {
        self.part.as_deref()?.coded.as_ref()
    }

    /// Bytes of this packet, its IP header included.
    pub fn octets(&self) -> u32 {
        IPV4_HEADER + u32::from(self.ip.payload) + self.routing().map_or(0, RoutingPart::octets_on_air)
    }

    /// The part of a routing protocol after the IP header.
    pub fn routing(&self) -> Option<&RoutingPart> {
        self.part.as_deref()?.routing.as_ref()
    }

    /// The first bytes of the datagram, where they mean something.
    pub fn content(&self) -> Option<&Arc<[u8]>> {
        self.part.as_deref()?.content.as_ref()
    }

    /// Number of packets like this one for which it stands.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.part.as_deref().map_or(1, |part| 1 + u32::from(part.more))
    }

    /// The bytes of the real host that sent it.
    pub fn real(&self) -> Option<&RealPart> {
        self.part.as_deref()?.real.as_ref()
    }

    /// The protocol field of the IP header ("Assigned internet protocol numbers", IANA).
    pub fn protocol(&self) -> u8 {
        match self.routing() {
            Some(&RoutingPart { encapsulation: Encapsulation::Ip { protocol }, .. }) => protocol,
            Some(_) | None => self.body.protocol(),
        }
    }

    /// Whether this is one of several fragments of a datagram.
    pub(crate) const fn is_fragment(&self) -> bool {
        self.ip.more_fragments || self.ip.offset > 0
    }
}

impl Body {
    /// The protocol number of the datagram ("Assigned internet protocol numbers", IANA); for a message that of UDP,
    /// unless the message has a separate number.
    pub const fn protocol(&self) -> u8 {
        match self {
            Self::Tcp { .. } => TCP,
            Self::Dccp(_) => DCCP,
            Self::Udp { .. } | Self::Rtp { .. } | Self::Message => UDP,
            Self::Real { protocol, .. } => *protocol,
        }
    }

    /// Source port; zero without data.
    pub fn source_port(&self) -> u16 {
        match *self {
            Self::Message => 0,
            Self::Udp { source_port, .. }
            | Self::Tcp { source_port, .. }
            | Self::Rtp { source_port, .. }
            | Self::Real { source_port, .. } => source_port,
            Self::Dccp(ref packet) => hopcast_wire::dccp::Packet::new_unchecked(&packet.header[..]).source_port(),
        }
    }

    /// Destination port; zero without data.
    pub fn destination_port(&self) -> u16 {
        match *self {
            Self::Message => 0,
            Self::Udp { destination_port, .. }
            | Self::Tcp { destination_port, .. }
            | Self::Rtp { destination_port, .. }
            | Self::Real { destination_port, .. } => destination_port,
            Self::Dccp(ref packet) => hopcast_wire::dccp::Packet::new_unchecked(&packet.header[..]).destination_port(),
        }
    }

    /// Bytes of the whole datagram after its IP header, which this host creates: transport header, options and payload.
    pub fn octets(&self) -> u32 {
        match self {
            Self::Udp { length, .. } => UDP_HEADER + u32::from(*length),
            Self::Tcp { segment, .. } => TCP_HEADER + segment.options_len() + u32::from(segment.payload_len),
            Self::Dccp(packet) => packet.header.len() as u32 + packet.payload.len,
            Self::Rtp { packet, .. } => UDP_HEADER + packet.header.len() as u32 + packet.payload.len,
            Self::Message | Self::Real { .. } => 0,
        }
    }

    /// Whether it carries data of a transport protocol.
    pub const fn has_data(&self) -> bool {
        !matches!(self, Self::Message)
    }
}

// A packet is copied at each hop that changes it.
const _: () = assert!(size_of::<Packet>() <= 128);

/// Names a flow between two nodes, with protocol and ports.
pub(in crate::host) fn flow_between(source: NodeId, destination: NodeId, protocol_and_ports: u64) -> u64 {
    let addresses = u64::from(source.0) << 32 | u64::from(destination.0);
    random::hash(0, Purpose::FlowQueue, addresses, protocol_and_ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(destination_port: u16, id: u16, offset: u16, more_fragments: bool) -> Packet {
        let (source, destination) = (NodeId(3), NodeId(7));
        Packet {
            ip: Ipv4 { source, destination, id, offset, payload: 1480, more_fragments, ttl: 64, ecn: Ecn::NotEct },
            body: Body::Udp { source_port: 9, destination_port, length: 1472 },
            tag: Tag {
                flow: FlowId(0),
                seq: 0,
                created: Instant::START,
                socket: 0,
                priority: UserPriority::BEST_EFFORT,
                expires: Expiry::NEVER,
            },
            part: None,
        }
    }

    #[test]
    fn a_flow_is_that_of_the_headers() {
        assert_eq!(packet(80, 1, 0, false).flow(), packet(80, 2, 0, false).flow());
        assert_ne!(packet(80, 1, 0, false).flow(), packet(81, 1, 0, false).flow());
        // The first fragment has ports, the others have not.
        assert_eq!(packet(80, 1, 0, true).flow(), packet(80, 1, 1480, false).flow());
    }
}
