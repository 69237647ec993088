//! The end of a connection (RFC 4340, section 8.3).

use hopcast_wire::checksum::Policy;
use hopcast_wire::dccp::{self, Body, ResetCode};

use super::super::Config;
use super::super::sequence::number;
use super::handshake::HANDSHAKE_LIMIT;
use super::{CloseReason, Connection, LONGEST_INTERVAL, Reply, State, Timers};
use crate::time::{Duration, Instant};

/// First interval between two Closes while the round-trip time is unknown: two of RFC 4340's default (sections 8.3, 3.4).
const FIRST_CLOSE: Duration = Duration::from_millis(400);

impl Connection {
    pub(super) fn handle_reset(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) {
        let nobody = core::net::Ipv4Addr::UNSPECIFIED;
        let repr = dccp::Repr::parse(view, nobody, nobody, Policy::Ignore);
        let code = match repr.map(|repr| repr.body) {
            Ok(Body::Reset { code, .. }) => code,
            _ => ResetCode::Unspecified,
        };
        if self.state == State::Respond {
            *self = self.relisten();
            return;
        }
        let finished = code == ResetCode::Closed && matches!(self.state, State::Closing | State::CloseReq);
        let opening = self.state == State::Request;
        self.close(if finished { CloseReason::Finished } else { CloseReason::Reset(code) });
        if !opening {
            self.state = State::TimeWait;
            self.timers.give_up = Some(now + self.config.time_wait);
        }
    }

    /// Closes as soon as the queue is empty.
    pub(super) fn finish(&mut self, now: Instant) {
        if !self.queue.is_empty() || !self.sends_data() {
            return;
        }
        let (state, reply) =
            if self.server { (State::CloseReq, Reply::CloseReq) } else { (State::Closing, Reply::Close) };
        self.state = state;
        self.reply = Some(reply);
        self.timers = self.closing_timers(now);
    }

    /// A Close is repeated after two round trips (section 8.3).
    pub(super) fn closing_timers(&self, now: Instant) -> Timers {
        let interval = self.sender.tfrc().rtt().map_or(FIRST_CLOSE, |rtt| rtt.saturating_add(rtt));
        Timers::start(interval.clamp(Duration::from_millis(1), LONGEST_INTERVAL), HANDSHAKE_LIMIT, now)
    }

    /// Ends the connection with a Reset of this end.
    pub(super) fn fail(&mut self, reason: CloseReason, code: ResetCode, data: [u8; 3]) {
        // Before the Response there is nothing to acknowledge. Should it come, a Reset answers it.
        let tell = self.state != State::Request;
        self.reply = tell.then_some(Reply::Reset { about: self.peer.greatest, code, data });
        self.close(reason);
    }

    pub(super) fn close(&mut self, reason: CloseReason) {
        self.state = State::Closed;
        self.timers = Timers::default();
        self.queue.clear();
        self.sent.clear();
        self.probe = false;
        self.acknowledge = false;
        self.events.connected = false;
        self.events.writable = false;
        self.events.closed = Some(reason);
    }

    /// A fresh connection in LISTEN, after one that came to nothing.
    pub(super) fn relisten(&self) -> Self {
        let config = Config { remote_port: 0, ..self.config.clone() };
        Self { statistics: self.statistics, ..Self::listen(config, number(self.own.greatest() + 1)) }
    }
}
