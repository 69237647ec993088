//! Interface queues: packets that wait for the medium, and rules for dropping them.
//!
//! `InterfaceQueue` is the one interface of the disciplines: `DropTail`, the same with what is urgent first or with marks by
//! a `Step`, `CoDel` (RFC 8289), `FqCoDel` (RFC 8290), `Pie` (RFC 8033), `DualPi2` (RFC 9332) and `Mac80211`. A discipline drops packets without a place
//! in `InterfaceQueue::push`, and packets that have waited too long in `InterfaceQueue::pop`. It marks packets instead if it is told to
//! and they can be marked (ECN, RFC 3168). Behind any of them there may be a `Driver` with FIFOs.

mod codel;
mod driver;
mod drop_tail;
mod dual_pi2;
mod flow_queues;
mod fq_codel;
mod mac80211;
mod packets;
mod pie;
mod step;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

use codel::CoDel;
pub use codel::CoDelConfig;
use driver::Driver;
use drop_tail::DropTail;
use dual_pi2::DualPi2;
pub use dual_pi2::DualPi2Config;
pub use flow_queues::FqCoDelConfig;
use fq_codel::FqCoDel;
use mac80211::Mac80211;
pub use mac80211::Mac80211Config;
pub use packets::PacketQueue;
use pie::Pie;
pub use pie::PieConfig;
use step::Step;

use crate::frame::{StationId, UserPriority};

/// What takes places in a queue.
pub(crate) trait Places {
    /// How many.
    fn places(&self) -> usize {
        1
    }
}

/// With the time when it came.
impl<T: Places> Places for (Instant, T) {
    fn places(&self) -> usize {
        self.1.places()
    }
}

/// What waits in a queue.
pub(crate) trait Queued: Places {
    /// Length in bytes, as the queue counts it.
    fn octets(&self) -> u32;

    /// Names the flow: packets of one flow are served in order, and different flows get fair shares under FQ-CoDel.
    fn flow(&self) -> u64;

    /// To whom it goes, and how.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

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

/// Packets that may go in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Traffic {
    /// `None`: all stations.
    pub(crate) receiver: Option<StationId>,
    pub(crate) priority: UserPriority,
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
    /// A proportional integral controller (RFC 8033).
    Pie(PieConfig),
    /// Two queues with coupled marking (RFC 9332).
    DualPi2(DualPi2Config),
    /// Flow queues for each receiver, and equal airtime for receivers, as in mac80211.
    Mac80211(Mac80211Config),
}

impl Discipline {
    /// The same with draws and hashes that follow from `perturbation`, which differs for each interface and run.
    #[must_use]
    pub fn perturbed(mut self, perturbation: u64) -> Self {
        match &mut self {
            Self::FqCoDel(config) => config.perturbation = perturbation,
            Self::Mac80211(config) => config.perturbation = perturbation,
            Self::Pie(config) => config.perturbation = perturbation,
            Self::DropTail | Self::Priority | Self::Step(_) | Self::CoDel(_) | Self::DualPi2(_) => {}
        }
        self
    }
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
    /// See [`Pie`].
    Pie(Box<Pie<T>>),
    /// See [`DualPi2`].
    DualPi2(Box<DualPi2<T>>),
    /// See [`Mac80211`].
    Mac80211(Box<Mac80211<T>>),
    /// One of them with a driver behind it.
    Driver(Box<Driver<T>>),
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
            Discipline::Pie(config) => Self::Pie(Box::new(Pie::new(config, capacity))),
            Discipline::DualPi2(config) => Self::DualPi2(Box::new(DualPi2::new(config, capacity))),
            Discipline::Mac80211(config) => Self::Mac80211(Box::new(Mac80211::new(config, capacity))),
        }
    }

    /// The same with a driver behind it that takes up to `packets` out; 0: without a driver.
    pub(crate) fn with_driver(self, packets: u32) -> Self {
        if packets == 0 { self } else { Self::Driver(Box::new(Driver::new(self, packets))) }
    }

    /// Appends `item`, and hands `dropped` what has no place: `item` itself, under FQ-CoDel older ones, or the last one where an
    /// urgent item goes first. PIE and mac80211's queues drop here what CoDel drops in `pop`.
    pub(crate) fn push(&mut self, item: T, now: Instant, mut dropped: impl FnMut(T, Reason)) {
        let refused = match self {
            Self::Priority(queue) if item.is_urgent() => queue.push_first(item).map_or(Ok(()), Err),
            Self::DropTail(queue) | Self::Priority(queue) => queue.push(item),
            Self::Step(queue) => queue.push(item, now),
            Self::CoDel(queue) => queue.push(item, now),
            Self::DualPi2(queue) => queue.push(item, now),
            Self::Pie(queue) => {
                if let Err((item, reason)) = queue.push(item, now) {
                    dropped(item, reason);
                }
                Ok(())
            }
            Self::FqCoDel(queue) => {
                queue.push(item, now, |item| dropped(item, Reason::Full));
                Ok(())
            }
            Self::Mac80211(queue) => {
                queue.push(item, now, &mut dropped);
                Ok(())
            }
            Self::Driver(queue) => {
                queue.push(item, now, &mut |item, reason| dropped(item, reason));
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
                Self::Pie(queue) => queue.pop(now),
                Self::CoDel(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::FqCoDel(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::DualPi2(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::Mac80211(queue) => queue.pop(now, |item| dropped(item, Reason::Management)),
                Self::Driver(queue) => queue.pop(now, &mut |item, reason| dropped(item, reason)),
            }?;
            if item.expires().is_none_or(|expires| now < expires) {
                return Some(item);
            }
            dropped(item, Reason::Expired);
        }
    }

    /// Takes out the first one that `is_wanted`, if it is `fitting` and worth sending at `now`, and hands `dropped` those before it that
    /// are not. Only from a queue that serves in the order of arrival, or receiver by receiver: others say which packet comes next, and
    /// drop others for it.
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
        loop {
            let next = match self {
                Self::DropTail(queue) | Self::Priority(queue) => queue.pop_wanted(&is_wanted, &is_fitting),
                Self::Mac80211(queue) => {
                    let is_next = |item: &T| is_wanted(item) && is_fitting(item);
                    queue.pop_more(now, is_next, |item| dropped(item, Reason::Management))
                }
                Self::Driver(queue) => {
                    queue.pop_wanted(now, &is_wanted, &is_fitting, &mut |item, reason| dropped(item, reason))
                }
                _ => return Err(AnotherDiscipline),
            };
            match next {
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
            Self::Pie(queue) => queue.remove_all(is_unwanted),
            Self::DualPi2(queue) => queue.remove_all(is_unwanted),
            Self::Mac80211(queue) => queue.remove_all(is_unwanted),
            Self::Driver(queue) => queue.remove_all(&is_unwanted),
        }
    }

    /// How many it has marked.
    pub(crate) fn marked(&self) -> u64 {
        match self {
            Self::DropTail(_) | Self::Priority(_) => 0,
            Self::Step(queue) => queue.marked(),
            Self::CoDel(queue) => queue.marked(),
            Self::FqCoDel(queue) => queue.marked(),
            Self::Pie(queue) => queue.marked(),
            Self::DualPi2(queue) => queue.marked(),
            Self::Mac80211(queue) => queue.marked(),
            Self::Driver(queue) => queue.marked(),
        }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => queue.len(),
            Self::Step(queue) => queue.len(),
            Self::CoDel(queue) => queue.len(),
            Self::FqCoDel(queue) => queue.len(),
            Self::Pie(queue) => queue.len(),
            Self::DualPi2(queue) => queue.len(),
            Self::Mac80211(queue) => queue.len(),
            Self::Driver(queue) => queue.len(),
        }
    }

    /// Number of packets for which there is room without dropping one.
    pub(crate) fn space(&self) -> usize {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => queue.space(),
            Self::Step(queue) => queue.space(),
            Self::CoDel(queue) => queue.space(),
            Self::FqCoDel(queue) => queue.space(),
            Self::Pie(queue) => queue.space(),
            Self::DualPi2(queue) => queue.space(),
            Self::Mac80211(queue) => queue.space(),
            Self::Driver(queue) => queue.space(),
        }
    }

    /// What waits: the oldest first, under FQ-CoDel in no particular order.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = &T> + '_> {
        match self {
            Self::DropTail(queue) | Self::Priority(queue) => Box::new(queue.iter()),
            Self::Step(queue) => Box::new(queue.iter()),
            Self::CoDel(queue) => Box::new(queue.iter()),
            Self::FqCoDel(queue) => Box::new(queue.iter()),
            Self::Pie(queue) => Box::new(queue.iter()),
            Self::DualPi2(queue) => Box::new(queue.iter()),
            Self::Mac80211(queue) => Box::new(queue.iter()),
            Self::Driver(queue) => Box::new(queue.iter()),
        }
    }

    /// A frame of `octets` bytes for a station, or for all, has been on the air for `airtime`.
    #[inline]
    pub(crate) fn on_transmitted(&mut self, receiver: Option<StationId>, airtime: Duration, octets: u32) {
        if let Self::Mac80211(queue) = self {
            queue.on_transmitted(receiver, airtime, octets);
        }
    }

    /// A frame from a station was on the air for `airtime`.
    #[inline]
    pub(crate) fn on_received(&mut self, transmitter: StationId, airtime: Duration) {
        if let Self::Mac80211(queue) = self {
            queue.on_received(transmitter, airtime);
        }
    }
}

#[cfg(test)]
mod tests;
