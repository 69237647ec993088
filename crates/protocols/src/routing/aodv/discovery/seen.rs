//! The requests that a node has seen.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use crate::lookup::Lookup;
use crate::time::{Duration, Instant};

/// The most requests that are known again; a further one is treated as if it were known.
pub(in crate::routing::aodv) const MAX_REQUESTS: usize = 1 << 16;

/// As many of the last requests are looked through first: what is known comes mostly from all neighbours soon after it was new, and
/// these fill a line of the processor's cache.
const RECENT: usize = 8;

/// The requests that came within PATH_DISCOVERY_TIME, by originator *and* number (RFC 3561, section 6.5).
#[derive(Debug)]
#[repr(C)]
pub(in crate::routing::aodv) struct SeenRequests {
    /// The last ones, each in the place that its turn gives it; [`NONE`] where there is none.
    recent: [u64; RECENT],
    turn: usize,
    /// When the oldest is forgotten.
    first_forgotten: Instant,
    known: Lookup<()>,
    /// The same by age, with the instant at which each is forgotten.
    forgotten: VecDeque<(Instant, u64)>,
    keep: Duration,
    /// Whether requests are forgotten at multiples of `keep` alone, as ns-2.35 does (`BroadcastTimer`), so after one to two of it.
    in_batches: bool,
}

/// No request: 255.255.255.255 sends none that is asked about.
const NONE: u64 = u64::MAX;

impl SeenRequests {
    /// `secret` is that of [`Lookup`].
    pub(in crate::routing::aodv) fn new(keep: Duration, in_batches: bool, secret: u64) -> Self {
        Self {
            recent: [NONE; RECENT],
            turn: 0,
            first_forgotten: Instant::MAX,
            known: Lookup::new(secret),
            forgotten: VecDeque::new(),
            keep,
            in_batches,
        }
    }

    /// Whether this request is new; from now on it is not. The originator is the address of a node.
    pub(in crate::routing::aodv) fn is_new(&mut self, originator: Ipv4Addr, id: u32, now: Instant) -> bool {
        if self.first_forgotten <= now {
            self.forget(now);
        }
        let key = u64::from(u32::from(originator)) << 32 | u64::from(id);
        if self.recent.contains(&key) || self.known.len() >= MAX_REQUESTS || !self.known.insert(key, ()) {
            return false;
        }
        self.recent[self.turn % RECENT] = key;
        self.turn = self.turn.wrapping_add(1);
        let end = self.end(now);
        self.first_forgotten = self.first_forgotten.min(end);
        self.forgotten.push_back((end, key));
        true
    }

    /// Reads what [`Self::is_new`] needs of a request that was seen, for [`crate::routing::prefetch`].
    pub(in crate::routing::aodv) fn prefetch(&self) -> u64 {
        self.recent[0] ^ self.first_forgotten.as_nanos()
    }

    /// Forgets what is no longer to be known.
    fn forget(&mut self, now: Instant) {
        while let Some(&(at, key)) = self.forgotten.front()
            && at <= now
        {
            self.forgotten.pop_front();
            self.known.remove(key);
            for recent in &mut self.recent {
                if *recent == key {
                    *recent = NONE;
                }
            }
        }
        self.first_forgotten = self.forgotten.front().map_or(Instant::MAX, |&(at, _)| at);
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
    pub(in crate::routing::aodv) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_by_originator_and_number_for_as_long_as_it_is_kept() {
        let mut duplicates = SeenRequests::new(Duration::from_secs(5), false, 1);
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
        let mut duplicates = SeenRequests::new(Duration::from_secs(6), true, 1);
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
