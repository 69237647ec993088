//! `model = "two-ray-interference"`.

use hopcast_radio::propagation::{self, Propagation, TwoRayInterference};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Model, antenna_height};
use crate::scenario::declare::is;
use crate::scenario::quantity::Length;

/// The sum of the direct ray and the ray that the ground reflects, with their phases: power rises and falls with
/// distance.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Height of both antennas above the ground.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5, "x-default" = antenna_height()))]
    antenna_height: Length,
    /// Relative permittivity of the ground.
    #[schemars(extend("minimum" = 1, "maximum" = 100, "x-default" = is(5.0, "dry ground and concrete at some GHz (ITU-R P.2040)")))]
    permittivity: f64,
    /// Direction of the electric field.
    #[schemars(extend("x-default" = is("vertical", "upright antennas")))]
    polarization: Polarization,
}

/// Direction of the electric field.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Polarization {
    /// Parallel to the ground.
    Horizontal,
    /// Perpendicular to the ground.
    Vertical,
}

alike!(Polarization, propagation::Polarization: Horizontal, Vertical);

impl Model for Keys {
    fn make(&self, frequency: f64) -> Box<dyn Propagation> {
        let Self { antenna_height, permittivity, polarization } = *self;
        Box::new(TwoRayInterference::new(frequency, antenna_height.0, permittivity, polarization.into()))
    }
}
