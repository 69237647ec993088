//! `model = "two-ray-ground"`.

use hopcast_radio::propagation::{Propagation, TwoRayGround};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Model, antenna_height};
use crate::scenario::quantity::Length;

/// Free space up to the crossover distance, reflection from the ground beyond it.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Height of both antennas above the ground.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = antenna_height()))]
    antenna_height: Length,
}

impl Model for Keys {
    fn make(&self, frequency: f64) -> Box<dyn Propagation> {
        Box::new(TwoRayGround::new(frequency, self.antenna_height.0))
    }
}
