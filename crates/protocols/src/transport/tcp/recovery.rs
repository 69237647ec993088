//! Which acknowledgements mean a loss, and what a sender does about it until the loss is repaired.

use super::config::LossRecovery;

/// DupThresh: duplicate acknowledgements that reveal a loss (RFC 5681, section 3.2; RFC 6675, section 2).
pub(super) const DUPLICATE_THRESHOLD: u32 = 3;
/// Duplicate acknowledgements that each let one new segment out (RFC 3042, section 2).
const LIMITED_TRANSMIT: u32 = 2;

/// The state of loss recovery by duplicate and partial acknowledgements. It counts in positions of the sequence space. Of
/// the window it knows what duplicates add to it; the rest is [congestion control](super::congestion)'s.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    kind: LossRecovery,
    /// The end of what had been sent at the last loss or timeout: one more than `recover` of RFC 6582 and RecoveryPoint of
    /// RFC 6675.
    recover: u64,
    duplicates: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Fast recovery with the congestion window in bytes, what duplicates add included; whether it has seen a partial
    /// acknowledgement.
    Fast {
        window: u32,
        partial: bool,
    },
    /// Loss recovery of RFC 6675, whose window is that of congestion control.
    Selective,
}

/// What a duplicate acknowledgement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicate {
    /// Nothing beyond what [`Recovery::limited_transmit`] allows.
    Counted,
    /// The first unacknowledged segment is lost.
    Loss,
}

/// What an acknowledgement of new data means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Outside of recovery.
    Open,
    /// In recovery, up to the next hole. Whether that is sent again at once, and the timer restarts.
    Partial { retransmit: bool, restart: bool },
    /// The end of recovery: the window is to be no larger than this many bytes.
    Full { limit: u32 },
}

impl Recovery {
    pub(super) fn new(kind: LossRecovery) -> Self {
        Self { kind, recover: 0, duplicates: 0, phase: Phase::Open }
    }

    /// The peer knows no SACK.
    pub(super) fn forgo_sack(&mut self) {
        if self.kind == LossRecovery::Sack {
            self.kind = LossRecovery::NewReno;
        }
    }

    /// A duplicate acknowledgement of `una`; `is_lost` by what SACK tells.
    pub(super) fn on_duplicate(&mut self, una: u64, is_lost: bool, segment: u32) -> Duplicate {
        match &mut self.phase {
            Phase::Fast { window, .. } => {
                // A segment has left the network (RFC 5681, section 3.2, step 4).
                *window = window.saturating_add(segment);
                return Duplicate::Counted;
            }
            Phase::Selective => return Duplicate::Counted,
            Phase::Open => {}
        }
        self.duplicates = self.duplicates.saturating_add(1);
        let (enough, fresh) = match self.kind {
            // RFC 6675, section 5, steps 1 and 2; after a timeout, section 5.1.
            LossRecovery::Sack => (self.duplicates >= DUPLICATE_THRESHOLD || is_lost, una >= self.recover),
            // RFC 6582, section 3.2, step 1: duplicates of what was sent again are no new loss.
            _ => (self.duplicates == DUPLICATE_THRESHOLD, una > self.recover),
        };
        if enough && fresh { Duplicate::Loss } else { Duplicate::Counted }
    }

    /// Recovery begins, with data sent up to `sent` and a congestion window of `window` bytes, reduced already.
    pub(super) fn start(&mut self, sent: u64, window: u32, segment: u32) {
        // RFC 5681 has no `recover`: each third duplicate is a loss. Only a timeout sets it.
        if self.kind != LossRecovery::Reno {
            self.recover = sent;
        }
        self.phase = match self.kind {
            LossRecovery::Sack => Phase::Selective,
            // The three segments that the duplicates stand for have left (RFC 5681, section 3.2, step 3).
            _ => Phase::Fast {
                window: window.saturating_add(segment.saturating_mul(DUPLICATE_THRESHOLD)),
                partial: false,
            },
        };
    }

    /// An acknowledgement of `acked` bytes that moved the first unacknowledged position to `una`, with data sent up to
    /// `sent`.
    pub(super) fn on_progress(&mut self, acked: u32, una: u64, sent: u64, segment: u32) -> Progress {
        self.duplicates = 0;
        let done = self.kind == LossRecovery::Reno || una >= self.recover;
        match &mut self.phase {
            Phase::Open => Progress::Open,
            Phase::Fast { .. } if done => {
                self.phase = Phase::Open;
                let limit = match self.kind {
                    // RFC 5681, section 3.2, step 6.
                    LossRecovery::Reno => u32::MAX,
                    // Option 1 of RFC 6582, section 3.2, step 3: no burst if little is in flight.
                    _ => saturate(sent - una).max(segment).saturating_add(segment),
                };
                Progress::Full { limit }
            }
            Phase::Fast { window, partial } => {
                // RFC 6582, section 3.2, step 3, partial acknowledgements.
                *window = window.saturating_sub(acked);
                if acked >= segment {
                    *window = window.saturating_add(segment);
                }
                // An acknowledgement may cover more than the inflated window; one segment must always be allowed.
                *window = (*window).max(segment);
                // Impatient (section 4): only the first one restarts the timer.
                Progress::Partial { retransmit: true, restart: !core::mem::replace(partial, true) }
            }
            // RFC 6675, section 5, step A: what is in the network bounds a burst.
            Phase::Selective if done => {
                self.phase = Phase::Open;
                Progress::Full { limit: u32::MAX }
            }
            Phase::Selective => Progress::Partial { retransmit: false, restart: true },
        }
    }

    /// The retransmission timer ran out with data sent up to `sent` (RFC 6582, section 3.2, step 4; RFC 6675, section 5.1).
    pub(super) fn on_timeout(&mut self, sent: u64) {
        *self = Self { recover: sent, ..Self::new(self.kind) };
    }

    /// Segments that may be sent beyond the congestion window (RFC 3042). With SACK, what has left the network makes room.
    pub(super) fn limited_transmit(&self) -> u32 {
        match (self.phase, self.kind) {
            (Phase::Open, LossRecovery::Reno | LossRecovery::NewReno) => self.duplicates.min(LIMITED_TRANSMIT),
            _ => 0,
        }
    }

    /// Whether fast recovery is under way.
    pub(super) fn is_recovering(&self) -> bool {
        self.phase != Phase::Open
    }

    /// While RFC 6675 decides what is sent: RecoveryPoint.
    pub(super) fn selective(&self) -> Option<u64> {
        (self.phase == Phase::Selective).then_some(self.recover)
    }

    /// The congestion window in bytes where fast recovery inflates it.
    pub(super) fn window(&self) -> Option<u32> {
        match self.phase {
            Phase::Fast { window, .. } => Some(window),
            _ => None,
        }
    }
}

/// An amount in flight as congestion control counts it.
pub(super) fn saturate(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
