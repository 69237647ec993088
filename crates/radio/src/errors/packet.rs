//! Loss of packets at a given rate.

use hopcast_protocols::random::Purpose;
use hopcast_protocols::time::Instant;

use super::happens;

/// Losses that are independent of each other and of the signal, at a rate that is constant or changes in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketErrors {
    seed: u64,
    /// From when on, and with which probability a packet is lost; ascending.
    steps: Vec<(Instant, f64)>,
}

impl PacketErrors {
    /// The rate, 0 to 1, from each instant on; nothing is lost before the first. The order of the steps does not matter;
    /// of two at one instant the later holds.
    pub fn stepped(seed: u64, mut steps: Vec<(Instant, f64)>) -> Self {
        steps.sort_by_key(|&(from, _)| from);
        Self { seed, steps }
    }

    /// The probability that a packet is lost `now`.
    pub(crate) fn rate(&self, now: Instant) -> f64 {
        let begun = self.steps.partition_point(|&(from, _)| from <= now);
        begun.checked_sub(1).map_or(0.0, |last| self.steps[last].1)
    }

    /// Whether a packet, identified by its number in the run, is lost at a receiver: one draw for each.
    pub fn is_lost(&self, packet: u64, receiver: u32, now: Instant) -> bool {
        happens(self.seed, Purpose::PacketError, packet, receiver, self.rate(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_rate_holds_from_its_step_on() {
        let errors = PacketErrors::stepped(1, vec![(seconds(20), 0.0), (seconds(10), 0.25)]);
        assert_eq!(errors.rate(seconds(0)), 0.0);
        assert_eq!(errors.rate(Instant::from_nanos(9_999_999_999)), 0.0);
        assert_eq!(errors.rate(seconds(10)), 0.25);
        assert_eq!(errors.rate(seconds(19)), 0.25);
        assert_eq!(errors.rate(seconds(20)), 0.0);
        assert_eq!(PacketErrors::stepped(1, vec![]).rate(seconds(5)), 0.0);
    }

    #[test]
    fn as_many_are_lost_as_the_rate_says() {
        for rate in [0.0, 0.01, 0.3, 1.0] {
            let errors = PacketErrors::stepped(8, vec![(Instant::START, rate)]);
            let lost = (0..50_000).filter(|&packet| errors.is_lost(packet, 3, seconds(1))).count() as f64;
            assert!(
                (lost - 50_000.0 * rate).abs() <= 3.5 * libm::sqrt(50_000.0 * rate * (1.0 - rate)),
                "{lost} at {rate}"
            );
        }
    }

    #[test]
    fn receivers_lose_packets_of_their_own() {
        let errors = PacketErrors::stepped(8, vec![(Instant::START, 0.5)]);
        let both =
            (0..40_000).filter(|&n| errors.is_lost(n, 1, seconds(0)) && errors.is_lost(n, 2, seconds(0))).count();
        assert!((both as f64 - 10_000.0).abs() < 3.5 * libm::sqrt(40_000.0 * 0.1875), "{both}");
    }
}
