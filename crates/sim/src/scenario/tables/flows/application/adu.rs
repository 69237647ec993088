//! `kind = "adu"`.

use hopcast_protocols::application::AduSource;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::super::Resolver;
use super::{Application, Flow};
use crate::scenario::declare::{is, nothing};
use crate::scenario::model;
use crate::scenario::quantity::{Size, Time};

/// Application data units (ADUs), each sent with a blocking call.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Size of one unit. Over UDP and DCCP a unit is one datagram: at most 65507 B over UDP and 64495 B over DCCP.
    #[schemars(extend("minimum" = 1, "maximum" = 1_073_741_824))]
    size: Size,
    /// Pause between the return of one call and the next call.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "none")))]
    wait: Time,
    /// Total amount to send; the last unit is shorter if necessary.
    #[schemars(extend("minimum" = 1, "maximum" = 1e15, "x-default" = nothing("until the flow stops", "")))]
    bytes: Option<Size>,
}

impl Application for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, flow: &mut Flow<'_, '_>) -> Option<model::Application> {
        resolver.check_datagram(flow, "size", self.size.0);
        let (size, wait, bytes) = (self.size.0 as u32, self.wait.into(), self.bytes.map(|size| size.0 as u64));
        Some(model::Application::new(move |start, _| AduSource::new(start, size, wait, bytes)))
    }
}
