//! A scenario as a tree of plain values, with the origin of each value, before interpretation.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::error::ScenarioError;

/// A step of the path to a value: a key, or an index in a list.
pub(super) type Path = Vec<String>;

/// The tree, and the origin of its values.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// A table.
    pub(super) root: Value,
    file: String,
    origins: BTreeMap<Path, Origin>,
}

#[derive(Clone, Debug)]
struct Origin {
    line: Option<usize>,
    written: String,
    overridden: bool,
}

impl Tree {
    /// Reads TOML.
    ///
    /// # Errors
    /// The first place that is not TOML, or every number that is infinite, NaN or too large.
    pub(super) fn from_toml(text: &str, file: &str) -> Result<Self, Vec<ScenarioError>> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| Lines::of(text).at(span.start));
            vec![whole_file(file, line, format!("not TOML: {}", one_line(error.message())), None)]
        })?;
        let mut reader =
            TomlReader { text, lines: Lines::of(text), file, origins: BTreeMap::new(), errors: Vec::new() };
        let root = reader.table(table.get_ref(), &mut Path::new());
        if reader.errors.is_empty() {
            Ok(Self { root, file: file.into(), origins: reader.origins })
        } else {
            Err(reader.errors)
        }
    }

    /// Reads JSON; a `null` is the same as no key at all.
    ///
    /// # Errors
    /// The first place that is not JSON, or that the whole is not an object.
    pub(super) fn from_json(text: &str, file: &str) -> Result<Self, Vec<ScenarioError>> {
        let mut root: Value = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message);
            vec![whole_file(file, Some(error.line().max(1)), format!("not JSON: {message}"), None)]
        })?;
        if !root.is_object() {
            return Err(vec![whole_file(
                file,
                None,
                "not a table".into(),
                Some("an object with the keys of a scenario"),
            )]);
        }
        drop_nulls(&mut root);
        Ok(Self { root, file: file.into(), origins: BTreeMap::new() })
    }

    /// Applies one `KEY=VALUE`.
    ///
    /// # Errors
    /// No `=`, an empty key, a name or a place that is not there, or a key below something that is not a table.
    pub(super) fn set(&mut self, assignment: &str) -> Result<(), Box<ScenarioError>> {
        let wrong = |field: &str, problem: String, expected: Option<String>| {
            Box::new(ScenarioError {
                file: SET.into(),
                line: None,
                field: field.into(),
                value: None,
                problem,
                expected,
            })
        };
        let Some((key, written)) = assignment.split_once('=') else {
            return Err(wrong("", format!("{assignment:?} has no \"=\""), Some("KEY=VALUE, such as seed=2".into())));
        };
        let (key, written) = (key.trim(), written.trim());
        let mut path = Path::new();
        let mut at = &mut self.root;
        for step in key.split('.') {
            if step.is_empty() {
                return Err(wrong(
                    "",
                    format!("{assignment:?} has an empty key"),
                    Some("KEY=VALUE, such as seed=2".into()),
                ));
            }
            let place = match at {
                Value::Array(items) => {
                    let Some(place) = place_of(items, step) else {
                        let names: Vec<&str> = items.iter().filter_map(name_of).collect();
                        let what = path.join(".");
                        let hint = super::nearest::hint(step, &names);
                        return Err(wrong(
                            key,
                            format!("{what} has no entry {step:?}{hint}"),
                            Some(format!("one of {}, or a number below {}", names.join(", "), items.len())),
                        ));
                    };
                    place.to_string()
                }
                _ => step.to_owned(),
            };
            let parent = path.join(".");
            path.push(place);
            let last = path.last().expect("just pushed");
            at = match at {
                Value::Array(items) => &mut items[last.parse::<usize>().expect("a place in the list")],
                Value::Object(table) => table.entry(last.clone()).or_insert_with(|| {
                    // Whatever a new table is said to lack, it is for the override to give.
                    let origin = Origin { line: None, written: written.into(), overridden: true };
                    self.origins.insert(path.clone(), origin);
                    Value::Object(Map::new())
                }),
                _ => return Err(wrong(key, format!("{parent} is a single value and has no keys"), None)),
            };
        }
        *at = parse_value(written);
        // What stood below is gone, and so are the records of where it came from.
        self.origins.retain(|other, _| !other.starts_with(&path));
        self.origins.insert(path, Origin { line: None, written: written.into(), overridden: true });
        Ok(())
    }

    /// Whether [`Tree::set`] gave `path`, or a table that contains it.
    pub(super) fn overridden(&self, path: &[String]) -> bool {
        (1..=path.len()).any(|len| self.origins.get(&path[..len]).is_some_and(|origin| origin.overridden))
    }

    /// The text of the value that an override set at exactly `path`.
    pub(super) fn set_text(&self, path: &[String]) -> Option<&str> {
        self.origins.get(path).filter(|origin| origin.overridden).map(|origin| origin.written.as_str())
    }

    /// The value at `path`.
    pub(super) fn get(&self, path: &[String]) -> Option<&Value> {
        path.iter().try_fold(&self.root, |value, step| match value {
            Value::Object(table) => table.get(step),
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// An error about the value at `path`.
    pub(super) fn error(&self, path: &[String], problem: impl Into<String>, expected: Option<String>) -> ScenarioError {
        let value = match self.get(path) {
            None | Some(Value::Object(_)) => None,
            Some(Value::Array(items)) if items.iter().any(Value::is_object) => None,
            Some(value) => Some(match self.origins.get(path) {
                // A list over several lines would not stay one line.
                Some(origin) if !origin.overridden && !origin.written.contains('\n') => shorten(&origin.written),
                _ => shorten(&written(value)),
            }),
        };
        // A missing key is best looked for where its table begins.
        let line = (0..=path.len()).rev().find_map(|len| self.origins.get(&path[..len])).and_then(|origin| origin.line);
        let file = if self.overridden(path) { SET.into() } else { self.file.clone() };
        ScenarioError { file, line, field: self.field(path), value, problem: problem.into(), expected }
    }

    /// `path` as the user would write it, with the names of list elements.
    pub(super) fn field(&self, path: &[String]) -> String {
        let mut steps = Vec::new();
        let mut at = Some(&self.root);
        for step in path {
            let (next, text) = match at {
                Some(Value::Array(items)) => {
                    let item = step.parse::<usize>().ok().and_then(|place| items.get(place));
                    let unique = |name: &&str| items.iter().filter(|other| name_of(other) == Some(name)).count() == 1;
                    (item, item.and_then(name_of).filter(unique).unwrap_or(step))
                }
                Some(Value::Object(table)) => (table.get(step), step.as_str()),
                _ => (None, step.as_str()),
            };
            steps.push(shorten(text));
            at = next;
        }
        steps.join(".")
    }
}

/// Name of command-line overrides in messages.
pub(super) const SET: &str = "--set";

fn whole_file(file: &str, line: Option<usize>, problem: String, expected: Option<&str>) -> ScenarioError {
    ScenarioError {
        file: file.into(),
        line,
        field: String::new(),
        value: None,
        problem,
        expected: expected.map(str::to_owned),
    }
}

/// The `name` of an element of a list of tables.
fn name_of(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// An element of a list by its name, or else by its number.
fn place_of(items: &[Value], step: &str) -> Option<usize> {
    items
        .iter()
        .position(|item| name_of(item) == Some(step))
        .or_else(|| step.parse().ok().filter(|place| *place < items.len()))
}

/// The value of an override: TOML, or else a text.
pub(super) fn parse_value(written: &str) -> Value {
    parse_toml_value(written).unwrap_or_else(|| Value::String(written.into()))
}

fn parse_toml_value(text: &str) -> Option<Value> {
    // Seeds go beyond the integers of TOML.
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    let line = format!("v = {text}");
    let tree = Tree::from_toml(&line, SET).ok()?;
    let mut table = tree.root;
    // More than one key means that the text was not a value alone.
    let table = table.as_object_mut().filter(|table| table.len() == 1)?;
    table.remove("v")
}

/// A value as TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(table) => {
            let pairs = table.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Shortens a value, so that messages stay short.
fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String = text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(", ")
}

/// The ends of the lines of a text.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(offset, _)| offset).collect())
    }

    /// The line, counted from 1, that holds byte `offset`.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}

pub(super) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(table) => {
            table.retain(|_, value| !value.is_null());
            table.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

struct TomlReader<'a> {
    text: &'a str,
    lines: Lines,
    file: &'a str,
    origins: BTreeMap<Path, Origin>,
    errors: Vec<ScenarioError>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &mut Path) -> Value {
        let mut object = Map::new();
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            let line = self.lines.at(key.span().start);
            let read = self.value(value, line, path);
            path.pop();
            object.insert(key.get_ref().to_string(), read);
        }
        Value::Object(object)
    }

    fn value(&mut self, value: &toml::Spanned<DeValue<'_>>, line: usize, path: &mut Path) -> Value {
        let written = self.text.get(value.span()).unwrap_or_default().to_owned();
        let origin = Origin { line: Some(line), written: written.clone(), overridden: false };
        self.origins.insert(path.clone(), origin);
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
            DeValue::Datetime(date) => Value::String(date.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => number.into(),
                Err(_) => self.refuse(line, path, &written, "is too large for an integer of TOML"),
            },
            DeValue::Float(number) => {
                let number = number.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                match number {
                    Some(number) => Value::Number(number),
                    None => self.refuse(line, path, &written, "is not a finite number"),
                }
            }
            DeValue::Table(table) => self.table(table, path),
            DeValue::Array(items) => {
                let items = items.iter().enumerate().map(|(place, item)| {
                    path.push(place.to_string());
                    let line = self.lines.at(item.span().start);
                    let read = self.value(item, line, path);
                    path.pop();
                    read
                });
                Value::Array(items.collect())
            }
        }
    }

    fn refuse(&mut self, line: usize, path: &Path, written: &str, problem: &str) -> Value {
        self.errors.push(ScenarioError {
            file: self.file.into(),
            line: Some(line),
            field: path.join("."),
            value: Some(shorten(written)),
            problem: problem.into(),
            expected: None,
        });
        Value::Null
    }
}
