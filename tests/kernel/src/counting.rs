//! Reno's window, counted as the kernel counts it.

use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::tcp::congestion::{Ack, CongestionControl};

/// The congestion control of RFC 5681 in whole segments, as `tcp_cong.c` of Linux has it: a window of n segments is halved to n/2, rounded
/// down; slow start adds each segment acknowledged rather than one for each acknowledgement; the acknowledgement that ends
/// recovery counts for congestion avoidance. hopcast counts bytes, as RFC 5681 does, and differs by less than a segment each
/// time, which shows where the window is small: this variant measures by how much.
#[derive(Debug)]
pub struct WholeSegments {
    segment: u32,
    initial: u32,
    window: u32,
    threshold: u32,
    acked: u32,
}

impl WholeSegments {
    /// A window of one segment until the connection is established.
    pub fn new() -> Self {
        Self { segment: 1, initial: 1, window: 1, threshold: u32::MAX, acked: 0 }
    }

    fn reduce(&mut self) {
        self.threshold = (self.window / 2).max(2);
        self.acked = 0;
    }

    fn grow(&mut self, mut acked: u32) {
        if self.window < self.threshold {
            let slow = acked.min(self.threshold - self.window);
            self.window += slow;
            acked -= slow;
        }
        self.acked += acked;
        if self.acked >= self.window {
            self.acked -= self.window;
            self.window += 1;
        }
    }
}

impl Default for WholeSegments {
    fn default() -> Self {
        Self::new()
    }
}

impl CongestionControl for WholeSegments {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        self.segment = segment;
        self.initial = initial_window / segment;
        self.window = self.initial;
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.grow(ack.acked.div_ceil(self.segment));
    }

    fn on_loss(&mut self, _: u32, _: Instant) {
        self.reduce();
        self.window = self.threshold;
    }

    fn on_recovered(&mut self, limit: u32, _: Instant) {
        self.window = self.threshold.min((limit / self.segment).max(1));
        self.grow(1);
    }

    fn on_timeout(&mut self, _: u32, first: bool, _: Instant) {
        if first {
            self.reduce();
        }
        self.window = 1;
    }

    fn on_idle(&mut self) {
        self.window = self.window.min(self.initial);
    }

    fn window(&self) -> u32 {
        self.window * self.segment
    }

    fn slow_start_threshold(&self) -> u32 {
        self.threshold.saturating_mul(self.segment)
    }
}
