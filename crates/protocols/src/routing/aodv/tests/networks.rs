//! Whole networks.

use proptest::prelude::*;

use super::super::{Aodv, Config, LinkDetection, LocalRepair};
use super::{exact, line, make};
use crate::routing::Routing;
use crate::routing::network::{Fate, Network, address, hop_to};
use crate::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_line_discovers_forwards_breaks_and_repairs() {
    let mut network = line(5, &exact());
    assert_eq!(network.path(0, 4, SECOND), Some(vec![0, 1, 2, 3, 4]));
    assert_eq!(network.path(4, 0, SECOND), Some(vec![4, 3, 2, 1, 0]), "the way back is known");
    network.disconnect(2, 3);
    network.connect(2, 4);
    assert_eq!(network.path(0, 4, SECOND), Some(vec![0, 1, 2, 4]), "repaired on the way");
    assert_eq!(network.find_loop(), None);
}

#[test]
fn without_repair_the_source_learns_of_the_break_and_looks_again() {
    let mut network = line(5, &Config { local_repair: LocalRepair::Never, ..exact() });
    assert_eq!(network.path(0, 4, SECOND), Some(vec![0, 1, 2, 3, 4]));
    network.disconnect(2, 3);
    network.connect(1, 4);
    let lost = network.send(0, 4);
    network.run_for(SECOND);
    assert_eq!(*network.fate(lost), Fate::Dropped(2));
    assert_eq!(network.nodes[0].next_hop(address(4), network.now), None, "the error has arrived");
    assert_eq!(network.path(0, 4, SECOND), Some(vec![0, 1, 4]));
}

#[test]
fn a_partition_heals() {
    for config in [Config::rfc3561(), Config::ns2(), Config::draft5(), exact()] {
        let mut network = line(4, &config);
        assert!(network.path(0, 3, SECOND * 3).is_some());
        network.disconnect(1, 2);
        // The link is found broken, and in vain is a way round it looked for.
        let lost = network.send(0, 3);
        network.run_for(SECOND * 30);
        assert!(!matches!(network.fate(lost), Fate::Arrived(_)));
        let waiting = network.send(0, 3);
        network.run_for(SECOND * 30);
        assert!(!matches!(network.fate(waiting), Fate::Arrived(_)));
        network.connect(1, 2);
        assert_eq!(network.path(0, 3, SECOND * 15), Some(vec![0, 1, 2, 3]), "{config:?}");
        assert_eq!(network.path(3, 0, SECOND), Some(vec![3, 2, 1, 0]));
    }
}

#[test]
fn hellos_alone_find_a_broken_link() {
    let mut network = line(4, &Config::draft5());
    network.run_for(SECOND * 2);
    assert!(network.path(0, 3, SECOND).is_some());
    network.disconnect(2, 3);
    network.run_for(SECOND * 2);
    assert_eq!(network.nodes[2].next_hop(address(3), network.now), None);
    network.run_for(Duration::from_millis(20));
    assert_eq!(network.nodes[0].next_hop(address(3), network.now), None, "the errors have come up to the source");
}

#[test]
fn a_route_lasts_as_long_with_hellos_as_without() {
    for link_detection in [LinkDetection::Hello, LinkDetection::LinkLayer, LinkDetection::Both] {
        let mut network = line(4, &Config { link_detection, ..Config::rfc3561() });
        assert!(network.path(0, 3, SECOND).is_some());
        // MY_ROUTE_TIMEOUT is 6 s.
        network.run_for(Duration::from_millis(4_990));
        assert_eq!(network.trace(0, 3), [0, 1, 2, 3], "{link_detection:?}");
        network.run_for(SECOND);
        assert_eq!(network.trace(0, 3), [0], "{link_detection:?}");
    }
}

#[test]
fn a_link_with_one_direction_is_avoided_at_the_second_attempt() {
    // 2 hears 0 directly, but 0 does not hear 2: the first reply is lost.
    for reply_acknowledgement in [false, true] {
        let link_detection = if reply_acknowledgement { LinkDetection::Hello } else { LinkDetection::LinkLayer };
        let config = Config { reply_acknowledgement, link_detection, hello_always: false, ..exact() };
        let mut network = line(3, &config);
        network.connect_one_way(0, 2);
        let path = network.path(0, 2, SECOND * 2);
        assert_eq!(path, Some(vec![0, 1, 2]));
    }
}

#[test]
fn a_rebooted_node_makes_no_loop_and_comes_back() {
    let config = exact();
    let mut network = line(4, &config);
    assert!(network.path(0, 3, SECOND).is_some());
    let node = crate::routing::Node {
        address: address(1),
        interfaces: 1,
        random: crate::random::Stream::new(9, crate::random::Purpose::Routing, 1, 0),
    };
    network.nodes[1] = Aodv::after_reboot(config, node, network.now);
    for _ in 0..14 {
        let lost = network.send(0, 3);
        network.run_until(network.now + SECOND, |network| assert_eq!(network.find_loop(), None));
        assert!(!matches!(network.fate(lost), Fate::Arrived(_)));
    }
    network.run_for(SECOND * 16);
    assert_eq!(network.path(0, 3, SECOND * 3), Some(vec![0, 1, 2, 3]));
}

#[test]
fn all_nodes_that_have_no_work_are_silent() {
    let mut network = line(4, &Config::rfc3561());
    assert!(network.path(0, 3, SECOND).is_some());
    network.run_for(SECOND * 30);
    let sent: usize = network.sent.iter().map(Vec::len).sum();
    network.run_for(SECOND * 3600);
    assert_eq!(network.sent.iter().map(Vec::len).sum::<usize>(), sent);
    assert!(network.nodes.iter().all(|node| node.poll_timeout().is_none() && node.table.iter().count() == 0));
}

/// A connected network: each node but the first has a link to one before it, and there are others.
fn connected() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let tree = prop::collection::vec(any::<prop::sample::Index>(), 2..10);
    let others = prop::collection::vec((0..10_usize, 0..10_usize), 0..12);
    (tree, others).prop_map(|(tree, others)| {
        let count = tree.len() + 1;
        let links = tree.iter().enumerate().map(|(before, parent)| (before + 1, parent.index(before + 1)));
        let others = others.into_iter().map(|(a, b)| (a % count, b % count)).filter(|(a, b)| a != b);
        links.chain(others).collect()
    })
}

fn network(links: &[(usize, usize)], config: &Config, seed: u64) -> Network<Aodv> {
    let count = links.iter().map(|&(a, b)| a.max(b) + 1).max().unwrap_or(1);
    let mut network = Network::new(count, seed, make(config));
    links.iter().for_each(|&(a, b)| network.connect(a, b));
    network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Without jitter the first copy of a request has come the shortest way.
    #[test]
    fn a_route_from_nothing_is_a_shortest_path(links in connected(), from in 0..10_usize, by in 0..10_usize) {
        let mut network = network(&links, &exact(), 1);
        let count = network.nodes.len();
        let from = from % count;
        let to = (from + 1 + by % (count - 1)) % count;
        let path = network.path(from, to, SECOND * 4).expect("the network is connected");
        prop_assert_eq!(Some(path.len() - 1), network.distance(from, to));
        prop_assert_eq!(network.trace(from, to), path.clone());
        let back: Vec<_> = path.into_iter().rev().collect();
        prop_assert_eq!(network.path(to, from, SECOND), Some(back));
    }

    /// All nodes send to all others at once; all packets arrive, if the network is at rest. Routes are not always the
    /// shortest: a node keeps the first, and answers with it.
    #[test]
    fn in_a_connected_network_everything_arrives(links in connected(), seed: u64, with_jitter: bool) {
        let config = Config { rreq_ratelimit: None, ..if with_jitter { Config::rfc3561() } else { exact() } };
        let mut network = network(&links, &config, seed);
        let count = network.nodes.len();
        let pairs: Vec<_> = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
        let sent: Vec<_> = pairs.iter().map(|&(a, b)| network.send(a, b)).collect();
        network.run_until(network.now + SECOND * 12, |network| assert_eq!(network.find_loop(), None));
        for (number, (a, b)) in sent.into_iter().zip(pairs) {
            let Fate::Arrived(path) = network.fate(number) else { panic!("{a} to {b}: {:?}", network.fate(number)) };
            prop_assert!(path.windows(2).all(|pair| network.hears(pair[0], pair[1])));
            prop_assert!(Some(path.len() - 1) >= network.distance(a, b));
        }
    }

    /// Whatever has happened to the links: once they rest and the network is connected, nodes that keep sending get
    /// through.
    #[test]
    fn traffic_gets_through_again_once_links_rest(
        links in connected(),
        breaks in prop::collection::vec((any::<prop::sample::Index>(), 0..3_000_u64), 1..12),
        seed: u64,
        preset in prop_oneof![Just(Config::rfc3561()), Just(Config::ns2()), Just(Config::draft5())],
    ) {
        let mut network = network(&links, &preset, seed);
        let last = network.nodes.len() - 1;
        for (link, wait) in breaks {
            let (a, b) = links[link.index(links.len())];
            network.send(0, last);
            network.send(last, 0);
            if network.hears(a, b) { network.disconnect(a, b) } else { network.connect(a, b) }
            network.run_until(network.now + Duration::from_millis(wait), |network| assert_eq!(network.find_loop(), None));
        }
        links.iter().for_each(|&(a, b)| network.connect(a, b));
        // At the worst a discovery has just begun its last wait, or is held off for 10 s.
        for _ in 0..30 {
            network.send(0, last);
            network.run_for(SECOND);
        }
        // A packet may be lost on a way that has expired in the middle, which is found out by it.
        let mut gets_through = |from, to| (0..3).any(|_| network.path(from, to, SECOND * 2).is_some());
        prop_assert!(gets_through(0, last) && gets_through(last, 0));
    }
}

#[test]
fn the_next_hop_is_told_without_changing_anything() {
    let mut network = line(3, &exact());
    assert!(network.path(0, 2, SECOND).is_some());
    assert_eq!(network.nodes[0].next_hop(address(2), network.now), Some(hop_to(1)));
    assert_eq!(network.nodes[0].next_hop(address(2), network.now + SECOND * 6), None, "it will have expired");
}
