//! A device, and a play, as recordings for `hopcast view`.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::record::{Carried, Flow, Happening, Measurement, Node, Step, Vocabulary};
use hopcast_wire::cloud::{Message, Refusal, StreamId};

use super::engine::{Display, Engine, Told, What};
use super::status::PlayRecord;
use crate::failure::Failure;
use crate::recording::{OPEN, Rate, Recording, Stall};

/// Codes of messages and refusals in a recording.
const VOCABULARY: Vocabulary = Vocabulary {
    messages: &Message::NAMES,
    reasons: &[
        "refused_airtime",
        "refused_risk",
        "refused_unknown",
        "refused_hops",
        "refused_rate",
        "refused_lost",
        "refused_absent",
    ],
};

/// A stream that was not heard of for this time is over; one with its name would be another.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// The recording of a device.
#[derive(Debug)]
pub(super) struct DeviceRecord {
    recording: Recording,
    me: Ipv4Addr,
    nodes: BTreeMap<Ipv4Addr, Device>,
    streams: BTreeMap<StreamId, Stream>,
    reserved: Option<usize>,
    bookings: Option<usize>,
    neighbours: Option<usize>,
}

/// A device that was heard of.
#[derive(Clone, Copy, Debug)]
struct Device {
    node: Node,
    /// The series of the rate of the link to it.
    rate: Option<usize>,
}

/// A stream that was heard of.
#[derive(Debug)]
struct Stream {
    flow: Flow,
    heard: Instant,
    /// Of a stream that this device displays.
    viewer: Option<Viewer>,
}

/// What a display shows.
#[derive(Debug)]
struct Viewer {
    flow: Flow,
    /// Series.
    rate: Option<usize>,
    buffer: Option<usize>,
    come: Option<usize>,
    shown: Option<usize>,
    came: Rate,
    stall: Stall,
}

impl Viewer {
    fn new(recording: &mut Recording, flow: Flow, node: Node, now: Instant) -> Self {
        let mut series = |name, unit, panel| {
            recording.about().add_series(Measurement { name, unit, panel, node: Some(node), flow: Some(flow) })
        };
        Self {
            flow,
            rate: series("rate", "b/s", "rate"),
            buffer: series("buffer", "s", "buffer"),
            come: series("received", "s", "media"),
            shown: series("shown", "s", "media"),
            came: Rate::since(now),
            stall: Stall::default(),
        }
    }

    /// Bytes of media have come; seconds of media have come and were shown.
    fn sample(&mut self, octets: u64, [come, shown]: [f64; 2], now: Instant, recording: &mut Recording) {
        if let Some(rate) = self.came.at(octets, now) {
            recording.sample(now, self.rate, rate);
        }
        recording.sample(now, self.buffer, (come - shown).max(0.0));
        recording.sample(now, self.come, come);
        recording.sample(now, self.shown, shown);
    }
}

impl DeviceRecord {
    /// A recording in `folder` of the device with the address `me`.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(super) fn create(folder: &Path, me: Ipv4Addr) -> Result<Self, Failure> {
        let mut recording = Recording::create(folder, "cloud serve")?;
        let about = recording.about();
        about.set_vocabulary(VOCABULARY);
        let here = about.add_node(me.to_string());
        let mut series =
            |name, unit, panel| about.add_series(Measurement { name, unit, panel, node: Some(here), flow: None });
        let reserved = series("reserved airtime", "1", "airtime");
        let bookings = series("bookings", "streams", "bookings");
        let neighbours = series("neighbours", "devices", "neighbours");
        let nodes = BTreeMap::from([(me, Device { node: here, rate: None })]);
        Ok(Self { recording, me, nodes, streams: BTreeMap::new(), reserved, bookings, neighbours })
    }

    /// When the next samples are due.
    pub(super) fn due(&self) -> Instant {
        self.recording.due()
    }

    /// What has happened at the device, whenever something may have.
    pub(super) fn look(&mut self, engine: &mut Engine, now: Instant) {
        for told in engine.take_told() {
            self.tell(told);
        }
        if !self.recording.is_due(now) {
            return;
        }
        self.recording.sample(now, self.reserved, engine.reserved());
        let bookings = engine.bookings(now);
        self.recording.sample(now, self.bookings, bookings.len() as f64);
        for booking in bookings {
            let stream = StreamId { display: booking.display, number: booking.number };
            let source = self.node(booking.towards_source.unwrap_or(self.me));
            let flow = self.flow(stream, now);
            if let Some(carried) = self.recording.about().flow_mut(flow) {
                carried.from = source;
                if let Some(clip) = booking.clip {
                    carried.name = name_of(stream, &clip);
                }
            }
        }
        let neighbours = engine.neighbours(|_| String::new(), now);
        self.recording.sample(now, self.neighbours, neighbours.len() as f64);
        for neighbour in neighbours {
            self.node(neighbour.address);
            if let Some(rate) = neighbour.useful_rate_bps {
                let series = self.nodes.get(&neighbour.address).and_then(|device| device.rate);
                self.recording.sample(now, series, rate);
            }
        }
        for display in engine.displays(now) {
            self.show(&display, now);
        }
        let open = now.saturating_before(OPEN);
        let stalls = self.streams.values().filter_map(|stream| stream.viewer.as_ref()?.stall.since());
        let bound = stalls.min().map_or(open, |since| open.min(since));
        self.recording.release(bound);
        self.forget(now);
    }

    /// Writes the rest, at the end.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(mut self, now: Instant) -> Result<(), Failure> {
        for Viewer { stall, flow, .. } in self.streams.values_mut().filter_map(|stream| stream.viewer.as_mut()) {
            stall.close(*flow, &mut self.recording);
        }
        self.recording.finish(now)
    }

    fn tell(&mut self, told: Told) {
        let Told { time, what, peer, stream, octets } = told;
        let step = match what {
            What::Sent(kind) => Step::Transmitted(kind),
            What::Received(kind) => Step::Received(kind),
            What::Refused(reason) => {
                Step::GivenUp(Refusal::ALL.iter().position(|&one| one == reason).unwrap_or_default() as u8)
            }
        };
        let node = self.node(self.me);
        let peer = peer.map_or(Node::NONE, |peer| self.node(peer));
        let flow = stream.map_or(Flow::NONE, |stream| self.flow(stream, time));
        self.recording.happening(Happening { time, step, node, peer, flow, size: octets });
    }

    fn show(&mut self, display: &Display, now: Instant) {
        let node = self.node(self.me);
        let flow = self.flow(display.stream, now);
        let Some(stream) = self.streams.get_mut(&display.stream) else { return };
        let recording = &mut self.recording;
        let viewer = stream.viewer.get_or_insert_with(|| Viewer::new(recording, flow, node, now));
        viewer.sample(display.received, display.media, now, recording);
        viewer.stall.look(flow, display.stalled, now, recording);
    }

    /// A device by its address. Devices beyond the room have no name.
    fn node(&mut self, address: Ipv4Addr) -> Node {
        if let Some(device) = self.nodes.get(&address) {
            return device.node;
        }
        let about = self.recording.about();
        let node = about.add_node(address.to_string());
        if node != Node::NONE {
            let measurement =
                Measurement { name: "link rate", unit: "b/s", panel: "link rate", node: Some(node), flow: None };
            let rate = about.add_series(measurement);
            self.nodes.insert(address, Device { node, rate });
        }
        node
    }

    /// The flow of a stream. Streams beyond the room have none.
    fn flow(&mut self, stream: StreamId, now: Instant) -> Flow {
        if let Some(known) = self.streams.get_mut(&stream) {
            known.heard = now;
            return known.flow;
        }
        let (from, to) = (self.node(self.me), self.node(stream.display));
        let name = format!("{} number {}", stream.display, stream.number);
        let flow = self.recording.about().add_flow(Carried { name, from, to, protocol: "cloud" });
        if flow != Flow::NONE {
            self.streams.insert(stream, Stream { flow, heard: now, viewer: None });
        }
        flow
    }

    /// Forgets streams that are over.
    fn forget(&mut self, now: Instant) {
        let is_over = |stream: &Stream| now.saturating_since(stream.heard) > FORGOTTEN;
        for stream in self.streams.values_mut().filter(|stream| is_over(stream)) {
            if let Some(viewer) = &mut stream.viewer {
                viewer.stall.close(viewer.flow, &mut self.recording);
            }
        }
        self.streams.retain(|_, stream| !is_over(stream));
    }
}

fn name_of(stream: StreamId, clip: &str) -> String {
    format!("{clip} for {} number {}", stream.display, stream.number)
}

/// The recording of a play.
#[derive(Debug)]
pub(super) struct PlayRecording {
    recording: Recording,
    here: Node,
    flow: Flow,
    source: Option<(Ipv4Addr, Node)>,
    viewer: Viewer,
    octets: u64,
    shown: Duration,
    /// Media per byte, in seconds.
    pace: f64,
    length: f64,
    /// Since when the display stands still, as far as this command knows, and how often it has.
    stalled: Option<Instant>,
    stalls: u64,
}

impl PlayRecording {
    /// A recording in `folder`.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(super) fn create(folder: &Path) -> Result<Self, Failure> {
        let mut recording = Recording::create(folder, "cloud play")?;
        let about = recording.about();
        about.set_vocabulary(VOCABULARY);
        let here = about.add_node("display");
        let flow = about.add_flow(Carried { name: "clip".into(), from: here, to: here, protocol: "cloud" });
        let viewer = Viewer::new(&mut recording, flow, here, Instant::START);
        Ok(Self {
            recording,
            here,
            flow,
            source: None,
            viewer,
            octets: 0,
            shown: Duration::ZERO,
            pace: 0.0,
            length: f64::INFINITY,
            stalled: None,
            stalls: 0,
        })
    }

    /// A clip of this many bytes and seconds is asked for, once more perhaps.
    pub(super) fn begin(&mut self, name: &str, octets: u64, seconds: f64, now: Instant) {
        self.close(now);
        (self.octets, self.shown, self.stalls) = (0, Duration::ZERO, 0);
        (self.pace, self.length) = (seconds / octets.max(1) as f64, seconds);
        self.viewer.came = Rate::since(now);
        if let Some(carried) = self.recording.about().flow_mut(self.flow) {
            carried.name = name.to_owned();
        }
    }

    /// Media have come.
    pub(super) fn handle_media(&mut self, octets: usize, now: Instant) {
        self.octets += octets as u64;
        let peer = self.source.map_or(Node::NONE, |(_, node)| node);
        let step = Step::Delivered(None);
        let (node, flow, size) = (self.here, self.flow, octets as u32);
        self.recording.happening(Happening { time: now, step, node, peer, flow, size });
        self.look(now);
    }

    /// The display has shown media up to here.
    pub(super) fn handle_position(&mut self, position: Duration, now: Instant) {
        // At the end of the clip the device names the greatest time.
        let position = position.min(Duration::from_secs_f64(self.length.min(1e9)));
        if position > self.shown {
            self.shown = position;
            self.close(now);
        }
        self.look(now);
    }

    /// The device says how the request stands.
    pub(super) fn handle_record(&mut self, record: &PlayRecord, now: Instant) {
        if let Some(source) = record.source.filter(|&source| self.source.is_none_or(|(known, _)| known != source)) {
            let node = self.recording.about().add_node(source.to_string());
            self.source = Some((source, node));
            if let Some(carried) = self.recording.about().flow_mut(self.flow) {
                carried.from = node;
            }
        }
        if record.stalls > self.stalls {
            self.stalls = record.stalls;
            self.stalled.get_or_insert(now);
            // The position that the device tells of next may be one from before the stall.
            self.shown = self.shown.max(Duration::from_secs_f64(record.played_s.clamp(0.0, 1e9)));
        }
        self.look(now);
    }

    /// Writes the rest, at the end.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(mut self, now: Instant) -> Result<(), Failure> {
        self.close(now);
        self.recording.finish(now)
    }

    fn look(&mut self, now: Instant) {
        if !self.recording.is_due(now) {
            return;
        }
        let media = [self.octets as f64 * self.pace, self.shown.as_secs_f64()];
        self.viewer.sample(self.octets, media, now, &mut self.recording);
        self.recording.release(self.stalled.unwrap_or(now));
    }

    /// The display does not stand still any more.
    fn close(&mut self, now: Instant) {
        if let Some(since) = self.stalled.take() {
            self.recording.stall(self.flow, (since, now), self.stalls.saturating_sub(1));
        }
    }
}
