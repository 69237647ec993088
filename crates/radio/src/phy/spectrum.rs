//! Where a frame lies within the channel of a receiver: on the primary channel, on the secondary ones, or next to them.

use super::{ChannelWidth, TxVector, WideChannel};
use crate::units::{Decibel, Power};

/// Parts of a channel: the primary channel of 20 MHz, and the secondary channels of 20, 40 and 80 MHz.
pub const PARTS: usize = ChannelWidth::ALL.len();

/// In dB: by so much more an OFDM receiver rejects a channel beyond the adjacent one (IEEE 802.11-2020, Table 17-18).
pub const NONADJACENT: f64 = 16.0;

/// A range of frequencies, in MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    low: u32,
    high: u32,
}

impl Span {
    /// How much of it is in another, in MHz.
    fn overlap(self, other: Self) -> u32 {
        self.high.min(other.high).saturating_sub(self.low.max(other.low))
    }

    /// What is between it and another.
    fn gap(self, other: Self) -> u32 {
        self.low.max(other.low).saturating_sub(self.high.min(other.high))
    }
}

impl WideChannel {
    /// The part of this width that contains the primary channel. One wider than the channel is all of it.
    fn block(&self, width: ChannelWidth) -> Span {
        let megahertz = |hertz: f64| libm::round(hertz / 1e6) as u32;
        let all = megahertz(self.width.hertz());
        let low = megahertz(self.centre) - all / 2;
        let wanted = megahertz(width.hertz()).min(all);
        let before = (megahertz(self.primary) - low) / wanted * wanted;
        Span { low: low + before, high: low + before + wanted }
    }

    /// A part: the primary channel, or what makes the channel of the next width of the one before. `None`: it is narrower.
    fn part(&self, place: usize) -> Option<Span> {
        let width = ChannelWidth::ALL[place];
        let block = self.block(width);
        let Some(narrower) = place.checked_sub(1) else { return Some(block) };
        let inner = self.block(ChannelWidth::ALL[narrower]);
        let outer = match inner.low == block.low {
            true => Span { low: inner.high, high: block.high },
            false => Span { low: block.low, high: inner.low },
        };
        (width <= self.width).then_some(outer)
    }
}

/// What a receiver can do with frames of a width from a channel, besides what their format asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They fill its channel of this width, or are repeated on its primary channel.
    Whole,
    /// They cover its primary channel, but not as its frames of that width do.
    Primary,
    /// They leave its primary channel free.
    Apart,
}

/// How frames of a width from a channel meet the channel of a receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The share of a frame's power in each part of the channel.
    shares: [f64; PARTS],
    /// The least power with which the frame makes each secondary part busy.
    pub(crate) busy: [Power; PARTS],
    /// See there.
    pub fit: Fit,
}

impl Overlap {
    /// Of frames of this width from stations on channel `from`, at those on channel `to`, which weaken an adjacent channel by `rejection`
    /// dB. `None`: completely.
    pub fn new(from: &WideChannel, width: ChannelWidth, to: &WideChannel, rejection: Option<f64>) -> Self {
        let frame = from.block(width);
        let (mut shares, mut busy) = ([0.0; PARTS], [Power::MAX; PARTS]);
        for place in 0..PARTS {
            let Some(part) = to.part(place) else { continue };
            let overlap = frame.overlap(part);
            if overlap > 0 {
                shares[place] = f64::from(overlap) / f64::from(frame.high - frame.low);
                busy[place] = Power::from_dbm(if overlap > 40 { BUSY_80 } else { BUSY_20_AND_40 });
            } else if let Some(adjacent) = rejection {
                let channels = f64::from(frame.gap(part)) / 20.0;
                shares[place] = Decibel(-adjacent - NONADJACENT * channels.min(1.0)).as_ratio();
            }
        }
        let primary = to.block(ChannelWidth::Mhz20);
        let fit = match frame.overlap(primary) {
            0 => Fit::Apart,
            20 if width <= to.width && frame == to.block(width) => Fit::Whole,
            20 => Fit::Primary,
            _ => Fit::Apart,
        };
        Self { shares, busy, fit }
    }

    /// What of a `power` is in each part.
    pub(crate) fn parts(&self, power: Power) -> [Power; PARTS] {
        self.shares.map(|share| if share > 0.0 { power.scaled(share) } else { Power::ZERO })
    }
}

/// In dBm: a frame of 20 or 40 MHz of this power makes a secondary channel busy, and one of 80 MHz of that (IEEE 802.11-2020,
/// 21.3.18.5.4).
const BUSY_20_AND_40: f64 = -72.0;
const BUSY_80: f64 = -69.0;

/// In dBm: any energy of this power makes the primary channel or the secondary channel of 20, 40 or 80 MHz busy (21.3.18.5.3,
/// 21.3.18.5.4).
const ENERGY: [f64; PARTS] = [-62.0, -62.0, -59.0, -56.0];

/// The power of any signals that makes each part busy.
pub(crate) fn energy_thresholds() -> [Power; PARTS] {
    ENERGY.map(Power::from_dbm)
}

/// The channels of all stations, and how frames of each width from each of them meet the others.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// By station, a place in the list of distinct channels.
    of: Box<[u16]>,
    distinct: usize,
    widths: Box<[ChannelWidth]>,
    /// By channel of the transmitter, width, and channel of the receiver.
    overlaps: Box<[Overlap]>,
}

impl Spectrum {
    /// That of stations with these `channels`, by station. `rejection` as for [`Overlap::new`].
    pub fn new(channels: &[WideChannel], rejection: Option<f64>) -> Self {
        let distinct = super::distinct(channels.iter().copied());
        let place = |channel: &WideChannel| distinct.iter().position(|known| known == channel).unwrap_or(0) as u16;
        let overlaps = distinct.iter().flat_map(|from| ChannelWidth::ALL.map(|width| (from, width)));
        let overlaps = overlaps
            .flat_map(|(from, width)| distinct.iter().map(move |to| Overlap::new(from, width, to, rejection)))
            .collect();
        Self {
            of: channels.iter().map(place).collect(),
            distinct: distinct.len(),
            widths: channels.iter().map(|channel| channel.width).collect(),
            overlaps,
        }
    }

    /// How a frame that station `from` sends so meets the channel of station `to`.
    #[inline]
    pub(crate) fn overlap(&self, from: usize, vector: TxVector, to: usize) -> &Overlap {
        let (from, to) = (usize::from(self.of[from]), usize::from(self.of[to]));
        &self.overlaps[(from * PARTS + vector.width() as usize) * self.distinct + to]
    }

    /// The widths of the channels, by station.
    pub(crate) fn widths(&self) -> &[ChannelWidth] {
        &self.widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Channels;
    use ChannelWidth::{Mhz20, Mhz40, Mhz80, Mhz160};

    fn wide(number: u32, width: ChannelWidth) -> WideChannel {
        Channels::AT_5_GHZ.wide(number, width).expect("a channel of Annex E")
    }

    /// The parts of a channel by the numbers of their centres (Annex E).
    fn parts(number: u32, width: ChannelWidth) -> Vec<u32> {
        let channel = wide(number, width);
        (0..PARTS).filter_map(|place| channel.part(place)).map(|part| (part.low + part.high - 10_000) / 10).collect()
    }

    #[test]
    fn secondary_channels_lie_where_annex_e_puts_them() {
        assert_eq!(parts(36, Mhz160), [36, 40, 46, 58]);
        assert_eq!(parts(40, Mhz80), [40, 36, 46]);
        assert_eq!(parts(48, Mhz80), [48, 44, 38]);
        assert_eq!(parts(56, Mhz160), [56, 52, 62, 42]);
        assert_eq!(parts(44, Mhz20), [44]);
    }

    #[test]
    fn a_frame_spreads_its_power_over_the_parts_that_it_covers() {
        let shares = |from, width, to| Overlap::new(&from, width, &to, None).shares;
        let own = wide(36, Mhz80);
        assert_eq!(shares(own, Mhz80, own), [0.25, 0.25, 0.5, 0.0]);
        assert_eq!(shares(own, Mhz40, own), [0.5, 0.5, 0.0, 0.0]);
        assert_eq!(shares(own, Mhz20, own), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(shares(wide(44, Mhz80), Mhz20, own), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(shares(wide(44, Mhz80), Mhz40, own), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(shares(wide(52, Mhz80), Mhz80, wide(36, Mhz160)), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(shares(wide(36, Mhz160), Mhz160, wide(40, Mhz20)), [0.125, 0.0, 0.0, 0.0]);
    }

    /// 17.3.10.3: the adjacent channel, and one beyond.
    #[test]
    fn what_is_apart_leaks() {
        let shares = Overlap::new(&wide(40, Mhz20), Mhz20, &wide(36, Mhz80), Some(28.0)).shares;
        let leak = |decibels: f64| Decibel(-decibels).as_ratio();
        assert_eq!(shares, [leak(28.0), 1.0, leak(28.0), 0.0]);
        let shares = Overlap::new(&wide(48, Mhz20), Mhz20, &wide(36, Mhz80), Some(28.0)).shares;
        assert_eq!(shares, [leak(44.0), leak(44.0), 1.0, 0.0]);
    }

    #[test]
    fn a_receiver_decodes_what_fills_a_channel_of_its_own() {
        let fit = |from, width, to| Overlap::new(&from, width, &to, None).fit;
        let (own, other) = (wide(36, Mhz80), wide(44, Mhz80));
        assert_eq!([Mhz20, Mhz40, Mhz80].map(|width| fit(own, width, own)), [Fit::Whole; 3]);
        assert_eq!([Mhz20, Mhz40, Mhz80].map(|width| fit(own, width, other)), [Fit::Apart, Fit::Apart, Fit::Whole]);
        // The secondary channel of one is the primary channel of the other.
        assert_eq!([Mhz20, Mhz40].map(|width| fit(own, width, wide(40, Mhz80))), [Fit::Apart, Fit::Whole]);
        assert_eq!([Mhz20, Mhz80].map(|width| fit(own, width, wide(36, Mhz20))), [Fit::Whole, Fit::Primary]);
    }

    #[test]
    fn a_frame_needs_a_certain_power_to_make_a_secondary_channel_busy() {
        let busy = |from, width| Overlap::new(&from, width, &wide(36, Mhz160), None).busy;
        let [none, low, high] = [Power::MAX, Power::from_dbm(-72.0), Power::from_dbm(-69.0)];
        assert_eq!(busy(wide(40, Mhz20), Mhz20), [none, low, none, none]);
        assert_eq!(busy(wide(44, Mhz40), Mhz40), [none, none, low, none]);
        assert_eq!(busy(wide(52, Mhz80), Mhz80), [none, none, none, high]);
    }
}
