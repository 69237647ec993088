//! Error rates of OFDM with low-density parity-check codes: what the best code of their length loses in white noise.
//!
//! The codes have 1944 coded bits for all but short frames (IEEE 802.11-2020, 19.3.11.7.5). A codeword over n subcarriers is lost with
//! a probability of about Q((n·C − B + ½·log₂ n)/√(n·V)), for B data bits, where C and V are mean and variance of the information that
//! a subcarrier gives: Y. Polyanskiy, H. V. Poor and S. Verdú, "Channel coding rate in the finite blocklength regime", IEEE Trans.
//! Information Theory 56(5), 2010, equation 296 (normal approximation). The receiver weighs each bit alone, as bit-interleaved coded
//! modulation does, so the information is the sum over the bits of a subcarrier: A. Martinez and A. Guillén i Fàbregas, "Saddlepoint
//! approximation of random-coding bounds", Information Theory and Applications Workshop, 2011.
//!
//! Limits: real codes and decoders, and training, need 1 to 2 dB more; the codes of 648 and 1296 bits for short frames lose a little
//! earlier.

use crate::phy::{CodeRate, Constellation};
use crate::variate::normal_tail;

/// Coded bits of a codeword.
const CODED: f64 = 1_944.0;

/// Codewords of one constellation and code.
pub(super) struct Codewords {
    /// Coordinates of the constellation along an axis, in roots of a symbol's energy, each with its Gray label.
    axis: Vec<(f64, usize)>,
    /// Axes of a subcarrier that carry bits.
    axes: f64,
    /// Coded bits along an axis.
    bits: usize,
    /// Data bits.
    data: f64,
    /// Ratios of powers below which every codeword is lost, and above which none is.
    limits: (f64, f64),
}

/// A normal deviate whose tail is smaller than what a table can tell from nothing.
const CERTAIN: f64 = 8.2;

impl Codewords {
    pub(super) fn new(constellation: Constellation, code: CodeRate) -> Self {
        let axes = if constellation == Constellation::Bpsk { 1 } else { 2 };
        let bits = (constellation.bits() / axes) as usize;
        let points = 1_usize << bits;
        let coordinates = (0..points).map(|place| 2.0 * place as f64 - (points as f64 - 1.0));
        let energy = f64::from(axes) * coordinates.clone().map(|x| x * x).sum::<f64>() / points as f64;
        let (data, coded) = code.ratio();
        let mut words = Self {
            axis: coordinates.enumerate().map(|(place, x)| (x / libm::sqrt(energy), place ^ (place >> 1))).collect(),
            axes: f64::from(axes),
            bits,
            data: CODED * f64::from(data) / f64::from(coded),
            limits: (0.0, f64::INFINITY),
        };
        words.limits = (words.ratio_for(-CERTAIN), words.ratio_for(CERTAIN));
        words
    }

    /// ln of the probability that a data bit survives, when a subcarrier's symbol has `ratio` times the noise: a codeword survives
    /// with that of all its bits.
    pub(super) fn ln_success(&self, ratio: f64) -> f64 {
        let ratio = ratio.max(self.limits.0);
        if ratio >= self.limits.1 {
            return 0.0;
        }
        // The tail of the other side keeps its digits where nearly all is lost.
        let margin = self.margin(ratio);
        let survives = if margin < 0.0 { libm::log(normal_tail(-margin)) } else { libm::log1p(-normal_tail(margin)) };
        survives / self.data
    }

    /// Information in excess of what is needed, in standard deviations.
    fn margin(&self, ratio: f64) -> f64 {
        let (mean, variance) = self.information(ratio);
        let subcarriers = CODED / (self.axes * self.bits as f64);
        let excess = subcarriers * self.axes * mean - self.data + 0.5 * libm::log2(subcarriers);
        excess / libm::sqrt((subcarriers * self.axes * variance).max(f64::MIN_POSITIVE))
    }

    /// The ratio at which the margin is this; it grows with the ratio.
    fn ratio_for(&self, margin: f64) -> f64 {
        let (mut low, mut high) = (-30.0, 60.0);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if self.margin(libm::exp10(middle / 10.0)) < margin { low = middle } else { high = middle }
        }
        libm::exp10(high / 10.0)
    }

    /// Mean and variance of the information along an axis in bits: of each bit 1 − log₂ of how much more likely the received
    /// coordinate is from any point than from one with that bit.
    fn information(&self, ratio: f64) -> (f64, f64) {
        // Of a symbol's noise energy each axis has half.
        let deviation = libm::sqrt(0.5 / ratio);
        let (mut mean, mut square, mut weights) = (0.0, 0.0, 0.0);
        let mut likelihoods = vec![0.0; self.axis.len()];
        // The other half of the points mirrors the first.
        for (sent, label) in &self.axis[..self.axis.len() / 2] {
            for step in -STEPS..=STEPS {
                let deviate = f64::from(step) * STEP;
                let received = sent + deviate * deviation;
                for (likelihood, (point, _)) in likelihoods.iter_mut().zip(&self.axis) {
                    let off = (received - point) / deviation;
                    *likelihood = libm::exp((deviate * deviate - off * off) / 2.0);
                }
                let of_any: f64 = likelihoods.iter().sum();
                let of_bit = |bit: usize| {
                    let points = likelihoods.iter().zip(&self.axis);
                    let same = points.filter(|(_, (_, other))| (other ^ label) >> bit & 1 == 0);
                    1.0 - libm::log2(of_any / same.map(|(likelihood, _)| likelihood).sum::<f64>())
                };
                let information: f64 = (0..self.bits).map(of_bit).sum();
                let weight = libm::exp(-deviate * deviate / 2.0);
                weights += weight;
                mean += weight * information;
                square += weight * information * information;
            }
        }
        let (mean, square) = (mean / weights, square / weights);
        (mean, square - mean * mean)
    }
}

/// The integral over the noise, in standard deviations: to 6 of them.
const STEP: f64 = 0.25;
const STEPS: i32 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// BPSK at 0 dB for each of its real dimensions: 0.4859 bits, and half a bit at −2.82 dB of a complex symbol (capacity
    /// of binary inputs in Gaussian noise; E. Biglieri, "Coding for Wireless Channels", 2005, chapter 3, has 0.486 and 0.187 dB a bit).
    #[test]
    fn information_is_the_known_capacity() {
        let bpsk = Codewords::new(Constellation::Bpsk, CodeRate::Half);
        assert!((bpsk.information(0.5).0 - 0.4859).abs() < 2e-4, "{:?}", bpsk.information(0.5));
        let half = libm::exp10(0.187 / 10.0) / 2.0;
        assert!((bpsk.information(half).0 - 0.5).abs() < 3e-4, "{:?}", bpsk.information(half));
        let qpsk = Codewords::new(Constellation::Qpsk, CodeRate::Half);
        let (one, two) = (bpsk.information(0.8), qpsk.information(1.6));
        assert!((one.0 - two.0).abs() < 1e-12 && (one.1 - two.1).abs() < 1e-12, "QPSK is two BPSKs");
    }

    /// Of all bits without noise; of none without signal.
    #[test]
    fn information_lies_between_nothing_and_all_bits() {
        for constellation in [Constellation::Bpsk, Constellation::Qam16, Constellation::Qam1024] {
            let words = Codewords::new(constellation, CodeRate::FiveSixths);
            let (nothing, all) = (words.information(1e-4), words.information(1e5));
            assert!(nothing.0 < 1e-3 && nothing.1 < 1e-2, "{constellation:?} {nothing:?}");
            assert!((all.0 - words.bits as f64).abs() < 1e-6 && all.1 < 1e-6, "{constellation:?} {all:?}");
        }
    }

    #[test]
    fn certain_ends_meet_the_middle() {
        let words = Codewords::new(Constellation::Qam1024, CodeRate::ThreeQuarters);
        let (low, high) = words.limits;
        assert!(low < high && high < 4.0 * low, "{low} {high}");
        assert_eq!(words.ln_success(high), 0.0);
        assert!(words.ln_success(low / 2.0) < -30.0 / words.data);
        assert!(words.ln_success(high * 0.999) > -1e-15);
    }
}
