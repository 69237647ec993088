//! A data rate as a quantity.

use core::fmt;

use hopcast_protocols::time::Duration;

/// A data rate of the physical layer in kb/s, for files and for people. The [`TxVector`](super::TxVector) of a frame has
/// the details; several vectors can have the same rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u32);

impl DataRate {
    /// `rate` kilobits per second.
    pub const fn from_kbps(rate: u32) -> Self {
        Self(rate)
    }

    /// The rate of symbols that hold `bits` data bits, one each `symbol`, to the nearest kb/s.
    pub(super) const fn of_symbols(bits: u32, symbol: Duration) -> Self {
        let nanoseconds = symbol.as_nanos();
        Self(((bits as u64 * 1_000_000 + nanoseconds / 2) / nanoseconds) as u32)
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
