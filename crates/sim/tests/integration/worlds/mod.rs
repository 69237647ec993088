//! Random worlds: what holds for any scenario, whatever it is made of.

mod draw;
mod keys;
mod shrink;
mod vocabulary;

use std::fs;
use std::path::PathBuf;
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
    // Few worlds have them.
    assert!(number < 2_000 || unordered > 0, "no world has flows in no order");
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
    let folder = Folder::new();
    let recorded = run(scenario, &Way { seeds: &[scenario.seed], threads: 1, folder: Some(&folder.0) });
    prop_assert_eq!(&bytes(&recorded[0]), &found, "captures and recording matter");
    let toml = Source { text: toml::to_string(world).expect("TOML"), name: "world".into(), ..Source::default() };
    let toml = Scenario::parse(&toml, &[]).map_err(|errors| TestCaseError::fail(errors.to_string()))?.scenario;
    let both = run(&toml, &Way { seeds: &[scenario.seed, scenario.seed], threads: 2, folder: None });
    for result in &both {
        prop_assert_eq!(&bytes(result), &found, "threads or TOML matter");
    }
    let is_unordered = has_flows_in_no_order(world, scenario);
    if is_unordered {
        let mut turned = world.clone();
        let flows = turned["flows"].as_array_mut().expect("flows");
        for (place, flow) in flows.iter_mut().enumerate() {
            flow["port"] = json!(40_000 + place);
        }
        let straight = draw::load(&turned).expect("only ports are new").scenario;
        turned["flows"].as_array_mut().expect("flows").reverse();
        let turned = draw::load(&turned).expect("the same flows").scenario;
        let [straight, turned] = [straight, turned].map(|scenario| {
            let mut results = run(&scenario, &Way { seeds: &[scenario.seed], threads: 1, folder: None });
            let mut flows = results.remove(0).flows;
            flows.sort_by(|one, other| one.name.cmp(&other.name));
            flows.into_iter().map(|flow| (flow.name, flow.summary)).collect::<Vec<_>>()
        });
        prop_assert_eq!(straight, turned, "the order of flows matters");
    }
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

/// Whether no two flows meet at a node and none draws random numbers: then their order in the file is no order in time.
fn has_flows_in_no_order(world: &Value, scenario: &Scenario) -> bool {
    let mut ends: Vec<u32> = scenario.flows.iter().flat_map(|flow| [flow.from.0, flow.to.0]).collect();
    ends.sort_unstable();
    let number = ends.len();
    ends.dedup();
    let is_fixed = world["flows"].as_array().into_iter().flatten().all(|flow| {
        let application = &flow["application"];
        let kind = application["kind"].as_str().unwrap_or_default();
        let draws = ["codec", "game"].contains(&kind) || application.get("jitter").is_some();
        !draws && flow["transport"]["protocol"] == "udp"
    });
    scenario.flows.len() > 1 && ends.len() == number && is_fixed && scenario.cloud.is_none()
}

/// How a scenario runs.
struct Way<'a> {
    seeds: &'a [u64],
    threads: usize,
    /// Where captures and a recording go, if it has them.
    folder: Option<&'a PathBuf>,
}

fn run(scenario: &Scenario, way: &Way<'_>) -> Vec<RunResult> {
    let folder = way.folder.map(PathBuf::as_path);
    let selection = Selection::all(scenario);
    let captures = folder.map(|folder| (folder, &selection));
    let job = Job { scenario, seeds: way.seeds, threads: way.threads, captures, recordings: folder };
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

/// A folder that is removed with what is in it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let thread = format!("{:?}", std::thread::current().id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("worlds-{}-{thread}", std::process::id()));
        fs::create_dir_all(&path).expect("the target folder can be written");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What remains does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Worlds in which random worlds have found a defect, and whether they can run.
const FOUND: [(bool, &str); 6] = [
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
