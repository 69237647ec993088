//! What stations aggregate, and the limits of each standard.

use hopcast_protocols::time::Duration;

use crate::phy::Standard;

/// What stations aggregate, and how long they try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Most bytes of an A-MPDU; zero: each MPDU goes alone.
    pub ampdu: u32,
    /// Most bytes of an A-MSDU; zero: each MPDU has one MSDU.
    pub amsdu: u32,
    /// Buffer Size of agreements: MPDUs that may be outstanding, 1 to 256.
    pub window: u32,
    /// An MPDU is given up this time after it was taken from the interface queue (dot11EDCATableMSDULifetime); `None`: never.
    pub lifetime: Option<Duration>,
    /// An MPDU is given up after this number of attempts, of which others in the same frames may have arrived; `None`: never, as
    /// 10.25.6.5 has it.
    pub attempts: Option<u32>,
    /// How agreements come into force.
    pub agreements: Agreements,
}

/// How block acknowledgment agreements come into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreements {
    /// All are in force from the start, each with its first MPDU numbered 0.
    Implicit,
    /// By ADDBA request and response over the air (10.25.2), asked for with the first MPDU for a receiver and priority.
    Negotiated {
        /// Idle time after which an agreement ends, in time units of 1024 µs (Block Ack Timeout Value, 9.4.1.14); 0: never.
        inactivity: u16,
    },
}

impl Aggregation {
    /// dot11EDCATableMSDULifetime: 500 TU (Annex C).
    pub const DEFAULT_LIFETIME: Duration = Duration::from_micros(500 * 1_024);

    /// The most that stations of a standard may do.
    pub const fn of(standard: Standard) -> Self {
        let (ampdu, window) = match standard {
            Standard::Vht => (1_048_575, 64),
            Standard::He => (6_500_631, 256),
            _ => (65_535, 64),
        };
        let lifetime = Some(Self::DEFAULT_LIFETIME);
        Self { ampdu, amsdu: 0, window, lifetime, attempts: None, agreements: Agreements::Implicit }
    }

    /// The longest A-MSDU of a standard (9.4.2.55.2, 9.4.2.157.2): of HT 7935 bytes alone, and 4065 in an A-MPDU, whose MPDUs have no
    /// more than 4095 (10.12.2); of VHT and HE, MPDUs of 11454.
    pub const fn longest_amsdu(standard: Standard, in_ampdu: bool) -> u32 {
        match standard {
            Standard::Ht if in_ampdu => 4_095 - QOS_OVERHEAD_OCTETS,
            Standard::Ht => 7_935,
            _ => 11_454 - QOS_OVERHEAD_OCTETS,
        }
    }
}

/// MAC header of a QoS data frame, and FCS (9.3.2.1).
pub(super) const QOS_OVERHEAD_OCTETS: u32 = 26 + 4;
