//! The JSON Schema, and the reference page that is written from it.

use core::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::document::{Path, Tree};
use super::profile::Layer;
use super::quantity;
use super::schema::Document;

/// Key in the JSON Schema that holds a default with its source.
pub(super) const DEFAULT_KEY: &str = "x-default";

/// The JSON Schema (draft 2020-12) of scenario files. Limits of quantities hold for numbers; for texts they are checked
/// when the scenario is read.
pub fn json_schema() -> Value {
    root().clone()
}

/// The page of keys, values, defaults and limits, in Markdown.
pub fn reference() -> String {
    let mut page = String::from(HEAD);
    for dimension in quantity::Dimension::ALL {
        let symbols: Vec<String> = dimension.units().iter().map(|unit| format!("`{}`", unit.symbol)).collect();
        let bare = dimension.bare_unit();
        let _ = writeln!(page, "| {} | {} | `{bare}` |", &dimension.name()[2..], symbols.join(" "));
    }
    page.push_str(RULES);
    table(&mut page, "", root(), 2);
    page
}

const HEAD: &str = "\
<!-- Written by `HOPCAST_BLESS=1 cargo test -p hopcast-sim scenario`; edit the descriptions in crates/sim/src/scenario/schema.rs. -->
# Scenario files

A scenario is a TOML file, or a Python object with the same keys.

## Quantities

A quantity is a text with a number and its unit (`\"2 Mb/s\"`, `\"200 m\"`), or a number without unit.
Prefixes of sizes are decimal: `1 kB` (also written `KB`) is 1000 B. Where a paper's KB is 1024 B, write `KiB`.
The `µ` may be the micro sign or the Greek letter.

| quantity | units | a number without unit is in |
|---|---|---|
";

const RULES: &str = "
## Overrides

`--set KEY=VALUE` changes one value; `KEY` is dotted, and elements of lists go by their `name` or by their number:
`--set flows.bulk.transport.window=8`. `VALUE` is a TOML value, or else a text. Where an override changes the kind of
a table (`--set radio.propagation.model=free-space`), keys that only the former kind has are left out, and optional ones
whose values only the former kind takes (`variant = \"newreno\"` where `transport.protocol` becomes `tfrc`).

The digest of a scenario (`scenario_sha256`) covers all of it with every override applied, save an overridden `seed`;
it does not depend on how values are spelled.

";

/// The schema that scenarios are checked against: everything inline, without `null`.
pub(super) fn root() -> &'static Value {
    // To make it takes longer than to check a scenario.
    static ROOT: LazyLock<Value> = LazyLock::new(make);
    &ROOT
}

fn make() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Document>().to_value();
    tidy(&mut schema);
    tell_defaults(&mut schema, &mut Vec::new());
    schema
}

/// Adds to each description the default that the schema declares and those of profiles.
fn tell_defaults(schema: &mut Value, name: &mut Vec<String>) {
    if let Some(kinds) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        kinds.iter_mut().for_each(|kind| tell_defaults(kind, name));
    }
    if let Some(items) = schema.get_mut("items") {
        tell_defaults(items, name);
    }
    for (key, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        name.push(key.clone());
        if let Some(default) = property.get(DEFAULT_KEY) {
            let mut told = spelled(&default["value"]);
            let source = default["source"].as_str().unwrap_or_default();
            if !source.is_empty() && default["value"] != source {
                told += &format!(": {source}");
            }
            for layer in Layer::ALL {
                let key = name.join(".");
                let of_profile = layer.value(&[format!("{key}.model"), key]).map(|(value, _)| spelled(&value));
                if let Some(value) = of_profile.filter(|value| *value != spelled(&default["value"])) {
                    told += &format!("; {value} under profile `{}`", layer.name);
                }
            }
            let description = property["description"].as_str().unwrap_or_default();
            property["description"] = format!("{description} Default: {told}.").into();
        }
        tell_defaults(property, name);
        name.pop();
    }
}

/// A value as the page spells it: words as code, quantities and numbers plainly.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && text.contains(' ') => {
            text.clone()
        }
        Value::String(word) => format!("`{word}`"),
        Value::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// The names of the key at `path`, without places in lists, and its schema. Where a table is of several kinds, its keys have two names: one
/// with the kind that is in force behind that of the table, and one without.
///
/// # Panics
/// If the vocabulary has no such key.
pub(super) fn declaration(tree: &Tree, layer: &Layer, path: &[&str]) -> (Vec<String>, &'static Value) {
    let (mut name, mut of_kind) = (Vec::new(), Vec::new());
    let mut at = Path::new();
    let mut schema = root();
    for &step in path {
        if schema["type"] == "array" {
            schema = &schema["items"];
            at.push(step.into());
            continue;
        }
        let (kind, table) = kind_in_force(schema, tree, layer, &at, &name);
        schema = &table["properties"][step];
        assert!(schema.is_object(), "{path:?} is no key of the vocabulary");
        of_kind.extend(kind.filter(|_| schema.get("const").is_none()));
        at.push(step.into());
        name.push(step);
        of_kind.push(step);
    }
    (vec![of_kind.join("."), name.join(".")], schema)
}

/// The kind of the table at `at` and its schema: the one that is given, or else that of the profile, or else the default. A table of
/// one kind is its own schema.
fn kind_in_force(
    schema: &'static Value,
    tree: &Tree,
    layer: &Layer,
    at: &Path,
    name: &[&str],
) -> (Option<&'static str>, &'static Value) {
    let Some(kinds) = schema["oneOf"].as_array() else { return (None, schema) };
    let tag = properties(&kinds[0]).find(|(_, property)| property.get("const").is_some()).map(|(key, _)| key.as_str());
    let tag = tag.expect("kinds of a table have a tag");
    let path: Path = at.iter().cloned().chain([tag.into()]).collect();
    let default = || layer.value(&[format!("{}.{tag}", name.join("."))]).map(|(kind, _)| kind);
    let kind = tree.get(&path).cloned().or_else(default);
    let word = |table: &'static Value| table["properties"][tag]["const"].as_str();
    let found = kinds.iter().find(|table| kind.as_ref().is_some_and(|kind| word(table) == kind.as_str()));
    let table = found.or_else(|| kinds.iter().find(|table| word(table) == schema[DEFAULT_KEY]["value"].as_str()));
    let table = table.unwrap_or_else(|| panic!("{path:?} has no kind and no default"));
    (word(table), table)
}

/// The schemas of the keys that a profile calls `name`.
#[cfg(test)]
pub(super) fn named(name: &str) -> Vec<&'static Value> {
    let mut found = vec![root()];
    for step in name.split('.') {
        let mut next = Vec::new();
        for schema in found {
            let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
            let kinds: Vec<&Value> = schema["oneOf"].as_array().map_or(vec![schema], |kinds| kinds.iter().collect());
            for kind in kinds {
                if properties(kind).any(|(_, property)| property["const"] == step) {
                    next.push(kind);
                }
                if properties(kind).any(|(key, _)| key == step) {
                    next.push(&kind["properties"][step]);
                }
            }
        }
        found = next;
    }
    found
}

/// Optional keys may be absent but are never `null`, and limits of elements move to the elements.
fn tidy(schema: &mut Value) {
    let Value::Object(table) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(tidy);
        }
        return;
    };
    if let Some(Value::Array(types)) = table.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            table.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(mut choices)) = table.remove("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        assert!(choices.len() == 1, "only an optional value has alternatives without a tag: {choices:?}");
        if let Some(Value::Object(only)) = choices.pop() {
            for (key, value) in only {
                // What is said about the key goes before what is said about its type.
                table.entry(key).or_insert(value);
            }
        }
    }
    if table.get("default").is_some_and(Value::is_null) {
        table.remove("default");
    }
    if let Some(Value::Object(limits)) = table.remove("x-items") {
        for (key, value) in limits {
            table["items"]["items"][key] = value;
        }
    }
    if table.contains_key(quantity::RANGE_KEY) {
        // Limits of either end.
        for key in ["exclusiveMinimum", "minimum", "maximum"] {
            if let Some(limit) = table.get(key).cloned() {
                table["items"][key] = limit;
            }
        }
    }
    table.values_mut().for_each(tidy);
}

/// The keys of a table, and after them the tables within.
fn table(page: &mut String, path: &str, schema: &Value, level: usize) {
    let (title, intro) = match path {
        "" => ("Keys of a scenario".into(), String::new()),
        _ => {
            let text = text(schema);
            let intro = text.split(" Default: ").next().unwrap_or_default();
            (format!("`{path}`"), format!("{intro}\n\n"))
        }
    };
    let _ = write!(page, "{} {title}\n\n{intro}", "#".repeat(level));
    match schema["oneOf"].as_array() {
        None => keys(page, schema),
        Some(variants) => {
            for variant in variants {
                let tag = properties(variant).find_map(|(key, p)| Some((key, p["const"].as_str()?)));
                let Some((tag, word)) = tag else { continue };
                let _ = write!(page, "**`{tag} = \"{word}\"`**: {}\n\n", text(variant));
                keys(page, variant);
            }
        }
    }
    for (key, property) in properties(schema) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if is_table(property) {
            table(page, &path, property, level + 1);
        } else if is_table(&property["items"]) {
            table(page, &path, &with_description(&property["items"], property), level + 1);
        }
    }
}

fn keys(page: &mut String, schema: &Value) {
    let required = |key: &str| schema["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key));
    let mut rows = String::new();
    for (key, property) in properties(schema).filter(|(_, property)| property.get("const").is_none()) {
        let (meaning, default) = match text(property).split_once(" Default: ") {
            Some((meaning, default)) => (meaning.to_owned(), default.trim_end_matches('.').to_owned()),
            None if required(key) => (text(property), "required".into()),
            None => (text(property), "see below".into()),
        };
        let _ = writeln!(rows, "| `{key}` | {} | {default} | {meaning} |", values(property).replace('|', "\\|"));
    }
    if !rows.is_empty() {
        let _ = write!(page, "| key | value | default | meaning |\n|---|---|---|---|\n{rows}\n");
    }
}

/// What a key takes, in short.
fn values(schema: &Value) -> String {
    if let Some(name) = schema[quantity::DIMENSION_KEY].as_str() {
        let dimension = quantity::dimension_of(name).expect("the schema names a dimension");
        let limit = |key: &str, word: &str| {
            let limit = schema[key].as_f64()?;
            Some(format!("{word} {}", dimension.display(dimension.from_bare(limit))))
        };
        let limits = [limit("exclusiveMinimum", ">"), limit("minimum", "≥"), limit("maximum", "≤")];
        let or: String = quantity::words_of(schema).iter().map(|word| format!(" or `\"{word}\"`")).collect();
        let range = if schema.get(quantity::RANGE_KEY).is_some() { " or `[least, largest]`" } else { "" };
        return [format!("{name}{or}{range}")]
            .into_iter()
            .chain(limits.into_iter().flatten())
            .collect::<Vec<_>>()
            .join(", ");
    }
    if is_table(schema) {
        return "table".into();
    }
    if let Some(words) = schema["oneOf"].as_array() {
        let word = |word: &Value| {
            format!("`\"{}\"` ({})", word["const"].as_str().unwrap_or_default(), text(word).trim_end_matches('.'))
        };
        return words.iter().map(word).collect::<Vec<_>>().join("; ");
    }
    match schema["type"].as_str() {
        Some("array") if is_table(&schema["items"]) => "list of tables".into(),
        Some("array") => format!("list of {}", values(&schema["items"])),
        Some("integer") => limited("whole number", schema),
        Some("number") => limited("number", schema),
        _ if schema.get(quantity::STEPS_KEY).is_some() => {
            format!("{} or a list of `[time, number]`", limited("number", schema))
        }
        Some("boolean") => "`true` or `false`".into(),
        Some("string") => "text".into(),
        other => unreachable!("no key of the scenario is a {other:?}"),
    }
}

fn limited(what: &str, schema: &Value) -> String {
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(least), Some(most)) => format!("{what}, {least} to {most}"),
        (Some(least), None) => format!("{what}, ≥ {least}"),
        _ => what.into(),
    }
}

fn is_table(schema: &Value) -> bool {
    schema["type"] == "object" || schema["oneOf"].as_array().is_some_and(|v| v.iter().all(|v| v["type"] == "object"))
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn with_description(schema: &Value, from: &Value) -> Value {
    let mut schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    schema.insert("description".into(), from["description"].clone());
    Value::Object(schema)
}

/// A description on one line.
fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
