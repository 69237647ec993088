//! The congestion control of the page, in scenarios.

use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};

/// One connection over a wire of 10 Mb/s that loses one packet of a thousand.
fn load(transport: &str) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
duration = "120 s"
nodes = [{{ name = "a", role = "wired", socket_buffer = "1 MB" }}, {{ name = "b", role = "wired", socket_buffer = "1 MB" }}]
links = [{{ between = ["a", "b"], rate = "10 Mb/s", delay = "50 ms", queue = {{ packets = 1000 }}, loss = 0.001 }}]
[[flows]]
name = "f"
from = "a"
to = "b"
transport = {{ protocol = "tcp", variant = "sack", delayed_ack = "off", {transport} }}
application = {{ kind = "bulk" }}
"#
    );
    Scenario::parse(&Source { text, name: "aimd.toml".into(), registry: aimd::registry(), ..Source::default() }, &[])
}

fn run(transport: &str) -> FlowSummary {
    let scenario = load(transport).expect("the scenario is right").scenario;
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("there is a wire");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    simulation.flows().iter().next().expect("there is one flow").summary(simulation.now())
}

#[test]
fn with_the_parameters_of_tcp_it_is_tcp_and_with_gentle_ones_it_is_its_friend() {
    let sack = run("").goodput_bps;
    let same = run("congestion = { name = \"aimd\", parameters = { decrease = 0.5, increase = 1 } }").goodput_bps;
    assert!((0.9..1.1).contains(&(same / sack)), "{same} {sack}");
    let gentle = run("congestion = { name = \"aimd\", parameters = { decrease = 0.125 } }").goodput_bps;
    assert!((0.75..1.25).contains(&(gentle / sack)), "{gentle} {sack}");
    // The mean window of AIMD(a, b) is sqrt(a (2 - b) / (2 b p)): with b = 1/2 it is twice as large for a = 4.
    let greedy = run("congestion = { name = \"aimd\", parameters = { decrease = 0.5, increase = 4 } }").goodput_bps;
    assert!((1.5..2.5).contains(&(greedy / sack)), "{greedy} {sack}");
}

#[test]
fn what_is_wrong_is_told() {
    let told = |transport: &str| load(transport).expect_err("it is wrong").to_string();
    let name = told("congestion = { name = \"aimb\" }");
    assert!(name.contains("flows.f.transport.congestion.name = \"aimb\"") && name.contains("did you mean"), "{name}");
    let parameters = told("congestion = { name = \"aimd\", parameters = { decreas = 0.5 } }");
    assert!(parameters.contains("unknown field `decreas`"), "{parameters}");
}
