//! Results as Arrow tables. Each has a column `seed`, so that several replications fit in one file.

use std::sync::Arc;

use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, ListArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use hopcast_protocols::time::Instant;
use schemars::JsonSchema;

use super::{FlowRecord, NodeRecord, RadioRecord, RunResult};
use crate::metrics::{DropCause, Sample};

/// A row for each flow: the fields of [`FlowRecord`].
pub fn flow_table(result: &RunResult) -> RecordBatch {
    let flows = &result.flows;
    let mut table = Table::new(result.provenance.seed, flows.len());
    let summaries = || flows.iter().map(|flow| &flow.summary);
    table.texts("name", flows.iter().map(|flow| &flow.name));
    table.texts("from", flows.iter().map(|flow| &flow.from));
    table.texts("to", flows.iter().map(|flow| &flow.to));
    table.texts("protocol", flows.iter().map(|flow: &FlowRecord| flow.protocol));
    table.counts("sent_packets", summaries().map(|s| s.sent_packets));
    table.counts("sent_bytes", summaries().map(|s| s.sent_bytes));
    table.counts("received_packets", summaries().map(|s| s.received_packets));
    table.counts("received_bytes", summaries().map(|s| s.received_bytes));
    table.counts("lost_packets", summaries().map(|s| s.lost_packets));
    table.counts("in_flight_packets", summaries().map(|s| s.in_flight_packets));
    table.counts("duplicate_packets", summaries().map(|s| s.duplicate_packets));
    table.numbers("loss_ratio", summaries().map(|s| Some(s.loss_ratio)));
    table.numbers("goodput_bps", summaries().map(|s| Some(s.goodput_bps)));
    table.numbers("delay_mean_s", summaries().map(|s| s.delay_mean_s));
    table.numbers("delay_p99_s", summaries().map(|s| s.delay_p99_s));
    table.numbers("jitter_mean_s", summaries().map(|s| s.jitter_mean_s));
    table.numbers("jitter_variance_s2", summaries().map(|s| s.jitter_variance_s2));
    table.numbers("jitter_max_s", summaries().map(|s| s.jitter_max_s));
    table.numbers("first_arrival_s", summaries().map(|s| s.first_arrival_s));
    table.numbers("last_arrival_s", summaries().map(|s| s.last_arrival_s));
    table.optional_counts("retransmitted_segments", summaries().map(|s| Some(s.tcp?.retransmitted_segments)));
    table.optional_counts("timeouts", summaries().map(|s| Some(s.tcp?.timeouts)));
    table.optional_counts("fast_retransmits", summaries().map(|s| Some(s.tcp?.fast_retransmits)));
    table.optional_counts("ecn_reductions", summaries().map(|s| Some(s.tcp?.ecn_reductions)));
    table.optional_counts("marked_segments", summaries().map(|s| Some(s.tcp?.marked_segments)));
    table.numbers("start_up_s", summaries().map(|s| s.player.start_up_s));
    table.optional_counts("hiccups", summaries().map(|s| s.player.hiccups));
    table.numbers("hiccup_time_s", summaries().map(|s| s.player.hiccup_time_s));
    table.numbers("hiccup_max_s", summaries().map(|s| s.player.hiccup_max_s));
    table.numbers("played_s", summaries().map(|s| s.player.played_s));
    table.optional_counts("frames_on_time", summaries().map(|s| Some(s.frames?.frames_on_time)));
    table.optional_counts("frames_late", summaries().map(|s| Some(s.frames?.frames_late)));
    table.optional_counts("frames_lost", summaries().map(|s| Some(s.frames?.frames_lost)));
    table.numbers("playout_delay_mean_s", summaries().map(|s| s.frames?.playout_delay_mean_s));
    table.numbers("delay_p5_s", summaries().map(|s| s.media?.delay_p5_s));
    table.numbers("delay_p50_s", summaries().map(|s| s.media?.delay_p50_s));
    table.numbers("delay_p95_s", summaries().map(|s| s.media?.delay_p95_s));
    table.optional_counts("retransmitted_packets", summaries().map(|s| s.media?.retransmitted_packets));
    table.optional_counts("repair_packets", summaries().map(|s| s.fec.repair_packets));
    table.optional_counts("repair_bytes", summaries().map(|s| s.fec.repair_bytes));
    table.optional_counts("repair_received_packets", summaries().map(|s| s.fec.repair_received_packets));
    table.optional_counts("recovered_packets", summaries().map(|s| s.fec.recovered_packets));
    table.numbers("fec_overhead_ratio", summaries().map(|s| s.fec.fec_overhead_ratio));
    table.numbers("recovered_delay_mean_s", summaries().map(|s| s.fec.recovered_delay_mean_s));
    table.optional_counts("route_changes", summaries().map(|s| Some(s.ways?.route_changes)));
    table.numbers("hops_mean", summaries().map(|s| s.ways?.hops_mean));
    table.optional_counts("hops_max", summaries().map(|s| s.ways?.hops_max));
    table.optional_counts("feedback_packets", summaries().map(|s| Some(s.ways?.feedback_packets)));
    table.optional_counts("feedback_bytes", summaries().map(|s| Some(s.ways?.feedback_bytes)));
    table.finish()
}

/// A row for each node: the fields of [`NodeRecord`], and a column `drop_<cause>` for each cause. Of nodes with several radios a
/// column `<counter>_by_radio` lists each counter of [`RadioRecord`] in the order of the radios; of others it is null.
pub fn node_table(result: &RunResult) -> RecordBatch {
    let nodes = &result.nodes;
    let mut table = Table::new(result.provenance.seed, nodes.len());
    let mut counts = |name, count: fn(&NodeRecord) -> u64| table.counts(name, nodes.iter().map(count));
    counts("originated", |n| n.originated);
    counts("received", |n| n.received);
    counts("forwarded", |n| n.forwarded);
    counts("delivered", |n| n.delivered);
    counts("transmitted", |n| n.transmitted);
    counts("sent", |n| n.sent);
    counts("routing_packets", |n| n.routing_packets);
    counts("routing_bytes", |n| n.routing_bytes);
    counts("route_requests", |n| n.route_requests);
    counts("route_changes", |n| n.route_changes);
    counts("arp_requests", |n| n.arp_requests);
    counts("arp_replies", |n| n.arp_replies);
    counts("rts_sent", |n| n.rts_sent);
    counts("cts_sent", |n| n.cts_sent);
    counts("ack_sent", |n| n.ack_sent);
    counts("data_sent", |n| n.data_sent);
    counts("management_sent", |n| n.management_sent);
    counts("block_ack_sent", |n| n.block_ack_sent);
    counts("block_ack_requests_sent", |n| n.block_ack_requests_sent);
    counts("ampdus_sent", |n| n.ampdus_sent);
    counts("beacons_sent", |n| n.beacons_sent);
    counts("associations", |n| n.associations);
    counts("cts_timeouts", |n| n.cts_timeouts);
    counts("ack_timeouts", |n| n.ack_timeouts);
    counts("duplicates", |n| n.duplicates);
    counts("errors", |n| n.errors);
    counts("marked", |n| n.marked);
    table.optional_counts("wire_collisions", nodes.iter().map(|node| node.wire_collisions));
    for cause in DropCause::ALL {
        table.counts(&format!("drop_{}", cause.name()), nodes.iter().map(|node| node.drops.of(cause)));
    }
    for (name, count) in RadioRecord::COUNTERS {
        let lists = nodes.iter().map(|node| {
            let radios = || node.radios.iter().map(|radio| Some(count(radio)));
            (!node.radios.is_empty()).then(|| radios().collect::<Vec<_>>())
        });
        table.lists(&format!("{name}_by_radio"), lists);
    }
    table.insert_texts(1, "name", nodes.iter().map(|node| &node.name));
    table.finish()
}

/// What developed over time, at even intervals, of which the last one ends with the run: the rows of flows, then those of
/// nodes, with the columns of `SeriesRow`. A node has rows only if its queue was ever found filled, or if it has rate
/// control and has sent data.
pub fn series_table(result: &RunResult) -> RecordBatch {
    let series = &result.series;
    let mut rows: Vec<SeriesRow<'_>> = Vec::new();
    for (flow, samples) in result.flows.iter().zip(&series.flows) {
        let starts = [Instant::START].into_iter().chain(samples.iter().map(|sample| sample.time));
        rows.extend(samples.iter().zip(starts).map(|(sample, start)| SeriesRow::of_flow(&flow.name, sample, start)));
    }
    for (node, queues, rates) in samples_by_node(result) {
        let (mut queues, mut rates) = (queues.into_iter().peekable(), rates.into_iter().peekable());
        let mut data_rate_bps = None;
        rows.extend(series.times.iter().zip(0..).map(|(time, index)| {
            data_rate_bps = rates.next_if(|&(time, _)| time == index).map(|(_, rate)| rate).or(data_rate_bps);
            SeriesRow {
                time_s: time.as_secs_f64(),
                node: Some(node),
                queue_packets: Some(
                    queues.next_if(|&(time, _)| time == index).map_or(0, |(_, packets)| u64::from(packets)),
                ),
                data_rate_bps,
                ..SeriesRow::default()
            }
        }));
    }
    let mut table = Table::new(result.provenance.seed, rows.len());
    table.numbers("time_s", rows.iter().map(|row| Some(row.time_s)));
    table.optional_texts("flow", rows.iter().map(|row| row.flow));
    table.optional_texts("node", rows.iter().map(|row| row.node));
    table.numbers("rate_bps", rows.iter().map(|row| row.rate_bps));
    table.optional_counts("packets", rows.iter().map(|row| row.packets));
    table.numbers("delay_s", rows.iter().map(|row| row.delay_s));
    table.numbers("jitter_s", rows.iter().map(|row| row.jitter_s));
    table.optional_counts("jitter_count", rows.iter().map(|row| row.jitter_count));
    table.numbers("jitter_mean_s", rows.iter().map(|row| row.jitter_mean_s));
    table.numbers("jitter_variance_s2", rows.iter().map(|row| row.jitter_variance_s2));
    table.optional_counts("cwnd_bytes", rows.iter().map(|row| row.cwnd_bytes));
    table.optional_counts("ssthresh_bytes", rows.iter().map(|row| row.ssthresh_bytes));
    table.numbers("srtt_s", rows.iter().map(|row| row.srtt_s));
    table.numbers("allowed_bps", rows.iter().map(|row| row.allowed_bps));
    table.numbers("loss_event_rate", rows.iter().map(|row| row.loss_event_rate));
    table.optional_texts("state", rows.iter().map(|row| row.state));
    table.optional_counts("route_changes", rows.iter().map(|row| row.route_changes));
    table.numbers("idd_s", rows.iter().map(|row| row.idd_s));
    table.numbers("iad_s", rows.iter().map(|row| row.iad_s));
    table.numbers("stt_packets_per_s", rows.iter().map(|row| row.stt_packets_per_s));
    table.numbers("por", rows.iter().map(|row| row.por));
    table.numbers("por_max", rows.iter().map(|row| row.por_max));
    table.numbers("plr", rows.iter().map(|row| row.plr));
    table.optional_counts("queue_packets", rows.iter().map(|row| row.queue_packets));
    table.numbers("data_rate_bps", rows.iter().map(|row| row.data_rate_bps));
    table.finish()
}

/// A flow or a node in one interval. What a row does not tell is null.
#[derive(Clone, Copy, Default, JsonSchema)]
pub(super) struct SeriesRow<'a> {
    /// End of the interval, from the start of the run.
    time_s: f64,
    /// Name of the flow; null in rows of nodes.
    flow: Option<&'a str>,
    /// Name of the node; null in rows of flows.
    node: Option<&'a str>,
    /// Application bytes that reached the sink in the interval, in bits per second.
    #[schemars(extend("x-divisor" = "length of the interval", "x-counted" = "at the sink"))]
    rate_bps: Option<f64>,
    /// Packets that arrived in the interval.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the sink"))]
    packets: Option<u64>,
    /// Mean of their delays; null without an arrival.
    #[schemars(extend("x-divisor" = "packets that arrived in the interval", "x-counted" = "at the sink"))]
    delay_s: Option<f64>,
    /// Maximum of their jitter, each compared with the packet before.
    #[schemars(extend("x-counted" = "at the sink"))]
    jitter_s: Option<f64>,
    /// Number of their jitters. With it, mean and variance of several intervals can be computed.
    #[schemars(extend("x-unit" = "pairs", "x-counted" = "at the sink"))]
    jitter_count: Option<u64>,
    /// Mean of their jitter.
    #[schemars(extend("x-divisor" = "`jitter_count`", "x-counted" = "at the sink"))]
    jitter_mean_s: Option<f64>,
    /// Sample variance of their jitter.
    #[schemars(extend("x-divisor" = "`jitter_count` − 1", "x-counted" = "at the sink"))]
    jitter_variance_s2: Option<f64>,
    /// Congestion window of the flow's first TCP connection at the end of the interval.
    #[schemars(extend("x-counted" = "at the source"))]
    cwnd_bytes: Option<u64>,
    /// Slow start threshold of the same connection.
    #[schemars(extend("x-counted" = "at the source"))]
    ssthresh_bytes: Option<u64>,
    /// Smoothed round-trip time of the flow's first connection, over TCP, TFRC or ADTFRC; null before the first measurement.
    #[schemars(extend("x-counted" = "at the source"))]
    srtt_s: Option<f64>,
    /// Rate that TFRC or ADTFRC allows at the end of the interval, of payload.
    #[schemars(extend("x-counted" = "at the source"))]
    allowed_bps: Option<f64>,
    /// Loss events of TFRC or ADTFRC, as of the last feedback.
    #[schemars(extend("x-unit" = "ratio", "x-divisor" = "packets", "x-counted" = "at the sink"))]
    loss_event_rate: Option<f64>,
    /// State of the network that ADTFRC's sender sees: `normal`, `congestion`, `route_change`, `channel_error` or
    /// `disconnection`.
    #[schemars(extend("x-counted" = "at the source"))]
    state: Option<&'a str>,
    /// Changes of the route to the sink in the interval: packets that a routing protocol led to another neighbour than the one
    /// before, at any node on the way.
    #[schemars(extend("x-unit" = "changes", "x-counted" = "at every node on the way"))]
    route_changes: Option<u64>,
    /// ADTFRC's inter-packet delay difference (IDD).
    #[schemars(extend("x-divisor" = "packets that arrived in the interval", "x-counted" = "at the sink"))]
    idd_s: Option<f64>,
    /// Inter-packet arrival delay (IAD) of the same packets.
    #[schemars(extend("x-divisor" = "packets that arrived in the interval", "x-counted" = "at the sink"))]
    iad_s: Option<f64>,
    /// ADTFRC's short-term throughput (STT) at the last arrival in the interval.
    #[schemars(extend("x-unit" = "packets/s", "x-counted" = "at the sink"))]
    stt_packets_per_s: Option<f64>,
    /// ADTFRC's packet out-of-order ratio (POR) at the last arrival in the interval.
    #[schemars(extend("x-unit" = "ratio", "x-counted" = "at the sink"))]
    por: Option<f64>,
    /// The largest POR at an arrival in the interval.
    #[schemars(extend("x-unit" = "ratio", "x-counted" = "at the sink"))]
    por_max: Option<f64>,
    /// ADTFRC's packet loss ratio (PLR) at the last arrival in the interval.
    #[schemars(extend("x-unit" = "ratio", "x-counted" = "at the sink"))]
    plr: Option<f64>,
    /// Packets that wait in the queues of the node's interfaces at the end of the interval, without those in transmission.
    #[schemars(extend("x-counted" = "at the node"))]
    queue_packets: Option<u64>,
    /// Rate that rate control chose last; null before the first data frame, and where the rate is fixed.
    #[schemars(extend("x-counted" = "at the node"))]
    data_rate_bps: Option<f64>,
}

impl<'a> SeriesRow<'a> {
    fn of_flow(name: &'a str, sample: &Sample, start: Instant) -> Self {
        let length = sample.time.saturating_since(start).as_secs_f64();
        let measured = |octets: u32| Some(u64::from(octets)).filter(|&octets| octets > 0);
        let jitter = sample.jitter.summary();
        Self {
            time_s: sample.time.as_secs_f64(),
            flow: Some(name),
            rate_bps: Some(sample.received_bytes as f64 * 8.0 / length),
            packets: Some(u64::from(sample.arrivals)),
            delay_s: (sample.arrivals > 0).then(|| sample.delay_sum.as_secs_f64() / f64::from(sample.arrivals)),
            jitter_s: jitter.map(|jitter| jitter.max),
            jitter_count: Some(sample.jitter.count()),
            jitter_mean_s: jitter.map(|jitter| jitter.mean),
            jitter_variance_s2: jitter.map(|jitter| jitter.variance),
            cwnd_bytes: measured(sample.cwnd),
            ssthresh_bytes: measured(sample.ssthresh),
            srtt_s: Some(sample.srtt.as_secs_f64()).filter(|&srtt| srtt > 0.0),
            allowed_bps: sample.control.map(|control| control.rate),
            loss_event_rate: sample.control.and_then(|control| control.loss_event_rate),
            state: sample.control.and_then(|control| Some(control.state?.name())),
            route_changes: Some(u64::from(sample.route_changes)),
            iad_s: sample.path.map(|path| path.arrival_interval),
            idd_s: sample.path.map(|path| path.delay_difference),
            stt_packets_per_s: sample.path.map(|path| path.throughput),
            por: sample.path.map(|path| path.reordered),
            por_max: sample.path.map(|path| path.most_reordered),
            plr: sample.path.map(|path| path.lost),
            ..Self::default()
        }
    }
}

/// What was sampled of a node: its name; time and packets of its filled queues; time and value of each other rate, in bit/s.
type NodeSamples<'a> = (&'a str, Vec<(u32, u32)>, Vec<(u32, f64)>);

/// For each node of which there is something, in the order of nodes.
fn samples_by_node(result: &RunResult) -> impl Iterator<Item = NodeSamples<'_>> {
    let mut by_node = vec![(Vec::new(), Vec::new()); result.nodes.len()];
    for sample in &result.series.queues {
        by_node[sample.node.0 as usize].0.push((sample.time, sample.packets));
    }
    for sample in &result.series.rates {
        by_node[sample.node.0 as usize].1.push((sample.time, f64::from(sample.rate.data_rate().as_kbps()) * 1e3));
    }
    let named = result.nodes.iter().map(|node| node.name.as_str()).zip(by_node);
    let some = named.filter(|(_, (queues, rates))| !queues.is_empty() || !rates.is_empty());
    some.map(|(name, (queues, rates))| (name, queues, rates))
}

/// A table on its way, column by column.
pub(super) struct Table {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl Table {
    pub(super) fn new(seed: u64, rows: usize) -> Self {
        let mut table = Self { fields: Vec::new(), columns: Vec::new() };
        table.counts("seed", std::iter::repeat_n(seed, rows));
        table
    }

    pub(super) fn texts(&mut self, name: &str, values: impl Iterator<Item = impl AsRef<str>>) {
        self.insert_texts(self.columns.len(), name, values);
    }

    fn insert_texts(&mut self, place: usize, name: &str, values: impl Iterator<Item = impl AsRef<str>>) {
        // Arrow takes no iterator of unknown length.
        let column = Arc::new(StringArray::from_iter_values(values.collect::<Vec<_>>()));
        self.insert(place, Field::new(name, DataType::Utf8, false), column);
    }

    pub(super) fn optional_texts<'a>(&mut self, name: &str, values: impl Iterator<Item = Option<&'a str>>) {
        let column = Arc::new(values.collect::<StringArray>());
        self.push(Field::new(name, DataType::Utf8, true), column);
    }

    pub(super) fn counts(&mut self, name: &str, values: impl Iterator<Item = u64>) {
        self.push(Field::new(name, DataType::UInt64, false), Arc::new(UInt64Array::from_iter_values(values)));
    }

    pub(super) fn optional_counts(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) {
        self.push(Field::new(name, DataType::UInt64, true), Arc::new(values.collect::<UInt64Array>()));
    }

    fn lists(&mut self, name: &str, values: impl Iterator<Item = Option<Vec<Option<u64>>>>) {
        let column = ListArray::from_iter_primitive::<UInt64Type, _, _>(values);
        self.push(Field::new(name, column.data_type().clone(), true), Arc::new(column));
    }

    /// What is no number becomes null.
    pub(super) fn numbers(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        let column = values.map(|value| value.filter(|value| value.is_finite())).collect::<Float64Array>();
        self.push(Field::new(name, DataType::Float64, true), Arc::new(column));
    }

    fn push(&mut self, field: Field, column: ArrayRef) {
        self.insert(self.columns.len(), field, column);
    }

    fn insert(&mut self, place: usize, field: Field, column: ArrayRef) {
        self.fields.insert(place, field);
        self.columns.insert(place, column);
    }

    pub(super) fn finish(self) -> RecordBatch {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.columns)
            .expect("every column was made with a row for each record")
    }
}
