//! Media over RTP (RFC 3550) and UDP, at the rate that a congestion control of media allows.
//!
//! The [`Sender`] cuts nothing: each write of the application becomes one packet, whose header says what the application does of the
//! media (a [`Label`]), or what suits video otherwise. What is written between two calls of
//! [`Sender::poll_output`] is one frame, and the last packet of a frame has the marker. Packets wait for pacer and window of the
//! [congestion control](super::media::MediaCongestionControl), whose target rate the application is told. The [`Receiver`] hands
//! out what arrives at once, and reports arrivals in one of two [formats](Format). Control packets share the port of the media (RFC
//! 5761). Feedback comes in single packets instead of compounds (RFC 5506). Both ends can also send
//! [sender and receiver reports](Sender::with_reports). With [`Config::retransmission`] the receiver asks for packets that it misses
//! (RFC 4585), and the sender sends them again as a second source (RFC 4588).
//!
//! Left out: several sources of media in one session.
//!
//! # Example
//!
//! ```
//! use hopcast_protocols::time::{Duration, Instant};
//! use hopcast_protocols::transport::Payload;
//! use hopcast_protocols::transport::media::Uncontrolled;
//! use hopcast_protocols::transport::rtp::{Config, Output, Receiver, Sender};
//!
//! let config = Config::default();
//! let mut sender = Sender::new(config, Box::new(Uncontrolled::new(1_000_000)));
//! let mut receiver = Receiver::new(config);
//! let sent = Instant::START;
//! sender.handle_write(Payload { unit: 0, len: 1000 }, sent);
//! let mut target = None;
//! while let Some(output) = sender.poll_output(sent) {
//!     match output {
//!         Output::Transmit(packet, ecn) => assert!(receiver.handle_packet(&packet.header, 1000, ecn, sent).unwrap()),
//!         Output::TargetRate(rate) => target = Some(rate),
//!         Output::Lost(_) | Output::Writable => unreachable!("nothing waited"),
//!     }
//! }
//! assert_eq!(target, Some(1_000_000));
//! let reported = receiver.poll_timeout().expect("a packet is to be reported");
//! let report = receiver.poll_feedback(reported).expect("it is time");
//! sender.handle_control(&report, reported + Duration::from_millis(1)).unwrap();
//! // 1 ms, and what the report's clock of 1/1024 s does not tell.
//! assert!(sender.rtt().is_some_and(|rtt| rtt >= Duration::from_millis(1) && rtt < Duration::from_millis(2)));
//! ```

mod arrivals;
mod clock;
mod feedback;
mod history;
mod interarrival;
mod receiver;
mod reports;
mod requests;
mod retransmission;
mod sender;
mod sequences;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::Payload;
use crate::time::Duration;

pub use clock::{clock_rate, timestamp};
pub use interarrival::{InterarrivalJitter, LONGEST_STEP};
pub use receiver::Receiver;
pub use reports::Reception;
pub use sender::{Output, Sender, Statistics, Told};

/// How a receiver tells what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Congestion control feedback (RFC 8888): by RTP's sequence numbers, with ECN fields.
    Ccfb,
    /// Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01), as WebRTC has it: by numbers in a header
    /// extension of 8 bytes, without ECN fields.
    Twcc,
}

/// When a receiver reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// So long after the first packet that no report has told.
    Periodic(Duration),
    /// Likewise, so long that reports of 68 B take a twentieth of the rate that arrives, and 50 to 250 ms: libwebrtc's
    /// `transport_sequence_number_feedback_generator.cc`.
    Share,
    /// After the last packet of a frame, 16 packets, or 40 ms: SCReAM's draft, section "Receiver Requirements".
    Frames,
}

/// What both ends of a session agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The synchronization source of the media. That of the receiver is the next number.
    pub source: u32,
    /// RTP's sequence number of the first packet.
    pub first_sequence: u16,
    /// How the receiver reports.
    pub format: Format,
    /// When the receiver reports.
    pub schedule: Schedule,
    /// For how long after it was sent a packet may be sent again, if the receiver asks for it; `None`: packets are sent once.
    pub retransmission: Option<Duration>,
}

impl Config {
    const fn retransmission_source(&self) -> u32 {
        retransmission_source(self.source)
    }
}

/// The synchronization source of packets that are sent again, of media of this `source` (RFC 4588, section 5).
pub const fn retransmission_source(source: u32) -> u32 {
    source.wrapping_add(2)
}

/// Bytes in front of the media of a packet that is sent again: its original sequence number (RFC 4588, section 4).
pub const ORIGINAL_SEQUENCE_LEN: u32 = 2;

impl Default for Config {
    /// A source of number 1 whose receiver reports by RFC 8888 each 100 ms.
    fn default() -> Self {
        Self {
            source: 1,
            first_sequence: 0,
            format: Format::Ccfb,
            schedule: Schedule::Periodic(Duration::from_millis(100)),
            retransmission: None,
        }
    }
}

impl Format {
    /// Bytes of the RTP header of each packet.
    pub const fn header_len(self) -> u32 {
        match self {
            Self::Ccfb => 12,
            Self::Twcc => 20,
        }
    }
}

/// What the header of a packet says of its media, where the application knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The marker bit, with the meaning of the payload's profile.
    pub marker: bool,
    /// The payload type, of 7 bits.
    pub payload_type: u8,
    /// When the media was sampled, by the clock of the payload type.
    pub timestamp: u32,
}

/// One UDP datagram of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The RTP header, with padding behind it in a packet without data, or the original sequence number in one that is sent again; or a
    /// whole control packet.
    pub header: Arc<[u8]>,
    /// What follows the header.
    pub payload: Payload,
}

/// The number closest to `near` of which `low` are the last bits; `bits` of them, 1 to 32.
fn unwrap(low: u32, bits: u32, near: u64) -> u64 {
    let modulus = 1_u64 << bits;
    let ahead = u64::from(low).wrapping_sub(near) & (modulus - 1);
    if ahead < modulus / 2 || near + ahead < modulus { near + ahead } else { near + ahead - modulus }
}
