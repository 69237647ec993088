//! What noise and interference do to the bits of a frame.
//!
//! Two kinds of model. By signal-to-interference ratio: [`Encoding`] names how bits are put on the air, [`SuccessCurve`]
//! is the probability that a bit survives at a ratio, and a frame that lies over several ratios survives with
//! exp(Σ bits·ln_success). And without regard to the signal: [`GilbertElliott`], with or without [`ReedSolomon`], and
//! [`PacketErrors`].

mod curve;
mod dsss;
mod gilbert_elliott;
mod noise;
mod ofdm;
mod packet;
mod reed_solomon;

use hopcast_protocols::random::{Purpose, hash};

pub use curve::SuccessCurve;
pub use gilbert_elliott::{GilbertElliott, States};
pub use noise::{DEFAULT_NOISE_FIGURE, thermal_noise};
pub use ofdm::{CodeRate, Constellation};
pub use packet::PacketErrors;
pub use reed_solomon::ReedSolomon;

use crate::standard::{DataRate, Modulation};

/// How bits are put on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// 1 Mb/s: differential BPSK, spread by 11 chips (IEEE 802.11-2020, 15.4).
    Dbpsk,
    /// 2 Mb/s: differential QPSK, spread by 11 chips.
    Dqpsk,
    /// 5.5 Mb/s: complementary code keying, 4 bits in 8 chips (16.3.6).
    Cck4,
    /// 11 Mb/s: complementary code keying, 8 bits in 8 chips (16.3.6).
    Cck8,
    /// OFDM (Table 17-4).
    Ofdm {
        /// Of each subcarrier.
        constellation: Constellation,
        /// Of the convolutional code.
        code: CodeRate,
    },
}

impl Encoding {
    /// The encoding of a PSDU at a rate of 802.11, 802.11b, 802.11a or 802.11g; `None` if no such rate exists.
    pub fn of(rate: DataRate) -> Option<Self> {
        let ofdm = |constellation, code| Some(Self::Ofdm { constellation, code });
        match rate.as_kbps() {
            1_000 => Some(Self::Dbpsk),
            2_000 => Some(Self::Dqpsk),
            5_500 => Some(Self::Cck4),
            11_000 => Some(Self::Cck8),
            6_000 => ofdm(Constellation::Bpsk, CodeRate::Half),
            9_000 => ofdm(Constellation::Bpsk, CodeRate::ThreeQuarters),
            12_000 => ofdm(Constellation::Qpsk, CodeRate::Half),
            18_000 => ofdm(Constellation::Qpsk, CodeRate::ThreeQuarters),
            24_000 => ofdm(Constellation::Qam16, CodeRate::Half),
            36_000 => ofdm(Constellation::Qam16, CodeRate::ThreeQuarters),
            48_000 => ofdm(Constellation::Qam64, CodeRate::TwoThirds),
            54_000 => ofdm(Constellation::Qam64, CodeRate::ThreeQuarters),
            _ => None,
        }
    }

    /// The encoding of a rate of 802.11a Turbo, 12 to 108 Mb/s: that of half the rate, with symbols of half the length in
    /// a channel of 40 MHz. `None` if no such rate exists.
    pub fn of_turbo(rate: DataRate) -> Option<Self> {
        let half = DataRate::from_kbps(rate.as_kbps() / 2);
        Self::of(half).filter(|encoding| matches!(encoding, Self::Ofdm { .. }))
    }

    /// The encoding of the header of a frame at `rate` ([`HEADER_BITS`] long for DSSS, [`SIGNAL_BITS`] for OFDM): DBPSK
    /// after a long preamble, DQPSK after a short one (16.2.2.3), BPSK of rate 1/2 in SIGNAL (17.3.4.1).
    pub fn of_header(rate: DataRate, short_preamble: bool) -> Self {
        match rate.modulation() {
            Modulation::Ofdm => Self::Ofdm { constellation: Constellation::Bpsk, code: CodeRate::Half },
            Modulation::Dsss if short_preamble && rate.as_kbps() > 1_000 => Self::Dqpsk,
            Modulation::Dsss => Self::Dbpsk,
        }
    }

    /// Hertz over which noise counts, such that another signal of the same kind counts like noise of its power.
    ///
    /// OFDM: 52 subcarriers of 312.5 kHz, so that the ratio of powers is the ratio on each subcarrier; twice that for
    /// Turbo. DSSS: 3/2 of the chip rate, 16.5 MHz. A chip's energy then stands over noise and over an asynchronous
    /// interferer of the same chip rate as in M. B. Pursley, "Performance evaluation for phase-coded spread-spectrum
    /// multiple-access communication, part I", IEEE Trans. Communications 25(8), 1977, equation 17, for rectangular chips.
    pub const fn noise_bandwidth(self) -> f64 {
        match self {
            Self::Ofdm { .. } => 52.0 * 312.5e3,
            _ => dsss::CHIP_RATE * dsss::BANDWIDTH_IN_CHIP_RATES,
        }
    }
}

/// SIGNAL, SERVICE, LENGTH and CRC of a PLCP header of DSSS (15.2.3, 16.2.3).
pub const HEADER_BITS: u32 = 48;
/// Of the SIGNAL field of OFDM, tail included (17.3.4).
pub const SIGNAL_BITS: u32 = 24;

/// Whether a frame that survives with probability exp(`ln_success`) does so at a receiver: one draw for each
/// purpose, transmission, by its number in the run, and station.
pub fn survives(seed: u64, purpose: Purpose, transmission: u64, receiver: u32, ln_success: f64) -> bool {
    // Most frames are far from the edge, and need no exponential.
    if ln_success > -1e-18 {
        return true;
    }
    let key = hash(seed, purpose, transmission, u64::from(receiver));
    unit(key) < libm::exp(ln_success)
}

/// Uniform in 0 ≤ x < 1 from 64 uniform bits.
fn unit(key: u64) -> f64 {
    (key >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standard::Standard;

    #[test]
    fn every_rate_has_an_encoding() {
        for standard in [Standard::HrDsss, Standard::Ofdm, Standard::Erp] {
            for &rate in standard.rates() {
                assert!(Encoding::of(rate).is_some(), "{rate}");
            }
        }
        assert_eq!(Encoding::of(DataRate::from_kbps(7_000)), None);
        assert_eq!(Encoding::of_turbo(DataRate::from_kbps(108_000)), Encoding::of(DataRate::from_kbps(54_000)));
        assert_eq!(Encoding::of_turbo(DataRate::from_kbps(11_000)), None);
    }

    #[test]
    fn headers_are_encoded_as_the_preamble_says() {
        let mbps = |rate: u32| DataRate::from_kbps(rate * 1_000);
        assert_eq!(Encoding::of_header(mbps(11), false), Encoding::Dbpsk);
        assert_eq!(Encoding::of_header(mbps(11), true), Encoding::Dqpsk);
        assert_eq!(Encoding::of_header(mbps(1), true), Encoding::Dbpsk);
        assert_eq!(Some(Encoding::of_header(mbps(54), false)), Encoding::of(mbps(6)));
    }

    #[test]
    fn frames_survive_as_often_as_they_should() {
        for probability in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let ln_success = libm::log(probability);
            let survivors = (0..40_000)
                .filter(|&n| survives(4, Purpose::Decoding, n / 4, (n % 4) as u32, ln_success))
                .count() as f64;
            // Three and a half standard deviations.
            let spread = 3.5 * libm::sqrt(40_000.0 * probability * (1.0 - probability));
            assert!((survivors - 40_000.0 * probability).abs() <= spread, "{survivors} at {probability}");
        }
    }
}
