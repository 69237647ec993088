//! The random waypoint model.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;

use super::{Area, Leg, Mobility};

/// A node goes straight to a position drawn uniformly in the area, at a speed drawn uniformly for the trip; there it
/// pauses for a time drawn uniformly, and repeats.
///
/// D. B. Johnson and D. A. Maltz, "Dynamic Source Routing in Ad Hoc Wireless Networks", in "Mobile Computing", 1996. With
/// their start, at positions drawn uniformly and with a pause, the nodes slow down for a long time, since slow trips last
/// longer, and gather in the middle (J. Yoon, M. Liu, B. Noble, "Random Waypoint Considered Harmful", IEEE INFOCOM 2003).
/// So the default is to draw place, speed and remaining pause from the stationary distribution: W. Navidi and T. Camp,
/// "Stationary Distributions for the Random Waypoint Mobility Model", IEEE Trans. Mobile Computing 3(1), 2004.
#[derive(Clone, Debug)]
pub struct RandomWaypoint {
    config: Config,
    stream: Stream,
    /// Where the last leg ended.
    here: Position,
    /// What is left at the start of a pause or a trip that began before.
    begun: Option<Leg>,
    /// Whether the next leg is a pause.
    pauses: bool,
}

/// Parameters of random waypoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Area of the positions.
    pub area: Area,
    /// Least and largest speed of a trip in m/s; the least is above 0 for a start in the steady state.
    pub speed: [f64; 2],
    /// Shortest and longest pause.
    pub pause: [Duration; 2],
    /// State at the start.
    pub start: Start,
}

/// State of random waypoint at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As after infinite time: place, speed and remaining pause are drawn together.
    SteadyState,
    /// At the node's placement, with a pause.
    Classical,
}

impl RandomWaypoint {
    /// A node at `placed`, unless it starts in the steady state.
    pub fn new(config: Config, placed: Position, stream: Stream) -> Self {
        let mut node = Self { config, stream, here: placed, begun: None, pauses: true };
        if config.start == Start::SteadyState {
            node.begun = Some(node.draw_state());
        }
        node
    }

    /// What is left of a pause or a trip, at any instant of the steady state.
    fn draw_state(&mut self) -> Leg {
        let Config { area, speed, pause: [shortest, longest], .. } = self.config;
        let [shortest, longest] = [shortest, longest].map(Duration::as_secs_f64);
        let pause = 0.5 * (shortest + longest);
        let trip = mean_distance(area.width, area.height) * mean_slowness(speed);
        if self.stream.unit() * (pause + trip) < pause {
            let place = self.draw_place();
            // Among the pauses that an instant falls into, long ones are more frequent, in proportion to their length; the
            // instant is drawn evenly in it.
            let squared = shortest * shortest + self.stream.unit() * (longest * longest - shortest * shortest);
            let left = self.stream.unit() * libm::sqrt(squared);
            self.pauses = false;
            return Leg::rest(place, Duration::from_secs_f64(left));
        }
        // Among the trips, long ones in proportion to their way, and slow ones in proportion to their slowness.
        let diagonal = libm::sqrt(area.width * area.width + area.height * area.height);
        let (from, to) = loop {
            let ends = (self.draw_place(), self.draw_place());
            if self.stream.unit() * diagonal < ends.0.distance(ends.1) {
                break ends;
            }
        };
        let (share, rank) = (self.stream.unit(), self.stream.unit());
        let [least, most] = speed;
        let speed = if least < most { least * libm::pow(most / least, rank) } else { most };
        let here = Position::on_ground(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
        Leg::trip(here, to, speed)
    }

    fn draw_place(&mut self) -> Position {
        let (along, up) = (self.stream.unit(), self.stream.unit());
        self.config.area.at(along, up)
    }
}

impl Mobility for RandomWaypoint {
    fn next_leg(&mut self) -> Leg {
        let leg = self.begun.take().unwrap_or_else(|| {
            if core::mem::replace(&mut self.pauses, false) {
                let [shortest, longest] = self.config.pause.map(Duration::as_secs_f64);
                let pause = Duration::from_secs_f64(shortest + self.stream.unit() * (longest - shortest));
                if pause > Duration::ZERO {
                    return Leg::rest(self.here, pause);
                }
            }
            self.pauses = true;
            let to = self.draw_place();
            let [least, most] = self.config.speed;
            Leg::trip(self.here, to, least + self.stream.unit() * (most - least))
        });
        self.here = leg.to;
        leg
    }
}

/// The mean of 1/v for a speed that is drawn evenly, in s/m.
fn mean_slowness([least, most]: [f64; 2]) -> f64 {
    if least < most { libm::log(most / least) / (most - least) } else { 1.0 / most }
}

/// The mean distance of two places drawn evenly in a rectangle (B. Ghosh, "Random distances within a rectangle and between two
/// rectangles", Bull. Calcutta Math. Soc. 43, 1951).
fn mean_distance(width: f64, height: f64) -> f64 {
    let (a, b) = (width.max(height), width.min(height));
    // So narrow a rectangle is a line; the formula would lose its digits.
    if b < 1e-4 * a {
        return a / 3.0;
    }
    let d = libm::sqrt(a * a + b * b);
    let (ab, ba) = (a * a / (b * b), b * b / (a * a));
    (a * ab + b * ba + d * (3.0 - ab - ba)) / 15.0
        + (b * b / a * libm::log((a + d) / b) + a * a / b * libm::log((b + d) / a)) / 6.0
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::random::Purpose;
    use hopcast_protocols::time::Instant;
    use proptest::prelude::*;

    use super::super::Motion;
    use super::super::statistics::{CRITICAL, kolmogorov_smirnov};
    use super::*;
    use crate::id::NodeId;

    const AREA: Area = Area { x: 0.0, y: 0.0, width: 800.0, height: 400.0 };

    fn config(speed: [f64; 2], pause: [u64; 2], start: Start) -> Config {
        Config { area: AREA, speed, pause: pause.map(Duration::from_secs), start }
    }

    fn node(config: Config, number: u64) -> RandomWaypoint {
        let mut places = Stream::new(3, Purpose::Placement, 0, number);
        let placed = AREA.at(places.unit(), places.unit());
        RandomWaypoint::new(config, placed, Stream::new(3, Purpose::Mobility, 0, number))
    }

    /// What a node does at an instant: where it is, how fast, and for how long still.
    #[derive(Clone, Copy, Debug)]
    struct State {
        place: Position,
        /// In m/s; none: a pause.
        speed: Option<f64>,
        /// In seconds.
        left: f64,
    }

    /// The states of this number of nodes of one kind after some seconds.
    fn states(config: Config, count: u64, after: f64) -> Vec<State> {
        let state = |number| {
            let mut node = node(config, number);
            let mut passed = 0.0;
            loop {
                let leg = node.next_leg();
                let length = leg.duration.as_secs_f64();
                if passed + length > after {
                    let share = (after - passed) / length;
                    let (from, to) = (leg.from, leg.to);
                    let place = Position::on_ground(from.x + share * (to.x - from.x), from.y + share * (to.y - from.y));
                    let speed = (from != to).then(|| from.distance(to) / length);
                    return State { place, speed, left: (1.0 - share) * length };
                }
                passed += length;
            }
        };
        (0..count).map(state).collect()
    }

    /// Coordinates of places in the steady state without pauses: an instant falls into a trip with a chance in proportion to
    /// its length, and evenly into each part of it. Summed up over all trips between the points of a grid.
    fn place_distribution(axis: fn(Position) -> f64, extent: f64) -> impl Fn(f64) -> f64 {
        const BINS: usize = 200;
        const ENDS: usize = 20;
        let mut weight = vec![0.0; BINS];
        let grid = |n: usize| (n as f64 + 0.5) / ENDS as f64;
        let places: Vec<Position> = (0..ENDS * ENDS).map(|n| AREA.at(grid(n / ENDS), grid(n % ENDS))).collect();
        for &from in &places {
            for &to in &places {
                let length = from.distance(to);
                // A trip spends its time evenly along its way: on the axis, evenly between its ends.
                let (low, high) = (axis(from).min(axis(to)), axis(from).max(axis(to)));
                let bin = extent / BINS as f64;
                if high - low < bin {
                    weight[((low / bin) as usize).min(BINS - 1)] += length;
                    continue;
                }
                let (first, last) = ((low / bin) as usize, ((high / bin) as usize).min(BINS - 1));
                for (n, weight) in weight.iter_mut().enumerate().take(last + 1).skip(first) {
                    let covered = ((n + 1) as f64 * bin).min(high) - (n as f64 * bin).max(low);
                    *weight += length * covered / (high - low);
                }
            }
        }
        let total: f64 = weight.iter().sum();
        let mut sums = vec![0.0];
        for weight in weight {
            sums.push(sums[sums.len() - 1] + weight / total);
        }
        move |x| {
            let place = (x / extent * BINS as f64).clamp(0.0, BINS as f64 - 1e-9);
            let (bin, rest) = (place as usize, place - libm::floor(place));
            sums[bin] + rest * (sums[bin + 1] - sums[bin])
        }
    }

    const COUNT: u64 = 4_000;

    /// Navidi and Camp: a density proportional to 1/v, so P(V < v) = ln(v/v₀)/ln(v₁/v₀). At the start, and ever after.
    #[test]
    fn speeds_of_the_steady_state_are_as_one_over_speed() {
        for after in [0.0, 30.0, 1_000.0] {
            let states = states(config([1.0, 20.0], [0, 0], Start::SteadyState), COUNT, after);
            let speeds = states.iter().filter_map(|state| state.speed).collect();
            let distance = kolmogorov_smirnov(speeds, |v| libm::log(v) / libm::log(20.0));
            assert!(distance < CRITICAL, "after {after} s: {distance}");
        }
    }

    /// Places crowd in the middle, as those of a node that has moved for long; by an integral over all trips.
    #[test]
    fn places_of_the_steady_state_are_those_of_trips_by_their_length() {
        for after in [0.0, 500.0] {
            let states = states(config([1.0, 20.0], [0, 0], Start::SteadyState), COUNT, after);
            for (axis, extent) in [((|p| p.x) as fn(Position) -> f64, AREA.width), (|p| p.y, AREA.height)] {
                let places = states.iter().map(|state| axis(state.place)).collect();
                let distance = kolmogorov_smirnov(places, place_distribution(axis, extent));
                assert!(distance < CRITICAL, "after {after} s: {distance}");
            }
        }
        // Even places fail it.
        let even = states(config([1.0, 20.0], [0, 0], Start::Classical), COUNT, 0.0);
        let places = even.iter().map(|state| state.place.x).collect();
        assert!(kolmogorov_smirnov(places, place_distribution(|p| p.x, AREA.width)) > CRITICAL);
    }

    /// Navidi and Camp: a node pauses with probability E[P]/(E[P] + E[T]), and what is left of a pause has the
    /// density (1 − F(p))/E[P].
    #[test]
    fn pauses_of_the_steady_state_are_as_long_and_as_frequent_as_ever_after() {
        for after in [0.0, 700.0] {
            let states = states(config([2.0, 10.0], [20, 60], Start::SteadyState), COUNT, after);
            let left: Vec<f64> = states.iter().filter(|s| s.speed.is_none()).map(|s| s.left).collect();
            // 40 s beside a mean trip of 321.91 m (in 2 by 1: 0.80477, by hand) at ln 5 / 8 = 0.20118 s/m.
            let share = 40.0 / (40.0 + 321.91 * 0.201_18);
            let deviation = libm::sqrt(share * (1.0 - share) / COUNT as f64);
            let measured = left.len() as f64 / COUNT as f64;
            assert!((measured - share).abs() < 3.3 * deviation, "after {after} s: {measured} for {share}");
            let rest = |p: f64| if p < 20.0 { p / 40.0 } else { 1.0 - (60.0 - p) * (60.0 - p) / 3_200.0 };
            let distance = kolmogorov_smirnov(left, rest);
            assert!(distance < CRITICAL, "after {after} s: {distance}");
        }
    }

    fn mean_speed(states: &[State]) -> f64 {
        states.iter().filter_map(|state| state.speed).sum::<f64>() / states.len() as f64
    }

    /// (v₁ − v₀)/ln(v₁/v₀) = 6.34 m/s in the steady state, 10.5 m/s at the classical start.
    #[test]
    fn the_classical_start_slows_down_and_the_steady_state_does_not() {
        let speeds = [1.0, 20.0];
        let steady = 19.0 / libm::log(20.0);
        for after in [0.0, 100.0, 1_000.0] {
            let mean = mean_speed(&states(config(speeds, [0, 0], Start::SteadyState), COUNT, after));
            assert!((mean / steady - 1.0).abs() < 0.04, "after {after} s: {mean} for {steady}");
        }
        let classical = |after| mean_speed(&states(config(speeds, [0, 0], Start::Classical), COUNT, after));
        let (first, last) = (classical(0.0), classical(1_000.0));
        assert!((first / 10.5 - 1.0).abs() < 0.04, "{first}");
        assert!((last / steady - 1.0).abs() < 0.04, "{last}");
    }

    #[test]
    fn the_classical_start_is_a_pause_at_the_place() {
        let mut node = RandomWaypoint::new(
            config([5.0, 5.0], [10, 10], Start::Classical),
            Position::on_ground(12.0, 34.0),
            Stream::new(1, Purpose::Mobility, 0, 0),
        );
        assert_eq!(node.next_leg(), Leg::rest(Position::on_ground(12.0, 34.0), Duration::from_secs(10)));
        let trip = node.next_leg();
        let seconds = trip.from.distance(trip.to) / 5.0;
        assert_eq!((trip.from, trip.duration), (Position::on_ground(12.0, 34.0), Duration::from_secs_f64(seconds)));
        assert_eq!(node.next_leg(), Leg::rest(trip.to, Duration::from_secs(10)));
    }

    /// (2 + √2 + 5·ln(1 + √2))/15 = 0.5214 in the unit square; a third of the length of a line.
    #[test]
    fn mean_distances_are_those_of_squares_and_lines() {
        let root = core::f64::consts::SQRT_2;
        let square = (2.0 + root + 5.0 * libm::log(1.0 + root)) / 15.0;
        assert!((mean_distance(1.0, 1.0) - square).abs() < 1e-12);
        assert!((mean_distance(3.0, 3.0) - 3.0 * square).abs() < 1e-12);
        assert_eq!(mean_distance(2.0, 5.0), mean_distance(5.0, 2.0));
        for narrow in [0.3, 0.029, 1e-9] {
            assert!((mean_distance(300.0, narrow) / 100.0 - 1.0).abs() < 1e-5, "{narrow}");
        }
    }

    /// By many draws.
    #[test]
    fn the_mean_distance_is_that_of_drawn_places() {
        let mut stream = Stream::new(1, Purpose::Placement, 0, 0);
        let mut place = || AREA.at(stream.unit(), stream.unit());
        let n = 100_000;
        let mean = (0..n).map(|_| place().distance(place())).sum::<f64>() / f64::from(n);
        assert!((mean / mean_distance(800.0, 400.0) - 1.0).abs() < 0.005, "{mean}");
    }

    proptest! {
        #[test]
        fn a_node_stays_in_its_area(
            number: u64, least in 0.1f64..10.0, more in 0.0f64..30.0, pauses in [0u64..50, 0u64..50], steady: bool,
            corner in [-1e3f64..1e3, -1e3f64..1e3], sides in [0.1f64..1e3, 0.1f64..1e3],
        ) {
            let area = Area { x: corner[0], y: corner[1], width: sides[0], height: sides[1] };
            let [one, other] = pauses;
            let pause = [one.min(other), one.max(other)].map(Duration::from_secs);
            let start = if steady { Start::SteadyState } else { Start::Classical };
            let config = Config { area, speed: [least, least + more], pause, start };
            let stream = Stream::new(1, Purpose::Mobility, 0, number);
            let mut motion = Motion::of(vec![Box::new(RandomWaypoint::new(config, area.at(0.5, 0.5), stream))]);
            for second in 0..200 {
                let place = motion.position(NodeId(0), Instant::START + Duration::from_secs(second));
                // A rounding beyond the edge is none.
                let near = Area { x: area.x - 1e-9, y: area.y - 1e-9, width: area.width + 2e-9, height: area.height + 2e-9 };
                prop_assert!(near.contains(place), "{place:?} in {area:?}");
            }
        }
    }
}
