//! `hopcast probe send`: from its arguments to what it prints and writes.

use std::fs;
use std::path::PathBuf;

use hopcast_sim::io_error::cause;
use hopcast_sim::results::prepare_folder;
use hopcast_sim::scenario::quantity::Dimension;
use serde_json::{Value, json};

use super::plan::{Case, FlowPlan, Host, Order, Plan, Protocol, Wrong, amount, buffer, unit, waiting};
use super::progress::Progress;
use super::record::{Measured, Repetition};
use super::run;
use super::table::table;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Made, one_line, say};
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;
use crate::recording::Place;

/// Send units along a path, and print what their receiver measured. Ctrl-C ends it early and prints what there is.
///
/// A size is a number of bytes or has a unit (B, kB, MB, KiB, MiB); a time has one (us, ms, s).
#[derive(Debug, clap::Args)]
#[command(after_help = crate::output::HELP)]
pub(super) struct Arguments {
    /// The receiver, whose port is 47300 unless it is told.
    #[arg(long, value_name = "HOST[:PORT]", required_unless_present = "plan")]
    to: Option<String>,
    /// The relays on the way, in their order.
    #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',', requires = "to")]
    via: Vec<String>,
    /// Bytes of a unit, its header of 32 bytes included: up to 65507 over UDP, up to 1 MiB over TCP.
    #[arg(long, value_name = "SIZE", default_value = "1 kB", value_parser = size, allow_hyphen_values = true)]
    size: f64,
    /// From the return of one write to the start of the next; 0 s sends as much as the socket takes.
    #[arg(long, value_name = "TIME", default_value = "0 s", value_parser = time, allow_hyphen_values = true)]
    wait: f64,
    /// Bytes of all units.
    #[arg(long, value_name = "SIZE", default_value = "10 MB", value_parser = size, allow_hyphen_values = true)]
    bytes: f64,
    /// What carries the units.
    #[arg(long, value_enum, default_value = "udp")]
    transport: Protocol,
    /// Size of the send and receive buffers of each socket on the way.  [default: the system's]
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    socket_buffer: Option<f64>,
    /// How often it is measured; beyond one, numbers are means, with 95 % confidence intervals.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repetitions: u32,
    /// A file that lists hosts, flows, sizes and waits (docs/probe.md), in place of all of the above.
    #[arg(
        long, value_name = "PLAN.toml",
        conflicts_with_all = ["to", "via", "size", "wait", "bytes", "transport", "socket_buffer", "repetitions"]
    )]
    plan: Option<PathBuf>,
    /// Print one JSON object, as `hopcast run --json` does.
    #[arg(long)]
    json: bool,
    /// Write run.json and tables to this folder; of a plan, to a folder in it for each case.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write a recording of each repetition to this folder, for `hopcast view`: units sent, received and missing per hop, rate and
    /// delay; of a plan, to a folder in it for each case.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
}

fn size(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::Size)
}

fn time(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::Time)
}

fn quantity(text: &str, dimension: Dimension) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(dimension.from_bare(number)),
        _ => dimension
            .parse(text)
            .map_err(|problem| format!("{problem}; expected {} such as \"{}\"", dimension.name(), dimension.example())),
    }
}

/// Runs it.
///
/// # Errors
///
/// See [`Failure`].
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    // A folder in which nothing is written is removed in the end.
    let _made = arguments.out.as_deref().map(output::make_folder).transpose()?;
    let folders = folders(arguments, &plan)?;
    let records = records(arguments, &plan)?;
    let signals = Signals::listen().map_err(|error| Failure::Run(cause(&error)))?;
    let is_stopped = || signals.received().is_some();
    let mut measured: Vec<Measured<'_>> =
        plan.cases.iter().map(|case| Measured { case, repetitions: Vec::new() }).collect();
    let mut unrecorded = None;
    let failed = measure(&plan, &mut measured, &is_stopped, &records, &mut unrecorded).err();
    measured.retain(|measured| !measured.repetitions.is_empty());
    let mut failures: Vec<String> = failed.into_iter().chain(unrecorded).collect();
    let mut is_written = true;
    for measured in &measured {
        failures.extend(measured.problems());
        let folder = folders.iter().find(|(case, ..)| *case == measured.case);
        if let Some(Err(error)) = folder.map(|(_, folder, _)| measured.write(folder)) {
            failures.push(error.to_string());
            is_written = false;
        }
    }
    if let Err(failure) = print(arguments, &measured, is_written) {
        failures.push(failure.to_string());
    }
    match (signals.received(), failures.is_empty()) {
        (Some(signal), _) => Err(Failure::Interrupted { signal }),
        (None, true) => Ok(()),
        (None, false) => {
            let lines: Vec<String> = failures.iter().map(|failure| one_line(failure)).collect();
            Err(Failure::Run(lines.join("\nhopcast: ")))
        }
    }
}

/// Measures until all is done or is to stop. What was measured stands in `measured`, however it ends. Why a recording could not be
/// written, the first time, goes to `unrecorded`.
fn measure(
    plan: &Plan,
    measured: &mut [Measured<'_>],
    is_stopped: &(dyn Fn() -> bool + Sync),
    records: &[(PathBuf, Place)],
    unrecorded: &mut Option<String>,
) -> Result<(), String> {
    let clock = Clock::new();
    let runs = plan.runs();
    for (index, &at) in runs.iter().enumerate() {
        if is_stopped() {
            return Ok(());
        }
        let case = &plan.cases[at];
        if runs.len() > 1 {
            say(&format!("run {} of {}: {}", index + 1, runs.len(), case.name));
        }
        let began = clock.now();
        let progress = Progress::new(case);
        let outcomes = match run::run(case, clock, is_stopped, &progress) {
            // What was stopped before it began is nothing.
            Err(_) if is_stopped() => return Ok(()),
            outcomes => outcomes.map_err(|problem| format!("{}: {problem}", case.name))?,
        };
        let repetitions = &mut measured[at].repetitions;
        // One that was cut short is no repetition like the others, but better than nothing.
        if !is_stopped() || repetitions.is_empty() {
            let wall_s = (clock.now() - began).as_secs_f64();
            let has_failed = outcomes.iter().any(|outcome| outcome.problem.is_some());
            let number = repetitions.len() as u64 + 1;
            let written =
                records.get(at).map(|(folder, _)| progress.write(folder, number, case, &outcomes, clock.now()));
            if let Some(Err(error)) = written {
                unrecorded.get_or_insert(error.to_string());
            }
            repetitions.push(Repetition { number, outcomes, wall_s });
            if has_failed {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    if let Some(path) = &arguments.plan {
        let name = path.display().to_string();
        let text = input::read_text(path).map_err(Failure::Input)?;
        return Plan::parse(&text, &name).map_err(Failure::Input);
    }
    let wrong = |wrong: Wrong| {
        let option = if wrong.key == "path" { "via and --to".into() } else { wrong.key.replace('_', "-") };
        Failure::Input(format!("--{option}: {}", wrong.problem))
    };
    let host = |address: &String| Host { name: address.clone(), address: address.clone() };
    let flow = FlowPlan {
        name: "stream0".into(),
        source: Host { name: "here".into(), address: String::new() },
        path: arguments.via.iter().chain(&arguments.to).map(host).collect(),
        protocol: arguments.transport,
        size: unit(arguments.size, "size").map_err(wrong)?,
        wait: waiting(arguments.wait, "wait").map_err(wrong)?,
        bytes: amount(arguments.bytes, "bytes").map_err(wrong)?,
        socket_buffer: arguments.socket_buffer.map(buffer).transpose().map_err(wrong)?,
    };
    let flow = flow.checked().map_err(wrong)?;
    let to = arguments.to.as_deref().unwrap_or_default();
    let case = Case { name: format!("{} to {to}", flow.protocol), flows: vec![flow] };
    Ok(Plan { cases: vec![case], repetitions: arguments.repetitions, order: Order::default() })
}

/// The folder of each case, made, so that nothing is measured that can't be written.
fn folders<'a>(arguments: &Arguments, plan: &'a Plan) -> Result<Vec<(&'a Case, PathBuf, Made)>, Failure> {
    let Some(out) = &arguments.out else { return Ok(Vec::new()) };
    let mut folders = Vec::new();
    for case in &plan.cases {
        let folder = if arguments.plan.is_some() { out.join(case.folder()) } else { out.clone() };
        let wrong = |problem: String| Failure::Input(format!("{}: {problem}", folder.display()));
        let system = |error: std::io::Error| wrong(format!("can't write results there: {}", cause(&error)));
        let made = output::make_folder(&folder)?;
        let attempt = folder.join(format!(".hopcast.{}.part", std::process::id()));
        fs::File::create(&attempt).and_then(|_| fs::remove_file(&attempt)).map_err(system)?;
        prepare_folder(&folder, |_| false).map_err(|error| Failure::Input(error.to_string()))?;
        folders.push((case, folder, made));
    }
    Ok(folders)
}

/// The folders of the recordings of all cases, held; none where nothing is recorded.
fn records(arguments: &Arguments, plan: &Plan) -> Result<Vec<(PathBuf, Place)>, Failure> {
    let Some(record) = &arguments.record else { return Ok(Vec::new()) };
    let folders = plan.cases.iter().map(|case| {
        let folder = if arguments.plan.is_some() { record.join(case.folder()) } else { record.clone() };
        let place = Place::take(&folder)?;
        Ok((folder, place))
    });
    folders.collect()
}

/// One object for one case, a list of them for a plan; or tables.
fn print(arguments: &Arguments, measured: &[Measured<'_>], is_written: bool) -> Result<(), Failure> {
    if measured.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    if arguments.json {
        let document = if arguments.plan.is_some() {
            json!({ "cases": measured.iter().map(case).collect::<Vec<_>>() })
        } else {
            measured[0].document()
        };
        text = document.to_string() + "\n";
    } else {
        for measured in measured {
            let document = measured.document();
            let times = measured.repetitions.len();
            let mean = if times > 1 {
                format!(", {times} repetitions, mean ± half of the 95 % interval")
            } else {
                String::new()
            };
            text += &format!("{}{mean}\n{}", measured.case.name, table(&document));
            for warning in document["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                say(&format!("warning: {warning}"));
            }
        }
        if let Some(out) = arguments.out.as_ref().filter(|_| is_written) {
            text += &format!("Written to {}\n", out.display());
        }
    }
    output::print(&text)
}

/// The object of a case of a plan: what was asked for, and what came of it.
fn case(measured: &Measured<'_>) -> Value {
    let mut document = measured.document();
    let asked = |flow: &FlowPlan| {
        json!({
            "name": flow.name,
            "protocol": flow.protocol.name(),
            "size_bytes": flow.size,
            "wait_s": flow.wait as f64 * 1e-9,
            "bytes": flow.bytes,
            "hops": flow.path.len(),
        })
    };
    document["case"] = measured.case.name.as_str().into();
    document["folder"] = measured.case.folder().into();
    document["plan"] = measured.case.flows.iter().map(asked).collect();
    document
}
