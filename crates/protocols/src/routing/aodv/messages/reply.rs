//! Route replies (RREP): sending and passing on (RFC 3561, sections 6.6 to 6.8).

use std::net::Ipv4Addr;

use hopcast_wire::aodv::{ReplyFlags, ReplyRepr, Repr};

use super::super::Aodv;
use super::super::table::sequence::Sequence;
use super::super::table::{Offer, Route};
use crate::routing::NextHop;
use crate::time::{Duration, Instant};

impl Aodv {
    /// Tells `originator` of this node's route to `destination`, or of this node itself, over the neighbour `hop`.
    ///
    /// The reply says what the table holds, whether it is a reply passed on or one of this node: who takes it over ranks below
    /// this node, whatever has changed since the reply was made.
    pub(in crate::routing::aodv) fn send_reply(
        &mut self,
        destination: Ipv4Addr,
        originator: Ipv4Addr,
        hop: NextHop,
        now: Instant,
    ) {
        if self.silent_until.is_some() {
            return;
        }
        let (sequence, hop_count, lifetime) = if destination == self.address {
            (self.sequence, 0, self.config.my_route_timeout())
        } else {
            let Some((route, sequence)) = self.table.numbered(destination) else { return };
            (sequence, route.hops, route.expires().saturating_since(now))
        };
        let told = milliseconds(lifetime);
        if told == 0 {
            return;
        }
        let flags = if self.config.reply_acknowledgement { ReplyFlags::ACKNOWLEDGE } else { ReplyFlags::NONE };
        let reply = ReplyRepr {
            flags,
            prefix_size: 0,
            hop_count,
            destination,
            destination_sequence: sequence.0,
            originator,
            lifetime: told,
            extensions: Default::default(),
        };
        self.send(hop, &Repr::Reply(reply));
        self.table.mark_answered(originator);
        if flags.contains(ReplyFlags::ACKNOWLEDGE) {
            self.blacklist.await_acknowledgement(hop, now);
        }
        // Section 6.7: the route by which a reply goes is needed for a while.
        let until = now + self.config.active_route_timeout;
        self.table.extend(originator, until, now);
        // Who takes over what it tells watches for hellos for as long.
        self.activate(until.max(now + lifetime), now);
    }

    pub(in crate::routing::aodv) fn handle_reply(&mut self, reply: &ReplyRepr<'_>, from: NextHop, now: Instant) {
        if reply.extensions.iter().any(|extension| extension.kind.is_mandatory()) {
            return;
        }
        self.update_neighbour(from, now);
        if reply.flags.contains(ReplyFlags::ACKNOWLEDGE) && self.silent_until.is_none() {
            self.send(from, &Repr::Acknowledgement);
        }
        let (destination, originator) = (reply.destination, reply.originator);
        // A subnet's number is not that of one of its hosts.
        let is_sound = self.is_node(destination) && reply.prefix_size == 0 && reply.lifetime > 0;
        let Some(hops) = reply.hop_count.checked_add(1).filter(|_| is_sound) else { return };
        let sequence = Sequence(reply.destination_sequence);
        let expires = now + Duration::from_millis(reply.lifetime.into());
        let is_new = self.table.adopt(&Offer { destination, sequence, hops, hop: from, expires }, now);
        let is_its = |(route, own): (&Route, Sequence)| route.hop == from && own == sequence;
        let is_taken = self.table.numbered(destination).is_some_and(is_its);
        if is_new {
            if originator == self.address {
                self.discoveries.handle_reply(destination, hops, now);
            }
            self.handle_route(destination, now);
        } else if is_taken {
            self.table.extend(destination, expires, now);
        }
        let until = now + self.config.active_route_timeout;
        let taken = self.table.valid(destination).filter(|_| is_taken).map(Route::expires);
        self.activate(taken.map_or(until, |expires| expires.max(until)), now);
        if originator != self.address {
            self.pass_reply_on(destination, originator, from, is_new, now);
        }
    }

    /// Passes a reply on towards who asked for it, with the route of this node, be it the one of the reply or a better one.
    ///
    /// A reply that has brought nothing new is passed on if it is the first one to the request: who asked may know no route.
    fn pass_reply_on(
        &mut self,
        destination: Ipv4Addr,
        originator: Ipv4Addr,
        from: NextHop,
        is_new: bool,
        now: Instant,
    ) {
        let Some(back) = self.table.valid(originator) else { return };
        let reverse = back.hop;
        if reverse == from || !is_new && back.is_answered {
            return;
        }
        let Some(forward) = self.table.numbered(destination).map(|(route, _)| route.hop) else { return };
        for used in [destination, forward.address] {
            if let Some(precursors) = self.table.precursors_mut(used) {
                precursors.add(reverse);
            }
        }
        self.send_reply(destination, originator, reverse, now);
    }
}

/// Whole milliseconds, as many as fit.
pub(super) fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
}
