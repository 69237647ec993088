//! Names of captures, and those of an earlier run in a folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use hopcast_wire::pcapng;

use super::Selection;
use crate::results::OutputError;
use crate::scenario::model::Scenario;

/// The captures of a run: a file for each selected node, or for each node and seed where there are several replications.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    nodes: BTreeSet<&'a str>,
    seeds: BTreeSet<Option<u64>>,
}

impl<'a> Names<'a> {
    /// The names for `selection` with `seeds`; `None` is the seed of a single replication. No names without a selection.
    pub fn new(
        scenario: &'a Scenario,
        selection: Option<&'a Selection>,
        seeds: impl IntoIterator<Item = Option<u64>>,
    ) -> Self {
        let nodes = selection.into_iter().flat_map(|selection| selection.names(scenario)).collect();
        Self { nodes, seeds: seeds.into_iter().collect() }
    }

    /// Whether `name` is one of these files.
    pub fn contains(&self, name: &str) -> bool {
        parts(name).is_some_and(|(node, seed)| self.nodes.contains(node) && self.seeds.contains(&seed))
    }

    /// Removes captures of an earlier run from `folder` that these did not replace. It only removes files that begin with
    /// the bytes that hopcast writes for a node with the file's name.
    ///
    /// # Errors
    /// The first file that can't be removed, or an unreadable `folder`.
    pub fn remove_others(&self, folder: &Path) -> Result<(), OutputError> {
        let unreadable = |error| OutputError { path: folder.into(), error };
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (name, path) = (entry.file_name(), entry.path());
            let Some((node, _)) = name.to_str().filter(|name| !self.contains(name)).and_then(parts) else { continue };
            // A link or a pipe is none of ours, and one that can't be read neither.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && is_ours(&path, node).unwrap_or(false) {
                fs::remove_file(&path).map_err(|error| OutputError { path, error })?;
            }
        }
        Ok(())
    }
}

/// The file of a node, for one of several replications with its seed.
pub(super) fn of(node: &str, seed: Option<u64>) -> String {
    match seed {
        Some(seed) => format!("{node}.seed-{seed}.pcapng"),
        None => format!("{node}.pcapng"),
    }
}

/// The node and the seed of a file that [`of`] names. Nodes have no dots in their names.
fn parts(name: &str) -> Option<(&str, Option<u64>)> {
    let (node, rest) = name.strip_suffix(".pcapng")?.split_once('.').unwrap_or((name.strip_suffix(".pcapng")?, ""));
    let seed = match rest {
        "" => None,
        rest => Some(rest.strip_prefix("seed-")?.parse().ok()?),
    };
    (of(node, seed) == name).then_some((node, seed))
}

/// Whether a file begins as our captures of this node do.
fn is_ours(path: &Path, node: &str) -> io::Result<bool> {
    let ours = pcapng::Writer::new(Vec::new(), node)?.into_inner();
    let mut there = Vec::new();
    File::open(path)?.take(ours.len() as u64).read_to_end(&mut there)?;
    Ok(there == ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_node_and_seed() {
        for (node, seed) in [("n0", None), ("n0", Some(0)), ("a b", Some(u64::MAX)), ("pcapng", None)] {
            assert_eq!(parts(&of(node, seed)), Some((node, seed)));
        }
        let others = ["n0", "n0.pcap", "n0.seed-01.pcapng", "n0.seed-+1.pcapng", "n0.seed-.pcapng", "n0.1.pcapng"];
        for other in others.into_iter().chain(["n0..pcapng", "n0.seed-18446744073709551616.pcapng"]) {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
