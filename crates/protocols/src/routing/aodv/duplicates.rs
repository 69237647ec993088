use std::collections::{BTreeSet, VecDeque};
use std::net::Ipv4Addr;

use crate::time::{Duration, Instant};

/// The most requests that are known again; a further one is treated as if it were known.
pub(super) const MAX_REQUESTS: usize = 1 << 16;

/// As many of the last requests are looked through first: what is known comes mostly from all neighbours soon after it was new, and
/// a few requests that lie together are found sooner than one in a tree.
const RECENT: usize = 8;

/// The requests that came within PATH_DISCOVERY_TIME, by originator *and* number (RFC 3561, section 6.5).
#[derive(Debug)]
pub(super) struct Duplicates {
    keep: Duration,
    /// Whether requests are forgotten at multiples of `keep` alone, as ns-2.35 does (`BroadcastTimer`), so after one to two of it.
    in_batches: bool,
    known: BTreeSet<(Ipv4Addr, u32)>,
    /// The same by age, with the instant at which each is forgotten.
    forgotten: VecDeque<(Instant, (Ipv4Addr, u32))>,
}

impl Duplicates {
    pub(super) fn new(keep: Duration, in_batches: bool) -> Self {
        Self { keep, in_batches, known: BTreeSet::new(), forgotten: VecDeque::new() }
    }

    /// Whether this request is new; from now on it is not.
    pub(super) fn is_new(&mut self, originator: Ipv4Addr, id: u32, now: Instant) -> bool {
        let key = (originator, id);
        if self.forgotten.iter().rev().take(RECENT).any(|&(at, known)| known == key && at > now) {
            return false;
        }
        while let Some(&(at, key)) = self.forgotten.front()
            && at <= now
        {
            self.known.remove(&key);
            self.forgotten.pop_front();
        }
        if self.known.len() >= MAX_REQUESTS || !self.known.insert(key) {
            return false;
        }
        self.forgotten.push_back((self.end(now), key));
        true
    }

    /// When a request that comes now is forgotten.
    fn end(&self, now: Instant) -> Instant {
        if !self.in_batches {
            return now + self.keep;
        }
        let batches = now.saturating_since(Instant::START).as_nanos().div_ceil(self.keep.as_nanos());
        Instant::START + self.keep * (batches + 1)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_by_originator_and_number_for_as_long_as_it_is_kept() {
        let mut duplicates = Duplicates::new(Duration::from_secs(5), false);
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let (a, b) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        assert!(duplicates.is_new(a, 1, at(0)));
        assert!(duplicates.is_new(b, 1, at(0)), "another originator (inet-framework/inet#293)");
        assert!(duplicates.is_new(a, 2, at(1)));
        assert!(!duplicates.is_new(a, 1, at(4999)));
        assert!(duplicates.is_new(a, 1, at(5000)));
        assert_eq!(duplicates.len(), 2, "the first request of b is forgotten");
    }

    #[test]
    fn in_batches_requests_are_known_until_a_multiple_of_what_they_are_kept_for() {
        let mut duplicates = Duplicates::new(Duration::from_secs(6), true);
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let a = Ipv4Addr::new(10, 0, 0, 1);
        for (id, comes, known, forgotten) in
            [(1, 0, 5_999, 6_000), (2, 6_001, 17_999, 18_000), (3, 24_000, 29_999, 30_000)]
        {
            assert!(duplicates.is_new(a, id, at(comes)));
            assert!(!duplicates.is_new(a, id, at(known)));
            assert!(duplicates.is_new(a, id, at(forgotten)));
        }
    }
}
