//! What other implementations got wrong.

use hopcast_wire::aodv::{Repr, RequestFlags, RequestRepr};

use super::super::{Config, LocalRepair};
use super::bench::{Bench, OWN, reply, request};
use super::{exact, line};
use crate::time::Duration;

/// inet-framework/inet#293: requests were known again by their number alone.
#[test]
fn a_request_with_the_number_of_another_originator_is_new() {
    let mut bench = Bench::new(&exact());
    bench.hear(2, Some(3), Repr::Request(request((7, 4), (9, None), 1, 1)));
    bench.says(["all 2: RREQ 1 7/4 for 9/0 hops 2 U"]);
    bench.hear(2, Some(3), Repr::Request(request((8, 4), (9, None), 1, 1)));
    bench.says(["all 2: RREQ 1 8/4 for 9/0 hops 2 U"]);
}

/// inet-framework/inet#307: intermediate nodes answered in spite of the D flag.
#[test]
fn a_request_for_the_destination_alone_is_not_answered_by_others() {
    let mut bench = Bench::new(&exact());
    bench.hear(3, None, Repr::Reply(reply((9, 20), 1, OWN, 6000)));
    let asked = request((7, 4), (9, Some(5)), 1, 1);
    let flags = asked.flags | RequestFlags::DESTINATION_ONLY;
    bench.hear(2, Some(3), Repr::Request(RequestRepr { flags, ..asked }));
    bench.says(["all 2: RREQ 1 7/4 for 9/20 hops 2 D"]);
    let mut asking = Bench::new(&Config { destination_only: true, ..exact() });
    asking.waits(5).says(["all 1: RREQ 1 1/1 for 5/0 hops 0 DU"]);
}

/// inet-framework/inet#207: each packet for an unknown destination started a separate discovery.
#[test]
fn many_packets_for_one_unreachable_destination_give_one_discovery() {
    let mut bench = Bench::new(&exact());
    let mut said = Vec::new();
    for now in (0..10_320).step_by(10) {
        said.extend(bench.to(now));
        bench.waits(5);
        said.extend(bench.said());
    }
    said.extend(bench.to(10_320));
    assert_eq!(said.iter().filter(|line| line.contains("RREQ")).count(), 6, "{said:?}");
    assert_eq!(said.last().map(String::as_str), Some("10320 not found 5"));
    let mut network = line(5, &exact());
    for _ in 0..100 {
        network.send(0, 4);
    }
    network.run_for(Duration::from_secs(1));
    // One in each ring of 1, 3 and 5 hops; 4 hops are enough.
    assert_eq!(network.sent[0].len(), 3);
}

/// ns-3: defaults stood in two places, and times derived from them were literals.
#[test]
fn derived_times_follow_the_free_ones() {
    let millis = Duration::from_millis;
    let rfc = Config::rfc3561();
    assert_eq!(rfc, Config::default());
    assert_eq!(rfc.net_traversal_time(), millis(2_800));
    assert_eq!(rfc.path_discovery_time(), millis(5_600));
    assert_eq!(rfc.my_route_timeout(), millis(6_000));
    assert_eq!(rfc.delete_period(), millis(15_000));
    assert_eq!(rfc.next_hop_wait(), millis(50));
    assert_eq!(rfc.ring_traversal_time(1), millis(240));
    assert_eq!(rfc.blacklist_timeout(), millis(16_800));
    assert_eq!(rfc.reverse_route_lifetime(3), millis(5_360));
    assert_eq!(rfc.max_repair_ttl(), 10);
    let slow = Config { node_traversal_time: millis(100), ..rfc };
    assert_eq!(slow.net_traversal_time(), millis(7_000));
    assert_eq!(slow.path_discovery_time(), millis(14_000));
    assert_eq!(slow.next_hop_wait(), millis(110));
    assert_eq!(slow.ring_traversal_time(1), millis(600));
    assert_eq!(slow.blacklist_timeout(), millis(42_000));
    assert_eq!(slow.reverse_route_lifetime(3), millis(13_400));
    // The memory of lost routes is at least as long as a route can live.
    assert_eq!(slow.delete_period(), millis(28_000));
    let long = Config { active_route_timeout: millis(10_000), ..slow };
    assert_eq!((long.my_route_timeout(), long.delete_period()), (millis(20_000), millis(50_000)));
    let mut bench = Bench::new(&Config { node_traversal_time: millis(100), ..exact() });
    bench.waits(5).said();
    assert_eq!(bench.to(600), ["600 all 3: RREQ 2 1/2 for 5/0 hops 0 U"]);
}

/// The presets say what their sources say.
#[test]
fn presets_differ_from_the_rfc_where_their_sources_do() {
    let (ns2, draft) = (Config::ns2(), Config::draft5());
    assert_eq!(
        (ns2.active_route_timeout, ns2.net_traversal_time()),
        (Duration::from_secs(10), Duration::from_millis(1_800))
    );
    assert_eq!((ns2.ttl_start, ns2.rreq_retries, ns2.allowed_hello_loss), (30, 3, 3));
    assert_eq!(ns2.ring_traversal_time(5), Duration::from_millis(300));
    assert_eq!((ns2.my_route_timeout(), ns2.path_discovery_time()), (Duration::from_secs(10), Duration::from_secs(6)));
    assert_eq!((ns2.reverse_route_lifetime(3), ns2.delete_period()), (Duration::from_secs(6), Duration::from_secs(50)));
    assert_eq!(draft.hello_interval * u64::from(draft.allowed_hello_loss), Duration::from_secs(2));
    assert!(draft.hello_always && draft.local_repair == LocalRepair::Never && !draft.link_detection.uses_link_layer());
    assert!(ns2.local_repair == LocalRepair::NearerThanSource && !ns2.link_detection.uses_hello());
}
