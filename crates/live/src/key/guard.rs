//! Sealing and opening of datagrams, and the proof that a sender is alive now.
//!
//! A datagram of an unknown epoch waits, while a **control** datagram asks its sender. The answer, also a control
//! datagram, repeats epoch and counter of what it answers, and says from which counter on everything of its sender is new. A host that
//! names a datagram that was sealed less than 3 s ago lives now, because no recording can contain that name. So two control
//! datagrams make two nodes known to each other:
//!
//! ```text
//! A                                             B
//! | data of epoch A, counter 7  --------------> |  A is unknown: 7 waits
//! | <- B's 0: to A's 7, new from 0; who are you |  names a new datagram of A: A knows B
//! | A's 8: to B's 0, new from 5  -------------> |  names a new datagram of B: B knows A, and takes 7
//! ```
//!
//! A proof lasts for [`PROOF`]. After half of it, the receiver asks the sender again and still accepts its datagrams. A
//! sender whose proof has ended, because it was silent or did not answer, is asked like a new one, and its datagrams
//! wait. The proof also moves the accepted counters on: nothing is accepted later than 63 s after it was sealed
//! ([`PROOF`], and three times [`FRESHNESS`]), even if an attacker has held it back.
//!
//! Only a holder of the key can make datagrams that pass, and a recording never names a datagram that was sealed after
//! it. Therefore neither garbage nor recordings get into the list of known senders, and neither keeps a new sender out of
//! it. Recordings can make [`MAX_ASKED`] datagrams wait, and cause twice as many answers each [`ASK_INTERVAL`]. No answer
//! is longer than what it answers, because a short payload is padded ([`MIN_LEN`]).
//!
//! A guard with an [`Identity`] signs each datagram, control datagrams too, and one with a list of [`Members`] takes nothing else. All that
//! have the network key can seal a datagram in the name of any epoch, but not sign it.
//!
//! A guard seals with the first of its keys and opens with all of them, so that the nodes of a network can change the key
//! one after the other ([`Guard::change_keys`]).

use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

use chacha20poly1305::{AeadInOut as _, ChaCha20Poly1305, Nonce, Tag};
use hopcast_protocols::time::{Duration, Instant};
use schemars::JsonSchema;
use serde::Serialize;

use super::identity::{Identity, MARK_LEN, Mark, Member, Members, SIGNATURE_LEN, Signed};
use super::window::Window;
use super::{EPOCH_LEN, Epoch, Keys, NetworkKey, Purpose};

/// Length of kind, epoch and counter, in bytes.
const HEADER_LEN: usize = 1 + EPOCH_LEN + 8;
/// Length of a tag (RFC 8439, section 2.5), in bytes.
const TAG_LEN: usize = 16;
/// Bytes that sealing adds to a datagram of [`MIN_LEN`] or more.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

/// Kind of a datagram with something of its user in it.
const DATA: u8 = 0x10;
/// Kind of a datagram that makes its sender known. The upper half is the version of the format.
const CONTROL: u8 = 0x11;
/// Kind of a datagram whose payload is shorter than that of a control datagram: zeros follow it, and the number of bytes added.
const PADDED: u8 = 0x12;
/// Bit of a kind: the payload ends with a signature, and a control datagram names its signer before it.
const SIGNED: u8 = 0x04;
/// Bit of the first byte of a control datagram: it asks who its receiver is.
const ASKS: u8 = 1;
/// The same: it answers.
const ANSWERS: u8 = 2;
/// Length of what a control datagram says, in bytes: the bits; epoch and counter of what it answers; the least counter that is
/// new.
const CONTROL_LEN: usize = 1 + EPOCH_LEN + 8 + 8;
/// Length of a control datagram, and the least length of any: what is answered is never shorter than the answer.
pub const MIN_LEN: usize = OVERHEAD + CONTROL_LEN;

/// Bytes that a signature adds to a datagram whose payload is not padded.
pub const SIGNATURE_OVERHEAD: usize = SIGNATURE_LEN;
/// Length of what a signed control datagram says, without its signature: its sender's mark follows.
const SIGNED_CONTROL_LEN: usize = CONTROL_LEN + MARK_LEN;

/// An answer vouches for all that its sender has sent in this time, and for nothing older than three times this. A first datagram
/// is taken if the answer comes within it: RFC 6298, section 2, takes it for the longest usual round trip.
const FRESHNESS: Duration = Duration::from_secs(1);
/// A sender has shown that it lives for this time after the question that it has answered. Long enough that a protocol that says
/// something each 15 s, as DSDV, is asked and answers while the last proof lasts.
const PROOF: Duration = Duration::from_secs(60);
/// A sender that is heard is asked again after this time: what that costs is two datagrams.
const RENEWAL: Duration = Duration::from_secs(30);
/// A datagram is answered within this time or not at all: several of the longest usual round trips (see [`FRESHNESS`]).
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// How exactly a guard remembers when it has sealed a counter.
const SEALED_STEP: Duration = Duration::from_millis(250);
/// The same sender is asked again after this time.
const ASK_INTERVAL: Duration = Duration::from_millis(200);
/// A sender is forgotten only this long after its last proof. Until [`PROOF`] its datagrams may have been taken; the next proof
/// names a counter of the last [`ANSWER_LIMIT`], and vouches for [`FRESHNESS`] times three before it. So nothing is taken twice.
const MEMORY: Duration = Duration::from_secs(66);
/// The most senders that are known. Above what a network of some hundred nodes needs.
const MAX_SENDERS: usize = 1 << 10;
/// The most senders that are not known and are being asked, each with one datagram that waits. As many more are asked in each
/// [`ASK_INTERVAL`], of which nothing is kept.
const MAX_ASKED: usize = 1 << 6;
/// See [`Purpose::most_checks`].
const CHECKS_INTERVAL: Duration = Duration::from_secs(1);

/// Seals the datagrams that one program sends, and opens those that others send to it.
///
/// Each datagram carries context for its receiver in addition to its bytes, a `C` (for example its source address); a
/// datagram that has waited comes back with its own context.
#[derive(Clone, Debug)]
pub struct Guard<C> {
    keys: Keys,
    purpose: Purpose,
    epoch: Epoch,
    cipher: Cipher,
    next_counter: u64,
    /// Counters at the last two marks, and when the last was set: the first of them is at least [`FRESHNESS`] ago.
    marks: [u64; 2],
    marked: Instant,
    /// Counters and when they were sealed, one each [`SEALED_STEP`] for [`ANSWER_LIMIT`].
    sealed: VecDeque<(Instant, u64)>,
    senders: BTreeMap<Epoch, Sender<C>>,
    asked: BTreeMap<Epoch, Asked<C>>,
    /// Since when questions of which nothing is kept are counted, and how many there were.
    spare: (Instant, usize),
    /// What is to be answered to the datagram that was opened last.
    answer: Option<Answer>,
    identities: Identities,
    counters: Counters,
}

/// Who this is, and who is heard.
#[derive(Clone, Debug)]
struct Identities {
    /// Signs all that is sealed, if there is one.
    own: Option<Identity>,
    /// Whose datagrams are taken; without a list, those of all that have the key.
    members: Option<Members>,
    /// Since when signatures are counted, and how many there were.
    checks: (Instant, u32),
    /// The most that are checked in [`CHECKS_INTERVAL`].
    most_checks: u32,
    /// The mark of the member that has signed what was opened last.
    opened: Option<Mark>,
}

/// Counters of datagrams by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Counters {
    /// Sealed datagrams, control datagrams included.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the sender"))]
    pub sealed: u64,
    /// Opened datagrams, control datagrams included.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub opened: u64,
    /// Datagrams refused: wrong format.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub malformed: u64,
    /// Datagrams refused: sealed with another key, or altered on the way.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub unauthentic: u64,
    /// Datagrams refused: seen before, or older than the window.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub replayed: u64,
    /// Datagrams from senders that have not shown that they are alive now: kept for a moment, or dropped.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub unproven: u64,
    /// Datagrams refused: sealed with the key, but not signed by a member.
    #[schemars(extend("x-unit" = "datagrams", "x-counted" = "at the receiver"))]
    pub unidentified: u64,
}

impl core::ops::Add for Counters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sealed: self.sealed + other.sealed,
            opened: self.opened + other.opened,
            malformed: self.malformed + other.malformed,
            unauthentic: self.unauthentic + other.unauthentic,
            replayed: self.replayed + other.replayed,
            unproven: self.unproven + other.unproven,
            unidentified: self.unidentified + other.unidentified,
        }
    }
}

/// Reason why a datagram was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Wrong format.
    #[error("{len} octets that are no sealed datagram")]
    Malformed {
        /// Its length, in bytes.
        len: usize,
    },
    /// Sealed with another key, or altered on the way.
    #[error("sealed with another key, or altered")]
    Unauthentic,
    /// Seen before, or older than the window.
    #[error("number {counter} of its sender, a replay")]
    Replayed {
        /// Its number.
        counter: u64,
    },
    /// Its sender has not shown that it is alive now.
    #[error("its sender has not shown that it lives now")]
    Unproven,
    /// No member has signed it, or signatures come faster than they are checked.
    #[error("no member has signed it")]
    Unidentified,
}

impl Refusal {
    /// What the log of a running command tells of it, if hosts of this network can cause it by their keys.
    pub(crate) fn warning(self) -> Option<&'static str> {
        match self {
            Self::Unauthentic => Some("a datagram was sealed with another key, or altered; such a host is not heard"),
            Self::Unidentified => Some(
                "a datagram was sealed with the network's key and not signed by a member; such a host is not heard",
            ),
            Self::Malformed { .. } | Self::Replayed { .. } | Self::Unproven => None,
        }
    }
}

#[derive(Clone, Debug)]
struct Sender<C> {
    /// The key that it seals with.
    key: NetworkKey,
    cipher: Cipher,
    window: Window,
    /// Whose signature its datagrams have, if members are listed.
    member: Option<Pinned>,
    /// When the datagram was sealed that it has named last.
    proved: Instant,
    /// It is being asked again.
    asked: Option<Asked<C>>,
}

/// A member that a sender has shown to be.
#[derive(Clone, Debug)]
struct Pinned {
    mark: Mark,
    member: Member,
}

/// A question to one sender.
#[derive(Clone, Debug)]
struct Asked<C> {
    /// When the last was asked.
    at: Instant,
    waits: Option<Waiting<C>>,
}

#[derive(Clone, Debug)]
struct Waiting<C> {
    kind: u8,
    counter: u64,
    payload: Vec<u8>,
    /// It is checked once its sender is known.
    signature: Option<Signature>,
    context: C,
}

type Signature = [u8; SIGNATURE_LEN];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Control {
    asks: bool,
    answers: Option<(Epoch, u64)>,
    /// Whatever has this counter or a higher one was sent lately.
    floor: u64,
    /// Who has signed it, if it is signed.
    mark: Option<Mark>,
}

/// What is to be sent back.
#[derive(Clone, Copy, Debug)]
struct Answer {
    to: Epoch,
    asks: bool,
    /// The counter of the datagram that it answers.
    answers: u64,
    /// Whether that one is signed: an answer to one that is not is not either, as it would be longer.
    is_signed: bool,
}

/// A cipher that does not show its key.
#[derive(Clone)]
struct Cipher(ChaCha20Poly1305);

impl core::fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Cipher(…)")
    }
}

impl<C> Guard<C> {
    /// A guard for one life of one program, in which `epoch` was never used before: see [`Epoch::draw`].
    pub(crate) fn new(keys: &Keys, purpose: Purpose, epoch: Epoch, now: Instant) -> Self {
        Self {
            keys: keys.clone(),
            purpose,
            epoch,
            cipher: Cipher(keys.first().cipher(purpose, epoch)),
            next_counter: 0,
            marks: [0; 2],
            marked: now,
            sealed: VecDeque::new(),
            senders: BTreeMap::new(),
            asked: BTreeMap::new(),
            spare: (now, 0),
            answer: None,
            identities: Identities {
                own: None,
                members: None,
                checks: (now, 0),
                most_checks: purpose.most_checks(),
                opened: None,
            },
            counters: Counters::default(),
        }
    }

    /// The same with an identity, which signs all that is sealed. With a list of members nothing else is taken than what they have
    /// signed.
    pub(crate) fn with_identity(mut self, own: Identity, members: Option<Members>) -> Self {
        (self.identities.own, self.identities.members) = (Some(own), members);
        self
    }

    /// From now on takes what these members have signed, and nothing else. Other senders are forgotten.
    pub(crate) fn change_members(&mut self, members: Members) {
        self.senders.retain(|_, sender| {
            let now = sender.member.as_ref().and_then(|pinned| Some((members.get(&pinned.mark)?, &pinned.member)));
            now.is_some_and(|(now, before)| now == before)
        });
        self.identities.members = Some(members);
    }

    /// Whether this address belongs to the member that has signed what was opened last; without a list of members, all addresses do.
    pub(crate) fn vouches(&self, address: Ipv4Addr) -> bool {
        let Some(members) = &self.identities.members else { return true };
        let member = self.identities.opened.and_then(|mark| members.get(&mark));
        member.is_some_and(|member| member.owns(address))
    }

    /// From now on seals with the first of these keys, as `epoch`, which was never used before, and opens with all of them. A sender
    /// with another key is a stranger now; the others stay known, and ask who this is.
    pub(crate) fn change_keys(&mut self, keys: &Keys, epoch: Epoch, now: Instant) {
        self.keys = keys.clone();
        self.epoch = epoch;
        self.cipher = Cipher(keys.first().cipher(self.purpose, epoch));
        (self.next_counter, self.marks, self.marked) = (0, [0; 2], now);
        self.sealed.clear();
        self.senders.retain(|_, sender| keys.all().contains(&sender.key));
        self.senders.values_mut().for_each(|sender| sender.asked = None);
        self.asked.clear();
        self.answer = None;
    }

    /// Puts `payload`, sealed, into `datagram`, in place of what is there. It is longer by [`OVERHEAD`], or has [`MIN_LEN`].
    pub(crate) fn seal(&mut self, now: Instant, payload: &[u8], datagram: &mut Vec<u8>) {
        let is_signed = self.identities.own.is_some();
        self.seal_as(if payload.len() < least(is_signed) { PADDED } else { DATA }, is_signed, now, payload, datagram);
    }

    /// Puts what `datagram` has sealed into `payload`, in place of what is there, and returns the `context` of it.
    ///
    /// It may be another datagram than this one: one that has waited for this. It is `None` if there is nothing for the user; what
    /// `payload` holds then, or after a refusal, means nothing. In any case [`Self::poll_answer`] is to be asked next.
    ///
    /// # Errors
    ///
    /// See [`Refusal`].
    pub(crate) fn open(
        &mut self,
        now: Instant,
        datagram: &[u8],
        context: C,
        payload: &mut Vec<u8>,
    ) -> Result<Option<C>, Refusal> {
        self.answer = None;
        let opened = self.open_any(now, datagram, context, payload);
        match &opened {
            Ok(_) => self.counters.opened += 1,
            Err(Refusal::Malformed { .. }) => self.counters.malformed += 1,
            Err(Refusal::Unauthentic) => self.counters.unauthentic += 1,
            Err(Refusal::Replayed { .. }) => self.counters.replayed += 1,
            Err(Refusal::Unproven) => self.counters.unproven += 1,
            Err(Refusal::Unidentified) => self.counters.unidentified += 1,
        }
        opened
    }

    /// Puts what is to be answered to the datagram opened last into `datagram`; whether there is something. It goes to where that
    /// one came from.
    pub(crate) fn poll_answer(&mut self, now: Instant, datagram: &mut Vec<u8>) -> bool {
        let Some(answer) = self.answer.take() else { return false };
        self.mark(now);
        let own = self.identities.own.as_ref().filter(|_| answer.is_signed);
        let (answers, mark) = (Some((answer.to, answer.answers)), own.map(Identity::mark));
        let control = Control { asks: answer.asks, answers, floor: self.marks[0], mark };
        self.seal_as(CONTROL, mark.is_some(), now, &control.to_octets(), datagram);
        true
    }

    /// What became of the datagrams so far.
    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }

    /// Senders that are known.
    pub(crate) fn senders(&self) -> usize {
        self.senders.len()
    }

    /// The senders that are known, and when each was proved.
    #[cfg(test)]
    pub(super) fn proofs(&self) -> impl Iterator<Item = (Epoch, Instant)> {
        self.senders.iter().map(|(&epoch, sender)| (epoch, sender.proved))
    }

    /// The epoch of this guard.
    #[cfg(feature = "testkit")]
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The number of the next datagram.
    #[cfg(test)]
    pub(super) fn next_counter(&self) -> u64 {
        self.next_counter
    }

    /// The next datagram has this number.
    #[cfg(test)]
    pub(super) fn skip_to(&mut self, counter: u64) {
        self.next_counter = counter;
    }

    /// Whether there is a list of members.
    #[cfg(test)]
    pub(super) fn has_members(&self) -> bool {
        self.identities.members.is_some()
    }

    /// A control datagram as any holder of the network key can make it: in the name of this epoch and this mark, with this counter. It
    /// names `names`, and says that everything below `floor` is old.
    #[cfg(test)]
    pub(super) fn forge(&mut self, now: Instant, mark: Mark, counter: u64, names: (Epoch, u64), floor: u64) -> Vec<u8> {
        let control = Control { asks: true, answers: Some(names), floor, mark: Some(mark) };
        let mut datagram = Vec::new();
        self.next_counter = counter;
        self.seal_as(CONTROL, true, now, &control.to_octets(), &mut datagram);
        datagram
    }

    /// Signatures that were checked in the last second in which there were any.
    #[cfg(test)]
    pub(crate) fn checks(&self) -> u32 {
        self.identities.checks.1
    }

    fn seal_as(&mut self, kind: u8, is_signed: bool, now: Instant, payload: &[u8], datagram: &mut Vec<u8>) {
        self.mark(now);
        let counter = self.next_counter;
        self.next_counter = counter.checked_add(1).expect("a sender at a billion datagrams a second takes centuries");
        if self.sealed.back().is_none_or(|&(at, _)| now.saturating_since(at) >= SEALED_STEP) {
            self.sealed.retain(|&(at, _)| now.saturating_since(at) < ANSWER_LIMIT);
            self.sealed.push_back((now, counter));
        }
        self.counters.sealed += 1;
        datagram.clear();
        datagram.push(if is_signed { kind | SIGNED } else { kind });
        datagram.extend_from_slice(&self.epoch.0);
        datagram.extend_from_slice(&counter.to_be_bytes());
        datagram.extend_from_slice(payload);
        if kind == PADDED {
            let least = least(is_signed);
            datagram.resize(HEADER_LEN + least, 0);
            // At most the length of a control datagram.
            datagram[HEADER_LEN + least - 1] = (least - payload.len()) as u8;
        }
        if let Some(own) = self.identities.own.as_ref().filter(|_| is_signed) {
            let (header, _) = datagram.split_at(HEADER_LEN);
            let signature = own.sign(Signed { purpose: self.purpose.name(), header, payload });
            datagram.extend_from_slice(&signature);
        }
        let (header, sealed) = datagram.split_at_mut(HEADER_LEN);
        let tag = self.cipher.0.encrypt_inout_detached(&nonce(counter), header, sealed.into());
        datagram.extend_from_slice(&tag.expect("a datagram is below the 256 GiB of RFC 8439, section 2.8"));
    }

    /// Sets the marks: what was sent in the last [`FRESHNESS`] has a counter at or above the first; what was sent three times as
    /// long ago, one below.
    fn mark(&mut self, now: Instant) {
        let since = now.saturating_since(self.marked);
        if since >= FRESHNESS {
            let earlier = if since >= FRESHNESS * 2 { self.next_counter } else { self.marks[1] };
            self.marks = [earlier, self.next_counter];
            self.marked = now;
        }
    }

    fn open_any(
        &mut self,
        now: Instant,
        datagram: &[u8],
        context: C,
        payload: &mut Vec<u8>,
    ) -> Result<Option<C>, Refusal> {
        let Some(parts) = Parts::split(datagram) else { return Err(Refusal::Malformed { len: datagram.len() }) };
        // One's own come back where somebody reflects them.
        if parts.epoch == self.epoch {
            return Err(Refusal::Replayed { counter: parts.counter });
        }
        if self.senders.contains_key(&parts.epoch) {
            return self.open_known(now, &parts, context, payload);
        }
        let (key, cipher, signature) = self.open_unknown(&parts, payload)?;
        if self.identities.members.is_some() && signature.is_none() {
            return Err(Refusal::Unidentified);
        }
        if parts.is_data() {
            let waits = parts.waiting(std::mem::take(payload), signature, context);
            self.ask(now, &parts, Some(waits));
            return Err(Refusal::Unproven);
        }
        let control = Control::parse(payload).ok_or(Refusal::Malformed { len: datagram.len() })?;
        let member = control.mark.and_then(|mark| self.identities.pin(mark));
        if self.identities.members.is_some() && member.is_none() {
            return Err(Refusal::Unidentified);
        }
        let Some(proved) = self.proof(&control, now) else {
            if control.asks {
                self.ask(now, &parts, None);
            }
            return Err(Refusal::Unproven);
        };
        // Only now, so that neither a recording nor a host without the key has a signature checked.
        let signed = Signed { purpose: self.purpose.name(), header: parts.header, payload };
        self.identities.check(member.as_ref(), signed, signature, now)?;
        let mut window = Window::new(control.floor);
        if !window.accept(parts.counter) {
            return Err(Refusal::Malformed { len: datagram.len() });
        }
        let waited = self.asked.remove(&parts.epoch).and_then(|asked| asked.waits);
        let waited = waited.filter(|waiting| {
            let signed = Signed {
                purpose: self.purpose.name(),
                header: &header(waiting.kind, parts.epoch, waiting.counter),
                payload: &waiting.payload,
            };
            let is_its = self.identities.check(member.as_ref(), signed, waiting.signature, now).is_ok();
            is_its && window.accept(waiting.counter)
        });
        if !self.learn(now, parts.epoch, Sender { key, cipher, window, member, proved, asked: None }) {
            return Err(Refusal::Unproven);
        }
        if control.asks {
            self.answer = Some(Answer::to(&parts, false));
        }
        Ok(waited.map(|waiting| waiting.take(payload)))
    }

    /// Opens a datagram of a sender that is not known with the key that fits.
    fn open_unknown(
        &self,
        parts: &Parts<'_>,
        payload: &mut Vec<u8>,
    ) -> Result<(NetworkKey, Cipher, Option<Signature>), Refusal> {
        for key in self.keys.all() {
            let cipher = Cipher(key.cipher(self.purpose, parts.epoch));
            match parts.open(&cipher, payload) {
                Ok(signature) => return Ok((key.clone(), cipher, signature)),
                Err(Refusal::Unauthentic) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Err(Refusal::Unauthentic)
    }

    /// A datagram of a sender that is known. Unless its proof lasts, it is taken like that of a new one, but for what has come
    /// before.
    fn open_known(
        &mut self,
        now: Instant,
        parts: &Parts<'_>,
        context: C,
        payload: &mut Vec<u8>,
    ) -> Result<Option<C>, Refusal> {
        let Some(sender) = self.senders.get_mut(&parts.epoch) else { return Err(Refusal::Unproven) };
        let signature = parts.open(&sender.cipher, payload)?;
        let replayed = Refusal::Replayed { counter: parts.counter };
        if sender.window.has_come(parts.counter) {
            return Err(replayed);
        }
        // Not before: a replay costs no check of a signature.
        let signed = Signed { purpose: self.purpose.name(), header: parts.header, payload };
        self.identities.check(sender.member.as_ref(), signed, signature, now)?;
        if parts.is_data() {
            if !sender.is_proved(now) {
                let waits = parts.waiting(std::mem::take(payload), signature, context);
                let asks = sender.ask(now, Some(waits));
                self.answer = asks.then(|| Answer::to(parts, true));
                return Err(Refusal::Unproven);
            }
            if !sender.window.accept(parts.counter) {
                return Err(replayed);
            }
            let asks = sender.is_to_renew(now) && sender.ask(now, None);
            self.answer = asks.then(|| Answer::to(parts, true));
            return Ok(Some(context));
        }
        let len = HEADER_LEN + parts.sealed.len() + TAG_LEN;
        let control = Control::parse(payload).ok_or(Refusal::Malformed { len })?;
        let proof = self.proof(&control, now);
        let Some(sender) = self.senders.get_mut(&parts.epoch) else { return Err(Refusal::Unproven) };
        if proof.is_none() && !sender.is_proved(now) {
            if control.asks {
                self.answer = sender.ask(now, None).then(|| Answer::to(parts, true));
            }
            return Err(Refusal::Unproven);
        }
        if !sender.window.accept(parts.counter) {
            return Err(replayed);
        }
        let mut waited = None;
        if let Some(proved) = proof {
            sender.proved = sender.proved.max(proved);
            sender.window.raise(control.floor);
            waited = sender.asked.take().and_then(|asked| asked.waits);
            waited = waited.filter(|waiting| sender.window.accept(waiting.counter));
        }
        let asks = sender.is_to_renew(now) && sender.ask(now, None);
        self.answer = (asks || control.asks).then(|| Answer::to(parts, asks));
        Ok(waited.map(|waiting| waiting.take(payload)))
    }

    /// Asks a sender that is not known who it is, unless it or too many others have just been asked. Of its datagrams the last waits.
    fn ask(&mut self, now: Instant, parts: &Parts<'_>, waits: Option<Waiting<C>>) {
        let asks = if let Some(asked) = self.asked.get_mut(&parts.epoch) {
            asked.ask_again(now, waits)
        } else if self.has_place(now) {
            self.asked.insert(parts.epoch, Asked { at: now, waits });
            true
        } else {
            if now.saturating_since(self.spare.0) >= ASK_INTERVAL {
                self.spare = (now, 0);
            }
            self.spare.1 += 1;
            self.spare.1 <= MAX_ASKED
        };
        self.answer = asks.then(|| Answer::to(parts, true));
    }

    /// Whether there is a place for one more sender that is asked; the one asked the longest time ago leaves it if it has had its time.
    fn has_place(&mut self, now: Instant) -> bool {
        if self.asked.len() < MAX_ASKED {
            return true;
        }
        let oldest = self.asked.iter().min_by_key(|(_, asked)| asked.at).map(|(&epoch, asked)| (epoch, asked.at));
        let oldest = oldest.filter(|(_, at)| now.saturating_since(*at) >= ASK_INTERVAL);
        oldest.is_some_and(|(epoch, _)| self.asked.remove(&epoch).is_some())
    }

    /// Since when the sender of `control` is known to have lived, if it names a datagram of this guard that is new enough.
    fn proof(&self, control: &Control, now: Instant) -> Option<Instant> {
        let (to, counter) = control.answers?;
        let (at, _) = self.sealed.iter().rfind(|(_, sealed)| *sealed <= counter)?;
        let is_new = now.saturating_since(*at) < ANSWER_LIMIT;
        (is_new && to == self.epoch && counter < self.next_counter).then_some(*at)
    }

    /// Adds a sender, in place of one that has been silent for [`MEMORY`] if there are too many; whether there was a place.
    fn learn(&mut self, now: Instant, epoch: Epoch, sender: Sender<C>) -> bool {
        if self.senders.len() >= MAX_SENDERS {
            let oldest = self.senders.iter().min_by_key(|(_, sender)| sender.proved);
            let oldest = oldest.filter(|(_, sender)| now.saturating_since(sender.proved) >= MEMORY);
            let Some(oldest) = oldest.map(|(&epoch, _)| epoch) else { return false };
            self.senders.remove(&oldest);
        }
        self.senders.insert(epoch, sender);
        true
    }
}

impl Identities {
    /// The member with this mark.
    fn pin(&self, mark: Mark) -> Option<Pinned> {
        let member = self.members.as_ref()?.get(&mark)?.clone();
        Some(Pinned { mark, member })
    }

    /// Whether the member of a sender has signed this. Without a list of members nothing is checked.
    fn check(
        &mut self,
        pinned: Option<&Pinned>,
        signed: Signed<'_>,
        signature: Option<Signature>,
        now: Instant,
    ) -> Result<(), Refusal> {
        self.opened = None;
        if self.members.is_none() {
            return Ok(());
        }
        let (pinned, signature) = pinned.zip(signature).ok_or(Refusal::Unidentified)?;
        if now.saturating_since(self.checks.0) >= CHECKS_INTERVAL {
            self.checks = (now, 0);
        }
        self.checks.1 += 1;
        if self.checks.1 > self.most_checks || !pinned.member.has_signed(signed, &signature) {
            return Err(Refusal::Unidentified);
        }
        self.opened = Some(pinned.mark);
        Ok(())
    }
}

impl<C> Sender<C> {
    /// Whether what it sends is taken.
    fn is_proved(&self, now: Instant) -> bool {
        now.saturating_since(self.proved) < PROOF
    }

    /// Whether its proof is to be renewed.
    fn is_to_renew(&self, now: Instant) -> bool {
        now.saturating_since(self.proved) >= RENEWAL
    }

    /// The same as [`Guard::ask`], of a sender that is known: recordings of others can't keep it from being asked.
    fn ask(&mut self, now: Instant, waits: Option<Waiting<C>>) -> bool {
        match &mut self.asked {
            Some(asked) => asked.ask_again(now, waits),
            None => {
                self.asked = Some(Asked { at: now, waits });
                true
            }
        }
    }
}

impl<C> Asked<C> {
    /// Whether there is to be another question.
    fn ask_again(&mut self, now: Instant, waits: Option<Waiting<C>>) -> bool {
        self.waits = waits.or(self.waits.take());
        let is_due = now.saturating_since(self.at) >= ASK_INTERVAL;
        if is_due {
            self.at = now;
        }
        is_due
    }
}

impl<C> Waiting<C> {
    /// Puts what has waited into `payload`; its context.
    fn take(self, payload: &mut Vec<u8>) -> C {
        *payload = self.payload;
        self.context
    }
}

impl Answer {
    fn to(parts: &Parts<'_>, asks: bool) -> Self {
        Self { to: parts.epoch, asks, answers: parts.counter, is_signed: parts.is_signed() }
    }
}

/// A datagram in parts.
struct Parts<'a> {
    kind: u8,
    epoch: Epoch,
    counter: u64,
    header: &'a [u8],
    sealed: &'a [u8],
    tag: Tag,
}

impl<'a> Parts<'a> {
    fn split(datagram: &'a [u8]) -> Option<Self> {
        let (header, rest) = datagram.split_at_checked(HEADER_LEN)?;
        let (sealed, tag) = rest.split_last_chunk::<TAG_LEN>()?;
        let (&[kind], rest) = header.split_first_chunk()?;
        let (&epoch, rest) = rest.split_first_chunk()?;
        let (&counter, _) = rest.split_first_chunk()?;
        let is_signed = kind & SIGNED != 0;
        let least = if is_signed { SIGNED_CONTROL_LEN + SIGNATURE_LEN } else { CONTROL_LEN };
        // No shorter one is sealed, and none is answered with more than it brings.
        let is_known = matches!(kind & !SIGNED, DATA | CONTROL | PADDED) && sealed.len() >= least;
        let (epoch, counter, tag) = (Epoch(epoch), u64::from_be_bytes(counter), Tag::from(*tag));
        is_known.then_some(Self { kind, epoch, counter, header, sealed, tag })
    }

    fn is_data(&self) -> bool {
        self.kind & !SIGNED != CONTROL
    }

    fn is_signed(&self) -> bool {
        self.kind & SIGNED != 0
    }

    /// Puts what is sealed into `payload`, without padding and signature; the signature.
    fn open(&self, cipher: &Cipher, payload: &mut Vec<u8>) -> Result<Option<Signature>, Refusal> {
        payload.clear();
        payload.extend_from_slice(self.sealed);
        let opened = cipher.0.decrypt_inout_detached(
            &nonce(self.counter),
            self.header,
            payload.as_mut_slice().into(),
            &self.tag,
        );
        opened.map_err(|_| Refusal::Unauthentic)?;
        let signature = payload.last_chunk().copied().filter(|_| self.is_signed());
        payload.truncate(payload.len() - signature.map_or(0, |signature: Signature| signature.len()));
        if self.kind & !SIGNED == PADDED {
            let added = usize::from(payload.last().copied().unwrap_or(0));
            let is_least = payload.len() == least(self.is_signed());
            let len = payload.len().checked_sub(added).filter(|_| added > 0 && is_least);
            payload.truncate(len.ok_or(Refusal::Malformed { len: OVERHEAD + self.sealed.len() })?);
        }
        Ok(signature)
    }

    /// It waits, with what was sealed in it.
    fn waiting<C>(&self, payload: Vec<u8>, signature: Option<Signature>, context: C) -> Waiting<C> {
        Waiting { kind: self.kind, counter: self.counter, payload, signature, context }
    }
}

/// The least length of what is sealed, without a signature: that of what a control datagram says.
const fn least(is_signed: bool) -> usize {
    if is_signed { SIGNED_CONTROL_LEN } else { CONTROL_LEN }
}

/// Kind, epoch and counter of a datagram.
fn header(kind: u8, epoch: Epoch, counter: u64) -> [u8; HEADER_LEN] {
    let mut header = [kind; HEADER_LEN];
    header[1..1 + EPOCH_LEN].copy_from_slice(&epoch.0);
    header[1 + EPOCH_LEN..].copy_from_slice(&counter.to_be_bytes());
    header
}

impl Control {
    fn to_octets(self) -> Vec<u8> {
        let (to, counter) = self.answers.unwrap_or((Epoch([0; EPOCH_LEN]), 0));
        let mut octets = vec![0; CONTROL_LEN];
        octets[0] = if self.asks { ASKS } else { 0 } | if self.answers.is_some() { ANSWERS } else { 0 };
        octets[1..1 + EPOCH_LEN].copy_from_slice(&to.0);
        octets[1 + EPOCH_LEN..9 + EPOCH_LEN].copy_from_slice(&counter.to_be_bytes());
        octets[9 + EPOCH_LEN..].copy_from_slice(&self.floor.to_be_bytes());
        octets.extend(self.mark.into_iter().flatten());
        octets
    }

    fn parse(octets: &[u8]) -> Option<Self> {
        let (octets, mark) = octets.split_first_chunk::<CONTROL_LEN>()?;
        let mark = if mark.is_empty() { None } else { Some(mark.try_into().ok()?) };
        let (&[bits], rest) = octets.split_first_chunk()?;
        let (&to, rest) = rest.split_first_chunk()?;
        let (&counter, rest) = rest.split_first_chunk()?;
        let (&floor, _) = rest.split_first_chunk()?;
        let answers = (bits & ANSWERS != 0).then_some((Epoch(to), u64::from_be_bytes(counter)));
        Some(Self { asks: bits & ASKS != 0, answers, floor: u64::from_be_bytes(floor), mark })
    }
}

/// The counter as a nonce (RFC 8439, section 2.3): four bytes of zeros before it, as the key is for one sender alone.
fn nonce(counter: u64) -> Nonce {
    let mut octets = [0; 12];
    octets[4..].copy_from_slice(&counter.to_be_bytes());
    Nonce::from(octets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::KEY_LEN;
    use super::*;

    type Peer = Guard<u32>;

    fn at(millis: u64) -> Instant {
        Instant::START + Duration::from_millis(millis)
    }

    fn peer_with(key: u8, epoch: u8) -> Peer {
        Guard::new(&Keys::one([key; KEY_LEN]), Purpose::Stream, Epoch([epoch; EPOCH_LEN]), at(0))
    }

    fn peer(epoch: u8) -> Peer {
        peer_with(1, epoch)
    }

    fn sealed(from: &mut Peer, now: Instant, payload: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::new();
        from.seal(now, payload, &mut datagram);
        datagram
    }

    /// What `to` takes from a datagram: its bytes and its context.
    fn opened(to: &mut Peer, now: Instant, datagram: &[u8], context: u32) -> Result<Option<(Vec<u8>, u32)>, Refusal> {
        let mut payload = Vec::new();
        Ok(to.open(now, datagram, context, &mut payload)?.map(|context| (payload, context)))
    }

    fn answer(from: &mut Peer, now: Instant) -> Option<Vec<u8>> {
        let mut datagram = Vec::new();
        from.poll_answer(now, &mut datagram).then_some(datagram)
    }

    /// `a` sends "first" to `b`, which does not know it and asks: that datagram, which waits at `b` with this context, and the one
    /// with which `a` answers. It knows `b` then, because the question names a new datagram of `a`.
    fn first_and_answer(a: &mut Peer, b: &mut Peer, now: Instant, context: u32) -> (Vec<u8>, Vec<u8>) {
        let first = sealed(a, now, b"first");
        assert_eq!(opened(b, now, &first, context), Err(Refusal::Unproven));
        let question = answer(b, now).expect("b asks");
        assert_eq!(opened(a, now, &question, 0), Ok(None));
        (first, answer(a, now).expect("a answers"))
    }

    /// Makes two peers known to each other.
    fn introduce(a: &mut Peer, b: &mut Peer, now: Instant) {
        let (_, both) = first_and_answer(a, b, now, 0);
        assert_eq!(opened(b, now, &both, 0), Ok(Some((b"first".to_vec(), 0))));
        assert_eq!(answer(b, now), None, "that is all");
        assert_eq!((a.senders(), b.senders()), (1, 1));
    }

    #[test]
    fn what_waited_for_the_proof_comes_with_its_own_context() {
        let (mut a, mut b) = (peer(1), peer(2));
        let (first, both) = first_and_answer(&mut a, &mut b, at(10), 7);
        assert_eq!(opened(&mut b, at(13), &both, 8), Ok(Some((b"first".to_vec(), 7))));
        assert_eq!(opened(&mut b, at(14), &first, 9), Err(Refusal::Replayed { counter: 0 }), "it has come");
        assert_eq!(a.senders(), 1, "the question was an answer");
    }

    #[test]
    fn a_datagram_is_longer_by_the_overhead_and_shows_nothing() {
        let datagram = sealed(&mut peer(1), at(0), b"attack at dawn");
        assert_eq!(datagram.len(), MIN_LEN, "short ones are padded");
        assert_eq!(sealed(&mut peer(1), at(0), &[7; 33]).len(), 33 + OVERHEAD);
        assert!(!datagram.windows(6).any(|window| window == b"attack"));
    }

    /// The datagrams of docs/key-protocol.md, which tests/python/test_key_protocol.py computes with another implementation.
    #[test]
    fn the_octets_are_those_of_the_specification() {
        let page = include_str!("../../../../docs/key-protocol.md");
        let vectors: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("datagram ")).collect();
        let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
        let keys = Keys::one(std::array::from_fn(|place| place as u8));
        let peer = |first: u8| -> Peer {
            Guard::new(&keys, Purpose::Stream, Epoch(std::array::from_fn(|place| first + place as u8)), at(0))
        };
        let (mut a, mut b) = (peer(0xa0), peer(0xb0));
        let first = sealed(&mut a, at(0), b"hello");
        assert_eq!(opened(&mut b, at(1), &first, 7), Err(Refusal::Unproven));
        let question = answer(&mut b, at(1)).expect("b asks");
        assert_eq!(opened(&mut a, at(2), &question, 0), Ok(None));
        let proof = answer(&mut a, at(2)).expect("a answers");
        assert_eq!(opened(&mut b, at(3), &proof, 0), Ok(Some((b"hello".to_vec(), 7))));
        let second = sealed(&mut a, at(4), b"at least 33 bytes need no padding");
        assert_eq!(vectors, [first, question, proof, second].map(|datagram| hex(&datagram)));
    }

    #[test]
    fn peers_that_know_each_other_take_everything_once_and_in_any_order() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        let datagrams: Vec<_> = (0..5).map(|number: u8| sealed(&mut a, at(5), &[number])).collect();
        for place in [3, 0, 4, 2, 1] {
            let expected = Ok(Some((vec![place as u8], place)));
            assert_eq!(opened(&mut b, at(6), &datagrams[place as usize], place), expected);
            assert!(matches!(opened(&mut b, at(6), &datagrams[place as usize], 0), Err(Refusal::Replayed { .. })));
            assert_eq!(answer(&mut b, at(6)), None);
        }
        assert_eq!(b.counters().replayed, 5);
        let back = sealed(&mut b, at(6), b"back");
        assert_eq!(opened(&mut a, at(7), &back, 1), Ok(Some((b"back".to_vec(), 1))));
    }

    #[test]
    fn another_key_is_not_heard_and_not_answered() {
        let (mut a, mut b) = (peer_with(1, 1), peer_with(2, 2));
        let datagram = sealed(&mut a, at(0), b"hello");
        assert_eq!(opened(&mut b, at(0), &datagram, 0), Err(Refusal::Unauthentic));
        assert_eq!(answer(&mut b, at(0)), None);
        assert_eq!((b.senders(), b.asked.len()), (0, 0), "nothing is remembered");
    }

    #[test]
    fn another_purpose_is_not_heard() {
        let key = Keys::one([1; KEY_LEN]);
        let mut aodv: Peer = Guard::new(&key, Purpose::Node("aodv"), Epoch([1; EPOCH_LEN]), at(0));
        let datagram = sealed(&mut aodv, at(0), b"hello");
        for purpose in [Purpose::Node("olsr"), Purpose::Stream] {
            let mut other: Peer = Guard::new(&key, purpose, Epoch([2; EPOCH_LEN]), at(0));
            assert_eq!(opened(&mut other, at(0), &datagram, 0), Err(Refusal::Unauthentic));
        }
    }

    #[test]
    fn recordings_of_an_earlier_life_are_not_taken_by_a_receiver_that_restarts() {
        let (mut a, mut b) = (peer(1), peer(2));
        let (first, both) = first_and_answer(&mut a, &mut b, at(0), 0);
        // b forgets all, and starts anew; everything is played to it again.
        let mut b = peer(3);
        for datagram in [&first, &both, &first] {
            assert_eq!(opened(&mut b, at(5000), datagram, 0), Err(Refusal::Unproven));
        }
        assert_eq!(b.senders(), 0);
        // Even if a lives still, and answers: what it sent long ago is not taken.
        let mut b = peer(4);
        assert_eq!(opened(&mut b, at(5000), &first, 0), Err(Refusal::Unproven));
        let question = answer(&mut b, at(5000)).expect("b asks");
        assert_eq!(opened(&mut a, at(5001), &question, 0), Err(Refusal::Unproven), "it names an old datagram");
        let both = answer(&mut a, at(5001)).expect("a answers, and asks");
        assert_eq!(opened(&mut b, at(5002), &both, 0), Ok(None), "a is known, its old datagram not taken");
        assert_eq!(opened(&mut b, at(5002), &first, 0), Err(Refusal::Replayed { counter: 0 }));
    }

    #[test]
    fn nothing_is_taken_twice_though_a_sender_is_forgotten_between() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        // As late as it can be taken.
        let last = sealed(&mut a, at(59_999), b"last");
        assert!(opened(&mut b, at(59_999), &last, 0).is_ok_and(|taken| taken.is_some()));
        fill(&mut b, 0, MAX_SENDERS as u32 - 1);
        let full = |b: &mut Peer, millis| {
            let new = Sender { proved: at(millis), ..stranger(b, 5000) };
            b.learn(at(millis), Epoch([0xee; EPOCH_LEN]), new)
        };
        assert!(!full(&mut b, 65_999), "none has been silent for long enough");
        assert!(b.senders.contains_key(&a.epoch));
        assert!(full(&mut b, 66_000));
        // One of the silent is forgotten; a, too, once its turn comes. Then a proves itself with what has waited since.
        b.senders.remove(&a.epoch);
        let question = sealed(&mut b, at(63_100), b"some 3 s before");
        let _ = opened(&mut a, at(63_100), &question, 0);
        let proof = answer(&mut a, at(63_100)).expect("a asks b, whose proof has ended");
        assert_eq!(opened(&mut b, at(66_000), &proof, 0), Ok(None), "a is known again");
        assert_eq!(opened(&mut b, at(66_000), &last, 0), Err(Refusal::Replayed { counter: 2 }));
    }

    /// Some other sender of which nothing has come.
    fn stranger(b: &Peer, number: u32) -> Sender<u32> {
        let mut epoch = [9; EPOCH_LEN];
        epoch[..4].copy_from_slice(&number.to_be_bytes());
        let key = b.keys.first().clone();
        let cipher = Cipher(key.cipher(Purpose::Stream, Epoch(epoch)));
        Sender { key, cipher, window: Window::new(0), member: None, proved: at(0), asked: None }
    }

    /// Makes `count` senders known, each proved a millisecond after the last one.
    fn fill(b: &mut Peer, first: u32, count: u32) {
        for number in first..first + count {
            let mut epoch = [9; EPOCH_LEN];
            epoch[..4].copy_from_slice(&number.to_be_bytes());
            let proved = at(u64::from(number));
            assert!(b.learn(proved, Epoch(epoch), Sender { proved, ..stranger(b, number) }));
        }
    }

    #[test]
    fn a_lost_question_is_asked_again_but_not_at_once() {
        let (mut a, mut b) = (peer(1), peer(2));
        for (millis, asks) in [(0, true), (1, false), (199, false), (200, true), (399, false), (400, true)] {
            let datagram = sealed(&mut a, at(millis), &[0]);
            assert_eq!(opened(&mut b, at(millis), &datagram, 0), Err(Refusal::Unproven));
            assert_eq!(answer(&mut b, at(millis)).is_some(), asks, "after {millis} ms");
        }
    }

    #[test]
    fn an_answer_to_an_earlier_question_is_good_enough() {
        let (mut a, mut b) = (peer(1), peer(2));
        let _ = opened(&mut b, at(0), &sealed(&mut a, at(0), b"1"), 1);
        let question = answer(&mut b, at(0)).expect("b asks");
        let _ = opened(&mut b, at(300), &sealed(&mut a, at(300), b"2"), 2);
        assert!(answer(&mut b, at(300)).is_some(), "b asks again");
        let _ = opened(&mut a, at(350), &question, 0);
        let late = answer(&mut a, at(350)).expect("a answers");
        assert_eq!(opened(&mut b, at(400), &late, 0), Ok(Some((b"2".to_vec(), 2))), "the last waits");
    }

    /// A datagram of an earlier life, sealed with the key.
    fn recording(number: u32) -> Vec<u8> {
        let mut epoch = [0; EPOCH_LEN];
        epoch[..4].copy_from_slice(&number.to_be_bytes());
        let mut old: Peer = Guard::new(&Keys::one([1; KEY_LEN]), Purpose::Stream, Epoch(epoch), at(0));
        sealed(&mut old, at(0), &[0; 100])
    }

    /// 2000 recordings in 2 s, and each fifty times more: what waits, and what is answered, is bounded.
    #[test]
    fn recordings_fill_no_more_than_their_place_and_cause_a_bounded_number_of_answers() {
        let mut b = peer(200);
        let recordings: Vec<_> = (0..2000).map(recording).collect();
        let mut answers = 0;
        for micros in (0..2_000_000_usize).step_by(100) {
            let now = Instant::START + Duration::from_micros(micros as u64);
            assert_eq!(opened(&mut b, now, &recordings[micros / 20 % 2000], 0), Err(Refusal::Unproven));
            answers += usize::from(answer(&mut b, now).is_some());
        }
        assert_eq!((b.senders(), b.asked.len()), (0, MAX_ASKED));
        // Twice the places, each 200 ms of the two seconds.
        assert!(answers <= 2 * MAX_ASKED * 10, "{answers} of 20 000 are answered");
    }

    /// 64 recordings of earlier lives, played fifty times a second each, keep all places fresh.
    #[test]
    fn recordings_keep_no_new_sender_out() {
        let (mut a, mut b) = (peer(1), peer(2));
        let recordings: Vec<_> = (100..100 + MAX_ASKED as u32).map(recording).collect();
        for step in 0..50 * 64 {
            let now = Instant::START + Duration::from_micros(step * 312);
            let _ = opened(&mut b, now, &recordings[step as usize % MAX_ASKED], 0);
            let _ = answer(&mut b, now);
        }
        // All places are taken: the first datagram does not wait, and the next is taken.
        assert_eq!(send(&mut a, &mut b, at(1000), b"first").0.len(), 0);
        assert_eq!(send(&mut a, &mut b, at(1001), b"second").0, [b"second"]);
        assert_eq!((a.senders(), b.senders()), (1, 1));
    }

    #[test]
    fn a_recorded_question_is_not_answered_each_time() {
        let (mut old, mut earlier, mut b) = (peer(1), peer(3), peer(2));
        let _ = opened(&mut old, at(0), &sealed(&mut earlier, at(0), b"data"), 0);
        let question = answer(&mut old, at(0)).expect("old asks");
        let mut answers = 0;
        for millis in 0..1000 {
            assert_eq!(opened(&mut b, at(5000 + millis), &question, 0), Err(Refusal::Unproven));
            answers += u64::from(answer(&mut b, at(5000 + millis)).is_some());
        }
        assert_eq!(answers, 5, "one each 200 ms");
    }

    #[test]
    fn keys_change_one_node_after_the_other_and_no_payload_is_lost() {
        let (old, new) = (NetworkKey::new([1; KEY_LEN]), NetworkKey::new([2; KEY_LEN]));
        let steps = [vec![old.clone(), new.clone()], vec![new.clone(), old], vec![new]];
        let (mut a, mut b, mut lost) = (peer(1), peer(2), peer(3));
        introduce(&mut a, &mut b, at(0));
        let mut now = 0;
        for (round, keys) in steps.into_iter().enumerate() {
            for changes_a in [true, false] {
                let peer = if changes_a { &mut a } else { &mut b };
                let epoch = Epoch([10 + 2 * round as u8 + u8::from(changes_a); EPOCH_LEN]);
                peer.change_keys(&Keys(keys.clone()), epoch, at(now));
                now += 1000;
                assert_eq!(send(&mut a, &mut b, at(now), b"there").0, [b"there"], "round {round}");
                assert_eq!(send(&mut b, &mut a, at(now + 1), b"back!").0, [b"back!"], "round {round}");
            }
        }
        // The node that did not get the new key is a stranger now.
        let before = sealed(&mut lost, at(now), b"expelled");
        assert_eq!(opened(&mut b, at(now), &before, 0), Err(Refusal::Unauthentic));
    }

    #[test]
    fn a_sender_with_a_key_that_is_withdrawn_is_forgotten_at_once() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        b.change_keys(&Keys::one([2; KEY_LEN]), Epoch([3; EPOCH_LEN]), at(1));
        assert_eq!(b.senders(), 0);
        let datagram = sealed(&mut a, at(2), b"data");
        assert_eq!(opened(&mut b, at(2), &datagram, 0), Err(Refusal::Unauthentic));
    }

    #[test]
    fn of_too_many_senders_the_silent_ones_are_forgotten_and_no_others() {
        let mut b = peer(2);
        fill(&mut b, 0, MAX_SENDERS as u32);
        let (new, late) = (Epoch([7; EPOCH_LEN]), at(66_000 + 3));
        let sender = Sender { proved: late, ..stranger(&b, 5000) };
        assert!(!b.learn(at(66_000 - 1), new, sender));
        for (number, expected) in [(5000, true), (5001, true), (5002, true), (5003, true), (5004, false)] {
            let mut epoch = [7; EPOCH_LEN];
            epoch[..4].copy_from_slice(&u32::to_be_bytes(number));
            let sender = Sender { proved: late, ..stranger(&b, number) };
            assert_eq!(b.learn(late, Epoch(epoch), sender), expected, "{number}");
        }
        assert_eq!(b.senders(), MAX_SENDERS);
        assert_eq!(b.senders.values().map(|sender| sender.proved).min(), Some(at(4)));
    }

    #[test]
    fn what_was_sent_lately_is_vouched_for_and_nothing_old() {
        let mut a = peer(1);
        let mut sent = Vec::new();
        for millis in (0..20_000).step_by(70) {
            let _ = sealed(&mut a, at(millis), &[0]);
            sent.push(at(millis));
            let floor = a.marks[0] as usize;
            let is_old = |place: usize| at(millis).saturating_since(sent[place]);
            assert!(floor == 0 || is_old(floor - 1) >= FRESHNESS, "what is not vouched for is old");
            assert!(is_old(floor) <= FRESHNESS * 3, "what is vouched for is not");
        }
    }

    /// `a` sends a datagram to `b`, and both answer what there is to answer; what `b` has taken, and control datagrams.
    fn send(a: &mut Peer, b: &mut Peer, now: Instant, payload: &[u8]) -> (Vec<Vec<u8>>, usize) {
        let (mut taken, mut controls) = (Vec::new(), 0);
        let mut next = Some((true, sealed(a, now, payload)));
        while let Some((is_to_b, datagram)) = next {
            let to = if is_to_b { &mut *b } else { &mut *a };
            taken.extend(opened(to, now, &datagram, 0).ok().flatten().map(|(payload, _)| payload));
            next = answer(to, now).map(|answer| (!is_to_b, answer));
            controls += usize::from(next.is_some());
        }
        (taken, controls)
    }

    #[test]
    fn what_was_kept_from_its_receiver_is_not_taken_an_hour_later() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        let kept: Vec<_> = (0..1000_u32).map(|number| sealed(&mut a, at(10), &number.to_be_bytes())).collect();
        let later = at(3_600_000);
        assert_eq!(opened(&mut b, later, &kept[1], 0), Err(Refusal::Unproven));
        // Even as a answers, nor once it has.
        let question = answer(&mut b, later).expect("b asks anew");
        let _ = opened(&mut a, later, &question, 0);
        let both = answer(&mut a, later).expect("a answers");
        assert_eq!(opened(&mut b, later, &both, 0), Ok(None), "what has waited is too old");
        for datagram in &kept {
            assert!(matches!(opened(&mut b, later, datagram, 0), Err(Refusal::Replayed { .. })));
        }
        assert_eq!(send(&mut a, &mut b, later, b"new").0, [b"new"]);
    }

    #[test]
    fn what_is_kept_back_ever_longer_is_taken_for_a_minute_at_most() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        // One a second, played to b at half the speed, with the answers of a and in order, so that b is never without.
        let mut air: Vec<(u64, Vec<u8>)> = Vec::new();
        let mut oldest = 0;
        for second in 1..600 {
            air.push((second, sealed(&mut a, at(second * 1000), b"data")));
            if second % 2 == 0 {
                let (sent, datagram) = air.remove(0);
                if opened(&mut b, at(second * 1000), &datagram, 0).is_ok_and(|taken| taken.is_some()) {
                    oldest = oldest.max(second - sent);
                }
                if let Some(question) = answer(&mut b, at(second * 1000)) {
                    let _ = opened(&mut a, at(second * 1000), &question, 0);
                    air.extend(answer(&mut a, at(second * 1000)).map(|answer| (second, answer)));
                }
            }
        }
        assert!((20..=63).contains(&oldest), "{oldest} s");
    }

    #[test]
    fn who_is_heard_is_asked_anew_now_and_then_and_loses_nothing() {
        // As often as packets of a stream come, hellos, and what DSDV says of itself.
        for step in [20, 1000, 15_000] {
            let (mut a, mut b) = (peer(1), peer(2));
            introduce(&mut a, &mut b, at(0));
            let mut controls = 0;
            for millis in (step..=600_000).step_by(step as usize) {
                let (taken, more) = send(&mut a, &mut b, at(millis), b"data");
                assert_eq!(taken, [b"data"], "after {millis} ms");
                controls += more;
            }
            assert_eq!(b.counters().unproven, 1, "but for the first");
            assert!((30..=80).contains(&controls), "{controls} in 10 min");
        }
    }

    #[test]
    fn who_was_silent_is_asked_and_what_it_says_first_comes_with_the_answer() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        let repeated = sealed(&mut a, at(59_000), b"before");
        assert!(opened(&mut b, at(59_000), &repeated, 0).is_ok_and(|taken| taken.is_some()));
        assert_eq!(send(&mut a, &mut b, at(120_000), b"back").0, [b"back"]);
        assert!(matches!(opened(&mut b, at(120_000), &repeated, 0), Err(Refusal::Replayed { .. })));
    }

    #[test]
    fn an_answer_that_was_kept_back_proves_nothing() {
        let (mut a, mut b) = (peer(1), peer(2));
        let (first, both) = first_and_answer(&mut a, &mut b, at(0), 0);
        assert_eq!(opened(&mut b, at(3_600_000), &both, 0), Err(Refusal::Unproven));
        assert_eq!(opened(&mut b, at(3_600_000), &first, 0), Err(Refusal::Unproven));
        assert_eq!(b.senders(), 0);
    }

    #[test]
    fn recordings_keep_no_known_sender_from_being_asked() {
        let (mut a, mut b) = (peer(1), peer(2));
        introduce(&mut a, &mut b, at(0));
        for epoch in 10..10 + MAX_ASKED as u8 {
            let recorded = sealed(&mut peer(epoch), at(0), b"old");
            assert_eq!(opened(&mut b, at(70_000), &recorded, 0), Err(Refusal::Unproven));
        }
        assert_eq!(send(&mut a, &mut b, at(70_000), b"data").0, [b"data"]);
    }

    #[test]
    fn ones_own_datagrams_are_not_taken() {
        let mut a = peer(1);
        let datagram = sealed(&mut a, at(0), b"echo");
        assert_eq!(opened(&mut a, at(0), &datagram, 0), Err(Refusal::Replayed { counter: 0 }));
        assert_eq!(answer(&mut a, at(0)), None);
    }

    fn identity(number: u8) -> Identity {
        Identity::new([number; 32])
    }

    /// The address of the node with this identity.
    fn address(number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, number)
    }

    fn members(numbers: &[u8]) -> Members {
        let mut members = Members::default();
        for &number in numbers {
            members.add(&identity(number).public_octets(), vec![address(number)]).expect("it is one");
        }
        members
    }

    /// A peer with an identity, that hears those of these numbers.
    fn member(epoch: u8, number: u8, heard: &[u8]) -> Peer {
        peer(epoch).with_identity(identity(number), Some(members(heard)))
    }

    /// The epoch of `victim` in the hands of another holder of the network key, with its own identity.
    fn impostor(victim: &Peer, number: u8) -> Peer {
        let mut impostor = member(0, number, &[1, 2, 3]);
        impostor.epoch = victim.epoch;
        impostor.cipher = victim.cipher.clone();
        impostor
    }

    #[test]
    fn members_come_to_know_each_other_and_their_addresses() {
        let (mut a, mut b) = (member(1, 1, &[1, 2]), member(2, 2, &[1, 2]));
        introduce(&mut a, &mut b, at(0));
        assert!(b.vouches(address(1)), "the first waited, and comes with its signer");
        let datagram = sealed(&mut a, at(1), b"data");
        assert_eq!(opened(&mut b, at(1), &datagram, 3), Ok(Some((b"data".to_vec(), 3))));
        assert!(b.vouches(address(1)) && !b.vouches(address(2)) && !b.vouches(address(3)));
        assert_eq!(datagram.len(), OVERHEAD + SIGNED_CONTROL_LEN + SIGNATURE_LEN, "short ones are padded");
        assert_eq!(sealed(&mut a, at(1), &[7; 41]).len(), 41 + OVERHEAD + SIGNATURE_OVERHEAD);
    }

    #[test]
    fn a_holder_of_the_key_cannot_speak_in_the_name_of_another() {
        let (mut a, mut b) = (member(1, 1, &[1, 2, 3]), member(2, 2, &[1, 2, 3]));
        introduce(&mut a, &mut b, at(0));
        // It has the network key, and an identity that is listed.
        let mut other = impostor(&a, 3);
        other.next_counter = a.next_counter;
        let forged = sealed(&mut other, at(1), b"from a, it says");
        assert_eq!(opened(&mut b, at(1), &forged, 0), Err(Refusal::Unidentified));
        // A control datagram that would make all that a sends from now on old.
        for mark in [identity(1).mark(), identity(3).mark()] {
            let names = (b.epoch, b.next_counter - 1);
            let forged = other.forge(at(1), mark, a.next_counter + 1, names, u64::MAX);
            assert_eq!(opened(&mut b, at(1), &forged, 0), Err(Refusal::Unidentified));
            assert_eq!(answer(&mut b, at(1)), None);
        }
        // A signature of a is good for its own datagram only.
        let theirs = sealed(&mut a, at(2), b"one thing");
        let (mut payload, mut moved) = (Vec::new(), Vec::new());
        let parts = Parts::split(&theirs).expect("it is one");
        let signature = parts.open(&a.cipher, &mut payload).expect("it has the key").expect("a has signed it");
        moved.extend_from_slice(&header(DATA | SIGNED, a.epoch, 99));
        moved.extend_from_slice(&payload);
        moved.extend_from_slice(&signature);
        let (head, inner) = moved.split_at_mut(HEADER_LEN);
        let tag = a.cipher.0.encrypt_inout_detached(&nonce(99), head, inner.into()).expect("short");
        moved.extend_from_slice(&tag);
        assert!(opened(&mut b, at(2), &moved, 0).is_err());
        assert_eq!(opened(&mut b, at(2), &theirs, 0), Ok(Some((b"one thing".to_vec(), 0))), "nothing was lost");
        assert_eq!(b.counters().unidentified, 3);
    }

    #[test]
    fn an_epoch_belongs_to_who_has_shown_it_and_not_to_who_is_faster() {
        let (mut a, mut b) = (member(1, 1, &[1, 2]), member(2, 2, &[1, 2]));
        let mut other = impostor(&a, 3);
        // An expelled node answers the question that was for a.
        let first = sealed(&mut a, at(0), b"first");
        let _ = opened(&mut b, at(0), &first, 0);
        let question = answer(&mut b, at(0)).expect("b asks");
        other.next_counter = 1;
        let names = (b.epoch, 0);
        let forged = other.forge(at(1), identity(1).mark(), 1, names, 0);
        assert_eq!(opened(&mut b, at(1), &forged, 0), Err(Refusal::Unidentified));
        assert_eq!(b.senders(), 0);
        let _ = opened(&mut a, at(2), &question, 0);
        let both = answer(&mut a, at(2)).expect("a answers");
        assert_eq!(opened(&mut b, at(2), &both, 0), Ok(Some((b"first".to_vec(), 0))));
    }

    #[test]
    fn a_member_that_is_expelled_is_not_heard_and_the_others_go_on() {
        let mut peers = [1, 2, 3].map(|number| member(number, number, &[1, 2, 3]));
        let [a, b, lost] = &mut peers;
        introduce(a, b, at(0));
        assert_eq!(send(lost, b, at(1), b"while it is listed").0, [b"while it is listed"]);
        b.change_members(members(&[1, 2]));
        assert_eq!(b.senders(), 1);
        // It still has the network key, and tries what it can.
        for millis in [2, 300, 5000] {
            assert_eq!(send(lost, b, at(millis), b"expelled").0.len(), 0, "after {millis} ms");
        }
        // An epoch that nobody has heard.
        let mut again = member(9, 3, &[1, 2, 3]);
        assert_eq!(send(&mut again, b, at(6000), b"expelled").0.len(), 0);
        assert_eq!(send(a, b, at(6001), b"there").0, [b"there"]);
        assert_eq!(b.senders(), 1);
        // Another key at the same address is another node.
        let mut swapped = Members::default();
        swapped.add(&identity(3).public_octets(), vec![address(1)]).expect("it is one");
        b.change_members(swapped);
        assert_eq!(b.senders(), 0);
    }

    #[test]
    fn without_a_signature_nothing_is_taken_where_members_are_listed() {
        let (mut plain, mut b) = (peer(1), member(2, 2, &[1, 2]));
        for millis in [0, 500] {
            let datagram = sealed(&mut plain, at(millis), b"plain");
            assert_eq!(opened(&mut b, at(millis), &datagram, 0), Err(Refusal::Unidentified));
            assert_eq!(answer(&mut b, at(millis)), None);
        }
        assert_eq!((b.asked.len(), b.checks()), (0, 0));
    }

    /// One node after the other gets an identity, and then a list: no node is cut off meanwhile.
    #[test]
    fn nodes_get_identities_one_after_the_other() {
        let with = |epoch, number| peer(epoch).with_identity(identity(number), None);
        let listed = |epoch, number| member(epoch, number, &[1, 2]);
        let pairs: [[Peer; 2]; 4] =
            [[with(1, 1), peer(2)], [with(3, 1), with(4, 2)], [listed(5, 1), with(6, 2)], [listed(7, 1), listed(8, 2)]];
        for (step, [mut a, mut b]) in pairs.into_iter().enumerate() {
            assert_eq!(send(&mut a, &mut b, at(0), b"there").0, [b"there"], "step {step}");
            assert_eq!(send(&mut b, &mut a, at(1), b"back!").0, [b"back!"], "step {step}");
        }
    }

    #[test]
    fn neither_strangers_nor_recordings_have_signatures_checked() {
        let (mut a, mut b) = (member(1, 1, &[1, 2]), member(2, 2, &[1, 2]));
        let (mut stranger, mut recording) = (peer_with(9, 9).with_identity(identity(9), None), Vec::new());
        for millis in 0..100 {
            recording.push(sealed(&mut a, at(millis), b"old"));
        }
        let mut earlier = member(3, 2, &[1, 2]);
        let _ = opened(&mut earlier, at(100), &recording[99], 0);
        let question = answer(&mut earlier, at(100)).expect("it asks");
        let _ = opened(&mut a, at(100), &question, 0);
        recording.push(answer(&mut a, at(100)).expect("a answers"));
        for round in 0..20 {
            for datagram in &recording {
                assert!(opened(&mut b, at(10_000 + round), datagram, 0).is_err());
            }
            assert!(opened(&mut b, at(10_000), &sealed(&mut stranger, at(0), b"x"), 0).is_err());
        }
        assert_eq!(b.checks(), 0);
        // Replays of a sender that is known neither.
        assert_eq!(send(&mut a, &mut b, at(20_000), b"here").0, [b"here"]);
        let datagram = sealed(&mut a, at(20_001), b"once");
        assert!(opened(&mut b, at(20_001), &datagram, 0).is_ok());
        let before = b.checks();
        for _ in 0..100 {
            assert!(matches!(opened(&mut b, at(20_001), &datagram, 0), Err(Refusal::Replayed { .. })));
        }
        assert_eq!(b.checks(), before);
    }

    #[test]
    fn a_holder_that_forges_has_a_bounded_number_of_signatures_checked() {
        let (mut a, mut b) = (member(1, 1, &[1, 2]), member(2, 2, &[1, 2]));
        introduce(&mut a, &mut b, at(0));
        let mut other = impostor(&a, 3);
        other.next_counter = 1000;
        let most = b.identities.most_checks;
        for _ in 0..2 * most {
            let forged = sealed(&mut other, at(5000), b"forged");
            assert_eq!(opened(&mut b, at(5000), &forged, 0), Err(Refusal::Unidentified));
        }
        assert_eq!(b.identities.checks.1, 2 * most, "those above the limit are counted, not checked");
        let datagram = sealed(&mut a, at(5001), b"lost");
        assert_eq!(opened(&mut b, at(5001), &datagram, 0), Err(Refusal::Unidentified));
        assert_eq!(send(&mut a, &mut b, at(6000), b"a second later").0, [b"a second later"]);
    }

    /// The signed datagrams of docs/key-protocol.md, which tests/python/test_key_protocol.py computes with another implementation.
    #[test]
    fn the_octets_of_signed_datagrams_are_those_of_the_specification() {
        let page = include_str!("../../../../docs/key-protocol.md");
        let vectors: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("signed ")).collect();
        let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
        let keys = Keys::one(std::array::from_fn(|place| place as u8));
        let ours = [0x20_u8, 0x60].map(|first| Identity::new(std::array::from_fn(|place| first + place as u8)));
        let mut listed = Members::default();
        for (number, identity) in ours.iter().enumerate() {
            listed.add(&identity.public_octets(), vec![address(number as u8)]).expect("it is one");
        }
        let peer = |first: u8, identity: &Identity| -> Peer {
            let epoch = Epoch(std::array::from_fn(|place| first + place as u8));
            let guard = Guard::new(&keys, Purpose::Node("olsr"), epoch, at(0));
            guard.with_identity(identity.clone(), Some(listed.clone()))
        };
        let (mut a, mut b) = (peer(0xa0, &ours[0]), peer(0xb0, &ours[1]));
        let first = sealed(&mut a, at(0), b"hello");
        let _ = opened(&mut b, at(1), &first, 7);
        let question = answer(&mut b, at(1)).expect("b asks");
        let _ = opened(&mut a, at(2), &question, 0);
        let proof = answer(&mut a, at(2)).expect("a answers");
        assert_eq!(opened(&mut b, at(3), &proof, 0), Ok(Some((b"hello".to_vec(), 7))));
        assert_eq!(vectors, [first, question, proof].map(|datagram| hex(&datagram)));
    }

    proptest! {
        #[test]
        fn arbitrary_octets_are_refused(datagram in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut b = peer(2);
            prop_assert!(opened(&mut b, at(0), &datagram, 0).is_err());
            prop_assert_eq!(answer(&mut b, at(0)), None);
            prop_assert_eq!(b.asked.len(), 0);
        }

        /// Whatever a peer is sent, new, recorded or from another life: no answer is longer than it.
        #[test]
        fn no_answer_is_longer_than_what_came(
            payload in proptest::collection::vec(any::<u8>(), 0..64),
            gaps in proptest::collection::vec(0u64..40_000, 1..12),
            kinds in (0_u8..3, 0_u8..3),
        ) {
            let of = |number: u8, kind| match kind {
                0 => peer(number),
                1 => peer(number).with_identity(identity(number), None),
                _ => member(number, number, &[1, 2]),
            };
            let (mut a, mut b, mut now) = (of(1, kinds.0), of(2, kinds.1), 0);
            for gap in gaps {
                now += gap;
                let mut next = Some((true, sealed(&mut a, at(now), &payload)));
                while let Some((is_to_b, datagram)) = next {
                    let to = if is_to_b { &mut b } else { &mut a };
                    if let Ok(Some((taken, _))) = opened(to, at(now), &datagram, 0) {
                        prop_assert_eq!(&taken, &payload);
                    }
                    next = answer(to, at(now)).map(|answer| (!is_to_b, answer));
                    prop_assert!(next.as_ref().is_none_or(|(_, answer)| answer.len() <= datagram.len()));
                }
            }
        }

        #[test]
        fn one_altered_bit_or_a_missing_end_is_noticed(
            payload in proptest::collection::vec(any::<u8>(), 0..64),
            place in any::<proptest::sample::Index>(),
            bit in 0u8..8,
            cut in any::<proptest::sample::Index>(),
        ) {
            let (mut a, mut b) = (peer(1), peer(2));
            introduce(&mut a, &mut b, at(0));
            let datagram = sealed(&mut a, at(1), &payload);
            let mut altered = datagram.clone();
            altered[place.index(datagram.len())] ^= 1 << bit;
            prop_assert!(opened(&mut b, at(1), &altered, 0).is_err());
            prop_assert!(opened(&mut b, at(1), &datagram[..cut.index(datagram.len())], 0).is_err());
            prop_assert_eq!(answer(&mut b, at(1)), None);
            prop_assert_eq!(opened(&mut b, at(1), &datagram, 3), Ok(Some((payload, 3))));
        }

        /// Datagrams of two peers that start unknown to each other, lost, repeated and overtaking: none is taken twice, none
        /// that was not sent, and once nothing is lost both come to know each other.
        #[test]
        fn no_payload_is_taken_twice_or_invented(
            steps in proptest::collection::vec((any::<bool>(), 0u8..4, any::<proptest::sample::Index>()), 1..120),
        ) {
            let mut peers = [peer(1), peer(2)];
            let mut air: Vec<(usize, Vec<u8>)> = Vec::new();
            let mut taken: [Vec<u32>; 2] = Default::default();
            let mut sent = [0u32; 2];
            let mut deliver = |to: usize, datagram: &[u8], peers: &mut [Peer; 2], now| {
                let got = opened(&mut peers[to], now, datagram, 0);
                if let Ok(Some((payload, _))) = got {
                    taken[to].push(u32::from_be_bytes(payload.try_into().expect("what was sealed")));
                }
                answer(&mut peers[to], now).map(|answer| (1 - to, answer))
            };
            for (place, (from, what, which)) in steps.into_iter().enumerate() {
                let (from, now) = (usize::from(from), at(place as u64 * 20));
                if what == 0 {
                    air.push((1 - from, sealed(&mut peers[from], now, &sent[from].to_be_bytes())));
                    sent[from] += 1;
                } else if !air.is_empty() {
                    // Whatever was ever sent may come at any time, and any number of times.
                    let (to, datagram) = air[which.index(air.len())].clone();
                    air.extend(deliver(to, &datagram, &mut peers, now));
                }
            }
            let later = at(10_000);
            for from in [0, 1, 0, 1] {
                let mut next = Some((1 - from, sealed(&mut peers[from], later, &sent[from].to_be_bytes())));
                sent[from] += 1;
                while let Some((to, datagram)) = next {
                    next = deliver(to, &datagram, &mut peers, later);
                }
            }
            prop_assert_eq!((peers[0].senders(), peers[1].senders()), (1, 1));
            for to in [0, 1] {
                let mut numbers = taken[to].clone();
                numbers.sort_unstable();
                numbers.dedup();
                prop_assert_eq!(numbers.len(), taken[to].len(), "none is taken twice");
                prop_assert!(numbers.iter().all(|&number| number < sent[1 - to]));
                prop_assert!(numbers.contains(&(sent[1 - to] - 1)), "the last one came through");
            }
        }
    }
}
