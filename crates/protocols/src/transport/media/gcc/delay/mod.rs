//! The estimate by delay (libwebrtc, `delay_based_bwe.cc`).

pub(super) mod aimd;
pub(super) mod inter_arrival;
pub(super) mod link_capacity;
pub(super) mod trendline;

use crate::time::{Duration, Instant};
use aimd::Aimd;
use inter_arrival::InterArrival;
use trendline::{Trendline, Usage};

/// Without feedback for longer, groups and line start again.
const STREAM_TIMEOUT: Duration = Duration::from_secs(2);

/// What a feedback changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Update {
    /// The new estimate in b/s; `None` where it stays.
    pub(super) estimate: Option<f64>,
    /// It is what a probe found.
    pub(super) probed: bool,
    /// Underuse ended: the queue is empty again.
    pub(super) recovered: bool,
}

#[derive(Debug)]
pub(super) struct DelayBased {
    groups: InterArrival,
    trendline: Trendline,
    aimd: Aimd,
    last_feedback: Option<Instant>,
}

impl DelayBased {
    pub(super) fn new(start: f64, minimum: f64) -> Self {
        Self {
            groups: InterArrival::default(),
            trendline: Trendline::new(),
            aimd: Aimd::new(start, minimum),
            last_feedback: None,
        }
    }

    /// Takes send time and arrival of each packet, in the order of arrival, the acknowledged rate, and what a probe found.
    pub(super) fn on_feedback(
        &mut self,
        packets: &[(Instant, Instant)],
        acknowledged: Option<f64>,
        probed: Option<f64>,
        now: Instant,
    ) -> Update {
        if packets.is_empty() {
            return Update::default();
        }
        if self.last_feedback.is_none_or(|at| now.saturating_since(at) > STREAM_TIMEOUT) {
            self.groups = InterArrival::default();
            self.trendline = Trendline::new();
        }
        self.last_feedback = Some(now);
        let mut recovered = false;
        for &(sent, arrival) in packets {
            let before = self.trendline.usage();
            if let Some(deltas) = self.groups.on_packet(sent, arrival, now) {
                self.trendline.on_group(deltas, arrival);
            }
            recovered |= before == Usage::Under && self.trendline.usage() == Usage::Normal;
        }
        self.estimate(acknowledged, probed, recovered, now)
    }

    fn estimate(&mut self, acknowledged: Option<f64>, probed: Option<f64>, recovered: bool, now: Instant) -> Update {
        let usage = self.trendline.usage();
        if usage == Usage::Over {
            let changed = match acknowledged {
                Some(rate) if self.aimd.may_reduce(rate, now) => {
                    self.aimd.update(usage, acknowledged, now);
                    true
                }
                None if self.aimd.may_halve(now) => {
                    self.aimd.set_rate(self.aimd.rate() / 2.0, now);
                    true
                }
                _ => false,
            };
            return Update { estimate: changed.then(|| self.aimd.rate()), ..Update::default() };
        }
        if let Some(rate) = probed {
            self.aimd.set_rate(rate, now);
            return Update { estimate: Some(self.aimd.rate()), probed: true, recovered: false };
        }
        self.aimd.update(usage, acknowledged, now);
        Update { estimate: Some(self.aimd.rate()), probed: false, recovered }
    }

    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.aimd.set_rtt(rtt);
    }

    /// The estimate in b/s.
    pub(super) fn rate(&self) -> f64 {
        self.aimd.rate()
    }

    pub(super) fn usage(&self) -> Usage {
        self.trendline.usage()
    }

    pub(super) fn trendline(&self) -> &Trendline {
        &self.trendline
    }

    /// In b/s.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.aimd.capacity()
    }
}
