//! What holds whatever the path does.

use proptest::prelude::*;

use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp;

use super::super::{Config, Format, Output, Receiver, Schedule, Sender, Told};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};
use crate::transport::Payload;
use crate::transport::media::scream::{self, Scream};

fn schedule() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        Just(Schedule::Frames),
        Just(Schedule::Share),
        (1_u64..300).prop_map(|ms| Schedule::Periodic(Duration::from_millis(ms)))
    ]
}

proptest! {
    /// Over a path that loses, delays and reorders: each unit is handed out at most once and unchanged, what left is known to have
    /// left, and both ends come to rest.
    #[test]
    fn each_unit_arrives_at_most_once(
        ccfb in any::<bool>(),
        schedule in schedule(),
        first_sequence in any::<u16>(),
        lifetime in prop::option::of(1_u64..1_000),
        frames in prop::collection::vec((1_u32..6, 1_u64..60), 1..40),
        path in prop::collection::vec((any::<u8>(), 0_u64..80), 64),
    ) {
        let format = if ccfb { Format::Ccfb } else { Format::Twcc };
        let retransmission = lifetime.map(Duration::from_millis);
        let config = Config { source: 9, first_sequence, format, schedule, retransmission };
        let draws = |end| Stream::new(1, Purpose::SessionReports, 0, end);
        let sender = Sender::new(config, Box::new(Scream::new(scream::Config::default())));
        let mut sender = sender.with_reports(Duration::ZERO, draws(0));
        let mut receiver = Receiver::new(config).with_reports(draws(1));
        // When, to whom, and what.
        let mut air: Vec<(Instant, bool, std::sync::Arc<[u8]>, Payload)> = Vec::new();
        let (mut units, mut arrived, mut lost, mut sent) = (0_u64, Vec::new(), 0_u64, 0_u64);
        let mut writes = Vec::new();
        let mut at = Instant::START;
        for (packets, gap) in frames {
            writes.push((at, packets));
            at += Duration::from_millis(gap);
        }
        writes.reverse();
        for _ in 0..20_000 {
            let due = air.iter().map(|entry| entry.0).min();
            let write = writes.last().map(|write| write.0);
            let next = [due, write, sender.poll_timeout(), receiver.poll_timeout()].into_iter().flatten().min();
            let Some(now) = next.filter(|next| *next < Instant::START + Duration::from_secs(60)) else { break };
            if let Some((_, packets)) = writes.pop_if(|write| write.0 <= now) {
                for _ in 0..packets {
                    sender.handle_write(Payload { unit: units, len: 700 }, now);
                    units += 1;
                }
            }
            while let Some(place) = air.iter().position(|entry| entry.0 <= now) {
                let (_, to_receiver, header, payload) = air.remove(place);
                if !to_receiver {
                    // Of a compound, the name of the receiver tells nothing.
                    let told = rtcp::packets(&header).next().map(|packet| sender.handle_control(packet, now));
                    prop_assert!(matches!(told, Some(Ok(Told::Feedback | Told::Reception | Told::Requests))));
                } else if rtcp::is_control(&header) {
                    rtcp::packets(&header).for_each(|packet| receiver.handle_control(packet, now));
                } else if receiver.handle_packet(&header, payload.len, Ecn::NotEct, now).unwrap() {
                    prop_assert_eq!(payload.len, 700);
                    arrived.push(payload.unit);
                }
            }
            sender.handle_timeout(now);
            while let Some(output) = sender.poll_output(now) {
                match output {
                    Output::Transmit(packet, _) => {
                        let (fate, delay) = path[(sent % 64) as usize];
                        sent += u64::from(!rtcp::is_control(&packet.header));
                        if fate > 40 {
                            air.push((now + Duration::from_millis(delay), true, packet.header, packet.payload));
                        }
                    }
                    Output::Lost(_) => lost += 1,
                    Output::TargetRate(rate) => prop_assert!((150_000..=1_500_000).contains(&rate)),
                    Output::Writable => {}
                }
            }
            let feedback = receiver.poll_feedback(now).into_iter().chain(receiver.poll_request(now));
            for report in feedback.chain(receiver.poll_receiver_report(now)).collect::<Vec<_>>() {
                let (fate, delay) = path[(sent % 64) as usize];
                if fate % 8 > 0 {
                    air.push((now + Duration::from_millis(delay), false, report, Payload::default()));
                }
            }
        }
        let count = arrived.len();
        arrived.sort_unstable();
        arrived.dedup();
        prop_assert_eq!(arrived.len(), count, "a unit twice");
        let statistics = sender.statistics();
        prop_assert_eq!((statistics.packets + lost, sender.waiting().count()), (units, 0));
        prop_assert_eq!(statistics.packets + statistics.retransmitted, sent);
        prop_assert!(lifetime.is_some() || statistics.retransmitted == 0);
        prop_assert!(receiver.poll_timeout().is_none());
    }

    #[test]
    fn arbitrary_octets_never_panic(octets in prop::collection::vec(any::<u8>(), 0..80), ccfb in any::<bool>(), again in any::<bool>()) {
        let format = if ccfb { Format::Ccfb } else { Format::Twcc };
        let config = Config { format, retransmission: again.then_some(Duration::from_secs(1)), ..Config::default() };
        let draws = |end| Stream::new(1, Purpose::SessionReports, 0, end);
        let sender = Sender::new(config, Box::new(Scream::new(scream::Config::default())));
        let mut sender = sender.with_reports(Duration::ZERO, draws(0));
        sender.handle_write(Payload { unit: 0, len: 10 }, Instant::START);
        while sender.poll_output(Instant::START).is_some() {}
        let _ = sender.handle_control(&octets, Instant::START);
        let mut receiver = Receiver::new(config).with_reports(draws(1));
        let _ = receiver.handle_packet(&octets, 0, Ecn::Ce, Instant::START);
        receiver.handle_control(&octets, Instant::START);
        let _ = receiver.poll_feedback(Instant::MAX);
        let _ = receiver.poll_request(Instant::MAX);
        let _ = receiver.poll_receiver_report(Instant::MAX);
    }
}
