//! Bytes of others: no panic, and no memory without a bound.

use super::*;
use crate::routing::dsdv::neighbours::MAX_NEIGHBOURS;
use crate::routing::dsdv::table::MAX_DESTINATIONS;

#[test]
fn arbitrary_and_mutated_octets_neither_panic_nor_fill_the_memory() {
    let mut bench = Bench::new(Config::default());
    let mut random = Stream::new(7, Purpose::Routing, 0, 0);
    let mut most = (0, 0);
    for round in 0..20_000 {
        let from = 1 + random.below(3000) as usize;
        let mut octets: Vec<u8> = if round % 4 == 0 {
            (0..random.below(100)).map(|_| random.next_u64() as u8).collect()
        } else {
            let entries: Vec<_> = (0..random.below(30))
                .map(|_| {
                    let sequence = random.below(8).wrapping_sub(if random.below(9) == 0 { 4 } else { 0 });
                    let metric = if sequence % 2 == 1 { INFINITE } else { random.below(300) };
                    entry(random.below(50_000) as usize, metric, sequence)
                })
                .collect();
            octets_of(&entries)
        };
        if round % 3 == 0 && !octets.is_empty() {
            let at = random.below(octets.len() as u32) as usize;
            octets[at] ^= 1 << random.below(8);
        }
        bench.node.handle_message(&message(from, &octets), bench.now);
        let outputs = bench.outputs();
        assert!(outputs.len() <= octets.len() / dsdv::ENTRY_LEN, "work is bounded by the update");
        assert!(outputs.iter().all(|output| matches!(output, Output::Found(_))), "and answers nothing by itself");
        if random.below(50) == 0 {
            bench.drop(1 + random.below(3000) as usize, random.below(50_000) as usize);
        }
        bench.after(Duration::from_millis(random.below(20).into()));
        most = (most.0.max(bench.node.table.len()), most.1.max(bench.node.neighbours.len()));
    }
    assert_eq!(most, (MAX_DESTINATIONS, MAX_NEIGHBOURS), "the bounds were reached, and held");
}

#[test]
fn a_full_table_forgets_old_breaks() {
    let mut bench = Bench::new(Config::default());
    let all: Vec<_> = (2..2 + MAX_DESTINATIONS).map(|node| entry(node, 1, 2)).collect();
    all.chunks(100).for_each(|part| drop(bench.hear(1, part)));
    assert_eq!(bench.node.table.len(), MAX_DESTINATIONS);
    bench.hear(1, &[entry(1, 0, 2)]);
    assert_eq!(bench.next_hop(1), None, "no room");
    bench.drop(1, 5);
    bench.after(Duration::from_secs(61));
    assert_eq!(bench.node.table.len(), 0);
    bench.hear(1, &[entry(1, 0, 2)]);
    assert_eq!(bench.next_hop(1), Some(1));
}
