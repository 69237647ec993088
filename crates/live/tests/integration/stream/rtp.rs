//! Media over plain RTP: between two commands, and between one of them and a program of others.

use std::fs;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;

use super::{Capture, Folder, LIMIT, Program, carry, free_port, pause, relay, tshark};

#[test]
fn a_file_arrives_as_it_was_over_rtp_with_each_congestion_control() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 700);
    let key = folder.key("key");
    for congestion in ["gcc", "scream", "nada", "tfrc", "adtfrc", "none"] {
        for feedback in ["ccfb", "twcc"] {
            let send = ["--congestion", congestion, "--feedback", feedback, "--min-rate", "3Mb/s"];
            let found = carry(&send, &["--variant", "rtp"], &film, &folder);
            assert!(found == octets, "{congestion}, {feedback}: {} of {} bytes", found.len(), octets.len());
        }
    }
    let send = ["--congestion", "scream", "--min-rate", "3Mb/s", "--key", &key];
    let found = carry(&send, &["--feedback", "ccfb", "--key", &key, "--jitter-buffer", "adaptive"], &film, &folder);
    assert!(!found.is_empty() && octets.ends_with(&found), "with a key: {} bytes", found.len());
}

#[test]
fn rtp_of_an_encoder_keeps_its_payload_type_time_and_marker() {
    let player = UdpSocket::bind("127.0.0.1:0").expect("a port");
    player.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
    let output = format!("rtp://{}", player.local_addr().expect("bound"));
    let (receiver, address) = Program::receive(&["--output", &output, "--variant", "rtp"]);
    let encoder = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let input = free_port();
    let send = ["send", "--to", &address, "--input", &format!("rtp://{input}"), "--congestion", "nada"];
    let sender = Program::start(&send);
    pause(Duration::from_millis(300));
    let mut buffer = [0; 2000];
    let mut sequences = Vec::new();
    for nth in 0..40_u8 {
        // Three packets of a frame at 90 kHz, with a number that the session does not take over.
        let marker = if nth % 3 == 2 { 0x80 } else { 0 };
        let mut packet = vec![nth; 200];
        packet[..12].copy_from_slice(&[0x80, marker | 96, 9, nth.wrapping_mul(7), 0, 0, nth / 3, 0, 1, 2, 3, 4]);
        encoder.send_to(&packet, &input).expect("sent");
        let len = player.recv(&mut buffer).expect("it arrives");
        assert_eq!((&buffer[1], &buffer[4..8]), (&packet[1], &packet[4..8]), "packet {nth}");
        assert_eq!(buffer[12..len], packet[12..]);
        sequences.push(u16::from_be_bytes([buffer[2], buffer[3]]));
    }
    assert!(sequences.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1)), "{sequences:?}");
    sender.signal(Signal::SIGINT);
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(130), "{text}");
    assert!(text.contains("40 packets sent, 0 dropped"), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
}

/// ffmpeg, or a word on why not.
fn has_ffmpeg() -> bool {
    let found = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_ok();
    assert!(found || std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "ffmpeg is missing");
    if !found {
        println!("skipped: ffmpeg is missing");
    }
    found
}

fn ffmpeg(arguments: &[&str]) -> Command {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-nostdin", "-y"]).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// A film of 4 s with 100 pictures.
fn moving_picture(folder: &Folder) -> String {
    let path = folder.path("film.ts");
    let picture = "testsrc2=size=320x240:rate=25";
    let encode = ["-c:v", "mpeg2video", "-b:v", "600k", "-maxrate", "600k", "-bufsize", "100k", "-g", "12"];
    let made = ffmpeg(&["-f", "lavfi", "-i", picture, "-t", "4"]).args(encode).args(["-f", "mpegts", &path]).status();
    assert!(made.expect("it runs").success());
    path
}

/// The pictures that ffmpeg decodes from this file, by their checksums.
fn pictures(path: &str) -> Vec<String> {
    let decoded = ffmpeg(&["-i", path, "-f", "framecrc", "-"]).stdout(Stdio::piped()).stderr(Stdio::null()).output();
    let text = String::from_utf8(decoded.expect("it runs").stdout).expect("text");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.rsplit_once(',')?.1.trim().to_owned())).collect()
}

#[test]
fn what_ffmpeg_sends_as_rtp_is_received() {
    if !has_ffmpeg() {
        return;
    }
    let folder = Folder::new();
    let film = moving_picture(&folder);
    let output = folder.path("out.ts");
    for more in [&["--variant", "rtp"][..], &["--feedback", "none", "--jitter-buffer", "fixed:200ms"]] {
        let (receiver, address) = Program::receive(&[&["--output", &output], more].concat());
        let sent =
            ffmpeg(&["-re", "-i", &film, "-c", "copy", "-f", "rtp_mpegts", &format!("rtp://{address}")]).status();
        assert!(sent.expect("it runs").success());
        pause(Duration::from_millis(500));
        receiver.signal(Signal::SIGINT);
        assert_eq!(receiver.end(LIMIT).0, Some(130));
        // Of what it copies, ffmpeg does not send the last transport packet, and with it the end of the last picture.
        let (shown, expected) = (pictures(&output), pictures(&film));
        assert_eq!((shown.len(), expected.len()), (100, 100), "{more:?}");
        assert_eq!(shown[..99], expected[..99], "{more:?}");
    }
}

#[test]
fn ffmpeg_plays_what_is_sent_as_rtp() {
    if !has_ffmpeg() {
        return;
    }
    let folder = Folder::new();
    let (film, output, description) = (moving_picture(&folder), folder.path("out.ts"), folder.path("stream.sdp"));
    // GCC sends padding, and a header extension with transport-wide numbers.
    for congestion in ["none", "gcc"] {
        let address = free_port();
        let (host, port) = address.split_once(':').expect("both");
        let lines = ["v=0", &format!("o=- 0 0 IN IP4 {host}"), "s=-", &format!("c=IN IP4 {host}"), "t=0 0"];
        fs::write(&description, format!("{}\nm=video {port} RTP/AVP 33\n", lines.join("\n"))).expect("there is room");
        // `rtp://` alone does it too, but ffmpeg throws away the first packet, by which it learns what comes.
        let listen = ["-protocol_whitelist", "file,udp,rtp", "-i", &description];
        let mut player = ffmpeg(&[&listen[..], &["-c", "copy", "-f", "mpegts", &output]].concat());
        let player = Program(player.stderr(Stdio::piped()).spawn().expect("it runs"));
        pause(Duration::from_millis(1000));
        let send = ["send", "--to", &address, "--input", &film, "--congestion", congestion, "--min-rate", "2Mb/s"];
        let (status, text) = Program::start(&send).end(LIMIT);
        assert_eq!(status, Some(0), "{text}");
        pause(Duration::from_millis(500));
        player.signal(Signal::SIGINT);
        player.end(LIMIT);
        // The last picture ends where the stream does, which ffmpeg does not learn.
        let (shown, expected) = (pictures(&output), pictures(&film));
        assert_eq!((expected.len(), &shown[..]), (100, &expected[..shown.len()]), "{congestion}");
        assert!(shown.len() >= 99, "{congestion}: {} pictures", shown.len());
    }
}

#[test]
fn tshark_reads_the_reports_that_are_sent() {
    if !tshark() {
        return;
    }
    let folder = Folder::new();
    let (film, _) = folder.film("film.ts", 1400);
    for (feedback, format) in [("twcc", "15"), ("ccfb", "11")] {
        let output = folder.path("out.ts");
        let (receiver, address) = Program::receive(&["--output", &output, "--variant", "rtp"]);
        let (here, relay) = relay(address, |_, _| true);
        // A report covers 500 packets at the most, so that probes are to stay small.
        let rates = ["--min-rate", "4Mb/s", "--max-rate", "5Mb/s"];
        let send = [&["send", "--to", &here, "--input", &film, "--congestion", "gcc"], &rates[..]].concat();
        let (status, text) = Program::start(&[&send[..], &["--feedback", feedback]].concat()).end(LIMIT);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(receiver.end(LIMIT).0, Some(0));
        let capture = relay.join().expect("no panic");
        let path = folder.path("capture.pcap");
        fs::write(&path, pcap(&capture)).expect("there is room");
        let fields = |what: &str, names: &[&str]| fields(&path, what, names);
        assert_eq!(fields("_ws.malformed", &["frame.number"]), [[""; 0]; 0]);
        let media = fields("rtp && rtp.p_type == 33 && rtp.padding == 0", &["rtp.seq"]);
        assert_eq!(media.len(), 200, "{feedback}");
        let reports = fields("rtcp && rtcp.pt == 205", &["rtcp.rtpfb.fmt", "rtcp.length_check"]);
        assert!(reports.len() >= 5 && reports.iter().all(|report| *report == [format, "1"]), "{reports:?}");
        // Goodbyes, which are three at the most: the receiver is gone by then.
        assert!((1..=3).contains(&fields("rtcp.pt == 203", &["rtcp.pt"]).len()));
        if feedback == "twcc" {
            let told = fields("rtcp.pt == 205", &["frame.number", "rtcp.rtpfb.transportcc.statuscount"]);
            let number = |text: &String| text.parse::<usize>().expect("a number");
            let (last, sum) =
                (number(&told.last().expect("a report")[0]), told.iter().map(|row| number(&row[1])).sum());
            let media = fields("rtp", &["frame.number"]);
            let before = media.iter().filter(|row| number(&row[0]) < last).count();
            // What the relay has passed on and the receiver has not read, it can't tell.
            assert!((before.saturating_sub(64)..=before).contains(&sum), "{sum} of {before}: {told:?}");
        }
    }
}

/// One datagram of ten is lost on the way to the receiver.
#[test]
fn tshark_reads_sender_and_receiver_reports_and_the_sender_learns_of_losses() {
    if !tshark() {
        return;
    }
    let folder = Folder::new();
    // 10 s: each end reports at most 3.1 s after its start, and then each 2 to 6.2 s.
    let (film, _) = folder.film("film.ts", 27_000);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output, "--variant", "rtp"]);
    let (here, relay) = relay(address, |is_receiver, nth| is_receiver || !nth.is_multiple_of(10));
    let send = ["send", "--to", &here, "--input", &film, "--congestion", "none", "--json"];
    let mut sender = Program::start(&send);
    let lines = std::io::read_to_string(sender.stdout()).expect("text");
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    let path = folder.path("capture.pcap");
    fs::write(&path, pcap(&relay.join().expect("no panic"))).expect("there is room");
    assert_eq!(fields(&path, "_ws.malformed", &["frame.number"]), [[""; 0]; 0]);
    let names = ["udp.dstport", "rtcp.sdes.type", "rtcp.length_check", "rtcp.sender.packetcount"];
    let sent = fields(&path, "rtcp.pt == 200", &names);
    assert!(sent.len() >= 2 && sent.iter().all(|row| row[..3] == ["5004", "1,0", "1"]), "{sent:?}");
    let names = ["udp.srcport", "rtcp.sdes.type", "rtcp.length_check", "rtcp.ssrc.fraction", "rtcp.ssrc.lsr"];
    let received = fields(&path, "rtcp.pt == 201", &names);
    assert!(received.len() >= 2 && received.iter().all(|row| row[..3] == ["5004", "1,0", "1"]), "{received:?}");
    let fraction = |row: &Vec<String>| row[3].parse::<f64>().expect("a number") / 256.0;
    assert!(received.iter().map(fraction).all(|fraction| (0.08..0.12).contains(&fraction)), "{received:?}");
    // The last one is behind a report of the sender.
    assert_ne!(received[received.len() - 1][4], "0", "{received:?}");
    let line = lines.lines().last().expect("an end");
    let end: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert!(end["fraction_lost"].as_f64().is_some_and(|lost| (0.08..0.12).contains(&lost)), "{end}");
    assert!(end["interarrival_jitter_s"].as_f64().is_some_and(|jitter| jitter < 0.1), "{end}");
}

/// These fields of the packets of a capture that a filter lets through, as tshark reads them.
fn fields(path: &str, filter: &str, names: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-r", path, "-d", "udp.port==5004,rtp", "-Y", filter, "-T", "fields"]);
    names.iter().for_each(|name| _ = command.args(["-e", name]));
    let read = command.output().expect("it runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8(read.stdout).expect("text");
    text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// The datagrams of a relay over UDP, the receiver at port 5004.
fn pcap(datagrams: &Capture) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (nth, (is_receiver, payload)) in (0_u32..).zip(datagrams) {
        let len = 28 + payload.len();
        for word in [nth / 1000, nth % 1000 * 1000, len as u32, len as u32] {
            file.extend(word.to_le_bytes());
        }
        let (sender, receiver) = (([10, 0, 0, 1], 40_000_u16), ([10, 0, 0, 2], 5004));
        let [from, to] = if *is_receiver { [receiver, sender] } else { [sender, receiver] };
        file.extend([0x45, 0]);
        file.extend((len as u16).to_be_bytes());
        file.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        file.extend([from.0, to.0].concat());
        for half in [from.1, to.1, (len - 20) as u16, 0] {
            file.extend(half.to_be_bytes());
        }
        file.extend(payload);
    }
    file
}

/// Datagrams that are not of the stream change nothing: reports of others, and media of others.
#[test]
fn strangers_change_nothing_over_rtp() {
    let folder = Folder::new();
    let (film, octets) = folder.film("film.ts", 2000);
    let output = folder.path("out.ts");
    let (receiver, address) = Program::receive(&["--output", &output, "--variant", "rtp"]);
    let send = ["send", "--to", &address, "--input", &film, "--congestion", "scream", "--min-rate", "4Mb/s"];
    let sender = Program::start(&send);
    pause(Duration::from_millis(300));
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("a port");
    for nth in 0..500_u16 {
        let [high, low] = nth.to_be_bytes();
        stranger.send_to(&[0x80, 33, high, low, 0, 0, 0, 0, 9, 9, 9, 9, 0x47, 0, 0, 0], &address).expect("sent");
        stranger.send_to(&[0x8b, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, high, low, 0, 0], &address).expect("sent");
    }
    let (status, text) = sender.end(LIMIT);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(receiver.end(LIMIT).0, Some(0));
    assert!(fs::read(output).expect("it was made") == octets);
}
