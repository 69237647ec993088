//! The Internet control message protocol: echo and its reply (RFC 792, "Echo or Echo Reply Message"), and errors about
//! undeliverable packets (RFC 792, "Destination Unreachable Message", "Time Exceeded Message").

use crate::ParseError;
use crate::bytes::{array, put};
use crate::checksum::Sum;
use crate::error::Layer;
use crate::ipv4::{self, Protocol};

const LAYER: Layer = Layer("ICMP");

/// The protocol number ("Assigned internet protocol numbers", IANA).
pub const PROTOCOL: u8 = 1;
/// Length of the header of an echo message, in bytes.
pub const HEADER_LEN: usize = 8;

const ECHO_REPLY: u8 = 0;
const UNREACHABLE: u8 = 3;
const ECHO: u8 = 8;
const TIME_EXCEEDED: u8 = 11;
/// A question for the time, which like echo is no error (RFC 792, "Timestamp or Timestamp Reply Message").
const TIMESTAMP: u8 = 13;
/// Bytes behind the header that an error repeats of the packet that it is about (RFC 792).
const REPEATED: usize = 8;

mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const CODE: usize = 1;
    pub(super) const CHECKSUM: usize = 2;
    pub(super) const IDENTIFIER: usize = 4;
    pub(super) const SEQUENCE: usize = 6;
}

/// A view of an ICMP message.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |     Type      |     Code      |           Checksum            |
/// +---------------+---------------+-------------------------------+
/// |          Identifier           |        Sequence number        |
/// +-------------------------------+-------------------------------+
/// ```
///
/// RFC 792. Most significant byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole message.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 8")?;
        Ok(Self { buffer })
    }

    /// Kind of the message.
    pub fn kind(&self) -> u8 {
        self.buffer.as_ref()[field::TYPE]
    }

    /// The checksum as it stands.
    pub(crate) fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum of the message is correct.
    #[must_use]
    pub fn verify_checksum(&self) -> bool {
        Sum::EMPTY.with(self.buffer.as_ref()).is_valid()
    }

    /// Identifies the sender among others at the same host.
    pub fn identifier(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::IDENTIFIER))
    }

    /// Number of the request.
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// Data that the reply returns.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..]
    }
}

/// The fields of the header of an echo message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Whether it is a reply.
    pub is_reply: bool,
    /// Identifies the sender among others at the same host.
    pub identifier: u16,
    /// Number of the request.
    pub sequence: u16,
}

impl Repr {
    /// Parses a message; an error if it is not an echo message.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let kind = packet.kind();
        LAYER.require(kind == ECHO || kind == ECHO_REPLY, "type", field::TYPE, kind, "8 or 0")?;
        let right = packet.verify_checksum();
        LAYER.require(right, "checksum", field::CHECKSUM, packet.checksum(), "what the message adds up to")?;
        Ok(Self { is_reply: kind == ECHO_REPLY, identifier: packet.identifier(), sequence: packet.sequence() })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header before `payload`, the checksum of both included.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>, payload: &[u8]) {
        let octets = packet.buffer.as_mut();
        octets[field::TYPE] = if self.is_reply { ECHO_REPLY } else { ECHO };
        octets[field::CODE] = 0;
        put(octets, field::CHECKSUM, [0; 2]);
        put(octets, field::IDENTIFIER, self.identifier.to_be_bytes());
        put(octets, field::SEQUENCE, self.sequence.to_be_bytes());
        let sum = Sum::EMPTY.with(&octets[..HEADER_LEN]).with(payload);
        put(octets, field::CHECKSUM, sum.checksum().to_be_bytes());
    }
}

/// Reason why a packet is undeliverable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// There is no route to its destination.
    HostUnreachable,
    /// The host does not support its protocol.
    ProtocolUnreachable,
    /// No program listens at its port.
    PortUnreachable,
    /// Its time to live is over.
    TimeExceeded,
}

impl Failure {
    /// Type and code of the message.
    fn kind(self) -> [u8; 2] {
        match self {
            Self::HostUnreachable => [UNREACHABLE, 1],
            Self::ProtocolUnreachable => [UNREACHABLE, 2],
            Self::PortUnreachable => [UNREACHABLE, 3],
            Self::TimeExceeded => [TIME_EXCEEDED, 0],
        }
    }
}

/// The error message to the source of an IPv4 packet. `None` where the standard allows none: about ICMP messages that may
/// be errors themselves, fragments other than the first, packets to more than one host, and sources that are not a single
/// host (RFC 1122, section 3.2.2); or if `packet` is not an IPv4 packet.
pub fn error(failure: Failure, packet: &[u8]) -> Option<Vec<u8>> {
    let view = ipv4::Packet::new_checked(packet).ok()?;
    let (source, destination) = (view.source(), view.destination());
    // From 240.0.0.0 on: class E, and broadcast.
    let is_reserved = source.octets()[0] >= 240;
    let is_host = !(source.is_unspecified() || source.is_loopback() || source.is_multicast() || is_reserved);
    let is_for_host = !(destination.is_multicast() || destination.is_broadcast());
    let is_query = view.protocol() != Protocol::Icmp || matches!(view.payload().first(), Some(&(ECHO | TIMESTAMP)));
    if !is_host || !is_for_host || !is_query || view.fragment_offset() != 0 {
        return None;
    }
    let repeated = &packet[..view.total_len().min(view.header_len() + REPEATED)];
    let mut message = vec![0; HEADER_LEN + repeated.len()];
    message[field::TYPE..field::CHECKSUM].copy_from_slice(&failure.kind());
    message[HEADER_LEN..].copy_from_slice(repeated);
    let checksum = Sum::EMPTY.with(&message).checksum();
    put(&mut message, field::CHECKSUM, checksum.to_be_bytes());
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet of 12 bytes behind its header.
    fn packet(destination: [u8; 4], protocol: Protocol, fragment_offset: u16) -> Vec<u8> {
        let repr = ipv4::Repr {
            type_of_service: 0,
            identification: 7,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset,
            time_to_live: 1,
            protocol,
            source: [10, 0, 0, 1].into(),
            destination: destination.into(),
            payload_len: 12,
        };
        let mut octets = vec![5; ipv4::HEADER_LEN + 12];
        repr.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
        octets
    }

    #[test]
    fn an_error_says_why_and_repeats_the_beginning() {
        let lost = packet([10, 0, 0, 3], Protocol::Udp, 0);
        for (failure, kind) in [
            (Failure::HostUnreachable, [3, 1]),
            (Failure::ProtocolUnreachable, [3, 2]),
            (Failure::PortUnreachable, [3, 3]),
            (Failure::TimeExceeded, [11, 0]),
        ] {
            let message = error(failure, &lost).expect("its source may be told");
            assert_eq!(message[..2], kind);
            assert_eq!((&message[4..8], &message[8..]), (&[0; 4][..], &lost[..28]));
            assert!(Packet::new_checked(&message).unwrap().verify_checksum());
        }
    }

    #[test]
    fn rfc_1122_section_3_2_2_no_error_is_sent_about_an_error_a_later_fragment_or_a_group() {
        let tells = |packet: &[u8]| error(Failure::TimeExceeded, packet).is_some();
        let here = [10, 0, 0, 3];
        assert!(tells(&packet(here, Protocol::Tcp, 0)));
        assert!(!tells(&packet(here, Protocol::Tcp, 8)));
        assert!(!tells(&packet([224, 0, 0, 1], Protocol::Udp, 0)));
        assert!(!tells(&packet([255; 4], Protocol::Udp, 0)));
        let control = |kind: u8| {
            let mut octets = packet(here, Protocol::Icmp, 0);
            octets[ipv4::HEADER_LEN] = kind;
            octets
        };
        assert_eq!([8, 13, 0, 3, 11, 12].map(|kind| tells(&control(kind))), [true, true, false, false, false, false]);
        for no_host in [[0; 4], [127, 0, 0, 1], [224, 0, 0, 1], [240, 0, 0, 1], [255; 4]] {
            let mut of_nobody = packet(here, Protocol::Udp, 0);
            of_nobody[12..16].copy_from_slice(&no_host);
            assert!(!tells(&of_nobody), "{no_host:?}");
        }
    }

    /// The example of RFC 1071's arithmetic, by hand: 0800 + 0001 + 0002 + 6162 = 6965, of which the complement is 969a.
    const REQUEST: [u8; 10] = [0x08, 0x00, 0x96, 0x9a, 0x00, 0x01, 0x00, 0x02, 0x61, 0x62];

    #[test]
    fn octets_and_meaning() {
        let packet = Packet::new_checked(REQUEST).unwrap();
        let repr = Repr { is_reply: false, identifier: 1, sequence: 2 };
        assert_eq!(Repr::parse(&packet), Ok(repr));
        assert_eq!(packet.payload(), b"ab");
        let mut emitted = [0xee; 10];
        emitted[HEADER_LEN..].copy_from_slice(b"ab");
        repr.emit(&mut Packet::new_unchecked(&mut emitted), b"ab");
        assert_eq!(emitted, REQUEST);
    }

    #[test]
    fn what_is_no_echo_is_named() {
        let mut octets = REQUEST;
        octets[0] = 3;
        let error = Repr::parse(&Packet::new_checked(octets).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "ICMP: type at octet 0 is 3, should be 8 or 0");
        octets = REQUEST;
        octets[9] = 0x63;
        let error = Repr::parse(&Packet::new_checked(octets).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "ICMP: checksum at octet 2 is 38554, should be what the message adds up to");
        assert!(Packet::new_checked(&REQUEST[..7]).is_err());
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (is_reply, identifier, sequence) in any::<(bool, u16, u16)>(),
            payload in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let repr = Repr { is_reply, identifier, sequence };
            let mut octets = vec![0xee; repr.buffer_len()];
            repr.emit(&mut Packet::new_unchecked(&mut octets), &payload);
            octets.extend(&payload);
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(Repr::parse(&packet), Ok(repr));
            prop_assert_eq!(packet.payload(), &payload[..]);
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..32)) {
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = Repr::parse(&packet);
            }
            let _ = error(Failure::PortUnreachable, &octets);
        }
    }
}
