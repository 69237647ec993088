//! DCCP sockets at a host: connections, and the programs that write datagrams to them, pass them on and read them.
//!
//! A datagram waits in its connection until the congestion control lets it go, and is then one packet. What a connection has
//! not sent when it ends is lost.

use crate::host::app::fec::{FEC_SOURCE_TRAILER, Protection};
use crate::host::app::program::{Activity, Program, Unit};
use crate::host::packet::{Body, Packet, Tag};
use crate::host::{Context, Endpoint, FlowId, Host, Slot, Socket, count_host_drop};
use crate::metrics::{DropCause, PathState, RateControl};
use hopcast_protocols::application::Source;
use hopcast_protocols::fec;
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::adtfrc;
use hopcast_protocols::transport::dccp::{self, CloseReason, Config, Connection, Delivery, Output, Payload, State};
use std::collections::VecDeque;

/// Numbers of packets have 48 bits (RFC 4340, section 7.2); those of one run, begun low, do not wrap.
const SEQUENCE_MODULUS: u64 = 1 << 48;

/// One end of a connection.
#[derive(Debug)]
pub(in crate::host) struct DccpSocket {
    pub(in crate::host) flow: FlowId,
    connection: Connection,
    /// The machine at the other end; `None` until the first packet arrives at a listening socket.
    remote: Option<Endpoint>,
    program: u32,
    /// When the connection is to be opened; `None` once it is, and for a listening socket.
    opens: Option<Instant>,
    /// Whether rate and round-trip time of this connection are those of its flow.
    is_first: bool,
    /// Datagrams that the connection has accepted and not sent.
    waiting: VecDeque<Unit>,
}

/// A source that writes datagrams into a connection.
#[derive(Debug)]
pub(in crate::host) struct UnitSource {
    source: Source,
    stop: Option<Instant>,
    socket: u32,
    /// The source has ended; the connection is closed as soon as it is established and has taken what FEC has to say.
    ended: bool,
    protection: Option<Box<Protection>>,
}

/// A program that reads from one connection and writes to another, never blocking.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct UnitRelay {
    input: u32,
    output: u32,
    /// The input has ended.
    ended: bool,
}

/// What a host needs to add one end of a connection.
#[derive(Clone, Debug)]
pub struct DccpOptions {
    /// Parameters of the connection; the host fills in the ports.
    pub config: Config,
    /// Its initial sequence number.
    pub initial_sequence: u64,
}

impl DccpSocket {
    /// Sequence numbers of the datagrams that wait in the connection.
    pub(in crate::host) fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|unit| unit.seq)
    }

    /// Offers a datagram to the connection; false if it has no room.
    fn write(&mut self, unit: Unit, now: Instant) -> bool {
        let is_taken = self.connection.handle_write(Payload { unit: unit.seq, len: unit.octets }, now);
        if is_taken {
            self.waiting.push_back(unit);
        }
        is_taken
    }

    /// Closes the connection, unless that would discard what is written because the handshake is not done.
    fn close(&mut self, now: Instant) {
        if !matches!(self.connection.state(), State::Listen | State::Request | State::Closed) {
            self.connection.handle_close(now);
        }
    }

    fn rate_control(&self) -> RateControl {
        let sender = self.connection.sender();
        let tfrc = sender.tfrc();
        RateControl {
            rate: tfrc.rate() * 8.0,
            loss_event_rate: tfrc.loss_event_rate(),
            rtt: tfrc.rtt().unwrap_or_default(),
            state: sender.adtfrc().map(|adtfrc| PathState::of_sender(adtfrc.is_probing(), adtfrc.states())),
        }
    }
}

impl Host {
    /// Adds a program that connects to `remote` at `start`, writes until `stop`, protected by FEC or not, and closes after that,
    /// or after its last datagram.
    pub fn add_dccp_source(
        &mut self,
        flow: FlowId,
        source: Source,
        (start, stop): (Instant, Option<Instant>),
        remote: Endpoint,
        options: DccpOptions,
        fec: Option<&fec::Config>,
    ) {
        let program = self.programs.len() as u32;
        let socket = self.add_dccp_connection(flow, program, start, remote, options, true);
        let wakes = source.poll_timeout();
        let protection = fec.map(|config| Box::new(Protection::new(config)));
        let source = UnitSource { source, stop, socket, ended: false, protection };
        self.add_program(Program::new(flow, Activity::DccpSource(source)));
        self.timers.set(Slot::Program(program).index(), wakes);
    }

    /// Adds a program that accepts a connection, connects to `remote` at `start`, and passes on what comes; what the second
    /// connection has no room for is lost. Returns the port that it listens on.
    pub fn add_dccp_relay(
        &mut self,
        flow: FlowId,
        start: Instant,
        remote: Endpoint,
        [input, output]: [DccpOptions; 2],
    ) -> u16 {
        let program = self.programs.len() as u32;
        let port = self.next_port();
        let input = self.add_dccp_listener(flow, program, input);
        let output = self.add_dccp_connection(flow, program, start, remote, output, false);
        self.add_program(Program::new(flow, Activity::DccpRelay(UnitRelay { input, output, ended: false })));
        port
    }

    /// Adds a program that accepts a connection and reads it, and recovers what is lost where FEC protects it. Returns the port
    /// that it listens on.
    pub fn add_dccp_sink(&mut self, flow: FlowId, options: DccpOptions, fec: Option<&fec::Config>) -> u16 {
        let port = self.next_port();
        self.add_dccp_listener(flow, self.programs.len() as u32, options);
        self.add_program(Program::sink(flow, fec));
        port
    }

    /// A packet for a socket of this host, which came in so many IP packets.
    pub(in crate::host) fn deliver_dccp(&mut self, socket: u32, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        let Body::Dccp(packet) = &datagram.body else { return };
        let from = Endpoint { node: datagram.ip.source, port: datagram.body.source_port() };
        let end = self.dccp(socket);
        end.remote.get_or_insert(from);
        let taken = end.connection.statistics().data_packets_received;
        end.connection.handle_packet(packet, cx.now);
        let flow = end.flow;
        let receiver = end.connection.receiver();
        if let Some(signs) = receiver.adtfrc().and_then(adtfrc::Receiver::signs) {
            let identified = adtfrc::Identification::ALL.map(|by| PathState::of_receiver(signs.states(by)));
            for loss in receiver.tfrc().losses() {
                let range = [loss.first, loss.last].map(|number| number % SEQUENCE_MODULUS);
                cx.flows.handle_losses(flow, range, identified);
            }
        }
        if datagram.datagram().is_some() && end.connection.statistics().data_packets_received == taken {
            // The connection is gone, or has never been.
            count_host_drop(datagram, packets, DropCause::NoSocket, cx);
        } else {
            cx.counters.delivered += u64::from(packets);
        }
        self.settle_dccp(socket, Some(datagram), cx);
    }

    /// A timer of a connection, or its opening, is due.
    pub(in crate::host) fn expire_dccp(&mut self, socket: u32, cx: &mut Context<'_>) {
        self.timers.set(Slot::Socket(socket).index(), None);
        let end = self.dccp(socket);
        if end.opens.take_if(|opens| *opens <= cx.now).is_none() {
            end.connection.handle_timeout(cx.now);
        }
        self.settle_dccp(socket, None, cx);
    }

    /// Lets a source write what it can.
    pub(in crate::host) fn run_unit_source(&mut self, program: u32, cx: &mut Context<'_>) {
        let Activity::DccpSource(UnitSource { socket, .. }) = self.programs[program as usize].activity else { return };
        self.write_units(program, cx);
        self.settle_dccp(socket, None, cx);
    }

    fn write_units(&mut self, program: u32, cx: &mut Context<'_>) {
        let Activity::DccpSource(source) = &mut self.programs[program as usize].activity else { return };
        let Socket::Dccp(end) = &mut self.sockets[source.socket as usize] else { return };
        let flow = end.flow;
        source.write(end, cx);
        if source.ended && source.source.poll_timeout().is_none() {
            cx.flows[flow].handle_source_finished();
        }
        let timer = if source.ended { None } else { source.poll_timeout(cx.now) };
        self.timers.set(Slot::Program(program).index(), timer);
    }

    /// Does all that a connection wants done, and sets its timer. What it delivers came in `packet`: a connection keeps nothing.
    fn settle_dccp(&mut self, socket: u32, packet: Option<&Packet>, cx: &mut Context<'_>) {
        loop {
            let end = self.dccp(socket);
            let program = end.program;
            let output = if end.opens.is_some() { None } else { end.connection.poll_output(cx.now) };
            match output {
                Some(Output::Transmit(packet)) => self.send_dccp(socket, packet, cx),
                Some(Output::Deliver(delivery)) => self.take_unit(socket, delivery, packet, cx),
                Some(Output::Connected | Output::Writable) => match self.programs[program as usize].activity {
                    Activity::DccpSource(_) => self.write_units(program, cx),
                    Activity::DccpRelay(UnitRelay { ended: true, .. }) => self.dccp(socket).close(cx.now),
                    _ => {}
                },
                Some(Output::Closed(reason)) => self.handle_dccp_closed(socket, reason, cx),
                None => break,
            }
        }
        let end = self.dccp(socket);
        let timer = end.opens.or_else(|| end.connection.poll_timeout());
        if end.is_first {
            cx.flows[end.flow].handle_rate_control(end.rate_control(), cx.now);
        }
        self.timers.set(Slot::Socket(socket).index(), timer);
    }

    /// A connection hands up a datagram, which came in `packet`.
    fn take_unit(&mut self, socket: u32, delivery: Delivery, packet: Option<&Packet>, cx: &mut Context<'_>) {
        let program = self.dccp(socket).program;
        let packet = packet.expect("a connection delivers what has just come");
        let unit = Unit::of(packet, delivery.payload.len);
        debug_assert_eq!(unit.seq, delivery.payload.unit, "a packet's tag names the unit in it");
        match self.programs[program as usize].activity {
            Activity::DccpRelay(UnitRelay { output, .. }) => {
                let (flow, seq) = (self.programs[program as usize].flow, unit.seq);
                if !self.dccp(output).write(unit, cx.now) {
                    refuse(flow, seq, cx);
                }
                self.settle_dccp(output, None, cx);
            }
            _ => {
                self.read_unit(program, unit, cx);
                let end = self.dccp(socket);
                let receiver = end.connection.receiver().adtfrc();
                if let Some(sample) = receiver.and_then(adtfrc::Receiver::sample) {
                    cx.flows[end.flow].handle_path_sample(sample, cx.now);
                }
            }
        }
    }

    /// A connection is gone, with all that waited in it. Unless it is by the wish of both sides, so is all that hangs on it.
    fn handle_dccp_closed(&mut self, socket: u32, reason: CloseReason, cx: &mut Context<'_>) {
        let end = self.dccp(socket);
        let (flow, program) = (end.flow, end.program);
        let left = std::mem::take(&mut end.waiting);
        left.iter().for_each(|unit| cx.flows[flow].handle_datagram_lost(unit.seq));
        match &mut self.programs[program as usize].activity {
            Activity::DccpRelay(relay) if socket == relay.input => {
                relay.ended = true;
                let output = relay.output;
                self.dccp(output).close(cx.now);
                self.settle_dccp(output, None, cx);
            }
            Activity::DccpSource(UnitSource { source, .. }) if reason != CloseReason::Finished => {
                if source.is_finite() {
                    cx.flows[flow].handle_source_finished();
                }
                self.programs[program as usize].activity = Activity::Ended;
                self.timers.set(Slot::Program(program).index(), None);
            }
            _ => {}
        }
    }

    fn send_dccp(&mut self, socket: u32, packet: dccp::Packet, cx: &mut Context<'_>) {
        let end = self.dccp(socket);
        let &mut DccpSocket { flow, remote, .. } = end;
        let is_first = end.is_first;
        let (mut seq, mut created, mut coded) = (Tag::NO_DATAGRAM, cx.now, None);
        if packet.payload.len > 0
            && let Some(unit) = end.waiting.pop_front()
        {
            debug_assert_eq!(unit.seq, packet.payload.unit, "a connection sends in order");
            (seq, created, coded) = (unit.seq, unit.created, unit.coded);
            if is_first {
                let number = hopcast_wire::dccp::Packet::new_unchecked(&packet.header[..]).sequence();
                cx.flows[flow].handle_numbered(number, seq);
            }
        }
        // A socket that nobody has spoken to has nobody to answer.
        let Some(remote) = remote else { return };
        let priority = cx.flows[flow].priority();
        let tag = Tag { flow, seq, created, socket: socket as u16, priority, expires: None };
        self.send(remote.node, Body::Dccp(packet), tag, coded, cx);
    }

    fn dccp(&mut self, socket: u32) -> &mut DccpSocket {
        match &mut self.sockets[socket as usize] {
            Socket::Dccp(socket) => socket,
            Socket::Udp(_) | Socket::Tcp(_) => unreachable!("a program of DCCP was made with a socket of DCCP"),
        }
    }

    fn add_dccp_connection(
        &mut self,
        flow: FlowId,
        program: u32,
        opens: Instant,
        remote: Endpoint,
        options: DccpOptions,
        is_first: bool,
    ) -> u32 {
        let config = Config { local_port: self.next_port(), remote_port: remote.port, ..options.config };
        let socket = self.add_socket(Socket::Dccp(Box::new(DccpSocket {
            flow,
            connection: Connection::connect(config, options.initial_sequence),
            remote: Some(remote),
            program,
            opens: Some(opens),
            is_first,
            waiting: VecDeque::new(),
        })));
        self.timers.set(Slot::Socket(socket).index(), Some(opens));
        socket
    }

    fn add_dccp_listener(&mut self, flow: FlowId, program: u32, options: DccpOptions) -> u32 {
        let config = Config { local_port: self.next_port(), ..options.config };
        self.add_socket(Socket::Dccp(Box::new(DccpSocket {
            flow,
            connection: Connection::listen(config, options.initial_sequence),
            remote: None,
            program,
            opens: None,
            is_first: false,
            waiting: VecDeque::new(),
        })))
    }
}

impl UnitSource {
    /// Writes what is due and has room, and closes the connection after the last datagram.
    fn write(&mut self, end: &mut DccpSocket, cx: &mut Context<'_>) {
        if self.stop.is_some_and(|stop| stop <= cx.now) {
            self.ended = true;
        }
        while self.write_once(end, cx) {}
        if self.ended && self.waiting(cx.now).is_none() {
            end.close(cx.now);
        }
    }

    /// One call of the source, or one repair packet; false if it blocks, or nothing is due.
    fn write_once(&mut self, end: &mut DccpSocket, cx: &mut Context<'_>) -> bool {
        if let Some(octets) = self.waiting(cx.now) {
            if self.source.is_blocking() && !end.connection.has_room(octets) {
                return false;
            }
            let repair = self.protection.as_mut().and_then(|protection| protection.take_repair(end.flow, cx));
            repair.into_iter().for_each(|unit| offer(end, unit, cx));
            return true;
        }
        if self.ended {
            return false;
        }
        let Some(octets) = self.source.poll_write(cx.now) else {
            self.ended = self.source.poll_timeout().is_none();
            // FEC learns of the end.
            return self.ended;
        };
        let overhead = if self.protection.is_some() { FEC_SOURCE_TRAILER } else { 0 };
        if self.source.is_blocking() && !end.connection.has_room(octets + overhead) {
            return false;
        }
        self.source.handle_written(cx.now);
        let seq = cx.flows[end.flow].handle_datagram_sent(octets);
        let unit = Unit { seq, created: cx.now, expires: None, octets, coded: None };
        let unit = match &mut self.protection {
            Some(protection) => protection.protect(unit, cx.now),
            None => unit,
        };
        offer(end, unit, cx);
        true
    }

    /// Octets of the repair packet that waits to leave.
    fn waiting(&mut self, now: Instant) -> Option<u32> {
        let protection = self.protection.as_mut()?;
        protection.advance(self.ended, now);
        protection.waiting()
    }

    /// When the source has to be run although nothing happened to its connection. One that blocks and is due waits for room.
    fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        let due = self.source.poll_timeout().filter(|&due| due > now);
        let block = self.protection.as_ref().and_then(|protection| protection.poll_timeout());
        [due, block, self.stop].into_iter().flatten().min()
    }
}

/// Writes a datagram into a connection, or loses it.
fn offer(end: &mut DccpSocket, unit: Unit, cx: &mut Context<'_>) {
    let (flow, seq) = (end.flow, unit.seq);
    if !end.write(unit, cx.now) {
        refuse(flow, seq, cx);
    }
}

/// A connection has no room for a datagram.
fn refuse(flow: FlowId, seq: u64, cx: &mut Context<'_>) {
    cx.counters.originated += 1;
    cx.counters.host_dropped += 1;
    cx.counters[DropCause::SendBufferFull] += 1;
    cx.flows[flow].handle_datagram_lost(seq);
}
