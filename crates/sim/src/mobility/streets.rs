//! Vehicles and people on a grid of streets.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::Duration;
use hopcast_radio::propagation::Position;

use super::{Area, Leg, Mobility};

/// The Manhattan model: streets run along both axes, and a node that comes to a crossing goes straight on or turns.
///
/// It turns with the probability `turn`, left and right alike, and never turns round. Where a street ends it takes what remains, in
/// the same proportions. The speed is drawn for each block. ETSI TR 101 112, annex B.1.4.2, has such streets for users on foot, and F.
/// Bai, N. Sadagopan and A. Helmy, "IMPORTANT: a framework to systematically analyze the impact of mobility on performance of routing
/// protocols for ad hoc networks", IEEE INFOCOM 2003, for vehicles. Vehicles don't wait for each other here.
///
/// A node begins at a given place on a street, or as after a long time. Then its block is that of a long walk, drawn in proportion to
/// the time that a block takes; it is anywhere along the block, and its speed has a density in proportion to 1/speed, since slow nodes
/// stay longer.
#[derive(Clone, Debug)]
pub struct Streets {
    config: Config,
    stream: Stream,
    /// The rest of the block, or of the pause, in which the node begins.
    first: Option<Leg>,
    /// The crossing that it comes to next, or has come to.
    crossing: Crossing,
    /// The way that it came; `None`: it began here.
    heading: Option<Heading>,
    /// Whether it has paused at the crossing, or has not had to.
    has_paused: bool,
}

/// Parameters of a grid of streets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The streets lie in it, the outermost on its edges.
    pub area: Area,
    /// Blocks along x and along y; at least 1.
    pub blocks: [u32; 2],
    /// Speed of a block in m/s, drawn uniformly between the two values; above 0.
    pub speed: [f64; 2],
    /// Probability of a turn at a crossing.
    pub turn: f64,
    /// Probability of a pause at a crossing.
    pub stop: f64,
    /// A pause, drawn uniformly between the two values.
    pub pause: [Duration; 2],
}

/// Numbers of the streets that cross, from the south-western corner on.
type Crossing = [u32; 2];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heading {
    East,
    North,
    West,
    South,
}

use Heading::{East, North, South, West};

impl Heading {
    /// Counterclockwise.
    const ALL: [Self; 4] = [East, North, West, South];

    /// The direction after this number of quarter turns to the left.
    fn turned(self, quarters: usize) -> Self {
        Self::ALL[(self as usize + quarters) % 4]
    }
}

impl Config {
    /// The streets' distance along x or y, in metres.
    fn block(&self, axis: usize) -> f64 {
        [self.area.width, self.area.height][axis] / f64::from(self.blocks[axis])
    }

    fn place(&self, crossing: Crossing) -> Position {
        let [x, y] = [0, 1].map(|axis| f64::from(crossing[axis]) * self.block(axis));
        Position::on_ground(self.area.x + x, self.area.y + y)
    }

    /// The next crossing in a direction, if the street goes on.
    fn next(&self, [x, y]: Crossing, heading: Heading) -> Option<Crossing> {
        match heading {
            East => (x < self.blocks[0]).then(|| [x + 1, y]),
            North => (y < self.blocks[1]).then(|| [x, y + 1]),
            West => x.checked_sub(1).map(|x| [x, y]),
            South => y.checked_sub(1).map(|y| [x, y]),
        }
    }

    /// The direction after a crossing to which a node came with `heading`.
    fn choose(&self, at: Crossing, heading: Option<Heading>, stream: &mut Stream) -> Heading {
        let weights = Heading::ALL.map(|out| {
            let weight = match heading {
                None => 1.0,
                Some(heading) if out == heading => 1.0 - self.turn,
                Some(heading) if out == heading.turned(2) => 0.0,
                Some(_) => self.turn / 2.0,
            };
            if self.next(at, out).is_some() { weight } else { 0.0 }
        });
        let sum: f64 = weights.iter().sum();
        let open = |&(out, _): &(Heading, f64)| {
            self.next(at, out).is_some() && heading.is_none_or(|heading| out != heading.turned(2))
        };
        let ways = || Heading::ALL.into_iter().zip(weights);
        let drawn = stream.unit();
        if sum <= 0.0 {
            // A turn that is never taken otherwise, or a street that ends: the ways that are left, evenly.
            let left: Vec<Heading> = ways().filter(open).map(|(out, _)| out).collect();
            return left[((drawn * left.len() as f64) as usize).min(left.len() - 1)];
        }
        let mut rest = drawn * sum;
        let mut chosen = None;
        for (out, weight) in ways().filter(|&(_, weight)| weight > 0.0) {
            chosen = Some(out);
            rest -= weight;
            if rest < 0.0 {
                break;
            }
        }
        chosen.expect("a weight above 0")
    }

    /// Mean time of a block along an axis, and of the pause behind it, in seconds.
    fn mean_times(&self, axis: usize) -> [f64; 2] {
        let [least, most] = self.speed;
        let slowness = if most > least { libm::log(most / least) / (most - least) } else { 1.0 / least };
        let [shortest, longest] = self.pause.map(Duration::as_secs_f64);
        [self.block(axis) * slowness, self.stop * (shortest + longest) / 2.0]
    }

    fn draw_speed(&self, stream: &mut Stream) -> f64 {
        let [least, most] = self.speed;
        least + (most - least) * stream.unit()
    }
}

impl Streets {
    /// A node as after a long time.
    pub fn steady(config: Config, mut stream: Stream) -> Self {
        let [columns, rows] = config.blocks;
        // A walk spreads over n blocks in some n² steps.
        let steps = 4 * u64::from(columns.max(rows)).pow(2).min(25_000);
        let mut at = [columns, rows].map(|blocks| stream.below(blocks + 1));
        let mut heading = None;
        let longest = [0, 1].map(|axis| config.mean_times(axis).iter().sum::<f64>()).into_iter().fold(0.0, f64::max);
        let mut left = steps;
        loop {
            let out = config.choose(at, heading, &mut stream);
            let next = config.next(at, out).expect("the way is open");
            let axis = usize::from(matches!(out, North | South));
            let [block, pause] = config.mean_times(axis);
            left = left.saturating_sub(1);
            if left == 0 && stream.unit() * longest < block + pause {
                let pauses = stream.unit() * (block + pause) >= block;
                let first = if pauses {
                    Leg::rest(config.place(next), rest_of_pause(config.pause, &mut stream))
                } else {
                    let [least, most] = config.speed;
                    let speed = least * libm::pow(most / least, stream.unit());
                    let (from, to) = (config.place(at), config.place(next));
                    let share = stream.unit();
                    let along = |from: f64, to: f64| from + (to - from) * share;
                    Leg::trip(Position::on_ground(along(from.x, to.x), along(from.y, to.y)), to, speed)
                };
                let (first, crossing) = (Some(first), next);
                return Self { config, stream, first, crossing, heading: Some(out), has_paused: pauses };
            }
            (at, heading) = (next, Some(out));
        }
    }

    /// A node that begins at a place, which must be on a street.
    pub fn at(config: Config, placed: Position, mut stream: Stream) -> Self {
        let nearest = config.nearest(placed);
        let on = [0, 1].map(|axis| config.is_on_street(placed, axis));
        let (first, crossing, heading) = if on[0] && on[1] {
            (None, nearest, None)
        } else {
            // In between two crossings, either way.
            let forward = stream.unit() < 0.5;
            let heading = match (on[0], forward) {
                (true, true) => North,
                (true, false) => South,
                (false, true) => East,
                (false, false) => West,
            };
            let ahead = |crossing: Crossing| {
                let to = config.place(crossing);
                let axis = usize::from(on[0]);
                let distance = [to.x - placed.x, to.y - placed.y][axis];
                (distance > 0.0) == forward
            };
            let crossing = if ahead(nearest) { Some(nearest) } else { config.next(nearest, heading) };
            let crossing = crossing.unwrap_or(nearest);
            let speed = config.draw_speed(&mut stream);
            (Some(Leg::trip(placed, config.place(crossing), speed)), crossing, Some(heading))
        };
        Self { config, stream, first, crossing, heading, has_paused: heading.is_none() }
    }
}

/// How far from a street's middle a node is still on it, in metres: rounding.
const TOLERANCE: f64 = 1e-6;

impl Config {
    /// Whether a place is on a street, the area being given.
    pub fn has(&self, place: Position) -> bool {
        self.area.contains(place) && (0..2).any(|axis| self.is_on_street(place, axis))
    }

    fn nearest(&self, place: Position) -> Crossing {
        let offsets = [place.x - self.area.x, place.y - self.area.y];
        [0, 1].map(|axis| (libm::round(offsets[axis] / self.block(axis)).max(0.0) as u32).min(self.blocks[axis]))
    }

    /// Whether a place is on one of the streets that are at multiples of a block along this axis.
    fn is_on_street(&self, place: Position, axis: usize) -> bool {
        let street = self.place(self.nearest(place));
        ([place.x - street.x, place.y - street.y][axis]).abs() <= TOLERANCE
    }
}

/// What is left of a pause at any instant in it: pauses are met in proportion to their length.
fn rest_of_pause(pause: [Duration; 2], stream: &mut Stream) -> Duration {
    let [shortest, longest] = pause.map(Duration::as_secs_f64);
    let whole = libm::sqrt(shortest * shortest + (longest * longest - shortest * shortest) * stream.unit());
    Duration::from_secs_f64(whole * stream.unit())
}

impl Mobility for Streets {
    fn next_leg(&mut self) -> Leg {
        if let Some(first) = self.first.take() {
            return first;
        }
        let (config, here) = (self.config, self.config.place(self.crossing));
        if !core::mem::replace(&mut self.has_paused, true) && config.stop > 0.0 && self.stream.unit() < config.stop {
            let [shortest, longest] = config.pause.map(Duration::as_secs_f64);
            return Leg::rest(here, Duration::from_secs_f64(shortest + (longest - shortest) * self.stream.unit()));
        }
        let heading = config.choose(self.crossing, self.heading, &mut self.stream);
        let next = config.next(self.crossing, heading).expect("the way is open");
        (self.crossing, self.heading, self.has_paused) = (next, Some(heading), false);
        Leg::trip(here, config.place(next), config.draw_speed(&mut self.stream))
    }
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

    /// Four by three blocks of 100 m by 50 m, with the corner at (10, 20).
    const GRID: Config = Config {
        area: Area { x: 10.0, y: 20.0, width: 400.0, height: 150.0 },
        blocks: [4, 3],
        speed: [5.0, 15.0],
        turn: 0.5,
        stop: 0.0,
        pause: [Duration::ZERO; 2],
    };

    fn stream(node: u64) -> Stream {
        Stream::new(5, Purpose::Mobility, 0, node)
    }

    fn legs(mut node: Streets, count: usize) -> Vec<Leg> {
        (0..count).map(|_| node.next_leg()).collect()
    }

    fn heading(leg: &Leg) -> Heading {
        match (leg.to.x - leg.from.x, leg.to.y - leg.from.y) {
            (x, _) if x > 0.0 => East,
            (x, _) if x < 0.0 => West,
            (_, y) if y > 0.0 => North,
            _ => South,
        }
    }

    /// Straight on along the only street of one block's height, at 10 m/s, and round at its corner: by hand.
    #[test]
    fn without_turns_a_node_goes_round_where_the_street_ends() {
        let area = Area { x: 0.0, y: 0.0, width: 200.0, height: 100.0 };
        let config = Config { area, blocks: [2, 1], speed: [10.0; 2], turn: 0.0, ..GRID };
        let node = (0..).map(|n| Streets::at(config, Position::on_ground(50.0, 0.0), stream(n)));
        let mut east = node.into_iter().find(|node| node.heading == Some(East)).expect("one of them goes east");
        let way: Vec<_> = (0..6).map(|_| east.next_leg()).map(|leg| (leg.to.x, leg.to.y, leg.duration)).collect();
        let seconds = Duration::from_secs;
        let expected = [
            (100.0, 0.0, seconds(5)),
            (200.0, 0.0, seconds(10)),
            (200.0, 100.0, seconds(10)),
            (100.0, 100.0, seconds(10)),
            (0.0, 100.0, seconds(10)),
            (0.0, 0.0, seconds(10)),
        ];
        assert_eq!(way, expected);
    }

    /// At inner crossings half go straight on, a quarter left, a quarter right, and none back: of 40 000 within four standard errors.
    #[test]
    fn turns_have_their_shares() {
        let legs = legs(Streets::steady(GRID, stream(1)), 100_000);
        let is_inner = |place: Position| (11.0..409.0).contains(&place.x) && (21.0..169.0).contains(&place.y);
        let mut turns = [0_u32; 4];
        for pair in legs[1..].windows(2).filter(|pair| is_inner(pair[1].from)) {
            let quarters = (heading(&pair[1]) as usize + 4 - heading(&pair[0]) as usize) % 4;
            turns[quarters] += 1;
        }
        let all = f64::from(turns.iter().sum::<u32>());
        assert!(all > 30_000.0);
        for (quarters, share) in [(0, 0.5), (1, 0.25), (3, 0.25)] {
            let measured = f64::from(turns[quarters]) / all;
            assert!((measured - share).abs() < 4.0 * 0.5 / all.sqrt(), "{quarters} quarters: {measured}");
        }
        assert_eq!(turns[2], 0);
    }

    /// With pauses at a third of the crossings: the states of many nodes at the start and an hour later have one distribution. What is
    /// compared is the place along x and along y, and whether a node rests.
    #[test]
    fn a_node_begins_as_after_a_long_time() {
        let config = Config { stop: 1.0 / 3.0, pause: [Duration::ZERO, Duration::from_secs(40)], ..GRID };
        let nodes = 4_000;
        let mut motion = Motion::of((0..nodes).map(|n| Box::new(Streets::steady(config, stream(n))) as _).collect());
        let mut at = |seconds: f64| -> Vec<(Position, bool)> {
            let [now, then] = [seconds, seconds + 1e-3].map(|s| Instant::START + Duration::from_secs_f64(s));
            (0..nodes as u32)
                .map(|n| {
                    let here = motion.position(NodeId(n), now);
                    (here, motion.position(NodeId(n), then) == here)
                })
                .collect()
        };
        let (begin, later) = (at(0.0), at(3_600.0));
        let resting = |all: &[(Position, bool)]| all.iter().filter(|(_, rests)| *rests).count() as f64 / nodes as f64;
        // Mean pause 20 s / 3; a block takes ln 3 / 10 of a second for each metre.
        let slowness = libm::log(3.0) / 10.0;
        let share = |block: f64| (20.0 / 3.0) / (20.0 / 3.0 + block * slowness);
        for all in [&begin, &later] {
            assert!((share(100.0) - 0.03..share(50.0) + 0.03).contains(&resting(all)), "{}", resting(all));
        }
        assert!((resting(&begin) - resting(&later)).abs() < 0.044);
        for axis in [0, 1] {
            let along = |all: &[(Position, bool)]| -> Vec<f64> {
                let mut places: Vec<f64> = all.iter().map(|(place, _)| [place.x, place.y][axis]).collect();
                places.sort_by(f64::total_cmp);
                places
            };
            let (begin, later) = (along(&begin), along(&later));
            // Two samples of 4000: 1.95 · √(2/4000) at one in a thousand.
            let below =
                |all: &[f64], place: f64| all.partition_point(|&other| other <= place) as f64 / all.len() as f64;
            let distance = begin.iter().map(|&p| (below(&begin, p) - below(&later, p)).abs()).fold(0.0, f64::max);
            assert!(distance < 0.0436, "axis {axis}: {distance}");
        }
    }

    /// Speeds at any time have a density in proportion to 1/v: ln(v/5)/ln 3.
    #[test]
    fn slow_nodes_are_met_more_often() {
        let speeds = (0..4_000).map(|n| {
            let Leg { from, to, duration } = Streets::steady(GRID, stream(n)).next_leg();
            from.distance(to) / duration.as_secs_f64()
        });
        let distance = kolmogorov_smirnov(speeds.collect(), |v| libm::log(v / 5.0) / libm::log(3.0));
        assert!(distance < CRITICAL, "{distance}");
    }

    proptest! {
        #[test]
        fn nodes_stay_on_streets_and_legs_follow_each_other(
            node: u64,
            blocks in prop::array::uniform2(1u32..6),
            turn in 0.0f64..=1.0,
            stop in 0.0f64..=1.0,
            begins in 0.0f64..1.0,
        ) {
            let config = Config { blocks, turn, stop, pause: [Duration::ZERO, Duration::from_secs(3)], ..GRID };
            let placed = Position::on_ground(10.0 + 400.0 * begins, 20.0);
            prop_assert!(config.has(placed));
            for model in [Streets::steady(config, stream(node)), Streets::at(config, placed, stream(node))] {
                let legs = legs(model, 60);
                for (before, leg) in legs.iter().zip(&legs[1..]) {
                    prop_assert_eq!(before.to, leg.from);
                }
                for leg in &legs {
                    prop_assert!(config.has(leg.from) && config.has(leg.to), "{:?}", leg);
                    prop_assert!(leg.from.x == leg.to.x || leg.from.y == leg.to.y, "{:?}", leg);
                }
            }
        }
    }
}
