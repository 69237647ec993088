//! When the ends of a session of RTP send sender and receiver reports, and what these say (RFC 3550, section 6).
//!
//! Their statistics change nothing else that is sent: congestion control has its own [feedback](super::feedback). They serve peers that
//! expect them, and tell how media arrives at a peer that gives no such feedback.

use std::sync::Arc;

use hopcast_wire::rtcp::report::{Block, Report, Sent};
use hopcast_wire::rtp;

use super::clock::{clock_rate, ticks};
use super::interarrival::InterarrivalJitter;
use crate::random::Stream;
use crate::time::{Duration, Instant};

/// The least mean time between two reports (section 6.2). A report in that time takes less than a twentieth of 150 kb/s.
const INTERVAL: Duration = Duration::from_secs(5);
/// By what the drawn interval is divided (section 6.3.1).
const COMPENSATION: f64 = core::f64::consts::E - 1.5;
/// Fraction bits of the short form of NTP's timestamps.
const FRACTION: u32 = 16;
/// From 1900, where NTP's timestamps begin, to 1970 (section 4).
const NTP_EPOCH: Duration = Duration::from_secs(2_208_988_800);

/// When a source reports: half of an interval after its first news, and only if there is news since the report before.
#[derive(Clone, Debug)]
struct Timer {
    draws: Stream,
    /// The earliest time of the next report; `None` before the first news.
    at: Option<Instant>,
    has_news: bool,
}

impl Timer {
    fn new(draws: Stream) -> Self {
        Self { draws, at: None, has_news: false }
    }

    fn handle_news(&mut self, now: Instant) {
        if self.at.is_none() {
            self.at = Some(now.saturating_add(self.draw() / 2));
        }
        self.has_news = true;
    }

    /// Section 6.3.1.
    fn draw(&mut self) -> Duration {
        Duration::from_secs_f64(INTERVAL.as_secs_f64() * (0.5 + self.draws.unit()) / COMPENSATION)
    }

    fn due(&self) -> Option<Instant> {
        self.at.filter(|_| self.has_news)
    }

    /// Whether a report is due, which then is sent.
    fn take(&mut self, now: Instant) -> bool {
        let is_due = self.due().is_some_and(|due| due <= now);
        if is_due {
            self.has_news = false;
            self.at = Some(now.saturating_add(self.draw()));
        }
        is_due
    }
}

/// One that reports.
#[derive(Clone, Debug)]
struct Participant {
    source: u32,
    /// Its canonical name (section 6.5.1): 96 random bits for a session, as RFC 7022 asks.
    name: String,
    timer: Timer,
}

impl Participant {
    fn new(source: u32, mut draws: Stream) -> Self {
        let name = format!("{:016x}{:08x}", draws.next_u64(), draws.next_u64() as u32);
        Self { source, name, timer: Timer::new(draws) }
    }

    /// The compound of a report.
    fn write(&self, sent: Option<Sent>, blocks: Vec<Block>) -> Arc<[u8]> {
        let report = Report { source: self.source, sent, blocks };
        let mut octets = vec![0; report.buffer_len(&self.name)];
        report.emit(&self.name, &mut octets);
        octets.into()
    }
}

/// The reports of a sender, and what those of its receiver tell.
#[derive(Debug)]
pub(super) struct SenderReports {
    participant: Participant,
    /// Unix time at [`Instant::START`].
    epoch: Duration,
    packets: u32,
    octets: u32,
    /// Payload type and timestamp of the last packet, and when that was.
    sampled: Option<(u8, u32, Instant)>,
    reception: Option<Reception>,
}

/// How media arrives, as a receiver report tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// Share of packets between the last two reports that did not arrive.
    pub fraction_lost: f64,
    /// Packets that have not arrived since the start, less those that came twice.
    pub lost: i32,
    /// Interarrival jitter.
    pub jitter: Duration,
    /// From a report of this end to the answer; `None` before an answer to one.
    pub rtt: Option<Duration>,
}

impl SenderReports {
    /// Of `source`. `epoch` is the Unix time at [`Instant::START`].
    pub(super) fn new(source: u32, epoch: Duration, draws: Stream) -> Self {
        let participant = Participant::new(source, draws);
        Self { participant, epoch, packets: 0, octets: 0, sampled: None, reception: None }
    }

    /// A packet with this header leaves at `now`, with `len` bytes of media that were written at `written`.
    pub(super) fn handle_sent(&mut self, header: &[u8], len: u32, written: Instant, now: Instant) {
        let header = rtp::Packet::new_unchecked(header);
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(len);
        self.sampled = Some((header.payload_type(), header.timestamp(), written));
        self.participant.timer.handle_news(now);
    }

    /// A packet without media has left.
    pub(super) fn handle_padding(&mut self) {
        self.packets = self.packets.wrapping_add(1);
    }

    /// A packet of RTCP has come. Returns whether it tells of this source.
    pub(super) fn handle_packet(&mut self, packet: &[u8], now: Instant) -> bool {
        let Ok(report) = Report::parse(packet) else { return false };
        let Some(block) = report.blocks.iter().find(|block| block.source == self.participant.source) else {
            return false;
        };
        let middle = (self.ntp(now) >> FRACTION) as u32;
        // Section 6.4.1: A − LSR − DLSR.
        let round = middle.wrapping_sub(block.last_report).wrapping_sub(block.delay);
        let is_answer = block.last_report != 0 && round < 1 << 31;
        let rtt = is_answer.then(|| Duration::from_secs_f64(f64::from(round) / f64::from(1 << FRACTION)));
        let rate = self.sampled.map_or(90_000, |(payload_type, ..)| clock_rate(payload_type));
        self.reception = Some(Reception {
            fraction_lost: f64::from(block.fraction_lost) / 256.0,
            lost: block.lost,
            jitter: Duration::from_secs_f64(f64::from(block.jitter) / f64::from(rate)),
            rtt: rtt.or(self.reception.and_then(|before| before.rtt)),
        });
        true
    }

    /// When the next report is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.participant.timer.due()
    }

    /// The report that is due at `now`.
    pub(super) fn poll_report(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        if !self.participant.timer.take(now) {
            return None;
        }
        let (payload_type, sampled, written) = self.sampled?;
        let since = now.saturating_since(written).as_secs_f64() * f64::from(clock_rate(payload_type));
        let timestamp = sampled.wrapping_add(since as u64 as u32);
        let sent = Sent { ntp: self.ntp(now), timestamp, packets: self.packets, octets: self.octets };
        Some(self.participant.write(Some(sent), Vec::new()))
    }

    /// What the receiver has told.
    pub(super) fn reception(&self) -> Option<Reception> {
        self.reception
    }

    /// NTP's timestamp of an instant.
    fn ntp(&self, now: Instant) -> u64 {
        ticks(now.saturating_add(NTP_EPOCH.saturating_add(self.epoch)), 1 << 32)
    }
}

/// The reports of a receiver about one source (appendices A.1 and A.3).
#[derive(Clone, Debug)]
pub(super) struct ReceiverReports {
    participant: Participant,
    /// Source of the media.
    media: u32,
    /// Payload type of the last packet.
    payload_type: u8,
    /// The first sequence number, and the greatest one with its cycles.
    numbers: Option<(u64, u64)>,
    received: u64,
    jitter: InterarrivalJitter,
    /// Packets that were expected and received until the report before.
    before: (u64, u64),
    /// The middle of the last sender report's time, and when it came.
    heard: Option<(u32, Instant)>,
}

impl ReceiverReports {
    /// About the source `media`. That of the receiver is the next number, as in its [feedback](super::Config).
    pub(super) fn new(media: u32, draws: Stream) -> Self {
        Self {
            participant: Participant::new(media.wrapping_add(1), draws),
            media,
            payload_type: 0,
            numbers: None,
            received: 0,
            jitter: InterarrivalJitter::default(),
            before: (0, 0),
            heard: None,
        }
    }

    /// A packet of the source has come.
    pub(super) fn handle_media(&mut self, packet: &rtp::Packet<&[u8]>, now: Instant) {
        self.jitter.handle_packet(packet, now);
        self.payload_type = packet.payload_type();
        let sequence = packet.sequence();
        let (_, highest) = self.numbers.get_or_insert((sequence.into(), sequence.into()));
        let ahead = sequence.wrapping_sub(*highest as u16);
        if ahead < 1 << 15 {
            *highest += u64::from(ahead);
        }
        self.received += 1;
        self.participant.timer.handle_news(now);
    }

    /// A packet of RTCP has come from the sender.
    pub(super) fn handle_packet(&mut self, packet: &[u8], now: Instant) {
        if let Ok(Report { source, sent: Some(sent), .. }) = Report::parse(packet)
            && source == self.media
        {
            self.heard = Some(((sent.ntp >> FRACTION) as u32, now));
        }
    }

    /// When the next report is due.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.participant.timer.due()
    }

    /// The report that is due at `now`.
    pub(super) fn poll_report(&mut self, now: Instant) -> Option<Arc<[u8]>> {
        if !self.participant.timer.take(now) {
            return None;
        }
        let (first, highest) = self.numbers?;
        let expected = highest - first + 1;
        let lost = expected as i64 - self.received as i64;
        let (expected_before, received_before) = core::mem::replace(&mut self.before, (expected, self.received));
        let expected_now = expected - expected_before;
        let lost_now = expected_now.saturating_sub(self.received - received_before);
        let delay = self.heard.map_or(0.0, |(_, at)| now.saturating_since(at).as_secs_f64() * f64::from(1 << FRACTION));
        let block = Block {
            source: self.media,
            fraction_lost: (lost_now * 256 / expected_now.max(1)).min(255) as u8,
            lost: lost.clamp(-0x80_0000, 0x7f_ffff) as i32,
            highest: highest as u32,
            jitter: (self.jitter.jitter().as_secs_f64() * f64::from(clock_rate(self.payload_type))) as u32,
            last_report: self.heard.map_or(0, |(time, _)| time),
            delay: delay as u32,
        };
        Some(self.participant.write(None, vec![block]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    fn ms(n: u64) -> Instant {
        Instant::START + Duration::from_millis(n)
    }

    fn draws() -> Stream {
        Stream::new(1, Purpose::SessionReports, 0, 0)
    }

    /// The header of a packet of a transport stream.
    fn header(sequence: u16, timestamp: u32) -> Vec<u8> {
        let mut octets = vec![0x80, 33];
        octets.extend(sequence.to_be_bytes());
        octets.extend(timestamp.to_be_bytes());
        octets.extend([0, 0, 0, 7]);
        octets
    }

    fn take(reports: &mut ReceiverReports, sequence: u16, at: u64) {
        reports.handle_media(&rtp::Packet::new_unchecked(&header(sequence, 0)), ms(at));
    }

    /// The first after 1.03 to 3.08 s, the others 2.05 to 6.16 s apart, and none without news.
    #[test]
    fn section_6_3_1_reports_are_seconds_apart() {
        let mut timer = Timer::new(draws());
        assert_eq!(timer.due(), None);
        let mut before = None;
        for _ in 0..1000 {
            timer.handle_news(before.unwrap_or(ms(0)));
            let due = timer.due().expect("there is news");
            let (least, most) = if before.is_some() { (2.05, 6.16) } else { (1.02, 3.08) };
            let since = due.saturating_since(before.unwrap_or(ms(0))).as_secs_f64();
            assert!(since > least && since < most, "{since}");
            assert!(!timer.take(Instant::from_nanos(due.as_nanos() - 1)) && timer.take(due));
            assert_eq!(timer.due(), None);
            before = Some(due);
        }
        // The mean is 5 s over e − 3/2.
        let mean = before.expect("a thousand").saturating_since(ms(0)).as_secs_f64() / 1000.0;
        assert!((mean / 4.104 - 1.0).abs() < 0.03, "{mean}");
    }

    /// Ten numbers around the end of a cycle, of which two do not come and one comes twice; then ten of which six come.
    #[test]
    fn appendix_a_3_losses_by_hand() {
        let mut reports = ReceiverReports::new(7, draws());
        assert_eq!(reports.poll_timeout(), None);
        // Media that was sampled at one time: of the 160 ms between the last two, a sixteenth is jitter.
        for (sequence, at) in [(0xfffe, 0), (0xffff, 0), (1, 0), (0, 0), (0, 0), (2, 0), (3, 0), (5, 0), (7, 160)] {
            take(&mut reports, sequence, at);
        }
        let block = |reports: &mut ReceiverReports| {
            let due = reports.poll_timeout().expect("there is news");
            let octets = reports.poll_report(due).expect("it is due");
            let report = Report::parse(&octets).expect("a report");
            assert_eq!((report.source, report.sent, report.blocks.len()), (8, None, 1));
            report.blocks[0]
        };
        let first = block(&mut reports);
        assert_eq!((first.source, first.highest, first.lost, first.fraction_lost), (7, 0x1_0007, 1, 25));
        assert_eq!((first.jitter, first.last_report, first.delay), (900, 0, 0));
        (8..18).step_by(2).chain([17]).for_each(|sequence| take(&mut reports, sequence, 160));
        let second = block(&mut reports);
        assert_eq!((second.highest, second.lost, second.fraction_lost), (0x1_0011, 5, 102));
    }

    /// The figure of section 6.4.1: a report leaves at 0xb44d:b705:2000:0000, is answered after 5.25 s, and the answer arrives at
    /// 0xb710:8000 in the middle bits: a round trip of 6.125 s.
    #[test]
    fn section_6_4_1_round_trip_of_the_figure() {
        // 0xb44db705 s after 1900 is after 1970.
        let seconds = 0xb44d_b705_u64;
        let epoch = Duration::from_secs(seconds) - NTP_EPOCH;
        let mut sender = SenderReports::new(5, epoch, draws());
        sender.handle_sent(&header(1, 1000), 188, ms(0), ms(0));
        sender.participant.timer.at = Some(ms(125));
        let octets = sender.poll_report(ms(125)).expect("it is due");
        let sent = Report::parse(&octets).expect("a report").sent.expect("of a sender");
        assert_eq!(sent, Sent { ntp: 0xb44d_b705_2000_0000, timestamp: 1000 + 11_250, packets: 1, octets: 188 });
        let mut receiver = ReceiverReports::new(5, draws());
        take(&mut receiver, 1, 0);
        take(&mut receiver, 2, 32);
        receiver.handle_packet(&octets, ms(1000));
        receiver.participant.timer.at = Some(ms(6250));
        let answer = receiver.poll_report(ms(6250)).expect("it is due");
        let block = Report::parse(&answer).expect("a report").blocks[0];
        assert_eq!((block.last_report, block.delay), (0xb705_2000, 0x5_4000));
        assert!(sender.handle_packet(&answer, ms(11_500)));
        let reception = sender.reception().expect("it was told");
        assert_eq!((reception.rtt, reception.jitter), (Some(Duration::from_millis(6125)), Duration::from_millis(2)));
        // What tells of others tells nothing of this source.
        assert!(!SenderReports::new(6, epoch, draws()).handle_packet(&answer, ms(11_500)));
    }
}
