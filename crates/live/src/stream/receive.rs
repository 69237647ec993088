//! `hopcast stream receive`: a receiver with its socket, its output and its clock.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_protocols::transport::dccp::CloseReason;
use hopcast_protocols::transport::rtp::Format;
use hopcast_sim::io_error::cause;
use hopcast_wire::{rtcp, rtp};

use super::endpoint::{Endpoint, Output, parse_jitter_buffer, parse_retransmission, parse_time, resolve};
use super::record::Record;
use super::session::{TRANSPORT_STREAM_TYPE, UDP_PORT, Variant, describe};
use super::statistics::{Display, ReceiveLine, mean_rate};
use super::wait::{be_punctual, wait};
use super::{Feedback, Receiver, ReceiverConfig, ReceiverOutput, draw_seed, read_sealing};
use crate::failure::Failure;
use crate::platform::clock::Clock;
use crate::platform::signals::Signals;
use crate::platform::udp::UdpSocket;

/// How long the sender is told of the end once a signal has come.
const STOP_LIMIT: Duration = Duration::from_millis(200);
/// Calls between two looks at the clock, of up to 64 datagrams each.
const CALLS: usize = 16;
/// Bytes that are handed to the output at once, if as much comes.
const BATCH: usize = 64 << 10;

/// Receive media from a sender.
///
/// The output is an MPEG transport stream in a file or a pipe, or RTP to a port of a program on this host. Packets are put in
/// their order; what is missing is waited for as long as the playout buffer lasts. It ends with the stream.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::output::HELP)]
pub struct Receive {
    /// The UDP address to listen at; port 6511 unless named.
    #[arg(long, value_name = "ADDRESS[:PORT]", default_value = "0.0.0.0:6511")]
    listen: String,
    /// A file, `-` for standard output, or rtp://ADDRESS:PORT to send there.
    #[arg(long, value_name = "FILE|-|rtp://ADDRESS:PORT", default_value = "-")]
    output: String,
    /// What carries the media. Over DCCP, either kind of receiver serves either kind of sender. Default: `rtp` with --feedback, and
    /// else `adtfrc`.
    #[arg(long, value_enum)]
    variant: Option<Variant>,
    /// Over RTP: how to report what arrives. Default: `auto`.
    #[arg(long, value_enum)]
    feedback: Option<FeedbackChoice>,
    /// Over RTP: the time between two reports, with its unit. Default: with `ccfb` after 16 packets, the end of a frame, or 40 ms; with
    /// `twcc` 50 to 250 ms, so that reports take a twentieth of the rate.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    feedback_interval: Option<String>,
    /// Over RTP: ask for packets that are missing, for as long as this after they were missed, with its unit. The sender has to have the
    /// same option. Default: missing packets are not asked for.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    retransmission: Option<String>,
    /// Let media go at the distances of its timestamps instead of at once: fixed:100ms, adaptive, or adaptive:20ms..500ms. It takes the
    /// place of --playout.
    #[arg(long, value_name = "fixed[:DELAY]|adaptive[:LEAST..GREATEST]", conflicts_with = "playout")]
    jitter_buffer: Option<String>,
    /// The viewer's playout buffer, with its unit: how long a missing packet is waited for, and how much media is there before
    /// the display begins, for which hiccups are counted.
    #[arg(long, value_name = "TIME", default_value = "300ms", allow_hyphen_values = true)]
    playout: String,
    /// The network's key, as `hopcast key` makes it: encrypts and authenticates. Both ends need it.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Listen for the next stream after the end of one.
    #[arg(long)]
    keep: bool,
    /// Write what happens to this folder, for `hopcast view`.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Statistics as lines of JSON on standard output, one a second.
    #[arg(long)]
    json: bool,
}

/// How a receiver of RTP reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FeedbackChoice {
    /// By transport-wide numbers where packets have them, and else by RFC 8888.
    Auto,
    /// Congestion control feedback (RFC 8888).
    Ccfb,
    /// Transport-wide numbers, as WebRTC has them.
    Twcc,
    /// Not at all.
    None,
}

/// Where media goes.
enum Sink {
    /// The payload of transport streams.
    Output(Output),
    /// RTP as it came, from this socket to this address.
    Rtp(UdpSocket, SocketAddr),
}

impl Receive {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn run(self) -> Result<(), Failure> {
        let signals =
            Signals::listen().map_err(|error| Failure::Run(format!("can't listen to signals: {}", cause(&error))))?;
        let listen =
            resolve(&self.listen, Some(UDP_PORT)).map_err(|wrong| Failure::Input(format!("--listen: {wrong}")))?;
        let wrong = |wrong| Failure::Input(format!("--playout {}: {wrong}", self.playout));
        let playout = Duration::from_secs_f64(parse_time(&self.playout).map_err(wrong)?);
        let endpoint = Endpoint::parse(&self.output).map_err(|wrong| Failure::Input(format!("--output: {wrong}")))?;
        if self.json && endpoint == Endpoint::Standard {
            return Err(Failure::Input(
                "--json: standard output is where the media goes; name another --output".into(),
            ));
        }
        let jitter = self.jitter_buffer.as_deref().map(|text| {
            parse_jitter_buffer(text).map_err(|wrong| Failure::Input(format!("--jitter-buffer {text}: {wrong}")))
        });
        let (variant, feedback, interval) = self.read_feedback()?;
        let sealing = read_sealing(self.key.as_deref())?;
        let record = self.record.as_deref().map(|folder| Record::create(folder, variant, false)).transpose()?;
        let retransmission = self.retransmission.as_deref().map(parse_retransmission).transpose()?;
        let jitter = jitter.transpose()?;
        let config = ReceiverConfig { variant, playout, jitter, feedback, interval, retransmission, sealing };
        let socket =
            UdpSocket::bind(listen).map_err(|error| Failure::Input(format!("--listen {listen}: {}", cause(&error))))?;
        let sink = match endpoint {
            Endpoint::Rtp(address) => {
                let socket = UdpSocket::bind_for(address);
                Sink::Rtp(
                    socket.map_err(|error| Failure::Run(format!("can't open a UDP socket: {}", cause(&error))))?,
                    address,
                )
            }
            endpoint => {
                let output = Output::open(&endpoint, &signals);
                Sink::Output(output.map_err(|error| match signals.received() {
                    Some(signal) => Failure::Interrupted { signal },
                    None => Failure::Input(format!("--output {}: {}", self.output, cause(&error))),
                })?)
            }
        };
        let clock = Clock::new();
        let now = clock.now();
        let display = Display::new(self.json, now);
        if config.sealing.is_none() {
            display.warn("no --key: whoever is on the way can read and change what comes");
        }
        let here =
            socket.local_addr().map_err(|error| Failure::Run(format!("--listen {listen}: {}", cause(&error))))?;
        display.tell("listening", here, None, &format!("listening at {here}"), now);
        let receiver = Receiver::new(config, draw_seed()?, now);
        let driver = Driver {
            receiver,
            socket,
            sink,
            display,
            record,
            clock,
            keep: self.keep,
            finished: false,
            is_stopped: false,
            batch: Vec::new(),
            buffer: Vec::new(),
            overrun: 0,
            other: 0,
            is_puzzled: false,
        };
        driver.run(&signals)
    }

    /// What carries the media, and how and how often it is reported.
    fn read_feedback(&self) -> Result<(Variant, Feedback, Option<Duration>), Failure> {
        let options = [
            ("--feedback", self.feedback.is_some()),
            ("--feedback-interval", self.feedback_interval.is_some()),
            ("--retransmission", self.retransmission.is_some()),
        ];
        let option = options.into_iter().find_map(|(option, is_given)| is_given.then_some(option));
        let variant = match (self.variant, option) {
            (None, Some("--feedback")) => Variant::Rtp,
            (None | Some(Variant::Adtfrc | Variant::Tfrc | Variant::Udp), Some(option)) => {
                return Err(Failure::Input(format!("{option}: it is for RTP; add --variant rtp")));
            }
            (variant, _) => variant.unwrap_or_default(),
        };
        if self.feedback == Some(FeedbackChoice::None) && self.retransmission.is_some() {
            return Err(Failure::Input("--retransmission: --feedback none asks for nothing".into()));
        }
        let feedback = match self.feedback {
            None | Some(FeedbackChoice::Auto) => Feedback::Auto,
            Some(FeedbackChoice::Ccfb) => Feedback::As(Format::Ccfb),
            Some(FeedbackChoice::Twcc) => Feedback::As(Format::Twcc),
            Some(FeedbackChoice::None) => Feedback::Off,
        };
        let interval = self.feedback_interval.as_deref().map(|text| {
            let wrong = |wrong| Failure::Input(format!("--feedback-interval {text}: {wrong}"));
            parse_time(text).map(Duration::from_secs_f64).map_err(wrong)
        });
        Ok((variant, feedback, interval.transpose()?))
    }
}

/// A receiver at work.
struct Driver {
    receiver: Receiver,
    socket: UdpSocket,
    sink: Sink,
    display: Display,
    record: Option<Record>,
    clock: Clock,
    keep: bool,
    /// The stream has ended.
    finished: bool,
    /// It is this end that closes it.
    is_stopped: bool,
    /// What is to be written.
    batch: Vec<u8>,
    buffer: Vec<u8>,
    /// RTP packets that the output had no room for.
    overrun: u64,
    /// RTP packets that are no transport stream, which a file can't hold.
    other: u64,
    /// It has received packets that it cannot assign to a sender.
    is_puzzled: bool,
}

impl Driver {
    fn run(mut self, signals: &Signals) -> Result<(), Failure> {
        be_punctual();
        let mut stop_by: Option<Instant> = None;
        loop {
            let mut now = self.clock.now();
            self.receive(now);
            now = self.clock.now();
            if self.receiver.poll_timeout().is_some_and(|due| due <= now) {
                self.receiver.handle_timeout(now);
                self.drain(now);
            }
            if signals.received().is_some() && stop_by.is_none() {
                stop_by = Some(now + STOP_LIMIT);
                self.is_stopped = true;
                self.receiver.handle_stop(now);
                self.drain(now);
            }
            self.flush();
            if let Some(failure) = self.output_end(signals, now) {
                return failure;
            }
            if let Some(record) = &mut self.record {
                record.look_at_receiver(&self.receiver.report(now), now);
            }
            if self.display.due() <= now {
                let report = self.receiver.report(now);
                let rate = self.display.rate(report.media.octets, now);
                if !self.is_puzzled && report.connections == 0 && report.rejected > 0 {
                    self.is_puzzled = true;
                    self.display.warn(
                        "what comes is no stream of this kind: --key and --variant have to be the same at both ends",
                    );
                }
                let line = ReceiveLine::new(&report, rate, self.overrun, now);
                self.display.show(&line, &line.text());
            }
            let is_over = self.finished && !self.keep;
            if is_over || stop_by.is_some_and(|limit| limit <= now) {
                return self.finish(stop_by.and(signals.received()), signals, now);
            }
            let sample = self.record.as_ref().map(Record::due);
            let timers = [self.receiver.poll_timeout(), Some(self.display.due()), stop_by, sample];
            let until = timers.into_iter().flatten().min();
            // A signal that has come stays readable.
            let awaited = [self.socket.as_fd(), signals.as_fd()];
            wait(&awaited[..if stop_by.is_none() { 2 } else { 1 }], until, &self.clock)?;
        }
    }

    /// What has come.
    fn receive(&mut self, now: Instant) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for _ in 0..CALLS {
            // Errors of a socket that answers are those of peers that have gone.
            let Ok(Some(received)) = self.socket.receive(&mut buffer) else { break };
            for datagram in received.datagrams() {
                self.receiver.handle_marked(received.from, received.ecn, datagram, now);
                self.drain(now);
            }
        }
        self.buffer = buffer;
    }

    /// Does all that the receiver wants done.
    fn drain(&mut self, now: Instant) {
        while let Some(output) = self.receiver.poll_output(now) {
            match output {
                ReceiverOutput::Transmit(to, octets) => {
                    // Answers are lost as the network might lose them.
                    let _ = self.socket.send(to, octets);
                }
                ReceiverOutput::Deliver(octets) => match &mut self.sink {
                    Sink::Rtp(socket, to) => {
                        let _ = socket.send(*to, octets);
                    }
                    Sink::Output(_) => {
                        let packet = rtp::Packet::new_checked(octets).ok().filter(|_| !rtcp::is_control(octets));
                        match packet.filter(|packet| packet.payload_type() == TRANSPORT_STREAM_TYPE) {
                            Some(packet) => self.batch.extend_from_slice(packet.payload()),
                            None => self.other += 1,
                        }
                    }
                },
                ReceiverOutput::Connected(peer) => {
                    self.finished = false;
                    self.display.tell("connected", peer, None, &format!("a stream from {peer}"), now);
                }
                ReceiverOutput::Finished(peer) => {
                    self.finished = true;
                    let reason = Some(CloseReason::Finished);
                    let text = if self.is_stopped {
                        format!("the stream from {peer} is closed from here")
                    } else {
                        format!("{peer} has sent all")
                    };
                    self.display.tell("finished", peer, reason, &text, now);
                }
                ReceiverOutput::Lost(peer, reason) => {
                    let text = format!("connection from {peer} lost: {}; listening", describe(reason));
                    self.display.tell("lost", peer, Some(reason), &text, now);
                }
            }
            if self.batch.len() >= BATCH {
                // The machine can be left at any output; it is asked again below.
                break_batch(&mut self.sink, &mut self.batch, &mut self.overrun);
            }
        }
    }

    /// Lets go what was put together.
    fn flush(&mut self) {
        let _ = self.socket.flush();
        match &mut self.sink {
            Sink::Rtp(socket, _) => {
                let _ = socket.flush();
            }
            Sink::Output(_) => break_batch(&mut self.sink, &mut self.batch, &mut self.overrun),
        }
    }

    /// How the command ends if the output has.
    fn output_end(&mut self, signals: &Signals, now: Instant) -> Option<Result<(), Failure>> {
        let Sink::Output(output) = &mut self.sink else { return None };
        let error = output.poll_end()?;
        let name = output.name.clone();
        self.is_stopped = true;
        self.receiver.handle_stop(now);
        self.drain(now);
        let _ = self.socket.flush();
        self.show_end(signals, now);
        if let Some(Err(failure)) = self.record.take().map(|record| record.finish(now)) {
            return Some(Err(failure));
        }
        if error.kind() == io::ErrorKind::BrokenPipe {
            self.display.warn(&format!("{name} was closed"));
            return Some(Ok(()));
        }
        Some(Err(Failure::Run(format!("{name}: {}", cause(&error)))))
    }

    fn show_end(&mut self, signals: &Signals, now: Instant) {
        let report = self.receiver.report(now);
        if let Some(record) = &mut self.record {
            record.look_at_receiver(&report, now);
        }
        let line = ReceiveLine::new(&report, mean_rate(report.media.octets, now), self.overrun, now).at_end();
        self.display.show_end(&line, &line.text(), signals);
    }

    fn finish(mut self, interrupted: Option<i32>, signals: &Signals, now: Instant) -> Result<(), Failure> {
        self.show_end(signals, now);
        self.record.take().map_or(Ok(()), |record| record.finish(now))?;
        if self.other > 0 {
            let others = self.other;
            self.display.warn(&format!("{others} RTP packets were no MPEG transport stream; rtp://… takes them"));
        }
        if let Some(signal) = interrupted {
            // A reader that has stopped reading must not hold up the end: what it has not taken is lost.
            return Err(Failure::Interrupted { signal });
        }
        let Sink::Output(output) = &mut self.sink else { return Ok(()) };
        match (output.finish(signals), signals.received()) {
            (Err(error), Some(signal)) if error.kind() == io::ErrorKind::Interrupted => {
                Err(Failure::Interrupted { signal })
            }
            (Err(error), _) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Run(format!("{}: {}", output.name, cause(&error))))
            }
            _ => Ok(()),
        }
    }
}

/// Hands a batch to the output.
fn break_batch(sink: &mut Sink, batch: &mut Vec<u8>, overrun: &mut u64) {
    let Sink::Output(output) = sink else { return };
    if batch.is_empty() {
        return;
    }
    let packets = batch.len().div_ceil(super::session::TRANSPORT_LEN) as u64;
    if !output.write(batch) {
        *overrun += packets;
    }
}
