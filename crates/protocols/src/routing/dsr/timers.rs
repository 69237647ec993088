//! What is due when.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::Dsr;
use crate::routing::Message;
use crate::time::{Duration, Instant};

impl Dsr {
    /// Does what is due by `now`.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(timer) = self.schedule.pop(now) {
            match timer {
                Timer::Send(message) => self.send(message, now),
                Timer::Discovery(target) => self.on_discovery_timeout(target, now),
                Timer::CachedReply(initiator, target) => self.on_reply_delay_over(initiator, target, now),
                Timer::Probe(neighbour) => drop(self.held_requests.remove(&neighbour)),
                Timer::Maintenance(number) => self.on_unacknowledged(number, now),
            }
        }
    }
}

/// Something that is due at an instant.
#[derive(Clone, Debug)]
pub(super) enum Timer {
    /// A message that was delayed.
    Send(Message),
    /// The next Route Request for this target.
    Discovery(Ipv4Addr),
    /// A Route Reply from the cache to this initiator about this target.
    CachedReply(Ipv4Addr, Ipv4Addr),
    /// This neighbour has not answered to prove that it hears this node.
    Probe(Ipv4Addr),
    /// The packet with this number in the Maintenance Buffer was not acknowledged.
    Maintenance(u32),
}

/// Names an entry of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Instant, u64);

/// All timers of a machine, first come first served among those of one instant.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    timers: BTreeMap<Key, Timer>,
    number: u64,
    /// How many of them are messages.
    messages: usize,
}

impl Schedule {
    /// Enters a timer.
    pub(super) fn add(&mut self, at: Instant, timer: Timer) -> Key {
        self.number += 1;
        self.messages += usize::from(matches!(timer, Timer::Send(_)));
        let key = Key(at, self.number);
        self.timers.insert(key, timer);
        key
    }

    /// Takes a timer out.
    pub(super) fn cancel(&mut self, key: Key) {
        if let Some(timer) = self.timers.remove(&key) {
            self.messages -= usize::from(matches!(timer, Timer::Send(_)));
        }
    }

    /// The next that is due by `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Timer> {
        let entry = self.timers.first_entry().filter(|entry| entry.key().0 <= now)?;
        let timer = entry.remove();
        self.messages -= usize::from(matches!(timer, Timer::Send(_)));
        Some(timer)
    }

    /// When the first is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.timers.first_key_value().map(|(key, _)| key.0)
    }

    /// How many messages are delayed.
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// How many timers there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }
}

/// The instant so long after `now`, or the last one.
pub(super) fn after(now: Instant, duration: Duration) -> Instant {
    Instant::from_nanos(now.as_nanos().saturating_add(duration.as_nanos()))
}
