//! One simulated machine, in four layers: programs, sockets, IP, and the link down to the interface.
//!
//! ```text
//!   app      source, relay, sink     read and write; told by events when they may go on
//!               │  ▲
//!   socket   UDP with buffers, TCP and DCCP connections
//!               │  ▲
//!   ip       route, fragment, reassemble, forward
//!               │  ▲
//!   link     address resolution, if the host has it; access; cards
//!    poll_output▼  │handle_packet             handle_sent, handle_drop: the interface reports what became of a packet
//!           interface queue, MAC
//! ```
//!
//! A host has any number of interfaces, radios and wires; a route leads to one of them and to the neighbour behind it.
//!
//! The driver makes one change (`handle_*`), then takes packets from `Host::poll_output` until it returns `None`,
//! offering each to its interface, and then sets its timer to `Host::poll_timeout`.
//!
//! Programs call the layers below, which form one `Stack`. These do not know of programs: the host carries events up.

mod app;
mod ip;
mod link;
pub mod packet;
mod pool;
mod real;
mod socket;

#[cfg(test)]
mod tests;

pub use ip::neighbours::Neighbours;
pub use link::sdu::{Arp, Ends, Management, Raw, Sdu};
pub use real::Listener;

pub(crate) use app::SourceOptions;
pub(crate) use app::cloud::{CloudOptions, Form, Request};
pub(crate) use app::fec::{FEC_HEADER, FEC_SOURCE_TRAILER};
pub(crate) use ip::router::{Neighbour, ROUTE_QUEUE_PACKETS, ROUTE_QUEUE_TIMEOUT, Router};
pub(crate) use ip::routes::{Destinations, Hop, Routes};
pub(crate) use link::access;
pub(crate) use link::card;
pub(crate) use pool::SduPool;
pub(crate) use real::{Arrival, BegunDatagrams, RealFrame};
pub(crate) use socket::dccp::DccpOptions;
pub(crate) use socket::rtp::RtpOptions;
pub(crate) use socket::tcp::TcpOptions;
pub(crate) use socket::{ListenOptions, SocketOptions};

use crate::engine::Reaction;
use crate::id::{FlowId, NodeId};
use crate::metrics::{Census, Counters, DropCause, Dropped, FlowTable};
use crate::stop::Stop;
use crate::timers::Timers;
use app::Program;
use hopcast_protocols::arp::Config as ArpConfig;
use hopcast_protocols::streaming::device::Device;
use hopcast_protocols::streaming::profile::LinkTotals;
use hopcast_protocols::time::Instant;
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{QueueSpace, StationId};
use hopcast_wire::MacAddress;
use ip::reassembly::Reassembly;
use ip::router::Undelivered;
use link::arp::Resolution;
use packet::Packet;
use real::{ErrorLimit, Real};
use socket::dccp::DccpSocket;
use socket::messages::MessageSocket;
use socket::ports::Ports;
use socket::rtp::RtpSocket;
use socket::tcp::TcpSocket;
use socket::turns::{Next, Place, Turn, Turns};
use socket::udp::UdpSocket;
use socket::{SocketEvent, SocketId};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::rc::Rc;

/// One simulated machine. Fields that an arriving packet reads come first, for the sake of the processor's cache.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Host {
    stack: Stack,
    programs: Vec<Program>,
}

/// Sockets, IP and link of a host: what its programs call.
#[derive(Debug)]
#[repr(C)]
struct Stack {
    node: NodeId,
    next_id: u16,
    /// Why a packet is dropped for which `routes` has no route.
    unrouted: DropCause,
    /// In place of `routes`, where a protocol finds them.
    router: Option<Box<Router>>,
    /// Where a real host stands in.
    real: Option<Box<Real>>,
    /// Where addresses of neighbours' radios are not known beforehand.
    resolution: Option<Box<Resolution>>,
    /// What is for the interfaces, in order.
    ready: VecDeque<Transmit>,
    /// TCP sockets that may have a segment to send, or something to tell.
    talkers: VecDeque<u32>,
    /// By interface: UDP sockets with a blocking write that they have room for. They wait for the interface only.
    turns: Vec<Turns>,
    timers: Timers,
    config: HostConfig,
    routes: Routes,
    /// What sockets have raised, with the program that it is for.
    events: VecDeque<(u32, SocketId, SocketEvent)>,
    /// Sockets of DCCP and RTP that may have something to send or to tell; the last one comes first.
    unsettled: Vec<SocketId>,
    /// Of what it tells real hosts.
    errors: ErrorLimit,
    /// By number.
    sockets: Vec<SocketId>,
    ports: Ports,
    udp: Vec<UdpSocket>,
    tcp: Vec<TcpSocket>,
    dccp: Vec<DccpSocket>,
    rtp: Vec<RtpSocket>,
    messages: Vec<MessageSocket>,
    /// Whether a program wants a station dump.
    wants_dump: bool,
    /// The turn of a socket.
    turn: Turn,
    /// Sockets whose write does not return, as too many packets wait for a route or an address.
    stalled: Vec<SocketId>,
    reassembly: Reassembly,
}

/// Parameters of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Its interfaces, at least one.
    pub interfaces: Vec<Interface>,
    /// Its radios, which are the first interfaces.
    pub radios: Vec<StationId>,
    /// Hardware addresses of all interfaces.
    pub hardware: Vec<MacAddress>,
    /// Address resolution for neighbours' radios; `None`: it knows all addresses.
    pub arp: Option<ArpConfig>,
    /// Send buffer and receive buffer of each UDP socket, in bytes of payload.
    pub socket_buffer: u32,
    /// A blocking write of a longer UDP datagram, in bytes of payload, returns when the interface is done with the datagram; `None`: all
    /// return when the send buffer has it.
    pub hold_threshold: Option<u32>,
    /// Seed of the run, for the host's own draws.
    pub seed: u64,
}

/// Properties of an interface for its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// MTU: largest IP datagram in bytes; `None`: never fragments.
    pub mtu: Option<u32>,
    /// Length of its queue.
    pub queue_packets: u32,
}

/// Shared state that a host can use during a call.
#[derive(Debug)]
pub struct Context<'a> {
    /// The time.
    pub now: Instant,
    /// The measurements of all flows.
    pub flows: &'a mut FlowTable,
    /// The counters of this node.
    pub counters: &'a mut Counters,
    /// The pool of units for interfaces.
    pub pool: &'a mut SduPool,
    /// What ends a call that does not end by itself.
    pub stop: &'a Stop,
}

/// A unit for an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The interface, and the receiving neighbour.
    pub hop: Hop,
    /// The unit.
    pub sdu: Rc<Sdu>,
}

/// A unit that an interface has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// The neighbour that sent it, and the receiving interface.
    pub from: Neighbour,
    /// The unit.
    pub sdu: Rc<Sdu>,
}

/// One end of a UDP association or of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The machine.
    pub node: NodeId,
    /// The port.
    pub port: u16,
}

/// Largest number of sockets of one host.
pub(crate) const MAX_SOCKETS: usize = socket::ports::MAX_SOCKETS;

impl Host {
    /// A machine without programs.
    pub(crate) fn new(node: NodeId, config: HostConfig, routes: Routes) -> Self {
        Self { stack: Stack::new(node, config, routes), programs: Vec::new() }
    }

    /// Makes routes depend on associations from now on: a packet without one is dropped as [`DropCause::NotAssociated`],
    /// and a program whose write fails tries again later.
    pub(crate) fn set_associated(&mut self) {
        self.stack.unrouted = DropCause::NotAssociated;
    }

    /// Gives the host a routing protocol, which replaces its table.
    pub(crate) fn set_router(&mut self, router: Router) {
        self.stack.set_router(router);
    }

    /// Puts a real host in this place from now on: packets for it wait in [`Self::poll_arrival`].
    pub(crate) fn set_real(&mut self) {
        self.stack.real = Some(Box::default());
    }

    /// Sends packets for `destination` this way from now on, or drops them.
    pub(crate) fn redirect(&mut self, destination: NodeId, hop: Option<Hop>) {
        self.stack.routes.redirect(destination, hop);
    }

    /// The interface received a packet from a neighbour, for this host or to forward. Returns whether the results of
    /// [`Self::poll_output`], [`Self::poll_purge`] and [`Self::poll_timeout`] may have changed: most messages of a
    /// flooding routing protocol change nothing.
    #[inline]
    pub(crate) fn handle_packet(&mut self, sdu: &Sdu, from: Neighbour, cx: &mut Context<'_>) -> Reaction {
        let reaction = self.stack.handle_sdu(sdu, from, cx);
        if reaction == Reaction::Any {
            self.run_programs(cx);
        }
        reaction
    }

    /// A packet for this host was lost on its way from the interface.
    pub(crate) fn handle_lost(&mut self, sdu: &Sdu, cause: DropCause, cx: &mut Context<'_>) {
        cx.counters.received += 1;
        count_host_drop(sdu.packet(), 1, cause, cx);
    }

    /// This host overheard a packet from one neighbour to another node.
    pub(crate) fn handle_overheard(&mut self, packet: &Packet, from: Neighbour, to: NodeId, cx: &mut Context<'_>) {
        self.stack.handle_overheard(packet, from, to, cx);
    }

    /// The interface has sent `sdu`: its frame was acknowledged, or needed no acknowledgement.
    pub(crate) fn handle_sent(&mut self, sdu: Rc<Sdu>, cx: &mut Context<'_>) {
        cx.counters.sent += 1;
        self.stack.release(sdu.packet(), cx.now);
        cx.pool.take_back(sdu);
    }

    /// `sdu`, which the interface has sent without acknowledgement, did not arrive.
    pub(crate) fn handle_unheard(&mut self, sdu: &Sdu, cx: &mut Context<'_>) {
        count_drop(sdu.packet(), 1, DropCause::Unheard, None, cx);
    }

    /// The interface dropped `sdu`, which was for `to`, because its queue was full or after its last attempt. A routing
    /// protocol is told of the latter, and may take the packet back.
    pub(crate) fn handle_drop(&mut self, sdu: Rc<Sdu>, to: Neighbour, cause: DropCause, cx: &mut Context<'_>) {
        self.stack.handle_drop(&sdu, to, cause, cx);
        cx.pool.take_back(sdu);
    }

    /// The next neighbour, given as interface and station, whose waiting packets the interface should return through
    /// [`Self::handle_purged`].
    pub(crate) fn poll_purge(&mut self) -> Option<(u32, StationId)> {
        self.stack.poll_purge()
    }

    /// The interface returns `sdu`, which waited for `to`.
    pub(crate) fn handle_purged(&mut self, sdu: &Sdu, to: Neighbour, cx: &mut Context<'_>) {
        self.stack.handle_undelivered(sdu, to, Undelivered::Purged, DropCause::NoRoute, cx);
    }

    /// The time of [`Self::poll_timeout`] has come, or has passed.
    pub(crate) fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        while self.stack.timers.first() <= cx.now && !cx.stop.is_set() {
            match Slot::of(self.stack.timers.first_owner()) {
                Slot::Reassembly => self.stack.expire_reassembly(cx),
                Slot::Router => self.stack.expire_router(cx),
                Slot::Resolution => self.stack.expire_resolution(cx),
                Slot::Program(program) => {
                    self.stack.set_program_timer(program, None);
                    self.programs[program as usize].handle_timeout(&mut self.stack, cx);
                }
                Slot::Socket(socket) => self.stack.expire_socket(socket, cx),
            }
            self.run_programs(cx);
        }
    }

    /// Time of the next call of [`Self::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Some(self.stack.timers.first()).filter(|&first| first < Timers::NEVER)
    }

    /// The next packet for an interface; `room` returns the number of free places that an interface has now for packets
    /// of a priority.
    ///
    /// Only blocking writes to UDP wait for room. All other packets come out whatever the room: if the queue is full it
    /// drops them, and reports them with [`Self::handle_drop`]. The host drops expired packets here.
    #[inline]
    pub(crate) fn poll_output(
        &mut self,
        room: impl Fn(u32, UserPriority) -> QueueSpace,
        cx: &mut Context<'_>,
    ) -> Option<Transmit> {
        loop {
            if let Some(transmit) = self.stack.poll_ready(cx) {
                return Some(transmit);
            }
            if self.stack.poll_talkers(cx) {
                self.run_programs(cx);
            } else if !self.has_writers() || !self.give_turns(&room, cx) || cx.stop.is_set() {
                return None;
            }
        }
    }

    /// Whether a program waits for room at an interface.
    #[inline]
    pub(crate) fn has_writers(&self) -> bool {
        self.stack.has_writers()
    }

    /// Lets programs act on what their sockets have raised, until nothing is left.
    #[inline]
    fn run_programs(&mut self, cx: &mut Context<'_>) {
        while let Some((program, socket, event)) = self.stack.poll_event(cx)
            && !cx.stop.is_set()
        {
            self.programs[program as usize].handle_event(socket, event, &mut self.stack, cx);
        }
    }

    /// Lets programs write while their queue has `room`, in turn, until one has; false if none has.
    fn give_turns(&mut self, room: &impl Fn(u32, UserPriority) -> QueueSpace, cx: &mut Context<'_>) -> bool {
        let mut place = Place::default();
        loop {
            match self.stack.next_turn(&mut place, room, cx) {
                Next::Turn(program) => {
                    let wrote = self.programs[program as usize].handle_turn(&mut self.stack, cx);
                    if self.stack.end_turn(&mut place, wrote) {
                        return true;
                    }
                }
                Next::Moved => return true,
                Next::Nobody => return false,
            }
        }
    }

    /// The interface whose station dump a program wants.
    #[inline]
    pub(crate) fn poll_station_dump(&mut self) -> Option<u32> {
        core::mem::take(&mut self.stack.wants_dump).then_some(socket::messages::INTERFACE)
    }

    /// The station dump that [`Self::poll_station_dump`] asked for.
    pub(crate) fn handle_station_dump(&mut self, dump: &[(Ipv4Addr, LinkTotals)], now: Instant) {
        for program in &mut self.programs {
            program.handle_station_dump(dump, now);
        }
    }

    /// The device of a streaming cloud that runs here.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.programs.iter().find_map(Program::device)
    }

    /// Reads what a packet at this host is likely to need; see [`crate::engine::Upper::prefetch`].
    #[inline]
    pub(crate) fn prefetch(&self) -> u64 {
        u64::from(self.stack.next_id)
    }

    /// Like [`Self::prefetch`], for the router.
    #[inline]
    pub(crate) fn prefetch_router(&self) -> u64 {
        self.router().map_or(0, Router::prefetch)
    }

    /// Like [`Self::prefetch`], for the routing protocol.
    #[inline]
    pub(crate) fn prefetch_protocol(&self) -> u64 {
        self.router().map_or(0, |router| hopcast_protocols::routing::prefetch(router.protocol()))
    }

    /// Whether this number of sockets can be added; each source and sink needs one, a relay two.
    pub(crate) fn has_room_for_sockets(&self, count: usize) -> bool {
        self.stack.sockets.len() + count <= MAX_SOCKETS
    }

    /// Reserves `port` for a program that is added later and asks for it: no other socket chooses it.
    pub(crate) fn reserve_port(&mut self, port: u16) {
        self.stack.ports.reserve(port);
    }

    /// The node of this host.
    pub(crate) fn node(&self) -> NodeId {
        self.stack.node
    }

    /// The routing protocol of the host, if it has one.
    pub(crate) fn router(&self) -> Option<&Router> {
        self.stack.router.as_deref()
    }

    /// The next hop of packets for `destination`.
    pub(crate) fn hop_towards(&self, destination: NodeId) -> Option<Hop> {
        self.stack.routes.get(destination).copied()
    }

    /// Length of each queue of an interface.
    pub(crate) fn queue_places(&self, interface: u32) -> u32 {
        self.stack.config.interfaces[interface as usize].queue_packets
    }

    /// Packets that this host holds: ready for the interface, or waiting for other fragments of their datagrams, for a
    /// route, or for an address.
    pub(crate) fn held_packets(&self) -> u64 {
        let waiting = self.router().map_or(0, |router| router.waiting().len());
        let unresolved = self.stack.resolution.as_ref().map_or(0, |resolution| resolution.waiting().count());
        self.stack.ready.len() as u64 + self.stack.reassembly.packets() + waiting as u64 + unresolved as u64
    }

    /// Adds the datagrams that this host holds, whole or in part, to `census`. Those in the interface are not among them.
    pub(crate) fn count_in_flight(&self, census: &mut Census) {
        let Stack { ready, reassembly, router, resolution, udp, dccp, rtp, real, .. } = &self.stack;
        let packets = ready.iter().filter_map(|transmit| transmit.sdu.packet()).chain(reassembly.datagrams());
        let packets = packets.chain(router.iter().flat_map(|router| router.waiting()));
        let packets = packets.chain(resolution.iter().flat_map(|resolution| resolution.waiting()));
        let packets = packets.chain(real.iter().flat_map(|real| real.waiting()));
        packets.for_each(|packet| census.insert(packet.tag.flow, packet.tag.seq));
        for program in &self.programs {
            if let Some((flow, seq)) = program.held_datagram() {
                census.insert(flow, seq);
            }
        }
        for socket in udp {
            socket.unread().for_each(|unit| census.insert(socket.flow(), unit.seq));
        }
        for socket in dccp {
            socket.waiting().for_each(|seq| census.insert(socket.flow(), seq));
        }
        for socket in rtp {
            socket.held().for_each(|seq| census.insert(socket.flow(), seq));
        }
    }

    /// Ends the run: collects the counters of the connections.
    pub(crate) fn finish(&self, flows: &mut FlowTable) {
        for socket in &self.stack.tcp {
            flows[socket.flow()].handle_connection_statistics(socket.statistics());
        }
    }

    /// Checks that the packets that this host received and created equal those that it sent, delivered, dropped and
    /// holds.
    pub(crate) fn check(&self, counters: &Counters) -> Result<(), ConservationError> {
        let (expected, held) = (counters.unaccounted(), self.held_packets());
        if expected == i128::from(held) { Ok(()) } else { Err(ConservationError { node: self.node(), expected, held }) }
    }

    /// Whether this is a real host.
    pub(crate) fn is_real(&self) -> bool {
        self.stack.real.is_some()
    }

    /// Arrival time of the next packet for the real host.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.stack.next_arrival()
    }

    /// The next packet for the real host.
    pub(crate) fn poll_arrival(&mut self) -> Option<Arrival> {
        self.stack.poll_arrival()
    }

    /// The real host has sent `sdu` to the neighbour at `hop`.
    pub(crate) fn handle_sent_by_real(&mut self, hop: Hop, sdu: Sdu, cx: &mut Context<'_>) {
        self.stack.handle_sent_by_real(hop, sdu, cx);
    }

    /// The real host at the other end of a connection of this host sends `packet`, now: its new data enters the
    /// simulation here.
    pub(crate) fn handle_entering(&mut self, listener: &Listener, packet: &Packet, cx: &mut Context<'_>) {
        self.stack.handle_entering(listener, packet, cx);
    }

    /// Flows whose connections real hosts have refused, and where they should lead.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (FlowId, Endpoint)> + '_ {
        self.stack.refused()
    }
}

impl Stack {
    fn new(node: NodeId, config: HostConfig, routes: Routes) -> Self {
        let resolution = config.arp.map(|arp| Box::new(Resolution::new(arp, node, &config.radios, config.seed)));
        Self {
            node,
            resolution,
            turns: vec![Turns::default(); config.interfaces.len()],
            config,
            routes,
            unrouted: DropCause::NoRoute,
            router: None,
            real: None,
            errors: ErrorLimit::new(),
            sockets: Vec::new(),
            ports: Ports::default(),
            udp: Vec::new(),
            tcp: Vec::new(),
            dccp: Vec::new(),
            rtp: Vec::new(),
            messages: Vec::new(),
            wants_dump: false,
            events: VecDeque::new(),
            unsettled: Vec::new(),
            ready: VecDeque::new(),
            turn: Turn::default(),
            stalled: Vec::new(),
            talkers: VecDeque::new(),
            reassembly: Reassembly::new(),
            timers: Timers::new(3),
            next_id: 0,
        }
    }
}

/// Packets of a host that appeared or vanished without a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("node {}: {held} packets are held where {expected} should be", node.0)]
pub struct ConservationError {
    /// The host.
    pub node: NodeId,
    /// Number of packets by the counters.
    pub expected: i128,
    /// Number of packets that the host holds.
    pub held: u64,
}

/// Whose a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Reassembly,
    Router,
    Resolution,
    Program(u32),
    Socket(u32),
}

impl Slot {
    const fn index(self) -> usize {
        match self {
            Self::Reassembly => 0,
            Self::Router => 1,
            Self::Resolution => 2,
            Self::Program(program) => 3 + 2 * program as usize,
            Self::Socket(socket) => 4 + 2 * socket as usize,
        }
    }

    const fn of(index: usize) -> Self {
        match index {
            0 => Self::Reassembly,
            1 => Self::Router,
            2 => Self::Resolution,
            _ if index.is_multiple_of(2) => Self::Socket((index / 2 - 2) as u32),
            _ => Self::Program((index / 2 - 1) as u32),
        }
    }
}

/// Counts `packets` packets of one datagram as dropped, or one SDU that is no packet. Unless it is TCP's the datagram can't arrive
/// any more by this copy. `link`: whose frame the interface gave up, and for whom.
fn count_drop<'a>(
    packet: impl Into<Option<&'a Packet>>,
    packets: u32,
    cause: DropCause,
    link: Option<(NodeId, NodeId)>,
    cx: &mut Context<'_>,
) {
    let packet = packet.into();
    cx.counters[cause] += u64::from(packets);
    note_dropped(packet, packets, cause, link.map(|(_, to)| to), cx);
    if let Some(packet) = packet
        && let Some(seq) = packet.datagram()
    {
        cx.flows.handle_datagram_dropped(packet.tag.flow, seq, cause, link);
    }
}

/// Notes dropped packets if a recording wants to know.
#[inline]
fn note_dropped(
    packet: Option<&Packet>,
    packets: u32,
    cause: DropCause,
    neighbour: Option<NodeId>,
    cx: &mut Context<'_>,
) {
    let time = cx.now;
    cx.flows.note_dropped(packets, |node| Dropped {
        time,
        node,
        neighbour,
        cause,
        flow: packet.and_then(Packet::flow_and_number),
        octets: packet.map_or(0, Packet::octets),
    });
}

/// Counts packets that this host itself dropped.
fn count_host_drop<'a>(packet: impl Into<Option<&'a Packet>>, packets: u32, cause: DropCause, cx: &mut Context<'_>) {
    cx.counters.host_dropped += u64::from(packets);
    count_drop(packet, packets, cause, None, cx);
}
