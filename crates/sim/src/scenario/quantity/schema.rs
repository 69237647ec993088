//! Quantities in the JSON Schema of scenario files.

use super::dimension::{Dimension, MICRO};

/// Inlines the schema of a type where the type is used.
macro_rules! inline_schema {
    ($name:ident, $schema:expr) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}
pub(super) use inline_schema;

/// Key in the JSON Schema that holds the dimension of a quantity.
pub(in crate::scenario) const DIMENSION_KEY: &str = "x-quantity";

/// The schema of a quantity.
pub(super) fn schema_of(dimension: Dimension) -> schemars::Schema {
    let either = format!("[{}]", MICRO.concat());
    let symbols: Vec<String> = dimension.units().iter().map(|u| u.symbol.replace(MICRO[0], &either)).collect();
    schemars::json_schema!({
        "type": ["string", "number"],
        "pattern": format!(r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*({})\s*$", symbols.join("|")),
        DIMENSION_KEY: &dimension.name()[2..],
    })
}

/// The dimension named in a schema.
pub(in crate::scenario) fn dimension_of(name: &str) -> Option<Dimension> {
    Dimension::ALL.into_iter().find(|d| &d.name()[2..] == name)
}

/// Key in the JSON Schema that holds the words that may replace a quantity.
pub(in crate::scenario) const WORDS_KEY: &str = "x-or";

/// Key in the JSON Schema of a quantity that one of another dimension may replace, which it names. Limits are those of the first.
pub(in crate::scenario) const OTHER_KEY: &str = "x-or-quantity";

/// The words that may replace the quantity of a schema.
pub(in crate::scenario) fn words_of(schema: &serde_json::Value) -> Vec<&str> {
    schema[WORDS_KEY].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
}

/// The schema of a quantity that words may replace.
pub(super) fn schema_with_words(dimension: Dimension, words: &[&str]) -> schemars::Schema {
    let mut schema = schema_of(dimension);
    let pattern = schema.get("pattern").and_then(|p| p.as_str()).unwrap_or_default();
    let pattern = format!("{pattern}|^({})$", words.join("|"));
    schema.insert("pattern".into(), pattern.into());
    schema.insert(WORDS_KEY.into(), words.into());
    schema
}

/// Key in the JSON Schema of a quantity that a range may replace.
pub(in crate::scenario) const RANGE_KEY: &str = "x-range";

/// The schema of a quantity that a range may replace.
pub(super) fn schema_of_range(dimension: Dimension) -> schemars::Schema {
    let mut range = schema_of(dimension);
    range.insert("type".into(), vec!["string", "number", "array"].into());
    range.insert(RANGE_KEY.into(), true.into());
    range.insert("minItems".into(), 2.into());
    range.insert("maxItems".into(), 2.into());
    range.insert("items".into(), schema_of(dimension).into());
    range
}

/// Key in the JSON Schema of a number or a quantity that may change in steps.
pub(in crate::scenario) const STEPS_KEY: &str = "x-steps";
