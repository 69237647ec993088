//! Sockets: what programs write to and read from.
//!
//! A program opens a socket, or listens with one, and from then on knows it only by a [`SocketId`], whatever the
//! protocol. A socket raises a [`SocketEvent`] when its program can continue. Each socket has one direction: programs
//! write to one that connects, and read from one that listens.
//!
//! Programs write and read datagrams, or the bytes of a stream. [`Stack::admit`] first admits a blocking write of a
//! datagram; one that does not block is sent, or lost ([`Stack::send_or_lose`]).

pub(in crate::host) mod dccp;
pub(in crate::host) mod messages;
pub(in crate::host) mod ports;
pub(in crate::host) mod rtp;
pub(in crate::host) mod tcp;
pub(in crate::host) mod turns;
pub(in crate::host) mod udp;
mod unread;

use super::ip::Plan;
use super::packet::{Body, Coded, Packet, Tag};
use super::{Context, Endpoint, Slot, Stack, count_host_drop};
use crate::host::packet::{DCCP, DEFAULT_TTL, TCP, UDP};
use crate::id::FlowId;
use crate::metrics::{DropCause, Dropped};
use dccp::DccpOptions;
use hopcast_protocols::time::Instant;
use ports::MAX_SOCKETS;
use rtp::RtpOptions;
use std::sync::Arc;
use tcp::TcpOptions;

/// A socket of a host, as its program holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum SocketId {
    /// By its place among those of UDP.
    Udp(u32),
    /// By its place among those of TCP.
    Tcp(u32),
    /// By its place among those of DCCP.
    Dccp(u32),
    /// By its place among those of RTP.
    Rtp(u32),
    /// Of UDP, for messages between neighbours; by its place among those.
    Messages(u32),
}

impl SocketId {
    /// Whether it carries a stream of bytes: otherwise datagrams.
    pub(in crate::host) fn is_stream(self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// Its protocol ("Assigned internet protocol numbers", IANA).
    fn protocol(self) -> u8 {
        match self {
            Self::Udp(_) | Self::Rtp(_) | Self::Messages(_) => UDP,
            Self::Tcp(_) => TCP,
            Self::Dccp(_) => DCCP,
        }
    }
}

/// What a socket tells its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum SocketEvent {
    /// There may be something to read.
    Readable,
    /// There may be room to write.
    Writable,
    /// An event of another socket: the sink that reads it has this number of bytes more of the flow that the program
    /// listens to.
    Heard {
        /// A datagram's, or what was read of a stream.
        octets: u32,
    },
    /// The congestion control allows the program this rate, in b/s.
    TargetRate(u64),
    /// The connection is gone; if it has failed, not by the wish of both sides.
    Closed {
        /// Whether it has failed.
        has_failed: bool,
    },
}

/// A datagram as a program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) struct Unit {
    /// Number of the application's datagram, or of the repair packet, as in [`Tag::seq`].
    pub(in crate::host) seq: u64,
    pub(in crate::host) created: Instant,
    pub(in crate::host) expires: Option<Instant>,
    /// Of the payload.
    pub(in crate::host) octets: u32,
    /// What it is to FEC, if that protects the flow.
    pub(in crate::host) coded: Option<Arc<Coded>>,
}

impl Unit {
    /// What a packet brought: a datagram of `octets`.
    fn of(packet: &Packet, octets: u32) -> Self {
        let Tag { seq, created, expires, .. } = packet.tag;
        Self { seq, created, expires: expires.at(), octets, coded: packet.coded().cloned() }
    }
}

/// What a program has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) enum Read {
    /// One datagram.
    Datagram(Unit),
    /// A number of bytes of a stream.
    Octets(u32),
    /// The end of a stream.
    End,
}

/// A socket has room for the datagram that was asked about, and how that is to leave is known.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) enum Permit {
    Udp(u32, Plan),
    Dccp(u32),
    Rtp(u32),
}

/// How a blocking write of a datagram has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::host) enum Sent {
    /// The datagram is on its way.
    Accepted,
    /// There is no route.
    NoRoute {
        /// Whether there may be one later.
        may_come: bool,
    },
}

/// The protocol of a socket, with its parameters.
#[derive(Clone, Debug)]
pub(crate) enum SocketOptions {
    /// UDP.
    Udp,
    /// TCP.
    Tcp(TcpOptions),
    /// DCCP.
    Dccp(DccpOptions),
    /// RTP over UDP.
    Rtp(RtpOptions),
}

/// What an unsettled socket has done.
enum Step {
    /// Something, and perhaps there is more.
    Done,
    /// Something of which its program must know.
    Event(SocketEvent),
    /// Nothing: it waits for its timer.
    Rest,
}

/// Whose a socket is.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Owner {
    pub(in crate::host) flow: FlowId,
    pub(in crate::host) program: u32,
}

/// Where a socket leads that is written to.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Connect {
    pub(in crate::host) remote: Endpoint,
    /// A connection is opened then.
    pub(in crate::host) opens: Instant,
    /// Whether its program writes with blocking calls.
    pub(in crate::host) is_blocking: bool,
    /// Whether it is the first socket of its flow, whose state is that of the flow.
    pub(in crate::host) is_first: bool,
}

/// Parameters of a listening program.
#[derive(Clone, Debug)]
pub(crate) struct ListenOptions {
    /// The protocol of its socket.
    pub socket: SocketOptions,
    /// The port, which [`Host::reserve_port`](super::Host::reserve_port) reserves; `None`: any.
    pub port: Option<u16>,
}

impl From<SocketOptions> for ListenOptions {
    fn from(socket: SocketOptions) -> Self {
        Self { socket, port: None }
    }
}

/// Counts a datagram of this host, of this number of `packets`, that its socket never sent: the send buffer has no room for it.
fn count_refused(flow: FlowId, seq: u64, packets: u32, cx: &mut Context<'_>) {
    let time = cx.now;
    cx.flows.note_dropped(packets, |node| Dropped {
        time,
        node,
        neighbour: None,
        cause: DropCause::SendBufferFull,
        flow: Some((flow, seq)),
        octets: 0,
    });
    let packets = u64::from(packets);
    cx.counters.originated += packets;
    cx.counters.host_dropped += packets;
    cx.counters[DropCause::SendBufferFull] += packets;
    cx.flows[flow].handle_datagram_lost(seq);
}

impl Stack {
    /// Makes a socket that is written to.
    pub(in crate::host) fn connect(&mut self, owner: Owner, options: SocketOptions, connect: Connect) -> SocketId {
        match options {
            SocketOptions::Udp => self.add_udp(owner, self.next_port(), Some(connect)),
            SocketOptions::Tcp(options) => self.connect_tcp(owner, options, connect),
            SocketOptions::Dccp(options) => self.connect_dccp(owner, options, connect),
            SocketOptions::Rtp(options) => self.connect_rtp(owner, &options, connect),
        }
    }

    /// Makes a socket that is read, the last of its flow or not. Returns the port that it listens on.
    pub(in crate::host) fn listen(&mut self, owner: Owner, options: ListenOptions, is_last: bool) -> (SocketId, u16) {
        let port = options.port.unwrap_or_else(|| self.next_port());
        let socket = match options.socket {
            SocketOptions::Udp => self.add_udp(owner, port, None),
            SocketOptions::Tcp(options) => self.listen_tcp(owner, port, options, is_last),
            SocketOptions::Dccp(options) => self.listen_dccp(owner, port, options, is_last),
            SocketOptions::Rtp(options) => self.listen_rtp(owner, port, &options),
        };
        (socket, port)
    }

    /// Whether a write of a datagram of `octets` with a blocking call would return now. If not, the socket raises an event, or gets
    /// its turn, when that may have changed.
    pub(in crate::host) fn admit(&mut self, socket: SocketId, octets: u32, now: Instant) -> Option<Permit> {
        match socket {
            SocketId::Udp(place) => self.admit_udp(place, octets, now).map(|plan| Permit::Udp(place, plan)),
            SocketId::Dccp(place) => self.dccp[place as usize].has_room(octets).then_some(Permit::Dccp(place)),
            SocketId::Rtp(place) => self.admit_rtp(place, octets, now).then_some(Permit::Rtp(place)),
            SocketId::Tcp(_) | SocketId::Messages(_) => None,
        }
    }

    /// Writes a datagram that was admitted.
    pub(in crate::host) fn send_admitted(&mut self, permit: Permit, unit: Unit, cx: &mut Context<'_>) -> Sent {
        match permit {
            Permit::Udp(place, plan) => self.send_udp(place, plan, unit, cx),
            Permit::Dccp(place) => {
                self.write_dccp(place, unit, cx);
                Sent::Accepted
            }
            Permit::Rtp(place) => self.send_rtp_admitted(place, unit, cx),
        }
    }

    /// Writes a datagram without blocking: what the socket has no room for is lost.
    pub(in crate::host) fn send_or_lose(&mut self, socket: SocketId, unit: Unit, cx: &mut Context<'_>) {
        match socket {
            SocketId::Udp(place) => self.send_udp_or_lose(place, unit, cx),
            SocketId::Dccp(place) => self.write_dccp(place, unit, cx),
            SocketId::Rtp(place) => self.write_rtp(place, unit, cx.now),
            SocketId::Tcp(_) | SocketId::Messages(_) => {}
        }
    }

    /// Bytes of a stream that a socket has room for. Datagrams are no matter of bytes.
    pub(in crate::host) fn space(&self, socket: SocketId) -> u32 {
        match socket {
            SocketId::Tcp(place) => self.tcp[place as usize].space(),
            SocketId::Udp(_) | SocketId::Dccp(_) | SocketId::Rtp(_) | SocketId::Messages(_) => u32::MAX,
        }
    }

    /// Writes bytes of a stream. Returns how many the socket has taken.
    pub(in crate::host) fn write(&mut self, socket: SocketId, octets: u32, now: Instant) -> u32 {
        match socket {
            SocketId::Tcp(place) => self.write_tcp(place, octets, now),
            SocketId::Udp(_) | SocketId::Dccp(_) | SocketId::Rtp(_) | SocketId::Messages(_) => 0,
        }
    }

    /// Reads what has come: a datagram, or up to `at_most` bytes of a stream.
    pub(in crate::host) fn read(&mut self, socket: SocketId, at_most: u32, now: Instant) -> Option<Read> {
        match socket {
            SocketId::Udp(place) => self.udp[place as usize].read().map(Read::Datagram),
            SocketId::Tcp(place) => self.read_tcp(place, at_most, now),
            SocketId::Dccp(place) => self.dccp[place as usize].read().map(Read::Datagram),
            SocketId::Rtp(place) => self.rtp[place as usize].read().map(Read::Datagram),
            SocketId::Messages(_) => None,
        }
    }

    /// The program writes no more, or has read the end: the connection is closed as soon as it is established and has sent what was
    /// written.
    pub(in crate::host) fn close(&mut self, socket: SocketId, now: Instant) {
        match socket {
            SocketId::Udp(place) => self.udp[place as usize].close(),
            SocketId::Tcp(place) => self.tcp[place as usize].close(now),
            SocketId::Dccp(place) => self.dccp[place as usize].close(now),
            SocketId::Rtp(place) => self.rtp[place as usize].close(),
            SocketId::Messages(_) => {}
        }
        self.settle(socket);
    }

    /// Gives a connection up.
    pub(in crate::host) fn abort(&mut self, socket: SocketId, now: Instant) {
        if let SocketId::Tcp(place) = socket {
            self.tcp[place as usize].abort(now);
            self.settle(socket);
        }
    }

    /// The program has done what it could with a socket, whose connection may go on.
    pub(in crate::host) fn settle(&mut self, socket: SocketId) {
        match socket {
            SocketId::Udp(_) | SocketId::Messages(_) => {}
            SocketId::Tcp(place) => self.wake_talker(place),
            SocketId::Dccp(_) | SocketId::Rtp(_) => self.unsettle(socket),
        }
    }

    /// Whether the program writes only when the socket has its turn at the interface; if so, the socket waits for one from now on.
    pub(in crate::host) fn awaits_turn(&mut self, socket: SocketId, now: Instant) -> bool {
        self.await_turn(socket, now);
        self.takes_turns(socket)
    }

    /// Wakes the program of a socket at `time`.
    pub(in crate::host) fn set_program_timer(&mut self, program: u32, time: Option<Instant>) {
        self.timers.set(Slot::Program(program).index(), time);
    }

    /// The next event, with the program that it is for, and the socket.
    #[inline]
    pub(in crate::host) fn poll_event(&mut self, cx: &mut Context<'_>) -> Option<(u32, SocketId, SocketEvent)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.unsettled.is_empty() || !self.poll_unsettled(cx) {
                return None;
            }
        }
    }

    /// A socket may have something to send, or to tell. The latest one comes first: what a relay passes on is sent before its other
    /// connection goes on.
    pub(super) fn unsettle(&mut self, socket: SocketId) {
        if self.unsettled.last() != Some(&socket) {
            self.unsettled.push(socket);
        }
    }

    /// Does what sockets want done, up to the next event; false if there is no event.
    fn poll_unsettled(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(&socket) = self.unsettled.last() {
            let (step, program) = match socket {
                SocketId::Dccp(place) => (self.step_dccp(place, cx), self.dccp[place as usize].owner.program),
                SocketId::Rtp(place) => (self.step_rtp(place, cx), self.rtp[place as usize].owner.program),
                SocketId::Udp(_) | SocketId::Tcp(_) | SocketId::Messages(_) => (Step::Rest, 0),
            };
            match step {
                Step::Done => {}
                Step::Rest => {
                    self.unsettled.pop();
                }
                Step::Event(event) => {
                    self.events.push_back((program, socket, event));
                    return true;
                }
            }
        }
        false
    }

    /// The timer of a socket is due.
    pub(in crate::host) fn expire_socket(&mut self, socket: u32, cx: &mut Context<'_>) {
        self.timers.set(Slot::Socket(socket).index(), None);
        match self.sockets[socket as usize] {
            SocketId::Udp(_) | SocketId::Messages(_) => {}
            SocketId::Tcp(place) => self.expire_tcp(place, cx),
            SocketId::Dccp(place) => self.expire_dccp(place, cx),
            SocketId::Rtp(place) => self.expire_rtp(place, cx.now),
        }
    }

    /// The socket that a datagram is for, if there is one.
    pub(in crate::host) fn socket_of(&self, datagram: &Packet) -> Option<SocketId> {
        let number = self.ports.number(datagram.body.protocol(), datagram.body.destination_port());
        self.sockets.get(number as usize).copied()
    }

    /// Hands a whole datagram, which came in this number of `packets`, to its socket.
    pub(in crate::host) fn deliver(&mut self, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        if !matches!(datagram.body, Body::Real { .. }) {
            let hops = u32::from(DEFAULT_TTL.saturating_sub(datagram.ip.ttl)) + 1;
            cx.flows.handle_hops(datagram.tag.flow, self.node, hops);
        }
        match (self.socket_of(datagram), &datagram.body) {
            (Some(SocketId::Udp(place)), &Body::Udp { length, .. }) => {
                self.deliver_udp(place, datagram, u32::from(length), packets, cx);
            }
            (Some(SocketId::Tcp(place)), Body::Tcp { segment, source_port, .. }) => {
                cx.counters.delivered += u64::from(packets);
                let from = Endpoint { node: datagram.ip.source, port: *source_port };
                self.deliver_segment(place, segment, datagram.ip.ecn, from, cx);
            }
            (Some(SocketId::Dccp(place)), Body::Dccp(packet)) => {
                self.deliver_dccp(place, datagram, packet, packets, cx);
            }
            (Some(SocketId::Rtp(place)), Body::Rtp { packet, .. }) => {
                self.deliver_rtp(place, datagram, packet, packets, cx);
            }
            (Some(SocketId::Messages(place)), &Body::Udp { length, .. }) => {
                self.deliver_message(place, datagram, length, packets, cx);
            }
            (_, Body::Real { .. }) => self.deliver_real(datagram, packets, cx),
            _ => count_host_drop(datagram, packets, DropCause::NoSocket, cx),
        }
    }

    /// Port of the next socket, if it may choose.
    fn next_port(&self) -> u16 {
        self.ports.choose(self.sockets.len() as u32)
    }

    /// Gives a socket with this port the next number. Returns the number.
    fn add_socket(&mut self, socket: SocketId, port: u16) -> u32 {
        debug_assert!(self.sockets.len() < MAX_SOCKETS, "the builder counts sockets");
        let number = self.sockets.len() as u32;
        self.sockets.push(socket);
        self.ports.assign(number, socket.protocol(), port);
        self.timers.grow(Slot::Socket(number + 1).index());
        number
    }
}
