//! The live commands with the collection tree: `collection-tree-live node --interface wlan0 --protocol tree --parameters '{ … }'`.

use std::process::ExitCode;

use collection_tree::{Config, Tree};
use hopcast_sim::registry::Registry;

fn main() -> ExitCode {
    let mut registry = Registry::default();
    registry.add_routing("tree", |node, config: &Config| Tree::new(node, config));
    ExitCode::from(hopcast_live::command::main_with(std::env::args_os(), &registry))
}
