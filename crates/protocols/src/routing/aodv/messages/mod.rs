//! Messages: what each that arrives does, and how they are sent.

mod error;
mod hello;
pub(super) mod rate_limit;
mod reply;
mod request;

use hopcast_wire::aodv::Repr;

use super::Aodv;
use crate::routing::{Message, NextHop, Output, Packet};
use crate::time::{Duration, Instant};

impl Aodv {
    /// A message has arrived. Returns whether it may have changed a timer.
    #[inline]
    pub(super) fn handle_octets(&mut self, packet: &Packet<'_>, now: Instant) -> bool {
        let Some(from) = packet.from.filter(|from| self.is_node(from.address)) else { return false };
        self.neighbours.handle_sign(from, now);
        match Repr::parse(packet.octets) {
            Ok(Repr::Request(request)) => return self.handle_request(&request, from, packet.ttl, now),
            Ok(Repr::Reply(reply)) if packet.destination == self.address => self.handle_reply(&reply, from, now),
            Ok(Repr::Reply(hello)) => self.handle_hello(&hello, from, now),
            Ok(Repr::Error(error)) => self.handle_error(&error, from, now),
            Ok(Repr::Acknowledgement) => self.blacklist.acknowledge(from),
            Err(_) => {}
        }
        true
    }

    /// Sends a message to a neighbour.
    pub(super) fn send(&mut self, hop: NextHop, message: &Repr<'_>) {
        self.outputs.push_back(Output::Send(Message::to(hop, message.to_octets())));
    }

    /// Sends a message to all neighbours, which shows them that this node is there.
    pub(super) fn broadcast(&mut self, message: Message, now: Instant) {
        self.last_broadcast = Some(now);
        self.outputs.push_back(Output::Send(message));
    }

    /// Sends a message to all neighbours once its jitter has passed.
    pub(super) fn broadcast_with_jitter(&mut self, message: Message, now: Instant) {
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        if jitter == Duration::ZERO {
            return self.broadcast(message, now);
        }
        let at = now + jitter;
        let place = self.delayed.partition_point(|(later, _)| *later > at);
        self.delayed.insert(place, (at, message));
    }
}
