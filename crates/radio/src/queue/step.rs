//! First in, first out, with marks by a step: a packet that has waited for a threshold is marked when its turn comes.
//!
//! This is the marking that DCTCP needs (RFC 8257, section 3.1, which has a step of the queue's length), by the wait as RFC
//! 9332, section 2.4, recommends. Drops are those of drop-tail.

use hopcast_protocols::time::{Duration, Instant};

use super::{DropTail, Queued};

/// A bounded queue with a step.
#[derive(Clone, Debug)]
pub(crate) struct Step<T> {
    /// With the time at which each came.
    items: DropTail<(Instant, T)>,
    threshold: Duration,
    marked: u64,
}

impl<T: Queued> Step<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(threshold: Duration, capacity: u32) -> Self {
        Self { items: DropTail::new(capacity), threshold, marked: 0 }
    }

    /// Appends `item`, or gives it back if the queue is full.
    pub(crate) fn push(&mut self, item: T, now: Instant) -> Result<(), T> {
        self.items.push((now, item)).map_err(|(_, item)| item)
    }

    /// Takes the oldest.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<T> {
        let (arrived, mut item) = self.items.pop()?;
        if now.saturating_since(arrived) >= self.threshold && item.ecn().is_capable() {
            item.mark();
            self.marked += 1;
        }
        Some(item)
    }

    /// Takes out all that `is_unwanted`, oldest first.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let removed = self.items.remove_all(|(_, item)| is_unwanted(item));
        removed.into_iter().map(|(_, item)| item).collect()
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.marked
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Free places.
    pub(crate) fn space(&self) -> usize {
        self.items.space()
    }

    /// What waits, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use hopcast_wire::ecn::Ecn;

    use super::super::tests::{Item, ms};
    use super::*;

    #[test]
    fn what_has_waited_for_the_threshold_is_marked_if_it_can_be() {
        let mut queue = Step::new(Duration::from_millis(5), 3);
        for (id, ecn) in [(0, Ecn::Ect0), (1, Ecn::NotEct), (2, Ecn::Ect1)] {
            queue.push(Item { ecn, ..Item::new(id, 0, 100) }, ms(u64::from(id))).expect("room");
        }
        assert!(queue.push(Item::new(3, 0, 100), ms(3)).is_err());
        // Waits of 4, 5 and 5 ms.
        let fields = [4, 6, 7].map(|at| queue.pop(ms(at)).map(|item| item.ecn));
        assert_eq!(fields, [Some(Ecn::Ect0), Some(Ecn::NotEct), Some(Ecn::Ce)]);
        assert_eq!((queue.marked(), queue.len()), (1, 0));
    }
}
