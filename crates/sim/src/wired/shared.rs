//! Half-duplex Ethernet: stations that share one medium by CSMA/CD.
//!
//! A hub with its cables is one medium, and so is a half-duplex cable between two stations. IEEE 802.3-2018, clause 4.2:
//!
//! * **Deference** (4.2.3.2.1, 4.2.3.2.2): a station with a frame waits while it senses a carrier, and then for the interframe gap of 96 bit
//!   times. A carrier that appears in the first two thirds of the gap stops it; one that appears later does not, so that all stations have
//!   the same chance.
//! * **Collision** (4.2.3.2.4): a station that hears another one while it sends finishes its preamble, adds a jam of 32 bits and stops.
//! * **Backoff** (4.2.3.2.5): after its n-th collision a frame waits for a uniform number of slots of 512 bit times, from 0 to
//!   2^min(n, 10) − 1. After 16 collisions it is given up.
//! * **Frames** (clause 3.2): 8 bytes of preamble and start delimiter, 14 of header, at least 46 of data, 4 of FCS. There is neither a VLAN
//!   tag nor an LLC header.
//!
//! A carrier is sensed, and a collision detected, as soon as the signal has arrived. Stations that decide at one instant don't hear each
//! other: they collide. No pair of stations is so far apart that a collision could come later than a slot.
//!
//! It is a machine without a clock, and knows no packets: one change, then its outputs, then its timer.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use hopcast_protocols::random::Stream;
use hopcast_protocols::time::{Duration, Instant};

use crate::timers::Timers;

/// Bit times between frames.
const GAP_BITS: u32 = 96;
/// Bit times at the beginning of the gap in which a carrier stops it.
const GAP_FIRST_BITS: u32 = 64;
/// Bit times of a slot: at 10 and 100 Mb/s.
pub(crate) const SLOT_BITS: u32 = 512;
/// Bits that a station sends after a collision.
const JAM_BITS: u32 = 32;
/// Bits of the preamble and the start delimiter.
const PREAMBLE_BITS: u32 = 64;
/// Bytes of the header and of the FCS.
const FRAMING_OCTETS: u32 = 14 + 4;
/// Least bytes between header and FCS.
const LEAST_DATA_OCTETS: u32 = 46;
/// Collisions after which a frame is given up.
const ATTEMPTS: u32 = 16;
/// Collisions after which the range of the backoff grows no more.
const BACKOFF_LIMIT: u32 = 10;

/// What has become of a station's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Index of the station.
    pub(crate) station: u32,
    /// Whether its last bit has left; if not, it was given up.
    pub(crate) is_sent: bool,
}

/// The stations of one medium.
#[derive(Clone, Debug)]
pub(crate) struct SharedMedium {
    /// Nanoseconds of a bit.
    bit: f64,
    /// By station: the time that its signals take to the middle of the medium.
    delays: Vec<Duration>,
    stations: Vec<Station>,
    /// Ends of their states, by station.
    timers: Timers,
    /// Signals that begin or end at a station later.
    edges: BinaryHeap<Reverse<Edge>>,
    outputs: VecDeque<Outcome>,
}

/// A signal begins or ends at a station. Ends come first at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    at: Instant,
    is_start: bool,
    station: u32,
}

#[derive(Clone, Debug)]
struct Station {
    state: State,
    /// Bits of its frame, preamble included.
    bits: u32,
    /// Collisions of its frame so far.
    collided: u32,
    /// Signals of others that it hears.
    heard: u32,
    /// When the first of these began here.
    onset: Instant,
    /// When the medium was last found idle again, its own signals included; `None`: it was never busy.
    idle_since: Option<Instant>,
    /// Draws its backoff.
    random: Stream,
    collisions: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Without a frame.
    Idle,
    /// With a frame, until the medium is free.
    Waiting,
    /// Since one instant until another.
    Sending(Instant, Instant),
    /// After a collision, until then.
    Jamming(Instant),
    /// Until then.
    BackingOff(Instant),
}

impl SharedMedium {
    /// A silent medium of `rate` bits per second. `stations` are the times that signals take between each station and the middle,
    /// and the streams that draw their backoff.
    pub(crate) fn new(rate: f64, stations: impl IntoIterator<Item = (Duration, Stream)>) -> Self {
        let (delays, stations): (Vec<Duration>, Vec<Station>) =
            stations.into_iter().map(|(delay, random)| (delay, Station::new(random))).unzip();
        let timers = Timers::new(stations.len());
        let (edges, outputs) = (BinaryHeap::new(), VecDeque::with_capacity(2));
        Self { bit: 1e9 / rate, delays, stations, timers, edges, outputs }
    }

    /// A station without a frame has one with this number of bytes of data.
    pub(crate) fn handle_frame(&mut self, station: u32, octets: u32, now: Instant) {
        let own = &mut self.stations[station as usize];
        debug_assert_eq!(own.state, State::Idle, "one frame at a time");
        own.bits = PREAMBLE_BITS + 8 * (FRAMING_OCTETS + octets.max(LEAST_DATA_OCTETS));
        own.collided = 0;
        self.wait(station, now);
    }

    /// The instant of [`Self::poll_timeout`] has come.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        loop {
            let ends = self.edges.peek().is_some_and(|Reverse(edge)| edge.at <= now && !edge.is_start);
            if !ends && self.timers.first() <= now {
                self.expire(self.timers.first_owner() as u32, now);
                continue;
            }
            let Some(Reverse(edge)) = self.edges.peek().copied().filter(|Reverse(edge)| edge.at <= now) else { break };
            self.edges.pop();
            if edge.is_start { self.hear(edge.station, now) } else { self.hear_no_more(edge.station, now) }
        }
    }

    /// Takes out the next output.
    pub(crate) fn poll_output(&mut self) -> Option<Outcome> {
        self.outputs.pop_front()
    }

    /// Time of the next call of [`Self::handle_timeout`].
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let edge = self.edges.peek().map_or(Instant::MAX, |Reverse(edge)| edge.at);
        Some(self.timers.first().min(edge)).filter(|&first| first < Timers::NEVER)
    }

    /// Frames of a station that collided, each as often as it did.
    pub(crate) fn collisions(&self, station: u32) -> u64 {
        self.stations[station as usize].collisions
    }

    /// The time of a number of bits.
    fn bits(&self, bits: u32) -> Duration {
        // A positive number far below 2⁶⁴.
        Duration::from_nanos(libm::round(f64::from(bits) * self.bit) as u64)
    }

    /// The state of a station has come to its end.
    fn expire(&mut self, station: u32, now: Instant) {
        let own = &mut self.stations[station as usize];
        match own.state {
            State::Idle => self.timers.set(station as usize, None),
            State::Waiting => self.send(station, now),
            State::BackingOff(_) => self.wait(station, now),
            State::Sending(..) => {
                self.fall_silent(station, now);
                self.done(station, true);
            }
            State::Jamming(_) => {
                own.collided += 1;
                let collided = own.collided;
                let slots = own.random.below(1 << collided.min(BACKOFF_LIMIT));
                self.fall_silent(station, now);
                if collided >= ATTEMPTS {
                    self.done(station, false);
                } else {
                    let until = now + self.bits(SLOT_BITS * slots);
                    self.set(station, State::BackingOff(until), Some(until));
                }
            }
        }
    }

    fn set(&mut self, station: u32, state: State, until: Option<Instant>) {
        self.stations[station as usize].state = state;
        self.timers.set(station as usize, until);
    }

    fn done(&mut self, station: u32, is_sent: bool) {
        self.set(station, State::Idle, None);
        self.outputs.push_back(Outcome { station, is_sent });
    }

    /// A station waits until it may send.
    fn wait(&mut self, station: u32, now: Instant) {
        self.set(station, State::Waiting, None);
        self.defer(station, now);
    }

    /// When a waiting station may send may have changed.
    fn defer(&mut self, station: u32, now: Instant) {
        if self.stations[station as usize].state == State::Waiting {
            let free = self.free_at(station, now);
            self.timers.set(station as usize, free);
        }
    }

    /// When a station that waits may send; `None`: not before a carrier that it senses has ended.
    fn free_at(&self, station: u32, now: Instant) -> Option<Instant> {
        let own = &self.stations[station as usize];
        let gap = own.idle_since.map(|since| (since + self.bits(GAP_FIRST_BITS), since + self.bits(GAP_BITS)));
        let (first, end) = gap.unwrap_or((Instant::START, Instant::START));
        if own.heard == 0 {
            return Some(end.max(now));
        }
        // A carrier that began at this instant has not been sensed yet, and one in the rest of a gap does not stop it.
        let is_late = own.onset > first || gap.is_none();
        let is_unsensed = own.onset.max(end) == now;
        (is_late && (is_unsensed || own.onset < end && now <= end)).then(|| end.max(now))
    }

    fn send(&mut self, station: u32, now: Instant) {
        let end = now + self.bits(self.stations[station as usize].bits);
        self.set(station, State::Sending(now, end), Some(end));
        self.spread(station, true, now);
        if self.stations[station as usize].heard > 0 {
            self.collide(station, now, now);
        }
    }

    /// A signal of a station begins or ends, and so it does later at the others.
    fn spread(&mut self, station: u32, is_start: bool, now: Instant) {
        let own = self.delays[station as usize];
        for (other, delay) in (0..).zip(&self.delays) {
            if other != station {
                self.edges.push(Reverse(Edge { at: now + own + *delay, is_start, station: other }));
            }
        }
    }

    /// A station stops sending.
    fn fall_silent(&mut self, station: u32, now: Instant) {
        self.spread(station, false, now);
        let own = &mut self.stations[station as usize];
        if own.heard == 0 {
            own.idle_since = Some(now);
        }
    }

    /// A station that has sent since `start` hears another one.
    fn collide(&mut self, station: u32, start: Instant, now: Instant) {
        let end = now.max(start + self.bits(PREAMBLE_BITS)) + self.bits(JAM_BITS);
        self.set(station, State::Jamming(end), Some(end));
        self.stations[station as usize].collisions += 1;
    }

    /// A signal begins at a station.
    fn hear(&mut self, station: u32, now: Instant) {
        let own = &mut self.stations[station as usize];
        if own.heard == 0 {
            own.onset = now;
        }
        own.heard += 1;
        match own.state {
            State::Sending(start, _) => self.collide(station, start, now),
            _ => self.defer(station, now),
        }
    }

    /// A signal ends at a station.
    fn hear_no_more(&mut self, station: u32, now: Instant) {
        let own = &mut self.stations[station as usize];
        own.heard -= 1;
        if own.heard == 0 && !matches!(own.state, State::Sending(..) | State::Jamming(_)) {
            own.idle_since = Some(now);
        }
        self.defer(station, now);
    }
}

impl Station {
    fn new(random: Stream) -> Self {
        Self {
            state: State::Idle,
            bits: 0,
            collided: 0,
            heard: 0,
            onset: Instant::START,
            idle_since: None,
            random,
            collisions: 0,
        }
    }
}
