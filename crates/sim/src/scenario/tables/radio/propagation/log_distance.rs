//! `model = "log-distance"`.

use hopcast_radio::propagation::{LogDistance, Propagation};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Model;
use crate::scenario::declare::is;
use crate::scenario::quantity::Length;

/// Received power falls with a power of the distance.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Exponent of the distance: 2 in free space, about 3 to 5 inside buildings.
    #[schemars(extend("minimum" = 0, "maximum" = 20))]
    exponent: f64,
    /// Distance up to which power falls as in free space.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = is(Length(LogDistance::DEFAULT_REFERENCE_DISTANCE), "ns-2 (Propagation/Shadowing dist0_ 1.0) and ns-3")))]
    reference_distance: Length,
}

impl Model for Keys {
    fn make(&self, frequency: f64) -> Box<dyn Propagation> {
        Box::new(LogDistance::new(frequency, self.exponent, self.reference_distance.0))
    }
}
