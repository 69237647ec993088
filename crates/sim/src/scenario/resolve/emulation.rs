//! Real hosts in real time.

use hopcast_protocols::time::Duration;

use super::super::model;
use super::super::quantity::Time;
use super::super::schema::{Emulation, Program};
use super::flows::Directory;
use super::{Resolver, instant, show};

/// A choice of ours: less than what programs notice of a network, and more than what an idle machine shows.
const LAG_LIMIT: Time = Time(10e-3);

impl Resolver<'_> {
    pub(super) fn emulation(&mut self, given: Option<&Emulation>, groups: &[model::Group]) -> model::Emulation {
        let given = given.cloned().unwrap_or_default();
        let lag_limit = self.ledger.pick(&["emulation", "lag_limit"], given.lag_limit, show, || {
            (LAG_LIMIT, "default: a choice of ours".into())
        });
        let nodes = Directory::new(groups);
        let programs = given.programs.unwrap_or_default();
        let programs = programs.iter().enumerate();
        let programs = programs.filter_map(|(place, program)| self.program(&place.to_string(), program, &nodes));
        model::Emulation { lag_limit: Duration::from_secs_f64(lag_limit.0), programs: programs.collect() }
    }

    fn program(&mut self, index: &str, program: &Program, nodes: &Directory<'_>) -> Option<model::Program> {
        let at = |key| ["emulation", "programs", index, key];
        self.ledger.note_given(&at("node"));
        self.ledger.note_given(&at("command"));
        let start = self.ledger.pick(&at("start"), program.start, show, || (Time(0.0), "default: with the run".into()));
        let Some(node) = nodes.find(&program.node) else {
            let (problem, expected) = nodes.why_unknown(&program.node);
            self.report(&at("node"), problem, expected);
            return None;
        };
        if !nodes.group(node).is_real {
            self.report(&at("node"), "is a simulated node, which runs no programs", "a node with real = true");
        }
        Some(model::Program { node, command: program.command.clone(), start: instant(start) })
    }
}
