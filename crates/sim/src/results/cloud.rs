//! What became of the requests in a streaming cloud.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use arrow_array::RecordBatch;
use hopcast_protocols::streaming::device::{Counters, Device, Outcome, Viewing};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::cloud::{Refusal, StreamId};
use schemars::JsonSchema;
use serde::Serialize;

use super::RunResult;
use super::record::node_names;
use super::table::Table;
use crate::address::node_of;
use crate::id::NodeId;
use crate::run::Simulation;
use crate::scenario::model::{Cloud, Scenario};
use crate::traffic::{in_blocks, numbers};

/// A streaming cloud.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CloudRecord {
    /// Requests, device by device in the order of the scenario, then in the order of time.
    pub streams: Vec<StreamRecord>,
    /// Sums over all devices.
    pub totals: CloudTotals,
}

/// One request and what became of it.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct StreamRecord {
    /// Device whose user asked.
    pub display: String,
    /// Clip that the user asked for.
    pub clip: String,
    /// Device that sent the clip; the display itself if it stores the clip; of a clip in blocks, the one that sent the last block; `null`
    /// if none did.
    pub source: Option<String>,
    /// Time of the request.
    pub asked_s: f64,
    /// What became of it.
    pub outcome: OutcomeName,
    /// Why the last path was refused; `null` if `outcome` is not `refused`.
    pub reason: Option<Reason>,
    /// Links of the path, of a clip in blocks the most; 0 at a device that stores the clip.
    #[schemars(extend("x-unit" = "links"))]
    pub hops: u32,
    /// Media that the display buffers; of a clip in blocks at least one block.
    pub prefetch_s: f64,
    /// Probability of a stall that the profiles on the path told at admission; `null` if one could not tell.
    #[schemars(extend("x-unit" = "probability"))]
    pub predicted_stall: Option<f64>,
    /// Paths that were refused.
    #[schemars(extend("x-unit" = "paths"))]
    pub refused_paths: u32,
    /// Paths that were looked for because the one in use was lost.
    #[schemars(extend("x-unit" = "paths"))]
    pub reroutes: u32,
    /// Times that the stream took a shorter path while it was under way.
    #[schemars(extend("x-unit" = "times"))]
    pub shortened: u32,
    /// Times that a shorter path failed.
    #[schemars(extend("x-unit" = "times"))]
    pub returned: u32,
    /// Time for which a second path was reserved.
    pub held_s: f64,
    /// Longest time between two packets of the clip at the display, also over two paths one after the other; `null` if fewer than two came, and of
    /// clips in blocks.
    pub longest_gap_s: Option<f64>,
    /// From the request to the first picture; `null` if there was none.
    pub start_up_s: Option<f64>,
    /// Times that the display stopped because its buffer was empty.
    #[schemars(extend("x-unit" = "hiccups", "x-counted" = "at the display"))]
    pub hiccups: u64,
    /// Time that the display stood still after its start.
    pub stalled_s: f64,
    /// Longest such time.
    pub longest_stall_s: f64,
    /// Media shown.
    pub played_s: f64,
    /// Mean rate of the media that came, by playing time, of a display that adapts the rate; `null` of others, and if no segment came.
    #[schemars(extend("x-divisor" = "playing time of the segments that came"))]
    pub rate_mean_bps: Option<f64>,
    /// Changes of the rate from one segment to the next; `null` of displays that don't adapt it.
    #[schemars(extend("x-unit" = "times"))]
    pub rate_changes: Option<u32>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeName {
    /// The run ended before an answer.
    Pending,
    /// The run ended during the display.
    Playing,
    /// The display showed all of the clip.
    Completed,
    /// No device answered.
    NotFound,
    /// All paths were refused.
    Refused,
    /// The path was lost, and no other one was found.
    Broken,
}

/// Why a node refused a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Too little airtime was left around a node.
    Airtime,
    /// The stream would have stalled too often.
    Risk,
    /// A profile had fewer than 10 samples.
    Unknown,
    /// Too many hops of too high a rate.
    Hops,
    /// A link was slower than the clip.
    Rate,
    /// Another reservation came first, or messages were lost.
    Lost,
    /// A node had neither the clip nor the next neighbour.
    Absent,
}

/// Sums over all devices of a cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct CloudTotals {
    /// Requests.
    #[schemars(extend("x-unit" = "requests", "x-counted" = "at the display"))]
    pub offered: u64,
    /// Requests for clips that the display stores.
    #[schemars(extend("x-unit" = "requests", "x-counted" = "at the display"))]
    pub local: u64,
    /// Requests for which a path was reserved.
    #[schemars(extend("x-unit" = "requests", "x-counted" = "at the display"))]
    pub admitted: u64,
    /// Requests whose paths were all refused.
    #[schemars(extend("x-unit" = "requests", "x-counted" = "at the display"))]
    pub refused: u64,
    /// Requests that no device answered.
    #[schemars(extend("x-unit" = "requests", "x-counted" = "at the display"))]
    pub not_found: u64,
    /// Admitted streams that were shown to the end.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the display"))]
    pub completed: u64,
    /// Of these, the ones without a hiccup.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the display"))]
    pub completed_without_hiccup: u64,
    /// Admitted streams whose paths were lost for good.
    #[schemars(extend("x-unit" = "streams", "x-counted" = "at the display"))]
    pub broken: u64,
    /// Hiccups of all admitted streams.
    #[schemars(extend("x-unit" = "hiccups", "x-counted" = "at the display"))]
    pub hiccups: u64,
    /// Media that admitted streams have shown.
    pub played_s: f64,
    /// Time that displays stood still after their starts.
    pub stalled_s: f64,
    /// Hiccups per hour of display, of admitted streams; `null` if nothing was shown.
    #[schemars(extend("x-unit" = "1/h", "x-divisor" = "hours of media shown"))]
    pub hiccups_per_hour: Option<f64>,
    /// Median of the time from the request to the first picture, of admitted streams; `null` without any.
    pub start_up_median_s: Option<f64>,
    /// Time that 95 % of them did not exceed.
    pub start_up_p95_s: Option<f64>,
    /// Messages of devices that are neither media nor measurements.
    #[schemars(extend("x-unit" = "messages", "x-counted" = "at the sender"))]
    pub control_messages: u64,
    /// Bytes of UDP payload of these messages.
    #[schemars(extend("x-counted" = "at the sender"))]
    pub control_bytes: u64,
    /// Bytes of UDP payload of packets that measured links.
    #[schemars(extend("x-counted" = "at the sender"))]
    pub measuring_bytes: u64,
    /// Packets of clips, at each hop.
    #[schemars(extend("x-counted" = "at each hop"))]
    pub media_packets: u64,
    /// Packets of clips that their senders repeated.
    #[schemars(extend("x-counted" = "at the source of a clip"))]
    pub repeated_packets: u64,
    /// Lasting steps that the profiles of links have seen.
    #[schemars(extend("x-unit" = "steps"))]
    pub profile_steps: u64,
    /// Bookings at the end of the run that belong to no stream under way. After 15 s without refreshment they end.
    #[schemars(extend("x-unit" = "bookings", "x-counted" = "at each node of a path"))]
    pub orphaned_bookings: u64,
    /// Clips that devices fetched because others looked for them without success.
    #[schemars(extend("x-unit" = "clips", "x-counted" = "at the device that fetched them"))]
    pub carried: u64,
    /// Bytes of clips that the devices store, all copies together.
    #[schemars(extend("x-counted" = "at all devices"))]
    pub stored_bytes: u64,
    /// Share of the storage that is saved, compared with a copy of each clip at each device.
    #[schemars(extend("x-unit" = "1", "x-divisor" = "bytes of all clips, times devices"))]
    pub saved_storage: f64,
}

/// The cloud of a run at its end, if the scenario has one.
pub(super) fn record(scenario: &Scenario, simulation: &Simulation) -> Option<CloudRecord> {
    let cloud = scenario.cloud.as_ref()?;
    let now = simulation.now();
    let names: Vec<&String> = node_names(scenario).collect();
    let name = |node: NodeId| names.get(node.0 as usize).map_or_else(String::new, |name| (*name).clone());
    let devices: Vec<(NodeId, &Device)> = simulation.devices().collect();
    let viewings: Vec<(NodeId, Viewing)> =
        devices.iter().flat_map(|&(node, device)| device.viewings(now).map(move |viewing| (node, viewing))).collect();
    let streams = viewings.iter().map(|(node, viewing)| stream(cloud, *node, viewing, name)).collect();
    let mut totals = totals(&devices, &viewings, now);
    (totals.stored_bytes, totals.saved_storage) = storage(cloud, &devices);
    Some(CloudRecord { streams, totals })
}

/// A row for each request in a streaming cloud, with the fields of [`StreamRecord`].
pub fn stream_table(result: &RunResult) -> RecordBatch {
    let streams = || result.cloud.iter().flat_map(|cloud| &cloud.streams);
    let mut table = Table::new(result.provenance.seed, streams().count());
    table.texts("display", streams().map(|stream| &stream.display));
    table.texts("clip", streams().map(|stream| &stream.clip));
    table.optional_texts("source", streams().map(|stream| stream.source.as_deref()));
    table.numbers("asked_s", streams().map(|stream| Some(stream.asked_s)));
    table.texts("outcome", streams().map(|stream| stream.outcome.name()));
    table.optional_texts("reason", streams().map(|stream| stream.reason.map(Reason::name)));
    table.counts("hops", streams().map(|stream| stream.hops.into()));
    table.numbers("prefetch_s", streams().map(|stream| Some(stream.prefetch_s)));
    table.numbers("predicted_stall", streams().map(|stream| stream.predicted_stall));
    table.counts("refused_paths", streams().map(|stream| stream.refused_paths.into()));
    table.counts("reroutes", streams().map(|stream| stream.reroutes.into()));
    table.counts("shortened", streams().map(|stream| stream.shortened.into()));
    table.counts("returned", streams().map(|stream| stream.returned.into()));
    table.numbers("held_s", streams().map(|stream| Some(stream.held_s)));
    table.numbers("longest_gap_s", streams().map(|stream| stream.longest_gap_s));
    table.numbers("start_up_s", streams().map(|stream| stream.start_up_s));
    table.counts("hiccups", streams().map(|stream| stream.hiccups));
    table.numbers("stalled_s", streams().map(|stream| Some(stream.stalled_s)));
    table.numbers("longest_stall_s", streams().map(|stream| Some(stream.longest_stall_s)));
    table.numbers("played_s", streams().map(|stream| Some(stream.played_s)));
    table.numbers("rate_mean_bps", streams().map(|stream| stream.rate_mean_bps));
    table.optional_counts("rate_changes", streams().map(|stream| stream.rate_changes.map(u64::from)));
    table.finish()
}

impl OutcomeName {
    /// The name in results.
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Playing => "playing",
            Self::Completed => "completed",
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::Broken => "broken",
        }
    }
}

impl Reason {
    /// The name in results.
    fn name(self) -> &'static str {
        match self {
            Self::Airtime => "airtime",
            Self::Risk => "risk",
            Self::Unknown => "unknown",
            Self::Hops => "hops",
            Self::Rate => "rate",
            Self::Lost => "lost",
            Self::Absent => "absent",
        }
    }
}

fn stream(cloud: &Cloud, node: NodeId, viewing: &Viewing, name: impl Fn(NodeId) -> String) -> StreamRecord {
    let (outcome, reason) = match viewing.outcome {
        Outcome::Pending => (OutcomeName::Pending, None),
        Outcome::Playing => (OutcomeName::Playing, None),
        Outcome::Completed => (OutcomeName::Completed, None),
        Outcome::NotFound => (OutcomeName::NotFound, None),
        Outcome::Broken => (OutcomeName::Broken, None),
        Outcome::Refused(reason) => (OutcomeName::Refused, Some(reason_of(reason))),
    };
    let report = &viewing.report;
    StreamRecord {
        display: name(node),
        clip: cloud.clips[viewing.wish.clip as usize].name.clone(),
        source: viewing.from.map(|from| name(node_of(from))),
        asked_s: viewing.asked.as_secs_f64(),
        outcome,
        reason,
        hops: viewing.hops,
        prefetch_s: viewing.prefetch.as_secs_f64(),
        predicted_stall: viewing.risk,
        refused_paths: viewing.refusals,
        reroutes: viewing.reroutes,
        shortened: viewing.paths.shortened,
        returned: viewing.paths.returned,
        held_s: viewing.paths.held.as_secs_f64(),
        longest_gap_s: viewing.gap.map(Duration::as_secs_f64),
        start_up_s: report.start_up_delay.map(Duration::as_secs_f64),
        hiccups: report.hiccups,
        stalled_s: report.stalled.as_secs_f64(),
        longest_stall_s: report.longest.as_secs_f64(),
        played_s: report.played.as_secs_f64(),
        rate_mean_bps: viewing.adapted.and_then(|adapted| {
            let media = adapted.media.as_secs_f64();
            (media > 0.0).then(|| adapted.bits as f64 / media)
        }),
        rate_changes: viewing.adapted.map(|adapted| adapted.switches),
    }
}

fn reason_of(refusal: Refusal) -> Reason {
    match refusal {
        Refusal::Airtime => Reason::Airtime,
        Refusal::Risk => Reason::Risk,
        Refusal::Unknown => Reason::Unknown,
        Refusal::Hops => Reason::Hops,
        Refusal::Rate => Reason::Rate,
        Refusal::Lost => Reason::Lost,
        Refusal::Absent => Reason::Absent,
    }
}

fn totals(devices: &[(NodeId, &Device)], viewings: &[(NodeId, Viewing)], now: Instant) -> CloudTotals {
    let mut totals = CloudTotals { offered: viewings.len() as u64, ..CloudTotals::default() };
    let mut start_ups = Vec::new();
    for (_, viewing) in viewings {
        match viewing.outcome {
            Outcome::NotFound => totals.not_found += 1,
            Outcome::Refused(_) => totals.refused += 1,
            Outcome::Broken => totals.broken += 1,
            Outcome::Pending | Outcome::Playing | Outcome::Completed => {}
        }
        // Of what is stored at the display nothing was asked of the cloud.
        if viewing.from.is_some() && viewing.hops == 0 {
            totals.local += 1;
            continue;
        }
        let report = &viewing.report;
        totals.admitted += u64::from(viewing.from.is_some());
        if viewing.outcome == Outcome::Completed {
            totals.completed += 1;
            totals.completed_without_hiccup += u64::from(report.hiccups == 0);
        }
        totals.hiccups += report.hiccups;
        totals.played_s += report.played.as_secs_f64();
        totals.stalled_s += report.stalled.as_secs_f64();
        start_ups.extend(report.start_up_delay.map(Duration::as_secs_f64));
    }
    totals.hiccups_per_hour = (totals.played_s > 0.0).then(|| totals.hiccups as f64 / (totals.played_s / 3_600.0));
    start_ups.sort_by(f64::total_cmp);
    totals.start_up_median_s = quantile(&start_ups, 0.5);
    totals.start_up_p95_s = quantile(&start_ups, 0.95);
    for (_, device) in devices {
        let Counters { control_messages, control_octets, measuring_octets, media_packets, repeated_packets, steps } =
            device.counters();
        totals.control_messages += control_messages;
        totals.control_bytes += control_octets;
        totals.measuring_bytes += measuring_octets;
        totals.media_packets += media_packets;
        totals.repeated_packets += repeated_packets;
        totals.profile_steps += steps;
    }
    totals.orphaned_bookings = orphans(devices, now);
    totals.carried = devices.iter().map(|(_, device)| device.carried() as u64).sum();
    totals
}

/// Bytes that all devices store, and the share that is saved compared with full copies.
fn storage(cloud: &Cloud, devices: &[(NodeId, &Device)]) -> (u64, f64) {
    let sizes: BTreeMap<u32, u64> = cloud
        .clips
        .iter()
        .zip(0..)
        .flat_map(|(clip, number)| numbers(clip, number).map(|number| (number, in_blocks(clip).block_size)))
        .collect();
    let all = devices.iter().flat_map(|(_, device)| device.clips());
    let stored: u64 = all.filter_map(|number| sizes.get(&number)).sum();
    let full = sizes.values().sum::<u64>() as f64 * devices.len() as f64;
    (stored, if full > 0.0 { 1.0 - stored as f64 / full } else { 0.0 })
}

/// Bookings whose stream is not under way.
fn orphans(devices: &[(NodeId, &Device)], now: Instant) -> u64 {
    let is_live = |viewing: &Viewing| matches!(viewing.outcome, Outcome::Playing | Outcome::Pending);
    let displays: BTreeMap<Ipv4Addr, &Device> =
        devices.iter().map(|&(node, device)| (crate::address::ip_address(node), device)).collect();
    let is_under_way = |stream: &StreamId| {
        displays
            .get(&stream.display)
            .and_then(|device| device.viewing(stream.request(), now))
            .is_some_and(|one| is_live(&one))
    };
    let booked = devices.iter().flat_map(|(_, device)| device.reservations().streams());
    booked.filter(|stream| !is_under_way(stream)).count() as u64
}

/// The least value that a share `p` of `sorted` does not exceed.
fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    // A float to integer cast saturates.
    let place = (libm::ceil(p * sorted.len() as f64) as usize).saturating_sub(1);
    sorted.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_tables_are_those_of_the_object() {
        for outcome in [OutcomeName::Pending, OutcomeName::Playing, OutcomeName::Completed, OutcomeName::NotFound] {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
        }
        for outcome in [OutcomeName::Refused, OutcomeName::Broken] {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
        }
        for refusal in Refusal::ALL {
            let reason = reason_of(refusal);
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        }
    }

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!([0.5, 0.95, 1.0].map(|p| quantile(&values, p)), [Some(10.0), Some(19.0), Some(20.0)]);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.05), Some(7.0));
    }
}
