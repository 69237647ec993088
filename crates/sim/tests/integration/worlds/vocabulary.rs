//! Random worlds have the whole vocabulary.

use std::collections::BTreeSet;

use hopcast_sim::scenario::json_schema;
use serde_json::Value;

use super::draw::{CUSTOM_TCP, KINDS_LEFT_OUT, LEFT_OUT, world};

/// What no world has yet: drawn values of these do not fit each other, or something else always takes their place.
const NOT_YET: [&str; 6] = [
    ".cloud.devices",
    ".name",
    ".nodes.mobility=streets",
    ".nodes.mobility[streets]",
    ".nodes.routing=none",
    ".radio.errors[gilbert-elliott].fec=none",
];

#[test]
#[ignore = "slow"]
fn worlds_have_every_key_and_every_word() {
    let schema = json_schema();
    let mut all = BTreeSet::new();
    collect(&schema, "", &mut all);
    let mut found = BTreeSet::new();
    for number in 0..4_000 {
        mark(&schema, &world(number), "", &mut found);
    }
    let is_expected = |key: &&String| !NOT_YET.iter().any(|known| key.starts_with(known));
    let missing: Vec<&String> = all.difference(&found).filter(is_expected).collect();
    assert!(missing.is_empty(), "{} of {} are missing: {missing:#?}", missing.len(), all.len());
    assert!(all.len() > 400, "{} keys and words", all.len());
}

/// Whether this key is one that worlds leave out.
fn is_left_out(path: &str, key: &str, of: &Value) -> bool {
    LEFT_OUT.contains(&key)
        || format!("{path}.{key}").replace("[tcp]", "").ends_with(CUSTOM_TCP) && of["properties"].is_object()
}

fn word_of(kind: &Value) -> Option<&str> {
    kind["properties"].as_object()?.values().find_map(|of| of["const"].as_str())
}

/// All keys and words below a schema.
fn collect(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    for kind in schema["oneOf"].as_array().into_iter().flatten() {
        if let Some(word) = kind["const"].as_str() {
            all.insert(format!("{path}={word}"));
        } else if let Some(word) = word_of(kind).filter(|word| !KINDS_LEFT_OUT.contains(word)) {
            all.insert(format!("{path}={word}"));
            collect(kind, &format!("{path}[{word}]"), all);
        }
    }
    for word in schema["x-or"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        all.insert(format!("{path}={word}"));
    }
    for (key, of) in schema["properties"].as_object().into_iter().flatten() {
        if of.get("const").is_none() && !is_left_out(path, key, of) {
            let path = format!("{path}.{key}");
            all.insert(path.clone());
            collect(of, &path, all);
        }
    }
    if schema["items"].is_object() {
        collect(&schema["items"], path, all);
    }
}

/// Marks what of it a world has.
fn mark(schema: &Value, value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| mark(&schema["items"], item, path, found)),
        Value::Object(table) => {
            let kinds = schema["oneOf"].as_array().into_iter().flatten();
            let mut kinds = kinds.filter_map(|kind| Some((kind, word_of(kind)?)));
            let kind = kinds.find(|(_, word)| table.values().any(|value| value == word));
            let (schema, path) = match kind {
                Some((kind, word)) => {
                    found.insert(format!("{path}={word}"));
                    (kind, format!("{path}[{word}]"))
                }
                None => (schema, path.to_owned()),
            };
            for (key, value) in table {
                let path = format!("{path}.{key}");
                found.insert(path.clone());
                mark(&schema["properties"][key], value, &path, found);
            }
        }
        Value::String(word) => drop(found.insert(format!("{path}={word}"))),
        _ => {}
    }
}
