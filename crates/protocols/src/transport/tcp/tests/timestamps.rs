//! Timestamps: RFC 7323, sections 3 to 5.

use super::super::{Config, Connection, Flags, Options, Segment, Timestamps};
use super::bench::*;
use crate::time::Duration;

fn with_timestamps() -> Config {
    Config { timestamps: true, ..config() }
}

/// The same with timestamps, what else it says kept.
fn stamped(segment: Segment, value: u32, echo: u32) -> Segment {
    let options = Options::new(Some(Timestamps { value, echo }));
    let options = segment.options.mss().map_or(options, |mss| options.with_mss(mss));
    let shift = segment.options.window_scale();
    Segment { options: shift.map_or(options, |shift| options.with_window_scale(shift)), ..segment }
}

/// Established after 20 ms; the peer's clock was at 7000 then.
fn established_stamped() -> Bench {
    let mut bench = Bench::new(Connection::connect(with_timestamps(), OWN));
    let syn = bench.next_segment().expect("a SYN");
    // Section 3.2: the first echo is zero.
    assert_eq!(syn.options.timestamps(), Some(Timestamps { value: 0, echo: 0 }));
    bench.at(20).send(stamped(syn_ack(), 7000, 0)).recv(stamped(ack_of(0), 20, 7000));
    bench
}

#[test]
fn section_3_2_both_sides_must_agree() {
    // The peer does not answer the offer.
    let mut bench = Bench::new(Connection::connect(with_timestamps(), OWN));
    bench.next_segment();
    bench.send(syn_ack()).recv(ack_of(0));
    // The peer offers what was not asked for, or what was.
    let syn = stamped(Segment { ack: 0, ..syn_ack().only(Flags::SYN) }, 7000, 0);
    for (config, expected) in [(config(), None), (with_timestamps(), Some(Timestamps { value: 50, echo: 7000 }))] {
        let mut bench = Bench::new(Connection::listen(config, OWN));
        bench.at(50).send(syn);
        assert_eq!(bench.next_segment().expect("a SYN, ACK").options.timestamps(), expected);
    }
}

#[test]
fn rfc_9293_section_3_7_1_options_take_room_from_the_payload() {
    let mut bench = established_stamped();
    assert_eq!(bench.connection.segment(), 988);
    bench.write(2000).recv(stamped(data(0, 988), 20, 7000)).recv(stamped(data(988, 988), 20, 7000));
    bench.recv_nothing().expect_window(4 * 988, u32::MAX);
}

#[test]
fn section_4_1_every_acknowledgement_of_new_data_is_a_sample() {
    let mut bench = established_stamped();
    // R = 20 ms in the handshake.
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_millis(20)));
    bench.at(100).write(4 * 988);
    for n in 0..4 {
        let segment = stamped(data(n * 988, 988), 100, 7000);
        bench.recv(if n == 3 { segment.push() } else { segment });
    }
    // Appendix G: four segments in flight make two samples, so that 44 ms counts for 1/16: 20 + 24/16.
    bench.at(144).send(stamped(ack(988), 7124, 100));
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_micros(21_500)));
    // What repeats an acknowledgement is none.
    bench.at(200).send(stamped(ack(988), 7180, 100));
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_micros(21_500)));
}

#[test]
fn section_4_1_a_retransmission_is_a_sample_that_ends_backoff() {
    let mut bench = established_stamped();
    bench.at(100).write(988).recv(stamped(data(0, 988).push(), 100, 7000));
    bench.at(1100).recv(stamped(data(0, 988).push(), 1100, 7000)).expect_rto(2000);
    // The second one was acknowledged: 28 ms, of which an eighth counts.
    bench.at(1128).send(stamped(ack(988), 8108, 1100)).expect_rto(1000);
    assert_eq!(bench.connection.smoothed_rtt(), Some(Duration::from_millis(21)));
}

#[test]
fn section_4_3_the_echo_is_that_of_the_earliest_segment_not_acknowledged() {
    let mut bench = established_stamped();
    bench.at(100).send(stamped(text(0, 988), 7080, 20)).send(stamped(text(988, 988), 7081, 20));
    bench.recv(stamped(ack_of(1976).window(BUFFER as u16 - 1976), 100, 7080));
    // Ahead of a gap: the echo stays. The gap is filled: it is what filled it.
    let window = BUFFER as u16 - 1976;
    bench.send(stamped(text(2964, 988), 7090, 20)).recv(stamped(ack_of(1976).window(window), 100, 7080));
    bench.send(stamped(text(1976, 988), 7095, 20));
    bench.recv(stamped(ack_of(3952).window(window - 1976), 100, 7095));
}

#[test]
fn section_5_3_an_old_segment_is_dropped_and_acknowledged() {
    let mut bench = established_stamped();
    bench.at(100).send(stamped(text(0, 100), 6999, 20)).recv(stamped(ack_of(0), 100, 7000));
    assert_eq!((bench.connection.readable(), bench.connection.statistics().unacceptable), (0, 1));
    // A reset needs no timestamp.
    bench.send(ack(0).only(Flags::RST)).expect_closed(super::super::CloseReason::Reset);
}

#[test]
fn section_3_2_a_segment_without_timestamps_is_dropped_silently() {
    let mut bench = established_stamped();
    bench.send(text(0, 100)).recv_nothing();
    assert_eq!((bench.connection.readable(), bench.connection.statistics().unacceptable), (0, 1));
    bench.send(stamped(text(0, 100), 7000, 20));
    assert_eq!(bench.connection.readable(), 100);
}

#[test]
fn section_4_3_what_is_repeated_is_echoed_with_the_repetition() {
    let mut bench = established_stamped();
    let window = BUFFER as u16 - 988;
    let told = |bench: &mut Bench, echo| {
        let segment = bench.next_segment().expect("an acknowledgement");
        let expected = ack_of(988).window(window);
        assert_eq!((segment.ack, segment.window), (expected.ack, expected.window));
        assert_eq!(segment.options.timestamps().map(|stamps| stamps.echo), Some(echo));
    };
    bench.at(100).send(stamped(text(0, 988), 7080, 20));
    // The delayed acknowledgement is lost.
    bench.at(300);
    told(&mut bench, 7080);
    bench.at(1100).send(stamped(text(0, 988), 8080, 20));
    told(&mut bench, 8080);
    // What lies further back than any window, or is old, changes nothing.
    let far = Segment { seq: text(0, 988).seq.wrapping_sub(1 << 30), ..text(0, 988) };
    bench.at(1200).send(stamped(far, 8180, 20));
    told(&mut bench, 8080);
    bench.at(1300).send(stamped(text(0, 988), 8000, 20));
    told(&mut bench, 8080);
}
