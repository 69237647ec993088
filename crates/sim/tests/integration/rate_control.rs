//! TFRC, ADTFRC and TCP with notices of broken routes, in whole scenarios.

use std::fs;

use hopcast_protocols::time::Duration;
use hopcast_protocols::transport::{adtfrc, tfrc::equation::throughput};
use hopcast_sim::metrics::{FlowSummary, PathState, Score};
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};

use super::scenarios::{Folder, scenario};

/// Runs to the end, checks conservation every ten seconds, and returns the figures of all flows.
fn run(text: &str, seed: u64) -> Vec<FlowSummary> {
    run_scenario(&scenario(text), seed)
}

fn run_scenario(scenario: &Scenario, seed: u64) -> Vec<FlowSummary> {
    let mut simulation = Simulation::new(scenario, seed).expect("the scenario can be set up");
    while simulation.now() < simulation.end() {
        simulation.run_until(simulation.now() + Duration::from_secs(10));
        simulation.check().unwrap_or_else(|imbalance| panic!("at {}: {imbalance}", simulation.now()));
    }
    simulation.flows().iter().map(|flow| flow.summary(simulation.now())).collect()
}

fn flow(name: &str, [from, to]: [&str; 2], transport: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ {transport} }}\n\
         application = {{ kind = \"bulk\", packet = \"1000 B\" }}\n"
    )
}

/// A flow over a wire of 100 Mb/s between two hosts.
fn wire(duration: &str, link: &str, transport: &str) -> String {
    format!(
        "duration = \"{duration}\"\n[[nodes]]\nname = \"a\"\nrole = \"wired\"\n[[nodes]]\nname = \"b\"\n\
         role = \"wired\"\n[[links]]\nbetween = [\"a\", \"b\"]\nrate = \"100 Mb/s\"\n{link}\n{}",
        flow("f", ["a", "b"], transport)
    )
}

/// A wire between two hosts that loses at random, wide enough not to be the limit: RFC 5348, section 3.1, decides.
#[test]
fn the_throughput_over_a_lossy_wire_is_that_of_the_equation() {
    // The round trip is that of the wire; a packet is 8 ms/100 on it.
    for (loss, range) in [(0.003, 0.85..1.15), (0.01, 0.85..1.15), (0.05, 0.55..1.15)] {
        for (variant, timeout) in [("rfc5348", 1.0), ("rfc3448", 0.4), ("ns-2", 0.3)] {
            let link = format!("delay = \"50 ms\"\nloss = {loss}");
            let text = wire("250 s", &link, &format!("protocol = \"tfrc\", variant = \"{variant}\""));
            let summary = run(&text, 1).remove(0);
            assert!((summary.loss_ratio / loss - 1.0).abs() < 0.2, "{}", summary.loss_ratio);
            let expected = 8.0 * throughput(1000.0, 0.1001, timeout, summary.loss_ratio);
            let ratio = summary.goodput_bps / expected;
            assert!(range.contains(&ratio), "{variant} at {loss}: {} of {expected}", summary.goodput_bps);
        }
    }
}

/// Some 2400 packets are in flight: feedback for the oldest of them still counts (RFC 4340, section 7.5.2).
#[test]
fn a_long_wide_wire_is_filled() {
    for protocol in ["tfrc", "adtfrc"] {
        let link = "delay = \"100 ms\"\nqueue = { packets = 5000 }";
        let text = wire("60 s", link, &format!("protocol = \"{protocol}\""));
        let goodput = run(&text, 1).remove(0).goodput_bps;
        // With slow start, and what it loses at its end; the nofeedback timer would keep it below 41 Mb/s.
        assert!(goodput > 60e6, "{protocol}: {goodput}");
    }
}

/// Two sources behind one wire of 2 Mb/s.
fn bottleneck(transports: [&str; 2]) -> String {
    let mut text = "duration = \"150 s\"\n".to_owned();
    for node in ["a", "b", "r", "s"] {
        text += &format!("[[nodes]]\nname = \"{node}\"\nrole = \"wired\"\n");
    }
    for (ends, rate, rest) in [
        ("\"a\", \"r\"", 100, "delay = \"1 ms\""),
        ("\"b\", \"r\"", 100, "delay = \"1 ms\""),
        ("\"r\", \"s\"", 2, "delay = \"30 ms\"\nqueue = { packets = 25 }"),
    ] {
        text += &format!("[[links]]\nbetween = [{ends}]\nrate = \"{rate} Mb/s\"\n{rest}\n");
    }
    text + &flow("f", ["a", "s"], transports[0]) + &flow("g", ["b", "s"], transports[1])
}

#[test]
fn two_that_share_a_bottleneck_have_shares_of_it() {
    let tfrc = r#"protocol = "tfrc""#;
    let tcp = r#"protocol = "tcp", variant = "sack", segment = "1000 B", timestamps = true"#;
    // The factor by which one may have more than the other: RFC 5348 calls a factor of two fair (section 1).
    for (transports, factor) in [([tfrc, tfrc], 1.5), ([tfrc, tcp], 2.0)] {
        let [f, g]: [FlowSummary; 2] = run(&bottleneck(transports), 3).try_into().expect("two flows");
        let sum = f.goodput_bps + g.goodput_bps;
        assert!(sum > 0.85 * 2e6 * 1000.0 / 1040.0, "{transports:?}: {sum}");
        let ratio = f.goodput_bps / g.goodput_bps;
        assert!((1.0 / factor..factor).contains(&ratio), "{transports:?}: {} and {}", f.goodput_bps, g.goodput_bps);
    }
}

/// Over hops that contend with each other, without and with a routing protocol.
#[test]
fn a_string_of_hops_is_used_and_nothing_vanishes() {
    for transport in ["tfrc", "adtfrc"] {
        for routing in ["static", "aodv", "dsr"] {
            let text = format!(
                "duration = \"60 s\"\n[radio]\nstandard = \"802.11b\"\ndata_rate = \"2 Mb/s\"\n\
                 propagation = {{ model = \"range\", receive = \"250 m\", carrier_sense = \"550 m\" }}\n[[nodes]]\n\
                 name = \"n\"\ncount = 4\nplacement = {{ shape = \"line\", spacing = \"200 m\" }}\n\
                 routing = {{ protocol = \"{routing}\" }}\n{}",
                flow("f", ["n0", "n3"], &format!("protocol = \"{transport}\""))
            );
            let summary = run(&text, 1).remove(0);
            // Three hops of which one sends at a time: a third of some 1.5 Mb/s that one has.
            assert!((150e3..520e3).contains(&summary.goodput_bps), "{transport} {routing}: {summary:?}");
        }
    }
}

/// Media that never block, a film and a voice: what arrives is shown.
#[test]
fn media_over_tfrc_are_played() {
    let text = format!(
        "duration = \"60 s\"\n[radio]\nstandard = \"802.11a\"\n[[nodes]]\nname = \"n\"\ncount = 2\n\
         placement = {{ shape = \"line\", spacing = \"10 m\" }}\n{}",
        ["audio", "video-trace"]
            .map(|kind| format!(
                "[[flows]]\nname = \"{kind}\"\nfrom = \"n0\"\nto = \"n1\"\ntransport = {{ protocol = \"tfrc\" }}\n\
                 application = {{ kind = \"{kind}\" }}\nplayer = {{ }}\n"
            ))
            .concat()
    );
    for (summary, kind) in run(&text, 1).iter().zip(["audio", "video-trace"]) {
        assert_eq!((summary.lost_packets, summary.tcp.unwrap().timeouts), (0, 0), "{kind}");
        assert!(summary.player.played_s.is_some_and(|played| played > 55.0), "{kind}: {:?}", summary.player);
    }
}

/// A source and a sink 400 m apart, and a node between them that is away from 20 s on, under a routing protocol.
fn with_a_break(back: u32, routing: &str, transport: &str, errors: &str, seed: u64) -> FlowSummary {
    let folder = Folder::new();
    // It goes 2000 m to the side in 2 s, and comes back as fast.
    let away = format!("0 200 0 20 200 0 22 200 2000 {} 200 2000 {back} 200 0\n", back - 2);
    fs::write(folder.path().join("away.movements"), away).unwrap();
    let text = format!(
        "duration = \"75 s\"\n[radio]\nstandard = \"802.11b\"\ndata_rate = \"2 Mb/s\"\n{errors}\n\
         propagation = {{ model = \"range\", receive = \"250 m\", carrier_sense = \"550 m\" }}\n[[nodes]]\nname = \"n\"\n\
         count = 2\nplacement = {{ shape = \"line\", spacing = \"400 m\" }}\nrouting = {{ protocol = \"{routing}\" }}\n\
         [[nodes]]\nname = \"between\"\nmobility = {{ model = \"trace\", file = \"away.movements\" }}\n\
         routing = {{ protocol = \"{routing}\" }}\n{}",
        flow("f", ["n0", "n1"], transport)
    );
    let source = Source { text, name: "test.toml".into(), directory: folder.path().to_owned(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).unwrap_or_else(|errors| panic!("{errors}")).scenario;
    run_scenario(&scenario, seed).remove(0)
}

/// Plain TCP's timer has backed off when the node is back; who was told probes every 2 s, or when there is a route. Where the
/// protocol keeps a packet and looks for a route by itself, DSR above all, there is little to gain, but nothing to lose.
#[test]
fn told_of_a_broken_route_tcp_is_back_sooner() {
    for (routing, back, gain) in [("aodv", 40, 1.15), ("olsr", 34, 1.15), ("dsr", 34, 0.98), ("dsdv", 40, 0.98)] {
        let run = |elfn: bool| {
            let transport = format!("protocol = \"tcp\", segment = \"1000 B\", window = 8, elfn = {elfn}");
            with_a_break(back, routing, &transport, "", 1)
        };
        let (plain, told) = (run(false), run(true));
        let ratio = told.goodput_bps / plain.goodput_bps;
        assert!(ratio > gain, "{routing}: {} and {}", told.goodput_bps, plain.goodput_bps);
        assert!(
            told.tcp.unwrap().timeouts < plain.tcp.unwrap().timeouts,
            "{routing}: {:?} and {:?}",
            told.tcp,
            plain.tcp
        );
    }
}

/// Losses that were scored by each cause, in the order of [`PathState::ALL`].
fn by_cause(counts: &Score) -> [u64; 5] {
    PathState::ALL.map(|truth| PathState::ALL.iter().map(|&identified| counts.of_cause(truth, identified)).sum())
}

/// Above the MAC's retries a share of the packets is lost, and nothing else loses any but the gap.
#[test]
fn the_monitor_knows_why_packets_are_lost() {
    let errors = r#"errors = { model = "packet", rate = 0.02, level = "network" }"#;
    let mut probed = 0;
    for seed in 1..=4 {
        let summary = with_a_break(35, "aodv", r#"protocol = "adtfrc""#, errors, seed);
        let scores = summary.identification.expect("it is ADTFRC");
        let counts = scores.of(adtfrc::Identification::Joint);
        let [normal, _, _, errors, _] = by_cause(counts);
        let scored: u64 = by_cause(counts).iter().sum();
        assert!(scored <= summary.lost_packets, "{seed}: {scored} of {}: {counts:?}", summary.lost_packets);
        assert!(2 * scored > summary.lost_packets, "{seed}: {scored} of {}: {counts:?}", summary.lost_packets);
        assert!(errors > 20 && normal == 0, "{seed}: {counts:?}");
        probed += counts.of_cause(PathState::Disconnection, PathState::Disconnection);
    }
    // While the node is away nobody connects the two, and the sender probes, unless the last it heard was congestion.
    assert!(probed > 0);
    assert_eq!(run(&bottleneck(["protocol = \"tfrc\""; 2]), 1)[0].identification, None);
}

/// The receiver's card is too slow for what comes from the air. Nothing else loses any but full queues, and no packet is late.
#[test]
fn what_a_full_card_drops_is_not_scored() {
    let text = format!(
        "duration = \"60 s\"\n[radio]\nstandard = \"802.11b\"\n[[nodes]]\nname = \"a\"\n\
         placement = {{ shape = \"points\", at = [[\"0 m\", \"0 m\"]] }}\n[[nodes]]\nname = \"b\"\n\
         placement = {{ shape = \"points\", at = [[\"10 m\", \"0 m\"]] }}\n\
         card = {{ model = \"pcmcia\", receive_buffers = 2, copy_in = \"5 ms\" }}\n{}",
        flow("f", ["a", "b"], "protocol = \"adtfrc\", metric = \"none\"")
    );
    let summary = run(&text, 1).remove(0);
    let scores = summary.identification.expect("it is ADTFRC");
    let [normal, congestion, rest @ ..] = by_cause(scores.of(adtfrc::Identification::Joint));
    assert_eq!((normal, rest), (0, [0; 3]), "only queues are full, too");
    assert!(summary.lost_packets > congestion + 1_000, "{congestion} of {}", summary.lost_packets);
}
