//! What may be chosen.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tracing::Level;

use super::prefix::Prefix;
use super::protocol::Protocol;

/// Options of the router.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Options {
    /// An interface to route on; may be given several times
    #[arg(short, long = "interface", value_name = "NAME", required = true)]
    pub(super) interfaces: Vec<String>,
    /// The routing protocol; all nodes of a network run the same
    #[arg(short, long, value_enum, default_value = "aodv")]
    pub(super) protocol: Protocol,
    /// Address of this host, the same on all interfaces [default: the first IPv4 address of the first interface]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) address: Option<Ipv4Addr>,
    /// A network in which routes are looked for, as 10.0.0.0/24; may be given several times [default: those of the interfaces'
    /// addresses]
    #[arg(long = "network", value_name = "PREFIX")]
    pub(super) networks: Vec<Prefix>,
    /// File with the network key, which all nodes of a network share (see hopcast key): messages are encrypted and authenticated
    #[arg(long, value_name = "FILE")]
    pub(super) key: Option<PathBuf>,
    /// Give metrics in Prometheus' form over HTTP on this loopback address and port, as 127.0.0.1:9654, at /metrics
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::serve::loopback)]
    pub(super) metrics: Option<SocketAddr>,
    /// The least level of what is logged, to standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(super) log: Level,
}
