//! DCCP sockets: connections, and the datagrams that they send.
//!
//! A datagram waits in its connection until the congestion control allows it, and is then one packet. Datagrams that a
//! connection has not sent when it ends are lost.

use super::{Connect, Owner, SocketEvent, SocketId, Step, Unit, count_refused};
use crate::host::packet::{Body, Expiry, Packet, Tag};
use crate::host::{Context, Endpoint, Slot, Stack, count_host_drop};
use crate::id::FlowId;
use crate::metrics::{DropCause, PathState, RateControl};
use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::adtfrc;
use hopcast_protocols::transport::dccp::{self, CloseReason, Config, Connection, Output, Payload, State};
use std::collections::VecDeque;

/// Numbers of packets have 48 bits (RFC 4340, section 7.2); those of one run, begun low, do not wrap.
const SEQUENCE_MODULUS: u64 = 1 << 48;

/// One end of a connection.
#[derive(Debug)]
pub(in crate::host) struct DccpSocket {
    pub(super) owner: Owner,
    /// Its number among all sockets.
    number: u32,
    connection: Connection,
    /// The machine at the other end; `None` until the first packet arrives at a listening socket.
    remote: Option<Endpoint>,
    /// When the connection is to be opened; `None` once it is, and for a listening socket.
    opens: Option<Instant>,
    /// Whether it is written to: it was not made by listening.
    is_written: bool,
    /// Whether rate and round-trip time of this connection are those of its flow.
    is_first: bool,
    /// Whether what the receiver finds out about the path is what the flow shows.
    is_last: bool,
    /// Whether the connection is to be closed once it is established.
    is_closing: bool,
    /// Datagrams that the connection has accepted and not sent.
    waiting: VecDeque<Unit>,
    /// The datagram of the packet that has come last, until its program has read it: a connection keeps none.
    arrived: Option<Unit>,
}

/// Parameters of one end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct DccpOptions {
    /// Parameters of the connection; the host fills in the ports.
    pub config: Config,
    /// Its initial sequence number.
    pub initial_sequence: u64,
}

impl DccpSocket {
    pub(in crate::host) fn flow(&self) -> FlowId {
        self.owner.flow
    }

    /// Sequence numbers of the datagrams that wait in the connection.
    pub(in crate::host) fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.waiting.iter().map(|unit| unit.seq)
    }

    /// Whether the connection would take a datagram of `octets`.
    pub(super) fn has_room(&mut self, octets: u32) -> bool {
        self.connection.has_room(octets)
    }

    /// The datagram that has just come.
    pub(super) fn read(&mut self) -> Option<Unit> {
        self.arrived.take()
    }

    /// Closes the connection, once that discards nothing that is written because the handshake is not done.
    pub(super) fn close(&mut self, now: Instant) {
        self.is_closing = true;
        if !matches!(self.connection.state(), State::Listen | State::Request | State::Closed) {
            self.connection.handle_close(now);
        }
    }

    fn rate_control(&self) -> RateControl {
        let sender = self.connection.sender();
        let tfrc = sender.tfrc();
        RateControl {
            rate: tfrc.rate() * 8.0,
            loss_event_rate: Some(tfrc.loss_event_rate()),
            rtt: tfrc.rtt().unwrap_or_default(),
            state: sender.adtfrc().map(|adtfrc| PathState::of_sender(adtfrc.is_probing(), adtfrc.states())),
        }
    }
}

impl Stack {
    /// Makes a socket that connects.
    pub(super) fn connect_dccp(&mut self, owner: Owner, options: DccpOptions, connect: Connect) -> SocketId {
        let Connect { remote, opens, is_first, .. } = connect;
        let port = self.next_port();
        let config = Config { local_port: port, remote_port: remote.port, ..options.config };
        let connection = Connection::connect(config, options.initial_sequence);
        let place = self.add_dccp(owner, port, connection);
        let socket = &mut self.dccp[place as usize];
        (socket.remote, socket.opens) = (Some(remote), Some(opens));
        (socket.is_written, socket.is_first) = (true, is_first);
        self.timers.set(Slot::Socket(socket.number).index(), Some(opens));
        SocketId::Dccp(place)
    }

    /// Makes a socket that listens, the last one of its flow or not.
    pub(super) fn listen_dccp(&mut self, owner: Owner, port: u16, options: DccpOptions, is_last: bool) -> SocketId {
        let config = Config { local_port: port, ..options.config };
        let place = self.add_dccp(owner, port, Connection::listen(config, options.initial_sequence));
        self.dccp[place as usize].is_last = is_last;
        SocketId::Dccp(place)
    }

    fn add_dccp(&mut self, owner: Owner, port: u16, connection: Connection) -> u32 {
        let place = self.dccp.len() as u32;
        let number = self.add_socket(SocketId::Dccp(place), port);
        self.dccp.push(DccpSocket {
            owner,
            number,
            connection,
            remote: None,
            opens: None,
            is_written: false,
            is_first: false,
            is_last: false,
            is_closing: false,
            waiting: VecDeque::new(),
            arrived: None,
        });
        place
    }

    /// Writes a datagram into a connection; what that has no room for is lost.
    pub(super) fn write_dccp(&mut self, place: u32, unit: Unit, cx: &mut Context<'_>) {
        let socket = &mut self.dccp[place as usize];
        if socket.connection.handle_write(Payload { unit: unit.seq, len: unit.octets }, cx.now) {
            socket.waiting.push_back(unit);
        } else {
            count_refused(socket.owner.flow, unit.seq, 1, cx);
        }
        self.unsettle(SocketId::Dccp(place));
    }

    /// A packet for a socket of this host; it came in this number of IP `packets`.
    pub(in crate::host) fn deliver_dccp(
        &mut self,
        place: u32,
        datagram: &Packet,
        packet: &dccp::Packet,
        packets: u32,
        cx: &mut Context<'_>,
    ) {
        let from = Endpoint { node: datagram.ip.source, port: datagram.body.source_port() };
        let socket = &mut self.dccp[place as usize];
        socket.remote.get_or_insert(from);
        let taken = socket.connection.statistics().data_packets_received;
        socket.connection.handle_packet(packet, cx.now);
        let receiver = socket.connection.receiver();
        if let Some(signs) = receiver.adtfrc().and_then(adtfrc::Receiver::signs) {
            let identified = adtfrc::Identification::ALL.map(|by| PathState::of_receiver(signs.states(by)));
            for loss in receiver.tfrc().losses() {
                let range = [loss.first, loss.last].map(|number| number % SEQUENCE_MODULUS);
                cx.flows.handle_losses(socket.owner.flow, range, identified);
            }
        }
        let has_data = datagram.datagram().is_some();
        socket.arrived = has_data.then(|| Unit::of(datagram, packet.payload.len));
        if has_data && socket.connection.statistics().data_packets_received == taken {
            // The connection is gone, or has never been.
            count_host_drop(datagram, packets, DropCause::NoSocket, cx);
        } else {
            cx.counters.delivered += u64::from(packets);
        }
        self.unsettle(SocketId::Dccp(place));
    }

    /// A timer of a connection, or its opening, is due.
    pub(super) fn expire_dccp(&mut self, place: u32, cx: &Context<'_>) {
        let socket = &mut self.dccp[place as usize];
        if socket.opens.take_if(|opens| *opens <= cx.now).is_none() {
            socket.connection.handle_timeout(cx.now);
        }
        self.unsettle(SocketId::Dccp(place));
    }

    /// Does one thing that a connection wants done.
    pub(super) fn step_dccp(&mut self, place: u32, cx: &mut Context<'_>) -> Step {
        let socket = &mut self.dccp[place as usize];
        let output = if socket.opens.is_some() { None } else { socket.connection.poll_output(cx.now) };
        Step::Event(match output {
            Some(Output::Transmit(packet)) => {
                self.send_dccp(place, packet, cx);
                return Step::Done;
            }
            Some(Output::Deliver(delivery)) => {
                let unit = socket.arrived.as_ref().map(|unit| (unit.seq, unit.octets));
                let payload = delivery.payload;
                debug_assert_eq!(unit, Some((payload.unit, payload.len)), "it delivers what has just come");
                let receiver = socket.connection.receiver().adtfrc().filter(|_| socket.is_last);
                let measured = receiver.and_then(|receiver| Some((receiver.sample()?, receiver.signs()?)));
                if let (Some((sample, signs)), Some((seq, _))) = (measured, unit) {
                    cx.flows.handle_arrival(socket.owner.flow, seq, sample, signs, cx.now);
                }
                SocketEvent::Readable
            }
            Some(Output::Connected | Output::Writable) => {
                if socket.is_closing {
                    socket.close(cx.now);
                }
                if !socket.is_written {
                    return Step::Done;
                }
                SocketEvent::Writable
            }
            Some(Output::Closed(reason)) => self.handle_dccp_closed(place, reason, cx),
            None => {
                self.rest(place, cx);
                return Step::Rest;
            }
        })
    }

    /// A connection has nothing more to do before its timer.
    fn rest(&mut self, place: u32, cx: &mut Context<'_>) {
        let socket = &self.dccp[place as usize];
        let timer = socket.opens.or_else(|| socket.connection.poll_timeout());
        if socket.is_first {
            cx.flows[socket.owner.flow].handle_rate_control(socket.rate_control(), cx.now);
        }
        self.timers.set(Slot::Socket(socket.number).index(), timer);
    }

    /// A connection is gone, with all that waited in it.
    fn handle_dccp_closed(&mut self, place: u32, reason: CloseReason, cx: &mut Context<'_>) -> SocketEvent {
        let socket = &mut self.dccp[place as usize];
        let flow = socket.owner.flow;
        let left = std::mem::take(&mut socket.waiting);
        left.iter().for_each(|unit| cx.flows[flow].handle_datagram_lost(unit.seq));
        SocketEvent::Closed { has_failed: reason != CloseReason::Finished }
    }

    fn send_dccp(&mut self, place: u32, packet: dccp::Packet, cx: &mut Context<'_>) {
        let socket = &mut self.dccp[place as usize];
        let flow = socket.owner.flow;
        let (mut seq, mut created, mut coded) = (Tag::NO_DATAGRAM, cx.now, None);
        if packet.payload.len > 0
            && let Some(unit) = socket.waiting.pop_front()
        {
            debug_assert_eq!(unit.seq, packet.payload.unit, "a connection sends in order");
            (seq, created, coded) = (unit.seq, unit.created, unit.coded);
            if socket.is_first {
                let number = hopcast_wire::dccp::Packet::new_unchecked(&packet.header[..]).sequence();
                cx.flows[flow].handle_numbered(number, seq);
            }
        }
        // A listening socket knows no address until the first packet arrives.
        let Some(remote) = socket.remote else { return };
        let priority = cx.flows[flow].priority();
        let tag = Tag { flow, seq, created, socket: socket.number as u16, priority, expires: Expiry::NEVER };
        let body = Body::Dccp(packet);
        let plan = self.plan(remote.node, body.octets(), cx.now);
        self.send(plan, remote.node, body, tag, coded, cx);
    }
}
