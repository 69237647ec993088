//! Every frame of public captures, parsed and emitted again.
//!
//! `HOPCAST_CAPTURES` is the directory that holds them, one folder a project: `aircrack` (aircrack-ng, `test/`), `ns3`
//! (ns-3, `src/aodv/test`, `src/mesh/test`) and `tcpdump` (tcpdump, `tests/`).

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::fs::{self, File};
use std::path::PathBuf;

use hopcast_wire::checksum::Policy;
use hopcast_wire::{dccp, ieee80211, ipv4, llc, radiotap, tcp, udp};
use pcap_file::DataLink;
use pcap_file::pcap::PcapReader;

/// How many of each were seen.
#[derive(Debug, Default)]
struct Seen {
    radiotap: usize,
    right_fcs: usize,
    frames: usize,
    internet: usize,
    udp: usize,
    tcp: usize,
    dccp: usize,
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
    if llc::Repr::parse(&snap) == Ok(llc::Repr::new(llc::EtherType::Ipv4)) {
        datagram(snap.payload(), seen);
    }
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

#[test]
fn captured_frames_become_the_same_octets_again() {
    let Some(captures) = std::env::var_os("HOPCAST_CAPTURES") else {
        println!("skipped: HOPCAST_CAPTURES doesn't name a directory with captures");
        return;
    };
    let mut seen = Seen::default();
    for project in ["aircrack", "ns3", "tcpdump"] {
        let folder = PathBuf::from(&captures).join(project);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut reader = PcapReader::new(file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let link = reader.header().datalink;
            while let Some(packet) = reader.next_raw_packet() {
                let packet = packet.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                // Frames cut short by the capture have no frame check sequence and perhaps no end.
                if packet.incl_len < packet.orig_len {
                    continue;
                }
                match link {
                    DataLink::IEEE802_11_RADIOTAP => {
                        let octets = behind_radiotap(&packet.data, &mut seen);
                        frame(octets, &mut seen);
                    }
                    DataLink::IEEE802_11 => frame(&packet.data, &mut seen),
                    DataLink::ETHERNET if packet.data[12..14] == [0x08, 0x00] => {
                        datagram(&packet.data[14..], &mut seen);
                    }
                    DataLink::LINUX_SLL if packet.data[14..16] == [0x08, 0x00] => {
                        datagram(&packet.data[16..], &mut seen);
                    }
                    _ => {}
                }
            }
        }
    }
    println!("{seen:?}");
    let Seen { radiotap, right_fcs, frames, internet, udp, tcp, dccp } = seen;
    assert!(
        [radiotap, right_fcs, frames, internet, udp, tcp, dccp].iter().all(|&count| count > 0),
        "some kind of packet is missing"
    );
}
