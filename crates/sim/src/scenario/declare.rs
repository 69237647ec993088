//! Declares the default of a key and its source: once, in the key's schema. The reference page, the JSON Schema,
//! `--explain`, the types for Python and the resolver use this declaration.
//!
//! The JSON Schema has the declaration as `x-default`.

use serde::Serialize;
use serde_json::{Value, json};

/// Key in the JSON Schema that holds the declared default.
pub(super) const DEFAULT_KEY: &str = "x-default";

/// A default value; with an empty `source` no reason is given.
pub(super) fn is(value: impl Serialize, source: &str) -> Value {
    json!({ "value": value, "source": source })
}

/// No value by default; `told` describes what this means.
pub(super) fn nothing(told: &str, source: &str) -> Value {
    json!({ "told": told, "source": source })
}

/// A default value for each word of another key of the table, each with its source.
pub(super) fn by<'a, V: Serialize>(key: &str, cases: impl IntoIterator<Item = (&'a str, V, &'a str)>) -> Value {
    let case = |(word, value, source)| json!({ "of": word, "value": value, "source": source });
    json!({ "by": key, "cases": cases.into_iter().map(case).collect::<Vec<_>>() })
}

/// A default that the resolver computes; `told` describes it on the reference page.
pub(super) fn computed(told: &str) -> Value {
    json!({ "computed": told })
}

/// The source that `--explain` prints for a default with this `source`.
pub(super) fn told_source(source: &str) -> String {
    if source.is_empty() { "default".into() } else { format!("default: {source}") }
}
