//! A data or management frame on its way: what it carries, and the attempts at it.

use hopcast_protocols::time::Instant;

use super::DropCause;
use super::aggregation::{Aggregation, QOS_OVERHEAD_OCTETS};
use super::config::Config;
use super::edca::UserPriority;
use crate::aggregate::{Mpdu, with_msdu, with_subframe};
use crate::frame::{FrameKind, Payload, StationId};
use crate::phy::TxVector;

/// LLC/SNAP.
const LLC_OCTETS: u32 = 8;

/// A data or management frame on its way.
#[derive(Clone, Debug)]
pub(super) struct OutgoingMpdu<P> {
    pub(super) receiver: Option<StationId>,
    pub(super) payload: P,
    pub(super) octets: u32,
    /// Packets for which it stands.
    pub(super) packets: u32,
    pub(super) sequence: u32,
    /// Of a QoS frame.
    pub(super) priority: Option<UserPriority>,
    /// Whether it goes over the air as an MPDU in a [`crate::aggregate::Body`]: to a station with which there may be agreements.
    pub(super) is_in_body: bool,
    /// Whether it goes under a block acknowledgment agreement.
    pub(super) is_under_agreement: bool,
    /// Bytes of the frame of the present attempt: its own, or those of an A-MPDU.
    pub(super) psdu_octets: u32,
    /// When it was taken from the interface queue.
    pub(super) taken_at: Instant,
    /// The other packets of its A-MSDU.
    pub(super) more: Box<[P]>,
    /// Of the present attempt.
    pub(super) rate: TxVector,
    /// What rate control has chosen for it; the frame may be narrower.
    pub(super) chosen: TxVector,
    /// Attempts that were not acknowledged.
    pub(super) unacknowledged: u32,
    pub(super) short_retries: u32,
    pub(super) long_retries: u32,
}

impl<P: Payload> OutgoingMpdu<P> {
    /// Bytes of the MPDU that carries `payload`.
    pub(super) fn mpdu_octets(payload: &P, is_qos: bool) -> u32 {
        if payload.is_management() {
            return payload.octets() + FrameKind::MANAGEMENT_OVERHEAD_OCTETS;
        }
        let qos_control = if is_qos { FrameKind::QOS_CONTROL_OCTETS } else { 0 };
        payload.octets() + FrameKind::DATA_OVERHEAD_OCTETS + qos_control
    }

    /// Data or management.
    pub(super) fn kind(&self) -> FrameKind {
        if self.payload.is_management() { FrameKind::Management } else { FrameKind::Data }
    }

    /// Whose rate control has to do with it: not that of a management frame, which goes at the basic rate.
    pub(super) fn rated_receiver(&self) -> Option<StationId> {
        self.receiver.filter(|_| !self.payload.is_management())
    }

    /// Whether its packet is no longer worth sending.
    pub(super) fn is_expired(&self, now: Instant) -> bool {
        self.payload.is_expired(now)
    }

    /// Whether RTS and CTS go before it.
    pub(super) fn is_behind_rts(&self, config: &Config) -> bool {
        self.receiver.is_some()
            && config.acknowledgements
            && (config.rts_threshold.is_some_and(|threshold| self.psdu_octets > threshold)
                || config.rts_duration.is_some_and(|limit| config.phy.airtime(self.rate, self.psdu_octets) > limit)
                || config.is_rts_protected(self.rate))
    }

    /// Whether it stands for several packets: the first of them goes ahead, as an RTS of its length.
    pub(super) fn is_batch(&self) -> bool {
        self.packets > 1
    }

    /// Counts a failed attempt; the reason to give the frame up once that was the last one (10.3.4.4, 10.23.2.12.1).
    pub(super) fn count_failure(&mut self, long: bool, config: &Config) -> Option<DropCause> {
        let (retries, limit, cause) = if long {
            (&mut self.long_retries, config.long_retry_limit, DropCause::LongRetryLimit)
        } else {
            (&mut self.short_retries, config.short_retry_limit, DropCause::ShortRetryLimit)
        };
        *retries += 1;
        (*retries >= limit).then_some(cause)
    }

    /// Its packets.
    pub(super) fn packets(&self) -> impl Iterator<Item = &P> {
        core::iter::once(&self.payload).chain(&self.more)
    }

    /// Its packets.
    pub(super) fn into_packets(self) -> impl Iterator<Item = P> {
        core::iter::once(self.payload).chain(self.more)
    }

    /// As it goes over the air.
    pub(super) fn on_air(&self) -> Mpdu<P> {
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

    /// Goes alone and outside of an agreement from now on; as an A-MPDU of one or not.
    pub(super) fn leave_agreement(&mut self, is_aggregate: bool) {
        self.is_under_agreement = false;
        self.psdu_octets = if is_aggregate { with_subframe(0, self.octets) } else { self.octets };
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
