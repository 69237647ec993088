//! Neighbours: those that send hellos, and those that do not hear this node.

pub(super) mod blacklist;

use std::collections::BTreeMap;

use super::MAX_NEIGHBOURS;
use super::timers::Schedule;
use crate::routing::NextHop;
use crate::time::{Duration, Instant};

/// The neighbours that send hellos (RFC 3561, section 6.9).
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    neighbours: BTreeMap<NextHop, Neighbour>,
    alarms: Schedule<NextHop>,
}

#[derive(Debug)]
struct Neighbour {
    /// When it was heard last.
    heard: Instant,
    /// It is lost after a silence of this length.
    patience: Duration,
    /// Its place in the schedule: not after it is lost.
    alarm: Instant,
}

impl Neighbours {
    /// A hello has come; its sender is lost once it is silent for `patience`.
    pub(super) fn handle_hello(&mut self, hop: NextHop, patience: Duration, now: Instant) {
        let lost = now + patience;
        let has_place = self.neighbours.len() < MAX_NEIGHBOURS;
        match self.neighbours.get_mut(&hop) {
            Some(neighbour) => {
                neighbour.heard = now;
                neighbour.patience = patience;
                if lost < neighbour.alarm {
                    self.alarms.remove(neighbour.alarm, hop);
                    self.alarms.insert(lost, hop);
                    neighbour.alarm = lost;
                }
            }
            None if has_place => {
                self.neighbours.insert(hop, Neighbour { heard: now, patience, alarm: lost });
                self.alarms.insert(lost, hop);
            }
            None => {}
        }
    }

    /// Anything has come from this neighbour.
    pub(super) fn handle_sign(&mut self, hop: NextHop, now: Instant) {
        if let Some(neighbour) = self.neighbours.get_mut(&hop) {
            neighbour.heard = now;
        }
    }

    /// When [`Self::poll_lost`] is to be asked.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.alarms.first()
    }

    /// A neighbour that has been silent for too long; it is forgotten.
    pub(super) fn poll_lost(&mut self, now: Instant) -> Option<NextHop> {
        loop {
            let hop = self.alarms.pop_due(now)?;
            let neighbour =
                self.neighbours.get_mut(&hop).expect("a neighbour has its alarm for as long as it is known");
            let lost = neighbour.heard + neighbour.patience;
            if lost <= now {
                self.neighbours.remove(&hop);
                return Some(hop);
            }
            neighbour.alarm = lost;
            self.alarms.insert(lost, hop);
        }
    }

    /// How many are watched.
    pub(super) fn len(&self) -> usize {
        self.neighbours.len()
    }
}
