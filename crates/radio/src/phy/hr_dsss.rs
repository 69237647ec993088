//! HR/DSSS: 5.5 and 11 Mb/s by CCK in addition to the rates of DSSS, and a short preamble. IEEE 802.11-2020, clause 16.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::dsss::{self, Dsss, HEADER_BITS};
use super::{Channels, DataRate, Encoding, Standard, TxVector};

/// See the module. A frame at 1 Mb/s, and one at 2 Mb/s with the long preamble, is one of DSSS.
#[derive(Debug)]
pub(super) struct HrDsss;

const MBPS_2: TxVector = TxVector::new(Standard::HrDsss, 0).with_short_preamble();
const MBPS_5_5: TxVector = TxVector::new(Standard::HrDsss, 1);
const MBPS_11: TxVector = TxVector::new(Standard::HrDsss, 2);

/// 16.1: the rates of DSSS, and CCK.
pub(super) const LONG: [TxVector; 4] = [dsss::MBPS_1, dsss::MBPS_2, MBPS_5_5, MBPS_11];

/// A frame at 1 Mb/s always has the long preamble: the SIGNAL field of a short header has no value for it (16.2.3).
pub(super) const SHORT: [TxVector; 4] =
    [dsss::MBPS_1, MBPS_2, MBPS_5_5.with_short_preamble(), MBPS_11.with_short_preamble()];

/// Data rates, encodings (16.3.6), and minimum sensitivity in dBm (16.3.8.2: an FER of 8 % with 1024 bytes, stated for 11
/// Mb/s and used for 5.5 Mb/s too).
const MODES: [(u32, Encoding, f64); 3] =
    [(2_000, Encoding::Dqpsk, -80.0), (5_500, Encoding::Cck4, -76.0), (11_000, Encoding::Cck8, -76.0)];

/// SYNC of 56 bits and SFD of 16 at 1 Mb/s (16.2.2.3).
const SHORT_PREAMBLE_BITS: u32 = 56 + 16;

impl Clause for HrDsss {
    fn name(&self) -> &'static str {
        "802.11b"
    }

    fn summary(&self) -> &'static str {
        "HR/DSSS at 1, 2, 5.5 and 11 Mb/s, 2.4 GHz."
    }

    fn vectors(&self, short_preamble: bool) -> &'static [TxVector] {
        if short_preamble { &SHORT } else { &LONG }
    }

    fn has_short_preamble(&self) -> bool {
        true
    }

    /// Table 16-4, HR/DSSS PHY characteristics: those of DSSS.
    fn parameters(&self) -> PhyParameters {
        dsss::PARAMETERS
    }

    fn channels(&self) -> Channels {
        Channels::AT_2_4_GHZ
    }

    #[inline]
    fn framing(&self, vector: TxVector) -> Framing {
        let (kbps, encoding, minimum_sensitivity) = MODES[usize::from(vector.mcs())];
        let long = Framing {
            data_rate: DataRate::from_kbps(kbps),
            // Networks answer at the rates of DSSS.
            is_basic: matches!(encoding, Encoding::Dqpsk),
            encoding,
            minimum_sensitivity,
            ..Dsss.framing(dsss::MBPS_1)
        };
        if !vector.has_short_preamble() {
            return long;
        }
        // The header at 2 Mb/s (16.2.2.3).
        let header = Section {
            encoding: Encoding::Dqpsk,
            bits: HEADER_BITS,
            duration: Duration::from_micros(HEADER_BITS as u64 / 2),
        };
        Framing {
            header_duration: Duration::from_micros(SHORT_PREAMBLE_BITS as u64) + header.duration,
            header_bits: SHORT_PREAMBLE_BITS + HEADER_BITS,
            header,
            ..long
        }
    }

    #[inline]
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        dsss::psdu_duration(self.data_rate(vector), octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_encodings_are_those_of_clause_16() {
        let mode = |vector: TxVector| {
            let Framing { data_rate, encoding, minimum_sensitivity, is_basic, .. } = vector.framing();
            (data_rate.as_kbps(), encoding, minimum_sensitivity, is_basic)
        };
        let expected = [
            (1_000, Encoding::Dbpsk, -80.0, true),
            (2_000, Encoding::Dqpsk, -80.0, true),
            (5_500, Encoding::Cck4, -76.0, false),
            (11_000, Encoding::Cck8, -76.0, false),
        ];
        assert_eq!((LONG.map(mode), SHORT.map(mode)), (expected, expected));
    }

    #[test]
    fn a_short_preamble_takes_half_of_the_time_with_fewer_bits() {
        for (vectors, micros, bits, header, encoding) in
            [(LONG, 192, 192, 48, Encoding::Dbpsk), (SHORT, 96, 120, 24, Encoding::Dqpsk)]
        {
            for vector in &vectors[1..] {
                let framing = vector.framing();
                assert_eq!((framing.header_duration, framing.header_bits), (Duration::from_micros(micros), bits));
                let expected = Section { encoding, bits: 48, duration: Duration::from_micros(header) };
                assert_eq!(framing.header, expected);
            }
        }
        assert_eq!(SHORT[0], LONG[0]);
    }

    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        for (vector, octets, expected) in [
            // 12000/11 = 1090.9, rounded up.
            (LONG[3], 1_500, 192 + 1_091),
            (SHORT[3], 1_500, 96 + 1_091),
            // 12288/11 = 1117.1.
            (LONG[3], 1_536, 1_310),
            // 112/5.5 = 20.4.
            (SHORT[2], 14, 96 + 21),
            (SHORT[1], 14, 96 + 56),
            (SHORT[0], 14, 304),
        ] {
            assert_eq!(vector.airtime(octets), Duration::from_micros(expected), "{vector}, {octets} octets");
        }
    }
}
