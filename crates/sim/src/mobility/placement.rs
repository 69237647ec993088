//! Positions of nodes at the start.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_radio::propagation::Position;

use super::Area;

/// Positions of the nodes of a group, in metres.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// In a line along the x axis.
    Line {
        /// Between neighbours.
        spacing: f64,
    },
    /// In a grid, row by row.
    Grid {
        /// Nodes in a row.
        columns: u32,
        /// Between neighbours, along both axes.
        spacing: f64,
    },
    /// Evenly spaced on a circle around the origin.
    Circle {
        /// From the origin.
        radius: f64,
    },
    /// At given points.
    Points(Vec<[f64; 2]>),
    /// Drawn uniformly for each seed.
    Uniform {
        /// Along x.
        width: f64,
        /// Along y.
        height: f64,
    },
}

/// The position of node `node` of `count` in the group with this index, in metres; that of placement `uniform` is drawn for
/// `seed`.
pub(crate) fn place(placement: &Placement, node: usize, count: usize, seed: u64, group: u64) -> Position {
    let number = node as f64;
    match placement {
        Placement::Line { spacing } => Position::on_ground(number * spacing, 0.0),
        Placement::Grid { columns, spacing } => {
            let columns = *columns as usize;
            Position::on_ground((node % columns) as f64 * spacing, (node / columns) as f64 * spacing)
        }
        Placement::Circle { radius } => {
            let angle = core::f64::consts::TAU * number / count as f64;
            Position::on_ground(radius * libm::cos(angle), radius * libm::sin(angle))
        }
        Placement::Points(points) => Position::on_ground(points[node][0], points[node][1]),
        Placement::Uniform { width, height } => {
            let mut stream = Stream::new(seed, Purpose::Placement, group, node as u64);
            Position::on_ground(stream.unit() * width, stream.unit() * height)
        }
    }
}

/// The rectangle around what a placement of `count` nodes covers: the circle, the rectangle of `uniform`, else the places
/// themselves. One or both of its sides may have no length.
pub(crate) fn bounds(placement: &Placement, count: usize) -> Area {
    let steps = |nodes: usize| nodes.saturating_sub(1) as f64;
    match placement {
        Placement::Line { spacing } => Area { x: 0.0, y: 0.0, width: spacing * steps(count), height: 0.0 },
        Placement::Grid { columns, spacing } => {
            let columns = *columns as usize;
            let (width, height) = (spacing * steps(columns.min(count)), spacing * steps(count.div_ceil(columns)));
            Area { x: 0.0, y: 0.0, width, height }
        }
        Placement::Circle { radius } => Area { x: -radius, y: -radius, width: 2.0 * radius, height: 2.0 * radius },
        Placement::Points(points) => {
            let [(x, width), (y, height)] = [0, 1].map(|axis| {
                let along = || points.iter().map(|point| point[axis]);
                let begin = along().fold(f64::INFINITY, f64::min);
                (begin, along().fold(f64::NEG_INFINITY, f64::max) - begin)
            });
            Area { x, y, width, height }
        }
        Placement::Uniform { width, height } => Area { x: 0.0, y: 0.0, width: *width, height: *height },
    }
}
