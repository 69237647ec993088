//! The path between the ends, towards the receiver: losses, a drop-tail queue, a rate, a delay. The way back only delays.

use std::collections::VecDeque;

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};

use crate::trace::Fate;

/// A path. Packets that carry no payload are neither lost nor counted as data.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// In bit/s of IP packets.
    pub rate: u64,
    /// One way.
    pub delay: Duration,
    /// Packets that fit before the sender of the link, the one being sent included.
    pub queue: usize,
    /// Which packets with payload are lost before they reach the queue.
    pub losses: Losses,
}

/// Which packets with payload are lost, by their number in the order in which they come, retransmissions included.
#[derive(Clone, Debug)]
pub enum Losses {
    /// Those with these numbers, from 0.
    Numbers(Vec<u64>),
    /// Each with a probability, independently; the same ones for the same seed.
    Random {
        /// From 0 to 1.
        rate: f64,
        /// Of the draws.
        seed: u64,
    },
}

impl Losses {
    fn hit(&self, number: u64) -> bool {
        match self {
            Self::Numbers(numbers) => numbers.contains(&number),
            Self::Random { rate, seed } => Stream::new(*seed, Purpose::LinkLoss, number, 0).unit() < *rate,
        }
    }
}

/// A bottleneck at work.
pub(crate) struct Link<'a> {
    path: &'a Bottleneck,
    /// Packets with payload that have come so far.
    data: u64,
    /// When those in the queue will have been sent.
    departures: VecDeque<Instant>,
}

impl<'a> Link<'a> {
    pub(crate) fn new(path: &'a Bottleneck) -> Self {
        Self { path, data: 0, departures: VecDeque::new() }
    }

    /// A packet of `len` bytes towards the receiver comes at `now`: what becomes of it, and when it arrives if it does.
    pub(crate) fn accept(&mut self, len: usize, is_data: bool, now: Instant) -> (Fate, Instant) {
        let number = self.data;
        self.data += u64::from(is_data);
        if is_data && self.path.losses.hit(number) {
            return (Fate::Lost, now);
        }
        while self.departures.front().is_some_and(|&departure| departure <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= self.path.queue {
            return (Fate::Overflowed, now);
        }
        // By when the link is free, not by when this program came to look: lateness does not add up.
        let start = self.departures.back().map_or(now, |&last| last.max(now));
        let departure = start + Duration::from_nanos(len as u64 * 8 * 1_000_000_000 / self.path.rate);
        self.departures.push_back(departure);
        (Fate::Delivered, departure + self.path.delay)
    }

    /// When a packet towards the sender arrives.
    pub(crate) fn back(&self, now: Instant) -> Instant {
        now + self.path.delay
    }
}
