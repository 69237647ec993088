//! The originator's side of block acknowledgment agreements (IEEE 802.11-2020, 10.25.6): the MPDUs that an access function has
//! outstanding with a receiver, and how many of them go into a frame.
//!
//! The MPDU in hand is the first outstanding one; the [`Originator`] has those behind it. An access function serves one receiver and
//! user priority until nothing is outstanding, which keeps the window where the first outstanding MPDU is.

use std::collections::VecDeque;

use hopcast_protocols::time::Duration;

use super::aggregation::Aggregation;
use super::edca::UserPriority;
use super::outgoing::OutgoingMpdu;
use crate::aggregate::{self, Mpdu, with_subframe};
use crate::frame::{Payload, StationId};
use crate::phy::{Phy, Standard, TxVector};

/// aPPDUMaxTime of HT-mixed, VHT and HE frames (Tables 19-25, 21-29; 27.4.4 of IEEE 802.11ax-2021).
pub(super) const MAX_PPDU: Duration = Duration::from_micros(5_484);

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Originator<P> {
    /// Of the frame that is being filled: those of the agreements with its receiver.
    pub(super) limits: Aggregation,
    /// Whether an MPDU that goes alone goes as an A-MPDU of one (9.7.3): under VHT and HE.
    pub(super) is_always_aggregate: bool,
    /// Outstanding behind that in hand, ascending.
    behind: VecDeque<OutgoingMpdu<P>>,
    /// How many of them are in the present frame.
    taken: usize,
    longest: Longest,
    /// What the recipient has to be told: that MPDUs before its window were given up.
    pub(super) request: Option<Request>,
}

/// The most bytes of a PSDU: as last computed, since consecutive frames mostly ask the same.
#[derive(Clone, Copy, Debug)]
struct Longest {
    rate: TxVector,
    /// Bytes and time that limit it.
    ampdu: u32,
    time: Duration,
    octets: u32,
}

/// A request for a block acknowledgment that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) receiver: StationId,
    pub(super) priority: UserPriority,
    /// One beyond the last MPDU that was given up.
    pub(super) start: u32,
    /// As of the data.
    pub(super) rate: TxVector,
    /// Attempts that were not answered.
    pub(super) unanswered: u32,
}

/// Room for MPDUs in a frame that is being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Bytes of the PSDU so far, and at most.
    octets: u32,
    most: u32,
    /// The last number that the window admits.
    last: u32,
    /// MPDUs that may still be added.
    mpdus: u32,
}

impl Room {
    /// Bytes that the next MPDU may have.
    pub(super) fn next(&self) -> u32 {
        if self.mpdus == 0 {
            return 0;
        }
        self.most.saturating_sub(with_subframe(self.octets, 0))
    }

    fn add(&mut self, octets: u32) {
        self.octets = with_subframe(self.octets, octets);
        self.mpdus -= 1;
    }

    /// Whether the window admits an MPDU with this number.
    pub(super) fn admits(&self, sequence: u32) -> bool {
        self.last.wrapping_sub(sequence) as i32 >= 0
    }
}

impl<P: Payload> Originator<P> {
    pub(super) fn new(limits: Aggregation, standard: Standard) -> Self {
        let is_always_aggregate = Self::is_always_aggregate(&limits, standard);
        let longest = Longest { rate: TxVector::new(standard, 0), ampdu: 0, time: Duration::ZERO, octets: 0 };
        Self { limits, is_always_aggregate, behind: VecDeque::new(), taken: 0, longest, request: None }
    }

    /// Whether an MPDU that goes alone goes as an A-MPDU of one, to stations of a standard.
    pub(super) fn is_always_aggregate(limits: &Aggregation, standard: Standard) -> bool {
        standard != Standard::Ht && limits.ampdu > 0
    }

    /// MPDUs behind that in hand.
    pub(super) fn len(&self) -> usize {
        self.behind.len()
    }

    /// MPDUs in the present frame.
    pub(super) fn in_flight(&self) -> usize {
        1 + self.taken
    }

    /// The packets behind the MPDU in hand.
    pub(super) fn held(&self) -> impl Iterator<Item = &P> {
        self.behind.iter().flat_map(OutgoingMpdu::packets)
    }

    /// Takes out the MPDUs for `receiver` that are not on the air.
    pub(super) fn purge(&mut self, receiver: StationId) -> impl Iterator<Item = P> {
        let waiting = self.behind.split_off(self.taken);
        let (purged, kept): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|mpdu| mpdu.receiver == Some(receiver));
        self.behind.extend(kept);
        purged.into_iter().flat_map(OutgoingMpdu::into_packets)
    }

    /// The MPDU that takes the place of the one in hand, which is done.
    pub(super) fn pop(&mut self) -> Option<OutgoingMpdu<P>> {
        self.taken = 0;
        self.behind.pop_front()
    }

    /// The frame with the MPDU in hand is over: all of its MPDUs were not acknowledged, or none was on the air.
    pub(super) fn end_frame(&mut self, was_sent: bool) {
        for mpdu in self.behind.iter_mut().take(self.taken) {
            mpdu.unacknowledged += u32::from(was_sent);
        }
        self.taken = 0;
    }

    /// The agreement has ended: what is outstanding goes one MPDU at a time, outside of it.
    pub(super) fn leave_agreement(&mut self) {
        let is_always_aggregate = self.is_always_aggregate;
        self.taken = 0;
        self.behind.iter_mut().for_each(|mpdu| mpdu.leave_agreement(is_always_aggregate));
    }

    /// Begins a frame with `head`, which may take `time`.
    pub(super) fn begin(&mut self, head: &OutgoingMpdu<P>, phy: &Phy, time: Duration) -> Room {
        self.taken = 0;
        Room {
            octets: with_subframe(0, head.octets),
            most: self.longest(head.rate, time.min(MAX_PPDU), phy),
            last: head.sequence.wrapping_add(self.limits.window - 1),
            mpdus: self.limits.window - 1,
        }
    }

    /// The most bytes of a PSDU at `rate` that take no longer than `time`.
    fn longest(&mut self, rate: TxVector, time: Duration, phy: &Phy) -> u32 {
        let ampdu = self.limits.ampdu;
        let known = self.longest;
        if (known.rate, known.ampdu, known.time) != (rate, ampdu, time) {
            let octets = match ampdu {
                0 => 0,
                most => aggregate::octets_within(most, time, |octets| phy.airtime(rate, octets)),
            };
            self.longest = Longest { rate, ampdu, time, octets };
        }
        self.longest.octets
    }

    /// Whether MPDUs wait behind the one in hand.
    pub(super) fn has_outstanding(&self) -> bool {
        !self.behind.is_empty()
    }

    /// Adds what is outstanding already. Returns whether all of it has found room, so that more may follow.
    pub(super) fn add_outstanding(&mut self, room: &mut Room) -> bool {
        while let Some(mpdu) = self.behind.get(self.taken) {
            if mpdu.octets > room.next() || !room.admits(mpdu.sequence) {
                return false;
            }
            room.add(mpdu.octets);
            self.taken += 1;
        }
        true
    }

    /// Adds a new MPDU behind the others, for which there is room.
    pub(super) fn add(&mut self, mpdu: OutgoingMpdu<P>, room: &mut Room) {
        room.add(mpdu.octets);
        self.taken += 1;
        self.behind.push_back(mpdu);
    }

    /// Bytes of the PSDU that has been filled, whose first MPDU is `head`.
    pub(super) fn psdu_octets(&self, head: &OutgoingMpdu<P>, room: &Room) -> u32 {
        if self.taken > 0 || self.is_always_aggregate { room.octets } else { head.octets }
    }

    /// The MPDUs of the present frame, as they go over the air.
    pub(super) fn on_air(&self, head: &OutgoingMpdu<P>) -> Box<[Mpdu<P>]> {
        core::iter::once(head).chain(self.behind.iter().take(self.taken)).map(OutgoingMpdu::on_air).collect()
    }

    /// Hands `done` those of the outstanding MPDUs, `head` first, that are acknowledged; the others wait behind none. If the frame with
    /// `head` `was_sent`, only what went in it is concerned, and what is not acknowledged has failed once more. Returns the number of
    /// acknowledged ones.
    pub(super) fn settle(
        &mut self,
        head: Option<OutgoingMpdu<P>>,
        was_sent: bool,
        is_acknowledged: impl Fn(u32) -> bool,
        mut done: impl FnMut(OutgoingMpdu<P>),
    ) -> usize {
        let reached = if was_sent { usize::from(head.is_some()) + self.taken } else { usize::MAX };
        if let Some(head) = head {
            self.behind.push_front(head);
        }
        self.taken = 0;
        let mut acknowledged = 0;
        let all = self.behind.len();
        for place in 0..all {
            // One after the other to the end: what is kept stays in order.
            let Some(mut mpdu) = self.behind.pop_front() else { break };
            if place < reached && is_acknowledged(mpdu.sequence) {
                acknowledged += 1;
                done(mpdu);
            } else {
                mpdu.unacknowledged += u32::from(was_sent && place < reached);
                self.behind.push_back(mpdu);
            }
        }
        acknowledged
    }
}
