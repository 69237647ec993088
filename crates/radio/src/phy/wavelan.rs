//! WaveLAN as it was before 802.11: 2 Mb/s by DQPSK, carrier sense with a random wait, and no answer of any kind.
//!
//! What is known of it is measured (Desilva and Das, "Experimental evaluation of a wireless ad hoc network", Table 1, ISA card):
//! 6.33 ms for a packet of 1500 octets and 0.571 ms for one of 68, or 2 Mb/s and 0.30 ms a frame for everything besides the
//! packet. Its slot and spaces are not published, and its drivers disagree: Linux set the Ethernet controller (Intel 82586) to
//! a slot of 12 bit times in one version and to 512 in another. Those of its successor, 802.11 DSSS, are taken instead.

use hopcast_protocols::time::Duration;

use super::{DataRate, PhyParameters, dsss};

/// DQPSK.
pub(super) const RATES: &[DataRate] = &[dsss::RATE_2];

/// Table 15-5, DSSS PHY characteristics: those of 802.11, for want of its own.
pub(super) const PARAMETERS: PhyParameters = dsss::PARAMETERS;

/// What precedes the octets of a frame: of the 300 µs that a frame takes besides its packet, what the 36 octets of MAC header,
/// LLC/SNAP and FCS at 2 Mb/s leave.
pub(super) const HEADER: Duration = Duration::from_micros(300 - 36 * 8 / 2);
