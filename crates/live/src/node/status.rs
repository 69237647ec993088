//! Status of a running router.

use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};

use hopcast_sim::results::dictionary::described;
use nix::sys::socket::{getsockopt, sockopt};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::prefix::Prefix;
use super::router::Counters;
use crate::interfaces::Interface;
use crate::{key, serve};

/// Name of the socket, in the abstract namespace of unix(7): each network namespace has its own, and it goes with its router.
const SOCKET: &[u8] = b"hopcast-node";
/// The longest answer that is read, in bytes: more than that of a router with all the routes and neighbours that it keeps. Any
/// program of the host may have the name of the socket.
const MAX_ANSWER: u64 = 1 << 26;

/// The state of a router.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Status {
    /// Version of hopcast.
    pub(super) version: &'static str,
    /// Name of the protocol.
    pub(super) protocol: &'static str,
    /// Address of this host.
    pub(super) address: Ipv4Addr,
    /// Networks in which the router looks for routes.
    #[schemars(with = "Vec<String>")]
    pub(super) networks: Vec<Prefix>,
    /// Whether messages are sealed with a network key.
    pub(super) sealed: bool,
    /// Time since the start.
    pub(super) uptime_s: f64,
    /// Its interfaces.
    pub(super) interfaces: Vec<Interface>,
    /// Routes to hosts.
    pub(super) routes: Vec<Route>,
    /// Neighbours that were heard lately.
    pub(super) neighbours: Vec<Neighbour>,
    /// Packets that wait for a route now.
    #[schemars(extend("x-unit" = "packets"))]
    pub(super) waiting: usize,
    /// Counters since the start.
    pub(super) counters: Counters,
    /// Counters of the interfaces since the start, added up.
    pub(super) traffic: Traffic,
    /// Public key of this node; `null` without an identity.
    pub(super) identity: Option<String>,
    /// Nodes whose messages are taken; `null`: all that have the network key.
    #[schemars(extend("x-unit" = "nodes"))]
    pub(super) members: Option<usize>,
    /// Counters of sealed datagrams since the start; `null` without a key.
    pub(super) seals: Option<key::Counters>,
    /// Senders whose sealed datagrams are known; `null` without a key.
    #[schemars(extend("x-unit" = "senders"))]
    pub(super) senders: Option<usize>,
}

/// A route to a host.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Route {
    /// Address of the host.
    pub(super) destination: Ipv4Addr,
    /// Address of the neighbour on the way.
    pub(super) next_hop: Ipv4Addr,
    /// Name of the interface that leads to it.
    pub(super) interface: String,
    /// Length of the way.
    #[schemars(extend("x-unit" = "hops"))]
    pub(super) hops: u32,
    /// Whether it is in the kernel's table.
    pub(super) installed: bool,
}

/// A neighbour.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(super) struct Neighbour {
    /// Its address.
    pub(super) address: Ipv4Addr,
    /// Name of the interface that leads to it.
    pub(super) interface: String,
    /// Time since its last message.
    pub(super) heard_s: f64,
}

/// Sums over the interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(super) struct Traffic {
    /// Datagrams sent, on all interfaces together.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    pub(super) datagrams_sent: u64,
    /// Datagrams that the system refused to send.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    pub(super) datagrams_unsent: u64,
    /// Datagrams received, whatever was in them.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub(super) datagrams_received: u64,
    /// Packets that waited for a route and that the system then refused to send.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_unsent: u64,
}

/// The JSON Schema of a router's state.
pub(crate) fn schema() -> Value {
    described::<Status>()
}

/// The address of the socket.
pub(super) fn socket() -> SocketAddr {
    SocketAddr::from_abstract_name(SOCKET).expect("the name is short enough")
}

/// Asks the router of this network namespace; `None` if there is none.
///
/// # Errors
///
/// The platform's; the router does not answer.
pub(super) fn ask() -> io::Result<Option<Value>> {
    serve::ask(&socket(), MAX_ANSWER)
}

/// User and process that hold the name of the socket; `None` if they don't listen there.
pub(super) fn holder() -> Option<(u32, i32)> {
    let stream = UnixStream::connect_addr(&socket()).ok()?;
    let credentials = getsockopt(&stream, sockopt::PeerCredentials).ok()?;
    Some((credentials.uid(), credentials.pid()))
}

/// The state in lines for people.
pub(super) fn text(status: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let list = |name: &str| status[name].as_array().cloned().unwrap_or_default();
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        out,
        "{} at {} in {}, {}, for {:.0} s",
        text(&status["protocol"]),
        text(&status["address"]),
        list("networks").iter().map(text).collect::<Vec<_>>().join(", "),
        key::sealing(status),
        status["uptime_s"].as_f64().unwrap_or(0.0),
    );
    for interface in list("interfaces") {
        let _ = writeln!(out, "interface {}: {}", text(&interface["name"]), text(&interface["state"]));
    }
    let _ = writeln!(out, "\n{:<16} {:<16} {:<15} {:>4}", "route to", "over", "interface", "hops");
    for route in list("routes") {
        let _ = writeln!(
            out,
            "{:<16} {:<16} {:<15} {:>4}{}",
            text(&route["destination"]),
            text(&route["next_hop"]),
            text(&route["interface"]),
            text(&route["hops"]),
            if route["installed"] == true { "" } else { "  not in the kernel" },
        );
    }
    let _ = writeln!(out, "\n{:<16} {:<15} last heard", "neighbour", "interface");
    for neighbour in list("neighbours") {
        let _ = writeln!(
            out,
            "{:<16} {:<15} {:.1} s ago",
            text(&neighbour["address"]),
            text(&neighbour["interface"]),
            neighbour["heard_s"].as_f64().unwrap_or(0.0),
        );
    }
    let _ = writeln!(out, "\npackets that wait for a route: {}", text(&status["waiting"]));
    for group in ["counters", "traffic", "seals"] {
        for (name, value) in status[group].as_object().into_iter().flatten() {
            let _ = writeln!(out, "{}: {}", name.replace('_', " "), text(value));
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interfaces::State;

    /// The state of a router that has just begun.
    pub(in super::super) fn status() -> Status {
        Status {
            version: "1.0.0",
            protocol: "aodv",
            address: Ipv4Addr::new(10, 0, 0, 1),
            networks: Vec::new(),
            sealed: false,
            uptime_s: 0.0,
            interfaces: vec![Interface { name: "wlan0".into(), state: State::NoAddress }],
            routes: Vec::new(),
            neighbours: Vec::new(),
            waiting: 0,
            counters: Counters::default(),
            traffic: Traffic { datagrams_sent: 7, ..Traffic::default() },
            identity: None,
            members: None,
            seals: None,
            senders: None,
        }
    }

    #[test]
    fn people_read_states_and_counters() {
        let text = text(&serde_json::to_value(status()).expect("plain data"));
        for line in
            ["aodv at 10.0.0.1 in , without a network key, for 0 s", "interface wlan0: no-address", "datagrams sent: 7"]
        {
            assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
        }
    }

    proptest! {
        /// Any program can bind the socket's name and answer anything.
        #[test]
        fn what_is_no_state_is_shown_as_far_as_it_can_be(octets in "[\\[\\]{}\",:a-z0-9]{0,60}") {
            if let Ok(value) = serde_json::from_str(&octets) {
                let _ = text(&value);
            }
        }
    }
}
