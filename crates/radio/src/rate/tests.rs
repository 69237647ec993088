//! Tests of rate control over a synthetic channel with a known best rate.

use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use super::{Algorithm, RateControl};
use crate::frame::{FrameKind, StationId};
use crate::phy::{DataRate, Standard, TxVector};

const ME: StationId = StationId(0);
const PEER: StationId = StationId(1);
const OTHER: StationId = StationId(2);
/// Attempts at a frame.
const LIMIT: u32 = 7;

/// A link without contention on which each rate succeeds with its own probability.
struct Link {
    standard: Standard,
    probabilities: &'static [f64],
}

impl Link {
    fn control(&self, algorithm: Algorithm) -> RateControl {
        RateControl::new(algorithm, self.standard.phy(false), &[], Arc::default(), 1, ME)
    }

    /// Sends frames of 1500 bytes from `start` to `end` under DCF, each window of which takes its mean; returns the bytes
    /// delivered.
    fn run(&self, control: &mut RateControl, random: &mut Stream, start: Instant, end: Instant) -> f64 {
        let phy = self.standard.phy(false);
        let parameters = phy.parameters();
        let (mut now, mut delivered) = (start, 0.0);
        while now < end {
            let mut window = parameters.cw_min;
            for retry in 0..LIMIT {
                let rate = control.select(PEER, now, retry);
                let response = phy.airtime(phy.default_basic_rate(rate), FrameKind::RESPONSE_OCTETS);
                now += phy.difs() + parameters.slot * u64::from(window) / 2;
                now += phy.airtime(rate, 1_536) + parameters.sifs + response;
                let index = phy.vectors().iter().position(|&other| other == rate).expect("a rate");
                if random.unit() < self.probabilities[index] {
                    control.on_report(PEER, rate, 1, 1);
                    delivered += 1_500.0;
                    break;
                }
                control.on_report(PEER, rate, 1, 0);
                window = (2 * window + 1).min(parameters.cw_max);
            }
        }
        delivered
    }

    /// Throughput over ten seconds, of the best fixed rate's, after one second to learn.
    fn share(&self, algorithm: Algorithm) -> f64 {
        let throughput = |algorithm| {
            let mut control = self.control(algorithm);
            let mut random = Stream::new(7, Purpose::Backoff, 0, 0);
            self.run(&mut control, &mut random, Instant::START, at(1));
            self.run(&mut control, &mut random, at(1), at(11))
        };
        let fixed = self.standard.phy(false).vectors().iter().map(|&rate| throughput(Algorithm::Fixed(rate)));
        throughput(algorithm) / fixed.fold(0.0, f64::max)
    }
}

fn at(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

/// 802.11a at a distance where all up to 24 Mb/s are perfect, and none above is of use.
const STEP: Link = Link { standard: Standard::Ofdm, probabilities: &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
/// All rates perfect.
const NEAR: Link = Link { standard: Standard::Ofdm, probabilities: &[1.0; 8] };
/// A fading channel: success falls slowly with the rate, so that no rate is perfect. The best is 36 Mb/s.
const FADING: Link = Link { standard: Standard::Ofdm, probabilities: &[0.99, 0.98, 0.96, 0.94, 0.91, 0.86, 0.45, 0.2] };
/// 802.11b at its edge.
const EDGE: Link = Link { standard: Standard::HrDsss, probabilities: &[1.0, 0.95, 0.3, 0.0] };

#[test]
fn what_adapts_comes_within_a_tenth_of_the_best_fixed_rate() {
    for (name, link) in [("near", NEAR), ("step", STEP), ("fading", FADING), ("edge", EDGE)] {
        for algorithm in [Algorithm::Aarf, Algorithm::Minstrel] {
            let share = link.share(algorithm);
            assert!(share > 0.9 && share < 1.02, "{name}, {algorithm:?}: {share}");
        }
    }
}

/// One attempt in eleven is a probe that fails: at 36 Mb/s against 24 Mb/s, with the next backoff twice as long, the share is
/// 10 / (10 + (0.42 + 0.07) / 0.59), or 0.92.
#[test]
fn arf_pays_for_its_probes_where_aarf_does_not() {
    let (arf, aarf) = (STEP.share(Algorithm::Arf), STEP.share(Algorithm::Aarf));
    assert!((arf - 0.92).abs() < 0.01 && aarf > 0.98, "{arf}, {aarf}");
    assert_eq!(NEAR.share(Algorithm::Arf), 1.0);
}

/// Within a TXOP the rate of a frame is chosen before what was sent before it is acknowledged.
#[test]
fn a_frame_at_the_rate_before_says_nothing_of_a_probe() {
    for (arf, probes) in [(Algorithm::Arf, vec![10; 8]), (Algorithm::Aarf, vec![10, 20, 40, 50, 50])] {
        let mut control = STEP.control(arf);
        let select = |control: &mut RateControl| control.select(PEER, Instant::START, 0);
        while select(&mut control).data_rate() > mbps(24).data_rate() {
            let rate = select(&mut control);
            control.on_report(PEER, rate, 1, 0);
        }
        for expected in probes {
            let mut successes = 0;
            while select(&mut control) == mbps(24) {
                control.on_report(PEER, mbps(24), 1, 1);
                successes += 1;
            }
            assert_eq!(successes, expected, "{arf:?}");
            control.on_report(PEER, mbps(24), 1, 1);
            assert_eq!(select(&mut control), mbps(36), "not tried yet");
            control.on_report(PEER, mbps(36), 1, 0);
        }
    }
}

#[test]
fn a_link_that_changes_is_followed() {
    for algorithm in [Algorithm::Arf, Algorithm::Aarf, Algorithm::Minstrel] {
        let mut control = NEAR.control(algorithm);
        let mut random = Stream::new(7, Purpose::Backoff, 0, 0);
        let phases = [(&NEAR, 0), (&STEP, 10), (&NEAR, 20)];
        for (link, start) in phases {
            link.run(&mut control, &mut random, at(start), at(start + 2));
            let delivered = link.run(&mut control, &mut random, at(start + 2), at(start + 10));
            let best = if start == 10 { mbps(24) } else { mbps(54) };
            let mut fixed = link.control(Algorithm::Fixed(best));
            let share = delivered / link.run(&mut fixed, &mut random, at(0), at(8));
            assert!(share > 0.9, "{algorithm:?} from {start} s on: {share}");
        }
    }
}

fn mbps(rate: u32) -> TxVector {
    Standard::Ofdm.phy(false).vector(DataRate::from_kbps(rate * 1_000)).expect("a rate of 802.11a")
}

#[test]
fn each_receiver_has_a_state_of_its_own() {
    let mut control = NEAR.control(Algorithm::Arf);
    for _ in 0..2 {
        assert_eq!(control.select(PEER, at(0), 0), mbps(54));
        control.on_report(PEER, mbps(54), 1, 0);
    }
    assert_eq!((control.select(PEER, at(0), 2), control.select(OTHER, at(0), 0)), (mbps(48), mbps(54)));
}

#[test]
fn rates_are_those_given_or_all_of_the_standard() {
    let phy = Standard::Ofdm.phy(false);
    let mut control = RateControl::new(Algorithm::Arf, phy, &[mbps(24), mbps(6)], Arc::default(), 1, ME);
    assert_eq!(control.select(PEER, at(0), 0), mbps(24));
    let mut control = RateControl::new(Algorithm::Fixed(mbps(6)), phy, &[], Arc::default(), 1, ME);
    assert_eq!(control.select(PEER, at(0), 3), mbps(6));
}

#[test]
fn asking_again_gives_the_same_answer() {
    for algorithm in [Algorithm::Arf, Algorithm::Aarf, Algorithm::Minstrel] {
        let (mut once, mut twice) = (FADING.control(algorithm), FADING.control(algorithm));
        let mut random = Stream::new(3, Purpose::Backoff, 0, 0);
        for frame in 0..5_000 {
            let now = Instant::START + Duration::from_micros(500 * frame);
            for retry in 0..LIMIT {
                let rate = once.select(PEER, now, retry);
                assert_eq!([twice.select(PEER, now, retry), twice.select(PEER, now, retry)], [rate; 2]);
                let success = random.below(3) > 0;
                for control in [&mut once, &mut twice] {
                    if success { control.on_report(PEER, rate, 1, 1) } else { control.on_report(PEER, rate, 1, 0) }
                }
                if success {
                    break;
                }
            }
        }
    }
}
