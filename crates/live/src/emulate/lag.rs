//! Lag of an emulation behind real time.

use hdrhistogram::Histogram;
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

/// How much later than at their instants frames left for real hosts.
#[derive(Clone, Debug)]
pub(super) struct Lag {
    /// In nanoseconds.
    histogram: Histogram<u64>,
    /// Times for which the driver did nothing, although something was due: the machine, or the process, stood still. In
    /// nanoseconds.
    pauses: Histogram<u64>,
    /// How long the run has gone on.
    elapsed: Duration,
}

/// Significant decimal digits that are kept.
const DIGITS: u8 = 3;
/// What is longer counts as this: an hour.
const LONGEST: Duration = Duration::from_secs(3_600);
/// What is soon enough: a millisecond.
const SOON: Duration = Duration::from_millis(1);
/// The share of frames that must keep the limit.
const SHARE: f64 = 0.99;
/// An emulation may stand still for this time in all, in seconds, however short it is: programs that start together can
/// cost a busy machine that much.
const STANDSTILL_S: f64 = 1.0;

/// The lag in figures; `None` where no frame left.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub(super) struct LagSummary {
    /// Frames that left.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the devices of real nodes"))]
    pub(super) frames: u64,
    /// Share of them that left within 1 ms of their instants; `null` if none left.
    #[schemars(extend("x-unit" = "ratio", "x-divisor" = "frames that left"))]
    pub(super) within_1ms: Option<f64>,
    /// Median of the lag.
    pub(super) median_s: Option<f64>,
    /// 99th percentile of the lag.
    pub(super) p99_s: Option<f64>,
    /// Maximum of the lag.
    pub(super) max_s: Option<f64>,
    /// Largest 99th percentile with which the emulation counts as in real time: `emulation.lag_limit`.
    pub(super) limit_s: f64,
    /// Time for which the emulation stood still: pauses longer than `limit_s`, added up.
    pub(super) standstill_s: f64,
    /// How long the run has gone on.
    #[serde(skip)]
    pub(super) elapsed_s: f64,
}

impl Lag {
    pub(super) fn new() -> Self {
        let histogram = || Histogram::new_with_max(LONGEST.as_nanos(), DIGITS).expect("three digits are few enough");
        Self { histogram: histogram(), pauses: histogram(), elapsed: Duration::ZERO }
    }

    /// The driver looks at the clock, at `now`, so long after it was to.
    pub(super) fn record_pause(&mut self, pause: Duration, now: Instant) {
        if pause > SOON {
            self.pauses.saturating_record(pause.as_nanos());
        }
        self.elapsed = now.saturating_since(Instant::START);
    }

    /// A frame has left so long after its instant.
    pub(super) fn record(&mut self, lag: Duration) {
        self.histogram.saturating_record(lag.as_nanos());
    }

    pub(super) fn summary(&self, limit: Duration) -> LagSummary {
        let histogram = Some(&self.histogram).filter(|histogram| !histogram.is_empty());
        let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
        let soon =
            |histogram: &Histogram<u64>| histogram.count_between(0, SOON.as_nanos()) as f64 / histogram.len() as f64;
        let long = self.pauses.iter_recorded().filter(|pause| pause.value_iterated_to() > limit.as_nanos());
        let standstill = long.map(|pauses| seconds(pauses.value_iterated_to()) * pauses.count_at_value() as f64);
        LagSummary {
            frames: self.histogram.len(),
            within_1ms: histogram.map(soon),
            median_s: histogram.map(|histogram| seconds(histogram.value_at_quantile(0.5))),
            p99_s: histogram.map(|histogram| seconds(histogram.value_at_quantile(SHARE))),
            max_s: histogram.map(|histogram| seconds(histogram.max())),
            limit_s: limit.as_secs_f64(),
            standstill_s: standstill.sum(),
            elapsed_s: self.elapsed.as_secs_f64(),
        }
    }
}

impl LagSummary {
    /// How it fell behind real time, if it did: more frames than may be were too late, or it stood still for more of its
    /// time than may be.
    pub(super) fn failure(&self) -> Option<String> {
        let Self { limit_s, standstill_s, elapsed_s, .. } = *self;
        let limit = limit_s * 1e3;
        if let Some(p99) = self.p99_s.filter(|&p99| p99 > limit_s) {
            let p99 = p99 * 1e3;
            return Some(format!(
                "99 % of frames left within {p99:.3} ms of their instants, more than emulation.lag_limit of {limit:.3} ms"
            ));
        }
        (standstill_s > ((1.0 - SHARE) * elapsed_s).max(STANDSTILL_S)).then(|| {
            format!(
                "it stood still for {standstill_s:.3} s of {elapsed_s:.3} s, in pauses longer than emulation.lag_limit of \
                 {limit:.3} ms; 1 % of the time or {STANDSTILL_S} s may be"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_hundred_may_be_late() {
        let limit = Duration::from_millis(2);
        let mut lag = Lag::new();
        assert_eq!(lag.summary(limit).within_1ms, None);
        assert_eq!(lag.summary(limit).failure(), None);
        for _ in 0..99 {
            lag.record(Duration::from_micros(100));
        }
        lag.record(Duration::from_millis(50));
        let summary = lag.summary(limit);
        assert_eq!((summary.frames, summary.within_1ms), (100, Some(0.99)));
        assert!(summary.failure().is_none() && summary.max_s > Some(0.0499));
        lag.record(Duration::from_millis(50));
        assert!(lag.summary(limit).failure().is_some_and(|failure| failure.starts_with("99 % of frames")));
    }

    #[test]
    fn one_hundredth_of_the_time_may_be_pauses() {
        let limit = Duration::from_millis(10);
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let mut lag = Lag::new();
        // Frames that were not due were not late.
        lag.record(Duration::from_micros(100));
        for second in 1..=19 {
            lag.record_pause(Duration::from_millis(9), at(second * 1_000));
        }
        lag.record_pause(Duration::from_millis(950), at(20_000));
        assert_eq!(lag.summary(limit).failure(), None, "a second is too little to tell");
        lag.record_pause(Duration::from_secs(1), at(196_000));
        let summary = lag.summary(limit);
        assert!((summary.standstill_s - 1.950).abs() < 0.005, "{summary:?}");
        assert_eq!(summary.failure(), None, "it is a hundredth");
        lag.record_pause(Duration::from_millis(60), at(200_000));
        let failure = lag.summary(limit).failure().expect("2.01 s of 200 s");
        assert!(failure.starts_with("it stood still for 2.01"), "{failure}");
    }
}
