//! The queueing delay that the controller accepts (section "Competing Flows Compensation").

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// QDELAY_TARGET_LO, in seconds.
pub(super) const TARGET_LOW: f64 = 0.06;
/// QDELAY_TARGET_HI, in seconds.
pub(super) const TARGET_HIGH: f64 = 0.4;
/// Samples under the variance, and under the mean.
const LONG: usize = 200;
const SHORT: usize = 50;
/// Above this share of round trips with loss, another flow fills the queue.
const LOSS_EVENT_RATE: f64 = 0.002;
/// Below this variance of the delay over the lowest target, the delay is steady.
const STEADY: f64 = 0.2;
/// The weight of a round trip in the share of those with loss. The draft leaves it open; this is that of Ericsson's code
/// (EricssonResearch/scream, `ScreamV2Tx.cpp`).
const LOSS_EVENT_GAIN: f64 = 0.02;

/// `qdelay_target`: rises where a flow that fills the queue competes, so that this one keeps a share.
#[derive(Debug)]
pub(super) struct Target {
    seconds: f64,
    /// Delays over the lowest target, one per round trip.
    history: VecDeque<f64>,
    loss_event_rate: f64,
    lost: bool,
    updated: Option<Instant>,
}

impl Target {
    pub(super) fn new() -> Self {
        Self { seconds: TARGET_LOW, history: VecDeque::new(), loss_event_rate: 0.0, lost: false, updated: None }
    }

    /// Takes the queueing delay, in seconds, and whether packets were lost. It acts once per round trip.
    pub(super) fn on_feedback(&mut self, queueing: f64, lost: bool, now: Instant, rtt: Duration) {
        self.lost |= lost;
        if self.updated.is_some_and(|at| now.saturating_since(at) < rtt) {
            return;
        }
        self.updated = Some(now);
        let event = f64::from(u8::from(core::mem::take(&mut self.lost)));
        self.loss_event_rate += LOSS_EVENT_GAIN * (event - self.loss_event_rate);
        self.history.push_back(queueing / TARGET_LOW);
        if self.history.len() > LONG {
            self.history.pop_front();
        }
        self.adjust();
    }

    fn adjust(&mut self) {
        let mean_of = |samples: usize| {
            let taken = samples.min(self.history.len());
            self.history.iter().rev().take(taken).sum::<f64>() / taken as f64
        };
        let (mean, long_mean) = (mean_of(SHORT), mean_of(LONG));
        let squares: f64 = self.history.iter().map(|sample| (sample - long_mean) * (sample - long_mean)).sum();
        let variance = squares / self.history.len() as f64;
        let wanted = (mean + variance.sqrt()) * TARGET_LOW;
        self.seconds = if self.loss_event_rate > LOSS_EVENT_RATE {
            1.5 * wanted
        } else if variance < STEADY {
            wanted
        } else if wanted < TARGET_LOW {
            (0.5 * self.seconds).max(wanted)
        } else {
            0.9 * self.seconds
        }
        .clamp(TARGET_LOW, TARGET_HIGH);
    }

    /// The target in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The share of round trips in which packets were lost.
    pub(super) fn loss_event_rate(&self) -> f64 {
        self.loss_event_rate
    }
}
