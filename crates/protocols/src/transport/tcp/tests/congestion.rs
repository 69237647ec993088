//! Congestion control as a choice: the variants, and a user's own.

use super::super::congestion::{Ack, CongestionControl};
use super::super::{Config, Connection, Flags, LossRecovery, Segment, Variant};
use super::bench::*;
use crate::time::Instant;

/// A window that never changes, and a record of what was reported.
#[derive(Debug, Default)]
struct Fixed {
    window: u32,
}

impl CongestionControl for Fixed {
    fn on_established(&mut self, segment: u32, _: u32) {
        self.window = 3 * segment;
    }
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: u32, _: Instant) {}
    fn on_recovered(&mut self, _: u32, _: Instant) {}
    fn on_timeout(&mut self, _: u32, _: bool, _: Instant) {}
    fn on_idle(&mut self) {}
    fn window(&self) -> u32 {
        self.window
    }
    fn slow_start_threshold(&self) -> u32 {
        7
    }
}

#[test]
fn a_law_of_ones_own_decides_how_much_is_in_flight() {
    let mut bench = established_by(Connection::connect_with(config(), OWN, Box::<Fixed>::default()));
    bench.write(50_000);
    for n in 0..3 {
        bench.recv(data(n * MSS, MSS));
    }
    bench.recv_nothing().expect_window(3 * MSS, 7).send(ack(2 * MSS));
    bench.recv(data(3 * MSS, MSS)).recv(data(4 * MSS, MSS)).recv_nothing();
    // Loss recovery is the connection's.
    bench.send(ack(2 * MSS)).recv(data(5 * MSS, MSS)).send(ack(2 * MSS)).recv(data(6 * MSS, MSS));
    bench.send(ack(2 * MSS)).recv(data(2 * MSS, MSS)).recv(data(7 * MSS, MSS)).recv_nothing();
}

#[test]
fn a_connection_that_returns_to_listen_keeps_it() {
    let mut bench = Bench::new(Connection::listen_with(config(), OWN, Box::<Fixed>::default()));
    let syn = Segment { ack: 0, ..syn_ack().only(Flags::SYN) };
    for _ in 0..2 {
        bench.send(syn);
        assert!(bench.next_segment().is_some());
        bench.send(ack(0).only(Flags::RST));
    }
    bench.send(syn);
    assert!(bench.next_segment().is_some());
    bench.send(ack(0)).expect_window(3 * MSS, 7);
}

#[test]
fn the_variants_are_what_they_are_called() {
    let recoveries = [Variant::Reno, Variant::NewReno, Variant::Sack, Variant::Cubic].map(Variant::loss_recovery);
    assert_eq!(recoveries, [LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Sack]);
    assert_eq!(Config::default().variant, Variant::NewReno);
}

#[test]
fn rfc_9438_section_4_6_cubic_leaves_seven_tenths_after_a_loss() {
    let mut bench = in_flight_with(Config { variant: Variant::Cubic, ..config() }, 10, 0);
    bench.send(sack(0, &[(MSS, 4 * MSS)])).recv(data(0, MSS)).expect_window(7 * MSS, 7 * MSS);
    // Pipe is seven: a segment at each that has left.
    bench.recv_nothing().send(sack(0, &[(MSS, 5 * MSS)])).recv(data(10 * MSS, MSS)).recv_nothing();
    // A timeout in the same recovery: seven tenths of the seven that the window takes to be in the network.
    bench.at(1000).recv(data(0, MSS)).expect_window(MSS, 4900);
}
