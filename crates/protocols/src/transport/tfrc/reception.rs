//! Which packets arrived, and when the others count as lost (RFC 5348, section 5.1).

use crate::time::{Duration, Instant};

/// How far back packets that come late are told from those that come twice.
const MEMORY: u64 = 1024;

/// Consecutive packets that are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first of them.
    pub first: u64,
    /// The last of them; at least `first`.
    pub last: u64,
    /// The number below `first` that arrived, and when.
    before: (u64, Instant),
    /// The number above `last` that arrived, and when.
    after: (u64, Instant),
}

impl Loss {
    /// How many packets are lost; at least 1.
    pub(crate) fn count(&self) -> u64 {
        self.last - self.first + 1
    }

    /// When the packet `number` of them would have arrived: on the line between those around it (RFC 5348, section 5.2).
    pub(crate) fn arrival(&self, number: u64) -> Instant {
        let ((low, start), (high, end)) = (self.before, self.after);
        let time = u128::from(end.saturating_since(start).as_nanos());
        let part = time * u128::from(number - low) / u128::from(high - low);
        // Part of a time that has 64 bits.
        start + Duration::from_nanos(part as u64)
    }
}

/// How a packet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// With the highest number so far.
    New,
    /// Behind one with a higher number, before it counted as lost.
    Late,
    /// After it had been counted as lost.
    Revived,
    /// A repetition, or too late to tell.
    Stale,
}

/// The record of the numbers that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Reception {
    /// The highest number, and when it arrived.
    highest: Option<(u64, Instant)>,
    /// Missing numbers that may still come, lowest first, each with how many higher ones arrived since. There are never
    /// more than three: what separates two of them counts for the lower one.
    gaps: Vec<(Loss, u32)>,
    /// Whether each of the last 1024 numbers arrived; by number modulo 1024.
    arrived: [u64; (MEMORY / 64) as usize],
    /// What the last arrival showed to be lost.
    lost: Vec<Loss>,
    /// Number of later packets whose arrival makes a packet lost (3, RFC 5348, section 5.1).
    later_packets: u32,
}

impl Reception {
    /// Nothing arrived yet. `later_packets` show that one is lost.
    pub(crate) fn new(later_packets: u32) -> Self {
        let arrived = [0; (MEMORY / 64) as usize];
        Self { highest: None, gaps: Vec::new(), arrived, lost: Vec::new(), later_packets }
    }

    /// The packet `number` arrives. What it shows to be lost is in [`lost`](Self::lost) until the next one.
    ///
    /// `without_data` packets immediately below it carried none (the NDP count of RFC 4340, section 7.7): if they are
    /// missing, nothing is lost with them.
    pub(crate) fn on_packet(&mut self, number: u64, without_data: u64, now: Instant) -> Timing {
        self.lost.clear();
        let Some((highest, at)) = self.highest else {
            self.highest = Some((number, now));
            self.mark(number);
            return Timing::New;
        };
        if number <= highest {
            return self.on_late(number, highest, now);
        }
        for (_, later) in &mut self.gaps {
            *later += 1;
        }
        self.expire();
        // The numbers between are missing: none of them may look like one of 1024 numbers ago that arrived.
        let skipped = (number - highest - 1).min(MEMORY);
        for missing in number - skipped..number {
            self.arrived[word(missing)] &= !bit(missing);
        }
        let last = number - 1 - without_data.min(number - 1 - highest);
        for silent in (last + 1).max(number.saturating_sub(MEMORY))..number {
            self.mark(silent);
        }
        if last > highest {
            let gap = Loss { first: highest + 1, last, before: (highest, at), after: (number, now) };
            self.gaps.push((gap, 1));
            self.expire();
        }
        self.highest = Some((number, now));
        self.mark(number);
        Timing::New
    }

    fn on_late(&mut self, number: u64, highest: u64, now: Instant) -> Timing {
        if highest - number >= MEMORY || self.arrived[word(number)] & bit(number) != 0 {
            return Timing::Stale;
        }
        self.mark(number);
        let mut timing = Timing::Revived;
        let mut upper = None;
        for (nth, (gap, later)) in self.gaps.iter_mut().enumerate() {
            if gap.first > number {
                break;
            }
            let before = *later;
            *later += 1;
            if number <= gap.last {
                timing = Timing::Late;
                if number < gap.last {
                    let rest = Loss { first: number + 1, before: (number, now.min(gap.after.1)), ..*gap };
                    upper = Some((nth + 1, (rest, before)));
                }
                // What is left below; nothing, if `first` is now above `last`.
                gap.last = number.wrapping_sub(1);
                gap.after = (number, now);
            }
        }
        if let Some((at, rest)) = upper {
            self.gaps.insert(at, rest);
        }
        self.gaps.retain(|(gap, _)| gap.last.wrapping_add(1) > gap.first);
        self.expire();
        timing
    }

    /// What the last arrival showed to be lost, lowest first.
    pub(crate) fn lost(&self) -> &[Loss] {
        &self.lost
    }

    /// The highest number that arrived.
    pub(crate) fn highest(&self) -> Option<u64> {
        self.highest.map(|(number, _)| number)
    }

    /// The lowest number that is missing and may still come; the one above the highest if none is.
    pub(crate) fn undecided(&self) -> Option<u64> {
        self.gaps.first().map(|(gap, _)| gap.first).or(self.highest().map(|number| number + 1))
    }

    /// Moves the gaps that no packet will fill any more to what is lost.
    fn expire(&mut self) {
        let (gaps, lost, enough) = (&mut self.gaps, &mut self.lost, self.later_packets);
        gaps.retain(|&(gap, later)| {
            if later >= enough {
                lost.push(gap);
            }
            later < enough
        });
    }

    fn mark(&mut self, number: u64) {
        self.arrived[word(number)] |= bit(number);
    }
}

fn word(number: u64) -> usize {
    (number % MEMORY / 64) as usize
}

fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    /// Packets arrive a millisecond apart; what each one shows to be lost.
    fn lost(numbers: &[u64]) -> Vec<Vec<(u64, u64)>> {
        let mut reception = Reception::new(3);
        numbers
            .iter()
            .enumerate()
            .map(|(nth, &number)| {
                reception.on_packet(number, 0, ms(nth as u64));
                reception.lost().iter().map(|loss| (loss.first, loss.last)).collect()
            })
            .collect()
    }

    #[test]
    fn section_5_1_lost_after_three_higher_numbers() {
        assert_eq!(lost(&[1, 3, 4, 5]), [vec![], vec![], vec![], vec![(2, 2)]]);
        // Two holes, one after the other.
        assert_eq!(lost(&[1, 3, 5, 6, 7])[3..], [vec![(2, 2)], vec![(4, 4)]]);
        // The number 5 is above 4 and below 6 and 7.
        assert_eq!(lost(&[1, 8, 5, 9, 10]), [vec![], vec![], vec![], vec![(2, 4)], vec![(6, 7)]]);
    }

    #[test]
    fn section_5_1_late_by_two_is_not_lost() {
        assert!(lost(&[1, 3, 4, 2, 5, 6, 7]).iter().all(Vec::is_empty));
        assert!(lost(&[1, 4, 3, 2, 5, 6, 7]).iter().all(Vec::is_empty));
    }

    #[test]
    fn late_packets_are_told_from_second_ones() {
        let mut reception = Reception::new(3);
        let mut arrive = |number| reception.on_packet(number, 0, ms(0));
        let timings = [1, 3, 2, 2, 4, 8, 9, 10, 6, 6, 7].map(&mut arrive);
        use Timing::{Late, New, Revived, Stale};
        assert_eq!(timings, [New, New, Late, Stale, New, New, New, New, Revived, Stale, Revived]);
        // Beyond the memory nobody can tell.
        assert_eq!([5000, 5, 4999].map(&mut arrive), [New, Stale, Late]);
    }

    #[test]
    fn section_5_2_the_time_of_a_loss_lies_on_the_line() {
        let mut reception = Reception::new(3);
        for (number, at) in [(10, 100), (15, 200), (16, 210), (17, 220)] {
            reception.on_packet(number, 0, ms(at));
        }
        let [loss] = reception.lost() else { panic!("{:?}", reception.lost()) };
        assert_eq!((loss.first, loss.last, loss.count()), (11, 14, 4));
        assert_eq!([11, 12, 14].map(|number| loss.arrival(number)), [ms(120), ms(140), ms(180)]);
    }

    #[test]
    fn packets_without_data_are_not_missed() {
        let mut reception = Reception::new(3);
        reception.on_packet(1, 0, ms(0));
        reception.on_packet(5, 3, ms(1));
        reception.on_packet(9, 1, ms(1));
        reception.on_packet(10, 0, ms(1));
        reception.on_packet(11, 0, ms(1));
        let [loss] = reception.lost() else { panic!("{:?}", reception.lost()) };
        assert_eq!((loss.first, loss.last), (6, 7));
        // More of them than there are numbers.
        reception.on_packet(13, u64::MAX, ms(2));
        reception.on_packet(u64::MAX >> 16, u64::MAX, ms(3));
        assert_eq!(reception.undecided(), Some((u64::MAX >> 16) + 1));
    }

    proptest! {
        /// Against a model that keeps everything: lost is what is missing when the third higher number arrives.
        #[test]
        fn no_packet_is_lost_twice_or_missed(steps in prop::collection::vec(-6_i64..9, 1..200)) {
            let mut reception = Reception::new(3);
            let (mut arrived, mut lost) = (BTreeSet::from([1000_u64]), BTreeSet::new());
            reception.on_packet(1000, 0, ms(0));
            // How many higher numbers arrived since the number is known to be missing.
            let mut missing = std::collections::BTreeMap::<u64, u32>::new();
            for (nth, step) in steps.into_iter().enumerate() {
                let highest = *arrived.last().unwrap();
                let number = highest.saturating_add_signed(step).max(1001);
                let timing = reception.on_packet(number, 0, ms(nth as u64));
                let expected = if number > highest {
                    Timing::New
                } else if arrived.contains(&number) {
                    Timing::Stale
                } else if lost.contains(&number) {
                    Timing::Revived
                } else {
                    Timing::Late
                };
                prop_assert_eq!(timing, expected);
                let mut now_lost = Vec::new();
                if timing != Timing::Stale {
                    missing.extend((highest + 1..number).map(|missing| (missing, 0)));
                    missing.remove(&number);
                    for (_, later) in missing.range_mut(..number) {
                        *later += 1;
                    }
                    now_lost.extend(missing.iter().filter(|(_, later)| **later >= 3).map(|(&number, _)| number));
                    missing.retain(|_, later| *later < 3);
                    arrived.insert(number);
                }
                let told: Vec<u64> = reception.lost().iter().flat_map(|loss| loss.first..=loss.last).collect();
                prop_assert_eq!(&told, &now_lost);
                lost.extend(told);
                prop_assert!(reception.gaps.len() <= 3);
                let undecided = missing.keys().next().copied().unwrap_or(arrived.last().unwrap() + 1);
                prop_assert_eq!(reception.undecided(), Some(undecided));
            }
        }
    }
}
