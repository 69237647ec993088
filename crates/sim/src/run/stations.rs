//! The MAC of each radio of a run, configured by the scenario.

use std::rc::Rc;
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream, hash};
use hopcast_radio::mac::edca::EdcaParameters;
use hopcast_radio::mac::{self, Dcf, Protection, StationId};
use hopcast_radio::phy::{ModulationClasses, Phy, ReedSolomon, TxVector};

use crate::host::Sdu;
use crate::host::card::Cards;
use crate::layout::Station;
use crate::scenario::model::{NodeRadio, Radio};

// At a large power of two, the parts of all stations that an event looks at would share a few sets of the processor's cache.
const _: () = assert!(!size_of::<Dcf<Rc<Sdu>>>().is_multiple_of(512), "the stations' stride is no power of two");

/// What the MACs of a run have in common.
pub(super) struct Stations<'a> {
    radio: &'a Radio,
    seed: u64,
    /// What protects OFDM frames at the start.
    protection: Protection,
    /// What corrects errors in all frames.
    code: Option<ReedSolomon>,
    dsss_receivers: Arc<[StationId]>,
    /// By station; empty where all have the same.
    basic_rates: Arc<[TxVector]>,
}

impl<'a> Stations<'a> {
    /// Those of `stations`, all of a run with `seed`.
    pub(super) fn new(radio: &'a Radio, stations: &[Station<'_>], seed: u64) -> Self {
        Self {
            radio,
            seed,
            // Over the air a network finds out whom it must protect.
            protection: if radio.association.is_some() { Protection::None } else { radio.protection },
            code: radio.errors.code(),
            dsss_receivers: dsss_receivers(radio, stations),
            basic_rates: basic_rates(stations),
        }
    }

    /// The physical layer of a radio.
    pub(super) fn phy(&self, config: &NodeRadio) -> Phy {
        let phy = self.radio.phy().for_data_rate(config.data_rate).with_code(self.code);
        if self.protection == Protection::None { phy } else { phy.with_long_slot() }
    }

    /// The MAC of the radio `station`, whose node may have `cards`.
    pub(super) fn mac(&self, id: StationId, station: &Station<'_>, cards: Option<&Cards>) -> Dcf<Rc<Sdu>> {
        // What a card holds has a place in the interface queue, whose own places are those before the card.
        let mut config = self.config(station.config, cards.map_or(0, Cards::transmit_buffers));
        let (node, place) = (u64::from(station.node.0), u64::from(station.radio));
        config.queue_discipline = config.queue_discipline.perturbed(hash(self.seed, Purpose::FlowQueue, node, place));
        Dcf::new(id, config, Stream::new(self.seed, Purpose::Backoff, node, place))
    }

    fn config(&self, config: &NodeRadio, buffers: u32) -> mac::Config {
        let (radio, phy) = (self.radio, self.phy(config));
        mac::Config {
            dsss_receivers: self.dsss_receivers.clone(),
            basic_rates: self.basic_rates.clone(),
            rate_control: config.rate_control,
            seed: self.seed,
            basic_rate: config.basic_rate,
            protection: self.protection,
            edca: radio
                .edca
                .map(|edition| EdcaParameters::all_defaults(&phy, edition).map(|edca| with_txop(edca, radio))),
            queue_packets: radio.mac.queue_packets.max(buffers),
            phy,
            ..radio.mac.clone()
        }
    }
}

fn with_txop(edca: EdcaParameters, radio: &Radio) -> EdcaParameters {
    EdcaParameters { txop_limit: radio.txop.unwrap_or(edca.txop_limit), ..edca }
}

/// The stations that understand DSSS alone.
fn dsss_receivers(radio: &Radio, stations: &[Station<'_>]) -> Arc<[StationId]> {
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
