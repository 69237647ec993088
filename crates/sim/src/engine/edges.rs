//! The edges of frames on the air, leading or trailing ones: at most one entry for each transmission.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hopcast_protocols::time::Instant;
use hopcast_radio::medium::TransmissionId;

/// An edge on its way: when it reaches its next receiver, the number of its transmission, and that one's index.
type Entry = (Instant, u64, TransmissionId);

/// The next receiver of each edge, soonest first.
#[derive(Debug)]
pub(super) struct Edges {
    /// One that need not go through the heap: mostly that of the newest transmission.
    newest: Entry,
    heap: BinaryHeap<Reverse<Entry>>,
    /// When the soonest of all reaches its receiver.
    first: Instant,
}

impl Edges {
    /// No edges.
    pub(super) fn new() -> Self {
        Self { newest: NONE, heap: BinaryHeap::with_capacity(64), first: NONE.0 }
    }

    /// When the soonest reaches its receiver, or [`Instant::MAX`].
    #[inline]
    pub(super) fn first(&self) -> Instant {
        self.first
    }

    /// The first instant at which the edge of transmission `number` would come after all of these.
    #[inline]
    pub(super) fn bound(&self, number: u64) -> Instant {
        let of = |&(time, other, _): &Entry| if number < other { just_after(time) } else { time };
        of(&self.newest).min(self.heap.peek().map_or(Instant::MAX, |Reverse(entry)| of(entry)))
    }

    /// Enters the next receiver of an edge.
    #[inline]
    pub(super) fn push(&mut self, time: Instant, number: u64, id: TransmissionId) {
        let entry = (time, number, id);
        self.first = self.first.min(time);
        let later = if entry < self.newest { core::mem::replace(&mut self.newest, entry) } else { entry };
        if later != NONE {
            self.heap.push(Reverse(later));
        }
    }

    /// Takes out the soonest.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(super) fn pop(&mut self) -> TransmissionId {
        let (_, _, id) = match self.heap.peek() {
            Some(Reverse(entry)) if *entry < self.newest => self.heap.pop().expect("it was just seen").0,
            _ => core::mem::replace(&mut self.newest, NONE),
        };
        debug_assert!(id != TransmissionId::NONE, "popped only after a look at the first");
        self.first = self.newest.0.min(self.heap.peek().map_or(Instant::MAX, |Reverse(entry)| entry.0));
        id
    }
}

/// The first instant after `time`.
pub(super) const fn just_after(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_add(1))
}

/// Stands where there is no edge.
const NONE: Entry = (Instant::MAX, u64::MAX, TransmissionId::NONE);
