//! Route Replies (RFC 4728, 8.2.3 to 8.2.5).

use std::net::Ipv4Addr;

use hopcast_wire::dsr::{Addresses, DsrOption, MAX_ADDRESSES_OF_REPLY, RouteReply};

use super::super::header::{Header, nodes_of};
use super::super::table::has_duplicates;
use super::super::timers::{Key, Timer, after};
use super::super::{Dsr, Rules};
use crate::routing::{NextHop, Packet};
use crate::time::{Duration, Instant};

/// A Route Reply from the cache that waits for others to be faster (8.2.5).
#[derive(Debug)]
pub(in crate::routing::dsr) struct CachedReply {
    /// The route, without the initiator.
    route: Vec<Ipv4Addr>,
    /// The nodes to the initiator.
    back: Vec<Ipv4Addr>,
    timer: Key,
}

#[cfg(test)]
impl CachedReply {
    pub(in crate::routing::dsr) fn size(&self) -> usize {
        self.route.len() + self.back.len()
    }
}

impl Dsr {
    /// How long a Route Reply waits that this node sends about other nodes. ns-2 delays those of the target alone.
    pub(in crate::routing::dsr) fn jitter_of_offer(&mut self) -> Duration {
        match self.config.rules {
            Rules::Rfc4728 => self.random.duration_below(self.config.broadcast_jitter),
            Rules::Ns2 => Duration::ZERO,
        }
    }

    /// Route Replies to this node, what they say of links being known already.
    pub(in crate::routing::dsr) fn on_replies(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: NextHop,
        now: Instant,
    ) {
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

    /// Whether the request, which has passed these nodes, is answered from the cache (8.2.3).
    pub(super) fn reply_from_cache(&mut self, passed: &[Ipv4Addr], target: Ipv4Addr, now: Instant) -> bool {
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

    /// No other reply has made this one unnecessary.
    pub(in crate::routing::dsr) fn on_reply_delay_over(&mut self, initiator: Ipv4Addr, target: Ipv4Addr, now: Instant) {
        if let Some(reply) = self.cached_replies.remove(&(initiator, target)) {
            self.send_reply(&reply.route, &reply.back, Duration::ZERO, now);
        }
    }

    /// A packet was seen: if its source has a route as good as this node's, it needs no other (8.2.5).
    pub(in crate::routing::dsr) fn on_data_seen(&mut self, packet: &Packet<'_>, header: &Header<'_>) {
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
    pub(in crate::routing::dsr) fn send_reply(
        &mut self,
        route: &[Ipv4Addr],
        back: &[Ipv4Addr],
        delay: Duration,
        now: Instant,
    ) {
        if route.len() > MAX_ADDRESSES_OF_REPLY {
            return;
        }
        self.on_reply_sent(back, now);
        let reply = RouteReply { last_hop_external: false, addresses: Addresses::List(route) };
        if let Some(message) = self.message_along(back, vec![DsrOption::RouteReply(reply)], 0) {
            self.send_after(delay, message, now);
        }
    }
}
