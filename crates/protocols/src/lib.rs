//! Protocols as state machines that know no clock, no socket and no simulator.
//!
//! # The contract of every machine
//!
//! * `handle_*(…, now)` passes in an input: a packet, a timer that is due, a request of the user.
//! * `poll_output(…)` takes out one output: a packet to send, an event for the user. It returns `None` when nothing is
//!   left.
//! * `poll_timeout()` is the time of the next timer, or `None`: a timer is due *at* that time, never before.
//! * `on_*` reports a fact to a strategy (for example [`transport::tcp`]'s congestion control) and produces no output itself.
//!
//! A driver makes one change, drains `poll_output` until it returns `None`, reads `poll_timeout` again, and only then
//! makes the next change: a change may have moved the timer, and an output left inside would be reordered behind later ones.
//! The one exception is the answer to an output, such as a read when data has arrived: it may come while the rest still waits.
//! A debug build panics when a packet, a message or a timer is handled while outputs wait.
//!
//! Each call does a bounded amount of work. Randomness comes from a generator that the caller provides.
//!
//! # A first example
//!
//! Two ends of a TCP connection, driven by hand: the driver passes the output of one end to the other.
//!
//! ```
//! use hopcast_protocols::time::Instant;
//! use hopcast_protocols::transport::tcp::{Config, Connection, Output, State};
//!
//! let now = Instant::START;
//! let mut client = Connection::connect(Config::default(), 1_000);
//! let mut server = Connection::listen(Config::default(), 2_000);
//!
//! // Takes out all that an end has put out: the segments are for the other end.
//! let drain = |end: &mut Connection| {
//!     let outputs = std::iter::from_fn(|| end.poll_output(now));
//!     outputs.filter_map(|output| if let Output::Transmit(segment) = output { Some(segment) } else { None }).collect()
//! };
//! let mut to_server: Vec<_> = drain(&mut client);
//! while let Some(segment) = to_server.pop() {
//!     server.handle_segment(&segment, now);
//!     let to_client: Vec<_> = drain(&mut server);
//!     for segment in to_client {
//!         client.handle_segment(&segment, now);
//!         to_server.extend(drain(&mut client));
//!     }
//! }
//! assert_eq!((client.state(), server.state()), (State::Established, State::Established));
//! assert_eq!(client.poll_timeout(), None, "nothing is outstanding");
//! ```
//!
//! # A whole one
//!
//! Three nodes in a line run AODV. The driver adds what a machine lacks: a clock, and the links. Here the clock jumps
//! from timer to timer, and each node hears its neighbours at once.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::net::Ipv4Addr;
//!
//! use hopcast_protocols::random::{Purpose, Stream};
//! use hopcast_protocols::routing::aodv::{Aodv, Config};
//! use hopcast_protocols::routing::{Message, NextHop, Node, Output, Packet, Routing, Verdict};
//! use hopcast_protocols::time::Instant;
//!
//! fn address(node: usize) -> Ipv4Addr {
//!     Ipv4Addr::new(10, 0, 0, 1 + node as u8)
//! }
//!
//! fn packet(from: Option<usize>, to: Ipv4Addr, ttl: u8, octets: &[u8]) -> Packet<'_> {
//!     let from = from.map(|node| NextHop { interface: 0, address: address(node) });
//!     Packet {
//!         source: from.map_or(address(0), |hop| hop.address),
//!         destination: to,
//!         ttl,
//!         from,
//!         octets,
//!         has_data: from.is_none(),
//!         protocol: 17,
//!         identification: 1,
//!         fragment_offset: 0,
//!     }
//! }
//!
//! let mut now = Instant::START;
//! let mut nodes: Vec<Aodv> = (0..3)
//!     .map(|node| {
//!         let random = Stream::new(7, Purpose::Routing, node as u64, 0);
//!         Aodv::new(Config::rfc3561(), Node { address: address(node), interfaces: 1, random }, now)
//!     })
//!     .collect();
//!
//! // Node 0 has a packet for node 2, and no route: the packet waits.
//! let data = packet(None, address(2), 64, &[]);
//! assert_eq!(nodes[0].handle_packet(&data, now), Verdict::Wait);
//!
//! let mut air: VecDeque<(usize, Message)> = VecDeque::new();
//! let mut found = false;
//! while !found {
//!     // Each node is drained after each change.
//!     for (at, node) in nodes.iter_mut().enumerate() {
//!         while let Some(output) = node.poll_output() {
//!             match output {
//!                 Output::Send(message) => air.push_back((at, message)),
//!                 Output::Found(destination) => found |= at == 0 && destination == address(2),
//!                 _ => {}
//!             }
//!         }
//!     }
//!     if let Some((from, message)) = air.pop_front() {
//!         for (to, node) in nodes.iter_mut().enumerate().filter(|(to, _)| to.abs_diff(from) == 1) {
//!             if message.hop.is_none_or(|hop| hop.address == address(to)) {
//!                 node.handle_message(&packet(Some(from), message.destination, message.ttl, &message.octets), now);
//!             }
//!         }
//!     } else {
//!         now = nodes.iter().filter_map(Routing::poll_timeout).min().expect("a search has a timer");
//!         for node in nodes.iter_mut().filter(|node| node.poll_timeout().is_some_and(|due| due <= now)) {
//!             node.handle_timeout(now);
//!         }
//!     }
//! }
//! assert_eq!(nodes[0].next_hop(address(2), now).map(|hop| hop.address), Some(address(1)));
//! ```
//!
//! [`testkit`] has a clock, links with impairments and a pair of peers, behind the feature of that name.

pub mod application;
pub mod arp;
mod contract;
pub mod fec;
mod lookup;
mod lru;
pub mod random;
mod round_trip;
pub mod rounding;
pub mod routing;
pub mod streaming;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod time;
pub mod transport;
