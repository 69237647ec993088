//! ERP: OFDM at 2.4 GHz, and the frames of HR/DSSS. IEEE 802.11-2020, clause 18.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters};
use super::ofdm::{self, Ofdm};
use super::{Channels, ModulationClass, Standard, TxVector, dsss, hr_dsss};

/// See the module. A frame of it is one of ERP-OFDM.
#[derive(Debug)]
pub(super) struct Erp;

const OFDM: [TxVector; 8] = ofdm::vectors(Standard::Erp);

/// 18.1.2: ERP-DSSS/CCK and ERP-OFDM, by ascending rate.
const fn vectors(cck: [TxVector; 4]) -> [TxVector; 12] {
    let [mbps_1, mbps_2, mbps_5_5, mbps_11] = cck;
    let [mbps_6, mbps_9, mbps_12, mbps_18, mbps_24, mbps_36, mbps_48, mbps_54] = OFDM;
    [mbps_1, mbps_2, mbps_5_5, mbps_6, mbps_9, mbps_11, mbps_12, mbps_18, mbps_24, mbps_36, mbps_48, mbps_54]
}

const LONG: [TxVector; 12] = vectors(hr_dsss::LONG);
const SHORT: [TxVector; 12] = vectors(hr_dsss::SHORT);

/// Table 18-5, ERP characteristics, with the short slot and aCWmin(1): every station is an ERP one.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: ofdm::PARAMETERS.slot,
    sifs: Duration::from_micros(10),
    cw_min: ofdm::PARAMETERS.cw_min,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(5),
};

/// 10.3.8: silence that gives the convolutional decoder the time that a SIFS of 16 µs would have left it.
const SIGNAL_EXTENSION: Duration = Duration::from_micros(6);

impl Clause for Erp {
    fn name(&self) -> &'static str {
        "802.11g"
    }

    fn summary(&self) -> &'static str {
        "ERP-OFDM at 6 to 54 Mb/s and the rates of 802.11b, 2.4 GHz."
    }

    fn vectors(&self, short_preamble: bool) -> &'static [TxVector] {
        if short_preamble { &SHORT } else { &LONG }
    }

    fn has_short_preamble(&self) -> bool {
        true
    }

    fn parameters(&self) -> PhyParameters {
        PARAMETERS
    }

    /// Table 18-5 with the long slot and aCWmin(0), where data go at rates that every HR/DSSS station has (18.5.4).
    fn parameters_for(&self, data: TxVector) -> PhyParameters {
        match data.modulation_class() {
            ModulationClass::Dsss => {
                PhyParameters { slot: self.long_slot(), cw_min: dsss::PARAMETERS.cw_min, ..PARAMETERS }
            }
            _ => PARAMETERS,
        }
    }

    fn long_slot(&self) -> Duration {
        dsss::PARAMETERS.slot
    }

    fn channels(&self) -> Channels {
        Channels::AT_2_4_GHZ_FOR_OFDM
    }

    #[inline]
    fn framing(&self, vector: TxVector) -> Framing {
        Framing { signal_extension: SIGNAL_EXTENSION, ..Ofdm.framing(vector) }
    }

    #[inline]
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        Ofdm.psdu_duration(vector, octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_of_clause_17_with_six_microseconds_more() {
        for (ours, theirs) in OFDM.iter().zip(ofdm::vectors(Standard::Ofdm)) {
            let extended = Framing { signal_extension: Duration::from_micros(6), ..theirs.framing() };
            assert_eq!(ours.framing(), extended);
            assert_eq!(ours.airtime(1_536), theirs.airtime(1_536) + Duration::from_micros(6));
        }
        assert_eq!(OFDM[7].airtime(1_536), Duration::from_micros(254));
        assert_eq!(OFDM[4].airtime(14), Duration::from_micros(34));
    }

    #[test]
    fn frames_below_are_those_of_clause_16() {
        let of_cck = |vectors: [TxVector; 12]| vectors.into_iter().filter(|vector| !OFDM.contains(vector));
        assert!(of_cck(LONG).eq(hr_dsss::LONG) && of_cck(SHORT).eq(hr_dsss::SHORT));
    }

    /// Table 18-5, and 18.5.4.
    #[test]
    fn data_at_rates_of_802_11b_have_its_slot_and_window() {
        let contention = |data| {
            let PhyParameters { slot, cw_min, sifs, .. } = Erp.parameters_for(data);
            (slot, cw_min, sifs)
        };
        let micros = Duration::from_micros;
        assert_eq!(contention(OFDM[7]), (micros(9), 15, micros(10)));
        assert_eq!(contention(LONG[5]), (micros(20), 31, micros(10)));
    }
}
