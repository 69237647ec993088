//! Forward error correction in whole scenarios: over a lossy wire, over routing protocols with headers, and as bytes in
//! captures.

use std::fs::File;

use hopcast_protocols::fec::{Config, Decoder, Octets};
use hopcast_protocols::time::Instant;
use hopcast_sim::capture::Selection;
use hopcast_sim::execute::{Control, Job, execute};
use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::run::Simulation;
use hopcast_wire::fec::{parse_repair, parse_source};
use hopcast_wire::pcapng::Reader;
use hopcast_wire::{ipv4, udp};

use crate::scenarios::{Folder, scenario};

/// Two hosts and a wire that loses a tenth.
fn wire(fec: &str) -> String {
    format!(
        r#"
duration = "400 s"
[radio]
[[nodes]]
name = "a"
role = "wired"
[[nodes]]
name = "b"
role = "wired"
[[links]]
between = ["a", "b"]
rate = "1 Mb/s"
delay = "20 ms"
loss = 0.1
[[flows]]
name = "voice"
from = "a"
to = "b"
stop = "399 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "64 kb/s", packet = "160 B" }}
{fec}
"#
    )
}

fn run(text: &str) -> FlowSummary {
    let scenario = scenario(text);
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("the nodes are connected");
    simulation.run_until(simulation.end());
    assert_eq!(simulation.check(), Ok(()));
    simulation.flows().iter().next().expect("there is one flow").summary(simulation.now())
}

#[test]
fn overhead_and_delay_are_those_of_the_block() {
    let bare = run(&wire(""));
    assert_eq!((bare.fec.repair_packets, bare.fec.fec_overhead_ratio), (None, None));
    let told = run(&wire(r#"fec = { source = 5, repair = 2, block_timeout = "1 s" }"#));
    assert_eq!(told.sent_packets, bare.sent_packets);
    // Two packets of 160 octets and 9 for each five, and 6 octets for each of those.
    let expected = (2.0 * 169.0 + 5.0 * 6.0) / 800.0;
    assert!((told.fec.fec_overhead_ratio.expect("it is protected") - expected).abs() < 1e-3);
    // Lost for good if lost and at least two of the six others as well: 0.1 (1 - 0.9^6 - 6 0.1 0.9^5) = 0.0114. With some
    // 4000 blocks the deviation is below sqrt(0.0114/4000) = 0.0017.
    assert!((bare.loss_ratio - 0.1).abs() < 0.01, "{}", bare.loss_ratio);
    assert!((told.loss_ratio - 0.0114).abs() < 0.005, "{}", told.loss_ratio);
    // A packet of a block's five is recovered with the first repair packet at the earliest, which follows the fifth: after 80,
    // 60, 40, 20 or 0 ms; one of two with the second. The wire takes 1.7 ms for a packet and 20 ms besides.
    let delay = told.fec.recovered_delay_mean_s.expect("some were recovered");
    assert!((0.062..0.07).contains(&delay), "{delay}");
    let plain = bare.delay_mean_s.expect("most arrived");
    let mean = told.delay_mean_s.expect("most arrived");
    let recovered = told.fec.recovered_packets.expect("it is protected") as f64 / told.received_packets as f64;
    assert!((mean - (plain * (1.0 - recovered) + delay * recovered)).abs() < 1e-3, "{mean}");
}

#[test]
fn routing_protocols_put_their_headers_before_it() {
    for protocol in ["aodv", "dsr"] {
        let told = run(&format!(
            r#"
duration = "60 s"
[radio]
propagation = {{ model = "range", receive = "250 m", carrier_sense = "550 m" }}
errors = {{ model = "packet", rate = 0.05, level = "network" }}
[[nodes]]
name = "n"
count = 4
placement = {{ shape = "line", spacing = "200 m" }}
routing = {{ protocol = "{protocol}" }}
[[flows]]
name = "voice"
from = "n0"
to = "n3"
start = "15 s"
stop = "58 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "64 kb/s", packet = "160 B" }}
fec = {{ source = 6, repair = 6, block_timeout = "1 s" }}
"#
        ));
        // Three hops lose 14 %; of twelve packets six suffice. What remains are whole blocks from before there was a route.
        let recovered = told.fec.recovered_packets.expect("it is protected");
        assert!(recovered as f64 > 0.08 * told.sent_packets as f64, "{protocol}: {told:?}");
        assert!(told.loss_ratio < 0.06, "{protocol}: {told:?}");
    }
}

#[test]
fn the_octets_of_a_capture_can_be_repaired() {
    let text = wire(r#"fec = { source = 5, repair = 2, block_timeout = "30 ms" }"#).replace("400 s", "5 s");
    let scenario = scenario(&text.replace("399 s", "4 s").replace("loss = 0.1", "loss = 0"));
    let folder = Folder::new();
    let job = Job {
        scenario: &scenario,
        seeds: &[1],
        threads: 1,
        captures: Some((folder.path(), &Selection::all(&scenario))),
        recordings: None,
    };
    let mut sent = 0;
    execute(&job, &Control::new(), &(), |_, result| sent = result.flows[0].summary.sent_packets).expect("it runs");
    let mut decoder = Decoder::new(&Config::default(), Octets);
    let (mut lost, mut number) = (0, 0);
    for record in Reader::new(File::open(folder.path().join("b.pcapng")).expect("it was written")).expect("it is one") {
        let octets = record.expect("it is whole").octets;
        let packet = ipv4::Packet::new_checked(&octets[..]).expect("IPv4");
        let datagram = udp::Packet::new_checked(packet.payload()).expect("UDP");
        let payload = datagram.payload();
        // Blocks of two packets, cut after 30 ms, and one for repair: every third is one. Of the others each third is lost.
        let is_source = number % 3 != 2;
        number += 1;
        assert_eq!((parse_source(payload).is_ok(), payload.len()), (is_source, if is_source { 166 } else { 169 }));
        assert_eq!(parse_repair(payload).is_ok(), !is_source);
        if number % 9 == 4 {
            lost += 1;
        } else if is_source {
            decoder.handle_source_octets(payload, Instant::START).expect("it is one");
        } else {
            decoder.handle_repair_octets(payload, Instant::START).expect("it is one");
        }
    }
    let adus: Vec<_> = std::iter::from_fn(|| decoder.poll_output()).map(|output| output.adu).collect();
    assert!(adus.iter().all(|adu| adu == &[0; 160]));
    assert_eq!((adus.len() as u64, decoder.statistics().recovered), (sent, lost));
    assert!(lost > 20);
}
