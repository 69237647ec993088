//! `model = "gauss-markov"`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::area::Rectangle;
use super::{Group, Model};
use crate::mobility::{GaussMarkov, MakeMoving, gauss_markov};
use crate::scenario::declare::{computed, is, nothing};
use crate::scenario::quantity::{Length, Speed, Time};

/// Movement whose speed and direction change a little with each step.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Mean speed.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
    speed: Speed,
    /// Standard deviation of the speed.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5, "x-default" = is("1 m/s", CAMP)))]
    speed_deviation: Speed,
    /// Mean direction at the start, in degrees counterclockwise from the x axis.
    #[schemars(extend("minimum" = -360, "maximum" = 360, "x-default" = nothing("any", "each node draws a direction")))]
    direction: Option<f64>,
    /// Standard deviation of the direction, in degrees.
    // One radian.
    #[schemars(extend("minimum" = 0, "maximum" = 360, "x-default" = is(180.0 / core::f64::consts::PI, CAMP)))]
    direction_deviation: f64,
    /// Memory: the share of speed and direction that remains from one step to the next.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(0.75, CAMP)))]
    alpha: f64,
    /// Time between two changes.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 1e6, "x-default" = is("1 s", CAMP)))]
    step: Time,
    /// Distance from an edge of the area below which the mean direction leads away from the edge.
    // Camp et al. name no distance.
    #[schemars(extend("minimum" = 0, "maximum" = 1e7, "x-default" = computed("a tenth of the area's shorter side")))]
    edge: Option<Length>,
    /// Area in which the nodes stay.
    #[schemars(extend("x-default" = computed("the rectangle around the placement")))]
    area: Option<Rectangle>,
}

/// Source of the deviations of speed and direction: both are 1.
const CAMP: &str = "Camp, Boleng and Davies 2002";

impl Model for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving> {
        let area = resolver.area(self.area, group);
        if self.area.is_some() {
            resolver.stand_inside(area, group);
        }
        let edge = resolver.ledger.pick(&["nodes", group.index, "mobility", "edge"], self.edge, || {
            (Length(0.1 * area.width.min(area.height)), "default: a tenth of the area's shorter side".into())
        });
        let config = gauss_markov::Config {
            area,
            alpha: self.alpha,
            speed: self.speed.0,
            speed_deviation: self.speed_deviation.0,
            direction: self.direction.map(f64::to_radians),
            direction_deviation: self.direction_deviation.to_radians(),
            step: self.step.into(),
            edge: edge.0,
        };
        Some(super::each(move |placed, stream| GaussMarkov::new(config, placed, stream)))
    }
}
