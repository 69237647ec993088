//! Timing and rates of the 802.11 physical layers, by clause.

use core::fmt;

/// A physical layer of IEEE 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standard {
    /// `802.11`: DSSS at 1 and 2 Mb/s (IEEE 802.11-2020, clause 15).
    Dsss,
    /// `802.11b`: HR/DSSS at 1, 2, 5.5 and 11 Mb/s (clause 16).
    HrDsss,
    /// `802.11a`: OFDM at 6 to 54 Mb/s in 20 MHz (clause 17).
    Ofdm,
    /// `802.11g`: ERP-OFDM at 6 to 54 Mb/s, and the rates of 802.11b (clause 18).
    Erp,
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dsss => "802.11",
            Self::HrDsss => "802.11b",
            Self::Ofdm => "802.11a",
            Self::Erp => "802.11g",
        })
    }
}

/// A rate of the physical layer in kb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u32);

impl DataRate {
    /// `rate` kilobits per second.
    pub const fn from_kbps(rate: u32) -> Self {
        Self(rate)
    }

    /// Kilobits per second.
    pub const fn as_kbps(self) -> u32 {
        self.0
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mb/s", f64::from(self.0) / 1e3)
    }
}
