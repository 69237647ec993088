//! Random worlds: what holds for any scenario, whatever it is made of.

mod draw;
mod keys;
mod shrink;
mod vocabulary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use hopcast_protocols::time::Instant;
use hopcast_sim::capture::Selection;
use hopcast_sim::execute::{Control, Job, Outcome, execute};
use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::results::RunResult;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::model::Transport;
use hopcast_sim::scenario::{Scenario, Source};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use shrink::Worlds;

/// Worlds that take more events are stopped there, and run once only.
const MOST_EVENTS: u64 = 60_000;
/// Greatest rate of wires in [`draw`], in bit/s.
const WIRE: f64 = 100e6;
/// In m/s.
const LIGHT: f64 = 299_792_458.0;

/// Worlds of a run that is not asked for a number of them. Of these, one of [`KNOWN_EACH`] runs in several ways, which takes five runs.
const KNOWN: u32 = 1000;
/// See [`KNOWN`].
const KNOWN_EACH: u32 = 10;
/// Worlds that a thread draws before it asks for more.
const SHARE: u32 = 10;

/// The same worlds each time, or as many others as `HOPCAST_WORLDS` asks for, all drawn around the key or word of `HOPCAST_WORLDS_WITH`
/// if that is given: those may still find a defect.
#[test]
fn worlds_keep_every_promise() {
    match std::env::var("HOPCAST_WORLDS") {
        Ok(number) => {
            let number = number.parse().expect("HOPCAST_WORLDS is a number");
            let wanted = std::env::var("HOPCAST_WORLDS_WITH").ok();
            let is_known = wanted.as_ref().is_none_or(|wanted| keys::ALL.contains(wanted));
            assert!(is_known, "HOPCAST_WORLDS_WITH is unknown; one of these is expected: {:#?}", *keys::ALL);
            try_worlds(number, 1, &Worlds { wanted }, |_, config| TestRunner::new(config));
        }
        Err(_) => try_worlds(KNOWN, KNOWN_EACH, &Worlds { wanted: None }, |share, config| {
            let mut seed = [0; 32];
            seed[..4].copy_from_slice(&share.to_le_bytes());
            TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
        }),
    }
}

/// Draws this many worlds, with one runner for each share of them, on all processors, and runs one of `each` in several ways. A world that
/// breaks a promise is made as small as it gets, and printed.
#[expect(clippy::print_stdout, reason = "says what was tried")]
fn try_worlds(number: u32, each: u32, worlds: &Worlds, runner: impl Fn(u32, ProptestConfig) -> TestRunner + Sync) {
    let next = AtomicU32::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let share = next.fetch_add(1, Ordering::Relaxed);
            let cases = number.saturating_sub(share.saturating_mul(SHARE)).min(SHARE);
            if cases == 0 {
                return Ok(tally);
            }
            let config = ProptestConfig {
                max_shrink_iters: 20_000,
                failure_persistence: None,
                ..ProptestConfig::with_cases(cases)
            };
            let tried = try_share(each, worlds, runner(share, config));
            // To make one smaller takes minutes, in which the others end.
            tally = tally + tried.inspect_err(|_| next.store(number, Ordering::Relaxed))?;
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let tallies: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("worlds do not panic")).collect()
    });
    let tally = tallies.into_iter().collect::<Result<Vec<_>, _>>().unwrap_or_else(|error| panic!("{error}"));
    let Tally { whole, several, unordered } = tally.into_iter().fold(Tally::default(), core::ops::Add::add);
    println!(
        "{number} worlds: {whole} ran to their end, {several} of them in several ways, {unordered} of these with their flows in another order"
    );
    assert!(f64::from(whole) > 0.7 * f64::from(number), "{whole} of {number} are short enough");
    assert!(several * each > whole / 2, "{several} of {whole} in several ways");
    // Many worlds are small: two flows have four ends.
    assert!(unordered * 20 >= several, "{unordered} of {several} with their flows in another order");
}

/// Draws the worlds of one runner.
#[expect(clippy::print_stdout, reason = "says what was found")]
fn try_share(each: u32, worlds: &Worlds, mut runner: TestRunner) -> Result<Tally, String> {
    let tally = std::cell::Cell::new(Tally::default());
    let (is_broken, number) = (std::cell::Cell::new(false), std::cell::Cell::new(0));
    let outcome = runner.run(worlds, |world| {
        let place = number.replace(number.get() + 1);
        let one = keeps_every_promise(&world, is_broken.get() || place % each == 0).inspect_err(|error| {
            if !is_broken.replace(true) {
                println!("{error}\n{world}");
            }
        })?;
        tally.set(tally.get() + one);
        Ok(())
    });
    outcome.map(|()| tally.get()).map_err(|error| error.to_string())
}

/// How many worlds were tried in which way.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Up to their end.
    whole: u32,
    /// In several ways.
    several: u32,
    /// With their flows in another order.
    unordered: u32,
}

impl core::ops::Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            whole: self.whole + other.whole,
            several: self.several + other.several,
            unordered: self.unordered + other.unordered,
        }
    }
}

/// How much of a world was tried: one of each that applies.
fn keeps_every_promise(world: &Value, in_several_ways: bool) -> Result<Tally, TestCaseError> {
    let loaded = draw::load(world).map_err(|fields| TestCaseError::fail(format!("refused: {fields:?}")))?;
    let scenario = &loaded.scenario;
    let simulation = checked(scenario)?;
    let summaries: Vec<FlowSummary> = simulation.flows().iter().map(|flow| flow.summary(simulation.now())).collect();
    for (place, summary) in summaries.iter().enumerate() {
        is_accounted_for(summary)?;
        is_no_faster_than_its_links(scenario, &simulation, place, summary)?;
    }
    let is_whole = simulation.now() >= simulation.end();
    if !is_whole || !in_several_ways {
        return Ok(Tally { whole: is_whole.into(), ..Tally::default() });
    }
    let found = run(scenario, &Way { seeds: &[scenario.seed], threads: 1, folder: None });
    for (summary, flow) in summaries.iter().zip(&found[0].flows) {
        prop_assert_eq!(summary, &flow.summary, "slices matter to {}", flow.name);
    }
    let [found] = <[RunResult; 1]>::try_from(found).expect("one seed");
    let found = bytes(&found);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the target folder can be written");
    let recorded = run(scenario, &Way { seeds: &[scenario.seed], threads: 1, folder: Some(folder.path()) });
    prop_assert_eq!(&bytes(&recorded[0]), &found, "captures and recording matter");
    let toml = Source { text: toml::to_string(world).expect("TOML"), name: "world".into(), ..Source::default() };
    let toml = Scenario::parse(&toml, &[]).map_err(|errors| TestCaseError::fail(errors.to_string()))?.scenario;
    let both = run(&toml, &Way { seeds: &[scenario.seed, scenario.seed], threads: 2, folder: None });
    for result in &both {
        prop_assert_eq!(&bytes(result), &found, "threads or TOML matter");
    }
    let is_unordered = has_flows_in_no_order(world)?;
    Ok(Tally { whole: 1, several: 1, unordered: is_unordered.into() })
}

/// Runs in slices, and looks for packets that appear or vanish after each.
fn checked(scenario: &Scenario) -> Result<Simulation, TestCaseError> {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("all flows have paths");
    let slice = scenario.duration.as_nanos() / 7 + 1;
    while simulation.now() < simulation.end() && simulation.events() < MOST_EVENTS {
        let stop = simulation.now().as_nanos() + slice;
        while simulation.now().as_nanos() < stop
            && simulation.now() < simulation.end()
            && simulation.events() < MOST_EVENTS
        {
            simulation.run_until(Instant::from_nanos(stop.min(simulation.now().as_nanos() + 1_000_000)));
        }
        prop_assert_eq!(simulation.check(), Ok(()), "at {}", simulation.now());
    }
    Ok(simulation)
}

fn is_accounted_for(summary: &FlowSummary) -> Result<(), TestCaseError> {
    let FlowSummary { sent_packets, received_packets, lost_packets, in_flight_packets, .. } = *summary;
    prop_assert_eq!(sent_packets, received_packets + lost_packets + in_flight_packets);
    prop_assert!(summary.received_bytes <= summary.sent_bytes);
    prop_assert!((0.0..=1.0).contains(&summary.loss_ratio));
    Ok(())
}

/// No bit leaves its node faster than all its interfaces together send, and none arrives before light does.
fn is_no_faster_than_its_links(
    scenario: &Scenario,
    simulation: &Simulation,
    place: usize,
    summary: &FlowSummary,
) -> Result<(), TestCaseError> {
    let flow = &scenario.flows[place];
    let (Some(first), Some(last), Some(delay)) =
        (summary.first_arrival_s, summary.last_arrival_s, summary.delay_mean_s)
    else {
        return Ok(());
    };
    let start = flow.start.as_secs_f64();
    let rate = rate_of(scenario, flow.from.0);
    // Times are whole nanoseconds.
    let slack = 2e-9;
    let sent = summary.received_bytes as f64 * 8.0;
    prop_assert!(sent <= rate * (last - start + slack), "{}: {sent} bits by {last} s at {rate} b/s", flow.name);
    let is_still = scenario.groups.iter().all(|group| group.mobility.is_none());
    let distance = match is_still && scenario.links.is_empty() {
        true => {
            let [from, to] = [flow.from, flow.to].map(|node| simulation.positions()[node.0 as usize]);
            from.distance(to)
        }
        false => 0.0,
    };
    let light = distance / LIGHT;
    prop_assert!(
        first - start + slack >= light,
        "{}: the first after {} s over {distance} m",
        flow.name,
        first - start
    );
    // Of a stream, what a write's last byte waits for is sent before it, so that only this byte is left.
    let octets = match flow.transport {
        Transport::Tcp(_) => 1.0,
        _ => summary.received_bytes as f64 / summary.received_packets as f64,
    };
    prop_assert!(delay + slack >= light + octets * 8.0 / rate, "{}: {delay} s for {octets} B at {rate} b/s", flow.name);
    Ok(())
}

/// What all interfaces of a node send at once, in bit/s.
fn rate_of(scenario: &Scenario, node: u32) -> f64 {
    let mut first = 0;
    let group = scenario.groups.iter().find(|group| {
        first += group.node_names.len() as u32;
        node < first
    });
    let radios = group.expect("a node is in a group").radios.iter().map(|radio| {
        let phy = radio.capability.phy_among(&[radio.capability]);
        let rates = phy.vectors().iter().map(|vector| vector.data_rate().as_kbps());
        f64::from(rates.max().expect("each standard has rates")) * 1e3
    });
    let wires = scenario.links.iter().filter(|link| link.between.iter().any(|end| end.0 == node)).count();
    radios.sum::<f64>() + wires as f64 * WIRE
}

/// Checks that the order of flows in the file changes nothing, on a world with those flows of `world` of which no two meet at a node, all
/// over UDP and without random numbers: their order is then no order in time. Returns whether two are left.
fn has_flows_in_no_order(world: &Value) -> Result<bool, TestCaseError> {
    let Some(apart) = with_flows_apart(world).filter(draw::is_valid) else { return Ok(false) };
    let mut turned = apart.clone();
    turned["flows"].as_array_mut().expect("flows").reverse();
    let mut found = Vec::new();
    for world in [apart, turned] {
        let scenario = draw::load(&world).expect("it is valid").scenario;
        let simulation = checked(&scenario)?;
        if simulation.now() < simulation.end() {
            return Ok(false);
        }
        let summaries = simulation.flows().iter().map(|flow| flow.summary(simulation.now()));
        let names = scenario.flows.iter().map(|flow| flow.name.clone());
        found.push(names.zip(summaries).collect::<BTreeMap<_, _>>());
    }
    prop_assert_eq!(&found[0], &found[1], "the order of flows matters");
    Ok(true)
}

/// `world` without the flows that meet an earlier one at a node, and the others over UDP; nothing if fewer than two are left.
fn with_flows_apart(world: &Value) -> Option<Value> {
    let mut apart = world.clone();
    apart.as_object_mut()?.remove("cloud");
    let mut met = Vec::new();
    let mut flows = apart["flows"].as_array()?.clone();
    flows.retain(|flow| {
        let ends = [&flow["from"], &flow["to"]].map(|end| end.as_str().unwrap_or_default().to_owned());
        let is_apart = ends.iter().all(|end| !met.contains(end));
        if is_apart {
            met.extend(ends);
        }
        is_apart
    });
    for (place, flow) in flows.iter_mut().enumerate() {
        flow["port"] = json!(40_000 + place);
        flow["transport"] = json!({ "protocol": "udp" });
        let application = flow["application"].as_object_mut()?;
        if ["codec", "game"].map(Value::from).contains(&application["kind"]) {
            *application = json!({ "kind": "cbr", "rate": "100 kb/s", "packet": "500 B" }).as_object()?.clone();
        }
        application.remove("jitter");
    }
    let number = flows.len();
    apart["flows"] = flows.into();
    (number > 1).then_some(apart)
}

/// Writes as many worlds as `HOPCAST_WORLDS` asks for, each with its result, to files in the folder `HOPCAST_WORLDS_TO`.
/// `tests/python/test_worlds.py` runs them again by Python and in other processes. They are the same each time.
#[test]
#[ignore = "tests/python/test_worlds.py asks for it"]
#[expect(clippy::print_stdout, reason = "a test without a folder says so")]
fn worlds_are_written_for_python() {
    let Some(folder) = std::env::var_os("HOPCAST_WORLDS_TO").map(PathBuf::from) else {
        return println!("skipped: HOPCAST_WORLDS_TO is not set");
    };
    let number = std::env::var("HOPCAST_WORLDS").map(|number| number.parse().expect("HOPCAST_WORLDS is a number"));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(number.unwrap_or(10)) };
    // The shares of `worlds_keep_every_promise` have other seeds.
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[1; 32]));
    let place = std::cell::Cell::new(0);
    let outcome = runner.run(&Worlds { wanted: None }, |world| {
        let scenario = draw::load(&world).expect("worlds are valid").scenario;
        let simulation = checked(&scenario)?;
        if simulation.now() >= simulation.end() {
            let result = run(&scenario, &Way { seeds: &[scenario.seed], threads: 1, folder: None }).remove(0);
            let result: Value = serde_json::from_str(&result.to_json()).expect("JSON");
            let text = toml::to_string(&world).expect("TOML");
            let path = folder.join(format!("{}.json", place.replace(place.get() + 1)));
            let texts = json!({ "world": world, "toml": text, "result": result }).to_string();
            fs::write(path, texts).expect("it can be written");
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// How a scenario runs.
struct Way<'a> {
    seeds: &'a [u64],
    threads: usize,
    /// Where captures and a recording go, if it has them.
    folder: Option<&'a Path>,
}

fn run(scenario: &Scenario, way: &Way<'_>) -> Vec<RunResult> {
    let selection = Selection::all(scenario);
    let captures = way.folder.map(|folder| (folder, &selection));
    let job = Job { scenario, seeds: way.seeds, threads: way.threads, captures, recordings: way.folder };
    let mut results = Vec::new();
    let outcome = execute(&job, &Control::new(), &(), |place, result| results.push((place, result)));
    assert_eq!(outcome.unwrap_or_else(|error| panic!("{error}")), Outcome::Finished);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The result as `run.json` has it, without what the machine took.
fn bytes(result: &RunResult) -> String {
    let mut json: Value = serde_json::from_str(&result.to_json()).expect("JSON");
    json.as_object_mut().expect("a table").remove("cost");
    json.to_string()
}

/// Worlds in which random worlds have found a defect, and whether they can run.
const FOUND: [(bool, &str); 7] = [
    // An access without a rate, whose queue is shorter than that of the interface: the writer never had to wait.
    (
        true,
        r#"{"duration": "20 ms", "nodes": [{"name": "a", "role": "wired"}, {"name": "b", "role": "wired", "access": {"queue": {"packets": 4}}}], "links": [{"between": ["a", "b"], "rate": "100 Mb/s"}], "flows": [{"name": "f", "from": "b", "to": "a", "transport": {"protocol": "udp"}, "application": {"kind": "bulk"}}]}"#,
    ),
    // The way back of a `via` over a link that leads one way only: it ended in a panic.
    (
        true,
        r#"{"duration": "150 ms", "seed": 701487583, "radio": {"standard": "802.11ac",
        "propagation": {"model": "two-ray-ground", "doppler": "50 Hz", "shadowing": "8.647340732595712 dB"},
        "noise_figure": "3.6897948234303426 dB"},
        "nodes": [{"name": "a", "count": 4, "placement": {"shape": "circle", "radius": "50 m"}, "relay": "application",
            "radios": [{"tx_power": "0 dBm"}, {"tx_power": "0 dBm"}]},
            {"name": "b", "count": 4, "placement": {"shape": "points",
                "at": [["202 m", "17 m"], ["34 m", "249 m"], ["169 m", "228 m"], ["142 m", "7 m"]]}},
            {"name": "c", "count": 4, "placement": {"shape": "points",
                "at": [["104 m", "52 m"], ["163 m", "287 m"], ["80 m", "136 m"], ["13 m", "298 m"]]}}],
        "links": [{"between": ["b3", "c0"], "rate": "100 Mb/s"}, {"between": ["a1", "b3"], "rate": "2 Mb/s"},
            {"between": ["a2", "b3"], "rate": "100 kb/s"}],
        "flows": [{"name": "f1", "from": "c3", "to": "a2", "transport": {"protocol": "rtp"}, "application": {"kind": "audio"}},
            {"name": "f3", "from": "c1", "to": "a0", "via": ["a1"], "transport": {"protocol": "tcp"},
            "application": {"kind": "game"}}]}"#,
    ),
    // A node that has neither radio nor wire, and a routing protocol, ended in a panic when its program wrote.
    (
        false,
        r#"{"duration": "20 ms", "nodes": [{"name": "a", "count": 4,
        "placement": {"shape": "uniform", "width": "50 m", "height": "5 m"}},
        {"name": "b", "count": 4, "role": "wired", "routing": {"protocol": "dsr"}}],
        "flows": [{"name": "f", "from": "b0", "to": "a0", "transport": {"protocol": "udp"},
            "application": {"kind": "file", "bytes": "5 kB"}}]}"#,
    ),
    // A relay without a routing protocol on the way of a flow from a node with one ended in a panic, if the next program was not its neighbour.
    (
        true,
        r#"{"duration": "50 ms", "nodes": [
            {"name": "a", "role": "wired", "routing": {"protocol": "olsr"}},
            {"name": "c", "count": 2, "role": "wired", "relay": "application"},
            {"name": "b", "role": "wired", "routing": {"protocol": "olsr"}}],
            "links": [{"between": ["a", "c0"], "rate": "1 Mb/s"}, {"between": ["c0", "c1"], "rate": "1 Mb/s"},
            {"between": ["c1", "b"], "rate": "1 Mb/s"}],
            "flows": [{"name": "f", "from": "a", "to": "b", "via": ["c0"], "transport": {"protocol": "tcp"},
            "application": {"kind": "bulk"}}]}"#,
    ),
    // Packets that were sent before the first one that arrived, and arrived later.
    (
        true,
        r#"{"duration": 0.3, "seed": 1011770862, "radio": {"standard": "802.11ax", "data_rate": "54 Mb/s"}, "nodes": [
            {"name": "a", "placement": {"shape": "points", "at": [[252, 85]]}},
            {"name": "b", "placement": {"shape": "circle", "radius": 180}},
            {"name": "c", "count": 4, "placement": {"shape": "points", "at": [[180, 13], [39, 151], [263, 212], [209, 143]]},
             "routing": {"protocol": "aodv"}}],
            "flows": [{"name": "f", "from": "c1", "to": "c2", "transport": {"protocol": "rtp"},
             "application": {"kind": "cbr", "rate": 20000, "packet": 3000}}]}"#,
    ),
    // A station of 802.11b that noticed frames of 802.11n, by the rules of ns-2, ended in a panic.
    (
        true,
        r#"{"duration": "20 ms", "radio": {"band": "2.4 GHz", "profile": "ns-2", "standard": "802.11n"}, "nodes": [
            {"name": "a", "count": 2, "placement": {"shape": "line", "spacing": 10}},
            {"name": "b", "placement": {"shape": "points", "at": [[5, 5]]}, "radios": [{"standard": "802.11b"}]}],
            "flows": [{"name": "f", "from": "a0", "to": "a1", "transport": {"protocol": "rtp"},
            "application": {"kind": "file", "bytes": "5 kB"}}]}"#,
    ),
    // Behind obstacles that amplify, by more than the range of powers: what was left of a sum that stayed at its limit was less than nothing.
    (
        true,
        r#"{"duration": "150 ms", "seed": 751146556, "radio": {"standard": "802.11a-turbo", "association": "passive",
        "carrier_sense_threshold": "-82 dBm",
        "obstacles": {"drift": {"decorrelation_time": "0.14089524119179128 s", "deviation": "24.29218014846908 dB"}},
        "propagation": {"model": "two-ray-ground", "decorrelation_distance": "112.91822090787271 m",
            "shadowing": "18.841723741558702 dB"}},
        "nodes": [{"name": "a", "count": 4, "placement": {"shape": "grid", "columns": 1, "spacing": "200 m"}, "radios": [{}, {}]},
            {"name": "b", "count": 2, "relay": "application", "placement": {"shape": "grid", "columns": 8, "spacing": "100 m"},
            "radios": [{}, {}]}],
        "flows": [{"name": "f1", "from": "a3", "to": "a1", "transport": {"protocol": "tcp"}, "application": {"kind": "game"}}]}"#,
    ),
];

#[test]
fn worlds_that_have_found_a_defect_keep_every_promise() {
    for (runs, text) in FOUND {
        let world: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(draw::is_valid(&world), runs, "{text}");
        if !runs {
            continue;
        }
        keeps_every_promise(&world, true).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}
