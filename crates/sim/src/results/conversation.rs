//! Summaries of conversations between real hosts.

use arrow_array::RecordBatch;
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

use super::RunResult;
use super::record::{Drops, node_names};
use super::table::Table;
use crate::metrics::DropCause;
use crate::metrics::conversation::{Conversation, Conversations, Interval, Key, Stream, StreamSummary};
use crate::run::Simulation;
use crate::scenario::model::Scenario;

/// Conversations between real hosts.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ConversationRecords {
    /// Conversations between real nodes, in the order of their first packets.
    pub conversations: Vec<ConversationRecord>,
    /// Packets between real nodes that belong to no conversation of the list, because it was full.
    #[schemars(extend("x-counted" = "at the sending node"))]
    pub unlisted_packets: u64,
}

/// Traffic from one real host to another with the same protocol and ports. Packets are IP packets, bytes those after the
/// transport header. Times are in seconds, rates in bit/s; `None` if nothing arrived to measure.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ConversationRecord {
    /// Protocol, nodes and ports, for example `udp phone:40000 > server:5004`; unique.
    pub name: String,
    /// Node that sends.
    pub from: String,
    /// Node that the packets are for.
    pub to: String,
    /// `udp`, `tcp`, `icmp`, `dccp`, `sctp`, `udplite`, or the protocol number of IP.
    pub protocol: String,
    /// Source port; `null` for protocols without ports.
    #[schemars(extend("x-unit" = "none"))]
    pub from_port: Option<u16>,
    /// Destination port; `null` for protocols without ports.
    #[schemars(extend("x-unit" = "none"))]
    pub to_port: Option<u16>,
    /// Packets that the real node sent. A packet is an IP packet.
    #[schemars(extend("x-counted" = "at the sending node"))]
    pub sent_packets: u64,
    /// Their bytes behind the header of UDP or TCP; of other protocols, behind the IP header.
    #[schemars(extend("x-counted" = "at the sending node"))]
    pub sent_bytes: u64,
    /// Packets that were delivered to the receiving real node, each once.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub received_packets: u64,
    /// Their bytes behind the header of UDP or TCP; of other protocols, behind the IP header.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub received_bytes: u64,
    /// Packets dropped on the way, whatever the cause: at a full queue, after the last retry, without a route, or in a real
    /// node that should pass them on.
    #[schemars(extend("x-counted" = "at every node on the way"))]
    pub lost_packets: u64,
    /// The lost packets by the first cause for which one was dropped. `retry_limit_short` and `retry_limit_long` are losses on the
    /// air: collisions, noise, or a receiver out of range.
    pub drops: Drops,
    /// Those of the lost packets that a real node should have passed on and did not within 1 s. `lost_packets` is the sum of
    /// `drops` and this number.
    #[schemars(extend("x-counted" = "at real nodes on the way"))]
    pub held_packets: u64,
    /// Packets that were still on their way at the end: sent = received + lost + in flight.
    #[schemars(extend("x-counted" = "at every node on the way"))]
    pub in_flight_packets: u64,
    /// Further copies of packets that had arrived.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub duplicate_packets: u64,
    /// Share of lost packets.
    #[schemars(extend("x-divisor" = "sent packets"))]
    pub loss_ratio: f64,
    /// Received bytes in bits per second.
    #[schemars(extend(
        "x-divisor" = "time from the first packet sent to the last arrival",
        "x-counted" = "at the receiving node"
    ))]
    pub rate_bps: Option<f64>,
    /// Mean one-way delay, from the device of the sending node to that of the receiving node.
    #[schemars(extend("x-divisor" = "received packets", "x-counted" = "at the receiving node"))]
    pub delay_mean_s: Option<f64>,
    /// 99th percentile of the delay, within 0.1 % or 1 µs.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub delay_p99_s: Option<f64>,
    /// Mean jitter: the difference between the delays of two packets that arrived one after the other, without its sign.
    #[schemars(extend(
        "x-divisor" = "pairs of packets that arrived one after the other",
        "x-counted" = "at the receiving node"
    ))]
    pub jitter_mean_s: Option<f64>,
    /// Sample variance of that jitter.
    #[schemars(extend("x-divisor" = "pairs − 1", "x-counted" = "at the receiving node"))]
    pub jitter_variance_s2: Option<f64>,
    /// Maximum of that jitter.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub jitter_max_s: Option<f64>,
    /// Mean interarrival jitter of RFC 3550 (section 6.4.1, appendix A.8), with the time of sending as timestamp.
    #[schemars(extend("x-divisor" = "arrivals from the second on", "x-counted" = "at the receiving node"))]
    pub interarrival_jitter_mean_s: Option<f64>,
    /// Maximum of the interarrival jitter.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub interarrival_jitter_max_s: Option<f64>,
    /// When the first packet was sent, from the start of the run.
    #[schemars(extend("x-counted" = "at the sending node"))]
    pub first_sent_s: f64,
    /// Time of the first arrival, from the start of the run.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub first_arrival_s: Option<f64>,
    /// Time of the last arrival, from the start of the run.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub last_arrival_s: Option<f64>,
    /// Its streams of RTP.
    pub rtp: Vec<RtpRecord>,
}

/// A stream of RTP, as a receiver sees it. Pictures and freezes are `None` if it is no video, jitter if the clock rate is not known.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RtpRecord {
    /// Synchronization source (RFC 3550).
    #[schemars(extend("x-unit" = "none"))]
    pub ssrc: u32,
    /// Payload type of its last packet.
    #[schemars(extend("x-unit" = "none"))]
    pub payload_type: u8,
    /// Clock of its timestamps: the one that RFC 3551 assigns to the payload type, or the one that the timestamps of 0.5 s or
    /// more show against the times of sending, within 4 %; `null` if neither is known.
    pub clock_rate_hz: Option<u32>,
    /// Packets that arrived, each once.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub received_packets: u64,
    /// Packets from the lowest to the highest sequence number that did not arrive (RFC 3550, appendix A.3).
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub lost_packets: u64,
    /// Further copies of packets that had arrived.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub duplicate_packets: u64,
    /// Packets that arrived after one with a higher sequence number.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub reordered_packets: u64,
    /// Mean interarrival jitter (RFC 3550, appendix A.8) against the timestamps; `null` without a known clock.
    #[schemars(extend("x-divisor" = "arrivals from the second on", "x-counted" = "at the receiving node"))]
    pub jitter_mean_s: Option<f64>,
    /// Maximum of that jitter.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub jitter_max_s: Option<f64>,
    /// Pictures that arrived whole, and not after a later one; `null` unless the stream is video.
    #[schemars(extend("x-unit" = "pictures", "x-counted" = "at the receiving node"))]
    pub frames: Option<u64>,
    /// Freezes, by the rule of `freezeCount` in the W3C's WebRTC statistics; `null` unless the stream is video.
    #[schemars(extend("x-unit" = "freezes", "x-counted" = "at the receiving node"))]
    pub freezes: Option<u64>,
    /// Time of all freezes; `null` unless the stream is video.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    pub freeze_time_s: Option<f64>,
    /// The longest freeze; `null` unless the stream is video.
    #[schemars(extend("x-counted" = "at the receiving node"))]
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
        let losses = simulation.flows()[*flow].losses();
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
            drops: Drops::new(|cause| losses.of(cause)),
            held_packets: losses.unexplained(),
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

/// A row for each conversation: the fields of [`ConversationRecord`], and a column `drop_<cause>` for each cause.
pub fn conversation_table(result: &RunResult) -> RecordBatch {
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
    table.counts("held_packets", all.iter().map(|c| c.held_packets));
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
    for cause in DropCause::ALL {
        table.counts(&format!("drop_{}", cause.name()), all.iter().map(|c| c.drops.of(cause)));
    }
    table.finish()
}

/// A row for each stream of RTP: the name of its `conversation` and the fields of [`RtpRecord`].
pub fn rtp_table(result: &RunResult) -> RecordBatch {
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

/// How conversations developed: for each interval between its first and its last packet a row with the columns of
/// `CourseRow`.
pub fn conversation_series_table(result: &RunResult) -> RecordBatch {
    let end = Instant::START + Duration::from_secs_f64(result.cost.simulated_s);
    let courses = records(result).iter().zip(&result.series.conversations);
    let rows: Vec<CourseRow<'_>> = courses
        .flat_map(|(record, course)| course.intervals(end).map(|interval| CourseRow::new(record, interval)))
        .collect();
    let mut table = Table::new(result.provenance.seed, rows.len());
    table.numbers("time_s", rows.iter().map(|row| Some(row.time_s)));
    table.texts("conversation", rows.iter().map(|row| row.conversation));
    table.counts("sent_packets", rows.iter().map(|row| row.sent_packets));
    table.counts("lost_packets", rows.iter().map(|row| row.lost_packets));
    table.counts("packets", rows.iter().map(|row| row.packets));
    table.numbers("rate_bps", rows.iter().map(|row| Some(row.rate_bps)));
    table.numbers("delay_s", rows.iter().map(|row| row.delay_s));
    table.numbers("delay_max_s", rows.iter().map(|row| row.delay_max_s));
    table.optional_counts("frames", rows.iter().map(|row| row.frames));
    table.numbers("freeze_time_s", rows.iter().map(|row| row.freeze_time_s));
    table.finish()
}

/// A conversation in one interval.
#[derive(Clone, Copy, JsonSchema)]
pub(super) struct CourseRow<'a> {
    /// End of the interval, from the start of the run.
    time_s: f64,
    /// Name of the conversation.
    conversation: &'a str,
    /// Packets sent in the interval.
    #[schemars(extend("x-counted" = "at the sending node"))]
    sent_packets: u64,
    /// Those of them that never arrived; at the end of the run, this includes packets in flight.
    #[schemars(extend("x-counted" = "at every node on the way"))]
    lost_packets: u64,
    /// Packets that arrived in the interval.
    #[schemars(extend("x-unit" = "packets", "x-counted" = "at the receiving node"))]
    packets: u64,
    /// Their bytes, in bits per second.
    #[schemars(extend("x-divisor" = "length of the interval", "x-counted" = "at the receiving node"))]
    rate_bps: f64,
    /// Mean of their delays; null without an arrival.
    #[schemars(extend("x-divisor" = "packets that arrived in the interval", "x-counted" = "at the receiving node"))]
    delay_s: Option<f64>,
    /// Maximum of their delays.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    delay_max_s: Option<f64>,
    /// Pictures of RTP video that were whole in the interval; null if the conversation has no video.
    #[schemars(extend("x-unit" = "pictures", "x-counted" = "at the receiving node"))]
    frames: Option<u64>,
    /// How long a picture was frozen within the interval, added up over the streams of the conversation; null without video.
    #[schemars(extend("x-counted" = "at the receiving node"))]
    freeze_time_s: Option<f64>,
}

impl<'a> CourseRow<'a> {
    fn new(record: &'a ConversationRecord, (end, seconds, interval): (Instant, f64, &Interval)) -> Self {
        let is_video = record.rtp.iter().any(|stream| stream.frames.is_some());
        let has_arrivals = interval.received_packets > 0;
        Self {
            time_s: end.as_secs_f64(),
            conversation: &record.name,
            sent_packets: interval.sent_packets,
            lost_packets: interval.sent_packets - interval.arrived_packets,
            packets: interval.received_packets,
            rate_bps: interval.received_bytes as f64 * 8.0 / seconds,
            delay_s: has_arrivals.then(|| interval.delay_sum.as_secs_f64() / interval.received_packets as f64),
            delay_max_s: has_arrivals.then(|| interval.delay_max.as_secs_f64()),
            frames: is_video.then_some(interval.frames),
            freeze_time_s: is_video.then(|| interval.freeze_time.as_secs_f64()),
        }
    }
}

fn records(result: &RunResult) -> &[ConversationRecord] {
    result.conversations.as_ref().map_or(&[], |records| &records.conversations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    #[test]
    fn the_page_has_the_limit_of_conversations() {
        let limit = format!("hopcast keeps {} conversations", Conversations::MOST);
        assert!(include_str!("../../../../docs/conversations.md").contains(&limit), "{limit}");
    }

    #[test]
    fn names_say_protocol_nodes_and_ports() {
        let key = |protocol, ports| Key { from: NodeId(0), to: NodeId(1), protocol, ports };
        let name_of = |key: Key| name(&key, &protocol(key.protocol), ["a", "b"]);
        assert_eq!(name_of(key(6, Some([1, 2]))), "tcp a:1 > b:2");
        assert_eq!([name_of(key(1, None)), name_of(key(89, None))], ["icmp a > b", "89 a > b"]);
    }
}
