//! Frames for stations of another standard than the sender's.

use std::sync::Arc;

use super::aggregation::Aggregation;
use crate::frame::StationId;
use crate::phy::{Capability, Phy, Shape, Standard, TxVector};
use crate::rate::{Algorithm, Candidate};

/// How a station sends to those that have another standard than itself: by what both can do (IEEE 802.11-2020, 10.6.4).
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// By station: zero if it is like the sender, else one more than its place in `kinds`.
    by_station: Vec<u8>,
    kinds: Vec<Peer>,
}

/// How frames go to stations of one kind.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The older standard of the two.
    pub standard: Standard,
    /// How the rate of each data frame is chosen.
    pub rate_control: Algorithm,
    /// The rates that it is chosen from.
    pub rates: Vec<TxVector>,
    /// How frames at these rates are received, for [`Algorithm::Ideal`]; empty otherwise.
    pub candidates: Arc<[Candidate]>,
    /// Whether they are QoS stations.
    pub is_qos: bool,
    /// What goes to them under block acknowledgment agreements; `None`: nothing.
    pub aggregation: Option<Aggregation>,
}

impl Peers {
    /// For each station zero if it is like the sender, else one more than the place of its kind in `kinds`.
    ///
    /// # Panics
    /// If a kind is not there.
    pub fn new(by_station: Vec<u8>, kinds: Vec<Peer>) -> Self {
        assert!(by_station.iter().all(|&kind| usize::from(kind) <= kinds.len()), "each station is of a known kind");
        Self { by_station, kinds }
    }

    /// The kinds of stations.
    pub(super) fn kinds(&self) -> &[Peer] {
        &self.kinds
    }

    /// The place of a station's kind among [`Self::kinds`]; `None`: it is like the sender.
    #[inline]
    pub(super) fn kind_of(&self, station: StationId) -> Option<usize> {
        let kind = self.by_station.get(station.0 as usize).copied().unwrap_or(0);
        usize::from(kind).checked_sub(1)
    }

    /// How frames go to a station, if it is not like the sender.
    pub(super) fn of(&self, station: StationId) -> Option<&Peer> {
        self.kind_of(station).map(|kind| &self.kinds[kind])
    }

    /// Whether all stations are QoS stations, if the sender is.
    pub(super) fn are_all_qos(&self) -> bool {
        self.kinds.iter().all(|kind| kind.is_qos)
    }
}

impl Peer {
    /// How a station of `own` capability sends to one of `other`, if the rate of its data for its own kind is chosen so. Stations without
    /// aggregates get frames by Minstrel in place of Minstrel-HT, as in Linux.
    pub fn between(own: Capability, other: Capability, rate_control: Algorithm) -> Self {
        let common = own.common(other);
        let rate_control = match rate_control {
            Algorithm::Fixed(rate) => Algorithm::Fixed(own.rate_toward(other, rate)),
            Algorithm::MinstrelHt if common.shape().is_none() => Algorithm::Minstrel,
            algorithm => algorithm,
        };
        let phy = common.phy();
        let mut rates = controlled_rates(&phy, common.shape(), rate_control);
        if rates.is_empty() {
            rates = phy.vectors().to_vec();
        }
        Self {
            standard: common.standard(),
            rate_control,
            rates,
            candidates: Arc::default(),
            is_qos: true,
            aggregation: None,
        }
    }
}

/// What rate control chooses from; empty: all rates. Of 802.11n and later, the schemes over all streams, or over fewer ones too if the
/// algorithm knows which of them is better.
pub fn controlled_rates(phy: &Phy, shape: Option<Shape>, algorithm: Algorithm) -> Vec<TxVector> {
    let Some(shape) = shape else { return Vec::new() };
    let fewest = if matches!(algorithm, Algorithm::Ideal | Algorithm::MinstrelHt) { 1 } else { shape.streams };
    let is_chosen = |rate: &&TxVector| {
        rate.format() == phy.standard()
            && rate.format().has_shape()
            && (fewest..=shape.streams).contains(&rate.streams())
    };
    phy.vectors().iter().filter(is_chosen).copied().collect()
}
