//! AIMD(a, b) for media: the rate grows by a packets per round trip in each round trip, and each round trip with a loss takes the
//! part b.

use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::media::{Feedback, MediaCongestionControl, SentPacket, Source};

use crate::Config;

/// The rate of one session.
#[derive(Clone, Debug)]
pub struct RateAimd {
    increase: f64,
    decrease: f64,
    source: Source,
    /// In b/s, headers counted.
    rate: f64,
    /// When feedback came last, and when the last packet left whose loss does not count any more.
    heard: Option<Instant>,
    recovery: Instant,
    sent: Instant,
}

impl RateAimd {
    /// A session that has sent nothing.
    pub fn new(source: Source, config: &Config) -> Self {
        let Config { decrease, increase } = *config;
        let increase = increase.unwrap_or(3.0 * decrease / (2.0 - decrease));
        let (rate, start) = (source.min_rate as f64, Instant::START);
        Self { increase, decrease, source, rate, heard: None, recovery: start, sent: start }
    }
}

impl MediaCongestionControl for RateAimd {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.sent = packet.sent;
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let before = self.heard.replace(feedback.now).unwrap_or(feedback.now);
        let mut lost = feedback.packets.iter().filter(|result| result.arrival.is_none());
        if lost.any(|result| result.packet.sent > self.recovery) {
            self.rate *= 1.0 - self.decrease;
            self.recovery = self.sent;
        } else if let Some(rtt) = feedback.rtt {
            let trips = feedback.now.saturating_since(before).as_secs_f64() / rtt.as_secs_f64();
            self.rate += self.increase * trips * 8.0 * f64::from(self.source.packet) / rtt.as_secs_f64();
        }
        self.rate = self.rate.clamp(self.source.min_rate as f64, self.source.max_rate as f64);
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn target_rate(&self) -> u64 {
        // Room for headers, and for a pacer that empties its queue.
        (0.9 * self.rate) as u64
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.rate as u64)
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("rate_bps", self.rate);
    }
}
