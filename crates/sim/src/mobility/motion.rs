//! Positions of all nodes of a run, at any instant that is not before one already asked for.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::propagation::Position;

use super::{Leg, Mobility, Rest};
use crate::id::NodeId;

/// The most legs that are drawn ahead for a node, so that memory has a bound however short legs are.
const AHEAD: usize = 64;

/// The paths of all nodes, evaluated on demand. Two of the same scenario and seed agree.
#[derive(Debug)]
pub struct Motion {
    /// By node: the leg that it is on. It is looked up often, hence apart from the rest.
    stretches: Vec<Stretch>,
    courses: Vec<Course>,
    moves: bool,
}

/// A leg in time. It fills a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Stretch {
    start: Instant,
    end: Instant,
    from: Position,
    to: Position,
}

/// What comes after a node's leg.
#[derive(Debug)]
struct Course {
    /// Legs that were drawn ahead.
    ahead: VecDeque<Leg>,
    model: Box<dyn Mobility>,
}

impl Motion {
    /// Nodes at rest at these positions.
    pub(crate) fn at_rest(places: impl IntoIterator<Item = Position>) -> Self {
        let models = places.into_iter().map(|place| -> Box<dyn Mobility> { Box::new(Rest(place)) });
        Self { moves: false, ..Self::of(models.collect()) }
    }

    /// Nodes with these models.
    pub fn of(models: Vec<Box<dyn Mobility>>) -> Self {
        let mut stretches = Vec::with_capacity(models.len());
        let mut courses = Vec::with_capacity(models.len());
        for mut model in models {
            stretches.push(Stretch::new(model.next_leg(), Instant::START));
            courses.push(Course { ahead: VecDeque::new(), model });
        }
        Self { stretches, courses, moves: true }
    }

    /// Whether any node can move.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Position of a node at `now`, which must not be before an instant already asked for of that node.
    #[inline]
    pub fn position(&mut self, node: NodeId, now: Instant) -> Position {
        let index = node.0 as usize;
        if now >= self.stretches[index].end {
            self.go_on(index, now);
        }
        self.stretches[index].at(now)
    }

    /// The time up to which the path of a node is known, at most `until`: it draws legs ahead from `now` on, but at most
    /// 64, however short they are.
    pub(crate) fn look_ahead(&mut self, node: NodeId, now: Instant, until: Instant) -> Instant {
        self.position(node, now);
        let index = node.0 as usize;
        let Course { ahead, model } = &mut self.courses[index];
        let mut known = self.stretches[index].end;
        for place in 0..AHEAD {
            if known >= until {
                break;
            }
            if place == ahead.len() {
                ahead.push_back(model.next_leg());
            }
            known = Stretch::new(ahead[place], known).end;
        }
        known.min(until)
    }

    /// Largest distance in metres of a node from its position at `now` up to then; [`Self::look_ahead`] must have covered
    /// that time.
    pub(crate) fn excursion(&mut self, node: NodeId, now: Instant, until: Instant) -> f64 {
        let here = self.position(node, now);
        let index = node.0 as usize;
        let mut stretch = self.stretches[index];
        let mut farthest = here.distance_squared(stretch.at(until.min(stretch.end)));
        let mut ahead = self.courses[index].ahead.iter();
        while stretch.end < until {
            let leg = ahead.next().expect("a way is looked at no farther than it is known");
            stretch = Stretch::new(*leg, stretch.end);
            // On a straight piece one of its ends is the farthest.
            let ends = [stretch.from, stretch.at(until.min(stretch.end))];
            farthest = ends.iter().map(|&end| here.distance_squared(end)).fold(farthest, f64::max);
        }
        libm::sqrt(farthest)
    }

    #[cold]
    fn go_on(&mut self, index: usize, now: Instant) {
        let Course { ahead, model } = &mut self.courses[index];
        let stretch = &mut self.stretches[index];
        // The last instant of all belongs to the leg that ends there.
        while now >= stretch.end && stretch.end < Instant::MAX {
            let leg = ahead.pop_front().unwrap_or_else(|| model.next_leg());
            *stretch = Stretch::new(leg, stretch.end);
        }
    }
}

impl Stretch {
    fn new(leg: Leg, start: Instant) -> Self {
        let nanos = leg.duration.max(Duration::from_nanos(1)).as_nanos();
        let end = Instant::from_nanos(start.as_nanos().saturating_add(nanos));
        // What would last beyond the end of time is cut there.
        let share = end.saturating_since(start).as_nanos() as f64 / nanos as f64;
        let to = if share < 1.0 { between(leg.from, leg.to, share) } else { leg.to };
        Self { start, end, from: leg.from, to }
    }

    #[inline]
    fn at(&self, now: Instant) -> Position {
        debug_assert!(
            self.start <= now && now <= self.end,
            "{now} is not on the leg from {} to {}",
            self.start,
            self.end
        );
        if now == self.end {
            return self.to;
        }
        let (passed, whole) = (now.saturating_since(self.start), self.end.saturating_since(self.start));
        between(self.from, self.to, passed.as_nanos() as f64 / whole.as_nanos() as f64)
    }
}

/// So far on the way from one place to another, from 0 to 1.
fn between(from: Position, to: Position, share: f64) -> Position {
    let along = |from: f64, to: f64| from + (to - from) * share;
    Position { x: along(from.x, to.x), y: along(from.y, to.y), z: along(from.z, to.z) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mobility::Movement;

    fn seconds(seconds: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(seconds)
    }

    /// East for 10 s at 5 m/s, 5 s of rest, north for 4 s at 2.5 m/s, rest.
    fn way() -> Motion {
        let (corner, end) = (Position::on_ground(50.0, 0.0), Position::on_ground(50.0, 10.0));
        let legs = vec![
            Leg::trip(Position::default(), corner, 5.0),
            Leg::rest(corner, Duration::from_secs(5)),
            Leg::trip(corner, end, 2.5),
        ];
        Motion::of(vec![Box::new(Movement::new(legs.into()))])
    }

    #[test]
    fn a_way_is_passed_leg_by_leg() {
        let mut motion = way();
        for (at, x, y) in [
            (0.0, 0.0, 0.0),
            (2.5, 12.5, 0.0),
            (10.0, 50.0, 0.0),
            (12.0, 50.0, 0.0),
            (15.0, 50.0, 0.0),
            (16.0, 50.0, 2.5),
            (19.0, 50.0, 10.0),
            (1e6, 50.0, 10.0),
        ] {
            assert_eq!(motion.position(NodeId(0), seconds(at)), Position::on_ground(x, y), "{at} s");
        }
        assert_eq!(motion.position(NodeId(0), Instant::MAX), Position::on_ground(50.0, 10.0));
    }

    #[test]
    fn a_nanosecond_is_five_nanometres_at_5_metres_a_second() {
        let mut motion = way();
        let before = motion.position(NodeId(0), Instant::from_nanos(9_999_999_999)).x;
        assert!((50.0 - before - 5e-9).abs() < 1e-13, "{before}");
    }

    #[test]
    fn whole_legs_may_be_passed_over() {
        let mut motion = way();
        assert_eq!(motion.position(NodeId(0), seconds(17.0)), Position::on_ground(50.0, 5.0));
    }

    #[test]
    fn an_excursion_is_the_farthest_that_a_node_gets() {
        for (now, until, metres) in [
            (0.0, 2.0, 10.0),
            (0.0, 10.0, 50.0),
            (0.0, 15.0, 50.0),
            (0.0, 19.0, libm::sqrt(2_600.0)),
            (10.0, 15.0, 0.0),
            (10.0, 17.0, 5.0),
            (19.0, 1e6, 0.0),
        ] {
            let mut motion = way();
            assert_eq!(motion.look_ahead(NodeId(0), seconds(now), seconds(until)), seconds(until));
            assert_eq!(motion.excursion(NodeId(0), seconds(now), seconds(until)), metres, "{now} s to {until} s");
            // What was drawn ahead is still passed.
            assert_eq!(motion.position(NodeId(0), seconds(now.max(16.0))).y, (2.5 * (now - 15.0).max(1.0)).min(10.0));
        }
        // There and back again.
        let (here, there) = (Position::default(), Position::on_ground(7.0, 0.0));
        let legs = vec![Leg::trip(here, there, 1.0), Leg::trip(there, here, 1.0)];
        let mut motion = Motion::of(vec![Box::new(Movement::new(legs.into()))]);
        assert_eq!(motion.look_ahead(NodeId(0), seconds(0.0), seconds(14.0)), seconds(14.0));
        assert_eq!(motion.excursion(NodeId(0), seconds(0.0), seconds(14.0)), 7.0);
    }

    /// A hundred legs of 1 s, 1 m each.
    #[test]
    fn a_way_of_many_legs_is_known_for_some_of_them() {
        let at = |x: u32| Position::on_ground(f64::from(x), 0.0);
        let legs: Vec<Leg> = (0..100).map(|x| Leg::trip(at(x), at(x + 1), 1.0)).collect();
        let mut motion = Motion::of(vec![Box::new(Movement::new(legs.into()))]);
        for (now, until, known) in [(0.0, 99.0, 65.0), (0.5, 99.0, 65.0), (10.0, 99.0, 75.0), (10.0, 20.0, 20.0)] {
            assert_eq!(motion.look_ahead(NodeId(0), seconds(now), seconds(until)), seconds(known), "at {now} s");
            assert_eq!(motion.excursion(NodeId(0), seconds(now), seconds(known)), known - now);
            assert!(motion.courses[0].ahead.len() <= AHEAD);
        }
        // The rest is known as it comes.
        assert_eq!(motion.look_ahead(NodeId(0), seconds(60.0), seconds(1e6)), seconds(1e6));
        assert_eq!(motion.excursion(NodeId(0), seconds(60.0), seconds(1e6)), 40.0);
    }

    #[test]
    fn who_has_no_speed_stays() {
        let mut motion = Motion::of(vec![
            Box::new(Rest(Position::on_ground(1.0, 2.0))),
            Box::new(Movement::new(vec![Leg::trip(Position::default(), Position::on_ground(9.0, 9.0), 0.0)].into())),
        ]);
        assert_eq!(motion.position(NodeId(0), seconds(1e9)), Position::on_ground(1.0, 2.0));
        assert_eq!(motion.position(NodeId(1), seconds(1e9)), Position::default());
        assert_eq!(motion.look_ahead(NodeId(1), seconds(1e9), Instant::MAX), Instant::MAX);
        assert_eq!(motion.excursion(NodeId(1), seconds(1e9), Instant::MAX), 0.0);
    }

    #[test]
    fn a_leg_beyond_the_end_of_time_is_cut_there() {
        let there = Position::on_ground(1.0, 0.0);
        let legs = vec![
            Leg::rest(Position::default(), Duration::from_nanos(u64::MAX / 2 + 1)),
            Leg { from: Position::default(), to: there, duration: Duration::MAX },
        ];
        let mut motion = Motion::of(vec![Box::new(Movement::new(legs.into()))]);
        assert_eq!(motion.position(NodeId(0), Instant::from_nanos(3 << 62)), Position::on_ground(0.25, 0.0));
        assert_eq!(motion.position(NodeId(0), Instant::MAX), Position::on_ground(0.5, 0.0));
    }

    #[test]
    fn a_leg_of_no_time_is_passed() {
        let there = Position::on_ground(3.0, 0.0);
        let legs = vec![
            Leg::rest(Position::default(), Duration::ZERO),
            Leg { from: Position::default(), to: there, duration: Duration::ZERO },
        ];
        let mut motion = Motion::of(vec![Box::new(Movement::new(legs.into()))]);
        assert_eq!(motion.position(NodeId(0), Instant::from_nanos(2)), there);
    }
}
