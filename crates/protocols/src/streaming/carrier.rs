//! What others look for without success: a device that moves may meet the clip, and those who look for it, at different times.
//!
//! A display that waits searches again and again. A carrier that hears such searches looks for the clip itself, fetches it when it meets a
//! device that stores it, and answers the next search.

use std::collections::BTreeMap;

use hopcast_wire::cloud::{StreamId, Wish};

use crate::time::{Duration, Instant};

/// Searches of one request last no longer than this if a device answers.
const VAIN: Duration = Duration::from_secs(2);
/// Time between two searches of a request after which the second one is not about the same want.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Most requests that are known.
const MOST: usize = 256;

/// Requests of others that no device has answered, as far as this one hears.
#[derive(Clone, Debug)]
pub struct Wanted {
    lifetime: Duration,
    searches: BTreeMap<StreamId, Search>,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    wish: Wish,
    first: Instant,
    last: Instant,
}

impl Wanted {
    /// Knows of no request. One is remembered for `lifetime` after its last search.
    pub fn new(lifetime: Duration) -> Self {
        Self { lifetime, searches: BTreeMap::new() }
    }

    /// Somebody searches.
    pub fn handle_probe(&mut self, stream: StreamId, wish: Wish, now: Instant) {
        self.searches.retain(|_, search| search.last + self.lifetime > now);
        if self.searches.len() >= MOST && !self.searches.contains_key(&stream) {
            return;
        }
        let search = self.searches.entry(stream).or_insert(Search { wish, first: now, last: now });
        if search.wish != wish || search.last + FORGOTTEN <= now {
            (search.wish, search.first) = (wish, now);
        }
        search.last = now;
    }

    /// What has been looked for without success for the longest time, of what `is_missing` here, and until when it is remembered.
    pub fn longest(&self, is_missing: impl Fn(&Wish) -> bool, now: Instant) -> Option<(Wish, Instant)> {
        let vain = self.searches.values().filter(|search| search.last + self.lifetime > now);
        let vain = vain.filter(|search| search.first + VAIN <= search.last && is_missing(&search.wish));
        vain.min_by_key(|search| search.first).map(|search| (search.wish, search.last + self.lifetime))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_looked_for_again_and_again_is_wanted() {
        let [one, other] = [1, 2].map(|clip| Wish { clip, rate: 1_000_000, length: 1_000 });
        let stream = |last: u8| StreamId { display: Ipv4Addr::new(10, 0, 0, last), number: 0 };
        let mut wanted = Wanted::new(Duration::from_secs(100));
        // Three searches within a second and a half may have an answer that is not heard here.
        wanted.handle_probe(stream(1), one, at(10));
        wanted.handle_probe(stream(1), one, at(11));
        assert_eq!(wanted.longest(|_| true, at(12)), None);
        wanted.handle_probe(stream(2), other, at(11));
        wanted.handle_probe(stream(2), other, at(16));
        assert_eq!(wanted.longest(|_| true, at(16)), Some((other, at(116))));
        wanted.handle_probe(stream(1), one, at(17));
        assert_eq!(wanted.longest(|_| true, at(17)), Some((one, at(117))));
        assert_eq!(wanted.longest(|wish| wish.clip == 2, at(17)), Some((other, at(116))));
        // The lifetime counts from the last search on.
        assert_eq!(wanted.longest(|_| true, at(116)), Some((one, at(117))));
        assert_eq!(wanted.longest(|_| true, at(117)), None);
        // Another want of the same number begins anew.
        wanted.handle_probe(stream(1), other, at(118));
        assert_eq!(wanted.longest(|_| true, at(119)), None);
    }

    #[test]
    fn memory_has_a_bound() {
        let mut wanted = Wanted::new(Duration::from_secs(100));
        for number in 0..2_000 {
            let stream = StreamId { display: Ipv4Addr::new(10, 0, 0, 1), number };
            wanted.handle_probe(stream, Wish { clip: 0, rate: 1_000, length: 1_000 }, at(1));
        }
        assert_eq!(wanted.searches.len(), MOST);
    }
}
