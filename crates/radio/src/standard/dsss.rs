//! DSSS: 1 and 2 Mb/s. IEEE 802.11-2020, clause 15.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters};

/// 15.4.4.4 and 15.4.4.5: DBPSK and DQPSK.
pub(super) const RATES: &[DataRate] = &[RATE_1, RATE_2];

/// Both rates are mandatory (15.1.2); what 802.11 and 802.11b networks answer at.
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

/// SYNC of 128 bits and SFD of 16 (15.2.3.2, 15.2.3.3), then SIGNAL, SERVICE, LENGTH and CRC, 48 bits in all
/// (15.2.3.4 to 15.2.3.7), at 1 Mb/s.
pub(super) const HEADER: Duration = Duration::from_micros(128 + 16 + 48);

/// 15.4.6.2: an FER of 8 % with 1024 octets, stated for 2 Mb/s; what 2 Mb/s can do, 1 Mb/s can.
pub(super) const MINIMUM_SENSITIVITY: f64 = -80.0;
