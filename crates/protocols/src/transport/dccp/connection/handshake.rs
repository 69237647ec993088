//! The handshake (RFC 4340, section 8.1).

use hopcast_wire::dccp::{self, Body, PacketType, ResetCode};

use super::super::sequence::{Peer, first};
use super::{CloseReason, Connection, Reply, State, Timers};
use crate::time::{Duration, Instant};

/// First interval between two Requests (section 8.1.1).
pub(super) const FIRST_REQUEST: Duration = Duration::from_secs(1);
/// How long a client goes on requesting (section 8.1.1).
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(180);
/// First interval between two acknowledgements in PARTOPEN (section 8.1.5).
const FIRST_PARTOPEN: Duration = Duration::from_millis(200);
/// How long a half-open or half-closed connection is kept: four maximum segment lifetimes (sections 8.1.3 and 8.1.5).
pub(super) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(480);

/// A Request or a Response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Greeting {
    pub(super) number: u64,
    /// When it left.
    pub(super) at: Instant,
    /// GSR then.
    pub(super) heard: u64,
}

impl Connection {
    /// Steps 10 to 12: the handshake goes on.
    pub(super) fn advance(&mut self, kind: PacketType, sequence: u64, acknowledged: Option<u64>, now: Instant) {
        let greeted = self.greeting.filter(|greeting| acknowledged == Some(greeting.number));
        match self.state {
            State::Request => {
                self.state = State::PartOpen;
                self.timers = Timers::start(FIRST_PARTOPEN, HANDSHAKE_LIMIT, now);
                self.acknowledge = true;
                self.events.connected = true;
                self.on_handshake(greeted, now);
                if self.closing {
                    self.finish(now);
                }
            }
            State::Respond if kind == PacketType::Request => self.reply = Some(Reply::Response),
            State::Respond => {
                self.opened_by = sequence;
                self.state = State::Open;
                self.timers = Timers::default();
                // The client learns that it is open.
                self.acknowledge = true;
                self.events.connected = true;
                // Only what the client sent first after its Request is an answer at once: in PARTOPEN all that it sends acknowledges
                // the Response, however long ago that came.
                self.on_handshake(greeted.filter(|greeting| sequence == greeting.heard + 1), now);
                if self.closing {
                    self.finish(now);
                }
            }
            State::PartOpen if kind == PacketType::Response => self.acknowledge = true,
            State::PartOpen if kind != PacketType::Sync => {
                self.opened_by = sequence;
                self.state = State::Open;
                self.timers = Timers::default();
            }
            // A client that acknowledges the Response still has seen nothing else.
            State::Open if self.server && kind == PacketType::Ack && greeted.is_some() => self.acknowledge = true,
            _ => {}
        }
    }

    /// The handshake is done; the peer's answer to the greeting times the path.
    fn on_handshake(&mut self, greeted: Option<Greeting>, now: Instant) {
        if let Some(greeting) = greeted {
            let rtt = now.saturating_since(greeting.at);
            if rtt > Duration::ZERO {
                self.sender.on_handshake(rtt);
                self.peer_rtt.on_handshake(rtt);
            }
        }
        if !self.features.are_agreed() {
            self.fail(CloseReason::Refused(ResetCode::OptionError), ResetCode::OptionError, [0; 3]);
        }
    }

    /// Step 3: whether the Request is one to serve.
    pub(super) fn take_request(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) -> bool {
        let nobody = core::net::Ipv4Addr::UNSPECIFIED;
        let Ok(repr) = dccp::Repr::parse(view, nobody, nobody, hopcast_wire::checksum::Policy::Ignore) else {
            return false;
        };
        let Body::Request { service_code } = repr.body else { return false };
        if service_code != self.config.service_code {
            if self.may_answer(now) {
                self.config.remote_port = repr.source_port;
                let about = first(repr.sequence);
                self.reply = Some(Reply::Reset { about, code: ResetCode::BadServiceCode, data: [0; 3] });
            }
            return false;
        }
        self.config.remote_port = repr.source_port;
        self.peer = Peer::new(repr.sequence);
        self.state = State::Respond;
        self.timers = Timers { repeat: None, give_up: Some(now + HANDSHAKE_LIMIT) };
        true
    }
}
