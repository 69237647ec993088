//! Random operations on both ends.

use proptest::prelude::*;

use super::super::super::tfrc::{Data, Feedback};
use super::super::{Config, Expired, Identification, Receiver, Sender, States};
use crate::time::{Duration, Instant};

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    Wait(u64),
    Feedback { age: Option<u64>, receive_rate: f64, loss_event_rate: f64, states: Option<u8> },
    Answer,
    Timeout,
}

fn operations() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0_u64..500_000_000).prop_map(Operation::Send),
        (0_u64..10_000_000_000).prop_map(Operation::Wait),
        (
            prop::option::of(0_u64..3_000_000_000),
            prop_oneof![any::<f64>(), 0.0..1e6_f64],
            prop_oneof![any::<f64>(), 0.0..1.0_f64, Just(0.0)],
            prop::option::of(0_u8..8)
        )
            .prop_map(|(age, receive_rate, loss_event_rate, states)| Operation::Feedback {
                age,
                receive_rate,
                loss_event_rate,
                states
            }),
        Just(Operation::Answer),
        Just(Operation::Timeout),
        Just(Operation::Timeout),
    ]
}

proptest! {
    #[test]
    fn a_sender_that_probes_sends_nothing_else_and_keeps_its_rate(
        limit in 0_u32..5,
        operations in prop::collection::vec(operations(), 1..80),
    ) {
        let mut sender = Sender::new(Config { probe_limit: limit, ..Config::default() });
        sender.on_handshake(Duration::from_millis(100));
        let mut now = Instant::START;
        let mut expiries = 0;
        for operation in operations {
            let (probing, rate) = (sender.is_probing(), sender.tfrc().rate());
            match operation {
                Operation::Send(nanos) => {
                    let until = now + Duration::from_nanos(nanos);
                    for _ in 0..100 {
                        let Some(at) = sender.departure(now).filter(|&at| at < until) else { break };
                        prop_assert!(!probing);
                        now = now.max(at);
                        sender.on_sent(1000, now, true, now);
                    }
                    now = until;
                }
                Operation::Wait(nanos) => now += Duration::from_nanos(nanos),
                Operation::Feedback { age, receive_rate, loss_event_rate, states } => {
                    let sent = age.map(|age| now.saturating_before(Duration::from_nanos(age)));
                    let feedback = Feedback { sent, delay: Duration::ZERO, receive_rate, loss_event_rate };
                    let states = states.map(|bits| States {
                        congestion: bits & 1 != 0,
                        route_change: bits & 2 != 0,
                        channel_error: bits & 4 != 0,
                    });
                    sender.handle_feedback(&feedback, states, now);
                    prop_assert!(!sender.is_probing());
                    if probing {
                        prop_assert_eq!(sender.tfrc().rate(), rate);
                    }
                    if states.is_some_and(|states| states.congestion) && !probing && receive_rate.is_finite() {
                        // Unless it has just returned by an answer without data, when the rate is as it was.
                        let bound = receive_rate.max(1000.0 / 64.0).max(rate);
                        prop_assert!(sender.tfrc().rate() <= bound);
                    }
                    expiries = 0;
                }
                Operation::Answer => {
                    sender.handle_probe_reply(now);
                    prop_assert!(!sender.is_probing());
                    expiries = 0;
                }
                Operation::Timeout => {
                    if let Some(due) = sender.poll_timeout() {
                        now = now.max(due);
                        let expired = sender.handle_timeout(now);
                        if probing {
                            expiries += 1;
                            prop_assert_eq!(expired == Expired::GiveUp, expiries >= limit.max(1));
                            prop_assert_eq!(sender.tfrc().rate(), rate);
                        }
                        if expired == Expired::GiveUp {
                            return Ok(());
                        }
                        prop_assert!(sender.poll_timeout().is_none_or(|due| due > now));
                    }
                }
            }
            prop_assert!(sender.tfrc().rate().is_finite() && sender.tfrc().rate() > 0.0);
        }
    }

    #[test]
    fn a_receiver_takes_whatever_comes(
        mode in 0_usize..4,
        packets in prop::collection::vec(
            (any::<bool>(), any::<u64>(), prop::option::of(any::<u32>()), any::<u64>(), 0_u64..200_000_000),
            1..200,
        ),
    ) {
        let identification = Identification::ALL.get(mode).copied();
        let mut receiver = Receiver::new(Config { identification, ..Config::default() });
        let (mut now, mut highest) = (Instant::START, 1000_u64);
        for (near, number, timestamp, rtt, pause) in packets {
            now += Duration::from_nanos(pause);
            let number = if near { highest + number % 9 - 4 } else { number >> 16 };
            highest = highest.max(number);
            let rtt = Duration::from_nanos(rtt >> 24);
            receiver.on_packet(&Data { number, len: 1000, without_data: 0, rtt }, timestamp, now);
            prop_assert!(receiver.signs().is_none() || receiver.sample().is_some());
            prop_assert_eq!(receiver.states(), identification.and_then(|by| Some(receiver.signs()?.states(by))));
            receiver.on_other(highest + 1, 0, now);
            highest += 1;
            receiver.handle_timeout(now);
            if let Some((report, notice)) = receiver.poll_report(now) {
                prop_assert!(report.receive_rate.is_finite() && (0.0..=1.0).contains(&report.loss_event_rate));
                prop_assert_eq!(notice.is_some(), receiver.states().is_some());
            }
        }
    }
}
