//! Conversations between real hosts, measured from frame to frame.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::address::ip_address;
use hopcast_sim::id::NodeId;
use hopcast_sim::metrics::DropCause;
use hopcast_sim::results::{ConversationRecord, ConversationRecords, Replication, Spent};
use hopcast_sim::run::Delivery;
use hopcast_sim::scenario::Scenario;
use hopcast_wire::llc::EtherType;
use hopcast_wire::{ethernet, ipv4};
use serde_json::json;

use crate::real::{emulation_of, hardware, in_a_line};

const UDP: u8 = 17;

/// Three nodes in a line, of which only neighbours hear each other; of the one in the middle it is said what it is.
fn line(middle: &str) -> String {
    in_a_line("duration = \"10 s\"", "", &["real = true", middle, "real = true"], "")
}

/// An IPv4 packet from the first node to the last one.
fn packet(protocol: u8, (identification, offset, more_fragments): (u16, u16, bool), payload: &[u8]) -> Vec<u8> {
    let header = ipv4::Repr {
        type_of_service: 0,
        identification,
        dont_fragment: false,
        more_fragments,
        fragment_offset: offset,
        time_to_live: 64,
        protocol: protocol.into(),
        source: ip_address(NodeId(0)),
        destination: ip_address(NodeId(2)),
        payload_len: payload.len() as u16,
    };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
    octets.extend_from_slice(payload);
    octets
}

fn datagram(ports: [u16; 2], text: &[u8]) -> Vec<u8> {
    let [a, b] = ports.map(u16::to_be_bytes);
    let length = (8 + text.len() as u16).to_be_bytes();
    [&a[..], &b, &length, &[0, 0], text].concat()
}

/// A frame from one node to the next.
fn frame([from, to]: [u32; 2], payload: &[u8]) -> Vec<u8> {
    let header = ethernet::Repr { destination: hardware(to), source: hardware(from), ether_type: EtherType::Ipv4 };
    let mut octets = vec![0; header.buffer_len()];
    header.emit(&mut ethernet::Packet::new_unchecked(&mut octets));
    octets.extend_from_slice(payload);
    octets
}

fn send(run: &mut Replication<'_>, hop: [u32; 2], packet: &[u8]) {
    run.simulation_mut().handle_frame(NodeId(hop[0]), 0, &frame(hop, packet)).expect("a station has that address");
}

/// What comes to real hosts while the run goes on for a tenth of a second.
fn deliveries(run: &mut Replication<'_>) -> Vec<Delivery> {
    run.run_until(run.simulation().now() + Duration::from_millis(100));
    run.simulation().check().expect("no packet is lost without a cause");
    std::iter::from_fn(|| run.simulation_mut().poll_delivery()).collect()
}

/// The conversations of a run of three seconds with these steps in it.
fn conversations(scenario: &Scenario, steps: impl FnOnce(&mut Replication<'_>)) -> ConversationRecords {
    let mut run = Replication::emulated(scenario, 1).expect("the line reaches everyone");
    steps(&mut run);
    run.run_until(Instant::START + Duration::from_secs(3));
    run.simulation().check().expect("no packet is lost without a cause");
    run.finish(Spent::default()).conversations.expect("there are real hosts")
}

fn counts(record: &ConversationRecord) -> [u64; 4] {
    [record.sent_packets, record.received_packets, record.lost_packets, record.in_flight_packets]
}

fn causes(record: &ConversationRecord) -> Vec<(DropCause, u64)> {
    record.drops.iter().collect()
}

#[test]
fn a_conversation_over_a_simulated_router_is_a_row_of_the_results() {
    let (scenario, _) = emulation_of(line(""));
    let records = conversations(&scenario, |run| {
        for _ in 0..3 {
            send(run, [0, 1], &packet(UDP, (0, 0, false), &datagram([40_000, 5004], b"1234567890")));
        }
        // A packet to nobody in range of the first node is lost, and one of another conversation.
        send(run, [0, 2], &packet(UDP, (0, 0, false), &datagram([40_000, 5005], b"")));
        send(run, [0, 1], &packet(89, (0, 0, false), b"hello"));
        deliveries(run);
    });
    let [call, lost, other] = &records.conversations[..] else { panic!("three: {records:?}") };
    assert_eq!(
        serde_json::to_value(call).expect("plain data").as_object().map(|fields| [
            &fields["name"],
            &fields["from"],
            &fields["to"],
            &fields["protocol"],
            &fields["from_port"],
            &fields["to_port"]
        ]
        .map(Clone::clone)),
        Some([json!("udp a:40000 > c:5004"), json!("a"), json!("c"), json!("udp"), json!(40_000), json!(5004)])
    );
    assert_eq!((counts(call), call.sent_bytes, call.received_bytes), ([3, 3, 0, 0], 30, 30));
    // Two transmissions of 54 octets and headers at 6 Mb/s at least, and less than a millisecond each.
    let delay = call.delay_mean_s.expect("packets arrived");
    assert!((2e-4..2e-3).contains(&delay), "{delay}");
    assert_eq!(call.delay_p99_s.map(|p99| p99 >= delay), Some(true));
    assert_eq!((lost.name.as_str(), counts(lost), lost.rate_bps), ("udp a:40000 > c:5005", [1, 0, 1, 0], None));
    assert_eq!((causes(lost), lost.held_packets), (vec![(DropCause::RetryLimitShort, 1)], 0));
    assert_eq!((other.name.as_str(), counts(other), other.from_port), ("89 a > c", [1, 1, 0, 0], None));
    assert_eq!(records.unlisted_packets, 0);
}

#[test]
fn losses_are_counted_by_cause_for_each_conversation() {
    let (scenario, _) = emulation_of(line(""));
    let records = conversations(&scenario, |run| {
        send(run, [0, 2], &packet(UDP, (0, 0, false), &datagram([1, 2], b"")));
        for id in 0..300 {
            send(run, [0, 1], &packet(UDP, (id, 0, false), &datagram([3, 4], &[0; 1000])));
        }
        deliveries(run);
    });
    let [air, burst] = &records.conversations[..] else { panic!("two: {records:?}") };
    assert_eq!(causes(air), [(DropCause::RetryLimitShort, 1)]);
    let [(DropCause::QueueFull, full)] = causes(burst)[..] else { panic!("one cause: {burst:?}") };
    assert!(full > 0 && burst.received_packets > 0, "{burst:?}");
    assert_eq!((full, burst.lost_packets + burst.received_packets), (burst.lost_packets, 300));
    let json = serde_json::to_value(burst).expect("plain data");
    assert_eq!((&json["drops"]["queue_full"], &json["drops"]["no_route"]), (&json!(full), &json!(0)));
}

#[test]
fn fragments_are_packets_of_the_conversation_of_the_first_one() {
    let (scenario, _) = emulation_of(line(""));
    let records = conversations(&scenario, |run| {
        let whole = datagram([7, 8], &[9; 24]);
        send(run, [0, 1], &packet(UDP, (5, 0, true), &whole[..16]));
        send(run, [0, 1], &packet(UDP, (5, 16, false), &whole[16..]));
        deliveries(run);
    });
    let [record] = &records.conversations[..] else { panic!("one: {records:?}") };
    assert_eq!((counts(record), record.received_bytes), ([2, 2, 0, 0], 24));
}

#[test]
fn a_real_router_passes_on_or_loses() {
    let (scenario, _) = emulation_of(line("real = true"));
    let records = conversations(&scenario, |run| {
        let ways = [(1, b"first", true), (2, b"other", false), (3, b"third", true)];
        for (id, text, _) in ways {
            send(run, [0, 1], &packet(UDP, (id, 0, false), &datagram([1, 2], text)));
        }
        let to_router = deliveries(run);
        assert_eq!(to_router.iter().map(|delivery| delivery.node.0).collect::<Vec<_>>(), [1; 3]);
        for (delivery, _) in to_router.iter().zip(ways).filter(|(_, (.., passes))| *passes) {
            // A router counts the time to live down.
            let mut octets = delivery.octets[14..].to_vec();
            let header = ipv4::Repr::parse(
                &ipv4::Packet::new_checked(&octets[..]).expect("a packet"),
                hopcast_wire::checksum::Policy::Verify,
            );
            let header = ipv4::Repr { time_to_live: 63, ..header.expect("a right one") };
            header.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
            send(run, [1, 2], &octets);
        }
        assert_eq!(deliveries(run).len(), 2);
    });
    let [record] = &records.conversations[..] else { panic!("one: {records:?}") };
    assert_eq!(counts(record), [3, 2, 1, 0]);
    assert_eq!((causes(record), record.held_packets), (vec![], 1));
    // From the first real host to the last one.
    assert!((0.1..0.11).contains(&record.delay_mean_s.expect("two arrived")));
}

#[test]
fn a_run_without_real_hosts_has_no_conversations() {
    let (scenario, _) = emulation_of(line(""));
    let result = Replication::new(&scenario, 1).expect("it can run").finish(Spent::default());
    assert_eq!(result.conversations, None);
    assert!(!result.to_json().contains("conversations"));
}
