//! Accurate explicit congestion notification by hand: RFC 9768.

use hopcast_wire::ecn::Ecn;

use super::super::{Config, Connection, Flags, Segment, Variant};
use super::bench::*;
use crate::time::{Duration, Instant};

const ALL: Flags = Flags(Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);
const CLASSIC: Flags = Flags(Flags::CWR.0 | Flags::ECE.0);

fn scalable() -> Config {
    Config { variant: Variant::Prague, ..config() }
}

/// The value of the ACE field.
fn ace(segment: &Segment) -> u16 {
    [(Flags::ECE, 1), (Flags::CWR, 2), (Flags::AE, 4)]
        .iter()
        .map(|(flag, value)| if segment.flags.contains(*flag) { *value } else { 0 })
        .sum()
}

fn with_ace(segment: Segment, value: u16) -> Segment {
    let bits = [(Flags::ECE, 1), (Flags::CWR, 2), (Flags::AE, 4)];
    bits.iter().filter(|(_, of)| value & of != 0).fold(segment, |segment, (flag, _)| segment.with(*flag))
}

/// Tables 2 and 3: the answer to a SYN repeats the field that the SYN came with, and so does the acknowledgement of the answer. A peer
/// without accurate ECN answers as it does to a classic offer.
#[test]
fn the_handshake_tells_the_fields_of_its_packets() {
    let fields = [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)];
    for (field, value) in fields {
        let mut bench = Bench::new(Connection::listen(scalable(), OWN));
        let syn = Segment { ack: 0, ..syn_ack().only(Flags::SYN | ALL) };
        bench.connection.handle_segment_with(&syn, field, Instant::START);
        let reply = bench.next_segment().expect("SYN and ACK");
        assert_eq!((ace(&reply), bench.connection.uses_ecn()), (value, true), "{field:?}");
    }
    for (field, value) in fields {
        let mut bench = Bench::new(Connection::connect(scalable(), OWN));
        let syn = bench.next_segment().expect("a SYN");
        assert_eq!((syn.flags, bench.connection.ecn()), (Flags::SYN | ALL, Ecn::NotEct));
        bench.connection.handle_segment_with(&with_ace(syn_ack(), 0b010), field, Instant::START);
        let reply = bench.next_segment().expect("an acknowledgement");
        assert_eq!(ace(&reply), value, "{field:?}");
        // From then on the count of marked packets, which begins with 5.
        bench.recv_nothing();
        bench.connection.handle_segment_with(&text(0, MSS), Ecn::Ce, Instant::START);
        bench.recv_nothing();
        bench.connection.handle_segment_with(&text(MSS, MSS), Ecn::Ect1, Instant::START);
        let reply = bench.next_segment().expect("an acknowledgement");
        assert_eq!(ace(&reply), if field == Ecn::Ce { 7 } else { 6 });
    }
    for (answer, agreed) in [(Flags::ECE, true), (ALL, false), (Flags::default(), false)] {
        let mut bench = Bench::new(Connection::connect(scalable(), OWN));
        bench.next_segment().expect("a SYN");
        bench.send(syn_ack().with(answer));
        assert_eq!(bench.connection.uses_ecn(), agreed, "{answer}");
    }
    // A classic offer gets a classic answer.
    let mut bench = Bench::new(Connection::listen(scalable(), OWN));
    bench.send(Segment { ack: 0, ..syn_ack().only(Flags::SYN | CLASSIC) });
    assert_eq!(bench.next_segment().expect("SYN and ACK").flags, Flags::SYN | Flags::ACK | Flags::ECE);
}

fn in_flight(segments: u32) -> Bench {
    let config = Config { initial_window: Some(segments), ..scalable() };
    let mut bench = Bench::new(Connection::connect(config, OWN));
    let syn = bench.next_segment().expect("a SYN");
    bench.send(with_ace(syn_ack(), 0b010));
    bench.recv(ack_of(0).window(syn.window).with(Flags::CWR));
    assert_eq!(bench.connection.ecn(), Ecn::NotEct, "an acknowledgement is not marked");
    bench.write(100_000);
    for n in 0..segments {
        let segment = bench.next_segment().expect("data");
        assert_eq!((segment.payload_offset, segment.payload_len), (u64::from(n * MSS), MSS as u16));
        assert_eq!((ace(&segment), bench.connection.ecn()), (5, Ecn::Ect1));
    }
    bench
}

/// The first mark halves, since α begins with 1, and ends slow start.
#[test]
fn a_count_that_rises_reduces_the_window() {
    let mut bench = in_flight(10);
    bench.at(50);
    let now = Instant::START + Duration::from_millis(50);
    let mut acknowledge = |segments: u32, value| {
        bench.connection.handle_segment(&with_ace(ack(segments * MSS), value), now);
        while bench.next_segment().is_some() {}
        (bench.connection.slow_start_threshold(), bench.connection.statistics().ecn_reductions)
    };
    assert_eq!(acknowledge(2, 5), (u32::MAX, 0));
    // Slow start has added a segment to the ten.
    assert_eq!(acknowledge(4, 6), (5_500, 1));
    // Another one of the same round trip adds nothing.
    assert_eq!(acknowledge(5, 7), (5_500, 1));
}

/// Section 3.2.2.5: an acknowledgement of eight segments or more may hide a whole turn of the count, and is taken to do so.
#[test]
fn a_count_that_may_have_gone_round_is_taken_for_the_most() {
    use super::super::ecn::{Feedback, Notification};
    for (segments, value, marked) in [
        (1, 5, 0),
        (2, 7, 2),
        (7, 5, 0),
        (7, 4, 7),
        (8, 5, 8),
        (8, 6, 1),
        (9, 5, 8),
        (16, 5, 16),
        (17, 6, 17),
        (20, 6, 17),
    ] {
        let mut ecn = Notification::new(Feedback::Accurate);
        ecn.on_syn(with_ace(syn_ack(), 0b010).flags, Ecn::NotEct);
        assert_eq!(ecn.marked(&with_ace(ack(0), value), segments), marked, "{value} for {segments}");
    }
}
