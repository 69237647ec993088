//! Broken links, route errors and local repair, one message at a time.

use hopcast_wire::aodv::Repr;

use super::super::{Config, LinkDetection, LocalRepair};
use super::bench::{Bench, OWN, data, error, hop, passed_on, reply, request};
use super::exact;
use crate::routing::{Forward, LinkEvent, Verdict};

/// Routes to 9 over 3, two hops, and back to 7 over 2, one hop; 2 is the precursor of 9.
fn on_a_path(config: &Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.hear(2, Some(1), Repr::Request(request((7, 4), (9, None), 0, 1)));
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, 7, 6000)));
    bench.said();
    bench
}

fn without_repair() -> Config {
    Config { local_repair: LocalRepair::Never, ..exact() }
}

#[test]
fn section_6_11_a_broken_link_is_told_to_the_only_precursor_alone() {
    let mut bench = on_a_path(&without_repair());
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 9/21"]);
    assert_eq!((bench.next(9), bench.next(3), bench.next(7)), (None, None, Some(2)));
    // The next ones that the interface gives up for it change nothing.
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Drop);
    bench.says([]);
}

#[test]
fn section_6_11_several_precursors_are_told_at_once() {
    let mut bench = on_a_path(&without_repair());
    bench.hear(4, Some(1), Repr::Request(request((6, 4), (9, None), 0, 1))).said();
    assert_eq!(bench.event(&LinkEvent::NeighbourLost(hop(3))), Verdict::Drop);
    bench.says(["purge 3", "all 1: RERR 9/21"]);
}

#[test]
fn section_6_11_only_destinations_with_precursors_are_told_of() {
    let mut bench = on_a_path(&without_repair());
    bench.hear(3, None, Repr::Reply(reply((8, 5), 4, OWN, 6000)));
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 9/21"]);
    assert_eq!(bench.next(8), None);
}

#[test]
fn section_6_11_a_packet_without_route_is_answered_with_an_error() {
    let mut bench = Bench::new(&exact());
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["2 1: RERR 9/0"]);
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, OWN, 1000))).quietly_to(1_000);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["2 1: RERR 9/21"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["2 1: RERR 9/21"]);
}

#[test]
fn a_packet_without_route_is_dropped_in_silence_where_no_error_is_wanted() {
    let mut bench = Bench::new(&Config { error_without_route: false, ..exact() });
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says([]);
}

#[test]
fn section_6_11_an_error_loses_the_route_over_its_sender_and_goes_on() {
    let mut bench = on_a_path(&exact());
    bench.hear_octets(4, None, &error(false, &[(9, 21)])).says([]);
    assert_eq!(bench.next(9), Some(3), "4 is not the next hop");
    bench.hear_octets(3, None, &error(false, &[(8, 1), (9, 30), (3, 1)])).says(["2 1: RERR 9/30"]);
    assert_eq!((bench.next(9), bench.next(3)), (None, Some(3)), "who says something can be reached");
    bench.waits(9).says(["all 4: RREQ 1 1/1 for 9/30 hops 0"]);
}

#[test]
fn section_6_11_an_error_never_takes_a_number_back() {
    for said in [0, 5, 20] {
        let mut bench = on_a_path(&exact());
        bench.hear_octets(3, None, &error(false, &[(9, said)])).says(["2 1: RERR 9/21"]);
        bench.hear(4, None, Repr::Reply(reply((9, 20), 0, OWN, 6000)));
        assert_eq!(bench.next(9), None, "{said}");
    }
}

#[test]
fn section_6_11_no_second_has_more_errors_than_the_limit() {
    let mut bench = Bench::new(&exact());
    let errors = |bench: &mut Bench| {
        for destination in 30..60 {
            assert_eq!(bench.packet(7, destination, Some(2)), Verdict::Drop);
        }
        bench.said().len()
    };
    assert_eq!(errors(&mut bench), 10);
    bench.quietly_to(999);
    assert_eq!(errors(&mut bench), 0);
    bench.quietly_to(1_000);
    assert_eq!(errors(&mut bench), 10);
}

#[test]
fn a_long_list_is_told_in_several_messages() {
    let mut bench = Bench::new(&without_repair());
    hear_of_two_hundred(&mut bench);
    bench.event(&LinkEvent::NeighbourLost(hop(3)));
    let said = bench.said();
    let destinations = |line: &String| line.split(' ').count() - 3;
    // 183 destinations fill 1500 octets.
    assert_eq!(said[1..].iter().map(destinations).collect::<Vec<_>>(), [183, 17]);
}

#[test]
fn section_6_11_each_message_of_a_long_list_counts_against_the_limit() {
    let mut bench = Bench::new(&Config { rerr_ratelimit: Some(1), ..without_repair() });
    hear_of_two_hundred(&mut bench);
    bench.event(&LinkEvent::NeighbourLost(hop(3)));
    let said = bench.said();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains(" 192/21") && !said[1].contains(" 193/21"), "the first 183");
    // Who was not told of one is told as soon as may be.
    bench.quietly_to(1_000);
    assert_eq!(bench.packet(7, 193, None), Verdict::Drop);
    bench.says(["2 1: RERR 193/21"]);
}

/// Routes to 10 … 209 over 3, told to 2.
fn hear_of_two_hundred(bench: &mut Bench) {
    bench.hear(2, Some(1), Repr::Request(request((7, 4), (9, None), 0, 1)));
    for number in 10..=209 {
        bench.hear(3, None, Repr::Reply(reply((number, 20), 1, 7, 6000)));
    }
    bench.said();
}

#[test]
fn purged_packets_get_a_decision_each() {
    let mut bench = on_a_path(&without_repair());
    bench.hear(3, None, Repr::Reply(reply((8, 5), 4, OWN, 6000)));
    bench.hear(4, None, Repr::Reply(reply((6, 5), 4, OWN, 6000)));
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 9/21"]);
    assert_eq!(bench.purged(3, data(7, 9, None)), Verdict::Drop);
    bench.says([]);
    assert_eq!(bench.purged(3, data(OWN, 8, None)), Verdict::Wait);
    bench.says(["all 7: RREQ 1 1/1 for 8/6 hops 0"]);
    // What has another way by now takes it.
    assert_eq!(bench.purged(3, data(7, 6, None)), Verdict::Forward(Forward::to(hop(4))));
    let message = crate::routing::Packet { has_data: false, ..data(OWN, 3, None) };
    assert_eq!(bench.purged(3, message), Verdict::Drop);
    bench.says([]);
}

#[test]
fn section_6_10_a_node_that_trusts_hellos_alone_ignores_the_link_layer() {
    let mut bench = on_a_path(&Config { link_detection: LinkDetection::Hello, ..without_repair() });
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Drop);
    assert_eq!(bench.event(&LinkEvent::NeighbourLost(hop(3))), Verdict::Drop);
    bench.message_dropped(2, Repr::Reply(reply((9, 20), 2, 7, 6000))).says([]);
    assert_eq!((bench.next(9), bench.next(7)), (Some(3), Some(2)));
    bench.hear(2, Some(1), Repr::Request(request((7, 5), (OWN, None), 0, 2)));
    bench.says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
}

#[test]
fn section_6_12_a_near_destination_is_looked_for_on_the_spot() {
    let mut bench = on_a_path(&exact());
    assert_eq!(bench.data_dropped(3, 7, 9), Verdict::Wait);
    // max(2 hops to 9, half a hop to 7) + LOCAL_ADD_TTL, with a newer number than the lost one.
    bench.says(["purge 3", "all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Wait);
    bench.says([]);
    bench.quietly_to(30).hear(4, None, Repr::Reply(reply((9, 21), 1, OWN, 6000))).says(["found 9"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Forward(Forward::to(hop(4))));
}

#[test]
fn section_6_12_a_longer_way_is_told_of_without_deleting_it() {
    let mut bench = on_a_path(&exact());
    bench.data_dropped(3, 7, 9);
    bench.said();
    bench.hear(4, None, Repr::Reply(reply((9, 21), 2, OWN, 6000))).says(["found 9", "2 1: RERR N 9/21"]);
    // Whoever hears so passes it on, and keeps the route.
    let mut upstream = on_a_path(&exact());
    upstream.hear_octets(3, None, &error(true, &[(9, 21)])).says(["2 1: RERR N 9/20"]);
    assert_eq!(upstream.next(9), Some(3));
    upstream.hear_octets(3, None, &error(false, &[(9, 22)])).says(["2 1: RERR 9/22"]);
}

#[test]
fn section_6_12_a_repair_that_fails_ends_in_an_error() {
    let mut bench = on_a_path(&exact());
    bench.data_dropped(3, 7, 9);
    bench.said();
    // A ring of 4 hops takes 2 x 40 ms x (4 + 2).
    bench.quietly_to(479);
    assert_eq!(bench.to(480), ["480 2 1: RERR 9/21", "480 not found 9"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop, "it is not tried again");
    bench.says(["2 1: RERR 9/21"]);
}

#[test]
fn section_6_12_a_repair_that_fails_goes_on_as_a_search_for_packets_of_this_node() {
    let mut bench = on_a_path(&exact());
    bench.data_dropped(3, 7, 9);
    bench.waits(9).said();
    assert_eq!(bench.to(480), ["480 2 1: RERR 9/21", "480 all 4: RREQ 2 1/2 for 9/21 hops 0"]);
    bench.hear(4, None, Repr::Reply(reply((9, 21), 5, OWN, 6000))).says(["found 9"]);
}

#[test]
fn section_6_12_a_search_becomes_a_repair_for_packets_of_others() {
    let mut bench = on_a_path(&exact());
    bench.event(&LinkEvent::NeighbourLost(hop(3)));
    bench.waits(9).says(["purge 3", "all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Wait);
    bench.says(["all 4: RREQ 2 1/2 for 9/21 hops 0"]);
    assert_eq!(bench.to(480), ["480 2 1: RERR 9/21", "480 all 4: RREQ 3 1/3 for 9/21 hops 0"]);
}

#[test]
fn section_6_12_other_routes_over_the_link_are_repaired_once_they_are_needed() {
    let mut bench = on_a_path(&exact());
    bench.hear(3, None, Repr::Reply(reply((8, 5), 3, 7, 6000))).said();
    bench.data_dropped(3, 7, 9);
    bench.says(["purge 3", "all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!(bench.to(2_999).len(), 2, "the repair of the first fails");
    assert_eq!(bench.packet(7, 8, Some(2)), Verdict::Wait);
    bench.says(["all 6: RREQ 2 1/2 for 8/6 hops 0"]);
    // After ACTIVE_ROUTE_TIMEOUT it is too late.
    let mut bench = on_a_path(&exact());
    bench.event(&LinkEvent::NeighbourLost(hop(3)));
    bench.said();
    bench.quietly_to(3_000);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["2 1: RERR 9/21"]);
}

#[test]
fn section_6_12_a_far_destination_is_given_up() {
    // MAX_REPAIR_TTL is 0.3 x 35 hops.
    for (hop_count, expected) in [(9, Verdict::Wait), (10, Verdict::Drop)] {
        let mut bench = on_a_path(&exact());
        bench.hear(3, None, Repr::Reply(reply((8, 5), hop_count, 7, 6000))).said();
        assert_eq!(bench.data_dropped(3, 7, 8), expected, "{hop_count} + 1 hops");
    }
}

/// Routes to 9 over 3, of two hops, to 8 over 3, of four, and back to 7 over 2; as ns-2 repairs.
fn on_a_path_of_ns_2() -> Bench {
    let mut bench = on_a_path(&Config { local_repair: LocalRepair::NearerThanSource, ..exact() });
    bench.hear(3, None, Repr::Reply(reply((8, 5), 3, 7, 6000)));
    bench.said();
    bench
}

#[test]
fn ns_2_repairs_the_route_of_a_packet_that_has_come_farther_than_it_has_to_go() {
    let mut bench = on_a_path_of_ns_2();
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    // Nothing comes back from the interface, and other routes over the link stay.
    bench.says(["all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!((bench.next(9), bench.next(8), bench.next(3)), (None, Some(3), Some(3)));
    // So each further packet is given up for itself; it waits for the same repair.
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    bench.says([]);
    bench.hear(4, None, Repr::Reply(reply((9, 21), 1, OWN, 6000))).says(["found 9"]);
    // One that the interface had for the old hop goes the new way, which nothing is wrong with.
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Forward(Forward::to(hop(4))));
    bench.says([]);
    assert_eq!(bench.next(8), Some(3));
}

#[test]
fn ns_2_gives_up_all_routes_over_the_link_if_the_packet_has_farther_to_go() {
    for hops in [1, 2] {
        let mut bench = on_a_path_of_ns_2();
        assert_eq!(bench.dropped(3, passed_on(7, 9, hops)), Verdict::Drop);
        bench.says(["purge 3", "2 1: RERR 8/6 9/21"]);
        assert_eq!((bench.next(8), bench.next(3), bench.next(7)), (None, None, Some(2)));
    }
    // So it does for its own packets, and when it is told that the neighbour has gone.
    let mut bench = on_a_path_of_ns_2();
    assert_eq!(bench.data_dropped(3, OWN, 9), Verdict::Wait);
    bench.says(["purge 3", "2 1: RERR 8/6 9/21", "all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    let mut bench = on_a_path_of_ns_2();
    assert_eq!(bench.event(&LinkEvent::NeighbourLost(hop(3))), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 8/6 9/21"]);
}

#[test]
fn ns_2_gives_up_all_routes_over_the_link_if_that_of_the_packet_is_not_to_be_repaired() {
    // The next hop has said that it can't reach the destination any more, and can't be reached itself.
    let mut bench = on_a_path_of_ns_2();
    bench.hear_octets(3, None, &error(false, &[(9, 21)])).says(["2 1: RERR 9/21"]);
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 8/6"]);
    assert_eq!(bench.next(8), None);
    // A repair has failed.
    let mut bench = on_a_path_of_ns_2();
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    bench.said();
    assert_eq!(bench.to(480), ["480 2 1: RERR 9/21", "480 not found 9"]);
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Drop);
    bench.says(["purge 3", "2 1: RERR 8/6"]);
}

#[test]
fn a_packet_of_this_node_waits_for_a_new_route() {
    let mut bench = on_a_path(&exact());
    bench.forwards(9, 3);
    assert_eq!(bench.data_dropped(3, OWN, 9), Verdict::Wait);
    bench.says(["purge 3", "all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!(bench.to(480), ["480 all 6: RREQ 2 1/2 for 9/21 hops 0"], "as a search, in rings");
}
