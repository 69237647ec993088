//! Anything may come.

use hopcast_wire::fec::Repr;
use proptest::prelude::*;

use super::super::Octets;
use super::*;

proptest! {
    #[test]
    fn no_packet_panics_and_memory_is_bounded(
        packets in prop::collection::vec(
            (
                prop_oneof![4 => 0_u32..8, 1 => any::<u32>()],
                prop_oneof![4 => 0_u8..8, 1 => any::<u8>()],
                prop_oneof![4 => 0_u8..8, 1 => any::<u8>()],
                any::<bool>(),
                prop::collection::vec(any::<u8>(), 0..12),
            ),
            0..200,
        ),
        blocks in 0_usize..6,
    ) {
        let config = Config { blocks, ..Config::default() };
        let mut decoder = Decoder::new(&config, Octets);
        let mut counter = Decoder::new(&config, Named::new());
        let count = packets.len() as u64;
        for (ms, (block, symbol, source_block_length, is_source, payload)) in (0..).zip(packets) {
            let repr = Repr { block, symbol, source_block_length };
            let names: std::sync::Arc<[_]> = payload.iter().map(|&octet| named(octet.into())).collect();
            if is_source {
                decoder.handle_packet(Packet::Source(repr, payload), at(ms));
                counter.handle_packet(Packet::Source(repr, named(block)), at(ms));
            } else {
                decoder.handle_packet(Packet::Repair(repr, payload), at(ms));
                counter.handle_packet(Packet::Repair(repr, names), at(ms));
            }
            let _ = (outputs(&mut decoder), outputs(&mut counter));
            prop_assert!(decoder.blocks() <= blocks.max(1) && counter.blocks() <= blocks.max(1));
        }
        let counted = decoder.statistics();
        let sorted = counted.delivered + counted.repair_packets + counted.duplicates + counted.late;
        // A block that does not belong together counts once more.
        prop_assert!(sorted <= count && sorted + counted.contradictions >= count);
    }

    #[test]
    fn a_damaged_packet_never_panics(
        adus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 6),
        (which, at_octet, flip) in (0_usize..9, any::<prop::sample::Index>(), 1_u8..),
    ) {
        let mut encoder = Encoder::new(&config(6, 3), Octets);
        adus.into_iter().for_each(|adu| encoder.handle_adu(adu, at(0)));
        let mut decoder = Decoder::new(&config(6, 3), Octets);
        for (place, packet) in packets(&mut encoder).into_iter().enumerate().skip(2) {
            let mut octets = packet.to_octets();
            if place == which {
                let index = at_octet.index(octets.len());
                octets[index] ^= flip;
            }
            let _ = match packet {
                Packet::Source(..) => decoder.handle_source_octets(&octets, at(0)),
                Packet::Repair(..) => decoder.handle_repair_octets(&octets, at(0)),
            };
        }
        prop_assert!(outputs(&mut decoder).len() <= 7);
    }
}
