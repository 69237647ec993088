//! DCCP (RFC 4340): connections that carry datagrams at the rate of a congestion control, unreliably.
//!
//! A [`Connection`] is one end. It follows the [contract of every machine](crate): change it, drain
//! [`Connection::poll_output`], read [`Connection::poll_timeout`]. Both ends may send data; each half of the connection
//! has a congestion control of CCID 3's kind (RFC 4342), in two parts: a [`HalfSender`] and a [`HalfReceiver`].
//!
//! Payload never passes through it: a [`Packet`] is the bytes of its header and the name of a data unit. The driver of
//! the connection keeps the bytes of the payload, if there are any.
//!
//! ```
//! use hopcast_protocols::time::{Duration, Instant};
//! use hopcast_protocols::transport::dccp::{Config, Connection, Output, Packet, Payload};
//!
//! let mut now = Instant::START;
//! let client = Config { local_port: 40_000, remote_port: 5_001, ..Config::default() };
//! let mut client = Connection::connect(client, 1_000);
//! let mut server = Connection::listen(Config { local_port: 5_001, ..Config::default() }, 2_000);
//! assert!(client.handle_write(Payload { unit: 7, len: 1_000 }, now));
//! let mut delivered = Vec::new();
//! // Packets take 10 ms.
//! let mut wire: Vec<(bool, Packet)> = Vec::new();
//! for _ in 0..10 {
//!     let arriving = std::mem::take(&mut wire).into_iter().map(Some).chain([None]);
//!     // Packets arrive, and at last the timers go off. Each end is drained after each change.
//!     for arrival in arriving {
//!         for (is_client, end) in [(true, &mut client), (false, &mut server)] {
//!             match &arrival {
//!                 Some((from_client, packet)) if *from_client != is_client => end.handle_packet(packet, now),
//!                 Some(_) => {}
//!                 None => end.handle_timeout(now),
//!             }
//!             while let Some(output) = end.poll_output(now) {
//!                 match output {
//!                     Output::Transmit(packet) => wire.push((is_client, packet)),
//!                     Output::Deliver(delivery) => delivered.push(delivery.payload),
//!                     _ => {}
//!                 }
//!             }
//!         }
//!     }
//!     now = now + Duration::from_millis(10);
//! }
//! assert_eq!(delivered, [Payload { unit: 7, len: 1_000 }]);
//! ```
//!
//! # Choices where the RFC leaves one
//!
//! * The server, once open, sends a separate acknowledgement, and repeats it to a client that shows it has seen nothing
//!   but the Response: a client that only receives would stay in PARTOPEN otherwise.
//! * The client confirms features in each packet that it sends in PARTOPEN, so that no negotiation outlives the handshake.
//! * The server closes with CloseReq, so that the client holds TIMEWAIT.
//! * What waits in the queue is sent before a Close.
//! * An option that can't be is ignored with all that follow it (section 5.8 allows it), and counted.
//!
//! # Limits
//!
//! * Numbers of 48 bits only; packets with short ones are dropped, since Allow Short Sequence Numbers stays 0.
//! * No ECN: ECN Incapable is 1. No Ack Vectors, Data Dropped, Slow Receiver, Init Cookies, data checksums or partial
//!   checksums: what a peer sends of them is ignored, and what it wants of them confirmed as 0.
//! * No data in Request and Response.
//! * Features are negotiated in the handshake; of later wishes of a peer only those for what is already in force come true.
//! * Ports, checksums, and which connection a packet belongs to, are the host's; so is the Reset for packets that belong to
//!   none ([`reset_for`]).

mod ccid;
mod config;
mod connection;
mod features;
mod packet;
mod sent;
mod sequence;
mod window_counter;

#[cfg(test)]
mod tests;

pub use ccid::{Expired, HalfReceiver, HalfSender};
pub use config::{Config, Congestion};
pub use connection::{CloseReason, Connection, Delivery, Output, State, Statistics, reset_for};
pub use hopcast_wire::dccp::{NetworkState, ResetCode};
pub use packet::{Packet, Payload};
