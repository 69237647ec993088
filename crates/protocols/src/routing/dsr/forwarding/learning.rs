//! What a packet tells about links (RFC 4728, 3.3.1 and 8.1.4).

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use hopcast_wire::dsr::{DsrOption, RouteReply};
use smallvec::SmallVec;

use super::super::header::{Header, nodes_of};
use super::super::maintenance::buffer::Identity;
use super::super::table::Learned;
use super::super::{Dsr, Rules};
use crate::routing::{NextHop, Packet};
use crate::time::{Duration, Instant};

/// How many source routes are remembered as just learned.
pub(in crate::routing::dsr) const RECENT: usize = 16;
/// How long a source route that was learned is not learned again: MinLifetime (RFC 4728, appendix A), so that no link expires for
/// it.
const RECENT_TIME: Duration = Duration::from_secs(1);

/// Source routes that were learned a moment ago. The packets of a stream say the same thing again and again: looking it up
/// here is much cheaper than telling it to the cache.
#[derive(Debug, Default)]
pub(in crate::routing::dsr) struct Recent {
    /// When, the nodes, and who sent the packet.
    routes: VecDeque<(Instant, Vec<Ipv4Addr>, Ipv4Addr)>,
}

impl Recent {
    /// Whether this was learned a moment ago; if not, it is now.
    fn is_known(&mut self, nodes: &[Ipv4Addr], sender: Ipv4Addr, now: Instant) -> bool {
        while self.routes.front().is_some_and(|(learned, ..)| now.saturating_since(*learned) >= RECENT_TIME) {
            self.routes.pop_front();
        }
        if self.routes.iter().any(|(_, known, by)| *by == sender && known == nodes) {
            return true;
        }
        if self.routes.len() >= RECENT {
            self.routes.pop_front();
        }
        self.routes.push_back((now, nodes.to_vec(), sender));
        false
    }

    /// How many addresses are stored.
    #[cfg(test)]
    pub(in crate::routing::dsr) fn size(&self) -> usize {
        self.routes.iter().map(|(_, nodes, _)| nodes.len()).sum()
    }

    /// What was learned may not be in the cache any more.
    pub(in crate::routing::dsr) fn forget(&mut self) {
        self.routes.clear();
    }
}

/// Where a packet is on its route.
#[derive(Clone, Debug)]
pub(in crate::routing::dsr) struct Way {
    /// The nodes of the route, as far as it is told. A packet that was salvaged has forgotten where it comes from.
    pub(in crate::routing::dsr) nodes: SmallVec<[Ipv4Addr; 16]>,
    /// Place of the node that has just sent it.
    pub(in crate::routing::dsr) sender: usize,
    /// Whether the source of the packet is the first node.
    pub(in crate::routing::dsr) is_whole: bool,
    is_last_external: bool,
}

impl Way {
    /// `None` if the packet does not come from the node that its route says.
    pub(in crate::routing::dsr) fn of(packet: &Packet<'_>, header: &Header<'_>, from: Ipv4Addr) -> Option<Self> {
        let mut nodes = SmallVec::new();
        let (mut left, mut is_whole, mut is_last_external) = (0, true, false);
        match header.source_route() {
            None => nodes.push(packet.source),
            Some(route) => {
                is_whole = route.salvage == 0;
                is_last_external = route.last_hop_external;
                left = usize::from(route.segments_left);
                // Where the first hop is external, nothing is known of it here.
                if is_whole && !route.first_hop_external {
                    nodes.push(packet.source);
                }
                nodes.extend(route.addresses.iter());
            }
        }
        let sender = nodes.len().checked_sub(left + 1)?;
        nodes.push(packet.destination);
        (nodes[sender] == from).then_some(Self { nodes, sender, is_whole, is_last_external })
    }
}

impl Dsr {
    /// Learns what a packet tells that has come from a neighbour, or that was heard on its way to another one.
    pub(in crate::routing::dsr) fn learn(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: Ipv4Addr,
        receiver: Option<Ipv4Addr>,
        now: Instant,
    ) {
        if self.config.rules == Rules::Ns2 {
            return self.learn_onwards(packet, header, from, receiver.is_some(), now);
        }
        // The link to a neighbour on the list does not lead there (4.6).
        let is_believed = self.blacklist.state(from, now).is_none();
        if packet.destination.is_broadcast() {
            if is_believed {
                self.learn_from_request(packet, header, from, now);
            }
            return;
        }
        let way = Way::of(packet, header, from);
        // What this node itself has written, and now hears passed on, may have been found wrong since.
        let is_own = packet.source == self.address && way.as_ref().is_some_and(|way| way.is_whole);
        if let Some(way) = way.filter(|_| !is_own) {
            self.learn_from_route(&way, header.has_route_reply(), receiver.is_some(), is_believed, now);
        }
        for option in &header.options {
            match option {
                DsrOption::RouteReply(_) if is_own => {}
                DsrOption::RouteReply(reply) => self.learn_from_reply(packet.destination, *reply, from, now),
                DsrOption::Ack(ack) => self.learn_nodes(&[ack.source, ack.destination], now),
                _ => {}
            }
        }
    }

    /// What ns-2.35 learns of a packet (`dsr/routecache.cc`, pre_noticeRouteUsed): the way on from this node, or from the
    /// neighbour that was overheard, and nothing of the way back.
    fn learn_onwards(
        &mut self,
        packet: &Packet<'_>,
        header: &Header<'_>,
        from: Ipv4Addr,
        is_overheard: bool,
        now: Instant,
    ) {
        if packet.destination.is_broadcast() {
            return;
        }
        let this = self.address;
        let place = |nodes: &[Ipv4Addr]| nodes.iter().position(|&node| node == this);
        if let Some(way) = Way::of(packet, header, from)
            && !self.recent.is_known(&way.nodes, from, now)
        {
            let onwards = match place(&way.nodes) {
                Some(place) => way.nodes[place..].to_vec(),
                None if is_overheard => [&[this], &way.nodes[way.sender..]].concat(),
                None => Vec::new(),
            };
            let is_last_external = way.is_last_external;
            self.cache.add(Learned { nodes: &onwards, is_last_external, is_wanted: false }, now);
        }
        for option in &header.options {
            let DsrOption::RouteReply(reply) = option else { continue };
            let nodes = nodes_of(packet.destination, *reply);
            let is_wanted = packet.destination == this;
            if let Some(place) = place(&nodes).filter(|_| is_wanted || is_overheard) {
                let is_last_external = reply.last_hop_external;
                self.cache.add(Learned { nodes: &nodes[place..], is_last_external, is_wanted }, now);
            }
        }
    }

    fn learn_nodes(&mut self, nodes: &[Ipv4Addr], now: Instant) {
        self.cache.add(Learned { nodes, is_last_external: false, is_wanted: false }, now);
    }

    /// A node that sends a Route Reply under ns-2's rules learns its way.
    pub(in crate::routing::dsr) fn on_reply_sent(&mut self, back: &[Ipv4Addr], now: Instant) {
        if self.config.rules == Rules::Ns2 {
            let nodes = [&[self.address], back].concat();
            self.cache.add(Learned { nodes: &nodes, is_last_external: false, is_wanted: true }, now);
        }
    }

    fn learn_from_request(&mut self, packet: &Packet<'_>, header: &Header<'_>, from: Ipv4Addr, now: Instant) {
        let Some(request) = header.route_request() else { return };
        let mut nodes = vec![packet.source];
        nodes.extend(request.addresses.iter());
        if nodes.last() == Some(&from) {
            nodes.push(self.address);
            self.learn_nodes(&nodes, now);
        }
    }

    fn learn_from_route(&mut self, way: &Way, has_reply: bool, is_overheard: bool, is_believed: bool, now: Instant) {
        let Way { nodes, sender, is_last_external, .. } = way;
        // A Route Reply tests its way: what lies before it is not known to have both directions (3.3.1).
        let arrived = if is_overheard { sender + 1 } else { sender + 2 };
        let known = if has_reply { &nodes[..arrived.min(nodes.len())] } else { &nodes[..] };
        let is_last_external = *is_last_external && known.len() == nodes.len();
        if self.recent.is_known(known, nodes[*sender], now) {
            return;
        }
        self.cache.add(Learned { nodes: known, is_last_external, is_wanted: false }, now);
        if is_overheard && is_believed {
            let mut before = nodes[..=*sender].to_vec();
            before.push(self.address);
            self.learn_nodes(&before, now);
            let mut behind = vec![self.address];
            behind.extend(&known[*sender..]);
            self.cache.add(Learned { nodes: &behind, is_last_external, is_wanted: false }, now);
        }
    }

    /// The initiator learns all of a route. Others learn what the reply has tested: it comes from the far end.
    fn learn_from_reply(&mut self, initiator: Ipv4Addr, reply: RouteReply<'_>, from: Ipv4Addr, now: Instant) {
        let nodes = nodes_of(initiator, reply);
        let is_wanted = initiator == self.address;
        let place = |node: Ipv4Addr| nodes.iter().position(|&other| other == node);
        let tested = if is_wanted {
            nodes
        } else if let Some(place) = place(self.address) {
            nodes[place..].to_vec()
        } else if let Some(place) = place(from) {
            let mut tested = vec![self.address];
            tested.extend(&nodes[place..]);
            tested
        } else {
            return;
        };
        self.cache.add(Learned { nodes: &tested, is_last_external: reply.last_hop_external, is_wanted }, now);
    }

    /// A packet between two neighbours was heard.
    pub(in crate::routing::dsr) fn overhear(
        &mut self,
        packet: &Packet<'_>,
        from: NextHop,
        receiver: Ipv4Addr,
        now: Instant,
    ) {
        self.on_heard(from);
        let Some(header) = Header::parse(packet.octets, packet.protocol) else { return };
        let is_heeded = self.config.rules == Rules::Rfc4728 || {
            let identity = Identity::of(packet, header.next_header.into());
            packet.source != self.address && !self.overheard.is_known(identity)
        };
        if is_heeded {
            self.on_route_errors(packet, &header, now);
            self.learn(packet, &header, from.address, Some(receiver), now);
        }
        self.on_passed_on(packet, &header, from, now);
        if is_heeded {
            self.on_data_seen(packet, &header);
            self.shorten(packet, &header, from.address, receiver, now);
        }
    }

    /// Packets may have a route that had none (4.1).
    pub(in crate::routing::dsr) fn on_learned(&mut self, now: Instant) {
        let additions = self.cache.additions();
        if additions == self.additions_seen {
            return;
        }
        self.additions_seen = additions;
        for target in self.searching.clone() {
            if self.cache.search(target, now).is_some() {
                self.on_found(target, now);
            }
        }
    }
}
