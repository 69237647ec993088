//! The forms of values in the vocabulary, as its JSON Schema declares them, and how each is shown and spelled.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::quantity::{self, Dimension, Rate, Stepped, Steps, Time};

/// The form of value that a schema accepts.
pub(super) enum Form<'a> {
    Quantity(Dimension),
    /// A quantity, or a range of two quantities.
    Range(Dimension),
    /// One of some words.
    Choice(Vec<&'a str>),
    /// Tables that the value of one key distinguishes.
    Tagged(&'a str, &'a [Value]),
    Table,
    List,
    WholeNumber,
    Number,
    /// A number or a quantity, or a list of `[time, value]`.
    Steps(Option<Dimension>),
    Text,
    /// `true` or `false`.
    Flag,
    /// A table with any keys.
    Free,
}

/// Key in the JSON Schema of a table that a number may replace: the key of the table that it stands for.
pub(super) const SHORT_KEY: &str = "x-short";

/// The form of value that `schema` accepts.
pub(super) fn form(schema: &Value) -> Form<'_> {
    let dimension = schema[quantity::DIMENSION_KEY].as_str().and_then(quantity::dimension_of);
    if schema.get(quantity::STEPS_KEY).is_some() {
        return Form::Steps(dimension);
    }
    if let Some(dimension) = dimension {
        let is_range = schema.get(quantity::RANGE_KEY).is_some();
        return if is_range { Form::Range(dimension) } else { Form::Quantity(dimension) };
    }
    if let Some(variants) = schema["oneOf"].as_array() {
        if let Some(words) = variants.iter().map(|v| v["const"].as_str()).collect() {
            return Form::Choice(words);
        }
        let (tag, _) = tag(&variants[0]).expect("alternatives of a schema are words or tables with a tag");
        return Form::Tagged(tag, variants);
    }
    if schema.get("x-free").is_some() {
        return Form::Free;
    }
    if schema.get(SHORT_KEY).is_some() {
        return Form::Table;
    }
    if schema["type"].is_array() && schema.get(quantity::WORDS_KEY).is_some() {
        return Form::WholeNumber;
    }
    match schema["type"].as_str() {
        Some("number") => Form::Number,
        Some("boolean") => Form::Flag,
        Some("object") => Form::Table,
        Some("array") => Form::List,
        Some("integer") => Form::WholeNumber,
        Some("string") => Form::Text,
        other => unreachable!("schema with type {other:?}: no type of the vocabulary has one"),
    }
}

/// The key that distinguishes a kind of table from the others, and its word.
pub(super) fn tag(kind: &Value) -> Option<(&str, &str)> {
    properties(kind).find_map(|(key, property)| Some((key.as_str(), property["const"].as_str()?)))
}

/// The keys of a table with their schemas.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// Whether `schema` describes a table, of one kind or several.
pub(super) fn is_table(schema: &Value) -> bool {
    schema["type"] == "object"
        || schema.get(SHORT_KEY).is_some()
        || schema["oneOf"].as_array().is_some_and(|v| v.iter().all(|v| v["type"] == "object"))
}

/// A value that fits `schema`, for people: sizes in bytes, other quantities in the unit with the shortest text.
pub(super) fn shown(schema: &Value, value: &Value) -> String {
    let quantity = |dimension: Dimension, value: &Value| match kept(dimension, value) {
        Some(bytes) if dimension == Dimension::Size => format!("{bytes} B"),
        Some(number) => dimension.display(number),
        None => plain(value),
    };
    match form(schema) {
        Form::Quantity(dimension) => quantity(dimension, value),
        Form::Range(dimension) => match ends(dimension, value) {
            Some([least, most]) => format!("{} to {}", quantity(dimension, least), quantity(dimension, most)),
            None => quantity(dimension, one_end(value)),
        },
        Form::Number => value.as_f64().unwrap_or_default().to_string(),
        Form::Steps(dimension) => steps(dimension, value).0,
        _ => plain(value),
    }
}

/// A value that fits `schema`, in a spelling that does not depend on how the user wrote it: quantities in the unit in
/// which hopcast keeps them.
pub(super) fn canonical(schema: &Value, value: &Value) -> Value {
    let quantity = |dimension: Dimension, value: &Value| match kept(dimension, value) {
        // Adding zero turns -0 into 0.
        Some(number) => format!("{} {}", number + 0.0, dimension.units()[0].symbol).into(),
        None => value.clone(),
    };
    match (form(schema), value) {
        (Form::Quantity(dimension), _) => quantity(dimension, value),
        (Form::Range(dimension), _) => match ends(dimension, value) {
            Some(ends) => ends.map(|end| quantity(dimension, end)).to_vec().into(),
            None => quantity(dimension, one_end(value)),
        },
        (Form::Number, _) => value.as_f64().unwrap_or_default().into(),
        (Form::Steps(dimension), _) => steps(dimension, value).1,
        (Form::Table, Value::Object(table)) => canonical_table(schema, table),
        (Form::Tagged(tag, kinds), Value::Object(table)) => {
            let kind = kinds.iter().find(|kind| table.get(tag) == Some(&kind["properties"][tag]["const"]));
            canonical_table(kind.expect("a table that fits is of a kind"), table)
        }
        (Form::List, Value::Array(items)) => items.iter().map(|item| canonical(&schema["items"], item)).collect(),
        _ => value.clone(),
    }
}

fn canonical_table(schema: &Value, table: &Map<String, Value>) -> Value {
    let keys = table.iter().map(|(key, value)| match schema["properties"].get(key) {
        Some(property) if property.get("const").is_none() => (key.clone(), canonical(property, value)),
        _ => (key.clone(), value.clone()),
    });
    keys.collect::<Map<_, _>>().into()
}

/// The number of a quantity in the unit in which hopcast keeps it; `None` for a word.
fn kept(dimension: Dimension, value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| dimension.from_bare(number)),
        Value::String(text) => dimension.parse(text).ok(),
        _ => None,
    }
}

/// The two ends of a range, if they differ.
fn ends(dimension: Dimension, value: &Value) -> Option<[&Value; 2]> {
    let [least, most] = value.as_array()?.as_slice() else { return None };
    (kept(dimension, least) != kept(dimension, most)).then_some([least, most])
}

/// The value of a range whose ends are equal.
fn one_end(value: &Value) -> &Value {
    value.get(0).unwrap_or(value)
}

/// Steps as text for people, and in their canonical spelling.
fn steps(dimension: Option<Dimension>, value: &Value) -> (String, Value) {
    fn of<T: Stepped>(value: &Value) -> (String, Value) {
        let steps = Steps::<T>::deserialize(value).expect("a value that fits stands alone, or in pairs with a time");
        (steps.to_string(), serde_json::to_value(&steps).expect("steps are numbers and texts"))
    }
    match dimension {
        None => of::<f64>(value),
        Some(Dimension::Rate) => of::<Rate>(value),
        Some(Dimension::Time) => of::<Time>(value),
        Some(other) => unreachable!("no key of the vocabulary has steps of {}", other.name()),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
