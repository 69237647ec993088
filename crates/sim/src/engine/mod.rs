//! The clock and the order of events; it drives stations, medium and hosts.
//!
//! # The order of events
//!
//! Events happen in the order of their [`Key`]: time, then [`Rank`], then number. The order of the ranks is behaviour:
//!
//! 1. *trailing edges*: a frame that ends when another begins does not overlap it;
//! 2. *stations*, by index: whoever has decided to transmit does so before it hears who decides the same at that instant;
//! 3. *hosts*, by index;
//! 4. *leading edges*.
//!
//! Edges of one rank at one instant go by the number of the transmission, and along its links by delay and receiver.
//! Nothing else orders events: no addresses in memory, no hashes, no floating point, no threads.

mod edges;
mod timers;

use core::fmt;

use hopcast_protocols::time::Instant;
use hopcast_radio::mac::{Dcf, DropCause, Frame, Output, Payload, StationId};
use hopcast_radio::medium::{Heard, Link, Medium, TransmissionId};

use edges::Edges;
use timers::Timers;

/// Place of an event in the total order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When.
    pub time: Instant,
    /// Which comes first at one instant.
    pub rank: Rank,
    /// Transmission, station or host.
    pub number: u64,
}

/// Kinds of events, in the order in which they happen at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The end of a frame reaches a receiver.
    Trailing,
    /// A station's timer.
    Station,
    /// A host's timer.
    Host,
    /// The start of a frame reaches a receiver.
    Leading,
}

/// One event that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the order.
    pub key: Key,
    /// Where it happened.
    pub station: StationId,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { time, rank, number } = self.key;
        match rank {
            Rank::Trailing => write!(f, "{time}: transmission {number} ends at station {}", self.station.0),
            Rank::Station => write!(f, "{time}: timer of station {}", self.station.0),
            Rank::Host => write!(f, "{time}: timer of host {}", self.station.0),
            Rank::Leading => write!(f, "{time}: transmission {number} starts at station {}", self.station.0),
        }
    }
}

/// The layer above the stations: all hosts.
pub trait Upper {
    /// What the stations carry.
    type Packet: Payload;
    /// A packet has arrived at a station.
    fn handle_packet(&mut self, station: StationId, packet: Self::Packet, from: StationId, now: Instant);
    /// A packet was acknowledged, or broadcast.
    fn handle_sent(&mut self, station: StationId, packet: &Self::Packet, now: Instant);
    /// The station gave a packet up.
    fn handle_drop(&mut self, station: StationId, packet: &Self::Packet, cause: DropCause, now: Instant);
    /// The instant of [`Self::poll_timeout`] has come.
    fn handle_timeout(&mut self, station: StationId, now: Instant);
    /// When [`Self::handle_timeout`] is to be called.
    fn poll_timeout(&self, station: StationId) -> Option<Instant>;
    /// The next packet for the station's interface, whose queue has `room` free places.
    fn poll_output(
        &mut self,
        station: StationId,
        room: usize,
        now: Instant,
    ) -> Option<(Option<StationId>, Self::Packet)>;
}

/// Sees each frame that a station sends or receives without error, as a capture on that host would.
pub trait Tap<P> {
    /// At `station`, a frame that started at `start`; with its power if it was received.
    fn on_frame(&mut self, station: StationId, frame: &Frame<P>, start: Instant, received: Option<&Link>);
}

/// A run: stations and hosts on a medium.
pub struct Engine<U: Upper> {
    now: Instant,
    events: u64,
    edges: Edges,
    station_timers: Timers,
    host_timers: Timers,
    medium: Medium<U::Packet>,
    stations: Vec<Dcf<U::Packet>>,
    upper: U,
    tap: Option<Box<dyn Tap<U::Packet> + Send>>,
    log: Option<Box<dyn FnMut(Event) + Send>>,
}

impl<U: Upper> Engine<U> {
    /// A run at its start. Stations and `upper` have the indices of the medium's links.
    pub fn new(medium: Medium<U::Packet>, stations: Vec<Dcf<U::Packet>>, upper: U) -> Self {
        let mut host_timers = Timers::new(stations.len());
        for index in 0..stations.len() {
            host_timers.set(index, upper.poll_timeout(StationId(index as u32)));
        }
        Self {
            now: Instant::START,
            events: 0,
            edges: Edges::default(),
            station_timers: Timers::new(stations.len()),
            host_timers,
            medium,
            stations,
            upper,
            tap: None,
            log: None,
        }
    }

    /// Shows every frame to `tap`.
    pub fn set_tap(&mut self, tap: impl Tap<U::Packet> + Send + 'static) {
        self.tap = Some(Box::new(tap));
    }

    /// Shows every event to `log`, in order.
    pub fn set_log(&mut self, log: impl FnMut(Event) + Send + 'static) {
        self.log = Some(Box::new(log));
    }

    /// Runs all events up to and including those at `end`.
    pub fn run_until(&mut self, end: Instant) {
        while let Some(key) = self.next_key().filter(|key| key.time <= end) {
            match key.rank {
                Rank::Trailing => {
                    let id = self.edges.pop();
                    self.walk_trailing(id, end);
                }
                Rank::Leading => {
                    let id = self.edges.pop();
                    self.walk_leading(id, end);
                }
                Rank::Station => self.run_station_timer(key),
                Rank::Host => self.run_host_timer(key),
            }
        }
        self.now = self.now.max(end);
    }

    /// How far the run has come.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// How many events have happened.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The medium.
    pub fn medium(&self) -> &Medium<U::Packet> {
        &self.medium
    }

    /// The stations, by index.
    pub fn stations(&self) -> &[Dcf<U::Packet>] {
        &self.stations
    }

    /// The layer above.
    pub fn upper(&self) -> &U {
        &self.upper
    }

    /// The layer above, to read its measurements or to sample it between events.
    pub fn upper_mut(&mut self) -> &mut U {
        &mut self.upper
    }

    /// Ends the run and gives back the layer above.
    pub fn into_upper(self) -> U {
        self.upper
    }

    fn next_key(&self) -> Option<Key> {
        let station = self.station_timers.first().map(|(time, index)| Key::new(time, Rank::Station, index as u64));
        let host = self.host_timers.first().map(|(time, index)| Key::new(time, Rank::Host, index as u64));
        [self.edges.first(), station, host].into_iter().flatten().min()
    }

    fn is_next(&self, key: Key, end: Instant) -> bool {
        key.time <= end && self.next_key().is_none_or(|next| key < next)
    }

    fn begin(&mut self, key: Key, station: StationId) {
        debug_assert!(key.time >= self.now, "time runs forward");
        self.now = key.time;
        self.events += 1;
        if let Some(log) = &mut self.log {
            log(Event { key, station });
        }
    }

    /// Follows a frame's start from receiver to receiver for as long as nothing else comes first.
    fn walk_leading(&mut self, id: TransmissionId, end: Instant) {
        let number = self.medium.transmission(id).number;
        let mut first = true;
        while let Some((time, link)) = self.medium.next_leading(id) {
            let key = Key::new(time, Rank::Leading, number);
            if !first && !self.is_next(key, end) {
                self.edges.push(key, id);
                return;
            }
            first = false;
            self.begin(key, link.receiver);
            if self.medium.handle_leading(id, link, time) {
                self.stations[link.receiver.0 as usize].handle_busy(time);
                self.rearm(link.receiver);
            }
        }
    }

    /// Follows a frame's end from receiver to receiver for as long as nothing else comes first.
    fn walk_trailing(&mut self, id: TransmissionId, end: Instant) {
        let number = self.medium.transmission(id).number;
        let mut first = true;
        while let Some((time, link)) = self.medium.next_trailing(id) {
            let key = Key::new(time, Rank::Trailing, number);
            if !first && !self.is_next(key, end) {
                self.edges.push(key, id);
                return;
            }
            first = false;
            self.begin(key, link.receiver);
            let (heard, idle) = self.medium.handle_trailing(id, link);
            let station = &mut self.stations[link.receiver.0 as usize];
            match heard {
                Heard::Noise => {}
                Heard::Error(header_end) => {
                    station.handle_error(self.medium.transmission(id).frame.rate, header_end, time);
                }
                Heard::Frame(header_end) => {
                    let transmission = self.medium.transmission(id);
                    if let Some(tap) = &mut self.tap {
                        let start = transmission.start + link.delay;
                        tap.on_frame(link.receiver, &transmission.frame, start, Some(&link));
                    }
                    station.handle_frame(&transmission.frame, header_end, time);
                }
            }
            if idle {
                station.handle_idle(time);
            }
            self.settle(link.receiver, time);
        }
        self.medium.remove(id);
    }

    fn run_station_timer(&mut self, key: Key) {
        let station = StationId(key.number as u32);
        let index = station.0 as usize;
        let timeout = self.stations[index].poll_timeout();
        if timeout != Some(key.time) {
            // The timer has moved since; see `rearm`.
            self.station_timers.set(index, timeout);
            return;
        }
        self.begin(key, station);
        let receiving = self.medium.receiving(station, key.time);
        let busy = self.stations[index].is_transmitting() && self.medium.handle_transmitted(station);
        self.stations[index].handle_timeout(key.time, receiving, busy);
        self.station_timers.set(index, self.stations[index].poll_timeout());
        self.settle(station, key.time);
    }

    fn run_host_timer(&mut self, key: Key) {
        let station = StationId(key.number as u32);
        self.begin(key, station);
        self.upper.handle_timeout(station, key.time);
        self.settle_host(station, key.time);
        self.settle(station, key.time);
    }

    /// Carries out what a station wants, and what its host wants in turn, until neither wants anything more.
    fn settle(&mut self, station: StationId, now: Instant) {
        let index = station.0 as usize;
        let mut host_touched = false;
        loop {
            while let Some(output) = self.stations[index].poll_output() {
                match output {
                    Output::Transmit(frame) => self.transmit(frame, now),
                    Output::Deliver(packet, from) => {
                        host_touched = true;
                        self.upper.handle_packet(station, packet, from, now);
                    }
                    Output::Sent(packet) => {
                        host_touched = true;
                        self.upper.handle_sent(station, &packet, now);
                    }
                    Output::Dropped(packet, cause) => {
                        host_touched = true;
                        self.upper.handle_drop(station, &packet, cause, now);
                    }
                }
            }
            if !host_touched {
                break;
            }
            host_touched = false;
            self.settle_host(station, now);
        }
        self.rearm(station);
    }

    /// Moves packets from a host to its interface.
    fn settle_host(&mut self, station: StationId, now: Instant) {
        let interface = &mut self.stations[station.0 as usize];
        while let Some((receiver, packet)) = self.upper.poll_output(station, interface.room(), now) {
            interface.handle_packet(receiver, packet, now);
        }
        self.host_timers.set(station.0 as usize, self.upper.poll_timeout(station));
    }

    fn transmit(&mut self, frame: Frame<U::Packet>, now: Instant) {
        if let Some(tap) = &mut self.tap {
            tap.on_frame(frame.transmitter, &frame, now, None);
        }
        let id = self.medium.transmit(frame, now);
        let number = self.medium.transmission(id).number;
        match (self.medium.next_leading(id), self.medium.next_trailing(id)) {
            (Some((leading, _)), Some((trailing, _))) => {
                self.edges.push(Key::new(leading, Rank::Leading, number), id);
                self.edges.push(Key::new(trailing, Rank::Trailing, number), id);
            }
            _ => self.medium.remove(id),
        }
    }

    /// A station's timer may have moved. One that moved to a later instant stays where it is: it is looked up again when
    /// the earlier one comes. Carrier sense moves most timers later, so most moves cost nothing.
    fn rearm(&mut self, station: StationId) {
        let index = station.0 as usize;
        if let Some(timeout) = self.stations[index].poll_timeout()
            && self.station_timers.get(index).is_none_or(|set| timeout < set)
        {
            self.station_timers.set(index, Some(timeout));
        }
    }
}

impl Key {
    fn new(time: Instant, rank: Rank, number: u64) -> Self {
        Self { time, rank, number }
    }
}
