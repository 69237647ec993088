//! The platform, each part of it in one place: what nothing else in the crate may touch by itself.

pub mod clock;
pub mod netlink;
pub mod netns;
pub mod signals;
pub mod tap;
pub mod udp;
pub mod wait;
