//! What others send or write, for fuzzing: parsers and machines of the live commands, without sockets and files.

use std::collections::{BTreeMap, BTreeSet};

use hopcast_protocols::testkit::Choices;
use hopcast_protocols::time::{Duration, Instant};
use serde_json::Value;

use crate::key::{Epoch, Guard, Identity, Initiator, KEY_LEN, Keys, Members, Purpose, Randomness, Responder};
use crate::probe::control::{self, Event, Message};
use crate::probe::plan::Plan;
use crate::{emulate, node, serve};

/// Metrics of one counter.
struct Seven;

impl serve::Answers for Seven {
    fn line(&self) -> Vec<u8> {
        b"7\n".to_vec()
    }

    fn metrics(&self) -> String {
        "seven_total 7\n# EOF\n".into()
    }
}

/// The reply to a request for metrics over HTTP; `None` while it is not all there.
pub fn http_reply(request: &[u8]) -> Option<Vec<u8>> {
    serve::answer(request, &Seven)
}

/// What `hopcast node status` prints of the answer on the local socket, which any program of the host may have given; `None`: it
/// is no JSON.
pub fn status_text(answer: &[u8]) -> Option<String> {
    serde_json::from_slice::<Value>(answer).ok().map(|state| node::status_text(&state))
}

/// Whether a line of a control connection of `hopcast probe` is a message, which is written so that it is one again, of the same kind.
///
/// # Panics
///
/// If it is not.
pub fn control_line(line: &[u8]) -> bool {
    let Event::Message(message) = control::event(line) else { return false };
    let written = serde_json::to_vec(&message).expect("a message is plain data");
    assert!(!written.contains(&b'\n'), "a message is one line");
    let Event::Message(again) = control::event(&written) else { panic!("what was written is no message") };
    assert_eq!(core::mem::discriminant::<Message>(&message), core::mem::discriminant(&again));
    true
}

/// The number of runs of a plan of `hopcast probe`, or what is wrong with it.
///
/// # Errors
///
/// A sentence that begins with the name of the file, `fuzz.toml`.
pub fn probe_plan(text: &str) -> Result<usize, String> {
    Plan::parse(text, "fuzz.toml").map(|plan| plan.runs().len())
}

/// The number of frames of a recording of `hopcast emulate`, or what is wrong with it.
///
/// # Errors
///
/// A sentence with the line.
pub fn recording(text: &str) -> Result<usize, String> {
    emulate::read_recording(&text.lines().map(str::to_owned).collect::<Vec<_>>())
}

/// A guard, and what it has taken in this life.
struct Peer {
    guard: Guard<usize>,
    taken: BTreeSet<usize>,
}

/// A datagram that was sealed: its bytes, and its number if there is something for the user in it.
struct Sealed {
    octets: Vec<u8>,
    number: Option<usize>,
    from: usize,
}

/// What the third host lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    /// The network's key.
    Key,
    /// Its identity is on no list of members.
    Membership,
}

/// Three hosts, two of which may speak to each other, and an attacker that has every datagram.
struct Network {
    lack: Lack,
    peers: [Peer; 3],
    now: Instant,
    epochs: u8,
    sealed: Vec<Sealed>,
    payloads: usize,
}

impl Network {
    fn new(lack: Lack) -> Self {
        let mut network = Self {
            lack,
            peers: [0, 1, 2].map(|place| peer(lack, place, place as u8, Instant::START)),
            now: Instant::START,
            epochs: 2,
            sealed: Vec::new(),
            payloads: 0,
        };
        network.now += Duration::from_secs(100);
        network
    }

    fn seal(&mut self, from: usize, padding: usize) {
        let number = self.payloads;
        self.payloads += 1;
        let payload = [&number.to_be_bytes()[..], &vec![7; padding]].concat();
        let mut octets = Vec::new();
        self.peers[from].guard.seal(self.now, &payload, &mut octets);
        self.sealed.push(Sealed { octets, number: Some(number), from });
    }

    /// The third host seals data in the name of another one.
    fn forge(&mut self, whose: usize, skip: u8) {
        let number = self.payloads;
        self.payloads += 1;
        let mut other: Guard<usize> = Guard::new(&keys(self.lack, 2), Purpose::Stream, self.epoch(whose), self.now);
        other = other.with_identity(identity(2), None);
        let mut octets = Vec::new();
        for _ in 0..=skip {
            other.seal(self.now, &number.to_be_bytes(), &mut octets);
        }
        self.sealed.push(Sealed { octets, number: Some(number), from: 2 });
    }

    fn epoch(&self, place: usize) -> Epoch {
        self.peers[place].guard.epoch()
    }

    /// Gives `octets` to a host. They are those of the datagram `whole`, unless somebody has changed them.
    fn open(&mut self, to: usize, octets: &[u8], whole: Option<usize>) {
        let mut payload = Vec::new();
        let opened = self.peers[to].guard.open(self.now, octets, self.sealed.len(), &mut payload);
        if let Ok(Some(_)) = opened {
            let number: [u8; 8] = payload[..8].try_into().expect("each payload begins with its number");
            let number = usize::from_be_bytes(number);
            let sealed = self.sealed.iter().find(|sealed| sealed.number == Some(number)).expect("a host has sealed it");
            assert!(whole.is_some(), "an altered datagram makes a host take something");
            assert_ne!(sealed.from, to, "a host takes what it has sealed itself");
            match self.lack {
                Lack::Key => assert_eq!(sealed.from == 2, to == 2, "a datagram of another key is taken"),
                Lack::Membership => assert!(sealed.from != 2, "a datagram is taken that no member has signed"),
            }
            assert!(self.peers[to].taken.insert(number), "a datagram is taken twice in one life");
        }
        let mut answer = Vec::new();
        if self.peers[to].guard.poll_answer(self.now, &mut answer) {
            assert!(answer.len() <= octets.len(), "an answer is longer than what it answers");
            assert!(whole.is_some(), "an altered datagram is answered");
            self.sealed.push(Sealed { octets: answer, number: None, from: to });
        }
        assert!(self.peers[to].guard.senders() <= 1024);
    }
}

fn peer(lack: Lack, place: usize, epoch: u8, now: Instant) -> Peer {
    let guard = Guard::new(&keys(lack, place), Purpose::Stream, Epoch([epoch; 16]), now);
    let guard = match lack {
        Lack::Key => guard,
        Lack::Membership => guard.with_identity(identity(place), (place < 2).then(members)),
    };
    Peer { guard, taken: BTreeSet::new() }
}

fn keys(lack: Lack, place: usize) -> Keys {
    // The third host has a key of another network, or the same.
    Keys::one([if lack == Lack::Key && place == 2 { 2 } else { 1 }; KEY_LEN])
}

fn identity(place: usize) -> Identity {
    Identity::new([place as u8 + 1; 32])
}

/// The first two hosts.
fn members() -> Members {
    let mut members = Members::default();
    for place in 0..2_u8 {
        let address = std::net::Ipv4Addr::new(10, 0, 0, place);
        members.add(&identity(usize::from(place)).public_octets(), vec![address]).expect("a public key");
    }
    members
}

/// Two hosts with a network key, one with another key, and an attacker that delivers, repeats, keeps and alters their datagrams,
/// in any order.
///
/// # Panics
///
/// If a host takes what no other holder of its key has sealed, takes a datagram twice in one life, or answers with more bytes than it got.
pub fn guards(choices: &mut Choices<'_>) {
    drive(Network::new(Lack::Key), choices);
}

/// The same, but the third host has the network key and is no member: it seals in the names of the others too.
///
/// # Panics
///
/// If a host takes what no member has signed, takes a datagram twice in one life, or answers with more bytes than it got.
pub fn identities(choices: &mut Choices<'_>) {
    drive(Network::new(Lack::Membership), choices);
}

fn drive(mut network: Network, choices: &mut Choices<'_>) {
    for _ in 0..64 {
        let place = usize::from(choices.byte() % 3);
        match choices.byte() % 8 {
            0 if network.lack == Lack::Membership && place < 2 && choices.bool() => {
                network.forge(place, choices.byte());
            }
            0 | 1 => network.seal(place, usize::from(choices.byte() % 64)),
            // The newest, and any.
            2 | 3 if !network.sealed.is_empty() => {
                let last = network.sealed.len() - 1;
                let which = if choices.bool() { last } else { last - usize::from(choices.byte()) % (last + 1) };
                let octets = network.sealed[which].octets.clone();
                network.open(place, &octets, Some(which));
            }
            4 if !network.sealed.is_empty() => {
                let which = usize::from(choices.byte()) % network.sealed.len();
                let mut octets = network.sealed[which].octets.clone();
                let at = usize::from(choices.byte()) % octets.len();
                let by = choices.byte();
                octets[at] ^= by;
                if choices.bool() {
                    octets.truncate(usize::from(choices.byte()));
                }
                let whole = Some(which).filter(|&which| network.sealed[which].octets == octets);
                network.open(place, &octets, whole);
            }
            5 => {
                let octets = choices.bytes(255).to_vec();
                network.open(place, &octets, None);
            }
            6 => {
                let millis = choices.pick(&[1, 100, 250, 1000, 3000, 30_000, 61_000, 70_000]);
                network.now += Duration::from_millis(millis);
            }
            _ if network.epochs < 250 => {
                network.epochs += 1;
                let (now, lack) = (network.now, network.lack);
                if choices.bool() {
                    network.peers[place] = peer(lack, place, network.epochs, now);
                } else {
                    // The same key again, under another epoch, as after SIGUSR1.
                    let keys = keys(lack, place);
                    let epoch = Epoch([network.epochs; 16]);
                    network.peers[place].guard.change_keys(&keys, epoch, now);
                }
            }
            _ => {}
        }
    }
}

/// Both ends of a session, and an attacker that has every datagram.
struct Session {
    initiator: Initiator,
    responder: Responder<u8>,
    now: Instant,
    lives: u8,
    air: Vec<Vec<u8>>,
    /// Payloads that the initiator and the responder have sealed, and those that the present life of each has taken.
    sent: [BTreeSet<Vec<u8>>; 2],
    taken: [BTreeSet<Vec<u8>>; 2],
    payloads: u32,
    /// Where the datagrams came from that the present responder has taken, by the name of their session.
    addresses: BTreeMap<Vec<u8>, u8>,
}

/// Where the initiator is.
const ADDRESS: u8 = 7;

/// What one life of an end of a session is made from.
fn life(number: u8) -> (Keys, Epoch, Randomness) {
    (Keys::one([1; KEY_LEN]), Epoch([number; 16]), Randomness::Counted(u64::from(number) << 16))
}

fn initiator(number: u8, now: Instant) -> Initiator {
    let (keys, epoch, randomness) = life(number);
    Initiator::new(&keys, epoch, randomness, now)
}

fn responder(number: u8, now: Instant) -> Responder<u8> {
    let (keys, epoch, randomness) = life(number);
    Responder::new(&keys, epoch, randomness, now)
}

impl Session {
    fn seal(&mut self, from: usize) {
        let payload = self.payloads.to_be_bytes().to_vec();
        self.payloads += 1;
        let mut datagram = Vec::new();
        let is_sealed = if from == 0 {
            self.initiator.seal(self.now, &payload, &mut datagram)
        } else {
            self.responder.seal(self.now, ADDRESS, &payload, &mut datagram)
        };
        if is_sealed {
            self.sent[from].insert(payload);
            self.air.push(datagram);
        }
    }

    /// Gives a datagram to an end, from this address.
    fn open(&mut self, to: usize, datagram: &[u8], address: u8) {
        let mut payload = Vec::new();
        let opened = if to == 0 {
            self.initiator.open(self.now, datagram, &mut payload)
        } else {
            self.responder.open(self.now, datagram, address, &mut payload)
        };
        if opened == Ok(true) {
            assert!(self.air.iter().any(|sent| sent == datagram), "an altered datagram is taken");
            if to == 1 {
                // An attacker in between can have the handshake come from its address. The session belongs there then.
                let name = datagram[1..9].to_vec();
                assert_eq!(
                    *self.addresses.entry(name).or_insert(address),
                    address,
                    "a datagram from elsewhere is taken"
                );
            }
            assert!(self.sent[1 - to].contains(&payload), "a payload is taken that the other end has not sent");
            assert!(self.taken[to].insert(payload), "a payload is taken twice in one life");
        }
        let [used, pending] = self.responder.sessions();
        assert!(used <= 256 && pending <= 64);
    }

    fn drain(&mut self) {
        self.initiator.handle_timeout(self.now);
        self.responder.handle_timeout(self.now);
        let mut datagram = Vec::new();
        while self.initiator.poll_datagram(self.now, &mut datagram) {
            self.air.push(datagram.clone());
        }
        while let Some((_, datagram)) = self.responder.poll_datagram() {
            self.air.push(datagram);
        }
    }
}

/// The two ends of a session of a stream, and an attacker that delivers, repeats, keeps and alters their datagrams, in any order.
///
/// # Panics
///
/// If an end takes what the other one has not sealed, takes a payload twice in one life, takes what was altered, takes datagrams of one session
/// from two addresses, or remembers more sessions than it may.
pub fn sessions(choices: &mut Choices<'_>) {
    let now = Instant::START + Duration::from_secs(100);
    let mut session = Session {
        initiator: initiator(1, now),
        responder: responder(2, now),
        now,
        lives: 2,
        air: Vec::new(),
        sent: Default::default(),
        taken: Default::default(),
        payloads: 0,
        addresses: BTreeMap::new(),
    };
    for _ in 0..64 {
        let end = usize::from(choices.bool());
        match choices.byte() % 8 {
            0 | 1 => session.seal(end),
            // The newest, and any.
            2..=4 if !session.air.is_empty() => {
                let last = session.air.len() - 1;
                let which = if choices.bool() { last } else { last - usize::from(choices.byte()) % (last + 1) };
                let datagram = session.air[which].clone();
                let address = if choices.byte() < 240 { ADDRESS } else { ADDRESS + 1 };
                session.open(end, &datagram, address);
            }
            5 if !session.air.is_empty() => {
                let which = usize::from(choices.byte()) % session.air.len();
                let mut datagram = session.air[which].clone();
                let at = usize::from(choices.byte()) % datagram.len();
                let by = choices.byte();
                datagram[at] ^= by;
                if choices.bool() {
                    datagram.truncate(usize::from(choices.byte()));
                }
                session.open(end, &datagram, ADDRESS);
            }
            6 => {
                session.now +=
                    Duration::from_millis(choices.pick(&[1, 100, 500, 1000, 3000, 60_000, 121_000, 181_000]));
            }
            _ if session.lives < 250 && choices.byte() < 64 => {
                session.lives += 1;
                session.taken[end].clear();
                if end == 0 {
                    session.initiator = initiator(session.lives, session.now);
                } else {
                    session.responder = responder(session.lives, session.now);
                    session.addresses.clear();
                }
            }
            _ => {
                let octets = choices.bytes(100).to_vec();
                session.open(end, &octets, ADDRESS);
            }
        }
        session.drain();
    }
}
