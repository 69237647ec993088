//! What happened to packets within the observation window (section 5.1).

use std::collections::VecDeque;

use hopcast_wire::ecn::Ecn;

use super::super::PacketResult;
use crate::time::Instant;

/// LOGWIN, in seconds.
const WINDOW: f64 = 0.5;
/// Packets of which the least delay counts (section 5.1.1).
const FILTER: usize = 15;
/// ALPHA: the weight of the newest ratio (section 5.1.2).
const ALPHA: f64 = 0.1;

/// One packet.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// By the receiver's clock; of a lost packet that of the newest arrival before it was told.
    time: Instant,
    size: u32,
    is_lost: bool,
    is_marked: bool,
    /// The filtered delay of the queue then.
    queue: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    entries: VecDeque<Entry>,
    /// One-way delays of the last packets.
    delays: VecDeque<f64>,
    base: Option<f64>,
    newest: Option<Instant>,
    first: Option<Instant>,
    loss_ratio: f64,
    mark_ratio: f64,
}

impl Log {
    /// A packet's fate, and its bytes of media.
    pub(super) fn insert(&mut self, result: &PacketResult, size: u32) {
        let Some(arrival) = result.arrival else {
            let Some(time) = self.newest else { return };
            let queue = self.queue_delay();
            return self.entries.push_back(Entry { time, size, is_lost: true, is_marked: false, queue });
        };
        // Clocks differ, so that the delay may be negative.
        let delay = seconds(arrival.time) - seconds(result.packet.sent);
        self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        self.delays.push_back(delay);
        if self.delays.len() > FILTER {
            self.delays.pop_front();
        }
        let time = self.newest.map_or(arrival.time, |newest| newest.max(arrival.time));
        self.newest = Some(time);
        self.first.get_or_insert(time);
        let is_marked = arrival.ecn == Ecn::Ce;
        self.entries.push_back(Entry { time, size, is_lost: false, is_marked, queue: self.queue_delay() });
    }

    /// Forgets what is older than the window, and takes its ratios into the averages.
    pub(super) fn summarise(&mut self) {
        let Some(newest) = self.newest else { return };
        while self.entries.front().is_some_and(|entry| newest.saturating_since(entry.time).as_secs_f64() >= WINDOW) {
            self.entries.pop_front();
        }
        let all = self.entries.len().max(1) as f64;
        let share = |is: fn(&Entry) -> bool| self.entries.iter().filter(|entry| is(entry)).count() as f64 / all;
        self.loss_ratio += ALPHA * (share(|entry| entry.is_lost) - self.loss_ratio);
        self.mark_ratio += ALPHA * (share(|entry| entry.is_marked) - self.mark_ratio);
    }

    /// d_queue: the least of the last delays, beyond the baseline.
    pub(super) fn queue_delay(&self) -> f64 {
        let least = self.delays.iter().copied().reduce(f64::min);
        least.zip(self.base).map_or(0.0, |(least, base)| least - base)
    }

    pub(super) fn loss_ratio(&self) -> f64 {
        self.loss_ratio
    }

    pub(super) fn mark_ratio(&self) -> f64 {
        self.mark_ratio
    }

    /// r_recv, in b/s (section 5.1.3). A window that is not full yet lasts from the first packet, which is not counted.
    pub(super) fn received_rate(&self) -> f64 {
        let age =
            self.first.zip(self.newest).map_or(0.0, |(first, newest)| newest.saturating_since(first).as_secs_f64());
        let arrived = self.entries.iter().filter(|entry| !entry.is_lost).skip(usize::from(age < WINDOW));
        let bits = arrived.map(|entry| 8.0 * f64::from(entry.size)).sum::<f64>();
        if age > 0.0 { bits / age.min(WINDOW) } else { 0.0 }
    }

    /// Whether the window has neither a loss nor a delay of `limit` seconds or more.
    pub(super) fn is_idle(&self, limit: f64) -> bool {
        self.entries.iter().all(|entry| !entry.is_lost && entry.queue < limit)
    }
}

fn seconds(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e9
}
