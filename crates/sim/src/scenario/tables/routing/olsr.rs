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
    /// How long a message is known for a duplicate.
    #[schemars(extend("minimum" = 0.01, "maximum" = 3600, "x-default" = is(Time::from(Config::default().duplicate_hold), SECTION_18)))]
    duplicate_hold: Time,
    /// How willing the nodes are to pass on packets of others, from 0, never, to 7, always.
    #[schemars(extend("minimum" = 0, "maximum" = 7, "x-default" = is(Config::default().willingness, SECTION_18)))]
    willingness: u8,
    /// Whom TC messages advertise: 0, those who have selected the node; 1, also those whom it has selected; 2, all
    /// neighbours.
    #[schemars(extend("minimum" = 0, "maximum" = 2, "x-default" = is(Config::default().tc_redundancy, SECTION_18)))]
    tc_redundancy: u8,
    /// How many relays each two-hop neighbour should have.
    #[schemars(extend("minimum" = 1, "maximum" = 1000, "x-default" = is(Config::default().mpr_coverage, SECTION_18)))]
    mpr_coverage: u32,
    /// Whether a link has to prove itself before it counts (section 14, with its parameters).
    #[schemars(extend("x-default" = is(Config::default().hysteresis.is_some(), "allowed by RFC 3626, section 14")))]
    hysteresis: bool,
    /// Whether a link is lost with a frame that the interface gives up (section 13).
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
            mtu: Config::default().mtu,
        };
        protocol("olsr", move |node| olsr::Olsr::new(config, node))
    }
}
