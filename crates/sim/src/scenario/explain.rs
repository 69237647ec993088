//! Which value is in force, and why.

use serde_json::Value;

use super::document::{Path, Tree};

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
