//! The layout of a run's network, for drawings: what `run.json` does not have, since it is no result.

use std::path::Path;

use hopcast_protocols::time::Instant;
use serde_json::{Value, json};

use super::output::{LAYOUT, write_text};
use super::{OutputError, node_names};
use crate::id::NodeId;
use crate::layout;
use crate::scenario::model::{Group, Role, Scenario};

/// Writes `layout.json` to `folder`, which must exist: the name of `scenario`, its duration, its nodes with their positions at
/// the start of the run with `seed`, and its wires.
///
/// # Errors
/// A write error; an existing file stays.
pub fn write_layout(folder: &Path, scenario: &Scenario, seed: u64) -> Result<(), OutputError> {
    let text = description(scenario, seed).to_string() + "\n";
    write_text(&folder.join(LAYOUT), &text)
}

fn description(scenario: &Scenario, seed: u64) -> Value {
    let mut motion = layout::motion(scenario, seed);
    let node = |((name, group), node): ((&String, &Group), u32)| {
        let at = motion.position(NodeId(node), Instant::START);
        // A node without radio has no place.
        let place = (group.role != Role::Wired).then_some([at.x, at.y]);
        json!({
            "name": name,
            "role": role(group.role),
            "position_m": place,
            "moves": group.mobility.is_some(),
        })
    };
    let nodes: Vec<Value> = node_names(scenario).zip(layout::groups(scenario)).zip(0..).map(node).collect();
    let names: Vec<&String> = node_names(scenario).collect();
    let wires = scenario.links.iter().map(|link| link.between.map(|end| names[end.0 as usize]));
    json!({
        "name": scenario.name,
        "duration_s": scenario.duration.as_secs_f64(),
        "nodes": nodes,
        "wires": wires.collect::<Vec<_>>(),
    })
}

fn role(role: Role) -> &'static str {
    match role {
        Role::AdHoc => "ad hoc",
        Role::AccessPoint => "access point",
        Role::Station => "station",
        Role::Wired => "wired",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Source;

    #[test]
    fn nodes_have_their_names_roles_and_places_and_wires_their_ends() {
        let text = r#"
            name = "two and a wire"
            duration = "2 s"
            [[nodes]]
            name = "a"
            placement = { shape = "points", at = [["1 m", "2 m"]] }
            [[nodes]]
            name = "w"
            role = "wired"
            [[links]]
            between = ["a", "w"]
            rate = "1 Mb/s"
            delay = "1 ms"
        "#;
        let source = Source { text: text.into(), name: "test.toml".into(), ..Source::default() };
        let scenario = Scenario::parse(&source, &[]).expect("it is a scenario").scenario;
        let wanted = json!({
            "name": "two and a wire",
            "duration_s": 2.0,
            "nodes": [
                { "name": "a", "role": "ad hoc", "position_m": [1.0, 2.0], "moves": false },
                { "name": "w", "role": "wired", "position_m": null, "moves": false },
            ],
            "wires": [["a", "w"]],
        });
        assert_eq!(description(&scenario, 1), wanted);
    }
}
