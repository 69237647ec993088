//! The 802.11 radio: timing, propagation, reception, the medium and its access.
//!
//! A frame's way through this crate: a station ([`mac::Dcf`]) takes a packet in hand and contends; the [`medium`] carries
//! its frame along the links that [`propagation`] gave; at each receiver it is decoded, lost or mere energy, and the
//! station there hears of it. Who drives both, and in which order, is the caller's: nothing here has a clock or a queue
//! of events.
//!
//! Durations and rates come from [`phy`], by clause of IEEE 802.11-2020. Powers are exact integers ([`units`]), so
//! that sums of interference depend on no order. What the models leave out stands in `docs/models`.

pub mod errors;
pub mod fading;
pub mod frame;
pub mod mac;
pub mod medium;
pub mod phy;
pub mod propagation;
pub mod queue;
pub mod rate;
pub mod reception;
pub mod transmission;
pub mod units;
pub mod variate;
