//! Rate control: chooses the rate of each attempt at a data frame from the results of earlier ones.
//!
//! The station asks `RateControl::select` before an attempt, and reports the result. Asking again before the report gives
//! the same answer, so that an RTS can reserve the time of the data that follow it. The station does not report a failed
//! RTS, which says nothing about the rate of the data.

mod arf;
mod ideal;
mod minstrel;
mod minstrel_ht;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Instant;

use crate::frame::StationId;
use crate::phy::{Phy, TxVector};
use crate::units::Power;
use arf::Arf;
pub use ideal::Candidate;
use ideal::Ideal;
use minstrel::Minstrel;
use minstrel_ht::MinstrelHt;

/// Rate control algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Always the same rate.
    Fixed(TxVector),
    /// Automatic rate fallback (Kamerman and Monteban, Bell Labs Technical Journal 2(3), 1997).
    Arf,
    /// Adaptive ARF (Lacage, Manshaei and Turletti, MSWiM 2004).
    Aarf,
    /// Minstrel, as in MadWifi and Linux before 802.11n: the best rate by measured throughput.
    Minstrel,
    /// Minstrel-HT, as in Linux up to 5.11: the best scheme and number of streams by measured throughput of aggregates.
    MinstrelHt,
    /// The best rate for the power at which the receiver got the latest frame: what no real station can know.
    Ideal,
}

/// The rate control of one station: a state for each receiver.
#[derive(Clone, Debug)]
pub(crate) struct RateControl {
    algorithm: Algorithm,
    phy: Phy,
    /// What is chosen from, ascending.
    rates: Vec<TxVector>,
    /// How frames at these rates are received, for [`Algorithm::Ideal`].
    candidates: Arc<[Candidate]>,
    seed: u64,
    station: StationId,
    links: BTreeMap<StationId, Link>,
}

/// The state for one receiver.
#[derive(Clone, Debug)]
enum Link {
    Arf(Arf),
    Minstrel(Box<Minstrel>),
    MinstrelHt(Box<MinstrelHt>),
    Ideal(Ideal),
}

impl RateControl {
    /// Chooses among `rates` (all of `phy`, if there are none), which `candidates` has in ascending order if they are chosen by power. The run's `seed` and the
    /// `station` name the draws of Minstrel.
    pub(crate) fn new(
        algorithm: Algorithm,
        phy: Phy,
        rates: &[TxVector],
        candidates: Arc<[Candidate]>,
        seed: u64,
        station: StationId,
    ) -> Self {
        let mut rates = if rates.is_empty() { phy.vectors() } else { rates }.to_vec();
        rates.sort_by_key(|rate| rate.data_rate());
        rates.dedup();
        Self { algorithm, phy, rates, candidates, seed, station, links: BTreeMap::new() }
    }

    /// The rate of the next attempt at the frame in hand, which goes to `receiver`; `retry` attempts have failed.
    pub(crate) fn select(&mut self, receiver: StationId, now: Instant, retry: u32) -> TxVector {
        if let Algorithm::Fixed(rate) = self.algorithm {
            return rate;
        }
        let Self { algorithm, phy, rates, seed, station, links, .. } = self;
        let link = links.entry(receiver).or_insert_with(|| {
            let random = || Stream::new(*seed, Purpose::RateSampling, u64::from(station.0), u64::from(receiver.0));
            match algorithm {
                Algorithm::Minstrel => Link::Minstrel(Box::new(Minstrel::new(phy, rates, now, random()))),
                Algorithm::MinstrelHt => Link::MinstrelHt(Box::new(MinstrelHt::new(phy, rates, now, random()))),
                Algorithm::Ideal => Link::Ideal(Ideal::default()),
                Algorithm::Aarf => Link::Arf(Arf::adaptive(rates.len())),
                Algorithm::Arf | Algorithm::Fixed(_) => Link::Arf(Arf::new(rates.len())),
            }
        });
        rates[match link {
            Link::Arf(arf) => arf.select(),
            Link::Minstrel(minstrel) => minstrel.select(now, retry),
            Link::MinstrelHt(minstrel) => minstrel.select(now, retry),
            Link::Ideal(ideal) => ideal.select(),
        }]
    }

    /// The latest frame to `receiver` came there with `power`; zero if not at all.
    pub(crate) fn on_power(&mut self, receiver: StationId, power: Power) {
        let Self { algorithm: Algorithm::Ideal, candidates, links, .. } = self else { return };
        if let Link::Ideal(ideal) = links.entry(receiver).or_insert(Link::Ideal(Ideal::default())) {
            ideal.on_power(power, candidates);
        }
    }

    /// Whether the next attempt tries a rate, and is to go without aggregation.
    pub(crate) fn is_sample(&self, receiver: StationId) -> bool {
        matches!(self.links.get(&receiver), Some(Link::MinstrelHt(minstrel)) if minstrel.is_sample())
    }

    /// Of `sent` MPDUs at `rate`, this number was acknowledged.
    pub(crate) fn on_report(&mut self, receiver: StationId, rate: TxVector, sent: u32, acknowledged: u32) {
        let success = acknowledged > 0;
        match self.links.get_mut(&receiver) {
            // Within a TXOP, of a rate that was chosen before the last report: it says nothing of the one that is tried now.
            Some(Link::Arf(arf)) if self.rates[arf.select()] != rate => {}
            Some(Link::Arf(arf)) if success => arf.on_success(),
            Some(Link::Arf(arf)) => arf.on_failure(),
            Some(Link::Minstrel(minstrel)) => minstrel.on_report(index_of(&self.rates, rate), success),
            Some(Link::MinstrelHt(minstrel)) => minstrel.on_report(index_of(&self.rates, rate), sent, acknowledged),
            Some(Link::Ideal(_)) | None => {}
        }
    }
}

/// The place of a rate that [`RateControl::select`] has given.
fn index_of(rates: &[TxVector], rate: TxVector) -> usize {
    rates.iter().position(|known| *known == rate).expect("a report names the rate that was selected")
}
