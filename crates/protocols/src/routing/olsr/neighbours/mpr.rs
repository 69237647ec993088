//! Selection of multipoint relays: neighbours over which all neighbours' neighbours are reached (RFC 3626, 8.3.1 and 16.2).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::config::{WILL_ALWAYS, WILL_NEVER};

/// A neighbour over the interface that relays are selected for.
#[derive(Clone, Debug)]
pub(in crate::routing::olsr) struct Candidate {
    /// Its main address.
    pub(in crate::routing::olsr) address: Ipv4Addr,
    /// How willing it is.
    pub(in crate::routing::olsr) willingness: u8,
    /// Its neighbours that are neither this node nor neighbours of this node, each once.
    pub(in crate::routing::olsr) reaches: Vec<Ipv4Addr>,
}

/// Selects relays so that each node that a candidate reaches is reached over `coverage` of them, or over all that reach
/// it if these are fewer. Candidates with [`WILL_NEVER`] are not used.
///
/// Every candidate reaches only nodes outside of the neighbourhood, so that D(y) of the RFC is the length of `reaches`.
/// Where the RFC leaves a choice, the lower address wins.
pub(in crate::routing::olsr) fn select(candidates: &[Candidate], coverage: u32) -> Vec<Ipv4Addr> {
    let mut candidates: Vec<_> = candidates.iter().filter(|candidate| candidate.willingness != WILL_NEVER).collect();
    candidates.sort_by_key(|candidate| candidate.address);
    let mut selection = Selection::new(&candidates, coverage.max(1));
    // Steps 1 and 3. Where no more than `coverage` lead somewhere, all of them are needed.
    for (nth, candidate) in candidates.iter().enumerate() {
        let is_needed = selection.reaches[nth].iter().any(|&node| selection.leading[node] <= coverage.max(1));
        if candidate.willingness == WILL_ALWAYS || is_needed {
            selection.add(nth);
        }
    }
    // Step 4.
    let rank = |selection: &Selection, nth: usize| {
        let gain = selection.gain(nth);
        (gain > 0).then_some((candidates[nth].willingness, gain, selection.reaches[nth].len()))
    };
    loop {
        let best =
            (0..candidates.len()).rev().filter_map(|nth| Some((rank(&selection, nth)?, nth))).max_by_key(|best| best.0);
        let Some((_, nth)) = best else { break };
        selection.add(nth);
    }
    // Step 5, in the order of willingness.
    let mut order: Vec<_> = (0..candidates.len()).collect();
    order.sort_by_key(|&nth| candidates[nth].willingness);
    for nth in order {
        if candidates[nth].willingness < WILL_ALWAYS && selection.is_needless(nth) {
            selection.remove(nth);
        }
    }
    let selected = candidates.iter().zip(&selection.is_selected).filter(|(_, is_selected)| **is_selected);
    selected.map(|(candidate, _)| candidate.address).collect()
}

/// A selection on its way.
struct Selection {
    /// By candidate: whom it reaches, by number.
    reaches: Vec<Vec<usize>>,
    /// By number of who is reached: how many candidates lead there.
    leading: Vec<u32>,
    /// The same: by how many selected ones it should be reached.
    wanted: Vec<u32>,
    /// The same: by how many it is.
    covered: Vec<u32>,
    is_selected: Vec<bool>,
}

impl Selection {
    fn new(candidates: &[&Candidate], coverage: u32) -> Self {
        let mut numbers = BTreeMap::new();
        let mut leading: Vec<u32> = Vec::new();
        let mut number = |address: Ipv4Addr| {
            let new = numbers.len();
            let number = *numbers.entry(address).or_insert(new);
            if number == leading.len() {
                leading.push(0);
            }
            leading[number] += 1;
            number
        };
        let reaches: Vec<Vec<_>> =
            candidates.iter().map(|candidate| candidate.reaches.iter().map(|&node| number(node)).collect()).collect();
        let wanted = leading.iter().map(|&leading| leading.min(coverage)).collect();
        let covered = vec![0; leading.len()];
        Self { reaches, leading, wanted, covered, is_selected: vec![false; candidates.len()] }
    }

    fn add(&mut self, nth: usize) {
        self.is_selected[nth] = true;
        self.reaches[nth].iter().for_each(|&node| self.covered[node] += 1);
    }

    fn remove(&mut self, nth: usize) {
        self.is_selected[nth] = false;
        self.reaches[nth].iter().for_each(|&node| self.covered[node] -= 1);
    }

    /// How many nodes that want another relay would get this one.
    fn gain(&self, nth: usize) -> usize {
        if self.is_selected[nth] {
            return 0;
        }
        self.reaches[nth].iter().filter(|&&node| self.covered[node] < self.wanted[node]).count()
    }

    fn is_needless(&self, nth: usize) -> bool {
        self.is_selected[nth] && self.reaches[nth].iter().all(|&node| self.covered[node] > self.wanted[node])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(node: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, node)
    }

    fn candidate(node: u8, willingness: u8, reaches: &[u8]) -> Candidate {
        Candidate { address: address(node), willingness, reaches: reaches.iter().map(|&node| address(node)).collect() }
    }

    fn selected(candidates: &[Candidate], coverage: u32) -> Vec<u8> {
        select(candidates, coverage).iter().map(|address| address.octets()[3]).collect()
    }

    #[test]
    fn the_only_way_is_taken_and_what_it_covers_needs_no_other() {
        // 20 is reached over 1 alone, which reaches 21 too; 2 and 3 are left for 22.
        let all = [candidate(1, 3, &[20, 21]), candidate(2, 3, &[21, 22]), candidate(3, 3, &[22])];
        assert_eq!(selected(&all, 1), [1, 2]);
    }

    #[test]
    fn willingness_goes_before_reach_and_reach_before_degree() {
        assert_eq!(selected(&[candidate(1, 3, &[20, 21]), candidate(2, 6, &[20, 21])], 1), [2]);
        let reach = [candidate(1, 3, &[20, 21]), candidate(2, 3, &[20, 21, 22]), candidate(3, 3, &[22, 20])];
        assert_eq!(selected(&reach, 1), [2]);
        // 9 is selected for 30 and covers 20: 1 and 2 gain as much with 21 and 22, and 2 has the higher degree.
        let degree = [candidate(1, 3, &[21, 22]), candidate(2, 3, &[20, 21, 22]), candidate(9, 3, &[20, 30])];
        assert_eq!(selected(&degree, 1), [2, 9]);
        assert_eq!(selected(&[candidate(1, 3, &[20]), candidate(2, 3, &[20])], 1), [1], "the lower address");
    }

    #[test]
    fn who_always_will_is_always_taken_and_who_never_will_never() {
        let all = [candidate(1, WILL_ALWAYS, &[]), candidate(2, 3, &[20]), candidate(3, WILL_NEVER, &[20, 21])];
        assert_eq!(selected(&all, 1), [1, 2]);
    }

    #[test]
    fn what_later_choices_make_needless_is_dropped() {
        // 1 is first for its willingness; 2 and 3 are each the only way somewhere, and together cover what 1 does.
        let all = [candidate(1, 2, &[20, 21]), candidate(2, 3, &[20, 22]), candidate(3, 3, &[21, 23])];
        assert_eq!(selected(&all, 1), [2, 3]);
    }

    #[test]
    fn coverage_asks_for_more_relays_where_there_are_more() {
        let all = [candidate(1, 3, &[20, 21]), candidate(2, 3, &[20]), candidate(3, 3, &[20])];
        assert_eq!(selected(&all, 1), [1]);
        assert_eq!(selected(&all, 2), [1, 2]);
        assert_eq!(selected(&all, 9), [1, 2, 3]);
    }

    proptest! {
        #[test]
        fn everybody_is_covered_and_no_relay_is_needless(
            all in prop::collection::vec((0_u8..8, prop::collection::btree_set(100_u8..130, 0..10)), 0..20),
            coverage in 1_u32..4,
        ) {
            let all: Vec<_> = (0..).zip(&all).map(|(node, (will, reaches))| {
                candidate(node, *will, &reaches.iter().copied().collect::<Vec<_>>())
            }).collect();
            let selected = select(&all, coverage);
            let is_selected = |candidate: &&Candidate| selected.contains(&candidate.address);
            let is_covered = |without: Option<Ipv4Addr>| (100..130).map(address).all(|node| {
                let leads = |candidate: &&Candidate| candidate.willingness != WILL_NEVER && candidate.reaches.contains(&node);
                let leading = all.iter().filter(leads).count();
                let covering = all.iter().filter(leads).filter(is_selected).filter(|c| Some(c.address) != without).count();
                covering >= leading.min(coverage as usize)
            });
            prop_assert!(is_covered(None));
            for candidate in &all {
                match candidate.willingness {
                    WILL_ALWAYS => prop_assert!(is_selected(&candidate)),
                    WILL_NEVER => prop_assert!(!is_selected(&candidate)),
                    _ => prop_assert!(!is_selected(&candidate) || !is_covered(Some(candidate.address))),
                }
            }
        }
    }
}
