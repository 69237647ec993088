//! TCP sockets at a host: connections, and the programs that write to them, copy between them and read from them.

mod real;

use crate::host::app::program::{Activity, Program};
use crate::host::ip::router::RouteEvent;
use crate::host::packet::{Body, Tag};
use crate::host::{Context, Endpoint, FlowId, Host, Slot, Socket};
use crate::id::NodeId;
use crate::metrics::TcpStatistics;
use crate::scenario::model::CongestionLaw;
use hopcast_protocols::application::Source;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::tcp::congestion::CongestionControl;
use hopcast_protocols::transport::tcp::{CloseReason, Config, Connection, Output, Segment, State};
pub(in crate::host) use real::Handed;
use real::{RealPeer, statistics_of};

/// One end of a connection.
#[derive(Debug)]
pub(in crate::host) struct TcpSocket {
    pub(in crate::host) flow: FlowId,
    connection: Connection,
    local_port: u16,
    /// `None` until the first segment arrives at a listening socket.
    remote: Option<Endpoint>,
    program: u32,
    /// When the connection is to be opened; `None` once it is, and for a listening socket.
    opens: Option<Instant>,
    /// Whether windows and round-trip times of this connection are those of its flow.
    is_first: bool,
    /// Whether the socket is among the host's talkers.
    queued: bool,
    /// Where a real host is at the other end.
    real: Option<Box<RealPeer>>,
}

/// A source that writes into a connection.
#[derive(Debug)]
pub(in crate::host) struct StreamSource {
    source: Source,
    stop: Option<Instant>,
    socket: u32,
    /// A blocking write goes on when the send buffer has room for so much, or for what is left of it.
    quantum: u32,
    /// Octets of a blocking write that the send buffer has not accepted yet.
    left: u32,
    /// The source has ended; the connection is closed as soon as it is established.
    ended: bool,
}

impl TcpSocket {
    pub(in crate::host) fn statistics(&self) -> TcpStatistics {
        let mut statistics = statistics_of(&self.connection);
        if let Some(real) = &self.real {
            statistics += real.counted();
        }
        statistics
    }

    /// Closes the connection, unless that would discard what is written because the handshake is not done.
    fn close(&mut self, now: Instant) {
        if !matches!(self.connection.state(), State::Listen | State::SynSent) {
            self.connection.handle_close(now);
        }
    }
}

/// What a host needs to add one end of a connection.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// Parameters of the connection.
    pub config: Config,
    /// Its initial sequence number.
    pub initial_sequence: u32,
    /// The congestion control; `None`: that of the configuration's variant.
    pub congestion: Option<CongestionLaw>,
    /// The real host at its other end, if one is there.
    pub real: Option<NodeId>,
}

impl TcpOptions {
    fn congestion_control(&self) -> Box<dyn CongestionControl> {
        match &self.congestion {
            Some(control) => (control.make)(),
            None => self.config.variant.congestion_control(),
        }
    }
}

impl Host {
    /// Adds a program that connects to `remote` at `start`, writes until `stop`, and closes after that, or after its last
    /// octet. A blocking write goes on when the send buffer has room for `quantum` octets, or for what is left of it.
    pub fn add_tcp_source(
        &mut self,
        flow: FlowId,
        source: Source,
        (start, stop): (Instant, Option<Instant>),
        quantum: u32,
        remote: Endpoint,
        options: TcpOptions,
    ) {
        let program = self.programs.len() as u32;
        let quantum = quantum.min(options.config.send_buffer).max(1);
        let socket = self.add_connection(flow, program, start, remote, options, true);
        let wakes = source.poll_timeout();
        let source = StreamSource { source, stop, socket, quantum, left: 0, ended: false };
        self.add_program(Program::new(flow, Activity::TcpSource(source)));
        self.timers.set(Slot::Program(program).index(), wakes);
    }

    /// Adds a program that accepts a connection, connects to `remote` at `start`, and copies what comes from the first to
    /// the second as far as that has room. Returns the port that it listens on.
    pub fn add_tcp_relay(
        &mut self,
        flow: FlowId,
        start: Instant,
        remote: Endpoint,
        [input, output]: [TcpOptions; 2],
    ) -> u16 {
        let program = self.programs.len() as u32;
        let port = self.next_port();
        let input = self.add_listener(flow, program, input, None);
        let output = self.add_connection(flow, program, start, remote, output, false);
        self.add_program(Program::new(flow, Activity::TcpRelay { input, output }));
        port
    }

    /// Adds a program that accepts a connection and reads it; of a real host one after the other. Returns the port that it listens
    /// on.
    pub fn add_tcp_sink(&mut self, flow: FlowId, options: TcpOptions) -> u16 {
        let port = self.next_port();
        let renewal = Some(options.clone());
        self.add_listener(flow, self.programs.len() as u32, options, renewal);
        self.add_program(Program::sink(flow, None));
        port
    }

    /// A segment for a socket of this host.
    pub(in crate::host) fn deliver_segment(
        &mut self,
        socket: u32,
        segment: &Segment,
        from: Endpoint,
        cx: &mut Context<'_>,
    ) {
        let tcp = self.tcp(socket);
        tcp.remote.get_or_insert(from);
        tcp.connection.handle_segment(segment, cx.now);
        self.serve(socket, cx);
    }

    /// A timer of a connection, or its opening, is due.
    pub(in crate::host) fn expire_connection(&mut self, socket: u32, cx: &mut Context<'_>) {
        self.timers.set(Slot::Socket(socket).index(), None);
        let tcp = self.tcp(socket);
        if tcp.opens.take_if(|opens| *opens <= cx.now).is_none() {
            tcp.connection.handle_timeout(cx.now);
        }
        self.serve(socket, cx);
    }

    /// Lets a source write what it can.
    pub(in crate::host) fn run_stream_source(&mut self, program: u32, cx: &mut Context<'_>) {
        let Activity::TcpSource(stream) = &mut self.programs[program as usize].activity else { return };
        let Socket::Tcp(tcp) = &mut self.sockets[stream.socket as usize] else { return };
        let (socket, flow) = (stream.socket, tcp.flow);
        stream.write(tcp, cx);
        if stream.ended && stream.source.poll_timeout().is_none() {
            cx.flows[flow].handle_source_finished();
        }
        let timer = if stream.ended { None } else { stream.poll_timeout() };
        self.timers.set(Slot::Program(program).index(), timer);
        self.wake_talker(socket);
    }

    /// Takes one segment out of the connections; false if none has one.
    #[inline]
    pub(in crate::host) fn poll_connections(&mut self, cx: &mut Context<'_>) -> bool {
        !self.talkers.is_empty() && self.poll_talkers(cx)
    }

    fn poll_talkers(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(&socket) = self.talkers.front() {
            let tcp = self.tcp(socket);
            let output = if tcp.opens.is_some() { None } else { tcp.connection.poll_output(cx.now) };
            match output {
                Some(Output::Transmit(segment)) => {
                    self.send_segment(socket, segment, cx);
                    return true;
                }
                Some(Output::Closed(reason)) => self.handle_closed(socket, reason, cx),
                Some(Output::Connected | Output::Readable | Output::Writable) => self.serve(socket, cx),
                None => {
                    tcp.queued = false;
                    let timer = tcp.opens.or_else(|| tcp.connection.poll_timeout());
                    self.talkers.pop_front();
                    self.timers.set(Slot::Socket(socket).index(), timer);
                }
            }
        }
        false
    }

    /// Lets the program of a socket read and write what it can.
    fn serve(&mut self, socket: u32, cx: &mut Context<'_>) {
        let tcp = self.tcp(socket);
        let (flow, program) = (tcp.flow, tcp.program);
        if tcp.is_first {
            let connection = &tcp.connection;
            let srtt = connection.smoothed_rtt().unwrap_or(Duration::ZERO);
            // Before the handshake is done there is no window, and before the first loss no threshold.
            let is_open = !matches!(connection.state(), State::Listen | State::SynSent | State::SynReceived);
            let window = if is_open { connection.congestion_window() } else { 0 };
            let threshold = Some(connection.slow_start_threshold()).filter(|&threshold| threshold < u32::MAX);
            cx.flows[flow].handle_sender(window, threshold.unwrap_or(0), srtt, cx.now);
        }
        self.wake_talker(socket);
        match self.programs[program as usize].activity {
            Activity::TcpSource(_) => self.run_stream_source(program, cx),
            Activity::TcpRelay { input, output } => self.copy(input, output, cx.now),
            Activity::Sink { .. } => {
                let tcp = self.tcp(socket);
                let octets = tcp.connection.handle_read(u32::MAX, cx.now);
                if tcp.connection.is_finished() {
                    tcp.close(cx.now);
                }
                if octets > 0 {
                    cx.flows[flow].handle_stream_read(octets, cx.now);
                }
            }
            _ => {}
        }
    }

    /// A relay copies what it has received, as far as it can send it.
    fn copy(&mut self, input: u32, output: u32, now: Instant) {
        let room = self.tcp(output).connection.send_space();
        let from = self.tcp(input);
        let octets = from.connection.handle_read(room, now);
        let ended = from.connection.is_finished() && from.connection.readable() == 0;
        if ended {
            from.close(now);
        }
        let to = self.tcp(output);
        let taken = to.connection.handle_write(octets, now);
        debug_assert_eq!(taken, octets, "a connection takes what it has room for");
        if ended {
            to.close(now);
        }
        if octets > 0 || ended {
            self.wake_talker(input);
            self.wake_talker(output);
        }
    }

    /// A connection is gone: if that is not by the wish of both sides, so is all that hangs on it.
    fn handle_closed(&mut self, socket: u32, reason: CloseReason, cx: &mut Context<'_>) {
        if reason == CloseReason::Finished {
            return;
        }
        let tcp = self.tcp(socket);
        if let (CloseReason::Refused, Some(real)) = (reason, &mut tcp.real) {
            real.handle_refused();
        }
        let (flow, program) = (tcp.flow, tcp.program);
        cx.flows[flow].handle_stream_abandoned();
        match self.programs[program as usize].activity {
            Activity::TcpRelay { input, output } => {
                let other = if socket == input { output } else { input };
                self.tcp(other).connection.handle_abort(cx.now);
                self.wake_talker(other);
            }
            Activity::TcpSource(StreamSource { ref source, .. }) => {
                if source.is_finite() {
                    cx.flows[flow].handle_source_finished();
                }
                self.programs[program as usize].activity = Activity::Ended;
                self.timers.set(Slot::Program(program).index(), None);
            }
            _ => {}
        }
    }

    fn send_segment(&mut self, socket: u32, segment: Segment, cx: &mut Context<'_>) {
        let &mut TcpSocket { flow, local_port, remote, .. } = self.tcp(socket);
        // A socket that nobody has spoken to has nobody to answer.
        let Some(remote) = remote else { return };
        let body = Body::Tcp { source_port: local_port, destination_port: remote.port, segment };
        let priority = cx.flows[flow].priority();
        let tag =
            Tag { flow, seq: segment.payload_offset, created: cx.now, socket: socket as u16, priority, expires: None };
        self.send(remote.node, body, tag, None, cx);
    }

    fn wake_talker(&mut self, socket: u32) {
        let tcp = self.tcp(socket);
        if !std::mem::replace(&mut tcp.queued, true) {
            self.talkers.push_back(socket);
        }
    }

    fn tcp(&mut self, socket: u32) -> &mut TcpSocket {
        match &mut self.sockets[socket as usize] {
            Socket::Tcp(socket) => socket,
            Socket::Udp(_) | Socket::Dccp(_) => unreachable!("a program of TCP was made with a socket of TCP"),
        }
    }

    fn add_connection(
        &mut self,
        flow: FlowId,
        program: u32,
        opens: Instant,
        remote: Endpoint,
        options: TcpOptions,
        is_first: bool,
    ) -> u32 {
        let (listens, congestion) = (options.config.elfn.is_some(), options.congestion_control());
        let real = options.real.map(|node| Box::new(RealPeer::sink(node)));
        let socket = self.add_socket(Socket::Tcp(Box::new(TcpSocket {
            flow,
            connection: Connection::connect_with(options.config, options.initial_sequence, congestion),
            local_port: self.next_port(),
            remote: Some(remote),
            program,
            opens: Some(opens),
            is_first,
            queued: false,
            real,
        })));
        self.timers.set(Slot::Socket(socket).index(), Some(opens));
        if let Some(router) = self.router.as_mut().filter(|_| listens) {
            router.watch(socket, remote.node);
        }
        socket
    }

    /// The routing protocol has lost the route to the other end of a connection, or has one again.
    pub(in crate::host) fn handle_route_event(&mut self, socket: u32, event: RouteEvent, now: Instant) {
        let connection = &mut self.tcp(socket).connection;
        match event {
            RouteEvent::Broken => connection.handle_link_failure(now),
            RouteEvent::Back => connection.handle_link_restored(now),
        }
        self.wake_talker(socket);
    }

    /// `renewal`: of a socket that takes one connection of a real host after the other, what each is made with.
    fn add_listener(&mut self, flow: FlowId, program: u32, options: TcpOptions, renewal: Option<TcpOptions>) -> u32 {
        let congestion = options.congestion_control();
        let real = options.real.map(|node| Box::new(RealPeer::source(node, renewal)));
        self.add_socket(Socket::Tcp(Box::new(TcpSocket {
            flow,
            connection: Connection::listen_with(options.config, options.initial_sequence, congestion),
            local_port: self.next_port(),
            remote: None,
            program,
            opens: None,
            is_first: false,
            queued: false,
            real,
        })))
    }
}

impl StreamSource {
    /// Writes what is due and has room, and closes the connection after the last octet.
    fn write(&mut self, tcp: &mut TcpSocket, cx: &mut Context<'_>) {
        if self.stop.is_some_and(|stop| stop <= cx.now) {
            self.ended = true;
        }
        while !self.ended && self.write_once(tcp, cx) {}
        if self.ended {
            tcp.close(cx.now);
        }
    }

    /// One call of the source; false if it blocks, or nothing is due.
    fn write_once(&mut self, tcp: &mut TcpSocket, cx: &mut Context<'_>) -> bool {
        let flow = &mut cx.flows[tcp.flow];
        if self.left == 0 {
            let Some(octets) = self.source.poll_write(cx.now) else {
                self.ended = self.source.poll_timeout().is_none();
                return false;
            };
            if !self.source.is_blocking() {
                self.source.handle_written(cx.now);
                if tcp.connection.send_space() >= octets {
                    let taken = tcp.connection.handle_write(octets, cx.now);
                    flow.handle_stream_written(taken, taken == octets, cx.now);
                } else {
                    flow.handle_stream_refused(octets);
                }
                return true;
            }
            self.left = octets;
        }
        if tcp.connection.send_space() < self.left.min(self.quantum) {
            return false;
        }
        let taken = tcp.connection.handle_write(self.left, cx.now);
        self.left -= taken;
        flow.handle_stream_written(taken, self.left == 0, cx.now);
        if self.left == 0 {
            self.source.handle_written(cx.now);
        }
        taken > 0
    }

    /// When the source has to be run although nothing happened to its connection.
    fn poll_timeout(&self) -> Option<Instant> {
        let due = if self.left > 0 { None } else { self.source.poll_timeout() };
        [due, self.stop].into_iter().flatten().min()
    }
}
