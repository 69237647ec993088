//! The shape of frames of 802.11n, 802.11ac and 802.11ax: band, channel, streams, guard interval and code.

use hopcast_radio::mac::Bandwidth;
use hopcast_radio::phy::{
    Band, ChannelWidth, Channels, Coding, GuardInterval, Phy, Shape, Standard, TxVector, WideChannel,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Resolver;
use super::Radio;
use crate::scenario::declare::computed;
use crate::scenario::quantity::{Frequency, RateChoice, Time};

/// A channel: its number, or a table with its number and width.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("type" = ["integer", "object"], "x-short" = "number", "minimum" = 1, "maximum" = 200))]
pub(super) struct Channel {
    /// Number of the primary channel of 20 MHz in the standard's band.
    #[schemars(extend("minimum" = 1, "maximum" = 200))]
    pub(super) number: u32,
    /// Width: 20, 40, 80 or 160 MHz, for 802.11n and later. The channel is the one of this width that contains the
    /// primary channel; at 2.4 GHz the second half lies above channels 1 to 7 and below the others.
    #[schemars(extend("minimum" = 1e6, "maximum" = 1e9, "x-default" = computed("20 MHz; 40 MHz for `802.11a-turbo`")))]
    pub(super) width: Option<Frequency>,
}

/// What becomes of frames in a channel of which a part is busy.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BandwidthName {
    /// The channel is one: each data frame fills it, and whatever is in it makes it busy.
    Whole,
    /// The backoff counts on the primary channel. A frame waits for another access if a secondary channel was not idle for PIFS.
    Static,
    /// The same, but a frame goes over the channels that were idle.
    Dynamic,
}

impl From<BandwidthName> for Bandwidth {
    fn from(name: BandwidthName) -> Self {
        match name {
            BandwidthName::Whole => Self::Whole,
            BandwidthName::Static => Self::Static,
            BandwidthName::Dynamic => Self::Dynamic,
        }
    }
}

/// Code of the PSDU.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CodeName {
    /// The binary convolutional code.
    Bcc,
    /// Low-density parity-check codes.
    Ldpc,
}

/// The standards that have shapes, for messages.
const SHAPED: &str = "802.11n, 802.11ac or 802.11ax";

impl Resolver<'_> {
    /// The physical layer, and the channel of the network if one is given.
    pub(super) fn shaped_phy(
        &mut self,
        radio: &Radio,
        standard: Standard,
        short_preamble: bool,
    ) -> (Phy, Option<Shape>, Option<WideChannel>) {
        let phy = standard.phy(short_preamble);
        if !standard.has_shape() {
            for (key, is_given) in [
                ("band", radio.band.is_some()),
                ("spatial_streams", radio.spatial_streams.is_some()),
                ("guard_interval", radio.guard_interval.is_some()),
                ("coding", radio.coding.is_some()),
            ] {
                if is_given {
                    self.report(
                        &["radio", key],
                        format!("is not a parameter of {standard}"),
                        format!("standard = {SHAPED}"),
                    );
                }
            }
            let channel = self.channel(radio.channel, standard, Band::High, &["radio", "channel"]);
            return (phy, None, channel);
        }
        let band = self.band(radio, standard);
        let channel = self.channel(radio.channel, standard, band, &["radio", "channel"]);
        let streams = self.streams(radio, standard);
        let guard_interval = self.guard_interval(radio, standard);
        let width = channel.map_or(ChannelWidth::Mhz20, |channel| channel.width);
        let coding = self.code(radio, standard, width, streams);
        let shape = Shape { band, width, streams, guard_interval, coding };
        (phy.with_shape(shape), Some(shape), channel)
    }

    fn band(&mut self, radio: &Radio, standard: Standard) -> Band {
        let path = ["radio", "band"];
        let band = self.ledger.pick(&path, radio.band, || {
            (Frequency(5e9), "default: the band that 802.11n, 802.11ac and 802.11ax share".into())
        });
        let known = match band.0 {
            2.4e9 => Some(Band::Low),
            5e9 => Some(Band::High),
            _ => None,
        };
        match known {
            None => self.report(&path, "is not a band of the standard", "\"2.4 GHz\" or \"5 GHz\""),
            Some(Band::Low) if standard == Standard::Vht => {
                self.report(
                    &path,
                    format!("{standard} has no channels at 2.4 GHz"),
                    "\"5 GHz\", or 802.11n or 802.11ax",
                );
            }
            Some(_) => {}
        }
        known.unwrap_or_default()
    }

    /// The channel, if one is given and the standard has it.
    pub(super) fn channel(
        &mut self,
        given: Option<Channel>,
        standard: Standard,
        band: Band,
        path: &[&str],
    ) -> Option<WideChannel> {
        let channels = standard.channels_in(band);
        let Some(Channel { number, width }) = given else {
            let first = channels.default_channel();
            self.ledger.note(path, &first.number.to_string(), &format!("default: the first channel of {standard}"));
            return None;
        };
        let at = |key| path.iter().copied().chain([key]).collect::<Vec<_>>();
        let Some(channel) = channels.channel(number) else {
            self.report(&at("number"), format!("{standard} has no such channel"), channels.described());
            return None;
        };
        self.ledger.note_given(&at("width"));
        let Some(width) = width else {
            return Some(WideChannel { primary: channel.frequency, centre: channel.frequency, width: channel.width });
        };
        let wanted = ChannelWidth::ALL.into_iter().find(|known| known.hertz() == width.0);
        let most = widest(standard, band);
        let wide = wanted
            .filter(|&wanted| wanted <= most && (standard.has_shape() || wanted == channel.width))
            .and_then(|wanted| channels.wide(number, wanted));
        if wide.is_none() {
            let fitting = fitting_widths(standard, &channels, number, channel.width, most);
            let problem = format!("{standard} has no channel {number} of that width");
            self.report(&at("width"), problem, fitting);
        }
        wide
    }

    /// What becomes of frames in a channel of which a part is busy.
    pub(super) fn bandwidth(&mut self, radio: &Radio, standard: Standard, by_sinr: bool) -> Bandwidth {
        let path = ["radio", "bandwidth"];
        if !standard.has_shape() {
            if radio.bandwidth.is_some() {
                self.report(&path, format!("is not a parameter of {standard}"), format!("standard = {SHAPED}"));
            }
            return Bandwidth::Whole;
        }
        let bandwidth = self.ledger.pick(&path, radio.bandwidth, || {
            (BandwidthName::Whole, "default: the channel is one for all stations".into())
        });
        if bandwidth != BandwidthName::Whole && !by_sinr {
            self.report(
                &path,
                "needs power in each part of a channel, by which no threshold decides",
                "\"whole\", or reception = \"sinr\"",
            );
            return Bandwidth::Whole;
        }
        bandwidth.into()
    }

    /// Streams: as many as the scheme of HT names, or one.
    fn streams(&mut self, radio: &Radio, standard: Standard) -> u8 {
        let path = ["radio", "spatial_streams"];
        let named = match radio.data_rate {
            Some(RateChoice::Mcs(mcs)) if standard == Standard::Ht && mcs < 32 => mcs / 8 + 1,
            _ => 1,
        };
        let streams = self.ledger.pick(&path, radio.spatial_streams, || match named {
            1 => (1, "default: a single antenna at each end".into()),
            named => (named, "default: those of the scheme that data_rate names".into()),
        });
        if standard == Standard::Ht && streams > 4 {
            self.report(&path, format!("{standard} has at most four streams"), "1 to 4");
            return 4;
        }
        streams
    }

    fn guard_interval(&mut self, radio: &Radio, standard: Standard) -> GuardInterval {
        let path = ["radio", "guard_interval"];
        let interval = self.ledger.pick(&path, radio.guard_interval, || {
            (Time::from(GuardInterval::Ns800.duration()), "default: the one that every station has".into())
        });
        let allowed: &[GuardInterval] = match standard {
            Standard::He => &[GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200],
            _ => &[GuardInterval::Ns400, GuardInterval::Ns800],
        };
        let nanos = libm::round(interval.0 * 1e9);
        let found = allowed.iter().copied().find(|known| known.duration().as_nanos() as f64 == nanos);
        found.unwrap_or_else(|| {
            let allowed: Vec<String> =
                allowed.iter().map(|known| format!("\"{}\"", Time::from(known.duration()))).collect();
            self.report(&path, format!("is not a guard interval of {standard}"), allowed.join(" or "));
            GuardInterval::Ns800
        })
    }

    fn code(&mut self, radio: &Radio, standard: Standard, width: ChannelWidth, streams: u8) -> Coding {
        let path = ["radio", "coding"];
        let code = self.ledger.pick(&path, radio.coding, || match standard {
            Standard::He => (CodeName::Ldpc, "default: what 802.11ax asks for above 20 MHz (27.3.12.5)".into()),
            _ => (CodeName::Bcc, "default: the code that every station has".into()),
        });
        if code == CodeName::Bcc && standard == Standard::He && (width > ChannelWidth::Mhz20 || streams > 4) {
            let problem = format!("{standard} has this code in 20 MHz over up to four streams only");
            self.report(&path, problem, "\"ldpc\"");
        }
        match code {
            CodeName::Bcc => Coding::Bcc,
            CodeName::Ldpc => Coding::Ldpc,
        }
    }

    /// The vector of a modulation and coding scheme. Reports one that there is not.
    pub(super) fn scheme_at(&mut self, path: &[&str], mcs: u8, phy: &Phy, shape: Option<Shape>) -> Option<TxVector> {
        let standard = phy.standard();
        let Some(shape) = shape else {
            let known: Vec<String> = phy.vectors().iter().map(|rate| format!("\"{rate}\"")).collect();
            let problem = format!("{standard} has rates, and no schemes by number");
            self.report(path, problem, format!("one of {}", known.join(", ")));
            return None;
        };
        let found = shape.vector(standard, mcs);
        if found.is_none() {
            let all = if standard == Standard::Ht { 0..32 } else { 0..12 };
            let known: Vec<String> =
                all.filter(|&mcs| shape.vector(standard, mcs).is_some()).map(|mcs| mcs.to_string()).collect();
            let streams = if shape.streams == 1 { "one stream".into() } else { format!("{} streams", shape.streams) };
            let problem = format!("{standard} has no such scheme with {streams} in {}", Frequency(shape.width.hertz()));
            self.report(path, problem, format!("\"mcs N\" with N = {}", known.join(", ")));
        }
        found
    }
}

/// The widest channels of a standard in a band.
pub(super) fn widest(standard: Standard, band: Band) -> ChannelWidth {
    match (standard, band) {
        (Standard::Ht, _) | (Standard::He, Band::Low) | (Standard::OfdmTurbo, _) => ChannelWidth::Mhz40,
        (Standard::Vht | Standard::He, _) => ChannelWidth::Mhz160,
        _ => ChannelWidth::Mhz20,
    }
}

/// The widths that a channel has, for a message.
fn fitting_widths(
    standard: Standard,
    channels: &Channels,
    number: u32,
    plain: ChannelWidth,
    most: ChannelWidth,
) -> String {
    let fits = |width: &ChannelWidth| match standard.has_shape() {
        true => *width <= most && channels.wide(number, *width).is_some(),
        false => *width == plain,
    };
    let fitting = ChannelWidth::ALL.iter().filter(|width| fits(width));
    fitting.map(|width| format!("\"{}\"", Frequency(width.hertz()))).collect::<Vec<_>>().join(" or ")
}

/// The default channel of each physical layer, as text for the reference page.
pub(super) fn default_channels() -> String {
    let mut by_channel: Vec<(u32, Vec<&str>)> = Vec::new();
    for standard in Standard::ALL {
        let number = standard.default_channel().number;
        match by_channel.iter_mut().find(|(known, _)| *known == number) {
            Some((_, names)) => names.push(standard.name()),
            None => by_channel.push((number, vec![standard.name()])),
        }
    }
    let told = by_channel.into_iter().map(|(number, names)| format!("{number} ({})", names.join(", ")));
    told.collect::<Vec<_>>().join(", ")
}
