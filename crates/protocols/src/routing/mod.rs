//! Routing: who is the next hop towards a destination.
//!
//! [`fixed`] computes routes once, from who can hear whom. All others are protocols of one shape, [`Routing`]: machines that
//! exchange messages with their neighbours.
//!
//! # What a driver does
//!
//! A driver, which is a simulated host or a real one, has the packets; a protocol sees of each what [`Packet`] tells.
//!
//! * It asks [`Routing::handle_packet`] about every packet that the node sends or passes on, and does what the [`Verdict`]
//!   says. Packets that wait for a route stay with the driver, in a bounded queue ([`queue`]).
//! * It shows packets that have arrived ([`Routing::handle_arrival`]), and delivers them if the [`Arrival`] says so.
//! * It hands over messages ([`Routing::handle_message`]) and what the links below report ([`LinkEvent`]).
//! * It sends, releases and drops what [`Routing::poll_output`] says.
//!
//! # How a protocol is laid out
//!
//! The folders of all protocols have one shape:
//!
//! | module | has |
//! |---|---|
//! | `mod` | the state of one node, and [`Routing`] for it |
//! | `config` | parameters, with their sources |
//! | `table` | routes and what they are computed from |
//! | `neighbours` | the neighbours and the links to them |
//! | `messages` | each message: what it does on arrival, and how it is sent |
//! | `timers` | what is due when |
//! | `discovery`, `forwarding`, `maintenance` | in protocols that find routes on demand: searches, data packets, broken links |
//! | `header` | in DSR: the header before the data of a packet |
//!
//! Messages are bytes, in the protocol's standard format: what travels is the same in a simulation, in a capture and between
//! real hosts, and a protocol of somebody else needs no place in a list of message types.

pub mod aodv;
pub mod dsdv;
pub mod dsr;
pub mod fixed;
#[cfg(test)]
mod network;
pub mod olsr;
pub mod queue;

use core::any::Any;
use core::fmt;
use std::net::Ipv4Addr;
use std::sync::Arc;

use crate::random::Stream;
use crate::time::{Duration, Instant};

/// Packets of a host that wait for a route (ns-2.35, `aodv/aodv_rqueue.h`, and RFC 4728, section 9).
pub const ROUTE_QUEUE_PACKETS: u32 = 64;
/// For how long a packet waits for a route (SendBufferTimeout of RFC 4728, section 9; the same in ns-2.35's AODV).
pub const ROUTE_QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// One routing protocol at one node.
///
/// The contract of [all machines](crate) holds: after each `handle_*` the driver drains [`Self::poll_output`] and then reads
/// [`Self::poll_timeout`].
pub trait Routing: Any + fmt::Debug + Send {
    /// How the protocol's messages travel.
    fn encapsulation(&self) -> Encapsulation;

    /// What to do with a packet that this node has made, or that it is to pass on; its time to live has been counted down.
    ///
    /// The driver asks again, in order, about packets that wait for a destination once [`Output::Found`] names it.
    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict;

    /// A packet with data for this node has arrived; what is to be done with it.
    fn handle_arrival(&mut self, _packet: &Packet<'_>, _now: Instant) -> Arrival {
        Arrival::Deliver
    }

    /// No packet waits for a route to `destination` any more: a search for one may end. Where that is never said it goes on.
    fn handle_abandoned(&mut self, _destination: Ipv4Addr, _now: Instant) {}

    /// A message has arrived: [`Packet::octets`] is all of it.
    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant);

    /// A packet from the neighbour [`Packet::from`] to another one, `receiver`, was heard. Only if [`Self::is_promiscuous`].
    fn handle_overheard(&mut self, _packet: &Packet<'_>, _receiver: Ipv4Addr, _now: Instant) {}

    /// Something happened to a link. The verdict is on the packet that the event carries, if it carries one with data; a
    /// message is gone.
    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict;

    /// It is [`Self::poll_timeout`], or later. Must move that on: the driver calls as long as something is due now.
    fn handle_timeout(&mut self, now: Instant);

    /// When [`Self::handle_timeout`] is due; at once, if that has passed.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The next thing to be done.
    #[must_use = "an output that is not carried out is lost"]
    fn poll_output(&mut self) -> Option<Output>;

    /// The neighbour to which this node would now send a packet for `destination`, for callers that inspect the routes.
    /// It changes nothing.
    fn next_hop(&self, destination: Ipv4Addr, now: Instant) -> Option<NextHop>;

    /// All destinations for which [`Self::next_hop`] now has a hop, in the order of their addresses: for callers that
    /// keep the routes outside. A protocol that routes each packet separately has none.
    fn routes(&self, _now: Instant) -> Vec<Route> {
        Vec::new()
    }

    /// Length of the header that a packet of this node for `destination` would get before its data now, in bytes: a packet that is
    /// cut into fragments leaves room for it in each. 0 where there is no route, and unless it is [`Encapsulation::Ip`].
    fn header_len(&mut self, _destination: Ipv4Addr, _now: Instant) -> usize {
        0
    }

    /// Whether the protocol wants to hear packets that neighbours send to each other.
    fn is_promiscuous(&self) -> bool {
        false
    }
}

/// Reads what a message at this node is likely to need, so that a simulator with many nodes can have the processor fetch it for all
/// receivers of a broadcast at once. The result has no meaning; who uses it keeps the reads from being optimised away.
#[doc(hidden)]
#[inline]
pub fn prefetch(protocol: &dyn Routing) -> u64 {
    let protocol: &dyn Any = protocol;
    protocol.downcast_ref::<aodv::Aodv>().map_or(0, aodv::Aodv::prefetch)
}

/// What a protocol is told of the node that it serves.
#[derive(Clone, Debug)]
pub struct Node {
    /// The address of the node, the same on all interfaces.
    pub address: Ipv4Addr,
    /// Number of its interfaces; they are counted from zero.
    pub interfaces: u32,
    /// For jitter and whatever else the protocol draws.
    pub random: Stream,
}

/// A neighbour, and the interface that leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextHop {
    /// Place of the interface among those of the node.
    pub interface: u32,
    /// The neighbour.
    pub address: Ipv4Addr,
}

/// The way to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it leads.
    pub destination: Ipv4Addr,
    /// The neighbour on the way.
    pub hop: NextHop,
    /// Hops to the destination, as far as this node knows.
    pub hops: u32,
}

/// How the messages of a protocol travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encapsulation {
    /// In UDP, from this port to this port.
    Udp {
        /// Source and destination port.
        port: u16,
    },
    /// Directly after the IP header. A header of the protocol may also precede the data of a packet.
    Ip {
        /// Protocol number (IANA, "Assigned internet protocol numbers").
        protocol: u8,
    },
    /// Behind an ARP packet, without IP: the sender's addresses are that packet's, so that each message shows both. A message to
    /// all is a request, one to a neighbour a reply. Not over interfaces without hardware addresses.
    Arp,
}

/// What a routing protocol sees of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// The neighbour that it came from; `None`: this node has made it, or an interface has given it back, and then `source` tells whose
    /// it is.
    pub from: Option<NextHop>,
    /// Of a message: all of it. Of a packet with data: the header that the protocol has put before the data. Otherwise empty.
    pub octets: &'a [u8],
    /// Whether it carries data, behind `octets`; otherwise it is a message.
    pub has_data: bool,
    /// IP protocol number of the data; 0 without data.
    pub protocol: u8,
    /// Identification in the IP header: the same wherever the packet is seen.
    pub identification: u16,
    /// Fragment offset in the IP header, in bytes.
    pub fragment_offset: u16,
}

/// What is to be done with a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes to a neighbour.
    Forward(Forward),
    /// It waits for a route to its destination.
    Wait,
    /// There is no route, and none will be looked for.
    Drop,
}

/// What is to be done with a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The node takes it.
    Deliver,
    /// The header before its data forbids to take it. Only under [`Encapsulation::Ip`].
    Drop,
}

/// Where a packet goes, and what goes before its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The neighbour that is to receive it.
    pub hop: NextHop,
    /// Header before its data, in place of the one that it came with. Only under [`Encapsulation::Ip`].
    pub header: Option<Arc<[u8]>>,
    /// The driver keeps a copy under this name until [`Output::Release`] or [`Output::Recall`].
    pub held: Option<Token>,
}

impl Forward {
    /// To `hop`, as it is.
    pub const fn to(hop: NextHop) -> Self {
        Self { hop, header: None, held: None }
    }
}

/// Name of a packet of which the driver keeps a copy; chosen by the protocol, each used once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

/// What a protocol wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send a message.
    Send(Message),
    /// There is a route to this destination: ask again about the packets that wait for one.
    Found(Ipv4Addr),
    /// No route to this destination was found: drop the packets that wait for one.
    NotFound(Ipv4Addr),
    /// Nothing can be sent to this neighbour any more: each packet that still waits at the interface for it comes back as
    /// [`LinkEvent::QueuePurged`].
    Purge(NextHop),
    /// Send the copy with this name once more, to the same neighbour and with the same header.
    Resend(Token),
    /// Forget the copy with this name.
    Release(Token),
    /// The copy with this name has not arrived: it comes back as [`LinkEvent::FrameDropped`], and is forgotten.
    Recall(Token),
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Source address of the IP packet; `None`: this node.
    pub source: Option<Ipv4Addr>,
    /// Destination address of the IP packet.
    pub destination: Ipv4Addr,
    /// The neighbour that is to receive it; with the broadcast address: all on that interface. `None`: all, on all interfaces.
    pub hop: Option<NextHop>,
    /// Time to live of the IP packet.
    pub ttl: u8,
    /// The message.
    pub octets: Arc<[u8]>,
}

impl Message {
    /// To all neighbours, no further.
    pub fn to_neighbours(octets: impl Into<Arc<[u8]>>) -> Self {
        Self { source: None, destination: Ipv4Addr::BROADCAST, hop: None, ttl: 1, octets: octets.into() }
    }

    /// To one neighbour.
    pub fn to(hop: NextHop, octets: impl Into<Arc<[u8]>>) -> Self {
        Self { source: None, destination: hop.address, hop: Some(hop), ttl: 1, octets: octets.into() }
    }
}

/// What the links report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent<'a> {
    /// The interface has given up a packet for a neighbour after all its attempts.
    FrameDropped {
        /// The neighbour.
        hop: NextHop,
        /// The packet.
        packet: Packet<'a>,
    },
    /// The interface has given back a packet that it had not begun to send, after [`Output::Purge`].
    QueuePurged {
        /// The neighbour.
        hop: NextHop,
        /// The packet.
        packet: Packet<'a>,
    },
    /// The interface says that a neighbour has gone.
    NeighbourLost(NextHop),
}

#[cfg(test)]
mod tests {
    use super::aodv::Aodv;
    use super::dsdv::Dsdv;
    use super::network::{Network, address, hop_to};
    use super::olsr::Olsr;
    use super::*;

    /// Five nodes in a line, a packet from end to end, and what each node lists then.
    fn lists_what_it_tells<R: Routing>(mut network: Network<R>) {
        network.run_for(Duration::from_secs(60));
        assert_eq!(network.path(0, 4, Duration::from_secs(2)), Some(vec![0, 1, 2, 3, 4]));
        for (at, node) in network.nodes.iter().enumerate() {
            let told = (0..6).filter_map(|to| Some((to, node.next_hop(address(to), network.now)?)));
            let expected: Vec<_> =
                told.map(|(to, hop)| Route { destination: address(to), hop, hops: to.abs_diff(at) as u32 }).collect();
            assert_eq!(node.routes(network.now), expected, "node {at}");
            assert!(expected.iter().any(|route| route.destination == address(4)) || at == 4, "node {at}");
        }
        network.disconnect(3, 4);
        let lost = LinkEvent::NeighbourLost(hop_to(4));
        network.nodes[3].handle_link_event(&lost, network.now);
        assert!(network.nodes[3].routes(network.now).iter().all(|route| route.destination != address(4)));
    }

    #[test]
    fn every_protocol_lists_the_next_hops_that_it_tells() {
        lists_what_it_tells(Network::line(5, 1, |node| Aodv::new(aodv::Config::rfc3561(), node, Instant::START)));
        lists_what_it_tells(Network::line(5, 1, |node| Dsdv::new(dsdv::Config::default(), node)));
        lists_what_it_tells(Network::line(5, 1, |node| Olsr::new(olsr::Config::default(), node)));
    }
}
