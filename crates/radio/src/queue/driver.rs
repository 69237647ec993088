//! Packets that a driver has taken out of the interface queue: a FIFO for each receiver and priority, which take turns.
//!
//! ```text
//!              ┌ interface queue ┐      ┌ driver ────────────┐
//!  packet ──▶  │ a discipline    │ ──▶  │ FIFO of a receiver │ ──▶ medium access
//!              └─────────────────┘      └────────────────────┘
//! ```
//!
//! All FIFOs share a limit. A turn is a frame with all packets that the medium access aggregates in it. The discipline has no power over
//! what the driver has taken.
//!
//! Source: `ath_tx_start` and `ath_txq_schedule` in drivers/net/wireless/ath/ath9k/xmit.c of Linux, before ath9k used mac80211's queues.
//! Difference: there the limit also counts packets of frames that are on the air or wait in the hardware.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::Instant;

use super::{InterfaceQueue, Places, Queued, Reason, Traffic};

/// An interface queue with a driver behind it.
#[derive(Clone, Debug)]
pub(crate) struct Driver<T> {
    queue: InterfaceQueue<T>,
    fifos: BTreeMap<Traffic, VecDeque<T>>,
    /// FIFOs with packets, in the order of their turns.
    turns: VecDeque<Traffic>,
    /// Places of all FIFOs that are taken.
    taken: usize,
    limit: usize,
}

impl<T: Queued> Driver<T> {
    /// A driver that takes packets out of `queue` while fewer than `limit` of its places are taken.
    pub(crate) fn new(queue: InterfaceQueue<T>, limit: u32) -> Self {
        Self { queue, fifos: BTreeMap::new(), turns: VecDeque::new(), taken: 0, limit: limit as usize }
    }

    /// Appends `item` to the interface queue.
    pub(crate) fn push(&mut self, item: T, now: Instant, dropped: &mut dyn FnMut(T, Reason)) {
        self.queue.push(item, now, &mut *dropped);
        self.fill(now, dropped);
    }

    /// Takes the first packet of the FIFO whose turn it is.
    pub(crate) fn pop(&mut self, now: Instant, dropped: &mut dyn FnMut(T, Reason)) -> Option<T> {
        // What was removed has made room.
        self.fill(now, &mut *dropped);
        let traffic = self.turns.pop_front()?;
        let fifo = self.fifos.get_mut(&traffic)?;
        let item = fifo.pop_front();
        if !fifo.is_empty() {
            self.turns.push_back(traffic);
        }
        self.note_taken_out(item.as_ref());
        self.fill(now, dropped);
        item
    }

    /// Takes the first packet of a FIFO if it `is_wanted` and `is_fitting`.
    pub(crate) fn pop_wanted(
        &mut self,
        now: Instant,
        is_wanted: &dyn Fn(&T) -> bool,
        is_fitting: &dyn Fn(&T) -> bool,
        dropped: &mut dyn FnMut(T, Reason),
    ) -> Option<T> {
        let is_next = |fifo: &VecDeque<T>| fifo.front().is_some_and(is_wanted);
        let (&traffic, fifo) = self.fifos.iter_mut().find(|(_, fifo)| is_next(fifo))?;
        let item = fifo.pop_front_if(|item| is_fitting(item));
        if fifo.is_empty() {
            self.turns.retain(|other| *other != traffic);
        }
        self.note_taken_out(item.as_ref());
        self.fill(now, dropped);
        item
    }

    /// Takes out all that `is_unwanted`, the driver's first.
    pub(crate) fn remove_all(&mut self, is_unwanted: &dyn Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for fifo in self.fifos.values_mut() {
            let (out, kept): (Vec<T>, Vec<T>) = fifo.drain(..).partition(is_unwanted);
            removed.extend(out);
            fifo.extend(kept);
        }
        removed.iter().for_each(|item| self.taken -= item.places());
        self.turns.retain(|traffic| !self.fifos[traffic].is_empty());
        removed.extend(self.queue.remove_all(is_unwanted));
        removed
    }

    /// How many the discipline has marked.
    pub(crate) fn marked(&self) -> u64 {
        self.queue.marked()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.len() + self.fifos.values().map(VecDeque::len).sum::<usize>()
    }

    /// Free places of the interface queue.
    pub(crate) fn space(&self) -> usize {
        self.queue.space()
    }

    /// What waits: in the driver, receiver by receiver, then in the interface queue.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.fifos.values().flatten().chain(self.queue.iter())
    }

    /// Takes packets out of the interface queue while there are places.
    fn fill(&mut self, now: Instant, dropped: &mut dyn FnMut(T, Reason)) {
        while self.taken < self.limit {
            let Some(item) = self.queue.pop(now, &mut *dropped) else { return };
            let traffic = item.traffic();
            let fifo = self.fifos.entry(traffic).or_default();
            if fifo.is_empty() {
                self.turns.push_back(traffic);
            }
            self.taken += item.places();
            fifo.push_back(item);
        }
    }

    fn note_taken_out(&mut self, item: Option<&T>) {
        self.taken -= item.map_or(0, Places::places);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Item, ms};
    use super::super::{Discipline, InterfaceQueue, Reason};
    use crate::frame::StationId;

    fn item(id: u32, receiver: u32) -> Item {
        Item { receiver: Some(StationId(receiver)), ..Item::new(id, u64::from(receiver), 100) }
    }

    /// A FIFO of four packets with a driver of three behind it.
    fn queue() -> InterfaceQueue<Item> {
        InterfaceQueue::new(Discipline::DropTail, 4).with_driver(3)
    }

    fn pop(queue: &mut InterfaceQueue<Item>) -> Option<u32> {
        queue.pop(ms(1), |_, _| unreachable!()).map(|item| item.id)
    }

    fn pop_more(queue: &mut InterfaceQueue<Item>, receiver: u32, octets: u32) -> Option<u32> {
        let is_wanted = |item: &Item| item.receiver == Some(StationId(receiver));
        let popped = queue.pop_wanted(ms(1), is_wanted, |item| item.octets <= octets, |_, _| unreachable!());
        popped.unwrap().map(|item| item.id)
    }

    #[test]
    fn receivers_take_turns_by_frames() {
        let mut queue = queue();
        for (id, receiver) in [(0, 1), (1, 1), (2, 2), (3, 1), (4, 3)] {
            queue.push(item(id, receiver), ms(0), |_, _| unreachable!());
        }
        // The driver has the first three; 3 and 4 wait for its places.
        assert_eq!((queue.len(), queue.space()), (5, 2));
        assert_eq!(
            (pop(&mut queue), pop_more(&mut queue, 1, 99), pop_more(&mut queue, 1, 100)),
            (Some(0), None, Some(1))
        );
        // 3 came in for 0, and goes into the same frame.
        assert_eq!((pop_more(&mut queue, 1, 100), pop_more(&mut queue, 1, 100)), (Some(3), None));
        assert_eq!((pop(&mut queue), pop(&mut queue), pop(&mut queue)), (Some(2), Some(4), None));
    }

    #[test]
    fn a_receiver_with_more_waits_for_the_others() {
        let mut queue = queue();
        for (id, receiver) in [(0, 1), (1, 1), (2, 2), (3, 1)] {
            queue.push(item(id, receiver), ms(0), |_, _| unreachable!());
        }
        assert_eq!(
            [pop(&mut queue), pop(&mut queue), pop(&mut queue), pop(&mut queue)],
            [Some(0), Some(2), Some(1), Some(3)]
        );
    }

    #[test]
    fn the_discipline_refuses_what_neither_has_a_place_for() {
        let mut queue = queue();
        let mut refused = Vec::new();
        for id in 0..9 {
            queue.push(item(id, 1), ms(0), |item, reason| refused.push((item.id, reason)));
        }
        assert_eq!((refused, queue.len(), queue.space()), (vec![(7, Reason::Full), (8, Reason::Full)], 7, 0));
    }

    #[test]
    fn what_waits_behind_removed_packets_comes_next() {
        let mut queue = queue();
        for (id, receiver) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
            queue.push(item(id, receiver), ms(0), |_, _| unreachable!());
        }
        let removed = queue.remove_all(|item| item.receiver == Some(StationId(1)));
        assert_eq!((removed.len(), queue.len(), queue.iter().count()), (3, 1, 1));
        assert_eq!((pop(&mut queue), pop(&mut queue)), (Some(3), None));
    }
}
