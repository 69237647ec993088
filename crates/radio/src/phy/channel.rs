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

/// A channel that may be wider than the one it is named after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WideChannel {
    /// Centre of the primary channel in hertz.
    pub primary: f64,
    /// Centre of the whole in hertz.
    pub centre: f64,
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
    pub fn default_channel(&self) -> Channel {
        self.channel(self.numbers[0].0).expect("it is the first of them")
    }

    /// The channel of a width whose primary channel has this number: the one on the raster that contains it, at 2.4 GHz the one
    /// with channel 1 to 7 below and others above. `None`: there is none.
    pub fn wide(&self, number: u32, width: ChannelWidth) -> Option<WideChannel> {
        let primary = self.channel(number)?.frequency;
        let of = |centre: f64| Some(WideChannel { primary, centre, width });
        if width == ChannelWidth::Mhz20 {
            return of(primary);
        }
        if self.numbers.len() < HIGH.len() {
            let centre = if number <= 7 { primary + 10e6 } else { primary - 10e6 };
            return (width == ChannelWidth::Mhz40).then_some(centre).and_then(of);
        }
        // Annex E: blocks of whole channels begin at 36, 100 and 149.
        let (start, end) = match number {
            36..=64 => (36, 64),
            100..=144 => (100, 144),
            _ => (149, 177),
        };
        // Numbers count steps of 5 MHz.
        let block = 4 << (width as u32);
        let first = start + (number - start) / block * block;
        (first + block - 4 <= end).then_some(5e9 + 5e6 * f64::from(first + block / 2 - 2)).and_then(of)
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

    /// Annex E, Table E-4, by the number of the centre: 42 and 50, 58; 106 and 114; 138 and none; 155, 163 and 171.
    #[test]
    fn wide_channels_lie_on_their_raster() {
        use ChannelWidth::{Mhz40, Mhz80, Mhz160};
        let centre =
            |number, width| Channels::AT_5_GHZ.wide(number, width).map(|channel| (channel.centre / 5e6) as u32 - 1_000);
        assert_eq!([36, 48, 52, 64].map(|n| centre(n, Mhz80)), [42, 42, 58, 58].map(Some));
        assert_eq!([36, 40, 44, 48].map(|n| centre(n, Mhz40)), [38, 38, 46, 46].map(Some));
        assert_eq!([36, 64, 100, 128].map(|n| centre(n, Mhz160)), [50, 50, 114, 114].map(Some));
        assert_eq!([132, 144, 149, 165].map(|n| centre(n, Mhz80)), [138, 138, 155, 171].map(Some));
        assert_eq!([132, 149, 177].map(|n| centre(n, Mhz160)), [None, Some(163), Some(163)]);
        let low = |number| Channels::AT_2_4_GHZ_FOR_OFDM.wide(number, Mhz40).map(|channel| channel.centre / 1e6);
        assert_eq!([1, 7, 13].map(low), [2_422.0, 2_452.0, 2_462.0].map(Some));
    }

    #[test]
    fn the_first_is_the_default() {
        let all = [Channels::AT_2_4_GHZ, Channels::AT_2_4_GHZ_FOR_OFDM, Channels::AT_5_GHZ];
        assert_eq!(all.map(|channels| channels.default_channel().number), [1, 1, 36]);
    }
}
