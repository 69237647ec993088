//! Rates of frames, and durations of their answers.

use std::sync::Arc;

use hopcast_protocols::time::{Duration, Instant};

use super::Config;
use super::peers::{Peer, Peers};
use crate::frame::{FrameKind, StationId};
use crate::phy::{ModulationClass, Phy, TxVector};
use crate::rate::{Algorithm, Candidate, RateControl};
use crate::units::Power;

/// Rates of data frames and of answers.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    data: DataRates,
    /// To stations of another standard, by kind; none where there are no such stations.
    to_others: Option<Box<(Arc<Peers>, Vec<DataRates>)>>,
    /// What rate control has chosen last.
    chosen: Option<TxVector>,
    basic: TxVector,
    /// As in [`Config::basic_rates`].
    basics: Arc<[TxVector]>,
    /// Of this station, and of all that have its basic rate: to an RTS at the basic rate, and to a frame at the rate that was asked for last: most frames have one of two rates.
    responses: [ControlResponse; 2],
}

/// Rates of data frames to receivers that understand the same.
#[derive(Clone, Debug)]
struct DataRates {
    /// Without rate control: nothing else is asked then.
    fixed: Option<TxVector>,
    control: RateControl,
}

/// The CTS or ACK that answers a frame at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlResponse {
    to: TxVector,
    /// Its own rate.
    pub(super) rate: TxVector,
    /// Its time on the air.
    pub(super) airtime: Duration,
    /// From the end of the frame: without the start of an answer by then there is none.
    pub(super) timeout: Duration,
}

impl Rates {
    pub(super) fn new(station: StationId, config: &Config) -> Self {
        let Config { phy, rates, peers, basic_rate, .. } = config;
        let response = ControlResponse::new(phy, *basic_rate, *basic_rate);
        let data = DataRates::new(station, config.rate_control, rates, config.candidates.clone(), config);
        let to_others = peers.as_ref().map(|peers| {
            let of =
                |kind: &Peer| DataRates::new(station, kind.rate_control, &kind.rates, kind.candidates.clone(), config);
            Box::new((peers.clone(), peers.kinds().iter().map(of).collect()))
        });
        let basics = config.basic_rates.clone();
        Self { data, to_others, chosen: None, basic: *basic_rate, basics, responses: [response; 2] }
    }

    /// The slot has changed, and with it for how long answers are awaited.
    pub(super) fn set_phy(&mut self, phy: &Phy) {
        self.responses = [ControlResponse::new(phy, self.basic, self.basic); 2];
    }

    /// The rate of the next attempt at a data frame to `receiver`; `retry` attempts at it were not acknowledged.
    #[inline]
    pub(super) fn select(&mut self, receiver: StationId, now: Instant, retry: u32) -> TxVector {
        let rates = self.to(receiver);
        match rates.fixed {
            Some(rate) => rate,
            None => {
                let rate = rates.control.select(receiver, now, retry);
                self.chosen = Some(rate);
                rate
            }
        }
    }

    #[inline]
    fn to(&mut self, receiver: StationId) -> &mut DataRates {
        if let Some(others) = &mut self.to_others
            && let Some(kind) = others.0.kind_of(receiver)
        {
            return &mut others.1[kind];
        }
        &mut self.data
    }

    /// The rate that rate control has chosen last; `None` where there is none, or it has chosen none yet.
    pub(super) fn chosen(&self) -> Option<TxVector> {
        self.chosen
    }

    /// Of `sent` MPDUs of a data frame at `rate`, this number was acknowledged.
    #[inline]
    pub(super) fn on_report(&mut self, receiver: StationId, rate: TxVector, sent: u32, acknowledged: u32) {
        let DataRates { fixed, control } = self.to(receiver);
        if fixed.is_some() {
            return;
        }
        control.on_report(receiver, rate, sent, acknowledged);
    }

    /// Whether the next data frame to `receiver` tries a rate, and is to go without aggregation.
    pub(super) fn is_sample(&mut self, receiver: StationId) -> bool {
        let DataRates { fixed, control } = self.to(receiver);
        fixed.is_none() && control.is_sample(receiver)
    }

    /// The latest frame to `receiver` came there with `power`.
    pub(super) fn on_power(&mut self, receiver: StationId, power: Power) {
        self.to(receiver).control.on_power(receiver, power);
    }

    /// The answer of another station to a frame at `rate`.
    #[inline]
    pub(super) fn response_to(&mut self, station: StationId, phy: &Phy, rate: TxVector) -> ControlResponse {
        match self.basics.get(station.0 as usize) {
            Some(&basic) if basic != self.basic => ControlResponse::new(phy, basic, rate),
            _ => self.response(phy, rate),
        }
    }

    /// This station's answer to a frame at `rate`.
    #[inline]
    pub(super) fn response(&mut self, phy: &Phy, rate: TxVector) -> ControlResponse {
        if self.responses[0].to == rate {
            return self.responses[0];
        }
        if self.responses[1].to != rate {
            self.learn(phy, rate);
        }
        self.responses[1]
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, phy: &Phy, rate: TxVector) {
        self.responses[1] = ControlResponse::new(phy, self.basic, rate);
    }
}

/// The rate of the answer to a frame at `to` (10.6.6.5): the highest basic rate that is not above that of the frame and of its
/// modulation, which is OFDM for HT and later. The basic rates are `basic` and the mandatory ones below it.
pub fn control_response_rate(phy: &Phy, basic: TxVector, to: TxVector) -> TxVector {
    let class = if to.format().has_shape() { ModulationClass::Ofdm } else { to.modulation_class() };
    let fits = basic.data_rate() <= to.reference_rate() && basic.modulation_class() == class;
    if fits { basic } else { phy.default_basic_rate(to) }
}

/// The rate of an RTS before a frame at `rate`, of which `unanswered` went without a CTS: the basic rate if who understands the
/// frame understands that, else as that of an answer. An RTS that is there for protection is for others than the receiver.
///
/// Under rate control each that is not answered lowers it to the next mandatory rate: the rate of the data may be far too high
/// for the link, and would stay so, as only data tell. What an RTS may go at is any of the basic rates (10.6.6.2).
pub(super) fn rts_rate(config: &Config, rate: TxVector, unanswered: u32) -> TxVector {
    let (phy, basic) = (&config.phy, config.basic_rate);
    let is_understood = basic.data_rate() <= rate.data_rate() && basic.modulation_class() <= rate.modulation_class();
    let first =
        if is_understood || config.is_protected(rate) { basic } else { control_response_rate(phy, basic, rate) };
    if let Algorithm::Fixed(_) = config.rate_control {
        return first;
    }
    let lower = |rate: &TxVector| {
        let below = phy.vectors().iter().rev().find(|known| known.data_rate() < rate.data_rate());
        below.map(|&below| control_response_rate(phy, basic, below))
    };
    core::iter::successors(Some(first), lower).take(unanswered as usize + 1).last().unwrap_or(first)
}

/// The rate of data for a station that understands only DSSS: the highest one up to `rate`, the sender's own.
pub fn dsss_rate(phy: &Phy, rate: TxVector) -> TxVector {
    let fits =
        |known: &TxVector| known.modulation_class() == ModulationClass::Dsss && known.data_rate() <= rate.data_rate();
    phy.vectors().iter().copied().rev().find(fits).unwrap_or(rate)
}

/// How a station sends to these receivers, which understand DSSS and HR/DSSS alone and are otherwise like it: at the highest rate of
/// DSSS that does not exceed the fixed rate, or at those among [`Config::rates`], or at all of the standard's if there are none among
/// them.
pub fn dsss_peers(receivers: &[StationId], config: &Config) -> Peers {
    let phy = &config.phy;
    let of_dsss = |rates: &[TxVector]| -> Vec<_> {
        rates.iter().copied().filter(|rate| rate.modulation_class() == ModulationClass::Dsss).collect()
    };
    let mut rates = of_dsss(&config.rates);
    if rates.is_empty() {
        rates = of_dsss(phy.vectors());
    }
    let rate_control = match config.rate_control {
        Algorithm::Fixed(rate) => Algorithm::Fixed(dsss_rate(phy, rate)),
        algorithm => algorithm,
    };
    let mut by_station = vec![0; receivers.iter().map(|receiver| receiver.0 as usize + 1).max().unwrap_or(0)];
    receivers.iter().for_each(|receiver| by_station[receiver.0 as usize] = 1);
    let kind = Peer {
        standard: phy.standard(),
        rate_control,
        rates,
        candidates: config.candidates.clone(),
        is_qos: config.edca.is_some(),
        aggregation: None,
    };
    Peers::new(by_station, vec![kind])
}

impl DataRates {
    fn new(
        station: StationId,
        algorithm: Algorithm,
        rates: &[TxVector],
        candidates: Arc<[Candidate]>,
        config: &Config,
    ) -> Self {
        let control = RateControl::new(algorithm, config.phy, rates, candidates, config.seed, station);
        let fixed = if let Algorithm::Fixed(rate) = algorithm { Some(rate) } else { None };
        Self { fixed, control }
    }
}

impl ControlResponse {
    fn new(phy: &Phy, basic: TxVector, to: TxVector) -> Self {
        let rate = control_response_rate(phy, basic, to);
        let airtime = phy.airtime(rate, FrameKind::RESPONSE_OCTETS);
        Self { to, rate, airtime, timeout: phy.ack_timeout(rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{DataRate, Standard};

    fn rate(phy: &Phy, kbps: u32) -> TxVector {
        phy.vector(DataRate::from_kbps(kbps)).expect("a rate of the standard")
    }

    /// The same with a station that understands DSSS alone.
    fn with_dsss(config: Config) -> Config {
        Config { peers: Some(dsss_peers(&[StationId(2)], &config).into()), ..config }
    }

    #[test]
    fn who_understands_dsss_alone_gets_the_highest_such_rate_that_is_not_above_the_senders() {
        let phy = Standard::Erp.phy(false);
        let rate = |kbps| rate(&phy, kbps);
        for (own, expected) in [(54_000, 11_000), (12_000, 11_000), (9_000, 5_500), (6_000, 5_500), (2_000, 2_000)] {
            let config = with_dsss(Config::new(phy, rate(own)));
            let mut rates = Rates::new(StationId(0), &config);
            let mut to = |receiver| rates.select(StationId(receiver), Instant::START, 0);
            assert_eq!([to(1), to(2), to(3)], [rate(own), rate(expected), rate(own)]);
        }
    }

    /// Where rate control chooses among rates of OFDM alone.
    #[test]
    fn who_understands_dsss_alone_gets_rates_of_dsss_where_none_are_chosen_from() {
        let phy = Standard::Erp.phy(false);
        let rates = [6_000, 54_000].map(|kbps| rate(&phy, kbps)).to_vec();
        let config = with_dsss(Config { rate_control: Algorithm::Arf, rates, ..Config::new(phy, phy.fastest()) });
        let mut rates = Rates::new(StationId(0), &config);
        let mut to = |receiver| rates.select(StationId(receiver), Instant::START, 0);
        assert_eq!([to(1), to(2)], [54_000, 11_000].map(|kbps| rate(&phy, kbps)));
    }

    #[test]
    fn an_answer_has_the_highest_basic_rate_not_above_the_frames() {
        for (standard, basic, to, expected) in [
            (Standard::Ofdm, 24_000, 54_000, 24_000),
            (Standard::Ofdm, 24_000, 24_000, 24_000),
            (Standard::Ofdm, 24_000, 18_000, 12_000),
            (Standard::Ofdm, 24_000, 9_000, 6_000),
            (Standard::Ofdm, 6_000, 54_000, 6_000),
            (Standard::HrDsss, 11_000, 5_500, 2_000),
            (Standard::HrDsss, 2_000, 1_000, 1_000),
            // Of the frame's own modulation, whatever the basic rate is.
            (Standard::Erp, 2_000, 54_000, 24_000),
            (Standard::Erp, 2_000, 9_000, 6_000),
            (Standard::Erp, 24_000, 11_000, 2_000),
            (Standard::OfdmTurbo, 48_000, 108_000, 48_000),
            (Standard::OfdmTurbo, 48_000, 36_000, 24_000),
        ] {
            let phy = standard.phy(false);
            let [basic, to, expected] = [basic, to, expected].map(|kbps| rate(&phy, kbps));
            let response = ControlResponse::new(&phy, basic, to);
            assert_eq!(response.rate, expected, "{standard}: {to}, basic {basic}");
            assert_eq!(response.airtime, expected.airtime(14));
        }
    }
}
