//! The 802.11 radio: timing, propagation, reception, the medium and its access.

pub mod mac;
pub mod medium;
pub mod propagation;
pub mod queue;
pub mod standard;
pub mod units;
