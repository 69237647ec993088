//! The edges of frames on the air: at most one entry for each rank and transmission.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hopcast_radio::medium::TransmissionId;

use super::Key;

/// The next receiver of each edge, soonest first.
#[derive(Debug, Default)]
pub(super) struct Edges {
    heap: BinaryHeap<Reverse<(Key, TransmissionId)>>,
}

impl Edges {
    /// The soonest.
    pub(super) fn first(&self) -> Option<Key> {
        self.heap.peek().map(|Reverse((key, _))| *key)
    }

    /// Enters an edge.
    pub(super) fn push(&mut self, key: Key, id: TransmissionId) {
        self.heap.push(Reverse((key, id)));
    }

    /// Takes out the soonest.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn pop(&mut self) -> TransmissionId {
        let Reverse((_, id)) = self.heap.pop().expect("popped only after a look at the first");
        id
    }
}
