//! Thermal noise.

use crate::units::{Decibel, Power};

/// Noise figure in dB: the default of ns-3's receivers. IEEE 802.11-2020, 17.3.10.2, assumes 10 dB and another 5 dB of
/// losses; good receivers have less.
pub const DEFAULT_NOISE_FIGURE: f64 = 7.0;

/// Boltzmann's constant in J/K (exact by the definition of the kelvin).
const BOLTZMANN: f64 = 1.380_649e-23;
/// The temperature at which noise figures are defined, in kelvin (IEEE; H. T. Friis, "Noise figures of radio receivers",
/// Proc. IRE 32(7), 1944).
const TEMPERATURE: f64 = 290.0;

/// Thermal noise: kTB, −174 dBm per hertz, over `bandwidth` hertz, raised by a noise figure in dB.
pub fn thermal_noise(bandwidth: f64, noise_figure: f64) -> Power {
    Power::from_watts(BOLTZMANN * TEMPERATURE * bandwidth * Decibel(noise_figure).as_ratio())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hertz_has_minus_174_dbm() {
        assert!((thermal_noise(20e6, 0.0).as_dbm() - (-173.98 + 73.01)).abs() < 0.01);
        assert!((thermal_noise(20e6, 7.0).as_dbm() - -93.97).abs() < 0.01);
    }
}
