//! One end of a connection: the states of RFC 9293, section 3.3.2, and what each makes of a segment (section 3.10.7).

use core::fmt;

use super::congestion::{CongestionControl, Reno};
use super::receiver::{PendingAck, Receiver};
use super::segment::Sequence;
use super::sender::{Chunk, Expired, Sender};
use super::timestamps::{self, PeerClock};
use super::{Config, Flags, LossRecovery, Options, SackBlock, Segment, Timestamps};
use crate::time::{Duration, Instant};

/// MSS of a peer that does not state one (RFC 9293, section 3.7.1, for IPv4).
const DEFAULT_MSS: u32 = 536;
/// Answers to segments that prove nothing: at most so many in each interval (RFC 5961, section 7).
const CHALLENGES: u32 = 10;
const CHALLENGE_INTERVAL: Duration = Duration::from_secs(5);
/// Largest shift that is honoured (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

/// One end of a TCP connection. See the [module](super) for what it implements.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    /// It began with [`listen`](Self::listen): a reset in SYN-RECEIVED leads back to LISTEN.
    passive: bool,
    own: Sequence,
    peer: Sequence,
    sender: Sender,
    receiver: Receiver,
    /// Shift of the peer's window field, once both sides have agreed to scale.
    peer_shift: Option<u8>,
    /// What is remembered of the peer's clock, once both sides have agreed to send timestamps.
    clock: Option<PeerClock>,
    /// SND.WL1 and SND.WL2: what the last window update came with.
    window_from: (i64, u64),
    /// The window in bytes that the last segment of the peer offered.
    offered: u64,
    /// The user has asked for the end.
    closing: bool,
    time_wait: Option<Instant>,
    /// A segment that belongs to no queue: a reset.
    reply: Option<Segment>,
    events: Events,
    /// The user was refused room in the send buffer.
    blocked: bool,
    challenges: (Instant, u32),
    statistics: Statistics,
}

/// Events not yet taken out.
#[derive(Clone, Copy, Debug, Default)]
struct Events {
    connected: bool,
    readable: bool,
    writable: bool,
    closed: Option<CloseReason>,
}

/// The states of RFC 9293, section 3.3.2, in its order. They print as the RFC spells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Waiting for a connection request.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was sent and received, and the own one is not acknowledged.
    SynReceived,
    /// Open.
    Established,
    /// The user closed first; the own FIN is not acknowledged.
    FinWait1,
    /// The own FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer closed first; the user may still send.
    CloseWait,
    /// Both closed at once; the own FIN is not acknowledged.
    Closing,
    /// The peer closed, then the user; the own FIN is not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; waiting for the last segments to die out.
    TimeWait,
    /// No connection.
    Closed,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
            Self::Closed => "CLOSED",
        })
    }
}

/// What a connection wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this segment to the peer.
    Transmit(Segment),
    /// The handshake is done.
    Connected,
    /// More can be read than before, or the peer has closed ([`Connection::is_finished`]).
    Readable,
    /// After [`Connection::handle_write`] took less than it was given: there is room again.
    Writable,
    /// The connection is gone; nothing follows.
    Closed(CloseReason),
}

/// Why a connection is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The user gave it up: [`Connection::handle_abort`], or a close before the handshake.
    Aborted,
    /// Both sides closed it. The last acknowledgement may be missing if the peer has left TIME-WAIT (a reset counts for it
    /// then, RFC 9293, section 3.10.7.4).
    Finished,
    /// The peer refused it.
    Refused,
    /// The peer reset it.
    Reset,
    /// The peer did not answer for [`Config::user_timeout`].
    TimedOut,
}

/// Counters since the start of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Those that carried payload, retransmissions included.
    pub data_segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments with payload, SYN or FIN some of which had been sent before.
    pub segments_retransmitted: u64,
    /// Payload bytes of them.
    pub bytes_retransmitted: u64,
    /// Segments that carried only an acknowledgement.
    pub acks_sent: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Losses found by duplicate acknowledgements or SACK: entries into fast recovery.
    pub fast_retransmits: u64,
    /// Segments sent on standby, to find out whether there is a route again (ELFN).
    pub link_probes: u64,
    /// Probes of a closed window, and overrides of one that stayed too small.
    pub window_probes: u64,
    /// Payload bytes that the peer acknowledged.
    pub bytes_acknowledged: u64,
    /// Segments received, of every kind, rejected ones included.
    pub segments_received: u64,
    /// Those that carried payload.
    pub data_segments_received: u64,
    /// Payload bytes that became readable, once each.
    pub bytes_received: u64,
    /// Duplicate acknowledgements received (RFC 5681, section 2; with SACK, RFC 6675, section 2).
    pub duplicate_acks: u64,
    /// Segments received ahead of a gap.
    pub out_of_order: u64,
    /// Those among them that were not kept, since [`MAX_RANGES`](super::MAX_RANGES) were.
    pub out_of_order_dropped: u64,
    /// Segments with text received that brought nothing new.
    pub duplicate_segments: u64,
    /// Segments outside of the window, with an old timestamp or none, or acknowledging what was never sent, or what was
    /// acknowledged more than a window ago.
    pub unacceptable: u64,
}

/// Life cycle, and the four families of the contract.
impl Connection {
    /// An active open: the SYN comes out of [`poll_output`](Self::poll_output).
    pub fn connect(config: Config, initial_sequence: u32) -> Self {
        let congestion = config.variant.congestion_control();
        Self::connect_with(config, initial_sequence, congestion)
    }

    /// A passive open.
    pub fn listen(config: Config, initial_sequence: u32) -> Self {
        let congestion = config.variant.congestion_control();
        Self::listen_with(config, initial_sequence, congestion)
    }

    /// An active open with a law of the congestion window of one's own. Of [`Config::variant`], loss recovery counts.
    pub fn connect_with(config: Config, initial_sequence: u32, congestion: Box<dyn CongestionControl>) -> Self {
        Self::new(config, initial_sequence, State::SynSent, congestion)
    }

    /// A passive open with a law of the congestion window of one's own. Of [`Config::variant`], loss recovery counts.
    pub fn listen_with(config: Config, initial_sequence: u32, congestion: Box<dyn CongestionControl>) -> Self {
        Self::new(config, initial_sequence, State::Listen, congestion)
    }

    fn new(config: Config, initial_sequence: u32, state: State, congestion: Box<dyn CongestionControl>) -> Self {
        let config = config.clamped();
        Self {
            state,
            passive: state == State::Listen,
            own: Sequence::new(initial_sequence),
            peer: Sequence::new(0),
            sender: Sender::new(&config, congestion),
            receiver: Receiver::new(&config),
            peer_shift: None,
            clock: None,
            window_from: (0, 0),
            offered: 0,
            closing: false,
            time_wait: None,
            reply: None,
            events: Events::default(),
            blocked: false,
            challenges: (Instant::START, 0),
            statistics: Statistics::default(),
            config,
        }
    }

    /// A segment of the peer has arrived. Any segment at all may be given.
    pub fn handle_segment(&mut self, segment: &Segment, now: Instant) {
        self.statistics.segments_received += 1;
        self.statistics.data_segments_received += u64::from(segment.payload_len > 0);
        match self.state {
            State::Closed => self.reply = reset_for(segment),
            State::Listen => self.handle_in_listen(segment, now),
            State::SynSent => self.handle_in_syn_sent(segment, now),
            _ => self.handle_synchronized(segment, now),
        }
    }

    /// Time has come to `now`: does what is due, which is nothing before [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        if self.time_wait.is_some_and(|due| due <= now) {
            self.close(CloseReason::Finished);
            return;
        }
        self.receiver.handle_timeout(now);
        match self.sender.handle_timeout(now) {
            Expired::None => {}
            Expired::Retransmission => self.statistics.timeouts += 1,
            Expired::Probe(chunk) => {
                self.statistics.window_probes += 1;
                self.reply = Some(self.segment_of(chunk, now));
            }
            Expired::LinkProbe => self.statistics.link_probes += 1,
            Expired::GiveUp => {
                // RFC 9293, section 3.8.3: the connection is closed; the peer, if it lives, learns it.
                self.reply = self.is_synchronized().then(|| self.reset(now));
                self.close(CloseReason::TimedOut);
            }
        }
    }

    /// The routing layer says that the route to the peer broke (ELFN, [`Config::elfn`]). The sender goes on standby: it sends
    /// nothing but a probe each interval until an acknowledgement comes, and then goes on with timers and window as they
    /// were.
    pub fn handle_link_failure(&mut self, now: Instant) {
        if !matches!(self.state, State::Closed | State::Listen) {
            self.sender.handle_link_failure(now);
        }
    }

    /// The routing layer says that there is a route to the peer again: a connection on standby probes it at once.
    pub fn handle_link_restored(&mut self, now: Instant) {
        self.statistics.link_probes += u64::from(self.sender.handle_link_restored(now));
    }

    /// Something makes the user doubt that the peer still knows of the connection: an acknowledgement, rationed as those of RFC 5961
    /// are, has a peer that does not answer with a reset.
    pub fn handle_doubt(&mut self, now: Instant) {
        if self.is_synchronized() && self.state != State::SynReceived {
            self.challenge(now);
        }
    }

    /// The user writes `len` bytes. Returns how many the send buffer took; if that is less,
    /// [`Output::Writable`] tells when there is room again. Nothing is taken after [`handle_close`](Self::handle_close).
    pub fn handle_write(&mut self, len: u32, _now: Instant) -> u32 {
        if self.closing || self.state == State::Closed {
            return 0;
        }
        let taken = self.sender.write(len);
        self.blocked = taken < len;
        taken
    }

    /// The user takes up to `max` bytes out of the receive buffer, in order. Returns how many.
    pub fn handle_read(&mut self, max: u32, _now: Instant) -> u32 {
        self.receiver.take(max)
    }

    /// The user writes no more: a FIN follows what was written. Reading goes on until the peer closes too.
    pub fn handle_close(&mut self, _now: Instant) {
        if self.closing {
            return;
        }
        self.closing = true;
        self.blocked = false;
        match self.state {
            State::Listen | State::SynSent => self.close(CloseReason::Aborted),
            // RFC 9293, section 3.10.4: in SYN-RECEIVED the request waits until the connection is established.
            State::SynReceived | State::Closed => {}
            _ => self.finish(),
        }
    }

    /// The user gives the connection up (ABORT of RFC 9293, section 3.10.5): the peer is sent a reset.
    pub fn handle_abort(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        let tell =
            !matches!(self.state, State::Listen | State::SynSent | State::Closing | State::LastAck | State::TimeWait);
        self.reply = tell.then(|| self.reset(now));
        self.close(CloseReason::Aborted);
    }

    /// Takes out one thing: what is to be sent, or an event for the user. `None` when nothing is left.
    pub fn poll_output(&mut self, now: Instant) -> Option<Output> {
        if let Some(segment) = self.reply.take() {
            self.statistics.segments_sent += 1;
            return Some(Output::Transmit(segment));
        }
        if core::mem::take(&mut self.events.connected) {
            return Some(Output::Connected);
        }
        if let Some(segment) = self.poll_segment(now) {
            self.statistics.segments_sent += 1;
            return Some(Output::Transmit(segment));
        }
        if core::mem::take(&mut self.events.readable) {
            return Some(Output::Readable);
        }
        if core::mem::take(&mut self.events.writable) {
            return Some(Output::Writable);
        }
        self.events.closed.take().map(Output::Closed)
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.state == State::Closed {
            return None;
        }
        [self.sender.deadline(), self.receiver.deadline(), self.time_wait].into_iter().flatten().min()
    }
}

/// What an observer may ask.
impl Connection {
    /// The configuration that it was made with, each value in its range.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Bytes that the send buffer has taken since the start.
    pub fn bytes_written(&self) -> u64 {
        self.sender.bytes_written()
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The congestion window in bytes, what fast recovery adds included.
    pub fn congestion_window(&self) -> u32 {
        self.sender.congestion_window()
    }

    /// The slow start threshold in bytes, [`u32::MAX`] before the first loss.
    pub fn slow_start_threshold(&self) -> u32 {
        self.sender.congestion.slow_start_threshold()
    }

    /// The smoothed round-trip time, once measured.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.sender.rtt.smoothed()
    }

    /// The retransmission timeout in force, backoff included.
    pub fn retransmission_timeout(&self) -> Duration {
        self.sender.rtt.rto()
    }

    /// Whether the sender is in fast recovery.
    pub fn is_recovering(&self) -> bool {
        self.sender.is_recovering()
    }

    /// Whether the sender is on standby after a notice of link failure.
    pub fn is_on_standby(&self) -> bool {
        self.sender.is_on_standby()
    }

    /// Sequence space sent and not yet acknowledged, in bytes (SYN and FIN count one). What was outstanding at a
    /// timeout is taken for lost and no longer counts until it is sent again. With SACK, what has arrived does not count
    /// either, and in recovery it is the pipe of RFC 6675.
    pub fn bytes_in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// SMSS in force in bytes: of the configuration, or less if the peer takes less, without the room for timestamps.
    pub fn segment(&self) -> u32 {
        self.sender.segment()
    }

    /// The window that the peer offers in bytes.
    pub fn peer_window(&self) -> u64 {
        self.offered
    }

    /// Free room in the send buffer in bytes.
    pub fn send_space(&self) -> u32 {
        self.sender.space()
    }

    /// Bytes that [`handle_read`](Self::handle_read) could take.
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }

    /// Whether the peer has closed, so that nothing follows what is [readable](Self::readable) now.
    pub fn is_finished(&self) -> bool {
        self.receiver.is_finished()
    }

    /// How much of the peer's stream was sent, in bytes, once the peer has sent `segment`; `None` if that is nothing that this
    /// connection would take now, and what lies beyond the window left out.
    pub fn stream_end(&self, segment: &Segment) -> Option<u64> {
        if !self.is_synchronized() || segment.flags.contains(Flags::SYN) {
            return None;
        }
        let start = self.peer.position(segment.seq, self.receiver.next());
        let end = self.receiver.text_end(start, segment.payload_len.into())?;
        // Position 0 is the SYN.
        Some(end - 1)
    }

    /// What was counted so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn is_synchronized(&self) -> bool {
        !matches!(self.state, State::Listen | State::SynSent | State::Closed)
    }
}

/// Arrival of a segment (RFC 9293, section 3.10.7).
impl Connection {
    /// Section 3.10.7.2.
    fn handle_in_listen(&mut self, segment: &Segment, now: Instant) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.reply = reset_for(segment);
        } else if segment.flags.contains(Flags::SYN) {
            self.take_syn(segment, now);
            self.state = State::SynReceived;
        }
    }

    /// Section 3.10.7.3.
    fn handle_in_syn_sent(&mut self, segment: &Segment, now: Instant) {
        let ack = segment.flags.contains(Flags::ACK);
        // The only acceptable number acknowledges the SYN, once it was sent; no data goes with it.
        let acceptable = self.sender.sent() == 1 && segment.ack == self.own.number(1);
        if ack && !acceptable {
            self.statistics.unacceptable += 1;
            self.reply = reset_for(segment);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if ack {
                self.close(CloseReason::Refused);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.take_syn(segment, now);
        if ack {
            let echoed = self.echoed(segment, now);
            self.sender.on_ack(1, false, echoed, core::iter::empty(), now);
            self.establish();
            self.receiver.pending = PendingAck::Now;
        } else {
            // Simultaneous open: the SYN goes out again, now with an ACK.
            self.state = State::SynReceived;
            self.sender.repeat_syn();
        }
    }

    /// Section 3.10.7.4, in the order of its steps, but for RST, which RFC 5961 judges by its number alone.
    fn handle_synchronized(&mut self, segment: &Segment, now: Instant) {
        let start = self.peer.position(segment.seq, self.receiver.next());
        let len = segment.sequence_len();
        let rst = segment.flags.contains(Flags::RST);
        let syn = segment.flags.contains(Flags::SYN);
        // RST, with the exact match of RFC 5961, section 3.2; elsewhere in the window it draws a challenge.
        if rst {
            if start == self.receiver.next() as i64 {
                self.handle_reset();
            } else {
                self.statistics.unacceptable += 1;
                if self.receiver.is_acceptable(start, 1) {
                    self.challenge(now);
                }
            }
            return;
        }
        if !self.is_in_time(segment, len, now) {
            return;
        }
        // Before that is looked at (RFC 7323, appendix D): what is repeated is acknowledged with the timestamp of the repetition.
        if let (Some(clock), Some(Timestamps { value, .. })) = (&mut self.clock, segment.options.timestamps())
            && self.receiver.may_have_been_sent(start)
        {
            clock.update(value, start, self.receiver.acknowledged(), now);
        }
        // First, the sequence number.
        if !self.receiver.is_acceptable(start, len) {
            self.statistics.unacceptable += 1;
            if len == 0 {
                self.challenge(now);
                return;
            }
            self.receiver.pending = PendingAck::Alone;
            if segment.flags.contains(Flags::FIN) && self.state == State::TimeWait {
                self.time_wait = Some(now + self.config.time_wait);
            }
            // A probe into the closed window may carry a valid acknowledgement.
            if start == self.receiver.next() as i64 && !syn {
                self.handle_ack(segment, start, now);
            }
            return;
        }
        // Fourth, SYN (RFC 5961, section 4.2).
        if syn {
            if self.state == State::SynReceived && self.passive {
                self.relisten();
            } else {
                self.challenge(now);
            }
            return;
        }
        // Fifth, ACK.
        if !self.handle_ack(segment, start, now) {
            return;
        }
        // Seventh and eighth, text and FIN.
        let fin = segment.flags.contains(Flags::FIN);
        if segment.payload_len == 0 && !fin {
            return;
        }
        match self.state {
            State::Established | State::FinWait1 | State::FinWait2 => self.handle_text(segment, start, fin, now),
            // The peer has sent its FIN: there is no text beyond it.
            _ => {
                self.statistics.duplicate_segments += 1;
                self.receiver.pending = PendingAck::Alone;
                if fin && self.state == State::TimeWait {
                    self.time_wait = Some(now + self.config.time_wait);
                }
            }
        }
    }

    /// The ACK field. `false` if the segment is to be dropped.
    fn handle_ack(&mut self, segment: &Segment, start: i64, now: Instant) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let una = self.sender.una();
        let ack = self.own.position(segment.ack, una);
        if self.state == State::SynReceived {
            if ack != 1 {
                self.statistics.unacceptable += 1;
                self.reply = reset_for(segment);
                return false;
            }
        } else if !self.sender.may_be_acknowledged(ack) {
            self.statistics.unacceptable += 1;
            self.challenge(now);
            return false;
        }
        if ack < una as i64 {
            return true;
        }
        let ack = ack as u64;
        let window = u64::from(segment.window) << self.peer_shift.unwrap_or(0);
        let same_window = window == self.offered;
        // Newer than the last by WL1 and WL2, or by what it acknowledges: a retransmission of the peer has an old number
        // and a new window.
        if ack > una || (start, ack) >= self.window_from {
            self.window_from = (start.max(self.window_from.0), ack);
            self.offered = window;
            self.sender.set_window(window);
        }
        let bare = segment.sequence_len() == 0 && same_window;
        let own = self.own;
        let blocks = segment.options.sack_blocks().map(|SackBlock { left, right }| {
            // What lies before the SYN is as good as the SYN: it was acknowledged long ago.
            let position = |number| own.position(number, ack).max(0) as u64;
            (position(left), position(right))
        });
        let acked = self.sender.on_ack(ack, bare, self.echoed(segment, now), blocks, now);
        self.statistics.duplicate_acks += u64::from(acked.is_duplicate);
        self.statistics.fast_retransmits += u64::from(acked.is_loss);
        if acked.is_new {
            self.on_acked(una, ack, now);
        }
        true
    }

    /// The round trip that a segment's timestamp tells.
    fn echoed(&self, segment: &Segment, now: Instant) -> Option<Duration> {
        self.clock.and(segment.options.timestamps()).and_then(|stamps| timestamps::round_trip(stamps.echo, now))
    }

    /// Whether a segment that occupies `len` has a timestamp that is not old, if timestamps are in use (RFC 7323, sections
    /// 3.2 and 5.3).
    fn is_in_time(&mut self, segment: &Segment, len: u64, now: Instant) -> bool {
        let Some(clock) = self.clock else { return true };
        let old = segment.options.timestamps().map(|stamps| clock.is_old(stamps.value, now));
        if old == Some(false) {
            return true;
        }
        self.statistics.unacceptable += 1;
        match (old, len) {
            (None, _) => {}
            (Some(_), 0) => self.challenge(now),
            (Some(_), _) => self.receiver.pending = PendingAck::Alone,
        }
        false
    }

    /// New positions were acknowledged: moves the state, and tells a user who waits for room.
    fn on_acked(&mut self, before: u64, ack: u64, now: Instant) {
        if self.state == State::SynReceived {
            self.establish();
        }
        let fin_acked = self.sender.is_finished();
        // Neither SYN nor FIN is payload.
        self.statistics.bytes_acknowledged += ack - before - u64::from(before == 0) - u64::from(fin_acked);
        if self.blocked && self.sender.space() > 0 {
            self.blocked = false;
            self.events.writable = true;
        }
        if fin_acked {
            match self.state {
                State::FinWait1 => self.state = State::FinWait2,
                State::Closing => self.enter_time_wait(now),
                State::LastAck => self.close(CloseReason::Finished),
                _ => {}
            }
        }
    }

    fn handle_text(&mut self, segment: &Segment, start: i64, fin: bool, now: Instant) {
        let received = self.receiver.on_text(start, segment.payload_len.into(), fin, now);
        self.statistics.bytes_received += received.readable;
        self.statistics.out_of_order += u64::from(received.out_of_order);
        self.statistics.out_of_order_dropped += u64::from(received.dropped);
        self.statistics.duplicate_segments += u64::from(received.duplicate);
        self.events.readable |= received.readable > 0 || received.finished;
        if received.finished {
            match self.state {
                State::Established => self.state = State::CloseWait,
                // The own FIN is not acknowledged, or the state would be FIN-WAIT-2.
                State::FinWait1 => self.state = State::Closing,
                State::FinWait2 => self.enter_time_wait(now),
                _ => {}
            }
        }
    }

    fn handle_reset(&mut self) {
        match self.state {
            State::SynReceived if self.passive => self.relisten(),
            State::SynReceived => self.close(CloseReason::Refused),
            State::Closing | State::LastAck | State::TimeWait => self.close(CloseReason::Finished),
            _ => self.close(CloseReason::Reset),
        }
    }

    /// The peer's SYN: its numbers, its options, its window, which is never scaled here.
    fn take_syn(&mut self, segment: &Segment, now: Instant) {
        let options = &segment.options;
        self.peer = Sequence::new(segment.seq);
        self.peer_shift = options.window_scale().map(|shift| shift.min(MAX_SHIFT));
        let stamps = options.timestamps().filter(|_| self.config.timestamps);
        self.clock = stamps.map(|stamps| PeerClock::new(stamps.value, now));
        let sack = self.wants_sack() && options.is_sack_permitted();
        self.receiver.on_syn(self.peer_shift.is_some(), sack);
        self.sender.settle_sack(sack);
        if stamps.is_some() {
            self.sender.rtt.set_granularity(timestamps::TICK);
        }
        self.sender.limit_segment(options.mss().map_or(DEFAULT_MSS, u32::from), Options::new(stamps).octets());
        self.offered = u64::from(segment.window);
        self.window_from = (0, 0);
        self.sender.set_window(self.offered);
    }

    fn establish(&mut self) {
        self.state = State::Established;
        self.sender.on_established();
        self.events.connected = true;
        if self.closing {
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.sender.finish();
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    fn enter_time_wait(&mut self, now: Instant) {
        self.state = State::TimeWait;
        self.time_wait = Some(now + self.config.time_wait);
    }

    fn close(&mut self, reason: CloseReason) {
        self.state = State::Closed;
        self.time_wait = None;
        self.events.closed = Some(reason);
    }

    /// Back to LISTEN, after a connection that came to nothing. Its congestion control has not heard of anything yet, nor has the
    /// user (RFC 9293, section 3.10.7.4): what was written is for the next one, and a close that waited for this one takes place.
    fn relisten(&mut self) {
        if self.closing {
            self.close(CloseReason::Aborted);
            return;
        }
        let written = self.config.send_buffer - self.sender.space();
        let congestion = core::mem::replace(&mut self.sender.congestion, Box::new(Reno::new()));
        let fresh = Self::listen_with(self.config.clone(), self.own.number(0), congestion);
        *self = Self { blocked: self.blocked, statistics: self.statistics, ..fresh };
        self.sender.write(written);
    }

    fn wants_sack(&self) -> bool {
        self.config.variant.loss_recovery() == LossRecovery::Sack
    }

    /// An acknowledgement that lets an honest peer sort itself out, rationed (RFC 5961, sections 3 to 5 and 7).
    fn challenge(&mut self, now: Instant) {
        let (since, count) = &mut self.challenges;
        if now.saturating_since(*since) >= CHALLENGE_INTERVAL || *count == 0 {
            (*since, *count) = (now, 0);
        }
        if *count < CHALLENGES {
            *count += 1;
            self.receiver.pending = PendingAck::Alone;
        }
    }
}

/// Departure of a segment.
impl Connection {
    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        if matches!(self.state, State::Closed | State::Listen) {
            return None;
        }
        let alone = match self.receiver.pending {
            PendingAck::Alone | PendingAck::Duplicate => true,
            // A full segment has no room for blocks.
            PendingAck::Now => self.receiver.has_blocks(),
            PendingAck::None | PendingAck::Delayed(_) => false,
        };
        if alone {
            return Some(self.acknowledgement(now));
        }
        if let Some(chunk) = self.sender.poll(now) {
            return Some(self.segment_of(chunk, now));
        }
        (self.receiver.pending == PendingAck::Now).then(|| self.acknowledgement(now))
    }

    fn acknowledgement(&mut self, now: Instant) -> Segment {
        self.statistics.acks_sent += 1;
        let (ack, window) = self.receiver.acknowledge(false);
        Segment {
            seq: self.own.number(self.sender.bare_position()),
            ack: self.peer.number(ack),
            flags: Flags::ACK,
            window,
            options: self.with_blocks(Options::new(self.stamps(now)), usize::MAX),
            ..Segment::default()
        }
    }

    fn segment_of(&mut self, chunk: Chunk, now: Instant) -> Segment {
        let statistics = &mut self.statistics;
        let len = u64::from(chunk.len);
        statistics.data_segments_sent += u64::from(chunk.len > 0);
        statistics.bytes_sent += len;
        statistics.segments_retransmitted += u64::from(chunk.again);
        statistics.bytes_retransmitted += if chunk.again { len } else { 0 };
        let mut flags = Flags::default();
        for (set, flag) in [(chunk.syn, Flags::SYN), (chunk.fin, Flags::FIN), (chunk.push, Flags::PSH)] {
            if set {
                flags = flags | flag;
            }
        }
        let (ack, window) = self.receiver.acknowledge(chunk.syn);
        let synchronized = self.state != State::SynSent;
        if synchronized {
            flags = flags | Flags::ACK;
        }
        let mut options = Options::new(self.stamps(now));
        if chunk.syn {
            // `Config::clamped` keeps the segment within 16 bits.
            options = options.with_mss(self.config.segment as u16);
            // An answer offers what was offered.
            if !synchronized || self.peer_shift.is_some() {
                options = options.with_window_scale(self.receiver.wanted_shift());
            }
            let sack = if synchronized { self.receiver.uses_sack() } else { self.wants_sack() };
            if sack {
                options = options.with_sack_permitted();
            }
        } else {
            // The option's head and padding take 4 bytes, a block 8 (RFC 2018, section 3).
            let room = self.sender.segment().saturating_sub(chunk.len).saturating_sub(4) / 8;
            options = self.with_blocks(options, room as usize);
        }
        Segment {
            seq: self.own.number(chunk.position),
            ack: if synchronized { self.peer.number(ack) } else { 0 },
            flags,
            window,
            options,
            payload_offset: chunk.position.saturating_sub(1),
            // No chunk is longer than a segment.
            payload_len: chunk.len as u16,
        }
    }

    /// Timestamps to send: offered by the first SYN, or agreed upon.
    fn stamps(&self, now: Instant) -> Option<Timestamps> {
        match self.clock {
            Some(clock) => Some(clock.stamp(now)),
            None => (self.state == State::SynSent && self.config.timestamps).then(|| timestamps::first_stamp(now)),
        }
    }

    /// The same with up to `room` SACK blocks.
    fn with_blocks(&self, options: Options, room: usize) -> Options {
        let number = |position| self.peer.number(position);
        self.receiver.blocks().take(room).fold(options, |options, (start, end)| {
            options.with_block(SackBlock { left: number(start), right: number(end) })
        })
    }

    fn reset(&self, now: Instant) -> Segment {
        Segment {
            seq: self.own.number(self.sender.bare_position()),
            ack: self.peer.number(self.receiver.next()),
            flags: Flags::RST | Flags::ACK,
            options: Options::new(self.stamps(now)),
            ..Segment::default()
        }
    }
}

/// The reset that answers a segment for which there is no connection; none for a reset (RFC 9293, section 3.10.7.1).
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    let reset = if segment.flags.contains(Flags::ACK) {
        Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
    } else {
        // SEG.LEN wraps with the sequence space.
        let ack = segment.seq.wrapping_add(segment.sequence_len() as u32);
        Segment { ack, flags: Flags::RST | Flags::ACK, ..Segment::default() }
    };
    Some(reset)
}
