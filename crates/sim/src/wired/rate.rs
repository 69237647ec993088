//! How long a wire takes to send a packet.

use hopcast_protocols::time::{Duration, Instant};

use super::steps::Steps;

/// Capacity of a wire, which may change in steps. If it changes while a packet is being sent, the rest of the packet is sent at the
/// new rate.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedRate {
    /// Bits of IP packets per second; at zero, nothing is sent.
    rate: Steps<f64>,
    /// Bits in a period, times 10⁹, if the rates repeat.
    per_period: Option<f64>,
}

impl SteppedRate {
    /// A constant capacity in bits of IP packets per second.
    pub fn constant(rate: f64) -> Self {
        Self::new(Steps::constant(rate))
    }

    /// A capacity that changes, in bits of IP packets per second.
    pub fn new(rate: Steps<f64>) -> Self {
        let per_period = rate.period().map(|period| {
            let end = Instant::START + period;
            let mut at = Instant::START;
            let mut sum = 0.0;
            while let (value, Some(until)) = rate.span(at)
                && at < end
            {
                sum += value * (until - at).as_nanos() as f64;
                at = until;
            }
            sum
        });
        Self { rate, per_period }
    }

    /// Nanoseconds from `now` until a packet of `octets` bytes has been sent. The packet begins `begin` nanoseconds after `now`, or
    /// before if negative. `None` if it never ends.
    pub(super) fn nanos(&self, octets: u32, now: Instant, begin: f64) -> Option<f64> {
        // 31 years: longer than the ten years that a run may last.
        const NEVER: f64 = 1e18;
        let mut left = f64::from(octets) * 8e9;
        let (mut at, mut from) = (now, begin);
        loop {
            if let (Some(per_period), Some(period)) = (self.per_period, self.rate.period())
                && per_period > 0.0
                && left > per_period
            {
                // All whole periods but the last one at once.
                let periods = libm::ceil(left / per_period) - 1.0;
                let nanos = periods * period.as_nanos() as f64;
                if nanos > NEVER {
                    return None;
                }
                left -= periods * per_period;
                from += nanos;
                // A whole number of nanoseconds below 2⁶⁰.
                at = at.saturating_add(Duration::from_nanos(nanos as u64));
            }
            let (rate, until) = self.rate.span(at);
            let nanos = left / rate + from;
            let Some(until) = until else { return Some(nanos).filter(|nanos| *nanos < NEVER) };
            let end = (until - now).as_nanos() as f64;
            if nanos <= end {
                return Some(nanos);
            }
            if end > NEVER || self.per_period == Some(0.0) {
                return None;
            }
            left -= rate * (end - from);
            (at, from) = (until, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn steps(values: &[(u64, f64)]) -> Steps<f64> {
        Steps::new(0.0, values.iter().map(|&(from, rate)| (Duration::from_millis(from), rate)).collect())
    }

    #[test]
    fn what_is_left_of_a_packet_goes_on_at_the_new_rate() {
        // 8 Mb/s: a microsecond an octet; then a quarter of it, then eight times as much.
        let capacity = SteppedRate::new(steps(&[(0, 8e6), (10, 2e6), (20, 64e6)]));
        let nanos = |octets, now| capacity.nanos(octets, now, 0.0);
        assert_eq!(nanos(1_000, ms(0)), Some(1e6));
        // 1000 octets in 1 ms, 250 in the next one.
        assert_eq!(nanos(1_250, ms(9)), Some(2e6));
        // 1000 in 1 ms, 2500 in 10 ms, 800 in 0.1 ms.
        assert_eq!(nanos(4_300, ms(9)), Some(11.1e6));
    }

    #[test]
    fn nothing_passes_while_the_rate_is_zero() {
        let capacity = SteppedRate::new(steps(&[(0, 8e6), (10, 0.0), (500, 8e6), (1_000, 0.0)]));
        assert_eq!(capacity.nanos(2_000, ms(9), 0.0), Some(492e6));
        assert_eq!(capacity.nanos(1, ms(400), 0.0), Some(100_001_000.0));
        assert_eq!(capacity.nanos(1, ms(1_000), 0.0), None);
        assert_eq!(capacity.nanos(1_001, ms(999), 0.0), None);
    }

    #[test]
    fn many_periods_pass_at_once() {
        // An octet in a period of 2 ms, in its second half.
        let capacity = SteppedRate::new(steps(&[(0, 0.0), (1, 8e3)]).repeated(Duration::from_millis(2)));
        assert_eq!(capacity.nanos(1, ms(0), 0.0), Some(2e6));
        assert_eq!(capacity.nanos(1_000_000_000, ms(0), 0.0), Some(2e15));
        assert_eq!(capacity.nanos(3, ms(1), 0.0), Some(5e6));
        let silent = SteppedRate::new(steps(&[(0, 0.0)]).repeated(Duration::from_millis(2)));
        assert_eq!(silent.nanos(1, ms(0), 0.0), None);
    }

    proptest! {
        /// Against a sum over one millisecond after the other.
        #[test]
        fn the_octets_of_a_packet_are_the_rates_over_its_time(
            rates in prop::collection::vec(prop_oneof![Just(0.0), 1e3..1e8_f64], 1..12),
            gaps in prop::collection::vec(1_u64..40, 12),
            repeats in any::<bool>(),
            start in 0_u64..300,
            octets in 1_u32..100_000,
        ) {
            let mut at = 0;
            let values: Vec<(u64, f64)> = rates.iter().zip(&gaps).map(|(&rate, &gap)| {
                let from = at;
                at += gap;
                (from, rate)
            }).collect();
            let rate = if repeats { steps(&values).repeated(Duration::from_millis(at)) } else { steps(&values) };
            match SteppedRate::new(rate.clone()).nanos(octets, ms(start), 0.0) {
                None => {
                    let last = rates.last().is_some_and(|&rate| rate == 0.0);
                    let is_silent = if repeats { rates.iter().all(|&rate| rate == 0.0) } else { last };
                    prop_assert!(is_silent);
                }
                Some(nanos) => {
                    let whole = (nanos / 1e6) as u64;
                    prop_assume!(whole < 1_000_000);
                    let mut bits: f64 = (start..start + whole).map(|at| rate.at(ms(at)) / 1e3).sum();
                    bits += rate.at(ms(start + whole)) * (nanos - whole as f64 * 1e6) / 1e9;
                    let wanted = f64::from(octets) * 8.0;
                    prop_assert!((bits - wanted).abs() < 1e-6 * wanted + 1e-3, "{} bits, {} wanted", bits, wanted);
                }
            }
        }
    }
}
