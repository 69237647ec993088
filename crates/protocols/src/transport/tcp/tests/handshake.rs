//! Opening a connection: RFC 9293, sections 3.5 and 3.10.7.1 to 3.10.7.4.

use super::super::{CloseReason, Config, Connection, Flags, Options, Output, Segment, State};
use super::bench::*;
use crate::time::Duration;

/// The MSS, and perhaps a window scale.
fn offer(shift: Option<u8>) -> Options {
    let options = Options::NONE.with_mss(MSS as u16);
    shift.map_or(options, |shift| options.with_window_scale(shift))
}

fn syn() -> Segment {
    Segment { ack: 0, ..syn_ack().only(Flags::SYN) }
}

/// What the end under test opens with; its buffer fits the field, so that it asks for a shift of 0.
fn own_syn() -> Segment {
    Segment { seq: OWN, flags: Flags::SYN, window: BUFFER as u16, options: offer(Some(0)), ..Segment::default() }
}

fn own_syn_ack() -> Segment {
    Segment { ack: PEER.wrapping_add(1), options: offer(None), ..own_syn().with(Flags::ACK) }
}

fn connecting() -> Bench {
    let mut bench = Bench::new(Connection::connect(config(), OWN));
    bench.recv(own_syn()).expect_state(State::SynSent);
    bench
}

fn listening() -> Bench {
    let mut bench = Bench::new(Connection::listen(config(), OWN));
    bench.expect_state(State::Listen).expect_timer(None);
    bench
}

#[test]
fn section_3_5_active_open() {
    let mut bench = connecting();
    bench.expect_timer(Some(1000));
    bench.at(80).send(syn_ack()).recv(ack_of(0)).expect_events(&[Output::Connected]).expect_state(State::Established);
    // RFC 6298, section 2.2, with R = 80 ms: 80 + 4·40, below the floor.
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_millis(80)));
    bench.expect_rto(1000).expect_timer(None);
}

#[test]
fn section_3_5_passive_open() {
    let mut bench = listening();
    bench.send(syn()).recv(own_syn_ack()).expect_state(State::SynReceived).expect_events(&[]);
    bench.send(ack(0)).expect_events(&[Output::Connected]).expect_state(State::Established).expect_timer(None);
}

#[test]
fn section_3_5_the_first_data_may_complete_a_passive_open() {
    let mut bench = listening();
    bench.send(syn()).recv(own_syn_ack());
    bench.send(text(0, 500)).expect_events(&[Output::Connected, Output::Readable]);
    assert_eq!(bench.connection.readable(), 500);
}

#[test]
fn section_3_5_simultaneous_open() {
    let mut bench = connecting();
    bench.send(syn()).recv(own_syn_ack()).expect_state(State::SynReceived);
    // The peer's SYN, ACK repeats a number that was taken: it draws an acknowledgement, and the peer's completes it.
    bench.send(syn_ack()).recv(ack_of(0)).expect_state(State::SynReceived);
    bench.send(ack(0)).expect_state(State::Established).expect_events(&[Output::Connected]);
}

#[test]
fn data_written_before_the_handshake_leaves_with_its_last_step() {
    let mut bench = Bench::new(Connection::connect(config(), OWN));
    bench.connection.handle_write(600, crate::time::Instant::START);
    bench.recv(own_syn()).send(syn_ack()).recv(data(0, 600).push()).expect_events(&[Output::Connected]);
}

#[test]
fn rfc_6298_section_5_7_and_rfc_5681_section_3_1_after_a_lost_syn() {
    let mut bench = connecting();
    bench.at(1000).recv(own_syn()).at(3000).recv(own_syn());
    bench.at(3100).send(syn_ack()).recv(ack_of(0));
    // No sample from a SYN sent twice (Karn), 3 s, and one segment.
    assert_eq!(bench.connection.smoothed_rtt(), None);
    bench.expect_rto(3000).expect_window(MSS, u32::MAX);
    bench.write(5000).recv(data(0, MSS)).expect_timer(Some(6100));
    assert_eq!(bench.connection.statistics().timeouts, 2);
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut bench = listening();
    bench.send(syn()).recv(own_syn_ack()).at(1000).recv(own_syn_ack()).at(3000).recv(own_syn_ack());
    bench.send(ack(0)).expect_rto(3000).expect_window(MSS, u32::MAX).expect_timer(None);
}

#[test]
fn section_3_10_7_4_a_repeated_syn_ack_draws_an_acknowledgement() {
    established().send(syn_ack()).recv(ack_of(0)).expect_state(State::Established);
}

#[test]
fn section_3_10_7_3_resets_and_wrong_numbers_in_syn_sent() {
    let mut bench = connecting();
    // A reset without an acceptable ACK proves nothing.
    bench.send(Segment { ack: 0, ..ack(0) }.only(Flags::RST)).expect_state(State::SynSent);
    bench.send(ack(1).with(Flags::RST)).expect_state(State::SynSent);
    // A wrong ACK is of another connection.
    let stray = ack(7);
    bench.send(stray).recv(Segment { seq: stray.ack, flags: Flags::RST, ..Segment::default() });
    // An ACK without SYN does nothing.
    bench.send(ack(0)).expect_state(State::SynSent);
    bench.send(ack(0).with(Flags::RST)).expect_closed(CloseReason::Refused);
}

#[test]
fn section_3_10_7_2_what_listen_makes_of_a_segment() {
    let mut bench = listening();
    bench.send(syn().only(Flags::RST));
    let stray = ack(7);
    bench.send(stray).recv(Segment { seq: stray.ack, flags: Flags::RST, ..Segment::default() });
    bench.send(text(0, 100).only(Flags::PSH)).expect_state(State::Listen);
    bench.send(syn()).recv(own_syn_ack());
    // A reset, or a new SYN, leads back (section 3.10.7.4).
    bench.send(ack(0).only(Flags::RST)).expect_state(State::Listen).expect_timer(None);
    bench.send(syn()).recv(own_syn_ack()).send(ack(0)).expect_state(State::Established);
}

#[test]
fn section_3_10_7_4_the_user_hears_nothing_of_a_return_to_listen() {
    for stray in [ack(0).only(Flags::RST), syn().moved(1)] {
        let mut bench = Bench::new(Connection::listen(Config { send_buffer: 1500, ..config() }, OWN));
        assert_eq!(bench.connection.handle_write(2000, crate::time::Instant::START), 1500);
        bench.send(syn()).recv(own_syn_ack()).send(stray).expect_state(State::Listen).expect_events(&[]);
        // What was written goes to who connects, and who was refused room hears of it.
        bench.send(syn()).recv(own_syn_ack()).send(ack(0)).recv(data(0, MSS)).expect_events(&[Output::Connected]);
        bench.send(ack(MSS)).recv(data(MSS, 500).push()).expect_events(&[Output::Writable]);
    }
}

#[test]
fn section_3_10_7_4_a_wrong_acknowledgement_in_syn_received_is_reset() {
    let mut bench = listening();
    bench.send(syn()).recv(own_syn_ack());
    let stray = ack(9);
    bench.send(stray).recv(Segment { seq: stray.ack, flags: Flags::RST, ..Segment::default() });
    bench.expect_state(State::SynReceived);
}

#[test]
fn section_3_10_7_1_a_closed_connection_answers_with_resets() {
    let mut bench = connecting();
    bench.close().expect_closed(CloseReason::Aborted);
    bench.send(ack(5)).recv(Segment { seq: ack(5).ack, flags: Flags::RST, ..Segment::default() });
    let reset = Segment { ack: PEER.wrapping_add(1), flags: Flags::RST | Flags::ACK, ..Segment::default() };
    bench.send(syn()).recv(reset).send(ack(5).with(Flags::RST)).recv_nothing();
}

#[test]
fn section_3_9_1_the_user_timeout_gives_up() {
    let mut bench =
        Bench::new(Connection::connect(Config { user_timeout: Some(Duration::from_secs(10)), ..config() }, OWN));
    bench.recv(own_syn());
    for ms in [1000, 3000, 7000] {
        bench.at(ms).recv(own_syn());
    }
    // The first expiry after 10 s is at 15 s. Nobody is there to be told.
    bench.at(14_999).expect_state(State::SynSent).at(15_000).expect_closed(CloseReason::TimedOut);
}

#[test]
fn rfc_7323_section_2_scales_windows_only_if_both_sides_offer() {
    let large = Config { receive_buffer: 212_992, ..config() };
    let mut bench = Bench::new(Connection::connect(large.clone(), OWN));
    // 212992 needs a shift of 2; a SYN's own field is never scaled.
    bench.recv(Segment { window: 65_535, options: offer(Some(2)), ..own_syn() });
    bench.send(Segment { options: offer(Some(7)), ..syn_ack() }).recv(ack_of(0).window(53_248));
    assert_eq!(bench.connection.peer_window(), 65_535);
    bench.send(ack(0).window(1000));
    assert_eq!(bench.connection.peer_window(), 128_000);

    let mut bench = Bench::new(Connection::connect(large.clone(), OWN));
    bench.recv(Segment { window: 65_535, options: offer(Some(2)), ..own_syn() });
    bench.send(syn_ack()).recv(ack_of(0).window(65_535)).send(ack(0).window(1000));
    assert_eq!(bench.connection.peer_window(), 1000);

    let mut bench = Bench::new(Connection::listen(large, OWN));
    bench.send(Segment { options: offer(Some(200)), ..syn() });
    bench.recv(Segment { window: 65_535, options: offer(Some(2)), ..own_syn_ack() });
    bench.send(ack(0).window(3));
    // Section 2.3: a shift above 14 counts as 14.
    assert_eq!(bench.connection.peer_window(), 3 << 14);
}

#[test]
fn section_3_7_1_the_peers_mss_limits_segments() {
    for (mss, expected) in [(None, 536), (Some(300), 300), (Some(9000), MSS), (Some(0), 1)] {
        let mut bench = connecting();
        let options = mss.map_or(Options::NONE, |mss| Options::NONE.with_mss(mss));
        bench.send(Segment { options, ..syn_ack() }).recv(ack_of(0));
        assert_eq!(bench.connection.segment(), expected);
        bench.write(5000).recv(data(0, expected));
        while bench.next_segment().is_some() {}
    }
}

#[test]
fn states_print_as_the_rfc_spells_them() {
    assert_eq!(State::SynSent.to_string(), "SYN-SENT");
    assert_eq!(format!("{:>12}", State::FinWait1), "  FIN-WAIT-1");
}
