//! Real hosts at the ends of wires, frame by frame.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::address::{ip_address, mac_address, wire_address};
use hopcast_sim::id::NodeId;
use hopcast_sim::metrics::DropCause;
use hopcast_sim::results::{Replication, Spent};
use hopcast_sim::run::{Delivery, Refusal, Simulation};
use hopcast_wire::llc::EtherType;
use hopcast_wire::{MacAddress, arp, ethernet, icmpv4};

use crate::real::{REAL, emulation_of, ip_of, packet};

/// Two wired nodes `a` and `b`, the second real or not, at the ends of a wire: 1000 bytes take 1 ms and 20 ms on the way.
fn wire(is_real: bool, more: &str) -> Simulation {
    emulation_of(format!(
        r#"
        duration = "10 s"
        [[nodes]]
        name = "a"
        role = "wired"
        real = true
        [[nodes]]
        name = "b"
        role = "wired"
        real = {is_real}
        [[links]]
        between = ["a", "b"]
        rate = "8 Mb/s"
        delay = "20 ms"
        {more}
        "#
    ))
    .1
}

fn frame(destination: MacAddress, source: MacAddress, ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let header = ethernet::Repr { destination, source, ether_type: ether_type.into() };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut ethernet::Packet::new_unchecked(&mut octets));
    octets.extend_from_slice(payload);
    octets
}

/// A frame with an IPv4 packet of this length from the first to the second end.
fn datagram(octets: usize) -> Vec<u8> {
    let payload = packet(NodeId(1), 17, (0, false), &vec![0; octets - 20]);
    frame(wire_address(1), wire_address(0), u16::from(EtherType::Ipv4), &payload)
}

/// All deliveries until the end.
fn rest(simulation: &mut Simulation) -> Vec<Delivery> {
    simulation.run_until(simulation.end());
    simulation.check().expect("no packet is lost without a cause");
    std::iter::from_fn(|| simulation.poll_delivery()).collect()
}

fn micros(deliveries: &[Delivery]) -> Vec<u64> {
    deliveries.iter().map(|delivery| delivery.at.as_nanos() / 1_000).collect()
}

#[test]
fn frames_cross_a_wire_at_its_rate_and_arrive_as_they_were() {
    let mut simulation = wire(true, "");
    simulation.run_until(Instant::from_nanos(5_000_000));
    for octets in [1_000, 500] {
        simulation.handle_frame(REAL, 0, &datagram(octets)).expect("a wire carries it");
    }
    let deliveries = rest(&mut simulation);
    assert_eq!(micros(&deliveries), [26_000, 26_500]);
    for (delivery, octets) in deliveries.iter().zip([1_000, 500]) {
        assert_eq!((delivery.node, delivery.interface), (NodeId(1), 0));
        assert_eq!(delivery.octets, datagram(octets));
    }
    assert_eq!(simulation.sent_on_wires(), 2);
}

#[test]
fn the_rate_of_a_list_and_the_other_direction_hold_for_real_hosts() {
    let list = r#"
        back = { delay = "1 ms", rate = [["0 s", "8 Mb/s"], ["10 ms", "800 kb/s"]] }
        "#;
    let mut simulation = wire(true, list);
    simulation.run_until(Instant::from_nanos(9_500_000));
    let back = frame(wire_address(0), wire_address(1), 0x0800, &packet(NodeId(0), 17, (0, false), &[0; 980]));
    simulation.handle_frame(NodeId(1), 0, &back).expect("a wire carries it");
    simulation.handle_frame(REAL, 0, &datagram(1_000)).expect("a wire carries it");
    // Back half of the packet goes at a tenth of the rate: 0.5 ms and 5 ms, and 1 ms on the way.
    assert_eq!(micros(&rest(&mut simulation)), [16_000, 30_500]);
}

/// What a bridge sends, too: frames with a VLAN tag, with a length before LLC, and from other addresses to others.
#[test]
fn a_wire_between_real_hosts_carries_any_frame() {
    let mut simulation = wire(true, "");
    let [here, there] = [9, 8].map(|last| MacAddress([0x52, 0x54, 0, 0, 0, last]));
    let request = arp::Repr {
        operation: arp::Operation::Request,
        sender_hardware: here,
        sender_protocol: ip_address(NodeId(7)),
        target_hardware: MacAddress([0; 6]),
        target_protocol: ip_address(NodeId(8)),
    };
    let mut message = vec![0; request.buffer_len()];
    request.emit(&mut arp::Packet::new_unchecked(&mut message));
    let spanning_tree = MacAddress([0x01, 0x80, 0xc2, 0, 0, 0]);
    let frames = [
        frame(there, here, 0x8100, &[0, 5, 8, 0, 1, 2, 3]),
        frame(spanning_tree, wire_address(0), 3, &[0x42, 0x42, 3]),
        frame(there, here, u16::from(EtherType::Arp), &message),
        frame(MacAddress::BROADCAST, here, u16::from(EtherType::Arp), &message),
        frame(there, here, 0x0800, &packet(NodeId(1), 17, (0, false), b"12345678")),
        frame(there, here, 0x86dd, &[0x60, 0, 0, 0]),
    ];
    for octets in &frames {
        simulation.handle_frame(REAL, 0, octets).expect("a wire carries it");
    }
    let arrived: Vec<Vec<u8>> = rest(&mut simulation).into_iter().map(|delivery| delivery.octets).collect();
    assert_eq!(arrived, frames);
}

#[test]
fn the_queue_of_a_wire_refuses_what_a_real_host_sends_beyond_it() {
    let mut simulation = wire(true, "queue = { packets = 5 }");
    for _ in 0..60 {
        simulation.handle_frame(REAL, 0, &datagram(1_000)).expect("a wire carries it");
    }
    assert_eq!(micros(&rest(&mut simulation)), [21_000, 22_000, 23_000, 24_000, 25_000, 26_000]);
    assert_eq!(simulation.counters()[0][DropCause::QueueFull], 54);
}

#[test]
fn a_simulated_node_answers_at_its_end_of_the_wire() {
    let mut simulation = wire(false, "");
    let request = arp::Repr {
        operation: arp::Operation::Request,
        sender_hardware: wire_address(0),
        sender_protocol: ip_address(REAL),
        target_hardware: MacAddress([0; 6]),
        target_protocol: ip_address(NodeId(1)),
    };
    let mut message = vec![0; request.buffer_len()];
    request.emit(&mut arp::Packet::new_unchecked(&mut message));
    let octets = frame(MacAddress::BROADCAST, wire_address(0), u16::from(EtherType::Arp), &message);
    simulation.handle_frame(REAL, 0, &octets).expect("a wire carries it");
    let header = icmpv4::Repr { is_reply: false, identifier: 5, sequence: 6 };
    let mut echo = vec![0; header.buffer_len()];
    header.emit(&mut icmpv4::Packet::new_unchecked(&mut echo), &[]);
    let ping = packet(NodeId(1), icmpv4::PROTOCOL, (0, false), &echo);
    simulation.handle_frame(REAL, 0, &frame(wire_address(1), wire_address(0), 0x0800, &ping)).expect("so it is");
    let refused = |octets: Vec<u8>, simulation: &mut Simulation| simulation.handle_frame(REAL, 0, &octets);
    let [foreign, own] = [mac_address(hopcast_radio::mac::StationId(1)), wire_address(0)];
    assert_eq!(
        refused(frame(wire_address(1), foreign, 0x0800, &ping), &mut simulation),
        Err(Refusal::ForeignSource(foreign))
    );
    assert_eq!(refused(frame(foreign, own, 0x0800, &ping), &mut simulation), Err(Refusal::NotAtOtherEnd(foreign)));
    let answers = rest(&mut simulation);
    let [told, pong] = &answers[..] else { panic!("two answers, not {answers:?}") };
    let packet = ethernet::Packet::new_checked(&told.octets[..]).expect("a frame");
    assert_eq!((packet.source(), packet.destination()), (wire_address(1), wire_address(0)));
    let told = arp::Repr::parse(&arp::Packet::new_checked(packet.payload()).expect("a packet")).expect("of IPv4");
    assert_eq!((told.sender_hardware, told.sender_protocol), (wire_address(1), ip_address(NodeId(1))));
    let header = ip_of(pong).0;
    assert_eq!((header.source, header.destination), (ip_address(NodeId(1)), ip_address(REAL)));
}

/// A server behind a wire and a phone over the air, with a simulated access point between them.
#[test]
fn a_packet_crosses_the_wire_and_the_air_and_is_measured() {
    let (scenario, _) = emulation_of(
        r#"
        duration = "10 s"
        [radio]
        standard = "802.11a"
        propagation = { model = "range", receive = "120 m", carrier_sense = "250 m" }
        [[nodes]]
        name = "server"
        role = "wired"
        real = true
        [[nodes]]
        name = "ap"
        role = "access-point"
        placement = { shape = "points", at = [["0 m", "0 m"]] }
        [[nodes]]
        name = "phone"
        role = "station"
        real = true
        placement = { shape = "points", at = [["50 m", "0 m"]] }
        [[links]]
        between = ["server", "ap"]
        rate = "8 Mb/s"
        delay = "20 ms"
        "#
        .into(),
    );
    let mut run = Replication::emulated(&scenario, 1).expect("all nodes are connected");
    let udp = [&[0, 7, 0, 9, 0, 108, 0, 0][..], &[0; 100]].concat();
    let payload = packet(NodeId(2), 17, (0, false), &udp);
    let simulation = run.simulation_mut();
    simulation.handle_frame(REAL, 0, &frame(wire_address(1), wire_address(0), 0x0800, &payload)).expect("it is sent");
    let deliveries = rest(simulation);
    let [arrived] = &deliveries[..] else { panic!("one packet, not {deliveries:?}") };
    assert_eq!((arrived.node, ip_of(arrived).0.time_to_live), (NodeId(2), 8));
    // 128 bytes take 0.128 ms over the wire; the air adds less than 1 ms.
    assert!(
        arrived.at > Instant::from_nanos(20_128_000) && arrived.at < Instant::from_nanos(21_128_000),
        "{arrived:?}"
    );
    let radio = ethernet::Packet::new_checked(&arrived.octets[..]).expect("a frame");
    let stations = [0, 1].map(|station| mac_address(hopcast_radio::mac::StationId(station)));
    assert_eq!([radio.source(), radio.destination()], stations);
    let records = run.finish(Spent::default()).conversations.expect("real nodes have some").conversations;
    let [conversation] = &records[..] else { panic!("one conversation, not {records:?}") };
    assert_eq!((conversation.sent_packets, conversation.received_packets), (1, 1));
    let delay = Duration::from_secs_f64(conversation.delay_mean_s.expect("it arrived"));
    assert_eq!(Instant::START + delay, arrived.at);
}
