//! `kind = "video-trace"`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow, PACKET};
use crate::scenario::declare::{computed, is};
use crate::scenario::model;
use crate::scenario::quantity::Size;
use crate::scenario::traces;

/// Frames of a video, each at its time, repeated without end; writes do not block.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Video trace: a file next to the scenario, a bundled trace, or a trace in one of the trace directories.
    #[schemars(extend("x-default" = is(traces::DEFAULT, "bundled with hopcast")))]
    file: String,
    /// Largest payload of one packet; hopcast splits larger frames into several packets.
    #[schemars(extend("minimum" = 1, "maximum" = 65_507, "x-default" = computed(PACKET)))]
    packet: Option<Size>,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        let packet = resolver.packet(flow, self.packet);
        match flow.traces.find(&self.file) {
            Ok(trace) => Some(model::Application::new(move |start, _| trace.source(start, packet))),
            Err((problem, expected)) => {
                resolver.report(&flow.at("file"), problem, expected);
                None
            }
        }
    }
}
