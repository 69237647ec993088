//! What the path carries, by the rates that arrived under overuse (libwebrtc, `link_capacity_estimator.cc`).

/// The weight of a sample.
const WEIGHT: f64 = 0.05;
/// Limits of the variance over the mean, in kb/s.
const VARIANCE_LIMITS: (f64, f64) = (0.4, 2.5);
/// The bounds are this number of standard deviations away.
const DEVIATIONS: f64 = 3.0;

/// Mean and variance of the capacity. Rates in b/s.
#[derive(Debug)]
pub(in super::super) struct LinkCapacity {
    estimate_kbps: Option<f64>,
    variance: f64,
}

impl LinkCapacity {
    pub(in super::super) fn new() -> Self {
        Self { estimate_kbps: None, variance: VARIANCE_LIMITS.0 }
    }

    /// Takes the acknowledged rate at an overuse.
    pub(in super::super) fn on_overuse(&mut self, rate: f64) {
        let sample = rate / 1000.0;
        let estimate = self.estimate_kbps.map_or(sample, |old| (1.0 - WEIGHT) * old + WEIGHT * sample);
        let error = estimate - sample;
        self.variance = (1.0 - WEIGHT) * self.variance + WEIGHT * error * error / estimate.max(1.0);
        self.variance = self.variance.clamp(VARIANCE_LIMITS.0, VARIANCE_LIMITS.1);
        self.estimate_kbps = Some(estimate);
    }

    /// Forgets the estimate, not its variance.
    pub(in super::super) fn reset(&mut self) {
        self.estimate_kbps = None;
    }

    pub(in super::super) fn estimate(&self) -> Option<f64> {
        self.estimate_kbps.map(|kbps| kbps * 1000.0)
    }

    /// Infinite without an estimate.
    pub(in super::super) fn upper(&self) -> f64 {
        self.bound(DEVIATIONS).unwrap_or(f64::INFINITY)
    }

    /// Zero without an estimate.
    pub(in super::super) fn lower(&self) -> f64 {
        self.bound(-DEVIATIONS).unwrap_or(0.0).max(0.0)
    }

    fn bound(&self, deviations: f64) -> Option<f64> {
        self.estimate_kbps.map(|kbps| (kbps + deviations * (self.variance * kbps).sqrt()) * 1000.0)
    }
}
