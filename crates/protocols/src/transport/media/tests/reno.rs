//! A flow that fills the queue until it loses: the window of NewReno, as a competitor on the bench.

use super::super::{Feedback, MediaCongestionControl, SentPacket};
use crate::time::Instant;

const SEGMENT: u64 = 1040;

/// Slow start, congestion avoidance, and half the window once per round trip with loss (RFC 5681).
#[derive(Debug)]
pub(in super::super) struct Reno {
    window: u64,
    threshold: u64,
    acknowledged: u64,
    sent: u64,
    /// Losses below this number belong to the last reduction.
    recovery: u64,
    last_sent: Option<Instant>,
    silent: bool,
}

impl Reno {
    pub(in super::super) fn new() -> Self {
        Self {
            window: 10 * SEGMENT,
            threshold: u64::MAX,
            acknowledged: 0,
            sent: 0,
            recovery: 0,
            last_sent: None,
            silent: false,
        }
    }
}

impl MediaCongestionControl for Reno {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.sent = packet.number;
        self.last_sent = Some(packet.sent);
        self.silent = false;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for result in feedback.packets {
            if result.arrival.is_some() {
                self.acknowledged += u64::from(result.packet.size);
            } else if result.packet.number >= self.recovery {
                self.threshold = (self.window / 2).max(2 * SEGMENT);
                self.window = self.threshold;
                self.recovery = self.sent + 1;
            }
        }
        if self.window < self.threshold {
            self.window += core::mem::take(&mut self.acknowledged);
        } else if self.acknowledged >= self.window {
            self.acknowledged -= self.window;
            self.window += SEGMENT;
        }
    }

    fn handle_timeout(&mut self, _now: Instant) {
        self.silent = true;
        self.threshold = (self.window / 2).max(2 * SEGMENT);
        self.window = SEGMENT;
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let second = crate::time::Duration::from_secs(1);
        self.last_sent.filter(|_| !self.silent).map(|sent| sent + second)
    }

    fn target_rate(&self) -> u64 {
        0
    }

    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    fn window(&self) -> Option<u64> {
        (!self.silent).then_some(self.window)
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("window_bytes", self.window as f64);
    }
}
