//! What is due when: the timers of a node, and the schedule in which its parts keep theirs.

use std::collections::BTreeSet;

use super::Aodv;
use crate::time::Instant;

impl Aodv {
    /// Brings everything up to `now`: what was due is done.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Instant) {
        if self.due <= now {
            self.expire(now);
            self.arm();
        }
    }

    /// Timers may have changed.
    pub(super) fn arm(&mut self) {
        let delayed = self.delayed.last().map(|&(at, _)| at);
        let others = [
            self.table.poll_timeout(),
            self.neighbours.poll_timeout(),
            self.blacklist.poll_timeout(),
            delayed,
            self.next_hello,
        ];
        let others = others.into_iter().flatten().min();
        let requests = self.discoveries.poll_timeout();
        let due = [others, requests, self.silent_until];
        self.due = due.into_iter().flatten().min().unwrap_or(Instant::MAX);
        // Requests wait for the end of the silence, whatever else they wait for.
        self.timeout = others.into_iter().chain(requests.max(self.silent_until)).min();
    }

    pub(super) fn expire(&mut self, now: Instant) {
        if self.silent_until.is_some_and(|until| until <= now) {
            self.silent_until = None;
        }
        self.table.handle_timeout(now);
        self.blacklist.handle_timeout(now);
        while let Some(hop) = self.neighbours.poll_lost(now) {
            self.lose_link(hop, now);
        }
        while let Some((destination, outcome)) = self.discoveries.poll_outcome(&self.config, now) {
            self.handle_outcome(destination, outcome, now);
        }
        self.send_requests(now);
        self.send_hello(now);
        while let Some((_, message)) = self.delayed.pop_if(|(at, _)| *at <= now) {
            self.broadcast(message, now);
        }
    }
}

/// What is due when: at one instant by key.
#[derive(Debug)]
pub(super) struct Schedule<K> {
    entries: BTreeSet<(Instant, K)>,
    /// When the first is due. It is asked for with each message, and to find it in the tree costs what the message does.
    first: Option<Instant>,
}

impl<K> Default for Schedule<K> {
    fn default() -> Self {
        Self { entries: BTreeSet::new(), first: None }
    }
}

impl<K: Ord + Copy> Schedule<K> {
    /// Adds an entry. The caller keeps the instant, in case the entry has to be removed.
    pub(super) fn insert(&mut self, at: Instant, key: K) {
        self.entries.insert((at, key));
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, at: Instant, key: K) {
        self.entries.remove(&(at, key));
        if self.first == Some(at) {
            self.find_first();
        }
    }

    /// When the first entry is due.
    pub(super) fn first(&self) -> Option<Instant> {
        self.first
    }

    /// Takes the first entry that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<K> {
        if self.first? > now {
            return None;
        }
        let (_, key) = self.entries.pop_first()?;
        self.find_first();
        Some(key)
    }

    fn find_first(&mut self) {
        self.first = self.entries.first().map(|&(at, _)| at);
    }
}
