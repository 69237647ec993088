//! Messages for the whole network: what they tell and how they are passed on, by hand.

use super::*;

/// Node 1 is a symmetric neighbour that has selected node 0, node 2 one that hasn't, node 3 is heard only.
fn bench() -> Bench {
    let mut bench = Bench::new(Config::default());
    bench.hello(1, &[(RELAY, 0), (SYMMETRIC, 5)]);
    bench.befriend(2, &[6]);
    bench.hello(3, &[]);
    bench
}

/// What node 0 passes on within the next half second.
fn passed(bench: &mut Bench) -> Vec<Sent> {
    bench.after(MS * 500).into_iter().filter(|sent| sent.header.originator != address(0)).collect()
}

#[test]
fn section_3_4_messages_of_selectors_are_passed_on_once_within_the_jitter() {
    let mut bench = bench();
    let body = tc_body(1, &[8]);
    let header = header(MessageType::Tc, 5, 40, &body);
    let before = bench.now;
    bench.hear(to(1), header, body.clone());
    bench.hear(to(1), header, body.clone());
    let sent = passed(&mut bench);
    assert_eq!(sent.len(), 1);
    assert!(sent[0].at > before);
    assert_eq!(sent[0].header, MessageRepr { time_to_live: 254, hop_count: 1, ..header });
    assert_eq!(sent[0].body, body);
    bench.hear(to(1), header, body);
    assert_eq!(passed(&mut bench), []);
}

#[test]
fn section_3_4_1_messages_of_others_and_at_their_end_are_not() {
    let mut bench = bench();
    bench.tc(2, 5, 40, 1, &[8]);
    assert_eq!(bench.next_hop(8), Some(1), "what it says counts");
    bench.tc(1, 5, 40, 1, &[8]);
    assert_eq!(passed(&mut bench), [], "it has come here before");
    let body = tc_body(1, &[8]);
    for time_to_live in [0, 1] {
        let header = MessageRepr { time_to_live, ..header(MessageType::Tc, 6, 40, &body) };
        bench.hear(to(1), header, body.clone());
    }
    assert_eq!(passed(&mut bench), []);
    bench.tc(1, 0, 40, 1, &[8]);
    assert_eq!(passed(&mut bench), [], "its own");
    // From a neighbour in one direction: neither heeded nor remembered.
    bench.tc(3, 7, 40, 1, &[9]);
    bench.tc(1, 7, 40, 1, &[9]);
    assert_eq!(passed(&mut bench).len(), 1);
    let hello = hello_body(3, &[]);
    bench.hear(to(1), MessageRepr { time_to_live: 9, ..header(MessageType::Hello, 1, 41, &hello) }, hello);
    assert_eq!(passed(&mut bench), [], "a HELLO goes one hop");
}

#[test]
fn section_3_4_messages_of_unknown_types_are_passed_on_and_bundled() {
    let mut bench = bench();
    let kinds = [MessageType::Unknown(200), MessageType::Hna, MessageType::Mid];
    for (sequence, kind) in (40..).zip(kinds) {
        bench.hear(to(1), header(kind, 5, sequence, &[1, 2, 3, 4, 5]), vec![1, 2, 3, 4, 5]);
    }
    let sent = passed(&mut bench);
    assert_eq!(sent.iter().map(|sent| sent.header.kind).collect::<Vec<_>>(), kinds);
    assert!(sent.iter().all(|message| message.packet == sent[0].packet), "in one packet");
}

#[test]
fn section_10_routes_follow_the_topology() {
    let mut bench = bench();
    bench.tc(1, 5, 1, 1, &[1, 8]);
    bench.tc(1, 8, 1, 1, &[5, 9]);
    bench.tc(1, 77, 1, 1, &[78]);
    let hops = |bench: &Bench| [1, 2, 3, 5, 6, 8, 9, 77, 78].map(|node| bench.next_hop(node));
    let (one, two) = (Some(1), Some(2));
    assert_eq!(hops(&bench), [one, two, None, one, two, one, one, None, None]);
    // A shorter path to 9 appears, and goes again.
    bench.tc(2, 6, 1, 1, &[9]);
    assert_eq!(bench.next_hop(9), Some(2));
    bench.tc(2, 6, 2, 2, &[]);
    assert_eq!(bench.next_hop(9), Some(1));
    // Neighbours are renewed, the topology isn't: it holds for 15 s.
    while bench.now < Instant::START + SECOND * 14 {
        bench.after(SECOND * 2);
        bench.hello(1, &[(RELAY, 0), (SYMMETRIC, 5)]);
    }
    assert_eq!(bench.next_hop(9), Some(1));
    bench.until(Instant::START + SECOND * 15);
    assert_eq!((bench.next_hop(9), bench.next_hop(5)), (None, Some(1)));
}

#[test]
fn routes_are_calculated_when_asked_for_and_something_has_changed() {
    let mut bench = bench();
    bench.tc(1, 5, 1, 1, &[8]);
    assert!(!bench.has_routes(), "nobody has asked");
    assert_eq!(bench.next_hop(8), Some(1));
    assert!(bench.has_routes());
    bench.tc(1, 5, 2, 1, &[8]);
    bench.tc(2, 5, 2, 1, &[8]);
    bench.hello(1, &[(RELAY, 0), (SYMMETRIC, 5)]);
    bench.hello(3, &[]);
    bench.after(SECOND);
    assert!(bench.has_routes(), "nothing has changed");
    bench.tc(1, 5, 3, 2, &[9]);
    assert!(!bench.has_routes());
}

#[test]
fn routes_stay_as_they_are_for_the_pause_whatever_messages_tell() {
    let mut bench = Bench::new(Config { calculation_pause: MS, ..Config::default() });
    bench.befriend(1, &[5]);
    bench.befriend(2, &[6]);
    bench.tc(1, 5, 1, 1, &[8]);
    // Two tuples at two hops and one beyond.
    let begin = bench.now;
    assert_eq!((bench.next_hop(8), bench.node.calculations.get()), (Some(1), 1));
    for number in 2..100 {
        bench.tc(1, 5, number, number, &[if number % 2 == 0 { 8 } else { 9 }]);
        assert_eq!((bench.next_hop(8), bench.next_hop(9)), (Some(1), None));
    }
    assert_eq!((bench.node.poll_timeout(), bench.node.calculations.get()), (Some(begin + MS * 3), 1));
    bench.until(begin + MS * 3 - NANO);
    assert_eq!((bench.next_hop(8), bench.next_hop(9)), (Some(1), None));
    let version = bench.node.routes_version(bench.now);
    bench.until(begin + MS * 3);
    assert_eq!((bench.next_hop(8), bench.next_hop(9), bench.node.calculations.get()), (None, Some(1), 2));
    assert_ne!(bench.node.routes_version(bench.now), version, "others see that routes have changed");
    bench.tc(1, 5, 100, 100, &[8]);
    bench.node.handle_link_event(&LinkEvent::NeighbourLost(to(1)), bench.now);
    assert_eq!((bench.next_hop(9), bench.next_hop(6)), (None, Some(2)), "what the link tells counts at once");
}

#[test]
fn section_5_further_addresses_lead_to_their_node() {
    let mut bench = bench();
    let mid = |node: usize, others: &[usize]| {
        let repr = mid::Repr { interfaces: others.iter().map(|&node| address(node)).collect() };
        let mut body = vec![0; repr.buffer_len()];
        repr.emit(&mut body);
        (header(MessageType::Mid, node, 90, &body), body)
    };
    let (mid_of_5, body) = mid(5, &[105, 0]);
    bench.hear(to(1), mid_of_5, body);
    assert_eq!((bench.next_hop(105), bench.next_hop(0)), (Some(1), None));
    // In HELLOs and TCs, interface addresses stand for their node.
    let (mid_of_6, body) = mid(6, &[106]);
    bench.hear(to(2), mid_of_6, body);
    bench.befriend(1, &[106]);
    assert_eq!(bench.next_hop(6), Some(1));
    assert_eq!(bench.relays(), [1], "5 and 6 are all there is, and 1 reaches both");
    bench.after(SECOND * 15);
    assert_eq!(bench.next_hop(105), None);
}
