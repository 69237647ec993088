//! The Internet protocol, version 4 (RFC 791).

use std::net::Ipv4Addr;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::checksum::{Policy, Sum};
use crate::code_point::code_points;
use crate::error::Layer;

const LAYER: Layer = Layer("IPv4");

/// Length of a header without options, in bytes (RFC 791, 3.1).
pub const HEADER_LEN: usize = 20;

code_points! {
    /// The protocol of the payload (IANA, "Assigned Internet Protocol Numbers").
    Protocol(u8) {
        /// Internet control message protocol.
        Icmp = 1,
        /// Transmission control protocol.
        Tcp = 6,
        /// User datagram protocol.
        Udp = 17,
        /// Datagram congestion control protocol (RFC 4340).
        Dccp = 33,
        /// Dynamic source routing (RFC 4728).
        Dsr = 48,
        /// No header follows: of IPv6 (RFC 8200, 4.7), and of DSR in IPv4 (RFC 4728, 10).
        NoNextHeader = 59,
    }
}

mod field {
    pub(super) const VERSION_IHL: usize = 0;
    pub(super) const TYPE_OF_SERVICE: usize = 1;
    pub(super) const TOTAL_LENGTH: usize = 2;
    pub(super) const IDENTIFICATION: usize = 4;
    pub(super) const FLAGS_FRAGMENT_OFFSET: usize = 6;
    pub(super) const TIME_TO_LIVE: usize = 8;
    pub(super) const PROTOCOL: usize = 9;
    pub(super) const CHECKSUM: usize = 10;
    pub(super) const SOURCE: usize = 12;
    pub(super) const DESTINATION: usize = 16;
    pub(super) const OPTIONS: usize = 20;
}

/// Flags, in the word that they share with the fragment offset (RFC 791, 3.1).
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
/// The fragment offset, in units of 8 bytes.
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// A view of an IPv4 header, its options and its payload.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+---------------+-------------------------------+
/// |Version|  IHL  |Type of service|         Total length          |
/// +-------+-------+---------------+-----+-------------------------+
/// |        Identification         |Flags|     Fragment offset     |
/// +---------------+---------------+-----+-------------------------+
/// | Time to live  |   Protocol    |        Header checksum        |
/// +---------------+---------------+-------------------------------+
/// |                        Source address                         |
/// +---------------------------------------------------------------+
/// |                      Destination address                      |
/// +---------------------------------------------------------------+
/// |                   Options, 0 to 40 octets                     |
/// +---------------------------------------------------------------+
/// ```
///
/// RFC 791, 3.1. Most significant byte first. Bytes of the buffer beyond the total length are no part of the datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole datagram of version 4.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 20")?;
        let packet = Self { buffer };
        LAYER.require(packet.version() == 4, "version", field::VERSION_IHL, packet.version(), "4")?;
        let header = packet.header_len();
        LAYER.require(header >= HEADER_LEN, "IHL", field::VERSION_IHL, header / 4, "at least 5")?;
        let total = packet.total_len();
        LAYER.require(total >= header, "total length", field::TOTAL_LENGTH, total, "at least the header's length")?;
        LAYER.require(total <= length, "total length", field::TOTAL_LENGTH, total, "at most the buffer's length")?;
        Ok(packet)
    }

    /// The version: 4.
    pub(crate) fn version(&self) -> u8 {
        self.buffer.as_ref()[field::VERSION_IHL] >> 4
    }

    /// Length of the header with its options, in bytes.
    pub fn header_len(&self) -> usize {
        usize::from(self.buffer.as_ref()[field::VERSION_IHL] & 0x0f) * 4
    }

    /// Differentiated services code point and congestion notification (RFC 2474, RFC 3168).
    pub fn type_of_service(&self) -> u8 {
        self.buffer.as_ref()[field::TYPE_OF_SERVICE]
    }

    /// Length of header and payload, in bytes.
    pub(crate) fn total_len(&self) -> usize {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::TOTAL_LENGTH)).into()
    }

    /// Identifier that all fragments of one datagram share.
    pub fn identification(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::IDENTIFICATION))
    }

    fn flags_fragment_offset(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::FLAGS_FRAGMENT_OFFSET))
    }

    /// Whether the datagram must not be fragmented.
    pub fn dont_fragment(&self) -> bool {
        self.flags_fragment_offset() & DONT_FRAGMENT != 0
    }

    /// Whether fragments with higher offsets exist.
    pub fn more_fragments(&self) -> bool {
        self.flags_fragment_offset() & MORE_FRAGMENTS != 0
    }

    /// Offset of the payload in that of the whole datagram, in bytes: a multiple of 8, at most 65528.
    pub fn fragment_offset(&self) -> u16 {
        (self.flags_fragment_offset() & FRAGMENT_OFFSET) * 8
    }

    /// Number of hops that remain.
    pub fn time_to_live(&self) -> u8 {
        self.buffer.as_ref()[field::TIME_TO_LIVE]
    }

    /// The protocol of the payload.
    pub fn protocol(&self) -> Protocol {
        self.buffer.as_ref()[field::PROTOCOL].into()
    }

    /// The checksum field of the header.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum of the header is correct.
    #[must_use]
    pub fn verify_checksum(&self) -> bool {
        Sum::EMPTY.with(&self.buffer.as_ref()[..self.header_len()]).is_valid()
    }

    /// The sender.
    pub fn source(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), field::SOURCE).into()
    }

    /// The receiver.
    pub fn destination(&self) -> Ipv4Addr {
        array(self.buffer.as_ref(), field::DESTINATION).into()
    }

    /// The options unparsed, with their padding.
    pub fn options(&self) -> &[u8] {
        &self.buffer.as_ref()[field::OPTIONS..self.header_len()]
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[self.header_len()..self.total_len()]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the number of hops left. The checksum has to be [filled in](Self::fill_checksum) again.
    pub fn set_time_to_live(&mut self, hops: u8) {
        self.buffer.as_mut()[field::TIME_TO_LIVE] = hops;
    }

    /// Computes the checksum of the header, options included.
    pub fn fill_checksum(&mut self) {
        let header = self.header_len();
        let octets = self.buffer.as_mut();
        put(octets, field::CHECKSUM, [0, 0]);
        let checksum = Sum::EMPTY.with(&octets[..header]).checksum();
        put(octets, field::CHECKSUM, checksum.to_be_bytes());
    }
}

/// The fields of an IPv4 header, options aside: no option is needed here, and [`Packet::options`] keeps those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Differentiated services code point and congestion notification (RFC 2474, RFC 3168).
    pub type_of_service: u8,
    /// Identifier that all fragments of one datagram share.
    pub identification: u16,
    /// Whether the datagram must not be fragmented.
    pub dont_fragment: bool,
    /// Whether fragments with higher offsets exist.
    pub more_fragments: bool,
    /// Offset of the payload in that of the whole datagram, in bytes: a multiple of 8, at most 65528.
    pub fragment_offset: u16,
    /// Number of hops that remain.
    pub time_to_live: u8,
    /// The protocol of the payload.
    pub protocol: Protocol,
    /// The sender.
    pub source: Ipv4Addr,
    /// The receiver.
    pub destination: Ipv4Addr,
    /// Length of the payload, in bytes: at most 65515.
    pub payload_len: u16,
}

impl Repr {
    /// Parses a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>, checksum: Policy) -> Result<Self, ParseError> {
        let right = checksum == Policy::Ignore || packet.verify_checksum();
        LAYER.require(right, "header checksum", field::CHECKSUM, packet.checksum(), "what the header adds up to")?;
        Ok(Self {
            type_of_service: packet.type_of_service(),
            identification: packet.identification(),
            dont_fragment: packet.dont_fragment(),
            more_fragments: packet.more_fragments(),
            fragment_offset: packet.fragment_offset(),
            time_to_live: packet.time_to_live(),
            protocol: packet.protocol(),
            source: packet.source(),
            destination: packet.destination(),
            payload_len: (packet.total_len() - packet.header_len()) as u16,
        })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header, its checksum included. Panics if `payload_len` is above 65515.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let total =
            (HEADER_LEN as u16).checked_add(self.payload_len).expect("an IPv4 datagram has at most 65535 octets");
        let flags =
            if self.dont_fragment { DONT_FRAGMENT } else { 0 } | if self.more_fragments { MORE_FRAGMENTS } else { 0 };
        let octets = packet.buffer.as_mut();
        octets[field::VERSION_IHL] = 0x40 | (HEADER_LEN / 4) as u8;
        octets[field::TYPE_OF_SERVICE] = self.type_of_service;
        put(octets, field::TOTAL_LENGTH, total.to_be_bytes());
        put(octets, field::IDENTIFICATION, self.identification.to_be_bytes());
        put(octets, field::FLAGS_FRAGMENT_OFFSET, (flags | (self.fragment_offset / 8)).to_be_bytes());
        octets[field::TIME_TO_LIVE] = self.time_to_live;
        octets[field::PROTOCOL] = self.protocol.into();
        put(octets, field::SOURCE, self.source.octets());
        put(octets, field::DESTINATION, self.destination.octets());
        packet.fill_checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From tcpdump's capture mptcp-v1: an answer to a SYN, without its payload of 52 bytes.
    const DONT_FRAGMENT_TCP: [u8; 20] = [
        0x45, 0x00, 0x00, 0x48, 0x00, 0x00, 0x40, 0x00, 0x40, 0x06, 0x23, 0xaf, 0x0a, 0x00, 0x02, 0x01, 0x0a, 0x00,
        0x01, 0x01,
    ];
    /// From tcpdump's capture OLSRv1_HNA_sgw_1: to all neighbours, one hop, without its payload of 80 bytes.
    const ONE_HOP_UDP: [u8; 20] = [
        0x45, 0x10, 0x00, 0x64, 0x62, 0x9d, 0x40, 0x00, 0x01, 0x11, 0xba, 0xe2, 0xac, 0x1d, 0xaf, 0xdc, 0xff, 0xff,
        0xff, 0xff,
    ];

    fn with_zeros(header: &[u8], payload: usize) -> Vec<u8> {
        [header, &vec![0; payload]].concat()
    }

    #[test]
    fn octets_and_meaning() {
        let tcp = Repr {
            type_of_service: 0,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: 64,
            protocol: Protocol::Tcp,
            source: Ipv4Addr::new(10, 0, 2, 1),
            destination: Ipv4Addr::new(10, 0, 1, 1),
            payload_len: 52,
        };
        let udp = Repr {
            type_of_service: 0x10,
            identification: 0x629d,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: 1,
            protocol: Protocol::Udp,
            source: Ipv4Addr::new(172, 29, 175, 220),
            destination: Ipv4Addr::BROADCAST,
            payload_len: 80,
        };
        for (header, repr) in [(DONT_FRAGMENT_TCP, tcp), (ONE_HOP_UDP, udp)] {
            let octets = with_zeros(&header, repr.payload_len.into());
            assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap(), Policy::Verify), Ok(repr));
            let mut emitted = [0xee; HEADER_LEN];
            repr.emit(&mut Packet::new_unchecked(&mut emitted));
            assert_eq!(emitted, header);
        }
    }

    #[test]
    fn fragments_are_told_in_octets() {
        // The third of three fragments of 16008 octets of UDP under an MTU of 1500 begins at 2960 = 370 x 8.
        let repr = Repr {
            type_of_service: 0,
            identification: 7,
            dont_fragment: false,
            more_fragments: true,
            fragment_offset: 2960,
            time_to_live: 64,
            protocol: Protocol::Udp,
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            payload_len: 1480,
        };
        let mut emitted = [0; HEADER_LEN];
        repr.emit(&mut Packet::new_unchecked(&mut emitted));
        assert_eq!(emitted[6..8], (0x2000_u16 | 370).to_be_bytes());
        let octets = with_zeros(&emitted, 1480);
        assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap(), Policy::Verify), Ok(repr));
    }

    #[test]
    fn options_stay_in_the_view() {
        let mut octets = with_zeros(&DONT_FRAGMENT_TCP, 52);
        octets[0] = 0x46;
        octets[20..24].copy_from_slice(&[0x94, 0x04, 0x00, 0x00]); // Router alert (RFC 2113).
        let mut packet = Packet::new_checked(octets).unwrap();
        packet.set_time_to_live(63);
        assert!(!packet.verify_checksum());
        packet.fill_checksum();
        assert!(packet.verify_checksum());
        assert_eq!(packet.options(), [0x94, 0x04, 0x00, 0x00]);
        let repr = Repr::parse(&packet, Policy::Verify).unwrap();
        assert_eq!((repr.time_to_live, repr.payload_len), (63, 48));
        assert_eq!(packet.payload().len(), 48);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let octets = with_zeros(&DONT_FRAGMENT_TCP, 52);
        let wrong = |at: usize, value: u8| {
            let mut octets = octets.clone();
            octets[at] = value;
            let error =
                Packet::new_checked(octets).and_then(|packet| Repr::parse(&packet, Policy::Verify)).unwrap_err();
            error.to_string()
        };
        assert_eq!(wrong(0, 0x65), "IPv4: version at octet 0 is 6, should be 4");
        assert_eq!(wrong(0, 0x44), "IPv4: IHL at octet 0 is 4, should be at least 5");
        assert_eq!(wrong(3, 73), "IPv4: total length at octet 2 is 73, should be at most the buffer's length");
        assert_eq!(wrong(3, 19), "IPv4: total length at octet 2 is 19, should be at least the header's length");
        let sum = wrong(8, 63);
        assert_eq!(sum, "IPv4: header checksum at octet 10 is 9135, should be what the header adds up to");
        assert!(Packet::new_checked(&octets[..19]).is_err());
    }

    prop_compose! {
        fn any_repr()(
            (type_of_service, identification, dont_fragment, more_fragments) in any::<(u8, u16, bool, bool)>(),
            fragment_offset in (0_u16..0x2000).prop_map(|units| units * 8),
            (time_to_live, protocol, source, destination) in any::<(u8, u8, u32, u32)>(),
            payload_len in 0_u16..2000,
        ) -> Repr {
            Repr {
                type_of_service, identification, dont_fragment, more_fragments, fragment_offset, time_to_live, payload_len,
                protocol: protocol.into(), source: source.into(), destination: destination.into(),
            }
        }
    }

    proptest! {
        #[test]
        fn survives_the_wire(repr in any_repr()) {
            let mut octets = vec![0xee; repr.buffer_len() + usize::from(repr.payload_len)];
            repr.emit(&mut Packet::new_unchecked(&mut octets));
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(packet.payload().len(), usize::from(repr.payload_len));
            prop_assert_eq!(Repr::parse(&packet, Policy::Verify), Ok(repr));
        }

        #[test]
        fn arbitrary_octets_never_panic(first in 0x40_u8..0x50, total in 0_u8..100, mut octets in prop::collection::vec(any::<u8>(), 0..96)) {
            // Half of the time what is likely to pass the first checks.
            if octets.len() > 3 && octets[3] & 1 == 0 {
                octets[0] = first;
                octets[2] = 0;
                octets[3] = total;
            }
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = (Repr::parse(&packet, Policy::Verify), Repr::parse(&packet, Policy::Ignore));
                let _ = (packet.options(), packet.payload());
            }
        }
    }
}
