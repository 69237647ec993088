//! Atheros' turbo mode of 802.11a: OFDM as in clause 17 with the clock doubled, 12 to 108 Mb/s in a channel of 40 MHz.
//!
//! A symbol, the training and SIGNAL take half of their times; their bits are those of clause 17 at half the rate. No standard
//! describes the mode. Interframe spaces are those of the drivers: 6 µs a slot (ath5k, `AR5K_INIT_SLOT_TIME_TURBO`) and 8 µs of
//! SIFS (Atheros' HAL as in FreeBSD, `TURBO_SIFS_TIME`; OpenBSD's `ar5xxx.h` has the same). The HAL reckons airtimes with symbols
//! in pairs, 4 µs, after a preamble of 14 µs, which is neither half of 20 µs nor whole symbols of 2 µs more; here what is on the
//! air counts.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters, ofdm};

/// Twice those of clause 17.
pub(super) const RATES: &[DataRate] = &[
    RATE_12,
    DataRate::from_kbps(18_000),
    RATE_24,
    DataRate::from_kbps(36_000),
    RATE_48,
    DataRate::from_kbps(72_000),
    DataRate::from_kbps(96_000),
    DataRate::from_kbps(108_000),
];

/// Twice the mandatory rates of clause 17.
pub(super) const BASIC: &[DataRate] = &[RATE_12, RATE_24, RATE_48];

pub(super) const RATE_12: DataRate = DataRate::from_kbps(12_000);
const RATE_24: DataRate = DataRate::from_kbps(24_000);
const RATE_48: DataRate = DataRate::from_kbps(48_000);

/// Contention as in clause 17.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(6),
    sifs: Duration::from_micros(8),
    // A microsecond: half of the 2 µs of clause 17.
    rx_tx_turnaround: Duration::from_micros(1),
    ..ofdm::PARAMETERS
};

/// Training of 8 µs and one symbol of SIGNAL.
pub(super) const HEADER: Duration = Duration::from_micros(8 + 2);

/// Data symbols of a PSDU: as many as at half the rate in clause 17, in half the time.
pub(super) fn psdu(rate: DataRate, octets: u32) -> Duration {
    ofdm::psdu(halved(rate), octets) / 2
}

/// In dBm: twice the band has twice the noise, 3 dB more than Table 17-18 has for 20 MHz at half the rate, as the same table
/// has 3 dB between 20 MHz and 10 MHz and between 10 MHz and 5 MHz.
pub(super) fn minimum_sensitivity(rate: DataRate) -> f64 {
    ofdm::minimum_sensitivity(halved(rate)) + 3.0
}

fn halved(rate: DataRate) -> DataRate {
    DataRate::from_kbps(rate.as_kbps() / 2)
}
