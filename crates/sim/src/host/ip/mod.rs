//! IPv4 at a host: sending, receiving, forwarding (RFC 791; RFC 1122, section 3; RFC 1812, section 5).

pub(in crate::host) mod fragment;
pub(in crate::host) mod neighbours;
pub(in crate::host) mod reassembly;
pub(in crate::host) mod router;
pub(in crate::host) mod routes;

use crate::engine::Reaction;
use crate::host::packet::{Body, Coded, DEFAULT_TTL, IPV4_HEADER, Ipv4, Packet, Part, Tag};
use crate::host::{Context, Hop, Neighbour, Sdu, Slot, Stack, Transmit, count_host_drop, note_dropped};
use crate::id::NodeId;
use crate::metrics::DropCause;
use fragment::Fragments;
use hopcast_protocols::time::Instant;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::icmpv4::Failure;
use reassembly::Outcome;
use std::sync::Arc;

/// How a datagram is to leave. It is found out once: a socket asks how many packets there will be, and then sends them.
#[derive(Clone, Copy, Debug)]
pub(in crate::host) struct Plan {
    way: Way,
    /// The largest packet in bytes; `None`: any goes.
    largest: Option<u32>,
    /// How many packets it becomes.
    pub(in crate::host) packets: u32,
}

/// Who knows where a datagram goes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// The table has a next hop.
    Hop(Hop),
    /// The table has none.
    Nowhere,
    /// The routing protocol is asked about each packet.
    Router,
}

impl Plan {
    /// Whether there may be a route.
    pub(in crate::host) fn has_way(&self) -> bool {
        !matches!(self.way, Way::Nowhere)
    }
}

impl Stack {
    /// How a datagram with `octets` behind its IP header is to leave.
    pub(in crate::host) fn plan(&mut self, destination: NodeId, octets: u32, now: Instant) -> Plan {
        let way = match self.router {
            Some(_) => Way::Router,
            None => self.routes.get(destination).map_or(Way::Nowhere, |&hop| Way::Hop(hop)),
        };
        let largest = match way {
            Way::Router => self.largest_routed_packet(destination, now),
            Way::Hop(hop) => self.mtu(hop.interface),
            Way::Nowhere => self.mtu(0),
        };
        Plan { way, largest, packets: fragment::count(octets, largest) }
    }

    /// Sends a datagram of one of this host's sockets; false if there is no route.
    pub(in crate::host) fn send(
        &mut self,
        plan: Plan,
        destination: NodeId,
        body: Body,
        tag: Tag,
        coded: Option<Arc<Coded>>,
        cx: &mut Context<'_>,
    ) -> bool {
        self.send_marked(plan, destination, body, tag, coded, Ecn::NotEct, cx)
    }

    /// The same with this ECN field.
    #[expect(clippy::too_many_arguments, reason = "the parts of one packet")]
    pub(in crate::host) fn send_marked(
        &mut self,
        plan: Plan,
        destination: NodeId,
        body: Body,
        tag: Tag,
        coded: Option<Arc<Coded>>,
        ecn: Ecn,
        cx: &mut Context<'_>,
    ) -> bool {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let payload = body.octets() as u16;
        let (source, ttl) = (self.node, DEFAULT_TTL);
        let ip = Ipv4 { source, destination, id, offset: 0, payload, more_fragments: false, ttl, ecn };
        let part = coded.map(|coded| Arc::new(Part { coded: Some(coded), ..Part::default() }));
        self.send_datagram(plan, Packet { ip, body, tag, part }, cx)
    }

    /// Sends a datagram of this host; false if there is no route.
    pub(in crate::host) fn send_datagram(&mut self, plan: Plan, datagram: Packet, cx: &mut Context<'_>) -> bool {
        cx.flows.handle_made(datagram.tag.flow, self.node, IPV4_HEADER + u32::from(datagram.ip.payload));
        match plan.way {
            Way::Hop(hop) => {
                cx.counters.originated += self.give_in_pieces(hop, datagram, plan.largest, cx);
                true
            }
            Way::Nowhere => {
                cx.counters.originated += 1;
                count_host_drop(&datagram, 1, self.unrouted, cx);
                false
            }
            Way::Router => self.send_routed(datagram, plan.largest, cx),
        }
    }

    /// A packet has come to this host. Returns as [`Host::handle_packet`](super::Host::handle_packet) does.
    #[inline]
    pub(in crate::host) fn handle_ip(&mut self, packet: &Packet, from: Neighbour, cx: &mut Context<'_>) -> Reaction {
        match packet.body {
            Body::Real { .. } if packet.is_for_group() => self.handle_group(packet, from, cx),
            // Between neighbours, whatever the routing protocol.
            _ if packet.content().is_some() => self.receive(packet, cx),
            _ if self.router.is_some() => return Reaction::any_if(self.handle_routed(packet, from, cx)),
            _ if packet.ip.destination == self.node => self.receive(packet, cx),
            _ => {
                self.forward(packet, from, cx);
                // A program that waits for room may find some only before the packet is taken, or need not find it after.
                let waits = self.resolution.is_some() || self.has_writers();
                return if waits { Reaction::Any } else { Reaction::Forward };
            }
        }
        Reaction::Any
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
        if is_whole(&ip, self.mtu(hop.interface)) {
            let sdu = cx.pool.share_with(ip, packet);
            return self.give(Transmit { hop, sdu }, cx);
        }
        self.push(hop, Packet { ip, ..packet.clone() }, cx);
    }

    /// Gives a packet that may have come from another host to an interface, in pieces if that needs it.
    pub(in crate::host) fn push(&mut self, hop: Hop, packet: Packet, cx: &mut Context<'_>) {
        // If the packet becomes several, the host has made all but the first.
        let mtu = self.mtu(hop.interface);
        cx.counters.refragmented += self.give_in_pieces(hop, packet, mtu, cx) - 1;
    }

    /// Sends a datagram of this host to a neighbour, or to all of them.
    pub(in crate::host) fn send_to_neighbour(&mut self, hop: Hop, datagram: Packet, cx: &mut Context<'_>) {
        let mtu = self.mtu(hop.interface);
        cx.counters.originated += self.give_in_pieces(hop, datagram, mtu, cx);
    }

    /// The identification of the next datagram of this host.
    pub(in crate::host) fn take_id(&mut self) -> u16 {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    /// Gives a packet to an interface, cut if it is longer than `mtu`. Returns how many it has become.
    fn give_in_pieces(&mut self, hop: Hop, packet: Packet, mtu: Option<u32>, cx: &mut Context<'_>) -> u64 {
        if is_whole(&packet.ip, mtu) {
            let sdu = cx.pool.share(Sdu::Ip(packet));
            self.give(Transmit { hop, sdu }, cx);
            return 1;
        }
        let mut count = 0;
        for packet in Fragments::new(packet, mtu) {
            let sdu = cx.pool.share(Sdu::Ip(packet));
            self.give(Transmit { hop, sdu }, cx);
            count += 1;
        }
        count
    }

    /// The longest packet that an interface takes, in bytes; `None`: it takes any.
    fn mtu(&self, interface: u32) -> Option<u32> {
        self.config.interfaces[interface as usize].mtu
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
}

/// Counts fragments that reassembly dropped. A second copy of a fragment loses nothing.
fn count_fragments_drop(sample: &Packet, packets: u32, cause: DropCause, cx: &mut Context<'_>) {
    if cause == DropCause::DuplicateFragment {
        cx.counters.host_dropped += u64::from(packets);
        cx.counters[cause] += u64::from(packets);
        note_dropped(Some(sample), packets, cause, None, cx);
    } else {
        count_host_drop(sample, packets, cause, cx);
    }
}

/// Whether a packet with this header goes whole to an interface. A routing protocol's part before the data is no reason to cut:
/// 802.11 carries 2304 bytes (IEEE 802.11-2020, 9.2.3).
fn is_whole(ip: &Ipv4, mtu: Option<u32>) -> bool {
    mtu.is_none_or(|mtu| IPV4_HEADER + u32::from(ip.payload) <= mtu)
}
