//! Obstacles between stations: walls, which stand still, people and vehicles that pass through a link, and slow changes of the
//! surroundings.
//!
//! Walls belong to places, and weaken the power that [`crate::propagation`] gives. The other two vary in time, the same in both
//! directions of a link and independently for each link; they are pure functions of seed, link and time, whatever is asked in between.

mod blockage;
mod drift;
mod per_link;
mod walls;

pub use blockage::{Blockage, Passages};
pub use drift::Drift;
pub use walls::{Interior, Wall, Walls};
