//! Timeouts, retransmission, contention window and retry limits (10.3.2.9, 10.3.2.11, 10.3.3, 10.3.4.4).

use hopcast_protocols::time::Duration;

use super::bench::{Bench, FOURTH, MBPS_1, MBPS_2, ME, NS, OTHER, dsss, micros, ofdm, us, with_rts};
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{Config, DropCause, Output};

/// 10.3.2.11: SIFS + slot + aRxPHYStartDelay after the data frame, without the start of a frame, the attempt has failed.
/// The backoff counts from the next slot boundary of the idle medium.
///
/// ```text
///    D                DIFS                 timeout  3 slots
///  ─┬──────┬──────────────┬──┬─ … ─┬──┬──┬──┼─┬──┬──┬──┬D
///  1000   1592          1642 1662          1814 1822    1882
/// ```
#[test]
fn without_an_acknowledgment_the_frame_is_repeated() {
    for (slots, access) in [(0, 1_822), (3, 1_882), (63, 3_082)] {
        let mut bench = Bench::with_draws(dsss(), &[(63, slots)]);
        bench.packet(us(1_000), 1);
        let first = bench.expect_transmit(Data, us(1_000));
        bench.expect_nothing_until(us(1_814) - NS);
        assert_eq!((bench.dcf().counters().ack_timeouts, bench.dcf().contention_window()), (0, 31));
        bench.expect_nothing_until(us(1_814));
        assert_eq!((bench.dcf().counters().ack_timeouts, bench.dcf().contention_window()), (1, 63));
        let (second, _) = bench.expect_acknowledged(1, us(access));
        // 9.2.4.1.6, 10.3.2.14: the same number, marked as a repetition.
        assert_eq!((first.retry, second.retry), (false, true));
        assert_eq!((first.sequence, first.duration), (second.sequence, second.duration));
        assert_eq!(bench.dcf().contention_window(), 31);
    }
}

/// 802.11a: 16 + 9 + 20, boundaries every 9 µs from DIFS = 34 on.
#[test]
fn the_timeout_is_that_of_the_physical_layer() {
    let mut bench = Bench::with_draws(ofdm(), &[(31, 2)]);
    bench.packet_of(us(1_000), 1, 1_500);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_nothing_until(us(1_248 + 45) - NS);
    assert_eq!(bench.dcf().counters().ack_timeouts, 0);
    bench.expect_nothing_until(us(1_248 + 45));
    assert_eq!((bench.dcf().counters().ack_timeouts, bench.dcf().contention_window()), (1, 31));
    bench.expect_acknowledged(1, us(1_248 + 34 + 18 + 18));
}

/// 10.3.2.11: a frame that has started by then is waited for; if it is the ACK, all is well.
///
/// ```text
///    D       timeout 222
///  ─┬──────┬───────────┼────────
///  1000   1592   │    1814
///              1622 ▄▄▄┼▄▄▄▄▄▄▄▄ ACK, header until 1814: in time
/// ```
#[test]
fn an_acknowledgment_that_starts_in_time_counts() {
    for start in [us(1_600), us(1_602), us(1_622)] {
        let mut bench = Bench::new(dsss());
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Data, us(1_000));
        let end = bench.hears(start, bench.ack());
        bench.expect_sent(1, end);
        bench.expect_nothing_until(us(20_000));
        assert_eq!(bench.dcf().counters().ack_timeouts, 0);
    }
}

/// One nanosecond later it does not: the frame goes out again.
#[test]
fn an_acknowledgment_that_starts_too_late_does_not_count() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears(us(1_622) + NS, bench.ack());
    let (data, _) = bench.expect_acknowledged(1, end + micros(50 + 60));
    assert!(data.retry);
}

/// 10.3.2.11: any other frame that is received instead means failure, at its end.
///
/// ```text
///    D         another's data
///  ─┬──────┬──┬────────┬────┬────────
///  1000  1592 1610    2202  its ACK reserved: 314, then DIFS and 3 slots
/// ```
#[test]
fn another_frame_in_place_of_the_acknowledgment_is_a_failure() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears(us(1_610), bench.data_between(OTHER, Some(FOURTH), 9));
    bench.expect_nothing_until(end - NS);
    assert_eq!(bench.dcf().counters().ack_timeouts, 0, "its start stops the timeout");
    bench.expect_nothing_until(end);
    assert_eq!(bench.dcf().counters().ack_timeouts, 1);
    bench.expect_acknowledged(1, end + micros(314 + 50 + 60));
}

/// A frame for the station that comes in place of the ACK is answered all the same.
#[test]
fn data_in_place_of_the_acknowledgment_are_acknowledged() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears(us(1_610), bench.data(5, false));
    bench.expect_delivered(5, end);
    bench.expect_transmit(Ack, end + micros(10));
    bench.expect_acknowledged(1, end + micros(10 + 304 + 50 + 60));
}

/// An RTS or an ACK for another in its place, too, is a failure; the RTS for the station gets its CTS.
#[test]
fn control_frames_in_place_of_the_acknowledgment_are_a_failure() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears(us(1_602), bench.control(Ack, OTHER, FOURTH, Duration::ZERO));
    bench.expect_acknowledged(1, end + micros(50 + 60));

    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears(us(1_602), bench.control(Rts, OTHER, ME, Duration::ZERO));
    bench.expect_transmit(Cts, end + micros(10));
    bench.expect_acknowledged(1, end + micros(10 + 304 + 50 + 60));
}

/// An error in place of the ACK is a failure at its end, and EIFS follows.
#[test]
fn an_error_in_place_of_the_acknowledgment_is_a_failure() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    bench.hears_error(us(1_602), us(1_906), MBPS_1);
    bench.expect_nothing_until(us(1_906) - NS);
    assert_eq!(bench.dcf().counters().ack_timeouts, 0);
    bench.expect_acknowledged(1, us(1_906 + 364 + 60));
}

/// A frame that starts in time and is then lost without a visible end: the failure comes with the idle medium.
#[test]
fn a_frame_lost_on_the_way_is_a_failure_when_the_medium_is_idle() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears_until(us(1_602), bench.ack(), us(1_850));
    bench.expect_nothing_until(end - NS);
    assert_eq!(bench.dcf().counters().ack_timeouts, 0);
    bench.expect_acknowledged(1, end + micros(50 + 60));
}

/// One that is lost before its header ends has never started: the timeout comes as if nothing had been heard.
#[test]
fn a_frame_lost_in_its_header_does_not_stop_the_timeout() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    let end = bench.hears_until(us(1_602), bench.ack(), us(1_700));
    bench.expect_nothing_until(us(1_814));
    assert_eq!(bench.dcf().counters().ack_timeouts, 1);
    bench.expect_acknowledged(1, end + micros(50 + 60));
}

/// Energy that is no frame doesn't stop the timeout, but it does hold up the repetition.
#[test]
fn energy_does_not_stop_the_timeout() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Data, us(1_000));
    bench.noise(us(1_700), us(3_000));
    bench.expect_nothing_until(us(1_814));
    assert_eq!(bench.dcf().counters().ack_timeouts, 1);
    bench.expect_acknowledged(1, us(3_000 + 50 + 60));
}

/// 10.3.2.9: the CTS has the same interval, counted from the end of the RTS.
///
/// ```text
///    R     timeout   3 slots
///  ─┬───┬─────────┼─┬──┬──┬──┬R
///  1000 1352     1574 1582    1642
/// ```
#[test]
fn without_a_cts_the_rts_is_repeated() {
    let mut bench = Bench::with_draws(with_rts(dsss()), &[(63, 3)]);
    bench.packet(us(1_000), 1);
    bench.expect_transmit(Rts, us(1_000));
    bench.expect_nothing_until(us(1_574) - NS);
    assert_eq!(bench.dcf().counters().cts_timeouts, 0);
    bench.expect_nothing_until(us(1_574));
    assert_eq!((bench.dcf().counters().cts_timeouts, bench.dcf().contention_window()), (1, 63));
    let rts = bench.expect_transmit(Rts, us(1_642));
    let end = bench.hears(us(1_642 + 352 + 10), bench.cts());
    let (data, _) = bench.expect_acknowledged(1, end + micros(10));
    assert_eq!((rts.retry, data.retry), (false, false), "the data frame itself goes out for the first time");
}

/// 10.3.2.9: and it too is extended by a frame that starts in time.
#[test]
fn a_cts_that_starts_in_time_counts() {
    for (start, counts) in [(us(1_382), true), (us(1_382) + NS, false)] {
        let mut bench = Bench::with_draws(with_rts(dsss()), &[(63, 3)]);
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Rts, us(1_000));
        let end = bench.hears(start, bench.cts());
        match counts {
            true => bench.expect_transmit(Data, end + micros(10)),
            false => bench.expect_transmit(Rts, end + micros(50 + 60)),
        };
    }
}

/// 10.3.3: the window doubles with each failure, up to aCWmax, and a frame that is given up resets it.
#[test]
fn the_window_doubles_up_to_its_limit() {
    for (config, windows) in [
        (dsss(), [31, 63, 127, 255, 511, 1_023, 1_023, 1_023, 31]),
        (ofdm(), [15, 31, 63, 127, 255, 511, 1_023, 1_023, 15]),
    ] {
        let mut bench = Bench::new(Config { short_retry_limit: 8, ..config });
        bench.packet(us(1_000), 1);
        for window in &windows[..8] {
            assert!(bench.next_output(us(10_000_000)).is_some());
            assert_eq!(bench.dcf().contention_window(), *window);
        }
        let end = bench.now() + micros(10_000);
        assert!(bench.next_output(end).is_some());
        bench.expect_nothing_until(end);
        assert_eq!(bench.dcf().contention_window(), windows[8]);
    }
}

/// 10.3.3: each draw is uniform in 0 … CW: in many first repetitions all of 64 slots occur, and no other.
#[test]
fn repetitions_use_the_whole_window() {
    let mut seen = [0_u32; 64];
    for slots in 0..64 {
        let mut bench = Bench::with_draws(dsss(), &[(63, slots)]);
        bench.packet(us(1_000), 1);
        bench.expect_transmit(Data, us(1_000));
        let (at, _) = bench.next_output(us(10_000)).expect("a repetition");
        let after = (at - us(1_822)).as_nanos();
        assert_eq!(after % 20_000, 0);
        seen[(after / 20_000) as usize] += 1;
    }
    assert_eq!(seen, [1; 64]);
}

/// 10.3.4.4: dot11ShortRetryLimit attempts at a short frame; then the next packet, after a backoff from the smallest window.
#[test]
fn a_short_frame_is_attempted_up_to_the_short_limit() {
    for limit in [1, 4, 7] {
        let mut bench = Bench::new(Config { short_retry_limit: limit, ..dsss() });
        bench.packet(us(1_000), 1);
        bench.packet(us(1_001), 2);
        let mut last = us(0);
        for attempt in 0..limit {
            let (at, output) = bench.next_output(us(1_000_000)).expect("an attempt");
            let Output::Transmit(frame) = output else { panic!("{output:?}") };
            assert_eq!((frame.kind, frame.sequence, frame.retry), (Data, 0, attempt > 0));
            last = at;
        }
        bench.expect_dropped(1, DropCause::ShortRetryLimit, last + micros(592 + 222));
        assert_eq!(bench.dcf().contention_window(), 31);
        // Boundaries from 1642 on; the timeout lies 8 µs before one.
        let boundary = last + micros(592 + 222 + 8);
        let (at, output) = bench.next_output(us(1_000_000)).expect("the next packet");
        let Output::Transmit(frame) = output else { panic!("{output:?}") };
        assert_eq!((frame.kind, frame.sequence, frame.retry), (Data, 1, false));
        assert!(at >= boundary && at <= boundary + micros(31 * 20));
        assert_eq!((at - boundary).as_nanos() % 20_000, 0);
    }
}

/// 10.3.4.4: an RTS without answer counts against the short limit, although the frame is long.
#[test]
fn an_rts_is_attempted_up_to_the_short_limit() {
    for limit in [1, 4, 7] {
        let config = Config { short_retry_limit: limit, long_retry_limit: 2, ..with_rts(dsss()) };
        let mut bench = Bench::new(config);
        bench.packet(us(1_000), 1);
        for _ in 0..limit {
            let output = bench.next_output(us(1_000_000));
            assert!(matches!(output, Some((_, Output::Transmit(frame))) if frame.kind == Rts), "{output:?}");
        }
        let end = bench.now() + micros(352 + 222);
        bench.expect_dropped(1, DropCause::ShortRetryLimit, end);
        bench.expect_nothing_until(us(1_000_000));
        assert_eq!(bench.dcf().counters().rts_sent, u64::from(limit));
        assert_eq!(bench.dcf().counters().data_sent, 0);
    }
}

/// 10.3.4.4: data after RTS/CTS count against the long limit. The CTS does not reset the window (10.3.3).
#[test]
fn data_after_an_rts_are_attempted_up_to_the_long_limit() {
    for limit in [1, 4] {
        let mut bench = Bench::new(Config { long_retry_limit: limit, short_retry_limit: 1, ..with_rts(dsss()) });
        bench.answer([true, false].repeat(limit as usize));
        bench.packet(us(1_000), 1);
        for attempt in 0..limit {
            for kind in [Rts, Data] {
                let output = bench.next_output(us(1_000_000));
                assert_eq!(bench.dcf().contention_window(), (32 << attempt) - 1);
                let Some((_, Output::Transmit(frame))) = output else { panic!("{output:?}") };
                assert_eq!((frame.kind, frame.retry), (kind, kind == Data && attempt > 0));
            }
        }
        let end = bench.now() + micros(592 + 222);
        bench.expect_dropped(1, DropCause::LongRetryLimit, end);
        bench.expect_nothing_until(us(1_000_000));
        assert_eq!((bench.dcf().counters().rts_sent, bench.dcf().counters().data_sent), (limit.into(), limit.into()));
        assert_eq!((bench.dcf().counters().cts_timeouts, bench.dcf().counters().ack_timeouts), (0, limit.into()));
    }
}

/// An ACK does not identify its frame: a late one, as over a long distance, counts as that of the next frame.
#[test]
fn a_late_ack_is_taken_for_that_of_the_next_frame() {
    let mut bench = Bench::new(Config { short_retry_limit: 1, ..dsss() });
    bench.packet(us(1_000), 1);
    bench.packet(us(1_000), 2);
    bench.expect_transmit(Data, us(1_000));
    let late = bench.ack();
    let given_up = bench.next_output(us(100_000));
    assert!(matches!(given_up, Some((_, Output::Dropped(packet, ..))) if packet.id == 1), "{given_up:?}");
    let Some((at, Output::Transmit(second))) = bench.next_output(us(100_000)) else { panic!("the next one follows") };
    let end = bench.hears(at + second.airtime + bench.sifs(), late);
    let taken = bench.next_output(end);
    assert!(
        matches!(taken, Some((when, Output::FalselyAcknowledged(packet))) if (when, packet.id) == (end, 2)),
        "{taken:?}"
    );
    bench.expect_nothing_until(us(200_000));
}

/// The counters are those of the frame in hand: the next one has all its attempts.
#[test]
fn each_frame_has_its_own_attempts() {
    let mut bench = Bench::new(Config { short_retry_limit: 3, ..dsss() });
    bench.answer([false, false, true, false, false, true]);
    bench.packet(us(1_000), 1);
    bench.packet(us(1_000), 2);
    let outputs = bench.outputs_until(us(1_000_000));
    let sent: Vec<_> = outputs
        .iter()
        .filter_map(|(_, output)| match output {
            Output::Sent(packet) => Some(packet.id),
            Output::Transmit(_) => None,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!((sent, outputs.len()), (vec![1, 2], 8));
}

/// A success after failures: the next packet's backoff is drawn from the smallest window.
#[test]
fn a_success_resets_the_window() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 3), (127, 0), (31, 30)]);
    bench.packet(us(1_000), 1);
    bench.packet(us(1_001), 2);
    bench.expect_transmit(Data, us(1_000));
    bench.expect_transmit(Data, us(1_882));
    // The second attempt ends at 2474, times out at 2696; the next boundary is 2524 + 9·20.
    let (_, end) = bench.expect_acknowledged(1, us(2_704));
    bench.expect_acknowledged(2, end + micros(50 + 600));
}

/// The peer's frame that begins while the station repeats is not understood, and nothing follows it.
#[test]
fn nothing_is_received_during_an_own_transmission() {
    let mut bench = Bench::with_draws(dsss(), &[(63, 0)]);
    bench.packet(us(1_000), 1);
    bench.hears(us(1_200), bench.data(5, false));
    bench.hears_error(us(1_100), us(1_150), MBPS_2);
    bench.expect_transmit(Data, us(1_000));
    // The peer's frame ends at 1792; DIFS after it is later than the timeout, 1814.
    bench.expect_acknowledged(1, us(1_842));
    assert_eq!(bench.dcf().counters().errors, 0);
}

/// 10.3.4.4: a CTS is the success of a short frame, the RTS: it resets the short counter of the packet in hand (as in
/// ns-2, whose recvCTS clears ssrc_).
#[test]
fn a_cts_resets_the_short_counter() {
    let mut bench = Bench::new(Config { short_retry_limit: 2, ..with_rts(dsss()) });
    // RTS fails; CTS, data fail; RTS fails; CTS, data arrive.
    bench.answer([false, true, false, false, true, true]);
    bench.packet(us(1_000), 1);
    for kind in [Rts, Rts, Data, Rts, Rts, Data] {
        let output = bench.next_output(us(1_000_000));
        assert!(matches!(output, Some((_, Output::Transmit(frame))) if frame.kind == kind), "{kind:?}: {output:?}");
    }
    let end = bench.now() + micros(592 + 10 + 304);
    bench.expect_sent(1, end);
}
