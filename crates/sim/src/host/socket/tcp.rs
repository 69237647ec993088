//! TCP sockets: connections, and the segments that they send.

mod real;

use super::{Connect, Owner, Read, SocketEvent, SocketId};
use crate::host::ip::router::RouteEvent;
use crate::host::packet::{Body, Tag};
use crate::host::{Context, Endpoint, Slot, Stack};
use crate::id::{FlowId, NodeId};
use crate::metrics::TcpStatistics;
use crate::registry::CustomCongestionControl;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::congestion::CongestionControl;
use hopcast_protocols::transport::tcp::{CloseReason, Config, Connection, Output, Segment, State};
use hopcast_wire::ecn::Ecn;
pub(in crate::host) use real::Handed;
use real::{RealPeer, statistics_of};

/// One end of a connection.
#[derive(Debug)]
pub(in crate::host) struct TcpSocket {
    owner: Owner,
    /// Its number among all sockets.
    number: u32,
    connection: Connection,
    /// `None` until the first segment arrives at a listening socket.
    remote: Option<Endpoint>,
    /// When the connection is to be opened; `None` once it is, and for a listening socket.
    opens: Option<Instant>,
    /// Whether it is written to: it was not made by listening.
    is_written: bool,
    /// Whether windows and round-trip times of this connection are those of its flow.
    is_first: bool,
    /// Whether the connection is to be closed once it is established.
    is_closing: bool,
    /// Whether the socket is among the host's talkers.
    is_queued: bool,
    /// After which time a segment that is still on its way is dropped.
    deadline: Option<Duration>,
    /// Where a real host is at the other end.
    real: Option<Box<RealPeer>>,
}

impl TcpSocket {
    pub(in crate::host) fn flow(&self) -> FlowId {
        self.owner.flow
    }

    pub(in crate::host) fn statistics(&self) -> TcpStatistics {
        let mut statistics = statistics_of(&self.connection);
        if let Some(real) = &self.real {
            statistics += real.counted();
        }
        statistics
    }

    /// Bytes that the send buffer has room for.
    pub(super) fn space(&self) -> u32 {
        self.connection.send_space()
    }

    /// Closes the connection, once that discards nothing that is written because the handshake is not done.
    pub(super) fn close(&mut self, now: Instant) {
        self.is_closing = true;
        if !matches!(self.connection.state(), State::Listen | State::SynSent) {
            self.connection.handle_close(now);
        }
    }

    pub(super) fn abort(&mut self, now: Instant) {
        self.connection.handle_abort(now);
    }
}

/// Parameters of one end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct TcpOptions {
    /// Parameters of the connection.
    pub config: Config,
    /// Its initial sequence number.
    pub initial_sequence: u32,
    /// The congestion control; `None`: that of the configuration's variant.
    pub congestion: Option<CustomCongestionControl>,
    /// The real host at the other end, if there is one.
    pub real: Option<NodeId>,
    /// After which time a segment that is still on its way is dropped; `None`: never.
    pub deadline: Option<Duration>,
}

impl TcpOptions {
    fn congestion_control(&self) -> Box<dyn CongestionControl> {
        match &self.congestion {
            Some(control) => (control.make)(),
            None => self.config.variant.congestion_control(),
        }
    }
}

impl Stack {
    /// Makes a socket that connects.
    pub(super) fn connect_tcp(&mut self, owner: Owner, options: TcpOptions, connect: Connect) -> SocketId {
        let Connect { remote, opens, is_first, .. } = connect;
        let (listens, congestion) = (options.config.elfn.is_some(), options.congestion_control());
        let place = self.tcp.len() as u32;
        let number = self.add_socket(SocketId::Tcp(place), self.next_port());
        self.tcp.push(TcpSocket {
            owner,
            number,
            connection: Connection::connect_with(options.config, options.initial_sequence, congestion),
            remote: Some(remote),
            opens: Some(opens),
            is_written: true,
            is_first,
            is_closing: false,
            is_queued: false,
            deadline: options.deadline,
            real: options.real.map(|node| Box::new(RealPeer::sink(node))),
        });
        self.timers.set(Slot::Socket(number).index(), Some(opens));
        if let Some(router) = self.router.as_mut().filter(|_| listens) {
            router.watch(place, remote.node);
        }
        SocketId::Tcp(place)
    }

    /// Makes a socket that listens. The last one of a flow that comes from a real host takes one connection after the other.
    pub(super) fn listen_tcp(&mut self, owner: Owner, port: u16, options: TcpOptions, is_last: bool) -> SocketId {
        let congestion = options.congestion_control();
        let renewal = is_last.then(|| options.clone());
        let place = self.tcp.len() as u32;
        let number = self.add_socket(SocketId::Tcp(place), port);
        self.tcp.push(TcpSocket {
            owner,
            number,
            connection: Connection::listen_with(options.config, options.initial_sequence, congestion),
            remote: None,
            opens: None,
            is_written: false,
            is_first: false,
            is_closing: false,
            is_queued: false,
            deadline: options.deadline,
            real: options.real.map(|node| Box::new(RealPeer::source(node, renewal))),
        });
        SocketId::Tcp(place)
    }

    /// A segment for a socket of this host.
    pub(in crate::host) fn deliver_segment(
        &mut self,
        place: u32,
        segment: &Segment,
        ecn: Ecn,
        from: Endpoint,
        cx: &mut Context<'_>,
    ) {
        let socket = &mut self.tcp[place as usize];
        socket.remote.get_or_insert(from);
        socket.connection.handle_segment_with(segment, ecn, cx.now);
        self.raise(place, cx);
    }

    /// A timer of a connection, or its opening, is due.
    pub(super) fn expire_tcp(&mut self, place: u32, cx: &mut Context<'_>) {
        let socket = &mut self.tcp[place as usize];
        if socket.opens.take_if(|opens| *opens <= cx.now).is_none() {
            socket.connection.handle_timeout(cx.now);
        }
        self.raise(place, cx);
    }

    /// Takes a segment or an event out of the connections; false if none has any.
    #[inline]
    pub(in crate::host) fn poll_talkers(&mut self, cx: &mut Context<'_>) -> bool {
        !self.talkers.is_empty() && self.poll_connections(cx)
    }

    fn poll_connections(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(&place) = self.talkers.front() {
            let socket = &mut self.tcp[place as usize];
            let output = if socket.opens.is_some() { None } else { socket.connection.poll_output(cx.now) };
            match output {
                Some(Output::Transmit(segment)) => {
                    self.send_segment(place, segment, cx);
                    return true;
                }
                Some(Output::Closed(reason)) => {
                    self.handle_closed(place, reason, cx);
                    return true;
                }
                Some(Output::Connected | Output::Readable | Output::Writable) => {
                    self.raise(place, cx);
                    return true;
                }
                None => {
                    socket.is_queued = false;
                    let timer = socket.opens.or_else(|| socket.connection.poll_timeout());
                    let number = socket.number;
                    self.talkers.pop_front();
                    self.timers.set(Slot::Socket(number).index(), timer);
                }
            }
        }
        false
    }

    /// Something has happened to a connection: its program may be able to go on, and the connection has something to send.
    fn raise(&mut self, place: u32, cx: &mut Context<'_>) {
        let socket = &mut self.tcp[place as usize];
        if socket.is_first {
            let connection = &socket.connection;
            let srtt = connection.smoothed_rtt().unwrap_or(Duration::ZERO);
            // Before the handshake is done there is no window, and before the first loss no threshold.
            let is_open = !matches!(connection.state(), State::Listen | State::SynSent | State::SynReceived);
            let window = if is_open { connection.congestion_window() } else { 0 };
            let threshold = Some(connection.slow_start_threshold()).filter(|&threshold| threshold < u32::MAX);
            cx.flows[socket.owner.flow].handle_sender(window, threshold.unwrap_or(0), srtt, cx.now);
        }
        if socket.is_closing {
            socket.close(cx.now);
        }
        let event = if socket.is_written { SocketEvent::Writable } else { SocketEvent::Readable };
        self.events.push_back((socket.owner.program, SocketId::Tcp(place), event));
        self.wake_talker(place);
    }

    /// Writes bytes into a connection. Returns how many it has taken.
    pub(super) fn write_tcp(&mut self, place: u32, octets: u32, now: Instant) -> u32 {
        let taken = self.tcp[place as usize].connection.handle_write(octets, now);
        self.wake_talker(place);
        taken
    }

    /// Reads `at_most` bytes of a connection.
    pub(super) fn read_tcp(&mut self, place: u32, at_most: u32, now: Instant) -> Option<Read> {
        let connection = &mut self.tcp[place as usize].connection;
        if connection.readable() == 0 {
            return connection.is_finished().then_some(Read::End);
        }
        let octets = connection.handle_read(at_most, now);
        (octets > 0).then(|| {
            self.wake_talker(place);
            Read::Octets(octets)
        })
    }

    /// A connection is gone: what was written and not read is lost unless that is by the wish of both sides.
    fn handle_closed(&mut self, place: u32, reason: CloseReason, cx: &mut Context<'_>) {
        let socket = &mut self.tcp[place as usize];
        if let (CloseReason::Refused, Some(real)) = (reason, &mut socket.real) {
            real.handle_refused();
        }
        let has_failed = reason != CloseReason::Finished;
        if has_failed {
            cx.flows[socket.owner.flow].handle_stream_abandoned();
        }
        self.events.push_back((socket.owner.program, SocketId::Tcp(place), SocketEvent::Closed { has_failed }));
    }

    fn send_segment(&mut self, place: u32, segment: Segment, cx: &mut Context<'_>) {
        let socket = &self.tcp[place as usize];
        let (flow, ecn) = (socket.owner.flow, socket.connection.ecn());
        // A listening socket knows no address until the first segment arrives.
        let Some(remote) = socket.remote else { return };
        let source_port = self.ports.of(socket.number);
        let body = Body::Tcp { source_port, destination_port: remote.port, segment };
        let priority = cx.flows[flow].priority();
        let number = socket.number as u16;
        let tag = Tag {
            flow,
            seq: segment.payload_offset,
            created: cx.now,
            socket: number,
            priority,
            expires: socket.deadline.map(|deadline| cx.now + deadline).into(),
        };
        let plan = self.plan(remote.node, body.octets(), cx.now);
        self.send_marked(plan, remote.node, body, tag, None, ecn, cx);
    }

    pub(super) fn wake_talker(&mut self, place: u32) {
        let is_queued = &mut self.tcp[place as usize].is_queued;
        if !std::mem::replace(is_queued, true) {
            self.talkers.push_back(place);
        }
    }

    /// The routing protocol has lost the route to the other end of a connection, or has one again.
    pub(in crate::host) fn handle_route_event(&mut self, place: u32, event: RouteEvent, now: Instant) {
        let connection = &mut self.tcp[place as usize].connection;
        match event {
            RouteEvent::Broken => connection.handle_link_failure(now),
            RouteEvent::Back => connection.handle_link_restored(now),
        }
        self.wake_talker(place);
    }
}
