//! Sockets of RTP: sessions over UDP, at the rate that a congestion control of media allows.
//!
//! A datagram waits in its session until pacer and window allow it, and is then one packet. One that has waited too long is lost. Where
//! neither holds packets back, blocking writes wait for room at the interface, as those to UDP do.

use super::turns::Writer;
use super::unread::Unread;
use super::{Connect, Owner, Sent, SocketEvent, SocketId, Step, Unit, count_refused};
use crate::host::packet::{Body, Expiry, Packet, Tag, UDP_HEADER};
use crate::host::{Context, Endpoint, Slot, Stack, count_host_drop};
use crate::id::FlowId;
use crate::metrics::{DropCause, PathState, RateControl};
use crate::registry::MediaCongestion;
use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::Payload;
use hopcast_protocols::transport::media::Source;
use hopcast_protocols::transport::rtp::{self, Config, Output, Receiver, Sender, Told};
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp;
use std::collections::VecDeque;

/// One end of a session.
#[derive(Debug)]
pub(in crate::host) struct RtpSocket {
    pub(super) owner: Owner,
    /// Its number among all sockets.
    number: u32,
    end: End,
    /// Its remote end is `None` until the first packet arrives at a listening socket.
    pub(super) writer: Writer,
    /// Whether there was no route for the last packet.
    is_unrouted: bool,
    /// Whether rate and round-trip time of this session are those of its flow.
    is_first: bool,
}

/// Which end it is.
#[derive(Debug)]
enum End {
    /// With the datagrams that the session has not sent, and those that it may send again.
    Sender(Box<Sender>, Units),
    /// With the datagrams that the program has not read.
    Receiver(Box<Receiver>, Unread),
}

/// The datagrams of a session that sends.
#[derive(Debug)]
struct Units {
    waiting: VecDeque<Unit>,
    /// With the time when they were sent.
    sent: VecDeque<(Instant, Unit)>,
    /// How long a datagram may be sent again.
    retransmission: Option<Duration>,
}

impl Units {
    fn new(retransmission: Option<Duration>) -> Self {
        Self { waiting: VecDeque::new(), sent: VecDeque::new(), retransmission }
    }

    /// The datagram `seq`, which leaves at `now`: the oldest that was not sent, or one that is sent again. Returns whether that is so.
    fn take(&mut self, seq: u64, now: Instant) -> Option<(Unit, bool)> {
        if self.waiting.front().is_none_or(|unit| unit.seq != seq) {
            let (_, unit) = self.sent.iter().find(|(_, unit)| unit.seq == seq)?;
            return Some((unit.clone(), true));
        }
        let unit = self.waiting.pop_front()?;
        if let Some(lifetime) = self.retransmission {
            while self.sent.front().is_some_and(|(sent, _)| sent.saturating_add(lifetime) < now) {
                self.sent.pop_front();
            }
            self.sent.push_back((now, unit.clone()));
        }
        Some((unit, false))
    }
}

/// Parameters of one end of a session.
#[derive(Clone, Debug)]
pub(crate) struct RtpOptions {
    /// What both ends agree on.
    pub config: Config,
    /// The congestion control of the sender.
    pub congestion: MediaCongestion,
    /// What the application can do.
    pub source: Source,
    /// The name of this end, and when it reports.
    pub reports: Stream,
}

impl RtpSocket {
    pub(in crate::host) fn flow(&self) -> FlowId {
        self.owner.flow
    }

    /// Sequence numbers of the datagrams that are here.
    pub(in crate::host) fn held(&self) -> impl Iterator<Item = u64> + '_ {
        let (waiting, unread) = match &self.end {
            End::Sender(_, units) => (Some(&units.waiting), None),
            End::Receiver(_, unread) => (None, Some(unread)),
        };
        let units = waiting.into_iter().flatten().chain(unread.into_iter().flat_map(Unread::iter));
        units.map(|unit| unit.seq)
    }

    /// Whether blocking writes wait for room at the interface.
    pub(super) fn takes_turns(&self) -> bool {
        self.writer.is_blocking && matches!(&self.end, End::Sender(sender, _) if !sender.is_held_back())
    }

    /// The program writes no more.
    pub(super) fn close(&mut self) {
        self.writer.is_blocking = false;
    }

    /// The datagrams of a session that sends.
    fn units(&mut self) -> Option<&mut Units> {
        match &mut self.end {
            End::Sender(_, units) => Some(units),
            End::Receiver(..) => None,
        }
    }

    /// The oldest datagram that has come.
    pub(super) fn read(&mut self) -> Option<Unit> {
        match &mut self.end {
            End::Sender(..) => None,
            End::Receiver(_, unread) => unread.pop(),
        }
    }
}

impl Stack {
    /// Makes a socket that sends.
    pub(super) fn connect_rtp(&mut self, owner: Owner, options: &RtpOptions, connect: Connect) -> SocketId {
        let control = options.congestion.start(options.source);
        // A run begins in 1970, as in its captures.
        let sender = Sender::new(options.config, control).with_reports(Duration::ZERO, options.reports.clone());
        let end = End::Sender(Box::new(sender), Units::new(options.config.retransmission));
        let port = self.next_port();
        // A relay sends at once what has come.
        let writer = Writer::new(Some(Connect { is_blocking: connect.is_blocking && connect.is_first, ..connect }));
        let place = self.add_rtp(owner, port, end, writer);
        let socket = &mut self.rtp[place as usize];
        socket.is_first = connect.is_first;
        self.timers.set(Slot::Socket(socket.number).index(), Some(connect.opens));
        SocketId::Rtp(place)
    }

    /// Makes a socket that receives.
    pub(super) fn listen_rtp(&mut self, owner: Owner, port: u16, options: &RtpOptions) -> SocketId {
        let receiver = Receiver::new(options.config).with_reports(options.reports.clone());
        let end = End::Receiver(Box::new(receiver), Unread::new());
        SocketId::Rtp(self.add_rtp(owner, port, end, Writer::new(None)))
    }

    fn add_rtp(&mut self, owner: Owner, port: u16, end: End, writer: Writer) -> u32 {
        let place = self.rtp.len() as u32;
        let number = self.add_socket(SocketId::Rtp(place), port);
        self.rtp.push(RtpSocket { owner, number, end, writer, is_unrouted: false, is_first: false });
        place
    }

    /// Whether a blocking write of `octets` would return now.
    pub(super) fn admit_rtp(&mut self, place: u32, octets: u32, now: Instant) -> bool {
        let (id, socket) = (SocketId::Rtp(place), &mut self.rtp[place as usize]);
        let End::Sender(sender, _) = &mut socket.end else { return false };
        let (has_room, length) = (sender.has_room(), UDP_HEADER + sender.packet_len(octets));
        if !has_room || !socket.takes_turns() {
            return has_room;
        }
        let destination = socket.writer.remote().node;
        if !self.has_turn(id) {
            self.await_turn(id, now);
            return false;
        }
        let plan = self.plan(destination, length, now);
        self.has_room_in_turn(plan.packets)
    }

    /// Writes a datagram that was admitted. One that nothing holds back leaves before the next has its turn.
    pub(super) fn send_rtp_admitted(&mut self, place: u32, unit: Unit, cx: &mut Context<'_>) -> Sent {
        self.write_rtp(place, unit, cx.now);
        let socket = &self.rtp[place as usize];
        if !socket.takes_turns() {
            return Sent::Accepted;
        }
        let (program, destination) = (socket.owner.program, socket.writer.remote().node);
        loop {
            match self.step_rtp(place, cx) {
                Step::Done => {}
                Step::Event(event) => self.events.push_back((program, SocketId::Rtp(place), event)),
                Step::Rest => break,
            }
        }
        if self.rtp[place as usize].is_unrouted {
            return Sent::NoRoute { may_come: self.may_get_route() };
        }
        if self.is_congested(destination, cx.now) {
            self.stall(SocketId::Rtp(place), cx.now);
        }
        Sent::Accepted
    }

    /// Writes a datagram into a session.
    pub(super) fn write_rtp(&mut self, place: u32, unit: Unit, now: Instant) {
        if let End::Sender(sender, units) = &mut self.rtp[place as usize].end {
            sender.handle_write(Payload { unit: unit.seq, len: unit.octets }, now);
            units.waiting.push_back(unit);
            self.unsettle(SocketId::Rtp(place));
        }
    }

    /// A packet for a socket of this host; it came in this number of IP `packets`.
    pub(in crate::host) fn deliver_rtp(
        &mut self,
        place: u32,
        datagram: &Packet,
        packet: &rtp::Packet,
        packets: u32,
        cx: &mut Context<'_>,
    ) {
        let capacity = self.config.socket_buffer;
        let socket = &mut self.rtp[place as usize];
        let from = Endpoint { node: datagram.ip.source, port: datagram.body.source_port() };
        socket.writer.remote.get_or_insert(from);
        match &mut socket.end {
            End::Sender(sender, _) => {
                let told = rtcp::packets(&packet.header).map(|packet| sender.handle_control(packet, cx.now));
                let is_news = told.fold(false, |is_news, told| is_news | (told == Ok(Told::Feedback)));
                let sample = sender.path().and_then(|path| path.sample).filter(|_| is_news && socket.is_first);
                if let Some(sample) = sample {
                    cx.flows[socket.owner.flow].handle_path_sample(sample, cx.now);
                }
            }
            End::Receiver(receiver, unread) if !rtcp::is_control(&packet.header) => {
                let octets = packet.payload.len;
                let has_room = unread.has_room(octets, capacity);
                let fresh = receiver.handle_packet(&packet.header, octets, datagram.ip.ecn, cx.now);
                if fresh.unwrap_or(false) && has_room {
                    unread.push(Unit::of(datagram, octets));
                    self.events.push_back((socket.owner.program, SocketId::Rtp(place), SocketEvent::Readable));
                } else if !has_room {
                    self.unsettle(SocketId::Rtp(place));
                    return count_host_drop(datagram, packets, DropCause::ReceiveBufferFull, cx);
                }
            }
            End::Receiver(receiver, _) => {
                rtcp::packets(&packet.header).for_each(|packet| receiver.handle_control(packet, cx.now));
            }
        }
        cx.counters.delivered += u64::from(packets);
        self.unsettle(SocketId::Rtp(place));
    }

    /// A timer of a session is due.
    pub(super) fn expire_rtp(&mut self, place: u32, now: Instant) {
        if let End::Sender(sender, _) = &mut self.rtp[place as usize].end {
            sender.handle_timeout(now);
        }
        self.unsettle(SocketId::Rtp(place));
    }

    /// Does one thing that a session wants done.
    pub(super) fn step_rtp(&mut self, place: u32, cx: &mut Context<'_>) -> Step {
        let socket = &mut self.rtp[place as usize];
        let output = match &mut socket.end {
            End::Sender(sender, _) => sender.poll_output(cx.now),
            End::Receiver(receiver, _) => {
                let feedback = receiver.poll_feedback(cx.now).or_else(|| receiver.poll_request(cx.now));
                let packet = feedback.or_else(|| receiver.poll_receiver_report(cx.now));
                packet.map(|header| Output::Transmit(rtp::Packet { header, payload: Payload::default() }, Ecn::NotEct))
            }
        };
        match output {
            Some(Output::Transmit(packet, ecn)) => {
                self.send_rtp(place, packet, ecn, cx);
                Step::Done
            }
            Some(Output::Lost(seq)) => {
                let unit = socket.units().and_then(|units| units.waiting.pop_front());
                debug_assert_eq!(unit.map(|unit| unit.seq), Some(seq), "a session sends in order");
                count_refused(socket.owner.flow, seq, 1, cx);
                Step::Done
            }
            Some(Output::TargetRate(rate)) => Step::Event(SocketEvent::TargetRate(rate)),
            Some(Output::Writable) => Step::Event(SocketEvent::Writable),
            None => {
                let timer = match &socket.end {
                    End::Receiver(receiver, _) => receiver.poll_timeout(),
                    End::Sender(sender, _) => {
                        if socket.is_first {
                            let (rate, rtt) = (sender.target_rate() as f64, sender.rtt().unwrap_or_default());
                            let path = sender.path();
                            let loss_event_rate = path.map(|path| path.loss_event_rate);
                            let adtfrc = path.and_then(|path| path.sender);
                            let state = adtfrc.map(|sender| PathState::of_sender(sender.is_probing(), sender.states()));
                            let control = RateControl { rate, loss_event_rate, rtt, state };
                            cx.flows[socket.owner.flow].handle_rate_control(control, cx.now);
                        }
                        sender.poll_timeout()
                    }
                };
                self.timers.set(Slot::Socket(socket.number).index(), timer);
                Step::Rest
            }
        }
    }

    fn send_rtp(&mut self, place: u32, packet: rtp::Packet, ecn: Ecn, cx: &mut Context<'_>) {
        let socket = &mut self.rtp[place as usize];
        let flow = socket.owner.flow;
        let (mut seq, mut created, mut expires, mut coded) = (Tag::NO_DATAGRAM, cx.now, Expiry::NEVER, None);
        if packet.payload.len > 0
            && let Some((unit, is_again)) = socket.units().and_then(|units| units.take(packet.payload.unit, cx.now))
        {
            (seq, created, expires, coded) = (unit.seq, unit.created, unit.expires.into(), unit.coded);
            if is_again {
                cx.flows[flow].handle_retransmission();
            }
        }
        let Some(remote) = socket.writer.remote else { return };
        let number = socket.number;
        let priority = cx.flows[flow].priority();
        let tag = Tag { flow, seq, created, socket: number as u16, priority, expires };
        let body = Body::Rtp { source_port: self.ports.of(number), destination_port: remote.port, packet };
        let plan = self.plan(remote.node, body.octets(), cx.now);
        let is_routed = self.send_marked(plan, remote.node, body, tag, coded, ecn, cx);
        self.rtp[place as usize].is_unrouted = !is_routed;
    }
}
