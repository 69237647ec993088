//! DSDV: `nodes.routing`, `protocol = "dsdv"`.

use hopcast_protocols::routing::dsdv::{self, Config};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{NS_2, protocol};
use crate::scenario::declare::is;
use crate::scenario::model;
use crate::scenario::quantity::Time;

/// Parameters of DSDV.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Dsdv {
    /// Longest time from one full dump to the next; a node draws each interval, from three quarters of this time on.
    #[schemars(extend("minimum" = 1e-3, "maximum" = 315_576_000, "x-default" = is(Time::from(Config::default().period), NS_2)))]
    period: Time,
    /// Number of periods without a message of a neighbour after which it counts as lost.
    #[schemars(extend("minimum" = 1, "maximum" = 1_000_000, "x-default" = is(Config::default().allowed_loss, NS_2)))]
    allowed_loss: u32,
    /// Weight of the past in the average settling time.
    #[schemars(extend("minimum" = 0, "maximum" = 1, "x-default" = is(Config::default().settling_weight, NS_2)))]
    settling_weight: f64,
    /// Initial average settling time of a new destination.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is(Time::from(Config::default().first_settling), NS_2)))]
    first_settling: Time,
    /// Least time from an update to an incremental update.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is(Time::from(Config::default().triggered_interval), NS_2)))]
    triggered_interval: Time,
    /// Longest time from the start to a node's first full dump.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is(Time::from(Config::default().startup_jitter), NS_2)))]
    startup_jitter: Time,
    /// Largest random delay of an incremental update.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is(Time::from(Config::default().broadcast_jitter), NS_2)))]
    broadcast_jitter: Time,
    /// Whether a newer sequence number alone triggers an update (DSDV-SQ; Broch and others, 1998).
    #[schemars(extend("x-default" = is(Config::default().sequence_number_triggers, NS_2)))]
    sequence_number_triggers: bool,
    /// Whether new destinations and newer sequence numbers also settle before nodes advertise them, and stay out of
    /// updates until then. ns-2.35 does so, and there a string of eight nodes needs over a minute to converge.
    #[schemars(extend("x-default" = is(Config::default().settle_everything, "Perkins and Bhagwat, section 3.4")))]
    settle_everything: bool,
    /// Whether a node treats a neighbour as lost when the interface gives up a frame to it.
    #[schemars(extend("x-default" = is(Config::default().link_layer_notification, "Perkins and Bhagwat, section 3.2")))]
    link_layer_notification: bool,
}

impl Dsdv {
    pub(super) fn protocol(self) -> model::Routing {
        let config = Config {
            period: self.period.into(),
            allowed_loss: self.allowed_loss,
            settling_weight: self.settling_weight,
            first_settling: self.first_settling.into(),
            triggered_interval: self.triggered_interval.into(),
            startup_jitter: self.startup_jitter.into(),
            broadcast_jitter: self.broadcast_jitter.into(),
            sequence_number_triggers: self.sequence_number_triggers,
            settle_everything: self.settle_everything,
            link_layer_notification: self.link_layer_notification,
            mtu: Config::default().mtu,
        };
        protocol("dsdv", move |node| dsdv::Dsdv::new(config, node))
    }
}
