//! Whole scenarios: what loads, what is refused and how, what is in force.

mod errors;
mod examples;
mod mobility;
mod properties;
mod reference;
mod values;

use super::*;

const STRING: &str = include_str!("fixtures/string.toml");
const HOUSE: &str = include_str!("fixtures/house.toml");
const ROAMING: &str = include_str!("fixtures/roaming.toml");

/// Static routes, since this version has no others.
const STATIC: &str = "nodes.n.routing.protocol=static";

/// The least that a scenario needs: two nodes and a flow.
const SMALL: &str = r#"
duration = "10 s"

[[nodes]]
name = "a"
placement = { shape = "points", at = [["0 m", "0 m"]] }

[[nodes]]
name = "b"
placement = { shape = "points", at = [["10 m", "0 m"]] }

[[flows]]
name = "f"
from = "a"
to = "b"
transport = { protocol = "udp" }
application = { kind = "cbr", rate = "1 Mb/s" }
"#;

fn source(text: &str) -> Source {
    Source {
        text: text.into(),
        name: "test.toml".into(),
        directory: "no-such-directory".into(),
        trace_dirs: vec![],
        ..Source::default()
    }
}

fn parse(text: &str, overrides: &[&str]) -> Result<Loaded, ScenarioErrors> {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Scenario::parse(&source(text), &overrides)
}

#[track_caller]
fn load(text: &str, overrides: &[&str]) -> Loaded {
    match parse(text, overrides) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("refused:\n{errors}"),
    }
}

#[track_caller]
fn refused(text: &str, overrides: &[&str]) -> String {
    match parse(text, overrides) {
        Ok(_) => panic!("loaded, with {overrides:?}"),
        Err(errors) => errors.to_string(),
    }
}

#[track_caller]
fn in_force<'a>(loaded: &'a Loaded, key: &str) -> (&'a str, &'a str) {
    let mut rows = loaded.explain().iter().filter(|row| row.key == key);
    let row = rows.next().unwrap_or_else(|| panic!("{key} is not explained"));
    assert!(rows.next().is_none(), "{key} is explained twice");
    (&row.value, &row.source)
}
