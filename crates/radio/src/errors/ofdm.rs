//! Error rates of OFDM: Gray-coded constellations with the convolutional code of 17.3.5.6, with soft decisions, in white
//! noise.
//!
//! A frame's first error begins at a bit with a probability of at most P_u = Σ a_d·P_d, where a_d is the number of paths
//! of weight d that leave the right one there, and P_d the probability that one of them looks better; a frame of L bits
//! survives with at least (1 − P_u)^L: M. B. Pursley and D. J. Taipale, "Error probabilities for spread-spectrum packet
//! radio with convolutional codes and Viterbi decoding", IEEE Trans. Communications 35(1), 1987.
//!
//! P_d is that of bit-interleaved coded modulation in the expurgated form of G. Caire, G. Taricco and E. Biglieri,
//! "Bit-interleaved coded modulation", IEEE Trans. Information Theory 44(3), 1998, section IV: each of the d bits stands
//! for a random place in the constellation, at its distance from the nearest point whose bit is the other one. For more
//! than four points it is a very good approximation, no strict bound (V. Sethuraman and B. Hajek, "Comments on
//! 'Bit-interleaved coded modulation'", same journal 52(4), 2006).
//!
//! The receiver knows the channel exactly; with real training it loses about a decibel.

use crate::phy::{CodeRate, Constellation};
use crate::variate::normal_tail;

impl Constellation {
    /// Energy of half the least distance, in energies of a symbol (17.3.5.8: K_MOD squared).
    fn half_distance_energy(self) -> f64 {
        match self {
            Self::Bpsk => 1.0,
            Self::Qpsk => 1.0 / 2.0,
            Self::Qam16 => 1.0 / 10.0,
            Self::Qam64 => 1.0 / 42.0,
            Self::Qam256 => 1.0 / 170.0,
            Self::Qam1024 => 1.0 / 682.0,
        }
    }

    /// Squared distance of a point from the nearest one with the other bit, in squares of the least distance, and the share
    /// of points and bits that have it.
    fn distances(self) -> &'static [(usize, f64)] {
        match self {
            Self::Bpsk | Self::Qpsk => &[(1, 1.0)],
            Self::Qam16 => &[(1, 3.0 / 4.0), (4, 1.0 / 4.0)],
            Self::Qam64 => &[(1, 7.0 / 12.0), (4, 3.0 / 12.0), (9, 1.0 / 12.0), (16, 1.0 / 12.0)],
            Self::Qam256 => &QAM_256,
            Self::Qam1024 => &QAM_1024,
        }
    }
}

impl CodeRate {
    /// The least weight, and the number of paths of it and of each weight above, over all phases of the puncturing.
    ///
    /// Of the code of constraint length 7 with generators 133 and 171 (octal). J. Conan, "The weight spectra of some short
    /// low-rate convolutional codes", IEEE Trans. Communications 32(9), 1984, for 1/2; D. Haccoun and G. Bégin, "High-rate
    /// punctured convolutional codes for Viterbi and sequential decoding", same journal 37(11), 1989, for the punctured
    /// ones, who count by blocks of two or three bits, so that a path that touches the right one within a block is
    /// theirs and not ours: ten more at weight 10 of rate 3/4.
    fn spectrum(self) -> (usize, &'static [f64]) {
        match self {
            Self::Half => (10, &HALF),
            Self::TwoThirds => (6, &TWO_THIRDS),
            Self::ThreeQuarters => (5, &THREE_QUARTERS),
            Self::FiveSixths => (4, &FIVE_SIXTHS),
        }
    }

    /// Data bits of a period of the puncturing.
    fn period(self) -> f64 {
        f64::from(self.ratio().0)
    }
}

const QAM_256: [(usize, f64); 8] = [
    (1, 15.0 / 32.0),
    (4, 7.0 / 32.0),
    (9, 3.0 / 32.0),
    (16, 3.0 / 32.0),
    (25, 1.0 / 32.0),
    (36, 1.0 / 32.0),
    (49, 1.0 / 32.0),
    (64, 1.0 / 32.0),
];
const QAM_1024: [(usize, f64); 16] = [
    (1, 31.0 / 80.0),
    (4, 15.0 / 80.0),
    (9, 7.0 / 80.0),
    (16, 7.0 / 80.0),
    (25, 3.0 / 80.0),
    (36, 3.0 / 80.0),
    (49, 3.0 / 80.0),
    (64, 3.0 / 80.0),
    (81, 1.0 / 80.0),
    (100, 1.0 / 80.0),
    (121, 1.0 / 80.0),
    (144, 1.0 / 80.0),
    (169, 1.0 / 80.0),
    (196, 1.0 / 80.0),
    (225, 1.0 / 80.0),
    (256, 1.0 / 80.0),
];

/// Odd weights don't occur.
const HALF: [f64; 17] = [
    11.0,
    0.0,
    38.0,
    0.0,
    193.0,
    0.0,
    1_331.0,
    0.0,
    7_275.0,
    0.0,
    40_406.0,
    0.0,
    234_969.0,
    0.0,
    1_337_714.0,
    0.0,
    7_594_819.0,
];
const TWO_THIRDS: [f64; 11] =
    [1.0, 16.0, 48.0, 158.0, 642.0, 2_435.0, 9_174.0, 34_701.0, 131_533.0, 499_312.0, 1_891_754.0];
const THREE_QUARTERS: [f64; 10] =
    [8.0, 31.0, 160.0, 892.0, 4_512.0, 23_297.0, 120_976.0, 624_304.0, 3_229_885.0, 16_721_329.0];

const FIVE_SIXTHS: [f64; 9] =
    [14.0, 69.0, 654.0, 4_996.0, 39_677.0, 314_973.0, 2_503_576.0, 19_875_546.0, 157_824_160.0];

/// Paths a bit by the square of their distance.
pub(super) struct Weights {
    /// At index s: paths whose squared distance is s squares of the least one.
    paths: Vec<f64>,
    half_distance_energy: f64,
}

impl Weights {
    pub(super) fn new(constellation: Constellation, code: CodeRate) -> Self {
        let distances = constellation.distances();
        let (least, spectrum) = code.spectrum();
        let mut paths = Vec::new();
        // The distribution of the sum of the squares over d bits.
        let mut sums = vec![1.0];
        for weight in 1..least + spectrum.len() {
            let widest = distances.iter().map(|&(squared, _)| squared).max().unwrap_or(0);
            let mut next = vec![0.0; sums.len() + widest];
            for (sum, share) in sums.iter().enumerate() {
                for (squared, part) in distances {
                    next[sum + squared] += share * part;
                }
            }
            sums = next;
            if weight >= least {
                paths.resize(sums.len(), 0.0);
                for (total, share) in paths.iter_mut().zip(&sums) {
                    *total += spectrum[weight - least] / code.period() * share;
                }
            }
        }
        Self { paths, half_distance_energy: constellation.half_distance_energy() }
    }

    /// ln of the probability that no error begins at a bit, when a subcarrier's symbol has `ratio` times the noise. Capped
    /// by the toss of a coin.
    pub(super) fn ln_success(&self, ratio: f64) -> f64 {
        let mut begins = 0.0;
        for (squared, &paths) in self.paths.iter().enumerate() {
            if paths > 0.0 {
                let likely = paths * normal_tail(libm::sqrt(2.0 * squared as f64 * self.half_distance_energy * ratio));
                begins += likely;
                if begins > 0.5 || likely < 1e-30 {
                    break;
                }
            }
        }
        libm::log1p(-begins.min(0.5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every path that leaves the all-zero one and comes back, by weight, found by walking the encoder of 17.3.5.6 with the
    /// puncturing of 17.3.5.7 from each phase.
    fn walk(kept: &[[u32; 2]], most: usize) -> Vec<f64> {
        let parity = |register: usize| register.count_ones() & 1;
        let branch = |state: usize, bit: usize, phase: usize| {
            let register = bit << 6 | state;
            let weight = parity(register & 0o133) * kept[phase][0] + parity(register & 0o171) * kept[phase][1];
            (register >> 1, weight as usize)
        };
        let mut found = vec![0.0; most + 1];
        for start in 0..kept.len() {
            let mut paths = vec![vec![0.0; most + 1]; 64];
            let (state, weight) = branch(0, 1, start);
            paths[state][weight] = 1.0;
            let mut phase = start;
            while paths.iter().flatten().any(|&n| n > 0.0) {
                phase = (phase + 1) % kept.len();
                let mut next = vec![vec![0.0; most + 1]; 64];
                for (state, by_weight) in paths.iter().enumerate() {
                    for (weight, &n) in by_weight.iter().enumerate().filter(|&(_, &n)| n > 0.0) {
                        for bit in 0..2 {
                            let (to, more) = branch(state, bit, phase);
                            if weight + more > most {
                                continue;
                            }
                            let total = if to == 0 { &mut found } else { &mut next[to] };
                            total[weight + more] += n;
                        }
                    }
                }
                paths = next;
            }
        }
        found
    }

    #[test]
    fn spectra_are_those_of_the_standards_code() {
        for (code, kept) in [
            (CodeRate::Half, &[[1, 1]][..]),
            (CodeRate::TwoThirds, &[[1, 1], [1, 0]]),
            (CodeRate::ThreeQuarters, &[[1, 1], [1, 0], [0, 1]]),
            (CodeRate::FiveSixths, &[[1, 1], [1, 0], [0, 1], [1, 0], [0, 1]]),
        ] {
            let (least, spectrum) = code.spectrum();
            let found = walk(kept, least + spectrum.len() - 1);
            assert!(found[..least].iter().all(|&n| n == 0.0));
            assert_eq!(&found[least..], spectrum, "{code:?}");
        }
    }

    /// The reflected code, which the larger constellations have along each axis (21.3.10.9, 27.3.12.9).
    fn gray<const N: usize>() -> [u32; N] {
        core::array::from_fn(|place| place as u32 ^ (place as u32 >> 1))
    }

    /// Gray labels along one axis (tables of 17.3.5.8), each bit at each point.
    #[test]
    fn distances_are_those_of_the_standards_constellations() {
        for (constellation, labels) in [
            (Constellation::Bpsk, &[0_u32, 1][..]),
            (Constellation::Qam16, &[0b00, 0b01, 0b11, 0b10]),
            (Constellation::Qam64, &[0b000, 0b001, 0b011, 0b010, 0b110, 0b111, 0b101, 0b100]),
            (Constellation::Qam256, &gray::<16>()),
            (Constellation::Qam1024, &gray::<32>()),
        ] {
            let bits = labels.len().trailing_zeros();
            let mut found = [0.0; 257];
            for (at, label) in labels.iter().enumerate() {
                for bit in 0..bits {
                    let other = |&i: &usize| (labels[i] ^ label) >> bit & 1 == 1;
                    let nearest =
                        (0..labels.len()).filter(other).map(|i| i.abs_diff(at)).min().expect("both values occur");
                    found[nearest * nearest] += 1.0 / (labels.len() as f64 * f64::from(bits));
                }
            }
            for (squared, share) in constellation.distances() {
                assert!((found[*squared] - share).abs() < 1e-12, "{constellation:?} {squared}");
                found[*squared] = 0.0;
            }
            assert!(found.iter().all(|&share| share == 0.0), "{constellation:?}");
        }
    }

    /// At high ratios one term is left. By hand: 11·Q(√(2·10·4)) = 11·Q(8.944) = 11·1.86e-19 for BPSK of rate 1/2 at 6 dB.
    #[test]
    fn the_free_distance_rules_at_high_ratios() {
        let bpsk = Weights::new(Constellation::Bpsk, CodeRate::Half);
        assert!((-bpsk.ln_success(4.0) / (11.0 * normal_tail(8.944_272)) - 1.0).abs() < 0.01);
        let qpsk = Weights::new(Constellation::Qpsk, CodeRate::Half);
        assert!((bpsk.ln_success(1.3) / qpsk.ln_success(2.6) - 1.0).abs() < 1e-12, "QPSK is two BPSKs");
    }
}
