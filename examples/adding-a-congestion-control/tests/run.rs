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

/// A call over a wire of 20 Mb/s that loses a share of its packets; reports come every 100 ms.
fn call(loss: f64, transport: &str) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
duration = "300 s"
nodes = [{{ name = "a", role = "wired" }}, {{ name = "b", role = "wired" }}]
links = [{{ between = ["a", "b"], rate = "20 Mb/s", delay = "100 ms", queue = {{ packets = 1000 }}, loss = {loss} }}]
[[flows]]
name = "f"
from = "a"
to = "b"
transport = {{ protocol = "rtp", {transport} }}
application = {{ kind = "codec", min_rate = "100 kb/s", max_rate = "10 Mb/s", model = "steady" }}
"#
    );
    Scenario::parse(&Source { text, name: "call.toml".into(), registry: aimd::registry(), ..Source::default() }, &[])
}

/// The mean rate of AIMD(a, b) is sqrt(a (2 - b) / (2 b p)) packets in a round trip of 0.2 s. Packets are of up to 1500 B; a report
/// tells losses 50 ms late on the average. The line is a factor of 1.5.
#[test]
fn media_have_the_rate_of_the_closed_form() {
    for (decrease, increase, loss) in [(0.5_f64, 1.0_f64, 0.01_f64), (0.125, 0.2, 0.01)] {
        let transport =
            format!("congestion = \"aimd\", parameters = {{ decrease = {decrease}, increase = {increase} }}");
        let scenario = call(loss, &transport).expect("the scenario is right").scenario;
        let mut simulation = Simulation::new(&scenario, scenario.seed).expect("there is a wire");
        simulation.run_until(simulation.end());
        simulation.check().expect("nothing vanishes");
        let flow = simulation.flows().iter().next().expect("there is one flow").summary(simulation.now());
        let closed = 0.9 * 1500.0 * 8.0 / 0.2 * (increase * (2.0 - decrease) / (2.0 * decrease * loss)).sqrt();
        let ratio = flow.goodput_bps / closed;
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{ratio} of {closed} b/s");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let told = |transport: &str| load(transport).expect_err("it is wrong").to_string();
    let name = told("congestion = { name = \"aimb\" }");
    assert!(name.contains("flows.f.transport.congestion.name = \"aimb\"") && name.contains("did you mean"), "{name}");
    let parameters = told("congestion = { name = \"aimd\", parameters = { decreas = 0.5 } }");
    assert!(parameters.contains("unknown field `decreas`"), "{parameters}");
    let told = |transport: &str| call(0.0, transport).expect_err("it is wrong").to_string();
    let name = told("congestion = \"aimb\"");
    assert!(name.contains("flows.f.transport.congestion = \"aimb\"") && name.contains("did you mean"), "{name}");
    let parameters = told("congestion = \"aimd\", parameters = { decreas = 0.5 }");
    assert!(parameters.contains("unknown field `decreas`"), "{parameters}");
}
