//! No packet appears or vanishes without a cause, whatever the scenario and whenever the run stops.

use hopcast_protocols::time::Duration;
use hopcast_sim::metrics::DropCause;
use hopcast_sim::run::Simulation;
use proptest::prelude::*;

use crate::run_with_checks;
use crate::scenarios::scenario;

/// A flow of a random scenario.
#[derive(Clone, Debug)]
struct RandomFlow {
    from: usize,
    hops: usize,
    protocol: &'static str,
    application: String,
    is_protected: bool,
    start_ms: u32,
    stop_ms: Option<u32>,
}

fn application() -> impl Strategy<Value = String> {
    prop_oneof![
        (1_u32..20_000, 0_u32..5)
            .prop_map(|(size, wait)| { format!(r#"{{ kind = "adu", size = "{size} B", wait = "{wait} ms" }}"#) }),
        (1_u32..3_000, 20_u32..4_000).prop_map(|(packet, rate)| {
            format!(r#"{{ kind = "cbr", rate = "{rate} kb/s", packet = "{packet} B" }}"#)
        }),
        (1_u32..3_000, 20_u32..4_000, 1_u32..60).prop_map(|(packet, rate, deadline)| {
            format!(r#"{{ kind = "audio", rate = "{rate} kb/s", packet = "{packet} B", deadline = "{deadline} ms" }}"#)
        }),
        prop::sample::select(vec!["server", "client"])
            .prop_map(|direction| format!(r#"{{ kind = "game", direction = "{direction}" }}"#)),
        (1_u32..50_000, 0_u32..50)
            .prop_map(|(bytes, think)| format!(r#"{{ kind = "file", bytes = "{bytes} B", think = "{think} ms" }}"#)),
        prop::sample::select(vec!["steady", "transient", "content-sharing"])
            .prop_map(|model| format!(r#"{{ kind = "codec", model = "{model}", max_rate = "20 Mb/s" }}"#)),
        (1_u32..4_000).prop_map(|packet| format!(r#"{{ kind = "bulk", packet = "{packet} B" }}"#)),
        (1_u32..100_000).prop_map(|bytes| format!(r#"{{ kind = "bulk", bytes = "{bytes} B" }}"#)),
    ]
}

fn flow() -> impl Strategy<Value = RandomFlow> {
    let times = (0_u32..100, prop::option::of(101_u32..400));
    let protocol = prop::sample::select(vec!["udp", "tcp", "tfrc", "adtfrc", "rtp"]);
    (0_usize..5, 1_usize..5, protocol, application(), any::<bool>(), times).prop_map(
        |(from, hops, protocol, application, is_protected, (start_ms, stop_ms))| RandomFlow {
            from,
            hops,
            protocol,
            application,
            is_protected,
            start_ms,
            stop_ms,
        },
    )
}

fn radio() -> impl Strategy<Value = String> {
    let standard = prop::sample::select(vec!["802.11", "802.11b", "802.11a", "802.11g"]);
    let threshold = prop::sample::select(vec!["off", "0 B", "400 B"]);
    let propagation = prop::sample::select(vec![
        r#"propagation = { model = "range", receive = "250 m", carrier_sense = "250 m" }"#,
        r#"propagation = { model = "range", receive = "250 m", carrier_sense = "550 m" }"#,
        "profile = \"ns-2\"",
    ]);
    let discipline = prop::sample::select(vec![
        "",
        r#", discipline = "codel", target = "1 ms", interval = "5 ms""#,
        r#", discipline = "fq-codel", target = "1 ms", interval = "5 ms", quantum = "300 B""#,
    ]);
    let queue = (1_u32..20, discipline).prop_map(|(packets, discipline)| format!("packets = {packets}{discipline}"));
    (standard, threshold, propagation, queue, 200_u32..2_000).prop_map(
        |(standard, threshold, propagation, queue, mtu)| {
            format!(
                "[radio]\nstandard = \"{standard}\"\nrts_threshold = \"{threshold}\"\nqueue = {{ {queue} }}\n\
                 mtu = \"{mtu} B\"\n{propagation}\n"
            )
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    let placement = prop::sample::select(vec![
        r#"{ shape = "line", spacing = "200 m" }"#,
        r#"{ shape = "line", spacing = "20 m" }"#,
        r#"{ shape = "grid", columns = 2, spacing = "170 m" }"#,
        r#"{ shape = "circle", radius = "180 m" }"#,
    ]);
    let relay = prop::sample::select(vec!["os", "application"]);
    let buffer = 2_000_u32..300_000;
    (radio(), placement, relay, buffer, prop::collection::vec(flow(), 1..5)).prop_map(
        |(radio, placement, relay, buffer, flows)| {
            let mut text = format!(
                "duration = \"400 ms\"\n{radio}[[nodes]]\nname = \"n\"\ncount = 5\nplacement = {placement}\n\
                 relay = \"{relay}\"\nsocket_buffer = \"{buffer} B\"\n"
            );
            for (index, flow) in flows.iter().enumerate() {
                let to = (flow.from + flow.hops) % 5;
                // What has a deadline goes over UDP.
                let protocol = if flow.application.contains("deadline") { "udp" } else { flow.protocol };
                text += &format!(
                    "[[flows]]\nname = \"f{index}\"\nfrom = \"n{}\"\nto = \"n{to}\"\nstart = \"{} ms\"\n\
                     transport = {{ protocol = \"{protocol}\" }}\napplication = {}\n",
                    flow.from, flow.start_ms, flow.application
                );
                if flow.is_protected && protocol != "tcp" {
                    text += "fec = { source = 5, repair = 2, block_timeout = \"20 ms\" }\n";
                }
                if let Some(stop) = flow.stop_ms {
                    text = text.replace(
                        &format!("name = \"f{index}\"\n"),
                        &format!("name = \"f{index}\"\nstop = \"{stop} ms\"\n"),
                    );
                }
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn packets_are_conserved_at_any_instant(
        text in text(),
        seed: u64,
        stops in prop::collection::vec(0_u64..400_000_000, 0..6),
    ) {
        let simulation = run_with_checks(&text, seed, stops)?;
        for flow in simulation.flows().iter() {
            let summary = flow.summary(simulation.now());
            let (got, lost, flying) = (summary.received_packets, summary.lost_packets, summary.in_flight_packets);
            prop_assert_eq!(summary.sent_packets, got + lost + flying, "{}", text);
        }
    }
}

/// Without an acknowledgement a sender has done with a packet while its last bit still travels, 334 ns over 100 m.
#[test]
fn a_packet_whose_frame_has_left_and_not_arrived_has_not_vanished() {
    let text = r#"
        duration = "20 ms"
        radio = { profile = "wavelan" }
        nodes = [{ name = "n", count = 2, placement = { shape = "line", spacing = "100 m" } }]
        flows = [{ name = "f", from = "n0", to = "n1", transport = { protocol = "udp" },
                   application = { kind = "cbr", rate = "917.6 kb/s", packet = "1147 B" } }]
    "#;
    let mut simulation = Simulation::new(&scenario(text), 1).expect("the nodes are connected");
    while simulation.now() < simulation.end() {
        simulation.run_until(simulation.now() + Duration::from_nanos(200));
        assert_eq!(simulation.check(), Ok(()), "at {}", simulation.now());
    }
}

/// Beyond the distance at which ACKs arrive in time, late ones count as those of other frames.
#[test]
fn nothing_vanishes_over_ways_that_are_longer_than_acknowledgements_are_waited_for() {
    let mut taken = 0;
    for (standard, metres, packet) in [
        ("802.11a", 20_000, 1),
        ("802.11a", 20_000, 1000),
        ("802.11g", 15_000, 1),
        ("802.11b", 80_000, 1),
        ("802.11", 150_000, 1),
        ("802.11b", 1_000_000, 100),
    ] {
        for edca in ["off", "2020"] {
            let text = format!(
                r#"
                duration = "1 s"
                [radio]
                standard = "{standard}"
                edca = "{edca}"
                retry_limit = {{ short = 2 }}
                propagation = {{ model = "range", receive = "1100 km", carrier_sense = "1100 km" }}
                [[nodes]]
                name = "n"
                count = 3
                placement = {{ shape = "line", spacing = "{metres} m" }}
                "#
            );
            let flows = [("n0", "n1", "voice"), ("n1", "n0", "voice"), ("n1", "n2", "best-effort")];
            let text = flows.iter().fold(text, |text, (from, to, priority)| {
                text + &format!(
                    r#"
                    [[flows]]
                    name = "from {from}, {priority}"
                    from = "{from}"
                    to = "{to}"
                    priority = "{priority}"
                    transport = {{ protocol = "udp" }}
                    application = {{ kind = "bulk", packet = "{packet} B" }}
                    "#
                )
            });
            for seed in 1..4 {
                let mut simulation = Simulation::new(&scenario(&text), seed).expect("the nodes are connected");
                while simulation.now() < simulation.end() {
                    simulation.run_until(simulation.now() + Duration::from_millis(50));
                    assert_eq!(simulation.check(), Ok(()), "{standard} over {metres} m at {}", simulation.now());
                }
                taken += simulation.counters().iter().map(|counters| counters[DropCause::Unheard]).sum::<u64>();
            }
        }
    }
    assert!(taken > 100, "late ACKs are taken for others: {taken}");
}

/// What is left to write at the stop waits for room in the connection, and for no instant that is over.
#[test]
fn a_source_that_is_stopped_while_it_waits_for_room_lets_time_go_on() {
    let text = r#"
        duration = "1 s"
        nodes = [{ name = "n", count = 2, placement = { shape = "line", spacing = "5 m" } }]
        flows = [{ name = "f", from = "n0", to = "n1", stop = "500 ms", transport = { protocol = "tfrc" },
                   application = { kind = "bulk" }, fec = { source = 5, repair = 2, block_timeout = "20 ms" } }]
    "#;
    let mut simulation = Simulation::new(&scenario(text), 1).expect("the nodes are connected");
    simulation.run_until(simulation.end());
    assert_eq!(simulation.check(), Ok(()));
    assert!(simulation.events() < 100_000, "{} events in a second", simulation.events());
}
