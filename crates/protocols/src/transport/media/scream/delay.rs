//! Round-trip time and queueing delay (section "Detecting Increased Queue Delay"; RFC 6817; RFC 6298).

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// QDELAY_AVG_G: the weight of a delay above the average. One below replaces the average.
const GAIN: f64 = 1.0 / 4.0;
/// The weight of a round trip in the smoothed one (RFC 6298, section 2).
const RTT_GAIN: f64 = 1.0 / 8.0;
/// BASE_HISTORY (RFC 6817, section 2.4.2): minutes over which the base delay is the least.
const BASE_MINUTES: usize = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Queueing delay as LEDBAT measures it: one-way delay above the least of the last ten minutes. Times in seconds.
#[derive(Debug, Default)]
pub(super) struct Delay {
    /// The least one-way delay of each minute, in nanoseconds between two clocks with different zeros.
    base: VecDeque<i64>,
    minute: Option<Instant>,
    queueing: f64,
    average: f64,
    updated: Option<Instant>,
    smoothed_rtt: Option<Duration>,
}

impl Delay {
    /// Takes a round trip.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.smoothed_rtt = Some(match self.smoothed_rtt {
            None => rtt,
            Some(old) => Duration::from_secs_f64((1.0 - RTT_GAIN) * old.as_secs_f64() + RTT_GAIN * rtt.as_secs_f64()),
        });
    }

    /// Notes the one-way delay of a packet for the base delay, in nanoseconds.
    pub(super) fn on_one_way(&mut self, delay: i64, now: Instant) {
        if self.minute.is_none_or(|start| now.saturating_since(start) >= MINUTE) {
            self.minute = Some(now);
            self.base.push_back(delay);
            if self.base.len() > BASE_MINUTES {
                self.base.pop_front();
            }
        } else if let Some(least) = self.base.back_mut() {
            *least = delay.min(*least);
        }
    }

    /// Takes the one-way delay of the newest packet as the present one, and averages once in `interval`.
    pub(super) fn on_newest(&mut self, delay: i64, now: Instant, interval: Duration) {
        let base = self.base.iter().copied().min().unwrap_or(delay);
        self.queueing = delay.saturating_sub(base).max(0) as f64 / 1e9;
        if self.updated.is_some_and(|at| now.saturating_since(at) < interval) {
            return;
        }
        self.updated = Some(now);
        self.average = if self.queueing < self.average {
            self.queueing
        } else {
            GAIN * self.queueing + (1.0 - GAIN) * self.average
        };
    }

    /// `qdelay`, in seconds.
    pub(super) fn queueing(&self) -> f64 {
        self.queueing
    }

    /// `qdelay_avg`: rises slowly and falls at once; in seconds.
    pub(super) fn average(&self) -> f64 {
        self.average
    }

    /// `s_rtt`, zero before the first round trip.
    pub(super) fn smoothed_rtt(&self) -> Duration {
        self.smoothed_rtt.unwrap_or(Duration::ZERO)
    }
}
