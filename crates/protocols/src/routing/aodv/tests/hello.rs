//! Hellos and lost neighbours, at exact instants.

use hopcast_wire::aodv::{Extensions, ReplyRepr, Repr, hello_interval};

use super::super::{Config, LinkDetection, LocalRepair};
use super::bench::{Bench, OWN, at, data, hello, reply, request};
use super::exact;
use crate::routing::{Routing, Verdict};
use crate::time::Duration;

fn always() -> Config {
    Config { link_detection: LinkDetection::Hello, hello_always: true, local_repair: LocalRepair::Never, ..exact() }
}

/// The instants in milliseconds, rounded down, of the lines that end so.
fn instants(said: &[String], end: &str) -> Vec<u64> {
    let instant = |line: &String| line.split('.').next().and_then(|whole| whole.split(' ').next()?.parse().ok());
    said.iter().filter(|line| line.ends_with(end)).filter_map(instant).collect()
}

const HELLO: &str = "all 1: RREP 1/0 for 1 hops 0 for 2000 ms";

#[test]
fn section_6_9_a_hello_goes_out_each_interval() {
    let mut bench = Bench::new(&always());
    let said = bench.to(10_000);
    let hellos = instants(&said, HELLO);
    assert_eq!((said.len(), hellos.len()), (10, 10));
    assert!(hellos[0] < 1_000 && hellos.windows(2).all(|pair| pair[1] - pair[0] == 1_000), "{hellos:?}");
}

#[test]
fn section_6_9_a_hello_that_left_late_does_not_stand_for_the_next() {
    let mut bench = Bench::new(&always());
    let mut sent = 0;
    for late in [Duration::from_millis(1), Duration::ZERO].into_iter().cycle().take(10) {
        let due = bench.aodv.poll_timeout().expect("another hello is to come");
        assert!(due < at(10_000));
        bench.aodv.handle_timeout(due + late);
        sent += bench.said().len();
    }
    assert_eq!(sent, 10);
}

#[test]
fn section_6_9_no_hello_where_a_broadcast_has_shown_the_node() {
    let mut bench = Bench::new(&always());
    let first = instants(&bench.to(1_000), HELLO)[0];
    bench.to(first + 1_500);
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
    // Further rings follow 240, 640, 1200 and 1920 ms later, then one 4720 ms later, and the last wait takes 5.6 s.
    let hellos = instants(&bench.to(first + 6_001), "for 1 hops 0 for 2000 ms");
    assert_eq!(hellos, [first + 5_000, first + 6_000], "more than 1 s after {}", first + 1_500 + 1_920);
}

#[test]
fn hellos_that_nothing_suppresses_go_out_each_interval() {
    let mut bench = Bench::new(&Config { hello_suppression: false, ..always() });
    let first = instants(&bench.to(1_000), HELLO)[0];
    bench.to(first + 1_500);
    bench.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 U"]);
    let hellos = instants(&bench.to(first + 6_001), "for 1 hops 0 for 2000 ms");
    assert_eq!(hellos, [2_000, 3_000, 4_000, 5_000, 6_000].map(|later| first + later));
}

#[test]
fn section_6_9_only_a_node_on_an_active_route_sends_hellos() {
    let mut bench = Bench::new(&Config { hello_always: false, ..always() });
    bench.hear(2, Some(1), Repr::Request(request((7, 4), (9, None), 0, 1))).quietly_to(2_000);
    bench.hear(2, None, Repr::Reply(reply((9, 20), 1, OWN, 6000))).says([]);
    // For as long as the route that the reply brought.
    let said = bench.to(8_000);
    assert_eq!(said.len(), 6, "{said:?}");
    bench.quietly_to(20_000);
    bench.hear(2, None, Repr::Reply(reply((9, 21), 1, OWN, 1000))).forwards(9, 2);
    assert_eq!(bench.to(23_000).len(), 3, "or as its use makes it last");
    bench.quietly_to(40_000);
    bench.hear(2, Some(1), Repr::Request(request((7, 5), (OWN, None), 0, 2)));
    bench.says(["2 1: RREP 1/0 for 7 hops 0 for 6000 ms"]);
    assert_eq!(bench.to(46_000).len(), 6, "or as others were told");
    bench.quietly_to(60_000);
    let mut without = Bench::new(&exact());
    without.hear(2, None, Repr::Reply(reply((9, 20), 1, OWN, 6000))).quietly_to(20_000);
}

#[test]
fn section_6_9_a_silent_neighbour_is_lost_after_two_intervals() {
    let mut bench = Bench::new(&Config { hello_always: false, ..always() });
    bench.hear(3, Some(1), hello(3, 6));
    bench.hear(2, Some(1), Repr::Request(request((7, 4), (9, None), 0, 1)));
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, 7, 6000))).said();
    // Any sign of it will do: here a packet that it passes on.
    bench.to(1_500);
    assert!(matches!(bench.packet(9, 7, Some(3)), Verdict::Forward(_)));
    let said = bench.to(3_499);
    assert!(said.iter().all(|line| line.ends_with("for 2000 ms")), "{said:?}");
    assert_eq!(bench.next(9), Some(3));
    let said = bench.to(3_500);
    assert_eq!(said, ["3500 purge 3", "3500 2 1: RERR 3/7 9/21"]);
    assert_eq!((bench.next(9), bench.next(3), bench.next(2)), (None, None, Some(2)));
}

#[test]
fn section_6_9_a_packet_that_arrives_is_a_sign_of_life() {
    let mut bench = Bench::new(&Config { hello_always: false, ..always() });
    bench.hear(3, Some(1), hello(3, 6));
    bench.to(1_500);
    bench.aodv.handle_arrival(&data(9, OWN, Some(3)), bench.now());
    bench.to(3_499);
    assert_eq!(bench.next(3), Some(3));
    assert_eq!(bench.to(3_500), ["3500 purge 3"]);
}

#[test]
fn section_6_9_one_without_hellos_is_not_missed() {
    let mut bench = Bench::new(&Config { hello_always: false, ..always() });
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, OWN, 6000)));
    bench.to(5_999);
    assert_eq!(bench.next(9), Some(3));
    let mut link_layer = Bench::new(&exact());
    link_layer.hear(3, None, Repr::Reply(reply((9, 20), 1, OWN, 6000))).hear(3, Some(1), hello(3, 6));
    link_layer.quietly_to(5_999);
    assert_eq!(link_layer.next(9), Some(3), "one that does not listen for hellos misses none");
}

#[test]
fn section_6_9_a_hello_makes_a_route_with_its_number() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, Some(1), hello(3, 6));
    // For as long as the route is valid, it is told to others.
    bench.hear(2, Some(3), Repr::Request(request((7, 4), (3, None), 0, 1)));
    bench.says(["2 1: RREP 3/6 for 7 hops 1 for 3000 ms"]);
    bench.hear(4, None, Repr::Reply(reply((3, 8), 4, OWN, 6000)));
    assert_eq!(bench.next(3), Some(4), "a newer way");
    bench.hear(3, Some(1), hello(3, 8));
    assert_eq!(bench.next(3), Some(3), "and the neighbour is nearer");
}

#[test]
fn section_6_9_a_hello_is_of_its_sender_alone() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(1), Repr::Reply(reply((3, 6), 0, 3, 2000)));
    bench.hear(2, Some(1), Repr::Reply(reply((2, 6), 1, 2, 2000)));
    assert_eq!((bench.next(2), bench.next(3)), (None, None));
}

#[test]
fn section_9_1_the_interval_is_told_if_it_is_not_the_usual_one() {
    let mut bench = Bench::new(&Config { hello_interval: Duration::from_millis(500), ..always() });
    let said = bench.to(5_000);
    assert_eq!(instants(&said, "all 1: RREP 1/0 for 1 hops 0 for 1000 ms every 500").len(), 10);
}

#[test]
fn section_9_1_a_neighbour_is_missed_by_its_own_interval() {
    for (millis, lost) in [(500, 1_000), (4_000, 8_000), (u32::MAX, 15_000)] {
        let mut bench = Bench::new(&Config { hello_always: false, ..always() });
        let extension = hello_interval(millis);
        let extensions = Extensions::new_checked(&extension, 20).expect("it is whole");
        bench.hear(3, Some(1), Repr::Reply(ReplyRepr { extensions, ..reply((3, 6), 0, 3, 2000) }));
        bench.hear(3, None, Repr::Reply(reply((9, 20), 1, OWN, 12_000)));
        let at = instants(&bench.to(20_000), "purge 3");
        // The routes expire after 12 s; then nothing is lost with the neighbour.
        let expected: &[u64] = if lost < 12_000 { &[lost] } else { &[] };
        assert_eq!(at, expected);
        assert_eq!(bench.aodv.neighbours.len(), 0);
    }
}
