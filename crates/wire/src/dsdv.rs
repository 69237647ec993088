//! Updates of DSDV (Perkins and Bhagwat, SIGCOMM 1994), in hopcast's format.
//!
//! The paper gives the content of an update (for each destination its address, a metric and a sequence number), but no
//! format, and there is no standard. The entries here have the layout of ns-3. The frame around them is that of the port:
//! UDP port 269 belongs to protocols of ad hoc networks with the packet format of RFC 5444 (RFC 5498). So an update is a
//! packet of RFC 5444 with one message of an experimental type, with one TLV, whose value is the entries.

use std::net::Ipv4Addr;

use crate::ParseError;
use crate::bytes::{array, put};
use crate::code_point::code_points;
use crate::error::Layer;

const LAYER: Layer = Layer("DSDV");

/// UDP port, source and destination: `manet` (RFC 5498, 6), as in ns-3.
pub const PORT: u16 = 269;
/// Length of the frame before the entries, in bytes.
pub const HEADER_LEN: usize = 11;
/// Length of an entry, in bytes.
pub const ENTRY_LEN: usize = 12;
/// The metric of an unreachable destination.
pub const INFINITE: u32 = u32::MAX;

/// First of the message types for experiments (RFC 5444, 6.2).
const MESSAGE_TYPE: u8 = 224;
/// No optional field in the header of the message, and addresses of four bytes (RFC 5444, 5.2).
const MESSAGE_FLAGS: u8 = 0x03;
/// The TLV has a value, and its length takes two bytes (RFC 5444, 5.4.1).
const TLV_FLAGS: u8 = 0x18;

mod field {
    pub(super) const PACKET_FLAGS: usize = 0;
    pub(super) const MESSAGE_TYPE: usize = 1;
    pub(super) const MESSAGE_FLAGS: usize = 2;
    pub(super) const MESSAGE_SIZE: usize = 3;
    pub(super) const TLVS_LENGTH: usize = 5;
    pub(super) const TLV_TYPE: usize = 7;
    pub(super) const TLV_FLAGS: usize = 8;
    pub(super) const LENGTH: usize = 9;
}

code_points! {
    /// What an update tells; the type of its TLV, of those for experiments (RFC 5444, 6.3).
    Kind(u8) {
        /// All routes, or a part of them where one datagram can't hold all.
        FullDump = 224,
        /// What has changed since the last full dump.
        Incremental = 225,
    }
}

/// A view of an update.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+---------------+---------------+
/// |       0       |  Type (224)   |       3       | Message size  :
/// +---------------+---------------+---------------+---------------+
/// :               |          TLVs length          | Kind (224,225)|
/// +---------------+-------------------------------+---------------+
/// |     0x18      |            Length             |  Entries …
/// +---------------+-------------------------------+---------------+
///
/// Entry:
/// +---------------------------------------------------------------+
/// |                      Destination address                      |
/// +---------------------------------------------------------------+
/// |                   Metric, in hops; ∞ is 2³²−1                 |
/// +---------------------------------------------------------------+
/// |                        Sequence number                        |
/// +---------------------------------------------------------------+
/// ```
///
/// Most significant byte first. The message size counts from the type on, the TLVs length from the kind on, and the
/// length from the entries on; all three reach to the end of the datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `buffer` as it is. Accessors panic if it is too short.
    pub fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of `buffer`, which holds the whole payload of a UDP datagram. Checks the frame, but only the total length
    /// of the entries.
    pub fn new_checked(buffer: T) -> Result<Self, ParseError> {
        let octets = buffer.as_ref();
        LAYER.require(octets.len() >= HEADER_LEN, "length of the buffer", 0, octets.len(), "at least 11")?;
        let fixed = [
            (field::PACKET_FLAGS, "version and flags of the packet", 0, "0"),
            (field::MESSAGE_TYPE, "message type", MESSAGE_TYPE, "224"),
            (field::MESSAGE_FLAGS, "flags and address length of the message", MESSAGE_FLAGS, "3"),
            (field::TLV_FLAGS, "flags of the TLV", TLV_FLAGS, "24"),
        ];
        for (offset, name, right, expected) in fixed {
            LAYER.require(octets[offset] == right, name, offset, octets[offset], expected)?;
        }
        let lengths = [
            (field::MESSAGE_SIZE, "message size", field::MESSAGE_TYPE),
            (field::TLVS_LENGTH, "length of the TLVs", field::TLV_TYPE),
            (field::LENGTH, "length of the entries", HEADER_LEN),
        ];
        for (offset, name, from) in lengths {
            let told = usize::from(u16::from_be_bytes(array(octets, offset)));
            LAYER.require(told == octets.len() - from, name, offset, told, "what is left of the buffer")?;
        }
        let length = octets.len() - HEADER_LEN;
        LAYER.require(
            length.is_multiple_of(ENTRY_LEN),
            "length of the entries",
            field::LENGTH,
            length,
            "a multiple of 12",
        )?;
        let packet = Self { buffer };
        let kind = packet.kind();
        let known = !matches!(kind, Kind::Unknown(_));
        LAYER.require(known, "kind", field::TLV_TYPE, u8::from(kind), "224 or 225")?;
        Ok(packet)
    }

    /// Kind of the update.
    pub fn kind(&self) -> Kind {
        self.buffer.as_ref()[field::TLV_TYPE].into()
    }

    /// Iterates over the entries. An invalid one is an error, and the others follow it.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, ParseError>> + '_ {
        let octets = &self.buffer.as_ref()[HEADER_LEN..];
        let offsets = (HEADER_LEN..).step_by(ENTRY_LEN);
        octets.chunks_exact(ENTRY_LEN).zip(offsets).map(|(entry, offset)| Entry::parse(entry, offset))
    }
}

/// The fields of an update before its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repr {
    /// Kind of the update.
    pub kind: Kind,
    /// Number of entries: at most 5460.
    pub entries: u16,
}

impl Repr {
    /// Parses an update, without its entries. A view from [`Packet::new_checked`] always has one.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Self, ParseError> {
        let length = packet.buffer.as_ref().len() - HEADER_LEN;
        Ok(Self { kind: packet.kind(), entries: (length / ENTRY_LEN) as u16 })
    }

    /// Length of the frame before the entries, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the frame before the entries. Panics if there are more than 5460, which no datagram can hold.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, packet: &mut Packet<T>) {
        let length = u16::try_from(usize::from(self.entries) * ENTRY_LEN).expect("an update has at most 5460 entries");
        let octets = packet.buffer.as_mut();
        let behind = |offset: usize| (length + (HEADER_LEN - offset) as u16).to_be_bytes();
        octets[field::PACKET_FLAGS] = 0;
        octets[field::MESSAGE_TYPE] = MESSAGE_TYPE;
        octets[field::MESSAGE_FLAGS] = MESSAGE_FLAGS;
        put(octets, field::MESSAGE_SIZE, behind(field::MESSAGE_TYPE));
        put(octets, field::TLVS_LENGTH, behind(field::TLV_TYPE));
        octets[field::TLV_TYPE] = self.kind.into();
        octets[field::TLV_FLAGS] = TLV_FLAGS;
        put(octets, field::LENGTH, length.to_be_bytes());
    }
}

/// An entry of an update: one destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The destination.
    pub destination: Ipv4Addr,
    /// Hops from the sender of the update to the destination, or [`INFINITE`].
    pub metric: u32,
    /// Sequence number: even from the destination, odd from a node that found the route to it broken.
    pub sequence: u32,
}

impl Entry {
    /// Parses the bytes of an entry that stands at `offset`. Panics unless there are 12.
    fn parse(octets: &[u8], offset: usize) -> Result<Self, ParseError> {
        let [destination, metric, sequence] = [0, 4, 8].map(|at| u32::from_be_bytes(array(octets, at)));
        let address = Ipv4Addr::from_bits(destination);
        let is_host = matches!(address.octets()[0], 1..=126 | 128..=223);
        LAYER.require(is_host, "destination", offset, destination, "the address of a host")?;
        let expected = if sequence % 2 == 1 { "4294967295, for the number is odd" } else { "below 4294967295" };
        LAYER.require((sequence % 2 == 1) == (metric == INFINITE), "metric", offset + 4, metric, expected)?;
        Ok(Self { destination: address, metric, sequence })
    }

    /// Writes the entry. Panics if `octets` has fewer than 12.
    pub fn emit(&self, octets: &mut [u8]) {
        put(octets, 0, self.destination.octets());
        put(octets, 4, self.metric.to_be_bytes());
        put(octets, 8, self.sequence.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FAR: Entry = Entry { destination: Ipv4Addr::new(10, 0, 0, 9), metric: 3, sequence: 0x0102_0304 };
    const LOST: Entry = Entry { destination: Ipv4Addr::new(10, 0, 0, 7), metric: INFINITE, sequence: 19 };
    #[rustfmt::skip]
    const OCTETS: [u8; 35] = [
        0, 224, 3, 0, 34, 0, 28, 225, 0x18, 0, 24,
        10, 0, 0, 9, 0, 0, 0, 3, 1, 2, 3, 4,
        10, 0, 0, 7, 255, 255, 255, 255, 0, 0, 0, 19,
    ];

    fn emitted(kind: Kind, entries: &[Entry]) -> Vec<u8> {
        let repr = Repr { kind, entries: entries.len() as u16 };
        let mut octets = vec![0xee; repr.buffer_len() + entries.len() * ENTRY_LEN];
        repr.emit(&mut Packet::new_unchecked(&mut octets));
        for (entry, octets) in entries.iter().zip(octets[HEADER_LEN..].chunks_exact_mut(ENTRY_LEN)) {
            entry.emit(octets);
        }
        octets
    }

    #[test]
    fn octets_and_meaning() {
        let packet = Packet::new_checked(&OCTETS).unwrap();
        assert_eq!(Repr::parse(&packet), Ok(Repr { kind: Kind::Incremental, entries: 2 }));
        assert!(packet.entries().eq([Ok(FAR), Ok(LOST)]));
        assert_eq!(emitted(Kind::Incremental, &[FAR, LOST]), OCTETS);
    }

    #[test]
    fn a_wrong_frame_refuses_the_whole() {
        for at in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] {
            let mut octets = OCTETS;
            octets[at] ^= 0x40;
            assert!(Packet::new_checked(&octets).is_err(), "octet {at}");
        }
        for length in 0..OCTETS.len() {
            assert!(Packet::new_checked(&OCTETS[..length]).is_err(), "{length} octets");
        }
        let error = Packet::new_checked(&OCTETS[..23]).unwrap_err();
        assert_eq!(error.to_string(), "DSDV: message size at octet 3 is 34, should be what is left of the buffer");
    }

    #[test]
    fn a_wrong_entry_spoils_no_other() {
        let wrong = [
            Entry { sequence: 18, ..LOST },
            Entry { sequence: 19, ..FAR },
            Entry { destination: Ipv4Addr::BROADCAST, ..FAR },
            Entry { destination: Ipv4Addr::new(224, 0, 0, 1), ..FAR },
            Entry { destination: Ipv4Addr::UNSPECIFIED, ..FAR },
        ];
        for wrong in wrong {
            let octets = emitted(Kind::FullDump, &[wrong, FAR]);
            let entries: Vec<_> = Packet::new_checked(&octets).unwrap().entries().collect();
            assert!(entries[0].is_err(), "{wrong:?}");
            assert_eq!(entries[1], Ok(FAR));
        }
        let octets = emitted(Kind::FullDump, &[FAR, Entry { sequence: 19, ..FAR }]);
        let error = Packet::new_checked(&octets).unwrap().entries().nth(1).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "DSDV: metric at octet 27 is 3, should be 4294967295, for the number is odd");
    }

    fn any_entry() -> impl Strategy<Value = Entry> {
        (0x0100_0000_u32..0x7f00_0000, 0..INFINITE, any::<u32>()).prop_map(|(destination, metric, sequence)| Entry {
            destination: destination.into(),
            metric: if sequence % 2 == 1 { INFINITE } else { metric },
            sequence,
        })
    }

    proptest! {
        #[test]
        fn survives_the_wire(entries in prop::collection::vec(any_entry(), 0..130), full in any::<bool>()) {
            let kind = if full { Kind::FullDump } else { Kind::Incremental };
            let octets = emitted(kind, &entries);
            let packet = Packet::new_checked(&octets).unwrap();
            prop_assert_eq!(Repr::parse(&packet), Ok(Repr { kind, entries: entries.len() as u16 }));
            prop_assert!(packet.entries().eq(entries.into_iter().map(Ok)));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..80), framed in any::<bool>()) {
            let mut octets = octets;
            if framed {
                octets.truncate(octets.len() / ENTRY_LEN * ENTRY_LEN);
                let mut whole = emitted(Kind::FullDump, &vec![FAR; octets.len() / ENTRY_LEN]);
                whole[HEADER_LEN..].copy_from_slice(&octets);
                octets = whole;
            }
            let packet = Packet::new_checked(&octets);
            prop_assert!(packet.is_ok() || !framed);
            if let Ok(packet) = packet {
                let _ = Repr::parse(&packet);
                prop_assert_eq!(packet.entries().count(), (octets.len() - HEADER_LEN) / ENTRY_LEN);
            }
        }
    }
}
