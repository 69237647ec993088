//! Which value is in force, and why.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::{Path, Tree};
use super::profile::Layer;
use super::reference::{DEFAULT_KEY, declaration};

/// One value in force.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explained {
    /// The key, with names in place of numbers: `flows.bulk.transport.window`.
    pub key: String,
    /// The value, with its unit.
    pub value: String,
    /// Where it comes from: the scenario, `--set`, a profile, or the default with its clause, RFC section or reason.
    pub source: String,
}

/// The list of values in force while it grows.
pub(super) struct Ledger<'a> {
    pub(super) tree: &'a Tree,
    /// What lies between that which is given and the defaults.
    pub(super) layer: &'static Layer,
    pub(super) rows: Vec<Explained>,
}

impl Ledger<'_> {
    /// The value given at `path`, or else the default with its reason; noted either way.
    pub(super) fn pick<T>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        show: impl Fn(&T) -> String,
        default: impl FnOnce() -> (T, String),
    ) -> T {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        let (value, source) = match given {
            Some(value) => (value, self.origin(&path).into()),
            None => default(),
        };
        let row = Explained { key: self.tree.field(&path), value: show(&value), source };
        self.rows.push(row);
        value
    }

    /// The value given at `path`, or else that of the profile, or else the default with its reason; noted either way.
    pub(super) fn layered<T: DeserializeOwned>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        show: impl Fn(&T) -> String,
        default: impl FnOnce() -> (T, String),
    ) -> T {
        let profile = self.of_profile(path);
        self.pick(path, given, show, || profile.unwrap_or_else(default))
    }

    /// The value given at `path`, or else that of the profile, or else the default that the schema declares; noted either way.
    ///
    /// # Panics
    /// If the schema declares none.
    pub(super) fn declared<T: DeserializeOwned>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        show: impl Fn(&T) -> String,
    ) -> T {
        let (_, mut key) = declaration(self.tree, self.layer, path);
        if let (Some(_), [table @ .., _]) = (key.get("const"), path) {
            // The kind of a table is what the table is by default.
            key = declaration(self.tree, self.layer, table).1;
        }
        let default = &key[DEFAULT_KEY];
        self.layered(path, given, show, || {
            let source = default["source"].as_str().expect("the schema declares a default of this key");
            (
                read(default["value"].clone()),
                if source.is_empty() { "default".into() } else { format!("default: {source}") },
            )
        })
    }

    /// What the profile says of the key at `path`, and why.
    pub(super) fn of_profile<T: DeserializeOwned>(&self, path: &[&str]) -> Option<(T, String)> {
        let (value, source) = self.layer.value(&declaration(self.tree, self.layer, path).0)?;
        Some((read(value), source))
    }

    /// Notes a value that was not given, and nobody needs here.
    pub(super) fn note(&mut self, path: &[&str], value: &str, source: &str) {
        self.pick(path, None, |v: &String| v.clone(), || (value.into(), source.into()));
    }

    /// Whether there is a value at `path`.
    pub(super) fn is_given(&self, path: &[&str]) -> bool {
        let path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        self.tree.get(&path).is_some()
    }

    /// Notes every value given at or below `path`.
    pub(super) fn note_given(&mut self, path: &[&str]) {
        let mut path: Path = path.iter().map(|step| (*step).to_owned()).collect();
        if let Some(value) = self.tree.get(&path) {
            self.note_leaves(value, &mut path);
        }
    }

    fn note_leaves(&mut self, value: &Value, path: &mut Path) {
        match value {
            Value::Object(table) => {
                for (key, value) in table {
                    path.push(key.clone());
                    self.note_leaves(value, path);
                    path.pop();
                }
            }
            leaf => {
                let value = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
                let source = self.origin(path).into();
                self.rows.push(Explained { key: self.tree.field(path), value, source });
            }
        }
    }

    fn origin(&self, path: &Path) -> &'static str {
        if self.tree.overridden(path) { super::document::SET } else { "scenario" }
    }
}

/// A value that hopcast itself declares, in its type.
fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("tests compare declared values with the types of their keys")
}
