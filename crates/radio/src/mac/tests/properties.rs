//! Properties that hold for any sequence of packets, signals and answers.

use std::collections::BTreeMap;

use proptest::prelude::*;

use hopcast_protocols::time::{Duration, Instant};

use super::bench::{Bench, FOURTH, ME, OTHER, PEER, Packet, Start, dsss, edca, micros, ofdm, us};
use super::protection::mixed;
use crate::mac::FrameKind::{Ack, Cts, Data, Rts};
use crate::mac::{AccessRules, Config, Frame, Output, Protection, StationId};
use crate::queue::{CoDelConfig, Discipline, FqCoDelConfig};

#[derive(Clone, Debug)]
enum Action {
    Packet { broadcast: bool, priority: u8, lifetime: Option<u64> },
    Noise(u64),
    Error(u64),
    Hear { kind: u8, to_me: bool, retry: bool, sequence: u32, duration: u64 },
}

fn actions() -> impl Strategy<Value = Vec<(u64, Action)>> {
    let packet = (any::<bool>(), 0_u8..8, prop_oneof![3 => Just(None), 1 => (0_u64..5_000).prop_map(Some)])
        .prop_map(|(broadcast, priority, lifetime)| Action::Packet { broadcast, priority, lifetime });
    let action = prop_oneof![
        packet.clone(),
        packet,
        // Down to less than the turnaround, and longer than any frame.
        (1_u64..2_000_000).prop_map(Action::Noise),
        (300_000_u64..2_000_000).prop_map(Action::Error),
        (0_u8..4, any::<bool>(), any::<bool>(), 0_u32..3, 0_u64..3_000).prop_map(
            |(kind, to_me, retry, sequence, duration)| Action::Hear { kind, to_me, retry, sequence, duration }
        ),
    ];
    // Nanoseconds from one action to the next: near slots, and over whole exchanges.
    let gap = prop_oneof![0_u64..60_000, (0_u64..300).prop_map(|gap| gap * 1_000), 0_u64..3_000_000];
    prop::collection::vec((gap, action), 1..60)
}

fn configs() -> impl Strategy<Value = Config> {
    let base = prop_oneof![Just(dsss()), Just(ofdm()), Just(edca()), Just(silent()), protected()];
    let threshold = prop_oneof![Just(None), Just(Some(0)), Just(Some(100))];
    let queue = (0_u32..4, disciplines(), prop_oneof![2 => Just(0), 1 => 1_u32..4]);
    (base, threshold, 1_u32..8, 1_u32..5, queue, rules()).prop_map(
        |(base, rts_threshold, short_retry_limit, long_retry_limit, queue, rules)| Config {
            rts_threshold,
            short_retry_limit,
            long_retry_limit,
            queue_packets: queue.0,
            queue_discipline: queue.1,
            driver_packets: queue.2,
            rules,
            ..base
        },
    )
}

fn rules() -> impl Strategy<Value = AccessRules> {
    prop_oneof![Just(AccessRules::Standard), Just(AccessRules::Ns2)]
}

/// A network without acknowledgements.
fn silent() -> Config {
    Config { acknowledgements: false, ..dsss() }
}

fn protected() -> impl Strategy<Value = Config> {
    prop_oneof![Just(Protection::CtsToSelf), Just(Protection::RtsCts)].prop_map(mixed)
}

/// With times as short as an exchange, so that packets are dropped.
fn disciplines() -> impl Strategy<Value = Discipline> {
    let codel = CoDelConfig { target: micros(500), interval: micros(2_000), mtu: 0, ecn: false };
    let fq_codel = FqCoDelConfig { codel, flows: 2, ..FqCoDelConfig::default() };
    prop_oneof![
        Just(Discipline::DropTail),
        Just(Discipline::Priority),
        Just(Discipline::CoDel(codel)),
        Just(Discipline::FqCoDel(fq_codel))
    ]
}

/// Writes the actions down; returns how many packets come from above, and the last instant.
fn script(bench: &mut Bench, actions: &[(u64, Action)]) -> (u32, Instant) {
    let (mut at, mut packets) = (us(0), 0);
    for (gap, action) in actions {
        at += Duration::from_nanos(*gap);
        match action {
            Action::Packet { broadcast, priority, lifetime } => {
                let receiver = (!broadcast).then_some(PEER);
                let expires = lifetime.map(|lifetime| at + micros(lifetime));
                bench.packet_to(
                    at,
                    receiver,
                    Packet { id: packets, octets: 64, priority: *priority, expires, more: 0 },
                );
                packets += 1;
            }
            Action::Noise(length) => bench.noise(at, at + Duration::from_nanos(*length)),
            Action::Error(length) => bench.hears_error(at, at + Duration::from_nanos(*length), bench.ack().vector),
            Action::Hear { kind, to_me, retry, sequence, duration } => {
                let to: StationId = if *to_me { ME } else { FOURTH };
                let duration = Duration::from_micros(*duration);
                let frame = match kind {
                    0 => bench.control(Rts, OTHER, to, duration),
                    1 => bench.control(Cts, OTHER, to, duration),
                    2 => bench.control(Ack, OTHER, to, duration),
                    _ => Frame { retry: *retry, duration, ..bench.data_between(OTHER, Some(to), *sequence) },
                };
                bench.hears(at, frame);
            }
        }
    }
    (packets, at)
}

/// Nothing starts while the medium is busy but a response, what follows SIFS after the frame before it in its exchange, and an
/// access that was decided within the turnaround (5 µs).
fn judge(start: &Start) {
    let Some(since) = start.busy_since else { return };
    let is_decided = start.at.saturating_since(since) <= Duration::from_micros(5);
    let is_response = matches!(start.frame.kind, Cts | Ack) && start.frame.receiver != Some(ME);
    let may_follow = start.frame.kind == Data && start.follows;
    assert!(is_decided || is_response || may_follow, "{:?} at {}, busy since {since}", start.frame.kind, start.at);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// The bench itself sees to it that the timer is never past.
    #[test]
    fn any_sequence_leaves_the_station_sound(
        config in configs(),
        actions in actions(),
        answers in prop::collection::vec(any::<bool>(), 0..40),
    ) {
        let limit = u64::from(config.short_retry_limit + config.short_retry_limit * config.long_retry_limit);
        let sifs = config.phy.parameters().sifs;
        let mut bench = Bench::new(config.clone());
        bench.set_judge(judge);
        bench.answer(answers);
        let (packets, last) = script(&mut bench, &actions);

        // Long enough for all to be sent or given up: each attempt takes less than its largest backoff and 10 ms.
        let end = last + Duration::from_millis(40) * limit * (u64::from(packets) + 1) + Duration::from_millis(40);
        let mut outcomes: BTreeMap<u32, u32> = BTreeMap::new();
        let mut on_air: Option<(Instant, Instant)> = None;
        let mut last_end = us(0);
        for (at, output) in bench.outputs_until(end) {
            match output {
                Output::Transmit(frame) => {
                    // One at a time, and never sooner than SIFS after the last.
                    if let Some((_, until)) = on_air {
                        prop_assert!(at >= until + sifs, "{:?} at {at} overlaps what ends at {until}", frame.kind);
                    }
                    on_air = Some((at, at + frame.airtime));
                    last_end = at + frame.airtime;
                    prop_assert_eq!(frame.transmitter, ME);
                    prop_assert!(frame.receiver != Some(ME) || frame.kind == Cts, "only a CTS is for the station itself");
                    prop_assert_eq!(frame.duration.as_nanos() % 1_000, 0, "whole microseconds");
                    prop_assert!(frame.kind == Data || !frame.retry);
                }
                Output::Sent(packet) | Output::FalselyAcknowledged(packet) | Output::Dropped(packet, ..) => {
                    *outcomes.entry(packet.id).or_default() += 1;
                }
                Output::Deliver(_, from) => prop_assert_eq!(from, OTHER),
                Output::Overheard(..) => prop_assert!(false, "nobody asked for it"),
                Output::Released(..) | Output::Late(..) | Output::OverheardInBody(..) | Output::Management(..) | Output::Action(..) => {
                    prop_assert!(false, "no agreement is in force");
                }
            }
        }
        prop_assert!(last_end <= end);
        // Every packet comes out exactly once, and none is left.
        prop_assert_eq!(bench.dcf().held().count(), 0);
        prop_assert_eq!(outcomes, (0..packets).map(|id| (id, 1)).collect());
        prop_assert_eq!(bench.dcf().poll_timeout(), None);
    }

    /// In the middle of anything, too, each packet is either out or held.
    #[test]
    fn no_packet_is_ever_lost_or_doubled(
        config in configs(),
        actions in actions(),
        answers in prop::collection::vec(any::<bool>(), 0..40),
        end in 0_u64..20_000,
    ) {
        let mut bench = Bench::new(config);
        bench.answer(answers);
        script(&mut bench, &actions);
        let end = us(end);
        let mut at = us(0);
        let mut arrived = 0;
        for (gap, action) in &actions {
            at += Duration::from_nanos(*gap);
            arrived += u32::from(matches!(action, Action::Packet { .. }) && at <= end);
        }
        let mut ids: Vec<u32> = bench
            .outputs_until(end)
            .into_iter()
            .filter_map(|(_, output)| match output {
                Output::Sent(packet) | Output::FalselyAcknowledged(packet) | Output::Dropped(packet, ..) => Some(packet.id),
                _ => None,
            })
            .collect();
        ids.extend(bench.dcf().held().map(|packet| packet.id));
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..arrived).collect::<Vec<_>>());
        prop_assert!(bench.dcf().poll_timeout().is_none_or(|timer| timer > end));
    }

    /// The same inputs, the same outputs.
    #[test]
    fn a_station_is_deterministic(config in configs(), actions in actions()) {
        let run = || {
            let mut bench = Bench::new(config.clone());
            script(&mut bench, &actions);
            format!("{:?}", bench.outputs_until(us(100_000)))
        };
        prop_assert_eq!(run(), run());
    }
}
