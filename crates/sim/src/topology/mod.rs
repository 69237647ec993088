//! The stations that a transmission reaches, and their received power.

mod channel;
mod connectivity;
mod moving;
mod squares;

use std::cell::OnceCell;

use hopcast_protocols::random::Purpose;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::PacketErrors;
use hopcast_radio::fading::Fading;
use hopcast_radio::mac::{StationId, control_response_rate, dsss_rate};
use hopcast_radio::medium::{Link, Losses, Medium, Variation};
use hopcast_radio::obstacles::{Blockage, Drift, Walls};
use hopcast_radio::phy::{Capability, ModulationClass, ModulationClasses, Spectrum, TxVector, distinct};
use hopcast_radio::propagation::{FrameShadowing, LinkShadowing, Position};
use hopcast_radio::rate::Algorithm;
use hopcast_radio::reception::{Mode, Reception, Rules, Sinr, Threshold};
use hopcast_radio::units::{Decibel, Power, PowerRatio};

use crate::id::NodeId;
use crate::layout::{self, Station};
use crate::mobility::Motion;
use crate::scenario::model::{self, Errors, LossLevel, NodeRadio, Propagation, Radio};
use channel::{Attenuation, Channel};
pub(crate) use connectivity::Connectivity;
use moving::Surroundings;
use squares::Squares;

/// Links between stations.
#[derive(Debug)]
pub(crate) struct Topology {
    /// By transmitter, at the start; where nodes move, only those over which data frames pass.
    links: Vec<Vec<Link>>,
    /// When frames are received.
    reception: Reception,
    /// By transmitter: least power of a link over which its data frames pass.
    usable: Vec<ByReceiver<Power>>,
    /// By transmitter: the most robust rate of its data frames, and the bits of a full one.
    robust: Vec<ByReceiver<(TxVector, u32)>>,
    /// By station, at the start.
    places: Vec<Position>,
    variation: Option<Variation>,
    losses: Option<Losses>,
    /// By station, where they differ; and whether powers mean anything.
    capabilities: Option<(Vec<Capability>, bool)>,
    /// Where stations tell their primary channel from the secondary ones; and for how long those are to be idle.
    spectrum: Option<(Spectrum, Duration)>,
    channel: Channel,
    /// What [`Self::lossy_links`] has found.
    lossy: OnceCell<Vec<Vec<(u32, f64)>>>,
    /// By station: whose it is.
    nodes: Vec<NodeId>,
    motion: Motion,
}

/// What differs between the receivers of a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByReceiver<T> {
    /// For those that understand all modulations.
    any: T,
    /// For those that understand no more than a modulation class, in the order of the classes.
    older: [T; CLASSES],
}

/// Modulation classes that are not the last.
const CLASSES: usize = ModulationClass::He as usize;

impl<T: Copy> ByReceiver<T> {
    /// For the receiver of `link`, if it decodes anything.
    fn of(&self, link: &Link) -> Option<T> {
        match link.decodable {
            ModulationClasses::NONE => None,
            classes => {
                Some(classes.highest().and_then(|class| self.older.get(class as usize)).map_or(self.any, |&of| of))
            }
        }
    }

    fn map<U>(self, change: impl Fn(T) -> U) -> ByReceiver<U> {
        ByReceiver { any: change(self.any), older: self.older.map(change) }
    }
}

/// A link that lets fewer frames pass is none: with the standard's seven attempts it would deliver less than one packet in a hundred.
const LEAST_SUCCESS: f64 = 1e-3;

/// Number of frames whose mean estimates the success over a link with varying power, to about three hundredths.
const SAMPLED_FRAMES: u64 = 256;

/// Of data frames of this length a usable link loses at most [`USABLE_LOSS`].
const USABLE_OCTETS: u32 = 1_536;
/// The largest share of full frames that a usable link loses, by noise alone.
pub(crate) const USABLE_LOSS: f64 = 0.1;

/// Standard deviations of shadowing up to which a link may be better than the mean at its distance.
const SHADOWING_DEVIATIONS: f64 = 4.0;
/// In dB: a fading peak that one frame in 20 000 of Rayleigh fading surpasses.
const FADING_PEAK: f64 = 10.0;

impl Topology {
    /// The links between `stations`, whose nodes move as in `motion`, down to the interference floor, in the run with
    /// `seed`. Calls `goes_on` before each station, and returns `None` as soon as it returns false.
    pub(crate) fn new_while(
        radio: &Radio,
        stations: &[Station<'_>],
        mut motion: Motion,
        seed: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let places: Vec<Position> =
            stations.iter().map(|station| motion.position(station.node, Instant::START)).collect();
        let (reception, usable) = reception(radio, stations, seed);
        let channel = channel(radio, stations, seed);
        let is_kept = |from: usize, link: &Link| !motion.moves() || is_usable(link, &usable[from]);
        let bits = |rate: TxVector| (rate, rate.payload_bits(USABLE_OCTETS));
        let robust = robust_rates(radio, stations).into_iter().map(|rates| rates.map(bits)).collect();
        Some(Self {
            links: links(&channel, &places, is_kept, goes_on)?,
            reception,
            usable,
            robust,
            places,
            variation: variation(radio, seed),
            losses: losses(radio, seed),
            capabilities: layout::capabilities(radio, stations)
                .map(|capabilities| (capabilities, !matches!(radio.propagation, Propagation::Range(_)))),
            spectrum: layout::channels(radio, stations)
                .map(|channels| (Spectrum::new(&channels, radio.adjacent_channel_rejection), radio.phy().pifs())),
            channel,
            lossy: OnceCell::new(),
            nodes: stations.iter().map(|station| station.node).collect(),
            motion,
        })
    }

    /// The stations that decode data frames of `station` without overlapping frames and variation.
    pub(crate) fn neighbours(&self, station: StationId) -> impl Iterator<Item = u32> + '_ {
        self.usable_links(station).map(|link| link.receiver.0)
    }

    /// The usable links for data frames of `station`, at the start of the run.
    pub(crate) fn usable_links(&self, station: StationId) -> impl Iterator<Item = &Link> {
        let usable = &self.usable[station.0 as usize];
        self.links[station.0 as usize].iter().filter(move |link| is_usable(link, usable))
    }

    /// Whether `station` senses the frames of each of `others`, or decodes them, at the start of the run. `None`: nodes move.
    pub(crate) fn hears_all(&self, station: StationId, others: &[StationId]) -> Option<bool> {
        let threshold = match &self.reception {
            Reception::Threshold(model) => model.carrier_sense_threshold,
            Reception::Sinr(model) => model.carrier_sense_threshold,
        };
        let hears = |&other: &StationId| {
            let usable = &self.usable[other.0 as usize];
            let mut links = self.links[other.0 as usize].iter().filter(|link| link.receiver == station);
            other == station || links.any(|link| link.power >= threshold || is_usable(link, usable))
        };
        (!self.motion.moves()).then(|| others.iter().all(hears))
    }

    /// For each station the others that receive some of its full data frames at the start of the run, with the share that
    /// noise and variation from frame to frame let pass; includes links that [`Self::usable_links`] leaves out. With
    /// reception by thresholds and without variation the share is 0 or 1. Computed on the first call.
    pub(crate) fn lossy_links(&self) -> &[Vec<(u32, f64)>] {
        self.lossy.get_or_init(|| self.find_lossy_links())
    }

    fn find_lossy_links(&self) -> Vec<Vec<(u32, f64)>> {
        let decodable = |_: usize, link: &Link| link.decodable != ModulationClasses::NONE;
        let links = links(&self.channel, &self.places, decodable, &|| true).expect("nothing stops it");
        let success = |from: usize, link: &Link| {
            let success = self.success(from, link).filter(|&success| success >= LEAST_SUCCESS)?;
            Some((link.receiver.0, success))
        };
        let from_each = links.iter().enumerate();
        from_each.map(|(from, links)| links.iter().filter_map(|link| success(from, link)).collect()).collect()
    }

    /// The share of full data frames that a link lets pass; `None` if the receiver can't decode them.
    fn success(&self, from: usize, link: &Link) -> Option<f64> {
        let (rate, bits) = self.robust[from].of(link)?;
        let least = self.usable[from].of(link)?;
        let at = |power: Power| match &self.reception {
            Reception::Sinr(sinr) => sinr.success(rate, power, bits).unwrap_or(0.0),
            Reception::Threshold(_) => f64::from(u8::from(power >= least)),
        };
        let Some(variation) = &self.variation else { return Some(at(link.power)) };
        let of_one = |frame: u64| {
            // Keys that no transmission of a run has, and instants so far apart that one tells nothing of the next.
            let (key, then) = (u64::MAX - frame, Instant::START + Duration::from_secs(frame));
            at(link.power.scaled(variation.of(key, StationId(from as u32)).at(link.receiver, then)))
        };
        Some((0..SAMPLED_FRAMES).map(of_one).sum::<f64>() / SAMPLED_FRAMES as f64)
    }

    /// Distance between two stations at the start, in metres.
    pub(crate) fn distance(&self, one: StationId, other: StationId) -> f64 {
        self.places[one.0 as usize].distance(self.places[other.0 as usize])
    }

    /// The medium between the stations.
    pub(crate) fn into_medium<P>(self) -> Medium<P> {
        let stations = self.links.len();
        let mut medium = if self.motion.moves() {
            let surroundings = Surroundings::new(self.channel, self.nodes, self.motion);
            Medium::moving(Box::new(surroundings), self.reception, stations)
        } else {
            Medium::new(self.links, self.reception)
        };
        if let Some(variation) = self.variation {
            medium.set_variation(variation);
        }
        if let Some(losses) = self.losses {
            medium.set_losses(losses);
        }
        if let Some((capabilities, has_power)) = self.capabilities {
            medium.set_capabilities(capabilities, has_power);
        }
        if let Some((spectrum, pifs)) = self.spectrum {
            medium.set_spectrum(spectrum, pifs);
        }
        medium
    }
}

fn is_usable(link: &Link, least: &ByReceiver<Power>) -> bool {
    least.of(link).is_some_and(|least| link.power >= least)
}

/// Stations whose links are looked for side by side: what the others' ends need stays in the processor's cache meanwhile.
const SIDE_BY_SIDE: usize = 8;

/// All links between stations at `places` that are to be kept, by transmitter. `goes_on` is asked before each.
fn links(
    channel: &Channel,
    places: &[Position],
    is_kept: impl Fn(usize, &Link) -> bool,
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<Vec<Link>>> {
    let mut squares = Squares::default();
    squares.fill(places.iter().copied(), channel.reach());
    let survey = channel.survey(places);
    let mut links = vec![Vec::new(); places.len()];
    for stations in squares.together(SIDE_BY_SIDE) {
        if !stations.iter().all(|_| goes_on()) {
            return None;
        }
        let near = stations.first().map(|member| squares.near(places[member.number() as usize]));
        for other in near.into_iter().flatten() {
            // Each pair once, in the order in which all links of each are found.
            for one in stations.iter().filter(|&one| one < other) {
                let (one, other) = (one.number(), other.number());
                let [there, back] = channel.links_at_rest(one, other, places, survey.as_ref());
                for (from, link) in [(one as usize, there), (other as usize, back)] {
                    links[from].extend(link.filter(|link| is_kept(from, link)));
                }
            }
        }
    }
    Some(links)
}

/// What decides about links.
fn channel(radio: &Radio, stations: &[Station<'_>], seed: u64) -> Channel {
    let model = match &radio.propagation {
        Propagation::Range(range) => {
            let attenuation = Attenuation::Range(*range);
            return Channel::new(radio, stations, attenuation, Attenuation::SENSED, range.carrier_sense, Vec::new());
        }
        Propagation::Path(path) => (path.make)(),
    };
    let obstacles = &radio.obstacles;
    let walls = (!obstacles.walls.is_empty()).then(|| Walls::new(obstacles.walls.clone(), obstacles.interiors.clone()));
    let of_places = shadowing(radio, false).and_then(|s| Some(LinkShadowing::new(seed, s.deviation, s.decorrelation?)));
    // What may raise a power above the floor: for one frame, and on top of that for one link.
    let frame_margin = shadowing(radio, true).map_or(0.0, |s| SHADOWING_DEVIATIONS * s.deviation)
        + radio.fading.map_or(0.0, |_| FADING_PEAK)
        + obstacles.drift.map_or(0.0, |drift| SHADOWING_DEVIATIONS * drift.deviation);
    let link_margin = shadowing(radio, false).map_or(0.0, |s| SHADOWING_DEVIATIONS * s.deviation);
    let floor = radio.reception.interference_floor - frame_margin;
    let strongest = stations.iter().map(|station| station.config.tx_power).fold(f64::NEG_INFINITY, f64::max);
    let reach = |margin: f64| model.reach(Decibel(floor - margin - strongest).as_ratio());
    let reaches = (0..=link_margin as u32).map(|decibels| reach(f64::from(decibels))).collect();
    let reach = reach(link_margin);
    let floor = Power::from_dbm(floor).max(Power::from_attowatts(1));
    let attenuation = Attenuation::Path { model, shadowing: of_places, walls };
    Channel::new(radio, stations, attenuation, floor, reach, reaches)
}

/// Shadowing that is drawn for each frame, or that belongs to places.
fn shadowing(radio: &Radio, per_frame: bool) -> Option<model::Shadowing> {
    radio.shadowing.filter(|shadowing| shadowing.decorrelation.is_none() == per_frame)
}

/// What varies from frame to frame; a range has no power that could.
fn variation(radio: &Radio, seed: u64) -> Option<Variation> {
    if matches!(radio.propagation, Propagation::Range(_)) {
        return None;
    }
    let variation = Variation {
        shadowing: shadowing(radio, true).map(|s| FrameShadowing::new(seed, s.deviation)),
        fading: radio.fading.map(|fading| Fading::new(seed, fading.distribution, fading.doppler)),
        blockage: radio.obstacles.blockage.map(|passages| Blockage::new(seed, passages)),
        drift: radio.obstacles.drift.map(|drift| Drift::new(seed, drift.deviation, drift.decorrelation)),
    };
    let Variation { shadowing, fading, blockage, drift } = &variation;
    let varies = shadowing.is_some() || fading.is_some() || blockage.is_some() || drift.is_some();
    varies.then_some(variation)
}

/// How frames are received, and for each station the least power of a link over which its data frames pass.
fn reception(radio: &Radio, stations: &[Station<'_>], seed: u64) -> (Reception, Vec<ByReceiver<Power>>) {
    let model = &radio.reception;
    if let Propagation::Range(_) = radio.propagation {
        // What is decoded has two units, what is sensed one, and no ratio survives an overlap.
        let threshold = Threshold {
            carrier_sense_threshold: Attenuation::SENSED,
            capture: PowerRatio::from_ratio(f64::INFINITY),
            rules: threshold_rules(model.rules),
            receive_thresholds: rates(radio, stations).iter().map(|&rate| (rate, Attenuation::DECODED)).collect(),
        };
        let usable = ByReceiver { any: Attenuation::DECODED, older: [Attenuation::DECODED; CLASSES] };
        return (Reception::Threshold(threshold), vec![usable; stations.len()]);
    }
    let carrier_sense_threshold = Power::from_dbm(model.carrier_sense_threshold);
    if model.rules == model::Rules::Sinr {
        let receive_threshold = model.receive_threshold.map_or(Power::ZERO, Power::from_dbm);
        let detection = model.preamble_detection.map(Decibel);
        let mode = |rate| Mode::new(rate, model.noise_figure, detection);
        let modes: Vec<Mode> = rates(radio, stations).into_iter().map(mode).collect();
        let needed = |rate: TxVector| {
            let mode = modes.iter().find(|mode| mode.vector() == rate).expect("every rate in use has a mode");
            mode.least_power(USABLE_LOSS, rate.payload_bits(USABLE_OCTETS)).max(receive_threshold)
        };
        let usable = of_robust_rates(radio, stations, needed);
        let sinr =
            Sinr { carrier_sense_threshold, receive_threshold, capture: Decibel(model.capture).into(), modes, seed };
        return (Reception::Sinr(sinr), usable);
    }
    let threshold =
        |rate: TxVector| Power::from_dbm(model.receive_threshold.unwrap_or_else(|| rate.framing().minimum_sensitivity));
    let thresholds = Threshold {
        carrier_sense_threshold,
        capture: Decibel(model.capture).into(),
        rules: threshold_rules(model.rules),
        receive_thresholds: rates(radio, stations).into_iter().map(|rate| (rate, threshold(rate))).collect(),
    };
    (Reception::Threshold(thresholds), of_robust_rates(radio, stations, threshold))
}

/// The rates of all frames: of data, of RTS and broadcasts, and of the answers to each of them; those of data first.
fn rates(radio: &Radio, stations: &[Station<'_>]) -> Vec<TxVector> {
    if let Some(kinds) = layout::kinds(radio, stations) {
        // All that any of them sends to any other, and what answers that.
        return distinct(kinds.iter().flat_map(|own| own.phy_among(&kinds).vectors()).copied());
    }
    let mut configs: Vec<&NodeRadio> = Vec::new();
    for station in stations {
        if !configs.iter().any(|known| has_equal_rates(known, station.config)) {
            configs.push(station.config);
        }
    }
    let phy = &radio.phy();
    let to_dsss = rate_to_dsss(radio, stations);
    let sent = configs.iter().flat_map(|config| {
        let is_fixed = matches!(config.rate_control, Algorithm::Fixed(_));
        let controlled = if is_fixed { &[] } else { phy.vectors() };
        [config.data_rate, config.basic_rate, to_dsss(config.data_rate)].into_iter().chain(controlled.iter().copied())
    });
    let sent: Vec<TxVector> = sent.collect();
    // Any of the others may answer, by its own basic rate.
    let answers = sent.iter().flat_map(|&rate| {
        let basics = configs.iter().map(|config| config.basic_rate);
        basics.map(move |basic| control_response_rate(phy, basic, rate))
    });
    let mut rates = Vec::new();
    for rate in sent.iter().copied().chain(answers) {
        if !rates.contains(&rate) {
            rates.push(rate);
        }
    }
    rates
}

fn has_equal_rates(one: &NodeRadio, other: &NodeRadio) -> bool {
    let rates = |radio: &NodeRadio| (radio.data_rate, radio.basic_rate, radio.rate_control);
    rates(one) == rates(other)
}

/// What holds for the most robust rate of data frames of each station, which decides who is a neighbour; asked once for each
/// rate.
fn of_robust_rates(radio: &Radio, stations: &[Station<'_>], of: impl Fn(TxVector) -> Power) -> Vec<ByReceiver<Power>> {
    let mut known: Vec<(ByReceiver<TxVector>, ByReceiver<Power>)> = Vec::new();
    let power = |rates: ByReceiver<TxVector>| {
        let found = known.iter().find(|(known, _)| *known == rates).map(|(_, powers)| *powers);
        found.unwrap_or_else(|| {
            known.push((rates, rates.map(&of)));
            known[known.len() - 1].1
        })
    };
    robust_rates(radio, stations).into_iter().map(power).collect()
}

/// The most robust rate of each station's data frames.
fn robust_rates(radio: &Radio, stations: &[Station<'_>]) -> Vec<ByReceiver<TxVector>> {
    if let Some(capabilities) = layout::capabilities(radio, stations) {
        return robust_rates_among(stations, &capabilities);
    }
    let to_dsss = rate_to_dsss(radio, stations);
    let rates = |station: &Station<'_>| {
        let any = match station.config.rate_control {
            Algorithm::Fixed(rate) => rate,
            _ => radio.phy().vectors()[0],
        };
        let mut older = [any; CLASSES];
        older[ModulationClass::Dsss as usize] = to_dsss(any);
        ByReceiver { any, older }
    };
    stations.iter().map(rates).collect()
}

/// The same among stations with these capabilities.
fn robust_rates_among(stations: &[Station<'_>], capabilities: &[Capability]) -> Vec<ByReceiver<TxVector>> {
    let kinds = distinct(capabilities.iter().copied());
    let rates = |(station, own): (&Station<'_>, &Capability)| {
        let toward = |other: Capability| match station.config.rate_control {
            Algorithm::Fixed(rate) => own.rate_toward(other, rate),
            _ => own.common(other).phy().vectors()[0],
        };
        let any = toward(*own);
        let older = core::array::from_fn(|class| {
            kinds.iter().find(|other| other.class() as usize == class).map_or(any, |&other| toward(other))
        });
        ByReceiver { any, older }
    };
    stations.iter().zip(capabilities).map(rates).collect()
}

/// From the rate of data to the rate of data for stations that understand DSSS alone; the same if there are none.
fn rate_to_dsss(radio: &Radio, stations: &[Station<'_>]) -> impl Fn(TxVector) -> TxVector {
    let phy = radio.phy();
    let has_dsss = stations.iter().any(|station| station.config.understands(&phy) == ModulationClasses::DSSS);
    move |rate| if has_dsss { dsss_rate(&phy, rate) } else { rate }
}

/// Those of a reception that has thresholds.
fn threshold_rules(rules: model::Rules) -> Rules {
    match rules {
        model::Rules::PairwiseFirstCome => Rules::PairwiseFirstCome,
        model::Rules::Cumulative | model::Rules::Sinr => Rules::Cumulative,
    }
}

/// Additional losses of the medium.
fn losses(radio: &Radio, seed: u64) -> Option<Losses> {
    match &radio.errors {
        Errors::Packet { steps, level: LossLevel::Frame } => {
            Some(Losses::Packet(PacketErrors::stepped(seed, steps.clone())))
        }
        Errors::Model(model) => Some(Losses::Model {
            model: (model.make)(seed),
            seed,
            purpose: match radio.reception.rules {
                model::Rules::Sinr => Purpose::ChannelError,
                model::Rules::Cumulative | model::Rules::PairwiseFirstCome => Purpose::Decoding,
            },
        }),
        Errors::None | Errors::Packet { level: LossLevel::Network, .. } => None,
    }
}
