//! What others send or write, for fuzzing: parsers and machines of the live commands, without sockets and files.

use std::collections::BTreeSet;

use hopcast_protocols::testkit::Choices;
use hopcast_protocols::time::{Duration, Instant};
use serde_json::Value;

use crate::key::{Epoch, Guard, KEY_LEN, Keys, Purpose};
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

/// Three hosts, two of which have the network's key, and an attacker that has every datagram.
struct Network {
    peers: [Peer; 3],
    now: Instant,
    epochs: u8,
    sealed: Vec<Sealed>,
    payloads: usize,
}

impl Network {
    fn new() -> Self {
        let mut network = Self {
            peers: [0, 1, 2].map(|place| peer(place, place as u8, Instant::START)),
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
            assert_eq!(sealed.from == 2, to == 2, "a datagram of another key is taken");
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

fn peer(place: usize, epoch: u8, now: Instant) -> Peer {
    let epoch = Epoch([epoch; 16]);
    // The third host has a key of another network.
    let keys = Keys::one([1 + place as u8 / 2; KEY_LEN]);
    Peer { guard: Guard::new(&keys, Purpose::Stream, epoch, now), taken: BTreeSet::new() }
}

/// Two hosts with a network key, one with another key, and an attacker that delivers, repeats, keeps and alters their datagrams,
/// in any order.
///
/// # Panics
///
/// If a host takes what no other holder of its key has sealed, takes a datagram twice in one life, or answers with more bytes than it got.
pub fn guards(choices: &mut Choices<'_>) {
    let mut network = Network::new();
    for _ in 0..64 {
        let place = usize::from(choices.byte() % 3);
        match choices.byte() % 8 {
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
                let now = network.now;
                if choices.bool() {
                    network.peers[place] = peer(place, network.epochs, now);
                } else {
                    // The same key again, under another epoch, as after SIGUSR1.
                    let keys = Keys::one([1 + place as u8 / 2; KEY_LEN]);
                    let epoch = Epoch([network.epochs; 16]);
                    network.peers[place].guard.change_keys(&keys, epoch, now);
                }
            }
            _ => {}
        }
    }
}
