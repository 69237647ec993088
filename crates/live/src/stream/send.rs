//! `hopcast stream send`: a sender with its socket, its input and its clock.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use hopcast_protocols::fec;
use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::CloseReason;
use hopcast_protocols::transport::media::Congestion;
use hopcast_protocols::transport::rtp::Format;
use hopcast_sim::io_error::cause;

use super::endpoint::{Endpoint, Input, parse_rate, parse_retransmission, parse_rung, parse_time};
use super::feed::Feed;
use super::feedback::RateFeedback;
use super::modelled::{self, ModelledEncoder};
use super::rate::{RateControl, SLACK};
use super::record::Record;
use super::session::{UDP_PORT, Variant, describe};
use super::statistics::{Display, SendLine, mean_rate};
use super::transport_stream::Packetizer;
use super::wait::{be_punctual, wait};
use super::{ReceiverConfig, Sender, SenderConfig, SenderOutput, SenderReport, correction, draw_seed, read_sealing};
use crate::address;
use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;
use crate::platform::udp::UdpSocket;

/// How long a close is waited for once a signal has come.
const STOP_LIMIT: Duration = Duration::from_secs(1);
/// Over UDP, an address that the network does not refuse for so long is served: longer than Linux looks for a neighbour (3 s).
const SETTLED: Duration = Duration::from_secs(5);
/// Datagrams taken in between two looks at the clock, in calls of up to 64.
const CALLS: usize = 16;
/// Without an answer for so long, two requests have gone unheard (RFC 4340, section 8.1.1: the first is repeated after about a second).
const UNANSWERED: Duration = Duration::from_secs(3);

/// Send media to a receiver.
///
/// The input is an MPEG transport stream in a file or a pipe, RTP that a program on this host sends to a local port, or frames of a
/// modelled encoder. A file is sent at the pace of its media (its program clock), a pipe as fast as the rate allows. While the receiver
/// can't be reached, the sender tries again; a pipe then waits, RTP and frames are dropped once they are too old.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::output::HELP)]
pub struct Send {
    /// The receiver's UDP address; port 6511 unless named. Where a name has several, they are tried in turn.
    #[arg(long, value_name = "HOST[:PORT]")]
    to: String,
    /// A file, `-` for standard input, or rtp://ADDRESS:PORT to listen there. Over RTP also encoder:steady, encoder:transient or
    /// encoder:content-sharing: frames without content of an encoder that follows the target rate (RFC 8593).
    #[arg(
        long,
        value_name = "FILE|-|rtp://ADDRESS:PORT|encoder:MODEL",
        default_value = "-",
        conflicts_with = "ladder"
    )]
    input: String,
    /// The same media at several rates, each with its rate in bit/s: 500kb/s=low.ts. The highest that fits the allowed rate is
    /// sent; the change is made where a decoder may begin.
    #[arg(long, value_name = "RATE=FILE", value_delimiter = ',')]
    ladder: Vec<String>,
    /// What carries the media. Default: `rtp` with --congestion, and else `adtfrc`.
    #[arg(long, value_enum)]
    variant: Option<Variant>,
    /// Over RTP: the congestion control of media. Default: `gcc`.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(Congestion::ALL.map(Congestion::name)))]
    congestion: Option<String>,
    /// Over RTP: how the receiver reports, by RFC 8888 or by transport-wide numbers. Default: `twcc` with `gcc`, and else `ccfb`.
    #[arg(long, value_enum)]
    feedback: Option<FeedbackChoice>,
    /// Over RTP: the least target rate, with its unit. Default: 150 kb/s.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    min_rate: Option<String>,
    /// Over RTP: the greatest target rate, with its unit; with `none` it is the target rate. Default: 100 Mb/s.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    max_rate: Option<String>,
    /// Over RTP: let queues mark packets instead of dropping them, with `scream` (ECT(1), for L4S) and `nada` (ECT(0)).
    #[arg(long)]
    ecn: bool,
    /// Over RTP: for how long after it was sent a packet is sent again if the receiver asks for it, with its unit. Default: packets are sent
    /// once.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    retransmission: Option<String>,
    /// When a packet of a file or a pipe is sent: at its time in the media, or as soon as the rate allows. Default: `media` for
    /// files, `allowed` for pipes.
    #[arg(long, value_enum)]
    pace: Option<PaceChoice>,
    /// Forward error correction: packets in a block, and repair packets for it (Reed–Solomon, RFC 6865), such as 20+4.
    #[arg(long, value_name = "SOURCE+REPAIR")]
    fec: Option<String>,
    /// How old media may become before it is sent, with its unit: older packets are dropped. Default: 300ms for an input of RTP,
    /// without end for files and pipes.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    patience: Option<String>,
    /// The network's key, as `hopcast key` makes it: encrypts and authenticates. Both ends need it.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A local socket to be made, on which encoders are told the allowed rate in bit/s, in a line of JSON each 0.1 s.
    #[arg(long, value_name = "SOCKET")]
    rate_feedback: Option<PathBuf>,
    /// Write what happens to this folder, for `hopcast view`.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Statistics as lines of JSON on standard output, one a second.
    #[arg(long)]
    json: bool,
}

/// When packets of a file or a pipe are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PaceChoice {
    /// At their times in the media.
    Media,
    /// As soon as the rate allows.
    Allowed,
}

/// How a receiver of RTP reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FeedbackChoice {
    /// Congestion control feedback (RFC 8888).
    Ccfb,
    /// Transport-wide numbers, as WebRTC has them.
    Twcc,
}

/// Where RTP packets come from.
enum Supply {
    Feed { feed: Box<Feed>, inputs: Vec<Input> },
    Rtp(UdpSocket),
    Modelled(Box<ModelledEncoder>),
}

impl Send {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn run(self) -> Result<(), Failure> {
        let signals =
            Signals::listen().map_err(|error| Failure::Run(format!("can't listen to signals: {}", cause(&error))))?;
        let peers = address::resolve(&self.to, Some(UDP_PORT));
        let peers = peers.map_err(|wrong| Failure::Input(format!("--to: {wrong}")))?;
        if peers.iter().any(|peer| peer.port() == 0) {
            return Err(Failure::Input(format!("--to: {}: a port from 1 to 65535 is wanted", self.to)));
        }
        let clock = Clock::new();
        let now = clock.now();
        let variant = self.read_variant()?;
        let mut peers = Peers::new(peers, variant, now);
        let seed = draw_seed()?;
        let mut rate = self.read_rate()?;
        let (supply, is_paced) = self.open_supply(&rate, seed, now)?;
        if !is_paced {
            // As smoothly as a host that wakes up late can.
            rate.burst = SLACK;
        }
        let config = SenderConfig {
            variant,
            rate,
            fec: self.read_fec(variant)?,
            patience: self.read_patience(&supply)?,
            epoch: clock.epoch(),
            sealing: read_sealing(self.key.as_deref())?,
        };
        let feedback = self.rate_feedback.as_deref().map(|path| RateFeedback::listen(path, now)).transpose();
        let feedback = feedback.map_err(|error| Failure::Input(format!("--rate-feedback: {error}")))?;
        let opened =
            peers.open(now).map_err(|error| Failure::Run(format!("can't open a UDP socket: {}", cause(&error))))?;
        let (peer, mut socket) = opened;
        // Without a route yet, the address can be set later.
        let connected = socket.connect(peer).is_ok();
        let display = Display::new(self.json, now);
        if config.sealing.is_none() {
            display.warn("no --key: whoever is on the way can read and change what is sent");
        }
        let is_deaf = variant == Variant::Rtp && config.rate.congestion == Congestion::None;
        let sender = Sender::new(config, seed, now);
        let (readable, buffer) = (Vec::new(), Vec::new());
        let record = self.record.as_deref().map(|folder| Record::create(folder, variant, true)).transpose()?;
        let driver = Driver {
            sender,
            socket,
            connected,
            peer,
            peers,
            supply,
            feedback,
            display,
            record,
            clock,
            complaint: None,
            readable,
            buffer,
            ended: None,
            // Over UDP nobody answers, and no answer is needed without congestion control.
            asks_until: (variant != Variant::Udp && !is_deaf).then(|| now + UNANSWERED),
        };
        driver.run(&signals)
    }

    /// What carries the media.
    fn read_variant(&self) -> Result<Variant, Failure> {
        let options = [
            ("--congestion", self.congestion.is_some()),
            ("--feedback", self.feedback.is_some()),
            ("--min-rate", self.min_rate.is_some()),
            ("--max-rate", self.max_rate.is_some()),
            ("--ecn", self.ecn),
            ("--retransmission", self.retransmission.is_some()),
            ("--input encoder:…", modelled::parse(&self.input).is_some()),
        ];
        let option = options.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
        match (self.variant, option) {
            (None | Some(Variant::Rtp), Some("--congestion")) | (Some(Variant::Rtp), _) => Ok(Variant::Rtp),
            (_, Some(option)) => {
                Err(Failure::Input(format!("{option}: it is for RTP; add --congestion or --variant rtp")))
            }
            (variant, None) => Ok(variant.unwrap_or_default()),
        }
    }

    /// The rate of media over RTP, which is handed over at its time or as soon as the rate allows.
    fn read_rate(&self) -> Result<RateControl, Failure> {
        let congestion = self.congestion.as_deref().and_then(Congestion::named).unwrap_or(Congestion::Gcc);
        let format = self.feedback.map(|choice| match choice {
            FeedbackChoice::Ccfb => Format::Ccfb,
            FeedbackChoice::Twcc => Format::Twcc,
        });
        let mut rate = RateControl { ecn: self.ecn, ..RateControl::new(congestion, format) };
        rate.retransmission = self.retransmission.as_deref().map(parse_retransmission).transpose()?;
        for (option, text, limit) in
            [("--min-rate", &self.min_rate, &mut rate.min_rate), ("--max-rate", &self.max_rate, &mut rate.max_rate)]
        {
            if let Some(text) = text {
                *limit = parse_rate(text).map_err(|wrong| Failure::Input(format!("{option} {text}: {wrong}")))?;
            }
        }
        if rate.max_rate < rate.min_rate {
            let (least, greatest) = (rate.min_rate, rate.max_rate);
            return Err(Failure::Input(format!("--max-rate: {greatest} b/s is less than the least rate, {least} b/s")));
        }
        if self.ecn && !congestion.knows_ecn() {
            return Err(Failure::Input(format!(
                "--ecn: {} does not react to marks; scream and nada do",
                congestion.name()
            )));
        }
        if self.ecn && rate.format == Format::Twcc {
            return Err(Failure::Input("--ecn: transport-wide feedback tells no marks; use --feedback ccfb".into()));
        }
        Ok(rate)
    }

    /// The input, and whether media is handed over at its time.
    fn open_supply(&self, rate: &RateControl, seed: u64, now: Instant) -> Result<(Supply, bool), Failure> {
        let named = |path: &str, error: io::Error| Failure::Input(format!("--input {path}: {}", cause(&error)));
        if let Some(model) = modelled::parse(&self.input) {
            let model = model.map_err(|wrong| Failure::Input(format!("--input {}: {wrong}", self.input)))?;
            let encoder = ModelledEncoder::new(model, [rate.min_rate, rate.max_rate], seed, now);
            return Ok((Supply::Modelled(Box::new(encoder)), true));
        }
        if self.ladder.is_empty()
            && let Endpoint::Rtp(address) =
                Endpoint::parse(&self.input).map_err(|wrong| Failure::Input(format!("--input: {wrong}")))?
        {
            return Ok((Supply::Rtp(UdpSocket::bind(address).map_err(|error| named(&self.input, error))?), true));
        }
        let mut rungs = Vec::new();
        for rung in &self.ladder {
            let (rate, path) = parse_rung(rung).map_err(|wrong| Failure::Input(format!("--ladder {rung}: {wrong}")))?;
            let input = Input::open(&Endpoint::File(path))
                .map_err(|error| Failure::Input(format!("--ladder {rung}: {error}")))?;
            rungs.push((rate, input));
        }
        if rungs.is_empty() {
            let endpoint = Endpoint::parse(&self.input).map_err(|wrong| Failure::Input(format!("--input: {wrong}")))?;
            rungs.push((0.0, Input::open(&endpoint).map_err(|error| named(&self.input, error))?));
        }
        rungs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let is_paced = match self.pace {
            Some(choice) => choice == PaceChoice::Media,
            None => rungs.iter().all(|(_, input)| input.is_file),
        };
        // Bits that nothing else is drawn from.
        let packetizer = Packetizer::new((seed >> 32) as u32, (seed >> 16) as u16, seed as u32);
        let (rates, inputs): (Vec<f64>, Vec<Input>) = rungs.into_iter().unzip();
        Ok((Supply::Feed { feed: Box::new(Feed::new(&rates, packetizer, is_paced)), inputs }, is_paced))
    }

    fn read_fec(&self, variant: Variant) -> Result<Option<fec::Config>, Failure> {
        let Some(text) = &self.fec else { return Ok(None) };
        let parts =
            text.split_once('+').and_then(|(source, repair)| Some((source.parse().ok()?, repair.parse().ok()?)));
        // What is no number is none that could be.
        let (source, repair) = parts.unwrap_or_default();
        let config = correction(variant, source, repair);
        config.map(Some).map_err(|wrong| Failure::Input(format!("--fec {text}: {wrong}")))
    }

    fn read_patience(&self, supply: &Supply) -> Result<Option<Duration>, Failure> {
        match (&self.patience, supply) {
            (Some(text), _) => {
                let seconds =
                    parse_time(text).map_err(|wrong| Failure::Input(format!("--patience {text}: {wrong}")))?;
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            // What comes later than the receiver's buffer lasts is of no use there.
            (None, Supply::Rtp(_) | Supply::Modelled(_)) => Ok(Some(ReceiverConfig::default().playout)),
            (None, Supply::Feed { .. }) => Ok(None),
        }
    }
}

/// The receiver's addresses, of which not each need be served: a name may have one of each IP version, and a receiver listens at one.
#[derive(Debug)]
struct Peers {
    addresses: Vec<SocketAddr>,
    /// The place of the one that is spoken with, and since when.
    at: usize,
    since: Instant,
    /// An address that is not refused for this time is served, where no connection tells.
    settles_after: Option<Duration>,
    /// Connections that were asked for when that was looked at last.
    attempts: u64,
    /// The one that is served has been found.
    is_settled: bool,
}

impl Peers {
    fn new(addresses: Vec<SocketAddr>, variant: Variant, now: Instant) -> Self {
        let settles_after = (!variant.has_connections()).then_some(SETTLED);
        let is_settled = addresses.len() < 2;
        Self { addresses, at: 0, since: now, settles_after, attempts: 1, is_settled }
    }

    /// On to the next address.
    fn turn(&mut self, now: Instant) {
        (self.at, self.since) = ((self.at + 1) % self.addresses.len(), now);
    }

    /// The address to speak with, and a socket for it: the next one for which there can be one, as a host may be without IPv6.
    fn open(&mut self, now: Instant) -> io::Result<(SocketAddr, UdpSocket)> {
        let mut tried = 1;
        loop {
            let peer = self.addresses[self.at];
            match UdpSocket::bind_for(peer) {
                Ok(socket) => return Ok((peer, socket)),
                Err(error) if tried == self.addresses.len() => return Err(error),
                Err(_) => self.turn(now),
            }
            tried += 1;
        }
    }

    /// The sender has tried this number of connections; returns whether to try the next address, as no receiver has
    /// answered.
    fn handle_attempts(&mut self, attempts: u64) -> bool {
        std::mem::replace(&mut self.attempts, attempts) < attempts && !self.is_settled
    }

    /// The network refuses; whether the next address is to be tried.
    fn handle_error(&mut self, error: &io::Error, now: Instant) -> bool {
        let refuses = matches!(
            error.kind(),
            io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::AddrNotAvailable
        );
        let has_lasted = self.settles_after.is_some_and(|time| now.saturating_since(self.since) >= time);
        self.is_settled |= has_lasted;
        refuses && !self.is_settled
    }

    /// This address is served.
    fn settle(&mut self) {
        self.is_settled = true;
    }
}

/// A sender at work.
struct Driver {
    sender: Sender,
    socket: UdpSocket,
    connected: bool,
    peer: SocketAddr,
    peers: Peers,
    supply: Supply,
    feedback: Option<RateFeedback>,
    display: Display,
    record: Option<Record>,
    clock: Clock,
    /// What was last complained about.
    complaint: Option<io::ErrorKind>,
    /// Pipes that can be read without waiting.
    readable: Vec<usize>,
    buffer: Vec<u8>,
    ended: Option<CloseReason>,
    /// Without an answer until then it is told what may be wrong.
    asks_until: Option<Instant>,
}

impl Driver {
    fn run(mut self, signals: &Signals) -> Result<(), Failure> {
        be_punctual();
        let mut stop_by: Option<Instant> = None;
        loop {
            let mut now = self.clock.now();
            self.receive(now);
            if stop_by.is_none()
                && let Err(failure) = self.supply(now)
            {
                // The receiver is to know that this was all.
                self.stop(now);
                return Err(failure);
            }
            now = self.clock.now();
            if self.sender.poll_timeout().is_some_and(|due| due <= now) {
                self.sender.handle_timeout(now);
                if self.peers.handle_attempts(self.sender.attempts()) {
                    self.turn_to_next_peer(now);
                }
            }
            self.drain(now);
            self.report_result(|driver| driver.socket.flush());
            if signals.received().is_some() && stop_by.is_none() {
                stop_by = Some(now + STOP_LIMIT);
                self.stop(now);
            }
            self.show(now);
            let interrupted = stop_by.is_some().then(|| signals.received()).flatten();
            if self.ended.is_some() || stop_by.is_some_and(|limit| limit <= now) {
                return self.finish(interrupted, signals, now);
            }
            self.wait(signals, stop_by)?;
        }
    }

    /// Closes the stream without what still waits.
    fn stop(&mut self, now: Instant) {
        self.sender.handle_stop(now);
        self.drain(now);
        self.report_result(|driver| driver.socket.flush());
    }

    /// What the peer has sent.
    fn receive(&mut self, now: Instant) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..CALLS {
            match self.socket.receive(&mut buffer) {
                Ok(Some(received)) if received.from == self.peer => {
                    for datagram in received.datagrams() {
                        self.sender.handle_datagram(datagram, now);
                        self.drain(now);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => self.complain(&error),
            }
        }
        self.buffer = buffer;
    }

    /// Takes in media while there is room.
    fn supply(&mut self, now: Instant) -> Result<(), Failure> {
        match &mut self.supply {
            Supply::Rtp(_) => {
                self.supply_rtp(now);
                Ok(())
            }
            Supply::Modelled(_) => {
                self.supply_frames(now);
                Ok(())
            }
            Supply::Feed { .. } => self.supply_feed(now),
        }
    }

    fn supply_rtp(&mut self, now: Instant) {
        let mut buffer = std::mem::take(&mut self.buffer);
        // Errors of a port that only listens are those of answers that nobody sent.
        for _ in 0..CALLS {
            let Supply::Rtp(port) = &self.supply else { break };
            let Ok(Some(received)) = port.receive(&mut buffer) else { break };
            for datagram in received.datagrams() {
                self.sender.handle_packet(datagram, now);
                self.drain(now);
            }
        }
        self.buffer = buffer;
    }

    fn supply_frames(&mut self, now: Instant) {
        loop {
            let Self { supply: Supply::Modelled(encoder), sender, .. } = self else { return };
            let target = sender.target_rate().unwrap_or_default();
            let Some((packet, is_last)) = encoder.poll_packet(target, now) else { return };
            sender.handle_packet(packet, now);
            if is_last {
                // The session is told of whole frames.
                self.drain(now);
            }
        }
    }

    fn supply_feed(&mut self, now: Instant) -> Result<(), Failure> {
        let mut readable = std::mem::take(&mut self.readable);
        loop {
            let Self { supply: Supply::Feed { feed, inputs }, sender, .. } = self else { return Ok(()) };
            let Some(takes_at) = sender.takes_at(now) else { return Ok(()) };
            if takes_at > now {
                return Ok(());
            }
            for (nth, input) in inputs.iter_mut().enumerate() {
                while feed.is_hungry(nth) && (input.is_file || readable.contains(&nth)) {
                    // One read of a pipe is known not to block.
                    readable.retain(|&other| other != nth);
                    feed.fill(nth, |buffer| input.read(buffer))?;
                }
            }
            match feed.poll_due(now) {
                Some(due) if due <= now => {
                    if let Some(packet) = feed.packet() {
                        sender.handle_packet(packet, now);
                    }
                    feed.advance();
                }
                Some(_) => return Ok(()),
                None if feed.is_finished() => {
                    sender.handle_end(now);
                    self.drain(now);
                    return Ok(());
                }
                None if (0..inputs.len()).any(|nth| feed.is_hungry(nth) && inputs[nth].is_file) => continue,
                None => return Ok(()),
            }
            self.drain(now);
        }
    }

    /// Does all that the sender wants done.
    fn drain(&mut self, now: Instant) {
        loop {
            let Self { sender, socket, peer, .. } = self;
            let marked = socket.mark(sender.ecn());
            let result = match sender.poll_output(now) {
                Some(SenderOutput::Transmit(octets)) => marked.and(socket.send(*peer, octets)),
                Some(SenderOutput::Connected) => {
                    self.complaint = None;
                    self.asks_until = None;
                    self.peers.settle();
                    self.display.tell("connected", *peer, None, &format!("connected to {peer}"), now);
                    Ok(())
                }
                Some(SenderOutput::Lost(reason)) => {
                    let text = format!("connection to {peer} lost: {}; trying again", describe(reason));
                    self.display.tell("lost", *peer, Some(reason), &text, now);
                    Ok(())
                }
                Some(SenderOutput::Finished(reason)) => {
                    self.ended = Some(reason);
                    Ok(())
                }
                None => return,
            };
            if let Err(error) = result {
                self.complain(&error);
            }
        }
    }

    fn report_result(&mut self, act: impl FnOnce(&mut Self) -> io::Result<()>) {
        if let Err(error) = act(self) {
            self.complain(&error);
        }
    }

    /// The network refuses: it is told once, and may pass.
    fn complain(&mut self, error: &io::Error) {
        if self.sender.is_over() {
            // Without a connection, the receiver may be gone at the first of several goodbyes.
            return;
        }
        if self.complaint.replace(error.kind()) != Some(error.kind()) {
            self.display.warn(&format!("{}: {}; trying again", self.peer, cause(error)));
        }
        let now = self.clock.now();
        if self.peers.handle_error(error, now) {
            self.turn_to_next_peer(now);
        } else if !self.connected {
            self.connected = self.socket.connect(self.peer).is_ok();
        }
    }

    /// Speaks with the next of the receiver's addresses from now on. Where no socket can be opened, the one at hand stays.
    fn turn_to_next_peer(&mut self, now: Instant) {
        self.peers.turn(now);
        if let Ok((peer, socket)) = self.peers.open(now) {
            (self.peer, self.socket) = (peer, socket);
            self.connected = self.socket.connect(peer).is_ok();
        }
    }

    fn line(&mut self, report: &SenderReport, rate: f64, now: Instant) -> SendLine {
        let line = SendLine::new(report, rate, now);
        match &self.supply {
            Supply::Feed { feed, .. } => line.with_input(feed.rung(), feed.switches(), feed.skipped()),
            Supply::Rtp(_) | Supply::Modelled(_) => line,
        }
    }

    /// Statistics and feedback that are due.
    fn show(&mut self, now: Instant) {
        if self.asks_until.take_if(|until| *until <= now).is_some() {
            self.display.warn(&format!(
                "{} has not answered yet: is it `hopcast stream receive` there, with the same --key and --variant?",
                self.peer
            ));
        }
        if self.feedback.as_ref().is_some_and(|feedback| feedback.due() <= now) {
            let line = self.line(&self.sender.report(), 0.0, now);
            if let Some(feedback) = &mut self.feedback {
                feedback.handle_timeout(&line, now);
            }
        }
        if let Supply::Feed { feed, .. } = &mut self.supply
            && feed.rung().is_some()
            && let Some(rate) = self.sender.report().allowed_rate
        {
            feed.handle_rate(rate);
        }
        if let Some(record) = self.record.as_mut().filter(|record| record.due() <= now) {
            record.look_at_sender(&self.sender.report(), now);
        }
        if self.display.due() <= now {
            let report = self.sender.report();
            let rate = self.display.rate(report.octets_sent, now);
            let line = self.line(&report, rate, now);
            self.display.show(&line, &line.text());
        }
    }

    /// Waits for what comes next.
    fn wait(&mut self, signals: &Signals, stop_by: Option<Instant>) -> Result<(), Failure> {
        let now = self.clock.now();
        let takes_at = self.sender.takes_at(now).filter(|_| stop_by.is_none());
        let takes = takes_at.is_some_and(|at| at <= now);
        let media = match &mut self.supply {
            Supply::Feed { feed, .. } if takes => feed.poll_due(now),
            Supply::Feed { .. } => takes_at,
            Supply::Rtp(_) => None,
            Supply::Modelled(encoder) => encoder.due().filter(|_| stop_by.is_none()),
        };
        let mut descriptors: Vec<BorrowedFd<'_>> = vec![self.socket.as_fd()];
        if stop_by.is_none() {
            // A signal that has come stays readable.
            descriptors.push(signals.as_fd());
        }
        let mut pipes = Vec::new();
        match &self.supply {
            Supply::Rtp(port) if stop_by.is_none() => descriptors.push(port.as_fd()),
            Supply::Feed { feed, inputs } if takes => {
                pipes.extend((0..inputs.len()).filter(|&nth| feed.is_hungry(nth)));
                descriptors.extend(pipes.iter().map(|&nth| inputs[nth].as_fd()));
            }
            Supply::Rtp(_) | Supply::Feed { .. } | Supply::Modelled(_) => {}
        }
        let feedback = self.feedback.as_ref().map(RateFeedback::due);
        let sample = self.record.as_ref().map(Record::due);
        let timers = [self.sender.poll_timeout(), media, feedback, Some(self.display.due()), stop_by, sample];
        let readable = wait(&descriptors, timers.into_iter().flatten().min(), &self.clock)?;
        let pipes = pipes.into_iter().zip(readable.into_iter().skip(2));
        self.readable = pipes.filter_map(|(nth, is_readable)| is_readable.then_some(nth)).collect();
        Ok(())
    }

    fn finish(mut self, interrupted: Option<i32>, signals: &Signals, now: Instant) -> Result<(), Failure> {
        let report = self.sender.report();
        let line = self.line(&report, mean_rate(report.octets_sent, now), now).at_end();
        self.display.show_end(&line, &line.text(), signals);
        self.record.take().map_or(Ok(()), |record| record.finish(now))?;
        match (interrupted.or(signals.received()), self.ended) {
            (Some(signal), _) => Err(Failure::Interrupted { signal }),
            (None, Some(CloseReason::Finished) | None) => Ok(()),
            (None, Some(reason)) => Err(Failure::Run(format!("{}: {}", self.peer, describe(reason)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    fn peers(variant: Variant) -> (Peers, [SocketAddr; 2]) {
        let addresses = ["[::1]:6511", "127.0.0.1:6511"].map(|text| text.parse().expect("an address"));
        (Peers::new(addresses.to_vec(), variant, at(0)), addresses)
    }

    fn refused() -> io::Error {
        io::ErrorKind::ConnectionRefused.into()
    }

    #[test]
    fn addresses_are_tried_in_turn_until_one_is_served() {
        let (mut peers, [first, second]) = peers(Variant::Adtfrc);
        assert!(!peers.handle_attempts(1), "the first attempt goes to the first");
        assert!(peers.handle_error(&refused(), at(0)));
        peers.turn(at(0));
        assert_eq!(peers.addresses[peers.at], second);
        assert!(peers.handle_attempts(2) && !peers.handle_attempts(2));
        peers.turn(at(8));
        assert_eq!(peers.addresses[peers.at], first);
        assert!(
            !peers.handle_error(&io::ErrorKind::PermissionDenied.into(), at(8)),
            "that says nothing of the address"
        );
        assert!(peers.handle_error(&refused(), at(20)));
        peers.settle();
        assert!(!peers.handle_error(&refused(), at(20)) && !peers.handle_attempts(3));
    }

    #[test]
    fn over_udp_an_address_that_is_not_refused_is_kept() {
        let (mut peers, [_, second]) = peers(Variant::Udp);
        assert!(peers.handle_error(&refused(), at(3)));
        peers.turn(at(3));
        assert_eq!(peers.addresses[peers.at], second);
        assert!(!peers.handle_error(&refused(), at(9)) && !peers.handle_error(&refused(), at(9)));
    }
}
