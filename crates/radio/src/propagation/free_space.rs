//! Free space.

use core::f64::consts::PI;

use super::{Position, Propagation, SPEED_OF_LIGHT};

/// Friis's transmission equation between isotropic antennas: gain = (λ / 4πd)².
///
/// H. T. Friis, "A Note on a Simple Transmission Formula", Proc. IRE 34(5), 1946, equation 1 with the effective areas
/// λ²/4π of isotropic antennas. Valid in the far field; capped at 1 below d = λ/4π.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeSpace {
    /// λ / 4π in metres: where the formula would give a gain of 1.
    unit_gain_distance: f64,
}

impl FreeSpace {
    /// Free space at a carrier of `frequency` hertz.
    pub fn new(frequency: f64) -> Self {
        Self { unit_gain_distance: SPEED_OF_LIGHT / frequency / (4.0 * PI) }
    }

    /// The gain over `distance_squared` m².
    pub(super) fn gain_over(&self, distance_squared: f64) -> f64 {
        let squared = self.unit_gain_distance * self.unit_gain_distance;
        if distance_squared > squared { squared / distance_squared } else { 1.0 }
    }

    /// λ / 4π in metres.
    pub(super) fn unit_gain_distance(&self) -> f64 {
        self.unit_gain_distance
    }
}

impl Propagation for FreeSpace {
    fn gain(&self, from: Position, to: Position) -> f64 {
        self.gain_over(from.distance_squared(to))
    }

    fn reach(&self, gain: f64) -> f64 {
        if gain > 1.0 { 0.0 } else { self.unit_gain_distance / libm::sqrt(gain) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Decibel;

    fn loss(frequency: f64, distance: f64) -> f64 {
        -Decibel::from_ratio(FreeSpace::new(frequency).gain(Position::default(), Position::on_ground(distance, 0.0))).0
    }

    /// ITU-R P.525-4, equation 4: 32.4 + 20 log10(f in MHz) + 20 log10(d in km).
    #[test]
    fn loss_is_that_of_itu_r_p525() {
        for (megahertz, kilometres) in [(914.0, 0.25), (2_412.0, 0.1), (5_180.0, 1.0)] {
            let expected = 32.4 + 20.0 * libm::log10(megahertz) + 20.0 * libm::log10(kilometres);
            assert!((loss(megahertz * 1e6, kilometres * 1e3) - expected).abs() < 0.06, "{megahertz} MHz");
        }
    }

    #[test]
    fn twice_the_distance_costs_six_decibels() {
        assert!((loss(2.412e9, 200.0) - loss(2.412e9, 100.0) - 6.0206).abs() < 1e-4);
    }
}
