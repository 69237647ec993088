//! No congestion control: the encoder produces what it can, and packets leave at once.

use super::{Feedback, MediaCongestionControl, SentPacket};
use crate::time::Instant;

/// A sender that reacts to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncontrolled {
    rate: u64,
}

impl Uncontrolled {
    /// The encoder is to produce `rate` b/s.
    pub fn new(rate: u64) -> Self {
        Self { rate }
    }
}

impl MediaCongestionControl for Uncontrolled {
    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, _feedback: &Feedback<'_>) {}

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn target_rate(&self) -> u64 {
        self.rate
    }

    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    fn metrics(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}
