//! Explicit congestion notification by hand: RFC 3168, section 6.1.

use hopcast_wire::ecn::Ecn;

use super::super::{Config, Connection, Flags, Segment, Variant};
use super::bench::*;
use crate::time::Instant;

const ASKS: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

fn asking() -> Config {
    Config { ecn: true, ..config() }
}

/// Open, with a window of `segments` and as much in flight.
fn in_flight_with_ecn(segments: u32, variant: Variant) -> Bench {
    let config = Config { initial_window: Some(segments), variant, ..asking() };
    let mut bench = Bench::new(Connection::connect(config, OWN));
    let syn = bench.next_segment().expect("a SYN");
    assert_eq!((syn.flags, bench.connection.ecn()), (Flags::SYN | ASKS, Ecn::NotEct));
    bench.send(syn_ack().with(Flags::ECE)).recv(ack_of(0).window(syn.window));
    assert_eq!(bench.connection.ecn(), Ecn::NotEct, "an acknowledgement is not marked");
    bench.write(100_000);
    for n in 0..segments {
        bench.recv(data(n * MSS, MSS));
        assert_eq!(bench.connection.ecn(), Ecn::Ect0);
    }
    bench
}

/// Section 6.1.1. A peer that sends all flags back knows nothing of ECN.
#[test]
fn both_sides_must_agree() {
    for (answer, agreed) in [(Flags::ECE, true), (ASKS, false), (Flags::default(), false)] {
        let mut bench = Bench::new(Connection::connect(asking(), OWN));
        bench.next_segment().expect("a SYN");
        bench.send(syn_ack().with(answer));
        assert_eq!(bench.connection.uses_ecn(), agreed);
    }
    for (wish, config, answer) in [
        (ASKS, asking(), Flags::ECE),
        (Flags::ECE, asking(), Flags::default()),
        (Flags::default(), asking(), Flags::default()),
        (ASKS, config(), Flags::default()),
    ] {
        let mut bench = Bench::new(Connection::listen(config, OWN));
        bench.send(Segment { ack: 0, ..syn_ack().only(Flags::SYN | wish) });
        let reply = bench.next_segment().expect("SYN and ACK");
        assert_eq!(reply.flags, Flags::SYN | Flags::ACK | answer);
        assert_eq!((bench.connection.uses_ecn(), bench.connection.ecn()), (answer == Flags::ECE, Ecn::NotEct));
    }
}

/// Section 6.1.2 on paper: ten segments in flight; echoes of one window halve it once and let it not grow, the next new segment
/// says so, and an echo of what was sent after the reduction is another one.
#[test]
fn the_window_is_halved_once_for_the_data_of_a_window() {
    for variant in [Variant::Reno, Variant::NewReno] {
        let mut bench = in_flight_with_ecn(10, variant);
        bench.at(50).send(ack(1000).with(Flags::ECE)).expect_window(5_000, 5_000).recv_nothing();
        bench.send(ack(5_000).with(Flags::ECE)).expect_window(5_000, 5_000).recv_nothing();
        bench.send(ack(6_000).with(Flags::ECE)).recv(data(10_000, MSS).with(Flags::CWR));
        bench.send(ack(7_000).with(Flags::ECE)).recv(data(11_000, MSS)).expect_window(5_000, 5_000);
        // Exactly what was sent before the reduction is acknowledged: still the same window.
        bench.send(ack(10_000).with(Flags::ECE)).expect_window(5_000, 5_000);
        bench.recv(data(12_000, MSS)).recv(data(13_000, MSS)).recv(data(14_000, MSS));
        bench.send(ack(11_000).with(Flags::ECE)).expect_window(2_500, 2_500).recv_nothing();
        let statistics = bench.connection.statistics();
        assert_eq!((statistics.ecn_reductions, statistics.segments_retransmitted), (2, 0));
    }
}

/// RFC 9438, section 4.6: CUBIC leaves 0.7 of the window.
#[test]
fn cubic_reduces_by_its_own_factor() {
    let mut bench = in_flight_with_ecn(10, Variant::Cubic);
    bench.at(50).send(ack(1000).with(Flags::ECE)).expect_window(7_000, 7_000);
}

/// Section 6.1.2: an echo adds nothing to the reduction that a loss in the same window has brought.
#[test]
fn a_loss_counts_for_the_marks_of_its_window() {
    let mut bench = in_flight_with_ecn(10, Variant::NewReno);
    bench.at(50);
    for n in 0..3 {
        bench.send(ack(0));
        if n < 2 {
            bench.recv(data((10 + n) * MSS, MSS).with(Flags::default()));
        }
    }
    // Section 6.1.5: a retransmission is not marked.
    bench.recv(data(0, MSS));
    assert_eq!(bench.connection.ecn(), Ecn::NotEct);
    bench.send(ack(12_000).with(Flags::ECE));
    assert_eq!((bench.connection.statistics().fast_retransmits, bench.connection.statistics().ecn_reductions), (1, 0));
    assert_eq!(bench.connection.slow_start_threshold(), 5_000);
}

/// Section 6.1.3: every acknowledgement echoes from a mark on, until the peer says that it has reduced its window. A mark on the
/// segment that says so is a new one.
#[test]
fn a_mark_is_echoed_until_the_peer_has_reduced() {
    let mut bench = Bench::new(Connection::listen(asking(), OWN));
    bench.send(Segment { ack: 0, ..syn_ack().only(Flags::SYN | ASKS) });
    bench.next_segment().expect("SYN and ACK");
    bench.send(ack(0)).recv_nothing();
    let mut offset = 0;
    for (first, second, flags, echoes) in [
        (Ecn::Ect0, Ecn::Ect0, Flags::default(), false),
        (Ecn::Ce, Ecn::Ect0, Flags::default(), true),
        (Ecn::Ect0, Ecn::Ect0, Flags::default(), true),
        (Ecn::Ect0, Ecn::Ect0, Flags::CWR, false),
        (Ecn::Ect0, Ecn::Ce, Flags::default(), true),
        (Ecn::Ce, Ecn::Ect0, Flags::CWR, true),
    ] {
        bench.connection.handle_segment_with(&text(offset, MSS).with(flags), first, Instant::START);
        assert!(bench.next_segment().is_none(), "every second segment is acknowledged");
        bench.connection.handle_segment_with(&text(offset + MSS, MSS), second, Instant::START);
        offset += 2 * MSS;
        let reply = bench.next_segment().expect("an acknowledgement");
        assert_eq!(reply.flags.contains(Flags::ECE), echoes, "at {offset}");
        assert_eq!(bench.connection.ecn(), Ecn::NotEct);
        bench.recv_nothing();
    }
    assert_eq!(bench.connection.statistics().marked_segments, 3);
}
