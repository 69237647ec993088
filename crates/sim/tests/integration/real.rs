//! Real hosts in place of simulated ones, frame by frame.

use std::net::Ipv4Addr;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::address::ip_address;
use hopcast_sim::id::NodeId;
use hopcast_sim::metrics::DropCause;
use hopcast_sim::run::Simulation;
use hopcast_sim::run::{Delivery, Refusal};
use hopcast_sim::scenario::{Scenario, Source};
use hopcast_wire::checksum::Policy;
use hopcast_wire::llc::EtherType;
use hopcast_wire::{MacAddress, arp, ethernet, icmpv4, ipv4, udp};
use proptest::prelude::*;

pub(crate) const REAL: NodeId = NodeId(0);

/// Three nodes in a line, of which only neighbours hear each other: real, simulated, and `last`. A flow goes from the first one to
/// the last one, and one back.
fn emulation(last: &str) -> (Scenario, Simulation) {
    emulation_of(line(last))
}

fn line(last: &str) -> String {
    let there = r#"
        [[flows]]
        name = "there"
        from = "a"
        to = "c"
        transport = { protocol = "udp" }
        application = { kind = "bulk" }
        "#;
    in_a_line("duration = \"10 s\"", "", &["real = true", "", &format!("real = {last}")], &[there, BACK].concat())
}

/// A flow from `c` to `a`, from 5 s on.
const BACK: &str = r#"
        [[flows]]
        name = "back"
        from = "c"
        to = "a"
        start = "5 s"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "80 kb/s", packet = "100 B" }
        "#;

/// Nodes in a line, of which only neighbours hear each other, called by letters; each has what is given. `run`, `radio` and `flows`:
/// the rest of the scenario.
pub(crate) fn in_a_line(run: &str, radio: &str, nodes: &[&str], flows: &str) -> String {
    let node = |(place, (name, more)): (usize, (char, &&str))| {
        let metres = 100 * place;
        format!(
            r#"
        [[nodes]]
        name = "{name}"
        placement = {{ shape = "points", at = [["{metres} m", "0 m"]] }}
        {more}"#
        )
    };
    let nodes: String = ('a'..).zip(nodes).enumerate().map(node).collect();
    format!(
        r#"
        {run}
        [radio]
        standard = "802.11a"
        {radio}
        propagation = {{ model = "range", receive = "120 m", carrier_sense = "250 m" }}
        {nodes}
        {flows}"#
    )
}

pub(crate) fn emulation_of(text: String) -> (Scenario, Simulation) {
    let source = Source { text, name: "real.toml".into(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("the scenario is right").scenario;
    let simulation = Simulation::emulated(&scenario, 1).expect("the line reaches everyone");
    (scenario, simulation)
}

/// The address of the one radio of a node.
pub(crate) fn hardware(node: u32) -> MacAddress {
    let octets = [0x02, 0, 0, 0, 0, node as u8 + 1];
    MacAddress(octets)
}

pub(crate) fn frame(destination: MacAddress, ether_type: EtherType, payload: &[u8]) -> Vec<u8> {
    let header = ethernet::Repr { destination, source: hardware(0), ether_type };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut ethernet::Packet::new_unchecked(&mut octets));
    octets.extend_from_slice(payload);
    octets
}

pub(crate) fn packet(to: NodeId, protocol: u8, (offset, more_fragments): (u16, bool), payload: &[u8]) -> Vec<u8> {
    let header = ipv4::Repr {
        type_of_service: 0x28,
        identification: 77,
        dont_fragment: false,
        more_fragments,
        fragment_offset: offset,
        time_to_live: 9,
        protocol: protocol.into(),
        source: ip_address(REAL),
        destination: ip_address(to),
        payload_len: payload.len() as u16,
    };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
    octets.extend_from_slice(payload);
    octets
}

/// A datagram to a port, without a checksum (RFC 768).
fn datagram(port: u16) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    [&[0xc0, 0, high, low, 0, 12, 0, 0][..], b"text"].concat()
}

/// The same packet with this number of hops to go.
fn with_hops(octets: &[u8], time_to_live: u8) -> Vec<u8> {
    let packet = ipv4::Packet::new_checked(octets).expect("a packet");
    let header = ipv4::Repr::parse(&packet, Policy::Verify).expect("a right one");
    let mut octets = octets.to_vec();
    ipv4::Repr { time_to_live, ..header }.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
    octets
}

fn echo(payload: &[u8]) -> Vec<u8> {
    let header = icmpv4::Repr { is_reply: false, identifier: 5, sequence: 6 };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut icmpv4::Packet::new_unchecked(&mut octets), payload);
    octets.extend_from_slice(payload);
    octets
}

/// What comes to real hosts while the run goes on for a tenth of a second.
pub(crate) fn deliveries(simulation: &mut Simulation) -> Vec<Delivery> {
    simulation.run_until(simulation.now() + Duration::from_millis(100));
    simulation.check().expect("no packet is lost without a cause");
    let deliveries: Vec<Delivery> = std::iter::from_fn(|| simulation.poll_delivery()).collect();
    assert!(deliveries.is_sorted_by_key(|delivery| delivery.at), "{deliveries:?}");
    deliveries
}

/// The IPv4 packet that a real host is given.
pub(crate) fn ip_of(delivery: &Delivery) -> (ipv4::Repr, Vec<u8>) {
    let packet = ethernet::Packet::new_checked(&delivery.octets[..]).expect("a frame");
    assert_eq!(packet.length_or_type(), 0x0800);
    let packet = ipv4::Packet::new_checked(packet.payload()).expect("a packet");
    (ipv4::Repr::parse(&packet, Policy::Verify).expect("a right one"), packet.payload().to_vec())
}

#[test]
fn a_simulated_host_tells_its_address() {
    let (_, mut simulation) = emulation("false");
    let request = arp::Repr {
        operation: arp::Operation::Request,
        sender_hardware: hardware(0),
        sender_protocol: ip_address(REAL),
        target_hardware: MacAddress([0; 6]),
        target_protocol: Ipv4Addr::new(10, 0, 0, 2),
    };
    let mut octets = vec![0; request.buffer_len()];
    request.emit(&mut arp::Packet::new_unchecked(&mut octets));
    simulation.handle_frame(REAL, 0, &frame(MacAddress::BROADCAST, EtherType::Arp, &octets)).expect("it is sent");
    let [answer] = &deliveries(&mut simulation)[..] else { panic!("one answer") };
    assert_eq!((answer.node, answer.interface), (REAL, 0));
    let packet = ethernet::Packet::new_checked(&answer.octets[..]).expect("a frame");
    assert_eq!((packet.source(), packet.destination()), (hardware(1), hardware(0)));
    let told = arp::Repr::parse(&arp::Packet::new_checked(packet.payload()).expect("a packet")).expect("of IPv4");
    assert_eq!((told.sender_hardware, told.operation), (hardware(1), arp::Operation::Reply));
}

#[test]
fn a_simulated_host_takes_no_address_from_arp_but_that_of_the_frame() {
    for nodes in ["", "arp = {}"] {
        let text = in_a_line("duration = \"10 s\"", "", &["real = true", nodes], BACK);
        let (_, mut simulation) = emulation_of(text.replace("from = \"c\"", "from = \"b\""));
        for sender in [9, 1].map(hardware).into_iter().chain([MacAddress([0, 0, 0x5e, 0, 1, 7])]) {
            let request = arp::Repr {
                operation: arp::Operation::Request,
                sender_hardware: sender,
                sender_protocol: ip_address(REAL),
                target_hardware: MacAddress([0; 6]),
                target_protocol: ip_address(NodeId(1)),
            };
            let mut octets = vec![0; request.buffer_len()];
            request.emit(&mut arp::Packet::new_unchecked(&mut octets));
            for destination in [MacAddress::BROADCAST, hardware(1)] {
                simulation.handle_frame(REAL, 0, &frame(destination, EtherType::Arp, &octets)).expect("it is sent");
                assert_eq!(deliveries(&mut simulation), [], "nobody is told at {sender:?}");
            }
        }
        // Nor do data go there.
        simulation.run_until(Instant::START + Duration::from_secs(6));
        simulation.check().expect("no packet is lost without a cause");
        let told: Vec<_> = std::iter::from_fn(|| simulation.poll_delivery()).collect();
        let to =
            |delivery: &Delivery| ethernet::Packet::new_checked(&delivery.octets[..]).expect("a frame").destination();
        let own = if nodes.is_empty() { hardware(0) } else { MacAddress::BROADCAST };
        assert!(!told.is_empty() && told.iter().all(|delivery| to(delivery) == own), "{nodes}");
    }
}

#[test]
fn a_real_host_sends_to_the_port_that_a_flow_asks_for() {
    let text = line("false").replacen("to = \"c\"", "to = \"c\"\n        port = 5004", 1);
    let (_, mut simulation) = emulation_of(text);
    let ports: Vec<u16> = simulation.listeners().iter().map(|listener| listener.port).collect();
    assert_eq!(ports, [5004, 49_152]);
    for port in [5004, 49_152, 5005] {
        let octets = packet(NodeId(2), 17, (0, false), &datagram(port));
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        deliveries(&mut simulation);
    }
    let there = simulation.flows().iter().next().expect("the first flow").summary(simulation.now());
    assert_eq!((there.received_packets, there.received_bytes), (1, 4));
}

#[test]
fn an_echo_comes_back_over_a_simulated_router_whole_and_in_fragments() {
    let (_, mut simulation) = emulation("false");
    let message = echo(&[7; 2000]);
    let pieces = [(0, true, &message[..1480]), (1480, false, &message[1480..])];
    // The last piece first, and the first one twice.
    for &(offset, more, piece) in [&pieces[1], &pieces[0], &pieces[0]] {
        let octets = packet(NodeId(2), icmpv4::PROTOCOL, (offset, more), piece);
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
    }
    let answers = deliveries(&mut simulation);
    let mut whole = Vec::new();
    for (answer, (offset, more, _)) in answers.iter().zip(pieces) {
        let (header, payload) = ip_of(answer);
        assert_eq!((header.fragment_offset, header.more_fragments), (offset, more));
        // RFC 1122: the type of service of the request; one hop has taken one of 64.
        assert_eq!((header.type_of_service, header.time_to_live), (0x28, 63));
        assert_eq!((header.source, header.destination), (ip_address(NodeId(2)), ip_address(REAL)));
        whole.extend(payload);
    }
    assert_eq!(answers.len(), 2);
    let reply = icmpv4::Packet::new_checked(&whole[..]).expect("a message");
    let expected = icmpv4::Repr { is_reply: true, identifier: 5, sequence: 6 };
    assert_eq!(icmpv4::Repr::parse(&reply), Ok(expected));
    assert_eq!(reply.payload(), [7; 2000]);
}

#[test]
fn rfc_791_section_3_1_fragments_of_no_datagram_are_dropped() {
    let (_, mut simulation) = emulation("false");
    // One octet longer than the longest.
    let message = echo(&[7; 65_535 - 20 - 8 + 1]);
    let mut offset = 0;
    for piece in message.chunks(1480) {
        let more = offset + piece.len() < message.len();
        let octets = packet(NodeId(1), icmpv4::PROTOCOL, (offset as u16, more), piece);
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        assert_eq!(deliveries(&mut simulation), []);
        offset += piece.len();
    }
    assert_eq!(simulation.counters()[1][DropCause::Corrupted], 1);
}

/// Who tells, type and code, and what is repeated, of the one message of ICMP that comes.
fn told(simulation: &mut Simulation) -> (Ipv4Addr, [u8; 2], Vec<u8>) {
    let deliveries = deliveries(simulation);
    let [delivery] = &deliveries[..] else { panic!("one message: {deliveries:?}") };
    let (header, message) = ip_of(delivery);
    assert_eq!((u8::from(header.protocol), header.destination), (icmpv4::PROTOCOL, ip_address(REAL)));
    assert!(icmpv4::Packet::new_checked(&message[..]).expect("a message").verify_checksum());
    (header.source, [message[0], message[1]], message[8..].to_vec())
}

#[test]
fn rfc_792_a_real_host_is_told_why_a_packet_got_no_further() {
    let (_, mut simulation) = emulation("false");
    let udp = packet(NodeId(2), 17, (0, false), &datagram(9));
    // A host that listens elsewhere, that knows no such protocol, a router at which the hops end, one that knows no way.
    for (octets, hops_there, node, kind) in [
        (udp.clone(), 8, 2, [3, 3]),
        (packet(NodeId(2), 200, (0, false), &[0; 20]), 8, 2, [3, 2]),
        (with_hops(&udp, 1), 1, 1, [11, 0]),
        (packet(NodeId(9), 17, (0, false), &datagram(9)), 8, 1, [3, 1]),
    ] {
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        let repeated = with_hops(&octets, hops_there)[..28].to_vec();
        assert_eq!(told(&mut simulation), (ip_address(NodeId(node)), kind, repeated));
    }
    // An answer to nothing is nothing.
    let mut answer = echo(b"");
    answer[..4].copy_from_slice(&[0, 0, 0xff, 0xff - 11]);
    let octets = packet(NodeId(2), icmpv4::PROTOCOL, (0, false), &answer);
    simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
    assert_eq!(deliveries(&mut simulation), []);
}

#[test]
fn rfc_1812_section_4_3_2_8_errors_are_told_six_at_once_and_then_one_a_second() {
    let (_, mut simulation) = emulation("false");
    let octets = packet(NodeId(2), 17, (0, false), &datagram(9));
    let mut errors = |count: usize| {
        for _ in 0..count {
            simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        }
        deliveries(&mut simulation).len()
    };
    assert_eq!(errors(10), 6);
    // A tenth of a second each.
    assert_eq!((0..35).map(|_| errors(1)).sum::<usize>(), 3);
}

#[test]
fn a_real_host_is_told_that_its_routing_protocol_finds_nobody() {
    let aodv = |name: &str| format!("name = \"{name}\"\n        routing = {{ protocol = \"aodv\" }}");
    let text = ["a", "b", "c"]
        .iter()
        .fold(line("false"), |text, name| text.replace(&format!("name = \"{name}\""), &aodv(name)));
    let (_, mut simulation) = emulation_of(text.replace("10 s", "60 s").replace("5 s", "50 s"));
    let octets = packet(NodeId(9), 17, (0, false), &datagram(9));
    simulation.handle_frame(REAL, 0, &frame(hardware(0), EtherType::Ipv4, &octets)).expect("it is taken");
    // Rings of 1, 3, 5 and 7 hops, then RREQ_RETRIES times the whole network (RFC 3561, section 6.4).
    let given_up = Duration::from_millis(2 * 40 * (3 + 5 + 7 + 9) + 2800 + 2 * 2800);
    simulation.run_until(Instant::START + given_up - Duration::from_nanos(1));
    assert_eq!(simulation.poll_delivery(), None);
    let [delivery] = &deliveries(&mut simulation)[..] else { panic!("it is told at once, and once") };
    assert_eq!(delivery.at, Instant::START + given_up);
    let (header, message) = ip_of(delivery);
    assert_eq!((header.source, u8::from(header.protocol)), (ip_address(REAL), icmpv4::PROTOCOL));
    assert_eq!(message[..2], [3, 1]);
}

#[test]
fn a_simulated_router_changes_the_time_to_live_alone() {
    let (_, mut simulation) = emulation("true");
    let octets = packet(NodeId(2), 200, (0, false), b"of a protocol that nobody here knows");
    simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
    let [delivery] = &deliveries(&mut simulation)[..] else { panic!("it arrives once") };
    assert_eq!((delivery.node, &delivery.octets[..12]), (NodeId(2), &[2, 0, 0, 0, 0, 3, 2, 0, 0, 0, 0, 2][..]));
    let (header, payload) = ip_of(delivery);
    let sent = ipv4::Packet::new_checked(&octets[..]).expect("a packet");
    let sent = ipv4::Repr::parse(&sent, Policy::Verify).expect("a right one");
    assert_eq!(header, ipv4::Repr { time_to_live: 8, ..sent });
    assert_eq!(payload, b"of a protocol that nobody here knows");
}

#[test]
fn frames_to_a_group_reach_all_real_hosts_in_range_as_they_are() {
    let (_, mut simulation) = emulation("false");
    let group = MacAddress([0x33, 0x33, 0, 0, 0, 1]);
    // Nobody in range is real; the simulated host has no use for it.
    simulation.handle_frame(REAL, 0, &frame(group, EtherType::Ipv6, &[0x60; 40])).expect("it is sent");
    assert_eq!(deliveries(&mut simulation), []);

    let mut simulation = two_real_hosts();
    let sent = frame(group, EtherType::Ipv6, &[0x60; 40]);
    simulation.handle_frame(REAL, 0, &sent).expect("it is sent");
    let [delivery] = &deliveries(&mut simulation)[..] else { panic!("it arrives once") };
    assert_eq!((delivery.node, &delivery.octets), (NodeId(1), &sent));
}

fn two_real_hosts() -> Simulation {
    let text = "duration = \"1 s\"\n[[nodes]]\nname = \"n\"\ncount = 2\nreal = true\n\
                placement = { shape = \"line\", spacing = \"5 m\" }";
    emulation_of(text.into()).1
}

#[test]
fn frames_shorter_than_an_ip_header_reach_real_hosts_as_they_are() {
    let mut simulation = two_real_hosts();
    for length in [0, 4, 16, 19] {
        let sent = frame(MacAddress::BROADCAST, EtherType::from(0x4305), &vec![7; length]);
        simulation.handle_frame(REAL, 0, &sent).expect("it is sent");
        let [delivery] = &deliveries(&mut simulation)[..] else { panic!("it arrives once") };
        assert_eq!((delivery.node, &delivery.octets), (NodeId(1), &sent));
    }
}

#[test]
fn flows_are_measured_where_they_enter_and_leave_the_simulation() {
    let (_, mut simulation) = emulation("false");
    let port = simulation.listeners()[0].port;
    let payload = b"hello";
    let header = udp::Repr { source_port: 4000, destination_port: port, payload_len: payload.len() as u16 };
    let mut octets = vec![0; header.buffer_len()];
    let ends = [REAL, NodeId(2)].map(ip_address);
    header.emit(&mut udp::Packet::new_unchecked(&mut octets), ends[0], ends[1], payload);
    octets.extend_from_slice(payload);
    for _ in 0..3 {
        let octets = packet(NodeId(2), 17, (0, false), &octets);
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
    }
    assert_eq!(deliveries(&mut simulation), []);
    let there =
        |simulation: &Simulation| simulation.flows().iter().next().expect("the first flow").summary(simulation.now());
    let summary = there(&simulation);
    assert_eq!([summary.sent_packets, summary.received_packets, summary.received_bytes], [3, 3, 15]);
    assert!(summary.delay_mean_s > Some(0.0));
    // What goes to another port is of no flow.
    let mut other = octets.clone();
    other[2..4].copy_from_slice(&(port + 1).to_be_bytes());
    let other = packet(NodeId(2), 17, (0, false), &other);
    simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &other)).expect("it is sent");
    deliveries(&mut simulation);
    assert_eq!(there(&simulation).sent_packets, 3);

    simulation.run_until(Instant::START + Duration::from_secs(7));
    let back = simulation.flows().iter().nth(1).expect("the second flow").summary(simulation.now());
    assert_eq!(back.received_packets, 200, "100 octets each 10 ms");
    let delivery = simulation.poll_delivery().expect("they are for the real host");
    let (header, payload) = ip_of(&delivery);
    let datagram = udp::Packet::new_checked(&payload[..]).expect("a datagram");
    assert!(datagram.verify_checksum(header.source, header.destination));
    assert_eq!(datagram.payload(), [0; 100]);
}

/// What the first flow has sent, received, lost and in flight, and the bytes that it has sent and received.
fn measured(simulation: &Simulation) -> ([u64; 4], [u64; 2]) {
    let flow = simulation.flows().iter().next().expect("the first flow").summary(simulation.now());
    let packets = [flow.sent_packets, flow.received_packets, flow.lost_packets, flow.in_flight_packets];
    (packets, [flow.sent_bytes, flow.received_bytes])
}

#[test]
fn a_datagram_of_a_flow_in_fragments_is_one_of_the_flow() {
    // In order, as Linux sends them; the last one first, as others do; one missing, of which the host waits for 30 s.
    for (order, expected) in [
        (&[0, 1, 2, 3][..], ([1, 1, 0, 0], [5000, 5000])),
        (&[3, 2, 0, 1], ([1, 1, 0, 0], [5000, 5000])),
        (&[0, 1, 3], ([1, 0, 1, 0], [5000, 0])),
        (&[3, 0], ([1, 0, 1, 0], [5000, 0])),
        (&[1, 2, 3], ([0, 0, 0, 0], [0, 0])),
    ] {
        let (_, mut simulation) = emulation_of(line("false").replace("10 s", "60 s"));
        let [high, low] = simulation.listeners()[0].port.to_be_bytes();
        let datagram = [&[0xc0, 0, high, low][..], &5008_u16.to_be_bytes(), &[0; 2 + 5000]].concat();
        let pieces: Vec<&[u8]> = datagram.chunks(1480).collect();
        for &place in order {
            let octets = packet(NodeId(2), 17, (1480 * place as u16, place < 3), pieces[place]);
            simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        }
        assert_eq!(deliveries(&mut simulation), [], "nobody tells of an unreachable port");
        if order.len() < 4 {
            let sent = expected.0[0];
            assert_eq!(measured(&simulation).0, [sent, 0, 0, sent]);
            simulation.run_until(Instant::START + Duration::from_secs(31));
            simulation.check().expect("no packet is lost without a cause");
        }
        assert_eq!(measured(&simulation), expected, "{order:?}");
    }
}

#[test]
fn further_fragments_are_of_the_datagram_that_was_begun_last() {
    let (_, mut simulation) = emulation("false");
    let flow = simulation.listeners()[0].port;
    let mut send = |port: u16, offset: u16, more: bool| {
        let [high, low] = port.to_be_bytes();
        let payload = [&[0xc0, 0, high, low, 0, 24, 0, 0][..], b"sixteen letters."].concat();
        let payload = &payload[usize::from(offset)..][..if more { 16 } else { 8 }];
        let octets = packet(NodeId(2), 17, (offset, more), payload);
        simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
        let told = deliveries(&mut simulation);
        (measured(&simulation), told.len())
    };
    assert_eq!(send(flow, 0, true), (([1, 0, 0, 1], [16, 0]), 0));
    assert_eq!(send(flow, 16, false), (([1, 1, 0, 0], [16, 16]), 0));
    // With the same identification another datagram, to nobody, who is told so.
    assert_eq!(send(9, 0, true), (([1, 1, 0, 0], [16, 16]), 0));
    assert_eq!(send(9, 16, false), (([1, 1, 0, 0], [16, 16]), 1));
    // Two that meet in the host are lost, both of them.
    assert_eq!(send(flow, 0, true), (([2, 1, 0, 1], [32, 16]), 0));
    assert_eq!(send(flow, 0, true), (([3, 1, 1, 1], [48, 16]), 0));
    assert_eq!(send(flow, 16, false), (([3, 1, 2, 0], [48, 16]), 0));
}

#[test]
fn what_no_station_could_send_is_refused() {
    let (_, mut simulation) = emulation("false");
    let mut send = |octets: &[u8]| simulation.handle_frame(REAL, 0, octets);
    assert!(matches!(send(&[0; 13]), Err(Refusal::Malformed(_))));
    let nobody = MacAddress([2, 0, 0, 0, 0, 9]);
    assert_eq!(send(&frame(nobody, EtherType::Ipv4, &[])), Err(Refusal::NoStation(nobody)));
    assert_eq!(send(&frame(hardware(0), EtherType::Ipv4, &[])), Err(Refusal::NoStation(hardware(0))));
    let mut bridged = frame(hardware(1), EtherType::Ipv4, &[]);
    bridged[6..12].copy_from_slice(&nobody.0);
    assert_eq!(send(&bridged), Err(Refusal::ForeignSource(nobody)));
    assert_eq!(simulation.next_event(), Instant::START + Duration::from_secs(5), "the second flow");
}

proptest! {
    #[test]
    fn whatever_a_real_host_sends_to_another_arrives_as_it_is(
        ether_type in prop::sample::select(vec![0x0800_u16, 0x0806, 0x86dd, 0x4305]),
        octets in prop::collection::vec(any::<u8>(), 0..60),
        is_group in any::<bool>(),
    ) {
        let mut simulation = two_real_hosts();
        let destination = if is_group { MacAddress::BROADCAST } else { hardware(1) };
        let sent = frame(destination, ether_type.into(), &octets);
        simulation.handle_frame(REAL, 0, &sent).expect("it is sent");
        let arrived: Vec<_> = deliveries(&mut simulation).into_iter().map(|delivery| delivery.octets).collect();
        prop_assert_eq!(arrived, [sent]);
    }

    #[test]
    fn whatever_a_real_host_sends_nothing_vanishes(
        frames in prop::collection::vec(
            (0_u32..3, any::<bool>(), prop::sample::select(vec![0x0800_u16, 0x0806, 0x86dd, 0x1234]),
             prop::collection::vec(any::<u8>(), 0..80), prop::option::of((0_u32..4, 0_u8..40, 0_u16..5, any::<bool>()))),
            0..12,
        ),
    ) {
        let (_, mut simulation) = emulation("true");
        for (to, is_group, ether_type, octets, ip) in frames {
            let destination = if is_group { MacAddress::BROADCAST } else { hardware(to) };
            let sent = match ip {
                // A right header before whatever there is.
                Some((node, protocol, offset, more)) => {
                    frame(destination, EtherType::Ipv4, &packet(NodeId(node), protocol, (8 * offset, more), &octets))
                }
                None => frame(destination, ether_type.into(), &octets),
            };
            let _ = simulation.handle_frame(REAL, 0, &sent);
            simulation.check().expect("no packet is lost without a cause");
            simulation.run_until(simulation.now() + Duration::from_micros(300));
            while simulation.poll_delivery().is_some() {}
        }
        deliveries(&mut simulation);
    }

    #[test]
    fn whatever_fragments_a_real_host_sends_no_datagram_of_a_flow_vanishes(
        fragments in prop::collection::vec((any::<bool>(), 0_u16..4, 1_usize..4, any::<bool>()), 0..24),
    ) {
        let (_, mut simulation) = emulation("false");
        let [high, low] = simulation.listeners()[0].port.to_be_bytes();
        for (is_flow, offset, length, more) in fragments {
            let [high, low] = if is_flow { [high, low] } else { [0, 9] };
            let header = [0xc0, 0, high, low, 0, 16, 0, 0];
            let payload = if offset == 0 { header.repeat(length) } else { vec![7; 8 * length] };
            let octets = packet(NodeId(2), 17, (8 * offset, more), &payload);
            simulation.handle_frame(REAL, 0, &frame(hardware(1), EtherType::Ipv4, &octets)).expect("it is sent");
            simulation.check().expect("no packet is lost without a cause");
            simulation.run_until(simulation.now() + Duration::from_micros(300));
        }
        deliveries(&mut simulation);
    }
}
