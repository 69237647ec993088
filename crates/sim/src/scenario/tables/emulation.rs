//! Real hosts in real time: `emulation`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::super::declare::{is, nothing};
use super::super::model;
use super::super::quantity::Time;
use super::super::read::Later;
use super::directory::Directory;
use super::{Resolver, instant};

/// Real hosts in real time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Emulation {
    /// Largest delay at which frames may leave for their real hosts, for 99 of 100 frames; beyond it hopcast reports the
    /// emulation as failed.
    // Less than what programs notice of a network, and more than what an idle machine shows.
    #[schemars(extend("minimum" = 1e-6, "maximum" = 3600, "x-default" = is("10 ms", "a choice of hopcast")))]
    lag_limit: Time,
    /// Programs that hopcast starts at real nodes.
    #[schemars(extend("x-default" = nothing("none", "")))]
    programs: Later<Vec<Program>>,
}

/// A program that hopcast starts at a real node.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Program {
    /// Name of the real node at which the program runs.
    node: String,
    /// Command line, which hopcast gives to the shell (`sh -c`).
    #[schemars(extend("maxLength" = 4096))]
    command: String,
    /// Time at which the program starts, counted from the start of the run.
    #[schemars(extend("minimum" = 0, "maximum" = 315_576_000, "x-default" = is("0 s", "at the start of the run")))]
    start: Time,
}

impl Resolver<'_> {
    pub(super) fn emulation(&mut self, given: &Later<Emulation>, groups: &[model::Group]) -> model::Emulation {
        let Emulation { lag_limit, programs } = given.read(&mut self.ledger, &["emulation"]);
        let nodes = Directory::new(groups);
        let path = ["emulation", "programs"];
        let programs = self.each(&programs, &path, |resolver, index, program| resolver.program(index, program, &nodes));
        model::Emulation { lag_limit: lag_limit.into(), programs }
    }

    fn program(&mut self, index: &str, program: Program, nodes: &Directory<'_>) -> Option<model::Program> {
        let path = ["emulation", "programs", index, "node"];
        let Some(node) = nodes.find(&program.node) else {
            let (problem, expected) = nodes.why_unknown(&program.node);
            self.report(&path, problem, expected);
            return None;
        };
        if !nodes.group(node).is_real {
            self.report(&path, "is a simulated node, which cannot run programs", "a node with real = true");
        }
        Some(model::Program { node, command: program.command, start: instant(program.start) })
    }
}
