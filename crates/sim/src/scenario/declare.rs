//! How a key declares its default, with the source of it: once, in its schema, from which the reference page, the JSON Schema,
//! `--explain`, the types for Python and the resolver take it.
//!
//! What is declared here stands in the JSON Schema as `x-default`.

use serde::Serialize;
use serde_json::{Value, json};

/// Key in the JSON Schema that holds what these functions declare.
pub(super) const DEFAULT_KEY: &str = "x-default";

/// A value; an empty `source` says nothing.
pub(super) fn is(value: impl Serialize, source: &str) -> Value {
    json!({ "value": value, "source": source })
}

/// No value at all, which is told so.
pub(super) fn nothing(told: &str, source: &str) -> Value {
    json!({ "told": told, "source": source })
}

/// A value for each word that another key of the table may have, with its source.
pub(super) fn by<'a, V: Serialize>(key: &str, cases: impl IntoIterator<Item = (&'a str, V, &'a str)>) -> Value {
    let case = |(word, value, source)| json!({ "of": word, "value": value, "source": source });
    json!({ "by": key, "cases": cases.into_iter().map(case).collect::<Vec<_>>() })
}

/// What the resolver works out, as the reference page tells it.
pub(super) fn computed(told: &str) -> Value {
    json!({ "computed": told })
}

/// What `--explain` gives as the source of a default that is declared with `source`.
pub(super) fn told_source(source: &str) -> String {
    if source.is_empty() { "default".into() } else { format!("default: {source}") }
}
