//! No packet gets lost without a cause, whatever the wire does.

use super::net::{Fate, Net};
use super::streams::{PER_OCTET, adu, bulk, cbr, scenario, tcp};
use super::units::{adtfrc, tfrc};
use super::*;
use crate::scenario::model::{Application, Relay, Transport};
use crate::video_trace::VideoTrace;
use hopcast_protocols::application::{FileSource, GameDirection, GameModel, GameSource};
use hopcast_protocols::fec::Config;
use proptest::prelude::*;

fn applications() -> impl Strategy<Value = Application> {
    prop_oneof![
        (100_u32..20_000).prop_map(|packet| bulk(Some(400_000), packet)),
        (1_u32..40_000, 0_u64..3_000).prop_map(|(size, wait)| adu(size, Duration::from_micros(wait), Some(300_000))),
        (1_u32..9_000, 1e5..3e7).prop_map(|(packet, rate)| cbr(rate, packet)),
        (prop::collection::vec(0_u32..20_000, 1..20), 100_u32..3_000).prop_map(|(frames, packet)| {
            let trace = VideoTrace { frames: frames.into(), interval: Duration::from_millis(7), times: None };
            Application::new(move |start, _| trace.source(start, packet))
        }),
        (1_u32..3_000, 1e5..3e7, 0_u64..30_000).prop_map(|(packet, rate, deadline)| {
            let deadline = Some(Duration::from_micros(deadline));
            Application::new(move |start, _| AudioSource::new(start, rate, packet, deadline))
        }),
        Just(Application::new(|start, random| {
            GameSource::new(start, GameModel::Faerber, GameDirection::ToClient, random)
        })),
        (1_u64..200_000, 1_u32..9_000, 0_u64..100).prop_map(|(bytes, packet, think)| {
            let think = Some(Duration::from_millis(think));
            Application::new(move |start, _| FileSource::new(start, bytes, packet, think)).with_whole_writes()
        }),
    ]
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        30 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        1 => Just(Fate::ArrivesUnknown),
        1 => Just(Fate::ArrivesTwice),
    ];
    prop::collection::vec(fate, 50..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn sent_is_received_and_dropped_and_in_flight(
        nodes in 2_u32..5,
        by_application in any::<bool>(),
        transport in prop::sample::select(vec![Transport::Udp, tcp(None), tfrc(), adtfrc()]),
        application in applications(),
        fec in prop::option::of((1_u8..20, 0_u8..8, 1_u64..100)),
        fates in fates(),
        queue in 1_u32..60,
        millis in 1_010_u64..3_000,
    ) {
        let relay = if by_application { Relay::Application } else { Relay::Os };
        let is_tcp = matches!(transport, Transport::Tcp(_));
        let mut scenario = scenario(nodes, relay, transport, application);
        scenario.flows[0].fec = fec.filter(|_| !is_tcp).map(|(source, repair, millis)| Config {
            source,
            repair,
            block_timeout: Duration::from_millis(millis),
            ..Config::default()
        });
        scenario.radio.mac.queue_packets = queue;
        // An application also in the other direction, over the same wires.
        let mut back = scenario.flows[0].clone();
        (back.from, back.to) = (back.to, back.from);
        scenario.flows.push(back);
        let mut fates = fates.into_iter().cycle();
        let mut net = Net::new(&scenario, PER_OCTET, move |_| fates.next().expect("the list is not empty"));
        // At any moment, and again when all that can time out has done so.
        net.run(Instant::START + Duration::from_millis(millis));
        net.audit();
        net.run(Instant::START + Duration::from_millis(millis + 500));
        net.audit();
    }
}
