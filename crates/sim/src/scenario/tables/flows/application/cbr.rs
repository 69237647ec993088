//! `kind = "cbr"`.

use hopcast_protocols::application::CbrSource;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Rate, Size, Time};

/// Single packets at even intervals, apart from jitter; writes do not block.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Payload rate.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e12))]
    rate: Rate,
    /// Payload of one packet.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
    packet: Option<Size>,
    /// Largest jitter: the application writes each packet up to this time after its even instant, drawn uniformly for
    /// each packet.
    #[schemars(extend("minimum" = 0, "maximum" = 3600, "x-default" = is("0 s", "none")))]
    jitter: Time,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let (rate, packet, jitter) = (self.rate.0, resolver.packet(flow, self.packet), self.jitter.into());
        resolver.check_packet_rate(flow, rate / (8.0 * f64::from(packet)), packet);
        let make = move |start, random| CbrSource::new(start, rate, packet).with_jitter(jitter, random);
        Some(model::Application::new(make))
    }
}
