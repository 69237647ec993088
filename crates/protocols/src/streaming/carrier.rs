//! What others look for without success: a device that moves may meet the clip, and those who look for it, at different times.
//!
//! A display that waits searches again and again. A carrier that hears such searches looks for the clip itself, fetches it when it meets a
//! device that stores it, and answers the next search.
//!
//! A carrier may do so only for those that it expects to meet in time. What it knows is how often it has met them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use hopcast_wire::cloud::{StreamId, Wish};

use crate::time::{Duration, Instant};

/// Searches of one request last no longer than this if a device answers.
const VAIN: Duration = Duration::from_secs(2);
/// Time between two searches of a request after which the second one is not about the same want.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// Most requests, and most devices, that are known.
const MOST: usize = 256;
/// Time without a message from a device after which the next one begins another meeting.
const APART: Duration = Duration::from_secs(10);

/// What a carrier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Time for which a search is remembered.
    pub lifetime: Duration,
    /// For whom it fetches clips.
    pub beneficiaries: Beneficiaries,
}

/// For whom a carrier fetches clips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beneficiaries {
    /// For all who look for them.
    All,
    /// For those that it expects to meet while their search is remembered.
    Expected,
}

/// Requests of others that no device has answered, as far as this one hears.
#[derive(Clone, Debug)]
pub struct Wanted {
    lifetime: Duration,
    searches: BTreeMap<StreamId, Search>,
    /// `None`: it fetches for all.
    meetings: Option<Meetings>,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    wish: Wish,
    first: Instant,
    last: Instant,
}

impl Wanted {
    /// Knows of no request, and of no meeting before `now`.
    pub fn new(config: Config, now: Instant) -> Self {
        let Config { lifetime, beneficiaries } = config;
        let meetings = (beneficiaries == Beneficiaries::Expected).then(|| Meetings::new(now));
        Self { lifetime, searches: BTreeMap::new(), meetings }
    }

    /// A message of a device within reach has come.
    pub fn handle_heard(&mut self, device: Ipv4Addr, now: Instant) {
        if let Some(meetings) = &mut self.meetings {
            meetings.handle_heard(device, now);
        }
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
        let is_in_time = |display: Ipv4Addr, end: Instant| {
            let Some(meetings) = &self.meetings else { return now < end };
            meetings.mean_interval(display, now).is_some_and(|wait| now + wait < end)
        };
        let vain = self.searches.iter().filter(|(_, search)| search.first + VAIN <= search.last);
        let vain = vain.filter(|(_, search)| is_missing(&search.wish));
        let vain = vain.filter(|(stream, search)| is_in_time(stream.display, search.last + self.lifetime));
        vain.map(|(_, search)| search)
            .min_by_key(|search| search.first)
            .map(|search| (search.wish, search.last + self.lifetime))
    }
}

/// How often a device has met others.
#[derive(Clone, Debug)]
struct Meetings {
    since: Instant,
    /// By device: meetings, and when it was heard last.
    devices: BTreeMap<Ipv4Addr, (u64, Instant)>,
}

impl Meetings {
    fn new(now: Instant) -> Self {
        Self { since: now, devices: BTreeMap::new() }
    }

    fn handle_heard(&mut self, device: Ipv4Addr, now: Instant) {
        if self.devices.len() >= MOST && !self.devices.contains_key(&device) {
            return;
        }
        let (meetings, last) = self.devices.entry(device).or_insert((1, now));
        *meetings += u64::from(*last + APART <= now);
        *last = now;
    }

    /// Mean time from one meeting with this device to the next, which is that until the next one if meetings are independent of each other. One that it
    /// has never met counts as the mean of those that it has; `None` if there are none.
    fn mean_interval(&self, device: Ipv4Addr, now: Instant) -> Option<Duration> {
        let (meetings, devices) = match self.devices.get(&device) {
            Some(&(meetings, _)) => (meetings, 1),
            None => (self.devices.values().map(|&(meetings, _)| meetings).sum(), self.devices.len() as u64),
        };
        (meetings > 0).then(|| now.saturating_since(self.since) * devices / meetings)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const CONFIG: Config = Config { lifetime: Duration::from_secs(100), beneficiaries: Beneficiaries::All };

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_looked_for_again_and_again_is_wanted() {
        let [one, other] = [1, 2].map(|clip| Wish { clip, rate: 1_000_000, length: 1_000 });
        let stream = |last: u8| StreamId { display: Ipv4Addr::new(10, 0, 0, last), number: 0 };
        let mut wanted = Wanted::new(CONFIG, at(0));
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
        let mut wanted = Wanted::new(CONFIG, at(0));
        for number in 0..2_000 {
            let stream = StreamId { display: Ipv4Addr::new(10, 0, 0, 1), number };
            wanted.handle_probe(stream, Wish { clip: 0, rate: 1_000, length: 1_000 }, at(1));
        }
        assert_eq!(wanted.searches.len(), MOST);
        let mut meetings = Meetings::new(at(0));
        for device in 0..2_000 {
            meetings.handle_heard(Ipv4Addr::from_bits(device), at(1));
        }
        assert_eq!(meetings.devices.len(), MOST);
    }

    #[test]
    fn the_next_meeting_is_expected_after_as_long_as_meetings_are_apart() {
        let [one, other, stranger] = [1, 2, 3].map(|last| Ipv4Addr::new(10, 0, 0, last));
        let mut meetings = Meetings::new(at(0));
        assert_eq!(meetings.mean_interval(one, at(100)), None);
        // Five meetings in 400 s, one of which lasts from 100 to 118 s; and one.
        for seconds in [100, 109, 118, 128, 200, 300, 390] {
            meetings.handle_heard(one, at(seconds));
        }
        meetings.handle_heard(other, at(250));
        assert_eq!(meetings.mean_interval(one, at(400)), Some(Duration::from_secs(80)));
        assert_eq!(meetings.mean_interval(other, at(400)), Some(Duration::from_secs(400)));
        // As often as one of the two in the mean.
        let mean = meetings.mean_interval(stranger, at(400)).expect("others were met");
        assert_eq!(mean, Duration::from_secs(400) * 2 / 6);
    }

    #[test]
    fn only_those_that_are_met_in_time_are_served_if_meetings_count() {
        let wish = Wish { clip: 1, rate: 1_000_000, length: 1_000 };
        let display = Ipv4Addr::new(10, 0, 0, 1);
        let asked = |beneficiaries, met: &[u64]| {
            let mut wanted = Wanted::new(Config { beneficiaries, ..CONFIG }, at(0));
            met.iter().for_each(|&seconds| wanted.handle_heard(display, at(seconds)));
            for seconds in [290, 300] {
                wanted.handle_probe(StreamId { display, number: 0 }, wish, at(seconds));
            }
            move |seconds| wanted.longest(|_| true, at(seconds)).is_some()
        };
        let all = asked(Beneficiaries::All, &[]);
        assert!(all(301) && all(399) && !all(400));
        // Met five times in 310 s, so after 62 s again, and after 67.4 s at 337 s.
        let often = asked(Beneficiaries::Expected, &[10, 60, 110, 160, 290]);
        assert!(often(310) && !often(337));
        let seldom = asked(Beneficiaries::Expected, &[10]);
        assert!(!seldom(301));
        assert!(!asked(Beneficiaries::Expected, &[])(301), "it has met nobody");
    }
}
