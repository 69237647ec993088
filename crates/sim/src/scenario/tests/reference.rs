//! The files that are written from the schema.

use std::path::Path;

use super::*;

/// Compares the file `path` of the repository with `text`; with HOPCAST_BLESS in the environment, writes it.
#[track_caller]
pub(super) fn is_current(path: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("HOPCAST_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a file in a folder")).expect("folder");
        std::fs::write(&file, text).expect("writable");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == text, "{path} is stale; write it with HOPCAST_BLESS=1 cargo test -p hopcast-sim scenario");
}

#[test]
fn the_reference_page_is_current() {
    is_current("docs/scenario.md", &reference());
}

#[test]
fn the_json_schema_is_current() {
    is_current("schema/scenario.schema.json", &format!("{:#}\n", json_schema()));
}

#[test]
fn every_key_is_described_and_no_other_is_taken() {
    fn walk(schema: &Value, path: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            let told = property.get("const").is_some() || property["description"].is_string();
            assert!(told, "{path} has no description");
            walk(property, &path);
            walk(&property["items"], &path);
        }
        assert!(schema.get("properties").is_none() || schema["additionalProperties"] == false, "{path} takes any key");
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            assert!(variant["description"].is_string(), "{path}: {variant} has no description");
            walk(variant, path);
        }
    }
    walk(&json_schema(), "");
}

/// A default that is declared is told by the page, and no docstring tells another.
#[test]
fn a_declared_default_is_a_value_of_its_key_and_told_once() {
    fn walk(schema: &Value, path: &str, found: &mut u32) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            if let Some(default) = property.get(super::super::declare::DEFAULT_KEY) {
                *found += 1;
                let cases = default["cases"].as_array().into_iter().flatten();
                for value in cases.chain([default]).filter_map(|declared| declared.get("value")) {
                    // A table is declared by its kind.
                    let value = match forms::tag(&property["oneOf"][0]) {
                        None => value.clone(),
                        Some((tag, _)) => serde_json::json!({ tag: value }),
                    };
                    assert!(check::fits(property, &value), "{path} = {value}");
                }
                let description = property["description"].as_str().expect("a text");
                assert_eq!(description.matches(" Default: ").count(), 1, "{path}: {description}");
            }
            walk(property, &path, found);
            walk(&property["items"], &path, found);
        }
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            walk(variant, path, found);
        }
    }
    let mut found = 0;
    walk(&json_schema(), "", &mut found);
    assert!(found > 30, "{found} declared defaults");
}
