//! Where nodes stand, and which of them a transmission reaches.

use std::collections::BTreeMap;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Duration;
use hopcast_radio::mac::StationId;
use hopcast_radio::medium::{Link, Medium, Reception, Rules};
use hopcast_radio::propagation::{FreeSpace, Position, Range, TwoRayGround, propagation_delay};
use hopcast_radio::standard::DataRate;
use hopcast_radio::units::{Decibel, Power, PowerRatio};

use crate::scenario::model::{self, Placement, Propagation, Radio, Scenario};

/// Positions of all nodes, by index; those of placement `uniform` are drawn for `seed`.
pub fn positions(scenario: &Scenario, seed: u64) -> Vec<Position> {
    let mut positions = Vec::new();
    for (group, index) in scenario.groups.iter().zip(0_u64..) {
        let count = group.node_names.len();
        positions.extend((0..count).map(|node| place(&group.placement, node, count, seed, index)));
    }
    positions
}

/// Who hears whom, and how well.
#[derive(Clone, Debug)]
pub struct Topology {
    /// By transmitter.
    pub links: Vec<Vec<Link>>,
    /// When frames are received.
    pub reception: Reception,
    /// Least power to decode a frame of each rate in use.
    pub thresholds: Vec<(DataRate, Power)>,
}

impl Topology {
    /// The links between nodes at `positions`, down to the interference floor.
    pub fn new(radio: &Radio, positions: &[Position]) -> Self {
        let rates = [radio.data_rate, radio.basic_rate];
        match radio.propagation {
            Propagation::Range { receive, carrier_sense } => {
                // A range has no power: two units are decoded, one is sensed, and no ratio survives an overlap.
                let range = Range { receive, carrier_sense };
                let power = |from: Position, to: Position| {
                    let distance = from.distance_squared(to);
                    Power::from_attowatts(u64::from(range.is_sensed(distance)) + u64::from(range.is_received(distance)))
                };
                let (sensed, decoded) = (Power::from_attowatts(1), Power::from_attowatts(2));
                Self {
                    links: links(positions, carrier_sense, sensed, power),
                    reception: Reception {
                        carrier_sense_threshold: sensed,
                        capture: PowerRatio::from_ratio(f64::INFINITY),
                        rules: rules(radio.reception.rules),
                    },
                    thresholds: rates.map(|rate| (rate, decoded)).to_vec(),
                }
            }
            Propagation::FreeSpace { frequency } => Self::with_power(radio, positions, &FreeSpace::new(frequency)),
            Propagation::TwoRayGround { frequency, antenna_height } => {
                Self::with_power(radio, positions, &TwoRayGround::new(frequency, antenna_height))
            }
        }
    }

    /// For each node, those that decode its data frames when nothing overlaps.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let (_, threshold) = self.thresholds[0];
        let decoded = |links: &Vec<Link>| {
            links.iter().filter(|link| link.power >= threshold).map(|link| link.receiver.0).collect()
        };
        self.links.iter().map(decoded).collect()
    }

    /// The medium between the nodes.
    pub fn into_medium<P>(self) -> Medium<P> {
        Medium::new(self.links, self.reception, self.thresholds)
    }

    fn with_power(radio: &Radio, positions: &[Position], model: &impl hopcast_radio::propagation::Propagation) -> Self {
        let phy = radio.standard.phy(radio.short_preamble);
        let reception = &radio.reception;
        let sent = Power::from_dbm(radio.tx_power);
        let floor = Power::from_dbm(reception.interference_floor).max(Power::from_attowatts(1));
        let reach = model.reach(Decibel(reception.interference_floor - radio.tx_power).as_ratio());
        let threshold = |rate| reception.receive_threshold.unwrap_or_else(|| phy.minimum_sensitivity(rate));
        Self {
            links: links(positions, reach, floor, |from, to| model.received_power(sent, from, to)),
            reception: Reception {
                carrier_sense_threshold: Power::from_dbm(reception.carrier_sense_threshold),
                capture: Decibel(reception.capture).into(),
                rules: rules(reception.rules),
            },
            thresholds: [radio.data_rate, radio.basic_rate]
                .map(|rate| (rate, Power::from_dbm(threshold(rate))))
                .to_vec(),
        }
    }
}

fn rules(rules: model::Rules) -> Rules {
    match rules {
        model::Rules::Cumulative => Rules::Cumulative,
        model::Rules::PairwiseFirstCome => Rules::PairwiseFirstCome,
    }
}

/// The position of node `node` of `count` in the group with this index, in metres.
fn place(placement: &Placement, node: usize, count: usize, seed: u64, group: u64) -> Position {
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

/// All links of at least `floor`, which no link longer than `reach` metres has. Nodes are looked for in the squares of a
/// grid with that spacing, so that the cost grows with the number of neighbours.
fn links(
    positions: &[Position],
    reach: f64,
    floor: Power,
    power: impl Fn(Position, Position) -> Power,
) -> Vec<Vec<Link>> {
    // A little longer, so that rounding can't lose a link at the very edge.
    let spacing = (reach * (1.0 + 1e-9)).clamp(1.0, 1e9);
    let square =
        |position: Position| (libm::floor(position.x / spacing) as i64, libm::floor(position.y / spacing) as i64);
    let mut squares: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
    for (&position, node) in positions.iter().zip(0..) {
        squares.entry(square(position)).or_default().push(node);
    }
    let hears = |from: usize, to: u32| {
        let (here, there) = (positions[from], positions[to as usize]);
        let power = if to as usize == from { Power::ZERO } else { power(here, there) };
        let delay = if power >= floor { propagation_delay(here.distance(there)) } else { Duration::ZERO };
        (power >= floor).then_some(Link { receiver: StationId(to), delay, power })
    };
    (0..positions.len())
        .map(|from| {
            let (x, y) = square(positions[from]);
            let around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
            let candidates = around.filter_map(|square| squares.get(&square)).flatten();
            candidates.filter_map(|&to| hears(from, to)).collect()
        })
        .collect()
}
