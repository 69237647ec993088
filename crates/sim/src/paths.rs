//! Paths of static routing: the shortest over usable links, and detours over lossy ones if there is no other path.
//!
//! A detour has the least expected number of transmissions (D. De Couto et al., "A high-throughput path metric for
//! multi-hop wireless routing", MobiCom 2003), counting only data frames: acknowledgements are short, and sent at robust
//! rates. Where a usable path begins, a detour continues along it, so that all paths to a destination form a tree.

use std::collections::{BTreeMap, BinaryHeap};

use hopcast_protocols::routing::fixed::ShortestPaths;

/// A link between two nodes, and the share of full data frames that it lets pass, above 0 and up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LossyLink {
    /// The transmitter.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The share.
    pub success: f64,
}

/// Next hops of all nodes towards the nodes that receive packets.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    shortest: ShortestPaths,
    /// By destination, for those that need it: by node, the next hop of those without a usable path.
    detours: BTreeMap<u32, BTreeMap<u32, Detour>>,
}

/// A hop of a detour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detour {
    /// The neighbour.
    pub next: u32,
    /// The share of full data frames that the link lets pass.
    pub success: f64,
}

impl From<ShortestPaths> for Paths {
    fn from(shortest: ShortestPaths) -> Self {
        Self { shortest, detours: BTreeMap::new() }
    }
}

impl Paths {
    /// The neighbour of `from` on the path to `to`; `None` if there is no path, or `from` is `to`.
    pub(crate) fn next_hop(&self, from: u32, to: u32) -> Option<u32> {
        self.shortest.next_hop(from, to).or_else(|| self.detour(from, to).map(|detour| detour.next))
    }

    /// The hop of `from` towards `to` over a lossy link, if its path uses one.
    pub(crate) fn detour(&self, from: u32, to: u32) -> Option<Detour> {
        self.detours.get(&to)?.get(&from).copied()
    }

    /// The nodes from `from` to `to`, both included; `None` if there is no path.
    pub(crate) fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut path = vec![from];
        while let Some(&at) = path.last().filter(|&&at| at != to) {
            path.push(self.next_hop(at, to)?);
        }
        Some(path)
    }

    /// Looks for detours to these destinations, over `links` in any order.
    pub(crate) fn find_detours(&mut self, destinations: impl IntoIterator<Item = u32>, links: &[LossyLink]) {
        let mut arriving: BTreeMap<u32, Vec<LossyLink>> = BTreeMap::new();
        for link in links {
            arriving.entry(link.to).or_default().push(*link);
        }
        for destination in destinations {
            if !self.detours.contains_key(&destination) {
                let detours = self.detours_to(destination, &arriving);
                self.detours.insert(destination, detours);
            }
        }
    }

    /// Dijkstra's algorithm from the destination, against the links. Of equal costs the lower node comes first.
    fn detours_to(&self, destination: u32, arriving: &BTreeMap<u32, Vec<LossyLink>>) -> BTreeMap<u32, Detour> {
        let mut costs: BTreeMap<u32, f64> = BTreeMap::new();
        let mut detours: BTreeMap<u32, Detour> = BTreeMap::new();
        // Costs are positive and finite, so that their bits have their order.
        let mut heap: BinaryHeap<core::cmp::Reverse<(u64, u32)>> = BinaryHeap::new();
        for node in 0..self.shortest.nodes() as u32 {
            if let Some(path) = self.shortest.path(node, destination) {
                let cost = path.windows(2).map(|hop| 1.0 / success(hop[0], hop[1], arriving)).sum::<f64>();
                costs.insert(node, cost);
                heap.push(core::cmp::Reverse((cost.to_bits(), node)));
            }
        }
        while let Some(core::cmp::Reverse((bits, node))) = heap.pop() {
            if costs[&node].to_bits() != bits {
                continue;
            }
            for link in arriving.get(&node).into_iter().flatten() {
                let cost = f64::from_bits(bits) + 1.0 / link.success;
                let is_usable = self.shortest.path(link.from, destination).is_some();
                if !is_usable && costs.get(&link.from).is_none_or(|&known| cost < known) {
                    costs.insert(link.from, cost);
                    detours.insert(link.from, Detour { next: node, success: link.success });
                    heap.push(core::cmp::Reverse((cost.to_bits(), link.from)));
                }
            }
        }
        detours
    }
}

/// What passes from one node to another; a wire passes all.
fn success(from: u32, to: u32, arriving: &BTreeMap<u32, Vec<LossyLink>>) -> f64 {
    let links = arriving.get(&to).into_iter().flatten();
    links.filter(|link| link.from == from).map(|link| link.success).reduce(f64::max).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: u32, to: u32, success: f64) -> LossyLink {
        LossyLink { from, to, success }
    }

    #[test]
    fn a_detour_takes_the_fewest_transmissions_and_ends_on_the_usable_path() {
        // 2 and 3 reach each other; 0 and 1 reach nobody but over lossy links.
        let mut paths = Paths::from(ShortestPaths::new(&[vec![], vec![], vec![3], vec![2]]));
        assert_eq!(paths.path(0, 3), None);
        // 0 → 3 at once: 5 transmissions; 0 → 1 → 2 → 3: 2 + 1.25 + 1; 0 → 2 → 3: 4 + 1.
        let links = [link(0, 3, 0.2), link(0, 1, 0.5), link(1, 2, 0.8), link(0, 2, 0.25), link(2, 3, 1.0)];
        paths.find_detours([3], &links);
        assert_eq!(paths.path(0, 3), Some(vec![0, 1, 2, 3]));
        assert_eq!(paths.detour(1, 3), Some(Detour { next: 2, success: 0.8 }));
        assert_eq!(paths.detour(2, 3), None, "the link is usable");
        assert_eq!(paths.path(3, 0), None, "nothing leads back");
        assert_eq!(paths.path(0, 2), None, "nobody asked");
    }

    #[test]
    fn usable_paths_stay_what_they_are() {
        let mut paths = Paths::from(ShortestPaths::new(&[vec![1], vec![0, 2], vec![1]]));
        paths.find_detours([2], &[link(0, 2, 0.9), link(0, 1, 0.95), link(1, 2, 0.95)]);
        assert_eq!(paths.path(0, 2), Some(vec![0, 1, 2]));
    }
}
