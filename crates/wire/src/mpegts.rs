//! Packets of an MPEG transport stream (ISO/IEC 13818-1, 2.4.3); RTP carries seven at once (RFC 2250, 2).

use crate::ParseError;
use crate::bytes::array;
use crate::error::Layer;

const LAYER: Layer = Layer("MPEG-TS");

/// Length of a packet, in bytes (2.4.3.2).
pub const PACKET_LEN: usize = 188;
/// The first byte of every packet (2.4.3.3).
pub const SYNC: u8 = 0x47;
/// Ticks of the program clock in a second (2.4.2.1).
pub const CLOCK_RATE: u64 = 27_000_000;
/// Program clock references count modulo this: a base of 33 bits, in 300 ticks each (2.4.2.2).
pub const CLOCK_MODULUS: u64 = (1 << 33) * 300;
/// The packet identifier of the program association table (table 2-3).
pub const PROGRAM_ASSOCIATION: u16 = 0;
/// The packet identifier of packets that only fill the stream (table 2-3).
pub const NULL: u16 = 0x1fff;

mod field {
    pub(super) const SYNC: usize = 0;
    pub(super) const FLAGS_PID: usize = 1;
    pub(super) const CONTROL: usize = 3;
    pub(super) const ADAPTATION_LENGTH: usize = 4;
    pub(super) const ADAPTATION_FLAGS: usize = 5;
    pub(super) const CLOCK: usize = 6;
}

const UNIT_START: u8 = 0x40;
const HAS_ADAPTATION: u8 = 0x20;
const HAS_PAYLOAD: u8 = 0x10;
const CONTINUITY: u8 = 0x0f;
const DISCONTINUITY: u8 = 0x80;
const RANDOM_ACCESS: u8 = 0x40;
const HAS_CLOCK: u8 = 0x10;
/// Flags and program clock reference.
const CLOCK_END: u8 = 7;

/// A view of one packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-+-+-+-------------------------+---+---+-------+
/// |     0x47      |E|U|P|  Packet identifier      |SC |A P|Contin.|
/// +---------------+-+-+-+-------------------------+---+---+-------+
/// |  Length of A  |D|R| |C|  | Program clock reference, if C is set |  if A is set
/// +---------------+---------------+-------------------------------+
/// ```
///
/// U: a unit of payload starts here; A: there is an adaptation field; P: there is payload; D: the clock is a new one; R: a
/// decoder may begin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer`, which is one packet.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let octets = buffer.as_ref();
        LAYER.require(octets.len() == PACKET_LEN, "length", 0, octets.len(), "188")?;
        LAYER.require(octets[field::SYNC] == SYNC, "sync", field::SYNC, octets[field::SYNC], "71")?;
        if octets[field::CONTROL] & HAS_ADAPTATION != 0 {
            let length = octets[field::ADAPTATION_LENGTH];
            let fits = usize::from(length) < PACKET_LEN - field::ADAPTATION_LENGTH;
            LAYER.require(fits, "length of the adaptation field", field::ADAPTATION_LENGTH, length, "at most 183")?;
            let has_clock = length > 0 && octets[field::ADAPTATION_FLAGS] & HAS_CLOCK != 0;
            let whole = !has_clock || length >= CLOCK_END;
            let expected = "at least 7 with a clock reference";
            LAYER.require(whole, "length of the adaptation field", field::ADAPTATION_LENGTH, length, expected)?;
        }
        Ok(Self { buffer })
    }

    /// The packet identifier, 13 bits, of a part of the stream.
    pub fn identifier(&self) -> u16 {
        u16::from_be_bytes(array(self.buffer.as_ref(), field::FLAGS_PID)) & NULL
    }

    /// Whether a unit of payload, a table or an elementary stream's packet, starts in this packet.
    pub fn starts_unit(&self) -> bool {
        self.buffer.as_ref()[field::FLAGS_PID] & UNIT_START != 0
    }

    /// The continuity counter, 4 bits: grows by one with each packet of an identifier that has payload.
    pub fn continuity(&self) -> u8 {
        self.buffer.as_ref()[field::CONTROL] & CONTINUITY
    }

    /// Flags of the adaptation field; none without one.
    fn adaptation(&self) -> u8 {
        let octets = self.buffer.as_ref();
        let has = octets[field::CONTROL] & HAS_ADAPTATION != 0 && octets[field::ADAPTATION_LENGTH] > 0;
        if has { octets[field::ADAPTATION_FLAGS] } else { 0 }
    }

    /// Whether the clock, or the continuity counter, starts again.
    pub fn is_discontinuous(&self) -> bool {
        self.adaptation() & DISCONTINUITY != 0
    }

    /// Whether a decoder may begin here: for video, with a key frame.
    pub fn is_random_access(&self) -> bool {
        self.adaptation() & RANDOM_ACCESS != 0
    }

    /// The program clock reference in ticks of [`CLOCK_RATE`], modulo [`CLOCK_MODULUS`].
    pub fn clock(&self) -> Option<u64> {
        if self.adaptation() & HAS_CLOCK == 0 {
            return None;
        }
        let field: [u8; 6] = array(self.buffer.as_ref(), field::CLOCK);
        let bits = field.iter().fold(0, |bits, &octet| bits << 8 | u64::from(octet));
        // 33 bits, 6 reserved ones, 9 bits.
        Some((bits >> 15) * 300 + (bits & 0x1ff))
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        let octets = self.buffer.as_ref();
        let control = octets[field::CONTROL];
        let start = match control & HAS_ADAPTATION {
            0 => field::ADAPTATION_LENGTH,
            _ => field::ADAPTATION_FLAGS + usize::from(octets[field::ADAPTATION_LENGTH]),
        };
        if control & HAS_PAYLOAD == 0 { &[] } else { &octets[start..] }
    }

    /// Whether there is payload, so that the continuity counter grows.
    pub fn has_payload(&self) -> bool {
        self.buffer.as_ref()[field::CONTROL] & HAS_PAYLOAD != 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Writes the continuity counter; its lower 4 bits count.
    pub fn set_continuity(&mut self, counter: u8) {
        let octet = &mut self.buffer.as_mut()[field::CONTROL];
        *octet = *octet & !CONTINUITY | counter & CONTINUITY;
    }
}

/// The packet identifier of the map of the first program that a program association section names (2.4.4.3), of the payload
/// of the packet in which it starts; `None` if it names none in that packet.
pub fn first_program_map(payload: &[u8]) -> Option<u16> {
    // A pointer to the section, then 8 octets of its header, of which 3 come before what the length counts.
    let section = payload.get(1 + usize::from(*payload.first()?)..)?;
    let length = usize::from(u16::from_be_bytes([*section.get(1)?, *section.get(2)?]) & 0x0fff);
    // The sum at the end has 4 octets.
    let programs = section.get(8..(3 + length).checked_sub(4)?)?;
    let entries = programs.chunks_exact(4).map(|entry| [array::<2>(entry, 0), array(entry, 2)].map(u16::from_be_bytes));
    // Program 0 is the network's information.
    entries.into_iter().find(|&[program, _]| program != 0).map(|[_, identifier]| identifier & NULL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The standard's layout by hand: identifier 0x100, a key frame with the reference 5 × 300 + 7.
    fn key_frame() -> [u8; PACKET_LEN] {
        let mut octets = [0xff; PACKET_LEN];
        octets[..12].copy_from_slice(&[0x47, 0x41, 0x00, 0x39, 7, 0x50, 0, 0, 0, 2, 0xfe, 7]);
        octets
    }

    #[test]
    fn section_2_4_3_octet_by_octet() {
        let mut octets = key_frame();
        let mut packet = Packet::new_checked(&mut octets[..]).unwrap();
        assert_eq!((packet.identifier(), packet.continuity()), (0x100, 9));
        assert!(packet.starts_unit() && packet.is_random_access() && !packet.is_discontinuous());
        assert_eq!(packet.clock(), Some(5 * 300 + 7));
        assert_eq!(packet.payload().len(), PACKET_LEN - 12);
        packet.set_continuity(0x1a);
        assert_eq!(packet.continuity(), 10);
        assert_eq!(octets[3], 0x3a);
    }

    #[test]
    fn a_packet_may_have_no_adaptation_or_nothing_else() {
        let mut octets = [0; PACKET_LEN];
        octets[..4].copy_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        let packet = Packet::new_checked(&octets).unwrap();
        assert_eq!((packet.identifier(), packet.clock(), packet.payload().len()), (NULL, None, 184));
        octets[3] = 0x20;
        octets[4] = 183;
        let packet = Packet::new_checked(&octets).unwrap();
        assert!(packet.payload().is_empty() && !packet.has_payload());
        // An adaptation field of nothing has no flags.
        octets[3] = 0x30;
        octets[4..6].copy_from_slice(&[0, 0xff]);
        let packet = Packet::new_checked(&octets).unwrap();
        assert_eq!((packet.clock(), packet.is_random_access(), packet.payload().len()), (None, false, 183));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let error = |octets: &[u8]| Packet::new_checked(octets).unwrap_err().to_string();
        let mut octets = key_frame();
        assert_eq!(error(&octets[..187]), "MPEG-TS: length at octet 0 is 187, should be 188");
        octets[4] = 6;
        let length = "MPEG-TS: length of the adaptation field at octet 4";
        assert_eq!(error(&octets), format!("{length} is 6, should be at least 7 with a clock reference"));
        octets[4] = 184;
        assert_eq!(error(&octets), format!("{length} is 184, should be at most 183"));
        octets[0] = 0x48;
        assert_eq!(error(&octets), "MPEG-TS: sync at octet 0 is 72, should be 71");
    }

    #[test]
    fn table_2_30_the_map_of_the_first_program() {
        // Program 0 with 0x10, program 1 with 0x1000, and the sum.
        let section = [0, 0, 0xb0, 17, 0, 1, 0xc1, 0, 0, 0, 0, 0xe0, 0x10, 0, 1, 0xf0, 0, 1, 2, 3, 4];
        assert_eq!(first_program_map(&section), Some(0x1000));
        assert_eq!(first_program_map(&section[..12]), None);
        assert_eq!(first_program_map(&[]), None);
    }

    proptest! {
        #[test]
        fn arbitrary_tables_never_panic(octets in prop::collection::vec(any::<u8>(), 0..188)) {
            let _ = first_program_map(&octets);
        }

        #[test]
        fn arbitrary_octets_never_panic(mut octets in prop::collection::vec(any::<u8>(), 188), sync in any::<bool>()) {
            if sync {
                octets[0] = SYNC;
            }
            if let Ok(packet) = Packet::new_checked(&octets) {
                let _ = (packet.payload().len(), packet.is_discontinuous());
                prop_assert!(packet.clock().is_none_or(|clock| clock < CLOCK_MODULUS + 512));
            }
        }
    }
}
