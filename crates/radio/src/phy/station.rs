//! The physical layer of a station.

use hopcast_protocols::time::Duration;

use super::clause::{Clause, PhyParameters};
use super::{Band, DataRate, FrameCode, ModulationClass, Shape, Standard, TxVector, erp};

/// The physical layer of a station: its interframe spaces and contention windows, and the vectors of its frames.
///
/// Vectors given to it must be among [`Self::vectors`] (checked in debug builds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    standard: Standard,
    /// Of all frames, by ascending rate; those of a [`Shape`] behind those of OFDM.
    vectors: &'static [TxVector],
    parameters: PhyParameters,
    code: Option<FrameCode>,
}

impl Phy {
    pub(super) fn new(standard: Standard, short_preamble: bool) -> Self {
        let phy = Self {
            standard,
            vectors: standard.clause().vectors(short_preamble && standard.has_short_preamble()),
            parameters: standard.clause().parameters(),
            code: None,
        };
        if standard.has_shape() { phy.with_shape(Shape::of(standard)) } else { phy }
    }

    /// The same for stations whose frames have this shape.
    ///
    /// # Panics
    /// If the standard has no shapes ([`Standard::has_shape`]).
    #[must_use]
    pub fn with_shape(self, shape: Shape) -> Self {
        assert!(self.standard.has_shape(), "{} has no streams", self.standard);
        let parameters = if shape.band == Band::Low { erp::PARAMETERS } else { self.clause().parameters() };
        Self { vectors: shape.vectors(self.standard), parameters, ..self }
    }

    /// The same with these vectors, in the order of [`Self::vectors`].
    pub(super) const fn with_vectors(self, vectors: &'static [TxVector]) -> Self {
        Self { vectors, ..self }
    }

    /// The same with coding of PSDUs, which makes them longer.
    #[must_use]
    pub const fn with_code(self, code: Option<FrameCode>) -> Self {
        Self { code, ..self }
    }

    /// The same for a network that sends its data at this rate: an 802.11g network that uses only the rates of 802.11b
    /// also keeps its long slot and CWmin of 31 (18.5.4). Nothing else differs.
    #[must_use]
    pub fn for_data_rate(self, data_rate: TxVector) -> Self {
        if self.standard.has_shape() {
            return self;
        }
        Self { parameters: self.clause().parameters_for(data_rate), ..self }
    }

    /// The same with the long slot, for a network to which a station belongs that is not an ERP one (802.11b) (18.5.4).
    /// CWmin stays, as it depends on a station's own rates.
    #[must_use]
    pub fn with_long_slot(self) -> Self {
        // The slot of HT and HE at 2.4 GHz is that of ERP (Table 19-25).
        let is_low = self.standard.has_shape() && self.parameters.sifs == erp::PARAMETERS.sifs;
        let clause = if is_low { Standard::Erp.clause() } else { self.clause() };
        let slot = clause.long_slot();
        Self { parameters: PhyParameters { slot, ..self.parameters }, ..self }
    }

    /// The standard.
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    /// Slot, SIFS, contention window.
    pub const fn parameters(&self) -> &PhyParameters {
        &self.parameters
    }

    /// The vectors of all frames that stations send, by ascending rate; those of HT, VHT and HE behind those of OFDM.
    pub const fn vectors(&self) -> &'static [TxVector] {
        self.vectors
    }

    /// The vector of the highest rate.
    pub fn fastest(&self) -> TxVector {
        *self.vectors().last().expect("every standard has rates")
    }

    /// The vector of a rate from a file; `None`: the standard has no such rate.
    pub fn vector(&self, rate: DataRate) -> Option<TxVector> {
        self.vectors().iter().copied().find(|vector| vector.data_rate() == rate)
    }

    /// Whether networks mix stations that understand all its frames with older ones that do not: 802.11g with 802.11b.
    pub fn is_mixed(&self) -> bool {
        !self.standard.has_shape()
            && self.vectors().iter().any(|vector| vector.modulation_class() != self.fastest().modulation_class())
    }

    /// The rate of control responses to data at `to`: the highest rate of the basic set that is of the same modulation
    /// class and not above it (10.6.6.5), of OFDM for HT and later (10.6.11). The basic set is 1 and 2 Mb/s for DSSS and CCK, and 6, 12 and 24 Mb/s for OFDM,
    /// twice that in turbo mode.
    pub fn default_basic_rate(&self, to: TxVector) -> TxVector {
        let rate = to.reference_rate();
        let basic = self.basic_set(to.modulation_class());
        basic.clone().rev().find(|vector| vector.data_rate() <= rate).unwrap_or_else(|| self.lowest_basic(to))
    }

    /// PIFS = SIFS + slot (10.3.2.3.4).
    pub fn pifs(&self) -> Duration {
        self.parameters.sifs + self.parameters.slot
    }

    /// DIFS = SIFS + 2 slots (10.3.2.3.5).
    pub fn difs(&self) -> Duration {
        self.parameters.sifs + self.parameters.slot * 2
    }

    /// EIFS − DIFS = SIFS + the time of an ACK at the lowest mandatory rate (10.3.2.3.7), where that ACK has the
    /// modulation of the frame that was not understood, `failed`: 1 Mb/s after DSSS, 6 Mb/s after OFDM. In 802.11g this
    /// is the value of dot11DynamicEIFSActivated; elsewhere the two are one. After a frame of a modulation that this
    /// physical layer does not have, it is that of the lowest rate of all. DCF adds DIFS to it, EDCA the AIFS of an
    /// access category. Zero if stations do not answer.
    pub fn eifs_without_difs(&self, failed: TxVector) -> Duration {
        if !self.standard.acknowledges() {
            return Duration::ZERO;
        }
        self.parameters.sifs + self.airtime(self.lowest_basic(failed), ACK_OCTETS)
    }

    /// [`TxVector::airtime`] of an individually addressed frame, whose PSDU is coded if this physical layer codes it.
    #[inline]
    pub fn airtime(&self, vector: TxVector, octets: u32) -> Duration {
        self.airtime_of(vector, octets, false)
    }

    /// The same of a group addressed frame.
    #[inline]
    pub fn group_airtime(&self, vector: TxVector, octets: u32) -> Duration {
        self.airtime_of(vector, octets, true)
    }

    #[inline]
    fn airtime_of(&self, vector: TxVector, octets: u32, is_group_addressed: bool) -> Duration {
        debug_assert!(self.vectors().contains(&vector.repeated()), "{} has no {vector:?}", self.standard);
        let code = self.code.and_then(|code| code.of(is_group_addressed));
        vector.airtime(code.map_or(octets, |code| code.coded_octets(octets)))
    }

    /// AckTimeout interval for an ACK with this vector, from the end of the data frame: SIFS + slot + aRxPHYStartDelay
    /// (10.3.2.11). Without PHY-RXSTART.indication by then the attempt has failed.
    pub fn ack_timeout(&self, response: TxVector) -> Duration {
        self.parameters.sifs + self.parameters.slot + response.header_duration()
    }

    /// CTSTimeout interval for a CTS with this vector, from the end of the RTS: the same sum (10.3.2.9).
    pub fn cts_timeout(&self, response: TxVector) -> Duration {
        self.ack_timeout(response)
    }

    /// The level in dBm at which a frame makes the medium busy: the sensitivity of the most robust rate, since a
    /// receiver that decodes a header holds the medium busy for the length that it names (15.4.6, 16.3.8.5,
    /// 17.3.10.6, 18.4.6). For OFDM this is the level that 17.3.10.6 itself names, −82 dBm.
    pub fn cca_threshold(&self) -> f64 {
        let levels = self.vectors().iter().map(|vector| vector.framing().minimum_sensitivity);
        levels.fold(f64::INFINITY, f64::min)
    }

    /// The rate of `vector` in the Supported Rates element, in units of 500 kb/s (9.4.2.3).
    pub(crate) fn supported_rate(&self, vector: TxVector) -> u8 {
        vector.format().clause().supported_rate(vector)
    }

    #[inline]
    fn clause(&self) -> &'static dyn Clause {
        self.standard.clause()
    }

    /// The basic set of a modulation class, ascending; of HT and later, that of OFDM.
    fn basic_set(&self, class: ModulationClass) -> impl DoubleEndedIterator<Item = TxVector> + Clone {
        let class = class.min(ModulationClass::Ofdm);
        let vectors = self.vectors().iter().copied();
        vectors.filter(move |vector| vector.modulation_class() == class && vector.framing().is_basic)
    }

    /// The lowest rate of the basic set that is of the modulation class of `vector`; of any class, if none is.
    fn lowest_basic(&self, vector: TxVector) -> TxVector {
        let own = self.basic_set(vector.modulation_class()).next();
        let lowest = || self.vectors().iter().copied().find(|vector| vector.framing().is_basic);
        own.or_else(lowest).expect("every standard has a basic set")
    }
}

/// Frame Control, Duration, RA and FCS (9.3.1.4).
const ACK_OCTETS: u32 = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The vector of `phy` at `rate` Mb/s.
    fn at(phy: &Phy, rate: f64) -> TxVector {
        phy.vector(DataRate::from_kbps((rate * 1e3) as u32)).expect("a rate of the standard")
    }

    fn micros(duration: Duration) -> f64 {
        duration.as_nanos() as f64 / 1e3
    }

    /// After a frame at this rate.
    fn eifs(phy: &Phy, rate: f64) -> Duration {
        phy.eifs_without_difs(at(phy, rate)) + phy.difs()
    }

    #[test]
    fn interframe_spaces_are_those_of_the_tables() {
        for (standard, data_rate, sifs, pifs, difs, after_error, cw_min) in [
            (Standard::Dsss, 2.0, 10.0, 30.0, 50.0, 364.0, 31),
            (Standard::HrDsss, 11.0, 10.0, 30.0, 50.0, 364.0, 31),
            (Standard::Ofdm, 54.0, 16.0, 25.0, 34.0, 94.0, 15),
            // ACK at 6 Mb/s: 44 µs and the signal extension of 6 µs.
            (Standard::Erp, 54.0, 10.0, 19.0, 28.0, 88.0, 15),
            (Standard::Erp, 11.0, 10.0, 30.0, 50.0, 364.0, 31),
            // ACK at 12 Mb/s: half of 44 µs.
            (Standard::OfdmTurbo, 108.0, 8.0, 14.0, 20.0, 50.0, 15),
            (Standard::Wavelan, 2.0, 10.0, 30.0, 50.0, 50.0, 31),
        ] {
            let phy = standard.phy(false);
            let phy = phy.for_data_rate(at(&phy, data_rate));
            let spaces = [phy.parameters().sifs, phy.pifs(), phy.difs(), eifs(&phy, data_rate)].map(micros);
            assert_eq!(spaces, [sifs, pifs, difs, after_error], "{standard} at {data_rate} Mb/s");
            assert_eq!((phy.parameters().cw_min, phy.parameters().cw_max), (cw_min, 1_023), "{standard}");
        }
    }

    #[test]
    fn eifs_follows_the_frame_that_failed() {
        let phy = Standard::Erp.phy(false);
        assert_eq!(micros(eifs(&phy, 54.0)), 10.0 + 50.0 + 28.0);
        assert_eq!(micros(eifs(&phy, 11.0)), 10.0 + 304.0 + 28.0);
        // By the rules of ns-2 a station of 802.11b notices frames of OFDM as errors.
        let old = Standard::HrDsss.phy(false);
        assert_eq!(micros(old.eifs_without_difs(at(&phy, 54.0))), 10.0 + 304.0);
    }

    /// Table 18-5: the slot of 20 µs and what follows from it; nothing else, and nowhere else.
    #[test]
    fn the_long_slot_lengthens_the_spaces() {
        let (short, long) = (Standard::Erp.phy(false), Standard::Erp.phy(false).with_long_slot());
        assert_eq!([long.parameters().slot, long.pifs(), long.difs()].map(micros), [20.0, 30.0, 50.0]);
        assert_eq!((long.parameters().sifs, long.parameters().cw_min), (short.parameters().sifs, 15));
        assert_eq!(Standard::Ofdm.phy(false).with_long_slot(), Standard::Ofdm.phy(false));
    }

    #[test]
    fn timeouts_leave_time_for_a_header() {
        for (standard, short_preamble, rate, expected) in [
            (Standard::Dsss, false, 1.0, 222.0),
            (Standard::HrDsss, true, 2.0, 126.0),
            (Standard::Ofdm, false, 24.0, 45.0),
            (Standard::Erp, false, 24.0, 39.0),
        ] {
            let phy = standard.phy(short_preamble);
            assert_eq!(micros(phy.ack_timeout(at(&phy, rate))), expected, "{standard}");
            assert_eq!(micros(phy.cts_timeout(at(&phy, rate))), expected, "{standard}");
        }
    }

    #[test]
    fn responses_use_the_highest_basic_rate_of_their_modulation() {
        for (standard, data_rate, expected) in [
            (Standard::Dsss, 1.0, 1.0),
            (Standard::Dsss, 2.0, 2.0),
            (Standard::HrDsss, 1.0, 1.0),
            (Standard::HrDsss, 11.0, 2.0),
            (Standard::Ofdm, 6.0, 6.0),
            (Standard::Ofdm, 9.0, 6.0),
            (Standard::Ofdm, 18.0, 12.0),
            (Standard::Ofdm, 54.0, 24.0),
            (Standard::Erp, 11.0, 2.0),
            (Standard::Erp, 48.0, 24.0),
            (Standard::OfdmTurbo, 12.0, 12.0),
            (Standard::OfdmTurbo, 36.0, 24.0),
            (Standard::OfdmTurbo, 108.0, 48.0),
            (Standard::Wavelan, 2.0, 2.0),
        ] {
            let phy = standard.phy(false);
            let response = phy.default_basic_rate(at(&phy, data_rate));
            assert_eq!(response, at(&phy, expected), "{standard}, {data_rate} Mb/s");
        }
    }

    #[test]
    fn rates_ascend_and_end_with_the_default() {
        for (standard, count, highest) in [
            (Standard::Dsss, 2, 2.0),
            (Standard::HrDsss, 4, 11.0),
            (Standard::Ofdm, 8, 54.0),
            (Standard::Erp, 12, 54.0),
            (Standard::OfdmTurbo, 8, 108.0),
            (Standard::Wavelan, 1, 2.0),
        ] {
            for phy in [false, true].map(|short_preamble| standard.phy(short_preamble)) {
                assert!(phy.vectors().is_sorted_by_key(|vector| vector.data_rate()));
                assert_eq!(phy.vectors().len(), count);
                assert_eq!(phy.fastest(), at(&phy, highest));
            }
        }
    }

    #[test]
    fn what_can_be_decoded_is_sensed() {
        for standard in Standard::ALL {
            let phy = standard.phy(false);
            for vector in phy.vectors() {
                assert!(phy.cca_threshold() <= vector.framing().minimum_sensitivity, "{standard} at {vector}");
            }
        }
        for (standard, threshold) in [
            (Standard::Dsss, -80.0),
            (Standard::HrDsss, -80.0),
            (Standard::Ofdm, -82.0),
            (Standard::Erp, -82.0),
            (Standard::OfdmTurbo, -79.0),
            (Standard::Wavelan, -80.0),
        ] {
            assert_eq!(standard.phy(false).cca_threshold(), threshold, "{standard}");
        }
    }

    /// A Reed–Solomon code of rate 0.6 makes 255 bytes of 153, of group addressed frames only where it protects them.
    #[test]
    fn a_code_lengthens_a_frame() {
        let plain = Standard::Dsss.phy(false);
        for (protects_groups, octets) in [(true, 255), (false, 153)] {
            let code = FrameCode { code: crate::phy::ReedSolomon::with_rate(0.6), protects_groups };
            let coded = plain.with_code(Some(code));
            assert_eq!(coded.airtime(at(&plain, 1.0), 153), plain.airtime(at(&plain, 1.0), 255));
            assert_eq!(coded.group_airtime(at(&plain, 1.0), 153), plain.airtime(at(&plain, 1.0), octets));
        }
    }

    #[test]
    fn only_802_11g_mixes_modulation_classes() {
        let mixed = Standard::ALL.iter().filter(|standard| standard.phy(false).is_mixed());
        assert!(mixed.eq(&[Standard::Erp]));
    }

    proptest! {
        #[test]
        fn airtime_grows_with_length_and_keeps_to_the_rate(
            standard in prop::sample::select(Standard::ALL), pick in any::<prop::sample::Index>(),
            short_preamble: bool, octets in 0u32..4_096, more in 1u32..64,
        ) {
            let phy = standard.phy(short_preamble);
            let rate = *pick.get(phy.vectors());
            let (short, long) = (phy.airtime(rate, octets), phy.airtime(rate, octets + more));
            prop_assert!(short <= long);
            // Beyond its header no frame is faster than its rate, nor slower by more than 22 bits and one symbol, 16 µs at most.
            let data = micros(short - rate.header_duration());
            let bits = f64::from(octets) * 8.0;
            let mbps = f64::from(rate.data_rate().as_kbps()) / 1e3;
            prop_assert!(data >= bits / mbps);
            prop_assert!(data < (bits + 22.0) / mbps + 16.0 + 6.0);
        }

        #[test]
        fn no_length_overflows(octets: u32) {
            for standard in [Standard::HrDsss, Standard::Ofdm] {
                prop_assert!(standard.phy(false).vectors()[0].airtime(octets) > Duration::ZERO);
            }
        }
    }
}
