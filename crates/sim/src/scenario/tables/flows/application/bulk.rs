//! `kind = "bulk"`.

use hopcast_protocols::application::AduSource;
use hopcast_protocols::time::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, nothing};
use crate::scenario::model;
use crate::scenario::quantity::Size;

/// Data at the rate that the transport accepts.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Total amount to send.
    #[schemars(extend("minimum" = 1, "maximum" = 1e15, "x-default" = nothing("until the flow stops", "")))]
    bytes: Option<Size>,
    /// Payload of one datagram, or one write to TCP.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
    packet: Option<Size>,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let (bytes, packet) = (self.bytes.map(|size| size.0 as u64), resolver.packet(flow, self.packet));
        let make = move |start, _| AduSource::new(start, packet, Duration::ZERO, bytes);
        Some(model::Application::new(make).with_whole_writes())
    }
}
