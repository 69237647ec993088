//! The Internet checksum (RFC 1071).

use std::net::Ipv4Addr;

/// Treatment of a checksum when a header is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// A wrong checksum is an error.
    #[default]
    Verify,
    /// The checksum is not checked: for packets captured before the network card filled it in, for example.
    Ignore,
}

/// A running one's-complement sum of 16-bit words, most significant byte first (RFC 1071, section 1).
///
/// Each slice that is added begins a new word; one of odd length ends with a zero byte. So only the last may be odd.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum(u64);

impl Sum {
    /// The sum of no bytes.
    pub const EMPTY: Self = Self(0);

    /// The sum with `octets` added.
    #[must_use]
    pub fn with(self, octets: &[u8]) -> Self {
        let mut words = octets.chunks_exact(2);
        let whole: u64 = words.by_ref().map(|word| u64::from(u16::from_be_bytes([word[0], word[1]]))).sum();
        let last = words.remainder().first().map_or(0, |&octet| u64::from(octet) << 8);
        // 2^48 words fit before the 64 bits overflow: more than memory holds.
        Self(self.0 + whole + last)
    }

    /// The sum with the pseudo header that UDP and TCP put before themselves (RFC 768; RFC 9293, 3.1).
    /// `length` is that of transport header and payload, in bytes.
    #[must_use]
    pub fn with_pseudo_header(self, source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, length: u16) -> Self {
        let [high, low] = length.to_be_bytes();
        self.with(&source.octets()).with(&destination.octets()).with(&[0, protocol, high, low])
    }

    /// The one's-complement sum, carries folded in.
    pub(crate) fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    /// The checksum: the complement of the sum.
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// Whether the sum of bytes that contain their checksum is correct (RFC 1071, section 1, step 3).
    #[must_use]
    pub fn is_valid(self) -> bool {
        self.folded() == 0xffff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_1071_section_3() {
        let sum = Sum::EMPTY.with(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.folded(), 0xddf2);
        assert_eq!(sum.checksum(), 0x220d);
        assert!(sum.with(&0x220d_u16.to_be_bytes()).is_valid());
        assert!(!sum.with(&0x220e_u16.to_be_bytes()).is_valid());
    }

    #[test]
    fn an_odd_octet_is_the_high_half_of_the_last_word() {
        assert_eq!(Sum::EMPTY.with(&[0x12, 0x34, 0x56]).folded(), 0x1234 + 0x5600);
    }

    proptest! {
        #[test]
        fn zeros_add_nothing(octets in prop::collection::vec(any::<u8>(), 0..64), zeros in 0_usize..64) {
            let even = &octets[..octets.len() & !1];
            prop_assert_eq!(Sum::EMPTY.with(even).with(&vec![0; zeros]).folded(), Sum::EMPTY.with(even).folded());
        }
    }
}
