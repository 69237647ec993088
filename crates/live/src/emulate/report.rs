//! Results of an emulation: as an object for machines, as lines for people.

use std::fmt;

use hopcast_sim::results::dictionary::described;
use hopcast_sim::results::{ConversationRecord, RtpRecord, RunResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::lag::LagSummary;
use super::programs::ProgramRecord;
use super::session::{Outputs, Session};

/// A run with real hosts.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    /// As that of `hopcast run`.
    #[serde(flatten)]
    pub(super) run: &'a RunResult,
    pub(super) emulation: EmulationRecord,
}

/// Statistics of the real hosts.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct EmulationRecord {
    /// Frames that real nodes sent.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the devices of real nodes"))]
    pub(super) frames_taken: u64,
    /// Those of `frames_taken` that no radio or wire could send: they are to or from addresses that no node has.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the devices of real nodes"))]
    pub(super) frames_refused: u64,
    /// Frames and packets that left on wires and were not lost.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the sender"))]
    pub(super) frames_on_wires: u64,
    /// Frames for real nodes.
    #[schemars(extend("x-unit" = "frames", "x-counted" = "at the devices of real nodes"))]
    pub(super) frames_delivered: u64,
    /// SHA-256 of the delivered frames and their instants.
    pub(super) delivered_sha256: String,
    /// How much later than at their simulated instants frames left for real nodes; `null` of a replay, which knows no real time.
    pub(super) lag: Option<LagSummary>,
    /// Programs at real nodes.
    pub(super) programs: Vec<ProgramRecord>,
    /// Flows of the scenario between two real nodes, which are left to programs.
    pub(super) flows_left: Vec<String>,
}

/// What an emulation adds to the fields of a run.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is needed: a report borrows its run")]
struct Addition {
    /// Statistics of the real nodes.
    emulation: EmulationRecord,
}

/// The JSON Schema of what an emulation adds to the fields of a run.
pub(crate) fn schema() -> Value {
    described::<Addition>()
}

impl EmulationRecord {
    /// That of a session with these outputs.
    pub(super) fn new(session: &Session<'_>, outputs: &Outputs, flows_left: Vec<String>) -> Self {
        Self {
            frames_taken: session.accepted + session.refused,
            frames_refused: session.refused,
            frames_on_wires: session.replication.simulation().sent_on_wires(),
            frames_delivered: outputs.frames,
            delivered_sha256: outputs.digest.clone(),
            lag: None,
            programs: Vec::new(),
            flows_left,
        }
    }
}

impl Report<'_> {
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a report holds nothing that JSON lacks")
    }
}

/// Conversations of which lines tell: those with the most bytes. All are in the object.
const LINES: usize = 20;

impl Report<'_> {
    /// A line for each conversation between real nodes, in the order of their first packets.
    fn conversations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(records) = &self.run.conversations else { return Ok(()) };
        let all = &records.conversations;
        let mut largest: Vec<usize> = (0..all.len()).collect();
        largest.sort_by_key(|&index| std::cmp::Reverse(all[index].sent_bytes));
        largest.truncate(LINES);
        largest.sort_unstable();
        for conversation in largest.into_iter().map(|index| &all[index]) {
            let rate = conversation.rate_bps.map_or("-".to_owned(), |rate| format!("{:.3} Mb/s", rate * 1e-6));
            writeln!(
                f,
                "{}: {} packets, {rate}, {:.2} % lost, delay {}",
                conversation.name,
                conversation.sent_packets,
                conversation.loss_ratio * 1e2,
                milliseconds(conversation.delay_mean_s),
            )?;
            causes(conversation, f)?;
            conversation.rtp.iter().try_for_each(|stream| rtp(stream, f))?;
        }
        match all.len().saturating_sub(LINES) {
            0 => Ok(()),
            more => writeln!(f, "{more} further conversations with fewer bytes; --json and --out have them"),
        }
    }
}

/// A line that says why packets of a conversation were lost, if any were.
fn causes(conversation: &ConversationRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let drops = conversation.drops.iter().map(|(cause, count)| (cause.name().replace('_', " "), count));
    let held = Some(("held by a real node".to_owned(), conversation.held_packets)).filter(|&(_, count)| count > 0);
    let texts: Vec<String> = drops.chain(held).map(|(cause, count)| format!("{cause} {count}")).collect();
    if texts.is_empty() { Ok(()) } else { writeln!(f, "  lost: {}", texts.join(", ")) }
}

/// A line for a stream of RTP.
fn rtp(stream: &RtpRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (lost, received) = (stream.lost_packets, stream.received_packets);
    write!(f, "  RTP {:#010x}: {received} packets arrived, {lost} lost", stream.ssrc)?;
    write!(f, ", {} reordered, jitter {}", stream.reordered_packets, milliseconds(stream.jitter_mean_s))?;
    if let (Some(frames), Some(freezes), Some(time)) = (stream.frames, stream.freezes, stream.freeze_time_s) {
        write!(f, ", {frames} frames, {freezes} freezes of {time:.3} s in all")?;
    }
    writeln!(f)
}

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| format!("{:.3} ms", seconds * 1e3))
}

/// A line for each flow and each conversation, and the sums.
impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for flow in &self.run.flows {
            let summary = &flow.summary;
            let delay = milliseconds(summary.delay_mean_s);
            writeln!(
                f,
                "flow {}, {} to {}, {}: {:.3} Mb/s, {:.2} % lost, delay {delay}",
                flow.name,
                flow.from,
                flow.to,
                flow.protocol,
                summary.goodput_bps * 1e-6,
                summary.loss_ratio * 1e2,
            )?;
        }
        self.conversations(f)?;
        let EmulationRecord { frames_taken, frames_delivered, frames_on_wires, lag, .. } = &self.emulation;
        let (time, totals) = (self.run.cost.simulated_s, &self.run.totals);
        write!(
            f,
            "{time:.3} s: {frames_taken} frames from real hosts, {frames_delivered} to them, {} on the air",
            totals.frames_sent
        )?;
        match frames_on_wires {
            0 => writeln!(f)?,
            sent => writeln!(f, ", {sent} over wires")?,
        }
        if let Some(LagSummary { within_1ms: Some(within), p99_s: Some(p99), max_s: Some(max), .. }) = lag {
            writeln!(
                f,
                "lag behind real time: {:.2} % of frames within 1 ms, 99 % within {:.3} ms, all within {:.3} ms",
                within * 1e2,
                p99 * 1e3,
                max * 1e3,
            )?;
        }
        match lag {
            Some(LagSummary { standstill_s, limit_s, .. }) if *standstill_s > 0.0 => {
                let limit = limit_s * 1e3;
                writeln!(f, "the emulation stood still for {standstill_s:.3} s, in pauses longer than {limit:.3} ms")
            }
            _ => Ok(()),
        }
    }
}
