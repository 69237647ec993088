//! Captures, checked by Wireshark's dissectors.

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::process::Command;

use hopcast_sim::capture::{Names, Selection, SelectionError};
use hopcast_sim::execute::{CaptureSize, Control, Job, capture_size, execute};
use hopcast_sim::results::RunResult;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::Scenario;
use hopcast_wire::pcapng::Reader;
use hopcast_wire::{ieee80211, radiotap};

use crate::scenarios::{Folder, scenario, string};

/// Runs `scenario` with captures of all nodes in `folder`.
fn capture(scenario: &Scenario, seeds: &[u64], folder: &Folder) -> Vec<RunResult> {
    capture_selected(scenario, &Selection::all(scenario), seeds, folder)
}

/// Runs `scenario` with captures of `selection` in `folder`.
fn capture_selected(scenario: &Scenario, selection: &Selection, seeds: &[u64], folder: &Folder) -> Vec<RunResult> {
    let mut results = Vec::new();
    let job = Job { scenario, seeds, threads: 1, captures: Some((folder.path(), selection)), recordings: None };
    execute(&job, &Control::new(), &(), |_, result| results.push(result)).unwrap();
    results
}

/// Output of tshark; `None` if it is neither installed nor required.
fn tshark(folder: &Folder, file: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(folder.path().join(file));
    for layer in ["wlan", "ip", "udp", "tcp", "dccp"] {
        command.arg("-o").arg(format!("{layer}.check_checksum:TRUE"));
    }
    match command.args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "tshark: {error}");
            println!("skipped: tshark: {error}");
            None
        }
    }
}

/// Fields of what a display filter lets through, line by line; `None` where tshark is missing.
fn fields<const N: usize>(folder: &Folder, file: &str, filter: &str, names: [&str; N]) -> Option<Vec<[String; N]>> {
    let names = names.into_iter().flat_map(|name| ["-e", name]);
    let arguments: Vec<&str> = ["-Y", filter, "-T", "fields"].into_iter().chain(names).collect();
    let row = |line: &str| {
        let fields: Vec<String> = line.split('\t').map(String::from).collect();
        <[String; N]>::try_from(fields).expect("tshark prints a column for each field")
    };
    Some(tshark(folder, file, &arguments)?.lines().map(row).collect())
}

/// What tshark finds wrong with a packet.
const FAULTS: &str = "_ws.malformed or wlan.fcs.status == 0 or ip.checksum.status == 0 or udp.checksum.status == 0 \
                      or tcp.checksum.status == 0 or dccp.checksum.status == 0 or _ws.expert.severity == error";

/// The number of lines that tshark prints for a display filter.
fn count(folder: &Folder, file: &str, filter: &str) -> Option<usize> {
    tshark(folder, file, &["-Y", filter]).map(|text| text.lines().count())
}

#[test]
fn captures_of_an_earlier_run_go_and_what_is_not_ours_stays() {
    let scenario = scenario(&string("20 ms"));
    let folder = Folder::new();
    capture(&scenario, &[1, 2], &folder);
    capture(&scenario, &[3], &folder);
    let path = |name: &str| folder.path().join(name);
    // Named by its owner, made by another program, empty.
    fs::copy(path("n0.pcapng"), path("keep.pcapng")).unwrap();
    fs::write(path("other.pcapng"), [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0]).unwrap();
    fs::write(path("n9.pcapng"), "").unwrap();
    Names::new(&scenario, Some(&Selection::all(&scenario)), [None, Some(2)]).remove_others(folder.path()).unwrap();
    let left = ["keep.pcapng", "n0.pcapng", "n0.seed-2.pcapng", "n1.pcapng", "n1.seed-2.pcapng"];
    let left = [&left[..], &["n2.pcapng", "n2.seed-2.pcapng", "n9.pcapng", "other.pcapng"]].concat();
    assert_eq!(folder.names(), left);
}

/// A source route has its place in the datagram too (RFC 4728, section 6), whose length has 16 bits.
#[test]
fn the_largest_datagrams_are_cut_to_make_room_for_their_route() {
    let scenario = scenario(
        r#"
        duration = "40 s"
        radio = { profile = "ns-2" }
        [[nodes]]
        name = "n"
        count = 3
        routing = { protocol = "dsr" }
        placement = { shape = "line", spacing = "200 m" }
        [[flows]]
        name = "large"
        from = "n0"
        to = "n2"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "50 kb/s", packet = "65507 B" }
        "#,
    );
    let folder = Folder::new();
    let results = capture(&scenario, &[1], &folder);
    assert!(results[0].flows[0].summary.received_packets > 0, "{:?}", results[0].flows[0].summary);
    let Some(lengths) = fields(&folder, "n2.pcapng", "udp || ip.frag_offset > 0", ["ip.len"]) else { return };
    let lengths: Vec<u32> = lengths.iter().map(|[length]| length.parse().expect("a number")).collect();
    assert!(lengths.iter().any(|&length| length > 60_000) && lengths.iter().any(|&length| length < 100), "{lengths:?}");
}

/// Flows from one node to another, each with its protocol and what else is given; ports may repeat between protocols.
fn flows_to_one_node(flows: &[(&str, &str)]) -> Scenario {
    let flow = |(place, (protocol, more)): (usize, &(&str, &str))| {
        format!(
            r#"
        [[flows]]
        name = "f{place}"
        from = "n0"
        to = "n1"
        transport = {{ protocol = "{protocol}" }}
        application = {{ kind = "cbr", rate = "80 kb/s", packet = "500 B" }}
        {more}
        "#
        )
    };
    let flows: String = flows.iter().enumerate().map(flow).collect();
    scenario(&format!(
        r#"
        duration = "2 s"
        [[nodes]]
        name = "n"
        count = 2
        placement = {{ shape = "line", spacing = "10 m" }}
        {flows}
        "#
    ))
}

#[test]
fn flows_go_to_the_ports_that_they_ask_for_and_are_measured_as_without() {
    // The first one would have the port of the last one.
    let flows =
        [("udp", ""), ("udp", "port = 5004"), ("tcp", "port = 5004"), ("tfrc", "port = 5004"), ("udp", "port = 49152")];
    let folder = Folder::new();
    let with = capture(&flows_to_one_node(&flows), &[1], &folder);
    let without = capture(&flows_to_one_node(&flows.map(|(protocol, _)| (protocol, ""))), &[1], &Folder::new());
    assert_eq!(with[0].flows, without[0].flows);
    assert!(with[0].flows.iter().all(|flow| flow.summary.received_packets > 10), "{:?}", with[0].flows);

    let names = ["ip.dst", "udp.dstport", "tcp.dstport", "dccp.dstport"];
    let Some(seen) = fields(&folder, "n1.pcapng", "ip.dst == 10.0.0.2", names) else { return };
    let seen: BTreeSet<String> = seen.into_iter().map(|[_, ports @ ..]| ports.join("|")).collect();
    assert_eq!(seen.iter().collect::<Vec<_>>(), ["49152||", "5004||", "65535||", "|5004|", "||5004"]);
    // What answers comes from there.
    assert!(count(&folder, "n0.pcapng", "tcp.srcport == 5004 && ip.src == 10.0.0.2").unwrap_or(1) > 0);
    assert!(count(&folder, "n0.pcapng", "dccp.srcport == 5004 && ip.src == 10.0.0.2").unwrap_or(1) > 0);
    assert_eq!(count(&folder, "n1.pcapng", FAULTS).unwrap_or(0), 0);
}

#[test]
fn there_is_a_file_for_each_node_with_each_frame_in_order() {
    let scenario = scenario(&string("300 ms"));
    let folder = Folder::new();
    let results = capture(&scenario, &[1], &folder);
    assert_eq!(folder.names(), ["n0.pcapng", "n1.pcapng", "n2.pcapng"]);
    for node in &results[0].nodes {
        let file = File::open(folder.path().join(format!("{}.pcapng", node.name))).unwrap();
        let (mut last, mut sent) = (0, 0);
        for record in Reader::new(file).unwrap().map(Result::unwrap) {
            assert!(record.at > last, "frames come one after the other");
            last = record.at;
            let header = radiotap::Packet::new_checked(&record.octets[..]).unwrap();
            let frame = ieee80211::fcs::strip(header.payload()).unwrap();
            ieee80211::Repr::parse(&ieee80211::Packet::new_checked(frame).unwrap()).unwrap();
            let repr = radiotap::Repr::parse(&header).unwrap();
            assert_eq!(repr.tsft, Some(record.at / 1_000));
            sent += u64::from(is_own(frame, &node.name));
        }
        // An ACK or CTS does not tell who sends it.
        assert_eq!(sent, node.rts_sent + node.data_sent, "{}", node.name);
    }
}

/// Channel 6 is at 2437 MHz (IEEE 802.11-2020, 15.4.4), with a carrier or without one.
#[test]
fn a_frame_names_the_channel_of_its_radio_under_any_propagation() {
    for propagation in [
        r#"{ model = "range", receive = "100 m", carrier_sense = "200 m" }"#,
        r#"{ model = "free-space" }"#,
        r#"{ model = "two-ray-ground" }"#,
    ] {
        let scenario = scenario(&format!(
            r#"
            duration = "20 ms"
            radio = {{ standard = "802.11b", channel = 6, propagation = {propagation} }}
            nodes = [{{ name = "n", count = 2, placement = {{ shape = "line", spacing = "5 m" }} }}]
            [[flows]]
            name = "f"
            from = "n0"
            to = "n1"
            transport = {{ protocol = "udp" }}
            application = {{ kind = "cbr", rate = "1 Mb/s", packet = "100 B" }}
            "#
        ));
        let folder = Folder::new();
        capture(&scenario, &[1], &folder);
        let file = File::open(folder.path().join("n1.pcapng")).unwrap();
        let frequency = |record: Vec<u8>| {
            let header = radiotap::Packet::new_checked(record).unwrap();
            radiotap::Repr::parse(&header).unwrap().channel.map(|channel| channel.frequency)
        };
        let frequencies: Vec<_> = Reader::new(file).unwrap().map(|record| frequency(record.unwrap().octets)).collect();
        assert!(!frequencies.is_empty(), "{propagation}");
        assert!(frequencies.iter().all(|&frequency| frequency == Some(2_437)), "{propagation}: {frequencies:?}");
    }
}

/// Whether the station with the number of `name` is named as the transmitter.
fn is_own(frame: &[u8], name: &str) -> bool {
    let index: u8 = name[1..].parse().unwrap();
    let transmitter = ieee80211::Packet::new_checked(frame).unwrap().address_2();
    transmitter.is_some_and(|address| address.0 == [2, 0, 0, 0, 0, index + 1])
}

#[test]
fn replications_have_captures_of_their_own() {
    let scenario = scenario(&string("20 ms"));
    let folder = Folder::new();
    capture(&scenario, &[3, 4], &folder);
    assert_eq!(
        folder.names(),
        [
            "n0.seed-3.pcapng",
            "n0.seed-4.pcapng",
            "n1.seed-3.pcapng",
            "n1.seed-4.pcapng",
            "n2.seed-3.pcapng",
            "n2.seed-4.pcapng",
        ]
    );
}

/// Radiotap header and frame of each record in a capture, with its time and the number of its interface.
fn records(folder: &Folder, file: &str) -> Vec<(u64, u32, Vec<u8>)> {
    let file = File::open(folder.path().join(file)).unwrap();
    let records = Reader::new(file).unwrap().map(Result::unwrap);
    records.map(|record| (record.at, record.interface, record.octets)).collect()
}

/// A frame without its radiotap header and check sequence.
fn frame(octets: &[u8]) -> &[u8] {
    let header = radiotap::Packet::new_checked(octets).unwrap();
    ieee80211::fcs::strip(&octets[octets.len() - header.payload().len()..]).unwrap()
}

/// Three stations that hear each other, with datagrams from one to the next, and TCP back.
fn with_power(duration: &str) -> String {
    let flow = |name: &str, from: &str, to: &str, transport: &str, application: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             transport = {{ protocol = \"{transport}\" }}\napplication = {application}\n"
        )
    };
    format!(
        "duration = \"{duration}\"\nradio = {{ standard = \"802.11a\", propagation = {{ model = \"free-space\" }} }}\n\
         nodes = [{{ name = \"n\", count = 3, placement = {{ shape = \"line\", spacing = \"5 m\" }} }}]\n{}{}",
        flow("f", "n0", "n1", "udp", r#"{ kind = "cbr", rate = "1 Mb/s", packet = "100 B" }"#),
        flow("g", "n2", "n0", "tcp", r#"{ kind = "bulk" }"#),
    )
}

fn selection(scenario: &Scenario, nodes: Option<&[&str]>, is_addressed: bool, has_medium: bool) -> Selection {
    let nodes = nodes.map(|nodes| nodes.iter().map(|&name| name.into()).collect::<Vec<String>>());
    Selection::of(scenario, nodes.as_deref(), is_addressed, has_medium).unwrap()
}

#[test]
fn a_selected_node_has_the_capture_that_it_has_among_all() {
    let scenario = scenario(&string("100 ms"));
    let (all, one) = (Folder::new(), Folder::new());
    let expected = capture(&scenario, &[1], &all);
    let results = capture_selected(&scenario, &selection(&scenario, Some(&["n1"]), false, false), &[1], &one);
    assert_eq!(one.names(), ["n1.pcapng"]);
    let read = |folder: &Folder| fs::read(folder.path().join("n1.pcapng")).unwrap();
    assert!(read(&one) == read(&all));
    assert_eq!(results[0].flows, expected[0].flows);
}

#[test]
fn a_capture_of_what_is_addressed_leaves_out_what_is_overheard_and_nothing_else() {
    // Received power tells frames that were received from those that were sent.
    let scenario = scenario(&with_power("300 ms"));
    let (all, own) = (Folder::new(), Folder::new());
    capture(&scenario, &[1], &all);
    capture_selected(&scenario, &selection(&scenario, None, true, false), &[1], &own);
    for (name, number) in [("n0.pcapng", 1), ("n1.pcapng", 2), ("n2.pcapng", 3)] {
        let me = [2, 0, 0, 0, 0, number];
        let is_mine = |octets: &[u8]| {
            let header = radiotap::Packet::new_checked(octets).unwrap();
            let is_sent = radiotap::Repr::parse(&header).unwrap().antenna_signal.is_none();
            let receiver = ieee80211::Packet::new_checked(frame(octets)).unwrap().address_1();
            is_sent || receiver.0 == me || receiver.0 == [0xff; 6]
        };
        let everything = records(&all, name);
        let wanted: Vec<_> = everything.iter().filter(|(_, _, octets)| is_mine(octets)).cloned().collect();
        // All frames are to n0 or from there, but not all are to n1 or n2, or from there.
        assert_eq!(wanted.len() < everything.len(), number != 1, "{name}");
        assert!(records(&own, name) == wanted, "{name}");
    }
}

#[test]
fn the_medium_has_each_frame_once_under_the_name_of_its_sender() {
    let scenario = scenario(&string("300 ms"));
    let folder = Folder::new();
    let both = selection(&scenario, None, false, true);
    let results = capture_selected(&scenario, &both, &[1], &folder);
    assert_eq!(folder.names(), ["medium.pcapng", "n0.pcapng", "n1.pcapng", "n2.pcapng"]);
    let medium = records(&folder, "medium.pcapng");
    assert_eq!(medium.len() as u64, results[0].totals.frames_sent);
    assert!(medium.is_sorted_by_key(|(at, ..)| *at));
    for (number, node) in (1..).zip(&results[0].nodes) {
        let sent: Vec<_> = medium.iter().filter(|(_, interface, _)| *interface == number).collect();
        let named = sent.iter().filter(|(_, _, octets)| is_own(frame(octets), &node.name)).count() as u64;
        assert_eq!(named, node.rts_sent + node.data_sent, "{}", node.name);
        // What the sender's own capture has.
        let own = records(&folder, &format!("{}.pcapng", node.name));
        assert!(sent.iter().all(|(at, _, octets)| own.iter().any(|(time, _, own)| (time, own) == (at, octets))));
    }
    let Some(names) =
        fields(&folder, "medium.pcapng", "wlan.fc.type_subtype == 0x1b", ["frame.interface_name", "wlan.ta"])
    else {
        return;
    };
    assert!(!names.is_empty());
    for [interface, transmitter] in names {
        let number: u8 = interface[1..].parse().unwrap();
        assert_eq!(transmitter, format!("02:00:00:00:00:0{}", number + 1));
    }
    assert_eq!(count(&folder, "medium.pcapng", FAULTS), Some(0));
}

#[test]
fn what_can_not_be_captured_is_refused() {
    let radios = scenario(&string("1 ms"));
    let of = |nodes: &[&str], medium| {
        let nodes: Vec<String> = nodes.iter().map(|&name| name.into()).collect();
        Selection::of(&radios, Some(&nodes), false, medium)
            .map(|selection| selection.files())
            .map_err(|e| e.to_string())
    };
    assert_eq!(of(&["n0", "n2", "n0"], true), Ok(3));
    assert_eq!(of(&[], true), Ok(1));
    assert_eq!(of(&["n0", "n3"], true).unwrap_err(), "there is no node \"n3\"; did you mean \"n0\"?");
    let wires = scenario(
        "duration = \"1 s\"\nnodes = [{ name = \"a\", role = \"wired\" }, { name = \"medium\", role = \"wired\" }]\n\
         links = [{ between = [\"a\", \"medium\"], rate = \"1 Mb/s\" }]",
    );
    let refused = |nodes: Option<&[String]>| Selection::of(&wires, nodes, false, true).unwrap_err();
    assert_eq!(refused(None), SelectionError::Medium);
    assert_eq!(refused(Some(&["a".into()])), SelectionError::NoRadio);
}

/// The captures of steady traffic grow by the second; a trial of a tenth of the run comes near, one of all of it is exact.
#[test]
fn the_size_of_captures_is_known_before() {
    let scenario = scenario(
        r#"
        duration = "10 s"
        nodes = [{ name = "n", count = 3, placement = { shape = "line", spacing = "10 m" } }]
        [[flows]]
        name = "f"
        from = "n0"
        to = "n1"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "1 Mb/s", packet = "1000 B" }
        "#,
    );
    let folder = Folder::new();
    let selection = selection(&scenario, Some(&["n0", "n2"]), true, true);
    capture_selected(&scenario, &selection, &[4], &folder);
    let size = |name: &String| fs::metadata(folder.path().join(name)).unwrap().len();
    let size: u64 = folder.names().iter().map(size).sum();
    let exact = capture_size(&scenario, &selection, 4, &|| true).unwrap().unwrap();
    assert_eq!(exact, CaptureSize { bytes: size, simulated: scenario.duration });
    let (steps, limit) = (Cell::new(0), 1 + Simulation::preparation(&scenario) + 3);
    let early = capture_size(&scenario, &selection, 4, &|| steps.replace(steps.get() + 1) < limit).unwrap().unwrap();
    assert!(early.simulated < scenario.duration, "{early:?}");
    assert!((0.98..1.02).contains(&(early.bytes as f64 / size as f64)), "{early:?}, {size}");
    assert_eq!(capture_size(&scenario, &selection, 4, &|| false).unwrap(), None);
}

#[test]
fn a_file_that_gets_no_name_fails_the_run_and_leaves_no_half() {
    let scenario = scenario(&string("20 ms"));
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("n1.pcapng/in-the-way")).unwrap();
    let selection = Selection::all(&scenario);
    let captures = Some((folder.path(), &selection));
    let job = Job { scenario: &scenario, seeds: &[1], threads: 1, captures, recordings: None };
    let error = execute(&job, &Control::new(), &(), |_, _| panic!("it failed")).unwrap_err();
    assert!(error.to_string().contains("n1.pcapng: "), "{error}");
    assert!(folder.names().iter().all(|name| !name.contains("part") && name != "n2.pcapng"), "{:?}", folder.names());
}

#[test]
fn wireshark_finds_no_fault_in_any_packet() {
    let scenario = scenario(&string("400 ms"));
    let folder = Folder::new();
    let results = capture(&scenario, &[1], &folder);
    for file in ["n0.pcapng", "n1.pcapng", "n2.pcapng"] {
        let Some(faults) = count(&folder, file, FAULTS) else { return };
        assert_eq!(faults, 0, "{file}");
    }
    let seen = |filter| count(&folder, "n1.pcapng", filter).unwrap() as u64;
    assert!(seen("udp.checksum.status == 1") > 0, "checksums are looked at");
    assert!(seen("tcp.checksum.status == 1") > 0 && seen("wlan.fcs.status == 1") > 0);
    let relay = &results[0].nodes[1];
    assert_eq!(seen("wlan.fc.type_subtype == 0x1b && wlan.ta == 02:00:00:00:00:02"), relay.rts_sent);
    assert_eq!(seen("wlan.fc.type == 2 && wlan.ta == 02:00:00:00:00:02"), relay.data_sent);
    // The last datagrams may be on their way still.
    let whole = count(&folder, "n2.pcapng", "udp && ip.dst == 10.0.0.3 && wlan.ra == 02:00:00:00:00:03").unwrap();
    assert!(whole as u64 >= results[0].flows[0].summary.received_packets);
}

/// Request, Response, … Close, Reset (RFC 4340, section 5.1), and feedback with ADTFRC's option 248.
#[test]
fn wireshark_reads_connections_of_dccp() {
    let protocols = ["tfrc", "adtfrc"];
    let flows = protocols.map(|protocol| {
        format!(
            "[[flows]]\nname = \"{protocol}\"\nfrom = \"n0\"\nto = \"n2\"\nstop = \"1.5 s\"\n\
             transport = {{ protocol = \"{protocol}\" }}\napplication = {{ kind = \"bulk\" }}\n"
        )
    });
    let text = string("3 s").split("[[flows]]").next().map(|nodes| nodes.to_owned() + &flows.concat());
    let scenario = scenario(&text.unwrap());
    let folder = Folder::new();
    let result = capture(&scenario, &[1], &folder).remove(0);
    let columns = ["dccp.type", "dccp.srcport", "dccp.dstport", "dccp.seq", "ip.src"];
    // What the relay sends on is heard too.
    let own = "dccp && (wlan.ta == 02:00:00:00:00:01 || wlan.ra == 02:00:00:00:00:01)";
    let Some(packets) = fields(&folder, "n0.pcapng", own, columns) else { return };
    for file in ["n0.pcapng", "n1.pcapng", "n2.pcapng"] {
        assert_eq!(count(&folder, file, FAULTS), Some(0), "{file}");
    }
    assert!(count(&folder, "n2.pcapng", "dccp.checksum.status == 1").unwrap() > 0, "checksums are looked at");
    for (flow, port) in result.flows.iter().zip(["49152", "49153"]) {
        // Each once, although its frame may have been repeated.
        let mut own: Vec<_> = packets.iter().filter(|[_, from, to, ..]| from == port || to == port).collect();
        own.dedup();
        let mut types: Vec<&str> = own.iter().map(|[kind, ..]| kind.as_str()).collect();
        // A Request or a Close that was lost is repeated.
        types.dedup();
        assert_eq!(types[..2], ["0", "1"], "{}: the handshake", flow.name);
        // Feedback may cross the Close.
        types.retain(|&kind| kind != "3");
        assert_eq!(types[types.len() - 2..], ["6", "7"], "{}: the end", flow.name);
        // Data, and data with an acknowledgement; each of them a packet of the flow, unless a queue dropped it before.
        let data = own.iter().filter(|[kind, .., from]| ["2", "4"].contains(&kind.as_str()) && from == "10.0.0.1");
        let range = flow.summary.received_packets..=flow.summary.sent_packets;
        assert!(range.contains(&(data.count() as u64)), "{}: {range:?}", flow.name);
        assert!(flow.summary.received_packets > 20, "{}", flow.summary.received_packets);
    }
    let told = "dccp.type == 3 && dccp.option_type == 248 && dccp.srcport == 49153";
    assert!(count(&folder, "n2.pcapng", told).unwrap() > 5);
}

#[test]
fn wireshark_sees_the_connection_that_was_measured() {
    // One hop, and a window that the queue holds: frames collide and are repeated, but no segment is lost.
    let text = string("2 s").replace("spacing = \"200 m\"", "spacing = \"50 m\"");
    let text = text.replace("segment = \"1000 B\"", "segment = \"1000 B\", window = 8");
    let text = text.split("[[flows]]").enumerate().filter(|(place, _)| *place != 1).map(|(_, part)| part);
    let scenario = scenario(&text.collect::<Vec<_>>().join("[[flows]]"));
    let folder = Folder::new();
    let result = capture(&scenario, &[1], &folder).remove(0);
    assert_eq!(result.flows[0].summary.received_bytes, 200_000);
    let columns = ["tcp.flags", "tcp.len", "tcp.seq", "ip.src"];
    let Some(segments) = fields(&folder, "n0.pcapng", "tcp", columns) else { return };
    let flags: Vec<&str> = segments.iter().take(3).map(|[flags, ..]| flags.as_str()).collect();
    assert_eq!(flags, ["0x0002", "0x0012", "0x0010"], "the handshake");
    let from_source = segments.iter().filter(|[.., source]| source == "10.0.0.3");
    let octets: BTreeMap<&str, u64> =
        from_source.map(|[_, len, seq, _]| (seq.as_str(), len.parse().unwrap())).collect();
    assert_eq!(octets.values().sum::<u64>(), result.flows[0].summary.received_bytes);
    let confused = "(tcp.analysis.duplicate_ack or tcp.analysis.retransmission or tcp.analysis.lost_segment \
                    or tcp.analysis.ack_lost_segment or tcp.analysis.out_of_order) and wlan.fc.retry == 0";
    assert_eq!(count(&folder, "n0.pcapng", confused), Some(0), "only what the MAC repeats comes twice");
    let conversations = tshark(&folder, "n0.pcapng", &["-q", "-z", "conv,tcp"]).unwrap();
    assert_eq!(conversations.lines().filter(|line| line.contains("<->")).count(), 1, "{conversations}");
}

/// Four flows over one hop, one of each access category, told apart by their ports and lengths. Each has a separate TID
/// and count of frames (IEEE 802.11-2020, 9.2.4.5.2, 10.3.2.14).
#[test]
fn wireshark_sees_the_priority_of_each_flow() {
    let categories = [("background", 1), ("best-effort", 0), ("video", 5), ("voice", 6)];
    let flow = |(place, (priority, _)): (usize, &(&str, u8))| {
        format!(
            "[[flows]]\nname = \"f{place}\"\nfrom = \"n0\"\nto = \"n1\"\npriority = \"{priority}\"\n\
             stop = \"90 ms\"\ntransport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"{} B\" }}\n",
            200 + place
        )
    };
    let flows: String = categories.iter().enumerate().map(flow).collect();
    let scenario = scenario(&format!(
        "duration = \"100 ms\"\nradio = {{ standard = \"802.11a\", edca = \"2012\" }}\n[[nodes]]\nname = \"n\"\n\
         count = 2\nplacement = {{ shape = \"line\", spacing = \"5 m\" }}\n{flows}"
    ));
    let folder = Folder::new();
    let result = capture(&scenario, &[1], &folder).remove(0);
    let Some(faults) = count(&folder, "n1.pcapng", FAULTS) else { return };
    assert_eq!(faults, 0);
    assert_eq!(count(&folder, "n1.pcapng", "wlan.fcs.status == 1"), count(&folder, "n1.pcapng", "wlan"));
    let columns = ["udp.length", "wlan.qos.tid", "wlan.qos.ack", "wlan.qos.txop_dur_req", "wlan.seq"];
    let frames = fields(&folder, "n1.pcapng", "wlan.fc.type_subtype == 0x28", columns).unwrap();
    for ((place, (name, tid)), flow) in categories.iter().enumerate().zip(&result.flows) {
        let length = (8 + 200 + place).to_string();
        let own: Vec<_> = frames.iter().filter(|[len, ..]| *len == length).collect();
        let told = [tid.to_string(), "0x0000".into(), "0".into()];
        assert!(own.iter().all(|[_, tid, ack, txop, _]| [tid, ack, txop] == told.each_ref()), "{name}: {own:?}");
        let mut sequence: Vec<u64> = own.iter().map(|[.., sequence]| sequence.parse().unwrap()).collect();
        sequence.dedup();
        let received = flow.summary.received_packets;
        assert!(received > 50, "{received} of {name}");
        assert_eq!(sequence, (0..received).collect::<Vec<_>>(), "{name}");
    }
    // Only the frames of these flows are data, and all of them are QoS data.
    assert_eq!(count(&folder, "n0.pcapng", "wlan.fc.type == 2").unwrap() as u64, result.nodes[0].data_sent);
    assert_eq!(count(&folder, "n0.pcapng", "wlan.fc.type_subtype == 0x28").unwrap() as u64, result.nodes[0].data_sent);
}

/// A router with two radios on two channels and a wire: each packet that it passes on stands on two of its interfaces, with a
/// time to live less by one on the second.
#[test]
fn wireshark_reads_each_interface_by_its_link_type() {
    let flow = |to: &str, packet: u32| {
        format!(
            "[[flows]]\nname = \"{to}\"\nfrom = \"a\"\nto = \"{to}\"\nstop = \"90 ms\"\n\
             transport = {{ protocol = \"udp\" }}\n\
             application = {{ kind = \"cbr\", rate = \"1 Mb/s\", packet = \"{packet} B\" }}\n"
        )
    };
    let scenario = scenario(&format!(
        r#"
        duration = "100 ms"
        radio = {{ standard = "802.11a" }}
        links = [{{ between = ["b", "wired"], rate = "100 Mb/s" }}]
        nodes = [
            {{ name = "a", placement = {{ shape = "points", at = [["0 m", "0 m"]] }} }},
            {{ name = "b", radios = [{{ channel = 36 }}, {{ channel = 48, network = "x" }}],
               placement = {{ shape = "points", at = [["5 m", "0 m"]] }} }},
            {{ name = "air", radios = [{{ channel = 48, network = "x" }}],
               placement = {{ shape = "points", at = [["10 m", "0 m"]] }} }},
            {{ name = "wired", role = "wired" }},
        ]
        {}{}"#,
        flow("air", 300),
        flow("wired", 400)
    ));
    let folder = Folder::new();
    let result = capture(&scenario, &[1], &folder).remove(0);
    for file in ["a.pcapng", "b.pcapng", "air.pcapng", "wired.pcapng"] {
        let Some(faults) = count(&folder, file, FAULTS) else { return };
        assert_eq!(faults, 0, "{file}");
        assert!(count(&folder, file, "udp.checksum.status == 1").unwrap() > 0, "{file}: checksums are looked at");
    }
    let columns = ["frame.interface_id", "frame.interface_name", "radiotap.channel.freq", "ip.ttl", "udp.length"];
    let mut packets: BTreeMap<[String; 5], u64> = BTreeMap::new();
    for packet in fields(&folder, "b.pcapng", "udp", columns).unwrap() {
        *packets.entry(packet).or_default() += 1;
    }
    let [air, wired] = [0, 1].map(|flow: usize| result.flows[flow].summary.received_packets);
    assert!(air > 30 && wired > 20, "{air} and {wired}");
    let row = |fields: [&str; 5], packets| (fields.map(String::from), packets);
    let expected = [
        row(["0", "b", "5180", "64", "308"], air),
        row(["0", "b", "5180", "64", "408"], wired),
        row(["1", "b.radio1", "5240", "63", "308"], air),
        row(["2", "b.wire0", "", "63", "408"], wired),
    ];
    assert_eq!(packets.into_iter().collect::<Vec<_>>(), expected);
    // A node without radio has an interface for one all the same, with nothing on it.
    let on_wire = fields(&folder, "wired.pcapng", "udp", ["frame.interface_name", "ip.ttl"]).unwrap();
    assert_eq!(on_wire, vec![["wired.wire0".to_string(), "63".into()]; wired as usize]);
}

#[test]
fn tshark_reads_address_resolution_and_aodv_in_it() {
    let text = |nodes: &str| {
        format!(
            r#"
duration = "4 s"
[radio]
standard = "802.11"
propagation = {{ model = "range", receive = "250 m", carrier_sense = "550 m" }}
[[nodes]]
name = "n"
count = 3
placement = {{ shape = "line", spacing = "200 m" }}
{nodes}
[[flows]]
name = "there"
from = "n0"
to = "n2"
start = "2 s"
transport = {{ protocol = "udp" }}
application = {{ kind = "cbr", rate = "8 kb/s", packet = "100 B" }}
"#
        )
    };
    let names =
        ["arp.opcode", "arp.src.hw_mac", "arp.src.proto_ipv4", "arp.dst.hw_mac", "arp.dst.proto_ipv4", "wlan.ra"];
    let (n0, n1, none) = ("02:00:00:00:00:01", "02:00:00:00:00:02", "00:00:00:00:00:00");

    let folder = Folder::new();
    capture(&scenario(&text("arp = {}")), &[1], &folder);
    let Some(rows) = fields(&folder, "n0.pcapng", "arp && wlan.ta != 02:00:00:00:00:03", names) else { return };
    let request = ["1", n0, "10.0.0.1", none, "10.0.0.2", "ff:ff:ff:ff:ff:ff"];
    let reply = ["2", n1, "10.0.0.2", n0, "10.0.0.1", n0];
    assert_eq!(rows[..2], [request.map(String::from), reply.map(String::from)]);
    assert_eq!(count(&folder, "n1.pcapng", FAULTS), Some(0));

    let folder = Folder::new();
    capture(&scenario(&text(r#"routing = { protocol = "aodv", profile = "draft-5-in-arp" }"#)), &[1], &folder);
    let rows = fields(&folder, "n0.pcapng", "arp", names).expect("it was there a moment ago");
    let is_from = |row: &&[String; 6], operation: &str, from: &str| row[0] == operation && row[1] == from;
    assert!(rows.iter().any(|row| is_from(&row, "1", n0) && row[4] == "255.255.255.255"), "hellos and route requests");
    assert!(
        rows.iter().any(|row| is_from(&row, "2", n1) && row[2..5] == ["10.0.0.2", n0, "10.0.0.1"]),
        "a route reply"
    );
    assert_eq!(count(&folder, "n1.pcapng", "udp.port == 654"), Some(0));
    assert_eq!(count(&folder, "n1.pcapng", FAULTS), Some(0));
}

/// Beacons, probes, authentication, association, and data between the addresses of infrastructure.
#[test]
fn wireshark_follows_an_association() {
    let scenario = scenario(
        r#"
        duration = "1 s"
        radio = { standard = "802.11g", association = "active", edca = "2012" }
        nodes = [
            { name = "ap", role = "access-point", placement = { shape = "points", at = [["0 m", "0 m"]] } },
            { name = "sta", role = "station", placement = { shape = "points", at = [["5 m", "0 m"]] } },
        ]
        [[flows]]
        name = "up"
        from = "sta"
        to = "ap"
        start = "500 ms"
        transport = { protocol = "udp" }
        application = { kind = "cbr", rate = "80 kb/s", packet = "100 B" }
        "#,
    );
    let folder = Folder::new();
    let result = capture(&scenario, &[1], &folder).remove(0);
    for file in ["ap.pcapng", "sta.pcapng"] {
        let Some(faults) = count(&folder, file, FAULTS) else { return };
        assert_eq!(faults, 0, "{file}");
        assert_eq!(count(&folder, file, "wlan.fcs.status == 1"), count(&folder, file, "wlan"), "{file}");
    }
    let sent =
        |filter: &str| count(&folder, "ap.pcapng", &format!("{filter} && wlan.ta == 02:00:00:00:00:01")).unwrap();
    assert_eq!(sent("wlan.fc.type_subtype == 8") as u64, result.nodes[0].beacons_sent);
    assert_eq!(sent("wlan.fc.type == 0") as u64, result.nodes[0].management_sent);
    let columns = ["wlan.fc.type_subtype", "wlan.ta", "wlan.bssid"];
    let exchange = "wlan.fc.type == 0 && wlan.fc.type_subtype != 8 && wlan.fc.retry == 0";
    let exchange = fields(&folder, "sta.pcapng", exchange, columns).unwrap();
    let (ap, sta, all) = ("02:00:00:00:00:01", "02:00:00:00:00:02", "ff:ff:ff:ff:ff:ff");
    // Probes are repeated until the access point has begun; its first beacon may come before an answer.
    let first = exchange.iter().position(|[kind, ..]| kind == "0x000b").expect("an authentication");
    let probes = [["0x0004", sta, all], ["0x0005", ap, ap]].map(|row| row.map(String::from));
    assert!(exchange[..first].iter().all(|row| probes.contains(row)), "{exchange:?}");
    let expected = [("0x000b", sta), ("0x000b", ap), ("0x0000", sta), ("0x0001", ap)];
    assert_eq!(exchange[first..], expected.map(|(kind, from)| [kind, from, ap].map(String::from)));
    // The time in a beacon counts from the access point's own start; radiotap's from that of the run. Both tell when a field leaves.
    let beacons =
        fields(&folder, "ap.pcapng", "wlan.fc.type_subtype == 8", ["wlan.fixed.timestamp", "radiotap.mactime"]);
    let apart = |[own, run]: &[String; 2]| run.parse::<u64>().unwrap() - own.parse::<u64>().unwrap();
    let beacons = beacons.unwrap();
    assert!(
        beacons.len() > 7 && beacons.iter().all(|beacon| apart(beacon).abs_diff(apart(&beacons[0])) <= 1),
        "{beacons:?}"
    );
    let data = "wlan.fc.type_subtype == 0x28 && wlan.fc.ds == 1";
    assert_eq!(count(&folder, "sta.pcapng", data).unwrap() as u64, result.nodes[1].data_sent);
}
