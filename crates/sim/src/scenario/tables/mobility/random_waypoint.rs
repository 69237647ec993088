//! `model = "random-waypoint"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::area::Rectangle;
use super::{Group, Model};
use crate::mobility::{MakeMoving, Placement, RandomWaypoint, random_waypoint};
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{Speed, SpeedRange, TimeRange};

/// Straight trips between places that a node draws uniformly in the area, with a pause after each trip.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Speed of a trip, drawn uniformly between the two values.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
    speed: SpeedRange,
    /// Pause between two trips, drawn uniformly between the two values.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "nodes never rest")))]
    pause: TimeRange,
    /// State of the nodes at the start.
    #[schemars(extend("x-default" = computed("`steady-state` with placement `uniform` and a lowest speed above 0; else `classical`")))]
    start: Option<Start>,
    /// Area in which the places lie.
    #[schemars(extend("x-default" = computed("the rectangle around the placement")))]
    area: Option<Rectangle>,
}

/// State of the nodes at the start.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Start {
    /// As after a long time: hopcast draws places, speeds and pauses from the stationary distribution.
    SteadyState,
    /// At the placement, with a pause. Over time the mean speed falls, and nodes gather in the middle.
    Classical,
}

alike!(Start, random_waypoint::Start: SteadyState, Classical);

impl Model for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving> {
        let area = resolver.area(self.area, group);
        let start = self.start(resolver, group);
        if self.area.is_some() && start == Start::Classical {
            resolver.stand_inside(area, group);
        }
        let (SpeedRange(speed), TimeRange(pause)) = (self.speed, self.pause);
        let (speed, pause) = (speed.map(|speed| speed.0), pause.map(Into::into));
        let config = random_waypoint::Config { area, speed, pause, start: start.into() };
        Some(super::each(move |placed, stream| RandomWaypoint::new(config, placed, stream)))
    }
}

impl Keys {
    /// The state at the start. Reports speeds and pauses that are wrong or do not fit it.
    fn start(&self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Start {
        let at = |key| ["nodes", group.index, "mobility", key];
        let is_uniform = matches!(group.placement, Placement::Uniform { .. });
        let SpeedRange([Speed(least), Speed(most)]) = self.speed;
        if least > most {
            resolver.report(&at("speed"), "has the higher speed first", "[lowest, highest]");
        }
        let TimeRange([shortest, longest]) = self.pause;
        if shortest.0 > longest.0 {
            resolver.report(&at("pause"), "has the longer pause first", "[shortest, longest]");
        }
        if self.start == Some(Start::SteadyState) {
            if least == 0.0 {
                let problem =
                    "has no steady state: with a lowest speed of 0 m/s the mean speed keeps falling towards 0";
                resolver.report(&at("speed"), problem, "a lowest speed above 0 m/s, or start = \"classical\"");
            }
            if !is_uniform {
                let problem = "draws the nodes' positions, but the placement fixes them";
                resolver.report(&at("start"), problem, "placement shape = \"uniform\", or \"classical\"");
            }
        }
        resolver.ledger.pick(&at("start"), self.start, || {
            let (start, reason) = match (is_uniform, least > 0.0) {
                (true, true) => (Start::SteadyState, "default: Navidi and Camp 2004"),
                (false, _) => (Start::Classical, "default: the placement fixes the positions"),
                (true, false) => (Start::Classical, "default: with a lowest speed of 0 there is no steady state"),
            };
            (start, reason.into())
        })
    }
}
