//! The user datagram protocol (RFC 768).

use std::net::Ipv4Addr;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::checksum::{Policy, Sum};
use crate::error::Layer;
use crate::ipv4::Protocol;

const LAYER: Layer = Layer("UDP");

/// Length of the header, in bytes (RFC 768).
pub const HEADER_LEN: usize = 8;

mod field {
    pub(super) const SOURCE_PORT: usize = 0;
    pub(super) const DESTINATION_PORT: usize = 2;
    pub(super) const LENGTH: usize = 4;
    pub(super) const CHECKSUM: usize = 6;
}

/// A view of a UDP header and its payload.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |          Source port          |       Destination port        |
/// +-------------------------------+-------------------------------+
/// |            Length             |           Checksum            |
/// +-------------------------------+-------------------------------+
/// ```
///
/// RFC 768, "Format". Most significant byte first. Bytes of the buffer beyond the length are no part of the datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole datagram: the first fragment of one is refused.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length of the buffer", 0, length, "at least 8")?;
        let packet = Self { buffer };
        let told = packet.length();
        LAYER.require(told >= HEADER_LEN, "length", field::LENGTH, told, "at least 8")?;
        LAYER.require(told <= length, "length", field::LENGTH, told, "at most the buffer's length")?;
        Ok(packet)
    }

    /// The sender's port.
    pub fn source_port(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SOURCE_PORT))
    }

    /// The receiver's port.
    pub fn destination_port(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::DESTINATION_PORT))
    }

    /// Length of header and payload, in bytes.
    pub(crate) fn length(&self) -> usize {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::LENGTH)).into()
    }

    /// The checksum field; 0 means that the sender computed no checksum.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum is correct for these addresses, or was never computed (RFC 768, "Fields").
    #[must_use]
    pub fn verify_checksum(&self, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        let length = self.length();
        let datagram = &self.buffer.as_ref()[..length];
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Udp.into(), length as u16);
        self.checksum() == 0 || sum.with(datagram).is_valid()
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..self.length()]
    }
}

/// The fields of a UDP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// Length of the payload, in bytes: at most 65507 in IPv4.
    pub payload_len: u16,
}

impl Repr {
    /// Parses a header in a datagram between these addresses.
    pub fn parse<T: AsRef<[u8]>>(
        packet: &Packet<T>,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        checksum: Policy,
    ) -> Result<Self, ParseError> {
        let right = checksum == Policy::Ignore || packet.verify_checksum(source, destination);
        LAYER.require(right, "checksum", field::CHECKSUM, packet.checksum(), "what the datagram adds up to, or 0")?;
        Ok(Self {
            source_port: packet.source_port(),
            destination_port: packet.destination_port(),
            payload_len: (packet.length() - HEADER_LEN) as u16,
        })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header of a datagram between these addresses, its checksum included.
    ///
    /// `payload` is what will follow; what it lacks up to `payload_len` counts as zeros. Panics if `payload_len` is above 65527.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(
        &self,
        packet: &mut Packet<T>,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        payload: &[u8],
    ) {
        let length =
            (HEADER_LEN as u16).checked_add(self.payload_len).expect("a UDP datagram has at most 65535 octets");
        let octets = packet.buffer.as_mut();
        put(octets, field::SOURCE_PORT, self.source_port.to_be_bytes());
        put(octets, field::DESTINATION_PORT, self.destination_port.to_be_bytes());
        put(octets, field::LENGTH, length.to_be_bytes());
        put(octets, field::CHECKSUM, [0, 0]);
        let present = &payload[..payload.len().min(self.payload_len.into())];
        let sum = Sum::EMPTY.with_pseudo_header(source, destination, Protocol::Udp.into(), length);
        let checksum = match sum.with(&octets[..HEADER_LEN]).with(present).checksum() {
            // 0 would say that there is none; all ones is its other spelling (RFC 768, "Fields").
            0 => u16::MAX,
            checksum => checksum,
        };
        put(octets, field::CHECKSUM, checksum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE: Ipv4Addr = Ipv4Addr::new(172, 29, 175, 220);
    /// From tcpdump's capture OLSRv1_HNA_sgw_1: OLSR messages from `SOURCE` to everyone.
    const OLSR: [u8; 80] = [
        0x02, 0xba, 0x02, 0xba, 0x00, 0x50, 0x46, 0x2c, // The header.
        0x00, 0x48, 0xce, 0x93, 0x04, 0x2c, 0x00, 0x1c, 0xac, 0x1f, 0xaf, 0xdc, 0xff, 0x00, 0x6c, 0xe5, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x07, 0x04, 0x04, 0x0a, 0xaf, 0xdc, 0x00, 0xff, 0xff, 0xff, 0x00, 0xc9, 0x85, 0x00, 0x28,
        0xac, 0x1f, 0xaf, 0xdc, 0x01, 0x00, 0x6c, 0xe6, 0x00, 0x00, 0x04, 0x03, 0x06, 0x00, 0x00, 0x0c, 0xac, 0x1d,
        0xaf, 0xdd, 0x00, 0x00, 0x50, 0x3f, 0x04, 0x00, 0x00, 0x0c, 0xac, 0x1f, 0xaf, 0xdd, 0x00, 0x00, 0x29, 0x0e,
    ];

    #[test]
    fn octets_and_meaning() {
        let repr = Repr { source_port: 698, destination_port: 698, payload_len: 72 };
        let packet = Packet::new_checked(&OLSR).unwrap();
        assert_eq!(Repr::parse(&packet, SOURCE, Ipv4Addr::BROADCAST, Policy::Verify), Ok(repr));
        let mut emitted = [0xee; HEADER_LEN];
        repr.emit(&mut Packet::new_unchecked(&mut emitted), SOURCE, Ipv4Addr::BROADCAST, packet.payload());
        assert_eq!(emitted, OLSR[..HEADER_LEN]);
    }

    #[test]
    fn a_wrong_checksum_is_an_error_unless_it_is_absent_or_ignored() {
        let parse = |octets: &[u8], policy| {
            Repr::parse(&Packet::new_checked(octets).unwrap(), SOURCE, Ipv4Addr::BROADCAST, policy)
        };
        let mut octets = OLSR;
        octets[79] ^= 1;
        let error = parse(&octets, Policy::Verify).unwrap_err();
        assert_eq!(
            error.to_string(),
            "UDP: checksum at octet 6 is 17964, should be what the datagram adds up to, or 0"
        );
        assert!(parse(&octets, Policy::Ignore).is_ok());
        octets[6..8].copy_from_slice(&[0, 0]);
        assert!(parse(&octets, Policy::Verify).is_ok());
    }

    #[test]
    fn a_checksum_of_zero_is_sent_as_all_ones() {
        // Pseudo header 0x0011 + 0x000a, length 0x000a: a payload word that fills the sum up to 0xffff.
        let repr = Repr { source_port: 0, destination_port: 0, payload_len: 2 };
        let payload = (0xffff_u16 - 0x0011 - 0x000a - 0x000a).to_be_bytes();
        let mut octets = [0; HEADER_LEN + 2];
        octets[HEADER_LEN..].copy_from_slice(&payload);
        let nowhere = Ipv4Addr::UNSPECIFIED;
        repr.emit(&mut Packet::new_unchecked(&mut octets), nowhere, nowhere, &payload);
        assert_eq!(octets[6..8], [0xff, 0xff]);
        assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap(), nowhere, nowhere, Policy::Verify), Ok(repr));
    }

    #[test]
    fn lengths_that_cannot_be_are_refused() {
        assert!(Packet::new_checked(&OLSR[..7]).is_err());
        assert!(Packet::new_checked(&OLSR[..79]).is_err());
        let mut octets = OLSR;
        octets[5] = 7;
        let error = Packet::new_checked(octets).unwrap_err();
        assert_eq!(error.to_string(), "UDP: length at octet 4 is 7, should be at least 8");
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (source_port, destination_port, source, destination) in any::<(u16, u16, u32, u32)>(),
            payload in prop::collection::vec(any::<u8>(), 0..64),
            zeros in 0_u16..64,
        ) {
            let repr = Repr { source_port, destination_port, payload_len: payload.len() as u16 + zeros };
            let mut octets = vec![0; repr.buffer_len() + usize::from(repr.payload_len)];
            octets[HEADER_LEN..HEADER_LEN + payload.len()].copy_from_slice(&payload);
            repr.emit(&mut Packet::new_unchecked(&mut octets), source.into(), destination.into(), &payload);
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_ne!(packet.checksum(), 0);
            prop_assert_eq!(Repr::parse(&packet, source.into(), destination.into(), Policy::Verify), Ok(repr));
        }

        #[test]
        fn arbitrary_octets_never_panic(length in 0_u8..80, mut octets in prop::collection::vec(any::<u8>(), 0..64)) {
            if octets.len() > 5 && octets[4] & 1 == 0 {
                octets[4] = 0;
                octets[5] = length;
            }
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = Repr::parse(&packet, SOURCE, SOURCE, Policy::Verify);
                let _ = packet.payload();
            }
        }
    }
}
