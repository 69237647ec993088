//! The retransmission timeout of RFC 6298.

use crate::round_trip::RoundTrip;
use crate::time::Duration;

/// RTO before any measurement (section 2.1).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// RTO for data after the SYN had to be retransmitted (section 5.7).
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// Upper bound; it may be no less than 60 s (section 2.5).
const MAX_RTO: Duration = Duration::from_secs(60);
/// Clock granularity G (section 2.2) unless told otherwise: the clock of the machine counts nanoseconds.
const GRANULARITY: Duration = Duration::from_nanos(1);

/// Smoothed round-trip time, its variation, and the timeout that follows from them.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    min_rto: Duration,
    max_rto: Duration,
    measured: RoundTrip,
    rto: Duration,
    /// G.
    granularity: Duration,
}

impl RttEstimator {
    /// An estimator without a measurement: RTO 1 s, or `min_rto` if that is more.
    pub(crate) fn new(min_rto: Duration) -> Self {
        Self {
            min_rto,
            max_rto: MAX_RTO.max(min_rto),
            measured: RoundTrip::default(),
            rto: INITIAL_RTO.max(min_rto),
            granularity: GRANULARITY,
        }
    }

    /// Round trips are measured by a clock that ticks every `granularity`.
    pub(crate) fn set_granularity(&mut self, granularity: Duration) {
        self.granularity = granularity;
    }

    /// Takes in a round trip of a segment that was sent once (Karn's algorithm, section 3), or one measured by timestamps,
    /// which also ends backoff. It is one of `samples` in this round trip, each of which counts for as much less (RFC 7323,
    /// appendix G).
    pub(crate) fn on_sample(&mut self, rtt: Duration, samples: u64) {
        self.measured.on_sample(rtt, samples);
        let measured = self.measured.timeout(self.granularity).expect("there is a sample");
        self.rto = measured.clamp(self.min_rto, self.max_rto);
    }

    /// Doubles the timeout (section 5.5), up to 60 s.
    pub(crate) fn on_timeout(&mut self) {
        self.rto = self.rto.saturating_add(self.rto).min(self.max_rto);
    }

    /// Data begins after a SYN that had to be retransmitted: starts over from 3 s (section 5.7).
    pub(crate) fn on_lost_syn(&mut self) {
        self.rto = RTO_AFTER_LOST_SYN.clamp(self.min_rto, self.max_rto);
    }

    /// The retransmission timeout in force, backoff included.
    pub(crate) fn rto(&self) -> Duration {
        self.rto
    }

    /// Upper bound of the timeout, and of the interval between two window probes.
    pub(crate) fn max_rto(&self) -> Duration {
        self.max_rto
    }

    /// SRTT, `None` before the first measurement.
    pub(crate) fn smoothed(&self) -> Option<Duration> {
        self.measured.smoothed()
    }

    /// RTTVAR, `None` before the first measurement.
    #[cfg(test)]
    pub(crate) fn variation(&self) -> Option<Duration> {
        self.measured.variation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn section_2_1_the_timeout_starts_at_one_second() {
        assert_eq!(RttEstimator::new(ms(200)).rto(), ms(1000));
        assert_eq!(RttEstimator::new(ms(1500)).rto(), ms(1500));
    }

    #[test]
    fn sections_2_2_and_2_3_by_hand() {
        let mut rtt = RttEstimator::new(Duration::ZERO);
        rtt.on_sample(ms(800), 1);
        // SRTT = R, RTTVAR = R/2, RTO = 800 + 4·400.
        assert_eq!((rtt.smoothed(), rtt.variation(), rtt.rto()), (Some(ms(800)), Some(ms(400)), ms(2400)));
        rtt.on_sample(ms(1600), 1);
        // RTTVAR = 3/4·400 + 1/4·800 = 500, SRTT = 7/8·800 + 1/8·1600 = 900, RTO = 900 + 2000.
        assert_eq!((rtt.smoothed(), rtt.variation(), rtt.rto()), (Some(ms(900)), Some(ms(500)), ms(2900)));
        rtt.on_sample(ms(100), 1);
        // RTTVAR = 3/4·500 + 1/4·800 = 575, SRTT = 7/8·900 + 1/8·100 = 800, RTO = 800 + 2300.
        assert_eq!((rtt.smoothed(), rtt.variation(), rtt.rto()), (Some(ms(800)), Some(ms(575)), ms(3100)));
    }

    #[test]
    fn sections_2_2_a_steady_round_trip_leaves_the_granularity() {
        let mut rtt = RttEstimator::new(Duration::ZERO);
        (0..300).for_each(|_| rtt.on_sample(ms(100), 1));
        assert_eq!(rtt.smoothed(), Some(ms(100)));
        assert!(rtt.rto() > ms(100) && rtt.rto() < ms(100) + Duration::from_nanos(20), "{}", rtt.rto());
    }

    #[test]
    fn sections_2_4_and_2_5_floor_and_cap() {
        let mut rtt = RttEstimator::new(ms(1000));
        rtt.on_sample(ms(10), 1);
        assert_eq!(rtt.rto(), ms(1000));
        rtt.on_sample(Duration::MAX, 1);
        assert_eq!(rtt.rto(), ms(60_000));
    }

    #[test]
    fn section_5_5_backs_off_to_the_cap_and_a_sample_ends_it() {
        let mut rtt = RttEstimator::new(ms(1000));
        let seen: Vec<u64> = (0..8)
            .map(|_| {
                rtt.on_timeout();
                rtt.rto().as_nanos() / 1_000_000_000
            })
            .collect();
        assert_eq!(seen, [2, 4, 8, 16, 32, 60, 60, 60]);
        rtt.on_sample(ms(100), 1);
        assert_eq!(rtt.rto(), ms(1000));
    }

    #[test]
    fn rfc_7323_appendix_g_many_samples_in_a_round_trip_weigh_as_one() {
        let mut rtt = RttEstimator::new(Duration::ZERO);
        rtt.set_granularity(ms(1));
        rtt.on_sample(ms(800), 5);
        rtt.on_sample(ms(1600), 5);
        // RTTVAR = 19/20·400 + 1/20·800 = 420, SRTT = 39/40·800 + 1/40·1600 = 820.
        assert_eq!((rtt.smoothed(), rtt.variation(), rtt.rto()), (Some(ms(820)), Some(ms(420)), ms(2500)));
        // G.
        (0..3000).for_each(|_| rtt.on_sample(ms(100), 1));
        assert!(rtt.rto() >= ms(101) && rtt.rto() < ms(102), "{}", rtt.rto());
    }

    #[test]
    fn section_5_7_three_seconds_after_a_lost_syn() {
        let mut rtt = RttEstimator::new(ms(200));
        rtt.on_timeout();
        rtt.on_lost_syn();
        assert_eq!(rtt.rto(), ms(3000));
    }
}
