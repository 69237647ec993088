//! Hosts with several interfaces: wires, several radios, access points.

use std::fs::File;

use hopcast_sim::capture::Selection;
use hopcast_sim::execute::{Control, Job, execute};
use hopcast_sim::metrics::{DropCause, FlowSummary};
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};
use hopcast_wire::pcapng::Reader;
use proptest::prelude::*;

use crate::run_with_checks;
use crate::scenarios::{Folder, scenario};

/// Runs to the end, and checks that nothing has vanished.
fn run(text: &str) -> (Simulation, Vec<FlowSummary>) {
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, 1).expect("all flows have paths");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let summaries = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
    (simulation, summaries)
}

fn flow(name: &str, from: &str, to: &str, protocol: &str, application: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"{protocol}\" }}\n\
         application = {application}\n"
    )
}

/// `count` wired nodes in a chain of equal links.
fn chain(duration: &str, count: u32, link: &str, flows: &str) -> String {
    let links: String =
        (1..count).map(|node| format!("[[links]]\nbetween = [\"w{}\", \"w{node}\"]\n{link}\n", node - 1)).collect();
    format!("duration = \"{duration}\"\n[[nodes]]\nname = \"w\"\ncount = {count}\nrole = \"wired\"\n{links}{flows}")
}

/// A loss by errors while the radio's queue is long counts as congestion, although the wire of the same node is idle.
#[test]
fn one_long_queue_is_congestion_at_a_node_with_several() {
    let text = format!(
        r#"
        duration = "60 s"
        radio = {{ standard = "802.11b", data_rate = "2 Mb/s", errors = {{ model = "packet", rate = 0.02, level = "network" }} }}
        links = [{{ between = ["ap", "w"], rate = "10 Mb/s", delay = "1 ms" }}]
        nodes = [
            {{ name = "ap", role = "access-point", placement = {{ shape = "points", at = [["0 m", "0 m"]] }} }},
            {{ name = "sta", role = "station", placement = {{ shape = "points", at = [["5 m", "0 m"]] }} }},
            {{ name = "w", role = "wired" }},
        ]
        {}"#,
        flow("down", "w", "sta", "adtfrc", r#"{ kind = "bulk" }"#),
    );
    let (_, summaries) = run(&text);
    let identification =
        serde_json::to_value(&summaries[0]).expect("it is plain data")["identification"]["joint"].take();
    let [by_state, by_cause] = ["by_state", "by_cause"].map(|table| {
        let row = identification[table]["channel_error"].as_object().expect("a table");
        row.values().map(|count| count.as_u64().expect("a count")).sum::<u64>()
    });
    assert!(by_cause > 20 && by_state < by_cause / 2, "{identification}");
}

/// A station answers at its own basic rate, at which the other station may never send.
#[test]
fn radios_with_different_basic_rates_answer_each_other() {
    for reception in ["sinr", "threshold"] {
        let text = format!(
            r#"
            duration = "1 s"
            radio = {{ standard = "802.11a", data_rate = "18 Mb/s", basic_rate = "6 Mb/s", reception = "{reception}" }}
            nodes = [
                {{ name = "a", placement = {{ shape = "points", at = [["0 m", "0 m"]] }} }},
                {{ name = "b", radios = [{{ data_rate = "54 Mb/s", basic_rate = "24 Mb/s" }}],
                   placement = {{ shape = "points", at = [["5 m", "0 m"]] }} }},
            ]
            {}"#,
            flow("there", "a", "b", "udp", r#"{ kind = "cbr", rate = "1 Mb/s" }"#),
        );
        let summary = run(&text).1.remove(0);
        assert_eq!(summary.lost_packets, 0);
        assert!(summary.received_packets > 50);
    }
}

/// A card's transmit buffers belong to its own radio only.
#[test]
fn a_card_makes_no_room_at_another_node() {
    let summary = |card: &str| {
        let text = format!(
            r#"
            duration = "1 s"
            radio = {{ standard = "802.11b", queue = {{ packets = 5 }} }}
            nodes = [
                {{ name = "a", placement = {{ shape = "points", at = [["0 m", "0 m"]] }}, {card} }},
                {{ name = "b", count = 2, placement = {{ shape = "line", spacing = "5 m" }} }},
            ]
            {}"#,
            flow("over", "b0", "b1", "udp", r#"{ kind = "cbr", rate = "20 Mb/s" }"#),
        );
        run(&text).1.remove(0)
    };
    let (without, beside) = (summary(""), summary(r#"card = { model = "isa", transmit_buffers = 40 }"#));
    assert!(without.lost_packets > 0);
    assert_eq!(without, beside);
}

/// 1000 bytes of payload are 1028 on the wire: 822.4 µs at 10 Mb/s, and 5 ms on the way, over each of two links.
#[test]
fn udp_over_wires_takes_serialisation_and_propagation_at_each_hop() {
    let cbr = r#"{ kind = "cbr", rate = "800 kb/s", packet = "1000 B" }"#;
    let text = chain("1 s", 3, "rate = \"10 Mb/s\"\ndelay = \"5 ms\"", &flow("f", "w0", "w2", "udp", cbr));
    let (simulation, flows) = run(&text);
    assert_eq!(flows[0].lost_packets, 0);
    let mean = flows[0].delay_mean_s.expect("packets arrive");
    assert!((mean - 2.0 * 0.005_822_4).abs() < 1e-9, "{mean}");
    assert_eq!(simulation.totals().frames_sent, 0, "no radio is in play");
    let forwarded = simulation.counters()[1].forwarded;
    assert!((flows[0].received_packets..=flows[0].sent_packets).contains(&forwarded), "{forwarded}");
}

/// ns-2 never fragments: 3028 bytes at 1 Mb/s and 10 ms, over each of two links.
#[test]
fn under_ns_2_a_datagram_of_any_length_is_one_packet_on_a_wire() {
    let cbr = r#"{ kind = "cbr", rate = "100 kb/s", packet = "3000 B" }"#;
    let links = chain("1 s", 3, "rate = \"1 Mb/s\"\ndelay = \"10 ms\"", &flow("f", "w0", "w2", "udp", cbr));
    let (simulation, flows) = run(&format!("{links}[radio]\nprofile = \"ns-2\"\n"));
    let mean = flows[0].delay_mean_s.expect("packets arrive");
    assert!((mean - 0.068_448).abs() < 1e-9, "{mean}");
    let forwarded = simulation.counters()[1].forwarded;
    assert!((flows[0].received_packets..=flows[0].sent_packets).contains(&forwarded), "{forwarded}");
}

/// A wire offered twice its rate carries its rate: 1000 of 1028 bytes at 10 Mb/s.
#[test]
fn a_wire_carries_its_rate_and_its_queue_drops_the_rest() {
    let cbr = r#"{ kind = "cbr", rate = "20 Mb/s", packet = "1000 B" }"#;
    let link = "rate = \"10 Mb/s\"\ndelay = \"1 ms\"\nqueue = { packets = 20 }";
    let (simulation, flows) = run(&chain("2 s", 2, link, &flow("f", "w0", "w1", "udp", cbr)));
    let expected = 10e6 * 1000.0 / 1028.0;
    assert!((flows[0].goodput_bps / expected - 1.0).abs() < 0.002, "{} of {expected}", flows[0].goodput_bps);
    let dropped = simulation.counters()[0][DropCause::QueueFull];
    assert_eq!(dropped, flows[0].lost_packets);
    assert!((0.49..0.52).contains(&flows[0].loss_ratio), "{}", flows[0].loss_ratio);
    // A packet that finds the last place waits for twenty others and for what is left of one.
    let longest = 21.0 * 822.4e-6 + 0.001;
    assert!(flows[0].delay_p99_s.expect("packets arrive") < longest + 822.4e-6 + 1e-4);
}

/// Half as much again as the wire carries waits for its deadline in the queue, is sent until then, and else never leaves: a
/// packet arrives at most as late as the deadline, its time of 8.224 ms on the wire, and the wire's delay.
#[test]
fn what_expires_in_the_queue_of_a_wire_does_not_go_over_it() {
    let audio = r#"{ kind = "audio", rate = "1.5 Mb/s", packet = "1000 B", deadline = "50 ms" }"#;
    let link = "rate = \"1 Mb/s\"\ndelay = \"1 ms\"";
    let (simulation, flows) = run(&chain("20 s", 2, link, &flow("voice", "w0", "w1", "udp", audio)));
    let counters = &simulation.counters()[0];
    assert_eq!((counters[DropCause::Expired], counters[DropCause::QueueFull]), (flows[0].lost_packets, 0));
    assert!((0.3..0.35).contains(&flows[0].loss_ratio), "{}", flows[0].loss_ratio);
    let latest = flows[0].delay_p99_s.expect("packets arrive");
    assert!((0.05..0.059_224).contains(&latest), "{latest}");
    // What expires takes no time of the wire.
    let expected = 1e6 * 1000.0 / 1028.0;
    assert!((flows[0].goodput_bps / expected - 1.0).abs() < 0.005, "{} of {expected}", flows[0].goodput_bps);
}

/// TCP fills a wire whose bandwidth times delay its buffers hold: 1460 of 1500 bytes.
#[test]
fn tcp_over_a_wire_reaches_the_rate_of_the_wire() {
    let link = "rate = \"10 Mb/s\"\ndelay = \"2 ms\"\nqueue = { packets = 200 }";
    let (_, flows) = run(&chain("20 s", 2, link, &flow("f", "w0", "w1", "tcp", r#"{ kind = "bulk" }"#)));
    let expected = 10e6 * 1460.0 / 1500.0;
    assert!((flows[0].goodput_bps / expected - 1.0).abs() < 0.01, "{} of {expected}", flows[0].goodput_bps);
}

#[test]
fn a_wire_that_loses_is_told_as_the_cause() {
    let cbr = r#"{ kind = "cbr", rate = "8 Mb/s", packet = "1000 B" }"#;
    let (simulation, flows) =
        run(&chain("10 s", 2, "rate = \"100 Mb/s\"\nloss = 0.1", &flow("f", "w0", "w1", "udp", cbr)));
    let lost = simulation.counters()[0][DropCause::LinkLoss];
    assert_eq!(lost, flows[0].lost_packets);
    // 1000 of 10000 are expected; the standard deviation is 30.
    assert!((900..1_100).contains(&lost), "{lost}");
}

/// Datagrams of 4000 bytes, in fragments for an MTU of 2000 in the air, are cut again for the wire.
#[test]
fn a_router_cuts_what_is_too_long_for_the_next_interface() {
    let text = String::from(
        r#"
        duration = "1 s"
        radio = { standard = "802.11a", mtu = "2000 B" }
        links = [{ between = ["b", "c"], rate = "100 Mb/s" }]
        nodes = [
            { name = "a", placement = { shape = "points", at = [["0 m", "0 m"]] } },
            { name = "b", placement = { shape = "points", at = [["5 m", "0 m"]] } },
            { name = "c", role = "wired" },
        ]
        "#,
    ) + &flow("f", "a", "c", "udp", r#"{ kind = "adu", size = "4000 B", wait = "10 ms" }"#);
    let (simulation, flows) = run(&text);
    assert!(flows[0].received_packets > 80 && flows[0].lost_packets == 0, "{:?}", flows[0]);
    let [sent, passed] = [0, 1].map(|node: usize| &simulation.counters()[node]);
    // 4008 octets are 1976 + 1976 + 56 in the air; each of the longer ones is two on the wire.
    assert_eq!(sent.sent, 3 * flows[0].received_packets);
    assert_eq!((passed.sent, passed.refragmented), (5 * flows[0].received_packets, 2 * flows[0].received_packets));
}

/// Three nodes in a row, 10 m apart, in range of each other; the middle one may have a radio for each side.
fn two_hops(radios: [&str; 3]) -> FlowSummary {
    let node = |(name, x, radios): (&str, u32, &str)| {
        format!(
            "[[nodes]]\nname = \"{name}\"\nplacement = {{ shape = \"points\", at = [[\"{x} m\", \"0 m\"]] }}\n{radios}\n"
        )
    };
    let nodes: String =
        ["a", "b", "c"].into_iter().zip([0, 10, 20]).zip(radios).map(|((n, x), r)| node((n, x, r))).collect();
    let flow = flow("f", "a", "c", "udp", r#"{ kind = "bulk", packet = "1472 B" }"#)
        .replace("[[flows]]", "[[flows]]\nvia = [\"b\"]");
    let (_, mut flows) = run(&format!("duration = \"2 s\"\n[radio]\nstandard = \"802.11a\"\n{nodes}{flow}"));
    flows.remove(0)
}

#[test]
fn two_radios_on_two_channels_carry_two_hops_at_the_rate_of_one() {
    let single = two_hops([""; 3]);
    let channels = |second: u32| {
        let both = format!("radios = [{{ channel = 36, network = \"a\" }}, {{ channel = {second}, network = \"b\" }}]");
        let last = format!("radios = [{{ channel = {second}, network = \"b\" }}]");
        two_hops(["radios = [{ channel = 36, network = \"a\" }]", &both, &last])
    };
    let (apart, together) = (channels(149), channels(36));
    // IEEE 802.11a at 54 Mb/s, one hop: 1472 octets each DIFS + 7.5 slots + 248 us + SIFS + 28 us.
    let one_hop = 1472.0 * 8.0 / 393.5e-6;
    assert!((apart.goodput_bps / one_hop - 1.0).abs() < 0.02, "{} of {one_hop}", apart.goodput_bps);
    // Two cards on one channel share it: a hop costs the other.
    assert!(together.goodput_bps < 0.65 * one_hop, "{}", together.goodput_bps);
    assert!(single.goodput_bps < 0.65 * one_hop, "{}", single.goodput_bps);
}

/// Two pairs 3 m apart on neighbouring channels: the leakage of the one is 28 dB below its power.
#[test]
fn leakage_from_the_next_channel_interferes_and_is_never_decoded() {
    let pairs = |rejection: &str, channel: u32| {
        let text = format!(
            r#"
            duration = "1 s"
            [radio]
            standard = "802.11a"
            adjacent_channel_rejection = {rejection}
            [[nodes]]
            name = "a"
            count = 2
            radios = [{{ channel = 36 }}]
            placement = {{ shape = "points", at = [["0 m", "0 m"], ["40 m", "0 m"]] }}
            [[nodes]]
            name = "b"
            count = 2
            radios = [{{ channel = {channel} }}]
            placement = {{ shape = "points", at = [["0 m", "3 m"], ["40 m", "3 m"]] }}
            {}{}"#,
            flow("f", "a0", "a1", "udp", r#"{ kind = "bulk" }"#),
            flow("g", "b0", "b1", "udp", r#"{ kind = "bulk" }"#),
        );
        let (simulation, flows) = run(&text);
        (flows.iter().map(|flow| flow.goodput_bps).sum::<f64>(), simulation.totals().receptions)
    };
    let (apart, receptions_apart) = pairs("\"off\"", 40);
    let (far, _) = pairs("\"28 dB\"", 149);
    let (near, receptions_near) = pairs("\"28 dB\"", 40);
    assert!((far / apart - 1.0).abs() < 0.05, "{far} of {apart}");
    assert!(near < 0.8 * apart, "{near} of {apart}");
    assert!(receptions_near > receptions_apart);
}

/// One hop of 802.11a, 1472 bytes each; `sender` and `receiver` are keys of the two nodes.
fn one_hop(sender: &str, receiver: &str) -> (Simulation, FlowSummary) {
    let text = format!(
        r#"
        duration = "4 s"
        radio = {{ standard = "802.11a" }}
        [[nodes]]
        name = "a"
        placement = {{ shape = "points", at = [["0 m", "0 m"]] }}
        {sender}
        [[nodes]]
        name = "b"
        placement = {{ shape = "points", at = [["5 m", "0 m"]] }}
        {receiver}
        {}"#,
        flow("f", "a", "b", "udp", r#"{ kind = "bulk", packet = "1472 B" }"#)
    );
    let (simulation, mut flows) = run(&text);
    (simulation, flows.remove(0))
}

/// The backoff after a frame passes while the next one is copied, which then finds an idle medium: copy, data, SIFS, ACK.
#[test]
fn with_one_buffer_a_frame_takes_its_copy_and_its_time_on_the_air() {
    let (_, flow) = one_hop("card = { model = \"pcmcia\" }", "");
    let expected = 1472.0 * 8.0 / (3.46e-3 + 248e-6 + 16e-6 + 28e-6);
    assert!((flow.goodput_bps / expected - 1.0).abs() < 0.005, "{} of {expected}", flow.goodput_bps);
    let (_, flow) = one_hop("card = { model = \"isa\" }", "");
    let expected = 1472.0 * 8.0 / 0.96e-3;
    assert!((flow.goodput_bps / expected - 1.0).abs() < 0.005, "{} of {expected}", flow.goodput_bps);
}

/// Of a voice's packets there is no time on the air for two of three. Copies of what has expired would leave it half as many;
/// more arrive where packets do not expire, since the first in the queue mostly live on for less than their copy of 2.37 ms.
#[test]
fn what_expires_before_a_card_takes_no_time_of_the_processor() {
    let text = format!(
        r#"
        duration = "20 s"
        radio = {{ standard = "802.11b", data_rate = "2 Mb/s" }}
        nodes = [
            {{ name = "a", placement = {{ shape = "points", at = [["0 m", "0 m"]] }}, card = {{ copy_out = "3.46 ms" }} }},
            {{ name = "b", placement = {{ shape = "points", at = [["5 m", "0 m"]] }} }},
        ]
        {}"#,
        flow("voice", "a", "b", "udp", r#"{ kind = "audio", rate = "3 Mb/s", packet = "1000 B", deadline = "50 ms" }"#)
    );
    let (simulation, flows) = run(&text);
    assert_eq!(simulation.counters()[0][DropCause::Expired], flows[0].lost_packets);
    assert!(flows[0].received_packets > 900, "{}", flows[0].received_packets);
}

#[test]
fn a_receiver_takes_what_its_processor_copies_and_loses_the_rest() {
    let (simulation, flow) = one_hop("", "card = { model = \"pcmcia\" }");
    let expected = 1472.0 * 8.0 / 2.057e-3;
    assert!((flow.goodput_bps / expected - 1.0).abs() < 0.005, "{} of {expected}", flow.goodput_bps);
    assert_eq!(simulation.counters()[1][DropCause::ReceiveBuffersFull], flow.lost_packets);
    assert!(flow.loss_ratio > 0.7, "{}", flow.loss_ratio);
}

fn house() -> Scenario {
    let text = include_str!("../../src/scenario/tests/fixtures/house.toml");
    let source = Source { text: text.into(), name: "house.toml".into(), ..Source::default() };
    let short = ["duration=30 s", "flows.download.start=10 s", "flows.download.stop=30 s"].map(String::from);
    Scenario::parse(&source, &short).unwrap_or_else(|errors| panic!("{errors}")).scenario
}

#[test]
fn the_house_carries_film_and_download_through_its_access_point() {
    let scenario = house();
    let mut simulation = Simulation::new(&scenario, 1).expect("all flows have paths");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let flows: Vec<_> = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
    assert!(flows[0].received_packets > 500, "{:?}", flows[0]);
    assert!(flows[1].goodput_bps > 1e6, "{:?}", flows[1]);
    // Nodes: ap, sta0 … sta3, w0 … w3. The download comes over two wires and the access point.
    let forwarded: Vec<bool> = simulation.counters().iter().map(|counters| counters.forwarded > 0).collect();
    assert_eq!(forwarded, [true, false, false, false, false, true, false, false, false]);
}

#[test]
fn what_stations_send_each_other_goes_through_the_access_point() {
    let text = format!(
        r#"
        duration = "1 s"
        radio = {{ standard = "802.11g" }}
        [[nodes]]
        name = "far"
        role = "access-point"
        placement = {{ shape = "points", at = [["50 m", "0 m"]] }}
        [[nodes]]
        name = "ap"
        role = "access-point"
        placement = {{ shape = "points", at = [["0 m", "0 m"]] }}
        [[nodes]]
        name = "sta"
        count = 2
        role = "station"
        placement = {{ shape = "circle", radius = "5 m" }}
        {}"#,
        flow("f", "sta0", "sta1", "udp", r#"{ kind = "cbr", rate = "1 Mb/s", packet = "500 B" }"#)
    );
    let (simulation, flows) = run(&text);
    assert!(flows[0].received_packets > 200 && flows[0].lost_packets == 0, "{:?}", flows[0]);
    let forwarded: Vec<u64> = simulation.counters().iter().map(|counters| counters.forwarded).collect();
    assert_eq!(forwarded[0], 0, "the other access point is farther away");
    assert!(forwarded[1] >= flows[0].received_packets);
}

#[test]
fn a_capture_has_an_interface_for_each_of_the_node() {
    let text = format!(
        r#"
        duration = "100 ms"
        radio = {{ standard = "802.11a" }}
        links = [{{ between = ["b", "c"], rate = "100 Mb/s" }}]
        nodes = [
            {{ name = "a", placement = {{ shape = "points", at = [["0 m", "0 m"]] }} }},
            {{ name = "b", radios = [{{ channel = 36 }}, {{ channel = 48, network = "x" }}],
               placement = {{ shape = "points", at = [["5 m", "0 m"]] }} }},
            {{ name = "c", role = "wired" }},
        ]
        {}"#,
        flow("f", "a", "c", "udp", r#"{ kind = "cbr", rate = "1 Mb/s" }"#)
    );
    let folder = Folder::new();
    let scenario = scenario(&text);
    let job = Job {
        scenario: &scenario,
        seeds: &[1],
        threads: 1,
        captures: Some((folder.path(), &Selection::all(&scenario))),
        recordings: None,
    };
    execute(&job, &Control::new(), &(), |_, _| {}).unwrap();
    let types = |node: &str| {
        let file = File::open(folder.path().join(format!("{node}.pcapng"))).unwrap();
        let mut types: Vec<u32> = Reader::new(file).unwrap().map(|record| record.unwrap().link_type).collect();
        types.sort_unstable();
        types.dedup();
        types
    };
    assert_eq!([types("a"), types("b"), types("c")], [vec![127], vec![127, 228], vec![228]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two radios, wires and accesses that lose and overflow, an access point with two stations and an ad-hoc pair, stopped anywhere.
    #[test]
    fn packets_are_conserved_over_all_kinds_of_interfaces(
        seed: u64,
        rate in 1_u32..30,
        queue in 1_u32..20,
        loss in prop_oneof![Just(0.0), Just(0.05)],
        mtu in 600_u32..2_200,
        size in 1_u32..9_000,
        buffers in 1_u32..30,
        stops in prop::collection::vec(0_u64..300_000_000, 1..4),
        has_accesses: bool,
    ) {
        let access = format!("access = {{ rate = \"{rate} Mb/s\", delay = \"3 ms\", loss = {loss}, queue = {{ packets = {queue} }} }},");
        let access = if has_accesses { access } else { String::new() };
        let adu = format!(r#"{{ kind = "adu", size = "{size} B" }}"#);
        let text = format!(
            r#"
            duration = "300 ms"
            radio = {{ standard = "802.11a", mtu = "{mtu} B", queue = {{ packets = {queue} }} }}
            links = [
                {{ between = ["ap", "w0"], rate = "{rate} Mb/s", delay = "7 ms", queue = {{ packets = {queue} }}, loss = {loss} }},
                {{ between = ["w0", "w1"], rate = "10 Mb/s", loss = {loss} }},
            ]
            nodes = [
                {{ name = "ap", role = "access-point", {access} placement = {{ shape = "points", at = [["0 m", "0 m"]] }} }},
                {{ name = "sta", count = 2, role = "station", {access} placement = {{ shape = "circle", radius = "9 m" }} }},
                {{ name = "w", count = 2, {access} role = "wired" }},
                {{ name = "x", count = 2, {access} radios = [{{ channel = 149, network = "m" }}, {{ channel = 157, network = "n" }}],
                   card = {{ transmit_buffers = {buffers}, receive_buffers = 2, copy_in = "5 ms" }},
                   placement = {{ shape = "line", spacing = "4 m" }} }},
            ]
            {}{}{}{}"#,
            flow("up", "sta0", "w1", "udp", &adu),
            flow("down", "w1", "sta1", "tcp", r#"{ kind = "bulk" }"#),
            flow("over", "sta1", "sta0", "tcp", &adu),
            flow("pair", "x0", "x1", "udp", r#"{ kind = "cbr", rate = "40 Mb/s" }"#),
        );
        run_with_checks(&text, seed, stops)?;
    }
}

/// Each broadcast of the node in the middle leaves on both channels at once; were the other one heard, no flood would pass.
#[test]
fn floods_pass_over_two_channels_under_profile_ns_2() {
    for protocol in ["dsr", "aodv", "olsr"] {
        let text = format!(
            r#"
            duration = "30 s"
            radio = {{ profile = "ns-2", standard = "802.11b" }}
            nodes = [
                {{ name = "a", placement = {{ shape = "points", at = [[0, 0]] }}, radios = [{{ channel = 1 }}], routing = {{ protocol = "{protocol}" }} }},
                {{ name = "r", placement = {{ shape = "points", at = [[30, 0]] }}, radios = [{{ channel = 1 }}, {{ channel = 6 }}],
                   routing = {{ protocol = "{protocol}" }} }},
                {{ name = "d", placement = {{ shape = "points", at = [[60, 0]] }}, radios = [{{ channel = 6 }}], routing = {{ protocol = "{protocol}" }} }},
            ]
            flows = [{{ name = "f", from = "a", to = "d", start = "20 s", transport = {{ protocol = "udp" }},
                       application = {{ kind = "cbr", rate = "100 kb/s", packet = "1000 B" }} }}]
            "#
        );
        let (_, flows) = run(&text);
        assert_eq!((flows[0].sent_packets, flows[0].received_packets), (125, 125), "{protocol}");
    }
}
