//! `model = "trace"`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::{Group, Model};
use crate::mobility::{MakeMoving, Mobility, Movement};
use crate::scenario::traces::Traces;

/// As a file says: of ns-2 (`setdest`) or of BonnMotion (`.movements`). It also says where they start.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// A file beside the scenario, or in one of the trace directories. Its nodes, in the order of their numbers or lines, are
    /// those of the group; what it has beyond them is left out.
    file: String,
}

impl Model for Keys {
    fn resolve(self, resolver: &mut Resolver<'_>, group: &Group<'_>) -> Option<MakeMoving> {
        let path = ["nodes", group.index, "mobility", "file"];
        let movements = match Traces::new(resolver.source).movements(&self.file) {
            Ok(movements) => movements,
            Err((problem, expected)) => {
                resolver.report(&path, problem, expected);
                return None;
            }
        };
        let count = group.names.len();
        if movements.len() < count {
            let problem = format!("moves {} nodes, but there are {count}", movements.len());
            resolver.report(&path, problem, format!("at least {count}"));
        }
        Some(Arc::new(move |node, _, _| -> Box<dyn Mobility> { Box::new(Movement::new(movements[node].clone())) }))
    }
}
