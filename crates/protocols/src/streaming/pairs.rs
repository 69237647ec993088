//! Measures links of real hosts whose interface tells nothing of them: with packet pairs.
//!
//! A device sends two packets to a neighbour back to back. The link spreads them, and the neighbour tells the time between their
//! arrivals: that of one packet on the link (Keshav, "A control-theoretic approach to flow control", SIGCOMM 1991). A pair is what a
//! [`Profile`](super::profile::Profile) asks of a station dump: one packet, and the airtime that it took. Where other stations send
//! between the two, the time is longer: the rate is what was left, and so too low rather than too high.
//!
//! A busy receiver notes arrivals late, and so makes single times too short or too long by as much. Their mean stays right, while the
//! mean of rates would not: so the time of a pair is the mean of the last sixteen. A link that carries both packets in one frame (A-MPDU)
//! can't be measured in this way.

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use hopcast_wire::cloud::Message;

use super::profile::LinkTotals;
use crate::time::{Duration, Instant};

/// Most pairs that are waited for: a device measures one neighbour a second.
const MAX_PENDING: usize = 64;
/// Most neighbours.
const MAX_NEIGHBOURS: usize = 255;
/// Pairs whose times are averaged: their mean has a quarter of the error of one.
const MEAN_OF: usize = 16;
/// A pair is answered within this time, or not at all.
const PATIENCE: Duration = Duration::from_secs(2);
/// The shortest time that counts: a clock's finer steps mean nothing.
const LEAST: Duration = Duration::from_micros(1);

/// The pairs that a device has sent and received.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    next: u32,
    pending: BTreeMap<u32, (Ipv4Addr, Instant)>,
    totals: BTreeMap<Ipv4Addr, (LinkTotals, VecDeque<Duration>)>,
    /// Of each neighbour, the first packet of a pair and when it came.
    first: BTreeMap<Ipv4Addr, (u32, Duration)>,
}

impl Pairs {
    /// The two messages that measure the link to a neighbour, each to be padded to the size of media.
    pub fn measure(&mut self, neighbour: Ipv4Addr, now: Instant) -> [Message; 2] {
        self.pending.retain(|_, (_, sent)| now.saturating_since(*sent) < PATIENCE);
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        if self.pending.len() < MAX_PENDING {
            self.pending.insert(number, (neighbour, now));
        }
        [false, true].map(|is_second| Message::Pair { number, is_second })
    }

    /// One packet of a pair has come, `arrival` after any fixed instant; the answer, after the second.
    pub fn handle_pair(&mut self, from: Ipv4Addr, number: u32, is_second: bool, arrival: Duration) -> Option<Message> {
        if !is_second {
            if self.first.len() < MAX_NEIGHBOURS || self.first.contains_key(&from) {
                self.first.insert(from, (number, arrival));
            }
            return None;
        }
        let (first, came) = self.first.remove(&from)?;
        let time = arrival.saturating_sub(came).as_nanos();
        let time = u32::try_from(time).ok().filter(|_| first == number && came <= arrival)?;
        Some(Message::Spacing { number, time })
    }

    /// A neighbour tells the time between the two packets, each `length` bytes long with its headers.
    pub fn handle_spacing(&mut self, from: Ipv4Addr, number: u32, time: u32, length: u32, now: Instant) {
        if self.pending.get(&number).is_none_or(|&(to, sent)| to != from || now.saturating_since(sent) >= PATIENCE) {
            return;
        }
        self.pending.remove(&number);
        if self.totals.len() >= MAX_NEIGHBOURS && !self.totals.contains_key(&from) {
            return;
        }
        let (totals, times) = self.totals.entry(from).or_default();
        times.push_back(Duration::from_nanos(time.into()));
        let excess = times.len().saturating_sub(MEAN_OF);
        times.drain(..excess);
        let sum = times.iter().fold(Duration::ZERO, |sum, &time| sum + time);
        totals.octets += u64::from(length);
        totals.packets += 1;
        totals.attempts += 1;
        totals.airtime += (sum / times.len() as u64).max(LEAST);
    }

    /// What is known of a neighbour is of no more use.
    pub fn forget(&mut self, neighbour: Ipv4Addr) {
        self.first.remove(&neighbour);
        self.totals.remove(&neighbour);
    }

    /// The links, as a station dump tells them. The time of medium access is within the airtime.
    pub fn totals(&self) -> impl Iterator<Item = (Ipv4Addr, LinkTotals)> + '_ {
        self.totals.iter().map(|(&neighbour, &(totals, _))| (neighbour, totals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streaming::profile::{Config, Horizon, Profile};

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn millis(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    #[test]
    fn a_pair_on_a_link_of_20_mbps_tells_20_mbps() {
        let (mut a, mut b) = (Pairs::default(), Pairs::default());
        let mut profile = Profile::new(Config::default(), Duration::ZERO);
        for second in 1..=3 {
            let now = millis(second * 1_000 - 500);
            let [first, second] = a.measure(B, now);
            // 1360 bytes take 544 µs.
            let mut answers = Vec::new();
            for (message, at) in [(first, 0), (second, 544)] {
                let Message::Pair { number, is_second } = message else { panic!("a pair: {message:?}") };
                answers.extend(b.handle_pair(A, number, is_second, Duration::from_micros(at)));
            }
            let [Message::Spacing { number, time }] = answers[..] else { panic!("one answer: {answers:?}") };
            a.handle_spacing(B, number, time, 1_360, now + Duration::from_millis(10));
            for (_, totals) in a.totals() {
                profile.handle_totals(totals, now + Duration::from_millis(20));
            }
        }
        let mean = profile.mean(Horizon::Second).expect("two windows are over");
        assert!((mean - 20e6).abs() < 1.0, "{mean}");
    }

    #[test]
    fn arrivals_that_are_noted_late_cancel_out() {
        let mut a = Pairs::default();
        // Of each four pairs, one comes together, one far apart.
        for (n, time) in [544_000, 0, 544_000, 1_088_000].into_iter().cycle().take(16).enumerate() {
            let now = millis(1_000 * n as u64);
            let [Message::Pair { number, .. }, _] = a.measure(B, now) else { panic!("a pair") };
            a.handle_spacing(B, number, time, 1_360, now);
        }
        let before = a.totals().next().expect("the link").1;
        let [Message::Pair { number, .. }, _] = a.measure(B, millis(20_000)) else { panic!("a pair") };
        a.handle_spacing(B, number, 544_000, 1_360, millis(20_000));
        let after = a.totals().next().expect("the link").1;
        assert_eq!(after.airtime - before.airtime, Duration::from_micros(544));
    }

    #[test]
    fn what_answers_no_pair_says_nothing() {
        let mut a = Pairs::default();
        let [Message::Pair { number, .. }, _] = a.measure(B, millis(0)) else { panic!("a pair") };
        a.handle_spacing(A, number, 1, 1_360, millis(1));
        a.handle_spacing(B, number + 1, 1, 1_360, millis(1));
        a.handle_spacing(B, number, 1, 1_360, millis(2_000));
        assert_eq!(a.totals().count(), 0, "another neighbour, another number, too late");
        assert_eq!(a.handle_pair(B, 7, true, Duration::from_micros(9)), None, "a second without a first");
        a.handle_pair(B, 7, false, Duration::from_micros(9));
        assert_eq!(a.handle_pair(B, 8, true, Duration::from_micros(10)), None, "a second of another pair");
        a.handle_pair(B, 9, false, Duration::from_micros(10));
        assert_eq!(a.handle_pair(B, 9, true, Duration::from_micros(9)), None, "the second before the first");
    }

    #[test]
    fn memory_is_bounded() {
        let mut a = Pairs::default();
        for n in 0..1_000 {
            let from = Ipv4Addr::from_bits(n);
            a.measure(from, millis(0));
            a.handle_pair(from, n, false, Duration::ZERO);
            a.handle_spacing(from, n, 1, 1_360, millis(0));
        }
        assert!(a.pending.len() <= MAX_PENDING && a.first.len() <= 255 && a.totals().count() <= 255);
    }
}
