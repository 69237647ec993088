//! The radios of a group of nodes.

use hopcast_radio::mac::Bandwidth;
use hopcast_radio::phy::{Band, Capability, TxVector, WideChannel};
use hopcast_radio::rate::Algorithm;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::rates::shown;
use super::shape::Channel;
use super::standard::StandardName;
use crate::scenario::declare::computed;
use crate::scenario::model;
use crate::scenario::quantity::{Frequency, Power, Rate, RateOrScheme};

/// Radios of the nodes, where they differ from `radio`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NodeRadio {
    /// Name of the network. Radios of one network on one channel are neighbours; all radios on one channel hear each
    /// other.
    #[schemars(extend("maxLength" = 64, "x-default" = computed("one network for all radios without a `network`")))]
    network: Option<String>,
    /// Physical layer of the radio: that of `radio`, or an older one in the same band, which then shares the channel. At 2.4 GHz
    /// 802.11b, 802.11g, 802.11n and 802.11ax follow each other, at 5 GHz 802.11a, 802.11n, 802.11ac and 802.11ax.
    #[schemars(extend("x-default" = computed("`radio.standard`")))]
    standard: Option<StandardName>,
    /// Channel number in the standard's band, or a table with the number of the primary channel and the width, which is that
    /// of `radio.channel`, or a narrower one where `radio.bandwidth` is not `whole`.
    #[schemars(extend("x-default" = computed("`radio.channel`")))]
    channel: Option<Channel>,
    /// Data rate of unicast data frames, or `mcs N` under 802.11n and later. A station of 802.11g with a data rate of 802.11b is a station of 802.11b.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("`radio.data_rate`; with an older `standard` its highest rate, or the algorithm of `radio.data_rate`, `minstrel` in place of `minstrel-ht` before 802.11n")))]
    data_rate: Option<RateOrScheme>,
    /// Basic rate: that of broadcast frames, and the highest rate of RTS, CTS and ACK frames. hopcast ignores a basic
    /// rate above the data rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("`radio.basic_rate`; the highest mandatory rate up to `data_rate` if `data_rate` is lower, or if it is one of 802.11b and `radio.basic_rate` one of OFDM")))]
    basic_rate: Option<Rate>,
    /// Spatial streams of the radio, at most those of the others. What others send to it has no more, and what it sends neither.
    #[schemars(extend("minimum" = 1, "maximum" = 8, "x-default" = computed("`radio.spatial_streams`, as far as `standard` has them")))]
    spatial_streams: Option<u8>,
    /// Transmit power; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-20, "maximum" = 15.84893192461115, "x-default" = computed("`radio.tx_power`")))]
    tx_power: Option<Power>,
}

/// A radio in the narrower channel that is given for it, where receivers tell parts of a channel apart.
fn narrowed(capability: Capability, given: Option<Channel>, radio: &model::Radio) -> Capability {
    let width = given.and_then(|channel| channel.width).filter(|_| radio.mac.bandwidth != Bandwidth::Whole);
    let is_its =
        |narrower: &Capability| narrower.shape().map(|shape| shape.width.hertz()) == width.map(|width| width.0);
    width.and_then(|_| capability.narrower().find(is_its)).unwrap_or(capability)
}

/// The data rate of a radio that gives none: the highest of an older standard, and in a narrower channel that of the same scheme.
fn best_of(capability: Capability, radio: &model::Radio) -> TxVector {
    let scheme = || {
        let shape = capability.shape().filter(|_| capability.standard() == radio.standard)?;
        (0..=radio.data_rate.mcs()).rev().find_map(|mcs| shape.vector(radio.standard, mcs))
    };
    scheme().unwrap_or_else(|| capability.phy().fastest())
}

impl Resolver<'_> {
    /// The channel of a radio, if it is given. It is as wide as its capability says.
    fn node_channel(&mut self, path: &[&str], given: Option<Channel>, capability: Capability) -> Option<WideChannel> {
        let Channel { number, width } = given?;
        let Some(shape) = capability.shape() else {
            return self.channel(given, capability.standard(), Band::High, path);
        };
        if width.is_some_and(|width| width.0 != shape.width.hertz()) {
            let at: Vec<&str> = path.iter().copied().chain(["width"]).collect();
            let expected =
                format!("\"{}\", or less with radio.bandwidth = \"dynamic\"", Frequency(shape.width.hertz()));
            self.report(&at, "is not the width of radio.channel", expected);
            return None;
        }
        let width = Some(Frequency(shape.width.hertz()));
        self.channel(Some(Channel { number, width }), capability.standard(), shape.band, path)
    }

    /// The radios of a group of nodes; `given` has the differences from `radio`, and `names` has the networks so far.
    pub(in super::super) fn node_radios(
        &mut self,
        index: &str,
        given: &[NodeRadio],
        radio: &model::Radio,
        names: &mut Vec<String>,
    ) -> Vec<model::NodeRadio> {
        let mut radios = Vec::new();
        let is_mixed = !self.older_standards().is_empty();
        let is_split = radio.mac.bandwidth != Bandwidth::Whole;
        for (given, place) in given.iter().zip(0..) {
            let place: u32 = place;
            let place = place.to_string();
            let at = |key| ["nodes", index, "radios", place.as_str(), key];
            for key in ["network", "data_rate"] {
                self.ledger.note_given(&at(key));
            }
            let capability = self.node_capability(&at("standard"), given.standard, radio);
            let capability = self.fewer_streams(&at("spatial_streams"), given.spatial_streams, capability);
            let capability = narrowed(capability, given.channel, radio);
            let is_older = capability != radio.capability();
            let channel = self.node_channel(&at("channel"), given.channel, capability);
            let phy = capability.phy();
            let data_rate = given.data_rate.and_then(|rate| match rate {
                RateOrScheme::Rate(rate) => self.rate_at(&at("data_rate"), rate, &phy),
                RateOrScheme::Mcs(mcs) => self.scheme_at(&at("data_rate"), mcs, &phy, capability.shape()),
            });
            let best = best_of(capability, radio);
            let rate_control = data_rate.map_or(radio.rate_control, Algorithm::Fixed);
            let rate_control = match rate_control {
                Algorithm::Fixed(_) if is_older => Algorithm::Fixed(data_rate.unwrap_or(best)),
                Algorithm::MinstrelHt if capability.shape().is_none() => Algorithm::Minstrel,
                algorithm => algorithm,
            };
            if let (true, None, Algorithm::Fixed(rate)) = (is_older, data_rate, rate_control) {
                let source = match capability.standard() == radio.standard {
                    true => "default: the scheme of radio.data_rate in the narrower channel".into(),
                    false => format!("default: the highest rate of {}", capability.standard()),
                };
                self.ledger.note(&at("data_rate"), &shown(&rate), &source);
            }
            let data_rate = if is_older { Some(data_rate.unwrap_or(best)) } else { data_rate };
            let phy_among = if is_older || is_mixed { self.phy_among(capability, radio) } else { phy };
            let basic_rate = given.basic_rate.and_then(|rate| self.rate_at(&at("basic_rate"), rate, &phy_among));
            let basic_rate = self.node_basic_rate(&at("basic_rate"), data_rate, basic_rate, (radio, &phy_among));
            self.ledger.note_given(&at("tx_power"));
            let network = match &given.network {
                None => 0,
                Some(name) => match names.iter().position(|known| known == name) {
                    Some(known) => known as u32 + 1,
                    None => {
                        names.push(name.clone());
                        names.len() as u32
                    }
                },
            };
            let centre = if is_older { self.narrower_centre(capability, radio) } else { radio.channel };
            let frequency = channel.map_or(centre, |channel| channel.centre);
            let primary = channel.map_or(radio.primary, |channel| channel.primary);
            radios.push(model::NodeRadio {
                network,
                // Those without a name of their own are one network.
                ssid: given.network.as_deref().unwrap_or("hopcast").into(),
                capability,
                frequency,
                channel: if is_mixed || is_split { primary } else { frequency },
                primary,
                data_rate: data_rate.unwrap_or(radio.data_rate),
                rate_control,
                basic_rate,
                tx_power: given.tx_power.map_or(radio.tx_power, |power| power.0),
            });
        }
        radios
    }
}
