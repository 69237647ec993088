//! The window of RFC 5681.

use super::{Ack, CongestionControl};
use crate::time::Instant;

/// Slow start, congestion avoidance and the halving of RFC 5681, section 3.1: the congestion control of Reno, NewReno and SACK.
///
/// Congestion avoidance counts acknowledged bytes, as section 3.1 of RFC 5681 recommends, so that delayed
/// acknowledgements do not slow it. The window also grows while the application or the receiver limits the sender, which
/// RFC 5681 does not forbid; a loss reduces it by what was really in flight.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    /// SMSS.
    segment: u32,
    /// RW of RFC 5681, section 4.1, is min(IW, cwnd).
    initial_window: u32,
    window: u32,
    slow_start_threshold: u32,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    acked: u32,
}

impl Reno {
    /// A window of one byte until the connection is established.
    pub(crate) fn new() -> Self {
        // "ssthresh SHOULD be set arbitrarily high" (RFC 5681, section 3.1).
        Self { segment: 1, initial_window: 1, window: 1, slow_start_threshold: u32::MAX, acked: 0 }
    }

    /// Equation 4 of RFC 5681.
    fn halve(&mut self, flight: u32) {
        self.slow_start_threshold = (flight / 2).max(self.segment.saturating_mul(2));
        self.acked = 0;
    }
}

impl Default for Reno {
    fn default() -> Self {
        Self::new()
    }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        self.segment = segment;
        self.initial_window = initial_window;
        self.window = initial_window;
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.window < self.slow_start_threshold {
            // Equation 2 of RFC 5681.
            self.window = self.window.saturating_add(ack.acked.min(self.segment));
            return;
        }
        self.acked = self.acked.saturating_add(ack.acked);
        if self.acked >= self.window {
            self.acked -= self.window;
            // At most one segment a round trip, even if one acknowledgement covers more than a window.
            self.acked = self.acked.min(self.window);
            self.window = self.window.saturating_add(self.segment);
        }
    }

    fn on_loss(&mut self, flight: u32, _: Instant) {
        self.halve(flight);
        self.window = self.slow_start_threshold;
    }

    fn on_recovered(&mut self, limit: u32, _: Instant) {
        self.window = self.slow_start_threshold.min(limit);
    }

    fn on_timeout(&mut self, flight: u32, first: bool, _: Instant) {
        if first {
            self.halve(flight);
        }
        // The loss window (RFC 5681, section 3.1).
        self.window = self.segment;
    }

    fn on_idle(&mut self) {
        self.window = self.window.min(self.initial_window);
    }

    fn window(&self) -> u32 {
        self.window
    }

    fn slow_start_threshold(&self) -> u32 {
        self.slow_start_threshold
    }
}
