//! Bursts: frames between two stations are lost for a while, then received for a while.
//!
//! Each direction of each pair has two states, as in E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal
//! 39(5), 1960, with exponential times: good, in which nothing is lost, and bad, in which everything is. hopcast's own
//! `gilbert-elliott` has one channel for all frames that arrive at a station, and errors of bits.

use std::collections::BTreeMap;

use hopcast_protocols::random::{Stream, Streams};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::{ErrorModel, ReceivedFrame};
use hopcast_radio::frame::StationId;
use hopcast_sim::registry::Registry;
use serde::Deserialize;

/// What a scenario may say under `errors.parameters`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Mean time in the good state, in seconds.
    pub good: f64,
    /// Mean time in the bad state, in seconds.
    pub bad: f64,
}

/// The model of one run.
#[derive(Debug)]
pub struct Bursts {
    config: Config,
    streams: Streams,
    /// By transmitter and receiver.
    pairs: BTreeMap<(StationId, StationId), Pair>,
}

impl Bursts {
    /// The model of a run, whose pairs draw from `streams`.
    pub fn new(streams: Streams, config: &Config) -> Self {
        Self { config: *config, streams, pairs: BTreeMap::new() }
    }
}

impl ErrorModel for Bursts {
    fn loss(&mut self, received: &ReceivedFrame<'_>) -> f64 {
        let (from, to) = (received.frame.transmitter, received.receiver);
        let Self { config, streams, pairs } = self;
        // A stream for each pair: what others send moves none of its draws.
        let stream = || streams.stream(u64::from(from.0) << 32 | u64::from(to.0));
        let pair = pairs.entry((from, to)).or_insert_with(|| Pair::new(config, stream()));
        f64::from(u8::from(pair.is_bad(config, received.end)))
    }
}

/// The states of one pair.
#[derive(Debug)]
struct Pair {
    stream: Stream,
    is_bad: bool,
    /// When the state ends.
    until: Instant,
}

impl Pair {
    /// At the start of the run, in a state drawn from the shares of time.
    fn new(config: &Config, mut stream: Stream) -> Self {
        let is_bad = stream.unit() * (config.good + config.bad) < config.bad;
        let mut pair = Self { stream, is_bad, until: Instant::START };
        pair.stay(config);
        pair
    }

    /// The state moves with time, not with frames.
    fn is_bad(&mut self, config: &Config, now: Instant) -> bool {
        while self.until <= now {
            self.is_bad = !self.is_bad;
            self.stay(config);
        }
        self.is_bad
    }

    fn stay(&mut self, config: &Config) {
        let mean = if self.is_bad { config.bad } else { config.good };
        let length = Duration::from_secs_f64(-mean * libm::log(1.0 - self.stream.unit()));
        // Time moves on even where a mean is zero or negative.
        self.until += length.max(Duration::from_micros(1));
    }
}

/// A vocabulary in which scenarios may name it `bursts`.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.add_error_model("bursts", Bursts::new);
    registry
}
