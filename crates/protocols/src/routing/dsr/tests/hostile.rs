//! Bytes of anybody, through every door of a running machine: it never panics, and does not grow beyond a bound.

use proptest::prelude::*;

use super::super::forwarding::learning::RECENT;
use super::super::table::MAX_HOPS;
use super::bench::*;
use super::*;
use crate::random::{Purpose, Stream};
use crate::routing::ROUTE_QUEUE_PACKETS;
use crate::routing::network::hop_to;

/// How many addresses, timers and entries the machine stores.
fn size(dsr: &Dsr) -> usize {
    let replies: usize = dsr.cached_replies.values().map(super::super::messages::route_reply::CachedReply::size).sum();
    dsr.cache.size()
        + dsr.recent.size()
        + dsr.requests.size()
        + dsr.searching.len()
        + replies
        + dsr.held_requests.len()
        + dsr.gratuitous.len()
        + dsr.blacklist.found.len()
        + dsr.maintenance.size()
        + dsr.last_break.as_ref().map_or(0, super::super::maintenance::Break::size)
        + dsr.failures.len()
        + dsr.parked.size()
        + dsr.heard_over.len()
        + dsr.schedule.len()
        + dsr.outputs.len()
}

/// The bound on it, after the outputs have been taken out: what `docs/models/dsr.md` says.
fn bound(config: &Config) -> usize {
    let cache = match config.cache {
        Cache::Path { primary, secondary, .. } => (primary + secondary) * MAX_HOPS,
        Cache::Link { capacity, .. } => 3 * capacity,
    };
    let (table, ids) = (config.request_table_size, config.request_table_ids);
    let recent = RECENT * (MAX_HOPS + 2);
    // Targets, their requests and their timers; replies; held requests; the other tables; delayed messages; packets.
    let requests = 3 * table + table * ids;
    let replies = table * (2 * MAX_HOPS + 1);
    let parked_and_failures = 2 * ROUTE_QUEUE_PACKETS as usize;
    cache
        + recent
        + requests
        + replies
        + parked_and_failures
        + 2 * table
        + 5 * table
        + table * ids
        + 3 * config.rexmt_buffer_size
}

fn small(cache: Cache, acknowledgement: Acknowledgement, rules: Rules) -> Config {
    Config {
        cache,
        rules,
        acknowledgement,
        request_table_size: 4,
        request_table_ids: 2,
        rexmt_buffer_size: 3,
        blacklist_timeout: Duration::from_millis(40),
        ..Config::RFC_4728
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let caches = vec![
        Cache::Link { capacity: 10, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) },
        Cache::Path { primary: 2, secondary: 2, timeout: Some(Duration::from_secs(1)) },
    ];
    let hows = vec![Acknowledgement::LinkLayer, Acknowledgement::Passive, Acknowledgement::NetworkLayer];
    let rules = vec![Rules::Rfc4728, Rules::Ns2];
    (prop::sample::select(caches), prop::sample::select(hows), prop::sample::select(rules))
        .prop_map(|(cache, how, rules)| small(cache, how, rules))
}

/// Bytes that are likely to mean something: options of this protocol, with addresses of a few nodes.
fn likely(stream: &mut Stream) -> Vec<u8> {
    let mut octets = vec![[17, 59][stream.below(2) as usize], 0, 0, 0];
    for _ in 0..1 + stream.below(3) {
        let list: Vec<_> = (0..stream.below(6)).map(|_| address(stream.below(9) as usize)).collect();
        let (a, b) = (stream.below(9) as usize, stream.below(9) as usize);
        let left = stream.below(list.len() as u32 + 1) as u8;
        let option = match stream.below(9) {
            0 | 1 => request(stream.below(40) as u16, a, &list),
            2 if !list.is_empty() => reply(&list),
            3 => unreachable(a, b, stream.below(9) as usize, left),
            4 => ack_request(left.into()),
            5 => ack(left.into(), a, b),
            6 => salvaged(&list, left, stream.below(16) as u8),
            7 => DsrOption::Unknown { kind: 0x1f | (stream.below(8) << 5) as u8, data: &[1, 2, 3] },
            _ => route(&list, left),
        };
        octets.extend(&alone(&[option])[4..]);
    }
    octets.resize(4 + (octets.len() - 4).next_multiple_of(4), 224);
    octets[3] = octets.len() as u8 - 4;
    octets
}

/// The same with bytes changed, taken away or added.
fn mutated(stream: &mut Stream) -> Vec<u8> {
    let mut octets = likely(stream);
    for _ in 0..stream.below(4) {
        let place = stream.below(octets.len().max(1) as u32) as usize;
        match stream.below(3) {
            0 if !octets.is_empty() => octets[place] = stream.next_u64() as u8,
            1 => octets.truncate(place),
            _ => octets.insert(place.min(octets.len()), stream.next_u64() as u8),
        }
    }
    octets
}

fn any_address(stream: &mut Stream) -> Ipv4Addr {
    match stream.below(12) {
        0 => Ipv4Addr::BROADCAST,
        1 => Ipv4Addr::from_bits(stream.next_u64() as u32),
        2..6 => address(0),
        _ => address(stream.below(9) as usize),
    }
}

/// One input through any door.
fn act(machine: &mut Checked, stream: &mut Stream, now: Instant) {
    let octets = match stream.below(8) {
        0 => (0..stream.below(40)).map(|_| stream.next_u64() as u8).collect(),
        1..4 => mutated(stream),
        _ => likely(stream),
    };
    let has_data = stream.below(2) == 0;
    let packet = Packet {
        source: any_address(stream),
        destination: any_address(stream),
        ttl: stream.next_u64() as u8,
        from: (stream.below(8) > 0).then(|| hop_to(stream.below(9) as usize)),
        octets: &octets,
        has_data,
        protocol: if has_data { 17 } else { 0 },
        identification: stream.below(3) as u16,
        fragment_offset: 0,
    };
    let hop = hop_to(stream.below(9) as usize);
    // What is no packet of this node is not checked for loops: others may have made them.
    match stream.below(8) {
        0 | 1 => drop(machine.0.handle_packet(&packet, now)),
        2 => _ = machine.0.handle_arrival(&packet, now),
        3 | 4 => machine.0.handle_message(&packet, now),
        5 => machine.0.handle_overheard(&packet, hop.address, now),
        6 => drop(machine.0.handle_link_event(&LinkEvent::FrameDropped { hop, packet }, now)),
        _ => match stream.below(3) {
            0 => drop(machine.0.handle_link_event(&LinkEvent::QueuePurged { hop, packet }, now)),
            1 => drop(machine.0.handle_link_event(&LinkEvent::NeighbourLost(hop), now)),
            _ => drop(machine.0.handle_packet(&Packet { octets: &[], from: None, has_data: true, ..packet }, now)),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nobody_makes_it_panic_or_grow(config in configs(), seed in any::<u64>(), haste in 1..40_u64) {
        let mut bench = Bench::new(config);
        let mut stream = Stream::new(seed, Purpose::Routing, 0, 0);
        for _ in 0..600 {
            bench.now += Duration::from_micros(u64::from(stream.below(4)) * haste * 100);
            if bench.machine.poll_timeout().is_some_and(|due| due <= bench.now) {
                bench.machine.0.handle_timeout(bench.now);
            } else {
                act(&mut bench.machine, &mut stream, bench.now);
            }
            let mut outputs = 0;
            while let Some(output) = bench.machine.0.poll_output() {
                outputs += 1;
                if let Output::Send(message) = output {
                    View::new_checked(&message.octets[..]).expect("what is sent is whole");
                }
            }
            // One call does a bounded amount of work.
            prop_assert!(outputs <= 64 + ROUTE_QUEUE_PACKETS, "{} outputs of one call", outputs);
            let (size, bound) = (size(&bench.machine.0), bound(&config));
            prop_assert!(size <= bound, "{} is more than {}", size, bound);
        }
    }
}

/// More targets, initiators and neighbours than there are places pass by a machine with the RFC's values (and fewer links, so that
/// it is soon full).
#[test]
fn a_flood_of_strangers_leaves_no_trace() {
    let rfc = Config {
        cache: Cache::Link { capacity: 100, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) },
        ..Config::RFC_4728
    };
    for config in [rfc, Config::NS_2, Config { acknowledgement: Acknowledgement::NetworkLayer, ..rfc }] {
        let mut bench = Bench::new(config);
        for stranger in 100..1_600 {
            let list = [address(stranger), address(stranger + 1)];
            bench.broadcast(stranger + 1, stranger + 2, 255, &[request(1, 9, &list)]);
            bench.forward(Sent::new(stranger, stranger, 9), &with_data(&[route(&[address(0), list[1]], 2)]), true);
            bench.originate(stranger);
            let octets = with_data(&[route(&[list[0], list[1], address(0)], 2)]);
            bench.overhear(Sent::new(stranger, 2, 9), stranger + 1, &octets, true);
            bench.fail(stranger, Sent::new(0, stranger + 3, 9), &alone(&[reply(&list)]), false);
            bench.outputs();
            assert!(size(&bench.machine.0) <= bound(&config));
        }
    }
}
