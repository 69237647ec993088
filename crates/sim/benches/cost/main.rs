//! Benchmark of the cost of a run: `cargo bench -p hopcast-sim`, or `make bench`. `docs/benchmarks.md` explains the
//! tables.
//!
//! The program runs each scenario in two durations and subtracts, so that start-up cancels. Time is user CPU; it counts
//! instructions by running itself under valgrind's callgrind, as `cost NAME SECONDS`. `cost NAME` prints the line of one
//! scenario.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints a table")]

mod clock;
mod instructions;
mod micro;
mod peers;
mod roaming;
mod workload;

use instructions::Callgrind;
use workload::Workload;

fn main() {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.as_slice() {
        [] => print_all(),
        [name] => print_one(name),
        [name, seconds] => match seconds.parse() {
            // What runs under callgrind.
            Ok(seconds) => {
                workload::run(name, seconds);
            }
            Err(_) => eprintln!("{seconds} is no number of simulated seconds"),
        },
        _ => eprintln!("usage: cost [NAME [SECONDS]]"),
    }
}

/// The line of one scenario.
fn print_one(name: &str) {
    let callgrind = Callgrind::find();
    let find = |workloads: &'static [Workload]| workloads.iter().find(|workload| workload.name == name);
    match (find(workload::ALL), find(workload::ROAMING)) {
        (Some(workload), _) => println!("{}", line(workload, callgrind.as_ref())),
        (None, Some(workload)) => println!("{}", roaming_line(workload, callgrind.as_ref())),
        (None, None) => eprintln!("there is no scenario {name}"),
    }
}

fn print_all() {
    let callgrind = Callgrind::find();
    if callgrind.is_none() {
        println!("valgrind is not installed: no instructions are counted\n");
    }
    println!(
        "{:<14}{:>8}{:>12}{:>10}{:>11}{:>10}{:>17}{:>13}{:>13}",
        "scenario",
        "sim. s",
        "events",
        "frames",
        "ns/event",
        "ns/frame",
        "us/node-second",
        "instr/event",
        "instr/frame"
    );
    for workload in workload::ALL {
        println!("{}", line(workload, callgrind.as_ref()));
    }
    println!(
        "\n{:<14}{:>8}{:>10}{:>14}{:>15}{:>17}{:>18}",
        "on the move", "sim. s", "frames", "receptions", "ns/reception", "us/node-second", "instr/reception"
    );
    for workload in workload::ROAMING {
        println!("{}", roaming_line(workload, callgrind.as_ref()));
    }
    println!("\n{:<34}{:>14}{:>14}", "piece", "operations", "ns/operation");
    for piece in micro::ALL {
        let (operations, seconds) = piece.measure();
        println!("{:<34}{:>14}{:>14.1}", piece.name, operations, seconds * 1e9 / operations as f64);
    }
}

fn line(workload: &Workload, callgrind: Option<&Callgrind>) -> String {
    let (work, seconds) = workload.measure();
    let per = |count: u64| seconds * 1e9 / count as f64;
    let (per_event, per_frame) = match callgrind.and_then(|callgrind| callgrind.measure(workload)) {
        Some((work, instructions)) => {
            let per = |count: u64| format!("{:.0}", instructions as f64 / count as f64);
            (per(work.events), per(work.frames))
        }
        None => ("–".into(), "–".into()),
    };
    format!(
        "{:<14}{:>8}{:>12}{:>10}{:>11.1}{:>10.0}{:>17.1}{:>13}{:>13}",
        workload.name,
        work.seconds,
        work.events,
        work.frames,
        per(work.events),
        per(work.frames),
        seconds * 1e6 / (work.nodes * work.seconds) as f64,
        per_event,
        per_frame,
    )
}

fn roaming_line(workload: &Workload, callgrind: Option<&Callgrind>) -> String {
    let (work, seconds) = workload.measure();
    let instructions = match callgrind.and_then(|callgrind| callgrind.measure(workload)) {
        Some((work, instructions)) => format!("{:.0}", instructions as f64 / work.receptions as f64),
        None => "–".into(),
    };
    format!(
        "{:<14}{:>8}{:>10}{:>14}{:>15.1}{:>17.1}{:>18}",
        workload.name,
        work.seconds,
        work.frames,
        work.receptions,
        seconds * 1e9 / work.receptions as f64,
        seconds * 1e6 / (work.nodes * work.seconds) as f64,
        instructions,
    )
}
