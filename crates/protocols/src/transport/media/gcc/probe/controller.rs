//! When to probe, and how fast (libwebrtc, `probe_controller.cc`).

use std::collections::VecDeque;

use super::super::super::Probe;
use crate::rounding::nearest;
use crate::time::{Duration, Instant};

/// The first two probes, as multiples of the start rate.
const FIRST: [f64; 2] = [3.0, 6.0];
/// A probe that found more than this share of its rate is followed by one at this multiple of what it found.
const FURTHER_FROM: f64 = 0.7;
const FURTHER: f64 = 2.0;
/// How long a result is waited for.
const PATIENCE: Duration = Duration::from_secs(1);
/// While the application is the limit: a probe after this interval, at this multiple of the estimate.
const ALR_INTERVAL: Duration = Duration::from_secs(5);
const ALR: f64 = 2.0;
/// At most this multiple of what the encoder can produce.
const ALLOCATION: f64 = 2.0;
/// A drop below this share of the estimate is large. A probe at this share of the old estimate follows if the path recovers in
/// time, and if it would find clearly more than the present one.
const DROP: f64 = 0.66;
const AFTER_DROP: f64 = 0.85;
const DROP_TIMEOUT: Duration = Duration::from_secs(5);
const UNCERTAINTY: f64 = 0.05;
/// This probe is still sent this long after a region in which the application was the limit.
const ALR_ENDED: Duration = Duration::from_secs(3);
/// The least size of a probe.
const PACKETS: u32 = 5;
const LENGTH: Duration = Duration::from_millis(15);
/// A probe that could not leave for this long is dropped (`bitrate_prober.cc`).
const STALE: Duration = Duration::from_secs(5);

/// What limits the estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Limit {
    /// The estimate by delay, whose delay is steady.
    #[default]
    Delay,
    /// Growing or falling delay, long round trips, or loss: no probes.
    Congestion,
}

#[derive(Debug)]
pub(in super::super) struct ProbeController {
    /// Rates in b/s.
    most: f64,
    estimate: f64,
    limit: Limit,
    /// While a result is waited for: the estimate above which the next probe follows.
    waiting: Option<f64>,
    initiated: Instant,
    alr_since: Option<Instant>,
    alr_ended: Option<Instant>,
    dropped: Instant,
    before_drop: f64,
    drop_probed: Instant,
    next_id: u32,
    pending: VecDeque<(Instant, Probe)>,
}

impl ProbeController {
    /// A controller of an encoder that produces at most `max_rate`. It begins to probe at once.
    pub(in super::super) fn new(start: f64, max_rate: f64, now: Instant) -> Self {
        let mut controller = Self {
            most: ALLOCATION * max_rate,
            estimate: start,
            limit: Limit::Delay,
            waiting: None,
            initiated: now,
            alr_since: None,
            alr_ended: None,
            dropped: now,
            before_drop: 0.0,
            drop_probed: now,
            next_id: 0,
            pending: VecDeque::new(),
        };
        controller.initiate(&FIRST.map(|factor| factor * start), true, now);
        controller
    }

    /// The application is the limit since then, or is not.
    pub(in super::super) fn set_alr(&mut self, since: Option<Instant>) {
        self.alr_since = since;
    }

    pub(in super::super) fn on_alr_ended(&mut self, now: Instant) {
        self.alr_ended = Some(now);
    }

    /// Takes a new estimate.
    pub(in super::super) fn on_estimate(&mut self, estimate: f64, limit: Limit, now: Instant) {
        self.limit = limit;
        if estimate < DROP * self.estimate {
            self.dropped = now;
            self.before_drop = self.estimate;
        }
        self.estimate = estimate;
        if self.waiting.is_some_and(|least| estimate > least) {
            self.initiate(&[FURTHER * estimate], true, now);
        }
    }

    /// The path recovered from overuse: look whether the rate before it is back.
    pub(in super::super) fn on_recovery(&mut self, now: Instant) {
        let limited = self.alr_since.is_some() || self.alr_ended.is_some_and(|at| now.saturating_since(at) < ALR_ENDED);
        let rate = AFTER_DROP * self.before_drop;
        if limited
            && self.waiting.is_none()
            && (1.0 - UNCERTAINTY) * rate > self.estimate
            && now.saturating_since(self.dropped) < DROP_TIMEOUT
            && now.saturating_since(self.drop_probed) > ALR_INTERVAL
        {
            self.drop_probed = now;
            self.initiate(&[rate], false, now);
        }
    }

    /// Time passes.
    pub(in super::super) fn handle_timeout(&mut self, now: Instant) {
        if now.saturating_since(self.initiated) > PATIENCE {
            self.waiting = None;
        }
        let due = self.alr_since.is_some_and(|since| now >= since.max(self.initiated).saturating_add(ALR_INTERVAL));
        if due && self.waiting.is_none() {
            self.initiate(&[ALR * self.estimate], true, now);
        }
    }

    fn initiate(&mut self, rates: &[f64], mut further: bool, now: Instant) {
        if self.limit == Limit::Congestion {
            return;
        }
        let most = self.most;
        let mut last = 0.0;
        for &rate in rates {
            further &= rate < most;
            last = rate.min(most);
            let bytes = u32::try_from(nearest(last * LENGTH.as_secs_f64() / 8.0)).unwrap_or(u32::MAX);
            let probe = Probe { id: self.next_id, rate: nearest(last), packets: PACKETS, bytes };
            self.next_id = self.next_id.wrapping_add(1);
            self.pending.push_back((now, probe));
        }
        self.initiated = now;
        self.waiting = further.then_some(FURTHER_FROM * last);
    }

    /// Takes out the next probe.
    pub(in super::super) fn poll(&mut self, now: Instant) -> Option<Probe> {
        while let Some((at, probe)) = self.pending.pop_front() {
            if now.saturating_since(at) <= STALE {
                return Some(probe);
            }
        }
        None
    }
}
