//! Route requests (RREQ): originating, answering, passing on (RFC 3561, sections 6.3, 6.5 and 6.6).

use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::aodv::{Extensions, Repr, RequestFlags, RequestRepr};

use super::super::Aodv;
use super::super::table::sequence::Sequence;
use super::super::table::{Offer, Route};
use crate::routing::{Message, NextHop};
use crate::time::Instant;

impl Aodv {
    /// Sends the requests that may be sent now.
    pub(in crate::routing::aodv) fn send_requests(&mut self, now: Instant) {
        if self.silent_until.is_some() {
            return;
        }
        while let Some((destination, ttl)) = self.discoveries.poll_request(&self.config, now) {
            self.send_request(destination, ttl, now);
        }
    }

    fn send_request(&mut self, destination: Ipv4Addr, ttl: u8, now: Instant) {
        self.sequence = self.sequence.next();
        self.request_id = self.request_id.wrapping_add(1);
        let mut flags = RequestFlags::NONE;
        if self.config.gratuitous_reply {
            flags = flags | RequestFlags::GRATUITOUS;
        }
        if self.config.destination_only {
            flags = flags | RequestFlags::DESTINATION_ONLY;
        }
        let known = self.table.get(destination).and_then(|route| route.sequence);
        if known.is_none() {
            flags = flags | RequestFlags::UNKNOWN_SEQUENCE;
        }
        let request = RequestRepr {
            flags,
            hop_count: 0,
            id: self.request_id,
            destination,
            destination_sequence: known.map_or(0, |sequence| sequence.0),
            originator: self.address,
            originator_sequence: self.sequence.0,
            extensions: if self.config.pads_requests { Extensions::PADDING } else { Extensions::NONE },
        };
        let message = to_all(&request, ttl);
        if self.config.asks_at_once() {
            self.broadcast(message, now);
        } else {
            // Nodes that look for routes at one instant would do so each time, and none would hear the others.
            self.broadcast_with_jitter(message, now);
        }
    }

    /// Returns whether it may have changed something: mostly it is known.
    pub(in crate::routing::aodv) fn handle_request(
        &mut self,
        request: &RequestRepr<'_>,
        from: NextHop,
        ttl: u8,
        now: Instant,
    ) -> bool {
        let (originator, destination) = (request.originator, request.destination);
        let is_understood = !request.extensions.iter().any(|extension| extension.kind.is_mandatory());
        let is_sound = is_understood && (self.is_node(destination) || destination == self.address);
        if !is_sound || self.blacklist.contains(from, now) {
            return false;
        }
        let is_new_neighbour = self.update_neighbour(from, now);
        // A request of this node itself has come back, or one that cannot be counted further.
        let Some(hops) = request.hop_count.checked_add(1).filter(|_| self.is_node(originator)) else {
            return is_new_neighbour;
        };
        if !self.seen.is_new(originator, request.id, now) {
            return is_new_neighbour;
        }
        self.handle_new_request(request, hops, from, ttl, now);
        true
    }

    /// A request that came over this number of `hops` has come for the first time.
    fn handle_new_request(&mut self, request: &RequestRepr<'_>, hops: u8, from: NextHop, ttl: u8, now: Instant) {
        let (originator, destination) = (request.originator, request.destination);
        let Some(reverse) = self.learn_reverse_route(request, hops, from, now) else { return };
        if destination == self.address {
            if !request.flags.contains(RequestFlags::UNKNOWN_SEQUENCE) {
                self.sequence = self.sequence.or_newer(Sequence(request.destination_sequence));
            }
            if self.config.is_ns2() {
                // Each of its replies is newer than all before.
                self.sequence = self.sequence.next();
            }
            self.send_reply(destination, originator, reverse, now);
            return;
        }
        if self.silent_until.is_some() {
            return;
        }
        if self.can_reply(request, from) {
            self.reply_for_destination(request, from, reverse, now);
        } else if ttl > 1 {
            self.pass_on(request, hops, ttl - 1, now);
        }
    }

    /// Takes the route back to the originator over, and makes it last for a reply; its next hop, if there is a valid route.
    fn learn_reverse_route(
        &mut self,
        request: &RequestRepr<'_>,
        hops: u8,
        from: NextHop,
        now: Instant,
    ) -> Option<NextHop> {
        let originator = request.originator;
        let minimal = now + self.config.reverse_route_lifetime(hops);
        let expires = self.table.valid(originator).map_or(minimal, |route| route.expires().max(minimal));
        let sequence = Sequence(request.originator_sequence);
        if self.table.adopt(&Offer { destination: originator, sequence, hops, hop: from, expires }, now) {
            self.handle_route(originator, now);
        }
        let hop = self.table.valid(originator)?.hop;
        if hop == from {
            self.table.extend(originator, minimal, now);
        }
        Some(hop)
    }

    /// Whether this node may reply for the destination (section 6.6): with a valid route that is as new as the request wants it,
    /// and does not lead back to who asks.
    fn can_reply(&self, request: &RequestRepr<'_>, from: NextHop) -> bool {
        let Some((route, sequence)) = self.table.numbered(request.destination) else { return false };
        let is_new = request.flags.contains(RequestFlags::UNKNOWN_SEQUENCE)
            || sequence.is_at_least(Sequence(request.destination_sequence));
        is_new && route.hop != from && !request.flags.contains(RequestFlags::DESTINATION_ONLY)
    }

    /// Replies as an intermediate node, and tells the destination of the originator if it wants so (sections 6.6.2, 6.6.3).
    fn reply_for_destination(&mut self, request: &RequestRepr<'_>, from: NextHop, reverse: NextHop, now: Instant) {
        let (originator, destination) = (request.originator, request.destination);
        let Some(forward) = self.table.valid(destination).map(|route| route.hop) else { return };
        if let Some(precursors) = self.table.precursors_mut(destination) {
            precursors.add(from);
        }
        if let Some(precursors) = self.table.precursors_mut(originator) {
            precursors.add(forward);
        }
        self.send_reply(destination, originator, reverse, now);
        if request.flags.contains(RequestFlags::GRATUITOUS) {
            self.send_reply(originator, destination, forward, now);
        }
    }

    /// Passes a request on, with the newest number of the destination that is known so far (section 6.5).
    fn pass_on(&mut self, request: &RequestRepr<'_>, hop_count: u8, ttl: u8, now: Instant) {
        let mut request = RequestRepr { hop_count, ..*request };
        if let Some(Route { sequence: Some(own), .. }) = self.table.get(request.destination) {
            let is_unknown = request.flags.contains(RequestFlags::UNKNOWN_SEQUENCE);
            let told = Sequence(request.destination_sequence);
            request.destination_sequence = if is_unknown { own.0 } else { own.or_newer(told).0 };
            request.flags = request.flags.without(RequestFlags::UNKNOWN_SEQUENCE);
        }
        self.broadcast_with_jitter(to_all(&request, ttl), now);
    }
}

/// A request to all neighbours, with this time to live.
fn to_all(request: &RequestRepr<'_>, ttl: u8) -> Message {
    let octets: Arc<[u8]> = Repr::Request(*request).to_octets().into();
    Message { ttl, ..Message::to_neighbours(octets) }
}
