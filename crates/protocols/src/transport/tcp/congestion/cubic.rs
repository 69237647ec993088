//! The window of RFC 9438 (CUBIC).

use super::{Ack, CongestionControl};
use crate::time::{Duration, Instant};

/// C in segments per cubed second (section 5.1).
const C: f64 = 0.4;
/// The factor by which a loss reduces the window, beta_cubic (section 4.6).
const BETA: f64 = 0.7;
/// Segments that the Reno-friendly window gains in a round trip until it has come back to where it was, alpha_cubic
/// (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// CUBIC with fast convergence (RFC 9438, sections 4.1 to 4.8 and 4.10). Inside, windows are in segments, as in the RFC.
///
/// * Each segment acknowledged adds (target − cwnd)/cwnd, so that delayed acknowledgements do not slow it (section 4.4
///   speaks of acknowledgements; W_est counts segments too).
/// * Where W_est governs, the window is never lowered to it.
/// * The window grows only while it is what holds the sender back, and the time of the cubic function stands still
///   otherwise (sections 4.2 and 5.8).
/// * Neither HyStart++ (section 4.10 leaves it open) nor the undoing of section 4.9 is there.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    /// SMSS in bytes.
    segment: f64,
    /// In segments.
    initial_window: f64,
    window: f64,
    /// `None` before the first loss.
    slow_start_threshold: Option<f64>,
    /// W_max: the window before the last reduction, or less by fast convergence. `None`: where the next stage begins
    /// (after a timeout, section 4.8, and where slow start ended without a loss, section 4.10).
    plateau: Option<f64>,
    /// cwnd_prior: the window before the last reduction.
    prior: f64,
    /// The stage of congestion avoidance that is under way.
    stage: Option<Stage>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// t: the time since its start that counts.
    elapsed: Duration,
    /// When the last acknowledgement came.
    last: Instant,
    /// K in seconds.
    climb: f64,
    /// W_max.
    plateau: f64,
    /// W_est.
    reno: f64,
}

impl Stage {
    /// W_cubic (equation 1), `seconds` after the start.
    fn cubic(&self, seconds: f64) -> f64 {
        let distance = seconds - self.climb;
        C * distance * distance * distance + self.plateau
    }
}

impl Cubic {
    /// A window of one segment of one byte until the connection is established.
    pub(crate) fn new() -> Self {
        Self {
            segment: 1.0,
            initial_window: 1.0,
            window: 1.0,
            slow_start_threshold: None,
            plateau: None,
            prior: 1.0,
            stage: None,
        }
    }

    /// Section 4.6.
    fn reduce(&mut self, flight: u32) {
        self.slow_start_threshold = Some((f64::from(flight) / self.segment * BETA).max(2.0));
        self.prior = self.window;
        self.stage = None;
    }

    /// The stage that a window of `window` segments begins at `now`.
    fn start_stage(&mut self, now: Instant) -> Stage {
        let plateau = self.plateau.unwrap_or(self.window).max(self.window);
        // Equation 2.
        let climb = libm::cbrt((plateau - self.window) / C);
        Stage { elapsed: Duration::ZERO, last: now, climb, plateau, reno: self.window }
    }

    fn avoid_congestion(&mut self, ack: &Ack, is_limited: bool) {
        let mut stage = match self.stage {
            Some(stage) => stage,
            None => self.start_stage(ack.now),
        };
        let since = ack.now.saturating_since(stage.last);
        stage.last = ack.now;
        if is_limited {
            stage.elapsed = stage.elapsed.saturating_add(since);
            let acked = f64::from(ack.acked) / self.segment;
            // Section 4.3, figure 4.
            let alpha = if stage.reno >= self.prior { 1.0 } else { ALPHA };
            stage.reno += alpha * acked / self.window;
            let now = stage.elapsed.as_secs_f64();
            if stage.cubic(now) < stage.reno {
                self.window = self.window.max(stage.reno);
            } else {
                // Section 4.2: the window that is to be reached in a round trip.
                let rtt = ack.smoothed_rtt.map_or(0.0, Duration::as_secs_f64);
                let target = stage.cubic(now + rtt).clamp(self.window, 1.5 * self.window);
                // More than a window acknowledged at once reaches the target, and no more.
                self.window += (target - self.window) * (acked / self.window).min(1.0);
            }
        }
        self.stage = Some(stage);
    }

    fn bytes(&self, segments: f64) -> u32 {
        // A float to integer cast saturates. Rounded, so that seven tenths of whole bytes are what one expects.
        libm::round(segments * self.segment) as u32
    }
}

impl Default for Cubic {
    fn default() -> Self {
        Self::new()
    }
}

impl CongestionControl for Cubic {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        self.segment = segment.max(1).into();
        self.initial_window = f64::from(initial_window) / self.segment;
        self.window = self.initial_window;
        self.prior = self.window;
    }

    fn on_ack(&mut self, ack: &Ack) {
        // There was no room for another segment.
        let is_limited = f64::from(ack.flight) + self.segment > f64::from(self.window());
        if self.slow_start_threshold.is_none_or(|threshold| self.window < threshold) {
            if is_limited {
                self.window += f64::from(ack.acked).min(self.segment) / self.segment;
            }
        } else {
            self.avoid_congestion(ack, is_limited);
        }
    }

    fn on_loss(&mut self, flight: u32, _: Instant) {
        // Section 4.7: who did not get back to where he was leaves room for others.
        let converging = self.plateau.is_some_and(|plateau| self.window < plateau);
        self.plateau = Some(if converging { self.window * (1.0 + BETA) / 2.0 } else { self.window });
        self.reduce(flight);
        self.window = self.slow_start_threshold.expect("it was set just now");
    }

    fn on_recovered(&mut self, limit: u32, _: Instant) {
        let limit = f64::from(limit) / self.segment;
        self.window = self.slow_start_threshold.map_or(limit, |threshold| threshold.min(limit));
    }

    fn on_timeout(&mut self, flight: u32, first: bool, _: Instant) {
        if first {
            self.reduce(flight);
        }
        self.plateau = None;
        self.stage = None;
        self.window = 1.0;
    }

    fn on_idle(&mut self) {
        self.window = self.window.min(self.initial_window);
        self.stage = None;
    }

    fn window(&self) -> u32 {
        self.bytes(self.window)
    }

    fn slow_start_threshold(&self) -> u32 {
        self.slow_start_threshold.map_or(u32::MAX, |threshold| self.bytes(threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMSS: u32 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// An acknowledgement of one segment with the window full, and a round trip of 100 ms.
    fn ack(cubic: &Cubic, now: Instant) -> Ack {
        Ack { acked: SMSS, flight: cubic.window(), smoothed_rtt: Some(Duration::from_millis(100)), now }
    }

    /// Established with `segments` as the initial window.
    fn with_window(segments: u32) -> Cubic {
        let mut cubic = Cubic::new();
        cubic.on_established(SMSS, segments * SMSS);
        cubic
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value}, expected {expected}");
    }

    #[test]
    fn section_4_6_a_loss_leaves_seven_tenths() {
        let mut cubic = with_window(100);
        cubic.on_loss(100 * SMSS, at(0));
        assert_eq!((cubic.window(), cubic.slow_start_threshold()), (70_000, 70_000));
        assert_eq!((cubic.plateau, cubic.prior), (Some(100.0), 100.0));
        // Never below two segments.
        let mut cubic = with_window(2);
        cubic.on_loss(2 * SMSS, at(0));
        assert_eq!((cubic.window(), cubic.slow_start_threshold()), (2000, 2000));
        // What was in flight counts, not what would have been allowed.
        let mut cubic = with_window(100);
        cubic.on_loss(50 * SMSS, at(0));
        assert_eq!(cubic.slow_start_threshold(), 35_000);
    }

    #[test]
    fn section_4_2_equation_1_by_hand() {
        let mut cubic = with_window(1000);
        cubic.on_loss(1000 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(100));
        // W_max = 1000, cwnd_epoch = 700: K = cbrt(300 / 0.4) = 9.0856 s.
        let now = at(100);
        cubic.on_ack(&ack(&cubic, now));
        let stage = cubic.stage.expect("congestion avoidance");
        assert!((stage.climb - 9.085_602_964_160_698).abs() < 1e-12, "{}", stage.climb);
        // W_cubic(0) = 1000 − 0.4 · 750 = 700; W_cubic(K) = 1000; two seconds beyond: 1000 + 0.4 · 8.
        assert_near(stage.cubic(0.0), 700.0);
        assert_near(stage.cubic(stage.climb), 1000.0);
        assert_near(stage.cubic(stage.climb + 2.0), 1003.2);
        // The first acknowledgement, with t = 0: target W_cubic(0.1), a 700th of the way, unless W_est is beyond it:
        // W_est = 700 + 0.529/700 = 700.000756 > 700, so that the Reno-friendly window governs.
        assert_near(cubic.window, 700.0 + ALPHA / 700.0);
    }

    #[test]
    fn section_4_4_the_window_goes_for_what_is_due_in_a_round_trip() {
        let mut cubic = with_window(1000);
        cubic.on_loss(1000 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(0));
        cubic.on_ack(&ack(&cubic, at(0)));
        let before = cubic.window;
        cubic.on_ack(&ack(&cubic, at(1000)));
        // t = 1 s: target = W_cubic(1.1) = 0.4 · (1.1 − 9.0856)³ + 1000 = 796.300….
        let climb = libm::cbrt(750.0);
        let target = 0.4 * (1.1 - climb) * (1.1 - climb) * (1.1 - climb) + 1000.0;
        assert!(target > 796.0 && target < 797.0, "{target}");
        assert_near(cubic.window, before + (target - before) / before);
        // Section 4.2: at most half as much again. Long after K, W_cubic is far beyond.
        let before = cubic.window;
        cubic.on_ack(&ack(&cubic, at(60_000)));
        assert_near(cubic.window, before + 0.5);
    }

    #[test]
    fn section_4_3_small_windows_grow_as_renos_of_the_same_mean() {
        // alpha_cubic = 3 · 0.3 / 1.7.
        assert_near(ALPHA, 9.0 / 17.0);
        let mut cubic = with_window(10);
        cubic.on_loss(10 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(0));
        // K = cbrt(3 / 0.4) = 1.96 s: within the first round trips of 1 ms the cubic function hardly moves.
        let mut reno = 7.0;
        for n in 0..20 {
            cubic.on_ack(&ack(&cubic, at(n)));
            reno += ALPHA / reno;
            assert_near(cubic.window, reno);
        }
        // Once W_est has reached the window before the loss, it gains a segment a round trip.
        let mut cubic = with_window(10);
        cubic.on_loss(10 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(0));
        while cubic.window < 10.0 {
            cubic.on_ack(&ack(&cubic, at(0)));
        }
        let before = cubic.window;
        cubic.on_ack(&ack(&cubic, at(0)));
        assert_near(cubic.window, before + 1.0 / before);
    }

    #[test]
    fn section_4_7_fast_convergence() {
        let mut cubic = with_window(100);
        cubic.on_loss(100 * SMSS, at(0));
        // The second loss comes at 70 segments, before W_max is reached again: 70 · 1.7 / 2.
        cubic.on_loss(70 * SMSS, at(100));
        assert_near(cubic.plateau.expect("after a loss"), 59.5);
        assert_eq!(cubic.window(), 49_000);
        // At 100 and then at more, W_max is what it was.
        let mut cubic = with_window(100);
        cubic.on_loss(100 * SMSS, at(0));
        cubic.window = 120.0;
        cubic.on_loss(120 * SMSS, at(100));
        assert_eq!(cubic.plateau, Some(120.0));
    }

    #[test]
    fn section_4_8_after_a_timeout_the_next_stage_starts_flat() {
        let mut cubic = with_window(100);
        cubic.on_timeout(100 * SMSS, true, at(0));
        assert_eq!((cubic.window(), cubic.slow_start_threshold()), (1000, 70_000));
        // Once more for the same data: the threshold stays.
        cubic.on_timeout(SMSS, false, at(1000));
        assert_eq!((cubic.window(), cubic.slow_start_threshold()), (1000, 70_000));
        let mut acks = 0;
        while cubic.window() < 70_000 {
            cubic.on_ack(&ack(&cubic, at(2000)));
            acks += 1;
        }
        assert_eq!(acks, 69);
        cubic.on_ack(&ack(&cubic, at(2000)));
        let stage = cubic.stage.expect("congestion avoidance");
        assert_eq!((stage.climb, stage.plateau), (0.0, 70.0));
    }

    #[test]
    fn section_5_8_time_stands_still_while_the_application_limits() {
        let mut cubic = with_window(100);
        cubic.on_loss(100 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(0));
        cubic.on_ack(&ack(&cubic, at(0)));
        let before = cubic.window;
        // A minute with half a window in flight.
        for second in 1..=60 {
            cubic.on_ack(&Ack { flight: 35 * SMSS, ..ack(&cubic, at(1000 * second)) });
        }
        assert_eq!(cubic.window, before);
        assert_eq!(cubic.stage.expect("congestion avoidance").elapsed, Duration::ZERO);
        // So does slow start.
        let mut cubic = with_window(4);
        cubic.on_ack(&Ack { flight: 2 * SMSS, ..ack(&cubic, at(0)) });
        assert_eq!(cubic.window(), 4000);
        cubic.on_ack(&ack(&cubic, at(0)));
        assert_eq!(cubic.window(), 5000);
    }

    #[test]
    fn section_5_1_the_mean_window_is_that_of_the_closed_form() {
        // Section 5.1: with a loss every 1/p segments, AVG_W = (C (3 + beta) / (4 (1 − beta)))^(1/4) ·
        // RTT^(3/4) / p^(3/4), where the cubic function governs. RTT 100 ms, p = 0.0001: 187 segments. The form knows
        // neither fast convergence nor that cwnd follows its target with a delay of about a round trip.
        let mut cubic = with_window(100);
        cubic.on_loss(100 * SMSS, at(0));
        cubic.on_recovered(u32::MAX, at(0));
        let (mut now, mut sent, mut next_loss, mut rounds, mut sum) = (0_u64, 0_u64, 10_000_u64, 0_u64, 0.0);
        while rounds < 40_000 {
            let window = cubic.window() / SMSS;
            for n in 0..window {
                let at = Instant::from_nanos(100_000_000 * now + 100_000_000 * u64::from(n) / u64::from(window));
                cubic.on_ack(&ack(&cubic, at));
            }
            sent += u64::from(window);
            if sent >= next_loss {
                next_loss += 10_000;
                let flight = cubic.window();
                cubic.on_loss(flight, at(now * 100));
                cubic.on_recovered(u32::MAX, at(now * 100));
            }
            (now, rounds, sum) = (now + 1, rounds + 1, sum + f64::from(window));
        }
        let mean = sum / rounds as f64;
        let expected = libm::pow(C * (3.0 + BETA) / (4.0 * (1.0 - BETA)), 0.25) * libm::pow(0.1 / 0.0001, 0.75);
        assert!((expected - 187.0).abs() < 1.0, "{expected}");
        assert!((mean / expected - 1.0).abs() < 0.1, "{mean}, expected {expected}");
    }
}
