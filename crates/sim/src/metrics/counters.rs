//! Counters of a node: packets that passed, and packets that were dropped, by cause.

use std::ops::{Index, IndexMut};

/// Why a packet (an IP datagram, a fragment of one, or an ARP packet) was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DropCause {
    /// The interface queue had no place.
    QueueFull,
    /// The discipline of the interface queue dropped it because packets waited for too long.
    QueueManagement,
    /// It was no longer worth sending when its turn came.
    Expired,
    /// The frame was not longer than the RTS threshold, or an RTS, and its attempts were used up.
    RetryLimitShort,
    /// The frame was longer than the RTS threshold and its attempts were used up.
    RetryLimitLong,
    /// No route to the destination, or none was found; at the destination, the routing protocol's header forbade to take it.
    NoRoute,
    /// The time to live reached zero.
    TtlExpired,
    /// Other fragments of the datagram did not come in time.
    ReassemblyTimeout,
    /// Memory for reassembly was needed for newer datagrams.
    ReassemblyOverflow,
    /// The fragment had come before, or its datagram was complete in it.
    DuplicateFragment,
    /// Fragments of different datagrams with the same identification were put together (RFC 4963).
    Misassembled,
    /// The receive buffer of the socket had no room.
    ReceiveBufferFull,
    /// The send buffer of the socket had no room for a write that does not block.
    SendBufferFull,
    /// No socket has this port.
    NoSocket,
    /// The error model lost what the MAC handed up, or it is of a real host: a segment that is malformed or has a wrong checksum, or
    /// a fragment beyond the end of the longest datagram.
    Corrupted,
    /// A wire lost it.
    LinkLoss,
    /// The card had no free buffer for it when it came from the air.
    ReceiveBuffersFull,
    /// Too many packets waited for a route; it was the oldest.
    RouteQueueFull,
    /// It waited too long for a route.
    RouteTimeout,
    /// It was sent without acknowledgement and did not get to the station that it was for; or it was taken for acknowledged by the late
    /// ACK of an earlier frame, whether it got there or not.
    Unheard,
    /// Too many packets waited for the hardware address of a neighbour; it was the oldest.
    ArpQueueFull,
    /// No neighbour told the hardware address that it waited for.
    ArpTimeout,
    /// A station on its way belonged to no access point.
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

/// What happened to packets at one node. A packet is an IP datagram, a fragment of one, or an ARP packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that this node made: its sockets, its routing protocol, and its address resolution.
    pub originated: u64,
    /// Packets that the interface received for this host.
    pub received: u64,
    /// Received packets that are for others and were given to the interface.
    pub forwarded: u64,
    /// Received packets that went up to a transport protocol, to the routing protocol or to address resolution, each fragment
    /// counted.
    pub delivered: u64,
    /// Packets that came of cutting forwarded ones for a smaller MTU, beyond the one that came in.
    pub refragmented: u64,
    /// Packets given to the interface.
    pub transmitted: u64,
    /// Packets that the interface reported as sent.
    pub sent: u64,
    /// Packets that the interface reported as dropped.
    pub interface_dropped: u64,
    /// Packets that the interface gave back and that go another way, or wait for one.
    pub returned: u64,
    /// Copies of packets that the routing protocol sent again.
    pub repeated: u64,
    /// Packets dropped by the host itself.
    pub host_dropped: u64,
    /// Messages of the routing protocol given to the interface, those of others included: one for each hop.
    pub routing_packets: u64,
    /// Bytes behind the IP header of these, and of the headers that the protocol put before data.
    pub routing_bytes: u64,
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

    /// Packets that came in or were made here, less those that left, went up or were dropped by the host.
    /// What the host holds ([`crate::host::Host::held_packets`]) must be exactly this.
    pub fn unaccounted(&self) -> i128 {
        i128::from(self.originated)
            + i128::from(self.received)
            + i128::from(self.refragmented)
            + i128::from(self.returned)
            + i128::from(self.repeated)
            - i128::from(self.transmitted)
            - i128::from(self.delivered)
            - i128::from(self.host_dropped)
    }

    /// Packets given to the interface of which it has not reported the fate: they are in its queue or on the air.
    pub fn in_interface(&self) -> i128 {
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
