//! Who has been heard, and until when that counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::routing::NextHop;
use crate::time::Instant;

/// The most neighbours at a time; more are not listened to.
pub(super) const MAX_NEIGHBOURS: usize = 1024;

/// Neighbours and their deadlines.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    deadlines: BTreeMap<NextHop, Instant>,
    by_deadline: BTreeSet<(Instant, NextHop)>,
}

impl Neighbours {
    /// The neighbour was heard, and counts as one until `deadline`. `false` if there are too many already.
    pub(super) fn handle_update(&mut self, hop: NextHop, deadline: Instant) -> bool {
        if self.deadlines.len() >= MAX_NEIGHBOURS && !self.deadlines.contains_key(&hop) {
            return false;
        }
        if let Some(old) = self.deadlines.insert(hop, deadline) {
            self.by_deadline.remove(&(old, hop));
        }
        self.by_deadline.insert((deadline, hop));
        true
    }

    /// Forgets a neighbour; whether it was one.
    pub(super) fn lose(&mut self, hop: NextHop) -> bool {
        let deadline = self.deadlines.remove(&hop);
        deadline.is_some_and(|deadline| self.by_deadline.remove(&(deadline, hop)))
    }

    /// A neighbour whose deadline has come.
    pub(super) fn silent(&self, now: Instant) -> Option<NextHop> {
        self.by_deadline.first().filter(|(deadline, _)| *deadline <= now).map(|&(_, hop)| hop)
    }

    /// The first deadline.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.by_deadline.first().map(|&(deadline, _)| deadline)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.deadlines.len()
    }
}
