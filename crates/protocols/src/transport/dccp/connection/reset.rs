//! Answers to packets that prove nothing: Resets and Syncs, in limited number.

use hopcast_wire::dccp::{self, Body, Options, PacketType, ResetCode};

use super::super::{Packet, Payload};
use super::departure::octets;
use super::{Connection, Reply, State};
use crate::time::{Duration, Instant};

/// The most Syncs and Resets in a second in answer to packets that prove nothing (sections 7.5.4 and 8.1.3).
const ANSWERS: u32 = 8;
const ANSWERS_INTERVAL: Duration = Duration::from_secs(1);

impl Connection {
    /// A Reset for a packet that belongs to no connection, or not to this one.
    pub(super) fn answer_with_reset(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) {
        self.statistics.unacceptable += 1;
        if view.packet_type() != PacketType::Reset && self.may_answer(now) {
            self.stray_reset = Some(reset_of(view));
        }
    }

    pub(super) fn send_sync(&mut self, about: u64, now: Instant) {
        if matches!(self.state, State::Request | State::Listen) || !self.may_answer(now) {
            return;
        }
        self.reply = Some(Reply::Sync { about });
    }

    /// Whether a packet that proves nothing may be answered (section 7.5.4).
    pub(super) fn may_answer(&mut self, now: Instant) -> bool {
        let (since, count) = &mut self.answers;
        if now.saturating_since(*since) >= ANSWERS_INTERVAL || *count == 0 {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= ANSWERS
    }
}

/// The Reset that answers a packet for which there is no connection; none for a Reset, nor for what is no packet (RFC 4340,
/// section 8.3.1).
#[must_use = "the reset is to be sent"]
pub fn reset_for(packet: &Packet) -> Option<Packet> {
    let view = dccp::Packet::new_checked(&packet.header[..]).ok()?;
    (view.packet_type() != PacketType::Reset).then(|| reset_of(&view))
}

/// The Reset that answers any packet.
fn reset_of(view: &dccp::Packet<&[u8]>) -> Packet {
    let repr = dccp::Repr {
        source_port: view.destination_port(),
        destination_port: view.source_port(),
        ccval: 0,
        checksum_coverage: 0,
        extended: true,
        // One more than the peer has acknowledged, so that it lies in the peer's window.
        sequence: view.acknowledgement().map_or(0, |acknowledged| acknowledged + 1),
        body: Body::Reset { acknowledgement: view.sequence(), code: ResetCode::NoConnection, data: [0; 3] },
        options: Options::NONE,
        payload_len: 0,
    };
    Packet { header: octets(&repr), payload: Payload::default() }
}
