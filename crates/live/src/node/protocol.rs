//! The protocols that a node may run.

use std::net::Ipv4Addr;

use clap::ValueEnum;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::aodv::{self, Aodv};
use hopcast_protocols::routing::dsdv::{self, Dsdv};
use hopcast_protocols::routing::olsr::{self, Olsr};
use hopcast_protocols::routing::{Node, Routing};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire as wire;

/// A routing protocol, with the parameters of its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    /// AODV (RFC 3561): looks for a route when a packet needs one
    Aodv,
    /// DSDV (Perkins and Bhagwat, 1994): keeps distances to all nodes
    Dsdv,
    /// OLSR (RFC 3626): keeps a map of the network
    Olsr,
}

impl Protocol {
    /// Its name, as on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Aodv => "aodv",
            Self::Dsdv => "dsdv",
            Self::Olsr => "olsr",
        }
    }

    /// A machine for the node with this address, on interfaces of this number whose packets have at most `mtu` octets. If
    /// others may still have routes over an earlier life of this node, `was_before`.
    ///
    /// Frames that are lost are noticed by the kernel's neighbour discovery alone, which takes seconds: so links are watched by
    /// hellos, too.
    pub(super) fn start(
        self,
        address: Ipv4Addr,
        interfaces: u32,
        seed: u64,
        mtu: u32,
        was_before: bool,
    ) -> Box<dyn Routing> {
        let random = Stream::new(seed, Purpose::Routing, u64::from(address.to_bits()), 0);
        let node = Node { address, interfaces, random };
        let now = Instant::START;
        match self {
            Self::Aodv if was_before => Box::new(Aodv::after_reboot(aodv::Config::rfc3561(), node, now)),
            Self::Aodv => Box::new(Aodv::new(aodv::Config::rfc3561(), node, now)),
            Self::Dsdv => Box::new(Dsdv::new(dsdv::Config { mtu, ..dsdv::Config::default() }, node)),
            Self::Olsr => Box::new(Olsr::new(olsr::Config { mtu, ..olsr::Config::default() }, node)),
        }
    }

    /// How long a node that was there before says nothing (RFC 3561, section 6.13). The others begin at once: OLSR goes by links, which
    /// are heard anew; DSDV may loop until the others' next numbers have come, a third as long as it would have to be silent.
    pub(super) fn silence(self) -> Option<Duration> {
        (self == Self::Aodv).then(|| aodv::Config::rfc3561().delete_period())
    }

    /// What tells whether a datagram is a message of it.
    pub(super) fn is_wellformed(self) -> fn(&[u8]) -> bool {
        match self {
            Self::Aodv => |octets| wire::aodv::Repr::parse(octets).is_ok(),
            Self::Dsdv => |octets| wire::dsdv::Packet::new_checked(octets).is_ok(),
            Self::Olsr => |octets| wire::olsr::Packet::new_checked(octets).is_ok(),
        }
    }
}
