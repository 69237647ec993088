use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use super::super::table::MAX_ROUTES;
use crate::time::{Duration, Instant};

/// Number of times that count for a destination (MAX_HISTORY of ns-2.35's aodv/aodv_rtable.h).
const MAX_HISTORY: usize = 3;

/// How long replies took, hop by hop, from the destinations that this node has looked for (`rt_disc_latency` of ns-2.35).
///
/// There the reply says when the request was sent that it answers; a reply of RFC 3561 does not, and the time is that since the
/// last request.
#[derive(Debug, Default)]
pub(super) struct HopTimes {
    destinations: BTreeMap<Ipv4Addr, Times>,
}

#[derive(Debug)]
struct Times {
    /// When the last request was sent.
    asked: Instant,
    last: VecDeque<Duration>,
}

impl HopTimes {
    /// A request for this destination is sent.
    pub(super) fn handle_request(&mut self, destination: Ipv4Addr, now: Instant) {
        let has_place = self.destinations.len() < MAX_ROUTES;
        match self.destinations.get_mut(&destination) {
            Some(times) => times.asked = now,
            None if has_place => {
                self.destinations.insert(destination, Times { asked: now, last: VecDeque::new() });
            }
            None => {}
        }
    }

    /// A reply about this destination has come, over this number of hops.
    pub(super) fn handle_reply(&mut self, destination: Ipv4Addr, hops: u8, now: Instant) {
        let Some(times) = self.destinations.get_mut(&destination) else { return };
        if times.last.len() == MAX_HISTORY {
            times.last.pop_front();
        }
        times.last.push_back(now.saturating_since(times.asked) / u64::from(hops.max(1)));
    }

    /// The time of a hop, there and back, on the way to this destination; `None` if no reply has come from there yet (`PerHopTime`).
    pub(super) fn mean(&self, destination: Ipv4Addr) -> Option<Duration> {
        let last = &self.destinations.get(&destination)?.last;
        let sum = last.iter().fold(Duration::ZERO, |sum, &time| sum + time);
        (!last.is_empty()).then(|| sum / last.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_three_count_from_the_last_request_on() {
        let at = |millis| Instant::START + Duration::from_millis(millis);
        let (here, there) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let mut times = HopTimes::default();
        times.handle_reply(here, 1, at(0));
        assert_eq!(times.mean(here), None, "nobody has asked");
        times.handle_request(here, at(0));
        times.handle_request(here, at(100));
        assert_eq!(times.mean(here), None);
        let means: Vec<_> = [(200, 1), (300, 4), (400, 0), (700, 1)]
            .into_iter()
            .map(|(millis, hops)| {
                times.handle_reply(here, hops, at(millis));
                times.mean(here).map_or(0, |mean| mean.as_nanos() / 1_000_000)
            })
            .collect();
        // 100; 100 and 50; those and 300; 50, 300 and 600.
        assert_eq!(means, [100, 75, 150, 316]);
        assert_eq!(times.mean(there), None);
    }
}
