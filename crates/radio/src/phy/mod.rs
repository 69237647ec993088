//! Timing and rates of the 802.11 physical layers, by clause of IEEE 802.11-2020, and of two kin that no clause describes.

mod dsss;
mod encoding;
mod erp;
mod hr_dsss;
mod ofdm;
mod turbo;
mod wavelan;

use core::fmt;

use hopcast_protocols::time::Duration;

pub(crate) use encoding::BANDWIDTH_IN_CHIP_RATES;
pub use encoding::{CodeRate, Constellation, Encoding, HEADER_BITS, ReedSolomon, SIGNAL_BITS};

/// A physical layer of IEEE 802.11, or one near it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

impl Standard {
    /// Every rate, ascending.
    pub const fn rates(self) -> &'static [DataRate] {
        match self {
            Self::Dsss => dsss::RATES,
            Self::HrDsss => hr_dsss::RATES,
            Self::Ofdm => ofdm::RATES,
            Self::Erp => erp::RATES,
            Self::OfdmTurbo => turbo::RATES,
            Self::Wavelan => wavelan::RATES,
        }
    }

    /// The highest rate.
    pub fn default_data_rate(self) -> DataRate {
        *self.rates().last().expect("every standard has rates")
    }

    /// The rate of control responses to data at `data_rate`: the highest of the basic set that is of the same
    /// modulation class and not above it (10.6.6.5). The basic set is 1 and 2 Mb/s for DSSS and CCK, and 6, 12 and
    /// 24 Mb/s for OFDM, twice that in turbo mode.
    pub fn default_basic_rate(self, data_rate: DataRate) -> DataRate {
        let basic = match (self, data_rate.modulation()) {
            (Self::Wavelan, _) => wavelan::RATES,
            (Self::OfdmTurbo, _) => turbo::BASIC,
            (_, Modulation::Dsss) => dsss::BASIC,
            (_, Modulation::Ofdm) => ofdm::BASIC,
        };
        basic.iter().copied().rev().find(|&rate| rate <= data_rate).unwrap_or(basic[0])
    }

    /// Whether stations answer: with an ACK to each data frame for them, and with a CTS to an RTS.
    pub const fn acknowledges(self) -> bool {
        !matches!(self, Self::Wavelan)
    }

    /// Centre of the default channel in hertz: channel 1 at 2.4 GHz (15.4.4), channel 36 at 5 GHz (17.3.8.4). In turbo mode
    /// channel 42, which lies over 40 and 44; for WaveLAN the lowest of its ten at 2.4 GHz.
    pub const fn default_frequency(self) -> f64 {
        match self {
            Self::Dsss | Self::HrDsss | Self::Erp | Self::Wavelan => 2.412e9,
            Self::Ofdm => 5.180e9,
            Self::OfdmTurbo => 5.210e9,
        }
    }

    /// The physical layer of a network that sends its data at the default rate; see [`Phy::for_data_rate`]. A short
    /// preamble is used where the standard has one (802.11b, 802.11g), for frames at 2 Mb/s and more.
    pub const fn phy(self, short_preamble: bool) -> Phy {
        let parameters = match self {
            Self::Dsss => dsss::PARAMETERS,
            Self::HrDsss => hr_dsss::PARAMETERS,
            Self::Ofdm => ofdm::PARAMETERS,
            Self::Erp => erp::PARAMETERS,
            Self::OfdmTurbo => turbo::PARAMETERS,
            Self::Wavelan => wavelan::PARAMETERS,
        };
        let short_preamble = short_preamble && matches!(self, Self::HrDsss | Self::Erp);
        Phy { standard: self, short_preamble, parameters, code: None }
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dsss => "802.11",
            Self::HrDsss => "802.11b",
            Self::Ofdm => "802.11a",
            Self::Erp => "802.11g",
            Self::OfdmTurbo => "802.11a-turbo",
            Self::Wavelan => "wavelan",
        })
    }
}

/// A rate of the physical layer in kb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u32);

impl DataRate {
    /// `rate` kilobits per second.
    pub const fn from_kbps(rate: u32) -> Self {
        Self(rate)
    }

    /// Kilobits per second.
    pub const fn as_kbps(self) -> u32 {
        self.0
    }

    /// How frames at this rate are modulated: the rates of the clauses do not overlap.
    pub const fn modulation(self) -> Modulation {
        match self.0 {
            1_000 | 2_000 | 5_500 | 11_000 => Modulation::Dsss,
            _ => Modulation::Ofdm,
        }
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mb/s", f64::from(self.0) / 1e3)
    }
}

/// A modulation class, as far as it decides the form of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modulation {
    /// DSSS and HR/DSSS: 1, 2, 5.5 and 11 Mb/s.
    Dsss,
    /// OFDM and ERP-OFDM: 6 to 54 Mb/s.
    Ofdm,
}

/// Modulation classes that a receiver understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulations(u8);

impl Modulations {
    /// None.
    pub const NONE: Self = Self(0);
    /// DSSS and HR/DSSS alone: those of a station of 802.11b in an 802.11g network.
    pub const DSSS: Self = Self(1 << Modulation::Dsss as u8);
    /// All.
    pub const ALL: Self = Self(Self::DSSS.0 | 1 << Modulation::Ofdm as u8);

    /// Whether this is one of them.
    #[inline]
    pub const fn has(self, modulation: Modulation) -> bool {
        self.0 & 1 << modulation as u8 != 0
    }
}

/// What the medium access control needs to know of a physical layer (6.5.4, PLME-CHARACTERISTICS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyParameters {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// aCWmin: the first backoff is drawn from 0 to this many slots, both included.
    pub cw_min: u32,
    /// aCWmax.
    pub cw_max: u32,
    /// aRxTxTurnaroundTime, the upper bound that 802.11-2012 gives (its clauses 16 to 19; later editions leave it to
    /// the implementation): for so long before it sends, a station is deaf.
    pub rx_tx_turnaround: Duration,
    /// aSignalExtension: silence that counts as part of each OFDM frame.
    pub signal_extension: Duration,
}

/// A physical layer in use: durations and levels.
///
/// Rates given to it must be among [`Standard::rates`] (checked in debug builds).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    standard: Standard,
    short_preamble: bool,
    parameters: PhyParameters,
    code: Option<ReedSolomon>,
}

impl Phy {
    /// The same with the PSDU of every frame coded: it lasts longer.
    pub const fn with_code(self, code: Option<ReedSolomon>) -> Self {
        Self { code, ..self }
    }

    /// The same for a network that sends its data at `data_rate`: an 802.11g network that keeps to the rates of 802.11b
    /// also keeps its long slot and CWmin of 31 (18.5.4). Nothing else differs.
    pub fn for_data_rate(self, data_rate: DataRate) -> Self {
        match (self.standard, data_rate.modulation()) {
            (Standard::Erp, Modulation::Dsss) => Self { parameters: erp::PARAMETERS_WITH_HR_DSSS, ..self },
            _ => self,
        }
    }

    /// The same where a station that is not an ERP one (802.11b) belongs to the network: with the long slot (18.5.4). CWmin
    /// stays, as it is that of a station's own rates.
    pub fn with_long_slot(self) -> Self {
        match self.standard {
            Standard::Erp => {
                let slot = erp::PARAMETERS_WITH_HR_DSSS.slot;
                Self { parameters: PhyParameters { slot, ..self.parameters }, ..self }
            }
            _ => self,
        }
    }

    /// The standard.
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    /// Slot, SIFS, contention window.
    pub const fn parameters(&self) -> &PhyParameters {
        &self.parameters
    }

    /// PIFS = SIFS + slot (10.3.2.3.4).
    pub fn pifs(&self) -> Duration {
        self.parameters.sifs + self.parameters.slot
    }

    /// DIFS = SIFS + 2 slots (10.3.2.3.5).
    pub fn difs(&self) -> Duration {
        self.parameters.sifs + self.parameters.slot * 2
    }

    /// EIFS − DIFS = SIFS + the time of an ACK at the lowest mandatory rate (10.3.2.3.7), where that ACK has the modulation
    /// of the frame that was not understood, at `failed`: 1 Mb/s after DSSS, 6 Mb/s after OFDM. In 802.11g this is the
    /// value of dot11DynamicEIFSActivated; elsewhere the two are one. DCF adds DIFS to it, EDCA the AIFS of an access
    /// category. Zero where nobody answers.
    pub fn eifs_without_difs(&self, failed: DataRate) -> Duration {
        let lowest = match (self.standard, failed.modulation()) {
            (Standard::Wavelan, _) => return Duration::ZERO,
            (Standard::OfdmTurbo, _) => turbo::RATE_12,
            (_, Modulation::Dsss) => dsss::RATE_1,
            (_, Modulation::Ofdm) => ofdm::RATE_6,
        };
        self.parameters.sifs + self.airtime(lowest, ACK_OCTETS)
    }

    /// TXTIME of a frame of `octets`, FCS included: preamble, header, data, tail, padding and signal extension
    /// (16.3.4 for DSSS, 17.4.3 and 18.5.3 for OFDM).
    pub fn airtime(&self, rate: DataRate, octets: u32) -> Duration {
        let octets = self.code.map_or(octets, |code| code.coded_octets(octets));
        match rate.modulation() {
            Modulation::Dsss => self.header_duration(rate) + hr_dsss::psdu(rate, octets),
            Modulation::Ofdm if self.standard == Standard::OfdmTurbo => turbo::HEADER + turbo::psdu(rate, octets),
            Modulation::Ofdm => self.header_duration(rate) + ofdm::psdu(rate, octets) + self.signal_extension(rate),
        }
    }

    /// Preamble and header (PLCP header, SIGNAL) of a frame at `rate`: PHY-RXSTART.indication follows it.
    pub fn header_duration(&self, rate: DataRate) -> Duration {
        debug_assert!(self.standard.rates().contains(&rate), "{} has no {rate}", self.standard);
        match rate.modulation() {
            Modulation::Dsss if self.standard == Standard::Wavelan => wavelan::HEADER,
            Modulation::Dsss => hr_dsss::header(rate, self.short_preamble),
            Modulation::Ofdm if self.standard == Standard::OfdmTurbo => turbo::HEADER,
            Modulation::Ofdm => ofdm::HEADER,
        }
    }

    /// Bits of the preamble and header of a frame at `rate`: SYNC, SFD and PLCP header of DSSS (15.2.2, 16.2.2), SIGNAL of OFDM
    /// (17.3.4), whose training has none. None are known of WaveLAN.
    pub fn header_bits(&self, rate: DataRate) -> u32 {
        match rate.modulation() {
            Modulation::Dsss if self.standard == Standard::Wavelan => 0,
            Modulation::Dsss => hr_dsss::header_bits(rate, self.short_preamble),
            Modulation::Ofdm => ofdm::SIGNAL_BITS,
        }
    }

    /// aSignalExtension of a frame at `rate`: silence that counts as part of it.
    pub fn signal_extension(&self, rate: DataRate) -> Duration {
        match rate.modulation() {
            Modulation::Dsss => Duration::ZERO,
            Modulation::Ofdm => self.parameters.signal_extension,
        }
    }

    /// aCCATime for a preamble of the kind that frames at `rate` have: 15 µs for DSSS (Tables 15-5 and 16-4), 4 µs for OFDM
    /// (Tables 17-21 and 18-5, upper bounds), half of that for
    /// Turbo.
    pub fn cca_time(&self, rate: DataRate) -> Duration {
        match rate.modulation() {
            Modulation::Dsss => Duration::from_micros(15),
            Modulation::Ofdm if self.standard == Standard::OfdmTurbo => Duration::from_micros(2),
            Modulation::Ofdm => Duration::from_micros(4),
        }
    }

    /// How the PSDU of a frame at `rate` is put on the air.
    pub fn encoding(&self, rate: DataRate) -> Encoding {
        let encoding = match self.standard {
            Standard::OfdmTurbo => Encoding::of_turbo(rate),
            _ => Encoding::of(rate),
        };
        encoding.expect("every rate of a standard has an encoding")
    }

    /// Hertz over which noise counts in a frame at `rate` ([`Encoding::noise_bandwidth`]), twice as many in turbo mode.
    pub fn noise_bandwidth(&self, rate: DataRate) -> f64 {
        let bandwidth = self.encoding(rate).noise_bandwidth();
        if self.standard == Standard::OfdmTurbo { 2.0 * bandwidth } else { bandwidth }
    }

    /// The last part of the header of a frame at `rate`, which names its rate and length: 48 bits by DBPSK at 1 Mb/s, or by
    /// DQPSK at 2 Mb/s after a short preamble (16.2.2) and in WaveLAN; SIGNAL, 24 bits in one symbol, for OFDM (17.3.4).
    pub fn header_field(&self, rate: DataRate) -> HeaderField {
        let encoding = match self.standard {
            Standard::Wavelan => Encoding::Dqpsk,
            _ => Encoding::of_header(rate, self.short_preamble),
        };
        let (bits, micros) = match encoding {
            Encoding::Dqpsk => (HEADER_BITS, 24),
            Encoding::Ofdm { .. } if self.standard == Standard::OfdmTurbo => (SIGNAL_BITS, 2),
            Encoding::Ofdm { .. } => (SIGNAL_BITS, 4),
            _ => (HEADER_BITS, 48),
        };
        HeaderField { encoding, bits, duration: Duration::from_micros(micros) }
    }

    /// Bits that the PSDU of a frame of `octets` at `rate` needs to arrive: with SERVICE and tail for OFDM (17.3.5).
    pub fn payload_bits(&self, rate: DataRate, octets: u32) -> u32 {
        let framing = match rate.modulation() {
            Modulation::Dsss => 0,
            Modulation::Ofdm => ofdm::FRAMING_BITS as u32,
        };
        8 * octets + framing
    }

    /// aRxPHYStartDelay for a frame at `rate` (Tables 15-5, 16-4, 17-21, 18-5): 192 µs after a long DSSS preamble,
    /// 96 µs after a short one, 20 µs for OFDM; in each case [`Phy::header_duration`].
    pub fn rx_start_delay(&self, rate: DataRate) -> Duration {
        self.header_duration(rate)
    }

    /// AckTimeout interval for an ACK at `response_rate`, from the end of the data frame: SIFS + slot +
    /// aRxPHYStartDelay (10.3.2.11). Without PHY-RXSTART.indication by then the attempt has failed.
    pub fn ack_timeout(&self, response_rate: DataRate) -> Duration {
        self.parameters.sifs + self.parameters.slot + self.rx_start_delay(response_rate)
    }

    /// CTSTimeout interval for a CTS at `response_rate`, from the end of the RTS: the same sum (10.3.2.9).
    pub fn cts_timeout(&self, response_rate: DataRate) -> Duration {
        self.ack_timeout(response_rate)
    }

    /// The level in dBm at which a receiver must still decode most frames at `rate` (15.4.6, 16.3.8.2, Table 17-18):
    /// the standard's minimum, which real receivers surpass.
    pub fn minimum_sensitivity(&self, rate: DataRate) -> f64 {
        debug_assert!(self.standard.rates().contains(&rate), "{} has no {rate}", self.standard);
        match (self.standard, rate.modulation()) {
            (Standard::OfdmTurbo, _) => turbo::minimum_sensitivity(rate),
            (_, Modulation::Dsss) => hr_dsss::minimum_sensitivity(rate),
            (_, Modulation::Ofdm) => ofdm::minimum_sensitivity(rate),
        }
    }

    /// The level in dBm at which a frame makes the medium busy: the sensitivity of the most robust rate, since a
    /// receiver that decodes a header holds the medium busy for the length that it names (15.4.6, 16.3.8.5,
    /// 17.3.10.6, 18.4.6). For OFDM this is the level that 17.3.10.6 itself names, −82 dBm.
    pub fn cca_threshold(&self) -> f64 {
        match self.standard {
            Standard::Dsss | Standard::HrDsss | Standard::Wavelan => dsss::MINIMUM_SENSITIVITY,
            Standard::Ofdm | Standard::Erp => ofdm::minimum_sensitivity(ofdm::RATE_6),
            Standard::OfdmTurbo => turbo::minimum_sensitivity(turbo::RATE_12),
        }
    }
}

/// The part of a header that carries bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// How they are put on the air.
    pub encoding: Encoding,
    /// How many they are.
    pub bits: u32,
    /// How long they last.
    pub duration: Duration,
}

/// Frame Control, Duration, RA and FCS (9.3.1.4).
const ACK_OCTETS: u32 = 14;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Standard; 6] =
        [Standard::Dsss, Standard::HrDsss, Standard::Ofdm, Standard::Erp, Standard::OfdmTurbo, Standard::Wavelan];

    fn mbps(rate: f64) -> DataRate {
        DataRate::from_kbps((rate * 1e3) as u32)
    }

    fn micros(duration: Duration) -> f64 {
        duration.as_nanos() as f64 / 1e3
    }

    /// After a frame at this rate.
    fn eifs(phy: &Phy, rate: f64) -> Duration {
        phy.eifs_without_difs(mbps(rate)) + phy.difs()
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
            let phy = standard.phy(false).for_data_rate(mbps(data_rate));
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
    }

    /// Table 18-5: the slot of 20 µs and what follows from it; nothing else, and nowhere else.
    #[test]
    fn the_long_slot_lengthens_the_spaces() {
        let (short, long) = (Standard::Erp.phy(false), Standard::Erp.phy(false).with_long_slot());
        assert_eq!([long.parameters().slot, long.pifs(), long.difs()].map(micros), [20.0, 30.0, 50.0]);
        assert_eq!((long.parameters().sifs, long.parameters().cw_min), (short.parameters().sifs, 15));
        assert_eq!(Standard::Ofdm.phy(false).with_long_slot(), Standard::Ofdm.phy(false));
    }

    /// The measured times of de Silva and Das, Table 1, ISA: half of a percent.
    #[test]
    fn wavelan_takes_the_measured_times() {
        let phy = Standard::Wavelan.phy(false);
        for (packet, measured) in [(1_500, 6_330.0), (68, 571.0)] {
            let airtime = micros(phy.airtime(mbps(2.0), packet + 36));
            assert!((airtime / measured - 1.0).abs() < 0.005, "{packet}: {airtime}");
        }
    }

    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        for (standard, short_preamble, rate, octets, expected) in [
            // 192 + 8·14, and half of it at 2 Mb/s.
            (Standard::Dsss, false, 1.0, 14, 304.0),
            (Standard::Dsss, false, 2.0, 14, 248.0),
            (Standard::Dsss, false, 2.0, 1_536, 6_336.0),
            // A short preamble does not exist in clause 15.
            (Standard::Dsss, true, 2.0, 14, 248.0),
            // 12000/11 = 1090.9, rounded up.
            (Standard::HrDsss, false, 11.0, 1_500, 192.0 + 1_091.0),
            (Standard::HrDsss, true, 11.0, 1_500, 96.0 + 1_091.0),
            // 12288/11 = 1117.1.
            (Standard::HrDsss, false, 11.0, 1_536, 1_310.0),
            // 112/5.5 = 20.4.
            (Standard::HrDsss, true, 5.5, 14, 96.0 + 21.0),
            (Standard::HrDsss, true, 2.0, 14, 96.0 + 56.0),
            (Standard::HrDsss, true, 1.0, 14, 304.0),
            // 57 symbols of 216 bits for 16 + 12288 + 6.
            (Standard::Ofdm, false, 54.0, 1_536, 248.0),
            (Standard::Ofdm, false, 6.0, 14, 44.0),
            (Standard::Ofdm, false, 12.0, 14, 32.0),
            (Standard::Ofdm, false, 24.0, 14, 28.0),
            (Standard::Ofdm, false, 24.0, 20, 28.0),
            (Standard::Ofdm, false, 6.0, 20, 52.0),
            // Annex I.1 (802.11-2020): 100 octets at 36 Mb/s make six symbols.
            (Standard::Ofdm, false, 36.0, 100, 44.0),
            (Standard::Erp, false, 54.0, 1_536, 254.0),
            (Standard::Erp, false, 24.0, 14, 34.0),
            (Standard::Erp, false, 11.0, 1_536, 1_310.0),
            (Standard::Erp, true, 11.0, 1_536, 1_214.0),
            // Half of 248 and of 28: 57 symbols, and 2.
            (Standard::OfdmTurbo, false, 108.0, 1_536, 124.0),
            (Standard::OfdmTurbo, false, 48.0, 14, 14.0),
            // 1500 and 68 octets and 36: 300 µs and 4 µs an octet of the packet.
            (Standard::Wavelan, false, 2.0, 1_536, 6_300.0),
            (Standard::Wavelan, true, 2.0, 104, 572.0),
        ] {
            let airtime = standard.phy(short_preamble).airtime(mbps(rate), octets);
            assert_eq!(micros(airtime), expected, "{standard}, {octets} octets at {rate} Mb/s");
        }
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
            assert_eq!(micros(phy.ack_timeout(mbps(rate))), expected, "{standard}");
            assert_eq!(micros(phy.cts_timeout(mbps(rate))), expected, "{standard}");
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
            assert_eq!(standard.default_basic_rate(mbps(data_rate)), mbps(expected), "{standard}, {data_rate} Mb/s");
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
            assert!(standard.rates().is_sorted());
            assert_eq!(standard.rates().len(), count);
            assert_eq!(standard.default_data_rate(), mbps(highest));
        }
    }

    #[test]
    fn what_can_be_decoded_is_sensed() {
        for standard in ALL {
            let phy = standard.phy(false);
            for &rate in standard.rates() {
                assert!(phy.cca_threshold() <= phy.minimum_sensitivity(rate), "{standard} at {rate}");
            }
        }
        assert_eq!(Standard::HrDsss.phy(false).minimum_sensitivity(mbps(11.0)), -76.0);
        assert_eq!(Standard::Ofdm.phy(false).cca_threshold(), -82.0);
    }

    #[test]
    fn headers_have_the_bits_of_their_fields() {
        assert_eq!(Standard::Dsss.phy(false).header_bits(mbps(2.0)), 144 + 48);
        assert_eq!(Standard::HrDsss.phy(true).header_bits(mbps(2.0)), 72 + 48);
        assert_eq!(Standard::HrDsss.phy(true).header_bits(mbps(1.0)), 144 + 48);
        assert_eq!(Standard::Ofdm.phy(false).header_bits(mbps(54.0)), 24);
        assert_eq!(Standard::Erp.phy(false).header_bits(mbps(6.0)), 24);
        assert_eq!(Standard::Wavelan.phy(false).header_bits(mbps(2.0)), 0);
    }

    proptest! {
        #[test]
        fn airtime_grows_with_length_and_keeps_to_the_rate(
            standard in prop::sample::select(&ALL[..]), pick in any::<prop::sample::Index>(),
            short_preamble: bool, octets in 0u32..4_096, more in 1u32..64,
        ) {
            let phy = standard.phy(short_preamble);
            let rate = *pick.get(standard.rates());
            let (short, long) = (phy.airtime(rate, octets), phy.airtime(rate, octets + more));
            prop_assert!(short <= long);
            // Beyond its header no frame is faster than its rate, nor slower by more than 22 bits and one symbol.
            let data = micros(short - phy.header_duration(rate));
            let bits = f64::from(octets) * 8.0;
            let mbps = f64::from(rate.as_kbps()) / 1e3;
            prop_assert!(data >= bits / mbps);
            prop_assert!(data < (bits + 22.0) / mbps + 4.0 + 6.0);
        }

        #[test]
        fn no_length_overflows(octets: u32) {
            prop_assert!(Standard::HrDsss.phy(false).airtime(mbps(1.0), octets) > Duration::ZERO);
            prop_assert!(Standard::Ofdm.phy(false).airtime(mbps(6.0), octets) > Duration::ZERO);
        }
    }
}
