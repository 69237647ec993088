//! Positions sorted into squares.

use hopcast_radio::propagation::Position;

/// Finds what is near a place without a look at all that is not.
#[derive(Clone, Debug, Default)]
pub(super) struct Squares {
    /// Side of a square in metres.
    spacing: f64,
    /// By square, then number.
    members: Vec<Member>,
}

/// A place by its number, and the square in which it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    square: (i64, i64),
    number: u32,
}

impl Member {
    /// The number of the place.
    pub(super) const fn number(&self) -> u32 {
        self.number
    }
}

impl Squares {
    /// Numbers the places from zero and sorts them into squares with sides of `spacing` metres, between 1 m and 10⁹ m.
    pub(super) fn fill(&mut self, places: impl Iterator<Item = Position>, spacing: f64) {
        // A little longer, so that rounding can't lose a neighbour at the very edge.
        self.spacing = (spacing * (1.0 + 1e-9)).clamp(1.0, 1e9);
        self.members.clear();
        let spacing = self.spacing;
        self.members.extend(places.zip(0..).map(|(place, number)| Member { square: square(place, spacing), number }));
        self.members.sort_unstable();
    }

    /// All places that are no farther away than the spacing, and some that are, in ascending order.
    pub(super) fn near(&self, place: Position) -> impl Iterator<Item = &Member> {
        let (x, y) = square(place, self.spacing);
        let columns = [x.saturating_sub(1), x, x.saturating_add(1)];
        columns.into_iter().flat_map(move |x| {
            let (first, last) = ((x, y.saturating_sub(1)), (x, y.saturating_add(1)));
            let start = self.members.partition_point(|member| member.square < first);
            self.members[start..].iter().take_while(move |member| member.square <= last)
        })
    }

    /// All places, in groups of at most `most` that lie in one square: what is [near](Self::near) one of a group is near all.
    pub(super) fn together(&self, most: usize) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|one, other| one.square == other.square).flat_map(move |square| square.chunks(most))
    }
}

fn square(place: Position, spacing: f64) -> (i64, i64) {
    (libm::floor(place.x / spacing) as i64, libm::floor(place.y / spacing) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a look at all places; and few others come along: nine squares.
        #[test]
        fn all_that_is_near_is_found(
            places in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3), 1..60), spacing in 1.0f64..2e3, from in 0usize..60,
        ) {
            let places: Vec<Position> = places.into_iter().map(|(x, y)| Position::on_ground(x, y)).collect();
            let mut squares = Squares::default();
            squares.fill(places.iter().copied(), spacing);
            let here = places[from % places.len()];
            let mut found: Vec<u32> = squares.near(here).map(Member::number).collect();
            found.sort_unstable();
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "twice: {found:?}");
            for (&place, number) in places.iter().zip(0..) {
                let is_found = found.binary_search(&number).is_ok();
                prop_assert!(is_found || here.distance(place) > spacing);
                let far = 2.0 * spacing * 1.000_001;
                prop_assert!(!is_found || libm::fabs(here.x - place.x) <= far && libm::fabs(here.y - place.y) <= far);
            }
            let mut grouped = 0;
            for group in squares.together(3) {
                prop_assert!(group.len() <= 3);
                grouped += group.len();
                let mut near = group.iter().map(|member| squares.near(places[member.number() as usize]).collect::<Vec<_>>());
                let first = near.next();
                prop_assert!(near.all(|other| Some(other) == first), "a group shares what is near");
            }
            prop_assert_eq!(grouped, places.len());
        }
    }

    /// Two columns at the end of all numbers are one: no place is found twice there that anything could tell apart.
    #[test]
    fn places_beyond_all_numbers_are_no_panic() {
        let mut squares = Squares::default();
        let far = Position::on_ground(f64::INFINITY, f64::NAN);
        squares.fill([far, Position::default()].into_iter(), f64::INFINITY);
        assert!(squares.near(far).any(|member| member.number() == 0));
        assert!(squares.near(Position::default()).any(|member| member.number() == 1));
    }
}
