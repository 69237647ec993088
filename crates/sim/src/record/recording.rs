//! The folder of a recording: its files, from the start of a run to their names.

use std::cell::RefCell;
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use serde_json::{Value, json};

use super::event::{Event, Kind};
use super::levels::{Level, Levels};
use super::recorder::{FRAMES, Recorder, Watcher};
use super::series;
use super::sink::Sink;
use crate::id::NodeId;
use crate::layout;
use crate::metrics::DropCause;
use crate::results::output::{Part, commit_all};
use crate::results::{OutputError, RunResult, node_names, protocol};
use crate::run::Simulation;
use crate::scenario::model::{Flow, Scenario, WiredLink};

/// Version of the format.
pub(super) const FORMAT: u32 = 1;

/// The folder of recordings in that of a run.
pub(super) const FOLDER: &str = "recording";

/// What tells what the other files mean.
pub(super) const DESCRIPTION: &str = "recording.json";

/// The other files.
pub(super) const PARTS: [&str; 4] = ["events.bin", "samples.bin", "positions.bin", "levels.bin"];

/// Time between two positions of a mobile node; longer where a run would have more than 10 000 of them.
const POSITION_INTERVAL: Duration = Duration::from_millis(100);
const MAX_POSITIONS: u64 = 10_000;

/// How far a position may be off the line between its neighbours, in metres, to be left out.
const STRAIGHT: f64 = 0.01;

/// The recording of one run. Dropping it before [`Self::commit`] leaves no files behind.
pub struct Recording<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) seed: u64,
    folder: Folder,
    events: Part,
    pub(super) recorder: Shared,
}

/// The recorder of a run, until the run is over.
pub(super) type Shared = Rc<RefCell<Option<Recorder<Sink>>>>;

impl<'a> Recording<'a> {
    /// Begins the recording of a run of `scenario` with `seed`: `recording/<seed>/` in `folder`, which must exist.
    ///
    /// # Errors
    /// A folder or file that can't be created; a scenario with more than 65 535 nodes or flows.
    pub fn create(folder: &Path, scenario: &'a Scenario, seed: u64) -> Result<Self, OutputError> {
        let path = folder.join(FOLDER).join(seed.to_string());
        if let Err(error) = check(scenario) {
            return Err(OutputError { path, error });
        }
        let folder = Folder::create(path)?;
        let (events, file) = Part::create(&folder.0.join(PARTS[0]))?;
        let recorder = recorder(scenario, Sink::file(BufWriter::with_capacity(1 << 16, file)));
        Ok(Self { scenario, seed, folder, events, recorder })
    }

    /// Lets `simulation`, which is at its start, report to this recording.
    pub fn attach(&self, simulation: &mut Simulation) {
        attach(&self.recorder, simulation);
    }

    /// Writes what has happened. To be called now and then, as it waits in memory until then.
    ///
    /// # Errors
    /// A write error.
    pub fn collect(&self, simulation: &mut Simulation) -> Result<(), OutputError> {
        let mut recorder = self.recorder.borrow_mut();
        let outcome = recorder.as_mut().map_or(Ok(()), |recorder| recorder.collect(simulation));
        outcome.map_err(|error| self.events.error(error))
    }

    /// Completes all files after the run, which had this `result` and ended at `end`, then gives them their names: `recording.json`
    /// last.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn commit(self, result: &RunResult, end: Instant) -> Result<(), OutputError> {
        let Some(recorder) = self.recorder.borrow_mut().take() else { return Ok(()) };
        let finished = recorder.finish(end).and_then(|(output, events, counts)| {
            output.close()?;
            Ok((events, counts))
        });
        let (events, counts) = finished.map_err(|error| self.events.error(error))?;
        let (level_bytes, levels) = self.levels(events, end).map_err(|error| self.events.error(error))?;
        let (series, samples) = series::samples(result);
        let (area, positions) = self.positions(end);
        let sizes = [samples.len(), positions.len()].map(|bytes| bytes / 24);
        let description = description((self.scenario, self.seed), (&counts, events, sizes), end, area, &levels, series);
        let path = |name: &str| self.folder.0.join(name);
        let write = |(name, bytes): (&str, &[u8])| {
            let (part, mut file) = Part::create(&path(name))?;
            file.write_all(bytes).map_err(|error| part.error(error))?;
            Ok(part)
        };
        let others: Result<Vec<Part>, OutputError> =
            PARTS[1..].iter().copied().zip([&samples[..], &positions, &level_bytes]).map(write).collect();
        let mut parts = others?;
        let text = description.to_string() + "\n";
        let about = write((DESCRIPTION, text.as_bytes()))?;
        // Until the new one is there, no description: it would be that of other parts.
        remove(&path(DESCRIPTION))?;
        parts.push(self.events);
        commit_all(parts)?;
        commit_all(vec![about])
    }

    /// Level of detail of the events, which are complete.
    fn levels(&self, events: u64, end: Instant) -> io::Result<(Vec<u8>, Vec<Level>)> {
        let nodes = layout::groups(self.scenario).count();
        let mut levels = Levels::new(nodes, end.as_nanos(), events);
        let mut file = BufReader::with_capacity(1 << 16, self.events.read()?);
        let mut record = [0; Event::LENGTH];
        for _ in 0..events {
            file.read_exact(&mut record)?;
            if let Some(event) = Event::from_bytes(&record) {
                levels.add(&event);
            }
        }
        Ok(levels.finish())
    }

    /// The area of all positions and the records of mobile nodes.
    fn positions(&self, end: Instant) -> ([f64; 4], Vec<u8>) {
        let mut motion = layout::motion(self.scenario, self.seed);
        let interval = POSITION_INTERVAL.as_nanos().max(end.as_nanos() / MAX_POSITIONS);
        let times: Vec<Instant> =
            (0..end.as_nanos()).step_by(interval as usize).map(Instant::from_nanos).chain([end]).collect();
        let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let mut records: Vec<(Instant, u32, [f64; 2])> = Vec::new();
        for (group, node) in layout::groups(self.scenario).zip(0..) {
            let moves = group.mobility.is_some();
            let times = if moves { &times[..] } else { &times[..1] };
            let points = times.iter().map(|&time| {
                let position = motion.position(NodeId(node), time);
                (time, [position.x, position.y])
            });
            let points: Vec<_> = points.collect();
            for (_, [x, y]) in &points {
                area = [area[0].min(*x), area[1].min(*y), area[2].max(*x), area[3].max(*y)];
            }
            if moves {
                records.extend(bends(&points).into_iter().map(|(time, point)| (time, node, point)));
            }
        }
        if area[0] > area[2] {
            area = [0.0; 4];
        }
        records.sort_by_key(|&(time, node, _)| (time, node));
        let mut bytes = Vec::with_capacity(records.len() * 24);
        for (time, node, [x, y]) in records {
            bytes.extend(time.as_nanos().to_le_bytes());
            bytes.extend(node.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend((x as f32).to_le_bytes());
            bytes.extend((y as f32).to_le_bytes());
        }
        (area, bytes)
    }
}

/// Refuses a scenario that has too much for the records.
///
/// # Errors
/// More than 65 535 nodes or flows.
pub(super) fn check(scenario: &Scenario) -> io::Result<()> {
    let limit = usize::from(Event::NO_INDEX);
    if layout::groups(scenario).count() > limit || scenario.flows.len() > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "recordings hold at most 65535 nodes and flows"));
    }
    Ok(())
}

/// A recorder of runs of `scenario` that writes to `sink`.
pub(super) fn recorder(scenario: &Scenario, sink: Sink) -> Shared {
    let ends = scenario.flows.iter().map(|flow| [flow.from, flow.to]).collect();
    Rc::new(RefCell::new(Some(Recorder::new(sink, layout::ports(scenario), ends))))
}

/// Lets `simulation`, which is at its start, report to `recorder`.
pub(super) fn attach(recorder: &Shared, simulation: &mut Simulation) {
    if let Some(recorder) = &mut *recorder.borrow_mut() {
        recorder.set_noises(simulation.noises());
    }
    simulation.set_watch(Watcher(Rc::clone(recorder)));
}

/// What the other files mean.
pub(super) fn description(
    (scenario, seed): (&Scenario, u64),
    (counts, events, [samples, positions]): (&[u64; Kind::ALL.len()], u64, [usize; 2]),
    end: Instant,
    area: [f64; 4],
    levels: &[Level],
    series: Value,
) -> Value {
    let mut motion = layout::motion(scenario, seed);
    let node = |(name, node): (&String, u32)| {
        let at = motion.position(NodeId(node), Instant::START);
        json!({ "name": name, "x": at.x, "y": at.y })
    };
    let flow = |flow: &Flow| {
        let protocol = protocol(&flow.transport);
        json!({ "name": flow.name, "from": flow.from.0, "to": flow.to.0, "protocol": protocol })
    };
    let link = |link: &WiredLink| link.between.map(|node| node.0);
    let counts: serde_json::Map<String, Value> =
        Kind::ALL.iter().zip(counts).map(|(kind, &count)| (kind.name().to_owned(), count.into())).collect();
    let level = |level: &Level| json!({ "bin_ns": level.bin_ns, "bins": level.bins, "offset": level.offset });
    json!({
        "format": FORMAT,
        "hopcast": env!("CARGO_PKG_VERSION"),
        "scenario": scenario.name,
        "seed": seed,
        "duration_ns": end.as_nanos(),
        "nodes": node_names(scenario).zip(0..).map(node).collect::<Vec<_>>(),
        "area": area,
        "flows": scenario.flows.iter().map(flow).collect::<Vec<_>>(),
        "links": scenario.links.iter().map(link).collect::<Vec<_>>(),
        "kinds": Kind::ALL.map(Kind::name),
        "frames": FRAMES,
        "drops": DropCause::ALL.map(DropCause::name),
        "series": series,
        "counts": counts,
        "events": events,
        "samples": samples,
        "positions": positions,
        "levels": levels.iter().map(level).collect::<Vec<_>>(),
    })
}

/// The folder of one recording, which goes again if it is empty.
#[derive(Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    /// Makes it.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn create(path: PathBuf) -> Result<Self, OutputError> {
        fs::create_dir_all(&path).map_err(|error| OutputError { path: path.clone(), error })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // They fail where something is in them.
        let _ = fs::remove_dir(&self.0);
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

/// Removes the recordings of an earlier run from `folder`, except those of `seeds`. Other files stay.
///
/// # Errors
/// The first file that can't be removed.
pub fn remove_others(folder: &Path, seeds: &[u64]) -> Result<(), OutputError> {
    let all = folder.join(FOLDER);
    let Ok(entries) = fs::read_dir(&all) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let seed = name.to_str().and_then(|name| name.parse::<u64>().ok().filter(|seed| seed.to_string() == name));
        // Only what has a description is ours.
        let is_ours = entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.path().join(DESCRIPTION).is_file();
        if seed.is_some_and(|seed| is_ours && !seeds.contains(&seed)) {
            [DESCRIPTION].iter().chain(&PARTS).try_for_each(|name| remove(&entry.path().join(name)))?;
            let _ = fs::remove_dir(entry.path());
        }
    }
    let _ = fs::remove_dir(all);
    Ok(())
}

/// Removes a file, if it is there.
///
/// # Errors
/// The system's.
pub(super) fn remove(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(OutputError { path: path.into(), error }),
        _ => Ok(()),
    }
}

/// The first and last point, and those between at which the way is no straight line at one speed.
fn bends(points: &[(Instant, [f64; 2])]) -> Vec<(Instant, [f64; 2])> {
    let mut kept: Vec<(Instant, [f64; 2])> = Vec::new();
    let mut last: Option<(Instant, [f64; 2])> = None;
    for &next in points {
        let Some(&start) = kept.last() else {
            kept.push(next);
            continue;
        };
        if let Some(middle) = last {
            let share = |at: Instant| at.saturating_since(start.0).as_nanos() as f64;
            let part = share(middle.0) / share(next.0);
            let off = |axis: usize| (start.1[axis] + (next.1[axis] - start.1[axis]) * part - middle.1[axis]).abs();
            if off(0) > STRAIGHT || off(1) > STRAIGHT {
                kept.push(middle);
            }
        }
        last = Some(next);
    }
    kept.extend(last);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_way_has_two_points_and_a_bend_one_more() {
        let at = |second: u64, x: f64, y: f64| (Instant::START + Duration::from_secs(second), [x, y]);
        let way = [at(0, 0.0, 0.0), at(1, 1.0, 0.0), at(2, 2.0, 0.0), at(3, 2.0, 1.0), at(4, 2.0, 2.0)];
        assert_eq!(bends(&way), [way[0], way[2], way[4]]);
        assert_eq!(bends(&way[..3]), [way[0], way[2]]);
        assert_eq!(bends(&way[..1]), [way[0]]);
    }
}
