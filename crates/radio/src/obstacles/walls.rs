//! Walls: straight, vertical, and higher than any antenna.

use crate::propagation::Position;
use crate::units::Decibel;

/// A wall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// One end, x and y in metres.
    pub from: [f64; 2],
    /// The other.
    pub to: [f64; 2],
    /// What a signal loses that passes through it, in dB; not below 0.
    pub attenuation: f64,
}

/// The inside of a building: a rectangle whose sides are parallel to the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interior {
    /// Its least x and y, in metres.
    pub least: [f64; 2],
    /// Its greatest.
    pub most: [f64; 2],
    /// What a signal loses on each metre in it, in dB; not below 0.
    pub per_metre: f64,
}

/// All walls of a scenario, and what is between those of buildings.
///
/// A link loses the sum over the walls that its straight line crosses: the multi-wall model of the COST 231 final report (1999),
/// section 4.7.2, without its terms for floors. It also loses so much for each metre in a building: C. Sommer, D. Eckhoff, R. German and
/// F. Dressler, "A computationally inexpensive empirical model of IEEE 802.11p radio shadowing in urban environments", WONS 2011.
/// Heights do not count, and neither does diffraction around a wall's end.
#[derive(Clone, Debug, PartialEq)]
pub struct Walls {
    interiors: Vec<Interior>,
    walls: Vec<Wall>,
    /// The rectangle around each, by which most are ruled out.
    boxes: Vec<Box>,
}

/// The least and the greatest coordinates of a line, along x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Box {
    least: [f64; 2],
    most: [f64; 2],
}

impl Box {
    fn around(one: [f64; 2], other: [f64; 2]) -> Self {
        Self { least: [one[0].min(other[0]), one[1].min(other[1])], most: [one[0].max(other[0]), one[1].max(other[1])] }
    }

    fn touches(&self, other: &Self) -> bool {
        // Not one after the other, so that a processor compares all at once.
        (self.least[0] <= other.most[0])
            & (other.least[0] <= self.most[0])
            & (self.least[1] <= other.most[1])
            & (other.least[1] <= self.most[1])
    }
}

impl Walls {
    /// These walls, and the inside of these buildings.
    pub fn new(walls: Vec<Wall>, interiors: Vec<Interior>) -> Self {
        let boxes = walls.iter().map(|wall| Box::around(wall.from, wall.to)).collect();
        Self { interiors, walls, boxes }
    }

    /// What a link loses, in dB: the same in both directions.
    pub fn decibels(&self, from: Position, to: Position) -> f64 {
        let (from, to) = ([from.x, from.y], [to.x, to.y]);
        // Where the line only touches a wall, it must not matter which end comes first.
        let (from, to) = if from <= to { (from, to) } else { (to, from) };
        let line = Box::around(from, to);
        let near = self.walls.iter().zip(&self.boxes).filter(|(_, around)| around.touches(&line));
        let of_walls: f64 = near.filter(|(wall, _)| crosses(from, to, wall)).map(|(wall, _)| wall.attenuation).sum();
        let interiors = self.interiors.iter().filter(|interior| interior.around().touches(&line));
        let inside = interiors.map(|interior| interior.per_metre * interior.length(from, to));
        of_walls + inside.sum::<f64>()
    }

    /// Power received with walls divided by power without.
    pub fn gain(&self, from: Position, to: Position) -> f64 {
        match self.decibels(from, to) {
            0.0 => 1.0,
            decibels => Decibel(-decibels).as_ratio(),
        }
    }
}

impl Interior {
    fn around(&self) -> Box {
        Box { least: self.least, most: self.most }
    }

    /// Metres of a line inside.
    fn length(&self, from: [f64; 2], to: [f64; 2]) -> f64 {
        let way = [to[0] - from[0], to[1] - from[1]];
        // The part of the line, as shares of it, that is between both sides along each axis.
        let (mut begin, mut end) = (0.0_f64, 1.0_f64);
        for axis in 0..2 {
            let sides = [self.least[axis] - from[axis], self.most[axis] - from[axis]];
            if way[axis] == 0.0 {
                if sides[0] > 0.0 || sides[1] < 0.0 {
                    return 0.0;
                }
                continue;
            }
            let [near, far] = sides.map(|side| side / way[axis]);
            (begin, end) = (begin.max(near.min(far)), end.min(near.max(far)));
        }
        (end - begin).max(0.0) * libm::hypot(way[0], way[1])
    }
}

/// Whether the line between two points crosses a wall. A point on the line of the other counts to its left, so that a line through
/// the end that two walls share crosses one of them where they lead to different sides. A line along a wall does not cross it.
fn crosses(from: [f64; 2], to: [f64; 2], wall: &Wall) -> bool {
    is_left(from, to, wall.from) != is_left(from, to, wall.to)
        && is_left(wall.from, wall.to, from) != is_left(wall.from, wall.to, to)
}

/// Whether `point` is to the left of the way from one point to another, or on its line.
fn is_left(from: [f64; 2], to: [f64; 2], point: [f64; 2]) -> bool {
    (to[0] - from[0]) * (point[1] - from[1]) - (to[1] - from[1]) * (point[0] - from[0]) >= 0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wall(from: [f64; 2], to: [f64; 2], attenuation: f64) -> Wall {
        Wall { from, to, attenuation }
    }

    fn lost(walls: &[Wall], from: [f64; 2], to: [f64; 2]) -> f64 {
        let [from, to] = [from, to].map(|[x, y]| Position::on_ground(x, y));
        let walls = Walls::new(walls.to_vec(), Vec::new());
        assert_eq!(walls.decibels(from, to), walls.decibels(to, from));
        walls.decibels(from, to)
    }

    /// A house from (0, 0) to (10, 10) with an inner wall.
    fn house() -> Vec<Wall> {
        vec![
            wall([0.0, 0.0], [10.0, 0.0], 12.0),
            wall([10.0, 0.0], [10.0, 10.0], 12.0),
            wall([10.0, 10.0], [0.0, 10.0], 12.0),
            wall([0.0, 10.0], [0.0, 0.0], 12.0),
            wall([5.0, 0.0], [5.0, 10.0], 5.0),
        ]
    }

    #[test]
    fn a_link_loses_what_the_walls_on_its_way_take() {
        let house = house();
        for (from, to, expected) in [
            ([1.0, 1.0], [4.0, 9.0], 0.0),
            ([1.0, 1.0], [9.0, 9.0], 5.0),
            ([-1.0, 5.0], [1.0, 5.0], 12.0),
            ([-1.0, 5.0], [11.0, 5.0], 29.0),
            ([-1.0, -1.0], [-1.0, 11.0], 0.0),
            // Along the outside of a wall, and short of it.
            ([-5.0, 5.0], [-1e-9, 5.0], 0.0),
            ([2.0, -3.0], [8.0, -3.0], 0.0),
        ] {
            assert_eq!(lost(&house, from, to), expected, "{from:?} to {to:?}");
        }
    }

    /// Two walls that meet at (5, 5), one to the south, one to the north: a way through the joint crosses one of them. A link along a
    /// wall crosses none, and one between stations at one place neither.
    #[test]
    fn a_joint_counts_once_and_a_line_along_a_wall_not_at_all() {
        let pair = [wall([5.0, 0.0], [5.0, 5.0], 7.0), wall([5.0, 5.0], [5.0, 10.0], 7.0)];
        assert_eq!(lost(&pair, [0.0, 5.0], [10.0, 5.0]), 7.0);
        assert_eq!(lost(&pair, [0.0, 0.0], [10.0, 10.0]), 7.0);
        assert_eq!(lost(&pair, [5.0, -1.0], [5.0, 11.0]), 0.0);
        assert_eq!(lost(&pair, [5.0, 5.0], [5.0, 5.0]), 0.0);
    }

    /// By hand: the sides of the triangles that a line cuts off.
    #[test]
    fn metres_in_a_building_count() {
        let interior = Interior { least: [0.0, 0.0], most: [30.0, 40.0], per_metre: 0.4 };
        let walls = Walls::new(Vec::new(), vec![interior]);
        for (from, to, metres) in [
            ([-10.0, 20.0], [50.0, 20.0], 30.0),
            ([10.0, 10.0], [10.0, 35.0], 25.0),
            ([0.0, 0.0], [30.0, 40.0], 50.0),
            ([-30.0, -40.0], [60.0, 80.0], 50.0),
            ([-3.0, 0.0], [0.0, -4.0], 0.0),
            ([-3.0, 4.0], [3.0, -4.0], 0.0),
            ([-10.0, -1.0], [50.0, -1.0], 0.0),
            ([40.0, 0.0], [50.0, 30.0], 0.0),
            ([5.0, 5.0], [5.0, 5.0], 0.0),
        ] {
            let ends = [from, to].map(|[x, y]: [f64; 2]| Position::on_ground(x, y));
            assert!((walls.decibels(ends[0], ends[1]) - 0.4 * metres).abs() < 1e-9, "{from:?} to {to:?}");
            assert_eq!(walls.decibels(ends[0], ends[1]), walls.decibels(ends[1], ends[0]));
        }
    }

    /// The same by parameters: where both lines have a common point strictly between their ends.
    fn by_parameters(from: [f64; 2], to: [f64; 2], wall: &Wall) -> Option<bool> {
        let (d, e) = ([to[0] - from[0], to[1] - from[1]], [wall.to[0] - wall.from[0], wall.to[1] - wall.from[1]]);
        let determinant = d[0] * e[1] - d[1] * e[0];
        let offset = [wall.from[0] - from[0], wall.from[1] - from[1]];
        let along_line = (offset[0] * e[1] - offset[1] * e[0]) / determinant;
        let along_wall = (offset[0] * d[1] - offset[1] * d[0]) / determinant;
        let is_clear = |share: f64| share.is_finite() && share.abs() > 1e-9 && (share - 1.0).abs() > 1e-9;
        let is_inside = |share: f64| (0.0..1.0).contains(&share);
        (is_clear(along_line) && is_clear(along_wall)).then(|| is_inside(along_line) && is_inside(along_wall))
    }

    proptest! {
        #[test]
        fn a_crossing_is_where_both_lines_meet(ends in prop::array::uniform8(-100.0f64..100.0)) {
            let [a, b, c, d, e, f, g, h] = ends;
            let wall = wall([e, f], [g, h], 3.0);
            if let Some(expected) = by_parameters([a, b], [c, d], &wall) {
                prop_assert_eq!(lost(&[wall], [a, b], [c, d]) > 0.0, expected);
            }
        }

        #[test]
        fn one_more_wall_never_helps(
            walls in prop::collection::vec((prop::array::uniform4(-50.0f64..50.0), 0.0f64..20.0), 1..20),
            ends in prop::array::uniform4(-60.0f64..60.0),
        ) {
            let walls: Vec<Wall> = walls.into_iter().map(|([a, b, c, d], loss)| wall([a, b], [c, d], loss)).collect();
            let [a, b, c, d] = ends;
            let all = lost(&walls, [a, b], [c, d]);
            let fewer = lost(&walls[1..], [a, b], [c, d]);
            prop_assert!(all >= fewer);
            let each: f64 = walls.iter().map(|&wall| lost(&[wall], [a, b], [c, d])).sum();
            prop_assert!((all - each).abs() < 1e-9);
        }
    }
}
