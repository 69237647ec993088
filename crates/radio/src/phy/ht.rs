//! HT: up to four streams in 20 or 40 MHz. IEEE 802.11-2020, clause 19, in the mixed format.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::mcs::{self, MODES_PER_STREAM as SCHEMES, Payload};
use super::{
    ChannelWidth, Channels, CodeRate, Constellation, DataRate, Encoding, ModulationClass, Standard, TxVector, ofdm,
};

/// See the module. An index of 0 to 31 counts the schemes of one stream, then those of two, three and four (Tables 19-27 to 19-34).
#[derive(Debug)]
pub(super) struct Ht;

/// One stream in 20 MHz (Table 19-27).
const VECTORS: [TxVector; 8] = mcs::vectors(TxVector::new(Standard::Ht, 0), [0, 1, 2, 3, 4, 5, 6, 7]);

/// L-STF, L-LTF and L-SIG (Table 19-6): the same in all mixed formats, so that every OFDM station defers.
pub(crate) const LEGACY_PREAMBLE: Duration = Duration::from_micros(8 + 8 + 4);
/// HT-SIG, two symbols (19.3.9.4.3).
const SIGNAL: Duration = Duration::from_micros(8);
/// HT-STF; each of the HT-LTFs (Table 19-6).
const SHORT_TRAINING: Duration = Duration::from_micros(4);
const LONG_TRAINING: Duration = Duration::from_micros(4);
/// L-SIG and HT-SIG.
const SIGNAL_BITS: u32 = 24 + 48;
/// 17.3.4: the modulation of all signal fields.
pub(super) const SIGNAL_ENCODING: Encoding =
    Encoding::Ofdm { constellation: Constellation::Bpsk, code: CodeRate::Half };
/// aSignalExtension at 2.4 GHz (10.3.8).
pub(super) const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);
/// Data bits of a symbol that one encoder takes: 300 Mb/s with the long guard interval (19.3.11.4).
const ENCODER_BITS: u32 = 1_200;

/// N_SD and N_ST: subcarriers with data, and all (Table 19-6).
const fn subcarriers(width: ChannelWidth) -> (u32, u32) {
    match width {
        ChannelWidth::Mhz20 => (52, 56),
        _ => (108, 114),
    }
}

fn payload(vector: TxVector) -> Payload {
    Payload::new(vector, vector.mcs() % SCHEMES, subcarriers(vector.width()).0)
}

impl Clause for Ht {
    fn name(&self) -> &'static str {
        "802.11n"
    }

    fn summary(&self) -> &'static str {
        "HT: up to four streams in 20 or 40 MHz, 2.4 and 5 GHz."
    }

    fn vectors(&self, _short_preamble: bool) -> &'static [TxVector] {
        &VECTORS
    }

    fn parameters(&self) -> PhyParameters {
        ofdm::PARAMETERS
    }

    fn channels(&self) -> Channels {
        Channels::AT_5_GHZ
    }

    fn framing(&self, vector: TxVector) -> Framing {
        debug_assert_eq!(vector.streams(), vector.mcs() / SCHEMES + 1, "the index names the number of streams");
        let payload = payload(vector);
        let training = SHORT_TRAINING + LONG_TRAINING * mcs::training_fields(vector.streams());
        Framing {
            data_rate: DataRate::of_symbols(payload.data_bits, mcs::short_symbol(vector)),
            modulation_class: ModulationClass::Ht,
            is_basic: false,
            header_duration: LEGACY_PREAMBLE + SIGNAL + training,
            header_bits: SIGNAL_BITS,
            header: Section {
                encoding: SIGNAL_ENCODING,
                bits: SIGNAL_BITS,
                duration: Duration::from_micros(4) + SIGNAL + training,
            },
            encoding: payload.encoding(),
            service_and_tail_bits: payload.service_and_tail_bits(ENCODER_BITS),
            signal_extension: if vector.has_signal_extension() { SIGNAL_EXTENSION } else { Duration::ZERO },
            cca_time: Duration::from_micros(4),
            noise_bandwidth: f64::from(subcarriers(vector.width()).1) * 312.5e3,
            minimum_sensitivity: mcs::minimum_sensitivity(vector.mcs() % SCHEMES, vector.width()),
        }
    }

    /// 19.4.3, without its last step: with the short guard interval the standard counts the frame to the end of a symbol of 4 µs.
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        let payload = payload(vector);
        let symbols = payload.symbols(octets, payload.service_and_tail_bits(ENCODER_BITS));
        mcs::short_symbol(vector) * symbols
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coding, GuardInterval};
    use super::*;

    fn vector(mcs: u8, width: ChannelWidth, interval: GuardInterval) -> TxVector {
        let streams = mcs / SCHEMES + 1;
        TxVector::new(Standard::Ht, mcs).with_streams(streams).with_width(width).with_guard_interval(interval)
    }

    /// Tables 19-27 to 19-34, in Mb/s.
    #[test]
    fn rates_are_the_tabulated_ones() {
        use ChannelWidth::{Mhz20, Mhz40};
        use GuardInterval::{Ns400, Ns800};
        for (mcs, width, interval, expected) in [
            (0, Mhz20, Ns800, 6.5),
            (7, Mhz20, Ns800, 65.0),
            (7, Mhz20, Ns400, 72.2),
            (7, Mhz40, Ns400, 150.0),
            (11, Mhz20, Ns800, 52.0),
            (15, Mhz40, Ns400, 300.0),
            (23, Mhz40, Ns800, 405.0),
            (31, Mhz40, Ns400, 600.0),
        ] {
            let rate = f64::from(vector(mcs, width, interval).data_rate().as_kbps()) / 1e3;
            assert!((rate - expected).abs() < 0.05, "MCS {mcs}, {width:?}: {rate}");
        }
    }

    /// Durations in ns-3's `tx-duration-test.cc`, in nanoseconds.
    #[test]
    fn durations_are_those_of_ns_3() {
        use ChannelWidth::{Mhz20, Mhz40};
        use GuardInterval::{Ns400, Ns800};
        for (mcs, width, interval, octets, expected) in [
            (7, Mhz20, Ns800, 1_536, 228_000),
            (7, Mhz20, Ns800, 76, 48_000),
            (7, Mhz20, Ns800, 14, 40_000),
            (0, Mhz20, Ns400, 1_536, 1_742_400),
            (0, Mhz20, Ns400, 14, 57_600),
            (7, Mhz40, Ns400, 1_536, 118_800),
        ] {
            let duration = vector(mcs, width, interval).airtime(octets);
            assert_eq!(duration, Duration::from_nanos(expected), "MCS {mcs}, {width:?}, {octets} octets");
        }
    }

    /// Tables 19-27 to 19-38: two encoders above 300 Mb/s.
    #[test]
    fn fast_frames_have_two_encoders() {
        let bits = |mcs| vector(mcs, ChannelWidth::Mhz40, GuardInterval::Ns800).framing().service_and_tail_bits;
        assert_eq!([15, 20, 21, 23, 27, 28, 31].map(bits), [22, 22, 28, 28, 22, 28, 28]);
        let ldpc = vector(31, ChannelWidth::Mhz40, GuardInterval::Ns800).with_coding(Coding::Ldpc);
        assert_eq!(ldpc.framing().service_and_tail_bits, 16);
    }

    /// Table 19-23 at both widths.
    #[test]
    fn twice_the_width_needs_twice_the_power() {
        let level = |mcs, width| vector(mcs, width, GuardInterval::Ns800).framing().minimum_sensitivity;
        assert_eq!([0, 7, 15].map(|mcs| level(mcs, ChannelWidth::Mhz20)), [-82.0, -64.0, -64.0]);
        assert_eq!([0, 7, 15].map(|mcs| level(mcs, ChannelWidth::Mhz40)), [-79.0, -61.0, -61.0]);
    }
}
