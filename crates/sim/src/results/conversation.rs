//! Summaries of conversations between real hosts.

use arrow_array::RecordBatch;
use hopcast_protocols::time::{Duration, Instant};
use serde::Serialize;

use super::RunResult;
use super::record::node_names;
use super::table::Table;
use crate::metrics::conversation::{Conversation, Conversations, Interval, Key, Stream, StreamSummary};
use crate::run::Simulation;
use crate::scenario::model::Scenario;

/// Conversations between real hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationRecords {
    /// In the order of their first packets.
    pub conversations: Vec<ConversationRecord>,
    /// Packets between real hosts that belong to none of them: those beyond [`Conversations::MOST`] conversations.
    pub unlisted_packets: u64,
}

/// Traffic from one real host to another with the same protocol and ports. Packets are IP packets, bytes those after the
/// transport header. Times are in seconds, rates in bit/s; `None` if nothing arrived to measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversationRecord {
    /// Name from protocol, nodes and ports, which is unique.
    pub name: String,
    /// Name of the sending node.
    pub from: String,
    /// Name of the receiving node.
    pub to: String,
    /// `udp`, `tcp`, `icmp`, `dccp`, `sctp`, `udplite`, or the number of another protocol of IP.
    pub protocol: String,
    /// Source port; `None` without one.
    pub from_port: Option<u16>,
    /// Destination port, the same.
    pub to_port: Option<u16>,
    /// Packets that the real host sent.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets that were delivered to the receiving real host, each once.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets dropped between the two, whatever the cause: at a full queue, after the last retry, without a route, or in
    /// a real host that should forward them.
    pub lost_packets: u64,
    /// Packets that were still on their way at the end: sent = received + lost + in flight.
    pub in_flight_packets: u64,
    /// Further copies of packets that had arrived.
    pub duplicate_packets: u64,
    /// Lost packets per sent packet.
    pub loss_ratio: f64,
    /// Bytes that arrived, as bits per second from the first packet's sending to the last arrival.
    pub rate_bps: Option<f64>,
    /// Mean one-way delay.
    pub delay_mean_s: Option<f64>,
    /// 99th percentile of the delay, within 0.1 % or 1 µs.
    pub delay_p99_s: Option<f64>,
    /// Mean jitter of adjacent packets.
    pub jitter_mean_s: Option<f64>,
    /// Sample variance of that jitter, in square seconds.
    pub jitter_variance_s2: Option<f64>,
    /// Its maximum.
    pub jitter_max_s: Option<f64>,
    /// Mean over the arrivals of the interarrival jitter of RFC 3550, appendix A.8, against the instants of sending.
    pub interarrival_jitter_mean_s: Option<f64>,
    /// Its maximum.
    pub interarrival_jitter_max_s: Option<f64>,
    /// When the first packet was sent.
    pub first_sent_s: f64,
    /// First arrival.
    pub first_arrival_s: Option<f64>,
    /// Last arrival.
    pub last_arrival_s: Option<f64>,
    /// The streams of RTP in it.
    pub rtp: Vec<RtpRecord>,
}

/// A stream of RTP, as a receiver sees it. Pictures and freezes are `None` if it is no video, jitter if the clock rate is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RtpRecord {
    /// Synchronization source.
    pub ssrc: u32,
    /// Payload type of the last packet.
    pub payload_type: u8,
    /// Ticks of the timestamps in a second: assigned to the payload type (RFC 3551), or found by comparing timestamps with the instants
    /// of sending.
    pub clock_rate_hz: Option<u32>,
    /// Packets that arrived, each once.
    pub received_packets: u64,
    /// Packets from the lowest to the highest sequence number that did not arrive (RFC 3550, appendix A.3).
    pub lost_packets: u64,
    /// Further copies of packets that had arrived.
    pub duplicate_packets: u64,
    /// Packets that arrived after one with a higher sequence number.
    pub reordered_packets: u64,
    /// Mean over the arrivals of the interarrival jitter (RFC 3550, appendix A.8), against the timestamps.
    pub jitter_mean_s: Option<f64>,
    /// Its maximum.
    pub jitter_max_s: Option<f64>,
    /// Pictures that arrived whole, and not after a later one.
    pub frames: Option<u64>,
    /// Freezes, by the rule of `freezeCount` in the W3C's WebRTC statistics.
    pub freezes: Option<u64>,
    /// Their time, all together.
    pub freeze_time_s: Option<f64>,
    /// The longest of them.
    pub freeze_max_s: Option<f64>,
}

impl RtpRecord {
    fn new(stream: &Stream) -> Self {
        let StreamSummary { payload_type, clock_rate, sequence, jitter, freezes } = stream.summary();
        Self {
            ssrc: stream.source,
            payload_type,
            clock_rate_hz: clock_rate,
            received_packets: sequence.received_packets,
            lost_packets: sequence.lost_packets,
            duplicate_packets: sequence.duplicate_packets,
            reordered_packets: sequence.reordered_packets,
            jitter_mean_s: jitter.map(|[mean, _]| mean),
            jitter_max_s: jitter.map(|[_, max]| max),
            frames: freezes.map(|video| video.frames),
            freezes: freezes.map(|video| video.freezes),
            freeze_time_s: freezes.map(|video| video.time.as_secs_f64()),
            freeze_max_s: freezes.map(|video| video.longest.as_secs_f64()),
        }
    }
}

/// The conversations of `simulation`, as of now; `None` of a run without real hosts.
pub(super) fn conversations(scenario: &Scenario, simulation: &Simulation) -> Option<ConversationRecords> {
    let known: &Conversations = simulation.conversations()?;
    let names: Vec<&String> = node_names(scenario).collect();
    let record = |conversation: &Conversation| {
        let [from, to] = [conversation.key.from, conversation.key.to].map(|node| names[node.0 as usize].as_str());
        ConversationRecord::new(conversation, [from, to], simulation)
    };
    let unlisted_packets = known.unlisted_packets();
    Some(ConversationRecords { conversations: known.iter().map(record).collect(), unlisted_packets })
}

impl ConversationRecord {
    fn new(conversation: &Conversation, [from, to]: [&str; 2], simulation: &Simulation) -> Self {
        let Conversation { key, flow, first_sent, jitter, streams, .. } = conversation;
        let summary = simulation.flows()[*flow].summary(simulation.now());
        let first_sent_s = first_sent.as_secs_f64();
        let lasted = summary.last_arrival_s.map(|last| last - first_sent_s).filter(|&lasted| lasted > 0.0);
        let protocol = protocol(key.protocol);
        Self {
            name: name(key, &protocol, [from, to]),
            from: from.into(),
            to: to.into(),
            protocol,
            from_port: key.ports.map(|[port, _]| port),
            to_port: key.ports.map(|[_, port]| port),
            sent_packets: summary.sent_packets,
            sent_bytes: summary.sent_bytes,
            received_packets: summary.received_packets,
            received_bytes: summary.received_bytes,
            lost_packets: summary.lost_packets,
            in_flight_packets: summary.in_flight_packets,
            duplicate_packets: summary.duplicate_packets,
            loss_ratio: summary.loss_ratio,
            rate_bps: lasted.map(|lasted| summary.received_bytes as f64 * 8.0 / lasted),
            delay_mean_s: summary.delay_mean_s,
            delay_p99_s: summary.delay_p99_s,
            jitter_mean_s: summary.jitter_mean_s,
            jitter_variance_s2: summary.jitter_variance_s2,
            jitter_max_s: summary.jitter_max_s,
            interarrival_jitter_mean_s: jitter.mean(),
            interarrival_jitter_max_s: jitter.max(),
            first_sent_s,
            first_arrival_s: summary.first_arrival_s,
            last_arrival_s: summary.last_arrival_s,
            rtp: streams.iter().map(RtpRecord::new).collect(),
        }
    }
}

/// The name of a protocol of IP ("Assigned internet protocol numbers", IANA), or its number.
fn protocol(number: u8) -> String {
    match number {
        1 => "icmp".into(),
        6 => "tcp".into(),
        17 => "udp".into(),
        33 => "dccp".into(),
        132 => "sctp".into(),
        136 => "udplite".into(),
        other => other.to_string(),
    }
}

fn name(key: &Key, protocol: &str, [from, to]: [&str; 2]) -> String {
    match key.ports {
        Some([source, destination]) => format!("{protocol} {from}:{source} > {to}:{destination}"),
        None => format!("{protocol} {from} > {to}"),
    }
}

/// A row for each conversation: the fields of [`ConversationRecord`].
pub(crate) fn conversation_table(result: &RunResult) -> RecordBatch {
    let all = records(result);
    let mut table = Table::new(result.provenance.seed, all.len());
    table.texts("name", all.iter().map(|c| &c.name));
    table.texts("from", all.iter().map(|c| &c.from));
    table.texts("to", all.iter().map(|c| &c.to));
    table.texts("protocol", all.iter().map(|c| &c.protocol));
    table.optional_counts("from_port", all.iter().map(|c| c.from_port.map(u64::from)));
    table.optional_counts("to_port", all.iter().map(|c| c.to_port.map(u64::from)));
    table.counts("sent_packets", all.iter().map(|c| c.sent_packets));
    table.counts("sent_bytes", all.iter().map(|c| c.sent_bytes));
    table.counts("received_packets", all.iter().map(|c| c.received_packets));
    table.counts("received_bytes", all.iter().map(|c| c.received_bytes));
    table.counts("lost_packets", all.iter().map(|c| c.lost_packets));
    table.counts("in_flight_packets", all.iter().map(|c| c.in_flight_packets));
    table.counts("duplicate_packets", all.iter().map(|c| c.duplicate_packets));
    table.numbers("loss_ratio", all.iter().map(|c| Some(c.loss_ratio)));
    table.numbers("rate_bps", all.iter().map(|c| c.rate_bps));
    table.numbers("delay_mean_s", all.iter().map(|c| c.delay_mean_s));
    table.numbers("delay_p99_s", all.iter().map(|c| c.delay_p99_s));
    table.numbers("jitter_mean_s", all.iter().map(|c| c.jitter_mean_s));
    table.numbers("jitter_variance_s2", all.iter().map(|c| c.jitter_variance_s2));
    table.numbers("jitter_max_s", all.iter().map(|c| c.jitter_max_s));
    table.numbers("interarrival_jitter_mean_s", all.iter().map(|c| c.interarrival_jitter_mean_s));
    table.numbers("interarrival_jitter_max_s", all.iter().map(|c| c.interarrival_jitter_max_s));
    table.numbers("first_sent_s", all.iter().map(|c| Some(c.first_sent_s)));
    table.numbers("first_arrival_s", all.iter().map(|c| c.first_arrival_s));
    table.numbers("last_arrival_s", all.iter().map(|c| c.last_arrival_s));
    table.finish()
}

/// A row for each stream of RTP: the name of its `conversation` and the fields of [`RtpRecord`].
pub(crate) fn rtp_table(result: &RunResult) -> RecordBatch {
    let streams = || records(result).iter().flat_map(|c| c.rtp.iter().map(move |stream| (&c.name, stream)));
    let mut table = Table::new(result.provenance.seed, streams().count());
    table.texts("conversation", streams().map(|(name, _)| name));
    table.counts("ssrc", streams().map(|(_, s)| u64::from(s.ssrc)));
    table.counts("payload_type", streams().map(|(_, s)| u64::from(s.payload_type)));
    table.optional_counts("clock_rate_hz", streams().map(|(_, s)| s.clock_rate_hz.map(u64::from)));
    table.counts("received_packets", streams().map(|(_, s)| s.received_packets));
    table.counts("lost_packets", streams().map(|(_, s)| s.lost_packets));
    table.counts("duplicate_packets", streams().map(|(_, s)| s.duplicate_packets));
    table.counts("reordered_packets", streams().map(|(_, s)| s.reordered_packets));
    table.numbers("jitter_mean_s", streams().map(|(_, s)| s.jitter_mean_s));
    table.numbers("jitter_max_s", streams().map(|(_, s)| s.jitter_max_s));
    table.optional_counts("frames", streams().map(|(_, s)| s.frames));
    table.optional_counts("freezes", streams().map(|(_, s)| s.freezes));
    table.numbers("freeze_time_s", streams().map(|(_, s)| s.freeze_time_s));
    table.numbers("freeze_max_s", streams().map(|(_, s)| s.freeze_max_s));
    table.finish()
}

/// How conversations developed: for each interval between its first and its last packet `time_s`, the interval's end,
/// `conversation`, the name, `sent_packets`, `lost_packets`, which are those of the sent ones that never arrived, at the end of the
/// run those in flight among them, `packets`, which arrived in it, `rate_bps`, the rate of their bytes, `delay_s` and
/// `delay_max_s`, the mean and the largest of their delays, null without an arrival, and of video in RTP `frames` and `freeze_time_s`,
/// the pictures that were whole and for how long one was frozen; null of conversations without.
pub(crate) fn conversation_series_table(result: &RunResult) -> RecordBatch {
    let end = Instant::START + Duration::from_secs_f64(result.cost.simulated_s);
    let rows = || {
        records(result).iter().zip(&result.series.conversations).flat_map(move |(record, course)| {
            let intervals = course.intervals(end);
            intervals.map(move |(time, seconds, interval)| (record, time, seconds, *interval))
        })
    };
    let mut table = Table::new(result.provenance.seed, rows().count());
    table.numbers("time_s", rows().map(|(_, time, ..)| Some(time.as_secs_f64())));
    table.texts("conversation", rows().map(|(record, ..)| &record.name));
    table.counts("sent_packets", rows().map(|(.., row)| row.sent_packets));
    table.counts("lost_packets", rows().map(|(.., row)| row.sent_packets - row.arrived_packets));
    table.counts("packets", rows().map(|(.., row)| row.received_packets));
    table.numbers("rate_bps", rows().map(|(_, _, seconds, row)| Some(row.received_bytes as f64 * 8.0 / seconds)));
    let arrived = || rows().map(|(.., row)| Some(row).filter(|row| row.received_packets > 0));
    let mean = |row: Interval| row.delay_sum.as_secs_f64() / row.received_packets as f64;
    table.numbers("delay_s", arrived().map(|row| row.map(mean)));
    table.numbers("delay_max_s", arrived().map(|row| row.map(|row| row.delay_max.as_secs_f64())));
    let is_video = |record: &ConversationRecord| record.rtp.iter().any(|stream| stream.frames.is_some());
    let video = || rows().map(|(record, _, _, row)| Some(row).filter(|_| is_video(record)));
    table.optional_counts("frames", video().map(|row| row.map(|row| row.frames)));
    table.numbers("freeze_time_s", video().map(|row| row.map(|row| row.freeze_time.as_secs_f64())));
    table.finish()
}

fn records(result: &RunResult) -> &[ConversationRecord] {
    result.conversations.as_ref().map_or(&[], |records| &records.conversations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;
    use crate::results::{Cost, Provenance, RunSeries, Totals};

    const PAGE: &str = include_str!("../../../../docs/conversations.md");

    #[test]
    fn every_field_and_column_is_in_the_dictionary() {
        let schemas = [conversation_table, rtp_table, conversation_series_table].map(|table| table(&empty()).schema());
        for field in schemas.iter().flat_map(|schema| schema.fields()) {
            assert!(
                PAGE.contains(&format!("`{}`", field.name())),
                "docs/conversations.md: {} is missing",
                field.name()
            );
        }
        let limit = format!("hopcast keeps {} conversations", Conversations::MOST);
        assert!(PAGE.contains(&limit), "docs/conversations.md: {limit}");
    }

    fn empty() -> RunResult {
        let records = ConversationRecords { conversations: Vec::new(), unlisted_packets: 0 };
        RunResult {
            flows: Vec::new(),
            nodes: Vec::new(),
            totals: Totals::default(),
            conversations: Some(records),
            warnings: Vec::new(),
            cost: Cost::default(),
            provenance: Provenance { version: "", scenario_sha256: String::new(), seed: 1 },
            series: RunSeries::default(),
        }
    }

    #[test]
    fn names_say_protocol_nodes_and_ports() {
        let key = |protocol, ports| Key { from: NodeId(0), to: NodeId(1), protocol, ports };
        let name_of = |key: Key| name(&key, &protocol(key.protocol), ["a", "b"]);
        assert_eq!(name_of(key(6, Some([1, 2]))), "tcp a:1 > b:2");
        assert_eq!([name_of(key(1, None)), name_of(key(89, None))], ["icmp a > b", "89 a > b"]);
    }
}
