//! Parses and emits every frame of public captures.
//!
//! `HOPCAST_CAPTURES` is the directory with the captures, one folder per project: `aircrack` (aircrack-ng, `test/`),
//! `ns3` (ns-3, `src/aodv/test`, `src/mesh/test`) and `tcpdump` (tcpdump, `tests/`).

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hopcast_wire::checksum::Policy;
use hopcast_wire::{aodv, arp, dccp, dsr, ieee80211, ipv4, llc, olsr, radiotap, tcp, udp};

use crate::pcap::{Capture, link_type};

/// How many of each were seen.
#[derive(Debug, Default)]
struct Seen {
    radiotap: usize,
    right_fcs: usize,
    frames: usize,
    arp: usize,
    internet: usize,
    udp: usize,
    tcp: usize,
    /// AODV messages, each in a line with the fields of [`AODV_FIELDS`].
    aodv: Vec<String>,
    /// Optional: no capture of others is known.
    dsr: usize,
    dccp: usize,
    olsr: usize,
}

/// What tshark prints of AODV messages; it calls the sequence numbers of unreachable destinations like those of others.
const AODV_FIELDS: [&str; 11] = [
    "type",
    "flags",
    "hopcount",
    "rreq_id",
    "dest_ip",
    "dest_seqno",
    "orig_ip",
    "orig_seqno",
    "lifetime",
    "destcount",
    "unreach_dest_ip",
];

/// A field of a message in the manner of tshark; nothing, if it has none of that name.
fn aodv_field(message: &aodv::Repr<'_>, name: &str) -> String {
    use aodv::Repr::{Acknowledgement, Error, Reply, Request};
    let joined = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(",");
    match (message, name) {
        (Request(_), "type") => "1".to_owned(),
        (Reply(_), "type") => "2".to_owned(),
        (Error(_), "type") => "3".to_owned(),
        (Acknowledgement, "type") => "4".to_owned(),
        (Request(request), "flags") => (u16::from(request.flags.0) << 8).to_string(),
        (Reply(reply), "flags") => (u16::from(reply.flags.0) << 8).to_string(),
        (Error(error), "flags") => (u16::from(error.no_delete) << 15).to_string(),
        (Request(request), "hopcount") => request.hop_count.to_string(),
        (Reply(reply), "hopcount") => reply.hop_count.to_string(),
        (Request(request), "rreq_id") => request.id.to_string(),
        (Request(request), "dest_ip") => request.destination.to_string(),
        (Reply(reply), "dest_ip") => reply.destination.to_string(),
        (Request(request), "dest_seqno") => request.destination_sequence.to_string(),
        (Reply(reply), "dest_seqno") => reply.destination_sequence.to_string(),
        (Error(error), "dest_seqno") => joined(&mut error.unreachable.iter().map(|lost| lost.sequence.to_string())),
        (Request(request), "orig_ip") => request.originator.to_string(),
        (Reply(reply), "orig_ip") => reply.originator.to_string(),
        (Request(request), "orig_seqno") => request.originator_sequence.to_string(),
        (Reply(reply), "lifetime") => reply.lifetime.to_string(),
        (Error(error), "destcount") => error.unreachable.len().to_string(),
        (Error(error), "unreach_dest_ip") => {
            joined(&mut error.unreachable.iter().map(|lost| lost.destination.to_string()))
        }
        _ => String::new(),
    }
}

/// The frame behind a radiotap header, without its frame check sequence.
fn behind_radiotap<'a>(octets: &'a [u8], seen: &mut Seen) -> &'a [u8] {
    let packet = radiotap::Packet::new_checked(octets).expect("captured headers are whole");
    let repr = radiotap::Repr::parse(&packet).expect("captured fields are whole");
    let mut emitted = vec![0; repr.buffer_len()];
    repr.emit(&mut radiotap::Packet::new_unchecked(&mut emitted));
    assert_eq!(radiotap::Repr::parse(&radiotap::Packet::new_checked(&emitted).unwrap()), Ok(repr));
    seen.radiotap += 1;
    let frame = &octets[packet.header_len()..];
    match repr.flags {
        Some(flags) if flags.contains(radiotap::Flags::FCS_AT_END) => {
            let stripped = ieee80211::fcs::strip(frame);
            seen.right_fcs += usize::from(stripped.is_ok());
            // Wireshark, too, finds those of ieee802.11_rx-stbc wrong.
            stripped.unwrap_or(&frame[..frame.len() - ieee80211::fcs::LEN])
        }
        _ => frame,
    }
}

/// Whether the body is in the clear and begins with LLC/SNAP.
fn carries_a_packet(repr: &ieee80211::Repr) -> bool {
    use ieee80211::{DataSubtype, Repr};
    match repr {
        Repr::Data { flags, subtype: DataSubtype::Data | DataSubtype::QosData, .. } => !flags.protected,
        _ => false,
    }
}

fn frame(octets: &[u8], seen: &mut Seen) {
    let packet = ieee80211::Packet::new_checked(octets).expect("captured frames are whole");
    let repr = ieee80211::Repr::parse(&packet).expect("captured frames have a meaning");
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut ieee80211::Packet::new_unchecked(&mut emitted));
    assert_eq!(emitted, octets[..emitted.len()]);
    seen.frames += 1;
    if !carries_a_packet(&repr) {
        return;
    }
    let Ok(snap) = llc::Packet::new_checked(packet.payload()) else { return };
    match llc::Repr::parse(&snap) {
        Ok(repr) if repr == llc::Repr::new(llc::EtherType::Ipv4) => datagram(snap.payload(), seen),
        Ok(repr) if repr == llc::Repr::new(llc::EtherType::Arp) => resolution(snap.payload(), seen),
        _ => {}
    }
}

/// ARP.
fn resolution(octets: &[u8], seen: &mut Seen) {
    let packet = arp::Packet::new_checked(octets).expect("captured packets are whole");
    let repr = arp::Repr::parse(&packet).expect("these map IPv4 to MAC addresses");
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut arp::Packet::new_unchecked(&mut emitted));
    assert_eq!(emitted, octets[..emitted.len()]);
    seen.arp += 1;
}

/// Checksums aren't judged: ns-3 writes none unless told to, and network cards fill them in after the capture.
fn datagram(octets: &[u8], seen: &mut Seen) {
    let packet = ipv4::Packet::new_checked(octets).expect("captured datagrams are whole");
    let repr = ipv4::Repr::parse(&packet, Policy::Ignore).expect("nothing else can be wrong");
    if packet.options().is_empty() {
        let mut emitted = vec![0xee; repr.buffer_len()];
        repr.emit(&mut ipv4::Packet::new_unchecked(&mut emitted));
        assert_eq!((&emitted[..10], &emitted[12..]), (&octets[..10], &octets[12..20]));
        assert!(packet.checksum() == 0 || emitted[10..12] == octets[10..12]);
    }
    seen.internet += 1;
    let (source, destination, payload) = (repr.source, repr.destination, packet.payload());
    match repr.protocol {
        ipv4::Protocol::Udp => {
            let packet = udp::Packet::new_checked(payload).expect("captured datagrams are whole");
            let repr = udp::Repr::parse(&packet, source, destination, Policy::Verify).expect("these were sent");
            let mut emitted = vec![0xee; repr.buffer_len()];
            repr.emit(&mut udp::Packet::new_unchecked(&mut emitted), source, destination, packet.payload());
            assert_eq!(emitted[..6], payload[..6]);
            assert!(packet.checksum() == 0 || emitted[6..8] == payload[6..8]);
            seen.udp += 1;
            if repr.destination_port == olsr::PORT {
                olsr_packet(packet.payload(), seen);
            }
            if repr.destination_port == aodv::PORT {
                let message = aodv::Repr::parse(packet.payload()).expect("ns-3 emits what the RFC says");
                assert_eq!(message.to_octets(), packet.payload());
                seen.aodv.push(AODV_FIELDS.map(|name| aodv_field(&message, name)).join("\t"));
            }
        }
        ipv4::Protocol::Tcp => {
            let packet = tcp::Packet::new_checked(payload).expect("captured segments are whole");
            let repr = tcp::Repr::parse(&packet, source, destination, Policy::Ignore).expect("their options are right");
            let mut emitted = vec![0xee; repr.buffer_len()];
            repr.emit(&mut tcp::Packet::new_unchecked(&mut emitted), source, destination, packet.payload());
            assert_eq!(emitted[..16], payload[..16]);
            // Options are padded in more than one way: what counts is what they say.
            let again = tcp::Packet::new_checked(&emitted).expect("a header alone is a segment");
            let again =
                tcp::Repr::parse(&again, source, destination, Policy::Ignore).expect("what is emitted is right");
            assert_eq!(again, tcp::Repr { payload_len: 0, ..repr });
            seen.tcp += 1;
        }
        ipv4::Protocol::Dsr => {
            let packet = dsr::Packet::new_checked(payload).expect("captured headers are whole");
            let options: Vec<_> = packet.options().map(|option| option.expect("captured options are whole")).collect();
            // Padding is among the options: nothing is added.
            let repr = dsr::Repr { next_header: packet.next_header(), options: &options };
            let mut emitted = vec![0xee; repr.buffer_len()];
            repr.emit(&mut dsr::Packet::new_unchecked(&mut emitted));
            assert_eq!(emitted, payload[..packet.header_len()]);
            seen.dsr += 1;
        }
        ipv4::Protocol::Dccp => {
            let packet = dccp::Packet::new_checked(payload).expect("captured packets are whole");
            let repr = dccp::Repr::parse(&packet, source, destination, Policy::Verify).expect("these were sent");
            let mut emitted = vec![0xee; repr.buffer_len()];
            let mut view = dccp::Packet::new_unchecked(&mut emitted);
            repr.emit(&mut view);
            view.fill_checksum(source, destination, packet.payload(), repr.payload_len);
            assert_eq!(emitted, payload[..emitted.len()]);
            assert!(repr.options.iter().all(|option| option.is_ok()));
            seen.dccp += 1;
        }
        _ => {}
    }
}

fn olsr_packet(octets: &[u8], seen: &mut Seen) {
    let packet = olsr::Packet::new_checked(octets).expect("captured packets are whole");
    let repr = olsr::Repr::parse(&packet).expect("a packet has a meaning");
    let mut emitted = vec![0xee; repr.buffer_len()];
    repr.emit(&mut olsr::Packet::new_unchecked(&mut emitted));
    for message in packet.messages() {
        let message = message.expect("captured messages are whole");
        let header = message.header();
        let start = emitted.len();
        emitted.resize(start + header.buffer_len(), 0xee);
        header.emit(&mut emitted[start..]);
        // Those of other types belong to a daemon's extensions.
        match header.kind {
            olsr::MessageType::Hna => {
                let view = olsr::hna::View::new_checked(message.body()).expect("captured networks are whole");
                let repr = olsr::hna::Repr::parse(&view);
                let start = emitted.len();
                emitted.resize(start + repr.buffer_len(), 0xee);
                repr.emit(&mut emitted[start..]);
            }
            _ => emitted.extend(message.body()),
        }
    }
    assert_eq!(emitted, octets);
    seen.olsr += 1;
}

/// Reads every packet of a capture. Frames cut short by the capture have no frame check sequence and perhaps no end.
fn read(path: &Path, seen: &mut Seen) {
    let capture = Capture::open(path);
    for packet in capture.whole_packets() {
        match capture.link_type() {
            link_type::IEEE802_11_RADIOTAP => frame(behind_radiotap(packet, seen), seen),
            link_type::IEEE802_11 => frame(packet, seen),
            link_type::ETHERNET if packet[12..14] == [0x08, 0x00] => datagram(&packet[14..], seen),
            link_type::ETHERNET if packet[12..14] == [0x08, 0x06] => resolution(&packet[14..], seen),
            // The same with the tag of a virtual network.
            link_type::ETHERNET if packet[12..14] == [0x81, 0x00] && packet[16..18] == [0x08, 0x00] => {
                datagram(&packet[18..], seen);
            }
            link_type::LINUX_SLL if packet[14..16] == [0x08, 0x00] => datagram(&packet[16..], seen),
            _ => {}
        }
    }
}

/// The directory with captures; `None`, with a message, if there is none.
fn captures() -> Option<PathBuf> {
    let captures = std::env::var_os("HOPCAST_CAPTURES").map(PathBuf::from);
    if captures.is_none() {
        println!("skipped: HOPCAST_CAPTURES doesn't name a directory with captures");
    }
    captures
}

#[test]
fn captured_frames_become_the_same_octets_again() {
    let Some(captures) = captures() else { return };
    let mut seen = Seen::default();
    for project in ["aircrack", "ns3", "tcpdump"] {
        let folder = captures.join(project);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            read(&path, &mut seen);
        }
    }
    let Seen { radiotap, right_fcs, frames, arp, internet, udp, tcp, aodv, olsr, dccp, dsr: _ } = seen;
    let counts = [radiotap, right_fcs, frames, arp, internet, udp, tcp, dccp, olsr, aodv.len()];
    println!("radiotap, right FCS, frames, ARP, IPv4, UDP, TCP, DCCP, OLSR, AODV: {counts:?}");
    assert!(counts.iter().all(|&count| count > 0), "some kind of packet is missing");
}

#[test]
fn captured_aodv_messages_say_what_tshark_says_of_them() {
    let Some(captures) = captures() else { return };
    let names = [("aodv-chain-regression-test", 5), ("bug-606-test", 3)];
    let names = names.iter().flat_map(|&(name, nodes)| (0..nodes).map(move |node| format!("{name}-{node}-0.pcap")));
    for name in names {
        let path = captures.join("ns3").join(name);
        let mut seen = Seen::default();
        read(&path, &mut seen);
        let mut command = Command::new("tshark");
        command.arg("-n").arg("-r").arg(&path).args(["-Y", "aodv", "-T", "fields"]);
        for field in AODV_FIELDS {
            command.arg("-e").arg(format!("aodv.{field}"));
        }
        let output = match command.output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                println!("skipped: tshark isn't installed");
                return;
            }
            output => output.expect("tshark runs"),
        };
        let printed = String::from_utf8(output.stdout).expect("tshark prints UTF-8");
        assert!(!seen.aodv.is_empty(), "{}", path.display());
        assert_eq!(seen.aodv, printed.lines().collect::<Vec<_>>(), "{}", path.display());
    }
}
