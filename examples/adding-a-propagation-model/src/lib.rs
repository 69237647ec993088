//! Walls: power falls as in free space, and by a fixed loss at each wall on the straight way between two antennas (the multi-wall
//! model of COST 231, final report, section 4.7.2, with walls of one kind and no floors).
//!
//! Walls stand along the y axis, without end; each is given by its x coordinate.

use hopcast_radio::propagation::{FreeSpace, Position, Propagation};
use hopcast_radio::units::Decibel;
use hopcast_sim::registry::Registry;
use serde::Deserialize;

/// What a scenario may say under `propagation.parameters`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The x coordinates of the walls in metres.
    pub walls: Vec<f64>,
    /// What each wall takes, in dB.
    #[serde(default = "light_wall")]
    pub loss: f64,
}

/// 3.4 dB, a light wall (COST 231, final report, section 4.7.2).
fn light_wall() -> f64 {
    3.4
}

/// The model at one carrier frequency.
#[derive(Debug)]
pub struct Walls {
    free_space: FreeSpace,
    walls: Vec<f64>,
    loss: f64,
}

impl Walls {
    /// The model at `frequency` hertz.
    pub fn new(frequency: f64, config: &Config) -> Self {
        // A wall that amplifies would break the contract of `reach`.
        Self { free_space: FreeSpace::new(frequency), walls: config.walls.clone(), loss: config.loss.max(0.0) }
    }
}

impl Propagation for Walls {
    fn gain(&self, from: Position, to: Position) -> f64 {
        let (near, far) = (from.x.min(to.x), from.x.max(to.x));
        let between = self.walls.iter().filter(|&&wall| near < wall && wall < far).count();
        self.free_space.gain(from, to) * Decibel(-self.loss * between as f64).as_ratio()
    }

    fn reach(&self, gain: f64) -> f64 {
        // Without a wall between, which no gain exceeds.
        self.free_space.reach(gain)
    }
}

/// A vocabulary in which scenarios may name it `walls`.
pub fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.add_propagation("walls", Walls::new);
    registry
}
