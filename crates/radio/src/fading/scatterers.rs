//! The waves of one path, as a function of time.

use core::f64::consts::PI;

use hopcast_protocols::random::Stream;

use super::Distribution;
use crate::variate;

/// The scattered waves between two stations whose surroundings or ends move.
///
/// A sum of sinusoids with the spectrum of waves from all sides (Clarke 1968, Jakes 1974): Y. R. Zheng and C. Xiao,
/// "Simulation models with correct statistical properties for Rayleigh fading channels", IEEE Trans. Communications
/// 51(6), 2003, equations 5 to 8, with separate phases for each wave; the steady wave of a Rician path comes from one
/// drawn direction (C. Xiao, Y. R. Zheng and N. C. Beaulieu, "Novel sum-of-sinusoids simulation models for Rayleigh and
/// Rician fading channels", IEEE Trans. Wireless Communications 5(12), 2006). Nakagami power has the rank that a Rayleigh
/// path's power has at that time.
///
/// Limits: `Scatterers::WAVES` waves for each quadrature bound the power at 2 times their number; the distribution is
/// within about 1 % of that of infinitely many, and since waves of fixed strength vary less than a normal process, powers
/// correlate by 1/32 less than J₀².
#[derive(Clone, Copy, Debug)]
pub struct Scatterers {
    distribution: Distribution,
    in_phase: [Wave; Self::WAVES],
    quadrature: [Wave; Self::WAVES],
    steady: Wave,
}

#[derive(Clone, Copy, Debug, Default)]
struct Wave {
    /// Doppler shift in units of the largest.
    shift: f64,
    /// In radians.
    phase: f64,
}

impl Scatterers {
    /// Waves for each of the two quadratures.
    pub(crate) const WAVES: usize = 16;

    pub(super) fn new(mut stream: Stream, distribution: Distribution) -> Self {
        let mut angle = || PI * (2.0 * stream.unit() - 1.0);
        let turn = angle();
        let (mut in_phase, mut quadrature) = ([Wave::default(); Self::WAVES], [Wave::default(); Self::WAVES]);
        for (n, (x, y)) in in_phase.iter_mut().zip(&mut quadrature).enumerate() {
            let direction = (2.0 * PI * (n + 1) as f64 - PI + turn) / (4 * Self::WAVES) as f64;
            let (sine, cosine) = libm::sincos(direction);
            *x = Wave { shift: cosine, phase: angle() };
            *y = Wave { shift: sine, phase: angle() };
        }
        let steady = Wave { shift: libm::cos(angle()), phase: angle() };
        Self { distribution, in_phase, quadrature, steady }
    }

    /// The power, with mean 1, after `turns` periods of the largest Doppler frequency.
    pub fn power(&self, turns: f64) -> f64 {
        let angle = 2.0 * PI * turns;
        let sum = |waves: &[Wave]| waves.iter().map(|wave| libm::cos(angle * wave.shift + wave.phase)).sum::<f64>();
        // Each quadrature has a variance of 1/2.
        let scale = libm::sqrt(1.0 / Self::WAVES as f64);
        let (x, y) = (scale * sum(&self.in_phase), scale * sum(&self.quadrature));
        match self.distribution {
            Distribution::Rayleigh => x * x + y * y,
            Distribution::Rician { k } => {
                let (sine, cosine) = libm::sincos(angle * self.steady.shift + self.steady.phase);
                let steady = libm::sqrt(k);
                let (x, y) = (x + steady * cosine, y + steady * sine);
                (x * x + y * y) / (1.0 + k)
            }
            Distribution::Nakagami { m } => variate::gamma_of_rank(m, x * x + y * y),
        }
    }
}
