//! How nodes move.
//!
//! A node's way is a row of legs, each straight and at an even speed, or at rest. A model ([`Mobility`]) draws them one
//! after the other from a stream of its own, so that a way is a function of scenario, seed and node, whatever else
//! happens in the run. [`Motion`] tells where nodes are; nothing ticks.

pub mod gauss_markov;
mod motion;
mod placement;
pub mod random_waypoint;
mod rest;
#[cfg(test)]
mod statistics;
pub mod trace;

use core::fmt;
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;

pub use gauss_markov::GaussMarkov;
pub use motion::Motion;
pub use placement::Placement;
pub(crate) use placement::{bounds, place};
pub use random_waypoint::RandomWaypoint;
pub use rest::Rest;
pub use trace::Movement;

/// A model of the way of one node.
pub trait Mobility: fmt::Debug + Send {
    /// The next leg: it begins when and where the one before has ended; the first, at the start of the run.
    ///
    /// Legs are asked for as time comes near them, a little ahead, and never again. Who stays where it is gives a leg to
    /// where it begins, of [`Duration::MAX`] if it stays for ever.
    fn next_leg(&mut self) -> Leg;
}

/// A model of mobility, with its parameters.
#[derive(Clone)]
pub struct Moving {
    /// Makes the model of a node from its number in the group, where it is placed, and a stream of random numbers for it.
    pub make: MakeMoving,
}

/// See [`Moving::make`].
pub type MakeMoving = Arc<dyn Fn(usize, Position, Stream) -> Box<dyn Mobility> + Send + Sync>;

impl fmt::Debug for Moving {
    /// As the first node of the group gets it at the origin, with the parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = (self.make)(0, Position::default(), Stream::new(0, Purpose::Mobility, 0, 0));
        f.debug_struct("Moving").field("model", &model).finish()
    }
}

/// A straight piece of a way, at an even speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Where it begins.
    pub from: Position,
    /// Where it ends.
    pub to: Position,
    /// How long it takes; one of no time at all is taken to last a nanosecond.
    pub duration: Duration,
}

impl Leg {
    /// At one place.
    pub const fn rest(place: Position, duration: Duration) -> Self {
        Self { from: place, to: place, duration }
    }

    /// From one place to another at a speed in m/s; at none, the place is never left.
    pub fn trip(from: Position, to: Position, speed: f64) -> Self {
        if speed <= 0.0 {
            return Self::rest(from, Duration::MAX);
        }
        Self { from, to, duration: Duration::from_secs_f64(from.distance(to) / speed) }
    }
}

/// A rectangle on the ground, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its western edge.
    pub x: f64,
    /// Its southern edge.
    pub y: f64,
    /// Along x, above 0.
    pub width: f64,
    /// Along y, above 0.
    pub height: f64,
}

impl Area {
    /// Whether a place is in it; its edges are.
    pub fn contains(&self, place: Position) -> bool {
        (self.x..=self.x + self.width).contains(&place.x) && (self.y..=self.y + self.height).contains(&place.y)
    }

    /// The place so far along its width and its height, as shares of them.
    fn at(&self, along: f64, up: f64) -> Position {
        Position::on_ground(self.x + along * self.width, self.y + up * self.height)
    }
}
