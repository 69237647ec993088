//! Where the nodes of a group stand: `nodes.placement`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::quantity::Length;
use super::Resolver;
use crate::mobility::{self, Area, bounds};

/// Largest distance between two ends of a placement, in metres.
const MAX_EXTENT: f64 = 1e7;

/// Positions of the nodes of a group.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "shape", deny_unknown_fields)]
pub(super) enum Placement {
    /// In a line along the x axis, from the origin.
    Line {
        /// Distance between neighbours.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        spacing: Length,
    },
    /// In a grid, row by row from the origin.
    Grid {
        /// Number of nodes in a row.
        #[schemars(extend("minimum" = 1, "maximum" = 10_000))]
        columns: u32,
        /// Distance between neighbours, along both axes.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        spacing: Length,
    },
    /// Evenly spaced on a circle around the origin.
    Circle {
        /// Distance from the origin.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        radius: Length,
    },
    /// At the given points.
    Points {
        /// One position [x, y] for each node.
        #[schemars(extend("minItems" = 1, "x-items" = { "minimum": -1e7, "maximum": 1e7 }))]
        at: Vec<[Length; 2]>,
    },
    /// Drawn for each seed, uniformly in a rectangle with a corner at the origin.
    Uniform {
        /// Side of the rectangle along x.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        width: Length,
        /// Side of the rectangle along y.
        #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e7))]
        height: Length,
    },
}

impl Resolver<'_> {
    pub(super) fn placement(&mut self, index: &str, placement: Placement, count: usize) -> mobility::Placement {
        let placed = match placement {
            Placement::Line { spacing } => mobility::Placement::Line { spacing: spacing.0 },
            Placement::Grid { columns, spacing } => mobility::Placement::Grid { columns, spacing: spacing.0 },
            Placement::Circle { radius } => mobility::Placement::Circle { radius: radius.0 },
            Placement::Points { at } => {
                if at.len() != count {
                    let nodes = if count == 1 { "1 node".into() } else { format!("{count} nodes") };
                    let problem = match at.len() {
                        1 => format!("has 1 position for {nodes}"),
                        positions => format!("has {positions} positions for {nodes}"),
                    };
                    self.report(&["nodes", index, "placement", "at"], problem, format!("{count} positions"));
                }
                mobility::Placement::Points(at.iter().map(|[x, y]| [x.0, y.0]).collect())
            }
            Placement::Uniform { width, height } => mobility::Placement::Uniform { width: width.0, height: height.0 },
        };
        let has_spacing = matches!(placed, mobility::Placement::Line { .. } | mobility::Placement::Grid { .. });
        let Area { width, height, .. } = bounds(&placed, count);
        let extent = width.max(height);
        if has_spacing && extent > MAX_EXTENT {
            let problem = format!("the two ends of the placement would be {} apart", Length(extent));
            let expected = format!("at most {} in all", Length(MAX_EXTENT));
            self.report(&["nodes", index, "placement", "spacing"], problem, expected);
        }
        placed
    }
}
