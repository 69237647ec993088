//! Application data units of `hopcast probe`, which it sends between real hosts.
//!
//! Over UDP a unit is one datagram; over TCP units follow each other. The length counts the whole unit, so that it has
//! the same length on the wire as in the simulator. The sending time is at the end: a unit counts as written with its
//! last byte, and until then the field can be set again.

use crate::ParseError;
use crate::bytes::{array, put};
use crate::error::Layer;

const LAYER: Layer = Layer("probe");

/// Length of the header, in bytes.
pub const HEADER_LEN: usize = 24;
/// Length of the trailer, in bytes.
pub const TRAILER_LEN: usize = 8;
/// The shortest unit: one without payload, in bytes.
pub const MIN_LEN: usize = HEADER_LEN + TRAILER_LEN;
/// The longest unit, in bytes: a relay has to hold it.
pub const MAX_LEN: usize = 1 << 20;

/// `HP`.
const MAGIC: u16 = u16::from_be_bytes(*b"HP");
const VERSION: u8 = 1;

mod field {
    pub(super) const MAGIC: usize = 0;
    pub(super) const VERSION: usize = 2;
    pub(super) const RESERVED: usize = 3;
    pub(super) const LENGTH: usize = 4;
    pub(super) const SESSION: usize = 8;
    pub(super) const SEQUENCE: usize = 16;
}

/// Length of the next unit of a stream whose next bytes are `octets`; `None` while they are too few.
///
/// # Errors
///
/// The bytes are not the header of a unit.
pub fn unit_len(octets: &[u8]) -> Result<Option<usize>, ParseError> {
    if octets.len() < HEADER_LEN {
        return Ok(None);
    }
    let magic = u16::from_be_bytes(array(octets, field::MAGIC));
    LAYER.require(magic == MAGIC, "magic", field::MAGIC, magic, "18512")?;
    let version = octets[field::VERSION];
    LAYER.require(version == VERSION, "version", field::VERSION, version, "1")?;
    let told = u32::from_be_bytes(array(octets, field::LENGTH));
    let length = usize::try_from(told).unwrap_or(usize::MAX);
    LAYER.require((MIN_LEN..=MAX_LEN).contains(&length), "length", field::LENGTH, told, "32 to 1048576")?;
    Ok(Some(length))
}

/// A view of a unit.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+---------------+---------------+
/// |         Magic "HP"            |  Version (1)  |   Reserved    |
/// +-------------------------------+---------------+---------------+
/// |                   Length, all of the unit                     |
/// +---------------------------------------------------------------+
/// |                            Session                            |
/// |                                                               |
/// +---------------------------------------------------------------+
/// |                        Sequence number                        |
/// |                                                               |
/// +---------------------------------------------------------------+
/// |                           Payload …                           |
/// +---------------------------------------------------------------+
/// |            Sent, in nanoseconds of the sender's clock         |
/// |                                                               |
/// +---------------------------------------------------------------+
/// ```
///
/// Most significant byte first. The buffer is the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which is one whole unit and nothing else.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let length = buffer.as_ref().len();
        LAYER.require(length >= MIN_LEN, "length of the datagram", 0, length, "at least 32")?;
        let told = unit_len(buffer.as_ref())?.unwrap_or_default();
        LAYER.require(told == length, "length", field::LENGTH, told, "that of the datagram")?;
        Ok(Self { buffer })
    }

    /// Measurement of a flow to which the unit belongs.
    pub fn session(&self) -> u64 {
        u64::from_be_bytes(array(self.buffer.as_ref(), field::SESSION))
    }

    /// Number of the unit in its session, from 0.
    pub fn sequence(&self) -> u64 {
        u64::from_be_bytes(array(self.buffer.as_ref(), field::SEQUENCE))
    }

    /// Time when it was sent, in nanoseconds of the sender's clock.
    pub fn sent(&self) -> u64 {
        let octets = self.buffer.as_ref();
        u64::from_be_bytes(array(octets, octets.len() - TRAILER_LEN))
    }

    /// Bytes between header and trailer.
    pub fn payload(&self) -> &[u8] {
        let octets = self.buffer.as_ref();
        &octets[HEADER_LEN..octets.len() - TRAILER_LEN]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Says when it was sent, in nanoseconds of the sender's clock.
    pub(crate) fn set_sent(&mut self, sent: u64) {
        let octets = self.buffer.as_mut();
        let at = octets.len() - TRAILER_LEN;
        put(octets, at, sent.to_be_bytes());
    }
}

/// The fields of a unit, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Measurement of a flow to which it belongs.
    pub session: u64,
    /// Its number in the session, from 0.
    pub sequence: u64,
    /// Time when it was sent, in nanoseconds of the sender's clock.
    pub sent: u64,
    /// Bytes between header and trailer; all of the unit has at most [`MAX_LEN`].
    pub payload_len: usize,
}

impl Repr {
    /// Parses a unit.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            session: packet.session(),
            sequence: packet.sequence(),
            sent: packet.sent(),
            payload_len: packet.payload().len(),
        }
    }

    /// Length of the unit, in bytes: header, payload and trailer.
    pub fn buffer_len(&self) -> usize {
        MIN_LEN + self.payload_len
    }

    /// Writes header and trailer, and leaves the payload between them as it is. The buffer is the unit.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let octets = packet.buffer.as_mut();
        put(octets, field::MAGIC, MAGIC.to_be_bytes());
        octets[field::VERSION] = VERSION;
        octets[field::RESERVED] = 0;
        put(octets, field::LENGTH, (self.buffer_len() as u32).to_be_bytes());
        put(octets, field::SESSION, self.session.to_be_bytes());
        put(octets, field::SEQUENCE, self.sequence.to_be_bytes());
        packet.set_sent(self.sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emit(repr: &Repr, payload: &[u8]) -> Vec<u8> {
        let mut octets = vec![0xee; repr.buffer_len()];
        octets[HEADER_LEN..HEADER_LEN + payload.len()].copy_from_slice(payload);
        repr.emit(&mut Packet::new_unchecked(&mut octets[..]));
        octets
    }

    #[test]
    fn octets_and_meaning() {
        let repr = Repr { session: 0x0102_0304_0506_0708, sequence: 9, sent: 0x1112_1314_1516_1718, payload_len: 3 };
        let octets = [
            b'H', b'P', 1, 0, 0, 0, 0, 35, // Magic, version, length.
            1, 2, 3, 4, 5, 6, 7, 8, // The session.
            0, 0, 0, 0, 0, 0, 0, 9, // The sequence number.
            b'a', b'd', b'u', // The payload.
            0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // When it was sent.
        ];
        assert_eq!(emit(&repr, b"adu"), octets);
        let packet = Packet::new_checked(&octets).unwrap();
        assert_eq!((Repr::parse(&packet), packet.payload()), (repr, &b"adu"[..]));
        assert_eq!(unit_len(&octets), Ok(Some(35)));
    }

    #[test]
    fn a_unit_is_sent_when_its_end_says_so() {
        let repr = Repr { session: 1, sequence: 2, sent: 3, payload_len: 5 };
        let mut octets = emit(&repr, b"12345");
        Packet::new_unchecked(&mut octets[..]).set_sent(77);
        assert_eq!(Repr::parse(&Packet::new_checked(&octets).unwrap()), Repr { sent: 77, ..repr });
    }

    #[test]
    fn what_is_no_unit_is_named() {
        let right = emit(&Repr { session: 1, sequence: 2, sent: 3, payload_len: 4 }, b"1234");
        let error = |octets: &[u8]| Packet::new_checked(octets).unwrap_err().to_string();
        assert_eq!(error(&right[..31]), "probe: length of the datagram at octet 0 is 31, should be at least 32");
        assert_eq!(error(&right[..35]), "probe: length at octet 4 is 36, should be that of the datagram");
        let wrong = |at: usize, octet: u8| {
            let mut octets = right.clone();
            octets[at] = octet;
            error(&octets)
        };
        assert_eq!(wrong(1, 0), "probe: magic at octet 0 is 18432, should be 18512");
        assert_eq!(wrong(2, 2), "probe: version at octet 2 is 2, should be 1");
        assert_eq!(wrong(7, 31), "probe: length at octet 4 is 31, should be 32 to 1048576");
        assert_eq!(wrong(4, 1), "probe: length at octet 4 is 16777252, should be 32 to 1048576");
    }

    #[test]
    fn a_stream_tells_the_length_once_the_header_is_there() {
        let octets = emit(&Repr { session: 1, sequence: 2, sent: 3, payload_len: 100 }, &[]);
        assert_eq!(unit_len(&octets[..HEADER_LEN - 1]), Ok(None));
        assert_eq!(unit_len(&octets[..HEADER_LEN]), Ok(Some(132)));
    }

    proptest! {
        #[test]
        fn survives_the_wire(
            (session, sequence, sent) in any::<(u64, u64, u64)>(),
            payload in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let repr = Repr { session, sequence, sent, payload_len: payload.len() };
            let octets = emit(&repr, &payload);
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(Repr::parse(&packet), repr);
            prop_assert_eq!(packet.payload(), &payload[..]);
        }

        #[test]
        fn arbitrary_octets_never_panic(shaped in any::<bool>(), mut octets in prop::collection::vec(any::<u8>(), 0..100)) {
            if shaped && octets.len() >= 8 {
                let length = octets.len() as u8;
                octets[..8].copy_from_slice(&[b'H', b'P', 1, 0, 0, 0, 0, length]);
            }
            let _ = unit_len(&octets);
            if let Ok(packet) = Packet::new_checked(&octets) {
                let repr = Repr::parse(&packet);
                let mut again = octets.clone();
                repr.emit(&mut Packet::new_unchecked(&mut again[..]));
                again[field::RESERVED] = octets[field::RESERVED];
                prop_assert_eq!(again, octets);
            }
        }
    }
}
