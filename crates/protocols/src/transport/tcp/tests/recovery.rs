//! Loss recovery: RFC 5681, section 3.2; RFC 6582; RFC 3042.

use super::super::{Config, Variant};
use super::bench::*;

/// Ten segments in flight, of which the first is lost, and the acknowledgements of the others, of which `count` come.
fn duplicates(bench: &mut Bench, offset: u32, count: u32) {
    for _ in 0..count {
        bench.send(ack(offset));
    }
}

#[test]
fn rfc_3042_the_first_two_duplicates_each_let_a_new_segment_out() {
    let mut bench = in_flight(10, 0);
    bench.send(ack(0)).recv(data(10 * MSS, MSS)).recv_nothing();
    bench.send(ack(0)).recv(data(11 * MSS, MSS)).recv_nothing().expect_window(10 * MSS, u32::MAX);
    // An acknowledgement of new data ends it.
    bench.send(ack(MSS)).expect_window(11 * MSS, u32::MAX).recv_nothing();
    assert_eq!(bench.connection.statistics().duplicate_acks, 2);
}

#[test]
fn rfc_3042_the_peers_window_and_the_cap_still_hold() {
    let mut bench = established_with(Config { window: Some(4), ..config() });
    bench.write(20_000);
    for n in 0..4 {
        bench.recv(data(n * MSS, MSS));
    }
    bench.send(ack(0)).recv_nothing().send(ack(0)).recv_nothing().send(ack(0)).recv(data(0, MSS)).recv_nothing();
}

#[test]
fn rfc_5681_section_3_2_fast_retransmit_and_recovery_by_hand() {
    let mut bench = in_flight(10, 0);
    bench.at(100).send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    // Step 2: the threshold counts the ten, not what limited transmit added; step 3: 5 + 3 segments.
    bench.send(ack(0)).recv(data(0, MSS)).recv_nothing().expect_window(8 * MSS, 5 * MSS);
    assert!(bench.connection.is_recovering());
    // Step 4: each further duplicate adds one. Twelve are in flight, so the fifth lets one out.
    for window in 9..=12 {
        bench.send(ack(0)).recv_nothing().expect_window(window * MSS, 5 * MSS);
    }
    bench.send(ack(0)).recv(data(12 * MSS, MSS)).recv_nothing().expect_window(13 * MSS, 5 * MSS);
    bench.send(ack(0)).recv(data(13 * MSS, MSS)).recv_nothing();
    // Full acknowledgement (RFC 6582, section 3.2, step 3, option 1): min(ssthresh, max(2, 1) + 1 segments).
    bench.at(200).send(ack(12 * MSS)).expect_window(3 * MSS, 5 * MSS).recv(data(14 * MSS, MSS)).recv_nothing();
    assert!(!bench.connection.is_recovering());
    let statistics = *bench.connection.statistics();
    assert_eq!((statistics.fast_retransmits, statistics.timeouts, statistics.segments_retransmitted), (1, 0, 1));
}

#[test]
fn rfc_6582_section_3_2_partial_acknowledgements_by_hand() {
    // Segments 0, 3 and 6 of ten are lost: the seven others make duplicates.
    let mut bench = in_flight(10, 0);
    bench.at(100).send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    bench.send(ack(0)).recv(data(0, MSS)).expect_window(8 * MSS, 5 * MSS).expect_timer(Some(1000));
    duplicates(&mut bench, 0, 4);
    bench.expect_window(12 * MSS, 5 * MSS);
    // Partial, up to 3: retransmits it, deflates by three, adds one back: 12 − 3 + 1. Nine are in flight. The first one
    // restarts the timer.
    bench.at(200).send(ack(3 * MSS)).recv(data(3 * MSS, MSS)).recv(data(12 * MSS, MSS)).recv_nothing();
    bench.expect_window(10 * MSS, 5 * MSS).expect_timer(Some(1200));
    assert!(bench.connection.is_recovering());
    // Partial, up to 6. The timer is left alone: Impatient (section 4).
    bench.at(300).send(ack(6 * MSS)).recv(data(6 * MSS, MSS)).recv(data(13 * MSS, MSS)).recv_nothing();
    bench.expect_window(8 * MSS, 5 * MSS).expect_timer(Some(1200));
    // Full: 12, the end of what was sent when the loss was found. Two in flight.
    bench.at(400).send(ack(12 * MSS)).expect_window(3 * MSS, 5 * MSS).recv(data(14 * MSS, MSS)).recv_nothing();
    bench.expect_timer(Some(1400));
    assert_eq!(bench.connection.statistics().fast_retransmits, 1);
}

#[test]
fn rfc_6582_section_3_2_a_partial_acknowledgement_below_a_segment_adds_nothing_back() {
    let mut bench = in_flight(10, 0);
    bench.send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS)).send(ack(0));
    bench.recv(data(0, MSS)).expect_window(8 * MSS, 5 * MSS);
    bench.send(ack(400)).recv(data(400, MSS)).recv_nothing().expect_window(7600, 5 * MSS);
}

#[test]
fn rfc_6582_section_3_2_duplicates_after_a_timeout_start_nothing() {
    let mut bench = in_flight(10, 0);
    bench.at(1000).recv(data(0, MSS)).expect_window(MSS, 5 * MSS);
    // What went out before the timeout still draws duplicates.
    duplicates(&mut bench, 0, 5);
    bench.expect_window(MSS, 5 * MSS).recv_nothing();
    // So does what is sent again though it had arrived: these cover `recover`, not more.
    bench.send(ack(10 * MSS)).recv(data(10 * MSS, MSS)).recv(data(11 * MSS, MSS));
    bench.send(ack(10 * MSS)).recv(data(12 * MSS, MSS)).send(ack(10 * MSS)).recv(data(13 * MSS, MSS));
    duplicates(&mut bench, 10 * MSS, 2);
    assert_eq!(bench.connection.statistics().fast_retransmits, 0);
    // Beyond it, three duplicates count again.
    bench.send(ack(11 * MSS));
    while bench.next_segment().is_some() {}
    for _ in 0..2 {
        bench.send(ack(11 * MSS));
        while bench.next_segment().is_some() {}
    }
    bench.send(ack(11 * MSS)).recv(data(11 * MSS, MSS));
    assert_eq!(bench.connection.statistics().fast_retransmits, 1);
    while bench.next_segment().is_some() {}
}

#[test]
fn rfc_6582_section_3_2_a_timeout_ends_recovery() {
    let mut bench = in_flight(10, 0);
    bench.send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    bench.send(ack(0)).recv(data(0, MSS)).recv_nothing();
    // Step 4, and equation 4 of RFC 5681: of the twelve outstanding, the window takes five to be in the network.
    bench.at(1000).recv(data(0, MSS)).recv_nothing().expect_window(MSS, 2500);
    assert!(!bench.connection.is_recovering());
    bench.send(ack(MSS)).expect_window(2 * MSS, 2500).recv(data(MSS, MSS)).recv(data(2 * MSS, MSS)).recv_nothing();
}

#[test]
fn rfc_5681_equation_4_a_lost_retransmission_does_not_inflate_the_threshold() {
    let mut bench = in_flight(10, 0);
    bench.send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    bench.send(ack(0)).recv(data(0, MSS)).recv_nothing().expect_window(8 * MSS, 5 * MSS);
    duplicates(&mut bench, 0, 4);
    // The retransmission is lost; each duplicate lets another segment out.
    for n in 12..50 {
        bench.send(ack(0)).recv(data(n * MSS, MSS)).recv_nothing();
    }
    assert_eq!(bench.connection.bytes_in_flight(), 50_000);
    // 5 segments were in the network, not 50.
    bench.at(1000).recv(data(0, MSS)).expect_window(MSS, 2500);
}

#[test]
fn rfc_5681_equation_4_what_arrived_above_a_hole_does_not_inflate_the_threshold() {
    let mut bench = in_flight(10, 0);
    bench.send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    bench.send(ack(0)).recv(data(0, MSS)).recv_nothing();
    duplicates(&mut bench, 0, 4);
    for n in 12..40 {
        bench.send(ack(0)).recv(data(n * MSS, MSS)).recv_nothing();
    }
    // The retransmission was late. Segment 13 is missing, the 26 after it are not.
    bench.send(ack(13 * MSS)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    duplicates(&mut bench, 13 * MSS, 2);
    bench.send(ack(13 * MSS)).recv(data(13 * MSS, MSS)).recv_nothing().expect_window(5500, 2500);
}

#[test]
fn rfc_5681_section_3_2_reno_leaves_recovery_with_the_first_new_acknowledgement() {
    // Segments 0, 3 and 6 of ten are lost.
    let mut bench = in_flight_with(Config { variant: Variant::Reno, ..config() }, 10, 0);
    bench.at(100).send(ack(0)).recv(data(10 * MSS, MSS)).send(ack(0)).recv(data(11 * MSS, MSS));
    bench.send(ack(0)).recv(data(0, MSS)).expect_window(8 * MSS, 5 * MSS);
    duplicates(&mut bench, 0, 4);
    // Step 6: the window deflates, and nothing is sent again.
    bench.at(200).send(ack(3 * MSS)).recv_nothing().expect_window(5 * MSS, 5 * MSS).expect_timer(Some(1200));
    assert!(!bench.connection.is_recovering());
    // Three more duplicates are another loss: half again. Nine are outstanding.
    duplicates(&mut bench, 3 * MSS, 2);
    bench.send(ack(3 * MSS)).recv(data(3 * MSS, MSS)).recv_nothing().expect_window(5500, 2500);
    assert_eq!(bench.connection.statistics().fast_retransmits, 2);
    // After a timeout, duplicates of what was sent before start nothing.
    bench.at(1200).recv(data(3 * MSS, MSS)).expect_window(MSS, 2 * MSS);
    duplicates(&mut bench, 3 * MSS, 5);
    bench.recv_nothing();
    assert_eq!(bench.connection.statistics().fast_retransmits, 2);
}

#[test]
fn rfc_5681_section_2_what_is_no_duplicate() {
    let mut bench = in_flight(10, 0);
    // (b) it carries data, (e) it brings another window, (c) FIN; and one with an old number.
    bench.send(text(0, 150)).recv_nothing();
    bench.send(text(150, 50)).recv_nothing();
    bench.send(ack(0).moved(200).window(65_000)).recv_nothing();
    bench.send(ack(0).moved(200).window(65_100)).recv_nothing();
    bench.send(ack(0).moved(200).window(65_200)).recv_nothing();
    assert_eq!(bench.connection.statistics().duplicate_acks, 0);
    // (a) nothing is outstanding.
    let mut bench = established();
    duplicates(&mut bench, 0, 5);
    assert_eq!(bench.connection.statistics().duplicate_acks, 0);
}

#[test]
fn the_first_segment_of_a_connection_can_be_retransmitted_fast() {
    let mut bench = established();
    bench.write(4000);
    for n in 0..4 {
        let segment = data(n * MSS, MSS);
        bench.recv(if n == 3 { segment.push() } else { segment });
    }
    duplicates(&mut bench, 0, 2);
    bench.send(ack(0)).recv(data(0, MSS)).recv_nothing();
    // What is sent last of the buffer is pushed again too.
    bench.send(ack(3 * MSS)).recv(data(3 * MSS, MSS).push()).recv_nothing().send(ack(4 * MSS)).expect_timer(None);
}
