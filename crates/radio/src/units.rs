//! Power as an exact integer, and decibels.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};

use hopcast_protocols::rounding::nearest;

/// A power: whole attowatts (1 aW = 10⁻¹⁸ W), from 1 aW = −150 dBm up to 18.4 W = +42.6 dBm, and zero.
///
/// Integers add up to the same sum in any order, and subtracting an added power leaves no residue, so hopcast can keep
/// the interference at a receiver as a running total. Thermal noise in 20 MHz is 80 000 aW (−101 dBm): one attowatt is
/// five decimal places below what any receiver can tell. Sums above the range stay at [`Power::MAX`], from which no
/// subtraction is exact; that needs more than 256 signals of [`Power::LOUDEST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(u64);

impl Power {
    /// No power.
    pub const ZERO: Self = Self(0);
    /// The largest power, 18.4 W or 42.66 dBm.
    pub const MAX: Self = Self(u64::MAX);
    /// The most that a receiver gets of one signal, 72 mW or 18.6 dBm. A receiver of OFDM has to stand no more than −30 dBm
    /// (IEEE 802.11-2020, 17.3.10.4).
    pub const LOUDEST: Self = Self(u64::MAX >> 8);

    /// `power` attowatts.
    #[inline]
    pub const fn from_attowatts(power: u64) -> Self {
        Self(power)
    }

    /// Attowatts.
    #[inline]
    pub const fn as_attowatts(self) -> u64 {
        self.0
    }

    /// `power` watts to the nearest attowatt; negative and NaN give zero, too large gives [`Power::MAX`].
    #[inline]
    pub fn from_watts(power: f64) -> Self {
        Self(nearest(power * ATTOWATTS_PER_WATT))
    }

    /// Watts.
    #[inline]
    pub fn as_watts(self) -> f64 {
        self.0 as f64 / ATTOWATTS_PER_WATT
    }

    /// `power` decibels above one milliwatt, to the nearest attowatt: zero below −153 dBm (and for NaN),
    /// [`Power::MAX`] above 42.66 dBm.
    pub fn from_dbm(power: f64) -> Self {
        Self(nearest(Decibel(power).as_ratio() * ATTOWATTS_PER_MILLIWATT))
    }

    /// Decibels above one milliwatt; −∞ for zero.
    pub fn as_dbm(self) -> f64 {
        Decibel::from_ratio(self.0 as f64 / ATTOWATTS_PER_MILLIWATT).0
    }

    /// This power times `factor`, to the nearest attowatt; negative and NaN give zero, too large gives [`Power::MAX`].
    #[must_use]
    #[inline]
    pub fn scaled(self, factor: f64) -> Self {
        Self(nearest(self.0 as f64 * factor))
    }

    /// Whether this power is at least `ratio` times `other`; everything is, of no power.
    #[inline]
    pub(crate) const fn is_at_least(self, ratio: PowerRatio, other: Self) -> bool {
        (self.0 as u128) << PowerRatio::FRACTION_BITS >= ratio.0 as u128 * other.0 as u128
    }

    /// The plain ratio of this power to `other`; infinite or NaN if `other` is zero.
    #[inline]
    pub fn over(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }

    /// The difference, or zero.
    #[inline]
    pub(crate) const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Power {
    type Output = Self;
    /// The sum, or [`Power::MAX`].
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Power {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Power {
    type Output = Self;
    /// What is left, never below zero; `other` must be part of `self` (checked in debug builds).
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(self >= other, "negative power: {self} - {other}");
        self.saturating_sub(other)
    }
}

impl SubAssign for Power {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Power {
    fn sum<I: Iterator<Item = Self>>(powers: I) -> Self {
        powers.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} dBm", self.as_dbm())
    }
}

/// A ratio of two powers as a fixed-point number with 32 bits after the point: it compares powers exactly and fast.
/// At most 2³² = 96.3 dB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PowerRatio(u64);

impl PowerRatio {
    const FRACTION_BITS: u32 = 32;

    /// The plain ratio `ratio` to the nearest 2⁻³²; negative and NaN give zero, too large gives the largest.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(nearest(ratio * (1_u64 << Self::FRACTION_BITS) as f64))
    }

    /// This multiple of `power`, rounded up, or [`Power::MAX`].
    #[inline]
    pub(crate) const fn times(self, power: Power) -> Power {
        let product = (self.0 as u128 * power.0 as u128).div_ceil(1 << Self::FRACTION_BITS);
        Power(if product > u64::MAX as u128 { u64::MAX } else { product as u64 })
    }
}

impl From<Decibel> for PowerRatio {
    fn from(ratio: Decibel) -> Self {
        Self::from_ratio(ratio.as_ratio())
    }
}

/// A ratio of two powers in decibels.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Decibel(pub f64);

impl Decibel {
    /// Ten times the decimal logarithm of `ratio`; −∞ for zero.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(10.0 * libm::log10(ratio))
    }

    /// The plain ratio.
    pub fn as_ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}

impl fmt::Display for Decibel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} dB", self.0)
    }
}

const ATTOWATTS_PER_WATT: f64 = 1e18;
const ATTOWATTS_PER_MILLIWATT: f64 = 1e15;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ratio_is_met_exactly_at_its_boundary() {
        let ten = PowerRatio::from(Decibel(10.0));
        let power = Power::from_attowatts;
        assert!(power(1_000).is_at_least(ten, power(100)));
        assert!(!power(999).is_at_least(ten, power(100)));
        assert!(Power::ZERO.is_at_least(ten, Power::ZERO));
        assert!(!power(u64::MAX).is_at_least(ten, power(u64::MAX)));
        assert!(!power(1 << 31).is_at_least(PowerRatio::from_ratio(f64::INFINITY), power(1)));
        assert!(power(7).is_at_least(PowerRatio::from_ratio(-1.0), power(u64::MAX)));
    }

    #[test]
    fn decibels_above_a_milliwatt_are_powers_of_ten() {
        for (dbm, attowatts) in
            [(-150.0, 1), (-120.0, 1_000), (-30.0, 1_000_000_000_000), (0.0, 10u64.pow(15)), (40.0, 10u64.pow(19))]
        {
            assert_eq!(Power::from_dbm(dbm).as_attowatts(), attowatts, "{dbm} dBm");
            assert!((Power::from_attowatts(attowatts).as_dbm() - dbm).abs() < 1e-9, "{dbm} dBm");
        }
    }

    #[test]
    fn powers_outside_the_range_saturate() {
        assert_eq!(Power::from_dbm(-154.0), Power::ZERO);
        assert_eq!(Power::from_dbm(f64::NEG_INFINITY), Power::ZERO);
        assert_eq!(Power::from_dbm(f64::NAN), Power::ZERO);
        assert_eq!(Power::from_dbm(43.0), Power::MAX);
        assert_eq!(Power::from_watts(-1.0), Power::ZERO);
        assert_eq!(Power::MAX + Power::from_attowatts(1), Power::MAX);
        assert_eq!(Power::from_watts(1.0).scaled(1e3), Power::MAX);
        assert_eq!(Power::ZERO.as_dbm(), f64::NEG_INFINITY);
        assert!((Power::MAX.as_dbm() - 42.66).abs() < 0.01);
    }

    #[test]
    fn watts_and_milliwatts_agree() {
        // ns-2's transmit power, Pt_ = 0.28183815 W, is called 24.5 dBm.
        assert!((Power::from_watts(0.281_838_15).as_dbm() - 24.5).abs() < 1e-5);
        assert!((Power::from_dbm(24.5).as_watts() - 0.281_838_15).abs() < 1e-6);
    }

    #[test]
    fn ten_decibels_are_a_factor_of_ten() {
        assert_eq!(Decibel(10.0).as_ratio(), 10.0);
        assert_eq!(Decibel::from_ratio(100.0), Decibel(20.0));
        assert_eq!(Power::from_attowatts(33).scaled(Decibel(10.0).as_ratio()), Power::from_attowatts(330));
    }

    proptest! {
        #[test]
        fn a_sum_is_exact_in_any_order(mut parts in prop::collection::vec(0u64..1 << 58, 1..32)) {
            let sum: Power = parts.iter().map(|&p| Power::from_attowatts(p)).sum();
            parts.reverse();
            let mut rest = parts.iter().map(|&p| Power::from_attowatts(p)).sum::<Power>();
            prop_assert_eq!(rest, sum);
            parts.sort_unstable();
            for &p in &parts {
                rest -= Power::from_attowatts(p);
            }
            prop_assert_eq!(rest, Power::ZERO);
        }

        #[test]
        fn decibels_survive_the_integer(dbm in -100.0f64..42.0) {
            prop_assert!((Power::from_dbm(dbm).as_dbm() - dbm).abs() < 1e-4);
        }
    }
}
