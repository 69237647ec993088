//! Stations of several standards in one network.

use hopcast_radio::phy::{Band, Capability, ChannelWidth, Coding, GuardInterval, Phy, Shape, Standard};

use super::super::Resolver;
use super::shape::widest;
use super::standard::StandardName;
use crate::scenario::model;

/// A station of an older standard in a network of `newest` stations: with their channel and streams, as far as its standard has them.
/// `None`: the two share no channel, or it is not older.
pub(super) fn older(newest: Capability, standard: Standard) -> Option<Capability> {
    let of = |shape| Capability::new(standard, shape, true);
    let own = match newest.shape() {
        Some(shape) if standard.has_shape() => {
            if standard == Standard::Vht && shape.band == Band::Low {
                return None;
            }
            let has_interval = standard == Standard::He || shape.guard_interval <= GuardInterval::Ns800;
            of(Some(Shape {
                width: shape.width.min(widest(standard, shape.band)),
                streams: shape.streams.min(if standard == Standard::Ht { 4 } else { 8 }),
                guard_interval: if has_interval { shape.guard_interval } else { GuardInterval::Ns800 },
                coding: if newest.standard() == Standard::He { Coding::Bcc } else { shape.coding },
                ..shape
            }))
        }
        _ => of(None),
    };
    // With the preamble that both have.
    let own = if newest.standard().has_short_preamble() {
        own.common(newest)
    } else {
        Capability::new(standard, own.shape(), false)
    };
    (own.can_talk_to(newest) && own.generation() < newest.generation()).then_some(own)
}

impl Resolver<'_> {
    /// The standards that radios of nodes give, other than that of `radio`.
    pub(super) fn older_standards(&self) -> Vec<Standard> {
        let mut found = Vec::new();
        for group in 0..self.ledger.count(&["nodes"]) {
            let group = group.to_string();
            for place in 0..self.ledger.count(&["nodes", &group, "radios"]) {
                let path = ["nodes", &group, "radios", &place.to_string(), "standard"];
                let name = self.ledger.given(&path).and_then(serde_json::Value::as_str);
                let standard = name.and_then(Standard::named);
                let main = self.ledger.given(&["radio", "standard"]).and_then(serde_json::Value::as_str);
                found.extend(standard.filter(|standard| Some(standard.name()) != main && !found.contains(standard)));
            }
        }
        found
    }

    /// What a radio with its own `standard` can send and receive. Reports one that can't talk to the others.
    pub(super) fn node_capability(
        &mut self,
        path: &[&str],
        given: Option<StandardName>,
        radio: &model::Radio,
    ) -> Capability {
        let network = radio.capability();
        let Some(StandardName(standard)) = given.filter(|given| given.0 != radio.standard) else {
            self.ledger.note_given(path);
            return network;
        };
        self.ledger.note_given(path);
        if let Some(capability) = older(network, standard) {
            return capability;
        }
        let fitting: Vec<String> = Standard::ALL
            .iter()
            .filter(|&&standard| older(network, standard).is_some())
            .map(|standard| format!("\"{standard}\""))
            .collect();
        let in_band = Shape { band: network.band(), ..Shape::of(standard) };
        let is_newer = older(Capability::new(standard, Some(in_band), false), radio.standard).is_some();
        let (problem, expected) = if is_newer {
            (
                format!(
                    "{standard} is newer than radio.standard ({}), which is that of the newest stations",
                    radio.standard
                ),
                format!("radio.standard = \"{standard}\", and a standard for each older radio"),
            )
        } else if fitting.is_empty() {
            (
                format!("stations of {standard} and {} share no channel", radio.standard),
                format!("\"{}\", or 802.11g, 802.11n, 802.11ac or 802.11ax as radio.standard", radio.standard),
            )
        } else {
            let band = if network.band() == Band::Low { "2.4 GHz" } else { "5 GHz" };
            (
                format!("stations of {standard} share no channel with those of {} at {band}", radio.standard),
                format!("one of {}", fitting.join(", ")),
            )
        };
        self.report(path, problem, expected);
        network
    }

    /// The same over as many streams as are given. Reports a number that it can't have.
    pub(super) fn fewer_streams(&mut self, path: &[&str], given: Option<u8>, capability: Capability) -> Capability {
        self.ledger.note_given(path);
        let Some(streams) = given else { return capability };
        let standard = capability.standard();
        match capability.shape() {
            None => {
                let problem = format!("{standard} has no spatial streams");
                self.report(path, problem, "standard = 802.11n, 802.11ac or 802.11ax");
                capability
            }
            Some(shape) if streams > shape.streams => {
                let problem = format!("is more than stations of {standard} have here ({})", shape.streams);
                self.report(path, problem, "fewer, or a larger radio.spatial_streams");
                capability
            }
            Some(shape) => capability.common(Capability::new(standard, Some(Shape { streams, ..shape }), true)),
        }
    }

    /// The physical layer of a radio among all that the scenario has.
    pub(super) fn phy_among(&self, capability: Capability, radio: &model::Radio) -> Phy {
        let network = radio.capability();
        let others = self.older_standards().into_iter().filter_map(|standard| older(network, standard));
        capability.phy_among(&others.chain([network]).collect::<Vec<_>>())
    }

    /// Centre of the channel of this width around the primary channel of `radio`.
    pub(super) fn narrower_centre(&self, capability: Capability, radio: &model::Radio) -> f64 {
        let Some(shape) = capability.shape().filter(|shape| shape.width > ChannelWidth::Mhz20) else {
            return radio.primary;
        };
        let channels = capability.standard().channels_in(shape.band);
        let centre = |number| {
            let channel = channels.channel(number)?;
            (channel.frequency == radio.primary).then(|| channels.wide(number, shape.width)).flatten()
        };
        (1..=200).find_map(centre).map_or(radio.channel, |wide| wide.centre)
    }
}
