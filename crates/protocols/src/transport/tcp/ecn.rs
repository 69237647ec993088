//! Explicit congestion notification of one end: classic (RFC 3168, section 6.1) or accurate (RFC 9768).

use hopcast_wire::ecn::Ecn;

use super::{Flags, Segment};

/// What one end asks for, or both have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    /// No ECN.
    #[default]
    None,
    /// An echo until the sender says that it has reduced its window (RFC 3168).
    Classic,
    /// A count of marked packets, modulo 8, in each segment (RFC 9768).
    Accurate,
}

/// Counters of marked packets begin here, so that a peer that clears the bits is noticed (RFC 9768, section 3.2.1).
const FIRST_COUNT: u64 = 5;
/// The bits of the ACE field, which has a value from 0 to 7 (section 2.2).
const ACE: [Flags; 3] = [Flags::ECE, Flags::CWR, Flags::AE];

/// What one end knows of ECN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notification {
    wanted: Feedback,
    agreed: Feedback,
    /// A marked segment has arrived, and no segment with CWR since (RFC 3168, section 6.1.3).
    echoes: bool,
    /// The window was reduced, and the peer is to be told with the next new data (section 6.1.2).
    has_reduced: bool,
    /// The window was reduced when this position was the next one: echoes of what was sent before count with that reduction.
    reduced_at: u64,
    /// The field of the IP packet with the peer's SYN, which the answer to it repeats (RFC 9768, section 3.1.2).
    of_syn: Ecn,
    /// The same of the peer's answer to a SYN, until the first segment after it has gone out.
    of_answer: Option<Ecn>,
    /// Marked packets that have arrived (r.cep, section 3.2.1).
    arrived: u64,
    /// Marked packets that the peer has told of (s.cep).
    told: u64,
    /// The field of the IP packet for the segment that came out last.
    field: Ecn,
}

impl Notification {
    pub(super) fn new(wanted: Feedback) -> Self {
        Self {
            wanted,
            agreed: Feedback::None,
            echoes: false,
            has_reduced: false,
            reduced_at: 0,
            of_syn: Ecn::NotEct,
            of_answer: None,
            arrived: FIRST_COUNT,
            told: FIRST_COUNT,
            field: Ecn::NotEct,
        }
    }

    /// The field of the IP packet for the segment that came out last.
    pub(super) fn field(&self) -> Ecn {
        self.field
    }

    /// Whether both sides have agreed to use it.
    pub(super) fn is_agreed(&self) -> bool {
        self.agreed != Feedback::None
    }

    /// Whether both sides have agreed on accurate feedback.
    pub(super) fn is_accurate(&self) -> bool {
        self.agreed == Feedback::Accurate
    }

    /// The peer's SYN, or its SYN and ACK, in a packet with this field (RFC 3168, section 6.1.1; RFC 9768, section 3.1.1, Table 2).
    /// What offers accurate feedback takes the answer to a classic offer as well.
    pub(super) fn on_syn(&mut self, flags: Flags, field: Ecn) {
        let ace = ace_of(flags);
        let answers = flags.contains(Flags::ACK);
        self.agreed = match (self.wanted, answers, ace) {
            (Feedback::Accurate, false, 0b111) | (Feedback::Accurate, true, 0b010 | 0b011 | 0b100 | 0b110) => {
                Feedback::Accurate
            }
            (Feedback::Classic | Feedback::Accurate, false, 0b011 | 0b111)
            | (Feedback::Classic | Feedback::Accurate, true, 0b001 | 0b101) => Feedback::Classic,
            _ => Feedback::None,
        };
        self.of_syn = field;
        self.of_answer = answers.then_some(field);
        // A mark on the answer to a SYN is one to be told of (section 3.2.2.1).
        self.arrived = FIRST_COUNT + u64::from(answers && field == Ecn::Ce);
        self.told = FIRST_COUNT;
    }

    /// An acceptable segment has arrived in a packet with this field.
    pub(super) fn on_arrival(&mut self, segment: &Segment, field: Ecn) {
        match self.agreed {
            Feedback::None => {}
            Feedback::Accurate => self.arrived += u64::from(field == Ecn::Ce),
            Feedback::Classic if segment.payload_len == 0 => {}
            Feedback::Classic => {
                // A mark on the segment with CWR is one after the reduction.
                if segment.flags.contains(Flags::CWR) {
                    self.echoes = false;
                }
                self.echoes |= field == Ecn::Ce;
            }
        }
    }

    /// Whether a segment that arrived tells of a mark, without saying of how many.
    pub(super) fn is_echo(&self, segment: &Segment) -> bool {
        self.agreed == Feedback::Classic && segment.flags.contains(Flags::ECE) && !segment.flags.contains(Flags::SYN)
    }

    /// The segment that ends the handshake. Without data it repeats the field of the answer to the SYN (RFC 9768, Table 3).
    pub(super) fn on_handshake_end(&mut self, segment: &Segment) {
        if self.is_accurate() && segment.payload_len == 0 {
            self.told = FIRST_COUNT + u64::from(ace_of(segment.flags) == ace_of(encoded(Ecn::Ce)));
        }
    }

    /// The packets that an acknowledgement of `segments` new segments tells to be marked; all of them where the count may have gone
    /// round (RFC 9768, section 3.2.2.5, appendix A.2).
    pub(super) fn marked(&mut self, segment: &Segment, segments: u64) -> u64 {
        if !self.is_accurate() || segment.flags.contains(Flags::SYN) {
            return 0;
        }
        let least = (u64::from(ace_of(segment.flags)) + 8 - self.told % 8) % 8;
        let marked = if segments < 8 { least } else { segments - (segments + 8 - least) % 8 };
        self.told += marked;
        marked
    }

    /// An echo acknowledges everything before `ack`, with data sent up to `sent`: whether the window is to be reduced, which
    /// happens once for the data of a window (RFC 3168, section 6.1.2).
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
        self.has_reduced = self.agreed == Feedback::Classic;
    }

    /// The flags of a SYN; `answers`: of a SYN and ACK.
    pub(super) fn syn_flags(&mut self, answers: bool) -> Flags {
        match (answers, self.wanted, self.agreed) {
            (false, Feedback::Accurate, _) => Flags::AE | Flags::ECE | Flags::CWR,
            (false, Feedback::Classic, _) => Flags::ECE | Flags::CWR,
            (true, _, Feedback::Accurate) => encoded(self.of_syn),
            (true, _, Feedback::Classic) => Flags::ECE,
            _ => Flags::default(),
        }
    }

    /// A segment other than a SYN leaves, with data or without; `is_new`: with data that was never sent before. Returns its flags. Under
    /// classic ECN only new data can be marked: section 6.1.4 excludes acknowledgements, section 6.1.5 retransmissions, and section
    /// 6.1.6 probes of a closed window. L4S leaves out acknowledgements alone, so that all data waits in one queue.
    pub(super) fn depart(&mut self, is_new: bool, has_data: bool) -> Flags {
        let scalable = self.wanted == Feedback::Accurate;
        self.field = match self.agreed {
            Feedback::Accurate if has_data && scalable => Ecn::Ect1,
            Feedback::Classic if is_new => Ecn::Ect0,
            _ => Ecn::NotEct,
        };
        match self.agreed {
            Feedback::None => Flags::default(),
            // The first segment after the answer to a SYN repeats its field, unless it has data.
            Feedback::Accurate => match self.of_answer.take().filter(|_| !has_data) {
                Some(field) => encoded(field),
                None => flags_of((self.arrived % 8) as u16),
            },
            Feedback::Classic => {
                let mut flags = if self.echoes { Flags::ECE } else { Flags::default() };
                if is_new && core::mem::take(&mut self.has_reduced) {
                    flags = flags | Flags::CWR;
                }
                flags
            }
        }
    }

    /// A SYN leaves: queues may not mark it (RFC 3168, section 6.1.1).
    pub(super) fn depart_syn(&mut self) {
        self.field = Ecn::NotEct;
    }
}

/// The field of an IP packet as the handshake tells it (RFC 9768, Tables 2 and 3).
fn encoded(field: Ecn) -> Flags {
    flags_of(match field {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// The value of the ACE field.
fn ace_of(flags: Flags) -> u16 {
    ACE.iter().zip(0..).map(|(bit, place)| u16::from(flags.contains(*bit)) << place).sum()
}

fn flags_of(ace: u16) -> Flags {
    let bits = ACE.iter().zip(0..).filter(|(_, place)| ace >> place & 1 == 1);
    bits.fold(Flags::default(), |flags, (bit, _)| flags | *bit)
}
