//! Makes events of what the engine, the hosts and the flows report.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::aggregate::Body;
use hopcast_radio::mac::edca::AccessCategory;
use hopcast_radio::mac::{Countdown, Dcf, FrameKind, Header, Payload as _, StationId};
use hopcast_radio::medium::{Link, Transmission};
use hopcast_radio::phy::TxVector;
use hopcast_radio::reception::Carrier;
use hopcast_radio::units::{Decibel, Power};
use hopcast_wire::ieee80211::management::Repr;

use super::event::{Event, Kind};
use super::writer::EventWriter;
use crate::engine::{Port, Ports, Watch};
use crate::host::Sdu;
use crate::id::{FlowId, NodeId};
use crate::metrics::{Dropped, Fate, Passage, Shown};
use crate::run::Simulation;

/// Names of the types of frames, in the order of their codes.
pub(super) const FRAMES: [&str; 8] =
    ["data", "ack", "rts", "cts", "beacon", "block-ack", "block-ack-request", "management"];

/// The value of receptions under models of reception without noise.
const NO_SINR: i32 = i32::MIN;

/// Length of an event of a busy medium; a longer time has several.
const BUSY_PART: Duration = Duration::from_secs(1);

/// What a station was doing when the recorder last looked.
#[derive(Clone, Debug, Default)]
struct Station {
    /// While its medium is busy: from when on that has no event, and whether it turned busy then.
    busy: Option<(Instant, bool)>,
    /// Signals that are there.
    signals: Vec<Signal>,
    reserved_until: Instant,
    /// By access category; none once its event is written.
    countdowns: [Option<Countdown>; AccessCategory::ALL.len()],
    /// By access category: the countdown that has come to its end without a look at the station.
    ended: [Option<Countdown>; AccessCategory::ALL.len()],
}

/// A signal at a station.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Number of the transmission.
    number: u64,
    power: Power,
    /// The largest sum of all other signals so far.
    interference: Power,
}

/// Makes events and puts them in order.
#[derive(Debug)]
pub(super) struct Recorder<W> {
    writer: EventWriter<W>,
    counts: [u64; Kind::ALL.len()],
    ports: Ports,
    /// By flow: its ends.
    ends: Vec<[NodeId; 2]>,
    stations: Vec<Station>,
    /// The noise at receivers by vector.
    noises: Vec<(TxVector, Power)>,
    /// Frames that have collided and have not ended: their numbers and where.
    collided: BTreeMap<(u64, StationId), Event>,
    /// Frames that have just ended: their numbers, where, and their ratios; with an event if they were lost though they could have
    /// been received.
    ended: Vec<(u64, StationId, i32, Option<Event>)>,
}

impl<W: Write> Recorder<W> {
    /// One that writes events to `output`.
    pub(super) fn new(output: W, ports: Ports, ends: Vec<[NodeId; 2]>) -> Self {
        Self {
            writer: EventWriter::new(output),
            counts: [0; Kind::ALL.len()],
            stations: vec![Station::default(); ports.stations()],
            ports,
            ends,
            noises: Vec::new(),
            collided: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    /// Tells the noise at receivers.
    pub(super) fn set_noises(&mut self, noises: Vec<(TxVector, Power)>) {
        self.noises = noises;
    }

    /// Takes over what the hosts have noted, and writes all events that are complete by now.
    ///
    /// # Errors
    /// Errors of the output.
    pub(super) fn collect(&mut self, simulation: &mut Simulation) -> io::Result<()> {
        let now = simulation.now();
        let stalled = simulation.look_at_players();
        for (flow, shown) in simulation.drain_shown() {
            self.show(flow, &shown);
        }
        for (flow, passage) in simulation.drain_passages() {
            self.pass(flow, &passage);
        }
        for dropped in simulation.drain_dropped() {
            self.drop(&dropped);
        }
        let mut bound = simulation.earliest_on_air().into_iter().chain(stalled).fold(now, Instant::min);
        for station in 0..self.stations.len() {
            while let Some((from, _)) = self.stations[station].busy.filter(|&(from, _)| from + BUSY_PART < now) {
                self.note_busy(StationId(station as u32), from + BUSY_PART);
            }
            bound = self.stations[station].busy.map_or(bound, |(from, _)| bound.min(from));
            for category in 0..AccessCategory::ALL.len() {
                let Some(countdown) = self.stations[station].countdowns[category] else { continue };
                if countdown.end() <= now {
                    self.stations[station].ended[category] = self.stations[station].countdowns[category].take();
                    self.count_down(StationId(station as u32), category, &countdown, now);
                } else {
                    bound = bound.min(countdown.from);
                }
            }
        }
        self.writer.release(bound)
    }

    /// Writes the rest at the end of the run. Returns the output, the number of events, and their numbers by kind.
    ///
    /// # Errors
    /// Errors of the output.
    pub(super) fn finish(mut self, end: Instant) -> io::Result<(W, u64, [u64; Kind::ALL.len()])> {
        core::mem::take(&mut self.collided).into_values().for_each(|event| self.push(event));
        for station in 0..self.stations.len() {
            self.end_busy(StationId(station as u32), end);
            for category in 0..AccessCategory::ALL.len() {
                if let Some(countdown) = self.stations[station].countdowns[category] {
                    self.count_down(StationId(station as u32), category, &countdown, end);
                }
            }
        }
        let (output, events) = self.writer.finish()?;
        Ok((output, events, self.counts))
    }

    /// Where events are written.
    pub(super) fn output_mut(&mut self) -> &mut W {
        self.writer.output_mut()
    }

    fn push(&mut self, event: Event) {
        self.counts[event.kind as usize] += 1;
        self.writer.push(event);
    }

    fn node_of(&self, station: StationId) -> u16 {
        index(self.ports.of_station(station).host)
    }

    /// The medium of a station has been busy until `end`.
    fn end_busy(&mut self, station: StationId, end: Instant) {
        while let Some((from, _)) = self.stations[station.0 as usize].busy.filter(|&(from, _)| from < end) {
            self.note_busy(station, end.min(from + BUSY_PART));
        }
        self.stations[station.0 as usize].busy = None;
    }

    /// Makes an event of the busy medium up to `end`.
    fn note_busy(&mut self, station: StationId, end: Instant) {
        let Some((from, is_first)) = self.stations[station.0 as usize].busy.replace((end, false)) else { return };
        let node = self.node_of(station);
        self.push(Event {
            duration: end.saturating_since(from),
            code: u8::from(!is_first),
            ..Event::at(from, Kind::Busy, node)
        });
    }

    /// A countdown has come to its end, or has been stopped, by `now`.
    fn count_down(&mut self, station: StationId, category: usize, countdown: &Countdown, now: Instant) {
        let passed = countdown.passed(now);
        if passed == 0 {
            return;
        }
        let node = self.node_of(station);
        self.push(Event {
            duration: countdown.end().min(now).saturating_since(countdown.from),
            code: category as u8,
            value: passed as i32,
            ..Event::at(countdown.from, Kind::Backoff, node)
        });
    }

    fn pass(&mut self, flow: FlowId, passage: &Passage) {
        let Some(&[from, to]) = self.ends.get(flow.0 as usize) else { return };
        let Passage { time, number, octets, delay } = *passage;
        let (kind, node, peer, value) = match delay {
            None => (Kind::Send, from, to, clipped(number)),
            Some(delay) => (Kind::Deliver, to, from, clipped(delay.as_nanos() / 1_000)),
        };
        self.push(Event {
            peer: index(peer.0),
            flow: index(flow.0),
            size: octets,
            value,
            ..Event::at(time, kind, index(node.0))
        });
    }

    fn show(&mut self, flow: FlowId, shown: &Shown) {
        let Some(&[from, to]) = self.ends.get(flow.0 as usize) else { return };
        let Shown { time, duration, fate, number } = *shown;
        let (kind, code) = match fate {
            Fate::OnTime => (Kind::Media, 0),
            Fate::Late => (Kind::Media, 1),
            Fate::Lost => (Kind::Media, 2),
            Fate::Stall => (Kind::Stall, 0),
            Fate::StallGoesOn => (Kind::Stall, 1),
        };
        self.push(Event {
            duration,
            peer: index(from.0),
            code,
            flow: index(flow.0),
            value: clipped(number),
            ..Event::at(time, kind, index(to.0))
        });
    }

    fn drop(&mut self, dropped: &Dropped) {
        let Dropped { time, node, neighbour, cause, flow, octets } = *dropped;
        let number = flow.map(|(_, number)| number).filter(|&number| number <= i32::MAX as u64);
        self.push(Event {
            peer: neighbour.map_or(Event::NO_INDEX, |to| index(to.0)),
            code: cause as u8,
            flow: self.flow(flow.map(|(flow, _)| flow)),
            size: octets,
            value: number.map_or(-1, |number| number as i32),
            ..Event::at(time, Kind::Drop, index(node.0))
        });
    }

    /// The index of a flow of the scenario.
    fn flow(&self, flow: Option<FlowId>) -> u16 {
        flow.filter(|flow| (flow.0 as usize) < self.ends.len()).map_or(Event::NO_INDEX, |flow| index(flow.0))
    }

    /// A frame with its packet, at its transmitter or a receiver; `peer` is the other one.
    fn frame(&self, time: Instant, kind: Kind, [node, peer]: [u16; 2], on_air: &OnAir<'_>) -> Event {
        let OnAir { frame, packet, body, number } = *on_air;
        let packet = packet.or(match body {
            Some(Body::Mpdus(mpdus)) => mpdus.first().map(|mpdu| &mpdu.packet),
            _ => None,
        });
        Event {
            duration: frame.airtime,
            peer,
            code: code(frame, packet),
            flow: self.flow(packet.and_then(|packet| flow_of(packet))),
            size: frame.octets,
            frame: number as u32,
            value: NO_SINR,
            ..Event::at(time, kind, node)
        }
    }

    fn at_receiver(&self, transmission: &Transmission<Rc<Sdu>>, link: &Link, kind: Kind) -> Event {
        let Transmission { frame, packet, body, start, number, .. } = transmission;
        let on_air = OnAir { frame, packet: packet.as_ref(), body: body.as_deref(), number: *number };
        let ends = [self.node_of(link.receiver), self.node_of(frame.transmitter)];
        self.frame(*start + link.delay, kind, ends, &on_air)
    }

    fn transmit(&mut self, on_air: &OnAir<'_>, now: Instant) {
        let frame = on_air.frame;
        let peer = frame.receiver.map_or(Event::NO_INDEX, |receiver| self.node_of(receiver));
        self.end_busy(frame.transmitter, now);
        let event = self.frame(now, Kind::Transmit, [self.node_of(frame.transmitter), peer], on_air);
        self.push(Event { value: (frame.vector.data_rate().as_kbps() / 100) as i32, ..event });
    }

    fn start(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link) {
        if self.noises.is_empty() {
            return;
        }
        let signals = &mut self.stations[link.receiver.0 as usize].signals;
        let before: Power = signals.iter().map(|signal| signal.power).sum();
        for signal in signals.iter_mut() {
            signal.interference = signal.interference.max(before + link.power - signal.power);
        }
        signals.push(Signal { number: transmission.number, power: link.power, interference: before });
    }

    /// The least ratio of a signal that ends to noise and all others, in 0.01 dB.
    fn sinr(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link) -> i32 {
        let signals = &mut self.stations[link.receiver.0 as usize].signals;
        let Some(place) = signals.iter().position(|signal| signal.number == transmission.number) else {
            return NO_SINR;
        };
        let signal = signals.remove(place);
        let noise = self.noises.iter().find(|(vector, _)| *vector == transmission.frame.vector);
        noise.map_or(NO_SINR, |&(_, noise)| {
            let ratio = Decibel::from_ratio(signal.power.over(noise + signal.interference));
            (ratio.0 * 100.0).round() as i32
        })
    }

    fn end(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link, is_received: bool) {
        let sinr = self.sinr(transmission, link);
        let mut lost = None;
        if is_received {
            self.push(Event { value: sinr, ..self.at_receiver(transmission, link, Kind::Receive) });
        } else if transmission.is_decodable(link.decodable, link.power) {
            lost = Some(Event { value: sinr, ..self.at_receiver(transmission, link, Kind::Noise) });
        }
        self.ended.push((transmission.number, link.receiver, sinr, lost));
    }

    fn collide(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link) {
        let event = self.at_receiver(transmission, link, Kind::Collision);
        if let Some(before) = self.collided.insert((transmission.number, link.receiver), event) {
            self.push(before);
        }
    }

    /// Of the frames that have just ended, tells collisions from what was lost to noise.
    fn settle(&mut self) {
        while let Some((number, station, value, lost)) = self.ended.pop() {
            let collided = self.collided.remove(&(number, station)).map(|event| Event { value, ..event });
            collided.or(lost).into_iter().for_each(|event| self.push(event));
        }
    }

    fn look_at(&mut self, station: StationId, mac: &Dcf<Rc<Sdu>>, carrier: Carrier, now: Instant) {
        let place = station.0 as usize;
        match carrier {
            Carrier::Unchanged => {}
            Carrier::Busy => {
                self.stations[place].busy.get_or_insert((now, true));
            }
            Carrier::Idle => self.end_busy(station, now),
        }
        let until = mac.reserved_until();
        if until > now && until > self.stations[place].reserved_until {
            self.stations[place].reserved_until = until;
            let node = self.node_of(station);
            self.push(Event { duration: until.saturating_since(now), ..Event::at(now, Kind::Nav, node) });
        }
        for (category, countdown) in mac.countdowns() {
            let category = category as usize;
            let Station { countdowns, ended, .. } = &mut self.stations[place];
            if countdowns[category] == countdown || (countdown.is_some() && ended[category] == countdown) {
                continue;
            }
            ended[category] = None;
            if let Some(before) = core::mem::replace(&mut countdowns[category], countdown) {
                self.count_down(station, category, &before, now);
            }
        }
    }

    fn queue(&mut self, port: Port, receiver: Option<StationId>, sdu: &Rc<Sdu>, queued: usize, now: Instant) {
        let peer = receiver.map_or(Event::NO_INDEX, |receiver| self.node_of(receiver));
        self.push(Event {
            peer,
            flow: self.flow(flow_of(sdu)),
            size: sdu.octets(),
            value: clipped(queued as u64),
            ..Event::at(now, Kind::Enqueue, index(port.host))
        });
    }
}

/// A frame and what it carries.
#[derive(Clone, Copy)]
struct OnAir<'a> {
    frame: &'a Header,
    packet: Option<&'a Rc<Sdu>>,
    body: Option<&'a Body<Rc<Sdu>>>,
    number: u64,
}

impl Event {
    /// An instant at a node, without anything else.
    fn at(time: Instant, kind: Kind, node: u16) -> Self {
        Self {
            time,
            duration: Duration::ZERO,
            node,
            peer: Self::NO_INDEX,
            kind,
            code: 0,
            flow: Self::NO_INDEX,
            size: 0,
            frame: Self::NO_FRAME,
            value: 0,
        }
    }
}

/// What the engine tells the recorder.
pub(super) struct Watcher<W>(pub(super) Rc<RefCell<Option<Recorder<W>>>>);

impl<W: Write> Watcher<W> {
    fn tell(&self, what: impl FnOnce(&mut Recorder<W>)) {
        if let Some(recorder) = &mut *self.0.borrow_mut() {
            what(recorder);
        }
    }
}

impl<W: Write> Watch<Rc<Sdu>> for Watcher<W> {
    fn on_transmit(
        &mut self,
        frame: &Header,
        packet: Option<&Rc<Sdu>>,
        body: Option<&Body<Rc<Sdu>>>,
        number: u64,
        now: Instant,
    ) {
        self.tell(|recorder| recorder.transmit(&OnAir { frame, packet, body, number }, now));
    }

    fn on_start(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link) {
        self.tell(|recorder| recorder.start(transmission, link));
    }

    fn on_end(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link, is_received: bool) {
        self.tell(|recorder| recorder.end(transmission, link, is_received));
    }

    fn on_collision(&mut self, transmission: &Transmission<Rc<Sdu>>, link: &Link) {
        self.tell(|recorder| recorder.collide(transmission, link));
    }

    fn on_collisions_known(&mut self) {
        self.tell(Recorder::settle);
    }

    fn on_station(&mut self, station: StationId, mac: &Dcf<Rc<Sdu>>, carrier: Carrier, now: Instant) {
        self.tell(|recorder| recorder.look_at(station, mac, carrier, now));
    }

    fn on_queued(&mut self, port: Port, receiver: Option<StationId>, sdu: &Rc<Sdu>, queued: usize, now: Instant) {
        self.tell(|recorder| recorder.queue(port, receiver, sdu, queued, now));
    }
}

/// An index in a record. [`Recording::create`](super::Recording::create) refuses scenarios that have more.
fn index(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(Event::NO_INDEX)
}

fn clipped(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The flow of what an interface carries.
fn flow_of(sdu: &Sdu) -> Option<FlowId> {
    match sdu {
        Sdu::Ip(packet) => packet.flow_and_number().map(|(flow, _)| flow),
        _ => None,
    }
}

/// The code of a frame in [`FRAMES`].
fn code(frame: &Header, packet: Option<&Rc<Sdu>>) -> u8 {
    match (frame.kind, packet.map(|packet| &**packet)) {
        (FrameKind::Data, _) => 0,
        (FrameKind::Ack, _) => 1,
        (FrameKind::Rts, _) => 2,
        (FrameKind::Cts, _) => 3,
        (FrameKind::Management, Some(Sdu::Management(management))) if matches!(management.body, Repr::Beacon(_)) => 4,
        (FrameKind::BlockAck, _) => 5,
        (FrameKind::BlockAckRequest, _) => 6,
        (FrameKind::Management, _) => 7,
    }
}
