//! Closing a connection: RFC 9293, sections 3.6 and 3.10.4 to 3.10.7.

use super::super::{CloseReason, Config, Flags, Output, Segment, State};
use super::bench::*;
use crate::time::Duration;

/// The peer's FIN after `offset` bytes.
fn fin(offset: u32) -> Segment {
    text(offset, 0).with(Flags::FIN)
}

/// The own FIN after `offset` bytes.
fn own_fin(offset: u32) -> Segment {
    data(offset, 0).with(Flags::FIN)
}

/// The FIN occupies one position of the window.
fn ack_of_fin() -> Segment {
    ack_of(1).window(BUFFER as u16 - 1)
}

#[test]
fn section_3_6_figure_12_normal_close() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).expect_state(State::FinWait1);
    bench.send(ack(1)).expect_state(State::FinWait2).expect_timer(None);
    bench.at(50).send(fin(0).acking(1)).recv(ack_of_fin().moved(1)).expect_state(State::TimeWait);
    bench.expect_events(&[Output::Readable]).expect_timer(Some(240_050));
    bench.at(240_050).expect_closed(CloseReason::Finished);
}

#[test]
fn section_3_6_the_other_side_of_a_normal_close() {
    let mut bench = established();
    bench.send(fin(0)).recv(ack_of_fin()).expect_state(State::CloseWait).expect_events(&[Output::Readable]);
    // It may still send.
    let after_fin = |segment: Segment| Segment { ack: ack_of(1).ack, ..segment.window(BUFFER as u16 - 1) };
    bench.write(100).recv(after_fin(data(0, 100).push()));
    bench.send(ack(100).moved(1)).close().recv(after_fin(own_fin(100))).expect_state(State::LastAck);
    bench.send(ack(101).moved(1)).expect_closed(CloseReason::Finished);
}

#[test]
fn section_3_6_figure_13_simultaneous_close() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).send(fin(0)).recv(ack_of_fin().moved(1)).expect_state(State::Closing);
    bench.send(ack(1).moved(1)).expect_state(State::TimeWait);
}

#[test]
fn a_fin_that_acknowledges_the_own_one_skips_fin_wait_2() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).send(fin(0).acking(1)).recv(ack_of_fin().moved(1)).expect_state(State::TimeWait);
}

#[test]
fn section_3_10_4_a_close_follows_what_was_written() {
    let mut bench = established_with(Config { initial_window: Some(1), ..config() });
    bench.write(2500).recv(data(0, MSS)).close().recv_nothing().expect_state(State::FinWait1);
    assert_eq!(bench.connection.handle_write(1, crate::time::Instant::START), 0);
    bench.send(ack(MSS)).recv(data(MSS, MSS)).recv(data(2 * MSS, 500).push().with(Flags::FIN)).recv_nothing();
    bench.send(ack(2500)).expect_state(State::FinWait1).send(ack(2501)).expect_state(State::FinWait2);
    assert_eq!(bench.connection.statistics().bytes_acknowledged, 2500);
}

#[test]
fn a_lost_fin_is_sent_again() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).at(1000).recv(own_fin(0)).at(3000).recv(own_fin(0));
    bench.send(ack(1)).expect_state(State::FinWait2).expect_timer(None);
}

#[test]
fn reading_goes_on_after_the_own_close() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).send(ack(1)).send(text(0, MSS).acking(1));
    bench.send(text(MSS, MSS).acking(1)).recv(ack_of(2 * MSS).moved(1).window(BUFFER as u16 - 2000));
    bench.read(2000).expect_state(State::FinWait2);
}

#[test]
fn section_3_10_7_4_a_repeated_fin_restarts_time_wait() {
    let mut bench = established_with(Config { time_wait: Duration::from_secs(10), ..config() });
    bench.close().recv(own_fin(0)).send(fin(0).acking(1)).recv(ack_of_fin().moved(1)).expect_timer(Some(10_000));
    bench.at(4000).send(fin(0).acking(1)).recv(ack_of_fin().moved(1)).expect_timer(Some(14_000));
}

#[test]
fn section_3_10_5_an_abort_resets_the_peer() {
    let mut bench = established();
    bench.write(100).recv(data(0, 100).push()).abort();
    let reset = ack_of(0).moved(100).only(Flags::RST | Flags::ACK).window(0);
    bench.recv(reset).expect_closed(CloseReason::Aborted);
}

#[test]
fn section_3_10_4_a_close_in_syn_received_waits_for_the_handshake() {
    let mut bench = Bench::new(super::super::Connection::listen(config(), OWN));
    bench.send(Segment { ack: 0, ..syn_ack().only(Flags::SYN) });
    assert!(bench.next_segment().is_some());
    bench.close().recv_nothing().expect_state(State::SynReceived);
    bench.send(ack(0)).recv(own_fin(0)).expect_state(State::FinWait1).expect_events(&[Output::Connected]);
}

#[test]
fn section_3_10_4_a_close_in_syn_received_closes_what_would_listen_again() {
    let syn = Segment { ack: 0, ..syn_ack().only(Flags::SYN) };
    for stray in [ack(0).only(Flags::RST), syn.moved(1)] {
        let mut bench = Bench::new(super::super::Connection::listen(config(), OWN));
        bench.send(syn);
        assert!(bench.next_segment().is_some());
        bench.close().expect_state(State::SynReceived);
        bench.send(stray).expect_closed(CloseReason::Aborted);
        // Nobody is let in for a user who has closed.
        let refusal = ack_of(0).only(Flags::RST | Flags::ACK).window(0);
        bench.send(syn).recv(Segment { seq: 0, ..refusal }).expect_events(&[Output::Closed(CloseReason::Aborted)]);
    }
}

#[test]
fn a_reset_in_the_closing_states_ends_quietly() {
    let mut bench = established();
    bench.close().recv(own_fin(0)).send(fin(0)).recv(ack_of_fin().moved(1)).expect_state(State::Closing);
    bench.send(ack(1).moved(1).only(Flags::RST)).expect_closed(CloseReason::Finished);
}
