//! `hopcast stream` over RTP with the interceptors of pion (Go) at the other end, over two emulated hops that lose packets.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::streams::{HOPS, MEASURED, interval, lines, ten_runs};
use super::{Bench, emulate, kept_up, run};

/// Share of the packets that each of the two hops loses, behind the repetitions of the MAC.
const LOSS: f64 = 0.01;
/// Of two hops that lose packets, a tenth at most stays lost.
const WHOLE: f64 = 1.0 - 0.1 * 2.0 * LOSS;
const PROGRAM: &str = env!("CARGO_BIN_EXE_hopcast-live");
/// What pion and hopcast write in the folder of a bench.
const FILES: [&str; 2] = ["pion.json", "hopcast.json"];

/// The hops, with losses and a call that asks for what it misses, and without a download.
fn hops(control: &str) -> String {
    let errors = format!("[radio]\n    errors = {{ model = \"packet\", level = \"network\", rate = {LOSS} }}");
    let transport = format!("congestion = \"{control}\", retransmission = \"500 ms\"");
    let text = HOPS.replace("[radio]", &errors).replace("congestion = \"CONTROL\"", &transport);
    let download = text.find("    [[flows]]\n    name = \"download\"").expect("there is one");
    text[..download].into()
}

/// A bench with `tests/pion` built in it; `None` if its modules can't be had.
fn open() -> Option<(Bench, String)> {
    let bench = Bench::new(&["timeout", "go"])?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pion");
    let program = bench.path("pion");
    let mut command = Command::new("go");
    command.args(["build", "-o", &program, "."]).env("GOTOOLCHAIN", "local").current_dir(source);
    let output = run(&mut command);
    if !output.status.success() {
        let missing = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "{missing}");
        println!("skipped: {missing}");
        return None;
    }
    Some((bench, program))
}

/// What pion wrote, and the last line of hopcast's statistics; `None` where the machine was too busy.
fn call(bench: &Bench, text: &str, [receiver, sender]: [&str; 2]) -> Option<[Value; 2]> {
    let scenario = bench.file("hops.toml", text);
    let output = run(&mut emulate(&scenario, &["--json", "--exec", "screen", receiver, "--exec", "box", sender]));
    kept_up(&output).then(|| FILES.map(|name| lines(&bench.path(name)).pop().expect("a line")))
}

fn number(line: &Value, key: &str) -> f64 {
    line[key].as_f64().unwrap_or_else(|| panic!("{key} is a number: {line}"))
}

/// pion reports in either format, and asks for what it misses. Lines, set before the first run: goodput is three to five quarters of that
/// of simulated calls, whose receivers report at other times; losses are as those of the two hops within a factor of two, and a tenth of
/// them at most stays lost.
#[test]
#[ignore = "slow"]
fn pion_receives_a_call_over_two_hops() {
    let Some((bench, pion)) = open() else { return };
    let [counts, statistics] = FILES.map(|name| bench.path(name));
    for (control, format) in [("scream", "ccfb"), ("gcc", "twcc")] {
        let text = hops(control);
        let receiver = format!("timeout 33 {pion} receive 10.0.0.3:6511 {format} > {counts}");
        let sender = format!(
            "sleep 1; timeout -s INT 30 {PROGRAM} stream send --to 10.0.0.3 --input encoder:transient --patience 2s --json --congestion {control} --max-rate 2.5Mb/s --retransmission 500ms > {statistics}; true"
        );
        let Some([pion, hopcast]) = call(&bench, &text, [&receiver, &sender]) else { return };
        let goodputs: Vec<f64> = ten_runs(&text).iter().map(|run| run[0]).collect();
        let mean = goodputs.iter().sum::<f64>() / 10.0;
        let goodput = 8e-6 * number(&pion, "bytes") / 30.0;
        let [packets, repaired, missing] = ["packets", "repaired", "missing"].map(|key| number(&pion, key));
        println!(
            "{control} to pion: {} {goodput:.2}, interval {:.2?}; {pion}; {hopcast}",
            MEASURED[0],
            interval(&goodputs)
        );
        assert!((0.75 * mean..=1.25 * mean).contains(&goodput), "{control}: {goodput} Mb/s, {goodputs:?}");
        let lost = (repaired + missing) / (packets + missing);
        assert!((LOSS..=4.0 * LOSS).contains(&lost), "{control}: {lost}");
        assert!(packets >= WHOLE * (packets + missing), "{control}: {pion}");
        assert!(number(&hopcast, "packets_retransmitted") >= repaired, "{control}: {hopcast}");
    }
}

/// pion's GCC sends, and sends again what hopcast asks for: with another source (RFC 4588), or unchanged. Lines, set before the first
/// run: hopcast has all but a tenth of what two hops lose, and pion has reports, by which its target rate is above where it starts.
#[test]
#[ignore = "slow"]
fn pion_sends_a_call_over_two_hops() {
    let Some((bench, pion)) = open() else { return };
    let [counts, statistics] = FILES.map(|name| bench.path(name));
    for repetition in ["again", "unchanged"] {
        let receiver = format!(
            "timeout -s INT 33 {PROGRAM} stream receive --variant rtp --listen 10.0.0.3 --retransmission 500ms --playout 600ms --output rtp://127.0.0.1:9 --json > {statistics}; true"
        );
        let sender = format!("sleep 0.5; {pion} send 10.0.0.3:6511 2500000 29s {repetition} > {counts}");
        let Some([pion, hopcast]) = call(&bench, &hops("gcc"), [&receiver, &sender]) else { return };
        let [sent, left, target, reports] = ["packets", "left", "target_bps", "reports"].map(|key| number(&pion, key));
        let [delivered, lost] = ["packets_delivered", "packets_lost"].map(|key| number(&hopcast, key));
        println!("pion {repetition}: target {:.2} Mb/s, {pion}; {hopcast}", 1e-6 * target);
        assert!(
            delivered >= WHOLE * sent && lost <= (1.0 - WHOLE) * sent,
            "{repetition}: {delivered} of {sent}, {lost} lost"
        );
        assert!(left - sent >= 0.5 * 2.0 * LOSS * sent, "{repetition}: {left} of {sent} left");
        assert!(target > 300e3 && reports > 100.0, "{repetition}: {pion}");
    }
}
