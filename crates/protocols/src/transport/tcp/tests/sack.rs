//! Selective acknowledgements: RFC 2018 and RFC 6675.

use super::super::{Config, Connection, Flags, Options, Segment, Variant};
use super::bench::*;

fn selective() -> Config {
    Config { variant: Variant::Sack, ..config() }
}

/// `segments` of 1000 bytes in flight at 0 ms, with SACK.
fn in_flight_sack(segments: u32) -> Bench {
    in_flight_with(selective(), segments, 0)
}

/// Blocks in segments.
fn sacks(acked: u32, blocks: &[(u32, u32)]) -> Segment {
    let blocks: Vec<_> = blocks.iter().map(|(left, right)| (left * MSS, right * MSS)).collect();
    sack(acked * MSS, &blocks)
}

/// The n-th segment of the stream.
fn nth(n: u32) -> Segment {
    data(n * MSS, MSS)
}

#[test]
fn rfc_2018_section_2_both_sides_must_agree() {
    let permitted = |segment: Segment| segment.options.is_sack_permitted();
    let syn = Segment { ack: 0, ..syn_ack().only(Flags::SYN) };
    let offer = |segment: Segment| Segment { options: segment.options.with_sack_permitted(), ..segment };
    for (own, peer) in [(true, true), (true, false), (false, true), (false, false)] {
        let config = if own { selective() } else { config() };
        let mut bench = Bench::new(Connection::listen(config.clone(), OWN));
        bench.send(if peer { offer(syn) } else { syn });
        assert_eq!(permitted(bench.next_segment().expect("a SYN, ACK")), own && peer);
        bench.send(ack(0)).send(text(MSS, MSS));
        let blocks = bench.next_segment().expect("a duplicate").options.sack_blocks().count();
        assert_eq!(blocks, usize::from(own && peer));

        let mut bench = Bench::new(Connection::connect(config, OWN));
        assert_eq!(permitted(bench.next_segment().expect("a SYN")), own);
        bench.send(if peer { offer(syn_ack()) } else { syn_ack() }).recv(ack_of(0)).send(text(MSS, MSS));
        let blocks = bench.next_segment().expect("a duplicate").options.sack_blocks().count();
        assert_eq!(blocks, usize::from(own && peer));
    }
}

#[test]
fn without_sack_at_the_peer_recovery_is_newrenos() {
    let mut bench = Bench::new(Connection::connect(Config { initial_window: Some(10), ..selective() }, OWN));
    bench.next_segment();
    bench.send(syn_ack()).recv(ack_of(0)).write(50_000);
    for n in 0..10 {
        bench.recv(nth(n));
    }
    bench.send(ack(0)).recv(nth(10)).send(ack(0)).recv(nth(11)).send(ack(0)).recv(nth(0)).recv_nothing();
    bench.expect_window(8 * MSS, 5 * MSS).send(ack(3 * MSS)).recv(nth(3));
    while bench.next_segment().is_some() {}
}

/// What the end under test acknowledges: the stream up to `acked`, and blocks, in units of 500 bytes.
fn acknowledges(acked: u32, blocks: &[(u32, u32)]) -> Segment {
    let expected = ack_of(500 * acked).window((BUFFER - 500 * acked) as u16);
    let number = |n: u32| PEER.wrapping_add(1).wrapping_add(500 * n);
    let block = |&(left, right): &(u32, u32)| super::super::SackBlock { left: number(left), right: number(right) };
    Segment { options: blocks.iter().map(block).fold(Options::NONE, Options::with_block), ..expected }
}

#[test]
fn rfc_2018_section_7_the_examples() {
    // Eight segments of 500 bytes. Case 2: the first is lost.
    let mut bench = established_with(selective());
    for n in 1..8 {
        bench.send(text(500 * n, 500)).recv(acknowledges(0, &[(1, n + 1)]));
    }
    // Case 3: the second, fourth, sixth and eighth are lost.
    let mut bench = established_with(Config { delayed_ack: None, ..selective() });
    bench.send(text(0, 500)).recv(acknowledges(1, &[]));
    bench.send(text(1000, 500)).recv(acknowledges(1, &[(2, 3)]));
    bench.send(text(2000, 500)).recv(acknowledges(1, &[(4, 5), (2, 3)]));
    bench.send(text(3000, 500)).recv(acknowledges(1, &[(6, 7), (4, 5), (2, 3)]));
    // The fourth comes, then the second.
    bench.send(text(1500, 500)).recv(acknowledges(1, &[(2, 5), (6, 7)]));
    bench.send(text(500, 500)).recv(acknowledges(5, &[(6, 7)]));
    bench.send(text(2500, 500)).recv(acknowledges(7, &[]));
}

#[test]
fn rfc_2018_section_4_the_latest_four_of_many_blocks() {
    let mut bench = established_with(selective());
    for n in [2, 4, 6, 8, 10] {
        bench.send(text(500 * n, 500));
        bench.next_segment();
    }
    // Again the third: it arrived last.
    bench.send(text(3000, 500)).recv(acknowledges(0, &[(6, 7), (10, 11), (8, 9), (4, 5)]));
}

#[test]
fn rfc_2018_section_4_blocks_leave_full_segments_alone() {
    let mut bench = established_with(Config { initial_window: Some(1), nagle: false, ..selective() });
    bench.write(2 * MSS).recv(nth(0)).send(text(500, 500)).recv(acknowledges(0, &[(1, 2)]).moved(MSS as i32));
    // A part of the gap is filled, and the window opens: the blocks are told before a segment that has no room for them.
    let (ack, window) = (ack_of(100).ack, BUFFER as u16 - 100);
    let told = Segment { ack, window, ..acknowledges(0, &[(1, 2)]).moved(MSS as i32) };
    bench.send(text(0, 100).acking(MSS)).recv(told).recv(Segment { ack, window, ..nth(1).push() }).recv_nothing();
    // A smaller one has room.
    let options = told.options;
    bench.write(300).recv(Segment { ack, window, options, ..data(2 * MSS, 300).push() }).recv_nothing();
}

#[test]
fn rfc_5681_equation_4_what_the_first_duplicate_let_out_counts_as_in_flight() {
    let mut bench = in_flight_sack(10);
    // One acknowledgement brings new data and the first block: it opens the window to eleven, which fill it at once.
    bench.at(100).send(sacks(4, &[(5, 6)]));
    for n in 10..16 {
        bench.recv(nth(n));
    }
    bench.recv_nothing().expect_window(11 * MSS, u32::MAX);
    bench.send(sacks(4, &[(5, 7)])).recv(nth(16)).recv_nothing();
    // Half of the eleven that the window holds, not of the six that were outstanding at the first duplicate.
    bench.send(sacks(4, &[(5, 8)])).recv(nth(4)).recv_nothing().expect_window(5500, 5500);
}

#[test]
fn rfc_6675_section_5_one_loss_by_hand() {
    let mut bench = in_flight_sack(10);
    // Step 3: what has left makes room, up to cwnd.
    bench.at(100).send(sacks(0, &[(1, 2)])).recv(nth(10)).recv_nothing();
    bench.send(sacks(0, &[(1, 3)])).recv(nth(11)).recv_nothing().expect_window(10 * MSS, u32::MAX);
    // Step 4: half of the ten, what limited transmit added not counted.
    bench.send(sacks(0, &[(1, 4)])).recv(nth(0)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    assert!(bench.connection.is_recovering());
    // SetPipe: eight that have not arrived, and the retransmission.
    assert_eq!(bench.connection.bytes_in_flight(), 9000);
    for right in 5..=8 {
        bench.send(sacks(0, &[(1, right)])).recv_nothing();
    }
    // Step C: cwnd − pipe is a segment from here on.
    assert_eq!(bench.connection.bytes_in_flight(), 5000);
    for right in 9..=12 {
        bench.send(sacks(0, &[(1, right)])).recv(nth(right + 3)).recv_nothing();
    }
    // Step A.
    bench.at(200).send(ack(12 * MSS)).recv(nth(16)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    assert!(!bench.connection.is_recovering());
    let statistics = *bench.connection.statistics();
    assert_eq!((statistics.fast_retransmits, statistics.segments_retransmitted, statistics.duplicate_acks), (1, 1, 11));
}

#[test]
fn rfc_6675_section_5_three_losses_by_hand() {
    // Segments 0, 3 and 6 of ten are lost.
    let mut bench = in_flight_sack(10);
    bench.at(100).send(sacks(0, &[(1, 2)])).recv(nth(10)).send(sacks(0, &[(1, 3)])).recv(nth(11));
    bench.send(sacks(0, &[(4, 5), (1, 3)])).recv(nth(0)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    assert_eq!(bench.connection.bytes_in_flight(), 9000);
    bench.send(sacks(0, &[(4, 6), (1, 3)])).recv_nothing();
    // Three segments above it: 3 is lost.
    bench.send(sacks(0, &[(7, 8), (4, 6), (1, 3)])).recv_nothing();
    assert_eq!(bench.connection.bytes_in_flight(), 6000);
    bench.send(sacks(0, &[(7, 9), (4, 6), (1, 3)])).recv_nothing();
    assert_eq!(bench.connection.bytes_in_flight(), 5000);
    // So is 6: two segments of room, rule 1 twice.
    bench.send(sacks(0, &[(7, 10), (4, 6), (1, 3)])).recv(nth(3)).recv(nth(6)).recv_nothing();
    // Rule 2.
    bench.send(sacks(0, &[(7, 11), (4, 6), (1, 3)])).recv(nth(12)).recv_nothing();
    bench.send(sacks(0, &[(7, 12), (4, 6), (1, 3)])).recv(nth(13)).recv_nothing();
    // Partial acknowledgements restart the timer (RFC 6298, section 5.3) and leave the window as it is.
    bench.at(200).send(sacks(3, &[(7, 12), (4, 6)])).recv(nth(14)).recv_nothing().expect_timer(Some(1200));
    bench.at(210).send(sacks(6, &[(7, 12)])).recv(nth(15)).recv_nothing().expect_timer(Some(1210));
    bench.expect_window(5 * MSS, 5 * MSS);
    bench.at(220).send(ack(12 * MSS)).recv(nth(16)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    assert_eq!(bench.connection.statistics().segments_retransmitted, 3);
}

#[test]
fn rfc_6675_section_5_step_2_one_acknowledgement_can_be_enough() {
    // The acknowledgements of 1 and 2 are lost.
    let mut bench = in_flight_sack(10);
    bench.send(sacks(0, &[(1, 4)])).recv(nth(0)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    // Exactly two segments are not, nor is what is told twice.
    let mut bench = in_flight_sack(10);
    bench.send(sacks(0, &[(1, 3)])).recv(nth(10)).recv(nth(11)).send(sacks(0, &[(1, 3)])).recv_nothing();
    bench.send(sacks(0, &[(1, 2)])).recv_nothing();
    assert_eq!(bench.connection.statistics().duplicate_acks, 1);
    // Nor does the acknowledgement need to be bare, or a repetition (section 2).
    let block = sacks(0, &[(5, 8)]).options;
    bench.send(Segment { options: block, ..text(0, 100).acking(2 * MSS) });
    bench.recv(Segment { ack: ack_of(100).ack, window: BUFFER as u16 - 100, ..nth(2) });
    while bench.next_segment().is_some() {}
    assert_eq!(bench.connection.statistics().fast_retransmits, 1);
}

#[test]
fn rfc_6675_section_4_rule_3_and_rule_4_at_the_end_of_the_data() {
    // Five segments, of which the first and the last are lost.
    let mut bench = established_with(Config { initial_window: Some(10), ..selective() });
    bench.write(5000);
    for n in 0..5 {
        let segment = nth(n);
        bench.recv(if n == 4 { segment.push() } else { segment });
    }
    bench.send(sacks(0, &[(1, 2)])).send(sacks(0, &[(1, 3)])).send(sacks(0, &[(1, 4)])).recv(nth(0)).recv_nothing();
    bench.expect_window(2500, 2500);
    // No hole is known, yet the last segment may be one: the rescue, once.
    bench.send(ack(4 * MSS)).recv(nth(4).push()).recv_nothing();
    bench.send(ack(5 * MSS)).expect_timer(None);

    // Rule 3: a hole that does not count as lost is sent again for want of anything else. Segments 0 and 5 of eight.
    let mut bench = established_with(Config { initial_window: Some(8), ..selective() });
    bench.write(8000);
    while bench.next_segment().is_some() {}
    bench.send(sacks(0, &[(1, 4)])).recv(nth(0)).recv_nothing();
    // In the network: 0, 4, 5 and 7 of four.
    bench
        .send(sacks(0, &[(6, 7), (1, 4)]))
        .recv_nothing()
        .send(sacks(0, &[(6, 7), (1, 5)]))
        .recv(nth(5))
        .recv_nothing();
}

#[test]
fn rfc_6675_section_5_1_a_timeout_ends_recovery_and_what_was_told_still_counts() {
    let mut bench = in_flight_sack(6);
    bench.send(sacks(0, &[(2, 3)])).recv(nth(6)).recv_nothing();
    bench.at(1000).recv(nth(0)).recv_nothing().expect_window(MSS, 3 * MSS);
    // 2 has arrived and is skipped.
    bench.send(sacks(1, &[(2, 3)])).recv(nth(1)).recv(nth(3)).recv_nothing().expect_window(2 * MSS, 3 * MSS);
    // No recovery below RecoveryPoint, whatever is told; but what has left makes room.
    bench.send(sacks(1, &[(4, 7), (2, 3)])).recv_nothing();
    assert!(!bench.connection.is_recovering());
    assert_eq!(bench.connection.statistics().fast_retransmits, 0);
    bench.send(ack(7 * MSS)).expect_window(3 * MSS, 3 * MSS).recv(nth(7)).recv(nth(8)).recv(nth(9)).recv_nothing();
    // From there on, losses are found again.
    bench.send(sacks(7, &[(8, 9)])).recv(nth(10)).send(sacks(7, &[(8, 10)])).recv(nth(11));
    bench.send(sacks(7, &[(8, 11)])).recv(nth(7)).recv_nothing().expect_window(2 * MSS, 2 * MSS);
}

#[test]
fn rfc_2018_section_8_a_second_timeout_forgets_what_was_told() {
    let mut bench = in_flight_sack(6);
    bench.send(sacks(0, &[(1, 3)])).recv(nth(6)).recv(nth(7));
    bench.at(1000).recv(nth(0)).at(3000).recv(nth(0));
    bench.send(ack(MSS)).recv(nth(1)).recv(nth(2)).recv_nothing();
}

#[test]
fn rfc_2883_section_4_duplicates_that_the_peer_reports_tell_nothing() {
    let mut bench = in_flight_sack(6);
    bench.send(ack(2 * MSS));
    while bench.next_segment().is_some() {}
    bench.send(sacks(2, &[(0, 1)])).send(sacks(2, &[(1, 2)])).send(sacks(2, &[(0, 2)])).recv_nothing();
    assert_eq!(bench.connection.statistics().duplicate_acks, 0);
}

#[test]
fn a_lost_retransmission_does_not_inflate_the_threshold() {
    let mut bench = in_flight_sack(10);
    bench.send(sacks(0, &[(1, 4)])).recv(nth(0)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
    // The retransmission is lost; each segment that arrives lets another one out.
    let (mut told, mut sent) = (4, 10);
    while sent < 50 {
        told += 1;
        bench.send(sacks(0, &[(1, told)]));
        while let Some(segment) = bench.next_segment() {
            assert_eq!(segment, nth(sent));
            sent += 1;
        }
        assert!(bench.connection.bytes_in_flight() <= 10_000);
    }
    bench.at(1000).recv(nth(0)).recv_nothing().expect_window(MSS, 2500);
}
