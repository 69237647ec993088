//! The model of the crate against its closed forms, by hand and in scenarios.

use bursts::{Bursts, Config};
use hopcast_protocols::random::{Purpose, Streams};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::errors::{ErrorModel, ReceivedFrame};
use hopcast_radio::frame::{FrameKind, Header, StationId};
use hopcast_radio::phy::{Standard, TxVector};
use hopcast_radio::units::Power;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Loaded, Scenario, ScenarioErrors, Source};

const CONFIG: Config = Config { good: 0.2, bad: 0.05 };
/// Between two frames, in milliseconds.
const INTERVAL: u64 = 10;

/// Which of 400 000 frames from one station to another are lost, and whether `others` send in between.
fn lost(others: bool) -> Vec<bool> {
    let frame = |from| Header {
        kind: FrameKind::Data,
        transmitter: StationId(from),
        receiver: Some(StationId(1)),
        duration: Duration::ZERO,
        sequence: 0,
        retry: false,
        priority: None,
        octets: 1_036,
        vector: TxVector::new(Standard::Dsss, 0),
        airtime: Duration::from_millis(1),
        header: Duration::from_micros(192),
        payload: None,
    };
    let mut model = Bursts::new(Streams::new(1, Purpose::ErrorModel, 0), &CONFIG);
    let mut loss = |from, start: Instant| {
        let (frame, end) = (frame(from), start + Duration::from_millis(1));
        model.loss(&ReceivedFrame { frame: &frame, receiver: StationId(1), power: Power::from_dbm(-60.0), start, end })
    };
    let at = |place| Instant::START + Duration::from_millis(INTERVAL * place);
    (0..400_000)
        .map(|place| {
            if others {
                loss(2, at(place));
            }
            loss(0, at(place)) > 0.5
        })
        .collect()
}

/// With π = 0.05/0.25 of the time bad, a state that is bad is good an interval later with q = (1 − π)·(1 − e^(−T(1/g + 1/b))) = 0.177:
/// π of the frames are lost, and 1/q in a row.
#[test]
fn losses_and_bursts_are_as_long_as_the_closed_forms() {
    let lost = lost(false);
    let share_bad = CONFIG.bad / (CONFIG.good + CONFIG.bad);
    let interval = INTERVAL as f64 / 1e3;
    let ends = -(1.0 - share_bad) * libm::expm1(-interval * (1.0 / CONFIG.good + 1.0 / CONFIG.bad));
    let losses = lost.iter().filter(|&&lost| lost).count() as f64;
    let bursts = lost.windows(2).filter(|pair| pair[0] && !pair[1]).count() as f64;
    // 14 000 bursts, whose length deviates by its mean: 1 % is more than a standard deviation.
    let (share, mean) = (losses / lost.len() as f64, losses / bursts);
    assert!((share / share_bad - 1.0).abs() < 0.04, "{share} for {share_bad}");
    assert!((mean * ends - 1.0).abs() < 0.04, "{mean} for {}", 1.0 / ends);
}

#[test]
fn frames_of_others_move_no_draw() {
    assert_eq!(lost(false), lost(true));
}

/// Two nodes 50 m apart, the second of which receives a frame each 10 ms once.
fn load(errors: &str) -> Result<Loaded, ScenarioErrors> {
    let text = format!(
        r#"
duration = "200 s"
radio = {{ retry_limit = {{ short = 1, long = 1 }}, errors = {{ {errors} }} }}
nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "50 m" }} }}]
[[flows]]
name = "f"
from = "n0"
to = "n1"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "400 kb/s", packet = "500 B" }}
"#
    );
    let source = Source { text, name: "bursts.toml".into(), registry: bursts::registry(), ..Source::default() };
    Scenario::parse(&source, &[])
}

fn loss(errors: &str) -> f64 {
    let scenario = load(errors).expect("the scenario is right").scenario;
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("they hear each other");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let summary = simulation.flows().iter().next().expect("there is one flow").summary(simulation.now());
    1.0 - summary.received_packets as f64 / summary.sent_packets as f64
}

/// 800 bursts: 4 % is a standard deviation.
#[test]
fn a_scenario_loses_the_share_of_bad_time() {
    let loss = loss("model = \"custom\", name = \"bursts\", parameters = { good = 0.2, bad = 0.05 }");
    assert!((loss / 0.2 - 1.0).abs() < 0.15, "{loss}");
}

#[test]
fn what_is_wrong_is_told() {
    let told = |errors: &str| load(errors).expect_err("it is wrong").to_string();
    let name = told("model = \"custom\", name = \"burst\"");
    assert!(name.contains("radio.errors.name = \"burst\"") && name.contains("did you mean \"bursts\""), "{name}");
    let parameters = told("model = \"custom\", name = \"bursts\", parameters = { good = 1, bat = 1 }");
    assert!(parameters.contains("unknown field `bat`"), "{parameters}");
}
