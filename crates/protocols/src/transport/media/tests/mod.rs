//! A bench in virtual time for every congestion control of media: flows share one bottleneck.

mod bands;
pub(super) mod bench;
mod bottleneck;
mod flow;
mod gcc;
pub(super) mod reno;
mod replay;
