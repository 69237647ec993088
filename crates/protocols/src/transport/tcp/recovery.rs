//! Which acknowledgements mean a loss: the counting part of fast retransmit and NewReno.

/// Duplicate acknowledgements that reveal a loss (RFC 5681, section 3.2).
const DUPLICATE_THRESHOLD: u32 = 3;
/// Duplicate acknowledgements that each let one new segment out (RFC 3042, section 2).
const LIMITED_TRANSMIT: u32 = 2;

/// The state of loss recovery by duplicate and partial acknowledgements (RFC 6582). It counts in positions of the
/// sequence space and knows no window: that is [congestion control](super::congestion)'s.
#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// The end of what had been sent at the last loss: one more than `recover` of RFC 6582.
    recover: u64,
    duplicates: u32,
    /// Bytes outstanding at the first duplicate, before limited transmit added to them.
    flight: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Fast recovery; whether it has seen a partial acknowledgement.
    Recovering { partial: bool },
}

/// What a duplicate acknowledgement means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicate {
    /// Nothing beyond what [`Recovery::limited_transmit`] allows.
    Counted,
    /// The first unacknowledged segment is lost; this much was outstanding.
    Loss { flight: u32 },
    /// In fast recovery: a segment has left the network.
    Inflate,
}

/// What an acknowledgement of new data means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Outside of recovery.
    Open,
    /// In recovery, up to the next hole; `first` in this recovery.
    Partial { first: bool },
    /// The end of recovery.
    Full,
}

impl Recovery {
    /// A duplicate acknowledgement of `una`, with data sent up to `sent`.
    pub(super) fn on_duplicate_ack(&mut self, una: u64, sent: u64) -> Duplicate {
        if self.phase != Phase::Open {
            return Duplicate::Inflate;
        }
        self.duplicates = self.duplicates.saturating_add(1);
        if self.duplicates == 1 {
            self.flight = saturate(sent - una);
        }
        // RFC 6582, section 3.2, step 1: duplicates of what was sent again after a timeout are no new loss.
        if self.duplicates == DUPLICATE_THRESHOLD && una > self.recover {
            self.recover = sent;
            self.phase = Phase::Recovering { partial: false };
            return Duplicate::Loss { flight: self.flight };
        }
        Duplicate::Counted
    }

    /// An acknowledgement that moved the first unacknowledged position to `una`.
    pub(super) fn on_progress(&mut self, una: u64) -> Progress {
        self.duplicates = 0;
        match &mut self.phase {
            Phase::Open => Progress::Open,
            Phase::Recovering { .. } if una >= self.recover => {
                self.phase = Phase::Open;
                Progress::Full
            }
            Phase::Recovering { partial } => Progress::Partial { first: !core::mem::replace(partial, true) },
        }
    }

    /// The retransmission timer ran out with data sent up to `sent` (RFC 6582, section 3.2, step 4).
    pub(super) fn on_timeout(&mut self, sent: u64) {
        *self = Self { recover: sent, ..Self::default() };
    }

    /// Segments that may be sent beyond the congestion window (RFC 3042).
    pub(super) fn limited_transmit(&self) -> u32 {
        if self.phase == Phase::Open { self.duplicates.min(LIMITED_TRANSMIT) } else { 0 }
    }

    /// Whether fast recovery is under way.
    pub(super) fn is_recovering(&self) -> bool {
        self.phase != Phase::Open
    }
}

/// An amount in flight as congestion control counts it.
pub(super) fn saturate(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
