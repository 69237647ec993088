//! Series of a recording: how flows, queues and rates develop, as in `series.parquet`.

use hopcast_protocols::time::{Duration, Instant};
use serde_json::{Value, json};

use crate::metrics::Sample;
use crate::results::RunResult;

/// What a flow's sample of an interval says, which began at an instant.
pub(super) type Reading = fn(&Sample, Instant) -> Option<f64>;

/// Name, unit, panel and reading of the series of a flow.
pub(super) const OF_FLOWS: [(&str, &str, &str, Reading); 7] = [
    ("rate", "b/s", "rate", |sample, start| {
        let time = sample.time.saturating_since(start).as_secs_f64();
        (time > 0.0).then(|| sample.received_bytes as f64 * 8.0 / time)
    }),
    ("target rate", "b/s", "rate", |sample, _| sample.control.map(|control| control.rate)),
    ("cwnd", "B", "window", |sample, _| nonzero(sample.cwnd)),
    ("ssthresh", "B", "window", |sample, _| nonzero(sample.ssthresh)),
    ("delay", "s", "delay", |sample, _| {
        (sample.arrivals > 0).then(|| sample.delay_sum.as_secs_f64() / f64::from(sample.arrivals))
    }),
    ("srtt", "s", "delay", |sample, _| (sample.srtt > Duration::ZERO).then(|| sample.srtt.as_secs_f64())),
    ("loss event rate", "1", "state", |sample, _| sample.control.and_then(|control| control.loss_event_rate)),
];

fn nonzero(octets: u32) -> Option<f64> {
    // "Without a limit" is no place on a chart.
    (octets > 0 && octets < u32::MAX).then(|| f64::from(octets))
}

/// A flow's series, for `recording.json`.
pub(super) fn of_flow(flow: usize, name: &str, unit: &str, panel: &str) -> Value {
    json!({ "name": name, "unit": unit, "node": null, "flow": flow, "panel": panel })
}

/// The series of a node's interface queues.
pub(super) fn queue(node: u32) -> Value {
    json!({ "name": "queue", "unit": "packets", "node": node, "flow": null, "panel": "queue" })
}

/// The series of the rate that a node's rate control has chosen.
pub(super) fn data_rate(node: u32) -> Value {
    json!({ "name": "data rate", "unit": "b/s", "node": node, "flow": null, "panel": "data rate" })
}

/// A record of `samples.bin`.
pub(super) fn write_sample(bytes: &mut Vec<u8>, time: Instant, series: u32, value: f64) {
    bytes.extend(time.as_nanos().to_le_bytes());
    bytes.extend(series.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(value.to_le_bytes());
}

/// The series for `recording.json`, and their samples in order of time. A series without any sample is left out.
pub(super) fn samples(result: &RunResult) -> (Value, Vec<u8>) {
    let mut all: Vec<(Value, Vec<(Instant, f64)>)> = Vec::new();
    for (samples, flow) in result.series.flows.iter().zip(0..result.flows.len()) {
        for (name, unit, panel, reading) in OF_FLOWS {
            let starts = [Instant::START].into_iter().chain(samples.iter().map(|sample| sample.time));
            let values =
                samples.iter().zip(starts).filter_map(|(sample, start)| Some((sample.time, reading(sample, start)?)));
            let about = of_flow(flow, name, unit, panel);
            all.push((about, values.collect()));
        }
    }
    let series = &result.series;
    for node in 0..result.nodes.len() as u32 {
        let mut queued = series.queues.iter().filter(|sample| sample.node.0 == node).peekable();
        if queued.peek().is_some() {
            let values = series.times.iter().zip(0..).map(|(&time, place)| {
                (time, queued.next_if(|sample| sample.time == place).map_or(0.0, |sample| f64::from(sample.packets)))
            });
            all.push((queue(node), values.collect()));
        }
        let rates = series.rates.iter().filter(|sample| sample.node.0 == node);
        let rates = rates
            .map(|sample| (series.times[sample.time as usize], f64::from(sample.rate.data_rate().as_kbps()) * 1e3));
        all.push((data_rate(node), rates.collect()));
    }
    all.retain(|(_, values)| !values.is_empty());
    let mut samples: Vec<(Instant, u32, f64)> = Vec::new();
    for ((_, values), number) in all.iter().zip(0..) {
        samples.extend(values.iter().map(|&(time, value)| (time, number, value)));
    }
    samples.sort_by_key(|&(time, number, _)| (time, number));
    let mut bytes = Vec::with_capacity(samples.len() * 24);
    for (time, number, value) in samples {
        write_sample(&mut bytes, time, number, value);
    }
    (all.into_iter().map(|(about, _)| about).collect(), bytes)
}
