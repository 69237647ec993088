//! Connections between simulated hosts and real ones.
//!
//! The simulated end is a socket like all others, and sends simulated segments. Segments of the real end are bytes: this
//! module reads them, and answers those that no socket accepts with a reset (RFC 9293, section 3.10.7.1).
//!
//! The simulator can't see what programs at real hosts do with their sockets. It measures a flow from a real host from
//! the entry of its segments into the simulation, and a flow to one up to the in-order arrival at the real host.

use std::collections::BTreeMap;

use hopcast_protocols::transport::tcp::{Flags, Segment, State, reset_for};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::checksum::Policy;
use hopcast_wire::{ipv4, tcp};

use super::{Connection, Duration, Instant, TcpOptions, TcpSocket};
use crate::address::ip_address;
use crate::host::packet::{Body, Expiry, Packet, Tag};
use crate::host::socket::SocketId;
use crate::host::{Context, Endpoint, Listener, Stack, count_host_drop};
use crate::id::{FlowId, NodeId};
use crate::metrics::{DropCause, FlowMetrics, TcpStatistics};

/// One tick of the clock that initial sequence numbers follow (RFC 9293, section 3.4.1).
const SEQUENCE_TICK: Duration = Duration::from_micros(4);

/// The real host at the other end of a connection.
#[derive(Debug)]
pub(super) struct RealPeer {
    node: NodeId,
    /// The flow comes from there.
    is_source: bool,
    /// Of a socket that takes one connection after the other, what each is made with.
    renewal: Option<TcpOptions>,
    /// Bytes of the real host's stream that have entered the simulation.
    entered: u64,
    /// What was counted of earlier connections, and of what the real host has sent again.
    counted: TcpStatistics,
    /// The real host has refused the connection.
    is_refused: bool,
}

impl RealPeer {
    /// Where a flow comes from. `renewal`: what each connection is made with, if the socket takes one after the other.
    pub(super) fn source(node: NodeId, renewal: Option<TcpOptions>) -> Self {
        let counted = TcpStatistics::default();
        Self { node, is_source: true, renewal, entered: 0, counted, is_refused: false }
    }

    /// Where a flow goes.
    pub(super) fn sink(node: NodeId) -> Self {
        Self { is_source: false, ..Self::source(node, None) }
    }

    pub(super) fn counted(&self) -> TcpStatistics {
        self.counted
    }

    pub(super) fn handle_refused(&mut self) {
        self.is_refused = true;
    }
}

/// What has come of a stream at a real host.
#[derive(Clone, Debug, Default)]
pub(in crate::host) struct Handed {
    /// All bytes before this one.
    next: u64,
    /// Ends of what has come ahead of a gap, by where it begins. The send buffer at the other end limits how much that is.
    ahead: BTreeMap<u64, u64>,
}

impl Handed {
    /// This number of bytes from `start` on has arrived. Returns how many more are now in order.
    fn take(&mut self, start: u64, octets: u64) -> u64 {
        let before = self.next;
        let end = self.ahead.entry(start).or_default();
        *end = (start + octets).max(*end);
        while let Some(first) = self.ahead.first_entry().filter(|first| *first.key() <= self.next) {
            self.next = self.next.max(first.remove());
        }
        self.next - before
    }
}

impl Packet {
    /// The TCP segment that a real host sent; `None` if this is none, not all of it, or nothing that TCP allows.
    fn real_segment(&self) -> Option<Segment> {
        let Body::Real { protocol, .. } = self.body else { return None };
        if ipv4::Protocol::from(protocol) != ipv4::Protocol::Tcp || self.is_fragment() {
            return None;
        }
        let packet = tcp::Packet::new_checked(self.real()?.payload(&self.ip)).ok()?;
        let [source, destination] = [self.ip.source, self.ip.destination].map(ip_address);
        let header = tcp::Repr::parse(&packet, source, destination, Policy::Verify).ok()?;
        Some(Segment::from(&header))
    }

    /// Who sent it.
    fn sender(&self) -> Endpoint {
        Endpoint { node: self.ip.source, port: self.body.source_port() }
    }
}

/// Whether a segment asks for a connection.
fn is_request(segment: &Segment) -> bool {
    segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK)
}

impl TcpSocket {
    /// Whether a real host's segment is for this socket: it is of its connection, or may begin one. A socket has one connection at
    /// a time.
    fn admits(&mut self, segment: &Segment, from: Endpoint, flow: &mut FlowMetrics, now: Instant) -> bool {
        let Some(real) = &mut self.real else { return false };
        if from.node != real.node || self.opens.is_some() {
            return false;
        }
        match (self.connection.state(), &real.renewal) {
            (State::Listen, _) => self.remote = Some(from),
            (State::Closed | State::TimeWait, Some(options)) if is_request(segment) => {
                let ticks = now.as_nanos() / SEQUENCE_TICK.as_nanos();
                let initial_sequence = options.initial_sequence.wrapping_add(ticks as u32);
                real.counted += statistics_of(&self.connection);
                real.entered = 0;
                self.connection =
                    Connection::listen_with(options.config.clone(), initial_sequence, options.congestion_control());
                self.remote = Some(from);
                self.is_closing = false;
                flow.handle_stream_renewed();
            }
            _ => {}
        }
        self.remote == Some(from)
    }

    /// Whether the real host at this node is at the other end.
    fn is_of(&self, node: NodeId) -> bool {
        self.real.as_ref().is_some_and(|real| real.node == node)
    }

    /// So much of the real host's stream has entered the simulation.
    fn enter(&mut self, end: u64, flow: &mut FlowMetrics, now: Instant) {
        let Some(real) = &mut self.real else { return };
        let octets = end.saturating_sub(real.entered);
        if octets > 0 {
            real.entered = end;
            // No window is larger than 2³⁰ octets.
            flow.handle_stream_written(octets as u32, true, now);
        }
    }
}

impl Stack {
    /// The real host at the other end of a connection of this host's sends `packet`, now: what it brings that is new enters the
    /// simulation here.
    pub(in crate::host) fn handle_entering(&mut self, listener: &Listener, packet: &Packet, cx: &mut Context<'_>) {
        let Some(segment) = packet.real_segment() else { return };
        let flow = &mut cx.flows[listener.flow];
        if is_request(&segment) {
            return flow.handle_stream_opened(cx.now);
        }
        let Some(SocketId::Tcp(place)) = self.socket_of(packet) else { return };
        let tcp = &mut self.tcp[place as usize];
        if tcp.remote != Some(packet.sender()) || segment.payload_len == 0 {
            return;
        }
        match (tcp.connection.stream_end(&segment), &mut tcp.real) {
            (Some(end), Some(real)) if end > real.entered => tcp.enter(end, flow, cx.now),
            (_, Some(real)) => real.counted.retransmitted_segments += 1,
            (_, None) => {}
        }
    }

    /// A whole segment of a real host, which came in this number of packets, is for this host.
    #[cold]
    pub(in crate::host) fn deliver_real_segment(&mut self, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        let Some(segment) = datagram.real_segment() else {
            return count_host_drop(datagram, packets, DropCause::Corrupted, cx);
        };
        let from = datagram.sender();
        let Some(SocketId::Tcp(place)) = self.socket_of(datagram) else {
            return self.refuse(&segment, datagram, packets, cx);
        };
        let tcp = &mut self.tcp[place as usize];
        let flow = &mut cx.flows[tcp.owner.flow];
        if !tcp.admits(&segment, from, flow, cx.now) {
            // The reset with which a program has ended the connection that is in the way may have been lost.
            if is_request(&segment) && tcp.is_of(from.node) {
                tcp.connection.handle_doubt(cx.now);
                self.wake_talker(place);
            }
            return self.refuse(&segment, datagram, packets, cx);
        }
        cx.counters.delivered += u64::from(packets);
        tcp.connection.handle_segment_with(&segment, datagram.ip.ecn, cx.now);
        if tcp.real.as_ref().is_some_and(|real| real.is_source) {
            // What was not seen where it entered, since it came in pieces or under a borrowed address, enters here.
            tcp.enter(tcp.connection.statistics().bytes_received, flow, cx.now);
            if tcp.connection.is_finished() {
                flow.handle_source_finished();
            }
        } else {
            // A source has no use for what a program answers.
            tcp.connection.handle_read(u32::MAX, cx.now);
        }
        self.raise(place, cx);
    }

    /// Drops a segment of a real host that no socket takes, and resets what it belongs to.
    fn refuse(&mut self, segment: &Segment, datagram: &Packet, packets: u32, cx: &mut Context<'_>) {
        count_host_drop(datagram, packets, DropCause::NoSocket, cx);
        let address = ip_address(datagram.ip.source);
        // RFC 9293, section 3.9.2.3: what comes from no host alone is discarded.
        if address.is_multicast() || address.is_broadcast() || address.is_unspecified() {
            return;
        }
        let Some(reset) = reset_for(segment) else { return };
        let body = Body::Tcp {
            source_port: datagram.body.destination_port(),
            destination_port: datagram.body.source_port(),
            segment: reset,
        };
        let priority = UserPriority::BEST_EFFORT;
        let tag =
            Tag { flow: FlowId::NONE, seq: 0, created: cx.now, socket: u16::MAX, priority, expires: Expiry::NEVER };
        let plan = self.plan(datagram.ip.source, body.octets(), cx.now);
        self.send(plan, datagram.ip.source, body, tag, None, cx);
    }

    /// Counts what of a flow's stream is handed to the real host.
    pub(in crate::host) fn count_handed_out(&mut self, packet: &Packet, cx: &mut Context<'_>) {
        let Body::Tcp { segment, .. } = &packet.body else { return };
        let octets = u64::from(segment.payload_len);
        if octets == 0 || packet.is_fragment() || packet.ip.destination != self.node {
            return;
        }
        if let Some(real) = &mut self.real {
            let handed = real.streams.entry(packet.tag.flow).or_default();
            let more = handed.take(segment.payload_offset, octets);
            if more > 0 {
                // It was in the send buffer, whose size is a u32.
                cx.flows[packet.tag.flow].handle_stream_read(more as u32, cx.now);
            }
        }
    }

    /// Flows whose connections real hosts have refused, and where those were to lead.
    pub(in crate::host) fn refused(&self) -> impl Iterator<Item = (FlowId, Endpoint)> + '_ {
        let is_refused = |tcp: &&TcpSocket| tcp.real.as_ref().is_some_and(|real| real.is_refused);
        self.tcp.iter().filter(is_refused).filter_map(|tcp| Some((tcp.owner.flow, tcp.remote?)))
    }
}

/// What is counted of a connection.
pub(super) fn statistics_of(connection: &Connection) -> TcpStatistics {
    let counted = connection.statistics();
    TcpStatistics {
        retransmitted_segments: counted.segments_retransmitted,
        timeouts: counted.timeouts,
        fast_retransmits: counted.fast_retransmits,
        ecn_reductions: counted.ecn_reductions,
        marked_segments: counted.marked_segments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn octets_count_once_and_in_order() {
        let mut handed = Handed::default();
        let taken = [(0, 100), (200, 100), (250, 100), (0, 100), (50, 100), (100, 100), (350, 10)];
        assert_eq!(taken.map(|(start, octets)| handed.take(start, octets)), [100, 0, 0, 0, 50, 200, 10]);
        assert!(handed.ahead.is_empty(), "what was counted is not kept");
    }

    proptest! {
        #[test]
        fn every_octet_is_counted_when_all_before_it_have_come(
            pieces in prop::collection::vec((0_u64..60, 1_u64..20), 0..30),
        ) {
            let mut handed = Handed::default();
            let mut come = [false; 80];
            let mut counted = 0;
            for (start, octets) in pieces {
                come[start as usize..(start + octets) as usize].fill(true);
                counted += handed.take(start, octets);
                prop_assert_eq!(counted, come.iter().take_while(|&&is| is).count() as u64);
            }
        }
    }
}
