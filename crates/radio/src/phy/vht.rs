//! VHT: up to eight streams in 20 to 160 MHz, at 5 GHz. IEEE 802.11-2020, clause 21, single user.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::ht::{LEGACY_PREAMBLE, SIGNAL_ENCODING};
use super::mcs::{self, Payload};
use super::{ChannelWidth, Channels, DataRate, ModulationClass, Standard, TxVector, ofdm};

/// See the module.
#[derive(Debug)]
pub(super) struct Vht;

/// One stream in 20 MHz (Table 21-30), which has no MCS 9.
const VECTORS: [TxVector; 9] = mcs::vectors(TxVector::new(Standard::Vht, 0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);

/// VHT-SIG-A, two symbols (Table 21-5).
const SIGNAL_A: Duration = Duration::from_micros(8);
/// VHT-STF, each VHT-LTF, and VHT-SIG-B (Table 21-5).
const SHORT_TRAINING: Duration = Duration::from_micros(4);
const LONG_TRAINING: Duration = Duration::from_micros(4);
const SIGNAL_B: Duration = Duration::from_micros(4);
/// L-SIG and VHT-SIG-A. VHT-SIG-B names nothing that a single user needs.
const SIGNAL_BITS: u32 = 24 + 48;
/// Data bits of a symbol that one encoder takes: 540 Mb/s with the long guard interval (21.3.10.5.3).
const ENCODER_BITS: u32 = 2_160;

/// N_SD and N_ST: subcarriers with data, and all (Table 21-5).
const fn subcarriers(width: ChannelWidth) -> (u32, u32) {
    match width {
        ChannelWidth::Mhz20 => (52, 56),
        ChannelWidth::Mhz40 => (108, 114),
        ChannelWidth::Mhz80 => (234, 242),
        ChannelWidth::Mhz160 => (468, 484),
    }
}

fn payload(vector: TxVector) -> Payload {
    Payload::new(vector, vector.mcs(), subcarriers(vector.width()).0)
}

/// Whether the tables of 21.5 have a rate for it: it needs whole bits for each encoder.
pub(super) const fn is_allowed(vector: TxVector) -> bool {
    let (mcs, streams) = (vector.mcs(), vector.streams());
    match vector.width() {
        ChannelWidth::Mhz20 => mcs < 9 || streams == 3 || streams == 6,
        ChannelWidth::Mhz40 => true,
        ChannelWidth::Mhz80 => !(mcs == 6 && (streams == 3 || streams == 7)) && !(mcs == 9 && streams == 6),
        ChannelWidth::Mhz160 => !(mcs == 9 && streams == 3),
    }
}

impl Clause for Vht {
    fn name(&self) -> &'static str {
        "802.11ac"
    }

    fn summary(&self) -> &'static str {
        "VHT: up to eight streams in 20 to 160 MHz, 5 GHz."
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
        debug_assert!(is_allowed(vector), "21.5 has no {vector:?}");
        let payload = payload(vector);
        let training = SHORT_TRAINING + LONG_TRAINING * mcs::training_fields(vector.streams());
        Framing {
            data_rate: DataRate::of_symbols(payload.data_bits, mcs::short_symbol(vector)),
            modulation_class: ModulationClass::Vht,
            is_basic: false,
            header_duration: LEGACY_PREAMBLE + SIGNAL_A + training + SIGNAL_B,
            header_bits: SIGNAL_BITS,
            header: Section {
                encoding: SIGNAL_ENCODING,
                bits: SIGNAL_BITS,
                duration: Duration::from_micros(4) + SIGNAL_A + training + SIGNAL_B,
            },
            encoding: payload.encoding(),
            service_and_tail_bits: payload.service_and_tail_bits(ENCODER_BITS),
            signal_extension: Duration::ZERO,
            cca_time: Duration::from_micros(4),
            noise_bandwidth: f64::from(subcarriers(vector.width()).1) * 312.5e3,
            minimum_sensitivity: mcs::minimum_sensitivity(vector.mcs(), vector.width()),
        }
    }

    /// 21.4.3, without its last step: with the short guard interval the standard counts the frame to the end of a symbol of 4 µs.
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

    /// Mb/s of a vector.
    fn rate(mcs: u8, streams: u8, width: ChannelWidth, interval: GuardInterval) -> f64 {
        let vector = TxVector::new(Standard::Vht, mcs).with_streams(streams).with_width(width);
        f64::from(vector.with_guard_interval(interval).data_rate().as_kbps()) / 1e3
    }

    /// Tables 21-30 to 21-61, of which each width gives one.
    #[test]
    fn rates_are_the_tabulated_ones() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        use GuardInterval::{Ns400, Ns800};
        for (mcs, streams, width, interval, expected) in [
            (0, 1, Mhz20, Ns800, 6.5),
            (8, 1, Mhz20, Ns400, 86.7),
            (9, 3, Mhz20, Ns800, 260.0),
            (9, 1, Mhz40, Ns800, 180.0),
            (9, 1, Mhz80, Ns800, 390.0),
            (9, 1, Mhz80, Ns400, 433.3),
            (9, 1, Mhz160, Ns400, 866.7),
            (9, 8, Mhz160, Ns400, 6_933.3),
        ] {
            assert!((rate(mcs, streams, width, interval) - expected).abs() < 0.05, "{mcs} {streams} {width:?}");
        }
    }

    /// The number of encoders in Tables 21-30 to 21-61 where it is not simply that of each started 540 Mb/s.
    #[test]
    fn encoders_take_whole_periods_of_the_puncturing() {
        let encoders = |width, streams, mcs| {
            let vector = TxVector::new(Standard::Vht, mcs).with_streams(streams).with_width(width);
            (vector.framing().service_and_tail_bits - mcs::SERVICE_BITS) / 6
        };
        for (width, streams, mcs, expected) in [
            (80, 7, 2, 3),
            (80, 7, 7, 6),
            (80, 7, 8, 6),
            (80, 8, 7, 6),
            (160, 4, 7, 6),
            (160, 5, 8, 8),
            (160, 6, 7, 8),
            (160, 7, 3, 4),
            (160, 7, 4, 6),
            (160, 7, 5, 7),
            (160, 7, 7, 9),
            (160, 7, 8, 12),
            (160, 7, 9, 12),
            // And where it is.
            (80, 1, 9, 1),
            (80, 2, 9, 2),
            (160, 8, 9, 12),
        ] {
            let width = if width == 80 { ChannelWidth::Mhz80 } else { ChannelWidth::Mhz160 };
            assert_eq!(encoders(width, streams, mcs), expected, "{width:?}, {streams} streams, MCS {mcs}");
        }
    }

    /// Every vector that is allowed has whole bits: no encoder gets a part of one.
    #[test]
    fn what_is_allowed_fits_its_encoders() {
        for width in ChannelWidth::ALL {
            for (streams, mcs) in (1..=8).flat_map(|streams| (0..=9).map(move |mcs| (streams, mcs))) {
                let vector = TxVector::new(Standard::Vht, mcs).with_streams(streams).with_width(width);
                if is_allowed(vector) {
                    let symbol = Duration::from_micros(4);
                    let bits = payload(vector).data_bits;
                    assert_eq!(vector.data_rate(), DataRate::of_symbols(bits, symbol));
                    let encoders = (vector.framing().service_and_tail_bits - mcs::SERVICE_BITS) / 6;
                    assert!(encoders <= 12 && bits.is_multiple_of(encoders), "{vector:?}: {encoders}");
                }
            }
        }
    }

    /// ns-3's tests of durations (`tx-duration-test.cc`) have 4 µs less each: it leaves VHT-SIG-B out, which a frame to a single user
    /// has as well (Figure 21-4).
    #[test]
    fn durations_are_those_of_ns_3_and_the_second_signal_field() {
        use ChannelWidth::{Mhz20, Mhz80, Mhz160};
        use GuardInterval::{Ns400, Ns800};
        for (mcs, width, interval, nanoseconds) in [
            (8, Mhz20, Ns800, 196_000),
            (0, Mhz80, Ns800, 460_000),
            (9, Mhz80, Ns400, 64_800),
            (8, Mhz160, Ns800, 56_000),
        ] {
            let vector = TxVector::new(Standard::Vht, mcs).with_width(width).with_guard_interval(interval);
            assert_eq!(vector.airtime(1_536), Duration::from_nanos(nanoseconds + 4_000), "MCS {mcs}, {width:?}");
        }
    }

    /// Each stream more lengthens the training, and parity checks need no tail.
    #[test]
    fn streams_lengthen_the_training() {
        let preamble = |streams| TxVector::new(Standard::Vht, 0).with_streams(streams).header_duration();
        let micros = [1, 2, 3, 4, 5, 6, 7, 8].map(|streams| preamble(streams).as_nanos() / 1_000);
        assert_eq!(micros, [40, 44, 52, 52, 60, 60, 68, 68]);
        let ldpc = TxVector::new(Standard::Vht, 0).with_coding(Coding::Ldpc);
        assert_eq!(ldpc.framing().service_and_tail_bits, 16);
    }
}
