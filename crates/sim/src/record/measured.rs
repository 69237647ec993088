//! The recording of what programs on real hosts measure: media at its player, and series.

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

/// A series of measurements at one of the nodes.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// What is measured.
    pub name: &'static str,
    /// Its unit, such as `b/s`; `1` for a ratio.
    pub unit: &'static str,
    /// The chart that shows it; series of one chart have one unit.
    pub panel: &'static str,
}

/// What the recording of a session is about: two hosts and a stream between them.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Its title.
    pub title: &'static str,
    /// The host that sends, and the one that receives.
    pub nodes: [&'static str; 2],
    /// The protocol that carries the media.
    pub protocol: &'static str,
    /// The series, by number.
    pub series: &'static [Measurement],
}

/// The recording of one session. Dropping it before [`Self::commit`] leaves no files behind.
#[derive(Debug)]
pub struct Measured {
    subject: Subject,
    events: Part,
    writer: EventWriter<BufWriter<File>>,
    counts: [u64; Kind::ALL.len()],
    samples: Part,
    sampled: BufWriter<File>,
    sample_count: u64,
    /// Last: it goes once it is empty.
    folder: Folder,
}

/// Index of the host that receives.
const RECEIVER: u16 = 1;

/// A stall has parts of at most this length.
const STALL_PART: Duration = Duration::from_secs(1);

impl Measured {
    /// Begins a recording in `folder`, which must exist.
    ///
    /// # Errors
    /// A folder or file that can't be created.
    pub fn create(folder: &Path, subject: Subject) -> Result<Self, OutputError> {
        let folder = Folder::create(folder.join(FOLDER).join("0"))?;
        let [(events, file), (samples, sampled)] =
            [Part::create(&folder.0.join(PARTS[0]))?, Part::create(&folder.0.join(PARTS[1]))?];
        Ok(Self {
            subject,
            folder,
            events,
            writer: EventWriter::new(BufWriter::new(file)),
            counts: [0; Kind::ALL.len()],
            samples,
            sampled: BufWriter::new(sampled),
            sample_count: 0,
        })
    }

    /// What became of a frame of media, and its number.
    pub fn media(&mut self, time: Instant, fate: Fate, number: u64) {
        self.push(Event { time, ..event(Kind::Media, fate as u8, number) });
    }

    /// Playback has stood still, for the time with this number.
    pub fn stall(&mut self, from: Instant, until: Instant, number: u64) {
        let mut at = from;
        while at < until {
            let end = until.min(at + STALL_PART);
            let duration = end.saturating_since(at);
            self.push(Event { time: at, duration, ..event(Kind::Stall, u8::from(at > from), number) });
            at = end;
        }
    }

    fn push(&mut self, event: Event) {
        self.counts[event.kind as usize] += 1;
        self.writer.push(event);
    }

    /// Writes events before `time`: none that is to come begins before it.
    ///
    /// # Errors
    /// A write error.
    pub fn release(&mut self, time: Instant) -> Result<(), OutputError> {
        self.writer.release(time).map_err(|error| self.events.error(error))
    }

    /// A value of a series, not before earlier ones.
    ///
    /// # Errors
    /// A write error.
    pub fn sample(&mut self, time: Instant, series: usize, value: f64) -> Result<(), OutputError> {
        let mut record = Vec::with_capacity(24);
        write_sample(&mut record, time, series as u32, value);
        self.sample_count += 1;
        self.sampled.write_all(&record).map_err(|error| self.samples.error(error))
    }

    /// Completes all files at the `end` of the session, gives them their names, and removes other recordings from the folder.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn commit(mut self, end: Instant) -> Result<(), OutputError> {
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
        let Subject { title, nodes, protocol, series } = self.subject;
        let series = series.iter().map(|Measurement { name, unit, panel }| {
            json!({ "name": name, "unit": unit, "node": null, "flow": 0, "panel": panel })
        });
        let counts: serde_json::Map<String, Value> =
            Kind::ALL.iter().zip(self.counts).map(|(kind, count)| (kind.name().to_owned(), count.into())).collect();
        let description = json!({
            "format": FORMAT,
            "hopcast": env!("CARGO_PKG_VERSION"),
            "scenario": title,
            "seed": 0,
            "measured": true,
            "duration_ns": end.as_nanos(),
            "nodes": nodes.map(|name| json!({ "name": name, "x": 0.0, "y": 0.0 })),
            "area": [0, 0, 0, 0],
            "flows": [{ "name": "media", "from": 0, "to": 1, "protocol": protocol }],
            "links": [],
            "kinds": Kind::ALL.map(Kind::name),
            "frames": FRAMES,
            "drops": DropCause::ALL.map(DropCause::name),
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
        above.map_or(Ok(()), |folder| remove_others(folder, &[0]))
    }
}

fn event(kind: Kind, code: u8, number: u64) -> Event {
    Event {
        time: Instant::START,
        duration: Duration::ZERO,
        node: RECEIVER,
        peer: 0,
        kind,
        code,
        flow: 0,
        size: 0,
        frame: Event::NO_FRAME,
        value: i32::try_from(number).unwrap_or(i32::MAX),
    }
}
