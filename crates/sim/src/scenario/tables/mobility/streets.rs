//! `model = "streets"`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::area::Rectangle;
use super::{Group, Model};
use crate::mobility::{Area, MakeMoving, Placement, Streets, place, streets};
use crate::scenario::declare::{computed, is};
use crate::scenario::quantity::{Length, SpeedRange, TimeRange};

/// Movement along a grid of streets. At each crossing a node goes straight on or turns, and draws another speed. With placement
/// `uniform` nodes begin as after a long time, anywhere on the streets; with other placements at their places.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Distance between streets along x and along y.
    #[schemars(extend("x-items" = { "exclusiveMinimum": 0, "maximum": 1e7 }))]
    block: [Length; 2],
    /// Speed along a block, drawn uniformly between the two values.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e5))]
    speed: SpeedRange,
    /// Probability of a turn at a crossing, to either side alike.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(0.5, "ETSI TR 101 112, annex B.1.4.2")))]
    turn: f64,
    /// Probability of a pause at a crossing.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(0.0, "nodes never rest")))]
    stop: f64,
    /// A pause at a crossing, drawn uniformly between the two values.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "")))]
    pause: TimeRange,
    /// Area of the streets, of which the outermost lie on its edges: a whole number of blocks along either side.
    #[schemars(extend("x-default" = computed("the rectangle around the placement")))]
    area: Option<Rectangle>,
}

/// Most blocks along a side.
const MOST_BLOCKS: f64 = 10_000.0;

impl Model for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving> {
        let at = |key| ["nodes", group.index, "mobility", key];
        let area = resolver.area(self.area, group);
        let (SpeedRange([slowest, fastest]), TimeRange([shortest, longest])) = (self.speed, self.pause);
        if slowest.0 > fastest.0 {
            resolver.report(&at("speed"), "has the higher speed first", "[lowest, highest]");
        }
        if shortest.0 > longest.0 {
            resolver.report(&at("pause"), "has the longer pause first", "[shortest, longest]");
        }
        if self.stop > 0.0 && longest.0 == 0.0 {
            resolver.report(&at("stop"), "has no effect: a pause takes no time", "a longer pause");
        }
        if self.stop == 0.0 && longest.0 > 0.0 {
            resolver.report(&at("pause"), "has no effect: nodes never stop at crossings", "stop above 0");
        }
        let blocks = [("width", area.width, self.block[0]), ("height", area.height, self.block[1])]
            .map(|(side, length, Length(block))| blocks(resolver, &at("block"), (side, length), block));
        let [Some(columns), Some(rows)] = blocks else { return None };
        let config = streets::Config {
            area,
            blocks: [columns, rows],
            speed: [slowest.0, fastest.0],
            turn: self.turn,
            stop: self.stop,
            pause: [shortest.into(), longest.into()],
        };
        if matches!(group.placement, Placement::Uniform { .. }) {
            return Some(super::each(move |_, stream| Streets::steady(config, stream)));
        }
        stand_on_streets(resolver, config, group)?;
        Some(super::each(move |placed, stream| Streets::at(config, placed, stream)))
    }
}

/// Number of blocks along a side.
fn blocks(resolver: &mut Resolver<'_>, path: &[&str], (side, length): (&str, f64), block: f64) -> Option<u32> {
    let blocks = libm::round(length / block);
    let problem = if blocks > MOST_BLOCKS {
        format!("makes {blocks} blocks along the {side} of the area")
    } else if blocks < 1.0 || libm::fabs(blocks * block - length) > 1e-9 * length {
        format!("does not divide the {side} of the area, {}", Length(length))
    } else {
        return Some(blocks as u32);
    };
    resolver.report(path, problem, format!("a whole number of blocks, at most {MOST_BLOCKS}"));
    None
}

/// Reports the first node that does not begin on a street.
fn stand_on_streets(resolver: &mut Resolver<'_>, config: streets::Config, group: &Group<'_>) -> Option<()> {
    let Group { index, placement, names } = *group;
    // As many places as nodes, or there is another error.
    if matches!(placement, Placement::Points(points) if points.len() != names.len()) {
        return None;
    }
    let astray = names.iter().enumerate().find_map(|(node, name)| {
        let place = place(placement, node, names.len(), 0, 0);
        (!config.has(place)).then(|| format!("{name} at ({}, {}) m is on no street", place.x, place.y))
    });
    let Some(problem) = astray else { return Some(()) };
    let Area { x, y, .. } = config.area;
    let expected =
        format!("places on streets, which lie at whole blocks from ({x}, {y}) m, or placement shape = \"uniform\"");
    resolver.report(&["nodes", index, "mobility", "block"], problem, expected);
    None
}
