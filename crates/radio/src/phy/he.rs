//! HE: up to eight streams in 20 to 160 MHz, with symbols four times as long. IEEE 802.11ax-2021, clause 27, single user.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::ht::{LEGACY_PREAMBLE, SIGNAL_ENCODING, SIGNAL_EXTENSION};
use super::mcs::{self, Payload};
use super::{ChannelWidth, Channels, Coding, DataRate, ModulationClass, Standard, TxVector, ofdm};

/// See the module.
#[derive(Debug)]
pub(super) struct He;

/// One stream in 20 MHz (27.5).
const VECTORS: [TxVector; 12] =
    mcs::vectors(TxVector::new(Standard::He, 0).with_coding(Coding::Ldpc), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);

/// RL-SIG; HE-SIG-A, two symbols; HE-STF (Table 27-12).
const REPEATED_SIGNAL: Duration = Duration::from_micros(4);
const SIGNAL_A: Duration = Duration::from_micros(8);
const SHORT_TRAINING: Duration = Duration::from_micros(4);
/// L-SIG and HE-SIG-A. RL-SIG repeats L-SIG.
const SIGNAL_BITS: u32 = 24 + 52;
/// T_DFT of a symbol (Table 27-12).
const SYMBOL: Duration = Duration::from_nanos(12_800);
/// No convolutional encoder of HE is full: they serve up to four streams of 20 MHz.
const ENCODER_BITS: u32 = u32::MAX;

/// N_SD and N_ST: data subcarriers and all of the resource unit that fills the channel (Table 27-15), 78.125 kHz apart.
const fn subcarriers(width: ChannelWidth) -> (u32, u32) {
    match width {
        ChannelWidth::Mhz20 => (234, 242),
        ChannelWidth::Mhz40 => (468, 484),
        ChannelWidth::Mhz80 => (980, 996),
        ChannelWidth::Mhz160 => (1_960, 1_992),
    }
}

fn payload(vector: TxVector) -> Payload {
    Payload::new(vector, vector.mcs(), subcarriers(vector.width()).0)
}

/// An HE-LTF: half a symbol with a guard interval of 1.6 µs (27.3.11.10). With 0.8 µs the standard's is 0.8 µs shorter, and with 3.2 µs
/// it is a whole symbol, 8 µs longer; published figures of other simulators count 8 µs for all, and so does hopcast.
const LONG_TRAINING: Duration = Duration::from_micros(8);

fn symbol(vector: TxVector) -> Duration {
    SYMBOL + vector.guard_interval().duration()
}

impl Clause for He {
    fn name(&self) -> &'static str {
        "802.11ax"
    }

    fn summary(&self) -> &'static str {
        "HE: up to eight streams in 20 to 160 MHz, 2.4 and 5 GHz."
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
        let payload = payload(vector);
        let training = SHORT_TRAINING + LONG_TRAINING * mcs::training_fields(vector.streams());
        Framing {
            data_rate: DataRate::of_symbols(payload.data_bits, symbol(vector)),
            modulation_class: ModulationClass::He,
            is_basic: false,
            header_duration: LEGACY_PREAMBLE + REPEATED_SIGNAL + SIGNAL_A + training,
            header_bits: SIGNAL_BITS,
            header: Section {
                encoding: SIGNAL_ENCODING,
                bits: SIGNAL_BITS,
                duration: Duration::from_micros(4) + REPEATED_SIGNAL + SIGNAL_A + training,
            },
            encoding: payload.encoding(),
            service_and_tail_bits: payload.service_and_tail_bits(ENCODER_BITS),
            signal_extension: if vector.has_signal_extension() { SIGNAL_EXTENSION } else { Duration::ZERO },
            cca_time: Duration::from_micros(4),
            noise_bandwidth: f64::from(subcarriers(vector.width()).1) * 78.125e3,
            minimum_sensitivity: mcs::minimum_sensitivity(vector.mcs(), vector.width()),
        }
    }

    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        let payload = payload(vector);
        symbol(vector) * payload.symbols(octets, payload.service_and_tail_bits(ENCODER_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::super::GuardInterval;
    use super::*;

    fn vector(mcs: u8, streams: u8, width: ChannelWidth, interval: GuardInterval) -> TxVector {
        VECTORS[0].with_mcs(mcs).with_streams(streams).with_width(width).with_guard_interval(interval)
    }

    /// 27.5, in Mb/s.
    #[test]
    fn rates_are_the_tabulated_ones() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        use GuardInterval::{Ns800, Ns1600, Ns3200};
        for (mcs, streams, width, interval, expected) in [
            (0, 1, Mhz20, Ns800, 8.6),
            (0, 1, Mhz20, Ns3200, 7.3),
            (11, 1, Mhz20, Ns800, 143.4),
            (7, 1, Mhz40, Ns1600, 162.5),
            (9, 2, Mhz80, Ns800, 960.7),
            (11, 1, Mhz80, Ns800, 600.5),
            (11, 1, Mhz160, Ns800, 1_201.0),
            (11, 8, Mhz160, Ns800, 9_607.8),
        ] {
            let rate = f64::from(vector(mcs, streams, width, interval).data_rate().as_kbps()) / 1e3;
            assert!((rate - expected).abs() < 0.06, "{mcs} {streams} {width:?}: {rate}");
        }
    }

    /// Durations of 1536 bytes in ns-3's `tx-duration-test.cc`, in nanoseconds.
    #[test]
    fn durations_are_those_of_ns_3() {
        use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};
        use GuardInterval::{Ns800, Ns1600, Ns3200};
        for (mcs, width, interval, expected) in [
            (0, Mhz20, Ns800, 1_485_600),
            (0, Mhz40, Ns800, 764_800),
            (0, Mhz80, Ns800, 397_600),
            (0, Mhz160, Ns800, 220_800),
            (0, Mhz20, Ns3200, 1_740_000),
            (11, Mhz20, Ns800, 139_200),
            (11, Mhz160, Ns800, 57_600),
            (11, Mhz80, Ns1600, 72_800),
        ] {
            let duration = vector(mcs, 1, width, interval).airtime(1_536);
            assert_eq!(duration, Duration::from_nanos(expected), "MCS {mcs}, {width:?}, {interval:?}");
        }
    }

    /// 10.3.8: 6 µs of silence at 2.4 GHz.
    #[test]
    fn a_signal_extension_follows_at_2_4_gigahertz() {
        let (high, low) = (VECTORS[5], VECTORS[5].with_signal_extension());
        assert_eq!(low.airtime(700), high.airtime(700) + Duration::from_micros(6));
        assert_eq!(low.framing().signal_extension, Duration::from_micros(6));
    }
}
