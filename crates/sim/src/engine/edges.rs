//! The edges of frames on the air, leading or trailing ones: at most one entry for each transmission.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hopcast_protocols::time::Instant;
use hopcast_radio::medium::TransmissionId;

/// An edge on its way.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When it reaches its next receiver.
    time: Instant,
    /// Number of its transmission, which no other one has.
    number: u64,
    /// Index of its transmission.
    id: TransmissionId,
}

impl Entry {
    /// Stands where there is no edge.
    const NONE: Self = Self { time: Instant::MAX, number: u64::MAX, id: TransmissionId::NONE };

    /// Its place in the order, as one number: to compare two of them takes no branch.
    #[inline]
    fn place(&self) -> u128 {
        u128::from(self.time.as_nanos()) << 64 | u128::from(self.number)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

/// The next receiver of each edge, soonest first.
#[derive(Debug)]
pub(super) struct Edges {
    /// An entry outside of the heap: usually that of the newest transmission.
    newest: Entry,
    heap: BinaryHeap<Reverse<Entry>>,
    /// When the soonest of all reaches its receiver.
    first: Instant,
}

impl Edges {
    /// No edges.
    pub(super) fn new() -> Self {
        Self { newest: Entry::NONE, heap: BinaryHeap::with_capacity(64), first: Instant::MAX }
    }

    /// When the soonest reaches its receiver, or [`Instant::MAX`].
    #[inline]
    pub(super) fn first(&self) -> Instant {
        self.first
    }

    /// The first instant at which the edge of transmission `number` would come after all of these.
    #[inline]
    pub(super) fn bound(&self, number: u64) -> Instant {
        let of = |entry: &Entry| if number < entry.number { just_after(entry.time) } else { entry.time };
        of(&self.newest).min(self.heap.peek().map_or(Instant::MAX, |Reverse(entry)| of(entry)))
    }

    /// Enters the next receiver of an edge.
    #[inline]
    pub(super) fn push(&mut self, time: Instant, number: u64, id: TransmissionId) {
        let entry = Entry { time, number, id };
        self.first = self.first.min(time);
        let later = if entry < self.newest { core::mem::replace(&mut self.newest, entry) } else { entry };
        if later.id != TransmissionId::NONE {
            self.heap.push(Reverse(later));
        }
    }

    /// Takes out the soonest.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(super) fn pop(&mut self) -> TransmissionId {
        let Entry { id, .. } = match self.heap.peek() {
            Some(Reverse(entry)) if *entry < self.newest => self.heap.pop().expect("it was just seen").0,
            _ => core::mem::replace(&mut self.newest, Entry::NONE),
        };
        debug_assert!(id != TransmissionId::NONE, "popped only after a look at the first");
        self.first = self.newest.time.min(self.heap.peek().map_or(Instant::MAX, |Reverse(entry)| entry.time));
        id
    }
}

/// The first instant after `time`.
pub(super) const fn just_after(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_add(1))
}
