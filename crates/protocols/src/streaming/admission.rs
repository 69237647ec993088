//! How likely a stream over a link stalls, judged by what is known of the link.
//!
//! The display's buffer holds `x` seconds of media and is refilled as fast as the link carries. With `c` b/s for the stream, its deficit
//! of media below the full buffer follows the recursion of Lindley (Proc. Cambridge Phil. Soc. 48, 1952):
//! W ← max(0, W + (b − c)·Δt). A stall is the first time that W exceeds `x·b`. W does not depend on `x`: so one look at the
//! link tells both the probability of a stall for any `x` and the least `x` for any probability ([`super::prefetch`]).
//!
//! A stream over several links stalls at the latest with the worst of them; the sum of their probabilities is an upper bound.

use super::profile::{Horizon, Profile, autocorrelation};
use crate::random::Stream;

/// Which rule decides about a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Every stream is admitted.
    All,
    /// The rates of all streams around a node, each as often as it has hops there, stay below the nominal rate of a link.
    Hops,
    /// Each link's mean rate is at least the stream's.
    Mean,
    /// The airtime of all streams around a node stays below the limit.
    Airtime,
    /// The probability of a stall stays below the limit, as if no other stream took airtime.
    Profile,
    /// That of [`Self::Airtime`] and of [`Self::Profile`], for the airtime that other streams leave.
    Statistical,
}

impl Policy {
    /// Whether a stream is judged by what others have reserved around a node.
    pub fn counts_reserved(self) -> bool {
        matches!(self, Self::Hops | Self::Airtime | Self::Statistical)
    }

    /// Whether a stream that would stall too often is refused.
    pub fn limits_stalls(self) -> bool {
        matches!(self, Self::Profile | Self::Statistical)
    }
}

/// How the probability of a stall is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// From mean, variance and autocorrelation of the rate, as of a Gaussian process.
    Gaussian,
    /// From the recorded rates, put together again in blocks.
    Bootstrap,
    /// No stall if 90 % of all periods of ten seconds are fast enough.
    Quantile,
}

/// A stream as a link sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Its rate in b/s.
    pub rate: f64,
    /// Its length in seconds.
    pub length: f64,
    /// Share of the link's rate that it can use: what other streams around leave.
    pub share: f64,
    /// Most that its source sends, as a multiple of the rate: a buffer fills no faster, however fast the link is.
    pub pace: f64,
}

impl Load {
    /// What the stream gets in b/s while the link has this rate.
    fn capacity(&self, link: f64) -> f64 {
        (link * self.share).min(self.rate * self.pace)
    }
}

/// Least number of samples from which anything is concluded.
pub const LEAST_SAMPLES: usize = 10;

/// Streams put together from recorded rates.
const RESAMPLES: usize = 1000;

/// How a stream would fare on a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Outlook {
    /// P(stall) = 1 − exp(−`chances` · exp(−`decay` · x)), with x in seconds.
    Exponential {
        /// Independent chances of a stall.
        chances: f64,
        /// Per second of media in the buffer.
        decay: f64,
    },
    /// Greatest deficit of each of several streams in seconds of media, the least first.
    Deficits(Vec<f64>),
    /// Whatever the buffer: it stalls, or it does not.
    Certain {
        /// Whether it stalls.
        stalls: bool,
    },
}

impl Outlook {
    /// How `load` would fare on the link of `profile`; `None` while too little is known.
    pub fn new(estimator: Estimator, profile: &Profile, load: &Load, random: &mut Stream) -> Option<Self> {
        if profile.series().len() < LEAST_SAMPLES {
            return None;
        }
        match estimator {
            Estimator::Gaussian => Some(gaussian(profile.series(), load)),
            Estimator::Bootstrap => Some(Self::Deficits(bootstrap(profile.series(), load, RESAMPLES, random))),
            Estimator::Quantile => {
                let rate = profile.quantile(0.1, Horizon::TenSeconds)?;
                Some(Self::Certain { stalls: rate * load.share < load.rate })
            }
        }
    }

    /// The probability of at least one stall with `prefetch` seconds of media in the buffer.
    pub fn stall_probability(&self, prefetch: f64) -> f64 {
        match self {
            Self::Exponential { chances, decay } => -libm::expm1(-chances * libm::exp(-decay * prefetch)),
            Self::Deficits(deficits) => {
                let stalled = deficits.len() - deficits.partition_point(|&deficit| deficit <= prefetch);
                stalled as f64 / deficits.len().max(1) as f64
            }
            Self::Certain { stalls } => f64::from(*stalls),
        }
    }
}

/// The probability of a stall in `length` seconds at this rate of stalls per hour: those of a Poisson process.
pub fn tolerated(stalls_per_hour: f64, length: f64) -> f64 {
    -libm::expm1(-stalls_per_hour * length / 3_600.0)
}

/// The excess of capacity over the stream as a Gaussian AR(1) process, in the limit of a long buffer: a Brownian motion with drift, whose
/// stationary deficit is exponential (Harrison, Brownian Motion and Stochastic Flow Systems, 1985, section 3). Chances of a
/// stall are independent after the time over which the process forgets.
fn gaussian(series: &[f64], load: &Load) -> Outlook {
    let count = series.len() as f64;
    let capacities = || series.iter().map(|&rate| load.capacity(rate));
    let mean = capacities().sum::<f64>() / count;
    let variance = capacities().map(|capacity| (capacity - mean) * (capacity - mean)).sum::<f64>() / count;
    let drift = mean - load.rate;
    if drift <= 0.0 {
        return Outlook::Certain { stalls: true };
    }
    let correlation = autocorrelation(series).clamp(0.0, 0.99);
    let memory = (1.0 + correlation) / (1.0 - correlation);
    // Per second.
    let spread = variance * memory;
    if spread <= 0.0 {
        return Outlook::Certain { stalls: false };
    }
    Outlook::Exponential { chances: load.length / memory, decay: 2.0 * drift * load.rate / spread }
}

/// Greatest deficits in seconds of media, sorted, of streams over rates that are drawn from `series` in blocks of neighbours
/// (Künsch, Annals of Statistics 17(3), 1989; circular as of Politis and Romano, 1992).
pub fn bootstrap(series: &[f64], load: &Load, resamples: usize, random: &mut Stream) -> Vec<f64> {
    let block = block_len(series);
    // A float to integer cast saturates.
    let seconds = libm::ceil(load.length) as usize;
    let capacities = || series.iter().map(|&rate| load.capacity(rate));
    if capacities().all(|capacity| capacity >= load.rate) {
        return vec![0.0; resamples];
    }
    // Once more from the start, so that no block needs to turn round.
    let capacities: Vec<f64> = capacities().chain(capacities().take(block)).collect();
    let mut starts = Vec::new();
    let mut deficits = Vec::with_capacity(resamples);
    while deficits.len() < resamples {
        starts.clear();
        starts.extend((0..ABREAST * seconds.div_ceil(block)).map(|_| random.below(series.len() as u32) as usize));
        let streams = greatest_deficits(&capacities, &starts, block, seconds, load.rate);
        deficits.extend(streams.map(|deficit| deficit / load.rate).into_iter().take(resamples - deficits.len()));
    }
    deficits.sort_by(f64::total_cmp);
    deficits
}

/// Streams that are put together at once: a processor works on the steps of several side by side, but on those of one in turn.
const ABREAST: usize = 8;

/// Greatest deficits in bits of streams whose blocks begin at `starts`, the first stream's blocks first.
fn greatest_deficits(capacities: &[f64], starts: &[usize], block: usize, seconds: usize, rate: f64) -> [f64; ABREAST] {
    let mut deficits = [Deficit::new(rate); ABREAST];
    let blocks = seconds.div_ceil(block);
    for number in 0..blocks {
        let count = block.min(seconds - number * block);
        let sources: [&[f64]; ABREAST] =
            core::array::from_fn(|stream| &capacities[starts[stream * blocks + number]..][..count]);
        for second in 0..count {
            for (deficit, source) in deficits.iter_mut().zip(sources) {
                deficit.advance(source[second], 1.0);
            }
        }
    }
    deficits.map(|deficit| deficit.greatest)
}

/// Several times the time over which the rate forgets, but so that at least four blocks are independent.
fn block_len(series: &[f64]) -> usize {
    let correlation = autocorrelation(series).clamp(0.0, 0.99);
    // A float to integer cast saturates.
    let block = libm::ceil(3.0 * (1.0 + correlation) / (1.0 - correlation)) as usize;
    block.clamp(1, (series.len() / 4).max(1))
}

/// Lindley's recursion for the media that are missing in a full buffer, in bits.
#[derive(Clone, Copy, Debug)]
pub struct Deficit {
    rate: f64,
    now: f64,
    /// The greatest so far.
    pub greatest: f64,
}

impl Deficit {
    /// Of a stream of `rate` b/s whose buffer is full.
    pub fn new(rate: f64) -> Self {
        Self { rate, now: 0.0, greatest: 0.0 }
    }

    /// The stream gets `capacity` b/s for `seconds`.
    pub fn advance(&mut self, capacity: f64, seconds: f64) {
        self.now = (self.now + (self.rate - capacity) * seconds).max(0.0);
        self.greatest = self.greatest.max(self.now);
    }

    /// Bits that are missing now.
    pub fn now(&self) -> f64 {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use crate::streaming::prefetch;

    /// P000: 22 or 2 Mb/s.
    const GOOD: f64 = 22e6;
    const BAD: f64 = 2e6;
    const RATE: f64 = 4e6;

    fn random(n: u64) -> Stream {
        Stream::new(1, Purpose::Cloud, n, 0)
    }

    fn exponential(mean: f64, random: &mut Stream) -> f64 {
        -mean * libm::log1p(-random.unit())
    }

    /// A two-state link: seconds of the states, good and bad in turn.
    fn sojourns([good, bad]: [f64; 2], length: f64, random: &mut Stream) -> Vec<(f64, f64)> {
        let mut states = Vec::new();
        let mut at = 0.0;
        while at < length {
            for (rate, mean) in [(GOOD, good), (BAD, bad)] {
                let seconds = exponential(mean, random);
                states.push((rate, seconds));
                at += seconds;
            }
        }
        states
    }

    /// Mean rates of whole seconds.
    fn per_second(states: &[(f64, f64)]) -> Vec<f64> {
        let (mut series, mut filled, mut bits) = (Vec::new(), 0.0, 0.0);
        for &(rate, mut seconds) in states {
            while seconds > 0.0 {
                let part = seconds.min(1.0 - filled);
                filled += part;
                bits += rate * part;
                seconds -= part;
                if filled >= 1.0 - 1e-12 {
                    series.push(bits);
                    (filled, bits) = (0.0, 0.0);
                }
            }
        }
        series
    }

    #[test]
    fn lindleys_recursion_by_hand() {
        let mut deficit = Deficit::new(4.0);
        let course: Vec<f64> = [5.0, 2.0, 1.0, 6.0, 22.0, 2.0]
            .map(|capacity| {
                deficit.advance(capacity, 1.0);
                deficit.now()
            })
            .into();
        assert_eq!(course, [0.0, 2.0, 5.0, 3.0, 0.0, 2.0]);
        assert_eq!(deficit.greatest, 5.0);
    }

    /// A fluid source that is on and off for exponential times has a stationary backlog with the tail ρ·exp(−η·x), where
    /// η = 1/((b − bad)·T_bad) − 1/((good − b)·T_good) (Anick, Mitra, Sondhi, BSTJ 61(8), 1982, one source): here for the deficit at the
    /// ends of bad periods, where the tail is exp(−η·x) times a constant. The ratio of two tails is exact.
    #[test]
    fn the_recursion_has_the_tail_of_a_fluid_queue() {
        let (good, bad) = (6.0, 4.0);
        let (mut random, mut deficit) = (random(1), Deficit::new(RATE));
        let (near, far) = (4e6, 16e6);
        let (mut above_near, mut above_far) = (0_u32, 0_u32);
        for _ in 0..200_000 {
            deficit.advance(GOOD, exponential(good, &mut random));
            deficit.advance(BAD, exponential(bad, &mut random));
            above_near += u32::from(deficit.now() > near);
            above_far += u32::from(deficit.now() > far);
        }
        let decay = 1.0 / ((RATE - BAD) * bad) - 1.0 / ((GOOD - RATE) * good);
        let (expected, found) = (libm::exp(-decay * (far - near)), f64::from(above_far) / f64::from(above_near));
        // Of 120 000 at least 20 000 are beyond: four standard errors, twice as wide for their dependence.
        let error = 8.0 * (expected * (1.0 - expected) / f64::from(above_near)).sqrt();
        assert!((found - expected).abs() < error, "{found} instead of {expected} ± {error}");
    }

    /// A bad period of more than x·b/(b − bad) seconds stalls. Bad periods that come rarely and find a full buffer are independent:
    /// P(stall) = 1 − exp(−n·exp(−x·b/((b − bad)·T_bad))) for n of them in the mean.
    #[test]
    fn the_bootstrap_agrees_with_the_closed_form_of_a_two_state_link() {
        let (means, length) = ([120.0, 4.0], 600.0);
        let mut random = random(2);
        let series = per_second(&sojourns(means, 200_000.0, &mut random));
        let load = Load { rate: RATE, length, share: 1.0, pace: f64::INFINITY };
        let outlook = Outlook::Deficits(bootstrap(&series, &load, 2_000, &mut random));
        let periods = length / (means[0] + means[1]);
        for prefetch in [2.0, 5.0, 10.0] {
            let stall = libm::exp(-prefetch * RATE / ((RATE - BAD) * means[1]));
            let expected = -libm::expm1(-periods * stall);
            let found = outlook.stall_probability(prefetch);
            // Four standard errors of the resamples, and the error of about 1600 recorded periods.
            let error =
                4.0 * (expected * (1.0 - expected) / 2_000.0).sqrt() + 4.0 * expected / (1_600.0 * stall).sqrt();
            assert!((found - expected).abs() < error, "x = {prefetch}: {found} instead of {expected} ± {error}");
        }
        // The other way round: the buffer for a stall in 5 % of all streams.
        let least = prefetch::least(&outlook, 0.05).expect("less than a minute").as_secs_f64();
        let expected = libm::log(periods / 0.0513) * (RATE - BAD) * means[1] / RATE;
        assert!((least - expected).abs() < 0.2 * expected, "{least} instead of {expected}");
    }

    /// A profile of ten minutes predicts whether the next stream stalls: over many links, predictions and outcomes agree within the
    /// 99.9 % interval of a binomial, in each of three classes of predictions. (The classes are those of the predictions.)
    #[test]
    fn predictions_are_calibrated() {
        let mut random = random(3);
        let load = Load { rate: RATE, length: 300.0, share: 1.0, pace: f64::INFINITY };
        let mut classes = [(0.0, 0.0, 0.0); 3];
        for _ in 0..600 {
            let states = sojourns([10.0, 2.0], 1_000.0, &mut random);
            let series = per_second(&states);
            let (known, future) = (&series[..600], &series[600..900]);
            let prefetch = 1.0 + 7.0 * random.unit();
            let predicted = Outlook::Deficits(bootstrap(known, &load, 200, &mut random)).stall_probability(prefetch);
            let mut deficit = Deficit::new(RATE);
            future.iter().for_each(|&rate| deficit.advance(rate, 1.0));
            let stalled = f64::from(deficit.greatest > prefetch * RATE);
            let (count, sum, outcomes) = &mut classes[((predicted * 3.0) as usize).min(2)];
            *count += 1.0;
            *sum += predicted;
            *outcomes += stalled;
        }
        for (count, sum, outcomes) in classes {
            let (predicted, observed): (f64, f64) = (sum / count, outcomes / count);
            let error = 3.29 * (predicted * (1.0 - predicted) / count).sqrt();
            assert!(count > 50.0, "{count} links");
            // Ten minutes of a link tell its future to within a tenth at best: some 50 bad periods.
            assert!((observed - predicted).abs() < error + 0.1, "{observed} instead of {predicted} ± {error}");
        }
    }

    /// Independent Gaussian seconds with mean 5 and deviation 1 against 4 Mb/s: the tail falls as exp(−2·1·x·4) per second of media.
    #[test]
    fn the_gaussian_estimate_has_the_decay_of_a_brownian_motion() {
        let mut random = random(4);
        let normal = |random: &mut Stream| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let series: Vec<f64> = (0..20_000).map(|_| 5e6 + 1e6 * normal(&mut random)).collect();
        let Outlook::Exponential { decay, chances } =
            gaussian(&series, &Load { rate: 4e6, length: 600.0, share: 1.0, pace: f64::INFINITY })
        else {
            panic!("the rate varies and exceeds that of the stream")
        };
        assert!((decay - 8.0).abs() < 0.5, "{decay}");
        assert!((chances - 600.0).abs() < 30.0, "{chances}");
    }

    #[test]
    fn a_link_that_is_too_slow_in_the_mean_stalls_for_certain() {
        let series = [3e6; 20];
        let load = Load { rate: 4e6, length: 60.0, share: 1.0, pace: f64::INFINITY };
        assert_eq!(gaussian(&series, &load), Outlook::Certain { stalls: true });
        assert_eq!(Outlook::Deficits(bootstrap(&series, &load, 5, &mut random(5))).stall_probability(10.0), 1.0);
        // 60 seconds at 3 of 4 Mb/s: 15 s of media.
        assert_eq!(Outlook::Deficits(bootstrap(&series, &load, 5, &mut random(5))).stall_probability(15.0), 0.0);
    }

    /// The definition, one stream and one second after the other.
    #[test]
    fn streams_side_by_side_are_those_in_turn() {
        let series: Vec<f64> = (0..40).map(|n| 1e6 * f64::from(2 + 5 * n % 7)).collect();
        for (length, resamples, share) in [(95.5, 21, 1.0), (7.0, 8, 0.9), (0.0, 3, 1.0), (40.0, 9, 3.0)] {
            let load = Load { rate: RATE, length, share, pace: f64::INFINITY };
            let (mut draws, block) = (random(7), block_len(&series));
            let mut expected: Vec<f64> = (0..resamples)
                .map(|_| {
                    let (mut deficit, mut left) = (Deficit::new(RATE), length.ceil() as usize);
                    while left > 0 {
                        let (first, count) = (draws.below(series.len() as u32) as usize, block.min(left));
                        for place in first..first + count {
                            deficit.advance(series[place % series.len()] * share, 1.0);
                        }
                        left -= count;
                    }
                    deficit.greatest / RATE
                })
                .collect();
            expected.sort_by(f64::total_cmp);
            assert_eq!(bootstrap(&series, &load, resamples, &mut random(7)), expected, "{length} s");
        }
    }

    #[test]
    fn too_few_samples_say_nothing() {
        let profile = Profile::new(Default::default(), crate::time::Duration::ZERO);
        let load = Load { rate: 4e6, length: 60.0, share: 1.0, pace: f64::INFINITY };
        for estimator in [Estimator::Gaussian, Estimator::Bootstrap, Estimator::Quantile] {
            assert_eq!(Outlook::new(estimator, &profile, &load, &mut random(6)), None);
        }
    }

    #[test]
    fn a_tenth_of_a_stall_an_hour_is_1_65_percent_in_ten_minutes() {
        assert!((tolerated(0.1, 600.0) - 0.016_529).abs() < 1e-6);
    }

    /// Ten seconds slow and ten fast, in turn. At 1.5 times its rate a stream needs all of the fast ones to fill what it has lost, and two
    /// slow times that follow each other find it half empty.
    #[test]
    fn a_buffer_fills_no_faster_than_the_source_sends() {
        let series: Vec<f64> = (0..600).map(|second| if second / 10 % 2 == 0 { BAD } else { GOOD }).collect();
        let at = |pace| Load { rate: RATE, length: 300.0, share: 1.0, pace };
        let paces = [f64::INFINITY, 1.5];
        let bootstrap = paces.map(|pace| {
            Outlook::Deficits(bootstrap(&series, &at(pace), RESAMPLES, &mut random(1))).stall_probability(8.0)
        });
        assert!(bootstrap[1] > bootstrap[0] + 0.1, "{bootstrap:?}");
        let gaussian = paces.map(|pace| gaussian(&series, &at(pace)).stall_probability(200.0));
        assert!(gaussian[1] > gaussian[0] + 0.1, "{gaussian:?}");
    }
}
