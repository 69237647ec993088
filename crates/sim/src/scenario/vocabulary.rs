//! The vocabulary of scenarios as one JSON Schema, and what it declares about the keys of a scenario.

use schemars::JsonSchema;
use serde_json::Value;

use super::declare::DEFAULT_KEY;
use super::forms::{Form, form, is_table, shown, tag};
use super::profile::Layer;
use super::{quantity, root};

/// The schema of a type: everything inline, without `null`.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    tell_defaults(&mut schema, &[String::new()]);
    schema
}

/// Adds to each description the default that the schema declares and those of profiles, which call the table by these
/// names.
fn tell_defaults(schema: &mut Value, names: &[String]) {
    for kind in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let of_kind = tag(kind).map(|(_, word)| names.iter().map(|name| format!("{name}{word}.")).collect::<Vec<_>>());
        tell_defaults(kind, &[names, &of_kind.unwrap_or_default()].concat());
    }
    if let Some(items) = schema.get_mut("items") {
        tell_defaults(items, names);
    }
    for (key, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        let names: Vec<String> = names.iter().map(|name| format!("{name}{key}")).collect();
        if let Some(told) = told(property, &names) {
            let description = property["description"].as_str().unwrap_or_default();
            property["description"] = format!("{description} Default: {told}.").into();
        }
        tell_defaults(property, &names.iter().map(|name| format!("{name}.")).collect::<Vec<_>>());
    }
}

/// The default of the key that profiles call by these names, in words.
fn told(property: &Value, names: &[String]) -> Option<String> {
    let default = property.get(DEFAULT_KEY)?;
    let with_source = |told: String| match default["source"].as_str() {
        None | Some("") => told,
        Some(source) if default["value"] == source || default["told"] == source => told,
        Some(source) => format!("{told}: {source}"),
    };
    let mut told = match (default["computed"].as_str(), default["told"].as_str(), default["cases"].as_array()) {
        (Some(told), ..) => return Some(told.into()),
        (_, Some(told), _) => with_source(told.into()),
        (.., Some(cases)) => in_cases(property, cases),
        _ => with_source(spelled(property, &default["value"])),
    };
    for layer in Layer::ALL {
        let kind = if is_table(property) { kinds(property).first().and_then(|kind| tag(kind)) } else { None };
        let of_kind = |(tag, _)| names.iter().map(|name| format!("{name}.{tag}")).collect();
        let of_profile =
            layer.value(&kind.map_or_else(|| names.to_vec(), of_kind)).map(|(value, _)| spelled(property, &value));
        if let Some(value) = of_profile.filter(|value| *value != spelled(property, &default["value"])) {
            told += &format!("; {value} under profile `{}`", layer.name);
        }
    }
    Some(told)
}

/// Values by the word of another key: each value once, with its words.
fn in_cases(property: &Value, cases: &[Value]) -> String {
    let mut told: Vec<(String, Vec<String>)> = Vec::new();
    for case in cases {
        let value = spelled(property, &case["value"]);
        let word = format!("`{}`", case["of"].as_str().unwrap_or_default());
        match told.iter_mut().find(|(known, _)| *known == value) {
            Some((_, words)) => words.push(word),
            None => told.push((value, vec![word])),
        }
    }
    match told.as_slice() {
        [(value, _)] => value.clone(),
        _ => told.iter().map(|(value, words)| format!("{value} ({})", words.join(", "))).collect::<Vec<_>>().join(", "),
    }
}

/// A value as the reference page spells it: words as code, quantities and numbers plain.
fn spelled(property: &Value, value: &Value) -> String {
    if is_table(property) {
        return format!("`{}`", value.as_str().unwrap_or_default());
    }
    let is_word = match form(property) {
        Form::Choice(_) | Form::Text => true,
        _ => quantity::words_of(property).iter().any(|word| value == word),
    };
    let shown = shown(property, value);
    // As declared, unless another unit makes it shorter.
    let shown = value.as_str().filter(|text| text.len() <= shown.len()).map_or(shown.clone(), str::to_owned);
    if is_word { format!("`{shown}`") } else { shown }
}

/// What the vocabulary declares about a key.
pub(super) struct Declaration {
    /// Its names in profiles, without indices of lists. A key of a table with several kinds has two names: one with the
    /// kind in force after the table's name, and one without.
    pub(super) names: [String; 2],
    /// Its schema.
    pub(super) schema: &'static Value,
}

impl Declaration {
    /// The meaning of a missing value and its source, if the key declares them.
    pub(super) fn absence(&self) -> Option<(&'static str, &'static str)> {
        let default = &self.schema[DEFAULT_KEY];
        Some((default["told"].as_str()?, default["source"].as_str()?))
    }
}

/// The key at `path` of `values`, in tables of the kinds that are in force.
///
/// # Panics
/// If the vocabulary has no such key.
pub(super) fn declaration(values: &Value, layer: &Layer, path: &[String]) -> Declaration {
    let (mut name, mut of_kind) = (Vec::new(), Vec::new());
    let mut schema = root();
    let mut at = Some(values);
    for step in path {
        if schema["type"] == "array" {
            schema = &schema["items"];
            at = at.and_then(|list| list.get(step.parse::<usize>().ok()?));
            continue;
        }
        let (kind, table) = kind_in_force(schema, at, layer, &name);
        schema = &table["properties"][step];
        assert!(schema.is_object(), "{path:?} is no key of the vocabulary");
        of_kind.extend(kind.filter(|_| schema.get("const").is_none()));
        at = at.and_then(|table| table.get(step));
        name.push(step.as_str());
        of_kind.push(step);
    }
    Declaration { names: [of_kind.join("."), name.join(".")], schema }
}

/// The kind of a table and its schema: the given kind, else that of the profile, else the default. A table of one kind is
/// its own schema.
fn kind_in_force(
    schema: &'static Value,
    given: Option<&Value>,
    layer: &Layer,
    name: &[&str],
) -> (Option<&'static str>, &'static Value) {
    let [first, ..] = kinds(schema) else { return (None, schema) };
    let (tag, _) = tag(first).expect("kinds of a table have a tag");
    let default = || layer.value(&[format!("{}.{tag}", name.join("."))]).map(|(kind, _)| kind);
    let kind = given.and_then(|table| table.get(tag).cloned()).or_else(default);
    let kind = kind.unwrap_or_else(|| schema[DEFAULT_KEY]["value"].clone());
    let found = kinds(schema).iter().find(|table| table["properties"][tag]["const"] == kind);
    let table = found.unwrap_or_else(|| panic!("{name:?} has no kind {kind} and no default"));
    (table["properties"][tag]["const"].as_str(), table)
}

fn kinds(schema: &Value) -> &[Value] {
    schema["oneOf"].as_array().map_or(&[], Vec::as_slice)
}

/// The schemas of the keys that a profile calls `name`.
#[cfg(test)]
pub(super) fn named(name: &str) -> Vec<&'static Value> {
    let mut found = vec![root()];
    for step in name.split('.') {
        let mut next = Vec::new();
        for schema in found {
            let schema = if schema["type"] == "array" { &schema["items"] } else { schema };
            let kinds = schema["oneOf"].as_array().map_or(core::slice::from_ref(schema), Vec::as_slice);
            for kind in kinds {
                if super::forms::properties(kind).any(|(_, property)| property["const"] == step) {
                    next.push(kind);
                }
                if super::forms::properties(kind).any(|(key, _)| key == step) {
                    next.push(&kind["properties"][step]);
                }
            }
        }
        found = next;
    }
    found
}

/// Cleans the schema: optional keys may be missing but are never `null`, keys with a default are not required, no table
/// accepts unknown keys, and limits of elements move to the elements.
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
        // Of the numbers in a list, or in a list of lists.
        let lists = &mut table["items"];
        let numbers = if lists["items"].is_object() { &mut lists["items"] } else { lists };
        for (key, value) in limits {
            numbers[key] = value;
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
    if table.contains_key("properties") {
        table.insert("additionalProperties".into(), false.into());
    }
    let properties = table.get("properties").cloned().unwrap_or_default();
    if let Some(Value::Array(mut required)) = table.remove("required") {
        required.retain(|key| key.as_str().is_some_and(|key| is_required(&properties[key])));
        if !required.is_empty() {
            table.insert("required".into(), required.into());
        }
    }
}

/// Whether a key that is no `Option` is required: it has no default, and is not a table without required keys.
fn is_required(property: &Value) -> bool {
    let is_optional_table = property["type"] == "object" && property.get("required").is_none();
    property.get(DEFAULT_KEY).is_none() && !is_optional_table
}
