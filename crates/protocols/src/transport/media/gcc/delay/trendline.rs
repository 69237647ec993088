//! The slope of queueing delay, and whether it means overuse (libwebrtc, `trendline_estimator.cc`).

use std::collections::VecDeque;

use super::inter_arrival::{Deltas, millis_between};
use crate::time::Instant;

/// Groups under the line.
const WINDOW: usize = 20;
/// The weight of the past in the smoothed delay.
const SMOOTHING: f64 = 0.9;
/// What the slope is multiplied by, and by the number of groups up to the greatest that counts.
const GAIN: f64 = 4.0;
const MOST_GROUPS: u32 = 60;
/// Overuse has to last for longer, in milliseconds of sending.
const OVERUSE_MS: f64 = 10.0;
/// The adaptive threshold: its start, its limits, and how fast it rises and falls, per millisecond.
const THRESHOLD: f64 = 12.5;
const THRESHOLD_LIMITS: (f64, f64) = (6.0, 600.0);
const THRESHOLD_UP: f64 = 0.0087;
const THRESHOLD_DOWN: f64 = 0.039;
/// Trends further than this above the threshold, such as those of a sudden drop of capacity, leave it alone.
const SPIKE: f64 = 15.0;
/// The longest time that counts between two adaptations, in milliseconds.
const ADAPT_MS: f64 = 100.0;

/// How the path is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Usage {
    #[default]
    Normal,
    Over,
    Under,
}

/// A line through the smoothed delays of the last groups, and the detector behind it.
#[derive(Debug)]
pub(in super::super) struct Trendline {
    groups: u32,
    first_arrival: Option<Instant>,
    accumulated: f64,
    smoothed: f64,
    /// Arrival since the first, and smoothed delay; in milliseconds.
    history: VecDeque<(f64, f64)>,
    trend: f64,
    modified: f64,
    threshold: f64,
    adapted: Option<Instant>,
    over_ms: Option<f64>,
    over_count: u32,
    usage: Usage,
}

impl Trendline {
    pub(in super::super) fn new() -> Self {
        Self {
            groups: 0,
            first_arrival: None,
            accumulated: 0.0,
            smoothed: 0.0,
            history: VecDeque::with_capacity(WINDOW + 1),
            trend: 0.0,
            modified: 0.0,
            threshold: THRESHOLD,
            adapted: None,
            over_ms: None,
            over_count: 0,
            usage: Usage::Normal,
        }
    }

    /// Takes the differences of a group from the one before, as its successor begins to arrive.
    pub(in super::super) fn on_group(&mut self, deltas: Deltas, arrival: Instant) {
        self.groups += 1;
        let first = *self.first_arrival.get_or_insert(arrival);
        self.accumulated += deltas.arrived - deltas.sent;
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.accumulated;
        self.history.push_back((millis_between(first, arrival), self.smoothed));
        if self.history.len() > WINDOW {
            self.history.pop_front();
        }
        let slope = if self.history.len() == WINDOW { self.slope() } else { None };
        self.detect(slope.unwrap_or(self.trend), deltas.sent, arrival);
    }

    /// By least squares; `None` where all groups arrived at once.
    fn slope(&self) -> Option<f64> {
        let count = self.history.len() as f64;
        let mean_x = self.history.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = self.history.iter().map(|(_, y)| y).sum::<f64>() / count;
        let over: f64 = self.history.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let under: f64 = self.history.iter().map(|(x, _)| (x - mean_x) * (x - mean_x)).sum();
        (under > 0.0).then(|| over / under)
    }

    fn detect(&mut self, trend: f64, sent_ms: f64, now: Instant) {
        if self.groups < 2 {
            self.usage = Usage::Normal;
            return;
        }
        self.modified = f64::from(self.groups.min(MOST_GROUPS)) * trend * GAIN;
        if self.modified > self.threshold {
            // The first time, half of the time since the last group was overuse.
            let over = self.over_ms.map_or(sent_ms / 2.0, |over| over + sent_ms);
            self.over_ms = Some(over);
            self.over_count += 1;
            if over > OVERUSE_MS && self.over_count > 1 && trend >= self.trend {
                self.over_ms = Some(0.0);
                self.over_count = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.over_ms = None;
            self.over_count = 0;
            self.usage = if self.modified < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.trend = trend;
        self.adapt(now);
    }

    fn adapt(&mut self, now: Instant) {
        let since = millis_between(self.adapted.unwrap_or(now), now).min(ADAPT_MS);
        self.adapted = Some(now);
        let distance = self.modified.abs() - self.threshold;
        if distance > SPIKE {
            return;
        }
        let gain = if distance < 0.0 { THRESHOLD_DOWN } else { THRESHOLD_UP };
        let (least, most) = THRESHOLD_LIMITS;
        self.threshold = (self.threshold + gain * distance * since).clamp(least, most);
    }

    pub(in super::super) fn usage(&self) -> Usage {
        self.usage
    }

    /// What is compared with the threshold.
    pub(in super::super) fn modified(&self) -> f64 {
        self.modified
    }

    pub(in super::super) fn threshold(&self) -> f64 {
        self.threshold
    }
}
