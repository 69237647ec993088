//! The reference window (section "Reference Window Update").

use crate::time::{Duration, Instant};

/// MIN_REF_WND, in bytes.
pub(super) const MINIMUM: f64 = 3000.0;
/// BYTES_IN_FLIGHT_HEAD_ROOM: how far the window may grow above what was in flight.
const IN_FLIGHT_HEADROOM: f64 = 1.5;
/// BETA_LOSS.
const BETA_LOSS: f64 = 0.7;
/// BETA_ECN.
const BETA_ECN: f64 = 0.8;
/// POST_CONGESTION_DELAY_RTT: growth is cautious for this number of round trips after congestion.
const POST_CONGESTION_RTTS: u64 = 100;
/// MUL_INCREASE_FACTOR: the share of the window by which it may grow per round trip.
const MULTIPLICATIVE: f64 = 0.02;
/// ACKED_BITRATE_MARGIN: a target below this share of the acknowledged rate has fallen with the round trip already.
const UNDERSHOOT: f64 = 0.8;
/// BACKOFF_SCALE_LOW_TARGETRATE: what remains of a reduction then.
const UNDERSHOOT_SCALE: f64 = 0.25;
/// VIRTUAL_RTT: flows with shorter round trips share as if theirs were this.
pub(super) const VIRTUAL_RTT: Duration = Duration::from_millis(25);

/// What a feedback tells the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) now: Instant,
    /// Smoothed.
    pub(super) rtt: Duration,
    pub(super) lost: bool,
    pub(super) marked: bool,
    /// Whether marks follow L4S, and the average share of marked packets.
    pub(super) l4s: bool,
    pub(super) alpha: f64,
    /// Delay now, averaged, and wanted; in seconds.
    pub(super) queueing: f64,
    pub(super) average: f64,
    pub(super) target: f64,
    /// The target rate, and the rate at which packets arrived lately, in b/s.
    pub(super) target_rate: f64,
    pub(super) acknowledged_rate: f64,
    /// Bytes of packets whose fate is new, lost ones included, except those that carried CE.
    pub(super) unmarked_bytes: u64,
    /// Whether the target rate is below its maximum.
    pub(super) may_grow: bool,
}

/// `ref_wnd`: about how many bytes are to be in flight.
#[derive(Debug)]
pub(super) struct Window {
    bytes: f64,
    segment: f64,
    /// `ref_wnd_i`: the window at which congestion set in last.
    inflection: f64,
    inflection_open: bool,
    /// Loss or marks since the last reaction.
    lost: bool,
    marked: bool,
    congested: Instant,
    reacted: Instant,
    /// The most bytes in flight of this round trip and of the one before.
    in_flight: u64,
    in_flight_before: u64,
    in_flight_since: Instant,
}

impl Window {
    /// The window of a session whose first packet leaves at `start`.
    pub(super) fn new(segment: u32, start: Instant) -> Self {
        Self {
            bytes: MINIMUM,
            segment: f64::from(segment),
            inflection: 1.0,
            inflection_open: true,
            lost: false,
            marked: false,
            congested: start,
            reacted: start,
            in_flight: 0,
            in_flight_before: 0,
            in_flight_since: start,
        }
    }

    /// Notes bytes in flight.
    pub(super) fn on_in_flight(&mut self, bytes: u64) {
        self.in_flight = self.in_flight.max(bytes);
    }

    pub(super) fn on_feedback(&mut self, report: &Report) {
        // By the window before this feedback, for the reduction and the growth.
        let near = self.near_inflection();
        self.reduce(report, near);
        self.grow(report, near);
        let round = VIRTUAL_RTT.max(report.rtt);
        if report.now.saturating_since(self.in_flight_since) >= round {
            self.in_flight_since = report.now;
            self.in_flight_before = core::mem::take(&mut self.in_flight);
        }
    }

    /// `scl_t`: small where the window is near the one at which congestion set in.
    fn near_inflection(&self) -> f64 {
        let distance = 8.0 * (self.bytes - self.inflection) / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Section "Reference Window Reduction".
    fn reduce(&mut self, report: &Report, near: f64) {
        self.lost |= report.lost;
        self.marked |= report.marked;
        if self.lost || self.marked {
            self.congested = report.now;
        }
        let since = report.now.saturating_since(self.reacted);
        if since < VIRTUAL_RTT.min(report.rtt) {
            return;
        }
        let threshold = report.target / 2.0;
        let delayed = report.average > threshold;
        if !(self.lost || self.marked || delayed) {
            return;
        }
        if core::mem::take(&mut self.inflection_open) {
            self.inflection = self.bytes;
        }
        // Reductions happen once in a virtual round trip: a long real one is to see their sum.
        let rounds = (report.rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).max(1.0);
        let undershoot = report.target_rate < UNDERSHOOT * report.acknowledged_rate;
        let scale = if undershoot { UNDERSHOOT_SCALE } else { 1.0 } / rounds;
        if self.lost {
            self.bytes *= BETA_LOSS;
        } else if self.marked && !report.l4s {
            self.bytes *= BETA_ECN;
        } else if self.marked {
            let mut backoff = report.alpha / 2.0 * scale;
            if report.queueing < report.target / 4.0 {
                backoff *= near.max(0.25);
            }
            if since > VIRTUAL_RTT.max(report.rtt) * POST_CONGESTION_RTTS {
                // The source was the limit for long, and the window has outgrown what was in flight.
                self.bytes = self.bytes.min(self.in_flight_before as f64);
            }
            self.bytes *= 1.0 - backoff;
        } else {
            let virtual_alpha = ((report.average - threshold) / threshold).clamp(0.0, 1.0);
            self.bytes *= 1.0 - virtual_alpha / 2.0 * scale;
        }
        self.bytes = self.bytes.max(MINIMUM);
        self.reacted = report.now;
        self.lost = false;
        self.marked = false;
    }

    /// Section "Reference Window Increase".
    fn grow(&mut self, report: &Report, near: f64) {
        let round = VIRTUAL_RTT.max(report.rtt).as_secs_f64();
        let since = report.now.saturating_since(self.congested).as_secs_f64();
        let calm = (since / (POST_CONGESTION_RTTS as f64 * round)).clamp(0.0, 1.0);
        let mut increment = report.unmarked_bytes as f64 * self.ratio();
        increment *= (report.rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0);
        increment *= near.max(0.25);
        increment *= 1.0 + MULTIPLICATIVE * self.bytes / self.segment * calm * near;
        let most = self.segment + self.in_flight.max(self.in_flight_before) as f64 * IN_FLIGHT_HEADROOM;
        if increment > 0.0 && self.bytes + increment <= most && report.may_grow {
            self.bytes += increment;
            self.inflection_open = true;
        }
    }

    /// Bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// `ref_wnd_ratio`: a segment as a share of the window.
    pub(super) fn ratio(&self) -> f64 {
        (self.segment / self.bytes).min(1.0)
    }
}
