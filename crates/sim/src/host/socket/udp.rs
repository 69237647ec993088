//! UDP sockets (RFC 768) with buffers, and their reads and writes.

use crate::host::app::program::{Activity, Unit};
use crate::host::packet::{Body, Packet, Tag};
use crate::host::{Context, Endpoint, FlowId, Host, Socket, count_host_drop};
use crate::metrics::DropCause;
use std::collections::VecDeque;

/// A UDP socket, connected to one remote end.
///
/// Buffers count octets of payload. A datagram is charged to the send buffer from its write until the interface is done
/// with its last fragment. Into an empty buffer any datagram fits.
#[derive(Clone, Debug)]
pub(in crate::host) struct UdpSocket {
    pub(in crate::host) flow: FlowId,
    pub(in crate::host) local_port: u16,
    /// Where this socket sends to; `None` for one that only receives.
    pub(in crate::host) remote: Option<Endpoint>,
    /// Whose socket this is.
    pub(in crate::host) program: u32,
    capacity: u32,
    unsent_octets: u32,
    unsent: VecDeque<Unsent>,
    unread_octets: u32,
    unread: VecDeque<Unit>,
}

/// A datagram of which the interface still has fragments.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    id: u16,
    octets: u32,
    packets: u32,
}

impl UdpSocket {
    pub(in crate::host) fn new(
        flow: FlowId,
        local_port: u16,
        remote: Option<Endpoint>,
        program: u32,
        capacity: u32,
    ) -> Self {
        Self {
            flow,
            local_port,
            remote,
            program,
            capacity,
            unsent_octets: 0,
            unsent: VecDeque::with_capacity(8),
            unread_octets: 0,
            unread: VecDeque::with_capacity(8),
        }
    }

    /// Whether the send buffer has room for a datagram of `octets`.
    pub(in crate::host) fn can_send(&self, octets: u32) -> bool {
        self.unsent_octets == 0 || self.unsent_octets.saturating_add(octets) <= self.capacity
    }

    /// The interface is done with a fragment of datagram `id`; true if that made room.
    pub(in crate::host) fn release(&mut self, id: u16) -> bool {
        let Some(index) = self.unsent.iter().position(|datagram| datagram.id == id) else { return false };
        let datagram = &mut self.unsent[index];
        datagram.packets -= 1;
        if datagram.packets > 0 {
            return false;
        }
        self.unsent_octets -= datagram.octets;
        self.unsent.remove(index);
        true
    }

    /// Datagrams in the receive buffer.
    pub(in crate::host) fn unread(&self) -> impl Iterator<Item = &Unit> {
        self.unread.iter()
    }

    /// Takes the oldest datagram from the receive buffer.
    pub(in crate::host) fn read(&mut self) -> Option<Unit> {
        let unit = self.unread.pop_front()?;
        self.unread_octets -= unit.octets;
        Some(unit)
    }

    fn charge(&mut self, id: u16, octets: u32, packets: u32) {
        self.unsent_octets += octets;
        self.unsent.push_back(Unsent { id, octets, packets });
    }

    /// Puts a datagram into the receive buffer; false if it has no room.
    fn keep(&mut self, unit: Unit) -> bool {
        let fits = self.unread_octets == 0 || self.unread_octets.saturating_add(unit.octets) <= self.capacity;
        if fits {
            self.unread_octets += unit.octets;
            self.unread.push_back(unit);
        }
        fits
    }
}

impl Host {
    /// The socket with this index, which is one of UDP.
    pub(in crate::host) fn udp(&mut self, socket: u32) -> &mut UdpSocket {
        match &mut self.sockets[socket as usize] {
            Socket::Udp(socket) => socket,
            Socket::Tcp(_) | Socket::Dccp(_) => unreachable!("a program of UDP was made with a socket of UDP"),
        }
    }

    /// Sends `unit` from a socket that has room for it; false if there is no route.
    pub(in crate::host) fn send_udp(&mut self, socket: u32, unit: Unit, cx: &mut Context<'_>) -> bool {
        let &mut UdpSocket { flow, local_port, remote, .. } = self.udp(socket);
        let remote = remote.expect("a socket that a program writes to has a remote end");
        let length = u16::try_from(unit.octets).expect("the builder refuses datagrams that UDP can't carry");
        let body = Body::Udp { source_port: local_port, destination_port: remote.port, length };
        let priority = cx.flows[flow].priority();
        let tag =
            Tag { flow, seq: unit.seq, created: unit.created, socket: socket as u16, priority, expires: unit.expires };
        let coded = unit.coded;
        let interface = match &self.router {
            Some(_) => Some(0),
            None => self.routes.get(remote.node).map(|hop| hop.interface as usize),
        };
        if let Some(interface) = interface {
            // What is dropped on the way out leaves the buffer again, so that it must be there before.
            let packets = self.packets_of(unit.octets, socket, interface, cx.now);
            let id = self.next_id;
            self.udp(socket).charge(id, unit.octets, packets);
        }
        self.send(remote.node, body, tag, coded, cx).is_some()
    }

    /// A datagram for a socket of this host, of so many octets and in so many packets.
    pub(in crate::host) fn deliver_udp(
        &mut self,
        socket: u32,
        datagram: &Packet,
        octets: u32,
        packets: u32,
        cx: &mut Context<'_>,
    ) {
        let unit = Unit::of(datagram, octets);
        let program = self.udp(socket).program;
        if let Activity::Sink { .. } = self.programs[program as usize].activity {
            // A sink reads at once.
            cx.counters.delivered += u64::from(packets);
            self.read_unit(program, unit, cx);
        } else if self.udp(socket).keep(unit) {
            cx.counters.delivered += u64::from(packets);
            self.wake_writer(program, cx.now);
        } else {
            count_host_drop(datagram, packets, DropCause::ReceiveBufferFull, cx);
        }
    }
}
