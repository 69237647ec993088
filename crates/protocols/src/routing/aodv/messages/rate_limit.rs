//! A limit on how many messages of a kind are sent in a second.

use std::collections::VecDeque;

use crate::time::{Duration, Instant};

/// A limit on the number in any second.
#[derive(Debug)]
pub(in crate::routing::aodv) struct RateLimit {
    limit: Option<u32>,
    /// When the last ones were, up to `limit` of them.
    last: VecDeque<Instant>,
}

impl RateLimit {
    pub(in crate::routing::aodv) fn new(limit: Option<u32>) -> Self {
        Self { limit, last: VecDeque::new() }
    }

    /// When the next one may be; `None`: at once, whenever that is.
    pub(in crate::routing::aodv) fn next(&self) -> Option<Instant> {
        let limit = self.limit? as usize;
        let oldest = *self.last.front()?;
        (self.last.len() >= limit).then(|| oldest + Duration::from_secs(1))
    }

    /// Whether one may be now; if so, it is.
    pub(in crate::routing::aodv) fn take(&mut self, now: Instant) -> bool {
        if self.next().is_some_and(|next| next > now) {
            return false;
        }
        if let Some(limit) = self.limit {
            if self.last.len() >= limit as usize {
                self.last.pop_front();
            }
            self.last.push_back(now);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_second_holds_more_than_the_limit() {
        let mut rate = RateLimit::new(Some(2));
        let at = |millis| Instant::START + Duration::from_millis(millis);
        assert!(rate.take(at(0)) && rate.take(at(900)));
        assert!(!rate.take(at(999)));
        assert_eq!(rate.next(), Some(at(1000)));
        assert!(rate.take(at(1000)));
        assert!(!rate.take(at(1899)));
        assert!(rate.take(at(1900)));
        let mut free = RateLimit::new(None);
        assert!((0..1000).all(|_| free.take(at(0))));
        assert_eq!(free.next(), None);
    }
}
