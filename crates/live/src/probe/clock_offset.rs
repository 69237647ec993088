//! Offset between the clock of another host and this one's, from messages there and back (RFC 5905, section 8).

use hopcast_protocols::time::{Duration, Instant};

/// The most that two clocks drift apart, per second: PHI of RFC 5905, section 7.2.
const DRIFT: f64 = 15e-6;

/// A message there and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Departure, by this host's clock (T1).
    pub sent: Instant,
    /// Arrival, in nanoseconds of the other's clock (T2).
    pub received: u64,
    /// Departure of the answer, in nanoseconds of the other's clock (T3).
    pub replied: u64,
    /// Arrival of the answer, by this host's clock (T4).
    pub returned: Instant,
}

/// An estimate of the offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The other's clock minus this one's, in nanoseconds.
    pub offset: i64,
    /// Largest error of the offset, however the two ways share the round trip.
    pub uncertainty: Duration,
}

/// The offset of one other clock. It uses the exchange with the smallest sum of half the round trip and the possible
/// drift of the clocks since (the root distance of RFC 5905, section 11.1, for one peer). So exchanges that wait in
/// queues, whose two ways differ most, don't replace an earlier good one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockOffset {
    best: Option<Measured>,
    /// The largest uncertainty of an estimate that a better one has replaced, since [`Self::start`].
    worst: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    offset: i64,
    round_trip: Duration,
    at: Instant,
}

impl Measured {
    fn uncertainty(&self, now: Instant) -> Duration {
        let drift = now.saturating_since(self.at).as_secs_f64() * DRIFT;
        Duration::from_nanos(self.round_trip.as_nanos().div_ceil(2)).saturating_add(Duration::from_secs_f64(drift))
    }
}

impl ClockOffset {
    /// An exchange has ended. One that can't be, whose answer left before it arrived or took longer than all of it, says
    /// nothing.
    pub(crate) fn handle_exchange(&mut self, exchange: &Exchange) {
        let [t1, t4] = [exchange.sent, exchange.returned].map(|time| i128::from(time.as_nanos()));
        let [t2, t3] = [exchange.received, exchange.replied].map(i128::from);
        let (held, round_trip) = (t3 - t2, (t4 - t1) - (t3 - t2));
        let Some(round_trip) = u64::try_from(round_trip).ok().filter(|_| held >= 0) else { return };
        // Each is the difference of two numbers of 64 bits, so that half of their sum fits into 65.
        let offset = ((t2 - t1) + (t3 - t4)) / 2;
        let Ok(offset) = i64::try_from(offset) else { return };
        let measured = Measured { offset, round_trip: Duration::from_nanos(round_trip), at: exchange.returned };
        let now = exchange.returned;
        if self.best.is_none_or(|best| measured.uncertainty(now) <= best.uncertainty(now)) {
            self.worst = self.best.map_or(self.worst, |best| self.worst.max(best.uncertainty(now)));
            self.best = Some(measured);
        }
    }

    /// A measurement starts, that goes by what is known at each instant.
    pub(crate) fn start(&mut self) {
        self.worst = Duration::ZERO;
    }

    /// Within this all is right that was measured from [`Self::start`] to `now`; `None` before the first exchange.
    pub(crate) fn uncertainty_since_start(&self, now: Instant) -> Option<Duration> {
        self.best.map(|best| self.worst.max(best.uncertainty(now)))
    }

    /// What is known at `now`; `None` before the first exchange.
    pub(crate) fn estimate(&self, now: Instant) -> Option<Estimate> {
        self.best.map(|best| Estimate { offset: best.offset, uncertainty: best.uncertainty(now) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// An exchange with a clock that is `ahead` microseconds ahead, with these one-way delays in microseconds.
    fn exchange(sent: u64, ahead: i64, there: u64, back: u64) -> Exchange {
        let other = |micros: u64| (micros as i64 + ahead) as u64 * 1_000;
        let (arrived, replied) = (sent + there, sent + there + 7);
        Exchange { sent: at(sent), received: other(arrived), replied: other(replied), returned: at(replied + back) }
    }

    #[test]
    fn ways_of_the_same_length_give_the_offset_exactly() {
        for ahead in [0, 5_000_000, -5_000_000] {
            let mut clock = ClockOffset::default();
            clock.handle_exchange(&exchange(10_000_000, ahead, 300, 300));
            let estimate = clock.estimate(at(10_000_607)).unwrap();
            assert_eq!(estimate, Estimate { offset: ahead * 1_000, uncertainty: Duration::from_micros(300) });
        }
    }

    #[test]
    fn an_exchange_that_waited_in_a_queue_does_not_replace_a_good_one() {
        let mut clock = ClockOffset::default();
        clock.handle_exchange(&exchange(0, 1_000, 100, 100));
        clock.handle_exchange(&exchange(1_000_000, 1_000, 90_000, 100));
        assert_eq!(clock.estimate(at(1_100_000)).unwrap().offset, 1_000_000);
        // But it does when that one is so old that the clocks may have drifted by more: 45 ms at 15 µs a second are 3000 s.
        clock.handle_exchange(&exchange(3_100_000_000, 1_000, 90_000, 100));
        assert_ne!(clock.estimate(at(3_100_200_000)).unwrap().offset, 1_000_000);
    }

    /// What was measured before a better exchange came is no better for it.
    #[test]
    fn a_measurement_is_as_certain_as_its_worst_instant() {
        let mut clock = ClockOffset::default();
        assert_eq!(clock.uncertainty_since_start(at(0)), None);
        clock.handle_exchange(&exchange(0, 0, 200_000, 200_000));
        clock.handle_exchange(&exchange(500_000, 0, 100, 60_100));
        clock.start();
        clock.handle_exchange(&exchange(1_000_000, 0, 100, 100));
        let [now, later] = [at(1_000_207), at(1_000_207 + 10_000_000_000)];
        assert_eq!(clock.estimate(now).unwrap().uncertainty, Duration::from_micros(100));
        let worst = clock.uncertainty_since_start(now).unwrap();
        assert!((Duration::from_micros(30_100)..Duration::from_micros(30_110)).contains(&worst), "{worst:?}");
        // 15 µs a second: 150 ms.
        assert_eq!(clock.uncertainty_since_start(later).unwrap(), Duration::from_micros(150_100));
    }

    #[test]
    fn clocks_drift_apart_by_fifteen_microseconds_a_second() {
        let mut clock = ClockOffset::default();
        assert_eq!(clock.estimate(at(0)), None);
        clock.handle_exchange(&exchange(0, 0, 100, 100));
        assert_eq!(clock.estimate(at(100_000_207)).unwrap().uncertainty, Duration::from_micros(1_600));
    }

    #[test]
    fn an_exchange_that_cannot_be_says_nothing() {
        let mut clock = ClockOffset::default();
        let right = exchange(1_000, 0, 100, 100);
        clock.handle_exchange(&Exchange { replied: right.received - 1, ..right });
        clock.handle_exchange(&Exchange { replied: right.received + 300_000, ..right });
        assert_eq!(clock.estimate(at(2_000)), None);
    }

    proptest! {
        #[test]
        fn the_offset_is_within_its_uncertainty(
            ahead in -10_000_000_i64..10_000_000,
            ways in prop::collection::vec((0_u64..100_000, 0_u64..100_000), 1..20),
        ) {
            let mut clock = ClockOffset::default();
            let mut now = 20_000_000;
            for (there, back) in ways {
                clock.handle_exchange(&exchange(now, ahead, there, back));
                now += 300_000;
                let estimate = clock.estimate(at(now)).unwrap();
                prop_assert!(estimate.offset.abs_diff(ahead * 1_000) <= estimate.uncertainty.as_nanos());
            }
        }

        #[test]
        fn no_exchange_panics(sent: u64, received: u64, replied: u64, returned: u64) {
            let mut clock = ClockOffset::default();
            let [sent, returned] = [sent, returned].map(Instant::from_nanos);
            clock.handle_exchange(&Exchange { sent, received, replied, returned });
            let _ = clock.estimate(Instant::MAX);
        }
    }
}
