//! Both ends of a session in the hands of a model checker, which tries every order of what can happen.
//!
//! An initiator and a responder send, restart and wait. The network keeps whatever was ever sent, and delivers any of it at any time,
//! any number of times, to either end. The checker explores all states that can be reached with a given number of each step.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use hopcast_protocols::time::{Duration, Instant};
use stateright::{Checker as _, Model, Property};

use super::noise::Randomness;
use super::session::{Initiator, Name, Responder};
use super::{EPOCH_LEN, Epoch, KEY_LEN, Keys};

/// Places of the two ends.
const INITIATOR: usize = 0;
const RESPONDER: usize = 1;
/// The address of the initiator.
const ADDRESS: u8 = 7;
/// Nothing is taken later after it was sealed (`docs/key-protocol.md`).
const OLDEST: Duration = Duration::from_secs(180);

/// How often each thing can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Budget {
    sends: [u8; 2],
    restarts: [u8; 2],
    deliveries: u8,
    /// Waits for what is said again, and for another session.
    short: u8,
    /// Waits until keys are forgotten.
    long: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Send(usize),
    /// A datagram by its place in the network's memory, and the end that gets it.
    Deliver(usize, usize),
    Restart(usize),
    Wait(Duration),
}

#[derive(Clone, Debug)]
struct State {
    now: Instant,
    initiator: Initiator,
    responder: Responder<u8>,
    lives: u8,
    /// Payloads that the present life of each end has taken.
    taken: [BTreeSet<Vec<u8>>; 2],
    air: Vec<Vec<u8>>,
    left: Budget,
    /// Payloads that each end has sealed.
    sent: [BTreeSet<Vec<u8>>; 2],
    /// Sessions that an initiator has had, and that a responder has answered.
    begun: [BTreeSet<Name>; 2],
    /// What has happened that must not.
    faults: BTreeSet<&'static str>,
}

/// States are the same if all that they hold is. Keys do not show themselves, but follow from what was sent.
impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut air = self.air.clone();
        air.sort_unstable();
        let ends = format!("{:?} {:?} {:?}", self.initiator, self.responder, self.taken);
        (ends, self.now.as_nanos(), self.lives, air, self.left, &self.faults).hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// Epoch and secrets of a life.
fn life(number: u8) -> (Keys, Epoch, Randomness) {
    (Keys::one([1; KEY_LEN]), Epoch([number; EPOCH_LEN]), Randomness::Counted(u64::from(number) << 8))
}

fn initiator(number: u8, now: Instant) -> Initiator {
    let (keys, epoch, randomness) = life(number);
    Initiator::new(&keys, epoch, randomness, now)
}

fn responder(number: u8, now: Instant) -> Responder<u8> {
    let (keys, epoch, randomness) = life(number);
    Responder::new(&keys, epoch, randomness, now)
}

impl State {
    /// An end has a payload to send. An initiator without a session begins one.
    fn send(&mut self, from: usize) {
        let mut payload = vec![from as u8, self.sent[from].len() as u8, self.lives];
        payload.extend_from_slice(&self.now.as_nanos().to_be_bytes());
        let mut datagram = Vec::new();
        let is_sealed = if from == INITIATOR {
            self.initiator.seal(self.now, &payload, &mut datagram)
        } else {
            self.responder.seal(self.now, ADDRESS, &payload, &mut datagram)
        };
        if is_sealed {
            self.sent[from].insert(payload);
            self.keep(datagram);
        }
    }

    fn keep(&mut self, datagram: Vec<u8>) {
        if !self.air.contains(&datagram) {
            self.air.push(datagram);
        }
    }

    /// Everything that the ends want to send is sent.
    fn drain(&mut self) {
        self.initiator.handle_timeout(self.now);
        self.responder.handle_timeout(self.now);
        let mut datagram = Vec::new();
        while self.initiator.poll_datagram(self.now, &mut datagram) {
            self.keep(datagram.clone());
        }
        while let Some((to, datagram)) = self.responder.poll_datagram() {
            if to != ADDRESS {
                self.faults.insert("answered somebody else");
            }
            self.keep(datagram);
        }
        self.begun[INITIATOR].extend(self.initiator.session());
        self.begun[RESPONDER].extend(self.responder.names().map(|(name, _)| name));
    }

    fn deliver(&mut self, datagram: &[u8], to: usize) {
        let mut payload = Vec::new();
        let opened = if to == INITIATOR {
            self.initiator.open(self.now, datagram, &mut payload)
        } else {
            self.responder.open(self.now, datagram, ADDRESS, &mut payload)
        };
        if opened != Ok(true) {
            return;
        }
        if !self.sent[1 - to].contains(&payload) {
            self.faults.insert("took what the other end did not send");
        }
        let sealed = payload.get(3..).and_then(|octets| octets.try_into().ok()).map_or(0, u64::from_be_bytes);
        if self.now.saturating_since(Instant::from_nanos(sealed)) > OLDEST {
            self.faults.insert("took what was old");
        }
        if !self.taken[to].insert(payload) {
            self.faults.insert("took something twice");
        }
    }

    /// A session that is used at one end was begun at the other.
    fn agrees(&self) -> bool {
        let mut used = self.responder.names().filter(|(_, is_used)| *is_used);
        used.all(|(name, _)| self.begun[INITIATOR].contains(&name))
            && self.initiator.session().is_none_or(|name| self.begun[RESPONDER].contains(&name))
    }

    /// If the network delivers from now on, payloads go both ways within 9 s: the longest silence, and a handshake.
    fn recovers(&self) -> bool {
        let mut state = self.clone();
        let mut taken = [0; 2];
        for _ in 0..18 {
            state.now += Duration::from_millis(500);
            let before = [0, 1].map(|end| state.taken[end].len());
            let old = state.air.len();
            state.send(INITIATOR);
            state.send(RESPONDER);
            state.drain();
            let mut next = old;
            while let Some(datagram) = state.air.get(next).cloned() {
                // Where it belongs; the other end refuses it.
                state.deliver(&datagram, RESPONDER);
                state.deliver(&datagram, INITIATOR);
                state.drain();
                next += 1;
            }
            taken = [0, 1].map(|end| state.taken[end].len() - before[end]);
        }
        taken.iter().all(|&taken| taken > 0) && state.faults.is_empty()
    }
}

impl Model for Budget {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let now = Instant::START + Duration::from_secs(1);
        let mut state = State {
            now,
            initiator: initiator(1, now),
            responder: responder(2, now),
            lives: 2,
            taken: Default::default(),
            air: Vec::new(),
            left: *self,
            sent: Default::default(),
            begun: Default::default(),
            faults: BTreeSet::new(),
        };
        state.send(INITIATOR);
        state.drain();
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for end in [INITIATOR, RESPONDER] {
            if state.left.sends[end] > 0 {
                actions.push(Step::Send(end));
            }
            if state.left.restarts[end] > 0 {
                actions.push(Step::Restart(end));
            }
            if state.left.deliveries > 0 {
                actions.extend((0..state.air.len()).map(|place| Step::Deliver(place, end)));
            }
        }
        if state.left.short > 0 {
            actions.push(Step::Wait(Duration::from_millis(1100)));
        }
        if state.left.long > 0 {
            actions.push(Step::Wait(Duration::from_secs(181)));
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        match step {
            Step::Send(end) => {
                state.left.sends[end] -= 1;
                state.send(end);
            }
            Step::Deliver(place, to) => {
                state.left.deliveries -= 1;
                let datagram = state.air[place].clone();
                state.deliver(&datagram, to);
            }
            Step::Restart(end) => {
                state.left.restarts[end] -= 1;
                state.lives += 1;
                state.taken[end].clear();
                if end == INITIATOR {
                    state.initiator = initiator(state.lives, state.now);
                    // It has something to send.
                    state.send(INITIATOR);
                } else {
                    state.responder = responder(state.lives, state.now);
                }
            }
            Step::Wait(time) => {
                let left = if time < OLDEST { &mut state.left.short } else { &mut state.left.long };
                *left -= 1;
                state.now += time;
            }
        }
        state.drain();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is taken twice, invented or old", |_, state: &State| state.faults.is_empty()),
            Property::always("agreement", |_, state: &State| state.agrees()),
            Property::always("no deadlock", |_, state: &State| state.recovers()),
            // A checker that reaches nothing finds no fault either.
            Property::sometimes("a session is used", |_, state: &State| !state.taken[RESPONDER].is_empty()),
        ]
    }
}

/// Explores all states, and returns how many there are.
fn explore(budget: Budget) -> usize {
    let checker = budget.checker().spawn_bfs().join();
    checker.assert_properties();
    checker.unique_state_count()
}

#[test]
fn every_order_of_a_handshake_and_a_payload_is_safe() {
    let states = explore(Budget { sends: [1, 0], restarts: [0, 0], deliveries: 5, short: 0, long: 0 });
    assert_eq!(states, 156, "as docs/key-protocol.md says");
}

#[test]
#[ignore = "slow"]
fn every_order_with_restarts_and_time_that_passes_is_safe() {
    // A session is used after five deliveries at the earliest.
    let budgets = [
        Budget { sends: [1, 1], restarts: [0, 0], deliveries: 6, short: 0, long: 0 },
        Budget { sends: [1, 0], restarts: [0, 1], deliveries: 5, short: 0, long: 0 },
        Budget { sends: [1, 0], restarts: [1, 0], deliveries: 5, short: 0, long: 0 },
        Budget { sends: [1, 0], restarts: [0, 0], deliveries: 5, short: 1, long: 0 },
        Budget { sends: [1, 0], restarts: [0, 0], deliveries: 5, short: 0, long: 1 },
    ];
    assert_eq!(budgets.map(explore), [561, 991, 2884, 1404, 1354], "as docs/key-protocol.md says");
}
