//! Runs in which nodes move.

use std::cell::RefCell;
use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::{Frame, StationId};
use hopcast_radio::medium::Link;
use hopcast_radio::propagation::{FreeSpace, Position, Propagation};
use hopcast_radio::units::Power;
use hopcast_sim::engine::Tap;
use hopcast_sim::host::Sdu;
use hopcast_sim::id::NodeId;
use hopcast_sim::layout;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};

use crate::difference::{Way, first_difference, parting};
use crate::scenarios::{Folder, scenario};

const WHOLE: Duration = Duration::from_secs(1_000);

/// Twenty nodes in a square of 300 m that move as told, with flows between neighbours and beyond.
fn crowd(radio: &str, nodes: &str, mobility: &str) -> String {
    let flows: String = [("a", "n0", "n7"), ("b", "n3", "n12"), ("c", "n19", "n4")]
        .iter()
        .map(|(name, from, to)| {
            format!(
                r#"
[[flows]]
name = "{name}"
from = "{from}"
to = "{to}"
transport = {{ protocol = "udp" }}
application = {{ kind = "adu", size = "3000 B", wait = "2 ms" }}
"#
            )
        })
        .collect();
    format!(
        r#"
duration = "700 ms"
[radio]
standard = "802.11b"
{radio}
[[nodes]]
name = "n"
count = 20
placement = {{ shape = "uniform", width = "300 m", height = "300 m" }}
{nodes}
mobility = {mobility}
{flows}
"#
    )
}

const RANGE: &str = r#"propagation = { model = "range", receive = "200 m", carrier_sense = "300 m" }"#;
const RADIOS: [&str; 5] = [
    RANGE,
    r#"propagation = { model = "free-space" }"#,
    r#"propagation = { model = "two-ray-ground", fading = "rayleigh", doppler = "20 Hz" }"#,
    "propagation = { model = \"free-space\", fading = \"rician\", k = 3.0 }\nreception = \"threshold\"",
    "profile = \"ns-2\"\nerrors = { model = \"packet\", rate = 0.05 }",
];
const MOVING: &str = r#"{ model = "random-waypoint", speed = ["1 m/s", "30 m/s"], pause = ["0 s", "1 s"] }"#;

/// A speed of zero is forced along the way of those that move, and is nothing else than rest.
#[test]
fn nodes_that_move_at_no_speed_are_nodes_at_rest() {
    let whole = Way { seed: 1, slice: WHOLE };
    let two = "radios = [{ channel = 1 }, { channel = 3 }]";
    for (radio, nodes) in RADIOS.map(|radio| (radio, "")).into_iter().chain([(RADIOS[1], two), (RANGE, two)]) {
        let resting = scenario(&crowd(radio, nodes, r#"{ model = "static" }"#));
        let idle = scenario(&crowd(radio, nodes, r#"{ model = "random-waypoint", speed = 0 }"#));
        let difference = parting([(&resting, whole), (&idle, whole)]);
        assert!(difference.is_none(), "{radio}: {}", difference.unwrap());
    }
}

#[test]
fn motion_is_noticed() {
    let resting = scenario(&crowd(RANGE, "", r#"{ model = "static" }"#));
    let start = r#"{ model = "random-waypoint", speed = "30 m/s", start = "classical" }"#;
    let moving = scenario(&crowd(RANGE, "", start));
    let whole = Way { seed: 1, slice: WHOLE };
    assert!(parting([(&resting, whole), (&moving, whole)]).is_some());
}

#[test]
fn two_runs_in_motion_are_the_same_however_they_are_sliced() {
    let gauss_markov = r#"{ model = "gauss-markov", speed = "10 m/s", step = "100 ms" }"#;
    for (radio, mobility) in RADIOS.map(|radio| (radio, MOVING)).into_iter().chain([(RANGE, gauss_markov)]) {
        let scenario = scenario(&crowd(radio, "", mobility));
        let slice = Duration::from_nanos(777_777);
        let difference = first_difference(&scenario, [Way { seed: 2, slice: WHOLE }, Way { seed: 2, slice }]);
        assert!(difference.is_none(), "{radio}: {}", difference.unwrap());
    }
}

#[test]
fn packets_are_conserved_in_motion() {
    for radio in RADIOS {
        let scenario = scenario(&crowd(radio, "", MOVING));
        let mut simulation = Simulation::new(&scenario, 5).expect("there are paths at the start");
        simulation.run_until(simulation.end());
        simulation.check().unwrap_or_else(|error| panic!("{radio}: {error}"));
        let received: u64 = simulation.flows().iter().map(|flow| flow.summary(simulation.end()).received_packets).sum();
        assert!(received > 20, "{radio}: {received}");
    }
}

#[test]
fn positions_are_asked_for_at_any_instant() {
    let scenario = scenario(&crowd(RANGE, "", MOVING));
    let mut simulation = Simulation::new(&scenario, 5).expect("there are paths at the start");
    let mut motion = layout::motion(&scenario, 5);
    let nodes = || (0..20).map(NodeId);
    let start: Vec<Position> = nodes().map(|node| motion.position(node, Instant::START)).collect();
    assert_eq!(simulation.positions(), start);
    simulation.run_until(Instant::START + Duration::from_millis(500));
    // Before, at and after the instant that the run has come to.
    for millis in [100, 500, 60_000] {
        let now = Instant::START + Duration::from_millis(millis);
        for node in nodes() {
            assert_eq!(simulation.position(node, now), motion.position(node, now));
        }
    }
    simulation.run_until(simulation.end());
}

/// A node that is added moves no other.
#[test]
fn a_node_more_leaves_the_ways_of_the_others_as_they_were() {
    let text = crowd(RANGE, "", MOVING);
    let more = text.replace("count = 20", "count = 21");
    let [mut few, mut many] = [text, more].map(|text| layout::motion(&scenario(&text), 9));
    for node in (0..20).map(NodeId) {
        for second in 0..50 {
            let now = Instant::START + Duration::from_secs(second);
            assert_eq!(few.position(node, now), many.position(node, now));
        }
    }
}

/// When a frame was sent, and with which power it arrived.
type ReceptionOutcome = (Instant, Option<Power>);

/// Data frames that n0 sends and n1 receives.
struct Ears(Rc<RefCell<Vec<ReceptionOutcome>>>);

impl Tap<Rc<Sdu>> for Ears {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        if frame.transmitter == StationId(0) && frame.payload.is_some() {
            let sent = match received {
                Some(link) if station == StationId(1) => Instant::from_nanos(start.as_nanos() - link.delay.as_nanos()),
                Some(_) => return,
                None => start,
            };
            self.0.borrow_mut().push((sent, received.map(|link| link.power)));
        }
    }
}

/// n0 stands at the origin, n1 leaves it along a trace, to the east at 40 m/s from 200 m on.
fn departure(radio: &str) -> (Vec<Instant>, Vec<(Instant, Power)>) {
    let folder = Folder::new();
    std::fs::write(folder.path().join("away.movements"), "0 0 0\n0 200 0 10 600 0\n").unwrap();
    let text = format!(
        r#"
duration = "3 s"
[radio]
standard = "802.11b"
{radio}
[[nodes]]
name = "n"
count = 2
mobility = {{ model = "trace", file = "away.movements" }}
[[flows]]
name = "f"
from = "n0"
to = "n1"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "400 kb/s", packet = "100 B" }}
"#
    );
    let source = Source { text, name: "test.toml".into(), directory: folder.path().to_owned(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario;
    let mut simulation = Simulation::new(&scenario, 1).expect("they begin as neighbours");
    let log = Rc::new(RefCell::new(Vec::new()));
    simulation.set_tap(Ears(Rc::clone(&log)));
    simulation.run_until(simulation.end());
    simulation.check().unwrap();
    let log = log.borrow();
    let sent = log.iter().filter(|(_, power)| power.is_none()).map(|(at, _)| *at).collect();
    (sent, log.iter().filter_map(|&(at, power)| Some((at, power?))).collect())
}

/// 250 m are reached after 1.25 s: what is sent until then is received, and nothing after.
#[test]
fn who_drives_out_of_range_is_heard_until_that_instant() {
    let (sent, received) =
        departure(r#"propagation = { model = "range", receive = "250 m", carrier_sense = "550 m" }"#);
    let received: Vec<Instant> = received.into_iter().map(|(at, _)| at).collect();
    let border = Instant::START + Duration::from_millis(1_250);
    let (before, after): (Vec<Instant>, Vec<Instant>) = sent.into_iter().partition(|&at| at <= border);
    assert!(before.len() > 500 && after.len() > 300, "{} and {}", before.len(), after.len());
    assert_eq!(received, before);
}

/// A frame arrives with the power of the distance at the instant at which it was sent.
#[test]
fn power_is_that_of_the_place_at_the_start_of_a_frame() {
    let (sent, received) = departure(r#"propagation = { model = "free-space", frequency = "2.4 GHz" }"#);
    let model = FreeSpace::new(2.4e9);
    assert!(received.len() > 1_000 && received.len() <= sent.len());
    for (at, power) in received {
        let there = Position::on_ground(200.0 + 40.0 * at.as_secs_f64(), 0.0);
        let expected = model.received_power(Power::from_dbm(16.0206), Position::default(), there);
        assert!((power.over(expected) - 1.0).abs() < 1e-6, "{at}: {power} for {expected}");
    }
}
