//! Minstrel: measures the success of each rate, sends at the one with the highest throughput, and tries others with one
//! frame in ten.
//!
//! The algorithm as documented with MadWifi and Linux (Smithies 2005–2007, Fietkau 2008): probabilities are averaged with
//! exponential weights at intervals of 100 ms, and the attempts at a frame go down a chain of rates,
//!
//! | attempts | trying a faster rate | trying a slower rate | otherwise |
//! |---|---|---|---|
//! | first | the sample | highest throughput | highest throughput |
//! | then | highest throughput | the sample | second highest throughput |
//! | then | most reliable | most reliable | most reliable |
//! | last | lowest | lowest | lowest |
//!
//! So it sends a slower sample only after the best rate has failed. Each rate of the chain has as many attempts as fit in
//! 6 ms.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};

use crate::frame::FrameKind;
use crate::phy::{Phy, TxVector};

/// Between two updates of the statistics.
const INTERVAL: Duration = Duration::from_millis(100);
/// Weight of the past, of one, in the average.
const PAST: f64 = 0.75;
/// One frame in this number tries another rate.
const LOOK_AROUND: u32 = 10;
/// Rounds of the sample table, each with every rate once.
const ROUNDS: usize = 10;
/// Below this probability a rate has no throughput.
const USELESS: f64 = 0.10;
/// Above this probability a rate is reliable.
const RELIABLE: f64 = 0.95;
/// Samples in an interval of a rate that is useless or reliable.
const FEW_SAMPLES: u32 = 4;
/// Attempts at a sample in a chain: one, as in Linux for 802.11n. Its older code has as many as fit into a segment, which on a
/// fading channel costs a fifth of the throughput.
const SAMPLE_ATTEMPTS: u32 = 1;
/// Intervals without an attempt after which a slower rate is sampled like a faster one.
const LONG_UNSAMPLED: u32 = 20;
/// Bytes of the frame whose time counts.
const OCTETS: u32 = 1_200;
/// Time for the attempts at one rate of the chain.
const SEGMENT: Duration = Duration::from_millis(6);
/// Most attempts at one rate of the chain.
const MOST_ATTEMPTS: u32 = 7;
/// Frames after which the counting of samples begins again.
const RESET_FRAMES: u32 = 10_000;

/// The state for one receiver; rates are indices, ascending.
#[derive(Clone, Debug)]
pub(super) struct Minstrel {
    rates: Vec<Rate>,
    /// Highest throughput, second highest, most reliable.
    best: usize,
    second: usize,
    safest: usize,
    /// The order in which rates are sampled.
    table: Vec<usize>,
    next_sample: usize,
    updated: Instant,
    frames: u32,
    samples: u32,
    /// Slower samples that were planned and may not have been sent.
    deferred: u32,
    chain: [Stage; 4],
    /// The stage that counts as a sample when it is reached.
    deferred_stage: Option<usize>,
    /// Whether an attempt at the frame of this chain has been reported.
    reported: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stage {
    rate: usize,
    attempts: u32,
}

/// What is known of a rate.
#[derive(Clone, Debug)]
struct Rate {
    airtime: Duration,
    /// Attempts that fit into a segment.
    fitting: u32,
    /// Attempts in a chain.
    in_chain: u32,
    /// In this interval.
    attempts: u32,
    successes: u32,
    /// `None`: never tried.
    probability: Option<f64>,
    /// Frames per second, when nothing else is on the air.
    throughput: f64,
    unsampled: u32,
    /// Samples that are left in this interval; `None`: any number.
    samples_left: Option<u32>,
}

impl Minstrel {
    /// Over `rates` of `phy`, ascending. `random` draws the order of the samples.
    pub(super) fn new(phy: &Phy, rates: &[TxVector], now: Instant, mut random: Stream) -> Self {
        let count = rates.len();
        let mut minstrel = Self {
            rates: rates.iter().map(|&rate| Rate::new(phy, rate)).collect(),
            best: 0,
            second: 0,
            safest: 0,
            table: (0..ROUNDS).flat_map(|_| permutation(count, &mut random)).collect(),
            next_sample: 0,
            updated: now,
            frames: 0,
            samples: 0,
            deferred: 0,
            chain: [Stage::default(); 4],
            deferred_stage: None,
            reported: true,
        };
        minstrel.chain = minstrel.chain_of([0; 3]);
        minstrel
    }

    pub(super) fn select(&mut self, now: Instant, retry: u32) -> usize {
        if retry == 0 && self.reported {
            self.begin_frame(now);
        }
        let mut attempts = 0;
        let stage = self.chain.iter().position(|stage| {
            attempts += stage.attempts;
            retry < attempts
        });
        let stage = stage.unwrap_or(self.chain.len() - 1);
        if self.deferred_stage == Some(stage) {
            self.deferred_stage = None;
            self.samples += 1;
        }
        self.chain[stage].rate
    }

    pub(super) fn on_report(&mut self, rate: usize, success: bool) {
        self.reported = true;
        let rate = &mut self.rates[rate];
        rate.attempts += 1;
        rate.successes += u32::from(success);
    }

    /// Chooses the chain of a new frame.
    fn begin_frame(&mut self, now: Instant) {
        if now.saturating_since(self.updated) >= INTERVAL {
            self.update();
            self.updated = now;
        }
        self.reported = false;
        self.deferred_stage = None;
        self.deferred = self.deferred.saturating_sub(1);
        self.frames += 1;
        let [best, second, safest] = [self.best, self.second, self.safest];
        self.chain = match self.sample() {
            None => self.chain_of([best, second, safest]),
            Some((sample, true)) => {
                let mut chain = self.chain_of([sample, best, safest]);
                chain[0].attempts = SAMPLE_ATTEMPTS;
                chain
            }
            Some((sample, false)) => {
                self.deferred_stage = Some(1);
                let mut chain = self.chain_of([best, sample, safest]);
                chain[1].attempts = SAMPLE_ATTEMPTS;
                chain
            }
        };
    }

    /// The rate to look around at, if it is time for one, and whether it goes first.
    fn sample(&mut self) -> Option<(usize, bool)> {
        let count = self.rates.len();
        let missing = i64::from(self.frames / LOOK_AROUND) - i64::from(self.samples) - i64::from(self.deferred / 2);
        if missing < 0 {
            return None;
        }
        if self.frames >= RESET_FRAMES {
            (self.frames, self.samples, self.deferred) = (0, 0, 0);
        } else if missing > 2 * count as i64 {
            // Samples that were never sent are forgotten, or many would come at once when the link gets worse.
            self.samples += (missing - 2 * count as i64) as u32;
        }
        let sample = self.table[self.next_sample];
        self.next_sample = (self.next_sample + 1) % self.table.len();
        let slower = self.rates[sample].airtime > self.rates[self.best].airtime;
        if slower && self.rates[sample].unsampled < LONG_UNSAMPLED {
            self.deferred += 1;
            return Some((sample, false));
        }
        match &mut self.rates[sample].samples_left {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None => {}
        }
        self.samples += 1;
        Some((sample, true))
    }

    fn chain_of(&self, rates: [usize; 3]) -> [Stage; 4] {
        let [first, second, third] = rates.map(|rate| Stage { rate, attempts: self.rates[rate].in_chain });
        [first, second, third, Stage { rate: 0, attempts: MOST_ATTEMPTS }]
    }

    /// Ends an interval.
    fn update(&mut self) {
        self.rates.iter_mut().for_each(Rate::update);
        (self.best, self.second, self.safest) = (0, 0, 0);
        for (index, rate) in self.rates.iter().enumerate() {
            if rate.throughput > self.rates[self.best].throughput {
                (self.best, self.second) = (index, self.best);
            } else if index != self.best {
                let second = if self.second == self.best { 0.0 } else { self.rates[self.second].throughput };
                if rate.throughput > second {
                    self.second = index;
                }
            }
            // The fastest of the reliable ones, or the most reliable if none is.
            let key = |rate: &Rate| match rate.probability() {
                probability if probability >= RELIABLE => (RELIABLE, rate.throughput),
                probability => (probability, 0.0),
            };
            if key(rate) > key(&self.rates[self.safest]) {
                self.safest = index;
            }
        }
    }
}

impl Rate {
    fn new(phy: &Phy, rate: TxVector) -> Self {
        let airtime = phy.airtime(rate, OCTETS);
        let fitting = attempts_that_fit(phy, rate, airtime);
        Self {
            airtime,
            fitting,
            in_chain: fitting,
            attempts: 0,
            successes: 0,
            probability: None,
            throughput: 0.0,
            unsampled: 0,
            samples_left: None,
        }
    }

    fn probability(&self) -> f64 {
        self.probability.unwrap_or(0.0)
    }

    fn update(&mut self) {
        if self.attempts > 0 {
            let now = f64::from(self.successes) / f64::from(self.attempts);
            self.probability = Some(self.probability.map_or(now, |past| PAST * past + (1.0 - PAST) * now));
            self.unsampled = 0;
        } else {
            self.unsampled += 1;
        }
        (self.attempts, self.successes) = (0, 0);
        let probability = self.probability();
        self.throughput = if probability < USELESS { 0.0 } else { probability / self.airtime.as_secs_f64() };
        let known = !(USELESS..=RELIABLE).contains(&probability);
        self.in_chain = if known { (self.fitting / 2).min(2) } else { self.fitting };
        if self.in_chain == 0 {
            self.in_chain = 2;
        }
        self.samples_left = known.then_some(FEW_SAMPLES);
    }
}

/// Attempts, with growing backoffs, that take up to a segment.
fn attempts_that_fit(phy: &Phy, rate: TxVector, airtime: Duration) -> u32 {
    let parameters = phy.parameters();
    let response = phy.airtime(phy.default_basic_rate(rate), FrameKind::RESPONSE_OCTETS);
    let attempt = airtime + parameters.sifs + response;
    let (mut attempts, mut window, mut time) = (1, parameters.cw_min, attempt);
    while attempts < MOST_ATTEMPTS {
        time += attempt + parameters.slot * u64::from(window) / 2;
        window = (2 * window + 1).min(parameters.cw_max);
        if time >= SEGMENT {
            break;
        }
        attempts += 1;
    }
    attempts
}

/// The numbers below `count` in random order (Fisher and Yates).
pub(super) fn permutation(count: usize, random: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.below(last as u32 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Standard;
    use hopcast_protocols::random::Purpose;

    fn minstrel(standard: Standard, seed: u64) -> Minstrel {
        let random = Stream::new(seed, Purpose::RateSampling, 0, 0);
        let phy = standard.phy(false);
        Minstrel::new(&phy, phy.vectors(), Instant::START, random)
    }

    /// An interval in which each rate had this many attempts and successes.
    fn interval(minstrel: &mut Minstrel, outcomes: &[(u32, u32)]) {
        for (rate, &(attempts, successes)) in minstrel.rates.iter_mut().zip(outcomes) {
            (rate.attempts, rate.successes) = (attempts, successes);
        }
        minstrel.update();
    }

    #[test]
    fn the_past_has_three_quarters_of_the_weight() {
        let mut minstrel = minstrel(Standard::Dsss, 1);
        let mut probabilities = Vec::new();
        for outcome in [(10, 8), (10, 4), (0, 0), (5, 5)] {
            interval(&mut minstrel, &[outcome, (0, 0)]);
            probabilities.push(minstrel.rates[0].probability());
        }
        // The first is taken whole; 0.6 + 0.1; nothing new; 0.525 + 0.25.
        for (probability, expected) in probabilities.iter().zip([0.8, 0.7, 0.7, 0.775]) {
            assert!((probability - expected).abs() < 1e-12, "{probabilities:?}");
        }
        assert_eq!((minstrel.rates[1].probability, minstrel.rates[1].unsampled), (None, 4));
    }

    /// 1200 bytes at 1, 2, 5.5 and 11 Mb/s take 9792, 4992, 1938 and 1065 µs. Successes of 1, 0.9, 0.8 and 0.5 make 102, 180,
    /// 413 and 470 frames a second; 0.05 is none at all.
    #[test]
    fn rates_are_ranked_by_throughput_and_by_reliability() {
        let mut minstrel = minstrel(Standard::HrDsss, 1);
        interval(&mut minstrel, &[(100, 100), (100, 90), (100, 80), (100, 50)]);
        let throughputs: Vec<f64> = minstrel.rates.iter().map(|rate| rate.throughput.round()).collect();
        assert_eq!(throughputs, [102.0, 180.0, 413.0, 469.0]);
        assert_eq!((minstrel.best, minstrel.second, minstrel.safest), (3, 2, 0));
        let mut minstrel = self::minstrel(Standard::HrDsss, 1);
        interval(&mut minstrel, &[(100, 97), (100, 96), (100, 94), (100, 5)]);
        // Of the two above 95 % the faster one is the safe one.
        assert_eq!((minstrel.best, minstrel.second, minstrel.safest), (2, 1, 1));
        assert_eq!(minstrel.rates[3].throughput, 0.0);
        // The lowest leads: the next one is the second all the same.
        let mut minstrel = self::minstrel(Standard::HrDsss, 1);
        interval(&mut minstrel, &[(100, 100), (100, 48), (100, 5), (100, 5)]);
        assert_eq!((minstrel.best, minstrel.second, minstrel.safest), (0, 1, 0));
    }

    /// 54 Mb/s: 1200 bytes in 200 µs, SIFS 16, ACK 28; backoffs of 67.5, 139.5, 283.5, 571.5, 1147.5 and 2299.5 µs. Six attempts end after
    /// 3674 µs, the seventh would end after 6217 µs.
    #[test]
    fn a_rate_is_tried_as_often_as_fits_six_milliseconds() {
        assert_eq!(minstrel(Standard::Ofdm, 1).rates[7].fitting, 6);
        // 1 Mb/s: one attempt takes longer than that.
        assert_eq!(minstrel(Standard::Dsss, 1).rates[0].fitting, 1);
    }

    /// The rates of seven attempts at a frame.
    fn chain(minstrel: &mut Minstrel) -> Vec<usize> {
        let now = minstrel.updated;
        let rates: Vec<usize> = (0..7).map(|retry| minstrel.select(now, retry)).collect();
        minstrel.on_report(rates[0], true);
        rates
    }

    #[test]
    fn attempts_go_down_the_chain() {
        let mut minstrel = minstrel(Standard::Ofdm, 1);
        let mut outcomes = [(0, 0); 8];
        (outcomes[2], outcomes[4], outcomes[5]) = ((100, 98), (100, 97), (100, 90));
        interval(&mut minstrel, &outcomes);
        assert_eq!((minstrel.best, minstrel.second, minstrel.safest), (5, 4, 4));
        (minstrel.samples, minstrel.frames) = (5, 0);
        // Six attempts at 36 Mb/s fit into the segment; of a reliable rate there are two.
        let fitting = minstrel.rates[5].fitting as usize;
        let expected: Vec<usize> = [vec![5; fitting], vec![4; 7]].concat();
        assert_eq!(chain(&mut minstrel), expected[..7]);
        minstrel.rates[5].in_chain = 2;
        assert_eq!(chain(&mut minstrel), [5, 5, 4, 4, 4, 4, 0]);
    }

    /// Frames on a perfect link at the highest rate: what is slower is only tried after a failure, so never.
    #[test]
    fn slower_rates_are_not_tried_while_the_best_succeeds() {
        let mut minstrel = minstrel(Standard::Ofdm, 1);
        let mut outcomes = [(0, 0); 8];
        outcomes[7] = (10, 10);
        interval(&mut minstrel, &outcomes);
        for _ in 0..500 {
            assert_eq!(chain(&mut minstrel)[0], 7);
        }
    }

    /// One frame in ten, and each of the faster rates in its turn.
    #[test]
    fn faster_rates_are_sampled_with_a_tenth_of_the_frames() {
        let mut minstrel = minstrel(Standard::Ofdm, 1);
        let mut outcomes = [(0, 0); 8];
        outcomes[0] = (10, 5);
        interval(&mut minstrel, &outcomes);
        minstrel.rates.iter_mut().for_each(|rate| rate.samples_left = None);
        let mut first = [0; 8];
        for _ in 0..1_000 {
            first[chain(&mut minstrel)[0]] += 1;
        }
        let sampled: u32 = first[1..].iter().sum();
        // One of eight samples is the best rate itself.
        assert!((80..=100).contains(&sampled), "{first:?}");
        assert!(first[1..].iter().all(|&count| count >= 10), "{first:?}");
    }

    #[test]
    fn useless_rates_are_sampled_four_times_in_an_interval() {
        let mut minstrel = minstrel(Standard::Dsss, 1);
        interval(&mut minstrel, &[(10, 8), (10, 0)]);
        let sampled = (0..1_000).filter(|_| chain(&mut minstrel)[0] == 1).count();
        assert_eq!(sampled, 4);
    }

    #[test]
    fn statistics_are_updated_after_an_interval() {
        let mut minstrel = minstrel(Standard::Dsss, 1);
        let at = |millis| Instant::START + Duration::from_millis(millis);
        for now in [0, 99, 100] {
            assert_eq!(minstrel.updated, Instant::START);
            let rate = minstrel.select(at(now), 0);
            minstrel.on_report(rate, true);
        }
        assert_eq!(minstrel.updated, at(100));
    }

    #[test]
    fn each_round_of_samples_has_every_rate_and_the_seed_orders_them() {
        let first = minstrel(Standard::Ofdm, 1);
        for round in first.table.chunks(8) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        }
        assert_eq!(first.table.len(), 80);
        assert_ne!(first.table, minstrel(Standard::Ofdm, 2).table);
    }
}
