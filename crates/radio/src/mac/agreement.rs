//! Block acknowledgment agreements over the air (IEEE 802.11-2020, 10.25.2, 10.25.5, 11.5): who asks for them, and when they end.
//!
//! ```text
//!  originator                       recipient
//!      │── ADDBA request ──────────────►│ opens its reorder buffer
//!      │◄───────────── ADDBA response ──│
//!      │ in force                       │
//!      │── A-MPDU ─────────────────────►│
//!      │◄──────────────────── BlockAck ─│
//!      │◄─────────── DELBA ────────────►│ by either of them
//! ```
//!
//! The machine has no clock: its owner tells it what has come, sends the action frames that it hands out, and calls
//! [`Negotiations::handle_timeout`] when [`Negotiations::poll_timeout`] is due. When to ask, for how long to wait and how often to try
//! is as in Linux's mac80211 (`agg-tx.c`, `sta_info.h`).

use hopcast_protocols::time::{Duration, Instant};
use hopcast_wire::ieee80211::management::{Agreement, BlockAckAction, Reason, Status};

use super::association::TIME_UNIT;
use super::originator::Request;
use crate::frame::{StationId, UserPriority};

/// For so long an originator waits for the response: `ADDBA_RESP_INTERVAL` of mac80211.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Failed requests after which they are spread in time: `HT_AGG_BURST_RETRIES`.
pub(super) const BURST_RETRIES: u32 = 3;
/// The time between them then: `HT_AGG_RETRIES_PERIOD`.
pub(super) const RETRIES_PERIOD: Duration = Duration::from_secs(15);
/// Failed requests after which there are no more: `HT_AGG_MAX_RETRIES`.
pub(super) const MAX_RETRIES: u32 = 15;

/// Peer and user priority.
type Key = (StationId, UserPriority);

/// The agreements of a station, in both roles.
#[derive(Clone, Debug, Default)]
pub(super) struct Negotiations {
    /// As an originator; sorted by key.
    originated: Vec<(Key, Originated)>,
    /// As a recipient; sorted by key.
    received: Vec<(Key, Received)>,
    dialog_token: u8,
    /// No agreement has a deadline before it.
    due: Option<Instant>,
}

/// What a station offers and accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// MPDUs that it holds.
    pub(super) window: u32,
    /// Whether MPDUs may carry A-MSDUs.
    pub(super) amsdu: bool,
    /// Idle time after which the agreement ends, in time units; 0: never.
    pub(super) inactivity: u16,
}

/// What an action frame changes at a recipient, whose buffer it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// An agreement begins with the MPDU that has this Sequence Number. One that was in force before has ended.
    Opened {
        /// About this priority.
        priority: UserPriority,
        /// Buffer Size.
        window: u32,
        /// Sequence Number field.
        start: u16,
    },
    /// The agreement about this priority has ended.
    Closed(UserPriority),
}

#[derive(Clone, Debug)]
struct Originated {
    state: State,
    /// Requests since the last agreement.
    requests: u32,
    requested_at: Instant,
    /// What the recipient is to be told once the agreement is in force: that MPDUs were given up that it may wait for.
    gap: Option<Request>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No agreement is in force or asked for.
    Idle,
    /// A request has gone.
    Requested {
        dialog_token: u8,
        /// The first MPDU under the agreement.
        start: u32,
        until: Instant,
    },
    /// It is in force.
    Agreed { window: u32, idle: Idle },
}

#[derive(Clone, Copy, Debug)]
struct Received {
    /// While the agreement is in force.
    idle: Option<Idle>,
    /// When the originator was last told that no agreement is in force.
    refused_at: Option<Instant>,
}

/// The inactivity timer of an agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Idle {
    /// Zero: none.
    limit: Duration,
    since: Instant,
}

impl Idle {
    fn new(time_units: u16, now: Instant) -> Self {
        Self { limit: TIME_UNIT * u64::from(time_units), since: now }
    }

    fn until(&self) -> Option<Instant> {
        (self.limit > Duration::ZERO).then(|| self.since + self.limit)
    }
}

impl Negotiations {
    /// The station takes a new MPDU to a receiver; the next one will have the number `next`. Returns whether it goes under an agreement.
    /// Without an agreement it hands `send` a request, unless too many have failed.
    pub(super) fn handle_mpdu(
        &mut self,
        (receiver, priority): Key,
        next: u32,
        terms: Terms,
        now: Instant,
        send: impl FnOnce(BlockAckAction),
    ) -> bool {
        let dialog_token = self.dialog_token.wrapping_add(1);
        let agreement = self.originated((receiver, priority));
        match agreement.state {
            State::Agreed { .. } => return true,
            State::Requested { .. } => return false,
            State::Idle => {}
        }
        let is_spread = agreement.requests > BURST_RETRIES && now < agreement.requested_at + RETRIES_PERIOD;
        if agreement.requests > MAX_RETRIES || is_spread {
            return false;
        }
        let until = now + RESPONSE_TIMEOUT;
        *agreement = Originated {
            state: State::Requested { dialog_token, start: next, until },
            requests: agreement.requests + 1,
            requested_at: now,
            gap: None,
        };
        self.dialog_token = dialog_token;
        self.arm(Some(until));
        let agreement = Agreement {
            amsdu: terms.amsdu,
            tid: priority.get(),
            buffer_size: terms.window as u16,
            timeout: terms.inactivity,
        };
        send(BlockAckAction::AddRequest { dialog_token, agreement, start: (next & 0xfff) as u16 });
        false
    }

    /// Buffer Size of the agreement with `receiver`, while it is in force.
    pub(super) fn window(&self, key: Key) -> Option<u32> {
        match self.find(key)?.state {
            State::Agreed { window, .. } => Some(window),
            State::Idle | State::Requested { .. } => None,
        }
    }

    /// The originator has given up an MPDU outside the agreement, which the recipient may wait for. Returns the request that is to tell
    /// it, if the agreement is in force; if it was asked for, the request waits for that.
    pub(super) fn handle_given_up(&mut self, key: Key, sequence: u32, request: Request) -> Option<Request> {
        let agreement = self.find_mut(key)?;
        match agreement.state {
            State::Agreed { .. } => return Some(request),
            State::Requested { start, .. } if start.wrapping_sub(sequence) as i32 <= 0 => agreement.gap = Some(request),
            State::Requested { .. } | State::Idle => {}
        }
        None
    }

    /// The request that had to wait for the agreement.
    pub(super) fn take_gap(&mut self, key: Key) -> Option<Request> {
        self.find_mut(key)?.gap.take()
    }

    /// The recipient has acknowledged something under the agreement.
    pub(super) fn handle_answer(&mut self, key: Key, now: Instant) {
        if let Some(Originated { state: State::Agreed { idle, .. }, .. }) = self.find_mut(key) {
            idle.since = now;
        }
    }

    /// An MPDU, or a request for a block acknowledgment, has come from an originator.
    pub(super) fn handle_use(&mut self, key: Key, now: Instant) {
        if let Ok(place) = self.received.binary_search_by_key(&key, |&(key, _)| key)
            && let Some(idle) = &mut self.received[place].1.idle
        {
            idle.since = now;
        }
    }

    /// What needs an agreement has come from an originator that has none. Hands `send` what tells it so, once in the time of a response.
    pub(super) fn handle_unknown(&mut self, key: Key, now: Instant, send: impl FnOnce(BlockAckAction)) {
        let received = self.received(key);
        if received.refused_at.is_none_or(|at| at + RESPONSE_TIMEOUT <= now) {
            received.refused_at = Some(now);
            send(delete(key.1, false, Reason::UnknownAgreement));
        }
    }

    /// An action frame has come from `from`, with which the station has agreements by `terms`; `None`: none. Hands `send` the answer.
    pub(super) fn handle_action(
        &mut self,
        from: StationId,
        action: &BlockAckAction,
        terms: Option<Terms>,
        now: Instant,
        send: impl FnOnce(BlockAckAction),
    ) -> Option<Change> {
        match *action {
            BlockAckAction::AddRequest { dialog_token, agreement, start } => {
                let terms = terms.filter(|_| is_priority(agreement.tid));
                let Some(terms) = terms else {
                    send(BlockAckAction::AddResponse { dialog_token, status: Status::Declined, agreement });
                    return None;
                };
                let priority = UserPriority::new(agreement.tid);
                let idle = Idle::new(agreement.timeout, now);
                *self.received((from, priority)) = Received { idle: Some(idle), refused_at: None };
                self.arm(idle.until());
                let window = smaller(u32::from(agreement.buffer_size), terms.window);
                let agreement =
                    Agreement { amsdu: agreement.amsdu && terms.amsdu, buffer_size: window as u16, ..agreement };
                send(BlockAckAction::AddResponse { dialog_token, status: Status::Success, agreement });
                Some(Change::Opened { priority, window, start })
            }
            BlockAckAction::AddResponse { dialog_token, status, agreement } => {
                if let Some(terms) = terms.filter(|_| is_priority(agreement.tid)) {
                    let key = (from, UserPriority::new(agreement.tid));
                    self.handle_response(key, dialog_token, status, agreement, terms, now);
                }
                None
            }
            BlockAckAction::Delete { by_originator, tid, .. } if is_priority(tid) => {
                let key = (from, UserPriority::new(tid));
                if by_originator {
                    let had = self.received(key).idle.take();
                    return had.map(|_| Change::Closed(key.1));
                }
                let agreement = self.originated(key);
                if let State::Agreed { .. } = agreement.state {
                    (agreement.state, agreement.gap) = (State::Idle, None);
                }
                None
            }
            BlockAckAction::Delete { .. } => None,
        }
    }

    fn handle_response(
        &mut self,
        key: Key,
        token: u8,
        status: Status,
        agreement: Agreement,
        terms: Terms,
        now: Instant,
    ) {
        let originated = self.originated(key);
        let State::Requested { dialog_token, .. } = originated.state else { return };
        if dialog_token != token {
            return;
        }
        // A recipient that accepts holds one MPDU at least (9.4.1.13).
        if status != Status::Success || agreement.buffer_size == 0 {
            originated.state = State::Idle;
            return;
        }
        let idle = Idle::new(agreement.timeout, now);
        let window = smaller(u32::from(agreement.buffer_size), terms.window);
        originated.state = State::Agreed { window, idle };
        originated.requests = 0;
        self.arm(idle.until());
    }

    /// The association with a station has ended, and with it all agreements (11.3.5).
    pub(super) fn handle_left(&mut self, station: StationId) {
        self.originated.retain(|&((peer, _), _)| peer != station);
        self.received.retain(|&((peer, _), _)| peer != station);
    }

    /// Ends what is due: hands `send` the action frames, and `closed` the agreements as a recipient that have ended.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        mut send: impl FnMut(StationId, BlockAckAction),
        mut closed: impl FnMut(StationId, UserPriority),
    ) {
        if self.due.is_none_or(|due| now < due) {
            return;
        }
        self.due = None;
        let mut due: Option<Instant> = None;
        let mut is_due = |at: Option<Instant>| {
            let is_due = at.is_some_and(|at| at <= now);
            due = if is_due { due } else { due.into_iter().chain(at).min() };
            is_due
        };
        for &mut ((receiver, priority), ref mut agreement) in &mut self.originated {
            let (until, reason) = match agreement.state {
                State::Idle => continue,
                State::Requested { until, .. } => (Some(until), Reason::EndOfAgreement),
                State::Agreed { idle, .. } => (idle.until(), Reason::Timeout),
            };
            if is_due(until) {
                (agreement.state, agreement.gap) = (State::Idle, None);
                send(receiver, delete(priority, true, reason));
            }
        }
        for &mut ((originator, priority), ref mut received) in &mut self.received {
            if is_due(received.idle.as_ref().and_then(Idle::until)) {
                received.idle = None;
                send(originator, delete(priority, false, Reason::Timeout));
                closed(originator, priority);
            }
        }
        self.due = due;
    }

    /// Time of the next call of [`Self::handle_timeout`], at the latest.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    fn arm(&mut self, at: Option<Instant>) {
        self.due = self.due.into_iter().chain(at).min();
    }

    fn find(&self, key: Key) -> Option<&Originated> {
        let place = self.originated.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        Some(&self.originated[place].1)
    }

    fn find_mut(&mut self, key: Key) -> Option<&mut Originated> {
        let place = self.originated.binary_search_by_key(&key, |&(key, _)| key).ok()?;
        Some(&mut self.originated[place].1)
    }

    fn originated(&mut self, key: Key) -> &mut Originated {
        let place = self.originated.binary_search_by_key(&key, |&(key, _)| key).unwrap_or_else(|place| {
            let none = Originated { state: State::Idle, requests: 0, requested_at: Instant::START, gap: None };
            self.originated.insert(place, (key, none));
            place
        });
        &mut self.originated[place].1
    }

    fn received(&mut self, key: Key) -> &mut Received {
        let place = self.received.binary_search_by_key(&key, |&(key, _)| key).unwrap_or_else(|place| {
            self.received.insert(place, (key, Received { idle: None, refused_at: None }));
            place
        });
        &mut self.received[place].1
    }
}

fn delete(priority: UserPriority, by_originator: bool, reason: Reason) -> BlockAckAction {
    BlockAckAction::Delete { by_originator, tid: priority.get(), reason }
}

/// Whether a traffic identifier is a user priority; the others are of traffic streams (9.2.4.5.2).
const fn is_priority(tid: u8) -> bool {
    tid < 8
}

/// The smaller Buffer Size; an `offered` one of 0 leaves it to the recipient.
const fn smaller(offered: u32, own: u32) -> u32 {
    if offered == 0 || offered > own { own } else { offered }
}
