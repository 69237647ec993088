//! The link: cards, and addresses of neighbours' radios.

pub(in crate::host) mod arp;
pub mod card;
