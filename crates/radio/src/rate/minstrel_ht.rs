//! Minstrel-HT: Minstrel for schemes over several streams, with statistics of MPDUs in aggregates.
//!
//! As mac80211 had it up to Linux 5.11 (net/mac80211/rc80211_minstrel_ht.c), before sampling was sorted into categories. Rates with equal
//! numbers of streams form a group. Each 50 ms the share of MPDUs that arrived is averaged for each rate, and gives its throughput for
//! aggregates of the usual length. A frame goes down a chain:
//!
//! | attempts | usually | trying another rate |
//! |---|---|---|
//! | first | highest throughput | the sample, once, without aggregation |
//! | then | second highest throughput | highest throughput |
//! | then | most reliable | most reliable |
//!
//! A frame of which the block acknowledgment has come is done: what was lost begins a new chain.
//!
//! Limits: a station has one width and one guard interval, so groups differ in streams alone. Retries of the chain have no RTS.

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};

use super::minstrel::permutation;
use crate::frame::FrameKind;
use crate::phy::{Phy, TxVector};

/// Between two updates of the statistics: half of Minstrel's interval (`update_interval / 2`).
const INTERVAL: Duration = Duration::from_millis(50);
/// Weight of the past, of one, in averages (`EWMA_LEVEL`).
const PAST: f64 = 0.75;
/// Bytes of a packet whose time counts (`AVG_PKT_SIZE`), and packets of an aggregate whose padding counts (`AVG_AMPDU_SIZE`).
const PACKET_OCTETS: u32 = 1_200;
const PACKETS: u32 = 16;
/// Below this probability a rate has no throughput (minstrel_ht_calc_tp).
const USELESS: f64 = 0.10;
/// Probabilities above count as this one, since collisions make them vary (minstrel_ht_calc_tp).
const MOST: f64 = 0.90;
/// Above this probability a rate is reliable, and the faster one is taken (minstrel_ht_update_stats).
const RELIABLE: f64 = 0.75;
/// Above this probability a rate is not sampled (minstrel_get_sample_rate).
const KNOWN: f64 = 0.95;
/// Below this probability the best rate is given up at once, after that many attempts (minstrel_ht_tx_status).
const DEAD: f64 = 0.20;
const DEAD_ATTEMPTS: u32 = 30;
/// Intervals without an attempt after which a slower rate is sampled, and how many of these in an interval.
const LONG_UNSAMPLED: u32 = 20;
const SLOW_SAMPLES: u32 = 3;
/// Samples that begin at once, then those of an interval for each group (`sample_tries`, `sample_count`).
const FIRST_TRIES: u32 = 4;
const FIRST_SAMPLES: u32 = 16;
const SAMPLES_OF_GROUP: u32 = 8;
/// Packets between samples, besides two aggregates (minstrel_ht_tx_status).
const WAIT: u32 = 16;
/// Orders in which the rates of a group are sampled (`SAMPLE_COLUMNS`).
const COLUMNS: usize = 10;
/// Time for the attempts at one rate of the chain, and their number (`segment_size`, `max_retry`).
const SEGMENT: Duration = Duration::from_millis(6);
const MOST_ATTEMPTS: u32 = 7;

/// The state for one receiver; rates are indices, ascending.
#[derive(Clone, Debug)]
pub(super) struct MinstrelHt {
    rates: Vec<Rate>,
    groups: Vec<Group>,
    /// Highest throughput, second highest, most reliable.
    best: usize,
    second: usize,
    safest: usize,
    /// Average MPDUs of a frame, and those of this interval with the number of frames.
    length: f64,
    lengths: (u32, u32),
    updated: Instant,
    /// Packets until the next sample; samples that are due, and that are left in this interval; slow ones of this interval.
    wait: u32,
    tries: u32,
    samples: u32,
    slow: u32,
    /// The group whose turn it is to be sampled.
    turn: usize,
    /// The rates of the present frame, and how often each.
    chain: [(usize, u32); 3],
    /// Attempts at the present frame without an answer.
    unanswered: u32,
    /// The choice for the present attempt, until it is reported.
    chosen: Option<usize>,
    /// Whether the first rate of the chain is a sample.
    samples_now: bool,
    /// Contention of the first attempt, and the slot's multiples of later ones.
    slot: Duration,
    windows: (u32, u32),
}

/// What is known of a rate.
#[derive(Clone, Debug)]
struct Rate {
    streams: u8,
    /// Of a packet in a long aggregate, and of what each frame has besides.
    packet: Duration,
    overhead: Duration,
    /// MPDUs in this interval.
    attempts: u32,
    successes: u32,
    /// `None`: never tried.
    probability: Option<f64>,
    /// Packets per second.
    throughput: f64,
    unsampled: u32,
}

/// Rates over the same number of streams.
#[derive(Clone, Debug)]
struct Group {
    /// In [`COLUMNS`] orders, one after the other.
    order: Vec<usize>,
    next: usize,
}

impl MinstrelHt {
    /// Over `rates` of `phy`, ascending. `random` draws the orders of the samples.
    pub(super) fn new(phy: &Phy, rates: &[TxVector], now: Instant, mut random: Stream) -> Self {
        let mut streams: Vec<u8> = rates.iter().map(|rate| rate.streams()).collect();
        streams.sort_unstable();
        streams.dedup();
        let groups = streams.into_iter().map(|streams| {
            let of_group: Vec<usize> = (0..rates.len()).filter(|&rate| rates[rate].streams() == streams).collect();
            let columns = (0..COLUMNS).flat_map(|_| permutation(of_group.len(), &mut random));
            Group { order: columns.map(|place| of_group[place]).collect(), next: 0 }
        });
        let parameters = phy.parameters();
        let mut minstrel = Self {
            groups: groups.collect(),
            rates: rates.iter().map(|&rate| Rate::new(phy, rate)).collect(),
            best: 0,
            second: 0,
            safest: 0,
            length: 1.0,
            lengths: (0, 0),
            updated: now,
            wait: 0,
            tries: FIRST_TRIES,
            samples: FIRST_SAMPLES,
            slow: 0,
            turn: 0,
            chain: [(0, 1); 3],
            unanswered: 0,
            chosen: None,
            samples_now: false,
            slot: parameters.slot,
            windows: (parameters.cw_min, parameters.cw_max),
        };
        minstrel.begin_chain();
        minstrel
    }

    /// The rate of the next attempt; `retry` attempts at the frame have failed.
    pub(super) fn select(&mut self, now: Instant, retry: u32) -> usize {
        if let Some(chosen) = self.chosen {
            return chosen;
        }
        if now.saturating_since(self.updated) >= INTERVAL {
            self.update();
            self.updated = now;
        }
        if retry == 0 || self.unanswered == 0 {
            self.begin_chain();
        }
        let mut attempts = 0;
        let stage = self.chain.iter().position(|(_, count)| {
            attempts += count;
            self.unanswered < attempts
        });
        let (rate, _) = self.chain[stage.unwrap_or(self.chain.len() - 1)];
        self.samples_now &= stage == Some(0);
        self.chosen = Some(rate);
        rate
    }

    /// Whether the present attempt is a sample, which goes without aggregation.
    pub(super) fn is_sample(&self) -> bool {
        self.samples_now
    }

    /// Of `sent` MPDUs at `rate`, this number was acknowledged.
    pub(super) fn on_report(&mut self, rate: usize, sent: u32, acknowledged: u32) {
        self.chosen = None;
        self.unanswered = if acknowledged == 0 { self.unanswered + 1 } else { 0 };
        self.lengths = (self.lengths.0 + sent, self.lengths.1 + 1);
        self.wait = self.wait.saturating_sub(sent);
        if self.wait == 0 && self.tries == 0 && self.samples > 0 {
            self.wait = WAIT + (2.0 * self.length) as u32;
            self.tries = 1;
            self.samples -= 1;
        }
        self.rates[rate].attempts += sent;
        self.rates[rate].successes += acknowledged;
        for leading in [self.best, self.second] {
            let known = &self.rates[leading];
            if known.attempts > DEAD_ATTEMPTS
                && f64::from(known.successes) < DEAD * f64::from(known.attempts)
                && let Some(lower) = self.best_below(known.streams)
            {
                *if leading == self.best { &mut self.best } else { &mut self.second } = lower;
            }
        }
    }

    /// The best rate with fewer streams.
    fn best_below(&self, streams: u8) -> Option<usize> {
        let fewer = (0..self.rates.len()).filter(|&rate| self.rates[rate].streams < streams);
        fewer.max_by(|&one, &other| self.rates[one].throughput.total_cmp(&self.rates[other].throughput))
    }

    /// Chooses the chain of a new frame.
    fn begin_chain(&mut self) {
        self.unanswered = 0;
        let sample = self.sample();
        self.samples_now = sample.is_some();
        let stage = |rate: usize| (rate, self.attempts(rate));
        self.chain = match sample {
            Some(sample) => [(sample, 1), stage(self.best), stage(self.safest)],
            None => [stage(self.best), stage(self.second), stage(self.safest)],
        };
    }

    /// The rate to look around at, if it is time for one (minstrel_get_sample_rate).
    fn sample(&mut self) -> Option<usize> {
        if self.wait > 0 || self.tries == 0 {
            return None;
        }
        let group = &mut self.groups[self.turn];
        let sample = group.order[group.next];
        group.next = (group.next + 1) % group.order.len();
        self.turn = (self.turn + 1) % self.groups.len();
        let rate = &self.rates[sample];
        if [self.best, self.second, self.safest].contains(&sample) || rate.probability() > KNOWN {
            return None;
        }
        let streams = self.rates[self.best].streams.max(2) - 1;
        let is_slower = |other: usize| rate.packet >= self.rates[other].packet;
        if is_slower(self.second) && (streams < rate.streams || is_slower(self.safest)) {
            if rate.unsampled < LONG_UNSAMPLED || self.slow >= SLOW_SAMPLES {
                return None;
            }
            self.slow += 1;
        }
        self.tries -= 1;
        Some(sample)
    }

    /// Attempts at a rate of a chain: as many as fit into a segment, two for an unreliable one (minstrel_calc_retransmit).
    fn attempts(&self, rate: usize) -> u32 {
        let known = &self.rates[rate];
        if known.probability() < USELESS {
            return 1;
        }
        if known.probability() < DEAD {
            return 2;
        }
        let data = Duration::from_nanos((known.packet.as_nanos() as f64 * self.length) as u64) + known.overhead;
        let (mut window, most) = self.windows;
        let mut contention = || {
            let time = self.slot * u64::from(window) / 2;
            window = (2 * window + 1).min(most);
            time
        };
        let mut time = (contention() + data) + (contention() + data);
        let mut attempts = 2;
        while attempts < MOST_ATTEMPTS {
            time += contention() + data;
            if time >= SEGMENT {
                break;
            }
            attempts += 1;
        }
        attempts
    }

    /// Ends an interval (minstrel_ht_update_stats).
    fn update(&mut self) {
        if let (sum, count @ 1..) = core::mem::take(&mut self.lengths) {
            self.length = PAST * self.length + (1.0 - PAST) * f64::from(sum) / f64::from(count);
        }
        let length = self.length;
        self.rates.iter_mut().for_each(|rate| rate.update(length));
        self.slow = 0;
        self.samples = SAMPLES_OF_GROUP * self.groups.len() as u32;
        let throughput = |rate: usize| self.rates[rate].throughput;
        let mut order: Vec<usize> = (0..self.rates.len()).collect();
        // Of equal ones the slower goes first.
        order.sort_by(|&one, &other| throughput(other).total_cmp(&throughput(one)));
        (self.best, self.second) = (order[0], order[1.min(order.len() - 1)]);
        // The most reliable one has fewer streams than the best, or one.
        let streams = self.rates[self.best].streams.max(2) - 1;
        let key = |rate: &Rate| match rate.probability() {
            probability if probability > RELIABLE => (RELIABLE, rate.throughput),
            probability => (probability, 0.0),
        };
        self.safest = 0;
        for (place, rate) in self.rates.iter().enumerate() {
            let is_better = self.rates[self.safest].streams > streams || key(rate) > key(&self.rates[self.safest]);
            if rate.streams <= streams && is_better {
                self.safest = place;
            }
        }
    }
}

impl Rate {
    fn new(phy: &Phy, rate: TxVector) -> Self {
        let empty = phy.airtime(rate, 0);
        let long = phy.airtime(rate, PACKETS * PACKET_OCTETS).saturating_sub(empty);
        let response = phy.airtime(phy.default_basic_rate(rate), FrameKind::block_ack_octets(64));
        Self {
            streams: rate.streams(),
            packet: long / u64::from(PACKETS),
            overhead: phy.difs() + empty + phy.parameters().sifs + response,
            attempts: 0,
            successes: 0,
            probability: None,
            throughput: 0.0,
            unsampled: 0,
        }
    }

    fn probability(&self) -> f64 {
        self.probability.unwrap_or(0.0)
    }

    /// Ends an interval, in which frames had this average number of MPDUs.
    fn update(&mut self, length: f64) {
        if self.attempts > 0 {
            let now = f64::from(self.successes) / f64::from(self.attempts);
            self.probability = Some(self.probability.map_or(now, |past| PAST * past + (1.0 - PAST) * now));
            self.unsampled = 0;
        } else {
            self.unsampled += 1;
        }
        (self.attempts, self.successes) = (0, 0);
        let probability = self.probability();
        let time = self.overhead.as_secs_f64() / length + self.packet.as_secs_f64();
        self.throughput = if probability < USELESS { 0.0 } else { probability.min(MOST) / time };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, Standard};
    use hopcast_protocols::random::Purpose;

    /// The 16 schemes of 802.11n over one and two streams, ascending: places and schemes differ.
    fn rates() -> (Phy, Vec<TxVector>) {
        let shape = crate::phy::Shape { streams: 2, ..crate::phy::Shape::of(Standard::Ht) };
        let phy = Standard::Ht.phy(false).with_shape(shape);
        let mut rates: Vec<TxVector> = phy.vectors().iter().copied().filter(|rate| rate.format().has_shape()).collect();
        rates.sort_by_key(|rate| rate.data_rate());
        assert_eq!(shape.band, Band::High);
        (phy, rates)
    }

    fn minstrel() -> (MinstrelHt, Vec<TxVector>) {
        let (phy, rates) = rates();
        (MinstrelHt::new(&phy, &rates, Instant::START, Stream::new(1, Purpose::RateSampling, 0, 1)), rates)
    }

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Sends aggregates of 20 MPDUs, one each millisecond, over a link on which a share of the MPDUs at each rate arrives.
    fn run(minstrel: &mut MinstrelHt, seconds: u64, share: impl Fn(usize) -> f64) -> Vec<u32> {
        let mut used = vec![0; minstrel.rates.len()];
        let mut random = Stream::new(2, Purpose::Backoff, 0, 0);
        let mut retry = 0;
        for millis in 0..1000 * seconds {
            let rate = minstrel.select(at(millis), retry);
            let sent = if minstrel.is_sample() { 1 } else { 20 };
            let acknowledged = (0..sent).filter(|_| random.unit() < share(rate)).count() as u32;
            used[rate] += sent;
            retry = if acknowledged == 0 { retry + 1 } else { 0 };
            minstrel.on_report(rate, sent, acknowledged);
        }
        used
    }

    /// After n intervals with the share f, the average is f + (p − f)(3/4)ⁿ; the first interval counts fully.
    #[test]
    fn probabilities_are_averaged() {
        let (mut minstrel, _) = minstrel();
        minstrel.on_report(3, 20, 10);
        minstrel.update();
        assert_eq!(minstrel.rates[3].probability, Some(0.5));
        for n in 1..=4 {
            minstrel.on_report(3, 20, 20);
            minstrel.update();
            let expected = 1.0 - 0.5 * libm::pow(0.75, f64::from(n));
            assert!((minstrel.rates[3].probability() - expected).abs() < 1e-12);
        }
        // The length of aggregates likewise, from 1: 20 − 19 · 0.75⁵.
        assert!((minstrel.length - (20.0 - 19.0 * libm::pow(0.75, 5.0))).abs() < 1e-12);
    }

    /// Throughput is a packet's share of the overhead and its own time, for at most nine tenths of the packets.
    #[test]
    fn throughput_counts_overhead_by_the_length_of_aggregates() {
        let (phy, rates) = rates();
        let mut rate = Rate::new(&phy, rates[15]);
        rate.attempts = 10;
        rate.successes = 10;
        rate.update(10.0);
        let expected = 0.9 / (rate.overhead.as_secs_f64() / 10.0 + rate.packet.as_secs_f64());
        assert!((rate.throughput - expected).abs() < 1e-6);
        // 1200 bytes at 130 Mb/s take 73.8 µs.
        assert!((rate.packet.as_secs_f64() - 73.8e-6).abs() < 1e-6, "{:?}", rate.packet);
        rate.attempts = 1000;
        rate.update(10.0);
        rate.attempts = 1000;
        for _ in 0..10 {
            rate.attempts = 1000;
            rate.update(10.0);
        }
        assert_eq!(rate.throughput, 0.0, "below a tenth");
    }

    #[test]
    fn the_best_rate_is_found_and_most_frames_use_it() {
        for limit in [0, 3, 7, 11, 15] {
            let (mut minstrel, rates) = minstrel();
            let used = run(&mut minstrel, 3, |rate| if rate <= limit { 1.0 } else { 0.0 });
            // Two schemes may have one rate.
            let is_best = |place: &usize| *place <= limit && rates[*place].data_rate() == rates[limit].data_rate();
            assert!(is_best(&minstrel.best), "{} for {limit}", minstrel.best);
            let of_best: u32 = (0..16).filter(is_best).map(|place| used[place]).sum();
            assert!(f64::from(of_best) > 0.8 * f64::from(used.iter().sum::<u32>()), "{used:?}");
        }
    }

    /// Every rate above the best one is tried again and again, and a link that gets better is used.
    #[test]
    fn samples_never_cease() {
        let (mut minstrel, _) = minstrel();
        run(&mut minstrel, 5, |rate| if rate <= 5 { 1.0 } else { 0.0 });
        minstrel.updated = Instant::START;
        let used = run(&mut minstrel, 5, |rate| if rate <= 5 { 1.0 } else { 0.0 });
        assert!(used[6..].iter().all(|&count| count > 0), "{used:?}");
        minstrel.updated = Instant::START;
        run(&mut minstrel, 2, |_| 1.0);
        assert_eq!(minstrel.best, 15);
    }

    /// A frame without an answer goes down the chain; one that was answered in part begins again.
    #[test]
    fn a_chain_goes_from_best_to_safest() {
        let (mut minstrel, _) = minstrel();
        run(&mut minstrel, 3, |rate| if rate <= 9 { 0.97 } else { 0.0 });
        minstrel.tries = 0;
        minstrel.samples = 0;
        let now = at(3001);
        minstrel.updated = now;
        let (best, second, safest) = (minstrel.best, minstrel.second, minstrel.safest);
        let [first, then, _] = [best, second, safest].map(|rate| minstrel.attempts(rate));
        minstrel.chosen = None;
        let mut order = Vec::new();
        for retry in 0..first + then + 2 {
            let rate = minstrel.select(now, retry);
            assert_eq!(minstrel.select(now, retry), rate, "asked again before the report");
            order.push(rate);
            // Not so many that the rate counts as dead.
            minstrel.on_report(rate, 1, 0);
        }
        let stages = [(best, first), (second, then), (safest, 2)];
        let expected: Vec<usize> = stages.iter().flat_map(|&(rate, count)| vec![rate; count as usize]).collect();
        assert_eq!(order, expected);
        minstrel.on_report(safest, 20, 1);
        assert_eq!(minstrel.select(now, 3), best, "answered in part");
    }

    /// The most reliable rate has fewer streams than the best.
    #[test]
    fn a_best_rate_that_dies_gives_way_at_once() {
        let (mut minstrel, rates) = minstrel();
        run(&mut minstrel, 3, |_| 1.0);
        assert_eq!((minstrel.best, rates[minstrel.safest].streams()), (15, 1));
        minstrel.update();
        minstrel.on_report(15, 64, 0);
        assert_eq!(rates[minstrel.best].streams(), 1);
    }
}
