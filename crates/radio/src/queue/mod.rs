//! Interface queues: packets that wait for the medium, and rules for dropping them.
//!
//! `InterfaceQueue` is the one interface of the disciplines: `DropTail`, the same with what is urgent first or with marks by
//! a `Step`, `CoDel` (RFC 8289), `FqCoDel` (RFC 8290) and `DualPi2` (RFC 9332). A discipline drops packets without a place in `InterfaceQueue::push`, and packets that
//! have waited too long in `InterfaceQueue::pop`. It marks packets instead
//! if it is told to and they can be marked (ECN, RFC 3168).

mod codel;
mod drop_tail;
mod dual_pi2;
mod fq_codel;
mod packets;
mod step;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

use codel::CoDel;
pub use codel::CoDelConfig;
use drop_tail::DropTail;
use dual_pi2::DualPi2;
pub use dual_pi2::DualPi2Config;
use fq_codel::FqCoDel;
pub use fq_codel::FqCoDelConfig;
pub use packets::PacketQueue;
use step::Step;

/// What waits in a queue.
pub(crate) trait Queued {
    /// Length in bytes, as the queue counts it.
    fn octets(&self) -> u32;

    /// Names the flow: packets of one flow are served in order, and different flows get fair shares under FQ-CoDel.
    fn flow(&self) -> u64;

    /// When it is no longer worth sending; `None`: never.
    fn expires(&self) -> Option<Instant>;

    /// Its ECN field.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Marks it: congestion experienced.
    fn mark(&mut self) {}

    /// Whether it goes before all others, where the discipline knows that.
    fn is_urgent(&self) -> bool {
        false
    }
}

/// Queue discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out; a full queue refuses further packets.
    #[default]
    DropTail,
    /// The same, but urgent packets go before all others, the newest first, and replace the last packet of a full queue:
    /// ns-2.35's `PriQueue` (queue/priqueue.cc).
    Priority,
    /// As drop-tail, but packets that have waited for so long are marked if they can be.
    Step(Duration),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelConfig),
    /// Flow queues with controlled delay (RFC 8290).
    FqCoDel(FqCoDelConfig),
    /// Two queues with coupled marking (RFC 9332).
    DualPi2(DualPi2Config),
}

/// Why a queue dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The queue was full. FQ-CoDel makes room by dropping from the longest of its queues, and so not always the newest.
    Full,
    /// The discipline dropped it because packets wait for too long.
    Management,
    /// It had expired when its turn came.
    Expired,
}

/// A discipline chooses the order of packets itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnotherDiscipline;

/// A bounded queue of one of the disciplines. As large as the simplest, which most stations have.
#[derive(Clone, Debug)]
pub(crate) enum InterfaceQueue<T> {
    /// See [`DropTail`].
    DropTail(DropTail<T>),
    /// See [`Discipline::Priority`].
    Priority(DropTail<T>),
    /// See [`Step`].
    Step(Box<Step<T>>),
    /// See [`CoDel`].
    CoDel(Box<CoDel<T>>),
    /// See [`FqCoDel`].
    FqCoDel(Box<FqCoDel<T>>),
    /// See [`DualPi2`].
    DualPi2(Box<DualPi2<T>>),
}

impl<T: Queued> InterfaceQueue<T> {
    /// An empty queue with `capacity` places.
    pub(crate) fn new(discipline: Discipline, capacity: u32) -> Self {
        match discipline {
            Discipline::DropTail => Self::DropTail(DropTail::new(capacity)),
            Discipline::Priority => Self::Priority(DropTail::new(capacity)),
            Discipline::Step(threshold) => Self::Step(Box::new(Step::new(threshold, capacity))),
            Discipline::CoDel(config) => Self::CoDel(Box::new(CoDel::new(config, capacity))),
            Discipline::FqCoDel(config) => Self::FqCoDel(Box::new(FqCoDel::new(config, capacity))),
            Discipline::DualPi2(config) => Self::DualPi2(Box::new(DualPi2::new(config, capacity))),
        }
    }

    /// Appends `item`, and hands `dropped` what has no place: `item` itself, under FQ-CoDel older ones, or the last one where an
    /// urgent item goes first.
    pub(crate) fn push(&mut self, item: T, now: Instant, mut dropped: impl FnMut(T, Reason)) {
        let refused = match self {
            Self::Priority(queue) if item.is_urgent() => queue.push_first(item).map_or(Ok(()), Err),
            Self::DropTail(queue) | Self::Priority(queue) => queue.push(item),
            Self::Step(queue) => queue.push(item, now),
            Self::CoDel(queue) => queue.push(item, now),
            Self::DualPi2(queue) => queue.push(item, now),
            Self::FqCoDel(queue) => {
                queue.push(item, now, |item| dropped(item, Reason::Full));
                Ok(())
            }
        };
        if let Err(item) = refused {
            dropped(item, Reason::Full);
        }
    }

    /// Takes the next one out that is worth sending at `now`, and hands `dropped` those that are not.
    pub(crate) fn pop(&mut self, now: Instant, mut dropped: impl FnMut(T, Reason)) -> Option<T> {
        loop {
            let item = match self {
                Self::DropTail(queue) | Self::Priority(queue) => queue.pop(),
                Self::Step(queue) => queue.pop(now),
                Self::CoDel(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::FqCoDel(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::DualPi2(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
            }?;
            if item.expires().is_none_or(|expires| now < expires) {
                return Some(item);
            }
            dropped(item, Reason::Expired);
        }
    }

    /// Takes out the first one that `is_wanted`, if it is `fitting` and worth sending at `now`, and hands `dropped` those before it that
    /// are not. Only from a queue that serves in the order of arrival: others say which packet comes next, and drop others for it.
    ///
    /// # Errors
    /// Another discipline.
    pub(crate) fn pop_wanted(
        &mut self,
        now: Instant,
        is_wanted: impl Fn(&T) -> bool,
        is_fitting: impl Fn(&T) -> bool,
        mut dropped: impl FnMut(T, Reason),
    ) -> Result<Option<T>, AnotherDiscipline> {
        let (Self::DropTail(queue) | Self::Priority(queue)) = self else { return Err(AnotherDiscipline) };
        loop {
            match queue.pop_wanted(&is_wanted, &is_fitting) {
                Some(item) if item.expires().is_some_and(|expires| now >= expires) => dropped(item, Reason::Expired),
                item => return Ok(item),
            }
        }
    }

    /// Takes out all that `is_unwanted`: the oldest first, under FQ-CoDel queue by queue. They are no drops of the discipline.
    pub(crate) fn remove_all(&mut self, is_unwanted: impl Fn(&T) -> bool) -> Vec<T> {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => queue.remove_all(is_unwanted),
            Self::Step(queue) => queue.remove_all(is_unwanted),
            Self::CoDel(queue) => queue.remove_all(is_unwanted),
            Self::FqCoDel(queue) => queue.remove_all(is_unwanted),
            Self::DualPi2(queue) => queue.remove_all(is_unwanted),
        }
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        match self {
            Self::DropTail(_) | Self::Priority(_) => 0,
            Self::Step(queue) => queue.marked(),
            Self::CoDel(queue) => queue.marked(),
            Self::FqCoDel(queue) => queue.marked(),
            Self::DualPi2(queue) => queue.marked(),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => queue.len(),
            Self::Step(queue) => queue.len(),
            Self::CoDel(queue) => queue.len(),
            Self::FqCoDel(queue) => queue.len(),
            Self::DualPi2(queue) => queue.len(),
        }
    }

    /// Number of packets for which there is room without dropping one.
    pub(crate) fn space(&self) -> usize {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => queue.space(),
            Self::Step(queue) => queue.space(),
            Self::CoDel(queue) => queue.space(),
            Self::FqCoDel(queue) => queue.space(),
            Self::DualPi2(queue) => queue.space(),
        }
    }

    /// What waits: the oldest first, under FQ-CoDel in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let (drop_tail, step, codel, fq_codel, dual_pi2) = match self {
            Self::DropTail(queue) | Self::Priority(queue) => (Some(queue.iter()), None, None, None, None),
            Self::Step(queue) => (None, Some(queue.iter()), None, None, None),
            Self::CoDel(queue) => (None, None, Some(queue.iter()), None, None),
            Self::FqCoDel(queue) => (None, None, None, Some(queue.iter()), None),
            Self::DualPi2(queue) => (None, None, None, None, Some(queue.iter())),
        };
        let (drop_tail, step) = (drop_tail.into_iter().flatten(), step.into_iter().flatten());
        let (codel, fq_codel) = (codel.into_iter().flatten(), fq_codel.into_iter().flatten());
        drop_tail.chain(step).chain(codel).chain(fq_codel).chain(dual_pi2.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests;
