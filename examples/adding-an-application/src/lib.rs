//! Talkspurts: one side of a conversation, with packets at even intervals while it talks and none while it listens.
//!
//! Talkspurts and pauses have exponential lengths (P. T. Brady, "A model for generating on-off speech patterns in two-way
//! conversation", 1969, without its states of double talk); the means are those of ITU-T P.59, table 1.

use hopcast_protocols::application::Application;
use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::registry::Registry;
use serde::Deserialize;

/// What a scenario may say under `application.parameters`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Payload of a packet in bytes.
    pub packet: u32,
    /// Between two packets of a talkspurt, in seconds.
    pub interval: f64,
    /// Mean length of a talkspurt, in seconds.
    pub talkspurt: f64,
    /// Mean length of a pause, in seconds.
    pub pause: f64,
}

impl Default for Config {
    /// 64 kb/s in packets of 20 ms (RFC 3551, sections 4.5.14 and 4.2).
    fn default() -> Self {
        Self { packet: 160, interval: 0.02, talkspurt: 1.004, pause: 1.587 }
    }
}

/// The application of one flow.
#[derive(Debug)]
pub struct Talkspurts {
    config: Config,
    random: Stream,
    /// When the next packet is written.
    next: Instant,
    /// When the talkspurt ends.
    end: Instant,
}

impl Talkspurts {
    /// From `start`, with a talkspurt first.
    pub fn new(start: Instant, mut random: Stream, config: &Config) -> Self {
        let end = start + exponential(config.talkspurt, &mut random);
        Self { config: config.clone(), random, next: start, end }
    }
}

impl Application for Talkspurts {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.next).then(|| self.largest_write())
    }

    fn handle_written(&mut self, _now: Instant) {
        // Never two packets at one instant without end.
        self.next += Duration::from_secs_f64(self.config.interval).max(Duration::from_nanos(1));
        if self.next > self.end {
            self.next = self.end + exponential(self.config.pause, &mut self.random);
            self.end = self.next + exponential(self.config.talkspurt, &mut self.random);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next)
    }

    fn largest_write(&self) -> u32 {
        self.config.packet.max(1)
    }
}

/// A time with this mean in seconds.
fn exponential(mean: f64, random: &mut Stream) -> Duration {
    Duration::from_secs_f64(-mean.max(0.0) * libm::log(1.0 - random.unit()))
}

/// A vocabulary in which scenarios may name it `talkspurts`.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.add_application("talkspurts", Talkspurts::new);
    registry
}
