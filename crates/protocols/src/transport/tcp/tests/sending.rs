//! When data may leave: RFC 9293, sections 3.7.4 and 3.8.6; RFC 5681, sections 3.1 and 4.1; RFC 6298.

use super::super::{CloseReason, Config, Options, Output, State};
use super::bench::*;
use crate::time::Duration;

#[test]
fn rfc_5681_section_3_1_the_initial_window_by_segment_size() {
    for (segment, segments) in [(536, 4), (1095, 4), (1096, 3), (1460, 3), (2190, 3), (2191, 2), (8960, 2)] {
        let mut bench = super::super::Connection::connect(Config { segment, initial_window: None, ..config() }, OWN);
        let now = crate::time::Instant::START;
        let _ = bench.poll_output(now);
        bench.handle_segment(&super::super::Segment { options: Options::NONE.with_mss(u16::MAX), ..syn_ack() }, now);
        assert_eq!(bench.congestion_window(), segments * segment, "SMSS {segment}");
    }
}

#[test]
fn rfc_5681_section_3_1_slow_start_by_hand() {
    let mut bench = established();
    bench.expect_window(4 * MSS, u32::MAX).write(50_000);
    for n in 0..4 {
        bench.recv(data(n * MSS, MSS));
    }
    // Equation 2: one SMSS for each acknowledgement, however much it covers.
    bench.at(100).send(ack(2 * MSS)).expect_window(5 * MSS, u32::MAX);
    for n in 4..7 {
        bench.recv(data(n * MSS, MSS));
    }
    bench.send(ack(4 * MSS)).expect_window(6 * MSS, u32::MAX);
    for n in 7..10 {
        bench.recv(data(n * MSS, MSS));
    }
    // Less than a segment acknowledged adds only so much.
    bench.send(ack(4 * MSS + 300)).expect_window(6300, u32::MAX).recv_nothing();
}

#[test]
fn rfc_5681_section_3_1_congestion_avoidance_adds_a_segment_for_a_window_acknowledged() {
    let mut bench = in_flight(10, 0);
    bench.at(1000).recv(data(0, MSS)).expect_window(MSS, 5 * MSS);
    // Slow start to the threshold: 2, 3, 4, 5 segments. The acknowledgement covers what arrived before the timeout.
    bench.at(1100).send(ack(10 * MSS)).expect_window(2 * MSS, 5 * MSS);
    let (mut acked, mut sent) = (10, 10);
    for window in [3, 4, 5] {
        while bench.next_segment().is_some() {
            sent += 1;
        }
        acked += 1;
        bench.send(ack(acked * MSS)).expect_window(window * MSS, 5 * MSS);
    }
    // Five segments for the next, then six.
    for window in [5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 7] {
        while bench.next_segment().is_some() {
            sent += 1;
        }
        assert_eq!(sent - acked, bench.connection.congestion_window() / MSS);
        acked += 1;
        bench.send(ack(acked * MSS)).expect_window(window * MSS, 5 * MSS);
    }
    while bench.next_segment().is_some() {}
}

#[test]
fn rfc_5681_section_4_1_restarts_after_idle() {
    let mut bench = in_flight(4, 0);
    for n in 1..=100 {
        bench.send(ack(n * MSS));
        while bench.next_segment().is_some() {}
    }
    bench.expect_window(104 * MSS, u32::MAX).expect_timer(None);
    // Not longer than one RTO: the window stays.
    bench.at(1000).write(100_000);
    for n in 100..165 {
        bench.recv(data(n * MSS, MSS));
    }
    // The peer's window holds 65 segments.
    bench.send(ack(165 * MSS));
    while bench.next_segment().is_some() {}
    bench.send(ack(200 * MSS)).expect_timer(None).at(3000).write(100_000);
    for n in 200..204 {
        bench.recv(data(n * MSS, MSS));
    }
    bench.expect_window(4 * MSS, u32::MAX).recv_nothing();
}

/// A closed window after 44 segments, with a congestion window of 25.
fn stopped() -> Bench {
    let mut bench = in_flight(4, 0);
    for n in 1..=20 {
        bench.send(ack(n * MSS));
        while bench.next_segment().is_some() {}
    }
    bench.send(ack(44 * MSS).window(0)).expect_window(25 * MSS, u32::MAX).expect_timer(Some(1000));
    bench
}

#[test]
fn rfc_5681_section_4_1_restarts_after_a_closed_window_that_was_probed() {
    // The window opens with the answer to a probe, which keeps its byte or refuses it, or unasked; or it opens soon.
    for (probes, opens, kept, segments) in [(3, 7000, 0, 4), (3, 7000, 1, 4), (3, 14_800, 0, 4), (0, 999, 0, 25)] {
        let mut bench = stopped();
        for ms in [1000, 3000, 7000].into_iter().take(probes) {
            bench.at(ms).recv(data(44 * MSS, 1));
            if ms < opens {
                bench.send(ack(44 * MSS).window(0)).expect_window(25 * MSS, u32::MAX);
            }
        }
        bench.at(opens).send(ack(44 * MSS + kept));
        for n in 44..44 + segments {
            bench.recv(data(n * MSS + kept, MSS));
        }
        bench.expect_window(segments * MSS, u32::MAX).recv_nothing();
    }
}

#[test]
fn the_window_in_segments_caps_the_flight() {
    let mut bench =
        established_with(Config { window: Some(2), initial_window: Some(10), send_buffer: 20_000, ..config() });
    bench.write(20_000).recv(data(0, MSS)).recv(data(MSS, MSS)).recv_nothing();
    bench.send(ack(MSS)).recv(data(2 * MSS, MSS)).recv_nothing();
    bench.send(ack(3 * MSS)).recv(data(3 * MSS, MSS)).recv(data(4 * MSS, MSS)).recv_nothing();
}

#[test]
fn section_3_7_4_nagle_holds_back_a_partial_segment() {
    let mut bench = established();
    bench.write(100).recv(data(0, 100).push()).write(100).recv_nothing().write(100).recv_nothing();
    // A full segment goes, the rest waits.
    bench.write(900).recv(data(100, MSS)).recv_nothing();
    bench.send(ack(100)).recv_nothing().send(ack(1100)).recv(data(1100, 100).push());
}

#[test]
fn section_3_7_4_nagle_can_be_turned_off_and_a_close_overrides_it() {
    let mut bench = established_with(Config { nagle: false, ..config() });
    bench.write(100).recv(data(0, 100).push()).write(100).recv(data(100, 100).push());
    let mut bench = established();
    bench.write(100).recv(data(0, 100).push()).write(50).recv_nothing();
    bench.close().recv(data(100, 50).push().with(super::super::Flags::FIN));
}

#[test]
fn section_3_8_6_2_1_a_sender_avoids_the_silly_window() {
    let mut bench = established();
    bench.send(ack(0).window(10_000)).write(20_000);
    for n in 0..4 {
        bench.recv(data(n * MSS, MSS));
    }
    // 1500 bytes are offered: a full segment goes, the 500 that remain are neither a segment nor half of 65535.
    bench.send(ack(4 * MSS).window(1500)).recv(data(4 * MSS, MSS)).recv_nothing();
    // Nothing in flight, 500 offered: the override.
    bench.send(ack(5 * MSS).window(500)).expect_timer(Some(200));
    bench.at(200).recv(data(5 * MSS, 500)).expect_timer(Some(1200));
    assert_eq!(bench.connection.statistics().window_probes, 1);
    bench.send(ack(5500)).recv(data(5500, MSS));
    while bench.next_segment().is_some() {}
}

#[test]
fn section_3_8_6_2_1_half_of_the_largest_window_is_worth_sending() {
    // A peer whose whole buffer is less than a segment.
    let mut bench = super::bench::Bench::new(super::super::Connection::connect(config(), OWN));
    bench.next_segment();
    bench.send(syn_ack().window(600)).recv(ack_of(0)).write(5000).recv(data(0, 600)).recv_nothing();
    bench.send(ack(600).window(299)).recv_nothing();
    bench.send(ack(600).window(300)).recv(data(600, 300)).recv_nothing();
}

#[test]
fn section_3_8_6_1_probes_a_zero_window_ever_less_often() {
    let mut bench = established_with(Config { user_timeout: Some(Duration::from_secs(90)), ..config() });
    bench.send(ack(0).window(0)).write(5000).expect_timer(Some(1000));
    let mut ms = 0;
    for interval in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
        ms += interval * 1000;
        bench.at(ms).recv(data(0, 1)).recv_nothing();
        // The answer keeps the connection alive, and is no duplicate.
        bench.send(ack(0).window(0));
    }
    assert_eq!(bench.connection.statistics().window_probes, 9);
    assert_eq!(bench.connection.statistics().duplicate_acks, 0);
    // The window opens, and the byte was not kept.
    bench.send(ack(0).window(2500)).recv(data(0, MSS)).recv(data(MSS, MSS)).recv_nothing();
    bench.send(ack(2 * MSS).window(0)).expect_timer(Some(ms + 1000));
    // Now a byte is kept.
    bench.at(ms + 1000).recv(data(2 * MSS, 1)).send(ack(2 * MSS + 1).window(5000));
    bench.recv(data(2 * MSS + 1, MSS)).recv(data(3 * MSS + 1, MSS)).recv_nothing();
}

#[test]
fn section_3_10_7_4_a_closed_window_takes_acknowledgements_after_a_refused_probe() {
    let mut bench = established();
    bench.send(ack(0).window(0)).write(5000).at(1000).recv(data(0, 1)).send(ack(0).window(0));
    // An empty segment is acceptable at RCV.NXT only, while the peer's window is closed.
    let shut = |offset, len| text(offset, len).window(0);
    bench.send(shut(0, MSS)).send(shut(MSS, MSS)).recv(ack_of(2 * MSS).window((BUFFER - 2 * MSS) as u16));
    // Now the byte is kept, and RCV.NXT is behind it.
    bench
        .at(3000)
        .recv(super::super::Segment { ack: ack_of(2 * MSS).ack, ..data(0, 1).window((BUFFER - 2 * MSS) as u16) });
    bench.send(shut(2 * MSS, MSS).acking(1)).send(shut(3 * MSS, MSS).acking(1));
    bench.recv(ack_of(4 * MSS).moved(1).window((BUFFER - 4 * MSS) as u16));
}

#[test]
fn section_3_4_acknowledgements_after_a_timeout_follow_all_that_was_sent() {
    let mut bench = in_flight(4, 0);
    bench.at(1000).recv(data(0, MSS)).send(text(MSS, MSS)).recv(ack_of(0).moved(4 * MSS as i32));
}

#[test]
fn section_3_8_3_unanswered_probes_end_the_connection() {
    let mut bench = established_with(Config { user_timeout: Some(Duration::from_secs(10)), ..config() });
    bench.send(ack(0).window(0)).write(5000);
    for ms in [1000, 3000, 7000] {
        bench.at(ms).recv(data(0, 1));
    }
    // The peer's RCV.NXT, as it has kept none of them.
    let reset = ack_of(0).only(super::super::Flags::RST | super::super::Flags::ACK).window(0);
    bench.at(15_000).recv(reset).expect_closed(CloseReason::TimedOut);
}

#[test]
fn section_3_10_7_4_an_older_segment_does_not_change_the_window() {
    let mut bench = established();
    bench.write(2000).recv(data(0, MSS)).recv(data(MSS, MSS).push());
    bench.send(text(0, 300).acking(MSS).window(5000));
    assert_eq!(bench.connection.peer_window(), 5000);
    // Sent before: a lower acknowledgement is ignored with its window.
    bench.send(text(300, 100).acking(0).window(10)).recv_nothing();
    assert_eq!(bench.connection.peer_window(), 5000);
}

#[test]
fn section_3_10_7_4_a_retransmission_of_the_peer_brings_a_new_window() {
    let mut bench = established();
    bench.write(6000);
    for n in 0..4 {
        bench.recv(data(n * MSS, MSS));
    }
    // Out of order, with a window up to byte 5000; then what was missing, sent later, with one up to 4000.
    bench.send(text(500, 500).acking(MSS).window(4000));
    bench.recv(ack_of(0).moved(4000)).recv(data(4 * MSS, MSS)).recv_nothing();
    bench.send(text(0, 500).acking(2 * MSS).window(2000));
    bench.recv(ack_of(1000).moved(5000).window(BUFFER as u16 - 1000)).recv_nothing();
    assert_eq!(bench.connection.peer_window(), 2000);
}

#[test]
fn section_3_8_6_a_window_that_shrinks_holds_back_what_is_new_only() {
    let mut bench = in_flight(4, 0);
    bench.send(ack(MSS).window(0)).recv_nothing();
    assert_eq!(bench.connection.bytes_in_flight(), 3000);
    // What is outstanding is sent again on timeout nevertheless.
    bench.at(1000).recv(data(MSS, MSS)).recv_nothing().at(3000).recv(data(MSS, MSS));
    bench.send(ack(4 * MSS).window(0)).expect_timer(Some(7000));
}

#[test]
fn writers_are_told_of_room_only_after_a_refusal() {
    let mut bench = established_with(Config { send_buffer: 3000, ..config() });
    let now = crate::time::Instant::START;
    bench.write(2000).recv(data(0, MSS)).recv(data(MSS, MSS).push());
    bench.send(ack(MSS)).expect_events(&[]);
    assert_eq!(bench.connection.send_space(), 2000);
    assert_eq!(bench.connection.handle_write(5000, now), 2000);
    bench.recv(data(2000, MSS)).recv(data(3000, MSS).push());
    assert_eq!(bench.connection.handle_write(1, now), 0);
    bench.send(ack(2 * MSS)).expect_events(&[Output::Writable]);
    bench.send(ack(3 * MSS)).expect_events(&[]);
}

#[test]
fn rfc_6298_section_5_the_timer_by_hand() {
    let mut bench = established();
    // 5.1: starts with the first segment; a second does not move it.
    bench.at(100).write(1000).recv(data(0, MSS).push()).expect_timer(Some(1100));
    bench.at(300).write(1000).recv(data(MSS, MSS).push()).expect_timer(Some(1100));
    // 5.3: restarts when new data is acknowledged. R' = 400 ms with SRTT 0: RTTVAR 100, SRTT 50, RTO 450 < 1 s.
    bench.at(500).send(ack(MSS)).expect_timer(Some(1500));
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_millis(50)));
    // 5.2: stops when all is acknowledged.
    bench.at(600).send(ack(2 * MSS)).expect_timer(None);
}

#[test]
fn rfc_6298_sections_5_4_to_5_6_and_karn() {
    let mut bench = established();
    bench.write(4000);
    for n in 0..4 {
        let segment = data(n * MSS, MSS);
        bench.recv(if n == 3 { segment.push() } else { segment });
    }
    bench.at(1000).recv(data(0, MSS)).recv_nothing().expect_rto(2000);
    bench.at(3000).recv(data(0, MSS)).expect_rto(4000).at(7000).recv(data(0, MSS)).expect_rto(8000);
    // An acknowledgement of what was sent again is no sample, and the backoff stays (section 3).
    let before = bench.connection.smoothed_rtt();
    bench.at(7200).send(ack(MSS)).recv(data(MSS, MSS)).recv(data(2 * MSS, MSS)).expect_rto(8000);
    assert_eq!(bench.connection.smoothed_rtt(), before);
    bench.send(ack(4 * MSS)).expect_rto(8000).expect_timer(None);
    // A segment that is sent once ends it.
    bench.write(500).recv(data(4 * MSS, 500).push()).at(7300).send(ack(4500)).expect_rto(1000);
}

#[test]
fn rfc_5681_section_3_1_the_threshold_falls_once_for_one_loss() {
    let mut bench = in_flight(12, 0);
    bench.at(1000).recv(data(0, MSS)).expect_window(MSS, 6 * MSS);
    bench.at(3000).recv(data(0, MSS)).expect_window(MSS, 6 * MSS);
    assert_eq!(bench.connection.bytes_in_flight(), 1000);
    // It never falls below two segments.
    bench.send(ack(MSS)).recv(data(MSS, MSS)).recv(data(2 * MSS, MSS));
    bench.at(7000).recv(data(MSS, MSS)).expect_window(MSS, 2 * MSS);
}

#[test]
fn after_a_timeout_the_sender_goes_back_and_skips_what_had_arrived() {
    let mut bench = in_flight(6, 0);
    bench.at(1000).recv(data(0, MSS)).recv_nothing();
    // Bytes 1000 to 4000 had arrived.
    bench.send(ack(4 * MSS)).recv(data(4 * MSS, MSS)).recv(data(5 * MSS, MSS)).recv_nothing();
    bench.send(ack(5 * MSS)).recv(data(6 * MSS, MSS)).recv(data(7 * MSS, MSS)).recv_nothing();
    assert_eq!(bench.connection.statistics().segments_retransmitted, 3);
    bench.expect_state(State::Established);
}

#[test]
fn a_send_after_the_handshake_can_be_longer_than_the_sequence_space() {
    // 5 GiB by acknowledging what comes out, 60 000 bytes at a time: offsets go on where numbers wrap.
    let mut bench = established_with(Config { initial_window: Some(60), ..config() });
    let mut acked = 0_u64;
    while acked < 5 << 30 {
        bench.write(60_000);
        let mut end = acked;
        while let Some(segment) = bench.next_segment() {
            assert_eq!(segment.payload_offset, end);
            assert_eq!(segment.seq, OWN.wrapping_add(1).wrapping_add(end as u32));
            end += u64::from(segment.payload_len);
        }
        assert_eq!(end, acked + 60_000);
        acked = end;
        bench.send(ack(acked as u32));
    }
    assert_eq!(bench.connection.statistics().bytes_acknowledged, acked);
}
