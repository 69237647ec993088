//! TCP: RFC 9293 with the congestion control of RFC 5681 (Reno), RFC 6582 (NewReno), RFC 2018 and RFC 6675 (SACK) or RFC
//! 9438 (CUBIC), the timer of RFC 6298, limited transmit (RFC 3042), window scaling and timestamps (RFC 7323), the
//! protection against blind attacks of RFC 5961, explicit congestion notification (RFC 3168), and explicit link failure notification (ELFN; Holland and Vaidya, MobiCom
//! 1999).
//!
//! A [`Connection`] is one end. It follows the [contract of every machine](crate): change it, drain
//! [`Connection::poll_output`], read [`Connection::poll_timeout`]. Payload never passes through it: a [`Segment`] names
//! its part of the stream by a 64-bit offset, and the driver of the connection keeps the bytes, if there are any.
//!
//! ```
//! use hopcast_protocols::time::Instant;
//! use hopcast_protocols::transport::tcp::{Config, Connection, Output};
//!
//! let now = Instant::START;
//! let mut client = Connection::connect(Config::default(), 1_000);
//! let mut server = Connection::listen(Config::default(), 2_000);
//! assert_eq!(client.handle_write(4_000, now), 4_000);
//! // What an end transmits, all of it, before the next segment arrives.
//! let drain = |end: &mut Connection| -> Vec<_> {
//!     let outputs = std::iter::from_fn(|| end.poll_output(now));
//!     outputs.filter_map(|output| if let Output::Transmit(segment) = output { Some(segment) } else { None }).collect()
//! };
//! let mut to_server = drain(&mut client);
//! while !to_server.is_empty() {
//!     for segment in std::mem::take(&mut to_server) {
//!         server.handle_segment(&segment, now);
//!         for segment in drain(&mut server) {
//!             client.handle_segment(&segment, now);
//!             to_server.extend(drain(&mut client));
//!         }
//!     }
//! }
//! assert_eq!(server.handle_read(u32::MAX, now), 4_000);
//! ```
//!
//! # Choices where the RFCs leave one
//!
//! * NewReno is the *Impatient* variant: only the first partial acknowledgement of a recovery restarts the retransmission
//!   timer (RFC 6582, sections 3.2 and 4). It is *careful*: duplicate acknowledgements start no fast retransmit unless
//!   they cover more than `recover`; the optional heuristics of section 4 are not used. Reno knows no `recover` but for what
//!   was sent before a timeout.
//! * FlightSize, of which a loss or a timeout leaves half, counts for at most the congestion window. While fast recovery
//!   waits for a retransmission that was lost, each duplicate acknowledgement lets another segment out; what is outstanding
//!   then is many times what is in the network, and half of it would be no reduction. Equation 4 of RFC 5681 is an upper
//!   bound.
//! * A pause of more than the RTO, after which the congestion window restarts (RFC 5681, section 4.1), may be one of a closed
//!   window: probes of it do not count as sending, as they keep no acknowledgements coming that could clock a window of data.
//! * After a timeout the sender goes back to the first unacknowledged byte and sends again from there in slow start. With
//!   SACK it skips what has arrived: what was told is kept over a timeout, as erratum 1610 to RFC 2018 allows, and forgotten
//!   at a second one, or when the peer is caught reneging.
//! * Without timestamps, one round trip is timed at a time (RFC 6298, section 3). With them, each acknowledgement of new
//!   data is a sample, weighted as appendix G of RFC 7323 suggests, by a clock of 1 ms.
//! * SACK blocks go with whatever has room for them: acknowledgements without data, and segments that are not full. Where
//!   there are blocks to tell, an acknowledgement that is due goes alone.
//! * Receiver and sender both avoid the silly window (RFC 9293, section 3.8.6.2). A reader that makes room causes a
//!   separate acknowledgement only for half of the buffer, or where the window was below one segment; a sender held back
//!   by it overrides it after 0.2 s. Zero windows are probed with one byte, first after one RTO, then ever less often, up
//!   to once a minute.
//! * The receiver keeps up to [`MAX_RANGES`] separate ranges of data that arrived out of order, and the sender as many that
//!   SACK told. A segment that would need one more is treated as lost.
//! * On standby (ELFN), a probe repeats the first segment that is not acknowledged, as the paper's does. Word from the
//!   routing layer that there is a route again brings the next probe forward; only the peer's acknowledgement ends it.
//!
//! # Limits
//!
//! * No urgent data: URG is never sent and its pointer ignored on receipt. No Fast Open. ECN is that of RFC 3168: a window of one segment
//!   is not reduced further by an echo, and its pace does not slow either (section 6.1.2). No D-SACK (RFC 2883) is sent;
//!   one that arrives does no harm. No undoing of spurious timeouts (RFC 5682, RFC 4015), no RACK-TLP (RFC 8985), no
//!   proportional rate reduction (RFC 6937), no HyStart++ (RFC 9406).
//! * Data and FIN that come with a SYN are not taken; the peer sends them again.
//! * No keep-alive (RFC 9293, section 3.8.4, leaves it off by default), no path MTU discovery: segments are at most
//!   [`Config::segment`] and the peer's MSS option (536 bytes without one), less the room for timestamps.
//! * Ports, checksums, and which connection a segment belongs to, are the host's; so is sending RST for segments that
//!   belong to none ([`reset_for`]).

pub mod congestion;

mod config;
mod connection;
mod ecn;
mod options;
mod ranges;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod timestamps;

#[cfg(test)]
mod tests;

use config::LossRecovery;
pub use config::{Config, Elfn, Variant};
pub use connection::{CloseReason, Connection, Output, State, Statistics, reset_for};
pub use hopcast_wire::tcp::{Flags, SackBlock, Timestamps};
pub use options::Options;
pub use ranges::MAX_RANGES;
pub use segment::Segment;
