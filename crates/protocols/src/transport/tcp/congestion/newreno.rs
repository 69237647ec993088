//! The window of RFC 5681 with the changes of RFC 6582 (NewReno).

use super::{Ack, CongestionControl};
use crate::time::Instant;

/// Slow start and congestion avoidance (RFC 5681, section 3.1), window inflation (section 3.2) and NewReno's deflation
/// at partial acknowledgements (RFC 6582, section 3.2).
///
/// Congestion avoidance counts acknowledged bytes, as section 3.1 of RFC 5681 recommends, so that delayed
/// acknowledgements do not slow it. The window also grows while the application or the receiver limits the sender, which
/// RFC 5681 does not forbid; a loss reduces it by what was really in flight.
#[derive(Clone, Debug)]
pub struct NewReno {
    /// SMSS.
    segment: u32,
    /// RW of RFC 5681, section 4.1, is min(IW, cwnd).
    initial_window: u32,
    window: u32,
    slow_start_threshold: u32,
    /// Bytes acknowledged in congestion avoidance since the window last grew.
    acked: u32,
    /// In fast recovery, where the window has more than the network may hold: what has left it and is not acknowledged.
    recovering: bool,
}

impl NewReno {
    /// A window of one byte until the connection is established.
    pub fn new() -> Self {
        // "ssthresh SHOULD be set arbitrarily high" (RFC 5681, section 3.1).
        Self { segment: 1, initial_window: 1, window: 1, slow_start_threshold: u32::MAX, acked: 0, recovering: false }
    }

    /// Equation 4 of RFC 5681, with `flight` bytes sent and not acknowledged. Of these no more than the window count, in fast
    /// recovery no more than the window without its inflation: the others have arrived behind a hole, and are no data in
    /// the network.
    fn halve(&mut self, flight: u32) {
        let window = if self.recovering { self.window.min(self.slow_start_threshold) } else { self.window };
        self.slow_start_threshold = (flight.min(window) / 2).max(self.segment.saturating_mul(2));
        self.acked = 0;
    }
}

impl Default for NewReno {
    fn default() -> Self {
        Self::new()
    }
}

impl CongestionControl for NewReno {
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
        // The three segments that the duplicate acknowledgements stand for have left (RFC 5681, section 3.2, step 3).
        self.window = self.slow_start_threshold.saturating_add(self.segment.saturating_mul(3));
        self.recovering = true;
    }

    fn on_duplicate_ack(&mut self) {
        self.window = self.window.saturating_add(self.segment);
    }

    fn on_partial_ack(&mut self, acked: u32) {
        self.window = self.window.saturating_sub(acked);
        if acked >= self.segment {
            self.window = self.window.saturating_add(self.segment);
        }
        // An acknowledgement may cover more than the inflated window; one segment must always be allowed.
        self.window = self.window.max(self.segment);
    }

    fn on_recovered(&mut self, flight: u32) {
        // Option 1 of RFC 6582, section 3.2, step 3: no burst if little is in flight.
        self.window = self.slow_start_threshold.min(flight.max(self.segment).saturating_add(self.segment));
        self.recovering = false;
    }

    fn on_timeout(&mut self, flight: u32, first: bool, _: Instant) {
        if first {
            self.halve(flight);
        }
        // The loss window (RFC 5681, section 3.1).
        self.window = self.segment;
        self.recovering = false;
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
