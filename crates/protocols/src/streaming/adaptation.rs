//! Chooses the rate of a clip segment by segment, as a display of adaptive streaming does (DASH).
//!
//! Devices store the clip in several rates. The display asks for one segment after the other, and chooses the rate of each from what its buffer holds
//! and how fast the segments before it came. Three rules:
//!
//! * BBA: the buffer alone decides (Huang, Johari, McKeown, Trunnell, Watson, "A buffer-based approach to rate adaptation", SIGCOMM 2014,
//!   Algorithm 1), with the reservoir and the cushion of Yin et al.: a sixth and a third of the buffer;
//! * BOLA: Lyapunov's drift and a penalty (Spiteri, Urgaonkar, Sitaraman, "BOLA: near-optimal bitrate adaptation for online videos", INFOCOM 2016),
//!   in the form BOLA-U for clips that end;
//! * robust MPC: the best plan for five segments by a model of the buffer (Yin, Jindal, Sekar, Sinopoli, "A control-theoretic approach for dynamic
//!   adaptive video streaming over HTTP", SIGCOMM 2015), with the weights called balanced there.

use std::collections::VecDeque;
use std::sync::Arc;

use hopcast_wire::cloud::Segment;

use crate::time::{Duration, Instant};

/// Most rates of a clip: the model looks at all sequences of five.
pub const MAX_RATES: usize = 8;
/// Segments that the model looks ahead, and from which it predicts.
const HORIZON: usize = 5;
/// BOLA's γ · p: how much a stall weighs against the rate.
const GAMMA_P: f64 = 5.0;
/// Least buffer of BOLA, in segments.
const LEAST_SEGMENTS: f64 = 3.0;

/// How the next rate is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// By the buffer.
    Bba,
    /// By Lyapunov's drift and a penalty.
    Bola,
    /// By a model of the buffer.
    RobustMpc,
}

/// Parameters of a display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The rule.
    pub rule: Rule,
    /// Playing time of a segment: whole milliseconds, at least one.
    pub segment: Duration,
    /// Media that the buffer holds, at least a segment.
    pub buffer: Duration,
    /// Rate by which the stream is admitted, and that it reserves.
    pub reserve: Reserve,
}

/// The rate that a stream reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// Its highest rate.
    Highest,
    /// Its lowest rate. More comes where there is room.
    Lowest,
}

/// What was chosen for one display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adapted {
    /// Bits of media in the segments that have come.
    pub bits: u64,
    /// Their playing time.
    pub media: Duration,
    /// Segments whose rate differs from that of the one before.
    pub switches: u32,
}

/// The chooser of one display.
#[derive(Clone, Debug)]
pub struct Adapter {
    config: Config,
    /// The lowest first, in b/s.
    rates: Arc<[u32]>,
    /// Length of the clip in milliseconds.
    length: u32,
    /// Media of all segments that were chosen, in milliseconds.
    chosen: u32,
    /// The last of them, the place of its rate, and when it was chosen.
    last: Option<(Segment, usize, Instant)>,
    /// b/s of the last segments.
    throughputs: VecDeque<f64>,
    /// Relative errors of the last predictions.
    errors: VecDeque<f64>,
    adapted: Adapted,
}

impl Adapter {
    /// For a clip of `length` milliseconds that is stored in these rates, in b/s: one to [`MAX_RATES`], the lowest first.
    pub fn new(config: Config, rates: Arc<[u32]>, length: u32) -> Self {
        debug_assert!((1..=MAX_RATES).contains(&rates.len()) && rates.is_sorted());
        Self {
            config,
            rates,
            length,
            chosen: 0,
            last: None,
            throughputs: VecDeque::new(),
            errors: VecDeque::new(),
            adapted: Adapted::default(),
        }
    }

    /// Media that the buffer has room for.
    pub fn buffer(&self) -> Duration {
        self.config.buffer
    }

    /// Media that the buffer reaches, by each rule, before any is shown: up to three segments.
    pub fn filled(&self) -> Duration {
        let segment = self.config.segment;
        let whole = self.config.buffer.as_nanos() / segment.as_nanos().max(1);
        segment * whole.clamp(1, LEAST_SEGMENTS as u64)
    }

    /// The segment that was chosen last.
    pub fn segment(&self) -> Option<Segment> {
        self.last.map(|(segment, ..)| segment)
    }

    /// What has come.
    pub fn adapted(&self) -> Adapted {
        self.adapted
    }

    /// Chooses the next segment, which begins with packet `first`, when the one before it has come and the buffer holds `buffered`. `None`: the
    /// buffer has no room for it yet, or the clip ends.
    pub fn poll_segment(&mut self, first: u32, buffered: Duration, now: Instant) -> Option<Segment> {
        let left = self.length - self.chosen;
        if left == 0 || buffered + self.config.segment > self.room() {
            return None;
        }
        let place = match (self.last, self.config.rule) {
            (None, _) => 0,
            (Some((_, last, _)), Rule::Bba) => self.by_buffer(last, buffered),
            (Some((_, last, _)), Rule::Bola) => self.by_drift(last, buffered),
            (Some((_, last, _)), Rule::RobustMpc) => self.by_model(last, buffered),
        };
        let length = self.segment_millis().min(left);
        let highest = self.rates[self.rates.len() - 1];
        let segment = Segment { first, start: self.chosen, rate: self.rates[place], length, highest };
        self.adapted.switches += u32::from(self.last.is_some_and(|(_, last, _)| last != place));
        self.chosen += length;
        self.last = Some((segment, place, now));
        Some(segment)
    }

    /// The segment that was chosen last has come, as packets of `octets` bytes together.
    pub fn handle_segment(&mut self, octets: u64, now: Instant) {
        let Some((Segment { rate, length, .. }, _, asked)) = self.last else { return };
        let took = now.saturating_since(asked).max(Duration::from_nanos(1));
        let throughput = 8.0 * octets as f64 / took.as_secs_f64();
        if let Some(predicted) = self.predicted() {
            push(&mut self.errors, (predicted - throughput).abs() / throughput);
        }
        push(&mut self.throughputs, throughput);
        self.adapted.bits += u64::from(rate) * u64::from(length) / 1_000;
        self.adapted.media += Duration::from_millis(length.into());
    }

    fn segment_millis(&self) -> u32 {
        u32::try_from(self.config.segment.as_nanos() / 1_000_000).unwrap_or(u32::MAX).max(1)
    }

    /// Media that the buffer may hold now: BOLA has less of it near both ends of the clip.
    fn room(&self) -> Duration {
        match self.config.rule {
            Rule::Bba | Rule::RobustMpc => self.config.buffer,
            Rule::Bola => {
                let near = self.chosen.min(self.length - self.chosen);
                let segments = (f64::from(near) / f64::from(self.segment_millis()) / 2.0).max(LEAST_SEGMENTS);
                Duration::from_secs_f64(segments * self.config.segment.as_secs_f64()).min(self.config.buffer)
            }
        }
    }

    fn by_buffer(&self, last: usize, buffered: Duration) -> usize {
        let whole = self.config.buffer.as_secs_f64();
        let (reservoir, cushion, level) = (whole / 6.0, whole / 3.0, buffered.as_secs_f64());
        let top = self.rates.len() - 1;
        if level <= reservoir {
            return 0;
        }
        if level >= reservoir + cushion {
            return top;
        }
        let (lowest, highest) = (f64::from(self.rates[0]), f64::from(self.rates[top]));
        let target = lowest + (highest - lowest) * (level - reservoir) / cushion;
        let rate = |place: usize| f64::from(self.rates[place]);
        if last < top && target >= rate(last + 1) {
            (0..=top).rev().find(|&place| rate(place) < target).unwrap_or(0).max(last + 1)
        } else if last > 0 && target <= rate(last - 1) {
            (0..=top).find(|&place| rate(place) > target).unwrap_or(top).min(last - 1)
        } else {
            last
        }
    }

    fn by_drift(&self, last: usize, buffered: Duration) -> usize {
        let rate = |place: usize| f64::from(self.rates[place]);
        let utility = |place: usize| libm::log(rate(place) / rate(0));
        let (room, segment) = (self.room().as_secs_f64(), self.config.segment.as_secs_f64());
        let v = (room - segment) / (utility(self.rates.len() - 1) + GAMMA_P);
        let score = |place: usize| (v * (utility(place) + GAMMA_P) - buffered.as_secs_f64()) / rate(place);
        let best = (0..self.rates.len()).fold(0, |best, place| if score(place) > score(best) { place } else { best });
        if best <= last {
            return best;
        }
        // Not far above what the link brings, or the rate would swing.
        let throughput = self.throughputs.back().copied().unwrap_or_default();
        let carried = (0..best).rev().find(|&place| rate(place) <= throughput).unwrap_or(0);
        if rate(best) <= throughput { best } else { last.max((carried + 1).min(best)) }
    }

    fn by_model(&self, last: usize, buffered: Duration) -> usize {
        let Some(throughput) = self.counted_on() else { return 0 };
        let left = (self.length - self.chosen).div_ceil(self.segment_millis()) as usize;
        self.best_plan(last, buffered.as_secs_f64(), throughput, left.min(HORIZON)).1
    }

    /// Worth of the best plan for the next segments, and the place of its first rate. The worth is the sum of rates, less the changes of rate, less
    /// the highest rate for each second of a stall.
    fn best_plan(&self, last: usize, buffered: f64, throughput: f64, segments: usize) -> (f64, usize) {
        if segments == 0 {
            return (0.0, last);
        }
        let rate = |place: usize| f64::from(self.rates[place]);
        let (segment, top) = (self.config.segment.as_secs_f64(), rate(self.rates.len() - 1));
        let mut best = (f64::NEG_INFINITY, 0);
        for place in 0..self.rates.len() {
            let took = rate(place) * segment / throughput;
            let after = ((buffered - took).max(0.0) + segment).min(self.config.buffer.as_secs_f64());
            let stalled = (took - buffered).max(0.0);
            let worth = rate(place) - (rate(place) - rate(last)).abs() - top * stalled;
            let worth = worth + self.best_plan(place, after, throughput, segments - 1).0;
            if worth > best.0 {
                best = (worth, place);
            }
        }
        best
    }

    /// The predicted throughput, less what the last predictions were wrong by.
    fn counted_on(&self) -> Option<f64> {
        let error = self.errors.iter().copied().fold(0.0, f64::max);
        self.predicted().map(|mean| mean / (1.0 + error))
    }

    /// Harmonic mean of the throughputs of the last segments.
    fn predicted(&self) -> Option<f64> {
        let sum: f64 = self.throughputs.iter().map(|throughput| 1.0 / throughput).sum();
        (!self.throughputs.is_empty()).then(|| self.throughputs.len() as f64 / sum)
    }
}

/// Adds one, and drops what is older than the horizon.
fn push(values: &mut VecDeque<f64>, value: f64) {
    values.push_back(value);
    if values.len() > HORIZON {
        values.pop_front();
    }
}

#[cfg(test)]
mod tests;
