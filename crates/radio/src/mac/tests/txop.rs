//! Several frames in one TXOP (10.23.2.7, 9.2.5.2). 802.11a: a frame of 1500 bytes takes 252 µs, SIFS 16, the ACK 28; with the SIFS
//! before it an exchange takes 312 µs. Voice may hold the medium for 1504 µs.

use super::bench::{Bench, MBPS_24, PEER, Packet, edca, micros, us, with_rts};
use crate::mac::FrameKind::{Data, Rts};
use crate::mac::{DropCause, Output};

/// This number of packets of 1500 bytes for voice arrives while the medium is busy until 500; the backoff is 0, so access
/// is at 534.
fn bench_with(packets: u32, config: crate::mac::Config, draws: &[(u32, u32)]) -> Bench {
    let mut bench = Bench::with_draws(config, &[&[(3, 0)], draws].concat());
    bench.noise(us(100), us(500));
    for id in 1..=packets {
        bench.packet_to(us(200), Some(PEER), packet(id));
    }
    bench
}

fn packet(id: u32) -> Packet {
    Packet { id, octets: 1_500, priority: 6, ..Packet::default() }
}

/// Four exchanges take 1232 µs and a fifth would end after 1544. Each data frame but the last one reserves the next exchange too.
///
/// ```text
///  ──┬D1──┬A┬D2──┬A┬D3──┬A┬D4──┬A┬── AIFS, 2 slots ──┬D5──┬A┬D6──┬A┬
///   534      846   1158   1470  1766               1818
/// ```
#[test]
fn a_txop_has_as_many_exchanges_as_fit() {
    let mut bench = bench_with(6, edca(), &[(3, 2)]);
    let starts = [534, 846, 1_158, 1_470, 1_818, 2_130];
    for (id, (start, last)) in (1..).zip(starts.into_iter().zip([false, false, false, true, false, true])) {
        let (frame, _) = bench.expect_acknowledged(id, us(start));
        assert_eq!(frame.airtime, micros(252));
        assert_eq!(frame.duration, micros(if last { 44 } else { 44 + 312 }), "frame {id}");
        assert_eq!(frame.sequence, id - 1);
    }
    bench.expect_nothing_until(us(20_000));
    assert_eq!(bench.dcf().held().count(), 0);
}

/// A limit of zero is one frame.
#[test]
fn without_a_limit_a_txop_has_one_exchange() {
    let mut bench = Bench::with_draws(edca(), &[(15, 0), (15, 1)]);
    bench.noise(us(100), us(500));
    for id in 1..=2 {
        bench.packet_to(us(200), Some(PEER), Packet { priority: 0, ..packet(id) });
    }
    let (frame, end) = bench.expect_acknowledged(1, us(543));
    assert_eq!(frame.duration, micros(44));
    bench.expect_acknowledged(2, end + micros(43 + 9));
}

/// A packet that comes too late to be reserved waits for the next TXOP.
#[test]
fn what_was_not_reserved_is_not_sent() {
    let mut bench = bench_with(1, edca(), &[(3, 0)]);
    bench.packet_to(us(600), Some(PEER), packet(2));
    let (frame, end) = bench.expect_acknowledged(1, us(534));
    assert_eq!(frame.duration, micros(44));
    bench.expect_acknowledged(2, end + micros(34));
}

/// A failure ends the TXOP. The frame is repeated at the head of the next one, and what was to follow it follows.
///
/// ```text
///  ──┬D1──┬A┬D2──┬ no ACK ┬─ AIFS, 1 slot ─┬D2──┬A┬D3──┬A┬
///   534      846 1098   1143            1186       1498
/// ```
#[test]
fn a_failure_ends_the_txop() {
    let mut bench = bench_with(3, edca(), &[(7, 1)]);
    bench.expect_acknowledged(1, us(534));
    bench.expect_transmit(Data, us(846));
    bench.expect_nothing_until(us(1_143));
    assert_eq!(bench.dcf().contention_window(), 7, "the success before had reset it");
    let (repetition, _) = bench.expect_acknowledged(2, us(1_186));
    assert_eq!((repetition.retry, repetition.sequence, repetition.duration), (true, 1, micros(356)));
    let (next, _) = bench.expect_acknowledged(3, us(1_498));
    assert_eq!((next.retry, next.sequence), (false, 2));
}

/// RTS and CTS go before the first frame only; the RTS reserves that exchange.
#[test]
fn an_rts_opens_the_txop() {
    let mut bench = bench_with(2, with_rts(edca()), &[]);
    let rts = bench.expect_transmit(Rts, us(534));
    assert_eq!((rts.vector, rts.duration), (MBPS_24, micros(3 * 16 + 28 + 252 + 28)));
    let end = bench.hears(us(534 + 28 + 16), bench.cts());
    let (first, end) = bench.expect_acknowledged(1, end + micros(16));
    assert_eq!(first.duration, micros(356));
    bench.expect_acknowledged(2, end + micros(16));
    assert_eq!(bench.dcf().counters().rts_sent, 1);
}

/// A broadcast frame has no ACK: the next one follows after SIFS. 1538 bytes at 24 Mb/s: 129 symbols, 536 µs.
#[test]
fn broadcast_frames_follow_each_other() {
    let mut bench = Bench::with_draws(edca(), &[(3, 0)]);
    bench.noise(us(100), us(500));
    bench.packet_to(us(200), None, packet(1));
    bench.packet_to(us(200), Some(PEER), packet(2));
    let frame = bench.expect_transmit(Data, us(534));
    assert_eq!((frame.airtime, frame.duration), (micros(536), micros(16 + 252 + 16 + 28)));
    bench.expect_sent(1, us(1_070));
    bench.expect_acknowledged(2, us(1_086));
}

/// A packet whose time is over when its turn comes ends the TXOP.
#[test]
fn what_has_expired_within_a_txop_is_dropped() {
    let mut bench = bench_with(1, edca(), &[(3, 0)]);
    bench.packet_to(us(200), Some(PEER), Packet { expires: Some(us(700)), ..packet(2) });
    bench.packet_to(us(200), Some(PEER), packet(3));
    let (_, end) = bench.expect_acknowledged(1, us(534));
    assert_eq!(end, us(830));
    bench.expect_dropped(2, DropCause::Expired, us(864));
    let (at, output) = bench.next_output(us(10_000)).expect("the third");
    assert!(matches!(output, Output::Transmit(frame) if frame.payload.is_some_and(|packet| packet.id == 3)));
    assert!(at > us(864));
    let end = bench.hears(at + micros(252 + 16), bench.ack());
    bench.expect_sent(3, end);
}
