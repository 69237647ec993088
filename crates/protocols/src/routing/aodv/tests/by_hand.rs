//! Discovery, replies and lifetimes, one message at a time. The instants follow from the defaults: NODE_TRAVERSAL_TIME 40 ms,
//! NET_DIAMETER 35, ACTIVE_ROUTE_TIMEOUT 3 s.

use std::net::Ipv4Addr;

use hopcast_wire::aodv::{Extensions, ReplyRepr, Repr, RequestFlags, RequestRepr};

use super::super::{Config, LocalRepair};
use super::bench::{Bench, OWN, address, at, data, error, hello, reply, request};
use super::exact;
use crate::routing::{Output, Packet, Routing, Verdict};

fn rreq(originator: (u8, u32), destination: (u8, Option<u32>), hop_count: u8, id: u32) -> Repr<'static> {
    Repr::Request(request(originator, destination, hop_count, id))
}

fn flagged(flags: RequestFlags, request: RequestRepr<'static>) -> Repr<'static> {
    Repr::Request(RequestRepr { flags: request.flags | flags, ..request })
}

fn rrep(destination: (u8, u32), hop_count: u8, originator: u8, lifetime: u32) -> Repr<'static> {
    Repr::Reply(reply(destination, hop_count, originator, lifetime))
}

#[test]
fn section_6_4_rings_grow_and_then_the_whole_network_is_asked_with_binary_backoff() {
    let mut bench = Bench::new(&exact());
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
    // A ring of n hops takes 2 x 40 ms x (n + 2); the network 2 x 40 ms x 35 = 2.8 s, and then twice that.
    let said = bench.to(60_000);
    assert_eq!(
        said,
        [
            "240 all 3: RREQ 2 1/2 for 5/0 hops 0 U",
            "640 all 5: RREQ 3 1/3 for 5/0 hops 0 U",
            "1200 all 7: RREQ 4 1/4 for 5/0 hops 0 U",
            "1920 all 35: RREQ 5 1/5 for 5/0 hops 0 U",
            "4720 all 35: RREQ 6 1/6 for 5/0 hops 0 U",
            "10320 not found 5",
        ]
    );
    assert_eq!(bench.aodv.discoveries.len(), 0);
}

#[test]
fn section_6_4_without_rings_the_first_request_is_no_retry() {
    let mut bench = Bench::new(&Config { ttl_start: 35, ttl_increment: 35, ..exact() });
    bench.waits(5).says(["all 35: RREQ 1 1/1 for 5/0 hops 0 U"]);
    // Waits of 2.8, 5.6 and 11.2 s (section 6.3).
    let said = bench.to(60_000);
    let requests = ["2800 all 35: RREQ 2 1/2 for 5/0 hops 0 U", "8400 all 35: RREQ 3 1/3 for 5/0 hops 0 U"];
    assert_eq!(said, [requests[0], requests[1], "19600 not found 5"]);
}

#[test]
fn section_6_3_without_retries_a_search_ends_with_its_last_ring() {
    let requests = |config: Config| {
        let mut bench = Bench::new(&Config { rreq_retries: 0, ..config });
        let mut said = bench.waits(5).said();
        said.extend(bench.to(60_000));
        let (last, requests) = said.split_last().expect("the search ends");
        assert!(last.ends_with(" not found 5"), "{last}");
        requests.iter().map(|line| line.split(": RREQ").next().unwrap_or(line).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(requests(exact()), ["all 1", "240 all 3", "640 all 5", "1200 all 7"]);
    // Without rings there is the first request alone; to ns-2 the first through the network is never a retry.
    assert_eq!(requests(Config { ttl_start: 35, ..exact() }), ["all 35"]);
    let ns2 = Config { ttl_start: 5, ..Config::ns2() };
    assert_eq!(requests(ns2), ["all 5", "300 all 7", "720 all 30"]);
}

#[test]
fn section_6_4_a_lost_destination_is_looked_for_where_it_was() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((5, 9), 3, 8, 1000)).quietly_to(1000);
    assert_eq!(bench.next(5), None);
    // It was 4 hops away, and is looked for within 4 + 2, then beyond the threshold.
    bench.waits(5).says(["all 6: RREQ 1 1/1 for 5/10 hops 0"]);
    assert_eq!(bench.to(1640), ["1640 all 35: RREQ 2 1/2 for 5/10 hops 0"]);
}

#[test]
fn section_6_3_no_second_has_more_requests_than_the_limit() {
    let mut bench = Bench::new(&exact());
    for destination in 11..=23 {
        bench.waits(destination);
    }
    assert_eq!(bench.said().len(), 10);
    let said = bench.to(1_000);
    let first: Vec<_> = said.iter().take(3).map(String::as_str).collect();
    // The first rings have passed, and their next requests wait behind the first of the others.
    assert_eq!(
        first,
        [
            "1000 all 1: RREQ 11 1/11 for 21/0 hops 0 U",
            "1000 all 1: RREQ 12 1/12 for 22/0 hops 0 U",
            "1000 all 1: RREQ 13 1/13 for 23/0 hops 0 U",
        ]
    );
    assert_eq!(said.len(), 10);
}

#[test]
fn section_6_7_a_reply_makes_the_route_and_releases_what_waits() {
    let mut bench = Bench::new(&exact());
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
    bench.quietly_to(20).hear(2, None, rrep((5, 9), 2, OWN, 6000)).says(["found 5"]);
    bench.forwards(5, 2).says([]);
    assert_eq!((bench.next(5), bench.next(2)), (Some(2), Some(2)));
    bench.quietly_to(60_000);
}

#[test]
fn section_6_3_any_message_with_a_route_ends_the_discovery() {
    let mut bench = Bench::new(&exact());
    bench.waits(5).waits(6).said();
    bench.hear(2, Some(1), rreq((5, 3), (9, None), 1, 1)).says(["found 5"]);
    bench.hear(6, Some(1), hello(6, 0)).says(["found 6"]);
    bench.forwards(5, 2).forwards(6, 6);
}

#[test]
fn section_6_6_1_the_destination_replies_with_the_newer_of_both_numbers() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), rreq((7, 4), (OWN, None), 1, 1)).says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
    bench.hear(2, Some(3), rreq((7, 5), (OWN, Some(1)), 1, 2)).says(["2 1: RREP 1/1 for 7 hops 0 for 6000 ms"]);
    bench.hear(2, Some(3), rreq((7, 6), (OWN, Some(0)), 1, 3)).says(["2 1: RREP 1/1 for 7 hops 0 for 6000 ms"]);
}

#[test]
fn section_6_1_numbers_wrap_around() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), rreq((7, 1), (OWN, Some(0x7fff_ffff)), 1, 1)).said();
    bench.hear(2, Some(3), rreq((7, 2), (OWN, Some(u32::MAX - 1)), 1, 2)).said();
    bench.waits(5).says(["all 1: RREQ 1 1/4294967295 for 5/0 hops 0 U"]);
    assert_eq!(bench.to(240), ["240 all 3: RREQ 2 1/0 for 5/0 hops 0 U"]);
    // A route with the number 2³² − 1 is older than one with the number 0.
    bench.hear(2, None, rrep((6, u32::MAX), 0, 8, 1000)).hear(3, None, rrep((6, 0), 5, 8, 1000));
    assert_eq!(bench.next(6), Some(3));
    bench.hear(2, None, rrep((6, u32::MAX), 0, 8, 1000));
    assert_eq!(bench.next(6), Some(3));
}

#[test]
fn section_6_5_a_request_is_passed_on_one_hop_further() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), rreq((7, 4), (9, None), 1, 1)).says(["all 2: RREQ 1 7/4 for 9/0 hops 2 U"]);
    assert_eq!((bench.next(7), bench.next(2)), (Some(2), Some(2)));
    bench.hear(3, Some(1), rreq((8, 4), (9, None), 0, 1)).says([]);
    assert_eq!(bench.next(8), Some(3), "with no time left to live, too");
}

#[test]
fn section_6_5_a_request_takes_the_newest_number_along() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, None, rrep((9, 20), 1, 8, 1000)).quietly_to(1000);
    // The route with the number 20 is lost: the next one must have 21.
    bench.hear(2, Some(3), rreq((7, 1), (9, None), 1, 1)).says(["all 2: RREQ 1 7/1 for 9/21 hops 2"]);
    bench.hear(2, Some(3), rreq((7, 2), (9, Some(4)), 1, 2)).says(["all 2: RREQ 2 7/2 for 9/21 hops 2"]);
    bench.hear(2, Some(3), rreq((7, 3), (9, Some(22)), 1, 3)).says(["all 2: RREQ 3 7/3 for 9/22 hops 2"]);
}

#[test]
fn section_6_5_the_way_back_lives_as_long_as_a_reply_may_take() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(1), rreq((7, 4), (9, None), 4, 1));
    // 2 x 2.8 s − 2 x 5 hops x 40 ms.
    bench.quietly_to(5_199);
    assert_eq!(bench.next(7), Some(2));
    bench.quietly_to(5_200);
    assert_eq!(bench.next(7), None);
}

#[test]
fn section_6_5_a_request_is_handled_once() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), rreq((7, 4), (9, None), 1, 1)).says(["all 2: RREQ 1 7/4 for 9/0 hops 2 U"]);
    bench.hear(3, Some(3), rreq((7, 4), (9, None), 0, 1)).says([]);
    assert_eq!((bench.next(7), bench.next(3)), (Some(2), Some(3)), "the neighbour is known all the same");
    // After PATH_DISCOVERY_TIME (5.6 s) it is not known again; its number is older than the least of a new route, though.
    bench.quietly_to(5_600).hear(3, Some(3), rreq((7, 4), (9, None), 0, 1)).says([]);
    assert_eq!(bench.next(7), None);
}

#[test]
fn section_6_5_a_request_of_this_node_that_comes_back_is_nothing_new() {
    let mut bench = Bench::new(&exact());
    bench.waits(5).said();
    bench.hear(2, Some(3), rreq((OWN, 1), (5, None), 1, 1)).says([]);
    assert_eq!((bench.next(OWN), bench.next(2)), (None, Some(2)));
}

#[test]
fn section_6_6_2_an_intermediate_node_replies_with_what_it_knows() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, None, rrep((9, 20), 1, OWN, 6000)).quietly_to(500);
    bench.hear(2, Some(3), rreq((7, 4), (9, Some(20)), 1, 1)).says(["2 1: RREP 9/20 for 7 hops 2 for 5500 ms"]);
    // One that wants a newer route goes on.
    bench.hear(2, Some(3), rreq((7, 5), (9, Some(21)), 1, 2)).says(["all 2: RREQ 2 7/5 for 9/21 hops 2"]);
    // Who asks is the precursor of the route; the neighbour on it that of the way back.
    bench.hear_octets(3, None, &error(false, &[(9, 21)])).says(["2 1: RERR 9/21"]);
    bench.hear_octets(2, None, &error(false, &[(7, 6)])).says(["3 1: RERR 7/6"]);
}

#[test]
fn section_6_6_2_a_neighbour_without_number_is_not_told_of() {
    let mut bench = Bench::new(&exact());
    bench.hear(9, Some(1), rreq((8, 1), (6, None), 3, 1));
    assert_eq!(bench.next(9), Some(9));
    bench.hear(2, Some(3), rreq((7, 4), (9, None), 1, 1)).says(["all 2: RREQ 1 7/4 for 9/0 hops 2 U"]);
}

#[test]
fn section_6_6_3_a_gratuitous_reply_tells_the_destination_of_the_originator() {
    let mut bench = Bench::new(&Config { gratuitous_reply: true, ..exact() });
    bench.hear(3, None, rrep((9, 20), 1, OWN, 6000));
    let request = request((7, 4), (9, None), 1, 1);
    bench.hear(2, Some(3), flagged(RequestFlags::GRATUITOUS, request)).says([
        "2 1: RREP 9/20 for 7 hops 2 for 6000 ms",
        // The way back to 7 lives for 2 x 2.8 s − 2 x 2 hops x 40 ms.
        "3 1: RREP 7/4 for 9 hops 2 for 5440 ms",
    ]);
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 GU"]);
}

#[test]
fn section_6_7_a_reply_is_passed_on_and_leaves_precursors() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(1), rreq((7, 4), (9, None), 0, 1));
    bench.hear(3, None, rrep((9, 20), 1, 7, 5000)).says(["2 1: RREP 9/20 for 7 hops 2 for 5000 ms"]);
    bench.hear_octets(3, None, &error(false, &[(9, 21)])).says(["2 1: RERR 9/21"]);
    // It was used up by that.
    bench.hear(3, None, rrep((9, 21), 1, OWN, 5000)).hear_octets(3, None, &error(false, &[(9, 22)])).says([]);
}

#[test]
fn section_6_7_a_reply_goes_on_from_a_node_that_knew_as_much() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, None, rrep((9, 20), 1, OWN, 5000));
    let asked = |sequence, id| flagged(RequestFlags::DESTINATION_ONLY, request((7, sequence), (9, None), 0, id));
    bench.hear(2, Some(1), asked(4, 1)).said();
    // Nothing new, and yet 7 would never learn of the route if it ended here.
    bench.quietly_to(1_000).hear(3, None, rrep((9, 20), 1, 7, 6000));
    bench.says(["2 1: RREP 9/20 for 7 hops 2 for 6000 ms"]);
    // It need not learn of it twice.
    bench.hear(3, None, rrep((9, 20), 1, 7, 6000)).says([]);
    bench.hear(4, None, rrep((9, 19), 0, 7, 6000)).says([]);
    // To a further request, a reply that is worse than what this node has is replaced by that.
    bench.hear(2, Some(1), asked(5, 2)).said();
    bench.hear(4, None, rrep((9, 19), 0, 7, 6000)).says(["2 1: RREP 9/20 for 7 hops 2 for 6000 ms"]);
    // What is new goes on.
    bench.hear(4, None, rrep((9, 21), 3, 7, 6000)).says(["2 1: RREP 9/21 for 7 hops 4 for 6000 ms"]);
}

#[test]
fn section_6_7_which_reply_replaces_a_route() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((9, 20), 3, OWN, 6000));
    bench.hear(3, None, rrep((9, 20), 3, OWN, 6000));
    assert_eq!(bench.next(9), Some(2), "as far");
    bench.hear(3, None, rrep((9, 19), 0, OWN, 6000));
    assert_eq!(bench.next(9), Some(2), "older");
    bench.hear(3, None, rrep((9, 20), 2, OWN, 6000));
    assert_eq!(bench.next(9), Some(3), "nearer");
    bench.hear(4, None, rrep((9, 21), 7, OWN, 6000));
    assert_eq!(bench.next(9), Some(4), "newer");
    bench.quietly_to(6_000);
    assert_eq!(bench.next(9), None);
    bench.hear(2, None, rrep((9, 21), 1, OWN, 6000));
    assert_eq!(bench.next(9), None, "a route that is lost has a number more");
    bench.hear(2, None, rrep((9, 22), 9, OWN, 6000));
    assert_eq!(bench.next(9), Some(2));
}

#[test]
fn section_6_2_use_keeps_routes_and_silence_loses_them() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((9, 20), 3, OWN, 2500)).quietly_to(2_000).forwards(9, 2);
    bench.quietly_to(4_999);
    assert_eq!((bench.next(9), bench.next(2)), (Some(2), Some(2)), "for 3 s since it was used");
    bench.quietly_to(5_000);
    assert_eq!((bench.next(9), bench.next(2)), (None, None));
    // And forgotten 15 s later: 5 x 3 s.
    bench.quietly_to(19_999);
    assert!(bench.aodv.table.get(address(9)).is_some());
    bench.quietly_to(20_000);
    assert_eq!(bench.aodv.table.iter().count(), 0);
    assert_eq!(bench.aodv.poll_timeout(), None, "an idle machine has no timers");
}

#[test]
fn section_6_2_a_packet_keeps_the_way_back_if_it_leads_back_the_same_way() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((7, 1), 3, OWN, 1000)).hear(3, None, rrep((9, 20), 3, OWN, 6000));
    assert!(matches!(bench.packet(7, 9, Some(2)), Verdict::Forward(_)));
    bench.quietly_to(2_999);
    assert_eq!((bench.next(7), bench.next(2)), (Some(2), Some(2)));
    // From now on packets of 7 come another way: the old one is not kept by them.
    bench.hear(4, Some(1), rreq((8, 1), (6, None), 3, 1));
    assert!(matches!(bench.packet(7, 9, Some(4)), Verdict::Forward(_)));
    bench.quietly_to(3_000);
    assert_eq!((bench.next(7), bench.next(4)), (None, Some(4)));
}

#[test]
fn section_6_2_a_packet_that_has_arrived_keeps_the_way_back() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((7, 1), 3, OWN, 1000));
    bench.quietly_to(900);
    bench.aodv.handle_arrival(&data(7, OWN, Some(2)), bench.now());
    bench.quietly_to(3_899);
    assert_eq!((bench.next(7), bench.next(2)), (Some(2), Some(2)));
    bench.quietly_to(3_900);
    assert_eq!((bench.next(7), bench.next(2)), (None, None));
}

#[test]
fn section_6_5_a_request_that_comes_another_way_does_not_keep_the_way_back() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((7, 10), 3, OWN, 1000));
    bench.hear(3, Some(3), rreq((7, 9), (9, None), 0, 1)).says(["all 2: RREQ 1 7/9 for 9/0 hops 1 U"]);
    bench.quietly_to(1_000);
    assert_eq!(bench.next(7), None);
}

#[test]
fn section_6_11_a_lost_route_is_remembered_while_packets_ask_for_it_or_come_from_there() {
    for (asking, known) in [((7, 9, Some(2)), 9), ((9, 6, Some(4)), 9)] {
        let mut bench = Bench::new(&Config { local_repair: LocalRepair::Never, ..exact() });
        bench.hear(3, None, rrep((9, 20), 1, OWN, 1000)).hear(4, None, rrep((6, 20), 1, OWN, 12_000));
        bench.quietly_to(10_000);
        let (source, destination, from) = asking;
        bench.packet(source, destination, from);
        bench.said();
        // Lost after 1 s, forgotten 15 s later, had there been no packet after 10 s.
        bench.quietly_to(24_999);
        assert!(bench.aodv.table.get(address(known)).is_some());
        bench.quietly_to(25_000);
        assert!(bench.aodv.table.get(address(known)).is_none());
    }
}

#[test]
fn section_6_6_who_asks_is_not_sent_back_to_itself() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, None, rrep((9, 20), 1, OWN, 6000));
    // 3 has forgotten its route, though this node's leads over it.
    bench.hear(3, Some(3), rreq((7, 4), (9, None), 1, 1)).says(["all 2: RREQ 1 7/4 for 9/20 hops 2"]);
    // Nor does a reply go back to where it came from.
    bench.hear(3, None, rrep((6, 1), 1, 7, 6000)).says([]);
}

#[test]
fn a_lifetime_is_no_longer_than_others_remember() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, None, rrep((9, 20), 3, OWN, u32::MAX));
    // DELETE_PERIOD (15 s) less NET_TRAVERSAL_TIME (2.8 s).
    bench.quietly_to(1_000);
    bench.hear(2, None, rrep((9, 20), 3, OWN, u32::MAX));
    bench.quietly_to(13_199);
    assert_eq!(bench.next(9), Some(2));
    bench.quietly_to(13_200);
    assert_eq!(bench.next(9), None);
}

#[test]
fn what_cannot_be_meant_is_ignored() {
    let mut bench = Bench::new(&exact());
    let everybody = Ipv4Addr::BROADCAST;
    let asked = request((7, 4), (9, None), 0, 1);
    let told = reply((9, 1), 0, OWN, 6000);
    // A request that has gone further than can be counted, for a route to everybody, of nobody.
    for request in [
        RequestRepr { hop_count: 255, ..asked },
        RequestRepr { destination: everybody, ..asked },
        RequestRepr { originator: Ipv4Addr::UNSPECIFIED, ..asked },
    ] {
        bench.hear(2, Some(9), Repr::Request(request)).says([]);
    }
    // A reply that has gone too far, about this node, about everybody, about a subnet, for no time.
    for reply in [
        ReplyRepr { hop_count: 255, ..told },
        ReplyRepr { destination: address(OWN), ..told },
        ReplyRepr { destination: everybody, ..told },
        ReplyRepr { prefix_size: 24, ..told },
        ReplyRepr { lifetime: 0, ..told },
    ] {
        bench.hear(2, None, Repr::Reply(reply)).says([]);
    }
    let known: Vec<_> = bench.aodv.table.iter().map(|(destination, _)| destination).collect();
    assert_eq!(known, [address(2)], "whoever says so is there, though");
    // Nor is there a route to whoever is no node.
    assert_eq!(bench.packet(OWN, 255, None), Verdict::Wait, "10.0.0.255 is an address like any other");
    let to_all = Packet { destination: everybody, ..data(OWN, 9, None) };
    assert_eq!(bench.aodv.handle_packet(&to_all, bench.now()), Verdict::Drop);
}

#[test]
fn section_9_an_extension_that_must_be_understood_is_no_reason_to_guess() {
    let mut bench = Bench::new(&exact());
    let with = |octets: &'static [u8]| Extensions::new_checked(octets, 24).expect("it is whole");
    let request = request((7, 4), (9, None), 1, 1);
    bench.hear(2, Some(3), Repr::Request(RequestRepr { extensions: with(&[128, 0]), ..request })).says([]);
    assert_eq!(bench.next(7), None);
    let octets = Repr::Request(RequestRepr { extensions: with(&[127, 1, 5]), ..request }).to_octets();
    bench.hear_octets(2, Some(3), &octets);
    let passed_on = bench.aodv.outputs.pop_front();
    let Some(Output::Send(message)) = passed_on else { panic!("{passed_on:?}") };
    assert_eq!(message.octets[24..], [127, 1, 5], "one that may be skipped goes along");
}

/// A route is learnt, confirmed, made shorter, and expires: what holds routes outside has to look three times.
#[test]
fn routes_have_a_new_version_only_if_they_change() {
    let mut bench = Bench::new(&exact());
    let version = |bench: &Bench| bench.aodv.routes_version(bench.now());
    let empty = version(&bench);
    bench.waits(5).said();
    bench.to(100);
    assert_eq!((version(&bench), bench.next(5)), (empty, None), "a search is no route");
    // To the neighbour and to node 5.
    bench.hear(2, None, rrep((5, 7), 2, OWN, 6_000)).said();
    let learnt = version(&bench);
    assert!(learnt.is_some() && learnt != empty);
    bench.hear(2, None, rrep((5, 7), 2, OWN, 6_000)).said();
    bench.hear(2, None, rrep((5, 8), 2, OWN, 6_000)).said();
    assert_eq!((version(&bench), bench.next(5)), (learnt, Some(2)), "a newer number of the same route");
    bench.hear(2, None, rrep((5, 8), 1, OWN, 6_000)).said();
    let nearer = version(&bench);
    assert_ne!(nearer, learnt, "fewer hops");
    // Both routes expire in time, and only the timer tells.
    assert_eq!(bench.aodv.routes_version(at(6_101)), None);
    bench.to(6_101);
    assert!(version(&bench) != nearer && bench.next(5).is_none());
}
