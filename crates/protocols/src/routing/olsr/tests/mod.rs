mod afar;
mod links;
mod neighbours;
mod octets;
mod properties;

use std::net::Ipv4Addr;

use hopcast_wire::olsr::hello::{LinkCode, LinkType, NeighbourType};
use hopcast_wire::olsr::{self, MessageRepr, MessageType, TimeCode, hello, mid, tc};

use super::{Config, Olsr};
use crate::random::{Purpose, Stream};
use crate::routing::network::{address, index};
use crate::routing::{LinkEvent, NextHop, Node, Output, Packet, Routing, Verdict};
use crate::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const NANO: Duration = Duration::from_nanos(1);

/// A link code: link type and neighbour type.
const fn code(link: LinkType, neighbour: NeighbourType) -> LinkCode {
    LinkCode { link, neighbour }
}
const HEARD: LinkCode = code(LinkType::Asymmetric, NeighbourType::NotNeighbour);
const SYMMETRIC: LinkCode = code(LinkType::Symmetric, NeighbourType::Symmetric);
const RELAY: LinkCode = code(LinkType::Symmetric, NeighbourType::Mpr);
const LOST: LinkCode = code(LinkType::Lost, NeighbourType::NotNeighbour);

/// Node 0 by itself; its neighbours are what a test says that they say.
#[derive(Debug)]
struct Bench {
    node: Olsr,
    now: Instant,
    /// Numbers of the neighbours' packets and messages.
    sequence: u16,
}

/// A message as it was sent.
#[derive(Clone, Debug, PartialEq)]
struct Sent {
    at: Instant,
    interface: Option<u32>,
    packet: u16,
    header: MessageRepr,
    body: Vec<u8>,
}

impl Sent {
    fn hello(&self) -> Option<hello::Repr> {
        let view = hello::View::new_checked(&self.body).ok()?;
        (self.header.kind == MessageType::Hello).then(|| hello::Repr::parse(&view))
    }

    fn tc(&self) -> Option<tc::Repr> {
        let view = tc::View::new_checked(&self.body).ok()?;
        (self.header.kind == MessageType::Tc).then(|| tc::Repr::parse(&view))
    }
}

/// The last HELLO of these: what it says, as (code, node).
fn last_hello(sent: &[Sent]) -> Vec<(LinkCode, usize)> {
    let hello = sent.iter().rev().find_map(Sent::hello).expect("a HELLO");
    hello.links.iter().flat_map(|(code, all)| all.iter().map(|&address| (*code, index(address)))).collect()
}

fn packet_octets(sequence: u16, messages: &[(MessageRepr, Vec<u8>)]) -> Vec<u8> {
    let mut octets = vec![0; olsr::HEADER_LEN];
    for (header, body) in messages {
        header.push(&mut octets, body);
    }
    let payload_len = (octets.len() - olsr::HEADER_LEN) as u16;
    olsr::Repr { sequence, payload_len }.emit(&mut olsr::Packet::new_unchecked(&mut octets));
    octets
}

fn header(kind: MessageType, originator: usize, sequence: u16, body: &[u8]) -> MessageRepr {
    let (secs, time_to_live) = if kind == MessageType::Hello { (6, 1) } else { (15, 255) };
    MessageRepr {
        kind,
        validity: TimeCode::from_nanos(secs * 1_000_000_000),
        originator: address(originator),
        time_to_live,
        hop_count: 0,
        sequence,
        body_len: body.len() as u16,
    }
}

fn hello_body(willingness: u8, links: &[(LinkCode, usize)]) -> Vec<u8> {
    let links = links.iter().map(|&(code, node)| (code, vec![address(node)])).collect();
    let repr = hello::Repr { interval: TimeCode::from_nanos(2_000_000_000), willingness, links };
    let mut body = vec![0; repr.buffer_len()];
    repr.emit(&mut body);
    body
}

fn tc_body(ansn: u16, neighbours: &[usize]) -> Vec<u8> {
    let repr = tc::Repr { ansn, neighbours: neighbours.iter().map(|&node| address(node)).collect() };
    let mut body = vec![0; repr.buffer_len()];
    repr.emit(&mut body);
    body
}

fn data(to: Ipv4Addr) -> Packet<'static> {
    Packet {
        source: address(0),
        destination: to,
        ttl: 64,
        from: None,
        octets: &[],
        has_data: true,
        protocol: 17,
        identification: 0,
        fragment_offset: 0,
    }
}

fn to(node: usize) -> NextHop {
    NextHop { interface: 0, address: address(node) }
}

impl Bench {
    fn new(config: Config) -> Self {
        Self::with_interfaces(config, 1)
    }

    fn with_interfaces(config: Config, interfaces: u32) -> Self {
        let random = Stream::new(1, Purpose::Routing, 0, 0);
        let node = Olsr::new(config, Node { address: address(0), interfaces, random });
        Self { node, now: Instant::START, sequence: 0 }
    }

    /// Lets time pass up to and including `end`; what was sent.
    fn until(&mut self, end: Instant) -> Vec<Sent> {
        let mut sent = Vec::new();
        while let Some(due) = self.node.poll_timeout().filter(|&due| due <= end) {
            assert!(due >= self.now);
            self.now = due;
            self.node.handle_timeout(due);
            for output in self.outputs() {
                let Output::Send(message) = output else { continue };
                assert_eq!((message.destination, message.ttl), (Ipv4Addr::BROADCAST, 1));
                let packet = olsr::Packet::new_checked(&message.octets[..]).expect("what is sent is right");
                sent.extend(packet.messages().map(|message_in| {
                    let message_in = message_in.expect("what is sent is right");
                    let interface = message.hop.map(|hop| hop.interface);
                    let body = message_in.body().to_vec();
                    Sent { at: due, interface, packet: packet.sequence(), header: message_in.header(), body }
                }));
            }
            assert!(self.node.poll_timeout().is_some_and(|again| again > due), "nothing stays due");
        }
        self.now = end;
        sent
    }

    fn after(&mut self, duration: Duration) -> Vec<Sent> {
        self.until(self.now + duration)
    }

    fn hear_octets(&mut self, from: NextHop, octets: &[u8]) {
        self.node.handle_message(&Packet::message(from, Ipv4Addr::BROADCAST, 1, octets), self.now);
    }

    /// A packet with one message.
    fn hear(&mut self, from: NextHop, header: MessageRepr, body: Vec<u8>) {
        self.sequence += 1;
        let octets = packet_octets(self.sequence, &[(header, body)]);
        self.hear_octets(from, &octets);
    }

    /// A HELLO of node `from`.
    fn hello(&mut self, from: usize, links: &[(LinkCode, usize)]) {
        self.hello_at(to(from), 3, links);
    }

    fn hello_at(&mut self, from: NextHop, willingness: u8, links: &[(LinkCode, usize)]) {
        let body = hello_body(willingness, links);
        self.hear(from, header(MessageType::Hello, index(from.address), 0, &body), body);
    }

    /// A TC message of `originator` that node `from` sends or passes on.
    fn tc(&mut self, from: usize, originator: usize, sequence: u16, ansn: u16, neighbours: &[usize]) {
        let body = tc_body(ansn, neighbours);
        self.hear(to(from), header(MessageType::Tc, originator, sequence, &body), body);
    }

    /// Node `from` is a symmetric neighbour, with these neighbours besides node 0.
    fn befriend(&mut self, from: usize, neighbours: &[usize]) {
        let links: Vec<_> = [0].iter().chain(neighbours).map(|&node| (SYMMETRIC, node)).collect();
        self.hello(from, &links);
    }

    fn outputs(&mut self) -> Vec<Output> {
        core::iter::from_fn(|| self.node.poll_output()).collect()
    }

    fn next_hop(&self, to: usize) -> Option<usize> {
        self.node.next_hop(address(to), self.now).map(|hop| index(hop.address))
    }

    fn relays(&mut self) -> Vec<usize> {
        self.node.neighbourhood.relays().iter().map(|&address| index(address)).collect()
    }

    fn has_routes(&self) -> bool {
        self.node.routes.borrow().is_some() && !self.node.is_stale.get()
    }
}
