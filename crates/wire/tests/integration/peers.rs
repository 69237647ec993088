//! Packets of RTCP next to the code of others: rtcp-types (GStreamer's, reports and transport-wide feedback), and pion in a program in
//! Go (both formats of feedback).

#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::report::{Block, Report, Sent};
use hopcast_wire::rtcp::{ccfb, twcc};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use rtcp_types::{
    Compound, Packet, ReceiverReport, ReportBlock, RtcpPacketParser, RtcpPacketWriterExt, SenderReport,
    TransportFeedback, Twcc, TwccPacketStatus,
};

fn octets_of_twcc(feedback: &twcc::Feedback) -> Vec<u8> {
    let mut octets = vec![0; feedback.buffer_len()];
    feedback.emit(&mut octets);
    octets
}

fn octets_of_ccfb(feedback: &ccfb::Feedback) -> Vec<u8> {
    let mut octets = vec![0; feedback.buffer_len()];
    feedback.emit(&mut octets);
    octets
}

/// Feedback with runs of packets that are missing, near and far apart in time.
fn any_twcc() -> impl Strategy<Value = twcc::Feedback> {
    let run = (0_u8..4, 1_usize..40, any::<u8>(), any::<i16>());
    let runs = prop::collection::vec(run, 1..12).prop_map(|runs| {
        let of_run = |(kind, len, small, large): (u8, usize, u8, i16)| {
            let delta = match kind {
                0 => None,
                1 => Some(i16::from(small)),
                _ => Some(large),
            };
            std::iter::repeat_n(delta, if kind == 3 { 1 } else { len })
        };
        runs.into_iter().flat_map(of_run).collect::<Vec<_>>()
    });
    let head = (any::<u32>(), any::<u32>(), any::<u16>(), -(1_i32 << 23)..1 << 23, any::<u8>());
    (head, runs).prop_map(|((sender, source, base, reference, count), packets)| twcc::Feedback {
        sender,
        source,
        base,
        reference,
        count,
        packets,
    })
}

fn any_ccfb() -> impl Strategy<Value = ccfb::Feedback> {
    let report = prop_oneof![
        Just(None),
        (0_u8..4, 0_u16..0x1ffe)
            .prop_map(|(ecn, ticks)| Some(ccfb::Report { ecn: Ecn::of(ecn), offset: ccfb::Offset::Before(ticks) })),
        (0_u8..4).prop_map(|ecn| Some(ccfb::Report { ecn: Ecn::of(ecn), offset: ccfb::Offset::TooOld })),
        (0_u8..4).prop_map(|ecn| Some(ccfb::Report { ecn: Ecn::of(ecn), offset: ccfb::Offset::Unknown })),
    ];
    let block = (any::<u32>(), any::<u16>(), prop::collection::vec(report, 1..60))
        .prop_map(|(source, begin, reports)| ccfb::Block { source, begin, reports });
    (any::<u32>(), prop::collection::vec(block, 1..4), any::<u32>())
        .prop_map(|(sender, blocks, timestamp)| ccfb::Feedback { sender, blocks, timestamp })
}

/// Reports of senders and receivers; rtcp-types has no negative number of losses.
fn any_report() -> impl Strategy<Value = Report> {
    let counts = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let block = (counts, any::<u8>(), 0..1 << 23).prop_map(|(counts, fraction_lost, lost)| {
        let (source, highest, jitter, last_report, delay) = counts;
        Block { source, fraction_lost, lost, highest, jitter, last_report, delay }
    });
    let sent = (any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>())
        .prop_map(|(ntp, timestamp, packets, octets)| Sent { ntp, timestamp, packets, octets });
    (any::<u32>(), prop::option::of(sent), prop::collection::vec(block, 0..32))
        .prop_map(|(source, sent, blocks)| Report { source, sent, blocks })
}

fn block_of(theirs: &ReportBlock<'_>) -> Block {
    Block {
        source: theirs.ssrc(),
        fraction_lost: theirs.fraction_lost(),
        lost: theirs.cumulative_lost() as i32,
        highest: theirs.extended_sequence_number(),
        jitter: theirs.interarrival_jitter(),
        last_report: theirs.last_sender_report_timestamp(),
        delay: theirs.delay_since_last_sender_report_timestamp(),
    }
}

/// The number by which rtcp-types names a reference time: 24 bits without a sign.
fn unsigned(reference: i32) -> u32 {
    reference as u32 & 0xff_ffff
}

proptest! {
    #[test]
    fn rtcp_types_reads_reports_and_names_as_they_were_meant(report in any_report(), name in "[a-z0-9]{1,40}") {
        let mut octets = vec![0; report.buffer_len(&name)];
        report.emit(&name, &mut octets);
        let mut packets = Compound::parse(&octets).expect("a compound");
        let read = match packets.next().expect("a report").expect("a whole one") {
            Packet::Sr(theirs) => Report {
                source: theirs.ssrc(),
                sent: Some(Sent {
                    ntp: theirs.ntp_timestamp(),
                    timestamp: theirs.rtp_timestamp(),
                    packets: theirs.packet_count(),
                    octets: theirs.octet_count(),
                }),
                blocks: theirs.report_blocks().map(|block| block_of(&block)).collect(),
            },
            Packet::Rr(theirs) => {
                let blocks = theirs.report_blocks().map(|block| block_of(&block)).collect();
                Report { source: theirs.ssrc(), sent: None, blocks }
            }
            other => panic!("{other:?}"),
        };
        prop_assert_eq!(&read, &report);
        let Packet::Sdes(names) = packets.next().expect("a description").expect("a whole one") else { panic!("no description") };
        let items: Vec<_> = names.chunks().flat_map(|chunk| chunk.items().map(|item| (chunk.ssrc(), item.type_(), item.value()))).collect();
        prop_assert_eq!(items, [(report.source, 1, name.as_bytes())]);
        prop_assert!(packets.next().is_none());
    }

    #[test]
    fn reports_that_rtcp_types_writes_are_read_as_they_were_meant(report in any_report()) {
        let block = |block: &Block| {
            ReportBlock::builder(block.source)
                .fraction_lost(block.fraction_lost)
                .cumulative_lost(block.lost as u32)
                .extended_sequence_number(block.highest)
                .interarrival_jitter(block.jitter)
                .last_sender_report_timestamp(block.last_report)
                .delay_since_last_sender_report_timestamp(block.delay)
        };
        let mut octets = vec![0; 1 << 10];
        let len = match report.sent {
            Some(sent) => {
                let theirs = SenderReport::builder(report.source)
                    .ntp_timestamp(sent.ntp)
                    .rtp_timestamp(sent.timestamp)
                    .packet_count(sent.packets)
                    .octet_count(sent.octets);
                let theirs = report.blocks.iter().fold(theirs, |theirs, one| theirs.add_report_block(block(one)));
                theirs.write_into(&mut octets)
            }
            None => {
                let theirs = ReceiverReport::builder(report.source);
                let theirs = report.blocks.iter().fold(theirs, |theirs, one| theirs.add_report_block(block(one)));
                theirs.write_into(&mut octets)
            }
        };
        prop_assert_eq!(Report::parse(&octets[..len.expect("there is room")]), Ok(report));
    }

    #[test]
    fn rtcp_types_reads_transport_wide_feedback_as_it_was_meant(feedback in any_twcc()) {
        let octets = octets_of_twcc(&feedback);
        let packet = TransportFeedback::parse(&octets).expect("a feedback packet");
        let theirs = packet.parse_fci::<Twcc<'_>>().expect("of transport-wide numbers");
        prop_assert_eq!((packet.sender_ssrc(), packet.media_ssrc()), (feedback.sender, feedback.source));
        prop_assert_eq!(theirs.base_sequence_number(), feedback.base);
        prop_assert_eq!(theirs.reference_time(), unsigned(feedback.reference));
        prop_assert_eq!(theirs.feedback_packet_count(), feedback.count);
        let read: Vec<_> = theirs.packets().map(|packet| packet.expect("whole")).collect();
        let numbers = (0..feedback.packets.len()).map(|nth| feedback.base.wrapping_add(nth as u16));
        let status = |delta: &Option<i16>| match *delta {
            None => TwccPacketStatus::NotReceived,
            Some(delta) => TwccPacketStatus::Received { delta },
        };
        let meant: Vec<_> = numbers.zip(feedback.packets.iter().map(status)).collect();
        prop_assert_eq!(read, meant);
    }

    #[test]
    fn what_rtcp_types_writes_is_read_as_it_was_meant(feedback in any_twcc()) {
        let status = |delta: &Option<i16>| match *delta {
            None => TwccPacketStatus::NotReceived,
            Some(delta) => TwccPacketStatus::Received { delta },
        };
        let list: Vec<_> = feedback.packets.iter().map(status).collect();
        let theirs = Twcc::builder(feedback.base, unsigned(feedback.reference), feedback.count, &list, None);
        prop_assert_eq!(theirs.packet_status_count(), list.len());
        let packet = TransportFeedback::builder(&theirs).sender_ssrc(feedback.sender).media_ssrc(feedback.source);
        let mut octets = vec![0; 1 << 14];
        let len = packet.write_into(&mut octets).expect("there is room");
        prop_assert_eq!(twcc::Feedback::parse(&octets[..len]), Ok(feedback));
    }
}

fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|digits| std::str::from_utf8(digits).expect("ASCII"));
    digits.map(|digits| u8::from_str_radix(digits, 16).expect("hexadecimal")).collect()
}

/// What pion's program answers to these packets, a line each; `None` without Go or the module.
fn pion(packets: &[Vec<u8>]) -> Option<Vec<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pion");
    let folder = tempfile::tempdir().expect("there is room");
    let program = folder.path().join("pion");
    let built = Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(source).output();
    let missing = match built {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Some(format!("go: {error}")),
    };
    if let Some(missing) = missing {
        assert!(std::env::var_os("HOPCAST_REQUIRE_TOOLS").is_none(), "{missing}");
        println!("skipped: {missing}");
        return None;
    }
    let mut running =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it was built");
    let mut input = running.stdin.take().expect("a pipe");
    let lines: Vec<String> = packets.iter().map(|octets| hexadecimal(octets)).collect();
    let writer = std::thread::spawn(move || input.write_all((lines.join("\n") + "\n").as_bytes()));
    let output = running.wait_with_output().expect("it runs");
    writer.join().expect("no panic").expect("all is read");
    let text = String::from_utf8(output.stdout).expect("text");
    Some(text.lines().map(str::to_owned).collect())
}

/// 200 packets of each kind: pion finds the values that were meant, and what it writes of them is read as the same here.
#[test]
#[ignore = "slow"]
fn pion_reads_and_writes_both_formats_as_they_were_meant() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut draw = |count| -> (Vec<twcc::Feedback>, Vec<ccfb::Feedback>) {
        let drawn = (0..count).map(|_| {
            let (one, other) = (any_twcc().new_tree(&mut runner), any_ccfb().new_tree(&mut runner));
            (one.expect("drawn").current(), other.expect("drawn").current())
        });
        drawn.unzip()
    };
    let (ours, others) = draw(200);
    let octets = ours.iter().map(octets_of_twcc).chain(others.iter().map(octets_of_ccfb));
    let Some(answers) = pion(&octets.collect::<Vec<_>>()) else { return };
    assert_eq!(answers.len(), 400);
    let parts = |answer: &str| {
        let (values, again) = answer.split_once(" = ").unwrap_or_else(|| panic!("{answer}"));
        (values.to_owned(), from_hexadecimal(again))
    };
    for (feedback, answer) in ours.iter().zip(&answers) {
        let (values, again) = parts(answer);
        let twcc::Feedback { sender, source, base, reference, count, packets } = feedback;
        let reference = unsigned(*reference);
        let mut meant = format!("twcc {sender} {source} {base} {} {reference} {count}", packets.len());
        packets.iter().flatten().for_each(|delta| meant += &format!(" {delta}"));
        assert_eq!(values, meant);
        assert_eq!(twcc::Feedback::parse(&again).as_ref(), Ok(feedback));
    }
    for (feedback, answer) in others.iter().zip(&answers[200..]) {
        let (values, again) = parts(answer);
        let mut meant = format!("ccfb {} {}", feedback.sender, feedback.timestamp);
        for block in &feedback.blocks {
            meant += &format!(" source {} {}", block.source, block.begin);
            for report in &block.reports {
                meant += &match report {
                    None => " -".to_owned(),
                    Some(ccfb::Report { ecn, offset }) => {
                        let ticks = match offset {
                            ccfb::Offset::Before(ticks) => *ticks,
                            ccfb::Offset::TooOld => 0x1ffe,
                            ccfb::Offset::Unknown => 0x1fff,
                        };
                        format!(" {}:{ticks}", ecn.put(0))
                    }
                };
            }
        }
        assert_eq!(values, meant);
        assert_eq!(ccfb::Feedback::parse(&again).as_ref(), Ok(feedback));
    }
}
