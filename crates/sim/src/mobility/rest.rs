//! No motion.

use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;

use super::{Leg, Mobility};

/// A node that does not move.
#[derive(Clone, Copy, Debug)]
pub struct Rest(pub Position);

impl Mobility for Rest {
    fn next_leg(&mut self) -> Leg {
        Leg::rest(self.0, Duration::MAX)
    }
}
