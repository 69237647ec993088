//! What was measured, as the simulator's `run` would tell it.

use std::collections::BTreeMap;
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::{FlowMetrics, FlowSummary, Sample};
use hopcast_sim::results::{
    Cost, FlowRecord, OutputError, Provenance, RunResult, RunSeries, Totals, write_tables, write_text,
};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::control::{Outcome, Samples};
use super::plan::{Case, FlowPlan};
use super::statistics::aggregate;

/// Figures of the sender's TCP that only the simulator's tells.
const UNKNOWN: [&str; 3] = ["retransmitted_segments", "timeouts", "fast_retransmits"];

/// One run of a case.
#[derive(Clone, Debug)]
pub struct Repetition {
    /// Its number, from 1.
    pub number: u64,
    /// What became of the flows, in their order.
    pub outcomes: Vec<Outcome>,
    /// What it took, in seconds.
    pub wall_s: f64,
}

/// All that was measured of a case.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// The case.
    pub case: &'a Case,
    /// Its runs; at least one.
    pub repetitions: Vec<Repetition>,
}

impl Measured<'_> {
    /// The object of `hopcast run --json`. Over several repetitions each number is the mean, and `<field>_ci95` stands beside it.
    pub fn document(&self) -> Value {
        aggregate(self.repetitions.iter().map(|repetition| self.one(repetition)).collect())
    }

    /// What went wrong, a line each.
    pub fn problems(&self) -> Vec<String> {
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
    pub fn write(&self, folder: &Path) -> Result<(), OutputError> {
        let results: Vec<RunResult> = self.repetitions.iter().map(|repetition| self.result(repetition)).collect();
        write_tables(folder, &results)?;
        let text = serde_json::to_string_pretty(&self.document()).expect("numbers that are none are null");
        write_text(&folder.join("run.json"), &(text + "\n"))
    }

    fn one(&self, repetition: &Repetition) -> Value {
        let flows = || self.case.flows.iter().zip(&repetition.outcomes);
        let reports = || repetition.outcomes.iter().filter_map(|outcome| outcome.report.as_ref());
        let summaries = |count: fn(&FlowSummary) -> u64| sum(reports().map(|report| count(&report.summary)));
        let (user_s, peak_rss_bytes) = usage();
        let mut document = json!({
            "flows": flows().map(|(flow, outcome)| row(flow, outcome)).collect::<Vec<_>>(),
            "nodes": nodes(self.case, repetition),
            "totals": {
                "packets_originated": summaries(|summary| summary.sent_packets),
                "packets_forwarded": sum(reports().flat_map(|report| &report.relays).map(|relay| relay.forwarded)),
                "packets_delivered": summaries(|summary| summary.received_packets),
                "packets_dropped": summaries(|summary| summary.lost_packets),
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

    /// As the simulator's tables take it.
    fn result(&self, repetition: &Repetition) -> RunResult {
        let flows = || self.case.flows.iter().zip(&repetition.outcomes);
        RunResult {
            flows: flows().map(|(flow, outcome)| record(flow, outcome)).collect(),
            nodes: Vec::new(),
            totals: Totals::default(),
            warnings: Vec::new(),
            cost: Cost::default(),
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION"),
                scenario_sha256: self.sha256(),
                seed: repetition.number,
            },
            series: series(flows().map(|(_, outcome)| outcome)),
        }
    }
}

/// What hosts have counted, added up: what they tell may be anything.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn record(flow: &FlowPlan, outcome: &Outcome) -> FlowRecord {
    let summary = match &outcome.report {
        Some(report) => report.summary.clone(),
        None => FlowMetrics::live().summary(Instant::START),
    };
    FlowRecord {
        name: flow.name.clone(),
        from: flow.source.name.clone(),
        to: flow.path.last().map_or_else(String::new, |host| host.name.clone()),
        protocol: flow.protocol.name(),
        summary,
    }
}

fn row(flow: &FlowPlan, outcome: &Outcome) -> Value {
    let mut row = serde_json::to_value(record(flow, outcome)).expect("a record is plain");
    for field in UNKNOWN {
        row[field] = Value::Null;
    }
    row["clock_offset_s"] = outcome.clock_offset_s.into();
    row["clock_uncertainty_s"] = outcome.clock_uncertainty_s.into();
    row["garbage_packets"] = outcome.report.as_ref().map_or(0, |report| report.garbage).into();
    row
}

/// What each host of the case has counted, by its name.
fn nodes(case: &Case, repetition: &Repetition) -> Vec<Value> {
    #[derive(Default)]
    struct Node {
        originated: u64,
        received: u64,
        forwarded: u64,
        delivered: u64,
        garbage: u64,
    }
    let mut nodes: BTreeMap<&str, Node> = BTreeMap::new();
    for (flow, outcome) in case.flows.iter().zip(&repetition.outcomes) {
        let Some(report) = &outcome.report else { continue };
        let summary = &report.summary;
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        add(&mut nodes.entry(&flow.source.name).or_default().originated, summary.sent_packets);
        for (host, relayed) in flow.path.iter().zip(&report.relays) {
            let node = nodes.entry(&host.name).or_default();
            add(&mut node.received, relayed.received);
            add(&mut node.forwarded, relayed.forwarded);
            add(&mut node.garbage, relayed.garbage);
        }
        if let Some(end) = flow.path.last() {
            let node = nodes.entry(&end.name).or_default();
            add(&mut node.received, summary.received_packets.saturating_add(summary.duplicate_packets));
            add(&mut node.delivered, summary.received_packets);
            add(&mut node.garbage, report.garbage);
        }
    }
    let object = |(name, node): (&str, Node)| {
        json!({
            "name": name,
            "originated": node.originated,
            "received": node.received,
            "forwarded": node.forwarded,
            "delivered": node.delivered,
            "garbage": node.garbage,
        })
    };
    nodes.into_iter().map(object).collect()
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
    lines
}

/// The samples of all flows, in the widest of their intervals.
fn series<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> RunSeries {
    let mut all: Vec<Samples> =
        outcomes.map(|outcome| outcome.report.as_ref().map_or_else(Samples::default, |r| r.samples.clone())).collect();
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

/// User CPU seconds of this process, and its largest resident set in octets.
fn usage() -> (Option<f64>, Option<u64>) {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (None, None) };
    // getrusage(2) counts in kilobytes of 1024.
    let peak = u64::try_from(usage.max_rss()).ok().map(|kilobytes| kilobytes * 1024);
    (Some(usage.user_time().num_microseconds() as f64 * 1e-6), peak)
}
