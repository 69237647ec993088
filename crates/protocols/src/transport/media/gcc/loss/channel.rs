//! How well a bandwidth and an inherent loss explain what was lost (libwebrtc, `loss_based_bwe_v2.cc`, `GetObjective` and
//! `NewtonsMethodUpdate`).

use super::observation::Observations;

/// Limits of the inherent loss: the least, and the greatest, which is higher for low bandwidths.
const LEAST_LOSS: f64 = 0.001;
const MOST_LOSS: f64 = 0.05;
const MOST_LOSS_BALANCE: f64 = 100_000.0;
/// The length of a step of Newton's method.
const STEP: f64 = 0.75;
/// How much the objective prefers bandwidth, per kb/s and per logarithm of kb/s.
const BIAS: f64 = 0.0002;
const LOG_BIAS: f64 = 0.02;
/// The preference turns round at this loss, within that width.
const BIAS_THRESHOLD: f64 = 0.2;
const BIAS_WIDTH: f64 = 0.002;
/// Probabilities stay this far from 0 and 1.
const EPSILON: f64 = 1e-6;

/// A path that loses the share `loss` of what is sent, and all above `bandwidth`, in b/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Channel {
    pub(in super::super) bandwidth: f64,
    pub(in super::super) loss: f64,
}

impl Channel {
    /// The same with a loss that may be inherent at this bandwidth.
    pub(in super::super) fn feasible(self) -> Self {
        let most = if self.bandwidth > 0.0 { (MOST_LOSS + MOST_LOSS_BALANCE / self.bandwidth).min(1.0) } else { 1.0 };
        Self { loss: self.loss.max(LEAST_LOSS).min(most), ..self }
    }

    /// The probability that a byte is lost that is sent at `rate`.
    fn probability(&self, rate: f64) -> f64 {
        let above = if rate > self.bandwidth { (1.0 - self.loss) * (rate - self.bandwidth) / rate } else { 0.0 };
        (self.loss.clamp(0.0, 1.0) + above).clamp(EPSILON, 1.0 - EPSILON)
    }

    /// One step towards the most likely loss.
    pub(in super::super) fn stepped(self, observations: &Observations) -> Self {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, one) in observations.weighted() {
            let p = self.probability(one.rate);
            let (lost, kept) = (one.lost / 1000.0, (one.sent - one.lost) / 1000.0);
            first += weight * (lost / p - kept / (1.0 - p));
            second -= weight * (lost / (p * p) + kept / ((1.0 - p) * (1.0 - p)));
        }
        // It is negative unless nothing was observed.
        let second = second.min(-EPSILON);
        Self { loss: self.loss - STEP * first / second, ..self }.feasible()
    }

    /// The logarithm of the likelihood, and the preference for bandwidth.
    pub(in super::super) fn objective(&self, observations: &Observations) -> f64 {
        let preference = {
            let distance = BIAS_THRESHOLD - observations.loss();
            let turn = distance / (BIAS_WIDTH + distance.abs());
            let kbps = self.bandwidth / 1000.0;
            turn * (BIAS * kbps + LOG_BIAS * libm::log1p(kbps))
        };
        observations
            .weighted()
            .map(|(weight, one)| {
                let p = self.probability(one.rate);
                let (lost, kept) = (one.lost / 1000.0, (one.sent - one.lost) / 1000.0);
                weight * (lost * libm::log(p) + kept * libm::log(1.0 - p) + preference * one.sent / 1000.0)
            })
            .sum()
    }
}
