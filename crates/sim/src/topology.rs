//! Where nodes stand, and which of them a transmission reaches.

use std::collections::BTreeMap;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Duration;
use hopcast_radio::errors::{GilbertElliott, PacketErrors};
use hopcast_radio::fading::Fading;
use hopcast_radio::mac::StationId;
use hopcast_radio::medium::{Link, Losses, Medium, Variation};
use hopcast_radio::propagation::{
    self, FrameShadowing, FreeSpace, LinkShadowing, LogDistance, Position, Range, TwoRayGround, TwoRayInterference,
    propagation_delay,
};
use hopcast_radio::rate::Algorithm;
use hopcast_radio::reception::{Mode, Reception, Rules, Sinr, Threshold};
use hopcast_radio::standard::DataRate;
use hopcast_radio::units::{Decibel, Power, PowerRatio};

use crate::scenario::model::{self, Errors, LossLevel, Placement, Propagation, Radio, Scenario};

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
    /// Least power of a link over which data frames pass.
    pub usable: Power,
    variation: Option<Variation>,
    losses: Option<Losses>,
}

/// A path that data frames of this length use loses at most this share of them, noise alone considered.
const USABLE_OCTETS: u32 = 1_536;
const USABLE_LOSS: f64 = 0.1;

/// Standard deviations of shadowing up to which a link may be better than the mean at its distance.
const SHADOWING_DEVIATIONS: f64 = 4.0;
/// In dB: a fading peak that one frame in 20 000 of Rayleigh fading surpasses.
const FADING_PEAK: f64 = 10.0;

impl Topology {
    /// The links between nodes at `positions`, down to the interference floor, in the run with `seed`. Given up with `None`
    /// as soon as `goes_on`, which is asked before each node, says no.
    pub fn new_while(radio: &Radio, positions: &[Position], seed: u64, goes_on: &dyn Fn() -> bool) -> Option<Self> {
        match radio.propagation {
            Propagation::Range { receive, carrier_sense } => {
                // A range has no power: two units are decoded, one is sensed, and no ratio survives an overlap.
                let range = Range { receive, carrier_sense };
                let power = |from: Position, to: Position| {
                    let distance = from.distance_squared(to);
                    Power::from_attowatts(u64::from(range.is_sensed(distance)) + u64::from(range.is_received(distance)))
                };
                let (sensed, decoded) = (Power::from_attowatts(1), Power::from_attowatts(2));
                Some(Self {
                    links: links(positions, carrier_sense, sensed, power, goes_on)?,
                    reception: Reception::Threshold(Threshold {
                        carrier_sense_threshold: sensed,
                        capture: PowerRatio::from_ratio(f64::INFINITY),
                        rules: threshold_rules(radio.reception.rules),
                        receive_thresholds: rates(radio).iter().map(|&rate| (rate, decoded)).collect(),
                    }),
                    usable: decoded,
                    variation: None,
                    losses: losses(&radio.errors, positions.len(), seed),
                })
            }
            Propagation::FreeSpace { frequency } => {
                Self::with_power(radio, positions, seed, &FreeSpace::new(frequency), goes_on)
            }
            Propagation::TwoRayGround { frequency, antenna_height } => {
                Self::with_power(radio, positions, seed, &TwoRayGround::new(frequency, antenna_height), goes_on)
            }
            Propagation::TwoRayInterference { frequency, antenna_height, permittivity, polarization } => {
                let model = TwoRayInterference::new(frequency, antenna_height, permittivity, polarization);
                Self::with_power(radio, positions, seed, &model, goes_on)
            }
            Propagation::LogDistance { frequency, exponent, reference_distance } => Self::with_power(
                radio,
                positions,
                seed,
                &LogDistance::new(frequency, exponent, reference_distance),
                goes_on,
            ),
        }
    }

    /// For each node, those that decode its data frames when nothing overlaps and nothing varies.
    pub fn neighbours(&self) -> Vec<Vec<u32>> {
        let decoded = |links: &Vec<Link>| {
            links.iter().filter(|link| link.power >= self.usable).map(|link| link.receiver.0).collect()
        };
        self.links.iter().map(decoded).collect()
    }

    /// The medium between the nodes.
    pub fn into_medium<P>(self) -> Medium<P> {
        let mut medium = Medium::new(self.links, self.reception);
        if let Some(variation) = self.variation {
            medium.set_variation(variation);
        }
        if let Some(losses) = self.losses {
            medium.set_losses(losses);
        }
        medium
    }

    fn with_power(
        radio: &Radio,
        positions: &[Position],
        seed: u64,
        model: &impl propagation::Propagation,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let (reception, usable) = reception(radio, seed);
        let shadowing = |per_frame: bool| radio.shadowing.filter(|s| s.decorrelation.is_none() == per_frame);
        let obstacles = shadowing(false).and_then(|s| Some(LinkShadowing::new(seed, s.deviation, s.decorrelation?)));
        let variation = Variation {
            shadowing: shadowing(true).map(|s| FrameShadowing::new(seed, s.deviation)),
            fading: radio.fading.map(|fading| Fading::new(seed, fading.distribution, fading.doppler)),
        };
        // What may raise a power above the floor: for one frame, and on top of that for one link.
        let frame_margin = shadowing(true).map_or(0.0, |s| SHADOWING_DEVIATIONS * s.deviation)
            + radio.fading.map_or(0.0, |_| FADING_PEAK);
        let link_margin = shadowing(false).map_or(0.0, |s| SHADOWING_DEVIATIONS * s.deviation);
        let floor = radio.reception.interference_floor - frame_margin;
        let reach = model.reach(Decibel(floor - link_margin - radio.tx_power).as_ratio());
        let sent = Power::from_dbm(radio.tx_power);
        let power = |from: Position, to: Position| {
            let gain = obstacles.as_ref().map_or(1.0, |obstacles| obstacles.gain(from, to));
            model.received_power(sent, from, to).scaled(gain)
        };
        Some(Self {
            links: links(positions, reach, Power::from_dbm(floor).max(Power::from_attowatts(1)), power, goes_on)?,
            reception,
            usable,
            variation: (variation.shadowing.is_some() || variation.fading.is_some()).then_some(variation),
            losses: losses(&radio.errors, positions.len(), seed),
        })
    }
}

/// How frames are received, and the least power of a link over which data frames pass.
fn reception(radio: &Radio, seed: u64) -> (Reception, Power) {
    let phy = radio.standard.phy(radio.short_preamble);
    let model = &radio.reception;
    let carrier_sense_threshold = Power::from_dbm(model.carrier_sense_threshold);
    if model.rules == model::Rules::Sinr {
        let data = Mode::new(&phy, robust_rate(radio), model.noise_figure);
        let receive_threshold = model.receive_threshold.map_or(Power::ZERO, Power::from_dbm);
        let needed = data.least_power(USABLE_LOSS, phy.payload_bits(robust_rate(radio), USABLE_OCTETS));
        let sinr = Sinr {
            carrier_sense_threshold,
            detection: Decibel(model.preamble_detection).into(),
            receive_threshold,
            capture: Decibel(model.capture).into(),
            modes: rates(radio).into_iter().map(|rate| Mode::new(&phy, rate, model.noise_figure)).collect(),
            seed,
        };
        return (Reception::Sinr(sinr), needed.max(receive_threshold));
    }
    let threshold = |rate| Power::from_dbm(model.receive_threshold.unwrap_or_else(|| phy.minimum_sensitivity(rate)));
    let thresholds = Threshold {
        carrier_sense_threshold,
        capture: Decibel(model.capture).into(),
        rules: threshold_rules(model.rules),
        receive_thresholds: rates(radio).into_iter().map(|rate| (rate, threshold(rate))).collect(),
    };
    (Reception::Threshold(thresholds), threshold(robust_rate(radio)))
}

/// The rates of a network's frames: of data, of RTS and broadcasts, and of the answers to each of them.
fn rates(radio: &Radio) -> Vec<DataRate> {
    let mut rates = vec![radio.data_rate, radio.basic_rate];
    if !matches!(radio.rate_control, Algorithm::Fixed(_)) {
        rates.extend(radio.standard.rates());
    }
    let answers: Vec<DataRate> =
        rates.iter().map(|&rate| radio.standard.default_basic_rate(rate).min(radio.basic_rate)).collect();
    rates.extend(answers);
    let mut known = Vec::new();
    rates.retain(|rate| {
        !known.contains(rate) && {
            known.push(*rate);
            true
        }
    });
    rates
}

/// The most robust rate of data frames: it decides who is a neighbour.
fn robust_rate(radio: &Radio) -> DataRate {
    match radio.rate_control {
        Algorithm::Fixed(rate) => rate,
        _ => radio.standard.rates()[0],
    }
}

/// Those of a reception that has thresholds.
fn threshold_rules(rules: model::Rules) -> Rules {
    match rules {
        model::Rules::PairwiseFirstCome => Rules::PairwiseFirstCome,
        model::Rules::Cumulative | model::Rules::Sinr => Rules::Cumulative,
    }
}

/// Frames that the medium loses beside.
fn losses(errors: &Errors, stations: usize, seed: u64) -> Option<Losses> {
    match errors {
        Errors::Packet { steps, level: LossLevel::Frame } => {
            Some(Losses::Packet(PacketErrors::stepped(seed, steps.clone())))
        }
        Errors::GilbertElliott { states, fec } => Some(Losses::GilbertElliott {
            chains: (0..stations as u32).map(|node| GilbertElliott::new(seed, node, *states)).collect(),
            code: *fec,
            seed,
        }),
        Errors::None | Errors::Packet { level: LossLevel::Network, .. } => None,
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
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<Vec<Link>>> {
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
            if !goes_on() {
                return None;
            }
            let (x, y) = square(positions[from]);
            let around = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
            let candidates = around.filter_map(|square| squares.get(&square)).flatten();
            Some(candidates.filter_map(|&to| hears(from, to)).collect())
        })
        .collect()
}
