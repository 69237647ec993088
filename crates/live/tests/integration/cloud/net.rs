//! Network namespaces, and the devices in them.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "between real stacks, time is that of the machine's clock"
)]

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::keys::{make_identity, make_key};

/// Namespaces with one address each, on all their interfaces.
#[derive(Debug)]
pub(crate) struct Net {
    names: Vec<String>,
    interfaces: Vec<Vec<String>>,
    devices: Vec<Option<Child>>,
    folder: TempDir,
}

pub(crate) fn address(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + u8::try_from(node).expect("few nodes"))
}

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_hopcast-live")
}

/// Whether there is all that a test needs.
pub(crate) fn is_available() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = match () {
        () if !nix::unistd::geteuid().is_root() => "not root",
        () if !std::env::split_paths(&path).any(|folder| folder.join("ip").exists()) => "iproute2 isn't installed",
        () => return true,
    };
    assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "{missing}");
    eprintln!("skipped: {missing}");
    false
}

impl Net {
    /// Namespaces that these links connect.
    pub(crate) fn new(test: &str, count: usize, links: &[(usize, usize)]) -> Self {
        let process = std::process::id();
        let folder = tempfile::tempdir().expect("there is room");
        let names: Vec<_> = (0..count).map(|node| format!("hopcast-{test}-{process}-{node}")).collect();
        let mut net = Self { names, interfaces: vec![Vec::new(); count], devices: Vec::new(), folder };
        net.devices.resize_with(count, || None);
        for node in 0..count {
            run(Command::new("ip").args(["netns", "add", &net.names[node]]));
            net.ip(node, &["link", "set", "lo", "up"]);
        }
        for &(left, right) in links {
            let (near, far) = (format!("to{right}"), format!("to{left}"));
            let peer = ["peer", "name", &far, "netns", &net.names[right]];
            net.ip(left, &[&["link", "add", &near, "type", "veth"][..], &peer].concat());
            for (node, device) in [(left, near), (right, far)] {
                net.ip(node, &["address", "add", &format!("{}/32", address(node)), "dev", &device]);
                net.ip(node, &["link", "set", &device, "up"]);
                net.interfaces[node].push(device);
            }
        }
        net
    }

    /// Starts a device, and waits until it runs on its interfaces.
    pub(crate) fn start(&mut self, node: usize, options: &[&str]) {
        let log = File::create(self.folder.path().join(format!("{node}.log"))).expect("there is room");
        let mut command = self.command(node);
        command.arg("serve");
        for interface in &self.interfaces[node] {
            command.args(["--interface", interface]);
        }
        command.args(options).stderr(log).stdin(Stdio::null());
        self.devices[node] = Some(command.spawn().expect("it starts"));
        self.wait_until(Duration::from_secs(20), "the device runs on its interfaces", |net| {
            let state: Value = serde_json::from_slice(&net.run(node, &["status", "--json"]).stdout).unwrap_or_default();
            let interfaces = state["interfaces"].as_array().cloned().unwrap_or_default();
            !interfaces.is_empty() && interfaces.iter().all(|interface| interface["state"] == "running")
        });
    }

    /// Ends a device in order; its exit status.
    pub(crate) fn stop(&mut self, node: usize) -> Option<i32> {
        let mut device = self.devices[node].take().expect("it runs");
        kill(Pid::from_raw(device.id().cast_signed()), Signal::SIGTERM).expect("it is ours");
        device.wait().expect("it ends").code()
    }

    /// Kills a device.
    pub(crate) fn kill(&mut self, node: usize) {
        let mut device = self.devices[node].take().expect("it runs");
        device.kill().expect("it is ours");
        device.wait().expect("it ends");
    }

    /// `hopcast cloud` in a namespace.
    pub(crate) fn command(&self, node: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[node], binary(), "cloud"]);
        command
    }

    /// Plays what these arguments of `hopcast cloud play` say, without a word.
    pub(crate) fn play(&self, node: usize, arguments: &[&str]) -> Child {
        let mut command = self.command(node);
        command.arg("play").args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("it starts")
    }

    /// A shell in a namespace; the words after the script are its `$0`, `$1`, …
    pub(crate) fn shell(&self, node: usize, script: &str, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[node], "sh", "-c", script]).args(words);
        command
    }

    /// An interface that the device of a namespace uses too.
    pub(crate) fn add_interface(&mut self, node: usize, name: &str) {
        self.interfaces[node].push(name.into());
    }

    /// Does something in a namespace.
    pub(crate) fn inside<T: Send>(&self, node: usize, work: impl FnOnce() -> T + Send) -> T {
        let path = PathBuf::from("/run/netns").join(&self.names[node]);
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                setns(File::open(path).expect("it is there"), CloneFlags::CLONE_NEWNET).expect("root may");
                work()
            });
            thread.join().expect("it does its work")
        })
    }

    /// Runs `hopcast cloud` with these arguments to its end.
    pub(crate) fn run(&self, node: usize, arguments: &[&str]) -> Output {
        self.command(node).args(arguments).output().expect("it can be run")
    }

    pub(crate) fn status(&self, node: usize) -> Value {
        let output = self.run(node, &["status", "--json"]);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error} in {output:?}: {}", self.log(node)))
    }

    pub(crate) fn make_key(&self, name: &str) -> String {
        make_key(&self.folder.path().join(name))
    }

    /// Identities of all devices in files, and their lines in a list of members.
    pub(crate) fn make_identities(&self) -> (Vec<String>, Vec<String>) {
        let all = (0..self.names.len()).map(|node| {
            let (path, public) = make_identity(&self.folder.path().join(format!("identity{node}")));
            (path, format!("{public} {}\n", address(node)))
        });
        all.unzip()
    }

    /// Makes a device read its key and its members again.
    pub(crate) fn read_again(&self, node: usize) {
        let device = self.devices[node].as_ref().expect("it runs");
        kill(Pid::from_raw(device.id().cast_signed()), Signal::SIGUSR1).expect("it is ours");
    }

    /// A file in the folder of the test.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, octets: &[u8]) -> String {
        let path = self.path(name);
        std::fs::write(&path, octets).expect("there is room");
        path
    }

    pub(crate) fn ip(&self, node: usize, arguments: &[&str]) -> String {
        run(Command::new("ip").args(["-n", &self.names[node]]).args(arguments))
    }

    pub(crate) fn wait_until(&self, patience: Duration, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + patience;
        while !is_so(self) {
            let logs: String = (0..self.names.len()).map(|node| format!("--- {node}\n{}", self.log(node))).collect();
            assert!(Instant::now() < end, "not within {patience:?}: {what}\n{logs}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What a device has logged.
    pub(crate) fn log(&self, node: usize) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{node}.log"))).unwrap_or_default()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for node in 0..self.names.len() {
            if self.devices[node].is_some() {
                self.kill(node);
            }
            let _ = Command::new("ip").args(["netns", "del", &self.names[node]]).status();
        }
    }
}

pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}
