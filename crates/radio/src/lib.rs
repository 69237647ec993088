//! The 802.11 radio: timing, propagation, reception, the medium and its access.
pub mod propagation;
pub mod standard;
pub mod units;
