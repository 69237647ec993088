//! One end of a connection: the states of RFC 4340, section 8.4, and what each makes of a packet (section 8.5).

use core::fmt;
use std::collections::VecDeque;
use std::sync::Arc;

use hopcast_wire::ParseError;
use hopcast_wire::dccp::{
    self, Body, OptionKind, OptionList, OptionRepr, Options, PacketType, ResetCode, TimestampEcho,
};

use super::super::adtfrc;
use super::super::tfrc::{self, Data, Feedback};
use super::ccid::{Expired, HalfReceiver, HalfSender};
use super::features::{Features, Refusal};
use super::sent::{Departure, Sent};
use super::sequence::{Own, Peer, number, unroll};
use super::window_counter::{CounterRtt, WindowCounter};
use super::{Config, Congestion, NetworkState, Packet, Payload};
use crate::time::{Duration, Instant};

/// First interval between two Requests (section 8.1.1), and the longest, as of all that is repeated.
const FIRST_REQUEST: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(64);
/// How long a client goes on requesting (section 8.1.1).
const REQUEST_LIMIT: Duration = Duration::from_secs(180);
/// First interval between two acknowledgements in PARTOPEN (section 8.1.5).
const FIRST_PARTOPEN: Duration = Duration::from_millis(200);
/// How long a half-open or half-closed connection is kept: four maximum segment lifetimes (sections 8.1.3 and 8.1.5).
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(480);
/// First interval between two Closes while the round-trip time is unknown: two of RFC 4340's default (sections 8.3, 3.4).
const FIRST_CLOSE: Duration = Duration::from_millis(400);
/// At most so many Syncs and Resets in answer to packets that prove nothing in a second (sections 7.5.4 and 8.1.3).
const ANSWERS: u32 = 8;
const ANSWERS_INTERVAL: Duration = Duration::from_secs(1);
/// Unit of the times in options (section 13), in nanoseconds: 10 µs.
const TIME_UNIT: u64 = 10_000;
/// Packets without data that are told at the most: 48 bits (section 7.7).
const MAX_NDP_COUNT: u64 = (1 << 48) - 1;
/// Loss intervals that are told at the most (RFC 4342, section 8.6): those that make the mean.
const MAX_INTERVALS: usize = 9;

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
    /// For a packet that is none of this connection's.
    stray_reset: Option<Packet>,
    /// The user has asked for the end.
    closing: bool,
    timers: Timers,
    answers: (Instant, u32),
    events: Events,
    /// The user was refused room in the queue.
    blocked: bool,
    statistics: Statistics,
}

/// A Request or a Response.
#[derive(Clone, Copy, Debug)]
struct Greeting {
    number: u64,
    /// When it left.
    at: Instant,
    /// GSR then.
    heard: u64,
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
pub struct Statistics {
    /// Packets sent, of every kind.
    pub packets_sent: u64,
    /// Those with data.
    pub data_packets_sent: u64,
    /// Octets of data sent.
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
    /// Octets of it.
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
        let (sender, receiver): (Box<dyn HalfSender>, Box<dyn HalfReceiver>) = match config.congestion {
            Congestion::Tfrc(config) => (Box::new(tfrc::Sender::new(config)), Box::new(tfrc::Receiver::new(config))),
            Congestion::Adtfrc(config) => {
                (Box::new(adtfrc::Sender::new(config)), Box::new(adtfrc::Receiver::new(config)))
            }
        };
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
            queue: VecDeque::with_capacity(config.queue),
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
            config,
        }
    }

    /// A packet of the peer has arrived. Any packet at all may be given; the payload's name is handed on as it is.
    pub fn handle_packet(&mut self, packet: &Packet, now: Instant) {
        match dccp::Packet::new_checked(&packet.header[..]) {
            // A header alone: all of it must be one.
            Ok(view) if view.payload().is_empty() => self.handle_view(&view, packet.payload, now),
            _ => {
                self.statistics.packets_received += 1;
                self.statistics.unacceptable += 1;
            }
        }
    }

    /// Octets of the peer have arrived, header and payload; the host has judged the checksum. Data is delivered as unit 0:
    /// who has the octets knows it.
    ///
    /// # Errors
    ///
    /// If they are no DCCP packet; nothing has changed then but a counter.
    pub fn handle_datagram(&mut self, octets: &[u8], now: Instant) -> Result<(), ParseError> {
        let view = dccp::Packet::new_checked(octets).inspect_err(|_| {
            self.statistics.packets_received += 1;
            self.statistics.unacceptable += 1;
        })?;
        let payload = Payload { unit: 0, len: view.payload().len() as u32 };
        self.handle_view(&view, payload, now);
        Ok(())
    }

    /// Time has come to `now`: does what is due, which is nothing before [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
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
        // Who has no more to send need not know whether the path is there: the Close finds out.
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

    /// Whether [`handle_write`](Self::handle_write) would take a unit of `len` octets now. If not for lack of room,
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
        self.events.closed.take().map(Output::Closed)
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

/// The longest payload: what fits with the longest header into 65535 octets.
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

/// Arrival of a packet (RFC 4340, section 8.5, by its steps).
impl Connection {
    fn handle_view(&mut self, view: &dccp::Packet<&[u8]>, payload: Payload, now: Instant) {
        self.statistics.packets_received += 1;
        // Step 1, what the view has not checked: short numbers were never allowed.
        if !view.is_extended() {
            self.statistics.unacceptable += 1;
            return;
        }
        let kind = view.packet_type();
        // The packet is the peer's first.
        let mut first = false;
        match self.state {
            // Step 2.
            State::Closed | State::TimeWait => {
                self.answer_with_reset(view, now);
                return;
            }
            // Step 3.
            State::Listen => {
                if kind != PacketType::Request {
                    self.answer_with_reset(view, now);
                    return;
                }
                if !self.take_request(view, now) {
                    return;
                }
                first = true;
            }
            // Step 4.
            State::Request => {
                let acknowledged = unroll(view.acknowledgement().unwrap_or(0), self.own.greatest());
                let expected = matches!(kind, PacketType::Response | PacketType::Reset);
                if !expected || !self.own.is_valid(acknowledged, 0) {
                    self.statistics.unacceptable += 1;
                    if kind != PacketType::Reset && self.may_answer(now) {
                        let about = super::sequence::first(view.sequence());
                        self.reply =
                            Some(Reply::Reset { about, code: ResetCode::PacketError, data: [kind.into(), 0, 0] });
                    }
                    return;
                }
                self.peer = Peer::new(view.sequence());
                first = true;
            }
            _ => {}
        }
        let sequence = unroll(view.sequence(), self.peer.greatest);
        let acknowledged = view.acknowledgement().map(|number| unroll(number, self.own.greatest()));
        let newest = first || sequence > self.peer.greatest;
        if !self.check_sequence(kind, sequence, acknowledged, now) {
            self.statistics.unacceptable += 1;
            return;
        }
        // Step 7.
        if self.is_unexpected(kind, sequence) {
            self.statistics.unacceptable += 1;
            self.send_sync(sequence, now);
            return;
        }
        if newest {
            self.arrived = now;
        }
        // Step 8.
        let read = match self.read_options(view, newest, now) {
            Ok(read) => read,
            Err((code, data)) => {
                self.fail(CloseReason::Refused(code), code, data);
                return;
            }
        };
        // Step 9.
        if kind == PacketType::Reset {
            self.handle_reset(view, now);
            return;
        }
        self.advance(kind, sequence, acknowledged, now);
        if self.state == State::Closed {
            return;
        }
        // Steps 13 to 15.
        match kind {
            PacketType::CloseReq if self.sends_data() => {
                self.queue.clear();
                self.reply = Some(Reply::Close);
                self.state = State::Closing;
                self.timers = self.closing_timers(now);
            }
            PacketType::Close => {
                self.reply = Some(Reply::Reset { about: sequence, code: ResetCode::Closed, data: [0; 3] });
                self.close(CloseReason::Finished);
                return;
            }
            PacketType::Sync => {
                self.reply = Some(Reply::SyncAck { about: sequence });
                if let (State::CloseReq | State::Closing, Some((due, _))) = (self.state, &mut self.timers.repeat) {
                    // Mostly the answer to a Close that was out of the peer's window, as the next one after the SyncAck won't be.
                    *due = now;
                }
            }
            PacketType::SyncAck => self.sender.handle_answer(now),
            _ => {}
        }
        self.handle_content(kind, sequence, acknowledged, payload, view.ccval(), &read, now);
    }

    /// Steps 5 and 6: whether the numbers are valid. Updates GSR and GAR if they are, answers with a Sync if not.
    fn check_sequence(&mut self, kind: PacketType, sequence: u64, acknowledged: Option<u64>, now: Instant) -> bool {
        let is_sync = matches!(kind, PacketType::Sync | PacketType::SyncAck);
        if is_sync {
            let valid = acknowledged.is_some_and(|number| self.own.is_valid(number, 0)) && sequence >= self.peer.low();
            if !valid {
                return false;
            }
            self.peer.greatest = self.peer.greatest.max(sequence);
        }
        // What ends a connection must be newer than all before.
        let ends = matches!(kind, PacketType::CloseReq | PacketType::Close | PacketType::Reset);
        let (least, least_acknowledged) =
            if ends && self.state != State::Request { (self.peer.greatest + 1, self.own.acknowledged) } else { (0, 0) };
        let valid = self.peer.is_valid(sequence, least)
            && acknowledged.is_none_or(|number| self.own.is_valid(number, least_acknowledged));
        if valid {
            self.peer.greatest = self.peer.greatest.max(sequence);
            if kind != PacketType::Sync {
                self.own.acknowledged = self.own.acknowledged.max(acknowledged.unwrap_or(0));
            }
        } else {
            // A Reset that is not valid says nothing about the peer's numbers.
            let about = if kind == PacketType::Reset { self.peer.greatest } else { sequence };
            self.send_sync(about, now);
        }
        valid
    }

    /// Step 7.
    fn is_unexpected(&self, kind: PacketType, sequence: u64) -> bool {
        let open = matches!(self.state, State::Open | State::CloseReq | State::Closing);
        match kind {
            PacketType::CloseReq | PacketType::Response if self.server => true,
            PacketType::Request if !self.server => true,
            PacketType::Request | PacketType::Response => open && sequence >= self.opened_by,
            PacketType::Data => self.state == State::Respond,
            _ => false,
        }
    }

    /// Steps 10 to 12: the handshake goes on.
    fn advance(&mut self, kind: PacketType, sequence: u64, acknowledged: Option<u64>, now: Instant) {
        let greeted = self.greeting.filter(|greeting| acknowledged == Some(greeting.number));
        match self.state {
            State::Request => {
                self.state = State::PartOpen;
                self.timers = Timers::start(FIRST_PARTOPEN, HANDSHAKE_LIMIT, now);
                self.acknowledge = true;
                self.events.connected = true;
                self.on_handshake(greeted, now);
                if self.closing {
                    self.finish(now);
                }
            }
            State::Respond if kind == PacketType::Request => self.reply = Some(Reply::Response),
            State::Respond => {
                self.opened_by = sequence;
                self.state = State::Open;
                self.timers = Timers::default();
                // The client learns that it is open.
                self.acknowledge = true;
                self.events.connected = true;
                // Only what the client sent first after its Request is an answer at once: in PARTOPEN all that it sends acknowledges
                // the Response, however long ago that came.
                self.on_handshake(greeted.filter(|greeting| sequence == greeting.heard + 1), now);
                if self.closing {
                    self.finish(now);
                }
            }
            State::PartOpen if kind == PacketType::Response => self.acknowledge = true,
            State::PartOpen if kind != PacketType::Sync => {
                self.opened_by = sequence;
                self.state = State::Open;
                self.timers = Timers::default();
            }
            // A client that acknowledges the Response still has seen nothing else.
            State::Open if self.server && kind == PacketType::Ack && greeted.is_some() => self.acknowledge = true,
            _ => {}
        }
    }

    /// The handshake is done; the peer's answer to the greeting times the path.
    fn on_handshake(&mut self, greeted: Option<Greeting>, now: Instant) {
        if let Some(greeting) = greeted {
            let rtt = now.saturating_since(greeting.at);
            if rtt > Duration::ZERO {
                self.sender.on_handshake(rtt);
                self.peer_rtt.on_handshake(rtt);
            }
        }
        if !self.features.are_agreed() {
            self.fail(CloseReason::Refused(ResetCode::OptionError), ResetCode::OptionError, [0; 3]);
        }
    }

    /// Data, and what was acknowledged.
    #[expect(clippy::too_many_arguments, reason = "the fields of one packet, taken apart before")]
    fn handle_content(
        &mut self,
        kind: PacketType,
        sequence: u64,
        acknowledged: Option<u64>,
        payload: Payload,
        counter: u8,
        read: &Read,
        now: Instant,
    ) {
        if let (Some(acknowledged), true) = (acknowledged, matches!(kind, PacketType::Ack | PacketType::DataAck)) {
            self.handle_feedback(sequence, acknowledged, read, now);
        }
        if !self.carries_data() {
            return;
        }
        if !matches!(kind, PacketType::Data | PacketType::DataAck) {
            self.receiver.on_other(sequence, read.without_data, now);
            return;
        }
        if sequence == self.peer.greatest {
            self.peer_rtt.on_packet(counter, now);
        }
        let data =
            Data { number: sequence, len: payload.len, without_data: read.without_data, rtt: self.peer_rtt.get() };
        self.receiver.on_data(&data, read.timestamp, now);
        self.statistics.data_packets_received += 1;
        self.statistics.bytes_received += u64::from(payload.len);
        self.events.delivery = Some(Delivery { sequence, payload });
    }

    fn handle_feedback(&mut self, sequence: u64, acknowledged: u64, read: &Read, now: Instant) {
        let Some(receive_rate) = read.receive_rate else { return };
        // What was overtaken by later feedback is old.
        if sequence <= self.feedback_by || !self.carries_data() {
            return;
        }
        let loss_event_rate = match (read.loss_event_rate, &read.intervals) {
            (Some(u32::MAX), _) => 0.0,
            (Some(inverse), _) => 1.0 / f64::from(inverse.max(1)),
            (None, Some(lengths)) => {
                self.sender.tfrc().loss_event_rate_of(lengths.iter().copied(), f64::from(receive_rate))
            }
            (None, None) => return,
        };
        self.feedback_by = sequence;
        self.statistics.feedback_received += 1;
        let departure = self.sent.acknowledge(acknowledged);
        if let Some(departure) = departure {
            self.counter.on_feedback(departure.counter, now);
        }
        let feedback = Feedback {
            // The delay counts from the acknowledged packet, which must be that one.
            sent: departure.filter(|departure| departure.number == acknowledged).map(|departure| departure.at),
            delay: Duration::from_nanos(u64::from(read.elapsed) * TIME_UNIT),
            receive_rate: f64::from(receive_rate),
            loss_event_rate,
        };
        self.sender.handle_feedback(&feedback, read.state, now);
    }

    fn handle_reset(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) {
        let nobody = core::net::Ipv4Addr::UNSPECIFIED;
        let repr = dccp::Repr::parse(view, nobody, nobody, hopcast_wire::checksum::Policy::Ignore);
        let code = match repr.map(|repr| repr.body) {
            Ok(Body::Reset { code, .. }) => code,
            _ => ResetCode::Unspecified,
        };
        if self.state == State::Respond {
            *self = self.relisten();
            return;
        }
        let finished = code == ResetCode::Closed && matches!(self.state, State::Closing | State::CloseReq);
        let opening = self.state == State::Request;
        self.close(if finished { CloseReason::Finished } else { CloseReason::Reset(code) });
        if !opening {
            self.state = State::TimeWait;
            self.timers.give_up = Some(now + self.config.time_wait);
        }
    }

    /// Step 3: whether the Request is one to serve.
    fn take_request(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) -> bool {
        let nobody = core::net::Ipv4Addr::UNSPECIFIED;
        let Ok(repr) = dccp::Repr::parse(view, nobody, nobody, hopcast_wire::checksum::Policy::Ignore) else {
            return false;
        };
        let Body::Request { service_code } = repr.body else { return false };
        if service_code != self.config.service_code {
            if self.may_answer(now) {
                self.config.remote_port = repr.source_port;
                let about = super::sequence::first(repr.sequence);
                self.reply = Some(Reply::Reset { about, code: ResetCode::BadServiceCode, data: [0; 3] });
            }
            return false;
        }
        self.config.remote_port = repr.source_port;
        self.peer = Peer::new(repr.sequence);
        self.state = State::Respond;
        self.timers = Timers { repeat: None, give_up: Some(now + HANDSHAKE_LIMIT) };
        true
    }

    /// What the options say that matters later. Feature options are dealt with at once, if the packet is the newest.
    fn read_options(&mut self, view: &dccp::Packet<&[u8]>, newest: bool, now: Instant) -> Result<Read, Refusal> {
        let mut read = Read::default();
        let is_data = view.packet_type() == PacketType::Data;
        let mut mandatory = false;
        if newest && !is_data {
            self.features.begin();
        }
        for option in view.options().iter() {
            let Ok(option) = option else {
                self.statistics.option_errors += 1;
                break;
            };
            if is_data && !option.may_be_in_data() {
                continue;
            }
            match option {
                OptionRepr::Mandatory => {
                    if core::mem::replace(&mut mandatory, true) {
                        // Two in a row (section 5.8.2).
                        return Err((ResetCode::OptionError, [OptionKind::Mandatory.into(), 0, 0]));
                    }
                    continue;
                }
                OptionRepr::NdpCount(count) => read.without_data = count,
                OptionRepr::Timestamp(time) => {
                    read.timestamp = Some(time);
                    if newest {
                        self.timestamp = Some((time, now));
                    }
                }
                OptionRepr::TimestampEcho(TimestampEcho { elapsed: Some(elapsed), .. }) if read.elapsed == 0 => {
                    read.elapsed = elapsed;
                }
                OptionRepr::ElapsedTime(elapsed) => read.elapsed = elapsed,
                OptionRepr::LossEventRate(inverse) => read.loss_event_rate = Some(inverse),
                OptionRepr::ReceiveRate(rate) => read.receive_rate = Some(rate),
                OptionRepr::LossIntervals(intervals) => {
                    // The interval before the first loss has no lossy part, and no length that counts.
                    let length = |one: dccp::LossInterval| (one.lossy > 0).then_some(f64::from(one.data));
                    read.intervals = Some(intervals.iter().take(MAX_INTERVALS).map(length).collect());
                }
                OptionRepr::NetworkState(state) => read.state = Some(state),
                OptionRepr::Other(kind, _) if mandatory => {
                    return Err((ResetCode::MandatoryError, [kind.into(), 0, 0]));
                }
                _ if newest => self.features.on_option(&option, mandatory)?,
                _ => {}
            }
            mandatory = false;
        }
        if let Some(window) = self.features.peer_window {
            self.peer.window = window;
        }
        if self.features.window_confirmed {
            self.own.window = self.config.sequence_window;
        }
        // Wishes that come after the handshake.
        if self.features.unsent && self.carries_data() {
            self.acknowledge = true;
        }
        Ok(read)
    }

    /// A Reset for a packet that belongs to no connection, or not to this one.
    fn answer_with_reset(&mut self, view: &dccp::Packet<&[u8]>, now: Instant) {
        self.statistics.unacceptable += 1;
        if view.packet_type() != PacketType::Reset && self.may_answer(now) {
            self.stray_reset = Some(reset_of(view));
        }
    }

    fn send_sync(&mut self, about: u64, now: Instant) {
        if matches!(self.state, State::Request | State::Listen) || !self.may_answer(now) {
            return;
        }
        self.reply = Some(Reply::Sync { about });
    }

    /// Whether a packet that proves nothing may be answered (section 7.5.4).
    fn may_answer(&mut self, now: Instant) -> bool {
        let (since, count) = &mut self.answers;
        if now.saturating_since(*since) >= ANSWERS_INTERVAL || *count == 0 {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= ANSWERS
    }
}

/// What the options of a packet said.
#[derive(Clone, Debug, Default)]
struct Read {
    without_data: u64,
    timestamp: Option<u32>,
    /// In units of 10 µs.
    elapsed: u32,
    loss_event_rate: Option<u32>,
    receive_rate: Option<u32>,
    /// Lengths in packets, the open interval first; `None` for the one before the first loss.
    intervals: Option<Vec<Option<f64>>>,
    state: Option<NetworkState>,
}

/// The end.
impl Connection {
    /// Closes as soon as the queue is empty.
    fn finish(&mut self, now: Instant) {
        if !self.queue.is_empty() || !self.sends_data() {
            return;
        }
        let (state, reply) =
            if self.server { (State::CloseReq, Reply::CloseReq) } else { (State::Closing, Reply::Close) };
        self.state = state;
        self.reply = Some(reply);
        self.timers = self.closing_timers(now);
    }

    /// A Close is repeated after two round trips (section 8.3).
    fn closing_timers(&self, now: Instant) -> Timers {
        let interval = self.sender.tfrc().rtt().map_or(FIRST_CLOSE, |rtt| rtt.saturating_add(rtt));
        Timers::start(interval.clamp(Duration::from_millis(1), LONGEST_INTERVAL), HANDSHAKE_LIMIT, now)
    }

    /// Ends the connection with a Reset of this end.
    fn fail(&mut self, reason: CloseReason, code: ResetCode, data: [u8; 3]) {
        // Before the Response there is nothing to acknowledge. Should it come, a Reset answers it.
        let tell = self.state != State::Request;
        self.reply = tell.then_some(Reply::Reset { about: self.peer.greatest, code, data });
        self.close(reason);
    }

    fn close(&mut self, reason: CloseReason) {
        self.state = State::Closed;
        self.timers = Timers::default();
        self.queue.clear();
        self.sent.clear();
        self.probe = false;
        self.acknowledge = false;
        self.events.connected = false;
        self.events.writable = false;
        self.events.closed = Some(reason);
    }

    /// A fresh connection in LISTEN, after one that came to nothing.
    fn relisten(&self) -> Self {
        let config = Config { remote_port: 0, ..self.config.clone() };
        Self { statistics: self.statistics, ..Self::listen(config, number(self.own.greatest() + 1)) }
    }
}

/// Departure of a packet.
impl Connection {
    fn emit_reply(&mut self, reply: Reply, now: Instant) -> Packet {
        let mut options = OptionList::new();
        let service_code = self.config.service_code;
        let acknowledgement = number(self.peer.greatest);
        let body = match reply {
            Reply::Request => {
                self.features.write_changes(&mut options);
                if self.timers.repeat.is_none() {
                    self.timers = Timers::start(FIRST_REQUEST, REQUEST_LIMIT, now);
                }
                Body::Request { service_code }
            }
            Reply::Response => {
                self.features.write_confirms(&mut options);
                self.features.write_changes(&mut options);
                Body::Response { acknowledgement, service_code }
            }
            Reply::CloseReq => Body::CloseReq { acknowledgement },
            Reply::Close => Body::Close { acknowledgement },
            Reply::Sync { about } => {
                self.statistics.syncs_sent += 1;
                Body::Sync { acknowledgement: number(about) }
            }
            Reply::SyncAck { about } => Body::SyncAck { acknowledgement: number(about) },
            Reply::Reset { about, code, data } => Body::Reset { acknowledgement: number(about), code, data },
        };
        let packet = self.emit(body, &mut options, Payload::default(), 0);
        if matches!(reply, Reply::Request | Reply::Response) {
            self.greeting = Some(Greeting { number: self.own.greatest(), at: now, heard: self.peer.greatest });
        }
        packet
    }

    /// Data, or an acknowledgement, if either is due.
    fn poll_packet(&mut self, now: Instant) -> Option<Packet> {
        if !self.carries_data() {
            return None;
        }
        let mut options = OptionList::new();
        let mut acknowledge = core::mem::take(&mut self.acknowledge);
        if let Some((report, state)) = self.receiver.poll_report(now) {
            self.write_report(&mut options, &report, state, now);
            acknowledge = true;
        }
        // In PARTOPEN everything acknowledges the Response (section 8.1.5).
        let part_open = self.state == State::PartOpen;
        let due = self.departure().is_some_and(|at| at <= now) || self.probe;
        let unit = if due && self.sends_data() { self.queue.pop_front() } else { None };
        if unit.is_none() && !acknowledge {
            return None;
        }
        acknowledge |= part_open;
        if acknowledge && (part_open || self.features.unsent) {
            self.features.write_confirms(&mut options);
            self.features.write_changes(&mut options);
        }
        let acknowledgement = number(self.peer.greatest);
        let Some((payload, offered)) = unit else {
            return Some(self.emit(Body::Ack { acknowledgement }, &mut options, Payload::default(), 0));
        };
        if self.sender.stamps() {
            // The clock wraps by intent: only differences mean something (section 13.1).
            options.push(&OptionRepr::Timestamp((now.as_nanos() / TIME_UNIT) as u32));
        }
        let rtt = self.sender.tfrc().rtt();
        let counter = self.counter.stamp(rtt, now);
        let body = if acknowledge { Body::DataAck { acknowledgement } } else { Body::Data };
        let packet = self.emit(body, &mut options, payload, counter);
        self.probe = false;
        self.sent.push(Departure { number: self.own.greatest(), at: now, counter });
        self.sender.on_sent(payload.len, offered, !self.queue.is_empty(), now);
        self.statistics.data_packets_sent += 1;
        self.statistics.bytes_sent += u64::from(payload.len);
        self.events.writable |= core::mem::take(&mut self.blocked);
        if self.closing {
            self.finish(now);
        }
        Some(packet)
    }

    /// The options of feedback (RFC 4342, section 6).
    fn write_report(
        &mut self,
        options: &mut OptionList,
        report: &tfrc::Report,
        state: Option<NetworkState>,
        now: Instant,
    ) {
        self.statistics.feedback_sent += 1;
        let since = |at: Instant| u32::try_from(now.saturating_since(at).as_nanos() / TIME_UNIT).unwrap_or(u32::MAX);
        options.push(&OptionRepr::ElapsedTime(since(self.arrived)));
        if let Some((timestamp, at)) = self.timestamp.take() {
            let elapsed = Some(since(at));
            options.push(&OptionRepr::TimestampEcho(TimestampEcho { timestamp, elapsed }));
        }
        // A float becomes the nearest number there is.
        options.push(&OptionRepr::ReceiveRate(libm::round(report.receive_rate) as u32));
        if self.features.sends_loss_event_rate {
            // Rounded up; the greatest number is that of no loss (RFC 4342, section 8.5).
            let inverse = libm::ceil(1.0 / report.loss_event_rate) as u32;
            options.push(&OptionRepr::LossEventRate(inverse));
        } else {
            let (skip, intervals) = self.receiver.intervals();
            let field = |number: u64, bits: u32| u32::try_from(number).unwrap_or(u32::MAX).min((1 << bits) - 1);
            let intervals = intervals.iter().take(MAX_INTERVALS).map(|one| dccp::LossInterval {
                lossless: field(one.lossless, 24),
                nonce_echo: false,
                lossy: field(one.lossy, 23),
                data: field(one.lossy + one.lossless, 24),
            });
            options.push_loss_intervals(u8::try_from(skip).unwrap_or(u8::MAX), intervals);
        }
        if let Some(state) = state {
            options.push(&OptionRepr::NetworkState(state));
        }
    }

    /// A packet with the next number.
    fn emit(&mut self, body: Body, options: &mut OptionList, payload: Payload, ccval: u8) -> Packet {
        let is_data = matches!(body, Body::Data | Body::DataAck { .. });
        if self.features.sends_ndp_count && self.silent > 0 {
            options.push(&OptionRepr::NdpCount(self.silent.min(MAX_NDP_COUNT)));
        }
        self.silent = if is_data { 0 } else { self.silent + 1 };
        let repr = dccp::Repr {
            source_port: self.config.local_port,
            destination_port: self.config.remote_port,
            ccval,
            checksum_coverage: 0,
            extended: true,
            sequence: number(self.own.next()),
            body,
            options: options.as_options(),
            payload_len: 0,
        };
        self.statistics.packets_sent += 1;
        Packet { header: octets(&repr), payload }
    }
}

/// The header's octets.
fn octets(repr: &dccp::Repr) -> Arc<[u8]> {
    // The fixed part of a header is at most 28 octets, an option list 192.
    let mut buffer = [0; 28 + 192];
    let len = repr.buffer_len();
    repr.emit(&mut dccp::Packet::new_unchecked(&mut buffer[..len]));
    Arc::from(&buffer[..len])
}

/// The Reset that answers a packet for which there is no connection; none for a Reset, nor for what is no packet (RFC 4340,
/// section 8.3.1).
pub fn reset_for(packet: &Packet) -> Option<Packet> {
    let view = dccp::Packet::new_checked(&packet.header[..]).ok()?;
    (view.packet_type() != PacketType::Reset).then(|| reset_of(&view))
}

/// The same for any packet.
fn reset_of(view: &dccp::Packet<&[u8]>) -> Packet {
    let repr = dccp::Repr {
        source_port: view.destination_port(),
        destination_port: view.source_port(),
        ccval: 0,
        checksum_coverage: 0,
        extended: true,
        // One more than the peer has acknowledged, so that it lies in the peer's window.
        sequence: view.acknowledgement().map_or(0, |acknowledged| acknowledged + 1),
        body: Body::Reset { acknowledgement: view.sequence(), code: ResetCode::NoConnection, data: [0; 3] },
        options: Options::NONE,
        payload_len: 0,
    };
    Packet { header: octets(&repr), payload: Payload::default() }
}
