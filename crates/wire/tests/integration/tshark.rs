//! Checks a capture with every kind of frame by Wireshark's dissectors.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::Command;

use hopcast_wire::dccp::{Body, Feature, LossInterval, NetworkState, OptionList, OptionRepr, ResetCode, TimestampEcho};
use hopcast_wire::ieee80211::management::{
    AccessCategoryParameters, Bss, Capability, EdcaParameterSet, Elements, ErpInformation, Rates, Reason, Ssid, Status,
    TrafficIndication,
};
use hopcast_wire::ieee80211::{
    Addressing, DataSubtype, Flags, ManagementSubtype, SequenceControl, block_ack, fcs, management,
};
use hopcast_wire::olsr::hello::{LinkCode, LinkType, NeighbourType};
use hopcast_wire::radiotap::{
    AmpduStatus, Bandwidth, Channel, ChannelFlags, He, HeGuardInterval, Mcs, Modulation, Vht,
};
use hopcast_wire::tcp::{Options, SackBlock, SackBlocks, Timestamps, UnknownOptions};
use hopcast_wire::{
    MacAddress, aodv, arp, dccp, dsdv, dsr, ieee80211, ipv4, llc, olsr, pcapng, radiotap, rtp, tcp, udp,
};

const NETWORK: MacAddress = MacAddress([0x02, 0, 0, 0, 0xff, 0xff]);
const NEAR: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 1]);
const FAR: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 2]);
const NEAR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const FAR_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

const RADIO: radiotap::Repr = radiotap::Repr {
    tsft: Some(1_234_567),
    flags: Some(radiotap::Flags(radiotap::Flags::SHORT_PREAMBLE.0 | radiotap::Flags::FCS_AT_END.0)),
    rate: Some(22),
    channel: Some(Channel {
        frequency: 2437,
        flags: ChannelFlags(ChannelFlags::CCK.0 | ChannelFlags::SPECTRUM_2_GHZ.0),
    }),
    antenna_signal: Some(-61),
    modulation: None,
    ampdu: None,
};

/// Radiotap header, header, body and frame check sequence.
fn on_the_air(header: ieee80211::Repr, body: &[u8]) -> Vec<u8> {
    on_the_air_by(RADIO, header, body)
}

fn on_the_air_by(radio: radiotap::Repr, header: ieee80211::Repr, body: &[u8]) -> Vec<u8> {
    let mut octets = vec![0; radio.buffer_len()];
    radio.emit(&mut radiotap::Packet::new_unchecked(&mut octets));
    let mut frame = vec![0; header.buffer_len()];
    header.emit(&mut ieee80211::Packet::new_unchecked(&mut frame));
    frame.extend(body);
    frame.extend([0; fcs::LEN]);
    fcs::fill(&mut frame);
    octets.extend(frame);
    octets
}

fn data(sequence: u16, subtype: DataSubtype, flags: Flags) -> ieee80211::Repr {
    ieee80211::Repr::Data {
        flags,
        duration: 314,
        subtype,
        addressing: Addressing::AdHoc { destination: FAR, source: NEAR, bssid: NETWORK },
        sequence_control: SequenceControl { sequence, fragment: 0 },
        qos_control: 0,
        ht_control: None,
    }
}

fn internet(protocol: ipv4::Protocol, payload_len: usize) -> ipv4::Repr {
    ipv4::Repr {
        type_of_service: 0,
        identification: 77,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        time_to_live: 64,
        protocol,
        source: NEAR_IP,
        destination: FAR_IP,
        payload_len: payload_len.try_into().expect("these packets are short"),
    }
}

/// LLC/SNAP and IPv4 headers before `payload`.
fn datagram(repr: ipv4::Repr, payload: &[u8]) -> Vec<u8> {
    let snap = llc::Repr::new(llc::EtherType::Ipv4);
    let mut octets = vec![0; snap.buffer_len() + repr.buffer_len()];
    snap.emit(&mut llc::Packet::new_unchecked(&mut octets));
    repr.emit(&mut ipv4::Packet::new_unchecked(&mut octets[snap.buffer_len()..]));
    octets.extend(payload);
    octets
}

fn udp_octets(payload_len: u16, payload: &[u8]) -> Vec<u8> {
    udp_octets_between(5001, 5002, payload_len, payload)
}

fn udp_octets_between(source_port: u16, destination_port: u16, payload_len: u16, payload: &[u8]) -> Vec<u8> {
    let repr = udp::Repr { source_port, destination_port, payload_len };
    let mut octets = vec![0; repr.buffer_len() + usize::from(payload_len)];
    repr.emit(&mut udp::Packet::new_unchecked(&mut octets), NEAR_IP, FAR_IP, payload);
    octets[repr.buffer_len()..][..payload.len()].copy_from_slice(payload);
    octets
}

fn tcp_octets(flags: tcp::Flags, options: Options, payload_len: u16) -> Vec<u8> {
    let repr = tcp::Repr {
        source_port: 40000,
        destination_port: 5003,
        sequence: 0xdead_beef,
        acknowledgement: 0x0102_0304,
        flags,
        window: 8192,
        urgent: 0,
        options,
        payload_len,
    };
    let mut octets = vec![0; repr.buffer_len() + usize::from(payload_len)];
    repr.emit(&mut tcp::Packet::new_unchecked(&mut octets), NEAR_IP, FAR_IP, &[]);
    octets
}

fn tcp_frame(sequence: u16, flags: tcp::Flags, options: Options, payload_len: u16) -> Vec<u8> {
    let segment = tcp_octets(flags, options, payload_len);
    on_the_air(
        data(sequence, DataSubtype::Data, Flags::NONE),
        &datagram(internet(ipv4::Protocol::Tcp, segment.len()), &segment),
    )
}

/// One packet of each kind.
fn packets() -> Vec<Vec<u8>> {
    let none = Flags::NONE;
    let mut unknown = UnknownOptions::NONE;
    // The experimental kind 254 with the identifier 0xf00d (RFC 6994).
    assert!(unknown.push(254, &[0xf0, 0x0d]));
    let timestamps = Some(Timestamps { value: 1000, echo: 999 });
    let syn = Options {
        max_segment_size: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps,
        unknown,
        ..Options::NONE
    };
    let mut sack_blocks = SackBlocks::NONE;
    for left in [0x0102_1000, 0x0102_3000, 0x0102_5000] {
        assert!(sack_blocks.push(SackBlock { left, right: left + 1000 }));
    }
    let whole = udp_octets(1480, &[0xa5; 700]);
    let (first, last) = whole.split_at(1000);
    let fragment = |more_fragments, offset: usize, payload: &[u8]| {
        let fragment_offset = offset.try_into().expect("the fragments are short");
        let repr = ipv4::Repr { more_fragments, fragment_offset, ..internet(ipv4::Protocol::Udp, payload.len()) };
        datagram(repr, payload)
    };
    let short = udp_octets(101, b"an odd number of octets");
    #[rustfmt::skip]
    let beacon = [
        1, 0, 0, 0, 0, 0, 0, 0, // Timestamp.
        100, 0, // Interval of 100 time units.
        0x02, 0x00, // An ad hoc network.
        0, 7, b'h', b'o', b'p', b'c', b'a', b's', b't', // SSID.
        1, 4, 0x82, 0x84, 0x8b, 0x96, // Rates.
        6, 2, 0, 0, // Ad hoc parameters: no announcements.
    ];
    vec![
        on_the_air(
            ieee80211::Repr::Management {
                flags: none,
                duration: 0,
                subtype: ManagementSubtype::Beacon,
                destination: MacAddress::BROADCAST,
                source: NEAR,
                bssid: NETWORK,
                sequence_control: SequenceControl { sequence: 1, fragment: 0 },
                ht_control: None,
            },
            &beacon,
        ),
        on_the_air(ieee80211::Repr::Rts { flags: none, duration: 1000, receiver: FAR, transmitter: NEAR }, &[]),
        on_the_air(ieee80211::Repr::Cts { flags: none, duration: 800, receiver: NEAR }, &[]),
        on_the_air(
            data(2, DataSubtype::Data, Flags { retry: true, ..none }),
            &datagram(internet(ipv4::Protocol::Udp, short.len()), &short),
        ),
        on_the_air(ieee80211::Repr::Ack { flags: none, duration: 0, receiver: NEAR }, &[]),
        on_the_air(data(3, DataSubtype::Data, none), &fragment(true, 0, first)),
        on_the_air(data(4, DataSubtype::Data, none), &fragment(false, 1000, last)),
        tcp_frame(5, tcp::Flags::SYN, syn, 0),
        tcp_frame(6, tcp::Flags::ACK, Options { timestamps, sack_blocks, ..Options::NONE }, 0),
        tcp_frame(7, tcp::Flags::ACK | tcp::Flags::PSH, Options { timestamps, ..Options::NONE }, 1000),
        on_the_air(data(8, DataSubtype::QosData, none), &datagram(internet(ipv4::Protocol::Udp, short.len()), &short)),
        on_the_air(data(9, DataSubtype::Null, none), &[]),
    ]
}

/// What tshark prints about the capture with these arguments; `None`, with a message, where there is no tshark.
fn tshark(capture: &PathBuf, arguments: &[&str]) -> Option<String> {
    let checks = ["wlan", "ip", "udp", "tcp", "dccp"].map(|layer| format!("{layer}.check_checksum"));
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(capture).args(arguments);
    for check in checks {
        command.arg("-o").arg(format!("{check}:TRUE"));
    }
    let output = match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            println!("skipped: tshark isn't installed");
            return None;
        }
        output => output.expect("tshark runs"),
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    Some(String::from_utf8(output.stdout).expect("tshark prints UTF-8"))
}

fn write_capture(name: &str, packets: &[Vec<u8>]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut writer = pcapng::Writer::new(Vec::new(), "node0").expect("memory doesn't fill up");
    for (at, octets) in (1_000_000_007_u64..).step_by(1_000_000_001).zip(packets) {
        writer.write(at, octets).expect("memory doesn't fill up");
    }
    std::fs::write(&path, writer.into_inner()).expect("the directory for tests can be written");
    path
}

#[test]
fn tshark_reads_every_kind_of_frame_as_it_was_meant() {
    let packets = packets();
    let capture = write_capture("every-kind.pcapng", &packets);
    let Some(wrong) =
        tshark(&capture, &["-Y", "_ws.malformed || _ws.unreassembled || _ws.expert.severity >= 0x600000"])
    else {
        return;
    };
    assert_eq!(wrong, "", "malformed, or with warnings");

    let fields = |fields: &[&str]| -> Vec<String> {
        let mut arguments = vec!["-T", "fields", "-E", "separator= "];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
        // Truth values are spelt otherwise by other versions of tshark.
        let spelling = |line: &str| line.trim_end().replace("True", "1").replace("False", "0");
        printed.lines().map(spelling).collect()
    };
    let all = |value: &str| vec![value.to_owned(); packets.len()];

    assert_eq!(fields(&["wlan.fcs.status"]), all("1"), "1 is good");
    assert_eq!(fields(&["frame.encap_type"]), all("23"));
    let radio =
        ["mactime", "flags.preamble", "flags.fcs", "datarate", "channel.freq", "channel.flags", "dbm_antsignal"];
    let radio = radio.map(|field| format!("radiotap.{field}"));
    assert_eq!(fields(&radio.each_ref().map(String::as_str)), all("1234567 1 1 11 2437 0x00a0 -61"));
    assert_eq!(fields(&["frame.time_epoch"])[..2], ["1.000000007", "2.000000008"]);

    let kinds = fields(&["wlan.fc.type_subtype"]);
    let (beacon, rts, cts, ack) = ("0x0008", "0x001b", "0x001c", "0x001d");
    let (data, null, qos) = ("0x0020", "0x0024", "0x0028");
    assert_eq!(kinds, [beacon, rts, cts, data, ack, data, data, data, data, data, qos, null]);
    assert_eq!(
        fields(&["wlan.duration"]),
        ["0", "1000", "800", "314", "0", "314", "314", "314", "314", "314", "314", "314"]
    );
    let addresses = fields(&["wlan.ra", "wlan.ta", "wlan.bssid", "wlan.seq", "wlan.fc.retry"]);
    let (near, far, network) = (NEAR.to_string(), FAR.to_string(), NETWORK.to_string());
    assert_eq!(addresses[0], format!("ff:ff:ff:ff:ff:ff {near} {network} 1 0"));
    assert_eq!(addresses[1], format!("{far} {near}   0"));
    assert_eq!(addresses[2], format!("{near}    0"));
    assert_eq!(addresses[3], format!("{far} {near} {network} 2 1"));
    assert_eq!(addresses[11], format!("{far} {near} {network} 9 0"));
    let named = tshark(&capture, &["-Y", "wlan.ssid == \"hopcast\"", "-T", "fields", "-e", "frame.number"]);
    assert_eq!(named.as_deref(), Some("1\n"));

    let internet = fields(&["ip.src", "ip.dst", "ip.proto", "ip.ttl", "ip.id", "ip.checksum.status"]);
    for (nth, protocol) in [(3, 17), (5, 17), (6, 17), (7, 6), (8, 6), (9, 6), (10, 17)] {
        assert_eq!(internet[nth], format!("10.0.0.1 10.0.0.2 {protocol} 64 0x004d 1"), "packet {nth}");
    }
    let fragments = fields(&["ip.flags.mf", "ip.reassembled.length"]);
    assert_eq!((&fragments[5][..], &fragments[6][..]), ("1", "0 1488"), "put together again");

    let udp = fields(&["udp.srcport", "udp.dstport", "udp.length", "udp.checksum.status"]);
    assert_eq!((&udp[3][..], &udp[6][..], &udp[10][..]), ("5001 5002 109 1", "5001 5002 1488 1", "5001 5002 109 1"));

    let tcp =
        fields(&["tcp.seq_raw", "tcp.ack_raw", "tcp.flags", "tcp.window_size_value", "tcp.checksum.status", "tcp.len"]);
    assert_eq!(tcp[7], "3735928559 16909060 0x0002 8192 1 0");
    assert_eq!(tcp[8], "3735928559 16909060 0x0010 8192 1 0");
    assert_eq!(tcp[9], "3735928559 16909060 0x0018 8192 1 1000");
    let options = fields(&["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm"]);
    assert_eq!(options[7].replace(':', ""), "1460 7 0402");
    assert_eq!(fields(&["tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"])[7..10], ["1000 999"; 3]);
    assert_eq!(fields(&["tcp.options.experimental.exid"])[7], "0xf00d");
    let sack = fields(&["tcp.options.sack.count", "tcp.options.sack_le", "tcp.options.sack_re"]);
    assert!(sack[8].starts_with("3 "), "{}", sack[8]);
}

/// An agreement, an A-MPDU of three under it in each format, an A-MSDU, and the answers.
#[test]
fn tshark_reads_aggregates_and_block_acknowledgement() {
    let none = Flags::NONE;
    let agreement = management::Agreement { amsdu: true, tid: 5, buffer_size: 64, timeout: 0 };
    let action = |body: management::BlockAckAction, from: MacAddress, to: MacAddress| {
        let header = ieee80211::Repr::Management {
            flags: none,
            duration: 60,
            subtype: ManagementSubtype::Action,
            destination: to,
            source: from,
            bssid: NETWORK,
            sequence_control: SequenceControl { sequence: 9, fragment: 0 },
            ht_control: None,
        };
        let repr = management::Repr::BlockAck(body);
        let mut octets = vec![0; repr.buffer_len()];
        repr.emit(&mut octets);
        on_the_air(header, &octets)
    };
    let (dialog_token, start) = (1, 100);
    let status = Status::Success;
    let mut packets = vec![
        action(management::BlockAckAction::AddRequest { dialog_token, agreement, start }, NEAR, FAR),
        action(management::BlockAckAction::AddResponse { dialog_token, status, agreement }, FAR, NEAR),
    ];
    let formats = [
        Modulation::Ht(Mcs { index: 15, is_40_mhz: true, short_guard_interval: true, ldpc: true }),
        Modulation::Vht(Vht {
            index: 9,
            streams: 2,
            bandwidth: Bandwidth::Mhz80,
            short_guard_interval: true,
            ldpc: false,
        }),
        Modulation::He(He {
            index: 11,
            streams: 2,
            bandwidth: Bandwidth::Mhz160,
            guard_interval: HeGuardInterval::Ns1600,
            ldpc: true,
        }),
    ];
    let udp = udp_octets(101, &[0xa5; 101]);
    let msdu = datagram(internet(ipv4::Protocol::Udp, udp.len()), &udp);
    let qos_data = |sequence, qos_control| ieee80211::Repr::Data {
        flags: none,
        duration: 48,
        subtype: DataSubtype::QosData,
        addressing: Addressing::AdHoc { destination: FAR, source: NEAR, bssid: NETWORK },
        sequence_control: SequenceControl { sequence, fragment: 0 },
        qos_control,
        ht_control: None,
    };
    for (reference, modulation) in formats.into_iter().enumerate() {
        for place in 0..3 {
            let ampdu = AmpduStatus { reference: reference as u32, is_last: place == 2 };
            let radio = radiotap::Repr { rate: None, modulation: Some(modulation), ampdu: Some(ampdu), ..RADIO };
            packets.push(on_the_air_by(radio, qos_data(start + place, 5), &msdu));
        }
    }
    let mut amsdu = Vec::new();
    for _ in 0..2 {
        ieee80211::amsdu::Subframe { destination: FAR, source: NEAR, msdu: &msdu }.append(&mut amsdu);
    }
    // Bit 7 of QoS control: an A-MSDU is present.
    packets.push(on_the_air(qos_data(start + 3, 1 << 7 | 5), &amsdu));
    let mut request = vec![0; block_ack::Request::LEN];
    block_ack::Request { tid: 5, start }.emit(&mut request);
    let header = ieee80211::Repr::BlockAckRequest { flags: none, duration: 40, receiver: FAR, transmitter: NEAR };
    packets.push(on_the_air(header, &request));
    let mut long = [0; 32];
    (long[0], long[31]) = (0b101, 0x80);
    for bitmap in [block_ack::Bitmap::Of64([0b101, 0, 0, 0, 0, 0, 0, 0x80]), block_ack::Bitmap::Of256(long)] {
        let response = block_ack::Response { tid: 5, start, bitmap };
        let mut body = vec![0; response.buffer_len()];
        response.emit(&mut body);
        let header = ieee80211::Repr::BlockAck { flags: none, duration: 0, receiver: NEAR, transmitter: FAR };
        packets.push(on_the_air(header, &body));
    }
    let capture = write_capture("aggregates.pcapng", &packets);
    let Some(wrong) = tshark(&capture, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"]) else { return };
    assert_eq!(wrong, "", "malformed, or with warnings");
    let field = |name: &str| -> Vec<String> {
        let printed = tshark(&capture, &["-T", "fields", "-e", name]).expect("it was there a moment ago");
        printed.lines().map(|line| line.trim_end().replace("True", "1").replace("False", "0")).collect()
    };
    let all = packets.len();
    assert_eq!(field("wlan.fcs.status"), vec!["1"; all]);
    let some = |name: &str| field(name).into_iter().filter(|value| !value.is_empty()).collect::<Vec<_>>();
    let numbers = |name: &str| -> Vec<u32> {
        let hexadecimal = |value: &String| u32::from_str_radix(value.trim_start_matches("0x"), 16);
        some(name).iter().map(|value| hexadecimal(value).expect("a number")).collect()
    };
    assert_eq!(numbers("wlan.fixed.action_code"), [0, 1]);
    assert_eq!(numbers("wlan.fixed.baparams.tid"), [5, 5]);
    assert_eq!(numbers("radiotap.he.data_3.data_mcs"), [11; 3]);
    assert_eq!(some("radiotap.mcs.index"), ["15"; 3]);
    assert_eq!(some("radiotap.mcs.bw"), ["1"; 3]);
    assert_eq!(some("radiotap.mcs.gi"), ["1"; 3]);
    assert_eq!(some("radiotap.vht.mcs.0"), ["9"; 3]);
    assert_eq!(some("radiotap.vht.nss.0"), ["2"; 3]);
    assert_eq!(some("radiotap.vht.bw"), ["4"; 3]);
    assert_eq!(some("radiotap.ampdu.reference"), ["0", "0", "0", "1", "1", "1", "2", "2", "2"]);
    assert_eq!(some("radiotap.ampdu.flags.last"), ["0", "0", "1"].repeat(3));
    let bitmaps = some("wlan.ba.bm").into_iter().map(|bitmap| bitmap.replace(':', "")).collect::<Vec<_>>();
    assert_eq!(bitmaps, [format!("05{}80", "00".repeat(6)), format!("05{}80", "00".repeat(30))]);
    assert_eq!(some("wlan.fixed.ssc.sequence"), ["100"; 4]);
    assert_eq!(some("wlan_aggregate.a_mdsu.length"), ["137,137"]);
}

#[test]
fn tshark_would_tell_if_a_frame_were_broken() {
    let mut packets = packets();
    // The last octet of the payload of the first UDP datagram, behind which 4 octets of frame check sequence stand.
    let broken = &mut packets[3];
    let last = broken.len() - 5;
    broken[last] ^= 1;
    let capture = write_capture("broken.pcapng", &packets);
    let arguments = ["-T", "fields", "-E", "separator= ", "-e", "wlan.fcs.status", "-e", "udp.checksum.status"];
    let Some(printed) = tshark(&capture, &arguments) else { return };
    let lines: Vec<_> = printed.lines().map(str::trim_end).collect();
    assert!(lines[3].starts_with('0'), "the frame check sequence is bad: {}", lines[3]);
    assert_eq!(lines[10], "1 1");
}

/// Two interfaces of different link types, copied by tshark, which describes them in its own words.
#[test]
fn a_capture_that_tshark_wrote_is_read() {
    let mut writer = pcapng::Writer::new(Vec::new(), "node0").expect("memory doesn't fill up");
    let wire = writer.add_interface("node0.wire0", pcapng::LinkType::Ipv4).expect("memory doesn't fill up");
    let segment = tcp_octets(tcp::Flags::ACK, Options::NONE, 3);
    let packet = datagram(internet(ipv4::Protocol::Tcp, segment.len()), &segment).split_off(8);
    let frame = on_the_air(data(1, DataSubtype::Null, Flags::NONE), &[]);
    // Beyond 32 bits of nanoseconds.
    let packets = [(0, 7, &frame), (wire, 4_999_999_999, &packet), (0, 5_000_000_000, &frame)];
    for (interface, at, octets) in packets {
        writer.write_on(interface, at, octets).expect("memory doesn't fill up");
    }
    let ours = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("two-interfaces.pcapng");
    std::fs::write(&ours, writer.into_inner()).expect("the directory for tests can be written");
    let copy = ours.with_file_name("copied.pcapng");
    let copy_argument = copy.to_str().expect("the directory has a name in UTF-8");
    if tshark(&ours, &["-F", "pcapng", "-w", copy_argument]).is_none() {
        return;
    }
    let names = tshark(&copy, &["-T", "fields", "-e", "frame.interface_name"]);
    assert_eq!(names.as_deref(), Some("node0\nnode0.wire0\nnode0\n"));
    let copied = std::fs::File::open(&copy).expect("tshark has written it");
    let read: Vec<_> =
        pcapng::Reader::new(copied).expect("it begins").map(|record| record.expect("it is whole")).collect();
    let expected = packets.map(|(interface, at, octets)| pcapng::Record {
        at,
        interface,
        link_type: if interface == wire { 228 } else { 127 },
        octets: octets.clone(),
    });
    assert_eq!(read, expected);
}

/// A frame with an ARP packet, and what stands behind it.
fn arp_frame(operation: arp::Operation, target_hardware: MacAddress, behind: &[u8]) -> Vec<u8> {
    let repr = arp::Repr {
        operation,
        sender_hardware: NEAR,
        sender_protocol: NEAR_IP,
        target_hardware,
        target_protocol: FAR_IP,
    };
    let snap = llc::Repr::new(llc::EtherType::Arp);
    let mut octets = vec![0; snap.buffer_len() + repr.buffer_len()];
    snap.emit(&mut llc::Packet::new_unchecked(&mut octets));
    repr.emit(&mut arp::Packet::new_unchecked(&mut octets[snap.buffer_len()..]));
    octets.extend(behind);
    on_the_air(data(1, DataSubtype::Data, Flags::NONE), &octets)
}

#[test]
fn tshark_reads_arp_as_it_was_meant() {
    // The last one has a message of AODV behind it, which tshark takes for padding.
    let message = aodv_messages().swap_remove(0);
    let frames = [
        arp_frame(arp::Operation::Request, MacAddress([0; 6]), &[]),
        arp_frame(arp::Operation::Reply, FAR, &[]),
        arp_frame(arp::Operation::Request, MacAddress([0; 6]), &message),
    ];
    let capture = write_capture("arp.pcapng", &frames);
    let Some(wrong) = tshark(&capture, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000 || !arp"]) else {
        return;
    };
    assert_eq!(wrong, "", "malformed, or with warnings");
    let fields = ["hw.type", "proto.type", "opcode", "src.hw_mac", "src.proto_ipv4", "dst.hw_mac", "dst.proto_ipv4"];
    let fields = fields.map(|field| format!("arp.{field}"));
    let mut arguments = vec!["-T", "fields", "-E", "separator= "];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field.as_str()]));
    let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
    let (near, far) = (NEAR.to_string(), FAR.to_string());
    let request = format!("1 0x0800 1 {near} 10.0.0.1 00:00:00:00:00:00 10.0.0.2");
    let reply = format!("1 0x0800 2 {near} 10.0.0.1 {far} 10.0.0.2");
    assert_eq!(printed.lines().collect::<Vec<_>>(), [&request, &reply, &request]);
}

/// A frame with a datagram from this port to the same one.
fn on_port(port: u16, payload: &[u8]) -> Vec<u8> {
    let payload_len = payload.len().try_into().expect("these datagrams are short");
    let repr = udp::Repr { source_port: port, destination_port: port, payload_len };
    let mut octets = vec![0; repr.buffer_len()];
    repr.emit(&mut udp::Packet::new_unchecked(&mut octets), NEAR_IP, FAR_IP, payload);
    octets.extend(payload);
    let packet = datagram(internet(ipv4::Protocol::Udp, octets.len()), &octets);
    on_the_air(data(1, DataSubtype::Data, Flags::NONE), &packet)
}

#[test]
fn tshark_reads_dsdv_as_the_packets_that_its_port_is_for() {
    let entries = [
        dsdv::Entry { destination: NEAR_IP, metric: 0, sequence: 8 },
        dsdv::Entry { destination: FAR_IP, metric: dsdv::INFINITE, sequence: 3 },
    ];
    let update = |kind, count: usize| {
        let repr = dsdv::Repr { kind, entries: count.try_into().expect("these updates are short") };
        let mut octets = vec![0; repr.buffer_len() + count * dsdv::ENTRY_LEN];
        repr.emit(&mut dsdv::Packet::new_unchecked(&mut octets));
        for (nth, octets) in octets[dsdv::HEADER_LEN..].chunks_exact_mut(dsdv::ENTRY_LEN).enumerate() {
            entries[nth % 2].emit(octets);
        }
        octets
    };
    let updates = [update(dsdv::Kind::FullDump, 121), update(dsdv::Kind::Incremental, 2)];
    let capture = write_capture("dsdv.pcapng", &updates.map(|octets| on_port(dsdv::PORT, &octets)));
    let Some(wrong) = tshark(&capture, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000 || !packetbb"]) else {
        return;
    };
    assert_eq!(wrong, "", "malformed, with warnings, or no packet of RFC 5444");
    let fields =
        ["version", "msg.type", "msg.size", "msgtlv.type", "tlv.length"].map(|field| format!("packetbb.{field}"));
    let mut arguments = vec!["-T", "fields", "-E", "separator= "];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["0 224 1462 224 1452", "0 224 34 225 24"]);
}

/// A DSR Options header with these options, before `data` if there are any.
fn dsr_frame(sequence: u16, options: &[dsr::DsrOption<'_>], data_octets: &[u8]) -> Vec<u8> {
    let next_header = if data_octets.is_empty() { ipv4::Protocol::NoNextHeader } else { ipv4::Protocol::Udp };
    let repr = dsr::Repr { next_header, options };
    let mut payload = vec![0; repr.buffer_len()];
    repr.emit(&mut dsr::Packet::new_unchecked(&mut payload));
    payload.extend(data_octets);
    on_the_air(
        data(sequence, DataSubtype::Data, Flags::NONE),
        &datagram(internet(ipv4::Protocol::Dsr, payload.len()), &payload),
    )
}

#[test]
fn tshark_reads_every_option_of_dsr_as_it_was_meant() {
    use dsr::{Ack, AckRequest, Addresses, DsrOption, ErrorKind, OptionType, RouteError, RouteReply, RouteRequest};
    let [near, middle, far] = [NEAR_IP, Ipv4Addr::new(10, 0, 0, 9), FAR_IP];
    let list = [middle, far];
    let addresses = Addresses::List(&list);
    let error = |kind| {
        DsrOption::RouteError(RouteError { salvage: 3, source: middle, destination: near, kind, extension: &[] })
    };
    let route = DsrOption::SourceRoute(dsr::SourceRoute {
        first_hop_external: false,
        last_hop_external: false,
        salvage: 2,
        segments_left: 1,
        addresses,
    });
    let ack_request = DsrOption::AckRequest(AckRequest { identification: 4660, extension: &[] });
    let udp = udp_octets(101, b"an odd number of octets");
    let packets = [
        dsr_frame(1, &[DsrOption::RouteRequest(RouteRequest { identification: 258, target: far, addresses })], &[]),
        dsr_frame(2, &[DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses }), route], &[]),
        dsr_frame(3, &[error(ErrorKind::NodeUnreachable(far)), route], &[]),
        dsr_frame(4, &[error(ErrorKind::OptionNotSupported(OptionType::Unknown(129)))], &[]),
        dsr_frame(5, &[DsrOption::Ack(Ack { identification: 4660, source: far, destination: near })], &[]),
        dsr_frame(6, &[ack_request, route], &udp),
        dsr_frame(7, &[route, DsrOption::RouteReply(RouteReply { last_hop_external: true, addresses })], &udp),
        dsr_frame(8, &[DsrOption::Pad1, route, DsrOption::PadN { length: 3 }], &udp),
        // A header of the longest route, as salvaging could leave it.
        dsr_frame(
            9,
            &[DsrOption::SourceRoute(dsr::SourceRoute {
                first_hop_external: false,
                last_hop_external: false,
                salvage: 15,
                segments_left: 62,
                addresses: Addresses::List(&[middle; dsr::MAX_ADDRESSES_OF_ROUTE]),
            })],
            &udp,
        ),
    ];
    let capture = write_capture("dsr.pcapng", &packets);
    let Some(wrong) = tshark(&capture, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"]) else { return };
    assert_eq!(wrong, "", "malformed, or with warnings");
    let fields = |fields: &[&str]| -> Vec<String> {
        let mut arguments = vec!["-T", "fields", "-E", "separator= "];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
        printed.lines().map(|line| line.trim_end().replace("True", "1").replace("False", "0")).collect()
    };
    let fixed = fields(&["dsr.nexthdr", "dsr.flowstate", "dsr.len"]);
    assert_eq!((&fixed[0][..], &fixed[5][..], &fixed[7][..]), ("0x3b 0 16", "0x11 0 16", "0x11 0 20"));
    assert_eq!(fields(&["dsr.option.type"])[..8], ["1", "2,96", "3,96", "3", "32", "160,96", "96,2,224", "224,96,0,0"]);
    let request = fields(&["dsr.option.rreq.id", "dsr.option.rreq.targetaddress", "dsr.option.rreq.address"]);
    assert_eq!(request[0], "0x0102 10.0.0.2 10.0.0.9,10.0.0.2");
    let reply = fields(&["dsr.option.rrep.lasthopex", "dsr.option.rrep.address"]);
    assert_eq!((&reply[1][..], &reply[6][..]), ("0 10.0.0.9,10.0.0.2", "1 10.0.0.9,10.0.0.2"));
    let error = fields(&["dsr.option.err.type", "dsr.option.err.salvage", "dsr.option.err.src", "dsr.option.err.dest"]);
    assert_eq!((&error[2][..], &error[3][..]), ("1 0x03 10.0.0.9 10.0.0.1", "3 0x03 10.0.0.9 10.0.0.1"));
    assert_eq!(fields(&["dsr.option.err.unreachablenode"])[2], "10.0.0.2");
    assert_eq!(fields(&["dsr.option.err.unsupportedoption"])[3], "0x81");
    let ack = fields(&["dsr.option.ack.id", "dsr.option.ack.source", "dsr.option.ack.dest"]);
    assert_eq!(ack[4], "0x1234 10.0.0.2 10.0.0.1");
    assert_eq!(fields(&["dsr.option.ackreq.id"])[5], "0x1234");
    let route = fields(&["dsr.option.srcrt.salvage", "dsr.option.srcrt.segsleft"]);
    assert_eq!((&route[1][..], &route[5][..], &route[8][..]), ("0x02 1", "0x02 1", "0x0f 62"));
    let carried = fields(&["udp.length", "udp.checksum.status"]);
    assert_eq!(carried[5..], ["109 1"; 4], "what stands behind the header is read");
}

#[test]
fn tshark_reads_olsr_messages_as_they_were_meant() {
    let seconds = |seconds: u64| olsr::TimeCode::from_nanos(seconds * 1_000_000_000);
    let code = |link, neighbour| LinkCode { link, neighbour };
    let hello = olsr::hello::Repr {
        interval: seconds(2),
        willingness: 3,
        links: vec![
            (code(LinkType::Symmetric, NeighbourType::Mpr), vec![NEAR_IP, FAR_IP]),
            (code(LinkType::Asymmetric, NeighbourType::NotNeighbour), vec![Ipv4Addr::new(10, 0, 0, 3)]),
        ],
    };
    let tc = olsr::tc::Repr { ansn: 513, neighbours: vec![FAR_IP, NEAR_IP] };
    let mid = olsr::mid::Repr { interfaces: vec![Ipv4Addr::new(10, 0, 0, 4)] };
    let network =
        olsr::hna::Network { address: Ipv4Addr::new(192, 168, 7, 0), netmask: Ipv4Addr::new(255, 255, 255, 0) };
    let hna = olsr::hna::Repr { networks: vec![network] };
    let mut bodies = [hello.buffer_len(), tc.buffer_len(), mid.buffer_len(), hna.buffer_len()].map(|len| vec![0; len]);
    hello.emit(&mut bodies[0]);
    tc.emit(&mut bodies[1]);
    mid.emit(&mut bodies[2]);
    hna.emit(&mut bodies[3]);
    let kinds = [olsr::MessageType::Hello, olsr::MessageType::Tc, olsr::MessageType::Mid, olsr::MessageType::Hna];
    let mut octets = vec![0; olsr::HEADER_LEN];
    for ((kind, body), validity) in kinds.into_iter().zip(&bodies).zip([6, 15, 15, 15]) {
        let header = olsr::MessageRepr {
            kind,
            validity: seconds(validity),
            originator: NEAR_IP,
            time_to_live: if kind == olsr::MessageType::Hello { 1 } else { 255 },
            hop_count: 0,
            sequence: 1000 + u16::from(u8::from(kind)),
            body_len: body.len().try_into().expect("these messages are short"),
        };
        header.push(&mut octets, body);
    }
    let payload_len = (octets.len() - olsr::HEADER_LEN).try_into().expect("this packet is short");
    olsr::Repr { sequence: 77, payload_len }.emit(&mut olsr::Packet::new_unchecked(&mut octets));
    let capture = write_capture("olsr.pcapng", &[on_port(olsr::PORT, &octets)]);
    let wrong = "_ws.malformed || _ws.expert.severity >= 0x600000 || olsr.not_enough_bytes || !olsr";
    let Some(wrong) = tshark(&capture, &["-Y", wrong]) else { return };
    assert_eq!(wrong, "", "malformed, with warnings, or no OLSR");
    let expected = [
        ("packet_len", "100"),
        ("packet_seq_num", "77"),
        ("message_type", "1,2,3,4"),
        ("message_size", "36,24,16,20"),
        ("message_seq_num", "1001,1002,1003,1004"),
        ("vtime", "6,15,15,15"),
        ("htime", "2"),
        ("willingness", "3"),
        ("origin_addr", "10.0.0.1,10.0.0.1,10.0.0.1,10.0.0.1"),
        ("ttl", "1,255,255,255"),
        ("hop_count", "0,0,0,0"),
        ("link_type", "10,1"),
        ("link_message_size", "12,8"),
        ("neighbor_addr", "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.2,10.0.0.1"),
        ("ansn", "513"),
        ("interface_addr", "10.0.0.4"),
        ("network_addr", "192.168.7.0"),
        ("netmask", "255.255.255.0"),
    ];
    let fields = expected.map(|(field, _)| format!("olsr.{field}"));
    let mut arguments = vec!["-T", "fields"];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
    let printed: Vec<_> = printed.trim_end().split('\t').collect();
    assert_eq!(printed, expected.map(|(_, value)| value));
}

/// One AODV message of each kind, and a hello.
fn aodv_messages() -> Vec<Vec<u8>> {
    use aodv::{ErrorRepr, Extensions, ReplyFlags, ReplyRepr, Repr, RequestFlags, RequestRepr, Unreachable};
    let far = Ipv4Addr::new(10, 0, 0, 9);
    let request = RequestRepr {
        flags: RequestFlags::GRATUITOUS | RequestFlags::UNKNOWN_SEQUENCE,
        hop_count: 3,
        id: 77,
        destination: far,
        destination_sequence: 0,
        originator: NEAR_IP,
        originator_sequence: 0xffff_fffe,
        extensions: Extensions::NONE,
    };
    let narrow = RequestRepr { flags: RequestFlags::DESTINATION_ONLY, destination_sequence: 12, ..request };
    let reply = ReplyRepr {
        flags: ReplyFlags::ACKNOWLEDGE,
        prefix_size: 0,
        hop_count: 2,
        destination: far,
        destination_sequence: 13,
        originator: NEAR_IP,
        lifetime: 6000,
        extensions: Extensions::NONE,
    };
    let interval = aodv::hello_interval(500);
    let extensions = Extensions::new_checked(&interval, 20).expect("it is whole");
    let hello =
        ReplyRepr { flags: ReplyFlags::NONE, hop_count: 0, destination: NEAR_IP, lifetime: 1000, extensions, ..reply };
    let unreachable = [(far, 14), (FAR_IP, 15)].map(|(destination, sequence)| Unreachable { destination, sequence });
    [
        Repr::Request(request),
        Repr::Request(narrow),
        Repr::Reply(reply),
        Repr::Reply(hello),
        Repr::Error(ErrorRepr { no_delete: true, unreachable: unreachable[..].into() }),
        Repr::Error(ErrorRepr { no_delete: false, unreachable: unreachable[..1].into() }),
        Repr::Acknowledgement,
    ]
    .map(|message| message.to_octets())
    .into()
}

#[test]
fn tshark_reads_aodv_messages_as_they_were_meant() {
    let frame = |message: &Vec<u8>| {
        let length = message.len().try_into().expect("messages are short");
        let datagram_octets = udp_octets_between(aodv::PORT, aodv::PORT, length, message);
        let packet = datagram(internet(ipv4::Protocol::Udp, datagram_octets.len()), &datagram_octets);
        on_the_air(data(1, DataSubtype::Data, Flags::NONE), &packet)
    };
    let packets: Vec<_> = aodv_messages().iter().map(frame).collect();
    let capture = write_capture("aodv.pcapng", &packets);
    let complaints = "_ws.malformed || _ws.expert.severity >= 0x600000 || udp.checksum.status == 0 || !aodv";
    let Some(wrong) = tshark(&capture, &["-Y", complaints]) else { return };
    assert_eq!(wrong, "", "malformed, or with warnings, or something else");
    let of_kind = |kind: &str, fields: &[&str]| -> Vec<String> {
        let filter = format!("aodv.type == {kind}");
        let mut arguments = vec!["-Y", &filter, "-T", "fields", "-E", "separator= "];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let printed = tshark(&capture, &arguments).expect("it was there a moment ago");
        printed.lines().map(|line| line.trim_end().replace("True", "1").replace("False", "0")).collect()
    };
    let flags = ["rreq_join", "rreq_repair", "rreq_gratuitous", "rreq_destinationonly", "rreq_unknown"];
    let flags = flags.map(|flag| format!("aodv.flags.{flag}"));
    assert_eq!(of_kind("1", &flags.each_ref().map(String::as_str)), ["0 0 1 0 1", "0 0 0 1 0"]);
    let route =
        ["hopcount", "rreq_id", "dest_ip", "dest_seqno", "orig_ip", "orig_seqno"].map(|field| format!("aodv.{field}"));
    let expected = ["3 77 10.0.0.9 0 10.0.0.1 4294967294", "3 77 10.0.0.9 12 10.0.0.1 4294967294"];
    assert_eq!(of_kind("1", &route.each_ref().map(String::as_str)), expected);
    let reply = [
        "flags.rrep_ack",
        "prefix_sz",
        "hopcount",
        "dest_ip",
        "dest_seqno",
        "orig_ip",
        "lifetime",
        "ext_type",
        "ext_length",
    ];
    let reply = reply.map(|field| format!("aodv.{field}"));
    let expected = ["1 0 2 10.0.0.9 13 10.0.0.1 6000", "0 0 0 10.0.0.1 13 10.0.0.1 1000 1 4"];
    assert_eq!(of_kind("2", &reply.each_ref().map(String::as_str)), expected);
    let error =
        ["flags.rerr_nodelete", "destcount", "unreach_dest_ip", "dest_seqno"].map(|field| format!("aodv.{field}"));
    let expected = ["1 2 10.0.0.9,10.0.0.2 14,15", "0 1 10.0.0.9 14"];
    assert_eq!(of_kind("3", &error.each_ref().map(String::as_str)), expected);
    assert_eq!(of_kind("4", &["frame.number"]), ["7"]);
}

/// One DCCP packet of each type, and each option in some of them.
fn dccp_packets() -> Vec<Vec<u8>> {
    let list = |options: &[OptionRepr]| {
        let mut list = OptionList::new();
        assert!(options.iter().all(|option| list.push(option)));
        list
    };
    let acknowledgement = 0x0102_0304_0506;
    let handshake = list(&[
        OptionRepr::Mandatory,
        OptionRepr::ChangeL(Feature::Ccid, &[3]),
        OptionRepr::ChangeR(Feature::Ccid, &[3]),
        OptionRepr::ChangeL(Feature::SequenceWindow, &[0, 0, 0, 0, 3, 232]),
        OptionRepr::ChangeL(Feature::SendNdpCount, &[1]),
        OptionRepr::ChangeR(Feature::SendLossEventRate, &[1]),
    ]);
    let answer = list(&[
        OptionRepr::ConfirmR(Feature::Ccid, &[3, 3]),
        OptionRepr::ConfirmL(Feature::Ccid, &[3, 3]),
        OptionRepr::ConfirmR(Feature::SequenceWindow, &[0, 0, 0, 0, 3, 232]),
    ]);
    let stamped = list(&[OptionRepr::NdpCount(1), OptionRepr::Timestamp(123_456)]);
    let mut feedback = list(&[
        OptionRepr::TimestampEcho(TimestampEcho { timestamp: 123_456, elapsed: Some(77) }),
        OptionRepr::ElapsedTime(77),
        OptionRepr::LossEventRate(1234),
        OptionRepr::ReceiveRate(250_000),
        OptionRepr::NetworkState(NetworkState::CONGESTION | NetworkState::URGENT),
    ]);
    assert!(
        feedback.push_loss_intervals(3, [LossInterval { lossless: 9, data: 10, ..Default::default() }].into_iter())
    );
    let none = OptionList::new();
    let reset = Body::Reset { acknowledgement, code: ResetCode::MandatoryError, data: [1, 2, 3] };
    let bodies = [
        (Body::Request { service_code: u32::from_be_bytes(*b"hopc") }, handshake, 0, true),
        (Body::Response { acknowledgement, service_code: u32::from_be_bytes(*b"hopc") }, answer, 0, true),
        (Body::Data, stamped, 1000, true),
        (Body::Ack { acknowledgement }, feedback, 0, true),
        (Body::DataAck { acknowledgement }, feedback, 1000, true),
        (Body::CloseReq { acknowledgement }, none, 0, true),
        (Body::Close { acknowledgement }, none, 0, true),
        (reset, none, 0, true),
        (Body::Sync { acknowledgement }, none, 0, true),
        (Body::SyncAck { acknowledgement }, none, 0, true),
        (Body::Data, none, 1000, false),
    ];
    let mut packets = Vec::new();
    for (nth, (body, options, payload_len, extended)) in (0_u16..).zip(bodies) {
        let repr = dccp::Repr {
            source_port: 40000,
            destination_port: 5004,
            ccval: 9,
            checksum_coverage: 0,
            extended,
            sequence: 0x00be_efca_fe00 + u64::from(nth),
            body,
            options: options.as_options(),
            payload_len,
        };
        let mut octets = vec![0; repr.buffer_len() + usize::from(payload_len)];
        let mut packet = dccp::Packet::new_unchecked(&mut octets);
        repr.emit(&mut packet);
        packet.fill_checksum(NEAR_IP, FAR_IP, &[], payload_len);
        packets.push(on_the_air(
            data(nth, DataSubtype::Data, Flags::NONE),
            &datagram(internet(ipv4::Protocol::Dccp, octets.len()), &octets),
        ));
    }
    packets
}

#[test]
fn tshark_reads_every_dccp_packet_as_it_was_meant() {
    let capture = write_capture("dccp.pcapng", &dccp_packets());
    let read = |fields: &[&str]| -> Option<Vec<String>> {
        let mut arguments = vec!["-T", "fields", "-E", "separator= "];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let printed = tshark(&capture, &arguments)?;
        Some(printed.lines().map(|line| line.trim_end().replace("True", "1").replace("False", "0")).collect())
    };
    let Some(types) = read(&["dccp.type", "dccp.x", "dccp.checksum.status", "dccp.ccval"]) else { return };
    let expected: Vec<String> = (0..10).map(|kind| format!("{kind} 1 1 9")).chain(["2 0 1 9".to_owned()]).collect();
    assert_eq!(types, expected);
    let wrong = tshark(&capture, &["-Y", "_ws.malformed || dccp.option.len.bad || _ws.expert.severity >= 0x600000"]);
    assert_eq!(wrong.as_deref(), Some(""), "malformed, or with warnings");
    let numbers = read(&["dccp.seq_raw", "dccp.ack_raw", "dccp.data_offset"]).expect("it was there a moment ago");
    assert_eq!(numbers[0], format!("{}  12", 0x00be_efca_fe00_u64));
    assert_eq!(numbers[3], format!("{} {} 16", 0x00be_efca_fe03_u64, 0x0102_0304_0506_u64));
    // Of short numbers it shows no raw ones.
    let short = read(&["dccp.seq", "dccp.data_offset"]).expect("it was there a moment ago");
    assert_eq!(short[10], format!("{},10 3", 0x00ca_fe0a));
    let handshake = read(&["dccp.service_code", "dccp.option_type", "dccp.feature_number"]).expect("as before");
    assert_eq!(handshake[0], "1752133731 1,32,34,32,32,34,0,0 1,1,3,7,192");
    assert_eq!(handshake[1], "1752133731 35,33,35,0 1,1,3");
    let times = ["dccp.ndp_count", "dccp.timestamp", "dccp.timestamp_echo", "dccp.elapsed_time"];
    let times = read(&times).expect("as before");
    assert_eq!(times[2], "1 123456");
    // tshark shows an echo's elapsed time as one more elapsed time.
    assert_eq!(times[3].trim_start(), "123456 77,77");
    let feedback = ["dccp.ccid3_loss_event_rate", "dccp.ccid3_receive_rate", "dccp.ccid_option_data"];
    let feedback = read(&feedback).expect("as before");
    assert_eq!((&feedback[3][..], &feedback[4]), ("1234 250000 81", &feedback[3]));
    let reset = read(&["dccp.reset_code", "dccp.data1", "dccp.data2", "dccp.data3"]).expect("as before");
    assert_eq!(reset[7], "6 1 2 3");
}

#[test]
fn tshark_reads_rtp_as_it_was_meant() {
    let mut contributors = rtp::Contributors::NONE;
    assert!(contributors.push(7));
    let media = rtp::Repr {
        marker: true,
        payload_type: 96,
        sequence: 4711,
        timestamp: 90_000,
        source: 0xdead_beef,
        contributors,
        extension: Some(rtp::Extension { profile: 0xabac, words: &[1, 2, 3, 4] }),
        payload_len: 100,
        padding_len: 4,
    };
    let mut payload = vec![0x55; media.buffer_len() + 104];
    let mut packet = rtp::Packet::new_unchecked(&mut payload[..]);
    media.emit(&mut packet);
    packet.fill_padding(4);
    // Of DCCP's ports tshark takes none for RTP's.
    let segment = udp_octets(payload.len().try_into().expect("it is short"), &payload);
    let frame = on_the_air(
        data(0, DataSubtype::Data, Flags::NONE),
        &datagram(internet(ipv4::Protocol::Udp, segment.len()), &segment),
    );
    let capture = write_capture("rtp.pcapng", &[frame]);
    let fields =
        ["version", "marker", "p_type", "seq", "timestamp", "ssrc", "csrc.item", "ext.profile", "padding.count"];
    let fields: Vec<String> = fields.iter().map(|field| format!("rtp.{field}")).collect();
    let mut arguments =
        vec!["-d", "udp.port==5002,rtp", "-T", "fields", "-E", "separator= ", "-e", "udp.checksum.status"];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let Some(printed) = tshark(&capture, &arguments) else { return };
    let printed = printed.trim_end().replace("True", "1");
    assert_eq!(printed, "1 2 1 96 4711 90000 0xdeadbeef 0x00000007 0xabac 4");
    let arguments = ["-d", "udp.port==5002,rtp", "-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"];
    assert_eq!(tshark(&capture, &arguments).as_deref(), Some(""), "malformed, or with warnings");
}

/// A management frame of each kind, in the order of its use.
fn management_frames() -> Vec<Vec<u8>> {
    let mut rates = Rates::default();
    for (units, is_basic) in
        [(2, true), (4, true), (11, false), (22, false), (12, false), (18, false), (24, false), (36, false)]
            .into_iter()
            .chain([(48, false), (72, false), (96, false), (108, false)])
    {
        rates.push(units, is_basic);
    }
    let named = Elements { ssid: Some(Ssid::new(b"hopcast")), rates, ..Elements::default() };
    let category = |aifsn, ecw_min, ecw_max, txop_limit| AccessCategoryParameters {
        aifsn,
        admission: false,
        ecw_min,
        ecw_max,
        txop_limit,
    };
    let categories = [category(3, 4, 10, 0), category(7, 4, 10, 0), category(2, 3, 4, 94), category(2, 2, 3, 47)];
    let elements = Elements {
        channel: Some(6),
        erp: Some(ErpInformation { non_erp_present: true, use_protection: true, barker_preamble: false }),
        edca: Some(EdcaParameterSet { qos_info: 0, categories }),
        ..named
    };
    let traffic = Some(TrafficIndication { dtim_count: 0, dtim_period: 1 });
    let capability = Capability::ESS | Capability::SHORT_PREAMBLE | Capability::SHORT_SLOT_TIME;
    let bss = Bss { timestamp: 102_400, beacon_interval: 100, capability, elements };
    let request = |current_access_point| management::Repr::AssociationRequest {
        capability,
        listen_interval: 10,
        current_access_point,
        elements: named,
    };
    let response = |reassociation, status, aid| management::Repr::AssociationResponse {
        reassociation,
        capability,
        status,
        aid,
        elements: Elements { rates, ..Elements::default() },
    };
    let open = |transaction| management::Repr::Authentication { algorithm: 0, transaction, status: Status::Success };
    let bodies = [
        management::Repr::Beacon(Bss { elements: Elements { traffic, ..elements }, ..bss }),
        management::Repr::ProbeRequest(named),
        management::Repr::ProbeResponse(bss),
        open(1),
        open(2),
        request(None),
        response(false, Status::Success, 1),
        request(Some(NETWORK)),
        response(true, Status::UnsupportedRates, 0),
        management::Repr::Disassociation(Reason::ClassThreeFrame),
        management::Repr::Deauthentication(Reason::ClassTwoFrame),
    ];
    let frame = |(nth, repr): (u16, management::Repr)| {
        let mut body = vec![0; repr.buffer_len()];
        repr.emit(&mut body);
        let header = ieee80211::Repr::Management {
            flags: Flags::NONE,
            duration: 0,
            subtype: repr.subtype(),
            destination: if nth < 2 { MacAddress::BROADCAST } else { FAR },
            source: NEAR,
            bssid: NEAR,
            sequence_control: SequenceControl { sequence: nth, fragment: 0 },
            ht_control: None,
        };
        on_the_air(header, &body)
    };
    (0..).zip(bodies).map(frame).collect()
}

#[test]
fn tshark_reads_every_management_frame_as_it_was_meant() {
    let capture = write_capture("management.pcapng", &management_frames());
    let read = |fields: &[&str]| -> Option<Vec<String>> {
        let fields: Vec<String> = fields.iter().map(|field| format!("wlan.{field}")).collect();
        let mut arguments = vec!["-T", "fields", "-E", "separator= "];
        arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
        let printed = tshark(&capture, &arguments)?;
        Some(printed.lines().map(|line| line.trim_end().replace("True", "1").replace("False", "0")).collect())
    };
    let Some(kinds) = read(&["fc.type_subtype", "fcs.status"]) else { return };
    let expected = [8, 4, 5, 11, 11, 0, 1, 2, 3, 10, 12].map(|kind| format!("0x{kind:04x} 1"));
    assert_eq!(kinds, expected);
    let wrong = tshark(&capture, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"]);
    assert_eq!(wrong.as_deref(), Some(""), "malformed, or with warnings");
    let bss = ["fixed.beacon", "fixed.capabilities.ess", "fixed.capabilities.short_slot_time", "ds.current_channel"];
    assert_eq!(read(&bss).expect("it was there a moment ago")[0], "100 1 1 6");
    let erp = ["erp_info.erp_present", "erp_info.use_protection", "erp_info.barker_preamble_mode"];
    assert_eq!(read(&erp).expect("as before")[2], "1 1 0");
    let rates = read(&["supported_rates", "extended_supported_rates"]).expect("as before");
    assert_eq!(rates[1], "0x82,0x84,0x0b,0x16,0x0c,0x12,0x18,0x24 0x30,0x48,0x60,0x6c");
    assert_eq!(read(&["tim.dtim_period"]).expect("as before")[0], "1");
    let authentication = read(&["fixed.auth.alg", "fixed.auth_seq", "fixed.status_code"]).expect("as before");
    assert_eq!(authentication[4], "0 0x0002 0x0000");
    let association = read(&["fixed.status_code", "fixed.aid", "fixed.current_ap"]).expect("as before");
    assert_eq!([&association[6], &association[8]], ["0x0000 0x0001", "0x0012 0x0000"]);
    assert_eq!(association[7].trim_start(), NETWORK.to_string());
    let reasons = read(&["fixed.reason_code"]).expect("as before");
    assert_eq!([&reasons[9], &reasons[10]], ["0x0007", "0x0006"]);
}
