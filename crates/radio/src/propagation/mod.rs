//! Path loss and propagation delay.

mod free_space;
mod log_distance;
mod range;
mod shadowing;
mod two_ray_ground;
mod two_ray_interference;

pub use free_space::FreeSpace;
pub use log_distance::LogDistance;
pub use range::Range;
pub use shadowing::{FrameShadowing, LinkShadowing, ShadowedFrame, Survey, SurveyedLink};
pub use two_ray_ground::TwoRayGround;
pub use two_ray_interference::{Polarization, TwoRayInterference};

use core::fmt;

use hopcast_protocols::time::Duration;

use crate::units::Power;

/// Speed of light in vacuum, in m/s (exact by the definition of the metre).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// A model of path loss, the same in both directions and at all times.
///
/// A gain never exceeds 1: where a far-field formula breaks down, close to the antenna, received power is limited to the
/// sent power. So two nodes at one position are no special case.
pub trait Propagation: fmt::Debug + Send {
    /// Received power divided by sent power, from 0 to 1, between the antennas of nodes at `from` and `to`.
    fn gain(&self, from: Position, to: Position) -> f64;

    /// The distance in metres up to which the gain is at least `gain`, between nodes on the ground (z = 0): infinite for
    /// zero, and 0 above 1. If the gain ripples: a distance beyond which it always is below `gain`.
    fn reach(&self, gain: f64) -> f64;

    /// The power received at `to` from a node at `from` that sends with `tx_power`.
    fn received_power(&self, tx_power: Power, from: Position, to: Position) -> Power {
        tx_power.scaled(self.gain(from, to))
    }

    /// Appends to `powers` the [`Self::received_power`] at each of many positions.
    fn received_powers(&self, tx_power: Power, from: Position, to: &[Position], powers: &mut Vec<Power>) {
        powers.extend(to.iter().map(|&to| self.received_power(tx_power, from, to)));
    }
}

/// A position in metres: `x` and `y` on the ground, `z` above it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East.
    pub x: f64,
    /// North.
    pub y: f64,
    /// Up.
    pub z: f64,
}

impl Position {
    /// A position on the ground.
    pub const fn on_ground(x: f64, y: f64) -> Self {
        Self { x, y, z: 0.0 }
    }

    /// The distance to `other` in metres.
    #[inline]
    pub fn distance(self, other: Self) -> f64 {
        libm::sqrt(self.distance_squared(other))
    }

    /// The square of the distance to `other`, in m².
    #[inline]
    pub fn distance_squared(self, other: Self) -> f64 {
        let (x, y, z) = (other.x - self.x, other.y - self.y, other.z - self.z);
        x * x + y * y + z * z
    }
}

/// The time that light takes over `distance` metres, to the nearest nanosecond (0.3 m).
#[inline]
pub fn propagation_delay(distance: f64) -> Duration {
    Duration::from_secs_f64(distance / SPEED_OF_LIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn distance_counts_all_three_axes() {
        let origin = Position::default();
        assert_eq!(origin.distance(Position { x: 2.0, y: -3.0, z: 6.0 }), 7.0);
        assert_eq!(Position::on_ground(3.0, 0.0).distance(Position::on_ground(0.0, 4.0)), 5.0);
    }

    #[test]
    fn light_takes_a_microsecond_over_300_metres() {
        assert_eq!(propagation_delay(299.792_458).as_nanos(), 1_000);
        assert_eq!(propagation_delay(250.0).as_nanos(), 834);
        assert_eq!(propagation_delay(0.0), Duration::ZERO);
    }

    /// Those whose gain falls with every step away.
    fn models() -> [Box<dyn Propagation>; 3] {
        [
            Box::new(FreeSpace::new(2.412e9)),
            Box::new(LogDistance::new(5.18e9, 3.1, 1.0)),
            Box::new(TwoRayGround::new(914e6, 1.5)),
        ]
    }

    #[test]
    fn nodes_at_one_place_receive_what_is_sent() {
        for model in models() {
            let here = Position::on_ground(1.0, 2.0);
            let sent = Power::from_dbm(20.0);
            assert_eq!(model.received_power(sent, here, here), sent);
        }
    }

    #[test]
    fn no_gain_is_reached_everywhere_and_amplification_nowhere() {
        for model in models() {
            assert_eq!(model.reach(0.0), f64::INFINITY);
            assert_eq!(model.reach(1.01), 0.0);
        }
    }

    proptest! {
        #[test]
        fn reach_is_the_inverse_of_gain(distance in 1.0f64..1e5) {
            for model in models() {
                let gain = model.gain(Position::default(), Position::on_ground(distance, 0.0));
                prop_assert!((model.reach(gain) / distance - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn gain_falls_with_distance_and_is_the_same_both_ways(x in -1e4f64..1e4, y in -1e4f64..1e4, z in 0.0f64..100.0) {
            let (near, far) = (Position { x, y, z }, Position { x: 1.1 * x, y: 1.1 * y, z });
            for model in models() {
                let gain = model.gain(Position::default(), near);
                prop_assert!((0.0..=1.0).contains(&gain));
                prop_assert!(model.gain(Position::default(), far) <= gain);
                prop_assert_eq!(model.gain(near, Position::default()), gain);
            }
        }
    }
}
