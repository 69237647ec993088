//! Both ends by hand, at exact instants.

use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::nack::Nack;
use hopcast_wire::rtcp::{self, ccfb, twcc};
use hopcast_wire::rtp::Packet as Rtp;

use super::super::{Config, Format, Label, Output, Packet, Receiver, Schedule, Sender, Told, unwrap};
use crate::random::{Purpose, Stream};
use crate::time::{Duration, Instant};
use crate::transport::Payload;
use crate::transport::media::{Arrival, Feedback, Frame, MediaCongestionControl, Probe, SentPacket};

/// Allows what it was told to allow, and remembers what it hears.
#[derive(Debug, Default)]
struct Script {
    pacing: Option<u64>,
    window: Option<u64>,
    probe: Option<Probe>,
    heard: std::sync::Arc<std::sync::Mutex<Heard>>,
}

#[derive(Debug, Default)]
struct Heard {
    sent: Vec<SentPacket>,
    /// Number, whether it arrived, and its ECN field.
    fates: Vec<(u64, Option<Arrival>)>,
    frames: Vec<Frame>,
    rtts: Vec<Option<Duration>>,
}

impl MediaCongestionControl for Script {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.heard.lock().unwrap().sent.push(*packet);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let mut heard = self.heard.lock().unwrap();
        heard.fates.extend(feedback.packets.iter().map(|result| (result.packet.number, result.arrival)));
        heard.rtts.push(feedback.rtt);
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.heard.lock().unwrap().frames.push(*frame);
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn target_rate(&self) -> u64 {
        1_000_000
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.pacing
    }

    fn window(&self) -> Option<u64> {
        self.window
    }

    fn poll_probe(&mut self, _now: Instant) -> Option<Probe> {
        self.probe.take()
    }

    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }

    fn metrics(&self, _show: &mut dyn FnMut(&'static str, f64)) {}
}

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn session(config: Config, script: Script) -> (Sender, std::sync::Arc<std::sync::Mutex<Heard>>) {
    let heard = script.heard.clone();
    (Sender::new(config, Box::new(script)), heard)
}

fn write(sender: &mut Sender, units: core::ops::Range<u64>, now: Instant) {
    units.for_each(|unit| sender.handle_write(Payload { unit, len: 1000 }, now));
}

/// The packets that leave at `now`.
fn packets(sender: &mut Sender, now: Instant) -> Vec<Packet> {
    let mut packets = Vec::new();
    while let Some(output) = sender.poll_output(now) {
        if let Output::Transmit(packet, ecn) = output {
            assert_eq!(ecn, Ecn::Ect1);
            packets.push(packet);
        }
    }
    packets
}

fn twcc() -> Config {
    Config { format: Format::Twcc, first_sequence: 0xffff, source: 5, ..Config::default() }
}

#[test]
fn headers_number_packets_and_mark_the_end_of_a_frame() {
    for config in [twcc(), Config { format: Format::Ccfb, ..twcc() }] {
        let (mut sender, heard) = session(config, Script::default());
        write(&mut sender, 0..3, at(500));
        let left = packets(&mut sender, at(500));
        assert_eq!(left.iter().map(|packet| packet.payload.unit).collect::<Vec<_>>(), [0, 1, 2]);
        for (number, packet) in (0_u16..).zip(&left) {
            assert_eq!(packet.header.len() as u32, config.format.header_len());
            let rtp = Rtp::new_checked(&packet.header[..]).unwrap();
            assert_eq!((rtp.sequence(), rtp.source()), (0xffff_u16.wrapping_add(number), 5));
            assert_eq!((rtp.timestamp(), rtp.marker()), (45_000, number == 2));
            let transport_wide = rtp.extension().and_then(|extension| extension.transport_wide_number());
            assert_eq!(transport_wide, (config.format == Format::Twcc).then_some(number));
            assert!(!rtcp::is_control(&packet.header));
        }
        let heard = heard.lock().unwrap();
        let size = config.format.header_len() + 1028;
        let last = SentPacket { number: 2, size, sent: at(500), probe: None, in_flight: 3 * u64::from(size) };
        assert_eq!(heard.sent[2], last);
        assert_eq!(heard.frames, [Frame { size: 3000, now: at(500), queued: 0, queue_delay: ms(0) }]);
    }
}

/// 1040 bytes at 832 kb/s take 10 ms.
#[test]
fn the_pacer_spaces_packets_by_their_size() {
    let (mut sender, heard) = session(Config::default(), Script { pacing: Some(832_000), ..Script::default() });
    write(&mut sender, 0..3, at(0));
    for millis in [0, 10, 20] {
        assert_eq!(packets(&mut sender, at(millis)).len(), 1, "{millis} ms");
        assert!(packets(&mut sender, at(millis) + ms(9)).is_empty());
        if millis < 20 {
            assert_eq!(sender.poll_timeout(), Some(at(millis + 10)));
        }
    }
    assert_eq!(sender.poll_timeout(), None);
    write(&mut sender, 3..5, at(25));
    assert!(packets(&mut sender, at(25)).is_empty());
    write(&mut sender, 5..6, at(27));
    packets(&mut sender, at(27));
    let frames = &heard.lock().unwrap().frames;
    assert_eq!(frames[2], Frame { size: 1000, now: at(27), queued: 2000, queue_delay: ms(2) });
}

#[test]
fn the_window_holds_packets_back_until_a_report() {
    let config = Config::default();
    let (mut sender, _) = session(config, Script { window: Some(2100), ..Script::default() });
    write(&mut sender, 0..4, at(0));
    let left = packets(&mut sender, at(0));
    assert_eq!(left.len(), 2);
    // It waits for nothing but the time after which packets are thrown away.
    assert_eq!(sender.poll_timeout(), Some(at(2000)));
    let mut receiver = Receiver::new(config);
    for packet in &left {
        assert_eq!(receiver.handle_packet(&packet.header, 1000, Ecn::Ect1, at(30)), Ok(true));
    }
    assert_eq!((receiver.poll_timeout(), receiver.poll_feedback(at(129))), (Some(at(130)), None));
    let report = receiver.poll_feedback(at(130)).unwrap();
    assert_eq!((receiver.poll_timeout(), rtcp::is_control(&report)), (None, true));
    sender.handle_control(&report, at(160)).unwrap();
    assert_eq!(packets(&mut sender, at(160)).len(), 2);
    // 160 ms, of which the report was held back for 100 ms less the rounding of 1/1024 s.
    let rtt = sender.rtt().unwrap();
    assert!(rtt >= ms(60) && rtt < ms(61), "{rtt}");
}

#[test]
fn what_waits_too_long_is_thrown_away() {
    let (mut sender, _) = session(Config::default(), Script { window: Some(1100), ..Script::default() });
    write(&mut sender, 7..9, at(0));
    assert_eq!(packets(&mut sender, at(0)).len(), 1);
    assert!(!(0..2).any(|_| sender.has_room()) || sender.waiting().eq([8]));
    write(&mut sender, 9..10, at(100));
    assert!(packets(&mut sender, at(1999)).is_empty());
    assert!(!sender.has_room());
    assert_eq!(sender.poll_output(at(2000)), Some(Output::Lost(8)));
    assert_eq!(sender.poll_output(at(2000)), Some(Output::Writable));
    assert_eq!((sender.poll_output(at(2000)), sender.poll_timeout()), (None, Some(at(2100))));
    assert_eq!(sender.statistics().discarded, 1);
}

/// What the application says of its media is in the header, and padding looks like the media before it.
#[test]
fn labelled_media_keeps_its_type_time_and_marker() {
    let probe = Probe { id: 3, rate: 1_000_000_000, packets: 3, bytes: 100 };
    let (mut sender, heard) = session(twcc(), Script { probe: Some(probe), ..Script::default() });
    for (unit, marker) in [(0, true), (1, false)] {
        let label = Label { marker, payload_type: 33, timestamp: 7 + unit as u32 };
        sender.handle_media(Payload { unit, len: 1000 }, label, at(5));
    }
    let mut left = packets(&mut sender, at(5));
    (6..8).for_each(|millis| left.extend(packets(&mut sender, at(millis))));
    let views: Vec<_> = left.iter().map(|packet| Rtp::new_checked(&packet.header[..]).unwrap()).collect();
    let seen: Vec<_> = views.iter().map(|view| (view.payload_type(), view.timestamp(), view.marker())).collect();
    assert_eq!(seen, [(33, 7, true), (33, 8, false), (33, 8, false)]);
    assert_eq!((left[2].payload.len, views[2].padding_len()), (0, 255));
    assert_eq!(heard.lock().unwrap().frames.len(), 1, "what is written at one instant is a frame");
}

/// A host that wakes up 3 ms late makes up for 2 ms of it.
#[test]
fn a_pacer_with_slack_makes_up_for_late_departures() {
    let script = Script { pacing: Some(832_000), ..Script::default() };
    let (sender, _) = session(Config::default(), script);
    let mut sender = sender.with_slack(ms(2));
    write(&mut sender, 0..4, at(0));
    assert_eq!((packets(&mut sender, at(0)).len(), sender.poll_timeout()), (1, Some(at(10))));
    assert_eq!((packets(&mut sender, at(11)).len(), sender.poll_timeout()), (1, Some(at(20))));
    assert_eq!((packets(&mut sender, at(23)).len(), sender.poll_timeout()), (1, Some(at(31))));
    // What comes after a pause leaves at once, and the next 8 ms later.
    assert_eq!(packets(&mut sender, at(31)).len(), 1);
    write(&mut sender, 4..6, at(100));
    assert_eq!((packets(&mut sender, at(100)).len(), sender.poll_timeout()), (1, Some(at(108))));
}

#[test]
fn patience_is_what_the_application_says() {
    let (sender, _) = session(Config::default(), Script { window: Some(0), ..Script::default() });
    let mut sender = sender.with_patience(ms(300));
    write(&mut sender, 0..1, at(0));
    assert_eq!(sender.poll_timeout(), Some(at(300)));
    assert!(packets(&mut sender, at(299)).is_empty());
    assert_eq!(sender.poll_output(at(300)), Some(Output::Lost(0)));
    let (sender, _) = session(Config::default(), Script { window: Some(0), ..Script::default() });
    let mut sender = sender.with_patience(Duration::from_nanos(u64::MAX));
    write(&mut sender, 0..1, at(1));
    assert!(packets(&mut sender, at(1_000_000)).is_empty());
}

/// All bytes of a packet tell the same as its header and the length of its data.
#[test]
fn a_receiver_reads_whole_packets() {
    for format in [Format::Ccfb, Format::Twcc] {
        let config = Config { format, ..twcc() };
        let (mut sender, _) = session(config, Script::default());
        write(&mut sender, 0..3, at(0));
        let [mut one, mut other] = [Receiver::new(config), Receiver::new(config)];
        for packet in packets(&mut sender, at(0)) {
            let octets = [&packet.header[..], &[0x47; 1000]].concat();
            assert_eq!(one.handle_octets(&octets, Ecn::Ce, at(20)), Ok(true));
            assert_eq!(one.handle_octets(&octets, Ecn::Ce, at(20)), Ok(false), "a repetition");
            assert_eq!(other.handle_packet(&packet.header, 1000, Ecn::Ce, at(20)), Ok(true));
        }
        assert!(one.handle_octets(&[0; 11], Ecn::Ce, at(20)).is_err());
        let report = one.poll_feedback(at(120));
        assert!(report.is_some() && report == other.poll_feedback(at(120)));
    }
}

/// Padding of 255 bytes fills a probe of three packets and 1500 bytes for which there is one packet of media.
#[test]
fn a_probe_is_filled_with_padding() {
    let probe = Probe { id: 3, rate: 1_000_000, packets: 3, bytes: 1500 };
    let script = Script { probe: Some(probe), pacing: Some(1), ..Script::default() };
    let (mut sender, heard) = session(twcc(), script);
    write(&mut sender, 0..1, at(0));
    let mut left = Vec::new();
    let mut now = at(0);
    while let Some(next) = sender.poll_timeout().filter(|next| *next < at(1000)) {
        now = now.max(next);
        left.extend(packets(&mut sender, now));
    }
    assert_eq!(left.iter().map(|packet| packet.payload.len).collect::<Vec<_>>(), [1000, 0, 0]);
    let padded = Rtp::new_checked(&left[1].header[..]).unwrap();
    assert_eq!((padded.padding_len(), padded.payload().len()), (255, 0));
    let sent = heard.lock().unwrap();
    // 1048 and 303 bytes at 1 Mb/s; padding has its header of 20 bytes, and 28 below it.
    let times: Vec<u64> = sent.sent.iter().map(|packet| packet.sent.as_nanos() / 1000).collect();
    assert_eq!(times, [0, 8384, 10_808]);
    assert!(sent.sent.iter().all(|packet| packet.probe == Some(3)));
    // The receiver reports it, and hands nothing out.
    let mut receiver = Receiver::new(twcc());
    assert_eq!(receiver.handle_packet(&left[1].header, 0, Ecn::NotEct, at(0)), Ok(false));
    assert!(receiver.poll_timeout().is_some());
}

/// One lost, one reordered, one marked; numbers wrap around at once.
#[test]
fn packets_from_before_the_first_arrival_are_handed_out_and_reported() {
    for format in [Format::Ccfb, Format::Twcc] {
        let config = Config { format, ..twcc() };
        let (mut sender, heard) = session(config, Script::default());
        let mut receiver = Receiver::new(config);
        write(&mut sender, 0..4, at(0));
        let left = packets(&mut sender, at(0));
        for (nth, is_fresh) in [(2, true), (0, true), (3, true), (0, false), (1, true), (2, false)] {
            assert_eq!(receiver.handle_packet(&left[nth].header, 1000, Ecn::NotEct, at(20)), Ok(is_fresh), "{nth}");
        }
        let report = receiver.poll_feedback(at(120)).unwrap();
        sender.handle_control(&report, at(140)).unwrap();
        let heard = heard.lock().unwrap();
        let told: Vec<_> = heard.fates.iter().map(|(number, arrival)| (*number, arrival.is_some())).collect();
        assert_eq!(told, [(0, true), (1, true), (2, true), (3, true)]);
    }
}

/// Whether it is a repetition is no longer known, and data that come late are still data.
#[test]
fn packets_older_than_what_is_remembered_are_handed_out_and_not_reported() {
    let (mut sender, heard) = session(twcc(), Script::default());
    let mut receiver = Receiver::new(twcc());
    write(&mut sender, 0..1030, at(0));
    let left = packets(&mut sender, at(0));
    for packet in &left[5..] {
        assert_eq!(receiver.handle_packet(&packet.header, 1000, Ecn::NotEct, at(20)), Ok(true));
    }
    assert_eq!(left.len(), 1030);
    assert_eq!(receiver.handle_packet(&left[5].header, 1000, Ecn::NotEct, at(21)), Ok(true));
    assert_eq!(receiver.handle_packet(&left[6].header, 1000, Ecn::NotEct, at(21)), Ok(false));
    let report = receiver.poll_feedback(at(120)).unwrap();
    sender.handle_control(&report, at(140)).unwrap();
    assert!(heard.lock().unwrap().fates.iter().all(|(number, _)| *number > 5));
}

#[test]
fn reports_tell_losses_marks_and_times() {
    for format in [Format::Ccfb, Format::Twcc] {
        let config = Config { format, ..twcc() };
        let (mut sender, heard) = session(config, Script::default());
        let mut receiver = Receiver::new(config);
        write(&mut sender, 0..5, at(0));
        let left = packets(&mut sender, at(0));
        for (nth, millis, ecn) in [(0, 20, Ecn::Ect1), (3, 30, Ecn::Ce), (1, 31, Ecn::Ect1), (3, 32, Ecn::Ect1)] {
            let fresh = receiver.handle_packet(&left[nth].header, 1000, ecn, at(millis));
            assert_eq!(fresh, Ok(millis != 32), "a repetition");
        }
        let report = receiver.poll_feedback(at(120)).unwrap();
        sender.handle_control(&report, at(140)).unwrap();
        {
            let heard = heard.lock().unwrap();
            let told: Vec<_> =
                heard.fates.iter().map(|(number, arrival)| (*number, arrival.map(|it| it.ecn))).collect();
            let field = |ecn| Some(if format == Format::Ccfb { ecn } else { Ecn::NotEct });
            let expected = [(0, field(Ecn::Ect1)), (1, field(Ecn::Ect1)), (2, None), (3, field(Ecn::Ce))];
            assert_eq!(told, expected);
            // Differences between arrivals are right to a tick: 1/1024 s or 250 µs.
            let time = |place: usize| heard.fates[place].1.unwrap().time;
            let apart = |later: usize, earlier: usize| (time(later) - time(earlier)).as_secs_f64();
            assert!((apart(3, 0) - 0.010).abs() < 0.001 && (apart(1, 3) - 0.001).abs() < 0.001);
            assert_eq!(heard.rtts.len(), 1);
            // From the latest arrival, 89 ms before the report, which TWCC does not tell.
            let expected = if format == Format::Ccfb { 0.051 } else { 0.140 };
            assert!((heard.rtts[0].unwrap().as_secs_f64() - expected).abs() < 0.001);
        }
        let marked = u64::from(format == Format::Ccfb);
        let told = sender.statistics();
        assert_eq!((told.reports, told.arrived, told.lost, told.marked), (1, 3, 1, marked));
        // The lost one was late.
        assert_eq!(receiver.handle_packet(&left[2].header, 1000, Ecn::Ect1, at(130)), Ok(true));
        let report = receiver.poll_feedback(at(230)).unwrap();
        sender.handle_control(&report, at(250)).unwrap();
        let heard = heard.lock().unwrap();
        assert_eq!(heard.fates.len(), 5);
        assert!(heard.fates[4].0 == 2 && heard.fates[4].1.is_some());
        let told = sender.statistics();
        assert_eq!((told.reports, told.arrived, told.lost, told.marked), (2, 4, 0, marked));
    }
}

/// By RFC 8888 each report repeats what the one before told first.
#[test]
fn a_lost_report_is_made_good_by_the_next() {
    for (format, known) in [(Format::Ccfb, 3), (Format::Twcc, 1)] {
        let config = Config { format, ..Config::default() };
        let (mut sender, heard) = session(config, Script::default());
        let mut receiver = Receiver::new(config);
        for nth in 0..3 {
            write(&mut sender, nth..nth + 1, at(nth * 200));
            let packet = packets(&mut sender, at(nth * 200)).remove(0);
            receiver.handle_packet(&packet.header, 1000, Ecn::NotEct, at(nth * 200)).unwrap();
            let report = receiver.poll_feedback(at(nth * 200 + 100)).unwrap();
            if nth == 0 && format == Format::Ccfb || nth == 2 {
                sender.handle_control(&report, at(nth * 200 + 110)).unwrap();
            }
        }
        let heard = heard.lock().unwrap();
        assert!(heard.fates.iter().all(|(_, arrival)| arrival.is_some()), "nothing counts as lost");
        assert_eq!(heard.fates.len(), known);
    }
}

/// Transport-wide numbers are those of media and of packets that are sent again, so a receiver may name either source.
#[test]
fn transport_wide_feedback_may_name_either_source() {
    let config = twcc();
    let (mut sender, heard) = session(config, Script::default());
    write(&mut sender, 0..1, at(0));
    let packet = packets(&mut sender, at(0)).remove(0);
    let mut receiver = Receiver::new(config);
    receiver.handle_packet(&packet.header, 1000, Ecn::NotEct, at(10)).unwrap();
    let report = receiver.poll_feedback(at(200)).unwrap();
    for (source, told) in [(6, Told::Nothing), (8, Told::Nothing), (7, Told::Feedback)] {
        let feedback = twcc::Feedback { source, ..twcc::Feedback::parse(&report).unwrap() };
        let mut octets = vec![0; feedback.buffer_len()];
        feedback.emit(&mut octets);
        assert_eq!(sender.handle_control(&octets, at(210)), Ok(told), "{source}");
    }
    assert_eq!(heard.lock().unwrap().fates.len(), 1);
}

#[test]
fn schedules_say_when_to_report() {
    let packet = |config, count| {
        let (mut sender, _) = session(config, Script::default());
        write(&mut sender, 0..count, at(0));
        packets(&mut sender, at(0))
    };
    let receive = |schedule, count: u64| {
        let config = Config { schedule, ..Config::default() };
        let mut receiver = Receiver::new(config);
        // The last one, which ends the frame, is still to come.
        for packet in &packet(config, count + 1)[..count as usize] {
            receiver.handle_packet(&packet.header, 1000, Ecn::NotEct, at(10)).unwrap();
        }
        receiver
    };
    assert_eq!(receive(Schedule::Periodic(ms(70)), 5).poll_timeout(), Some(at(80)));
    assert_eq!(receive(Schedule::Frames, 15).poll_timeout(), Some(at(50)));
    assert_eq!(receive(Schedule::Frames, 16).poll_timeout(), Some(at(10)));
    let config = Config { schedule: Schedule::Frames, ..Config::default() };
    let mut receiver = Receiver::new(config);
    receiver.handle_packet(&packet(config, 1)[0].header, 1000, Ecn::NotEct, at(10)).unwrap();
    assert_eq!(receiver.poll_timeout(), Some(at(10)), "the end of a frame");
    // 15 packets of 1012 bytes in 100 ms are 1.2144 Mb/s: 544 bits are a twentieth of that in 9 ms, and 50 ms is the least.
    let mut receiver = receive(Schedule::Share, 15);
    assert_eq!(receiver.poll_timeout(), Some(at(110)));
    receiver.poll_feedback(at(110)).unwrap();
    let config = Config { schedule: Schedule::Share, ..Config::default() };
    let late = packet(config, 20);
    receiver.handle_packet(&late[18].header, 1000, Ecn::NotEct, at(120)).unwrap();
    assert_eq!(receiver.poll_timeout(), Some(at(170)));
    // One packet in 60 ms is 134 933 b/s: 544 bits are a twentieth in 80.6 ms.
    receiver.poll_feedback(at(170)).unwrap();
    receiver.handle_packet(&late[19].header, 1000, Ecn::NotEct, at(200)).unwrap();
    let interval = receiver.poll_timeout().unwrap() - at(200);
    assert!((interval.as_secs_f64() - 0.0806).abs() < 1e-4, "{interval}");
}

#[test]
fn what_is_not_of_the_session_changes_nothing() {
    let (mut sender, heard) = session(Config::default(), Script::default());
    write(&mut sender, 0..1, at(0));
    packets(&mut sender, at(0));
    let report = ccfb::Report { ecn: Ecn::NotEct, offset: ccfb::Offset::Before(0) };
    let block = ccfb::Block { source: 99, begin: 0, reports: vec![Some(report)] };
    let foreign = ccfb::Feedback { sender: 1, blocks: vec![block], timestamp: 0 };
    let mut octets = vec![0; foreign.buffer_len()];
    foreign.emit(&mut octets);
    assert_eq!(sender.handle_control(&octets, at(1)), Ok(Told::Nothing));
    assert!(sender.handle_control(&octets[..8], at(1)).is_err());
    // Numbers that never left.
    let block = ccfb::Block { source: 1, begin: 1, reports: vec![Some(report); 4] };
    let invented = ccfb::Feedback { blocks: vec![block], ..foreign };
    let mut octets = vec![0; invented.buffer_len()];
    invented.emit(&mut octets);
    assert_eq!(sender.handle_control(&octets, at(1)), Ok(Told::Feedback));
    assert!(heard.lock().unwrap().fates.is_empty());
    // The other format.
    let other = twcc::Feedback { sender: 1, source: 1, base: 0, reference: 0, count: 0, packets: vec![Some(0)] };
    let mut octets = vec![0; other.buffer_len()];
    other.emit(&mut octets);
    assert!(sender.handle_control(&octets, at(1)).is_err());
}

/// Ten packets, of which the sixth is lost, over 20 ms in each direction.
#[test]
fn both_ends_report_and_the_sender_learns_of_the_losses() {
    let draws = |end| Stream::new(1, Purpose::SessionReports, 0, end);
    let (sender, _) = session(Config::default(), Script::default());
    let mut sender = sender.with_reports(ms(1000), draws(0));
    let mut receiver = Receiver::new(Config::default()).with_reports(draws(1));
    write(&mut sender, 0..10, at(0));
    let mut sent = packets(&mut sender, at(0));
    sent.remove(5);
    for packet in &sent {
        assert!(receiver.handle_packet(&packet.header, 1000, Ecn::NotEct, at(20)).unwrap());
    }
    let due = sender.poll_timeout().expect("it has sent");
    let Some(Output::Transmit(report, Ecn::NotEct)) = sender.poll_output(due) else { panic!("a report is due") };
    assert!(rtcp::is_control(&report.header) && report.payload.len == 0);
    // Two packets: the report, and the name of the source.
    assert_eq!(rtcp::packets(&report.header).map(|packet| packet[1]).collect::<Vec<_>>(), [200, 202]);
    let told = rtcp::report::Report::parse(&report.header).unwrap();
    let media = told.sent.expect("of a sender");
    assert_eq!((told.source, media.packets, media.octets), (1, 10, 10_000));
    assert_eq!(u64::from(media.timestamp), (due - Instant::START).as_nanos() * 9 / 100_000);
    rtcp::packets(&report.header).for_each(|packet| receiver.handle_control(packet, due + ms(20)));
    // Feedback comes first, and at last the report.
    let mut answer = None;
    while let Some(now) = receiver.poll_timeout().map(|now| now.max(due + ms(20))) {
        let _ = receiver.poll_feedback(now);
        answer = receiver.poll_receiver_report(now).map(|report| (report, now + ms(20))).or(answer);
    }
    let (answer, heard) = answer.expect("it has received");
    let told: Vec<_> = rtcp::packets(&answer).map(|packet| sender.handle_control(packet, heard)).collect();
    assert_eq!(told[0], Ok(Told::Reception));
    let reception = sender.reception().expect("it was told");
    assert_eq!((reception.lost, reception.fraction_lost, reception.jitter), (1, 25.0 / 256.0, ms(0)));
    let rtt = reception.rtt.expect("an answer to a report");
    assert!((rtt.as_secs_f64() - 0.04).abs() < 5e-5, "{rtt}");
    // Nothing more is due without news.
    assert_eq!((sender.poll_timeout(), receiver.poll_timeout()), (None, None));
}

#[test]
fn numbers_unwrap_to_the_nearest() {
    assert_eq!([unwrap(5, 16, 3), unwrap(0xfffe, 16, 0x1_0003), unwrap(2, 16, 0xffff)], [5, 0xfffe, 0x1_0002]);
    // Numbers are never negative.
    assert_eq!(unwrap(0xffff, 16, 0), 0xffff);
    assert_eq!(unwrap(0x8001, 16, 0x2_0000), 0x1_8001);
}

/// Packets 0 to 3 leave at 0 ms; the path takes 10 ms and loses packet 1. It is missed at 10 ms, sent again at 20, and there at 30.
#[test]
fn what_is_missed_is_sent_again_as_a_source_of_its_own() {
    for format in [Format::Twcc, Format::Ccfb] {
        let retransmission = Some(ms(200));
        let config = Config { format, first_sequence: 0xffff, source: 5, retransmission, ..Config::default() };
        let (mut sender, heard) = session(config, Script::default());
        let mut receiver = Receiver::new(config);
        write(&mut sender, 0..4, at(0));
        let sent = packets(&mut sender, at(0));
        let arrives = |receiver: &mut Receiver, packet: &Packet, now| {
            receiver.handle_packet(&packet.header, packet.payload.len, Ecn::Ect1, now).unwrap()
        };
        assert!(arrives(&mut receiver, &sent[0], at(10)) && receiver.poll_request(at(10)).is_none());
        assert!(arrives(&mut receiver, &sent[2], at(10)) && arrives(&mut receiver, &sent[3], at(10)));
        assert_eq!(receiver.poll_timeout(), Some(at(10)));
        let request = receiver.poll_request(at(10)).unwrap();
        let asked = Nack { sender: 6, source: 5, lost: vec![0] };
        assert_eq!(Nack::parse(&request), Ok(asked.clone()));

        assert_eq!(sender.handle_control(&request, at(20)), Ok(Told::Requests));
        assert_eq!(sender.poll_timeout(), Some(at(0)));
        let again = packets(&mut sender, at(20)).pop().unwrap();
        assert_eq!((again.payload, sender.statistics().retransmitted), (Payload { unit: 1, len: 1000 }, 1));
        let view = Rtp::new_unchecked(&again.header[..]);
        assert_eq!((view.source(), view.sequence(), view.payload_type(), view.marker()), (7, 0xffff, 97, false));
        assert_eq!((view.timestamp(), view.payload()), (0, &[0, 0][..]));
        // Its size counts the original number, and in the pacer and the history it is a packet like others.
        let size = heard.lock().unwrap().sent.last().map(|packet| (packet.number, packet.size));
        assert_eq!(size, Some((4, format.header_len() + 1000 + 28 + 2)));

        assert!(arrives(&mut receiver, &again, at(30)));
        // The first one was only late, and the same comes twice.
        assert!(!arrives(&mut receiver, &sent[1], at(31)) && !arrives(&mut receiver, &again, at(31)));
        assert_eq!(receiver.poll_request(at(500)), None);
        let report = receiver.poll_feedback(at(110)).unwrap();
        sender.handle_control(&report, at(120)).unwrap();
        let fates = core::mem::take(&mut heard.lock().unwrap().fates);
        assert_eq!(
            fates.iter().map(|(number, arrival)| (*number, arrival.is_some())).collect::<Vec<_>>(),
            [(0, true), (1, true), (2, true), (3, true), (4, true)]
        );
        // Of another source, and of a packet that is too old.
        let other = Nack { source: 9, ..asked.clone() };
        for (nack, told) in [(other, Told::Nothing), (asked, Told::Requests)] {
            let mut octets = vec![0; nack.buffer_len()];
            nack.emit(&mut octets);
            assert_eq!(sender.handle_control(&octets, at(300)), Ok(told));
            assert!(packets(&mut sender, at(300)).is_empty() && sender.poll_timeout().is_none());
        }
    }
}

#[test]
fn a_packet_that_is_sent_again_goes_before_others_and_keeps_to_the_pacer() {
    let config = Config { retransmission: Some(ms(1_000)), ..twcc() };
    // 1048 B take 10 ms.
    let (mut sender, _) = session(config, Script { pacing: Some(1048 * 800), ..Script::default() });
    write(&mut sender, 0..1, at(0));
    assert_eq!(packets(&mut sender, at(0)).len(), 1);
    write(&mut sender, 1..3, at(1));
    let nack = Nack { sender: 6, source: 5, lost: vec![0xffff] };
    let mut octets = vec![0; nack.buffer_len()];
    nack.emit(&mut octets);
    sender.handle_control(&octets, at(2)).unwrap();
    assert_eq!((packets(&mut sender, at(9)).len(), sender.poll_timeout()), (0, Some(at(10))));
    let units = |packets: Vec<Packet>| packets.into_iter().map(|packet| packet.payload.unit).collect::<Vec<_>>();
    assert_eq!(units(packets(&mut sender, at(10))), [0]);
    // Two bytes more take 19 µs more.
    assert_eq!((units(packets(&mut sender, at(20))), units(packets(&mut sender, at(21)))), (vec![], vec![1]));
}
