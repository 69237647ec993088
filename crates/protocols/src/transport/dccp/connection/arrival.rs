//! Arrival of a packet (RFC 4340, section 8.5, by its steps).

use hopcast_wire::dccp::{self, PacketType, ResetCode};

use super::super::Payload;
use super::super::sequence::{Peer, first, unroll};
use super::{CloseReason, Connection, Reply, State};
use crate::time::Instant;

impl Connection {
    pub(super) fn handle_view(&mut self, view: &dccp::Packet<&[u8]>, payload: Payload, now: Instant) {
        self.statistics.packets_received += 1;
        // Step 1, what the view has not checked: short numbers were never allowed.
        if !view.is_extended() {
            self.statistics.unacceptable += 1;
            return;
        }
        let kind = view.packet_type();
        let Some(first) = self.admit(view, now) else { return };
        let sequence = unroll(view.sequence(), self.peer.greatest);
        let acknowledged = view.acknowledgement().map(|number| unroll(number, self.own.greatest()));
        let newest = first || sequence > self.peer.greatest;
        if !self.check_sequence(kind, sequence, acknowledged, now) {
            self.statistics.unacceptable += 1;
            return;
        }
        // Step 7.
        if self.is_unexpected(kind, sequence) {
            self.statistics.unacceptable += 1;
            self.send_sync(sequence, now);
            return;
        }
        if newest {
            self.arrived = now;
        }
        // Step 8.
        let read = match self.read_options(view, newest, now) {
            Ok(read) => read,
            Err((code, data)) => {
                self.fail(CloseReason::Refused(code), code, data);
                return;
            }
        };
        // Step 9.
        if kind == PacketType::Reset {
            self.handle_reset(view, now);
            return;
        }
        self.advance(kind, sequence, acknowledged, now);
        if self.state == State::Closed {
            return;
        }
        if self.handle_end(kind, sequence, now) {
            return;
        }
        self.handle_content(kind, sequence, acknowledged, payload, view.ccval(), &read, now);
    }

    /// Steps 2 to 4: whether the packet is the first of the peer, in a state that takes one. `None`: it belongs to another connection.
    fn admit(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) -> Option<bool> {
        let kind = view.packet_type();
        match self.state {
            // Step 2.
            State::Closed | State::TimeWait => self.answer_with_reset(view, now),
            // Step 3.
            State::Listen if kind != PacketType::Request => self.answer_with_reset(view, now),
            State::Listen => return self.take_request(view, now).then_some(true),
            // Step 4.
            State::Request => {
                let acknowledged = unroll(view.acknowledgement().unwrap_or(0), self.own.greatest());
                let expected = matches!(kind, PacketType::Response | PacketType::Reset);
                if expected && self.own.is_valid(acknowledged, 0) {
                    self.peer = Peer::new(view.sequence());
                    return Some(true);
                }
                self.statistics.unacceptable += 1;
                if kind != PacketType::Reset && self.may_answer(now) {
                    let about = first(view.sequence());
                    self.reply = Some(Reply::Reset { about, code: ResetCode::PacketError, data: [kind.into(), 0, 0] });
                }
            }
            _ => return Some(false),
        }
        None
    }

    /// Steps 5 and 6: whether the numbers are valid. Updates GSR and GAR if they are, answers with a Sync if not.
    fn check_sequence(&mut self, kind: PacketType, sequence: u64, acknowledged: Option<u64>, now: Instant) -> bool {
        let is_sync = matches!(kind, PacketType::Sync | PacketType::SyncAck);
        if is_sync {
            let valid = acknowledged.is_some_and(|number| self.own.is_valid(number, 0)) && sequence >= self.peer.low();
            if !valid {
                return false;
            }
            self.peer.greatest = self.peer.greatest.max(sequence);
        }
        // What ends a connection must be newer than all before.
        let ends = matches!(kind, PacketType::CloseReq | PacketType::Close | PacketType::Reset);
        let (least, least_acknowledged) =
            if ends && self.state != State::Request { (self.peer.greatest + 1, self.own.acknowledged) } else { (0, 0) };
        let valid = self.peer.is_valid(sequence, least)
            && acknowledged.is_none_or(|number| self.own.is_valid(number, least_acknowledged));
        if valid {
            self.peer.greatest = self.peer.greatest.max(sequence);
            if kind != PacketType::Sync {
                self.own.acknowledged = self.own.acknowledged.max(acknowledged.unwrap_or(0));
            }
        } else {
            // A Reset that is not valid says nothing about the peer's numbers.
            let about = if kind == PacketType::Reset { self.peer.greatest } else { sequence };
            self.send_sync(about, now);
        }
        valid
    }

    /// Step 7.
    fn is_unexpected(&self, kind: PacketType, sequence: u64) -> bool {
        let open = matches!(self.state, State::Open | State::CloseReq | State::Closing);
        match kind {
            PacketType::CloseReq | PacketType::Response if self.server => true,
            PacketType::Request if !self.server => true,
            PacketType::Request | PacketType::Response => open && sequence >= self.opened_by,
            PacketType::Data => self.state == State::Respond,
            _ => false,
        }
    }

    /// Steps 13 to 15: what ends the connection, and Syncs. Whether the connection is closed.
    fn handle_end(&mut self, kind: PacketType, sequence: u64, now: Instant) -> bool {
        match kind {
            PacketType::CloseReq if self.sends_data() => {
                self.queue.clear();
                self.reply = Some(Reply::Close);
                self.state = State::Closing;
                self.timers = self.closing_timers(now);
            }
            PacketType::Close => {
                self.reply = Some(Reply::Reset { about: sequence, code: ResetCode::Closed, data: [0; 3] });
                self.close(CloseReason::Finished);
                return true;
            }
            PacketType::Sync => {
                self.reply = Some(Reply::SyncAck { about: sequence });
                if let (State::CloseReq | State::Closing, Some((due, _))) = (self.state, &mut self.timers.repeat) {
                    // Mostly the answer to a Close that was out of the peer's window, as the next one after the SyncAck won't be.
                    *due = now;
                }
            }
            PacketType::SyncAck => self.sender.handle_probe_reply(now),
            _ => {}
        }
        false
    }
}
