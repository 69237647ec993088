//! By hand, on a fluid queue, and with arbitrary feedback.

use proptest::prelude::*;

use hopcast_wire::ecn::Ecn;

use super::super::{Arrival, Feedback, Frame, MediaCongestionControl, PacketResult, SentPacket};
use super::{Config, Nada};
use crate::time::{Duration, Instant};

const RTT: Duration = Duration::from_millis(40);

fn at(seconds: f64) -> Instant {
    Instant::START + Duration::from_secs_f64(seconds)
}

/// Packets each 10 ms for 100 ms, which end at `now`; all took `queue` seconds more than 20 ms.
fn report(nada: &mut Nada, now: f64, size: u32, queue: f64, fate: impl Fn(u64) -> Option<Ecn>) {
    let packets: Vec<PacketResult> = (0..10)
        .map(|nth: u64| {
            let sent = at(now - 0.1 + 0.01 * nth as f64);
            let number = (now * 100.0) as u64 + nth;
            let packet = SentPacket { number, size, sent, probe: None, in_flight: 0 };
            let time = sent + Duration::from_secs_f64(0.020 + queue);
            PacketResult { packet, arrival: fate(nth).map(|ecn| Arrival { time, ecn }) }
        })
        .collect();
    let now = at(now) + RTT;
    nada.on_feedback(&Feedback { now, packets: &packets, rtt: Some(RTT), in_flight: 0 });
}

fn arrived(_nth: u64) -> Option<Ecn> {
    Some(Ecn::NotEct)
}

fn metric(nada: &Nada, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    nada.metrics(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

/// Equations 3 and 4: with a round trip of 40 ms, the step is 50 ms / 260 ms = 0.1923 of what arrives.
#[test]
fn an_idle_path_is_ramped_up() {
    let mut nada = Nada::new(Config::default());
    assert_eq!((nada.target_rate(), nada.pacing_rate()), (150_000, Some(150_000)));
    for nth in 1..=10 {
        report(&mut nada, 0.1 * f64::from(nth), 500, 0.0, arrived);
    }
    // 500 bytes each 10 ms.
    let received = metric(&nada, "received_bps");
    assert!((received / 400e3 - 1.0).abs() < 0.021, "{received}, a packet more or less");
    assert!((nada.target_rate() as f64 / (400e3 * (1.0 + 0.05 / 0.26)) - 1.0).abs() < 0.021);
}

/// Equations 5 to 7 with a queue of 30 ms, of which x was 30 ms before as well.
#[test]
fn the_gradual_update_follows_the_offset() {
    let mut nada = Nada::new(Config::default());
    report(&mut nada, 0.1, 500, 0.0, arrived);
    for nth in 2..=9 {
        report(&mut nada, 0.1 * f64::from(nth), 500, 0.030, arrived);
    }
    let before = metric(&nada, "reference_rate_bps");
    assert_eq!((metric(&nada, "congestion_signal_s") * 1e3).round(), 30.0);
    report(&mut nada, 1.0, 500, 0.030, arrived);
    let offset = 0.030 - 0.010 * 1.5e6 / before;
    let expected = before - 0.5 * (0.1 / 0.5) * (offset / 0.5) * before;
    let after = metric(&nada, "reference_rate_bps");
    assert!((after - expected.clamp(150e3, 1.5e6)).abs() < 1.0, "{before} {after} {expected}");
    // The least of 15 packets counts, so that a longer queue shows at the second report. A signal that grows by 4 ms costs
    // 0.5 · 2 · 4 / 500 of the rate besides.
    report(&mut nada, 1.1, 500, 0.034, arrived);
    assert_eq!((metric(&nada, "congestion_signal_s") * 1e3).round(), 30.0);
    let after = metric(&nada, "reference_rate_bps");
    report(&mut nada, 1.2, 500, 0.034, arrived);
    let offset = 0.034 - 0.010 * 1.5e6 / after;
    let expected = after - 0.1 * (offset / 0.5) * after - 0.008 * after;
    assert!((metric(&nada, "reference_rate_bps") - expected.clamp(150e3, 1.5e6)).abs() < 1.0);
}

/// Equation 2: a tenth lost counts after one window as 10 ms · (0.1 · α-average / 0.01)², marks as a fifth of that.
#[test]
fn losses_and_marks_are_delay() {
    for (fate, delay) in [(None, 0.010), (Some(Ecn::Ce), 0.002)] {
        let mut nada = Nada::new(Config { ecn: Ecn::Ect0, ..Config::default() });
        assert_eq!(nada.ecn(), Ecn::Ect0);
        report(&mut nada, 0.1, 500, 0.0, arrived);
        report(&mut nada, 0.2, 500, 0.0, |nth| if nth == 5 { fate } else { Some(Ecn::Ect0) });
        // One of 20 in the window.
        let ratio = 0.1 / 20.0;
        let signal = metric(&nada, "congestion_signal_s");
        assert!((signal - delay * (ratio / 0.01) * (ratio / 0.01)).abs() < 1e-9, "{signal}");
    }
}

/// Equation 1: a queue of 150 ms counts as 50 · e⁻¹ ms next to losses, and as 150 ms once 7 intervals without one have gone by.
#[test]
fn next_to_losses_long_delay_counts_less() {
    let mut nada = Nada::new(Config::default());
    report(&mut nada, 0.1, 500, 0.0, arrived);
    for nth in 2..=4 {
        report(&mut nada, 0.1 * f64::from(nth), 500, 0.150, |nth| (nth != 5).then_some(Ecn::NotEct));
    }
    let delay = |nada: &Nada| {
        let ratio = metric(nada, "loss_share") / 0.01;
        metric(nada, "congestion_signal_s") - 0.010 * ratio * ratio
    };
    assert!((delay(&nada) - 0.05 * libm::exp(-1.0)).abs() < 1e-6, "{}", delay(&nada));
    // Intervals of 16, 10 and 10 packets: recent for 84 packets after the last loss, 4 of which are in its report.
    for nth in 5..=12 {
        report(&mut nada, 0.1 * f64::from(nth), 500, 0.150, arrived);
        let expected = if nth < 12 { 0.05 * libm::exp(-1.0) } else { 0.150 };
        let is_capped = metric(&nada, "congestion_signal_s") >= 0.5;
        assert!(is_capped || (delay(&nada) - expected).abs() < 1e-6, "{nth}: {}", delay(&nada));
    }
}

/// Equations 11 to 14: 1000 bytes that wait move both rates by a tenth of 240 kb/s, and 2000 by a twentieth of the reference rate. A new
/// frame does not wait yet. With 40 of 1040 bytes for headers the pacer is as much faster.
#[test]
fn a_backlog_slows_the_encoder_and_speeds_the_pacer() {
    let mut nada = Nada::new(Config { min_rate: 50_000, headers: 40, ..Config::default() });
    nada.rate = 500e3;
    for (queued, target, pacing) in [(1000, 476_000, 524_000), (2000, 475_000, 525_000), (0, 500_000, 500_000)] {
        nada.on_frame(&Frame { size: 700, now: at(0.0), queued, queue_delay: Duration::ZERO });
        assert_eq!((nada.target_rate(), nada.pacing_rate()), (target, Some(pacing)));
    }
    nada.on_frame(&Frame { size: 700, now: at(0.0), queued: 1000, queue_delay: Duration::ZERO });
    nada.on_sent(&SentPacket { number: 0, size: 1040, sent: at(0.0), probe: None, in_flight: 1040 });
    assert_eq!((nada.target_rate(), nada.pacing_rate()), (500_000, Some(520_000)));
}

/// Senders share a queue of `capacity` b/s, as a fluid; returns their rates and the queue's delay after `seconds`.
fn share(priorities: &[f64], capacity: f64, seconds: u32) -> (Vec<f64>, f64) {
    let config = |priority: &f64| Config { priority: *priority, ..Config::default() };
    let mut flows: Vec<Nada> = priorities.iter().map(|priority| Nada::new(config(priority))).collect();
    let mut queue = 0.0_f64;
    for nth in 1..=10 * seconds {
        let now = 0.1 * f64::from(nth);
        let rates: Vec<f64> = flows.iter().map(|flow| flow.target_rate() as f64).collect();
        let sum: f64 = rates.iter().sum();
        queue = (queue + 0.1 * (sum - capacity) / capacity).max(0.0);
        for (flow, rate) in flows.iter_mut().zip(rates) {
            // What arrives of it: its share of the capacity, in ten packets.
            let size = rate * (capacity / sum).min(1.0) / 800.0;
            report(flow, now, size as u32, queue, arrived);
        }
    }
    (flows.iter().map(|flow| flow.target_rate() as f64).collect(), queue)
}

/// x = PRIO · XREF · RMAX / r: 15 ms at 1 Mb/s, 30 ms at 500 kb/s.
#[test]
fn in_equilibrium_the_signal_is_that_of_the_closed_form() {
    for (capacity, signal) in [(1e6, 0.015), (500e3, 0.030), (250e3, 0.060)] {
        let (rates, queue) = share(&[1.0], capacity, 300);
        assert!((rates[0] / capacity - 1.0).abs() < 0.02, "{rates:?}");
        assert!((queue / signal - 1.0).abs() < 0.02, "{queue} instead of {signal} s");
    }
}

#[test]
fn shares_are_proportional_to_priorities() {
    for (priorities, expected) in [([1.0, 1.0], [0.5, 0.5]), ([2.0, 1.0], [2.0 / 3.0, 1.0 / 3.0])] {
        let (rates, _) = share(&priorities, 1.2e6, 300);
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate / 1.2e6 / expected - 1.0).abs() < 0.02, "{priorities:?}: {rates:?}");
        }
    }
}

proptest! {
    /// Whatever is told: rates within their limits, and numbers.
    #[test]
    fn rates_keep_within_their_limits(
        reports in prop::collection::vec((1_u64..400, prop::collection::vec((any::<bool>(), any::<bool>(), 0_u64..3_000, 0_u32..2_000), 0..12)), 0..40),
    ) {
        let mut nada = Nada::new(Config::default());
        let (mut now, mut number) = (10_000, 0);
        for (gap, packets) in reports {
            now += gap;
            let results: Vec<PacketResult> = packets.into_iter().map(|(is_lost, is_marked, late, size)| {
                number += 1;
                let sent = Instant::START + Duration::from_millis(now - 1_000);
                let packet = SentPacket { number, size, sent, probe: None, in_flight: 0 };
                let time = Instant::START + Duration::from_millis(now + late);
                let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect0 };
                PacketResult { packet, arrival: (!is_lost).then_some(Arrival { time, ecn }) }
            }).collect();
            let at = Instant::START + Duration::from_millis(now);
            nada.on_feedback(&Feedback { now: at, packets: &results, rtt: None, in_flight: 0 });
            prop_assert!((150_000..=1_500_000).contains(&nada.target_rate()));
            prop_assert!(nada.pacing_rate().is_some_and(|rate| (150_000..=1_500_000).contains(&rate)));
            nada.metrics(&mut |name, value| assert!(value.is_finite(), "{name}"));
        }
    }
}
