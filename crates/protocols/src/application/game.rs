//! A source of game traffic: Färber's model of Counter-Strike.
//!
//! J. Färber, "Traffic modelling for fast action network games", Multimedia Tools and Applications 23(1), 2004: what one client
//! and its server send each other. Sizes and intervals are independent draws, many of the largest extreme value distribution
//! (Gumbel), x = a − b ln(−ln u) with u uniform in (0, 1).

use super::Application;
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Whose parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GameModel {
    /// Färber's own.
    #[default]
    Faerber,
    /// Their derivative in the evaluation methodology of NGMN and 3GPP, where the packets of clients are 35 bytes smaller.
    Ngmn,
}

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameDirection {
    /// The server, to one client.
    ToClient,
    /// The client.
    ToServer,
}

/// Writes the packets of one direction; never blocks.
#[derive(Clone, Debug)]
pub struct GameSource {
    sizes: Distribution,
    /// Between two packets, in milliseconds.
    intervals: Distribution,
    random: Stream,
    next: Instant,
    size: u32,
}

/// What sizes and intervals are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Distribution {
    Constant(f64),
    /// Largest extreme value, with location a and scale b.
    Gumbel(f64, f64),
}

/// Bytes that no packet exceeds: the server's a + 37 b (see `size`).
const MAX_SIZE: u32 = 120 + 37 * 36;

/// The first packet comes uniformly within this time of the start: the interval of a client.
const FIRST: f64 = 0.040;

impl GameSource {
    /// From `start`. Sizes are bytes of payload. `random` belongs to this direction of this flow.
    pub fn new(start: Instant, model: GameModel, direction: GameDirection, mut random: Stream) -> Self {
        let (sizes, intervals) = parameters(model, direction);
        let next = start + Duration::from_secs_f64(random.unit() * FIRST);
        let size = size(sizes, &mut random);
        Self { sizes, intervals, random, next, size }
    }
}

impl Application for GameSource {
    fn poll_write(&self, now: Instant) -> Option<u32> {
        (now >= self.next).then_some(self.size)
    }

    fn handle_written(&mut self, _now: Instant) {
        let interval = Duration::from_secs_f64(self.intervals.draw(&mut self.random) * 1e-3);
        // A model of traffic never stands still.
        self.next += interval.max(Duration::from_nanos(1));
        self.size = size(self.sizes, &mut self.random);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next)
    }

    fn largest_write(&self) -> u32 {
        MAX_SIZE
    }
}

/// Sizes in bytes and intervals in milliseconds.
fn parameters(model: GameModel, direction: GameDirection) -> (Distribution, Distribution) {
    use Distribution::{Constant, Gumbel};
    match (direction, model) {
        (GameDirection::ToClient, _) => (Gumbel(120.0, 36.0), Gumbel(55.0, 6.0)),
        (GameDirection::ToServer, GameModel::Faerber) => (Gumbel(80.0, 5.7), Constant(40.0)),
        (GameDirection::ToServer, GameModel::Ngmn) => (Gumbel(45.0, 5.7), Constant(40.0)),
    }
}

/// A size to the nearest byte, at least 1; no draw (see `open_unit`) exceeds a + 37 b.
fn size(sizes: Distribution, random: &mut Stream) -> u32 {
    libm::round(sizes.draw(random)).max(1.0) as u32
}

impl Distribution {
    fn draw(self, random: &mut Stream) -> f64 {
        match self {
            Self::Constant(value) => value,
            Self::Gumbel(a, b) => a - b * libm::log(-libm::log(open_unit(random.next_u64()))),
        }
    }
}

/// Uniform in 0 < x < 1, of uniform bits: the middles of 2⁵³ intervals, those above a half to the nearest multiple of 2⁻⁵³.
fn open_unit(bits: u64) -> f64 {
    // To the nearest, the last of them would be 1.
    (((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64).min(1.0_f64.next_down())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const DRAWS: usize = 100_000;

    fn source(model: GameModel, direction: GameDirection) -> GameSource {
        GameSource::new(Instant::START, model, direction, Stream::new(5, Purpose::Application, 0, 0))
    }

    /// Sizes in bytes and intervals in milliseconds.
    fn packets(model: GameModel, direction: GameDirection) -> (Vec<f64>, Vec<f64>) {
        let mut source = source(model, direction);
        let packet = |_| {
            let due = source.next;
            let size = f64::from(source.poll_write(due).expect("due"));
            source.handle_written(Instant::START);
            (size, (source.next - due).as_secs_f64() * 1e3)
        };
        (0..DRAWS).map(packet).unzip()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Largest distance between the distribution of `values` and that with distribution function `cdf`.
    fn kolmogorov_smirnov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let distance = |(index, &value): (usize, &f64)| {
            let expected = cdf(value);
            (expected - index as f64 / count).abs().max((expected - (index + 1) as f64 / count).abs())
        };
        values.iter().enumerate().map(distance).fold(0.0, f64::max)
    }

    fn gumbel(a: f64, b: f64) -> impl Fn(f64) -> f64 {
        move |x| libm::exp(-libm::exp(-(x - a) / b))
    }

    /// The mean is a + 0.5772 b, the deviation 1.2825 b; of 10⁵ draws the mean is within 4 deviations / √10⁵.
    #[test]
    fn means_are_those_of_the_distributions() {
        for (model, direction, size, interval) in [
            (GameModel::Faerber, GameDirection::ToClient, (120.0, 36.0), Some((55.0, 6.0))),
            (GameModel::Faerber, GameDirection::ToServer, (80.0, 5.7), None),
            (GameModel::Ngmn, GameDirection::ToServer, (45.0, 5.7), None),
        ] {
            let (sizes, intervals) = packets(model, direction);
            let check = |values: &[f64], (a, b): (f64, f64)| {
                let error = mean(values) - (a + 0.577_215_664_9 * b);
                assert!(error.abs() < 4.0 * 1.2825 * b / (DRAWS as f64).sqrt(), "{model:?} {direction:?}: {error}");
            };
            check(&sizes, size);
            match interval {
                Some(interval) => check(&intervals, interval),
                None => assert!(intervals.iter().all(|interval| (interval - 40.0).abs() < 1e-5)),
            }
        }
    }

    /// The 99.9 % quantile of the distance is 1.95 / √n. Sizes are bytes: they are compared in the middle between two.
    #[test]
    fn draws_follow_the_distribution() {
        let limit = 1.95 / (DRAWS as f64).sqrt();
        let (sizes, intervals) = packets(GameModel::Faerber, GameDirection::ToClient);
        let distance = kolmogorov_smirnov(intervals, gumbel(55.0, 6.0));
        assert!(distance < limit, "{distance}");
        let cdf = gumbel(120.0, 36.0);
        let count = sizes.len() as f64;
        for edge in (20..400).map(|octets| f64::from(octets) + 0.5) {
            let share = sizes.iter().filter(|&&size| size < edge).count() as f64 / count;
            assert!((share - cdf(edge)).abs() < limit, "{edge}: {share}");
        }
    }

    #[test]
    fn no_draw_is_without_bounds() {
        assert!(open_unit(0) > 0.0);
        assert!(open_unit(u64::MAX) < 1.0);
        let last = -libm::log(-libm::log(open_unit(u64::MAX)));
        assert!((36.0..37.0).contains(&last), "{last}");
        // The others are what they are by rounding.
        assert_eq!(open_unit(u64::MAX - (1 << 11)), 1.0 - f64::EPSILON);
    }

    #[test]
    fn the_first_packet_comes_within_an_interval_of_the_client() {
        let firsts: Vec<f64> = (0..1_000)
            .map(|flow| {
                let random = Stream::new(1, Purpose::Application, flow, 0);
                GameSource::new(Instant::START, GameModel::Faerber, GameDirection::ToServer, random).next.as_secs_f64()
            })
            .collect();
        assert!(kolmogorov_smirnov(firsts, |x| (x / FIRST).clamp(0.0, 1.0)) < 1.95 / 1000_f64.sqrt());
    }
}
