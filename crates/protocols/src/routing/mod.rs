//! Routing: finds the next hop towards a destination.
//!
//! [`fixed`] computes routes once, from the nodes that hear each other. All others are protocols with the trait
//! [`Routing`]: machines that exchange messages with their neighbours.
//!
//! # What a driver does
//!
//! A driver, which is a simulated host or a real one, holds the packets; a protocol sees of each the fields of
//! [`Packet`].
//!
//! * It asks [`Routing::handle_packet`] about every packet that the node sends or forwards, and follows the [`Verdict`].
//!   Packets that wait for a route stay with the driver, in a bounded queue ([`queue`]).
//! * It shows packets that have arrived ([`Routing::handle_arrival`]), and delivers them if the [`Arrival`] says so.
//! * It passes in messages ([`Routing::handle_message`]) and reports of the links below ([`LinkEvent`]).
//! * It sends, releases and drops as [`Routing::poll_output`] asks.
//!
//! # How a protocol is laid out
//!
//! The folders of all protocols have the same structure:
//!
//! | module | has |
//! |---|---|
//! | `mod` | the state of one node, and [`Routing`] for it |
//! | `config` | parameters, with their sources |
//! | `table` | routes and the data from which they are computed |
//! | `neighbours` | the neighbours and the links to them |
//! | `messages` | each message: its effect on arrival, and sending it |
//! | `timers` | due times |
//! | `discovery`, `forwarding`, `maintenance` | in protocols that find routes on demand: searches, data packets, broken links |
//! | `header` | in DSR: the header before the data of a packet |
//!
//! Messages are bytes, in the protocol's standard format: they are the same in a simulation, in a capture and between
//! real hosts, and a custom protocol needs no place in a list of message types.

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

/// Largest number of a host's packets that wait for a route (ns-2.35, `aodv/aodv_rqueue.h`, and RFC 4728, section 9).
pub const ROUTE_QUEUE_PACKETS: u32 = 64;
/// Time for which a packet waits for a route (SendBufferTimeout of RFC 4728, section 9; the same in ns-2.35's AODV).
pub const ROUTE_QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// One routing protocol at one node.
///
/// The contract of [all machines](crate) holds: after each `handle_*` the driver drains [`Self::poll_output`] and then reads
/// [`Self::poll_timeout`].
pub trait Routing: Any + fmt::Debug + Send {
    /// Encapsulation of the protocol's messages.
    fn encapsulation(&self) -> Encapsulation;

    /// Decides on a packet that this node has created, or should forward; the driver has already decremented its time to
    /// live.
    ///
    /// The driver asks again, in order, about packets that wait for a destination once [`Output::Found`] names it.
    fn handle_packet(&mut self, packet: &Packet<'_>, now: Instant) -> Verdict;

    /// Decides on a packet with data for this node that has arrived.
    fn handle_arrival(&mut self, _packet: &Packet<'_>, _now: Instant) -> Arrival {
        Arrival::Deliver
    }

    /// No packet waits for a route to `destination` any more, so a search for one may end. Without this call it
    /// continues.
    fn handle_abandoned(&mut self, _destination: Ipv4Addr, _now: Instant) {}

    /// A message has arrived: [`Packet::octets`] is all of it.
    fn handle_message(&mut self, packet: &Packet<'_>, now: Instant);

    /// The node has overheard a packet from the neighbour [`Packet::from`] to another one, `receiver`. Only if
    /// [`Self::is_promiscuous`].
    fn handle_overheard(&mut self, _packet: &Packet<'_>, _receiver: Ipv4Addr, _now: Instant) {}

    /// Something happened to a link. The verdict is on the packet that the event carries, if it carries one with data; a
    /// message is gone.
    fn handle_link_event(&mut self, event: &LinkEvent<'_>, now: Instant) -> Verdict;

    /// The time of [`Self::poll_timeout`] has come or has passed. Must move that time on: the driver calls this again
    /// while something is due now.
    fn handle_timeout(&mut self, now: Instant);

    /// Time at which to call [`Self::handle_timeout`]; at once if it has passed.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Takes out the next action.
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

    /// A number that changes whenever [`Self::routes`] does, so that callers can leave out comparing. `None` if the protocol
    /// does not count them.
    fn routes_version(&self, _now: Instant) -> Option<u64> {
        None
    }

    /// Length in bytes of the header that a packet of this node for `destination` would now get before its data: a packet
    /// that is cut into fragments leaves room for it in each. 0 without a route, and with encapsulations other than
    /// [`Encapsulation::Ip`].
    fn header_len(&mut self, _destination: Ipv4Addr, _now: Instant) -> usize {
        0
    }

    /// Route requests that this node has sent for itself, not those of others that it has passed on; 0 of a protocol that looks for no
    /// routes.
    fn requests(&self) -> u64 {
        0
    }

    /// Whether the protocol wants to see packets that neighbours send to each other.
    fn is_promiscuous(&self) -> bool {
        false
    }
}

/// Reads what a message at this node is likely to need, so that a simulator with many nodes can have the processor fetch
/// it for all receivers of a broadcast at once. The result has no meaning; the caller only keeps the compiler from
/// removing the reads.
#[doc(hidden)]
#[inline]
pub fn prefetch(protocol: &dyn Routing) -> u64 {
    let protocol: &dyn Any = protocol;
    protocol.downcast_ref::<aodv::Aodv>().map_or(0, aodv::Aodv::prefetch)
}

/// Information about the node that a protocol serves.
#[derive(Clone, Debug)]
pub struct Node {
    /// The address of the node, the same on all interfaces.
    pub address: Ipv4Addr,
    /// Number of its interfaces; they are counted from zero.
    pub interfaces: u32,
    /// Random numbers for jitter and other draws of the protocol.
    pub random: Stream,
}

/// A neighbour, and the interface that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NextHop {
    /// Index of the interface at the node.
    pub interface: u32,
    /// The neighbour.
    pub address: Ipv4Addr,
}

/// A route to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination.
    pub destination: Ipv4Addr,
    /// The next hop.
    pub hop: NextHop,
    /// Hops to the destination, as far as this node knows.
    pub hops: u32,
}

/// Encapsulation of a protocol's messages.
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
    /// After an ARP packet, without IP: the sender's addresses are that packet's, so that each message shows both. A
    /// message to all is a request, one to a neighbour a reply. Does not work on interfaces without hardware addresses.
    Arp,
}

/// The parts of an IP packet that a routing protocol sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// The neighbour that sent it; `None`: this node created it, or an interface returned it, and then `source` is its
    /// origin.
    pub from: Option<NextHop>,
    /// For a message: all its bytes. For a packet with data: the header that the protocol put before the data. Otherwise
    /// empty.
    pub octets: &'a [u8],
    /// Whether it carries data after `octets`; otherwise it is a message.
    pub has_data: bool,
    /// IP protocol number of the data; 0 without data.
    pub protocol: u8,
    /// Identification in the IP header: the same at all nodes.
    pub identification: u16,
    /// Fragment offset in the IP header, in bytes.
    pub fragment_offset: u16,
}

impl<'a> Packet<'a> {
    /// A message that a neighbour has sent.
    pub fn message(from: NextHop, destination: Ipv4Addr, ttl: u8, octets: &'a [u8]) -> Self {
        Self {
            source: from.address,
            destination,
            ttl,
            from: Some(from),
            octets,
            has_data: false,
            protocol: 0,
            identification: 0,
            fragment_offset: 0,
        }
    }
}

/// What to do with a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Send it to a neighbour.
    Forward(Forward),
    /// Keep it until there is a route to its destination.
    Wait,
    /// Drop it: there is no route, and the protocol will not look for one.
    Drop,
}

/// What to do with a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Deliver it to the node.
    Deliver,
    /// Drop it: the header before its data does not allow delivery. Only under [`Encapsulation::Ip`].
    Drop,
}

/// Destination of a packet's next hop, and the header before its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The receiving neighbour.
    pub hop: NextHop,
    /// Header to put before the data, replacing the one that the packet came with. Only under [`Encapsulation::Ip`].
    pub header: Option<Arc<[u8]>>,
    /// The driver keeps a copy under this name until [`Output::Release`] or [`Output::Recall`].
    pub held: Option<Token>,
}

impl Forward {
    /// To `hop`, unchanged.
    pub const fn to(hop: NextHop) -> Self {
        Self { hop, header: None, held: None }
    }
}

/// Identifier of a packet of which the driver keeps a copy; the protocol chooses it, and uses each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u32);

/// An action that a protocol asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send a message.
    Send(Message),
    /// A route to this destination exists: ask again about the packets that wait for one.
    Found(Ipv4Addr),
    /// No route to this destination was found: drop the packets that wait for one.
    NotFound(Ipv4Addr),
    /// This neighbour is unreachable: packets for it that still wait at the interface come back as
    /// [`LinkEvent::QueuePurged`].
    Purge(NextHop),
    /// Send the copy with this identifier again, to the same neighbour and with the same header.
    Resend(Token),
    /// Forget the copy with this name.
    Release(Token),
    /// The copy with this name has not arrived: it comes back as [`LinkEvent::FrameDropped`], and is forgotten.
    Recall(Token),
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Source address of the IP packet; `None`: this node.
    pub source: Option<Ipv4Addr>,
    /// Destination address of the IP packet.
    pub destination: Ipv4Addr,
    /// The receiving neighbour; with the broadcast address: all on that interface. `None`: all, on all interfaces.
    pub hop: Option<NextHop>,
    /// Time to live of the IP packet.
    pub ttl: u8,
    /// The message.
    pub octets: Arc<[u8]>,
}

impl Message {
    /// A message to all neighbours, no further.
    pub fn to_neighbours(octets: impl Into<Arc<[u8]>>) -> Self {
        Self { source: None, destination: Ipv4Addr::BROADCAST, hop: None, ttl: 1, octets: octets.into() }
    }

    /// A message to one neighbour.
    pub fn to(hop: NextHop, octets: impl Into<Arc<[u8]>>) -> Self {
        Self { source: None, destination: hop.address, hop: Some(hop), ttl: 1, octets: octets.into() }
    }
}

/// An event that a link reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent<'a> {
    /// The interface has given up a packet for a neighbour after all its attempts.
    FrameDropped {
        /// The neighbour.
        hop: NextHop,
        /// The packet.
        packet: Packet<'a>,
    },
    /// The interface has returned a packet that it had not begun to send, after [`Output::Purge`].
    QueuePurged {
        /// The neighbour.
        hop: NextHop,
        /// The packet.
        packet: Packet<'a>,
    },
    /// The interface reports that a neighbour has gone.
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
