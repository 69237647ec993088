//! Transmission parameters of a frame, in four bytes.

use core::fmt;

use hopcast_protocols::time::Duration;

use super::{Clause, DataRate, Framing, ModulationClass, Standard, mcs};

/// Parameters of a frame for the PHY, besides its bytes: TXVECTOR (IEEE 802.11-2020, 17.2.2, 19.2.2, 21.2.2).
///
/// Two vectors are equal if their frames look alike on the air. A 54 Mb/s frame of OFDM and one of another format at
/// the same rate are not.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TxVector(u32);

impl TxVector {
    const FORMAT: Field = Field { shift: 0, bits: 5 };
    const MCS: Field = Field { shift: 5, bits: 8 };
    const STREAMS: Field = Field { shift: 13, bits: 3 };
    const WIDTH: Field = Field { shift: 16, bits: 3 };
    const GUARD_INTERVAL: Field = Field { shift: 19, bits: 2 };
    const CODING: Field = Field { shift: 21, bits: 1 };
    const SHORT_PREAMBLE: Field = Field { shift: 22, bits: 1 };
    const SIGNAL_EXTENSION: Field = Field { shift: 23, bits: 1 };

    /// One spatial stream in 20 MHz, with a guard interval of 0.8 µs, convolutional coding, and the long preamble. `mcs`
    /// is the index of a modulation and coding scheme of the format.
    pub const fn new(format: Standard, mcs: u8) -> Self {
        Self(0)
            .with(Self::FORMAT, format as u32)
            .with(Self::MCS, mcs as u32)
            .with(Self::GUARD_INTERVAL, GuardInterval::Ns800 as u32)
    }

    /// The same with another modulation and coding scheme.
    #[must_use]
    pub const fn with_mcs(self, mcs: u8) -> Self {
        self.with(Self::MCS, mcs as u32)
    }

    /// The same over 1 to 8 spatial streams.
    #[must_use]
    pub const fn with_streams(self, streams: u8) -> Self {
        assert!(1 <= streams && streams <= 8, "there are 1 to 8 spatial streams");
        self.with(Self::STREAMS, streams as u32 - 1)
    }

    /// The same in a channel of this width.
    #[must_use]
    pub const fn with_width(self, width: ChannelWidth) -> Self {
        self.with(Self::WIDTH, width as u32)
    }

    /// That of the frame which is repeated on all channels of 20 MHz, for a non-HT duplicate (19.3.11.12, 21.3.10.12), which differs from it in the
    /// width alone; any other one itself.
    #[must_use]
    pub const fn repeated(self) -> Self {
        match self.format() {
            Standard::Ofdm | Standard::Erp => self.with_width(ChannelWidth::Mhz20),
            _ => self,
        }
    }

    /// The same with this guard interval.
    #[must_use]
    pub const fn with_guard_interval(self, interval: GuardInterval) -> Self {
        self.with(Self::GUARD_INTERVAL, interval as u32)
    }

    /// The same with this code.
    #[must_use]
    pub const fn with_coding(self, coding: Coding) -> Self {
        self.with(Self::CODING, coding as u32)
    }

    /// The same with the short preamble (16.2.2.3).
    #[must_use]
    pub const fn with_short_preamble(self) -> Self {
        self.with(Self::SHORT_PREAMBLE, 1)
    }

    /// The same with a signal extension, which HT and HE have at 2.4 GHz.
    #[must_use]
    pub const fn with_signal_extension(self) -> Self {
        self.with(Self::SIGNAL_EXTENSION, 1)
    }

    /// Physical layer of the frame's format (FORMAT, NON_HT_MODULATION): of the frames of an 802.11g network, those at 11
    /// Mb/s have that of 802.11b.
    pub const fn format(self) -> Standard {
        Standard::at(self.get(Self::FORMAT) as usize)
    }

    /// Index of the modulation and coding scheme of the format (MCS, DATARATE).
    pub const fn mcs(self) -> u8 {
        self.get(Self::MCS) as u8
    }

    /// Spatial streams (NUM_STS), 1 to 8.
    pub const fn streams(self) -> u8 {
        self.get(Self::STREAMS) as u8 + 1
    }

    /// Width of the channel (CH_BANDWIDTH).
    pub const fn width(self) -> ChannelWidth {
        ChannelWidth::ALL[self.get(Self::WIDTH) as usize]
    }

    /// Guard interval of OFDM (GI_TYPE).
    pub const fn guard_interval(self) -> GuardInterval {
        GuardInterval::ALL[self.get(Self::GUARD_INTERVAL) as usize]
    }

    /// Code of OFDM (FEC_CODING).
    pub const fn coding(self) -> Coding {
        Coding::ALL[self.get(Self::CODING) as usize]
    }

    /// Whether the preamble is the short one of HR/DSSS (PREAMBLE_TYPE).
    pub const fn has_short_preamble(self) -> bool {
        self.get(Self::SHORT_PREAMBLE) != 0
    }

    /// Whether it was [given](Self::with_signal_extension) a signal extension (NO_SIG_EXTN). That of ERP-OFDM is part of the format.
    pub const fn has_signal_extension(self) -> bool {
        self.get(Self::SIGNAL_EXTENSION) != 0
    }

    /// Data rate.
    pub fn data_rate(self) -> DataRate {
        self.clause().data_rate(self)
    }

    /// The rate by which those that answer choose theirs (IEEE 802.11-2020, 10.6.11): that of OFDM with the same modulation and
    /// code, or its own.
    pub fn reference_rate(self) -> DataRate {
        if self.format().has_shape() { mcs::reference_rate(self) } else { self.data_rate() }
    }

    /// Its modulation class.
    #[inline]
    pub fn modulation_class(self) -> ModulationClass {
        self.clause().modulation_class(self)
    }

    /// Properties of the frame that do not depend on its length.
    pub fn framing(self) -> Framing {
        self.clause().framing(self)
    }

    /// Duration of preamble and header: PHY-RXSTART.indication follows them.
    #[inline]
    pub fn header_duration(self) -> Duration {
        self.clause().header_duration(self)
    }

    /// Bits that the PSDU of a frame of `octets` needs to arrive: with SERVICE and tail for OFDM (17.3.5).
    pub fn payload_bits(self, octets: u32) -> u32 {
        8 * octets + self.framing().service_and_tail_bits
    }

    /// TXTIME of a frame of `octets`, FCS included: preamble, header, data, tail, padding and signal extension
    /// (16.3.4 for DSSS, 17.4.3 and 18.5.3 for OFDM).
    #[inline]
    pub fn airtime(self, octets: u32) -> Duration {
        self.clause().airtime(self, octets)
    }

    #[inline]
    fn clause(self) -> &'static dyn Clause {
        CLAUSES[self.get(Self::FORMAT) as usize]
    }

    const fn with(self, field: Field, value: u32) -> Self {
        assert!(value < 1 << field.bits, "a field holds its value");
        Self(self.0 & !field.mask() | value << field.shift)
    }

    const fn get(self, field: Field) -> u32 {
        (self.0 & field.mask()) >> field.shift
    }
}

impl fmt::Debug for TxVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxVector")
            .field("format", &self.format())
            .field("mcs", &self.mcs())
            .field("streams", &self.streams())
            .field("width", &self.width())
            .field("guard_interval", &self.guard_interval())
            .field("coding", &self.coding())
            .field("has_short_preamble", &self.has_short_preamble())
            .field("has_signal_extension", &self.has_signal_extension())
            .finish()
    }
}

/// The data rate, by which formats without MCS name it.
impl fmt::Display for TxVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data_rate().fmt(f)
    }
}

/// The clause of each format, by its number: one for every number that the field may hold, so that no bound is checked. It is looked up
/// several times a frame.
static CLAUSES: [&dyn Clause; 1 << TxVector::FORMAT.bits] = {
    let mut clauses: [&dyn Clause; 1 << TxVector::FORMAT.bits] =
        [Standard::ALL[0].clause(); 1 << TxVector::FORMAT.bits];
    let mut format = 0;
    while format < Standard::ALL.len() {
        clauses[format] = Standard::ALL[format].clause();
        format += 1;
    }
    clauses
};

/// Bits of a [`TxVector`].
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn mask(self) -> u32 {
        ((1 << self.bits) - 1) << self.shift
    }
}

/// Width of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChannelWidth {
    /// 20 MHz, and the 22 MHz of DSSS.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz, in one piece or two.
    Mhz160,
}

impl ChannelWidth {
    /// All, ascending.
    pub const ALL: [Self; 4] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160];

    /// In hertz.
    pub const fn hertz(self) -> f64 {
        20e6 * (1_u32 << self as u32) as f64
    }
}

/// Guard interval of an OFDM symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum GuardInterval {
    /// 0.4 µs.
    Ns400,
    /// 0.8 µs.
    Ns800,
    /// 1.6 µs.
    Ns1600,
    /// 3.2 µs.
    Ns3200,
}

impl GuardInterval {
    /// All, ascending.
    pub const ALL: [Self; 4] = [Self::Ns400, Self::Ns800, Self::Ns1600, Self::Ns3200];

    /// Its length.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(match self {
            Self::Ns400 => 400,
            Self::Ns800 => 800,
            Self::Ns1600 => 1_600,
            Self::Ns3200 => 3_200,
        })
    }
}

/// Forward error correction of OFDM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coding {
    /// Binary convolutional coding.
    Bcc,
    /// Low-density parity-check coding.
    Ldpc,
}

impl Coding {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Bcc, Self::Ldpc];
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn four_bytes_hold_it() {
        assert_eq!(size_of::<TxVector>(), 4);
    }

    #[test]
    fn a_plain_vector_is_that_of_a_format_without_options() {
        let vector = TxVector::new(Standard::Ofdm, 7);
        assert_eq!((vector.format(), vector.mcs(), vector.streams()), (Standard::Ofdm, 7, 1));
        assert_eq!((vector.width(), vector.guard_interval()), (ChannelWidth::Mhz20, GuardInterval::Ns800));
        assert_eq!((vector.coding(), vector.has_short_preamble()), (Coding::Bcc, false));
    }

    /// OFDM at 24 Mb/s is neither ERP-OFDM at 24 Mb/s nor turbo mode.
    #[test]
    fn one_rate_of_two_formats_makes_two_vectors() {
        let mut vectors = [Standard::Ofdm, Standard::Erp, Standard::OfdmTurbo]
            .map(|standard| standard.phy(false).vector(DataRate::from_kbps(24_000)).expect("all three have 24 Mb/s"));
        assert!(vectors.iter().all(|vector| vector.data_rate() == DataRate::from_kbps(24_000)));
        vectors.sort_unstable_by_key(|vector| vector.0);
        assert!(vectors.windows(2).all(|pair| pair[0] != pair[1]));
    }

    proptest! {
        /// Whatever 802.11n, ac and ax need comes out as it went in, in any order.
        #[test]
        fn every_field_has_room_of_its_own(
            format in prop::sample::select(Standard::ALL), mcs: u8, streams in 1u8..=8,
            width in prop::sample::select(&ChannelWidth::ALL[..]),
            interval in prop::sample::select(&GuardInterval::ALL[..]),
            coding in prop::sample::select(&Coding::ALL[..]), short: bool, extended: bool,
        ) {
            let first = TxVector::new(format, mcs);
            let first = if short { first.with_short_preamble() } else { first };
            let first = if extended { first.with_signal_extension() } else { first };
            let one = first.with_streams(streams).with_width(width).with_guard_interval(interval).with_coding(coding);
            let other = first.with_coding(coding).with_guard_interval(interval).with_width(width).with_streams(streams);
            prop_assert_eq!(one, other);
            prop_assert_eq!((one.format(), one.mcs(), one.streams()), (format, mcs, streams));
            prop_assert_eq!((one.width(), one.guard_interval(), one.coding()), (width, interval, coding));
            prop_assert_eq!((one.has_short_preamble(), one.has_signal_extension()), (short, extended));
        }
    }
}
