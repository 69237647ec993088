//! `model = "free-space"`.

use hopcast_radio::propagation::{FreeSpace, Propagation};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Model;

/// Free space: Friis' equation.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {}

impl Model for Keys {
    fn make(&self, frequency: f64) -> Box<dyn Propagation> {
        Box::new(FreeSpace::new(frequency))
    }
}
