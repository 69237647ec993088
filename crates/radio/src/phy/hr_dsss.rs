//! HR/DSSS: 5.5 and 11 Mb/s by CCK beside the rates of DSSS. IEEE 802.11-2020, clause 16.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters, dsss};

/// 16.1: those of DSSS, and CCK.
pub(super) const RATES: &[DataRate] = &[dsss::RATE_1, dsss::RATE_2, RATE_5_5, RATE_11];

const RATE_5_5: DataRate = DataRate::from_kbps(5_500);
const RATE_11: DataRate = DataRate::from_kbps(11_000);

/// Table 16-4, HR/DSSS PHY characteristics: those of DSSS.
pub(super) const PARAMETERS: PhyParameters = dsss::PARAMETERS;

/// SYNC of 56 bits and SFD of 16 at 1 Mb/s, then 48 bits of header at 2 Mb/s (16.2.2.3).
const SHORT_HEADER: Duration = Duration::from_micros(56 + 16 + 48 / 2);

/// Preamble and header before a PSDU at `rate`. A frame at 1 Mb/s always has the long preamble: the SIGNAL field of a
/// short header has no value for it (16.2.3).
pub(super) fn header(rate: DataRate, short_preamble: bool) -> Duration {
    if short_preamble && rate != dsss::RATE_1 { SHORT_HEADER } else { dsss::HEADER }
}

/// Bits of that: SYNC of 128 or 56, SFD of 16, header of 48 (15.2.2, 16.2.2.2, 16.2.2.3).
pub(super) fn header_bits(rate: DataRate, short_preamble: bool) -> u32 {
    (if short_preamble && rate != dsss::RATE_1 { 56 } else { 128 }) + 16 + 48
}

/// The time of a PSDU: 8·octets/rate, rounded up to a microsecond (16.3.4, without PBCC).
pub(super) fn psdu(rate: DataRate, octets: u32) -> Duration {
    Duration::from_micros((8_000 * u64::from(octets)).div_ceil(u64::from(rate.as_kbps())))
}

/// In dBm, 16.3.8.2: an FER of 8 % with 1024 octets, stated for 11 Mb/s and taken for 5.5 Mb/s too; 1 and 2 Mb/s are DSSS.
pub(super) fn minimum_sensitivity(rate: DataRate) -> f64 {
    if rate <= dsss::RATE_2 { dsss::MINIMUM_SENSITIVITY } else { -76.0 }
}
