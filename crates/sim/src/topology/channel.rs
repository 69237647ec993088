//! Strength of the link between two stations.

use hopcast_radio::mac::{Bandwidth, StationId};
use hopcast_radio::medium::Link;
use hopcast_radio::obstacles::Walls;
use hopcast_radio::phy::{ChannelWidth, ModulationClasses, NONADJACENT};
use hopcast_radio::propagation::{LinkShadowing, Position, Propagation, Range, Survey, propagation_delay};
use hopcast_radio::units::{Decibel, Power};

use crate::layout::Station;
use crate::scenario::model::Radio;

/// All that a link depends on but the places of its ends.
#[derive(Debug)]
pub(super) struct Channel {
    ends: Vec<End>,
    /// Whether all are on one channel and understand all frames, so that no check is needed.
    is_one: bool,
    /// Whether receivers tell parts of their channel apart: what is lost to each is not in the links.
    is_split: bool,
    attenuation: Attenuation,
    /// In dB; `None`: other channels are not heard.
    adjacent_rejection: Option<f64>,
    /// From one channel to the next that does not overlap it, in hertz.
    spacing: f64,
    floor: Power,
    /// Length in metres of the longest link, and of the longest links for each whole number of dB by which obstacles
    /// leave more than none, from 0 dB on.
    reach: f64,
    reaches: Vec<f64>,
}

/// A station as a transmitter and a receiver.
#[derive(Clone, Copy, Debug)]
struct End {
    node: u32,
    /// Centres of its channel and of its primary channel in hertz.
    frequency: f64,
    primary: f64,
    /// Of its channel, in hertz.
    width: f64,
    sent: Power,
    understands: ModulationClasses,
}

impl End {
    /// Whether their channels have a centre or a primary channel in common: one may be wider.
    fn shares_channel(&self, other: &Self) -> bool {
        self.frequency == other.frequency || self.primary == other.primary
    }

    /// Whether a part of their channels is common.
    fn overlaps(&self, other: &Self) -> bool {
        libm::fabs(self.frequency - other.frequency) < (self.width + other.width) / 2.0
    }
}

/// What becomes of a signal on its way.
#[derive(Debug)]
pub(super) enum Attenuation {
    /// It has no power, and ends somewhere: two units are decoded, one is sensed, and no ratio survives an overlap.
    Range(Range),
    /// It weakens.
    Path {
        /// With the distance.
        model: Box<dyn Propagation>,
        /// By what stands in the way, as drawn.
        shadowing: Option<LinkShadowing>,
        /// By what the scenario puts in the way.
        walls: Option<Walls>,
    },
}

impl Attenuation {
    /// What a signal has where it is no more than sensed, and where it is decoded.
    pub(super) const SENSED: Power = Power::from_attowatts(1);
    pub(super) const DECODED: Power = Power::from_attowatts(2);

    #[inline]
    fn power_in_range(range: &Range, here: Position, there: Position) -> Power {
        let distance = here.distance_squared(there);
        Power::from_attowatts(u64::from(range.is_sensed(distance)) + u64::from(range.is_received(distance)))
    }
}

impl Channel {
    /// Channels between `stations`, without links below the power `floor`, or longer than `reach` metres, or longer than
    /// `reaches` allows for the dB that obstacles leave above nothing.
    pub(super) fn new(
        radio: &Radio,
        stations: &[Station<'_>],
        attenuation: Attenuation,
        floor: Power,
        reach: f64,
        reaches: Vec<f64>,
    ) -> Self {
        let phy = radio.phy();
        let end = |station: &Station<'_>| End {
            node: station.node.0,
            frequency: station.config.frequency,
            primary: station.config.primary,
            width: station.config.capability.shape().map_or(ChannelWidth::Mhz20, |shape| shape.width).hertz(),
            sent: Power::from_dbm(station.config.tx_power),
            understands: station.config.understands(&phy),
        };
        let spacing = radio.channel_spacing();
        let ends: Vec<End> = stations.iter().map(end).collect();
        let understand_all = ends.iter().all(|end| end.understands == ModulationClasses::ALL);
        let is_one = understand_all && ends.windows(2).all(|pair| pair[0].frequency == pair[1].frequency);
        Self {
            ends,
            is_one,
            is_split: radio.mac.bandwidth != Bandwidth::Whole,
            attenuation,
            adjacent_rejection: radio.adjacent_channel_rejection,
            spacing,
            floor,
            reach,
            reaches,
        }
    }

    /// The longest link in metres; may be infinite.
    pub(super) fn reach(&self) -> f64 {
        self.reach
    }

    /// Number of stations.
    pub(super) fn stations(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Whether two stations could hear each other, were they near.
    pub(super) fn is_shared(&self, from: u32, to: u32) -> bool {
        let rejection = self.rejection(from, to);
        from != to
            && match self.attenuation {
                Attenuation::Range(_) => rejection == Some(0.0),
                Attenuation::Path { .. } => rejection.is_some(),
            }
    }

    /// The link from one station, which is `here`, to another, which is `there`, if it is heard.
    pub(super) fn link_between(&self, from: u32, to: u32, here: Position, there: Position) -> Option<Link> {
        self.link_behind(from, to, here, there, |shadowing, power| power.scaled(shadowing.gain(here, there)))
    }

    /// What links between stations at `places` share, if obstacles shadow them.
    pub(super) fn survey<'a>(&'a self, places: &'a [Position]) -> Option<Survey<'a>> {
        match &self.attenuation {
            Attenuation::Path { shadowing: Some(shadowing), .. } => Some(Survey::new(shadowing, places)),
            Attenuation::Path { shadowing: None, .. } | Attenuation::Range(_) => None,
        }
    }

    /// The [same](Self::link_between) in both directions for stations at `places`, from their [survey](Self::survey): much faster.
    pub(super) fn links_at_rest(
        &self,
        one: u32,
        other: u32,
        places: &[Position],
        survey: Option<&Survey<'_>>,
    ) -> [Option<Link>; 2] {
        let (here, there) = (places[one as usize], places[other as usize]);
        let Some(survey) = survey else {
            return [self.link_between(one, other, here, there), self.link_between(other, one, there, here)];
        };
        let ends = [one, other].map(|station| station as usize);
        if !self.is_shared(one, other)
            || self.is_too_far(here.distance_squared(there), survey.greatest_decibels(ends[0], ends[1]))
        {
            return [None, None];
        }
        let obstacles = survey.between(ends[0], ends[1]);
        let shadowed = |_: &LinkShadowing, power| obstacles.shadowed(power);
        [self.link_behind(one, other, here, there, shadowed), self.link_behind(other, one, there, here, shadowed)]
    }

    /// Whether a squared distance in m² is too far for any link if obstacles leave at most this number of `decibels`.
    fn is_too_far(&self, distance_squared: f64, decibels: f64) -> bool {
        // A little longer, so that rounding can't lose a link at the very edge.
        let reach = self.reaches.get(libm::ceil(decibels) as usize).map(|reach| reach * (1.0 + 1e-9));
        reach.is_some_and(|reach| distance_squared > reach * reach)
    }

    fn link_behind(
        &self,
        from: u32,
        to: u32,
        here: Position,
        there: Position,
        shadowed: impl Fn(&LinkShadowing, Power) -> Power,
    ) -> Option<Link> {
        let power = if from == to {
            Power::ZERO
        } else {
            match &self.attenuation {
                Attenuation::Range(range) => self.power_in_range(range, from, to, here, there),
                Attenuation::Path { model, shadowing, walls } => {
                    let power = model.received_power(self.ends[from as usize].sent, here, there);
                    self.weakened(from, to, power, |power| {
                        let power = shadowing.as_ref().map_or(power, |shadowing| shadowed(shadowing, power));
                        behind(walls.as_ref(), power, here, there)
                    })
                }
            }
        };
        self.link(from, to, here.distance_squared(there), power)
    }

    /// Puts into `powers` what [each](Self::link_between) of the other stations `to`, which are `there`, has of one that is `here`.
    pub(super) fn powers(&self, from: u32, here: Position, to: &[u32], there: &[Position], powers: &mut Vec<Power>) {
        powers.clear();
        let ends = to.iter().zip(there);
        match &self.attenuation {
            // Asked once, not in the loop: so a processor reckons several at a time.
            Attenuation::Range(range) if self.is_one => {
                powers.extend(there.iter().map(|&there| Attenuation::power_in_range(range, here, there)));
            }
            Attenuation::Range(range) => {
                powers.extend(ends.map(|(&to, &there)| self.power_in_range(range, from, to, here, there)));
            }
            Attenuation::Path { model, shadowing, walls } => {
                model.received_powers(self.ends[from as usize].sent, here, there, powers);
                if self.is_one && shadowing.is_none() && walls.is_none() {
                    return;
                }
                for ((&to, &there), power) in ends.zip(powers) {
                    *power = self.weakened(from, to, *power, |power| {
                        let gain = shadowing.as_ref().map(|shadowing| shadowing.gain(here, there));
                        behind(walls.as_ref(), gain.map_or(power, |gain| power.scaled(gain)), here, there)
                    });
                }
            }
        }
    }

    /// The link from one station to another, `distance_squared` m² away, that gets this power, if it is heard.
    #[inline]
    pub(super) fn link(&self, from: u32, to: u32, distance_squared: f64, power: Power) -> Option<Link> {
        if power < self.floor || power == Power::ZERO {
            return None;
        }
        let delay = propagation_delay(libm::sqrt(distance_squared));
        let decodable = if self.is_one {
            ModulationClasses::ALL
        } else {
            let [from, to] = [from, to].map(|station| &self.ends[station as usize]);
            if self.is_shared_by(from, to) { to.understands } else { ModulationClasses::NONE }
        };
        Some(Link { receiver: StationId(to), delay, power: power.min(Power::LOUDEST), decodable })
    }

    fn power_in_range(&self, range: &Range, from: u32, to: u32, here: Position, there: Position) -> Power {
        if self.rejection(from, to) != Some(0.0) {
            return Power::ZERO;
        }
        Attenuation::power_in_range(range, here, there)
    }

    /// What is left of a power behind obstacles, which leave what is `shadowed` of it, and for a receiver on another channel.
    #[inline]
    fn weakened(&self, from: u32, to: u32, power: Power, shadowed: impl Fn(Power) -> Power) -> Power {
        let Some(rejection) = self.rejection(from, to) else { return Power::ZERO };
        let power = shadowed(power);
        if rejection > 0.0 { power.scaled(Decibel(-rejection).as_ratio()) } else { power }
    }

    /// Whether a receiver may decode what a transmitter sends.
    #[inline]
    fn is_shared_by(&self, from: &End, to: &End) -> bool {
        if self.is_split { from.overlaps(to) } else { from.shares_channel(to) }
    }

    /// What is lost in dB between two stations, as their channels are apart; `None`: everything.
    ///
    /// In between one channel and the next, where they overlap, it grows evenly. Radios of one node on different channels
    /// don't disturb each other.
    #[inline]
    fn rejection(&self, from: u32, to: u32) -> Option<f64> {
        if self.is_one {
            return Some(0.0);
        }
        let [from, to] = [from, to].map(|station| &self.ends[station as usize]);
        if self.is_shared_by(from, to) {
            return Some(0.0);
        }
        let offset = libm::fabs(from.frequency - to.frequency);
        if from.node == to.node {
            return None;
        }
        let adjacent = self.adjacent_rejection?;
        if self.is_split {
            return Some(0.0);
        }
        let channels = offset / self.spacing;
        Some(if channels <= 1.0 { adjacent * channels } else { adjacent + NONADJACENT * (channels - 1.0).min(1.0) })
    }
}

/// What walls leave of a power between two places.
fn behind(walls: Option<&Walls>, power: Power, here: Position, there: Position) -> Power {
    walls.map_or(power, |walls| power.scaled(walls.gain(here, there)))
}
