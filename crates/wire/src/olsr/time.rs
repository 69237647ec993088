use core::fmt;

/// The scaling factor C, 1/16 s, over 16, in nanoseconds (RFC 3626, 18.1).
const UNIT: u64 = 1_000_000_000 / 256;

/// A time in one byte: C·(1 + a/16)·2ᵇ, with a in the upper and b in the lower four bits (RFC 3626, 3.3.2 and 18.3).
///
/// From 62.5 ms to 3968 s.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeCode(pub u8);

impl TimeCode {
    /// The shortest time that is no shorter than `nanos` nanoseconds, or the longest of all (RFC 3626, 18.3).
    pub const fn from_nanos(nanos: u64) -> Self {
        let units = nanos.div_ceil(UNIT);
        let mut exponent = 0;
        while exponent < 15 && units >= 32 << exponent {
            exponent += 1;
        }
        let mut mantissa = units.div_ceil(1 << exponent);
        if mantissa > 31 && exponent < 15 {
            exponent += 1;
            mantissa = 16;
        }
        let mantissa = if mantissa < 16 { 16 } else { mantissa };
        let fraction = if mantissa > 31 { 15 } else { mantissa - 16 };
        Self((fraction << 4) as u8 | exponent)
    }

    /// Nanoseconds, exactly.
    pub const fn as_nanos(self) -> u64 {
        ((16 + (self.0 >> 4) as u64) << (self.0 & 0x0f)) * UNIT
    }
}

impl fmt::Debug for TimeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeCode({} ns)", self.as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_3626_section_18_3() {
        for (seconds, a, b) in [(2, 0, 5), (6, 8, 6), (15, 14, 7), (30, 14, 8)] {
            let code = TimeCode::from_nanos(seconds * 1_000_000_000);
            assert_eq!(code.0, a << 4 | b);
            assert_eq!(code.as_nanos(), seconds * 1_000_000_000);
        }
    }

    #[test]
    fn the_ends_of_the_scale() {
        assert_eq!(TimeCode::from_nanos(0), TimeCode(0));
        assert_eq!(TimeCode(0).as_nanos(), 62_500_000);
        assert_eq!(TimeCode::from_nanos(62_500_001).0, 0x10);
        assert_eq!(TimeCode(0xff).as_nanos(), 3_968_000_000_000);
        assert_eq!(TimeCode::from_nanos(u64::MAX), TimeCode(0xff));
    }

    proptest! {
        #[test]
        fn a_time_is_rounded_up_to_the_next_one(nanos in 62_500_000_u64..3_968_000_000_000) {
            let next = (0..=255).map(|code| TimeCode(code).as_nanos()).filter(|&time| time >= nanos).min();
            prop_assert_eq!(Some(TimeCode::from_nanos(nanos).as_nanos()), next);
        }

        #[test]
        fn every_code_means_itself(code in any::<u8>()) {
            prop_assert_eq!(TimeCode::from_nanos(TimeCode(code).as_nanos()), TimeCode(code));
        }
    }
}
