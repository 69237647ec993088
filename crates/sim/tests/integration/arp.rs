//! Address resolution in whole scenarios: its cost to the nanosecond, its queue, its failures, and routing on top of it.

use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::Duration;
use hopcast_sim::metrics::{Counters, DropCause};
use hopcast_sim::run::Simulation;
use proptest::prelude::*;

use crate::run_with_checks;
use crate::scenarios::{self, scenario};

/// Two nodes so far apart that a frame takes 100 ns, and datagrams of 936 B between them.
fn pair(nodes: &str, radio: &str, application: &str, duration: &str) -> String {
    format!(
        r#"
duration = "{duration}"
[radio]
standard = "802.11"
data_rate = "2 Mb/s"
basic_rate = "1 Mb/s"
propagation = {{ model = "range", receive = "250 m", carrier_sense = "250 m" }}
{radio}
[[nodes]]
name = "n"
count = 2
placement = {{ shape = "line", spacing = "29.9792458 m" }}
{nodes}
[[flows]]
name = "there"
from = "n0"
to = "n1"
start = "1 s"
transport = {{ protocol = "udp" }}
application = {application}
"#
    )
}

/// Runs to the end and checks conservation every second.
fn run(text: &str, seed: u64) -> Simulation {
    let mut simulation = Simulation::new(&scenario(text), seed).expect("the scenario can be set up");
    while simulation.now() < simulation.end() {
        simulation.run_until(simulation.now() + Duration::from_secs(1));
        simulation.check().unwrap_or_else(|imbalance| panic!("at {}: {imbalance}", simulation.now()));
    }
    simulation
}

fn sum(simulation: &Simulation, count: fn(&Counters) -> u64) -> u64 {
    simulation.counters().iter().map(count).sum()
}

const ONE: &str = r#"{ kind = "cbr", rate = "7488 b/s", packet = "936 B" }"#;

/// In microseconds, with the constants of IEEE 802.11-2020, 15.3 and 15.4.4: a frame of n bytes at r Mb/s takes 192 + 8n / r.
///
/// ```text
/// 0       n0: request to all, 24 + 8 + 28 + 4 = 64 octets at 1 Mb/s           704
/// 704.1   n1 has it, waits for DIFS                                            50
/// 754.1   n1: reply to n0, 64 octets at 2 Mb/s                                448
/// 1202.2  n0 has it; SIFS                                                      10
/// 1212.2  n0: ACK, 14 octets at 1 Mb/s                                        304
/// 1516.2  n0: DIFS, and the backoff after its first frame, of k slots         50 + 20 k
/// 1566.2  n0: 24 + 8 + 20 + 8 + 936 + 4 = 1000 octets at 2 Mb/s              4192
/// 5758.3  n1 has it
/// ```
#[test]
fn the_first_packet_is_later_by_request_reply_and_what_the_medium_asks_between() {
    let delay = |nodes: &str, seed: u64| {
        let simulation = run(&pair(nodes, "", ONE, "1.9 s"), seed);
        let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
        assert_eq!(flow.received_packets, 1);
        assert_eq!(sum(&simulation, |n| n.arp_requests + n.arp_replies), if nodes.is_empty() { 0 } else { 2 });
        (flow.delay_mean_s.expect("a packet has arrived") * 1e9).round() as u64
    };
    for seed in 1..=8 {
        assert_eq!(delay("", seed), 4_192_100, "without ARP");
        let mut random = Stream::new(seed, Purpose::Backoff, 0, 0);
        // A backoff of no slots is over before the packet comes, during the acknowledgement; it needs one of its own.
        let slots = match random.below(32) {
            0 => random.below(32),
            slots => slots,
        };
        assert_eq!(delay("arp = {}", seed), 5_758_300 + 20_000 * u64::from(slots), "seed {seed}, {slots} slots");
    }
}

#[test]
fn an_address_is_asked_for_again_after_its_timeout_only() {
    let cbr = r#"{ kind = "cbr", rate = "74880 b/s", packet = "936 B" }"#;
    for (arp, requests) in [("{}", 1), (r#"{ timeout = "2 s" }"#, 5), (r#"{ timeout = "off" }"#, 1)] {
        let simulation = run(&pair(&format!("arp = {arp}"), "", cbr, "11 s"), 1);
        assert_eq!(simulation.counters()[0].arp_requests, requests, "{arp}");
        // Who has been asked knows who asked, and needs not ask.
        assert_eq!(simulation.counters()[1].arp_requests, 0);
        assert_eq!(simulation.counters()[1].arp_replies, requests);
        let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
        assert!(flow.lost_packets == 0 && flow.received_packets > 95, "{flow:?}");
    }
}

/// All frames are lost: requests at 1, 2 and 3 s, and at 4 s what waits is given up; of a packet each 0.1 s three wait.
#[test]
fn what_nobody_answers_for_is_dropped_for_its_cause() {
    let nothing = r#"errors = { model = "packet", rate = 1 }"#;
    let cbr = r#"{ kind = "cbr", rate = "74880 b/s", packet = "936 B" }"#;
    let simulation = run(&pair("arp = {}", nothing, cbr, "3.99 s"), 1);
    let n0 = &simulation.counters()[0];
    assert_eq!((n0.arp_requests, n0[DropCause::ArpTimeout], n0[DropCause::ArpQueueFull]), (3, 0, 27));
    let simulation = run(&pair("arp = {}", nothing, cbr, "4.05 s"), 1);
    let n0 = &simulation.counters()[0];
    let all = n0[DropCause::ArpTimeout] + n0[DropCause::ArpQueueFull];
    assert_eq!(all, 31, "all of the first three seconds, and what came in the jitter of the requests");
    assert_eq!(n0[DropCause::ArpTimeout], 3);
    // ns-2: a request with each packet; the fourth goes down with the third, the two before it have been driven out.
    let simulation = run(&pair(r#"arp = { profile = "ns-2" }"#, nothing, cbr, "1.75 s"), 1);
    let n0 = &simulation.counters()[0];
    assert_eq!((n0.arp_requests, n0[DropCause::ArpTimeout], n0[DropCause::ArpQueueFull]), (6, 4, 4));
}

#[test]
fn who_knows_all_addresses_answers_who_does_not() {
    let text = pair("arp = {}", "", ONE, "5 s").replace("count = 2\n", "").replace(
        "[[flows]]",
        "[[nodes]]\nname = \"n1\"\nplacement = { shape = \"points\", at = [[\"29 m\", \"0 m\"]] }\n[[flows]]",
    );
    let text = text.replace("name = \"n\"\n", "name = \"n0\"\n");
    let simulation = run(&text, 1);
    assert_eq!(simulation.counters()[0].arp_requests, 1);
    assert_eq!(simulation.counters()[1].arp_replies, 1);
    assert_eq!(simulation.flows().iter().next().expect("there is one").summary(simulation.end()).lost_packets, 0);
}

/// A program with blocking writes that has no address, or no route, would drive out its own packets for ever.
#[test]
fn blocking_writes_wait_for_routes_and_addresses() {
    let bulk = r#"{ kind = "bulk" }"#;
    let aodv = r#"routing = { protocol = "aodv" }"#;
    let nothing = r#"errors = { model = "packet", rate = [["0 s", 1], ["2.5 s", 0]] }"#;
    for nodes in ["arp = {}", r#"arp = { profile = "ns-2" }"#, aodv, &format!("{aodv}\narp = {{}}")] {
        for radio in ["", nothing] {
            let simulation = run(&pair(nodes, radio, bulk, "12 s"), 1);
            let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
            assert!(flow.received_packets > 500, "{nodes} {radio}: {flow:?}");
            assert!(flow.lost_packets < 300, "{nodes} {radio}: {flow:?}");
        }
    }
}

/// Of a datagram in eleven pieces the last three wait for the address, and the others leave the send buffer at once: one that has room
/// for a datagram has room for the next.
#[test]
fn pieces_that_wait_for_no_address_leave_the_send_buffer() {
    let adu = r#"{ kind = "adu", size = "16 KB", wait = "0 ms" }"#;
    for timeout in ["60 s", "1 s"] {
        let nodes = format!("socket_buffer = \"20 KB\"\narp = {{ timeout = \"{timeout}\" }}");
        let simulation = run(&pair(&nodes, "", adu, "11 s"), 1);
        let dropped = simulation.counters()[0][DropCause::ArpQueueFull];
        assert!(dropped >= 8, "{timeout}: {dropped}");
        let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
        assert!(flow.received_packets > 80, "{timeout}: {flow:?}");
    }
}

/// A line of five under a routing protocol, with datagrams to the far end and a transfer back.
fn line(nodes: &str, start: u32) -> String {
    scenarios::line(5, nodes, &format!("{} s", start + 40), start)
}

#[test]
fn every_protocol_gets_through_with_addresses_to_be_asked_for() {
    for (protocol, start) in [("aodv", 1), ("dsr", 1), ("dsdv", 20), ("olsr", 20)] {
        let nodes = format!("routing = {{ protocol = \"{protocol}\" }}\narp = {{ timeout = \"10 s\" }}");
        let simulation = run(&line(&nodes, start), 1);
        let flows: Vec<_> = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
        assert!(flows[0].received_packets * 100 > flows[0].sent_packets * 80, "{protocol}: {:?}", flows[0]);
        assert_eq!(flows[1].received_bytes, 40_000, "{protocol}");
        assert!(sum(&simulation, |n| n.arp_requests) >= 4, "{protocol}");
        assert!(sum(&simulation, |n| n.arp_replies) >= 4, "{protocol}");
    }
}

#[test]
fn aodv_in_arp_shows_the_addresses_that_it_needs() {
    let routing = r#"routing = { protocol = "aodv", profile = "draft-5-in-arp" }"#;
    let bare = run(&line(routing, 3), 1);
    let beside = run(&line(&format!("{routing}\narp = {{}}"), 3), 1);
    for simulation in [&bare, &beside] {
        let flows: Vec<_> = simulation.flows().iter().map(|flow| flow.summary(simulation.end())).collect();
        assert!(flows[0].received_packets * 100 > flows[0].sent_packets * 80, "{:?}", flows[0]);
        assert_eq!(flows[1].received_bytes, 40_000);
        assert_eq!(sum(simulation, |n| n.arp_requests + n.arp_replies), 0, "its messages are all the ARP there is");
    }
    assert_eq!(bare.counters(), beside.counters());
    // An ARP packet is as long as the headers of IP and UDP, and a request is 16 bytes longer: the same messages, but for the shorter queue
    // before a route, and for the jitter of a node's own requests.
    let exact = routing.replace(" }", ", broadcast_jitter = 0 }");
    let in_arp = run(&line(&exact, 3), 1);
    let in_udp = run(&line(&format!("{}\nroute_queue = 3", exact.replace("draft-5-in-arp", "draft-5")), 3), 1);
    let mut padding = 0;
    for (arp, udp) in in_arp.counters().iter().zip(in_udp.counters()) {
        assert_eq!(arp.routing_packets, udp.routing_packets);
        let without = udp.routing_bytes + 20 * udp.routing_packets;
        assert_eq!((arp.routing_bytes - without) % 16, 0, "without IP all octets count");
        padding += arp.routing_bytes - without;
    }
    assert!(padding > 0, "some requests were made");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The sizes of everything are drawn, and half of the frames may be lost.
    #[test]
    fn packets_are_conserved_where_addresses_are_asked_for(
        (timeout, interval, requests, queue) in (1_u32..300, 1_u32..100, 1_u32..4, 1_u32..4),
        ns2 in any::<bool>(),
        routing in prop::sample::select(vec!["static", "aodv", "dsr", "olsr", "dsdv"]),
        card in any::<bool>(),
        loss in 0.0..0.5_f64,
        kind in prop::sample::select(vec!["bulk", "adu", "cbr"]),
        seed: u64,
        stops in prop::collection::vec(0_u64..600_000_000, 0..6),
    ) {
        let arp = match ns2 {
            true => r#"profile = "ns-2""#.to_owned(),
            false => format!("timeout = \"{timeout} ms\", request_interval = \"{interval} ms\", requests = {requests}"),
        };
        let card = if card { "card = { model = \"isa\" }" } else { "" };
        let nodes = format!("routing = {{ protocol = \"{routing}\" }}\narp = {{ {arp}, queue = {queue} }}\n{card}");
        let application = match kind {
            "adu" => r#"{ kind = "adu", size = "4000 B" }"#,
            "bulk" => r#"{ kind = "bulk" }"#,
            _ => r#"{ kind = "cbr", rate = "500 kb/s", packet = "700 B", jitter = "5 ms" }"#,
        };
        let text = line(&nodes, 0)
            .replace("duration = \"40 s\"", "duration = \"600 ms\"")
            .replace("[[nodes]]", &format!("errors = {{ model = \"packet\", rate = {loss} }}\n[[nodes]]"))
            .replace(r#"{ kind = "cbr", rate = "32 kb/s", packet = "1000 B" }"#, application);
        run_with_checks(&text, seed, stops)?;
    }
}
