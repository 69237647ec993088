//! `model = "trace"`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::Resolver;
use super::{Group, Model};
use crate::mobility::{MakeMoving, Mobility, Movement};
use crate::scenario::traces::Traces;

/// Movement from a file of ns-2 (`setdest`) or BonnMotion (`.movements`), which also has the positions at the start.
#[derive(Deserialize, JsonSchema)]
pub(in super::super) struct Keys {
    /// Trace: a file next to the scenario, or in one of the trace directories. Its nodes, in the order of their numbers
    /// or lines, are those of the group; hopcast ignores further nodes of the file.
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
            let problem = format!("moves {} nodes, but the group has {count}", movements.len());
            resolver.report(&path, problem, format!("a trace of at least {count} nodes"));
        }
        Some(Arc::new(move |node, _, _| -> Box<dyn Mobility> { Box::new(Movement::new(movements[node].clone())) }))
    }
}
