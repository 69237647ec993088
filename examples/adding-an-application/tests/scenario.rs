//! The application of the crate, in scenarios.

use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};

/// A flow over a relay; `keys` are those of the flow beside its ends.
fn load(keys: &str) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
duration = "300 s"
nodes = [{{ name = "n", count = 3, relay = "application", placement = {{ shape = "line", spacing = "10 m" }} }}]
[[flows]]
name = "f"
from = "n0"
to = "n2"
via = ["n1"]
{keys}
"#
    );
    let registry = talkspurts::registry();
    Scenario::parse(&Source { text, name: "talk.toml".into(), registry, ..Source::default() }, &[])
}

fn run(transport: &str, more: &str, parameters: &str) -> FlowSummary {
    let application =
        format!("application = {{ kind = \"custom\", name = \"talkspurts\", parameters = {{ {parameters} }} }}");
    let keys = format!("transport = {{ protocol = \"{transport}\" }}\n{more}\n{application}");
    let scenario = load(&keys).expect("the scenario is right").scenario;
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("the nodes are near");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    simulation.flows().iter().next().expect("there is one flow").summary(simulation.now())
}

#[test]
fn it_talks_for_its_share_of_the_time_over_each_transport() {
    for (transport, more) in [("udp", ""), ("udp", "fec = {}"), ("tcp", ""), ("tfrc", ""), ("adtfrc", "fec = {}")] {
        let summary = run(transport, more, "");
        // 50 packets a second for 1.004 s of each 2.591 s.
        let share = summary.sent_packets as f64 / (300.0 * 50.0);
        assert!((0.28..0.50).contains(&share), "{transport} {more}: {share}");
        assert!(summary.received_packets as f64 > 0.9 * summary.sent_packets as f64, "{transport} {more}: {summary:?}");
    }
}

#[test]
fn parameters_reach_the_application() {
    let summary = run("udp", "", "packet = 80, interval = 0.01, pause = 0");
    assert_eq!(summary.sent_bytes, 80 * summary.sent_packets);
    assert!((29_000..31_000).contains(&summary.sent_packets), "{}", summary.sent_packets);
}

#[test]
fn errors_name_the_field_and_the_value() {
    let told = |keys: &str| load(keys).expect_err("it is wrong").to_string();
    let udp = "transport = { protocol = \"udp\" }\n";
    let name = told(&format!("{udp}application = {{ kind = \"custom\", name = \"talkspurt\" }}"));
    assert!(name.contains("flows.f.application.name = \"talkspurt\"") && name.contains("did you mean"), "{name}");
    let custom = |keys: &str| format!("{udp}application = {{ kind = \"custom\", name = \"talkspurts\"{keys} }}");
    let parameters = told(&custom(", parameters = { paus = 1 }"));
    assert!(parameters.contains("unknown field `paus`"), "{parameters}");
    let large = told(&custom(", parameters = { packet = 70000 }"));
    assert!(large.contains("flows.f.application.parameters") && large.contains("UDP datagram"), "{large}");
    let player = told(&(custom("") + "\nplayer = {}"));
    assert!(player.contains("flows.f.player") && player.contains("timeline"), "{player}");
}
