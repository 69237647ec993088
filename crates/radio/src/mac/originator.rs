//! The originator's side of block acknowledgment agreements (IEEE 802.11-2020, 10.25.6): the MPDUs that an access function has
//! outstanding with a receiver, and how many of them go into a frame.
//!
//! The MPDU in hand is the first outstanding one; the [`Originator`] has those behind it. An access function serves one receiver and
//! user priority until nothing is outstanding, which keeps the window where the first outstanding MPDU is.

use std::collections::VecDeque;

use hopcast_protocols::time::{Duration, Instant};

use super::access_function::OutgoingMpdu;
use super::edca::UserPriority;
use crate::aggregate::{self, Mpdu, with_msdu, with_subframe};
use crate::frame::{FrameKind, Payload, StationId};
use crate::phy::{Phy, Standard, TxVector};

/// aPPDUMaxTime of HT-mixed, VHT and HE frames (Tables 19-25, 21-29; 27.4.4 of IEEE 802.11ax-2021).
pub(super) const MAX_PPDU: Duration = Duration::from_micros(5_484);

/// What stations aggregate, and how long they try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// Most bytes of an A-MPDU; zero: each MPDU goes alone.
    pub ampdu: u32,
    /// Most bytes of an A-MSDU; zero: each MPDU has one MSDU.
    pub amsdu: u32,
    /// Buffer Size of agreements: MPDUs that may be outstanding, 1 to 256.
    pub window: u32,
    /// An MPDU is given up this time after it was taken from the interface queue (dot11EDCATableMSDULifetime); `None`: never.
    pub lifetime: Option<Duration>,
    /// An MPDU is given up after this number of attempts, of which others in the same frames may have arrived; `None`: never, as
    /// 10.25.6.5 has it.
    pub attempts: Option<u32>,
}

impl Aggregation {
    /// dot11EDCATableMSDULifetime: 500 TU (Annex C).
    pub const DEFAULT_LIFETIME: Duration = Duration::from_micros(500 * 1_024);

    /// The most that stations of a standard may do.
    pub const fn of(standard: Standard) -> Self {
        let (ampdu, window) = match standard {
            Standard::Vht => (1_048_575, 64),
            Standard::He => (6_500_631, 256),
            _ => (65_535, 64),
        };
        Self { ampdu, amsdu: 0, window, lifetime: Some(Self::DEFAULT_LIFETIME), attempts: None }
    }

    /// The longest A-MSDU of a standard (9.4.2.55.2, 9.4.2.157.2): of HT 7935 bytes alone, and 4065 in an A-MPDU, whose MPDUs have no
    /// more than 4095 (10.12.2); of VHT and HE, MPDUs of 11454.
    pub const fn longest_amsdu(standard: Standard, in_ampdu: bool) -> u32 {
        match standard {
            Standard::Ht if in_ampdu => 4_095 - QOS_OVERHEAD_OCTETS,
            Standard::Ht => 7_935,
            _ => 11_454 - QOS_OVERHEAD_OCTETS,
        }
    }
}

/// MAC header of a QoS data frame, and FCS (9.3.2.1).
const QOS_OVERHEAD_OCTETS: u32 = 26 + 4;
/// LLC/SNAP.
const LLC_OCTETS: u32 = 8;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Originator<P> {
    pub(super) limits: Aggregation,
    /// Whether an MPDU that goes alone goes as an A-MPDU of one (9.7.3): under VHT and HE.
    is_always_aggregate: bool,
    /// Outstanding behind that in hand, ascending.
    behind: VecDeque<OutgoingMpdu<P>>,
    /// How many of them are in the present frame.
    taken: usize,
    /// What the recipient has to be told: that MPDUs before its window were given up.
    pub(super) request: Option<Request>,
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
        let is_always_aggregate = standard != Standard::Ht && limits.ampdu > 0;
        Self { limits, is_always_aggregate, behind: VecDeque::new(), taken: 0, request: None }
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

    /// Begins a frame with `head`, which may take `time`.
    pub(super) fn begin(&mut self, head: &OutgoingMpdu<P>, phy: &Phy, time: Duration) -> Room {
        self.taken = 0;
        let most = match self.limits.ampdu {
            0 => 0,
            most => aggregate::octets_within(most, time.min(MAX_PPDU), |octets| phy.airtime(head.rate, octets)),
        };
        Room {
            octets: with_subframe(0, head.octets),
            most,
            last: head.sequence.wrapping_add(self.limits.window - 1),
            mpdus: self.limits.window - 1,
        }
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

impl<P: Payload> OutgoingMpdu<P> {
    /// Its packets.
    pub(super) fn packets(&self) -> impl Iterator<Item = &P> {
        core::iter::once(&self.payload).chain(&self.more)
    }

    /// Its packets.
    pub(super) fn into_packets(self) -> impl Iterator<Item = P> {
        core::iter::once(self.payload).chain(self.more)
    }

    fn on_air(&self) -> Mpdu<P> {
        Mpdu {
            sequence: self.sequence,
            retry: self.unacknowledged > 0,
            octets: self.octets,
            packet: self.payload.clone(),
            more: self.more.clone(),
        }
    }

    /// Carries these packets besides its own.
    pub(super) fn set_more(&mut self, more: Vec<P>) {
        if more.is_empty() {
            return;
        }
        self.more = more.into();
        self.octets = mpdu_with_amsdu_octets(amsdu_octets(self.packets().map(Payload::octets)));
        self.psdu_octets = self.octets;
    }

    /// Whether its lifetime is over, or it has had all of its attempts.
    pub(super) fn is_spent(&self, limits: &Aggregation, now: Instant) -> bool {
        limits.lifetime.is_some_and(|lifetime| self.taken_at + lifetime <= now)
            || limits.attempts.is_some_and(|attempts| self.unacknowledged >= attempts)
    }
}

/// Bytes of an A-MSDU with these packets, each of `octets`.
pub(super) fn amsdu_octets(octets: impl Iterator<Item = u32>) -> u32 {
    octets.fold(0, |before, octets| with_msdu(before, octets + LLC_OCTETS))
}

/// Bytes of an MPDU with an A-MSDU of `amsdu` bytes.
pub(super) const fn mpdu_with_amsdu_octets(amsdu: u32) -> u32 {
    amsdu + QOS_OVERHEAD_OCTETS
}

const _: () = assert!(
    FrameKind::DATA_OVERHEAD_OCTETS + FrameKind::QOS_CONTROL_OCTETS == QOS_OVERHEAD_OCTETS + LLC_OCTETS,
    "an MPDU of one MSDU has the same header"
);
