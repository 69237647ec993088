//! Routing protocols in whole scenarios: packets arrive over several hops, none vanishes, and the frames are correct.

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::DropCause;
use hopcast_sim::run::Simulation;

use super::scenarios::{line, scenario};

/// Runs to the end and checks conservation every second.
fn run(text: &str, seed: u64) -> Simulation {
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, seed).expect("the scenario can be set up");
    while simulation.now() < simulation.end() {
        simulation.run_until(simulation.now() + Duration::from_secs(1));
        simulation.check().unwrap_or_else(|imbalance| panic!("at {}: {imbalance}", simulation.now()));
    }
    simulation
}

/// Protocols, and when a line of five has its routes at the latest.
const PROTOCOLS: [(&str, u32); 10] = [
    (r#"{ protocol = "dsdv" }"#, 20),
    (r#"{ protocol = "olsr" }"#, 20),
    (r#"{ protocol = "olsr", hysteresis = true }"#, 40),
    (r#"{ protocol = "aodv" }"#, 1),
    (r#"{ protocol = "aodv", profile = "ns-2" }"#, 1),
    (r#"{ protocol = "aodv", profile = "draft-5" }"#, 3),
    (r#"{ protocol = "dsr" }"#, 1),
    (r#"{ protocol = "dsr", profile = "ns-2" }"#, 1),
    (r#"{ protocol = "dsr", acknowledgement = "network-layer" }"#, 1),
    (r#"{ protocol = "dsr", acknowledgement = "passive", cache = "path" }"#, 1),
];

#[test]
fn every_protocol_carries_datagrams_and_a_transfer_over_four_hops() {
    for (routing, start) in PROTOCOLS {
        let simulation = run(&line(5, &format!("routing = {routing}"), &format!("{} s", start + 60), start), 1);
        let end = simulation.end();
        let summaries: Vec<_> = simulation.flows().iter().map(|flow| flow.summary(end)).collect();
        assert!(summaries[0].sent_packets > 150, "{routing}");
        // Frames to and fro collide, and some neighbours are given up for it; acknowledgements of DSR's own come late where
        // queues are long, and each that does sends a packet once more.
        let least = if routing.contains("network-layer") || routing.contains("passive") { 50 } else { 85 };
        assert!(
            summaries[0].received_packets * 100 > summaries[0].sent_packets * least,
            "{routing}: {:?}",
            summaries[0]
        );
        assert_eq!(summaries[1].received_bytes, 40_000, "{routing}");
        let messages: u64 = simulation.counters().iter().map(|counters| counters.routing_packets).sum();
        assert!(messages > 0, "{routing}: who found the routes?");
    }
}

#[test]
fn a_run_with_a_protocol_is_the_same_each_time_and_another_with_another_seed() {
    for (routing, start) in PROTOCOLS {
        let text = line(4, &format!("routing = {routing}"), &format!("{} s", start + 20), start);
        let counters = |seed| run(&text, seed).counters().to_vec();
        assert_eq!(counters(1), counters(1), "{routing}");
        assert_ne!(counters(1), counters(2), "{routing}");
    }
}

#[test]
fn a_node_out_of_range_is_not_reached_and_nothing_waits_for_ever() {
    for (routing, _) in PROTOCOLS {
        let text = line(2, &format!("routing = {routing}"), "70 s", 1).replace("200 m\" }", "900 m\" }");
        let simulation = run(&text, 1);
        let flow = simulation.flows().iter().next().expect("there are two").summary(Instant::START);
        assert_eq!(flow.received_packets, 0, "{routing}");
        assert!(flow.lost_packets > 100, "{routing}: {flow:?}");
    }
}

/// Without acknowledgements the stations do not know what the air loses; the run does.
#[test]
fn what_is_lost_on_the_air_without_acknowledgement_is_counted() {
    let hidden = |reach: &str| {
        format!(
            r#"
duration = "20 s"
[radio]
profile = "wavelan"
propagation = {{ model = "range", receive = "{reach}", carrier_sense = "{reach}" }}
[[nodes]]
name = "n"
count = 4
placement = {{ shape = "line", spacing = "30 m" }}
routing = {{ protocol = "aodv", profile = "draft-5" }}
[[flows]]
name = "there"
from = "n0"
to = "n3"
start = "3 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "900 kb/s", packet = "1472 B" }}
"#
        )
    };
    let unheard = |reach: &str| {
        let simulation = run(&hidden(reach), 1);
        let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
        assert_eq!(flow.sent_packets, flow.received_packets + flow.lost_packets + flow.in_flight_packets);
        simulation.counters().iter().map(|counters| counters[DropCause::Unheard]).sum::<u64>()
    };
    assert!(unheard("40 m") > 50, "n0 and n2 don't hear each other");
    assert!(unheard("200 m") < 5, "all hear each other");
}

/// Programs that start at one instant make their nodes look for each other, or for a common neighbour, at one instant:
/// broadcasts that collide, and that no MAC repeats.
#[test]
fn nodes_that_start_at_one_instant_do_not_stay_in_step() {
    let flow = |from: u32, to: u32| {
        format!(
            r#"
            [[flows]]
            name = "from{from}"
            from = "n{from}"
            to = "n{to}"
            transport = {{ protocol = "udp" }}
            application = {{ kind = "cbr", rate = "100 kb/s", packet = "1000 B" }}
            "#
        )
    };
    for resolution in [
        r#"routing = { protocol = "aodv" }"#,
        r#"routing = { protocol = "aodv", profile = "draft-5" }"#,
        r#"routing = { protocol = "dsr" }"#,
        r#"routing = { protocol = "dsr", profile = "ns-2" }"#,
        r#"routing = { protocol = "dsdv" }"#,
        r#"routing = { protocol = "olsr" }"#,
        "arp = {}",
    ] {
        for (nodes, others) in [(2, flow(1, 0)), (3, flow(2, 1))] {
            let text = format!(
                r#"
                duration = "60 s"
                radio = {{ standard = "802.11b", propagation = {{ model = "range", receive = "250 m", carrier_sense = "250 m" }} }}
                [[nodes]]
                name = "n"
                count = {nodes}
                placement = {{ shape = "line", spacing = "200 m" }}
                {resolution}
                {}
                {others}
                "#,
                flow(0, 1),
            );
            let simulation = run(&text, 1);
            for flow in simulation.flows().iter() {
                let summary = flow.summary(simulation.end());
                assert!(summary.received_packets * 10 > summary.sent_packets * 7, "{resolution}, {nodes}: {summary:?}");
            }
        }
    }
}
