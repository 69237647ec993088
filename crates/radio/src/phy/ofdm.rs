//! OFDM: 6 to 54 Mb/s in a channel of 20 MHz, and at twice the clock in 40 MHz. IEEE 802.11-2020, clause 17.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters};

/// Table 17-4.
pub(super) const RATES: &[DataRate] = &[
    RATE_6,
    DataRate::from_kbps(9_000),
    RATE_12,
    DataRate::from_kbps(18_000),
    RATE_24,
    DataRate::from_kbps(36_000),
    DataRate::from_kbps(48_000),
    DataRate::from_kbps(54_000),
];

/// The mandatory rates (17.1.1); what 802.11a and 802.11g networks answer at.
pub(super) const BASIC: &[DataRate] = &[RATE_6, RATE_12, RATE_24];

pub(super) const RATE_6: DataRate = DataRate::from_kbps(6_000);
const RATE_12: DataRate = DataRate::from_kbps(12_000);
const RATE_24: DataRate = DataRate::from_kbps(24_000);

/// Table 17-21, OFDM PHY characteristics for 20 MHz.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(9),
    sifs: Duration::from_micros(16),
    cw_min: 15,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(2),
    signal_extension: Duration::ZERO,
};

/// Training of 16 µs and one symbol of SIGNAL (Table 17-5: T_PREAMBLE, T_SIGNAL).
pub(super) const HEADER: Duration = Duration::from_micros(16 + 4);

/// RATE, LENGTH, parity and tail (17.3.4.1).
pub(super) const SIGNAL_BITS: u32 = 24;

/// Data symbols of a PSDU (equation 17-29): SERVICE, the octets and the tail, padded to whole symbols.
pub(super) fn psdu(rate: DataRate, octets: u32) -> Duration {
    let bits = 8 * u64::from(octets) + FRAMING_BITS;
    SYMBOL * bits.div_ceil(bits_per_symbol(rate))
}

/// Table 17-5: T_SYM.
const SYMBOL: Duration = Duration::from_micros(4);
/// SERVICE, 16 bits (17.3.5.2), and tail, 6 bits (17.3.5.3).
pub(super) const FRAMING_BITS: u64 = 16 + 6;

/// Table 17-4: N_DBPS is the rate times the 4 µs of a symbol.
fn bits_per_symbol(rate: DataRate) -> u64 {
    u64::from(rate.as_kbps()) * 4 / 1_000
}

/// In dBm, Table 17-18: a PER of 10 % with 1000 octets.
pub(super) fn minimum_sensitivity(rate: DataRate) -> f64 {
    match rate.as_kbps() {
        0..9_000 => -82.0,
        9_000..12_000 => -81.0,
        12_000..18_000 => -79.0,
        18_000..24_000 => -77.0,
        24_000..36_000 => -74.0,
        36_000..48_000 => -70.0,
        48_000..54_000 => -66.0,
        54_000.. => -65.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 17-4.
    #[test]
    fn a_symbol_carries_the_tabulated_bits() {
        let bits: Vec<u64> = RATES.iter().map(|&rate| bits_per_symbol(rate)).collect();
        assert_eq!(bits, [24, 36, 48, 72, 96, 144, 192, 216]);
    }

    /// Table 17-18.
    #[test]
    fn sensitivity_is_the_tabulated_one() {
        let levels: Vec<f64> = RATES.iter().map(|&rate| minimum_sensitivity(rate)).collect();
        assert_eq!(levels, [-82.0, -81.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0]);
    }
}
