//! The scenarios of `benches/peers`, by the names that `run.py` there gives them.

use hopcast_sim::scenario::{Scenario, Source};

/// `string`, `grid`, or `cell-` and a number of stations; `settings` as of `--set`.
pub(crate) fn scenario(name: &str, settings: &[&str]) -> Scenario {
    let source = Source { text: text(name), name: format!("{name}.toml"), ..Source::default() };
    let settings: Vec<String> = settings.iter().map(|&setting| setting.into()).collect();
    Scenario::parse(&source, &settings).unwrap_or_else(|errors| panic!("{errors}")).scenario
}

/// The file itself.
pub(crate) fn text(name: &str) -> String {
    match name {
        "string" => include_str!("../../../../benches/peers/string.toml").into(),
        "grid" => include_str!("../../../../benches/peers/grid.toml").into(),
        _ => {
            let stations = name.strip_prefix("cell-").and_then(|count| count.parse().ok());
            cell(stations.unwrap_or_else(|| panic!("{name} is no scenario of benches/peers")))
        }
    }
}

/// The file has one station with one flow: a cell of more has as many of both.
fn cell(stations: usize) -> String {
    let text = include_str!("../../../../benches/peers/cell.toml");
    let flow = &text[text.find("[[flows]]").expect("the cell has a flow")..];
    let mut cell = text.replace("count = 1", &format!("count = {stations}"));
    for station in 1..stations {
        cell += &flow.replace("\"f0\"", &format!("\"f{station}\"")).replace("\"s0\"", &format!("\"s{station}\""));
    }
    cell
}
