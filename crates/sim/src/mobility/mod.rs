//! Movement of nodes.
//!
//! A node's path is a sequence of legs, each straight and at constant speed, or at rest. A model ([`Mobility`]) draws
//! them one after the other from a separate stream, so that a path is a function of scenario, seed and node, whatever
//! else happens in the run. [`Motion`] computes positions on demand; there are no periodic events.

pub mod gauss_markov;
mod motion;
mod placement;
pub mod random_waypoint;
mod rest;
#[cfg(test)]
mod statistics;
pub mod streets;
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
pub use streets::Streets;
pub use trace::Movement;

/// A model of the path of one node.
pub trait Mobility: fmt::Debug + Send {
    /// The next leg: it begins when and where the one before has ended; the first, at the start of the run.
    ///
    /// hopcast asks for each leg once, shortly before it begins. A node at rest returns a leg to its current position, of
    /// [`Duration::MAX`] if it stays for ever.
    fn next_leg(&mut self) -> Leg;
}

/// A model of mobility, with its parameters.
#[derive(Clone)]
pub struct Moving {
    /// Makes the model of a node from its number in the group, its position, and a stream of random numbers.
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

/// A straight part of a path, at constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Start of the leg.
    pub from: Position,
    /// End of the leg.
    pub to: Position,
    /// Duration; zero counts as a nanosecond.
    pub duration: Duration,
}

impl Leg {
    /// A rest at one position.
    pub const fn rest(place: Position, duration: Duration) -> Self {
        Self { from: place, to: place, duration }
    }

    /// A trip from one position to another at a speed in m/s; with speed 0, the node stays for ever.
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
    /// Whether a position is inside or on an edge.
    pub fn contains(&self, place: Position) -> bool {
        (self.x..=self.x + self.width).contains(&place.x) && (self.y..=self.y + self.height).contains(&place.y)
    }

    /// The place so far along its width and its height, as shares of them.
    fn at(&self, along: f64, up: f64) -> Position {
        Position::on_ground(self.x + along * self.width, self.y + up * self.height)
    }
}
