//! The Ethernet header, as host devices present frames (IEEE Std 802.3-2018, 3.1; RFC 894).

use crate::bytes::{array, put};
use crate::error::Layer;
use crate::llc::EtherType;
use crate::{MacAddress, ParseError};

const LAYER: Layer = Layer("Ethernet");

/// Length of the header, in bytes.
pub const HEADER_LEN: usize = 14;
/// Length of the longest IP datagram that a frame carries, in bytes (RFC 894).
pub const MTU: u32 = 1_500;

/// Smaller numbers in the place of the EtherType are lengths (IEEE Std 802.3-2018, 3.2.6).
const LEAST_ETHER_TYPE: u16 = 0x0600;

mod field {
    pub(super) const DESTINATION: usize = 0;
    pub(super) const SOURCE: usize = 6;
    pub(super) const TYPE: usize = 12;
}

/// A view of an Ethernet header and its payload.
///
/// ```text
///  0               1               2               3
///  0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7
/// +---------------------------------------------------------------+
/// |                          Destination                          |
/// +                               +-------------------------------+
/// |                               |                               |
/// +-------------------------------+                               +
/// |                            Source                             |
/// +-------------------------------+-------------------------------+
/// |       Length or type          |
/// +-------------------------------+
/// ```
///
/// IEEE Std 802.3-2018, 3.1.1, without preamble and frame check sequence. Most significant byte first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds a whole header.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 14")?;
        Ok(Self { buffer })
    }

    /// Receiver of the frame.
    pub fn destination(&self) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), field::DESTINATION))
    }

    /// Sender of the frame.
    pub fn source(&self) -> MacAddress {
        MacAddress(array(self.buffer.as_ref(), field::SOURCE))
    }

    /// The protocol of the payload, or its length.
    pub fn length_or_type(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::TYPE))
    }

    /// Bytes after the header.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..]
    }
}

/// The fields of an Ethernet header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Receiver of the frame.
    pub destination: MacAddress,
    /// Sender of the frame.
    pub source: MacAddress,
    /// The protocol of the payload: at least 0x600.
    pub ether_type: EtherType,
}

impl Repr {
    /// Parses a header; one with a length, before LLC, is an error.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let told = packet.length_or_type();
        LAYER.require(told >= LEAST_ETHER_TYPE, "type", field::TYPE, told, "at least 1536")?;
        Ok(Self { destination: packet.destination(), source: packet.source(), ether_type: told.into() })
    }

    /// Length of the header, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let octets = packet.buffer.as_mut();
        put(octets, field::DESTINATION, self.destination.0);
        put(octets, field::SOURCE, self.source.0);
        put(octets, field::TYPE, u16::from(self.ether_type).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An ARP request, as a host sends it first.
    const REQUEST: [u8; HEADER_LEN] =
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06];

    #[test]
    fn octets_and_meaning() {
        let source = MacAddress([2, 0, 0, 0, 0, 1]);
        let repr = Repr { destination: MacAddress::BROADCAST, source, ether_type: EtherType::Arp };
        assert_eq!(Repr::parse(&Packet::new_checked(REQUEST).unwrap()), Ok(repr));
        let mut emitted = [0xee; HEADER_LEN];
        repr.emit(&mut Packet::new_unchecked(&mut emitted));
        assert_eq!(emitted, REQUEST);
    }

    #[test]
    fn lengths_and_short_frames_are_named() {
        let mut octets = REQUEST;
        octets[12..].copy_from_slice(&[0x05, 0xff]);
        let error = Repr::parse(&Packet::new_checked(octets).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "Ethernet: type at octet 12 is 1535, should be at least 1536");
        let error = Packet::new_checked(&REQUEST[..13]).unwrap_err();
        assert_eq!(error.to_string(), "Ethernet: length at octet 0 is 13, should be at least 14");
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (destination, source) in any::<([u8; 6], [u8; 6])>(),
            ether_type in LEAST_ETHER_TYPE..,
        ) {
            let repr = Repr {
                destination: MacAddress(destination),
                source: MacAddress(source),
                ether_type: ether_type.into(),
            };
            let mut octets = vec![0xee; repr.buffer_len()];
            repr.emit(&mut Packet::new_unchecked(&mut octets));
            prop_assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap()), Ok(repr));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..32)) {
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = Repr::parse(&packet);
                prop_assert_eq!(packet.payload().len(), octets.len() - HEADER_LEN);
            }
        }
    }
}
