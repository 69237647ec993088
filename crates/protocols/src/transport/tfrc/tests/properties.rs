//! Random operations: no panic, no rate above the allowed one, no unbounded memory.

use proptest::prelude::*;

use super::super::{Config, Data, Edition, Feedback, Receiver, Response, Sender};
use crate::time::{Duration, Instant};

fn configs() -> impl Strategy<Value = Config> {
    (any::<u32>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(segment, old, small, damped)| Config {
        segment: segment % 65_536,
        edition: if old { Edition::Rfc3448 } else { Edition::Rfc5348 },
        small_packets: small,
        oscillation_control: damped,
        granularity: Duration::ZERO,
    })
}

#[derive(Clone, Debug)]
enum Operation {
    /// The driver sends packets as soon as they are due, for so long.
    Send {
        nanos: u64,
        len: u32,
    },
    /// Nothing happens for so long.
    Wait(u64),
    /// Whatever a peer may claim.
    Feedback {
        age: Option<u64>,
        delay: u64,
        receive_rate: f64,
        loss_event_rate: f64,
        response: u8,
    },
    Timeout,
    Handshake(u64),
}

fn operations() -> impl Strategy<Value = Operation> {
    let rates = prop_oneof![any::<f64>(), 0.0..1e6_f64, Just(0.0)];
    let losses = prop_oneof![any::<f64>(), 0.0..1.0_f64, Just(0.0)];
    prop_oneof![
        (0_u64..2_000_000_000, 0_u32..70_000).prop_map(|(nanos, len)| Operation::Send { nanos, len }),
        (0_u64..100_000_000_000).prop_map(Operation::Wait),
        (prop::option::of(0_u64..3_000_000_000), any::<u64>(), rates, losses, 0_u8..3).prop_map(
            |(age, delay, receive_rate, loss_event_rate, response)| Operation::Feedback {
                age,
                delay: delay % 3_000_000_000,
                receive_rate,
                loss_event_rate,
                response
            }
        ),
        Just(Operation::Timeout),
        (0_u64..5_000_000_000).prop_map(Operation::Handshake),
    ]
}

proptest! {
    #[test]
    fn a_sender_never_sends_above_its_rate(
        config in configs(),
        operations in prop::collection::vec(operations(), 1..60),
    ) {
        let mut sender = Sender::new(config);
        let mut now = Instant::START;
        // The packet before: when it was to leave, and its length.
        let mut last: Option<(Instant, u32)> = None;
        for operation in operations {
            match operation {
                Operation::Send { nanos, len } => {
                    let until = now + Duration::from_nanos(nanos);
                    let offered = now;
                    for _ in 0..200 {
                        let departure = sender.departure(offered);
                        if departure >= until {
                            break;
                        }
                        now = now.max(departure);
                        if let Some((at, len)) = last {
                            // The allowed rate fills the time since the packet before, to the rounding of a nanosecond.
                            let allowed = sender.payload_rate() * (departure.saturating_since(at).as_secs_f64() + 2e-9);
                            prop_assert!(allowed * (1.0 + 1e-9) >= f64::from(len), "{} of {}", allowed, len);
                        }
                        sender.on_sent(len, offered, true, now);
                        // What was late by more than a round trip isn't made up for.
                        last = Some((departure.min(now), len));
                    }
                    now = until;
                }
                Operation::Wait(nanos) => now += Duration::from_nanos(nanos),
                Operation::Feedback { age, delay, receive_rate, loss_event_rate, response } => {
                    let sent = age.map(|age| now.saturating_before(Duration::from_nanos(age)));
                    let delay = Duration::from_nanos(delay);
                    let response = [Response::Adapt, Response::Limit, Response::Hold][usize::from(response)];
                    let before = sender.rate();
                    let feedback = Feedback { sent, delay, receive_rate, loss_event_rate };
                    sender.handle_feedback(&feedback, response, now);
                    if response == Response::Hold {
                        prop_assert_eq!(sender.rate(), before);
                    }
                }
                Operation::Timeout => {
                    let before = sender.rate();
                    if let Some(due) = sender.poll_timeout() {
                        now = now.max(due);
                        sender.handle_timeout(now);
                        prop_assert!(sender.poll_timeout().is_none_or(|due| due > now));
                        prop_assert!(sender.rate() <= before.max(sender.segment().max(1460.0) / 64.0));
                    }
                }
                Operation::Handshake(nanos) => sender.on_handshake(Duration::from_nanos(nanos)),
            }
            prop_assert!(sender.rate().is_finite() && sender.rate() > 0.0, "{}", sender.rate());
            prop_assert!(sender.payload_rate().is_finite() && sender.payload_rate() > 0.0);
        }
    }

    #[test]
    fn a_receiver_takes_whatever_comes(
        config in configs(),
        packets in prop::collection::vec(
            (any::<bool>(), any::<u64>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<bool>(), 0_u64..1_000_000_000),
            1..150,
        ),
    ) {
        let mut receiver = Receiver::new(config);
        let (mut now, mut highest) = (Instant::START, 1000_u64);
        for (near, number, len, without_data, rtt, counted, pause) in packets {
            now += Duration::from_nanos(pause);
            let number = if near { highest + number % 9 - 4 } else { number >> 16 };
            highest = highest.max(number);
            let data = Data { number, len, without_data, rtt: Duration::from_nanos(rtt >> 20) };
            receiver.on_packet(&data, now);
            receiver.count_losses(counted, now);
            receiver.handle_timeout(now);
            prop_assert!(receiver.poll_timeout().is_none_or(|due| due > now));
            if let Some(report) = receiver.poll_report(now) {
                prop_assert!(report.receive_rate.is_finite() && report.receive_rate >= 0.0);
                prop_assert!((0.0..=1.0).contains(&report.loss_event_rate));
            }
            let (_, intervals) = receiver.intervals();
            prop_assert!(intervals.len() <= 9);
        }
    }
}
