//! Channels: number, centre and width.

use super::ChannelWidth;

/// A channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Its number in its band.
    pub number: u32,
    /// Its centre in hertz.
    pub frequency: f64,
    /// Its width.
    pub width: ChannelWidth,
}

/// The channels of a physical layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channels {
    /// Ascending, each with its centre in MHz. The first is that of a network that names none.
    pub(super) numbers: &'static [(u32, u32)],
    /// The numbers, for a message.
    pub(super) described: &'static str,
    /// Of each.
    pub(super) width: ChannelWidth,
    /// From one to the next that does not overlap it, in hertz.
    pub(super) spacing: f64,
}

impl Channels {
    /// 15.4.4.3, 16.3.6.3: those at 2.4 GHz that DSSS has, of which channel 14 is one of Japan's.
    pub(super) const AT_2_4_GHZ: Self =
        Self { numbers: &LOW, described: "1 to 14", width: ChannelWidth::Mhz20, spacing: 25e6 };

    /// The same for OFDM, which channel 14 does not admit.
    pub(super) const AT_2_4_GHZ_FOR_OFDM: Self =
        Self { numbers: LOW.split_at(13).0, described: "1 to 13", ..Self::AT_2_4_GHZ };

    /// 17.3.8.4.2 and Annex E: those of 20 MHz at 5 GHz.
    pub(super) const AT_5_GHZ: Self = Self {
        numbers: &HIGH,
        described: "36, 40 … 64, 100, 104 … 144, or 149, 153 … 177",
        width: ChannelWidth::Mhz20,
        spacing: 20e6,
    };

    /// The channel with this number; `None` if no channel has it.
    pub fn channel(&self, number: u32) -> Option<Channel> {
        let &(_, megahertz) = self.numbers.iter().find(|&&(known, _)| known == number)?;
        Some(Channel { number, frequency: f64::from(megahertz) * 1e6, width: self.width })
    }

    /// The channel of a network that names none.
    pub(crate) fn default_channel(&self) -> Channel {
        self.channel(self.numbers[0].0).expect("it is the first of them")
    }

    /// Their numbers, for a message.
    pub fn described(&self) -> &'static str {
        self.described
    }

    /// Distance to the next channel that does not overlap it, in hertz.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }
}

/// IEEE 802.11-2020, Table 15-6.
const LOW: [(u32, u32); 14] = {
    let mut channels = centred(2_407, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    channels[13].1 = 2_484;
    channels
};

const HIGH: [(u32, u32); 28] = centred(
    5_000,
    [
        36, 40, 44, 48, 52, 56, 60, 64, 100, 104, 108, 112, 116, 120, 124, 128, 132, 136, 140, 144, 149, 153, 157, 161,
        165, 169, 173, 177,
    ],
);

/// 17.3.8.4.2: the centre of a channel is 5 MHz times its number above a start.
pub(super) const fn centred<const N: usize>(start: u32, numbers: [u32; N]) -> [(u32, u32); N] {
    let mut channels = [(0, 0); N];
    let mut place = 0;
    while place < N {
        channels[place] = (numbers[place], start + 5 * numbers[place]);
        place += 1;
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frequency(channels: Channels, number: u32) -> Option<f64> {
        channels.channel(number).map(|channel| channel.frequency / 1e6)
    }

    /// Table 15-6 and 17.3.8.4.2.
    #[test]
    fn channels_lie_where_the_standard_puts_them() {
        let low = Channels::AT_2_4_GHZ;
        assert_eq!([1, 6, 13, 14].map(|number| frequency(low, number)), [2412.0, 2437.0, 2472.0, 2484.0].map(Some));
        let high = Channels::AT_5_GHZ;
        assert_eq!(
            [36, 64, 144, 149].map(|number| frequency(high, number)),
            [5180.0, 5320.0, 5720.0, 5745.0].map(Some)
        );
    }

    #[test]
    fn there_are_no_others() {
        assert_eq!([0, 15].map(|number| frequency(Channels::AT_2_4_GHZ, number)), [None; 2]);
        assert_eq!(frequency(Channels::AT_2_4_GHZ_FOR_OFDM, 14), None);
        assert_eq!([34, 38, 68, 96, 148, 181].map(|number| frequency(Channels::AT_5_GHZ, number)), [None; 6]);
    }

    #[test]
    fn the_first_is_the_default() {
        let all = [Channels::AT_2_4_GHZ, Channels::AT_2_4_GHZ_FOR_OFDM, Channels::AT_5_GHZ];
        assert_eq!(all.map(|channels| channels.default_channel().number), [1, 1, 36]);
    }
}
