//! The dictionary of results: meaning, unit, divisor and place of counting of each field and column.
//!
//! The documentation comment of a field is its meaning. Extensions of its JSON Schema say the rest: `x-unit`,
//! `x-divisor` (what the number is divided by) and `x-counted` (where it is counted). If the name of a field ends in
//! its unit, as in `delay_mean_s`, this end declares the unit. Numbers without a unit, such as ports, have the unit `none`.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::conversation::CourseRow;
use super::table::SeriesRow;
use super::{ConversationRecord, FlowRecord, NodeRecord, RadioRecord, RtpRecord, RunResult, StreamRecord};

/// Key in a JSON Schema with the names of a table's fields, in their order.
const ORDER_KEY: &str = "x-order";

/// Ends of names that are units, longest first, and their units.
const ENDINGS: [(&str, &str); 7] = [
    ("_packets", "packets"),
    ("_bytes", "B"),
    ("_ratio", "ratio"),
    ("_bps", "b/s"),
    ("_hz", "Hz"),
    ("_s2", "s²"),
    ("_s", "s"),
];

/// The JSON Schema of the results of a run: `run` is that of `run.json` and `hopcast run --json`; `flows`, `nodes`, `series`,
/// `conversations`, `rtp`, `conversation_series` and `streams` are those of a row of the table with this name.
pub fn schemas() -> Map<String, Value> {
    let mut run = described::<RunResult>();
    for name in ["flows", "nodes", "totals", "conversations"] {
        allow_means(&mut run["properties"][name]);
    }
    allow_means(&mut run["properties"]["cloud"]["properties"]["totals"]);
    let provenance = &mut run["properties"]["provenance"];
    let replications = "Number of replications; missing for a single one.";
    add(
        provenance,
        "replications",
        json!({ "description": replications, "type": "integer", "x-unit": "replications" }),
    );
    let seeds = "Seeds of the replications; missing for a single one.";
    let list = json!({ "description": seeds, "type": "array", "items": { "type": "integer" } });
    add(provenance, "seeds", list);
    let tables = tables().into_iter().map(|(name, columns)| {
        let (order, properties): (Vec<Value>, Map<String, Value>) =
            columns.into_iter().map(|(name, schema)| (Value::from(name.clone()), (name, schema))).unzip();
        (name.to_owned(), json!({ "type": "object", ORDER_KEY: order, "properties": properties }))
    });
    [("run".to_owned(), run)].into_iter().chain(tables).collect()
}

/// The JSON Schema of a type: everything inline, and a unit for every number whose field declares it or has it in its name.
pub fn described<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        // With it `required` has all keys that are always there, in the order of their declarations.
        .for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(table) = schema.as_object_mut() {
        table.remove("$schema");
        table.remove("title");
    }
    tidy(&mut schema);
    schema
}

/// Adds a field to a table.
fn add(table: &mut Value, name: &str, schema: Value) {
    table["properties"][name] = schema;
    table[ORDER_KEY].as_array_mut().expect("a table has an order").push(name.into());
}

/// Whether a schema is of something that needs a unit.
fn is_number(schema: &Value) -> bool {
    has_type(schema, &["integer", "number"])
}

/// Whether a schema allows values of one of these types.
fn has_type(schema: &Value, types: &[&str]) -> bool {
    let is_one = |name: &Value| name.as_str().is_some_and(|name| types.contains(&name));
    is_one(&schema["type"]) || schema["type"].as_array().is_some_and(|names| names.iter().any(is_one))
}

/// Names and schemas of the fields of a table, in their order.
fn fields_of(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let names = schema[ORDER_KEY].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name, &schema["properties"][name]))
}

/// Puts text on one line, adds units, and drops what only Rust's types say.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(table) => {
            table.remove("format");
            // A measurement leaves out what only a simulation has.
            let mut order = match table.remove("required") {
                Some(Value::Array(names)) => names,
                _ => Vec::new(),
            };
            for key in ["description", "x-divisor", "x-counted"] {
                if let Some(Value::String(text)) = table.get_mut(key) {
                    *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                }
            }
            let is_optional = table.contains_key("anyOf");
            if let Some(Value::Array(choices)) = table.get("anyOf") {
                // An optional table or list.
                let only = choices.iter().find(|choice| choice["type"] != "null").cloned();
                if let Some(Value::Object(only)) = only {
                    table.remove("anyOf");
                    only.into_iter().for_each(|(key, value)| {
                        table.entry(key).or_insert(value);
                    });
                }
            }
            if let Some(Value::Array(choices)) = table.remove("oneOf") {
                name_choices(table, &choices);
                if is_optional {
                    table.insert("type".into(), json!(["string", "null"]));
                }
            }
            for (name, property) in table.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                let unit = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, unit)| unit);
                if let Some(unit) = unit.filter(|_| is_number(property) && property.get("x-unit").is_none()) {
                    property["x-unit"] = unit.into();
                }
            }
            if let Some(properties) = table.get("properties").and_then(Value::as_object) {
                let others = properties.keys().filter(|name| !order.iter().any(|known| known == *name));
                order.extend(others.cloned().map(Value::from).collect::<Vec<_>>());
                table.insert(ORDER_KEY.into(), order.into());
            }
            table.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

/// Makes text of an enumeration, whose meaning is that of its values.
fn name_choices(table: &mut Map<String, Value>, choices: &[Value]) {
    let names: Vec<&Value> = choices.iter().map(|choice| &choice["const"]).collect();
    let texts = choices.iter().map(|choice| {
        let [name, meaning] = [&choice["const"], &choice["description"]].map(|text| text.as_str().unwrap_or_default());
        format!("`{name}`: {meaning}")
    });
    let all: Vec<String> =
        table.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().chain(texts).collect();
    table.insert("enum".into(), json!(names));
    table.insert("type".into(), "string".into());
    table.insert("description".into(), all.join(" ").into());
}

/// Of several replications a number is a mean, and has its interval next to it; it is null if none could measure it.
pub fn allow_means(schema: &mut Value) {
    if is_number(schema) {
        schema["type"] = json!(["number", "null"]);
        return;
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(allow_means);
        schema["patternProperties"] = json!({ "_ci95$": {
            "description": "Half the width of the 95 % confidence interval of the field without `_ci95` (Student's t); with \
                several replications only.",
            "type": ["number", "null"],
        }});
    }
    if let Some(items) = schema.get_mut("items") {
        allow_means(items);
    }
}

/// Names and schemas of the columns of a table, in their order.
type Columns = Vec<(String, Value)>;

/// The tables of a run: names and columns.
fn tables() -> [(&'static str, Columns); 7] {
    let seed = json!({ "description": "Seed of the run.", "type": "integer", "x-unit": "none" });
    let columns = |schema: &Value| -> Columns {
        // A cell holds neither a list nor a table.
        let cells = fields_of(schema).filter(|(_, schema)| !has_type(schema, &["array", "object"]));
        let cells = cells.map(|(name, schema)| (name.to_owned(), schema.clone()));
        [("seed".to_owned(), seed.clone())].into_iter().chain(cells).collect()
    };
    let drops = |schema: &Value| -> Columns {
        let causes = fields_of(&schema["properties"]["drops"]).map(|(cause, schema)| {
            let mut schema = schema.clone();
            schema["description"] =
                format!("Packets dropped: {}", schema["description"].as_str().unwrap_or_default()).into();
            (format!("drop_{cause}"), schema)
        });
        causes.collect()
    };
    let [node, conversation] = [described::<NodeRecord>(), described::<ConversationRecord>()];
    let mut nodes = columns(&node);
    nodes.extend(drops(&node));
    let mut conversations = columns(&conversation);
    conversations.extend(drops(&conversation));
    nodes.extend(fields_of(&described::<RadioRecord>()).map(|(counter, schema)| {
        let mut list = schema.clone();
        list["type"] = json!(["array", "null"]);
        list["items"] = json!({ "type": "integer" });
        list["description"] =
            format!("`{counter}` of each radio, in the order of the scenario; null for nodes with one radio.").into();
        (format!("{counter}_by_radio"), list)
    }));
    let mut rtp = columns(&described::<RtpRecord>());
    rtp.insert(1, ("conversation".into(), json!({ "description": "Name of the conversation.", "type": "string" })));
    [
        ("flows", columns(&described::<FlowRecord>())),
        ("nodes", nodes),
        ("series", columns(&described::<SeriesRow<'_>>())),
        ("conversations", conversations),
        ("rtp", rtp),
        ("conversation_series", columns(&described::<CourseRow<'_>>())),
        ("streams", columns(&described::<StreamRecord>())),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::results::{
        Cost, Provenance, RunSeries, Totals, conversation_series_table, conversation_table, flow_table, node_table,
        rtp_table, series_table, stream_table,
    };

    #[test]
    fn every_column_of_a_table_is_declared_and_every_declared_one_exists() {
        let made = [
            flow_table,
            node_table,
            series_table,
            conversation_table,
            rtp_table,
            conversation_series_table,
            stream_table,
        ];
        for ((name, declared), table) in tables().into_iter().zip(made) {
            let schema = table(&empty()).schema();
            let columns: BTreeSet<&String> = schema.fields().iter().map(|field| field.name()).collect();
            assert_eq!(columns, declared.iter().map(|(name, _)| name).collect(), "{name}");
        }
    }

    /// A result of nothing: its tables have all their columns.
    fn empty() -> RunResult {
        RunResult {
            flows: Vec::new(),
            nodes: Vec::new(),
            totals: Totals::default(),
            conversations: None,
            cloud: None,
            warnings: Vec::new(),
            cost: Cost::default(),
            provenance: Provenance { version: "", scenario_sha256: String::new(), seed: 1 },
            series: RunSeries::default(),
        }
    }
}
