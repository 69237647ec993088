//! Settings of a station's MAC.

use std::sync::Arc;

use hopcast_protocols::time::Duration;

use super::aggregation::Aggregation;
use super::edca::EdcaParameters;
use super::peers::Peers;
use crate::phy::{ModulationClass, Phy, TxVector};
use crate::queue::Discipline;
use crate::rate::{Algorithm, Candidate};

/// Parameters of a station's MAC.
#[derive(Clone, Debug)]
pub struct Config {
    /// Timing of the physical layer.
    pub phy: Phy,
    /// How the rate of each unicast data frame is chosen.
    pub rate_control: Algorithm,
    /// The rates that rate control chooses from; empty: all of the standard's. Not meaningful if the rate is fixed.
    pub rates: Vec<TxVector>,
    /// How frames at these rates are received, in ascending order, for [`Algorithm::Ideal`]; empty otherwise.
    pub candidates: Arc<[Candidate]>,
    /// How frames go to stations of another standard; `None`: there are none.
    pub peers: Option<Arc<Peers>>,
    /// The run's seed, which seeds the draws of rate control.
    pub seed: u64,
    /// Rate of CTS-to-self and broadcast frames, and the highest rate of RTS, CTS and ACK. With protection it must be one
    /// of DSSS or HR/DSSS, which every station understands.
    pub basic_rate: TxVector,
    /// Basic rates by station index, if not all stations have the same: each station answers at its basic rate.
    pub basic_rates: Arc<[TxVector]>,
    /// Whether stations answer: with an ACK to a unicast data frame, and with a CTS to an RTS
    /// ([`crate::phy::Standard::acknowledges`]). Without answers no station sends an RTS, and a frame is done once it has
    /// been sent, and is never repeated.
    pub acknowledgements: bool,
    /// Protection of frames in a network with stations that do not understand them.
    pub protection: Protection,
    /// The highest modulation class that every station of the network understands, which needs no protection.
    pub understood: ModulationClass,
    /// The parameters of the four access categories, in the order of [`super::edca::AccessCategory::ALL`]; `None`: DCF.
    pub edca: Option<[EdcaParameters; 4]>,
    /// What goes under block acknowledgment agreements: all unicast data with [`Self::edca`]; `None`: nothing.
    pub aggregation: Option<Aggregation>,
    /// What becomes of a frame that is wider than what is idle.
    pub bandwidth: Bandwidth,
    /// Length of PSDUs in bytes above which RTS/CTS precede unicast data frames; `None`: never.
    pub rts_threshold: Option<u32>,
    /// Time on the air above which they do (TXOP duration RTS threshold, IEEE 802.11ax-2021, 26.2.1); `None`: never.
    pub rts_duration: Option<Duration>,
    /// Attempts at a frame no longer than the RTS threshold, and at an RTS (dot11ShortRetryLimit).
    pub short_retry_limit: u32,
    /// Attempts at a frame longer than the RTS threshold (dot11LongRetryLimit).
    pub long_retry_limit: u32,
    /// Number of packets that the interface queue holds, not counting the frame in hand; with EDCA, for each category.
    pub queue_packets: u32,
    /// Discipline of the interface queue.
    pub queue_discipline: Discipline,
    /// Number of packets that the driver takes out of the interface queue and holds in FIFOs for each receiver and priority, which take
    /// turns; with EDCA, for each category. 0: the medium access takes packets out of the interface queue itself.
    pub driver_packets: u32,
    /// The rules where ns-2's differ from the standard's.
    pub rules: AccessRules,
}

/// Rules of medium access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessRules {
    /// IEEE 802.11-2020.
    #[default]
    Standard,
    /// ns-2.35's `Mac802_11`, which differs from the standard:
    ///
    /// * EIFS is a reservation (`recv_timer`). DIFS follows it, no CTS is sent during it, and no frame ends it.
    /// * A station that continues to receive in spite of a weaker frame treats the medium as reserved for the length of
    ///   that frame and EIFS (`capture`).
    /// * A CTS, and data after one, are not sent while the medium is busy or reserved (`check_pktCTRL`, `check_pktTx`). The data
    ///   begin again, after a backoff from the next larger window; that counts as no attempt.
    /// * A packet that finds the medium idle waits for DIFS from then on, and a backoff (`send`).
    /// * The backoff is drawn from 0 … CW − 1 slots (`BackoffTimer::start`), and a station hears what comes before its access up to
    ///   the last moment: it has no aRxTxTurnaroundTime.
    /// * A station waits for an answer for SIFS, its time on the air and twice 2 µs of propagation, whatever else it
    ///   hears by then, and DIFS follows that (`check_pktRTS`, `check_pktTx`).
    /// * The reservation of an RTS stands.
    Ns2,
}

/// Operation of stations with EDCA in channels wider than 20 MHz (IEEE 802.11-2020, 10.23.2.5, 11.15.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bandwidth {
    /// The channel is one: each data frame fills it, and whatever is in it makes it busy.
    #[default]
    Whole,
    /// The backoff counts on the primary channel. A frame waits for another access if a secondary channel was not idle.
    Static,
    /// The same, but a frame goes over the channels that were idle.
    Dynamic,
}

/// Protection of frames from stations that do not understand them (10.27).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// None.
    #[default]
    None,
    /// A CTS to the station itself, at the basic rate, before each data frame that is not understood by all (10.3.2.13).
    CtsToSelf,
    /// RTS and CTS at the basic rate before each unicast data frame that is not understood by all.
    RtsCts,
}

impl Config {
    /// dot11ShortRetryLimit (IEEE 802.11-2020, Annex C).
    pub const DEFAULT_SHORT_RETRY_LIMIT: u32 = 7;
    /// dot11LongRetryLimit (IEEE 802.11-2020, Annex C).
    pub const DEFAULT_LONG_RETRY_LIMIT: u32 = 4;
    /// As in ns-2 (`ifqlen` 50), which most published studies kept; the standard gives none.
    pub const DEFAULT_QUEUE_PACKETS: u32 = 50;

    /// Standard DCF without options: a fixed `data_rate`, its default basic rate, no RTS (dot11RTSThreshold beyond any
    /// frame), no protection, and a drop-tail queue.
    pub fn new(phy: Phy, data_rate: TxVector) -> Self {
        Self {
            phy,
            rate_control: Algorithm::Fixed(data_rate),
            rates: Vec::new(),
            candidates: Arc::default(),
            peers: None,
            basic_rates: Arc::default(),
            seed: 1,
            basic_rate: phy.default_basic_rate(data_rate),
            acknowledgements: phy.standard().acknowledges(),
            protection: Protection::None,
            understood: ModulationClass::Dsss,
            edca: None,
            aggregation: None,
            bandwidth: Bandwidth::default(),
            rts_threshold: None,
            rts_duration: None,
            short_retry_limit: Self::DEFAULT_SHORT_RETRY_LIMIT,
            long_retry_limit: Self::DEFAULT_LONG_RETRY_LIMIT,
            queue_packets: Self::DEFAULT_QUEUE_PACKETS,
            queue_discipline: Discipline::DropTail,
            driver_packets: 0,
            rules: AccessRules::default(),
        }
    }

    /// Whether RTS and CTS protect data frames at `rate`.
    pub(super) fn is_rts_protected(&self, rate: TxVector) -> bool {
        self.protection == Protection::RtsCts && rate.modulation_class() > self.understood
    }

    /// Whether what goes before data frames at `rate` protects them.
    pub(super) fn is_protected(&self, rate: TxVector) -> bool {
        self.is_rts_protected(rate) || self.is_cts_protected(rate)
    }

    /// Whether a CTS-to-self protects data frames at `rate`.
    pub(super) fn is_cts_protected(&self, rate: TxVector) -> bool {
        self.protection == Protection::CtsToSelf && rate.modulation_class() > self.understood
    }
}
