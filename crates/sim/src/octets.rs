//! A frame of the simulation as bytes: radiotap, 802.11, LLC/SNAP, IPv4 with UDP, TCP or DCCP, or ARP, frame check sequence.

mod body;

use std::rc::Rc;

use hopcast_protocols::routing::Encapsulation;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{Frame, FrameKind};
use hopcast_radio::medium::Link;
use hopcast_radio::phy::{ChannelWidth, ModulationClass, TxVector};
use hopcast_wire::ieee80211::{Addressing, DataSubtype, Flags, ManagementSubtype, SequenceControl, management};
use hopcast_wire::radiotap::{AmpduStatus, Channel, ChannelFlags};
use hopcast_wire::{MacAddress, arp, dccp, ethernet, ieee80211, ipv4, llc, radiotap, tcp, udp};

use crate::address::{BSSID, ip_address, mac_address, wire_address};
use crate::host::packet::{Body, IPV4_HEADER, MAX_IP_PAYLOAD, Packet, RealPart, RoutingPart};
use crate::host::{Management, Raw, Sdu};
use crate::id::NodeId;
use crate::layout::{self, Station};
use crate::scenario::model::{Role, Routing, Scenario};

/// Bytes of a management frame's header (IEEE 802.11-2020, 9.3.3.1).
const MANAGEMENT_HEADER: u64 = 24;

/// Makes bytes of frames, one at a time.
pub(crate) struct Encoder {
    /// By station: the centre of its channel in MHz, and what its node is.
    stations: Vec<(u16, Role)>,
    /// By wire: whether it begins at a real host in an emulation that nothing simulated stands before.
    begins_at_real: Vec<bool>,
    /// Whether received power means anything.
    has_power: bool,
    octets: Vec<u8>,
    /// Of a packet, before they are cut into fragments: the transport header, and what of the payload is not zeros.
    transport: Vec<u8>,
    payload: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let radio = &scenario.radio;
        let carrier = radio.propagation.frequency().unwrap_or(radio.channel);
        // A propagation with a carrier of its own has that on the channel of `radio`.
        let station = |station: &Station<'_>| {
            let own = station.config.frequency;
            let centre = if own == radio.channel { carrier } else { own };
            // What a capture tells of a wide channel is its primary one.
            let frequency = centre - own + station.config.primary;
            // A float to integer cast saturates.
            (libm::round(frequency / 1e6) as u16, station.role)
        };
        Self {
            stations: layout::stations(scenario).iter().map(station).collect(),
            begins_at_real: begins_at_real(scenario),
            has_power: radio.propagation.frequency().is_some(),
            octets: Vec::new(),
            transport: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// The bytes of `frame`, whose first bit left or arrived at `start`.
    pub(crate) fn encode(&mut self, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) -> &[u8] {
        self.octets.clear();
        self.push_radiotap(frame, None, start, received);
        let frame_start = self.octets.len();
        self.push_header(frame, false);
        match frame.payload.as_deref() {
            Some(Sdu::Management(management)) => {
                let travelled = received.map_or(Duration::ZERO, |link| link.delay);
                let sent = Instant::START + start.saturating_since(Instant::START + travelled);
                self.push_management(management, frame, sent);
            }
            Some(sdu) => self.push_sdu(sdu, frame),
            None => {}
        }
        self.finish(frame_start, frame.octets)
    }

    fn push_radiotap(
        &mut self,
        frame: &Frame<Rc<Sdu>>,
        ampdu: Option<AmpduStatus>,
        start: Instant,
        received: Option<&Link>,
    ) {
        let (frequency, _) = self.stations[frame.transmitter.0 as usize];
        let modulation = body::modulation(frame.vector);
        let repr = radiotap::Repr {
            tsft: Some((start + frame.header).as_nanos() / 1_000),
            flags: Some(radiotap_flags(frame.vector)),
            rate: match modulation {
                Some(_) => None,
                None => u8::try_from(frame.vector.data_rate().as_kbps() / 500).ok(),
            },
            channel: Some(Channel { frequency, flags: channel_flags(frequency, frame.vector) }),
            // A float to integer cast saturates.
            antenna_signal: received.filter(|_| self.has_power).map(|link| libm::round(link.power.as_dbm()) as i8),
            modulation,
            ampdu,
        };
        let room = self.grow(repr.buffer_len());
        repr.emit(&mut radiotap::Packet::new_unchecked(room));
    }

    /// `has_amsdu`: its body is an A-MSDU.
    fn push_header(&mut self, frame: &Frame<Rc<Sdu>>, has_amsdu: bool) {
        // The field holds whole microseconds, 15 bits of them (9.2.4.2).
        let duration = (frame.duration.as_nanos() / 1_000).min(32_767) as u16;
        let receiver = destination(frame);
        let transmitter = mac_address(frame.transmitter);
        let flags = Flags { retry: frame.retry, ..Flags::NONE };
        let sequence_control = sequence_control(frame.sequence);
        let repr = match frame.kind {
            FrameKind::Rts => ieee80211::Repr::Rts { flags, duration, receiver, transmitter },
            FrameKind::Cts => ieee80211::Repr::Cts { flags, duration, receiver },
            FrameKind::Ack => ieee80211::Repr::Ack { flags, duration, receiver },
            FrameKind::Data => ieee80211::Repr::Data {
                flags,
                duration,
                subtype: if frame.priority.is_some() { DataSubtype::QosData } else { DataSubtype::Data },
                addressing: self.addressing(frame),
                sequence_control,
                qos_control: frame.priority.map_or(0, |priority| {
                    qos_control(priority, frame.receiver.is_some()) | u16::from(has_amsdu) << AMSDU_PRESENT
                }),
                ht_control: None,
            },
            FrameKind::BlockAck | FrameKind::BlockAckRequest => {
                body::control_header(frame.kind, flags, duration, [receiver, transmitter])
            }
            FrameKind::Management => ieee80211::Repr::Management {
                flags,
                duration,
                subtype: subtype(frame),
                destination: receiver,
                source: transmitter,
                bssid: self.bssid(frame),
                sequence_control,
                ht_control: None,
            },
        };
        let room = self.grow(repr.buffer_len());
        repr.emit(&mut ieee80211::Packet::new_unchecked(room));
    }

    /// The body of a management frame whose first bit is `sent` now. The time in it is that at which its own first bit leaves
    /// (11.1.3.1).
    fn push_management(&mut self, management: &Management, frame: &Frame<Rc<Sdu>>, sent: Instant) {
        let mut body = management.body;
        if let management::Repr::Beacon(bss) | management::Repr::ProbeResponse(bss) = &mut body {
            let header_bits = 8 * MANAGEMENT_HEADER;
            let header = Duration::from_nanos(header_bits * 1_000_000 / u64::from(frame.vector.data_rate().as_kbps()));
            bss.timestamp += (sent + frame.header + header).saturating_since(management.created).as_nanos() / 1_000;
        }
        let room = self.grow(body.buffer_len());
        body.emit(room);
    }

    /// The network of a management frame: that of the access point, or of any.
    fn bssid(&self, frame: &Frame<Rc<Sdu>>) -> MacAddress {
        match self.stations[frame.transmitter.0 as usize].1 {
            Role::AccessPoint => mac_address(frame.transmitter),
            Role::AdHoc => BSSID,
            _ => frame.receiver.map_or(MacAddress::BROADCAST, mac_address),
        }
    }

    /// Access points forward by IP: a data frame goes to the access point itself, or comes from it.
    fn addressing(&self, frame: &Frame<Rc<Sdu>>) -> Addressing {
        let destination = destination(frame);
        let source = mac_address(frame.transmitter);
        match self.stations[frame.transmitter.0 as usize].1 {
            Role::Station => Addressing::ToAccessPoint { bssid: destination, source, destination },
            Role::AccessPoint => Addressing::FromAccessPoint { destination, bssid: source, source },
            Role::AdHoc | Role::Wired => Addressing::AdHoc { destination, source, bssid: BSSID },
        }
    }

    /// The bytes of a packet on a wire: no header before that of IP.
    pub(crate) fn encode_packet(&mut self, sdu: &Sdu) -> &[u8] {
        self.octets.clear();
        if let Some(packet) = sdu.packet() {
            self.push_ip(packet);
        }
        &self.octets
    }

    /// LLC/SNAP, and what is in a data frame behind it.
    fn push_sdu(&mut self, sdu: &Sdu, frame: &Frame<Rc<Sdu>>) {
        let Some(ether_type) = ether_type(sdu) else { return };
        let snap = llc::Repr::new(ether_type);
        let room = self.grow(snap.buffer_len());
        snap.emit(&mut llc::Packet::new_unchecked(room));
        match sdu {
            Sdu::Ip(packet) => self.push_ip(packet),
            Sdu::Arp(packet) => self.push_arp(&packet.message),
            Sdu::MessageInArp(packet) => {
                self.push_arp(&shown_addresses(packet, frame));
                self.octets.extend(packet.routing().into_iter().flat_map(|part| part.octets.iter()));
            }
            Sdu::Raw(Raw { part, .. }) => self.octets.extend_from_slice(&part.octets),
            Sdu::Management(_) => {}
        }
    }

    fn push_arp(&mut self, message: &arp::Repr) {
        let room = self.grow(message.buffer_len());
        message.emit(&mut arp::Packet::new_unchecked(room));
    }

    /// The Ethernet frame with `sdu` for a real host; `None` for units that a real host can't use.
    pub(crate) fn encode_ethernet(&mut self, sdu: &Sdu, destination: MacAddress, source: MacAddress) -> Option<&[u8]> {
        self.octets.clear();
        let header = ethernet::Repr { destination, source, ether_type: ether_type(sdu)? };
        let room = self.grow(header.buffer_len());
        header.emit(&mut ethernet::Packet::new_unchecked(room));
        match sdu {
            Sdu::Ip(packet) => self.push_ip(packet),
            Sdu::Arp(packet) => self.push_arp(&packet.message),
            Sdu::Raw(Raw { part, .. }) => self.octets.extend_from_slice(&part.octets),
            Sdu::MessageInArp(_) | Sdu::Management(_) => return None,
        }
        Some(&self.octets)
    }

    /// The same for what crosses a wire. Between real hosts, frames keep the addresses that their senders gave them.
    pub(crate) fn encode_ethernet_on_wire(&mut self, sdu: &Sdu, wire: u32) -> Option<&[u8]> {
        let own = self.begins_at_real.get(wire as usize).copied().unwrap_or_default();
        let (destination, source) = match sdu.real() {
            Some(part) if own => (part.destination, part.source),
            _ => (group(sdu).unwrap_or_else(|| wire_address(wire ^ 1)), wire_address(wire)),
        };
        self.encode_ethernet(sdu, destination, source)
    }

    /// The IP header, and the part of the datagram that this packet carries.
    fn push_ip(&mut self, packet: &Packet) {
        if let Some(part) = packet.real() {
            return self.push_real(part, packet);
        }
        let ip = ip_header(packet);
        let room = self.grow(ip.buffer_len());
        ip.emit(&mut ipv4::Packet::new_unchecked(room));
        if let Some(part) = packet.routing() {
            self.push_routing(part, &ip);
        }
        self.payload.clear();
        self.payload.extend(packet.coded().into_iter().flat_map(|coded| coded.to_octets_of_zeros()));
        self.payload.extend(packet.content().into_iter().flat_map(|content| content.iter()));
        emit_transport_header(&packet.body, &self.payload, &ip, &mut self.transport);
        self.transport.append(&mut self.payload);
        let first = usize::from(packet.ip.offset).min(self.transport.len());
        let end = (usize::from(packet.ip.offset) + usize::from(packet.ip.payload)).min(self.transport.len());
        let (end_of_headers, payload) = (self.octets.len(), usize::from(packet.ip.payload));
        self.octets.extend_from_slice(&self.transport[first..end]);
        self.octets.resize(end_of_headers + payload, 0);
    }

    /// The packet of a real host, with the header as it has become.
    fn push_real(&mut self, part: &RealPart, packet: &Packet) {
        let Some(ip) = part.header(&packet.ip) else {
            return self.octets.extend_from_slice(&part.octets);
        };
        let room = self.grow(ip.buffer_len());
        ip.emit(&mut ipv4::Packet::new_unchecked(room));
        self.octets.extend_from_slice(part.payload(&packet.ip));
    }

    /// A routing protocol's part of a packet.
    fn push_routing(&mut self, part: &RoutingPart, ip: &ipv4::Repr) {
        if let Encapsulation::Udp { port } = part.encapsulation {
            let repr = udp::Repr { source_port: port, destination_port: port, payload_len: part.octets.len() as u16 };
            let room = self.grow(repr.buffer_len());
            repr.emit(&mut udp::Packet::new_unchecked(room), ip.source, ip.destination, &part.octets);
        }
        self.octets.extend_from_slice(&part.octets);
    }

    /// The place of `count` more bytes, all zero.
    fn grow(&mut self, count: usize) -> &mut [u8] {
        let start = self.octets.len();
        self.octets.resize(start + count, 0);
        &mut self.octets[start..]
    }
}

/// Whom a frame is for: a station, or all, or the group that a real host has named.
fn destination(frame: &Frame<Rc<Sdu>>) -> MacAddress {
    match (frame.receiver, frame.payload.as_ref().and_then(|sdu| sdu.real())) {
        (Some(receiver), _) => mac_address(receiver),
        (None, Some(part)) if part.destination.is_group() => part.destination,
        (None, _) => MacAddress::BROADCAST,
    }
}

/// The group that a unit on its way to a real host is for: one that a real host has named, or all.
pub(crate) fn group(sdu: &Sdu) -> Option<MacAddress> {
    match sdu.real().map(|part| part.destination) {
        Some(group) if group.is_group() && sdu.is_group_addressed() => Some(group),
        _ => (sdu.ends().destination == NodeId::ALL).then_some(MacAddress::BROADCAST),
    }
}

/// By wire: whether a real node is at its beginning, if the scenario is emulated, without a simulated routing protocol.
fn begins_at_real(scenario: &Scenario) -> Vec<bool> {
    let nodes: Vec<bool> =
        layout::groups(scenario).map(|group| group.is_real && !matches!(group.routing, Routing::Protocol(_))).collect();
    scenario.links.iter().flat_map(|link| link.between).map(|node| nodes[node.0 as usize]).collect()
}

/// What is behind LLC/SNAP, or in an Ethernet frame; `None` in a management frame, which has neither.
fn ether_type(sdu: &Sdu) -> Option<llc::EtherType> {
    match sdu {
        Sdu::Ip(_) => Some(llc::EtherType::Ipv4),
        Sdu::Arp(_) | Sdu::MessageInArp(_) => Some(llc::EtherType::Arp),
        Sdu::Raw(raw) => Some(raw.ether_type),
        Sdu::Management(_) => None,
    }
}

/// The ARP packet before a message of a routing protocol. It shows the addresses of the sender: to all it is a request, to one
/// neighbour a reply.
fn shown_addresses(packet: &Packet, frame: &Frame<Rc<Sdu>>) -> arp::Repr {
    arp::Repr {
        operation: if frame.receiver.is_none() { arp::Operation::Request } else { arp::Operation::Reply },
        sender_hardware: mac_address(frame.transmitter),
        sender_protocol: ip_address(packet.ip.source),
        target_hardware: frame.receiver.map_or(MacAddress([0; 6]), mac_address),
        target_protocol: ip_address(packet.ip.destination),
    }
}

/// What a management frame is for.
fn subtype(frame: &Frame<Rc<Sdu>>) -> ManagementSubtype {
    match frame.payload.as_deref() {
        Some(Sdu::Management(management)) => management.body.subtype(),
        other => unreachable!("a management frame has a body, and not {other:?}"),
    }
}

fn radiotap_flags(vector: TxVector) -> radiotap::Flags {
    let is_short = vector.has_short_preamble();
    let preamble = if is_short { radiotap::Flags::SHORT_PREAMBLE } else { radiotap::Flags::default() };
    radiotap::Flags::FCS_AT_END | preamble
}

fn channel_flags(frequency: u16, vector: TxVector) -> ChannelFlags {
    let spectrum = match frequency {
        900..=930 => ChannelFlags::SPECTRUM_900_MHZ,
        2_400..=2_500 => ChannelFlags::SPECTRUM_2_GHZ,
        4_900..=5_925 => ChannelFlags::SPECTRUM_5_GHZ,
        _ => ChannelFlags::default(),
    };
    spectrum
        | match vector.modulation_class() {
            ModulationClass::Dsss => ChannelFlags::CCK,
            // OFDM of clause 17 in 40 MHz is what radiotap calls turbo.
            ModulationClass::Ofdm if vector.width() == ChannelWidth::Mhz40 => ChannelFlags::OFDM | ChannelFlags::TURBO,
            ModulationClass::Ofdm | ModulationClass::Ht | ModulationClass::Vht | ModulationClass::He => {
                ChannelFlags::OFDM
            }
        }
}

/// A-MSDU Present in QoS Control (9.2.4.5.9).
const AMSDU_PRESENT: u32 = 7;

/// QoS Control of a station that is no access point (9.2.4.5): TID, normal or no acknowledgement, and a TXOP duration of zero:
/// it asks for none.
fn qos_control(priority: UserPriority, is_unicast: bool) -> u16 {
    let ack_policy = if is_unicast { 0b00 } else { 0b01 };
    u16::from(priority.get()) | ack_policy << 5
}

fn ip_header(packet: &Packet) -> ipv4::Repr {
    let ip = &packet.ip;
    ipv4::Repr {
        type_of_service: ip.ecn.put(0),
        identification: ip.id,
        dont_fragment: false,
        more_fragments: ip.more_fragments,
        fragment_offset: ip.offset,
        time_to_live: ip.ttl,
        protocol: ipv4::Protocol::from(packet.protocol()),
        source: ip_address(ip.source),
        destination: ip_address(ip.destination),
        // The first packets to a destination are cut before their source knows how long their route is.
        payload_len: (packet.octets() - IPV4_HEADER).min(MAX_IP_PAYLOAD) as u16,
    }
}

/// The UDP, TCP or DCCP header of the whole datagram. Its checksum is that of `payload` with zeros behind it.
fn emit_transport_header(body: &Body, payload: &[u8], ip: &ipv4::Repr, octets: &mut Vec<u8>) {
    octets.clear();
    match *body {
        Body::Udp { source_port, destination_port, length } => {
            let repr = udp::Repr { source_port, destination_port, payload_len: length };
            octets.resize(repr.buffer_len(), 0);
            repr.emit(&mut udp::Packet::new_unchecked(octets), ip.source, ip.destination, payload);
        }
        Body::Tcp { source_port, destination_port, ref segment } => {
            let repr = segment.header(source_port, destination_port);
            octets.resize(repr.buffer_len(), 0);
            repr.emit(&mut tcp::Packet::new_unchecked(octets), ip.source, ip.destination, &[]);
        }
        Body::Dccp(ref packet) => {
            octets.extend_from_slice(&packet.header);
            let payload_len = packet.payload.len as u16;
            dccp::Packet::new_unchecked(octets).fill_checksum(ip.source, ip.destination, payload, payload_len);
        }
        Body::Rtp { source_port, destination_port, ref packet } => {
            let content = [&packet.header, payload].concat();
            let payload_len = (packet.header.len() as u32 + packet.payload.len) as u16;
            let repr = udp::Repr { source_port, destination_port, payload_len };
            octets.resize(repr.buffer_len(), 0);
            repr.emit(&mut udp::Packet::new_unchecked(&mut octets[..]), ip.source, ip.destination, &content);
            octets.extend_from_slice(&packet.header);
        }
        Body::Message | Body::Real { .. } => {}
    }
}

/// The Sequence Control field of a frame with this number (9.2.4.4): a whole one, as nothing is fragmented.
fn sequence_control(number: u32) -> SequenceControl {
    SequenceControl { sequence: (number & 0xfff) as u16, fragment: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_number_has_twelve_bits() {
        let numbers = [0, 4_095, 4_096, 70_000].map(|number| sequence_control(number).sequence);
        assert_eq!(numbers, [0, 4_095, 0, 368]);
    }

    /// TID in bits 0 to 3, of which a user priority takes three (9.2.4.5.2); acknowledgement policy in bits 5 and 6 (9.2.4.5.4).
    #[test]
    fn qos_control_tells_priority_and_who_acknowledges() {
        assert_eq!(qos_control(UserPriority::new(5), true), 0b000_0101);
        assert_eq!(qos_control(UserPriority::new(6), false), 0b010_0110);
    }
}
