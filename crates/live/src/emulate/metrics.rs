//! Metrics of an emulation in Prometheus' text format (OpenMetrics 1.0).

use std::sync::atomic::AtomicU64;

use hopcast_sim::metrics::DropCause;
use hopcast_sim::results::{ConversationRecord, ConversationRecords, RtpRecord};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::{Registry, Unit};

use super::lag::LagSummary;
use crate::metrics;

/// What is told of an emulation while it runs.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// How far it has come, in seconds.
    pub(super) simulated_s: f64,
    /// Frames that real hosts sent, those of them that went nowhere, frames that were given to real hosts, frames on the air, and frames
    /// over wires.
    pub(super) frames: [u64; 5],
    pub(super) lag: LagSummary,
    pub(super) records: ConversationRecords,
}

/// Name and value of a label.
type Labels = Vec<(&'static str, String)>;

/// A counter of a conversation or a stream: its name, its help, and how to read it.
type Count<T> = (&'static str, &'static str, fn(&T) -> Option<u64>);

const OF_CONVERSATIONS: [Count<ConversationRecord>; 4] = [
    ("sent_packets", "Packets that the real node sent", |one| Some(one.sent_packets)),
    ("sent_bytes", "Their bytes behind the transport header", |one| Some(one.sent_bytes)),
    ("received_packets", "Packets that arrived", |one| Some(one.received_packets)),
    ("received_bytes", "Their bytes behind the transport header", |one| Some(one.received_bytes)),
];

const OF_RTP: [Count<RtpRecord>; 4] = [
    ("received_packets", "Packets that arrived", |one| Some(one.received_packets)),
    ("reordered_packets", "Packets that arrived after one with a higher sequence number", |one| {
        Some(one.reordered_packets)
    }),
    ("frames", "Pictures that arrived whole", |one| one.frames),
    ("freezes", "Freezes, by the rule of the W3C's freezeCount", |one| one.freezes),
];

/// The metrics of an emulation.
pub(super) fn text(snapshot: &Snapshot) -> String {
    let mut registry = Registry::with_prefix("hopcast_emulate");
    let Snapshot { simulated_s, frames, lag, records } = snapshot;
    registry.register_with_unit(
        "simulated",
        "How far the emulation has come",
        Unit::Seconds,
        ConstGauge::new(*simulated_s),
    );
    let frame_counters = [
        ("frames_taken", "Frames that real nodes sent"),
        ("frames_refused", "Frames of real nodes that no radio or wire could send"),
        ("frames_delivered", "Frames that were given to real nodes"),
        ("frames_on_air", "Frames on the simulated air"),
        ("frames_on_wires", "Frames over simulated wires"),
    ];
    for ((name, help), count) in frame_counters.into_iter().zip(frames) {
        registry.register(name, help, ConstCounter::new(*count));
    }
    if let Some(p99) = lag.p99_s {
        let help = "Lag behind real time that 99 % of frames kept";
        registry.register_with_unit("lag_p99", help, Unit::Seconds, ConstGauge::new(p99));
    }
    let help = "Packets between real nodes that belong to one conversation too many";
    registry.register("unlisted_packets", help, ConstCounter::new(records.unlisted_packets));
    conversations(&mut registry, &records.conversations);
    metrics::text(&registry)
}

fn conversations(registry: &mut Registry, all: &[ConversationRecord]) {
    let labelled = || all.iter().map(|one| (labels(one), one));
    for (name, help, read) in OF_CONVERSATIONS {
        count(registry, &format!("conversation_{name}"), help, labelled().map(|(labels, one)| (labels, read(one))));
    }
    // One that was dropped, or is missing, may arrive all the same by another copy: these numbers can fall.
    let lost = labelled().map(|(labels, one)| (labels, Some(one.lost_packets as f64)));
    gauge(registry, "conversation_lost_packets", "Packets dropped on the way", None, lost);
    let of_causes = labelled().flat_map(|(labels, one)| {
        let with_cause = move |(cause, count): (DropCause, u64)| {
            let cause = ("cause", cause.name().to_owned());
            (labels.iter().cloned().chain([cause]).collect::<Labels>(), Some(count as f64))
        };
        one.drops.iter().map(with_cause)
    });
    let help = "Packets dropped on the way, by the first cause of each";
    gauge(registry, "conversation_dropped_packets", help, None, of_causes);
    measure(
        registry,
        "conversation_delay_mean",
        "Mean one-way delay so far",
        labelled().map(|(labels, one)| (labels, one.delay_mean_s)),
    );
    let streams = || {
        all.iter().flat_map(|one| {
            one.rtp.iter().map(|stream| {
                let ssrc = ("ssrc", format!("{:#010x}", stream.ssrc));
                (labels(one).into_iter().chain([ssrc]).collect::<Labels>(), stream)
            })
        })
    };
    for (name, help, read) in OF_RTP {
        count(registry, &format!("rtp_{name}"), help, streams().map(|(labels, one)| (labels, read(one))));
    }
    let missing = streams().map(|(labels, one)| (labels, Some(one.lost_packets as f64)));
    let help = "Packets whose sequence numbers have not arrived so far";
    gauge(registry, "rtp_missing_packets", help, None, missing);
    let jitter = streams().map(|(labels, one)| (labels, one.jitter_mean_s));
    measure(registry, "rtp_jitter_mean", "Mean interarrival jitter of RFC 3550 so far", jitter);
    let frozen = streams().map(|(labels, one)| (labels, one.freeze_time_s));
    measure(registry, "rtp_freeze_time", "Time of all freezes so far", frozen);
}

fn labels(one: &ConversationRecord) -> Labels {
    let port = |port: Option<u16>| port.map_or_else(String::new, |port| port.to_string());
    vec![
        ("from", one.from.clone()),
        ("to", one.to.clone()),
        ("protocol", one.protocol.clone()),
        ("from_port", port(one.from_port)),
        ("to_port", port(one.to_port)),
    ]
}

/// A counter with a value for each set of labels that has one.
fn count(registry: &mut Registry, name: &str, help: &str, values: impl Iterator<Item = (Labels, Option<u64>)>) {
    let family = Family::<Labels, Counter>::default();
    for (labels, value) in values {
        if let Some(value) = value {
            family.get_or_create(&labels).inc_by(value);
        }
    }
    registry.register(name, help, family);
}

/// A time in seconds for each set of labels that has one.
fn measure(registry: &mut Registry, name: &str, help: &str, values: impl Iterator<Item = (Labels, Option<f64>)>) {
    gauge(registry, name, help, Some(Unit::Seconds), values);
}

/// What can rise and fall, for each set of labels that has a value.
fn gauge(
    registry: &mut Registry,
    name: &str,
    help: &str,
    unit: Option<Unit>,
    values: impl Iterator<Item = (Labels, Option<f64>)>,
) {
    let family = Family::<Labels, Gauge<f64, AtomicU64>>::default();
    for (labels, value) in values {
        if let Some(value) = value {
            family.get_or_create(&labels).set(value);
        }
    }
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, family),
        None => registry.register(name, help, family),
    }
}

#[cfg(test)]
mod tests {
    use hopcast_protocols::time::Duration;
    use hopcast_sim::results::Drops;

    use super::super::lag::Lag;
    use super::*;

    #[test]
    fn conversations_and_their_streams_have_labels() {
        let stream = RtpRecord {
            ssrc: 0xabcd,
            payload_type: 96,
            clock_rate_hz: None,
            received_packets: 3,
            lost_packets: 2,
            duplicate_packets: 0,
            reordered_packets: 0,
            jitter_mean_s: None,
            jitter_max_s: None,
            frames: None,
            freezes: None,
            freeze_time_s: None,
            freeze_max_s: None,
        };
        let call = ConversationRecord {
            name: "udp a:1 > b:2".into(),
            from: "a".into(),
            to: "b".into(),
            protocol: "udp".into(),
            from_port: Some(1),
            to_port: Some(2),
            sent_packets: 5,
            sent_bytes: 500,
            received_packets: 3,
            received_bytes: 300,
            lost_packets: 2,
            drops: Drops::default(),
            held_packets: 2,
            in_flight_packets: 0,
            duplicate_packets: 0,
            loss_ratio: 0.4,
            rate_bps: None,
            delay_mean_s: Some(0.25),
            delay_p99_s: None,
            jitter_mean_s: None,
            jitter_variance_s2: None,
            jitter_max_s: None,
            interarrival_jitter_mean_s: None,
            interarrival_jitter_max_s: None,
            first_sent_s: 0.0,
            first_arrival_s: None,
            last_arrival_s: None,
            rtp: vec![stream],
        };
        let records = ConversationRecords { conversations: vec![call], unlisted_packets: 0 };
        let lag = Lag::new().summary(Duration::from_millis(10));
        let text = text(&Snapshot { simulated_s: 1.5, frames: [9, 1, 7, 20, 30], lag, records });
        let labels = r#"from="a",to="b",protocol="udp",from_port="1",to_port="2""#;
        for line in [
            "hopcast_emulate_simulated_seconds 1.5\n".to_owned(),
            "hopcast_emulate_frames_refused_total 1\n".into(),
            "hopcast_emulate_frames_on_wires_total 30\n".into(),
            format!("hopcast_emulate_conversation_lost_packets{{{labels}}} 2.0\n"),
            format!("hopcast_emulate_conversation_delay_mean_seconds{{{labels}}} 0.25\n"),
            format!("hopcast_emulate_rtp_missing_packets{{{labels},ssrc=\"0x0000abcd\"}} 2.0\n"),
        ] {
            assert!(text.contains(&line), "{line}{text}");
        }
        // What is not known has no value.
        assert!(!text.contains("rtp_freezes_total{") && !text.contains("lag_p99"), "{text}");
    }
}
