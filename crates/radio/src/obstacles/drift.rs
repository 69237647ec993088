//! Slow changes of the surroundings: doors, furniture, weather.

use core::f64::consts::PI;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Instant;

use super::per_link::PerLink;
use crate::units::Decibel;

/// Log-normal shadowing in time, of mean 0 dB. Its correlation falls to e^(−t/T) over a time t, as that of an autoregressive process of
/// first order: the model of M. Gudmundson (Electronics Letters 27(23), 1991) with time in place of distance.
///
/// It is a sum of waves whose frequencies are drawn from the spectrum of that process, a Lorentz curve. Its distribution over links is
/// normal up to 3σ or so, and no value exceeds √(2·16) = 5.7 σ.
#[derive(Clone, Debug)]
pub struct Drift {
    seed: u64,
    /// In dB.
    deviation: f64,
    /// In seconds.
    decorrelation: f64,
    links: PerLink<[Wave; WAVES]>,
}

/// Radians a second, and radians.
#[derive(Clone, Copy, Debug)]
struct Wave {
    frequency: f64,
    phase: f64,
}

const WAVES: usize = 16;

impl Drift {
    /// With a standard deviation of `deviation` dB, whose correlation falls to 1/e over `decorrelation` seconds, above 0.
    pub fn new(seed: u64, deviation: f64, decorrelation: f64) -> Self {
        Self { seed, deviation, decorrelation, links: PerLink::new() }
    }

    /// Power received with drift divided by power without; above 1 as often as below.
    pub fn gain(&self, one: u32, other: u32, now: Instant) -> f64 {
        Decibel(self.decibels(one, other, now)).as_ratio()
    }

    /// The gain in dB.
    pub fn decibels(&self, one: u32, other: u32, now: Instant) -> f64 {
        let ends = (u64::from(one.min(other)), u64::from(one.max(other)));
        let begin = || {
            let mut stream = Stream::new(self.seed, Purpose::Drift, ends.0, ends.1);
            [(); WAVES].map(|()| Wave {
                frequency: libm::tan(PI * (stream.unit() - 0.5)) / self.decorrelation,
                phase: 2.0 * PI * stream.unit(),
            })
        };
        let seconds = now.as_nanos() as f64 / 1e9;
        let sum: f64 = self.links.ask(one, other, begin, |waves| {
            waves.iter().map(|wave| libm::cos(wave.frequency * seconds + wave.phase)).sum()
        });
        self.deviation * libm::sqrt(2.0 / WAVES as f64) * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variate::tests::{CRITICAL, kolmogorov_smirnov};
    use hopcast_protocols::time::Duration;

    fn at(seconds: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(seconds)
    }

    /// Sixteen waves are not quite normal, hence fewer samples than elsewhere.
    #[test]
    fn it_is_normal_over_links_at_any_time() {
        for now in [0.0, 1e4] {
            let drift = Drift::new(7, 4.0, 600.0);
            let samples = (0..4_000).map(|link| drift.decibels(link, link + 1, at(now))).collect();
            let normal = |x: f64| 0.5 * libm::erfc(-x / (4.0 * core::f64::consts::SQRT_2));
            let distance = kolmogorov_smirnov(samples, normal);
            assert!(distance < CRITICAL, "{now} s: {distance}");
        }
    }

    /// Over 4 000 links the standard error of a correlation is at most 1.6 %.
    #[test]
    fn its_correlation_falls_exponentially() {
        let drift = Drift::new(2, 3.0, 100.0);
        for lag in [10.0, 50.0, 100.0, 200.0, 500.0] {
            let pairs = (0..4_000).map(|link| [5.0, 5.0 + lag].map(|now| drift.decibels(link, 9_999, at(now))));
            let (mut products, mut squares) = (0.0, 0.0);
            for [first, second] in pairs {
                products += first * second;
                squares += (first * first + second * second) / 2.0;
            }
            let (measured, expected) = (products / squares, libm::exp(-lag / 100.0));
            assert!((measured - expected).abs() < 0.05, "{lag} s: {measured} for {expected}");
        }
    }

    #[test]
    fn it_is_the_same_both_ways_and_differs_between_links() {
        let drift = Drift::new(2, 3.0, 100.0);
        assert_eq!(drift.decibels(3, 8, at(1.0)), drift.decibels(8, 3, at(1.0)));
        assert_ne!(drift.decibels(3, 8, at(1.0)), drift.decibels(3, 9, at(1.0)));
        assert!((10.0 * libm::log10(drift.gain(3, 8, at(1.0))) - drift.decibels(3, 8, at(1.0))).abs() < 1e-9);
    }
}
