//! UDP sockets (RFC 768) with buffers.

use super::turns::Writer;
use super::unread::Unread;
use super::{Connect, Owner, Sent, SocketEvent, SocketId, Unit, count_refused};
use crate::host::ip::Plan;
use crate::host::packet::{Body, Packet, Tag, UDP_HEADER};
use crate::host::{Context, HostConfig, Stack, count_host_drop};
use crate::id::FlowId;
use crate::metrics::DropCause;
use hopcast_protocols::time::Instant;
use std::collections::VecDeque;

/// A UDP socket, connected to one remote end.
///
/// Buffers count bytes of payload. A datagram is charged to the send buffer from its write until the interface is done
/// with its last fragment. Into an empty buffer any datagram fits.
#[derive(Clone, Debug)]
pub(in crate::host) struct UdpSocket {
    pub(super) owner: Owner,
    /// Its number among all sockets.
    number: u32,
    pub(super) writer: Writer,
    capacity: u32,
    unsent_octets: u32,
    unsent: VecDeque<Unsent>,
    /// A blocking write of a longer datagram returns when the interface is done with it.
    hold_threshold: Option<u32>,
    /// The datagram whose write has yet to return.
    held: Option<u16>,
    unread: Unread,
}

/// A datagram of which the interface still has fragments.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    id: u16,
    octets: u32,
    packets: u32,
}

impl UdpSocket {
    fn new(owner: Owner, number: u32, connect: Option<Connect>, config: &HostConfig) -> Self {
        Self {
            owner,
            number,
            writer: Writer::new(connect),
            capacity: config.socket_buffer,
            hold_threshold: config.hold_threshold,
            held: None,
            unsent_octets: 0,
            unsent: VecDeque::with_capacity(8),
            unread: Unread::new(),
        }
    }

    /// The program writes no more.
    pub(super) fn close(&mut self) {
        self.writer.is_blocking = false;
    }

    /// Whether the send buffer has room for a datagram of `octets`.
    fn can_send(&self, octets: u32) -> bool {
        self.unsent_octets == 0 || self.unsent_octets.saturating_add(octets) <= self.capacity
    }

    /// The interface is done with a fragment of datagram `id`; true if that made room.
    fn release(&mut self, id: u16) -> bool {
        let Some(index) = self.unsent.iter().position(|datagram| datagram.id == id) else { return false };
        let datagram = &mut self.unsent[index];
        datagram.packets -= 1;
        if datagram.packets > 0 {
            return false;
        }
        self.unsent_octets -= datagram.octets;
        self.unsent.remove(index);
        if self.held == Some(id) {
            self.held = None;
        }
        true
    }

    /// Whether a blocking write of this size returns only when the interface is done with the datagram.
    fn holds(&self, octets: u32) -> bool {
        self.writer.is_blocking && self.hold_threshold.is_some_and(|threshold| octets > threshold)
    }

    /// Whose datagrams it carries.
    pub(in crate::host) fn flow(&self) -> FlowId {
        self.owner.flow
    }

    /// Datagrams in the receive buffer.
    pub(in crate::host) fn unread(&self) -> impl Iterator<Item = &Unit> {
        self.unread.iter()
    }

    /// Takes the oldest datagram from the receive buffer.
    pub(super) fn read(&mut self) -> Option<Unit> {
        self.unread.pop()
    }

    fn charge(&mut self, id: u16, octets: u32, packets: u32) {
        self.unsent_octets += octets;
        self.unsent.push_back(Unsent { id, octets, packets });
        if self.holds(octets) {
            self.held = Some(id);
        }
    }

    /// Puts a datagram into the receive buffer; false if it has no room.
    fn keep(&mut self, unit: Unit) -> bool {
        let fits = self.unread.has_room(unit.octets, self.capacity);
        if fits {
            self.unread.push(unit);
        }
        fits
    }
}

impl Stack {
    /// Makes a socket that sends, or one that only receives.
    pub(super) fn add_udp(&mut self, owner: Owner, port: u16, connect: Option<Connect>) -> SocketId {
        let socket = SocketId::Udp(self.udp.len() as u32);
        let number = self.add_socket(socket, port);
        self.udp.push(UdpSocket::new(owner, number, connect, &self.config));
        socket
    }

    /// Whether the latest blocking write to a socket returns when the interface is done with its datagram, and it is not.
    pub(in crate::host) fn is_held(&self, socket: SocketId) -> bool {
        matches!(socket, SocketId::Udp(place) if self.udp[place as usize].held.is_some())
    }

    /// How a datagram of `octets` is to leave, if the send buffer has room for it now, and, as the socket has its turn, the queue of
    /// the interface.
    pub(super) fn admit_udp(&mut self, place: u32, octets: u32, now: Instant) -> Option<Plan> {
        let socket = &self.udp[place as usize];
        if !socket.can_send(octets) {
            return None;
        }
        let plan = self.plan(socket.writer.remote().node, UDP_HEADER + octets, now);
        self.has_room_in_turn(plan.packets).then_some(plan)
    }

    /// Sends a datagram that the socket has room for.
    pub(super) fn send_udp(&mut self, place: u32, plan: Plan, unit: Unit, cx: &mut Context<'_>) -> Sent {
        let destination = self.udp[place as usize].writer.remote().node;
        if !self.transmit_udp(place, plan, unit, cx) {
            return Sent::NoRoute { may_come: self.may_get_route() };
        }
        if self.is_congested(destination, cx.now) {
            self.stall(SocketId::Udp(place), cx.now);
        }
        Sent::Accepted
    }

    /// Sends a datagram, if the socket has room for it.
    pub(super) fn send_udp_or_lose(&mut self, place: u32, unit: Unit, cx: &mut Context<'_>) {
        let socket = &self.udp[place as usize];
        let (can_send, flow) = (socket.can_send(unit.octets), socket.owner.flow);
        let plan = self.plan(socket.writer.remote().node, UDP_HEADER + unit.octets, cx.now);
        if can_send {
            self.transmit_udp(place, plan, unit, cx);
        } else {
            count_refused(flow, unit.seq, plan.packets, cx);
        }
    }

    /// Returns false if there is no route.
    fn transmit_udp(&mut self, place: u32, plan: Plan, unit: Unit, cx: &mut Context<'_>) -> bool {
        let socket = &mut self.udp[place as usize];
        let (remote, flow) = (socket.writer.remote(), socket.owner.flow);
        let length = u16::try_from(unit.octets).expect("the builder refuses datagrams that UDP can't carry");
        let source_port = self.ports.of(socket.number);
        let body = Body::Udp { source_port, destination_port: remote.port, length };
        let Unit { seq, created, expires, octets, coded } = unit;
        let priority = cx.flows[flow].priority();
        let tag = Tag { flow, seq, created, socket: socket.number as u16, priority, expires: expires.into() };
        if plan.has_way() {
            // What is dropped on the way out leaves the buffer again, so that it must be there before.
            socket.charge(self.next_id, octets, plan.packets);
        }
        self.send(plan, remote.node, body, tag, coded, cx)
    }

    /// A datagram of `octets` for a socket of this host; it came in this number of `packets`.
    pub(in crate::host) fn deliver_udp(
        &mut self,
        place: u32,
        datagram: &Packet,
        octets: u32,
        packets: u32,
        cx: &mut Context<'_>,
    ) {
        let socket = &mut self.udp[place as usize];
        if socket.keep(Unit::of(datagram, octets)) {
            cx.counters.delivered += u64::from(packets);
            self.events.push_back((socket.owner.program, SocketId::Udp(place), SocketEvent::Readable));
        } else {
            count_host_drop(datagram, packets, DropCause::ReceiveBufferFull, cx);
        }
    }

    /// The interface is done with `packet`, if it was one: a socket of this host may write again.
    #[inline]
    pub(in crate::host) fn release<'a>(&mut self, packet: impl Into<Option<&'a Packet>>, now: Instant) {
        if let Some(packet) = packet.into().filter(|packet| packet.ip.source == self.node) {
            self.release_own(packet, now);
        }
    }

    fn release_own(&mut self, packet: &Packet, now: Instant) {
        if let Some(&SocketId::Udp(place)) = self.sockets.get(packet.tag.socket as usize)
            && self.udp[place as usize].release(packet.ip.id)
        {
            self.await_turn(SocketId::Udp(place), now);
        }
    }
}
