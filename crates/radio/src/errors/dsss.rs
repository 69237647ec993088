//! Error rates of DBPSK and DQPSK with a Barker code, and of complementary code keying, in white noise.
//!
//! Detection is coherent, with differential decoding after it, as in Intersil's HFA3861 (data sheet, "Tracking": carrier
//! and symbol tracking loops). An error then spoils two symbols' bits, but a frame is lost with the first wrong decision,
//! so its probability is that of coherent detection. Where the phase of the last symbol is the only reference, DBPSK needs
//! 0.8 dB more and DQPSK 2.4 dB more (ns-3 reckons so); cards are better than that, see the test in `curve.rs`.
//!
//! The ratio is that of powers within [`noise_bandwidth`](crate::phy::Framing::noise_bandwidth); a chip's energy over the
//! noise density is 3/2 of it. Symbols are independent.

use crate::phy::BANDWIDTH_IN_CHIP_RATES;
use crate::variate::normal_tail;

/// Chips of the Barker sequence (15.4).
const BARKER_CHIPS: f64 = 11.0;

/// 1 Mb/s. J. G. Proakis, "Digital Communications", 4th edition, equation 5.2-5, for a symbol: P = Q(√(2E/N₀)).
pub(super) fn dbpsk(ratio: f64) -> f64 {
    libm::log1p(-normal_tail(libm::sqrt(2.0 * symbol_energy(ratio))))
}

/// 2 Mb/s, for one of a symbol's two quadratures, each with half its energy: same equation.
pub(super) fn dqpsk(ratio: f64) -> f64 {
    libm::log1p(-normal_tail(libm::sqrt(symbol_energy(ratio))))
}

/// 5.5 Mb/s, one bit of a symbol's four: the union bound over the squared distances of [`CCK4`].
pub(super) fn cck4(ratio: f64) -> f64 {
    0.25 * union_bound(&CCK4, ratio)
}

/// 11 Mb/s, one bit of a symbol's eight: the union bound over the squared distances of [`CCK8`].
pub(super) fn cck8(ratio: f64) -> f64 {
    0.125 * union_bound(&CCK8, ratio)
}

/// Squared distance between code words, in energies of a chip, and how many words are so far from each word: the
/// sixteen of 5.5 Mb/s (16.3.6) are biorthogonal.
const CCK4: [(f64, f64); 2] = [(16.0, 14.0), (32.0, 1.0)];
/// The 256 of 11 Mb/s (16.3.6).
const CCK8: [(f64, f64); 6] = [(8.0, 24.0), (12.0, 16.0), (16.0, 174.0), (20.0, 16.0), (24.0, 24.0), (32.0, 1.0)];

fn symbol_energy(ratio: f64) -> f64 {
    BANDWIDTH_IN_CHIP_RATES * BARKER_CHIPS * ratio
}

/// ln of the probability that a coherent correlator picks the right word; the bound is capped by a random pick.
fn union_bound(distances: &[(f64, f64)], ratio: f64) -> f64 {
    let chip = BANDWIDTH_IN_CHIP_RATES * ratio;
    let words: f64 = distances.iter().map(|&(_, words)| words).sum();
    let bound: f64 =
        distances.iter().map(|&(squared, words)| words * normal_tail(libm::sqrt(0.5 * squared * chip))).sum();
    libm::log1p(-bound.min(words / (words + 1.0)))
}

#[cfg(test)]
mod tests {
    use core::f64::consts::PI;

    use super::*;
    use crate::units::Decibel;

    /// Signal-to-noise ratio of E_b/N₀ in dB at a rate in Mb/s.
    fn ratio(decibels: f64, mbps: f64) -> f64 {
        Decibel(decibels).as_ratio() * mbps / 16.5
    }

    /// Tables of the Q function: BPSK and QPSK have 10⁻⁵ at 9.588 dB a bit, 10⁻³ at 6.790 dB.
    #[test]
    fn psk_errs_as_tabulated() {
        for (decibels, rate) in [(9.588, 1e-5), (6.790, 1e-3)] {
            assert!((-dbpsk(ratio(decibels, 1.0)) / rate - 1.0).abs() < 2e-3);
            assert!((-dqpsk(ratio(decibels, 2.0)) / rate - 1.0).abs() < 2e-3);
        }
    }

    /// Simpson's rule with 64 intervals.
    fn simpson(integrand: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
        let step = (to - from) / 64.0;
        let inner: f64 =
            (1..64).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * integrand(from + f64::from(i) * step)).sum();
        (integrand(from) + inner + integrand(to)) * step / 3.0
    }

    /// The sixteen words of 5.5 Mb/s are a biorthogonal set, whose error has a closed form (Proakis, equation 5.2-34):
    /// P = 1 − ∫ (1 − 2·Q(v + √(2E/N₀)))⁷ φ(v) dv over v > −√(2E/N₀).
    #[test]
    fn cck4_is_biorthogonal_signalling() {
        for decibels in [5.0, 6.0, 7.0, 8.0] {
            let root = libm::sqrt(2.0 * 4.0 * Decibel(decibels).as_ratio());
            let density = |v: f64| libm::exp(-0.5 * v * v) / libm::sqrt(2.0 * PI);
            let wrong = |v: f64| (1.0 - libm::pow(1.0 - 2.0 * normal_tail(v + root), 7.0)) * density(v);
            let expected = (0..64)
                .map(|i| -root + f64::from(i) * (root + 8.0) / 64.0)
                .map(|from| simpson(wrong, from, from + (root + 8.0) / 64.0))
                .sum::<f64>()
                + normal_tail(root);
            let measured = -4.0 * cck4(ratio(decibels, 5.5));
            // A bound: above, and close to it where frames survive.
            assert!((1.0 - 1e-6..1.2).contains(&(measured / expected)), "{decibels} dB: {measured} for {expected}");
        }
    }

    /// The words written down from the standard's formula, c = (e^(j(φ1+φ2+φ3+φ4)), e^(j(φ1+φ3+φ4)), …), in quarter turns.
    #[test]
    fn distances_are_those_of_the_standards_code_words() {
        let word = |p: [u32; 4]| {
            let [a, b, c, d] = p;
            [a + b + c + d, a + c + d, a + b + d, a + d + 2, a + b + c, a + c, a + b + 2, a]
        };
        let squared = |one: [u32; 8], other: [u32; 8]| -> u32 {
            one.iter().zip(other).map(|(x, y)| [0, 2, 4, 2][((4 + x % 4 - y % 4) % 4) as usize]).sum()
        };
        let quarters = |n: u32| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6 & 3];
        let eleven: Vec<[u32; 8]> = (0..256).map(|n| word(quarters(n))).collect();
        // 16.3.6: φ2 = d2·π + π/2, φ3 = 0, φ4 = d3·π.
        let five: Vec<[u32; 8]> = (0..16).map(|n| word([n & 3, (n >> 2 & 1) * 2 + 1, 0, (n >> 3) * 2])).collect();
        for (words, expected) in [(&five, &CCK4[..]), (&eleven, &CCK8[..])] {
            for &one in words {
                let mut counts = [0_u32; 33];
                words.iter().for_each(|&other| counts[squared(one, other) as usize] += 1);
                counts[0] -= 1;
                let found: Vec<(f64, f64)> =
                    (0..33).filter(|&d| counts[d] > 0).map(|d| (d as f64, f64::from(counts[d]))).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
