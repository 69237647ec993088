//! `hopcast stream` as plain RTP between the ends of an emulated wire, with the numbers of the simulator next to it.

use std::fs;

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
    application = { kind = "codec", model = "trace", traces = ["even.txt"], max_rate = "2.5 Mb/s" }
"#;

/// The share of the wire's rate that is media in packets of 1316 bytes of it, in Mb/s: no more can arrive.
const MOST: f64 = 2.0 * 1316.0 / 1356.0;
/// The longest time for which transport-wide feedback is held back, and one for a busy machine, in s.
const HELD: f64 = 0.25;
const BUSY: f64 = 0.04;

/// The video trace `even.txt`: 25 frames a second, all of one size, as live sessions count with. The live sender takes media from a file
/// at the target rate, so it has no frames that vary.
fn even_frames() -> String {
    (0..1000).map(|nth| format!("{nth} P {} 5000\n", 40 * nth)).collect()
}

/// The command of a receiver for 32 s. In the simulator it knows that NADA wants feedback each 100 ms.
fn receiver(address: &str, control: &str, received: &str) -> String {
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    let interval = if control == "nada" { "--feedback-interval 100ms" } else { "" };
    format!(
        "timeout -s INT 32 {program} stream receive --variant rtp --listen {address} {interval} --output /dev/null --json > {received}; true"
    )
}

/// Goodput in Mb/s over 30 s without the headers of RTP, mean round trip in s, and the last line of a sender's statistics.
fn live(sent: &[Value], received: &[Value]) -> (f64, f64, Value) {
    let end = received.last().expect("a line");
    let [bytes, packets] = ["octets_delivered", "packets_delivered"].map(|key| end[key].as_f64().expect("a number"));
    let rtts: Vec<f64> = sent.iter().filter_map(|line| line["rtt_s"].as_f64()).collect();
    let rtt = rtts.iter().sum::<f64>() / rtts.len() as f64;
    (8e-6 * (bytes - 12.0 * packets) / 30.0, rtt, sent.last().expect("a line").clone())
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
fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("it was written");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// What a sender and a receiver told of 30 s over this wire; `None` where the machine was too busy.
fn call(bench: &Bench, wire: &str, control: &str, more: &str) -> Option<[Vec<Value>; 2]> {
    let scenario = bench.file("wire.toml", wire);
    bench.file("even.txt", &even_frames());
    let media = bench.file("film.ts", "");
    fs::write(&media, film(52_000)).expect("there is room");
    let [sent, received] = ["sent.json", "received.json"].map(|name| bench.path(name));
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    let receiver = receiver("10.0.0.2", control, &received);
    let sender = format!(
        "sleep 1; timeout -s INT 30 {program} stream send --to 10.0.0.2 --input {} --pace allowed --json --congestion {control} --max-rate 2.5Mb/s {more} > {sent}; true",
        media.display()
    );
    let output = run(&mut emulate(&scenario, &["--json", "--exec", "n1", &receiver, "--exec", "n0", &sender]));
    kept_up(&output).then(|| [lines(&sent), lines(&received)])
}

/// Bands, set before the first run: from three quarters of the simulated goodput to what the wire carries. The mean round trip is at
/// most one and a half times the simulated delay and the way back, and what a report is held back. No more than 1 % is lost
/// under the controllers of delay, which lose nothing in the simulator.
#[test]
#[ignore = "slow"]
fn each_congestion_control_fills_a_wire_as_in_the_simulator() {
    let Some(bench) = Bench::new(&["timeout"]) else { return };
    for control in ["gcc", "scream", "nada", "tfrc", "adtfrc"] {
        let wire = WIRE.replace("CONTROL", control);
        let [goodputs, delays] = ten_runs(&bench, &wire);
        let Some([sent, received]) = call(&bench, &wire, control, "") else { return };
        let (rate, rtt, line) = live(&sent, &received);
        let lost = line["packets_lost"].as_f64().expect("a number");
        let share = lost / (lost + line["packets_arrived"].as_f64().expect("a number"));
        println!(
            "{control}: {rate:.2} Mb/s, mean round trip {:.0} ms, {:.2} % lost; {}",
            1e3 * rtt,
            100.0 * share,
            told(&goodputs, &delays)
        );
        assert!((0.75 * goodputs[0]..=MOST).contains(&rate), "{control}: {rate} Mb/s, {goodputs:?}");
        let held = if control == "gcc" { HELD } else { BUSY };
        assert!(rtt <= 1.5 * (delays[9] + 0.025) + held, "{control}: {rtt} s, {delays:?}");
        assert!(share <= 0.01 || control.ends_with("tfrc"), "{control}: {share}");
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
        let (_, rtt, line) = live(&sent, &received);
        let (marked, lost) = (line["packets_marked"].as_u64(), line["packets_lost"].as_u64());
        println!("{options:?}: mean round trip {:.0} ms, {marked:?} marked, {lost:?} lost", 1e3 * rtt);
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
    bench.file("even.txt", &even_frames());
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
const HOPS: &str = r#"
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
    application = { kind = "codec", model = "trace", traces = ["even.txt"], max_rate = "2.5 Mb/s" }
    [[flows]]
    name = "download"
    from = "box"
    to = "screen"
    start = "6 s"
    stop = "31 s"
    transport = { protocol = "tcp", variant = "cubic" }
    application = { kind = "bulk" }
"#;

/// Goodput in Mb/s and mean delay in s of the call in ten simulated runs, ascending.
fn ten_runs(bench: &Bench, text: &str) -> [Vec<f64>; 2] {
    let directory = bench.file("even.txt", &even_frames()).parent().expect("the bench has a folder").into();
    let source = Source { text: text.into(), name: "call.toml".into(), directory, ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("the scenario is right").scenario;
    let run = |seed| {
        let mut simulation = Simulation::new(&scenario, seed).expect("the line reaches everyone");
        simulation.run_until(simulation.end());
        let call = simulation.flows().iter().next().expect("there is a call");
        let summary = call.summary(simulation.end());
        (summary.goodput_bps * 1e-6, summary.delay_mean_s.expect("some arrived"))
    };
    let (mut goodputs, mut delays): (Vec<f64>, Vec<f64>) = (1..=10).map(run).unzip();
    [&mut goodputs, &mut delays].into_iter().for_each(|values| values.sort_by(f64::total_cmp));
    [goodputs, delays]
}

fn told(goodputs: &[f64], delays: &[f64]) -> String {
    let [least, greatest] = [1e3 * delays[0], 1e3 * delays[9]];
    format!("simulated {:.2} to {:.2} Mb/s, mean delay {least:.0} to {greatest:.0} ms", goodputs[0], goodputs[9])
}

/// Lines, set before the first run: the live call gets between three quarters of the least of ten simulated runs and five quarters
/// of the greatest; its mean round trip is at most three times the greatest simulated delay, and what a report is held back.
#[test]
#[ignore = "slow"]
fn a_call_over_two_hops_next_to_a_download_gets_what_the_simulator_says() {
    let Some(bench) = Bench::new(&["timeout", "iperf3"]) else { return };
    let media = bench.file("film.ts", "");
    fs::write(&media, film(52_000)).expect("there is room");
    let [sent, received, download] = ["sent.json", "received.json", "iperf.json"].map(|name| bench.path(name));
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    for control in ["gcc", "scream", "nada", "adtfrc"] {
        let text = HOPS.replace("CONTROL", control);
        let [goodputs, delays] = ten_runs(&bench, &text);
        let scenario = bench.file("hops.toml", &text);
        let receiver = receiver("10.0.0.3", control, &received);
        let sender = format!(
            "sleep 1; timeout -s INT 30 {program} stream send --to 10.0.0.3 --input {} --pace allowed --json --congestion {control} --max-rate 2.5Mb/s > {sent}; true",
            media.display()
        );
        let client = format!("sleep 6; iperf3 -c 10.0.0.3 -J -t 25 -C cubic > {download}; true");
        let server = "timeout 33 iperf3 -s -1 > /dev/null; true";
        let programs = [
            "--exec", "screen", &receiver, "--exec", "box", &sender, "--exec", "screen", server, "--exec", "box",
            &client,
        ];
        let output = run(emulate(&scenario, &programs).arg("--json"));
        if !kept_up(&output) {
            return;
        }
        let (sent, received) = (lines(&sent), lines(&received));
        let (rate, rtt, line) = live(&sent, &received);
        let lost = &line["packets_lost"];
        let iperf: Value = serde_json::from_str(&fs::read_to_string(&download).expect("it was written")).expect("JSON");
        let other = iperf["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or_default() * 1e-6;
        println!(
            "{control}: {rate:.2} Mb/s, mean round trip {:.0} ms, {lost} lost, download {other:.2} Mb/s; {}",
            1e3 * rtt,
            told(&goodputs, &delays)
        );
        assert!((0.75 * goodputs[0]..=1.25 * goodputs[9]).contains(&rate), "{control}: {rate} Mb/s, {goodputs:?}");
        let held = if control == "gcc" { HELD } else { BUSY };
        assert!(rtt <= 3.0 * delays[9] + held, "{control}: {rtt} s, {delays:?}");
    }
}
