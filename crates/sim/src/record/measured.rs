//! The recording of what programs on real hosts measure: packets, messages, media at its player, and series.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use hopcast_protocols::time::{Duration, Instant};
use serde_json::{Value, json};

use super::event::{Event, Kind};
use super::recorder::FRAMES;
use super::recording::{DESCRIPTION, FOLDER, FORMAT, Folder, PARTS, remove, remove_others};
use super::series::write_sample;
use super::writer::EventWriter;
use crate::metrics::DropCause;
use crate::results::OutputError;
use crate::results::output::{Part, commit_all};

/// What became of a frame of media. The discriminant is its code in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// Whole at its turn.
    OnTime,
    /// Whole after it.
    Late,
    /// Not whole.
    Lost,
}

/// A series of measurements.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// What is measured.
    pub name: &'static str,
    /// Its unit, such as `b/s`; `1` for a ratio.
    pub unit: &'static str,
    /// The chart that shows it; series of one chart have one unit.
    pub panel: &'static str,
    /// The host that it is about, if it is about one.
    pub node: Option<Node>,
    /// The flow that it is about, if it is about one.
    pub flow: Option<Flow>,
}

/// A host of a recording: its number there. There is room for 4096; those beyond have no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node(u16);

/// A flow of a recording: its number there. There is room for 4096; those beyond have no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow(u16);

impl Node {
    /// No host, or all of them.
    pub const NONE: Self = Self(Event::NO_INDEX);
}

impl Flow {
    /// No flow.
    pub const NONE: Self = Self(Event::NO_INDEX);
}

/// What is transported from one host to another.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Its name.
    pub name: String,
    /// The host that sends it.
    pub from: Node,
    /// The host that receives it.
    pub to: Node,
    /// The protocol that carries it.
    pub protocol: &'static str,
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The packet with this number leaves its application.
    Sent(u64),
    /// A packet reaches its application, after this time if that is known.
    Delivered(Option<Duration>),
    /// A message is sent; its type, a place in [`Vocabulary::messages`].
    Transmitted(u8),
    /// A message has come; its type, a place in [`Vocabulary::messages`].
    Received(u8),
    /// A packet or request is given up, for this reason: a place in [`Vocabulary::reasons`].
    GivenUp(u8),
}

/// What happened where.
#[derive(Clone, Copy, Debug)]
pub struct Happening {
    /// When.
    pub time: Instant,
    /// What.
    pub step: Step,
    /// At which host.
    pub node: Node,
    /// The other host.
    pub peer: Node,
    /// The flow.
    pub flow: Flow,
    /// Size in bytes.
    pub size: u32,
}

/// Names of the types of messages, and of the reasons for which something is given up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vocabulary {
    /// Types of messages.
    pub messages: &'static [&'static str],
    /// Reasons.
    pub reasons: &'static [&'static str],
}

/// The recording of one session. Dropping it before [`Self::commit`] leaves no files behind.
///
/// It takes bounded room: at most 10⁷ events and 10⁷ samples. After that it is full, and [`Self::full`] tells since when.
#[derive(Debug)]
pub struct Measured {
    title: &'static str,
    seed: u64,
    vocabulary: Vocabulary,
    nodes: Vec<String>,
    flows: Vec<Carried>,
    series: Vec<Measurement>,
    events: Part,
    writer: EventWriter<BufWriter<File>>,
    /// No event that is to come may begin before.
    released: Instant,
    counts: [u64; Kind::ALL.len()],
    event_count: u64,
    samples: Part,
    sampled: BufWriter<File>,
    sample_count: u64,
    full: Option<Instant>,
    /// The most events, and the most samples.
    most: u64,
    /// Last: it goes once it is empty.
    folder: Folder,
}

/// The most events, and the most samples: 560 MB in all.
const MOST: u64 = 10_000_000;
/// The most events that wait to be put in order.
const MOST_WAITING: usize = 100_000;
/// The most hosts, and the most flows.
const MOST_NAMES: usize = 4_096;

/// A stall has parts of at most this length.
const STALL_PART: Duration = Duration::from_secs(1);

impl Measured {
    /// Begins a recording in `folder`, which must exist: `recording/<seed>/`.
    ///
    /// # Errors
    /// A folder or file that can't be created.
    pub fn create(folder: &Path, title: &'static str, seed: u64) -> Result<Self, OutputError> {
        let folder = Folder::create(folder.join(FOLDER).join(seed.to_string()))?;
        let [(events, file), (samples, sampled)] =
            [Part::create(&folder.0.join(PARTS[0]))?, Part::create(&folder.0.join(PARTS[1]))?];
        Ok(Self {
            title,
            seed,
            vocabulary: Vocabulary::default(),
            nodes: Vec::new(),
            flows: Vec::new(),
            series: Vec::new(),
            folder,
            events,
            writer: EventWriter::new(BufWriter::new(file)),
            released: Instant::START,
            counts: [0; Kind::ALL.len()],
            event_count: 0,
            samples,
            sampled: BufWriter::new(sampled),
            sample_count: 0,
            full: None,
            most: MOST,
        })
    }

    /// Says what the types of messages and the reasons are.
    pub fn set_vocabulary(&mut self, vocabulary: Vocabulary) {
        self.vocabulary = vocabulary;
    }

    /// Adds a host; [`Node::NONE`] if there are too many.
    pub fn add_node(&mut self, name: impl Into<String>) -> Node {
        let number = self.nodes.len();
        if number >= MOST_NAMES {
            return Node::NONE;
        }
        self.nodes.push(name.into());
        Node(number as u16)
    }

    /// Adds a flow; [`Flow::NONE`] if there are too many.
    pub fn add_flow(&mut self, carried: Carried) -> Flow {
        let number = self.flows.len();
        if number >= MOST_NAMES {
            return Flow::NONE;
        }
        self.flows.push(carried);
        Flow(number as u16)
    }

    /// What is known of a flow, to be changed as more is known.
    pub fn flow_mut(&mut self, flow: Flow) -> Option<&mut Carried> {
        self.flows.get_mut(usize::from(flow.0))
    }

    /// Adds a series; `None` if it is about a host or flow without a name.
    pub fn add_series(&mut self, measurement: Measurement) -> Option<usize> {
        if measurement.node == Some(Node::NONE) || measurement.flow == Some(Flow::NONE) {
            return None;
        }
        self.series.push(measurement);
        Some(self.series.len() - 1)
    }

    /// Since when it is full; `None`: it is not.
    pub fn full(&self) -> Option<Instant> {
        self.full
    }

    /// Something that happened.
    ///
    /// # Errors
    /// A write error.
    pub fn happening(&mut self, happening: Happening) -> Result<(), OutputError> {
        let Happening { time, step, node, peer, flow, size } = happening;
        let (kind, code, value) = match step {
            Step::Sent(number) => (Kind::Send, 0, value(number)),
            Step::Delivered(delay) => {
                (Kind::Deliver, 0, delay.map_or(NO_VALUE, |delay| value(delay.as_nanos() / 1_000)))
            }
            Step::Transmitted(code) => (Kind::Transmit, code, NO_VALUE),
            Step::Received(code) => (Kind::Receive, code, NO_VALUE),
            Step::GivenUp(code) => (Kind::Drop, code, -1),
        };
        let event = Event {
            time,
            duration: Duration::ZERO,
            node: node.0,
            peer: peer.0,
            kind,
            code,
            flow: flow.0,
            size,
            frame: Event::NO_FRAME,
            value,
        };
        self.push(event)
    }

    /// What became of a frame of media of `flow`, and its number.
    ///
    /// # Errors
    /// A write error.
    pub fn media(&mut self, flow: Flow, time: Instant, fate: Fate, number: u64) -> Result<(), OutputError> {
        let event = self.at_player(flow, Kind::Media, number);
        self.push(Event { time, code: fate as u8, ..event })
    }

    /// Playback of `flow` has stood still, for the time with this number.
    ///
    /// # Errors
    /// A write error.
    pub fn stall(&mut self, flow: Flow, from: Instant, until: Instant, number: u64) -> Result<(), OutputError> {
        let event = self.at_player(flow, Kind::Stall, number);
        let mut at = from;
        while at < until {
            let end = until.min(at + STALL_PART);
            let duration = end.saturating_since(at);
            self.push(Event { time: at, duration, code: u8::from(at > from), ..event })?;
            at = end;
        }
        Ok(())
    }

    fn at_player(&self, flow: Flow, kind: Kind, number: u64) -> Event {
        let carried = self.flows.get(usize::from(flow.0));
        Event {
            time: Instant::START,
            duration: Duration::ZERO,
            node: carried.map_or(Node::NONE, |carried| carried.to).0,
            peer: carried.map_or(Node::NONE, |carried| carried.from).0,
            kind,
            code: 0,
            flow: flow.0,
            size: 0,
            frame: Event::NO_FRAME,
            value: value(number),
        }
    }

    fn push(&mut self, event: Event) -> Result<(), OutputError> {
        if self.event_count >= self.most {
            self.full.get_or_insert(event.time);
            return Ok(());
        }
        self.event_count += 1;
        self.counts[event.kind as usize] += 1;
        // What is told too late for its place is put as early as it can be.
        self.writer.push(Event { time: event.time.max(self.released), ..event });
        if self.writer.waiting() <= MOST_WAITING {
            return Ok(());
        }
        let released = self.writer.release_first(MOST_WAITING / 2).map_err(|error| self.events.error(error))?;
        self.released = self.released.max(released);
        Ok(())
    }

    /// Writes events before `time`: none that is to come begins before it.
    ///
    /// # Errors
    /// A write error.
    pub fn release(&mut self, time: Instant) -> Result<(), OutputError> {
        self.released = self.released.max(time);
        self.writer.release(time).map_err(|error| self.events.error(error))
    }

    /// A value of a series, not before earlier ones.
    ///
    /// # Errors
    /// A write error.
    pub fn sample(&mut self, time: Instant, series: usize, value: f64) -> Result<(), OutputError> {
        if self.sample_count >= self.most {
            self.full.get_or_insert(time);
            return Ok(());
        }
        let mut record = Vec::with_capacity(24);
        write_sample(&mut record, time, series as u32, value);
        self.sample_count += 1;
        self.sampled.write_all(&record).map_err(|error| self.samples.error(error))
    }

    /// Completes all files at the `end` of the session, gives them their names, and removes the recordings of other seeds than
    /// `seeds` from the folder.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn commit(mut self, end: Instant, seeds: &[u64]) -> Result<(), OutputError> {
        let (output, events) = self.writer.finish().map_err(|error| self.events.error(error))?;
        drop(output);
        self.sampled.flush().map_err(|error| self.samples.error(error))?;
        let path = |name: &str| self.folder.0.join(name);
        let write = |name: &str, bytes: &[u8]| {
            let (part, mut file) = Part::create(&path(name))?;
            file.write_all(bytes).map_err(|error| part.error(error))?;
            Ok(part)
        };
        // Browsers ask for these files too.
        let [positions, levels] = [write(PARTS[2], &[])?, write(PARTS[3], &[])?];
        let series = self.series.iter().map(|Measurement { name, unit, panel, node, flow }| {
            let (node, flow) = (node.map(|node| node.0), flow.map(|flow| flow.0));
            json!({ "name": name, "unit": unit, "node": node, "flow": flow, "panel": panel })
        });
        let node = |name: &String| json!({ "name": name, "x": 0.0, "y": 0.0 });
        let flow = |Carried { name, from, to, protocol }: &Carried| json!({ "name": name, "from": from.0, "to": to.0, "protocol": protocol });
        // Without a vocabulary, codes are those of simulated runs.
        let Vocabulary { messages, reasons } = self.vocabulary;
        let messages = if messages.is_empty() { &FRAMES[..] } else { messages };
        let reasons = if reasons.is_empty() { DropCause::ALL.map(DropCause::name).to_vec() } else { reasons.to_vec() };
        let counts: serde_json::Map<String, Value> =
            Kind::ALL.iter().zip(self.counts).map(|(kind, count)| (kind.name().to_owned(), count.into())).collect();
        let description = json!({
            "format": FORMAT,
            "hopcast": env!("CARGO_PKG_VERSION"),
            "scenario": self.title,
            "seed": self.seed,
            "measured": true,
            "full_ns": self.full.map(Instant::as_nanos),
            "duration_ns": end.as_nanos(),
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "area": [0, 0, 0, 0],
            "flows": self.flows.iter().map(flow).collect::<Vec<_>>(),
            "links": [],
            "kinds": Kind::ALL.map(Kind::name),
            "frames": messages,
            "drops": reasons,
            "series": series.collect::<Vec<_>>(),
            "counts": counts,
            "events": events,
            "samples": self.sample_count,
            "positions": 0,
            "levels": [],
        });
        let about = write(DESCRIPTION, (description.to_string() + "\n").as_bytes())?;
        // Until the new one is there, no description: it would be that of other parts.
        remove(&path(DESCRIPTION))?;
        commit_all(vec![self.events, self.samples, positions, levels])?;
        commit_all(vec![about])?;
        let above = self.folder.0.parent().and_then(Path::parent);
        above.map_or(Ok(()), |folder| remove_others(folder, seeds))
    }
}

/// What is not known.
const NO_VALUE: i32 = i32::MIN;

fn value(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn begun(folder: &Path) -> (Measured, Flow, Happening) {
        let mut measured = Measured::create(folder, "test", 0).expect("there is room");
        let [node, peer] = ["here", "there"].map(|name| measured.add_node(name));
        let flow = measured.add_flow(Carried { name: "flow".into(), from: peer, to: node, protocol: "udp" });
        let happening = Happening { time: at(0), step: Step::Sent(0), node, peer, flow, size: 100 };
        (measured, flow, happening)
    }

    fn about(folder: &Path) -> Value {
        let text = std::fs::read_to_string(folder.join("recording/0/recording.json")).expect("it is committed");
        serde_json::from_str(&text).expect("JSON")
    }

    fn events(folder: &Path) -> Vec<Event> {
        let octets = std::fs::read(folder.join("recording/0/events.bin")).expect("it is committed");
        let records = octets.chunks_exact(Event::LENGTH).map(|record| record.try_into().expect("the length"));
        records.map(|record| Event::from_bytes(record).expect("a known kind")).collect()
    }

    #[test]
    fn a_delivery_stands_behind_a_sending_that_was_told_of_later() {
        let folder = tempfile::tempdir().expect("there is room");
        let (mut measured, flow, happening) = begun(folder.path());
        let delivered = Step::Delivered(Some(Duration::from_millis(20)));
        measured.happening(Happening { time: at(70), step: delivered, ..happening }).expect("there is room");
        measured.happening(Happening { time: at(50), step: Step::Sent(7), ..happening }).expect("there is room");
        measured.release(at(60)).expect("there is room");
        // Too late for its place: it stands at the first place that is left.
        measured.happening(Happening { time: at(10), step: Step::Received(1), ..happening }).expect("there is room");
        measured.stall(flow, at(70), at(1_570), 3).expect("there is room");
        measured.commit(at(2_000), &[0]).expect("there is room");
        let seen: Vec<_> =
            events(folder.path()).iter().map(|event| (event.time, event.kind, event.code, event.value)).collect();
        assert_eq!(
            seen,
            [
                (at(50), Kind::Send, 0, 7),
                (at(60), Kind::Receive, 1, NO_VALUE),
                (at(70), Kind::Deliver, 0, 20_000),
                (at(70), Kind::Stall, 0, 3),
                (at(1_070), Kind::Stall, 1, 3),
            ]
        );
        assert_eq!((&about(folder.path())["full_ns"], &about(folder.path())["events"]), (&Value::Null, &5.into()));
    }

    #[test]
    fn a_full_recording_says_since_when_and_holds_what_came_before() {
        let folder = tempfile::tempdir().expect("there is room");
        let (mut measured, _, happening) = begun(folder.path());
        measured.most = 10;
        for millis in 0..20 {
            measured.happening(Happening { time: at(millis), ..happening }).expect("there is room");
        }
        assert_eq!(measured.full(), Some(at(10)));
        measured.commit(at(20), &[0]).expect("there is room");
        assert_eq!(events(folder.path()).len(), 10);
        let about = about(folder.path());
        assert_eq!((&about["full_ns"], &about["counts"]["send"]), (&10_000_000.into(), &10.into()));
    }

    #[test]
    fn no_more_than_a_bounded_number_of_events_wait_to_be_put_in_order() {
        let folder = tempfile::tempdir().expect("there is room");
        let (mut measured, _, happening) = begun(folder.path());
        for micros in 0..3 * MOST_WAITING as u64 {
            let time = Instant::from_nanos(micros * 1_000);
            measured.happening(Happening { time, ..happening }).expect("there is room");
            assert!(measured.writer.waiting() <= MOST_WAITING);
        }
        measured.commit(at(1_000), &[0]).expect("there is room");
        let events = events(folder.path());
        assert_eq!(events.len(), 3 * MOST_WAITING);
        assert!(events.is_sorted_by_key(|event| event.time));
    }

    #[test]
    fn hosts_and_flows_beyond_the_room_have_no_name_and_no_series() {
        let folder = tempfile::tempdir().expect("there is room");
        let (mut measured, _, _) = begun(folder.path());
        let nodes: Vec<Node> = (0..MOST_NAMES).map(|number| measured.add_node(number.to_string())).collect();
        assert_eq!((nodes[0], nodes[MOST_NAMES - 3], nodes[MOST_NAMES - 2]), (Node(2), Node(4_095), Node::NONE));
        let series = |node| Measurement { name: "rate", unit: "b/s", panel: "rate", node: Some(node), flow: None };
        assert_eq!(measured.add_series(series(nodes[0])), Some(0));
        assert_eq!(measured.add_series(series(Node::NONE)), None);
        drop(measured);
        assert_eq!(std::fs::read_dir(&folder).expect("it is there").count(), 0, "nothing is left behind");
    }
}
