//! IPv4 at a host: sending, receiving, forwarding (RFC 791; RFC 1122, section 3; RFC 1812, section 5).

use super::fragment::Fragments;
use super::packet::{Body, Coded, DEFAULT_TTL, IPV4_HEADER, Ipv4, Packet, Part, Tag};
use super::reassembly::Outcome;
use super::{Context, Endpoint, FIRST_PORT, Hop, Host, Neighbour, Slot, Socket, Transmit, count_host_drop};
use crate::metrics::DropCause;
use crate::scenario::model::NodeId;
use hopcast_protocols::time::Instant;
use std::sync::Arc;

impl Host {
    /// Sends a datagram of one of this host's sockets. Returns its identification, or `None` if there is no route.
    pub(super) fn send(
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
        let datagram = Packet { ip, body, tag, part };
        if self.router.is_some() {
            return self.send_routed(datagram, cx).then_some(id);
        }
        let Some(&hop) = self.routes.get(destination) else {
            cx.counters.originated += 1;
            count_host_drop(&datagram, 1, self.unrouted, cx);
            return None;
        };
        let mtu = self.config.interfaces[hop.interface as usize].mtu;
        for packet in Fragments::new(datagram, mtu) {
            cx.counters.originated += 1;
            self.give(Transmit { hop, packet }, cx);
        }
        Some(id)
    }

    /// A packet for another host.
    pub(super) fn forward(&mut self, mut packet: Packet, from: Neighbour, cx: &mut Context<'_>) {
        // RFC 1812, section 5.3.1: a router that would send a packet on with a time to live of zero discards it.
        packet.ip.ttl = packet.ip.ttl.saturating_sub(1);
        if packet.ip.ttl == 0 {
            return count_host_drop(&packet, 1, DropCause::TtlExpired, cx);
        }
        if self.router.is_some() {
            return self.forward_routed(packet, from, cx);
        }
        let Some(&hop) = self.routes.get(packet.ip.destination) else {
            return count_host_drop(&packet, 1, self.unrouted, cx);
        };
        self.push(hop, packet, cx);
    }

    /// Gives a packet that may have come from another host to an interface, in pieces if that needs it.
    pub(super) fn push(&mut self, hop: Hop, packet: Packet, cx: &mut Context<'_>) {
        // A routing protocol's part before the data is no reason to cut: 802.11 carries 2304 octets (IEEE 802.11-2020, 9.2.3).
        let octets = IPV4_HEADER + u32::from(packet.ip.payload);
        match self.config.interfaces[hop.interface as usize].mtu {
            Some(mtu) if octets > mtu => {
                // The packet becomes several, of which the host has made all but the first.
                cx.counters.refragmented +=
                    u64::from(super::fragment::count(u32::from(packet.ip.payload), Some(mtu))) - 1;
                for packet in Fragments::new(packet, Some(mtu)) {
                    self.give(Transmit { hop, packet }, cx);
                }
            }
            _ => self.give(Transmit { hop, packet }, cx),
        }
    }

    /// A packet for this host.
    pub(super) fn receive(&mut self, packet: Packet, cx: &mut Context<'_>) {
        if !packet.is_fragment() {
            return self.deliver(packet, 1, cx);
        }
        let mut complete = None;
        self.reassembly.handle_fragment(packet, cx.now, |outcome| match outcome {
            Outcome::Complete { datagram, packets } => complete = Some((datagram, packets)),
            Outcome::Dropped { sample, packets, cause } => count_fragments_drop(&sample, packets, cause, cx),
        });
        self.timers.set(Slot::Reassembly.index(), self.reassembly.poll_timeout());
        if let Some((datagram, packets)) = complete {
            self.deliver(datagram, packets, cx);
        }
    }

    pub(super) fn expire_reassembly(&mut self, cx: &mut Context<'_>) {
        self.reassembly.handle_timeout(cx.now, |outcome| {
            if let Outcome::Dropped { sample, packets, cause } = outcome {
                count_fragments_drop(&sample, packets, cause, cx);
            }
        });
        self.timers.set(Slot::Reassembly.index(), self.reassembly.poll_timeout());
    }

    /// The interface is done with `packet`: a socket of this host may write again.
    pub(super) fn release(&mut self, packet: &Packet, now: Instant) {
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

    /// Hands a whole datagram, which came in so many packets, to its socket.
    fn deliver(&mut self, datagram: Packet, packets: u32, cx: &mut Context<'_>) {
        let socket = datagram.body.destination_port().wrapping_sub(FIRST_PORT);
        match (self.sockets.get(usize::from(socket)), &datagram.body) {
            (Some(Socket::Udp(_)), Body::Udp { .. }) => self.deliver_udp(u32::from(socket), &datagram, packets, cx),
            (Some(Socket::Tcp(_)), Body::Tcp { segment, source_port, .. }) => {
                cx.counters.delivered += u64::from(packets);
                let from = Endpoint { node: datagram.ip.source, port: *source_port };
                self.deliver_segment(u32::from(socket), segment, from, cx);
            }
            (Some(Socket::Dccp(_)), Body::Dccp(_)) => self.deliver_dccp(u32::from(socket), &datagram, packets, cx),
            _ => count_host_drop(&datagram, packets, DropCause::NoSocket, cx),
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
