//! The estimate by loss (libwebrtc, `loss_based_bwe_v2.cc`).

pub(super) mod channel;
pub(super) mod observation;

use super::super::PacketResult;
use crate::time::{Duration, Instant};
use channel::Channel;
use observation::Observations;

/// Before anything was observed.
const START_LOSS: f64 = 0.01;
/// Observations that an estimate needs.
const NEEDED: u64 = 3;
/// Candidates as multiples of the present bandwidth.
const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
/// The greatest rise within one window, while loss limits the estimate.
const RISE: f64 = 1.3;
const RISE_WINDOW: Duration = Duration::from_millis(300);
/// The estimate rises to at most this multiple of the acknowledged rate, and to less while that is below a multiple of the rate
/// that was held.
const RAMP: f64 = 1.5;
const RAMP_HELD: f64 = 1.2;
const HELD_BELOW: f64 = 1.3;
/// Above this loss the estimate is at most the balance over the excess, in b/s.
const UPPER_OFFSET: f64 = 0.05;
const UPPER_BALANCE: f64 = 100_000.0;
/// How long a reduced estimate is held: the first time, the factor for each further time, and the most.
const HOLD: Duration = Duration::from_millis(300);
const HOLD_FACTOR: u64 = 2;
const MOST_HOLD: Duration = Duration::from_secs(60);
/// How long a rise is supported by padding.
const PADDING: Duration = Duration::from_secs(2);
/// Not less than this, in b/s (`kCongestionControllerMinBitrate`).
const FLOOR: f64 = 5_000.0;

/// What rules the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Delay.
    #[default]
    Delay,
    /// Loss, and it rises: padding would show whether the path carries more.
    Increasing,
    /// Loss, and it falls or stays.
    Decreasing,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Option<Instant>,
    duration: Duration,
    rate: f64,
}

const NO_HOLD: Hold = Hold { until: None, duration: HOLD, rate: f64::INFINITY };

/// Rates in b/s.
#[derive(Debug)]
pub(super) struct LossBased {
    minimum: f64,
    maximum: f64,
    observations: Observations,
    /// Infinite before the first estimate by delay.
    best: Channel,
    acknowledged: Option<f64>,
    delay: f64,
    state: State,
    result: f64,
    /// While loss limits the estimate: since when, and up to what it may rise.
    window_since: Option<Instant>,
    window_most: f64,
    hold: Hold,
    padding: Option<(Instant, f64)>,
}

impl LossBased {
    pub(super) fn new(minimum: f64, maximum: f64) -> Self {
        Self {
            minimum,
            maximum,
            observations: Observations::default(),
            best: Channel { bandwidth: f64::INFINITY, loss: START_LOSS },
            acknowledged: None,
            delay: f64::INFINITY,
            state: State::Delay,
            result: f64::INFINITY,
            window_since: None,
            window_most: f64::INFINITY,
            hold: NO_HOLD,
            padding: None,
        }
    }

    pub(super) fn set_acknowledged(&mut self, rate: f64) {
        self.acknowledged = Some(rate);
    }

    /// The estimate, once there is one.
    pub(super) fn estimate(&self) -> Option<f64> {
        (self.best.bandwidth.is_finite() && self.observations.count() >= NEEDED).then_some(self.result)
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// The mean share of lost bytes.
    pub(super) fn loss(&self) -> f64 {
        self.observations.loss()
    }

    /// The loss that the path has at any rate.
    pub(super) fn inherent(&self) -> f64 {
        self.best.loss
    }

    /// At least what arrives.
    fn lower(&self) -> f64 {
        self.acknowledged.unwrap_or(0.0).max(self.minimum)
    }

    fn upper(&self) -> f64 {
        let excess = self.observations.loss() - UPPER_OFFSET;
        if excess > 0.0 { UPPER_BALANCE / excess } else { self.maximum }
    }

    /// Takes a feedback, the estimate by delay (infinite where there is none), and whether the application is the limit.
    pub(super) fn on_feedback(&mut self, packets: &[PacketResult], delay: f64, in_alr: bool) {
        self.delay = delay;
        if !self.observations.push(packets) {
            return;
        }
        if !self.best.bandwidth.is_finite() {
            if !delay.is_finite() {
                return;
            }
            self.best.bandwidth = delay;
            self.result = delay;
            self.state = State::Delay;
        }
        let Some(now) = self.observations.last_sent() else { return };
        let found = self.bounded_rise(self.most_likely(in_alr, now), now);
        let bounded = found.bandwidth.min(self.upper()).min(delay).max(self.lower());
        if bounded < found.bandwidth {
            // A lossy path: not above what its loss allows.
            self.best = Channel { bandwidth: bounded, loss: 0.0 };
        } else {
            self.best = Channel { bandwidth: found.bandwidth.max(self.lower()), ..found };
        }
        self.conclude(bounded, now);
    }

    /// The candidate that explains the observations best.
    fn most_likely(&self, in_alr: bool, now: Instant) -> Channel {
        let padded = self.padding.is_some_and(|(since, _)| since.saturating_add(PADDING) >= now);
        let acknowledged = self.acknowledged.filter(|_| !in_alr || padded);
        let delay = Some(self.delay).filter(|delay| delay.is_finite() && *delay > self.best.bandwidth);
        let limited = self.state != State::Delay && self.window_most.is_finite();
        let most = if limited { self.window_most } else { self.maximum }.max(self.best.bandwidth);
        let bandwidths = CANDIDATES.iter().map(|factor| factor * self.best.bandwidth).chain(acknowledged).chain(delay);
        let (mut best, mut greatest) = (self.best, f64::NEG_INFINITY);
        for bandwidth in bandwidths {
            let candidate = Channel { bandwidth: bandwidth.min(most), ..self.best }.feasible();
            let candidate = candidate.stepped(&self.observations);
            let objective = candidate.objective(&self.observations);
            if objective > greatest || (objective == greatest && candidate.bandwidth > best.bandwidth) {
                greatest = objective;
                best = candidate;
            }
        }
        best
    }

    /// Keeps the estimate from rising where that would be too fast, or where loss is above the inherent one.
    fn bounded_rise(&self, mut found: Channel, now: Instant) -> Channel {
        let present = self.best.bandwidth;
        if self.observations.loss() > found.loss && present < found.bandwidth {
            found.bandwidth = present;
        }
        if self.state == State::Delay {
            return found;
        }
        if self.window_since.is_some_and(|since| since.saturating_add(RISE_WINDOW) > now) {
            found.bandwidth = found.bandwidth.min(self.window_most);
        }
        let rises = self.rises(present, found.bandwidth);
        if let Some(acknowledged) = self.acknowledged.filter(|_| rises) {
            let held = self.hold.rate.is_finite() && acknowledged < HELD_BELOW * self.hold.rate;
            let ramp = if held { RAMP_HELD } else { RAMP };
            found.bandwidth = found.bandwidth.min(ramp * acknowledged).max(present);
            if self.state == State::Decreasing && found.bandwidth == present {
                // Enough for the state to change.
                found.bandwidth = present + 1.0;
            }
        }
        found
    }

    fn rises(&self, old: f64, new: f64) -> bool {
        self.state != State::Delay && (old < new || (old == new && self.state == State::Increasing))
    }

    /// Sets state and result.
    fn conclude(&mut self, bounded: f64, now: Instant) {
        let held = self.hold.until.is_some_and(|until| until > now);
        if self.state == State::Decreasing && held && bounded < self.delay {
            self.hold.rate = self.hold.rate.max(self.lower());
            self.result = self.hold.rate.min(bounded);
            return;
        }
        let limited = bounded < self.delay && bounded < self.maximum;
        if limited && self.rises(self.result, bounded) && self.keeps_increasing(bounded, now) {
            if self.padding.is_none_or(|(_, rate)| bounded > rate) {
                self.padding = Some((now, bounded));
            }
            self.state = State::Increasing;
        } else if limited {
            if self.state != State::Decreasing {
                self.hold = Hold {
                    until: Some(now.saturating_add(self.hold.duration)),
                    duration: (self.hold.duration * HOLD_FACTOR).min(MOST_HOLD),
                    rate: bounded,
                };
            }
            self.padding = None;
            self.state = State::Decreasing;
        } else {
            self.hold = NO_HOLD;
            self.padding = None;
            self.state = State::Delay;
        }
        self.result = bounded;
        let over = self.window_since.is_none_or(|since| since.saturating_add(RISE_WINDOW) < now);
        if self.state != State::Delay && over {
            self.window_most = (self.best.bandwidth * RISE).max(FLOOR);
            self.window_since = Some(now);
        }
    }

    fn keeps_increasing(&self, estimate: f64, now: Instant) -> bool {
        let Some((since, rate)) = self.padding.filter(|_| self.state == State::Increasing) else { return true };
        since.saturating_add(PADDING) >= now || rate < estimate
    }
}
