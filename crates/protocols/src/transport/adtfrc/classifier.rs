//! Whether a sample is high or low among those before it (section III-C of the paper).

use std::collections::VecDeque;

/// Samples that are looked back on.
const WINDOW: usize = 10_000;
/// Which part of the samples is HIGH, and which LOW: 30 %.
const SHARE: (usize, usize) = (3, 10);
/// Steps between a power of two and the next.
const STEPS: i64 = 64;
/// Values are told apart up to this power of two, in either direction.
const LARGEST: u32 = 40;
/// Levels of one sign: those below 64 one by one, then 64 for each power of two.
const LEVELS: usize = (STEPS * (1 + LARGEST as i64 - STEPS.ilog2() as i64)) as usize;
/// Levels of both signs, and in how many blocks of 64 they are counted.
const BLOCKS: usize = 2 * LEVELS / BLOCK;
const BLOCK: usize = 64;

/// Where a sample stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// At most 30 % of the samples are as high.
    High,
    /// Neither.
    Middle,
    /// At most 30 % of the samples are as low.
    Low,
}

/// The latest 10 000 samples of one metric, by value.
///
/// Values are kept in steps of 1/64, so that a sample costs some two hundred additions of small numbers, however many
/// there are; memory is 30 kB. Values of one step count as equal.
#[derive(Clone)]
pub(crate) struct Classifier {
    /// The level of each sample, the oldest first.
    samples: VecDeque<u16>,
    /// How many of them have each level. Empty before the first sample: a connection that comes to nothing keeps 37 kB less.
    counts: Vec<u16>,
    /// How many have a level of each block. The same.
    blocks: Vec<u32>,
}

impl core::fmt::Debug for Classifier {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Classifier").field("samples", &self.samples.len()).finish_non_exhaustive()
    }
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

impl Classifier {
    /// No sample yet.
    pub(crate) fn new() -> Self {
        Self { samples: VecDeque::new(), counts: Vec::new(), blocks: Vec::new() }
    }

    /// Takes in a sample, and says where it stands among all, itself included.
    pub(crate) fn classify(&mut self, value: i64) -> Class {
        let level = level(value);
        if self.counts.is_empty() {
            self.counts = vec![0; 2 * LEVELS];
            self.blocks = vec![0; BLOCKS];
        }
        if self.samples.len() == WINDOW
            && let Some(oldest) = self.samples.pop_front()
        {
            self.counts[usize::from(oldest)] -= 1;
            self.blocks[usize::from(oldest) / BLOCK] -= 1;
        }
        // A level has 13 bits.
        self.samples.push_back(level as u16);
        self.counts[level] += 1;
        self.blocks[level / BLOCK] += 1;
        let (total, below) = (self.samples.len(), self.below(level));
        let equal = usize::from(self.counts[level]);
        let is_few = |samples: usize| samples * SHARE.1 <= total * SHARE.0;
        if is_few(total - below) {
            Class::High
        } else if is_few(below + equal) {
            Class::Low
        } else {
            Class::Middle
        }
    }

    /// How many samples lie below a level.
    fn below(&self, level: usize) -> usize {
        let block = level / BLOCK;
        let blocks: u32 = self.blocks[..block].iter().sum();
        let rest: u32 = self.counts[block * BLOCK..level].iter().map(|&count| u32::from(count)).sum();
        (blocks + rest) as usize
    }
}

/// The level of a value: monotonic, exact below 64, to 1/64 above.
fn level(value: i64) -> usize {
    let magnitude = value.unsigned_abs().min((1 << LARGEST) - 1) as i64;
    let step = if magnitude < STEPS {
        magnitude
    } else {
        let shift = magnitude.ilog2() - STEPS.ilog2();
        STEPS * i64::from(shift) + (magnitude >> shift)
    } as usize;
    if value < 0 { LEVELS - 1 - step } else { LEVELS + step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn classes(values: &[i64]) -> Vec<Class> {
        let mut classifier = Classifier::new();
        values.iter().map(|&value| classifier.classify(value)).collect()
    }

    #[test]
    fn section_iii_c_high_is_the_top_and_low_the_bottom_of_thirty_per_cent() {
        use Class::{High, Low, Middle};
        // Of ten values three are high: the best, the second and the third.
        let nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let last = |value: i64| *classes(&[&nine[..], &[value]].concat()).last().unwrap();
        // With 8 there are three as high: 8, 8 and 9. With 7, four.
        assert_eq!([10, 9, 8, 7].map(last), [High, High, High, Middle]);
        assert_eq!([0, 1, 2, 3].map(last), [Low, Low, Low, Middle]);
    }

    #[test]
    fn of_samples_that_are_alike_none_is_high_or_low() {
        assert!(classes(&[5; 100]).iter().all(|&class| class == Class::Middle));
        // A rare one is.
        let mut values = [0; 100];
        values[99] = 1;
        assert_eq!(classes(&values)[99], Class::High);
        // A first one is neither, nor the second and third.
        assert_eq!(classes(&[1, 2, 3, 4])[..], [Class::Middle, Class::Middle, Class::Middle, Class::High]);
    }

    #[test]
    fn old_samples_are_forgotten() {
        let mut classifier = Classifier::new();
        (0..WINDOW).for_each(|_| {
            classifier.classify(1000);
        });
        assert_eq!(classifier.classify(2000), Class::High);
        (0..WINDOW).for_each(|_| {
            classifier.classify(3000);
        });
        assert_eq!(classifier.classify(2000), Class::Low);
        assert_eq!(classifier.samples.len(), WINDOW);
        assert_eq!(classifier.counts.iter().map(|&count| usize::from(count)).sum::<usize>(), WINDOW);
    }

    proptest! {
        #[test]
        fn levels_keep_the_order_and_a_sixty_fourth(one in any::<i64>(), other in any::<i64>(), shift in 0_u32..40) {
            let (one, other) = (one >> shift, other >> shift);
            prop_assert!(level(one) < 2 * LEVELS);
            if one <= other {
                prop_assert!(level(one) <= level(other));
            }
            if level(one) == level(other) && one.unsigned_abs() < 1 << LARGEST {
                let gap = one.abs_diff(other) as f64;
                prop_assert!(gap <= one.unsigned_abs() as f64 / 64.0 || other.unsigned_abs() >= 1 << LARGEST);
            }
        }

        /// Against counting, with values that are told apart exactly.
        #[test]
        fn classes_are_those_of_counting(values in prop::collection::vec(-63_i64..64, 1..300)) {
            let seen = classes(&values);
            for (nth, class) in seen.into_iter().enumerate() {
                let so_far = &values[..=nth];
                let value = values[nth];
                let high = so_far.iter().filter(|&&other| other >= value).count() * 10 <= 3 * so_far.len();
                let low = so_far.iter().filter(|&&other| other <= value).count() * 10 <= 3 * so_far.len();
                prop_assert!(!(high && low));
                let expected = if high { Class::High } else if low { Class::Low } else { Class::Middle };
                prop_assert_eq!(class, expected);
            }
        }
    }
}
