//! OLSR: `nodes.routing`, `protocol = "olsr"`.

use hopcast_protocols::routing::olsr::{self, Config, Hysteresis};
use schemars::JsonSchema;
use serde::Deserialize;

use super::protocol;
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Parameters of OLSR, by their names in RFC 3626, section 18.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Olsr {
    /// Time between two HELLOs.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600, "x-default" = is(Time::from(Config::default().hello_interval), SECTION_18)))]
    hello_interval: Time,
    /// Time between two TC messages.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600, "x-default" = is(Time::from(Config::default().tc_interval), SECTION_18)))]
    tc_interval: Time,
    /// Time for which a node remembers a message in order to recognise duplicates.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600, "x-default" = is(Time::from(Config::default().duplicate_hold), SECTION_18)))]
    duplicate_hold: Time,
    /// Willingness of the nodes to forward packets of others, from 0 (never) to 7 (always).
    #[schemars(extend("minimum" = 0, "maximum" = 7, "x-default" = is(Config::default().willingness, SECTION_18)))]
    willingness: u8,
    /// Neighbours that TC messages advertise: 0, those that have selected the node as relay; 1, also those that the node
    /// has selected; 2, all neighbours.
    #[schemars(extend("minimum" = 0, "maximum" = 2, "x-default" = is(Config::default().tc_redundancy, SECTION_18)))]
    tc_redundancy: u8,
    /// Number of relays that should cover each two-hop neighbour.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = is(Config::default().mpr_coverage, SECTION_18)))]
    mpr_coverage: u32,
    /// Whether a link counts only after it has proved stable (section 14, with its parameters).
    #[schemars(extend("x-default" = is(Config::default().hysteresis.is_some(), "allowed by RFC 3626, section 14")))]
    hysteresis: bool,
    /// Whether a node treats a link as lost when the interface gives up a frame on it (section 13).
    #[schemars(extend("x-default" = is(Config::default().link_layer_notification, "allowed by RFC 3626, section 13")))]
    link_layer_notification: bool,
}

const SECTION_18: &str = "RFC 3626, section 18";

impl Olsr {
    pub(super) fn protocol(self) -> model::Routing {
        let config = Config {
            hello_interval: self.hello_interval.into(),
            tc_interval: self.tc_interval.into(),
            duplicate_hold: self.duplicate_hold.into(),
            willingness: self.willingness,
            tc_redundancy: self.tc_redundancy,
            mpr_coverage: self.mpr_coverage,
            hysteresis: self.hysteresis.then(Hysteresis::default),
            link_layer_notification: self.link_layer_notification,
            ..Config::default()
        };
        protocol("olsr", move |node| olsr::Olsr::new(config, node))
    }
}
