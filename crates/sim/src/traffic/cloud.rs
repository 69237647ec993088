//! The devices of a streaming cloud, and what their users ask for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::streaming::device;
use hopcast_protocols::streaming::placement::{self, Map, Policy};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::cloud::Wish;

use crate::host::{CloudOptions, Form, Host, Neighbours, Request};
use crate::id::NodeId;
use crate::network::Network;
use crate::scenario::model::{Clip, Cloud, Requests};

/// Adds a device to each host of `cloud`, in a run that ends at `end`. `network` is that at its start.
pub(super) fn add(
    cloud: &Cloud,
    hosts: &mut [Host],
    network: &Network,
    neighbours: &Arc<Neighbours>,
    seed: u64,
    end: Instant,
) {
    let stored = match cloud.placement {
        None => given(cloud),
        Some(policy) => placed(cloud, policy, network, seed),
    };
    let varying = cloud.clips.iter().zip(0..).filter_map(|(clip, number)| Some((number, clip.index.clone()?)));
    let indices: Vec<_> = varying.collect();
    for (&node, clips) in cloud.devices.iter().zip(stored) {
        let entries = cloud.requests.iter().zip(0..).filter(|(entry, _)| entry.from.contains(&node));
        let mut requests: Vec<(Instant, Request)> =
            entries.flat_map(|(entry, number)| arrivals(cloud, entry, number, node, seed, end)).collect();
        requests.sort_by_key(|&(at, _)| at);
        let neighbours = Arc::clone(neighbours);
        let requests: VecDeque<_> = requests.into();
        let down = cloud.failures.iter().filter(|failure| failure.device == node);
        let failures =
            down.map(|failure| (failure.at, failure.until.unwrap_or(end + Duration::from_secs(1)))).collect();
        let config = device::Config { cache: cloud.caches.get(&node).copied(), ..cloud.config };
        let lie = cloud.lies.get(&node).copied();
        let indices = indices.clone();
        let options = CloudOptions { config, clips, indices, requests, failures, lie, neighbours, seed };
        hosts[node.0 as usize].add_cloud(options);
    }
}

/// What each device stores, by the places that clips have in the scenario.
fn given(cloud: &Cloud) -> Vec<BTreeSet<u32>> {
    let at = |&node: &NodeId| {
        let here = cloud.clips.iter().zip(0..).filter(|(clip, _)| clip.at.contains(&node));
        here.flat_map(|(clip, number)| numbers(clip, number)).collect()
    };
    cloud.devices.iter().map(at).collect()
}

/// The same by a rule. Links are those at the start of the run.
fn placed(cloud: &Cloud, policy: Policy, network: &Network, seed: u64) -> Vec<BTreeSet<u32>> {
    let places: BTreeMap<NodeId, usize> = cloud.devices.iter().copied().zip(0..).collect();
    let links: Vec<(usize, usize)> = cloud
        .devices
        .iter()
        .zip(0..)
        .flat_map(|(&node, place)| network.neighbours(node).map(move |other| (place, other)))
        .filter_map(|(place, other)| Some((place, *places.get(&other)?)))
        .collect();
    let map = Map::new(cloud.devices.len(), &links);
    let library: Vec<placement::Clip> = cloud.clips.iter().map(in_blocks).collect();
    let mut random = Stream::new(seed, Purpose::CloudPlacement, 0, 0);
    let placement = placement::place(&library, &map, policy, &mut random).expect("the scenario was checked");
    let mut stored = vec![BTreeSet::new(); cloud.devices.len()];
    for (place, clip) in cloud.clips.iter().enumerate() {
        for (holders, number) in placement.holders(place).iter().zip(numbers(clip, place as u32)) {
            holders.iter().for_each(|&device| _ = stored[device].insert(number));
        }
    }
    stored
}

/// The numbers of a clip's blocks; that of the clip if it is stored as a whole.
pub(crate) fn numbers(clip: &Clip, number: u32) -> core::ops::Range<u32> {
    clip.blocks.map_or(number..number + 1, |blocks| blocks.first..blocks.first + blocks.count)
}

/// A clip as rules of placement see it.
pub(crate) fn in_blocks(clip: &Clip) -> placement::Clip {
    let blocks = clip.blocks.map_or(1, |blocks| blocks.count);
    let block_time = clip.length / u64::from(blocks);
    let rate: u128 = clip.lower_rates.iter().chain([&clip.rate]).map(|&rate| u128::from(rate)).sum();
    let constant = rate * u128::from(block_time.as_nanos()) / 8_000_000_000;
    let block_size = clip.index.as_ref().map_or(constant as u64, |index| index.octets());
    placement::Clip { blocks, block_size, block_time, popularity: clip.share }
}

/// Requests of one device from one entry of the scenario.
fn arrivals(
    cloud: &Cloud,
    entry: &Requests,
    number: u64,
    node: NodeId,
    seed: u64,
    end: Instant,
) -> Vec<(Instant, Request)> {
    let mut random = Stream::new(seed, Purpose::CloudRequest, number, node.0.into());
    let sums = sums(&cloud.clips[entry.clips.clone()]);
    let wish = |random: &mut Stream| {
        let place = entry.clips.start + draw(&sums, random);
        let clip = &cloud.clips[place];
        let form = match clip.blocks {
            Some(blocks) => Form::Blocks(blocks),
            None if clip.lower_rates.is_empty() => Form::Whole,
            None => Form::Rates(clip.lower_rates.iter().copied().chain([clip.rate]).collect()),
        };
        let length = (clip.length.as_nanos() / 1_000_000) as u32;
        let rate = clip.index.as_ref().map_or(clip.rate, |index| index.reserved());
        Request { wish: Wish { clip: place as u32, rate, length }, form, patience: entry.patience }
    };
    let Some(mean) = entry.every else { return vec![(entry.start, wish(&mut random))] };
    let stop = entry.stop.unwrap_or(end).min(end);
    let mut requests = Vec::new();
    let mut at = entry.start;
    loop {
        at += Duration::from_secs_f64(-libm::log1p(-random.unit()) * mean.as_secs_f64());
        if at >= stop {
            return requests;
        }
        requests.push((at, wish(&mut random)));
    }
}

/// Zipf's law: for each clip the sum of the weights up to it.
fn sums(clips: &[Clip]) -> Vec<f64> {
    let weights = clips.iter().zip(1..).map(|(clip, rank)| libm::pow(f64::from(rank), -clip.popularity));
    let sums = weights.scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    sums.collect()
}

/// The place of a clip, with a probability in proportion to its weight.
fn draw(sums: &[f64], random: &mut Stream) -> usize {
    let last = sums.len() - 1;
    let drawn = random.unit() * sums[last];
    sums.partition_point(|&sum| sum <= drawn).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clips(count: usize, popularity: f64) -> Vec<Clip> {
        let name = String::new();
        let clip = Clip {
            name,
            rate: 1,
            index: None,
            lower_rates: vec![],
            length: Duration::ZERO,
            blocks: None,
            at: vec![],
            popularity,
            share: 1.0,
        };
        vec![clip; count]
    }

    #[test]
    fn the_first_of_two_clips_is_drawn_twice_as_often_with_an_exponent_of_one() {
        let mut random = Stream::new(1, Purpose::CloudRequest, 0, 0);
        let sums = sums(&clips(2, 1.0));
        let first = (0..30_000).filter(|_| draw(&sums, &mut random) == 0).count();
        // Four standard errors of a binomial with 2/3: 4 · √(30 000 · 2/9) = 327.
        assert!((19_673..=20_327).contains(&first), "{first}");
    }

    #[test]
    fn one_clip_is_always_drawn() {
        let mut random = Stream::new(1, Purpose::CloudRequest, 0, 0);
        let sums = sums(&clips(1, 0.7));
        assert!((0..100).all(|_| draw(&sums, &mut random) == 0));
    }

    #[test]
    fn blocks_have_numbers_after_the_clips_and_equal_sizes() {
        use hopcast_protocols::streaming::device::Blocks;
        let [mut film, whole] = [0, 1].map(|_| clips(1, 0.0).remove(0));
        (film.rate, film.length) = (4_000_000, Duration::from_secs(10));
        film.blocks = Some(Blocks { first: 2, count: 4 });
        film.at = vec![NodeId(1)];
        assert_eq!(numbers(&film, 0), 2..6);
        assert_eq!(numbers(&whole, 1), 1..2);
        let blocks = in_blocks(&film);
        // 2.5 s of 4 Mb/s.
        assert_eq!((blocks.blocks, blocks.block_size, blocks.block_time), (4, 1_250_000, Duration::from_millis(2_500)));
        // All rates are stored: 10 s of 1.5 Mb/s.
        let several = Clip { rate: 1_000_000, lower_rates: vec![500_000], length: film.length, ..whole.clone() };
        assert_eq!(in_blocks(&several).block_size, 1_875_000);
        let devices = vec![NodeId(0), NodeId(1)];
        let cloud = Cloud {
            devices,
            config: config(),
            caches: BTreeMap::new(),
            placement: None,
            clips: vec![film, whole],
            requests: vec![],
            failures: vec![],
            lies: BTreeMap::new(),
        };
        assert_eq!(given(&cloud), [BTreeSet::new(), BTreeSet::from([2, 3, 4, 5])]);
    }

    #[test]
    fn requests_arrive_at_their_mean_rate_and_within_their_times() {
        let [start, stop, end] = [10, 5_010, 9_000].map(|seconds| Instant::START + Duration::from_secs(seconds));
        let entry = Requests {
            from: vec![NodeId(0)],
            clips: 0..1,
            start,
            every: Some(Duration::from_secs(5)),
            stop: Some(stop),
            patience: Duration::ZERO,
        };
        let clips = clips(1, 0.0);
        let cloud = Cloud {
            devices: vec![],
            config: config(),
            caches: BTreeMap::new(),
            placement: None,
            clips,
            requests: vec![],
            failures: vec![],
            lies: BTreeMap::new(),
        };
        let requests = arrivals(&cloud, &entry, 0, NodeId(0), 1, end);
        assert!(requests.iter().all(|&(at, _)| start < at && at < stop));
        // 1000 in the mean; four standard deviations of a Poisson number.
        assert!((874..=1_126).contains(&requests.len()), "{}", requests.len());
        let once = Requests { every: None, ..entry };
        assert_eq!(arrivals(&cloud, &once, 0, NodeId(0), 1, end).len(), 1);
    }

    fn config() -> hopcast_protocols::streaming::device::Config {
        use hopcast_protocols::streaming::admission::{Estimator, Policy};
        use hopcast_protocols::streaming::{profile, reservation};
        let second = Duration::from_secs(1);
        let rules = reservation::Rules {
            policy: Policy::All,
            estimator: Estimator::Bootstrap,
            nominal_rate: 25e6,
            max_airtime: 0.85,
            stalls_per_hour: 0.1,
            pace: 1.5,
            refresh: second,
            expiry: second,
            repeat: second,
        };
        let profile = profile::Config::default();
        device::Config {
            rules,
            prefetch: None,
            slack: Duration::ZERO,
            sensing_hops: 2,
            measurement: second,
            profile,
            gap: second,
            shortening: None,
            schedule: None,
            adaptation: None,
            cache: None,
            batch: 1,
        }
    }
}
