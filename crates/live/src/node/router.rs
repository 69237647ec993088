//! A routing protocol at a real host: its inputs and its outputs, without sockets.
//!
//! The kernel forwards packets by itself, along the protocol's routes; only packets without a route come here
//! ([`Router::handle_stray`]), and wait. The router only observes what the kernel forwards ([`Router::handle_sight`]), so
//! that the protocol keeps routes that are in use.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use hopcast_protocols::routing::queue::{RouteQueue, Waiting};
use hopcast_protocols::routing::{
    self, Encapsulation, LinkEvent, Message, NextHop, ROUTE_QUEUE_PACKETS, Route, Routing, Verdict,
};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ipv4;
use schemars::JsonSchema;
use serde::Serialize;

use super::icmp;
use super::origin::Origin;
use super::prefix::Prefix;

/// Largest number of flows with a known previous hop, and of listed neighbours. When there are more flows, the router
/// forgets all: it knows active ones again at once, and strangers can't keep others out.
const MAX_KNOWN: usize = 1 << 10;
/// A neighbour is listed for this time after it was heard: longer than any of the protocols is silent, DSDV's period of 15 s
/// times three.
const NEIGHBOUR_LISTED: Duration = Duration::from_secs(60);
/// Time for which packets count as part of a flow after the flow was seen. The router looks at forwarded packets before
/// those without a route, so this can be short; the longer it is, the longer other packets can pass for a flow that has
/// ended.
const FLOW_LIFETIME: Duration = Duration::from_secs(1);
/// The most messages of ICMP in a second (RFC 1812, 4.3.2.8, asks for a limit; 100 is of the order of Linux's
/// `icmp_ratelimit`, a millisecond each to a host, and `icmp_msgs_per_sec`, 1000 to all).
const ICMP_PER_SECOND: u32 = 100;

/// The protocol and what waits for it.
#[derive(Debug)]
pub(super) struct Router {
    protocol: Box<dyn Routing>,
    is_wellformed: fn(&[u8]) -> bool,
    address: Ipv4Addr,
    networks: Vec<Prefix>,
    /// Whether messages are sealed: then packets of neighbours that have sent none say nothing.
    is_sealed: bool,
    /// Packets of this host's programs that wait for a route. They have a separate queue, so that no other host can drive
    /// them out.
    own: RouteQueue<Vec<u8>>,
    /// Packets of other hosts, and answers to them.
    others: RouteQueue<Vec<u8>>,
    /// By source and destination of packets that this host receives or passes on: the neighbour that they come over, and when the last
    /// one was seen.
    came_over: BTreeMap<(Ipv4Addr, Ipv4Addr), (NextHop, Instant)>,
    heard: BTreeMap<NextHop, Instant>,
    icmp_second: Instant,
    icmp_sent: u32,
    outputs: VecDeque<Output>,
    /// Destinations for which a packet waits no more: the protocol is told once it is drained.
    abandoned: BTreeSet<Ipv4Addr>,
    counters: Counters,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// A message of the protocol.
    Send(Message),
    /// A packet that has waited goes to this neighbour.
    Forward {
        /// The neighbour.
        hop: NextHop,
        /// The packet, its header included.
        packet: Vec<u8>,
    },
    /// A packet of this host's own, to wherever the kernel's routes lead.
    Tell(Vec<u8>),
}

/// A packet that the kernel has sent, forwarded or taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sight {
    /// Its source address.
    pub(super) source: Ipv4Addr,
    /// Its destination address.
    pub(super) destination: Ipv4Addr,
    /// Protocol of its payload.
    pub(super) protocol: u8,
    /// The neighbour that it has come from; `None`: this host has made it.
    pub(super) from: Option<NextHop>,
}

/// Counters of a router, since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub(super) struct Counters {
    /// Messages of the routing protocol that were sent; one on several interfaces counts once.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the sender"))]
    pub(super) messages_sent: u64,
    /// Messages of the routing protocol that arrived.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the receiver"))]
    pub(super) messages_received: u64,
    /// Datagrams to the protocol's port that are not messages of it.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub(super) messages_malformed: u64,
    /// Messages from addresses that no neighbour has: outside the networks, or this host's own.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the receiver"))]
    pub(super) messages_foreign: u64,
    /// Packets for which there was no route when they came.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_without_route: u64,
    /// Those of `packets_without_route` that were sent once there was a route.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_released: u64,
    /// Those of `packets_without_route` that were dropped because no route was found, or none was looked for.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_unreachable: u64,
    /// Those of `packets_without_route` that were dropped because they had waited too long.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_timed_out: u64,
    /// Those of `packets_without_route` that were dropped because too many waited.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_overflowed: u64,
    /// Those of `packets_without_route` that were dropped because they are not for a single host in the networks.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_foreign: u64,
    /// Those of `packets_without_route` that were dropped because they come from a host that has not shown that it has the
    /// network key, or answer packets from there.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) packets_unproven: u64,
    /// Those of `packets_without_route` that are ICMP errors of this host. They are dropped: no route is looked for.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the node"))]
    pub(super) errors_without_route: u64,
    /// Neighbours that the kernel no longer reaches.
    #[schemars(extend("x-unit" = "neighbours", "x-counted" = "at the node"))]
    pub(super) neighbours_lost: u64,
}

impl Router {
    /// `protocol` at the host with this `address`, for destinations in `networks`. Of what comes to it, messages are what
    /// `is_wellformed` says; they come sealed if `is_sealed`.
    pub(super) fn new(
        protocol: Box<dyn Routing>,
        is_wellformed: fn(&[u8]) -> bool,
        address: Ipv4Addr,
        networks: Vec<Prefix>,
        is_sealed: bool,
    ) -> Self {
        Self {
            protocol,
            is_wellformed,
            address,
            networks,
            is_sealed,
            own: RouteQueue::new(ROUTE_QUEUE_PACKETS),
            others: RouteQueue::new(ROUTE_QUEUE_PACKETS),
            came_over: BTreeMap::new(),
            heard: BTreeMap::new(),
            icmp_second: Instant::START,
            icmp_sent: 0,
            outputs: VecDeque::new(),
            abandoned: BTreeSet::new(),
            counters: Counters::default(),
        }
    }

    /// The UDP port of the protocol's messages.
    pub(super) fn port(&self) -> u16 {
        match self.protocol.encapsulation() {
            Encapsulation::Udp { port } => port,
            other => unreachable!("protocols that a node may run travel in UDP, not by {other:?}"),
        }
    }

    /// The routes to hosts of the network.
    pub(super) fn routes(&self, now: Instant) -> impl Iterator<Item = Route> + '_ {
        self.protocol.routes(now).into_iter().filter(|route| self.is_within(route.destination))
    }

    /// A number that changes whenever the routes do, if the protocol has one.
    pub(super) fn routes_version(&self, now: Instant) -> Option<u64> {
        self.protocol.routes_version(now)
    }

    /// Neighbours of which messages have come lately, and when the last did.
    pub(super) fn neighbours(&self, now: Instant) -> impl Iterator<Item = (NextHop, Instant)> + '_ {
        let lately = move |at: &Instant| now.saturating_since(*at) < NEIGHBOUR_LISTED;
        self.heard.iter().filter(move |(_, at)| lately(at)).map(|(&hop, &at)| (hop, at))
    }

    /// Whether messages of this neighbour have come.
    pub(super) fn has_heard(&self, hop: NextHop) -> bool {
        self.heard.contains_key(&hop)
    }

    /// Packets that wait for a route.
    pub(super) fn waiting(&self) -> usize {
        self.own.len() + self.others.len()
    }

    /// What has happened.
    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// A datagram has come to the protocol's port, with this destination and time to live in its IP header.
    pub(super) fn handle_message(
        &mut self,
        from: NextHop,
        destination: Ipv4Addr,
        ttl: u8,
        octets: &[u8],
        now: Instant,
    ) {
        if !self.is_within(from.address) {
            self.counters.messages_foreign += 1;
            return;
        }
        if !(self.is_wellformed)(octets) {
            self.counters.messages_malformed += 1;
            return;
        }
        self.counters.messages_received += 1;
        self.hear(from, now);
        self.protocol.handle_message(&routing::Packet::message(from, destination, ttl, octets), now);
        self.settle(now);
    }

    /// The kernel had no route for this packet, made by this host or passed on, its time to live counted down.
    pub(super) fn handle_stray(&mut self, packet: Vec<u8>, now: Instant) {
        let Ok(view) = ipv4::Packet::new_checked(&packet[..]) else {
            // IPv6 and the like, which interfaces send by themselves.
            return;
        };
        self.counters.packets_without_route += 1;
        let (source, destination) = (view.source(), view.destination());
        if !self.is_within(destination) {
            self.counters.packets_foreign += 1;
            return;
        }
        let origin = (source == self.address).then(|| Origin::of(&view));
        let from = if origin.is_some() { None } else { self.came_over(source, destination, now) };
        let is_proven = !self.is_sealed
            || match origin {
                Some(Origin::Program | Origin::Error) => true,
                // An answer is as good as what it answers; one to a host that a program wants to reach may wait for that route.
                Some(Origin::Answer) => {
                    self.came_over(destination, source, now).is_some() || self.own.waits_for(destination)
                }
                None => from.is_some(),
            };
        if !is_proven {
            self.counters.packets_unproven += 1;
            return;
        }
        // Whoever makes up source addresses would have this host search for each of them.
        if origin == Some(Origin::Error) && self.protocol.next_hop(destination, now).is_none() {
            self.counters.errors_without_route += 1;
            return;
        }
        // Asked about first: a packet that need not wait drives out none that waits.
        match self.ask(&packet, from, now) {
            Verdict::Wait => {
                let queue = if origin == Some(Origin::Program) { &mut self.own } else { &mut self.others };
                let out = queue.push(packet, destination, from, now);
                self.handle_overflow(out);
            }
            verdict => self.carry_out(verdict, packet, now),
        }
        self.settle(now);
    }

    /// The kernel has sent, forwarded or taken a packet.
    pub(super) fn handle_sight(&mut self, sight: Sight, now: Instant) {
        let Sight { source, destination, protocol, from } = sight;
        // Addresses of packets are not sealed: what strangers send keeps no route and no neighbour.
        if self.is_sealed && from.is_some_and(|from| !self.has_heard(from)) {
            return;
        }
        let packet = routing::Packet {
            source,
            destination,
            ttl: u8::MAX,
            from,
            octets: &[],
            has_data: true,
            protocol,
            identification: 0,
            fragment_offset: 0,
        };
        if let Some(from) = from
            && (self.is_within(destination) || destination == self.address)
        {
            let flow = (source, destination);
            if self.came_over.len() >= MAX_KNOWN && !self.came_over.contains_key(&flow) {
                self.came_over.clear();
            }
            self.came_over.insert(flow, (from, now));
        }
        if destination == self.address {
            // The kernel has delivered it: a protocol in UDP has no header before the data that could forbid that.
            self.protocol.handle_arrival(&packet, now);
            return self.settle(now);
        }
        if !self.is_within(destination) {
            return;
        }
        // Without a route it comes as a stray, and is asked about then.
        if self.protocol.next_hop(destination, now).is_some() {
            self.protocol.handle_packet(&packet, now);
            self.settle(now);
        }
    }

    /// The kernel has lost a neighbour: it does not answer, or its interface is gone.
    pub(super) fn handle_neighbour_lost(&mut self, hop: NextHop, now: Instant) {
        self.counters.neighbours_lost += 1;
        self.heard.remove(&hop);
        self.protocol.handle_link_event(&LinkEvent::NeighbourLost(hop), now);
        self.settle(now);
    }

    /// An interface is gone, and all neighbours there with it.
    pub(super) fn handle_interface_lost(&mut self, interface: u32, now: Instant) {
        let heard = self.heard.keys().copied();
        let used = self.protocol.routes(now).into_iter().map(|route| route.hop);
        let mut lost: Vec<_> = heard.chain(used).filter(|hop| hop.interface == interface).collect();
        lost.sort_unstable();
        lost.dedup();
        lost.into_iter().for_each(|hop| self.handle_neighbour_lost(hop, now));
    }

    /// It is [`Self::poll_timeout`], or later.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        while let Some(waiting) = self.own.poll_expired(now).or_else(|| self.others.poll_expired(now)) {
            self.counters.packets_timed_out += 1;
            self.tell(&waiting.packet, now);
            self.abandoned.insert(waiting.destination);
        }
        self.settle(now);
        if self.protocol.poll_timeout().is_some_and(|due| due <= now) {
            self.protocol.handle_timeout(now);
        }
        self.settle(now);
    }

    /// When [`Self::handle_timeout`] is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        [self.protocol.poll_timeout(), self.own.poll_timeout(), self.others.poll_timeout()].into_iter().flatten().min()
    }

    /// The next thing to be done. The routes are to be those of now first.
    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn is_within(&self, address: Ipv4Addr) -> bool {
        let is_host = !(address.is_multicast() || address.is_broadcast() || address.is_unspecified());
        is_host && address != self.address && self.networks.iter().any(|network| network.contains(address))
    }

    /// The neighbour over which packets from `source` to `destination` come now, if that is known; with a network key, only one
    /// that has it.
    fn came_over(&self, source: Ipv4Addr, destination: Ipv4Addr, now: Instant) -> Option<NextHop> {
        let &(hop, at) = self.came_over.get(&(source, destination))?;
        let is_proven = !self.is_sealed || self.has_heard(hop);
        (is_proven && now.saturating_since(at) < FLOW_LIFETIME).then_some(hop)
    }

    /// A packet has made room for another one, if one had to.
    fn handle_overflow(&mut self, out: Option<Waiting<Vec<u8>>>) {
        if let Some(out) = out {
            self.counters.packets_overflowed += 1;
            self.abandoned.insert(out.destination);
        }
    }

    fn hear(&mut self, from: NextHop, now: Instant) {
        if self.heard.len() >= MAX_KNOWN && !self.heard.contains_key(&from) {
            self.heard.retain(|_, at| now.saturating_since(*at) < NEIGHBOUR_LISTED);
            if self.heard.len() >= MAX_KNOWN {
                return;
            }
        }
        self.heard.insert(from, now);
    }

    /// Does what the protocol says, and tells it for which destinations no packet waits any more. Otherwise a program that sends to
    /// each address of a network would make the protocol search for all of them, long after.
    fn settle(&mut self, now: Instant) {
        self.drain(now);
        while let Some(destination) = self.abandoned.pop_first() {
            if !self.own.waits_for(destination) && !self.others.waits_for(destination) {
                self.protocol.handle_abandoned(destination, now);
                self.drain(now);
            }
        }
    }

    /// Does what the protocol says.
    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.protocol.poll_output() {
            match output {
                routing::Output::Send(message) => {
                    self.counters.messages_sent += 1;
                    self.outputs.push_back(Output::Send(message));
                }
                routing::Output::Found(destination) => {
                    for waiting in self.own.take(destination) {
                        if let Some(waiting) = self.ask_again(waiting, now) {
                            let out = self.own.put_back(waiting);
                            self.handle_overflow(out);
                        }
                    }
                    for waiting in self.others.take(destination) {
                        if let Some(waiting) = self.ask_again(waiting, now) {
                            let out = self.others.put_back(waiting);
                            self.handle_overflow(out);
                        }
                    }
                }
                routing::Output::NotFound(destination) => {
                    let waiting = [self.own.take(destination), self.others.take(destination)];
                    for waiting in waiting.into_iter().flatten() {
                        self.carry_out(Verdict::Drop, waiting.packet, now);
                    }
                }
                // What waits in the kernel for a lost neighbour finds its way through the routes, or comes here.
                routing::Output::Purge(_) => {}
                // Only for protocols with a header of their own before the data.
                routing::Output::Resend(_) | routing::Output::Release(_) | routing::Output::Recall(_) => {}
            }
        }
    }

    /// Asks the protocol about a packet that has waited; returns it if it is to wait on.
    fn ask_again(&mut self, waiting: Waiting<Vec<u8>>, now: Instant) -> Option<Waiting<Vec<u8>>> {
        match self.ask(&waiting.packet, waiting.from, now) {
            Verdict::Wait => return Some(waiting),
            verdict => self.carry_out(verdict, waiting.packet, now),
        }
        None
    }

    /// Asks the protocol what is to be done with a packet.
    fn ask(&mut self, packet: &[u8], from: Option<NextHop>, now: Instant) -> Verdict {
        let view = ipv4::Packet::new_unchecked(packet);
        let packet = routing::Packet {
            source: view.source(),
            destination: view.destination(),
            ttl: view.time_to_live(),
            from,
            octets: &[],
            has_data: true,
            protocol: view.protocol().into(),
            identification: view.identification(),
            fragment_offset: view.fragment_offset(),
        };
        self.protocol.handle_packet(&packet, now)
    }

    /// Sends or drops a packet that waits no more.
    fn carry_out(&mut self, verdict: Verdict, packet: Vec<u8>, now: Instant) {
        if let Verdict::Forward(forward) = verdict {
            self.counters.packets_released += 1;
            self.outputs.push_back(Output::Forward { hop: forward.hop, packet });
        } else {
            self.counters.packets_unreachable += 1;
            self.tell(&packet, now);
        }
    }

    /// Tells the sender that its packet can't be delivered.
    fn tell(&mut self, packet: &[u8], now: Instant) {
        if now.saturating_since(self.icmp_second) >= Duration::from_secs(1) {
            (self.icmp_second, self.icmp_sent) = (now, 0);
        }
        if self.icmp_sent < ICMP_PER_SECOND
            && let Some(message) = icmp::host_unreachable(packet, self.address)
        {
            self.icmp_sent += 1;
            self.outputs.push_back(Output::Tell(message));
        }
    }
}

#[cfg(test)]
pub(super) mod test {
    //! Packets for tests.

    use super::*;

    /// A packet with eight bytes in it.
    pub(in super::super) fn packet(source: Ipv4Addr, destination: Ipv4Addr, protocol: ipv4::Protocol) -> Vec<u8> {
        with_payload(source, destination, protocol, &[0; 8])
    }

    /// A packet with this payload.
    pub(in super::super) fn with_payload(
        source: Ipv4Addr,
        destination: Ipv4Addr,
        protocol: ipv4::Protocol,
        payload: &[u8],
    ) -> Vec<u8> {
        let repr = ipv4::Repr {
            type_of_service: 0,
            identification: 7,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: 64,
            protocol,
            source,
            destination,
            payload_len: u16::try_from(payload.len()).expect("it is short"),
        };
        let mut octets = vec![0; ipv4::HEADER_LEN];
        repr.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
        octets.extend_from_slice(payload);
        octets
    }
}

#[cfg(test)]
mod tests;
