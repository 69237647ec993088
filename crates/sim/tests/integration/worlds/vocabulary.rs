//! Random worlds have the whole vocabulary.

use std::collections::BTreeSet;

use serde_json::Value;

use super::draw::{world, world_with};
use super::keys::{ALL, SCHEMA, tag};

/// Worlds that are looked at before the search for what they don't have.
const WORLDS: u64 = 100;
/// Worlds that are drawn around a key or word until one has it: what contradicts the rest is taken out again.
const TRIES: u64 = 60;

#[test]
#[ignore = "slow"]
fn worlds_have_every_key_and_every_word() {
    let mut found = BTreeSet::new();
    for number in 0..WORLDS {
        mark(&SCHEMA, &world(number), "", &mut found);
    }
    for wanted in &*ALL {
        for number in 0..TRIES {
            if found.contains(wanted) {
                break;
            }
            mark(&SCHEMA, &world_with(number, wanted), "", &mut found);
        }
    }
    let missing: Vec<&String> = ALL.iter().filter(|key| !found.contains(*key)).collect();
    assert!(missing.is_empty(), "{} of {} are missing: {missing:#?}", missing.len(), ALL.len());
    assert!(ALL.len() > 400, "{} keys and words", ALL.len());
}

/// Marks what of the vocabulary a world has.
fn mark(schema: &Value, value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| mark(&schema["items"], item, path, found)),
        Value::Object(table) => {
            let kinds = schema["oneOf"].as_array().into_iter().flatten();
            let mut kinds = kinds.filter_map(|kind| Some((kind, tag(kind)?)));
            let kind = kinds.find(|(_, (key, word))| table.get(*key).is_some_and(|value| value == word));
            let (schema, path) = match kind {
                Some((kind, (_, word))) => {
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
