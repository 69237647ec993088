//! Explicit link failure notification: Holland and Vaidya, MobiCom 1999, section 4.

use super::super::{CloseReason, Config, Connection, Elfn, Flags, Output, State};
use super::bench::*;
use crate::time::Duration;

fn with_elfn() -> Config {
    Config { elfn: Some(Elfn::default()), ..config() }
}

#[test]
fn section_4_standby_probes_every_two_seconds_and_an_acknowledgement_restores() {
    let mut bench = in_flight_with(with_elfn(), 4, 0);
    bench.expect_timer(Some(1000)).at(100).route(false).expect_timer(Some(2100));
    assert!(bench.connection.is_on_standby());
    // A second notice changes nothing; nothing is sent, and the retransmission timer does not run.
    bench.at(600).route(false).expect_timer(Some(2100));
    bench.at(2100).recv(data(0, MSS)).recv_nothing().expect_timer(Some(4100));
    bench.at(4100).recv(data(0, MSS)).recv_nothing().expect_timer(Some(6100));
    // Timer and window are what they were; slow start goes on.
    bench.at(4150).send(ack(MSS)).expect_rto(1000).expect_window(5 * MSS, u32::MAX);
    bench.recv(data(4 * MSS, MSS)).recv(data(5 * MSS, MSS)).recv_nothing().expect_timer(Some(5150));
    assert!(!bench.connection.is_on_standby());
    let statistics = *bench.connection.statistics();
    assert_eq!((statistics.link_probes, statistics.timeouts, statistics.segments_retransmitted), (2, 0, 2));
    // What was lost with the route is found as ever.
    bench.at(5150).recv(data(MSS, MSS)).expect_rto(2000);
}

#[test]
fn section_4_any_acknowledgement_ends_it() {
    let mut bench = in_flight_with(with_elfn(), 4, 0);
    bench.at(100).route(false).at(300).send(ack(0)).recv(data(4 * MSS, MSS)).expect_timer(Some(1300));
    assert!(!bench.connection.is_on_standby());
}

#[test]
fn a_route_that_is_back_is_probed_at_once() {
    let mut bench = in_flight_with(with_elfn(), 4, 0);
    bench.at(100).route(false).at(1500).route(true).recv(data(0, MSS)).recv_nothing().expect_timer(Some(3500));
    // The word of the routing layer is not taken for the peer's.
    assert!(bench.connection.is_on_standby());
    bench.at(1600).send(ack(4 * MSS));
    while bench.next_segment().is_some() {}
    bench.expect_timer(Some(2600)).route(true).recv_nothing();
    assert_eq!(bench.connection.statistics().link_probes, 1);
}

#[test]
fn the_probe_is_no_sample_of_the_round_trip() {
    let mut bench = in_flight_with(with_elfn(), 4, 0);
    let before = bench.connection.smoothed_rtt();
    bench.at(100).route(false).at(2100).recv(data(0, MSS)).at(2110).send(ack(4 * MSS));
    assert_eq!(bench.connection.smoothed_rtt(), before);
    while bench.next_segment().is_some() {}
}

#[test]
fn the_window_can_be_halved_instead() {
    let elfn = Some(Elfn { halve: true, probe_interval: Duration::from_secs(5) });
    let mut bench = in_flight_with(Config { elfn, ..config() }, 10, 0);
    bench.at(100).route(false).at(5100).recv(data(0, MSS)).send(ack(0)).recv_nothing().expect_window(5 * MSS, 5 * MSS);
}

#[test]
fn what_the_user_writes_waits_for_the_route() {
    let mut bench = established_with(Config { initial_window: Some(10), ..with_elfn() });
    bench.write(500).recv(data(0, 500).push()).at(100).route(false).write(5000).recv_nothing();
    bench.at(2100).recv(data(0, 500)).recv_nothing().close().recv_nothing().at(2200).send(ack(500));
    for n in 0..4 {
        bench.recv(data(500 + n * MSS, MSS));
    }
    bench.recv(data(4500, MSS).push().with(Flags::FIN)).recv_nothing();
}

#[test]
fn without_anything_outstanding_or_elfn_nothing_freezes() {
    let mut bench = established_with(with_elfn());
    bench.route(false).expect_timer(None).write(500).recv(data(0, 500).push()).expect_timer(Some(1000));
    let mut bench = in_flight(4, 0);
    bench.at(100).route(false).expect_timer(Some(1000)).route(true).recv_nothing();
}

#[test]
fn a_syn_is_probed_with_too() {
    let mut bench = Bench::new(Connection::connect(with_elfn(), OWN));
    let syn = bench.next_segment().expect("a SYN");
    bench.at(100).route(false).at(2100).recv(syn).expect_timer(Some(4100)).at(2200).send(syn_ack()).recv(ack_of(0));
    bench.expect_state(State::Established).expect_events(&[Output::Connected]).expect_window(MSS, u32::MAX);
}

#[test]
fn rfc_9293_section_3_9_1_the_user_timeout_holds_on_standby() {
    let config = Config { user_timeout: Some(Duration::from_secs(5)), ..with_elfn() };
    let mut bench = in_flight_with(config, 1, 0);
    bench.at(100).route(false).at(2100).recv(data(0, MSS)).at(4100).recv(data(0, MSS)).at(6100);
    assert!(bench.next_segment().is_some_and(|segment| segment.flags.contains(Flags::RST)));
    bench.expect_closed(CloseReason::TimedOut);
}
