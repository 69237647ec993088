//! The sending end of a session: frames, pacer, and history.

use std::collections::VecDeque;

use hopcast_wire::ParseError;
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtcp::nack::Nack;
use hopcast_wire::rtp::{self, Contributors, Extension, Repr, extension};

use super::history::History;
use super::reports::{Reception, SenderReports};
use super::retransmission::{Kept, Retransmission};
use super::sequences::Sequences;
use super::{Config, Format, Label, ORIGINAL_SEQUENCE_LEN, Packet, Payload, clock, feedback, unwrap};
use crate::random::Stream;
use crate::time::{Duration, Instant};
use crate::transport::media::{Arrival, Feedback, Frame, MediaCongestionControl, PacketResult, PathReport, Probe};

/// UDP and IP.
const BELOW_RTP: u32 = 8 + 20;
/// The first dynamic payload type (RFC 3551, section 3), and that of packets that are sent again.
const PAYLOAD_TYPE: u8 = 96;
const RETRANSMISSION_TYPE: u8 = 97;
/// Padding of a packet without data, in bytes: the most that the packet can count (RFC 3550, section 5.1).
const PADDING: u8 = 255;
/// The session discards a packet that has waited this long for the pacer. libwebrtc sends faster instead before media waits longer
/// (`PacingController::kMaxExpectedQueueLength`), whatever the congestion control says.
const WAIT: Duration = Duration::from_secs(2);
/// Packets that may wait before a blocking write does.
const ROOM: usize = 2;
const SECOND: u128 = 1_000_000_000;
/// The two sources of a session: its media, and packets that are sent again.
const MEDIA: usize = 0;
const AGAIN: usize = 1;

/// The sending end of a session.
#[derive(Debug)]
pub struct Sender {
    config: Config,
    control: Box<dyn MediaCongestionControl>,
    queue: VecDeque<Waiting>,
    queued: u64,
    /// The frame that is being written.
    frame: Option<Frame>,
    probe: Option<Burst>,
    /// When the pacer lets the next packet leave.
    departure: Instant,
    /// By how much a departure may be late without delaying those after it.
    slack: Duration,
    /// How long a packet may wait for the pacer.
    patience: Duration,
    /// What the last packet with media said of it.
    label: Option<Label>,
    history: History,
    /// Of media, and of packets that are sent again. Padding is among these if there are any, so that nothing asks for it.
    sequences: [Sequences; 2],
    retransmission: Option<Retransmission>,
    reports: Option<SenderReports>,
    /// The newest time of the receiver's clock that was heard.
    heard: Instant,
    rtt: Option<Duration>,
    told_rate: Option<u64>,
    /// Whether a write was refused.
    is_full: bool,
    statistics: Statistics,
}

/// Counts of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets with data that left.
    pub packets: u64,
    /// Packets with data that waited too long for the pacer.
    pub discarded: u64,
    /// Packets that reports showed, padding included.
    pub arrived: u64,
    /// Packets that reports left out, without those that a later report showed.
    pub lost: u64,
    /// Packets that arrived with Congestion Experienced in their ECN field.
    pub marked: u64,
    /// Reports that were about this session.
    pub reports: u64,
    /// Packets that were sent again.
    pub retransmitted: u64,
}

/// What a sender wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this with this ECN field.
    Transmit(Packet, Ecn),
    /// This unit has waited too long for the pacer, and is not sent.
    Lost(u64),
    /// The application is to produce this, in b/s, headers not counted.
    TargetRate(u64),
    /// A write that was refused would be taken.
    Writable,
}

/// What a control packet tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Which packets of this session arrived.
    Feedback,
    /// A receiver's [statistics](Reception) of this session.
    Reception,
    /// Which packets of this session are to be sent again.
    Requests,
    /// Something about other media.
    Nothing,
}

/// A packet that waits for the pacer.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    payload: Payload,
    since: Instant,
    /// `None`: the packet is of the dynamic type, sampled when it was written, and marked at the end of a frame.
    label: Option<Label>,
    ends_frame: bool,
}

/// What goes into a packet.
#[derive(Clone, Copy, Debug)]
enum Content {
    Media(Waiting),
    /// The packet of this place among those of the media.
    Again(u64, Kept),
    Padding,
}

impl Content {
    /// Bytes of media.
    fn data(&self) -> u32 {
        match self {
            Self::Media(packet) => packet.payload.len,
            Self::Again(_, kept) => kept.payload.len,
            Self::Padding => 0,
        }
    }

    /// Bytes behind the RTP header.
    fn len(&self) -> u32 {
        match self {
            Self::Media(_) => self.data(),
            Self::Again(..) => ORIGINAL_SEQUENCE_LEN + self.data(),
            Self::Padding => PADDING.into(),
        }
    }
}

/// A probe that is being sent.
#[derive(Clone, Copy, Debug)]
struct Burst {
    probe: Probe,
    packets: u32,
    bytes: u32,
}

impl Sender {
    /// A session that has sent nothing.
    pub fn new(config: Config, control: Box<dyn MediaCongestionControl>) -> Self {
        Self {
            config,
            control,
            queue: VecDeque::new(),
            queued: 0,
            frame: None,
            probe: None,
            departure: Instant::START,
            slack: Duration::ZERO,
            patience: WAIT,
            label: None,
            history: History::default(),
            sequences: Default::default(),
            retransmission: config.retransmission.map(Retransmission::new),
            reports: None,
            heard: Instant::START,
            rtt: None,
            told_rate: None,
            is_full: false,
            statistics: Statistics::default(),
        }
    }

    /// The same with a pacer that makes up for departures that are up to `slack` late, as on a host that wakes up late.
    #[must_use]
    pub fn with_slack(self, slack: Duration) -> Self {
        Self { slack, ..self }
    }

    /// The same with packets that wait for the pacer for up to `patience`, instead of 2 s.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same with sender reports (RFC 3550, section 6.4.1). `epoch` is the Unix time at [`Instant::START`], and `draws` has the source's
    /// name and the times between reports.
    #[must_use]
    pub fn with_reports(self, epoch: Duration, draws: Stream) -> Self {
        Self { reports: Some(SenderReports::new(self.config.source, epoch, draws)), ..self }
    }

    /// Whether the pacer would take a packet at once or soon, for applications that wait for that. If not, [`Output::Writable`] follows.
    pub fn has_room(&mut self) -> bool {
        self.is_full = self.queue.len() >= ROOM;
        !self.is_full
    }

    /// Whether pacer or window may hold packets back. If not, each leaves as soon as it is written, and what is below has to make
    /// applications wait.
    pub fn is_held_back(&self) -> bool {
        self.control.pacing_rate().is_some() || self.control.window().is_some()
    }

    /// Bytes of a packet with `data` bytes of media, from the RTP header on.
    pub fn packet_len(&self, data: u32) -> u32 {
        self.config.format.header_len() + data
    }

    /// The application writes a unit at `now`, which will be one packet.
    pub fn handle_write(&mut self, payload: Payload, now: Instant) {
        self.write(payload, None, now);
    }

    /// The same for media whose header is known.
    pub fn handle_media(&mut self, payload: Payload, label: Label, now: Instant) {
        self.write(payload, Some(label), now);
    }

    fn write(&mut self, payload: Payload, label: Option<Label>, now: Instant) {
        let queue_delay = self.queue.front().map_or(Duration::ZERO, |packet| now.saturating_since(packet.since));
        self.frame.get_or_insert(Frame { size: 0, now, queued: self.queued, queue_delay }).size += payload.len;
        self.queued += u64::from(payload.len);
        self.queue.push_back(Waiting { payload, since: now, label, ends_frame: false });
    }

    /// A control packet of the receiver arrives at `now`: feedback, a receiver report, or a request. A datagram may have several, each
    /// of which is [one](hopcast_wire::rtcp::packets).
    ///
    /// # Errors
    ///
    /// What is wrong with it as feedback.
    pub fn handle_control(&mut self, packet: &[u8], now: Instant) -> Result<Told, ParseError> {
        if self.reports.as_mut().is_some_and(|reports| reports.handle_packet(packet, now)) {
            return Ok(Told::Reception);
        }
        if let Some(retransmission) = &mut self.retransmission
            && let Ok(nack) = Nack::parse(packet)
        {
            if nack.source != self.config.source {
                return Ok(Told::Nothing);
            }
            for sequence in nack.lost {
                let place = self.sequences[MEDIA].place(sequence, self.config.first_sequence);
                retransmission.on_request(place, self.rtt.unwrap_or_default(), now);
            }
            return Ok(Told::Requests);
        }
        let blocks = feedback::read(&self.config, packet, self.heard)?;
        if blocks.is_empty() {
            return Ok(Told::Nothing);
        }
        let mut known: Vec<(u64, Option<Arrival>)> = Vec::new();
        let mut latest: Option<(Instant, u64, Duration)> = None;
        for block in blocks {
            let numbers = self.numbers(&block);
            let told =
                block.latest.and_then(|(place, held)| Some((block.arrivals[place]?.time, numbers[place]?, held)));
            // None comes before all.
            latest = latest.max(told);
            known.extend(
                numbers.into_iter().zip(block.arrivals).filter_map(|(number, arrival)| Some((number?, arrival))),
            );
        }
        known.sort_by_key(|(number, _)| *number);
        let packets = self.history.on_report(known.into_iter());
        let rtt = latest.and_then(|(time, number, held)| {
            self.heard = self.heard.max(time);
            let newest = packets.iter().find(|result| result.packet.number == number)?;
            Some(now.saturating_since(newest.packet.sent).saturating_sub(held))
        });
        self.rtt = rtt.or(self.rtt);
        if let Some(retransmission) = &mut self.retransmission {
            let arrived = packets.iter().filter(|result| result.arrival.is_some());
            arrived.for_each(|result| retransmission.on_arrival(result.packet.number));
        }
        self.statistics.reports += 1;
        let is_marked = |result: &&PacketResult| result.arrival.is_some_and(|arrival| arrival.ecn == Ecn::Ce);
        self.statistics.marked += packets.iter().filter(is_marked).count() as u64;
        if !packets.is_empty() {
            let in_flight = self.history.in_flight();
            self.control.on_feedback(&Feedback { now, packets: &packets, rtt, in_flight });
        }
        Ok(Told::Feedback)
    }

    /// Time has come to `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.control.poll_timeout().is_some_and(|timeout| timeout <= now) {
            self.control.handle_timeout(now);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called, and then [`poll_output`](Self::poll_output).
    pub fn poll_timeout(&self) -> Option<Instant> {
        let expiry = self.queue.front().map(|packet| packet.since.saturating_add(self.patience));
        let again = self.retransmission.as_ref().and_then(Retransmission::wants);
        let again = again.map(|data| ORIGINAL_SEQUENCE_LEN + data);
        let next = again.or_else(|| self.queue.front().map(|packet| packet.payload.len));
        let wants = self.probe.is_some() || next.is_some_and(|len| self.fits(len));
        let departure = wants.then_some(self.departure);
        let report = self.reports.as_ref().and_then(SenderReports::poll_timeout);
        [self.control.poll_timeout(), expiry, departure, report].into_iter().flatten().min()
    }

    /// What is to be done at `now`; call it until it returns `None`.
    pub fn poll_output(&mut self, now: Instant) -> Option<Output> {
        self.end_frame();
        let rate = self.control.target_rate();
        if self.told_rate.replace(rate) != Some(rate) {
            return Some(Output::TargetRate(rate));
        }
        if let Some(header) = self.reports.as_mut().and_then(|reports| reports.poll_report(now)) {
            return Some(Output::Transmit(Packet { header, payload: Payload::default() }, Ecn::NotEct));
        }
        if self.queue.front().is_some_and(|packet| packet.since.saturating_add(self.patience) <= now)
            && let Some(packet) = self.queue.pop_front()
        {
            self.queued -= u64::from(packet.payload.len);
            self.statistics.discarded += 1;
            return Some(Output::Lost(packet.payload.unit));
        }
        if self.probe.is_none() {
            let probe = self.control.poll_probe(now);
            self.probe = probe.map(|probe| Burst { probe, packets: 0, bytes: 0 });
        }
        if self.departure <= now
            && let Some(content) = self.next_content(now)
        {
            return Some(self.transmit(content, now));
        }
        let is_writable = self.is_full && self.queue.len() < ROOM;
        is_writable.then(|| {
            self.is_full = false;
            Output::Writable
        })
    }

    /// The target rate in b/s, headers not counted.
    pub fn target_rate(&self) -> u64 {
        self.control.target_rate()
    }

    /// The ECN field with which packets leave.
    pub fn ecn(&self) -> Ecn {
        self.control.ecn()
    }

    /// What TFRC and ADTFRC know of the path; `None` of other congestion controls.
    pub fn path(&self) -> Option<PathReport<'_>> {
        self.control.path()
    }

    /// The latest round trip, without the time for which the report was held back, as far as its format tells that.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// What the last receiver report told.
    pub fn reception(&self) -> Option<Reception> {
        self.reports.as_ref().and_then(SenderReports::reception)
    }

    /// What has happened so far.
    pub fn statistics(&self) -> Statistics {
        let (arrived, lost) = self.history.fates();
        Statistics { arrived, lost, ..self.statistics }
    }

    /// Whether reports have shown each packet that may be sent again.
    pub fn has_all_arrived(&self) -> bool {
        self.retransmission.as_ref().is_none_or(Retransmission::has_all_arrived)
    }

    /// The oldest unit that may be sent again; `None`: none may.
    pub fn oldest_kept(&self) -> Option<u64> {
        self.retransmission.as_ref()?.oldest_unit()
    }

    /// Units that wait for the pacer.
    pub fn waiting(&self) -> impl Iterator<Item = u64> + '_ {
        self.queue.iter().map(|packet| packet.payload.unit)
    }

    /// What was written since the last output is a frame.
    fn end_frame(&mut self) {
        let Some(frame) = self.frame.take() else { return };
        if let Some(last) = self.queue.back_mut() {
            last.ends_frame = true;
        }
        self.control.on_frame(&frame);
    }

    /// Bytes of a packet with `data` bytes of media, headers included.
    fn size(&self, data: u32) -> u32 {
        self.packet_len(data) + BELOW_RTP
    }

    /// Whether the window has room for a packet with `data` bytes of media.
    fn fits(&self, data: u32) -> bool {
        let size = u64::from(self.size(data));
        self.control.window().is_none_or(|window| self.history.in_flight() + size <= window)
    }

    /// What leaves next: what the receiver misses goes before what it has not seen.
    fn next_content(&mut self, now: Instant) -> Option<Content> {
        let again = self.retransmission.as_mut().and_then(|retransmission| retransmission.front(now));
        let again = again.map(|(place, kept)| Content::Again(place, kept));
        let content = again.or_else(|| self.queue.front().copied().map(Content::Media));
        let content = content.filter(|content| self.probe.is_some() || self.fits(content.len()));
        content.or_else(|| self.probe.map(|_| Content::Padding))
    }

    /// Sends a packet.
    fn transmit(&mut self, content: Content, now: Instant) -> Output {
        let size = self.size(content.len());
        let probe = self.probe.map(|burst| burst.probe);
        let label = self.label_of(&content, now);
        let header = self.header(&content, label);
        let source = self.source_of(&content);
        // Reports are on the source of media alone.
        if let Some(reports) = self.reports.as_mut().filter(|_| source == MEDIA) {
            match &content {
                Content::Media(packet) => reports.handle_sent(&header, content.data(), packet.since, now),
                Content::Padding | Content::Again(..) => reports.handle_padding(),
            }
        }
        let sent = self.history.on_sent(size, probe.map(|probe| probe.id), now);
        self.control.on_sent(&sent);
        self.sequences[source].on_sent(sent.number);
        let payload = match content {
            Content::Media(packet) => {
                self.queue.pop_front();
                self.label = packet.label.or(self.label);
                self.statistics.packets += 1;
                self.queued -= u64::from(packet.payload.len);
                packet.payload
            }
            Content::Again(_, kept) => {
                self.statistics.retransmitted += 1;
                kept.payload
            }
            Content::Padding => Payload::default(),
        };
        if let Some(retransmission) = &mut self.retransmission {
            match content {
                Content::Again(..) => retransmission.on_repeated(sent.number, now),
                Content::Media(_) => retransmission.on_sent(payload, label, sent.number, now),
                Content::Padding => {}
            }
        }
        if let Some(rate) = probe.map(|probe| probe.rate).or_else(|| self.control.pacing_rate()) {
            let nanos = u128::from(size) * 8 * SECOND / u128::from(rate.max(1));
            // A pacer that waited catches up with what it was late by, within its slack.
            let (from, earliest) = (self.departure.min(now), now - self.slack.min(now - Instant::START));
            self.departure = from.max(earliest) + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        }
        self.probe = self.probe.take().and_then(|burst| {
            let burst = Burst { packets: burst.packets + 1, bytes: burst.bytes + size, ..burst };
            (burst.packets < burst.probe.packets || burst.bytes < burst.probe.bytes).then_some(burst)
        });
        Output::Transmit(Packet { header: header.into(), payload }, self.control.ecn())
    }

    /// Which of the two sources a packet is of.
    fn source_of(&self, content: &Content) -> usize {
        match content {
            Content::Media(_) => MEDIA,
            Content::Again(..) => AGAIN,
            Content::Padding => {
                if self.retransmission.is_some() {
                    AGAIN
                } else {
                    MEDIA
                }
            }
        }
    }

    /// What the header of a packet says of its media.
    fn label_of(&self, content: &Content, now: Instant) -> Label {
        // Not random at its start (RFC 3550, section 5.1), since nothing is encrypted.
        let new = |marker, at| Label { marker, payload_type: PAYLOAD_TYPE, timestamp: clock::timestamp(at) };
        match content {
            Content::Media(packet) => packet.label.unwrap_or_else(|| new(packet.ends_frame, packet.since)),
            Content::Again(_, kept) => Label { payload_type: RETRANSMISSION_TYPE, ..kept.label },
            // It looks like the media before it, so that a peer does not take it for other media.
            Content::Padding => {
                let label = self.label.map_or_else(|| new(false, now), |label| Label { marker: false, ..label });
                let payload_type = if self.retransmission.is_some() { RETRANSMISSION_TYPE } else { label.payload_type };
                Label { payload_type, ..label }
            }
        }
    }

    /// The RTP header of the next packet, and padding or the original sequence number behind it.
    fn header(&self, content: &Content, label: Label) -> Vec<u8> {
        let words = extension::transport_wide(self.history.next() as u16);
        let source = self.source_of(content);
        let padding = if matches!(content, Content::Padding) { PADDING } else { 0 };
        let sequence = |place: u64| self.config.first_sequence.wrapping_add(place as u16);
        let repr = Repr {
            marker: label.marker,
            payload_type: label.payload_type,
            sequence: sequence(self.sequences[source].next()),
            timestamp: label.timestamp,
            source: [self.config.source, self.config.retransmission_source()][source],
            contributors: Contributors::NONE,
            extension: (self.config.format == Format::Twcc)
                .then_some(Extension { profile: extension::PROFILE, words: &words }),
            payload_len: (content.len() - u32::from(padding)) as usize,
            padding_len: padding,
        };
        let mut octets = vec![0; repr.buffer_len() + usize::from(padding)];
        let mut packet = rtp::Packet::new_unchecked(&mut octets[..]);
        repr.emit(&mut packet);
        if padding > 0 {
            packet.fill_padding(padding);
        }
        if let Content::Again(original, _) = content {
            octets.extend(sequence(*original).to_be_bytes());
        }
        octets
    }

    /// Numbers in the session of the packets of which a report tells.
    fn numbers(&self, block: &feedback::Block) -> Vec<Option<u64>> {
        let places = 0..block.arrivals.len() as u64;
        match self.config.format {
            Format::Twcc => {
                let first = unwrap(block.first.into(), 16, self.history.next());
                places.map(|place| Some(first + place).filter(|number| *number < self.history.next())).collect()
            }
            Format::Ccfb => {
                let sequences = &self.sequences[if block.is_retransmission { AGAIN } else { MEDIA }];
                let first = sequences.place(block.first, self.config.first_sequence);
                places.map(|place| sequences.number(first + place)).collect()
            }
        }
    }
}
