//! Which device stores which block of which clip.
//!
//! A clip has blocks of equal size. With D the display time of a block and h the time that a block takes over one hop, block i, counted
//! from 1, may be H_i = ⌊(i − 1) · D / h⌋ hops away from a display: it still arrives in time. This is the rule of Ghandeharizadeh,
//! Krishnamachari and Song, "Placement of continuous media in wireless peer-to-peer networks", IEEE Transactions on Multimedia 6(2),
//! 2004. So block 1 is everywhere, and late blocks have few copies. Two policies follow it:
//!
//! * [`Policy::Anywhere`]: r_i = N − H_i copies of N, at least one. This is the paper's number for the worst topology, a string. On a
//!   connected map of any form it does, wherever the copies lie: with each device at least H_i others are within H_i hops, and only H_i
//!   devices have no copy.
//! * [`Policy::Near`]: copies such that each device has one within H_i hops, as the paper asks for on a grid. They are a greedy cover
//!   (Chvátal, Mathematics of Operations Research 4(3), 1979), so the map may have any form. On a string they are ⌈N / (2 H_i + 1)⌉,
//!   which is the least number.
//!
//! The other policies copy whole clips. [`Placement::display`] is the paper's model of time: a block over d hops arrives d · h after
//! the request, whatever else is on its way.

use core::fmt;

use crate::random::Stream;
use crate::time::Duration;

/// Most devices of a map, which holds the hops between all pairs.
pub const MAX_DEVICES: usize = 4_096;

/// Hops from each device to each other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    devices: usize,
    hops: Vec<u32>,
    /// Hops from each device to the one that is farthest from it.
    farthest: Vec<u32>,
}

/// Hops between devices that no path connects.
const APART: u32 = u32::MAX;

impl Map {
    /// Devices with links between pairs of them, in both directions. Pairs with a device that does not exist are ignored.
    pub fn new(devices: usize, links: &[(usize, usize)]) -> Self {
        let mut neighbours = vec![Vec::new(); devices];
        for &(one, other) in links.iter().filter(|&&(one, other)| one.max(other) < devices) {
            neighbours[one].push(other);
            neighbours[other].push(one);
        }
        let mut hops = vec![APART; devices * devices];
        let mut order = Vec::with_capacity(devices);
        for from in 0..devices {
            let row = &mut hops[from * devices..][..devices];
            row[from] = 0;
            order.clear();
            order.push(from);
            let mut next = 0;
            while let Some(&at) = order.get(next) {
                next += 1;
                for &neighbour in &neighbours[at] {
                    if row[neighbour] == APART {
                        row[neighbour] = row[at] + 1;
                        order.push(neighbour);
                    }
                }
            }
        }
        let farthest = hops.chunks(devices.max(1)).map(|row| row.iter().copied().max().unwrap_or(0)).collect();
        Self { devices, hops, farthest }
    }

    /// Devices in a row.
    pub fn string(devices: usize) -> Self {
        let links: Vec<_> = (1..devices).map(|device| (device - 1, device)).collect();
        Self::new(devices, &links)
    }

    /// Devices in rows and columns, each with up to four neighbours.
    pub fn grid(columns: usize, rows: usize) -> Self {
        let devices = columns * rows;
        let right = (0..devices).filter(|device| device % columns + 1 < columns).map(|device| (device, device + 1));
        let down = (columns..devices).map(|device| (device - columns, device));
        Self::new(devices, &right.chain(down).collect::<Vec<_>>())
    }

    /// Number of devices.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Hops between two devices, `None` if no path connects them.
    pub fn hops(&self, one: usize, other: usize) -> Option<u32> {
        let hops = self.row(one)[other];
        (hops != APART).then_some(hops)
    }

    fn row(&self, device: usize) -> &[u32] {
        &self.hops[device * self.devices..][..self.devices]
    }

    /// Devices such that each device has one of them within `limit` hops, in rising order. The next one is always the first of those
    /// that cover most of the devices left. A single one that covers all is the one that stores least.
    fn cover(&self, limit: u32, stored: &[u64]) -> Vec<usize> {
        // Those without a path are never within the limit.
        let limit = limit.min(APART - 1);
        if limit == 0 {
            return (0..self.devices).collect();
        }
        let central = (0..self.devices).filter(|&device| self.farthest[device] <= limit);
        if let Some(holder) = central.min_by_key(|&device| stored[device]) {
            return vec![holder];
        }
        let within = |device: usize| self.row(device).iter().map(move |&hops| hops <= limit);
        let mut gains: Vec<usize> =
            (0..self.devices).map(|device| within(device).filter(|&near| near).count()).collect();
        let mut covered = vec![false; self.devices];
        let mut holders = Vec::new();
        loop {
            let best = gains.iter().zip(0..).reduce(|best, other| if other.0 > best.0 { other } else { best });
            let Some((_, chosen)) = best.filter(|(gain, _)| **gain > 0) else { break };
            holders.push(chosen);
            for (device, near) in within(chosen).enumerate() {
                if near && !core::mem::replace(&mut covered[device], true) {
                    gains.iter_mut().zip(within(device)).for_each(|(gain, near)| *gain -= usize::from(near));
                }
            }
        }
        holders.sort_unstable();
        holders
    }
}

/// A clip as the policies see it: blocks of equal size and display time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Number of blocks.
    pub blocks: u32,
    /// Bytes of a block.
    pub block_size: u64,
    /// Display time of a block.
    pub block_time: Duration,
    /// How often the clip is asked for, in any unit.
    pub popularity: f64,
}

impl Clip {
    /// H_i: hops that block `block`, counted from 0, may be away if a block takes `hop` over a hop.
    pub fn within(&self, block: u32, hop: Duration) -> u32 {
        let due = u128::from(block) * u128::from(self.block_time.as_nanos());
        let hops = due.checked_div(u128::from(hop.as_nanos()));
        hops.and_then(|hops| u32::try_from(hops).ok()).unwrap_or(u32::MAX)
    }
}

/// Rule by which blocks are placed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Each device stores all clips.
    Full,
    /// This number of copies of each clip, at random devices; at most one at each device.
    Uniform(u32),
    /// This number of copies of all clips together, in proportion to popularity. Each clip has at least one copy.
    Proportional(u32),
    /// The same, in proportion to the square root of popularity.
    SquareRoot(u32),
    /// Block i of each clip within H_i hops of each device, if a block takes this time over a hop.
    Near(Duration),
    /// N − H_i copies of block i, at least one, at random devices.
    Anywhere(Duration),
}

/// Why nothing was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// There is no device.
    NoDevice,
    /// The number of copies is lower than this number of clips.
    TooFew(usize),
    /// The popularity of the clip at this place is negative or no number.
    Popularity(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDevice => f.write_str("there is no device; at least one is expected"),
            Self::TooFew(clips) => {
                write!(f, "too few copies for {clips} clips; at least one for each clip is expected")
            }
            Self::Popularity(place) => {
                write!(f, "the popularity of clip {place} is no finite number from 0 on")
            }
        }
    }
}

impl core::error::Error for Problem {}

/// Who stores what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Of each clip and block the devices that store it, in rising order.
    holders: Vec<Vec<Vec<usize>>>,
    /// Bytes at each device.
    stored: Vec<u64>,
}

/// What a viewer sees in the paper's model of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Display {
    /// From the request to the arrival of block 1, with which the display starts.
    pub start_up: Duration,
    /// Times that the display had to wait for the next block.
    pub hiccups: u32,
    /// Time that it waited.
    pub stalled: Duration,
}

/// Places the blocks of `clips` on the devices of `map`. [`Policy::Full`] and [`Policy::Near`] draw nothing from `random`.
pub fn place(clips: &[Clip], map: &Map, policy: Policy, random: &mut Stream) -> Result<Placement, Problem> {
    if map.devices == 0 {
        return Err(Problem::NoDevice);
    }
    let mut placement = Placement { holders: Vec::with_capacity(clips.len()), stored: vec![0; map.devices] };
    let copies = match policy {
        Policy::Full => vec![map.devices; clips.len()],
        Policy::Uniform(0) => return Err(Problem::TooFew(clips.len())),
        Policy::Uniform(copies) => vec![map.devices.min(copies as usize); clips.len()],
        Policy::Proportional(copies) => apportion(clips, map.devices, copies, |popularity| popularity)?,
        Policy::SquareRoot(copies) => apportion(clips, map.devices, copies, libm::sqrt)?,
        Policy::Near(hop) => {
            placement.fill(clips, |clip, block, stored| map.cover(clip.within(block, hop), stored));
            return Ok(placement);
        }
        Policy::Anywhere(hop) => {
            placement.fill(clips, |clip, block, _| {
                let copies = map.devices.saturating_sub(clip.within(block, hop) as usize).max(1);
                drawn(map.devices, copies, random)
            });
            return Ok(placement);
        }
    };
    for (clip, copies) in clips.iter().zip(copies) {
        let holders = drawn(map.devices, copies, random);
        placement.store(&holders, clip.block_size * u64::from(clip.blocks));
        placement.holders.push(vec![holders; clip.blocks as usize]);
    }
    Ok(placement)
}

/// Copies of each clip in proportion to its weight, by the highest averages of D'Hondt; from one to the number of devices.
fn apportion(clips: &[Clip], devices: usize, copies: u32, weight: impl Fn(f64) -> f64) -> Result<Vec<usize>, Problem> {
    if let Some(wrong) = clips.iter().position(|clip| !(clip.popularity.is_finite() && clip.popularity >= 0.0)) {
        return Err(Problem::Popularity(wrong));
    }
    let Some(more) = (copies as usize).checked_sub(clips.len()) else { return Err(Problem::TooFew(clips.len())) };
    let weights: Vec<f64> = clips.iter().map(|clip| weight(clip.popularity)).collect();
    let mut given = vec![1_usize; clips.len()];
    for _ in 0..more {
        let average = |clip: usize| weights[clip] / (given[clip] + 1) as f64;
        let open = (0..clips.len()).filter(|&clip| given[clip] < devices);
        // The first of equal ones.
        let next = open.reduce(|best, clip| if average(clip) > average(best) { clip } else { best });
        let Some(next) = next else { break };
        given[next] += 1;
    }
    Ok(given)
}

/// `copies` different devices at random, in rising order.
fn drawn(devices: usize, copies: usize, random: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..devices).collect();
    if copies < devices {
        for place in 0..copies {
            let other = place + random.below((devices - place) as u32) as usize;
            order.swap(place, other);
        }
        order.truncate(copies);
        order.sort_unstable();
    }
    order
}

impl Placement {
    /// Places each block of each clip at the devices that `choose` names, which sees what is stored by then.
    fn fill(&mut self, clips: &[Clip], mut choose: impl FnMut(&Clip, u32, &[u64]) -> Vec<usize>) {
        for clip in clips {
            let mut blocks = Vec::with_capacity(clip.blocks as usize);
            for block in 0..clip.blocks {
                let holders = choose(clip, block, &self.stored);
                self.store(&holders, clip.block_size);
                blocks.push(holders);
            }
            self.holders.push(blocks);
        }
    }

    fn store(&mut self, holders: &[usize], bytes: u64) {
        for &device in holders {
            self.stored[device] += bytes;
        }
    }

    /// The devices that store each block of a clip, in rising order. `clip` is the place among those that were placed.
    pub fn holders(&self, clip: usize) -> &[Vec<usize>] {
        &self.holders[clip]
    }

    /// Bytes at each device.
    pub fn stored(&self) -> &[u64] {
        &self.stored
    }

    /// The share of the storage of full copies that is saved; zero if there is nothing to store.
    pub fn saved(&self, clips: &[Clip]) -> f64 {
        let library: u64 = clips.iter().map(|clip| clip.block_size * u64::from(clip.blocks)).sum();
        let full = library as f64 * self.stored.len() as f64;
        let stored: u64 = self.stored.iter().sum();
        if full > 0.0 { 1.0 - stored as f64 / full } else { 0.0 }
    }

    /// Hops from a device to the nearest copy of a block, `None` if no path leads to one.
    pub fn nearest(&self, map: &Map, device: usize, clip: usize, block: u32) -> Option<u32> {
        self.holders[clip][block as usize].iter().filter_map(|&holder| map.hops(device, holder)).min()
    }

    /// What the viewer of a clip at `device` sees if each block over d hops arrives d · `hop` after the request; `None` if a block can't
    /// be reached. The display starts with block 1, and waits for each block that is late. `number` is the place of the clip among those
    /// that were placed.
    pub fn display(&self, map: &Map, device: usize, number: usize, clip: &Clip, hop: Duration) -> Option<Display> {
        let mut seen = Display::default();
        let mut shown = Duration::ZERO;
        for block in 0..clip.blocks {
            let arrival = hop * u64::from(self.nearest(map, device, number, block)?);
            if block == 0 {
                seen.start_up = arrival;
                shown = arrival;
            } else if arrival > shown {
                seen.hiccups += 1;
                seen.stalled += arrival - shown;
                shown = arrival;
            }
            shown += clip.block_time;
        }
        Some(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn random() -> Stream {
        Stream::new(1, Purpose::Cloud, 0, 0)
    }

    fn clip(blocks: u32, popularity: f64) -> Clip {
        Clip { blocks, block_size: 10, block_time: SECOND, popularity }
    }

    fn placed(clips: &[Clip], map: &Map, policy: Policy) -> Placement {
        place(clips, map, policy, &mut random()).expect("can be placed")
    }

    fn counts(clips: &[Clip], map: &Map, policy: Policy) -> Vec<usize> {
        let placement = placed(clips, map, policy);
        (0..clips.len()).map(|number| placement.holders(number)[0].len()).collect()
    }

    #[test]
    fn hops_on_a_string_a_grid_and_islands() {
        assert_eq!(Map::string(5).hops(0, 4), Some(4));
        // Three columns, two rows: from one corner to the other one.
        assert_eq!(Map::grid(3, 2).hops(0, 5), Some(3));
        assert_eq!(Map::grid(3, 2).hops(2, 3), Some(3));
        assert_eq!(Map::new(3, &[(0, 1), (1, 7)]).hops(0, 2), None);
    }

    #[test]
    fn a_block_may_be_as_far_away_as_the_blocks_before_it_take() {
        let within = |block, hop| clip(9, 1.0).within(block, Duration::from_millis(hop));
        // ⌊(i − 1) · 1 s / 0.4 s⌋.
        assert_eq!([within(0, 400), within(1, 400), within(2, 400), within(3, 400)], [0, 2, 5, 7]);
        // A hop slower than the display.
        assert_eq!([within(1, 1_500), within(2, 1_500), within(3, 1_500)], [0, 1, 2]);
        assert_eq!([within(0, 0), within(1, 0)], [u32::MAX; 2]);
    }

    /// Ten devices, D = 1 s, h = 0.5 s: H is 0, 2, 4, 6, 8, 10.
    #[test]
    fn copies_of_each_block_by_hand() {
        let copies = |map: &Map, policy| -> Vec<usize> {
            placed(&[clip(6, 1.0)], map, policy).holders(0).iter().map(Vec::len).collect()
        };
        let string = Map::string(10);
        assert_eq!(copies(&string, Policy::Anywhere(SECOND / 2)), [10, 8, 6, 4, 2, 1]);
        assert_eq!(copies(&string, Policy::Near(SECOND / 2)), [10, 2, 2, 1, 1, 1]);
        // On a grid of 5 × 5 two hops reach 13 devices from the middle and 6 from a corner; four reach all from the middle.
        assert_eq!(copies(&Map::grid(5, 5), Policy::Near(SECOND / 2))[2..], [1, 1, 1, 1]);
        // Islands: one copy on each.
        assert_eq!(copies(&Map::new(3, &[(0, 1)]), Policy::Near(SECOND / 2)), [3, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_string_has_the_fewest_copies_that_can_be() {
        for devices in [1, 2, 7, 40] {
            let map = Map::string(devices);
            for limit in 0..45 {
                // Each copy serves 2 H + 1 devices of a row at most.
                let least = devices.div_ceil(2 * limit as usize + 1);
                assert_eq!(map.cover(limit, &vec![0; devices]).len(), least, "{devices} devices, {limit} hops");
            }
        }
    }

    #[test]
    fn a_cover_is_at_most_the_logarithm_worse_than_the_best_one() {
        // All subsets of the devices of small maps. Chvátal: at most 1 + 1/2 + … + 1/n times the best.
        let maps = [Map::grid(4, 3), Map::grid(3, 3), Map::new(8, &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (1, 6)])];
        for map in maps {
            let devices = map.devices();
            let serves = |set: u32, limit| {
                (0..devices).all(|device| {
                    let near = |holder| map.hops(device, holder).is_some_and(|hops| hops <= limit);
                    (0..devices).any(|holder| set & 1 << holder != 0 && near(holder))
                })
            };
            for limit in 0..5 {
                let chosen = map.cover(limit, &vec![0; devices]);
                assert!(serves(chosen.iter().fold(0, |set, holder| set | 1 << holder), limit));
                let all = (0..1_u32 << devices).filter(|&set| serves(set, limit));
                let least = all.map(u32::count_ones).min().expect("all devices serve all");
                let harmonic: f64 = (1..=devices).map(|n| 1.0 / n as f64).sum();
                assert!(chosen.len() as f64 <= f64::from(least) * harmonic, "{} of {least}", chosen.len());
            }
        }
    }

    #[test]
    fn a_display_by_hand() {
        let map = Map::string(3);
        let two = clip(3, 1.0);
        let placement = Placement { holders: vec![vec![vec![0], vec![0], vec![1]]], stored: vec![20, 10, 0] };
        let seen = |device, hop| placement.display(&map, device, 0, &two, hop).expect("can be reached");
        let display =
            |start_up, hiccups, stalled| Display { start_up: SECOND * start_up, hiccups, stalled: SECOND * stalled };
        // Both first blocks come after 2 hops of 3 s, the third came before.
        assert_eq!(seen(2, SECOND * 3), display(6, 0, 0));
        // The third comes at 3 s; after two blocks 2 s are shown.
        assert_eq!(seen(0, SECOND * 3), display(0, 1, 1));
        assert_eq!(seen(0, SECOND * 2), display(0, 0, 0));
        assert_eq!(placement.display(&Map::new(3, &[(0, 1)]), 2, 0, &two, SECOND), None);
        // Of nine blocks three are stored.
        assert!((placement.saved(&[two]) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(placement.saved(&[]), 0.0);
    }

    #[test]
    fn copies_follow_popularity_or_its_root() {
        let map = Map::string(20);
        let clips = [clip(1, 16.0), clip(1, 4.0), clip(1, 1.0)];
        assert_eq!(counts(&clips, &map, Policy::Proportional(21)), [16, 4, 1]);
        assert_eq!(counts(&clips, &map, Policy::SquareRoot(14)), [8, 4, 2]);
        // No clip has more copies than there are devices, and none has no copy.
        assert_eq!(counts(&clips, &map, Policy::Proportional(1_000)), [20, 20, 20]);
        assert_eq!(counts(&clips, &map, Policy::Proportional(3)), [1, 1, 1]);
        assert_eq!(counts(&clips, &map, Policy::Uniform(5)), [5, 5, 5]);
        assert_eq!(counts(&clips, &map, Policy::Full), [20, 20, 20]);
    }

    #[test]
    fn copies_lie_on_different_devices_and_on_each_equally_often() {
        let mut random = random();
        let mut counts = [0_u32; 5];
        for _ in 0..20_000 {
            let holders = drawn(5, 2, &mut random);
            assert!(holders[0] < holders[1]);
            holders.iter().for_each(|&holder| counts[holder] += 1);
        }
        // Binomial with 2/5: four standard deviations are 4 · √(20 000 · 0.24) = 277.
        assert!(counts.iter().all(|count| (7_723..=8_277).contains(count)), "{counts:?}");
    }

    #[test]
    fn single_copies_of_late_blocks_spread_over_the_devices() {
        let map = Map::string(10);
        let placement = placed(&[clip(200, 1.0)], &map, Policy::Near(SECOND / 10));
        // Block 1 everywhere and 199 single ones: no device has 2 more than another one.
        let [least, most] = [placement.stored().iter().min(), placement.stored().iter().max()];
        assert!(most.expect("ten") - least.expect("ten") <= 10, "{:?}", placement.stored());
        assert_eq!(placement.stored().iter().sum::<u64>(), 10 * (10 + 199));
    }

    #[test]
    fn what_can_not_be_placed() {
        let map = Map::string(3);
        let placed = |clips: &[Clip], map: &Map, policy| place(clips, map, policy, &mut random()).map(|_| ());
        let two = [clip(1, 1.0), clip(1, -1.0)];
        assert_eq!(placed(&two, &Map::string(0), Policy::Full), Err(Problem::NoDevice));
        assert_eq!(placed(&two, &map, Policy::Uniform(0)), Err(Problem::TooFew(2)));
        assert_eq!(placed(&two[..1], &map, Policy::Proportional(0)), Err(Problem::TooFew(1)));
        assert_eq!(placed(&two, &map, Policy::SquareRoot(5)), Err(Problem::Popularity(1)));
    }

    proptest! {
        /// The paper's promise on connected maps of any form: a tree with some more links.
        #[test]
        fn displays_start_at_once_and_never_stall_if_a_hop_takes_what_was_planned(
            parents in prop::collection::vec(any::<prop::sample::Index>(), 0..30),
            more in prop::collection::vec((0..31_usize, 0..31_usize), 0..10),
            (blocks, block_ms, hop_ms) in (1..40_u32, 1..3_000_u64, 1..3_000_u64),
            seed in any::<u64>(),
        ) {
            let tree = parents.iter().enumerate().map(|(place, parent)| (parent.index(place + 1), place + 1));
            let map = Map::new(parents.len() + 1, &tree.chain(more).collect::<Vec<_>>());
            let clips = [Clip { block_time: Duration::from_millis(block_ms), ..clip(blocks, 1.0) }; 2];
            let hop = Duration::from_millis(hop_ms);
            let mut random = Stream::new(seed, Purpose::Cloud, 0, 0);
            for policy in [Policy::Near(hop), Policy::Anywhere(hop)] {
                let placement = place(&clips, &map, policy, &mut random).expect("can be placed");
                for device in 0..map.devices() {
                    for (number, clip) in clips.iter().enumerate() {
                        prop_assert_eq!(placement.display(&map, device, number, clip, hop), Some(Display::default()));
                    }
                }
                let stored: u64 = placement.stored().iter().sum();
                let copies: usize = (0..2).flat_map(|number| placement.holders(number)).map(Vec::len).sum();
                prop_assert_eq!(stored, 10 * copies as u64);
            }
        }

        /// On a string N − H copies do wherever they lie, and one less does not: the worst is to have all at one end.
        #[test]
        fn the_number_of_copies_for_any_places_is_the_least(devices in 1..40_usize, limit in 0..40_u32) {
            let map = Map::string(devices);
            let clip = Clip { block_time: SECOND * u64::from(limit), ..clip(2, 1.0) };
            let copies = placed(&[clip], &map, Policy::Anywhere(SECOND)).holders(0)[1].len();
            let serve = |copies: usize| (devices - copies..devices).any(|holder| map.hops(0, holder).is_some_and(|hops| hops <= limit));
            prop_assert!(serve(copies));
            prop_assert!(!serve(copies - 1));
        }

        #[test]
        fn any_library_is_placed_or_refused(
            devices in 0..12_usize,
            clips in prop::collection::vec((0..5_u32, any::<u32>(), any::<u32>(), any::<f64>()), 0..5),
            copies in 0..100_u32,
            hop in any::<u32>(),
        ) {
            let clips: Vec<Clip> = clips
                .into_iter()
                .map(|(blocks, size, time, popularity)| Clip {
                    blocks,
                    block_size: size.into(),
                    block_time: Duration::from_nanos(time.into()),
                    popularity,
                })
                .collect();
            let hop = Duration::from_nanos(hop.into());
            let policies = [
                Policy::Full,
                Policy::Uniform(copies),
                Policy::Proportional(copies),
                Policy::SquareRoot(copies),
                Policy::Near(hop),
                Policy::Anywhere(hop),
            ];
            for policy in policies {
                let Ok(placement) = place(&clips, &Map::string(devices), policy, &mut random()) else { continue };
                let all = (0..clips.len()).flat_map(|number| placement.holders(number));
                prop_assert!(all.into_iter().all(|holders| !holders.is_empty() && holders.is_sorted()));
                prop_assert!((0.0..=1.0).contains(&placement.saved(&clips)));
            }
        }
    }
}
