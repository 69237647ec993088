//! The blacklist of neighbours over unidirectional links (RFC 3561, section 6.8).

use std::collections::{BTreeMap, VecDeque};

use super::super::MAX_NEIGHBOURS;
use super::super::timers::Schedule;
use crate::routing::NextHop;
use crate::time::{Duration, Instant};

/// Neighbours that we hear, but that do not hear us (RFC 3561, section 6.8).
#[derive(Debug)]
pub(in crate::routing::aodv) struct Blacklist {
    timeout: Duration,
    patience: Duration,
    /// Until when requests of a neighbour are ignored.
    listed: BTreeMap<NextHop, Instant>,
    /// The same in order of these instants; who was listed again stands there more than once.
    expiries: VecDeque<(Instant, NextHop)>,
    /// Until when a neighbour is to acknowledge a reply.
    awaited: BTreeMap<NextHop, Instant>,
    alarms: Schedule<NextHop>,
}

impl Blacklist {
    /// Neighbours are listed for `timeout`; an acknowledgement is waited for with `patience`.
    pub(in crate::routing::aodv) fn new(timeout: Duration, patience: Duration) -> Self {
        Self {
            timeout,
            patience,
            listed: BTreeMap::new(),
            expiries: VecDeque::new(),
            awaited: BTreeMap::new(),
            alarms: Schedule::default(),
        }
    }

    /// How many are listed.
    pub(in crate::routing::aodv) fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether requests of this neighbour are ignored.
    pub(in crate::routing::aodv) fn contains(&self, neighbour: NextHop, now: Instant) -> bool {
        self.listed.get(&neighbour).is_some_and(|&until| until > now)
    }

    /// A reply has not reached this neighbour.
    pub(in crate::routing::aodv) fn insert(&mut self, neighbour: NextHop, now: Instant) {
        while let Some(&(until, listed)) = self.expiries.front()
            && until <= now
        {
            self.expiries.pop_front();
            if self.listed.get(&listed) == Some(&until) {
                self.listed.remove(&listed);
            }
        }
        if self.expiries.len() < MAX_NEIGHBOURS {
            self.listed.insert(neighbour, now + self.timeout);
            self.expiries.push_back((now + self.timeout, neighbour));
        }
    }

    /// A reply that is to be acknowledged goes to this neighbour. One that went before is forgotten: what arrives next counts
    /// for both.
    pub(in crate::routing::aodv) fn await_acknowledgement(&mut self, neighbour: NextHop, now: Instant) {
        self.acknowledge(neighbour);
        if self.awaited.len() < MAX_NEIGHBOURS {
            self.awaited.insert(neighbour, now + self.patience);
            self.alarms.insert(now + self.patience, neighbour);
        }
    }

    /// An acknowledgement has come.
    pub(in crate::routing::aodv) fn acknowledge(&mut self, neighbour: NextHop) {
        if let Some(at) = self.awaited.remove(&neighbour) {
            self.alarms.remove(at, neighbour);
        }
    }

    /// When [`Self::handle_timeout`] is due.
    pub(in crate::routing::aodv) fn poll_timeout(&self) -> Option<Instant> {
        self.alarms.first()
    }

    /// Lists the neighbours that have not acknowledged in time.
    pub(in crate::routing::aodv) fn handle_timeout(&mut self, now: Instant) {
        while let Some(neighbour) = self.alarms.pop_due(now) {
            self.awaited.remove(&neighbour);
            self.insert(neighbour, now);
        }
    }

    /// How much is kept.
    #[cfg(test)]
    pub(in crate::routing::aodv) fn size(&self) -> usize {
        self.expiries.len().max(self.awaited.len())
    }
}
