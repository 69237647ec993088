//! Congestion control of media over RTP: how fast a source may produce, and how fast its packets may leave.
//!
//! A controller is a strategy, as those of TCP are: the session that sends media reports facts, and asks what it may do. The
//! session keeps the history of what it sent, reads feedback in whatever format it comes (RFC 8888, or transport-wide sequence
//! numbers), and tells each packet's fate in the same words. So no controller parses anything, and a format serves all of them.
//!
//! Times of arrival are by the receiver's clock, whose zero and whose drift the sender does not know: only differences between
//! them mean something.

mod choice;
pub mod gcc;
pub mod nada;
pub mod scream;
#[cfg(test)]
mod tests;
pub mod tfrc;
mod uncontrolled;

pub use choice::{Congestion, Source};
pub use uncontrolled::Uncontrolled;

use core::fmt;

pub use hopcast_wire::ecn::Ecn;

use super::adtfrc;
use crate::time::{Duration, Instant};

/// A congestion control of media.
///
/// The session reports each packet that leaves, each feedback packet that arrives, and each frame that the encoder hands over;
/// it calls [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) is due. After each of these calls it
/// reads rates, window and probe again. A controller produces no other output.
pub trait MediaCongestionControl: fmt::Debug + Send {
    /// A packet leaves at `packet.sent`.
    fn on_sent(&mut self, packet: &SentPacket);

    /// Feedback arrives at `feedback.now`.
    fn on_feedback(&mut self, feedback: &Feedback<'_>);

    /// The encoder hands over a frame, which goes behind what waits for the pacer. Most controllers don't need it.
    fn on_frame(&mut self, frame: &Frame) {
        let _ = frame;
    }

    /// Time has come to `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    fn poll_timeout(&self) -> Option<Instant>;

    /// What the encoder is to produce, in b/s, headers not counted.
    fn target_rate(&self) -> u64;

    /// How fast the pacer may let packets leave, in b/s. `None`: at once.
    fn pacing_rate(&self) -> Option<u64>;

    /// How many bytes may be in flight, by the sizes of [`SentPacket`]. `None`: as many as the pacer sends.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Takes out a probe that is due: the session sends it as soon as it can, and fills with padding what media lacks.
    fn poll_probe(&mut self, now: Instant) -> Option<Probe> {
        let _ = now;
        None
    }

    /// Whether packets are to leave as ECT(1), ECT(0) or Not-ECT.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// What TFRC and ADTFRC know of the path; `None` of other controllers.
    fn path(&self) -> Option<PathReport<'_>> {
        None
    }

    /// Shows what the controller knows, a name and a value each, for series and tests. Names are `snake_case`, and end in their
    /// unit: `_bps`, `_s`, `_bytes`, or none for a number without one.
    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64));
}

/// What TFRC and ADTFRC know of the path.
#[derive(Clone, Copy, Debug)]
pub struct PathReport<'a> {
    /// Loss events per packet, as of the last report.
    pub loss_event_rate: f64,
    /// ADTFRC's sender; `None` of TFRC.
    pub sender: Option<&'a adtfrc::Sender>,
    /// What ADTFRC measured at the latest arrival that a report told.
    pub sample: Option<&'a adtfrc::Sample>,
}

/// A packet that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Its number on this path, counted from 0 without wrapping around; padding and retransmissions have numbers as well.
    pub number: u64,
    /// Its size in bytes: RTP header and payload, UDP and IP headers.
    pub size: u32,
    /// When it left.
    pub sent: Instant,
    /// The probe that it belongs to, if any.
    pub probe: Option<u32>,
    /// Bytes in flight, this packet included: sent, and neither acknowledged nor counted as lost.
    pub in_flight: u64,
}

/// What one feedback packet tells.
#[derive(Clone, Copy, Debug)]
pub struct Feedback<'a> {
    /// When it arrived, by the sender's clock.
    pub now: Instant,
    /// The fates that it tells for the first time, in the order of the packets' numbers. A packet that counted as lost may come once
    /// more, when it turns out to have arrived late.
    pub packets: &'a [PacketResult],
    /// The time from sending to hearing of it of the packet that arrived last, without the time for which the receiver held the
    /// report back. `None` where no packet of this feedback arrived.
    pub rtt: Option<Duration>,
    /// Bytes in flight after this feedback.
    pub in_flight: u64,
}

/// The fate of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketResult {
    /// The packet.
    pub packet: SentPacket,
    /// Its arrival; `None` where it counts as lost.
    pub arrival: Option<Arrival>,
}

/// The arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, by the receiver's clock.
    pub time: Instant,
    /// Its ECN field then; [`Ecn::NotEct`] where the feedback does not tell.
    pub ecn: Ecn,
}

/// A frame that the encoder hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its size in bytes.
    pub size: u32,
    /// When.
    pub now: Instant,
    /// The bytes that waited for the pacer before it.
    pub queued: u64,
    /// For how long the oldest packet has waited for the pacer; zero where none waits.
    pub queue_delay: Duration,
}

/// A burst that measures what the path carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What [`SentPacket::probe`] of its packets says.
    pub id: u32,
    /// The rate at which its packets are to leave, in b/s.
    pub rate: u64,
    /// At least this number of packets.
    pub packets: u32,
    /// At least this number of bytes.
    pub bytes: u32,
}
