//! One end of a connection: the states of RFC 9293, section 3.3.2, and what each makes of a segment (section 3.10.7).

mod arrival;
mod departure;
mod transitions;

use core::fmt;

pub use self::departure::reset_for;
use super::congestion::CongestionControl;
use super::ecn::{Feedback, Notification};
use super::receiver::Receiver;
use super::segment::Sequence;
use super::sender::{Expired, Sender};
use super::timestamps::PeerClock;
use super::{Config, Flags, Segment};
use crate::contract::Drained;
use crate::time::{Duration, Instant};
use hopcast_wire::ecn::Ecn;

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
    ecn: Notification,
    events: Events,
    /// The user was refused room in the send buffer.
    blocked: bool,
    challenges: (Instant, u32),
    statistics: Statistics,
    drained: Drained,
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
#[non_exhaustive]
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
    /// Reductions of the window because of an echo of ECN.
    pub ecn_reductions: u64,
    /// Segments with payload received in packets that a queue had marked.
    pub marked_segments: u64,
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

    /// An active open with a congestion control of your own. Of [`Config::variant`], loss recovery counts.
    pub fn connect_with(config: Config, initial_sequence: u32, congestion: Box<dyn CongestionControl>) -> Self {
        Self::new(config, initial_sequence, State::SynSent, congestion)
    }

    /// A passive open with a congestion control of your own. Of [`Config::variant`], loss recovery counts.
    pub fn listen_with(config: Config, initial_sequence: u32, congestion: Box<dyn CongestionControl>) -> Self {
        Self::new(config, initial_sequence, State::Listen, congestion)
    }

    fn new(config: Config, initial_sequence: u32, state: State, congestion: Box<dyn CongestionControl>) -> Self {
        let config = config.clamped();
        let feedback = match (congestion.is_scalable(), config.ecn) {
            (true, _) => Feedback::Accurate,
            (false, true) => Feedback::Classic,
            (false, false) => Feedback::None,
        };
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
            ecn: Notification::new(feedback),
            events: Events::default(),
            blocked: false,
            challenges: (Instant::START, 0),
            statistics: Statistics::default(),
            drained: Drained::default(),
            config,
        }
    }

    /// A segment of the peer has arrived in a packet without ECN. Any segment at all may be given.
    #[track_caller]
    pub fn handle_segment(&mut self, segment: &Segment, now: Instant) {
        self.handle_segment_with(segment, Ecn::NotEct, now);
    }

    /// A segment of the peer has arrived in a packet with this ECN field. Any segment at all may be given.
    #[track_caller]
    pub fn handle_segment_with(&mut self, segment: &Segment, ecn: Ecn, now: Instant) {
        self.drained.on_input();
        self.statistics.segments_received += 1;
        self.statistics.data_segments_received += u64::from(segment.payload_len > 0);
        match self.state {
            State::Closed => self.reply = reset_for(segment),
            State::Listen => self.handle_in_listen(segment, ecn, now),
            State::SynSent => self.handle_in_syn_sent(segment, ecn, now),
            _ => self.handle_synchronized(segment, ecn, now),
        }
    }

    /// Time has come to `now`: does what is due, which is nothing before [`poll_timeout`](Self::poll_timeout).
    #[track_caller]
    pub fn handle_timeout(&mut self, now: Instant) {
        self.drained.on_input();
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
            Expired::Retransmission => {
                self.statistics.timeouts += 1;
                self.ecn.on_loss(self.sender.sent());
            }
            Expired::Probe(chunk) => {
                self.statistics.window_probes += 1;
                self.reply = Some(self.segment_of(chunk, false, now));
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
    #[must_use = "an output that is not carried out is lost"]
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
        if let Some(reason) = self.events.closed.take() {
            return Some(Output::Closed(reason));
        }
        self.drained.on_drained();
        None
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

    /// The ECN field of the IP packet for the segment that [`poll_output`](Self::poll_output) returned last.
    pub fn ecn(&self) -> Ecn {
        self.ecn.field()
    }

    /// Whether both sides have agreed to use ECN.
    pub fn uses_ecn(&self) -> bool {
        self.ecn.is_agreed()
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

    /// Sequence space sent and not yet acknowledged, in bytes (SYN and FIN count one). Data outstanding at a timeout
    /// counts as lost and no longer counts until it is sent again. With SACK, what has arrived does not count either, and
    /// in recovery it is the pipe of RFC 6675.
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
