//! Forward error correction of the bytes of a frame.

use crate::phy::ReedSolomon;

/// The most errors that any such code corrects, for k = 1.
const MOST: usize = 127;
/// A probability that no run notices: draws have 53 bits.
const NEGLIGIBLE: f64 = 1e-20;

impl ReedSolomon {
    /// The probability that a frame with this many bytes of data is received over pieces with different bit error rates.
    /// A piece has a share of the coded frame, as a length in any unit, and a rate, 0 to 1; a byte across an edge has
    /// bits of both. Parts without a piece are free of errors.
    pub(crate) fn success(self, octets: u32, pieces: impl IntoIterator<Item = (f64, f64)> + Clone) -> f64 {
        let length: f64 = pieces.clone().into_iter().map(|(share, _)| share).sum();
        let total = f64::from(self.coded_octets(octets));
        let mut pieces = pieces.into_iter().map(|(share, rate)| (share / length * total, rate));
        let mut piece = pieces.next();
        let mut success = 1.0;
        let mut left = octets;
        while left > 0 && success > 0.0 {
            let data = left.min(self.data());
            left -= data;
            let mut errors = Errors::none(self.corrects() as usize);
            let mut octets = f64::from(data + self.block() - self.data());
            // Of an octet that lies across edges: how much of it is known, and ln of the probability that that is right.
            let (mut part, mut right) = (0.0, 0.0);
            while octets > 1e-9 {
                let Some((rest, rate)) = &mut piece else { break };
                let here = rest.min(octets);
                let ln_right = 8.0 * libm::log1p(-*rate);
                let mut run = here;
                if part > 0.0 {
                    let filled = run.min(1.0 - part);
                    (part, right, run) = (part + filled, right + filled * ln_right, run - filled);
                    if part > 1.0 - 1e-9 {
                        errors.add(1, -libm::expm1(right));
                        (part, right) = (0.0, 0.0);
                    }
                }
                let whole = libm::floor(run + 1e-9);
                if whole > 0.0 {
                    errors.add(whole as u32, -libm::expm1(ln_right));
                }
                if run - whole > 1e-9 {
                    (part, right) = (run - whole, (run - whole) * ln_right);
                }
                octets -= here;
                *rest -= here;
                if *rest <= 1e-9 {
                    piece = pieces.next();
                }
            }
            if part > 0.0 {
                errors.add(1, -libm::expm1(right));
            }
            success *= errors.at_most();
        }
        success
    }
}

/// The probabilities of 0, 1, … t wrong bytes; more are lost.
struct Errors {
    /// The first `known` of them; what follows is zero.
    chances: [f64; MOST + 1],
    known: usize,
    corrects: usize,
}

impl Errors {
    fn none(corrects: usize) -> Self {
        let mut chances = [0.0; MOST + 1];
        chances[0] = 1.0;
        Self { chances, known: 1, corrects }
    }

    /// Adds this many bytes, each wrong with probability `p`.
    fn add(&mut self, octets: u32, p: f64) {
        if p <= 0.0 {
            return;
        }
        let mut sums = [0.0; MOST + 1];
        let mut known = 0;
        for (wrong, chance) in binomial(octets, p.min(1.0)).take(self.corrects + 1).enumerate() {
            known = (wrong + self.known).min(self.corrects + 1);
            for (sum, before) in sums[wrong..known].iter_mut().zip(&self.chances) {
                *sum += chance * before;
            }
        }
        (self.chances, self.known) = (sums, known);
    }

    fn at_most(&self) -> f64 {
        self.chances[..self.known].iter().sum::<f64>().min(1.0)
    }
}

/// The probabilities of 0, 1, … successes in `n` trials, up to where they are [`NEGLIGIBLE`].
fn binomial(n: u32, p: f64) -> impl Iterator<Item = f64> {
    let (trials, odds) = (f64::from(n), p / (1.0 - p));
    let mut chance = libm::exp(trials * libm::log1p(-p));
    let mean = trials * p;
    (0..=n).map_while(move |successes| {
        let i = f64::from(successes);
        let this = if p < 1.0 { chance } else { f64::from(u8::from(successes == n)) };
        chance *= odds * (trials - i) / (i + 1.0);
        (this > NEGLIGIBLE || i <= mean).then_some(this)
    })
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::random::{Purpose, Stream};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn three_fifths_is_rs_255_153() {
        let code = ReedSolomon::with_rate(0.6);
        assert_eq!((code.block(), code.data(), code.corrects()), (255, 153, 51));
        // RS(255, 223), which space probes use (CCSDS 131.0-B), corrects 16.
        assert_eq!(ReedSolomon::with_rate(223.0 / 255.0).corrects(), 16);
        assert_eq!(ReedSolomon::with_rate(1.0).corrects(), 0);
        assert_eq!(ReedSolomon::with_rate(0.0).data(), 1);
    }

    #[test]
    fn a_frame_grows_by_the_parity_of_each_block() {
        let code = ReedSolomon::with_rate(0.6);
        assert_eq!(code.coded_octets(153), 255);
        // Seven blocks: six whole ones and one of 82 octets.
        assert_eq!(code.coded_octets(1_000), 1_000 + 7 * 102);
        assert_eq!(code.coded_octets(0), 0);
        // Whole blocks: 255/153 of the data.
        assert_eq!(code.coded_octets(15_300), 25_500);
    }

    /// By hand: at a bit error rate of 10⁻² a byte is wrong with 1 − 0.99⁸ = 0.07726, 19.70 of 255 with a deviation of
    /// 4.26, so t = 51 is 7.3 deviations away. The tail from its first two terms: C(255,52)·p⁵²·q²⁰³ = 1.9e-10 (logarithms of
    /// factorials), the next 0.327 of it.
    #[test]
    fn rs_255_153_makes_a_bad_channel_good() {
        let code = ReedSolomon::with_rate(0.6);
        let lost = 1.0 - code.success(153, [(1.0, 1e-2)]);
        let (p, ln) = (1.0 - libm::pow(0.99, 8.0), |n: f64| libm::lgamma(n + 1.0));
        let term =
            |i: f64| libm::exp(ln(255.0) - ln(i) - ln(255.0 - i) + i * libm::log(p) + (255.0 - i) * libm::log1p(-p));
        let expected: f64 = (52..256).map(|i| term(f64::from(i))).sum();
        assert!((lost / expected - 1.0).abs() < 1e-3, "{lost} for {expected}");
        assert!(lost < 1e-8, "{lost}");
    }

    #[test]
    fn without_parity_every_bit_counts() {
        let code = ReedSolomon::with_rate(1.0);
        let expected = libm::pow(1.0 - 1e-4, 8_000.0);
        assert!((code.success(1_000, [(1.0, 1e-4)]) / expected - 1.0).abs() < 1e-9);
        let halves = libm::pow(1.0 - 1e-4, 2_000.0) * libm::pow(1.0 - 1e-5, 6_000.0);
        assert!((code.success(1_000, [(1.0, 1e-4), (3.0, 1e-5)]) / halves - 1.0).abs() < 1e-9);
    }

    /// Bits drawn one by one, with an edge in the middle of a byte of the second block.
    #[test]
    fn pieces_are_as_good_as_bits_thrown_one_by_one() {
        let code = ReedSolomon::with_rate(0.9);
        assert_eq!((code.data(), code.corrects()), (230, 12));
        let (octets, coded) = (400, 450);
        let edge = 2_565;
        let rates = [0.004, 0.009];
        let pieces = [(f64::from(edge), rates[0]), (f64::from(8 * coded - edge), rates[1])];
        let expected = code.success(octets, pieces);
        let mut stream = Stream::new(5, Purpose::PacketError, 0, 0);
        let (mut survived, trials) = (0, 20_000);
        for _ in 0..trials {
            let mut wrong = [0; 2];
            for octet in 0..coded {
                let bits = 8 * octet..8 * octet + 8;
                let hit = bits.fold(false, |hit, bit| hit | (stream.unit() < rates[usize::from(bit >= edge)]));
                wrong[usize::from(octet >= 255)] += u32::from(hit);
            }
            survived += u32::from(wrong.iter().all(|&wrong| wrong <= 12));
        }
        let measured = f64::from(survived) / f64::from(trials);
        let spread = 3.5 * libm::sqrt(expected * (1.0 - expected) / f64::from(trials));
        assert!(expected > 0.05 && expected < 0.95, "{expected}");
        assert!((measured - expected).abs() < spread, "{measured} for {expected}");
    }

    proptest! {
        #[test]
        fn cutting_a_piece_in_two_changes_nothing(
            octets in 1u32..2_000, rate in 1e-6f64..0.03, cut in 0.0f64..1.0, code in 0.3f64..1.0,
        ) {
            let code = ReedSolomon::with_rate(code);
            let whole = code.success(octets, [(1.0, rate)]);
            let cut = code.success(octets, [(cut, rate), (1.0 - cut, rate)]);
            prop_assert!((0.0..=1.0).contains(&whole));
            prop_assert!((whole - cut).abs() < 1e-7, "{} and {}", whole, cut);
        }

        #[test]
        fn more_errors_never_help(octets in 1u32..2_000, rate in 0.0f64..0.5, more in 0.0f64..0.5) {
            let code = ReedSolomon::with_rate(0.6);
            let (few, many) = (code.success(octets, [(1.0, rate)]), code.success(octets, [(1.0, rate + more)]));
            prop_assert!(many <= few + 1e-9);
        }
    }
}
