//! How nodes move.

use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;

use super::super::model;
use super::super::nearest;
use super::super::quantity::{Length, Speed, SpeedRange, Time, TimeRange};
use super::super::schema::{self, Mobility, Nodes, WaypointStart};
use super::super::traces::Traces;
use super::{Resolver, show, word};
use crate::mobility::{Area, bounds, gauss_markov, place, random_waypoint};

/// What Camp, Boleng and Davies take, who chose the deviations of speed and direction to be 1.
const ALPHA: f64 = 0.75;
const SPEED_DEVIATION: f64 = 1.0;
const DIRECTION_DEVIATION: f64 = 180.0 / core::f64::consts::PI;
const CAMP: &str = "default: Camp, Boleng and Davies 2002";

/// A share of the shorter side of the area: Camp et al. name no distance.
const EDGE: f64 = 0.1;

/// Stands for what is wrong, which is reported.
const NOWHERE: Area = Area { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };

impl Resolver<'_> {
    pub(super) fn mobility(
        &mut self,
        index: &str,
        group: &Nodes,
        role: model::Role,
        placement: &model::Placement,
        names: &[String],
    ) -> model::Mobility {
        let path = ["nodes", index, "mobility", "model"];
        let Some(mobility) = &group.mobility else {
            self.ledger.declared(&path, None, String::clone);
            return model::Mobility::Static;
        };
        self.ledger.note_given(&path);
        if role == model::Role::Wired && !matches!(mobility, Mobility::Static {}) {
            self.report(&path, "says nothing: a node of role wired has no radio", "another role");
        }
        match mobility {
            Mobility::Static {} => model::Mobility::Static,
            Mobility::RandomWaypoint { speed, pause, start, area } => {
                let kept_to = self.area(index, *area, placement, names.len());
                let config = self.random_waypoint(index, (*speed, *pause, *start), placement, kept_to);
                if area.is_some() && config.start == random_waypoint::Start::Classical {
                    self.stand_inside(index, placement, names, kept_to);
                }
                model::Mobility::RandomWaypoint(config)
            }
            Mobility::GaussMarkov { area, .. } => {
                let kept_to = self.area(index, *area, placement, names.len());
                if area.is_some() {
                    self.stand_inside(index, placement, names, kept_to);
                }
                self.gauss_markov(index, mobility, kept_to)
            }
            Mobility::Trace { file } => self.trace(index, file, names.len()),
            Mobility::Custom { name, parameters } => {
                self.custom_mobility(index, name, parameters.clone().unwrap_or_default())
            }
        }
    }

    fn random_waypoint(
        &mut self,
        index: &str,
        (speed, pause, start): (SpeedRange, Option<TimeRange>, Option<WaypointStart>),
        placement: &model::Placement,
        area: Area,
    ) -> random_waypoint::Config {
        let at = |key| ["nodes", index, "mobility", key];
        let is_uniform = matches!(placement, model::Placement::Uniform { .. });
        let SpeedRange([Speed(least), Speed(most)]) =
            self.ledger.pick(&at("speed"), Some(speed), show, || unreachable!("it is given"));
        if least > most {
            self.report(&at("speed"), "begins with the higher speed", "[lowest, highest]");
        }
        let TimeRange(pause) = self
            .ledger
            .pick(&at("pause"), pause, show, || (TimeRange([Time(0.0); 2]), "default: none, nodes never rest".into()));
        if pause[0].0 > pause[1].0 {
            self.report(&at("pause"), "begins with the longer pause", "[shortest, longest]");
        }
        if start == Some(WaypointStart::SteadyState) {
            if least == 0.0 {
                let problem = "has no steady state: the mean speed falls towards 0 for ever";
                self.report(&at("speed"), problem, "a lowest speed above 0 m/s, or start = \"classical\"");
            }
            if !is_uniform {
                let problem = "draws where the nodes are, which the placement says";
                self.report(&at("start"), problem, "placement shape = \"uniform\", or \"classical\"");
            }
        }
        let start = self.ledger.pick(&at("start"), start, word, || {
            let (start, reason) = match (is_uniform, least > 0.0) {
                (true, true) => (WaypointStart::SteadyState, "default: Navidi and Camp 2004"),
                (false, _) => (WaypointStart::Classical, "default: the placement says where the nodes are"),
                (true, false) => {
                    (WaypointStart::Classical, "default: with a lowest speed of 0 there is no steady state")
                }
            };
            (start, reason.into())
        });
        random_waypoint::Config {
            area,
            speed: [least, most],
            pause: pause.map(|pause| Duration::from_secs_f64(pause.0)),
            start: match start {
                WaypointStart::SteadyState => random_waypoint::Start::SteadyState,
                WaypointStart::Classical => random_waypoint::Start::Classical,
            },
        }
    }

    fn gauss_markov(&mut self, index: &str, mobility: &Mobility, area: Area) -> model::Mobility {
        let &Mobility::GaussMarkov {
            speed,
            speed_deviation,
            direction,
            direction_deviation,
            alpha,
            step,
            edge,
            area: _,
        } = mobility
        else {
            unreachable!("called for this model alone")
        };
        let at = |key| ["nodes", index, "mobility", key];
        let Speed(speed) = self.ledger.pick(&at("speed"), Some(speed), show, || unreachable!("it is given"));
        let Speed(speed_deviation) =
            self.ledger.pick(&at("speed_deviation"), speed_deviation, show, || (Speed(SPEED_DEVIATION), CAMP.into()));
        match direction {
            Some(_) => self.ledger.note_given(&at("direction")),
            None => self.ledger.note(&at("direction"), "any", "default: each node draws its own"),
        }
        let direction_deviation = self
            .ledger
            .pick(&at("direction_deviation"), direction_deviation, show, || (DIRECTION_DEVIATION, CAMP.into()));
        let alpha = self.ledger.pick(&at("alpha"), alpha, show, || (ALPHA, CAMP.into()));
        let Time(step) = self.ledger.pick(&at("step"), step, show, || (Time(1.0), CAMP.into()));
        let Length(edge) = self.ledger.pick(&at("edge"), edge, show, || {
            (Length(EDGE * area.width.min(area.height)), "default: a tenth of the area's shorter side".into())
        });
        model::Mobility::GaussMarkov(gauss_markov::Config {
            area,
            alpha,
            speed,
            speed_deviation,
            direction: direction.map(f64::to_radians),
            direction_deviation: direction_deviation.to_radians(),
            step: Duration::from_secs_f64(step),
            edge,
        })
    }

    fn trace(&mut self, index: &str, file: &str, count: usize) -> model::Mobility {
        let path = ["nodes", index, "mobility", "file"];
        self.ledger.note_given(&path);
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

    /// A model of the user's program; none where there is none of this name, which is reported.
    fn custom_mobility(
        &mut self,
        index: &str,
        name: &str,
        parameters: serde_json::Map<String, serde_json::Value>,
    ) -> model::Mobility {
        let at = |key| ["nodes", index, "mobility", key];
        self.ledger.note_given(&at("name"));
        self.ledger.note_given(&at("parameters"));
        match self.source.registry.mobility(name, parameters) {
            Some(Ok(make)) => return model::Mobility::Custom(model::CustomMobility { name: name.to_owned(), make }),
            Some(Err(problem)) => self.report(&at("parameters"), problem, ""),
            None => {
                let known: Vec<&str> = self.source.registry.mobility_names().collect();
                let expected = match known.as_slice() {
                    [] => "a model that this program was built with: it has none".to_owned(),
                    _ => format!("one of {}", known.join(", ")),
                };
                let problem = format!("there is no mobility model of this name{}", nearest::hint(name, &known));
                self.report(&at("name"), problem, expected);
            }
        }
        model::Mobility::Static
    }

    /// Where `count` nodes stay.
    fn area(&mut self, index: &str, area: Option<schema::Area>, placement: &model::Placement, count: usize) -> Area {
        let path = ["nodes", index, "mobility", "area"];
        if let Some(schema::Area { width, height, x, y }) = area {
            self.ledger.note_given(&path);
            let [x, y] = [x, y].map(|begin| begin.map_or(0.0, |begin| begin.0));
            return Area { x, y, width: width.0, height: height.0 };
        }
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
