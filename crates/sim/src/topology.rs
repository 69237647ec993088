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
use hopcast_radio::standard::{DataRate, Standard};
use hopcast_radio::units::{Decibel, Power, PowerRatio};

use crate::network::Station;
use crate::scenario::model::{self, Errors, LossLevel, NodeRadio, Placement, Propagation, Radio, Scenario};

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
    /// By transmitter: least power of a link over which its data frames pass.
    usable: Vec<Power>,
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
    /// The links between `stations`, whose nodes stand at `positions`, down to the interference floor, in the run with
    /// `seed`. Given up with `None` as soon as `goes_on`, which is asked before each station, says no.
    pub fn new_while(
        radio: &Radio,
        stations: &[Station<'_>],
        positions: &[Position],
        seed: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let air = Air {
            radio,
            stations,
            positions: stations.iter().map(|station| positions[station.node.0 as usize]).collect(),
            seed,
            goes_on,
        };
        match radio.propagation {
            Propagation::Range { receive, carrier_sense } => {
                // A range has no power: two units are decoded, one is sensed, and no ratio survives an overlap.
                let range = Range { receive, carrier_sense };
                let power = |from: usize, to: usize| {
                    if air.rejection(from, to) != Some(0.0) {
                        return Power::ZERO;
                    }
                    let distance = air.positions[from].distance_squared(air.positions[to]);
                    Power::from_attowatts(u64::from(range.is_sensed(distance)) + u64::from(range.is_received(distance)))
                };
                let (sensed, decoded) = (Power::from_attowatts(1), Power::from_attowatts(2));
                Some(Self {
                    links: air.links(carrier_sense, sensed, power)?,
                    reception: Reception::Threshold(Threshold {
                        carrier_sense_threshold: sensed,
                        capture: PowerRatio::from_ratio(f64::INFINITY),
                        rules: threshold_rules(radio.reception.rules),
                        receive_thresholds: rates(radio, stations).iter().map(|&rate| (rate, decoded)).collect(),
                    }),
                    usable: vec![decoded; stations.len()],
                    variation: None,
                    losses: losses(&radio.errors, stations.len(), seed),
                })
            }
            Propagation::FreeSpace { frequency } => Self::with_power(&air, &FreeSpace::new(frequency)),
            Propagation::TwoRayGround { frequency, antenna_height } => {
                Self::with_power(&air, &TwoRayGround::new(frequency, antenna_height))
            }
            Propagation::TwoRayInterference { frequency, antenna_height, permittivity, polarization } => {
                let model = TwoRayInterference::new(frequency, antenna_height, permittivity, polarization);
                Self::with_power(&air, &model)
            }
            Propagation::LogDistance { frequency, exponent, reference_distance } => {
                Self::with_power(&air, &LogDistance::new(frequency, exponent, reference_distance))
            }
        }
    }

    /// The stations that decode data frames of `station` when nothing overlaps and nothing varies.
    pub fn neighbours(&self, station: StationId) -> impl Iterator<Item = u32> + '_ {
        self.usable_links(station).map(|link| link.receiver.0)
    }

    /// The links over which data frames of `station` pass.
    pub fn usable_links(&self, station: StationId) -> impl Iterator<Item = &Link> {
        let usable = self.usable[station.0 as usize];
        self.links[station.0 as usize].iter().filter(move |link| link.decodable && link.power >= usable)
    }

    /// The medium between the stations.
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

    fn with_power(air: &Air<'_>, model: &impl propagation::Propagation) -> Option<Self> {
        let &Air { radio, stations, seed, .. } = air;
        let (reception, usable) = reception(radio, stations, seed);
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
        let strongest = stations.iter().map(|station| station.config.tx_power).fold(f64::NEG_INFINITY, f64::max);
        let reach = model.reach(Decibel(floor - link_margin - strongest).as_ratio());
        let sent: Vec<Power> = stations.iter().map(|station| Power::from_dbm(station.config.tx_power)).collect();
        let power = |from: usize, to: usize| {
            let Some(rejection) = air.rejection(from, to) else { return Power::ZERO };
            let (here, there) = (air.positions[from], air.positions[to]);
            let gain = obstacles.as_ref().map_or(1.0, |obstacles| obstacles.gain(here, there));
            let power = model.received_power(sent[from], here, there).scaled(gain);
            if rejection > 0.0 { power.scaled(Decibel(-rejection).as_ratio()) } else { power }
        };
        Some(Self {
            links: air.links(reach, Power::from_dbm(floor).max(Power::from_attowatts(1)), power)?,
            reception,
            usable,
            variation: (variation.shadowing.is_some() || variation.fading.is_some()).then_some(variation),
            losses: losses(&radio.errors, stations.len(), seed),
        })
    }
}

/// All stations at their places.
struct Air<'a> {
    radio: &'a Radio,
    stations: &'a [Station<'a>],
    /// By station, in metres.
    positions: Vec<Position>,
    seed: u64,
    goes_on: &'a dyn Fn() -> bool,
}

/// In dB: by so much more an OFDM receiver rejects a channel beyond the adjacent one (IEEE 802.11-2020, Table 17-18).
const NONADJACENT: f64 = 16.0;

impl Air<'_> {
    /// What is lost in dB between two stations, as their channels are apart; `None`: everything.
    ///
    /// In between one channel and the next, where they overlap, it grows evenly. Radios of one node on different channels
    /// don't disturb each other.
    fn rejection(&self, from: usize, to: usize) -> Option<f64> {
        let (from, to) = (&self.stations[from], &self.stations[to]);
        let offset = libm::fabs(from.config.frequency - to.config.frequency);
        if offset == 0.0 {
            return Some(0.0);
        }
        if from.node == to.node {
            return None;
        }
        let adjacent = self.radio.adjacent_channel_rejection?;
        // IEEE 802.11-2020, 17.3.8.4.2 and, in the band at 2.4 GHz, 15.4.4.3, 16.3.6.3: channels that don't overlap.
        let spacing = match self.radio.standard {
            Standard::Ofdm => 20e6,
            Standard::OfdmTurbo => 40e6,
            _ => 25e6,
        };
        let channels = offset / spacing;
        Some(if channels <= 1.0 { adjacent * channels } else { adjacent + NONADJACENT * (channels - 1.0).min(1.0) })
    }

    /// All links of at least `floor`, which no link longer than `reach` metres has. Stations are looked for in the squares
    /// of a grid with that spacing, so that the cost grows with the number of neighbours.
    fn links(&self, reach: f64, floor: Power, power: impl Fn(usize, usize) -> Power) -> Option<Vec<Vec<Link>>> {
        let Self { positions, stations, goes_on, .. } = self;
        // A little longer, so that rounding can't lose a link at the very edge.
        let spacing = (reach * (1.0 + 1e-9)).clamp(1.0, 1e9);
        let square =
            |position: Position| (libm::floor(position.x / spacing) as i64, libm::floor(position.y / spacing) as i64);
        let mut squares: BTreeMap<(i64, i64), Vec<u32>> = BTreeMap::new();
        for (&position, station) in positions.iter().zip(0..) {
            squares.entry(square(position)).or_default().push(station);
        }
        let hears = |from: usize, to: u32| {
            let other = to as usize;
            let power = if other == from { Power::ZERO } else { power(from, other) };
            let heard = power >= floor && power > Power::ZERO;
            let delay = match heard {
                true => propagation_delay(positions[from].distance(positions[other])),
                false => Duration::ZERO,
            };
            let decodable = stations[from].config.frequency == stations[other].config.frequency;
            heard.then_some(Link { receiver: StationId(to), delay, power, decodable })
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
}

/// How frames are received, and for each station the least power of a link over which its data frames pass.
fn reception(radio: &Radio, stations: &[Station<'_>], seed: u64) -> (Reception, Vec<Power>) {
    let phy = radio.standard.phy(radio.short_preamble);
    let model = &radio.reception;
    let carrier_sense_threshold = Power::from_dbm(model.carrier_sense_threshold);
    if model.rules == model::Rules::Sinr {
        let receive_threshold = model.receive_threshold.map_or(Power::ZERO, Power::from_dbm);
        let modes: Vec<Mode> =
            rates(radio, stations).into_iter().map(|rate| Mode::new(&phy, rate, model.noise_figure)).collect();
        let needed = |rate| {
            let mode = modes.iter().find(|mode| mode.rate() == rate).expect("every rate in use has a mode");
            mode.least_power(USABLE_LOSS, phy.payload_bits(rate, USABLE_OCTETS)).max(receive_threshold)
        };
        let usable = of_robust_rates(stations, radio.standard, needed);
        let sinr = Sinr {
            carrier_sense_threshold,
            detection: Decibel(model.preamble_detection).into(),
            receive_threshold,
            capture: Decibel(model.capture).into(),
            modes,
            seed,
        };
        return (Reception::Sinr(sinr), usable);
    }
    let threshold = |rate| Power::from_dbm(model.receive_threshold.unwrap_or_else(|| phy.minimum_sensitivity(rate)));
    let thresholds = Threshold {
        carrier_sense_threshold,
        capture: Decibel(model.capture).into(),
        rules: threshold_rules(model.rules),
        receive_thresholds: rates(radio, stations).into_iter().map(|rate| (rate, threshold(rate))).collect(),
    };
    (Reception::Threshold(thresholds), of_robust_rates(stations, radio.standard, threshold))
}

/// The rates of all frames: of data, of RTS and broadcasts, and of the answers to each of them; those of data first.
fn rates(radio: &Radio, stations: &[Station<'_>]) -> Vec<DataRate> {
    let mut rates = Vec::new();
    let mut enter = |rate| {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    };
    let mut configs: Vec<&NodeRadio> = Vec::new();
    for station in stations {
        if !configs.iter().any(|known| has_equal_rates(known, station.config)) {
            configs.push(station.config);
        }
    }
    for config in configs {
        let mut own = vec![config.data_rate, config.basic_rate];
        if !matches!(config.rate_control, Algorithm::Fixed(_)) {
            own.extend(radio.standard.rates());
        }
        let answers = own.iter().map(|&rate| radio.standard.default_basic_rate(rate).min(config.basic_rate));
        own.clone().into_iter().chain(answers).for_each(&mut enter);
    }
    rates
}

fn has_equal_rates(one: &NodeRadio, other: &NodeRadio) -> bool {
    let rates = |radio: &NodeRadio| (radio.data_rate, radio.basic_rate, radio.rate_control);
    rates(one) == rates(other)
}

/// What holds for the most robust rate of data frames of each station, which decides who is a neighbour; asked once for each
/// rate.
fn of_robust_rates(stations: &[Station<'_>], standard: Standard, of: impl Fn(DataRate) -> Power) -> Vec<Power> {
    let mut known: Vec<(DataRate, Power)> = Vec::new();
    let power = |station: &Station<'_>| {
        let rate = match station.config.rate_control {
            Algorithm::Fixed(rate) => rate,
            _ => standard.rates()[0],
        };
        let found = known.iter().find(|(known, _)| *known == rate).map(|(_, power)| *power);
        found.unwrap_or_else(|| {
            known.push((rate, of(rate)));
            known[known.len() - 1].1
        })
    };
    stations.iter().map(power).collect()
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
