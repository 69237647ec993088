//! Obstacles: log-normal gains.

mod survey;

use core::f64::consts::{LN_10, PI};

use hopcast_protocols::random::{Purpose, Stream, Streams};

use super::Position;
use crate::variate;
pub use survey::{Survey, SurveyedLink};

/// Log-normal shadowing by position: the same in both directions, and similar if both ends are near each other's former
/// positions.
///
/// The gain in dB is normal with mean 0. When an end moves by r metres its correlation falls to e^(−r/D), and the two
/// ends' factors multiply: M. Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics
/// Letters 27(23), 1991, equation 3, for one end; Z. Wang, E. K. Tameh and A. R. Nix, "Joint shadowing process in urban
/// peer-to-peer radio channels", IEEE Trans. Vehicular Technology 57(1), 2008, for both. Nodes that move see it vary in
/// time; nodes at rest keep it.
///
/// It is a sum of plane waves over the four coordinates on the ground (X. Cai and G. B. Giannakis, "A two-dimensional
/// channel simulation model for shadowing processes", IEEE Trans. Vehicular Technology 52(6), 2003), a pure function of
/// seed and places, so no state moves with the nodes. The waves' numbers are drawn from the spectrum of an exponential
/// correlation in two dimensions, density ∝ (1 + (kD)²)^(−3/2). To make both directions one, the waves of (from, to) and
/// (to, from) are added and the sum is scaled to the deviation; it differs from the product above where the two ends
/// are within a few D of each other.
///
/// Limits: heights do not count. One run is one draw of `LinkShadowing::WAVES` waves: its distribution over an area of
/// many D is normal up to 3σ or so, and no value exceeds 16σ.
#[derive(Clone, Debug)]
pub struct LinkShadowing {
    /// In dB.
    deviation: f64,
    /// In metres.
    decorrelation: f64,
    waves: Vec<Wave>,
}

/// A plane wave over the places of both ends: radians a metre along each coordinate, and radians.
#[derive(Clone, Copy, Debug)]
struct Wave {
    from: (f64, f64),
    to: (f64, f64),
    phase: f64,
}

impl LinkShadowing {
    /// Number of plane waves.
    pub(crate) const WAVES: u32 = 128;

    /// With a standard deviation of `deviation` dB that falls to 1/e over `decorrelation` metres (at least 1 mm).
    pub fn new(seed: u64, deviation: f64, decorrelation: f64) -> Self {
        let decorrelation = decorrelation.max(1e-3);
        let mut stream = Stream::new(seed, Purpose::LinkShadowing, 0, 0);
        let waves = (0..Self::WAVES)
            .map(|_| Wave {
                from: wave_number(&mut stream, decorrelation),
                to: wave_number(&mut stream, decorrelation),
                phase: 2.0 * PI * stream.unit(),
            })
            .collect();
        Self { deviation, decorrelation, waves }
    }

    /// The gain in dB.
    pub fn decibels(&self, from: Position, to: Position) -> f64 {
        let sum: f64 = self.waves.iter().map(|wave| wave.between(from, to) + wave.between(to, from)).sum();
        self.deviation * sum / self.scale(from, to)
    }

    /// The standard deviation of the sum of all waves in both directions.
    fn scale(&self, from: Position, to: Position) -> f64 {
        // A wave has a variance of 1/2, and the two directions correlate by the two moves that swap the ends.
        let (x, y) = (to.x - from.x, to.y - from.y);
        let swapped = libm::exp(-2.0 * libm::sqrt(x * x + y * y) / self.decorrelation);
        libm::sqrt(self.waves.len() as f64 * (1.0 + swapped))
    }

    /// Power received with shadowing divided by power without; above 1 as often as below.
    pub fn gain(&self, from: Position, to: Position) -> f64 {
        ratio(self.decibels(from, to))
    }
}

impl Wave {
    fn between(&self, from: Position, to: Position) -> f64 {
        let along = self.from.0 * from.x + self.from.1 * from.y + self.to.0 * to.x + self.to.1 * to.y;
        libm::cos(along + self.phase)
    }

    /// What the place at which it begins adds to the angle between two places.
    fn angle_from(&self, place: Position) -> f64 {
        self.from.0 * place.x + self.from.1 * place.y + self.phase
    }

    /// What the place at which it ends adds.
    fn angle_to(&self, place: Position) -> f64 {
        self.to.0 * place.x + self.to.1 * place.y
    }

    /// The sum of the magnitudes that both angles of a place are made of, but for the phase.
    fn magnitude(&self, place: Position) -> f64 {
        let along = |(x, y): (f64, f64)| libm::fabs(x * place.x) + libm::fabs(y * place.y);
        along(self.from) + along(self.to)
    }
}

/// A wave number in two dimensions whose characteristic function is e^(−r/D): uniform in direction, with
/// P(|k| < k₀) = 1 − (1 + (k₀D)²)^(−1/2).
fn wave_number(stream: &mut Stream, decorrelation: f64) -> (f64, f64) {
    let cosine = variate::open_unit(stream);
    let length = libm::sqrt(1.0 / (cosine * cosine) - 1.0) / decorrelation;
    let (sine, cosine) = libm::sincos(2.0 * PI * stream.unit());
    (length * cosine, length * sine)
}

/// Log-normal shadowing that is drawn again for each frame and each of its receivers.
///
/// Shadowing of ns-2 (`mobile/shadowing.cc`): a normal deviate in dB for each packet that arrives, independent of all
/// others. No obstacle behaves like this; the model is for comparison with results from ns-2. It is a pure function of
/// seed, transmission and receiver, so it does not depend on other listeners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameShadowing {
    seed: u64,
    /// In dB.
    deviation: f64,
}

impl FrameShadowing {
    /// With a standard deviation of `deviation` dB.
    pub const fn new(seed: u64, deviation: f64) -> Self {
        Self { seed, deviation }
    }

    /// That of a transmission, by its number in the run.
    pub(crate) fn of(&self, transmission: u64) -> ShadowedFrame {
        let draws = Streams::new(self.seed, Purpose::FrameShadowing, transmission);
        ShadowedFrame { deviation: self.deviation, draws }
    }
}

/// The shadowing of one transmission, by receiver.
#[derive(Clone, Copy, Debug)]
pub struct ShadowedFrame {
    /// In dB.
    deviation: f64,
    draws: Streams,
}

impl ShadowedFrame {
    /// The gain in dB at a receiver, by its station.
    pub(crate) fn decibels(&self, receiver: u32) -> f64 {
        self.deviation * variate::normal(&mut self.draws.stream(u64::from(receiver)))
    }

    /// Power received with shadowing divided by power without; above 1 as often as below.
    pub fn gain(&self, receiver: u32) -> f64 {
        ratio(self.decibels(receiver))
    }
}

fn ratio(decibels: f64) -> f64 {
    libm::exp(decibels * (LN_10 / 10.0))
}

#[cfg(test)]
mod tests {
    use core::f64::consts::SQRT_2;

    use proptest::prelude::*;

    use super::*;
    use crate::variate::tests::{CRITICAL, kolmogorov_smirnov};

    fn normal(deviation: f64) -> impl Fn(f64) -> f64 {
        move |x| 0.5 * libm::erfc(-x / (deviation * SQRT_2))
    }

    #[test]
    fn a_frames_shadowing_is_normal_in_decibels() {
        let shadowing = FrameShadowing::new(3, 9.0);
        let samples: Vec<f64> =
            (0..200).flat_map(|number| (0..100).map(move |receiver| shadowing.of(number).decibels(receiver))).collect();
        let distance = kolmogorov_smirnov(samples, normal(9.0));
        assert!(distance < CRITICAL, "{distance}");
    }

    #[test]
    fn frames_and_receivers_are_independent() {
        let shadowing = FrameShadowing::new(3, 1.0);
        for (frames, receivers) in [(1, 0), (0, 1), (1, 1)] {
            let n = 20_000;
            let sum: f64 =
                (0..n).map(|i| shadowing.of(i).decibels(5) * shadowing.of(i + frames).decibels(5 + receivers)).sum();
            // Its standard deviation is 1/√n.
            let correlation = sum / n as f64;
            assert!(correlation.abs() < 3.3 / libm::sqrt(n as f64), "{correlation}");
        }
    }

    /// Twenty seeds, with places much further apart than the decorrelation distance.
    #[test]
    fn a_links_shadowing_is_normal_in_decibels() {
        let samples = (0..20).flat_map(|seed| {
            let shadowing = LinkShadowing::new(seed, 6.0, 5.0);
            (0..200).map(move |i| {
                let i = f64::from(i);
                shadowing.decibels(Position::on_ground(131.0 * i, 17.0 * i), Position::on_ground(-97.0, 173.0 * i))
            })
        });
        let distance = kolmogorov_smirnov(samples.collect(), normal(6.0));
        assert!(distance < CRITICAL, "{distance}");
    }

    /// Gudmundson's exponential when one end moves, its square when both do, measured over seeds and places.
    #[test]
    fn correlation_falls_exponentially_with_the_move_of_each_end() {
        for step in [0.0, 2.0, 5.0, 10.0, 20.0] {
            let (mut one, mut both, mut n) = (0.0, 0.0, 0.0);
            for seed in 0..40 {
                let shadowing = LinkShadowing::new(seed, 1.0, 10.0);
                for i in 0..100 {
                    let at = |x: f64, y: f64| Position::on_ground(x, y + 211.0 * f64::from(i));
                    let (from, to) = (at(0.0, 0.0), at(500.0, 30.0));
                    let value = shadowing.decibels(from, to);
                    one += value * shadowing.decibels(at(0.6 * step, 0.8 * step), to);
                    both += value * shadowing.decibels(at(0.0, step), at(500.0 + step, 30.0));
                    n += 1.0;
                }
            }
            let expected = libm::exp(-step / 10.0);
            assert!((one / n - expected).abs() < 0.05, "one end by {step} m: {} for {expected}", one / n);
            assert!((both / n - expected * expected).abs() < 0.05, "both by {step} m: {}", both / n);
        }
    }

    #[test]
    fn the_deviation_does_not_depend_on_the_distance() {
        for distance in [0.0, 1.0, 5.0, 500.0] {
            let squares: f64 = (0..2_000)
                .map(|seed| {
                    let shadowing = LinkShadowing::new(seed, 8.0, 10.0);
                    let value = shadowing.decibels(Position::default(), Position::on_ground(distance, 0.0));
                    value * value
                })
                .sum();
            let deviation = libm::sqrt(squares / 2_000.0);
            assert!((deviation / 8.0 - 1.0).abs() < 0.06, "{distance} m: {deviation} dB");
        }
    }

    proptest! {
        #[test]
        fn a_link_is_the_same_both_ways(
            seed: u64, a in (-1e4f64..1e4, -1e4f64..1e4), b in (-1e4f64..1e4, -1e4f64..1e4),
        ) {
            let shadowing = LinkShadowing::new(seed, 8.0, 20.0);
            let (a, b) = (Position::on_ground(a.0, a.1), Position::on_ground(b.0, b.1));
            prop_assert_eq!(shadowing.gain(a, b), shadowing.gain(b, a));
            prop_assert!(shadowing.gain(a, b) > 0.0);
        }
    }
}
