//! The values in force, and their sources.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::declare::{DEFAULT_KEY, told_source};
use super::document::{Path, SET, Tree};
use super::forms::shown;
use super::profile::Layer;
use super::vocabulary::{Declaration, declaration};

/// One value in force, with its source.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explained {
    /// The key, with names instead of indices: `flows.bulk.transport.window`.
    pub key: String,
    /// The value, with its unit.
    pub value: String,
    /// Source of the value: the scenario, `--set`, a profile, or the default with its clause, RFC section or reason.
    pub source: String,
}

/// Collects the values in force.
pub(super) struct Ledger<'a> {
    pub(super) tree: &'a Tree,
    /// The checked tree.
    pub(super) values: &'a Value,
    /// The profile between the given values and the defaults.
    pub(super) layer: &'static Layer,
    pub(super) rows: Vec<Explained>,
}

impl<'a> Ledger<'a> {
    /// The value given at `path`, or else the default with its reason. Notes either.
    pub(super) fn pick<T: Serialize>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        default: impl FnOnce() -> (T, String),
    ) -> T {
        let schema = self.declaration(&owned(path)).schema;
        let spelled = |value: &T| serde_json::to_value(value).expect("a value of the vocabulary");
        self.pick_shown(path, given, |value| shown(schema, &spelled(value)), default)
    }

    /// The same as [`Self::pick`], for a type that the vocabulary does not know.
    pub(super) fn pick_shown<T>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        show: impl Fn(&T) -> String,
        default: impl FnOnce() -> (T, String),
    ) -> T {
        let path = owned(path);
        let (value, source) = match given {
            Some(value) => (value, self.origin(&path).into()),
            None => default(),
        };
        self.push_told(&path, &show(&value), source);
        value
    }

    /// The value given at `path`, else that of the profile, else the default with its reason. Notes it.
    pub(super) fn layered<T: Serialize + DeserializeOwned>(
        &mut self,
        path: &[&str],
        given: Option<T>,
        default: impl FnOnce() -> (T, String),
    ) -> T {
        let profile = self.of_profile(path);
        self.pick(path, given, || profile.unwrap_or_else(default))
    }

    /// The profile's value for the key at `path`, and its source.
    pub(super) fn of_profile<T: DeserializeOwned>(&self, path: &[&str]) -> Option<(T, String)> {
        let (value, source) = self.layer.value(&self.declaration(&owned(path)).names)?;
        Some((serde_json::from_value(value).expect("tests compare profiles with the types of their keys"), source))
    }

    /// Notes what is in force, as text.
    pub(super) fn note(&mut self, path: &[&str], told: &str, source: &str) {
        self.push_told(&owned(path), told, source.into());
    }

    /// Whether there is a value at `path`.
    pub(super) fn is_given(&self, path: &[&str]) -> bool {
        self.given(path).is_some()
    }

    /// Notes the value given at `path`, if there is one.
    pub(super) fn note_given(&mut self, path: &[&str]) {
        let path = owned(path);
        if let Some(value) = self.given(&path) {
            self.push(&path, value, self.origin(&path).into());
        }
    }

    /// The number of elements of the list at `path`.
    pub(super) fn count(&self, path: &[&str]) -> usize {
        self.given(path).and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The value given at `path`.
    pub(super) fn given(&self, path: &[impl AsRef<str>]) -> Option<&'a Value> {
        path.iter().try_fold(self.values, |value, step| match value {
            Value::Object(table) => table.get(step.as_ref()),
            Value::Array(items) => items.get(step.as_ref().parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// The declaration of the key at `path`, in tables of the kinds in force.
    pub(super) fn declaration(&self, path: &[String]) -> Declaration {
        declaration(self.values, self.layer, path)
    }

    /// The value given at `path`, or else that of the profile, with its source.
    pub(super) fn given_or_of_profile(&self, path: &[String]) -> Option<(Value, String)> {
        let given = self.given(path).map(|value| (value.clone(), self.origin(path).into()));
        given.or_else(|| self.layer.value(&self.declaration(path).names))
    }

    /// The value given at `path`, else that of the profile, else the declared default, with its source.
    pub(super) fn in_force(&self, path: &[String]) -> Option<(Value, String)> {
        self.given_or_of_profile(path).or_else(|| self.by_default(path))
    }

    fn by_default(&self, path: &[String]) -> Option<(Value, String)> {
        let key = self.declaration(path).schema;
        let (_, table) = path.split_last()?;
        // The kind of a table is what the table is by default.
        let key = if key.get("const").is_some() { self.declaration(table).schema } else { key };
        let default = &key[DEFAULT_KEY];
        let default = match default["by"].as_str() {
            None => default,
            Some(other) => {
                let other: Path = table.iter().cloned().chain([other.to_owned()]).collect();
                let (word, _) = self.in_force(&other)?;
                default["cases"].as_array()?.iter().find(|case| case["of"] == word)?
            }
        };
        Some((default.get("value")?.clone(), told_source(default["source"].as_str()?)))
    }

    /// Notes a value, or each value of a table.
    pub(super) fn push(&mut self, path: &[String], value: &Value, source: String) {
        if value.is_object() {
            return self.push_leaves(value, &mut path.to_vec(), &source);
        }
        let told = shown(self.declaration(path).schema, value);
        self.push_told(path, &told, source);
    }

    /// Notes what is in force, as text.
    pub(super) fn push_told(&mut self, path: &[String], told: &str, source: String) {
        self.rows.push(Explained { key: self.tree.field(path), value: told.into(), source });
    }

    /// Notes the values of a table that the vocabulary does not know.
    fn push_leaves(&mut self, value: &Value, path: &mut Path, source: &str) {
        match value {
            Value::Object(table) => {
                for (key, value) in table {
                    path.push(key.clone());
                    self.push_leaves(value, path, source);
                    path.pop();
                }
            }
            leaf => {
                let told = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
                let source = if self.tree.overridden(path) { SET } else { source };
                self.push_told(path, &told, source.into());
            }
        }
    }

    fn origin(&self, path: &[String]) -> &'static str {
        if self.tree.overridden(path) { SET } else { "scenario" }
    }
}

fn owned(path: &[&str]) -> Path {
    path.iter().map(|step| (*step).to_owned()).collect()
}
