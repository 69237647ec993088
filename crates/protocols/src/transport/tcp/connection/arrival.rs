//! Arrival of a segment (RFC 9293, section 3.10.7).

use super::super::receiver::PendingAck;
use super::super::timestamps;
use super::super::{Flags, SackBlock, Segment, Timestamps};
use super::departure::reset_for;
use super::{CloseReason, Connection, State};
use crate::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

/// The most answers in an interval to segments that prove nothing (RFC 5961, section 7).
const CHALLENGES: u32 = 10;
const CHALLENGE_INTERVAL: Duration = Duration::from_secs(5);

impl Connection {
    /// Section 3.10.7.2.
    pub(super) fn handle_in_listen(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.reply = reset_for(segment);
        } else if segment.flags.contains(Flags::SYN) {
            self.take_syn(segment, ecn, now);
            self.state = State::SynReceived;
        }
    }

    /// Section 3.10.7.3.
    pub(super) fn handle_in_syn_sent(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        let ack = segment.flags.contains(Flags::ACK);
        // The only acceptable number acknowledges the SYN, once it was sent; no data goes with it.
        let acceptable = self.sender.sent() == 1 && segment.ack == self.own.number(1);
        if ack && !acceptable {
            self.statistics.unacceptable += 1;
            self.reply = reset_for(segment);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if ack {
                self.close(CloseReason::Refused);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.take_syn(segment, ecn, now);
        if ack {
            let echoed = self.echoed(segment, now);
            self.sender.on_ack(1, false, echoed, core::iter::empty(), now);
            self.establish();
            self.receiver.pending = PendingAck::Now;
        } else {
            // Simultaneous open: the SYN goes out again, now with an ACK.
            self.state = State::SynReceived;
            self.sender.repeat_syn();
        }
    }

    /// Section 3.10.7.4, in the order of its steps, but for RST, which RFC 5961 judges by its number alone.
    pub(super) fn handle_synchronized(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        let start = self.peer.position(segment.seq, self.receiver.next());
        let len = segment.sequence_len();
        let syn = segment.flags.contains(Flags::SYN);
        if segment.flags.contains(Flags::RST) {
            return self.handle_rst(start, now);
        }
        if !self.is_in_time(segment, len, now) {
            return;
        }
        // Before that is looked at (RFC 7323, appendix D): what is repeated is acknowledged with the timestamp of the repetition.
        if let (Some(clock), Some(Timestamps { value, .. })) = (&mut self.clock, segment.options.timestamps())
            && self.receiver.may_have_been_sent(start)
        {
            clock.update(value, start, self.receiver.acknowledged(), now);
        }
        // First, the sequence number.
        if !self.receiver.is_acceptable(start, len) {
            return self.handle_unacceptable(segment, start, len, now);
        }
        // Fourth, SYN (RFC 5961, section 4.2).
        if syn {
            if self.state == State::SynReceived && self.passive {
                self.relisten();
            } else {
                self.challenge(now);
            }
            return;
        }
        self.statistics.marked_segments += u64::from(segment.payload_len > 0 && ecn == Ecn::Ce);
        self.ecn.on_arrival(segment, ecn);
        // Fifth, ACK.
        if !self.handle_ack(segment, start, now) {
            return;
        }
        // Seventh and eighth, text and FIN.
        let fin = segment.flags.contains(Flags::FIN);
        if segment.payload_len == 0 && !fin {
            return;
        }
        match self.state {
            State::Established | State::FinWait1 | State::FinWait2 => self.handle_text(segment, start, fin, now),
            // The peer has sent its FIN: there is no text beyond it.
            _ => {
                self.statistics.duplicate_segments += 1;
                self.receiver.pending = PendingAck::Alone;
                if fin && self.state == State::TimeWait {
                    self.time_wait = Some(now + self.config.time_wait);
                }
            }
        }
    }

    /// RST, with the exact match of RFC 5961, section 3.2; elsewhere in the window it draws a challenge.
    fn handle_rst(&mut self, start: i64, now: Instant) {
        if start == self.receiver.next() as i64 {
            return self.handle_reset();
        }
        self.statistics.unacceptable += 1;
        if self.receiver.is_acceptable(start, 1) {
            self.challenge(now);
        }
    }

    /// A segment of `len` numbers outside the window (section 3.10.7.4, first step).
    fn handle_unacceptable(&mut self, segment: &Segment, start: i64, len: u64, now: Instant) {
        self.statistics.unacceptable += 1;
        if len == 0 {
            return self.challenge(now);
        }
        self.receiver.pending = PendingAck::Alone;
        if segment.flags.contains(Flags::FIN) && self.state == State::TimeWait {
            self.time_wait = Some(now + self.config.time_wait);
        }
        // A probe into the closed window may carry a valid acknowledgement.
        if start == self.receiver.next() as i64 && !segment.flags.contains(Flags::SYN) {
            self.handle_ack(segment, start, now);
        }
    }

    /// The ACK field. `false` if the segment is to be dropped.
    fn handle_ack(&mut self, segment: &Segment, start: i64, now: Instant) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let una = self.sender.una();
        let ack = self.own.position(segment.ack, una);
        if self.state == State::SynReceived {
            if ack != 1 {
                self.statistics.unacceptable += 1;
                self.reply = reset_for(segment);
                return false;
            }
        } else if !self.sender.may_be_acknowledged(ack) {
            self.statistics.unacceptable += 1;
            self.challenge(now);
            return false;
        }
        if ack < una as i64 {
            return true;
        }
        let ack = ack as u64;
        let window = u64::from(segment.window) << self.peer_shift.unwrap_or(0);
        let same_window = window == self.offered;
        // Newer than the last by WL1 and WL2, or by what it acknowledges: a retransmission of the peer has an old number
        // and a new window.
        if ack > una || (start, ack) >= self.window_from {
            self.window_from = (start.max(self.window_from.0), ack);
            self.offered = window;
            self.sender.set_window(window);
        }
        let bare = segment.sequence_len() == 0 && same_window;
        let own = self.own;
        let blocks = segment.options.sack_blocks().map(|SackBlock { left, right }| {
            // What lies before the SYN is as good as the SYN: it was acknowledged long ago.
            let position = |number| own.position(number, ack).max(0) as u64;
            (position(left), position(right))
        });
        if self.ecn.is_echo(segment) {
            self.handle_echo(ack, now);
        }
        if self.state == State::SynReceived && segment.payload_len == 0 {
            self.ecn.on_handshake_end(segment);
        } else if self.ecn.is_accurate() {
            self.handle_marks(segment, ack - una, now);
        }
        let acked = self.sender.on_ack(ack, bare, self.echoed(segment, now), blocks, now);
        self.statistics.duplicate_acks += u64::from(acked.is_duplicate);
        self.statistics.fast_retransmits += u64::from(acked.is_loss);
        if acked.is_loss {
            self.ecn.on_loss(self.sender.sent());
        }
        if acked.is_new {
            self.on_acked(una, ack, now);
        }
        true
    }

    /// An acknowledgement of everything before `ack` echoes a mark.
    fn handle_echo(&mut self, ack: u64, now: Instant) {
        self.sender.hold_window();
        if self.ecn.reduces(ack, self.sender.sent()) && self.sender.on_marked(now) {
            self.statistics.ecn_reductions += 1;
        }
    }

    /// An acknowledgement of `acked` new bytes says how many packets were marked.
    fn handle_marks(&mut self, segment: &Segment, acked: u64, now: Instant) {
        let size = u64::from(self.sender.segment()).max(1);
        let marked = self.ecn.marked(segment, acked.div_ceil(size));
        if self.sender.on_marks(acked, marked * size, now) {
            self.statistics.ecn_reductions += 1;
        }
    }

    /// The round trip that a segment's timestamp tells.
    fn echoed(&self, segment: &Segment, now: Instant) -> Option<Duration> {
        self.clock.and(segment.options.timestamps()).and_then(|stamps| timestamps::round_trip(stamps.echo, now))
    }

    /// Whether a segment that occupies `len` has a timestamp that is not old, if timestamps are in use (RFC 7323, sections
    /// 3.2 and 5.3).
    fn is_in_time(&mut self, segment: &Segment, len: u64, now: Instant) -> bool {
        let Some(clock) = self.clock else { return true };
        let old = segment.options.timestamps().map(|stamps| clock.is_old(stamps.value, now));
        if old == Some(false) {
            return true;
        }
        self.statistics.unacceptable += 1;
        match (old, len) {
            (None, _) => {}
            (Some(_), 0) => self.challenge(now),
            (Some(_), _) => self.receiver.pending = PendingAck::Alone,
        }
        false
    }

    /// New positions were acknowledged: moves the state, and tells a user who waits for room.
    fn on_acked(&mut self, before: u64, ack: u64, now: Instant) {
        if self.state == State::SynReceived {
            self.establish();
        }
        let fin_acked = self.sender.is_finished();
        // Neither SYN nor FIN is payload.
        self.statistics.bytes_acknowledged += ack - before - u64::from(before == 0) - u64::from(fin_acked);
        if self.blocked && self.sender.space() > 0 {
            self.blocked = false;
            self.events.writable = true;
        }
        if fin_acked {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.close(CloseReason::Finished),
                _ => {}
            }
        }
    }

    fn handle_text(&mut self, segment: &Segment, start: i64, fin: bool, now: Instant) {
        let received = self.receiver.on_text(start, segment.payload_len.into(), fin, now);
        self.statistics.bytes_received += received.readable;
        self.statistics.out_of_order += u64::from(received.out_of_order);
        self.statistics.out_of_order_dropped += u64::from(received.dropped);
        self.statistics.duplicate_segments += u64::from(received.duplicate);
        self.events.readable |= received.readable > 0 || received.finished;
        if received.finished {
            match self.state {
                State::Established => self.state = State::CloseWait,
                // The own FIN is not acknowledged, or the state would be FIN-WAIT-2.
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }

    /// An acknowledgement that lets an honest peer sort itself out, rationed (RFC 5961, sections 3 to 5 and 7).
    pub(super) fn challenge(&mut self, now: Instant) {
        let (since, count) = &mut self.challenges;
        if now.saturating_since(*since) >= CHALLENGE_INTERVAL || *count == 0 {
            (*since, *count) = (now, 0);
        }
        if *count < CHALLENGES {
            *count += 1;
            self.receiver.pending = PendingAck::Alone;
        }
    }
}
