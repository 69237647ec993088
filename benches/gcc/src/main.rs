//! hopcast's GCC and that of str0m over the same logs of feedback.
//!
//! `--record` runs the scenes in the simulator and writes their logs; without it the kept logs are read. `--keep` writes what str0m
//! answers next to them. `compare.py` has str0m ready.

mod record;
#[path = "../../../crates/protocols/src/transport/media/tests/replay/mod.rs"]
mod replay;
mod str0m;

use std::path::PathBuf;
use std::{env, fs};

use hopcast_protocols::{time, transport};
use replay::{Answer, Comparison, LINE, LossRules, Rules};

const COLUMNS: &str = "# time_ns target_bps by_delay_bps control_bps acknowledged_bps probed_bps usage rtt_s";

fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let asked = |name: &str| given.iter().any(|argument| argument == name);
    println!("Share of feedbacks with rates within {} %:", LINE * 100.0);
    for (name, text) in record::SCENES {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/gcc").join(name);
        if asked("--record") {
            fs::write(file.with_extension("log"), record::run(text)).expect("a folder to write to");
        }
        let log = fs::read_to_string(file.with_extension("log")).expect("a kept log");
        let events = replay::read(&log);
        let ours = replay::replay(&events);
        let theirs = str0m::replay(&events, &ours);
        // What is compared is what is kept, as text.
        let kept: String = theirs.iter().map(|answer| format!("{answer}\n")).collect();
        if asked("--keep") {
            fs::write(file.with_extension("str0m"), format!("{COLUMNS}\n{kept}")).expect("a folder to write to");
        }
        let theirs = Answer::read(&kept);
        report(name, ours.len(), &replay::compare(&events, &ours, &theirs));
    }
}

fn report(name: &str, feedbacks: usize, found: &Comparison) {
    let line = |what: &str, share: f64| println!("  {what:<64} {share:5.1} %");
    println!("{name}, {feedbacks} feedbacks");
    line("target rates", found.targets);
    line("verdict of the detector", found.detectors);
    line("rate control, str0m's from hopcast's input", found.controls);
    line("model with hopcast's rules, and hopcast", found.own);
    line("model with str0m's rules, and str0m's rate control", found.theirs);
    for ((rule, _), share) in Rules::without_one().iter().zip(found.without) {
        line(&format!("  the same with hopcast's rule of {rule}"), share);
    }
    line("model with str0m's rules and input, and str0m's estimate by delay", found.whole);
    line("model of the estimate by loss with hopcast's rules, and hopcast's", found.own_loss);
    line("the same with str0m's rules and input, and str0m's target rate", found.target);
    for ((rule, _), share) in LossRules::without_one().iter().zip(found.target_without) {
        line(&format!("  the same with hopcast's rule of {rule}"), share);
    }
}
