//! Real nodes at the ends of wires: delay and rate as programs see them.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{Bench, emulate, kept_up, object, run, stderr};

/// Two real nodes at the ends of a wire.
const PAIR: &str = r#"
    duration = "30 s"
    [[nodes]]
    name = "n"
    count = 2
    role = "wired"
    real = true
    [[links]]
    between = ["n0", "n1"]
    rate = "10 Mb/s"
    delay = "20 ms"
"#;

/// A server behind a wire, and a phone over the air, with a simulated access point between them.
const CELL: &str = r#"
    duration = "30 s"
    [radio]
    standard = "802.11a"
    data_rate = "54 Mb/s"
    [[nodes]]
    name = "server"
    role = "wired"
    real = true
    [[nodes]]
    name = "ap"
    role = "access-point"
    placement = { shape = "points", at = [["0 m", "0 m"]] }
    [[nodes]]
    name = "phone"
    role = "station"
    real = true
    placement = { shape = "points", at = [["10 m", "0 m"]] }
    [[links]]
    between = ["server", "ap"]
    rate = "4 Mb/s"
    delay = "30 ms"
"#;

/// Round-trip times of the pings in this output, in milliseconds.
fn round_trips(text: &str) -> Vec<f64> {
    let times = text.lines().filter_map(|line| line.split_once("time=")?.1.split(' ').next()?.parse().ok());
    times.collect()
}

/// What a client of iperf3 has written to this file.
fn iperf(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("iperf3 has written")).expect("JSON")
}

/// Mb/s that arrived in these seconds at a client that receives.
fn received(result: &Value, seconds: std::ops::Range<usize>) -> f64 {
    let intervals = result["intervals"].as_array().expect("a list");
    let rates = intervals[seconds.clone()].iter().map(|one| one["sum"]["bits_per_second"].as_f64().expect("a rate"));
    rates.sum::<f64>() * 1e-6 / seconds.len() as f64
}

/// The share of a wire's bytes that are TCP's payload: 1448 of 1500, with timestamps.
const PAYLOAD: f64 = 1_448.0 / 1_500.0;

#[test]
fn a_ping_takes_the_delay_of_the_wire_both_ways() {
    let Some(bench) = Bench::new(&["ping"]) else { return };
    let scenario = bench.file("pair.toml", PAIR);
    let program = "exec ping -c 20 -i 0.1 10.0.0.2";
    let output = run(&mut emulate(&scenario, &["--json", "--exec", "n0", program]));
    if !kept_up(&output) {
        return;
    }
    let told = stderr(&output);
    assert!(told.contains("-n0, eth0 to n1"), "{told}");
    let mut times = round_trips(&told);
    times.sort_by(f64::total_cmp);
    println!("{times:?}");
    assert_eq!(times.len(), 20, "{told}");
    // 84 bytes take 0.067 ms each way; the first ping also waits for the answer to ARP, another round trip.
    assert!(times[0] >= 40.134 && times[10] < 41.5, "{times:?}");
}

#[test]
fn tcp_gets_the_rate_of_the_wire_and_of_its_steps() {
    let Some(bench) = Bench::new(&["iperf3"]) else { return };
    let scenario = bench.file("pair.toml", PAIR);
    // The client receives from 0.5 s on.
    for (name, rate, late) in [
        ("constant", "links.0.rate=10 Mb/s", 10.0),
        ("steps", "links.0.rate=[[0, \"10 Mb/s\"], [4.5, \"4 Mb/s\"]]", 4.0),
    ] {
        let path = bench.path(name);
        let client = format!("sleep 0.5; exec iperf3 -c 10.0.0.2 -R -J -t 8 > {path}");
        let programs = ["--exec", "n1", "exec iperf3 -s -1 > /dev/null", "--exec", "n0", &client];
        let output = run(emulate(&scenario, &programs).args(["--json", "--set", rate]));
        if !kept_up(&output) {
            return;
        }
        let result = iperf(&path);
        let measured = [received(&result, 1..3), received(&result, 6..8)].map(|rate| rate / PAYLOAD);
        println!("{name}: {measured:.3?} Mb/s");
        for (measured, expected) in measured.into_iter().zip([10.0, late]) {
            assert!((measured / expected - 1.0).abs() < 0.03, "{name}: {measured} Mb/s");
        }
        assert!(object(&output)["emulation"]["frames_on_wires"].as_u64() > Some(3_000));
    }
}

#[test]
fn a_server_behind_a_wire_talks_to_a_phone_and_a_recording_gives_the_same_again() {
    let Some(bench) = Bench::new(&["iperf3", "ping", "tshark"]) else { return };
    let scenario = bench.file("cell.toml", CELL);
    let [path, record, out] = ["iperf.json", "recording", "out"].map(|name| bench.path(name));
    let client = format!("ping -c 5 -i 0.2 10.0.0.1; exec iperf3 -c 10.0.0.1 -R -J -t 6 > {path}");
    let programs = ["--exec", "server", "exec iperf3 -s -1 > /dev/null", "--exec", "phone", &client];
    let options = ["--json", "--pcap", "--out", &out, "--record", &record];
    let output = run(emulate(&scenario, &programs).args(options));
    if !kept_up(&output) {
        return;
    }
    let (told, live) = (stderr(&output), object(&output));
    let mut times = round_trips(&told);
    times.sort_by(f64::total_cmp);
    // 60 ms on the wire, and what the air takes. ARP and a busy machine delay some more.
    assert!(times.len() == 5 && times[0] > 60.3 && times[2] < 64.0, "{told}");
    let measured = received(&iperf(&path), 1..6) / PAYLOAD;
    println!("{measured:.3} of 4 Mb/s, {times:?}");
    assert!((measured / 4.0 - 1.0).abs() < 0.03, "{measured} Mb/s");
    let conversations = live["conversations"].as_array().expect("a list");
    let most = conversations.iter().max_by_key(|one| one["sent_bytes"].as_u64()).expect("there are some");
    assert_eq!([&most["from"], &most["to"], &most["protocol"]], ["server", "phone", "tcp"]);
    assert!(most["delay_mean_s"].as_f64() > Some(0.03), "{most}");

    let fields = ["-r", &format!("{out}/server.pcapng"), "-T", "fields", "-e", "frame.protocols", "-e", "eth.src"];
    let seen = Command::new("tshark").args(fields).output().expect("tshark is there");
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    for line in ["eth:ethertype:arp\t02:02:00:00:00:01", "eth:ethertype:ip:tcp\t02:02:00:00:00:02"] {
        assert!(seen.lines().any(|one| one == line), "no {line:?} in {}", &seen[..seen.len().min(2_000)]);
    }

    let replay = run(&mut emulate(&scenario, &["--json", "--replay", &record]));
    assert_eq!(replay.status.code(), Some(0), "{}", stderr(&replay));
    let again = object(&replay);
    assert_eq!(again["emulation"]["delivered_sha256"], live["emulation"]["delivered_sha256"]);
    assert_eq!([&again["nodes"], &again["conversations"]], [&live["nodes"], &live["conversations"]]);
}

#[test]
fn a_real_node_has_the_rate_and_delay_of_its_access() {
    let Some(bench) = Bench::new(&["iperf3", "ping"]) else { return };
    // A wire that is no limit, and a trace with an opportunity of 1500 bytes each 3 ms: 4 Mb/s.
    bench.file("trace", "3\n");
    let access = r#"
        [nodes.access]
        delay = "10 ms"
        down = { trace = { file = "trace" } }
        [[links]]"#;
    let text = PAIR.replace("10 Mb/s", "1 Gb/s").replace("delay = \"20 ms\"", "").replace("[[links]]", access);
    let scenario = bench.file("access.toml", &text);
    let path = bench.path("iperf.json");
    let client = format!("ping -c 10 -i 0.2 10.0.0.2; exec iperf3 -c 10.0.0.2 -R -J -t 6 > {path}");
    let programs = ["--exec", "n1", "exec iperf3 -s -1 > /dev/null", "--exec", "n0", &client];
    let output = run(emulate(&scenario, &programs).args(["--json"]));
    if !kept_up(&output) {
        return;
    }
    let told = stderr(&output);
    let mut times = round_trips(&told);
    times.sort_by(f64::total_cmp);
    // Both nodes have it, in both directions; each arrival also waits for the next opportunity, up to 3 ms.
    assert!(times.len() == 10 && times[0] > 40.0 && times[5] < 47.5, "{told}");
    let measured = received(&iperf(&path), 1..6) / PAYLOAD;
    println!("{measured:.3} of 4 Mb/s, {times:?}");
    assert!((measured / 4.0 - 1.0).abs() < 0.03, "{measured} Mb/s");
}

/// A real host forwards between its wire and its radio, and a frame that no simulated neighbour would take is refused.
#[test]
fn a_real_router_joins_a_wire_and_the_air() {
    let Some(bench) = Bench::new(&["ping"]) else { return };
    let text =
        CELL.replace("role = \"access-point\"", "real = true").replace("role = \"station\"\n    real = true", "");
    let scenario = bench.file("router.toml", &text);
    let program = "exec ping -c 5 -i 0.2 10.0.0.3";
    let lag = ["--set", "emulation.lag_limit=1 s"];
    let output = run(emulate(&scenario, &["--json", "--exec", "server", program]).args(lag));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("-ap, eth0 to server"), "{told}");
    assert!(round_trips(&told).iter().all(|&time| time > 60.3) && told.contains(" 5 received"), "{told}");
}
