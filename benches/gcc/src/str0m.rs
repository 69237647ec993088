//! str0m's GCC over a log: whole, and its rate control from hopcast's input.

use std::time::{Duration, Instant};

use str0m::bwe::Bitrate;
use str0m::bwe_::delay::rate_control::{RateControl, Signal};
use str0m::bwe_::probe::{ProbeClusterConfig, ProbeEstimator, ProbeKind};
use str0m::bwe_::{BandwidthUsage, Bwe};
use str0m::rtp_::{DataSize, TwccClusterId, TwccPacketId, TwccSendRecord, TwccSeq};

use crate::replay::{Answer, CONFIG, Event, State, TICK};

/// A packet of padding: 255 B and headers.
const PADDING: u32 = 255 + 20 + 28;
/// Of str0m's own delay controller.
const LIMITS: (Bitrate, Bitrate) = (Bitrate::kbps(40), Bitrate::gbps(10));

/// Replays a log; `ours` has hopcast's state after each feedback.
pub(crate) fn replay(events: &[Event], ours: &[State]) -> Vec<Answer> {
    let start = Instant::now();
    let time = |nanos: u64| start + Duration::from_nanos(nanos);
    let first = Bitrate::bps(CONFIG.start_rate);
    let mut whole = Bwe::new(first);
    whole.set_bitrate(Bitrate::bps(CONFIG.min_rate), Bitrate::bps(CONFIG.max_rate));
    let mut control = RateControl::new(first, LIMITS.0, LIMITS.1);
    let mut probes = ProbeEstimator::new();
    let (mut sent, mut answers) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Sent { at, size, probe } => {
                let is_padding = probe.is_some() && *size == PADDING;
                whole.on_media_sent(DataSize::bytes(i64::from(*size)), is_padding, time(*at));
                sent.push((time(*at), *size, *probe));
            }
            // Its probes are not sent: both work on what hopcast's measured.
            Event::Timer { at } => {
                whole.handle_timeout(time(*at), true);
                probes.handle_timeout(time(*at));
            }
            Event::Probe { at, id, rate, packets, .. } => {
                let kind = if *id < 2 { ProbeKind::Initial } else { ProbeKind::Exponential };
                let probe = ProbeClusterConfig::new(cluster(*id), Bitrate::bps(*rate), kind);
                let probe = probe.with_min_packet_count(*packets as usize);
                whole.start_probe(probe, time(*at));
                probes.probe_start(probe, time(*at));
            }
            Event::Feedback { at, rtt, fates } => {
                let now = time(*at);
                let records: Vec<TwccSendRecord> = fates
                    .iter()
                    .map(|(number, arrival)| {
                        let (left, size, probe) = sent[usize::try_from(*number).expect("a packet of the log")];
                        let seq = TwccSeq::from(*number);
                        let id = match probe {
                            Some(probe) => TwccPacketId::with_cluster(seq, cluster(probe)),
                            None => TwccPacketId::new(seq),
                        };
                        let arrival = arrival.map(|ticks| time(u64::try_from(ticks * TICK).expect("after the start")));
                        TwccSendRecord::test_new(id, left, size as usize, now, arrival)
                    })
                    .collect();
                whole.update(records.iter(), now);
                let state = &ours[answers.len()];
                let acknowledged = state.acknowledged.map(|rate| Bitrate::bps(rate as u64));
                let probed = probes.update(records.iter()).last().map(|(_, rate)| rate);
                match (probed, acknowledged) {
                    (Some(rate), _) => control.set_probe_result(rate, now),
                    (None, Some(rate)) => control.update(signal(state.usage), rate, rtt.map(Duration::from_nanos), now),
                    (None, None) => (),
                }
                answers.push(Answer {
                    at: *at,
                    target: rate(whole.last_estimate()),
                    by_delay: rate(whole.bwe.delay_controller.last_estimate()),
                    probed: probed.map(|rate| rate.as_f64()),
                    rtt: whole.bwe.delay_controller.smoothed_rtt.get().unwrap_or_default(),
                    control: control.estimated_bitrate().as_f64(),
                    acknowledged: whole.bwe.acked_bitrate_estimator.current_estimate().map(|rate| rate.as_f64()),
                    usage: match whole.bwe.delay_controller.trendline_estimator.hypothesis() {
                        BandwidthUsage::Overuse => 1.0,
                        BandwidthUsage::Normal => 0.0,
                        BandwidthUsage::Underuse => -1.0,
                    },
                });
            }
        }
    }
    answers
}

fn cluster(probe: u32) -> TwccClusterId {
    u64::from(probe).into()
}

fn signal(usage: f64) -> Signal {
    match usage {
        1.0 => Signal::Overuse,
        -1.0 => Signal::Underuse,
        _ => Signal::Normal,
    }
}

fn rate(estimate: Option<Bitrate>) -> f64 {
    estimate.map_or(f64::NAN, |rate| rate.as_f64())
}
