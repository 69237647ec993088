//! What the frames of HT, VHT and HE stations of one network have in common: width, streams, guard interval and code.

use std::sync::{Mutex, PoisonError};

use super::mcs::{MODES_PER_STREAM, schemes};
use super::{ChannelWidth, Coding, GuardInterval, ModulationClass, Standard, TxVector, vht};

/// A band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Band {
    /// 2.4 GHz.
    Low,
    /// 5 GHz.
    #[default]
    High,
}

/// What the frames of a network of HT, VHT or HE stations have in common (TXVECTOR of IEEE 802.11-2020, Tables 19-1 and 21-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The band. At 2.4 GHz a signal extension follows each frame (10.3.8).
    pub band: Band,
    /// Width of the channel.
    pub width: ChannelWidth,
    /// Spatial streams that the stations have: 1 to 4 with HT, else 1 to 8.
    pub streams: u8,
    /// Guard interval of data symbols.
    pub guard_interval: GuardInterval,
    /// Code of the PSDU.
    pub coding: Coding,
}

impl Shape {
    /// One stream in 20 MHz at 5 GHz, with a guard interval of 0.8 µs and the code that each receiver has: the convolutional one, and
    /// parity checks under HE (27.3.12.5 asks for them above 20 MHz or four streams).
    pub fn of(standard: Standard) -> Self {
        let coding = if standard == Standard::He { Coding::Ldpc } else { Coding::Bcc };
        Self { band: Band::High, width: ChannelWidth::Mhz20, streams: 1, guard_interval: GuardInterval::Ns800, coding }
    }

    /// The vector of this modulation and coding scheme: 0 to 31 under HT, where it names the streams as well, 0 to 9 under VHT and 0 to
    /// 11 under HE, over all streams. `None`: the standard has none such.
    pub fn vector(self, standard: Standard, mcs: u8) -> Option<TxVector> {
        let streams = if standard == Standard::Ht { mcs / MODES_PER_STREAM + 1 } else { self.streams };
        let place = if standard == Standard::Ht { mcs % MODES_PER_STREAM } else { mcs };
        (streams <= self.streams && place < schemes(standard))
            .then(|| self.over(standard, place, streams))
            .filter(|&vector| standard != Standard::Vht || vht::is_allowed(vector))
    }

    /// The vectors of frames of HT, VHT or HE, by streams and then by rate.
    fn modes(self, standard: Standard) -> impl Iterator<Item = TxVector> {
        let places = move |streams| (0..schemes(standard)).map(move |place| self.over(standard, place, streams));
        let allowed = move |&vector: &TxVector| standard != Standard::Vht || vht::is_allowed(vector);
        (1..=self.streams).flat_map(places).filter(allowed)
    }

    /// The scheme at a place among those of a stream.
    fn over(self, standard: Standard, place: u8, streams: u8) -> TxVector {
        let mcs = if standard == Standard::Ht { place + MODES_PER_STREAM * (streams - 1) } else { place };
        let vector = TxVector::new(standard, mcs)
            .with_streams(streams)
            .with_width(self.width)
            .with_guard_interval(self.guard_interval)
            .with_coding(self.coding);
        if self.band == Band::Low { vector.with_signal_extension() } else { vector }
    }

    /// The vectors of all frames that stations of this shape send: those of OFDM, which answers and frames to all have, then by
    /// ascending rate those of the standard.
    pub(super) fn vectors(self, standard: Standard) -> &'static [TxVector] {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(.., vectors)) = known.iter().find(|(of, shape, _)| (*of, *shape) == (standard, self)) {
            return vectors;
        }
        let legacy = if self.band == Band::Low { Standard::Erp } else { Standard::Ofdm };
        let legacy = legacy.clause().vectors(false).iter().copied();
        let mut vectors: Vec<TxVector> =
            legacy.filter(|vector| vector.modulation_class() == ModulationClass::Ofdm).collect();
        let first = vectors.len();
        vectors.extend(self.modes(standard));
        vectors[first..].sort_by_key(|vector| (vector.data_rate(), vector.streams()));
        let vectors = Box::leak(vectors.into_boxed_slice());
        known.push((standard, self, vectors));
        vectors
    }
}

/// The lists made so far. There are few shapes, and a physical layer that has its list is copied often.
static KNOWN: Mutex<Vec<(Standard, Shape, &[TxVector])>> = Mutex::new(Vec::new());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_ht_names_the_streams() {
        let shape = Shape { streams: 2, ..Shape::of(Standard::Ht) };
        let streams = |mcs| shape.vector(Standard::Ht, mcs).map(TxVector::streams);
        assert_eq!([0, 7, 8, 15, 16].map(streams), [Some(1), Some(1), Some(2), Some(2), None]);
    }

    /// 21.5: MCS 9 in 20 MHz only over three or six streams.
    #[test]
    fn schemes_that_the_standard_lacks_are_none() {
        let over = |streams| Shape { streams, ..Shape::of(Standard::Vht) }.vector(Standard::Vht, 9);
        assert_eq!((1..=8).filter(|&streams| over(streams).is_some()).collect::<Vec<_>>(), [3, 6]);
        assert_eq!(Shape::of(Standard::Vht).vector(Standard::Vht, 10), None);
        assert_eq!(Shape::of(Standard::He).vector(Standard::He, 12), None);
        assert!(Shape::of(Standard::He).vector(Standard::He, 11).is_some());
    }

    #[test]
    fn the_last_vector_is_the_fastest() {
        for (standard, streams) in [(Standard::Ht, 4), (Standard::Vht, 8), (Standard::He, 8)] {
            let shape = Shape { streams, width: ChannelWidth::Mhz40, ..Shape::of(standard) };
            let vectors = shape.vectors(standard);
            let highest = vectors.iter().map(|vector| vector.data_rate()).max();
            assert_eq!(vectors.last().map(|vector| vector.data_rate()), highest, "{standard}");
            assert_eq!(vectors[0].data_rate().as_kbps(), 6_000);
        }
    }
}
