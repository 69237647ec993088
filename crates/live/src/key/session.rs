//! Sessions between two ends of a stream, with keys that exist for three minutes only.
//!
//! The end that sends, the **initiator**, and the one that listens, the **responder**, make the keys of a session by a
//! [handshake](super::noise) of two messages. These are payloads of a [`Guard`], so that only a holder of the network key who is
//! alive now makes a responder draw a key or remember a session. What follows is sealed with the keys of the session:
//!
//! ```text
//! octets   1      8       8         n        16
//!        +------+------+---------+--------+-----+
//!        | 0x20 | name | counter | sealed | tag |
//!        +------+------+---------+--------+-----+
//! ```
//!
//! The name is the first part of the initiator's public key. Neither the network key nor anything that was ever sent gives the
//! keys away, and both ends forget them [`LIFETIME`] after the handshake.

use std::collections::{BTreeMap, VecDeque};

use hopcast_protocols::time::{Duration, Instant};

use super::guard::{Counters, Guard, Refusal};
use super::noise::{self, Ephemeral, MESSAGE_LEN, Randomness, SharedKey, TAG_LEN, Transport};
use super::window::Window;
use super::{Epoch, Keys, Purpose};

/// Kind of a datagram of a session.
const SESSION: u8 = 0x20;
/// First byte of a payload of the guard: the first message of a handshake follows.
const FIRST: u8 = 1;
/// The same of the second message.
const SECOND: u8 = 2;
/// Length of the name of a session.
const NAME_LEN: usize = 8;
/// Length of kind, name and counter.
const HEADER_LEN: usize = 1 + NAME_LEN + 8;
/// Bytes that a session adds to a datagram.
#[cfg(test)]
pub(crate) const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

/// The initiator makes new keys after this time (WireGuard's Rekey-After-Time).
const RENEWAL: Duration = Duration::from_secs(120);
/// Keys are not used longer than this (WireGuard's Reject-After-Time).
const LIFETIME: Duration = Duration::from_secs(180);
/// A first message without an answer is repeated after this time, then after twice the time, and so on.
const FIRST_INTERVAL: Duration = Duration::from_millis(250);
/// The longest time between two first messages: no longer than ADTFRC waits between two probes of a path that is broken.
const LONGEST_INTERVAL: Duration = Duration::from_secs(2);
/// A responder says that it is there once so much time has passed since the first datagram that it has not answered.
const ALIVE: Duration = Duration::from_millis(500);
/// An initiator that has heard nothing for this time since it has sent something begins another session: the responder may have
/// started again, and know nothing of this one. Twice [`ALIVE`].
const SILENCE: Duration = Duration::from_secs(1);
/// The same for a long way: three times what the handshake has taken, up to three times the longest usual round trip, as messages
/// of the handshake may have been lost.
const SILENCE_ROUNDS: u64 = 3;
const LONGEST_SILENCE: Duration = Duration::from_secs(6);
/// The most sessions that have been answered, and not been used yet.
const MAX_PENDING: usize = 1 << 6;
/// The most sessions that are in use, and those before them.
const MAX_SESSIONS: usize = 1 << 8;

/// The name of a session.
pub(super) type Name = [u8; NAME_LEN];

/// One session, at either end.
#[derive(Clone, Debug)]
struct Session {
    name: Name,
    transport: Transport,
    begun: Instant,
    next_counter: u64,
    window: Window,
}

/// A datagram of a session in parts.
struct Parts<'a> {
    name: Name,
    counter: u64,
    sealed: &'a [u8],
}

impl<'a> Parts<'a> {
    fn split(datagram: &'a [u8]) -> Result<Self, Refusal> {
        let parts = || {
            let (&[kind], rest) = datagram.split_first_chunk()?;
            let (&name, rest) = rest.split_first_chunk()?;
            let (&counter, sealed) = rest.split_first_chunk()?;
            let is_one = kind == SESSION && sealed.len() >= TAG_LEN;
            is_one.then_some(Self { name, counter: u64::from_be_bytes(counter), sealed })
        };
        parts().ok_or(Refusal::Malformed { len: datagram.len() })
    }
}

fn is_of_session(datagram: &[u8]) -> bool {
    datagram.first() == Some(&SESSION)
}

impl Session {
    fn new(name: Name, transport: Transport, begun: Instant) -> Self {
        Self { name, transport, begun, next_counter: 0, window: Window::new(0) }
    }

    fn is_valid(&self, now: Instant) -> bool {
        now.saturating_since(self.begun) < LIFETIME
    }

    /// Puts `payload`, sealed, in place of what is in `datagram`; whether it is short enough.
    fn seal(&mut self, payload: &[u8], datagram: &mut Vec<u8>) -> bool {
        let counter = self.next_counter;
        datagram.clear();
        datagram.push(SESSION);
        datagram.extend_from_slice(&self.name);
        datagram.extend_from_slice(&counter.to_be_bytes());
        datagram.resize(HEADER_LEN + payload.len() + TAG_LEN, 0);
        let sealed = self.transport.write_message(counter, payload, &mut datagram[HEADER_LEN..]).is_ok();
        // A session ends after three minutes, and long before a counter does.
        self.next_counter += u64::from(sealed);
        sealed
    }

    /// Puts what is sealed into `payload`.
    fn open(&mut self, parts: &Parts<'_>, payload: &mut Vec<u8>) -> Result<(), Refusal> {
        let replayed = Refusal::Replayed { counter: parts.counter };
        if self.window.has_come(parts.counter) {
            return Err(replayed);
        }
        payload.resize(parts.sealed.len() - TAG_LEN, 0);
        self.transport.read_message(parts.counter, parts.sealed, payload).map_err(|_| Refusal::Unauthentic)?;
        if self.window.accept(parts.counter) { Ok(()) } else { Err(replayed) }
    }
}

/// What datagrams of sessions came to.
fn count(counters: &mut Counters, opened: &Result<bool, Refusal>) {
    match opened {
        Ok(_) => counters.opened += 1,
        Err(Refusal::Malformed { .. }) => counters.malformed += 1,
        Err(Refusal::Unauthentic) => counters.unauthentic += 1,
        Err(Refusal::Replayed { .. }) => counters.replayed += 1,
        Err(Refusal::Unproven | Refusal::Unidentified) => counters.unproven += 1,
    }
}

/// The end that begins sessions.
#[derive(Clone, Debug)]
pub struct Initiator {
    guard: Guard<()>,
    key: SharedKey,
    randomness: Randomness,
    call: Option<Call>,
    /// There was a session in this life.
    was_answered: bool,
    session: Option<Session>,
    /// The session before: its last datagrams may be on the way.
    previous: Option<Session>,
    /// When the first datagram of this session left since the peer was heard last.
    unanswered: Option<Instant>,
    /// How long an answer may take.
    patience: Duration,
    counters: Counters,
}

/// A handshake that has no answer yet.
#[derive(Clone)]
struct Call {
    secret: Ephemeral,
    message: [u8; MESSAGE_LEN],
    begun: Instant,
    /// When it is to be said again.
    due: Instant,
    interval: Duration,
}

/// Without its secret.
impl core::fmt::Debug for Call {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { message, begun, due, interval, .. } = self;
        (message, begun, due, interval).fmt(formatter)
    }
}

impl Initiator {
    /// One for one life of one program, in which `epoch` was never used before.
    pub(crate) fn new(keys: &Keys, epoch: Epoch, randomness: Randomness, now: Instant) -> Self {
        Self {
            guard: Guard::new(keys, Purpose::Stream, epoch, now),
            key: SharedKey::of(keys.first()),
            randomness,
            call: None,
            was_answered: false,
            session: None,
            previous: None,
            unanswered: None,
            patience: SILENCE,
            counters: Counters::default(),
        }
    }

    /// Whether there is a session to send in.
    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        self.session.as_ref().is_some_and(|session| session.is_valid(now))
    }

    /// Since when the first session is wanted and not there.
    pub(crate) fn first_call(&self) -> Option<Instant> {
        self.call.as_ref().filter(|_| !self.was_answered).map(|call| call.begun)
    }

    /// Begins a handshake, unless one has begun.
    pub(crate) fn call(&mut self, now: Instant) {
        if self.call.is_some() {
            return;
        }
        let Some(secret) = self.randomness.draw() else {
            // Without randomness it tries again later.
            self.unanswered = self.unanswered.map(|_| now);
            return;
        };
        self.call = noise::first_message(&self.key, &secret).map(|message| Call {
            secret,
            message,
            begun: now,
            due: now,
            interval: FIRST_INTERVAL,
        });
    }

    /// Puts `payload`, sealed, in place of what is in `datagram`; `false`: there is no session, and one begins.
    pub(crate) fn seal(&mut self, now: Instant, payload: &[u8], datagram: &mut Vec<u8>) -> bool {
        let Some(session) = self.session.as_mut().filter(|session| session.is_valid(now)) else {
            self.call(now);
            return false;
        };
        let age = now.saturating_since(session.begun);
        if !session.seal(payload, datagram) {
            return false;
        }
        self.counters.sealed += 1;
        self.unanswered.get_or_insert(now);
        if age >= RENEWAL {
            self.call(now);
        }
        true
    }

    /// Puts what `datagram` has sealed into `payload`; whether there is something in it. [`Self::poll_datagram`] is to be asked next.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn open(&mut self, now: Instant, datagram: &[u8], payload: &mut Vec<u8>) -> Result<bool, Refusal> {
        if is_of_session(datagram) {
            let opened = self.open_session(now, datagram, payload);
            count(&mut self.counters, &opened);
            return opened;
        }
        if self.guard.open(now, datagram, (), payload)?.is_some() {
            self.handle_second(now, payload);
        }
        Ok(false)
    }

    /// Puts the next datagram that is to be sent in place of what is in `datagram`; whether there is one.
    pub(crate) fn poll_datagram(&mut self, now: Instant, datagram: &mut Vec<u8>) -> bool {
        if self.guard.poll_answer(now, datagram) {
            return true;
        }
        let Some(call) = self.call.as_mut().filter(|call| call.due <= now) else { return false };
        call.due = now + call.interval;
        call.interval = (call.interval * 2).min(LONGEST_INTERVAL);
        let mut payload = [FIRST; 1 + MESSAGE_LEN];
        payload[1..].copy_from_slice(&call.message);
        self.guard.seal(now, &payload, datagram);
        true
    }

    /// Time of the next call of [`Self::handle_timeout`], and of [`Self::poll_datagram`] after it.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let sessions = self.session.iter().chain(&self.previous).map(|session| session.begun + LIFETIME);
        let call = self.call.as_ref().map_or(self.silence_ends(), |call| Some(call.due));
        sessions.chain(call).min()
    }

    /// When the peer has been silent for too long.
    fn silence_ends(&self) -> Option<Instant> {
        self.unanswered.map(|since| since + self.patience)
    }

    /// Time has come to `now`: forgets keys that are too old, and begins another session where the peer is silent.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.silence_ends().is_some_and(|due| due <= now) {
            self.call(now);
        }
        self.session.take_if(|session| !session.is_valid(now));
        self.previous.take_if(|session| !session.is_valid(now));
    }

    /// What became of the datagrams so far.
    pub(crate) fn counters(&self) -> Counters {
        self.guard.counters() + self.counters
    }

    /// The name of the session that there is.
    #[cfg(test)]
    pub(super) fn session(&self) -> Option<Name> {
        self.session.as_ref().map(|session| session.name)
    }

    fn open_session(&mut self, now: Instant, datagram: &[u8], payload: &mut Vec<u8>) -> Result<bool, Refusal> {
        let parts = Parts::split(datagram)?;
        let mut sessions = self.session.iter_mut().chain(&mut self.previous);
        let session = sessions.find(|session| session.name == parts.name && session.is_valid(now));
        let session = session.ok_or(Refusal::Unproven)?;
        session.open(&parts, payload)?;
        // What comes in the session before says nothing of this one.
        if self.session.as_ref().is_some_and(|session| session.name == parts.name) {
            self.unanswered = None;
        }
        Ok(!payload.is_empty())
    }

    fn handle_second(&mut self, now: Instant, payload: &[u8]) {
        let (Some(call), Some((&SECOND, second))) = (&self.call, payload.split_first()) else { return };
        // Another holder of the key, or an answer to an earlier message: the handshake goes on.
        let Some(transport) = noise::finish(&self.key, &call.secret, second) else { return };
        let rounds = now.saturating_since(call.begun) * SILENCE_ROUNDS;
        self.patience = rounds.clamp(SILENCE, LONGEST_SILENCE);
        let session = Session::new(name(&call.message), transport, call.begun);
        self.previous = self.session.replace(session).filter(|session| session.is_valid(now));
        (self.call, self.unanswered, self.was_answered) = (None, None, true);
    }
}

fn name(first: &[u8; MESSAGE_LEN]) -> Name {
    *first.first_chunk().expect("a message is longer than a name")
}

/// The end that answers. It knows its peers by an address, an `A`.
#[derive(Clone, Debug)]
pub struct Responder<A> {
    guard: Guard<A>,
    keys: Vec<SharedKey>,
    randomness: Randomness,
    sessions: BTreeMap<Name, Answered<A>>,
    /// The session in which each address is talked to.
    newest: BTreeMap<A, Name>,
    outbox: VecDeque<(A, Vec<u8>)>,
    counters: Counters,
}

/// A session that was answered.
#[derive(Clone, Debug)]
struct Answered<A> {
    session: Session,
    address: A,
    /// The second message, until the first datagram in this session has come.
    reply: Option<[u8; MESSAGE_LEN]>,
    /// When the first datagram came since one was sent.
    owes: Option<Instant>,
}

impl<A: Copy + Ord> Responder<A> {
    /// One for one life of one program, in which `epoch` was never used before.
    pub(crate) fn new(keys: &Keys, epoch: Epoch, randomness: Randomness, now: Instant) -> Self {
        Self {
            guard: Guard::new(keys, Purpose::Stream, epoch, now),
            keys: keys.all().iter().map(SharedKey::of).collect(),
            randomness,
            sessions: BTreeMap::new(),
            newest: BTreeMap::new(),
            outbox: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Puts `payload`, sealed for `to`, in place of what is in `datagram`; `false`: there is no session.
    pub(crate) fn seal(&mut self, now: Instant, to: A, payload: &[u8], datagram: &mut Vec<u8>) -> bool {
        let answered = self.newest.get(&to).and_then(|name| self.sessions.get_mut(name));
        let Some(answered) = answered.filter(|answered| answered.session.is_valid(now)) else { return false };
        let is_sealed = answered.session.seal(payload, datagram);
        answered.owes = None;
        self.counters.sealed += u64::from(is_sealed);
        is_sealed
    }

    /// Puts what `datagram` has sealed into `payload`; whether there is something in it. [`Self::poll_datagram`] is to be asked next.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn open(
        &mut self,
        now: Instant,
        datagram: &[u8],
        from: A,
        payload: &mut Vec<u8>,
    ) -> Result<bool, Refusal> {
        if is_of_session(datagram) {
            let opened = self.open_session(now, datagram, from, payload);
            count(&mut self.counters, &opened);
            return opened;
        }
        let opened = self.guard.open(now, datagram, from, payload);
        let mut answer = Vec::new();
        if self.guard.poll_answer(now, &mut answer) {
            self.outbox.push_back((from, answer));
        }
        if let Some(address) = opened? {
            self.handle_first(now, address, payload);
        }
        Ok(false)
    }

    /// Takes out the next datagram that is to be sent, and where to.
    pub(crate) fn poll_datagram(&mut self) -> Option<(A, Vec<u8>)> {
        self.outbox.pop_front()
    }

    /// Time of the next call of [`Self::handle_timeout`], and of [`Self::poll_datagram`] after it.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let all = self.sessions.values();
        all.flat_map(|answered| [Some(answered.session.begun + LIFETIME), answered.alive_at()]).flatten().min()
    }

    /// Time has come to `now`: forgets keys that are too old, and says that it is there where nothing else does.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.sessions.retain(|_, answered| answered.session.is_valid(now));
        self.newest.retain(|_, name| self.sessions.contains_key(name));
        for answered in self.sessions.values_mut() {
            if answered.alive_at().is_some_and(|due| due <= now) {
                let mut datagram = Vec::new();
                answered.owes = None;
                // An empty payload is short enough.
                let _ = answered.session.seal(&[], &mut datagram);
                self.counters.sealed += 1;
                self.outbox.push_back((answered.address, datagram));
            }
        }
    }

    /// What became of the datagrams so far.
    pub(crate) fn counters(&self) -> Counters {
        self.guard.counters() + self.counters
    }

    fn open_session(&mut self, now: Instant, datagram: &[u8], from: A, payload: &mut Vec<u8>) -> Result<bool, Refusal> {
        let parts = Parts::split(datagram)?;
        let known = self.sessions.get_mut(&parts.name);
        // A session belongs to one address: nobody draws answers elsewhere by passing a datagram on.
        let known = known.filter(|known| known.address == from && known.session.is_valid(now));
        let known = known.ok_or(Refusal::Unproven)?;
        known.session.open(&parts, payload)?;
        known.owes.get_or_insert(now);
        if known.reply.take().is_some() {
            self.confirm(parts.name, from);
        }
        Ok(!payload.is_empty())
    }

    /// The first datagram has come in a session: what is sent to this address is sent in it. The one before stays for what is on the
    /// way, and none else.
    fn confirm(&mut self, name: Name, address: A) {
        let before = self.newest.insert(address, name);
        let stays = |other: &Name| *other == name || Some(*other) == before;
        self.sessions.retain(|other, known| known.address != address || known.reply.is_some() || stays(other));
        self.limit(MAX_SESSIONS, |known| known.reply.is_none());
    }

    /// The first message of a holder that is alive now.
    fn handle_first(&mut self, now: Instant, address: A, payload: &[u8]) {
        let Some((&FIRST, first)) = payload.split_first() else { return };
        let Ok(first) = <&[u8; MESSAGE_LEN]>::try_from(first) else { return };
        let name = name(first);
        let reply = match self.sessions.get(&name) {
            // It asks again, as it has no answer. In a session that was used it has one.
            Some(known) => known.reply.filter(|_| known.address == address),
            None => self.begin(now, name, address, first),
        };
        let Some(reply) = reply else { return };
        let (mut payload, mut datagram) = ([SECOND; 1 + MESSAGE_LEN], Vec::new());
        payload[1..].copy_from_slice(&reply);
        self.guard.seal(now, &payload, &mut datagram);
        self.outbox.push_back((address, datagram));
    }

    fn begin(&mut self, now: Instant, name: Name, address: A, first: &[u8; MESSAGE_LEN]) -> Option<[u8; MESSAGE_LEN]> {
        let secret = self.randomness.draw()?;
        let (reply, transport) = self.keys.iter().find_map(|key| noise::answer(key, &secret, first))?;
        let session = Session::new(name, transport, now);
        self.sessions.insert(name, Answered { session, address, reply: Some(reply), owes: None });
        self.limit(MAX_PENDING, |known| known.reply.is_some());
        Some(reply)
    }

    /// Forgets the oldest session of a kind, if there are more than `most`.
    fn limit(&mut self, most: usize, is_kind: impl Fn(&Answered<A>) -> bool) {
        let kind = || self.sessions.iter().filter(|(_, known)| is_kind(known));
        if kind().count() <= most {
            return;
        }
        let oldest = kind().min_by_key(|(_, known)| known.session.begun).map(|(&name, known)| (name, known.address));
        if let Some((name, address)) = oldest {
            self.sessions.remove(&name);
            if self.newest.get(&address) == Some(&name) {
                self.newest.remove(&address);
            }
        }
    }

    /// The names of all sessions, and whether each was used.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = (Name, bool)> {
        self.sessions.iter().map(|(&name, known)| (name, known.reply.is_none()))
    }

    /// The number of sessions that were used, and of those that were not.
    #[cfg(any(test, feature = "testkit"))]
    pub(crate) fn sessions(&self) -> [usize; 2] {
        let used = self.sessions.values().filter(|known| known.reply.is_none()).count();
        [used, self.sessions.len() - used]
    }
}

impl<A> Answered<A> {
    /// When it is to say that it is there.
    fn alive_at(&self) -> Option<Instant> {
        self.owes.map(|since| since + ALIVE)
    }
}

#[cfg(test)]
mod tests {
    use chacha20poly1305::{AeadInOut as _, Nonce, Tag};
    use proptest::prelude::*;

    use super::super::{EPOCH_LEN, KEY_LEN, NetworkKey};
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    /// Key 1 to 99, epochs and secrets that follow from a number.
    fn initiator_with(key: u8, life: u8) -> Initiator {
        let randomness = Randomness::Counted(u64::from(life) << 8);
        Initiator::new(&Keys::one([key; KEY_LEN]), Epoch([life; EPOCH_LEN]), randomness, at(0))
    }

    fn responder_with(key: u8, life: u8) -> Responder<u8> {
        let randomness = Randomness::Counted(u64::from(life) << 8);
        Responder::new(&Keys::one([key; KEY_LEN]), Epoch([life; EPOCH_LEN]), randomness, at(0))
    }

    /// A wire between an initiator at an address and a responder, which records all.
    struct Wire {
        initiator: Initiator,
        responder: Responder<u8>,
        address: u8,
        recording: Vec<Vec<u8>>,
        taken: [Vec<Vec<u8>>; 2],
    }

    impl Wire {
        fn new() -> Self {
            let (initiator, responder) = (initiator_with(1, 1), responder_with(1, 2));
            Self { initiator, responder, address: 7, recording: Vec::new(), taken: Default::default() }
        }

        /// Carries what there is to send at this instant, and what is answered to it, in turn.
        fn settle(&mut self, now: Instant) {
            let mut datagram = Vec::new();
            loop {
                self.initiator.handle_timeout(now);
                self.responder.handle_timeout(now);
                let mut is_still = true;
                while self.initiator.poll_datagram(now, &mut datagram) {
                    self.deliver_to_responder(now, &datagram);
                    is_still = false;
                }
                while let Some((to, datagram)) = self.responder.poll_datagram() {
                    assert_eq!(to, self.address);
                    self.deliver_to_initiator(now, &datagram);
                    is_still = false;
                }
                if is_still {
                    return;
                }
            }
        }

        fn deliver_to_responder(&mut self, now: Instant, datagram: &[u8]) {
            self.recording.push(datagram.to_vec());
            let mut payload = Vec::new();
            if self.responder.open(now, datagram, self.address, &mut payload) == Ok(true) {
                self.taken[1].push(payload);
            }
        }

        fn deliver_to_initiator(&mut self, now: Instant, datagram: &[u8]) {
            self.recording.push(datagram.to_vec());
            let mut payload = Vec::new();
            if self.initiator.open(now, datagram, &mut payload) == Ok(true) {
                self.taken[0].push(payload);
            }
        }

        /// Sends a payload; whether there was a session for it.
        fn send(&mut self, now: Instant, payload: &[u8]) -> bool {
            let mut datagram = Vec::new();
            let is_sealed = self.initiator.seal(now, payload, &mut datagram);
            if is_sealed {
                self.deliver_to_responder(now, &datagram);
            }
            self.settle(now);
            is_sealed
        }

        fn answer(&mut self, now: Instant, payload: &[u8]) -> bool {
            let mut datagram = Vec::new();
            let is_sealed = self.responder.seal(now, self.address, payload, &mut datagram);
            if is_sealed {
                self.deliver_to_initiator(now, &datagram);
            }
            self.settle(now);
            is_sealed
        }

        fn of_session(&self) -> Vec<Vec<u8>> {
            self.recording.iter().filter(|datagram| is_of_session(datagram)).cloned().collect()
        }
    }

    #[test]
    fn a_session_begins_with_the_first_datagram_and_carries_both_ways() {
        let mut wire = Wire::new();
        assert!(!wire.send(at(0), b"lost"), "there is no session yet");
        assert_eq!(wire.recording.iter().map(Vec::len).collect::<Vec<_>>(), [90, 74, 74, 90]);
        assert!(wire.initiator.is_ready(at(0)));
        assert!(!wire.answer(at(1), b"early"), "nobody has used the session yet");
        assert!(wire.send(at(1), b"there") && wire.answer(at(2), b"back"));
        assert_eq!(wire.taken, [vec![b"back".to_vec()], vec![b"there".to_vec()]]);
        assert_eq!(wire.of_session()[0].len(), OVERHEAD + 5);
        assert_eq!(OVERHEAD, 33);
        assert_eq!(wire.responder.sessions(), [1, 0]);
    }

    #[test]
    fn nothing_is_taken_twice_and_nothing_altered_or_from_elsewhere() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        let mut datagram = Vec::new();
        assert!(wire.initiator.seal(at(1), b"once", &mut datagram));
        let mut payload = Vec::new();
        let unproven = Err(Refusal::Unproven);
        assert_eq!(wire.responder.open(at(1), &datagram, 8, &mut payload), unproven, "from another address");
        for place in 0..datagram.len() {
            let mut altered = datagram.clone();
            altered[place] ^= 1;
            assert!(wire.responder.open(at(1), &altered, 7, &mut payload).is_err(), "byte {place}");
        }
        for len in 0..datagram.len() {
            assert!(wire.responder.open(at(1), &datagram[..len], 7, &mut payload).is_err(), "{len} bytes");
        }
        assert_eq!(wire.responder.open(at(1), &datagram, 7, &mut payload), Ok(true));
        assert_eq!(payload, b"once");
        let replayed = Err(Refusal::Replayed { counter: 0 });
        assert_eq!(wire.responder.open(at(1), &datagram, 7, &mut payload), replayed);
        assert_eq!(wire.responder.poll_datagram(), None, "none of this is answered");
    }

    #[test]
    fn keys_change_every_two_minutes_while_payloads_go_on() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        let mut names = Vec::new();
        for second in 1..=605_u64 {
            assert!(wire.send(at(second * 1000), &second.to_be_bytes()), "after {second} s");
            assert!(wire.answer(at(second * 1000), b"yes"));
            names.push(wire.initiator.session.as_ref().expect("a session").name);
        }
        assert_eq!((wire.taken[1].len(), wire.taken[0].len()), (605, 605), "none is lost");
        names.dedup();
        assert_eq!(names.len(), 6, "another one at 120 s and so on");
        assert_eq!(wire.responder.sessions(), [2, 0], "the present one and the one before");
    }

    #[test]
    fn an_end_that_is_idle_has_no_keys_left_after_three_minutes() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        wire.send(at(1), b"x");
        wire.answer(at(1), b"y");
        let due = [wire.initiator.poll_timeout(), wire.responder.poll_timeout()];
        assert_eq!(due, [Some(at(180_000)); 2]);
        wire.settle(at(180_000));
        assert!(wire.initiator.session.is_none() && wire.initiator.previous.is_none());
        assert_eq!(wire.responder.sessions(), [0, 0]);
        assert!(!wire.answer(at(180_000), b"z"));
        assert_eq!([wire.initiator.poll_timeout(), wire.responder.poll_timeout()], [None; 2]);
        // The next payload begins another one.
        assert!(!wire.send(at(181_000), b"") && wire.send(at(181_001), b"again"));
        assert_eq!(wire.taken[1].last(), Some(&b"again".to_vec()));
    }

    #[test]
    fn a_receiver_that_starts_again_is_found_within_a_second() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        wire.send(at(10), b"before");
        wire.answer(at(10), b"heard");
        wire.responder = responder_with(1, 3);
        for millis in (20..=2000).step_by(20) {
            wire.send(at(millis), &millis.to_be_bytes());
        }
        let first = wire.taken[1].get(1).and_then(|payload| payload[..].try_into().ok()).map(u64::from_be_bytes);
        assert_eq!(first, Some(1040), "1 s after the first that was not heard");
    }

    #[test]
    fn a_sender_that_starts_again_has_a_new_session_at_once() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        wire.send(at(10), b"before");
        wire.initiator = initiator_with(1, 3);
        wire.send(at(20), b"");
        assert!(wire.send(at(21), b"after") && wire.answer(at(21), b"yes"));
        assert_eq!((wire.taken[1].len(), wire.taken[0].len()), (2, 1));
    }

    /// One way only: the receiver says now and then that it is there, and the sender asks for nothing.
    #[test]
    fn a_receiver_that_has_nothing_to_say_says_that_it_is_there() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        for millis in (10..=60_000).step_by(10) {
            assert!(wire.send(at(millis), b"media"));
        }
        assert_eq!(wire.taken[1].len(), 6000);
        let said = wire.recording.iter().filter(|datagram| datagram.len() == OVERHEAD).count();
        assert!((115..=120).contains(&said), "{said} in a minute");
        let handshakes = wire.recording.len() - wire.of_session().len();
        assert_eq!(handshakes, 4, "that is one");
    }

    #[test]
    fn a_lost_message_of_the_handshake_is_said_again() {
        let mut wire = Wire::new();
        wire.initiator.call(at(0));
        let (mut datagram, mut said) = (Vec::new(), Vec::new());
        for millis in 0..10_000 {
            while wire.initiator.poll_datagram(at(millis), &mut datagram) {
                said.push(millis);
            }
        }
        assert_eq!(said, [0, 250, 750, 1750, 3750, 5750, 7750, 9750]);
        wire.settle(at(20_000));
        assert!(wire.initiator.is_ready(at(20_000)));
    }

    /// A round trip that is longer than the time after which the first message is said again.
    #[test]
    fn a_long_way_ends_with_one_session() {
        let mut wire = Wire::new();
        wire.initiator.call(at(0));
        let mut air: BTreeMap<(u64, usize), (bool, Vec<u8>)> = BTreeMap::new();
        let (mut datagram, mut number) = (Vec::new(), 0);
        for millis in 0..20_000 {
            while let Some(entry) = air.first_entry().filter(|entry| entry.key().0 <= millis) {
                let (is_to_responder, datagram) = entry.remove();
                if is_to_responder {
                    wire.deliver_to_responder(at(millis), &datagram);
                } else {
                    wire.deliver_to_initiator(at(millis), &datagram);
                }
            }
            while wire.initiator.poll_datagram(at(millis), &mut datagram) {
                number += 1;
                air.insert((millis + 900, number), (true, datagram.clone()));
            }
            while let Some((_, datagram)) = wire.responder.poll_datagram() {
                number += 1;
                air.insert((millis + 900, number), (false, datagram));
            }
        }
        assert!(wire.initiator.is_ready(at(20_000)));
        assert_eq!(wire.responder.sessions(), [0, 1], "whatever was said again");
        assert!(wire.initiator.patience > Duration::from_secs(5), "{}", wire.initiator.patience);
    }

    #[test]
    fn another_key_begins_nothing_and_the_second_key_of_the_receiver_does() {
        let mut wire = Wire::new();
        wire.responder = responder_with(2, 2);
        wire.send(at(0), b"");
        assert_eq!(wire.recording.len(), 1, "no answer");
        assert_eq!(wire.responder.sessions(), [0, 0]);
        // The sender uses the new key already, and opens what the receiver seals with the old one.
        let keys = |octets: [u8; 2]| Keys(octets.map(|octet| NetworkKey::new([octet; KEY_LEN])).to_vec());
        wire.initiator = Initiator::new(&keys([2, 1]), Epoch([4; EPOCH_LEN]), Randomness::Counted(700), at(0));
        wire.responder = Responder::new(&keys([1, 2]), Epoch([3; EPOCH_LEN]), Randomness::Counted(900), at(0));
        wire.send(at(1000), b"");
        assert!(wire.send(at(1001), b"sealed with the second"));
        assert_eq!(wire.taken[1].len(), 1);
    }

    /// Recordings of handshakes, however often: no key is drawn, nothing is remembered of sessions.
    #[test]
    fn recordings_begin_no_session() {
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        wire.send(at(1), b"secret");
        let recording = wire.recording.clone();
        let mut late = responder_with(1, 9);
        let (mut came, mut went) = (0, 0);
        for round in 0..200 {
            for datagram in &recording {
                came += datagram.len();
                assert!(late.open(at(5000 + round), datagram, 7, &mut Vec::new()).is_err());
                while let Some((_, answer)) = late.poll_datagram() {
                    went += answer.len();
                    assert!(answer.len() <= datagram.len());
                }
            }
        }
        assert_eq!(late.sessions(), [0, 0]);
        assert!(matches!(late.randomness, Randomness::Counted(number) if number == 9 << 8), "no key was drawn");
        assert!(went > 0 && went < came / 10, "{went} of {came}");
    }

    #[test]
    fn holders_make_a_receiver_remember_a_bounded_number_of_sessions() {
        let mut responder = responder_with(1, 2);
        let mut datagram = Vec::new();
        for number in 0..400_u32 {
            let now = at(u64::from(number));
            let mut epoch = [9; EPOCH_LEN];
            epoch[..4].copy_from_slice(&number.to_be_bytes());
            let randomness = Randomness::Counted(1_000_000 + 10 * u64::from(number));
            let mut other = Initiator::new(&Keys::one([1; KEY_LEN]), Epoch(epoch), randomness, now);
            other.call(now);
            for _ in 0..3 {
                while other.poll_datagram(now, &mut datagram) {
                    let _ = responder.open(now, &datagram, number as u8, &mut Vec::new());
                }
                while let Some((_, datagram)) = responder.poll_datagram() {
                    let _ = other.open(now, &datagram, &mut Vec::new());
                }
            }
            assert!(other.is_ready(now));
            // Every other one uses its session.
            if number % 2 == 0 && other.seal(now, b"x", &mut datagram) {
                let _ = responder.open(now, &datagram, number as u8, &mut Vec::new());
            }
            let [used, pending] = responder.sessions();
            assert!(used <= MAX_SESSIONS && pending <= MAX_PENDING, "{used} {pending}");
        }
        assert_eq!(responder.sessions()[1], MAX_PENDING);
        assert!(responder.newest.len() <= MAX_SESSIONS);
    }

    /// What an attacker reads who has all datagrams, and later the network key: each datagram of a guard.
    fn read_with_the_network_key(key: &NetworkKey, purpose: Purpose, datagram: &[u8]) -> Option<Vec<u8>> {
        const GUARD_HEADER_LEN: usize = 25;
        let (header, rest) = datagram.split_at_checked(GUARD_HEADER_LEN)?;
        let (sealed, tag) = rest.split_last_chunk::<TAG_LEN>()?;
        let epoch = Epoch(header[1..17].try_into().ok()?);
        let nonce = [&[0; 4][..], &header[17..]].concat();
        let mut plain = sealed.to_vec();
        let nonce = Nonce::try_from(&nonce[..]).ok()?;
        let cipher = key.cipher(purpose, epoch);
        let opened = cipher.decrypt_inout_detached(&nonce, header, plain.as_mut_slice().into(), &Tag::from(*tag));
        opened.ok().map(|()| plain)
    }

    /// The same attacker on sessions, with the secret of one end: what it would need.
    fn read_with_a_secret(key: &NetworkKey, secret: &Ephemeral, recording: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let handshake = recording.iter().filter_map(|one| read_with_the_network_key(key, Purpose::Stream, one));
        let seconds: Vec<_> = handshake.filter(|plain| plain.first() == Some(&SECOND)).collect();
        let shared = SharedKey::of(key);
        let transports = seconds.iter().filter_map(|second| noise::finish(&shared, secret, &second[1..]));
        let read = transports.flat_map(|transport| {
            recording.iter().filter_map(move |datagram| {
                let parts = Parts::split(datagram).ok()?;
                let mut plain = vec![0; datagram.len()];
                // Whoever reads what the initiator has sent has the keys of the responder, and the other way round.
                let len = transport.read_message(parts.counter, parts.sealed, &mut plain).ok()?;
                Some(plain[..len].to_vec())
            })
        });
        read.collect()
    }

    #[test]
    fn a_recording_is_read_with_the_key_before_and_not_in_a_session() {
        let key = NetworkKey::new([1; KEY_LEN]);
        // Before: media sealed by the guard alone, as routing messages are.
        let mut before: Guard<()> =
            Guard::new(&Keys::one([1; KEY_LEN]), Purpose::Node("olsr"), Epoch([5; EPOCH_LEN]), at(0));
        let mut datagram = Vec::new();
        before.seal(at(0), b"media of 33 bytes, so not padded.", &mut datagram);
        let read = read_with_the_network_key(&key, Purpose::Node("olsr"), &datagram);
        assert_eq!(read.as_deref(), Some(&b"media of 33 bytes, so not padded."[..]));
        // Now: all of a session is recorded.
        let mut wire = Wire::new();
        wire.send(at(0), b"");
        for number in 0..10 {
            assert!(wire.send(at(10 + number), b"media of 33 bytes, so not padded."));
            assert!(wire.answer(at(10 + number), b"feedback of 33 bytes, not padded."));
        }
        let (recording, sessions) = (&wire.recording, wire.of_session());
        let purpose = Purpose::Stream;
        let opened: Vec<_> = recording.iter().filter_map(|one| read_with_the_network_key(&key, purpose, one)).collect();
        assert_eq!(opened.len(), 4, "the handshake is read");
        assert!(opened.iter().all(|plain| !plain.windows(5).any(|part| part == b"media")));
        assert_eq!(sessions.len(), 20);
        // With the key and secrets of the attacker, who answers and finishes the recorded messages, nothing is read.
        for number in 0..50 {
            let secret = [number; noise::EPHEMERAL_LEN];
            assert_eq!(read_with_a_secret(&key, &secret, recording), Vec::<Vec<u8>>::new());
            let first = opened.iter().find(|plain| plain.first() == Some(&FIRST)).expect("a first message");
            let (_, transport) = noise::answer(&SharedKey::of(&key), &secret, &first[1..]).expect("it has the key");
            for datagram in &sessions {
                let parts = Parts::split(datagram).expect("a datagram of a session");
                let mut plain = vec![0; datagram.len()];
                assert!(transport.read_message(parts.counter, parts.sealed, &mut plain).is_err());
            }
        }
        // That this attacker can read at all: with the secret that the initiator has drawn and forgotten.
        let mut drawn = Randomness::Counted(1 << 8);
        let secret = drawn.draw().expect("a number");
        let feedback = vec![b"feedback of 33 bytes, not padded.".to_vec(); 10];
        assert_eq!(read_with_a_secret(&key, &secret, recording), feedback);
        assert!(wire.initiator.call.is_none(), "it is forgotten");
    }

    /// The session of docs/key-protocol.md, which tests/python/test_key_protocol.py computes with another implementation.
    #[test]
    fn the_octets_are_those_of_the_specification() {
        let page = include_str!("../../../../docs/key-protocol.md");
        let vectors: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("session ")).collect();
        let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
        let key = SharedKey::of(&NetworkKey::new(std::array::from_fn(|place| place as u8)));
        let secret = |first: u8| -> Ephemeral { std::array::from_fn(|place| first + place as u8) };
        let first = noise::first_message(&key, &secret(0x40)).expect("a message");
        let (second, theirs) = noise::answer(&key, &secret(0x80), &first).expect("it is understood");
        let ours = noise::finish(&key, &secret(0x40), &second).expect("it is understood");
        let mut ends = [ours, theirs].map(|transport| Session::new(name(&first), transport, at(0)));
        let mut datagrams = Vec::new();
        for (end, payload) in [(0, &b"hello"[..]), (0, b"media"), (1, b"feedback")] {
            let mut datagram = Vec::new();
            assert!(ends[end].seal(payload, &mut datagram));
            datagrams.push(hex(&datagram));
        }
        assert_eq!(vectors, [vec![hex(&first), hex(&second)], datagrams].concat());
    }

    proptest! {
        #[test]
        fn arbitrary_octets_begin_and_end_nothing(
            datagrams in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..120), 1..20),
            kind in proptest::sample::select(vec![SESSION, 0x10, 0x11]),
        ) {
            let mut wire = Wire::new();
            wire.send(at(0), b"");
            for mut datagram in datagrams {
                if let Some(first) = datagram.first_mut() {
                    *first = kind;
                }
                prop_assert!(wire.responder.open(at(1), &datagram, 7, &mut Vec::new()).is_err());
                prop_assert!(wire.initiator.open(at(1), &datagram, &mut Vec::new()).is_err());
                // One with the name of the session, which everybody sees.
                let session = wire.initiator.session.as_ref().expect("it goes on");
                let forged = [&[SESSION][..], &session.name, &datagram].concat();
                prop_assert!(wire.responder.open(at(1), &forged, 7, &mut Vec::new()).is_err());
                prop_assert!(wire.initiator.open(at(1), &forged, &mut Vec::new()).is_err());
                prop_assert_eq!(wire.responder.poll_datagram(), None);
            }
            prop_assert!(wire.send(at(2), b"still") && wire.answer(at(2), b"here"));
            prop_assert_eq!(&wire.taken, &[vec![b"here".to_vec()], vec![b"still".to_vec()]]);
        }
    }
}
