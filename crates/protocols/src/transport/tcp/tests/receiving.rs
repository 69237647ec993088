//! Acknowledging, reassembly and the window offered: RFC 9293, sections 3.8.6 and 3.10.7.4; RFC 5681, section 4.2;
//! RFC 5961.

use super::super::{CloseReason, Config, Connection, Flags, MAX_RANGES, Output, State};
use super::bench::*;
use crate::time::Instant;

fn full(offset: u32) -> u16 {
    (BUFFER - offset) as u16
}

#[test]
fn rfc_5681_section_4_2_every_second_full_segment_is_acknowledged_at_once() {
    let mut bench = established();
    bench.send(text(0, MSS)).recv_nothing().expect_events(&[Output::Readable]);
    bench.send(text(MSS, MSS)).recv(ack_of(2 * MSS).window(full(2 * MSS))).recv_nothing();
    bench.send(text(2 * MSS, MSS)).recv_nothing();
    bench.send(text(3 * MSS, MSS)).recv(ack_of(4 * MSS).window(full(4 * MSS))).expect_timer(None);
}

#[test]
fn section_3_8_6_3_one_segment_is_acknowledged_after_the_delay() {
    let mut bench = established();
    bench.at(10).send(text(0, MSS)).expect_timer(Some(210)).at(100).send(text(MSS, 500)).expect_timer(Some(210));
    bench.at(209).recv_nothing().at(210).recv(ack_of(1500).window(full(1500))).expect_timer(None);
}

#[test]
fn without_a_delay_every_segment_is_acknowledged() {
    let mut bench = established_with(Config { delayed_ack: None, ..config() });
    bench.send(text(0, MSS)).recv(ack_of(MSS).window(full(MSS)));
    bench.send(text(MSS, 1)).recv(ack_of(1001).window(full(1001))).expect_timer(None);
}

#[test]
fn section_3_8_6_3_data_carries_the_acknowledgement() {
    let mut bench = established();
    bench.send(text(0, MSS)).write(100);
    bench.recv(super::super::Segment { ack: ack_of(MSS).ack, ..data(0, 100).push().window(full(MSS)) });
    bench.expect_timer(Some(1000));
}

#[test]
fn rfc_5681_section_4_2_out_of_order_and_gaps_are_acknowledged_at_once() {
    let mut bench = established();
    bench.send(text(MSS, MSS)).recv(ack_of(0)).expect_events(&[]);
    bench.send(text(3 * MSS, MSS)).recv(ack_of(0));
    // Part of the gap, then the rest.
    bench.send(text(0, MSS)).recv(ack_of(2 * MSS).window(full(2 * MSS))).expect_events(&[Output::Readable]);
    bench.send(text(2 * MSS, MSS)).recv(ack_of(4 * MSS).window(full(4 * MSS))).expect_timer(None);
    assert_eq!(bench.connection.readable(), 4000);
    assert_eq!(bench.connection.statistics().out_of_order, 2);
    assert_eq!(bench.connection.statistics().bytes_received, 4000);
}

#[test]
fn rfc_5681_section_2_a_duplicate_repeats_the_window_though_the_user_has_read() {
    let mut bench = established();
    bench.send(text(0, MSS)).send(text(MSS, MSS)).recv(ack_of(2 * MSS).window(full(2 * MSS))).read(2 * MSS);
    for n in 3..6 {
        bench.send(text(n * MSS, MSS)).recv(ack_of(2 * MSS).window(full(2 * MSS)));
    }
    // The next acknowledgement of new data tells.
    bench.send(text(2 * MSS, MSS)).recv(ack_of(6 * MSS).window(full(4 * MSS)));
}

#[test]
fn a_duplicate_does_not_hold_up_data_of_the_other_direction() {
    let mut bench = established();
    bench.write(500).recv(data(0, 500).push()).write(100);
    // One segment both opens the way for data and shows a gap: the duplicate goes alone, then the data.
    bench.send(text(MSS, MSS).acking(500)).recv(ack_of(0).moved(500)).recv(data(500, 100).push()).recv_nothing();
}

#[test]
fn old_and_overlapping_text_is_taken_once() {
    let mut bench = established();
    bench.send(text(0, MSS)).send(text(500, MSS)).recv_nothing();
    assert_eq!(bench.connection.readable(), 1500);
    bench.send(text(0, MSS)).recv(ack_of(1500).window(full(1500)));
    bench.send(text(0, 4000)).recv(ack_of(4000).window(full(4000)));
    assert_eq!(bench.connection.statistics().bytes_received, 4000);
}

#[test]
fn section_3_8_6_nothing_beyond_the_window_is_taken() {
    let mut bench = established_with(Config { receive_buffer: 2500, ..config() });
    bench.send(text(0, MSS)).send(text(MSS, MSS)).recv(ack_of(2 * MSS).window(500));
    bench.send(text(2 * MSS, MSS)).recv_nothing();
    assert_eq!(bench.connection.readable(), 2500);
    bench.at(200).recv(ack_of(2500).window(0));
    // A probe into the closed window is answered, and its acknowledgement counts.
    bench.write(100).recv(super::super::Segment { ack: ack_of(2500).ack, ..data(0, 100).push().window(0) });
    bench.send(text(2500, 1).acking(100)).recv(ack_of(2500).moved(100).window(0)).expect_timer(None);
    assert_eq!(bench.connection.readable(), 2500);
}

#[test]
fn section_3_8_6_2_2_the_window_opens_in_steps() {
    let mut bench = established_with(Config { receive_buffer: 5000, ..config() });
    for n in 0..2 {
        bench.send(text(2 * n * MSS, MSS)).send(text((2 * n + 1) * MSS, MSS));
        bench.recv(ack_of((2 * n + 2) * MSS).window((5000 - (2 * n + 2) * MSS) as u16));
    }
    bench.send(text(4 * MSS, MSS)).at(200).recv(ack_of(5 * MSS).window(0));
    // Less than a segment is not worth telling; a segment is, as the window was below one.
    bench.read(999).recv_nothing().read(1).recv(ack_of(5 * MSS).window(1000));
    // From there, it takes half of the buffer.
    bench.read(2000).recv_nothing().read(499).recv_nothing().read(1).recv(ack_of(5 * MSS).window(3500));
    bench.read(1500).recv_nothing();
}

#[test]
fn a_reader_that_keeps_up_causes_no_acknowledgements() {
    let mut bench = established();
    for n in 0..50 {
        bench.send(text(2 * n * MSS, MSS)).read(MSS).send(text((2 * n + 1) * MSS, MSS));
        // The second segment is not read when it is acknowledged.
        bench.recv(ack_of(2 * (n + 1) * MSS).window(full(MSS))).read(MSS).recv_nothing();
    }
}

#[test]
fn a_range_too_many_is_as_good_as_lost() {
    let mut bench = established();
    for n in 0..=MAX_RANGES as u32 {
        bench.send(text(10 + 20 * n, 10)).recv(ack_of(0));
    }
    assert_eq!(bench.connection.statistics().out_of_order_dropped, 1);
    for n in 0..=MAX_RANGES as u32 {
        bench.send(text(20 * n, 10));
        while bench.next_segment().is_some() {}
    }
    // All but the last ten, which were not kept.
    assert_eq!(bench.connection.readable(), 20 * MAX_RANGES as u64 + 10);
}

#[test]
fn a_fin_waits_for_the_text_before_it() {
    let mut bench = established();
    bench.send(text(MSS, MSS).with(Flags::FIN)).recv(ack_of(0)).expect_state(State::Established);
    assert!(!bench.connection.is_finished());
    bench.send(text(0, MSS)).recv(ack_of(2001).window(full(2 * MSS) - 1));
    bench.expect_events(&[Output::Readable]).expect_state(State::CloseWait);
    assert!(bench.connection.is_finished());
    assert_eq!(bench.connection.readable(), 2000);
    bench.read(2000).recv_nothing();
    assert_eq!(bench.connection.readable(), 0);
}

#[test]
fn rfc_5961_section_3_a_reset_must_match_exactly() {
    let mut bench = established();
    bench.send(ack(0).moved(1).only(Flags::RST)).recv(ack_of(0)).expect_state(State::Established);
    bench.send(ack(0).moved(-1).only(Flags::RST)).recv_nothing();
    bench.send(ack(0).moved(BUFFER as i32).only(Flags::RST)).recv_nothing();
    bench.send(ack(0).only(Flags::RST)).expect_closed(CloseReason::Reset);
}

#[test]
fn rfc_5961_section_4_a_syn_in_the_window_draws_a_challenge() {
    established().send(syn_ack().moved(5)).recv(ack_of(0)).expect_state(State::Established);
}

#[test]
fn section_3_10_7_4_an_acknowledgement_of_what_was_never_sent() {
    let mut bench = established();
    bench.send(text(0, 100).acking(1)).recv(ack_of(0));
    assert_eq!(bench.connection.readable(), 0);
    // A segment without ACK is dropped.
    bench.send(text(0, 100).only(Flags::PSH)).recv_nothing();
    assert_eq!(bench.connection.readable(), 0);
}

#[test]
fn rfc_5961_section_5_text_with_an_acknowledgement_of_long_ago_draws_a_challenge() {
    // The largest window that the peer ever offered is 2000 bytes.
    let mut bench = Bench::new(Connection::connect(config(), OWN));
    bench.next_segment();
    bench.send(syn_ack().window(2000)).recv(ack_of(0)).write(5000);
    for n in [0, 2] {
        bench.recv(data(n * MSS, MSS)).recv(data((n + 1) * MSS, MSS)).send(ack((n + 2) * MSS).window(2000));
    }
    bench.recv(data(4 * MSS, MSS).push()).send(ack(5 * MSS).window(1000));
    // A window behind SND.UNA is the oldest that may be; a byte less may be a guess.
    bench.send(text(0, 100).acking(2999)).recv(ack_of(0).moved(5 * MSS as i32));
    assert_eq!((bench.connection.readable(), bench.connection.statistics().unacceptable), (0, 1));
    bench.send(text(0, 100).acking(3000)).recv_nothing();
    assert_eq!((bench.connection.readable(), bench.connection.statistics().unacceptable), (100, 1));
}

#[test]
fn rfc_5961_section_7_challenges_are_rationed() {
    let mut bench = established();
    bench.at(1000);
    for _ in 0..10 {
        bench.send(ack(1)).recv(ack_of(0));
    }
    bench.send(ack(1)).recv_nothing().at(5999).send(ack(1)).recv_nothing();
    bench.at(6000).send(ack(1)).recv(ack_of(0));
}

#[test]
fn who_doubts_that_the_peer_lives_has_it_asked() {
    let mut bench = established();
    bench.connection.handle_doubt(Instant::START);
    bench.recv(ack_of(0)).recv_nothing();
    // A peer that knows of nothing answers with the number that it was told (RFC 9293, section 3.10.7.1).
    bench.send(ack(0).only(Flags::RST)).expect_closed(CloseReason::Reset);
    bench.connection.handle_doubt(Instant::START);
    bench.recv_nothing();

    // As challenges are, and before the handshake is done there is nothing to doubt.
    let mut bench = established();
    for _ in 0..11 {
        bench.connection.handle_doubt(Instant::START);
    }
    bench.recv(ack_of(0)).recv_nothing();
    for mut connection in [Connection::listen(config(), OWN), Connection::connect(config(), OWN)] {
        let before = connection.poll_output(Instant::START);
        connection.handle_doubt(Instant::START);
        assert_eq!(connection.poll_output(Instant::START), None, "after {before:?}");
    }
}

#[test]
fn how_far_the_peers_stream_was_sent_is_told_by_what_may_be_taken() {
    let mut bench = established();
    let end = |bench: &Bench, segment| bench.connection.stream_end(&segment);
    // In order, ahead of a gap, and no further than the window.
    assert_eq!(end(&bench, text(0, MSS)), Some(1000));
    assert_eq!(end(&bench, text(5 * MSS, 100)), Some(5100));
    assert_eq!(end(&bench, text(BUFFER - 100, MSS)), Some(u64::from(BUFFER)));
    assert_eq!(end(&bench, text(BUFFER, 1)), None);
    // Nothing at all, and a SYN.
    assert_eq!([end(&bench, ack(0)), end(&bench, syn_ack())], [None, None]);
    // What has been taken, and what has in part.
    bench.send(text(0, MSS)).expect_events(&[Output::Readable]);
    assert_eq!([end(&bench, text(0, MSS)), end(&bench, text(500, MSS))], [None, Some(1500)]);
    // There is no text behind a FIN, which is none itself.
    bench.send(text(2 * MSS, MSS).with(Flags::FIN)).recv(ack_of(MSS).window(full(MSS)));
    assert_eq!([end(&bench, text(MSS, 3 * MSS)), end(&bench, text(2 * MSS, MSS))], [Some(3000), Some(3000)]);
    assert_eq!(Connection::listen(config(), OWN).stream_end(&text(0, 1)), None);
}
