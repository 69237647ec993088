//! Elements of RTP's header extension with one byte before each (RFC 8285, section 4.2).

use super::Extension;

/// "Defined by profile" of such an extension.
pub const PROFILE: u16 = 0xbede;
/// The identifier under which the transport-wide number travels; sessions agree on it.
pub const TRANSPORT_WIDE: u8 = 1;
/// Words of an extension with the transport-wide number alone, in bytes.
pub const TRANSPORT_WIDE_LEN: usize = 4;
/// An identifier that ends the list.
const END: u8 = 15;

/// The words of an extension with a transport-wide number alone (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------+-------+-------------------------------+---------------+
/// |  ID   | Len=1 |             Number            |    Padding    |
/// +-------+-------+-------------------------------+---------------+
/// ```
pub fn transport_wide(number: u16) -> [u8; TRANSPORT_WIDE_LEN] {
    let [high, low] = number.to_be_bytes();
    [TRANSPORT_WIDE << 4 | 1, high, low, 0]
}

impl<'a> Extension<'a> {
    /// The elements, each with its identifier, 1 to 14; none with another profile. What is cut off at the end is left out.
    pub fn elements(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let mut rest = if self.profile == PROFILE { self.words } else { &[] };
        core::iter::from_fn(move || {
            // Zeros are padding.
            while let Some((0, behind)) = rest.split_first().map(|(first, behind)| (*first, behind)) {
                rest = behind;
            }
            let (&first, behind) = rest.split_first()?;
            let (identifier, length) = (first >> 4, usize::from(first & 0x0f) + 1);
            if identifier == END || length > behind.len() {
                rest = &[];
                return None;
            }
            let (data, behind) = behind.split_at(length);
            rest = behind;
            Some((identifier, data))
        })
    }

    /// The transport-wide number, if there is one.
    pub fn transport_wide_number(&self) -> Option<u16> {
        let mut elements = self.elements();
        let (_, data) = elements.find(|&(identifier, _)| identifier == TRANSPORT_WIDE)?;
        Some(u16::from_be_bytes(data.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn elements_have_identifiers_and_lengths() {
        // RFC 8285, section 4.2: three elements of 1, 2 and 4 bytes, with padding between the second and third.
        let words = [0x10, 0xaa, 0x21, 0xbb, 0xcc, 0, 0, 0x33, 1, 2, 3, 4];
        let extension = Extension { profile: PROFILE, words: &words };
        let elements: Vec<(u8, &[u8])> = extension.elements().collect();
        assert_eq!(elements, [(1, &[0xaa][..]), (2, &[0xbb, 0xcc]), (3, &[1, 2, 3, 4])]);
        assert_eq!(extension.transport_wide_number(), None, "of one byte");
        assert_eq!(Extension { profile: 0x1000, ..extension }.elements().count(), 0);
        let ended = [0x10, 0xaa, 0xf0, 0, 0x10, 0xbb, 0, 0];
        assert_eq!(Extension { profile: PROFILE, words: &ended }.elements().count(), 1);
        let cut = [0x10, 0xaa, 0x23, 0xbb];
        assert_eq!(Extension { profile: PROFILE, words: &cut }.elements().count(), 1);
    }

    proptest! {
        #[test]
        fn a_number_survives_the_wire(number in any::<u16>()) {
            let words = transport_wide(number);
            prop_assert_eq!(Extension { profile: PROFILE, words: &words }.transport_wide_number(), Some(number));
        }

        #[test]
        fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..64)) {
            let extension = Extension { profile: PROFILE, words: &octets };
            prop_assert!(extension.elements().all(|(_, data)| (1..=16).contains(&data.len())));
        }
    }
}
