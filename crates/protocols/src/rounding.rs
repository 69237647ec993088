//! Rounding to whole numbers, the same on every platform.

/// The whole number that is nearest to `value`, halves away from zero: zero for what is negative and for NaN, [`u64::MAX`] for
/// what is too large.
///
/// That of [`libm::round`] with a cast behind it, in the few instructions that this needs where the result is an integer:
/// times and powers of links that move are rounded at each frame.
#[inline]
pub fn nearest(value: f64) -> u64 {
    if !(0.0..TWO_TO_THE_51).contains(&value) {
        return nearest_of_any(value);
    }
    // The sum has no room for a fraction: its last bits are the nearest whole number, the even one of two as near.
    let sum = value + TWO_TO_THE_52;
    let whole = sum.to_bits() & FRACTION;
    whole + u64::from(value - (sum - TWO_TO_THE_52) >= 0.5)
}

/// The same of values that don't come often.
#[cold]
fn nearest_of_any(value: f64) -> u64 {
    // A float to integer cast cuts, saturates, and maps NaN to zero. What it cuts off is exact.
    let whole = value as u64;
    whole + u64::from(value < TWO_TO_THE_52 && value - whole as f64 >= 0.5)
}

const TWO_TO_THE_51: f64 = 2_251_799_813_685_248.0;
const TWO_TO_THE_52: f64 = 4_503_599_627_370_496.0;
/// The bits of a number in floating point that stand for its fraction.
const FRACTION: u64 = (1 << 52) - 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_go_up_and_the_ends_saturate() {
        for (value, whole) in [
            (0.5, 1),
            (0.499_999_999_999_999_94, 0),
            (1.5, 2),
            (2.5, 3),
            (-0.5, 0),
            (-7.9, 0),
            (f64::NAN, 0),
            (f64::INFINITY, u64::MAX),
            (f64::NEG_INFINITY, 0),
            (4_503_599_627_370_495.5, 1 << 52),
            (18_446_744_073_709_549_568.0, 18_446_744_073_709_549_568),
            (18_446_744_073_709_551_616.0, u64::MAX),
        ] {
            assert_eq!(nearest(value), whole, "{value}");
        }
    }

    proptest! {
        #[test]
        fn it_is_that_of_libm(bits: u64, small in -10.0f64..1e6, halves in 0u64..1 << 53) {
            for value in [f64::from_bits(bits), small, halves as f64 / 2.0] {
                prop_assert_eq!(nearest(value), libm::round(value) as u64, "{}", value);
            }
        }
    }
}
