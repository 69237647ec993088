//! What the encoder is to produce, and how fast packets leave (sections "Media Rate Control" and "Packet Pacing").

use crate::time::Duration;

/// PACKET_OVERHEAD, in bytes.
const OVERHEAD: f64 = 20.0;
/// RATE_ADJUST_GAIN.
const ADJUST_GAIN: f64 = 1.0 / 16.0;
/// FRAME_SIZE_DEV_ALPHA.
const DEVIATION_GAIN: f64 = 1.0 / 64.0;
/// What the target stays below the window's rate even where frames are all of one size.
const MARGIN: f64 = 1.2;
/// RATE_PACE_MIN, in b/s.
const PACE_MINIMUM: f64 = 50_000.0;
/// PACKET_PACING_HEADROOM.
const PACE_HEADROOM: f64 = 1.5;
/// MAX_RELAXED_PACING_FACTOR.
const PACE_RELAXED: f64 = 4.0;
/// RELAXED_PACING_LIMIT_LOW: the share of the greatest rate above which pacing relaxes.
const PACE_RELAXES_AT: f64 = 0.8;

/// The target rate, which falls where frames wait or turn out too large.
#[derive(Debug)]
pub(super) struct MediaRate {
    /// In b/s.
    minimum: f64,
    maximum: f64,
    target: f64,
    segment: f64,
    /// In seconds.
    frame_period: f64,
    /// `rate_adjust_factor` and `frame_size_dev`.
    adjust: f64,
    deviation: f64,
}

impl MediaRate {
    pub(super) fn new(minimum: u64, maximum: u64, segment: u32, frame_period: Duration) -> Self {
        Self {
            minimum: minimum as f64,
            maximum: maximum.max(minimum) as f64,
            target: minimum as f64,
            segment: f64::from(segment),
            frame_period: frame_period.as_secs_f64(),
            adjust: 0.0,
            deviation: 0.0,
        }
    }

    /// Takes a frame's size in bytes, and for how long the oldest packet has waited.
    pub(super) fn on_frame(&mut self, size: u32, waited: Duration) {
        let error = (waited.as_secs_f64() - self.frame_period / 4.0) / self.frame_period;
        self.adjust = (self.adjust + error * ADJUST_GAIN).clamp(0.0, 0.5);
        let nominal = self.target * self.frame_period / 8.0;
        let excess = if nominal > 0.0 { ((f64::from(size) - nominal) / nominal).max(0.0) } else { 0.0 };
        self.deviation = ((1.0 - DEVIATION_GAIN) * self.deviation + DEVIATION_GAIN * excess).min(0.2);
    }

    /// Follows the window, in bytes, of which a segment is the share `ratio`.
    pub(super) fn on_window(&mut self, window: f64, ratio: f64, rtt: Duration) {
        let small = 1.0 - (ratio - 0.1).clamp(0.0, 0.2);
        let headers = self.segment / (self.segment + OVERHEAD);
        let rate = small * headers / (MARGIN + self.adjust + self.deviation) * 8.0 * window / rtt.as_secs_f64();
        // No round trip yet, or one of zero: rates are unbounded, and the maximum holds.
        self.target = if rate.is_nan() { self.minimum } else { rate.clamp(self.minimum, self.maximum) };
    }

    /// In b/s.
    pub(super) fn target(&self) -> f64 {
        self.target
    }

    /// Whether the target is below its maximum.
    pub(super) fn below_maximum(&self) -> bool {
        self.target < self.maximum
    }

    /// `pace_bitrate`, in b/s: relaxed where the encoder, not the path, is about to be the limit.
    pub(super) fn pacing(&self) -> f64 {
        let above = (self.target / self.maximum - PACE_RELAXES_AT) / (1.0 - PACE_RELAXES_AT);
        let scale = (1.0 - above.min(1.0)).clamp(1.0 / PACE_RELAXED, 1.0);
        self.target.max(PACE_MINIMUM) * PACE_HEADROOM / scale
    }
}
