//! A real host in place of a simulated one, and the treatment of its packets by simulated hosts.
//!
//! A real host has its own IP and upper layers: frames from its interface go to the station unchanged, and the station's
//! frames go to it. If a simulated routing protocol is in front of it, that protocol receives its packets as if a socket
//! here had sent them, and passes on those that are for it.
//!
//! Simulated hosts forward packets of real ones, reassemble them, answer their echo requests (RFC 1122, section 3.2.2.6),
//! read the datagrams of flows that come from them, and report undeliverable packets to them (RFC 1122, section 3.2.2;
//! RFC 1812, section 4.3.3). [`tcp`](super::socket::tcp) handles connections between the two.

mod frame;

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::{MacAddress, icmpv4, ipv4, udp};

use super::link::sdu::Sdu;
use super::packet::{Body, DEFAULT_TTL, Ipv4, Packet, TCP, Tag, UDP, UDP_HEADER};
use super::socket::SocketId;
use super::socket::tcp::Handed;
use super::{Context, Hop, Host, Neighbour, Stack, Transmit, count_host_drop};
use crate::address::ip_address;
use crate::id::{FlowId, NodeId};
use crate::metrics::DropCause;
use frame::HEADER;
pub(crate) use frame::RealFrame;

/// Errors in a row that a host tells of, and how long it takes until it may tell of one more (RFC 1812, section 4.3.2.8, wants
/// them limited; the numbers are Linux's, `icmp_ratelimit` and `XRLIM_BURST_FACTOR`).
const ERRORS: u32 = 6;
const ERROR_INTERVAL: Duration = Duration::from_secs(1);

/// How many errors a host may tell of: a bucket of [`ERRORS`] tokens, one more each [`ERROR_INTERVAL`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorLimit {
    tokens: u32,
    /// The bucket is counted up to here.
    since: Instant,
}

impl ErrorLimit {
    pub(super) fn new() -> Self {
        Self { tokens: ERRORS, since: Instant::START }
    }

    /// Whether one may be told of at `now`.
    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_since(self.since).as_nanos() / ERROR_INTERVAL.as_nanos();
        let full = u64::from(ERRORS - self.tokens) <= passed;
        self.tokens = if full { ERRORS } else { self.tokens + passed as u32 };
        self.since = if full { now } else { self.since + ERROR_INTERVAL * passed };
        let may = self.tokens > 0;
        self.tokens -= u32::from(may);
        may
    }
}

/// What waits to be taken by the real host.
#[derive(Debug, Default)]
pub(super) struct Real {
    arrivals: VecDeque<Arrival>,
    /// By flow that ends here: what of its stream has been handed out.
    pub(super) streams: BTreeMap<FlowId, Handed>,
}

impl Real {
    /// Packets that the real host has not taken yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Packet> {
        self.arrivals.iter().filter_map(|arrival| arrival.sdu.packet())
    }
}

/// A packet for a real host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Time of its arrival.
    pub at: Instant,
    /// The neighbour that sent it, and the receiving interface.
    pub from: Neighbour,
    /// The packet or other unit.
    pub sdu: Sdu,
}

impl Host {
    /// Gives a packet of `flow` that a real host sends the next datagram number of the flow. For a datagram in fragments
    /// this is the first one; [`BegunDatagrams`] numbers the others.
    pub(crate) fn number_datagram(packet: &mut Packet, flow: FlowId, cx: &mut Context<'_>) {
        if let Some((_, octets)) = packet.begun_datagram() {
            packet.tag.flow = flow;
            packet.tag.seq = cx.flows[flow].handle_datagram_sent(octets);
            cx.flows[flow].note_sent(packet.tag.seq, octets, cx.now);
        }
    }
}

impl Stack {
    /// When the next packet for the real host came.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.real.as_ref()?.arrivals.front().map(|arrival| arrival.at)
    }

    /// The next packet for the real host.
    pub(super) fn poll_arrival(&mut self) -> Option<Arrival> {
        self.real.as_mut()?.arrivals.pop_front()
    }

    /// The real host has sent `sdu` to the neighbour behind `hop`.
    pub(super) fn handle_sent_by_real(&mut self, hop: Hop, sdu: Sdu, cx: &mut Context<'_>) {
        match sdu {
            Sdu::Ip(packet) if self.router.is_some() && !packet.is_for_group() => self.send_made(packet, cx),
            sdu => {
                cx.counters.originated += 1;
                self.ready.push_back(Transmit { hop, sdu: cx.pool.share(sdu) });
            }
        }
    }

    /// Hands what has come from a neighbour to the real host. Its part in flows ends here.
    #[cold]
    pub(super) fn hand_out<T: Clone + Into<Sdu>>(&mut self, arrived: &T, from: Neighbour, cx: &mut Context<'_>) {
        cx.counters.delivered += 1;
        let mut sdu = arrived.clone().into();
        if let Sdu::Ip(packet) = &mut sdu {
            let datagram = match packet.body {
                Body::Udp { length, .. } if !packet.is_fragment() => Some(u32::from(length)),
                Body::Real { .. } if packet.tag.flow != FlowId::NONE => Some(packet.real_payload().len() as u32),
                _ => None,
            };
            if let Some(octets) = datagram.filter(|_| packet.ip.destination == self.node) {
                let Tag { flow, seq, created, .. } = packet.tag;
                cx.flows[flow].handle_datagram_received(seq, octets, created, cx.now);
            }
            self.count_handed_out(packet, cx);
            packet.set_routing(None);
        }
        if let Some(real) = &mut self.real {
            real.arrivals.push_back(Arrival { at: cx.now, from, sdu });
        }
    }

    /// Something of a real host has come that is for no host alone, or that simulated hosts do not understand.
    #[cold]
    pub(super) fn handle_group<T: Clone + Into<Sdu>>(&mut self, arrived: &T, from: Neighbour, cx: &mut Context<'_>) {
        match self.real {
            Some(_) => self.hand_out(arrived, from, cx),
            // Nobody here listens to a group.
            None => cx.counters.delivered += 1,
        }
    }

    /// A whole datagram of a real host, which came in this number of packets, is for this host.
    #[cold]
    pub(super) fn deliver_real(&mut self, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        let socket = self.socket_of(datagram);
        if let Body::Real { protocol: icmpv4::PROTOCOL, .. } = datagram.body
            && self.echo(datagram, cx)
        {
            cx.counters.delivered += u64::from(packets);
        } else if let Some(octets) = datagram.real_datagram()
            && let Some(SocketId::Udp(place)) = socket
            && self.udp[place as usize].flow() == datagram.tag.flow
        {
            self.deliver_udp(place, datagram, octets, packets, cx);
        } else if let Body::Real { protocol: TCP, .. } = datagram.body {
            self.deliver_real_segment(datagram, packets, cx);
        } else {
            count_host_drop(datagram, packets, DropCause::NoSocket, cx);
            let failure = match datagram.body {
                Body::Real { protocol: UDP, .. } => icmpv4::Failure::PortUnreachable,
                // Unknown messages of ICMP are silently discarded (RFC 1122, section 3.2.2).
                Body::Real { protocol: icmpv4::PROTOCOL, .. } => return,
                _ => icmpv4::Failure::ProtocolUnreachable,
            };
            self.tell(failure, datagram, cx);
        }
    }

    /// Tells the real host that sent `packet` why it got no further, where it may be told.
    #[cold]
    pub(super) fn tell(&mut self, failure: icmpv4::Failure, packet: &Packet, cx: &mut Context<'_>) {
        // Internetwork control (RFC 1812, section 4.3.2.5).
        const CONTROL: u8 = 0xc0;
        let Body::Real { .. } = packet.body else { return };
        let about = packet.real().and_then(|part| part.packet(&packet.ip));
        if let Some(message) = about.and_then(|about| icmpv4::error(failure, &about))
            && self.errors.take(cx.now)
        {
            self.send_control(packet.ip.source, CONTROL, &message, cx);
        }
    }

    /// Answers an echo request; false if it is none.
    fn echo(&mut self, datagram: &Packet, cx: &mut Context<'_>) -> bool {
        let Some(part) = datagram.real() else { return false };
        let Ok(request) = icmpv4::Packet::new_checked(part.payload(&datagram.ip)) else { return false };
        let Ok(asked) = icmpv4::Repr::parse(&request) else { return false };
        if asked.is_reply {
            return false;
        }
        let mut message = vec![0; icmpv4::HEADER_LEN];
        let reply = icmpv4::Repr { is_reply: true, ..asked };
        reply.emit(&mut icmpv4::Packet::new_unchecked(&mut message), request.payload());
        message.extend_from_slice(request.payload());
        // RFC 1122, section 3.2.2.6: a reply has the type of service of its request.
        self.send_control(datagram.ip.source, part.ip().type_of_service(), &message, cx);
        true
    }

    /// Sends a message of ICMP to a real host, or hands it to the one that stands here.
    fn send_control(&mut self, to: NodeId, type_of_service: u8, message: &[u8], cx: &mut Context<'_>) {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let header = ipv4::Repr {
            type_of_service,
            identification: id,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            time_to_live: DEFAULT_TTL,
            protocol: ipv4::Protocol::from(icmpv4::PROTOCOL),
            source: ip_address(self.node),
            destination: ip_address(to),
            // As long as a datagram that came, or as an error, which is short.
            payload_len: message.len() as u16,
        };
        let mut octets = vec![0; HEADER];
        header.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
        octets.extend_from_slice(message);
        let datagram =
            Packet::of_real([MacAddress::BROADCAST; 2], &octets, cx.now).expect("its header has just been made");
        if to == self.node {
            cx.counters.originated += 1;
            self.receive(&datagram, cx);
        } else {
            let plan = self.plan(to, u32::from(datagram.ip.payload), cx.now);
            self.send_datagram(plan, datagram, cx);
        }
    }
}

/// Listening end of a flow between a simulated and a real host: a simulated program, or one at the real host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The flow.
    pub flow: FlowId,
    /// Sending node: that of the source, or of the last relay.
    pub from: NodeId,
    /// Listening node: that of the sink, or of the first relay.
    pub to: NodeId,
    /// UDP or TCP.
    pub protocol: ipv4::Protocol,
    /// The port there.
    pub port: u16,
}

impl Listener {
    /// Whether a packet that the real host at `node` sends belongs to this flow; for a UDP datagram in fragments the
    /// first one, which alone has the ports.
    pub fn hears(&self, packet: &Packet, node: NodeId) -> bool {
        let Body::Real { protocol, destination_port, .. } = packet.body else { return false };
        let port = packet.begun_datagram().map_or(destination_port, |(port, _)| port);
        let is_its = (node, packet.ip.destination, port) == (self.from, self.to, self.port);
        is_its && self.protocol == protocol.into()
    }
}

/// UDP datagrams of which real hosts have sent the first fragment but not the last one: further fragments belong to the
/// same flow.
#[derive(Debug, Default)]
pub(crate) struct BegunDatagrams {
    /// Latest last; at most [`Self::MOST`].
    datagrams: VecDeque<Begun>,
}

/// One of them: the real host that sends it, its source and destination, its identification, and what the measurement knows of it.
#[derive(Clone, Copy, Debug)]
struct Begun {
    key: (NodeId, [NodeId; 2], u16),
    tag: Tag,
}

impl BegunDatagrams {
    /// How many are remembered. A host sends the fragments of a datagram one after the other.
    const MOST: usize = 64;

    /// Remembers a first fragment that the real host at `node` sends, once it has its number, and gives that number to
    /// further ones.
    pub(crate) fn handle_sent(&mut self, packet: &mut Packet, node: NodeId) {
        let Body::Real { protocol: UDP, .. } = packet.body else { return };
        if !packet.is_fragment() {
            return;
        }
        let Ipv4 { source, destination, id, offset, more_fragments, .. } = packet.ip;
        let key = (node, [source, destination], id);
        let known = self.datagrams.iter().rposition(|begun| begun.key == key);
        if offset > 0 {
            let Some(place) = known else { return };
            let Tag { flow, seq, created, .. } = self.datagrams[place].tag;
            packet.tag = Tag { flow, seq, created, ..packet.tag };
            if !more_fragments {
                self.datagrams.remove(place);
            }
            return;
        }
        if let Some(place) = known {
            // The identification has come round.
            self.datagrams.remove(place);
        }
        if packet.datagram().is_some() {
            if self.datagrams.len() == Self::MOST {
                self.datagrams.pop_front();
            }
            self.datagrams.push_back(Begun { key, tag: packet.tag });
        }
    }
}

const _: () = assert!(udp::HEADER_LEN == UDP_HEADER as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_six_at_once_and_then_one_a_second() {
        let mut limit = ErrorLimit::new();
        let mut take = |milliseconds: u64, count: usize| {
            (0..count).filter(|_| limit.take(Instant::START + Duration::from_millis(milliseconds))).count()
        };
        assert_eq!(take(0, 7), 6);
        assert_eq!([take(999, 1), take(1000, 2), take(1999, 1), take(2000, 1)], [0, 1, 0, 1]);
        // Ten seconds fill it, and no more.
        assert_eq!([take(12_500, 7), take(13_499, 1), take(13_500, 1)], [6, 0, 1]);
    }
}
