//! `kind = "file"`.

use hopcast_protocols::application::FileSource;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::{Size, TimeOrOff};

/// A file at the rate that the transport accepts, or several files one after another.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Size of one file.
    #[schemars(extend("minimum" = 1, "maximum" = 1e15))]
    bytes: Size,
    /// Pause between the return of a file's last write and the next file; `off`: there is only one file.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("off", "one file")))]
    think: TimeOrOff,
    /// Payload of one datagram, or one write to TCP.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
    packet: Option<Size>,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let (bytes, think, packet) = (self.bytes.0 as u64, self.think.into(), resolver.packet(flow, self.packet));
        let make = move |start, _| FileSource::new(start, bytes, packet, think);
        Some(model::Application::new(make).with_whole_writes())
    }
}
