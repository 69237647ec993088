//! Runs scenarios that may name the collection tree: `collection-tree SCENARIO.toml`.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

use collection_tree::{Config, Tree};
use hopcast_sim::registry::Registry;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("usage: collection-tree SCENARIO.toml")?;
    let mut registry = Registry::default();
    registry.add_routing("tree", |node, config: &Config| Tree::new(node, config));
    let directory = Path::new(&path).parent().unwrap_or(Path::new(".")).to_owned();
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let source = Source { text, name: path, directory, registry, ..Source::default() };
    let scenario = Scenario::parse(&source, &[])?.scenario;

    let mut simulation = Simulation::new(&scenario, scenario.seed)?;
    simulation.run_until(simulation.end());
    simulation.check()?;
    for (flow, measured) in scenario.flows.iter().zip(simulation.flows().iter()) {
        let summary = measured.summary(simulation.end());
        let (received, sent) = (summary.received_packets, summary.sent_packets);
        writeln!(io::stdout(), "{}: {received} of {sent} packets arrived", flow.name)?;
    }
    Ok(())
}
