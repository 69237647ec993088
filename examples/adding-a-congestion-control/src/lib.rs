//! AIMD(a, b): the window grows by a segments in each round trip and is cut by the part b at each loss. TCP's own is AIMD(1, 1/2);
//! a gentler one is friendly to it if a = 3 b / (2 − b) (Yang and Lam, "General AIMD congestion control", ICNP 2000, for one
//! acknowledgement for each segment and no timeouts).

mod media;

pub use media::RateAimd;

use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::tcp::congestion::{Ack, CongestionControl};
use hopcast_sim::registry::Registry;
use serde::Deserialize;

/// What a scenario may say under `parameters`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// b: the part of the window that a loss takes, above 0 and below 1.
    pub decrease: f64,
    /// a: segments by which the window grows in a round trip; without it, as many as are friendly to TCP.
    pub increase: Option<f64>,
}

/// The window of one connection.
#[derive(Clone, Debug)]
pub struct Aimd {
    increase: f64,
    decrease: f64,
    /// All in bytes; the window in fractions of one, so that a slow growth is not lost.
    segment: f64,
    initial_window: f64,
    window: f64,
    threshold: f64,
}

impl Aimd {
    /// A window before the handshake.
    pub fn new(config: &Config) -> Self {
        let decrease = config.decrease.clamp(0.01, 0.99);
        let increase = config.increase.unwrap_or(3.0 * decrease / (2.0 - decrease)).max(0.0);
        Self { increase, decrease, segment: 1.0, initial_window: 1.0, window: 1.0, threshold: f64::MAX }
    }

    fn cut(&mut self, flight: u32) {
        self.threshold = (f64::from(flight) * (1.0 - self.decrease)).max(2.0 * self.segment);
    }
}

impl CongestionControl for Aimd {
    fn on_established(&mut self, segment: u32, initial_window: u32) {
        (self.segment, self.initial_window) = (segment.into(), initial_window.into());
        self.window = self.initial_window;
    }

    fn on_ack(&mut self, ack: &Ack) {
        let acked = f64::from(ack.acked);
        self.window += match self.window < self.threshold {
            true => acked.min(self.segment),
            false => self.increase * self.segment * acked / self.window,
        };
    }

    fn on_loss(&mut self, flight: u32, _: Instant) {
        self.cut(flight);
        self.window = self.threshold;
    }

    fn on_recovered(&mut self, limit: u32, _: Instant) {
        self.window = self.threshold.min(limit.into());
    }

    fn on_timeout(&mut self, flight: u32, first: bool, _: Instant) {
        if first {
            self.cut(flight);
        }
        self.window = self.segment;
    }

    fn on_idle(&mut self) {
        self.window = self.window.min(self.initial_window);
    }

    fn window(&self) -> u32 {
        // A float to integer cast saturates.
        self.window as u32
    }

    fn slow_start_threshold(&self) -> u32 {
        self.threshold as u32
    }
}

/// A vocabulary in which scenarios may name it `aimd`, for TCP and for media.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.add_congestion_control("aimd", Aimd::new);
    registry.add_media_congestion_control("aimd", RateAimd::new);
    registry
}
