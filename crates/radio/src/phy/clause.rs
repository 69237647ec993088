//! What a clause of the standard says of its physical layer.

use core::fmt;

use hopcast_protocols::time::Duration;

use super::{Channels, DataRate, Encoding, ModulationClass, TxVector};

/// A physical layer, as a clause of IEEE 802.11-2020 describes it, or as what is known of one that no clause describes.
///
/// It answers two kinds of question: how stations that have it behave, and what a frame that is formed by it looks like.
/// A vector given to it is one of its own format.
pub(super) trait Clause: fmt::Debug + Sync {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// What it is, in a sentence.
    fn summary(&self) -> &'static str;

    /// The vectors of all frames that its stations send, by ascending rate; with `short_preamble` where there is one.
    fn vectors(&self, short_preamble: bool) -> &'static [TxVector];

    /// Whether any of its frames may have a short preamble.
    fn has_short_preamble(&self) -> bool {
        false
    }

    /// Slot, SIFS and contention window.
    fn parameters(&self) -> PhyParameters;

    /// The same at a station that sends its data so.
    fn parameters_for(&self, _data: TxVector) -> PhyParameters {
        self.parameters()
    }

    /// The slot where a station of an older physical layer belongs to the network.
    fn long_slot(&self) -> Duration {
        self.parameters().slot
    }

    /// Whether stations answer: with an ACK to each data frame for them, and with a CTS to an RTS.
    fn acknowledges(&self) -> bool {
        true
    }

    /// Its channels.
    fn channels(&self) -> Channels;

    /// What of a frame does not depend on its length.
    fn framing(&self, vector: TxVector) -> Framing;

    /// The time of a PSDU: data, tail and padding.
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration;

    /// How the Supported Rates element names the rate, in units of 500 kb/s (9.4.2.3).
    fn supported_rate(&self, vector: TxVector) -> u8 {
        // A rate that an element can name fits.
        (self.framing(vector).data_rate.as_kbps() / 500) as u8
    }

    /// See [`TxVector::airtime`].
    fn airtime(&self, vector: TxVector, octets: u32) -> Duration {
        let Framing { header_duration, signal_extension, .. } = self.framing(vector);
        header_duration + self.psdu_duration(vector, octets) + signal_extension
    }

    /// See [`TxVector::data_rate`].
    fn data_rate(&self, vector: TxVector) -> DataRate {
        self.framing(vector).data_rate
    }

    /// See [`TxVector::modulation_class`].
    fn modulation_class(&self, vector: TxVector) -> ModulationClass {
        self.framing(vector).modulation_class
    }

    /// See [`TxVector::header_duration`].
    fn header_duration(&self, vector: TxVector) -> Duration {
        self.framing(vector).header_duration
    }
}

/// What the medium access control needs to know of a physical layer (6.5.4, PLME-CHARACTERISTICS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyParameters {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// aCWmin: the first backoff is drawn from 0 to this many slots, both included.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// aRxTxTurnaroundTime, the upper bound that 802.11-2012 gives (its clauses 16 to 19; later editions leave it to
    /// the implementation): for so long before it sends, a station is deaf.
    pub rx_tx_turnaround: Duration,
}

/// What of a frame does not depend on its length: its parts, and how a receiver fares with them.
///
/// ```text
///    preamble and header                  PSDU
///   ├─────────┬──────────┼───────────────────────────────────┼──────────────────┤
///              the header's              SERVICE, octets, tail  signal extension
///              last part
/// ```
///
/// What is decided apart is the last part of the header, and the PSDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Data bits over time, of the PSDU.
    pub data_rate: DataRate,
    /// Its modulation class.
    pub modulation_class: ModulationClass,
    /// Whether networks answer with such frames by default: it is in the basic set.
    pub is_basic: bool,
    /// Preamble and header; in each case aRxPHYStartDelay (Tables 15-5, 16-4, 17-21, 18-5).
    pub header_duration: Duration,
    /// Bits of the preamble and header.
    pub header_bits: u32,
    /// The last part of the header, which names rate and length.
    pub header: Section,
    /// How the PSDU is put on the air.
    pub encoding: Encoding,
    /// Bits of the PSDU besides its bytes.
    pub service_and_tail_bits: u32,
    /// aSignalExtension: silence that counts as part of the frame.
    pub signal_extension: Duration,
    /// aCCATime for its preamble.
    pub cca_time: Duration,
    /// Hertz over which noise counts, such that another signal of the same kind counts like noise of its power.
    pub noise_bandwidth: f64,
    /// The level in dBm at which a receiver must still decode most frames: the standard's minimum, which real receivers
    /// surpass.
    pub minimum_sensitivity: f64,
}

/// A part of a frame with bits that are put on the air alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// How they are put on the air.
    pub encoding: Encoding,
    /// How many they are.
    pub bits: u32,
    /// How long they last.
    pub duration: Duration,
}
