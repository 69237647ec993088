//! Neighbours' neighbours, relays and who selects them, by hand.

use super::*;
use crate::routing::olsr::Hysteresis;

#[test]
fn section_8_2_neighbours_of_symmetric_neighbours_are_known_for_the_validity_time() {
    let mut bench = Bench::new(Config::default());
    bench.hello(1, &[(SYMMETRIC, 5)]);
    assert_eq!(bench.next_hop(5), None, "it isn't a symmetric neighbour yet");
    bench.befriend(1, &[5, 6]);
    assert_eq!((bench.next_hop(5), bench.next_hop(6), bench.next_hop(0)), (Some(1), Some(1), None));
    // 6 isn't its neighbour any more; 5 isn't named, and holds for what remains of its time.
    bench.after(SECOND * 3);
    bench.hello(1, &[(HEARD, 6), (SYMMETRIC, 0)]);
    assert_eq!((bench.next_hop(5), bench.next_hop(6)), (Some(1), None));
    bench.after(SECOND * 3 - NANO);
    assert_eq!(bench.next_hop(5), Some(1));
    bench.after(NANO);
    assert_eq!((bench.next_hop(5), bench.next_hop(1)), (None, Some(1)));
}

#[test]
fn section_8_3_relays_are_named_in_hellos_and_selected_anew_when_something_changes() {
    let mut bench = Bench::new(Config::default());
    bench.befriend(1, &[5]);
    bench.befriend(2, &[5, 6]);
    bench.befriend(3, &[2]);
    assert_eq!(bench.relays(), [2], "3 reaches nobody but a neighbour");
    let said = last_hello(&bench.after(SECOND * 2));
    assert_eq!(said, [(SYMMETRIC, 1), (SYMMETRIC, 3), (RELAY, 2)]);
    bench.befriend(1, &[5, 7]);
    assert_eq!(bench.relays(), [1, 2]);
    bench.hello(2, &[(LOST, 0)]);
    assert_eq!(bench.relays(), [1, 3], "2 is two hops away now, over 3");
}

#[test]
fn section_8_3_willingness_is_heeded() {
    let mut bench = Bench::new(Config::default());
    bench.hello_at(to(1), 3, &[(SYMMETRIC, 0), (SYMMETRIC, 5)]);
    bench.hello_at(to(2), 6, &[(SYMMETRIC, 0), (SYMMETRIC, 5)]);
    bench.hello_at(to(3), 0, &[(SYMMETRIC, 0), (SYMMETRIC, 5), (SYMMETRIC, 6)]);
    bench.hello_at(to(4), 7, &[(SYMMETRIC, 0)]);
    assert_eq!(bench.relays(), [2, 4]);
    assert_eq!((bench.next_hop(3), bench.next_hop(6)), (Some(3), None), "3 passes nothing on");
    bench.hello_at(to(3), 200, &[(SYMMETRIC, 0), (SYMMETRIC, 5), (SYMMETRIC, 6)]);
    assert_eq!((bench.relays(), bench.next_hop(6)), (vec![3, 4], Some(3)), "more than always is always");
    let own = Bench::new(Config { willingness: 6, ..Config::default() }).after(SECOND);
    assert_eq!(own[0].hello().unwrap().willingness, 6);
}

#[test]
fn section_9_3_who_is_selected_advertises_its_selectors_and_takes_them_back() {
    let mut bench = Bench::new(Config::default());
    let select = |bench: &mut Bench, node| bench.hello(node, &[(RELAY, 0)]);
    let tcs = |sent: Vec<Sent>| -> Vec<_> {
        sent.iter().filter_map(|sent| Some((sent.at, sent.header, sent.tc()?))).collect()
    };
    bench.befriend(3, &[]);
    assert_eq!(tcs(bench.after(SECOND * 5)), [], "nobody has selected this node");
    let mut all = Vec::new();
    for _ in 0..6 {
        select(&mut bench, 1);
        select(&mut bench, 2);
        all.extend(tcs(bench.after(SECOND * 5)));
    }
    let (_, first, body) = &all[0];
    assert_eq!((first.time_to_live, first.hop_count, first.validity.as_nanos()), (255, 0, 15_000_000_000));
    assert_eq!(body.neighbours, [address(1), address(2)]);
    for pair in all.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        assert!(gap >= MS * 4500 && gap <= SECOND * 5, "{gap}");
        assert_eq!(pair[1].2, *body, "the number stays while the set does");
    }
    // Node 2 selects another relay: what it said holds for 6 s.
    let mut later = Vec::new();
    for _ in 0..3 {
        select(&mut bench, 1);
        bench.befriend(2, &[]);
        later.extend(tcs(bench.after(SECOND * 5)));
    }
    let last = &later.last().unwrap().2;
    assert_eq!((last.ansn, &last.neighbours[..]), (body.ansn.wrapping_add(1), &[address(1)][..]));
    // Both leave: empty messages for 15 s, and then none.
    let empty = tcs(bench.after(SECOND * 60));
    let from = empty.iter().position(|tc| tc.2.neighbours.is_empty()).unwrap();
    assert!(empty[from..].iter().all(|tc| tc.2.neighbours.is_empty() && tc.2.ansn == body.ansn.wrapping_add(2)));
    assert!(empty.len() - from == 3 || empty.len() - from == 2, "{empty:?}");
    assert!(empty.last().unwrap().0 < bench.now - SECOND * 30);
}

#[test]
fn section_9_3_a_selector_that_is_lost_is_told_early() {
    let mut bench = Bench::new(Config { link_layer_notification: true, ..Config::default() });
    bench.hello(1, &[(RELAY, 0)]);
    bench.hello(2, &[(RELAY, 0)]);
    let first = bench.after(SECOND * 5).iter().find_map(|sent| sent.tc().map(|_| sent.at)).unwrap();
    bench.hello(1, &[(RELAY, 0)]);
    bench.hello(2, &[(RELAY, 0)]);
    let event = LinkEvent::FrameDropped { hop: to(1), packet: data(address(1)) };
    bench.node.handle_link_event(&event, bench.now);
    let sent = bench.after(SECOND * 5);
    let second = sent.iter().find(|sent| sent.tc().is_some()).unwrap();
    assert_eq!(second.tc().unwrap().neighbours, [address(2)]);
    assert!(second.at <= (first + SECOND * 2).max(bench.now - SECOND * 5) + MS * 500, "{first} {}", second.at);
}

/// MAXJITTER is 15 s here, 1500 times TC_INTERVAL.
#[test]
fn section_3_5_the_jitter_is_at_most_a_quarter_of_the_interval() {
    let mut bench = Bench::new(Config { hello_interval: SECOND * 60, tc_interval: MS * 10, ..Config::default() });
    bench.hello(1, &[(RELAY, 0)]);
    let times: Vec<_> = bench.after(SECOND).iter().filter(|sent| sent.tc().is_some()).map(|sent| sent.at).collect();
    assert!(times[0] >= Instant::START + MS * 15 / 2 && times[0] <= Instant::START + MS * 10, "{}", times[0]);
    for pair in times.windows(2) {
        let gap = pair[1] - pair[0];
        assert!(gap >= MS * 15 / 2 && gap <= MS * 10, "{gap}");
    }
}

#[test]
fn section_15_redundancy_advertises_more() {
    for (redundancy, willingness, expected) in
        [(0, 3, vec![3]), (1, 3, vec![2, 3]), (2, 3, vec![1, 2, 3]), (2, 0, vec![3])]
    {
        let mut bench = Bench::new(Config { tc_redundancy: redundancy, willingness, ..Config::default() });
        bench.befriend(1, &[]);
        bench.befriend(2, &[5]);
        bench.hello(3, &[(RELAY, 0)]);
        let sent = bench.after(SECOND * 5);
        let advertised = sent.iter().find_map(Sent::tc).unwrap().neighbours;
        let expected: Vec<_> = expected.into_iter().map(address).collect();
        assert_eq!(advertised, expected, "redundancy {redundancy}, willingness {willingness}");
    }
}

#[test]
fn section_16_coverage_selects_more_relays() {
    for (coverage, expected) in [(1, vec![1]), (2, vec![1, 2])] {
        let mut bench = Bench::new(Config { mpr_coverage: coverage, ..Config::default() });
        (1..4).for_each(|node| bench.befriend(node, &[5]));
        assert_eq!(bench.relays(), expected);
    }
}

#[test]
fn messages_are_cut_to_the_mtu() {
    let mut bench = Bench::new(Config { mtu: 200, ..Config::default() });
    for node in 1..=100 {
        bench.hello(node, &[(RELAY, 0)]);
    }
    let sent = bench.after(SECOND * 5);
    let first = sent.iter().map(|sent| sent.at).find(|&at| at > Instant::START).unwrap();
    let mut named: Vec<_> = sent.iter().filter(|sent| sent.at == first).filter_map(Sent::hello).collect();
    assert_eq!(named.len(), 3, "(200 - 28 - 4 - 12 - 8) / 4 = 37 addresses each");
    let named: Vec<_> = named.iter_mut().flat_map(|hello| hello.links.remove(0).1).map(index).collect();
    assert_eq!(named, (1..=100).collect::<Vec<_>>());
    let tcs: Vec<_> = sent.iter().filter_map(Sent::tc).collect();
    assert_eq!(tcs.iter().map(|tc| tc.neighbours.len()).collect::<Vec<_>>(), [38, 38, 24]);
    assert!(tcs.iter().all(|tc| tc.ansn == tcs[0].ansn), "parts of one set");
    let mut lengths = std::collections::BTreeMap::<_, usize>::new();
    sent.iter().for_each(|sent| *lengths.entry(sent.packet).or_insert(4 + 28) += 12 + sent.body.len());
    assert!(lengths.values().all(|&length| length <= 200), "{lengths:?}");
}

#[test]
fn each_interface_has_its_links_its_hellos_and_its_numbers() {
    let mut bench = Bench::with_interfaces(Config::default(), 2);
    let at = |interface, node| NextHop { interface, address: address(node) };
    bench.hello_at(at(0, 1), 3, &[(SYMMETRIC, 0), (SYMMETRIC, 5)]);
    bench.hello_at(at(1, 1), 3, &[]);
    bench.hello_at(at(1, 2), 3, &[(SYMMETRIC, 0), (SYMMETRIC, 6)]);
    let sent = bench.after(MS * 500);
    let on = |interface| sent.iter().filter(|sent| sent.interface == Some(interface)).cloned().collect::<Vec<_>>();
    let elsewhere = code(LinkType::Unspecified, NeighbourType::Mpr);
    assert_eq!(last_hello(&on(0)), [(elsewhere, 2), (RELAY, 1)]);
    // The neighbour type is of the node, the link type of the link.
    assert_eq!(last_hello(&on(1)), [(code(LinkType::Asymmetric, NeighbourType::Mpr), 1), (RELAY, 2)]);
    assert_ne!(on(0)[0].packet, on(1)[0].packet);
    let hop = |node| bench.node.next_hop(address(node), bench.now);
    assert_eq!([1, 2, 5, 6].map(hop), [Some(at(0, 1)), Some(at(1, 2)), Some(at(0, 1)), Some(at(1, 2))]);
    // Over the other interface once it is symmetric there, and lost here.
    bench.hello_at(at(1, 1), 3, &[(HEARD, 0), (SYMMETRIC, 5)]);
    bench.node.handle_link_event(&LinkEvent::NeighbourLost(at(0, 1)), bench.now);
    let hop = |node| bench.node.next_hop(address(node), bench.now);
    assert_eq!([1, 5].map(hop), [Some(at(1, 1)), Some(at(1, 1))]);
}

/// Who hears this node over the other interface counts on it no more.
#[test]
fn section_6_2_a_neighbour_that_is_lost_is_told_on_all_interfaces() {
    let mut bench = Bench::with_interfaces(Config::default(), 2);
    let here = NextHop { interface: 0, address: address(1) };
    let last_on = |sent: &[Sent], interface| {
        last_hello(&sent.iter().filter(|sent| sent.interface == Some(interface)).cloned().collect::<Vec<_>>())
    };
    let elsewhere = |neighbour| [(code(LinkType::Unspecified, neighbour), 1)];
    bench.hello_at(here, 3, &[]);
    let sent = bench.after(SECOND * 2);
    assert_eq!(
        (last_on(&sent, 0), last_on(&sent, 1)),
        (vec![(HEARD, 1)], elsewhere(NeighbourType::NotNeighbour).into())
    );
    bench.hello_at(here, 3, &[(HEARD, 0)]);
    let sent = bench.after(SECOND * 2);
    assert_eq!(
        (last_on(&sent, 0), last_on(&sent, 1)),
        (vec![(SYMMETRIC, 1)], elsewhere(NeighbourType::Symmetric).into())
    );
    bench.hello_at(here, 3, &[(LOST, 0)]);
    let sent = bench.after(SECOND * 2);
    assert_eq!(
        (last_on(&sent, 0), last_on(&sent, 1)),
        (vec![(HEARD, 1)], elsewhere(NeighbourType::NotNeighbour).into())
    );
    // Vtime is 6 s, and NEIGHB_HOLD_TIME too.
    let sent = bench.after(SECOND * 6);
    assert_eq!(
        (last_on(&sent, 0), last_on(&sent, 1)),
        (vec![(LOST, 1)], elsewhere(NeighbourType::NotNeighbour).into())
    );
    let sent = bench.after(SECOND * 8);
    assert_eq!((last_on(&sent, 0), last_on(&sent, 1)), (vec![], vec![]));
}

#[test]
fn section_14_2_a_neighbour_that_is_pending_is_told_on_no_interface() {
    let mut bench = Bench::with_interfaces(Config { hysteresis: Some(Hysteresis::default()), ..Config::default() }, 2);
    bench.befriend(1, &[]);
    let sent = bench.after(SECOND * 2 - MS);
    assert!(sent.iter().filter_map(Sent::hello).all(|hello| hello.links.is_empty()));
}
