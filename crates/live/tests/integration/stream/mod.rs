//! `hopcast stream` over loopback: programs, files, pipes and ports, as users run it.

mod rtp;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use tempfile::TempDir;

use crate::cores::stay_on_one_core;
use crate::pipe::full_pipe;
use crate::processes::{Line, usable};

/// A folder that goes with the test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// A network key in a file.
    fn key(&self, name: &str) -> String {
        let path = self.path(name);
        let made = Command::new(env!("CARGO_BIN_EXE_hopcast-live")).args(["key", &path]).status();
        assert!(made.expect("it is built").success());
        path
    }

    /// A pipe with a name.
    fn pipe(&self, name: &str) -> String {
        mkfifo(&self.0.path().join(name), Mode::S_IRWXU).expect("it can be made");
        self.path(name)
    }

    /// A transport stream of this number of packets at 4 Mb/s with a clock reference each 20 ms, and its file.
    fn film(&self, name: &str, packets: u64) -> (String, Vec<u8>) {
        let octets = film_of(packets);
        fs::write(self.0.path().join(name), &octets).expect("there is room");
        (self.path(name), octets)
    }
}

const PACKET: usize = 188;

fn film_of(packets: u64) -> Vec<u8> {
    // 188 octets each 376 µs: 4 Mb/s.
    let ticks = |nth: u64| nth * 27 * 376;
    (0..packets).flat_map(|nth| transport_packet(nth, (nth.is_multiple_of(53)).then(|| ticks(nth)))).collect()
}

/// The packet of this number; none is like another.
fn transport_packet(nth: u64, clock: Option<u64>) -> [u8; PACKET] {
    let mut octets = [(nth % 251) as u8; PACKET];
    octets[..6].copy_from_slice(&[0x47, 0x01, 0x00, 0x30 | (nth % 16) as u8, 7, 0]);
    if let Some(ticks) = clock {
        octets[5] = 0x10;
        octets[6..12].copy_from_slice(&((ticks / 300) << 15 | 0x7e00 | (ticks % 300)).to_be_bytes()[2..]);
    }
    octets[180..].copy_from_slice(&nth.to_be_bytes());
    octets
}

/// A program that is killed with the test.
struct Program(Child);

impl Program {
    fn start(arguments: &[&str]) -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_hopcast-live")), arguments)
    }

    /// The same by a command that is to be followed by the program's arguments.
    fn start_by(mut command: Command, arguments: &[&str]) -> Self {
        let program = command
            .arg("stream")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        Self(program.expect("it is built"))
    }

    /// A receiver on loopback, and the address at which it listens.
    fn receive(arguments: &[&str]) -> (Self, String) {
        Self::receive_at("127.0.0.1:0", arguments)
    }

    fn receive_at(listen: &str, arguments: &[&str]) -> (Self, String) {
        Self::start(&[&["receive", "--listen", listen], arguments].concat()).listening()
    }

    /// Once it listens: itself, and where.
    fn listening(self) -> (Self, String) {
        let mut program = self;
        let mut lines = BufReader::new(program.0.stderr.take().expect("it has one"));
        let address = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).expect("text") > 0, "it ended");
            if let Some(address) = line.trim().strip_prefix("hopcast: listening at ") {
                break address.to_owned();
            }
        };
        // What is not read does not hold it up.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        (program, address)
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).expect("it is ours");
    }

    /// Waits until it listens to signals: it then holds two sockets to be woken by, and one more for each of three signals.
    fn heeds_signals(&self) {
        let path = format!("/proc/{}/fd", self.0.id());
        let sockets = || {
            let entries = fs::read_dir(&path).expect("it runs").filter_map(Result::ok);
            let targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
            targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
        };
        while sockets() < 5 {
            pause(Duration::from_millis(5));
        }
        // The last of them may just have been made.
        pause(Duration::from_millis(50));
    }

    /// Memory in kB.
    fn memory(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it runs");
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("Linux tells it");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Its status within `limit`; what it wrote to standard error since.
    fn end(mut self, limit: Duration) -> (Option<i32>, String) {
        let step = Duration::from_millis(5);
        let mut waited = Duration::ZERO;
        let status = loop {
            if let Some(status) = self.0.try_wait().expect("it is ours") {
                break status;
            }
            assert!(waited < limit, "it goes on after {limit:?}");
            pause(step);
            waited += step;
        };
        let mut text = String::new();
        if let Some(mut stderr) = self.0.stderr.take() {
            stderr.read_to_string(&mut text).expect("text");
        }
        (status.code(), text)
    }

    fn stdout(&mut self) -> ChildStdout {
        self.0.stdout.take().expect("it has one")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pause(time: Duration) {
    std::thread::sleep(time);
}

const LIMIT: Duration = Duration::from_secs(30);

/// Sends a file from one program to another; what came out.
fn carry(send: &[&str], receive: &[&str], film: &str, folder: &Folder) -> Vec<u8> {
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&[&["--output", &output], receive].concat());
    let sender = Program::start(&[&["send", "--to", &address, "--input", film], send].concat());
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    fs::read(output).expect("it was written")
}

#[test]
fn a_file_arrives_as_it_was_over_each_variant_and_pairing() {
    let folder = Folder::new();
    // 0.75 s of media; not a whole number of RTP packets.
    let (film, octets) = folder.film("film.ts", 2000);
    for (send, receive) in
        [("adtfrc", "adtfrc"), ("adtfrc", "tfrc"), ("tfrc", "adtfrc"), ("tfrc", "tfrc"), ("udp", "udp")]
    {
        let found = carry(&["--variant", send], &["--variant", receive], &film, &folder);
        assert!(found == octets, "{send} to {receive}: {} of {} octets", found.len(), octets.len());
    }
}

#[test]
fn a_file_arrives_as_it_was_with_a_key_and_with_correction() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 1000);
    let key = folder.key("key");
    let found = carry(&["--key", &key], &["--key", &key], &film, &folder);
    assert!(found == octets, "with a key: {} octets", found.len());
    let found = carry(&["--fec", "10+2", "--key", &key], &["--key", &key], &film, &folder);
    assert!(found == octets, "with both: {} octets", found.len());
}

#[test]
fn who_has_no_key_gets_nothing_and_changes_nothing() {
    let folder = Folder::new();
    let (film, _) = folder.film("film.ts", 1000);
    let [key, other] = ["key", "other"].map(|name| folder.key(name));
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output, "--key", &key]);
    for wrong in [&["--key", &other][..], &[]] {
        let sender = Program::start(&[&["send", "--to", &address, "--input", &film], wrong].concat());
        pause(Duration::from_millis(300));
        sender.signal(Signal::SIGINT);
        assert_eq!(sender.end(LIMIT).0, Some(130));
    }
    receiver.signal(Signal::SIGTERM);
    assert_eq!(receiver.end(LIMIT).0, Some(143));
    assert_eq!(fs::read(output).expect("it was made").len(), 0);
}

/// The commonest mistakes: both ends wait in silence otherwise.
#[test]
fn ends_that_do_not_fit_say_what_has_to_be_the_same() {
    let folder = Folder::new();
    let (film, _) = folder.film("film.ts", 20_000);
    let [key, other] = ["key", "other"].map(|name| folder.key(name));
    let cases: [[&[&str]; 2]; 5] = [
        [&["--key", &key], &["--key", &other]],
        [&["--key", &key], &[]],
        [&[], &["--key", &key]],
        [&["--variant", "udp"], &[]],
        [&[], &["--variant", "udp"]],
    ];
    let pairs = cases.map(|[receiver, sender]| {
        let address = free_port();
        let output = ["receive", "--listen", &address, "--output", "/dev/null"];
        let receiver = Program::start(&[&output[..], receiver].concat());
        (receiver, address, sender)
    });
    pause(Duration::from_millis(500));
    let pairs = pairs.map(|(receiver, address, sender)| {
        (receiver, Program::start(&[&["send", "--to", &address, "--input", &film][..], sender].concat()), sender)
    });
    pause(Duration::from_millis(6000));
    for (receiver, sending, sender) in pairs {
        for program in [&sending, &receiver] {
            program.signal(Signal::SIGINT);
        }
        let (told, asked) = (receiver.end(LIMIT).1, sending.end(LIMIT).1);
        assert_eq!(
            told.matches("--key and --variant have to be the same at both ends").count(),
            1,
            "{sender:?}: {told}"
        );
        let is_answered = sender.contains(&"udp");
        assert_eq!(asked.matches("has not answered yet").count(), usize::from(!is_answered), "{sender:?}: {asked}");
    }
    let (receiver, address) = Program::receive(&["--output", "/dev/null"]);
    let (status, told) = Program::start(&["send", "--to", &address, "--input", &film]).end(LIMIT);
    assert_eq!(status, Some(0), "{told}");
    assert!(!told.contains("has not answered yet"), "{told}");
    drop(receiver);
}

#[test]
fn a_pipe_is_sent_as_fast_as_the_rate_allows_and_waits_while_nobody_listens() {
    let folder = Folder::new();
    let octets = film_of(5000);
    let address = free_port();
    let mut sender = Program::start(&["send", "--to", &address]);
    let mut pipe = sender.0.stdin.take().expect("it has one");
    let written = octets.clone();
    let writer = std::thread::spawn(move || pipe.write_all(&written));
    pause(Duration::from_millis(300));
    let (mut receiver, _) = Program::receive_at(&address, &[]);
    let mut found = Vec::new();
    receiver.stdout().read_to_end(&mut found).expect("it is read");
    writer.join().expect("no panic").expect("all is written");
    assert_eq!(sender.end(LIMIT).0, Some(0));
    assert!(found == octets, "{} of {} octets", found.len(), octets.len());
    drop(folder);
}

#[test]
fn pipes_with_names_are_waited_for_and_carry_all() {
    let folder = Folder::new();
    let octets = film_of(5000);
    let [input, output] = ["input", "output"].map(|name| folder.pipe(name));
    let receiver = Program::start(&["receive", "--listen", "127.0.0.1:0", "--output", &output]);
    pause(Duration::from_millis(200));
    let reader = std::thread::spawn(move || {
        let mut pipe = fs::File::open(output).expect("it is there");
        // It is full for a while.
        pause(Duration::from_millis(500));
        let mut found = Vec::new();
        pipe.read_to_end(&mut found).map(|_| found)
    });
    let (receiver, address) = receiver.listening();
    let sender = Program::start(&["send", "--to", &address, "--input", &input]);
    pause(Duration::from_millis(200));
    fs::write(&input, &octets).expect("it is read");
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    let found = reader.join().expect("no panic").expect("it is read");
    assert!(found == octets, "{} of {} octets", found.len(), octets.len());
}

#[test]
fn a_signal_ends_the_wait_for_the_other_end_of_a_pipe() {
    let folder = Folder::new();
    let pipe = folder.pipe("pipe");
    let send = ["send", "--to", "127.0.0.1:9", "--input", &pipe];
    let receive = ["receive", "--listen", "127.0.0.1:0", "--output", &pipe];
    for (arguments, signal, expected) in [
        (send, Signal::SIGINT, 130),
        (send, Signal::SIGTERM, 143),
        (receive, Signal::SIGINT, 130),
        (receive, Signal::SIGTERM, 143),
    ] {
        let program = Program::start(&arguments);
        program.heeds_signals();
        program.signal(signal);
        let (status, text) = program.end(LIMIT);
        assert_eq!(status, Some(expected), "{arguments:?}: {text}");
        assert!(text.ends_with("interrupted\n"), "{text}");
    }
}

#[test]
fn a_signal_ends_the_wait_for_a_reader_that_has_stopped() {
    let folder = Folder::new();
    // More than a pipe holds.
    let (film, _) = folder.film("film.ts", 5000);
    let (mut receiver, address) = Program::receive(&[]);
    let sender = Program::start(&["send", "--to", &address, "--input", &film, "--pace", "allowed"]);
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    pause(Duration::from_millis(300));
    assert!(receiver.0.try_wait().expect("it is ours").is_none(), "there is more to be read");
    receiver.signal(Signal::SIGTERM);
    assert_eq!(receiver.end(LIMIT).0, Some(143));
}

/// A free port of loopback.
fn free_port() -> String {
    UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").to_string()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hopcast-live"));
    command.arg("stream").args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_standard_error_that_takes_nothing_stops_no_stream() {
    let folder = Folder::new();
    // 3 s of media, so that there are statistics on the way.
    let (film, octets) = folder.film("film.ts", 8000);
    let (_reader, full) = full_pipe();
    let (left, closed) = std::io::pipe().expect("there is room");
    drop(left);
    let device = || fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    for stderr in [[Stdio::from(device()), Stdio::from(device())], [Stdio::from(full), Stdio::from(closed)]] {
        let (address, output) = (free_port(), folder.path("out.ts"));
        let [one, other] = stderr;
        let mut receiver = command(&["receive", "--listen", &address, "--output", &output]);
        let receiver = Program(receiver.stderr(one).spawn().expect("it is built"));
        let mut sender = command(&["send", "--to", &address, "--input", &film, "--pace", "allowed"]);
        let sender = Program(sender.stderr(other).spawn().expect("it is built"));
        assert_eq!(sender.end(LIMIT).0, Some(0));
        assert_eq!(receiver.end(LIMIT).0, Some(0));
        assert!(fs::read(output).expect("it was made") == octets);
    }
}

#[test]
fn statistics_that_nobody_reads_stop_no_stream_and_the_last_wait_for_a_signal_alone() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 8000);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output]);
    let (_reader, full) = full_pipe();
    let mut sender = command(&["send", "--to", &address, "--input", &film, "--json"]);
    let mut sender = Program(sender.stdout(full).spawn().expect("it is built"));
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    assert!(fs::read(output).expect("it was made") == octets);
    pause(Duration::from_millis(300));
    assert!(sender.0.try_wait().expect("it is ours").is_none(), "the last line is to be read");
    sender.signal(Signal::SIGTERM);
    assert_eq!(sender.end(LIMIT).0, Some(143));
}

#[test]
fn of_a_name_with_several_addresses_the_one_that_is_served_is_found() {
    if !nix::unistd::geteuid().is_root() || UdpSocket::bind("[::1]:0").is_err() {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "it takes root and IPv6");
        println!("skipped: it takes root and IPv6");
        return;
    }
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 1000);
    let hosts = folder.path("hosts");
    fs::write(&hosts, "::1 twofold\n127.0.0.1 twofold\n").expect("there is room");
    for variant in ["adtfrc", "udp"] {
        let output = folder.path("out.ts");
        let (receiver, address) = Program::receive(&["--output", &output, "--variant", variant]);
        let to = address.replace("127.0.0.1", "twofold");
        let script = r#"mount --bind "$0" /etc/hosts && exec "$@""#;
        let mut mounted = Command::new("unshare");
        mounted.args(["--mount", "sh", "-c", script, &hosts, env!("CARGO_BIN_EXE_hopcast-live")]);
        let sender = Program::start_by(mounted, &["send", "--to", &to, "--input", &film, "--variant", variant]);
        let (status, text) = sender.end(LIMIT);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(receiver.end(LIMIT).0, Some(0));
        let found = fs::read(&output).expect("it was made");
        // Over UDP, what was refused is lost.
        assert!(found == octets || variant == "udp" && !found.is_empty(), "{} octets; {text}", found.len());
    }
}

#[test]
fn rtp_goes_from_port_to_port_as_it_is() {
    let player = UdpSocket::bind("127.0.0.1:0").expect("a port");
    player.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
    let output = format!("rtp://{}", player.local_addr().expect("bound"));
    let (receiver, address) = Program::receive(&["--output", &output]);
    let encoder = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = UdpSocket::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let sender = Program::start(&["send", "--to", &address, "--input", &format!("rtp://{port}")]);
    pause(Duration::from_millis(200));
    let mut packets: Vec<Vec<u8>> = (0..50_u8)
        .map(|nth| {
            let mut packet = vec![nth; 100 + usize::from(nth)];
            packet[..12].copy_from_slice(&[0x80, 96, 0, nth, 0, 0, nth, 0, 1, 2, 3, 4]);
            packet
        })
        .collect();
    // RTCP that comes by the same port.
    packets.push(vec![0x80, 200, 0, 6, 1, 2, 3, 4, 0, 0, 0, 0]);
    let mut buffer = [0; 2000];
    for packet in &packets {
        encoder.send_to(packet, port).expect("sent");
        let len = player.recv(&mut buffer).expect("it arrives");
        assert_eq!(buffer[..len], packet[..]);
    }
    sender.signal(Signal::SIGINT);
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(130), "{text}");
    assert!(text.contains("51 packets sent, 0 dropped"), "{text}");
    // The close reached the receiver.
    assert_eq!(receiver.end(LIMIT).0, Some(0));
}

#[test]
fn a_receiver_that_was_killed_is_found_again_and_so_is_a_sender() {
    // ADTFRC takes the path for gone, and probes it each 2 s.
    killed_and_found(&Folder::new(), &[], Duration::from_millis(3000));
}

#[test]
fn with_a_key_a_receiver_that_was_killed_is_found_again_and_so_is_a_sender() {
    let folder = Folder::new();
    let key = folder.key("key");
    // A sender that hears nothing begins another session after 1 s, and probes then.
    killed_and_found(&folder, &["--key", &key], Duration::from_millis(4500));
}

/// Both ends are killed, one after the other, and started again; the receiver has so much time to be found.
fn killed_and_found(folder: &Folder, options: &[&str], time: Duration) {
    // 8 s of media.
    let (film, octets) = folder.film("film.ts", 21_000);
    let [first, second] = ["1.ts", "2.ts"].map(|name| folder.path(name));
    let (receiver, address) = Program::receive(&[&["--output", &first][..], options].concat());
    let send = ["send", "--to", &address, "--input", &film];
    let sender = Program::start(&[&send[..], options].concat());
    pause(Duration::from_millis(700));
    receiver.signal(Signal::SIGKILL);
    receiver.end(LIMIT);
    let (receiver, _) = Program::receive_at(&address, &[&["--output", &second][..], options].concat());
    pause(time);
    sender.signal(Signal::SIGKILL);
    sender.end(LIMIT);
    let sender = Program::start(&[&send[..], &["--pace", "allowed"], options].concat());
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    let found = fs::read(&second).expect("it was made");
    // The whole of the film at the end, and some of the first sender's before it.
    assert!(found.len() > octets.len() + 100_000 && found.ends_with(&octets), "{}", found.len());
}

#[test]
fn garbage_changes_nothing() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 2000);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output]);
    let sender = Program::start(&["send", "--to", &address, "--input", &film]);
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a port");
    for nth in 0..2000_u32 {
        let garbage: Vec<u8> =
            (0..nth % 97).map(|at| (nth.wrapping_mul(2_654_435_761).wrapping_add(at * 40_503) >> 11) as u8).collect();
        stranger.send_to(&garbage, &address).expect("sent");
        if nth.is_multiple_of(50) {
            pause(Duration::from_millis(10));
        }
    }
    assert_eq!(sender.end(LIMIT).0, Some(0));
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    assert!(fs::read(output).expect("it was made") == octets);
}

#[test]
fn requests_of_strangers_take_little_memory() {
    let folder = Folder::new();
    let (film, _) = folder.film("film.ts", 100);
    let listener = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let there = listener.local_addr().expect("it has one").to_string();
    let _sender = Program::start(&["send", "--to", &there, "--input", &film]);
    let mut request = [0; 1500];
    let len = listener.recv(&mut request).expect("a Request");
    let (receiver, address) = Program::receive(&["--output", &folder.path("out.ts")]);
    let before = receiver.memory();
    for nth in 0..2048_u16 {
        let [high, low] = nth.to_be_bytes();
        let stranger = UdpSocket::bind((std::net::Ipv4Addr::new(127, 1, high, low), 0)).expect("a port");
        stranger.send_to(&request[..len], &address).expect("sent");
        // So that its socket has room.
        if nth.is_multiple_of(64) {
            pause(Duration::from_millis(10));
        }
    }
    pause(Duration::from_millis(500));
    // 1024 of them are remembered.
    let grown = receiver.memory().saturating_sub(before);
    assert!(grown < 8 * 1024, "{grown} kB");
}

#[test]
fn what_is_wrong_is_told_and_nothing_is_run() {
    let folder = Folder::new();
    let [text, short, empty] = ["text", "short", "empty"].map(|name| folder.path(name));
    fs::write(&text, "no film".repeat(100)).expect("there is room");
    fs::write(&short, [0x47; 187]).expect("there is room");
    fs::write(&empty, []).expect("there is room");
    for (arguments, wrong) in [
        (&["send", "--to", "127.0.0.1:9", "--input", &short][..], "no MPEG transport stream: 187 bytes"),
        (&["send", "--to", "127.0.0.1:9", "--input", &empty], "no MPEG transport stream: 0 bytes"),
        (&["send", "--to", "127.0.0.1:0", "--input", &text], "a port from 1 to 65535 is wanted"),
        (
            &["send", "--to", "127.0.0.1:9", "--input", &text],
            "no MPEG transport stream: byte 0 is 0x6e, should be 0x47",
        ),
        (&["send", "--to", "127.0.0.1:9", "--input", "/nowhere"], "/nowhere: No such file"),
        (&["send", "--to", "127.0.0.1:many", "--input", &text], "expected HOST or HOST:PORT"),
        (&["send", "--to", "127.0.0.1", "--input", &text, "--fec", "0+3"], "at least one of each is wanted"),
        (&["send", "--to", "127.0.0.1", "--input", &text, "--fec", "20+4", "--variant", "udp"], "over udp"),
        (&["send", "--to", "127.0.0.1", "--ladder", "fast=a.ts"], "rate fast"),
        (&["send", "--to", "127.0.0.1", "--input", &text, "--key", "/nowhere"], "key file /nowhere"),
        (&["receive", "--listen", "192.0.2.1:5"], "192.0.2.1:5"),
        (&["receive", "--output", "/nowhere/x"], "/nowhere/x"),
        (&["receive", "--json"], "standard output is where the media goes"),
        (&["send", "--to", "127.0.0.1", "--input", &text, "--max-rate", "1Mb/s"], "--max-rate: it is for RTP"),
        (
            &["send", "--to", "127.0.0.1", "--input", &text, "--congestion", "gcc", "--variant", "tfrc"],
            "--congestion: it is for RTP",
        ),
        (&["send", "--to", "127.0.0.1", "--congestion", "gcc", "--fec", "20+4"], "over rtp"),
        (
            &["send", "--to", "127.0.0.1", "--congestion", "none", "--min-rate", "2Mb/s", "--max-rate", "1Mb/s"],
            "1000000 b/s is less than the least rate",
        ),
        (&["send", "--to", "127.0.0.1", "--congestion", "gcc", "--ecn"], "gcc does not react to marks"),
        (&["send", "--to", "127.0.0.1", "--congestion", "nada", "--ecn", "--feedback", "twcc"], "tells no marks"),
        (&["receive", "--output", "/dev/null", "--feedback-interval", "1s"], "it is for RTP"),
        (&["receive", "--output", "/dev/null", "--retransmission", "1s"], "--retransmission: it is for RTP"),
        (
            &["receive", "--output", "/dev/null", "--retransmission", "1s", "--feedback", "none"],
            "--retransmission: --feedback none asks for nothing",
        ),
        (
            &["receive", "--output", "/dev/null", "--retransmission", "-1s", "--variant", "rtp"],
            "--retransmission -1s: a time is not negative",
        ),
        (&["send", "--to", "127.0.0.1", "--input", &text, "--retransmission", "1s"], "--retransmission: it is for RTP"),
        (&["send", "--to", "127.0.0.1", "--input", "encoder:steady"], "--input encoder:…: it is for RTP"),
        (
            &["send", "--to", "127.0.0.1", "--congestion", "gcc", "--input", "encoder:fast"],
            "--input encoder:fast: encoder:steady, encoder:transient or encoder:content-sharing is wanted",
        ),
        (
            &["send", "--to", "127.0.0.1", "--input", &text, "--retransmission", "90s", "--variant", "rtp"],
            "--retransmission 90s: at least 1 ms and at most 60 s are wanted",
        ),
        (&["receive", "--output", "/dev/null", "--feedback", "ccfb", "--variant", "udp"], "it is for RTP"),
        (&["receive", "--output", "/dev/null", "--jitter-buffer", "fast"], "--jitter-buffer fast: fixed:100ms"),
        (&["receive", "--playout", "soon", "--output", "/dev/null"], "--playout soon"),
    ] {
        let (status, text) = Program::start(arguments).end(LIMIT);
        assert_eq!(status, Some(2), "{arguments:?}: {text}");
        assert!(text.contains(wrong), "{arguments:?}: {text}");
    }
}

#[test]
fn a_closed_pipe_is_an_end_and_a_full_disk_a_failure() {
    let folder = Folder::new();
    let (film, _) = folder.film("film.ts", 3000);
    let (mut receiver, address) = Program::receive(&[]);
    drop(receiver.stdout());
    let sender = Program::start(&["send", "--to", &address, "--input", &film]);
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    sender.signal(Signal::SIGINT);
    assert_eq!(sender.end(LIMIT).0, Some(130));
    let mut receiver = Program::start(&["receive", "--listen", "127.0.0.1:0", "--output", "/dev/full", "--json"]);
    let mut line = String::new();
    BufReader::new(receiver.stdout()).read_line(&mut line).expect("text");
    let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let address = event["peer"].as_str().expect("its address").to_owned();
    let sender = Program::start(&["send", "--to", &address, "--input", &film]);
    let (status, text) = receiver.end(LIMIT);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("/dev/full: No space left on device"), "{text}");
    drop(sender);
}

#[test]
fn statistics_are_lines_of_json() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 4000);
    let output = folder.path("out.ts");
    let mut receiver = Program::start(&["receive", "--listen", "127.0.0.1:0", "--output", &output, "--json"]);
    let mut received = BufReader::new(receiver.stdout());
    let mut line = String::new();
    received.read_line(&mut line).expect("text");
    let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let address = event["peer"].as_str().expect("its address").to_owned();
    let socket = folder.path("rate");
    let arguments = ["send", "--to", &address, "--input", &film, "--json", "--rate-feedback", &socket];
    let mut sender = Program::start(&arguments);
    pause(Duration::from_millis(500));
    let mut feedback = BufReader::new(UnixStream::connect(&socket).expect("it listens"));
    let mut line = String::new();
    feedback.read_line(&mut line).expect("text");
    let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert!(told["allowed_rate_bps"].as_f64().is_some_and(|rate| rate > 1e5), "{told}");
    let read = |text: String| {
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect::<Vec<serde_json::Value>>()
    };
    let mut text = String::new();
    sender.stdout().read_to_string(&mut text).expect("text");
    let sent = read(text);
    let mut text = String::new();
    received.read_to_string(&mut text).expect("text");
    let received = read(text);
    assert!(!Path::new(&socket).exists(), "it goes with the sender");
    let packets = octets.len().div_ceil(7 * PACKET) as u64;
    let end = sent.last().expect("a line");
    assert_eq!((&end["event"], end["packets_sent"].as_u64()), (&"end".into(), Some(packets)));
    let end = received.last().expect("a line");
    assert_eq!((&end["event"], end["packets_delivered"].as_u64()), (&"end".into(), Some(packets)));
    assert_eq!((end["packets_lost"].as_u64(), end["hiccups"].as_u64()), (Some(0), Some(0)));
    // 1.5 s of media: one line of each in between, at least.
    let line = received.iter().find(|line| line["event"] == "statistics").expect("one a second");
    assert!(line["stt_pps"].as_f64().is_some_and(|rate| rate > 1.0), "{line}");
    assert!(line["rtt_s"].as_f64().is_some_and(|rtt| rtt > 0.0 && rtt < 0.2), "{line}");
    let line = sent.iter().find(|line| line["event"] == "statistics").expect("one a second");
    assert_eq!(line["state"], "OPEN");
}

/// A library for `LD_PRELOAD`: the machine's date is ten days ahead and ten days behind by turns, each time that it is asked for.
const STEPPED: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    static int ahead;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, at);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) at->tv_sec += (ahead = !ahead) ? 864000 : -864000;
    return result;
}

int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    *at = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return at ? (*at = now.tv_sec) : now.tv_sec;
}
"#;

#[test]
fn a_date_that_is_set_changes_nothing() {
    let folder = Folder::new();
    let [source, library] = ["stepped.c", "stepped.so"].map(|name| folder.path(name));
    fs::write(&source, STEPPED).expect("there is room");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source, "-ldl"]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "cc is missing");
        println!("skipped: cc is missing");
        return;
    }
    let stepped = |program: &str| {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", &library);
        command
    };
    let date = |mut command: Command| -> i64 {
        let told = command.arg("+%s").output().expect("it is there").stdout;
        String::from_utf8_lossy(&told).trim().parse().expect("seconds")
    };
    assert!((date(stepped("date")) - date(Command::new("date"))).abs() > 800_000, "the library does what it should");
    // 0.75 s of media.
    let (film, octets) = folder.film("film.ts", 2000);
    let (key, output) = (folder.key("key"), folder.path("out.ts"));
    for arguments in [&["--variant", "adtfrc"][..], &["--variant", "udp"], &["--key", &key]] {
        let start =
            |end: &[&str]| Program::start_by(stepped(env!("CARGO_BIN_EXE_hopcast-live")), &[end, arguments].concat());
        let (receiver, address) = start(&["receive", "--listen", "127.0.0.1:0", "--output", &output]).listening();
        let (status, text) = start(&["send", "--to", &address, "--input", &film]).end(LIMIT);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(receiver.end(LIMIT).0, Some(0));
        assert!(fs::read(&output).expect("it was written") == octets, "{arguments:?}: {text}");
    }
}

/// Datagrams, and whether they are the receiver's.
type Capture = Vec<(bool, Vec<u8>)>;

/// What a sender and a receiver say to each other, the receiver at `to`: it goes by way of an address of this host, as far as
/// `passes` says of the nth datagram of either end. Ends half a second after the last one.
fn relay(
    to: String,
    mut passes: impl FnMut(bool, u64) -> bool + Send + 'static,
) -> (String, std::thread::JoinHandle<Capture>) {
    let relay = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let here = relay.local_addr().expect("bound").to_string();
    let carry = move || {
        let (mut capture, mut client, mut buffer, mut counts) = (Vec::new(), None, vec![0; 1 << 16], [0; 2]);
        while let Ok((len, from)) = relay.recv_from(&mut buffer) {
            relay.set_read_timeout(Some(Duration::from_millis(500))).expect("set");
            let is_receiver = from.to_string() == to;
            counts[usize::from(is_receiver)] += 1;
            capture.push((is_receiver, buffer[..len].to_vec()));
            if !passes(is_receiver, counts[usize::from(is_receiver)]) {
                continue;
            }
            if is_receiver {
                relay.send_to(&buffer[..len], client.expect("it has spoken")).expect("sent");
            } else {
                client = Some(from);
                relay.send_to(&buffer[..len], &to).expect("sent");
            }
        }
        capture
    };
    (here, std::thread::spawn(carry))
}

#[test]
fn losses_on_the_way_are_corrected() {
    let folder = Folder::new();
    // 1.5 s of media.
    let (film, octets) = folder.film("film.ts", 4000);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output]);
    // One of thirty, but for the handshake and the end.
    let (here, _) =
        relay(address, |is_receiver, nth| is_receiver || !(10..600).contains(&nth) || !nth.is_multiple_of(30));
    let sender = Program::start(&["send", "--to", &here, "--input", &film, "--fec", "20+4"]);
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    let found = fs::read(output).expect("it was made");
    assert!(found == octets, "{} of {} octets; {text}", found.len(), octets.len());
}

/// tshark, or why there is none.
fn tshark() -> bool {
    let found = Command::new("tshark").arg("--version").stdout(Stdio::null()).status().is_ok();
    assert!(found || std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "tshark is missing");
    if !found {
        println!("skipped: tshark is missing");
    }
    found
}

#[test]
fn tshark_reads_what_is_sent() {
    if !tshark() {
        return;
    }
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 700);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output]);
    let (here, relay) = relay(address, |_, _| true);
    let sender = Program::start(&["send", "--to", &here, "--input", &film]);
    assert_eq!(sender.end(LIMIT).0, Some(0));
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    let capture = relay.join().expect("no panic");
    assert!(fs::read(output).expect("it was made") == octets);
    let path = folder.path("capture.pcap");
    fs::write(&path, pcap(&capture)).expect("there is room");
    let read = Command::new("tshark")
        .args(["-r", &path, "-T", "fields"])
        .args(["-e", "dccp.type", "-e", "dccp.service_code", "-e", "_ws.malformed", "-e", "data.len"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&read.stderr).into_owned();
    assert!(read.status.success(), "{said}");
    let text = String::from_utf8(read.stdout).expect("text");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), capture.len(), "{text}");
    assert!(lines.iter().all(|fields| fields[2].is_empty()), "{text}");
    // RTPV, in the Request and the Response alone.
    let served = lines.iter().filter(|fields| fields[1] == u32::from_be_bytes(*b"RTPV").to_string());
    assert_eq!(served.count(), 2, "{text}");
    let of_type = |kind: &str| lines.iter().filter(|fields| fields[0] == kind).count();
    // Request, Response, data, Close, Reset; who is busy for two round trips is sent another Close.
    assert_eq!((of_type("0"), of_type("1")), (1, 1), "{text}");
    assert!(of_type("6") >= 1 && of_type("7") >= 1, "{text}");
    assert_eq!(of_type("2") + of_type("4"), 100, "{text}");
    // RTP packets of seven transport packets.
    let data = lines.iter().filter(|fields| fields[3] == (12 + 7 * PACKET).to_string());
    assert_eq!(data.count(), 100, "{text}");
}

/// A capture of what is in datagrams between 10.0.0.1 and 10.0.0.2, straight in IPv4: tshark looks for DCCP there alone.
fn pcap(datagrams: &[(bool, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (nth, (is_server, payload)) in (0_u32..).zip(datagrams) {
        let len = 20 + payload.len();
        for word in [nth / 1000, nth % 1000 * 1000, len as u32, len as u32] {
            file.extend(word.to_le_bytes());
        }
        let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let ends = if *is_server { [server, client] } else { [client, server] };
        let [high, low] = (len as u16).to_be_bytes();
        file.extend([0x45, 0, high, low, 0, 0, 0x40, 0, 64, 33, 0, 0]);
        file.extend(ends.concat());
        file.extend(payload);
    }
    file
}

fn last_line(mut program: Program) -> serde_json::Value {
    let mut text = String::new();
    program.stdout().read_to_string(&mut text).expect("text");
    serde_json::from_str(text.lines().last().expect("a line")).expect("JSON")
}

/// Over a wire without delay, as fast as it goes: with the cores that there are, and with both ends on one.
#[test]
#[ignore = "slow"]
fn a_gigabit_a_second_goes_over_a_wire() {
    let Some(line) = usable(Line::new(2)) else { return };
    let start = |place, arguments: &[&str]| {
        let program: Command = line.place(place).command(env!("CARGO_BIN_EXE_hopcast-live"));
        Program::start_by(program, arguments)
    };
    let folder = Folder::new();
    // 500 MB.
    let film = folder.path("film.ts");
    let part = film_of(20_000);
    let mut file = fs::File::create(&film).expect("it can be made");
    (0..133).for_each(|_| file.write_all(&part).expect("there is room"));
    for cores in ["all cores", "one core"] {
        if cores == "one core" {
            stay_on_one_core();
        }
        for variant in ["adtfrc", "tfrc"] {
            let arguments = ["receive", "--listen", "10.88.0.2", "--output", "/dev/null", "--variant", variant];
            let (receiver, _) = start(1, &arguments).listening();
            let arguments =
                ["send", "--to", "10.88.0.2", "--input", &film, "--pace", "allowed", "--variant", variant, "--json"];
            let sent = last_line(start(0, &arguments));
            assert_eq!(receiver.end(LIMIT).0, Some(0));
            let rate = sent["rate_bps"].as_f64().expect("it was sent");
            println!("{variant}, {cores}: {:.2} Gb/s", rate * 1e-9);
            assert!(rate >= 1e9, "{variant}, {cores}: {sent}");
        }
    }
}
