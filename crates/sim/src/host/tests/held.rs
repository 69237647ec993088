//! Blocking writes that return when the interface is done with their datagrams, at exact instants.

use super::*;

/// That of AFD.
const THRESHOLD: u32 = 1024;

/// A source at the first of two hosts, whose writes of more than the threshold are held.
fn held(size: u32, wait: u64, bytes: Option<u64>) -> Bench {
    let mut bench = Bench::holding(2, 8192, Some(THRESHOLD));
    let port = bench.hosts[1].add_udp_sink(FLOW, None);
    bench.hosts[0].add_udp_source(FLOW, units(size, wait, bytes), None, Endpoint { node: NodeId(1), port }, None);
    bench
}

#[test]
fn datagrams_up_to_the_threshold_fill_the_buffer_and_longer_ones_leave_one_by_one() {
    for (size, packets) in [(1024, 8), (1025, 1), (2048, 2)] {
        let mut bench = held(size, 0, None);
        bench.advance(0);
        assert_eq!(bench.take(0, 50).len(), packets, "{size} B");
    }
}

#[test]
fn the_wait_begins_when_the_last_fragment_has_left() {
    let mut bench = held(2048, 1_000, None);
    bench.advance(0);
    let packets = bench.take(0, 50);
    assert_eq!(packets.len(), 2);
    bench.advance(700);
    bench.sent(0, &packets[0]);
    assert_eq!((bench.take(0, 50), bench.hosts[0].poll_timeout()), (Vec::new(), None));
    bench.advance(1_500);
    bench.sent(0, &packets[1]);
    assert_eq!((bench.take(0, 50), bench.hosts[0].poll_timeout()), (Vec::new(), Some(at(2_500))));
    bench.advance(2_499);
    assert_eq!(bench.take(0, 50), []);
    bench.advance(2_500);
    assert_eq!(bench.take(0, 50).len(), 2);
    bench.check();
}

#[test]
fn without_the_rule_the_wait_begins_at_once() {
    let mut bench = direct(2, 8192, units(2048, 1_000, None));
    bench.advance(0);
    assert_eq!(bench.take(0, 50).len(), 2);
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(1_000)));
}

#[test]
fn a_dropped_datagram_returns_the_write_too_and_the_last_one_ends_the_source() {
    let mut bench = held(1_400, 0, Some(2_800));
    bench.advance(0);
    for written in 1..=2 {
        let packets = bench.take(0, 50);
        assert_eq!(packets.len(), 1);
        assert_eq!(bench.flows[FLOW].summary(bench.now).sent_packets, written);
        bench.dropped(0, &packets[0], DropCause::RetryLimitLong);
    }
    assert_eq!(bench.take(0, 50), []);
    assert_eq!(bench.hosts[0].poll_timeout(), None);
    let summary = bench.flows[FLOW].summary(bench.now);
    assert_eq!((summary.sent_packets, summary.lost_packets, summary.in_flight_packets), (2, 2, 0));
    bench.check();
}

#[test]
fn a_relay_reads_no_more_until_its_datagram_has_left() {
    let mut bench = Bench::holding(3, 8192, Some(THRESHOLD));
    let port = bench.hosts[2].add_udp_sink(FLOW, None);
    let port = bench.hosts[1].add_udp_relay(FLOW, Endpoint { node: NodeId(2), port });
    // A source that never blocks: the rule is one of blocking writes.
    let source = Box::new(CbrSource::new(at(0), 1e9, 1_400));
    bench.hosts[0].add_udp_source(FLOW, source, Some(at(60)), Endpoint { node: NodeId(1), port }, None);
    let mut arrived = Vec::new();
    for micros in [0, 20, 40, 59] {
        bench.advance(micros);
        arrived.extend(bench.take(0, 50));
    }
    assert!(arrived.len() >= 4);
    let mut passed = Vec::new();
    for packet in &arrived[..4] {
        bench.give(1, packet);
        passed.extend(bench.take(1, 50));
    }
    for left in (0..4).rev() {
        assert_eq!(passed.len(), 1, "one at a time, {left} behind it");
        let packet = passed.pop().expect("it is there");
        bench.sent(1, &packet);
        passed.extend(bench.take(1, 50));
    }
    assert_eq!(passed, []);
}
