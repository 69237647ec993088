//! A network of machines of one protocol for tests, with links that come and go: no medium, no contention, no loss but that of
//! links that are not there.
//!
//! A packet takes [`HOP`] from one node to the next. One for a neighbour that the sender does not reach comes back as
//! [`LinkEvent::FrameDropped`] after the same time; a broadcast reaches all nodes with a link at that time.
//! [`Network::disturb`] makes messages late and lost as well.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;
use std::sync::Arc;

use super::{
    Arrival, Encapsulation, Forward, LinkEvent, Message, NextHop, Node, Output, Packet, Routing, Token, Verdict,
};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};

/// Time from a node to its neighbour.
pub(super) const HOP: Duration = Duration::from_millis(1);
/// Time to live of packets with data: the most hops of one.
pub(super) const TTL: u8 = 64;
/// Protocol number of the data: UDP.
const DATA: u8 = 17;

/// The address of the node with this index.
pub(super) fn address(node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + node as u32)
}

/// The node with this address.
pub(super) fn index(address: Ipv4Addr) -> usize {
    (address.to_bits() - Ipv4Addr::new(10, 0, 0, 1).to_bits()) as usize
}

/// The only interface of a node leads to `node`.
pub(super) fn hop_to(node: usize) -> NextHop {
    NextHop { interface: 0, address: address(node) }
}

/// What became of a packet with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// On its way, or waiting for a route.
    UnderWay,
    /// It has arrived, over these nodes, both ends included.
    Arrived(Vec<usize>),
    /// It was dropped at this node.
    Dropped(usize),
}

#[derive(Clone, Debug)]
struct InFlight {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    ttl: u8,
    octets: Arc<[u8]>,
    identification: u16,
    /// Number of the packet and nodes that have had it; `None`: a message.
    data: Option<(usize, Vec<usize>)>,
}

impl InFlight {
    fn view(&self, from: Option<NextHop>) -> Packet<'_> {
        Packet {
            source: self.source,
            destination: self.destination,
            ttl: self.ttl,
            from,
            octets: &self.octets,
            has_data: self.data.is_some(),
            protocol: if self.data.is_some() { DATA } else { 0 },
            identification: self.identification,
            fragment_offset: 0,
        }
    }
}

#[derive(Debug)]
enum Event {
    Arrive { from: usize, to: Option<usize>, packet: InFlight },
    Fail { at: usize, to: usize, packet: InFlight },
}

/// The network.
#[derive(Debug)]
pub(super) struct Network<R> {
    pub(super) nodes: Vec<R>,
    pub(super) now: Instant,
    links: BTreeSet<(usize, usize)>,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
    /// By node: packets that wait for a route.
    waiting: Vec<VecDeque<InFlight>>,
    held: BTreeMap<(usize, Token), (NextHop, InFlight)>,
    fates: Vec<Fate>,
    /// Messages that each node has sent, as (time, message).
    pub(super) sent: Vec<Vec<(Instant, Message)>>,
    disturbance: Option<Disturbance>,
}

/// What happens to messages, which links report nothing of.
#[derive(Debug)]
struct Disturbance {
    random: Stream,
    loss: f64,
    delay: Duration,
}

impl<R: Routing> Network<R> {
    /// `count` nodes without links, each made by `make`.
    pub(super) fn new(count: usize, seed: u64, mut make: impl FnMut(Node) -> R) -> Self {
        let node = |index: usize| Node {
            address: address(index),
            interfaces: 1,
            random: Stream::new(seed, Purpose::Routing, index as u64, 0),
        };
        let mut network = Self {
            nodes: (0..count).map(|index| make(node(index))).collect(),
            now: Instant::START,
            links: BTreeSet::new(),
            events: BTreeMap::new(),
            number: 0,
            waiting: vec![VecDeque::new(); count],
            held: BTreeMap::new(),
            fates: Vec::new(),
            sent: vec![Vec::new(); count],
            disturbance: None,
        };
        (0..count).for_each(|node| network.drain(node));
        network
    }

    /// The same with links along a line.
    pub(super) fn line(count: usize, seed: u64, make: impl FnMut(Node) -> R) -> Self {
        let mut network = Self::new(count, seed, make);
        (1..count).for_each(|node| network.connect(node - 1, node));
        network
    }

    /// Makes a link in both directions.
    pub(super) fn connect(&mut self, a: usize, b: usize) {
        self.connect_one_way(a, b);
        self.connect_one_way(b, a);
    }

    /// Makes a link from `from` to `to`.
    pub(super) fn connect_one_way(&mut self, from: usize, to: usize) {
        self.links.insert((from, to));
    }

    /// Breaks a link in both directions.
    pub(super) fn disconnect(&mut self, a: usize, b: usize) {
        self.disconnect_one_way(a, b);
        self.disconnect_one_way(b, a);
    }

    /// Breaks the link from `from` to `to`.
    pub(super) fn disconnect_one_way(&mut self, from: usize, to: usize) {
        self.links.remove(&(from, to));
    }

    /// From now on each message takes up to `delay` longer, so that they overtake each other, and each of its receivers loses it
    /// with probability `loss`.
    pub(super) fn disturb(&mut self, seed: u64, loss: f64, delay: Duration) {
        let random = Stream::new(seed, Purpose::Routing, u64::MAX, 0);
        self.disturbance = Some(Disturbance { random, loss, delay });
    }

    /// Whether `to` hears `from`.
    pub(super) fn hears(&self, from: usize, to: usize) -> bool {
        self.links.contains(&(from, to))
    }

    /// Node `from` makes a packet for `to`; its number.
    pub(super) fn send(&mut self, from: usize, to: usize) -> usize {
        let number = self.fates.len();
        self.fates.push(Fate::UnderWay);
        let packet = InFlight {
            source: address(from),
            destination: address(to),
            ttl: TTL,
            octets: Arc::from([]),
            identification: number as u16,
            data: Some((number, Vec::new())),
        };
        self.route(from, None, packet);
        self.drain(from);
        number
    }

    /// What became of a packet.
    pub(super) fn fate(&self, number: usize) -> &Fate {
        &self.fates[number]
    }

    /// Sends a packet and gives it `patience`; the nodes that it came over, or `None` if it has not arrived.
    pub(super) fn path(&mut self, from: usize, to: usize, patience: Duration) -> Option<Vec<usize>> {
        let number = self.send(from, to);
        self.run_for(patience);
        match self.fate(number) {
            Fate::Arrived(path) => Some(path.clone()),
            Fate::UnderWay | Fate::Dropped(_) => None,
        }
    }

    /// Lets `duration` pass.
    pub(super) fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration, |_| {});
    }

    /// Lets all happen up to and including `end`; `check` looks at the network after each event.
    pub(super) fn run_until(&mut self, end: Instant, mut check: impl FnMut(&Self)) {
        loop {
            let timer = (0..self.nodes.len()).filter_map(|node| Some((self.nodes[node].poll_timeout()?, node))).min();
            let event = self.events.first_key_value().map(|(key, _)| key.0);
            match (timer, event) {
                (timer, Some(at)) if at <= end && timer.is_none_or(|(due, _)| at <= due) => {
                    let ((at, _), event) = self.events.pop_first().expect("there is a first");
                    self.now = at;
                    self.handle(event);
                }
                (Some((due, node)), _) if due <= end => {
                    assert!(due >= self.now, "node {node}: a timer that was due at {due} was left until {}", self.now);
                    self.now = due;
                    self.nodes[node].handle_timeout(due);
                    let again = self.nodes[node].poll_timeout();
                    assert!(again.is_none_or(|again| again > due), "node {node}: its timer stays due at {due}");
                    self.drain(node);
                }
                _ => break,
            }
            check(self);
        }
        self.now = end;
    }

    /// The nodes from `from` on that a packet for `to` would pass by the routes of now; it ends where there is no route, at
    /// `to`, or at the second visit of a node.
    pub(super) fn trace(&self, from: usize, to: usize) -> Vec<usize> {
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            let Some(hop) = self.nodes[at].next_hop(address(to), self.now) else { break };
            at = index(hop.address);
            let is_loop = path.contains(&at);
            path.push(at);
            if is_loop {
                break;
            }
        }
        path
    }

    /// A loop in the routes to any destination, if there is one.
    pub(super) fn find_loop(&self) -> Option<Vec<usize>> {
        let count = self.nodes.len();
        let paths = (0..count).flat_map(|to| (0..count).map(move |from| self.trace(from, to)));
        paths.into_iter().find(|path| path[..path.len() - 1].contains(&path[path.len() - 1]))
    }

    /// Hops of the shortest path over links that have both directions.
    pub(super) fn distance(&self, from: usize, to: usize) -> Option<usize> {
        let mut distance = BTreeMap::from([(from, 0)]);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for next in 0..self.nodes.len() {
                if self.hears(at, next) && self.hears(next, at) && !distance.contains_key(&next) {
                    distance.insert(next, distance[&at] + 1);
                    queue.push_back(next);
                }
            }
        }
        distance.get(&to).copied()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive { from, to, packet } => {
                for node in 0..self.nodes.len() {
                    if !self.hears(from, node) || packet.data.is_none() && self.is_lost() {
                        continue;
                    }
                    if to.is_none_or(|to| to == node) {
                        self.receive(node, from, packet.clone());
                        self.drain(node);
                    } else if let Some(to) = to.filter(|_| self.nodes[node].is_promiscuous()) {
                        self.nodes[node].handle_overheard(&packet.view(Some(hop_to(from))), address(to), self.now);
                        self.drain(node);
                    }
                }
            }
            Event::Fail { at, to, packet } => {
                let event = LinkEvent::FrameDropped { hop: hop_to(to), packet: packet.view(None) };
                self.undelivered(at, &event, &packet);
                self.drain(at);
            }
        }
    }

    fn undelivered(&mut self, at: usize, event: &LinkEvent<'_>, packet: &InFlight) {
        let verdict = self.nodes[at].handle_link_event(event, self.now);
        if packet.data.is_some() {
            self.carry_out(at, verdict, packet.clone());
        }
    }

    fn receive(&mut self, node: usize, from: usize, mut packet: InFlight) {
        if let Some((_, path)) = &mut packet.data {
            path.push(from);
        }
        let from = Some(hop_to(from));
        let for_this = packet.destination == address(node) || packet.destination == Ipv4Addr::BROADCAST;
        match &packet.data {
            None if for_this => self.nodes[node].handle_message(&packet.view(from), self.now),
            Some((number, path)) if for_this => {
                let mut path = path.clone();
                path.push(node);
                match self.nodes[node].handle_arrival(&packet.view(from), self.now) {
                    Arrival::Deliver => self.fates[*number] = Fate::Arrived(path),
                    Arrival::Drop => self.drop(node, &packet),
                }
            }
            _ => {
                packet.ttl -= 1;
                if packet.ttl == 0 {
                    return self.drop(node, &packet);
                }
                self.route(node, from, packet);
            }
        }
    }

    fn route(&mut self, node: usize, from: Option<NextHop>, packet: InFlight) {
        let verdict = self.nodes[node].handle_packet(&packet.view(from), self.now);
        self.carry_out(node, verdict, packet);
    }

    fn carry_out(&mut self, node: usize, verdict: Verdict, mut packet: InFlight) {
        match verdict {
            Verdict::Forward(Forward { hop, header, held }) => {
                let is_ip = matches!(self.nodes[node].encapsulation(), Encapsulation::Ip { .. });
                assert!(header.is_none() || is_ip, "a header needs a protocol number");
                packet.octets = header.unwrap_or_default();
                if let Some(token) = held {
                    assert!(self.held.insert((node, token), (hop, packet.clone())).is_none(), "{token:?} is in use");
                }
                self.put(node, Some(index(hop.address)), packet);
            }
            Verdict::Wait => {
                // Where the packet came from is known no more when its turn comes.
                self.waiting[node].push_back(packet);
            }
            Verdict::Drop => self.drop(node, &packet),
        }
    }

    fn drop(&mut self, node: usize, packet: &InFlight) {
        if let Some((number, _)) = packet.data
            && self.fates[number] == Fate::UnderWay
        {
            self.fates[number] = Fate::Dropped(node);
        }
    }

    fn put(&mut self, from: usize, to: Option<usize>, packet: InFlight) {
        self.number += 1;
        let event = match to {
            Some(to) if !self.hears(from, to) => Event::Fail { at: from, to, packet },
            _ => Event::Arrive { from, to, packet },
        };
        let is_message = matches!(&event, Event::Arrive { packet, .. } if packet.data.is_none());
        let disturbance = self.disturbance.as_mut().filter(|_| is_message);
        let late = disturbance.map_or(Duration::ZERO, |disturbance| {
            Duration::from_secs_f64(disturbance.delay.as_secs_f64() * disturbance.random.unit())
        });
        self.events.insert((self.now + HOP + late, self.number), event);
    }

    fn is_lost(&mut self) -> bool {
        self.disturbance.as_mut().is_some_and(|disturbance| disturbance.random.unit() < disturbance.loss)
    }

    fn drain(&mut self, node: usize) {
        while let Some(output) = self.nodes[node].poll_output() {
            match output {
                Output::Send(message) => {
                    self.sent[node].push((self.now, message.clone()));
                    let Message { source, destination, hop, ttl, octets } = message;
                    let source = source.unwrap_or(address(node));
                    // Those of packets with data count from zero, these from the other end.
                    let identification = !(self.number as u16);
                    let packet = InFlight { source, destination, ttl, octets, identification, data: None };
                    // There is one interface: all on it are all.
                    let hop = hop.filter(|hop| hop.address != Ipv4Addr::BROADCAST);
                    self.put(node, hop.map(|hop| index(hop.address)), packet);
                }
                Output::Found(destination) => {
                    for packet in self.take_waiting(node, destination) {
                        self.route(node, None, packet);
                    }
                }
                Output::NotFound(destination) => {
                    for packet in self.take_waiting(node, destination) {
                        self.drop(node, &packet);
                    }
                }
                // Nothing waits at an interface here.
                Output::Purge(_) => {}
                Output::Resend(token) => {
                    let (hop, packet) = self.held[&(node, token)].clone();
                    self.put(node, Some(index(hop.address)), packet);
                }
                Output::Release(token) => drop(self.held.remove(&(node, token)).expect("the token is known")),
                Output::Recall(token) => {
                    let (hop, packet) = self.held.remove(&(node, token)).expect("the token is known");
                    let event = LinkEvent::FrameDropped { hop, packet: packet.view(None) };
                    self.undelivered(node, &event, &packet);
                }
            }
        }
    }

    fn take_waiting(&mut self, node: usize, destination: Ipv4Addr) -> Vec<InFlight> {
        let all = core::mem::take(&mut self.waiting[node]);
        let (taken, left): (Vec<_>, Vec<_>) = all.into_iter().partition(|packet| packet.destination == destination);
        self.waiting[node] = left.into();
        taken
    }
}
