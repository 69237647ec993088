//! `model = "random-waypoint"`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::area::Rectangle;
use super::{Group, Model};
use crate::mobility::{MakeMoving, Placement, RandomWaypoint, random_waypoint};
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{Speed, SpeedRange, TimeRange};

/// Straight from one place to the next, each drawn evenly in the area, with a pause between two trips.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Of a trip: drawn evenly between the two.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
    speed: SpeedRange,
    /// Between two trips: drawn evenly between the two.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "none, nodes never rest")))]
    pause: TimeRange,
    /// What the nodes do at the start.
    #[schemars(extend("x-default" = computed("`steady-state` with placement `uniform` and a least speed above 0; else `classical`")))]
    start: Option<Start>,
    /// Where the places lie.
    #[schemars(extend("x-default" = computed("the rectangle around the placement")))]
    area: Option<Rectangle>,
}

/// How random waypoint starts.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Start {
    /// As after a long time: places, speeds and pauses are drawn from the stationary distribution.
    SteadyState,
    /// Where the nodes were placed, with a pause: they then slow down, and gather in the middle.
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
    /// How it starts; speeds and pauses that are wrong, or don't go with it, are reported.
    fn start(&self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Start {
        let at = |key| ["nodes", group.index, "mobility", key];
        let is_uniform = matches!(group.placement, Placement::Uniform { .. });
        let SpeedRange([Speed(least), Speed(most)]) = self.speed;
        if least > most {
            resolver.report(&at("speed"), "begins with the higher speed", "[lowest, highest]");
        }
        let TimeRange([shortest, longest]) = self.pause;
        if shortest.0 > longest.0 {
            resolver.report(&at("pause"), "begins with the longer pause", "[shortest, longest]");
        }
        if self.start == Some(Start::SteadyState) {
            if least == 0.0 {
                let problem = "has no steady state: the mean speed falls towards 0 for ever";
                resolver.report(&at("speed"), problem, "a lowest speed above 0 m/s, or start = \"classical\"");
            }
            if !is_uniform {
                let problem = "draws where the nodes are, which the placement says";
                resolver.report(&at("start"), problem, "placement shape = \"uniform\", or \"classical\"");
            }
        }
        resolver.ledger.pick(&at("start"), self.start, || {
            let (start, reason) = match (is_uniform, least > 0.0) {
                (true, true) => (Start::SteadyState, "default: Navidi and Camp 2004"),
                (false, _) => (Start::Classical, "default: the placement says where the nodes are"),
                (true, false) => (Start::Classical, "default: with a lowest speed of 0 there is no steady state"),
            };
            (start, reason.into())
        })
    }
}
