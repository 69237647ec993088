//! A run of `hopcast probe send` as a recording for `hopcast view`: how many units each hop has carried and lost, rate and delay.
//!
//! What is known comes once a second, in reports; rates and delays come at the end, in intervals. It waits in memory, which has room for
//! 1024 reports of a flow. Where there are more, every second one is left out.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopcast_protocols::time::Instant;
use hopcast_sim::metrics::Series;
use hopcast_sim::record::{Carried, Flow, Measured, Measurement, Node};
use hopcast_sim::results::OutputError;

use super::control::{Outcome, Report};
use super::plan::{Case, FlowPlan};

/// The most reports of a flow that are kept.
const MOST_REPORTS: usize = 1_024;

/// How the flows of one run go.
#[derive(Debug)]
pub(crate) struct Progress {
    /// When the flows began.
    began: Mutex<Option<Instant>>,
    flows: Vec<Mutex<Reports>>,
}

/// The reports of a flow.
#[derive(Debug)]
struct Reports {
    kept: Vec<(Instant, Counts)>,
    /// One of this number is kept.
    stride: u64,
    seen: u64,
}

/// Units of a flow at each host of its path: the source, the relays, the receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Counts {
    /// Units that the source has sent, as far as the receiver knows.
    sent: u64,
    /// By relay: units received and passed on.
    relays: Vec<[u64; 2]>,
    received: u64,
    lost: u64,
}

impl Progress {
    /// Of the flows of `case`.
    pub(crate) fn new(case: &Case) -> Self {
        let reports = || Mutex::new(Reports { kept: Vec::new(), stride: 1, seen: 0 });
        Self { began: Mutex::default(), flows: case.flows.iter().map(|_| reports()).collect() }
    }

    /// The flows begin.
    pub(crate) fn begin(&self, now: Instant) {
        lock(&self.began).get_or_insert(now);
    }

    /// What is known of a flow now, by its place.
    pub(crate) fn look(&self, flow: usize, outcome: &Outcome, now: Instant) {
        let Some((report, reports)) = outcome.report.as_ref().zip(self.flows.get(flow)) else { return };
        lock(reports).push(self.since_start(now), Counts::of(report));
    }

    /// The time of the run.
    fn since_start(&self, now: Instant) -> Instant {
        let began = lock(&self.began).unwrap_or(now);
        Instant::from_nanos(now.saturating_since(began).as_nanos())
    }

    /// Writes the recording of the run with this number, which had these outcomes and ended at `end`, into `folder`.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub(crate) fn write(
        &self,
        folder: &Path,
        number: u64,
        case: &Case,
        outcomes: &[Outcome],
        end: Instant,
    ) -> Result<(), OutputError> {
        let mut measured = Measured::create(folder, "probe send", number)?;
        let mut names: Vec<&str> = Vec::new();
        for plan in &case.flows {
            for host in std::iter::once(&plan.source).chain(&plan.path) {
                if !names.contains(&host.name.as_str()) {
                    names.push(&host.name);
                }
            }
        }
        let nodes: Vec<(&str, Node)> = names.into_iter().map(|name| (name, measured.add_node(name))).collect();
        let node = |name: &str| nodes.iter().find(|(one, _)| *one == name).map_or(Node::NONE, |(_, node)| *node);
        let end = self.since_start(end);
        let mut samples = Vec::new();
        for ((plan, outcome), reports) in case.flows.iter().zip(outcomes).zip(&self.flows) {
            let hosts = std::iter::once(&plan.source).chain(&plan.path);
            let mut hosts: Vec<Node> = hosts.map(|host| node(&host.name)).collect();
            let mut kept = lock(reports).kept.clone();
            kept.extend(outcome.report.as_ref().map(|report| (end, Counts::of(report))));
            let relays = kept.last().map_or(0, |(_, counts)| counts.relays.len());
            // Hosts behind a relay that passes on by itself are not in the plan.
            let last = plan.path.last().map_or("", |host| &host.name);
            while hosts.len() < relays + 2 {
                hosts.push(measured.add_node(format!("{last}+{}", hosts.len() - plan.path.len())));
            }
            let (Some(&from), Some(&to)) = (hosts.first(), hosts.get(relays + 1)) else { continue };
            let flow = measured.add_flow(Carried { name: plan.name.clone(), from, to, protocol: plan.protocol.name() });
            if let Some(report) = &outcome.report {
                add_samples(&mut measured, report, plan, (flow, to), &mut samples);
            }
            let mut series = |name, panel, node| {
                measured.add_series(Measurement { name, unit: "units", panel, node: Some(node), flow: Some(flow) })
            };
            let sent: Vec<_> = hosts[..=relays].iter().map(|&node| series("sent", "units", node)).collect();
            let received: Vec<_> = hosts[1..relays + 2].iter().map(|&node| series("received", "units", node)).collect();
            // What a host has sent and the next has not received: lost, or on its way.
            let missing: Vec<_> =
                hosts[1..relays + 2].iter().map(|&node| series("missing before", "missing", node)).collect();
            let lost = series("lost on the path", "missing", to);
            for (time, counts) in &kept {
                for (hop, [sent_there, received_there]) in counts.hops().into_iter().enumerate() {
                    let behind = sent_there.saturating_sub(received_there);
                    let values = [(&sent, sent_there), (&received, received_there), (&missing, behind)];
                    samples.extend(
                        values
                            .into_iter()
                            .filter_map(|(series, value)| Some((*time, (*series.get(hop)?)?, value as f64))),
                    );
                }
                samples.extend(lost.map(|series| (*time, series, counts.lost as f64)));
            }
        }
        samples.sort_by_key(|&(time, series, _)| (time, series));
        samples.into_iter().try_for_each(|(time, series, value)| measured.sample(time, series, value))?;
        let before: Vec<u64> = (1..=number).collect();
        measured.commit(end, &before)
    }
}

/// Rate and delay at the receiver, in the intervals of the last report.
fn add_samples(
    measured: &mut Measured,
    report: &Report,
    plan: &FlowPlan,
    (flow, to): (Flow, Node),
    samples: &mut Vec<(Instant, usize, f64)>,
) {
    let doublings = report.samples.doublings.min(40);
    let interval = Series::MIN_INTERVAL.as_nanos() << doublings;
    let mut series =
        |name, unit, panel| measured.add_series(Measurement { name, unit, panel, node: Some(to), flow: Some(flow) });
    let (rate, delay) = (series("rate", "b/s", "rate"), series("one-way delay", "s", "delay"));
    // As many as a receiver that keeps to its bound tells of.
    let intervals = report.samples.intervals.iter().take(Series::MAX_SAMPLES as usize);
    for (&[octets, units, delays], place) in intervals.zip(1..) {
        let time = Instant::from_nanos(interval.saturating_mul(place));
        let octets = octets.min(plan.bytes);
        samples.extend(rate.map(|series| (time, series, octets as f64 * 8.0 / (interval as f64 * 1e-9))));
        let mean = (units > 0).then(|| delays as f64 * 1e-9 / units as f64);
        samples.extend(delay.zip(mean).map(|(series, mean)| (time, series, mean)));
    }
}

impl Reports {
    fn push(&mut self, time: Instant, counts: Counts) {
        if self.seen.is_multiple_of(self.stride) {
            self.kept.push((time, counts));
        }
        self.seen += 1;
        if self.kept.len() >= MOST_REPORTS {
            let mut place = 0_usize;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
    }
}

impl Counts {
    fn of(report: &Report) -> Self {
        Self {
            sent: report.summary.sent_packets,
            relays: report.relays.iter().map(|relay| [relay.received, relay.forwarded]).collect(),
            received: report.summary.received_packets + report.summary.duplicate_packets,
            lost: report.summary.lost_packets,
        }
    }

    /// By hop: what was sent at its beginning, and what was received at its end.
    fn hops(&self) -> Vec<[u64; 2]> {
        let sent = std::iter::once(self.sent).chain(self.relays.iter().map(|&[_, forwarded]| forwarded));
        let received = self.relays.iter().map(|&[received, _]| received).chain([self.received]);
        sent.zip(received).map(|(sent, received)| [sent, received]).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Plain data, which no panic leaves half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hop_is_counted_between_two_hosts() {
        let counts = Counts { sent: 100, relays: vec![[98, 97], [95, 95]], received: 90, lost: 10 };
        assert_eq!(counts.hops(), [[100, 98], [97, 95], [95, 90]]);
    }

    #[test]
    fn of_many_reports_every_second_one_is_left_out() {
        let mut reports = Reports { kept: Vec::new(), stride: 1, seen: 0 };
        for second in 0..100_000 {
            let counts = Counts { sent: second, relays: Vec::new(), received: 0, lost: 0 };
            reports.push(Instant::from_nanos(second), counts);
            assert!(reports.kept.len() < MOST_REPORTS);
        }
        assert_eq!(reports.stride, 128);
        assert!(reports.kept.iter().enumerate().all(|(place, (_, counts))| counts.sent == place as u64 * 128));
    }
}
