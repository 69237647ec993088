//! The sending end of a stream, as a machine without sockets.

use std::collections::VecDeque;

use hopcast_protocols::fec::{self, Encoder, Octets};
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc;
use hopcast_protocols::transport::dccp::{self, CloseReason, Connection, Payload, State};
use hopcast_protocols::transport::rtp::{self as media, Reception, Told};
use hopcast_wire::ecn::Ecn;
use hopcast_wire::rtp::{self, Contributors};
use hopcast_wire::{dccp as wire, rtcp};

use super::envelope::{Outgoing, Sealing};
use super::rate::{Admission, RateControl};
use super::session::{self, DCCP_PORT, MAX_PACKET, QUEUE, REPAIR_TYPE, SERVICE_CODE_FEC, Variant};
use crate::key::Counters;

/// Packets that wait for their connection. At the rate of a video of 8 Mb/s, a quarter of a second.
const CAPACITY: usize = 192;
/// The connection is offered what leaves within this time, so that a host that wakes up late finds what to make up for.
const OFFERED: Duration = Duration::from_millis(2);
/// A connection is asked for again after this, so that Requests stay close together (RFC 4340, 8.1.1, lets their intervals grow
/// to 64 s) and a receiver that comes back is found within the third of them.
const ATTEMPT: Duration = Duration::from_secs(8);
/// How long a first connection is tried for (RFC 4340, 8.1.1).
const CONNECT_LIMIT: Duration = Duration::from_secs(180);
/// A peer that was sent data and says nothing for so long is gone: several of TCP's least timeouts (RFC 6298, 2.4: 1 s).
const SILENCE: Duration = Duration::from_secs(10);
/// The first wait before a connection that was refused is tried again, and the longest.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(8);
/// Another source at the input of a session of RTP is taken once the one before has been silent for so long.
const INPUT_SILENCE: Duration = Duration::from_secs(3);
/// Packets of a file or a pipe that a session of RTP holds: what a host that wakes up 2 ms late sends at 80 Mb/s.
const BACKLOG: usize = 16;
/// Goodbyes over UDP, where none is acknowledged, and the time between them.
const GOODBYES: u8 = 3;
const GOODBYE_INTERVAL: Duration = Duration::from_millis(20);

/// Settings of the user.
#[derive(Clone, Debug, Default)]
pub struct SenderConfig {
    /// Protocol of the media.
    pub variant: Variant,
    /// The rate of media over RTP; without effect over other variants.
    pub rate: RateControl,
    /// Forward error correction; over DCCP only.
    pub fec: Option<fec::Config>,
    /// Largest age of a packet before it leaves; older packets are dropped. `None` for media that wait, such as a file.
    pub patience: Option<Duration>,
    /// Unix time at [`Instant::START`], for sender reports of RTP.
    pub epoch: Duration,
    /// The network's key; without it, everybody can read and change the stream.
    pub sealing: Option<Sealing>,
}

/// The number of source packets in a block, and of repair packets for it, over this variant.
///
/// # Errors
/// The reason why this is impossible, in a clause.
pub fn correction(variant: Variant, source: u32, repair: u32) -> Result<fec::Config, &'static str> {
    match variant {
        Variant::Adtfrc | Variant::Tfrc => {}
        Variant::Udp => return Err("over udp nothing tells the receiver of it; take adtfrc or tfrc"),
        Variant::Rtp => return Err("over rtp nothing tells the receiver of it; take adtfrc or tfrc"),
    }
    match (u8::try_from(source), u8::try_from(repair)) {
        (Ok(source @ 1..), Ok(repair @ 1..)) if source.checked_add(repair).is_some() => {
            Ok(fec::Config { source, repair, ..fec::Config::default() })
        }
        _ => Err("at least one of each is wanted, such as 20+4, and 255 in all at the most"),
    }
}

/// An action that a sender asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderOutput<'a> {
    /// Send these bytes to the peer, in a UDP datagram.
    Transmit(&'a [u8]),
    /// The receiver has accepted the stream, for the first time or again.
    Connected,
    /// The connection is gone; the sender tries another one.
    Lost(CloseReason),
    /// All was sent, and the receiver knows that it was all, unless the reason says otherwise. This is the last action.
    Finished(CloseReason),
}

/// Counters and measurements of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderReport {
    /// State of the connection; `None` over UDP, and between two connections.
    pub state: Option<State>,
    /// X: the rate that the congestion control allows, in bit/s of payload; `None` without a limit. Over RTP, its target rate.
    pub allowed_rate: Option<f64>,
    /// The round-trip time, once measured.
    pub rtt: Option<Duration>,
    /// The loss event rate of the last feedback.
    pub loss_event_rate: f64,
    /// States of the network that the receiver reported; `None` without ADTFRC on both sides.
    pub network: Option<adtfrc::States>,
    /// Whether ADTFRC treats the path as broken, and probes it.
    pub probing: bool,
    /// RTP packets that the application passed in.
    pub packets_offered: u64,
    /// Packets with media or repair symbols that have left.
    pub packets_sent: u64,
    /// Bytes of their payload.
    pub octets_sent: u64,
    /// RTP packets that this end dropped: too old, too long, or no room.
    pub packets_dropped: u64,
    /// Repair packets created.
    pub repair_packets: u64,
    /// Packets that wait.
    pub waiting: usize,
    /// Connections that were accepted.
    pub connections: u64,
    /// Packets sent to probe whether the path works again.
    pub probes: u64,
    /// Datagrams that arrived and were not for this sender.
    pub rejected: u64,
    /// What feedback of RTP told; `None` over other variants.
    pub reported: Option<Reported>,
    /// What the last receiver report of RTP told.
    pub reception: Option<Reception>,
    /// Counters of sealed datagrams, if there is a key.
    pub sealing: Option<Counters>,
}

/// What reports of a session of RTP have told so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The name of the congestion control.
    pub congestion: &'static str,
    /// Reports that arrived.
    pub reports: u64,
    /// Packets that arrived, padding included.
    pub arrived: u64,
    /// Packets that did not.
    pub lost: u64,
    /// Packets that arrived with a mark.
    pub marked: u64,
    /// Packets that were sent again.
    pub retransmitted: u64,
}

/// A packet that waits, or that the connection has been offered.
#[derive(Debug)]
struct Unit {
    written: Instant,
    octets: Vec<u8>,
}

/// The way to the receiver.
#[derive(Debug)]
enum Carrier {
    /// A connection and its port, or the instant at which the next one is tried.
    Dccp { connection: Option<Box<Connection>>, port: u16, retry_at: Instant },
    /// A session of RTP if there is congestion control, goodbyes sent, and when the next one is due.
    Udp { session: Option<Box<Session>>, goodbyes: u8, due: Option<Instant> },
}

/// A session of RTP.
#[derive(Debug)]
struct Session {
    machine: media::Sender,
    admission: Admission,
    /// The source of the media at the input, and when it was heard last.
    input: Option<(u32, Instant)>,
}

/// The sending end. It follows the [contract of every machine](hopcast_protocols): change it, drain
/// [`poll_output`](Self::poll_output), read [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Sender {
    config: SenderConfig,
    draws: Stream,
    envelope: Outgoing,
    opened: Vec<u8>,
    carrier: Carrier,
    encoder: Option<Encoder<Octets>>,
    /// Source and next number of the repair packets.
    repair: (u32, u16),
    /// What waits; the first `offered` of it are the connection's. Its first has the number `first`.
    units: VecDeque<Unit>,
    offered: usize,
    first: u64,
    /// What a session may send again, by ascending number.
    sent: VecDeque<(u64, Vec<u8>)>,
    /// Until when the receiver may ask for packets after the last one has left, unless reports show that it has all.
    asked_until: Option<Instant>,
    spare: Vec<Vec<u8>>,
    /// The source of the media, for the goodbye.
    source: u32,
    ended: bool,
    finished: bool,
    /// When this connection was asked for, and when it was accepted.
    begun: Instant,
    /// Connections asked for.
    attempts: u64,
    /// When all is given up, unless a connection has come about before.
    gives_up: Option<Instant>,
    /// Reason why the last attempt failed; `None` if there was no answer.
    refused: Option<CloseReason>,
    accepted: Option<Instant>,
    /// The first data that left since the peer was heard last.
    expecting: Option<Instant>,
    retry: Duration,
    event: Option<Event>,
    datagram: Vec<u8>,
    /// What there is to send waits for a session of the envelope.
    held: bool,
    report: SenderReport,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Connected,
    Lost(CloseReason),
    Finished(CloseReason),
}

impl Sender {
    /// A sender that begins at `now`. `seed` is random: initial sequence numbers and identifiers come from it. Over UDP
    /// there is no correction.
    pub fn new(config: SenderConfig, seed: u64, now: Instant) -> Self {
        let mut draws = Stream::new(seed, Purpose::InitialSequence, 0, 0);
        let mut source = 0;
        let carrier = match config.variant {
            Variant::Udp => Carrier::Udp { session: None, goodbyes: 0, due: None },
            Variant::Rtp => {
                let numbers = draws.next_u64();
                source = numbers as u32;
                let machine = config.rate.start(source, (numbers >> 32) as u16, config.patience);
                let machine = machine.with_reports(config.epoch, Stream::new(seed, Purpose::SessionReports, 0, 0));
                let admission = Admission::new(config.rate.burst, now);
                let session = Session { machine, admission, input: None };
                Carrier::Udp { session: Some(Box::new(session)), goodbyes: 0, due: None }
            }
            Variant::Adtfrc | Variant::Tfrc => Carrier::Dccp { connection: None, port: 0, retry_at: now },
        };
        let is_udp = !config.variant.has_connections();
        let encoder = config.fec.as_ref().filter(|_| !is_udp).map(|fec| Encoder::new(fec, Octets));
        let envelope = Outgoing::new(config.sealing.as_ref(), now);
        let repair = (draws.next_u64() as u32, draws.next_u64() as u16);
        let mut sender = Self {
            config,
            draws,
            envelope,
            opened: Vec::new(),
            carrier,
            encoder,
            repair,
            units: VecDeque::new(),
            sent: VecDeque::new(),
            asked_until: None,
            offered: 0,
            first: 0,
            spare: Vec::new(),
            source,
            ended: false,
            finished: false,
            begun: now,
            attempts: 0,
            gives_up: (!is_udp).then(|| now + CONNECT_LIMIT),
            refused: None,
            accepted: None,
            expecting: None,
            retry: FIRST_RETRY,
            event: None,
            datagram: Vec::new(),
            held: false,
            report: SenderReport::default(),
        };
        sender.connect(now);
        sender
    }

    /// Number of RTP packets for which [`handle_packet`](Self::handle_packet) has room.
    pub fn room(&self) -> usize {
        CAPACITY.saturating_sub(self.units.len())
    }

    /// When a file or a pipe may hand over its next packet; `None` while there is no room.
    pub fn takes_at(&self, now: Instant) -> Option<Instant> {
        match &self.carrier {
            Carrier::Udp { session: Some(session), .. } => {
                (self.units.len() < BACKLOG).then(|| session.admission.next().max(now))
            }
            Carrier::Udp { .. } | Carrier::Dccp { .. } => (self.room() > 0).then_some(now),
        }
    }

    /// The target rate over RTP, in b/s of media; `None` over other variants.
    pub fn target_rate(&self) -> Option<u64> {
        match &self.carrier {
            Carrier::Udp { session, .. } => session.as_ref().map(|session| session.machine.target_rate()),
            Carrier::Dccp { .. } => None,
        }
    }

    /// The ECN field with which datagrams are to leave.
    pub fn ecn(&self) -> Ecn {
        match &self.carrier {
            Carrier::Udp { session: Some(session), .. } => session.machine.ecn(),
            Carrier::Udp { .. } | Carrier::Dccp { .. } => Ecn::NotEct,
        }
    }

    /// An RTP packet to send, or a packet of RTCP that belongs to it. Returns `false` if it was dropped: there was no
    /// room, or it is too long, or looks like a repair packet.
    ///
    /// A session of RTP writes the header: it takes payload, payload type, timestamp and marker of a packet, of one source at a
    /// time, and no RTCP.
    pub fn handle_packet(&mut self, packet: &[u8], now: Instant) -> bool {
        if matches!(self.carrier, Carrier::Udp { session: Some(_), .. }) {
            return self.handle_media(packet, now);
        }
        self.report.packets_offered += 1;
        let view = rtp::Packet::new_checked(packet).ok().filter(|_| !rtcp::is_control(packet));
        let is_repair = |view: &rtp::Packet<&[u8]>| view.payload_type() == REPAIR_TYPE;
        let confusing = self.encoder.is_some() && view.as_ref().is_some_and(is_repair);
        if self.room() == 0 || packet.is_empty() || packet.len() > MAX_PACKET || confusing || self.ended {
            self.report.packets_dropped += 1;
            return false;
        }
        if let Some(view) = view {
            self.source = view.source();
        }
        match &mut self.encoder {
            Some(encoder) => {
                encoder.handle_adu(packet.to_vec(), now);
                self.take_encoded(now);
            }
            None => self.push(now, |octets| octets.extend_from_slice(packet)),
        }
        true
    }

    /// A packet for a session of RTP.
    fn handle_media(&mut self, packet: &[u8], now: Instant) -> bool {
        if rtcp::is_control(packet) {
            return false;
        }
        self.report.packets_offered += 1;
        let (room, unit) = (self.room(), self.first + self.units.len() as u64);
        let Carrier::Udp { session: Some(session), .. } = &mut self.carrier else { return false };
        let view = rtp::Packet::new_checked(packet).ok().filter(|view| !view.payload().is_empty());
        let is_its = |view: &rtp::Packet<&[u8]>| {
            session
                .input
                .is_none_or(|(source, heard)| source == view.source() || now.saturating_since(heard) >= INPUT_SILENCE)
        };
        let Some(view) = view.filter(is_its).filter(|_| room > 0 && packet.len() <= MAX_PACKET && !self.ended) else {
            self.report.packets_dropped += 1;
            return false;
        };
        session.input = Some((view.source(), now));
        let len = view.payload().len();
        let label =
            media::Label { marker: view.marker(), payload_type: view.payload_type(), timestamp: view.timestamp() };
        session.machine.handle_media(Payload { unit, len: len as u32 }, label, now);
        session.admission.take(len, session.machine.target_rate(), now);
        self.push(now, |octets| octets.extend_from_slice(packet));
        true
    }

    /// There is no more media: closes the stream once all has left.
    pub fn handle_end(&mut self, now: Instant) {
        if !core::mem::replace(&mut self.ended, true)
            && let Some(encoder) = &mut self.encoder
        {
            encoder.handle_end();
            self.take_encoded(now);
        }
    }

    /// The user wants to end at once: drops waiting packets, and closes the stream.
    pub fn handle_stop(&mut self, now: Instant) {
        self.handle_end(now);
        self.withdraw(now);
        self.report.packets_dropped += self.units.len() as u64;
        (0..self.units.len()).for_each(|_| self.drop_first());
        self.asked_until = None;
        let is_unknown = matches!(self.carrier, Carrier::Dccp { .. }) && self.accepted.is_none();
        if is_unknown || !self.envelope.is_ready(now) {
            // Nobody is there to close it with.
            self.finish(CloseReason::Aborted);
        }
    }

    /// A datagram of the peer has come.
    pub fn handle_datagram(&mut self, datagram: &[u8], now: Instant) {
        let opened = self.envelope.open(datagram, &mut self.opened, now);
        let taken = match (opened, &mut self.carrier) {
            (Ok(None), _) => true,
            (Ok(Some(octets)), Carrier::Dccp { connection: Some(connection), port, .. }) => {
                let ports = |packet: wire::Packet<&[u8]>| [packet.source_port(), packet.destination_port()];
                let is_ours = wire::Packet::new_checked(octets).is_ok_and(|packet| ports(packet) == [DCCP_PORT, *port]);
                let unacceptable = connection.statistics().unacceptable;
                is_ours
                    && connection.handle_datagram(octets, now).is_ok()
                    && connection.statistics().unacceptable == unacceptable
            }
            (Ok(Some(octets)), Carrier::Udp { session: Some(session), .. }) => {
                let mut is_news = false;
                for packet in rtcp::packets(octets).filter(|_| rtcp::is_control(octets)) {
                    // Other packets of RTCP are of no use here.
                    let told = session.machine.handle_control(packet, now);
                    is_news |= told.is_ok_and(|told| told != Told::Nothing);
                }
                if is_news && self.accepted.is_none() && !self.finished {
                    self.accepted = Some(now);
                    self.report.connections += 1;
                    self.event = Some(Event::Connected);
                }
                is_news
            }
            _ => false,
        };
        if taken {
            self.expecting = None;
        } else {
            self.report.rejected += 1;
        }
    }

    /// Time has come to `now`: does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if let Some(encoder) = self.encoder.as_mut().filter(|encoder| is_due(encoder.poll_timeout(), now)) {
            encoder.handle_timeout(now);
            self.take_encoded(now);
        }
        self.drop_old(now);
        self.envelope.handle_timeout(now);
        if is_due(self.gives_up, now) || is_due(self.call_ends(), now) {
            return self.finish(self.refused.unwrap_or(CloseReason::TimedOut));
        }
        if let Carrier::Udp { session: Some(session), .. } = &mut self.carrier {
            session.machine.handle_timeout(now);
            if is_due(self.silence_ends(), now) {
                (self.accepted, self.expecting) = (None, None);
                self.event = Some(Event::Lost(CloseReason::TimedOut));
            }
        }
        let Carrier::Dccp { connection, retry_at, .. } = &mut self.carrier else { return };
        match connection {
            Some(connection) => {
                if is_due(connection.poll_timeout(), now) {
                    connection.handle_timeout(now);
                }
                if is_due(self.attempt_ends(), now) {
                    self.refused = None;
                    self.connect(now);
                } else if is_due(self.silence_ends(), now) {
                    self.handle_closed(CloseReason::TimedOut, now);
                }
            }
            None if *retry_at <= now && !self.finished => self.connect(now),
            None => {}
        }
    }

    /// Takes out one action. `None` when nothing is left.
    pub fn poll_output(&mut self, now: Instant) -> Option<SenderOutput<'_>> {
        self.held = !self.envelope.is_ready(now) && self.has_something();
        if self.held {
            self.envelope.call(now);
        }
        if !self.finished && self.envelope.poll_datagram(&mut self.datagram, now) {
            return Some(SenderOutput::Transmit(&self.datagram));
        }
        if self.event.is_none() && !self.finished && !self.held {
            let transmit = match self.carrier {
                Carrier::Dccp { .. } => self.poll_connection(now),
                Carrier::Udp { .. } => self.poll_udp(now),
            };
            if transmit {
                return Some(SenderOutput::Transmit(&self.datagram));
            }
        }
        Some(match self.event.take()? {
            Event::Connected => SenderOutput::Connected,
            Event::Lost(reason) => SenderOutput::Lost(reason),
            Event::Finished(reason) => SenderOutput::Finished(reason),
        })
    }

    /// Time of the next call of [`handle_timeout`](Self::handle_timeout), and of [`poll_output`](Self::poll_output) after
    /// it.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.finished {
            return None;
        }
        let carrier = match &self.carrier {
            Carrier::Dccp { connection: None, retry_at, .. } => Some(*retry_at),
            // A session of the envelope is what is waited for.
            _ if self.held => None,
            Carrier::Dccp { connection: Some(connection), .. } => connection.poll_timeout(),
            Carrier::Udp { session, due, .. } => {
                let session = session.as_ref().filter(|_| !self.is_over() || self.asked_until.is_some());
                let session = session.and_then(|session| session.machine.poll_timeout());
                [session, self.asked_until, *due].into_iter().flatten().min()
            }
        };
        let encoder = self.encoder.as_ref().and_then(Encoder::poll_timeout);
        let ends = [self.attempt_ends(), self.silence_ends(), self.oldest_expires(), self.gives_up, self.call_ends()];
        ends.into_iter().chain([carrier, encoder, self.envelope.poll_timeout()]).flatten().min()
    }

    /// Counters and measurements so far.
    pub fn report(&self) -> SenderReport {
        let mut report = SenderReport { waiting: self.units.len(), sealing: self.envelope.counters(), ..self.report };
        report.repair_packets = self.encoder.as_ref().map_or(0, |encoder| encoder.statistics().repair_packets);
        if let Some(connection) = self.connection() {
            let (sender, tfrc) = (connection.sender(), connection.sender().tfrc());
            report.state = Some(connection.state());
            report.allowed_rate = Some(tfrc.rate() * 8.0);
            report.rtt = tfrc.rtt();
            report.loss_event_rate = tfrc.loss_event_rate();
            report.network = sender.adtfrc().and_then(adtfrc::Sender::states);
            report.probing = sender.adtfrc().is_some_and(adtfrc::Sender::is_probing);
            report.probes += connection.statistics().probes_sent;
        }
        if let Carrier::Udp { session: Some(session), .. } = &self.carrier {
            let (machine, path) = (&session.machine, session.machine.path());
            let adtfrc = path.and_then(|path| path.sender);
            report.allowed_rate = Some(machine.target_rate() as f64);
            report.reception = machine.reception();
            report.rtt = machine.rtt().or(report.reception.and_then(|reception| reception.rtt));
            report.loss_event_rate = path.map_or(0.0, |path| path.loss_event_rate);
            report.network = adtfrc.and_then(adtfrc::Sender::states);
            report.probing = adtfrc.is_some_and(adtfrc::Sender::is_probing);
            let media::Statistics { arrived, lost, marked, reports, retransmitted, .. } = machine.statistics();
            let congestion = self.config.rate.congestion.name();
            report.reported = Some(Reported { congestion, reports, arrived, lost, marked, retransmitted });
        }
        report
    }

    /// Whether all media has left.
    pub(super) fn is_over(&self) -> bool {
        self.ended && self.units.is_empty()
    }

    /// Connections that were asked for so far, accepted or not.
    pub(super) fn attempts(&self) -> u64 {
        self.attempts
    }

    fn connection(&self) -> Option<&Connection> {
        match &self.carrier {
            Carrier::Dccp { connection, .. } => connection.as_deref(),
            Carrier::Udp { .. } => None,
        }
    }

    /// Whether the carrier may have something to send.
    fn has_something(&self) -> bool {
        match &self.carrier {
            Carrier::Dccp { connection, .. } => connection.is_some() && !self.is_empty(),
            Carrier::Udp { .. } => self.ended || !self.units.is_empty(),
        }
    }

    /// Whether the end came before anything else.
    fn is_empty(&self) -> bool {
        self.is_over() && self.accepted.is_none() && self.report.packets_sent == 0
    }

    /// When all is given up over UDP, as no session of the envelope has come about.
    fn call_ends(&self) -> Option<Instant> {
        let is_udp = matches!(self.carrier, Carrier::Udp { .. });
        self.envelope.first_call().filter(|_| is_udp).map(|since| since + CONNECT_LIMIT)
    }

    /// When this attempt to connect is given up.
    fn attempt_ends(&self) -> Option<Instant> {
        let asking = self.connection().is_some_and(|connection| connection.state() == State::Request);
        asking.then(|| self.begun + ATTEMPT)
    }

    /// Time at which a silent peer counts as gone. ADTFRC's probes have a separate limit.
    fn silence_ends(&self) -> Option<Instant> {
        self.accepted?;
        if let Carrier::Udp { session: Some(_), .. } = self.carrier {
            return self.expecting.filter(|_| !self.is_over()).map(|since| since + SILENCE);
        }
        let sender = self.connection()?.sender();
        let probing = sender.adtfrc().is_some_and(adtfrc::Sender::is_probing);
        self.expecting.filter(|_| !probing).map(|since| since + SILENCE)
    }

    /// When the first packet is too old to be sent.
    fn oldest_expires(&self) -> Option<Instant> {
        if let Carrier::Udp { session: Some(_), .. } = self.carrier {
            // The session drops what is too old for it.
            return None;
        }
        Some(self.units.front()?.written.saturating_add(self.config.patience?))
    }
}

fn is_due(timer: Option<Instant>, now: Instant) -> bool {
    timer.is_some_and(|due| due <= now)
}

/// What waits.
impl Sender {
    fn push(&mut self, now: Instant, write: impl FnOnce(&mut Vec<u8>)) {
        let mut octets = self.spare.pop().unwrap_or_default();
        octets.clear();
        write(&mut octets);
        self.units.push_back(Unit { written: now, octets });
    }

    /// Packets of the encoder: source packets with their identifiers, repair packets in RTP.
    fn take_encoded(&mut self, now: Instant) {
        while let Some(packet) = self.encoder.as_mut().and_then(Encoder::poll_output) {
            let body = packet.to_octets();
            let fec::Packet::Repair(..) = packet else {
                self.push(now, |octets| octets.extend_from_slice(&body));
                continue;
            };
            let (source, sequence) = &mut self.repair;
            let repr = rtp::Repr {
                marker: false,
                payload_type: REPAIR_TYPE,
                sequence: *sequence,
                // When it was made, by a clock of 90 kHz.
                timestamp: (now.as_nanos() / 100_000 * 9) as u32,
                source: *source,
                contributors: Contributors::NONE,
                extension: None,
                payload_len: body.len(),
                padding_len: 0,
            };
            *sequence = sequence.wrapping_add(1);
            self.push(now, |octets| {
                octets.resize(rtp::HEADER_LEN, 0);
                repr.emit(&mut rtp::Packet::new_unchecked(&mut octets[..]));
                octets.extend_from_slice(&body);
            });
        }
    }

    /// The first packet leaves the queue, sent or not.
    fn drop_first(&mut self) {
        if let Some(unit) = self.units.pop_front() {
            self.first += 1;
            self.spare.push(unit.octets);
        }
    }

    /// The first packet leaves the queue. It may be sent again, as those from unit `oldest` on.
    fn keep_first(&mut self, oldest: u64, now: Instant) {
        while let Some((_, octets)) = self.sent.pop_front_if(|(unit, _)| *unit < oldest) {
            self.spare.push(octets);
        }
        if let Some(unit) = self.units.pop_front() {
            self.sent.push_back((self.first, unit.octets));
            self.first += 1;
        }
        self.asked_until = self.config.rate.retransmission.map(|lifetime| now.saturating_add(lifetime));
    }

    /// Takes back what the connection was offered.
    fn withdraw(&mut self, now: Instant) {
        if let Carrier::Dccp { connection: Some(connection), .. } = &mut self.carrier {
            connection.handle_flush(now);
        }
        self.offered = 0;
    }

    /// Drops what is too old to be of use.
    fn drop_old(&mut self, now: Instant) {
        if is_due(self.oldest_expires(), now) {
            self.withdraw(now);
        }
        while is_due(self.oldest_expires(), now) {
            self.report.packets_dropped += 1;
            self.drop_first();
        }
    }
}

/// The way to the receiver.
impl Sender {
    fn connect(&mut self, now: Instant) {
        self.keep_counters();
        let Some(congestion) = self.config.variant.congestion() else { return };
        let Carrier::Dccp { connection, port, .. } = &mut self.carrier else { return };
        // Dynamic ports (RFC 6335, section 6).
        *port = 0xc000 | self.draws.next_u64() as u16;
        let service_code = if self.encoder.is_some() { SERVICE_CODE_FEC } else { rtp::service_code::VIDEO };
        let config = session::connection(congestion, service_code, [*port, DCCP_PORT]);
        *connection = Some(Box::new(Connection::connect(config, self.draws.next_u64())));
        (self.begun, self.accepted, self.expecting, self.offered) = (now, None, None, 0);
        self.attempts += 1;
    }

    /// What the connection counted outlives it.
    fn keep_counters(&mut self) {
        let probes = self.connection().map_or(0, |connection| connection.statistics().probes_sent);
        self.report.probes += probes;
    }

    /// Lets the connection have what it may send soon, and closes it behind the last.
    fn offer(&mut self, now: Instant) {
        let Carrier::Dccp { connection: Some(connection), .. } = &mut self.carrier else { return };
        let tfrc = connection.sender().tfrc();
        let soon = tfrc.payload_rate() * OFFERED.as_secs_f64() / tfrc.segment();
        // A float becomes the nearest number there is.
        let depth = (soon as usize).clamp(2, QUEUE);
        while connection.queued() < depth
            && let Some(unit) = self.units.get(self.offered)
        {
            let payload = Payload { unit: self.first + self.offered as u64, len: unit.octets.len() as u32 };
            if !connection.handle_write(payload, now) {
                break;
            }
            self.offered += 1;
        }
        if self.ended && self.units.is_empty() && self.accepted.is_some() {
            connection.handle_close(now);
        }
    }

    /// Whether there is a datagram to send.
    fn poll_connection(&mut self, now: Instant) -> bool {
        if self.is_empty() {
            self.finish(CloseReason::Finished);
            return false;
        }
        while self.event.is_none() {
            self.offer(now);
            let Carrier::Dccp { connection: Some(connection), .. } = &mut self.carrier else { break };
            match connection.poll_output(now) {
                Some(dccp::Output::Transmit(packet)) => {
                    if self.emit(&packet, now) {
                        return true;
                    }
                }
                Some(dccp::Output::Connected) => {
                    self.accepted = Some(now);
                    self.gives_up = None;
                    self.retry = FIRST_RETRY;
                    self.report.connections += 1;
                    self.event = Some(Event::Connected);
                }
                Some(dccp::Output::Closed(reason)) => self.handle_closed(reason, now),
                // Receivers send no media.
                Some(dccp::Output::Deliver(_) | dccp::Output::Writable) => {}
                None => break,
            }
        }
        false
    }

    /// Writes the datagram of a packet; `false` if it is lost because there is no session.
    fn emit(&mut self, packet: &dccp::Packet, now: Instant) -> bool {
        if packet.payload.len == 0 {
            if self.ended && self.units.is_empty() {
                // The close wants an answer.
                self.expecting.get_or_insert(now);
            }
            return self.envelope.seal([&packet.header, &[]], &mut self.datagram, now);
        }
        let unit = self.units.front().expect("a connection sends what it was offered");
        debug_assert_eq!(packet.payload.unit, self.first, "a connection sends in order");
        let is_sealed = self.envelope.seal([&packet.header, &unit.octets], &mut self.datagram, now);
        self.report.packets_sent += 1;
        self.report.octets_sent += unit.octets.len() as u64;
        self.expecting.get_or_insert(now);
        self.offered = self.offered.saturating_sub(1);
        self.drop_first();
        is_sealed
    }

    fn handle_closed(&mut self, reason: CloseReason, now: Instant) {
        self.keep_counters();
        let lasted = self.accepted.take().is_some_and(|at| now.saturating_since(at) >= FIRST_RETRY);
        self.offered = 0;
        self.expecting = None;
        let Carrier::Dccp { connection, retry_at, .. } = &mut self.carrier else { return };
        *connection = None;
        self.refused = Some(reason);
        if self.ended && self.units.is_empty() {
            self.finish(reason);
            return;
        }
        *retry_at = if lasted { now } else { now + self.retry };
        if !lasted {
            self.retry = self.retry.saturating_add(self.retry).min(LONGEST_RETRY);
        }
        self.event = Some(Event::Lost(reason));
    }

    /// Whether there is a datagram to send over UDP.
    fn poll_udp(&mut self, now: Instant) -> bool {
        if let Carrier::Udp { session: Some(session), .. } = &self.carrier {
            let is_over = self.is_over();
            self.asked_until.take_if(|until| *until <= now || is_over && session.machine.has_all_arrived());
            if !is_over || self.asked_until.is_some() {
                return self.poll_session(now);
            }
        }
        if let Some(unit) = self.units.front() {
            let is_sealed = self.envelope.seal([&unit.octets, &[]], &mut self.datagram, now);
            self.report.packets_sent += 1;
            self.report.octets_sent += unit.octets.len() as u64;
            self.drop_first();
            return is_sealed;
        }
        let Carrier::Udp { goodbyes, due, .. } = &mut self.carrier else { return false };
        if !self.ended || due.is_some_and(|due| due > now) {
            return false;
        }
        if *goodbyes == GOODBYES {
            self.finish(CloseReason::Finished);
            return false;
        }
        *goodbyes += 1;
        *due = Some(now + GOODBYE_INTERVAL);
        self.envelope.seal([&rtcp::goodbye(self.source), &[]], &mut self.datagram, now)
    }

    /// Whether a session of RTP has a datagram to send.
    fn poll_session(&mut self, now: Instant) -> bool {
        loop {
            let Carrier::Udp { session: Some(session), .. } = &mut self.carrier else { return false };
            match session.machine.poll_output(now) {
                Some(media::Output::Transmit(packet, _)) => {
                    if !rtcp::is_control(&packet.header) {
                        self.expecting.get_or_insert(now);
                    }
                    if packet.payload.len == 0 {
                        return self.envelope.seal([&packet.header, &[]], &mut self.datagram, now);
                    }
                    let oldest = session.machine.oldest_kept();
                    let is_again = packet.payload.unit < self.first;
                    let octets = if is_again {
                        let place = self.sent.binary_search_by_key(&packet.payload.unit, |(unit, _)| *unit);
                        &self.sent[place.expect("a session sends again what it keeps")].1[..]
                    } else {
                        debug_assert_eq!(packet.payload.unit, self.first, "a session sends in order");
                        &self.units.front().expect("a session sends what it was handed").octets[..]
                    };
                    let payload = rtp::Packet::new_unchecked(octets);
                    let is_sealed = self.envelope.seal([&packet.header, payload.payload()], &mut self.datagram, now);
                    if !is_again {
                        self.report.packets_sent += 1;
                        self.report.octets_sent += packet.header.len() as u64 + u64::from(packet.payload.len);
                        match oldest {
                            Some(oldest) => self.keep_first(oldest, now),
                            None => self.drop_first(),
                        }
                    }
                    return is_sealed;
                }
                Some(media::Output::Lost(_)) => {
                    self.report.packets_dropped += 1;
                    self.drop_first();
                }
                Some(media::Output::TargetRate(_) | media::Output::Writable) => {}
                // The last packet was too old: the goodbyes are due.
                None if self.is_over() && self.asked_until.is_none() => return self.poll_udp(now),
                None => return false,
            }
        }
    }

    fn finish(&mut self, reason: CloseReason) {
        if !core::mem::replace(&mut self.finished, true) {
            self.event = Some(Event::Finished(reason));
        }
    }
}
