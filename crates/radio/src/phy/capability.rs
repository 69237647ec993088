//! What a station can send and receive, where stations of several standards share a channel.

use std::sync::{Mutex, PoisonError};

use super::{Band, ChannelWidth, ModulationClass, Phy, Shape, Standard, TxVector};

/// What a station can send and receive, as it would tell in its capability elements (IEEE 802.11-2020, 9.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capability {
    standard: Standard,
    /// Of stations of 802.11n and later.
    shape: Option<Shape>,
    short_preamble: bool,
}

/// What a receiver makes of a frame that is strong enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It decodes the frame.
    Whole,
    /// It decodes the legacy preamble: it knows how long the frame lasts, and can't decode the rest (19.3.9.3.5).
    Preamble,
    /// It senses energy.
    Energy,
}

impl Capability {
    /// A station of a standard. One of 802.11n or later without a shape has [`Shape::of`].
    pub fn new(standard: Standard, shape: Option<Shape>, short_preamble: bool) -> Self {
        let shape = standard.has_shape().then(|| shape.unwrap_or_else(|| Shape::of(standard)));
        Self { standard, shape, short_preamble: short_preamble && standard.has_short_preamble() }
    }

    /// The standard.
    pub const fn standard(self) -> Standard {
        self.standard
    }

    /// The shape of its frames, of 802.11n and later.
    pub const fn shape(self) -> Option<Shape> {
        self.shape
    }

    /// Its place in a chain of standards of which each understands the frames of those before it, in a band; `None`: it shares no
    /// channel with other standards.
    pub fn generation(self) -> Option<u8> {
        Some(match self.standard {
            Standard::HrDsss => 0,
            Standard::Ofdm | Standard::Erp => 1,
            Standard::Ht => 2,
            Standard::Vht => 3,
            Standard::He => 4,
            Standard::Dsss | Standard::OfdmTurbo | Standard::Wavelan => return None,
        })
    }

    /// Its band.
    pub fn band(self) -> Band {
        match (self.standard, self.shape) {
            (_, Some(shape)) => shape.band,
            (Standard::Ofdm | Standard::OfdmTurbo, None) => Band::High,
            _ => Band::Low,
        }
    }

    /// Whether stations of the two can be in one network.
    pub fn can_talk_to(self, other: Self) -> bool {
        let are_of_one_chain = self.generation().is_some() && other.generation().is_some();
        self.band() == other.band() && (self.standard == other.standard || are_of_one_chain)
    }

    /// The highest modulation class of its frames.
    pub const fn class(self) -> ModulationClass {
        match self.standard {
            Standard::Dsss | Standard::HrDsss | Standard::Wavelan => ModulationClass::Dsss,
            Standard::Ofdm | Standard::Erp | Standard::OfdmTurbo => ModulationClass::Ofdm,
            Standard::Ht => ModulationClass::Ht,
            Standard::Vht => ModulationClass::Vht,
            Standard::He => ModulationClass::He,
        }
    }

    /// What both can send and receive: the older standard, in the narrower channel, over fewer streams.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        let (older, newer) = if other.generation() < self.generation() { (other, self) } else { (self, other) };
        let least = |shape: Shape| match newer.shape {
            Some(limit) => {
                Shape { width: shape.width.min(limit.width), streams: shape.streams.min(limit.streams), ..shape }
            }
            None => shape,
        };
        Self { shape: older.shape.map(least), short_preamble: older.short_preamble && newer.short_preamble, ..older }
    }

    /// The physical layer of a station where all are of this kind.
    pub fn phy(self) -> Phy {
        let phy = self.standard.phy(self.short_preamble);
        self.shape.map_or(phy, |shape| phy.with_shape(shape))
    }

    /// The same among these stations too: with the vectors of frames that it exchanges with them.
    pub fn phy_among(self, others: &[Self]) -> Phy {
        let own = self.phy();
        let mut vectors = own.vectors().to_vec();
        for other in others.iter().filter(|&&other| self.can_talk_to(other)) {
            vectors.extend(self.common(*other).phy().vectors());
        }
        let class = |vector: &TxVector| vector.modulation_class().max(ModulationClass::Ofdm);
        vectors.sort_by_key(|vector| (class(vector), vector.data_rate(), vector.streams()));
        let unique = distinct(vectors);
        if unique.len() == own.vectors().len() { own } else { own.with_vectors(kept(unique)) }
    }

    /// The same in each narrower channel.
    pub fn narrower(self) -> impl Iterator<Item = Self> {
        let shapes = self.shape.into_iter().flat_map(|shape| ChannelWidth::ALL.map(|width| Shape { width, ..shape }));
        let own = self.shape.map(|shape| shape.width);
        shapes.filter(move |shape| Some(shape.width) < own).map(move |shape| Self { shape: Some(shape), ..self })
    }

    /// The rate of data for `other` at a sender whose own data have the rate `own`: the highest one that both have and that is not
    /// above `own`, or their lowest.
    pub fn rate_toward(self, other: Self, own: TxVector) -> TxVector {
        let common = self.common(other);
        if common == self {
            return own;
        }
        let vectors = common.phy().vectors().iter().copied();
        let usable = vectors.filter(|vector| common.shape.is_none() || vector.format().has_shape());
        let key = |vector: &TxVector| (vector.data_rate(), core::cmp::Reverse(vector.streams()));
        let fitting = usable.clone().filter(|vector| vector.data_rate() <= own.data_rate()).max_by_key(key);
        fitting.or_else(|| usable.min_by_key(key)).unwrap_or(own)
    }

    /// What a station makes of a frame. Formats of 802.11n and later begin with the preamble and the SIGNAL field of OFDM, which names a
    /// length, so that every OFDM station defers (19.3.9.3, 21.3.8.2, and 27.3.11 of IEEE 802.11ax-2021).
    pub fn heard(self, vector: TxVector) -> Heard {
        let class = vector.modulation_class();
        if class == ModulationClass::Dsss {
            return if self.band() == Band::Low { Heard::Whole } else { Heard::Energy };
        }
        if self.class() == ModulationClass::Dsss {
            return Heard::Energy;
        }
        let fits = |shape: Shape| vector.width() <= shape.width && vector.streams() <= shape.streams;
        match class <= self.class() && self.shape.is_none_or(fits) {
            true => Heard::Whole,
            false => Heard::Preamble,
        }
    }

    /// The share of a frame's power that is in the channel of this station: a wider frame spreads it evenly.
    pub fn share_of_power(self, vector: TxVector) -> f64 {
        let own = self.shape.map_or(ChannelWidth::Mhz20, |shape| shape.width);
        if vector.width() <= own { 1.0 } else { own.hertz() / vector.width().hertz() }
    }
}

/// The items without repetitions, in the order in which they come first. For short lists.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// The lists made so far. There are few mixtures, and a physical layer that has its list is copied often.
static KNOWN: Mutex<Vec<&[TxVector]>> = Mutex::new(Vec::new());

/// The same list, for good.
fn kept(vectors: Vec<TxVector>) -> &'static [TxVector] {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&found) = known.iter().find(|known| ***known == *vectors) {
        return found;
    }
    let vectors: &'static [TxVector] = Box::leak(vectors.into_boxed_slice());
    known.push(vectors);
    vectors
}

#[cfg(test)]
mod tests {
    use super::super::DataRate;
    use super::*;
    use proptest::prelude::*;

    fn at(standard: Standard, band: Band) -> Capability {
        Capability::new(standard, Some(Shape { band, ..Shape::of(standard) }), false)
    }

    const LOW: [Standard; 4] = [Standard::HrDsss, Standard::Erp, Standard::Ht, Standard::He];
    const HIGH: [Standard; 4] = [Standard::Ofdm, Standard::Ht, Standard::Vht, Standard::He];

    fn all() -> Vec<Capability> {
        LOW.map(|standard| at(standard, Band::Low))
            .into_iter()
            .chain(HIGH.map(|standard| at(standard, Band::High)))
            .collect()
    }

    #[test]
    fn a_channel_is_shared_within_a_band() {
        let [b, a] = [at(Standard::HrDsss, Band::Low), at(Standard::Ofdm, Band::High)];
        assert!(!b.can_talk_to(a));
        assert!(b.can_talk_to(at(Standard::He, Band::Low)) && !b.can_talk_to(at(Standard::He, Band::High)));
        assert!(!at(Standard::Wavelan, Band::Low).can_talk_to(b));
    }

    /// Clauses 19.3.9.3 and 21.3.8.2: OFDM stations understand the length of newer frames, 802.11b understands no OFDM.
    #[test]
    fn older_stations_decode_what_their_clause_has() {
        let heard = |by: Capability, from: Capability| by.heard(from.phy().fastest());
        for (band, chain) in [(Band::Low, LOW), (Band::High, HIGH)] {
            for (place, newer) in chain.iter().enumerate() {
                for (older_place, older) in chain.iter().enumerate() {
                    let expected = match (older_place >= place, *older) {
                        (true, _) => Heard::Whole,
                        (false, Standard::HrDsss) => Heard::Energy,
                        (false, _) => Heard::Preamble,
                    };
                    assert_eq!(heard(at(*older, band), at(*newer, band)), expected, "{older} hears {newer}");
                }
            }
        }
    }

    #[test]
    fn a_wider_frame_or_one_of_more_streams_is_a_preamble() {
        let of = |width, streams| {
            Capability::new(Standard::He, Some(Shape { width, streams, ..Shape::of(Standard::He) }), false)
        };
        let narrow = of(ChannelWidth::Mhz20, 1);
        assert_eq!(narrow.heard(of(ChannelWidth::Mhz80, 1).phy().fastest()), Heard::Preamble);
        assert_eq!(narrow.heard(of(ChannelWidth::Mhz20, 2).phy().fastest()), Heard::Preamble);
        assert_eq!(of(ChannelWidth::Mhz80, 2).heard(narrow.phy().fastest()), Heard::Whole);
        assert_eq!(narrow.share_of_power(of(ChannelWidth::Mhz80, 1).phy().fastest()), 0.25);
    }

    #[test]
    fn data_go_at_the_best_rate_of_both_that_is_not_above_the_senders() {
        let [b, g, n, ax] = LOW.map(|standard| at(standard, Band::Low));
        let kbps = |from: Capability, to, own: TxVector| from.rate_toward(to, own).data_rate().as_kbps();
        let fastest = |of: Capability| of.phy().fastest();
        assert_eq!([b, g, n].map(|to| kbps(ax, to, fastest(ax))), [11_000, 54_000, 65_000]);
        // 802.11ax at 8.6 Mb/s.
        let slow = *ax.phy().vectors().iter().find(|vector| vector.format().has_shape()).expect("a scheme");
        assert_eq!([b, g, n].map(|to| kbps(ax, to, slow)), [5_500, 6_000, 6_500]);
        assert_eq!(b.rate_toward(ax, fastest(b)), fastest(b));
    }

    #[test]
    fn a_phy_among_others_has_their_rates() {
        let [b, _, n, _] = LOW.map(|standard| at(standard, Band::Low));
        let phy = n.phy_among(&[b, n]);
        assert!(
            phy.vector(DataRate::from_kbps(11_000)).is_some() && n.phy().vector(DataRate::from_kbps(11_000)).is_none()
        );
        assert_eq!(phy.fastest(), n.phy().fastest());
        assert_eq!(n.phy_among(&[n]), n.phy());
    }

    proptest! {
        /// Over every pair: what one sends to the other is decoded whole, in both directions, and is a vector that both have.
        #[test]
        fn whoever_can_talk_is_understood(
            one in prop::sample::select(all()), other in prop::sample::select(all()),
            rate in any::<prop::sample::Index>(),
        ) {
            prop_assume!(one.can_talk_to(other));
            let own = *rate.get(one.phy().vectors());
            let chosen = one.rate_toward(other, own);
            prop_assert_eq!(other.heard(chosen), Heard::Whole);
            prop_assert!(one.phy_among(&[other]).vectors().contains(&chosen));
            prop_assert!(other.generation() >= one.generation() || other.phy_among(&[one]).vectors().contains(&chosen));
            prop_assert_eq!(one.common(other), other.common(one));
        }
    }
}
