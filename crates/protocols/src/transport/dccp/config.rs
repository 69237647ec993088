//! What a user sets on a connection.

use super::super::{adtfrc, tfrc};
use crate::time::Duration;

/// How fast the data of a connection may flow; both ends should be set alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Congestion {
    /// TFRC: CCID 3, or CCID 4 with small packets (RFC 4342, RFC 5622).
    Tfrc(tfrc::Config),
    /// ADTFRC: on the wire CCID 3 with an option more.
    Adtfrc(adtfrc::Config),
}

impl Congestion {
    /// What both kinds have in common.
    pub fn tfrc(&self) -> &tfrc::Config {
        match self {
            Self::Tfrc(config) => config,
            Self::Adtfrc(config) => &config.tfrc,
        }
    }

    /// The same, to be changed.
    pub fn tfrc_mut(&mut self) -> &mut tfrc::Config {
        match self {
            Self::Tfrc(config) => config,
            Self::Adtfrc(config) => &mut config.tfrc,
        }
    }
}

/// Parameters of one end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The own port.
    pub local_port: u16,
    /// The peer's port; a server learns it.
    pub remote_port: u16,
    /// What the client wants to be served with (RFC 4340, section 8.1.2); a server refuses any other.
    pub service_code: u32,
    /// The congestion control.
    pub congestion: Congestion,
    /// Data units that may wait for the rate to let them go; at least 1. Linux: 5.
    pub queue: usize,
    /// How many packets of this end may be lost in a row, less a quarter, before the peer asks for a synchronization; five
    /// times the packets of a round trip at the least (RFC 4340, section 7.5.2), from 32 to 2⁴⁶ − 1.
    pub sequence_window: u64,
    /// Time spent in TIMEWAIT: twice the maximum segment lifetime of 2 min (RFC 4340, section 3.4).
    pub time_wait: Duration,
}

impl Default for Config {
    /// TFRC with 1000 bytes a packet, a queue of 5, and a sequence window for 200 packets in a round trip.
    fn default() -> Self {
        Self {
            local_port: 0,
            remote_port: 0,
            service_code: 0,
            congestion: Congestion::Tfrc(tfrc::Config::default()),
            queue: 5,
            sequence_window: 1000,
            time_wait: Duration::from_secs(240),
        }
    }
}

impl Config {
    /// The same with every value in its range.
    pub(super) fn clamped(mut self) -> Self {
        self.queue = self.queue.max(1);
        self.sequence_window = self.sequence_window.clamp(32, (1 << 46) - 1);
        self
    }

    /// The number of the congestion control on the wire.
    pub(super) fn ccid(&self) -> u8 {
        if self.congestion.tfrc().small_packets { 4 } else { 3 }
    }
}
