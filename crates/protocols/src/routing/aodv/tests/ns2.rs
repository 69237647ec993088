//! What ns-2.35 does otherwise than the RFC ([`Rules::Ns2`](super::super::Rules::Ns2)).

use hopcast_wire::aodv::Repr;

use super::super::{Config, LocalRepair};
use super::bench::{Bench, OWN, data, error, hop, passed_on, reply, request};
use crate::routing::{Forward, Verdict};

fn ns2() -> Config {
    Config { broadcast_jitter: Default::default(), ..Config::ns2() }
}

/// Routes to 9 over 3, of two hops, for which 2 is a precursor, to 8 over 3, of four, without a precursor, and back to 7
/// over 2.
fn on_a_path(config: &Config) -> Bench {
    let mut bench = Bench::new(config);
    bench.hear(2, Some(1), Repr::Request(request((7, 4), (9, None), 0, 1)));
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, 7, 10_000)));
    bench.hear(3, None, Repr::Reply(reply((8, 5), 3, OWN, 10_000)));
    bench.said();
    bench
}

#[test]
fn what_was_to_go_over_a_lost_link_goes_with_it() {
    let mut bench = on_a_path(&ns2());
    assert_eq!(bench.data_dropped(3, OWN, 8), Verdict::Drop);
    bench.says(["purge 3", "all 1: RERR 8/6 9/21"]);
    for packet in [data(OWN, 8, None), passed_on(7, 9, 1)] {
        assert_eq!(bench.purged(3, packet), Verdict::Drop);
        bench.says([]);
    }
    // What comes next is looked for, or told of.
    bench.waits(8).says(["all 6: RREQ 1 1/1 for 8/6 hops 0"]);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["all 1: RERR 9/21"]);
}

#[test]
fn the_rfc_s_repair_decides_upon_each_packet_anew() {
    let mut bench = on_a_path(&Config { local_repair: LocalRepair::Near, ..ns2() });
    assert_eq!(bench.data_dropped(3, OWN, 8), Verdict::Wait);
    bench.says(["purge 3", "all 6: RREQ 1 1/1 for 8/6 hops 0"]);
    assert_eq!(bench.purged(3, passed_on(7, 9, 1)), Verdict::Wait);
    bench.says(["all 4: RREQ 2 1/2 for 9/21 hops 0"]);
    // A repair is one request then, and somebody is told. A search goes on.
    let said = bench.to(360);
    assert_eq!(said, ["240 all 1: RERR 9/21", "240 not found 9", "360 all 8: RREQ 3 1/3 for 8/6 hops 0"]);
}

#[test]
fn what_waits_for_who_tells_of_an_error_goes_as_well() {
    let mut bench = on_a_path(&ns2());
    bench.hear_octets(4, None, &error(false, &[(9, 21)])).says([]);
    bench.hear_octets(3, None, &error(false, &[(9, 21)])).says(["purge 3", "all 1: RERR 9/21"]);
    assert_eq!(bench.purged(3, data(OWN, 8, None)), Verdict::Drop);
    assert_eq!(bench.next(8), Some(3), "the route is as good as it was");
}

#[test]
fn a_message_that_was_given_up_says_nothing() {
    let mut bench = on_a_path(&ns2());
    bench.message_dropped(3, Repr::Reply(reply((7, 4), 1, 9, 10_000))).says([]);
    assert_eq!(bench.next(9), Some(3));
    bench.hear(3, Some(1), Repr::Request(request((6, 5), (OWN, None), 0, 2)));
    bench.says(["3 1: RREP 1/1 for 6 hops 0 for 10000 ms"]);
}

#[test]
fn who_is_heard_is_no_route_and_a_packet_prolongs_that_to_its_destination() {
    let mut bench = on_a_path(&ns2());
    assert_eq!((bench.next(2), bench.next(3), bench.next(7)), (None, None, Some(2)));
    // The reply that went back, and what it says of 9 and 8, are good for 10 s, as a packet is.
    bench.quietly_to(5_000);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Forward(Forward::to(hop(3))));
    bench.quietly_to(9_999);
    assert_eq!((bench.next(7), bench.next(8), bench.next(9)), (Some(2), Some(3), Some(3)));
    bench.quietly_to(14_999);
    assert_eq!((bench.next(7), bench.next(8), bench.next(9)), (None, None, Some(3)));
    bench.quietly_to(15_000);
    assert_eq!(bench.next(9), None);
}

#[test]
fn waits_grow_evenly_up_to_four_requests_through_the_network() {
    let mut bench = Bench::new(&ns2());
    bench.waits(5).says(["all 30: RREQ 1 1/1 for 5/0 hops 0 U"]);
    // 2 x 30 hops x 30 ms, and twice, three times and four times that.
    let said = bench.to(18_000);
    assert_eq!(
        said,
        [
            "1800 all 30: RREQ 2 1/2 for 5/0 hops 0 U",
            "5400 all 30: RREQ 3 1/3 for 5/0 hops 0 U",
            "10800 all 30: RREQ 4 1/4 for 5/0 hops 0 U",
            "18000 not found 5",
        ]
    );
    // It is left alone for MAX_RREQ_TIMEOUT.
    bench.waits(5).says([]);
    assert_eq!(bench.to(28_000), ["28000 all 30: RREQ 5 1/5 for 5/0 hops 0 U"]);
    assert_eq!(bench.to(29_800), ["29800 all 30: RREQ 6 1/6 for 5/0 hops 0 U"]);
    bench.hear(2, None, Repr::Reply(reply((5, 1), 1, OWN, 6000))).says(["found 5"]);
}

#[test]
fn what_nobody_wants_while_it_is_left_alone_is_forgotten() {
    let mut bench = Bench::new(&ns2());
    bench.waits(5).to(18_000);
    bench.quietly_to(60_000);
    bench.waits(5).says(["all 30: RREQ 5 1/5 for 5/0 hops 0 U"]);
}

#[test]
fn waits_are_as_long_as_the_last_replies_took() {
    let mut bench = Bench::new(&ns2());
    bench.waits(5).says(["all 30: RREQ 1 1/1 for 5/0 hops 0 U"]);
    bench.quietly_to(240).hear(3, None, Repr::Reply(reply((5, 2), 1, OWN, 6000))).says(["found 5"]);
    // 120 ms for each of two hops.
    assert_eq!(bench.data_dropped(3, OWN, 5), Verdict::Drop);
    bench.says(["purge 3", "all 1: RERR 5/3"]);
    bench.waits(5).says(["all 4: RREQ 2 1/2 for 5/3 hops 0"]);
    bench.quietly_to(240 + 2 * 4 * 120 - 1);
    assert_eq!(bench.to(240 + 2 * 4 * 120), ["1200 all 6: RREQ 3 1/3 for 5/3 hops 0"]);
    // 60 ms for each of three hops, since the last request; then a newer reply, which nobody waits for: 70 ms for each of four.
    bench.quietly_to(1_380).hear(3, None, Repr::Reply(reply((5, 4), 2, OWN, 6000))).says(["found 5"]);
    bench.quietly_to(1_480).hear(3, None, Repr::Reply(reply((5, 6), 3, OWN, 6000))).says([]);
    assert_eq!(bench.data_dropped(3, OWN, 5), Verdict::Drop);
    bench.said();
    // 250 / 3 ms a hop for a ring of six; other destinations have times of their own.
    bench.waits(5).says(["all 6: RREQ 4 1/4 for 5/7 hops 0"]);
    bench.waits(6).says(["all 30: RREQ 5 1/5 for 6/0 hops 0 U"]);
    bench.quietly_to(2_479);
    assert_eq!(bench.to(2_480), ["2479.999996 all 8: RREQ 6 1/6 for 5/7 hops 0"]);
    assert_eq!(bench.to(3_280), ["3280 all 30: RREQ 7 1/7 for 6/0 hops 0 U"]);
}

#[test]
fn a_ring_is_widened_while_the_one_before_is_small_enough() {
    for (hop_count, ttl) in [(4, 7), (5, 8), (6, 30)] {
        let mut bench = Bench::new(&ns2());
        bench.hear(3, None, Repr::Reply(reply((5, 2), hop_count, OWN, 6000))).says([]);
        assert_eq!(bench.data_dropped(3, OWN, 5), Verdict::Drop);
        bench.says(["purge 3", "all 1: RERR 5/3"]);
        let request = format!("all {ttl}: RREQ 1 1/1 for 5/3 hops 0");
        bench.waits(5).says([&request]);
    }
}

#[test]
fn a_repair_goes_on_as_a_search_does_and_tells_nobody() {
    let mut bench = on_a_path(&ns2());
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    bench.says(["all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    let said = bench.to(30_000);
    let radius = |line: &String| line.split([' ', ':']).nth(2).map(str::to_owned);
    let radii: Vec<_> = said[..said.len() - 1].iter().filter_map(radius).collect();
    assert_eq!(radii, ["6", "8", "30", "30", "30", "30"]);
    assert_eq!(said.last().map(String::as_str), Some("19080 not found 9"));
    // Held off until 29 080 ms; a packet that comes then waits for the next.
    let mut bench = on_a_path(&ns2());
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    bench.to(19_080);
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Wait);
    bench.says([]);
    assert_eq!(bench.to(29_080), ["29080 all 30: RREQ 8 1/8 for 9/21 hops 0"]);
    // A longer way is as good as the one before to all who send over it.
    bench.hear(4, None, Repr::Reply(reply((9, 22), 6, OWN, 6000))).says(["found 9"]);
}

#[test]
fn a_link_that_is_lost_ends_the_repair_of_what_was_over_it() {
    let mut bench = on_a_path(&ns2());
    assert_eq!(bench.dropped(3, passed_on(7, 9, 3)), Verdict::Wait);
    bench.says(["all 4: RREQ 1 1/1 for 9/21 hops 0"]);
    assert_eq!(bench.dropped(3, passed_on(7, 9, 1)), Verdict::Drop);
    bench.says(["purge 3", "all 1: RERR 9/21 8/6"]);
    // What waits is looked for on; what comes is not.
    assert_eq!(bench.packet(7, 9, Some(2)), Verdict::Drop);
    bench.says(["all 1: RERR 9/21"]);
    assert_eq!(bench.to(240), ["240 all 6: RREQ 2 1/2 for 9/21 hops 0"]);
    // The queue for the neighbour is emptied whenever a frame for it is given up.
    assert_eq!(bench.data_dropped(3, OWN, 8), Verdict::Drop);
    bench.says(["purge 3"]);
}

#[test]
fn each_reply_of_a_destination_is_newer_than_the_one_before() {
    let mut bench = Bench::new(&ns2());
    for (id, number) in [(1, 1), (2, 2)] {
        bench.hear(2, Some(1), Repr::Request(request((7, 3 + id), (OWN, None), 0, id)));
        let reply = format!("2 1: RREP 1/{number} for 7 hops 0 for 10000 ms");
        bench.says([&reply]);
    }
}
