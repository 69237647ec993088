//! Queues of flows on shared places, each under CoDel: what FQ-CoDel and mac80211's queues have in common (RFC 8290).

use std::collections::VecDeque;

use hopcast_protocols::random::{Purpose, hash};
use hopcast_protocols::time::Instant;

use super::Queued;
use super::codel::{CoDelConfig, Control, Taken};

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelConfig {
    /// Of each queue.
    pub codel: CoDelConfig,
    /// Number of queues, 1 to 65 535.
    pub flows: u16,
    /// Bytes that each queue may send in its turn.
    pub quantum: u32,
    /// Largest number of packets dropped at once when the queue is full.
    pub drop_batch: u32,
    /// Perturbs the hash that sorts flows into queues; different for each interface and run.
    pub perturbation: u64,
}

impl Default for FqCoDelConfig {
    /// RFC 8290, sections 4.1 and 5.2: 1024 queues, a quantum of 1514 bytes (300 favours small packets), batches of 64.
    fn default() -> Self {
        Self { codel: CoDelConfig::default(), flows: 1024, quantum: 1514, drop_batch: 64, perturbation: 0 }
    }
}

/// A bounded set of queues, one for each value of a hash of the flow, and others.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues<T> {
    queues: Vec<FlowQueue>,
    slots: Slots<T>,
    capacity: usize,
    octets: u64,
    config: FqCoDelConfig,
}

/// Whose turn it is among some of the queues: lists of active ones. A queue is in one list at the most.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    new: VecDeque<u16>,
    old: VecDeque<u16>,
}

impl Turns {
    /// Whether no queue has packets.
    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.old.is_empty()
    }

    /// Moves the first queue of the new or the old ones to the end of the old ones.
    fn rotate(&mut self, from_new: bool) {
        let first = if from_new { self.new.pop_front() } else { self.old.pop_front() };
        self.old.extend(first);
    }
}

/// One of the queues.
#[derive(Clone, Debug, Default)]
struct FlowQueue {
    chain: Chain,
    active: bool,
    /// Bytes that may still be sent in this turn.
    credits: i64,
    control: Control,
}

/// The packets of a queue.
#[derive(Clone, Debug, Default)]
struct Chain {
    ends: Option<Ends>,
    packets: u32,
    octets: u64,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    head: u32,
    tail: u32,
}

impl<T: Queued> FlowQueues<T> {
    /// Empty queues with `capacity` places together.
    pub(super) fn new(config: FqCoDelConfig, capacity: u32) -> Self {
        let flows = config.flows.max(1);
        let config = FqCoDelConfig { flows, quantum: config.quantum.max(1), ..config };
        Self {
            queues: vec![FlowQueue::default(); usize::from(flows)],
            slots: Slots::new(capacity),
            capacity: capacity as usize,
            octets: 0,
            config,
        }
    }

    /// One more queue, of no hash.
    pub(super) fn add(&mut self) -> u16 {
        self.queues.push(FlowQueue::default());
        self.queues.len() as u16 - 1
    }

    /// Whether a queue has had packets, and its turn to be found empty has not come yet.
    pub(super) fn is_active(&self, index: u16) -> bool {
        self.queues[usize::from(index)].active
    }

    /// Appends `item` to a queue.
    pub(super) fn push(&mut self, index: u16, turns: &mut Turns, item: T, now: Instant) {
        let queue = &mut self.queues[usize::from(index)];
        self.octets += u64::from(item.octets());
        queue.chain.append(item, now, &mut self.slots);
        if !queue.active {
            queue.active = true;
            queue.credits = i64::from(self.config.quantum);
            turns.new.push_back(index);
        }
    }

    /// Takes the next one in turn that its queue does not drop; `dropped` gets those that it does (section 4.2).
    pub(super) fn pop(&mut self, turns: &mut Turns, now: Instant, mut dropped: impl FnMut(T)) -> Option<T> {
        loop {
            let from_new = !turns.new.is_empty();
            let index = *if from_new { turns.new.front() } else { turns.old.front() }?;
            let queue = &mut self.queues[usize::from(index)];
            if queue.credits <= 0 {
                queue.credits += i64::from(self.config.quantum);
                turns.rotate(from_new);
                continue;
            }
            let (slots, octets) = (&mut self.slots, &mut self.octets);
            let take = || {
                let (arrived, item) = queue.chain.take(slots)?;
                *octets -= u64::from(item.octets());
                Some(Taken { item, arrived, backlog: *octets })
            };
            match queue.control.dequeue(&self.config.codel, now, take, &mut dropped) {
                Some(item) => {
                    queue.credits -= i64::from(item.octets());
                    return Some(item);
                }
                // A queue that has just been new waits for a turn among the old ones, or a flow that sends one packet at a
                // time would always be served first.
                None if from_new => turns.rotate(true),
                None => {
                    queue.active = false;
                    turns.old.pop_front();
                }
            }
        }
    }

    /// Takes out all that `is_unwanted`, queue by queue.
    pub(super) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        let mut removed = Vec::new();
        for queue in self.queues.iter_mut().filter(|queue| queue.chain.packets > 0) {
            for _ in 0..queue.chain.packets {
                let (arrived, item) = queue.chain.take(&mut self.slots).expect("the chain knows its length");
                if is_unwanted(&item) {
                    self.octets -= u64::from(item.octets());
                    removed.push(item);
                } else {
                    queue.chain.append(item, arrived, &mut self.slots);
                }
            }
        }
        removed
    }

    /// How many it has marked.
    pub(super) fn marked(&self) -> u64 {
        self.queues.iter().map(|queue| queue.control.marked).sum()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Free places.
    pub(super) fn space(&self) -> usize {
        self.capacity - self.len()
    }

    /// What waits, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter()
    }

    /// The queue of a flow.
    pub(super) fn classify(&self, flow: u64) -> u16 {
        // The high bits of the hash, scaled to the number of queues.
        let bits = hash(self.config.perturbation, Purpose::FlowQueue, flow, 0) >> 32;
        ((bits * u64::from(self.config.flows)) >> 32) as u16
    }

    /// If there are too many, with `others` that wait elsewhere, drops half of the packets of the queue with the most bytes, but no more
    /// than a batch (section 4.1).
    pub(super) fn make_room(&mut self, others: usize, mut dropped: impl FnMut(T)) {
        if self.len() + others <= self.capacity {
            return;
        }
        let chains = self.queues.iter_mut().rev().map(|queue| &mut queue.chain);
        let fattest = chains.max_by_key(|chain| chain.octets).expect("there is a queue");
        for _ in 0..fattest.packets.div_ceil(2).min(self.config.drop_batch.max(1)) {
            let (_, item) = fattest.take(&mut self.slots).expect("no more than the queue has");
            self.octets -= u64::from(item.octets());
            dropped(item);
        }
    }
}

impl Chain {
    fn append<T: Queued>(&mut self, item: T, now: Instant, slots: &mut Slots<T>) {
        self.packets += 1;
        self.octets += u64::from(item.octets());
        let slot = slots.insert(now, item);
        match &mut self.ends {
            Some(ends) => {
                slots.link(ends.tail, slot);
                ends.tail = slot;
            }
            None => self.ends = Some(Ends { head: slot, tail: slot }),
        }
    }

    /// Takes the oldest, with the instant when it came.
    fn take<T: Queued>(&mut self, slots: &mut Slots<T>) -> Option<(Instant, T)> {
        let Ends { head, tail } = self.ends?;
        let (arrived, item, next) = slots.remove(head);
        self.ends = (head != tail).then_some(Ends { head: next, tail });
        self.packets -= 1;
        self.octets -= u64::from(item.octets());
        Some((arrived, item))
    }
}

/// Places for packets, chained: the queues share them, so that no memory is taken in a run once they have all been used.
#[derive(Clone, Debug)]
struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Slot<T> {
    content: Option<(Instant, T)>,
    next: u32,
}

impl<T> Slots<T> {
    fn new(capacity: u32) -> Self {
        // Longer queues than this grow when they are used.
        let places = capacity.saturating_add(1).min(64) as usize;
        Self { slots: Vec::with_capacity(places), free: Vec::with_capacity(places) }
    }

    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.content.as_ref().map(|(_, item)| item))
    }

    fn insert(&mut self, arrived: Instant, item: T) -> u32 {
        let slot = Slot { content: Some((arrived, item)), next: 0 };
        match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// Makes `next` follow `slot`.
    fn link(&mut self, slot: u32, next: u32) {
        self.slots[slot as usize].next = next;
    }

    /// Empties a slot; with what follows it in its chain.
    fn remove(&mut self, index: u32) -> (Instant, T, u32) {
        let slot = &mut self.slots[index as usize];
        let (arrived, item) = slot.content.take().expect("a chain leads through filled slots");
        let next = slot.next;
        self.free.push(index);
        (arrived, item, next)
    }
}
