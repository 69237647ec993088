//! The platform: what more than one command needs of it, each part in one place.

pub mod clock;
pub mod netlink;
pub mod netns;
pub mod signals;
pub mod tap;
pub mod udp;
pub mod wait;
