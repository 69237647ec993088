//! The sending half: what may be sent when, retransmission, and window probes.

use super::Config;
use super::congestion::{Ack, CongestionControl};
use super::recovery::{Duplicate, Progress, Recovery, saturate};
use super::rtt::RttEstimator;
use crate::time::{Duration, Instant};

/// How long a partial segment that the silly window rule holds back may wait (RFC 9293, section 3.8.6.2.1: 0.1–1.0 s).
const OVERRIDE_TIMEOUT: Duration = Duration::from_millis(200);

/// Send variables of RFC 9293, section 3.3.1, in positions of the own sequence space: 0 is the SYN, data begin at 1.
#[derive(Debug)]
pub(super) struct Sender {
    segment: u32,
    buffer: u32,
    /// Cap on the amount in flight in segments.
    cap: Option<u32>,
    initial_window: Option<u32>,
    nagle: bool,
    user_timeout: Option<Duration>,
    /// The handshake is done: data may go.
    open: bool,
    /// SND.UNA.
    una: u64,
    /// The next position to send. After a timeout it goes back to `una`.
    next: u64,
    /// SND.NXT: the end of all that was ever sent.
    sent: u64,
    /// The end of what the user wrote.
    written: u64,
    /// A FIN follows what was written.
    fin: bool,
    /// SND.WND in bytes.
    window: u64,
    /// The largest window the peer has offered (Max(SND.WND)).
    largest_window: u64,
    /// The first unacknowledged segment is to be sent again.
    retransmit: bool,
    timer: Timer,
    /// The end of the segment that is being timed, and when it left.
    timed: Option<(u64, Instant)>,
    /// When data or SYN last left.
    last_sent: Instant,
    /// When the peer last gave a sign of life while something was outstanding, or the wait for one began.
    last_progress: Instant,
    /// Timeouts since the last new acknowledgement.
    timeouts: u32,
    /// A SYN was sent more than once.
    syn_lost: bool,
    pub(super) rtt: RttEstimator,
    pub(super) congestion: Box<dyn CongestionControl>,
    recovery: Recovery,
}

/// The retransmission and the persist timer exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Idle,
    /// Something is outstanding (RFC 6298, section 5).
    Retransmit(Instant),
    /// Nothing is outstanding, and the window lets nothing be sent (RFC 9293, section 3.8.6.1). The second value is the
    /// interval that led to this instant.
    Persist(Instant, Duration),
}

/// What to put in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Position of the first byte, or of the SYN.
    pub(super) position: u64,
    pub(super) len: u32,
    pub(super) syn: bool,
    pub(super) fin: bool,
    /// It empties the send buffer.
    pub(super) push: bool,
    /// Some of it was sent before.
    pub(super) again: bool,
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acked {
    /// New data was acknowledged.
    New,
    /// A duplicate as RFC 5681, section 2, defines it.
    Duplicate { loss: bool },
    /// Neither.
    Nothing,
}

/// What a timer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    None,
    Retransmission,
    /// A byte is to be sent into a closed or too small window.
    Probe(Chunk),
    /// The user timeout has passed.
    GiveUp,
}

impl Sender {
    pub(super) fn new(config: &Config, congestion: Box<dyn CongestionControl>) -> Self {
        Self {
            segment: config.segment,
            buffer: config.send_buffer,
            cap: config.window,
            initial_window: config.initial_window,
            nagle: config.nagle,
            user_timeout: config.user_timeout,
            open: false,
            una: 0,
            next: 0,
            sent: 0,
            written: 1,
            fin: false,
            window: 0,
            largest_window: 0,
            retransmit: false,
            timer: Timer::Idle,
            timed: None,
            last_sent: Instant::START,
            last_progress: Instant::START,
            timeouts: 0,
            syn_lost: false,
            rtt: RttEstimator::new(config.min_rto),
            congestion,
            recovery: Recovery::default(),
        }
    }

    /// The peer's SYN told the largest segment that it takes.
    pub(super) fn limit_segment(&mut self, mss: u32) {
        self.segment = self.segment.min(mss).max(1);
    }

    /// The own SYN was acknowledged.
    pub(super) fn on_established(&mut self) {
        self.open = true;
        // RFC 5681, section 3.1: one segment after a lost SYN.
        let segments = match (self.syn_lost, self.initial_window) {
            (true, _) => 1,
            (false, Some(segments)) => segments,
            (false, None) => initial_window(self.segment),
        };
        if self.syn_lost {
            self.rtt.on_lost_syn();
        }
        self.congestion.on_established(self.segment, self.segment.saturating_mul(segments));
    }

    /// The SYN is to be sent again at once: a simultaneous open answers with SYN and ACK.
    pub(super) fn repeat_syn(&mut self) {
        self.retransmit = true;
    }

    /// Takes up to `len` bytes into the buffer.
    pub(super) fn write(&mut self, len: u32) -> u32 {
        let taken = len.min(self.space());
        self.written += u64::from(taken);
        taken
    }

    /// A FIN follows what was written.
    pub(super) fn finish(&mut self) {
        self.fin = true;
    }

    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// SND.NXT.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// SMSS.
    pub(super) fn segment(&self) -> u32 {
        self.segment
    }

    /// Whether the FIN was sent and acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.fin && self.una > self.written
    }

    /// Free room in the buffer in bytes.
    pub(super) fn space(&self) -> u32 {
        // The SYN takes no room, and neither does an acknowledged FIN.
        let held = self.written - self.una.clamp(1, self.written);
        self.buffer.saturating_sub(saturate(held))
    }

    /// Positions sent and not acknowledged since the last timeout.
    pub(super) fn in_flight(&self) -> u64 {
        self.next - self.una
    }

    /// Whether fast recovery is under way.
    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_recovering()
    }

    /// The window that a segment brought, in bytes. Who decides whether it is newer is the connection.
    pub(super) fn set_window(&mut self, window: u64) {
        self.window = window;
        self.largest_window = self.largest_window.max(window);
    }

    /// An acknowledgement of everything before `ack`, which is in `una..=sent`. `bare`: it brings neither text, SYN, FIN
    /// nor another window.
    pub(super) fn on_ack(&mut self, ack: u64, bare: bool, now: Instant) -> Acked {
        self.last_progress = now;
        if ack > self.una {
            self.on_new_ack(ack, now);
            return Acked::New;
        }
        // A window probe is not in flight: the answers to probes are no duplicates.
        if !bare || self.next == self.una {
            return Acked::Nothing;
        }
        match self.recovery.on_duplicate_ack(self.una, self.sent) {
            Duplicate::Counted => Acked::Duplicate { loss: false },
            Duplicate::Inflate => {
                self.congestion.on_duplicate_ack();
                Acked::Duplicate { loss: false }
            }
            Duplicate::Loss { flight } => {
                self.congestion.on_loss(flight, now);
                self.retransmit = true;
                // Karn: what is timed may be what is sent again.
                self.timed = None;
                Acked::Duplicate { loss: true }
            }
        }
    }

    fn on_new_ack(&mut self, ack: u64, now: Instant) {
        let acked = saturate(ack - self.una);
        let flight = saturate(self.in_flight());
        if let Some((end, sent_at)) = self.timed
            && ack >= end
        {
            self.timed = None;
            self.rtt.on_sample(now - sent_at);
        }
        self.una = ack;
        self.next = self.next.max(ack);
        self.timeouts = 0;
        self.retransmit = false;
        let mut restart = true;
        match self.recovery.on_progress(ack) {
            // The SYN is no data (RFC 5681, section 3.1, speaks of data acknowledged).
            Progress::Open if !self.open => {}
            Progress::Open => {
                self.congestion.on_ack(&Ack { acked, flight, smoothed_rtt: self.rtt.smoothed(), now });
            }
            Progress::Partial { first } => {
                self.congestion.on_partial_ack(acked);
                self.retransmit = true;
                self.timed = None;
                // Impatient (RFC 6582, section 4).
                restart = first;
            }
            Progress::Full => self.congestion.on_recovered(saturate(self.sent - ack)),
        }
        // RFC 6298, sections 5.2 and 5.3.
        if self.una == self.sent {
            self.timer = Timer::Idle;
        } else if restart {
            self.timer = Timer::Retransmit(now + self.rtt.rto());
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.timer {
            Timer::Idle => None,
            Timer::Retransmit(due) | Timer::Persist(due, _) => Some(due),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) -> Expired {
        if self.deadline().is_none_or(|due| due > now) {
            return Expired::None;
        }
        if self.user_timeout.is_some_and(|limit| now.saturating_since(self.last_progress) >= limit) {
            self.timer = Timer::Idle;
            return Expired::GiveUp;
        }
        match self.timer {
            Timer::Persist(_, interval) => {
                let interval = interval.saturating_add(interval).clamp(self.rtt.rto(), self.rtt.max_rto());
                self.timer = Timer::Persist(now + interval, interval);
                self.probe(now)
            }
            _ => {
                if self.una == 0 {
                    self.syn_lost = true;
                } else {
                    // FlightSize: what was given up at an earlier timeout is no longer in flight.
                    self.congestion.on_timeout(saturate(self.in_flight()), self.timeouts == 0, now);
                }
                self.recovery.on_timeout(self.sent);
                self.timeouts = self.timeouts.saturating_add(1);
                // RFC 6298, sections 5.4 to 5.6.
                self.rtt.on_timeout();
                self.timer = Timer::Retransmit(now + self.rtt.rto());
                self.timed = None;
                self.next = self.una;
                self.retransmit = true;
                Expired::Retransmission
            }
        }
    }

    /// One byte into a closed window; as much as fits into one that is only too small.
    fn probe(&mut self, now: Instant) -> Expired {
        let unsent = self.written.saturating_sub(self.una);
        if self.window > 0 && unsent > 0 {
            let len = unsent.min(self.window).min(u64::from(self.segment)) as u32;
            return Expired::Probe(self.emit(self.una, len, now));
        }
        let chunk = self.chunk(self.una, unsent.min(1) as u32);
        // The byte is not in flight: if it is refused, it is sent again with its neighbours once the window opens.
        self.sent = self.sent.max(end_of(&chunk));
        self.last_sent = now;
        Expired::Probe(chunk)
    }

    /// The next segment to send, if one may be sent now.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Chunk> {
        if self.una == 0 {
            if self.next > 0 && !self.retransmit {
                return None;
            }
            self.retransmit = false;
            return Some(self.emit(0, 0, now));
        }
        if self.retransmit {
            self.retransmit = false;
            let outstanding = self.sent.min(self.written).saturating_sub(self.una);
            return Some(self.emit(self.una, outstanding.min(u64::from(self.segment)) as u32, now));
        }
        if !self.open {
            return None;
        }
        let chunk = self.poll_new(now);
        if chunk.is_none() {
            self.persist(now);
        }
        chunk
    }

    fn poll_new(&mut self, now: Instant) -> Option<Chunk> {
        let window_end = self.una + self.window;
        let unsent = self.written.saturating_sub(self.next);
        if unsent == 0 {
            let fin_due = self.fin && self.next == self.written && self.next < window_end;
            return fin_due.then(|| self.emit(self.next, 0, now));
        }
        let idle = self.next == self.una;
        if idle && self.sent == self.una && now.saturating_since(self.last_sent) > self.rtt.rto() {
            // RFC 5681, section 4.1.
            self.congestion.on_idle();
        }
        let mut allowed = u64::from(self.congestion.window());
        if self.next == self.sent {
            allowed += u64::from(self.segment) * u64::from(self.recovery.limited_transmit());
        }
        if let Some(cap) = self.cap {
            allowed = allowed.min(u64::from(cap) * u64::from(self.segment));
        }
        let offered = window_end.saturating_sub(self.next);
        let usable = (self.una + allowed).saturating_sub(self.next).min(offered);
        let len = unsent.min(usable).min(u64::from(self.segment));
        if len == 0 {
            return None;
        }
        // RFC 9293, section 3.8.6.2.1, with Nagle's rule (section 3.7.4) as the bracketed condition. What was sent
        // before, and what a FIN completes, is not held back.
        let full = len == u64::from(self.segment);
        let all = len == unsent && (!self.nagle || idle || self.fin || self.next < self.sent);
        let half_window = len == offered && 2 * len >= self.largest_window;
        (full || all || half_window).then(|| self.emit(self.next, len as u32, now))
    }

    /// Keeps the persist timer running exactly while the window alone holds back a sender with nothing in flight.
    fn persist(&mut self, now: Instant) {
        let waiting = self.next < self.written || self.fin && self.next == self.written;
        let stuck = waiting && self.next == self.una;
        match self.timer {
            Timer::Idle if stuck => {
                let interval = if self.window == 0 { self.rtt.rto() } else { OVERRIDE_TIMEOUT };
                self.timer = Timer::Persist(now + interval, interval);
                self.last_progress = now;
            }
            Timer::Persist(due, interval) if stuck && self.window > 0 && interval > OVERRIDE_TIMEOUT => {
                // The window opened, but too little: from a probe's wait to the shorter one.
                self.timer = Timer::Persist(due.min(now + OVERRIDE_TIMEOUT), OVERRIDE_TIMEOUT);
            }
            Timer::Persist(..) if !stuck => self.timer = Timer::Idle,
            _ => {}
        }
    }

    /// Records that `len` bytes from `position` leave, with what belongs to them.
    fn emit(&mut self, position: u64, len: u32, now: Instant) -> Chunk {
        let chunk = self.chunk(position, len);
        let end = end_of(&chunk);
        if self.una == self.sent {
            self.last_progress = now;
        }
        // Karn's algorithm (RFC 6298, section 3): only what is sent for the first time is timed.
        if self.timed.is_none() && !chunk.again && end > self.sent {
            self.timed = Some((end, now));
        }
        if !matches!(self.timer, Timer::Retransmit(_)) {
            self.timer = Timer::Retransmit(now + self.rtt.rto());
        }
        self.next = self.next.max(end);
        self.sent = self.sent.max(end);
        self.last_sent = now;
        chunk
    }

    fn chunk(&self, position: u64, len: u32) -> Chunk {
        let syn = position == 0;
        let text_end = position + u64::from(len);
        let fin = self.fin && !syn && text_end == self.written && text_end < self.una + self.window.max(1);
        let push = len > 0 && text_end == self.written;
        Chunk { position, len, syn, fin, push, again: position < self.sent }
    }
}

/// The position after a chunk.
fn end_of(chunk: &Chunk) -> u64 {
    chunk.position + u64::from(chunk.len) + u64::from(chunk.syn) + u64::from(chunk.fin)
}

/// Equation 1 of RFC 5681, section 3.1, in segments.
fn initial_window(segment: u32) -> u32 {
    match segment {
        2191.. => 2,
        1096..=2190 => 3,
        _ => 4,
    }
}
