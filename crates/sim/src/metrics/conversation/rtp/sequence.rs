//! Sequence numbers of an RTP source: losses, duplicates and reordering.

/// The sequence numbers of one source (RFC 3550, appendix A.1).
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// The lowest and the highest number so far, extended to 64 bits; `None` before the first packet.
    range: Option<[u64; 2]>,
    /// Whether a number has come, by its remainder; of the last [`REMEMBERED`] numbers up to the highest one.
    came: Vec<bool>,
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

/// Numbers this far ahead are those of a source that has started again (RFC 3550, appendix A.1).
const MAX_DROPOUT: u16 = 3000;
/// Numbers further behind are, too. The RFC proposes 100; packets that a receiver has asked for again (RFC 4585) come later than that.
const MAX_MISORDER: u16 = 1000;
/// Numbers whose arrival is remembered: a power of two, more than [`MAX_MISORDER`].
const REMEMBERED: u64 = 1024;
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
            for skipped in highest + 1..number {
                *self.has_come(skipped) = false;
            }
            *self.has_come(number) = true;
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
        let number = highest - u64::from(behind);
        if std::mem::replace(self.has_come(number), true) {
            self.duplicates += 1;
            return Numbered::Duplicate;
        }
        self.reordered += 1;
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
        self.range = Some([number; 2]);
        self.came.clear();
        self.came.resize(REMEMBERED as usize, false);
        *self.has_come(number) = true;
        self.first(number)
    }

    fn has_come(&mut self, number: u64) -> &mut bool {
        &mut self.came[(number % REMEMBERED) as usize]
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
    }

    #[test]
    fn what_is_sent_again_on_request_is_late_and_no_new_start() {
        let numbers: Vec<u16> = (0..5).chain(200..340).chain(5..200).chain(5..8).collect();
        let summary = after(&numbers);
        let expected =
            SequenceSummary { received_packets: 340, lost_packets: 0, duplicate_packets: 3, reordered_packets: 195 };
        assert_eq!(summary, expected);
        assert_eq!(after(&[2000, 2001, 2002, 2003, 2004, 1004]).reordered_packets, 1);
        assert_eq!(after(&[2000, 2001, 2002, 2003, 2004, 1003]).reordered_packets, 0);
    }

    #[test]
    fn a_number_that_comes_again_after_many_others_has_not_come_before() {
        let numbers: Vec<u16> = (0..10).chain([1500, 1034]).collect();
        assert_eq!(after(&numbers).duplicate_packets, 0);
    }
}
