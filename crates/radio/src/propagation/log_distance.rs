//! Path loss by a power of the distance.

use super::free_space::FreeSpace;
use super::{Position, Propagation};

/// Free space up to a reference distance d₀, and beyond it gain = gain(d₀)·(d₀/d)ⁿ.
///
/// T. S. Rappaport, "Wireless Communications", 2nd edition, equation 4.68, without its random term, which is
/// [`super::LinkShadowing`] or [`super::FrameShadowing`]. The exponent n is that of an environment: 2 is free space, 2.7
/// to 3.5 a city, 1.6 to 1.8 inside buildings in line of sight (his table 4.2). Valid beyond the reference distance,
/// within which the model assumes free space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogDistance {
    free_space: FreeSpace,
    exponent: f64,
    /// In metres.
    reference_distance: f64,
    /// At the reference distance.
    reference_gain: f64,
}

impl LogDistance {
    /// The reference distance of indoor measurements and of ITU-R P.1238, in metres.
    pub const DEFAULT_REFERENCE_DISTANCE: f64 = 1.0;

    /// At a carrier of `frequency` hertz; `exponent` above 0, `reference_distance` in metres above 0.
    pub fn new(frequency: f64, exponent: f64, reference_distance: f64) -> Self {
        let free_space = FreeSpace::new(frequency);
        let reference_gain = free_space.gain_over(reference_distance * reference_distance);
        Self { free_space, exponent, reference_distance, reference_gain }
    }
}

impl Propagation for LogDistance {
    fn gain(&self, from: Position, to: Position) -> f64 {
        let squared = from.distance_squared(to);
        let reference_squared = self.reference_distance * self.reference_distance;
        if squared <= reference_squared {
            self.free_space.gain_over(squared)
        } else {
            self.reference_gain * libm::pow(reference_squared / squared, self.exponent / 2.0)
        }
    }

    fn reach(&self, gain: f64) -> f64 {
        if gain > self.reference_gain {
            self.free_space.reach(gain)
        } else {
            self.reference_distance * libm::pow(self.reference_gain / gain, 1.0 / self.exponent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Decibel;

    fn loss(model: LogDistance, distance: f64) -> f64 {
        -Decibel::from_ratio(model.gain(Position::default(), Position::on_ground(distance, 0.0))).0
    }

    /// ITU-R P.1238, equation 1 on one floor: 20 log10(f in MHz) + N log10(d) − 28.
    #[test]
    fn loss_is_that_of_itu_r_p1238() {
        for (megahertz, coefficient, distance) in [(2_400.0, 28.0, 10.0), (5_200.0, 31.0, 30.0), (5_200.0, 18.0, 30.48)]
        {
            let model = LogDistance::new(megahertz * 1e6, coefficient / 10.0, 1.0);
            let expected = 20.0 * libm::log10(megahertz) + coefficient * libm::log10(distance) - 28.0;
            // Its −28 is −27.55 rounded.
            assert!(
                (loss(model, distance) - expected - 0.45).abs() < 0.01,
                "{megahertz} MHz: {}",
                loss(model, distance)
            );
        }
    }

    /// By hand: 46.77 dB at 1 m and 5.2 GHz, 18 dB a decade (ITU-R P.1238, section 3, for corridors in line of sight, where
    /// walls guide the wave), and log10(30.48) = 1.484 decades to 100 feet.
    #[test]
    fn a_corridor_of_100_feet_costs_73_decibels() {
        let corridor = LogDistance::new(5.2e9, 1.8, LogDistance::DEFAULT_REFERENCE_DISTANCE);
        assert!((loss(corridor, 30.48) - (46.77 + 18.0 * 1.484)).abs() < 0.01, "{}", loss(corridor, 30.48));
    }

    #[test]
    fn an_exponent_of_two_is_free_space() {
        let model = LogDistance::new(2.412e9, 2.0, 10.0);
        for distance in [0.5, 10.0, 250.0] {
            let (here, there) = (Position::default(), Position::on_ground(distance, 0.0));
            assert!((model.gain(here, there) / FreeSpace::new(2.412e9).gain(here, there) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn ten_times_the_distance_costs_ten_exponents() {
        let model = LogDistance::new(914e6, 4.0, 1.0);
        assert!((loss(model, 100.0) - loss(model, 10.0) - 40.0).abs() < 1e-9);
    }
}
