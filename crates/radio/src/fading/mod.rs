//! Fading: variation of received power around its mean over many paths.
//!
//! A factor has mean 1 and multiplies the power that [`crate::propagation`] gives. One factor applies to a whole frame:
//! it is flat over the channel's width and constant over the frame.

mod scatterers;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Instant;

use crate::variate;
pub use scatterers::Scatterers;

/// Distribution of the received power. M. K. Simon and M.-S. Alouini, "Digital Communication over Fading Channels", 2nd
/// edition, section 2.2.1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Distribution {
    /// Scattered waves only: exponential power.
    Rayleigh,
    /// One steady wave among scattered ones: noncentral chi-square power with two degrees of freedom.
    Rician {
        /// Power of the steady wave over that of all others, a plain ratio, not below 0. Zero is Rayleigh.
        k: f64,
    },
    /// Gamma power (M. Nakagami, "The m-distribution", 1960).
    Nakagami {
        /// Its shape, not below 0.5. One is Rayleigh; larger is steadier.
        m: f64,
    },
}

/// Fading of every path of a run.
///
/// Without a Doppler frequency each frame and receiver has an independent factor ("block fading"). With one, the factor
/// of a path is a function of time, the same in both directions. Either way it is a pure function of the seed and the
/// frame or path: no draw depends on other listeners, nor on the order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    seed: u64,
    distribution: Distribution,
    /// In hertz.
    doppler: Option<f64>,
}

impl Fading {
    /// `doppler`: the largest Doppler frequency in hertz, v/λ for a relative speed v; 13.9 Hz at 0.8 m/s and 5.2 GHz.
    pub const fn new(seed: u64, distribution: Distribution, doppler: Option<f64>) -> Self {
        Self { seed, distribution, doppler }
    }

    /// The factor on the power of a transmission, by its number in the run, from station `from` at station `to`, `now`.
    pub(crate) fn factor(&self, from: u32, to: u32, transmission: u64, now: Instant) -> f64 {
        match self.doppler {
            None => self.of_frame(transmission, to),
            Some(doppler) => self.of_path(from, to).power(doppler * seconds(now)),
        }
    }

    /// The factor of a frame at a receiver, independent of all others.
    pub fn of_frame(&self, transmission: u64, receiver: u32) -> f64 {
        let mut stream = Stream::new(self.seed, Purpose::BlockFading, transmission, u64::from(receiver));
        match self.distribution {
            Distribution::Rayleigh => variate::exponential(&mut stream),
            Distribution::Rician { k } => {
                let (x, y) = variate::normal_pair(&mut stream);
                let x = x + libm::sqrt(2.0 * k);
                (x * x + y * y) / (2.0 * (1.0 + k))
            }
            Distribution::Nakagami { m } => variate::gamma(&mut stream, m),
        }
    }

    /// The waves of a path, the same for both directions; keep them if you ask a path often.
    pub fn of_path(&self, a: u32, b: u32) -> Scatterers {
        let stream = Stream::new(self.seed, Purpose::DopplerFading, u64::from(a.min(b)), u64::from(a.max(b)));
        Scatterers::new(stream, self.distribution)
    }
}

fn seconds(instant: Instant) -> f64 {
    instant.as_nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::variate::tests::{CRITICAL, kolmogorov_smirnov};

    /// 1 − Q₁(√(2K), √(2(1+K)p)), the noncentral chi-square distribution as a Poisson mixture of central ones.
    fn rician(k: f64, power: f64) -> f64 {
        let mut weight = libm::exp(-k);
        (0..200).fold(0.0, |sum, i| {
            let i = f64::from(i);
            if i > 0.0 {
                weight *= k / i;
            }
            sum + weight * variate::gamma_tails(1.0 + i, (1.0 + k) * power).0
        })
    }

    fn distribution(of: Distribution) -> impl Fn(f64) -> f64 {
        move |power| match of {
            Distribution::Rayleigh => -libm::expm1(-power),
            Distribution::Rician { k } => rician(k, power),
            Distribution::Nakagami { m } => variate::gamma_tails(m, m * power).0,
        }
    }

    const ALL: [Distribution; 7] = [
        Distribution::Rayleigh,
        Distribution::Rician { k: 0.0 },
        Distribution::Rician { k: 2.0 },
        Distribution::Rician { k: 10.0 },
        Distribution::Nakagami { m: 0.5 },
        Distribution::Nakagami { m: 1.0 },
        Distribution::Nakagami { m: 3.5 },
    ];

    #[test]
    fn frames_are_distributed_as_named() {
        for of in ALL {
            let fading = Fading::new(11, of, None);
            let samples = (0..200).flat_map(|n| (0..100).map(move |receiver| fading.of_frame(n, receiver))).collect();
            let distance = kolmogorov_smirnov(samples, distribution(of));
            assert!(distance < CRITICAL, "{of:?}: {distance}");
        }
    }

    #[test]
    fn another_distribution_fails_the_test() {
        let fading = Fading::new(11, Distribution::Rician { k: 2.0 }, None);
        let samples = (0..20_000).map(|number| fading.of_frame(number, 0)).collect();
        assert!(kolmogorov_smirnov(samples, distribution(Distribution::Rician { k: 2.3 })) > CRITICAL);
    }

    /// Over paths, at one instant. Sixteen waves are not quite normal, hence fewer samples than above.
    #[test]
    fn paths_are_distributed_as_named() {
        for of in ALL {
            let fading = Fading::new(5, of, Some(10.0));
            let samples =
                (0..4_000).map(|node| fading.factor(node, node + 1, 0, Instant::from_nanos(123_456_789))).collect();
            let distance = kolmogorov_smirnov(samples, distribution(of));
            assert!(distance < CRITICAL, "{of:?}: {distance}");
        }
    }

    /// Over time, on one path: 2000 coherence times.
    #[test]
    fn a_path_passes_through_its_distribution() {
        for of in ALL {
            let path = Fading::new(9, of, Some(1.0)).of_path(3, 4);
            let n = 40_000;
            let mut samples: Vec<f64> = (0..n).map(|i| path.power(0.05 * f64::from(i))).collect();
            let mean: f64 = samples.iter().sum::<f64>() / f64::from(n);
            assert!((mean - 1.0).abs() < 0.05, "{of:?}: mean {mean}");
            samples.sort_by(f64::total_cmp);
            for (i, &sample) in samples.iter().enumerate() {
                let expected = distribution(of)(sample);
                assert!((expected - i as f64 / f64::from(n)).abs() < 0.04, "{of:?} at {sample}");
            }
        }
    }

    /// W. C. Jakes, "Microwave Mobile Communications", 1974: the powers of a Rayleigh path correlate by J₀²(2πfτ); of a
    /// Rician one by (J₀² + 2K·J₀·cos(2πfτ·cos θ))/(1 + 2K) (Xiao, Zheng and Beaulieu 2006), here with θ over all paths:
    /// cos becomes J₀.
    #[test]
    fn power_correlates_as_bessels_function_says() {
        for (of, k) in [(Distribution::Rayleigh, 0.0), (Distribution::Rician { k: 1.5 }, 1.5)] {
            let fading = Fading::new(21, of, Some(1.0));
            for lag in [0.05, 0.1, 0.2, 0.3827, 0.6, 0.9, 1.5] {
                let (mut products, mut squares, mut n) = (0.0, 0.0, 0.0);
                for node in 0..3_000 {
                    let path = fading.of_path(node, node + 1);
                    for at in [0.0, 40.0, 90.0] {
                        let (first, second) = (path.power(at) - 1.0, path.power(at + lag) - 1.0);
                        products += first * second;
                        squares += first * first;
                        n += 1.0;
                    }
                }
                let bessel = libm::j0(2.0 * core::f64::consts::PI * lag);
                let expected = (bessel * bessel + 2.0 * k * bessel * bessel) / (1.0 + 2.0 * k);
                let measured = products / squares;
                assert!(n > 0.0 && (measured - expected).abs() < 0.05, "{of:?}, lag {lag}: {measured} for {expected}");
            }
        }
    }

    /// S. O. Rice: a Rayleigh envelope crosses its root mean square upwards √(2π)·f/e times a second.
    #[test]
    fn the_envelope_crosses_its_mean_as_often_as_rice_says() {
        let path = Fading::new(2, Distribution::Rayleigh, Some(1.0)).of_path(0, 1);
        let step = 0.002;
        let n = 500_000;
        let above: Vec<bool> = (0..n).map(|i| path.power(step * f64::from(i)) > 1.0).collect();
        let crossings = above.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let expected = libm::sqrt(2.0 * core::f64::consts::PI) / core::f64::consts::E * step * f64::from(n);
        assert!((crossings as f64 / expected - 1.0).abs() < 0.1, "{crossings} for {expected}");
    }

    proptest! {
        #[test]
        fn a_path_is_the_same_both_ways(seed: u64, a: u32, b: u32, nanos in 0u64..10_000_000_000_000, of in 0usize..7) {
            let fading = Fading::new(seed, ALL[of], Some(30.0));
            let now = Instant::from_nanos(nanos);
            let factor = fading.factor(a, b, 1, now);
            prop_assert_eq!(factor, fading.factor(b, a, 2, now));
            prop_assert!(factor >= 0.0 && factor.is_finite());
        }

        #[test]
        fn a_frame_has_a_factor_of_its_own(seed: u64, number: u64, receiver: u32) {
            let fading = Fading::new(seed, Distribution::Rayleigh, None);
            let factor = fading.factor(0, receiver, number, Instant::from_nanos(0));
            prop_assert!(factor > 0.0 && factor < 40.0);
            prop_assert_ne!(factor, fading.of_frame(number.wrapping_add(1), receiver));
            prop_assert_ne!(factor, fading.of_frame(number, receiver.wrapping_add(1)));
        }
    }
}
