//! Counters of a node: packets, and dropped packets by cause.

use std::ops::{Index, IndexMut};

use schemars::JsonSchema;

/// Cause of the drop of a packet (an IP datagram, a fragment of one, or an ARP packet).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[repr(u8)]
pub enum DropCause {
    /// The interface queue had no place.
    QueueFull,
    /// The discipline of the interface queue dropped it because packets had waited too long.
    QueueManagement,
    /// It had expired before its turn to be sent.
    Expired,
    /// The frame was not longer than the RTS threshold, or an RTS, and had used up its attempts.
    RetryLimitShort,
    /// The frame was longer than the RTS threshold and had used up its attempts.
    RetryLimitLong,
    /// There is no route to the destination, or none was found; at the destination, the routing protocol's header did not
    /// allow delivery.
    NoRoute,
    /// The time to live reached zero.
    TtlExpired,
    /// Other fragments of the datagram did not arrive in time.
    ReassemblyTimeout,
    /// Newer datagrams needed the memory for reassembly.
    ReassemblyOverflow,
    /// The fragment had arrived before, or its datagram was already complete.
    DuplicateFragment,
    /// Fragments of different datagrams with the same identification were combined (RFC 4963).
    Misassembled,
    /// The receive buffer of the socket had no room.
    ReceiveBufferFull,
    /// The send buffer of the socket had no room for a non-blocking write.
    SendBufferFull,
    /// No socket has this port.
    NoSocket,
    /// The error model lost a packet that the MAC delivered. Or, from a real host: a segment that is malformed or has a
    /// wrong checksum, or a fragment beyond the end of the longest datagram.
    Corrupted,
    /// A wire lost it; or, on a half-duplex wire, its frame had collided sixteen times.
    LinkLoss,
    /// The card had no free buffer when it arrived from the air.
    ReceiveBuffersFull,
    /// Too many packets waited for a route, and it was the oldest.
    RouteQueueFull,
    /// It waited too long for a route.
    RouteTimeout,
    /// It was sent without acknowledgement and did not reach its station; or the late ACK of an earlier frame seemed to
    /// acknowledge it, whether it arrived or not.
    Unheard,
    /// Too many packets waited for the hardware address of a neighbour, and it was the oldest.
    ArpQueueFull,
    /// No neighbour answered with the hardware address that it waited for.
    ArpTimeout,
    /// A station on its path belonged to no access point.
    NotAssociated,
}

impl DropCause {
    /// All causes, in the order of their indices.
    pub const ALL: [Self; 23] = [
        Self::QueueFull,
        Self::QueueManagement,
        Self::Expired,
        Self::RetryLimitShort,
        Self::RetryLimitLong,
        Self::NoRoute,
        Self::TtlExpired,
        Self::ReassemblyTimeout,
        Self::ReassemblyOverflow,
        Self::DuplicateFragment,
        Self::Misassembled,
        Self::ReceiveBufferFull,
        Self::SendBufferFull,
        Self::NoSocket,
        Self::Corrupted,
        Self::LinkLoss,
        Self::ReceiveBuffersFull,
        Self::RouteQueueFull,
        Self::RouteTimeout,
        Self::Unheard,
        Self::ArpQueueFull,
        Self::ArpTimeout,
        Self::NotAssociated,
    ];

    /// The stable name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::QueueManagement => "queue_management",
            Self::Expired => "expired",
            Self::RetryLimitShort => "retry_limit_short",
            Self::RetryLimitLong => "retry_limit_long",
            Self::NoRoute => "no_route",
            Self::TtlExpired => "ttl_expired",
            Self::ReassemblyTimeout => "reassembly_timeout",
            Self::ReassemblyOverflow => "reassembly_overflow",
            Self::DuplicateFragment => "duplicate_fragment",
            Self::Misassembled => "misassembled",
            Self::ReceiveBufferFull => "receive_buffer_full",
            Self::SendBufferFull => "send_buffer_full",
            Self::NoSocket => "no_socket",
            Self::Corrupted => "corrupted",
            Self::LinkLoss => "link_loss",
            Self::ReceiveBuffersFull => "receive_buffers_full",
            Self::RouteQueueFull => "route_queue_full",
            Self::RouteTimeout => "route_timeout",
            Self::Unheard => "unheard",
            Self::ArpQueueFull => "arp_queue_full",
            Self::ArpTimeout => "arp_timeout",
            Self::NotAssociated => "not_associated",
        }
    }
}

/// Packets at one node. A packet is an IP datagram, a fragment of one, or an ARP packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that this node created: its sockets, its routing protocol, and its address resolution.
    pub originated: u64,
    /// Packets that the interface received for this host.
    pub received: u64,
    /// Received packets for other nodes that were given to the interface.
    pub forwarded: u64,
    /// Received packets that were delivered to a transport protocol, to the routing protocol or to address resolution,
    /// each fragment counted.
    pub delivered: u64,
    /// Additional packets from cutting forwarded ones for a smaller MTU.
    pub refragmented: u64,
    /// Packets given to the interface.
    pub transmitted: u64,
    /// Packets that the interface reported as sent.
    pub sent: u64,
    /// Packets that the interface reported as dropped.
    pub interface_dropped: u64,
    /// Packets that the interface returned, and that take another route or wait for one.
    pub returned: u64,
    /// Copies of packets that the routing protocol sent again.
    pub repeated: u64,
    /// Packets dropped by the host itself.
    pub host_dropped: u64,
    /// Messages of the routing protocol given to the interface, those of others included: one for each hop.
    pub routing_packets: u64,
    /// Bytes after the IP header of these, and of the headers that the protocol put before data.
    pub routing_bytes: u64,
    /// Route requests that the routing protocol sent for this node, others' that it passed on not counted.
    pub route_requests: u64,
    /// How often the routing protocol led a packet with data to another neighbour than the packet before from the same source to
    /// the same destination.
    pub route_changes: u64,
    /// ARP requests given to the interface.
    pub arp_requests: u64,
    /// ARP replies given to the interface.
    pub arp_replies: u64,
    by_cause: [u64; DropCause::ALL.len()],
}

impl Counters {
    /// Packets dropped, by cause, in the order of [`DropCause::ALL`].
    pub fn drops(&self) -> impl Iterator<Item = (DropCause, u64)> + '_ {
        DropCause::ALL.into_iter().map(|cause| (cause, self[cause]))
    }

    /// Packets that arrived or were created here, minus those that left, were delivered or were dropped by the host. The
    /// packets that the host holds ([`crate::host::Host::held_packets`]) must equal this number.
    pub(crate) fn unaccounted(&self) -> i128 {
        i128::from(self.originated)
            + i128::from(self.received)
            + i128::from(self.refragmented)
            + i128::from(self.returned)
            + i128::from(self.repeated)
            - i128::from(self.transmitted)
            - i128::from(self.delivered)
            - i128::from(self.host_dropped)
    }

    /// Packets at the interface whose result it has not reported yet: in its queue or on the air.
    pub(crate) fn in_interface(&self) -> i128 {
        i128::from(self.transmitted)
            - i128::from(self.sent)
            - i128::from(self.interface_dropped)
            - i128::from(self.returned)
    }
}

impl Index<DropCause> for Counters {
    type Output = u64;
    fn index(&self, cause: DropCause) -> &u64 {
        &self.by_cause[cause as usize]
    }
}

impl IndexMut<DropCause> for Counters {
    fn index_mut(&mut self, cause: DropCause) -> &mut u64 {
        &mut self.by_cause[cause as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_causes_is_in_the_order_of_their_indices() {
        for (index, cause) in DropCause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
            assert!(cause.name().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        }
    }
}
