//! Data packets: the route that each takes, and the routes that it keeps alive (RFC 3561, section 6.2).

use super::Aodv;
use crate::routing::{Forward, NextHop, Packet, Verdict};
use crate::time::Instant;

impl Aodv {
    /// What to do with a packet with data: a decision made when it comes, and again when it could not be sent.
    pub(super) fn decide(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict {
        let destination = packet.destination;
        let is_own = packet.from.is_none() && packet.source == self.address;
        if !self.is_node(destination) {
            return Verdict::Drop;
        }
        if let Some(until) = &mut self.silent_until
            && !is_own
        {
            *until = now + self.config.delete_period();
            self.report_unreachable(packet, now);
            return Verdict::Drop;
        }
        if let Some(hop) = self.table.valid(destination).map(|route| route.hop) {
            self.use_route(packet, hop, now);
            return Verdict::Forward(Forward::to(hop));
        }
        self.table.remember(destination, now);
        if is_own {
            let hops = self.table.get(destination).map(|route| route.hops);
            self.discoveries.search(destination, hops, &self.config);
            self.send_requests(now);
            return Verdict::Wait;
        }
        if self.discoveries.join_repair(destination) {
            return Verdict::Wait;
        }
        if self.start_repair(packet, now) {
            self.send_requests(now);
            return Verdict::Wait;
        }
        self.report_unreachable(packet, now);
        Verdict::Drop
    }

    /// A packet is sent over a route: what it uses stays valid (RFC 3561, section 6.2), and to ns-2 no more than the route.
    pub(super) fn use_route(&mut self, packet: &Packet<'_>, hop: NextHop, now: Instant) {
        let until = now + self.config.active_route_timeout;
        self.table.extend(packet.destination, until, now);
        if !self.config.is_ns2() {
            self.extend_neighbour(hop, until, now);
        }
        self.use_reverse_route(packet, now);
    }

    /// A packet has come: the route back to its source stays valid if it leads back the same way. Over another neighbour it
    /// would outlive what that neighbour remembers.
    pub(super) fn use_reverse_route(&mut self, packet: &Packet<'_>, now: Instant) {
        let until = now + self.config.active_route_timeout;
        self.activate(until, now);
        let Some(from) = packet.from.filter(|_| !self.config.is_ns2()) else { return };
        match self.table.valid(packet.source) {
            Some(route) if route.hop == from => self.table.extend(packet.source, until, now),
            Some(_) => {}
            None => self.table.remember(packet.source, now),
        }
        self.extend_neighbour(from, until, now);
    }

    pub(super) fn extend_neighbour(&mut self, neighbour: NextHop, until: Instant, now: Instant) {
        if self.table.valid(neighbour.address).is_some_and(|route| route.hop == neighbour) {
            self.table.extend(neighbour.address, until, now);
        }
    }
}
