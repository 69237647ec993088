//! What a device knows of the link to a neighbour: how fast it has been, over three horizons.
//!
//! The input is what a station dump of Linux tells of a neighbour (`nl80211`): bytes acknowledged, airtime used, attempts. The **useful
//! rate** of a window is bytes per airtime, with the gaps of medium access added: the rate that the link would have if the two
//! stations were alone. So it does not depend on how long a frame waits for others. Small packets take almost as long as large ones, and
//! say little of media: what was sent between two dumps counts if its packets have [`LEAST_PACKET`] bytes in the mean.
//!
//! Each horizon has a histogram in which a sample's weight halves after [`Config::half_life`]. A lasting step resets all (the test of
//! Page, Biometrika 41, 1954, in the form of Hinkley, Biometrika 58, 1971).

use crate::time::{Duration, Instant};

/// Parameters of a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Time after which a sample counts half.
    pub half_life: Duration,
    /// Change that the Page–Hinkley test ignores, as a share of the mean.
    pub tolerance: f64,
    /// Sum of changes at which the test sees a step: seconds, each with a change by the whole mean.
    pub threshold: f64,
}

impl Default for Config {
    /// The half-life is a choice. A step counts once the sum of its changes is that of half a minute without contact: obstacles that
    /// come and go within seconds belong to the distribution.
    fn default() -> Self {
        Self { half_life: Duration::from_secs(60), tolerance: 0.1, threshold: 30.0 }
    }
}

/// Totals of a neighbour since the interface is up, as a station dump tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTotals {
    /// Bytes of packets that the neighbour has acknowledged.
    pub octets: u64,
    /// These packets.
    pub packets: u64,
    /// Time on the air for the neighbour, with the answers.
    pub airtime: Duration,
    /// Frames put on the air for it, repetitions included.
    pub attempts: u64,
}

/// A time over which rates are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// 0.1 s.
    Tenth = 0,
    /// 1 s.
    Second = 1,
    /// 10 s.
    TenSeconds = 2,
}

impl Horizon {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tenth, Self::Second, Self::TenSeconds];

    /// Its length.
    pub const fn duration(self) -> Duration {
        match self {
            Self::Tenth => Duration::from_millis(100),
            Self::Second => Duration::from_secs(1),
            Self::TenSeconds => Duration::from_secs(10),
        }
    }
}

/// Rates of the last [`SERIES`] seconds are kept one by one.
pub const SERIES: usize = 600;

/// Mean size of packets in bytes from which on they count: packets of media have 1360.
pub const LEAST_PACKET: u64 = 1_000;

/// A gap in the series up to this number of seconds is filled with the last rate.
const HOLD: u64 = 10;

/// Profile of the link to one neighbour, in this direction.
#[derive(Clone, Debug)]
pub struct Profile {
    config: Config,
    /// Gap of medium access before each frame.
    gap: Duration,
    last: Option<LinkTotals>,
    windows: [Window; 3],
    histograms: [Histogram; 3],
    /// Rates in b/s, one a second, the latest last.
    series: Vec<f64>,
    /// Number of the second of the last one.
    last_second: Option<u64>,
    detector: PageHinkley,
    updated: Option<Instant>,
    steps: u64,
}

impl Profile {
    /// A profile without samples. `gap`: the time that medium access takes before a frame, in the mean.
    pub fn new(config: Config, gap: Duration) -> Self {
        Self {
            config,
            gap,
            last: None,
            windows: [Window::default(); 3],
            histograms: core::array::from_fn(|_| Histogram::new(config.half_life)),
            series: Vec::new(),
            last_second: None,
            detector: PageHinkley::default(),
            updated: None,
            steps: 0,
        }
    }

    /// A station dump. What has happened since the last one belongs to the windows of this instant. Totals that have become smaller
    /// are those of an interface that was down.
    pub fn handle_totals(&mut self, totals: LinkTotals, now: Instant) {
        // Most dumps tell nothing new, and close no window that has anything in it.
        if self.last == Some(totals) && self.windows.iter().all(|window| window.airtime <= 0.0) {
            return;
        }
        let last = self.last.replace(totals).unwrap_or_default();
        let has_restarted =
            totals.octets < last.octets || totals.packets < last.packets || totals.attempts < last.attempts;
        if has_restarted || totals.airtime < last.airtime {
            return;
        }
        let packets = totals.packets - last.packets;
        let is_small = packets > 0 && (totals.octets - last.octets) / packets < LEAST_PACKET;
        let attempts = if is_small { 0 } else { totals.attempts - last.attempts };
        let airtime =
            totals.airtime.as_secs_f64() - last.airtime.as_secs_f64() + attempts as f64 * self.gap.as_secs_f64();
        let bits = 8.0 * (totals.octets - last.octets) as f64;
        for horizon in Horizon::ALL {
            let number = number_of(now, horizon);
            let window = &mut self.windows[horizon as usize];
            if window.number != number {
                let closed = core::mem::replace(window, Window { number, ..Window::default() });
                self.close(horizon, closed);
            }
            if attempts > 0 {
                let window = &mut self.windows[horizon as usize];
                window.bits += bits;
                window.airtime += airtime;
                self.updated = Some(now);
            }
        }
    }

    fn close(&mut self, horizon: Horizon, window: Window) {
        if window.airtime <= 0.0 {
            return;
        }
        let rate = window.bits / window.airtime;
        let end = (window.number + 1) as f64 * horizon.duration().as_secs_f64();
        self.histograms[horizon as usize].add(rate, end);
        if horizon == Horizon::Second {
            self.record(rate, window.number);
            let (tolerance, threshold) = (self.config.tolerance, self.config.threshold);
            if self.detector.is_step(rate, tolerance, threshold) {
                self.reset();
            }
        }
    }

    /// Adds a rate to the series.
    fn record(&mut self, rate: f64, second: u64) {
        if let (Some(last), Some(&held)) = (self.last_second, self.series.last()) {
            let missing = second.saturating_sub(last + 1);
            if missing > HOLD {
                self.series.clear();
            } else {
                self.series.extend(core::iter::repeat_n(held, missing as usize));
            }
        }
        self.last_second = Some(second);
        self.series.push(rate);
        let excess = self.series.len().saturating_sub(SERIES);
        self.series.drain(..excess);
    }

    /// After a step what was known is of no use.
    fn reset(&mut self) {
        self.steps += 1;
        self.histograms.iter_mut().for_each(|histogram| *histogram = Histogram::new(self.config.half_life));
        self.series.clear();
        self.last_second = None;
        self.detector = PageHinkley::default();
    }

    /// Mean useful rate in b/s; `None` without samples.
    pub fn mean(&self, horizon: Horizon) -> Option<f64> {
        self.histograms[horizon as usize].mean()
    }

    /// Standard deviation of the useful rate in b/s.
    pub fn deviation(&self, horizon: Horizon) -> Option<f64> {
        self.histograms[horizon as usize].deviation()
    }

    /// The rate in b/s that a share `p` of the samples does not exceed, to within 2.2 %.
    pub fn quantile(&self, p: f64, horizon: Horizon) -> Option<f64> {
        self.histograms[horizon as usize].quantile(p)
    }

    /// Correlation of a second's rate with that of the next one; zero where it can't be told.
    pub fn autocorrelation(&self) -> f64 {
        autocorrelation(&self.series)
    }

    /// Samples that the weights of this horizon stand for: the square of their sum over the sum of their squares (Kish, Survey
    /// Sampling, 1965).
    pub fn confidence(&self, horizon: Horizon) -> f64 {
        self.histograms[horizon as usize].effective()
    }

    /// Time since the last frame to the neighbour.
    pub fn age(&self, now: Instant) -> Option<Duration> {
        self.updated.map(|updated| now.saturating_since(updated))
    }

    /// Rates in b/s of the last seconds, the latest last. Seconds without a frame have the rate before them.
    pub fn series(&self) -> &[f64] {
        &self.series
    }

    /// Steps seen so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// Correlation of each value with the next one.
pub(super) fn autocorrelation(series: &[f64]) -> f64 {
    let count = series.len() as f64;
    if series.len() < 3 {
        return 0.0;
    }
    let mean = series.iter().sum::<f64>() / count;
    let square: f64 = series.iter().map(|value| (value - mean) * (value - mean)).sum();
    let product: f64 = series.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Rates that differ by rounding alone don't vary.
    if square <= count * mean * mean * 1e-12 { 0.0 } else { (product / square).clamp(-1.0, 1.0) }
}

fn number_of(now: Instant, horizon: Horizon) -> u64 {
    // A dump at the end of a window tells of that window.
    now.as_nanos().saturating_sub(1) / horizon.duration().as_nanos()
}

/// A window that is being filled.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    number: u64,
    bits: f64,
    /// In seconds.
    airtime: f64,
}

/// Buckets of an octave: neighbouring ones differ by 4.4 %.
const PER_OCTAVE: f64 = 16.0;
/// Lower end of the first bucket after that for zero, in b/s.
const LEAST: f64 = 1e3;
/// 1 kb/s to 1 Gb/s, and below.
const BUCKETS: usize = 1 + 320;

/// Weighted rates in buckets of constant ratio.
#[derive(Clone, Debug)]
struct Histogram {
    half_life: f64,
    weights: Vec<f64>,
    /// Sums of weights, of their squares, and of weighted rates and their squares.
    sums: [f64; 4],
    /// To which instant the sums belong, in seconds.
    at: f64,
}

impl Histogram {
    fn new(half_life: Duration) -> Self {
        Self { half_life: half_life.as_secs_f64(), weights: vec![0.0; BUCKETS], sums: [0.0; 4], at: 0.0 }
    }

    fn add(&mut self, rate: f64, at: f64) {
        let factor = libm::exp2(-(at - self.at) / self.half_life);
        self.at = at;
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        let [sum, squares, rates, rates_squared] = &mut self.sums;
        *sum = *sum * factor + 1.0;
        *squares = *squares * factor * factor + 1.0;
        *rates = *rates * factor + rate;
        *rates_squared = *rates_squared * factor + rate * rate;
        self.weights[bucket(rate)] += 1.0;
    }

    fn mean(&self) -> Option<f64> {
        let [sum, _, rates, _] = self.sums;
        (sum > 0.0).then(|| rates / sum)
    }

    fn deviation(&self) -> Option<f64> {
        let [sum, _, _, squared] = self.sums;
        let mean = self.mean()?;
        Some((squared / sum - mean * mean).max(0.0).sqrt())
    }

    fn effective(&self) -> f64 {
        let [sum, squares, ..] = self.sums;
        if squares > 0.0 { sum * sum / squares } else { 0.0 }
    }

    fn quantile(&self, p: f64) -> Option<f64> {
        let sum = self.sums[0];
        let mut left = p * sum;
        let mut last = None;
        for (bucket, &weight) in self.weights.iter().enumerate().filter(|&(_, &weight)| weight > 0.0) {
            last = Some(middle(bucket));
            left -= weight;
            // Rounding leaves a little where nothing should be left.
            if left <= sum * 1e-12 {
                break;
            }
        }
        last
    }
}

fn bucket(rate: f64) -> usize {
    if rate < LEAST {
        return 0;
    }
    // A float to integer cast saturates.
    (1 + (libm::log2(rate / LEAST) * PER_OCTAVE) as usize).min(BUCKETS - 1)
}

/// A rate in the middle of a bucket: of the first one zero.
fn middle(bucket: usize) -> f64 {
    match bucket {
        0 => 0.0,
        _ => LEAST * libm::exp2((bucket as f64 - 0.5) / PER_OCTAVE),
    }
}

/// Sees a lasting step of a mean, up or down.
#[derive(Clone, Copy, Debug, Default)]
struct PageHinkley {
    count: f64,
    mean: f64,
    /// Sums of what is above and below the mean, each from its least on.
    above: f64,
    below: f64,
}

impl PageHinkley {
    fn is_step(&mut self, value: f64, tolerance: f64, threshold: f64) -> bool {
        self.count += 1.0;
        self.mean += (value - self.mean) / self.count;
        let (change, slack) = (value - self.mean, tolerance * self.mean);
        self.above = (self.above + change - slack).max(0.0);
        self.below = (self.below - change - slack).max(0.0);
        self.above.max(self.below) > threshold * self.mean && self.mean > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// A link on which each of these windows of 100 ms carries `bits` in `airtime` seconds.
    struct Link {
        profile: Profile,
        totals: LinkTotals,
        now: u64,
    }

    impl Link {
        fn new(gap: Duration) -> Self {
            Self { profile: Profile::new(Config::default(), gap), totals: LinkTotals::default(), now: 0 }
        }

        fn run(&mut self, tenths: u64, rate: f64) {
            for _ in 0..tenths {
                self.now += 100;
                self.totals.octets += (rate / 8.0 * 0.01) as u64;
                self.totals.packets += u64::from(rate > 0.0);
                self.totals.airtime += Duration::from_millis(10);
                self.totals.attempts += 1;
                self.profile.handle_totals(self.totals, millis(self.now));
            }
        }
    }

    #[test]
    fn a_window_counts_once_it_is_over() {
        let mut link = Link::new(Duration::ZERO);
        link.run(10, 8e6);
        assert_eq!(link.profile.mean(Horizon::Second), None, "the second is not over before the next dump");
        link.run(1, 8e6);
        let is_right = |rate: f64| (rate - 8e6).abs() < 1.0;
        assert!(link.profile.mean(Horizon::Second).is_some_and(is_right));
        assert_eq!(link.profile.mean(Horizon::TenSeconds), None);
        link.run(90, 8e6);
        assert!(link.profile.mean(Horizon::TenSeconds).is_some_and(is_right));
        assert!(link.profile.series().len() == 10 && link.profile.series().iter().copied().all(is_right));
    }

    /// 10 ms of airtime and 1 ms before each frame: 10/11 of the rate.
    #[test]
    fn gaps_of_medium_access_count() {
        let mut link = Link::new(Duration::from_millis(1));
        link.run(11, 11e6);
        let mean = link.profile.mean(Horizon::Second).expect("a second is over");
        assert!((mean - 10e6).abs() < 1.0, "{mean}");
    }

    #[test]
    fn airtime_without_a_byte_is_a_rate_of_zero() {
        let mut link = Link::new(Duration::ZERO);
        link.run(11, 0.0);
        assert_eq!(link.profile.mean(Horizon::Second), Some(0.0));
        assert_eq!(link.profile.quantile(0.5, Horizon::Second), Some(0.0));
    }

    #[test]
    fn small_packets_are_no_sample() {
        let mut link = Link::new(Duration::ZERO);
        link.run(10, 8e6);
        // 10 kB in a hundred packets.
        link.totals.packets += 99;
        link.run(10, 8e6);
        link.now += 1_000;
        link.profile.handle_totals(link.totals, millis(link.now));
        assert_eq!(link.profile.confidence(Horizon::Tenth).round(), 19.0);
    }

    #[test]
    fn silence_is_no_sample() {
        let mut link = Link::new(Duration::ZERO);
        link.run(10, 8e6);
        link.now += 5_000;
        link.profile.handle_totals(link.totals, millis(link.now));
        assert_eq!(link.profile.confidence(Horizon::Second), 1.0);
        assert_eq!(link.profile.age(millis(link.now)), Some(Duration::from_secs(5)));
    }

    #[test]
    fn totals_that_begin_again_are_no_sample() {
        let mut link = Link::new(Duration::ZERO);
        link.run(11, 8e6);
        link.totals = LinkTotals::default();
        link.run(10, 8e6);
        assert!(link.profile.quantile(0.0, Horizon::Second).is_some_and(|least| least > 7.8e6));
    }

    /// One half-life after n equal samples at one instant they weigh n/2 (by hand: one new sample of 2 Mb/s against 3 of 8 Mb/s
    /// that weigh a half each gives (12 + 2)/2.5 = 5.6).
    #[test]
    fn a_sample_counts_half_after_a_half_life() {
        let mut histogram = Histogram::new(Duration::from_secs(60));
        (0..3).for_each(|_| histogram.add(8e6, 0.0));
        histogram.add(2e6, 60.0);
        assert_eq!(histogram.mean(), Some(5.6e6));
        // Weights 1.5 as three halves, and 1: 2.5² / (0.75 + 1).
        assert!((histogram.effective() - 6.25 / 1.75).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_within_half_a_bucket() {
        let mut histogram = Histogram::new(Duration::from_secs(1_000_000_000));
        (1..=100).for_each(|n| histogram.add(f64::from(n) * 1e6, 0.0));
        for p in [0.01, 0.1, 0.5, 0.9, 1.0] {
            let (found, right) = (histogram.quantile(p).expect("there are samples"), p * 1e8);
            assert!((found / right - 1.0).abs() < 0.045, "{p}: {found} instead of {right}");
        }
    }

    #[test]
    fn a_gap_in_the_series_has_the_rate_before_it() {
        let mut link = Link::new(Duration::ZERO);
        link.run(10, 8e6);
        link.now += 3_000;
        link.run(11, 4e6);
        let rates: Vec<f64> = link.profile.series().iter().map(|rate| libm::round(rate / 1e6)).collect();
        assert_eq!(rates, [8.0, 8.0, 8.0, 8.0, 4.0]);
        link.now += 20_000;
        link.run(11, 2e6);
        assert!(link.profile.series().last().is_some_and(|rate| (rate - 2e6).abs() < 1.0));
        assert!(link.profile.series().len() < 3, "after a long silence the series begins again");
    }

    /// From a mean of about 19.6 to 2 Mb/s: within 25 s the changes less the tolerance add up to at most 25 · (0.9 · 19.6 − 2) = 391,
    /// and the mean stays above 16.6, of which 30 are 498. After 100 s they are about 100 · (0.9 · 11 − 2) = 790 and 30 · 11 = 330.
    #[test]
    fn a_lasting_step_makes_the_profile_forget_and_a_short_one_does_not() {
        let mut link = Link::new(Duration::ZERO);
        link.run(600, 20e6);
        link.run(30, 2e6);
        link.run(600, 20e6);
        assert_eq!(link.profile.steps(), 0);
        link.run(250, 2e6);
        assert_eq!(link.profile.steps(), 0);
        link.run(1_000, 2e6);
        assert_eq!(link.profile.steps(), 1);
        let greatest = link.profile.quantile(1.0, Horizon::Second).expect("there are samples");
        assert!(greatest < 2.1e6, "{greatest}");
    }

    #[test]
    fn autocorrelation_of_known_series() {
        assert_eq!(autocorrelation(&[5.0; 20]), 0.0);
        let alternating: Vec<f64> = (0..100).map(|n| f64::from(n % 2)).collect();
        assert!(autocorrelation(&alternating) < -0.98);
        // Halves: every value but one equals the next one.
        let halves: Vec<f64> = (0..100).map(|n| f64::from(n / 50)).collect();
        assert!((autocorrelation(&halves) - 0.97).abs() < 1e-12);
    }

    proptest! {
        /// Whatever comes, in whatever order: no panic, and a quantile lies between the extremes.
        #[test]
        fn a_profile_is_sane(dumps in prop::collection::vec((0_u64..3_000, 0_u64..1 << 40, 0_u64..99, 0_u64..1 << 40, 0_u64..99), 0..80)) {
            let mut profile = Profile::new(Config::default(), Duration::from_micros(50));
            let mut now = 0;
            for (later, octets, packets, airtime, attempts) in dumps {
                now += later;
                profile.handle_totals(LinkTotals { octets, packets, airtime: Duration::from_nanos(airtime), attempts }, millis(now));
                for horizon in Horizon::ALL {
                    let quantiles = [0.0, 0.5, 1.0].map(|p| profile.quantile(p, horizon));
                    prop_assert!(quantiles.is_sorted());
                    prop_assert!(profile.mean(horizon).is_none_or(|mean| mean.is_finite() && mean >= 0.0));
                }
                prop_assert!(profile.series().len() <= SERIES);
            }
        }
    }
}
