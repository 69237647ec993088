//! Where nodes stand at the start.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_radio::propagation::Position;

use crate::scenario::model::Placement;

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
