//! Tests over loopback, which loses nothing that its sockets have room for.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::processes::HERE;

const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// `what` (`receive` or `relay`), at a free port.
fn daemon(what: &[&str]) -> crate::processes::Daemon {
    HERE.daemon(&[what, &LISTEN].concat())
}

/// A folder of a test's own, gone with it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

fn status_and_complaint(done: &Output) -> (Option<i32>, String) {
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn all_units_arrive_over_either_transport() {
    let receiver = daemon(&["receive"]);
    // A wait, so that no buffer of loopback's overflows.
    for (transport, wait) in [("udp", "100us"), ("tcp", "0 s")] {
        let plan = ["--to", &receiver.address, "--transport", transport, "--wait", wait];
        let document = HERE.measure(&[&plan[..], &["--size", "1 kB", "--bytes", "500500 B"]].concat());
        let flow = &document["flows"][0];
        assert_eq!((&flow["protocol"], &flow["sent_packets"]), (&transport.into(), &501.into()));
        assert_eq!((&flow["sent_bytes"], &flow["received_bytes"]), (&500_500.into(), &500_500.into()));
        assert_eq!((&flow["received_packets"], &flow["lost_packets"]), (&501.into(), &0.into()));
        // One host has one clock, but two programs start it at different times.
        let [delay, uncertainty] =
            ["delay_mean_s", "clock_uncertainty_s"].map(|field| flow[field].as_f64().expect("it was measured"));
        assert!(delay < 0.5 && uncertainty < 0.1, "{delay} {uncertainty}");
    }
}

#[test]
fn relays_pass_everything_on() {
    let receiver = daemon(&["receive"]);
    let relays = [daemon(&["relay"]), daemon(&["relay"])];
    let via = format!("{},{}", relays[0].address, relays[1].address);
    for (transport, wait) in [("udp", "200us"), ("tcp", "0 s")] {
        let plan = ["--to", &receiver.address, "--via", &via, "--transport", transport, "--wait", wait];
        let document = HERE.measure(&[&plan[..], &["--size", "2 kB", "--bytes", "600 kB"]].concat());
        assert_eq!(document["flows"][0]["received_packets"], 300);
        assert_eq!(
            (&document["totals"]["packets_forwarded"], &document["totals"]["packets_delivered"]),
            (&600.into(), &300.into())
        );
        for relay in &relays {
            let nodes = document["nodes"].as_array().expect("a list");
            let node = nodes.iter().find(|node| node["name"] == relay.address).expect("each relay is told of");
            assert_eq!((&node["received"], &node["forwarded"]), (&300.into(), &300.into()));
        }
    }
}

/// Loopback loses nothing: what is missing found no room in a socket, and each host tells its own.
#[test]
fn what_finds_no_room_in_a_socket_is_told_apart_from_losses_of_the_path() {
    let receiver = daemon(&["receive"]);
    let relay = daemon(&["relay"]);
    for via in [&[][..], &["--via", &relay.address]] {
        let plan = ["--to", &receiver.address, "--socket-buffer", "8KiB", "--size", "1 kB", "--bytes", "20 MB"];
        let document = HERE.measure(&[&plan[..], via].concat());
        let flow = &document["flows"][0];
        let count = |value: &Value| value.as_u64().expect("it was counted");
        let nodes = document["nodes"].as_array().expect("a list");
        let overflowed = nodes.iter().map(|node| count(&node["overflowed"])).sum::<u64>();
        assert!(overflowed > 0, "a socket that holds few datagrams: {flow}");
        assert_eq!(count(&flow["lost_packets"]), overflowed, "{document}");
        let at_end = nodes.iter().find(|node| node["name"] == receiver.address).expect("the receiver is told of");
        assert_eq!(flow["overflowed_packets"], at_end["overflowed"]);
        assert!(document["warnings"].to_string().contains("found no room in its socket"), "{}", document["warnings"]);
    }
}

/// The description of a recording, and its samples: number of the series, time in ns, value.
fn recording(folder: &str, number: u64) -> (Value, Vec<(usize, u64, f64)>) {
    let folder = Path::new(folder).join("recording").join(number.to_string());
    let about = fs::read_to_string(folder.join("recording.json")).expect("it was recorded");
    let octets = fs::read(folder.join("samples.bin")).expect("it was recorded");
    let field = |record: &[u8], at: usize| u64::from_le_bytes(record[at..at + 8].try_into().expect("eight bytes"));
    let samples = octets.chunks_exact(24).map(|record| {
        let series = u32::from_le_bytes(record[8..12].try_into().expect("four bytes"));
        (series as usize, field(record, 0), f64::from_bits(field(record, 16)))
    });
    (serde_json::from_str(&about).expect("JSON"), samples.collect())
}

/// The last value of the series with this name at the host with this name.
fn last(about: &Value, samples: &[(usize, u64, f64)], name: &str, host: &str) -> f64 {
    let nodes = about["nodes"].as_array().expect("a list");
    let series = about["series"].as_array().expect("a list");
    let is_it =
        |one: &&Value| one["name"] == name && nodes[one["node"].as_u64().expect("a host") as usize]["name"] == host;
    let place = series.iter().position(|one| is_it(&one)).unwrap_or_else(|| panic!("no {name} of {host} in {about}"));
    samples.iter().rev().find(|(number, ..)| *number == place).expect("it has values").2
}

#[test]
fn each_host_of_a_path_records_what_it_counts() {
    let folder = Folder::new();
    let [received, passed_on, sent] = ["received", "passed-on", "sent"].map(|name| folder.path(name));
    let receiver = daemon(&["receive", "--record", &received]);
    let relay = daemon(&["relay", "--record", &passed_on]);
    let (via, to) = (relay.address.clone(), receiver.address.clone());
    let plan = ["--via", &via, "--to", &to, "--size", "1 kB", "--wait", "1 ms", "--bytes", "1500 kB"];
    let document = HERE.measure(&[&plan[..], &["--repetitions", "2", "--record", &sent]].concat());
    let flow = &document["flows"][0];
    assert_eq!(flow["received_packets"].as_f64(), Some(1_500.0));

    for number in [1, 2] {
        let (about, samples) = recording(&sent, number);
        assert_eq!(
            (&about["seed"], &about["measured"], &about["full_ns"]),
            (&number.into(), &true.into(), &Value::Null)
        );
        for (name, host) in [("sent", "here"), ("received", &via), ("sent", &via), ("received", &to)] {
            assert_eq!(last(&about, &samples, name, host), 1_500.0, "{name} {host}");
        }
        assert_eq!(last(&about, &samples, "missing before", &via), 0.0);
        assert_eq!(last(&about, &samples, "lost on the path", &to), 0.0);
        assert!(samples.is_sorted_by_key(|(_, time, _)| *time));
        // Rates over intervals add up to what came.
        let rate =
            about["series"].as_array().expect("a list").iter().position(|one| one["name"] == "rate").expect("one");
        let octets: f64 =
            samples.iter().filter(|(series, ..)| *series == rate).map(|(.., rate)| rate * 0.1 / 8.0).sum();
        assert!((octets - 1.5e6).abs() < 1.0, "{octets}");
    }
    assert_eq!(receiver.end(Signal::SIGINT).0, Some(130));
    assert_eq!(relay.end(Signal::SIGTERM).0, Some(130 + 13));
    let (about, samples) = recording(&passed_on, 0);
    for name in ["units received", "units passed on"] {
        assert_eq!(last(&about, &samples, name, "here"), 1_500.0);
    }
    let (about, samples) = recording(&received, 0);
    assert_eq!((&about["counts"]["send"], &about["counts"]["deliver"]), (&3_000.into(), &3_000.into()));
    assert_eq!(about["flows"].as_array().map(Vec::len), Some(2));
    for (name, value) in
        [("units sent", 1_500.0), ("units received", 1_500.0), ("units lost", 0.0), ("unrecorded", 0.0)]
    {
        assert_eq!(last(&about, &samples, name, "here"), value, "{name}");
    }
    let events = fs::read(Path::new(&received).join("recording/0/events.bin")).expect("it was recorded");
    let times = events.chunks_exact(32).map(|event| u64::from_le_bytes(event[..8].try_into().expect("eight bytes")));
    assert_eq!((events.len(), times.is_sorted()), (6_000 * 32, true));
    // The mean delay of all deliveries is that of the measurement, but for the offset of the clocks, which may be known better later.
    let delays = events.chunks_exact(32).filter(|event| event[16] == 10);
    let delays = delays.map(|event| f64::from(i32::from_le_bytes(event[28..].try_into().expect("four bytes"))) * 1e-6);
    let mean = delays.sum::<f64>() / 3_000.0;
    assert!((mean - flow["delay_mean_s"].as_f64().expect("it was measured")).abs() < 5e-6, "{mean} {flow}");
}

#[test]
fn a_killed_receiver_leaves_its_earlier_recording() {
    let folder = Folder::new();
    let kept = folder.path("kept");
    let first = daemon(&["receive", "--record", &kept]);
    let send =
        |to: &str, bytes: &str| HERE.measure(&["--to", to, "--size", "1 kB", "--wait", "1 ms", "--bytes", bytes]);
    send(&first.address, "100 kB");
    assert_eq!(first.end(Signal::SIGINT).0, Some(130));
    let second = daemon(&["receive", "--record", &kept]);
    // While one writes there, no other one does.
    let done = HERE.probe(&["receive", "--listen", "127.0.0.1:0", "--record", &kept]).output().expect("it ends");
    let (status, complaint) = status_and_complaint(&done);
    assert_eq!(status, Some(2));
    assert!(complaint.contains("another run is writing results there"), "{complaint}");
    send(&second.address, "300 kB");
    second.end(Signal::SIGKILL);
    assert_eq!(recording(&kept, 0).0["counts"]["deliver"], 100);
}

#[test]
fn a_folder_of_a_recording_that_cannot_be_made_is_refused() {
    let folder = Folder::new();
    let file = folder.path("file");
    fs::write(&file, "").expect("there is room");
    for arguments in [&["receive"][..], &["relay"], &["send", "--to", "127.0.0.1:1"]] {
        let done = HERE.probe(&[arguments, &["--record", &file]].concat()).output().expect("it ends");
        let (status, complaint) = status_and_complaint(&done);
        assert_eq!(status, Some(2), "{arguments:?}");
        assert!(complaint.contains(&file), "{complaint}");
    }
}

#[test]
fn a_relay_may_know_where_to_itself() {
    let receiver = daemon(&["receive"]);
    let relay = daemon(&["relay", "--to", &receiver.address]);
    let document = HERE.measure(&["--to", &relay.address, "--transport", "tcp", "--bytes", "100 kB"]);
    assert_eq!(document["flows"][0]["received_packets"], 100);
    let nodes = document["nodes"].as_array().expect("a list");
    let delivered = |name: &str| nodes.iter().find(|node| node["name"] == name).map(|node| &node["delivered"]);
    assert_eq!(delivered(&relay.address), Some(&0.into()));
    assert_eq!(delivered(&format!("{}+1", relay.address)), Some(&100.into()));
    // Then it takes no other way, and nobody has it send.
    let done = HERE.send(&["--to", "127.0.0.1:1", "--via", &relay.address]);
    let (status, complaint) = status_and_complaint(&done);
    assert_eq!(status, Some(1));
    assert!(complaint.contains("takes no path"), "{complaint}");
}

#[test]
fn a_plan_is_measured_case_by_case_and_written() {
    let hosts = [daemon(&["relay"]), daemon(&["relay"]), daemon(&["receive"])];
    let folder = Folder::new();
    let text = format!(
        r#"
        repetitions = 2
        [hosts]
        n1 = "here"
        n2 = "{}"
        n3 = "{}"
        n4 = "{}"
        [[experiments]]
        name = "3:1-hop"
        transports = ["tcp"]
        sizes = ["1 kB", "4 kB"]
        bytes = "200 kB"
        [[experiments.flows]]
        path = ["n1", "n2"]
        [[experiments.flows]]
        path = ["n2", "n3"]
        [[experiments.flows]]
        name = "long"
        path = ["n1", "n2", "n3", "n4"]
        transport = "udp"
        "#,
        hosts[0].address, hosts[1].address, hosts[2].address
    );
    let (file, out) = (folder.path("plan.toml"), folder.path("out"));
    fs::write(&file, text).expect("it can be written");
    let document = HERE.measure(&["--plan", &file, "--out", &out]);
    let cases = document["cases"].as_array().expect("a list");
    assert_eq!(
        cases.iter().map(|case| &case["case"]).collect::<Vec<_>>(),
        ["3:1-hop tcp 1 kB 0 s", "3:1-hop tcp 4 kB 0 s"]
    );
    for (case, units) in cases.iter().zip([200.0, 50.0]) {
        let flows = case["flows"].as_array().expect("a list");
        assert_eq!(flows.iter().map(|flow| &flow["name"]).collect::<Vec<_>>(), ["stream0", "stream1", "long"]);
        assert_eq!(
            (&flows[1]["from"], &flows[1]["to"], &flows[2]["protocol"]),
            (&"n2".into(), &"n3".into(), &"udp".into())
        );
        assert!(flows[..2].iter().all(|flow| flow["received_packets"] == units), "{flows:?}");
        assert_eq!(flows[2]["sent_packets"], units);
        assert_eq!(case["provenance"]["seeds"], serde_json::json!([1, 2]));
        assert!(flows[0]["goodput_bps_ci95"].is_number());
        let inner = Path::new(&out).join(case["folder"].as_str().expect("a name"));
        let written: Value =
            serde_json::from_slice(&fs::read(inner.join("run.json")).expect("it was written")).expect("JSON");
        assert_eq!(written["flows"], case["flows"]);
        for table in ["flows.parquet", "nodes.parquet", "series.parquet"] {
            assert!(inner.join(table).is_file(), "{table}");
        }
    }
}

#[test]
fn rows_are_those_of_the_simulator() {
    use hopcast_sim::results::{Replication, Spent};
    use hopcast_sim::scenario::{Scenario, Source};
    let text = r#"
        duration = "1 s"
        [[nodes]]
        name = "n"
        count = 2
        placement = { shape = "line", spacing = "5 m" }
        [[flows]]
        name = "stream0"
        from = "n0"
        to = "n1"
        transport = { protocol = "udp" }
        application = { kind = "adu", size = "1 kB", wait = "1 ms", bytes = "50 kB" }
    "#;
    let source = Source { text: text.into(), name: "adu.toml".into(), ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("a scenario").scenario;
    let mut replication = Replication::new(&scenario, 1).expect("it can be run");
    while replication.advance() {}
    let simulated: Value = serde_json::from_str(&replication.finish(Spent::default()).to_json()).expect("JSON");
    let receiver = daemon(&["receive"]);
    let measured = HERE.measure(&["--to", &receiver.address, "--size", "1 kB", "--wait", "1 ms", "--bytes", "50 kB"]);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert!(keys(&simulated).iter().all(|key| measured.get(key).is_some()));
    for part in ["cost", "provenance"] {
        assert!(keys(&simulated[part]).iter().all(|key| measured[part].get(key).is_some()), "{part}");
    }
    for key in keys(&simulated["flows"][0]) {
        assert!(measured["flows"][0].get(&key).is_some(), "{key}");
    }
    for key in ["name", "sent_packets", "sent_bytes", "received_packets", "received_bytes", "lost_packets"] {
        assert_eq!(measured["flows"][0][key], simulated["flows"][0][key], "{key}");
    }
}

#[test]
fn wrong_input_is_told_before_anything_is_sent() {
    let folder = Folder::new();
    let plan = folder.path("plan.toml");
    fs::write(&plan, "repetitions = 0\nexperiments = []\n[hosts]\n").expect("it can be written");
    for (arguments, complaint) in [
        (&["--size", "0"][..], "--size: 0 B is no size of a unit over udp; expected 32 B to 65507 B"),
        (&["--size", "-1 kB"], "--size: -1 kB is below zero"),
        (&["--size", "65508 B"], "--size: 65508 B is no size"),
        (&["--size", "2 MiB", "--transport", "tcp"], "expected 32 B to 1048576 B"),
        (&["--size", "1e300"], "--size"),
        (&["--size", "4 furlongs"], "there is no unit"),
        (&["--size", "4 Mb/s"], "is a rate, not a size"),
        (&["--wait", "-1 ms"], "--wait: -0.001 s is no wait"),
        (&["--wait", "1 h"], "expected 0 s to 60 s"),
        (&["--bytes", "0"], "--bytes: it is less than a unit"),
        (&["--bytes", "1e15", "--size", "32"], "expected at most 1000000000"),
        (&["--socket-buffer", "0"], "--socket-buffer: 0 B is no buffer"),
        (&["--repetitions", "0"], "--repetitions"),
        (&["--transport", "sctp"], "--transport"),
        (&["--out", "/dev/null/x"], "can't write results there"),
    ] {
        let (status, said) = status_and_complaint(&HERE.send(&[&["--to", "127.0.0.1:1"], arguments].concat()));
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(complaint), "{arguments:?}: {said}");
    }
    for arguments in [&["--plan", &plan][..], &["--plan", "/nowhere.toml"], &[], &["--plan", &plan, "--to", "x"]] {
        assert_eq!(HERE.send(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn where_to_listen_is_an_address_and_a_port() {
    let done = HERE.probe(&["relay", "--listen", "10.0.0.2"]).output().expect("the program is there");
    let (status, said) = status_and_complaint(&done);
    assert_eq!(status, Some(2));
    assert!(said.contains("--listen 10.0.0.2: an address and a port are written like 0.0.0.0:47300"), "{said}");
}

#[test]
fn a_port_in_use_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let address = taken.local_addr().expect("it is bound").to_string();
    let done = HERE.probe(&["receive", "--listen", &address]).output().expect("the program is there");
    assert_eq!(
        status_and_complaint(&done),
        (Some(2), format!("hopcast: --listen {address}: Address already in use\n"))
    );
}

#[test]
fn who_cannot_be_reached_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("loopback is there");
    let (status, said) = status_and_complaint(&HERE.send(&["--to", &free.to_string()]));
    assert_eq!(status, Some(1));
    assert!(said.contains(&format!("{free}: can't connect: Connection refused")), "{said}");
    // Also where it is a relay that can't reach it.
    let relay = daemon(&["relay"]);
    let (status, said) = status_and_complaint(&HERE.send(&["--to", &free.to_string(), "--via", &relay.address]));
    assert_eq!(status, Some(1));
    assert!(said.contains(&format!("{free}: can't connect: Connection refused")), "{said}");
    // A receiver is no relay.
    let receiver = daemon(&["receive"]);
    let (status, said) = status_and_complaint(&HERE.send(&["--to", &free.to_string(), "--via", &receiver.address]));
    assert_eq!(status, Some(1));
    assert!(said.contains("passes nothing on"), "{said}");
}

/// A sender that has been at work for a while, with the rest of `arguments`.
fn sender_at_work(arguments: &[&str]) -> std::process::Child {
    let flow = ["send", "--json", "--size", "1 kB", "--wait", "1 ms", "--bytes", "100 MB"];
    let mut command = HERE.probe(&[&flow[..], arguments].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program is there");
    // Two reports have come.
    std::thread::park_timeout(Duration::from_millis(2_500));
    child
}

#[test]
fn a_receiver_that_is_killed_leaves_what_was_known_and_a_relay_that_goes_on() {
    let (receiver, relay) = (daemon(&["receive"]), daemon(&["relay"]));
    let sender = sender_at_work(&["--to", &receiver.address, "--via", &relay.address]);
    let address = receiver.address.clone();
    receiver.end(Signal::SIGKILL);
    let done = sender.wait_with_output().expect("it ends by itself");
    let (status, said) = status_and_complaint(&done);
    assert_eq!(status, Some(1));
    assert!(said.contains(&format!("{address}: has closed the connection")), "{said}");
    let document: Value = serde_json::from_slice(&done.stdout).expect("one object");
    assert!(document["flows"][0]["received_packets"].as_u64() > Some(100), "{document}");
    assert!(document["warnings"][0].as_str().is_some_and(|warning| warning.contains("known before")));
    let other = daemon(&["receive"]);
    let document = HERE.measure(&["--to", &other.address, "--via", &relay.address, "--transport", "tcp"]);
    assert_eq!(document["flows"][0]["lost_packets"], 0);
}

#[test]
fn after_a_sender_that_is_killed_the_next_is_served() {
    let (receiver, relay) = (daemon(&["receive"]), daemon(&["relay"]));
    for transport in ["udp", "tcp"] {
        let path = ["--to", &receiver.address, "--via", &relay.address, "--transport", transport];
        let mut sender = sender_at_work(&path);
        sender.kill().expect("it runs");
        sender.wait().expect("it ends");
        let document = HERE.measure(&[&path[..], &["--wait", "200us", "--bytes", "100 kB"]].concat());
        assert_eq!(document["flows"][0]["received_packets"], 100, "{transport}");
    }
    // What is left of the flow would keep them for 2 s.
    let ended = [relay.end(Signal::SIGTERM), receiver.end(Signal::SIGTERM)];
    assert!(ended.iter().all(|(status, _)| *status == Some(143)));
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let receiver = daemon(&["receive"]);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let mut command = HERE.probe(&["send", "--to", &receiver.address, "--bytes", "10 kB"]);
    let done = command.stdout(full).output().expect("the program is there");
    let (status, said) = status_and_complaint(&done);
    assert_eq!(status, Some(1));
    assert!(said.contains("can't write the output: No space left on device"), "{said}");
}

#[test]
fn ctrl_c_prints_what_was_measured() {
    let receiver = daemon(&["receive"]);
    for transport in ["udp", "tcp"] {
        let sender = sender_at_work(&["--to", &receiver.address, "--transport", transport]);
        let process = nix::unistd::Pid::from_raw(sender.id().cast_signed());
        nix::sys::signal::kill(process, Signal::SIGINT).expect("it runs");
        let done = sender.wait_with_output().expect("it ends by itself");
        assert_eq!(status_and_complaint(&done), (Some(130), "hopcast: interrupted\n".into()));
        let document: Value = serde_json::from_slice(&done.stdout).expect("one object");
        let flow = &document["flows"][0];
        assert!(flow["sent_packets"].as_u64() > Some(100));
        assert_eq!((&flow["lost_packets"], &flow["in_flight_packets"]), (&0.into(), &0.into()), "{transport}");
    }
    let (status, _) = receiver.end(Signal::SIGTERM);
    assert_eq!(status, Some(143));
}

/// The answer of `daemon` to `octets` on a separate connection.
fn answer(daemon: &crate::processes::Daemon, octets: &[u8]) -> String {
    let mut stream = TcpStream::connect(&daemon.address).expect("it listens");
    stream.write_all(octets).expect("it takes a few octets");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a line, then the end");
    answer
}

#[test]
fn a_relay_makes_no_room_for_units_that_cannot_be() {
    let relay = daemon(&["relay"]);
    for (size, bytes, problem) in [
        (u32::MAX, 1, "size: 4294967295 B is no size of a unit over udp; expected 32 B to 65507 B"),
        (32, u64::MAX, "bytes: it takes 576460752303423488 units; expected at most 1000000000"),
    ] {
        let flow = format!(r#""version":1,"session":1,"protocol":"udp","size":{size},"bytes":{bytes}"#);
        let open = format!(r#"{{"open":{{{flow},"socket_buffer":null,"path":["127.0.0.1:1"]}}}}"#);
        assert_eq!(answer(&relay, (open + "\n").as_bytes()), format!("{{\"refused\":\"{problem}\"}}\n"));
    }
}

#[test]
fn what_strangers_say_steers_no_terminal() {
    let relay = daemon(&["relay"]);
    let flow = r#""version":1,"session":1,"protocol":"udp","size":100,"bytes":100,"socket_buffer":null"#;
    let open = format!(r#"{{"open":{{{flow},"path":["\u001b[2J\nhopcast: all is well"]}}}}"#);
    assert!(answer(&relay, (open + "\n").as_bytes()).starts_with("{\"refused\":"));
    let (_, said) = relay.end(Signal::SIGTERM);
    assert!(said.contains("passing on to \u{fffd}[2J hopcast: all is well"), "{said}");
}

#[test]
fn a_path_that_leads_over_a_relay_twice_is_refused() {
    let relay = daemon(&["relay"]);
    let address = &relay.address;
    let flow = r#""version":1,"session":1,"protocol":"udp","size":100,"bytes":100,"socket_buffer":null"#;
    let open = format!(r#"{{"open":{{{flow},"path":["{address}","{address}"]}}}}"#);
    let answer = answer(&relay, (open + "\n").as_bytes());
    assert!(answer.contains("the path of this flow leads here twice"), "{answer}");
    let (_, said) = relay.end(Signal::SIGTERM);
    assert_eq!(said.matches("passing on to").count(), 1, "{said}");
}

#[test]
fn strangers_are_sent_away_and_counted() {
    let receiver = daemon(&["receive"]);
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\xff\xfe\n", b"{\"open\":{}}\n", b"\"go\"\n", b"[[[[[[[[\n"] {
        let answer = answer(&receiver, garbage);
        assert!(answer.starts_with("{\"refused\":"), "{answer}");
    }
    let document = HERE.measure(&["--to", &receiver.address, "--transport", "tcp", "--bytes", "100 kB"]);
    assert_eq!(document["flows"][0]["received_packets"], 100);
    let (status, said) = receiver.end(Signal::SIGINT);
    assert_eq!(status, Some(130));
    assert!(said.contains("5 who asked for something were sent away"), "{said}");
}

#[test]
fn no_more_flows_are_served_than_there_is_room_for() {
    let receiver = daemon(&["receive"]);
    // One address has half of them.
    let most = hopcast_live::probe::daemon::MAX_SESSIONS / 2;
    let idle: Vec<TcpStream> = (0..most).map(|_| TcpStream::connect(&receiver.address).expect("it listens")).collect();
    let (status, said) = status_and_complaint(&HERE.send(&["--to", &receiver.address]));
    assert_eq!(status, Some(1));
    assert!(said.contains("32 flows of 127.0.0.1 are served already"), "{said}");
    drop(idle);
    std::thread::park_timeout(Duration::from_millis(500));
    HERE.measure(&["--to", &receiver.address, "--transport", "tcp", "--bytes", "100 kB"]);
}
