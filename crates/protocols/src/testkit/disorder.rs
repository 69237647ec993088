//! Random operations: two ends whose datagrams arrive in any order, twice, changed, forged or not at all, and whose users do anything.

use super::pair::LIVELOCK;
use super::{Datagram, Output, Peer, Side};
use crate::time::{Duration, Instant};

/// A hundred years, after which a run ends: timers that double come to the end of time soon.
const LATE: Instant = Instant::from_nanos(100 * 365 * 86_400 * 1_000_000_000);

/// Choices that bytes make: those of a fuzzer or of a property test, or of a [`Stream`](crate::random::Stream). Once they are used
/// up, each choice is the first one.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Choices made by `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are used up.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A number of 8 bits.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    /// A number of 16 bits.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// A number of 32 bits.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// A number of 64 bits.
    pub fn u64(&mut self) -> u64 {
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }

    /// Yes or no.
    pub fn bool(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One of several things, at most 256.
    ///
    /// # Panics
    ///
    /// If there is nothing to choose from.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    /// What `make` makes, or nothing.
    pub fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.bool().then(|| make(self))
    }

    /// A number near `number`, mostly that itself; now and then any at all.
    pub fn near(&mut self, number: u64) -> u64 {
        match self.byte() % 8 {
            0..=3 => number,
            4..=5 => number.wrapping_add_signed(i64::from(self.byte() as i8 / 16)),
            6 => number.wrapping_add_signed(i64::from(self.u16() as i16 / 10)),
            _ => self.u64(),
        }
    }

    /// The next bytes, up to `most` of them and fewer than 256.
    pub fn bytes(&mut self, most: u8) -> &'a [u8] {
        let len = usize::from(self.byte()) % (usize::from(most) + 1);
        let (taken, rest) = self.bytes.split_at(len.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }
}

/// A peer that random operations can be done to.
pub trait Subject: Peer {
    /// Its user makes a request, whichever.
    fn handle_request(&mut self, choices: &mut Choices<'_>, now: Instant);

    /// Something arrives that the other end never sent; `last` is what that has sent last, for what is almost right.
    fn handle_forgery(&mut self, choices: &mut Choices<'_>, last: Option<&Self::Datagram>, now: Instant);

    /// Panics unless all holds that holds whatever happens to one end.
    fn check(&self);
}

/// Two ends in disorder.
#[derive(Debug)]
pub struct Disorder<A: Subject, B: Subject<Datagram = A::Datagram>> {
    /// One end.
    pub client: A,
    /// The other end.
    pub server: B,
    now: Instant,
    /// By sender: datagrams that have neither arrived nor been lost.
    wires: [Vec<A::Datagram>; 2],
    /// Whether all that arrived was sent, as it was sent.
    is_honest: bool,
}

impl<A: Subject, B: Subject<Datagram = A::Datagram>> Disorder<A, B> {
    /// Both ends at the start of time.
    pub fn new(client: A, server: B) -> Self {
        Self::begin_at(client, server, Instant::START)
    }

    /// Both ends at `now`, after whatever has happened to them.
    pub fn begin_at(client: A, server: B, now: Instant) -> Self {
        let mut disorder = Self { client, server, now, wires: [Vec::new(), Vec::new()], is_honest: true };
        Side::ALL.into_iter().for_each(|side| disorder.drain(side));
        disorder
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether all that arrived was sent by the other end, as it was sent.
    pub fn is_honest(&self) -> bool {
        self.is_honest
    }

    /// Does operations until the choices are used up or a hundred years have passed; `check` looks at both ends after each.
    ///
    /// # Panics
    ///
    /// If an end puts out without end at one instant, leaves a timer due that has run off, or does not pass its own
    /// [`check`](Subject::check).
    pub fn run(&mut self, choices: &mut Choices<'_>, mut check: impl FnMut(&Self)) {
        while !choices.is_empty() && self.now < LATE {
            self.step(choices);
            self.client.check();
            self.server.check();
            check(self);
        }
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        let operation = choices.byte();
        let side = Side::ALL[usize::from(operation & 1)];
        match operation >> 1 & 15 {
            0..=4 => self.arrive(side, choices),
            5 => self.lose(side, choices),
            6 | 7 => {
                self.is_honest = false;
                let last = self.wires[side.other() as usize].last();
                match side {
                    Side::Client => self.client.handle_forgery(choices, last, self.now),
                    Side::Server => self.server.handle_forgery(choices, last, self.now),
                }
            }
            8..=10 => match side {
                Side::Client => self.client.handle_request(choices, self.now),
                Side::Server => self.server.handle_request(choices, self.now),
            },
            11 | 12 => {
                // Up to 4.3 s.
                self.now += Duration::from_nanos(u64::from(choices.u32()));
                return;
            }
            _ => self.expire(side),
        }
        self.drain(side);
    }

    /// Something that the other end has sent arrives: mostly the first of it, once, and as it was.
    fn arrive(&mut self, to: Side, choices: &mut Choices<'_>) {
        let wire = &mut self.wires[to.other() as usize];
        if wire.is_empty() {
            return;
        }
        let place = usize::from(choices.byte()).saturating_sub(127) % wire.len();
        let kind = choices.byte();
        let mut datagram = if kind % 8 == 1 { wire[place].clone() } else { wire.remove(place) };
        if kind % 8 == 2 {
            self.is_honest = false;
            datagram.corrupt(choices.u16().into(), choices.byte());
        }
        match to {
            Side::Client => self.client.handle_datagram(&datagram, self.now),
            Side::Server => self.server.handle_datagram(&datagram, self.now),
        }
    }

    fn lose(&mut self, from: Side, choices: &mut Choices<'_>) {
        let wire = &mut self.wires[from as usize];
        if !wire.is_empty() {
            wire.remove(usize::from(choices.byte()) % wire.len());
        }
    }

    /// The timer of one end runs off, on time or late.
    fn expire(&mut self, side: Side) {
        let due = match side {
            Side::Client => self.client.poll_timeout(),
            Side::Server => self.server.poll_timeout(),
        };
        let Some(due) = due else { return };
        self.now = self.now.max(due);
        if self.now >= LATE {
            return;
        }
        match side {
            Side::Client => self.client.handle_timeout(self.now),
            Side::Server => self.server.handle_timeout(self.now),
        }
        self.drain(side);
        let due = match side {
            Side::Client => self.client.poll_timeout(),
            Side::Server => self.server.poll_timeout(),
        };
        assert!(due.is_none_or(|due| due > self.now), "a timer of the {side:?} stays due at {}", self.now);
    }

    fn drain(&mut self, side: Side) {
        let wire = &mut self.wires[side as usize];
        match side {
            Side::Client => drain(&mut self.client, wire, self.now),
            Side::Server => drain(&mut self.server, wire, self.now),
        }
    }
}

fn drain<P: Peer>(end: &mut P, wire: &mut Vec<P::Datagram>, now: Instant) {
    for _ in 0..LIVELOCK {
        match end.poll_output(now) {
            None => return,
            Some(Output::Transmit(datagram)) => wire.push(datagram),
            Some(Output::Event(_)) => {}
        }
    }
    panic!("no progress: {LIVELOCK} outputs at {now}");
}
