//! Flows with forward error correction: by hand, at exact instants, and against the closed form.

use super::net::{Fate, Net};
use super::streams::{PER_OCTET, cbr, scenario};
use super::units::{adtfrc, tfrc};
use super::*;
use crate::metrics::FlowSummary;
use crate::scenario::model::{Relay, Transport};
use hopcast_protocols::random::{Purpose, Stream};

/// Blocks of three packets and one for repair, cut after 50 ms.
const BLOCK: Config = Config { source: 3, repair: 1, block_timeout: Duration::from_millis(50), blocks: 16 };

/// A protected source at the first host and a sink at the last.
fn protected(count: u32, socket_buffer: u32, source: Box<dyn Writes>, stop: Option<Instant>) -> Bench {
    let mut bench = Bench::new(count, socket_buffer);
    bench.flows = FlowTable::new([FlowSpec {
        start: at(0),
        stop,
        end: at(100_000_000),
        priority: UserPriority::BEST_EFFORT,
        player: None,
        ends: None,
        is_monitored: false,
        is_protected: true,
        is_media: false,
    }]);
    let port = bench.hosts[count as usize - 1].add_udp_sink(FLOW, Some(&BLOCK));
    bench.hosts[0].add_udp_source(FLOW, source, stop, Endpoint { node: NodeId(count - 1), port }, Some(&BLOCK));
    bench
}

/// 100 bytes each 10 ms.
fn voice() -> Box<dyn Writes> {
    Box::new(CbrSource::new(at(0), 80_000.0, 100))
}

/// Bytes of payload.
fn lengths(packets: &[Rc<Sdu>]) -> Vec<u32> {
    packets.iter().map(|packet| packet.octets() - packet::IPV4_HEADER - packet::UDP_HEADER).collect()
}

fn summary(bench: &Bench) -> FlowSummary {
    bench.flows[FLOW].summary(bench.now)
}

#[test]
fn what_is_lost_comes_with_the_repair_packet_behind_its_block() {
    let mut bench = protected(2, 100_000, voice(), None);
    let mut sent = Vec::new();
    for millis in [0, 10, 20] {
        bench.advance(millis * 1_000);
        sent.extend(bench.take(0, 50));
    }
    // A payload ID of 6 octets behind each; before the repair symbol another one, and in it 3 octets of information.
    assert_eq!(lengths(&sent), [106, 106, 106, 109]);
    bench.give(1, &sent[0]);
    bench.with(0, |host, cx| host.handle_drop(Rc::clone(&sent[1]), NEIGHBOUR, DropCause::RetryLimitLong, cx));
    bench.give(1, &sent[2]);
    assert_eq!((summary(&bench).received_packets, summary(&bench).lost_packets), (2, 1));
    bench.now = at(25_000);
    bench.give(1, &sent[3]);
    let told = summary(&bench);
    assert_eq!((told.sent_packets, told.received_packets, told.lost_packets, told.received_bytes), (3, 3, 0, 300));
    assert_eq!(
        (told.fec.repair_packets, told.fec.repair_bytes, told.fec.repair_received_packets),
        (Some(1), Some(109), Some(1))
    );
    // Written at 10 ms, recovered at 25.
    assert_eq!(told.fec.recovered_packets, Some(1));
    assert!((told.fec.recovered_delay_mean_s.unwrap() - 0.015).abs() < 1e-12, "{told:?}");
    assert_eq!(told.fec.fec_overhead_ratio, Some((3.0 * 6.0 + 109.0) / 300.0));
    let mean = (0.02 + 0.015) / 3.0;
    assert!((told.delay_mean_s.unwrap() - mean).abs() < 1e-12, "{told:?}");
    bench.check();
}

#[test]
fn a_block_that_is_not_full_in_time_is_cut_short() {
    let mut bench = protected(2, 100_000, Box::new(CbrSource::new(at(0), 20_000.0, 100)), None);
    // A packet each 40 ms: two are there at 50.
    for (millis, packets) in [(0, 1), (40, 1)] {
        bench.advance(millis * 1_000);
        assert_eq!(bench.take(0, 50).len(), packets);
    }
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(50_000)));
    bench.advance(50_000);
    assert_eq!(lengths(&bench.take(0, 50)), [109]);
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(80_000)));
}

#[test]
fn the_end_of_a_stream_has_its_repair_packet() {
    // Four units: a block, and one packet of the next.
    let mut bench = protected(2, 100_000, units(100, 0, Some(400)), None);
    bench.advance(0);
    let sent = bench.take(0, 50);
    assert_eq!(lengths(&sent), [106, 106, 106, 109, 106, 109]);
    assert_eq!(bench.hosts[0].poll_timeout(), None);
    for packet in sent.iter().skip(1).take(3).chain(&sent[5..]) {
        bench.give(1, packet);
    }
    let told = summary(&bench);
    assert_eq!((told.received_packets, told.fec.recovered_packets, told.in_flight_packets), (4, Some(2), 0));
    // A stop ends a stream as well.
    let mut bench = protected(2, 100_000, voice(), Some(at(5_000)));
    bench.advance(0);
    assert_eq!(bench.take(0, 50).len(), 1);
    assert_eq!(bench.hosts[0].poll_timeout(), Some(at(5_000)));
    bench.advance(5_000);
    assert_eq!(lengths(&bench.take(0, 50)), [109]);
    assert_eq!((summary(&bench).sent_packets, bench.hosts[0].poll_timeout()), (1, None));
}

#[test]
fn a_repair_packet_waits_for_room_before_the_next_write() {
    let mut bench = protected(2, 330, units(100, 0, None), None);
    bench.advance(0);
    let sent = bench.take(0, 50);
    // Three of 106 octets are in the buffer, and one of 109 is not.
    assert_eq!(lengths(&sent), [106; 3]);
    bench.sent(0, &sent[0]);
    assert_eq!(bench.take(0, 0), []);
    assert_eq!(lengths(&bench.take(0, 25)), [109]);
    bench.check();
}

#[test]
fn what_a_full_buffer_refused_can_be_recovered() {
    let mut bench = protected(2, 250, voice(), None);
    let mut sent = Vec::new();
    for millis in [0, 10, 20] {
        bench.advance(millis * 1_000);
        let packets = bench.take(0, 50);
        if millis == 10 {
            bench.sent(0, &packets[0]);
            bench.sent(0, &sent[0]);
        }
        sent.extend(packets);
    }
    assert_eq!(lengths(&sent), [106, 106, 106, 109]);
    // Now the buffer holds the third and the repair packet: of the next block nothing leaves.
    bench.advance(30_000);
    assert_eq!(bench.take(0, 50), []);
    assert_eq!((summary(&bench).lost_packets, bench.counters[0][DropCause::SendBufferFull]), (1, 1));
    sent[2..].iter().for_each(|packet| bench.sent(0, packet));
    for millis in [40, 50] {
        bench.advance(millis * 1_000);
        sent.extend(bench.take(0, 50));
        sent[4..].iter().for_each(|packet| bench.sent(0, packet));
    }
    sent.iter().for_each(|packet| bench.give(1, packet));
    let told = summary(&bench);
    assert_eq!((told.sent_packets, told.received_packets, told.fec.recovered_packets), (6, 6, Some(1)));
    assert_eq!((told.lost_packets, told.loss_ratio), (0, 0.0));
}

#[test]
fn copies_and_what_comes_too_late_are_told_from_losses() {
    let mut bench = protected(2, 100_000, voice(), None);
    let mut sent = Vec::new();
    for millis in 0..60 {
        bench.advance(millis * 10_000);
        sent.extend(bench.take(0, 50));
    }
    // Of the first block nothing comes until twenty blocks have gone; 16 are remembered.
    sent[4..].iter().for_each(|packet| bench.give(1, packet));
    bench.give(1, &sent[4]);
    assert_eq!(summary(&bench).duplicate_packets, 1);
    bench.give(1, &sent[0]);
    let told = summary(&bench);
    assert_eq!((told.lost_packets, told.in_flight_packets, told.received_packets), (1, 2, 57));
}

/// The closed form: a packet is lost for good if it is lost, and fewer than k of the n − 1 others of its block arrive.
fn residual(source: u32, repair: u32, loss: f64) -> f64 {
    let others = source + repair - 1;
    let choose = |k: u32| (0..k).fold(1.0, |product, i| product * f64::from(others - i) / f64::from(i + 1));
    let arrive = |j: u32| choose(j) * libm::pow(1.0 - loss, j.into()) * libm::pow(loss, (others - j).into());
    loss * (0..source).map(arrive).sum::<f64>()
}

/// Share lost after FEC with a loss of `loss` per packet, for this number of packets of 100 bytes at 20 kb/s, end to end
/// over `nodes`.
fn lossy(nodes: u32, relay: Relay, transport: Transport, loss: f64, config: Config, packets: u64) -> FlowSummary {
    let seconds = packets / 25;
    let application = cbr(20_000.0, 100);
    let mut scenario = scenario(nodes, relay, transport, application);
    scenario.duration = Duration::from_secs(seconds + 30);
    scenario.flows[0].fec = Some(config);
    scenario.flows[0].stop = Some(Instant::START + Duration::from_secs(seconds + 1));
    let mut random = Stream::new(7, Purpose::Application, 0, 0);
    // The last hop loses. Handshakes and feedback are not the question.
    let last = NodeId(nodes - 1);
    let fate = move |packet: &Packet| {
        let is_data = packet.ip.destination == last && packet.datagram().is_some();
        if is_data && random.unit() < loss { Fate::Lost } else { Fate::Arrives }
    };
    let mut net = Net::new(&scenario, PER_OCTET, fate);
    net.run(Instant::START + Duration::from_secs(seconds + 30));
    net.audit()[0].clone()
}

#[test]
fn the_residual_loss_is_the_closed_forms() {
    for (source, repair, loss) in [(8, 2, 0.05), (8, 2, 0.2), (20, 4, 0.1), (4, 4, 0.3), (10, 0, 0.1)] {
        let config = Config { source, repair, block_timeout: Duration::from_secs(60), blocks: 16 };
        let told = lossy(2, Relay::Os, Transport::Udp, loss, config, 100_000);
        let expected = residual(source.into(), repair.into(), loss);
        // Losses of one block come together: the deviation is that of as many blocks as there are, each losing at most
        // all its packets, so the square root of what a block's variance is bounded by.
        let blocks = told.sent_packets as f64 / f64::from(source);
        let deviation = (expected * (1.0 - expected) / blocks).sqrt();
        assert!(
            (told.loss_ratio - expected).abs() < 3.0 * deviation,
            "{source} + {repair}: {} {expected}",
            told.loss_ratio
        );
        assert_eq!(told.fec.repair_packets.unwrap(), told.sent_packets.div_ceil(source.into()) * u64::from(repair));
    }
}

#[test]
fn whoever_relays_and_whatever_carries_it_the_stream_is_repaired() {
    let config = Config { source: 8, repair: 4, block_timeout: Duration::from_secs(1), blocks: 16 };
    let without = Config { repair: 0, ..config };
    for transport in [Transport::Udp, tfrc(), adtfrc()] {
        for (relay, nodes) in [(Relay::Os, 3), (Relay::Application, 3)] {
            let [bare, repaired] =
                [&without, &config].map(|config| lossy(nodes, relay, transport.clone(), 0.01, config.clone(), 5_000));
            let told = format!("{transport:?} {relay:?} {} {}", bare.loss_ratio, repaired.loss_ratio);
            assert!(bare.loss_ratio > 0.007 && repaired.loss_ratio < 0.001, "{told}");
            let (recovered, sent) = (repaired.fec.recovered_packets.unwrap(), repaired.sent_packets);
            assert!(recovered > sent / 150 && repaired.fec.repair_received_packets > bare.fec.repair_packets, "{told}");
        }
    }
}
