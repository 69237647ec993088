//! `hopcast cloud` in network namespaces: devices in separate processes, between real network stacks.
//!
//! The tests need root and iproute2; without these they are skipped, with a message.

mod net;

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use hopcast_wire::mpegts::{CLOCK_RATE, PACKET_LEN, SYNC};
use serde_json::Value;

use self::net::{Net, address, binary, is_available};

/// A transport stream of 2 Mb/s with a clock reference each 0.1 s, and bytes that differ from packet to packet.
fn transport_stream(seconds: u64) -> Vec<u8> {
    // 133 packets of 188 bytes each 0.1 s are 2.0003 Mb/s.
    const EACH: u64 = 133;
    let mut state = 1_u32;
    let mut stream = Vec::new();
    for n in 0..=seconds * 10 * EACH {
        let mut packet = [0; PACKET_LEN];
        packet[..6].copy_from_slice(&[SYNC, 1, 0, 0x30, 7, 0]);
        for octet in &mut packet[12..] {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *octet = (state >> 24) as u8;
        }
        if n % EACH == 0 {
            let ticks = n / EACH * CLOCK_RATE / 10;
            packet[5] = 0x10;
            let bits = (ticks / 300) << 15 | 0x3f << 9 | (ticks % 300);
            packet[6..12].copy_from_slice(&bits.to_be_bytes()[2..]);
        }
        stream.extend(packet);
    }
    stream
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error} in {output:?}"))
}

/// Waits until the device at `node` knows a clip.
fn wait_for_clip(net: &Net, node: usize) {
    net.wait_until(Duration::from_secs(20), "the clip is known", |net| {
        net.status(node)["clips"].as_array().is_some_and(|clips| !clips.is_empty())
    });
}

#[test]
fn a_clip_is_played_over_two_hops_and_its_bytes_agree() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("line", 3, &[(0, 1), (1, 2)]);
    let key = net.make_key("key");
    let media = transport_stream(6);
    let film = net.write("film.ts", &media);
    net.start(2, &["--key", &key, "--offer", &film]);
    net.start(1, &["--key", &key]);
    net.start(0, &["--key", &key]);
    wait_for_clip(&net, 0);

    let listed = json(&net.run(0, &["list", "--json"]));
    let clip = &listed["clips"][0];
    assert_eq!((&clip["name"], &clip["hops"]), (&"film.ts".into(), &2.into()), "{listed}");
    let rate = clip["rate_bps"].as_f64().expect("a number");
    assert!((rate / 2.0003e6 - 1.0).abs() < 1e-3, "{rate}");
    let text = String::from_utf8(net.run(0, &["list"]).stdout).expect("text");
    assert!(text.contains("film.ts") && text.contains("2.00 Mb/s"), "{text}");

    // At once after the start: the command waits until the links are known.
    let copy = net.path("copy.ts");
    let start = Instant::now();
    let output = net.run(0, &["play", "film", "--output", &copy, "--json"]);
    assert!(output.status.success(), "{}\n{}", said(&output), net.log(0));
    eprintln!("two hops: played within {:.1} s of a cold start", start.elapsed().as_secs_f64());
    assert!(std::fs::read(&copy).expect("it is there") == media, "the file is another");
    let played = json(&output);
    assert_eq!(played["outcome"], "completed");
    assert_eq!((&played["verified"], &played["hops"], &played["stalls"]), (&true.into(), &2.into(), &0.into()));
    assert_eq!(played["source"], address(2).to_string());

    // Again, to standard output, from links that are known: it begins after a buffer of a second.
    let start = Instant::now();
    let output = net.run(0, &["play", "film.ts"]);
    let took = start.elapsed().as_secs_f64();
    assert!(output.status.success() && output.stdout == media, "{}", said(&output));
    assert!(took > 6.0 && took < 12.0, "it takes as long as the clip: {took} s");
    assert!(said(&output).contains("over 2 hops"), "{}", said(&output));
    let play = net.status(0)["plays"].as_array().and_then(|plays| plays.last().cloned()).expect("it is remembered");
    eprintln!("two hops: started after {} s, {} stalls", play["start_up_s"], play["stalls"]);
    assert!(play["start_up_s"].as_f64().is_some_and(|start| start < 5.0), "{play}");
    assert_eq!(play["outcome"], "completed");
    let relay = net.status(1);
    assert!(relay["counters"]["admitted"].as_u64().is_some_and(|count| count >= 2), "{relay}");
    assert_eq!(relay["bookings"], Value::Array(vec![]), "nothing stays booked");
    assert!(relay["seals"]["unauthentic"] == 0 && relay["sealed"] == true);
    assert_eq!((0..3).map(|node| net.stop(node)).collect::<Vec<_>>(), [Some(0); 3]);
}

/// Four devices with identities. The relay of a stream is lost: the others remove it from their lists, and change no key.
#[test]
fn a_lost_relay_is_expelled_by_its_identity_and_the_stream_goes_on() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("expel", 4, &[(0, 1), (1, 3), (0, 2), (2, 3)]);
    let key = net.make_key("key");
    let (identities, lines) = net.make_identities();
    let list = net.write("members", lines.concat().as_bytes());
    let media = transport_stream(20);
    let film = net.write("film.ts", &media);
    for (node, identity) in identities.iter().enumerate() {
        let mut options = vec!["--key", &key, "--identity", identity, "--members", &list];
        options.extend(["--admission", "airtime", "--link-rate", "20 Mb/s"]);
        if node == 3 {
            options.extend(["--offer", &film]);
        }
        net.start(node, &options);
    }
    wait_for_clip(&net, 0);
    std::thread::sleep(Duration::from_secs(3));
    let copy = net.path("copy.ts");
    let mut player = net.play(0, &["film.ts", "--output", &copy]);
    let relay = |net: &Net| (1..3).find(|&node| net.status(node)["bookings"][0]["role"] == "relay");
    net.wait_until(Duration::from_secs(10), "the stream is booked", |net| relay(net).is_some());
    std::thread::sleep(Duration::from_secs(5));
    let lost = relay(&net).expect("it plays");
    let others: Vec<usize> = (0..4).filter(|&node| node != lost).collect();
    net.write("members", others.iter().map(|&node| lines[node].as_str()).collect::<String>().as_bytes());
    others.iter().for_each(|&node| net.read_again(node));
    assert!(player.wait().expect("it ends").success());
    assert!(std::fs::read(&copy).expect("it is there") == media, "the file is another");
    let status = net.status(0);
    let play = status["plays"].as_array().and_then(|plays| plays.last()).expect("it is remembered");
    eprintln!("expelled relay: {} stalls of {} s", play["stalls"], play["stalled_s"]);
    assert_eq!(play["outcome"], "completed", "{play}");
    // The second that was buffered hides a search of half a second, unless the machine is busy. A device that waits until
    // the neighbour is silent for 5.5 s stalls for longer than this.
    assert!(play["stalled_s"].as_f64().is_some_and(|stalled| stalled < 2.5), "{play}");
    assert_eq!((&status["members"], status["identity"].as_str()), (&3.into(), lines[0].split(' ').next()));
    let heard = status["neighbours"].as_array().expect("a list").iter().map(|peer| peer["address"].clone());
    assert_eq!(heard.collect::<Vec<_>>(), [Value::from(address(3 - lost).to_string())]);
    assert!(net.log(0).contains("is no member any more") && net.log(0).contains("not signed by a member"));
}

/// A recording's description, and by type the number of messages that were sent and have come.
fn recording(folder: &str) -> (Value, BTreeMap<String, [u64; 2]>) {
    let folder = std::path::Path::new(folder).join("recording/0");
    let about = std::fs::read_to_string(folder.join("recording.json")).expect("it was recorded");
    let about: Value = serde_json::from_str(&about).expect("JSON");
    let mut messages = BTreeMap::<String, [u64; 2]>::new();
    for event in std::fs::read(folder.join("events.bin")).expect("it was recorded").chunks_exact(32) {
        let (kind, code) = (usize::from(event[16]), usize::from(event[17]));
        if kind < 2 {
            let name = about["frames"][code].as_str().expect("a name").to_owned();
            messages.entry(name).or_default()[kind] += 1;
        }
    }
    (about, messages)
}

#[test]
fn devices_and_a_play_record_messages_media_and_stalls() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("record", 3, &[(0, 1), (1, 2)]);
    let key = net.make_key("key");
    let film = net.write("film.ts", &transport_stream(5));
    let folders: Vec<String> = (0..3).map(|node| net.path(&format!("device-{node}"))).collect();
    let options = ["--key", &key, "--admission", "airtime", "--link-rate", "8 Mb/s"];
    for node in (0..3).rev() {
        let mut options = [&options[..], &["--record", &folders[node]]].concat();
        if node == 2 {
            options.extend(["--offer", &film]);
        }
        net.start(node, &options);
    }
    wait_for_clip(&net, 0);
    std::thread::sleep(Duration::from_secs(3));
    let play = net.path("play");
    let output = net.run(0, &["play", "film.ts", "--record", &play]);
    assert!(output.status.success(), "{}\n{}", said(&output), net.log(0));
    let played = net.status(0)["plays"].as_array().and_then(|plays| plays.last().cloned()).expect("it is remembered");
    // Bookings end with a message that may be lost, or 15 s later, and neighbours tell of them until their next hello.
    net.wait_until(Duration::from_secs(20), "nothing is booked", |net| {
        (0..3).all(|node| net.status(node)["reserved_airtime"].as_f64() == Some(0.0))
    });
    // A second one does not fit next to a first one.
    let mut first = net.command(0).args(["play", "film.ts"]).stdout(Stdio::null()).spawn().expect("it starts");
    net.wait_until(Duration::from_secs(10), "the first stream is booked", |net| {
        net.status(2)["bookings"].as_array().is_some_and(|bookings| bookings.len() == 1)
    });
    let refused = net.run(0, &["play", "film.ts", "--output", &net.path("copy.ts")]);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    first.kill().expect("it is ours");
    first.wait().expect("it ends");
    let states: Vec<Value> = (0..3).map(|node| net.status(node)).collect();
    assert_eq!((0..3).map(|node| net.stop(node)).collect::<Vec<_>>(), [Some(0); 3]);

    let records: Vec<(Value, BTreeMap<String, [u64; 2]>)> = folders.iter().map(|folder| recording(folder)).collect();
    let media = |node: usize| records[node].1["media"];
    // Each packet that one has sent has come to the next: veth loses none, but some were on their way when they were told to stop.
    for [from, to] in [[2, 1], [1, 0]] {
        assert!(media(from)[0].abs_diff(media(to)[1]) < 20, "{:?} {:?}", media(from), media(to));
    }
    for (node, place) in [(2, 0), (1, 0)] {
        let counted = states[node]["counters"]["media_packets"].as_u64().expect("a number");
        assert!(media(node)[place].abs_diff(counted) < 20, "{:?} {counted}", media(node));
    }
    for (node, name) in [(0, "probe"), (0, "reserve"), (1, "hello"), (2, "answer"), (2, "confirm"), (1, "feedback")] {
        assert!(records[node].1[name][0] > 0, "{name} of {node}: {:?}", records[node].1);
    }
    // A refusal is where it happened, and with its reason: at the display that finds no path, and where a reservation was refused.
    let refused: u64 = states.iter().map(|state| state["refusals"]["airtime"].as_u64().expect("a number")).sum();
    let drops: u64 = records.iter().map(|(about, _)| about["counts"]["drop"].as_u64().expect("a number")).sum();
    assert_eq!((drops, records[0].0["drops"][0].as_str()), (refused + 1, Some("refused_airtime")));
    let about = &records[0].0;
    let flow = &about["flows"][0];
    assert_eq!(flow["name"].as_str(), Some("film.ts for 10.0.0.1 number 0"), "{about}");
    let names: Vec<&str> =
        about["series"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    for name in ["reserved airtime", "bookings", "neighbours", "link rate", "rate", "buffer", "received", "shown"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    let (about, _) = recording(&play);
    assert_eq!(
        about["counts"]["deliver"].as_u64(),
        Some(media(0)[1].min(transport_stream(5).len().div_ceil(1_316) as u64))
    );
    assert_eq!(about["counts"]["stall"].as_u64(), played["stalls"].as_u64());
    assert_eq!((&about["flows"][0]["name"], &about["nodes"][1]["name"]), (&"film.ts".into(), &"10.0.0.3".into()));
}

#[test]
fn a_stall_is_recorded_by_the_device_and_the_play() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("stall", 4, &[(0, 1), (1, 3), (0, 2), (2, 3)]);
    let key = net.make_key("key");
    let film = net.write("film.ts", &transport_stream(30));
    let [device, play] = ["device", "play"].map(|name| net.path(name));
    let options = ["--key", &key, "--admission", "airtime", "--link-rate", "20 Mb/s"];
    net.start(3, &[&options[..], &["--offer", &film]].concat());
    net.start(2, &options);
    net.start(1, &options);
    net.start(0, &[&options[..], &["--record", &device]].concat());
    wait_for_clip(&net, 0);
    std::thread::sleep(Duration::from_secs(3));
    let mut player = net.play(0, &["film.ts", "--record", &play]);
    let is_relay = |net: &Net, node: usize| net.status(node)["bookings"][0]["role"] == "relay";
    net.wait_until(Duration::from_secs(10), "the stream is booked", |net| is_relay(net, 1) || is_relay(net, 2));
    std::thread::sleep(Duration::from_secs(3));
    net.kill(if is_relay(&net, 1) { 1 } else { 2 });
    assert!(player.wait().expect("it ends").success());
    let played = net.status(0)["plays"].as_array().and_then(|plays| plays.last().cloned()).expect("it is remembered");
    assert_eq!(net.stop(0), Some(0));
    let stalled = played["stalled_s"].as_f64().expect("a number");
    assert!(stalled > 3.0, "{played}");
    for (folder, tolerance) in [(&device, 1e-6), (&play, 0.5)] {
        let events =
            std::fs::read(std::path::Path::new(folder).join("recording/0/events.bin")).expect("it was recorded");
        let stalls = events.chunks_exact(32).filter(|event| event[16] == 12);
        let recorded = stalls.map(|event| f64::from(u32::from_le_bytes(event[8..12].try_into().expect("four"))) * 1e-9);
        let recorded: f64 = recorded.sum();
        assert!((recorded - stalled).abs() < tolerance, "{folder}: {recorded} {stalled}");
    }
}

#[test]
fn media_go_to_a_players_port_at_the_pace_of_the_clip() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("udp", 2, &[(0, 1)]);
    let key = net.make_key("key");
    let media = transport_stream(4);
    let film = net.write("film.ts", &media);
    net.start(1, &["--key", &key, "--offer", &film, "--admission", "all"]);
    net.start(0, &["--key", &key, "--admission", "all"]);
    wait_for_clip(&net, 0);
    // On any interface of this namespace but the loopback of another: the player runs where the command does.
    let script = r#"exec "$0" cloud play film.ts --output udp://127.0.0.1:5555"#;
    let receiver = net.inside(0, || {
        let socket = UdpSocket::bind("127.0.0.1:5555").expect("the port is free");
        socket.set_read_timeout(Some(Duration::from_secs(15))).expect("it can wait");
        socket
    });
    let mut player = net.shell(0, script, &[binary()]).stderr(Stdio::null()).spawn().expect("it starts");
    let (mut received, mut octets, mut times) = (Vec::new(), [0; 2_000], Vec::new());
    while received.len() < media.len() {
        let count = receiver.recv(&mut octets).expect("more comes");
        assert!(count <= 1_316 && count.is_multiple_of(PACKET_LEN), "{count} bytes");
        times.push(Instant::now());
        received.extend_from_slice(&octets[..count]);
    }
    assert!(received == media);
    let took = times.last().expect("some").duration_since(times[0]).as_secs_f64();
    assert!((took - 4.0).abs() < 0.5, "four seconds of media took {took:.2} s");
    assert!(player.wait().expect("it ends").success());
}

#[test]
fn a_stream_that_does_not_fit_is_refused_and_the_status_says_why() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("refuse", 3, &[(0, 1), (1, 2)]);
    let key = net.make_key("key");
    let film = net.write("film.ts", &transport_stream(60));
    // Two hops of 2 Mb/s in 8 Mb/s take 52 % of the time: one stream fits, a second one does not.
    let options = ["--key", &key, "--admission", "airtime", "--link-rate", "8 Mb/s"];
    net.start(2, &[&options[..], &["--offer", &film]].concat());
    net.start(1, &options);
    net.start(0, &options);
    wait_for_clip(&net, 0);
    std::thread::sleep(Duration::from_secs(3));
    let mut first = net.play(0, &["film.ts"]);
    net.wait_until(Duration::from_secs(10), "the first stream is booked", |net| {
        net.status(2)["bookings"].as_array().is_some_and(|bookings| bookings.len() == 1)
    });
    let state = net.status(1);
    assert_eq!(state["bookings"][0]["role"], "relay");
    assert_eq!(state["bookings"][0]["clip"], "film.ts");
    let reserved = state["reserved_airtime"].as_f64().expect("a number");
    // 2 · 2.0003 · 1360/1316 / 8.
    assert!((reserved - 0.5168).abs() < 0.002, "{reserved}");
    let copy = net.path("copy.ts");
    let output = net.run(0, &["play", "film.ts", "--output", &copy, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("film.ts is refused: too little airtime is left on the way"), "{}", said(&output));
    let played = json(&output);
    assert_eq!((&played["outcome"], &played["reason"]), (&"refused".into(), &"airtime".into()));
    assert!(!std::path::Path::new(&copy).exists());
    let text = String::from_utf8(net.run(1, &["status"]).stdout).expect("text");
    assert!(text.contains("relay for 10.0.0.1 number 0: film.ts over 2 hops, 2.00 Mb/s"), "{text}");
    // Whoever closes the player frees the path.
    first.kill().expect("it is ours");
    first.wait().expect("it ends");
    net.wait_until(Duration::from_secs(5), "the path is free", |net| {
        (0..3).all(|node| net.status(node)["bookings"] == Value::Array(vec![]))
    });
}

#[test]
fn a_killed_relay_is_replaced_and_the_file_is_whole() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("kill", 4, &[(0, 1), (1, 3), (0, 2), (2, 3)]);
    let key = net.make_key("key");
    let media = transport_stream(30);
    let film = net.write("film.ts", &media);
    let options = ["--key", &key, "--admission", "airtime", "--link-rate", "20 Mb/s"];
    net.start(3, &[&options[..], &["--offer", &film]].concat());
    (0..3).for_each(|node| net.start(node, &options));
    wait_for_clip(&net, 0);
    std::thread::sleep(Duration::from_secs(3));
    let copy = net.path("copy.ts");
    let player = net
        .command(0)
        .args(["play", "film.ts", "--json", "--output", &copy])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let is_relay = |net: &Net, node: usize| net.status(node)["bookings"][0]["role"] == "relay";
    net.wait_until(Duration::from_secs(10), "the stream is booked", |net| is_relay(net, 1) || is_relay(net, 2));
    std::thread::sleep(Duration::from_secs(3));
    let relay = if is_relay(&net, 1) { 1 } else { 2 };
    net.kill(relay);
    let output = player.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}\n{}", said(&output), net.log(0));
    assert!(std::fs::read(&copy).expect("it is there") == media);
    let played = json(&output);
    eprintln!(
        "killed relay: {} stalls of {} s, {} other path",
        played["stalls"], played["stalled_s"], played["reroutes"]
    );
    assert_eq!((&played["reroutes"], &played["verified"]), (&1.into(), &true.into()));
    // A neighbour is gone 5.5 s after its last message; a search takes half a second, and a second was buffered.
    let stalled = played["stalled_s"].as_f64().expect("a number");
    assert!(stalled > 3.0 && stalled < 12.0, "{stalled}");
}

#[test]
fn wrong_input_is_named() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("wrong", 2, &[(0, 1)]);
    let (key, other) = (net.make_key("key"), net.make_key("other"));
    let (film, notes) = (net.write("film.ts", &transport_stream(2)), net.write("notes.txt", &[b'x'; 5_000]));
    let serve = |options: &[&str]| {
        let output = net.run(0, &[&["serve", "--interface", "to1"][..], options].concat());
        (output.status.code(), said(&output))
    };
    for (options, wanted) in [
        (&["--offer", &film][..], "--key FILE is missing"),
        (&["--key", &net.path("nowhere")], "there is no such file; `hopcast key"),
        (&["--key", &key, "--offer", &net.path("nowhere.ts")], "nowhere.ts: No such file or directory"),
        (&["--key", &key, "--offer", &notes], "state its rate, as in \"4 Mb/s=FILE\""),
        (&["--key", &key, "--link-rate", "20"], "--link-rate"),
        (&["--key", &key, "--open"], "exclude each other"),
        (&["--key", &key, "--admission", "airtme"], "airtme is not one of"),
        (&["--key", &key, "--interface", "wlan9"], "there is no interface wlan9; there is to1"),
        (&["--key", &key, "--address", "10.9.9.9"], "no interface of this host has the address 10.9.9.9"),
    ] {
        let (status, said) = serve(options);
        assert_eq!(status, Some(2), "{options:?}: {said}");
        assert!(said.contains(wanted), "{options:?}: {said}");
    }
    for arguments in [&["list"][..], &["status", "--json"], &["play", "film.ts", "--output", "x.ts"]] {
        let output = net.run(0, arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains("no device runs on this host"), "{}", said(&output));
    }

    net.start(0, &["--key", &key, "--offer", &film]);
    let second = net.run(0, &["serve", "--interface", "to1", "--key", &key]);
    assert_eq!(second.status.code(), Some(2));
    assert!(said(&second).contains("another hopcast cloud serve runs"), "{}", said(&second));
    // Of a device with another key nothing is known.
    net.start(1, &["--key", &other]);
    std::thread::sleep(Duration::from_secs(3));
    let state = net.status(1);
    assert!(state["neighbours"] == Value::Array(vec![]) && state["clips"] == Value::Array(vec![]), "{state}");
    assert!(net.log(1).contains("sealed with another key"), "{}", net.log(1));
    let output = net.run(1, &["play", "film.ts", "--output", &net.path("copy.ts")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("there is no clip \"film.ts\" near by, and no other"), "{}", said(&output));
    let output = net.run(0, &["play", "flim.ts", "--output", &net.path("copy.ts")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("did you mean \"film.ts\"?"), "{}", said(&output));
    let output = net.run(0, &["play", "film.ts", "--json"]);
    assert!(said(&output).contains("--json needs --output"), "{}", said(&output));
    let output = net.run(0, &["play", "film.ts", "--output", &net.path("no/folder/copy.ts")]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// A full disk, a player that ends at once, and one that never reads.
#[test]
fn what_takes_the_media_may_fail() {
    if !is_available() {
        return;
    }
    let mut net = Net::new("sink", 1, &[]);
    net.ip(0, &["link", "add", "to1", "type", "veth", "peer", "name", "end"]);
    net.ip(0, &["address", "add", "10.0.0.1/24", "dev", "to1"]);
    ["to1", "end"].iter().for_each(|device| drop(net.ip(0, &["link", "set", device, "up"])));
    net.add_interface(0, "to1");
    let key = net.make_key("key");
    let film = net.write("film.ts", &transport_stream(60));
    net.start(0, &["--key", &key, "--offer", &film]);
    let output =
        net.shell(0, r#""$0" cloud play film.ts | head -c 100000 | wc -c"#, &[binary()]).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "100000", "{}", said(&output));
    net.wait_until(Duration::from_secs(5), "the play has ended", |net| {
        net.status(0)["plays"][0]["outcome"] == "stopped"
    });
    let output = net.shell(0, r#""$0" cloud play film.ts > /dev/full"#, &[binary()]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("No space left on device"), "{}", said(&output));
    let mut player = net
        .command(0)
        .args(["play", "film.ts"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(net.status(0)["plays"][2]["outcome"], "playing", "the device goes on");
    player.kill().expect("it is ours");
    player.wait().expect("it ends");
    assert_eq!(net.stop(0), Some(0));
}
