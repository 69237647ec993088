//! Scenarios: the schema of the file, units, validation, and the values in force.
//!
//! A scenario passes through these modules: `document` reads TOML or JSON into a tree and applies overrides, `check`
//! compares the tree with the `vocabulary`, and `tables` declares the keys, reads them with their defaults (`read`),
//! checks what involves several keys, and makes a [`model::Scenario`].

mod check;
mod declare;
mod document;
mod error;
mod explain;
mod forms;
mod link_trace;
pub mod model;
pub mod nearest;
mod profile;
pub mod quantity;
mod read;
mod reference;
mod tables;
#[cfg(test)]
mod tests;
mod traces;
mod vocabulary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

pub use error::{ScenarioError, ScenarioErrors};
pub use explain::Explained;
pub use link_trace::{LinkTable, LinkTrace, LinkTraceError};
pub use model::Scenario;
pub use reference::reference;

use crate::registry::Registry;
use document::Tree;

/// The JSON Schema (draft 2020-12) of scenario files. Its limits of quantities apply to numbers; [`Scenario::parse`]
/// checks those of strings.
pub fn json_schema() -> Value {
    root().clone()
}

/// The schema that hopcast checks scenarios against.
fn root() -> &'static Value {
    // To make it takes longer than to check a scenario.
    static ROOT: LazyLock<Value> = LazyLock::new(vocabulary::schema_of::<tables::Document>);
    &ROOT
}

/// A scenario before it is read.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// TOML or JSON.
    pub text: String,
    /// The name in messages: the file's name, or a description.
    pub name: String,
    /// Directory in which hopcast looks for files that the scenario names: the file's directory, or the current one.
    pub directory: PathBuf,
    /// Directories with traces (`--traces`, `HOPCAST_TRACES`), in search order.
    pub trace_dirs: Vec<PathBuf>,
    /// Custom models that the scenario may name in addition to the built-in ones.
    pub registry: Registry,
}

/// A valid scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario to run.
    pub scenario: Scenario,
    /// The scenario with all overrides applied, as JSON that [`Scenario::from_json`] reads: quantities in SI units
    /// (powers in dBm), keys in alphabetical order, without defaults.
    pub document: String,
    explained: Vec<Explained>,
}

impl Loaded {
    /// Every value in force with its source: first the radio, then nodes, then flows.
    pub fn explain(&self) -> &[Explained] {
        &self.explained
    }
}

impl Scenario {
    /// Reads TOML and applies `overrides`, each `KEY=VALUE`, in order.
    ///
    /// # Errors
    /// All errors of the scenario and its overrides.
    pub fn parse(source: &Source, overrides: &[String]) -> Result<Loaded, ScenarioErrors> {
        load(Tree::from_toml(&source.text, &source.name), source, overrides)
    }

    /// Reads JSON with the same vocabulary; a `null` is the same as a missing key.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn from_json(source: &Source, overrides: &[String]) -> Result<Loaded, ScenarioErrors> {
        load(Tree::from_json(&source.text, &source.name), source, overrides)
    }
}

fn load(
    tree: Result<Tree, Vec<ScenarioError>>,
    source: &Source,
    overrides: &[String],
) -> Result<Loaded, ScenarioErrors> {
    let mut tree = tree.map_err(ScenarioErrors::new)?;
    let own_seed = tree.root.get("seed").and_then(Value::as_u64);
    let errors: Vec<_> =
        overrides.iter().filter_map(|assignment| tree.set(assignment).err().map(|error| *error)).collect();
    if !errors.is_empty() {
        return Err(ScenarioErrors::new(errors));
    }
    let values = check::check(root(), &tree).map_err(ScenarioErrors::new)?;
    let (mut scenario, explained) = tables::resolve(&values, &tree, source).map_err(ScenarioErrors::new)?;
    let document = canonical(&values);
    scenario.sha256 = match tree.overridden(&["seed".into()]) {
        true => digest(&canonical(&with_seed(values, own_seed))),
        false => digest(&document),
    };
    Ok(Loaded { scenario, document, explained })
}

fn with_seed(mut values: Value, seed: Option<u64>) -> Value {
    if let Some(table) = values.as_object_mut() {
        match seed {
            Some(seed) => table.insert("seed".into(), seed.into()),
            None => table.remove("seed"),
        };
    }
    values
}

/// JSON without spaces, with keys in alphabetical order and quantities in SI units.
fn canonical(values: &Value) -> String {
    fn sorted(value: Value) -> Value {
        match value {
            // Through an ordered map, since the order of the library's own depends on a feature that any crate may enable.
            Value::Object(table) => table
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect::<BTreeMap<_, _>>()
                .into_iter()
                .collect::<serde_json::Map<_, _>>()
                .into(),
            Value::Array(items) => items.into_iter().map(sorted).collect(),
            other => other,
        }
    }
    sorted(forms::canonical(root(), values)).to_string()
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
