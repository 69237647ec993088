//! Reception of signals: carrier sense, synchronisation to a frame, and its survival.
//!
//! There are two models: [`Threshold`] compares powers; [`Sinr`] accumulates the probability of error over a frame. The
//! medium reports the start and the end of each signal to the model, in order of time.

mod bands;
mod sinr;
mod threshold;

use hopcast_protocols::time::{Duration, Instant};

use crate::aggregate::{Arriving, MpduSet};
use crate::frame::{Header, StationId};
use crate::phy::{ChannelWidth, TxVector};
use crate::transmission::{Tally, TransmissionId};
use crate::units::Power;
use bands::Bands;
pub use bands::IdleWidths;
pub(crate) use bands::Presence;
use sinr::Content;
pub use sinr::{Mode, Sinr, default_detection};
pub use threshold::{Rules, Threshold};

/// Reception model.
#[derive(Clone, Debug)]
pub enum Reception {
    /// By power alone.
    Threshold(Threshold),
    /// By signal to interference and noise.
    Sinr(Sinr),
}

/// Event for a station's MAC at the leading edge of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadingEdge {
    /// Nothing.
    Unnoticed,
    /// Physical carrier sense turns busy.
    Busy,
    /// The station continues to receive a frame in spite of it; reported under [`Rules::PairwiseFirstCome`] only.
    Overcome,
}

/// A change of what a station's physical carrier sense finds, its own transmissions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// None.
    Unchanged,
    /// The medium turns busy, or is busy as the station's own transmission ends.
    Busy,
    /// The medium turns idle.
    Idle,
}

/// Result of a frame at its trailing edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceptionOutcome {
    /// Energy, or nothing.
    Noise,
    /// A frame that began (PHY-RXSTART.indication at this instant) and ended in error.
    Error(Instant),
    /// The frame, whose header ended at this instant.
    Frame(Instant),
}

/// A signal that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) receiver: StationId,
    pub(crate) transmission: TransmissionId,
    pub(crate) power: Power,
    /// Strong enough to be decoded if nothing overlaps, whole or in its legacy preamble.
    pub(crate) decodable: bool,
    /// The receiver can decode more than the legacy preamble.
    pub(crate) is_whole: bool,
    pub(crate) now: Instant,
    pub(crate) header_end: Instant,
    pub(crate) end: Instant,
}

/// The receivers of all stations.
#[derive(Clone, Debug)]
pub(crate) enum Receivers {
    Threshold(Threshold, Vec<threshold::Receiver>),
    Sinr(Sinr, Vec<sinr::Receiver>),
}

impl Receivers {
    /// As many, in silence.
    pub(crate) fn new(reception: Reception, stations: usize) -> Self {
        match reception {
            Reception::Threshold(model) => Self::Threshold(model, vec![threshold::Receiver::default(); stations]),
            Reception::Sinr(model) => Self::Sinr(model, (0..stations as u32).map(sinr::Receiver::new).collect()),
        }
    }

    /// Has each station tell its primary channel from the secondary ones, of which it has those of these widths.
    ///
    /// # Panics
    /// If thresholds decide on reception.
    pub(crate) fn set_widths(&mut self, widths: &[ChannelWidth], pifs: Duration) {
        let Self::Sinr(_, receivers) = self else { panic!("only ratios of power tell channels apart") };
        let each = receivers.iter_mut().zip(widths);
        each.for_each(|(receiver, &width)| receiver.set_bands(Bands::new(width, pifs)));
    }

    /// Widths of which all secondary channels of a station were idle; `None`: it does not tell them apart.
    pub(crate) fn idle_widths(&self, station: StationId, now: Instant) -> Option<IdleWidths> {
        match self {
            Self::Threshold(..) => None,
            Self::Sinr(_, receivers) => receivers[station.0 as usize].bands().map(|bands| bands.idle_widths(now)),
        }
    }

    /// The least power at which a receiver synchronises to a frame that is sent so.
    pub(crate) fn least_power(&self, vector: TxVector) -> Power {
        match self {
            Self::Threshold(model, _) => model.receive_threshold(vector),
            Self::Sinr(model, _) => model.least_power(vector),
        }
    }

    /// Carrier sense, own transmissions apart.
    pub(crate) fn is_busy(&self, station: StationId) -> bool {
        match self {
            Self::Threshold(_, receivers) => receivers[station.0 as usize].is_busy(),
            Self::Sinr(_, receivers) => receivers[station.0 as usize].is_busy(),
        }
    }

    /// Whether the PHY has reported the start of a frame that has not ended.
    pub(crate) fn receiving(&self, station: StationId, now: Instant) -> bool {
        match self {
            Self::Threshold(_, receivers) => receivers[station.0 as usize].receiving(now),
            Self::Sinr(_, receivers) => receivers[station.0 as usize].receiving(now),
        }
    }

    /// Whether this is the frame that the station is receiving.
    #[inline]
    pub(crate) fn is_receiving(&self, station: StationId, transmission: TransmissionId) -> bool {
        match self {
            Self::Threshold(_, receivers) => receivers[station.0 as usize].is_receiving(transmission),
            Self::Sinr(_, receivers) => receivers[station.0 as usize].is_receiving(transmission),
        }
    }

    /// The station starts to transmit.
    pub(crate) fn on_transmit(&mut self, station: StationId, tally: &mut Tally) {
        match self {
            Self::Threshold(model, receivers) => receivers[station.0 as usize].on_transmit(model, station, tally),
            Self::Sinr(model, receivers) => receivers[station.0 as usize].on_transmit(model, tally),
        }
    }

    /// The station's transmission has ended.
    pub(crate) fn on_transmitted(&mut self, station: StationId) {
        match self {
            Self::Threshold(_, receivers) => receivers[station.0 as usize].on_transmitted(),
            Self::Sinr(_, receivers) => receivers[station.0 as usize].on_transmitted(),
        }
    }

    /// What the signal of `frame` carries, which `key` names among all of its run.
    pub(crate) fn content(&self, frame: &Header, has_mpdus: bool, key: u64) -> Content {
        let mode = match self {
            Self::Threshold(..) => 0,
            Self::Sinr(model, _) => model.mode(frame.vector),
        };
        Content { mode, preamble_mode: mode, octets: frame.octets, airtime: frame.airtime, has_mpdus, key }
    }

    /// The same where some receivers understand no more than the legacy preamble, and the least power at which they find that.
    pub(crate) fn content_for_all(
        &self,
        frame: &Header,
        has_mpdus: bool,
        key: u64,
        least_power: Power,
    ) -> (Content, Power) {
        let content = self.content(frame, has_mpdus, key);
        match self {
            Self::Threshold(..) => (content, least_power),
            Self::Sinr(model, _) => match model.preamble_mode() {
                Some((preamble_mode, least_power)) => (Content { preamble_mode, ..content }, least_power),
                None => (content, least_power),
            },
        }
    }

    /// A signal arrives, with this content.
    #[inline(always)]
    pub(crate) fn on_leading(
        &mut self,
        station: StationId,
        arrival: Arrival,
        content: &Content,
        presence: Option<&Presence>,
        tally: &mut Tally,
    ) -> LeadingEdge {
        match self {
            Self::Threshold(model, receivers) => {
                receivers[station.0 as usize].on_leading::<true>(model, arrival, tally)
            }
            Self::Sinr(model, receivers) => {
                let turns_busy = receivers[station.0 as usize].on_leading(model, arrival, content, presence, tally);
                if turns_busy { LeadingEdge::Busy } else { LeadingEdge::Unnoticed }
            }
        }
    }

    /// A signal ends. Returns what became of its frame, and how the medium turns. Of the MPDUs of a frame that has such it enters those
    /// that were received.
    #[inline(always)]
    pub(crate) fn on_trailing<P>(
        &mut self,
        station: StationId,
        transmission: TransmissionId,
        (power, presence): (Power, Option<&Presence>),
        now: Instant,
        mpdus: Option<Arriving<'_, P>>,
        tally: &mut Tally,
    ) -> (ReceptionOutcome, Carrier) {
        match self {
            Self::Threshold(model, receivers) => {
                if let Some(Arriving { received, .. }) = mpdus {
                    *received = MpduSet::ALL;
                }
                receivers[station.0 as usize].on_trailing(model, transmission, power)
            }
            Self::Sinr(model, receivers) => {
                receivers[station.0 as usize].on_trailing(model, transmission, (power, presence), now, mpdus, tally)
            }
        }
    }
}
