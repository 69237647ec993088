//! Encoding of a frame's bits: modulation and code, independent of noise.

/// Encoding of bits on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// 1 Mb/s: differential BPSK, spread by 11 chips (IEEE 802.11-2020, 15.4).
    Dbpsk,
    /// 2 Mb/s: differential QPSK, spread by 11 chips.
    Dqpsk,
    /// 5.5 Mb/s: complementary code keying, 4 bits in 8 chips (16.3.6).
    Cck4,
    /// 11 Mb/s: complementary code keying, 8 bits in 8 chips (16.3.6).
    Cck8,
    /// OFDM with the convolutional code (Table 17-4; BCC).
    Ofdm {
        /// Of each subcarrier.
        constellation: Constellation,
        /// Of the code.
        code: CodeRate,
    },
    /// OFDM with low-density parity-check codes (19.3.11.7; LDPC).
    OfdmLdpc {
        /// Of each subcarrier.
        constellation: Constellation,
        /// Of the code.
        code: CodeRate,
    },
}

/// Constellation of a subcarrier (17.3.5.8, 21.3.10.9, and 27.3.12.9 of IEEE 802.11ax-2021).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Constellation {
    /// 1 bit.
    Bpsk,
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
    /// 8 bits.
    Qam256,
    /// 10 bits.
    Qam1024,
}

impl Constellation {
    /// Coded bits that a subcarrier carries (N_BPSCS).
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
            Self::Qam1024 => 10,
        }
    }
}

/// Code rate: data bits over coded bits (17.3.5.7, 19.3.11.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeRate {
    /// 1/2, the code without puncturing.
    Half,
    /// 2/3, punctured.
    TwoThirds,
    /// 3/4, punctured.
    ThreeQuarters,
    /// 5/6, punctured.
    FiveSixths,
}

impl CodeRate {
    /// Data bits, and coded bits, of a period of the puncturing.
    pub const fn ratio(self) -> (u32, u32) {
        match self {
            Self::Half => (1, 2),
            Self::TwoThirds => (2, 3),
            Self::ThreeQuarters => (3, 4),
            Self::FiveSixths => (5, 6),
        }
    }
}

/// A Reed–Solomon code over bytes: n = 255, of which k carry data, which corrects t = (n − k)/2 wrong bytes at any
/// position (I. S. Reed and G. Solomon, "Polynomial codes over certain finite fields", J. SIAM 8(2), 1960).
///
/// A frame is cut into blocks of k bytes, each of which gets n − k bytes of parity; the last block is shortened: its
/// missing data are zeros that are not sent, and it corrects the same number of errors. A block with more than t wrong
/// bytes is lost, and the frame with it (decoding into a wrong word happens about once in t! times, and the frame's check
/// sequence notices it). Bits err independently of each other, within a piece of the frame with one rate.
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

    /// n: bytes of a whole block.
    pub(crate) const fn block(self) -> u32 {
        BLOCK
    }

    /// k: bytes of data in a whole block.
    pub(crate) const fn data(self) -> u32 {
        self.data
    }

    /// t: wrong bytes that a block survives.
    pub(crate) const fn corrects(self) -> u32 {
        (BLOCK - self.data) / 2
    }

    /// Bytes on the air for this many bytes of data.
    pub(crate) fn coded_octets(self, octets: u32) -> u32 {
        octets.saturating_add(octets.div_ceil(self.data).saturating_mul(BLOCK - self.data))
    }
}

/// A code over the bytes of frames, and which of them have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameCode {
    /// The code, which all individually addressed frames have.
    pub code: ReedSolomon,
    /// Whether group addressed frames have it, too.
    pub protects_groups: bool,
}

impl FrameCode {
    /// The code of a frame, if it has one.
    pub fn of(self, is_group_addressed: bool) -> Option<ReedSolomon> {
        (self.protects_groups || !is_group_addressed).then_some(self.code)
    }
}

/// n.
const BLOCK: u32 = 255;
