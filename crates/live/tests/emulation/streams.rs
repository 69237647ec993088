//! `hopcast stream` as plain RTP between the ends of an emulated wire, with the numbers of the simulator next to it.

use std::fs;

use serde_json::Value;

use super::{Bench, emulate, kept_up, run};

/// The wire of docs/models/rtp.md, second table but one: 2 Mb/s, 25 ms, 100 packets.
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
"#;

/// Goodput in Mb/s and mean delay in s of a simulated call over this wire, by the table of docs/models/rtp.md.
const SIMULATED: [(&str, f64, f64); 5] = [
    ("gcc", 1.49, 0.046),
    ("scream", 1.64, 0.071),
    ("nada", 1.59, 0.088),
    ("tfrc", 1.90, 0.455),
    ("adtfrc", 1.89, 0.552),
];
/// The share of the wire's rate that is payload of packets with 1316 bytes of media, in Mb/s: no more can arrive.
const MOST: f64 = 2.0 * 1328.0 / 1356.0;
/// The longest time for which transport-wide feedback is held back, and one for a busy machine, in s.
const HELD: f64 = 0.25;
const BUSY: f64 = 0.04;

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
fn call(bench: &Bench, wire: &str, send: &str) -> Option<[Vec<Value>; 2]> {
    let scenario = bench.file("wire.toml", wire);
    let media = bench.file("film.ts", "");
    fs::write(&media, film(52_000)).expect("there is room");
    let [sent, received] = ["sent.json", "received.json"].map(|name| bench.path(name));
    let program = env!("CARGO_BIN_EXE_hopcast-live");
    let receiver = format!(
        "timeout -s INT 32 {program} stream receive --variant rtp --listen 10.0.0.2 --output /dev/null --json > {received}; true"
    );
    let sender = format!(
        "sleep 1; timeout -s INT 30 {program} stream send --to 10.0.0.2 --input {} --pace allowed --json {send} > {sent}; true",
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
    let Some(bench) = Bench::new("stream-rtp", &["timeout"]) else { return };
    for (control, goodput, delay) in SIMULATED {
        let Some([sent, received]) = call(&bench, WIRE, &format!("--congestion {control} --max-rate 2.5Mb/s")) else {
            return;
        };
        let end = received.last().expect("a line");
        let bytes = end["octets_delivered"].as_f64().expect("a number");
        let rate = 8e-6 * bytes / 30.0;
        let line = sent.last().expect("a line");
        let lost = line["packets_lost"].as_f64().expect("a number");
        let share = lost / (lost + line["packets_arrived"].as_f64().expect("a number"));
        let rtts: Vec<f64> = sent.iter().filter_map(|line| line["rtt_s"].as_f64()).collect();
        let rtt = rtts.iter().sum::<f64>() / rtts.len() as f64;
        println!("{control}: {rate:.2} Mb/s, mean round trip {:.0} ms, {:.2} % lost", 1e3 * rtt, 100.0 * share);
        assert!((0.75 * goodput..=MOST).contains(&rate), "{control}: {rate} Mb/s");
        let held = if control == "gcc" { HELD } else { BUSY };
        assert!(rtt <= 1.5 * (delay + 0.025) + held, "{control}: {rtt} s");
        assert!(share <= 0.01 || control.ends_with("tfrc"), "{control}: {share}");
    }
}

/// A queue that marks what has waited for 10 ms. Lines, set before the first run: marks are told, nothing is lost, and the mean round
/// trip is less than without marks.
#[test]
#[ignore = "slow"]
fn marks_of_a_queue_reach_scream_and_shorten_its_round_trip() {
    let Some(bench) = Bench::new("stream-ecn", &["timeout"]) else { return };
    let marking =
        WIRE.replace("packets = 100", "packets = 100, discipline = \"drop-tail\", ecn = true, target = \"10 ms\"");
    assert_ne!(marking, WIRE);
    let mut rtts = Vec::new();
    for options in ["", "--ecn"] {
        let send = format!("--congestion scream --max-rate 2.5Mb/s {options}");
        let Some([sent, _]) = call(&bench, &marking, &send) else { return };
        let line = sent.last().expect("a line");
        let (marked, lost) = (line["packets_marked"].as_u64(), line["packets_lost"].as_u64());
        let measured: Vec<f64> = sent.iter().filter_map(|line| line["rtt_s"].as_f64()).collect();
        let rtt = measured.iter().sum::<f64>() / measured.len() as f64;
        println!("{options:?}: mean round trip {:.0} ms, {marked:?} marked, {lost:?} lost", 1e3 * rtt);
        assert_eq!((marked > Some(0), lost), (!options.is_empty(), Some(0)), "{line}");
        rtts.push(rtt);
    }
    assert!(rtts[1] < rtts[0], "{rtts:?}");
}
