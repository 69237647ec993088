//! Additive or multiplicative increase, multiplicative decrease (libwebrtc, `aimd_rate_control.cc`).

use super::link_capacity::LinkCapacity;
use super::trendline::Usage;
use crate::time::{Duration, Instant};

/// What an overuse leaves of the acknowledged rate.
const BETA: f64 = 0.85;
/// And less this, in b/s.
const DECREASE_MARGIN: f64 = 5_000.0;
/// Before a round trip is known.
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// Limits of the time between two reductions, which is a round trip.
const REDUCTION_LIMITS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// Growth per second where the capacity is unknown, and the least, in b/s.
const GROWTH: f64 = 1.08;
const LEAST_GROWTH: f64 = 1_000.0;
/// Growth per second near the capacity is a packet per response time, at least this, in b/s.
const LEAST_ADDITION: f64 = 4_000.0;
const PACKET_BITS: f64 = 1200.0 * 8.0;
const FRAMES_PER_SECOND: f64 = 30.0;
/// What detection adds to a round trip.
const DETECTION: Duration = Duration::from_millis(100);
/// The rate stays below this multiple of the acknowledged rate, and this more in b/s.
const INCREASE_LIMIT: f64 = 1.5;
const INCREASE_MARGIN: f64 = 10_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
}

/// The rate that delay allows, in b/s.
#[derive(Debug)]
pub(in super::super) struct Aimd {
    rate: f64,
    minimum: f64,
    acknowledged: f64,
    capacity: LinkCapacity,
    state: State,
    changed: Option<Instant>,
    rtt: Duration,
}

impl Aimd {
    pub(in super::super) fn new(start: f64, minimum: f64) -> Self {
        Self {
            rate: start.max(minimum),
            minimum,
            acknowledged: start,
            capacity: LinkCapacity::new(),
            state: State::Hold,
            changed: None,
            rtt: DEFAULT_RTT,
        }
    }

    pub(in super::super) fn rate(&self) -> f64 {
        self.rate
    }

    pub(in super::super) fn capacity(&self) -> Option<f64> {
        self.capacity.estimate()
    }

    pub(in super::super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// Takes a rate that a probe found, or half of the present one.
    pub(in super::super) fn set_rate(&mut self, rate: f64, now: Instant) {
        self.rate = rate.max(self.minimum);
        self.changed = Some(now);
    }

    /// Whether an overuse may reduce the rate again, given the acknowledged one.
    pub(in super::super) fn may_reduce(&self, acknowledged: f64, now: Instant) -> bool {
        let interval = self.rtt.clamp(REDUCTION_LIMITS.0, REDUCTION_LIMITS.1);
        self.changed.is_none_or(|at| now.saturating_since(at) >= interval) || acknowledged < 0.5 * self.rate
    }

    /// The same where no acknowledged rate is known.
    pub(in super::super) fn may_halve(&self, now: Instant) -> bool {
        self.may_reduce(self.rate, now)
    }

    pub(in super::super) fn update(&mut self, usage: Usage, acknowledged: Option<f64>, now: Instant) {
        if let Some(rate) = acknowledged {
            self.acknowledged = rate;
        }
        match usage {
            Usage::Over => self.decrease(now),
            Usage::Under => self.state = State::Hold,
            Usage::Normal => {
                if self.state == State::Hold {
                    self.state = State::Increase;
                    self.changed = Some(now);
                }
                self.increase(now);
            }
        }
    }

    fn increase(&mut self, now: Instant) {
        if self.acknowledged > self.capacity.upper() {
            self.capacity.reset();
        }
        let limit = INCREASE_LIMIT * self.acknowledged + INCREASE_MARGIN;
        if self.rate < limit {
            let since = self.changed.map_or(1.0, |at| now.saturating_since(at).as_secs_f64());
            let growth = if self.capacity.estimate().is_some() {
                self.addition() * since
            } else {
                (self.rate * (libm::pow(GROWTH, since.min(1.0)) - 1.0)).max(LEAST_GROWTH)
            };
            self.rate = (self.rate + growth).min(limit).max(self.minimum);
        }
        self.changed = Some(now);
    }

    /// Growth near the capacity, in b/s per second: an average packet of a frame in twice the response time.
    fn addition(&self) -> f64 {
        let frame = self.rate / FRAMES_PER_SECOND;
        let packet = frame / (frame / PACKET_BITS).ceil();
        let response = 2.0 * (self.rtt + DETECTION).as_secs_f64();
        (packet / response).max(LEAST_ADDITION)
    }

    fn decrease(&mut self, now: Instant) {
        let mut reduced = BETA * self.acknowledged;
        if reduced > DECREASE_MARGIN {
            reduced -= DECREASE_MARGIN;
        }
        if reduced > self.rate
            && let Some(capacity) = self.capacity.estimate()
        {
            reduced = BETA * capacity;
        }
        self.rate = self.rate.min(reduced).max(self.minimum);
        if self.acknowledged < self.capacity.lower() {
            self.capacity.reset();
        }
        self.capacity.on_overuse(self.acknowledged);
        // It holds until the queue is empty.
        self.state = State::Hold;
        self.changed = Some(now);
    }
}
