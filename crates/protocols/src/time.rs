//! Time as integer nanoseconds since the start.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use crate::rounding::nearest;

/// A point in time: nanoseconds since the start of the run. "Never" is `None` of an `Option<Instant>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the run.
    pub const START: Self = Self(0);
    /// The last representable instant, 584 years after the start.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start; for results, never to order events.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant `duration` later, or the end of time.
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// The instant `duration` before, or the start.
    #[must_use]
    #[inline]
    pub const fn saturating_before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration.0))
    }
}

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest representable time.
    pub const MAX: Self = Self(u64::MAX);

    /// `nanos` nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// `micros` microseconds.
    #[inline]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// `millis` milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// `secs` seconds.
    #[inline]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// `secs` seconds, rounded to the nearest nanosecond; negative and NaN give zero, too large gives [`Duration::MAX`].
    #[inline]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self(nearest(secs * 1e9))
    }

    /// Nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds; for results, never to order events.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The sum, or [`Duration::MAX`].
    #[must_use]
    #[inline]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero.
    #[must_use]
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Panics on overflow, in any build: a run cannot go on after the end of time.
    #[inline]
    fn add(self, duration: Duration) -> Self {
        Self(self.0.checked_add(duration.0).expect("instant beyond the end of time"))
    }
}

impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The time since `earlier`, which must not be later (checked in debug builds; see [`Instant::saturating_since`]).
    #[inline]
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self >= earlier, "negative time: {self} - {earlier}");
        Duration(self.0.wrapping_sub(earlier.0))
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    #[inline]
    fn sub(self, duration: Duration) -> Self {
        debug_assert!(self.0 >= duration.0, "instant before the start");
        Self(self.0.wrapping_sub(duration.0))
    }
}

impl Add for Duration {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        debug_assert!(self >= other, "negative time");
        Self(self.0.wrapping_sub(other.0))
    }
}

impl SubAssign for Duration {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    #[inline]
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    #[inline]
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n % 1_000 != 0 || n == 0 => write!(f, "{n} ns"),
            n if n % 1_000_000 != 0 => write!(f, "{} us", n / 1_000),
            n if n % 1_000_000_000 != 0 => write!(f, "{} ms", n / 1_000_000),
            n => write!(f, "{} s", n / 1_000_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_nanoseconds_and_saturate() {
        assert_eq!(Duration::from_secs_f64(0.1).as_nanos(), 100_000_000);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::INFINITY), Duration::MAX);
    }

    #[test]
    fn durations_print_in_the_largest_exact_unit() {
        for (nanos, text) in [(0, "0 ns"), (1_500, "1500 ns"), (50_000, "50 us"), (2_000_000_000, "2 s")] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn the_end_of_time_is_the_latest() {
        assert_eq!(Instant::MAX.saturating_add(Duration::from_nanos(1)), Instant::MAX);
        assert_eq!(Instant::START.saturating_add(Duration::from_nanos(1)), Instant::from_nanos(1));
    }

    #[test]
    #[should_panic(expected = "end of time")]
    fn the_end_of_time_is_not_passed() {
        let _ = Instant::MAX + Duration::from_nanos(1);
    }
}
