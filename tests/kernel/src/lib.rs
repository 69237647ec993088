//! Linux's TCP as a peer of [`hopcast_protocols::transport::tcp`].
//!
//! Either end of a connection is hopcast's state machine or a socket of the kernel's, in a separate network namespace
//! whose only way out is a TUN device. Between the two lies a [`Bottleneck`] of this program: rate, queue and delay, and
//! losses that are the same for both, since they go by the number of the packet. [`carry`] moves bytes from one end to
//! the other and tells in which order the sender sent them ([`Trace`]).
//!
//! Between two of hopcast's ends time is virtual; where the kernel is an end, it is the clock's.
//!
//! Namespaces and TUN devices need root: [`Unavailable`] says what is missing.
#![cfg(target_os = "linux")]

mod bottleneck;
mod counting;
pub mod goodput;
mod kernel;
mod own;
mod packet;
mod path;
mod trace;

pub use bottleneck::{Bottleneck, Losses};
pub use counting::WholeSegments;
pub use kernel::{Kernel, Settings, Unavailable, available};
pub use own::Own;
pub use path::{Until, carry};
pub use trace::{Fate, Sent, Trace};

use std::net::{Ipv4Addr, SocketAddrV4};

/// What an end does with the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It connects and writes this many bytes.
    Sends(u64),
    /// It listens and reads what comes.
    Receives,
}

impl Role {
    /// Own address.
    fn local(self) -> SocketAddrV4 {
        match self {
            Self::Sends(_) => SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 1), 40_000),
            Self::Receives => SocketAddrV4::new(Ipv4Addr::new(10, 77, 0, 2), 5001),
        }
    }

    /// The peer's address.
    fn remote(self) -> SocketAddrV4 {
        match self {
            Self::Sends(_) => Self::Receives.local(),
            Self::Receives => Self::Sends(0).local(),
        }
    }
}
