//! Networks of machines.

use proptest::prelude::*;

use super::*;
use crate::routing::network::{Fate, HOP, Network};
use crate::routing::olsr::Hysteresis;

fn line(count: usize, seed: u64) -> Network<Olsr> {
    Network::line(count, seed, |node| Olsr::new(Config::default(), node))
}

fn grid(side: usize, seed: u64, config: Config) -> Network<Olsr> {
    let mut network = Network::new(side * side, seed, |node| Olsr::new(config, node));
    for at in 0..side * side {
        if at % side > 0 {
            network.connect(at - 1, at);
        }
        if at >= side {
            network.connect(at - side, at);
        }
    }
    network
}

/// The first way that isn't a shortest one.
fn longer_way(network: &Network<Olsr>) -> Option<(Vec<usize>, Option<usize>)> {
    let count = network.nodes.len();
    let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
    pairs.into_iter().find_map(|(from, to)| {
        let way = network.trace(from, to);
        let hops = (way.last() == Some(&to)).then_some(way.len() - 1);
        let distance = network.distance(from, to);
        (hops != distance).then_some((way, distance))
    })
}

/// Until links are symmetric, relays selected, and TC messages everywhere: three HELLO intervals, a TC interval, and a jitter at
/// each hop.
fn settle(network: &mut Network<Olsr>) {
    let hops = network.nodes.len() as u64;
    network.run_for(SECOND * 6 + SECOND * 5 + MS * 500 * hops);
}

#[test]
fn a_string_of_eight_has_all_routes_when_it_should() {
    for seed in 0..10 {
        let mut network = line(8, seed);
        settle(&mut network);
        assert_eq!(longer_way(&network), None, "seed {seed}");
        assert_eq!(network.path(0, 7, SECOND), Some((0..8).collect()));
    }
}

#[test]
fn relays_pass_on_less_than_everybody_would() {
    const SIDE: usize = 5;
    let mut network = Network::new(SIDE * SIDE, 3, |node| Olsr::new(Config::default(), node));
    for a in 0..SIDE * SIDE {
        for b in 0..a {
            let apart = (a % SIDE).abs_diff(b % SIDE).max((a / SIDE).abs_diff(b / SIDE));
            if apart <= 2 {
                network.connect(a, b);
            }
        }
    }
    network.run_for(SECOND * 60);
    assert_eq!(longer_way(&network), None);
    let since = network.now;
    network.run_for(SECOND * 50);
    let recent = network.sent.iter().flatten().filter(|(at, _)| *at > since);
    let packets: Vec<_> = recent.map(|(_, message)| olsr::Packet::new_checked(&message.octets[..]).unwrap()).collect();
    let headers = packets.iter().flat_map(olsr::Packet::messages).map(|message| message.unwrap().header());
    let tcs: Vec<_> = headers.filter(|header| header.kind == MessageType::Tc).collect();
    let made = tcs.iter().filter(|header| header.hop_count == 0).count();
    assert!(made > 0);
    // Flooding would have each message sent by each of 25 nodes.
    assert!(tcs.len() < made * SIDE * SIDE / 3, "{} transmissions of {made} messages", tcs.len());
}

#[test]
fn a_partition_heals() {
    let mut network = line(6, 5);
    settle(&mut network);
    network.disconnect(2, 3);
    // 6 s until the link is lost, 15 s until the topology behind it is.
    network.run_for(SECOND * 22);
    for (from, to) in [(0, 3), (0, 5), (2, 3), (3, 2), (5, 0)] {
        assert_eq!(network.nodes[from].next_hop(address(to), network.now), None, "{from} to {to}");
    }
    assert_eq!(network.trace(0, 2), [0, 1, 2]);
    network.run_for(SECOND * 300);
    network.connect(2, 3);
    settle(&mut network);
    assert_eq!(longer_way(&network), None);
}

#[test]
fn a_frame_given_up_turns_packets_to_another_way_at_once() {
    let config = Config { link_layer_notification: true, ..Config::default() };
    let mut network = grid(3, 2, config);
    settle(&mut network);
    let way = network.trace(0, 8);
    network.disconnect(way[0], way[1]);
    let number = network.send(0, 8);
    network.run_for(HOP * 6);
    let Fate::Arrived(path) = network.fate(number) else { panic!("{:?}", network.fate(number)) };
    assert_ne!(path[1], way[1]);
}

#[test]
fn hysteresis_converges_too() {
    let config = Config { hysteresis: Some(Hysteresis::default()), ..Config::default() };
    let mut network = Network::line(6, 9, |node| Olsr::new(config, node));
    network.run_for(SECOND * 6);
    settle(&mut network);
    assert_eq!(longer_way(&network), None);
    for _ in 0..120 {
        network.run_for(MS * 500);
        assert_eq!(longer_way(&network), None, "and stays so");
    }
}

fn links(count: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..count, 0..count), count - 1..3 * count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn at_rest_every_way_is_a_shortest_one_and_relays_reach_all(
        before in links(10),
        after in links(10),
        one_way in links(10),
        redundancy in 0_u8..3,
        coverage in 1_u32..3,
        seed in any::<u64>(),
    ) {
        let config = Config { tc_redundancy: redundancy, mpr_coverage: coverage, ..Config::default() };
        let mut network = Network::new(10, seed, |node| Olsr::new(config, node));
        for (links, is_second) in [(before, false), (after, true)] {
            for (a, b) in (0..10).flat_map(|a| (0..10).map(move |b| (a, b))) {
                network.disconnect(a, b);
            }
            links.into_iter().filter(|(a, b)| a != b).for_each(|(a, b)| network.connect(a, b));
            one_way.iter().filter(|(a, b)| a != b).for_each(|&(a, b)| network.connect_one_way(a, b));
            if is_second {
                // What was known before has to pass.
                network.run_for(SECOND * 21);
            }
            settle(&mut network);
            // At rest is at rest: for longer than anything holds.
            for _ in 0..40 {
                network.run_for(MS * 500);
                prop_assert_eq!(longer_way(&network), None, "at {}", network.now);
            }
            for node in 0..10 {
                let relays: Vec<_> = network.nodes[node].neighbourhood.relays().iter().map(|&relay| index(relay)).collect();
                for far in (0..10).filter(|&far| network.distance(node, far) == Some(2)) {
                    let leads = |&near: &usize| network.distance(node, near) == Some(1) && network.distance(near, far) == Some(1);
                    let covering = relays.iter().copied().filter(leads).count();
                    let leading = (0..10).filter(leads).count();
                    prop_assert!(covering >= leading.min(coverage as usize), "{} over {:?} to {}", node, relays, far);
                }
            }
        }
    }
}
