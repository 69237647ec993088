//! WaveLAN as it was before 802.11: 2 Mb/s by DQPSK, carrier sense with a random wait, and no answer of any kind.
//!
//! The known facts about it are measurements (Desilva and Das, "Experimental evaluation of a wireless ad hoc network",
//! Table 1, ISA card): 6.33 ms for a packet of 1500 bytes and 0.571 ms for one of 68, or 2 Mb/s and 0.30 ms a frame for
//! everything besides the packet. Its slot and spaces are not published, and its drivers disagree: Linux set the Ethernet
//! controller (Intel 82586) to a slot of 12 bit times in one version and to 512 in another. So hopcast uses those of its
//! successor, 802.11 DSSS.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, Framing, PhyParameters, Section};
use super::dsss::{self, Dsss};
use super::{Channels, Encoding, Standard, TxVector};

/// See the module.
#[derive(Debug)]
pub(super) struct Wavelan;

const MBPS_2: TxVector = TxVector::new(Standard::Wavelan, 0);

/// What precedes the bytes of a frame: of the 300 µs that a frame takes besides its packet, what the 36 bytes of MAC header,
/// LLC/SNAP and FCS at 2 Mb/s leave.
const HEADER: Duration = Duration::from_micros(300 - 36 * 8 / 2);

impl Clause for Wavelan {
    fn name(&self) -> &'static str {
        "wavelan"
    }

    fn summary(&self) -> &'static str {
        "WaveLAN as it was before 802.11: 2 Mb/s, 2.4 GHz."
    }

    fn vectors(&self, _short_preamble: bool) -> &'static [TxVector] {
        &[MBPS_2]
    }

    /// Table 15-5, DSSS PHY characteristics: those of 802.11, since its own are not published.
    fn parameters(&self) -> PhyParameters {
        dsss::PARAMETERS
    }

    fn acknowledges(&self) -> bool {
        false
    }

    fn channels(&self) -> Channels {
        Channels::AT_2_4_GHZ
    }

    #[inline]
    fn framing(&self, _vector: TxVector) -> Framing {
        let dsss = Dsss.framing(dsss::MBPS_2);
        Framing {
            header_duration: HEADER,
            // None are known.
            header_bits: 0,
            // As many as in 802.11, at the only rate.
            header: Section { encoding: Encoding::Dqpsk, duration: dsss.header.duration / 2, ..dsss.header },
            ..dsss
        }
    }

    #[inline]
    fn psdu_duration(&self, _vector: TxVector, octets: u32) -> Duration {
        Dsss.psdu_duration(dsss::MBPS_2, octets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The measured times of de Silva and Das, Table 1, ISA: half of a percent.
    #[test]
    fn wavelan_takes_the_measured_times() {
        for (packet, measured) in [(1_500, 6_330.0), (68, 571.0)] {
            let airtime = MBPS_2.airtime(packet + 36).as_nanos() as f64 / 1e3;
            assert!((airtime / measured - 1.0).abs() < 0.005, "{packet}: {airtime}");
        }
    }

    /// 1500 and 68 bytes and 36: 300 µs and 4 µs a byte of the packet.
    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        assert_eq!(MBPS_2.airtime(1_536), Duration::from_micros(6_300));
        assert_eq!(MBPS_2.airtime(104), Duration::from_micros(572));
    }

    #[test]
    fn its_header_is_that_of_dsss_at_twice_the_rate() {
        let framing = MBPS_2.framing();
        let header = Section { encoding: Encoding::Dqpsk, bits: 48, duration: Duration::from_micros(24) };
        assert_eq!((framing.header, framing.header_bits, framing.encoding), (header, 0, Encoding::Dqpsk));
        assert_eq!((framing.noise_bandwidth, framing.minimum_sensitivity), (16.5e6, -80.0));
    }
}
