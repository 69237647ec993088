//! From one state to the next (RFC 9293, section 3.3.2).

use super::super::congestion::Reno;
use super::super::segment::Sequence;
use super::super::timestamps::{self, PeerClock};
use super::super::{LossRecovery, Options, Segment};
use super::{CloseReason, Connection, State};
use crate::time::Instant;

use hopcast_wire::ecn::Ecn;

/// MSS of a peer that does not state one (RFC 9293, section 3.7.1, for IPv4).
const DEFAULT_MSS: u32 = 536;
/// Largest shift that is honoured (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

impl Connection {
    pub(super) fn handle_reset(&mut self) {
        match self.state {
            State::SynReceived if self.passive => self.relisten(),
            State::SynReceived => self.close(CloseReason::Refused),
            State::Closing | State::LastAck | State::TimeWait => self.close(CloseReason::Finished),
            _ => self.close(CloseReason::Reset),
        }
    }

    /// The peer's SYN: its numbers, its options, its window, which is never scaled here.
    pub(super) fn take_syn(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        let options = &segment.options;
        self.peer = Sequence::new(segment.seq);
        self.peer_shift = options.window_scale().map(|shift| shift.min(MAX_SHIFT));
        let stamps = options.timestamps().filter(|_| self.config.timestamps);
        self.clock = stamps.map(|stamps| PeerClock::new(stamps.value, now));
        let sack = self.wants_sack() && options.is_sack_permitted();
        self.receiver.on_syn(self.peer_shift.is_some(), sack);
        self.sender.negotiate_sack(sack);
        self.ecn.on_syn(segment.flags, ecn);
        if stamps.is_some() {
            self.sender.rtt.set_granularity(timestamps::TICK);
        }
        self.sender.limit_segment(options.mss().map_or(DEFAULT_MSS, u32::from), Options::new(stamps).octets());
        self.offered = u64::from(segment.window);
        self.window_from = (0, 0);
        self.sender.set_window(self.offered);
    }

    pub(super) fn establish(&mut self) {
        self.state = State::Established;
        self.sender.on_established();
        self.events.connected = true;
        if self.closing {
            self.finish();
        }
    }

    pub(super) fn finish(&mut self) {
        self.sender.finish();
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    pub(super) fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.time_wait = Some(now + self.config.time_wait);
    }

    pub(super) fn close(&mut self, reason: CloseReason) {
        self.state = State::Closed;
        self.time_wait = None;
        self.events.closed = Some(reason);
    }

    /// Back to LISTEN, after a connection that came to nothing. Its congestion control has not heard of anything yet, nor has the
    /// user (RFC 9293, section 3.10.7.4): what was written is for the next one, and a close that waited for this one takes place.
    pub(super) fn relisten(&mut self) {
        if self.closing {
            self.close(CloseReason::Aborted);
            return;
        }
        let written = self.config.send_buffer - self.sender.space();
        let congestion = core::mem::replace(&mut self.sender.congestion, Box::new(Reno::new()));
        let fresh = Self::listen_with(self.config.clone(), self.own.number(0), congestion);
        *self = Self { blocked: self.blocked, statistics: self.statistics, ..fresh };
        self.sender.write(written);
    }

    pub(super) fn wants_sack(&self) -> bool {
        self.config.variant.loss_recovery() == LossRecovery::Sack
    }
}
