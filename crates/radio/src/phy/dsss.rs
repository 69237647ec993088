//! DSSS: 1 and 2 Mb/s. IEEE 802.11-2020, clause 15.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::{Channels, DataRate, Encoding, ModulationClass, Standard, TxVector};

/// See the module.
#[derive(Debug)]
pub(super) struct Dsss;

pub(super) const MBPS_1: TxVector = TxVector::new(Standard::Dsss, 0);
pub(super) const MBPS_2: TxVector = TxVector::new(Standard::Dsss, 1);

/// Data rates and encodings (15.4.4): both are mandatory, and what 802.11 and 802.11b networks answer at.
const MODES: [(u32, Encoding); 2] = [(1_000, Encoding::Dbpsk), (2_000, Encoding::Dqpsk)];

/// SYNC of 128 bits and SFD of 16 (15.2.2).
const PREAMBLE_BITS: u32 = 128 + 16;
/// SIGNAL, SERVICE, LENGTH and CRC of a PLCP header (15.2.3, 16.2.3).
pub(super) const HEADER_BITS: u32 = 48;

/// In hertz (15.4, 16.3).
const CHIP_RATE: f64 = 11e6;
/// Hertz over which noise counts, for a chip of a second. A chip's energy then stands over noise and over an asynchronous
/// interferer of the same chip rate as in M. B. Pursley, "Performance evaluation for phase-coded spread-spectrum
/// multiple-access communication, part I", IEEE Trans. Communications 25(8), 1977, equation 17, for rectangular chips.
pub(crate) const BANDWIDTH_IN_CHIP_RATES: f64 = 1.5;

/// Table 15-5, DSSS PHY characteristics.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(20),
    sifs: Duration::from_micros(10),
    cw_min: 31,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(5),
};

/// The time of a PSDU: 8·bytes/rate, rounded up to a microsecond (16.3.4, without PBCC).
pub(super) fn psdu_duration(rate: DataRate, octets: u32) -> Duration {
    Duration::from_micros((8_000 * u64::from(octets)).div_ceil(u64::from(rate.as_kbps())))
}

impl Clause for Dsss {
    fn name(&self) -> &'static str {
        "802.11"
    }

    fn summary(&self) -> &'static str {
        "DSSS at 1 and 2 Mb/s, 2.4 GHz."
    }

    fn vectors(&self, _short_preamble: bool) -> &'static [TxVector] {
        &[MBPS_1, MBPS_2]
    }

    fn parameters(&self) -> PhyParameters {
        PARAMETERS
    }

    fn channels(&self) -> Channels {
        Channels::AT_2_4_GHZ
    }

    #[inline]
    fn framing(&self, vector: TxVector) -> Framing {
        let (kbps, encoding) = MODES[usize::from(vector.mcs())];
        // At 1 Mb/s (15.2.2).
        let header = Section {
            encoding: Encoding::Dbpsk,
            bits: HEADER_BITS,
            duration: Duration::from_micros(HEADER_BITS as u64),
        };
        Framing {
            data_rate: DataRate::from_kbps(kbps),
            modulation_class: ModulationClass::Dsss,
            is_basic: true,
            header_duration: Duration::from_micros(PREAMBLE_BITS as u64) + header.duration,
            header_bits: PREAMBLE_BITS + HEADER_BITS,
            header,
            encoding,
            service_and_tail_bits: 0,
            signal_extension: Duration::ZERO,
            // Tables 15-5 and 16-4.
            cca_time: Duration::from_micros(15),
            noise_bandwidth: CHIP_RATE * BANDWIDTH_IN_CHIP_RATES,
            // "Receiver minimum input level sensitivity" (15.4.6): an FER of 8 % with 1024 octets, stated for 2 Mb/s. What can
            // be decoded at 2 Mb/s can be at 1 Mb/s.
            minimum_sensitivity: -80.0,
        }
    }

    #[inline]
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        psdu_duration(self.data_rate(vector), octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_that_of_clause_15() {
        for (vector, kbps, encoding) in [(MBPS_1, 1_000, Encoding::Dbpsk), (MBPS_2, 2_000, Encoding::Dqpsk)] {
            let framing = vector.framing();
            assert_eq!((framing.data_rate, framing.encoding), (DataRate::from_kbps(kbps), encoding));
            assert_eq!((framing.header_duration, framing.header_bits), (Duration::from_micros(192), 192));
            let header = Section { encoding: Encoding::Dbpsk, bits: 48, duration: Duration::from_micros(48) };
            assert_eq!(framing.header, header);
            assert_eq!((framing.cca_time, framing.signal_extension), (Duration::from_micros(15), Duration::ZERO));
            assert_eq!((framing.noise_bandwidth, framing.minimum_sensitivity), (16.5e6, -80.0));
            assert_eq!(vector.payload_bits(100), 800);
        }
    }

    /// 192 + 8·14, and half of it at 2 Mb/s.
    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        for (vector, octets, expected) in [(MBPS_1, 14, 304), (MBPS_2, 14, 248), (MBPS_2, 1_536, 6_336)] {
            assert_eq!(vector.airtime(octets), Duration::from_micros(expected));
        }
    }

    #[test]
    fn supported_rates_are_named_in_half_megabits() {
        assert_eq!([MBPS_1, MBPS_2].map(|vector| Dsss.supported_rate(vector)), [2, 4]);
    }
}
