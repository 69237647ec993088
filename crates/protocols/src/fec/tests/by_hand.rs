//! Packet by packet, at exact instants.

use hopcast_wire::fec::Repr;

use super::super::{Octets, Received, Sent};
use super::*;

fn id(block: u32, symbol: u8, source_block_length: u8) -> Repr {
    Repr { block, symbol, source_block_length }
}

fn came(number: u32) -> Output<Adu<u32>> {
    Output { adu: named(number), recovered_after: None }
}

fn recovered(number: u32, ms: u64) -> Output<Adu<u32>> {
    Output { adu: named(number), recovered_after: Some(Duration::from_millis(ms)) }
}

#[test]
fn source_packets_leave_at_once_and_repair_packets_behind_the_last() {
    let mut encoder = Encoder::new(&config(3, 2), Named::new());
    for number in 0..2 {
        encoder.handle_adu(named(number), at(10 * u64::from(number)));
        assert_eq!(encoder.poll_output(), Some(Packet::Source(id(0, number as u8, 3), named(number))));
        assert_eq!(encoder.poll_output(), None);
        assert_eq!(encoder.poll_timeout(), Some(at(50)));
    }
    encoder.handle_adu(named(2), at(20));
    let block: std::sync::Arc<[_]> = (0..3).map(named).collect();
    assert_eq!(
        packets(&mut encoder),
        [
            Packet::Source(id(0, 2, 3), named(2)),
            Packet::Repair(id(0, 3, 3), block.clone()),
            Packet::Repair(id(0, 4, 3), block)
        ]
    );
    assert_eq!(encoder.poll_timeout(), None);
    encoder.handle_adu(named(3), at(70));
    assert_eq!(encoder.poll_output(), Some(Packet::Source(id(1, 0, 3), named(3))));
    assert_eq!(encoder.poll_timeout(), Some(at(120)));
    // 4 payload IDs of source packets, 2 of repair packets with symbols of 103 octets.
    let expected = Sent {
        source_packets: 4,
        source_octets: 400,
        repair_packets: 2,
        overhead_octets: 4 * 6 + 2 * (6 + 103),
        blocks: 1,
        cut: 0,
    };
    assert_eq!(*encoder.statistics(), expected);
    assert_eq!(encoder.statistics().overhead(), 242.0 / 400.0);
}

#[test]
fn a_slow_stream_is_repaired_when_its_time_is_up() {
    let mut encoder = Encoder::new(&config(20, 4), Named::new());
    (0..6).for_each(|number| encoder.handle_adu(named(number), at(8 * u64::from(number))));
    assert_eq!(packets(&mut encoder).len(), 6);
    encoder.handle_timeout(at(49));
    assert_eq!(encoder.poll_output(), None);
    encoder.handle_timeout(at(50));
    // 4 · 6/20 = 1.2, rounded up; the length is what came of the block.
    let ids: Vec<_> = packets(&mut encoder)
        .into_iter()
        .map(|packet| match packet {
            Packet::Repair(repr, _) => repr,
            Packet::Source(..) => unreachable!("no ADU came"),
        })
        .collect();
    assert_eq!(ids, [id(0, 6, 6), id(0, 7, 6)]);
    assert_eq!((encoder.statistics().cut, encoder.poll_timeout()), (1, None));
    // Nothing to cut.
    encoder.handle_end();
    assert_eq!(encoder.poll_output(), None);
}

#[test]
fn what_is_lost_comes_with_the_first_repair_packet_that_suffices() {
    let packets = stream(&config(4, 2), 1);
    let mut decoder = Decoder::new(&config(4, 2), Named::new());
    // 1 and 2 of four are lost.
    decoder.handle_packet(packets[0].clone(), at(0));
    decoder.handle_packet(packets[3].clone(), at(30));
    assert_eq!(outputs(&mut decoder), [came(0), came(3)]);
    decoder.handle_packet(packets[4].clone(), at(40));
    assert_eq!(outputs(&mut decoder), []);
    decoder.handle_packet(packets[5].clone(), at(45));
    // Since packet 0, at 0 ms, they could be expected.
    assert_eq!(outputs(&mut decoder), [recovered(1, 45), recovered(2, 45)]);
    // Copies bring nothing.
    packets.iter().for_each(|packet| decoder.handle_packet(packet.clone(), at(50)));
    assert_eq!(outputs(&mut decoder), []);
    let expected = Received {
        delivered: 2,
        recovered: 2,
        recovery_delay: Duration::from_millis(90),
        largest_recovery_delay: Duration::from_millis(45),
        repair_packets: 2,
        duplicates: 6,
        ..Received::default()
    };
    assert_eq!(*decoder.statistics(), expected);
}

#[test]
fn the_wait_counts_from_the_packet_before() {
    let packets = stream(&config(4, 1), 1);
    let mut decoder = Decoder::new(&config(4, 1), Named::new());
    // The third is lost; the first two come in the wrong order.
    for (place, ms) in [(1, 10), (0, 12), (3, 30), (4, 31)] {
        decoder.handle_packet(packets[place].clone(), at(ms));
    }
    assert_eq!(outputs(&mut decoder), [came(1), came(0), came(3), recovered(2, 21)]);
    // The first is lost: the first packet that came counts.
    let mut decoder = Decoder::new(&config(4, 1), Named::new());
    for (place, ms) in [(1, 10), (2, 12), (3, 30), (4, 31)] {
        decoder.handle_packet(packets[place].clone(), at(ms));
    }
    assert_eq!(outputs(&mut decoder).last(), Some(&recovered(0, 21)));
}

#[test]
fn repair_packets_alone_bring_a_block_if_there_are_enough() {
    let packets = stream(&config(2, 2), 1);
    let mut decoder = Decoder::new(&config(2, 2), Named::new());
    decoder.handle_packet(packets[3].clone(), at(5));
    decoder.handle_packet(packets[2].clone(), at(9));
    assert_eq!(outputs(&mut decoder), [recovered(0, 4), recovered(1, 4)]);
}

#[test]
fn a_block_cut_short_is_as_long_as_its_repair_packets_say() {
    let mut encoder = Encoder::new(&config(10, 5), Named::new());
    (0..3).for_each(|number| encoder.handle_adu(named(number), at(0)));
    encoder.handle_end();
    let packets = packets(&mut encoder);
    assert_eq!(packets.len(), 3 + 2);
    let mut decoder = Decoder::new(&config(10, 5), Named::new());
    for place in [2, 4, 3] {
        decoder.handle_packet(packets[place].clone(), at(0));
    }
    assert_eq!(outputs(&mut decoder), [came(2), recovered(0, 0), recovered(1, 0)]);
    // A source packet beyond that length is none of it.
    decoder.handle_packet(Packet::Source(id(0, 3, 10), named(99)), at(0));
    assert_eq!(outputs(&mut decoder), []);
    assert_eq!(decoder.statistics().contradictions, 1);
}

#[test]
fn too_many_losses_are_counted_when_the_block_is_forgotten() {
    let config = config(4, 1);
    let packets = stream(&config, 5);
    let mut decoder = Decoder::new(&config, Named::new());
    // Of the first block two are lost, of the others nothing. Four blocks are remembered.
    for (place, packet) in packets.iter().enumerate().filter(|(place, _)| ![1, 2].contains(place)) {
        decoder.handle_packet(packet.clone(), at(0));
        assert_eq!(decoder.statistics().lost, if place < 20 { 0 } else { 2 });
    }
    assert_eq!((decoder.blocks(), decoder.statistics().delivered), (4, 18));
    // What comes for it now is late; it might have been delivered before.
    decoder.handle_packet(packets[1].clone(), at(0));
    assert_eq!(decoder.statistics().late, 1);
}

#[test]
fn block_numbers_wrap_at_24_bits() {
    let mut encoder = Encoder::new(&config(1, 1), Named::new());
    encoder.start_at((1 << 24) - 2);
    (0..4).for_each(|number| encoder.handle_adu(named(number), at(0)));
    let mut decoder = Decoder::new(&config(1, 1), Named::new());
    // The repair packet of each block, which is a copy.
    packets(&mut encoder).into_iter().skip(1).step_by(2).for_each(|packet| decoder.handle_packet(packet, at(0)));
    assert_eq!(outputs(&mut decoder), [0, 1, 2, 3].map(|number| recovered(number, 0)));
    assert_eq!(decoder.blocks(), 4);
}

#[test]
fn a_packet_from_afar_is_believed_when_the_next_one_bears_it_out() {
    let source = |block| Packet::Source(id(block, 0, 1), named(block));
    let mut decoder = Decoder::new(&config(1, 0), Named::new());
    decoder.handle_packet(source(10), at(0));
    decoder.handle_packet(source(5_000_000), at(0));
    decoder.handle_packet(source(11), at(0));
    decoder.handle_packet(source(700), at(0));
    assert_eq!(outputs(&mut decoder), [came(10), came(11), came(700)]);
    decoder.handle_packet(source(9_000_000), at(0));
    decoder.handle_packet(source(9_000_001), at(0));
    decoder.handle_packet(source(9_000_002), at(0));
    assert_eq!(outputs(&mut decoder), [came(9_000_001), came(9_000_002)]);
    assert_eq!(decoder.statistics().late, 2);
}

#[test]
fn octets_of_one_block_by_hand() {
    // Two ADUs, "\x01" and "\x02\x03": information 00 0001 01 00 and 00 0002 02 03; the third symbol is 2a + 3b, the product in
    // GF(2⁸), octet by octet: 0, 0, 2·1 + 3·2, 2·1 + 3·2, 3·3.
    let mut encoder = Encoder::new(&Config { source: 2, repair: 1, ..Config::default() }, Octets);
    encoder.handle_adu(vec![1], at(0));
    encoder.handle_adu(vec![2, 3], at(0));
    let packets: Vec<_> = packets(&mut encoder).iter().map(Packet::to_octets).collect();
    assert_eq!(
        packets,
        [vec![1, 0, 0, 0, 0, 0, 2], vec![2, 3, 0, 0, 0, 1, 0, 2], vec![0, 0, 0, 2, 0, 2, 0, 0, 4, 4, 5]]
    );
    let mut decoder = Decoder::new(&Config::default(), Octets);
    decoder.handle_source_octets(&packets[1], at(0)).expect("a source packet");
    decoder.handle_repair_octets(&packets[2], at(0)).expect("a repair packet");
    let adus: Vec<_> = outputs(&mut decoder).into_iter().map(|output| output.adu).collect();
    assert_eq!(adus, [vec![2, 3], vec![1]]);
    assert!(decoder.handle_repair_octets(&packets[1], at(0)).is_err());
}
