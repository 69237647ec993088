//! Explicit congestion notification of one end (RFC 3168, section 6.1).

use hopcast_wire::ecn::Ecn;

use super::{Flags, Segment};

/// What one end knows of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notification {
    /// The user asked for it.
    wanted: bool,
    /// Both sides have agreed to use it.
    agreed: bool,
    /// A marked segment has arrived, and no segment with CWR since (section 6.1.3).
    echoes: bool,
    /// The window was reduced, and the peer is to be told with the next new data (section 6.1.2).
    has_reduced: bool,
    /// The window was reduced when this position was the next one: echoes of what was sent before count with that reduction.
    reduced_at: u64,
    /// The field of the IP packet for the segment that came out last.
    field: Ecn,
}

impl Notification {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// The field of the IP packet for the segment that came out last.
    pub(super) fn field(&self) -> Ecn {
        self.field
    }

    /// Whether both sides have agreed to use it.
    pub(super) fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// The peer's SYN, or its SYN and ACK (section 6.1.1). A peer that offers accurate ECN takes the answer to a classic
    /// offer as one (RFC 9768, section 3.1.1).
    pub(super) fn on_syn(&mut self, flags: Flags) {
        let asks = flags.contains(Flags::ECE);
        let asks_as_first = asks && flags.contains(Flags::CWR);
        self.agreed = self.wanted && if flags.contains(Flags::ACK) { asks && !asks_as_first } else { asks_as_first };
    }

    /// An acceptable segment has arrived in a packet with this field.
    pub(super) fn on_arrival(&mut self, segment: &Segment, field: Ecn) {
        if !self.agreed || segment.payload_len == 0 {
            return;
        }
        // A mark on the segment with CWR is one after the reduction.
        if segment.flags.contains(Flags::CWR) {
            self.echoes = false;
        }
        self.echoes |= field == Ecn::Ce;
    }

    /// Whether a segment that arrived tells of a mark.
    pub(super) fn is_echo(&self, segment: &Segment) -> bool {
        self.agreed && segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN)
    }

    /// An echo acknowledges everything before `ack`, with data sent up to `sent`: whether the window is to be reduced, which
    /// happens once for the data of a window (section 6.1.2).
    pub(super) fn reduces(&mut self, ack: u64, sent: u64) -> bool {
        let is_first = ack > self.reduced_at;
        if is_first {
            self.reduced_at = sent;
            self.has_reduced = true;
        }
        is_first
    }

    /// A loss has reduced the window, with data sent up to `sent`: marks of the same window add nothing (section 6.1.2).
    pub(super) fn on_loss(&mut self, sent: u64) {
        self.reduced_at = sent;
        self.has_reduced = self.agreed;
    }

    /// The flags of a SYN; `answers`: of a SYN and ACK.
    pub(super) fn syn_flags(&mut self, answers: bool) -> Flags {
        match (answers, self.wanted, self.agreed) {
            (false, true, _) => Flags::ECE | Flags::CWR,
            (true, _, true) => Flags::ECE,
            _ => Flags::default(),
        }
    }

    /// A segment leaves; `is_new`: with data that was never sent before. Returns its flags. Only new data is marked: section
    /// 6.1.4 excludes acknowledgements, section 6.1.5 retransmissions, and section 6.1.6 probes of a closed window.
    pub(super) fn depart(&mut self, is_new: bool) -> Flags {
        self.field = if self.agreed && is_new { Ecn::Ect0 } else { Ecn::NotEct };
        let mut flags = Flags::default();
        if self.agreed && self.echoes {
            flags = flags | Flags::ECE;
        }
        if is_new && core::mem::take(&mut self.has_reduced) {
            flags = flags | Flags::CWR;
        }
        flags
    }
}
