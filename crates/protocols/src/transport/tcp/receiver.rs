//! The receiving half: sequence space of the peer, reassembly, the window offered, when to acknowledge.

use super::Config;
use super::ranges::Ranges;
use crate::time::{Duration, Instant};

/// The most SACK blocks in a segment (RFC 2018, section 3).
const MAX_BLOCKS: usize = 4;

/// Receive variables of RFC 9293, section 3.3.1, in positions of the peer's sequence space.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// RCV.NXT.
    next: u64,
    /// Position of the first byte that the user has not taken.
    taken: u64,
    /// RCV.NXT + RCV.WND: everything before it may be sent by the peer. It never moves back.
    edge: u64,
    /// End of the window in the last segment sent; up to one unit of the scale below `edge`.
    announced: u64,
    buffer: u32,
    /// The largest payload that the peer is asked to send.
    mss: u32,
    shift: u8,
    /// Where the peer's FIN lies, once one has arrived.
    fin: Option<u64>,
    /// What arrived ahead of a gap.
    held: Ranges,
    /// A position in each of the ranges of `held` that changed last, the latest first; 0 for none.
    recent: [u64; MAX_BLOCKS],
    /// SACK blocks may be sent.
    sack: bool,
    /// The longest payload seen, the estimate of RMSS (RFC 5681, section 4.2).
    largest: u32,
    /// The number that the last segment acknowledged, Last.ACK.sent of RFC 7323.
    acknowledged: u64,
    /// In-order bytes not yet acknowledged.
    unacknowledged: u64,
    delayed_ack: Option<Duration>,
    pub(super) pending: PendingAck,
}

/// The acknowledgement that is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingAck {
    None,
    /// Not before this instant, unless more arrives or something else is sent.
    Delayed(Instant),
    /// At once, with data if there is some to send.
    Now,
    /// At once and without data: a peer must not take it for an answer to something else.
    Alone,
    /// The same, for a segment ahead of a gap: it repeats number and window, so that the peer counts it as a duplicate
    /// (RFC 5681, section 2) even if the user has made room since.
    Duplicate,
}

/// What became of a segment's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Received {
    /// Bytes that became readable.
    pub(super) readable: u64,
    /// The FIN was reached now.
    pub(super) finished: bool,
    pub(super) out_of_order: bool,
    pub(super) duplicate: bool,
    pub(super) dropped: bool,
}

impl Receiver {
    pub(super) fn new(config: &Config) -> Self {
        let &Config { receive_buffer: buffer, segment: mss, delayed_ack, .. } = config;
        Self {
            next: 0,
            taken: 1,
            edge: 1 + u64::from(buffer),
            announced: 1,
            buffer,
            mss,
            shift: 0,
            fin: None,
            held: Ranges::default(),
            recent: [0; MAX_BLOCKS],
            sack: false,
            acknowledged: 1,
            largest: 0,
            unacknowledged: 0,
            delayed_ack,
            pending: PendingAck::None,
        }
    }

    /// The shift that lets the window field express the whole buffer (RFC 7323, section 2.3: at most 14).
    pub(super) fn wanted_shift(&self) -> u8 {
        (0..14).find(|&shift| self.buffer >> shift <= u32::from(u16::MAX)).unwrap_or(14)
    }

    /// The peer's SYN arrived, and it is settled whether windows are scaled and SACK is used.
    pub(super) fn on_syn(&mut self, scaled: bool, sack: bool) {
        self.next = 1;
        self.shift = if scaled { self.wanted_shift() } else { 0 };
        self.sack = sack;
    }

    /// Everything before this position was acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Whether SACK blocks may be sent.
    pub(super) fn uses_sack(&self) -> bool {
        self.sack
    }

    /// Whether an acknowledgement has SACK blocks to tell.
    pub(super) fn has_blocks(&self) -> bool {
        self.sack && !self.held.is_empty()
    }

    /// SACK blocks as positions: the one with the segment that arrived last first, then those that changed before it (RFC
    /// 2018, section 4).
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let recent: &[u64] = if self.has_blocks() { &self.recent } else { &[] };
        recent.iter().filter_map(|&position| self.held.containing(position))
    }

    /// The range with this position changed last.
    fn remember(&mut self, position: u64) {
        let Some((start, end)) = self.held.containing(position) else { return };
        let others = self.recent.into_iter().filter(|&other| other < start || other >= end);
        let held = others.filter(|&other| self.held.containing(other).is_some());
        let mut recent = [position, 0, 0, 0];
        recent[1..].iter_mut().zip(held).for_each(|(slot, other)| *slot = other);
        self.recent = recent;
    }

    /// RCV.NXT.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes ready to be taken.
    pub(super) fn readable(&self) -> u64 {
        // RCV.NXT is one beyond the FIN once that was reached.
        (self.next - u64::from(self.is_finished())).saturating_sub(self.taken)
    }

    /// Whether the FIN was reached.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// Whether a segment of `len` positions from `start` may be taken: the test of RFC 9293, section 3.4, widened twice.
    /// A segment that covers the whole window is trimmed, not refused; and an empty one may lie at the window's end,
    /// where the peer's acknowledgements lie once it has filled the window.
    pub(super) fn is_acceptable(&self, start: i64, len: u64) -> bool {
        let (next, edge) = (self.next as i64, self.edge as i64);
        if len == 0 { start >= next && start <= edge } else { start < edge && start + len as i64 > next }
    }

    /// Whether a segment from `start` may repeat one of the last window.
    pub(super) fn may_have_been_sent(&self, start: i64) -> bool {
        start >= self.acknowledged.saturating_sub(u64::from(self.buffer)) as i64
    }

    /// Where text ends that may be taken. It cannot follow a FIN, and a second FIN cannot move the first.
    fn limit(&self) -> u64 {
        self.fin.unwrap_or(self.edge).min(self.edge)
    }

    /// The position behind what may be taken of a text of `len` bytes from `start`; `None` if the segment may not be taken.
    pub(super) fn text_end(&self, start: i64, len: u32) -> Option<u64> {
        let end = start.saturating_add(i64::from(len)).max(0) as u64;
        (len > 0 && self.is_acceptable(start, len.into())).then_some(end.min(self.limit()))
    }

    /// Takes an acceptable segment's text and FIN. `start` is the position of its first byte.
    pub(super) fn on_text(&mut self, start: i64, len: u32, fin: bool, now: Instant) -> Received {
        let mut received =
            Received { readable: 0, finished: false, out_of_order: false, duplicate: false, dropped: false };
        let sent_end = start.saturating_add(i64::from(len)).max(0) as u64;
        let limit = self.limit();
        let end = sent_end.min(limit);
        let start = (start.max(0) as u64).max(self.next);
        if fin && self.fin.is_none() && sent_end < self.edge && sent_end >= self.next {
            self.fin = Some(sent_end);
        }
        self.largest = self.largest.max(len.min(self.mss));
        if end > start && start > self.next {
            received.out_of_order = true;
            received.dropped = !self.held.insert(start, end);
            self.remember(start);
            self.pending = if self.unacknowledged == 0 { PendingAck::Duplicate } else { PendingAck::Alone };
            return received;
        }
        let before = self.next;
        let mut filled_gap = false;
        if end > start {
            self.next = end;
            if !self.held.is_empty() {
                filled_gap = true;
                self.next = self.held.advance(end).min(limit);
            }
            received.readable = self.next - before;
        }
        if self.fin == Some(self.next) {
            self.next += 1;
            received.finished = true;
        }
        if self.next == before {
            // Nothing new: a duplicate, beyond the window, or a FIN with text missing before it.
            received.duplicate = len > 0 || fin;
            received.out_of_order = self.fin.is_some_and(|fin| fin > self.next);
            self.pending = PendingAck::Alone;
            return received;
        }
        self.unacknowledged += received.readable;
        self.owe(filled_gap || received.finished, now);
        received
    }

    /// In-order data arrived (RFC 5681, section 4.2).
    fn owe(&mut self, at_once: bool, now: Instant) {
        let second = self.unacknowledged >= 2 * u64::from(self.largest);
        self.pending = match (self.pending, self.delayed_ack) {
            (PendingAck::Alone | PendingAck::Duplicate, _) => PendingAck::Alone,
            (PendingAck::Delayed(due), Some(_)) if !at_once && !second => PendingAck::Delayed(due),
            (PendingAck::None, Some(delay)) if !at_once && !second => PendingAck::Delayed(now + delay),
            _ => PendingAck::Now,
        };
    }

    /// The instant at which a delayed acknowledgement is due.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.pending {
            PendingAck::Delayed(due) => Some(due),
            _ => None,
        }
    }

    /// A delayed acknowledgement is due if its instant has come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.deadline().is_some_and(|due| due <= now) {
            self.pending = PendingAck::Now;
        }
    }

    /// The user takes up to `max` bytes.
    pub(super) fn take(&mut self, max: u32) -> u32 {
        let taken = self.readable().min(u64::from(max)) as u32;
        self.taken += u64::from(taken);
        let open = self.taken + u64::from(self.buffer);
        let gain = open.saturating_sub(self.announced);
        let half = u64::from(self.buffer).div_ceil(2);
        let starved = self.announced.saturating_sub(self.next) < u64::from(self.mss);
        let tell = gain >= half || starved && gain >= self.step();
        if taken > 0 && tell && !self.is_finished() && self.pending != PendingAck::Alone {
            self.pending = PendingAck::Now;
        }
        taken
    }

    /// An acknowledgement goes out: the number for its ACK field's position, and its window field. `syn` fields are not
    /// scaled.
    pub(super) fn acknowledge(&mut self, syn: bool) -> (u64, u16) {
        let open = self.taken + u64::from(self.buffer);
        let repeat = self.pending == PendingAck::Duplicate;
        if !repeat && open >= self.edge + self.step() {
            self.edge = open;
        }
        let edge = if repeat { self.announced } else { self.edge };
        let shift = if syn { 0 } else { self.shift };
        // Before the peer's SYN has arrived, the window begins where its data will.
        let next = self.next.max(1);
        let field = (edge.saturating_sub(next) >> shift).min(u64::from(u16::MAX));
        self.announced = next + (field << shift);
        self.pending = PendingAck::None;
        self.unacknowledged = 0;
        self.acknowledged = next;
        (self.next, field as u16)
    }

    /// The least step by which the window opens: min(Fr·RCV.BUFF, MSS), Fr = 1/2 (RFC 9293, section 3.8.6.2.2).
    fn step(&self) -> u64 {
        u64::from((self.buffer / 2).min(self.mss).max(1))
    }
}
