//! Which packets a receiver misses, and when it asks for them (RFC 4585, section 6.2.1).
//!
//! It asks as soon as a later packet comes, and again after a timeout by RFC 6298, whose round trips run from the only request for a packet
//! to the packet. Other numbers are libwebrtc's, which asks again after a mean round trip (`modules/video_coding/nack_requester.cc`).

use std::collections::BTreeMap;

use crate::round_trip::RoundTrip;
use crate::time::{Duration, Instant};

/// The most packets that are missed at a time: the oldest are given up.
const MISSED: usize = 1_000;
/// The most packets of one request: 1 kB, which fits into one datagram everywhere.
const ASKED: usize = 250;
/// How often the receiver asks for a packet at most.
const REQUESTS: u32 = 10;
/// The timeout before a round trip was measured.
const FIRST_TIMEOUT: Duration = Duration::from_millis(100);
/// By how much a timeout is longer than the mean round trip at least: no sooner a packet can leave behind others.
const GRANULARITY: Duration = Duration::from_millis(5);

/// A packet that has not come.
#[derive(Clone, Copy, Debug)]
struct Missed {
    since: Instant,
    asked: Option<Instant>,
    requests: u32,
}

/// Packets by the number of their media.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// How long the sender keeps a packet.
    lifetime: Duration,
    /// The number behind the newest.
    next: Option<u64>,
    missed: BTreeMap<u64, Missed>,
    rtt: RoundTrip,
}

impl Requests {
    /// Nothing has come.
    pub(super) fn new(lifetime: Duration) -> Self {
        Self { lifetime, next: None, missed: BTreeMap::new(), rtt: RoundTrip::default() }
    }

    /// The number behind the newest; `None` before the first packet.
    pub(super) fn next(&self) -> Option<u64> {
        self.next
    }

    /// Packet `number` has come, by itself or sent again. Returns whether it has not come before.
    pub(super) fn on_arrival(&mut self, number: u64, now: Instant) -> bool {
        let next = *self.next.get_or_insert(number);
        if number < next {
            let Some(missed) = self.missed.remove(&number) else { return false };
            if let (Some(asked), 1) = (missed.asked, missed.requests) {
                self.rtt.on_sample(now.saturating_since(asked), 1);
            }
            return true;
        }
        let from = next.max(number.saturating_sub(MISSED as u64));
        self.missed.extend((from..number).map(|number| (number, Missed { since: now, asked: None, requests: 0 })));
        while self.missed.len() > MISSED {
            self.missed.pop_first();
        }
        self.next = Some(number + 1);
        true
    }

    /// When packets are to be asked for.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.missed.values().map(|missed| self.due(missed)).min()
    }

    /// The packets to ask for at `now`; there may be more. Some are given up: the sender does not keep them any more, or has been asked
    /// often enough.
    pub(super) fn poll(&mut self, now: Instant) -> Vec<u64> {
        let (lifetime, timeout) = (self.lifetime, self.timeout());
        self.missed.retain(|_, missed| {
            let is_over = missed.requests >= REQUESTS && now >= missed.asked.unwrap_or(now).saturating_add(timeout);
            !is_over && now <= missed.since.saturating_add(lifetime)
        });
        let due = self.missed.iter().filter(|(_, missed)| self.due(missed) <= now).map(|(&number, _)| number);
        let due: Vec<u64> = due.take(ASKED).collect();
        for number in &due {
            if let Some(missed) = self.missed.get_mut(number) {
                missed.asked = Some(now);
                missed.requests += 1;
            }
        }
        due
    }

    fn timeout(&self) -> Duration {
        self.rtt.timeout(GRANULARITY).unwrap_or(FIRST_TIMEOUT)
    }

    fn due(&self, missed: &Missed) -> Instant {
        let again = missed.asked.map_or(missed.since, |asked| asked.saturating_add(self.timeout()));
        again.min(missed.since.saturating_add(self.lifetime + Duration::from_nanos(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn requests() -> Requests {
        let mut requests = Requests::new(Duration::from_millis(500));
        assert!(requests.on_arrival(7, ms(0)) && requests.on_arrival(10, ms(5)));
        requests
    }

    #[test]
    fn a_gap_is_asked_for_at_once_and_after_each_timeout() {
        let mut requests = requests();
        assert_eq!((requests.poll_timeout(), requests.poll(ms(5))), (Some(ms(5)), vec![8, 9]));
        assert_eq!((requests.poll_timeout(), requests.poll(ms(104))), (Some(ms(105)), vec![]));
        // One comes 10 ms after its only request: the timeout is 10 + 4 · 5 ms from then on (RFC 6298, section 2.2).
        assert!(requests.on_arrival(9, ms(15)));
        assert_eq!((requests.poll_timeout(), requests.poll(ms(34))), (Some(ms(35)), vec![]));
        assert_eq!((requests.poll(ms(35)), requests.poll_timeout()), (vec![8], Some(ms(65))));
        // What was asked for twice tells no round trip.
        assert!(requests.on_arrival(8, ms(70)));
        assert_eq!((requests.poll_timeout(), requests.timeout()), (None, Duration::from_millis(30)));
    }

    #[test]
    fn a_packet_comes_once() {
        let mut requests = requests();
        assert!(!requests.on_arrival(10, ms(6)) && !requests.on_arrival(7, ms(6)) && !requests.on_arrival(3, ms(6)));
        assert!(requests.on_arrival(8, ms(6)) && !requests.on_arrival(8, ms(7)));
        assert_eq!(requests.poll(ms(7)), [9]);
    }

    #[test]
    fn what_does_not_come_is_given_up() {
        let mut requests = requests();
        let mut asked = 0;
        while let Some(due) = requests.poll_timeout() {
            assert!(due <= ms(506));
            asked += requests.poll(due).len();
        }
        // Two packets at 5, 105, 205, 305, 405 and 505 ms, within 500 ms of the gap.
        assert_eq!((asked, requests.on_arrival(8, ms(600))), (12, false));
        let mut requests = Requests { lifetime: Duration::from_secs(60), ..Requests::new(Duration::ZERO) };
        assert!(requests.on_arrival(0, ms(0)) && requests.on_arrival(2, ms(0)));
        let mut asked = 0;
        while let Some(due) = requests.poll_timeout() {
            asked += requests.poll(due).len();
        }
        assert_eq!(asked, 10);
    }

    #[test]
    fn no_more_than_a_thousand_are_missed() {
        let mut requests = requests();
        assert!(requests.on_arrival(5_000_000, ms(6)));
        let asked: Vec<u64> = (0..5).flat_map(|_| requests.poll(ms(6))).collect();
        assert_eq!(asked, (4_999_000..5_000_000).collect::<Vec<_>>());
    }
}
