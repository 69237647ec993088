//! A receive buffer: datagrams that have arrived, until the program reads them.

use super::Unit;
use std::collections::VecDeque;

/// Datagrams in the order of arrival, with the sum of their payload.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    octets: u32,
    units: VecDeque<Unit>,
}

impl Unread {
    /// An empty buffer.
    pub(super) fn new() -> Self {
        Self { octets: 0, units: VecDeque::with_capacity(8) }
    }

    /// Whether a datagram of `octets` fits, if the buffer holds `capacity` bytes. Into an empty buffer any datagram fits.
    pub(super) fn has_room(&self, octets: u32, capacity: u32) -> bool {
        self.octets == 0 || self.octets.saturating_add(octets) <= capacity
    }

    /// Adds a datagram.
    pub(super) fn push(&mut self, unit: Unit) {
        self.octets += unit.octets;
        self.units.push_back(unit);
    }

    /// Takes the oldest datagram.
    pub(super) fn pop(&mut self) -> Option<Unit> {
        let unit = self.units.pop_front()?;
        self.octets -= unit.octets;
        Some(unit)
    }

    /// The datagrams, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.units.iter()
    }
}
