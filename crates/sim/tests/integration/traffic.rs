//! Applications, players and interface queues in whole scenarios.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::{Frame, FrameKind, StationId};
use hopcast_radio::medium::Link;
use hopcast_sim::engine::Tap;
use hopcast_sim::host::Sdu;
use hopcast_sim::metrics::{DropCause, FlowSummary};
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};

use crate::scenarios::{Folder, scenario};

/// Two nodes that lose nothing but by collisions.
fn link(duration: &str, radio: &str, flows: &[&str]) -> String {
    format!(
        r#"
duration = "{duration}"
[radio]
propagation = {{ model = "range", receive = "100 m", carrier_sense = "100 m" }}
{radio}
[[nodes]]
name = "n"
count = 2
placement = {{ shape = "line", spacing = "10 m" }}
socket_buffer = "60 kB"
{}
"#,
        flows.concat()
    )
}

fn flow(name: &str, [from, to]: [&str; 2], protocol: &str, rest: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = {{ protocol = \"{protocol}\" }}\n{rest}\n"
    )
}

fn run(scenario: &Scenario) -> Simulation {
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("all nodes hear each other");
    simulation.run_until(simulation.end());
    assert_eq!(simulation.check(), Ok(()));
    simulation
}

fn summaries(simulation: &Simulation) -> Vec<FlowSummary> {
    simulation.flows().iter().map(|flow| flow.summary(simulation.now())).collect()
}

/// Start and UDP payload of each data frame on the air, repetitions apart.
#[derive(Clone, Default)]
struct Sent(Rc<RefCell<Vec<(Instant, u32)>>>);

/// MAC header, LLC and FCS; IPv4 and UDP.
const HEADERS: u32 = FrameKind::DATA_OVERHEAD_OCTETS + 28;

impl Tap<Rc<Sdu>> for Sent {
    fn on_frame(&mut self, station: StationId, frame: &Frame<Rc<Sdu>>, start: Instant, received: Option<&Link>) {
        if frame.kind == FrameKind::Data && station == StationId(0) && received.is_none() && !frame.retry {
            self.0.borrow_mut().push((start, frame.octets - HEADERS));
        }
    }
}

/// What the first node puts on the air.
fn frames(scenario: &Scenario) -> Vec<(Instant, u32)> {
    let sent = Sent::default();
    let mut simulation = Simulation::new(scenario, scenario.seed).expect("all nodes hear each other");
    simulation.set_tap(sent.clone());
    simulation.run_until(simulation.end());
    sent.0.borrow().clone()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Means a + 0.5772 b and deviations 1.2825 b of Färber's distributions; a frame starts a DIFS after its packet was written, or
/// a little later, which no sum of intervals notices.
#[test]
fn a_game_on_the_air_has_the_sizes_and_intervals_of_its_model() {
    for (model, direction, size, interval) in [
        ("faerber", "server", (120.0, 36.0), (55.0, 6.0)),
        ("faerber", "client", (80.0, 5.7), (40.0, 0.0)),
        ("ngmn", "client", (45.0, 5.7), (40.0, 0.0)),
    ] {
        let application = format!(r#"application = {{ kind = "game", model = "{model}", direction = "{direction}" }}"#);
        let text = link("600 s", "", &[&flow("game", ["n0", "n1"], "udp", &application)]);
        let frames = frames(&scenario(&text));
        let sizes: Vec<f64> = frames.iter().map(|&(_, octets)| f64::from(octets)).collect();
        let starts: Vec<f64> = frames.iter().map(|(start, _)| start.as_secs_f64() * 1e3).collect();
        let intervals: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((0.0..41.0).contains(&starts[0]), "{starts:?}");
        for (values, (a, b)) in [(&sizes, size), (&intervals, interval)] {
            let count = values.len() as f64;
            let expected = a + 0.577_215_664_9 * b;
            assert!((mean(values) - expected).abs() < 4.0 * 1.2825 * b / count.sqrt() + 1e-3, "{}", mean(values));
            let centre = mean(values);
            let squares: Vec<f64> = values.iter().map(|value| (value - centre) * (value - centre)).collect();
            let deviation = mean(&squares).sqrt();
            assert!((deviation - 1.2825 * b).abs() < 0.05 * b + 1e-3, "{deviation}");
        }
    }
}

/// 41 datagrams of the bulk flow are always in the interface, 2 ms each: a voice waits for some 80 ms.
#[test]
fn a_voice_on_a_saturated_link_is_lost_by_its_deadline() {
    let voice = |deadline: &str| {
        let application = format!(r#"application = {{ kind = "audio", deadline = "{deadline}" }}"#);
        let flows = [
            flow("bulk", ["n0", "n1"], "udp", r#"application = { kind = "bulk" }"#),
            flow("voice", ["n0", "n1"], "udp", &application),
        ];
        let simulation = run(&scenario(&link("20 s", "standard = \"802.11b\"", &flows.each_ref().map(String::as_str))));
        let [bulk, voice] = <[FlowSummary; 2]>::try_from(summaries(&simulation)).expect("two flows");
        (bulk, voice, simulation.counters()[0][DropCause::Expired])
    };
    let (bulk, without, expired) = voice("off");
    let delay = without.delay_mean_s.expect("it arrives");
    assert_eq!((without.lost_packets, expired), (0, 0));
    assert!((0.06..0.1).contains(&delay), "{delay}");
    let (_, patient, expired) = voice("200 ms");
    assert_eq!((patient.lost_packets, expired), (0, 0));
    let (more_bulk, hasty, expired) = voice("40 ms");
    assert_eq!(hasty.lost_packets, expired);
    assert!(hasty.loss_ratio > 0.95, "{}", hasty.loss_ratio);
    // Of the first packets, which find a queue that is not full yet.
    let latest = hasty.delay_p99_s.expect("the first arrive");
    assert!(latest < 0.043, "{latest}");
    assert!(more_bulk.goodput_bps > bulk.goodput_bps * 1.005, "what expires takes no time of the medium");
}

/// The delay of small packets through the queue that TCP fills, and TCP's goodput.
fn beside_tcp(queue: &str, streams: usize) -> (FlowSummary, f64) {
    let mut flows = vec![flow("game", ["n0", "n1"], "udp", r#"application = { kind = "game", direction = "server" }"#)];
    flows.extend(
        (0..streams)
            .map(|stream| flow(&format!("tcp{stream}"), ["n0", "n1"], "tcp", r#"application = { kind = "bulk" }"#)),
    );
    let radio = format!("standard = \"802.11a\"\nqueue = {{ packets = 400, {queue} }}");
    let text = link("30 s", &radio, &flows.iter().map(String::as_str).collect::<Vec<_>>());
    let text = text.replace("60 kB", "200 kB");
    let mut summaries = summaries(&run(&scenario(&text))).into_iter();
    let game = summaries.next().expect("the first flow");
    (game, summaries.map(|flow| flow.goodput_bps).sum())
}

/// With a round trip below a millisecond the windows pass the target by what they grow in an interval before the first drop:
/// the mean wait is some two targets, whatever these are.
#[test]
fn codel_keeps_the_wait_near_its_target_where_drop_tail_does_not() {
    let ms = |flow: &FlowSummary| flow.delay_mean_s.expect("some arrive") * 1e3;
    let (drop_tail, full) = beside_tcp(r#"discipline = "drop-tail""#, 2);
    assert!(ms(&drop_tail) > 80.0, "{}", ms(&drop_tail));
    for (parameters, target, share) in [
        (r#", target = "2 ms", interval = "20 ms""#, 2.0, 0.8),
        ("", 5.0, 0.95),
        (r#", target = "20 ms", interval = "400 ms""#, 20.0, 0.95),
    ] {
        let (codel, managed) = beside_tcp(&format!(r#"discipline = "codel"{parameters}"#), 2);
        assert!((target..3.0 * target).contains(&ms(&codel)), "{} for {target}", ms(&codel));
        assert!(managed > share * full, "{managed} of {full}");
    }
}

#[test]
fn flow_queues_protect_a_game_beside_tcp() {
    let (drop_tail, full) = beside_tcp(r#"discipline = "drop-tail""#, 4);
    let (fair, managed) = beside_tcp(r#"discipline = "fq-codel""#, 4);
    let p99 = |flow: &FlowSummary| flow.delay_p99_s.expect("some arrive") * 1e3;
    assert!(p99(&drop_tail) > 100.0, "{}", p99(&drop_tail));
    assert!(p99(&fair) < 3.0, "{}", p99(&fair));
    assert_eq!(fair.lost_packets, 0);
    assert!(fair.jitter_mean_s < Some(0.001) && drop_tail.jitter_mean_s > fair.jitter_mean_s);
    assert!(managed > 0.9 * full, "{managed} of {full}");
}

/// Two programs of one node write as fast as they can. Under EDCA each of them waits for the queue of its category, so
/// that voice gets nearly all of the link, as from a separate node; in the single queue of DCF they take turns.
#[test]
fn a_blocking_write_waits_for_its_own_category() {
    let shares = |edca: &str| {
        let radio = format!("standard = \"802.11a\"\nedca = \"{edca}\"");
        let bulk = r#"application = { kind = "bulk" }"#;
        let of = |name: &str| flow(name, ["n0", "n1"], "udp", &format!("priority = \"{name}\"\n{bulk}"));
        // The socket holds more than the queue: writes wait for the queue.
        let text = link("2 s", &radio, &[&of("best-effort"), &of("voice")]).replace("60 kB", "200 kB");
        let simulation = run(&scenario(&text));
        let goodputs: Vec<f64> = summaries(&simulation).iter().map(|flow| flow.goodput_bps).collect();
        goodputs[1] / goodputs[0]
    };
    let (by_category, in_turn) = (shares("2012"), shares("off"));
    assert!(by_category > 20.0, "{by_category}");
    assert!((in_turn - 1.0).abs() < 0.01, "{in_turn}");
}

/// The link is dead from 5 to 8 s. The display begins when a second of the media is there, and shows what came before 5 s until
/// it has been shown, a second later; then it waits until the first packet after 8 s.
#[test]
fn a_player_outlives_its_buffer_by_the_rest_of_an_outage() {
    let outage = r#"errors = { model = "packet", rate = [["0 s", 0], ["5 s", 1], ["8 s", 0]] }"#;
    let film = |start_up: &str, radio: &str, application: &str| {
        let rest = format!(
            "application = {{ {application} }}\nplayer = {{ start_up_delay = \"{start_up}\" }}\nstop = \"19 s\""
        );
        summaries(&run(&scenario(&link("25 s", radio, &[&flow("film", ["n0", "n1"], "udp", &rest)]))))[0].player
    };
    for (application, step) in [(r#"kind = "audio""#, 0.02), (r#"kind = "video-trace""#, 0.04)] {
        let player = film("1 s", outage, application);
        let start_up = player.start_up_s.expect("it plays");
        assert!((start_up - (1.0 - step)).abs() < 0.01, "{application}: {start_up}");
        assert_eq!(player.hiccups, Some(1));
        let hiccup = player.hiccup_time_s.expect("one");
        assert!((hiccup - (2.0 + step)).abs() < step + 0.01, "{application}: {hiccup}");
        assert_eq!(player.hiccup_max_s, player.hiccup_time_s);
        // Three seconds of the media were lost, two of them in the hiccup.
        let played = player.played_s.expect("all to the end");
        assert!((played - 19.0).abs() < 0.05, "{application}: {played}");
        for (start_up, radio) in [("5 s", outage), ("1 s", "")] {
            assert_eq!(film(start_up, radio, application).hiccups, Some(0), "{application}, {start_up}");
        }
    }
}

#[test]
fn a_file_comes_after_a_time_to_think_and_alone_without_one() {
    let octets = |rest: &str, protocol: &str| {
        let application = format!(r#"application = {{ kind = "file", bytes = "15 kB"{rest} }}"#);
        let text = link("1 s", "standard = \"802.11a\"", &[&flow("file", ["n0", "n1"], protocol, &application)]);
        summaries(&run(&scenario(&text)))[0].received_bytes
    };
    for protocol in ["udp", "tcp"] {
        // Each is written in no time, at 0, 100, … 900 ms.
        assert_eq!(octets(r#", think = "100 ms""#, protocol), 150_000);
        assert_eq!(octets("", protocol), 15_000);
    }
}

#[test]
fn frames_that_were_left_out_are_waited_for() {
    let folder = Folder::new();
    fs::write(folder.path().join("chat.dat"), "1 I 0 900\n2 P 120 300\n3 P 160 80\n4 P 440 250\n").expect("writable");
    let application = r#"application = { kind = "video-trace", file = "chat.dat" }"#;
    let text = link("1 s", "", &[&flow("chat", ["n0", "n1"], "udp", application)]);
    let source = Source {
        text,
        name: "test.toml".into(),
        directory: folder.path().into(),
        trace_dirs: vec![],
        ..Source::default()
    };
    let frames = frames(&Scenario::parse(&source, &[]).expect("it is right").scenario);
    // The trace lasts for its last time and a mean step of 440/3 ms; a frame starts DIFS (50 µs) after its write.
    let expected = [(0.0, 900), (120.0, 300), (160.0, 80), (440.0, 250), (586.667, 900), (706.667, 300), (746.667, 80)];
    assert_eq!(frames.len(), expected.len());
    for ((start, octets), (due, size)) in frames.into_iter().zip(expected) {
        let late = start.as_secs_f64() * 1e3 - due;
        assert!(octets == size && (-0.001..0.1).contains(&late), "{octets} B, {late} ms after {due} ms");
    }
}

/// Every variant of TCP repairs what the air loses above the MAC, each in its own way.
#[test]
fn every_variant_of_tcp_repairs_losses_and_they_differ() {
    let run = |variant: &str| {
        let text = format!(
            r#"
duration = "60 s"
[radio]
standard = "802.11b"
errors = {{ model = "packet", rate = 0.02, level = "network" }}
[[nodes]]
name = "n"
count = 2
placement = {{ shape = "line", spacing = "5 m" }}
[[flows]]
name = "file"
from = "n0"
to = "n1"
transport = {{ protocol = "tcp", variant = "{variant}", timestamps = true }}
application = {{ kind = "bulk", bytes = "2 MB" }}
"#
        );
        let mut simulation = Simulation::new(&scenario(&text), 1).expect("the nodes hear each other");
        simulation.run_until(simulation.end());
        simulation.check().expect("nothing vanishes");
        let flow = simulation.flows().iter().next().expect("there is one").summary(simulation.end());
        assert_eq!(flow.received_bytes, 2_000_000, "{variant}");
        assert!(flow.tcp.unwrap().retransmitted_segments > 10, "{variant}: {:?}", flow.tcp);
        flow.delay_mean_s.map(f64::to_bits)
    };
    let delays: std::collections::BTreeSet<_> = ["reno", "newreno", "sack", "cubic"].into_iter().map(run).collect();
    assert_eq!(delays.len(), 4, "no two are the same machine");
}

#[test]
fn the_examples_run_for_a_few_seconds() {
    let fixtures = [
        include_str!("../../src/scenario/tests/fixtures/string.toml"),
        include_str!("../../src/scenario/tests/fixtures/house.toml"),
        include_str!("../../src/scenario/tests/fixtures/roaming.toml"),
    ];
    let late = [vec!["bulk"], vec!["download"], vec!["burst"]];
    for (text, late) in fixtures.iter().zip(late) {
        let source = Source { text: (*text).into(), name: "test.toml".into(), ..Source::default() };
        let scenario = Scenario::parse(&source, &["duration=5 s".into()]).expect("it is right").scenario;
        let simulation = run(&scenario);
        for (flow, summary) in scenario.flows.iter().zip(summaries(&simulation)) {
            let has_started = !late.contains(&flow.name.as_str());
            assert_eq!(has_started, summary.sent_packets > 0, "{}", flow.name);
            assert_eq!(has_started, simulation.warnings().iter().all(|warning| !warning.contains(&flow.name)));
        }
    }
}

/// Whether after the run, at its very end, or never.
#[test]
fn a_flow_that_starts_too_late_sends_nothing() {
    let applications = [
        (["udp", "tcp", "tfrc"], r#"application = { kind = "bulk", packet = "1000 B" }"#),
        (["udp", "tcp", "adtfrc"], "application = { kind = \"cbr\", rate = \"1 Mb/s\" }\nplayer = {}"),
    ];
    for (protocols, application) in applications {
        for protocol in protocols {
            for times in ["start = \"1 s\"", "start = \"2 s\"", "start = \"2 s\"\nstop = \"3 s\""] {
                let rest = format!("{times}\n{application}");
                let simulation = run(&scenario(&link("1 s", "", &[&flow("late", ["n0", "n1"], protocol, &rest)])));
                let told = &summaries(&simulation)[0];
                let counts = [told.sent_packets, told.received_packets, told.lost_packets, told.in_flight_packets];
                assert_eq!((counts, told.sent_bytes), ([0; 4], 0), "{protocol}, {times}");
                assert_eq!((told.goodput_bps, told.loss_ratio), (0.0, 0.0));
                assert_eq!([told.delay_mean_s, told.delay_p99_s, told.jitter_mean_s, told.first_arrival_s], [None; 4]);
                assert_eq!((told.player.start_up_s, told.player.hiccups.unwrap_or(0)), (None, 0));
                assert_eq!(simulation.totals().frames_sent, 0);
                let [warning] = simulation.warnings() else { panic!("{:?}", simulation.warnings()) };
                assert!(warning.contains("flow \"late\"") && warning.contains("the run ends at 1 s"), "{warning}");
            }
        }
    }
}

/// 1 Mb/s in packets of 1000 B is one each 8 ms: the one at 2 s is none of the run's.
#[test]
fn the_end_of_the_run_is_a_stop() {
    for protocol in ["udp", "tcp", "tfrc"] {
        let told = ["", "stop = \"2 s\"", "stop = \"3 s\""].map(|stop| {
            let rest = format!("{stop}\napplication = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"1000 B\" }}");
            let simulation = run(&scenario(&link("2 s", "", &[&flow("f", ["n0", "n1"], protocol, &rest)])));
            summaries(&simulation).remove(0)
        });
        assert_eq!(told.each_ref().map(|told| told.sent_packets), [250; 3], "{protocol}");
        assert!(told.iter().all(|other| *other == told[0]), "{protocol}: {told:?}");
    }
}

#[test]
fn what_does_not_block_gets_past_a_program_that_writes_without_end() {
    let flows = [
        flow("bulk", ["n0", "n1"], "udp", "application = { kind = \"bulk\" }"),
        flow("voice", ["n0", "n1"], "udp", "application = { kind = \"cbr\", rate = \"64 kb/s\", packet = \"160 B\" }"),
        flow("stream", ["n0", "n1"], "tcp", "application = { kind = \"bulk\" }"),
    ];
    let text = link("10 s", "", &flows.each_ref().map(String::as_str)).replace("socket_buffer = \"60 kB\"", "");
    let [bulk, voice, stream] = &summaries(&run(&scenario(&text)))[..] else { panic!("three flows") };
    assert!(voice.received_packets * 10 > voice.sent_packets * 9, "{voice:?}");
    assert!(stream.received_bytes * 10 > bulk.received_bytes, "{stream:?}");
}

/// Over a wire of 1 Mb/s, with IPv4, UDP and RTP before each packet, and nothing in front of them.
#[test]
fn a_writer_without_end_over_rtp_waits_for_the_wire() {
    for application in ["kind = \"bulk\"", "kind = \"adu\", size = \"1000 B\", wait = \"0 s\""] {
        let application = application.replace("\"bulk\"", "\"bulk\", packet = \"1000 B\"");
        let text = format!(
            r#"
duration = "10 s"
nodes = [{{ name = "a", role = "wired" }}, {{ name = "b", role = "wired" }}]
links = [{{ between = ["a", "b"], rate = "1 Mb/s" }}]
[[flows]]
name = "f"
from = "a"
to = "b"
transport = {{ protocol = "rtp", congestion = "none" }}
application = {{ {application} }}
"#
        );
        let summaries = summaries(&run(&scenario(&text)));
        let FlowSummary { goodput_bps, lost_packets, in_flight_packets, .. } = summaries[0];
        assert!((goodput_bps / 1e6 - 1000.0 / 1040.0).abs() < 0.002, "{application}: {goodput_bps} b/s");
        assert_eq!(lost_packets, 0, "{application}");
        assert!(in_flight_packets > 1, "{application}: the queue of the wire is in use");
    }
}
