//! Custom error models.

use std::sync::{Arc, Mutex};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::{ErrorModel, ReceivedFrame};
use hopcast_radio::frame::{FrameKind, StationId};
use hopcast_sim::registry::Registry;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};
use serde::Deserialize;

/// Kind, transmitter, receiver, length in bytes, power in dBm, start and end.
type Told = (FrameKind, StationId, StationId, u32, f64, Instant, Instant);

/// Loses a share of the data frames, and keeps what it is told.
#[derive(Debug)]
struct Data {
    share: f64,
    told: Arc<Mutex<Vec<Told>>>,
}

impl ErrorModel for Data {
    fn loss(&mut self, &ReceivedFrame { frame, receiver, power, start, end }: &ReceivedFrame<'_>) -> f64 {
        let told = (frame.kind, frame.transmitter, receiver, frame.octets, power.as_dbm(), start, end);
        self.told.lock().expect("nobody panics").push(told);
        if frame.kind == FrameKind::Data { self.share } else { 0.0 }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    share: f64,
}

/// Two nodes 100 m apart by free space: the first sends the other a datagram of 1000 bytes each 10 ms, from 1 s on.
fn load(errors: &str, told: &Arc<Mutex<Vec<Told>>>) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
        duration = "41 s"
        radio = {{ retry_limit = {{ short = 1, long = 1 }}, errors = {{ {errors} }} }}
        nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "100 m" }} }}]
        flows = [{{ name = "f", from = "n0", to = "n1", start = "1 s", transport = {{ protocol = "udp" }},
                   application = {{ kind = "cbr", rate = "800 kb/s", packet = "1000 B" }} }}]
        "#
    );
    let mut registry = Registry::default();
    let told = Arc::clone(told);
    let model = move |_, config: &Config| Data { share: config.share, told: Arc::clone(&told) };
    registry.add_error_model("data", model);
    Scenario::parse(&Source { text, name: "errors.toml".into(), registry, ..Source::default() }, &[])
}

/// How many datagrams arrive of those that are sent.
fn run(errors: &str, told: &Arc<Mutex<Vec<Told>>>) -> (u64, u64) {
    let scenario = load(errors, told).unwrap_or_else(|errors| panic!("{errors}")).scenario;
    let mut simulation = Simulation::new(&scenario, 1).expect("the nodes are connected");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let summary = simulation.flows().iter().next().expect("one flow").summary(simulation.end());
    (summary.received_packets, summary.sent_packets)
}

#[test]
fn a_custom_model_loses_what_it_says() {
    for share in [0.0, 0.3, 1.0] {
        let errors = format!("model = \"custom\", name = \"data\", parameters = {{ share = {share:?} }}");
        let (received, sent) = run(&errors, &Arc::default());
        let (received, sent) = (received as f64, sent as f64);
        assert!(sent > 3_900.0);
        let spread = 3.5 * (sent * share * (1.0 - share)).sqrt();
        // The last datagram may be on its way.
        assert!((received - sent * (1.0 - share)).abs() <= spread + 1.0, "{received} of {sent} at {share}");
    }
}

/// By hand: 16.02 dBm less 20·log₁₀(4π·100 m·2.412 GHz/c) = 80.09 dB; a datagram with IP, UDP and MAC takes 1064 bytes, 4256 µs at
/// 2 Mb/s.
#[test]
fn a_custom_model_is_told_of_each_frame_that_arrives() {
    let told = Arc::default();
    let (received, _) = run("model = \"custom\", name = \"data\", parameters = { share = 0 }", &told);
    let told = told.lock().expect("nobody panics");
    assert!(told.len() as u64 >= 2 * received, "data and its acknowledgement");
    let (kind, transmitter, receiver, octets, power, start, end) = told[0];
    assert_eq!((kind, transmitter, receiver, octets), (FrameKind::Data, StationId(0), StationId(1), 1_064));
    assert!((power + 64.07).abs() < 0.01, "{power}");
    assert_eq!(end.saturating_since(start), Duration::from_micros(4_256));
    assert!(start > Instant::START + Duration::from_secs(1));
    let (kind, transmitter, receiver, octets, ..) = told[1];
    assert_eq!((kind, transmitter, receiver, octets), (FrameKind::Ack, StationId(1), StationId(0), 14));
}

#[test]
fn a_wrong_name_and_a_wrong_parameter_are_told() {
    let refused = |errors| load(errors, &Arc::default()).expect_err("it is wrong").to_string();
    let told = refused("model = \"custom\", name = \"dater\"");
    assert!(told.contains("radio.errors.name = \"dater\": there is no error model of this name"), "{told}");
    assert!(told.contains("did you mean \"data\""), "{told}");
    let told = refused("model = \"custom\", name = \"data\", parameters = { chare = 1 }");
    assert!(told.contains("radio.errors.parameters") && told.contains("unknown field `chare`"), "{told}");
    let told = refused("model = \"custom\"");
    assert!(told.contains("radio.errors.name") && told.contains("is missing"), "{told}");
}
