//! DSSS: 1 and 2 Mb/s. IEEE 802.11-2020, clause 15.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters};

/// DBPSK and DQPSK (15.4.4).
pub(super) const RATES: &[DataRate] = &[RATE_1, RATE_2];

/// What 802.11 and 802.11b networks answer at: both rates are mandatory.
pub(super) const BASIC: &[DataRate] = &[RATE_1, RATE_2];

pub(super) const RATE_1: DataRate = DataRate::from_kbps(1_000);
pub(super) const RATE_2: DataRate = DataRate::from_kbps(2_000);

/// Table 15-5, DSSS PHY characteristics.
pub(super) const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(20),
    sifs: Duration::from_micros(10),
    cw_min: 31,
    cw_max: 1_023,
    rx_tx_turnaround: Duration::from_micros(5),
    signal_extension: Duration::ZERO,
};

/// SYNC of 128 bits and SFD of 16 then SIGNAL, SERVICE, LENGTH and CRC, 48 bits in all, at 1 Mb/s (15.2.3).
pub(super) const HEADER: Duration = Duration::from_micros(128 + 16 + 48);

/// In dBm, "receiver minimum input level sensitivity" (15.4.6): an FER of 8 % with 1024 octets, stated for 2 Mb/s.
/// What can be decoded at 2 Mb/s can be at 1 Mb/s.
pub(super) const MINIMUM_SENSITIVITY: f64 = -80.0;
