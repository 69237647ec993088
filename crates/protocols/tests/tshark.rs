//! Whole connections of DCCP, judged by Wireshark's dissector.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::{Config, Congestion, Connection, Output, Packet, Payload};
use hopcast_protocols::transport::{adtfrc, tfrc};
use hopcast_wire::{dccp, ipv4, pcapng};

const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
const DELAY: Duration = Duration::from_millis(50);

/// The bytes of a packet that `side` sends.
fn internet(side: usize, packet: &Packet) -> Vec<u8> {
    let mut header = packet.header.to_vec();
    let len = u16::try_from(packet.payload.len).expect("these packets are short");
    dccp::Packet::new_unchecked(&mut header).fill_checksum(HOSTS[side], HOSTS[1 - side], &[], len);
    let repr = ipv4::Repr {
        type_of_service: 0,
        identification: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol: ipv4::Protocol::Dccp,
        source: HOSTS[side],
        destination: HOSTS[1 - side],
        payload_len: u16::try_from(header.len()).expect("a header is short") + len,
    };
    let mut octets = vec![0; repr.buffer_len()];
    repr.emit(&mut ipv4::Packet::new_unchecked(&mut octets));
    octets.extend(header);
    octets.resize(octets.len() + usize::from(len), 0);
    octets
}

/// A connection from the Request to the Reset: the client sends some hundred packets, of which every fiftieth is lost, loses the
/// path for three seconds, and closes. What went over the wire, with the time in nanoseconds.
fn connection(congestion: [Congestion; 2]) -> Vec<(u64, Vec<u8>)> {
    let [client, server] = congestion;
    let config = |local_port, remote_port, congestion| Config {
        local_port,
        remote_port,
        congestion,
        // So short that the gap in the middle needs a Sync.
        sequence_window: 40,
        ..Config::default()
    };
    let mut ends =
        [Connection::connect(config(40_000, 5004, client), 7), Connection::listen(config(5004, 0, server), 9)];
    let mut wire: Vec<(Instant, usize, Packet)> = Vec::new();
    let mut capture = Vec::new();
    let (mut now, mut unit) = (Instant::START, 0);
    loop {
        for side in 0..2 {
            while unit < 600 && ends[0].handle_write(Payload { unit, len: 1000 }, now) {
                unit += 1;
            }
            if unit == 600 {
                ends[0].handle_close(now);
            }
            while let Some(output) = ends[side].poll_output(now) {
                let Output::Transmit(packet) = output else { continue };
                capture.push((now.as_nanos(), internet(side, &packet)));
                let gone = (2_000_000_000..5_000_000_000).contains(&now.as_nanos());
                if !gone && !capture.len().is_multiple_of(50) {
                    wire.push((now + DELAY, 1 - side, packet));
                }
            }
        }
        let arrival = wire.iter().map(|(at, ..)| *at).min();
        let Some(next) = ends.iter().filter_map(Connection::poll_timeout).chain(arrival).min() else { break };
        now = now.max(next);
        if let Some(nth) = wire.iter().position(|&(at, ..)| at <= now) {
            let (_, side, packet) = wire.remove(nth);
            ends[side].handle_packet(&packet, now);
        } else {
            ends.iter_mut().for_each(|end| end.handle_timeout(now));
        }
    }
    capture
}

/// What tshark prints about the capture with these arguments; `None`, with a message, where there is no tshark.
fn tshark(capture: &PathBuf, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("tshark");
    command
        .args(["-n", "-o", "dccp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-r"])
        .arg(capture)
        .args(arguments);
    let output = match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "tshark isn't installed");
            println!("skipped: tshark isn't installed");
            return None;
        }
        output => output.expect("tshark runs"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("tshark prints UTF-8"))
}

#[test]
fn tshark_decodes_every_packet_of_a_connection() {
    let plain = Congestion::Tfrc(tfrc::Config::default());
    let adaptive = Congestion::Adtfrc(adtfrc::Config::default());
    for (name, congestion) in [
        ("tfrc", [plain; 2]),
        ("adtfrc", [adaptive; 2]),
        ("to-plain", [adaptive, plain]),
        ("from-plain", [plain, adaptive]),
    ] {
        let packets = connection(congestion);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("dccp-{name}.pcapng"));
        let mut writer = pcapng::Writer::new(Vec::new(), "none").expect("memory doesn't fill up");
        let interface = writer.add_interface("wire0", pcapng::LinkType::Ipv4).expect("memory doesn't fill up");
        for (at, octets) in &packets {
            writer.write_on(interface, *at, octets).expect("memory doesn't fill up");
        }
        std::fs::write(&path, writer.into_inner()).expect("the directory for tests can be written");

        let bad =
            "_ws.malformed || _ws.expert.severity >= 0x600000 || dccp.option.len.bad || dccp.checksum.status != 1";
        let Some(bad) = tshark(&path, &["-Y", bad]) else { return };
        assert_eq!(bad, "", "{name}: malformed, or with warnings");
        let types = tshark(&path, &["-T", "fields", "-e", "dccp.type"]).expect("it was there a moment ago");
        let types: Vec<u8> = types.lines().map(|line| line.parse().expect("every packet is DCCP")).collect();
        assert_eq!(types.len(), packets.len());
        for kind in [0, 1, 2, 3, 4, 6, 7, 8, 9] {
            let seen = types.contains(&kind);
            // Data with an acknowledgement is seen where the client writes in PARTOPEN; a Sync where a gap was too long.
            assert!(seen || matches!(kind, 8 | 9), "{name}: no packet of type {kind}");
        }
        let options = tshark(&path, &["-T", "fields", "-e", "dccp.option_type"]).expect("it was there a moment ago");
        let options: Vec<u8> =
            options.lines().flat_map(|line| line.split(',')).filter_map(|kind| kind.parse().ok()).collect();
        // Timestamps come from an adaptive sender, states from an adaptive receiver that sees them.
        assert_eq!(options.contains(&41), congestion[0] == adaptive, "{name}");
        assert_eq!(options.contains(&248), congestion == [adaptive; 2], "{name}");
        assert!([43, 192, 194].iter().all(|kind| options.contains(kind)), "{name}");
    }
}
