//! Discovery and forwarding, one message at a time.

use hopcast_wire::aodv::Repr;

use super::bench::{Bench, OWN, reply, request};
use super::exact;

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
}

#[test]
fn section_6_7_a_reply_makes_the_route_and_releases_what_waits() {
    let mut bench = Bench::new(&exact());
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
    bench.quietly_to(20).hear(2, None, Repr::Reply(reply((5, 9), 2, OWN, 6000))).says(["found 5"]);
    bench.forwards(5, 2).says([]);
    assert_eq!((bench.next(5), bench.next(2)), (Some(2), Some(2)));
}

#[test]
fn section_6_6_1_the_destination_replies_with_the_newer_of_both_numbers() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), Repr::Request(request((7, 4), (OWN, None), 1, 1)));
    bench.says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
    bench.hear(2, Some(3), Repr::Request(request((7, 5), (OWN, Some(1)), 1, 2)));
    bench.says(["2 1: RREP 1/1 for 7 hops 0 for 6000 ms"]);
}

#[test]
fn section_6_5_a_request_is_passed_on_one_hop_further() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), Repr::Request(request((7, 4), (9, None), 1, 1)));
    bench.says(["all 2: RREQ 1 7/4 for 9/0 hops 2 U"]);
    assert_eq!((bench.next(7), bench.next(2)), (Some(2), Some(2)));
    bench.hear(3, Some(1), Repr::Request(request((8, 4), (9, None), 0, 1))).says([]);
}
