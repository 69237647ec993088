//! Departure of a segment.

use super::super::receiver::PendingAck;
use super::super::sender::Chunk;
use super::super::timestamps;
use super::super::{Flags, Options, SackBlock, Segment, Timestamps};
use super::{Connection, State};
use crate::time::Instant;

impl Connection {
    pub(super) fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        if matches!(self.state, State::Closed | State::Listen) {
            return None;
        }
        let alone = match self.receiver.pending {
            PendingAck::Alone | PendingAck::Duplicate => true,
            // A full segment has no room for blocks.
            PendingAck::Now => self.receiver.has_blocks(),
            PendingAck::None | PendingAck::Delayed(_) => false,
        };
        if alone {
            return Some(self.acknowledgement(now));
        }
        if let Some(chunk) = self.sender.poll(now) {
            let is_new = chunk.len > 0 && !chunk.again;
            return Some(self.segment_of(chunk, is_new, now));
        }
        (self.receiver.pending == PendingAck::Now).then(|| self.acknowledgement(now))
    }

    fn acknowledgement(&mut self, now: Instant) -> Segment {
        self.statistics.acks_sent += 1;
        let (ack, window) = self.receiver.acknowledge(false);
        Segment {
            seq: self.own.number(self.sender.bare_position()),
            ack: self.peer.number(ack),
            flags: Flags::ACK | self.ecn.depart(false, false),
            window,
            options: self.with_blocks(Options::new(self.stamps(now)), usize::MAX),
            ..Segment::default()
        }
    }

    /// `is_new`: it brings data that was never sent before, and probes no window.
    pub(super) fn segment_of(&mut self, chunk: Chunk, is_new: bool, now: Instant) -> Segment {
        let statistics = &mut self.statistics;
        let len = u64::from(chunk.len);
        statistics.data_segments_sent += u64::from(chunk.len > 0);
        statistics.bytes_sent += len;
        statistics.segments_retransmitted += u64::from(chunk.again);
        statistics.bytes_retransmitted += if chunk.again { len } else { 0 };
        let mut flags = Flags::default();
        for (set, flag) in [(chunk.syn, Flags::SYN), (chunk.fin, Flags::FIN), (chunk.push, Flags::PSH)] {
            if set {
                flags = flags | flag;
            }
        }
        let (ack, window) = self.receiver.acknowledge(chunk.syn);
        let synchronized = self.state != State::SynSent;
        if synchronized {
            flags = flags | Flags::ACK;
        }
        flags = flags
            | if chunk.syn {
                self.ecn.depart_syn();
                self.ecn.syn_flags(synchronized)
            } else {
                self.ecn.depart(is_new, chunk.len > 0)
            };
        let mut options = Options::new(self.stamps(now));
        if chunk.syn {
            // `Config::clamped` keeps the segment within 16 bits.
            options = options.with_mss(self.config.segment as u16);
            // An answer offers what was offered.
            if !synchronized || self.peer_shift.is_some() {
                options = options.with_window_scale(self.receiver.wanted_shift());
            }
            let sack = if synchronized { self.receiver.uses_sack() } else { self.wants_sack() };
            if sack {
                options = options.with_sack_permitted();
            }
        } else {
            // The option's head and padding take 4 bytes, a block 8 (RFC 2018, section 3).
            let room = self.sender.segment().saturating_sub(chunk.len).saturating_sub(4) / 8;
            options = self.with_blocks(options, room as usize);
        }
        Segment {
            seq: self.own.number(chunk.position),
            ack: if synchronized { self.peer.number(ack) } else { 0 },
            flags,
            window,
            options,
            payload_offset: chunk.position.saturating_sub(1),
            // No chunk is longer than a segment.
            payload_len: chunk.len as u16,
        }
    }

    /// Timestamps to send: offered by the first SYN, or agreed on.
    fn stamps(&self, now: Instant) -> Option<Timestamps> {
        match self.clock {
            Some(clock) => Some(clock.stamp(now)),
            None => (self.state == State::SynSent && self.config.timestamps).then(|| timestamps::first_stamp(now)),
        }
    }

    /// The same with up to `room` SACK blocks.
    fn with_blocks(&self, options: Options, room: usize) -> Options {
        let number = |position| self.peer.number(position);
        self.receiver.blocks().take(room).fold(options, |options, (start, end)| {
            options.with_block(SackBlock { left: number(start), right: number(end) })
        })
    }

    pub(super) fn reset(&self, now: Instant) -> Segment {
        Segment {
            seq: self.own.number(self.sender.bare_position()),
            ack: self.peer.number(self.receiver.next()),
            flags: Flags::RST | Flags::ACK,
            options: Options::new(self.stamps(now)),
            ..Segment::default()
        }
    }
}

/// The reset that answers a segment for which there is no connection; none for a reset (RFC 9293, section 3.10.7.1).
#[must_use = "the reset is to be sent"]
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    let reset = if segment.flags.contains(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        // SEG.LEN wraps with the sequence space.
        let ack = segment.seq.wrapping_add(segment.sequence_len() as u32);
        Segment { ack, flags: Flags::RST | Flags::ACK, ..Segment::default() }
    };
    Some(reset)
}
