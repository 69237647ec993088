//! Probability of correct bits, as a table.

use std::sync::{Arc, Mutex, PoisonError};

use super::{dsss, ldpc, ofdm};
use crate::phy::Encoding;

/// Probability that a bit is received, by the ratio of signal to noise and interference.
///
/// The table is made once for each encoding in use, from −21 dB to +39 dB with 64 steps for each doubling, and is linear
/// between them; a look-up needs neither a logarithm nor an exponential. Above the table no bit is lost; below it the
/// probability is that of the lower end. Bits are independent, so a frame whose bits lie over several ratios survives
/// with exp(Σ bits·ln_success).
#[derive(Clone, Debug)]
pub struct SuccessCurve {
    /// ln of the probability, at each step.
    steps: Arc<[f64]>,
}

/// The curves of this process. A curve of LDPC codes takes up to 80 ms to make, and depends on its encoding alone.
static MADE: Mutex<Vec<(Encoding, SuccessCurve)>> = Mutex::new(Vec::new());

impl SuccessCurve {
    /// The curve of an encoding.
    pub fn new(encoding: Encoding) -> Self {
        // A panic leaves the list as it was.
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, curve)) = made.iter().find(|(of, _)| *of == encoding) {
            return curve.clone();
        }
        let curve = Self::make(encoding);
        made.push((encoding, curve.clone()));
        curve
    }

    fn make(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Dbpsk => Self::tabulate(dsss::dbpsk),
            Encoding::Dqpsk => Self::tabulate(dsss::dqpsk),
            Encoding::Cck4 => Self::tabulate(dsss::cck4),
            Encoding::Cck8 => Self::tabulate(dsss::cck8),
            Encoding::Ofdm { constellation, code } => {
                let weights = ofdm::Weights::new(constellation, code);
                Self::tabulate(|ratio| weights.ln_success(ratio))
            }
            Encoding::OfdmLdpc { constellation, code } => {
                let words = ldpc::Codewords::new(constellation, code);
                Self::tabulate(|ratio| words.ln_success(ratio))
            }
        }
    }

    fn tabulate(ln_success: impl Fn(f64) -> f64) -> Self {
        let ratios = (0..=STEPS).map(|step| f64::from_bits(LOWEST.to_bits() + ((step as u64) << STEP_SHIFT)));
        Self { steps: ratios.map(ln_success).collect() }
    }

    /// ln of the probability that a bit is received at a ratio of powers (not dB); 0 where none is lost.
    pub(crate) fn ln_success(&self, ratio: f64) -> f64 {
        // The bits of a positive float grow with it, and linearly so between powers of two.
        let Some(above) = ratio.max(LOWEST).to_bits().checked_sub(LOWEST.to_bits()) else { return self.steps[0] };
        let step = (above >> STEP_SHIFT) as usize;
        match self.steps.get(step..step + 2) {
            Some(&[low, high]) => {
                low + (high - low) * (above & STEP_MASK) as f64 * (1.0 / (1_u64 << STEP_SHIFT) as f64)
            }
            _ => 0.0,
        }
    }

    /// The probability that a frame of `bits` bits is lost at one ratio of powers.
    pub fn frame_error_rate(&self, ratio: f64, bits: f64) -> f64 {
        -libm::expm1(bits * self.ln_success(ratio))
    }

    /// The ratio of powers at which a frame of `bits` bits is lost with probability `rate`, within the table's range.
    pub(crate) fn ratio_for(&self, rate: f64, bits: f64) -> f64 {
        let (mut low, mut high) = (LOWEST, LOWEST * (1_u64 << OCTAVES) as f64);
        for _ in 0..60 {
            let middle = libm::sqrt(low * high);
            if self.frame_error_rate(middle, bits) > rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// 2⁻⁷, −21 dB.
const LOWEST: f64 = 1.0 / 128.0;
const OCTAVES: u32 = 20;
/// 52 bits of fraction, of which six choose the step.
const STEP_SHIFT: u32 = 52 - 6;
const STEP_MASK: u64 = (1 << STEP_SHIFT) - 1;
const STEPS: usize = (OCTAVES as usize) << 6;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::phy::{CodeRate, Constellation, DataRate, Framing, Standard};
    use crate::units::Decibel;

    /// Frames of 802.11g at this rate in Mb/s, which has those of 802.11b and, silence apart, of 802.11a.
    fn at(mbps: f64) -> Framing {
        let vector = Standard::Erp.phy(false).vector(DataRate::from_kbps((mbps * 1e3) as u32));
        vector.expect("a rate of the standard").framing()
    }

    fn curve(mbps: f64) -> SuccessCurve {
        SuccessCurve::new(at(mbps).encoding)
    }

    fn decibels_for(mbps: f64, rate: f64, octets: f64) -> f64 {
        Decibel::from_ratio(curve(mbps).ratio_for(rate, 8.0 * octets)).0
    }

    /// Link simulations of 802.11 with soft decisions in white noise, published with ns-3 as `AwgnErrorTableBcc1458` and
    /// `AwgnErrorTableBcc32`: the signal-to-noise ratio in dB at which 10 % of frames of 1458 and of 32 bytes are lost,
    /// between their entries at steps of 0.5 dB. 802.11n has no BPSK of rate 3/4: 9 Mb/s is 18 Mb/s with half
    /// the energy, 3.01 dB.
    const LINK_SIMULATIONS: [(f64, f64, f64); 8] = [
        (6.0, 0.86, -0.41),
        (9.0, 6.37 - 3.01, 5.06 - 3.01),
        (12.0, 3.89, 2.57),
        (18.0, 6.37, 5.06),
        (24.0, 9.63, 8.04),
        (36.0, 12.72, 11.21),
        (48.0, 17.02, 15.25),
        (54.0, 18.31, 16.57),
    ];

    #[test]
    fn ofdm_agrees_with_link_simulations() {
        for (mbps, long, short) in LINK_SIMULATIONS {
            for (octets, published) in [(1_458.0, long), (32.0, short)] {
                let ours = decibels_for(mbps, 0.1, octets);
                assert!((ours - published).abs() < 0.25, "{mbps} Mb/s, {octets} octets: {ours} dB for {published} dB");
            }
        }
    }

    /// The same tables at the modulations that later standards add, with the convolutional code.
    #[test]
    fn larger_constellations_agree_with_link_simulations() {
        use CodeRate::{FiveSixths, ThreeQuarters};
        use Constellation::{Qam64, Qam256};
        for (constellation, code, long, short) in [
            (Qam64, FiveSixths, 19.58, 18.06),
            (Qam256, ThreeQuarters, 23.65, 21.68),
            (Qam256, FiveSixths, 25.10, 23.24),
        ] {
            let curve = SuccessCurve::new(Encoding::Ofdm { constellation, code });
            for (octets, published) in [(1_458.0, long), (32.0, short)] {
                let ours = Decibel::from_ratio(curve.ratio_for(0.1, 8.0 * octets)).0;
                let name = format!("{constellation:?} {code:?}, {octets} octets");
                assert!((ours - published).abs() < 0.4, "{name}: {ours} dB for {published} dB");
            }
        }
    }

    /// Link simulations with the standard's codes, published with ns-3 as `AwgnErrorTableLdpc1458`: the ratio in dB at which a
    /// tenth of frames of 1458 bytes is lost. Ours is that of the best code of their length.
    #[test]
    fn parity_checks_are_as_good_as_the_best_code_and_no_better() {
        use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
        use Constellation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qpsk};
        for (constellation, code, published) in [
            (Bpsk, Half, -0.67),
            (Qpsk, Half, 2.34),
            (Qpsk, ThreeQuarters, 4.81),
            (Qam16, Half, 7.87),
            (Qam16, ThreeQuarters, 10.89),
            (Qam64, TwoThirds, 15.08),
            (Qam64, ThreeQuarters, 16.46),
            (Qam64, FiveSixths, 17.99),
            (Qam256, ThreeQuarters, 21.64),
            (Qam256, FiveSixths, 23.47),
            (Qam1024, ThreeQuarters, 26.78),
            (Qam1024, FiveSixths, 28.86),
        ] {
            let ratio =
                |encoding, loss| Decibel::from_ratio(SuccessCurve::new(encoding).ratio_for(loss, 8.0 * 1_458.0)).0;
            let ours = ratio(Encoding::OfdmLdpc { constellation, code }, 0.1);
            let gap = published - ours;
            assert!((0.9..2.2).contains(&gap), "{constellation:?} {code:?}: {gap} dB");
            // A steeper edge than that of the convolutional code, at a lower ratio.
            let steep = |encoding| ratio(encoding, 0.01) - ratio(encoding, 0.5);
            let convolutional = Encoding::Ofdm { constellation, code };
            assert!(ours < ratio(convolutional, 0.1));
            assert!(steep(Encoding::OfdmLdpc { constellation, code }) < steep(convolutional));
        }
    }

    /// The least levels in dBm at which cards with Agere's chip set (Acer MPCI-101 and Compal PA307, user's manuals, 3.3.2)
    /// lose under 8 % of frames of 1024 bytes: 1, 2, 5.5, 11 Mb/s. One noise figure, with losses, fits all four.
    #[test]
    fn dsss_agrees_with_cards_up_to_one_noise_figure() {
        let levels = [(1.0, -91.0), (2.0, -88.0), (5.5, -85.0), (11.0, -82.0)];
        let figures = levels.map(|(mbps, level)| {
            let noise = super::super::thermal_noise(at(mbps).noise_bandwidth, 0.0).as_dbm();
            level - noise - decibels_for(mbps, 0.08, 1_024.0)
        });
        let mean = figures.iter().sum::<f64>() / 4.0;
        assert!((7.0..15.0).contains(&mean), "a noise figure of {mean} dB is no receiver's");
        for (figure, (mbps, _)) in figures.iter().zip(levels) {
            assert!((figure - mean).abs() < 1.5, "{mbps} Mb/s: {figure} dB, mean {mean} dB");
        }
    }

    /// Every receiver must do better than the standard's minimum (Table 17-18 and 16.3.8.2), which reckons with a noise
    /// figure and losses of 15 dB.
    #[test]
    fn the_standards_minimum_is_surpassed() {
        for standard in [Standard::HrDsss, Standard::Ofdm] {
            let phy = standard.phy(false);
            for vector in phy.vectors() {
                let Framing { encoding, noise_bandwidth, minimum_sensitivity, .. } = vector.framing();
                let noise = super::super::thermal_noise(noise_bandwidth, 15.0).as_dbm();
                let ratio = Decibel::from_ratio(SuccessCurve::new(encoding).ratio_for(0.1, 8_000.0));
                let margin = minimum_sensitivity - (noise + ratio.0);
                assert!((0.0..14.0).contains(&margin), "{vector}: {margin} dB");
            }
        }
    }

    #[test]
    fn nine_needs_more_than_twelve_does_not() {
        // Known of 802.11a: 9 Mb/s (BPSK 3/4) is hardly more robust than 12 Mb/s (QPSK 1/2).
        let gap = decibels_for(12.0, 0.1, 1_000.0) - decibels_for(9.0, 0.1, 1_000.0);
        assert!((0.0..1.0).contains(&gap), "{gap} dB");
    }

    #[test]
    fn the_ends_of_the_table_are_certain() {
        for mbps in [1.0, 2.0, 5.5, 11.0, 6.0, 54.0] {
            let curve = curve(mbps);
            for ratio in [1e5, f64::INFINITY] {
                assert_eq!(curve.ln_success(ratio), 0.0);
            }
            for ratio in [0.0, -1.0, 1e-300, f64::NAN] {
                assert_eq!(curve.ln_success(ratio), curve.ln_success(LOWEST));
                assert!(curve.frame_error_rate(ratio, 192.0) > 0.999, "{mbps} Mb/s");
            }
        }
    }

    proptest! {
        #[test]
        fn more_signal_never_hurts(decibels in -30.0f64..45.0, more in 0.0f64..3.0, at in 0usize..12) {
            let curve = SuccessCurve::new(Standard::Erp.phy(false).vectors()[at].framing().encoding);
            let (low, high) = (Decibel(decibels).as_ratio(), Decibel(decibels + more).as_ratio());
            prop_assert!(curve.ln_success(low) <= curve.ln_success(high));
            prop_assert!(curve.ln_success(high) <= 0.0);
        }

        #[test]
        fn the_table_is_as_good_as_what_it_holds(decibels in -20.0f64..20.0) {
            let ratio = Decibel(decibels).as_ratio();
            for exactly in [dsss::dbpsk, dsss::dqpsk, dsss::cck4, dsss::cck8] {
                let (table, exact) = (SuccessCurve::tabulate(exactly).ln_success(ratio), exactly(ratio));
                // Where a frame of 40 bits has any chance; below, the cap has a corner.
                if exact > -0.1 {
                prop_assert!((table - exact).abs() <= 2e-2 * exact.abs() + 1e-12, "{} for {}", table, exact);
                }
            }
        }
    }
}
