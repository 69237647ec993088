//! The acknowledged rate, the application-limited region, and long round trips.

use super::super::alr::Alr;
use super::super::rtt_backoff::RttBackoff;
use super::super::throughput::Throughput;
use super::*;

#[test]
fn ten_packets_make_a_rate() {
    let mut throughput = Throughput::default();
    for number in 0..9 {
        throughput.on_packet(at(10 * number), at(50 + 10 * number), 1000);
    }
    assert_eq!(throughput.rate(), None);
    throughput.on_packet(at(90), at(140), 1000);
    near(throughput.rate().expect("a rate"), 9.0 * 8000.0 / 0.09);
}

#[test]
fn one_pause_of_the_path_does_not_count() {
    let mut throughput = Throughput::default();
    for number in 0..20 {
        let pause = if number < 10 { 0 } else { 300 };
        throughput.on_packet(at(10 * number), at(50 + 10 * number + pause), 1000);
    }
    // The gap of 310 ms counts as one of 10 ms, and the rate is not above that at which they left.
    near(throughput.rate().expect("a rate"), 19.0 * 8000.0 / 0.19);
}

#[test]
fn a_burst_after_a_pause_is_not_faster_than_it_left() {
    let mut throughput = Throughput::default();
    for number in 0..20 {
        throughput.on_packet(at(10 * number), at(500 + number), 1000);
    }
    near(throughput.rate().expect("a rate"), 19.0 * 8000.0 / 0.19);
}

#[test]
fn the_window_forgets() {
    let mut throughput = Throughput::default();
    for number in 0..200 {
        let size = if number < 100 { 1000 } else { 500 };
        throughput.on_packet(at(10 * number), at(50 + 10 * number), size);
        throughput.expire();
    }
    // A second and a packet more than that, at 4 kb each 10 ms.
    near(throughput.rate().expect("a rate"), 400e3);
    // Another clock: a second and more before the last.
    throughput.on_packet(at(2000), at(10), 1000);
    assert_eq!(throughput.rate(), None);
}

#[test]
fn an_application_that_sends_little_is_the_limit() {
    let mut alr = Alr::default();
    // 65 % of 800 kb/s for half a second: 32,500 B.
    alr.set_estimate(800e3);
    let mut send = |from: u64, step: u64, count: u64, size| {
        for number in 0..count {
            alr.on_sent(size, at(from + step * number));
        }
        alr.since()
    };
    // 1000 B each 100 ms leave 5500 B unused: 26,000 B are more than four fifths after five steps.
    assert_eq!(send(0, 100, 5, 1000), None);
    assert_eq!(send(500, 100, 1, 1000), Some(at(500)));
    // At 2000 B each 10 ms the unused bytes fall by 1350 B a step; half of the budget is left after nine.
    assert_eq!(send(510, 10, 8, 2000), Some(at(500)));
    assert_eq!(send(590, 10, 1, 2000), None);
}

#[test]
fn silence_counts_as_a_long_round_trip() {
    let mut backoff = RttBackoff::default();
    backoff.on_sent(at(0));
    backoff.on_rtt(Duration::from_millis(100), at(100));
    backoff.on_sent(at(3000));
    assert!(!backoff.is_high());
    backoff.on_sent(at(3001));
    assert!(backoff.is_high());
    assert_eq!(backoff.lower(1e6, at(3001)), Some(0.8e6));
    assert_eq!(backoff.lower(0.8e6, at(4000)), None);
    assert_eq!(backoff.lower(0.8e6, at(4001)), Some(0.64e6));
    assert_eq!(backoff.lower(5e3, at(6000)), None);
    backoff.on_rtt(Duration::from_millis(100), at(6000));
    assert!(!backoff.is_high());
}
