//! A rate as a quantity.

use core::fmt;

/// A rate of the physical layer in kb/s: for files and for reading. What a frame is made of says its
/// [`TxVector`](super::TxVector); several of them may have one rate.
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
