//! The MAC of each radio of a run, configured by the scenario.

use std::rc::Rc;
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream, hash};
use hopcast_radio::mac::edca::EdcaParameters;
use hopcast_radio::mac::{self, Aggregation, Dcf, Peer, Peers, Protection, StationId, controlled_rates, dsss_peers};
use hopcast_radio::phy::{Capability, FrameCode, ModulationClass, ModulationClasses, Phy, TxVector, distinct};
use hopcast_radio::rate::{Algorithm, Candidate};

use crate::host::Sdu;
use crate::host::card::Cards;
use crate::layout::{self, Station};
use crate::scenario::model::{NodeRadio, Radio};

// At a large power of two, the parts of all stations that an event looks at would share a few sets of the processor's cache.
const _: () = assert!(!size_of::<Dcf<Rc<Sdu>>>().is_multiple_of(512), "the stations' stride is no power of two");

/// What the MACs of a run have in common.
pub(super) struct Stations<'a> {
    radio: &'a Radio,
    seed: u64,
    /// What corrects errors in frames.
    code: Option<FrameCode>,
    /// Those that understand DSSS alone, where all are of one standard.
    dsss_receivers: Vec<StationId>,
    /// By station; empty where all have the same.
    basic_rates: Arc<[TxVector]>,
    mixture: Option<Mixture>,
    /// As [`layout::kinds`].
    kinds: Option<Vec<Capability>>,
}

/// Stations of several standards.
struct Mixture {
    /// By station.
    capabilities: Vec<Capability>,
    distinct: Vec<Capability>,
    /// For each network on a channel, the modulation class that all of its stations understand.
    understood: Vec<((u32, u64), ModulationClass)>,
}

impl Mixture {
    fn new(radio: &Radio, stations: &[Station<'_>]) -> Option<Self> {
        let capabilities = layout::capabilities(radio, stations)?;
        let mut understood: Vec<((u32, u64), ModulationClass)> = Vec::new();
        for (station, capability) in stations.iter().zip(&capabilities) {
            let (key, class) = (network(station.config), capability.class());
            match understood.iter_mut().find(|(known, _)| *known == key) {
                Some((_, least)) => *least = class.min(*least),
                None => understood.push((key, class)),
            }
        }
        Some(Self { distinct: distinct(capabilities.iter().copied()), capabilities, understood })
    }

    /// The modulation class that all stations of a radio's network understand.
    fn understood(&self, config: &NodeRadio) -> ModulationClass {
        let found = self.understood.iter().find(|(known, _)| *known == network(config));
        found.map_or(config.capability.class(), |(_, class)| *class)
    }
}

/// What radios of one network on one channel have in common.
fn network(config: &NodeRadio) -> (u32, u64) {
    (config.network, config.channel.to_bits())
}

impl<'a> Stations<'a> {
    /// Those of `stations`, all of a run with `seed`.
    pub(super) fn new(radio: &'a Radio, stations: &[Station<'_>], seed: u64) -> Self {
        let mixture = Mixture::new(radio, stations);
        Self {
            radio,
            seed,
            code: radio.errors.code(),
            dsss_receivers: if mixture.is_none() { dsss_receivers(radio, stations) } else { Vec::new() },
            basic_rates: basic_rates(stations),
            mixture,
            kinds: layout::kinds(radio, stations),
        }
    }

    /// What protects frames of a radio at the start, from stations that understand no more than a modulation class.
    pub(super) fn protection(&self, config: &NodeRadio) -> (Protection, ModulationClass) {
        // Over the air a network finds out about stations of 802.11b.
        let is_learned = self.radio.association.is_some();
        let Some(mixture) = &self.mixture else {
            return (if is_learned { Protection::None } else { self.radio.protection }, ModulationClass::Dsss);
        };
        let understood = mixture.understood(config);
        let is_understood = config.capability.class() <= understood;
        let is_off = is_understood || is_learned && understood == ModulationClass::Dsss;
        (if is_off { Protection::None } else { self.radio.protection }, understood)
    }

    /// The physical layer of a radio.
    pub(super) fn phy(&self, config: &NodeRadio) -> Phy {
        let (phy, has_long_slot) = match &self.mixture {
            None => {
                let phy = self.kinds.as_ref().map(|kinds| config.capability.phy_among(kinds));
                (phy.unwrap_or_else(|| self.radio.phy()), self.protection(config).0 != Protection::None)
            }
            Some(mixture) => {
                let is_known = self.radio.association.is_none();
                let has_dsss = mixture.understood(config) == ModulationClass::Dsss;
                (config.capability.phy_among(self.kinds.as_ref().unwrap_or(&mixture.distinct)), is_known && has_dsss)
            }
        };
        let phy = phy.for_data_rate(config.data_rate).with_code(self.code);
        if has_long_slot { phy.with_long_slot() } else { phy }
    }

    /// The MAC of the radio `station`, whose node may have `cards`.
    pub(super) fn mac(&self, id: StationId, station: &Station<'_>, cards: Option<&Cards>) -> Dcf<Rc<Sdu>> {
        // What a card holds has a place in the interface queue, whose own places are those before the card.
        let mut config = self.config(id, station.config, cards.map_or(0, Cards::transmit_buffers));
        let (node, place) = (u64::from(station.node.0), u64::from(station.radio));
        config.queue_discipline = config.queue_discipline.perturbed(hash(self.seed, Purpose::FlowQueue, node, place));
        Dcf::new(id, config, Stream::new(self.seed, Purpose::Backoff, node, place))
    }

    fn config(&self, id: StationId, config: &NodeRadio, buffers: u32) -> mac::Config {
        let (radio, phy) = (self.radio, self.phy(config));
        let (protection, understood) = self.protection(config);
        let edca = radio.edca_of(config.capability);
        let edca = edca.map(|edition| EdcaParameters::all_defaults(&phy, edition).map(|edca| with_txop(edca, radio)));
        let mut mac = mac::Config {
            basic_rates: self.basic_rates.clone(),
            rate_control: config.rate_control,
            seed: self.seed,
            basic_rate: config.basic_rate,
            protection,
            understood,
            edca,
            queue_packets: radio.mac.queue_packets.max(buffers),
            phy,
            ..radio.mac.clone()
        };
        if let Some(mixture) = &self.mixture {
            let own = mixture.capabilities[id.0 as usize];
            if config.capability != radio.capability() {
                mac.rates = controlled_rates(&own.phy(), own.shape(), config.rate_control);
                mac.candidates = self.candidates(&mac, &mac.rates, config.rate_control);
                mac.aggregation = self.aggregation(own);
            }
            mac.peers = Some(self.peers(own, &mac, mixture).into());
        } else if !self.dsss_receivers.is_empty() {
            mac.peers = Some(dsss_peers(&self.dsss_receivers, &mac).into());
        }
        mac
    }

    /// How a station sends to those of another standard.
    fn peers(&self, own: Capability, mac: &mac::Config, mixture: &Mixture) -> Peers {
        let others: Vec<Capability> = mixture
            .distinct
            .iter()
            .copied()
            .filter(|&other| own.can_talk_to(other) && own.common(other) != own)
            .collect();
        let kind = |&other: &Capability| {
            let common = own.common(other);
            let peer = Peer::between(own, other, mac.rate_control);
            Peer {
                candidates: self.candidates(mac, &peer.rates, peer.rate_control),
                is_qos: mac.edca.is_some() && self.radio.edca_of(other).is_some(),
                aggregation: mac.aggregation.and_then(|_| self.aggregation(common)),
                ..peer
            }
        };
        let place = |capability: &Capability| {
            others.iter().position(|other| other == capability).map_or(0, |place| place as u8 + 1)
        };
        Peers::new(mixture.capabilities.iter().map(place).collect(), others.iter().map(kind).collect())
    }

    /// What stations with this capability aggregate: as much as their standard has of what those of `radio` do.
    fn aggregation(&self, capability: Capability) -> Option<Aggregation> {
        let (own, most) = (self.radio.mac.aggregation?, Aggregation::of(capability.standard()));
        let longest = Aggregation::longest_amsdu(capability.standard(), own.ampdu > 0);
        capability.shape().map(|_| Aggregation {
            ampdu: own.ampdu.min(most.ampdu),
            amsdu: own.amsdu.min(longest),
            window: own.window.min(most.window),
            ..own
        })
    }

    fn candidates(&self, mac: &mac::Config, rates: &[TxVector], algorithm: Algorithm) -> Arc<[Candidate]> {
        match algorithm {
            Algorithm::Ideal => {
                let rates = if rates.is_empty() { mac.phy.vectors() } else { rates };
                self.radio.reception.candidates(rates, &mac.phy, mac.basic_rate)
            }
            _ => Arc::default(),
        }
    }
}

fn with_txop(edca: EdcaParameters, radio: &Radio) -> EdcaParameters {
    EdcaParameters { txop_limit: radio.txop.unwrap_or(edca.txop_limit), ..edca }
}

/// The stations that understand DSSS alone.
fn dsss_receivers(radio: &Radio, stations: &[Station<'_>]) -> Vec<StationId> {
    let phy = radio.phy();
    let understands_dsss_alone = |(station, index): (&Station<'_>, u32)| {
        (station.config.understands(&phy) == ModulationClasses::DSSS).then_some(StationId(index))
    };
    stations.iter().zip(0..).filter_map(understands_dsss_alone).collect()
}

fn basic_rates(stations: &[Station<'_>]) -> Arc<[TxVector]> {
    let rates: Vec<TxVector> = stations.iter().map(|station| station.config.basic_rate).collect();
    let are_equal = rates.windows(2).all(|pair| pair[0] == pair[1]);
    if are_equal { Arc::default() } else { rates.into() }
}
