//! Bytes of others: no panic, and no memory without a bound.

use super::*;
use crate::routing::olsr::Hysteresis;
use crate::routing::olsr::messages::duplicates::MAX_ORIGINATORS;
use crate::routing::olsr::messages::outbox::MAX_WAITING;
use crate::routing::olsr::neighbours::{MAX_LINKS, MAX_TWO_HOPS};
use crate::routing::olsr::table::interfaces::MAX_INTERFACES;
use crate::routing::olsr::table::topology::MAX_TUPLES;

/// Feeds a node with bytes; the most links, 2-hop tuples, topology tuples and interface addresses that it ever knew.
fn feed(config: Config, rounds: u32) -> [usize; 4] {
    let mut bench = Bench::new(config);
    let mut random = Stream::new(7, Purpose::Routing, 0, 0);
    let mut most = [0; 4];
    for round in 0..rounds {
        let from = 1 + random.below(1500) as usize;
        let mut octets = if round.is_multiple_of(8) {
            (0..random.below(100)).map(|_| random.next_u64() as u8).collect()
        } else {
            message_octets(from, round, &mut random)
        };
        if round % 3 == 1 && !octets.is_empty() {
            let at = random.below(octets.len() as u32) as usize;
            octets[at] ^= 1 << random.below(8);
        }
        bench.hear_octets(to(from), &octets);
        assert_eq!(bench.outputs(), [], "nothing is answered at once");
        if random.below(400) == 0 {
            let event = LinkEvent::FrameDropped { hop: to(1 + random.below(1500) as usize), packet: data(address(9)) };
            bench.node.handle_link_event(&event, bench.now);
            bench.next_hop(random.below(60_000) as usize);
            bench.after(MS * u64::from(random.below(160)));
        }
        if round.is_multiple_of(64) {
            let node = &bench.node;
            let (links, two_hops) = node.neighbourhood.len();
            let now = [links, two_hops, node.topology.len(), node.interfaces.len()];
            most = core::array::from_fn(|nth| most[nth].max(now[nth]));
            assert!(node.duplicates.len() <= MAX_ORIGINATORS && node.outbox.len() <= MAX_WAITING);
        }
    }
    most
}

/// A packet with one message of each kind.
fn message_octets(from: usize, round: u32, random: &mut Stream) -> Vec<u8> {
    let mut nodes =
        |most: u32| -> Vec<usize> { (0..random.below(most)).map(|_| random.below(60_000) as usize).collect() };
    let (few, many) = (nodes(50), nodes(100));
    let originator = if round.is_multiple_of(4) { random.below(60_000) as usize } else { from };
    let mut links = vec![(if round.is_multiple_of(3) { RELAY } else { SYMMETRIC }, 0)];
    links.extend(few.iter().map(|&node| (SYMMETRIC, node)));
    let messages = [
        (MessageType::Hello, from, hello_body(random.below(9) as u8, &links)),
        (MessageType::Tc, originator, tc_body(random.below(5) as u16, &many)),
        (MessageType::Mid, originator, many.iter().flat_map(|&node| address(node).octets()).collect()),
        (MessageType::Unknown(random.below(256) as u8), originator, few.iter().map(|&node| node as u8).collect()),
    ];
    let headed = |(kind, originator, body): (MessageType, usize, Vec<u8>)| {
        (header(kind, originator, random.next_u64() as u16 % 100, &body), body)
    };
    packet_octets(round as u16, &messages.map(headed))
}

#[test]
fn arbitrary_and_mutated_octets_neither_panic_nor_fill_the_memory() {
    let most = feed(Config::default(), 12_000);
    assert_eq!(most, [MAX_LINKS, MAX_TWO_HOPS, MAX_TUPLES, MAX_INTERFACES], "the bounds were reached, and held");
    feed(Config { hysteresis: Some(Hysteresis::default()), ..Config::default() }, 2_000);
}
