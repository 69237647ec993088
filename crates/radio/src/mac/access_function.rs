//! One channel access function: a queue, the frame in hand and its contention for the medium. DCF has one, EDCA one for each
//! access category.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};

use super::Output;
use super::backoff::{Backoff, Timing};
use super::config::{AccessRules, Config};
use super::edca::{AccessCategory, EdcaParameters};
use super::originator::Originator;
use super::outgoing::OutgoingMpdu;
use super::outputs::Outputs;
use crate::frame::{Payload, StationId};
use crate::queue::InterfaceQueue;

/// See the module. Laid out as it stands here, for the same reason as [`super::Dcf`].
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct AccessFunction<P> {
    pub(super) backoff: Backoff,
    /// The frame in hand; [`Backoff::pending`] tells whether there is one where an event at a station that only overhears
    /// looks.
    current: Option<OutgoingMpdu<P>>,
    /// The frame after it, taken from the queue to see whether it fits into the same TXOP; under EDCA with a TXOP limit only.
    pub(super) following: Option<OutgoingMpdu<P>>,
    pub(super) queue: InterfaceQueue<(Option<StationId>, P)>,
    pub(super) category: AccessCategory,
    /// Zero: one frame.
    pub(super) txop_limit: Duration,
    /// Management frames that go before what is in the queue; none at a station that has never had one.
    ahead: Option<Box<Ahead<P>>>,
    /// What is outstanding behind the frame in hand; at stations that aggregate.
    pub(super) originator: Option<Box<Originator<P>>>,
}

/// Management frames that wait, the oldest first.
#[derive(Clone, Debug)]
struct Ahead<P>(VecDeque<(Option<StationId>, P)>);

impl<P> Default for Ahead<P> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<P: Payload> AccessFunction<P> {
    /// The only one under DCF.
    pub(super) fn dcf(config: &Config) -> Self {
        let parameters = config.phy.parameters();
        let timing = Timing {
            slot: parameters.slot,
            ifs: config.phy.difs(),
            turnaround: turnaround(config),
            cw_min: parameters.cw_min,
            cw_max: parameters.cw_max,
            rules: config.rules,
            ended: 0,
        };
        Self::new(timing, AccessCategory::BestEffort, Duration::ZERO, config)
    }

    /// That of an access category.
    pub(super) fn edca(category: AccessCategory, edca: &EdcaParameters, config: &Config) -> Self {
        let parameters = config.phy.parameters();
        let timing = Timing {
            slot: parameters.slot,
            ifs: edca.aifs(parameters) - parameters.slot,
            turnaround: turnaround(config),
            cw_min: edca.cw_min,
            cw_max: edca.cw_max,
            rules: config.rules,
            ended: 1,
        };
        Self::new(timing, category, edca.txop_limit, config)
    }

    fn new(timing: Timing, category: AccessCategory, txop_limit: Duration, config: &Config) -> Self {
        let queue =
            InterfaceQueue::new(config.queue_discipline, config.queue_packets).with_driver(config.driver_packets);
        let standard = config.phy.standard();
        Self {
            backoff: Backoff::new(timing),
            current: None,
            following: None,
            queue,
            category,
            txop_limit,
            ahead: None,
            originator: config.aggregation.map(|limits| Box::new(Originator::new(limits, standard))),
        }
    }

    /// The frame in hand.
    #[inline]
    pub(super) fn current(&self) -> Option<&OutgoingMpdu<P>> {
        self.current.as_ref()
    }

    /// The frame in hand.
    #[inline]
    pub(super) fn current_mut(&mut self) -> Option<&mut OutgoingMpdu<P>> {
        self.current.as_mut()
    }

    /// Takes a frame in hand, or none.
    #[inline]
    pub(super) fn set_current(&mut self, outgoing: Option<OutgoingMpdu<P>>) {
        self.backoff.pending = outgoing.is_some();
        self.current = outgoing;
    }

    /// Lets the frame in hand go.
    #[inline]
    pub(super) fn take_current(&mut self) -> Option<OutgoingMpdu<P>> {
        self.backoff.pending = false;
        self.current.take()
    }

    /// Takes a packet behind those that wait; what the queue drops for it is put out.
    #[inline]
    pub(super) fn push(&mut self, receiver: Option<StationId>, payload: P, now: Instant, outputs: &mut Outputs<P>) {
        if payload.is_management() {
            self.ahead.get_or_insert_default().0.push_back((receiver, payload));
            return;
        }
        self.queue.push((receiver, payload), now, |(receiver, payload), reason| {
            outputs.push(Output::Dropped(payload, reason.into(), receiver));
        });
    }

    /// The management frame that goes before all that waits.
    #[inline]
    pub(super) fn pop_ahead(&mut self) -> Option<(Option<StationId>, P)> {
        self.ahead.as_mut().and_then(|ahead| ahead.0.pop_front())
    }

    /// The next packet of the queue; what the queue drops for it is put out.
    #[inline]
    pub(super) fn pop(&mut self, now: Instant, outputs: &mut Outputs<P>) -> Option<(Option<StationId>, P)> {
        self.queue.pop(now, |(receiver, payload), reason| {
            outputs.push(Output::Dropped(payload, reason.into(), receiver));
        })
    }

    /// Slots and interframe spaces change now, by the end of a slot that has begun.
    pub(super) fn set_slot(&mut self, config: &Config, now: Instant) {
        let parameters = config.phy.parameters();
        let ifs = match &config.edca {
            Some(edca) => edca[self.category as usize].aifs(parameters) - parameters.slot,
            None => config.phy.difs(),
        };
        self.backoff.set_slot(parameters.slot, ifs, now);
    }

    /// Whether it gains access now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.backoff.pending && self.backoff.access_at().is_some_and(|at| at <= now)
    }

    /// Whether it gains access now for a frame whose time is over.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        self.is_due(now) && self.current.as_ref().is_some_and(|outgoing| outgoing.is_expired(now))
    }

    /// When it gains access, if nothing comes in between.
    pub(super) fn access_at(&self) -> Option<Instant> {
        if self.backoff.pending { self.backoff.access_at() } else { None }
    }

    /// All packets that it holds: the one in hand, then those after it.
    pub(super) fn held(&self) -> impl Iterator<Item = &P> {
        let ahead = self.ahead.iter().flat_map(|ahead| &ahead.0);
        let waiting = ahead.chain(self.queue.iter()).map(|(_, payload)| payload);
        let outstanding = self.originator.iter().flat_map(|originator| originator.held());
        let current = self.current.iter().flat_map(OutgoingMpdu::packets);
        current.chain(outstanding).chain(self.following.iter().map(|outgoing| &outgoing.payload)).chain(waiting)
    }
}

/// The time before a slot boundary from which on a station hears nothing that could stop its access there.
fn turnaround(config: &Config) -> Duration {
    match config.rules {
        AccessRules::Standard => config.phy.parameters().rx_tx_turnaround,
        AccessRules::Ns2 => Duration::ZERO,
    }
}
