//! The model of the crate, in scenarios.

use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};

/// Two nodes 100 m apart.
fn load(propagation: &str) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
duration = "2 s"
radio = {{ propagation = {{ {propagation} }} }}
nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "100 m" }} }}]
[[flows]]
name = "f"
from = "n0"
to = "n1"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "100 kb/s" }}
"#
    );
    Scenario::parse(&Source { text, name: "walls.toml".into(), registry: walls::registry(), ..Source::default() }, &[])
}

/// Bits per second, or `None` where there is no way from one node to the other.
fn goodput(propagation: &str) -> Option<f64> {
    let scenario = load(propagation).expect("the scenario is right").scenario;
    let mut simulation = Simulation::new(&scenario, scenario.seed).ok()?;
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let summary = simulation.flows().iter().next().expect("there is one flow").summary(simulation.now());
    Some(summary.goodput_bps)
}

#[test]
fn without_a_wall_it_is_free_space_and_behind_many_nothing_is_heard() {
    let free = goodput("model = \"free-space\"").expect("100 m are near");
    assert!(free > 90e3, "{free}");
    let walls = |walls: &str| goodput(&format!("model = \"custom\", name = \"walls\", parameters = {{ {walls} }}"));
    assert_eq!(walls("walls = []"), Some(free));
    assert_eq!(walls("walls = [-5, 105]"), Some(free), "no wall is between the nodes");
    assert_eq!(walls("walls = [50]"), Some(free), "a light wall takes too little");
    assert!(walls("walls = [20, 50], loss = 60").is_none_or(|goodput| goodput == 0.0));
}

#[test]
fn what_is_wrong_is_told() {
    let told = |propagation: &str| load(propagation).expect_err("it is wrong").to_string();
    let name = told("model = \"custom\", name = \"wals\"");
    assert!(name.contains("radio.propagation.name = \"wals\"") && name.contains("did you mean \"walls\""), "{name}");
    let parameters = told("model = \"custom\", name = \"walls\", parameters = { walls = [], los = 5 }");
    assert!(parameters.contains("unknown field `los`"), "{parameters}");
}
