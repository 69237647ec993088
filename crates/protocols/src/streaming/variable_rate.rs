//! Clips whose rate varies: where each packet is shown, and which constant rate is enough for them.
//!
//! A device that has the clip or asks for it knows its [`Index`], as a player knows the segment index of a file. The stream reserves one rate: the least at which
//! nothing comes late. Media may come as early as the display's buffer has room, and must be there when they are shown. So with A(s, t) bits
//! between s and t of the clip, and x seconds in the buffer, the rate r has to have A(s, t) ≤ r · (t − s + x) for all s < t. This is the envelope
//! of Wrege, Knightly, Zhang and Liebeherr ("Deterministic delay bounds for VBR video in packet-switching networks", IEEE/ACM Transactions on
//! Networking 4(3), 1996).

use std::sync::Arc;

use super::admission::Deficit;
use crate::time::Duration;

/// Rate of each second of a clip; the last one may be shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// In b/s.
    rates: Arc<[u32]>,
    /// Length of the clip in milliseconds.
    length: u32,
    /// Bits of the clip before each second, in thousandths, and of all of it.
    before: Vec<u64>,
    reserved: u32,
}

/// Steps by which the rate to be reserved is found: to a millionth.
const STEPS: u32 = 20;

impl Index {
    /// That of a clip of `length` milliseconds, with a rate in b/s for each second of it, of which displays buffer `prefetch` at least.
    pub fn new(rates: Arc<[u32]>, length: u32, prefetch: Duration) -> Self {
        debug_assert_eq!(rates.len(), length.div_ceil(SECOND) as usize, "each second has a rate");
        let mut index = Self { rates, length, before: vec![0], reserved: 0 };
        let mut sum = 0;
        for (second, &rate) in index.rates.iter().enumerate() {
            sum += u64::from(rate) * u64::from(index.millis_of(second));
            index.before.push(sum);
        }
        let (mean, buffer) = (sum as f64 / f64::from(length.max(1)), prefetch.as_secs_f64());
        let highest = f64::from(index.rates.iter().copied().max().unwrap_or(0));
        let (mut low, mut high) = (mean.min(highest), highest);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            match index.is_enough(middle, buffer) {
                true => high = middle,
                false => low = middle,
            }
        }
        // A float to integer cast saturates.
        let reserved = libm::ceil(if index.is_enough(mean, buffer) { mean } else { high }) as u32;
        Self { reserved, ..index }
    }

    /// Whether no second comes late at this constant rate with `buffer` seconds of media in the buffer: the media that have not come, Lindley's recursion, are
    /// never more than it brings in that time.
    fn is_enough(&self, rate: f64, buffer: f64) -> bool {
        let mut backlog = Deficit::new(0.0);
        for (second, &of_media) in self.rates.iter().enumerate() {
            backlog.advance(rate - f64::from(of_media), self.millis_of(second) as f64 / 1e3);
        }
        backlog.greatest <= rate * buffer
    }

    /// The constant rate in b/s at which no second comes late: at least the mean.
    pub fn reserved(&self) -> u32 {
        self.reserved
    }

    /// Playing time of the clip.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.length.into())
    }

    /// Bytes of the clip.
    pub fn octets(&self) -> u64 {
        self.before[self.rates.len()] / BITS
    }

    /// When byte `octet` of the clip is shown, from 0, after its beginning.
    pub fn position(&self, octet: u64) -> Duration {
        let bits = octet.saturating_mul(BITS);
        let second = self.before.partition_point(|&before| before <= bits) - 1;
        let Some(&rate) = self.rates.get(second) else { return self.length() };
        let within = (bits - self.before[second]) * 1_000_000 / u64::from(rate.max(1));
        Duration::from_millis(second as u64 * u64::from(SECOND)) + Duration::from_nanos(within)
    }

    /// Bytes of the clip that are shown before `position`, the last one in part.
    pub fn octets_before(&self, position: Duration) -> u64 {
        let nanos = position.as_nanos();
        // A second beyond those of the clip: any.
        let second = usize::try_from(nanos / 1_000_000_000).unwrap_or(usize::MAX);
        let Some(&rate) = self.rates.get(second) else { return self.octets() };
        let bits = self.before[second] + u64::from(rate) * (nanos % 1_000_000_000) / 1_000_000;
        bits.div_ceil(BITS).min(self.octets())
    }

    fn millis_of(&self, second: usize) -> u32 {
        self.length.saturating_sub(second as u32 * SECOND).min(SECOND)
    }
}

/// In milliseconds.
const SECOND: u32 = 1_000;
/// Thousandths of bits in a byte.
const BITS: u64 = 8_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index(rates: &[u32], length: u32, prefetch: f64) -> Index {
        Index::new(rates.into(), length, Duration::from_secs_f64(prefetch))
    }

    #[test]
    fn a_constant_rate_is_reserved_as_it_is() {
        let constant = index(&[4_000_000; 10], 9_500, 1.0);
        assert_eq!((constant.reserved(), constant.octets()), (4_000_000, 4_750_000));
    }

    /// 1, 1, 9 and 1 Mb/s. With a second in the buffer, that of 9 Mb has two seconds: 4.5 Mb/s. With two seconds it has three, and with five the mean
    /// of 3 Mb/s is enough.
    #[test]
    fn a_peak_is_spread_over_the_buffer() {
        let rates = [1_000_000, 1_000_000, 9_000_000, 1_000_000];
        for (prefetch, reserved) in [(1.0, 4.5e6), (1.25, 4e6), (2.0, 3e6), (5.0, 3e6)] {
            let found = f64::from(index(&rates, 4_000, prefetch).reserved());
            assert!((found - reserved).abs() <= reserved * 1e-5, "{prefetch} s: {found}");
        }
    }

    /// 125 000 bytes in the first second, 375 000 in the second, and 62 500 in the last quarter.
    #[test]
    fn bytes_are_shown_at_the_rate_of_their_second() {
        let index = index(&[1_000_000, 3_000_000, 2_000_000], 2_250, 1.0);
        assert_eq!(index.octets(), 562_500);
        let millis = Duration::from_millis;
        for (octet, ms) in
            [(0, 0), (62_500, 500), (125_000, 1_000), (312_500, 1_500), (500_000, 2_000), (531_250, 2_125)]
        {
            assert_eq!((index.position(octet), index.octets_before(millis(ms))), (millis(ms), octet));
        }
        for octet in [562_500, 1 << 40, u64::MAX] {
            assert_eq!(index.position(octet), millis(2_250));
        }
        assert_eq!([2_250, 2_251, 1 << 40].map(|ms| index.octets_before(millis(ms))), [562_500; 3]);
        assert_eq!(index.octets_before(Duration::from_nanos(8_001)), 2, "the second byte is shown in part");
    }

    proptest! {
        /// The definition: no window of the clip has more than the rate brings in it and while the buffer lasts; a rate that is lower by a thousandth
        /// is too low, or below the mean.
        #[test]
        fn the_rate_that_is_reserved_is_the_least(
            rates in prop::collection::vec(1_000_u32..10_000_000, 1..40), prefetch in 0.1..10.0_f64,
        ) {
            let length = rates.len() as u32 * 1_000;
            let found = index(&rates, length, prefetch);
            let needed = (0..rates.len())
                .flat_map(|from| (from..rates.len()).map(move |to| (from, to)))
                .map(|(from, to)| {
                    let media: f64 = rates[from..=to].iter().map(|&rate| f64::from(rate)).sum();
                    media / ((to - from + 1) as f64 + prefetch)
                })
                .fold(0.0, f64::max);
            let mean = rates.iter().map(|&rate| f64::from(rate)).sum::<f64>() / rates.len() as f64;
            let expected = needed.max(mean);
            let reserved = f64::from(found.reserved());
            prop_assert!((expected - 1.0..=expected * 1.001 + 20.0).contains(&reserved), "{reserved} instead of {expected}");
        }
    }
}
