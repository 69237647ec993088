//! Lag of an emulation behind real time.

use hdrhistogram::Histogram;
use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Serialize;

/// How much later than at their instants frames left for real hosts.
#[derive(Clone, Debug)]
pub(super) struct Lag {
    /// In nanoseconds.
    histogram: Histogram<u64>,
}

/// Significant decimal digits that are kept.
const DIGITS: u8 = 3;
/// What is longer counts as this: an hour.
const LONGEST: Duration = Duration::from_secs(3_600);
/// What is soon enough: a millisecond.
const SOON: Duration = Duration::from_millis(1);
/// The share of frames that must keep the limit.
const SHARE: f64 = 0.99;

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
}

impl Lag {
    pub(super) fn new() -> Self {
        let histogram = Histogram::new_with_max(LONGEST.as_nanos(), DIGITS);
        Self { histogram: histogram.expect("three digits are few enough") }
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
        LagSummary {
            frames: self.histogram.len(),
            within_1ms: histogram.map(soon),
            median_s: histogram.map(|histogram| seconds(histogram.value_at_quantile(0.5))),
            p99_s: histogram.map(|histogram| seconds(histogram.value_at_quantile(SHARE))),
            max_s: histogram.map(|histogram| seconds(histogram.max())),
            limit_s: limit.as_secs_f64(),
        }
    }
}

impl LagSummary {
    /// Whether more frames than may be were too late.
    pub(super) fn exceeds_limit(&self) -> bool {
        self.p99_s.is_some_and(|lag| lag > self.limit_s)
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
        assert!(!lag.summary(limit).exceeds_limit());
        for _ in 0..99 {
            lag.record(Duration::from_micros(100));
        }
        lag.record(Duration::from_millis(50));
        let summary = lag.summary(limit);
        assert_eq!((summary.frames, summary.within_1ms), (100, Some(0.99)));
        assert!(!summary.exceeds_limit() && summary.max_s > Some(0.0499));
        lag.record(Duration::from_millis(50));
        assert!(lag.summary(limit).exceeds_limit());
    }
}
