//! The receiving end of a stream, as a machine without sockets.

use std::net::SocketAddr;

use hopcast_protocols::application::JitterBufferConfig;
use hopcast_protocols::random::{Purpose, Stream};
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::adtfrc::{self, Sample, States};
use hopcast_protocols::transport::dccp::{self, CloseReason, Connection, ResetCode, State};
use hopcast_protocols::transport::rtp::{self as feedback, Format, Schedule};
use hopcast_wire::checksum::Policy;
use hopcast_wire::dccp::{self as wire, Body, PacketType};
use hopcast_wire::ecn::Ecn;
use hopcast_wire::{rtcp, rtp};

use super::envelope::{Incoming, Sealing};
use super::media::{Media, MediaReport};
use super::outbox::Outbox;
use super::session::{self, DCCP_PORT, SERVICE_CODE_FEC, Variant};
use crate::key::Counters;

/// Connections that have not been accepted yet, at the most: what strangers can make a receiver remember. A new one takes the
/// place of any other. So at `f` Requests a second with invented senders, a handshake that takes `t` seconds succeeds with a
/// probability of about exp(-f t / 1024): for 50 ms, 99 % at 200 a second, 61 % at 10 000.
const HALF_OPEN: usize = 1 << 10;
/// A connection whose sender was silent for so long gives way to another sender: three of the longest intervals between two
/// feedbacks at usual round trips, and less than a sender waits before it gives up.
const SILENCE: Duration = Duration::from_secs(3);
/// Largest number of answers per second to packets that prove nothing (RFC 4340, 8.1.3, wants them limited).
const ANSWERS: u32 = 8;
const ANSWERS_INTERVAL: Duration = Duration::from_secs(1);

/// The most bytes of reports that a sender can have in store; 64 of the longest reports.
const MOST_CREDIT: usize = 64 << 10;

/// How a receiver of RTP reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feedback {
    /// By transport-wide numbers where packets have them, and else by RFC 8888.
    #[default]
    Auto,
    /// In this format.
    As(Format),
    /// Not at all.
    Off,
}

/// Settings of the user.
#[derive(Clone, Debug)]
pub struct ReceiverConfig {
    /// Protocol of the media. Over DCCP, either kind of receiver serves either kind of sender.
    pub variant: Variant,
    /// Playout buffer of the viewer: the time to wait for a missing packet, and the amount of media before the display
    /// begins.
    pub playout: Duration,
    /// A jitter buffer, which takes the place of the playout buffer.
    pub jitter: Option<JitterBufferConfig>,
    /// How the receiver reports over RTP.
    pub feedback: Feedback,
    /// When it does: so long after the first packet that no report has told. `None`: of transport-wide numbers as WebRTC, of RFC 8888
    /// as SCReAM.
    pub interval: Option<Duration>,
    /// For how long the receiver asks for a packet that is missing over RTP; `None`: it does not.
    pub retransmission: Option<Duration>,
    /// The network's key; with it, the receiver ignores all other senders.
    pub sealing: Option<Sealing>,
}

impl Default for ReceiverConfig {
    /// ADTFRC, and 300 ms: what ITU-T G.114 leaves of its 400 ms to a path of 100 ms.
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            playout: Duration::from_millis(300),
            jitter: None,
            feedback: Feedback::Auto,
            interval: None,
            retransmission: None,
            sealing: None,
        }
    }
}

/// An action that a receiver asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverOutput<'a> {
    /// Send these bytes to this address, in a UDP datagram.
    Transmit(SocketAddr, &'a [u8]),
    /// An RTP packet, in order, or a packet of RTCP.
    Deliver(&'a [u8]),
    /// A stream begins, or continues over a new connection.
    Connected(SocketAddr),
    /// The stream has ended as its sender wished; all of it was delivered.
    Finished(SocketAddr),
    /// The connection is gone, but its sender has not said that this was all.
    Lost(SocketAddr, CloseReason),
}

/// Counters and measurements of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReceiverReport {
    /// Address of the sender.
    pub peer: Option<SocketAddr>,
    /// State of the connection; `None` without one, and over UDP.
    pub state: Option<State>,
    /// States of the network; `None` before the first packet, or if the sender does not use ADTFRC.
    pub network: Option<States>,
    /// IDD, STT, POR and PLR of the last packet.
    pub sample: Option<Sample>,
    /// The loss event rate.
    pub loss_event_rate: f64,
    /// The sender's round-trip time, as its packets report it.
    pub rtt: Option<Duration>,
    /// Statistics of the media.
    pub media: MediaReport,
    /// Packets of DCCP that arrived, and packets with feedback that left.
    pub packets_received: u64,
    /// See `packets_received`.
    pub feedback_sent: u64,
    /// Format of the reports over RTP; `None` before the first packet, and without reports.
    pub format: Option<Format>,
    /// Streams that began, or continued after a connection was lost.
    pub connections: u64,
    /// Datagrams that were no packet, were from an unknown sender, or were not sealed with the key.
    pub rejected: u64,
    /// Counters of sealed datagrams, if there is a key.
    pub sealing: Option<Counters>,
}

/// What waits to be taken out.
#[derive(Clone, Copy, Debug)]
enum Label {
    /// To be sealed.
    Transmit(SocketAddr),
    /// Sealed already.
    Sealed(SocketAddr),
    Deliver,
    Connected(SocketAddr),
    Finished(SocketAddr),
    Lost(SocketAddr, CloseReason),
}

impl Label {
    /// Where it goes, if it is to be sealed.
    fn to_be_sealed(self) -> Option<SocketAddr> {
        match self {
            Self::Transmit(to) => Some(to),
            _ => None,
        }
    }
}

/// One connection of DCCP.
#[derive(Debug)]
struct Session {
    peer: SocketAddr,
    /// The peer's port of DCCP.
    port: u16,
    with_correction: bool,
    connection: Connection,
    heard: Instant,
}

/// The receiving end. It follows the [contract of every machine](hopcast_protocols): change it, drain
/// [`poll_output`](Self::poll_output), read [`poll_timeout`](Self::poll_timeout).
///
/// It serves one stream at a time, and remembers at most eight connections that strangers have begun.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    draws: Stream,
    envelope: Incoming,
    /// The connection whose media is taken.
    open: Option<Session>,
    /// Connections that were asked for, in any order.
    asked: Vec<Session>,
    /// Without connections: whose stream it is, its source, and when it was heard last.
    sender: Option<(SocketAddr, u32, Instant)>,
    /// Over RTP: who reports to it.
    reporter: Option<Reporter>,
    media: Media,
    outbox: Outbox<Label>,
    opened: Vec<u8>,
    sealed: Vec<u8>,
    answers: (Instant, u32),
    report: ReceiverReport,
}

impl Receiver {
    /// A receiver that listens from `now` on. `seed` is random: initial sequence numbers come from it.
    pub fn new(config: ReceiverConfig, seed: u64, now: Instant) -> Self {
        Self {
            draws: Stream::new(seed, Purpose::InitialSequence, 0, 1),
            envelope: Incoming::new(config.sealing.as_ref(), now),
            open: None,
            asked: Vec::new(),
            sender: None,
            reporter: None,
            media: Media::new(config.playout, config.jitter, now),
            outbox: Outbox::new(),
            opened: Vec::new(),
            sealed: Vec::new(),
            answers: (now, 0),
            report: ReceiverReport::default(),
            config,
        }
    }

    /// A datagram has come, without a mark.
    pub fn handle_datagram(&mut self, from: SocketAddr, datagram: &[u8], now: Instant) {
        self.handle_marked(from, Ecn::NotEct, datagram, now);
    }

    /// A datagram has come with this ECN field.
    pub fn handle_marked(&mut self, from: SocketAddr, ecn: Ecn, datagram: &[u8], now: Instant) {
        let mut opened = core::mem::take(&mut self.opened);
        let taken = match self.envelope.open(from, datagram, &mut opened, now) {
            Ok(None) => true,
            Ok(Some(octets)) if self.config.variant.has_connections() => self.handle_packet(from, octets, now),
            Ok(Some(octets)) => self.handle_plain(from, ecn, octets, now),
            Err(_) => false,
        };
        self.opened = opened;
        self.report.rejected += u64::from(!taken);
        self.take_datagrams();
    }

    /// Puts what the envelope sends into the outbox.
    fn take_datagrams(&mut self) {
        while let Some((to, datagram)) = self.envelope.poll_datagram() {
            self.outbox.push(Label::Sealed(to), |octets| octets.extend_from_slice(&datagram));
        }
    }

    /// The user wants to end: tells the sender, and delivers what is held.
    pub fn handle_stop(&mut self, now: Instant) {
        if let Some(mut session) = self.open.take() {
            session.connection.handle_close(now);
            self.settle(session, None, now);
        }
        self.asked.clear();
        let outbox = &mut self.outbox;
        self.media.handle_end(now, &mut |octets| deliver(outbox, octets));
    }

    /// Time has come to `now`: does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.envelope.handle_timeout(now);
        self.take_datagrams();
        let outbox = &mut self.outbox;
        self.media.handle_timeout(now, &mut |octets| deliver(outbox, octets));
        if let (Some(reporter), Some((peer, ..))) = (&mut self.reporter, self.sender) {
            if let Some(feedback) = reporter.poll_feedback(now) {
                self.report.feedback_sent += 1;
                self.outbox.push(Label::Transmit(peer), |octets| octets.extend_from_slice(&feedback));
            }
            while let Some(request) = reporter.poll_request(now) {
                self.outbox.push(Label::Transmit(peer), |octets| octets.extend_from_slice(&request));
            }
            if let Some(report) = reporter.poll_receiver_report(now) {
                self.outbox.push(Label::Transmit(peer), |octets| octets.extend_from_slice(&report));
            }
        }
        let is_due = |session: &Session| session.connection.poll_timeout().is_some_and(|due| due <= now);
        let open = self.open.take_if(|session| is_due(session));
        let asked: Vec<Session> = self.asked.extract_if(.., |session| is_due(session)).collect();
        for mut session in open.into_iter().chain(asked) {
            session.connection.handle_timeout(now);
            self.settle(session, None, now);
        }
    }

    /// Takes out one action. `None` when nothing is left.
    pub fn poll_output(&mut self, now: Instant) -> Option<ReceiverOutput<'_>> {
        // What goes to a peer whose session has ended goes nowhere.
        while let Some(to) = self.outbox.peek().and_then(|label| label.to_be_sealed()) {
            let (_, octets) = self.outbox.pop()?;
            if self.envelope.seal(to, octets, &mut self.sealed, now) {
                return Some(ReceiverOutput::Transmit(to, &self.sealed));
            }
        }
        let (label, octets) = self.outbox.pop()?;
        Some(match label {
            Label::Transmit(to) | Label::Sealed(to) => ReceiverOutput::Transmit(to, octets),
            Label::Deliver => ReceiverOutput::Deliver(octets),
            Label::Connected(peer) => ReceiverOutput::Connected(peer),
            Label::Finished(peer) => ReceiverOutput::Finished(peer),
            Label::Lost(peer, reason) => ReceiverOutput::Lost(peer, reason),
        })
    }

    /// Time of the next call of [`handle_timeout`](Self::handle_timeout), and of [`poll_output`](Self::poll_output) after
    /// it.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let sessions = self.open.iter().chain(&self.asked);
        let reporter = self.reporter.as_ref();
        let reports = reporter.and_then(|reporter| reporter.machine.poll_timeout());
        let connections = sessions.filter_map(|session| session.connection.poll_timeout());
        connections.chain(self.media.poll_timeout()).chain(reports).chain(self.envelope.poll_timeout()).min()
    }

    /// Counters and measurements up to `now`.
    pub fn report(&self, now: Instant) -> ReceiverReport {
        let (media, sealing) = (self.media.report(now), self.envelope.counters());
        let mut report = ReceiverReport { media, sealing, ..self.report };
        report.peer = self.sender.map(|(peer, ..)| peer);
        report.format = self.reporter.as_ref().map(|reporter| reporter.config.format);
        if let Some(Session { peer, connection, .. }) = &self.open {
            let receiver = connection.receiver();
            report.peer = Some(*peer);
            report.state = Some(connection.state());
            report.network = receiver.adtfrc().and_then(adtfrc::Receiver::states);
            report.sample = receiver.adtfrc().and_then(|receiver| receiver.sample().copied());
            report.loss_event_rate = receiver.tfrc().loss_event_rate();
            report.rtt = Some(connection.peer_rtt());
            report.packets_received += connection.statistics().packets_received;
            report.feedback_sent += connection.statistics().feedback_sent;
        }
        report
    }

    /// Whether there is a stream.
    #[cfg(test)]
    pub(crate) fn is_serving(&self) -> bool {
        self.open.is_some() || self.sender.is_some()
    }

    /// Connections that were asked for and not accepted yet.
    #[cfg(test)]
    pub(crate) fn half_open(&self) -> usize {
        self.asked.len()
    }
}

fn deliver(outbox: &mut Outbox<Label>, octets: &[u8]) {
    outbox.push(Label::Deliver, |waiting| waiting.extend_from_slice(octets));
}

/// Over DCCP.
impl Receiver {
    /// Bytes that were in a datagram; `false` if they are of no use.
    fn handle_packet(&mut self, from: SocketAddr, octets: &[u8], now: Instant) -> bool {
        let Ok(view) = wire::Packet::new_checked(octets) else { return false };
        let port = view.source_port();
        if view.destination_port() != DCCP_PORT {
            return false;
        }
        let is_its = |session: &Session| session.peer == from && session.port == port;
        let session = match self.open.take_if(|session| is_its(session)) {
            Some(session) => Some(session),
            None => self.asked.iter().position(is_its).map(|nth| self.asked.swap_remove(nth)),
        };
        let mut session = match session {
            Some(session) => session,
            None if view.packet_type() == PacketType::Request => {
                let Some(session) = self.begin(from, &view, now) else { return false };
                session
            }
            None => {
                self.answer_with_reset(from, octets, ResetCode::NoConnection, now);
                return false;
            }
        };
        let unacceptable = session.connection.statistics().unacceptable;
        // It was read above.
        let _ = session.connection.handle_datagram(octets, now);
        let taken = session.connection.statistics().unacceptable == unacceptable;
        if taken {
            session.heard = now;
        }
        self.settle(session, Some(view.payload()), now);
        taken
    }

    /// A connection that a Request may begin, if there is one to serve.
    fn begin(&mut self, from: SocketAddr, request: &wire::Packet<&[u8]>, now: Instant) -> Option<Session> {
        let nobody = std::net::Ipv4Addr::UNSPECIFIED;
        let service_code = match wire::Repr::parse(request, nobody, nobody, Policy::Ignore).ok()?.body {
            Body::Request { service_code } => service_code,
            _ => return None,
        };
        if self.is_busy(now) {
            self.reset(from, request, ResetCode::TooBusy, now);
            return None;
        }
        // What is not served, the connection refuses.
        let served = if session::is_served(service_code) { service_code } else { rtp::service_code::VIDEO };
        let config = session::connection(self.config.variant.congestion()?, served, [DCCP_PORT, 0]);
        if self.asked.len() == HALF_OPEN {
            // Whichever it is: an attacker can't choose, as it can where the oldest one goes.
            let nth = self.draws.next_u64() % HALF_OPEN as u64;
            self.asked.swap_remove(nth as usize);
        }
        Some(Session {
            peer: from,
            port: request.source_port(),
            with_correction: service_code == SERVICE_CODE_FEC,
            connection: Connection::listen(config, self.draws.next_u64()),
            heard: now,
        })
    }

    /// Whether there is a stream whose sender was heard of late.
    fn is_busy(&self, now: Instant) -> bool {
        self.open.as_ref().is_some_and(|session| now.saturating_since(session.heard) < SILENCE)
    }

    /// Does all that a connection wants done, and puts it where it belongs. `payload` is what the packet that came carries.
    fn settle(&mut self, mut session: Session, payload: Option<&[u8]>, now: Instant) {
        let peer = session.peer;
        let mut is_open = !matches!(session.connection.state(), State::Listen | State::Respond) && self.open.is_none();
        while let Some(output) = session.connection.poll_output(now) {
            match output {
                // A receiver sends no data.
                dccp::Output::Transmit(packet) => {
                    self.outbox.push(Label::Transmit(peer), |octets| octets.extend_from_slice(&packet.header));
                }
                dccp::Output::Connected => {
                    if self.is_busy(now) {
                        session.connection.handle_abort(now);
                        continue;
                    }
                    if let Some(silent) = self.open.take() {
                        self.retire(&silent);
                        self.outbox.push(Label::Lost(silent.peer, CloseReason::TimedOut), |_| {});
                    }
                    is_open = true;
                    self.report.connections += 1;
                    let outbox = &mut self.outbox;
                    let with_correction = session.with_correction;
                    self.media.handle_connection(with_correction, now, &mut |octets| deliver(outbox, octets));
                    self.outbox.push(Label::Connected(peer), |_| {});
                }
                dccp::Output::Deliver(_) if is_open => {
                    let outbox = &mut self.outbox;
                    let payload = payload.unwrap_or_default();
                    self.media.handle_payload(payload, now, &mut |octets| deliver(outbox, octets));
                }
                // What a stranger sends with its handshake is nobody's.
                dccp::Output::Deliver(_) | dccp::Output::Writable => {}
                dccp::Output::Closed(reason) if is_open => self.handle_closed(peer, reason, now),
                dccp::Output::Closed(_) => {}
            }
        }
        match session.connection.state() {
            State::Closed | State::TimeWait => self.retire_if(is_open, &session),
            // A connection that came to nothing.
            State::Listen => {}
            _ if is_open => self.open = Some(session),
            _ => self.asked.push(session),
        }
    }

    fn handle_closed(&mut self, peer: SocketAddr, reason: CloseReason, now: Instant) {
        if reason != CloseReason::Finished {
            self.outbox.push(Label::Lost(peer, reason), |_| {});
            return;
        }
        let outbox = &mut self.outbox;
        self.media.handle_end(now, &mut |octets| deliver(outbox, octets));
        self.outbox.push(Label::Finished(peer), |_| {});
    }

    fn retire_if(&mut self, is_open: bool, session: &Session) {
        if is_open {
            self.retire(session);
        }
    }

    /// What a connection counted outlives it.
    fn retire(&mut self, session: &Session) {
        self.report.packets_received += session.connection.statistics().packets_received;
        self.report.feedback_sent += session.connection.statistics().feedback_sent;
    }

    /// Answers a packet that belongs to no connection (RFC 4340, 8.3.1).
    fn answer_with_reset(&mut self, to: SocketAddr, octets: &[u8], code: ResetCode, now: Instant) {
        let Ok(view) = wire::Packet::new_checked(octets) else { return };
        if view.packet_type() != PacketType::Reset {
            self.reset(to, &view, code, now);
        }
    }

    fn reset(&mut self, to: SocketAddr, about: &wire::Packet<&[u8]>, code: ResetCode, now: Instant) {
        let (since, count) = &mut self.answers;
        if now.saturating_since(*since) >= ANSWERS_INTERVAL {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count > ANSWERS {
            return;
        }
        let repr = wire::Repr {
            source_port: about.destination_port(),
            destination_port: about.source_port(),
            ccval: 0,
            checksum_coverage: 0,
            extended: true,
            // One more than the peer has acknowledged, so that it lies in the peer's window.
            sequence: about.acknowledgement().map_or(0, |acknowledged| acknowledged + 1),
            body: Body::Reset { acknowledgement: about.sequence(), code, data: [0; 3] },
            options: wire::Options::NONE,
            payload_len: 0,
        };
        self.outbox.push(Label::Transmit(to), |octets| {
            let start = octets.len();
            octets.resize(start + repr.buffer_len(), 0);
            repr.emit(&mut wire::Packet::new_unchecked(&mut octets[start..]));
        });
    }
}

/// Over UDP.
impl Receiver {
    /// Bytes that were in a datagram; `false` if they are of no use.
    fn handle_plain(&mut self, from: SocketAddr, ecn: Ecn, octets: &[u8], now: Instant) -> bool {
        if rtcp::is_control(octets) {
            let mut said = rtcp::packets(octets).filter_map(|packet| rtcp::parse_goodbye(packet).ok()).peekable();
            let is_goodbye = said.peek().is_some();
            let is_its = self.sender.is_some_and(|(peer, source, _)| peer == from && said.any(|other| other == source));
            if is_its {
                (self.sender, self.reporter) = (None, None);
                self.handle_closed(from, CloseReason::Finished, now);
            }
            let is_senders = self.sender.is_some_and(|(peer, ..)| peer == from);
            if let Some(reporter) = self.reporter.as_mut().filter(|_| is_senders) {
                rtcp::packets(octets).for_each(|packet| reporter.machine.handle_control(packet, now));
            }
            // Copies of the goodbye follow.
            return is_goodbye || is_senders;
        }
        let Ok(packet) = rtp::Packet::new_checked(octets) else { return false };
        let is_again = |(peer, source, _)| peer == from && packet.source() == feedback::retransmission_source(source);
        if self.sender.is_some_and(is_again) {
            self.handle_retransmission(&packet, octets, ecn, now);
            return true;
        }
        match &mut self.sender {
            Some((peer, source, heard)) if *peer == from => (*source, *heard) = (packet.source(), now),
            Some((_, _, heard)) if now.saturating_since(*heard) < SILENCE => return false,
            sender => {
                let before = sender.replace((from, packet.source(), now));
                if let Some((peer, ..)) = before {
                    self.outbox.push(Label::Lost(peer, CloseReason::TimedOut), |_| {});
                }
                self.report.connections += 1;
                self.reporter = None;
                let outbox = &mut self.outbox;
                self.media.handle_connection(false, now, &mut |octets| deliver(outbox, octets));
                self.outbox.push(Label::Connected(from), |_| {});
            }
        }
        if self.config.variant == Variant::Rtp {
            self.observe(&packet, octets, ecn, now);
        }
        let outbox = &mut self.outbox;
        self.media.handle_payload(octets, now, &mut |octets| deliver(outbox, octets));
        true
    }

    /// A packet of the sender that is sent again, or padding.
    fn handle_retransmission(&mut self, packet: &rtp::Packet<&[u8]>, octets: &[u8], ecn: Ecn, now: Instant) {
        if let Some((_, _, heard)) = &mut self.sender {
            *heard = now;
        }
        let Some(reporter) = &mut self.reporter else { return };
        if reporter.handle_packet(octets, ecn, now)
            && let Some(original) = reporter.original(packet)
        {
            let outbox = &mut self.outbox;
            self.media.handle_repaired(&original, now, &mut |octets| deliver(outbox, octets));
        }
    }

    /// Notes a packet of the sender for a report.
    fn observe(&mut self, packet: &rtp::Packet<&[u8]>, octets: &[u8], ecn: Ecn, now: Instant) {
        let is_numbered = || packet.extension().and_then(|extension| extension.transport_wide_number()).is_some();
        let format = match self.config.feedback {
            Feedback::Auto if is_numbered() => Format::Twcc,
            Feedback::Auto => Format::Ccfb,
            Feedback::As(format) => format,
            Feedback::Off => return,
        };
        let source = packet.source();
        let fits = |reporter: &Reporter| (reporter.config.source, reporter.config.format) == (source, format);
        let reporter = match self.reporter.take().filter(fits) {
            Some(reporter) => reporter,
            None => Reporter::new(source, format, &self.config, &mut self.draws),
        };
        let reporter = self.reporter.insert(reporter);
        reporter.payload_type = packet.payload_type();
        reporter.handle_packet(octets, ecn, now);
    }
}

/// Reports to one source.
#[derive(Debug)]
struct Reporter {
    config: feedback::Config,
    machine: feedback::Receiver,
    /// That of the media.
    payload_type: u8,
    /// Bytes that came and were not answered. Reports are no longer than that, so that an invented address gets no more than was sent
    /// in its name.
    credit: usize,
}

impl Reporter {
    fn new(source: u32, format: Format, receiver: &ReceiverConfig, draws: &mut Stream) -> Self {
        let usual = if format == Format::Twcc { Schedule::Share } else { Schedule::Frames };
        let schedule = receiver.interval.map_or(usual, Schedule::Periodic);
        let retransmission = receiver.retransmission;
        let config = feedback::Config { source, first_sequence: 0, format, schedule, retransmission };
        let reports = Stream::new(draws.next_u64(), Purpose::SessionReports, 0, 1);
        let machine = feedback::Receiver::new(config).with_reports(reports);
        Self { config, machine, payload_type: 0, credit: 0 }
    }

    /// Returns whether the packet has media that has not come before.
    fn handle_packet(&mut self, octets: &[u8], ecn: Ecn, now: Instant) -> bool {
        self.credit = (self.credit + octets.len()).min(MOST_CREDIT);
        // Its header was read before.
        self.machine.handle_octets(octets, ecn, now).unwrap_or(false)
    }

    /// A packet of media as it was before it was sent again (RFC 4588, section 4).
    fn original(&self, packet: &rtp::Packet<&[u8]>) -> Option<Vec<u8>> {
        let (sequence, media) = packet.payload().split_first_chunk()?;
        let repr = rtp::Repr {
            marker: packet.marker(),
            payload_type: self.payload_type,
            sequence: u16::from_be_bytes(*sequence),
            timestamp: packet.timestamp(),
            source: self.config.source,
            contributors: rtp::Contributors::NONE,
            extension: None,
            payload_len: media.len(),
            padding_len: 0,
        };
        let mut octets = vec![0; repr.buffer_len()];
        repr.emit(&mut rtp::Packet::new_unchecked(&mut octets[..]));
        octets.extend_from_slice(media);
        Some(octets)
    }

    fn poll_request(&mut self, now: Instant) -> Option<std::sync::Arc<[u8]>> {
        let request = self.machine.poll_request(now)?;
        self.credit = self.credit.checked_sub(request.len())?;
        Some(request)
    }

    fn poll_feedback(&mut self, now: Instant) -> Option<std::sync::Arc<[u8]>> {
        let feedback = self.machine.poll_feedback(now)?;
        self.credit = self.credit.checked_sub(feedback.len())?;
        Some(feedback)
    }

    fn poll_receiver_report(&mut self, now: Instant) -> Option<std::sync::Arc<[u8]>> {
        let report = self.machine.poll_receiver_report(now)?;
        self.credit = self.credit.checked_sub(report.len())?;
        Some(report)
    }
}
