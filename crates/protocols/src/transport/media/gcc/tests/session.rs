//! Whole sessions by hand.

use super::super::super::{Feedback, MediaCongestionControl};
use super::super::*;
use super::*;

/// Sends a packet of 1000 B each `step` ms over a path of 50 ms, with feedback each 50 ms, for `count` packets.
fn steady(gcc: &mut Gcc, from: u64, step: u64, count: u64, lost: impl Fn(u64) -> bool) -> u64 {
    let mut waiting = Vec::new();
    let mut now = from;
    for number in 0..count {
        now = from + step * number;
        while gcc.poll_timeout().is_some_and(|due| due <= at(now)) {
            gcc.handle_timeout(at(now));
        }
        let packet = packet(from * 1000 + number, now, 1000);
        gcc.on_sent(&packet);
        waiting.push(result(packet, (!lost(number)).then_some(now + 50)));
        if waiting.len() as u64 * step >= 50 {
            let rtt = Some(Duration::from_millis(100));
            gcc.on_feedback(&Feedback { now: at(now + 100), packets: &waiting, rtt, in_flight: 0 });
            waiting.clear();
        }
    }
    now
}

#[test]
fn a_session_starts_at_its_rate_and_paces_above_it() {
    let mut gcc = Gcc::new(Config::default());
    assert_eq!((gcc.target_rate(), gcc.pacing_rate(), gcc.window()), (300_000, Some(750_000), None));
    assert_eq!((gcc.poll_timeout(), gcc.poll_probe(at(0))), (None, None));
    gcc.on_sent(&packet(0, 10, 1000));
    assert_eq!(gcc.poll_timeout(), Some(at(35)));
    assert_eq!(gcc.poll_probe(at(10)).map(|probe| probe.rate), Some(900_000));
    assert_eq!(gcc.poll_probe(at(10)).map(|probe| probe.rate), Some(1_800_000));
}

#[test]
fn a_free_path_is_used_up_to_the_encoders_rate() {
    let mut gcc = Gcc::new(Config { max_rate: 1_000_000, ..Config::default() });
    // 1.6 Mb/s arrive.
    steady(&mut gcc, 0, 5, 6000, |_| false);
    assert_eq!(gcc.target_rate(), 1_000_000);
    assert!(gcc.estimate() > 1_600_000, "{}", gcc.estimate());
}

#[test]
fn the_estimate_stays_near_what_arrives() {
    let mut gcc = Gcc::new(Config::default());
    steady(&mut gcc, 0, 20, 3000, |_| false);
    // 400 kb/s arrive: not above half as much again, and 10 kb/s.
    assert!(gcc.estimate() <= 610_000 && gcc.estimate() > 590_000, "{}", gcc.estimate());
}

#[test]
fn loss_limits_what_delay_would_allow() {
    let mut gcc = Gcc::new(Config::default());
    let now = steady(&mut gcc, 0, 10, 1000, |_| false);
    let before = gcc.estimate();
    // A third is lost, evenly.
    steady(&mut gcc, now + 10, 10, 500, |number| number % 3 == 0);
    assert!(gcc.estimate() < before, "{} from {before}", gcc.estimate());
    // About what arrives, 533 kb/s, which is the lower bound.
    assert!((450_000..600_000).contains(&gcc.estimate()), "{}", gcc.estimate());
}

#[test]
fn no_feedback_slows_down_after_three_seconds() {
    let mut gcc = Gcc::new(Config { min_rate: 10_000, ..Config::default() });
    let now = steady(&mut gcc, 0, 10, 200, |_| false);
    let before = gcc.estimate();
    for number in 0..1000 {
        let at_ms = now + 10 * number;
        gcc.on_sent(&packet(1_000_000 + number, at_ms, 1000));
        gcc.handle_timeout(at(at_ms));
    }
    // 10 s of silence, less 3 s: 0.8 each second.
    let expected = before as f64 * libm::pow(0.8, 7.0);
    let share = gcc.estimate() as f64 / expected;
    assert!((0.79..1.26).contains(&share), "{} of {before}", gcc.estimate());
}

#[test]
fn metrics_have_names_with_units() {
    let mut gcc = Gcc::new(Config::default());
    steady(&mut gcc, 0, 10, 300, |number| number % 20 == 0);
    let mut names = Vec::new();
    gcc.metrics(&mut |name, value| {
        assert!(value.is_finite(), "{name} is {value}");
        names.push(name);
    });
    for name in ["estimate_bps", "acknowledged_bps", "loss_estimate_bps", "trend_threshold"] {
        assert!(names.contains(&name), "{name}");
    }
}
