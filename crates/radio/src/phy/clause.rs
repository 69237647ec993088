//! A physical layer, as a clause of the standard describes it.

use core::fmt;

use hopcast_protocols::time::Duration;

use super::{Channels, DataRate, Encoding, ModulationClass, TxVector};

/// A physical layer, as a clause of IEEE 802.11-2020 describes it, or as what is known of one that no clause describes.
///
/// It answers two kinds of questions: the timing of its stations, and the format of its frames. Vectors given to it have
/// its own format.
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

/// Parameters of a physical layer that medium access needs (6.5.4, PLME-CHARACTERISTICS).
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
    /// aRxTxTurnaroundTime, the upper bound of 802.11-2012 (its clauses 16 to 19; later editions leave it to the
    /// implementation): for this time before it sends, a station can't hear.
    pub rx_tx_turnaround: Duration,
}

/// Properties of a frame that do not depend on its length: its parts, and their reception.
///
/// ```text
///    preamble and header                  PSDU
///   ├─────────┬──────────┼───────────────────────────────────┼──────────────────┤
///              the header's              SERVICE, octets, tail  signal extension
///              last part
/// ```
///
/// A receiver decides separately on the last part of the header, and on the PSDU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Data rate of the PSDU.
    pub data_rate: DataRate,
    /// Its modulation class.
    pub modulation_class: ModulationClass,
    /// Whether its rate is in the basic set, so that networks answer at it by default.
    pub is_basic: bool,
    /// Preamble and header; in each case aRxPHYStartDelay (Tables 15-5, 16-4, 17-21, 18-5).
    pub header_duration: Duration,
    /// Bits of the preamble and header.
    pub header_bits: u32,
    /// The last part of the header, which names rate and length.
    pub header: Section,
    /// Encoding of the PSDU.
    pub encoding: Encoding,
    /// Bits of the PSDU besides its bytes.
    pub service_and_tail_bits: u32,
    /// aSignalExtension: silence that counts as part of the frame.
    pub signal_extension: Duration,
    /// aCCATime for its preamble.
    pub cca_time: Duration,
    /// Bandwidth of noise in hertz, such that another signal of the same kind has the effect of noise of equal power.
    pub noise_bandwidth: f64,
    /// Minimum level in dBm at which the standard requires a receiver to decode most frames; real receivers do better.
    pub minimum_sensitivity: f64,
}

/// A part of a frame whose bits have the same encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Their encoding.
    pub encoding: Encoding,
    /// Number of bits.
    pub bits: u32,
    /// Duration.
    pub duration: Duration,
}
