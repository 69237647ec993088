//! The keys and words of the vocabulary that random worlds draw.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hopcast_sim::scenario::json_schema;
use serde_json::Value;

/// Keys that random worlds leave out: real hosts, user-defined models, and files.
pub(super) const LEFT_OUT: [&str; 6] = ["emulation", "real", "parameters", "listens_to", "traces", "trace"];
/// The same, where it is a table and no word.
const CUSTOM_TCP: &str = ".transport.congestion";
/// Kinds of tables that they leave out.
const KINDS_LEFT_OUT: [&str; 2] = ["custom", "trace"];
/// Words that they leave out: only real hosts find routes without hopcast.
pub(super) const WORDS_LEFT_OUT: [&str; 1] = [".nodes.routing=none"];

/// The schema of scenarios.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// All keys, such as `.radio.mtu`, and words, such as `.nodes.routing=dsr`. Of a table whose kind a word names, keys are those of the
/// kind, as in `.nodes.routing[dsr].cache`.
pub(super) static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all = BTreeSet::new();
    collect(&SCHEMA, "", &mut all);
    all.into_iter().filter(|key| !WORDS_LEFT_OUT.contains(&key.as_str())).collect()
});

/// Whether this key, with the path to it, is one that worlds leave out.
pub(super) fn is_left_out(path: &str, of: &Value) -> bool {
    let key = path.rsplit('.').next().expect("a name");
    LEFT_OUT.contains(&key) || plain(path).ends_with(CUSTOM_TCP) && of["properties"].is_object()
}

/// Whether a kind of table needs a file or a model that a program has added.
pub(super) fn is_kind_left_out(kind: &Value) -> bool {
    tag(kind).is_some_and(|(_, word)| KINDS_LEFT_OUT.contains(&word))
}

/// The key whose word names this kind of table, and the word.
pub(super) fn tag(kind: &Value) -> Option<(&str, &str)> {
    kind["properties"].as_object()?.iter().find_map(|(key, of)| Some((key.as_str(), of["const"].as_str()?)))
}

/// A path without the kinds of its tables.
pub(super) fn plain(path: &str) -> String {
    path.split('[').map(|part| part.split_once(']').map_or(part, |(_, behind)| behind)).collect()
}

/// All keys and words below a schema.
fn collect(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    for kind in schema["oneOf"].as_array().into_iter().flatten() {
        if let Some(word) = kind["const"].as_str() {
            all.insert(format!("{path}={word}"));
        } else if let Some((_, word)) = tag(kind).filter(|_| !is_kind_left_out(kind)) {
            all.insert(format!("{path}={word}"));
            collect(kind, &format!("{path}[{word}]"), all);
        }
    }
    for word in schema["x-or"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        all.insert(format!("{path}={word}"));
    }
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        if of.get("const").is_none() && !is_left_out(&path, of) {
            all.insert(path.clone());
            collect(of, &path, all);
        }
    }
    if schema["items"].is_object() {
        collect(&schema["items"], path, all);
    }
}
