//! UDP sockets for messages between neighbours, whose bytes mean something. They need no route: a neighbour is on the link.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_radio::mac::edca::UserPriority;
use hopcast_wire::ecn::Ecn;

use super::{Owner, SocketEvent, SocketId};
use crate::address::{ip_address, node_of};
use crate::host::ip::neighbours::Neighbours;
use crate::host::packet::{Body, Expiry, Ipv4, Packet, Part, Tag, UDP_HEADER};
use crate::host::{Context, Stack};
use crate::id::{FlowId, NodeId};

/// The interface over which neighbours talk: a node's first radio.
pub(in crate::host) const INTERFACE: u32 = 0;

/// Messages to neighbours are not passed on by IP.
const TTL: u8 = 1;

/// A UDP socket that sends to any neighbour, and to all of them.
#[derive(Debug)]
pub(in crate::host) struct MessageSocket {
    owner: Owner,
    port: u16,
    neighbours: Arc<Neighbours>,
    unread: VecDeque<Received>,
}

/// A message that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::host) struct Received {
    pub(in crate::host) from: Ipv4Addr,
    /// The first bytes of the datagram.
    pub(in crate::host) octets: Arc<[u8]>,
    /// Bytes of all of its payload.
    pub(in crate::host) length: u32,
    /// Number of datagrams of this length for which it stands.
    pub(in crate::host) packets: u32,
}

impl Stack {
    /// Makes a socket for messages on `port`.
    pub(in crate::host) fn add_messages(&mut self, owner: Owner, port: u16, neighbours: Arc<Neighbours>) -> SocketId {
        let socket = SocketId::Messages(self.messages.len() as u32);
        self.add_socket(socket, port);
        self.messages.push(MessageSocket { owner, port, neighbours, unread: VecDeque::new() });
        socket
    }

    /// The oldest message that has come.
    pub(in crate::host) fn read_message(&mut self, socket: SocketId) -> Option<Received> {
        let SocketId::Messages(place) = socket else { return None };
        self.messages[place as usize].unread.pop_front()
    }

    /// Sends a datagram of `length` bytes that begins with `octets` to a neighbour, or to all (`None`). It stands for this number of `packets`, 1 to 256.
    pub(in crate::host) fn send_message_from(
        &mut self,
        socket: SocketId,
        to: Option<Ipv4Addr>,
        (octets, length, packets): (Arc<[u8]>, u32, u32),
        priority: UserPriority,
        cx: &mut Context<'_>,
    ) {
        let SocketId::Messages(place) = socket else { return };
        let MessageSocket { port, neighbours, .. } = &self.messages[place as usize];
        let destination = to.map_or(NodeId::ALL, node_of);
        let hop = match to {
            Some(_) => neighbours.hop(self.node, INTERFACE, destination),
            None => Some(neighbours.all(self.node, INTERFACE)),
        };
        // Nobody has this address.
        let (Some(hop), port) = (hop, *port) else { return };
        let length = length as u16;
        let body = Body::Udp { source_port: port, destination_port: port, length };
        let tag = Tag {
            flow: FlowId::NONE,
            seq: Tag::NO_DATAGRAM,
            created: cx.now,
            socket: u16::MAX,
            priority,
            expires: Expiry::NEVER,
        };
        let ip = Ipv4 {
            source: self.node,
            destination,
            id: self.take_id(),
            offset: 0,
            payload: (UDP_HEADER + u32::from(length)) as u16,
            more_fragments: false,
            ttl: TTL,
            ecn: Ecn::NotEct,
        };
        let part = Some(Arc::new(Part { content: Some(octets), more: (packets - 1) as u8, ..Part::default() }));
        self.send_to_neighbour(hop, Packet { ip, body, tag, part }, cx);
    }

    /// A datagram for a socket of this host; it came in this number of `packets`.
    pub(in crate::host) fn deliver_message(
        &mut self,
        place: u32,
        datagram: &Packet,
        length: u16,
        packets: u32,
        cx: &mut Context<'_>,
    ) {
        cx.counters.delivered += u64::from(packets);
        let Some(octets) = datagram.content().cloned() else { return };
        let socket = &mut self.messages[place as usize];
        let from = ip_address(datagram.ip.source);
        socket.unread.push_back(Received { from, octets, length: length.into(), packets: datagram.packets() });
        self.events.push_back((socket.owner.program, SocketId::Messages(place), SocketEvent::Readable));
    }
}
