mod by_hand;
mod octets;
mod properties;

use std::net::Ipv4Addr;

use hopcast_wire::dsdv::{self, Entry, INFINITE, Kind};

use super::{Config, Dsdv};
use crate::random::{Purpose, Stream};
use crate::routing::network::{address, hop_to};
use crate::routing::{LinkEvent, Message, Node, Output, Packet, Routing, Verdict};
use crate::time::{Duration, Instant};

/// Node 0 by itself; its neighbours are what a test says that they say.
#[derive(Debug)]
struct Bench {
    node: Dsdv,
    now: Instant,
}

/// An update as it was sent.
#[derive(Clone, Debug, PartialEq)]
struct Update {
    at: Instant,
    kind: Kind,
    entries: Vec<Entry>,
}

impl Update {
    fn read(at: Instant, message: &Message) -> Self {
        let packet = dsdv::Packet::new_checked(&message.octets).expect("what is sent is right");
        let entries = packet.entries().map(|entry| entry.expect("what is sent is right")).collect();
        Self { at, kind: packet.kind(), entries }
    }

    fn of(&self, node: usize) -> Option<Entry> {
        self.entries.iter().copied().find(|entry| entry.destination == address(node))
    }
}

fn entry(node: usize, metric: u32, sequence: u32) -> Entry {
    Entry { destination: address(node), metric, sequence }
}

fn broken(node: usize, sequence: u32) -> Entry {
    entry(node, INFINITE, sequence)
}

fn octets_of(entries: &[Entry]) -> Vec<u8> {
    super::messages::datagram(Kind::Incremental, entries.iter(), entries.len())
}

fn message(from: usize, octets: &[u8]) -> Packet<'_> {
    Packet::message(hop_to(from), Ipv4Addr::BROADCAST, 1, octets)
}

fn data(to: usize) -> Packet<'static> {
    Packet {
        source: address(0),
        destination: address(to),
        ttl: 64,
        from: None,
        octets: &[],
        has_data: true,
        protocol: 17,
        identification: 0,
        fragment_offset: 0,
    }
}

impl Bench {
    fn new(config: Config) -> Self {
        let random = Stream::new(1, Purpose::Routing, 0, 0);
        let node = Dsdv::new(config, Node { address: address(0), interfaces: 1, random });
        Self { node, now: Instant::START }
    }

    /// A node that has sent its first full dump, and has no neighbours.
    fn started() -> Self {
        Self::started_with(Config::default())
    }

    fn started_with(config: Config) -> Self {
        let mut bench = Self::new(config);
        let first = bench.until(Instant::START + Duration::from_secs(2));
        assert_eq!(first.len(), 1, "{first:?}");
        bench
    }

    /// Lets time pass up to and including `end`; the updates that were sent.
    fn until(&mut self, end: Instant) -> Vec<Update> {
        let mut updates = Vec::new();
        while let Some(due) = self.node.poll_timeout().filter(|&due| due <= end) {
            assert!(due >= self.now);
            self.now = due;
            self.node.handle_timeout(due);
            updates.extend(self.outputs().iter().filter_map(|output| match output {
                Output::Send(message) => Some(Update::read(due, message)),
                _ => None,
            }));
            assert!(self.node.poll_timeout().is_some_and(|again| again > due), "nothing stays due");
        }
        self.now = end;
        updates
    }

    fn after(&mut self, duration: Duration) -> Vec<Update> {
        self.until(self.now + duration)
    }

    /// Neighbour `from` says this.
    fn hear(&mut self, from: usize, entries: &[Entry]) -> Vec<Output> {
        let octets = octets_of(entries);
        self.node.handle_message(&message(from, &octets), self.now);
        self.outputs()
    }

    /// The interface gives up a packet for node `to` that went to neighbour `hop`.
    fn drop(&mut self, hop: usize, to: usize) -> Verdict {
        let event = LinkEvent::FrameDropped { hop: hop_to(hop), packet: data(to) };
        self.node.handle_link_event(&event, self.now)
    }

    fn outputs(&mut self) -> Vec<Output> {
        core::iter::from_fn(|| self.node.poll_output()).collect()
    }

    fn next_hop(&self, to: usize) -> Option<usize> {
        self.node.next_hop(address(to), self.now).map(|hop| crate::routing::network::index(hop.address))
    }
}
