//! Real hosts and programs on the simulated radios and wires, in real time.
//!
//! | step | module |
//! |---|---|
//! | find out what a scenario needs, and whether it is available | `plan` |
//! | make namespaces, devices, addresses and routes, and remove them | `hosts` |
//! | run the simulation with frames of real hosts | `session` |
//! | keep in step with the clock | `driver`, `lag` |
//! | run programs, with the rights that they may have | `programs`, `rights` |
//! | record frames from real hosts, and replay them | `recording` |
//! | run without root | `rootless` |
//! | report while it runs | `watch`, `metrics`, `captured` |
//! | let browsers follow it | `view` |
//! | report results | `report` |

mod captured;
mod driver;
mod hosts;
mod lag;
mod metrics;
mod plan;
mod programs;
mod recording;
mod report;
mod rights;
mod rootless;
mod session;
mod view;
mod watch;

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::address::ip_address;
use hopcast_sim::capture::{Capture, Names, Selection};
use hopcast_sim::host::Listener;
use hopcast_sim::io_error::cause;
use hopcast_sim::layout;
use hopcast_sim::record::{self, Feed, Recording as EventRecording};
use hopcast_sim::registry::Registry;
use hopcast_sim::results::{self, Replication, RunResult, Spent};
use hopcast_sim::scenario::{Scenario, Source};
use hopcast_wire::ipv4::Protocol;

use crate::failure::Failure;
use crate::input;
use crate::models::Models;
use crate::output::{self, Made};
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;
use crate::platform::wait;
use captured::Captured;
use driver::{Driver, End};
use hosts::Hosts;
use plan::RealNode;
use programs::{Output, ProgramRecord, Programs, Wanted};
use recording::{Header, Recorder, Recording};
pub(crate) use report::schema;
use report::{EmulationRecord, Report};
use rights::Rights;
use session::{Following, Session};
use view::View;
use watch::Watch;

/// Put real hosts and programs on simulated radios and wires.
///
/// Each node with `real = true` becomes a network namespace with an interface for each radio (wlan0) and each wire (eth0), whose
/// frames go through the simulated radio or wire in real time; all other nodes are simulated. Needs root, or --rootless.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::output::HELP)]
pub struct Command {
    /// The scenario.
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "clean")]
    scenario: Option<PathBuf>,
    /// Change one value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Your models in Python: a file or module that defines EXTENSIONS, a hopcast.Extensions; may be repeated.
    #[arg(long = "extension", value_name = "FILE.py|MODULE")]
    extensions: Vec<String>,
    /// Seed of every draw.
    #[arg(long)]
    seed: Option<u64>,
    /// Run a command at a real node; may be repeated. The emulation ends when all commands have ended.
    #[arg(long, num_args = 2, value_names = ["NODE", "COMMAND"])]
    exec: Vec<String>,
    /// Run the programs that the scenario lists (emulation.programs): its author chose the commands, so read them first.
    #[arg(long)]
    programs: bool,
    /// Leave programs all rights of root. Without it, they have those of the user of sudo and of an administrator of their
    /// node's network.
    #[arg(long)]
    privileged: bool,
    /// Open a shell at a real node. The emulation ends with it.
    #[arg(long, value_name = "NODE", conflicts_with = "json")]
    shell: Option<String>,
    /// Don't end when the scenario's duration is over, but on Ctrl-C.
    #[arg(long)]
    forever: bool,
    /// Where to look for traces; may be repeated.
    #[arg(long, value_name = "DIR")]
    traces: Vec<PathBuf>,
    /// Write results, and what --pcap asks for, to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Capture every frame, in a file for each node.
    #[arg(long)]
    pcap: bool,
    /// Capture at this node only; may be repeated.
    #[arg(long, value_name = "NODE")]
    pcap_node: Vec<String>,
    /// Capture without frames to other nodes that a node overheard.
    #[arg(long)]
    pcap_addressed: bool,
    /// Capture all radios in one file, each frame once: medium.pcapng.
    #[arg(long)]
    pcap_medium: bool,
    /// What these options select.
    #[arg(skip)]
    selection: Option<Selection>,
    /// Record what happens, for `hopcast view`.
    #[arg(long)]
    events: bool,
    /// Print one JSON object; what programs print goes to standard error.
    #[arg(long)]
    json: bool,
    /// Give metrics in Prometheus' form over HTTP on this loopback address and port, as 127.0.0.1:9654, at /metrics.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = crate::serve::loopback, conflicts_with = "replay")]
    metrics: Option<SocketAddr>,
    /// Show what happens while it runs, on a page for the browsers of this machine. A replay then takes as long as the
    /// emulation did.
    #[arg(long)]
    view: bool,
    /// The TCP port of the page on 127.0.0.1; by default, one that is free.
    #[arg(long, value_name = "PORT", requires = "view")]
    view_port: Option<u16>,
    /// Write down all that real hosts send, for --replay.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Replay a recorded emulation as fast as possible, or with --view at its pace, without real hosts. Fails if a frame for them differs.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "exec", "programs", "privileged", "shell", "forever", "record"])]
    replay: Option<PathBuf>,
    /// Run without root, in user namespaces; needs read and write permission for /dev/net/tun.
    #[arg(long, conflicts_with = "replay")]
    rootless: bool,
    /// Remove what emulations have left behind that were killed; run nothing.
    #[arg(long, exclusive = true)]
    clean: bool,
}

/// Between two steps of a replay that pages follow.
const PACE: std::time::Duration = std::time::Duration::from_millis(50);

/// Of simulated time, between two looks for a signal in a replay that nothing follows.
const STEP: Duration = Duration::from_millis(100);

/// As long as a scenario may last: ten years.
const FOREVER: Duration = Duration::from_secs(315_576_000);

impl Command {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub(crate) fn run(mut self, models: &dyn Models) -> Result<(), Failure> {
        if self.clean {
            return clean();
        }
        if self.rootless {
            return rootless::run(self.view.then(|| self.view_port.unwrap_or(0)));
        }
        self.check_folder()?;
        let path = self.scenario.clone().unwrap_or_default();
        let registry = models.registry(&self.extensions).map_err(Failure::Input)?;
        let mut scenario = self.load(&path, registry)?;
        let left =
            plan::prepare(&mut scenario).map_err(|problem| Failure::Input(format!("{}: {problem}", path.display())))?;
        if self.forever {
            scenario.duration = FOREVER;
        }
        self.selection = self.selection(&scenario)?;
        let _held = self.out.as_deref().map(|folder| self.prepare_folder(folder, &scenario)).transpose()?;
        match &self.replay {
            Some(recording) => self.replay(&path, &scenario, left, recording, models),
            None => self.emulate(&path, &scenario, left, models),
        }
    }

    /// Refuses options that write files without a folder for these.
    fn check_folder(&self) -> Result<(), Failure> {
        let given = [
            ("--pcap", self.pcap, "captures"),
            ("--pcap-node", !self.pcap_node.is_empty(), "captures"),
            ("--pcap-addressed", self.pcap_addressed, "captures"),
            ("--pcap-medium", self.pcap_medium, "captures"),
            ("--events", self.events, "recording"),
        ];
        match given.iter().find(|(_, is_given, _)| *is_given && self.out.is_none()) {
            Some((option, _, files)) => Err(Failure::Input(format!("{option} needs --out, a folder for the {files}"))),
            None => Ok(()),
        }
    }

    fn load(&self, path: &Path, registry: Registry) -> Result<Scenario, Failure> {
        let name = path.display().to_string();
        let text = input::read_text(path).map_err(Failure::Input)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        for folder in self.traces.iter().filter(|folder| !folder.is_dir()) {
            output::complain(&format!("warning: --traces {}: there is no such folder", folder.display()));
        }
        let mut trace_dirs = self.traces.clone();
        trace_dirs.extend(std::env::var_os("HOPCAST_TRACES").iter().flat_map(std::env::split_paths));
        let source = Source { text, name, directory: parent.into(), trace_dirs, registry };
        let loaded = Scenario::parse(&source, &self.overrides).map_err(|errors| Failure::Input(errors.to_string()))?;
        Ok(loaded.scenario)
    }

    /// Makes the folder, and holds it for as long as the returned file is open.
    fn prepare_folder(&self, folder: &Path, scenario: &Scenario) -> Result<(Made, Option<File>), Failure> {
        let made = output::make_folder(folder)?;
        let held = output::hold(folder)?;
        let names = self.captures(scenario);
        results::prepare_folder(folder, |name| names.contains(name))
            .map_err(|error| Failure::Input(error.to_string()))?;
        Ok((made, held))
    }

    /// The names of the captures.
    fn captures<'s>(&'s self, scenario: &'s Scenario) -> Names<'s> {
        Names::new(scenario, self.selection.as_ref(), [None])
    }

    /// What to capture. --pcap-medium alone asks for no captures of nodes.
    fn selection(&self, scenario: &Scenario) -> Result<Option<Selection>, Failure> {
        let of_nodes = self.pcap || self.pcap_addressed || !self.pcap_node.is_empty();
        if !of_nodes && !self.pcap_medium {
            return Ok(None);
        }
        let nodes = Some(self.pcap_node.as_slice()).filter(|nodes| !nodes.is_empty() || !of_nodes);
        Selection::of(scenario, nodes, self.pcap_addressed, self.pcap_medium)
            .map(Some)
            .map_err(|error| Failure::Input(error.to_string()))
    }

    /// In real time, with real hosts.
    fn emulate(&self, path: &Path, scenario: &Scenario, left: Vec<String>, models: &dyn Models) -> Result<(), Failure> {
        let seed = self.seed.unwrap_or(scenario.seed);
        let mut session = session(path, scenario, seed)?;
        let plans = plan::real_nodes(scenario, session.replication.simulation());
        self.check_programs(path, scenario)?;
        let wanted = self.wanted(scenario, &plans)?;
        let rights = self.rights(&wanted)?;
        let header =
            Header { hopcast: env!("CARGO_PKG_VERSION").into(), scenario_sha256: scenario.sha256.clone(), seed };
        let capture = self.capture(scenario, &mut session.replication)?;
        // From here on, whatever happens, things are put in order.
        let signals = listen()?;
        self.follow_events(scenario, seed, &mut session)?;
        // A shell has the terminal to itself.
        let watch = Watch::new(self.metrics, self.shell.is_none());
        let mut watch = watch.map_err(|error| Failure::Input(format!("--metrics: can't listen there: {error}")))?;
        watch.set_captured(self.captured(scenario, seed, capture.as_ref())?);
        let hosts = Hosts::create(&plans)?;
        let recorder = self.record.as_deref().map(|file| {
            if file.metadata().is_ok_and(|known| known.is_file() && known.len() > 0) {
                // What is no recording is worth more than one: the scenario, say.
                Recording::check(file).map_err(|error| {
                    Failure::Input(format!("{error}; --record replaces nothing but an earlier recording"))
                })?;
            }
            Recorder::create(file, &header)
                .map_err(|error| Failure::Input(format!("{}: can't be written: {}", file.display(), cause(&error))))
        });
        let mut recorder = recorder.transpose()?;
        announce(&hosts, &session, scenario)?;
        let output = Output { keeps_stdout: self.json, has_names: wanted.len() > 1 };
        for problem in wanted.iter().filter_map(|wanted| wanted.lateness(session.end())) {
            say(&format!("hopcast: warning: {problem}"))?;
        }
        for Wanted { node, command, start } in wanted.iter().take(scenario.emulation.programs.len()) {
            let command = command.as_deref().unwrap_or_default().trim_end();
            say(&format!("node {node}: the scenario runs `{command}` at {} s", start.as_secs_f64()))?;
        }
        let mut programs = Programs::new(wanted, output, rights);
        let clock = Clock::new();
        let stopped = |error: io::Error| Failure::Run(format!("the emulation failed: {}", cause(&error)));
        let mut driver = Driver::new(&mut session, &hosts.hosts, recorder.as_mut()).map_err(stopped)?;
        let driven = driver.run(&mut programs, &mut watch, &signals, models);
        let lag = driver.lag().clone();
        let wall = clock.now().as_secs_f64();
        let records = programs.finish(session.now());
        drop(hosts);
        if let Some(size) = watch.captured() {
            say(&format!("hopcast: {size}"))?;
        }

        let outputs = session.outputs();
        let recorded = match (recorder, &self.record) {
            (Some(recorder), Some(file)) => recorder
                .finish(session.now(), &outputs)
                .map_err(|error| Failure::Run(format!("{}: can't be written: {}", file.display(), cause(&error)))),
            _ => Ok(()),
        };
        let mut record = EmulationRecord::new(&session, &outputs, left);
        let failed: Vec<String> = records.iter().filter_map(ProgramRecord::failure).collect();
        record.programs = records;
        let summary = lag.summary(scenario.emulation.lag_limit);
        record.lag = Some(summary);
        let spent = Spent { wall_s: Some(wall), ..Spent::default() };
        // Whatever failed, what was measured until then is told.
        self.conclude(scenario, session, record, spent, capture)?;
        let end = driven.map_err(stopped)?;
        recorded?;
        match end {
            End::Model(problem) => return Err(Failure::Run(problem)),
            End::Signal(signal) if !self.forever => return Err(Failure::Interrupted { signal }),
            _ => {}
        }
        if let Some(failure) = summary.failure() {
            return Err(Failure::Run(format!("the emulation fell behind real time: {failure}")));
        }
        if failed.is_empty() { Ok(()) } else { Err(Failure::Run(failed.join("; "))) }
    }

    /// As fast as possible, with what real hosts once sent.
    fn replay(
        &self,
        path: &Path,
        scenario: &Scenario,
        left: Vec<String>,
        file: &Path,
        models: &dyn Models,
    ) -> Result<(), Failure> {
        let Recording { header, inputs, end, outputs: recorded } = Recording::read(file).map_err(Failure::Input)?;
        if header.scenario_sha256 != scenario.sha256 {
            let problem = "is of another scenario, or one with other values set";
            return Err(Failure::Input(format!("{}: {problem} than {}", file.display(), path.display())));
        }
        if let Some(input) = inputs.iter().find(|input| !is_interface(scenario, input)) {
            let (node, interface) = (input.node.0, input.interface);
            let problem =
                format!("has a frame from interface {interface} of node {node}, which is none of a real host");
            return Err(Failure::Input(format!("{}: {problem}", file.display())));
        }
        // It may have been emulated for longer than the scenario's duration.
        let mut scenario = scenario.clone();
        scenario.duration = scenario.duration.max(end.saturating_since(Instant::START));
        let mut session = session(path, &scenario, header.seed)?;
        let capture = self.capture(&scenario, &mut session.replication)?;
        // Before pages are told of it: whoever follows it may end it.
        let signals = listen()?;
        self.follow_events(&scenario, header.seed, &mut session)?;
        let clock = Clock::new();
        let pace = self.view.then_some(&clock);
        let outputs = replay(&mut session, &inputs, end, &mut |session, until| advance(session, until, pace, &signals));
        let record = EmulationRecord::new(&session, &outputs, left);
        let spent = Spent { wall_s: Some(clock.now().as_secs_f64()), ..Spent::default() };
        self.conclude(&scenario, session, record, spent, capture)?;
        if let Some(problem) = models.poll_failure() {
            return Err(Failure::Run(problem));
        }
        if let Some(signal) = signals.received() {
            return Err(Failure::Interrupted { signal });
        }
        if outputs == recorded {
            return Ok(());
        }
        Err(Failure::Run(format!(
            "{}: the replay differs: {} frames with SHA-256 {} were delivered, {} with {} were recorded by hopcast {}",
            file.display(),
            outputs.frames,
            outputs.digest,
            recorded.frames,
            recorded.digest,
            header.hopcast,
        )))
    }

    /// Refuses a scenario that would start programs unasked: who wrote it chose their commands.
    fn check_programs(&self, path: &Path, scenario: &Scenario) -> Result<(), Failure> {
        if self.programs || scenario.emulation.programs.is_empty() {
            return Ok(());
        }
        let names: Vec<&String> = node_names(scenario).collect();
        let programs = scenario.emulation.programs.iter();
        let lines = programs
            .map(|program| format!("\n  node {}: `{}`", names[program.node.0 as usize], program.command.trim_end()));
        let lines: String = lines.collect();
        let path = path.display();
        Err(Failure::Input(format!("{path}: emulation.programs: add --programs to run these commands:{lines}")))
    }

    /// The rights of programs, if there are any.
    fn rights(&self, wanted: &[Wanted]) -> Result<Rights, Failure> {
        if self.privileged || wanted.is_empty() {
            return Ok(Rights::ALL);
        }
        Rights::limited(programs::is_known).map_err(Failure::Input)
    }

    /// What is to run where: as the scenario and the command line say.
    fn wanted(&self, scenario: &Scenario, real: &[RealNode]) -> Result<Vec<Wanted>, Failure> {
        let names: Vec<&String> = node_names(scenario).collect();
        let of_scenario = scenario.emulation.programs.iter().map(|program| Wanted {
            node: names[program.node.0 as usize].clone(),
            command: Some(program.command.clone()),
            start: program.start,
        });
        let start = Instant::START;
        let of_line = self.exec.chunks_exact(2).map(|pair| Wanted {
            node: pair[0].clone(),
            command: Some(pair[1].clone()),
            start,
        });
        let shell = self.shell.iter().map(|node| Wanted { node: node.clone(), command: None, start });
        let wanted: Vec<Wanted> = of_scenario.chain(of_line).chain(shell).collect();
        for Wanted { node, command, .. } in &wanted {
            if !real.iter().any(|real| real.name == *node) {
                let all: Vec<&str> = real.iter().map(|real| real.name.as_str()).collect();
                return Err(Failure::Input(format!("no real node is called \"{node}\"; there are {}", all.join(", "))));
            }
            if let Some(line) = command.as_ref().filter(|line| !programs::is_known(line)) {
                let Some(word) = line.split_whitespace().next() else {
                    return Err(Failure::Input(format!("node {node}: a command is missing")));
                };
                return Err(Failure::Input(format!("node {node}: `{line}`: the command \"{word}\" is not found")));
            }
        }
        Ok(wanted)
    }

    fn capture(&self, scenario: &Scenario, replication: &mut Replication<'_>) -> Result<Option<Capture>, Failure> {
        let Some((folder, selection)) = self.out.as_deref().zip(self.selection.as_ref()) else { return Ok(None) };
        let capture =
            Capture::emulated(folder, scenario, selection).map_err(|error| Failure::Input(error.to_string()))?;
        replication.simulation_mut().set_tap(capture.tap());
        Ok(Some(capture))
    }

    /// Tells how large the captures will be, as far as that is known, and watches how they grow.
    fn captured(&self, scenario: &Scenario, seed: u64, capture: Option<&Capture>) -> Result<Option<Captured>, Failure> {
        let Some(((folder, selection), capture)) = self.out.as_deref().zip(self.selection.as_ref()).zip(capture) else {
            return Ok(None);
        };
        let duration = (!self.forever).then_some(scenario.duration);
        if duration.is_some()
            && let Some(forecast) = captured::forecast(scenario, selection, seed, folder)?
        {
            say(&format!("hopcast: {forecast}"))?;
        }
        Ok(Some(Captured::new(capture.meter(), selection, folder, duration)))
    }

    /// Begins the recording of what happens, and its page, if they are wanted.
    fn follow_events<'s>(&self, scenario: &'s Scenario, seed: u64, session: &mut Session<'s>) -> Result<(), Failure> {
        let folder = self.out.as_deref().filter(|_| self.events);
        let recording = folder.map(|folder| EventRecording::create(folder, scenario, seed)).transpose();
        let recording = recording.map_err(|error| Failure::Input(error.to_string()))?;
        let feed = self.view.then(|| {
            recording.as_ref().map_or_else(|| Feed::new(scenario, seed), |recording| Ok(Feed::of_recording(recording)))
        });
        let feed = feed.transpose().map_err(|error| Failure::Input(format!("--view: {error}")))?;
        let following = feed.map(|feed| {
            let view = view::listen(self.view_port.unwrap_or(0))
                .and_then(|socket| View::open(socket, feed.description()).map_err(|error| view::refused(&error)))?;
            say(&format!("{} shows the emulation while it runs", view.address()))?;
            Ok((feed, view))
        });
        session.set_events(recording, following.transpose()?);
        Ok(())
    }

    /// Checks, writes and prints what was measured.
    fn conclude(
        &self,
        scenario: &Scenario,
        mut session: Session<'_>,
        record: EmulationRecord,
        spent: Spent,
        capture: Option<Capture>,
    ) -> Result<(), Failure> {
        let failed = |error: String| Failure::Run(error);
        session.replication.simulation().check().map_err(|error| failed(error.to_string()))?;
        let end = session.now();
        let (events, following) = session.finish();
        let result = session.replication.finish(spent);
        let report = Report { run: &result, emulation: record };
        let written = match &self.out {
            Some(folder) => self.write(folder, scenario, &result, &report, capture).and_then(|()| {
                events?.map_or(Ok(()), |events| events.commit(&result, end))?;
                record::remove_others(
                    folder,
                    if self.events { std::slice::from_ref(&result.provenance.seed) } else { &[] },
                )
            }),
            None => Ok(()),
        };
        let view = following.map(|following| Following::finish(following, end));
        for warning in &result.warnings {
            say(&format!("hopcast: warning: {warning}"))?;
        }
        output::print(&if self.json { report.to_json() + "\n" } else { report.to_string() })?;
        // Browsers take what is left meanwhile.
        drop(view);
        written.map_err(|error| failed(error.to_string()))
    }

    fn write(
        &self,
        folder: &Path,
        scenario: &Scenario,
        result: &RunResult,
        report: &Report<'_>,
        capture: Option<Capture>,
    ) -> Result<(), results::OutputError> {
        results::write_tables(folder, std::slice::from_ref(result))?;
        results::write_layout(folder, scenario, result.provenance.seed)?;
        capture.map_or(Ok(()), Capture::commit)?;
        results::write_text(&folder.join("run.json"), &(report.to_json() + "\n"))?;
        self.captures(scenario).remove_others(folder)
    }
}

fn clean() -> Result<(), Failure> {
    let removed = hosts::clean();
    let removed =
        removed.map_err(|error| Failure::Run(hosts::because(&error, "what emulations have left can't be removed")))?;
    for name in &removed {
        say(&format!("removed network namespace {name}"))?;
    }
    if removed.is_empty() { say("nothing is left behind") } else { Ok(()) }
}

fn session<'s>(path: &Path, scenario: &'s Scenario, seed: u64) -> Result<Session<'s>, Failure> {
    let file = path.display().to_string();
    let session = Session::new(scenario, seed).map_err(|error| Failure::Input(error.in_file(&file).to_string()))?;
    let ways = plan::check_ways(scenario, session.replication.simulation());
    ways.map_err(|problem| Failure::Input(format!("{file}: {problem}")))?;
    Ok(session)
}

/// Gives in what was recorded, at the same instants, up to `end`. It calls `advance` to get to each instant, and ends where that returns
/// false.
fn replay(
    session: &mut Session<'_>,
    inputs: &[session::Input],
    end: Instant,
    advance: &mut dyn FnMut(&mut Session<'_>, Instant) -> bool,
) -> session::Outputs {
    for input in inputs {
        if input.at > session.now() && !advance(session, input.at) {
            return session.outputs();
        }
        session.handle_frame(input.node, input.interface, &input.octets);
    }
    advance(session, end);
    session.outputs()
}

fn run_until(session: &mut Session<'_>, until: Instant) {
    session.run_until(until);
    while session.poll_delivery().is_some() {}
}

/// Runs `session` up to `until`, in step with the clock `pace` if there is one, and returns whether no signal has come.
fn advance(session: &mut Session<'_>, until: Instant, pace: Option<&Clock>, signals: &Signals) -> bool {
    while signals.received().is_none() {
        let now = pace.map_or_else(|| session.now() + STEP, Clock::now).min(until);
        if now > session.now() {
            run_until(session, now);
        }
        if now == until {
            return true;
        }
        if let Some(clock) = pace {
            wait::readable(signals, clock.wait(Some(until)).unwrap_or_default().min(PACE));
        }
    }
    false
}

/// Listens to the signals that end an emulation.
fn listen() -> Result<Signals, Failure> {
    Signals::listen().map_err(|error| Failure::Run(format!("signals can't be caught: {}", cause(&error))))
}

/// Whether an input is from an interface of a real host.
fn is_interface(scenario: &Scenario, input: &session::Input) -> bool {
    let mut groups = scenario.groups.iter().flat_map(|group| group.node_names.iter().map(move |_| group));
    let is_real = groups.nth(input.node.0 as usize).is_some_and(|group| group.is_real);
    is_real && (input.interface as usize) < layout::neighbours(scenario).hardware(input.node).count()
}

/// Names of all nodes, by index.
fn node_names(scenario: &Scenario) -> impl Iterator<Item = &String> {
    scenario.groups.iter().flat_map(|group| &group.node_names)
}

/// Tells people where they find what was made.
fn announce(hosts: &Hosts, session: &Session<'_>, scenario: &Scenario) -> Result<(), Failure> {
    for host in &hosts.hosts {
        let plan = &host.plan;
        let wires = plan.interfaces.iter().filter_map(|interface| {
            interface.leads_to.as_ref().map(|other| format!(", {} to {other}", interface.name))
        });
        let wires: String = wires.collect();
        say(&format!("{}: {}, network namespace {}{wires}", plan.name, plan.address, host.namespace.name()))?;
    }
    for Listener { flow, to, protocol, port, .. } in session.replication.simulation().listeners() {
        let name = &scenario.flows[flow.0 as usize].name;
        let protocol = if *protocol == Protocol::Tcp { "TCP" } else { "UDP" };
        say(&format!("flow {name}: goes to {protocol} port {port} of {}", ip_address(*to)))?;
    }
    Ok(())
}

/// Prints a message for people, separate from the results.
fn say(text: &str) -> Result<(), Failure> {
    writeln!(io::stderr(), "{text}")
        .map_err(|error| Failure::Run(format!("standard error can't be written: {}", cause(&error))))
}

/// The number of frames of a recording, or what is wrong with it.
#[cfg(feature = "testkit")]
pub(crate) fn read_recording(lines: &[String]) -> Result<usize, String> {
    recording::Recording::parse(lines).map(|recording| recording.inputs.len())
}
