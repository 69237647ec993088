//! ERP: OFDM at 2.4 GHz, and the rates of HR/DSSS. IEEE 802.11-2020, clause 18.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters, dsss, ofdm};

/// 18.1.2: ERP-DSSS/CCK and ERP-OFDM.
pub(super) const RATES: &[DataRate] = &[
    DataRate::from_kbps(1_000),
    DataRate::from_kbps(2_000),
    DataRate::from_kbps(5_500),
    DataRate::from_kbps(6_000),
    DataRate::from_kbps(9_000),
    DataRate::from_kbps(11_000),
    DataRate::from_kbps(12_000),
    DataRate::from_kbps(18_000),
    DataRate::from_kbps(24_000),
    DataRate::from_kbps(36_000),
    DataRate::from_kbps(48_000),
    DataRate::from_kbps(54_000),
];

/// Table 18-5, ERP characteristics, with the short slot and aCWmin(1): every station is an ERP one.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: ofdm::PARAMETERS.slot,
    sifs: Duration::from_micros(10),
    cw_min: ofdm::PARAMETERS.cw_min,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(5),
    // 10.3.8: silence that gives the convolutional decoder the time that a SIFS of 16 µs would have left it.
    signal_extension: Duration::from_micros(6),
};

/// Table 18-5 with the long slot and aCWmin(0): data go at rates that every HR/DSSS station has.
pub(super) const PARAMETERS_WITH_HR_DSSS: PhyParameters =
    PhyParameters { slot: dsss::PARAMETERS.slot, cw_min: dsss::PARAMETERS.cw_min, ..PARAMETERS };
