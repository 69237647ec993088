//! Conversations of programs at real nodes: hopcast's numbers compared with those of iperf3 and tshark.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Bench, emulate, kept_up, left_behind, line, object, run, stderr, wait_until};

/// One packet in fifty gets lost above the MAC's retries.
const LOSSES: [&str; 2] = ["--set", "radio.errors={ model = \"packet\", rate = 0.02, level = \"network\" }"];

/// The conversation between these nodes, to this port at the second one, with the most packets.
fn conversation<'v>(result: &'v Value, from: &str, to: &str, port: u64) -> &'v Value {
    let all = result["conversations"].as_array().expect("a list of conversations");
    let is_its = |c: &&Value| c["from"] == from && c["to"] == to && c["to_port"] == port;
    let packets = |c: &&Value| c["sent_packets"].as_u64();
    all.iter().filter(is_its).max_by_key(packets).unwrap_or_else(|| panic!("no such conversation: {all:?}"))
}

fn figure(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} is no number: {value}"))
}

#[test]
fn iperf3_counts_the_packets_and_losses_of_its_conversation_over_a_real_router() {
    let Some(bench) = Bench::new(&["iperf3"]) else { return };
    let scenario = bench.file("line.toml", &line("n2", "protocol = \"udp\"", "kind = \"bulk\""));
    let path = bench.path("iperf.json");
    let client = format!("sleep 0.3; exec iperf3 -c 10.0.0.3 -J -t 4 -u -b 1M -l 1200 > {path}");
    let programs = ["--exec", "n2", "exec iperf3 -s -1 > /dev/null", "--exec", "n0", &client];
    let output = run(emulate(&scenario, &programs).args(["--json", "--set", "duration=20 s"]).args(LOSSES));
    if !kept_up(&output) {
        return;
    }
    let iperf: Value = serde_json::from_str(&fs::read_to_string(path).expect("iperf3 has written")).expect("JSON");
    // Its one greeting over UDP is lost in a run of 25: then it measures nothing, and says so.
    if let Some(error) = iperf["error"].as_str() {
        println!("iperf3 measured nothing: {error}");
        return;
    }
    let (sum, result) = (&iperf["end"]["sum"], object(&output));
    let udp = conversation(&result, "n0", "n2", 5201);
    assert_eq!(udp["protocol"], "udp");
    // iperf3 greets the server with a datagram that it does not count.
    let [sent, lost, received] = ["sent_packets", "lost_packets", "received_packets"].map(|key| figure(udp, key));
    let [packets, lost_packets] = ["packets", "lost_packets"].map(|key| figure(sum, key));
    println!("iperf3: {lost_packets} of {packets} lost; conversation: {lost} of {sent}");
    assert!(lost_packets > 5.0, "2 % over two hops of more than 400 packets: {sum}");
    assert!((sent - packets - 1.0).abs() <= 1.0 && (lost - lost_packets).abs() <= 1.0, "{sum} {udp}");
    assert_eq!(received + lost, sent);
    // What leaves the sender is 1 Mb/s.
    let rate = figure(udp, "rate_bps") / (1.0 - lost / sent);
    assert!((rate / 1e6 - 1.0).abs() < 0.02, "{rate}");
    // Two frames of 1200 octets at 12 Mb/s take 2 ms.
    assert!((0.0015..0.02).contains(&figure(udp, "delay_mean_s")), "{udp}");
}

/// Packets, losses, mean and largest jitter in seconds of the one stream that tshark finds in a capture.
fn rtp_of_tshark(capture: &str) -> (String, [f64; 4]) {
    let arguments = ["-r", capture, "-d", "udp.port==5004,rtp", "-q", "-z", "rtp,streams"];
    let output = run(Command::new("tshark").args(arguments));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = table.lines().find(|line| line.contains("0x")).unwrap_or_else(|| panic!("{table}{}", stderr(&output)));
    let (source, rest) = row.split_once("0x").and_then(|(_, rest)| rest.split_once(' ')).expect("an SSRC");
    // Behind the name of the payload type: packets, losses and their share, three deltas, three jitters.
    let numbers: Vec<f64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [packets, lost, .., mean, max] = numbers[..] else { panic!("{row}") };
    (source.to_owned(), [packets, lost, mean * 1e-3, max * 1e-3])
}

#[test]
fn tshark_finds_the_losses_and_the_jitter_of_a_stream_of_rtp() {
    let Some(bench) = Bench::new(&["ffmpeg", "tshark", "python3"]) else { return };
    let scenario = bench.file("line.toml", &line("n1", "protocol = \"udp\"", "kind = \"bulk\""));
    let capture = bench.path("wlan0.pcapng");
    let film = "exec ffmpeg -loglevel error -re -f lavfi -i testsrc2=size=320x240:rate=25 -t 6 -c:v mpeg2video -b:v 800k \
                -f rtp rtp://10.0.0.2:5004";
    let sender = format!("sleep 2; {film} > /dev/null");
    let listener =
        "exec python3 -c 'import socket, time; s = socket.socket(2, 2); s.bind((\"\", 5004)); time.sleep(10)'";
    let dump = format!("exec tshark -q -i wlan0 -f 'udp port 5004' -a duration:10 -w {capture}");
    let programs = ["--exec", "n1", listener, "--exec", "n1", &dump, "--exec", "n0", &sender];
    let output = run(emulate(&scenario, &programs).args(["--json", "--set", "duration=20 s"]).args(LOSSES));
    if !kept_up(&output) {
        return;
    }
    let result = object(&output);
    let media = conversation(&result, "n0", "n1", 5004);
    let [stream] = &media["rtp"].as_array().expect("a list")[..] else { panic!("one stream: {media}") };
    let (source, [packets, lost, mean, max]) = rtp_of_tshark(&capture);
    println!("tshark: {packets} packets, {lost} lost, jitter {mean} s, at most {max} s; ours: {stream}");
    assert_eq!(u64::from_str_radix(&source, 16).ok(), stream["ssrc"].as_u64());
    assert!(lost > 2.0, "2 % of several hundred packets");
    assert_eq!([figure(stream, "received_packets"), figure(stream, "lost_packets")], [packets, lost]);
    assert_eq!((stream["payload_type"].as_u64(), stream["clock_rate_hz"].as_u64()), (Some(32), Some(90_000)));
    // tshark's instants are those of the kernel, ours those of the simulation: as far apart as the lag. A frame that comes late changes two
    // transit times, and each counts by a sixteenth (RFC 3550, 6.4.1).
    let lag = figure(&result["emulation"]["lag"], "max_s");
    let close = |ours: f64, theirs: f64, lag: f64| (ours - theirs).abs() < 0.05 * theirs + 2e-4 + lag / 8.0;
    assert!(close(figure(stream, "jitter_mean_s"), mean, 0.0), "{stream}");
    assert!(close(figure(stream, "jitter_max_s"), max, lag), "{stream}, lag {lag} s");
    // 150 pictures were sent; those with a lost packet, and those before which one was lost, are not whole.
    let frames = figure(stream, "frames");
    assert!((150.0 - 2.0 * lost..150.0).contains(&frames), "{stream}");
}

/// What is at /metrics of a port, if somebody answers there.
fn metrics(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200 OK").then_some(answer)
}

#[test]
fn metrics_are_given_while_the_emulation_runs() {
    let Some(bench) = Bench::new(&["ping"]) else { return };
    let scenario = bench.file("line.toml", &line("n1", "protocol = \"udp\"", "kind = \"bulk\""));
    // Free again once this is over.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    drop(listener);
    let programs = ["--exec", "n0", "exec ping -q -c 40 -i 0.1 10.0.0.2"];
    let mut command = emulate(&scenario, &programs);
    command.args(["--set", "duration=20 s", "--metrics", &format!("127.0.0.1:{port}")]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program is there");
    let echoes = "hopcast_emulate_conversation_received_packets_total{from=\"n1\",to=\"n0\",protocol=\"icmp\",";
    let count = |text: &str| {
        let row = text.lines().find(|row| row.starts_with(echoes))?;
        row.rsplit_once(' ')?.1.parse::<u64>().ok()
    };
    wait_until("answers to pings in the metrics", || metrics(port).is_some_and(|text| count(&text) > Some(5)));
    child.wait().expect("it ends with ping");
    assert_eq!(left_behind(), Vec::<String>::new());
}
