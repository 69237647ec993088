//! Tests of hosts on a wire: each behaviour by hand, at exact instants, and conservation whatever the wire does.

mod conservation;
mod conversation;
mod fec;
mod held;
mod net;
mod set_up;
mod streams;
mod units;

use super::packet::RoutingPart;
use super::*;
use crate::address::ip_address;
use crate::layout;
use crate::metrics::FlowSpec;
use crate::scenario::model::{Relay, Transport};
use crate::scenario::{self, Scenario};
use hopcast_protocols::application::{AduSource, Application as Writes, AudioSource, CbrSource};
use hopcast_protocols::fec::Config;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::routing::aodv::{self, Aodv};
use hopcast_protocols::routing::dsr::{self, Dsr};
use hopcast_protocols::routing::{self, Encapsulation, Forward, LinkEvent, NextHop, Node, Output, Routing, Verdict};
use hopcast_protocols::time::Duration;
use hopcast_radio::mac::Payload;
use hopcast_radio::mac::edca::{AccessCategory, UserPriority};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};

const FLOW: FlowId = FlowId(0);
/// The node at the other end; a host with a table does not need its identity.
const NEIGHBOUR: Neighbour = Neighbour { interface: 0, node: NodeId(0) };

fn at(micros: u64) -> Instant {
    Instant::from_nanos(micros * 1_000)
}

/// The packet that hosts on a wire, which ask for no addresses, send each other.
fn ip(sdu: &Sdu) -> &Packet {
    let Sdu::Ip(packet) = sdu else { panic!("{sdu:?} on a wire") };
    packet
}

/// One flow over a line of hosts, driven by hand.
struct Bench {
    hosts: Vec<Host>,
    counters: Vec<Counters>,
    flows: FlowTable,
    pool: SduPool,
    now: Instant,
}

/// A flow from the start to the end.
fn spec() -> FlowSpec {
    FlowSpec {
        start: at(0),
        stop: None,
        end: at(100_000_000),
        priority: UserPriority::BEST_EFFORT,
        player: None,
        ends: None,
        is_monitored: false,
        is_protected: false,
        is_media: false,
    }
}

impl Bench {
    fn new(count: u32, socket_buffer: u32) -> Self {
        Self::holding(count, socket_buffer, None)
    }

    /// Blocking writes of datagrams longer than a threshold wait for the interface.
    fn holding(count: u32, socket_buffer: u32, hold_threshold: Option<u32>) -> Self {
        let interfaces = vec![Interface { mtu: Some(1500), queue_packets: 50 }];
        let (radios, hardware) = (Vec::new(), Vec::new());
        let config = HostConfig { interfaces, radios, hardware, arp: None, socket_buffer, hold_threshold, seed: 1 };
        Self {
            hosts: (0..count).map(|node| Host::new(NodeId(node), config.clone(), line(node, count))).collect(),
            counters: vec![Counters::default(); count as usize],
            flows: FlowTable::new([spec()]),
            pool: SduPool::default(),
            now: at(0),
        }
    }

    fn with<R>(&mut self, node: usize, call: impl FnOnce(&mut Host, &mut Context<'_>) -> R) -> R {
        let Self { hosts, counters, flows, pool, now } = self;
        call(
            &mut hosts[node],
            &mut Context { now: *now, flows, counters: &mut counters[node], pool, stop: &Stop::default() },
        )
    }

    /// All packets that come out while the interface has `room` places.
    fn take(&mut self, node: usize, room: usize) -> Vec<Rc<Sdu>> {
        self.take_by(node, |_, taken| QueueSpace::shared(room.saturating_sub(taken.len())))
    }

    /// The same where the room is that for a priority after what was taken.
    fn take_by(&mut self, node: usize, room: impl Fn(UserPriority, &[Rc<Sdu>]) -> QueueSpace) -> Vec<Rc<Sdu>> {
        let mut packets = Vec::new();
        while let Some(transmit) =
            self.with(node, |host, cx| host.poll_output(|_, priority| room(priority, &packets), cx))
        {
            packets.push(transmit.sdu);
        }
        packets
    }

    fn advance(&mut self, micros: u64) {
        self.now = at(micros);
        for node in 0..self.hosts.len() {
            if self.hosts[node].poll_timeout().is_some_and(|due| due <= self.now) {
                self.with(node, Host::handle_timeout);
            }
        }
    }

    fn give(&mut self, node: usize, packet: &Sdu) {
        self.with(node, |host, cx| host.handle_packet(packet, NEIGHBOUR, cx));
    }

    fn sent(&mut self, node: usize, packet: &Rc<Sdu>) {
        self.with(node, |host, cx| host.handle_sent(Rc::clone(packet), cx));
    }

    fn dropped(&mut self, node: usize, packet: &Rc<Sdu>, cause: DropCause) {
        self.with(node, |host, cx| host.handle_drop(Rc::clone(packet), NEIGHBOUR, cause, cx));
    }

    fn check(&self) {
        for (host, counters) in self.hosts.iter().zip(&self.counters) {
            host.check(counters).unwrap();
        }
    }
}

impl Host {
    /// Adds a program that writes to `remote` over UDP until `stop`, protected by FEC or not.
    fn add_udp_source(
        &mut self,
        flow: FlowId,
        application: Box<dyn Writes>,
        stop: Option<Instant>,
        remote: Endpoint,
        fec: Option<&Config>,
    ) {
        let options = SourceOptions { application, start: at(0), stop, quantum: 1, fec: fec.cloned() };
        self.add_source(flow, options, SocketOptions::Udp, remote);
    }

    /// Adds a program that passes datagrams on to `remote` over UDP. Returns the port that it receives on.
    fn add_udp_relay(&mut self, flow: FlowId, remote: Endpoint) -> u16 {
        self.add_relay(flow, at(0), [SocketOptions::Udp, SocketOptions::Udp], remote)
    }

    /// Adds a program that reads a flow's datagrams. Returns the port that it receives on.
    fn add_udp_sink(&mut self, flow: FlowId, fec: Option<&Config>) -> u16 {
        self.add_sink(flow, SocketOptions::Udp.into(), fec)
    }
}

/// Routes of a node in a line.
fn line(node: u32, count: u32) -> Routes {
    let hop = |node| Hop { interface: 0, node: NodeId(node), station: None };
    let mut routes =
        Routes::new(vec![hop(node.wrapping_sub(1)), hop(node + 1)], Destinations::new(count as usize, 0..count).into());
    for to in (0..count).filter(|&to| to != node) {
        routes.set(NodeId(to), usize::from(to > node));
    }
    routes
}

fn units(size: u32, wait: u64, bytes: Option<u64>) -> Box<dyn Writes> {
    Box::new(AduSource::new(at(0), size, Duration::from_micros(wait), bytes))
}

/// A source at the first host and a sink at the last, with datagrams going straight from one to the other.
fn direct(count: u32, socket_buffer: u32, source: Box<dyn Writes>) -> Bench {
    let mut bench = Bench::new(count, socket_buffer);
    let port = bench.hosts[count as usize - 1].add_udp_sink(FLOW, None);
    bench.hosts[0].add_udp_source(FLOW, source, None, Endpoint { node: NodeId(count - 1), port }, None);
    bench
}

#[test]
fn a_unit_of_sixteen_kilobytes_is_twelve_packets_and_arrives_with_the_last() {
    let mut bench = direct(2, 8192, units(16_384, 0, Some(16_384)));
    bench.advance(0);
    let packets = bench.take(0, 50);
    assert_eq!(packets.len(), 12);
    assert_eq!(packets.iter().map(Payload::octets).sum::<u32>(), 16_384 + 8 + 12 * 20);
    for packet in &packets {
        assert_eq!(bench.flows[FLOW].summary(bench.now).received_packets, 0);
        bench.advance(5_000);
        bench.give(1, packet);
    }
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.received_packets, summary.received_bytes), (1, 16_384));
    assert!((summary.delay_mean_s.unwrap() - 0.005).abs() < 1e-12);
    assert_eq!(bench.counters[1].delivered, 12);
    bench.check();
}

#[test]
fn one_lost_fragment_loses_the_unit() {
    let mut bench = direct(2, 8192, units(16_384, 0, Some(16_384)));
    bench.advance(0);
    for (index, packet) in bench.take(0, 50).iter().enumerate() {
        if index == 4 {
            bench.dropped(0, packet, DropCause::RetryLimitLong);
        } else {
            bench.sent(0, packet);
            bench.give(1, packet);
        }
    }
    assert_eq!(bench.flows[FLOW].summary(bench.now).lost_packets, 1);
    assert_eq!(bench.hosts[1].held_packets(), 11);
    bench.check();
    assert_eq!(bench.hosts[1].poll_timeout(), Some(at(30_000_000)));
    bench.advance(30_000_000);
    assert_eq!(bench.counters[0][DropCause::RetryLimitLong], 1);
    assert_eq!(bench.counters[1][DropCause::ReassemblyTimeout], 11);
    assert_eq!(bench.flows[FLOW].summary(bench.now).lost_packets, 1);
    bench.check();
}

#[test]
fn a_blocking_write_waits_until_the_interface_is_done_with_the_unit_before() {
    // The unit is larger than the buffer, and fits since the buffer is empty.
    let mut bench = direct(2, 8192, units(16_384, 0, None));
    bench.advance(0);
    let packets = bench.take(0, 50);
    assert_eq!(packets.len(), 12);
    assert_eq!(bench.hosts[0].poll_timeout(), None, "a blocked program waits for the interface alone");
    for packet in &packets[..11] {
        bench.sent(0, packet);
        assert_eq!(bench.take(0, 50), []);
    }
    // A fragment that is dropped releases its place as well.
    bench.dropped(0, &packets[11], DropCause::RetryLimitShort);
    assert_eq!(bench.take(0, 50).len(), 12);
    bench.check();
}

#[test]
fn a_buffer_for_several_units_is_filled_and_refilled_one_by_one() {
    let mut bench = direct(2, 8192, units(2048, 0, None));
    bench.advance(0);
    let packets = bench.take(0, 50);
    assert_eq!(packets.len(), 8, "four units of two packets");
    bench.sent(0, &packets[0]);
    assert_eq!(bench.take(0, 42).len(), 0);
    bench.sent(0, &packets[1]);
    assert_eq!(bench.take(0, 44).len(), 2);
}

#[test]
fn a_blocking_write_waits_for_room_for_all_fragments() {
    let mut bench = direct(2, 100_000, units(16_384, 0, None));
    bench.advance(0);
    assert_eq!(bench.take(0, 35).len(), 24);
    // A unit is more than half of this queue.
    let mut bench = direct(2, 100_000, units(16_384, 0, None));
    bench.hosts[0].stack.config.interfaces[0].queue_packets = 16;
    bench.advance(0);
    assert_eq!(bench.take(0, 11), []);
    assert_eq!(bench.take(0, 12).len(), 12);
}

#[test]
fn a_writer_that_found_the_queue_full_leaves_half_of_it_to_others() {
    let mut bench = direct(2, 1_000_000, units(1000, 0, None));
    bench.advance(0);
    assert_eq!(bench.take(0, 50).len(), 50, "one that finds room takes it all");
    assert_eq!(bench.take(0, 1), []);
    assert_eq!(bench.take(0, 24), []);
    assert_eq!(bench.take(0, 25).len(), 25);
    assert_eq!(bench.take(0, 24), []);
    // Of 3 places half are 2.
    bench.hosts[0].stack.config.interfaces[0].queue_packets = 3;
    assert_eq!(bench.take(0, 25).len(), 25);
    assert_eq!((bench.take(0, 1), bench.take(0, 2).len()), (vec![], 2));
}

/// Three programs: units of 12 packets and of one, best effort, and units of two packets, voice. There are 5 places for each
/// category, or 5 for all of them.
#[test]
fn a_blocking_write_waits_for_room_in_the_queue_of_its_category() {
    let flow = |priority| FlowSpec {
        start: at(0),
        stop: None,
        end: at(100_000_000),
        priority: UserPriority::new(priority),
        player: None,
        ends: None,
        is_monitored: false,
        is_protected: false,
        is_media: false,
    };
    let mut bench = Bench::new(2, 100_000);
    bench.hosts[0].stack.config.interfaces[0].queue_packets = 12;
    bench.flows = FlowTable::new([flow(0), flow(0), flow(6)]);
    for (size, number) in [(16_384, 0), (1_000, 1), (2_000, 2)] {
        let port = bench.hosts[1].add_udp_sink(FlowId(number), None);
        let remote = Endpoint { node: NodeId(1), port };
        bench.hosts[0].add_udp_source(FlowId(number), units(size, 0, None), None, remote, None);
    }
    bench.advance(0);
    assert_eq!(bench.take(0, 5), [], "the large unit keeps its turn in the only queue");
    let by_category = |priority, taken: &[Rc<Sdu>]| {
        let queued = taken.iter().filter(|packet| ip(packet).tag.priority == priority).count();
        QueueSpace { places: 5 - queued, category: Some(AccessCategory::of_user_priority(priority)) }
    };
    let flows: Vec<FlowId> = bench.take_by(0, by_category).iter().map(|packet| ip(packet).tag.flow).collect();
    assert_eq!(flows, [FlowId(2); 4], "it holds up its category, and voice goes while a whole unit fits");
    assert_eq!(bench.take(0, 12).len(), 12, "its turn is still the first");
}

#[test]
fn a_unit_that_no_queue_can_hold_goes_when_the_queue_is_empty() {
    let mut bench = direct(2, 8192, units(16_384, 0, None));
    bench.hosts[0].stack.config.interfaces[0].queue_packets = 5;
    bench.advance(0);
    assert_eq!(bench.take(0, 4), []);
    assert_eq!(bench.take(0, 5).len(), 12);
}

#[test]
fn the_wait_counts_from_the_return_of_the_blocking_write() {
    let mut bench = direct(2, 1000, units(1000, 2_000, None));
    bench.advance(0);
    let first = bench.take(0, 50);
    assert_eq!(first.len(), 1);
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(2_000)));
    // The first unit is still with the interface: the second write blocks until 5 ms.
    bench.advance(2_000);
    assert_eq!((bench.take(0, 50), bench.hosts[0].poll_timeout()), (vec![], None));
    bench.advance(5_000);
    bench.sent(0, &first[0]);
    assert_eq!(bench.take(0, 50).len(), 1);
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(7_000)));
}

#[test]
fn writers_take_turns() {
    let mut bench = direct(2, 100_000, units(1000, 0, None));
    let port = bench.hosts[1].add_udp_sink(FLOW, None);
    bench.hosts[0].add_udp_source(FLOW, units(1000, 0, None), None, Endpoint { node: NodeId(1), port }, None);
    bench.advance(0);
    let sockets: Vec<u16> = bench.take(0, 6).iter().map(|packet| ip(packet).tag.socket).collect();
    assert_eq!(sockets, [0, 1, 0, 1, 0, 1]);
}

#[test]
fn what_a_full_buffer_refuses_of_a_source_that_does_not_block_is_sent_and_lost() {
    let mut bench = direct(2, 2_500, Box::new(CbrSource::new(at(0), 8e6, 1000)));
    for millis in 0..4 {
        bench.advance(millis * 1_000);
    }
    // At 0 and 1 ms there was room; nothing was sent meanwhile.
    assert_eq!(bench.take(0, 0).len(), 2, "room does not matter to those who don't block");
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.sent_packets, summary.lost_packets), (4, 2));
    assert_eq!(bench.counters[0][DropCause::SendBufferFull], 2);
    bench.check();
}

/// 160 bytes each 20 ms, each worth sending for 10 ms.
fn audio() -> Box<dyn Writes> {
    Box::new(AudioSource::new(at(0), 64_000.0, 160, Some(Duration::from_millis(10))))
}

#[test]
fn what_expired_on_its_way_is_not_passed_on() {
    let mut bench = direct(3, 100_000, audio());
    bench.advance(0);
    let first = bench.take(0, 50).swap_remove(0);
    assert_eq!(ip(&first).tag.expires.at(), Some(at(10_000)));
    bench.advance(20_000);
    let second = bench.take(0, 50).swap_remove(0);
    bench.now = at(29_999);
    bench.give(1, &first);
    bench.give(1, &second);
    assert_eq!(bench.take(1, 50).iter().map(|packet| ip(packet).tag.seq).collect::<Vec<_>>(), [1]);
    assert_eq!(bench.counters[1][DropCause::Expired], 1);
    bench.now = at(30_000);
    bench.give(1, &second);
    assert_eq!(bench.take(1, 50), []);
    // At the far end nothing is too late.
    bench.give(2, &second);
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.received_packets, summary.lost_packets), (1, 1));
    bench.check();
}

#[test]
fn a_relay_keeps_the_deadline_and_goes_on_after_what_expired() {
    let mut bench = Bench::new(3, 200);
    let port = bench.hosts[2].add_udp_sink(FLOW, None);
    let port = bench.hosts[1].add_udp_relay(FLOW, Endpoint { node: NodeId(2), port });
    bench.hosts[0].add_udp_source(FLOW, audio(), None, Endpoint { node: NodeId(1), port }, None);
    bench.advance(0);
    let first = bench.take(0, 50).swap_remove(0);
    bench.sent(0, &first);
    bench.give(1, &first);
    let passed = bench.take(1, 50);
    assert_eq!(ip(&passed[0]).tag.expires.at(), Some(at(10_000)));
    bench.advance(20_000);
    let second = bench.take(0, 50).swap_remove(0);
    bench.sent(0, &second);
    // The buffer is full until the first is sent, which is too late for the second.
    bench.give(1, &second);
    assert_eq!(bench.take(1, 50), []);
    bench.advance(30_000);
    bench.sent(1, &passed[0]);
    assert_eq!(bench.take(1, 50), []);
    assert_eq!(bench.counters[1][DropCause::Expired], 1);
    bench.advance(40_000);
    let third = bench.take(0, 50).swap_remove(0);
    bench.give(1, &third);
    assert_eq!(bench.take(1, 50).len(), 1, "what expired has left its place");
    bench.check();
}

#[test]
fn a_stopped_source_is_silent() {
    let mut bench = Bench::new(2, 100_000);
    let port = bench.hosts[1].add_udp_sink(FLOW, None);
    let source = Box::new(CbrSource::new(at(0), 8e6, 1000));
    bench.hosts[0].add_udp_source(FLOW, source, Some(at(2_000)), Endpoint { node: NodeId(1), port }, None);
    for millis in 0..10 {
        bench.advance(millis * 1_000);
    }
    assert_eq!(bench.flows[FLOW].summary(bench.now).sent_packets, 2);
    assert_eq!(bench.hosts[0].poll_timeout(), None);
}

#[test]
fn the_time_to_live_falls_with_each_hop_and_ends_the_way() {
    let mut bench = direct(3, 100_000, units(1000, 0, Some(2000)));
    bench.advance(0);
    let packets = bench.take(0, 50);
    bench.give(1, &packets[0]);
    let forwarded = bench.take(1, 50);
    assert_eq!(ip(&forwarded[0]).ip.ttl, ip(&packets[0]).ip.ttl - 1);
    assert_eq!(bench.counters[1].forwarded, 1);
    let mut dying = ip(&packets[1]).clone();
    dying.ip.ttl = 1;
    bench.give(1, &Sdu::Ip(dying));
    assert_eq!(bench.take(1, 50), []);
    assert_eq!(bench.counters[1][DropCause::TtlExpired], 1);
    assert_eq!(bench.flows[FLOW].summary(bench.now).lost_packets, 1);
    bench.check();
}

#[test]
fn without_a_route_a_write_fails_and_the_program_ends() {
    let mut bench = direct(2, 100_000, units(1000, 0, None));
    bench.hosts[0].stack.routes = Routes::default();
    bench.advance(0);
    assert_eq!(bench.take(0, 50), []);
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.sent_packets, summary.lost_packets), (1, 1));
    assert_eq!(bench.counters[0][DropCause::NoRoute], 1);
    bench.check();
}

/// RFC 4728, section 8.1.6: what DSR has put before the data decides.
#[test]
fn a_packet_that_the_routing_protocol_refuses_is_dropped_and_counted() {
    let mut bench = direct(2, 100_000, units(1000, 0, Some(2000)));
    bench.advance(0);
    let packets = bench.take(0, 50);
    let random = Stream::new(1, Purpose::Routing, 1, 0);
    let dsr = Dsr::new(Node { address: ip_address(NodeId(1)), interfaces: 1, random }, dsr::Config::RFC_4728);
    let scenario = streams::scenario(2, Relay::Os, Transport::Udp, streams::bulk(None, 1000));
    let neighbours = Arc::new(layout::neighbours(&scenario));
    bench.hosts[1].set_router(Router::new(Box::new(dsr), neighbours, ROUTE_QUEUE_PACKETS));
    for (packet, kind) in packets.iter().zip([0x1f, 0x7f]) {
        let mut packet = ip(packet).clone();
        // Next header UDP, four octets of options: this one, and two of data.
        let octets = Arc::new([17, 0, 0, 4, kind, 2, 0, 0]);
        packet.set_routing(Some(RoutingPart { encapsulation: Encapsulation::Ip { protocol: 48 }, octets }));
        bench.give(1, &Sdu::Ip(packet));
    }
    assert_eq!((bench.counters[1].delivered, bench.counters[1][DropCause::NoRoute]), (1, 1));
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.received_packets, summary.lost_packets), (1, 1));
    bench.check();
}

/// A host recognises a repeated AODV request, such as one from each neighbour: the engine does not have to ask it for
/// outputs.
#[test]
fn a_message_that_changes_nothing_is_told_apart() {
    let mut bench = direct(3, 100_000, units(1000, 0, Some(1000)));
    let text = r#"
        duration = "1 s"
        [[nodes]]
        name = "n"
        count = 3
        placement = { shape = "line", spacing = "5 m" }
    "#;
    let source = scenario::Source { text: text.to_owned(), name: "line".to_owned(), ..scenario::Source::default() };
    let loaded = Scenario::parse(&source, &[]).expect("the scenario is right");
    let neighbours = Arc::new(layout::neighbours(&loaded.scenario));
    for (host, node) in bench.hosts.iter_mut().zip(0..2) {
        let random = Stream::new(1, Purpose::Routing, node, 0);
        let node = Node { address: ip_address(NodeId(node as u32)), interfaces: 1, random };
        let aodv = Box::new(Aodv::new(aodv::Config::ns2(), node, at(0)));
        host.set_router(Router::new(aodv, Arc::clone(&neighbours), ROUTE_QUEUE_PACKETS));
    }
    bench.advance(0);
    let [request] = &bench.take(0, 50)[..] else { panic!("one request") };
    let polled = |bench: &mut Bench| (bench.take(1, 50), bench.hosts[1].poll_purge(), bench.hosts[1].poll_timeout());
    assert_eq!(
        bench.with(1, |host, cx| host.handle_packet(request, NEIGHBOUR, cx)),
        Reaction::Any,
        "it is to be passed on"
    );
    let before = polled(&mut bench);
    assert_eq!(bench.with(1, |host, cx| host.handle_packet(request, NEIGHBOUR, cx)), Reaction::None);
    assert_eq!(polled(&mut bench), (Vec::new(), None, before.2));
    // What is due when it comes is done all the same.
    bench.now = before.2.expect("it waits for its jitter");
    assert_eq!(bench.with(1, |host, cx| host.handle_packet(request, NEIGHBOUR, cx)), Reaction::Any);
    assert_eq!(bench.take(1, 50).len(), 1, "it is passed on");
    bench.check();
}

/// Leads packets to the neighbour that it is told, or lets them wait, and remembers for which destinations none waits any more.
#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Knowledge>>);

#[derive(Debug, Default)]
struct Knowledge {
    hop: Option<NodeId>,
    abandoned: Vec<Ipv4Addr>,
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Knowledge> {
        self.0.lock().expect("one thread")
    }
}

impl Routing for Told {
    fn encapsulation(&self) -> Encapsulation {
        Encapsulation::Udp { port: 1 }
    }
    fn handle_packet(&mut self, _: &routing::Packet<'_>, now: Instant) -> Verdict {
        self.next_hop(Ipv4Addr::UNSPECIFIED, now).map_or(Verdict::Wait, |hop| Verdict::Forward(Forward::to(hop)))
    }
    fn handle_abandoned(&mut self, destination: Ipv4Addr, _: Instant) {
        self.lock().abandoned.push(destination);
    }
    fn handle_message(&mut self, _: &routing::Packet<'_>, _: Instant) {}
    fn handle_link_event(&mut self, _: &LinkEvent<'_>, _: Instant) -> Verdict {
        Verdict::Drop
    }
    fn handle_timeout(&mut self, _: Instant) {}
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
    fn poll_output(&mut self) -> Option<Output> {
        None
    }
    fn next_hop(&self, _: Ipv4Addr, _: Instant) -> Option<NextHop> {
        self.lock().hop.map(|node| NextHop { interface: 0, address: ip_address(node) })
    }
}

#[test]
fn a_protocol_is_told_once_when_no_packet_waits_for_a_destination_any_more() {
    let mut bench = direct(3, 100_000, units(1000, 0, Some(1000)));
    bench.advance(0);
    let sent = ip(&bench.take(0, 50)[0]).clone();
    let protocol = Told::default();
    let abandoned = || protocol.lock().abandoned.clone();
    let scenario = streams::scenario(3, Relay::Os, Transport::Udp, streams::bulk(None, 1000));
    let neighbours = Arc::new(layout::neighbours(&scenario));
    bench.hosts[1].set_router(Router::new(Box::new(protocol.clone()), neighbours, 3));
    let [first, second] = [NodeId(0), NodeId(2)];
    for (destination, told) in [(first, 0), (second, 0), (first, 0), (first, 0), (first, 1)] {
        let packet = Packet { ip: packet::Ipv4 { destination, ..sent.ip }, ..sent.clone() };
        bench.give(1, &Sdu::Ip(packet));
        assert_eq!(abandoned().len(), told, "of those that had to make room others wait");
    }
    assert_eq!(abandoned(), [ip_address(second)]);
    bench.advance(29_999_999);
    assert_eq!(abandoned().len(), 1);
    bench.advance(30_000_000);
    assert_eq!(abandoned(), [second, first].map(ip_address));
    assert_eq!((bench.counters[1][DropCause::RouteQueueFull], bench.counters[1][DropCause::RouteTimeout]), (2, 3));
    bench.check();
}

#[test]
fn a_change_of_route_is_another_neighbour_for_a_source_and_a_destination() {
    let mut bench = direct(3, 100_000, units(1000, 0, Some(1000)));
    let spec = FlowSpec { ends: Some([NodeId(0), NodeId(2)]), ..spec() };
    bench.flows = FlowTable::new([spec]);
    bench.advance(0);
    let sent = ip(&bench.take(0, 50)[0]).clone();
    let protocol = Told::default();
    let scenario = streams::scenario(3, Relay::Os, Transport::Udp, streams::bulk(None, 1000));
    let neighbours = Arc::new(layout::neighbours(&scenario));
    bench.hosts[1].set_router(Router::new(Box::new(protocol.clone()), neighbours, 3));
    let counts = |bench: &Bench| {
        let summary = bench.flows[FLOW].summary(bench.now);
        (bench.counters[1].route_changes, summary.ways.expect("its ends are known").route_changes)
    };
    // (source, destination), the neighbour, changes at the node, and of the flow from node 0 to node 2.
    let (there, back, other) = ((0, 2), (2, 0), (1, 2));
    for (way, hop, at_node, of_flow) in [
        (there, 2, 0, 0),
        (there, 2, 0, 0),
        (there, 0, 1, 1),
        // The way back is another one, and no change to the sink.
        (back, 2, 1, 1),
        (back, 0, 2, 1),
        // Of another source there is no packet before.
        (other, 2, 2, 1),
        (there, 0, 2, 1),
        (there, 2, 3, 2),
    ] {
        protocol.lock().hop = Some(NodeId(hop));
        let ip = packet::Ipv4 { source: NodeId(way.0), destination: NodeId(way.1), ..sent.ip };
        bench.give(1, &Sdu::Ip(Packet { ip, ..sent.clone() }));
        assert_eq!(counts(&bench), (at_node, of_flow), "{way:?} by {hop}");
    }
    bench.take(1, 50);
    bench.check();
}

/// A time to live that has been counted down twice is three hops; what the sink sends is an answer.
#[test]
fn hops_are_those_of_packets_at_the_sink() {
    let mut bench = direct(2, 100_000, units(1000, 0, Some(2000)));
    bench.flows = FlowTable::new([FlowSpec { ends: Some([NodeId(0), NodeId(1)]), ..spec() }]);
    bench.advance(0);
    let packets = bench.take(0, 50);
    for (packet, ttl) in packets.iter().zip([packet::DEFAULT_TTL, packet::DEFAULT_TTL - 2]) {
        let packet = ip(packet).clone();
        bench.give(1, &Sdu::Ip(Packet { ip: packet::Ipv4 { ttl, ..packet.ip }, ..packet }));
    }
    let ways = bench.flows[FLOW].summary(bench.now).ways.expect("its ends are known");
    assert_eq!((ways.hops_mean, ways.hops_max, ways.feedback_packets), (Some(2.0), Some(3), 0));
    bench.flows.handle_made(FLOW, NodeId(0), 1000);
    bench.flows.handle_made(FLOW, NodeId(1), 40);
    let ways = bench.flows[FLOW].summary(bench.now).ways.expect("its ends are known");
    assert_eq!((ways.feedback_packets, ways.feedback_bytes), (1, 40));
}

#[test]
fn a_port_without_a_socket_takes_nothing() {
    let mut bench = direct(2, 100_000, units(1000, 0, Some(1000)));
    bench.advance(0);
    let mut packet = ip(&bench.take(0, 50)[0]).clone();
    let packet::Body::Udp { destination_port, .. } = &mut packet.body else { unreachable!("the source is one of UDP") };
    *destination_port = 80;
    bench.give(1, &Sdu::Ip(packet));
    assert_eq!(bench.counters[1][DropCause::NoSocket], 1);
    bench.check();
}

/// A source, a relay and a sink; the first host's packets, all given to the relay.
fn relay(units_sent: u64) -> (Bench, Vec<Rc<Sdu>>) {
    let mut bench = Bench::new(3, 3_000);
    bench.hosts[0].stack.config.socket_buffer = 100_000;
    let port = bench.hosts[2].add_udp_sink(FLOW, None);
    let port = bench.hosts[1].add_udp_relay(FLOW, Endpoint { node: NodeId(2), port });
    let source = units(1000, 0, Some(1000 * units_sent));
    bench.hosts[0].add_udp_source(FLOW, source, None, Endpoint { node: NodeId(1), port }, None);
    bench.advance(0);
    let packets = bench.take(0, 50);
    assert_eq!(packets.len() as u64, units_sent);
    (bench, packets)
}

#[test]
fn a_relay_passes_units_on_and_the_delay_runs_from_the_source() {
    let (mut bench, packets) = relay(1);
    bench.advance(1_000);
    bench.give(1, &packets[0]);
    let passed = bench.take(1, 50);
    assert_eq!((ip(&passed[0]).ip.source, ip(&passed[0]).ip.destination), (NodeId(1), NodeId(2)));
    assert_eq!(ip(&passed[0]).ip.ttl, packet::DEFAULT_TTL, "a datagram of the relay's own");
    bench.advance(3_000);
    bench.give(2, &passed[0]);
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.received_packets, summary.delay_mean_s), (1, Some(0.003)));
    bench.check();
}

#[test]
fn a_relay_that_can_not_send_stops_reading_and_its_buffer_overflows() {
    let (mut bench, packets) = relay(10);
    // Three units go to the interface, which does not send them; one is in hand, three are in the receive buffer.
    for packet in &packets {
        bench.give(1, packet);
        bench.with(1, |host, cx| while host.poll_output(|_, _| QueueSpace::shared(50), cx).is_some() {});
    }
    assert_eq!(bench.counters[1].transmitted, 3);
    assert_eq!(bench.counters[1][DropCause::ReceiveBufferFull], 3);
    let mut census = Census::new();
    bench.hosts[1].count_in_flight(&mut census);
    let found: Vec<u64> = (0..10).filter(|&seq| census.contains(FLOW, seq)).collect();
    assert_eq!(found, [3, 4, 5, 6]);
    assert_eq!(bench.flows[FLOW].datagrams_in_flight().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(bench.flows[FLOW].summary(bench.now).lost_packets, 3);
    bench.check();
}

#[test]
fn a_relay_goes_on_when_the_interface_has_sent() {
    let (mut bench, packets) = relay(5);
    let mut passed = Vec::new();
    for packet in &packets {
        bench.give(1, packet);
        passed.extend(bench.take(1, 50));
    }
    assert_eq!(passed.iter().map(|packet| ip(packet).tag.seq).collect::<Vec<_>>(), [0, 1, 2]);
    bench.sent(1, &passed[0]);
    assert_eq!(ip(&bench.take(1, 50)[0]).tag.seq, 3);
    assert_eq!(bench.counters[1][DropCause::ReceiveBufferFull], 0);
}

#[test]
fn a_relay_waits_for_room_in_the_interface_too() {
    let (mut bench, packets) = relay(2);
    bench.give(1, &packets[0]);
    assert_eq!(bench.take(1, 0), []);
    let mut census = Census::new();
    bench.hosts[1].count_in_flight(&mut census);
    assert!(census.contains(FLOW, 0), "in hand");
    assert_eq!((bench.take(1, 24), bench.take(1, 25).len()), (vec![], 1));
}
