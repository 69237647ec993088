//! Options of the command.

use std::net::{Ipv4Addr, SocketAddr};

use tracing::Level;

use super::prefix::Prefix;
use crate::key::Files;

/// Options of the router.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// An interface to route on; may be given several times
    #[arg(short, long = "interface", value_name = "NAME", required = true)]
    pub(super) interfaces: Vec<String>,
    /// The routing protocol; all nodes of a network run the same: aodv (RFC 3561, looks for a route when a packet needs one), dsdv
    /// (Perkins and Bhagwat, 1994, keeps distances to all nodes), olsr (RFC 3626, keeps a map of the network), or a custom one
    #[arg(short, long, value_name = "NAME", default_value = "aodv")]
    pub(super) protocol: String,
    /// Parameters of a custom protocol, as { interval = 0.5 }
    #[arg(long, value_name = "TABLE")]
    pub(super) parameters: Option<String>,
    /// Your protocols in Python: a file or module that defines EXTENSIONS, a hopcast.Extensions; may be given several times
    #[arg(long = "extension", value_name = "FILE.py|MODULE")]
    pub(super) extensions: Vec<String>,
    /// Address of this host, the same on all interfaces [default: the first IPv4 address of the first interface]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) address: Option<Ipv4Addr>,
    /// A network in which routes are looked for, as 10.0.0.0/24; may be given several times [default: those of the interfaces'
    /// addresses]
    #[arg(long = "network", value_name = "PREFIX")]
    pub(super) networks: Vec<Prefix>,
    /// `clap` finds no options that are optional if there is another group of them here: the command fills this in.
    #[arg(skip)]
    pub(super) keys: Files,
    /// Give metrics in Prometheus' form over HTTP on this loopback address and port, as 127.0.0.1:9654, at /metrics,
    /// and the status as a page that renews itself, at /
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::serve::loopback)]
    pub(super) metrics: Option<SocketAddr>,
    /// The least level of what is logged, to standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(super) log: Level,
}
