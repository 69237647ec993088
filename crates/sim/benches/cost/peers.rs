//! The scenarios of `benches/peers`, by the names that `run.py` there gives them.

use hopcast_sim::scenario::{Scenario, Source};

/// `string`, `grid`, `house`, `vht-string`, or `cell-` or `he-` and a number of stations; `settings` as of `--set`. With `-sinr` behind it, frames are
/// received by signal to interference and noise, whatever the file says.
pub(crate) fn scenario(name: &str, settings: &[&str]) -> Scenario {
    let by_sinr = name.strip_suffix("-sinr");
    let source = Source { text: text(by_sinr.unwrap_or(name)), name: format!("{name}.toml"), ..Source::default() };
    let reception = by_sinr.map(|_| "radio.reception=sinr");
    let settings: Vec<String> = settings.iter().copied().chain(reception).map(String::from).collect();
    Scenario::parse(&source, &settings).unwrap_or_else(|errors| panic!("{errors}")).scenario
}

/// The file itself.
pub(crate) fn text(name: &str) -> String {
    match name {
        "string" => include_str!("../../../../benches/peers/string.toml").into(),
        "house" => include_str!("../../../../benches/peers/house.toml").into(),
        "grid" => include_str!("../../../../benches/peers/grid.toml").into(),
        "vht-string" => include_str!("../../../../benches/peers/ht_string.toml").into(),
        _ => {
            let of = |prefix| name.strip_prefix(prefix).and_then(|count| count.parse().ok());
            match (of("cell-"), of("he-")) {
                (Some(stations), _) => cell(include_str!("../../../../benches/peers/cell.toml"), stations),
                (_, Some(stations)) => cell(include_str!("../../../../benches/peers/ht_cell.toml"), stations),
                (None, None) => panic!("{name} is no scenario of benches/peers"),
            }
        }
    }
}

/// The file has one station with one flow: a cell of more has as many of both.
fn cell(text: &str, stations: usize) -> String {
    let flow = &text[text.find("[[flows]]").expect("the cell has a flow")..];
    let mut cell = text.replace("count = 1", &format!("count = {stations}"));
    for station in 1..stations {
        cell += &flow.replace("\"f0\"", &format!("\"f{station}\"")).replace("\"s0\"", &format!("\"s{station}\""));
    }
    cell
}
