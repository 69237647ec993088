//! How the nodes of a group move: `nodes.mobility`.

use hopcast_radio::propagation::Position;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::declare::{computed, is, nothing};
use super::super::model;
use super::super::quantity::{Length, Speed, SpeedRange, Time, TimeRange};
use super::super::traces::Traces;
use super::Resolver;
use super::custom::Custom;
use crate::mobility::{Area, bounds, gauss_markov, place, random_waypoint};

/// How nodes move.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "model", deny_unknown_fields)]
pub(super) enum Mobility {
    /// Not at all.
    Static {},
    /// Straight from one place to the next, each drawn evenly in the area, with a pause between two trips.
    RandomWaypoint(RandomWaypoint),
    /// Speed and direction that change a little with each step.
    GaussMarkov(GaussMarkov),
    /// As a file says: of ns-2 (`setdest`) or of BonnMotion (`.movements`). It also says where they start.
    Trace {
        /// A file beside the scenario, or in one of the trace directories. Its nodes, in the order of their numbers or lines, are
        /// those of the group; what it has beyond them is left out.
        file: String,
    },
    /// A model that a program has added to hopcast.
    Custom(Custom),
}

/// Parameters of random waypoint.
#[derive(Deserialize, JsonSchema)]
pub(super) struct RandomWaypoint {
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

/// Parameters of Gauss–Markov.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GaussMarkov {
    /// Mean speed.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5))]
    speed: Speed,
    /// Standard deviation of the speed.
    #[schemars(extend("minimum" = 0, "maximum" = 1e5, "x-default" = is("1 m/s", CAMP)))]
    speed_deviation: Speed,
    /// Mean direction at the start, in degrees counterclockwise from the x axis.
    #[schemars(extend("minimum" = -360, "maximum" = 360, "x-default" = nothing("any", "each node draws its own")))]
    direction: Option<f64>,
    /// Standard deviation of the direction, in degrees.
    // One radian.
    #[schemars(extend("minimum" = 0, "maximum" = 360, "x-default" = is(180.0 / core::f64::consts::PI, CAMP)))]
    direction_deviation: f64,
    /// Memory: how much of speed and direction stays from one step to the next.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(0.75, CAMP)))]
    alpha: f64,
    /// Time between two changes.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 1e6, "x-default" = is("1 s", CAMP)))]
    step: Time,
    /// So near an edge of the area the mean direction leads away from it.
    // Camp et al. name no distance.
    #[schemars(extend("minimum" = 0, "maximum" = 1e7, "x-default" = computed("a tenth of the area's shorter side")))]
    edge: Option<Length>,
    /// Where the nodes stay.
    #[schemars(extend("x-default" = computed("the rectangle around the placement")))]
    area: Option<Rectangle>,
}

/// Who chose the deviations of speed and direction to be 1.
const CAMP: &str = "Camp, Boleng and Davies 2002";

/// A rectangle.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rectangle {
    /// Along x.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    width: Length,
    /// Along y.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    height: Length,
    /// Where it begins along x.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7, "x-default" = is("0 m", "")))]
    x: Length,
    /// Where it begins along y.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7, "x-default" = is("0 m", "")))]
    y: Length,
}

/// Stands for what is wrong, which is reported.
const NOWHERE: Area = Area { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };

impl Resolver<'_> {
    pub(super) fn mobility(
        &mut self,
        index: &str,
        mobility: &Mobility,
        role: model::Role,
        placement: &model::Placement,
        names: &[String],
    ) -> model::Mobility {
        let path = ["nodes", index, "mobility"];
        if role == model::Role::Wired && !matches!(mobility, Mobility::Static {}) {
            let problem = "says nothing: a node of role wired has no radio";
            self.report(&["nodes", index, "mobility", "model"], problem, "another role");
        }
        match mobility {
            Mobility::Static {} => model::Mobility::Static,
            Mobility::RandomWaypoint(keys) => {
                let area = self.area(index, keys.area, placement, names.len());
                let config = self.random_waypoint(index, keys, placement, area);
                if keys.area.is_some() && config.start == random_waypoint::Start::Classical {
                    self.stand_inside(index, placement, names, area);
                }
                model::Mobility::RandomWaypoint(config)
            }
            Mobility::GaussMarkov(keys) => {
                let area = self.area(index, keys.area, placement, names.len());
                if keys.area.is_some() {
                    self.stand_inside(index, placement, names, area);
                }
                model::Mobility::GaussMarkov(self.gauss_markov(index, keys, area))
            }
            Mobility::Trace { file } => self.trace(index, file, names.len()),
            Mobility::Custom(custom) => {
                let registry = &self.source.registry;
                let found = registry.mobility(&custom.name, custom.parameters());
                let known: Vec<&str> = registry.mobility_names().collect();
                match self.custom(&path, "mobility model", custom, found, &known) {
                    Some(make) => model::Mobility::Custom(model::CustomMobility { name: custom.name.clone(), make }),
                    None => model::Mobility::Static,
                }
            }
        }
    }

    fn random_waypoint(
        &mut self,
        index: &str,
        keys: &RandomWaypoint,
        placement: &model::Placement,
        area: Area,
    ) -> random_waypoint::Config {
        let at = |key| ["nodes", index, "mobility", key];
        let is_uniform = matches!(placement, model::Placement::Uniform { .. });
        let SpeedRange([Speed(least), Speed(most)]) = keys.speed;
        if least > most {
            self.report(&at("speed"), "begins with the higher speed", "[lowest, highest]");
        }
        let TimeRange(pause) = keys.pause;
        if pause[0].0 > pause[1].0 {
            self.report(&at("pause"), "begins with the longer pause", "[shortest, longest]");
        }
        if keys.start == Some(Start::SteadyState) {
            if least == 0.0 {
                let problem = "has no steady state: the mean speed falls towards 0 for ever";
                self.report(&at("speed"), problem, "a lowest speed above 0 m/s, or start = \"classical\"");
            }
            if !is_uniform {
                let problem = "draws where the nodes are, which the placement says";
                self.report(&at("start"), problem, "placement shape = \"uniform\", or \"classical\"");
            }
        }
        let start = self.ledger.pick(&at("start"), keys.start, || {
            let (start, reason) = match (is_uniform, least > 0.0) {
                (true, true) => (Start::SteadyState, "default: Navidi and Camp 2004"),
                (false, _) => (Start::Classical, "default: the placement says where the nodes are"),
                (true, false) => (Start::Classical, "default: with a lowest speed of 0 there is no steady state"),
            };
            (start, reason.into())
        });
        random_waypoint::Config {
            area,
            speed: [least, most],
            pause: pause.map(Into::into),
            start: match start {
                Start::SteadyState => random_waypoint::Start::SteadyState,
                Start::Classical => random_waypoint::Start::Classical,
            },
        }
    }

    fn gauss_markov(&mut self, index: &str, keys: &GaussMarkov, area: Area) -> gauss_markov::Config {
        let edge = self.ledger.pick(&["nodes", index, "mobility", "edge"], keys.edge, || {
            (Length(0.1 * area.width.min(area.height)), "default: a tenth of the area's shorter side".into())
        });
        gauss_markov::Config {
            area,
            alpha: keys.alpha,
            speed: keys.speed.0,
            speed_deviation: keys.speed_deviation.0,
            direction: keys.direction.map(f64::to_radians),
            direction_deviation: keys.direction_deviation.to_radians(),
            step: keys.step.into(),
            edge: edge.0,
        }
    }

    fn trace(&mut self, index: &str, file: &str, count: usize) -> model::Mobility {
        let path = ["nodes", index, "mobility", "file"];
        let movements = match Traces::new(self.source).movements(file) {
            Ok(movements) => movements,
            Err((problem, expected)) => {
                self.report(&path, problem, expected);
                return model::Mobility::Static;
            }
        };
        if movements.len() < count {
            let problem = format!("moves {} nodes, but there are {count}", movements.len());
            self.report(&path, problem, format!("at least {count}"));
        }
        model::Mobility::Trace(movements.into_iter().take(count).collect())
    }

    /// Where `count` nodes stay.
    fn area(&mut self, index: &str, given: Option<Rectangle>, placement: &model::Placement, count: usize) -> Area {
        if let Some(Rectangle { width, height, x, y }) = given {
            return Area { x: x.0, y: y.0, width: width.0, height: height.0 };
        }
        let path = ["nodes", index, "mobility", "area"];
        let area @ Area { x, y, width, height } = bounds(placement, count);
        if width <= 0.0 || height <= 0.0 {
            let side = if width <= 0.0 { "width" } else { "height" };
            let problem = format!("is missing: the rectangle around the placement has no {side}");
            self.report(&path, problem, "a table with width, height");
            return NOWHERE;
        }
        let size = format!("{} by {}", Length(width), Length(height));
        let value = match (x, y) {
            (0.0, 0.0) => size,
            _ => format!("{size} from ({}, {})", Length(x), Length(y)),
        };
        self.ledger.note(&path, &value, "default: that of the placement");
        area
    }

    /// Reports the first node that the placement puts outside an area of its own.
    fn stand_inside(&mut self, index: &str, placement: &model::Placement, names: &[String], area: Area) {
        let outside = |place: Position| !area.contains(place);
        let problem = match *placement {
            model::Placement::Uniform { width, height } => {
                let corners = [Position::default(), Position::on_ground(width, height)];
                corners.into_iter().any(outside).then(|| "does not contain that of the placement".to_owned())
            }
            // As many places as nodes, or there is another error.
            model::Placement::Points(ref points) if points.len() != names.len() => None,
            _ => names.iter().enumerate().find_map(|(node, name)| {
                let place = place(placement, node, names.len(), 0, 0);
                outside(place).then(|| format!("does not contain {name}, which stands at ({}, {}) m", place.x, place.y))
            }),
        };
        if let Some(problem) = problem {
            self.report(&["nodes", index, "mobility", "area"], problem, "an area in which the nodes stand");
        }
    }
}
