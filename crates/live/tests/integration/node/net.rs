//! Network namespaces, the routers in them, and flows between them.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "between real stacks, time is that of the machine's clock"
)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::keys::{make_identity, make_key};

/// Port of what answers.
const ECHO: u16 = 7;

/// How namespaces are connected: each to the next one, by `r` and its number on the one side, `l` and its number on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Line,
    Ring,
}

/// Namespaces with one address each, on all their interfaces.
#[derive(Debug)]
pub(crate) struct Net {
    names: Vec<String>,
    interfaces: Vec<Vec<String>>,
    bridges: Vec<String>,
    routers: Vec<Option<Child>>,
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
    let missing = match () {
        () if !nix::unistd::geteuid().is_root() => "not root",
        () if !has_program("ip") => "iproute2 isn't installed",
        () if !PathBuf::from("/dev/net/tun").exists() => "there is no /dev/net/tun",
        () => return true,
    };
    assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "{missing}");
    eprintln!("skipped: {missing}");
    false
}

pub(crate) fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).exists());
    if !found && name != "ip" {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "{name} isn't installed");
        eprintln!("{name} isn't installed: what it would judge is not tested");
    }
    found
}

impl Net {
    pub(crate) fn new(test: &str, count: usize, shape: Shape) -> Self {
        let process = std::process::id();
        let folder = tempfile::tempdir().expect("there is room");
        let names: Vec<_> = (0..count).map(|node| format!("hopcast-{test}-{process}-{node}")).collect();
        let routers = (0..count).map(|_| None).collect();
        let mut net = Self { names, interfaces: vec![Vec::new(); count], bridges: Vec::new(), routers, folder };
        for (node, name) in net.names.iter().enumerate() {
            run(Command::new("ip").args(["netns", "add", name]));
            net.ip(node, &["link", "set", "lo", "up"]);
        }
        let links = if shape == Shape::Ring { count } else { count - 1 };
        for link in 0..links {
            let (left, right) = (link, (link + 1) % count);
            net.interfaces[left].push(format!("r{left}"));
            net.interfaces[right].push(format!("l{right}"));
            net.connect(left, right);
        }
        net
    }

    /// Makes the link from a node to the next one.
    pub(crate) fn connect(&self, left: usize, right: usize) {
        let (near, far) = (format!("r{left}"), format!("l{right}"));
        let peer = ["peer", "name", &far, "netns", &self.names[right]];
        self.ip(left, &[&["link", "add", &near, "type", "veth"][..], &peer].concat());
        for (node, device) in [(left, &near), (right, &far)] {
            self.ip(node, &["address", "add", &format!("{}/32", address(node)), "dev", device]);
            self.ip(node, &["link", "set", device, "up"]);
        }
    }

    /// Lays the link from a node to the next one through a bridge in a separate namespace.
    pub(crate) fn bridge(&mut self, left: usize) {
        let right = (left + 1) % self.names.len();
        let name = format!("{}-bridge", self.names[left]);
        run(Command::new("ip").args(["netns", "add", &name]));
        self.ip(left, &["link", "del", &format!("r{left}")]);
        let within = |arguments: &[&str]| run(Command::new("ip").args(["-n", &name]).args(arguments));
        within(&["link", "add", "bridge", "type", "bridge"]);
        within(&["link", "set", "bridge", "up"]);
        for (node, device) in [(left, format!("r{left}")), (right, format!("l{right}"))] {
            self.ip(node, &["link", "add", &device, "type", "veth", "peer", "name", &device, "netns", &name]);
            within(&["link", "set", &device, "master", "bridge", "up"]);
            self.ip(node, &["address", "add", &format!("{}/32", address(node)), "dev", &device]);
            self.ip(node, &["link", "set", &device, "up"]);
        }
        self.bridges.push(name);
    }

    /// Lets the bridge behind a node lose everything; its links stay up.
    pub(crate) fn mute(&self, left: usize) {
        let name = format!("{}-bridge", self.names[left]);
        run(Command::new("ip").args(["-n", &name, "link", "set", &format!("r{left}"), "nomaster"]));
    }

    pub(crate) fn start(&mut self, node: usize, options: &[&str]) {
        let log = self.log_file(node);
        self.start_with(node, options, log);
    }

    pub(crate) fn start_with(&mut self, node: usize, options: &[&str], log: Stdio) {
        self.spawn(self.router(node), node, options, log);
    }

    /// Starts a router that finds the disk full on which it keeps its record.
    pub(crate) fn start_on_full_disk(&mut self, node: usize, options: &[&str]) {
        let log = self.log_file(node);
        self.spawn(self.on_full_disk(node, "/run/hopcast", &[binary(), "node"]), node, options, log);
    }

    fn spawn(&mut self, mut command: Command, node: usize, options: &[&str], log: Stdio) {
        for interface in &self.interfaces[node] {
            command.args(["--interface", interface]);
        }
        command.args(["--network", "10.0.0.0/24"]).args(options).stderr(log).stdin(Stdio::null());
        self.routers[node] = Some(command.spawn().expect("the router starts"));
        self.wait_until(Duration::from_secs(20), "the router runs on its interfaces", |net| {
            let status = net.run(node, &["status", "--json"]);
            let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
            let interfaces = status["interfaces"].as_array().cloned().unwrap_or_default();
            !interfaces.is_empty() && interfaces.iter().all(|interface| interface["state"] == "running")
        });
    }

    /// Ends a router in order; its exit status, unless it goes on for 10 s.
    pub(crate) fn stop(&mut self, node: usize) -> Option<i32> {
        let router = self.routers[node].as_mut().expect("it runs");
        kill(Pid::from_raw(router.id().cast_signed()), Signal::SIGTERM).expect("it is ours");
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            if let Some(status) = router.try_wait().expect("it is ours") {
                self.routers[node] = None;
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Writes the keys in `files`, one behind the other, into the key file of a router, and makes it read them.
    pub(crate) fn change_keys(&self, node: usize, file: &str, files: &[&str]) {
        let keys: String = files.iter().map(|file| std::fs::read_to_string(file).expect("it was made")).collect();
        std::fs::write(file, keys).expect("there is room");
        self.read_again(node);
    }

    /// Makes a router read its files again.
    pub(crate) fn read_again(&self, node: usize) {
        let router = self.routers[node].as_ref().expect("it runs");
        kill(Pid::from_raw(router.id().cast_signed()), Signal::SIGUSR1).expect("it is ours");
    }

    pub(crate) fn kill(&mut self, node: usize) {
        let mut router = self.routers[node].take().expect("it runs");
        router.kill().expect("it is ours");
        router.wait().expect("it ends");
    }

    /// Runs `hopcast node` with these arguments to its end.
    pub(crate) fn run(&self, node: usize, arguments: &[&str]) -> Output {
        self.router(node).args(arguments).output().expect("it can be run")
    }

    pub(crate) fn status(&self, node: usize) -> serde_json::Value {
        let output = self.run(node, &["status", "--json"]);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error} in {output:?}: {}", self.log(node)))
    }

    /// The kernel's routes to hosts that a router has made.
    pub(crate) fn routes(&self, node: usize) -> String {
        let routes = self.ip(node, &["route", "show", "table", "all", "proto", "165"]);
        routes.lines().filter(|line| !line.contains("hopcast-node")).map(|line| format!("{line}\n")).collect()
    }

    pub(crate) fn rules(&self, node: usize) -> usize {
        self.ip(node, &["rule"]).matches("lookup 654").count()
    }

    /// A setting of an interface, or of `all`.
    pub(crate) fn setting(&self, node: usize, interface: &str, name: &str) -> String {
        self.inside(node, || std::fs::read_to_string(setting(interface, name)).expect("it is there").trim().to_owned())
    }

    /// Changes a setting.
    pub(crate) fn set(&self, node: usize, interface: &str, name: &str, value: &str) {
        self.inside(node, || std::fs::write(setting(interface, name), value).expect("root may"));
    }

    /// A program with its arguments, `words`, that finds a full disk at `folder`.
    pub(crate) fn on_full_disk(&self, node: usize, folder: &str, words: &[&str]) -> Command {
        // Mounts of a process in a namespace are its own (ip-netns(8)).
        let script = r#"mkdir -p "$0" && mount -t tmpfs -o mode=755,size=4k full "$0" && head -c 4096 /dev/zero >"$0/rest" && exec "$@""#;
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[node], "sh", "-c", script, folder]).args(words);
        command
    }

    /// Memory of a router, in kB.
    pub(crate) fn memory(&self, node: usize) -> u64 {
        let router = self.routers[node].as_ref().expect("it runs");
        let text = std::fs::read_to_string(format!("/proc/{}/status", router.id())).expect("it runs");
        let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux tells it");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }

    pub(crate) fn make_key(&self, name: &str) -> String {
        make_key(&self.folder.path().join(name))
    }

    /// An identity in a file, and its public key.
    pub(crate) fn make_identity(&self, name: &str) -> (String, String) {
        make_identity(&self.folder.path().join(name))
    }

    /// A file of this name for what all nodes read.
    pub(crate) fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// What `ip` says in a namespace.
    pub(crate) fn ip(&self, node: usize, arguments: &[&str]) -> String {
        run(Command::new("ip").args(["-n", &self.names[node]]).args(arguments))
    }

    /// Does something in a namespace.
    pub(crate) fn inside<T: Send>(&self, node: usize, work: impl FnOnce() -> T + Send) -> T {
        let path = self.path(node);
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                setns(File::open(path).expect("it is there"), CloneFlags::CLONE_NEWNET).expect("root may");
                work()
            });
            thread.join().expect("it does its work")
        })
    }

    pub(crate) fn wait_until(&self, patience: Duration, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + patience;
        while !is_so(self) {
            let logs: String = (0..self.names.len()).map(|node| format!("--- {node}\n{}", self.log(node))).collect();
            assert!(Instant::now() < end, "not within {patience:?}: {what}\n{logs}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts to record the messages on an interface.
    pub(crate) fn capture(&self, node: usize, interface: &str) -> Capture {
        let path = self.folder.path().join("capture.pcapng");
        let mut tshark = Command::new("ip");
        tshark.args(["netns", "exec", &self.names[node], "tshark", "-q", "-i", interface, "-f", "udp port 654", "-w"]);
        let tshark = tshark.arg(&path).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is installed");
        self.wait_until(Duration::from_secs(20), "tshark records", |_| path.exists());
        std::thread::sleep(Duration::from_millis(500));
        Capture { tshark, path }
    }

    fn router(&self, node: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[node], binary(), "node"]);
        command
    }

    /// What a router has logged.
    pub(crate) fn log(&self, node: usize) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{node}.log"))).unwrap_or_default()
    }

    fn log_file(&self, node: usize) -> Stdio {
        Stdio::from(File::create(self.folder.path().join(format!("{node}.log"))).expect("there is room"))
    }

    fn path(&self, node: usize) -> PathBuf {
        PathBuf::from("/run/netns").join(&self.names[node])
    }

    /// What a router leaves to be read by the next one in its namespace.
    pub(crate) fn record(&self, node: usize) -> PathBuf {
        let cookie = self.inside(node, || hopcast_live::platform::netns::cookie().expect("there are sockets"));
        let number = || std::fs::metadata(self.path(node)).expect("it is there").ino();
        match cookie {
            Some(cookie) => format!("/run/hopcast/node-cookie-{cookie}.json"),
            None => format!("/run/hopcast/node-{}.json", number()),
        }
        .into()
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for node in 0..self.names.len() {
            if self.routers[node].is_some() {
                self.kill(node);
            }
            let _ = std::fs::remove_file(self.record(node));
            let _ = Command::new("ip").args(["netns", "del", &self.names[node]]).status();
        }
        for bridge in &self.bridges {
            let _ = Command::new("ip").args(["netns", "del", bridge]).status();
        }
    }
}

/// Messages that are being recorded.
#[derive(Debug)]
pub(crate) struct Capture {
    tshark: Child,
    path: PathBuf,
}

impl Capture {
    /// What tshark says of the messages, and what it finds fault with.
    pub(crate) fn finish(mut self) -> (String, String) {
        kill(Pid::from_raw(self.tshark.id().cast_signed()), Signal::SIGINT).expect("it is ours");
        self.tshark.wait().expect("it ends");
        let read = |filter: &str| run(Command::new("tshark").arg("-r").arg(&self.path).args(["-Y", filter]));
        (read("aodv"), read("_ws.malformed || _ws.expert.severity >= 6291456 || !aodv"))
    }
}

/// The socket whose port [`flow`] sends to. The one of the flow before may be open for a moment yet: a program that another test starts
/// has it until it runs.
fn echo_socket() -> UdpSocket {
    for _ in 0..100 {
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, ECHO)) {
            return socket;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the port is not free within a second");
}

/// Sends a packet each `gap` for `duration`, and returns after how long each came back, if it did.
pub(crate) fn flow(net: &Net, from: usize, to: usize, gap: Duration, duration: Duration) -> Vec<Option<Duration>> {
    let is_done = AtomicBool::new(false);
    let (echo, socket) = (
        net.inside(to, echo_socket),
        net.inside(from, || UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port is free")),
    );
    echo.set_read_timeout(Some(Duration::from_millis(50))).expect("it can wait");
    socket.set_read_timeout(Some(Duration::from_millis(50))).expect("it can wait");
    let count = usize::try_from(duration.as_nanos() / gap.as_nanos()).expect("few");
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut octets = [0; 64];
            while !is_done.load(Ordering::Relaxed) {
                if let Ok((len, source)) = echo.recv_from(&mut octets) {
                    let _ = echo.send_to(&octets[..len], source);
                }
            }
        });
        let receiver = scope.spawn(|| {
            let (mut fates, mut octets) = (vec![None; count], [0; 64]);
            let end = start + duration + Duration::from_secs(1);
            while Instant::now() < end && fates.iter().any(Option::is_none) {
                if let Ok(4) = socket.recv(&mut octets) {
                    let number = u32::from_be_bytes(octets[..4].try_into().expect("four")) as usize;
                    fates[number] = Some(start.elapsed().saturating_sub(gap * number as u32));
                }
            }
            fates
        });
        for number in 0..count as u32 {
            std::thread::sleep((start + gap * number).saturating_duration_since(Instant::now()));
            // Where there is no route, an error of ICMP may come back.
            let _ = socket.send_to(&number.to_be_bytes(), (address(to), ECHO));
        }
        let fates = receiver.join().expect("it receives");
        is_done.store(true, Ordering::Relaxed);
        fates
    })
}

/// What an HTTP server answers to a request.
pub(crate) fn http(server: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(server).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {server}\r\n\r\n").expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text
}

fn setting(interface: &str, name: &str) -> String {
    format!("/proc/sys/net/ipv4/conf/{interface}/{name}")
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}
