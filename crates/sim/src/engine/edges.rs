//! The edges of frames on the air: at most one entry for each rank and transmission.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hopcast_radio::medium::TransmissionId;

use super::{Key, Rank};

/// An end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// The first bit of the preamble.
    Leading,
    /// The end of the last bit.
    Trailing,
}

/// The next receiver of each edge, soonest first.
#[derive(Debug)]
pub(super) struct Edges {
    /// One that need not go through the heap: mostly the start of the newest transmission, which comes next.
    newest: (Key, TransmissionId),
    heap: BinaryHeap<Reverse<(Key, TransmissionId)>>,
}

impl Edges {
    /// No edges.
    pub(super) fn new() -> Self {
        Self { newest: NONE, heap: BinaryHeap::with_capacity(64) }
    }

    /// The soonest, or [`Key::LAST`].
    pub(super) fn first(&self) -> Key {
        self.newest.0.min(self.first_in_heap())
    }

    /// Enters the next receiver of an edge.
    pub(super) fn push(&mut self, key: Key, id: TransmissionId) {
        let (sooner, later) = if key < self.newest.0 { ((key, id), self.newest) } else { (self.newest, (key, id)) };
        self.newest = sooner;
        if later != NONE {
            self.heap.push(Reverse(later));
        }
    }

    /// Takes out the soonest.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn pop(&mut self) -> (TransmissionId, Edge) {
        let (key, id) = if self.newest.0 < self.first_in_heap() {
            core::mem::replace(&mut self.newest, NONE)
        } else {
            self.heap.pop().expect("popped only after a look at the first").0
        };
        (id, if key.is_of(Rank::Leading) { Edge::Leading } else { Edge::Trailing })
    }

    fn first_in_heap(&self) -> Key {
        self.heap.peek().map_or(Key::LAST, |Reverse((key, _))| *key)
    }
}

/// Stands where there is no edge.
const NONE: (Key, TransmissionId) = (Key::LAST, TransmissionId::NONE);
