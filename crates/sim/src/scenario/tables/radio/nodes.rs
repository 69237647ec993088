//! The radios of a group of nodes.

use hopcast_radio::rate::Algorithm;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use crate::scenario::declare::computed;
use crate::scenario::model;
use crate::scenario::quantity::{Power, Rate};

/// Radios of the nodes, where they differ from `radio`.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NodeRadio {
    /// Name of the network. Radios of one network on one channel are neighbours; all radios on one channel hear each
    /// other.
    #[schemars(extend("maxLength" = 64, "x-default" = computed("one network for all radios without a `network`")))]
    network: Option<String>,
    /// Channel number in the standard's band.
    #[schemars(extend("minimum" = 1, "maximum" = 200, "x-default" = computed("`radio.channel`")))]
    channel: Option<u32>,
    /// Data rate of unicast data frames. A station of 802.11g with a data rate of 802.11b is a station of 802.11b.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("`radio.data_rate`")))]
    data_rate: Option<Rate>,
    /// Basic rate: that of broadcast frames, and the highest rate of RTS, CTS and ACK frames. hopcast ignores a basic
    /// rate above the data rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12, "x-default" = computed("`radio.basic_rate`; the highest mandatory rate up to `data_rate` if `data_rate` is lower, or if it is one of 802.11b and `radio.basic_rate` one of OFDM")))]
    basic_rate: Option<Rate>,
    /// Transmit power; not used with propagation `range`.
    #[schemars(extend("minimum" = 1e-20, "maximum" = 15.84893192461115, "x-default" = computed("`radio.tx_power`")))]
    tx_power: Option<Power>,
}

impl Resolver<'_> {
    /// The radios of a group of nodes; `given` has the differences from `radio`, and `names` has the networks so far.
    pub(in super::super) fn node_radios(
        &mut self,
        index: &str,
        given: &[NodeRadio],
        radio: &model::Radio,
        names: &mut Vec<String>,
    ) -> Vec<model::NodeRadio> {
        let mut radios = Vec::new();
        for (given, place) in given.iter().zip(0..) {
            let place: u32 = place;
            let place = place.to_string();
            let at = |key| ["nodes", index, "radios", place.as_str(), key];
            for key in ["network", "channel", "data_rate"] {
                self.ledger.note_given(&at(key));
            }
            let standard = radio.standard;
            let channels = standard.channels();
            let channel = given.channel.map(|number| channels.channel(number));
            if channel == Some(None) {
                self.report(&at("channel"), format!("{standard} has no such channel"), channels.described());
            }
            let phy = radio.phy();
            let mut rate = |key, rate: Option<Rate>| rate.and_then(|rate| self.rate_at(&at(key), rate, &phy));
            let data_rate = rate("data_rate", given.data_rate);
            let basic_rate = rate("basic_rate", given.basic_rate);
            let basic_rate = self.node_basic_rate(&at("basic_rate"), data_rate, basic_rate, radio);
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
            radios.push(model::NodeRadio {
                network,
                // Those without a name of their own are one network.
                ssid: given.network.as_deref().unwrap_or("hopcast").into(),
                frequency: channel.flatten().map_or(radio.channel, |channel| channel.frequency),
                data_rate: data_rate.unwrap_or(radio.data_rate),
                rate_control: data_rate.map_or(radio.rate_control, Algorithm::Fixed),
                basic_rate,
                tx_power: given.tx_power.map_or(radio.tx_power, |power| power.0),
            });
        }
        radios
    }
}
