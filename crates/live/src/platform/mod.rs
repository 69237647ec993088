//! The platform: functions that several commands need, each in one place.

pub mod clock;
pub(crate) mod messages;
pub mod netlink;
pub mod netns;
pub(crate) mod private;
pub mod signals;
pub mod tap;
pub mod udp;
pub mod wait;
