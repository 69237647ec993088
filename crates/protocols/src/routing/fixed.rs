//! Fixed shortest-path routes, computed once from who can hear whom.
//!
//! The cost of a path is its number of hops; links that have only one direction are used in that direction only.

use std::collections::{BTreeMap, VecDeque};

/// Next hops on shortest paths from all of `nodes` nodes to some of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortestPaths {
    nodes: usize,
    /// By destination: the next hop of each node, or [`NONE`].
    next_hops: BTreeMap<u32, Vec<u32>>,
}

const NONE: u32 = u32::MAX;

impl ShortestPaths {
    /// Computes all routes. `neighbours[a]` lists the nodes that hear `a`, in any order, each below `neighbours.len()`;
    /// an index beyond is ignored, and so is a node that hears itself.
    ///
    /// Among next hops that are equally near to the destination, the one with the lowest index is taken.
    /// Breadth-first search from each destination, against the links: O(nodes × (nodes + links)).
    pub fn new(neighbours: &[Vec<u32>]) -> Self {
        Self::new_while(neighbours, 0..neighbours.len() as u32, &|| true).expect("nothing stops it")
    }

    /// The routes to `destinations` alone, each below `neighbours.len()`: no path leads anywhere else. Given up with `None` as soon as
    /// `goes_on` says no; it is asked before each destination.
    pub fn new_while(
        neighbours: &[Vec<u32>],
        destinations: impl IntoIterator<Item = u32>,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let nodes = neighbours.len();
        let mut heard_by = vec![Vec::new(); nodes];
        for (from, list) in neighbours.iter().enumerate() {
            for &to in list.iter().filter(|&&to| (to as usize) < nodes && to as usize != from) {
                heard_by[to as usize].push(from as u32);
            }
        }
        let mut next_hops = BTreeMap::new();
        let mut distance = vec![NONE; nodes];
        let mut queue = VecDeque::with_capacity(nodes);
        for destination in destinations {
            if !goes_on() {
                return None;
            }
            let mut row = vec![NONE; nodes];
            distance.fill(NONE);
            distance[destination as usize] = 0;
            queue.push_back(destination);
            while let Some(node) = queue.pop_front() {
                let beyond = distance[node as usize] + 1;
                for &from in &heard_by[node as usize] {
                    let from = from as usize;
                    if distance[from] == NONE {
                        distance[from] = beyond;
                        queue.push_back(from as u32);
                    }
                    if distance[from] == beyond {
                        row[from] = row[from].min(node);
                    }
                }
            }
            next_hops.insert(destination, row);
        }
        Some(Self { nodes, next_hops })
    }

    /// The neighbour of `from` on the way to `to`; `None` where no path leads there, or `from` is `to`.
    pub fn next_hop(&self, from: u32, to: u32) -> Option<u32> {
        self.next_hops.get(&to)?.get(from as usize).copied().filter(|&hop| hop != NONE)
    }

    /// The nodes from `from` to `to`, both included; `None` where no path leads there.
    pub fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        if from as usize >= self.nodes {
            return None;
        }
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            at = self.next_hop(at, to)?;
            path.push(at);
        }
        Some(path)
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_is_walked_hop_by_hop() {
        let routes = ShortestPaths::new(&[vec![1], vec![0, 2], vec![1, 3], vec![2]]);
        assert_eq!(routes.path(0, 3), Some(vec![0, 1, 2, 3]));
        assert_eq!(routes.path(3, 0), Some(vec![3, 2, 1, 0]));
        assert_eq!(routes.next_hop(2, 2), None);
        assert_eq!(routes.path(2, 2), Some(vec![2]));
    }

    #[test]
    fn ties_go_to_the_lowest_index_whatever_the_order_of_the_lists() {
        for middle in [vec![1, 2], vec![2, 1]] {
            let routes = ShortestPaths::new(&[middle, vec![3], vec![3], vec![]]);
            assert_eq!(routes.path(0, 3), Some(vec![0, 1, 3]));
        }
    }

    #[test]
    fn the_search_ends_between_two_destinations_when_told() {
        let asked = core::cell::Cell::new(0);
        let goes_on = || asked.replace(asked.get() + 1) < 2;
        assert_eq!(ShortestPaths::new_while(&[vec![1], vec![0, 2], vec![1]], 0..3, &goes_on), None);
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn a_search_for_some_destinations_finds_the_same_ways_to_them_and_no_others() {
        let neighbours = [vec![1], vec![0, 2], vec![1, 3], vec![2]];
        let some = ShortestPaths::new_while(&neighbours, [3, 0], &|| true).expect("nothing stops it");
        let all = ShortestPaths::new(&neighbours);
        for from in 0..4 {
            for to in [0, 3] {
                assert_eq!(some.path(from, to), all.path(from, to));
            }
            assert_eq!(some.next_hop(from, 1), None);
        }
    }

    #[test]
    fn a_link_of_one_direction_leads_one_way() {
        let routes = ShortestPaths::new(&[vec![1], vec![]]);
        assert_eq!(routes.next_hop(0, 1), Some(1));
        assert_eq!(routes.next_hop(1, 0), None);
        assert_eq!(routes.path(1, 0), None);
        assert_eq!(routes.path(7, 7), None);
    }

    /// Distances by relaxing every link until nothing changes.
    fn distances_by_brute_force(neighbours: &[Vec<u32>], to: usize) -> Vec<Option<usize>> {
        let mut distance = vec![None; neighbours.len()];
        distance[to] = Some(0);
        loop {
            let mut changed = false;
            for (from, list) in neighbours.iter().enumerate() {
                let best = list.iter().filter_map(|&n| distance[n as usize]).min().map(|d: usize| d + 1);
                if best.is_some_and(|best| distance[from].is_none_or(|d| best < d)) {
                    (distance[from], changed) = (best, true);
                }
            }
            if !changed {
                return distance;
            }
        }
    }

    proptest! {
        #[test]
        fn paths_are_as_short_as_brute_force_finds_them(
            (nodes, links) in (1_usize..12).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n as u32, 0..n as u32), 0..40)))
        ) {
            let mut neighbours = vec![Vec::new(); nodes];
            for (from, to) in links {
                neighbours[from as usize].push(to);
            }
            let routes = ShortestPaths::new(&neighbours);
            for to in 0..nodes {
                let expected = distances_by_brute_force(&neighbours, to);
                for from in 0..nodes {
                    let path = routes.path(from as u32, to as u32);
                    prop_assert_eq!(path.as_ref().map(|p| p.len() - 1), expected[from]);
                    if let Some(hop) = routes.next_hop(from as u32, to as u32) {
                        let lowest = neighbours[from].iter().copied().filter(|&n| n as usize != from)
                            .filter(|&n| expected[n as usize].map(|d| d + 1) == expected[from]).min();
                        prop_assert_eq!(Some(hop), lowest);
                    }
                }
            }
        }
    }
}
