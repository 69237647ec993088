//! Random sessions: rates within their limits, and no panic.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Operation {
    Send {
        count: u8,
        size: u32,
    },
    Wait(u64),
    /// The fate of the oldest packets: lost, or arrived so late by a clock that may jump.
    Report {
        count: u8,
        fate: u8,
        late: u64,
        rtt: Option<u64>,
    },
    Frame {
        size: u32,
        waited: u64,
    },
    Timeout,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let one = prop_oneof![
        (1_u8..20, 0_u32..70_000).prop_map(|(count, size)| Operation::Send { count, size }),
        (0_u64..2_000_000_000).prop_map(Operation::Wait),
        (0_u8..30, 0_u8..4, prop_oneof![0_u64..1_000_000_000, any::<u64>()], prop::option::of(0_u64..10_000_000_000))
            .prop_map(|(count, fate, late, rtt)| Operation::Report { count, fate, late, rtt }),
        (any::<u32>(), 0_u64..5_000_000_000).prop_map(|(size, waited)| Operation::Frame { size, waited }),
        Just(Operation::Timeout),
    ];
    prop::collection::vec(one, 1..80)
}

proptest! {
    #[test]
    fn rates_stay_within_their_limits(operations in operations(), ecn in 0_u8..3) {
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][usize::from(ecn)];
        let config = Config { ecn, ..Config::default() };
        let mut scream = Scream::new(config);
        let mut now = Instant::START;
        let mut outstanding = std::collections::VecDeque::new();
        let mut number = 0;
        for operation in operations {
            match operation {
                Operation::Send { count, size } => {
                    for _ in 0..count {
                        let in_flight = u64::from(size) * (outstanding.len() as u64 + 1);
                        let packet = SentPacket { number, size, sent: now, probe: None, in_flight };
                        number += 1;
                        outstanding.push_back(packet);
                        scream.on_sent(&packet);
                    }
                }
                Operation::Wait(nanos) => now += Duration::from_nanos(nanos),
                Operation::Report { count, fate, late, rtt } => {
                    let mut packets = Vec::new();
                    for _ in 0..count {
                        let Some(packet) = outstanding.pop_front() else { break };
                        let ecn = if fate == 1 { Ecn::Ce } else { ecn };
                        let arrival = (fate > 0).then_some(Arrival { time: Instant::from_nanos(late), ecn });
                        packets.push(PacketResult { packet, arrival });
                    }
                    let rtt = rtt.filter(|_| fate > 0).map(Duration::from_nanos);
                    let in_flight = outstanding.iter().map(|packet: &SentPacket| u64::from(packet.size)).sum();
                    scream.on_feedback(&Feedback { now, packets: &packets, rtt, in_flight });
                }
                Operation::Frame { size, waited } => {
                    let queue_delay = Duration::from_nanos(waited);
                    scream.on_frame(&Frame { size, now, queued: u64::from(size), queue_delay });
                }
                Operation::Timeout => scream.handle_timeout(now),
            }
            prop_assert!((config.min_rate..=config.max_rate).contains(&scream.target_rate()));
            prop_assert!(scream.pacing_rate().is_some_and(|rate| rate >= 75_000));
            prop_assert!(scream.window().is_none_or(|bytes| bytes >= 9000));
            prop_assert!(scream.poll_timeout().is_none_or(|at| at > now || !scream.silent));
            scream.metrics(&mut |name, value| assert!(value.is_finite(), "{name} is {value}"));
        }
    }
}
