//! The parts by hand, at exact instants.

mod equilibrium;
mod properties;

use super::*;
use crate::transport::media::{Arrival, PacketResult};

const MSS: f64 = 1000.0;

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn near(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{got}, not {expected}");
}

/// A report of a quiet path: no congestion, and nothing acknowledged.
fn quiet(now: u64, rtt: u64) -> Report {
    Report {
        now: at(now),
        rtt: Duration::from_millis(rtt),
        lost: false,
        marked: false,
        l4s: false,
        alpha: 0.0,
        queueing: 0.0,
        average: 0.0,
        target: 0.06,
        target_rate: 1e6,
        acknowledged_rate: 1e6,
        unmarked_bytes: 0,
        may_grow: true,
    }
}

/// A window of about `bytes`, grown in one step, which puts no inflection point.
fn window_of(bytes: f64) -> Window {
    let mut window = Window::new(1000, at(0));
    window.on_in_flight(1_000_000);
    // 100 round trips of 100 ms have passed: growth is multiplicative, and the factors are known.
    let factor = MSS / 3000.0 * (1.0 + 0.02 * 3.0);
    let unmarked_bytes = ((bytes - 3000.0) / factor).round() as u64;
    window.on_feedback(&Report { unmarked_bytes, ..quiet(10_000, 100) });
    near(window.bytes(), 3000.0 + unmarked_bytes as f64 * factor);
    window
}

#[test]
fn marks_count_fast_and_fade_slowly() {
    let mut marking = Marking::default();
    let rtt = Duration::from_millis(50);
    marking.on_delivered(10, 4, at(0), rtt);
    near(marking.alpha(), 0.4 / 8.0);
    // Within 10 ms packets only count.
    marking.on_delivered(10, 10, at(9), rtt);
    near(marking.alpha(), 0.05);
    marking.on_delivered(10, 0, at(10), rtt);
    near(marking.alpha(), 0.5 / 8.0 + 0.05 * 7.0 / 8.0);
    let alpha = marking.alpha();
    marking.on_delivered(20, 1, at(20), rtt);
    near(marking.alpha(), alpha * 127.0 / 128.0);
}

#[test]
fn queueing_delay_is_above_the_least_of_ten_minutes() {
    let mut delay = Delay::default();
    let interval = Duration::from_millis(25);
    let mut take = |millis: i64, now: u64| {
        delay.on_one_way(millis * 1_000_000, at(now));
        delay.on_newest(millis * 1_000_000, at(now), interval);
        (delay.queueing(), delay.average())
    };
    // The receiver's clock is behind: delays are negative.
    assert_eq!(take(-500, 0), (0.0, 0.0));
    let (queueing, average) = take(-460, 30);
    near(queueing, 0.04);
    near(average, 0.01);
    // Within the interval only the present delay changes.
    let (queueing, average) = take(-400, 40);
    near(queueing, 0.1);
    near(average, 0.01);
    // A delay below the average replaces it.
    let (_, average) = take(-495, 60);
    near(average, 0.005);
    // Eleven minutes later the first minute is forgotten.
    for minute in 1..=10 {
        take(-450, minute * 60_000);
    }
    let (queueing, _) = take(-440, 660_000);
    near(queueing, 0.01);
}

#[test]
fn loss_takes_three_tenths_of_the_window_once_per_virtual_round_trip() {
    let mut window = window_of(50_000.0);
    let before = window.bytes();
    window.on_feedback(&Report { lost: true, ..quiet(10_010, 100) });
    near(window.bytes(), 0.7 * before);
    window.on_feedback(&Report { lost: true, ..quiet(10_034, 100) });
    near(window.bytes(), 0.7 * before);
    // The loss in between waits for the next reaction, 25 ms after the last.
    window.on_feedback(&quiet(10_035, 100));
    near(window.bytes(), 0.49 * before);
    window.on_feedback(&quiet(10_070, 100));
    near(window.bytes(), 0.49 * before);
}

#[test]
fn a_classic_mark_takes_a_fifth() {
    let mut window = window_of(50_000.0);
    let before = window.bytes();
    window.on_feedback(&Report { marked: true, alpha: 0.01, ..quiet(10_010, 100) });
    near(window.bytes(), 0.8 * before);
    window.on_feedback(&Report { marked: true, lost: true, ..quiet(10_050, 100) });
    near(window.bytes(), 0.8 * 0.7 * before);
}

#[test]
fn l4s_marks_take_half_their_share() {
    let mut window = window_of(50_000.0);
    let before = window.bytes();
    let marked = Report { marked: true, l4s: true, alpha: 0.2, queueing: 0.02, ..quiet(10_010, 100) };
    // The source was the limit for more than 100 round trips: the window falls to what was in flight, here above it. Four
    // reductions come in a round trip of 100 ms, each a quarter.
    window.on_feedback(&marked);
    near(window.bytes(), before * (1.0 - 0.1 / 4.0));
    // The same distance from the inflection point: (8 * 0.025)^2 = 0.04, so a quarter holds where the queue is short.
    let before = window.bytes();
    window.on_feedback(&Report { now: at(10_040), queueing: 0.0149, ..marked });
    near(window.bytes(), before * (1.0 - 0.1 / 4.0 / 4.0));
}

#[test]
fn a_window_that_outgrew_the_source_returns_to_it() {
    let mut window = window_of(50_000.0);
    // Two round trips with 20 kB in flight.
    for now in [10_200, 10_400] {
        window.on_in_flight(20_000);
        window.on_feedback(&quiet(now, 100));
    }
    window.on_feedback(&Report { marked: true, l4s: true, alpha: 0.2, queueing: 0.02, ..quiet(10_410, 100) });
    near(window.bytes(), 20_000.0 * (1.0 - 0.1 / 4.0));
}

#[test]
fn delay_acts_as_marks_above_half_the_target() {
    let mut window = window_of(50_000.0);
    let before = window.bytes();
    window.on_feedback(&Report { average: 0.03, ..quiet(10_050, 100) });
    near(window.bytes(), before);
    // Three quarters of the target: half of all packets count as marked.
    window.on_feedback(&Report { average: 0.045, ..quiet(10_100, 100) });
    near(window.bytes(), before * (1.0 - 0.5 / 2.0 / 4.0));
    // Above the target all do; with a round trip of 20 ms one reduction is one per round trip.
    let before = window.bytes();
    window.on_feedback(&Report { average: 0.1, ..quiet(10_150, 20) });
    near(window.bytes(), before / 2.0);
}

#[test]
fn a_target_that_fell_already_shrinks_the_window_less() {
    let fallen = Report { target_rate: 0.79e6, ..quiet(10_100, 100) };
    for (rate, scale) in [(0.79e6, 0.25), (0.81e6, 1.0)] {
        let mut window = window_of(50_000.0);
        let before = window.bytes();
        window.on_feedback(&Report { target_rate: rate, average: 0.06, ..fallen });
        near(window.bytes(), before * (1.0 - 0.5 * scale / 4.0));
    }
}

#[test]
fn the_acknowledged_rate_is_over_one_span() {
    let mut acknowledged = Acknowledged::default();
    let span = Duration::from_millis(100);
    for (now, bytes, rate) in [(0, 1000, 0.0), (50, 1000, 160e3), (100, 2000, 240e3), (160, 3000, 5000.0 * 8.0 / 0.11)]
    {
        acknowledged.on_bytes(bytes, at(now), span);
        near(acknowledged.rate(), rate);
    }
}

#[test]
fn the_window_has_a_floor() {
    let mut window = window_of(4_000.0);
    for step in 0..20 {
        window.on_feedback(&Report { lost: true, ..quiet(10_100 + 100 * step, 100) });
    }
    near(window.bytes(), 3000.0);
}

#[test]
fn growth_needs_bytes_in_flight_and_a_rate_below_the_maximum() {
    let mut window = Window::new(1000, at(0));
    let acknowledged = Report { unmarked_bytes: 3000, ..quiet(100, 100) };
    // Most: a segment more than 1.5 times what was in flight.
    window.on_in_flight(1000);
    window.on_feedback(&acknowledged);
    near(window.bytes(), 3000.0);
    window.on_in_flight(3000);
    window.on_feedback(&Report { may_grow: false, ..acknowledged });
    near(window.bytes(), 3000.0);
    // A segment per window, and 2 % of the window by the share of 100 round trips that has passed.
    window.on_feedback(&Report { now: at(1000), ..acknowledged });
    near(window.bytes(), 3000.0 + 1000.0 * (1.0 + 0.06 * 0.1));
}

#[test]
fn growth_is_slow_over_short_round_trips_and_near_the_inflection_point() {
    let mut window = Window::new(1000, at(0));
    window.on_in_flight(10_000);
    window.on_feedback(&Report { unmarked_bytes: 3000, ..quiet(0, 5) });
    near(window.bytes(), 3000.0 + 1000.0 / 5.0);
    let mut window = window_of(50_000.0);
    let top = window.bytes();
    window.on_feedback(&Report { average: 0.031, ..quiet(10_100, 100) });
    let low = window.bytes();
    // So little below the inflection point the factor is its least, 0.1, of which growth takes 0.25.
    let distance = 8.0 * (low - top) / top;
    assert!(distance * distance < 0.1);
    window.on_in_flight(1_000_000);
    window.on_feedback(&Report { unmarked_bytes: 1000, ..quiet(10_110, 100) });
    let calm = 10_110.0 / 10_000.0_f64;
    near(window.bytes(), low + MSS * MSS / low * 0.25 * (1.0 + 0.02 * low / MSS * calm.min(1.0) * 0.1));
}

#[test]
fn the_target_is_the_window_over_the_round_trip_less_margins() {
    let frame = Duration::from_millis(20);
    let mut rate = MediaRate::new(100_000, 10_000_000, 1000, frame);
    near(rate.target(), 100_000.0);
    let rtt = Duration::from_millis(100);
    rate.on_window(20_000.0, 0.05, rtt);
    near(rate.target(), 1_600_000.0 / 1.02 / 1.2);
    // Small windows lose up to a fifth.
    rate.on_window(4_000.0, 0.25, rtt);
    near(rate.target(), 320_000.0 * 0.85 / 1.02 / 1.2);
    rate.on_window(3_000.0, 1.0 / 3.0, rtt);
    near(rate.target(), 240_000.0 * 0.8 / 1.02 / 1.2);
    // A frame that found another waiting for its own period: a sixteenth of three quarters more margin, and its size, twice
    // the nominal one, adds a 64th.
    rate.on_window(20_000.0, 0.05, rtt);
    let nominal = rate.target() * 0.02 / 8.0;
    rate.on_frame((2.0 * nominal).round() as u32, frame);
    rate.on_window(20_000.0, 0.05, rtt);
    let deviation = ((2.0 * nominal).round() - nominal) / nominal / 64.0;
    near(rate.target(), 1_600_000.0 / 1.02 / (1.2 + 0.75 / 16.0 + deviation));
    rate.on_window(20_000_000.0, 0.0, rtt);
    near(rate.target(), 10_000_000.0);
    assert!(!rate.below_maximum());
}

#[test]
fn pacing_relaxes_near_the_greatest_rate() {
    let mut rate = MediaRate::new(10_000, 1_000_000, 1000, Duration::from_millis(20));
    near(rate.pacing(), 75_000.0);
    let rtt = Duration::from_millis(100);
    let factor = 8.0 / 0.1 / 1.02 / 1.2;
    for (share, headroom) in [(0.8, 1.5), (0.9, 3.0), (1.0, 6.0)] {
        rate.on_window(share * 1_000_000.0 / factor, 0.0, rtt);
        near(rate.pacing(), share * 1_000_000.0 * headroom);
    }
}

#[test]
fn the_accepted_delay_rises_under_steady_delay_and_under_loss() {
    let rtt = Duration::from_millis(100);
    let mut target = Target::new();
    let mut now = 0;
    let mut pass = |target: &mut Target, queueing: f64, lost: bool, rounds: u64| {
        for _ in 0..rounds {
            target.on_feedback(queueing, lost, at(now), rtt);
            now += 100;
        }
        target.seconds()
    };
    near(pass(&mut target, 0.03, false, 100), 0.06);
    // Steady at 90 ms once nothing else is among the last 200 round trips.
    near(pass(&mut target, 0.09, false, 200), 0.09);
    // Loss: half as much again.
    near(pass(&mut target, 0.09, true, 1), 1.5 * 0.09);
    near(target.loss_event_rate(), 0.02);
    assert_eq!(pass(&mut target, 0.5, true, 200), 0.4);
    // The path is free again: the target returns.
    near(pass(&mut target, 0.0, false, 400), 0.06);
}

fn packet(number: u64, sent: u64) -> SentPacket {
    SentPacket { number, size: 1000, sent: at(sent), probe: None, in_flight: 1000 * (number + 1) }
}

fn arrived(packet: SentPacket, time: u64, ecn: Ecn) -> PacketResult {
    PacketResult { packet, arrival: Some(Arrival { time: at(time), ecn }) }
}

#[test]
fn marks_count_only_where_packets_leave_as_ecn_capable() {
    for (ecn, shrinks) in [(Ecn::NotEct, false), (Ecn::Ect0, true), (Ecn::Ect1, true)] {
        let mut scream = Scream::new(Config { ecn, ..Config::default() });
        assert_eq!(scream.ecn(), ecn);
        let mut packets = Vec::new();
        for number in 0..20 {
            scream.on_sent(&packet(number, 0));
            packets.push(arrived(packet(number, 0), 50, Ecn::NotEct));
        }
        let rtt = Some(Duration::from_millis(100));
        scream.on_feedback(&Feedback { now: at(100), packets: &packets, rtt, in_flight: 0 });
        let before = scream.window().expect("a window");
        scream.on_sent(&packet(20, 110));
        let marked = [arrived(packet(20, 110), 160, Ecn::Ce)];
        scream.on_feedback(&Feedback { now: at(210), packets: &marked, rtt, in_flight: 0 });
        let after = scream.window().expect("a window");
        assert_eq!(after < before, shrinks, "{ecn:?}: {before} to {after}");
    }
}

#[test]
fn a_packet_may_leave_after_half_a_second_without_one() {
    let mut scream = Scream::new(Config::default());
    assert_eq!((scream.window(), scream.poll_timeout()), (Some(9000), None));
    scream.on_sent(&packet(0, 100));
    assert_eq!(scream.poll_timeout(), Some(at(600)));
    scream.handle_timeout(at(599));
    assert_eq!(scream.window(), Some(9000));
    scream.handle_timeout(at(600));
    assert_eq!((scream.window(), scream.poll_timeout()), (None, None));
    scream.on_sent(&packet(1, 600));
    assert_eq!((scream.window(), scream.poll_timeout()), (Some(9000), Some(at(1100))));
}

#[test]
fn metrics_have_names_with_units() {
    let mut names = Vec::new();
    Scream::new(Config::default()).metrics(&mut |name, value| {
        assert!(value.is_finite());
        names.push(name);
    });
    assert!(names.contains(&"reference_window_bytes") && names.contains(&"queue_delay_s"));
}
