//! A direct ray and one reflected from flat ground.

use super::free_space::FreeSpace;
use super::{Position, Propagation};

/// Free space up to the crossover distance 4π·h₁·h₂/λ, and gain = h₁²·h₂²/d⁴ beyond, where the two rays nearly cancel.
///
/// T. S. Rappaport, "Wireless Communications", 2nd edition, equation 4.52 (far from the antennas), with the switch to
/// free space where both agree, as in ns-2's `TwoRayGround`. Isotropic antennas, perfect reflection; the model leaves out
/// the ripple below the crossover. An antenna is `antenna_height` above the z of its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoRayGround {
    free_space: FreeSpace,
    /// In metres.
    antenna_height: f64,
    /// What holds between nodes on the ground, as most are.
    level: Level,
}

/// What the heights of two antennas decide.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level {
    /// Their product in m².
    heights: f64,
    /// The square of the crossover distance, in m².
    crossover_squared: f64,
}

impl TwoRayGround {
    /// Flat ground at a carrier of `frequency` hertz, each antenna `antenna_height` metres above its node.
    pub fn new(frequency: f64, antenna_height: f64) -> Self {
        let free_space = FreeSpace::new(frequency);
        let level = Level::new(&free_space, [antenna_height; 2]);
        Self { free_space, antenna_height, level }
    }

    /// The distance in metres beyond which reflection reduces the power, for nodes on the ground.
    pub fn crossover(&self) -> f64 {
        crossover(&self.free_space, self.level.heights)
    }

    /// Of nodes at these heights above the ground.
    fn level_of(&self, nodes: [f64; 2]) -> Level {
        if nodes == [0.0; 2] {
            return self.level;
        }
        Level::new(&self.free_space, nodes.map(|height| height + self.antenna_height))
    }
}

impl Level {
    /// Of antennas at these heights.
    fn new(free_space: &FreeSpace, antennas: [f64; 2]) -> Self {
        let heights = antennas[0].max(0.0) * antennas[1].max(0.0);
        let crossover = crossover(free_space, heights);
        Self { heights, crossover_squared: crossover * crossover }
    }
}

/// The crossover distance in metres for antennas whose heights multiply to `heights` m².
fn crossover(free_space: &FreeSpace, heights: f64) -> f64 {
    heights / free_space.unit_gain_distance()
}

impl Propagation for TwoRayGround {
    fn gain(&self, from: Position, to: Position) -> f64 {
        let Level { heights, crossover_squared } = self.level_of([from.z, to.z]);
        let squared = from.distance_squared(to);
        if squared <= crossover_squared {
            self.free_space.gain_over(squared)
        } else {
            // Antennas low enough to put the crossover inside the near field are capped like any other.
            let amplitude = heights / squared;
            (amplitude * amplitude).min(1.0)
        }
    }

    fn reach(&self, gain: f64) -> f64 {
        let crossover = self.crossover();
        let free = self.free_space.reach(gain);
        // Below the crossover the gain is the free one; beyond, h²/d² = √gain.
        if free <= crossover || gain > 1.0 { free } else { self.antenna_height / libm::sqrt(libm::sqrt(gain)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Power;

    /// ns-2's default radio: 24.5 dBm, 914 MHz, antennas at 1.5 m (tcl/lib/ns-default.tcl), where light makes 3·10⁸ m/s.
    const NS2_FREQUENCY: f64 = 914e6 / 3e8 * super::super::SPEED_OF_LIGHT;

    fn ns2() -> TwoRayGround {
        TwoRayGround::new(NS2_FREQUENCY, 1.5)
    }

    fn received(distance: f64) -> Power {
        ns2().received_power(Power::from_watts(0.281_838_15), Position::default(), Position::on_ground(0.0, distance))
    }

    #[test]
    fn ns2s_thresholds_are_met_at_its_ranges() {
        assert!((received(250.0).as_dbm() - -64.37).abs() < 0.005, "{}", received(250.0));
        assert!((received(550.0).as_dbm() - -78.07).abs() < 0.005, "{}", received(550.0));
        // RXThresh_ and CSThresh_, in watts.
        assert!((received(250.0).as_watts() / 3.652e-10 - 1.0).abs() < 1e-3);
        assert!((received(550.0).as_watts() / 1.559e-11 - 1.0).abs() < 1e-3);
    }

    /// A height that is lost in rounding changes no bit of the gain, on either side of the crossover.
    #[test]
    fn what_is_kept_for_the_ground_is_what_heights_give() {
        let above = Position { z: f64::MIN_POSITIVE, ..Position::default() };
        for metres in 1..1_000 {
            let there = Position::on_ground(f64::from(metres), 0.3);
            assert_eq!(ns2().gain(Position::default(), there), ns2().gain(above, there), "{metres} m");
        }
    }

    #[test]
    fn the_crossover_is_continuous() {
        assert!((ns2().crossover() - 86.14).abs() < 0.005);
        let (before, after) = (received(86.139).as_dbm(), received(86.142).as_dbm());
        assert!((before - after).abs() < 1e-3, "{before} dBm, {after} dBm");
    }

    #[test]
    fn below_the_crossover_it_is_free_space() {
        let (here, there) = (Position::default(), Position::on_ground(80.0, 0.0));
        assert_eq!(ns2().gain(here, there), FreeSpace::new(NS2_FREQUENCY).gain(here, there));
    }

    #[test]
    fn twice_the_distance_costs_twelve_decibels_beyond_the_crossover() {
        assert!((received(200.0).as_dbm() - received(400.0).as_dbm() - 12.0412).abs() < 1e-4);
    }

    #[test]
    fn a_higher_node_sees_further() {
        let (low, high) = (Position::on_ground(400.0, 0.0), Position { x: 400.0, y: 0.0, z: 1.5 });
        let ratio = ns2().gain(Position::default(), high) / ns2().gain(Position::default(), low);
        assert!((ratio - 4.0).abs() < 0.01);
    }
}
