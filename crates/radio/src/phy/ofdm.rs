//! OFDM: 6 to 54 Mb/s in a channel of 20 MHz. IEEE 802.11-2020, clause 17.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::{Channels, CodeRate, Constellation, DataRate, Encoding, ModulationClass, Standard, TxVector};

/// See the module.
#[derive(Debug)]
pub(super) struct Ofdm;

/// Of a rate: N_DBPS, data bits of a symbol (Table 17-4); constellation and code (same table); whether it is mandatory (17.1.1),
/// and so one that networks answer at; and the minimum sensitivity in dBm (Table 17-18: a PER of 10 % with 1000 bytes).
struct Mode {
    bits: u32,
    constellation: Constellation,
    code: CodeRate,
    is_mandatory: bool,
    sensitivity: f64,
}

#[rustfmt::skip]
const MODES: [Mode; 8] = {
    use CodeRate::{Half, ThreeQuarters, TwoThirds};
    use Constellation::{Bpsk, Qam16, Qam64, Qpsk};
    [
        Mode { bits: 24, constellation: Bpsk, code: Half, is_mandatory: true, sensitivity: -82.0 },
        Mode { bits: 36, constellation: Bpsk, code: ThreeQuarters, is_mandatory: false, sensitivity: -81.0 },
        Mode { bits: 48, constellation: Qpsk, code: Half, is_mandatory: true, sensitivity: -79.0 },
        Mode { bits: 72, constellation: Qpsk, code: ThreeQuarters, is_mandatory: false, sensitivity: -77.0 },
        Mode { bits: 96, constellation: Qam16, code: Half, is_mandatory: true, sensitivity: -74.0 },
        Mode { bits: 144, constellation: Qam16, code: ThreeQuarters, is_mandatory: false, sensitivity: -70.0 },
        Mode { bits: 192, constellation: Qam64, code: TwoThirds, is_mandatory: false, sensitivity: -66.0 },
        Mode { bits: 216, constellation: Qam64, code: ThreeQuarters, is_mandatory: false, sensitivity: -65.0 },
    ]
};

/// All vectors of a format with these modes, ascending.
pub(super) const fn vectors(format: Standard) -> [TxVector; 8] {
    let mut vectors = [TxVector::new(format, 0); 8];
    let mut mcs = 0;
    while mcs < 8 {
        vectors[mcs as usize] = TxVector::new(format, mcs);
        mcs += 1;
    }
    vectors
}

/// Table 17-4.
const VECTORS: [TxVector; 8] = vectors(Standard::Ofdm);

/// Table 17-21, OFDM PHY characteristics for 20 MHz.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(9),
    sifs: Duration::from_micros(16),
    cw_min: 15,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(2),
};

/// Table 17-5: T_PREAMBLE, the training.
const PREAMBLE: Duration = Duration::from_micros(16);
/// Table 17-5: T_SYM and T_SIGNAL.
const SYMBOL: Duration = Duration::from_micros(4);
/// SIGNAL: RATE, LENGTH, parity and tail (17.3.4.1).
const SIGNAL_BITS: u32 = 24;
/// SERVICE, 16 bits (17.3.5.2), and tail, 6 bits (17.3.5.3).
const SERVICE_AND_TAIL_BITS: u32 = 16 + 6;
/// 52 subcarriers of 312.5 kHz, so that the ratio of powers is the ratio on each subcarrier.
const NOISE_BANDWIDTH: f64 = 52.0 * 312.5e3;

impl Clause for Ofdm {
    fn name(&self) -> &'static str {
        "802.11a"
    }

    fn summary(&self) -> &'static str {
        "OFDM at 6 to 54 Mb/s, 5 GHz."
    }

    fn vectors(&self, _short_preamble: bool) -> &'static [TxVector] {
        &VECTORS
    }

    fn parameters(&self) -> PhyParameters {
        PARAMETERS
    }

    fn channels(&self) -> Channels {
        Channels::AT_5_GHZ
    }

    #[inline]
    fn framing(&self, vector: TxVector) -> Framing {
        let Mode { bits, constellation, code, is_mandatory, sensitivity } = MODES[usize::from(vector.mcs())];
        let in_signal = Encoding::Ofdm { constellation: Constellation::Bpsk, code: CodeRate::Half };
        Framing {
            // N_DBPS over the 4 µs of a symbol.
            data_rate: DataRate::from_kbps(bits * 1_000 / 4),
            modulation_class: ModulationClass::Ofdm,
            is_basic: is_mandatory,
            header_duration: PREAMBLE + SYMBOL,
            // The training has none.
            header_bits: SIGNAL_BITS,
            header: Section { encoding: in_signal, bits: SIGNAL_BITS, duration: SYMBOL },
            encoding: Encoding::Ofdm { constellation, code },
            service_and_tail_bits: SERVICE_AND_TAIL_BITS,
            signal_extension: Duration::ZERO,
            // Table 17-21, upper bound.
            cca_time: Duration::from_micros(4),
            noise_bandwidth: NOISE_BANDWIDTH,
            minimum_sensitivity: sensitivity,
        }
    }

    /// Equation 17-29: SERVICE, the bytes and the tail, padded to whole symbols.
    #[inline]
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        let bits = 8 * u64::from(octets) + u64::from(SERVICE_AND_TAIL_BITS);
        SYMBOL * bits.div_ceil(u64::from(MODES[usize::from(vector.mcs())].bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 17-4: rate, constellation, code; Table 17-18: sensitivity.
    #[test]
    fn modes_are_the_tabulated_ones() {
        use CodeRate::{Half, ThreeQuarters, TwoThirds};
        use Constellation::{Bpsk, Qam16, Qam64, Qpsk};
        let modes = VECTORS.map(|vector| {
            let Framing { data_rate, encoding, minimum_sensitivity, is_basic, .. } = vector.framing();
            let Encoding::Ofdm { constellation, code } = encoding else { panic!("{encoding:?} is not OFDM") };
            (data_rate.as_kbps() / 1_000, constellation, code, minimum_sensitivity, is_basic)
        });
        let expected = [
            (6, Bpsk, Half, -82.0, true),
            (9, Bpsk, ThreeQuarters, -81.0, false),
            (12, Qpsk, Half, -79.0, true),
            (18, Qpsk, ThreeQuarters, -77.0, false),
            (24, Qam16, Half, -74.0, true),
            (36, Qam16, ThreeQuarters, -70.0, false),
            (48, Qam64, TwoThirds, -66.0, false),
            (54, Qam64, ThreeQuarters, -65.0, false),
        ];
        assert_eq!(modes, expected);
    }

    #[test]
    fn a_frame_begins_as_in_clause_17() {
        let framing = VECTORS[7].framing();
        let encoding = Encoding::Ofdm { constellation: Constellation::Bpsk, code: CodeRate::Half };
        assert_eq!((framing.header_duration, framing.header_bits), (Duration::from_micros(20), 24));
        assert_eq!(framing.header, Section { encoding, bits: 24, duration: Duration::from_micros(4) });
        assert_eq!((framing.cca_time, framing.signal_extension), (Duration::from_micros(4), Duration::ZERO));
        assert_eq!(framing.noise_bandwidth, 16.25e6);
        assert_eq!(VECTORS[7].payload_bits(100), 822);
    }

    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        for (mcs, octets, expected) in [
            // 57 symbols of 216 bits for 16 + 12288 + 6.
            (7, 1_536, 248),
            (0, 14, 44),
            (2, 14, 32),
            (4, 14, 28),
            (4, 20, 28),
            (0, 20, 52),
            // Annex I.1 (802.11-2020): 100 octets at 36 Mb/s make six symbols.
            (5, 100, 44),
        ] {
            assert_eq!(VECTORS[mcs].airtime(octets), Duration::from_micros(expected), "{octets} at {}", VECTORS[mcs]);
        }
    }
}
