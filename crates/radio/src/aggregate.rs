//! Bodies of frames that carry more than one packet: MPDUs under a block acknowledgment agreement, and what acknowledges them.

use hopcast_protocols::time::Duration;

/// Most MPDUs of an A-MPDU, and of the window of an agreement (IEEE 802.11ax-2021, 9.4.1.13).
pub const MAX_WINDOW: u32 = 256;

/// What a frame carries besides its header, where that is not one packet.
#[derive(Clone, Debug)]
pub enum Body<P> {
    /// The MPDUs of a data frame under an agreement, ascending: one that goes alone, or several in an A-MPDU.
    Mpdus(Box<[Mpdu<P>]>),
    /// That of a block acknowledgment.
    BlockAck(BlockAck),
    /// That of a request: the number of the first MPDU that its sender still has (9.3.1.7, Block Ack Starting Sequence Control).
    BlockAckRequest(u32),
}

/// An MPDU with data, as it goes over the air.
#[derive(Clone, Debug)]
pub struct Mpdu<P> {
    /// As [`crate::frame::Frame::sequence`].
    pub sequence: u32,
    /// Retry bit.
    pub retry: bool,
    /// Length with FCS, in bytes.
    pub octets: u32,
    /// Its packet; the first one of an A-MSDU.
    pub packet: P,
    /// The other packets of an A-MSDU.
    pub more: Box<[P]>,
}

impl<P> Mpdu<P> {
    /// All of its packets, in order.
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        core::iter::once(&self.packet).chain(&self.more)
    }
}

/// Which MPDUs a recipient has (9.3.1.8.2): those of the window from `start` on by their bits, and all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockAck {
    /// Starting Sequence Number.
    pub start: u32,
    /// One bit for each MPDU from there on.
    pub bitmap: MpduSet,
}

impl BlockAck {
    /// Whether it acknowledges the MPDU with this number.
    pub fn has(&self, sequence: u32) -> bool {
        let place = sequence.wrapping_sub(self.start);
        (place as i32) < 0 || self.bitmap.has(place as usize)
    }
}

/// A set of the MPDUs of a frame or window, by their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpduSet([u64; 4]);

impl MpduSet {
    /// All of a frame.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// Whether the MPDU at `place` is in it.
    pub const fn has(&self, place: usize) -> bool {
        place < MAX_WINDOW as usize && self.0[place / 64] >> (place % 64) & 1 != 0
    }

    /// Enters the MPDU at `place`, which is below [`MAX_WINDOW`].
    pub const fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    /// Moves all forward by this number of places; those that fall off are forgotten.
    #[must_use]
    pub fn advanced(self, places: u32) -> Self {
        if places == 0 {
            return self;
        }
        let mut moved = Self::default();
        let (words, bits) = ((places / 64) as usize, places % 64);
        for word in words..4 {
            moved.0[word - words] = self.0[word] >> bits;
            if bits > 0 && word + 1 < 4 {
                moved.0[word - words] |= self.0[word + 1] << (64 - bits);
            }
        }
        moved
    }

    /// The bits, those of the first 64 places first.
    pub const fn words(&self) -> [u64; 4] {
        self.0
    }
}

/// MPDUs of a frame that has arrived, on which reception decides one by one.
#[derive(Debug)]
pub(crate) struct Arriving<'a, P> {
    pub(crate) mpdus: &'a [Mpdu<P>],
    /// Those without error.
    pub(crate) received: &'a mut MpduSet,
    /// Whether one that was received is enough to know.
    pub(crate) is_one_enough: bool,
}

/// A-MPDU delimiter (9.7.1).
const DELIMITER_OCTETS: u32 = 4;

/// Bytes of an A-MPDU after `before`, to which an MPDU of `octets` is added: each subframe but the last is padded to whole words
/// (9.7.1).
pub(crate) const fn with_subframe(before: u32, octets: u32) -> u32 {
    before.next_multiple_of(4) + DELIMITER_OCTETS + octets
}

/// Subframe header of an A-MSDU (9.3.2.2.2): destination, source, length.
const AMSDU_HEADER_OCTETS: u32 = 14;

/// Bytes of an A-MSDU after `before`, to which an MSDU of `octets`, LLC/SNAP included, is added: each subframe but the last is padded to
/// whole words.
pub(crate) const fn with_msdu(before: u32, octets: u32) -> u32 {
    before.next_multiple_of(4) + AMSDU_HEADER_OCTETS + octets
}

/// The most bytes of a PSDU that take no longer than `limit`; at most `most`. `airtime` is the time that a number of them takes.
pub(crate) fn octets_within(most: u32, limit: Duration, airtime: impl Fn(u32) -> Duration) -> u32 {
    if airtime(most) <= limit {
        return most;
    }
    let (mut fits, mut exceeds) = (0, most);
    while exceeds - fits > 1 {
        let middle = fits.midpoint(exceeds);
        if airtime(middle) <= limit { fits = middle } else { exceeds = middle }
    }
    fits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phy::{Standard, TxVector};

    /// Two subframes of 1538 and 1538 bytes: 4 + 1538 + 2 of padding + 4 + 1538.
    #[test]
    fn subframes_but_the_last_are_padded() {
        assert_eq!(with_subframe(with_subframe(0, 1_538), 1_538), 3_086);
        assert_eq!(with_subframe(0, 1_540), 1_544);
        assert_eq!(with_msdu(with_msdu(0, 1_508), 1_508), 1_522 + 2 + 1_522);
    }

    #[test]
    fn a_block_ack_covers_all_before_its_window() {
        let mut bitmap = MpduSet::default();
        bitmap.insert(1);
        bitmap.insert(255);
        let ack = BlockAck { start: 100, bitmap };
        assert_eq!([0, 99, 100, 101, 102, 355, 356].map(|n| ack.has(n)), [true, true, false, true, false, true, false]);
    }

    #[test]
    fn as_many_octets_fit_as_the_time_admits() {
        let vector = TxVector::new(Standard::Ht, 7);
        let limit = Duration::from_micros(228);
        let within = |limit| octets_within(65_535, limit, |octets| vector.airtime(octets));
        let most = within(limit);
        assert!(vector.airtime(most) <= limit && vector.airtime(most + 1) > limit, "{most}");
        assert_eq!(within(Duration::from_millis(100)), 65_535);
    }

    proptest! {
        #[test]
        fn a_set_moves_as_its_places_do(places in prop::collection::btree_set(0_usize..256, 0..40), by in 0_u32..300) {
            let mut set = MpduSet::default();
            places.iter().for_each(|&place| set.insert(place));
            let moved = set.advanced(by);
            for place in 0..256 {
                prop_assert_eq!(moved.has(place), places.contains(&(place + by as usize)));
            }
        }
    }
}
