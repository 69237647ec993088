//! hopcast's GCC and that of str0m over the same logs of feedback.
//!
//! `--record` runs the scenes in the simulator and writes their logs; without it the kept logs are read. `--keep` writes what str0m
//! answers next to them. `compare.py` has str0m ready.

mod record;
#[path = "../../../crates/protocols/src/transport/media/tests/replay.rs"]
#[expect(dead_code, reason = "one file for this program and for the test of hopcast-protocols")]
mod replay;
mod str0m;

use std::path::PathBuf;
use std::{env, fs};

use hopcast_protocols::{time, transport};

/// The line by which two target rates are the same, as a share of str0m's.
const LINE: f64 = 0.05;

fn main() {
    let given: Vec<String> = env::args().skip(1).collect();
    let asked = |name: &str| given.iter().any(|argument| argument == name);
    println!("Share of feedbacks with both rates within {} %, median and greatest difference.", LINE * 100.0);
    println!("whole: target rates. delay: estimates by delay, from hopcast's acknowledged rate.");
    println!("AIMD: the same from hopcast's acknowledged rate and detector. detector: the same verdict.\n");
    println!("{:<8} {:>9}  {:<22} {:<22} {:<22} {:>8}", "scene", "feedbacks", "whole", "delay", "AIMD", "detector");
    for (name, text) in record::SCENES {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/gcc").join(name);
        if asked("--record") {
            fs::write(file.with_extension("log"), record::run(text)).expect("a folder to write to");
        }
        let log = fs::read_to_string(file.with_extension("log")).expect("a kept log");
        let events = replay::read(&log);
        let ours = replay::replay(&events);
        let theirs = str0m::replay(&events, &ours);
        if asked("--keep") {
            fs::write(file.with_extension("str0m"), str0m::write(&theirs)).expect("a folder to write to");
        }
        report(name, &ours, &theirs);
    }
}

fn report(name: &str, ours: &[replay::State], theirs: &[str0m::Answer]) {
    let pairs = || ours.iter().zip(theirs);
    let whole = differences(pairs().map(|(one, other)| (one.estimate, other.whole)));
    let delay = differences(pairs().map(|(one, other)| (one.delay, other.delay)));
    let aimd = differences(pairs().map(|(one, other)| (one.delay, other.aimd)));
    let same = pairs().filter(|(one, other)| one.usage == other.usage).count();
    let share = 100.0 * same as f64 / ours.len() as f64;
    println!("{name:<8} {:>9}  {whole:<22} {delay:<22} {aimd:<22} {share:>6.1} %", ours.len());
}

fn differences(pairs: impl Iterator<Item = (f64, f64)>) -> String {
    let mut all: Vec<f64> = pairs.map(|(one, other)| (one / other - 1.0).abs()).collect();
    all.sort_by(f64::total_cmp);
    let within = all.iter().filter(|difference| **difference <= LINE).count();
    let share = 100.0 * within as f64 / all.len() as f64;
    let (median, most) = (100.0 * all[all.len() / 2], 100.0 * all[all.len() - 1]);
    format!("{share:.1} %, {median:.1} %, {most:.0} %")
}
