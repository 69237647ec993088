//! What a test of a protocol machine needs: a virtual link with its impairments, a pair of peers over it, and random
//! operations.
//!
//! The module is behind the cargo feature `testkit`. The crate's own tests and fuzz targets are built on it; a crate with
//! a custom protocol adds it as a development dependency:
//!
//! ```toml
//! [dev-dependencies]
//! hopcast-protocols = { version = "0.1", features = ["testkit"] }
//! ```
//!
//! | for | there is |
//! |---|---|
//! | two ends of a connection over a link that delays, loses, reorders, duplicates, corrupts, queues and breaks | [`Pair`], [`Link`], [`Impairments`] |
//! | any order of calls and any input, from a fuzzer or a property test | [`Disorder`], [`Choices`] |
//! | anything that happens at instants | [`Agenda`] |
//!
//! # A first example
//!
//! A connection of TCP over a link that loses a segment in fifty. The test is the user of both ends: it answers their events.
//!
//! ```
//! use hopcast_protocols::testkit::{Event, Impairments, Link, Pair};
//! use hopcast_protocols::time::{Duration, Instant};
//! use hopcast_protocols::transport::tcp::{Config, Connection, Output};
//!
//! let latency = Duration::from_millis(20);
//! let link = Link::new(Impairments { latency, loss: 0.02, ..Impairments::NONE }, 7);
//! let client = Connection::connect(Config::default(), 1_000);
//! let server = Connection::listen(Config::default(), 2_000);
//! let mut pair = Pair::new(client, server, link);
//!
//! let (mut unwritten, mut read) = (200_000, 0);
//! while let Some(event) = pair.poll_event(Instant::START + Duration::from_secs(60)) {
//!     let now = pair.now();
//!     match event {
//!         Event::Client(Output::Connected | Output::Writable) => unwritten -= pair.client.handle_write(unwritten, now),
//!         Event::Server(Output::Readable) => read += pair.server.handle_read(u32::MAX, now),
//!         _ => {}
//!     }
//! }
//! assert_eq!((unwritten, read), (0, 200_000));
//! assert!(pair.client.statistics().segments_retransmitted > 0);
//! ```
//!
//! # A protocol of your own
//!
//! Whatever implements [`Peer`] can be one end of a [`Pair`]: a machine, or a machine together with what its user does. This one
//! repeats a datagram each second until the other end has answered.
//!
//! ```
//! use hopcast_protocols::testkit::{Event, Impairments, Link, Output, Pair, Peer};
//! use hopcast_protocols::time::{Duration, Instant};
//!
//! #[derive(Default)]
//! struct Ping {
//!     due: Option<Instant>,
//!     output: Option<Output<Vec<u8>, &'static str>>,
//! }
//!
//! impl Peer for Ping {
//!     type Datagram = Vec<u8>;
//!     type Event = &'static str;
//!
//!     fn handle_datagram(&mut self, datagram: &Vec<u8>, _: Instant) {
//!         self.output = Some(if datagram == b"ping" {
//!             Output::Transmit(b"pong".to_vec())
//!         } else {
//!             self.due = None;
//!             Output::Event("answered")
//!         });
//!     }
//!
//!     fn handle_timeout(&mut self, now: Instant) {
//!         if self.due.is_some_and(|due| due <= now) {
//!             self.output = Some(Output::Transmit(b"ping".to_vec()));
//!             self.due = Some(now + Duration::from_secs(1));
//!         }
//!     }
//!
//!     fn poll_output(&mut self, _: Instant) -> Option<Output<Vec<u8>, &'static str>> {
//!         self.output.take()
//!     }
//!
//!     fn poll_timeout(&self) -> Option<Instant> {
//!         self.due
//!     }
//! }
//!
//! // Nothing gets through for the first five seconds.
//! let outage = Some([Instant::START, Instant::START + Duration::from_secs(5)]);
//! let link = Link::new(Impairments { outage, latency: Duration::from_millis(3), ..Impairments::NONE }, 1);
//! let mut pair = Pair::new(Ping { due: Some(Instant::START), ..Ping::default() }, Ping::default(), link);
//! assert_eq!(pair.poll_event(Instant::MAX), Some(Event::Client("answered")));
//! assert_eq!(pair.now(), Instant::START + Duration::from_millis(5006));
//! ```

mod agenda;
mod dccp;
mod disorder;
mod link;
mod pair;
mod tcp;

#[cfg(test)]
mod tests;

pub use agenda::Agenda;
pub use disorder::{Choices, Disorder, Subject};
pub use link::{Bottleneck, Datagram, Impairments, Link, LinkStatistics, Side};
pub use pair::{Event, Output, Pair, Peer};
