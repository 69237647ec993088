//! Random topologies, motion and traffic. [`Checked`] looks for loops in each source route.

use proptest::prelude::*;

use super::*;

const ADAPTIVE: Cache = Cache::Link { capacity: 1024, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) };
const FIXED: Cache = Cache::Link { capacity: 1024, lifetime: Lifetime::Fixed(Config::ROUTE_CACHE_TIMEOUT) };
const PATH: Cache = Cache::Path { primary: 30, secondary: 64, timeout: Some(Config::ROUTE_CACHE_TIMEOUT) };
/// The most nodes of a network where every route has to fit a small cache.
const MOST_NODES: usize = 8;
/// Both directions of each link of a route through all of them, and no more: what does not fit a cache, RFC 4728, 4.1 lets it discard.
const SMALL_LINK: Cache =
    Cache::Link { capacity: 2 * (MOST_NODES - 1), lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) };
const SMALL_PATH: Cache = Cache::Path { primary: 2, secondary: 3, timeout: None };

fn configs() -> impl Strategy<Value = Config> {
    let cache = prop::sample::select(vec![ADAPTIVE, FIXED, PATH, SMALL_LINK, SMALL_PATH]);
    let how =
        prop::sample::select(vec![Acknowledgement::LinkLayer, Acknowledgement::Passive, Acknowledgement::NetworkLayer]);
    (cache, how, any::<bool>(), any::<bool>()).prop_map(|(cache, how, promiscuous, is_ns_2)| Config {
        cache,
        acknowledgement: how,
        promiscuous: promiscuous || how == Acknowledgement::Passive,
        // These packets are further apart than ns-2 remembers errors: a node that is never told of one offers the same broken route
        // again and again.
        route_error_hold: None,
        ..if is_ns_2 { Config::NS_2 } else { Config::RFC_4728 }
    })
}

/// An event in the network, after this number of milliseconds.
#[derive(Clone, Debug)]
enum Change {
    Connect(usize, usize),
    ConnectOneWay(usize, usize),
    Disconnect(usize, usize),
    Send(usize, usize),
}

fn changes(nodes: usize, one_way: bool) -> impl Strategy<Value = Vec<(u64, Change)>> {
    let pair = (0..nodes, 1..nodes).prop_map(move |(a, step)| (a, (a + step) % nodes));
    let change = (0..10_u8, pair).prop_map(move |(kind, (a, b))| match kind {
        0 | 1 => Change::Connect(a, b),
        2 if one_way => Change::ConnectOneWay(a, b),
        2 | 3 => Change::Disconnect(a, b),
        _ => Change::Send(a, b),
    });
    prop::collection::vec((prop_oneof![Just(0_u64), 0_u64..30, 0_u64..3000], change), 1..60)
}

fn links(nodes: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..nodes, 1..nodes).prop_map(move |(a, step)| (a, (a + step) % nodes)), 0..3 * nodes)
}

fn network_of(nodes: usize, seed: u64, config: Config, links: &[(usize, usize)]) -> Network<Checked> {
    let mut network = Network::new(nodes, seed, Checked::new(config));
    links.iter().for_each(|&(a, b)| network.connect(a, b));
    network
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Source routes never contain a loop, whatever moves and breaks; each packet arrives at its destination or is accounted
    /// for; nothing goes on for ever.
    #[test]
    fn no_source_route_has_a_loop(
        (nodes, links, changes) in (3..=MOST_NODES).prop_flat_map(|n| (Just(n), links(n), changes(n, true))),
        config in configs(),
        seed in any::<u64>(),
    ) {
        let mut network = network_of(nodes, seed, config, &links);
        let mut packets = Vec::new();
        for (wait, change) in changes {
            network.run_for(Duration::from_millis(wait));
            match change {
                Change::Connect(a, b) => network.connect(a, b),
                Change::ConnectOneWay(a, b) => network.connect_one_way(a, b),
                Change::Disconnect(a, b) => network.disconnect(a, b),
                Change::Send(a, b) => packets.push((b, network.send(a, b))),
            }
        }
        // Under ns-2's rules what fails waits for a route up to the timeout, as often as it may be salvaged, and so does the error about it.
        let Config { max_salvage_count, send_buffer_timeout, .. } = config;
        network.run_for(send_buffer_timeout * (2 * (u64::from(max_salvage_count) + 1)));
        for (to, number) in packets {
            if let Fate::Arrived(path) = network.fate(number) {
                prop_assert_eq!(path.last(), Some(&to));
                prop_assert!(path.len() - 1 <= TTL.into(), "{} hops", path.len() - 1);
            }
        }
        let timer = network.nodes.iter().find_map(Routing::poll_timeout);
        prop_assert_eq!(timer, None, "nobody sends: nothing is due any more");
    }

    /// At rest, a fresh discovery without caches in between gives the shortest route: all requests arrive, and each hop takes
    /// the same time. Nodes that answer from their caches, or a request over a longer path that jitter let come first, may give
    /// a longer one; so this is without either.
    #[test]
    fn a_route_found_at_rest_is_the_shortest(
        (nodes, links) in (2_usize..10).prop_flat_map(|n| (Just(n), links(n))),
        cache in prop::sample::select(vec![ADAPTIVE, FIXED, PATH]),
        seed in any::<u64>(),
    ) {
        let config = Config { cache, ..EXACT };
        let mut network = network_of(nodes, seed, config, &links);
        let path = network.path(0, nodes - 1, Duration::from_secs(5));
        let distance = network.distance(0, nodes - 1);
        prop_assert_eq!(path.map(|path| path.len() - 1), distance);
    }

    /// With caches in use, whatever route there is leads there at rest, and is no shorter than can be.
    #[test]
    fn every_pair_is_connected_at_rest(
        (nodes, links) in (2..=MOST_NODES).prop_flat_map(|n| (Just(n), links(n))),
        config in configs(),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
        seed in any::<u64>(),
    ) {
        let mut network = network_of(nodes, seed, config, &links);
        for (from, to) in pairs {
            let (from, to) = (from.index(nodes), to.index(nodes));
            if from == to {
                continue;
            }
            let path = network.path(from, to, Duration::from_secs(3));
            let distance = network.distance(from, to);
            prop_assert_eq!(path.is_some(), distance.is_some(), "{} to {}: {:?}", from, to, path);
            if let (Some(path), Some(distance)) = (path, distance) {
                prop_assert!(path.len() > distance);
                prop_assert!(!has_duplicates(&path.iter().map(|&node| address(node)).collect::<Vec<_>>()));
            }
        }
    }

    /// A network that was torn apart serves packets again once it is whole.
    #[test]
    fn a_network_recovers(
        (nodes, links, changes) in (3..MOST_NODES).prop_flat_map(|n| (Just(n), links(n), changes(n, false))),
        config in configs(),
        seed in any::<u64>(),
    ) {
        let mut network = network_of(nodes, seed, config, &links);
        for (wait, change) in changes {
            network.run_for(Duration::from_millis(wait));
            match change {
                Change::Connect(a, b) | Change::ConnectOneWay(a, b) => network.connect(a, b),
                Change::Disconnect(a, b) => network.disconnect(a, b),
                Change::Send(a, b) => drop(network.send(a, b)),
            }
        }
        // Blacklists are forgotten, and searches go on at their slowest.
        network.run_for(Duration::from_secs(40));
        for from in 0..nodes {
            let to = (from + 1) % nodes;
            // Packets that meet broken links teach the nodes where they are.
            let found = (0..20).any(|_| network.path(from, to, Duration::from_secs(12)).is_some());
            prop_assert_eq!(found, network.distance(from, to).is_some(), "{} to {}", from, to);
        }
    }
}
