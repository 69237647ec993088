//! Random sessions: rates within their limits, and no panic.

use proptest::prelude::*;

use super::super::super::{Feedback, MediaCongestionControl};
use super::super::*;
use super::*;

#[derive(Clone, Debug)]
enum Operation {
    Send {
        count: u8,
        size: u32,
        probe: bool,
    },
    Wait(u64),
    /// The fate of the oldest packets: lost, or arrived by a clock that may jump.
    Report {
        count: u8,
        fate: u8,
        late: u64,
        rtt: Option<u64>,
    },
    Timeout,
    Poll,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let late = prop_oneof![0_u64..1_000_000_000, any::<u64>()];
    let rtt = prop::option::of(0_u64..10_000_000_000);
    let one = prop_oneof![
        (1_u8..30, 0_u32..70_000, any::<bool>()).prop_map(|(count, size, probe)| Operation::Send {
            count,
            size,
            probe
        }),
        (0_u64..2_000_000_000).prop_map(Operation::Wait),
        (0_u8..40, 0_u8..4, late, rtt).prop_map(|(count, fate, late, rtt)| Operation::Report {
            count,
            fate,
            late,
            rtt
        }),
        Just(Operation::Timeout),
        Just(Operation::Poll),
    ];
    prop::collection::vec(one, 1..120)
}

proptest! {
    #[test]
    fn rates_stay_within_their_limits(operations in operations()) {
        let config = Config::default();
        let mut gcc = Gcc::new(config);
        let mut now = Instant::START;
        let mut outstanding = std::collections::VecDeque::new();
        let (mut number, mut last_probe) = (0, None);
        for operation in operations {
            match operation {
                Operation::Send { count, size, probe } => {
                    for _ in 0..count {
                        let probe = last_probe.filter(|_| probe);
                        let packet = SentPacket { number, size, sent: now, probe, in_flight: 0 };
                        number += 1;
                        outstanding.push_back(packet);
                        gcc.on_sent(&packet);
                    }
                }
                Operation::Wait(nanos) => now += Duration::from_nanos(nanos),
                Operation::Report { count, fate, late, rtt } => {
                    let mut packets = Vec::new();
                    for step in 0..count {
                        let Some(packet) = outstanding.pop_front() else { break };
                        let time = Instant::from_nanos(late.wrapping_add(u64::from(step) * 1_000_000));
                        let ecn = hopcast_wire::ecn::Ecn::NotEct;
                        packets.push(PacketResult { packet, arrival: (fate > 0).then_some(Arrival { time, ecn }) });
                    }
                    let rtt = rtt.filter(|_| fate > 0).map(Duration::from_nanos);
                    gcc.on_feedback(&Feedback { now, packets: &packets, rtt, in_flight: 0 });
                }
                Operation::Timeout => gcc.handle_timeout(now),
                Operation::Poll => last_probe = gcc.poll_probe(now).map(|probe| probe.id).or(last_probe),
            }
            prop_assert!((config.min_rate..=config.max_rate).contains(&gcc.target_rate()));
            prop_assert!(gcc.estimate() <= 1_000_000_000);
            prop_assert!(gcc.pacing_rate().is_some_and(|rate| rate >= 375_000));
            gcc.metrics(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        }
    }
}
