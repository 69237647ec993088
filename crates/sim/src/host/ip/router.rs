//! A routing protocol at a host: decides on each packet, and receives messages and reports.
//!
//! Connections that ask for it learn when their route is lost and when there is one again: after each input to the
//! protocol the router asks it for the next hop. So any protocol can report this without knowing about transport.
//!
//! Packets that wait for a route are in one bounded queue, oldest first. This module converts packets for the protocol
//! and carries out its outputs: no other part of a host knows that there is a protocol.

use crate::address::{ip_address, node_of};
use crate::host::Neighbours;
use crate::host::ip::fragment::Fragments;
use crate::host::packet::{Body, Expiry, Ipv4, MAX_IP_DATAGRAM, Packet, Part, RoutingPart, Tag};
use crate::host::{Context, Ends, Hop, Sdu, Slot, Stack, Transmit, count_drop, count_host_drop};
use crate::id::{FlowId, NodeId};
use crate::metrics::DropCause;
use hopcast_protocols::routing::queue::{RouteQueue, Waiting};
use hopcast_protocols::routing::{
    self, Arrival, Encapsulation, Forward, LinkEvent, Message, NextHop, Output, Routing, Token, Verdict,
};
use hopcast_protocols::time::Instant;
use hopcast_radio::mac::StationId;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::ecn::Ecn;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

pub(crate) use hopcast_protocols::routing::{ROUTE_QUEUE_PACKETS, ROUTE_QUEUE_TIMEOUT};

/// The protocol of a host, and the packets that wait for it. Fields that a message without effect reads come first, in
/// two lines of the processor's cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Router {
    protocol: Box<dyn Routing>,
    encapsulation: Encapsulation,
    /// What the host's timer is set to.
    armed: Option<Instant>,
    /// Connections that want to know of the routes to their other ends.
    watches: Vec<Watch>,
    waiting: RouteQueue<Packet>,
    /// By source and destination: the neighbour to which the last packet with data went.
    hops: BTreeMap<(NodeId, NodeId), NextHop>,
    neighbours: Arc<Neighbours>,
    /// Copies that the protocol may want sent again.
    held: BTreeMap<Token, (Hop, Packet)>,
    /// Neighbours of whose packets the interfaces are to be freed.
    purges: VecDeque<(u32, StationId)>,
    /// Destinations for which a packet waits no more, although there is no route: the protocol is told once it is drained.
    abandoned: BTreeSet<Ipv4Addr>,
}

/// A connection that is told of its route.
#[derive(Clone, Copy, Debug)]
struct Watch {
    socket: u32,
    destination: Ipv4Addr,
    /// Whether there was a route when it was last looked up.
    is_known: bool,
}

/// What a connection is told of the route to its other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum RouteEvent {
    /// The protocol knows of none any more.
    Broken,
    /// It knows of one again.
    Back,
}

/// A neighbour, and the interface that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// Index of the interface at this host.
    pub interface: u32,
    /// The node.
    pub node: NodeId,
}

impl Neighbour {
    fn as_next_hop(self) -> NextHop {
        NextHop { interface: self.interface, address: ip_address(self.node) }
    }
}

impl Router {
    /// `protocol` at a host whose interfaces lead to `neighbours`, with this limit of packets that wait for a route.
    pub(crate) fn new(protocol: Box<dyn Routing>, neighbours: Arc<Neighbours>, queue_packets: u32) -> Self {
        Self {
            encapsulation: protocol.encapsulation(),
            protocol,
            armed: None,
            neighbours,
            waiting: RouteQueue::new(queue_packets),
            hops: BTreeMap::new(),
            held: BTreeMap::new(),
            purges: VecDeque::new(),
            watches: Vec::new(),
            abandoned: BTreeSet::new(),
        }
    }

    /// Tells a socket from now on when the route to `destination` is lost, and when there is one again.
    pub(in crate::host) fn watch(&mut self, socket: u32, destination: NodeId) {
        self.watches.push(Watch { socket, destination: ip_address(destination), is_known: false });
    }

    /// The next connection whose route was lost or found since the last call.
    fn poll_route_event(&mut self, now: Instant) -> Option<(u32, RouteEvent)> {
        self.watches.iter_mut().find_map(|watch| {
            let is_known = self.protocol.next_hop(watch.destination, now).is_some();
            let event = if is_known { RouteEvent::Back } else { RouteEvent::Broken };
            (std::mem::replace(&mut watch.is_known, is_known) != is_known).then_some((watch.socket, event))
        })
    }

    /// See [`crate::host::Host::prefetch`].
    #[inline]
    pub(in crate::host) fn prefetch(&self) -> u64 {
        self.watches.len() as u64 ^ self.waiting.len() as u64
    }

    /// The next destination for which no packet waits any more, as all have left the queue without a route.
    fn poll_abandoned(&mut self) -> Option<Ipv4Addr> {
        let Self { abandoned, waiting, .. } = self;
        core::iter::from_fn(|| abandoned.pop_first()).find(|&destination| !waiting.waits_for(destination))
    }

    /// Packets that wait for a route.
    pub(in crate::host) fn waiting(&self) -> impl ExactSizeIterator<Item = &Packet> {
        self.waiting.iter()
    }

    /// Whether as many packets wait as may, one for `destination` among them.
    fn is_full(&self, destination: NodeId) -> bool {
        self.waiting.is_full() && self.waiting.waits_for(ip_address(destination))
    }

    /// The protocol, for reading its routes.
    pub(crate) fn protocol(&self) -> &dyn Routing {
        &*self.protocol
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.protocol.poll_timeout().into_iter().chain(self.waiting.poll_timeout()).min()
    }

    /// The neighbour from which a message behind an ARP packet has come, if the protocol's messages travel so.
    pub(in crate::host) fn shown_by_arp(&self, node: NodeId, from: Neighbour) -> Option<Hop> {
        let is_known = self.encapsulation == Encapsulation::Arp;
        is_known.then(|| self.hop(node, from.as_next_hop())).flatten()
    }

    /// The way to a neighbour; `None` if that interface leads to no such node.
    fn hop(&self, node: NodeId, NextHop { interface, address }: NextHop) -> Option<Hop> {
        self.neighbours.hop(node, interface, node_of(address))
    }
}

/// What a routing protocol is shown of a packet.
fn view(packet: &Packet, from: Option<NextHop>) -> routing::Packet<'_> {
    let has_data = packet.body.has_data();
    routing::Packet {
        source: ip_address(packet.ip.source),
        destination: ip_address(packet.ip.destination),
        ttl: packet.ip.ttl,
        identification: packet.ip.id,
        fragment_offset: packet.ip.offset,
        from,
        octets: packet.routing().map_or(&[], |part| &part.octets),
        has_data,
        protocol: if has_data { packet.body.protocol() } else { 0 },
    }
}

/// What a routing protocol is shown of what an interface gives back.
fn view_of(sdu: &Sdu) -> routing::Packet<'_> {
    if let Some(packet) = sdu.packet() {
        return view(packet, None);
    }
    let Ends { source, destination } = sdu.ends();
    routing::Packet {
        source: ip_address(source),
        destination: ip_address(destination),
        ttl: 0,
        identification: 0,
        fragment_offset: 0,
        from: None,
        octets: &[],
        has_data: false,
        protocol: 0,
    }
}

impl Stack {
    /// Gives the host a routing protocol, in place of its table.
    pub(in crate::host) fn set_router(&mut self, mut router: Router) {
        router.armed = router.poll_timeout();
        self.timers.set(Slot::Router.index(), router.armed);
        self.router = Some(Box::new(router));
    }

    /// The next neighbour, given as interface and station, for which nothing is to wait at the interface any more. What waits
    /// there comes back through [`Host::handle_purged`](super::super::Host::handle_purged).
    pub(in crate::host) fn poll_purge(&mut self) -> Option<(u32, StationId)> {
        self.router.as_mut()?.purges.pop_front()
    }

    /// This host heard a packet on its way from one neighbour to another node.
    pub(in crate::host) fn handle_overheard(
        &mut self,
        packet: &Packet,
        from: Neighbour,
        to: NodeId,
        cx: &mut Context<'_>,
    ) {
        if let Some(router) = &mut self.router {
            router.protocol.handle_overheard(&view(packet, Some(from.as_next_hop())), ip_address(to), cx.now);
            self.settle_router(cx);
        }
    }

    /// Whether what is sent to `destination` now would only drive out other packets that wait for a route there, or for an address.
    pub(in crate::host) fn is_congested(&self, destination: NodeId, now: Instant) -> bool {
        if self.router.as_ref().is_some_and(|router| router.is_full(destination)) {
            return true;
        }
        if self.resolution.is_none() {
            return false;
        }
        let hop = match &self.router {
            Some(router) => {
                let next = router.protocol.next_hop(ip_address(destination), now);
                next.and_then(|next| router.hop(self.node, next))
            }
            None => self.routes.get(destination).copied(),
        };
        hop.is_some_and(|hop| self.is_resolution_full(&hop))
    }

    /// The interface that a packet for `destination` would take.
    pub(in crate::host) fn interface_towards(&self, destination: NodeId, now: Instant) -> u32 {
        let hop = match &self.router {
            Some(router) => router.protocol.next_hop(ip_address(destination), now).map(|hop| hop.interface),
            None => self.routes.get(destination).map(|hop| hop.interface),
        };
        hop.unwrap_or(0)
    }

    /// A packet has come to this host, which has a routing protocol. Returns as [`Stack::handle_sdu`] does.
    pub(in crate::host) fn handle_routed(&mut self, packet: &Packet, from: Neighbour, cx: &mut Context<'_>) -> bool {
        let router = self.router.as_mut().expect("the caller has looked");
        let is_for_this_host = packet.ip.destination == self.node || packet.ip.destination == NodeId::ALL;
        match packet.body {
            Body::Message if is_for_this_host => {
                cx.counters.delivered += 1;
                let known = packet.routing().is_some_and(|part| part.encapsulation == router.encapsulation);
                if !known {
                    return false;
                }
                router.protocol.handle_message(&view(packet, Some(from.as_next_hop())), cx.now);
                let output = router.protocol.poll_output();
                let is_unchanged = output.is_none() && router.poll_timeout() == router.armed;
                if is_unchanged && router.watches.is_empty() {
                    return false;
                }
                self.settle_router_from(output, cx);
            }
            _ if is_for_this_host => {
                let arrival = router.protocol.handle_arrival(&view(packet, Some(from.as_next_hop())), cx.now);
                self.settle_router(cx);
                match arrival {
                    Arrival::Deliver => self.receive(packet, cx),
                    Arrival::Drop => count_host_drop(packet, 1, DropCause::NoRoute, cx),
                }
            }
            _ => self.forward(packet, from, cx),
        }
        true
    }

    /// Passes a packet on, whose time to live has been counted down, as the protocol says.
    pub(in crate::host) fn forward_routed(&mut self, packet: Packet, from: Neighbour, cx: &mut Context<'_>) {
        self.route(packet, Some(from.as_next_hop()), cx);
        self.settle_router(cx);
    }

    /// Sends a datagram of one of this host's sockets, in packets of up to `largest` bytes, the way that the protocol knows; false
    /// if there is none.
    pub(in crate::host) fn send_routed(
        &mut self,
        datagram: Packet,
        largest: Option<u32>,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut is_routed = false;
        for packet in Fragments::new(datagram, largest) {
            cx.counters.originated += 1;
            is_routed |= self.route(packet, None, cx);
        }
        self.settle_router(cx);
        is_routed
    }

    /// Sends a packet that a real host in place of this one has made, the same way.
    pub(in crate::host) fn send_made(&mut self, packet: Packet, cx: &mut Context<'_>) {
        cx.counters.originated += 1;
        self.route(packet, None, cx);
        self.settle_router(cx);
    }

    /// The protocol's timer is due, or a packet has waited for too long.
    pub(in crate::host) fn expire_router(&mut self, cx: &mut Context<'_>) {
        let Some(router) = &mut self.router else { return };
        if router.protocol.poll_timeout().is_some_and(|due| due <= cx.now) {
            router.protocol.handle_timeout(cx.now);
        }
        while let Some(waiting) = self.router.as_mut().and_then(|router| router.waiting.poll_expired(cx.now)) {
            self.abandon(&waiting, DropCause::RouteTimeout, cx);
            self.wake_stalled(cx.now);
        }
        self.settle_router(cx);
    }

    /// The largest packet for `destination` that this host makes, in bytes: the routing protocol may lead each packet to another
    /// interface, and needs room for its header.
    pub(in crate::host) fn largest_routed_packet(&mut self, destination: NodeId, now: Instant) -> Option<u32> {
        let router = self.router.as_mut()?;
        let least = self.config.interfaces.iter().filter_map(|interface| interface.mtu).min();
        // Where interfaces take any packet, what the protocol puts before the data still counts for the datagram.
        let least = least.unwrap_or(MAX_IP_DATAGRAM);
        Some(least.saturating_sub(router.protocol.header_len(ip_address(destination), now) as u32))
    }

    /// The interface has not delivered `sdu`, which was for `to`; unless the protocol takes it back, it is dropped for `cause`.
    pub(in crate::host) fn handle_undelivered(
        &mut self,
        sdu: &Sdu,
        to: Neighbour,
        how: Undelivered,
        cause: DropCause,
        cx: &mut Context<'_>,
    ) {
        let verdict = self.report_undelivered(view_of(sdu), to, how, cx.now);
        match sdu.packet() {
            Some(packet) if packet.body.has_data() && verdict != Verdict::Drop => {
                cx.counters.returned += 1;
                self.carry_out(verdict, packet.clone(), None, cx);
            }
            packet => {
                cx.counters.interface_dropped += 1;
                count_drop(packet, 1, cause, Some((self.node, to.node)), cx);
                self.release(packet, cx.now);
            }
        }
        self.settle_router(cx);
    }

    /// `packet`, which was for `to`, has not got to the interface; unless the protocol takes it back, it is dropped for `cause`.
    pub(in crate::host) fn handle_unsent(
        &mut self,
        packet: &Packet,
        to: Neighbour,
        how: Undelivered,
        cause: DropCause,
        cx: &mut Context<'_>,
    ) {
        let verdict = match self.router {
            Some(_) => self.report_undelivered(view(packet, None), to, how, cx.now),
            None => Verdict::Drop,
        };
        if !packet.body.has_data() || verdict == Verdict::Drop {
            self.drop_own(packet, cause, cx);
        } else {
            self.carry_out(verdict, packet.clone(), None, cx);
        }
    }

    /// Tells the protocol of a packet that was not delivered; what is to become of it.
    fn report_undelivered(
        &mut self,
        packet: routing::Packet<'_>,
        to: Neighbour,
        how: Undelivered,
        now: Instant,
    ) -> Verdict {
        let hop = to.as_next_hop();
        let event = match how {
            Undelivered::Dropped => LinkEvent::FrameDropped { hop, packet },
            Undelivered::Purged => LinkEvent::QueuePurged { hop, packet },
        };
        self.router.as_mut().expect("the caller has looked").protocol.handle_link_event(&event, now)
    }

    /// Asks the protocol about a packet that this host has; false if it is dropped.
    fn route(&mut self, packet: Packet, from: Option<NextHop>, cx: &mut Context<'_>) -> bool {
        let router = self.router.as_mut().expect("the caller has looked");
        let verdict = router.protocol.handle_packet(&view(&packet, from), cx.now);
        self.carry_out(verdict, packet, from, cx)
    }

    fn carry_out(&mut self, verdict: Verdict, mut packet: Packet, from: Option<NextHop>, cx: &mut Context<'_>) -> bool {
        let router = self.router.as_mut().expect("the caller has looked");
        match verdict {
            Verdict::Forward(Forward { hop, header, held }) => {
                let encapsulation = router.encapsulation;
                packet.set_routing(header.map(|octets| RoutingPart { encapsulation, octets }));
                let before = router.hops.insert((packet.ip.source, packet.ip.destination), hop);
                if before.is_some_and(|before| before != hop) {
                    cx.counters.route_changes += 1;
                    cx.flows.handle_route_change(packet.tag.flow, packet.ip.destination, cx.now);
                }
                let Some(hop) = router.hop(self.node, hop) else {
                    self.drop_own(&packet, DropCause::NoRoute, cx);
                    return false;
                };
                if let Some(token) = held {
                    router.held.insert(token, (hop, packet.clone()));
                }
                self.put(hop, packet, cx);
                true
            }
            Verdict::Wait => {
                let destination = ip_address(packet.ip.destination);
                if let Some(oldest) = router.waiting.push(packet, destination, from, cx.now) {
                    self.abandon(&oldest, DropCause::RouteQueueFull, cx);
                }
                true
            }
            Verdict::Drop => {
                self.drop_own(&packet, DropCause::NoRoute, cx);
                false
            }
        }
    }

    /// A packet has left the queue without a route.
    fn abandon(&mut self, waiting: &Waiting<Packet>, cause: DropCause, cx: &mut Context<'_>) {
        let router = self.router.as_mut().expect("it has the queue");
        router.abandoned.insert(waiting.destination);
        self.drop_own(&waiting.packet, cause, cx);
    }

    /// Gives a packet to an interface, in pieces if that needs it, or behind an ARP packet.
    fn put(&mut self, hop: Hop, packet: Packet, cx: &mut Context<'_>) {
        if let Some(part) = packet.routing() {
            cx.counters.routing_packets += u64::from(packet.body == Body::Message);
            cx.counters.routing_bytes += u64::from(part.octets_on_air());
            if part.encapsulation == Encapsulation::Arp {
                let sdu = cx.pool.share(Sdu::MessageInArp(Box::new(packet)));
                return self.ready.push_back(Transmit { hop, sdu });
            }
        }
        self.push(hop, packet, cx);
    }

    /// Does all that the protocol wants done, and sets its timer.
    pub(in crate::host) fn settle_router(&mut self, cx: &mut Context<'_>) {
        self.settle_router_from(None, cx);
    }

    /// The same, where the first thing that the protocol wants done is already out.
    fn settle_router_from(&mut self, first: Option<Output>, cx: &mut Context<'_>) {
        self.drain_router(first, cx);
        while let Some(router) = &mut self.router
            && let Some(destination) = router.poll_abandoned()
        {
            router.protocol.handle_abandoned(destination, cx.now);
            self.drain_router(None, cx);
        }
        // A time that has passed is due now: no clock goes back to it.
        let Some(router) = &mut self.router else { return };
        let timeout = router.poll_timeout().map(|due| due.max(cx.now));
        if timeout != router.armed {
            router.armed = timeout;
            self.timers.set(Slot::Router.index(), timeout);
        }
        // Each change is one event, so that this ends.
        while let Some((socket, event)) = self.router.as_mut().and_then(|router| router.poll_route_event(cx.now)) {
            self.handle_route_event(socket, event, cx.now);
        }
    }

    /// Does all that the protocol wants done, from `first` on.
    fn drain_router(&mut self, mut first: Option<Output>, cx: &mut Context<'_>) {
        let mut next = |host: &mut Self| {
            first.take().or_else(|| host.router.as_mut().and_then(|router| router.protocol.poll_output()))
        };
        while let Some(output) = next(self) {
            match output {
                Output::Send(message) => self.send_message(message, cx),
                Output::Found(destination) => {
                    for Waiting { packet, from, .. } in self.take_waiting(destination, cx.now) {
                        self.route(packet, from, cx);
                    }
                }
                Output::NotFound(destination) => {
                    for waiting in self.take_waiting(destination, cx.now) {
                        self.drop_own(&waiting.packet, DropCause::NoRoute, cx);
                    }
                }
                Output::Purge(hop) => {
                    for transmit in self.purge_resolution(hop, cx.now) {
                        self.handle_unsent(
                            transmit.waiting_packet(),
                            transmit.to(),
                            Undelivered::Purged,
                            DropCause::NoRoute,
                            cx,
                        );
                    }
                    self.wake_stalled(cx.now);
                    let router = self.router.as_mut().expect("it has spoken");
                    let station = router.hop(self.node, hop).and_then(|hop| hop.station);
                    router.purges.extend(station.map(|station| (hop.interface, station)));
                }
                Output::Resend(token) => {
                    let router = self.router.as_ref().expect("it has spoken");
                    if let Some((hop, packet)) = router.held.get(&token).cloned() {
                        cx.counters.repeated += 1;
                        self.put(hop, packet, cx);
                    }
                }
                Output::Release(token) => {
                    self.router.as_mut().and_then(|router| router.held.remove(&token));
                }
                Output::Recall(token) => {
                    let held = self.router.as_mut().and_then(|router| router.held.remove(&token));
                    if let Some((hop, packet)) = held {
                        self.recall(&packet, Neighbour { interface: hop.interface, node: hop.node }, cx);
                    }
                }
            }
        }
    }

    /// A copy has not arrived: unlike a packet that the interface gave up, it is counted nowhere yet.
    fn recall(&mut self, packet: &Packet, to: Neighbour, cx: &mut Context<'_>) {
        let verdict = self.report_undelivered(view(packet, None), to, Undelivered::Dropped, cx.now);
        if verdict != Verdict::Drop {
            cx.counters.repeated += 1;
            self.carry_out(verdict, packet.clone(), None, cx);
        }
    }

    fn send_message(&mut self, message: Message, cx: &mut Context<'_>) {
        let Message { source, destination, hop, ttl, octets } = message;
        let router = self.router.as_ref().expect("it has spoken");
        cx.counters.route_requests = router.protocol.requests();
        let routing = Some(RoutingPart { encapsulation: router.encapsulation, octets });
        let part = Arc::new(Part { routing, ..Part::default() });
        let ip = Ipv4 {
            source: source.map_or(self.node, node_of),
            destination: node_of(destination),
            id: self.next_id,
            offset: 0,
            payload: 0,
            more_fragments: false,
            ttl,
            ecn: Ecn::NotEct,
        };
        self.next_id = self.next_id.wrapping_add(1);
        // RFC 8325, section 4.1: network control has user priority 7.
        let tag = Tag {
            flow: FlowId::NONE,
            seq: 0,
            created: cx.now,
            socket: u16::MAX,
            priority: UserPriority::NETWORK_CONTROL,
            expires: Expiry::NEVER,
        };
        let packet = Packet { ip, body: Body::Message, tag, part: Some(part) };
        match hop {
            Some(next) => {
                cx.counters.originated += 1;
                let exists = (next.interface as usize) < self.config.interfaces.len();
                let hop = match next.address {
                    Ipv4Addr::BROADCAST => exists.then(|| router.neighbours.all(self.node, next.interface)),
                    _ => router.hop(self.node, next),
                };
                match hop {
                    Some(hop) => self.put(hop, packet, cx),
                    None => count_host_drop(&packet, 1, DropCause::NoRoute, cx),
                }
            }
            None => {
                let neighbours = Arc::clone(&router.neighbours);
                // A wire has no ARP.
                let interfaces = match router.encapsulation {
                    Encapsulation::Arp => self.config.radios.len(),
                    Encapsulation::Udp { .. } | Encapsulation::Ip { .. } => self.config.interfaces.len(),
                };
                for interface in 0..interfaces as u32 {
                    cx.counters.originated += 1;
                    self.put(neighbours.all(self.node, interface), packet.clone(), cx);
                }
            }
        }
    }

    fn take_waiting(&mut self, destination: Ipv4Addr, now: Instant) -> Vec<Waiting<Packet>> {
        let Some(router) = &mut self.router else { return Vec::new() };
        let taken = router.waiting.take(destination);
        // Whoever is awake finds room once these have their routes.
        self.wake_stalled(now);
        taken
    }
}

/// How a packet was not delivered.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) enum Undelivered {
    /// Its frame got no acknowledgement at any attempt.
    Dropped,
    /// It waited at the interface for a neighbour that is lost.
    Purged,
}
