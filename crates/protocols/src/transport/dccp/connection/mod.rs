//! One end of a connection: the states of RFC 4340, section 8.4, and what each makes of a packet (section 8.5).

mod arrival;
mod closing;
mod departure;
mod feedback;
mod handshake;
mod options;
mod reset;

use core::fmt;
use std::collections::VecDeque;

use hopcast_wire::ParseError;
use hopcast_wire::dccp::{self, ResetCode};

use self::handshake::Greeting;
pub use self::reset::reset_for;
use super::ccid::{Expired, HalfReceiver, HalfSender};
use super::features::Features;
use super::sent::Sent;
use super::sequence::{Own, Peer};
use super::window_counter::{CounterRtt, WindowCounter};
use super::{Config, Packet, Payload};
use crate::contract::Drained;
use crate::time::{Duration, Instant};

/// The longest interval between two packets that are repeated (section 8.1.1).
const LONGEST_INTERVAL: Duration = Duration::from_secs(64);

/// Unit of the times in options (section 13), in nanoseconds: 10 µs.
const TIME_UNIT: u64 = 10_000;

/// One end of a DCCP connection. See the [module](super) for what it implements.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    server: bool,
    state: State,
    own: Own,
    peer: Peer,
    /// OSR: the packet with which the connection became open.
    opened_by: u64,
    features: Features,
    sender: Box<dyn HalfSender>,
    receiver: Box<dyn HalfReceiver>,
    counter: WindowCounter,
    peer_rtt: CounterRtt,
    sent: Sent,
    /// The latest handshake packet.
    greeting: Option<Greeting>,
    /// Packets without data sent in a row.
    silent: u64,
    /// The greatest number received arrived then.
    arrived: Instant,
    /// The peer's last timestamp, and when it arrived.
    timestamp: Option<(u32, Instant)>,
    /// The latest packet whose feedback was used.
    feedback_by: u64,
    queue: VecDeque<(Payload, Instant)>,
    /// A packet that may leave at once, whatever the rate.
    probe: bool,
    /// An acknowledgement is to be sent.
    acknowledge: bool,
    /// A packet that is to be sent besides data and acknowledgements.
    reply: Option<Reply>,
    /// For a packet that belongs to no connection.
    stray_reset: Option<Packet>,
    /// The user has asked for the end.
    closing: bool,
    timers: Timers,
    answers: (Instant, u32),
    events: Events,
    /// The user was refused room in the queue.
    blocked: bool,
    statistics: Statistics,
    drained: Drained,
}

/// Packets that stand alone.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Request,
    Response,
    CloseReq,
    Close,
    Sync { about: u64 },
    SyncAck { about: u64 },
    Reset { about: u64, code: ResetCode, data: [u8; 3] },
}

/// When what is to be done next.
#[derive(Clone, Copy, Debug, Default)]
struct Timers {
    /// A packet is repeated then; the interval to the next time.
    repeat: Option<(Instant, Duration)>,
    /// The state is given up.
    give_up: Option<Instant>,
}

impl Timers {
    fn start(interval: Duration, limit: Duration, now: Instant) -> Self {
        Self { repeat: Some((now + interval, interval)), give_up: Some(now + limit) }
    }
}

/// Events not yet taken out.
#[derive(Clone, Copy, Debug, Default)]
struct Events {
    connected: bool,
    delivery: Option<Delivery>,
    writable: bool,
    closed: Option<CloseReason>,
}

/// The states of RFC 4340, section 8.4. They print as the RFC spells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a Request.
    Listen,
    /// A Request was sent.
    Request,
    /// A Response was sent.
    Respond,
    /// The Response came; the server may not know.
    PartOpen,
    /// Open.
    Open,
    /// The server has asked the client to close.
    CloseReq,
    /// Close was sent.
    Closing,
    /// The Reset came; waiting for the last packets to die out.
    TimeWait,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::Request => "REQUEST",
            Self::Respond => "RESPOND",
            Self::PartOpen => "PARTOPEN",
            Self::Open => "OPEN",
            Self::CloseReq => "CLOSEREQ",
            Self::Closing => "CLOSING",
            Self::TimeWait => "TIMEWAIT",
        })
    }
}

/// What a connection wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this packet to the peer.
    Transmit(Packet),
    /// The handshake is done.
    Connected,
    /// Data came.
    Deliver(Delivery),
    /// After [`Connection::handle_write`] refused a unit: there is room again.
    Writable,
    /// The connection is gone for its user; nothing but Resets follows.
    Closed(CloseReason),
}

/// Data that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Number of the packet among all of its sender, unrolled: one that comes late has a lower number than those before.
    pub sequence: u64,
    /// The unit as the packet names it, and its length.
    pub payload: Payload,
}

/// Why a connection is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The user gave it up: [`Connection::handle_abort`], or a close before the handshake.
    Aborted,
    /// Both sides are done with it.
    Finished,
    /// The peer reset it, with this code; it refused it, if the connection was not open yet.
    Reset(ResetCode),
    /// This end reset it, since the peer's packets make no sense, with this code.
    Refused(ResetCode),
    /// The peer did not answer: to the handshake, to the close, or to the probes of the congestion control.
    TimedOut,
}

/// Counters since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Packets sent, of every kind.
    pub packets_sent: u64,
    /// Those with data.
    pub data_packets_sent: u64,
    /// Bytes of data sent.
    pub bytes_sent: u64,
    /// Packets that carried feedback.
    pub feedback_sent: u64,
    /// Syncs sent.
    pub syncs_sent: u64,
    /// Packets sent to see whether the path is back.
    pub probes_sent: u64,
    /// Packets received, of every kind, rejected ones included.
    pub packets_received: u64,
    /// Those with data that was delivered.
    pub data_packets_received: u64,
    /// Bytes of it.
    pub bytes_received: u64,
    /// Packets with feedback that was used.
    pub feedback_received: u64,
    /// Packets that were no DCCP, or out of the windows, or of a type that can't be there.
    pub unacceptable: u64,
    /// Packets with an option that can't be.
    pub option_errors: u64,
}

/// Life cycle, and the four families of the contract.
impl Connection {
    /// An active open, by a client: the Request comes out of [`poll_output`](Self::poll_output). Of `initial_sequence` the
    /// lower 48 bits count.
    pub fn connect(config: Config, initial_sequence: u64) -> Self {
        Self::new(config, initial_sequence, State::Request)
    }

    /// A passive open, by a server.
    pub fn listen(config: Config, initial_sequence: u64) -> Self {
        Self::new(config, initial_sequence, State::Listen)
    }

    fn new(config: Config, initial_sequence: u64, state: State) -> Self {
        let config = config.clamped();
        let server = state == State::Listen;
        let (sender, receiver) = config.congestion.start();
        Self {
            server,
            state,
            own: Own::new(initial_sequence),
            peer: Peer::new(0),
            opened_by: 0,
            features: Features::new(server, config.ccid(), config.sequence_window),
            sender,
            receiver,
            counter: WindowCounter::default(),
            peer_rtt: CounterRtt::new(),
            sent: Sent::default(),
            greeting: None,
            silent: 0,
            arrived: Instant::START,
            timestamp: None,
            feedback_by: 0,
            queue: VecDeque::new(),
            probe: false,
            acknowledge: false,
            reply: (!server).then_some(Reply::Request),
            stray_reset: None,
            closing: false,
            timers: Timers::default(),
            answers: (Instant::START, 0),
            events: Events::default(),
            blocked: false,
            statistics: Statistics::default(),
            drained: Drained::default(),
            config,
        }
    }

    /// A packet of the peer has arrived. Any packet at all may be given; the payload's name is handed on as it is.
    #[track_caller]
    pub fn handle_packet(&mut self, packet: &Packet, now: Instant) {
        self.drained.on_input();
        match dccp::Packet::new_checked(&packet.header[..]) {
            // A header alone: all of it must be one.
            Ok(view) if view.payload().is_empty() => self.handle_view(&view, packet.payload, now),
            _ => {
                self.statistics.packets_received += 1;
                self.statistics.unacceptable += 1;
            }
        }
    }

    /// Bytes of the peer have arrived, header and payload; the host has judged the checksum. Data is delivered as unit 0:
    /// the host has the bytes, and knows it.
    ///
    /// # Errors
    ///
    /// If they are no DCCP packet; nothing has changed then but a counter.
    #[track_caller]
    pub fn handle_datagram(&mut self, octets: &[u8], now: Instant) -> Result<(), ParseError> {
        self.drained.on_input();
        let view = dccp::Packet::new_checked(octets).inspect_err(|_| {
            self.statistics.packets_received += 1;
            self.statistics.unacceptable += 1;
        })?;
        let payload = Payload { unit: 0, len: view.payload().len() as u32 };
        self.handle_view(&view, payload, now);
        Ok(())
    }

    /// Time has come to `now`: does what is due, which is nothing before [`poll_timeout`](Self::poll_timeout).
    #[track_caller]
    pub fn handle_timeout(&mut self, now: Instant) {
        self.drained.on_input();
        if self.timers.give_up.is_some_and(|due| due <= now) {
            match self.state {
                State::TimeWait => self.state = State::Closed,
                State::Respond => *self = self.relisten(),
                _ => self.fail(CloseReason::TimedOut, ResetCode::Aborted, [0; 3]),
            }
            if matches!(self.state, State::Closed | State::Listen) {
                self.timers = Timers::default();
                return;
            }
        }
        if let Some((due, interval)) = self.timers.repeat
            && due <= now
        {
            let interval = interval.saturating_add(interval).min(LONGEST_INTERVAL);
            self.timers.repeat = Some((now + interval, interval));
            match self.state {
                State::Request => self.reply = Some(Reply::Request),
                State::PartOpen => self.acknowledge = true,
                State::CloseReq => self.reply = Some(Reply::CloseReq),
                State::Closing => self.reply = Some(Reply::Close),
                _ => self.timers.repeat = None,
            }
        }
        if !self.carries_data() {
            return;
        }
        self.receiver.handle_timeout(now);
        // An end that has nothing more to send need not know whether the path is there: the Close finds out.
        if self.sends_data() && self.sender.poll_timeout().is_some_and(|due| due <= now) {
            match self.sender.handle_timeout(now) {
                Expired::Nothing => {}
                Expired::Probe => {
                    self.statistics.probes_sent += 1;
                    if self.queue.is_empty() {
                        self.reply = Some(Reply::Sync { about: self.peer.greatest });
                    } else {
                        self.probe = true;
                    }
                }
                Expired::GiveUp => self.fail(CloseReason::TimedOut, ResetCode::Aborted, [0; 3]),
            }
        }
    }

    /// The user offers a unit of data. `false` if it was not taken: the queue is full ([`Output::Writable`] tells when there
    /// is room again), or the connection is closing, or a DCCP packet can't be as long.
    pub fn handle_write(&mut self, payload: Payload, now: Instant) -> bool {
        let is_taken = self.has_room(payload.len);
        if is_taken {
            self.queue.push_back((payload, now));
        }
        is_taken
    }

    /// Whether [`handle_write`](Self::handle_write) would take a unit of `len` bytes now. If not for lack of room,
    /// [`Output::Writable`] follows, as after a write.
    pub fn has_room(&mut self, len: u32) -> bool {
        let gone = self.closing || matches!(self.state, State::Closed | State::TimeWait);
        if gone || len > MAX_PAYLOAD {
            return false;
        }
        self.blocked = self.queue.len() >= self.config.queue;
        !self.blocked
    }

    /// The user takes the units back that wait, such as media that has become too old. Returns how many there were. A connection
    /// that is to close once they have been sent closes.
    pub fn handle_flush(&mut self, now: Instant) -> usize {
        let count = self.queue.len();
        self.queue.clear();
        self.probe = false;
        if self.closing {
            self.finish(now);
        }
        count
    }

    /// The user is done: once the queue is empty, the connection closes. What comes until then is still delivered.
    pub fn handle_close(&mut self, now: Instant) {
        if core::mem::replace(&mut self.closing, true) {
            return;
        }
        self.blocked = false;
        match self.state {
            State::Listen => self.close(CloseReason::Aborted),
            State::Request => self.fail(CloseReason::Aborted, ResetCode::Aborted, [0; 3]),
            _ => self.finish(now),
        }
    }

    /// The user gives the connection up: the peer is sent a Reset.
    pub fn handle_abort(&mut self, _now: Instant) {
        match self.state {
            State::Closed | State::TimeWait => {}
            State::Listen => self.close(CloseReason::Aborted),
            _ => self.fail(CloseReason::Aborted, ResetCode::Aborted, [0; 3]),
        }
    }

    /// Takes out one thing: what is to be sent, or an event for the user. `None` when nothing is left.
    #[must_use = "an output that is not carried out is lost"]
    pub fn poll_output(&mut self, now: Instant) -> Option<Output> {
        if core::mem::take(&mut self.events.connected) {
            return Some(Output::Connected);
        }
        if let Some(delivery) = self.events.delivery.take() {
            return Some(Output::Deliver(delivery));
        }
        if let Some(reply) = self.reply.take() {
            return Some(Output::Transmit(self.emit_reply(reply, now)));
        }
        if let Some(reset) = self.stray_reset.take() {
            self.statistics.packets_sent += 1;
            return Some(Output::Transmit(reset));
        }
        if let Some(packet) = self.poll_packet(now) {
            return Some(Output::Transmit(packet));
        }
        if core::mem::take(&mut self.events.writable) {
            return Some(Output::Writable);
        }
        if let Some(reason) = self.events.closed.take() {
            return Some(Output::Closed(reason));
        }
        self.drained.on_drained();
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next, and [`poll_output`](Self::poll_output) after it.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut next = earliest(self.timers.repeat.map(|(due, _)| due), self.timers.give_up);
        if self.carries_data() {
            next = earliest(next, self.receiver.poll_timeout());
        }
        if self.sends_data() {
            next = earliest(next, self.departure());
            next = earliest(next, self.sender.poll_timeout());
        }
        next
    }
}

/// The longest payload: what fits with the longest header into 65535 bytes.
const MAX_PAYLOAD: u32 = 65_535 - dccp::MAX_HEADER_LEN as u32;

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// What an observer may ask.
impl Connection {
    /// The configuration that it was made with, each value in its range.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The half that sends data.
    pub fn sender(&self) -> &dyn HalfSender {
        &*self.sender
    }

    /// The half that receives data.
    pub fn receiver(&self) -> &dyn HalfReceiver {
        &*self.receiver
    }

    /// Units that wait.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// What was counted so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The round-trip time of the peer's data, by its window counter.
    pub fn peer_rtt(&self) -> Duration {
        self.peer_rtt.get()
    }

    /// Whether data and feedback may go in this state.
    fn carries_data(&self) -> bool {
        matches!(self.state, State::PartOpen | State::Open | State::CloseReq | State::Closing)
    }

    /// Whether the user's data may leave in this state.
    fn sends_data(&self) -> bool {
        matches!(self.state, State::PartOpen | State::Open)
    }

    /// When the first unit may leave.
    fn departure(&self) -> Option<Instant> {
        let &(_, offered) = self.queue.front().filter(|_| self.sends_data())?;
        self.sender.departure(offered)
    }
}
