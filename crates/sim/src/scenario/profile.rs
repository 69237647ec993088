//! Profiles: layers of values with their sources. A profile overrides the defaults that keys declare, and a scenario
//! overrides both.

use hopcast_radio::mac::AccessRules;
use hopcast_wire::ethernet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::parse_value;
use super::model::Rules;

/// Source of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) enum Profile {
    /// IEEE 802.11-2020 and the RFCs.
    #[serde(rename = "standard")]
    Standard,
    /// What ns-2.35 does: RTS always, pairwise capture, first come first served, its medium access, 250 m and 550 m, no MTU.
    #[serde(rename = "ns-2")]
    Ns2,
    /// The radios before 802.11 (study A): 2 Mb/s, carrier sense with a random wait, no RTS, no acknowledgement.
    #[serde(rename = "wavelan")]
    Wavelan,
}

/// What a profile sets.
pub(super) struct Layer {
    /// As scenarios spell it.
    pub name: &'static str,
    /// The program whose settings these are; empty if there is none.
    release: &'static str,
    /// Key, value as `--set` takes it, and what sets it. A key that several kinds of a table have may name the kind behind the table:
    /// `flows.transport.tcp.window`.
    values: &'static [(&'static str, &'static str, &'static str)],
    /// Rules of medium access, which no key sets, and what they are called.
    pub access_rules: (AccessRules, &'static str),
    /// Rules of reception by thresholds, which no key sets; what they are called, and whose they are.
    pub threshold_rules: (Rules, &'static str, &'static str),
    /// Largest IP datagram on a wire in bytes, which no key sets, and its source.
    pub wired_mtu: (Option<u32>, &'static str),
}

impl Profile {
    /// Its values.
    pub(super) const fn layer(self) -> &'static Layer {
        match self {
            Self::Standard => &STANDARD,
            Self::Ns2 => &NS_2,
            Self::Wavelan => &WAVELAN,
        }
    }
}

impl Layer {
    /// The layers that set anything.
    pub(super) const ALL: [&'static Self; 2] = [&NS_2, &WAVELAN];

    /// The value of a key by any of its names, and its source.
    pub(super) fn value(&self, names: &[String]) -> Option<(Value, String)> {
        let (_, value, setting) = self.values.iter().find(|(key, ..)| names.iter().any(|name| name == key))?;
        let source = match *setting {
            "" => format!("profile {}", self.name),
            _ => format!("profile {}: {setting} ({})", self.name, self.release),
        };
        Some((parse_value(value), source))
    }
}

/// IEEE 802.11-2020 and the RFCs: the defaults as declared.
pub(super) const STANDARD: Layer = Layer {
    name: "standard",
    release: "",
    values: &[],
    access_rules: (AccessRules::Standard, "those of IEEE 802.11-2020"),
    threshold_rules: (
        Rules::Cumulative,
        "the sum of all interference; a stronger frame is received whenever it comes",
        "profile standard (not a separate key)",
    ),
    wired_mtu: (Some(ethernet::MTU), "default: MTU of Ethernet (RFC 894; not a separate key)"),
};

/// The radios before 802.11 (study A).
const WAVELAN: Layer = Layer { name: "wavelan", values: &[("radio.standard", "wavelan", "")], ..STANDARD };

/// What ns-2.35 does, by its settings.
const NS_2: Layer = Layer {
    name: "ns-2",
    release: "ns-2.35",
    values: &[
        // The CMU extension's scenes leave dataRate_ and basicRate_ 0; the library of ns-2.35 sets both to 1 Mb/s.
        ("radio.data_rate", "2 Mb/s", "bandwidth_ 2Mb, where dataRate_ is 0; its library has 1Mb"),
        ("radio.basic_rate", "2 Mb/s", "bandwidth_ 2Mb, where basicRate_ is 0; its library has 1Mb"),
        ("radio.rts_threshold", "0 B", "RTSThreshold_ 0"),
        ("radio.queue.discipline", "priority", "Queue/DropTail/PriQueue"),
        ("radio.mtu", "none", "no fragmentation"),
        ("radio.reception", "threshold", "Phy/WirelessPhy"),
        ("radio.tx_power", "24.5 dBm", "Pt_ 0.28183815"),
        ("radio.receive_threshold", "-64.37 dBm", "RXThresh_ 3.652e-10"),
        ("radio.carrier_sense_threshold", "-78.07 dBm", "CSThresh_ 1.559e-11"),
        ("radio.capture", "10 dB", "CPThresh_ 10.0"),
        // The value of another key: what is weaker is not sensed, and so not there.
        (
            "radio.interference_floor",
            "carrier_sense_threshold",
            "the carrier-sense threshold, below which a frame is dropped at once",
        ),
        ("radio.adjacent_channel_rejection", "off", "each Channel hands frames to its own interfaces alone"),
        ("radio.propagation.model", "two-ray-ground", "Propagation/TwoRayGround, as in its wireless examples"),
        ("radio.propagation.frequency", "914 MHz", "Phy/WirelessPhy freq_ 914e+6"),
        ("radio.propagation.antenna_height", "1.5 m", "Antenna/OmniAntenna Z_ 1.5"),
        ("radio.propagation.shadowing_per", "frame", "Propagation/Shadowing draws for each packet and receiver"),
        ("radio.errors.headers", "true", "a frame's size holds PreambleLength_ and PLCPHeaderLength_"),
        ("nodes.arp.profile", "ns-2", ""),
        ("nodes.routing.aodv.profile", "ns-2", ""),
        ("nodes.routing.dsr.profile", "ns-2", ""),
        ("nodes.routing.dsdv.link_layer_notification", "false", ""),
        ("flows.transport.tcp.segment", "1000 B", "Agent/TCP packetSize_ 1000"),
        ("flows.transport.tcp.window", "20", "Agent/TCP window_ 20"),
        ("flows.transport.tcp.initial_window", "2", "Agent/TCP windowInit_ 2"),
        ("flows.transport.tcp.min_rto", "0.2 s", "Agent/TCP minrto_ 0.2"),
        ("flows.transport.tcp.delayed_ack", "off", "Agent/TCPSink acknowledges each segment"),
        ("flows.transport.tfrc.segment", "1000 B", "Agent/TFRC packetSize_ 1000"),
        ("flows.transport.adtfrc.segment", "1000 B", "Agent/TFRC packetSize_ 1000"),
    ],
    access_rules: (AccessRules::Ns2, "those of ns-2.35's Mac802_11, where they differ from IEEE 802.11-2020"),
    threshold_rules: (
        Rules::PairwiseFirstCome,
        "each overlapping transmission by itself; first come, first served",
        "profile ns-2 (not a separate key): Mac/802_11 (ns-2.35)",
    ),
    wired_mtu: (None, "profile ns-2: no fragmentation (not a separate key)"),
};

#[cfg(test)]
mod tests {
    use super::super::check::fits;
    use super::super::vocabulary::named;
    use super::*;

    #[test]
    fn every_value_of_a_profile_is_one_that_its_key_takes() {
        for layer in Layer::ALL {
            for (key, value, _) in layer.values {
                let keys = named(key);
                assert!(!keys.is_empty(), "{key} is no key");
                let refers = *key == "radio.interference_floor";
                assert!(refers || keys.iter().all(|schema| fits(schema, &parse_value(value))), "{key} = {value}");
            }
        }
    }
}
