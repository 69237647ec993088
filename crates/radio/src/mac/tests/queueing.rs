//! Sequence numbers, duplicates, broadcast and the interface queue (10.3.2.14, 10.3.6).

use super::bench::{Bench, MBPS_1, ME, OTHER, PEER, dsss, micros, us, with_rts};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::edca::UserPriority;
use crate::mac::{Config, DropCause, Frame, Output};

/// 10.3.2.14: a repetition is acknowledged, since the ACK before may be lost, but not handed up again.
#[test]
fn a_duplicate_is_acknowledged_and_dropped() {
    let mut bench = Bench::new(dsss());
    let end = bench.hears(us(1_000), bench.data(7, false));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, end + micros(10));
    for start in [us(3_000), us(5_000)] {
        let end = bench.hears(start, bench.data(7, true));
        bench.expect_transmit(Ack, end + micros(10));
    }
    bench.expect_nothing_until(us(7_000));
    assert_eq!((bench.dcf().counters().duplicates, bench.dcf().counters().ack_sent), (2, 3));
}

/// 10.3.2.14: neither a new number nor the same one without the retry bit is a duplicate, nor another's.
#[test]
fn what_differs_from_the_last_frame_is_no_duplicate() {
    let mut bench = Bench::new(dsss());
    for (start, id, retry) in [(1_000, 7, false), (3_000, 7, false), (5_000, 8, true), (7_000, 7, true)] {
        let end = bench.hears(us(start), bench.data(id, retry));
        bench.expect_delivered(id, end);
        bench.expect_transmit(Ack, end + micros(10));
    }
    let end = bench.hears(us(9_000), Frame { retry: true, ..bench.data_between(OTHER, Some(ME), 7) });
    assert!(matches!(bench.next_output(end), Some((_, Output::Deliver(packet, OTHER))) if packet.id == 7));
    bench.expect_transmit(Ack, end + micros(10));
}

/// A first transmission that was damaged leaves no trace: its repetition is handed up.
#[test]
fn a_repetition_of_a_damaged_frame_is_handed_up() {
    let mut bench = Bench::new(dsss());
    bench.hears(us(1_000), bench.data(7, false));
    bench.noise(us(1_300), us(1_400));
    let end = bench.hears(us(3_000), bench.data(7, true));
    bench.expect_delivered(7, end);
    bench.expect_transmit(Ack, end + micros(10));
}

/// 9.2.4.4.2: over all frames of the station, of which frames on the air would show 12 bits.
#[test]
fn frames_are_counted() {
    let mut bench = Bench::new(dsss());
    for number in 0..4_100_u32 {
        let at = bench.now() + micros(1);
        match number % 2 {
            0 => bench.broadcast(at, number),
            _ => bench.packet(at, number),
        }
        bench.answer((number % 2 == 1).then_some(true));
        let (_, output) = bench.next_output(at + micros(10_000)).expect("a frame");
        let Output::Transmit(frame) = output else { panic!("{output:?}") };
        assert_eq!(frame.sequence, number, "also beyond 12 bits");
        let (_, output) = bench.next_output(at + micros(20_000)).expect("its end");
        assert!(matches!(output, Output::Sent(packet) if packet.id == number), "{output:?}");
    }
}

/// 10.3.6: a broadcast frame goes at a basic rate and is neither acknowledged nor repeated; a backoff follows it.
///
/// ```text
///   D (192 + 800)      4 slots   D
///  ─┬──────────┬────┬─┬─┬─┬─┬──┴──
///  1000       1992 2042      2122
/// ```
#[test]
fn a_broadcast_frame_is_sent_once() {
    let mut bench = Bench::with_draws(with_rts(dsss()), &[(31, 4), (31, 9)]);
    bench.broadcast(us(1_000), 1);
    bench.broadcast(us(1_100), 2);
    let frame = bench.expect_transmit(Data, us(1_000));
    assert_eq!((frame.receiver, frame.vector, frame.airtime, frame.octets), (None, MBPS_1, micros(992), 100));
    assert_eq!((frame.duration, frame.retry), (micros(0), false));
    bench.expect_sent(1, us(1_992));
    let frame = bench.expect_transmit(Data, us(2_122));
    assert_eq!((frame.sequence, frame.retry), (1, false));
    bench.expect_sent(2, us(2_122 + 992));
    bench.expect_nothing_until(us(50_000));
    assert_eq!(bench.dcf().contention_window(), 31);
}

/// The queue holds its places besides the frame in hand, keeps their order, and refuses the newest.
#[test]
fn a_full_queue_refuses_the_newest() {
    let room = |bench: &Bench| bench.dcf().space(UserPriority::BEST_EFFORT).places;
    let mut bench = Bench::new(Config { queue_packets: 2, ..dsss() });
    bench.noise(us(100), us(900));
    for id in 1..=5 {
        bench.packet(us(200 + u64::from(id)), id);
    }
    bench.expect_dropped(4, DropCause::QueueFull, us(204));
    bench.expect_dropped(5, DropCause::QueueFull, us(205));
    assert_eq!(bench.dcf().held().map(|packet| packet.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((room(&bench), bench.dcf().queued()), (0, 2));
    bench.answer([true; 4]);
    // One place is free once the first packet is sent: a frame in hand is in none.
    let (_, first) = bench.next_output(us(10_000)).expect("the first packet's frame");
    assert!(matches!(first, Output::Transmit(frame) if frame.sequence == 0));
    let (end, _) = bench.next_output(us(10_000)).expect("its end");
    assert_eq!((room(&bench), bench.dcf().queued()), (1, 1));
    bench.packet(end, 6);
    bench.packet(end, 7);
    bench.expect_dropped(7, DropCause::QueueFull, end);
    let sent: Vec<u32> = bench
        .outputs_until(us(100_000))
        .into_iter()
        .filter_map(|(_, output)| if let Output::Sent(packet) = output { Some(packet.id) } else { None })
        .collect();
    assert_eq!(sent, [2, 3, 6]);
    assert_eq!((room(&bench), bench.dcf().held().count()), (2, 0));
}

/// What waits for one station can be taken back; the frame in hand and what is for others stay.
#[test]
fn the_queue_is_purged_of_what_waits_for_one_station() {
    let mut bench = Bench::new(dsss());
    for id in 1..=3 {
        bench.packet(us(1_000), id);
    }
    bench.broadcast(us(1_000), 4);
    bench.outputs_until(us(1_001));
    let purged: Vec<u32> = bench.dcf_mut().purge(PEER).into_iter().map(|packet| packet.id).collect();
    assert_eq!(purged, [2, 3]);
    assert_eq!(bench.dcf().held().map(|packet| packet.id).collect::<Vec<_>>(), [1, 4]);
}

/// A station hears packets between other stations on request.
#[test]
fn a_promiscuous_station_overhears_data_between_others() {
    let mut bench = Bench::new(dsss());
    bench.dcf_mut().set_promiscuous();
    let end = bench.hears(us(1_000), bench.data_between(OTHER, Some(PEER), 7));
    let (at, output) = bench.next_output(end).expect("it is overheard");
    assert!(matches!(output, Output::Overheard(packet, OTHER, PEER) if packet.id == 7 && at == end));
    bench.hears(us(9_000), bench.control(Rts, OTHER, PEER, micros(1_230)));
    bench.expect_nothing_until(us(20_000));
}

/// Without a queue there is the frame in hand.
#[test]
fn a_queue_without_places_leaves_the_frame_in_hand() {
    let mut bench = Bench::new(Config { queue_packets: 0, ..dsss() });
    bench.packet(us(1_000), 1);
    bench.packet(us(1_100), 2);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_dropped(2, DropCause::QueueFull, us(1_100));
    let end = bench.hears(us(1_602), bench.ack());
    bench.expect_sent(1, end);
}

/// What is counted is what happened.
#[test]
fn counters_count_frames_on_the_air() {
    let mut bench = Bench::new(with_rts(dsss()));
    bench.answer([false, true, false, true, true]);
    bench.packet(us(1_000), 1);
    let end = us(100_000);
    bench.hears(end, bench.control(Rts, PEER, ME, micros(1_230)));
    let data_end = bench.hears(end + micros(352 + 10 + 304 + 10), bench.data(4, false));
    let kinds: Vec<_> = bench
        .outputs_until(data_end + micros(1_000))
        .into_iter()
        .filter_map(|(_, output)| if let Output::Transmit(frame) = output { Some(frame.kind) } else { None })
        .collect();
    assert_eq!(kinds, [Rts, Rts, Data, Rts, Data, Cts, Ack]);
    let counters = bench.dcf().counters();
    assert_eq!((counters.rts_sent, counters.data_sent, counters.cts_sent, counters.ack_sent), (3, 2, 1, 1));
    assert_eq!((counters.cts_timeouts, counters.ack_timeouts, counters.duplicates, counters.errors), (1, 1, 0, 0));
}
