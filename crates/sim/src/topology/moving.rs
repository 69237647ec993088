//! Receivers of a transmission while nodes move.
//!
//! The spatial index works in two steps. It divides time into epochs. At the start of each, it sorts all stations into
//! squares, with the distance that each can move until the end of the epoch. It draws legs of movement ahead for this; if
//! a station's legs are so short that only a part of them is drawn, the epoch ends with the last one. From the squares,
//! each station that transmits during the epoch gets a list, once, of possible receivers. Each transmission then checks
//! the exact positions of only the stations on the list. So the cost of a transmission is proportional to the number of
//! neighbours, and that of an epoch to the number of stations, however many transmissions it holds.
//!
//! The result does not depend on the times and lengths of epochs. A list keeps the order of the last transmission, which
//! is nearly that of the next one.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::StationId;
use hopcast_radio::medium::{Geometry, Link};
use hopcast_radio::propagation::Position;
use hopcast_radio::units::Power;

use super::channel::Channel;
use super::squares::{Member, Squares};
use crate::id::NodeId;
use crate::mobility::Motion;

/// The stations, where they are, and who is near whom.
#[derive(Debug)]
pub(super) struct Surroundings {
    channel: Channel,
    nodes: Nodes,
    motion: Motion,
    /// The square of the longest link.
    reach_squared: f64,
    epoch: Epoch,
    /// By station.
    lists: Vec<List>,
    scratch: Scratch,
}

/// Whose a station is.
#[derive(Debug)]
enum Nodes {
    /// The node with the same number, so that no look-up is needed.
    Own,
    /// By station.
    Of(Vec<NodeId>),
}

/// A stretch of time, and where stations are in it.
#[derive(Debug)]
struct Epoch {
    /// Counted from 1.
    number: u64,
    end: Instant,
    /// Of the next one, if all ways are known that far.
    length: Duration,
    /// By station.
    discs: Vec<Disc>,
    squares: Squares,
}

/// Where a station is at the start of an epoch, and how far it gets from there until its end, in metres.
#[derive(Clone, Copy, Debug)]
struct Disc {
    place: Position,
    radius: f64,
}

/// Who may hear a station during an epoch.
#[derive(Clone, Debug, Default)]
struct List {
    /// Zero: of none yet.
    epoch: u64,
    stations: Vec<u32>,
}

/// Memory that is used again.
#[derive(Debug, Default)]
struct Scratch {
    /// With the square of their distance.
    candidates: Vec<(f64, u32)>,
    /// A list that is too long to be kept.
    long: Vec<u32>,
    unheard: Vec<u32>,
    /// Of the stations on a list, where they are, and what they have of the transmitter's power.
    places: Vec<Position>,
    powers: Vec<Power>,
}

/// How far the fastest station is to get in an epoch, as a share of the reach: longer epochs are fewer, but their lists are
/// longer.
const EXCURSION: f64 = 0.05;
/// Bounds of an epoch, where all ways are known that far.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(16);
/// The longest list that is kept, so that memory grows with the number of stations alone.
const KEPT: usize = 1_024;
/// Steps that an insertion may take on average before all is sorted at once instead.
const STEPS: usize = 8;

impl Surroundings {
    /// Stations of these nodes.
    pub(super) fn new(channel: Channel, nodes: Vec<NodeId>, motion: Motion) -> Self {
        // A little longer, so that rounding can't lose a link at the very edge.
        let reach = channel.reach() * (1.0 + 1e-9);
        let epoch = Epoch {
            number: 0,
            end: Instant::START,
            length: Duration::from_secs(1),
            discs: Vec::with_capacity(nodes.len()),
            squares: Squares::default(),
        };
        let lists = vec![List::default(); nodes.len()];
        let nodes =
            if (0..).map(NodeId).zip(&nodes).all(|(own, node)| own == *node) { Nodes::Own } else { Nodes::Of(nodes) };
        Self { channel, nodes, motion, reach_squared: reach * reach, epoch, lists, scratch: Scratch::default() }
    }
}

impl Geometry for Surroundings {
    fn links(&mut self, transmitter: StationId, now: Instant, links: &mut Vec<Link>) {
        if now >= self.epoch.end {
            self.epoch.begin(now, &self.channel, &self.nodes, &mut self.motion);
        }
        let Self { channel, nodes, motion, reach_squared, epoch, lists, scratch } = self;
        let from = transmitter.0;
        let list = &mut lists[from as usize];
        let stations = if list.epoch == epoch.number {
            &mut list.stations
        } else {
            epoch.find(from, channel, &mut scratch.candidates);
            let found = scratch.candidates.iter().map(|&(_, station)| station);
            let stations = if found.len() > KEPT {
                &mut scratch.long
            } else {
                list.epoch = epoch.number;
                &mut list.stations
            };
            stations.clear();
            stations.extend(found);
            stations
        };

        scratch.unheard.clear();
        let here = motion.position(nodes.of(from), now);
        // In loops of their own, whose rounds the processor overlaps: divisions take long.
        scratch.places.clear();
        scratch.places.extend(stations.iter().map(|&to| motion.position(nodes.of(to), now)));
        channel.powers(from, here, stations, &scratch.places, &mut scratch.powers);
        let mut steps = 0;
        for ((&to, &there), &power) in stations.iter().zip(&scratch.places).zip(&scratch.powers) {
            let squared = here.distance_squared(there);
            let is_near = squared <= *reach_squared;
            let Some(link) = is_near.then(|| channel.link(from, to, squared, power)).flatten() else {
                scratch.unheard.push(to);
                continue;
            };
            // Mostly the next one in order, as they were at the last transmission. An insertion takes few steps.
            let is_next = links.last().is_none_or(|last| last.order() < link.order());
            links.push(link);
            if !is_next && steps <= STEPS * stations.len() {
                steps += sink(links);
            }
        }
        if steps > STEPS * stations.len() {
            links.sort_unstable_by_key(Link::order);
        }
        stations.clear();
        stations.extend(links.iter().map(|link| link.receiver.0));
        stations.extend_from_slice(&scratch.unheard);
    }
}

/// Moves the last link to its place among those before it, which are in order. Returns how many it has passed.
#[inline(never)]
fn sink(links: &mut [Link]) -> usize {
    let Some((link, before)) = links.split_last() else { return 0 };
    let passed = before.iter().rev().take_while(|other| link.order() < other.order()).count();
    let last = links.len() - 1;
    links[last - passed..].rotate_right(1);
    passed
}

impl Nodes {
    #[inline]
    fn of(&self, station: u32) -> NodeId {
        match self {
            Self::Own => NodeId(station),
            Self::Of(nodes) => nodes[station as usize],
        }
    }
}

impl Epoch {
    #[cold]
    fn begin(&mut self, now: Instant, channel: &Channel, nodes: &Nodes, motion: &mut Motion) {
        self.number += 1;
        let latest = Instant::from_nanos(now.as_nanos().saturating_add(self.length.as_nanos()));
        let known = (0..channel.stations()).map(|station| motion.look_ahead(nodes.of(station), now, latest));
        let end = known.fold(latest, Instant::min);
        self.end = end;
        self.discs.clear();
        self.discs.extend((0..channel.stations()).map(|station| {
            let node = nodes.of(station);
            Disc { place: motion.position(node, now), radius: motion.excursion(node, now, end) }
        }));
        let widest = self.discs.iter().map(|disc| disc.radius).fold(0.0, f64::max);
        self.squares.fill(self.discs.iter().map(|disc| disc.place), channel.reach() + 2.0 * widest);
        // In floating point, but no result depends on it.
        let share = EXCURSION * channel.reach() / widest;
        let length = Duration::from_secs_f64(end.saturating_since(now).as_secs_f64() * share.clamp(0.25, 4.0));
        self.length = length.clamp(SHORTEST, LONGEST);
    }

    /// Those that may hear a station before the end of the epoch, the nearest first.
    fn find(&self, from: u32, channel: &Channel, found: &mut Vec<(f64, u32)>) {
        let own = self.discs[from as usize];
        // Room for what rounding does to places and radii.
        let reach = (channel.reach() + own.radius) * (1.0 + 1e-9) + 1e-6;
        let candidate = |to: u32| {
            let other = self.discs[to as usize];
            let (squared, longest) = (own.place.distance_squared(other.place), reach + other.radius);
            (squared <= longest * longest && channel.is_shared(from, to)).then_some((squared, to))
        };
        found.clear();
        found.extend(self.squares.near(own.place).map(Member::number).filter_map(candidate));
        found.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hopcast_radio::phy::ModulationClasses;
    use proptest::prelude::*;

    use super::*;
    use crate::layout;
    use crate::mobility::{Leg, Mobility, Movement};
    use crate::scenario::{Scenario, Source};

    const RANGE: &str = r#"propagation = { model = "range", receive = "250 m", carrier_sense = "550 m" }"#;
    const FREE_SPACE: &str =
        "propagation = { model = \"free-space\", frequency = \"2.4 GHz\" }\ninterference_floor = \"-80 dBm\"";
    const SHADOWED: &str = "propagation = { model = \"log-distance\", exponent = 3.5, shadowing = \"6 dB\", shadowing_per = \"link\" }\ninterference_floor = \"-85 dBm\"";

    fn scenario(radio: &str, nodes: usize, radios: &str) -> Scenario {
        let text = format!(
            r#"
            duration = "1 s"
            [radio]
            {radio}
            [[nodes]]
            name = "n"
            count = {nodes}
            {radios}
            placement = {{ shape = "line", spacing = "1 m" }}
            "#
        );
        let source = Source { text, name: "test".into(), ..Source::default() };
        Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario
    }

    fn channel(scenario: &Scenario) -> Channel {
        super::super::channel(&scenario.radio, &layout::stations(scenario), 1)
    }

    fn nodes(scenario: &Scenario) -> Vec<NodeId> {
        layout::stations(scenario).iter().map(|station| station.node).collect()
    }

    fn motion(ways: &[Vec<Leg>]) -> Motion {
        let model = |way: &Vec<Leg>| Box::new(Movement::new(Arc::from(way.as_slice()))) as Box<dyn Mobility>;
        Motion::of(ways.iter().map(model).collect())
    }

    fn surroundings(scenario: &Scenario, ways: &[Vec<Leg>]) -> Surroundings {
        Surroundings::new(channel(scenario), nodes(scenario), motion(ways))
    }

    fn heard(surroundings: &mut Surroundings, from: u32, now: Instant) -> Vec<Link> {
        let mut links = Vec::new();
        surroundings.links(StationId(from), now, &mut links);
        links
    }

    /// By a look at all stations.
    fn heard_of_all(channel: &Channel, nodes: &[NodeId], motion: &mut Motion, from: u32, now: Instant) -> Vec<Link> {
        let places: Vec<Position> = nodes.iter().map(|&node| motion.position(node, now)).collect();
        let here = places[from as usize];
        let link = |(&there, to): (&Position, u32)| {
            (here.distance(there) <= channel.reach()).then(|| channel.link_between(from, to, here, there)).flatten()
        };
        let mut links: Vec<Link> = places.iter().zip(0..).filter_map(link).collect();
        links.sort_by_key(Link::order);
        links
    }

    fn tell(links: &[Link]) -> Vec<(u32, Duration, u64, ModulationClasses)> {
        links.iter().map(|l| (l.receiver.0, l.delay, l.power.as_attowatts(), l.decodable)).collect()
    }

    /// Up to a dozen legs of up to 20 s, or hundreds of up to 100 ms, between places in a kilometre's square, some of them at rest.
    fn way() -> impl Strategy<Value = Vec<Leg>> {
        let place = || (0.0f64..1e3, 0.0f64..1e3).prop_map(|(x, y)| Position::on_ground(x, y));
        let few = prop::collection::vec((place(), 0u64..20_000, any::<bool>()), 1..12);
        let many = prop::collection::vec((place(), 0u64..100, any::<bool>()), 1..400);
        (place(), prop_oneof![3 => few, 1 => many]).prop_map(|(mut here, stops)| {
            let leg = |(place, millis, rests): (Position, u64, bool)| {
                let to = if rests { here } else { place };
                let leg = Leg { from: here, to, duration: Duration::from_millis(millis) };
                here = to;
                leg
            };
            stops.into_iter().map(leg).collect()
        })
    }

    proptest! {
        #[test]
        fn all_that_hear_are_found_and_no_others(
            ways in prop::collection::vec(way(), 1..40),
            questions in prop::collection::vec((0u32..80, 0u64..2_000), 1..60),
            radio in prop::sample::select(vec![RANGE, FREE_SPACE, SHADOWED]),
            two_radios: bool,
        ) {
            let radios = if two_radios { "radios = [{ channel = 1 }, { channel = 4 }]" } else { "" };
            let scenario = scenario(radio, ways.len(), radios);
            let mut surroundings = surroundings(&scenario, &ways);
            let (channel, nodes, mut motion) = (channel(&scenario), nodes(&scenario), motion(&ways));
            let mut now = Instant::START;
            for (from, pause) in questions {
                now += Duration::from_millis(pause);
                let from = from % nodes.len() as u32;
                let (found, all) =
                    (heard(&mut surroundings, from, now), heard_of_all(&channel, &nodes, &mut motion, from, now));
                prop_assert_eq!(tell(&found), tell(&all), "station {} at {}", from, now);
            }
        }
    }

    /// 50 m/s eastwards from 100 m: within 250 m for 3 s, within 550 m for 9 s, each to the nanosecond, and at a delay of d/c.
    #[test]
    fn a_node_is_out_of_range_from_the_exact_instant_on() {
        let scenario = scenario(RANGE, 2, "");
        let (near, far) = (Position::on_ground(100.0, 0.0), Position::on_ground(1_100.0, 0.0));
        let ways = [vec![Leg::rest(Position::default(), Duration::MAX)], vec![Leg::trip(near, far, 50.0)]];
        let mut surroundings = surroundings(&scenario, &ways);
        for (nanos, units, delay) in [
            (0, Some(2), 334),
            (2_999_999_999, Some(2), 834),
            (3_000_000_000, Some(2), 834),
            (3_000_000_001, Some(1), 834),
            (9_000_000_000, Some(1), 1_835),
            (9_000_000_001, None, 0),
            (60_000_000_000, None, 0),
        ] {
            let now = Instant::from_nanos(nanos);
            for (from, to) in [(0, 1), (1, 0)] {
                let expected: Vec<_> = units
                    .into_iter()
                    .map(|units| (to, Duration::from_nanos(delay), units, ModulationClasses::ALL))
                    .collect();
                assert_eq!(tell(&heard(&mut surroundings, from, now)), expected, "{now}");
            }
        }
    }

    /// In a crowd all hear all: lists are too long to be kept, and are right all the same.
    #[test]
    fn a_crowd_leaves_no_lists_behind() {
        let count = KEPT + 10;
        let scenario = scenario(RANGE, count, "");
        let way = |n: usize| {
            let from = Position::on_ground((n % 40) as f64, (n / 40) as f64);
            vec![Leg::trip(from, Position::on_ground(from.y, 40.0 - from.x), 1.0)]
        };
        let ways: Vec<Vec<Leg>> = (0..count).map(way).collect();
        let mut surroundings = surroundings(&scenario, &ways);
        let (channel, nodes, mut motion) = (channel(&scenario), nodes(&scenario), motion(&ways));
        for (second, from) in [(0, 3), (0, 500), (1, 3), (2, 3), (30, 3), (31, 1_030)] {
            let now = Instant::START + Duration::from_secs(second);
            let all = heard_of_all(&channel, &nodes, &mut motion, from, now);
            assert_eq!(all.len(), count - 1);
            assert_eq!(tell(&heard(&mut surroundings, from, now)), tell(&all), "{now}");
        }
        assert!(surroundings.lists.iter().all(|list| list.stations.capacity() == 0));
    }

    /// As fast as a satellite, or not at all: epochs adapt, and stay within their bounds.
    #[test]
    fn epochs_follow_the_speed() {
        for (speed, length) in [(0.0, LONGEST), (1.0, LONGEST), (5.0, Duration::from_secs_f64(5.5)), (1e5, SHORTEST)] {
            let scenario = scenario(RANGE, 2, "");
            let far = Position::on_ground(1e9, 0.0);
            let way = || vec![Leg::trip(Position::default(), far, speed)];
            let mut surroundings = surroundings(&scenario, &[way(), way()]);
            for second in 0..100 {
                assert_eq!(heard(&mut surroundings, 0, Instant::START + Duration::from_secs(second)).len(), 1);
            }
            let off = surroundings.epoch.length.as_secs_f64() / length.as_secs_f64() - 1.0;
            assert!(off.abs() < 1e-6, "{speed} m/s: {:?}", surroundings.epoch.length);
        }
    }

    /// Legs of 1 ms, and of a nanosecond: an epoch ends where the first way is known no farther.
    #[test]
    fn an_epoch_is_no_longer_than_ways_are_known() {
        let scenario = scenario(RANGE, 2, "");
        let place = |n: usize| Position::on_ground((n % 2) as f64, 0.0);
        let way = |nanos: u64| -> Vec<Leg> {
            let leg = |n| Leg { from: place(n), to: place(n + 1), duration: Duration::from_nanos(nanos) };
            (0..1_000).map(leg).collect()
        };
        for (nanos, end) in [(1_000_000, 65_000_000), (1, 65)] {
            let ways = [way(nanos), vec![Leg::rest(Position::default(), Duration::MAX)]];
            let mut surroundings = surroundings(&scenario, &ways);
            for from in [0, 1] {
                assert_eq!(heard(&mut surroundings, from, Instant::START).len(), 1);
                assert_eq!((surroundings.epoch.number, surroundings.epoch.end), (1, Instant::from_nanos(end)));
            }
            assert_eq!(heard(&mut surroundings, 1, Instant::from_nanos(end)).len(), 1);
            assert_eq!(surroundings.epoch.number, 2);
        }
    }
}
