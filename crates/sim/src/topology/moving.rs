//! Who hears a transmission where nodes move.
//!
//! A spatial index in two steps. Time is cut into epochs; at the start of each, all stations are sorted into squares with
//! how far they will get until its end, which their ways tell: legs are drawn ahead. From the squares, each station that
//! transmits during the epoch gets a list, once, of those that may come into its reach. Each transmission then looks
//! at the exact places of those on the list, and nobody else's. So a transmission costs in proportion to the number of
//! neighbours, and an epoch in proportion to the number of stations, however many transmissions it holds.
//!
//! What is found does not depend on when epochs begin nor on how long they are. A list keeps the order of the
//! last transmission, which is nearly that of the next one.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::StationId;
use hopcast_radio::medium::{Geometry, Link};
use hopcast_radio::propagation::Position;

use super::channel::Channel;
use super::squares::Squares;
use crate::mobility::Motion;
use crate::scenario::model::NodeId;

/// The stations, where they are, and who is near whom.
#[derive(Debug)]
pub(super) struct Surroundings {
    channel: Channel,
    /// By station.
    nodes: Vec<NodeId>,
    motion: Motion,
    /// The square of the longest link.
    reach_squared: f64,
    epoch: Epoch,
    /// By station.
    lists: Vec<List>,
    scratch: Scratch,
}

/// A stretch of time, and where stations are in it.
#[derive(Debug)]
struct Epoch {
    /// Counted from 1.
    number: u64,
    end: Instant,
    /// Of the next one.
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

/// Room that is used again.
#[derive(Debug, Default)]
struct Scratch {
    /// With the square of their distance.
    candidates: Vec<(f64, u32)>,
    /// A list that is too long to be kept.
    long: Vec<u32>,
    unheard: Vec<u32>,
}

/// How far the fastest station is to get in an epoch, as a share of the reach: longer epochs are fewer, but their lists are
/// longer.
const EXCURSION: f64 = 0.05;
/// Bounds of an epoch: the longer one bounds the legs that are drawn ahead.
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
        let here = motion.position(nodes[from as usize], now);
        let mut steps = 0;
        for &to in &*stations {
            let there = motion.position(nodes[to as usize], now);
            let is_near = here.distance_squared(there) <= *reach_squared;
            let Some(link) = is_near.then(|| channel.link(from, to, here, there)).flatten() else {
                scratch.unheard.push(to);
                continue;
            };
            let mut place = links.len();
            links.push(link);
            // Insertion takes few steps as long as the order is nearly the last one's.
            if steps <= STEPS * stations.len() {
                while place > 0 && link.order() < links[place - 1].order() {
                    links[place] = links[place - 1];
                    place -= 1;
                    steps += 1;
                }
                links[place] = link;
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

impl Epoch {
    #[cold]
    fn begin(&mut self, now: Instant, channel: &Channel, nodes: &[NodeId], motion: &mut Motion) {
        self.number += 1;
        self.end = Instant::from_nanos(now.as_nanos().saturating_add(self.length.as_nanos()));
        let end = self.end;
        self.discs.clear();
        self.discs.extend(
            nodes
                .iter()
                .map(|&node| Disc { place: motion.position(node, now), radius: motion.excursion(node, now, end) }),
        );
        let widest = self.discs.iter().map(|disc| disc.radius).fold(0.0, f64::max);
        self.squares.fill(self.discs.iter().map(|disc| disc.place), channel.reach() + 2.0 * widest);
        // In floating point, but no result depends on it.
        let share = EXCURSION * channel.reach() / widest;
        let length = Duration::from_secs_f64(self.length.as_secs_f64() * share.clamp(0.25, 4.0));
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
        found.extend(self.squares.near(own.place).filter_map(candidate));
        found.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    }
}
