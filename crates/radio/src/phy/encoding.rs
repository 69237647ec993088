//! How the bits of a frame are put on the air: modulation and code, whatever noise does to them.

use super::{DataRate, Modulation};

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
            _ => CHIP_RATE * BANDWIDTH_IN_CHIP_RATES,
        }
    }
}

/// Points of a subcarrier (17.3.5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constellation {
    /// 1 bit.
    Bpsk,
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
}

/// Data bits over coded bits (17.3.5.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRate {
    /// 1/2, the code itself.
    Half,
    /// 2/3, punctured.
    TwoThirds,
    /// 3/4, punctured.
    ThreeQuarters,
}

/// SIGNAL, SERVICE, LENGTH and CRC of a PLCP header of DSSS (15.2.3, 16.2.3).
pub const HEADER_BITS: u32 = 48;
/// Of the SIGNAL field of OFDM, tail included (17.3.4).
pub const SIGNAL_BITS: u32 = 24;

/// In hertz (IEEE 802.11-2020, 15.4, 16.3).
pub(crate) const CHIP_RATE: f64 = 11e6;
/// See [`Encoding::noise_bandwidth`].
pub(crate) const BANDWIDTH_IN_CHIP_RATES: f64 = 1.5;
/// A Reed–Solomon code over octets: n = 255, of which k carry data, and t = (n − k)/2 wrong octets are put right wherever
/// they are (I. S. Reed and G. Solomon, "Polynomial codes over certain finite fields", J. SIAM 8(2), 1960).
///
/// A frame is cut into blocks of k octets, each of which gets n − k octets of parity; the last block is shortened: its
/// missing data are zeros that are not sent, and it corrects as many errors as the others. A block with more than t wrong
/// octets is lost, and the frame with it (that such a block is decoded into a wrong word happens once in t! times, and the
/// frame's check sequence notices it). Bits err independently of each other, within a piece of the frame with one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReedSolomon {
    data: u32,
}

impl ReedSolomon {
    /// The code whose share of data is nearest to `rate`, between 1/255 and 1; 0.6 is RS(255, 153), with t = 51.
    pub fn with_rate(rate: f64) -> Self {
        // A float to integer cast saturates, and maps NaN to zero.
        Self { data: (libm::round(rate * f64::from(BLOCK)) as u32).clamp(1, BLOCK) }
    }

    /// n: octets of a whole block.
    pub const fn block(self) -> u32 {
        BLOCK
    }

    /// k: octets of data in a whole block.
    pub const fn data(self) -> u32 {
        self.data
    }

    /// t: wrong octets that a block survives.
    pub const fn corrects(self) -> u32 {
        (BLOCK - self.data) / 2
    }

    /// Octets on the air for so many octets of data.
    pub fn coded_octets(self, octets: u32) -> u32 {
        octets.saturating_add(octets.div_ceil(self.data).saturating_mul(BLOCK - self.data))
    }
}

/// n.
const BLOCK: u32 = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Standard;

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
}
