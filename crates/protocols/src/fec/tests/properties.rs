//! What holds whatever is lost, repeated and reordered.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::Octets;
use super::*;

/// ADUs of these lengths, told apart by their bytes, through an encoder that gets each `gap` ms after the one before.
fn encode(config: &Config, adus: &[Vec<u8>], gap: u64) -> (Vec<Packet<Octets>>, Encoder<Octets>) {
    let mut encoder = Encoder::new(config, Octets);
    let mut sent = Vec::new();
    for (index, adu) in (0..).zip(adus) {
        let now = at(gap * index);
        while let Some(due) = encoder.poll_timeout().filter(|&due| due <= now) {
            encoder.handle_timeout(due);
        }
        encoder.handle_adu(adu.clone(), now);
        sent.extend(packets(&mut encoder));
    }
    encoder.handle_end();
    sent.extend(packets(&mut encoder));
    (sent, encoder)
}

/// ADUs, no two alike.
fn adus() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..60).prop_map(|mut adus| {
        (0_u8..).zip(&mut adus).for_each(|(index, adu)| adu.insert(0, index));
        adus
    })
}

proptest! {
    #[test]
    fn any_k_of_n_bring_the_block(
        adus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..40),
        repair in 0_u8..20,
        order in Just((0_usize..60).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let config = config(adus.len() as u8, repair);
        let (sent, _) = encode(&config, &adus, 0);
        prop_assert_eq!(sent.len(), adus.len() + usize::from(repair));
        let mut decoder = Decoder::new(&config, Octets);
        let chosen = order.into_iter().filter(|&place| place < sent.len()).take(adus.len());
        chosen.for_each(|place| decoder.handle_packet(sent[place].clone(), at(0)));
        let mut got: Vec<_> = outputs(&mut decoder).into_iter().map(|output| output.adu).collect();
        let mut expected = adus;
        got.sort();
        expected.sort();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn each_adu_is_delivered_once_or_lost_and_octets_and_names_agree(
        adus in adus(),
        (source, repair, gap) in (1_u8..12, 0_u8..6, 0_u64..30),
        losses in prop::collection::vec(0.0..1.0_f64, 400),
        rate in 0.0..0.6_f64,
        (copies, swaps) in (
            prop::collection::vec(any::<Index>(), 0..10),
            prop::collection::vec((any::<Index>(), 0_usize..6), 0..30),
        ),
    ) {
        // All blocks are remembered, so that nothing is late.
        let config = Config { blocks: 100, ..config(source, repair) };
        let (sent, encoder) = encode(&config, &adus, gap);
        // The same with names.
        let mut naming = Encoder::new(&config, Counting::new());
        let mut names = Vec::new();
        for (index, adu) in (0..).zip(&adus) {
            let now = at(gap * index);
            while let Some(due) = naming.poll_timeout().filter(|&due| due <= now) {
                naming.handle_timeout(due);
            }
            naming.handle_adu(Adu { len: adu.len() as u16, content: adu.clone() }, now);
            names.extend(packets(&mut naming));
        }
        naming.handle_end();
        names.extend(packets(&mut naming));
        prop_assert_eq!(encoder.statistics(), naming.statistics());
        prop_assert_eq!(sent.len(), names.len());

        let mut arriving: Vec<usize> = (0..sent.len()).filter(|&place| losses[place] >= rate).collect();
        for copy in copies.iter().filter(|_| !sent.is_empty()) {
            let place = copy.index(sent.len());
            if losses[place] >= rate {
                arriving.push(place);
            }
        }
        let room = arriving.len().saturating_sub(6);
        for (from, distance) in swaps.iter().filter(|_| room > 0) {
            let from = from.index(room);
            arriving.swap(from, from + distance);
        }
        let mut decoder = Decoder::new(&config, Octets);
        let mut counter = Decoder::new(&config, Counting::new());
        let mut got = Vec::new();
        for (ms, &place) in (0..).zip(&arriving) {
            decoder.handle_packet(sent[place].clone(), at(ms));
            counter.handle_packet(names[place].clone(), at(ms));
            let octets: Vec<_> = outputs(&mut decoder).into_iter().map(|out| (out.adu, out.recovered_after)).collect();
            let named: Vec<_> =
                outputs(&mut counter).into_iter().map(|out| (out.adu.content, out.recovered_after)).collect();
            prop_assert_eq!(&octets, &named);
            got.extend(octets.into_iter().map(|(adu, _)| adu));
        }
        prop_assert_eq!(decoder.statistics(), counter.statistics());
        // Once each, and only what was sent.
        let mut sorted = got.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), got.len());
        prop_assert!(got.iter().all(|adu| adus.contains(adu)));
        // Every packet that came is one of these.
        let counted = *decoder.statistics();
        let accounted = counted.delivered + counted.repair_packets + counted.duplicates + counted.late;
        // A repair packet that comes after its block is whole is new all the same.
        prop_assert_eq!(accounted, arriving.len() as u64);
        prop_assert_eq!(counted.contradictions, 0);
        prop_assert_eq!(counted.delivered + counted.recovered, got.len() as u64);
    }

    #[test]
    fn no_block_is_open_longer_than_its_time(
        gaps in prop::collection::vec(0_u64..100, 1..100),
        (source, repair) in (1_u8..12, 1_u8..6),
    ) {
        let config = config(source, repair);
        let mut encoder = Encoder::new(&config, Named::new());
        let (mut now, mut opened) = (0, None);
        for (number, gap) in (0..).zip(gaps) {
            now += gap;
            while let Some(due) = encoder.poll_timeout().filter(|&due| due <= at(now)) {
                prop_assert_eq!(Some(due - config.block_timeout), opened.take());
                encoder.handle_timeout(due);
                let all = packets(&mut encoder);
                prop_assert!(!all.is_empty() && all.iter().all(|packet| matches!(packet, Packet::Repair(..))));
            }
            encoder.handle_adu(named(number), at(now));
            opened = Some(opened.unwrap_or(at(now)));
            if packets(&mut encoder).len() > 1 {
                opened = None;
            }
            prop_assert_eq!(encoder.poll_timeout().is_some(), opened.is_some());
        }
    }
}
