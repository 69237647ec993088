//! Sequence numbers of an RTP source: losses, duplicates and reordering.

/// The sequence numbers of one source (RFC 3550, appendix A.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The lowest and the highest number so far, extended to 64 bits; `None` before the first packet.
    range: Option<[u64; 2]>,
    /// By distance from the highest number: whether that has come.
    window: u128,
    /// The number that is expected if the source has started again.
    restart: Option<u16>,
    /// Packets that were expected before the last such start.
    expected_before: u64,
    received: u64,
    duplicates: u64,
    reordered: u64,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbered {
    /// One that has not come before, extended to 64 bits.
    First(u64),
    /// The same, the second one after the source has started again.
    Restarted(u64),
    /// One that has come before.
    Duplicate,
    /// One too far from the others: it counts for nothing.
    Invalid,
}

/// Results from sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceSummary {
    /// Packets that arrived, each once.
    pub received_packets: u64,
    /// Packets from the lowest to the highest number that did not arrive (RFC 3550, appendix A.3).
    pub lost_packets: u64,
    /// Further copies of packets that had arrived.
    pub duplicate_packets: u64,
    /// Packets that arrived after one with a higher number.
    pub reordered_packets: u64,
}

/// Numbers further ahead, or further behind, are those of a source that has started again (RFC 3550, appendix A.1).
const MAX_DROPOUT: u16 = 3000;
const MAX_MISORDER: u16 = 100;
/// The first packet has this number beyond 16 bits, so that one with a lower number may come after it.
const FIRST_CYCLE: u64 = 1 << 16;

impl Sequence {
    /// A packet with this number arrived. A source that `is_recognised` may start again; what is said of another one begins with it.
    pub(super) fn handle_received(&mut self, number: u16, is_recognised: bool) -> Numbered {
        let Some([lowest, highest]) = self.range else { return self.begin(number) };
        let ahead = number.wrapping_sub(highest as u16);
        let behind = 0u16.wrapping_sub(ahead);
        if ahead > 0 && ahead < MAX_DROPOUT {
            let number = highest + u64::from(ahead);
            self.window = self.window.checked_shl(u32::from(ahead)).unwrap_or(0) | 1;
            self.range = Some([lowest, number]);
            return self.first(number);
        }
        if behind > MAX_MISORDER {
            if !is_recognised {
                *self = Self::default();
                return self.begin(number);
            }
            if self.restart.replace(number.wrapping_add(1)) != Some(number) {
                return Numbered::Invalid;
            }
            self.expected_before += highest - lowest + 1;
            self.range = None;
            return match self.begin(number) {
                Numbered::First(number) => Numbered::Restarted(number),
                other => other,
            };
        }
        let bit = 1u128 << behind;
        if self.window & bit != 0 {
            self.duplicates += 1;
            return Numbered::Duplicate;
        }
        self.window |= bit;
        self.reordered += 1;
        let number = highest - u64::from(behind);
        self.range = Some([lowest.min(number), highest]);
        self.first(number)
    }

    pub(super) fn summary(&self) -> SequenceSummary {
        let expected = self.expected_before + self.range.map_or(0, |[lowest, highest]| highest - lowest + 1);
        SequenceSummary {
            received_packets: self.received,
            lost_packets: expected - self.received,
            duplicate_packets: self.duplicates,
            reordered_packets: self.reordered,
        }
    }

    fn begin(&mut self, number: u16) -> Numbered {
        let number = FIRST_CYCLE + u64::from(number);
        (self.range, self.window) = (Some([number; 2]), 1);
        self.first(number)
    }

    fn first(&mut self, number: u64) -> Numbered {
        self.restart = None;
        self.received += 1;
        Numbered::First(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(numbers: &[u16]) -> SequenceSummary {
        let mut sequence = Sequence::default();
        for &number in numbers {
            let is_recognised = sequence.received >= 5;
            sequence.handle_received(number, is_recognised);
        }
        sequence.summary()
    }

    #[test]
    fn losses_copies_and_late_packets_are_told_apart_over_the_end_of_16_bits() {
        // 65535 is lost, 1 comes late, 2 comes twice.
        let summary = after(&[65_533, 65_534, 0, 2, 1, 2, 3]);
        let expected =
            SequenceSummary { received_packets: 6, lost_packets: 1, duplicate_packets: 1, reordered_packets: 1 };
        assert_eq!(summary, expected);
        // A packet from before the first one is none that was lost.
        assert_eq!(after(&[0, 65_535]).lost_packets, 0);
    }

    #[test]
    fn a_source_that_starts_anew_has_lost_nothing() {
        let summary = after(&[1, 2, 3, 4, 5, 40_000, 40_001, 40_003]);
        // That of 40000 is known for what it is only with the next one.
        assert_eq!((summary.received_packets, summary.lost_packets), (7, 1));
        // A single stray number changes nothing.
        let summary = after(&[1, 2, 3, 4, 5, 40_000, 6]);
        assert_eq!((summary.received_packets, summary.lost_packets), (6, 0));
        // Before five packets there is no source: the last three have nothing to do with the first.
        assert_eq!(after(&[1, 40_000, 40_001, 40_002]).received_packets, 3);
    }

    #[test]
    fn section_a_1_limits() {
        assert_eq!(after(&[1, 2, 3, 4, 5, 3004]).lost_packets, 2998);
        assert_eq!(after(&[1, 2, 3, 4, 5, 3005]).lost_packets, 0);
        assert_eq!(after(&[200, 201, 202, 203, 204, 104]).reordered_packets, 1);
        assert_eq!(after(&[200, 201, 202, 203, 204, 103]).reordered_packets, 0);
    }
}
