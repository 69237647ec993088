//! A-MSDU: several MSDUs in one MPDU (IEEE Std 802.11-2020, 9.3.2.2.2, basic format).
//!
//! ```text
//! octets    6             6          2                0 to 2304    0 to 3
//! +-------------+-------------+------------+------------------+-----------+
//! | Destination |   Source    |   Length   |       MSDU       |  Padding  |
//! +-------------+-------------+------------+------------------+-----------+
//! ```
//!
//! The length is most significant byte first. All subframes but the last are padded to a multiple of 4 bytes.

use super::LAYER;
use crate::bytes::{array, put};
use crate::{MacAddress, ParseError};

/// Length of the header of a subframe, in bytes.
pub const HEADER_LEN: usize = 14;

mod field {
    pub(super) const DESTINATION: usize = 0;
    pub(super) const SOURCE: usize = 6;
    pub(super) const LENGTH: usize = 12;
}

/// One MSDU of an A-MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subframe<'a> {
    /// Whom it is for in the end.
    pub destination: MacAddress,
    /// Who sent it first.
    pub source: MacAddress,
    /// LLC header and packet.
    pub msdu: &'a [u8],
}

impl Subframe<'_> {
    /// Length in bytes without padding.
    pub fn buffer_len(&self) -> usize {
        HEADER_LEN + self.msdu.len()
    }

    /// Appends it to the body of an A-MSDU, after the padding of the one before.
    ///
    /// # Panics
    /// If the MSDU is longer than 65535 bytes.
    pub fn append(&self, body: &mut Vec<u8>) {
        body.resize(body.len().next_multiple_of(4), 0);
        let start = body.len();
        body.resize(start + HEADER_LEN, 0);
        let length = u16::try_from(self.msdu.len()).expect("an MSDU has at most 2304 bytes");
        put(body, start + field::DESTINATION, self.destination.0);
        put(body, start + field::SOURCE, self.source.0);
        put(body, start + field::LENGTH, length.to_be_bytes());
        body.extend_from_slice(self.msdu);
    }
}

/// The subframes of a body. It ends at the first one that is cut short, with its error.
pub fn subframes(body: &[u8]) -> impl Iterator<Item = Result<Subframe<'_>, ParseError>> {
    let mut rest = Some(body);
    core::iter::from_fn(move || {
        let octets = rest.take().filter(|octets| !octets.is_empty())?;
        Some(take_first(octets).map(|(subframe, after)| {
            rest = Some(after);
            subframe
        }))
    })
}

fn take_first(octets: &[u8]) -> Result<(Subframe<'_>, &[u8]), ParseError> {
    LAYER.require(octets.len() >= HEADER_LEN, "subframe length", 0, octets.len(), "at least 14")?;
    let length = usize::from(u16::from_be_bytes(array(octets, field::LENGTH)));
    let end = HEADER_LEN + length;
    LAYER.require(octets.len() >= end, "MSDU length", field::LENGTH, length, "at most what is left of the body")?;
    let subframe = Subframe {
        destination: MacAddress(array(octets, field::DESTINATION)),
        source: MacAddress(array(octets, field::SOURCE)),
        msdu: &octets[HEADER_LEN..end],
    };
    Ok((subframe, octets.get(end.next_multiple_of(4)..).unwrap_or(&[])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const FAR: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    #[test]
    fn octet_by_octet() {
        let mut body = Vec::new();
        for msdu in [&[0xaa, 0xbb, 0xcc][..], &[0xdd]] {
            Subframe { destination: FAR, source: NEAR, msdu }.append(&mut body);
        }
        #[rustfmt::skip]
        let expected = [
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 3, 0xaa, 0xbb, 0xcc, 0, 0, 0,
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 1, 0xdd,
        ];
        assert_eq!(body, expected);
    }

    #[test]
    fn what_is_cut_short_is_an_error_and_the_end() {
        let mut body = Vec::new();
        for _ in 0..2 {
            Subframe { destination: FAR, source: NEAR, msdu: &[1; 5] }.append(&mut body);
        }
        body.truncate(body.len() - 1);
        let found: Vec<_> = subframes(&body).collect();
        assert!(matches!(found[..], [Ok(_), Err(_)]), "{found:?}");
    }

    proptest! {
        #[test]
        fn subframes_survive(msdus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..8)) {
            let mut body = Vec::new();
            for msdu in &msdus {
                Subframe { destination: FAR, source: NEAR, msdu }.append(&mut body);
            }
            let found: Result<Vec<_>, _> = subframes(&body).map(|subframe| subframe.map(|subframe| subframe.msdu.to_vec())).collect();
            prop_assert_eq!(found, Ok(msdus));
        }

        #[test]
        fn nothing_panics(octets: Vec<u8>) {
            prop_assert!(subframes(&octets).count() <= octets.len());
        }
    }
}
