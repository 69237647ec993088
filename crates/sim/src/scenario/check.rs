//! Checks a scenario's tree against the JSON Schema of [`super::tables`], and reports everything that does not fit.
//!
//! The checker handles only the few forms of schema that those types produce. So its messages can name keys, units and
//! choices instead of schemas.

use serde_json::{Map, Value};

use super::document::{Path, Tree};
use super::error::ScenarioError;
use super::forms::{Form, SHORT_KEY, form};
use super::nearest;
use super::quantity::{self, Dimension};

/// The tree without values that overrides have made void, ready for [`super::tables::Document`].
///
/// # Errors
/// Everything that does not fit the schema.
pub(super) fn check(schema: &Value, tree: &Tree) -> Result<Value, Vec<ScenarioError>> {
    let mut checker = Checker { tree, errors: Vec::new() };
    let value = checker.value(schema, &tree.root, &mut Path::new());
    if checker.errors.is_empty() { Ok(value) } else { Err(checker.errors) }
}

/// Whether a key with this schema accepts `value`.
#[cfg(test)]
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let tree = Tree::from_json("{}", "").expect("a table");
    Checker { tree: &tree, errors: Vec::new() }.fits(schema, value, &mut Path::new())
}

struct Checker<'a> {
    tree: &'a Tree,
    errors: Vec<ScenarioError>,
}

impl Checker<'_> {
    fn value(&mut self, schema: &Value, value: &Value, path: &mut Path) -> Value {
        match form(schema) {
            Form::Quantity(dimension) => self.quantity(schema, dimension, value, path),
            Form::Range(dimension) => self.range(schema, dimension, value, path),
            Form::Choice(words) => self.choice(schema, &words, value, path),
            Form::Tagged(tag, variants) => return self.tagged(schema, tag, variants, value, path),
            Form::Table => match (value, schema[SHORT_KEY].as_str()) {
                (Value::Object(table), _) => return self.table(schema, table, path),
                (Value::Number(_), Some(key)) => {
                    let errors = self.errors.len();
                    self.value(&schema["properties"][key], value, path);
                    if self.errors.len() == errors {
                        return Value::Object([(key.to_owned(), value.clone())].into_iter().collect());
                    }
                }
                _ => self.wrong_kind(schema, path),
            },
            Form::Flag => match value {
                Value::Bool(_) => {}
                _ => self.wrong_kind(schema, path),
            },
            Form::Free => match value {
                Value::Object(_) => {}
                _ => self.wrong_kind(schema, path),
            },
            Form::List => match value {
                Value::Array(items) => return self.list(schema, items, path),
                _ => self.wrong_kind(schema, path),
            },
            Form::WholeNumber => self.whole_number(schema, value, path),
            Form::Number => self.number(schema, value, path),
            Form::Steps(dimension) => self.steps(schema, dimension, value, path),
            Form::Text => self.text(schema, value, path),
        }
        self.as_text(schema, value, path)
    }

    /// The text of an override where a word is expected: `radio.standard=802.11` would read as a number.
    fn as_text(&self, schema: &Value, value: &Value, path: &Path) -> Value {
        let wants_text = matches!(form(schema), Form::Choice(_) | Form::Text);
        match self.tree.set_text(path) {
            Some(text) if wants_text && (value.is_number() || value.is_boolean()) => text.into(),
            _ => value.clone(),
        }
    }

    fn report(&mut self, path: &Path, problem: impl Into<String>, expected: Option<String>) {
        self.errors.push(self.tree.error(path, problem, expected));
    }

    fn wrong_kind(&mut self, schema: &Value, path: &Path) {
        let wanted = wanted(schema);
        let problem = match form(schema) {
            Form::Choice(_) | Form::Text => "is not a string",
            Form::List => "is not a list",
            Form::Quantity(_) => "is neither a string nor a number",
            Form::Range(_) | Form::Steps(Some(_)) => "is neither a string, a number nor a list",
            Form::Table | Form::Tagged(..) | Form::Free => "is not a table",
            Form::WholeNumber => "is not a whole number",
            Form::Number => "is not a number",
            Form::Flag => "is neither true nor false",
            Form::Steps(None) => "is neither a number nor a list",
        };
        self.report(path, problem, Some(wanted));
    }

    fn quantity(&mut self, schema: &Value, dimension: Dimension, value: &Value, path: &Path) {
        let value = match value {
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                if dimension == Dimension::Power && number <= 0.0 {
                    let expected = format!("a power in watts, or \"{number} dBm\" with its unit");
                    return self.report(path, "must be above 0 W", Some(expected));
                }
                dimension.from_bare(number)
            }
            Value::String(text) => {
                let has_schemes = schema.get(quantity::SCHEMES_KEY).is_some();
                if quantity::words_of(schema).contains(&text.as_str()) || has_schemes && quantity::is_scheme(text) {
                    return;
                }
                if has_schemes && text.starts_with("mcs") {
                    return self.report(path, "is not a scheme", Some("\"mcs N\" with N from 0 to 31".into()));
                }
                match dimension.parse(text) {
                    Ok(value) => value,
                    Err(_)
                        if other_dimension(schema).is_some_and(|other| other.parse(text).is_ok_and(|v| v >= 0.0)) =>
                    {
                        return;
                    }
                    Err(problem) => return self.report(path, problem, Some(wanted(schema))),
                }
            }
            _ => return self.wrong_kind(schema, path),
        };
        let within = self.limits(schema, value, &|limit| dimension.from_bare(limit), &|v| dimension.display(v), path);
        if within && dimension == Dimension::Size && libm::trunc(value) != value {
            self.report(path, "is not a whole number of bytes", None);
        }
    }

    fn range(&mut self, schema: &Value, dimension: Dimension, value: &Value, path: &mut Path) {
        let Value::Array(ends) = value else {
            return match value.is_object() || value.is_boolean() {
                true => self.wrong_kind(schema, path),
                false => self.quantity(schema, dimension, value, path),
            };
        };
        if ends.len() != 2 {
            let plural = if ends.len() == 1 { "" } else { "s" };
            return self.report(path, format!("has {} value{plural}", ends.len()), Some(wanted(schema)));
        }
        for (place, end) in ends.iter().enumerate() {
            path.push(place.to_string());
            self.quantity(&schema["items"], dimension, end, path);
            path.pop();
        }
    }

    fn whole_number(&mut self, schema: &Value, value: &Value, path: &Path) {
        if value.as_str().is_some_and(|text| quantity::words_of(schema).contains(&text)) {
            return;
        }
        if !value.is_i64() && !value.is_u64() {
            return self.wrong_kind(schema, path);
        }
        let number = value.as_f64().unwrap_or(f64::NAN);
        let _ = self.limits(schema, number, &|limit| limit, &|v| v.to_string(), path);
    }

    fn number(&mut self, schema: &Value, value: &Value, path: &Path) {
        let Some(number) = value.as_f64() else { return self.wrong_kind(schema, path) };
        let _ = self.limits(schema, number, &|limit| limit, &|v| v.to_string(), path);
    }

    fn steps(&mut self, schema: &Value, dimension: Option<Dimension>, value: &Value, path: &mut Path) {
        let Value::Array(steps) = value else { return self.step(schema, dimension, value, path) };
        if steps.is_empty() {
            return self.report(path, "has no steps", Some(wanted(schema)));
        }
        let [time, one] = [0, 1].map(|place| &schema["items"]["prefixItems"][place]);
        for (place, step) in steps.iter().enumerate() {
            path.push(place.to_string());
            match step.as_array().map(Vec::as_slice) {
                Some([at, value]) => {
                    path.push("0".into());
                    self.quantity(time, Dimension::Time, at, path);
                    path.pop();
                    path.push("1".into());
                    self.step(one, dimension, value, path);
                    path.pop();
                }
                _ => self.report(path, "is not a pair", Some(pair(dimension))),
            }
            path.pop();
        }
    }

    fn step(&mut self, schema: &Value, dimension: Option<Dimension>, value: &Value, path: &Path) {
        match dimension {
            None => self.number(schema, value, path),
            Some(dimension) => self.quantity(schema, dimension, value, path),
        }
    }

    /// Whether `value` is within the limits of `schema`; reports a value outside. `kept` converts a limit of the schema
    /// to the unit of `value`, and `show` prints it.
    fn limits(
        &mut self,
        schema: &Value,
        value: f64,
        kept: &dyn Fn(f64) -> f64,
        show: &dyn Fn(f64) -> String,
        path: &Path,
    ) -> bool {
        let limit = |key: &str| schema[key].as_f64();
        let (above, least, most) = (limit("exclusiveMinimum"), limit("minimum"), limit("maximum"));
        let too_small = above.is_some_and(|l| value <= kept(l)) || least.is_some_and(|l| value < kept(l));
        let too_large = most.is_some_and(|l| value > kept(l));
        if !too_small && !too_large {
            return true;
        }
        // Powers are kept in dBm, where neither zero nor a sign means anything.
        let linear = kept(1.0) == 1.0;
        let problem = match value {
            _ if too_large => "is too large",
            0.0 if linear => "is zero",
            v if linear && v < 0.0 => "is negative",
            _ => "is too small",
        };
        let low =
            above.map(|l| format!("above {}", show(kept(l)))).or(least.map(|l| format!("at least {}", show(kept(l)))));
        let high = most.map(|l| format!("at most {}", show(kept(l))));
        let expected: Vec<String> = [low, high].into_iter().flatten().collect();
        self.report(path, problem, Some(expected.join(" and ")));
        false
    }

    fn choice(&mut self, schema: &Value, words: &[&str], value: &Value, path: &Path) {
        let value = self.as_text(schema, value, path);
        let Some(word) = value.as_str() else { return self.wrong_kind(schema, path) };
        self.word(words, word, path);
    }

    /// Whether `word` is one of `words`; reports another.
    fn word(&mut self, words: &[&str], word: &str, path: &Path) -> bool {
        let known = words.contains(&word);
        if !known {
            self.report(path, format!("unknown value{}", nearest::hint(word, words)), Some(one_of(words)));
        }
        known
    }

    fn text(&mut self, schema: &Value, value: &Value, path: &Path) {
        let value = self.as_text(schema, value, path);
        let Some(text) = value.as_str() else { return self.wrong_kind(schema, path) };
        if let Some(most) = schema["maxLength"].as_u64()
            && text.chars().count() as u64 > most
        {
            self.report(path, "is too long", Some(format!("at most {most} characters")));
        }
        if schema.get("x-name").is_some() && !is_name(text) {
            let expected =
                format!("1 to {MAX_NAME} characters, without control characters, quotes and any of . / \\ =");
            self.report(path, "is not a valid name", Some(expected));
        }
    }

    fn list(&mut self, schema: &Value, items: &[Value], path: &mut Path) -> Value {
        let length = items.len() as u64;
        let (least, most) = (schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64().unwrap_or(u64::MAX));
        if length < least || length > most {
            let expected = match least == most {
                true => format!("{least} values"),
                false => format!("{least} or more"),
            };
            self.report(path, format!("has {length} value{}", if length == 1 { "" } else { "s" }), Some(expected));
        }
        let mut checked = Vec::new();
        for (place, item) in items.iter().enumerate() {
            path.push(place.to_string());
            checked.push(self.value(&schema["items"], item, path));
            path.pop();
        }
        Value::Array(checked)
    }

    fn tagged(&mut self, schema: &Value, tag: &str, variants: &[Value], value: &Value, path: &mut Path) -> Value {
        let Value::Object(table) = value else {
            self.wrong_kind(schema, path);
            return Value::Null;
        };
        let words: Vec<&str> = variants.iter().filter_map(|v| v["properties"][tag]["const"].as_str()).collect();
        path.push(tag.into());
        let word = table.get(tag).map(|word| self.as_text(&variants[0]["properties"][tag], word, path));
        let set = self.tree.set_text(path).is_some();
        let variant = match &word {
            None => {
                self.report(path, "is missing", Some(one_of(&words)));
                None
            }
            Some(Value::String(word)) if self.word(&words, word, path) => {
                variants.iter().find(|v| v["properties"][tag]["const"] == word.as_str())
            }
            Some(Value::String(_)) => None,
            Some(_) => {
                self.report(path, "is not a string", Some(one_of(&words)));
                None
            }
        };
        path.pop();
        // Of a table whose kind is unknown nothing more can be said.
        let Some(variant) = variant else { return Value::Null };
        if !set {
            return self.table(variant, table, path);
        }
        // `--set radio.propagation.model=free-space` leaves the file's keys of the former model behind.
        let mut left = table.clone();
        left.retain(|key, value| {
            path.push(key.clone());
            let is_left_behind = key != tag && self.is_left_behind(variant, variants, key, value, path);
            path.pop();
            !is_left_behind
        });
        self.table(variant, &left, path)
    }

    /// Whether only other `variants` know the key, or accept its value where `variant` does not require it. Keys that the
    /// user set belong to `variant`.
    fn is_left_behind(&self, variant: &Value, variants: &[Value], key: &str, value: &Value, path: &mut Path) -> bool {
        if self.tree.set_text(path).is_some() {
            return false;
        }
        let mut others = variants.iter().filter_map(|other| other["properties"].get(key));
        match variant["properties"].get(key) {
            None => others.next().is_some(),
            Some(_) if variant["required"].as_array().is_some_and(|keys| keys.iter().any(|k| k == key)) => false,
            Some(property) => !self.fits(property, value, path) && others.any(|other| self.fits(other, value, path)),
        }
    }

    fn fits(&self, schema: &Value, value: &Value, path: &mut Path) -> bool {
        let mut checker = Checker { tree: self.tree, errors: Vec::new() };
        checker.value(schema, value, path);
        checker.errors.is_empty()
    }

    fn table(&mut self, schema: &Value, table: &Map<String, Value>, path: &mut Path) -> Value {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        let keys: Vec<&str> = properties.keys().map(String::as_str).collect();
        let mut checked = Map::new();
        for (key, value) in table {
            path.push(key.clone());
            match properties.get(key) {
                Some(property) if property.get("const").is_some() => {
                    checked.insert(key.clone(), property["const"].clone());
                }
                Some(property) => {
                    let value = self.value(property, value, path);
                    checked.insert(key.clone(), value);
                }
                None => match nearest::hint(key, &keys) {
                    hint if hint.is_empty() => self.report(path, "unknown key", Some(one_of_keys(&keys))),
                    hint => self.report(path, format!("unknown key{hint}"), None),
                },
            }
            path.pop();
        }
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !table.contains_key(key) {
                path.push(key.into());
                self.report(path, "is missing", Some(wanted(&properties[key])));
                path.pop();
            }
        }
        Value::Object(checked)
    }
}

const MAX_NAME: usize = 64;

/// Whether `text` can be a name. Names are parts of dotted keys and of file names.
fn is_name(text: &str) -> bool {
    let fits = |c: char| !c.is_control() && !matches!(c, '.' | '/' | '\\' | '"' | '\'' | '=');
    (1..=MAX_NAME).contains(&text.chars().count()) && text.chars().all(fits) && text.trim() == text
}

/// The dimension of what may replace a quantity.
fn other_dimension(schema: &Value) -> Option<Dimension> {
    schema[quantity::OTHER_KEY].as_str().and_then(quantity::dimension_of)
}

/// What a schema accepts, for messages.
fn wanted(schema: &Value) -> String {
    match form(schema) {
        Form::Quantity(dimension) => {
            let mut example = format!("{} such as \"{}\"", dimension.name(), dimension.example());
            if let Some(other) = other_dimension(schema) {
                example += &format!(", {} such as \"{}\"", other.name(), other.example());
            }
            match quantity::words_of(schema).as_slice() {
                [] if schema.get(quantity::SCHEMES_KEY).is_some() => {
                    format!("{example}, or a scheme such as \"mcs 7\"")
                }
                [] => example,
                words if schema.get(quantity::SCHEMES_KEY).is_some() => {
                    format!("{example}, a scheme such as \"mcs 7\", or {}", one_of(words))
                }
                words => format!("{example}, or {}", one_of(words)),
            }
        }
        Form::Range(dimension) => {
            format!("{} such as \"{}\", or a list [least, largest]", dimension.name(), dimension.example())
        }
        Form::Choice(words) => one_of(&words),
        Form::Tagged(tag, variants) => {
            let words: Vec<&str> = variants.iter().filter_map(|v| v["properties"][tag]["const"].as_str()).collect();
            format!("a table with {tag} = {}", one_of(&words))
        }
        Form::Table => {
            let keys = schema["properties"].as_object().map(|p| p.keys().map(String::as_str).collect::<Vec<_>>());
            let keys = keys.unwrap_or_default().join(", ");
            match schema[SHORT_KEY].as_str() {
                Some(key) => format!("{}, or a table with {keys}", wanted(&schema["properties"][key])),
                None => format!("a table with {keys}"),
            }
        }
        Form::List => "a list".into(),
        Form::WholeNumber => {
            let limit = |key: &str| schema[key].as_u64();
            let (least, most) = (limit("minimum").unwrap_or(0), limit("maximum").unwrap_or(u64::MAX));
            match quantity::words_of(schema).as_slice() {
                [] => format!("a whole number from {least} to {most}"),
                words => format!("a whole number from {least} to {most}, or {}", one_of(words)),
            }
        }
        Form::Number => "a number".into(),
        Form::Flag => "true or false".into(),
        Form::Free => "a table".into(),
        Form::Steps(None) => format!("a number, or a list of {}", pair(None)),
        Form::Steps(Some(dimension)) => {
            let example = format!("{} such as \"{}\"", dimension.name(), dimension.example());
            format!("{example}, or a list of {}", pair(Some(dimension)))
        }
        Form::Text => "a string".into(),
    }
}

/// What a step is, for messages.
fn pair(dimension: Option<Dimension>) -> String {
    format!("[time, {}]", dimension.map_or("number", |dimension| &dimension.name()[2..]))
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

fn one_of_keys(keys: &[&str]) -> String {
    match keys {
        [] => "no further key".into(),
        [key] => format!("no key but {key}"),
        _ => format!("one of {}", keys.join(", ")),
    }
}
