//! Both caches compared with brute-force searches, and the lifetimes of appendix A by hand.

use proptest::prelude::*;

use super::super::config::{Cache, Config, Lifetime, MaxLife, Rules};
use super::*;
use crate::time::Duration;

const ADAPTIVE: Cache = Cache::Link { capacity: 1024, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) };
const FIXED: Cache = Cache::Link { capacity: 1024, lifetime: Lifetime::Fixed(Config::ROUTE_CACHE_TIMEOUT) };
const PATH: Cache = Cache::Path { primary: 30, secondary: 64, timeout: Some(Config::ROUTE_CACHE_TIMEOUT) };

fn node(index: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, index)
}

fn at(secs: u64) -> Instant {
    Instant::START + Duration::from_secs(secs)
}

/// The cache of node 0.
struct Bench(RouteCache);

impl Bench {
    fn new(cache: Cache) -> Self {
        Self::with(cache, Rules::Rfc4728)
    }

    fn with(cache: Cache, rules: Rules) -> Self {
        Self(RouteCache::new(&Config { cache, rules, ..Config::RFC_4728 }, node(0)))
    }

    fn add(&mut self, indices: &[u8], secs: u64) {
        self.learn(indices, false, false, secs);
    }

    fn learn(&mut self, indices: &[u8], is_last_external: bool, is_wanted: bool, secs: u64) {
        let nodes: Vec<_> = indices.iter().map(|&index| node(index)).collect();
        self.0.add(Learned { nodes: &nodes, is_last_external, is_wanted }, at(secs));
    }

    fn search(&mut self, to: u8, secs: u64) -> Option<Vec<u8>> {
        assert_eq!(
            self.0.peek(node(to), at(secs)).map(|r| r.hops.len()),
            self.0.search(node(to), at(secs)).map(|r| r.hops.len())
        );
        let route = self.0.search(node(to), at(secs))?;
        Some(route.hops.iter().map(|hop| hop.octets()[3]).collect())
    }

    fn use_route(&mut self, to: u8, secs: u64) {
        let route = self.0.search(node(to), at(secs)).expect("there is one");
        self.0.on_use(&route, at(secs));
    }
}

#[test]
fn links_of_several_paths_make_a_route_and_paths_do_not() {
    for (cache, merged) in [(ADAPTIVE, Some(vec![1, 2, 3])), (FIXED, Some(vec![1, 2, 3])), (PATH, None)] {
        let mut bench = Bench::new(cache);
        bench.add(&[0, 1, 2], 0);
        bench.add(&[5, 2, 3], 0);
        assert_eq!(bench.search(3, 1), merged);
        assert_eq!(bench.search(2, 1), Some(vec![1, 2]));
        assert_eq!(bench.search(1, 1), Some(vec![1]), "the beginning of a path");
        assert_eq!(bench.search(0, 1), None);
    }
}

#[test]
fn the_shortest_route_is_taken() {
    for cache in [ADAPTIVE, FIXED, PATH] {
        let mut bench = Bench::new(cache);
        bench.add(&[0, 1, 2, 3, 4], 0);
        assert_eq!(bench.search(4, 1), Some(vec![1, 2, 3, 4]));
        bench.add(&[0, 5, 6, 4], 1);
        assert_eq!(bench.search(4, 1), Some(vec![5, 6, 4]));
        bench.add(&[4, 7, 0], 1);
        assert_eq!(bench.search(4, 1), Some(vec![7, 4]), "learned the other way round");
    }
}

#[test]
fn a_path_that_visits_a_node_twice_is_not_learned() {
    for cache in [ADAPTIVE, FIXED, PATH] {
        let mut bench = Bench::new(cache);
        for path in [&[0, 1, 2, 1, 3][..], &[0, 1, 0, 3], &[1, 1], &[0], &[]] {
            bench.add(path, 0);
        }
        assert_eq!(bench.0.size(), 0);
    }
}

#[test]
fn a_broken_link_ends_what_leads_over_it() {
    for cache in [ADAPTIVE, FIXED, PATH] {
        let mut bench = Bench::new(cache);
        bench.add(&[0, 1, 2, 3], 0);
        bench.add(&[0, 4, 5, 2, 6], 0);
        bench.0.remove_link(node(2), node(1));
        assert_eq!(bench.search(1, 1), Some(vec![1]));
        assert_eq!(bench.search(2, 1), Some(vec![4, 5, 2]), "in both directions, and no other");
        bench.0.remove_link(node(0), node(4));
        assert_eq!(bench.search(2, 1), None);
    }
}

#[test]
fn what_is_not_used_expires_and_what_is_used_does_not() {
    for cache in [FIXED, PATH] {
        let mut bench = Bench::new(cache);
        bench.add(&[0, 1, 2], 0);
        bench.add(&[0, 3, 4], 0);
        bench.add(&[0, 5, 6], 0);
        bench.use_route(2, 200);
        assert_eq!((bench.search(2, 299), bench.search(4, 299)), (Some(vec![1, 2]), Some(vec![3, 4])));
        assert_eq!((bench.search(2, 300), bench.search(4, 300)), (Some(vec![1, 2]), None));
        assert_eq!(bench.search(2, 500), None);
        // What has expired is new when it is learned again: packets may be waiting for it.
        let before = bench.0.additions();
        bench.add(&[0, 5, 6], 700);
        assert_ne!(bench.0.additions(), before);
        assert_eq!((bench.search(6, 999), bench.search(6, 1000)), (Some(vec![5, 6]), None));
    }
    let mut bench = Bench::new(PATH);
    bench.add(&[0, 1, 2], 0);
    bench.search(2, 300);
    assert_eq!(bench.0.size(), 0, "a search clears away what has expired");
}

/// Appendix A: 25 s at first; a use makes it 120 s from then on; each further use adds four times what lies between them to the
/// stability of both ends, and a break halves it.
#[test]
fn a_link_lives_as_its_ends_have_behaved() {
    let mut bench = Bench::new(ADAPTIVE);
    bench.add(&[0, 1], 0);
    assert_eq!((bench.search(1, 24), bench.search(1, 25)), (Some(vec![1]), None));
    bench.add(&[0, 1], 30);
    bench.use_route(1, 40);
    assert_eq!((bench.search(1, 159), bench.search(1, 160)), (Some(vec![1]), None));
    // 25 + 4 × 10 = 65 s for 0 and 1, and still 25 s for 2.
    bench.add(&[0, 1], 200);
    bench.use_route(1, 210);
    bench.use_route(1, 220);
    bench.0.remove_link(node(0), node(1));
    // 32.5 s for both, then 16.25 s, then 8.125 s.
    bench.add(&[0, 1], 300);
    assert_eq!((bench.search(1, 332), bench.search(1, 333)), (Some(vec![1]), None));
    bench.add(&[0, 1], 400);
    bench.0.remove_link(node(0), node(1));
    bench.add(&[0, 1], 400);
    assert_eq!((bench.search(1, 416), bench.search(1, 417)), (Some(vec![1]), None));
    for _ in 0..10 {
        bench.add(&[0, 1], 500);
        bench.0.remove_link(node(0), node(1));
    }
    // No less than MinLifetime, whatever its ends.
    bench.add(&[0, 1], 500);
    let route = bench.0.peek(node(1), at(500) + Duration::from_millis(999));
    assert!(route.is_some());
    assert_eq!(bench.search(1, 501), None);
    bench.add(&[1, 2], 600);
    bench.add(&[0, 3, 2], 600);
    assert_eq!(bench.search(3, 600), Some(vec![3]));
}

/// Of two routes with two hops, the one whose first link to expire lasts longer.
#[test]
fn of_routes_as_short_the_one_that_lasts_is_taken() {
    for (order, expected) in [([1, 3], 3), ([3, 1], 1)] {
        let mut bench = Bench::new(ADAPTIVE);
        bench.add(&[0, order[0], 2], 0);
        bench.add(&[0, order[1], 2], 10);
        assert_eq!(bench.search(2, 11), Some(vec![expected, 2]));
    }
    // One link that lasts does not help if the other does not.
    let mut bench = Bench::new(ADAPTIVE);
    bench.add(&[0, 1, 2], 0);
    bench.add(&[0, 3, 2], 1);
    bench.use_route(1, 2);
    bench.0.remove_link(node(7), node(8));
    bench.add(&[0, 4], 2);
    assert_eq!(bench.search(2, 3), Some(vec![3, 2]));
}

#[test]
fn the_link_that_was_learned_or_used_longest_ago_makes_room() {
    let mut bench = Bench::new(Cache::Link { capacity: 6, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) });
    bench.add(&[0, 1], 0);
    bench.add(&[0, 2], 1);
    bench.add(&[0, 3], 2);
    bench.use_route(1, 3);
    bench.add(&[0, 4], 4);
    let found: Vec<_> = (1..5).filter(|&to| bench.search(to, 5).is_some()).collect();
    // The use of 0 to 1 is one of that direction only; the other one and 0 to 2 go.
    assert_eq!(found, [1, 3, 4]);
    // A link that will not last is not the first to go as long as it is new: it may be what was asked for.
    for _ in 0..6 {
        bench.add(&[0, 5], 6);
        bench.0.remove_link(node(0), node(5));
    }
    bench.add(&[0, 5, 6], 7);
    assert_eq!(bench.search(6, 7), Some(vec![5, 6]));
}

#[test]
fn paths_that_were_wanted_or_used_outlive_others() {
    let mut bench = Bench::new(Cache::Path { primary: 1, secondary: 2, timeout: None });
    bench.learn(&[0, 1], false, true, 0);
    for heard in 2..6 {
        bench.add(&[0, heard], 0);
    }
    let found = |bench: &mut Bench| (1..9).filter(|&to| bench.search(to, 1).is_some()).collect::<Vec<_>>();
    assert_eq!(found(&mut bench), [1, 4, 5]);
    bench.use_route(4, 1);
    assert_eq!(found(&mut bench), [1, 4, 5], "1 becomes one of the others");
    bench.add(&[0, 6], 1);
    assert_eq!(found(&mut bench), [4, 5, 6], "1 was learned before 5");
}

/// ns-2's `mobicache.cc`: a place is given away in turn, whatever was used since, and the path that had it is gone.
#[test]
fn in_ns_2_who_comes_first_goes_first() {
    let mut bench = Bench::with(Cache::Path { primary: 2, secondary: 2, timeout: None }, Rules::Ns2);
    let found = |bench: &mut Bench| (1..9).filter(|&to| bench.search(to, 1).is_some()).collect::<Vec<_>>();
    for wanted in [1, 2] {
        bench.learn(&[0, wanted], false, true, 0);
    }
    bench.use_route(1, 0);
    // What grows keeps its place.
    bench.learn(&[0, 1, 4], false, true, 0);
    bench.learn(&[0, 3], false, true, 0);
    assert_eq!(found(&mut bench), [2, 3]);
    // What is cut off, too.
    for heard in [&[0, 5, 6][..], &[0, 7]] {
        bench.add(heard, 0);
    }
    bench.0.remove_link(node(5), node(6));
    assert_eq!(found(&mut bench), [2, 3, 5, 7]);
    bench.add(&[0, 8], 0);
    assert_eq!(found(&mut bench), [2, 3, 7, 8]);
    // One that is used moves to the wanted ones, and is the last to come there.
    bench.use_route(7, 0);
    assert_eq!(found(&mut bench), [3, 7, 8]);
}

#[test]
fn a_longer_path_contains_its_beginning() {
    let mut bench = Bench::new(Cache::Path { primary: 2, secondary: 2, timeout: None });
    bench.add(&[0, 1], 0);
    bench.add(&[0, 1, 2, 3], 0);
    bench.add(&[0, 1, 2], 0);
    assert_eq!(bench.0.size(), 3);
    let before = bench.0.additions();
    bench.add(&[0, 1, 2, 3], 1);
    assert_eq!(bench.0.additions(), before, "nothing new");
}

#[test]
fn an_external_hop_is_the_last_and_the_last_resort() {
    for cache in [ADAPTIVE, PATH] {
        let mut bench = Bench::new(cache);
        bench.learn(&[0, 1, 9], true, true, 0);
        let route = bench.0.search(node(9), at(1)).expect("there is no other");
        assert!(route.is_last_external);
        assert_eq!(bench.search(1, 1), Some(vec![1]));
        bench.add(&[0, 9, 5], 1);
        bench.0.remove_link(node(0), node(9));
        bench.add(&[0, 2, 3, 4, 9], 1);
        assert_eq!(bench.search(9, 2), Some(vec![2, 3, 4, 9]));
        assert!(!bench.0.search(node(9), at(2)).unwrap().is_last_external);
        bench.0.remove_link(node(2), node(3));
        assert_eq!(bench.search(9, 2), Some(vec![1, 9]));
        bench.0.remove_link(node(1), node(9));
        assert_eq!(bench.search(9, 2), None);
    }
}

#[test]
fn a_route_that_fits_into_no_header_is_none() {
    let line: Vec<u8> = (0..=65).collect();
    let mut bench = Bench::new(ADAPTIVE);
    bench.add(&line, 0);
    assert_eq!(bench.search(64, 1).map(|route| route.len()), Some(64));
    assert_eq!(bench.search(65, 1), None);
}

/// Something happens to a cache.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<u8>),
    Remove(u8, u8),
    Use(u8),
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let path = Just((0..8_u8).collect::<Vec<_>>()).prop_shuffle();
    let step = prop_oneof![
        4 => (path, 2_usize..6).prop_map(|(nodes, length)| Step::Add(nodes[..length].to_vec())),
        2 => (0..8_u8, 0..8_u8).prop_map(|(a, b)| Step::Remove(a, b)),
        1 => (1..8_u8).prop_map(Step::Use),
        1 => (0..40_u64).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// The fewest hops over these links, by relaxing all of them until nothing changes.
fn fewest_hops(links: &[(u8, u8)], to: u8) -> Option<usize> {
    let mut hops = [None; 8];
    hops[0] = Some(0);
    for _ in 0..8 {
        for &(a, b) in links {
            let beyond = hops[usize::from(a)].map(|hops: usize| hops + 1);
            let there = &mut hops[usize::from(b)];
            *there = [*there, beyond].into_iter().flatten().min();
        }
    }
    hops[usize::from(to)]
}

proptest! {
    /// The tree that is kept from search to search gives what a search from scratch gives.
    #[test]
    fn routes_over_links_are_the_shortest(steps in steps()) {
        let mut bench = Bench::new(FIXED);
        let (mut links, mut now) = (Vec::<(u8, u8, u64)>::new(), 0);
        for step in steps {
            match step {
                Step::Add(nodes) => {
                    bench.add(&nodes, now);
                    for pair in nodes.windows(2) {
                        for (a, b) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                            links.retain(|&(from, to, _)| (from, to) != (a, b));
                            links.push((a, b, now + 300));
                        }
                    }
                }
                Step::Remove(a, b) => {
                    bench.0.remove_link(node(a), node(b));
                    links.retain(|&(from, to, _)| (from, to) != (a, b) && (from, to) != (b, a));
                }
                Step::Use(to) => if let Some(route) = bench.search(to, now) {
                    bench.use_route(to, now);
                    let mut from = 0;
                    for hop in route {
                        let used = links.iter_mut().find(|&&mut (a, b, _)| (a, b) == (from, hop));
                        used.expect("routes are made of links").2 = now + 300;
                        from = hop;
                    }
                },
                Step::Wait(secs) => now += secs * 5,
            }
            links.retain(|&(_, _, expires)| expires > now);
            let known: Vec<_> = links.iter().map(|&(a, b, _)| (a, b)).collect();
            for to in 1..8 {
                let route = bench.search(to, now);
                prop_assert_eq!(route.as_ref().map(Vec::len), fewest_hops(&known, to));
                let nodes: Vec<_> = core::iter::once(0).chain(route.into_iter().flatten()).collect();
                prop_assert!(nodes.windows(2).all(|pair| known.contains(&(pair[0], pair[1]))));
            }
        }
    }

    /// A cache of paths gives the shortest beginning of any path that it was given, away from its node, up to a broken link.
    #[test]
    fn routes_over_paths_are_the_shortest_of_them(steps in steps()) {
        let mut bench = Bench::new(Cache::Path { primary: 1000, secondary: 1000, timeout: None });
        let mut paths = Vec::<Vec<u8>>::new();
        for step in steps {
            match step {
                Step::Add(nodes) => {
                    bench.add(&nodes, 0);
                    if let Some(place) = nodes.iter().position(|&n| n == 0) {
                        paths.push(nodes[place..].to_vec());
                        paths.push(nodes[..=place].iter().rev().copied().collect());
                    }
                }
                Step::Remove(a, b) => {
                    bench.0.remove_link(node(a), node(b));
                    for path in &mut paths {
                        let is_broken = |pair: &[u8]| pair == [a, b] || pair == [b, a];
                        if let Some(place) = path.windows(2).position(is_broken) {
                            path.truncate(place + 1);
                        }
                    }
                }
                Step::Use(to) => if bench.search(to, 0).is_some() {
                    bench.use_route(to, 0);
                },
                Step::Wait(_) => {}
            }
            for to in 1..8 {
                let shortest = paths.iter().filter_map(|path| path.iter().position(|&n| n == to)).min();
                let route = bench.search(to, 0);
                prop_assert_eq!(route.as_ref().map(Vec::len), shortest);
                let nodes: Vec<_> = core::iter::once(0).chain(route.into_iter().flatten()).collect();
                prop_assert!(nodes.len() == 1 || paths.iter().any(|path| path.starts_with(&nodes)));
            }
        }
    }

    /// No cache grows beyond its size.
    #[test]
    fn the_size_is_limited(steps in steps()) {
        let small = [
            (Cache::Link { capacity: 5, lifetime: Lifetime::Adaptive(MaxLife::RFC_4728) }, 2 * 5 + 5),
            (Cache::Path { primary: 2, secondary: 3, timeout: None }, 5 * MAX_HOPS),
        ];
        for (cache, limit) in small {
            let mut bench = Bench::new(cache);
            for step in &steps {
                match step {
                    Step::Add(nodes) => bench.add(nodes, 0),
                    Step::Remove(a, b) => bench.0.remove_link(node(*a), node(*b)),
                    Step::Use(to) => if bench.search(*to, 0).is_some() { bench.use_route(*to, 0) },
                    Step::Wait(_) => {}
                }
                prop_assert!(bench.0.size() <= limit);
            }
        }
    }
}
