//! How much of the time is reserved around a device, as far as its neighbours tell.
//!
//! Stations that sense each other share the medium: a link counts at each device that senses one of its ends. A device knows the
//! reservations on its links, and from hellos those of its neighbours and of their neighbours. Carrier sense reaches about twice
//! as far as reception, so two hops are what it senses. A stream of k hops in one range thus counts k times at each of its nodes.
//!
//! A reservation is known by stream and hop: what several neighbours tell of counts once. A request may have several paths
//! ([`super::path`]), of which only one carries a packet: that with the most airtime around the device counts.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopcast_wire::cloud::{PlannedHop, ReservedLink, StreamId};

use crate::time::{Duration, Instant};

/// A share of time in the units of messages: 1/65535. Rounded up, so that small shares count.
pub fn units(share: f64) -> u16 {
    // A float to integer cast saturates.
    libm::ceil(share * UNITS - 1e-6) as u16
}

/// A share of time from the units of messages.
pub fn share(units: u16) -> f64 {
    f64::from(units) / UNITS
}

const UNITS: f64 = 65_535.0;

/// Neighbours of a device, and what they have told.
#[derive(Clone, Debug)]
pub struct Surroundings {
    me: Ipv4Addr,
    /// 1 or 2: how many hops away an end of a link is sensed.
    sensing_hops: u8,
    /// Time after which a neighbour is gone that has not been heard.
    lifetime: Duration,
    neighbours: BTreeMap<Ipv4Addr, Neighbour>,
}

#[derive(Clone, Debug)]
struct Neighbour {
    until: Instant,
    heard: Vec<Ipv4Addr>,
    own: Vec<ReservedLink>,
    near: Vec<ReservedLink>,
}

impl Surroundings {
    /// Those of a device at the start: it knows no neighbours.
    pub fn new(me: Ipv4Addr, sensing_hops: u8, lifetime: Duration) -> Self {
        Self { me, sensing_hops, lifetime, neighbours: BTreeMap::new() }
    }

    /// A neighbour tells which nodes it hears, and what is reserved on its links and on those of its neighbours. Whether other reservations on its
    /// links than before are known now.
    pub fn handle_hello(
        &mut self,
        from: Ipv4Addr,
        heard: Vec<Ipv4Addr>,
        own: Vec<ReservedLink>,
        near: Vec<ReservedLink>,
        now: Instant,
    ) -> bool {
        let before = self.neighbours.insert(from, Neighbour { until: now + self.lifetime, heard, own, near });
        let own = &self.neighbours[&from].own;
        before.map_or(!own.is_empty(), |before| before.own != *own)
    }

    /// Something else has come from a neighbour: it is still there.
    pub fn handle_heard(&mut self, from: Ipv4Addr, now: Instant) {
        if let Some(neighbour) = self.neighbours.get_mut(&from) {
            neighbour.until = now + self.lifetime;
        }
    }

    /// Forgets neighbours that have not been heard for their lifetime. Whether there were any.
    pub fn expire(&mut self, now: Instant) -> bool {
        let known = self.neighbours.len();
        self.neighbours.retain(|_, neighbour| neighbour.until > now);
        self.neighbours.len() < known
    }

    /// Forgets a neighbour before its lifetime ends. Whether it was one.
    pub fn forget(&mut self, node: Ipv4Addr) -> bool {
        self.neighbours.remove(&node).is_some()
    }

    /// Whether the device at `node` is heard.
    pub fn hears(&self, node: Ipv4Addr) -> bool {
        self.neighbours.contains_key(&node)
    }

    /// All devices that are heard.
    pub fn heard(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.neighbours.keys().copied()
    }

    /// Devices that hear this one and are heard.
    pub fn neighbours(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.heard().filter(|&node| self.is_neighbour(node))
    }

    /// Whether the device at `node` hears this one and is heard.
    pub fn is_neighbour(&self, node: Ipv4Addr) -> bool {
        self.neighbours.get(&node).is_some_and(|neighbour| neighbour.heard.contains(&self.me))
    }

    /// Reservations of the neighbours' links, each once.
    pub fn near(&self) -> Vec<ReservedLink> {
        let links = self.neighbours.values().flat_map(|neighbour| &neighbour.own);
        distinct(links).collect()
    }

    /// Whether this device senses a link between these ends.
    pub fn senses(&self, ends: [Ipv4Addr; 2]) -> bool {
        ends.iter().any(|&end| {
            let is_near = |neighbour: &Neighbour| self.sensing_hops > 1 && neighbour.heard.contains(&end);
            end == self.me || self.hears(end) || self.neighbours.values().any(is_near)
        })
    }

    /// The links of a path that this device senses: the place of each, counted from the display, and its airtime.
    pub fn sensed<'a>(&'a self, path: &'a [PlannedHop]) -> impl Iterator<Item = (usize, u16)> + 'a {
        let sensed = (1..path.len()).filter(|&hop| self.senses([path[hop - 1].node, path[hop].node]));
        sensed.map(|hop| (hop, path[hop].airtime))
    }

    /// Share of time that is reserved around this device, which itself knows of `own` links, without the streams that are `left_out`.
    pub fn reserved(&self, own: &[ReservedLink], left_out: impl Fn(StreamId) -> bool) -> f64 {
        let told = self.neighbours.values().flat_map(|neighbour| {
            let near = if self.sensing_hops > 1 { &neighbour.near[..] } else { &[] };
            neighbour.own.iter().chain(near)
        });
        // A stream that goes through this device is known here: what others tell of it may be old.
        let known: BTreeSet<(StreamId, u8)> = own.iter().map(|link| (link.stream, link.hop)).collect();
        let others = distinct(told).filter(|link| !known.contains(&(link.stream, link.hop)));
        let links: Vec<ReservedLink> =
            own.iter().copied().chain(others).filter(|link| !left_out(link.stream)).collect();
        let idle = idle_paths(&links);
        links.iter().filter(|link| !idle.contains(&link.stream)).map(|link| share(link.airtime)).sum()
    }
}

/// Streams that count for nothing, as another path of the same request takes more airtime.
fn idle_paths(links: &[ReservedLink]) -> BTreeSet<StreamId> {
    let mut airtimes: BTreeMap<StreamId, u64> = BTreeMap::new();
    links.iter().for_each(|link| *airtimes.entry(link.stream).or_default() += u64::from(link.airtime));
    let mut most: BTreeMap<StreamId, (u64, StreamId)> = BTreeMap::new();
    for (&stream, &airtime) in &airtimes {
        let entry = most.entry(stream.on_path(0)).or_insert((airtime, stream));
        *entry = (*entry).max((airtime, stream));
    }
    let counts = |stream: &StreamId| most.get(&stream.on_path(0)).is_some_and(|&(_, other)| other == *stream);
    airtimes.into_keys().filter(|stream| !counts(stream)).collect()
}

/// Each link once, with the greatest airtime that anybody tells.
fn distinct<'a>(links: impl Iterator<Item = &'a ReservedLink>) -> impl Iterator<Item = ReservedLink> {
    let mut known: BTreeMap<(StreamId, u8), ReservedLink> = BTreeMap::new();
    for link in links {
        let entry = known.entry((link.stream, link.hop)).or_insert(*link);
        entry.airtime = entry.airtime.max(link.airtime);
    }
    known.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    fn link(number: u32, hop: u8, share: f64) -> ReservedLink {
        ReservedLink { stream: StreamId { display: node(9), number }, hop, airtime: units(share) }
    }

    fn surroundings(sensing_hops: u8) -> Surroundings {
        Surroundings::new(node(1), sensing_hops, Duration::from_millis(3_500))
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn units_round_up() {
        assert_eq!([0.0, 1e-9, 0.5, 1.0, 7.0].map(units), [0, 1, 32_768, 65_535, 65_535]);
        assert!(share(units(0.3)) >= 0.3);
    }

    #[test]
    fn what_two_neighbours_tell_of_counts_once() {
        let mut around = surroundings(2);
        around.handle_hello(node(2), vec![node(1)], vec![link(1, 1, 0.2)], vec![], Instant::START);
        around.handle_hello(node(3), vec![node(1)], vec![link(1, 1, 0.2), link(1, 2, 0.1)], vec![], Instant::START);
        assert!(close(around.reserved(&[], |_| false), 0.3));
        assert!(close(around.reserved(&[link(1, 1, 0.4)], |_| false), 0.5), "what is known here counts");
        assert_eq!(around.reserved(&[], |stream| stream.number == 1), 0.0);
        assert_eq!(around.near().len(), 2);
    }

    /// Path 0 takes 0.3 on two links, path 1 takes 0.2 on one: while both are reserved 0.3 counts.
    #[test]
    fn of_two_paths_of_a_request_the_one_with_more_airtime_counts() {
        let around = surroundings(2);
        let on_path = |path: u8, hop: u8, share: f64| {
            let link = link(1, hop, share);
            ReservedLink { stream: link.stream.on_path(path), ..link }
        };
        let links = [on_path(0, 1, 0.15), on_path(1, 1, 0.2), on_path(0, 2, 0.15), link(2, 1, 0.1)];
        assert!(close(around.reserved(&links, |_| false), 0.4));
        assert!(close(around.reserved(&links, |stream| stream.path() == 0), 0.2));
        assert!(close(around.reserved(&[on_path(0, 1, 0.2), on_path(1, 1, 0.2)], |_| false), 0.2));
    }

    #[test]
    fn links_of_neighbours_of_neighbours_count_with_two_hops_only() {
        for (sensing_hops, reserved) in [(1, 0.0), (2, 0.25)] {
            let mut around = surroundings(sensing_hops);
            around.handle_hello(node(2), vec![node(1), node(3)], vec![], vec![link(1, 1, 0.25)], Instant::START);
            assert!(close(around.reserved(&[], |_| false), reserved));
            assert_eq!(around.senses([node(3), node(4)]), sensing_hops == 2);
            assert!(around.senses([node(2), node(4)]) && around.senses([node(4), node(1)]));
            assert!(!around.senses([node(4), node(5)]));
        }
    }

    #[test]
    fn only_who_hears_back_is_a_neighbour_and_silence_ends_it() {
        let mut around = surroundings(2);
        around.handle_hello(node(2), vec![node(3)], vec![], vec![], Instant::START);
        assert!(!around.is_neighbour(node(2)) && around.heard().eq([node(2)]));
        around.handle_hello(node(2), vec![node(1)], vec![], vec![], Instant::START);
        assert!(around.is_neighbour(node(2)));
        around.expire(Instant::START + Duration::from_millis(3_499));
        assert!(around.is_neighbour(node(2)));
        around.handle_heard(node(2), Instant::START + Duration::from_millis(3_499));
        around.expire(Instant::START + Duration::from_millis(3_500));
        assert!(around.is_neighbour(node(2)));
        around.expire(Instant::START + Duration::from_millis(6_999));
        assert!(!around.is_neighbour(node(2)));
    }
}
