//! What the formats of HT, VHT and HE share: modulation and coding schemes, streams and training.

use hopcast_protocols::time::Duration;

use super::{ChannelWidth, CodeRate, Coding, Constellation, DataRate, Encoding, Standard, TxVector};

/// HT-MCS of a stream: the index counts through those of one stream, then those of two, and so on.
pub(super) const MODES_PER_STREAM: u8 = 8;

/// Schemes that a stream has under HT, VHT or HE.
pub(super) const fn schemes(standard: Standard) -> u8 {
    match standard {
        Standard::Vht => 10,
        Standard::He => 12,
        _ => MODES_PER_STREAM,
    }
}

/// The non-HT reference rate of a frame of HT, VHT or HE (IEEE 802.11-2020, 10.6.11): OFDM's rate of the same modulation and code, 48
/// and 54 Mb/s for what OFDM lacks.
pub(super) const fn reference_rate(vector: TxVector) -> DataRate {
    let scheme = match vector.format() {
        Standard::Ht => vector.mcs() % MODES_PER_STREAM,
        _ => vector.mcs(),
    };
    DataRate::from_kbps(match scheme {
        0 => 6_000,
        1 => 12_000,
        2 => 18_000,
        3 => 24_000,
        4 => 36_000,
        5 => 48_000,
        _ => 54_000,
    })
}

/// Modulation and code of a stream (IEEE 802.11-2020, Tables 19-27 and 21-29; IEEE 802.11ax-2021, Table 27-111), by the index that VHT
/// and HE have for it, and that HT has for one stream.
#[rustfmt::skip]
const SCHEMES: [(Constellation, CodeRate); 12] = {
    use CodeRate::{FiveSixths, Half, ThreeQuarters, TwoThirds};
    use Constellation::{Bpsk, Qam16, Qam64, Qam256, Qam1024, Qpsk};
    [
        (Bpsk, Half),
        (Qpsk, Half), (Qpsk, ThreeQuarters),
        (Qam16, Half), (Qam16, ThreeQuarters),
        (Qam64, TwoThirds), (Qam64, ThreeQuarters), (Qam64, FiveSixths),
        (Qam256, ThreeQuarters), (Qam256, FiveSixths),
        (Qam1024, ThreeQuarters), (Qam1024, FiveSixths),
    ]
};

/// In dBm, in 20 MHz, by the same index: Tables 19-23, 21-25 and 27-51 (a PER of 10 % with 4096 bytes, 2048 at the lowest of HE).
const SENSITIVITIES: [f64; 12] = [-82.0, -79.0, -77.0, -74.0, -70.0, -66.0, -65.0, -64.0, -59.0, -57.0, -54.0, -52.0];

/// SERVICE (17.3.5.2).
pub(super) const SERVICE_BITS: u32 = 16;
/// Tail of each convolutional encoder (17.3.5.3).
const TAIL_BITS: u32 = 6;

/// The bits of a frame's PSDU on its subcarriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payload {
    constellation: Constellation,
    code: CodeRate,
    coding: Coding,
    /// N_CBPS: coded bits of a symbol, over all streams.
    coded_bits: u32,
    /// N_DBPS: data bits of a symbol, over all streams.
    pub(super) data_bits: u32,
}

impl Payload {
    /// Of the scheme of this index, with the given number of data subcarriers (N_SD).
    pub(super) fn new(vector: TxVector, scheme: u8, subcarriers: u32) -> Self {
        let (constellation, code) = SCHEMES[usize::from(scheme)];
        let coded_bits = subcarriers * constellation.bits() * u32::from(vector.streams());
        let (data, coded) = code.ratio();
        Self { constellation, code, coding: vector.coding(), coded_bits, data_bits: coded_bits * data / coded }
    }

    #[inline]
    pub(super) const fn encoding(self) -> Encoding {
        let Self { constellation, code, coding, .. } = self;
        match coding {
            Coding::Bcc => Encoding::Ofdm { constellation, code },
            Coding::Ldpc => Encoding::OfdmLdpc { constellation, code },
        }
    }

    /// N_ES: convolutional encoders, each of which takes at most `most` data bits of a symbol, and whole periods of the puncturing
    /// (the notes to the tables of 19.5 and 21.5). Parity checks have none.
    #[inline]
    fn encoders(self, most: u32) -> u32 {
        let (_, period) = self.code.ratio();
        let shared = |&encoders: &u32| {
            self.coded_bits.is_multiple_of(encoders) && (self.coded_bits / encoders).is_multiple_of(period)
        };
        let least = self.data_bits.div_ceil(most);
        (least..=self.data_bits).find(shared).unwrap_or(least)
    }

    /// Bits besides the bytes: SERVICE, and the tails of encoders, each of which takes at most `most` data bits of a symbol.
    #[inline]
    pub(super) fn service_and_tail_bits(self, most: u32) -> u32 {
        match self.coding {
            Coding::Bcc => SERVICE_BITS + TAIL_BITS * self.encoders(most),
            Coding::Ldpc => SERVICE_BITS,
        }
    }

    /// N_SYM: symbols for the bytes and these bits. Parity checks may need one more, where a codeword would be punctured too much
    /// (19.3.11.7.5); it is left out, as its rule depends on each length.
    #[inline]
    pub(super) fn symbols(self, octets: u32, service_and_tail_bits: u32) -> u64 {
        (8 * u64::from(octets) + u64::from(service_and_tail_bits)).div_ceil(u64::from(self.data_bits))
    }
}

/// N_LTF: long training fields for the streams (Tables 19-13 and 21-13).
pub(super) const fn training_fields(streams: u8) -> u64 {
    match streams {
        1 => 1,
        2 => 2,
        3 | 4 => 4,
        5 | 6 => 6,
        _ => 8,
    }
}

/// The least level in dBm at which a receiver has to decode frames of the scheme of this index: 3 dB more for each doubling of the
/// width.
pub(super) fn minimum_sensitivity(scheme: u8, width: ChannelWidth) -> f64 {
    SENSITIVITIES[usize::from(scheme)] + 3.0 * f64::from(width as u8)
}

/// Guard interval of the symbols of HT and VHT, which last 3.2 µs without it: 0.4 or 0.8 µs (19.3.6, 21.3.6).
pub(super) fn short_symbol(vector: TxVector) -> Duration {
    Duration::from_nanos(3_200) + vector.guard_interval().duration()
}

/// The vectors of a format with these indices in one stream and 20 MHz, ascending.
pub(super) const fn vectors<const N: usize>(plain: TxVector, indices: [u8; N]) -> [TxVector; N] {
    let mut vectors = [plain; N];
    let mut place = 0;
    while place < N {
        vectors[place] = plain.with_mcs(indices[place]);
        place += 1;
    }
    vectors
}
