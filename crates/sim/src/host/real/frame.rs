//! Frames of real hosts as simulated hosts see them, and their bytes with the changes on the way.

use std::sync::Arc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::checksum::Policy;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::llc::EtherType;
use hopcast_wire::{MacAddress, arp, ipv4};

use crate::address::{ip_address, node_of};
use crate::host::link::sdu::{Arp, Ends, Raw, Sdu};
use crate::host::packet::{Body, DCCP, Expiry, IPV4_HEADER, Ipv4, Packet, Part, RealPart, TCP, Tag, UDP, UDP_HEADER};
use crate::id::{FlowId, NodeId};

/// Bytes of an IPv4 header without options.
pub(super) const HEADER: usize = IPV4_HEADER as usize;

/// Those of transports whose headers begin with the ports: TCP, UDP, DCCP, SCTP and UDP-Lite ("Assigned internet protocol
/// numbers", IANA).
const WITH_PORTS: [u8; 5] = [TCP, UDP, DCCP, 132, 136];

/// A frame of a real host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealFrame<'a> {
    /// Receiver's address.
    pub destination: MacAddress,
    /// Sender's address.
    pub source: MacAddress,
    /// Protocol of its payload.
    pub ether_type: EtherType,
    /// Bytes after the Ethernet header.
    pub octets: &'a [u8],
}

impl RealPart {
    /// The header of the IPv4 packet in the frame, which was checked at its arrival; panics without one.
    pub fn ip(&self) -> ipv4::Packet<&[u8]> {
        ipv4::Packet::new_unchecked(&self.octets[..HEADER])
    }

    /// The payload of the packet with this header, which may be a part of the original.
    pub fn payload(&self, ip: &Ipv4) -> &[u8] {
        let first = HEADER + usize::from(ip.offset.saturating_sub(self.ip().fragment_offset()));
        self.octets.get(first..first + usize::from(ip.payload)).unwrap_or_default()
    }

    /// The header of the IPv4 packet in the frame, with the changes on the way.
    pub fn header(&self, ip: &Ipv4) -> Option<ipv4::Repr> {
        let came = ipv4::Repr::parse(&self.ip(), Policy::Ignore).ok()?;
        Some(ipv4::Repr {
            type_of_service: ip.ecn.put(came.type_of_service),
            time_to_live: ip.ttl,
            fragment_offset: ip.offset,
            more_fragments: ip.more_fragments,
            payload_len: ip.payload,
            ..came
        })
    }

    /// The bytes of the packet with this header, if it is one of IPv4 that simulated hosts understand.
    pub(super) fn packet(&self, ip: &Ipv4) -> Option<Vec<u8>> {
        let header = self.header(ip)?;
        let mut octets = vec![0; HEADER];
        header.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
        octets.extend_from_slice(self.payload(ip));
        Some(octets)
    }
}

impl Sdu {
    /// Converts a frame that a real host sends at `now`, from one node to another, or to all.
    ///
    /// Address resolution becomes a simulated ARP packet if it has the address that the frame comes from, since there may
    /// be no station with another address. hopcast carries other ARP packets, and IPv4 with options, as frames that
    /// simulated hosts do not interpret.
    pub(crate) fn of_real(frame: &RealFrame<'_>, ends: Ends, now: Instant) -> Self {
        let RealFrame { destination, source, ether_type, octets } = *frame;
        if ether_type == EtherType::Arp
            && let Ok(message) = arp::Packet::new_checked(octets).and_then(|packet| arp::Repr::parse(&packet))
            && message.sender_hardware == source
        {
            return Self::Arp(Arp { ends, message });
        }
        if ether_type == EtherType::Ipv4
            && let Some(packet) = Packet::of_real([destination, source], octets, now)
        {
            return Self::Ip(packet);
        }
        Self::raw_of_real(frame, ends)
    }

    /// The same for ARP between two real hosts over a wire, which carries any frame as it is.
    pub(crate) fn between_real(frame: &RealFrame<'_>, ends: Ends, now: Instant) -> Self {
        match frame.ether_type {
            EtherType::Arp => Self::raw_of_real(frame, ends),
            _ => Self::of_real(frame, ends, now),
        }
    }

    fn raw_of_real(frame: &RealFrame<'_>, ends: Ends) -> Self {
        let RealFrame { destination, source, ether_type, octets } = *frame;
        let part = RealPart { destination, source, octets: octets.into() };
        Self::Raw(Raw { ends, ether_type, part, priority: priority(ether_type, octets) })
    }

    /// Whether the frame that brought it was one to a group.
    pub(crate) fn is_group_addressed(&self) -> bool {
        match self {
            Self::Ip(packet) => packet.ip.destination == NodeId::ALL || packet.is_for_group(),
            Self::Raw(_) => true,
            Self::Arp(_) | Self::MessageInArp(_) | Self::Management(_) => self.ends().destination == NodeId::ALL,
        }
    }
}

impl Packet {
    /// The IPv4 packet that a real host sends at `now` in a frame with this destination and source; `None` if `octets` are none that
    /// simulated hosts understand.
    pub(super) fn of_real([destination, source]: [MacAddress; 2], octets: &[u8], now: Instant) -> Option<Self> {
        let packet = ipv4::Packet::new_checked(octets).ok().filter(|packet| packet.header_len() == HEADER)?;
        let header = ipv4::Repr::parse(&packet, Policy::Verify).ok()?;
        let ip = Ipv4 {
            source: node_of(header.source),
            destination: node_of(header.destination),
            id: header.identification,
            offset: header.fragment_offset,
            payload: header.payload_len,
            more_fragments: header.more_fragments,
            ttl: header.time_to_live,
            ecn: Ecn::of(header.type_of_service),
        };
        // What a link pads is no part of the packet.
        let octets = &octets[..HEADER + usize::from(header.payload_len)];
        let is_fragment = header.more_fragments || header.fragment_offset > 0;
        let protocol = header.protocol.into();
        let [source_port, destination_port] = ports(protocol, &octets[HEADER..], is_fragment);
        let body = Body::Real { protocol, source_port, destination_port };
        let tag = Tag {
            flow: FlowId::NONE,
            seq: Tag::NO_DATAGRAM,
            created: now,
            socket: u16::MAX,
            priority: priority(EtherType::Ipv4, octets),
            expires: Expiry::NEVER,
        };
        let real = Some(RealPart { destination, source, octets: octets.into() });
        Some(Self { ip, body, tag, part: Some(Arc::new(Part { real, ..Part::default() })) })
    }

    /// Whether it is for no host alone.
    pub(in crate::host) fn is_for_group(&self) -> bool {
        let address = ip_address(self.ip.destination);
        address.is_multicast() || address.is_broadcast()
    }

    /// Bytes that a real host's program wrote into this UDP datagram; `None` if it is a fragment, or nothing of the kind.
    pub(super) fn real_datagram(&self) -> Option<u32> {
        let Body::Real { protocol: UDP, .. } = self.body else { return None };
        let length = u32::from(self.ip.payload).checked_sub(UDP_HEADER)?;
        (!self.is_fragment()).then_some(length)
    }

    /// The payload of a real host's packet after the header of UDP or TCP; or after that of IP, if its protocol is
    /// another one or it is not the first fragment.
    pub(crate) fn real_payload(&self) -> &[u8] {
        let Body::Real { protocol, .. } = self.body else { return &[] };
        let octets = self.real().map_or(&[][..], |part| part.payload(&self.ip));
        let header = match (protocol, octets) {
            _ if self.ip.offset > 0 => 0,
            (UDP, _) => UDP_HEADER as usize,
            // RFC 9293, section 3.1: the data offset counts words of 4 octets.
            (TCP, [_, _, _, _, _, _, _, _, _, _, _, _, offset, ..]) => usize::from(offset >> 4) * 4,
            _ => 0,
        };
        octets.get(header..).unwrap_or_default()
    }

    /// Source and destination port of a real host's packet, if its protocol has them and it is not a later fragment.
    pub(crate) fn real_ports(&self) -> Option<[u16; 2]> {
        let Body::Real { protocol, .. } = self.body else { return None };
        let is_known = self.ip.offset == 0 && WITH_PORTS.contains(&protocol);
        is_known.then(|| ports(protocol, self.real().map_or(&[][..], |part| part.payload(&self.ip)), false))
    }

    /// Of a UDP datagram of a real host that this packet holds whole, or begins: its destination port, and how many bytes the
    /// program wrote.
    pub(super) fn begun_datagram(&self) -> Option<(u16, u32)> {
        let Body::Real { protocol: UDP, destination_port, .. } = self.body else { return None };
        if !self.is_fragment() {
            return Some((destination_port, self.real_datagram()?));
        }
        match *self.real()?.payload(&self.ip) {
            [_, _, a, b, c, d, _, _, ..] if self.ip.offset == 0 => {
                let [port, length] = [[a, b], [c, d]].map(u16::from_be_bytes);
                Some((port, u32::from(length).checked_sub(UDP_HEADER)?))
            }
            _ => None,
        }
    }

    /// The whole datagram of which `pieces`, of real hosts, are the parts.
    pub(in crate::host) fn joined(mut pieces: Vec<Self>) -> Option<Self> {
        pieces.sort_by_key(|piece| piece.ip.offset);
        let mut octets = Vec::new();
        let first = pieces.first()?;
        octets.extend_from_slice(first.real()?.octets.get(..HEADER)?);
        for piece in &pieces {
            let end = octets.len() - HEADER;
            // Pieces may overlap.
            let known = end.saturating_sub(usize::from(piece.ip.offset));
            octets.extend_from_slice(piece.real()?.payload(&piece.ip).get(known..).unwrap_or_default());
        }
        let payload = u16::try_from(octets.len() - HEADER).ok()?;
        // RFC 3168, section 5.3: a mark of one fragment is one of the datagram.
        let ecn = if pieces.iter().any(|piece| piece.ip.ecn == Ecn::Ce) { Ecn::Ce } else { first.ip.ecn };
        let ip = Ipv4 { offset: 0, payload, more_fragments: false, ecn, ..first.ip };
        let mut body = first.body.clone();
        if let Body::Real { protocol, source_port, destination_port } = &mut body {
            [*source_port, *destination_port] = ports(*protocol, &octets[HEADER..], false);
        }
        let RealPart { destination, source, .. } = *first.real()?;
        let part = RealPart { destination, source, octets: octets.into() };
        Some(Self { ip, body, tag: first.tag, part: Some(Arc::new(Part { real: Some(part), ..Part::default() })) })
    }
}

/// Source and destination port in the first bytes behind an IP header.
fn ports(protocol: u8, octets: &[u8], is_fragment: bool) -> [u16; 2] {
    match *octets {
        [a, b, c, d, ..] if !is_fragment && WITH_PORTS.contains(&protocol) => {
            [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]
        }
        _ => [0, 0],
    }
}

/// The precedence of an IP packet, which is its user priority where the network says no more (RFC 8325, section 2.3).
fn priority(ether_type: EtherType, octets: &[u8]) -> UserPriority {
    match (ether_type, octets) {
        (EtherType::Ipv4, [_, service, ..]) => UserPriority::new(service >> 5),
        (EtherType::Ipv6, [first, ..]) => UserPriority::new((first & 0x0f) >> 1),
        _ => UserPriority::BEST_EFFORT,
    }
}
