//! No loop at any instant, whatever the links do.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::table::sequence::Sequence;
use super::super::table::{Route, State};
use super::super::{Aodv, Config, LinkDetection, LocalRepair};
use super::{exact, make};
use crate::routing::Routing;
use crate::routing::network::{Network, index};
use crate::time::Duration;

/// What happens in a network, and how long it is then left alone.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A link between these, counted round the nodes, comes or goes.
    Toggle(usize, usize),
    /// The same in one direction.
    ToggleOneWay(usize, usize),
    /// A packet is sent.
    Send(usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    let pair = || (0..8_usize, 1..8_usize);
    let step = prop_oneof![
        3 => pair().prop_map(|(from, by)| Step::Toggle(from, by)),
        1 => pair().prop_map(|(from, by)| Step::ToggleOneWay(from, by)),
        4 => pair().prop_map(|(from, by)| Step::Send(from, by)),
    ];
    // Before a message has arrived; while a discovery goes on; until routes expire; until they are forgotten.
    let wait = prop_oneof![4 => 0..3_u64, 4 => 0..100_u64, 3 => 0..4_000_u64, 1 => 0..20_000_u64];
    prop::collection::vec((step, wait), 1..60)
}

fn configs() -> impl Strategy<Value = Config> {
    let detection = prop_oneof![Just(LinkDetection::Hello), Just(LinkDetection::LinkLayer), Just(LinkDetection::Both)];
    let preset = prop_oneof![Just(Config::rfc3561()), Just(Config::ns2()), Just(Config::draft5()), Just(exact())];
    let repair = prop_oneof![Just(LocalRepair::Never), Just(LocalRepair::Near), Just(LocalRepair::NearerThanSource)];
    (preset, detection, repair, any::<[bool; 4]>()).prop_map(|(preset, link_detection, local_repair, flags)| {
        let [gratuitous_reply, destination_only, reply_acknowledgement, hello_always] = flags;
        Config {
            link_detection,
            local_repair,
            gratuitous_reply,
            destination_only,
            reply_acknowledgement,
            hello_always,
            ..preset
        }
    })
}

/// The rank of an entry: number, then nearness. A lost route, or one without a number, ranks directly below the least number
/// that it asks for.
fn rank(route: &Route) -> Option<(Sequence, u8)> {
    let sequence = route.sequence?;
    Some(match route.state {
        State::Numbered => (sequence, route.hops),
        State::Heard | State::Lost { .. } => (Sequence(sequence.0.wrapping_sub(1)), 0),
    })
}

/// No loop; and why there is none: each next hop ranks above who sends to it. And no number is ahead of its owner's next one, so
/// that what the owner says next is new to everybody.
fn assert_no_loop(network: &Network<Aodv>) {
    assert_eq!(network.find_loop(), None, "at {}", network.now);
    for (node, aodv) in network.nodes.iter().enumerate() {
        for (destination, route) in aodv.table.iter() {
            assert_ne!(destination, aodv.address, "nobody has a route to itself");
            let owner = network.nodes[index(destination)].sequence;
            let is_near = route.sequence.is_none_or(|known| owner.next().is_at_least(known));
            assert!(is_near, "at {node}: {:?} runs ahead of {owner:?}, {destination}'s own", route.sequence);
            if !route.is_valid() || route.hop.address == destination {
                continue;
            }
            let next = index(route.hop.address);
            let beyond = network.nodes[next].table.get(destination).and_then(rank);
            let (sequence, hops) = rank(route).expect("a route over others has a number");
            let is_above = beyond
                .is_some_and(|(theirs, left)| theirs.is_newer_than(sequence) || theirs == sequence && left < hops);
            let (now, to) = (network.now, index(destination));
            assert!(is_above, "at {now}: {node} to {to} over {next}: {sequence:?}, {hops} hops, but {beyond:?}");
        }
    }
}

/// Routes that differ have different versions.
#[derive(Default)]
struct Versions(BTreeMap<usize, (u64, Vec<crate::routing::Route>)>);

impl Versions {
    fn check(&mut self, network: &Network<Aodv>) {
        for (node, aodv) in network.nodes.iter().enumerate() {
            let Some(version) = aodv.routes_version(network.now) else { continue };
            let routes = aodv.routes(network.now);
            if let Some((before, known)) = self.0.get(&node).filter(|(before, _)| *before == version) {
                assert_eq!(*known, routes, "at {}: {node} has version {before} as before", network.now);
            }
            self.0.insert(node, (version, routes));
        }
    }
}

fn run(mut network: Network<Aodv>, steps: &[(Step, u64)]) {
    let mut versions = Versions::default();
    let count = network.nodes.len();
    for &(step, wait) in steps {
        let (Step::Toggle(from, by) | Step::ToggleOneWay(from, by) | Step::Send(from, by)) = step;
        let (from, to) = (from % count, (from + by) % count);
        if from != to {
            match step {
                Step::Toggle(..) if network.hears(from, to) => network.disconnect(from, to),
                Step::Toggle(..) => network.connect(from, to),
                Step::ToggleOneWay(..) if network.hears(from, to) => network.disconnect_one_way(from, to),
                Step::ToggleOneWay(..) => network.connect_one_way(from, to),
                Step::Send(..) => drop(network.send(from, to)),
            }
        }
        let end = network.now + Duration::from_millis(wait);
        network.run_until(end, |network| {
            assert_no_loop(network);
            versions.check(network);
        });
    }
}

fn network(count: usize, links: &[bool], seed: u64, config: &Config) -> Network<Aodv> {
    let mut network = Network::new(count, seed, make(config));
    let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.zip(links).filter(|(_, is_there)| **is_there).for_each(|((a, b), _)| network.connect(a, b));
    network
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn routes_are_free_of_loops_at_every_instant(
        count in 3..8_usize,
        links in prop::collection::vec(prop::bool::weighted(0.4), 28),
        seed: u64,
        config in configs(),
        steps in steps(),
    ) {
        run(network(count, &links, seed, &config), &steps);
    }

    #[test]
    fn routes_are_free_of_loops_when_messages_are_lost_and_overtake_each_other(
        count in 3..8_usize,
        links in prop::collection::vec(prop::bool::weighted(0.4), 28),
        seed: u64,
        config in configs(),
        steps in steps(),
        (loss, delay) in (0.0..0.4_f64, 0..500_u64),
    ) {
        let mut network = network(count, &links, seed, &config);
        network.disturb(seed, loss, Duration::from_millis(delay));
        run(network, &steps);
    }
}
