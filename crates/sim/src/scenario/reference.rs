//! The reference page, written from the JSON Schema.

use core::fmt::Write as _;

use serde_json::{Map, Value};

use super::forms::{SHORT_KEY, is_table, properties, tag};
use super::{quantity, root};

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
<!-- Written by `HOPCAST_BLESS=1 cargo test -p hopcast-sim scenario`; edit the descriptions in crates/sim/src/scenario/tables. -->
# Scenario files

A scenario is a TOML file, or a Python object with the same keys.

## Quantities

A quantity is a string with a number and its unit (`\"2 Mb/s\"`, `\"200 m\"`), or a number without unit.
Prefixes of sizes are decimal: `1 kB` (also written `KB`) is 1000 B. Where a paper's KB is 1024 B, write `KiB`.
The `µ` may be the micro sign or the Greek letter.

| quantity | units | a number without unit is in |
|---|---|---|
";

const RULES: &str = "
## Overrides

`--set KEY=VALUE` changes one value. `KEY` is dotted, with the `name` or the number of elements of lists:
`--set flows.bulk.transport.window=8`. `VALUE` is a TOML value, or else a string.

An override may change the kind of a table (`--set radio.propagation.model=free-space`). hopcast then ignores keys that
only the former kind has. It also ignores optional keys whose values only the former kind accepts, such as
`variant = \"newreno\"` where `transport.protocol` becomes `tfrc`.

The digest of a scenario (`scenario_sha256`) covers the whole scenario with all overrides, except an overridden `seed`.
It does not depend on how values are spelled.

";

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
                let Some((tag, word)) = tag(variant) else { continue };
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
        let scheme = if schema.get(quantity::SCHEMES_KEY).is_some() { " or `\"mcs N\"`" } else { "" };
        let other = schema[quantity::OTHER_KEY].as_str().map(|other| format!(" or {other}")).unwrap_or_default();
        let or: String = quantity::words_of(schema).iter().map(|word| format!(" or `\"{word}\"`")).collect();
        let range = if schema.get(quantity::RANGE_KEY).is_some() { " or `[least, largest]`" } else { "" };
        let steps = match schema.get(quantity::STEPS_KEY) {
            Some(_) => format!(" or a list of `[time, {name}]`"),
            None => String::new(),
        };
        return [format!("{name}{other}{scheme}{or}{range}{steps}")]
            .into_iter()
            .chain(limits.into_iter().flatten())
            .collect::<Vec<_>>()
            .join(", ");
    }
    if schema.get(SHORT_KEY).is_some() {
        return format!("{} or table", limited("whole number", schema));
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
    if let [word] = quantity::words_of(schema)[..] {
        return format!("{} or `\"{word}\"`", limited("whole number", schema));
    }
    match schema["type"].as_str() {
        Some("array") if is_table(&schema["items"]) => "list of tables".into(),
        Some("array") => match values(&schema["items"]) {
            items if items == "string" => "list of strings".into(),
            items => format!("list of {items}"),
        },
        Some("integer") => limited("whole number", schema),
        Some("number") => limited("number", schema),
        _ if schema.get(quantity::STEPS_KEY).is_some() => {
            format!("{} or a list of `[time, number]`", limited("number", schema))
        }
        Some("boolean") => "`true` or `false`".into(),
        Some("string") => "string".into(),
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

fn with_description(schema: &Value, from: &Value) -> Value {
    let mut schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    schema.insert("description".into(), from["description"].clone());
    Value::Object(schema)
}

/// A description on one line.
fn text(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
