//! The 802.11 physical layers, by clause of IEEE 802.11-2020, and two related ones that no clause describes.
//!
//! A frame carries a [`TxVector`] with all its transmission parameters; a [`Phy`] is the configuration of a station. Both
//! use the clause that they belong to, one file each behind one trait. To add a clause, add its file, its module here,
//! and a variant of [`Standard`].

mod capability;
mod channel;
mod clause;
mod data_rate;
mod dsss;
mod encoding;
mod erp;
mod he;
mod hr_dsss;
mod ht;
mod mcs;
mod ofdm;
mod shape;
mod spectrum;
mod station;
mod turbo;
mod tx_vector;
mod vht;
mod wavelan;

use core::fmt;

pub use capability::{Capability, Heard, distinct};
pub use channel::{Channel, Channels, WideChannel};
use clause::Clause;
pub use clause::{Framing, PhyParameters, Section};
pub use data_rate::DataRate;
pub(crate) use dsss::BANDWIDTH_IN_CHIP_RATES;
pub use encoding::{CodeRate, Constellation, Encoding, FrameCode, ReedSolomon};
pub(crate) use ht::LEGACY_PREAMBLE;
pub use shape::{Band, Shape};
pub(crate) use spectrum::energy_thresholds;
pub use spectrum::{Fit, NONADJACENT, Overlap, PARTS, Spectrum};
pub use station::Phy;
pub use tx_vector::{ChannelWidth, Coding, GuardInterval, TxVector};

/// A physical layer of IEEE 802.11, or one similar to it, for the stations of a network and for their frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standard {
    /// `802.11`: DSSS at 1 and 2 Mb/s (IEEE 802.11-2020, clause 15).
    Dsss,
    /// `802.11b`: HR/DSSS at 1, 2, 5.5 and 11 Mb/s (clause 16).
    HrDsss,
    /// `802.11a`: OFDM at 6 to 54 Mb/s in 20 MHz (clause 17).
    Ofdm,
    /// `802.11g`: ERP-OFDM at 6 to 54 Mb/s, and the rates of 802.11b (clause 18).
    Erp,
    /// `802.11a-turbo`: OFDM at 12 to 108 Mb/s in 40 MHz, a mode of Atheros' cards.
    OfdmTurbo,
    /// `wavelan`: 2 Mb/s as before 802.11, without acknowledgements.
    Wavelan,
    /// `802.11n`: HT, up to four streams in 20 or 40 MHz (clause 19).
    Ht,
    /// `802.11ac`: VHT, up to eight streams in 20 to 160 MHz (clause 21).
    Vht,
    /// `802.11ax`: HE, the same with longer symbols (IEEE 802.11ax-2021, clause 27).
    He,
}

impl Standard {
    /// All physical layers, in the order of their variants.
    pub const ALL: &[Self] = &[
        Self::Dsss,
        Self::HrDsss,
        Self::Ofdm,
        Self::Erp,
        Self::OfdmTurbo,
        Self::Wavelan,
        Self::Ht,
        Self::Vht,
        Self::He,
    ];

    /// What describes it.
    #[inline]
    const fn clause(self) -> &'static dyn Clause {
        match self {
            Self::Dsss => &dsss::Dsss,
            Self::HrDsss => &hr_dsss::HrDsss,
            Self::Ofdm => &ofdm::Ofdm,
            Self::Erp => &erp::Erp,
            Self::OfdmTurbo => &turbo::OfdmTurbo,
            Self::Wavelan => &wavelan::Wavelan,
            Self::Ht => &ht::Ht,
            Self::Vht => &vht::Vht,
            Self::He => &he::He,
        }
    }

    /// That at a place of [`Self::ALL`].
    const fn at(place: usize) -> Self {
        Self::ALL[place]
    }

    /// The physical layer of this name in scenarios.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|standard| standard.name() == name)
    }

    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        self.clause().name()
    }

    /// Summary in a sentence.
    pub fn summary(self) -> &'static str {
        self.clause().summary()
    }

    /// Whether stations answer: with an ACK to each data frame for them, and with a CTS to an RTS.
    pub fn acknowledges(self) -> bool {
        self.clause().acknowledges()
    }

    /// Whether some of its frames can have a short preamble.
    pub fn has_short_preamble(self) -> bool {
        self.clause().has_short_preamble()
    }

    /// Whether its stations send aggregates, and their frames have a [`Shape`]: 802.11n and later.
    pub const fn has_shape(self) -> bool {
        matches!(self, Self::Ht | Self::Vht | Self::He)
    }

    /// Its channels.
    pub fn channels(self) -> Channels {
        self.clause().channels()
    }

    /// Its channels in a band, where it has several bands.
    pub fn channels_in(self, band: Band) -> Channels {
        if self.has_shape() && band == Band::Low { Channels::AT_2_4_GHZ_FOR_OFDM } else { self.channels() }
    }

    /// Default channel of a network.
    pub fn default_channel(self) -> Channel {
        self.channels().default_channel()
    }

    /// The physical layer of a network that sends its data at the highest rate; see [`Phy::for_data_rate`]. With a short
    /// preamble, frames at 2 Mb/s and more use it if the standard has one (802.11b, 802.11g).
    pub fn phy(self, short_preamble: bool) -> Phy {
        Phy::new(self, short_preamble)
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A modulation class (IEEE 802.11-2020, 10.6), which determines the stations that understand a frame. A station also
/// understands the classes before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModulationClass {
    /// DSSS and HR/DSSS: 1, 2, 5.5 and 11 Mb/s.
    Dsss,
    /// OFDM and ERP-OFDM.
    Ofdm,
    /// HT.
    Ht,
    /// VHT.
    Vht,
    /// HE.
    He,
}

/// Modulation classes that a receiver understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModulationClasses(u8);

impl ModulationClasses {
    /// None.
    pub const NONE: Self = Self(0);
    /// Only DSSS and HR/DSSS: those of a station of 802.11b in an 802.11g network.
    pub const DSSS: Self = Self::up_to(ModulationClass::Dsss);
    /// All.
    pub const ALL: Self = Self(u8::MAX);

    /// A class and those before it.
    pub const fn up_to(class: ModulationClass) -> Self {
        Self((2 << class as u8) - 1)
    }

    /// The last of them, if there is one.
    pub fn highest(self) -> Option<ModulationClass> {
        use ModulationClass::{Dsss, He, Ht, Ofdm, Vht};
        [He, Vht, Ht, Ofdm, Dsss].into_iter().find(|&class| self.has(class))
    }

    /// Whether this class is one of them.
    #[inline]
    pub const fn has(self, class: ModulationClass) -> bool {
        self.0 & 1 << class as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_variants() {
        for (place, &standard) in Standard::ALL.iter().enumerate() {
            assert_eq!((standard as usize, Standard::at(place)), (place, standard));
        }
        for &standard in Standard::ALL {
            assert_eq!(Standard::named(standard.name()), Some(standard));
        }
        assert_eq!(Standard::named("802.11z"), None);
    }

    #[test]
    fn who_understands_a_class_understands_those_before_it() {
        let [dsss, ofdm] = [ModulationClass::Dsss, ModulationClass::Ofdm];
        assert!(ModulationClasses::DSSS.has(dsss) && !ModulationClasses::DSSS.has(ofdm));
        assert!(ModulationClasses::up_to(ofdm).has(dsss) && ModulationClasses::up_to(ofdm).has(ofdm));
        assert!(ModulationClasses::ALL.has(ofdm) && !ModulationClasses::NONE.has(dsss));
    }
}
