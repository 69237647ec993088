//! The sending half: what may be sent when, retransmission, and window probes.

use super::config::{Config, Elfn};
use super::congestion::{Ack, CongestionControl, Marks};
use super::recovery::{Duplicate, Progress, Recovery, saturate};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
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
    elfn: Option<Elfn>,
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
    /// The largest window the peer has offered (Max(SND.WND); MAX.SND.WND of RFC 5961).
    largest_window: u64,
    /// The first unacknowledged segment is to be sent again.
    retransmit: bool,
    timer: Timer,
    /// The end of the segment that is being timed, and when it left.
    timed: Option<(u64, Instant)>,
    /// When data or SYN last left, probes of a closed window not counted.
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
    /// The acknowledgement that is being handled echoes a mark: the window does not grow.
    holds_window: bool,
    /// What SACK tells, once both sides have agreed to use it.
    scoreboard: Option<Scoreboard>,
}

/// These exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timer {
    Idle,
    /// Something is outstanding (RFC 6298, section 5).
    Retransmit(Instant),
    /// Nothing is outstanding, and the window lets nothing be sent (RFC 9293, section 3.8.6.1). The second value is the
    /// interval that led to this instant.
    Persist(Instant, Duration),
    /// No route is known: the next probe (Holland and Vaidya, section 4).
    Standby(Instant),
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
pub(super) struct Acked {
    /// New data was acknowledged.
    pub(super) is_new: bool,
    /// A duplicate as RFC 5681, section 2, defines it; with SACK, as RFC 6675, section 2, does.
    pub(super) is_duplicate: bool,
    /// It revealed a loss.
    pub(super) is_loss: bool,
}

/// What a timer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    None,
    Retransmission,
    /// A byte is to be sent into a closed or too small window.
    Probe(Chunk),
    /// A segment is to be sent to find out whether there is a route again.
    LinkProbe,
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
            elfn: config.elfn,
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
            recovery: Recovery::new(config.variant.loss_recovery()),
            holds_window: false,
            scoreboard: None,
        }
    }

    /// The peer's SYN told the largest segment that it takes, and that each will carry `options` bytes of options, which
    /// take room from the payload (RFC 9293, section 3.7.1).
    pub(super) fn limit_segment(&mut self, mss: u32, options: u32) {
        self.segment = self.segment.min(mss).saturating_sub(options).max(1);
    }

    /// Whether both sides agreed to use SACK.
    pub(super) fn negotiate_sack(&mut self, agreed: bool) {
        if agreed {
            self.scoreboard = Some(Scoreboard::default());
        } else {
            self.recovery.forgo_sack();
        }
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

    /// Whether an acknowledgement of everything before `ack` may be the peer's: SND.UNA − MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT (RFC
    /// 5961, section 5.2).
    pub(super) fn may_be_acknowledged(&self, ack: i64) -> bool {
        ack >= self.una as i64 - self.largest_window as i64 && ack <= self.sent as i64
    }

    /// Where a segment lies that carries nothing of the sequence space: at SND.NXT, but within the peer's window. A byte that
    /// probed a closed window and was refused is beyond it, and so would be every acknowledgement at SND.NXT (RFC 9293, section
    /// 3.4; 3.10.7.4). The SYN is subject to no window, and what is in flight lay within the one that it was sent into.
    pub(super) fn bare_position(&self) -> u64 {
        self.next.max(self.sent.min((self.una + self.window).max(1)))
    }

    /// SMSS.
    pub(super) fn segment(&self) -> u32 {
        self.segment
    }

    /// Whether the FIN was sent and acknowledged.
    pub(super) fn is_finished(&self) -> bool {
        self.fin && self.una > self.written
    }

    /// Bytes that the buffer has taken since the start.
    pub(super) fn bytes_written(&self) -> u64 {
        // Position 0 is the SYN.
        self.written - 1
    }

    /// Free room in the buffer in bytes.
    pub(super) fn space(&self) -> u32 {
        // The SYN takes no room, and neither does an acknowledged FIN.
        let held = self.written - self.una.clamp(1, self.written);
        self.buffer.saturating_sub(saturate(held))
    }

    /// Positions that are taken to be in the network: sent since the last timeout, not acknowledged and, with SACK, neither
    /// said to have arrived nor lost.
    pub(super) fn in_flight(&self) -> u64 {
        match &self.scoreboard {
            None => self.next - self.una,
            Some(board) if self.recovery.selective().is_some() => board.pipe(self.una, self.sent, self.segment),
            Some(board) => self.next - self.una - board.sacked_before(self.next),
        }
    }

    /// The congestion window in bytes, what fast recovery adds included.
    pub(super) fn congestion_window(&self) -> u32 {
        self.recovery.window().unwrap_or_else(|| self.congestion.window())
    }

    /// FlightSize of RFC 5681, as far as the congestion window allows it to be in the network. While fast recovery waits
    /// for a retransmission, each duplicate lets another segment out, and what is outstanding grows far beyond that;
    /// equation 4 gives the most that the threshold may be.
    fn flight_size(&self, outstanding: u64) -> u32 {
        saturate(outstanding).min(self.congestion.window())
    }

    /// Whether retransmission stands still because no route is known.
    pub(super) fn is_on_standby(&self) -> bool {
        matches!(self.timer, Timer::Standby(_))
    }

    /// The route to the peer broke: no timer but that of probes runs until something is heard of it. Where nothing is
    /// outstanding, there is nothing to wait for.
    pub(super) fn handle_link_failure(&mut self, now: Instant) {
        if let Some(elfn) = self.elfn
            && self.una < self.sent
            && !self.is_on_standby()
        {
            self.timer = Timer::Standby(now + elfn.probe_interval);
            self.retransmit = false;
            // It may be sent again as a probe, and would measure the failure.
            self.timed = None;
        }
    }

    /// There is a route again: the next probe leaves at once. `false` if none is waited for.
    pub(super) fn handle_link_restored(&mut self, now: Instant) -> bool {
        let on_standby = self.is_on_standby();
        if on_standby {
            self.probe_link(now);
        }
        on_standby
    }

    fn probe_link(&mut self, now: Instant) {
        if let Some(elfn) = self.elfn {
            self.timer = Timer::Standby(now + elfn.probe_interval);
            self.retransmit = true;
            self.syn_lost |= self.una == 0;
        }
    }

    /// An acknowledgement came through: timers and window are what they were.
    fn leave_standby(&mut self, now: Instant) {
        if !self.is_on_standby() {
            return;
        }
        self.timer = Timer::Retransmit(now + self.rtt.rto());
        if self.elfn.is_some_and(|elfn| elfn.halve) && !self.recovery.is_recovering() {
            self.congestion.on_loss(self.flight_size(self.next - self.una), now);
            self.congestion.on_recovered(u32::MAX, now);
        }
    }

    /// The next acknowledgement echoes a mark, and does not let the window grow (RFC 3168, section 6.1.2).
    pub(super) fn hold_window(&mut self) {
        self.holds_window = true;
    }

    /// A mark was echoed for the first time in a window: reduces it. `false` if fast recovery has already done so.
    pub(super) fn on_marked(&mut self, now: Instant) -> bool {
        if self.recovery.is_recovering() {
            return false;
        }
        self.congestion.on_marked(self.flight_size(self.sent - self.una), now);
        true
    }

    /// An acknowledgement of `acked` new bytes with accurate feedback; `marked` bytes were marked since the last one. Returns whether the
    /// window was reduced.
    pub(super) fn on_marks(&mut self, acked: u64, marked: u64, now: Instant) -> bool {
        self.congestion.on_marks(&Marks {
            acked: saturate(acked),
            marked: saturate(marked),
            smoothed_rtt: self.rtt.smoothed(),
            is_recovering: self.recovery.is_recovering(),
            now,
        })
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
    /// nor another window. `echoed`: the round trip that its timestamp tells. `blocks`: what SACK says has arrived.
    pub(super) fn on_ack(
        &mut self,
        ack: u64,
        bare: bool,
        echoed: Option<Duration>,
        blocks: impl Iterator<Item = (u64, u64)>,
        now: Instant,
    ) -> Acked {
        self.last_progress = now;
        self.leave_standby(now);
        let is_new = ack > self.una;
        if is_new {
            self.on_new_ack(ack, echoed, now);
        }
        self.holds_window = false;
        let is_duplicate = match &mut self.scoreboard {
            Some(board) => {
                blocks.fold(false, |news, (start, end)| board.insert(start, end, self.una, self.sent) || news)
            }
            // A window probe is not in flight: the answers to probes are no duplicates.
            None => bare && !is_new && self.next != self.una,
        };
        Acked { is_new, is_duplicate, is_loss: is_duplicate && self.on_duplicate(now) }
    }

    /// A duplicate acknowledgement; whether it reveals a loss.
    fn on_duplicate(&mut self, now: Instant) -> bool {
        let is_lost = self.scoreboard.as_ref().is_some_and(|board| board.is_lost(self.una, self.segment));
        match self.recovery.on_duplicate(self.una, is_lost, self.segment) {
            Duplicate::Counted => false,
            Duplicate::Loss => {
                // Limited transmit goes beyond the window only, so that what it sent does not count (RFC 5681, section
                // 3.2, step 2).
                self.congestion.on_loss(self.flight_size(self.sent - self.una), now);
                self.recovery.start(self.sent, self.congestion.window(), self.segment);
                self.retransmit = true;
                // Karn: what is timed may be what is sent again.
                self.timed = None;
                true
            }
        }
    }

    fn on_new_ack(&mut self, ack: u64, echoed: Option<Duration>, now: Instant) {
        let acked = saturate(ack - self.una);
        let flight = saturate(self.in_flight());
        if let Some(rtt) = echoed {
            self.timed = None;
            // RFC 7323, appendix G.
            self.rtt.on_sample(rtt, u64::from(flight).div_ceil(2 * u64::from(self.segment)).max(1));
        } else if let Some((end, sent_at)) = self.timed
            && ack >= end
        {
            self.timed = None;
            self.rtt.on_sample(now - sent_at, 1);
        }
        self.una = ack;
        self.next = self.next.max(ack);
        if let Some(board) = &mut self.scoreboard {
            board.advance(ack);
        }
        self.timeouts = 0;
        self.retransmit = false;
        let mut restarts = true;
        match self.recovery.on_progress(acked, ack, self.sent, self.segment) {
            // The SYN is no data (RFC 5681, section 3.1, speaks of data acknowledged).
            Progress::Open if !self.open || self.holds_window => {}
            Progress::Open => {
                self.congestion.on_ack(&Ack { acked, flight, smoothed_rtt: self.rtt.smoothed(), now });
            }
            Progress::Partial { retransmit, restart } => {
                self.retransmit = retransmit;
                self.timed = None;
                restarts = restart;
            }
            Progress::Full { limit } => self.congestion.on_recovered(limit, now),
        }
        // RFC 6298, sections 5.2 and 5.3.
        if self.una == self.sent {
            self.timer = Timer::Idle;
        } else if restarts {
            self.timer = Timer::Retransmit(now + self.rtt.rto());
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.timer {
            Timer::Idle => None,
            Timer::Retransmit(due) | Timer::Persist(due, _) | Timer::Standby(due) => Some(due),
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
            Timer::Standby(_) => {
                self.probe_link(now);
                Expired::LinkProbe
            }
            _ => {
                if self.una == 0 {
                    self.syn_lost = true;
                } else {
                    // What was given up at an earlier timeout is no longer in flight.
                    let flight = self.flight_size(self.next - self.una);
                    self.congestion.on_timeout(flight, self.timeouts == 0, now);
                }
                // What SACK told is kept, as erratum 1610 to RFC 2018 allows; but not if that leads nowhere.
                if let Some(board) = self.scoreboard.as_mut().filter(|_| self.timeouts > 0) {
                    board.clear();
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
        // The byte is not in flight: if it is refused, it is sent again with its neighbours once the window opens. It keeps no
        // acknowledgements coming that could clock a window of data, so that it ends no pause.
        self.sent = self.sent.max(end_of(&chunk));
        Expired::Probe(chunk)
    }

    /// The next segment to send, if one may be sent now.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Chunk> {
        if self.is_on_standby() && !self.retransmit {
            return None;
        }
        if self.una == 0 {
            if self.next > 0 && !self.retransmit {
                return None;
            }
            self.retransmit = false;
            return Some(self.emit(0, 0, now));
        }
        if core::mem::take(&mut self.retransmit) {
            let hole_end = self.scoreboard.as_ref().and_then(|board| board.hole_end(self.una));
            let chunk = self.emit_again(self.una, hole_end.unwrap_or(self.sent), now);
            if let (Some(board), Some(_)) = (&mut self.scoreboard, self.recovery.selective()) {
                board.start_recovery(end_of(&chunk));
            }
            return Some(chunk);
        }
        if !self.open {
            return None;
        }
        if let Some(recovery_point) = self.recovery.selective() {
            return self.poll_selective(recovery_point, now);
        }
        let chunk = self.poll_new(now);
        if chunk.is_none() {
            self.persist(now);
        }
        chunk
    }

    /// Loss recovery by RFC 6675, section 5, step C, with NextSeg() of section 4.
    fn poll_selective(&mut self, recovery_point: u64, now: Instant) -> Option<Chunk> {
        let (una, sent, segment) = (self.una, self.sent, self.segment);
        if u64::from(self.congestion.window()) < self.in_flight() + u64::from(segment) {
            return None;
        }
        let next_hole = |sender: &Self, lost| sender.scoreboard.as_ref()?.next_hole(una, segment, lost);
        // Rules 1, 2 and 3.
        let mut hole = next_hole(self, true);
        if hole.is_none() {
            if let Some(chunk) = self.poll_new(now) {
                return Some(chunk);
            }
            hole = next_hole(self, false);
        }
        if let Some((start, end)) = hole {
            let chunk = self.emit_again(start, end, now);
            self.scoreboard.as_mut()?.on_retransmitted(end_of(&chunk));
            return Some(chunk);
        }
        // Rule 4.
        let (start, end) = self.scoreboard.as_mut()?.rescue(una, sent, segment, recovery_point)?;
        Some(self.emit_again(start, end, now))
    }

    fn poll_new(&mut self, now: Instant) -> Option<Chunk> {
        let window_end = self.una + self.window;
        // After a timeout: what has arrived is not sent again.
        let mut hole_end = None;
        if let Some(board) = self.scoreboard.as_ref().filter(|_| self.next < self.sent) {
            self.next = board.skip(self.next);
            hole_end = board.hole_end(self.next);
        }
        let unsent = self.written.saturating_sub(self.next);
        if unsent == 0 {
            let fin_due = self.fin && self.next == self.written && self.next < window_end;
            return fin_due.then(|| self.emit(self.next, 0, now));
        }
        let idle = self.next == self.una;
        let offered = window_end.saturating_sub(self.next);
        // After a timeout something is outstanding although `next` has gone back; a refused probe is not.
        let nothing_out = self.sent == self.una || matches!(self.timer, Timer::Persist(..));
        if idle && nothing_out && offered > 0 && now.saturating_since(self.last_sent) > self.rtt.rto() {
            // RFC 5681, section 4.1.
            self.congestion.on_idle();
        }
        let mut allowed = u64::from(self.congestion_window());
        if self.next == self.sent {
            allowed += u64::from(self.segment) * u64::from(self.recovery.limited_transmit());
        }
        let mut usable = allowed.saturating_sub(self.in_flight()).min(offered);
        if let Some(cap) = self.cap {
            let cap_end = self.una + u64::from(cap) * u64::from(self.segment);
            usable = usable.min(cap_end.saturating_sub(self.next));
        }
        let whole = u64::from(self.segment).min(hole_end.map_or(u64::MAX, |end| end - self.next));
        let len = unsent.min(usable).min(whole);
        if len == 0 {
            return None;
        }
        // RFC 9293, section 3.8.6.2.1, with Nagle's rule (section 3.7.4) as the bracketed condition. What was sent
        // before, and what a FIN completes, is not held back.
        let full = len == whole;
        let all = len == unsent && (!self.nagle || idle || self.fin || self.next < self.sent);
        let half_window = len == offered && 2 * len >= self.largest_window;
        (full || all || half_window).then(|| self.emit(self.next, len as u32, now))
    }

    /// Sends again what lies between two positions, as far as a segment holds it.
    fn emit_again(&mut self, start: u64, end: u64, now: Instant) -> Chunk {
        let len = end.min(self.sent).min(self.written).saturating_sub(start).min(self.segment.into());
        self.emit(start, len as u32, now)
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
        if !matches!(self.timer, Timer::Retransmit(_) | Timer::Standby(_)) {
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
