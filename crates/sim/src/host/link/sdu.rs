//! Units that cross a link, by kind.

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::Payload;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::arp;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::ieee80211::management::{self, BlockAckAction};
use hopcast_wire::llc::EtherType;

use crate::host::packet::{ARP_PACKET, Ipv4, Packet, RealPart, RoutingPart, flow_between};
use crate::id::NodeId;

/// A service data unit of the link, which a host and an interface exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sdu {
    /// An IPv4 packet.
    Ip(Packet),
    /// An ARP packet.
    Arp(Arp),
    /// A message of a routing protocol after an ARP packet with its sender's addresses
    /// ([`Encapsulation::Arp`](hopcast_protocols::routing::Encapsulation::Arp)). Its IP header is not on the air.
    MessageInArp(Box<Packet>),
    /// The body of a management frame.
    Management(Box<Management>),
    /// A frame of a real host other than IPv4 and ARP.
    Raw(Raw),
}

/// The nodes between which a unit passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The sending node.
    pub source: NodeId,
    /// The receiving node, or all.
    pub destination: NodeId,
}

impl Ends {
    /// The two ends of a packet's whole way.
    fn of(ip: &Ipv4) -> Self {
        Self { source: ip.source, destination: ip.destination }
    }
}

/// An ARP packet (RFC 826).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arp {
    /// Its sender and receiver.
    pub ends: Ends,
    /// The message.
    pub message: arp::Repr,
}

/// The body of a management frame (IEEE 802.11-2020, 9.3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Management {
    /// Its sender and receiver.
    pub ends: Ends,
    /// The body.
    pub body: management::Repr,
    /// Time of its creation.
    pub created: Instant,
    /// Time after which it is not worth sending; `None`: never.
    pub expires: Option<Instant>,
}

/// A frame of a real host without an IPv4 packet that simulated hosts understand, and without an ARP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// Its sender and receiver.
    pub ends: Ends,
    /// Protocol of the bytes.
    pub ether_type: EtherType,
    /// The bytes.
    pub part: RealPart,
    /// User priority at interfaces.
    pub priority: UserPriority,
}

// As small as a packet, of which it is mostly one.
const _: () = assert!(size_of::<Sdu>() <= 128);

impl From<Packet> for Sdu {
    fn from(packet: Packet) -> Self {
        Self::Ip(packet)
    }
}

impl Sdu {
    /// The packet, if it is an IPv4 packet, or a message that only lacks its IP header.
    #[inline]
    pub fn packet(&self) -> Option<&Packet> {
        match self {
            Self::Ip(packet) => Some(packet),
            Self::MessageInArp(packet) => Some(packet),
            Self::Arp(_) | Self::Management(_) | Self::Raw(_) => None,
        }
    }

    /// The bytes of the real host that sent it.
    pub fn real(&self) -> Option<&RealPart> {
        match self {
            Self::Ip(packet) => packet.real(),
            Self::Raw(raw) => Some(&raw.part),
            Self::Arp(_) | Self::MessageInArp(_) | Self::Management(_) => None,
        }
    }

    /// Sender and receiver; for a packet, the ends of its whole path.
    #[inline]
    pub fn ends(&self) -> Ends {
        match self {
            Self::Ip(packet) => Ends::of(&packet.ip),
            Self::MessageInArp(packet) => Ends::of(&packet.ip),
            Self::Arp(arp) => arp.ends,
            Self::Management(management) => management.ends,
            Self::Raw(raw) => raw.ends,
        }
    }
}

impl Payload for Sdu {
    /// Of an IP packet its header included; of the body of a management frame, its own.
    #[inline]
    fn octets(&self) -> u32 {
        match self {
            Self::Ip(packet) => packet.octets(),
            Self::Arp(_) => ARP_PACKET,
            Self::MessageInArp(packet) => packet.routing().map_or(0, RoutingPart::octets_on_air),
            // No body is longer than some hundred octets.
            Self::Management(management) => management.body.buffer_len() as u32,
            // An interface has an MTU.
            Self::Raw(raw) => raw.part.octets.len() as u32,
        }
    }

    #[inline]
    fn packets(&self) -> u32 {
        match self {
            Self::Ip(packet) => packet.packets(),
            Self::Arp(_) | Self::MessageInArp(_) | Self::Management(_) | Self::Raw(_) => 1,
        }
    }

    fn flow(&self) -> u64 {
        match self {
            Self::Ip(packet) => packet.flow(),
            Self::MessageInArp(packet) => packet.flow(),
            Self::Arp(_) | Self::Management(_) | Self::Raw(_) => {
                let Ends { source, destination } = self.ends();
                flow_between(source, destination, 0)
            }
        }
    }

    #[inline]
    fn expires(&self) -> Option<Instant> {
        match self {
            Self::Ip(packet) => packet.tag.expires.at(),
            Self::Management(management) => management.expires,
            Self::Arp(_) | Self::MessageInArp(_) | Self::Raw(_) => None,
        }
    }

    /// Messages of routing protocols and of address resolution are never marked.
    fn ecn(&self) -> Ecn {
        match self {
            Self::Ip(packet) => packet.ip.ecn,
            Self::Arp(_) | Self::MessageInArp(_) | Self::Management(_) | Self::Raw(_) => Ecn::NotEct,
        }
    }

    fn mark(&mut self) {
        if let Self::Ip(packet) = self {
            packet.ip.ecn = Ecn::Ce;
        }
    }

    #[inline]
    fn is_management(&self) -> bool {
        matches!(self, Self::Management(_))
    }

    fn block_ack_action(&self) -> Option<&BlockAckAction> {
        match self {
            Self::Management(management) => match &management.body {
                management::Repr::BlockAck(action) => Some(action),
                _ => None,
            },
            Self::Ip(_) | Self::Arp(_) | Self::MessageInArp(_) | Self::Raw(_) => None,
        }
    }

    #[inline]
    fn priority(&self) -> UserPriority {
        match self {
            Self::Ip(packet) => packet.tag.priority,
            Self::MessageInArp(packet) => packet.tag.priority,
            Self::Arp(_) => UserPriority::BEST_EFFORT,
            // 10.2.3.2: under EDCA management frames are of the category voice.
            Self::Management(_) => UserPriority::NETWORK_CONTROL,
            Self::Raw(raw) => raw.priority,
        }
    }
}
