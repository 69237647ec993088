//! Areas in which nodes move: `nodes.mobility.area`.

use hopcast_radio::propagation::Position;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::Group;
use crate::mobility::{Area, Placement, bounds, place};
use crate::scenario::declare::is;
use crate::scenario::quantity::Length;

/// A rectangle in which the nodes move.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rectangle {
    /// Side of the rectangle along x.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    width: Length,
    /// Side of the rectangle along y.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
    height: Length,
    /// Smallest x coordinate.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7, "x-default" = is("0 m", "")))]
    x: Length,
    /// Smallest y coordinate.
    #[schemars(extend("minimum" = -1e7, "maximum" = 1e7, "x-default" = is("0 m", "")))]
    y: Length,
}

/// Placeholder for a wrong area, which has been reported.
const NOWHERE: Area = Area { x: 0.0, y: 0.0, width: 1.0, height: 1.0 };

impl Resolver<'_> {
    /// Area in which the nodes of a group stay.
    pub(super) fn area(&mut self, given: Option<Rectangle>, group: &Group<'_>) -> Area {
        if let Some(Rectangle { width, height, x, y }) = given {
            return Area { x: x.0, y: y.0, width: width.0, height: height.0 };
        }
        let path = ["nodes", group.index, "mobility", "area"];
        let area @ Area { x, y, width, height } = bounds(group.placement, group.names.len());
        if width <= 0.0 || height <= 0.0 {
            let side = if width <= 0.0 { "width" } else { "height" };
            let problem = format!("is missing: the rectangle around the placement has no {side}");
            self.report(&path, problem, "a table with width and height");
            return NOWHERE;
        }
        let size = format!("{} by {}", Length(width), Length(height));
        let value = match (x, y) {
            (0.0, 0.0) => size,
            _ => format!("{size} from ({}, {})", Length(x), Length(y)),
        };
        self.ledger.note(&path, &value, "default: area of the placement");
        area
    }

    /// Reports the first node that the placement puts outside a given area.
    pub(super) fn stand_inside(&mut self, area: Area, &Group { index, placement, names }: &Group<'_>) {
        let outside = |place: Position| !area.contains(place);
        let problem = match *placement {
            Placement::Uniform { width, height } => {
                let corners = [Position::default(), Position::on_ground(width, height)];
                corners.into_iter().any(outside).then(|| "does not contain the area of the placement".to_owned())
            }
            // As many places as nodes, or there is another error.
            Placement::Points(ref points) if points.len() != names.len() => None,
            _ => names.iter().enumerate().find_map(|(node, name)| {
                let place = place(placement, node, names.len(), 0, 0);
                outside(place).then(|| format!("does not contain {name} at ({}, {}) m", place.x, place.y))
            }),
        };
        if let Some(problem) = problem {
            self.report(&["nodes", index, "mobility", "area"], problem, "an area that contains all nodes of the group");
        }
    }
}
