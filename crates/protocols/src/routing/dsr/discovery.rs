//! Route Discovery (RFC 4728, 8.2): Route Requests and Route Replies.

use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::{
    Addresses, DsrOption, MAX_ADDRESSES_OF_REPLY, MAX_ADDRESSES_OF_REQUEST, RouteReply, RouteRequest,
};
use hopcast_wire::ipv4::Protocol;

use super::blacklist::Unidirectional;
use super::cache::has_duplicates;
use super::forwarding::{marked, passed_on};
use super::header::{self, Header, nodes_of};
use super::requests::Discovery;
use super::schedule::{Key, Timer};
use super::{Dsr, Message, NextHop, Output, Packet, Rules, after};
use crate::time::{Duration, Instant};

/// A Route Reply from the cache that waits for others to be faster (8.2.5).
#[derive(Debug)]
pub(super) struct CachedReply {
    /// The route, without the initiator.
    route: Vec<Ipv4Addr>,
    /// The nodes to the initiator.
    back: Vec<Ipv4Addr>,
    timer: Key,
}

#[cfg(test)]
impl CachedReply {
    pub(super) fn size(&self) -> usize {
        self.route.len() + self.back.len()
    }
}

/// A Route Request from a neighbour that may not hear this node (8.2.2).
#[derive(Debug)]
pub(super) struct HeldRequest {
    source: Ipv4Addr,
    ttl: u8,
    from: NextHop,
    octets: Arc<[u8]>,
    timer: Key,
}

impl Dsr {
    /// A packet for `target` waits for a route; whether it is this node's own.
    pub(super) fn seek(&mut self, target: Ipv4Addr, is_own: bool, now: Instant) {
        let until = Some(after(now, self.config.send_buffer_timeout));
        self.searching.insert(target);
        if self.requests.originated.get_mut(&target).is_none()
            && let Some((other, evicted)) = self.requests.originated.insert(target, Discovery::default())
        {
            evicted.timer.into_iter().for_each(|timer| self.schedule.cancel(timer));
            if self.searching.remove(&other) {
                self.outputs.push_back(Output::NotFound(other));
                self.on_search_over();
            }
        }
        let discovery = self.requests.originated.get_mut(&target).expect("it is there by now");
        let is_wanted = discovery.wanted_until.is_some();
        if is_own {
            discovery.wanted_until = until;
        } else {
            discovery.wanted_by_others_until = until;
        }
        // Packets of others have a search of one step.
        if is_own && !is_wanted {
            discovery.timer.take().into_iter().for_each(|timer| self.schedule.cancel(timer));
        }
        if discovery.timer.is_none() {
            self.on_discovery_timeout(target, now);
        }
    }

    /// The next step of a search may be due (4.3, 8.2.1).
    pub(super) fn on_discovery_timeout(&mut self, target: Ipv4Addr, now: Instant) {
        let Some(discovery) = self.requests.originated.get_mut(&target) else { return };
        discovery.timer = None;
        // The driver has dropped what was waiting before.
        discovery.wanted_until = discovery.wanted_until.filter(|&until| now < until);
        discovery.wanted_by_others_until = discovery.wanted_by_others_until.filter(|&until| now < until);
        let next_step = match (discovery.wanted_until, discovery.wanted_by_others_until) {
            (Some(_), _) => discovery.next_step(),
            (None, Some(_)) if discovery.attempts == 0 => discovery.next_nonpropagating,
            (None, Some(until)) => until,
            (None, None) => {
                discovery.attempts_of_search = 0;
                if self.searching.remove(&target) {
                    self.on_search_over();
                }
                return;
            }
        };
        if now < next_step {
            discovery.timer = Some(self.schedule.add(next_step, Timer::Discovery(target)));
            return;
        }
        if discovery.attempts_of_search > self.config.max_request_rexmt {
            (discovery.wanted_until, discovery.wanted_by_others_until) = (None, None);
            discovery.attempts_of_search = 0;
            self.searching.remove(&target);
            self.outputs.push_back(Output::NotFound(target));
            self.on_search_over();
            return;
        }
        let hop_limit = discovery.take_step(&self.config, now);
        discovery.timer = Some(self.schedule.add(discovery.next_step(), Timer::Discovery(target)));
        let message = self.request(target, hop_limit, None, now);
        // As those that are passed on: nodes that look for routes at one instant would do so each time.
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        self.send_after(jitter, message, now);
    }

    /// How long a Route Reply waits that this node sends about other nodes. ns-2 delays those of the target alone.
    pub(super) fn jitter_of_offer(&mut self) -> Duration {
        match self.config.rules {
            Rules::Rfc4728 => self.random.duration_below(self.config.broadcast_jitter),
            Rules::Ns2 => Duration::ZERO,
        }
    }

    /// There is a route to a target that was looked for.
    pub(super) fn on_found(&mut self, target: Ipv4Addr, now: Instant) {
        self.searching.remove(&target);
        if let Some(discovery) = self.requests.originated.get_mut(&target) {
            discovery.timer.take().into_iter().for_each(|timer| self.schedule.cancel(timer));
            *discovery = discovery.over(self.config.rules);
        }
        self.outputs.push_back(Output::Found(target));
        self.on_search_over();
        self.send_parked(target, now);
    }

    /// A Route Request of this node, with what is to be spread about errors (3.4.4) before it, so that nobody answers it from what
    /// the error disproves.
    fn request(&mut self, target: Ipv4Addr, ttl: u8, hop: Option<NextHop>, now: Instant) -> Message {
        let identification = self.requests.next_identification();
        let mut options = Vec::with_capacity(2);
        options.extend(self.error_to_spread(now));
        options.push(DsrOption::RouteRequest(RouteRequest { identification, target, addresses: Addresses::NONE }));
        let octets = header::emit(Protocol::NoNextHeader, &options);
        Message { source: None, destination: Ipv4Addr::BROADCAST, hop, ttl, octets }
    }

    /// A message for this node, what it says of links being known already.
    pub(super) fn on_message(&mut self, packet: &Packet<'_>, header: &Header<'_>, from: NextHop, now: Instant) {
        if let Some(request) = header.route_request().filter(|_| packet.destination.is_broadcast()) {
            return self.on_request(packet, header, request, from, now);
        }
        self.on_replies(packet, header, from, now);
    }

    /// Route Replies to this node, what they say of links being known already.
    pub(super) fn on_replies(&mut self, packet: &Packet<'_>, header: &Header<'_>, from: NextHop, now: Instant) {
        if packet.destination != self.address {
            return;
        }
        for option in &header.options {
            let DsrOption::RouteReply(reply) = option else { continue };
            if reply.addresses.get(0) == Some(from.address) {
                // The request has reached it.
                self.on_heard_by(from, now);
            }
            if let Some(target) = reply.addresses.iter().last()
                && !has_duplicates(&nodes_of(self.address, *reply))
                && let Some(discovery) = self.requests.originated.get_mut(&target)
            {
                discovery.on_reply(self.config.rules);
            }
        }
    }

    /// 8.2.2.
    fn on_request(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        request: RouteRequest<'_>,
        from: NextHop,
        now: Instant,
    ) {
        let RouteRequest { identification, target, addresses } = request;
        let initiator = packet.source;
        let mut passed: Vec<_> = core::iter::once(initiator).chain(addresses.iter()).collect();
        if passed.last() != Some(&from.address) || has_duplicates(&passed) {
            return;
        }
        if passed.contains(&self.address) {
            if passed.len() >= 2 && passed[passed.len() - 2] == self.address {
                // It has heard this node send the request.
                self.on_heard_by(from, now);
            }
            return;
        }
        if target == self.address {
            passed.push(target);
            let back: Vec<_> = passed[..passed.len() - 1].iter().rev().copied().collect();
            let jitter = self.random.duration_below(self.config.broadcast_jitter);
            return self.send_reply(&passed[1..], &back, jitter, now);
        }
        match self.blacklist.state(from.address, now) {
            Some(Unidirectional::Probable) => return,
            Some(Unidirectional::Questionable) => return self.probe(packet, from, now),
            None => {}
        }
        if self.requests.is_seen(initiator, identification, target) {
            return;
        }
        if !self.answer_from_cache(&passed, target, now) && packet.ttl > 1 {
            self.propagate(packet, header, request, now);
        }
    }

    fn propagate(&mut self, packet: &Packet<'_>, header: &Header<'_>, request: RouteRequest<'_>, now: Instant) {
        if request.addresses.len() >= MAX_ADDRESSES_OF_REQUEST {
            return;
        }
        let mut addresses: Vec<_> = request.addresses.iter().collect();
        addresses.push(self.address);
        let marked = marked(&header.options);
        let mut options = passed_on(&header.options, &marked);
        for option in &mut options {
            if let DsrOption::RouteRequest(request) = option {
                request.addresses = Addresses::List(&addresses);
            }
        }
        let octets = header::emit(header.next_header, &options);
        let message = Message {
            source: Some(packet.source),
            destination: Ipv4Addr::BROADCAST,
            hop: None,
            ttl: packet.ttl - 1,
            octets,
        };
        let jitter = self.random.duration_below(self.config.broadcast_jitter);
        self.send_after(jitter, message, now);
    }

    /// Whether the request, which has passed these nodes, is answered from the cache (8.2.3).
    fn answer_from_cache(&mut self, passed: &[Ipv4Addr], target: Ipv4Addr, now: Instant) -> bool {
        let Some(known) = self.cache.search(target, now).filter(|route| !route.is_last_external) else { return false };
        let mut nodes = passed.to_vec();
        nodes.push(self.address);
        nodes.extend(&known.hops);
        if has_duplicates(&nodes) || nodes.len() - 1 > MAX_ADDRESSES_OF_REPLY {
            return false;
        }
        let route = nodes[1..].to_vec();
        let back: Vec<_> = passed.iter().rev().copied().collect();
        if !self.config.promiscuous || self.config.reply_hop_delay == Duration::ZERO {
            let jitter = self.jitter_of_offer();
            self.send_reply(&route, &back, jitter, now);
            return true;
        }
        let key = (passed[0], target);
        // What this initiator has asked before needs no answer any more.
        if let Some(before) = self.cached_replies.remove(&key) {
            self.schedule.cancel(before.timer);
        }
        if self.cached_replies.len() >= self.config.request_table_size {
            return false;
        }
        let share = self.random.duration_below(self.config.reply_hop_delay);
        let delay = (self.config.reply_hop_delay * (route.len() as u64 - 1)).saturating_add(share);
        let timer = self.schedule.add(after(now, delay), Timer::CachedReply(key.0, key.1));
        self.cached_replies.insert(key, CachedReply { route, back, timer });
        true
    }

    /// Nobody has made the reply needless.
    pub(super) fn on_reply_delay_over(&mut self, initiator: Ipv4Addr, target: Ipv4Addr, now: Instant) {
        if let Some(reply) = self.cached_replies.remove(&(initiator, target)) {
            self.send_reply(&reply.route, &reply.back, Duration::ZERO, now);
        }
    }

    /// A packet was seen: if its source has a route as good as this node's, it needs no other (8.2.5).
    pub(super) fn on_data_seen(&mut self, packet: &Packet<'_>, header: &Header<'_>) {
        let key = (packet.source, packet.destination);
        let hops = header.source_route().map_or(1, |route| route.addresses.len() + 1);
        if packet.has_data
            && let Some(reply) = self.cached_replies.get(&key)
            && hops <= reply.route.len()
        {
            self.schedule.cancel(reply.timer);
            self.cached_replies.remove(&key);
        }
    }

    /// Sends a Route Reply with a route over these nodes to the last of those in `back`, the way that it goes (8.2.4).
    pub(super) fn send_reply(&mut self, route: &[Ipv4Addr], back: &[Ipv4Addr], delay: Duration, now: Instant) {
        if route.len() > MAX_ADDRESSES_OF_REPLY {
            return;
        }
        self.on_reply_sent(back, now);
        let reply = RouteReply { last_hop_external: false, addresses: Addresses::List(route) };
        if let Some(message) = self.message_along(back, vec![DsrOption::RouteReply(reply)], 0) {
            self.send_after(delay, message, now);
        }
    }

    /// Asks a neighbour to answer, before its request is believed (8.2.2).
    fn probe(&mut self, packet: &Packet<'_>, from: NextHop, now: Instant) {
        let is_full = self.held_requests.len() >= self.config.request_table_size;
        if is_full || self.held_requests.contains_key(&from.address) {
            return;
        }
        let timer = self.schedule.add(after(now, self.config.nonprop_request_timeout), Timer::Probe(from.address));
        let held = HeldRequest { source: packet.source, ttl: packet.ttl, from, octets: packet.octets.into(), timer };
        self.held_requests.insert(from.address, held);
        let message = self.request(from.address, 1, Some(from), now);
        self.outputs.push_back(Output::Send(message));
    }

    /// A neighbour has shown that it hears this node.
    fn on_heard_by(&mut self, neighbour: NextHop, now: Instant) {
        self.blacklist.remove(neighbour.address);
        let Some(held) = self.held_requests.remove(&neighbour.address) else { return };
        self.schedule.cancel(held.timer);
        let packet = Packet {
            source: held.source,
            destination: Ipv4Addr::BROADCAST,
            ttl: held.ttl,
            from: Some(held.from),
            octets: &held.octets,
            has_data: false,
            protocol: 0,
            identification: 0,
            fragment_offset: 0,
        };
        if let Some(header) = Header::parse(packet.octets, 0) {
            self.learn(&packet, &header, held.from.address, None, now);
            self.on_message(&packet, &header, held.from, now);
        }
    }
}
