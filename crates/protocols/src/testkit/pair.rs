//! Two peers over a link, in virtual time.

use std::collections::VecDeque;

use super::{Datagram, Link, Side};
use crate::time::Instant;

/// Outputs of one end at one instant that no machine reaches that makes progress.
pub(super) const LIVELOCK: u32 = 20_000;
/// Number of events after which a run counts as endless.
const ENDLESS: u64 = 10_000_000;

/// One end of a connection, as its driver sees it: the [contract of every machine](crate).
pub trait Peer {
    /// What the two ends send each other.
    type Datagram: Datagram;
    /// What the machine tells its user.
    type Event;

    /// A datagram has arrived.
    fn handle_datagram(&mut self, datagram: &Self::Datagram, now: Instant);

    /// It is [`poll_timeout`](Self::poll_timeout), or later.
    fn handle_timeout(&mut self, now: Instant);

    /// Takes out one thing; `None` when nothing is left.
    #[must_use = "an output that is not carried out is lost"]
    fn poll_output(&mut self, now: Instant) -> Option<Output<Self::Datagram, Self::Event>>;

    /// When [`handle_timeout`](Self::handle_timeout) is to be called next.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// What an end puts out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output<D, E> {
    /// For the other end.
    Transmit(D),
    /// For the user.
    Event(E),
}

/// What one of the ends tells its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<A, B> {
    /// The client does.
    Client(A),
    /// The server does.
    Server(B),
}

/// Two peers over a link. Both are open to the test, which may change them between two calls; see the [module](super) for examples.
///
/// A pair panics where a machine breaks the contract: where it puts out without end at one instant, or leaves a timer due at an
/// instant that has been handled.
#[derive(Debug)]
pub struct Pair<A: Peer, B: Peer<Datagram = A::Datagram>> {
    /// One end.
    pub client: A,
    /// The other end.
    pub server: B,
    /// What lies between them.
    pub link: Link<A::Datagram>,
    now: Instant,
    /// Outputs at this instant.
    outputs: u32,
    events: VecDeque<Event<A::Event, B::Event>>,
}

impl<A: Peer, B: Peer<Datagram = A::Datagram>> Pair<A, B> {
    /// Both ends at the start of time.
    pub fn new(client: A, server: B, link: Link<A::Datagram>) -> Self {
        Self { client, server, link, now: Instant::START, outputs: 0, events: VecDeque::new() }
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Lets all happen until an end has an event for its user, and takes that out. `None`: there is none until `until`, which it is
    /// then, or nothing is left to happen.
    pub fn poll_event(&mut self, until: Instant) -> Option<Event<A::Event, B::Event>> {
        loop {
            self.drain();
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let next = self.poll_timeout()?;
            if next > until {
                self.pass(until);
                return None;
            }
            self.step(next);
        }
    }

    /// Runs everything up to and including `until`, and discards events.
    pub fn run_until(&mut self, until: Instant) {
        while self.poll_event(until).is_some() {}
        self.pass(until);
    }

    /// Runs until nothing is left to happen, and discards events.
    pub fn run_to_end(&mut self) {
        for _ in 0..ENDLESS {
            self.drain();
            self.events.clear();
            let Some(next) = self.poll_timeout() else { return };
            self.step(next);
        }
        panic!("no end in sight at {}", self.now);
    }

    /// When the next thing happens: a datagram arrives, or a timer is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let timers = [self.client.poll_timeout(), self.server.poll_timeout(), self.link.poll_timeout()];
        timers.into_iter().flatten().min()
    }

    /// One datagram arrives, or the timers that are due run off. Datagrams come first.
    fn step(&mut self, next: Instant) {
        self.pass(next);
        if let Some((to, datagram)) = self.link.poll_output(self.now) {
            match to {
                Side::Client => self.client.handle_datagram(&datagram, self.now),
                Side::Server => self.server.handle_datagram(&datagram, self.now),
            }
            return;
        }
        // Both are drained before one is changed again.
        if is_due(&self.client, self.now) {
            self.client.handle_timeout(self.now);
            self.drain();
            assert!(!is_due(&self.client, self.now), "the client's timer stays due at {}", self.now);
        }
        if is_due(&self.server, self.now) {
            self.server.handle_timeout(self.now);
            self.drain();
            assert!(!is_due(&self.server, self.now), "the server's timer stays due at {}", self.now);
        }
    }

    /// Time passes. A timer that a user has moved into the past is due now.
    fn pass(&mut self, to: Instant) {
        if to > self.now {
            self.now = to;
            self.outputs = 0;
        }
    }

    fn drain(&mut self) {
        let (now, outputs) = (self.now, &mut self.outputs);
        while let Some(output) = self.client.poll_output(now) {
            count(outputs, now);
            match output {
                Output::Transmit(datagram) => self.link.handle_datagram(Side::Client, datagram, now),
                Output::Event(event) => self.events.push_back(Event::Client(event)),
            }
        }
        while let Some(output) = self.server.poll_output(now) {
            count(outputs, now);
            match output {
                Output::Transmit(datagram) => self.link.handle_datagram(Side::Server, datagram, now),
                Output::Event(event) => self.events.push_back(Event::Server(event)),
            }
        }
    }
}

fn is_due(peer: &impl Peer, now: Instant) -> bool {
    peer.poll_timeout().is_some_and(|due| due <= now)
}

fn count(outputs: &mut u32, now: Instant) {
    *outputs += 1;
    assert!(*outputs < LIVELOCK, "no progress: {outputs} outputs at {now}");
}
