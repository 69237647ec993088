//! Programs of `hopcast probe`, and namespaces to run them in.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// Copies the program there. `cp` does, as a file can't be run while a child that another test starts has it open for writing.
pub(crate) fn copy_program(to: &Path) {
    let status = Command::new("cp").arg(env!("CARGO_BIN_EXE_hopcast-live")).arg(to).status();
    assert!(status.expect("it can be run").success(), "there is room");
}

/// A network namespace with its name, or the one of the tests.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a>(pub(crate) Option<&'a str>);

/// The namespace of the tests.
pub(crate) const HERE: Place<'static> = Place(None);

impl Place<'_> {
    /// `program`, to be run there.
    pub(crate) fn command(self, program: &str) -> Command {
        match self.0 {
            None => Command::new(program),
            Some(namespace) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", namespace, program]);
                command
            }
        }
    }

    /// `hopcast probe` with `arguments`, to be run there.
    pub(crate) fn probe(self, arguments: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_hopcast-live"));
        command.arg("probe").args(arguments).stdin(Stdio::null());
        command
    }

    /// What `hopcast probe send` with `arguments` prints, and its status.
    pub(crate) fn send(self, arguments: &[&str]) -> Output {
        self.probe(&[&["send"], arguments].concat()).output().expect("the program is there")
    }

    /// The object that `hopcast probe send --json` with `arguments` prints when all goes well.
    pub(crate) fn measure(self, arguments: &[&str]) -> Value {
        let done = self.send(&[arguments, &["--json"]].concat());
        let complaint = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{complaint}");
        serde_json::from_slice(&done.stdout).expect("one object")
    }

    /// A relay or a receiver.
    pub(crate) fn daemon(self, arguments: &[&str]) -> Daemon {
        let mut child = self.probe(arguments).stderr(Stdio::piped()).spawn().expect("the program is there");
        let mut output = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        output.read_line(&mut line).expect("text");
        let address = line.trim_end().strip_prefix("hopcast: listening at ");
        let address = address.unwrap_or_else(|| panic!("it should listen, but says {line:?}")).to_owned();
        Daemon { child, address, output }
    }
}

/// A relay or a receiver that runs until it is dropped.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) address: String,
    output: BufReader<ChildStderr>,
}

impl Daemon {
    /// Ends it with a signal; returns its status and what it has said.
    pub(crate) fn end(mut self, signal: nix::sys::signal::Signal) -> (Option<i32>, String) {
        let process = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(process, signal).expect("it runs");
        let status = self.child.wait().expect("it ends").code();
        let mut said = String::new();
        self.output.read_to_string(&mut said).expect("text");
        (status, said)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Namespaces in a line, each with a wire to the next: number i has 10.88.i.1 towards the next one, which has 10.88.i.2. They
/// pass no packets on.
pub(crate) struct Line {
    names: Vec<String>,
}

impl Line {
    /// This number of namespaces, with virtual Ethernet between them; or the missing program or right.
    pub(crate) fn new(count: usize) -> Result<Self, Missing> {
        let line = Self::apart(count)?;
        for place in 0..count.saturating_sub(1) {
            let far = &line.names[place + 1];
            let wire = ["ip", "link", "add", "right", "type", "veth", "peer", "name", "left", "netns", far];
            run(line.place(place), &wire).expect("root may");
            line.address(place);
        }
        Ok(line)
    }

    /// This number of namespaces, without wires.
    pub(crate) fn apart(count: usize) -> Result<Self, Missing> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let output = Command::new("ip").arg("-Version").output();
        output.map_err(|error| Missing { is_program: true, what: format!("ip: {error}") })?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let names = (0..count).map(|place| format!("hopcast-probe-{}-{number}-{place}", std::process::id()));
        let line = Self { names: names.collect() };
        for name in &line.names {
            let added = run(HERE, &["ip", "netns", "add", name]);
            added.map_err(|what| Missing { is_program: false, what: format!("a network namespace: {what}") })?;
            run(Place(Some(name)), &["ip", "link", "set", "lo", "up"]).expect("root may");
        }
        Ok(line)
    }

    /// Gives the ends of the wire behind number `place`, `right` here and `left` there, their addresses.
    pub(crate) fn address(&self, place: usize) {
        for (side, device, host) in [(self.place(place), "right", 1), (self.place(place + 1), "left", 2)] {
            let address = format!("10.88.{place}.{host}/24");
            run(side, &["ip", "address", "add", &address, "dev", device]).expect("root may");
            run(side, &["ip", "link", "set", device, "up"]).expect("root may");
        }
    }

    /// Runs a command in number `place`.
    pub(crate) fn run(&self, place: usize, words: &[&str]) -> Result<(), String> {
        run(self.place(place), words)
    }

    /// The names of the namespaces at both ends of the wire behind number `place`.
    pub(crate) fn ends(&self, place: usize) -> [&str; 2] {
        [&self.names[place], &self.names[place + 1]]
    }

    /// The namespace number `index`.
    pub(crate) fn place(&self, index: usize) -> Place<'_> {
        Place(Some(&self.names[index]))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = run(HERE, &["ip", "netns", "delete", name]);
        }
    }
}

/// What a test can't do without.
#[derive(Debug)]
pub(crate) struct Missing {
    /// A program, rather than a right or a part of the kernel.
    pub(crate) is_program: bool,
    /// Which.
    pub(crate) what: String,
}

/// What was made, or a word on why the test is skipped. Programs are there where all tests are to run.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn usable<T>(made: Result<T, Missing>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(missing) => {
            let is_required = std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_some();
            assert!(!(is_required && missing.is_program), "{}", missing.what);
            println!("skipped: {}", missing.what);
            None
        }
    }
}

fn run(place: Place<'_>, words: &[&str]) -> Result<(), String> {
    let done = place.command(words[0]).args(&words[1..]).output().map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()) }
}
