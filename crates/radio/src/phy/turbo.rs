//! Atheros' turbo mode of 802.11a: OFDM as in clause 17 with the clock doubled, 12 to 108 Mb/s in a channel of 40 MHz.
//!
//! A symbol, the training and SIGNAL take half of their times; their bits are those of clause 17 at half the rate. No
//! standard describes the mode. Interframe spaces are those of the drivers: 6 µs a slot (ath5k,
//! `AR5K_INIT_SLOT_TIME_TURBO`) and 8 µs of SIFS (Atheros' HAL as in FreeBSD, `TURBO_SIFS_TIME`; OpenBSD's `ar5xxx.h` has
//! the same). The HAL computes airtimes with symbols in pairs, 4 µs, after a preamble of 14 µs, which is neither half of
//! 20 µs nor whole symbols of 2 µs more; hopcast uses the time on the air.

use hopcast_protocols::time::Duration;

use super::channel::centred;
use super::clause::{Clause, Framing, PhyParameters, Section};
use super::ofdm::{self, Ofdm};
use super::{ChannelWidth, Channels, DataRate, GuardInterval, Standard, TxVector};

/// See the module.
#[derive(Debug)]
pub(super) struct OfdmTurbo;

/// Those of clause 17, each at twice the rate.
const VECTORS: [TxVector; 8] = {
    let mut vectors = ofdm::vectors(Standard::OfdmTurbo);
    let mut mcs = 0;
    while mcs < 8 {
        vectors[mcs] = vectors[mcs].with_width(ChannelWidth::Mhz40).with_guard_interval(GuardInterval::Ns400);
        mcs += 1;
    }
    vectors
};

/// Contention as in clause 17.
const PARAMETERS: PhyParameters = PhyParameters {
    slot: Duration::from_micros(6),
    sifs: Duration::from_micros(8),
    // A microsecond: half of the 2 µs of clause 17.
    rx_tx_turnaround: Duration::from_micros(1),
    ..ofdm::PARAMETERS
};

impl Clause for OfdmTurbo {
    fn name(&self) -> &'static str {
        "802.11a-turbo"
    }

    fn summary(&self) -> &'static str {
        "Atheros' turbo mode of 802.11a: OFDM at 12 to 108 Mb/s in 40 MHz, 5 GHz."
    }

    fn vectors(&self, _short_preamble: bool) -> &'static [TxVector] {
        &VECTORS
    }

    fn parameters(&self) -> PhyParameters {
        PARAMETERS
    }

    fn channels(&self) -> Channels {
        // Each lies over two of 20 MHz.
        const NUMBERS: [(u32, u32); 5] = centred(5_000, [42, 50, 58, 152, 160]);
        let described = "42, 50, 58, 152 or 160";
        Channels { numbers: &NUMBERS, described, width: ChannelWidth::Mhz40, spacing: 40e6 }
    }

    #[inline]
    fn framing(&self, vector: TxVector) -> Framing {
        let plain = Ofdm.framing(vector);
        Framing {
            data_rate: DataRate::from_kbps(2 * plain.data_rate.as_kbps()),
            header_duration: plain.header_duration / 2,
            header: Section { duration: plain.header.duration / 2, ..plain.header },
            cca_time: plain.cca_time / 2,
            noise_bandwidth: 2.0 * plain.noise_bandwidth,
            // Twice the band has twice the noise, 3 dB more than Table 17-18 has for 20 MHz at half the rate, as the same
            // table has 3 dB between 20 MHz and 10 MHz and between 10 MHz and 5 MHz.
            minimum_sensitivity: plain.minimum_sensitivity + 3.0,
            ..plain
        }
    }

    #[inline]
    fn psdu_duration(&self, vector: TxVector, octets: u32) -> Duration {
        Ofdm.psdu_duration(vector, octets) / 2
    }

    /// It is 802.11a at twice the clock, and announced as that: 108 Mb/s as 54.
    fn supported_rate(&self, vector: TxVector) -> u8 {
        Ofdm.supported_rate(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_of_clause_17_at_twice_the_clock() {
        for (ours, theirs) in VECTORS.iter().zip(ofdm::vectors(Standard::Ofdm)) {
            let (fast, plain) = (ours.framing(), theirs.framing());
            assert_eq!(fast.data_rate.as_kbps(), 2 * plain.data_rate.as_kbps());
            assert_eq!((fast.encoding, fast.is_basic), (plain.encoding, plain.is_basic));
            assert_eq!((fast.header.encoding, fast.header.bits), (plain.header.encoding, plain.header.bits));
            assert_eq!(fast.minimum_sensitivity, plain.minimum_sensitivity + 3.0);
            assert_eq!(ours.airtime(1_536) * 2, theirs.airtime(1_536));
            assert_eq!(OfdmTurbo.supported_rate(*ours), Ofdm.supported_rate(theirs));
        }
        let framing = VECTORS[7].framing();
        let micros = Duration::from_micros;
        assert_eq!(
            (framing.header_duration, framing.header.duration, framing.cca_time),
            (micros(10), micros(2), micros(2))
        );
        assert_eq!(framing.noise_bandwidth, 32.5e6);
    }

    #[test]
    fn a_channel_lies_over_two_of_20_megahertz() {
        let channel = |number| OfdmTurbo.channels().channel(number);
        assert_eq!(channel(42).map(|channel| channel.frequency), Some(5.210e9));
        assert_eq!((channel(36), OfdmTurbo.channels().default_channel().number), (None, 42));
    }

    /// Half of 248 and of 28: 57 symbols, and 2.
    #[test]
    fn airtimes_are_those_worked_out_by_hand() {
        assert_eq!(VECTORS[7].airtime(1_536), Duration::from_micros(124));
        assert_eq!(VECTORS[4].airtime(14), Duration::from_micros(14));
    }
}
