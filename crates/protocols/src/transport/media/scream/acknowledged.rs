//! `acked_bitrate` (section "Status Update on Receiving Feedback").

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// How fast packets arrived lately: over one round trip, or over two frames where that is longer.
#[derive(Debug, Default)]
pub(super) struct Acknowledged {
    reports: VecDeque<(Instant, u64)>,
    bytes: u64,
    rate: f64,
}

impl Acknowledged {
    /// Takes the bytes that a feedback acknowledges, and averages over the feedbacks of `span`: what came after the first of
    /// them, over the time since it.
    pub(super) fn on_bytes(&mut self, bytes: u64, now: Instant, span: Duration) {
        self.reports.push_back((now, bytes));
        self.bytes += bytes;
        while self.reports.get(1).is_some_and(|(at, _)| at.saturating_add(span) <= now) {
            let dropped = self.reports.pop_front();
            self.bytes -= dropped.map_or(0, |(_, bytes)| bytes);
        }
        let Some(&(first, before)) = self.reports.front() else { return };
        let elapsed = now.saturating_since(first);
        if elapsed > Duration::ZERO {
            self.rate = (self.bytes - before) as f64 * 8.0 / elapsed.as_secs_f64();
        }
    }

    /// In b/s.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }
}
