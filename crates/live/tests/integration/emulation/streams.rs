//! `hopcast stream` as plain RTP between the ends of an emulated wire, with the numbers of the simulator next to it.

use std::fs;

use hopcast_protocols::time::Instant;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};
use serde_json::Value;

use super::{Bench, emulate, kept_up, run};

/// A call over a wire of 2 Mb/s, 25 ms and 100 packets. Between real hosts the flow is left out.
const WIRE: &str = r#"
    duration = "34 s"
    [[nodes]]
    name = "n"
    count = 2
    role = "wired"
    real = true
    [[links]]
    between = ["n0", "n1"]
    rate = "2 Mb/s"
    delay = "25 ms"
    queue = { packets = 100 }
    [[flows]]
    name = "call"
    from = "n0"
    to = "n1"
    start = "1 s"
    stop = "31 s"
    transport = { protocol = "rtp", congestion = "CONTROL" }
    application = { kind = "codec", frame_rate = 25, packet = "1316 B", max_rate = "2.5 Mb/s" }
    player = { jitter_buffer = { kind = "adaptive" } }
"#;

/// The share of the wire's rate that is media in packets of 1316 bytes of it, in Mb/s: no more can arrive.
const MOST: f64 = 2.0 * 1316.0 / 1356.0;
/// How much longer than the longest simulated mean round trip that of a live call may be on a busy machine, in s.
const BUSY: f64 = 0.04;
/// Student's t of nine degrees of freedom: 95 % lie within it.
const STUDENT: f64 = 2.262;

/// The command of a receiver for 32 s. In the simulator it knows that NADA wants feedback each 100 ms.
fn receiver(address: &str, control: &str, received: &str) -> String {
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    let interval = if control == "nada" { "--feedback-interval 100ms" } else { "" };
    // Nobody listens at the port for discarding.
    format!(
        "timeout -s INT 32 {program} stream receive --variant rtp --listen {address} {interval} --jitter-buffer adaptive --output rtp://127.0.0.1:9 --json > {received}; true"
    )
}

/// The command of a sender for 30 s, with the encoder of the scenarios. As in the simulator, what has waited for 2 s is dropped.
fn sender(address: &str, control: &str, more: &str, sent: &str) -> String {
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    format!(
        "sleep 1; timeout -s INT 30 {program} stream send --to {address} --input encoder:transient --patience 2s --json --congestion {control} --max-rate 2.5Mb/s {more} > {sent}; true"
    )
}

/// What a call of 30 s is judged by: goodput in Mb/s without the headers of RTP, mean round trip in ms as the sender measures it, and the
/// share of frames that came late or never, in per cent.
pub(super) const MEASURED: [&str; 3] = ["goodput, Mb/s", "mean round trip, ms", "frames late or lost, %"];

/// Of a live call.
fn live(control: &str, sent: &[Value], received: &[Value]) -> [f64; 3] {
    let end = received.last().expect("a line");
    let number = |key: &str| end[key].as_f64().unwrap_or_else(|| panic!("{key} is a number: {end}"));
    let header = if control == "gcc" { 20.0 } else { 12.0 };
    let goodput = 8e-6 * (number("octets_delivered") - header * number("packets_delivered")) / 30.0;
    let rtts: Vec<f64> = sent.iter().filter_map(|line| line["rtt_s"].as_f64()).collect();
    let missed = number("frames_late") + number("frames_lost");
    [goodput, 1e3 * mean(&rtts), 100.0 * missed / (missed + number("frames_on_time"))]
}

/// Of ten simulated calls.
pub(super) fn ten_runs(text: &str) -> Vec<[f64; 3]> {
    let source = Source { text: text.into(), name: "call.toml".into(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("the scenario is right").scenario;
    let run = |seed| {
        let mut simulation = Simulation::new(&scenario, seed).expect("the line reaches everyone");
        simulation.run_until(simulation.end());
        let call = simulation.flows().iter().next().expect("there is a call");
        let summary = call.summary(simulation.end());
        // The call ends at 31 s.
        let samples =
            call.series().samples().iter().filter(|sample| sample.time <= Instant::from_nanos(31_000_000_000));
        let rtts: Vec<f64> = samples.map(|sample| sample.srtt.as_secs_f64()).filter(|&rtt| rtt > 0.0).collect();
        let frames = summary.frames.expect("there is a jitter buffer");
        let missed = (frames.frames_late + frames.frames_lost) as f64;
        [summary.goodput_bps * 1e-6, 1e3 * mean(&rtts), 100.0 * missed / (missed + frames.frames_on_time as f64)]
    };
    (1..=10).map(run).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The interval in which one more run lies with 95 %, by the mean and the deviation of ten.
pub(super) fn interval(values: &[f64]) -> [f64; 2] {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let half = STUDENT * (squares / 9.0 * 1.1).sqrt();
    [mean - half, mean + half]
}

/// Prints what is measured of a call, where ten simulated ones lie, and whether it is in their interval. On a machine that is busy it
/// still has three to five quarters of their goodput, a round trip that is at most half as long again as their longest, and a share of
/// missed frames that is at most ten points more than their largest.
fn judge(control: &str, call: [f64; 3], runs: &[[f64; 3]]) {
    for (place, name) in MEASURED.into_iter().enumerate() {
        let values: Vec<f64> = runs.iter().map(|run| run[place]).collect();
        let [least, most] =
            [values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max)];
        let [from, to] = interval(&values);
        let inside = if (from..=to).contains(&call[place]) { "inside" } else { "outside" };
        println!(
            "{control}: {name}: {:.2}, simulated {least:.2} to {most:.2}, interval {from:.2} to {to:.2}: {inside}",
            call[place]
        );
        let band = [(0.75 * least, 1.25 * most), (0.0, 1.5 * most + 1e3 * BUSY), (0.0, most + 10.0)][place];
        assert!((band.0..=band.1).contains(&call[place]), "{control}: {name}: {} {values:?}", call[place]);
    }
}

/// A transport stream of this number of packets without clock, all of one program.
fn film(packets: usize) -> Vec<u8> {
    let packet = |nth: usize| {
        let mut octets = [0x55; 188];
        octets[..4].copy_from_slice(&[0x47, 0x01, 0x00, 0x10 | (nth % 16) as u8]);
        octets
    };
    (0..packets).flat_map(packet).collect()
}

/// Lines of JSON in a file.
pub(super) fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// What a sender and a receiver told of 30 s over this wire; `None` where the machine was too busy.
fn call(bench: &Bench, wire: &str, control: &str, more: &str) -> Option<[Vec<Value>; 2]> {
    let scenario = bench.file("wire.toml", wire);
    let [sent, received] = ["sent.json", "received.json"].map(|name| bench.path(name));
    let programs = [receiver("10.0.0.2", control, &received), sender("10.0.0.2", control, more, &sent)];
    let output = run(&mut emulate(&scenario, &["--json", "--exec", "n1", &programs[0], "--exec", "n0", &programs[1]]));
    kept_up(&output).then(|| [lines(&sent), lines(&received)])
}

/// Line, set before the first run: what is measured of a live call lies in the interval of ten simulated ones. The docs say where it
/// does not. No more arrives than the wire carries, and no more than 1 % is lost under the controllers of delay, which lose nothing in
/// the simulator.
#[test]
#[ignore = "slow"]
fn each_congestion_control_fills_a_wire_as_in_the_simulator() {
    let Some(bench) = Bench::new(&["timeout"]) else { return };
    for control in ["gcc", "scream", "nada", "tfrc", "adtfrc"] {
        let wire = WIRE.replace("CONTROL", control);
        let Some([sent, received]) = call(&bench, &wire, control, "") else { return };
        let measured = live(control, &sent, &received);
        let line = sent.last().expect("a line");
        let [lost, arrived] = ["packets_lost", "packets_arrived"].map(|key| line[key].as_f64().expect("a number"));
        let share = lost / (lost + arrived);
        println!("{control}: {:.2} % lost", 100.0 * share);
        assert!(measured[0] <= MOST, "{control}: {} Mb/s", measured[0]);
        assert!(share <= 0.01 || control.ends_with("tfrc"), "{control}: {share}");
        judge(control, measured, &ten_runs(&wire));
    }
}

/// A queue that marks what has waited for 10 ms. Lines, set before the first run: marks are told, nothing is lost, and the mean round
/// trip is less than without marks.
#[test]
#[ignore = "slow"]
fn marks_of_a_queue_reach_scream_and_shorten_its_round_trip() {
    let Some(bench) = Bench::new(&["timeout"]) else { return };
    let wire = WIRE.replace("CONTROL", "scream");
    let marking =
        wire.replace("packets = 100", "packets = 100, discipline = \"drop-tail\", ecn = true, target = \"10 ms\"");
    assert_ne!(marking, wire);
    let mut rtts = Vec::new();
    for options in ["", "--ecn"] {
        let Some([sent, received]) = call(&bench, &marking, "scream", options) else { return };
        let [_, rtt, _] = live("scream", &sent, &received);
        let line = sent.last().expect("a line");
        let (marked, lost) = (line["packets_marked"].as_u64(), line["packets_lost"].as_u64());
        println!("{options:?}: mean round trip {rtt:.0} ms, {marked:?} marked, {lost:?} lost");
        assert_eq!((marked > Some(0), lost), (!options.is_empty(), Some(0)), "{line}");
        rtts.push(rtt);
    }
    assert!(rtts[1] < rtts[0], "{rtts:?}");
}

/// For three seconds within a call of almost five a wire loses a tenth of the packets each way. Line, set before the first run: without retransmission what is
/// lost, and with it what is sent again, is within four deviations of its mean; with it all arrives.
#[test]
fn what_a_wire_loses_is_sent_again() {
    const LOSS: f64 = 0.1;
    const PACKETS: usize = 800;
    const RATE: f64 = 1.8e6;
    let losing = 3.0 * RATE / (8.0 * 1316.0);
    let Some(bench) = Bench::new(&["timeout"]) else { return };
    let wire = WIRE.replace("CONTROL", "none").replace(
        "packets = 100 }",
        &format!("packets = 100 }}\n    loss = [[\"0 s\", 0], [\"1 s\", {LOSS}], [\"4 s\", 0]]"),
    );
    let scenario = bench.file("wire.toml", &wire);
    let media = bench.file("film.ts", "");
    let film = film(7 * PACKETS);
    fs::write(&media, &film).expect("there is room");
    let [sent, received, arrived] = ["sent.json", "received.json", "arrived.ts"].map(|name| bench.path(name));
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    for option in ["", "--retransmission 1s"] {
        let receiver = format!(
            "timeout -s INT 20 {program} stream receive --variant rtp --playout 1s {option} --output {arrived} --json > {received}; true"
        );
        let sender = format!(
            "sleep 0.3; timeout -s INT 18 {program} stream send --to 10.0.0.2 --input {} --pace allowed --json --congestion none --max-rate {RATE}b/s {option} > {sent}; true",
            media.display()
        );
        let output = run(&mut emulate(&scenario, &["--json", "--exec", "n1", &receiver, "--exec", "n0", &sender]));
        if !kept_up(&output) {
            return;
        }
        let (sent, received) = (lines(&sent), lines(&received));
        let [again, lost] = ["packets_retransmitted", "packets_lost"]
            .map(|key| [sent.last(), received.last()].map(|line| line.expect("a line")[key].as_f64()));
        let (again, lost) = (again[0].expect("a number"), lost[1].expect("a number"));
        println!("{option:?}: {again} sent again, {lost} lost of {PACKETS}");
        let repaired = if option.is_empty() { lost } else { again };
        // Of geometric numbers, whose variance is p / (1 - p)²; that of losses alone is less.
        let (mean, deviation) = (losing * LOSS / (1.0 - LOSS), (losing * LOSS).sqrt() / (1.0 - LOSS));
        assert!((repaired - mean).abs() <= 4.0 * deviation, "{option:?}: {repaired}, {mean} expected");
        let is_whole = fs::read(&arrived).expect("it was written") == film;
        let repairs = !option.is_empty();
        assert_eq!((is_whole, lost == 0.0, again > 0.0), (repairs, repairs, repairs), "{option:?}");
    }
}

/// A call over two hops of 802.11ax, with a download next to it from 5 s on. Relays have the fair queues of Linux. Between real hosts
/// the flows are left out.
pub(super) const HOPS: &str = r#"
    duration = "34 s"
    [radio]
    standard = "802.11ax"
    band = "5 GHz"
    channel = { number = 36, width = "20 MHz" }
    data_rate = "mcs 1"
    propagation = { model = "range", receive = "120 m", carrier_sense = "250 m" }
    queue = { discipline = "mac80211" }
    aggregation = { ampdu = "off" }
    [[nodes]]
    name = "box"
    real = true
    placement = { shape = "points", at = [["0 m", "0 m"]] }
    [[nodes]]
    name = "relay"
    placement = { shape = "points", at = [["100 m", "0 m"]] }
    [[nodes]]
    name = "screen"
    real = true
    placement = { shape = "points", at = [["200 m", "0 m"]] }
    [[flows]]
    name = "call"
    from = "box"
    to = "screen"
    start = "1 s"
    stop = "31 s"
    transport = { protocol = "rtp", congestion = "CONTROL" }
    application = { kind = "codec", frame_rate = 25, packet = "1316 B", max_rate = "2.5 Mb/s" }
    player = { jitter_buffer = { kind = "adaptive" } }
    [[flows]]
    name = "download"
    from = "box"
    to = "screen"
    start = "6 s"
    stop = "31 s"
    transport = { protocol = "tcp", variant = "cubic" }
    application = { kind = "bulk" }
"#;

/// Line, set before the first run: as over the wire.
#[test]
#[ignore = "slow"]
fn a_call_over_two_hops_next_to_a_download_gets_what_the_simulator_says() {
    let Some(bench) = Bench::new(&["timeout", "iperf3"]) else { return };
    let [sent, received, download] = ["sent.json", "received.json", "iperf.json"].map(|name| bench.path(name));
    for control in ["gcc", "scream", "nada", "adtfrc"] {
        let text = HOPS.replace("CONTROL", control);
        let scenario = bench.file("hops.toml", &text);
        let programs = [
            ("screen", receiver("10.0.0.3", control, &received)),
            ("box", sender("10.0.0.3", control, "", &sent)),
            ("screen", "timeout 33 iperf3 -s -1 > /dev/null; true".into()),
            ("box", format!("sleep 6; iperf3 -c 10.0.0.3 -J -t 25 -C cubic > {download}; true")),
        ];
        let programs: Vec<&str> = programs.iter().flat_map(|(node, program)| ["--exec", node, program]).collect();
        let output = run(emulate(&scenario, &programs).arg("--json"));
        if !kept_up(&output) {
            return;
        }
        let iperf: Value = serde_json::from_str(&fs::read_to_string(&download).expect("it was written")).expect("JSON");
        let other = iperf["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or_default() * 1e-6;
        println!("{control}: download {other:.2} Mb/s");
        judge(control, live(control, &lines(&sent), &lines(&received)), &ten_runs(&text));
    }
}
