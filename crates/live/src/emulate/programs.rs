//! Programs at real hosts: starts them at their times, passes on their output, and ends them with the run.

#![expect(clippy::disallowed_methods, reason = "programs are waited for in the machine's time")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hopcast_protocols::time::Instant;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use schemars::JsonSchema;
use serde::Serialize;

use super::hosts::RealHost;
use super::rights::Rights;

/// A program to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The name of its node.
    pub(super) node: String,
    /// A line for the shell; `None`: a shell for the person at the terminal.
    pub(super) command: Option<String>,
    pub(super) start: Instant,
}

impl Wanted {
    /// That it never starts, if it does not in a run that ends at `end`.
    pub(super) fn lateness(&self, end: Instant) -> Option<String> {
        let Self { node, command, start } = self;
        let [starts, ends] = [*start, end].map(Instant::as_secs_f64);
        let command = command.as_ref().filter(|_| *start >= end)?;
        Some(format!("node {node}: `{command}` never starts; its start is at {starts} s, and the run ends at {ends} s"))
    }
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub(super) struct ProgramRecord {
    /// Name of its node.
    node: String,
    /// Its command line.
    command: String,
    /// When it started, from the start of the run; `null` if the run ended before.
    started_s: Option<f64>,
    /// When it ended by itself, from the start of the run; `null` if it ended with the run or never started.
    ended_s: Option<f64>,
    /// Its exit status, if it ended by itself.
    #[schemars(extend("x-unit" = "none"))]
    status: Option<i32>,
    /// Number of the signal that ended it, if one did.
    #[schemars(extend("x-unit" = "none"))]
    signal: Option<i32>,
}

impl ProgramRecord {
    /// Of one that has not ended, nor started where there is no instant.
    fn new(node: String, command: String, started: Option<Instant>) -> Self {
        let started_s = started.map(Instant::as_secs_f64);
        Self { node, command, started_s, ended_s: None, status: None, signal: None }
    }

    /// How it failed, if it did: by itself, before the run ended.
    pub(super) fn failure(&self) -> Option<String> {
        self.ended_s?;
        let how = match (self.status, self.signal) {
            (Some(0), _) => return None,
            (Some(status), _) => format!("with status {status}"),
            (None, Some(signal)) => format!("by signal {signal}"),
            (None, None) => "nobody knows how".to_owned(),
        };
        Some(format!("node {}: `{}` ended {how}", self.node, self.command))
    }
}

/// Where the output of programs goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Standard output holds an object for machines: what programs write there goes to standard error.
    pub(super) keeps_stdout: bool,
    /// Each line begins with the name of the node.
    pub(super) has_names: bool,
}

/// The programs of an emulation.
pub(super) struct Programs {
    /// Latest first.
    wanted: Vec<Wanted>,
    /// On their way, with the threads that start them.
    starting: Vec<Starting>,
    running: Vec<Running>,
    finished: Vec<ProgramRecord>,
    output: Output,
    rights: Rights,
    /// Those that pass output on.
    readers: Vec<JoinHandle<()>>,
}

struct Starting {
    record: ProgramRecord,
    is_shell: bool,
    thread: JoinHandle<io::Result<Child>>,
}

struct Running {
    record: ProgramRecord,
    child: Child,
    /// Whether it is the shell for the person at the terminal; all others lead separate process groups.
    is_shell: bool,
}

/// How long programs have to end after they were told to.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(10);

/// Whether the shell knows the command that a line begins with; lines that begin with more than a word it must judge itself.
pub(super) fn is_known(line: &str) -> bool {
    let Some(word) = line.split_whitespace().next() else { return false };
    if !word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c)) {
        return true;
    }
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "command -v -- \"$1\"", "sh", word]);
    let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

impl Programs {
    pub(super) fn new(mut wanted: Vec<Wanted>, output: Output, rights: Rights) -> Self {
        // Stable: of those with one instant the first one starts first.
        wanted.reverse();
        wanted.sort_by_key(|wanted| std::cmp::Reverse(wanted.start));
        let (starting, running, finished, readers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { wanted, starting, running, finished, output, rights, readers }
    }

    /// When the next one starts.
    pub(super) fn next_start(&self) -> Option<Instant> {
        self.wanted.last().map(|wanted| wanted.start)
    }

    /// Starts those whose time has come, and looks which ones have ended; true once the shell has, or there were some and all have.
    pub(super) fn advance(&mut self, hosts: &[RealHost], now: Instant) -> io::Result<bool> {
        while self.next_start().is_some_and(|start| start <= now)
            && let Some(wanted) = self.wanted.pop()
        {
            self.start(wanted, hosts, now)?;
        }
        while let Some(place) = self.starting.iter().position(|starting| starting.thread.is_finished()) {
            let starting = self.starting.remove(place);
            self.take_started(starting)?;
        }
        let has_shell_ended = self.look(Some(now))?;
        let is_over = self.wanted.is_empty() && self.starting.is_empty() && self.running.is_empty();
        Ok(has_shell_ended || is_over && !self.finished.is_empty())
    }

    /// Looks which ones have ended; `at`: when, by themselves. Returns whether the shell is one of them.
    fn look(&mut self, at: Option<Instant>) -> io::Result<bool> {
        let mut has_shell_ended = false;
        let mut place = 0;
        while let Some(running) = self.running.get_mut(place) {
            match running.child.try_wait()? {
                Some(status) => {
                    let running = self.running.remove(place);
                    has_shell_ended |= running.is_shell;
                    self.finished.push(running.ended(status, at));
                }
                None => place += 1,
            }
        }
        Ok(has_shell_ended)
    }

    fn start(&mut self, wanted: Wanted, hosts: &[RealHost], now: Instant) -> io::Result<()> {
        let Wanted { node, command, .. } = wanted;
        let Some(host) = hosts.iter().find(|host| host.plan.name == node) else {
            return Err(io::Error::other(format!("node {node}: is no real host")));
        };
        let shell = shell();
        let mut process = match &command {
            Some(line) => {
                let mut process = self.rights.command("/bin/sh");
                process.args(["-c", line]).stdin(Stdio::null()).process_group(0);
                if self.output.has_names {
                    process.stdout(Stdio::piped()).stderr(Stdio::piped());
                } else if self.output.keeps_stdout {
                    process.stdout(io::stderr().as_fd().try_clone_to_owned()?);
                }
                process
            }
            // It stays in the foreground of the terminal.
            None => self.rights.command(&shell),
        };
        process.env("HOPCAST_NODE", &node);
        let is_shell = command.is_none();
        let record = ProgramRecord::new(node, command.unwrap_or(shell), Some(now));
        let thread = host.namespace.start(process)?;
        self.starting.push(Starting { record, is_shell, thread });
        Ok(())
    }

    /// A program has been started, or could not be.
    fn take_started(&mut self, starting: Starting) -> io::Result<()> {
        let Starting { record, is_shell, thread } = starting;
        let mut child = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if let Some(stdout) = child.stdout.take() {
            self.readers.push(pass_on(stdout, &record.node, self.output.keeps_stdout)?);
        }
        if let Some(stderr) = child.stderr.take() {
            self.readers.push(pass_on(stderr, &record.node, true)?);
        }
        self.running.push(Running { record, child, is_shell });
        Ok(())
    }

    /// The run is over, at `now`: ends those that still run, and tells what became of all.
    pub(super) fn finish(mut self, now: Instant) -> Vec<ProgramRecord> {
        for starting in std::mem::take(&mut self.starting) {
            // One that could not be started needs no end.
            let _ = self.take_started(starting);
        }
        // Who has ended since the last look was told by nobody to. One that can't be waited for is seen to below.
        let _ = self.look(Some(now));
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            for running in &self.running {
                running.signal(signal);
            }
            let mut waited = Duration::ZERO;
            while waited < PATIENCE && !self.running.is_empty() {
                let _ = self.look(None);
                thread::sleep(TICK);
                waited += TICK;
            }
        }
        // What programs have left in the background may hold their output for ever.
        let mut waited = Duration::ZERO;
        while waited < PATIENCE && !self.readers.iter().all(JoinHandle::is_finished) {
            thread::sleep(TICK);
            waited += TICK;
        }
        let never_started = self.wanted.into_iter().rev();
        let never_started =
            never_started.map(|wanted| ProgramRecord::new(wanted.node, wanted.command.unwrap_or_else(shell), None));
        self.finished.extend(never_started);
        self.finished
    }
}

/// What the person at the terminal has for a shell.
fn shell() -> String {
    std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".into())
}

impl Running {
    fn signal(&self, signal: Signal) {
        let Ok(process) = i32::try_from(self.child.id()).map(Pid::from_raw) else { return };
        // That it has ended in the meantime is seen by whoever waits for it.
        let _ = if self.is_shell { nix::sys::signal::kill(process, signal) } else { killpg(process, signal) };
    }

    fn ended(mut self, status: ExitStatus, at: Option<Instant>) -> ProgramRecord {
        self.record.ended_s = at.map(Instant::as_secs_f64);
        self.record.status = status.code();
        self.record.signal = status.signal();
        self.record
    }
}

/// Passes on what a program writes, line by line, each with the name of its node.
fn pass_on(from: impl Read + Send + 'static, node: &str, to_stderr: bool) -> io::Result<JoinHandle<()>> {
    let node = node.to_owned();
    let read = move || {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|octets| octets > 0) {
            if line.last() != Some(&b'\n') {
                line.push(b'\n');
            }
            let whole = [node.as_bytes(), b": ", &line].concat();
            // Nobody reads on: the program need not know.
            let _ = if to_stderr { io::stderr().write_all(&whole) } else { io::stdout().write_all(&whole) };
            line.clear();
        }
    };
    thread::Builder::new().spawn(read)
}

#[cfg(test)]
mod tests {
    use nix::sys::wait::{Id, WaitPidFlag, waitid};

    use super::*;

    #[test]
    fn the_shell_knows_what_it_could_run() {
        for line in ["true", "  cd /", "/bin/sh -c true", "X=1 nothing", "(true)", "$SHELL"] {
            assert!(is_known(line), "{line}");
        }
        for line in ["", "  ", "no-such-program-at-all -x", "/nowhere/at/all"] {
            assert!(!is_known(line), "{line}");
        }
    }

    const OUTPUT: Output = Output { keeps_stdout: false, has_names: false };

    /// One that runs `line`; it has ended unless that takes longer.
    fn running(line: &str, is_shell: bool, is_awaited: bool) -> Running {
        let child = Command::new("/bin/sh").args(["-c", line]).process_group(0).spawn().unwrap();
        if is_awaited {
            let id = Id::Pid(Pid::from_raw(child.id() as i32));
            waitid(id, WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT).unwrap();
        }
        Running { record: ProgramRecord::new("n".into(), line.into(), Some(Instant::START)), child, is_shell }
    }

    #[test]
    fn one_that_failed_in_the_last_moment_has_failed() {
        let mut programs = Programs::new(Vec::new(), OUTPUT, Rights::ALL);
        programs.running = vec![running("exec sleep 100", false, false), running("exit 3", false, true)];
        let records = programs.finish(Instant::from_nanos(5_000_000_000));
        let failures: Vec<_> = records.iter().filter_map(ProgramRecord::failure).collect();
        assert_eq!(failures, ["node n: `exit 3` ended with status 3"]);
        assert_eq!(records.iter().map(|record| record.ended_s).collect::<Vec<_>>(), [Some(5.0), None]);
        assert_eq!(records[1].signal, Some(Signal::SIGTERM as i32));
    }

    #[test]
    fn all_is_over_with_the_shell_or_with_the_last_program() {
        for (is_shell, is_over) in [(true, true), (false, false)] {
            let mut programs = Programs::new(Vec::new(), OUTPUT, Rights::ALL);
            programs.running = vec![running("exec sleep 100", false, false), running("exit 0", is_shell, true)];
            assert_eq!(programs.advance(&[], Instant::START).unwrap(), is_over);
            programs.finish(Instant::START);
        }
        let mut programs = Programs::new(Vec::new(), OUTPUT, Rights::ALL);
        programs.running = vec![running("exit 0", false, true)];
        assert!(programs.advance(&[], Instant::START).unwrap());
    }

    #[test]
    fn what_never_started_is_listed() {
        let wanted = Wanted { node: "n".into(), command: Some("true".into()), start: Instant::from_nanos(9) };
        let records = Programs::new(vec![wanted], OUTPUT, Rights::ALL).finish(Instant::START);
        assert_eq!(records, [ProgramRecord::new("n".into(), "true".into(), None)]);
        assert_eq!(records[0].failure(), None);
    }

    #[test]
    fn they_start_in_order() {
        let wanted = |node: &str, start| Wanted {
            node: node.into(),
            command: Some("true".into()),
            start: Instant::from_nanos(start),
        };
        let mut programs = Programs::new(vec![wanted("b", 5), wanted("a", 0), wanted("c", 5)], OUTPUT, Rights::ALL);
        assert_eq!(programs.next_start(), Some(Instant::START));
        let order: Vec<String> = std::iter::from_fn(|| programs.wanted.pop()).map(|wanted| wanted.node).collect();
        assert_eq!(order, ["a", "b", "c"]);
    }
}
