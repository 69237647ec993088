//! Generic negative acknowledgments: packets of RTP that a receiver misses (RFC 4585, section 6.2.1).

use super::{FEEDBACK, LAYER, VERSION, set_header, whole};
use crate::ParseError;
use crate::bytes::{array, put};

/// The feedback message type (RFC 4585, section 6.2).
const FORMAT: u8 = 1;
/// Bytes before the entries, and of an entry.
const HEADER_LEN: usize = 12;
const ENTRY_LEN: usize = 4;
/// Packets behind the first one of an entry that it can name.
const FOLLOWING: u16 = 16;

/// A generic NACK.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---+-+---------+---------------+-------------------------------+
/// |V=2|P|  FMT=1  |   PT = 205    |            Length             |
/// +---+-+---------+---------------+-------------------------------+
/// |                    SSRC of the packet's sender                |
/// +---------------------------------------------------------------+
/// |                    SSRC of the source of media                |
/// +-------------------------------+-------------------------------+
/// |   Sequence number of a lost   |    Which of the 16 packets    |
/// |            packet             |    behind it are lost, too    |
/// +-------------------------------+-------------------------------+
/// :                        further entries                        :
/// +---------------------------------------------------------------+
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nack {
    /// The synchronization source of who sends this.
    pub sender: u32,
    /// That of the media.
    pub source: u32,
    /// Sequence numbers of packets that are missed; at least one. They are written in this order, up to 17 of them in an entry if they
    /// ascend.
    pub lost: Vec<u16>,
}

impl Nack {
    /// Reads a packet.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let octets = whole(octets, (FORMAT, "1"), (HEADER_LEN + ENTRY_LEN, "at least 16"))?;
        let is_right = (octets.len() - HEADER_LEN).is_multiple_of(ENTRY_LEN);
        LAYER.require(is_right, "length", 2, octets.len(), "whole entries of 4 octets")?;
        let mut lost = Vec::new();
        for at in (HEADER_LEN..octets.len()).step_by(ENTRY_LEN) {
            let first = u16::from_be_bytes(array(octets, at));
            let following = u16::from_be_bytes(array(octets, at + 2));
            lost.push(first);
            lost.extend((0..FOLLOWING).filter(|bit| following >> bit & 1 == 1).map(|bit| first.wrapping_add(bit + 1)));
        }
        Ok(Self { sender: u32::from_be_bytes(array(octets, 4)), source: u32::from_be_bytes(array(octets, 8)), lost })
    }

    /// The first packet of each entry, and which ones behind it are lost.
    fn entries(&self) -> Vec<(u16, u16)> {
        let mut entries: Vec<(u16, u16)> = Vec::new();
        for &lost in &self.lost {
            match entries.last_mut() {
                Some((first, following)) if (1..=FOLLOWING).contains(&lost.wrapping_sub(*first)) => {
                    *following |= 1 << (lost.wrapping_sub(*first) - 1);
                }
                _ => entries.push((lost, 0)),
            }
        }
        entries
    }

    /// Length of the packet, in bytes.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + ENTRY_LEN * self.entries().len()
    }

    /// Writes the packet at the beginning of `octets`. Panics if there is no room.
    pub fn emit(&self, octets: &mut [u8]) {
        set_header(octets, VERSION | FORMAT, FEEDBACK, self.buffer_len());
        put(octets, 4, self.sender.to_be_bytes());
        put(octets, 8, self.source.to_be_bytes());
        for (place, (first, following)) in self.entries().into_iter().enumerate() {
            put(octets, HEADER_LEN + ENTRY_LEN * place, first.to_be_bytes());
            put(octets, HEADER_LEN + ENTRY_LEN * place + 2, following.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emitted(nack: &Nack) -> Vec<u8> {
        let mut octets = vec![0xaa; nack.buffer_len()];
        nack.emit(&mut octets);
        octets
    }

    /// Section 6.2.1: the lowest bit names the packet right behind.
    #[test]
    fn section_6_2_1_octet_by_octet() {
        let nack = Nack { sender: 0x0102_0304, source: 0x0506_0708, lost: vec![65_534, 65_535, 14, 15] };
        let octets = emitted(&nack);
        assert_eq!(octets[..12], [0x81, 205, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8]);
        // 65 535 is the first behind 65 534, and 14 the sixteenth; 15 is one too far.
        assert_eq!(octets[12..], [0xff, 0xfe, 0x80, 0x01, 0, 15, 0, 0]);
        assert_eq!(Nack::parse(&octets), Ok(nack));
    }

    #[test]
    fn what_is_no_nack_is_refused() {
        let nack = emitted(&Nack { sender: 1, source: 2, lost: vec![3] });
        assert!(Nack::parse(&nack[..12]).is_err());
        for (place, octet) in [(0, 0x41), (0, 0x82), (1, 206), (3, 4), (3, 2)] {
            let mut wrong = nack.clone();
            wrong[place] = octet;
            assert!(Nack::parse(&wrong).is_err(), "{place}: {octet}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(sender in any::<u32>(), source in any::<u32>(), mut lost in prop::collection::vec(any::<u16>(), 1..40)) {
            lost.sort_unstable();
            lost.dedup();
            let nack = Nack { sender, source, lost };
            prop_assert_eq!(Nack::parse(&emitted(&nack)), Ok(nack));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(nack) = Nack::parse(&octets) {
                prop_assert!(!nack.lost.is_empty());
            }
        }
    }
}
