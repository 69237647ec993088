//! Options of the command.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use tracing::Level;

use super::prefix::Prefix;

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
    /// File with the network key, which all nodes of a network share (see hopcast key): messages are encrypted and authenticated. It
    /// may have up to four keys, one a line: the first encrypts, all decrypt. SIGUSR1 makes the router read it again
    #[arg(long, value_name = "FILE")]
    pub(super) key: Option<PathBuf>,
    /// File with the identity of this node (see hopcast key --identity): each message is signed, so that no other holder of the network
    /// key can speak in its name
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(super) identity: Option<PathBuf>,
    /// File with the nodes that are heard: on each line a public key and the addresses of its node. Messages that none of them has
    /// signed are dropped. SIGUSR1 makes the router read it again: a node that is no longer in it is expelled [default: all that have
    /// the network key]
    #[arg(long, value_name = "FILE", requires = "identity")]
    pub(super) members: Option<PathBuf>,
    /// Give metrics in Prometheus' form over HTTP on this loopback address and port, as 127.0.0.1:9654, at /metrics
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::serve::loopback)]
    pub(super) metrics: Option<SocketAddr>,
    /// The least level of what is logged, to standard error: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(super) log: Level,
}
