//! Probes: when, how fast, and what they found.

use super::super::probe::controller::{Limit, ProbeController};
use super::super::probe::estimator::{ProbeEstimator, ProbePacket};
use super::*;

fn rates(controller: &mut ProbeController, now: u64) -> Vec<u64> {
    std::iter::from_fn(|| controller.poll(at(now))).map(|probe| probe.rate).collect()
}

#[test]
fn a_session_begins_with_three_and_six_times_its_rate() {
    let mut controller = ProbeController::new(300e3, 1.5e6, at(0));
    let first = controller.poll(at(0)).expect("a probe");
    assert_eq!((first.id, first.rate, first.packets, first.bytes), (0, 900_000, 5, 1688));
    assert_eq!(rates(&mut controller, 0), [1_800_000]);
    // More than 0.7 of the last one: twice what was found, and not above twice what the encoder can produce.
    controller.on_estimate(1_250e3, Limit::Delay, at(100));
    assert_eq!(rates(&mut controller, 100), []);
    controller.on_estimate(1_270e3, Limit::Delay, at(110));
    assert_eq!(rates(&mut controller, 110), [2_540_000]);
    controller.on_estimate(2_000e3, Limit::Delay, at(200));
    assert_eq!(rates(&mut controller, 200), [3_000_000]);
    // The limit was reached: no further one.
    controller.on_estimate(2_900e3, Limit::Delay, at(300));
    assert_eq!(rates(&mut controller, 300), []);
}

#[test]
fn results_are_waited_for_one_second() {
    let mut controller = ProbeController::new(300e3, 1.5e6, at(0));
    rates(&mut controller, 0);
    controller.handle_timeout(at(1001));
    controller.on_estimate(1_700e3, Limit::Delay, at(1002));
    assert_eq!(rates(&mut controller, 1002), []);
}

#[test]
fn an_application_limit_is_probed_every_five_seconds() {
    let mut controller = ProbeController::new(300e3, 1.5e6, at(0));
    rates(&mut controller, 0);
    controller.set_alr(Some(at(2000)));
    controller.handle_timeout(at(6999));
    assert_eq!(rates(&mut controller, 6999), []);
    controller.handle_timeout(at(7000));
    assert_eq!(rates(&mut controller, 7000), [600_000]);
    controller.handle_timeout(at(8100));
    controller.handle_timeout(at(11_999));
    assert_eq!(rates(&mut controller, 11_999), []);
    // Not while delay grows or loss limits.
    controller.on_estimate(300e3, Limit::Congestion, at(12_000));
    controller.handle_timeout(at(12_000));
    assert_eq!(rates(&mut controller, 12_000), []);
}

#[test]
fn a_drop_that_passes_is_followed_by_a_probe() {
    let mut controller = ProbeController::new(1e6, 1.5e6, at(0));
    rates(&mut controller, 0);
    controller.set_alr(Some(at(0)));
    controller.handle_timeout(at(4000));
    controller.on_estimate(0.6e6, Limit::Congestion, at(6000));
    controller.on_estimate(0.62e6, Limit::Delay, at(7000));
    controller.on_recovery(at(7000));
    assert_eq!(rates(&mut controller, 7000), [850_000]);
    controller.on_recovery(at(8000));
    assert_eq!(rates(&mut controller, 8000), [], "once in five seconds");
}

#[test]
fn stale_probes_are_dropped() {
    let mut controller = ProbeController::new(1e6, 1.5e6, at(0));
    assert!(controller.poll(at(5000)).is_some());
    assert!(controller.poll(at(5001)).is_none());
}

/// Five packets of 1000 B, `sending` and `receiving` milliseconds apart.
fn found(sending: u64, receiving: u64, count: u64) -> Option<f64> {
    let mut estimator = ProbeEstimator::default();
    let mut rate = None;
    for number in 0..count {
        rate = estimator.on_packet(&ProbePacket {
            id: 7,
            planned_packets: 5,
            planned_bytes: 4000,
            size: 1000,
            sent: at(sending * number),
            arrival: at(50 + receiving * number),
        });
    }
    rate
}

#[test]
fn a_probe_finds_the_lesser_rate() {
    near(found(4, 4, 5).expect("a rate"), 2e6);
    near(found(4, 3, 5).expect("a rate"), 2e6);
    // Nearly as fast as it left; then a full path, of which 0.95 is taken.
    near(found(20, 22, 5).expect("a rate"), 8000.0 / 0.022);
    near(found(4, 8, 5).expect("a rate"), 0.95e6);
    // Four fifths suffice.
    near(found(4, 4, 4).expect("a rate"), 2e6);
    assert_eq!(found(4, 4, 3), None);
    // Faster than possible, or too long.
    assert_eq!(found(5, 2, 5), None);
    assert_eq!(found(0, 2, 5), None);
    assert_eq!(found(4, 300, 5), None);
}
