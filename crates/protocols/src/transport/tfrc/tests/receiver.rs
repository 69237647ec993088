//! The receiver by hand, at exact instants.

use super::super::{Config, Data, Edition, Receiver, Report, equation};
use crate::time::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

fn ms(n: u64) -> Instant {
    Instant::START + Duration::from_millis(n)
}

struct Bench {
    receiver: Receiver,
    now: Instant,
}

impl Bench {
    fn new() -> Self {
        let config = Config { edition: Edition::Rfc3448, ..Config::default() };
        Self { receiver: Receiver::new(config), now: ms(0) }
    }

    /// Time passes; feedback that is due on the way must not be.
    #[track_caller]
    fn at(&mut self, now: u64) -> &mut Self {
        self.expect_nothing();
        self.now = ms(now);
        self
    }

    fn packet(&mut self, number: u64) -> &mut Self {
        let data = Data { number, len: 1000, without_data: 0, rtt: RTT };
        self.receiver.on_packet(&data, self.now);
        self.receiver.count_losses(true, self.now);
        self
    }

    /// The feedback timer is due at this instant and not before.
    #[track_caller]
    fn timer(&mut self, at: u64) -> &mut Self {
        assert_eq!(self.receiver.poll_timeout(), Some(ms(at)));
        self.receiver.handle_timeout(Instant::from_nanos(ms(at).as_nanos() - 1));
        self.at(at);
        self.receiver.handle_timeout(self.now);
        self
    }

    #[track_caller]
    fn expect_report(&mut self, receive_rate: f64, loss_event_rate: f64) -> &mut Self {
        assert_eq!(self.receiver.poll_report(self.now), Some(Report { receive_rate, loss_event_rate }));
        self.expect_nothing()
    }

    #[track_caller]
    fn expect_nothing(&mut self) -> &mut Self {
        assert_eq!(self.receiver.poll_report(self.now), None);
        self
    }
}

#[test]
fn section_6_3_the_first_packet_is_answered_at_once() {
    Bench::new().at(50).packet(1).expect_report(10_000.0, 0.0);
}

#[test]
fn section_6_2_feedback_once_a_round_trip_while_packets_come() {
    let mut bench = Bench::new();
    bench.packet(1).expect_report(10_000.0, 0.0);
    bench.at(25).packet(2).at(50).packet(3).at(75).packet(4);
    // Three packets since, four within the round trip: the first is exactly one old.
    bench.timer(100).expect_report(30_000.0, 0.0);
    bench.at(110).packet(5).timer(200).expect_report(10_000.0, 0.0);
}

#[test]
fn section_6_1_a_packet_after_a_silent_timer_is_answered_at_once() {
    let mut bench = Bench::new();
    bench.packet(1).expect_report(10_000.0, 0.0);
    bench.timer(100).expect_nothing();
    assert_eq!(bench.receiver.poll_timeout(), None, "nothing to wait for");
    bench.at(1234).packet(2).expect_report(10_000.0, 0.0);
    bench.at(1240).packet(3).timer(1334).expect_report(10_000.0, 0.0);
}

#[test]
fn section_6_1_a_loss_event_is_reported_at_once_and_only_once() {
    let mut bench = Bench::new();
    bench.packet(1).expect_report(10_000.0, 0.0);
    for number in 2..10 {
        bench.at(10 * number).packet(number);
    }
    // 10 is missing; the third packet above it tells.
    bench.timer(100).expect_report(80_000.0, 0.0);
    bench.at(110).packet(11).at(120).packet(12).at(130).packet(13);
    // The first interval is that of the greatest rate so far, 90 kB/s; the round trip is 0.1 s, t_RTO 0.4 s.
    let first = 1.0 / equation::loss_event_rate(1000.0, 0.1, 0.4, 90_000.0);
    let report = bench.receiver.poll_report(ms(130)).expect("a new loss event");
    // Within the last 100 ms: 40 to 130 ms but for 100; the open interval, 10 to 13, is short.
    assert_eq!(report.receive_rate, 90_000.0);
    assert!((report.loss_event_rate * first - 1.0).abs() < 1e-9, "{}", report.loss_event_rate);
    // A second loss within the same round trip is no new event: 15, due at 150.
    bench.at(160).packet(16).at(170).packet(17).at(180).packet(18);
    bench.timer(230);
    assert!(bench.receiver.poll_report(ms(230)).is_some());
}

#[test]
fn section_6_1_losses_that_do_not_count_make_no_event() {
    let mut bench = Bench::new();
    bench.packet(1).expect_report(10_000.0, 0.0);
    for number in [3, 4, 5] {
        let data = Data { number, len: 1000, without_data: 0, rtt: RTT };
        let arrival = bench.receiver.on_packet(&data, ms(number));
        assert_eq!(arrival.lost, u64::from(number == 5));
        bench.receiver.count_losses(false, ms(number));
    }
    assert!(!bench.receiver.has_lost());
    bench.timer(100).expect_report(30_000.0, 0.0);
}

#[test]
fn rfc_4342_section_8_6_undecided_packets_are_skipped() {
    let mut bench = Bench::new();
    (1..30).filter(|number| *number != 10).for_each(|number| {
        bench.packet(number);
    });
    bench.packet(31).packet(32);
    let (skip, intervals) = bench.receiver.intervals();
    assert_eq!(skip, 3, "30 is missing, 31 and 32 are above it");
    let intervals: Vec<_> = intervals.map(|one| (one.lossy, one.lossless)).collect();
    assert_eq!(intervals[0], (1, 19));
}

#[test]
fn a_host_that_is_late_still_counts_what_came_in_time() {
    let config = Config { granularity: Duration::from_millis(10), ..Config::default() };
    let mut receiver = Receiver::new(config);
    let mut packet = |number, at| {
        receiver.on_packet(&Data { number, len: 1000, without_data: 0, rtt: Duration::from_millis(1) }, ms(at));
        receiver.count_losses(true, ms(at));
        receiver.poll_report(ms(at))
    };
    assert!(packet(0, 0).is_some(), "the first packet is answered at once");
    assert_eq!([packet(1, 1), packet(2, 5)], [None, None]);
    // Not a round trip later, but what the host can keep to.
    assert_eq!(receiver.poll_timeout(), Some(ms(10)));
    receiver.handle_timeout(ms(14));
    let report = receiver.poll_report(ms(14)).expect("it is due");
    // The first packet is ten milliseconds old when the timer is due; the other two in those ten.
    assert_eq!(report.receive_rate, 2000.0 / 0.01);
}

#[test]
fn rfc_4342_section_8_3_a_round_trip_that_shrinks_leaves_no_rate_of_nothing() {
    let mut receiver = Receiver::new(Config::default());
    for (number, at, rtt) in [(0, 0, 100), (1, 10, 100), (2, 20, 20)] {
        let rtt = Duration::from_millis(rtt);
        receiver.on_packet(&Data { number, len: 1000, without_data: 0, rtt }, ms(at));
        receiver.count_losses(true, ms(at));
        let _ = receiver.poll_report(ms(at));
    }
    receiver.handle_timeout(ms(100));
    let report = receiver.poll_report(ms(100)).expect("it is due");
    // Nothing in the last 20 ms; two packets since the report 100 ms ago.
    assert_eq!(report.receive_rate, 2000.0 / 0.1);
}

#[test]
fn ns2_loses_what_one_higher_number_overtakes_and_takes_nothing_back() {
    for (edition, lost, after) in [(Edition::Ns2, true, true), (Edition::Rfc3448, false, false)] {
        let config = Config { edition, ..Config::default() };
        let mut receiver = Receiver::new(config);
        let rtt = Duration::from_millis(100);
        let mut arrive = |number, at| {
            receiver.on_packet(&Data { number, len: 1000, without_data: 0, rtt }, ms(at));
            receiver.count_losses(true, ms(at));
            receiver.loss_event_rate() > 0.0
        };
        for number in 0..5 {
            assert!(!arrive(number, 10 * number));
        }
        assert_eq!(arrive(6, 60), lost, "{edition:?}");
        // Number 5 was late.
        assert_eq!(arrive(5, 61), after, "{edition:?}");
    }
}
