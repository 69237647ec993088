//! Groups, slope, detector and the control behind them.

use super::super::delay::DelayBased;
use super::super::delay::aimd::Aimd;
use super::super::delay::inter_arrival::{Deltas, InterArrival};
use super::super::delay::link_capacity::LinkCapacity;
use super::super::delay::trendline::{Trendline, Usage};
use super::*;

#[test]
fn packets_within_five_milliseconds_are_a_group() {
    let mut groups = InterArrival::default();
    let mut take = |sent, arrival| groups.on_packet(at(sent), at(arrival), at(arrival));
    assert_eq!(take(0, 100), None);
    assert_eq!(take(5, 106), None);
    // A second group, 6 ms after the first packet; the first is whole, but has none before it.
    assert_eq!(take(6, 112), None);
    assert_eq!(take(8, 118), None);
    // The differences are between the last packets of the two groups.
    assert_eq!(take(20, 130), Some(Deltas { sent: 3.0, arrived: 12.0 }));
    // Sent before the group's first: left out.
    assert_eq!(take(19, 131), None);
}

#[test]
fn packets_that_the_path_delivers_at_once_are_a_group() {
    let mut groups = InterArrival::default();
    let mut take = |sent, arrival| groups.on_packet(at(sent), at(arrival), at(arrival));
    take(0, 100);
    take(10, 110);
    // 10 ms later, and 4 ms later at the receiver: one burst.
    assert_eq!(take(20, 114), None);
    assert_eq!(take(30, 140), Some(Deltas { sent: 20.0, arrived: 14.0 }));
}

#[test]
fn a_jump_of_the_receivers_clock_starts_again() {
    let mut groups = InterArrival::default();
    let mut take = |sent, arrival, now| groups.on_packet(at(sent), at(arrival), at(now));
    take(0, 100, 50);
    take(10, 110, 60);
    assert!(take(20, 120, 70).is_some());
    // The clock jumps by 3 s from the group that is whole now to the next.
    assert!(take(30, 3130, 80).is_some());
    assert_eq!(take(40, 3140, 90), None);
    assert_eq!(take(50, 3150, 100), None);
    assert_eq!(take(60, 3160, 110), None);
    assert!(take(70, 3170, 120).is_some());
}

/// A path whose delay grows by `slope` milliseconds in each millisecond, with a group each 10 ms.
fn climb(line: &mut Trendline, slope: f64, groups: u64, from: u64) {
    for group in 0..groups {
        line.on_group(Deltas { sent: 10.0, arrived: 10.0 * (1.0 + slope) }, at(from + 10 * group));
    }
}

#[test]
fn a_queue_that_grows_is_overuse_and_one_that_shrinks_is_underuse() {
    let mut line = Trendline::new();
    climb(&mut line, 0.0, 60, 0);
    assert_eq!((line.usage(), line.modified()), (Usage::Normal, 0.0));
    climb(&mut line, 0.1, 40, 600);
    assert_eq!(line.usage(), Usage::Over);
    // In the long run the slope is that of the path: 60 groups, times 4.
    climb(&mut line, 0.1, 400, 1000);
    assert!((line.modified() - 60.0 * 0.1 * 4.0 * 10.0 / 10.0).abs() < 0.5, "{}", line.modified());
    climb(&mut line, -0.3, 60, 5000);
    assert_eq!(line.usage(), Usage::Under);
    climb(&mut line, 0.0, 100, 5600);
    assert_eq!(line.usage(), Usage::Normal);
}

#[test]
fn the_threshold_follows_the_trend_down_fast_and_up_slowly() {
    let mut line = Trendline::new();
    climb(&mut line, 0.0, 2, 0);
    // Two groups 10 ms apart, of which the second adapts for the first time: no time has passed for it.
    near(line.threshold(), 12.5);
    climb(&mut line, 0.0, 1, 20);
    near(line.threshold(), 12.5 - 0.039 * 12.5 * 10.0);
    climb(&mut line, 0.0, 10, 30);
    near(line.threshold(), 6.0);
}

#[test]
fn a_spike_leaves_the_threshold_alone() {
    let mut line = Trendline::new();
    climb(&mut line, 0.0, 100, 0);
    let before = line.threshold();
    climb(&mut line, 3.0, 5, 1000);
    assert!(line.modified() > before + 15.0);
    let spike = line.threshold();
    climb(&mut line, 3.0, 5, 1050);
    near(line.threshold(), spike);
}

#[test]
fn the_capacity_is_a_mean_with_bounds() {
    let mut capacity = LinkCapacity::new();
    assert_eq!((capacity.upper(), capacity.lower()), (f64::INFINITY, 0.0));
    capacity.on_overuse(1e6);
    near(capacity.estimate().expect("an estimate"), 1e6);
    // The variance is at its least, 0.4 of the mean.
    near(capacity.upper(), 1e6 + 3.0 * (0.4 * 1000.0_f64).sqrt() * 1000.0);
    capacity.on_overuse(0.9e6);
    near(capacity.estimate().expect("an estimate"), 0.995e6);
    let variance = 0.95 * 0.4 + 0.05 * 95.0 * 95.0 / 995.0;
    near(capacity.lower(), 0.995e6 - 3.0 * (variance * 995.0_f64).sqrt() * 1000.0);
    capacity.reset();
    assert_eq!(capacity.estimate(), None);
}

#[test]
fn an_unknown_capacity_is_approached_by_eight_percent_a_second() {
    let mut aimd = Aimd::new(1e6, 5e3);
    aimd.update(Usage::Normal, Some(1e6), at(0));
    near(aimd.rate(), 1.001e6);
    aimd.update(Usage::Normal, Some(1e6), at(500));
    near(aimd.rate(), 1.001e6 * libm::pow(1.08, 0.5));
    // A longer pause counts as a second.
    let before = aimd.rate();
    aimd.update(Usage::Normal, Some(1e6), at(2500));
    near(aimd.rate(), before * 1.08);
}

#[test]
fn growth_stops_at_one_and_a_half_times_what_arrives() {
    let mut aimd = Aimd::new(1e6, 5e3);
    aimd.update(Usage::Normal, Some(0.66e6), at(0));
    aimd.update(Usage::Normal, Some(0.66e6), at(1000));
    near(aimd.rate(), 1.5 * 0.66e6 + 10e3);
    aimd.update(Usage::Normal, Some(0.1e6), at(2000));
    near(aimd.rate(), 1e6);
}

#[test]
fn overuse_takes_the_rate_below_what_arrives() {
    let mut aimd = Aimd::new(2e6, 5e3);
    aimd.update(Usage::Over, Some(1e6), at(0));
    near(aimd.rate(), 0.85e6 - 5e3);
    near(aimd.capacity().expect("an estimate"), 1e6);
    // More arrives than the rate: 0.85 of the capacity, and never a rise.
    aimd.update(Usage::Over, Some(1.1e6), at(1000));
    near(aimd.rate(), 0.845e6);
    // Far less arrives: the capacity is forgotten, and begins again from there.
    aimd.update(Usage::Over, Some(0.3e6), at(2000));
    near(aimd.capacity().expect("an estimate"), 0.3e6);
    near(aimd.rate(), 0.25e6);
}

#[test]
fn growth_near_the_capacity_is_a_packet_in_twice_the_response_time() {
    let mut aimd = Aimd::new(2e6, 5e3);
    aimd.set_rtt(Duration::from_millis(100));
    aimd.update(Usage::Over, Some(1e6), at(0));
    aimd.update(Usage::Under, Some(1e6), at(100));
    let low = aimd.rate();
    aimd.update(Usage::Normal, Some(1e6), at(200));
    near(aimd.rate(), low);
    aimd.update(Usage::Normal, Some(1e6), at(700));
    // 845 kb/s at 30 frames a second: 28.2 kb a frame, in three packets.
    near(aimd.rate(), low + 0.5 * (low / 30.0 / 3.0) / 0.4);
}

#[test]
fn reductions_are_a_round_trip_apart_unless_little_arrives() {
    let mut aimd = Aimd::new(2e6, 5e3);
    aimd.set_rtt(Duration::from_millis(50));
    aimd.update(Usage::Over, Some(1e6), at(0));
    assert!(!aimd.may_reduce(1e6, at(49)));
    assert!(aimd.may_reduce(1e6, at(50)));
    assert!(aimd.may_reduce(0.4e6, at(10)));
    assert!(!aimd.may_halve(at(49)) && aimd.may_halve(at(50)));
}

#[test]
fn overuse_before_anything_is_known_halves_the_rate() {
    let mut delay = DelayBased::new(1e6, 5e3);
    let mut now = 100;
    let mut halved = false;
    for group in 0..200_u64 {
        // The delay grows by half the time that passes.
        let (sent, arrival) = (group * 10, group * 15);
        now = now.max(arrival + 10);
        let before = delay.rate();
        let update = delay.on_feedback(&[(at(sent), at(arrival))], None, None, at(now));
        halved |= update.estimate == Some(before / 2.0);
    }
    assert!(halved && delay.usage() == Usage::Over);
}

#[test]
fn a_probe_sets_the_estimate_unless_delay_grows() {
    let mut delay = DelayBased::new(1e6, 5e3);
    let update = delay.on_feedback(&[(at(0), at(20))], Some(1e6), Some(3e6), at(40));
    assert_eq!((update.estimate, update.probed), (Some(3e6), true));
    assert_eq!(delay.on_feedback(&[], Some(1e6), Some(9e6), at(50)).estimate, None);
}
