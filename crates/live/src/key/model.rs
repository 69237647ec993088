//! The guard itself in the hands of a model checker, which tries every order of what can happen.
//!
//! Two hosts send, restart and wait. The network keeps whatever was ever sent, and delivers any of it at any time, any
//! number of times, to any host. Time passes in two steps: one after which a host asks again, and one after which a proof
//! has ended. The checker explores all states that can be reached with a given number of each step.
//!
//! With identities there is a third node, which both hosts have expelled. It still has the network key: it seals datagrams in the
//! name of the others, and speaks for itself.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use hopcast_protocols::time::{Duration, Instant};
use stateright::{Checker as _, Model, Property};

use super::guard::Guard;
use super::identity::{Identity, Members};
use super::{EPOCH_LEN, Epoch, KEY_LEN, Keys, Purpose};

/// The two hosts.
const HOSTS: usize = 2;
/// Nothing is taken later after it was sealed (`docs/key-protocol.md`).
const OLDEST: Duration = Duration::from_secs(63);

/// How often each thing can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Budget {
    sends: [u8; HOSTS],
    restarts: [u8; HOSTS],
    deliveries: u8,
    short: u8,
    long: u8,
    /// What the expelled node seals; the hosts have identities if it may.
    forgeries: u8,
}

/// What the expelled node seals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forgery {
    /// Data in the name of a host, with the number of its next datagram.
    Data(usize),
    /// A control datagram in the name of a host, which names the last datagram of the other one, and makes all others old.
    Control(usize),
    /// Data in its own name.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Forge(Forgery),
    Send(usize),
    /// A datagram by its place in the network's memory, and the host that gets it.
    Deliver(usize, usize),
    Restart(usize),
    Wait(Duration),
}

#[derive(Clone, Debug)]
struct Host {
    guard: Guard<()>,
    /// Number of this life, over all hosts.
    life: u8,
    /// Payloads that this life has taken.
    taken: BTreeSet<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct State {
    now: Instant,
    hosts: [Host; HOSTS],
    /// The expelled node under its own epoch.
    expelled: Guard<()>,
    air: Vec<Vec<u8>>,
    /// When each life ended, by number; `None` while it lasts.
    ends: Vec<Option<Instant>>,
    left: Budget,
    /// Payloads that were sealed.
    sent: BTreeSet<Vec<u8>>,
    /// What has happened that must not.
    faults: BTreeSet<&'static str>,
}

/// States are the same if all that they hold is. A cipher does not show itself, but follows from its epoch.
impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut air = self.air.clone();
        air.sort_unstable();
        (
            format!("{:?} {:?} {:?}", self.hosts, self.expelled, self.ends),
            self.now.as_nanos(),
            air,
            self.left,
            &self.faults,
        )
            .hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

fn epoch(life: u8) -> Epoch {
    Epoch([life + 1; EPOCH_LEN])
}

/// A place that is no host's: the expelled node.
const EXPELLED: usize = HOSTS;
/// Its epoch.
const EXPELLED_EPOCH: Epoch = Epoch([0xee; EPOCH_LEN]);

fn guard(epoch: Epoch, now: Instant) -> Guard<()> {
    Guard::new(&Keys::one([1; KEY_LEN]), Purpose::Stream, epoch, now)
}

/// The identity of a host, or of the expelled node.
fn identity(place: usize) -> Identity {
    Identity::new([place as u8 + 1; 32])
}

/// Who is heard: the hosts.
fn members() -> Members {
    let mut members = Members::default();
    for host in 0..HOSTS {
        let address = Ipv4Addr::new(10, 0, 0, host as u8);
        members.add(&identity(host).public_octets(), vec![address]).expect("a public key");
    }
    members
}

impl Host {
    /// The host at this place; with an identity if some node is expelled.
    fn born(life: u8, place: usize, has_identity: bool, now: Instant) -> Self {
        let mut guard = guard(epoch(life), now);
        if has_identity {
            guard = guard.with_identity(identity(place), Some(members()));
        }
        Self { guard, life, taken: BTreeSet::new() }
    }
}

impl State {
    fn send(&mut self, from: usize) -> Vec<u8> {
        let host = &mut self.hosts[from];
        let mut payload = vec![host.life, u8::try_from(self.sent.len()).expect("few are sent")];
        payload.extend_from_slice(&self.now.as_nanos().to_be_bytes());
        let mut datagram = Vec::new();
        host.guard.seal(self.now, &payload, &mut datagram);
        self.sent.insert(payload);
        self.keep(datagram.clone());
        datagram
    }

    fn keep(&mut self, datagram: Vec<u8>) {
        if !self.air.contains(&datagram) {
            self.air.push(datagram);
        }
    }

    /// What the host answers.
    fn deliver(&mut self, datagram: &[u8], to: usize) -> Option<Vec<u8>> {
        let host = &mut self.hosts[to];
        let mut payload = Vec::new();
        if let Ok(Some(())) = host.guard.open(self.now, datagram, (), &mut payload) {
            if !self.sent.contains(&payload) {
                self.faults.insert("took what was not sent");
            }
            let sealed = payload.get(2..).and_then(|octets| octets.try_into().ok()).map_or(0, u64::from_be_bytes);
            if self.now.saturating_since(Instant::from_nanos(sealed)) > OLDEST {
                self.faults.insert("took what was old");
            }
            if !host.taken.insert(payload) {
                self.faults.insert("took something twice");
            }
        }
        let mut answer = Vec::new();
        if !host.guard.poll_answer(self.now, &mut answer) {
            return None;
        }
        if answer.len() > datagram.len() {
            self.faults.insert("answered with more than it got");
        }
        self.keep(answer.clone());
        Some(answer)
    }

    /// The expelled node answers as any other does.
    fn deliver_to_expelled(&mut self, datagram: &[u8]) {
        let (mut payload, mut answer) = (Vec::new(), Vec::new());
        let _ = self.expelled.open(self.now, datagram, (), &mut payload);
        if self.expelled.poll_answer(self.now, &mut answer) {
            self.keep(answer);
        }
    }

    /// The expelled node seals something, with the network key and its own identity.
    fn forge(&mut self, forgery: Forgery) {
        let now = self.now;
        let mut datagram = Vec::new();
        match forgery {
            Forgery::Own => self.expelled.seal(now, b"of the expelled", &mut datagram),
            Forgery::Data(host) => {
                let host = &self.hosts[host];
                let mut other = guard(epoch(host.life), now).with_identity(identity(EXPELLED), None);
                other.skip_to(host.guard.next_counter());
                other.seal(now, b"in the name of another", &mut datagram);
            }
            Forgery::Control(place) => {
                let (host, victim) = (&self.hosts[place], &self.hosts[1 - place]);
                let mut other = guard(epoch(host.life), now).with_identity(identity(EXPELLED), None);
                let names = (epoch(victim.life), victim.guard.next_counter().saturating_sub(1));
                let mark = identity(place).mark();
                datagram = other.forge(now, mark, host.guard.next_counter(), names, u64::MAX);
            }
        }
        self.keep(datagram);
    }

    /// Each known sender lived when it was proved.
    fn agrees(&self) -> bool {
        let ended = |known: Epoch| {
            let life = self.ends.iter().enumerate().find(|(life, _)| epoch(*life as u8) == known);
            life.map_or(Some(Instant::START), |(_, end)| *end)
        };
        self.hosts
            .iter()
            .all(|host| host.guard.proofs().all(|(known, proved)| ended(known).is_none_or(|end| proved <= end)))
    }

    /// If the network delivers from now on, both hosts know each other and take data after two datagrams each way.
    fn recovers(&self) -> bool {
        let mut state = self.clone();
        state.now += Duration::from_millis(200);
        let mut taken = [0; HOSTS];
        for round in 0..4 {
            let from = round % HOSTS;
            let before: Vec<_> = state.hosts.iter().map(|host| host.taken.len()).collect();
            let mut next = Some((1 - from, state.send(from)));
            while let Some((to, datagram)) = next {
                next = state.deliver(&datagram, to).map(|answer| (1 - to, answer));
            }
            for (taken, (host, before)) in taken.iter_mut().zip(state.hosts.iter().zip(before)) {
                *taken += host.taken.len() - before;
            }
        }
        taken.iter().all(|&taken| taken >= 2) && state.faults.is_empty()
    }
}

impl Model for Budget {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let now = Instant::START + Duration::from_secs(1);
        let hosts = [0, 1].map(|place| Host::born(place as u8, place, self.forgeries > 0, now));
        let (air, sent, faults) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let expelled = guard(EXPELLED_EPOCH, now).with_identity(identity(EXPELLED), None);
        vec![State { now, hosts, expelled, air, ends: vec![None; HOSTS], left: *self, sent, faults }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        for host in 0..HOSTS {
            if state.left.sends[host] > 0 {
                actions.push(Step::Send(host));
            }
            if state.left.restarts[host] > 0 {
                actions.push(Step::Restart(host));
            }
            if state.left.deliveries > 0 {
                actions.extend((0..state.air.len()).map(|place| Step::Deliver(place, host)));
            }
            if state.left.forgeries > 0 {
                actions.extend([Forgery::Data(host), Forgery::Control(host)].map(Step::Forge));
            }
        }
        if state.left.forgeries > 0 {
            actions.push(Step::Forge(Forgery::Own));
            // It answers what it hears.
            if state.left.deliveries > 0 {
                actions.extend((0..state.air.len()).map(|place| Step::Deliver(place, EXPELLED)));
            }
        }
        if state.left.short > 0 {
            actions.push(Step::Wait(Duration::from_millis(300)));
        }
        if state.left.long > 0 {
            actions.push(Step::Wait(Duration::from_secs(61)));
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        match step {
            Step::Send(host) => {
                state.left.sends[host] -= 1;
                let _ = state.send(host);
            }
            Step::Deliver(place, to) => {
                state.left.deliveries -= 1;
                let datagram = state.air[place].clone();
                if to == EXPELLED {
                    state.deliver_to_expelled(&datagram);
                } else {
                    let _ = state.deliver(&datagram, to);
                }
            }
            Step::Forge(forgery) => {
                state.left.forgeries -= 1;
                state.forge(forgery);
            }
            Step::Restart(host) => {
                state.left.restarts[host] -= 1;
                let (life, now) = (u8::try_from(state.ends.len()).expect("few lives"), state.now);
                state.ends[usize::from(state.hosts[host].life)] = Some(now);
                state.ends.push(None);
                let has_identity = state.hosts[host].guard.has_members();
                state.hosts[host] = Host::born(life, host, has_identity, now);
            }
            Step::Wait(time) => {
                let left = if time < OLDEST / 2 { &mut state.left.short } else { &mut state.left.long };
                *left -= 1;
                state.now += time;
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is taken twice, invented or old, no answer too long", |_, state: &State| {
                state.faults.is_empty()
            }),
            Property::always("agreement", |_, state: &State| state.agrees()),
            Property::always("the expelled node is not known", |_, state: &State| {
                let is_expelled = |host: &Host| host.guard.proofs().any(|(known, _)| known == EXPELLED_EPOCH);
                !state.hosts.iter().any(is_expelled)
            }),
            Property::always("no deadlock", |_, state: &State| state.recovers()),
            // A checker that reaches nothing finds no fault either.
            Property::sometimes("both know each other", |_, state: &State| {
                state.hosts.iter().all(|host| host.guard.senders() > 0)
            }),
            Property::sometimes("a payload is taken", |_, state: &State| {
                state.hosts.iter().any(|host| !host.taken.is_empty())
            }),
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
fn every_order_of_datagrams_replays_and_a_restart_is_safe() {
    let states = explore(Budget { sends: [1, 1], restarts: [0, 1], deliveries: 3, short: 0, long: 0, forgeries: 0 });
    assert_eq!(states, 945, "as docs/key-protocol.md says");
}

#[test]
fn what_an_expelled_node_seals_is_not_taken_and_hinders_nobody() {
    let states = explore(Budget { sends: [1, 0], restarts: [0, 0], deliveries: 3, short: 0, long: 0, forgeries: 1 });
    assert_eq!(states, 996, "as docs/key-protocol.md says");
}

#[test]
#[ignore = "slow"]
fn every_order_with_time_that_passes_is_safe() {
    for (budget, states) in [
        (Budget { sends: [1, 1], restarts: [0, 1], deliveries: 3, short: 0, long: 1, forgeries: 0 }, 7137),
        (Budget { sends: [1, 1], restarts: [0, 0], deliveries: 5, short: 0, long: 0, forgeries: 0 }, 987),
        (Budget { sends: [1, 0], restarts: [0, 0], deliveries: 4, short: 0, long: 0, forgeries: 1 }, 3500),
    ] {
        assert_eq!(explore(budget), states, "as docs/key-protocol.md says: {budget:?}");
    }
}
