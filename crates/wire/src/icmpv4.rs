//! Echo and its answer in the Internet control message protocol (RFC 792, "Echo or Echo Reply Message").

use crate::ParseError;
use crate::bytes::{array, put};
use crate::checksum::Sum;
use crate::error::Layer;

const LAYER: Layer = Layer("ICMP");

/// The protocol number ("Assigned internet protocol numbers", IANA).
pub const PROTOCOL: u8 = 1;
/// Length of the header of an echo message, in octets.
pub const HEADER_LEN: usize = 8;

const ECHO_REPLY: u8 = 0;
const ECHO: u8 = 8;

mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const CODE: usize = 1;
    pub(super) const CHECKSUM: usize = 2;
    pub(super) const IDENTIFIER: usize = 4;
    pub(super) const SEQUENCE: usize = 6;
}

/// A view on an ICMP message.
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
/// RFC 792. Most significant octet first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view on `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view on `buffer`, which holds a whole message.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= HEADER_LEN, "length", 0, length, "at least 8")?;
        Ok(Self { buffer })
    }

    /// What the message is.
    pub fn kind(&self) -> u8 {
        self.buffer.as_ref()[field::TYPE]
    }

    /// The checksum as it stands.
    pub fn checksum(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::CHECKSUM))
    }

    /// Whether the checksum is that of the message.
    pub fn is_checksum_right(&self) -> bool {
        Sum::EMPTY.with(self.buffer.as_ref()).is_right()
    }

    /// Tells who asks from others at the same host.
    pub fn identifier(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::IDENTIFIER))
    }

    /// The number of the question.
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// What is to come back.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[HEADER_LEN..]
    }
}

/// What the header of an echo message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Whether it is the answer.
    pub is_reply: bool,
    /// Tells who asks from others at the same host.
    pub identifier: u16,
    /// The number of the question.
    pub sequence: u16,
}

impl Repr {
    /// The meaning of a message; an error if it is none of echo.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let kind = packet.kind();
        LAYER.require(kind == ECHO || kind == ECHO_REPLY, "type", field::TYPE, kind, "8 or 0")?;
        let right = packet.is_checksum_right();
        LAYER.require(right, "checksum", field::CHECKSUM, packet.checksum(), "what the message adds up to")?;
        Ok(Self { is_reply: kind == ECHO_REPLY, identifier: packet.identifier(), sequence: packet.sequence() })
    }

    /// Length of the header, in octets.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        }
    }
}
