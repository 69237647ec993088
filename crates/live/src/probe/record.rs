//! Results in the format of the simulator's `run`.

use std::collections::BTreeMap;
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::{FlowMetrics, FlowSummary, Sample};
use hopcast_sim::results::dictionary::{allow_means, described};
use hopcast_sim::results::{
    Cost, FlowRecord, OutputError, Provenance, RunResult, RunSeries, Totals, write_tables, write_text,
};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::control::{Outcome, Report, Samples};
use super::plan::{Case, FlowPlan, Host};
use super::statistics::aggregate;

/// Figures of the sender's TCP and of the ways of packets that only the simulator tells.
const UNKNOWN: [&str; 10] = [
    "retransmitted_segments",
    "timeouts",
    "fast_retransmits",
    "ecn_reductions",
    "marked_segments",
    "route_changes",
    "hops_mean",
    "hops_max",
    "feedback_packets",
    "feedback_bytes",
];

/// One run of a case.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// Its number, from 1.
    pub number: u64,
    /// Results of the flows, in their order.
    pub outcomes: Vec<Outcome>,
    /// Duration in seconds.
    pub wall_s: f64,
}

/// All measurements of a case.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its runs; at least one.
    pub repetitions: Vec<Repetition>,
}

impl Measured<'_> {
    /// The object of `hopcast run --json`. With several repetitions each number is the mean, and `<field>_ci95` next to
    /// it is half the width of its interval.
    pub(crate) fn document(&self) -> Value {
        aggregate(self.repetitions.iter().map(|repetition| self.one(repetition)).collect())
    }

    /// What went wrong, a line each.
    pub(crate) fn problems(&self) -> Vec<String> {
        let outcomes = self.repetitions.iter().flat_map(|repetition| self.case.flows.iter().zip(&repetition.outcomes));
        let mut lines = Vec::new();
        for (flow, outcome) in outcomes {
            let line = outcome.problem.as_ref().map(|problem| format!("{}: {problem}", flow.name));
            lines.extend(line.filter(|line| !lines.contains(line)));
        }
        lines
    }

    /// Writes `run.json` and the tables to `folder`, which must be there.
    ///
    /// # Errors
    ///
    /// The first file that could not be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), OutputError> {
        let results: Vec<RunResult> = self.repetitions.iter().map(|repetition| self.result(repetition)).collect();
        write_tables(folder, &results)?;
        let text = serde_json::to_string_pretty(&self.document()).expect("numbers that are none are null");
        write_text(&folder.join("run.json"), &(text + "\n"))
    }

    fn one(&self, repetition: &Repetition) -> Value {
        let flows = || self.case.flows.iter().zip(&repetition.outcomes);
        // Of all flows, or else there are none.
        let reports: Option<Vec<&Report>> = repetition.outcomes.iter().map(|outcome| outcome.report.as_ref()).collect();
        let total = |count: fn(&Report) -> u64| reports.as_ref().map(|reports| sum(reports.iter().map(|&r| count(r))));
        let (user_s, peak_rss_bytes) = usage();
        let mut document = json!({
            "flows": flows().map(|(flow, outcome)| row(flow, outcome)).collect::<Vec<_>>(),
            "nodes": nodes(self.case, repetition),
            "totals": {
                "packets_originated": total(|report| report.summary.sent_packets),
                "packets_forwarded": total(|report| sum(report.relays.iter().map(|relay| relay.forwarded))),
                "packets_delivered": total(|report| report.summary.received_packets),
                "packets_dropped": total(|report| report.summary.lost_packets),
            },
            "cost": {
                "events": null,
                "wall_s": repetition.wall_s,
                "user_s": user_s,
                "simulated_s": null,
                "peak_rss_bytes": peak_rss_bytes,
            },
            "provenance": {
                "version": env!("CARGO_PKG_VERSION"),
                "scenario_sha256": self.sha256(),
                "seed": repetition.number,
                "kind": "measured",
            },
        });
        let warnings: Vec<String> = flows().flat_map(|(flow, outcome)| warnings(flow, outcome)).collect();
        if !warnings.is_empty() {
            document["warnings"] = warnings.into();
        }
        document
    }

    /// Of the case as it was planned.
    fn sha256(&self) -> String {
        let planned = serde_json::to_vec(self.case).expect("a plan is plain");
        Sha256::digest(planned).iter().map(|octet| format!("{octet:02x}")).collect()
    }

    /// As the simulator's tables take it. A flow of which nothing is known has no row there.
    fn result(&self, repetition: &Repetition) -> RunResult {
        let flows = || self.case.flows.iter().zip(&repetition.outcomes);
        let reports = || flows().filter_map(|(flow, outcome)| Some((flow, outcome.report.as_ref()?)));
        RunResult {
            flows: reports().map(|(flow, report)| record(flow, report.summary.clone())).collect(),
            nodes: Vec::new(),
            totals: Totals::default(),
            conversations: None,
            cloud: None,
            warnings: Vec::new(),
            cost: Cost::default(),
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION"),
                scenario_sha256: self.sha256(),
                seed: repetition.number,
            },
            series: series(reports().map(|(_, report)| report)),
        }
    }
}

/// What hosts have counted, added up: what they tell may be anything.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn record(flow: &FlowPlan, summary: FlowSummary) -> FlowRecord {
    FlowRecord {
        name: flow.name.clone(),
        from: flow.source.name.clone(),
        to: flow.path.last().map_or_else(String::new, |host| host.name.clone()),
        protocol: flow.protocol.name(),
        // The kernel's TCP tells nobody.
        summary: FlowSummary { tcp: None, ..summary },
    }
}

fn row(flow: &FlowPlan, outcome: &Outcome) -> Value {
    let report = outcome.report.as_ref();
    let summary = report.map_or_else(|| FlowMetrics::live().summary(Instant::START), |report| report.summary.clone());
    let mut row = serde_json::to_value(record(flow, summary)).expect("a record is plain");
    for field in UNKNOWN {
        row[field] = Value::Null;
    }
    let measured = MeasuredFlow {
        clock_offset_s: outcome.clock_offset_s,
        clock_uncertainty_s: outcome.clock_uncertainty_s,
        garbage_packets: report.map_or(0, |report| report.garbage),
        overflowed_packets: report.map_or(0, |report| report.overflowed),
    };
    let Value::Object(measured) = serde_json::to_value(measured).expect("a record is plain") else { unreachable!() };
    row.as_object_mut().expect("a record is an object").extend(measured);
    if report.is_none() {
        let figures =
            row.as_object_mut().into_iter().flat_map(|row| row.values_mut()).filter(|value| value.is_number());
        figures.for_each(|figure| *figure = Value::Null);
    }
    row
}

/// What a flow between real hosts has next to the fields of a simulated one.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
struct MeasuredFlow {
    /// The receiver's clock minus the source's. hopcast has subtracted it from the delays.
    clock_offset_s: f64,
    /// Largest error of that offset, and so of each delay.
    clock_uncertainty_s: f64,
    /// Arrivals that were not units of this flow.
    #[schemars(extend("x-counted" = "at the sink"))]
    garbage_packets: u64,
    /// Datagrams that arrived and found no room in the socket, so that the path has not lost them.
    #[schemars(extend("x-counted" = "at the sink"))]
    overflowed_packets: u64,
}

/// A real host. Numbers are `None` if it carries a flow of which there is no report.
#[derive(Clone, Debug, JsonSchema, Serialize)]
struct MeasuredNode {
    /// Name of the host. Relays that pass on by themselves are not named in the plan: the first behind `b` is `b+1`.
    name: String,
    /// Units that this host wrote as a source.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the source"))]
    originated: Option<u64>,
    /// Units that it read, to pass them on or as the receiver; copies included.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop"))]
    received: Option<u64>,
    /// Units that it passed on.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each relay"))]
    forwarded: Option<u64>,
    /// Units that it read as the receiver, each once.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    delivered: Option<u64>,
    /// Arrivals that were not units of its flows.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop"))]
    garbage: Option<u64>,
    /// Datagrams for which its sockets had no room.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at each hop"))]
    overflowed: Option<u64>,
}

/// Where the numbers come from.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is needed")]
struct Origin {
    /// `measured`.
    kind: String,
}

/// What a measurement has not.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is needed")]
struct NotSimulated {
    /// `null`: nothing is simulated.
    #[schemars(extend("x-unit" = "events"))]
    events: Option<u64>,
    /// `null`: nothing is simulated.
    simulated_s: Option<f64>,
}

/// What a measurement adds to the fields of a run, or has in their place.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is needed")]
struct Addition {
    /// Flows; they have the fields of a simulated flow as well.
    flows: Vec<MeasuredFlow>,
    /// Hosts; they have these fields only.
    nodes: Vec<MeasuredNode>,
    /// Cost of the measurement; it has the fields of a run as well.
    cost: NotSimulated,
    /// Identity of the measurement; it has the fields of a run as well. The seed is the number of the repetition, from 1, and the
    /// SHA-256 that of the plan.
    provenance: Origin,
}

/// The JSON Schema of what a measurement adds to the fields of a run.
pub(crate) fn schema() -> Value {
    let mut schema = described::<Addition>();
    for name in ["flows", "nodes"] {
        allow_means(&mut schema["properties"][name]);
    }
    schema
}

/// What each host of the case has counted, by its name; null where a flow has come there of which there is no report.
fn nodes(case: &Case, repetition: &Repetition) -> Vec<Value> {
    #[derive(Default)]
    struct Node {
        is_unknown: bool,
        originated: u64,
        received: u64,
        forwarded: u64,
        delivered: u64,
        garbage: u64,
        overflowed: u64,
    }
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    for (flow, outcome) in case.flows.iter().zip(&repetition.outcomes) {
        let Some(report) = &outcome.report else {
            let hosts = core::iter::once(&flow.source).chain(&flow.path);
            hosts.for_each(|host| nodes.entry(host.name.clone()).or_default().is_unknown = true);
            continue;
        };
        let summary = &report.summary;
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        add(&mut nodes.entry(flow.source.name.clone()).or_default().originated, summary.sent_packets);
        for (place, relayed) in report.relays.iter().enumerate() {
            let node = nodes.entry(name_on_path(flow, place)).or_default();
            add(&mut node.received, relayed.received);
            add(&mut node.forwarded, relayed.forwarded);
            add(&mut node.garbage, relayed.garbage);
            add(&mut node.overflowed, relayed.overflowed);
        }
        let end = nodes.entry(name_on_path(flow, end_of_path(flow, report))).or_default();
        add(&mut end.received, summary.received_packets.saturating_add(summary.duplicate_packets));
        add(&mut end.delivered, summary.received_packets);
        add(&mut end.garbage, report.garbage);
        add(&mut end.overflowed, report.overflowed);
    }
    let object = |(name, node): (String, Node)| {
        let known = |count: u64| (!node.is_unknown).then_some(count);
        let record = MeasuredNode {
            name,
            originated: known(node.originated),
            received: known(node.received),
            forwarded: known(node.forwarded),
            delivered: known(node.delivered),
            garbage: known(node.garbage),
            overflowed: known(node.overflowed),
        };
        serde_json::to_value(record).expect("a record is plain")
    };
    nodes.into_iter().map(object).collect()
}

/// The host at a place behind the source. Hosts to which relays pass on by themselves are not named in the plan: the first behind
/// `b` is `b+1`.
fn name_on_path(flow: &FlowPlan, place: usize) -> String {
    let behind = |last: &Host| format!("{}+{}", last.name, place + 1 - flow.path.len());
    flow.path.get(place).map_or_else(|| flow.path.last().map_or_else(String::new, behind), |host| host.name.clone())
}

/// The receiver's place: relays that pass on by themselves may lead beyond the plan's path.
fn end_of_path(flow: &FlowPlan, report: &Report) -> usize {
    report.relays.len().max(flow.path.len().saturating_sub(1))
}

fn warnings(flow: &FlowPlan, outcome: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let Some(problem) = &outcome.problem {
        lines.push(format!("{}: {problem}; this is what was known before", flow.name));
    }
    let delay = outcome.report.as_ref().and_then(|report| report.summary.delay_mean_s);
    if delay.is_some_and(|delay| delay < outcome.clock_uncertainty_s) {
        lines.push(format!(
            "{}: its delays are shorter than what the two clocks are known to ({:.3} ms)",
            flow.name,
            outcome.clock_uncertainty_s * 1e3
        ));
    }
    if let Some(report) = &outcome.report {
        let end = end_of_path(flow, report);
        let relays = report.relays.iter().map(|relayed| relayed.overflowed).enumerate();
        for (place, count) in relays.chain([(end, report.overflowed)]).filter(|&(_, count)| count > 0) {
            lines.push(format!(
                "{}: {count} datagrams came to {} and found no room in its socket: the host did not read as fast, and the path has not \
                 lost them; a larger --socket-buffer or a --wait may help",
                flow.name,
                name_on_path(flow, place),
            ));
        }
    }
    lines
}

/// The samples of all flows, in the widest of their intervals.
fn series<'a>(reports: impl Iterator<Item = &'a Report>) -> RunSeries {
    let mut all: Vec<Samples> = reports.map(|report| report.samples.clone()).collect();
    let doublings = all.iter().map(|samples| samples.doublings).max().unwrap_or_default().min(32);
    let interval = Duration::from_nanos(Duration::from_millis(100).as_nanos() << doublings);
    let mut flows = Vec::new();
    for samples in &mut all {
        while samples.doublings < doublings {
            samples.double();
        }
        let at = |index: usize| Instant::from_nanos(interval.as_nanos().saturating_mul(index as u64 + 1));
        let sample = |(index, &[received_bytes, arrivals, delay]): (usize, &[u64; 3])| Sample {
            time: at(index),
            received_bytes,
            arrivals: u32::try_from(arrivals).unwrap_or(u32::MAX),
            delay_sum: Duration::from_nanos(delay),
            ..Sample::default()
        };
        flows.push(samples.intervals.iter().enumerate().map(sample).collect());
    }
    let mut series = RunSeries::default();
    series.interval = interval;
    series.flows = flows;
    series
}

/// User CPU seconds of this process, and its largest resident set in bytes.
fn usage() -> (Option<f64>, Option<u64>) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (None, None) };
    // getrusage(2) counts in kilobytes of 1024.
    let peak = u64::try_from(usage.max_rss()).ok().map(|kilobytes| kilobytes * 1024);
    (Some(usage.user_time().num_microseconds() as f64 * 1e-6), peak)
}

#[cfg(test)]
mod tests {
    use super::super::control::Relayed;
    use super::super::plan::Protocol;
    use super::*;

    fn flow(name: &str, path: &[&str]) -> FlowPlan {
        let host = |name: &&str| Host { name: (*name).into(), address: (*name).into() };
        let mut hosts = path.iter().map(host);
        FlowPlan {
            name: name.into(),
            source: hosts.next().expect("a path has a source"),
            path: hosts.collect(),
            protocol: Protocol::Tcp,
            size: 1000,
            wait: 0,
            bytes: 1_000_000,
            socket_buffer: None,
        }
    }

    /// A flow of which `delivered` units arrived over relays that forwarded these numbers of units.
    fn reported(delivered: u64, relays: &[u64]) -> Outcome {
        let summary = FlowMetrics::live().summary(Instant::START);
        let summary = FlowSummary { sent_packets: 10, received_packets: delivered, goodput_bps: 8e3, ..summary };
        let relays = relays
            .iter()
            .map(|&forwarded| Relayed { received: forwarded, forwarded, garbage: 1, overflowed: 2 })
            .collect();
        let report = Report { summary, samples: Samples::default(), garbage: 0, overflowed: 3, relays, is_final: true };
        Outcome { report: Some(report), ..Outcome::default() }
    }

    fn measured(case: &Case, outcomes: Vec<Vec<Outcome>>) -> Measured<'_> {
        let repetition = |(outcomes, number)| Repetition { number, outcomes, wall_s: 1.0 };
        Measured { case, repetitions: outcomes.into_iter().zip(1..).map(repetition).collect() }
    }

    fn node<'a>(document: &'a Value, name: &str) -> &'a Value {
        let nodes = document["nodes"].as_array().expect("a list");
        nodes.iter().find(|node| node["name"] == name).unwrap_or_else(|| panic!("{name} is not among {nodes:?}"))
    }

    #[test]
    fn what_no_report_tells_is_null_and_in_no_mean() {
        let case = Case { name: "x".into(), flows: vec![flow("a", &["n1", "n2"]), flow("b", &["n3", "n2", "n4"])] };
        let both = || vec![reported(10, &[]), reported(4, &[5])];
        let first = vec![Outcome::default(), reported(4, &[5])];
        let document = measured(&case, vec![first.clone()]).document();
        let (a, b) = (&document["flows"][0], &document["flows"][1]);
        assert_eq!((&a["name"], &a["to"], &b["goodput_bps"]), (&json!("a"), &json!("n2"), &json!(8e3)));
        let figures = a.as_object().expect("an object").values().filter(|value| !value.is_string());
        assert!(figures.clone().count() > 20 && figures.clone().all(Value::is_null), "{a}");
        assert!(UNKNOWN.iter().all(|field| b[field].is_null()));
        assert_eq!(
            (&node(&document, "n3")["originated"], &node(&document, "n4")["delivered"]),
            (&json!(10), &json!(4))
        );
        assert!(node(&document, "n1")["originated"].is_null() && node(&document, "n2")["forwarded"].is_null());
        assert!(document["totals"].as_object().expect("an object").values().all(Value::is_null));

        let document = measured(&case, vec![first, both(), both()]).document();
        let a = &document["flows"][0];
        assert_eq!((&a["goodput_bps"], &a["goodput_bps_ci95"]), (&json!(8e3), &json!(0.0)));
        assert_eq!((&a["sent_packets"], &document["totals"]["packets_delivered"]), (&json!(10.0), &json!(14.0)));
        assert_eq!(
            (&node(&document, "n2")["forwarded"], &node(&document, "n2")["delivered"]),
            (&json!(5.0), &json!(10.0))
        );
        assert_eq!(node(&document, "n4")["delivered"], 4.0);
    }

    #[test]
    fn tables_have_rows_of_what_is_known_and_nothing_of_the_kernels_tcp() {
        let case = Case { name: "x".into(), flows: vec![flow("a", &["n1", "n2"]), flow("b", &["n1", "n2"])] };
        let measured = measured(&case, vec![vec![Outcome::default(), reported(4, &[])]]);
        let result = measured.result(&measured.repetitions[0]);
        assert_eq!((result.flows.len(), result.series.flows.len()), (1, 1));
        assert_eq!((&*result.flows[0].name, result.flows[0].summary.tcp), ("b", None));
    }

    #[test]
    fn hosts_that_relays_know_themselves_have_names_of_their_own() {
        let case = Case { name: "x".into(), flows: vec![flow("a", &["here", "r1"])] };
        // The relay passes on to another one, and that to the receiver.
        let document = measured(&case, vec![vec![reported(7, &[9, 8])]]).document();
        let counts =
            |name: &str| ["received", "forwarded", "delivered"].map(|count| node(&document, name)[count].clone());
        assert_eq!(counts("r1"), [json!(9), json!(9), json!(0)]);
        assert_eq!(counts("r1+1"), [json!(8), json!(8), json!(0)]);
        assert_eq!(counts("r1+2"), [json!(7), json!(0), json!(7)]);
        assert_eq!(document["nodes"].as_array().map(Vec::len), Some(4));
        // A path that broke before its end has its receiver all the same.
        let case = Case { name: "x".into(), flows: vec![flow("a", &["here", "r1", "r2", "end"])] };
        let document = measured(&case, vec![vec![reported(7, &[9])]]).document();
        assert_eq!(node(&document, "end")["delivered"], 7);
    }
}
