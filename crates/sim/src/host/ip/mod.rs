//! IPv4 at a host: sending, receiving, forwarding (RFC 791; RFC 1122, section 3; RFC 1812, section 5).

pub(in crate::host) mod fragment;
pub(in crate::host) mod reassembly;
pub(in crate::host) mod router;
pub(in crate::host) mod routes;

use crate::host::ip::fragment::Fragments;
use crate::host::ip::reassembly::Outcome;
use crate::host::packet::{Body, Coded, DEFAULT_TTL, IPV4_HEADER, Ipv4, Packet, Part, Tag};
use crate::host::{Context, Endpoint, FIRST_PORT, Hop, Host, Neighbour, Slot, Socket, Transmit, count_host_drop};
use crate::id::NodeId;
use crate::metrics::DropCause;
use hopcast_protocols::time::Instant;
use hopcast_wire::icmpv4::Failure;
use std::sync::Arc;

impl Host {
    /// Sends a datagram of one of this host's sockets. Returns its identification, or `None` if there is no route.
    pub(in crate::host) fn send(
        &mut self,
        destination: NodeId,
        body: Body,
        tag: Tag,
        coded: Option<Arc<Coded>>,
        cx: &mut Context<'_>,
    ) -> Option<u16> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let payload = body.octets() as u16;
        let ip =
            Ipv4 { source: self.node, destination, id, offset: 0, payload, more_fragments: false, ttl: DEFAULT_TTL };
        let part = coded.map(|coded| Arc::new(Part { coded: Some(coded), ..Part::default() }));
        self.send_datagram(Packet { ip, body, tag, part }, cx).then_some(id)
    }

    /// Sends a datagram of this host; false if there is no route.
    pub(in crate::host) fn send_datagram(&mut self, datagram: Packet, cx: &mut Context<'_>) -> bool {
        let destination = datagram.ip.destination;
        if self.router.is_some() {
            return self.send_routed(datagram, cx);
        }
        let Some(&hop) = self.routes.get(destination) else {
            cx.counters.originated += 1;
            count_host_drop(&datagram, 1, self.unrouted, cx);
            return false;
        };
        cx.counters.originated += self.give_in_pieces(hop, datagram, cx);
        true
    }

    /// A packet for another host.
    pub(in crate::host) fn forward(&mut self, packet: &Packet, from: Neighbour, cx: &mut Context<'_>) {
        // RFC 1812, section 5.3.1: a router that would send a packet on with a time to live of zero discards it.
        let ttl = packet.ip.ttl.saturating_sub(1);
        if ttl == 0 {
            count_host_drop(packet, 1, DropCause::TtlExpired, cx);
            return self.tell(Failure::TimeExceeded, packet, cx);
        }
        let ip = Ipv4 { ttl, ..packet.ip };
        if self.router.is_some() {
            return self.forward_routed(Packet { ip, ..packet.clone() }, from, cx);
        }
        let Some(&hop) = self.routes.get(ip.destination) else {
            let packet = Packet { ip, ..packet.clone() };
            count_host_drop(&packet, 1, self.unrouted, cx);
            return self.tell(Failure::HostUnreachable, &packet, cx);
        };
        if is_whole(&ip, self.mtu(hop)) {
            let packet = cx.pool.share_with(ip, packet);
            return self.give(Transmit { hop, packet }, cx);
        }
        self.push(hop, Packet { ip, ..packet.clone() }, cx);
    }

    /// Gives a packet that may have come from another host to an interface, in pieces if that needs it.
    pub(in crate::host) fn push(&mut self, hop: Hop, packet: Packet, cx: &mut Context<'_>) {
        // If the packet becomes several, the host has made all but the first.
        cx.counters.refragmented += self.give_in_pieces(hop, packet, cx) - 1;
    }

    /// Gives a packet to an interface, cut if it is longer than that takes. Returns how many it has become.
    fn give_in_pieces(&mut self, hop: Hop, packet: Packet, cx: &mut Context<'_>) -> u64 {
        let mtu = self.mtu(hop);
        if is_whole(&packet.ip, mtu) {
            let packet = cx.pool.share(packet);
            self.give(Transmit { hop, packet }, cx);
            return 1;
        }
        let mut count = 0;
        for packet in Fragments::new(packet, mtu) {
            let packet = cx.pool.share(packet);
            self.give(Transmit { hop, packet }, cx);
            count += 1;
        }
        count
    }

    /// The longest packet that the interface of a hop takes, in octets; `None`: it takes any.
    fn mtu(&self, hop: Hop) -> Option<u32> {
        self.config.interfaces[hop.interface as usize].mtu
    }

    /// A packet for this host.
    pub(in crate::host) fn receive(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        if self.real.is_some() {
            let from = Neighbour { interface: 0, node: packet.ip.source };
            return self.hand_out(packet, from, cx);
        }
        if !packet.is_fragment() {
            return self.deliver(packet, 1, cx);
        }
        let mut complete = None;
        // What a routing protocol has put before the data has done its part.
        let mut fragment = packet.clone();
        fragment.set_routing(None);
        self.reassembly.handle_fragment(fragment, cx.now, |outcome| match outcome {
            Outcome::Complete { datagram, packets } => complete = Some((datagram, packets)),
            Outcome::Dropped { sample, packets, cause } => count_fragments_drop(&sample, packets, cause, cx),
        });
        self.timers.set(Slot::Reassembly.index(), self.reassembly.poll_timeout());
        if let Some((datagram, packets)) = complete {
            self.deliver(&datagram, packets, cx);
        }
    }

    pub(in crate::host) fn expire_reassembly(&mut self, cx: &mut Context<'_>) {
        self.reassembly.handle_timeout(cx.now, |outcome| {
            if let Outcome::Dropped { sample, packets, cause } = outcome {
                count_fragments_drop(&sample, packets, cause, cx);
            }
        });
        self.timers.set(Slot::Reassembly.index(), self.reassembly.poll_timeout());
    }

    /// The interface is done with `packet`: a socket of this host may write again.
    pub(in crate::host) fn release(&mut self, packet: &Packet, now: Instant) {
        if packet.ip.source != self.node {
            return;
        }
        if let Some(Socket::Udp(socket)) = self.sockets.get_mut(packet.tag.socket as usize)
            && socket.release(packet.ip.id)
        {
            let program = socket.program;
            self.wake_writer(program, now);
        }
    }

    /// The index of the socket that a datagram is for, if there is one with it.
    pub(in crate::host) fn socket_of(&self, datagram: &Packet) -> u16 {
        datagram.body.destination_port().wrapping_sub(FIRST_PORT)
    }

    /// Hands a whole datagram, which came in so many packets, to its socket.
    fn deliver(&mut self, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        let socket = self.socket_of(datagram);
        match (self.sockets.get(usize::from(socket)), &datagram.body) {
            (Some(Socket::Udp(_)), &Body::Udp { length, .. }) => {
                self.deliver_udp(u32::from(socket), datagram, u32::from(length), packets, cx);
            }
            (Some(Socket::Tcp(_)), Body::Tcp { segment, source_port, .. }) => {
                cx.counters.delivered += u64::from(packets);
                let from = Endpoint { node: datagram.ip.source, port: *source_port };
                self.deliver_segment(u32::from(socket), segment, from, cx);
            }
            (Some(Socket::Dccp(_)), Body::Dccp(_)) => self.deliver_dccp(u32::from(socket), datagram, packets, cx),
            (_, Body::Real { .. }) => self.deliver_real(datagram, packets, cx),
            _ => count_host_drop(datagram, packets, DropCause::NoSocket, cx),
        }
    }
}

/// Counts fragments that reassembly dropped. A second copy of a fragment loses nothing.
fn count_fragments_drop(sample: &Packet, packets: u32, cause: DropCause, cx: &mut Context<'_>) {
    if cause == DropCause::DuplicateFragment {
        cx.counters.host_dropped += u64::from(packets);
        cx.counters[cause] += u64::from(packets);
    } else {
        count_host_drop(sample, packets, cause, cx);
    }
}

/// Whether a packet with this header goes whole to an interface. A routing protocol's part before the data is no reason to cut:
/// 802.11 carries 2304 octets (IEEE 802.11-2020, 9.2.3).
fn is_whole(ip: &Ipv4, mtu: Option<u32>) -> bool {
    mtu.is_none_or(|mtu| IPV4_HEADER + u32::from(ip.payload) <= mtu)
}
