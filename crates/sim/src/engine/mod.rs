//! The clock and the order of events; drives stations, medium, wires and hosts.
//!
//! # The order of events
//!
//! Events happen in the order of their [`Key`]: time, then [`Rank`], then number. The order of the ranks affects results:
//!
//! 1. *trailing edges*: a frame that ends when another begins does not overlap it;
//! 2. *stations*, by index: a station that has decided to transmit does so before it hears others that decide at the same
//!    instant;
//! 3. *wires*, by index: a packet that arrives at an instant is there when the host acts;
//! 4. *hosts*, by index;
//! 5. *leading edges*.
//!
//! Edges of one rank at one instant are ordered by the number of the transmission, and along its links by delay and
//! receiver. Nothing else orders events: no addresses in memory, no hashes, no floating point, no threads.

mod edges;
mod ports;

use core::fmt;
use core::hint::black_box;

use hopcast_protocols::time::Instant;
use hopcast_radio::aggregate::{Body, MpduSet};
use hopcast_radio::mac::edca::UserPriority;
use hopcast_radio::mac::{
    Dcf, DropCause, Frame, FrameKind, Header, LinkStatistics, Output, Payload, Protection, QueueSpace, StationId,
};
use hopcast_radio::medium::{EdgeProgress, Link, Medium, StartedTransmission, Transmission, TransmissionId};
use hopcast_radio::phy::Phy;
use hopcast_radio::queue::Reason;
use hopcast_radio::reception::{Carrier, LeadingEdge, ReceptionOutcome};
use hopcast_radio::units::Power;
use hopcast_wire::ieee80211::management::BlockAckAction;

use crate::stop::Stop;
use crate::timers::Timers;
use crate::wired::{self, SharedMedia, Wire};
use edges::{Edges, just_after};
pub use ports::{Attachment, Port, Ports};

/// Number of stations whose hot data fits into the processor's cache.
const CACHED_STATIONS: usize = 256;

/// Bits of a [`Key`] for the number of an event.
const NUMBER_BITS: u32 = 61;

/// Place of an event in the total order: 64 bits of time, 3 of rank, 61 of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    const fn new(time: Instant, rank: Rank, number: u64) -> Self {
        Self((time.as_nanos() as u128) << 64 | (rank as u128) << NUMBER_BITS | number as u128)
    }

    /// The time.
    pub const fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    /// The rank at that time.
    pub const fn rank(self) -> Rank {
        match self.0 as u64 >> NUMBER_BITS {
            0 => Rank::Trailing,
            1 => Rank::Station,
            2 => Rank::Wire,
            3 => Rank::Host,
            _ => Rank::Leading,
        }
    }

    /// Number of the transmission, station, wire or host.
    pub const fn number(self) -> u64 {
        self.0 as u64 & ((1 << NUMBER_BITS) - 1)
    }
}

/// Kinds of events, in their order at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The end of a frame reaches a receiver.
    Trailing,
    /// A station's timer.
    Station,
    /// A packet has left at one end of a wire, or arrives at the other.
    Wire,
    /// A host's timer.
    Host,
    /// The start of a frame reaches a receiver.
    Leading,
}

/// An event that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the order.
    pub key: Key,
    /// Index of the station, or of the host for timers of hosts and wires.
    pub place: u32,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, number) = (self.key.time(), self.key.number());
        match self.key.rank() {
            Rank::Trailing => write!(f, "{time}: transmission {number} ends at station {}", self.place),
            Rank::Station => write!(f, "{time}: timer of station {number}"),
            Rank::Wire => write!(f, "{time}: wire {number} of host {}", self.place),
            Rank::Host => write!(f, "{time}: timer of host {number}"),
            Rank::Leading => write!(f, "{time}: transmission {number} starts at station {}", self.place),
        }
    }
}

/// What a host may do after it has been told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// Nothing that it would not have done anyway.
    None,
    /// A packet waits for one of its interfaces, and that is all: whatever it is told before that packet is taken changes no more.
    Forward,
    /// Anything. It has to act before it is told of the next packet.
    Any,
}

impl Reaction {
    /// For a host that may act or not.
    pub(crate) const fn any_if(acts: bool) -> Self {
        if acts { Self::Any } else { Self::None }
    }
}

/// The layer above the stations: all hosts.
pub trait Upper {
    /// What the stations carry.
    type Packet: Payload;
    /// A packet has arrived at an interface; at a radio, from this station.
    fn handle_packet(&mut self, port: Port, packet: &Self::Packet, from: Option<StationId>, now: Instant) -> Reaction;
    /// The management frame that a radio is receiving has this power.
    fn handle_signal(&mut self, _port: Port, _power: Power) {}
    /// The management frame with the body of `action`, which a radio wants to send to a station. Only radios that aggregate want that.
    fn block_ack_frame(
        &mut self,
        _port: Port,
        _to: StationId,
        _action: BlockAckAction,
        _now: Instant,
    ) -> Option<Self::Packet> {
        None
    }
    /// The next station whose association with a host's radio, at this interface, has ended.
    fn poll_left(&mut self, _host: u32) -> Option<(u32, StationId)> {
        None
    }
    /// Changes of a host's radio: its interface, the protection of its OFDM frames, and its physical layer.
    fn poll_coexistence(&mut self, _host: u32) -> Option<(u32, Protection, Phy)> {
        None
    }
    /// A radio in promiscuous mode has heard a packet from one station to another.
    fn handle_overheard(
        &mut self,
        _port: Port,
        _packet: &Self::Packet,
        _from: StationId,
        _to: StationId,
        _now: Instant,
    ) {
    }
    /// A packet was acknowledged, or broadcast, or has left on a wire. Returns whether the host may act on it, which is
    /// rare.
    fn handle_sent(&mut self, port: Port, packet: Self::Packet, now: Instant) -> bool;
    /// The interface gave up a packet; at a radio, one for this station, or for all.
    fn handle_drop(&mut self, port: Port, packet: Self::Packet, to: Option<StationId>, cause: Loss, now: Instant);
    /// The next station whose packets a host wants back from the queue of one of its interfaces.
    fn poll_purge(&mut self, _host: u32, _now: Instant) -> Option<(u32, StationId)> {
        None
    }
    /// An interface returns a packet for a station, after [`Self::poll_purge`].
    fn handle_purged(&mut self, _port: Port, _packet: Self::Packet, _to: StationId, _now: Instant) {}
    /// The interface of a host, a radio, whose station dump it wants ([`Self::handle_station_dump`]).
    fn poll_station_dump(&mut self, _host: u32) -> Option<u32> {
        None
    }
    /// What the station of an interface has sent to each receiver.
    fn handle_station_dump(&mut self, _port: Port, _links: &[LinkStatistics], _now: Instant) {}
    /// A packet that a radio has sent without acknowledgement did not reach its station.
    fn handle_unheard(&mut self, _port: Port, _packet: &Self::Packet, _now: Instant) {}
    /// A packet that came over a wire has been handled: its memory can be reused.
    fn take_back(&mut self, _packet: Self::Packet) {}
    /// Reads what packets at these hosts are likely to need, so that the processor fetches it early. The result has no
    /// meaning; it only keeps the compiler from removing the reads.
    fn prefetch(&self, _hosts: &[u32]) -> u64 {
        0
    }
    /// The instant of [`Self::poll_timeout`] has come.
    fn handle_timeout(&mut self, host: u32, now: Instant);
    /// Time of the next call of [`Self::handle_timeout`].
    fn poll_timeout(&self, host: u32) -> Option<Instant>;
    /// The next packet of a host, with its interface. `room` returns the number of free places that an interface has now
    /// for packets of a priority.
    fn poll_output(
        &mut self,
        host: u32,
        room: impl Fn(u32, UserPriority) -> QueueSpace,
        now: Instant,
    ) -> Option<Outgoing<Self::Packet>>;
}

/// A packet for an interface.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<P> {
    /// Index of the interface at the host.
    pub interface: u32,
    /// The receiving station, or all (`None`). A wire has only one other end.
    pub receiver: Option<StationId>,
    /// The packet.
    pub packet: P,
}

/// Reason why an interface gave up a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// A station gave it up.
    Radio(DropCause),
    /// The queue of a wire was full.
    QueueFull,
    /// The discipline of a wire's queue dropped it.
    QueueManagement,
    /// It had expired before its turn to leave on a wire.
    Expired,
    /// A wire lost it.
    Link,
}

/// Sees each frame that a station sends or receives without error, like a capture on that host.
pub trait Tap<P> {
    /// At `station`, a frame that started at `start`; with its power if it was received.
    fn on_frame(&mut self, station: StationId, frame: &Frame<P>, start: Instant, received: Option<&Link>);

    /// The same of a frame that carries `body`, of whose MPDUs it has those in `arrived`; `number` names the transmission.
    fn on_frame_with_body(
        &mut self,
        _station: StationId,
        _frame: &Frame<()>,
        _body: (&Body<P>, &MpduSet, u64),
        _start: Instant,
        _received: Option<&Link>,
    ) {
    }

    /// At an interface that is a wire, a packet that has left on this wire, or arrived from it.
    fn on_packet(&mut self, _port: Port, _packet: &P, _wire: u32, _now: Instant) {}
}

/// Sees what happens at stations and interfaces, also where no frame is received.
pub trait Watch<P: Payload> {
    /// A station puts the frame with this number on the air.
    fn on_transmit(&mut self, frame: &Header, packet: Option<&P>, body: Option<&Body<P>>, number: u64, now: Instant);
    /// A frame begins at the end of a link. Those of one transmission may be told together, but before anything else happens there.
    fn on_start(&mut self, transmission: &Transmission<P>, link: &Link);
    /// A frame has ended at the end of a link, where it was received or not.
    fn on_end(&mut self, transmission: &Transmission<P>, link: &Link, is_received: bool);
    /// A frame has collided at the end of a link. The call may come before or after the end of the frame, but at the same instant or
    /// before.
    fn on_collision(&mut self, transmission: &Transmission<P>, link: &Link);
    /// All collisions up to the last [`Self::on_end`] have been reported.
    fn on_collisions_known(&mut self);
    /// The state of a station may have changed, and its physical carrier sense has turned busy or idle.
    fn on_station(&mut self, station: StationId, mac: &Dcf<P>, carrier: Carrier, now: Instant);
    /// An interface is given a packet, and has this number of packets then.
    fn on_queued(&mut self, port: Port, receiver: Option<StationId>, packet: &P, queued: usize, now: Instant);
}

/// A run: hosts with stations on a medium, and wires.
pub struct Engine<U: Upper> {
    now: Instant,
    events: u64,
    /// Events wait in four places, one for each rank, but that wires and hosts share one: [`Self::run_until`] compares their
    /// times alone, and lets the rank decide at one instant.
    trailing: Edges,
    station_timers: Timers,
    /// Wires by index, then hosts by index: so they come at one instant.
    host_timers: Timers,
    leading: Edges,
    medium: Medium<U::Packet>,
    stations: Vec<Dcf<U::Packet>>,
    wires: Vec<Wire<U::Packet>>,
    /// Where wires have no transmitters.
    shared: SharedMedia,
    ports: Ports,
    /// Stations to which a host has given packets, and that have not acted on it.
    touched: Vec<StationId>,
    /// Hosts that are about to get a packet; room that is used again.
    expecting: Vec<u32>,
    /// Whether frames are not acknowledged, so that the engine itself detects losses.
    is_unacknowledged: bool,
    /// Whether a station is to know the power of its frames at their receivers.
    tells_power: bool,
    upper: U,
    tap: Option<Box<dyn Tap<U::Packet>>>,
    watch: Option<Box<dyn Watch<U::Packet>>>,
    log: Option<Box<dyn FnMut(Event)>>,
    stop: Stop,
}

impl<U: Upper> Engine<U> {
    /// A run at its start, in which each host of `upper` has one station. Both have the indices of the medium's links.
    pub fn new(medium: Medium<U::Packet>, stations: Vec<Dcf<U::Packet>>, upper: U) -> Self {
        let ports = Ports::one_each(stations.len() as u32);
        Self::with_ports(medium, stations, (Vec::new(), SharedMedia::default()), ports, upper)
    }

    /// A run at its start. Stations have the indices of the medium's links; `ports` assigns each station and wire to an
    /// interface of a host of `upper`. With the wires come the media that some of them share.
    pub(crate) fn with_ports(
        mut medium: Medium<U::Packet>,
        stations: Vec<Dcf<U::Packet>>,
        (wires, shared): (Vec<Wire<U::Packet>>, SharedMedia),
        ports: Ports,
        upper: U,
    ) -> Self {
        medium.set_mpdus_overheard(stations.iter().any(Dcf::is_promiscuous));
        let mut host_timers = Timers::new(wires.len() + ports.hosts());
        for host in 0..ports.hosts() {
            host_timers.set(wires.len() + host, upper.poll_timeout(host as u32));
        }
        let tells_power = stations.iter().any(Dcf::learns_power);
        Self {
            now: Instant::START,
            events: 0,
            trailing: Edges::new(),
            station_timers: Timers::new(stations.len()),
            host_timers,
            leading: Edges::new(),
            medium,
            stations,
            wires,
            shared,
            ports,
            touched: Vec::with_capacity(8),
            expecting: Vec::new(),
            is_unacknowledged: false,
            tells_power,
            upper,
            tap: None,
            watch: None,
            log: None,
            stop: Stop::default(),
        }
    }

    /// Reports losses of unicast frames to the layer above ([`Upper::handle_unheard`]) from now on: no station
    /// acknowledges frames.
    pub(crate) fn set_unacknowledged(&mut self) {
        self.is_unacknowledged = true;
    }

    /// Passes every frame to `tap`.
    pub fn set_tap(&mut self, tap: impl Tap<U::Packet> + 'static) {
        self.medium.set_mpdus_overheard(true);
        self.tap = Some(Box::new(tap));
    }

    /// Tells `watch` what happens from now on.
    pub(crate) fn set_watch(&mut self, watch: impl Watch<U::Packet> + 'static) {
        self.medium.keep_collided();
        self.watch = Some(Box::new(watch));
    }

    /// Passes every event to `log`, in order.
    pub fn set_log(&mut self, log: impl FnMut(Event) + 'static) {
        self.log = Some(Box::new(log));
    }

    /// Looks at `stop` in each event, and where an event can go on for ever.
    pub(crate) fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Whether the run is to stop: then it is in no state to go on.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }

    /// Runs all events up to and including those at `end`.
    pub fn run_until(&mut self, end: Instant) {
        if self.watch.is_some() { self.run::<true>(end) } else { self.run::<false>(end) }
    }

    /// The loop exists twice, so that a run that is not watched does not ask at each edge and timer whether it is.
    fn run<const WATCHED: bool>(&mut self, end: Instant) {
        let after_end = just_after(end);
        loop {
            let (trailing, station) = (self.trailing.first(), self.station_timers.first());
            let (host, leading) = (self.host_timers.first(), self.leading.first());
            let first = trailing.min(station).min(host).min(leading);
            if first > end {
                break;
            }
            if self.stop.is_set() {
                return;
            }
            // In the order of the ranks.
            if trailing == first {
                self.walk_trailing::<WATCHED>(after_end);
            } else if station == first {
                self.run_station_timer::<WATCHED>(first);
            } else if host == first {
                self.run_host_timer::<WATCHED>(first);
            } else {
                self.walk_leading::<WATCHED>(after_end);
            }
        }
        self.now = self.now.max(end);
    }

    /// Runs all events before `end`, and none of those at it.
    pub(crate) fn run_before(&mut self, end: Instant) {
        if let Some(last) = end.as_nanos().checked_sub(1) {
            self.run_until(Instant::from_nanos(last));
        }
        if !self.is_stopped() {
            self.now = self.now.max(end);
        }
    }

    /// Changes a host from outside of the run's events: `change` acts on the layer above, and the engine carries out the
    /// results.
    pub(crate) fn intervene(&mut self, host: u32, change: impl FnOnce(&mut U, Instant)) {
        change(&mut self.upper, self.now);
        let (host, now) = (host as usize, self.now);
        if self.watch.is_some() {
            self.settle_host::<true>(host, None, now);
            self.settle_touched::<true>(now);
        } else {
            self.settle_host::<false>(host, None, now);
            self.settle_touched::<false>(now);
        }
    }

    /// Time of the next event, or of something that may lead to one; [`Instant::MAX`]: never.
    pub fn next_event(&self) -> Instant {
        let timers = self.station_timers.first().min(self.host_timers.first());
        timers.min(self.trailing.first()).min(self.leading.first())
    }

    /// Current time of the run.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Number of events so far.
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

    /// The wires, by index.
    pub fn wires(&self) -> &[Wire<U::Packet>] {
        &self.wires
    }

    /// Frames of a wire that collided, each as often as it did; `None`: the wire shares no medium.
    pub(crate) fn wire_collisions(&self, wire: usize) -> Option<u64> {
        self.shared.collisions(wire)
    }

    /// The interfaces of all hosts.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The layer above.
    pub fn upper(&self) -> &U {
        &self.upper
    }

    /// The layer above, for reading its measurements or sampling it between events.
    pub(crate) fn upper_mut(&mut self) -> &mut U {
        &mut self.upper
    }

    fn begin(&mut self, time: Instant, rank: Rank, number: u64, place: u32) {
        debug_assert!(time >= self.now, "time runs forward");
        self.now = time;
        self.events += 1;
        if let Some(log) = &mut self.log {
            log(Event { key: Key::new(time, rank, number), place });
        }
    }

    /// The first instant at which a leading edge of the transmission `number` would come after another event.
    fn leading_bound(&self, number: u64) -> Instant {
        let timers = self.station_timers.first().min(self.host_timers.first());
        self.leading.bound(number).min(timers).min(self.trailing.first())
    }

    /// The same of a trailing edge, which comes first at an instant.
    fn trailing_bound(&self, number: u64) -> Instant {
        let timers = self.station_timers.first().min(self.host_timers.first());
        self.trailing.bound(number).min(just_after(timers.min(self.leading.first())))
    }

    /// Follows a frame's start from receiver to receiver for as long as nothing else comes first. A medium that turns busy makes
    /// no timer earlier, so that the bound stands.
    fn walk_leading<const WATCHED: bool>(&mut self, after_end: Instant) {
        let id = self.leading.pop();
        let Transmission { frame: Frame { vector, airtime, .. }, number, .. } = *self.medium.transmission(id);
        let bound = self.leading_bound(number).min(after_end);
        let passed = if WATCHED { self.medium.passed(id) } else { 0 };
        let Self { medium, stations, station_timers, log, watch, .. } = self;
        let (mut now, mut events) = (self.now, 0);
        let next = medium.follow_leading(id, bound, |receiver, time, onset| {
            now = time;
            events += 1;
            if let Some(log) = log {
                log(Event { key: Key::new(time, Rank::Leading, number), place: receiver.0 });
            }
            match onset {
                LeadingEdge::Unnoticed => return,
                LeadingEdge::Busy => turn_busy(stations, station_timers, receiver, time),
                LeadingEdge::Overcome => stations[receiver.0 as usize].handle_overcome(vector, airtime, time),
            }
            if WATCHED && let Some(watch) = watch {
                let carrier = if onset == LeadingEdge::Busy { Carrier::Busy } else { Carrier::Unchanged };
                watch.on_station(receiver, &stations[receiver.0 as usize], carrier, time);
            }
        });
        if WATCHED {
            self.report_starts(id, passed);
        }
        self.now = now;
        self.events += events;
        if let Some(time) = next {
            self.leading.push(time, number, id);
        }
    }

    /// Follows a frame's end from receiver to receiver for as long as nothing else comes first. What a receiver wants to do now
    /// may come before the next receiver.
    fn walk_trailing<const WATCHED: bool>(&mut self, after_end: Instant) {
        let id = self.trailing.pop();
        let mut front = self.medium.trailing(id);
        if self.stations.len() > CACHED_STATIONS && self.medium.is_broadcast(id) {
            self.prefetch(id);
        }
        let mut bound = self.trailing_bound(front.number).min(after_end);
        let number = front.number;
        loop {
            let Self { medium, stations, station_timers, ports, upper, tap, watch, log, is_unacknowledged, .. } = self;
            let (mut now, mut events) = (self.now, 0);
            let passage =
                medium.follow_trailing(id, &mut front, bound, |transmission, link, time, heard, arrived, carrier| {
                    now = time;
                    events += 1;
                    let receiver = link.receiver;
                    if let Some(log) = log {
                        log(Event { key: Key::new(time, Rank::Trailing, number), place: receiver.0 });
                    }
                    if *is_unacknowledged && !matches!(heard, ReceptionOutcome::Frame(_)) {
                        report_unheard(upper, ports, transmission, receiver, time);
                    }
                    if WATCHED && let Some(watch) = watch {
                        watch.on_end(transmission, link, matches!(heard, ReceptionOutcome::Frame(_)));
                    }
                    let frame = &transmission.frame;
                    let station = &mut stations[receiver.0 as usize];
                    match heard {
                        ReceptionOutcome::Noise if carrier == Carrier::Unchanged => return Some(Instant::MAX),
                        ReceptionOutcome::Noise => {}
                        ReceptionOutcome::Error(header_end) => station.handle_error(frame.vector, header_end, time),
                        ReceptionOutcome::Frame(header_end) if transmission.body.is_some() => {
                            let Some(body) = &transmission.body else { return None };
                            if let Some(tap) = tap {
                                let start = transmission.start + link.delay;
                                tap.on_frame_with_body(receiver, frame, (body, arrived, number), start, Some(link));
                            }
                            station.handle_body(frame, body, arrived, header_end, time);
                        }
                        ReceptionOutcome::Frame(header_end) => {
                            if let Some(tap) = tap {
                                let frame = frame.with_payload(transmission.packet.clone());
                                tap.on_frame(receiver, &frame, transmission.start + link.delay, Some(link));
                            }
                            if frame.kind == FrameKind::Management {
                                upper.handle_signal(ports.of_station(receiver), link.power);
                            }
                            station.handle_frame(frame, header_end, time);
                        }
                    }
                    match carrier {
                        Carrier::Unchanged => {}
                        Carrier::Idle => station.handle_idle(time),
                        Carrier::Busy => _ = station.handle_busy(time),
                    }
                    if WATCHED && let Some(watch) = watch {
                        watch.on_station(receiver, station, carrier, time);
                    }
                    if station.has_output() {
                        return None;
                    }
                    let timeout = station.poll_timeout();
                    station_timers.set(receiver.0 as usize, timeout);
                    Some(just_after(timeout.unwrap_or(Instant::MAX)))
                });
            self.now = now;
            self.events += events;
            self.report_collisions::<WATCHED>();
            match passage {
                EdgeProgress::Over => break,
                EdgeProgress::Later(time) => {
                    self.medium.suspend(id, front);
                    self.trailing.push(time, number, id);
                    return;
                }
                EdgeProgress::Halted(time, receiver) => {
                    self.settle::<WATCHED>(receiver, Some(id), time);
                    bound = bound.min(self.trailing_bound(number));
                }
            }
        }
        self.medium.remove(id);
    }

    /// Reads what the receivers of a broadcast will need, before its end reaches the first of them. These loads don't wait for each
    /// other, as those of the events do.
    fn prefetch(&mut self, id: TransmissionId) {
        let Self { medium, stations, ports, upper, expecting, .. } = self;
        expecting.clear();
        let mut seen = 0;
        for station in medium.receivers_of(id) {
            seen ^= stations[station.0 as usize].prefetch();
            expecting.push(ports.of_station(station).host);
        }
        black_box(seen ^ upper.prefetch(expecting));
    }

    fn run_station_timer<const WATCHED: bool>(&mut self, now: Instant) {
        let index = self.station_timers.first_owner();
        let station = StationId(index as u32);
        debug_assert_eq!(self.stations[index].poll_timeout(), Some(now), "the timer is that of its station");
        self.begin(now, Rank::Station, index as u64, station.0);
        let Self { medium, stations, .. } = self;
        let due = &mut stations[index];
        let busy = due.is_transmitting() && medium.handle_transmitted(station);
        if due.senses_widths()
            && let Some(idle) = medium.idle_widths(station, now)
        {
            due.handle_idle_widths(idle);
        }
        due.handle_timeout(now, || medium.receiving(station, now), busy);
        if WATCHED && let Some(watch) = &mut self.watch {
            let carrier = if busy { Carrier::Busy } else { Carrier::Unchanged };
            watch.on_station(station, due, carrier, now);
        }
        if due.has_output() {
            self.settle::<WATCHED>(station, None, now);
        } else {
            self.rearm::<WATCHED>(station);
        }
    }

    fn run_host_timer<const WATCHED: bool>(&mut self, now: Instant) {
        let owner = self.host_timers.first_owner();
        let Some(host) = owner.checked_sub(self.wires.len()) else { return self.run_wire::<WATCHED>(owner, now) };
        self.begin(now, Rank::Host, host as u64, host as u32);
        self.upper.handle_timeout(host as u32, now);
        self.settle_host::<WATCHED>(host, None, now);
        self.settle_touched::<WATCHED>(now);
    }

    #[inline(never)]
    fn run_wire<const WATCHED: bool>(&mut self, index: usize, now: Instant) {
        let [from, _] = self.ports.of_wire(index);
        self.begin(now, Rank::Wire, index as u64, from.host);
        if self.shared.leader(index) == Some(index) {
            self.shared.handle_timeout(index, now);
            while let Some((wire, is_sent)) = self.shared.poll_output(index) {
                self.wires[wire].handle_done(is_sent, now);
                self.settle_wire::<WATCHED>(wire, now);
            }
        }
        self.wires[index].handle_timeout(now);
        self.settle_wire::<WATCHED>(index, now);
        self.settle_touched::<WATCHED>(now);
    }

    /// Carries out the outputs of a wire, and those of the hosts at its ends.
    fn settle_wire<const WATCHED: bool>(&mut self, index: usize, now: Instant) {
        let [from, to] = self.ports.of_wire(index);
        while let Some(output) = self.wires[index].poll_output() {
            let (host, acts) = match output {
                wired::Output::Deliver(packet) => {
                    self.tap_wire(to, &packet, index, now);
                    let reaction = self.upper.handle_packet(to, &packet, None, now);
                    self.upper.take_back(packet);
                    (to.host, reaction != Reaction::None)
                }
                wired::Output::Sent(packet) => {
                    self.tap_wire(from, &packet, index, now);
                    (from.host, self.upper.handle_sent(from, packet, now))
                }
                wired::Output::Expired(packet) => {
                    self.upper.handle_drop(from, packet, None, Loss::Expired, now);
                    (from.host, true)
                }
                wired::Output::Dropped(packet) => {
                    self.upper.handle_drop(from, packet, None, Loss::QueueManagement, now);
                    (from.host, true)
                }
                wired::Output::Lost(packet) => {
                    self.tap_wire(from, &packet, index, now);
                    self.upper.handle_drop(from, packet, None, Loss::Link, now);
                    (from.host, true)
                }
            };
            if acts {
                self.settle_host::<WATCHED>(host as usize, None, now);
            }
        }
        rearm_wire(index, &mut self.wires, &mut self.shared, &mut self.host_timers, now);
    }

    fn tap_wire(&mut self, port: Port, packet: &U::Packet, wire: usize, now: Instant) {
        if let Some(tap) = &mut self.tap {
            tap.on_packet(port, packet, wire as u32, now);
        }
    }

    /// Carries out the outputs of a station, then those of its host, and their effects on the host's other stations,
    /// until there are no more outputs. `heard` is what the station has just been told.
    fn settle<const WATCHED: bool>(&mut self, station: StationId, heard: Option<TransmissionId>, now: Instant) {
        self.settle_station::<WATCHED>(station, heard, now);
        self.settle_touched::<WATCHED>(now);
    }

    /// The same for all stations that have been given packets.
    fn settle_touched<const WATCHED: bool>(&mut self, now: Instant) {
        while let Some(station) = self.touched.pop() {
            self.settle_station::<WATCHED>(station, None, now);
        }
    }

    fn settle_station<const WATCHED: bool>(&mut self, station: StationId, heard: Option<TransmissionId>, now: Instant) {
        let index = station.0 as usize;
        let mut reaction = Reaction::None;
        loop {
            while let Some(output) = self.stations[index].poll_output() {
                // Several packets come at once in an A-MPDU. The host answers each before it sees the next. A record has the
                // order of things that are sent on, too.
                let is_due = reaction == Reaction::Any || WATCHED && reaction == Reaction::Forward;
                if is_due && matches!(output, Output::Deliver(..) | Output::Released(..)) {
                    reaction = Reaction::None;
                    self.settle_host_of::<WATCHED>(station, now);
                }
                match output {
                    Output::Transmit(()) => self.transmit::<WATCHED>(station, now),
                    Output::Deliver((), from) => {
                        let packet = packet_of(&self.medium, heard);
                        let port = self.ports.of_station(station);
                        reaction = reaction.max(self.upper.handle_packet(port, packet, Some(from), now));
                    }
                    Output::Released(packet, from) => {
                        let port = self.ports.of_station(station);
                        reaction = reaction.max(self.upper.handle_packet(port, &packet, Some(from), now));
                    }
                    Output::Late(packet, from) => {
                        self.upper.handle_unheard(self.ports.of_station(from), &packet, now);
                    }
                    Output::Management((), from) => {
                        let packet = packet_of(&self.medium, heard);
                        if let Some(action) = packet.block_ack_action() {
                            self.stations[index].handle_action(from, action, now);
                        } else {
                            let port = self.ports.of_station(station);
                            reaction = reaction.max(self.upper.handle_packet(port, packet, Some(from), now));
                        }
                    }
                    Output::Action(action, to) => self.give_action::<WATCHED>(station, action, to, now),
                    Output::OverheardInBody(packet, from, to) => {
                        reaction = Reaction::Any;
                        self.upper.handle_overheard(self.ports.of_station(station), &packet, from, to, now);
                    }
                    Output::Overheard((), from, to) => {
                        reaction = Reaction::Any;
                        let packet = packet_of(&self.medium, heard);
                        self.upper.handle_overheard(self.ports.of_station(station), packet, from, to, now);
                    }
                    Output::Sent(packet) => {
                        if self.upper.handle_sent(self.ports.of_station(station), packet, now) {
                            reaction = Reaction::Any;
                        }
                    }
                    Output::FalselyAcknowledged(packet) => {
                        reaction = Reaction::Any;
                        let port = self.ports.of_station(station);
                        self.upper.handle_sent(port, packet.clone(), now);
                        self.upper.handle_unheard(port, &packet, now);
                    }
                    Output::Dropped(packet, cause, to) => {
                        reaction = Reaction::Any;
                        self.upper.handle_drop(self.ports.of_station(station), packet, to, Loss::Radio(cause), now);
                    }
                }
            }
            if reaction == Reaction::None || self.stop.is_set() {
                break;
            }
            reaction = Reaction::None;
            self.settle_host_of::<WATCHED>(station, now);
        }
        self.rearm::<WATCHED>(station);
    }

    /// [`Self::settle_host`] for the host of the station that is settled now.
    fn settle_host_of<const WATCHED: bool>(&mut self, station: StationId, now: Instant) {
        let host = self.ports.of_station(station).host as usize;
        self.settle_host::<WATCHED>(host, Some(station), now);
    }

    /// Gives a station the action frame that it wants to send.
    #[cold]
    #[inline(never)]
    fn give_action<const WATCHED: bool>(
        &mut self,
        station: StationId,
        action: BlockAckAction,
        to: StationId,
        now: Instant,
    ) {
        let port = self.ports.of_station(station);
        let Some(packet) = self.upper.block_ack_frame(port, to, action, now) else { return };
        let mac = &mut self.stations[station.0 as usize];
        if let Some(watch) = self.watch.as_mut().filter(|_| WATCHED) {
            let copy = packet.clone();
            mac.handle_packet(Some(to), packet, now);
            watch.on_queued(port, Some(to), &copy, mac.queued(), now);
        } else {
            mac.handle_packet(Some(to), packet, now);
        }
    }

    /// Moves packets from a host to its interfaces. The stations among them are `touched`, but for the one that is settled now.
    fn settle_host<const WATCHED: bool>(&mut self, host: usize, settled: Option<StationId>, now: Instant) {
        let Self { upper, stations, wires, shared, ports, touched, host_timers, watch, stop, .. } = self;
        let mut watch = watch.as_mut().filter(|_| WATCHED);
        while !stop.is_set() {
            let room = |interface, priority| match ports.attachment(host, interface) {
                Attachment::Station(station) => stations[station.0 as usize].space(priority),
                Attachment::Wire(wire) => QueueSpace::shared(wires[wire as usize].space()),
            };
            let Some(Outgoing { interface, receiver, packet }) = upper.poll_output(host as u32, room, now) else {
                if let Some((interface, protection, phy)) = upper.poll_coexistence(host as u32) {
                    if let Attachment::Station(station) = ports.attachment(host, interface) {
                        stations[station.0 as usize].set_coexistence(protection, phy, now);
                        if let Some(watch) = &mut watch {
                            watch.on_station(station, &stations[station.0 as usize], Carrier::Unchanged, now);
                        }
                        touched.push(station);
                    }
                    continue;
                }
                if let Some(interface) = upper.poll_station_dump(host as u32) {
                    if let Attachment::Station(station) = ports.attachment(host, interface) {
                        let port = Port { host: host as u32, interface };
                        upper.handle_station_dump(port, stations[station.0 as usize].links(), now);
                    }
                    continue;
                }
                if let Some((interface, peer)) = upper.poll_left(host as u32) {
                    if let Attachment::Station(station) = ports.attachment(host, interface) {
                        stations[station.0 as usize].handle_left(peer);
                        if settled != Some(station) {
                            touched.push(station);
                        }
                    }
                    continue;
                }
                let Some((interface, receiver)) = upper.poll_purge(host as u32, now) else { break };
                if let Attachment::Station(station) = ports.attachment(host, interface) {
                    for packet in stations[station.0 as usize].purge(receiver) {
                        upper.handle_purged(Port { host: host as u32, interface }, packet, receiver, now);
                    }
                }
                continue;
            };
            match ports.attachment(host, interface) {
                Attachment::Station(station) => {
                    let mac = &mut stations[station.0 as usize];
                    if let Some(watch) = &mut watch {
                        let copy = packet.clone();
                        mac.handle_packet(receiver, packet, now);
                        let port = Port { host: host as u32, interface };
                        watch.on_queued(port, receiver, &copy, mac.queued(), now);
                        watch.on_station(station, mac, Carrier::Unchanged, now);
                    } else {
                        mac.handle_packet(receiver, packet, now);
                    }
                    if settled != Some(station) && touched.last() != Some(&station) {
                        touched.push(station);
                    }
                }
                Attachment::Wire(wire) => {
                    let index = wire as usize;
                    let copy = watch.as_ref().map(|_| packet.clone());
                    wires[index].handle_packet(packet, now, |packet, reason| {
                        let loss = if reason == Reason::Full { Loss::QueueFull } else { Loss::QueueManagement };
                        upper.handle_drop(Port { host: host as u32, interface }, packet, None, loss, now);
                    });
                    if let (Some(watch), Some(copy)) = (&mut watch, copy) {
                        let port = Port { host: host as u32, interface };
                        watch.on_queued(port, None, &copy, wires[index].queued(), now);
                    }
                    rearm_wire(index, wires, shared, host_timers, now);
                }
            }
        }
        self.host_timers.set(self.wires.len() + host, self.upper.poll_timeout(host as u32));
    }

    fn transmit<const WATCHED: bool>(&mut self, station: StationId, now: Instant) {
        let sender = &self.stations[station.0 as usize];
        let ((header, packet), body) = (sender.on_air(), sender.body_on_air());
        if let Some(tap) = &mut self.tap {
            match body {
                Some(body) => {
                    let number = self.medium.totals().frames_sent;
                    tap.on_frame_with_body(station, header, (body, &MpduSet::ALL, number), now, None);
                }
                None => tap.on_frame(station, &header.with_payload(packet.cloned()), now, None),
            }
        }
        if WATCHED && let Some(watch) = &mut self.watch {
            let number = self.medium.totals().frames_sent;
            watch.on_transmit(header, packet, body.map(|body| &**body), number, now);
        }
        if self.is_unacknowledged && header.receiver.is_some() {
            self.transmit_unacknowledged::<WATCHED>(station, now);
            return self.report_collisions::<WATCHED>();
        }
        let to = header.receiver;
        let launch = self.medium.transmit(header, packet, body, now);
        if let (true, Some(to)) = (self.tells_power, to) {
            let power = launch.as_ref().map_or(Power::ZERO, |launch| self.medium.power_at(launch.id, to, now));
            self.stations[station.0 as usize].handle_power(to, power);
        }
        if let Some(launch) = launch {
            self.follow(launch);
        }
        self.report_collisions::<WATCHED>();
    }

    /// Tells the recorder at which links a frame has begun since its leading edge had passed this many of them, and of collisions.
    #[cold]
    #[inline(never)]
    fn report_starts(&mut self, id: TransmissionId, passed: usize) {
        if let Some(watch) = &mut self.watch {
            let transmission = self.medium.transmission(id);
            self.medium.passed_links(id, passed).for_each(|link| watch.on_start(transmission, &link));
        }
        self.report_collisions::<true>();
    }

    /// Tells the recorder of collisions.
    #[inline]
    fn report_collisions<const WATCHED: bool>(&mut self) {
        if WATCHED && let Some(watch) = &mut self.watch {
            self.medium.drain_collided(|transmission, link| watch.on_collision(transmission, link));
            watch.on_collisions_known();
        }
    }

    /// Enters both edges of a transmission that has begun.
    fn follow(&mut self, StartedTransmission { id, number, leading, trailing }: StartedTransmission) {
        self.trailing.push(trailing, number, id);
        self.leading.push(leading, number, id);
    }

    /// [`Self::transmit`] of a unicast frame that is not acknowledged: it is lost if its receiver is out of range.
    #[cold]
    fn transmit_unacknowledged<const WATCHED: bool>(&mut self, station: StationId, now: Instant) {
        let (header, packet) = self.stations[station.0 as usize].on_air();
        let launch = self.medium.transmit(header, packet, None, now);
        let is_reached =
            launch.is_some_and(|launch| header.receiver.is_some_and(|to| self.medium.reaches(launch.id, to)));
        if let Some(packet) = packet.filter(|_| !is_reached) {
            self.upper.handle_unheard(self.ports.of_station(station), packet, now);
        }
        launch.into_iter().for_each(|launch| self.follow(launch));
    }

    /// A station's timer may have moved.
    #[inline(always)]
    fn rearm<const WATCHED: bool>(&mut self, station: StationId) {
        let index = station.0 as usize;
        if WATCHED && let Some(watch) = &mut self.watch {
            watch.on_station(station, &self.stations[index], Carrier::Unchanged, self.now);
        }
        let timeout = self.stations[index].poll_timeout();
        debug_assert!(timeout.is_none_or(|timeout| timeout >= self.now), "no timer of a station lies in the past");
        self.station_timers.set(index, timeout);
    }
}

/// A station's medium turns busy. Apart from its caller, whose loop is short.
#[inline(never)]
fn turn_busy<P: Payload>(stations: &mut [Dcf<P>], timers: &mut Timers, station: StationId, now: Instant) {
    let index = station.0 as usize;
    let station = &mut stations[index];
    if station.handle_busy(now) {
        timers.set(index, station.poll_timeout());
    }
}

/// A wire's timer may have moved, and with it that of the medium onto which it leads: the first wire there has this one as well.
#[inline]
fn rearm_wire<P: Payload>(
    index: usize,
    wires: &mut [Wire<P>],
    shared: &mut SharedMedia,
    timers: &mut Timers,
    now: Instant,
) {
    timers.set(index, wires[index].poll_timeout());
    if let Some(leader) = shared.leader(index) {
        shared.pass_on(index, &mut wires[index], now);
        let dues = [wires[leader].poll_timeout(), shared.poll_timeout(leader)];
        timers.set(leader, dues.into_iter().flatten().min());
    }
}

/// `receiver` has not received an unacknowledged frame: if it was for that station, the packet is lost.
#[cold]
fn report_unheard<U: Upper>(
    upper: &mut U,
    ports: &Ports,
    transmission: &Transmission<U::Packet>,
    receiver: StationId,
    now: Instant,
) {
    if transmission.frame.receiver == Some(receiver)
        && let Some(packet) = &transmission.packet
    {
        upper.handle_unheard(ports.of_station(transmission.frame.transmitter), packet, now);
    }
}

/// The packet of what a station has just been told of.
fn packet_of<P>(medium: &Medium<P>, heard: Option<TransmissionId>) -> &P {
    let packet = heard.and_then(|id| medium.transmission(id).packet.as_ref());
    packet.expect("a station hands up the packet of the frame that it was told of")
}
