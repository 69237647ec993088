//! One machine, driven by hand. It is node 0; the others are made up.

use std::net::Ipv4Addr;
use std::sync::Arc;

use hopcast_wire::dsr::{
    Ack, AckRequest, Addresses, DsrOption, ErrorKind, RouteError, RouteReply, RouteRequest, SourceRoute,
};
use hopcast_wire::ipv4::Protocol;

use super::super::header;
use super::*;
use crate::random::{Purpose, Stream};
use crate::routing::network::hop_to;
use crate::routing::{Forward, Token};

/// Protocol number of the data: UDP.
const DATA: u8 = 17;

pub(super) fn millis(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

/// Addresses, kept for as long as the tests run: options borrow them.
pub(super) fn nodes<const N: usize>(indices: [usize; N]) -> &'static [Ipv4Addr] {
    Box::leak(Box::new(indices.map(address)))
}

/// A header with these options, before data.
pub(super) fn with_data(options: &[DsrOption<'_>]) -> Arc<[u8]> {
    header::emit(DATA.into(), options)
}

/// A header with these options in a packet without data.
pub(super) fn alone(options: &[DsrOption<'_>]) -> Arc<[u8]> {
    header::emit(Protocol::NoNextHeader, options)
}

pub(super) fn request(identification: u16, target: usize, addresses: &[Ipv4Addr]) -> DsrOption<'_> {
    let addresses = Addresses::List(addresses);
    DsrOption::RouteRequest(RouteRequest { identification, target: address(target), addresses })
}

pub(super) fn reply(addresses: &[Ipv4Addr]) -> DsrOption<'_> {
    DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses: Addresses::List(addresses) })
}

pub(super) fn route(addresses: &[Ipv4Addr], segments_left: u8) -> DsrOption<'_> {
    DsrOption::SourceRoute(SourceRoute { segments_left, ..header::fresh_route(addresses, false) })
}

pub(super) fn salvaged(addresses: &[Ipv4Addr], segments_left: u8, salvage: u8) -> DsrOption<'_> {
    DsrOption::SourceRoute(SourceRoute { segments_left, salvage, ..header::fresh_route(addresses, false) })
}

pub(super) fn unreachable(source: usize, destination: usize, node: usize, salvage: u8) -> DsrOption<'static> {
    let kind = ErrorKind::NodeUnreachable(address(node));
    let (source, destination) = (address(source), address(destination));
    DsrOption::RouteError(RouteError { salvage, source, destination, kind, extension: &[] })
}

pub(super) fn ack_request(identification: u16) -> DsrOption<'static> {
    DsrOption::AckRequest(AckRequest { identification, extension: &[] })
}

pub(super) fn ack(identification: u16, source: usize, destination: usize) -> DsrOption<'static> {
    DsrOption::Ack(Ack { identification, source: address(source), destination: address(destination) })
}

/// A packet to `hop` with this header.
pub(super) fn to(hop: usize, header: Option<Arc<[u8]>>) -> Verdict {
    Verdict::Forward(Forward { hop: hop_to(hop), header, held: None })
}

/// The same, of which the driver keeps a copy.
pub(super) fn held(hop: usize, header: Option<Arc<[u8]>>, token: u32) -> Verdict {
    Verdict::Forward(Forward { hop: hop_to(hop), header, held: Some(Token(token)) })
}

/// A message of node 0 to a neighbour, for `destination`.
pub(super) fn message(hop: usize, destination: usize, options: &[DsrOption<'_>]) -> Output {
    let (destination, hop) = (address(destination), Some(hop_to(hop)));
    Output::Send(Message { source: None, destination, hop, ttl: 64, octets: alone(options) })
}

/// An acknowledgement of node 0 to a neighbour.
pub(super) fn acknowledgement(hop: usize, identification: u16) -> Output {
    let octets = alone(&[ack(identification, 0, hop)]);
    Output::Send(Message { source: None, destination: address(hop), hop: Some(hop_to(hop)), ttl: 1, octets })
}

/// A broadcast of node 0.
pub(super) fn broadcast(source: Option<usize>, ttl: u8, options: &[DsrOption<'_>]) -> Output {
    let (source, destination) = (source.map(address), Ipv4Addr::BROADCAST);
    Output::Send(Message { source, destination, hop: None, ttl, octets: alone(options) })
}

/// What a packet is, besides its header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// The neighbour that has sent it; 0: node 0 has made it.
    pub(super) from: usize,
    pub(super) source: usize,
    pub(super) destination: usize,
    pub(super) identification: u16,
}

impl Sent {
    pub(super) fn new(from: usize, source: usize, destination: usize) -> Self {
        Self { from, source, destination, identification: 7 }
    }

    fn view<'a>(&self, octets: &'a [u8], has_data: bool) -> Packet<'a> {
        Packet {
            source: address(self.source),
            destination: address(self.destination),
            ttl: 60,
            from: (self.from != 0).then(|| hop_to(self.from)),
            octets,
            has_data,
            protocol: if has_data { DATA } else { 0 },
            identification: self.identification,
            fragment_offset: 0,
        }
    }
}

#[derive(Debug)]
pub(super) struct Bench {
    pub(super) machine: Checked,
    pub(super) now: Instant,
    held: Vec<Output>,
}

impl Bench {
    pub(super) fn new(config: Config) -> Self {
        let random = Stream::new(1, Purpose::Routing, 0, 0);
        let node = Node { address: address(0), interfaces: 1, random };
        let mut machine = Checked(Dsr::new(node, config));
        // The first request has the identification 1.
        machine.0.requests = super::super::discovery::requests::RequestTable::new(&config, 0);
        Self { machine, now: Instant::START, held: Vec::new() }
    }

    /// Lets time pass; the timers due until then go off, each at its instant, and leave nothing to be done.
    #[track_caller]
    pub(super) fn at(&mut self, millis: u64) -> &mut Self {
        let end = Instant::START + Duration::from_millis(millis);
        while let Some(due) = self.machine.poll_timeout().filter(|&due| due < end) {
            assert_eq!(self.due(due), [], "at {due}");
        }
        self.now = end;
        self
    }

    /// What is done when the next timer goes off, which is at this instant.
    #[track_caller]
    pub(super) fn due(&mut self, at: Instant) -> Vec<Output> {
        assert_eq!(self.machine.poll_timeout(), Some(at));
        self.now = at;
        self.machine.handle_timeout(at);
        self.outputs()
    }

    pub(super) fn outputs(&mut self) -> Vec<Output> {
        self.drain();
        core::mem::take(&mut self.held)
    }

    fn drain(&mut self) {
        self.held.extend(core::iter::from_fn(|| self.machine.poll_output()));
    }

    /// A packet with data that node 0 has made.
    pub(super) fn originate(&mut self, destination: usize) -> Verdict {
        self.machine.handle_packet(&Sent::new(0, 0, destination).view(&[], true), self.now)
    }

    /// A packet to be passed on.
    pub(super) fn forward(&mut self, sent: Sent, octets: &[u8], has_data: bool) -> Verdict {
        self.machine.handle_packet(&sent.view(octets, has_data), self.now)
    }

    /// A packet with data has arrived.
    pub(super) fn arrive(&mut self, sent: Sent, octets: &[u8]) -> Arrival {
        self.drain();
        self.machine.handle_arrival(&sent.view(octets, true), self.now)
    }

    /// A message for node 0.
    pub(super) fn message(&mut self, from: usize, source: usize, options: &[DsrOption<'_>]) {
        let octets = alone(options);
        self.drain();
        self.machine.handle_message(&Sent::new(from, source, 0).view(&octets, false), self.now);
    }

    /// A broadcast.
    pub(super) fn broadcast(&mut self, from: usize, source: usize, ttl: u8, options: &[DsrOption<'_>]) {
        let octets = alone(options);
        let view = Sent::new(from, source, 0).view(&octets, false);
        self.drain();
        self.machine.handle_message(&Packet { destination: Ipv4Addr::BROADCAST, ttl, ..view }, self.now);
    }

    pub(super) fn overhear(&mut self, sent: Sent, receiver: usize, octets: &[u8], has_data: bool) {
        self.drain();
        self.machine.handle_overheard(&sent.view(octets, has_data), address(receiver), self.now);
    }

    /// A packet has not reached a neighbour.
    pub(super) fn fail(&mut self, hop: usize, sent: Sent, octets: &[u8], has_data: bool) -> Verdict {
        let packet = sent.view(octets, has_data);
        self.machine.handle_link_event(&LinkEvent::FrameDropped { hop: hop_to(hop), packet }, self.now)
    }

    /// A packet comes back from the queue.
    pub(super) fn purge(&mut self, hop: usize, sent: Sent, octets: &[u8]) -> Verdict {
        let packet = sent.view(octets, true);
        self.machine.handle_link_event(&LinkEvent::QueuePurged { hop: hop_to(hop), packet }, self.now)
    }

    /// Learns a route of node 0, as the answer to a request.
    pub(super) fn learn(&mut self, indices: &[usize]) {
        let list: Vec<_> = indices.iter().map(|&index| address(index)).collect();
        let mut passed = list[..list.len() - 1].to_vec();
        passed.reverse();
        let source = indices[indices.len() - 1];
        let options = [reply(&list), route(&passed, 0)];
        let octets = alone(if passed.is_empty() { &options[..1] } else { &options });
        self.drain();
        self.machine.handle_message(&Sent::new(indices[0], source, 0).view(&octets, false), self.now);
    }

    /// The route of node 0 to another one.
    pub(super) fn route_to(&self, destination: usize) -> Option<Vec<usize>> {
        let route = self.machine.0.cache.peek(address(destination), self.now)?;
        Some(route.hops.into_iter().map(crate::routing::network::index).collect())
    }
}
