//! Programs at a host: sources, relays and sinks of flows.

use crate::host::app::fec::{Correction, FEC_SOURCE_TRAILER, Protection};
use crate::host::ip::fragment;
use crate::host::packet::{Coded, UDP_HEADER};
use crate::host::socket::udp::UdpSocket;
use crate::host::{Context, Endpoint, FlowId, Host, Slot, Socket};
use crate::metrics::DropCause;
use hopcast_protocols::application::{Relay, Source};
use hopcast_protocols::fec;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::QueueSpace;
use hopcast_radio::mac::edca::{AccessCategory, UserPriority};
use std::collections::VecDeque;
use std::sync::Arc;

/// One program.
#[derive(Debug)]
pub(in crate::host) struct Program {
    pub(in crate::host) flow: FlowId,
    pub(in crate::host) activity: Activity,
    /// Whether the program is among the host's writers.
    queued: bool,
    /// After a write that failed it writes nothing until then.
    resumes: Instant,
}

/// What a program does.
#[derive(Debug)]
pub(in crate::host) enum Activity {
    /// Writes data of its own into a UDP socket.
    UdpSource(UdpSource),
    /// Passes datagrams from one UDP socket to another.
    UdpRelay { relay: Relay<Unit>, input: u32, output: u32 },
    /// Writes data of its own into a TCP connection.
    TcpSource(crate::host::socket::tcp::StreamSource),
    /// Copies octets from one connection to another.
    TcpRelay { input: u32, output: u32 },
    /// Writes data of its own into a DCCP connection.
    DccpSource(crate::host::socket::dccp::UnitSource),
    /// Passes datagrams from one DCCP connection to another.
    DccpRelay(crate::host::socket::dccp::UnitRelay),
    /// Reads at once whatever comes, and corrects it where the flow is protected.
    Sink { correction: Option<Box<Correction>> },
    /// Has ended.
    Ended,
}

/// A source that writes datagrams into a socket.
#[derive(Debug)]
pub(in crate::host) struct UdpSource {
    source: Source,
    stop: Option<Instant>,
    socket: u32,
    protection: Option<Box<Protection>>,
}

/// A datagram as a program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) struct Unit {
    /// Number of the application's datagram, or of the repair packet, as in [`Tag::seq`](crate::host::packet::Tag::seq).
    pub(in crate::host) seq: u64,
    pub(in crate::host) created: Instant,
    pub(in crate::host) expires: Option<Instant>,
    /// Of the payload.
    pub(in crate::host) octets: u32,
    /// What it is to FEC, if that protects the flow.
    pub(in crate::host) coded: Option<Arc<Coded>>,
}

impl UdpSource {
    /// Whether nothing more is to be written. What FEC has to say by now is ready to leave after that.
    fn has_ended(&mut self, now: Instant) -> bool {
        let has_ended = self.stop.is_some_and(|stop| stop <= now) || self.source.poll_timeout().is_none();
        if let Some(protection) = &mut self.protection {
            protection.advance(has_ended, now);
        }
        has_ended
    }

    /// Octets of the repair packet that waits to leave.
    fn waiting(&mut self) -> Option<u32> {
        self.protection.as_mut().and_then(|protection| protection.waiting())
    }

    /// The source writes what is due, a datagram of `octets`; or, where one waits, the repair packet leaves.
    fn write(&mut self, flow: FlowId, octets: u32, cx: &mut Context<'_>) -> Unit {
        let repair = self.protection.as_mut().and_then(|protection| protection.take_repair(flow, cx));
        repair.unwrap_or_else(|| {
            let expires = self.source.expires();
            self.source.handle_written(cx.now);
            let seq = cx.flows[flow].handle_datagram_sent(octets);
            let unit = Unit { seq, created: cx.now, expires, octets, coded: None };
            match &mut self.protection {
                Some(protection) => protection.protect(unit, cx.now),
                None => unit,
            }
        })
    }

    /// Octets that FEC adds to a datagram.
    fn overhead(&self) -> u32 {
        if self.protection.is_some() { FEC_SOURCE_TRAILER } else { 0 }
    }

    /// When there may be something to write.
    fn poll_timeout(&self) -> Option<Instant> {
        let Some(protection) = &self.protection else { return self.source.poll_timeout() };
        // The end cuts the last block short.
        [self.source.poll_timeout(), protection.poll_timeout(), self.stop].into_iter().flatten().min()
    }
}

/// So long a blocking program waits after a write for which a routing protocol had no route, and at the most after one that left
/// too many packets waiting for a route or an address; a choice of ours.
const FAILED_WRITE_PAUSE: Duration = Duration::from_secs(1);

/// Programs with a blocking UDP write to one interface.
#[derive(Clone, Debug, Default)]
pub(in crate::host) struct Writers {
    /// By turns.
    waiting: VecDeque<u32>,
    /// Free places that its queue must have before one of them writes again, by category under EDCA; 0 unless one found too few.
    awaited: [usize; AccessCategory::ALL.len()],
}

/// How an attempt to write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// Something was written.
    Wrote,
    /// The interface queue has too little room; so many places are needed.
    NoRoom(usize),
    /// There is nothing to write, or the socket's own buffer has no room: something else will wake the program.
    Asleep,
}

impl Program {
    pub(in crate::host) fn new(flow: FlowId, activity: Activity) -> Self {
        Self { flow, activity, queued: false, resumes: Instant::START }
    }

    /// One that reads at once whatever comes.
    pub(in crate::host) fn sink(flow: FlowId, fec: Option<&fec::Config>) -> Self {
        let correction = fec.map(|config| Box::new(Correction::new(config, fec::Counting::new())));
        Self::new(flow, Activity::Sink { correction })
    }

    /// The datagram that a relay has read and not yet sent.
    pub(in crate::host) fn held_datagram(&self) -> Option<(FlowId, u64)> {
        match &self.activity {
            Activity::UdpRelay { relay, .. } => relay.poll_unit().map(|unit| (self.flow, unit.seq)),
            _ => None,
        }
    }
}

impl Host {
    /// Adds a program that writes to `remote` over UDP until `stop`, protected by FEC or not.
    pub fn add_udp_source(
        &mut self,
        flow: FlowId,
        source: Source,
        stop: Option<Instant>,
        remote: Endpoint,
        fec: Option<&fec::Config>,
    ) {
        let program = self.programs.len() as u32;
        let socket = self.add_udp_socket(flow, Some(remote), program);
        let start = source.poll_timeout();
        let protection = fec.map(|config| Box::new(Protection::new(config)));
        self.add_program(Program::new(flow, Activity::UdpSource(UdpSource { source, stop, socket, protection })));
        self.timers.set(Slot::Program(program).index(), start);
    }

    /// Adds a program that receives datagrams and sends each on to `remote` with a blocking call, before it receives the
    /// next. Returns the port that it receives on.
    pub fn add_udp_relay(&mut self, flow: FlowId, remote: Endpoint) -> u16 {
        let program = self.programs.len() as u32;
        let port = self.next_port();
        let input = self.add_udp_socket(flow, None, program);
        let output = self.add_udp_socket(flow, Some(remote), program);
        self.add_program(Program::new(flow, Activity::UdpRelay { relay: Relay::new(), input, output }));
        port
    }

    /// Adds a program that reads a flow's datagrams, and recovers them where FEC protects them. Returns the port that it receives
    /// on.
    pub fn add_udp_sink(&mut self, flow: FlowId, fec: Option<&fec::Config>) -> u16 {
        let port = self.next_port();
        self.add_udp_socket(flow, None, self.programs.len() as u32);
        self.add_program(Program::sink(flow, fec));
        port
    }

    /// A program's timer is due.
    pub(in crate::host) fn run_program(&mut self, program: u32, cx: &mut Context<'_>) {
        self.timers.set(Slot::Program(program).index(), None);
        match &self.programs[program as usize].activity {
            Activity::UdpSource(source) if source.source.is_blocking() => self.wake_writer(program, cx.now),
            Activity::UdpSource(_) => self.write_without_blocking(program, cx),
            Activity::UdpRelay { .. } => self.wake_writer(program, cx.now),
            Activity::TcpSource(_) => self.run_stream_source(program, cx),
            Activity::DccpSource(_) => self.run_unit_source(program, cx),
            _ => {}
        }
    }

    /// A program may be able to write, as far as its own socket goes.
    pub(in crate::host) fn wake_writer(&mut self, program: u32, now: Instant) {
        let blocking = match &self.programs[program as usize].activity {
            Activity::UdpSource(source) => source.source.is_blocking(),
            Activity::UdpRelay { .. } => true,
            _ => false,
        };
        let queued = &mut self.programs[program as usize].queued;
        if blocking && !*queued {
            *queued = true;
            let interface = self.interface_of(program, now);
            self.writers[interface as usize].waiting.push_back(program);
        }
    }

    /// The interface through which a program writes to UDP; without a route the first, where the write fails.
    fn interface_of(&mut self, program: u32, now: Instant) -> u32 {
        let socket = match self.programs[program as usize].activity {
            Activity::UdpSource(UdpSource { socket, .. }) => socket,
            Activity::UdpRelay { output, .. } => output,
            _ => return 0,
        };
        let remote = self.udp(socket).remote;
        remote.map_or(0, |remote| self.interface_towards(remote.node, now))
    }

    /// Whether a program waits for room at an interface.
    #[inline]
    pub fn has_writers(&self) -> bool {
        self.writers.iter().any(|writers| !writers.waiting.is_empty())
    }

    /// Lets writers write while their queue has `room`, in turn; true if one did.
    #[inline]
    pub(in crate::host) fn poll_writers(
        &mut self,
        room: &impl Fn(u32, UserPriority) -> QueueSpace,
        cx: &mut Context<'_>,
    ) -> bool {
        (0..self.writers.len())
            .any(|interface| !self.writers[interface].waiting.is_empty() && self.poll_writers_of(interface, room, cx))
    }

    /// The first one that finds too little room keeps its turn among those of its queue, so that large datagrams don't starve.
    ///
    /// All of them then wait until half of the queue is free, as those wait whom Linux lets write again when half of their buffer is
    /// (`sock_def_write_space`): who writes whenever a place becomes free leaves none to anybody else.
    fn poll_writers_of(
        &mut self,
        interface: usize,
        room: &impl Fn(u32, UserPriority) -> QueueSpace,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut turn = 0;
        while let Some(&program) = self.writers[interface].waiting.get(turn) {
            if self.writers.len() > 1 {
                // Its way may be another by now.
                let own = self.interface_of(program, cx.now) as usize;
                if own != interface {
                    self.writers[interface].waiting.remove(turn);
                    self.writers[own].waiting.push_back(program);
                    return true;
                }
            }
            let priority = cx.flows[self.programs[program as usize].flow].priority();
            let QueueSpace { places, category } = room(interface as u32, priority);
            let queue = category.map_or(0, |category| category as usize);
            let awaited = &mut self.writers[interface].awaited[queue];
            if places >= *awaited {
                *awaited = 0;
            }
            let attempt = match *awaited {
                0 => self.attempt(program, (interface, places), cx),
                awaited => Attempt::NoRoom(awaited),
            };
            let writers = &mut self.writers[interface];
            match attempt {
                Attempt::NoRoom(needed) => {
                    let half = self.config.interfaces[interface].queue_packets.div_ceil(2);
                    writers.awaited[queue] = needed.max(half as usize);
                    if category.is_none() {
                        return false;
                    }
                    turn += 1;
                }
                Attempt::Wrote => {
                    writers.waiting.remove(turn);
                    writers.waiting.push_back(program);
                    return true;
                }
                Attempt::Asleep => {
                    writers.waiting.remove(turn);
                    self.programs[program as usize].queued = false;
                }
            }
        }
        false
    }

    /// How many packets a UDP datagram of `octets` becomes that this socket sends over an interface.
    pub(in crate::host) fn packets_of(&mut self, octets: u32, socket: u32, interface: usize, now: Instant) -> u32 {
        let remote = self.udp(socket).remote.expect("a socket that a program writes to has a remote end");
        let mtu = self.largest_packet(remote.node, interface as u32, now);
        fragment::count(octets + UDP_HEADER, mtu)
    }

    fn add_udp_socket(&mut self, flow: FlowId, remote: Option<Endpoint>, program: u32) -> u32 {
        let socket = UdpSocket::new(flow, self.next_port(), remote, program, self.config.socket_buffer);
        self.add_socket(Socket::Udp(socket))
    }

    /// `room`: an interface, and how many free places its queue has.
    fn attempt(&mut self, program: u32, room: (usize, usize), cx: &mut Context<'_>) -> Attempt {
        match self.programs[program as usize].activity {
            Activity::UdpSource(_) => self.attempt_source(program, room, cx),
            Activity::UdpRelay { input, output, .. } => self.attempt_relay(program, input, output, room, cx),
            _ => Attempt::Asleep,
        }
    }

    fn attempt_source(&mut self, program: u32, room: (usize, usize), cx: &mut Context<'_>) -> Attempt {
        let now = cx.now;
        let Activity::UdpSource(source) = &mut self.programs[program as usize].activity else {
            return Attempt::Asleep;
        };
        let (has_ended, waiting, socket) = (source.has_ended(now), source.waiting(), source.socket);
        if has_ended && waiting.is_none() {
            self.programs[program as usize].activity = Activity::Ended;
            return Attempt::Asleep;
        }
        if self.is_pausing(program, now) {
            return Attempt::Asleep;
        }
        let Activity::UdpSource(source) = &mut self.programs[program as usize].activity else {
            return Attempt::Asleep;
        };
        let (octets, overhead) = match (waiting, source.source.poll_write(now)) {
            (Some(octets), _) => (octets, 0),
            (None, Some(octets)) => (octets, source.overhead()),
            (None, None) => {
                let timer = source.poll_timeout();
                self.timers.set(Slot::Program(program).index(), timer);
                return Attempt::Asleep;
            }
        };
        if !self.udp(socket).can_send(octets + overhead) {
            return Attempt::Asleep;
        }
        let packets = self.packets_of(octets + overhead, socket, room.0, now);
        let needed = self.places_for(packets, room.0);
        if needed > room.1 {
            return Attempt::NoRoom(needed);
        }
        let flow = self.programs[program as usize].flow;
        let Activity::UdpSource(source) = &mut self.programs[program as usize].activity else {
            return Attempt::Asleep;
        };
        let unit = source.write(flow, octets, cx);
        let (is_finished, is_protected) = (source.source.poll_timeout().is_none(), source.protection.is_some());
        let routed = self.send_udp(socket, unit, cx);
        if is_finished {
            cx.flows[flow].handle_source_finished();
        }
        if is_finished && !is_protected {
            self.programs[program as usize].activity = Activity::Ended;
        } else if !routed && (self.router.is_some() || self.unrouted == DropCause::NotAssociated) {
            // The call fails, but there may be a route later.
            self.programs[program as usize].resumes = now + FAILED_WRITE_PAUSE;
        } else if !routed {
            // The call fails: a program that would try again at once would never stop.
            self.programs[program as usize].activity = Activity::Ended;
        } else {
            self.pause_if_congested(program, socket, now);
        }
        Attempt::Wrote
    }

    /// A program that has just written pauses if more would only drive out what waits for a route or an address: its writes would
    /// never block, nor end.
    fn pause_if_congested(&mut self, program: u32, socket: u32, now: Instant) {
        let remote = self.udp(socket).remote;
        if remote.is_some_and(|remote| self.is_congested(remote.node, now)) {
            self.programs[program as usize].resumes = now + FAILED_WRITE_PAUSE;
            if !self.stalled.contains(&program) {
                self.stalled.push(program);
            }
        }
    }

    /// What waited for a route or an address has gone: there is room again.
    pub(in crate::host) fn wake_stalled(&mut self, now: Instant) {
        for program in core::mem::take(&mut self.stalled) {
            self.programs[program as usize].resumes = now;
            self.wake_writer(program, now);
        }
    }

    /// Whether a program pauses; it goes on at the end of that.
    fn is_pausing(&mut self, program: u32, now: Instant) -> bool {
        let resumes = self.programs[program as usize].resumes;
        if resumes > now {
            self.timers.set(Slot::Program(program).index(), Some(resumes));
        }
        resumes > now
    }

    fn attempt_relay(
        &mut self,
        program: u32,
        input: u32,
        output: u32,
        room: (usize, usize),
        cx: &mut Context<'_>,
    ) -> Attempt {
        if self.is_pausing(program, cx.now) {
            return Attempt::Asleep;
        }
        let Activity::UdpRelay { relay, .. } = &mut self.programs[program as usize].activity else {
            return Attempt::Asleep;
        };
        if relay.is_receiving() {
            let Socket::Udp(socket) = &mut self.sockets[input as usize] else { return Attempt::Asleep };
            match socket.read() {
                Some(unit) => relay.handle_unit(unit),
                None => return Attempt::Asleep,
            }
        }
        let Some(unit) = relay.poll_unit().cloned() else { return Attempt::Asleep };
        if !self.udp(output).can_send(unit.octets) {
            return Attempt::Asleep;
        }
        let packets = self.packets_of(unit.octets, output, room.0, cx.now);
        let needed = self.places_for(packets, room.0);
        if needed > room.1 {
            return Attempt::NoRoom(needed);
        }
        self.send_udp(output, unit, cx);
        if let Activity::UdpRelay { relay, .. } = &mut self.programs[program as usize].activity {
            relay.handle_sent();
        }
        self.pause_if_congested(program, output, cx.now);
        Attempt::Wrote
    }

    /// Free places that the queue of an interface must have for a datagram of `packets`. What never fits goes when the queue is empty.
    fn places_for(&self, packets: u32, interface: usize) -> usize {
        packets.min(self.config.interfaces[interface].queue_packets.max(1)) as usize
    }

    /// All writes of a source that never blocks which are due.
    fn write_without_blocking(&mut self, program: u32, cx: &mut Context<'_>) {
        let flow = self.programs[program as usize].flow;
        loop {
            let Activity::UdpSource(source) = &mut self.programs[program as usize].activity else {
                return;
            };
            let has_ended = source.has_ended(cx.now);
            let due = match source.waiting() {
                None if has_ended => {
                    self.programs[program as usize].activity = Activity::Ended;
                    return;
                }
                None => source.source.poll_write(cx.now),
                waiting => waiting,
            };
            let Some(octets) = due else {
                let timer = source.poll_timeout();
                self.timers.set(Slot::Program(program).index(), timer);
                return;
            };
            let socket = source.socket;
            let unit = source.write(flow, octets, cx);
            if self.udp(socket).can_send(unit.octets) {
                self.send_udp(socket, unit, cx);
            } else {
                let interface = self.interface_of(program, cx.now) as usize;
                let packets = u64::from(self.packets_of(unit.octets, socket, interface, cx.now));
                cx.counters.originated += packets;
                cx.counters.host_dropped += packets;
                cx.counters[DropCause::SendBufferFull] += packets;
                cx.flows[flow].handle_datagram_lost(unit.seq);
            }
        }
    }
}
