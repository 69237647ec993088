//! RTP streams, recognised from the datagrams of a conversation as they arrive.
//!
//! A source counts as RTP once [`MIN_PACKETS`] datagrams in a row have had a valid header of version 2 with its SSRC, and
//! a sequence number that follows the one before within the limits of RFC 3550, appendix A.1. Secured RTP (RFC 3711) has
//! the same header in the clear; the packet type distinguishes RTCP on the same port (RFC 5761, section 4).

mod clock;
mod frames;
mod freeze;
mod sequence;

pub use freeze::FreezeSummary;
pub use sequence::SequenceSummary;

use hopcast_protocols::time::Instant;
use hopcast_wire::{rtcp, rtp};

use super::course::Course;
use clock::Clock;
use frames::Frames;
use freeze::Freezes;
use sequence::{Numbered, Sequence};

/// Datagrams in a row after which a source is taken to speak RTP. Before it is, others in its place would be as well founded.
const MIN_PACKETS: u64 = 5;
/// The most sources of a conversation.
const MOST: usize = 8;

/// The streams of a conversation, by source.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    list: Vec<Stream>,
}

/// The packets of one source.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The synchronization source.
    pub source: u32,
    payload_type: u8,
    last_arrival: Instant,
    sequence: Sequence,
    clock: Clock,
    frames: Frames,
    freezes: Freezes,
}

/// Summary of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamSummary {
    /// Payload type of the last packet.
    pub payload_type: u8,
    /// Ticks of the timestamps per second; `None` if it is neither assigned to the payload type nor measured.
    pub clock_rate: Option<u32>,
    /// Results from its sequence numbers.
    pub sequence: SequenceSummary,
    /// Mean and maximum of its interarrival jitter in seconds.
    pub jitter: Option<[f64; 2]>,
    /// Results about its pictures; `None` if it is not video.
    pub freezes: Option<FreezeSummary>,
}

impl Streams {
    /// A datagram that was sent at `sent` arrived at `now`.
    pub(super) fn handle_datagram(&mut self, octets: &[u8], sent: Instant, now: Instant, course: &mut Course) {
        let Ok(packet) = rtp::Packet::new_checked(octets) else { return };
        if rtcp::is_control(octets) {
            return;
        }
        if let Some(stream) = self.stream(packet.source(), now) {
            stream.handle_packet(&packet, sent, now, course);
        }
    }

    /// The sources that count as RTP, in the order of their first packets.
    pub fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.list.iter().filter(|stream| stream.is_recognised())
    }

    /// That of a source; `None` if there is no room for one more. It takes the place of one that is not recognised.
    fn stream(&mut self, source: u32, now: Instant) -> Option<&mut Stream> {
        if let Some(index) = self.list.iter().position(|stream| stream.source == source) {
            return Some(&mut self.list[index]);
        }
        if self.list.len() == MOST {
            let unrecognised = self.list.iter().enumerate().filter(|(_, stream)| !stream.is_recognised());
            let (oldest, _) = unrecognised.min_by_key(|(_, stream)| stream.last_arrival)?;
            self.list.remove(oldest);
        }
        self.list.push(Stream::new(source, now));
        self.list.last_mut()
    }
}

impl Stream {
    fn new(source: u32, now: Instant) -> Self {
        Self {
            source,
            payload_type: 0,
            last_arrival: now,
            sequence: Sequence::default(),
            clock: Clock::default(),
            frames: Frames::default(),
            freezes: Freezes::default(),
        }
    }

    /// Its summary.
    pub fn summary(&self) -> StreamSummary {
        let clock_rate = self.clock.rate(self.payload_type);
        StreamSummary {
            payload_type: self.payload_type,
            clock_rate,
            sequence: self.sequence.summary(),
            jitter: clock_rate.and_then(|rate| self.clock.jitter(rate)),
            freezes: self.is_video().then(|| self.freezes.summary()),
        }
    }

    fn is_recognised(&self) -> bool {
        self.sequence.summary().received_packets >= MIN_PACKETS
    }

    /// Whether its timestamps tell pictures: all payload formats of video have a clock of 90 kHz (RFC 3551, section 5).
    fn is_video(&self) -> bool {
        clock::is_video(self.payload_type, self.clock.rate(self.payload_type))
    }

    fn handle_packet(&mut self, packet: &rtp::Packet<&[u8]>, sent: Instant, now: Instant, course: &mut Course) {
        self.last_arrival = now;
        let number = match self.sequence.handle_received(packet.sequence(), self.is_recognised()) {
            Numbered::First(number) => number,
            Numbered::Duplicate | Numbered::Invalid => return,
            Numbered::Restarted(number) => {
                self.frames = Frames::default();
                number
            }
        };
        self.payload_type = packet.payload_type();
        self.clock.handle_arrival(packet.timestamp(), sent, now);
        let shown = self.frames.handle_packet(number, packet.timestamp(), packet.marker());
        for _ in 0..if self.is_video() { shown } else { 0 } {
            course.handle_frame(self.freezes.handle_frame(now), now);
        }
    }
}
