//! What stands or passes between radios: `radio.obstacles`.

use hopcast_radio::obstacles::{Interior, Passages, Wall};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::{is, nothing};
use crate::scenario::model;
use crate::scenario::quantity::{Length, Level, LevelRange, Time};
use crate::scenario::read::Later;

/// Obstacles between nodes. They need a propagation model with power.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Obstacles {
    /// Straight walls. A link loses the attenuation of each wall that its straight line crosses; heights do not count.
    #[schemars(extend("minItems" = 0, "x-default" = is(EMPTY, "none")))]
    walls: Vec<WallKeys>,
    /// Rectangular buildings of four walls each.
    #[schemars(extend("minItems" = 0, "x-default" = is(EMPTY, "none")))]
    buildings: Vec<Building>,
    /// People or vehicles that pass through links, each link independently, and alike in both directions.
    #[schemars(extend("x-default" = nothing("none", "")))]
    blockage: Option<Later<Blockage>>,
    /// Slow changes of each link's power in time, the same in both directions: log-normal, with an exponential correlation.
    #[schemars(extend("x-default" = nothing("none", "")))]
    drift: Option<Later<Drift>>,
}

/// No element of a list.
const EMPTY: [u8; 0] = [];

/// A straight wall.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WallKeys {
    /// One end [x, y].
    #[schemars(extend("x-items" = { "minimum": -1e7, "maximum": 1e7 }))]
    from: [Length; 2],
    /// The other end [x, y].
    #[schemars(extend("x-items" = { "minimum": -1e7, "maximum": 1e7 }))]
    to: [Length; 2],
    /// Loss of a signal that passes through the wall.
    #[schemars(extend("minimum" = 0, "maximum" = 200))]
    attenuation: Level,
}

/// A rectangular building.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Building {
    /// Smallest x coordinate.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7))]
    x: Length,
    /// Smallest y coordinate.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7))]
    y: Length,
    /// Side along x.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    width: Length,
    /// Side along y.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    height: Length,
    /// Loss of a signal at each outer wall that it passes through.
    #[schemars(extend("minimum" = 0, "maximum" = 200))]
    attenuation: Level,
    /// Loss of a signal on each metre inside.
    #[schemars(extend("minimum" = 0, "maximum" = 100, "x-default" = is("0 dB", "walls alone")))]
    per_metre: Level,
}

/// People or vehicles that pass through links.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Blockage {
    /// Mean time from one start of a passage to the next. Starts are a Poisson process.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 1e9))]
    interval: Time,
    /// Mean duration of a passage.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 1e9))]
    duration: Time,
    /// Standard deviation of the natural logarithm of the duration, which is log-normal.
    #[schemars(extend("minimum" = 0, "maximum" = 3, "x-default" = is(0.0, "all last equally long")))]
    spread: f64,
    /// Loss during a passage, drawn uniformly between the two values. Losses of passages at the same time add up.
    #[schemars(extend("minimum" = 0, "maximum" = 200))]
    attenuation: LevelRange,
}

/// Slow changes of each link's power.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Drift {
    /// Standard deviation.
    #[schemars(extend("minimum" = 0, "maximum" = 40))]
    deviation: Level,
    /// Time over which the correlation falls to 1/e.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 1e9))]
    decorrelation_time: Time,
}

impl Resolver<'_> {
    /// `by_range`: signals have no power that obstacles could weaken.
    pub(super) fn obstacles(&mut self, given: Option<&Later<Obstacles>>, by_range: bool) -> model::Obstacles {
        let path = ["radio", "obstacles"];
        let Some(given) = given else { return model::Obstacles::default() };
        let keys = given.read(&mut self.ledger, &path);
        if by_range {
            let problem = "have no effect with propagation \"range\", which has no power";
            self.report(&path, problem, "another propagation model");
        }
        let walls = keys.walls.iter().map(WallKeys::wall);
        let walls = walls.chain(keys.buildings.iter().flat_map(Building::walls)).collect();
        let interiors = keys.buildings.iter().filter_map(Building::interior).collect();
        let blockage = keys.blockage.map(|keys| {
            let keys = keys.read(&mut self.ledger, &["radio", "obstacles", "blockage"]);
            let LevelRange(attenuation) = keys.attenuation;
            let attenuation = attenuation.map(|Level(decibels)| decibels);
            if attenuation[0] > attenuation[1] {
                let problem = "has the greater loss first";
                self.report(&["radio", "obstacles", "blockage", "attenuation"], problem, "[least, greatest]");
            }
            let (Time(interval), Time(duration)) = (keys.interval, keys.duration);
            // Each frame looks at all that are under way.
            if duration > MOST_AT_ONCE * interval {
                let problem =
                    format!("is more than {MOST_AT_ONCE} times the interval: as many would block a link at once");
                self.report(&["radio", "obstacles", "blockage", "duration"], problem, "a shorter one");
            }
            Passages { interval, duration, spread: keys.spread, attenuation }
        });
        let drift = keys.drift.map(|keys| {
            let keys = keys.read(&mut self.ledger, &["radio", "obstacles", "drift"]);
            model::Drift { deviation: keys.deviation.0, decorrelation: keys.decorrelation_time.0 }
        });
        model::Obstacles { walls, interiors, blockage, drift }
    }
}

/// Passages through a link at one time, on the average.
const MOST_AT_ONCE: f64 = 100.0;

impl WallKeys {
    fn wall(&self) -> Wall {
        let [from, to] = [self.from, self.to].map(|[x, y]| [x.0, y.0]);
        Wall { from, to, attenuation: self.attenuation.0 }
    }
}

impl Building {
    fn walls(&self) -> [Wall; 4] {
        let (left, bottom) = (self.x.0, self.y.0);
        let (right, top) = (left + self.width.0, bottom + self.height.0);
        let corners = [[left, bottom], [right, bottom], [right, top], [left, top]];
        [0, 1, 2, 3].map(|n| Wall { from: corners[n], to: corners[(n + 1) % 4], attenuation: self.attenuation.0 })
    }

    fn interior(&self) -> Option<Interior> {
        let least = [self.x.0, self.y.0];
        let most = [least[0] + self.width.0, least[1] + self.height.0];
        (self.per_metre.0 > 0.0).then_some(Interior { least, most, per_metre: self.per_metre.0 })
    }
}
