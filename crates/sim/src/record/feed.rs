//! What a viewer needs to follow a run: the events, samples and positions since it last asked.

use std::io;
use std::rc::Rc;

use hopcast_protocols::time::{Duration, Instant};
use hopcast_radio::mac::Dcf;
use serde_json::Value;

use super::event::{Event, Kind};
use super::recording::{Recording, Shared, attach, check, description, recorder};
use super::series::{OF_FLOWS, data_rate, of_flow, queue, write_sample};
use super::sink::{Copied, Sink};
use crate::id::NodeId;
use crate::layout;
use crate::metrics::Sample;
use crate::mobility::Motion;
use crate::run::Simulation;
use crate::scenario::model::Scenario;

/// Number of kinds of events.
pub const KINDS: usize = Kind::ALL.len();

/// What has happened since the last news, in the records of the files of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// How far the run has come.
    pub time: Instant,
    /// Records of `events.bin`.
    pub events: Vec<u8>,
    /// Records of `samples.bin`.
    pub samples: Vec<u8>,
    /// Records of `positions.bin`.
    pub positions: Vec<u8>,
}

impl News {
    /// Number of events by kind.
    pub fn counts(&self) -> [u64; KINDS] {
        let mut counts = [0; KINDS];
        for record in self.events.chunks_exact(Event::LENGTH) {
            if let Some(count) = counts.get_mut(usize::from(record[16])) {
                *count += 1;
            }
        }
        counts
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.events.len() / Event::LENGTH
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.events.len() + self.samples.len() + self.positions.len()
    }
}

/// What has arrived of a flow by the last news.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    packets: u64,
    octets: u64,
    delay_ns: u128,
}

/// What a node showed at the last news.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// Packets in its queues.
    queued: Option<usize>,
    /// Its data rate, kb/s.
    rate_kbps: Option<u32>,
    position: Option<[f32; 2]>,
}

/// The events of a run for a viewer that follows it. [`Self::collect`] is to be called now and then: the events wait in memory until
/// then.
pub struct Feed<'a> {
    scenario: &'a Scenario,
    seed: u64,
    recorder: Shared,
    copied: Copied,
    motion: Motion,
    /// By node.
    is_mobile: Vec<bool>,
    flows: Vec<Arrived>,
    nodes: Vec<Shown>,
    last: Instant,
}

impl<'a> Feed<'a> {
    /// One of a run of `scenario` with `seed` that is not recorded to files. [`Self::attach`] follows.
    ///
    /// # Errors
    /// A scenario with more than 65 535 nodes or flows.
    pub fn new(scenario: &'a Scenario, seed: u64) -> io::Result<Self> {
        check(scenario)?;
        Ok(Self::of(scenario, seed, recorder(scenario, Sink::default())))
    }

    /// One of the run that `recording`, which is attached, writes to files.
    pub fn of_recording(recording: &Recording<'a>) -> Self {
        Self::of(recording.scenario, recording.seed, Rc::clone(&recording.recorder))
    }

    fn of(scenario: &'a Scenario, seed: u64, recorder: Shared) -> Self {
        let copied = Copied::default();
        if let Some(recorder) = &mut *recorder.borrow_mut() {
            recorder.output_mut().set_copied(Rc::clone(&copied));
        }
        let is_mobile: Vec<bool> = layout::groups(scenario).map(|group| group.mobility.is_some()).collect();
        Self {
            scenario,
            seed,
            recorder,
            copied,
            motion: layout::motion(scenario, seed),
            flows: vec![Arrived::default(); scenario.flows.len()],
            nodes: vec![Shown::default(); is_mobile.len()],
            is_mobile,
            last: Instant::START,
        }
    }

    /// Lets `simulation`, which is at its start, report to this feed.
    pub fn attach(&self, simulation: &mut Simulation) {
        attach(&self.recorder, simulation);
    }

    /// What `recording.json` says at the start of the run. A series without samples may be among the series.
    pub fn description(&self) -> Value {
        let flows = (0..self.flows.len())
            .flat_map(|flow| OF_FLOWS.map(move |(name, unit, panel, _)| of_flow(flow, name, unit, panel)));
        let nodes = (0..self.nodes.len() as u32).flat_map(|node| [queue(node), data_rate(node)]);
        let series: Vec<Value> = flows.chain(nodes).collect();
        let mut motion = layout::motion(self.scenario, self.seed);
        let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for node in 0..self.nodes.len() as u32 {
            let at = motion.position(NodeId(node), Instant::START);
            area = [area[0].min(at.x), area[1].min(at.y), area[2].max(at.x), area[3].max(at.y)];
        }
        let about = (&[0; KINDS], 0, [0; 2]);
        description((self.scenario, self.seed), about, Instant::START, area, &[], series.into())
    }

    /// Returns what has happened since the last call, as far as it is complete.
    ///
    /// # Errors
    /// A write error of the recording whose feed it is. The next call has what is missing.
    pub fn collect(&mut self, simulation: &mut Simulation) -> io::Result<News> {
        if let Some(recorder) = &mut *self.recorder.borrow_mut() {
            recorder.collect(simulation)?;
        }
        Ok(self.news(simulation))
    }

    /// Returns the rest after the end of the run. The recording whose feed it is must be committed before.
    pub fn finish(&mut self, end: Instant) -> News {
        let recorder = self.recorder.borrow_mut().take();
        // Memory takes everything.
        let _ = recorder.map(|recorder| recorder.finish(end));
        News { time: end, events: self.copied.take(), ..News::default() }
    }

    fn news(&mut self, simulation: &Simulation) -> News {
        let now = simulation.now();
        let mut news = News { time: now, events: self.copied.take(), ..News::default() };
        let time = now.saturating_since(self.last);
        if time > Duration::ZERO {
            self.sample_flows(simulation, now, &mut news.samples);
            self.sample_nodes(simulation, now, &mut news);
            self.last = now;
        }
        news
    }

    fn sample_flows(&mut self, simulation: &Simulation, now: Instant, samples: &mut Vec<u8>) {
        for ((flow, before), place) in simulation.flows().iter().zip(&mut self.flows).zip(0..) {
            let (packets, octets, delay_ns) = flow.arrived();
            let sample = Sample {
                time: now,
                received_bytes: octets - before.octets,
                arrivals: (packets - before.packets) as u32,
                delay_sum: Duration::from_nanos((delay_ns - before.delay_ns) as u64),
                ..flow.series().current()
            };
            *before = Arrived { packets, octets, delay_ns };
            for ((_, _, _, reading), number) in OF_FLOWS.iter().zip(0..) {
                if let Some(value) = reading(&sample, self.last) {
                    write_sample(samples, now, place * OF_FLOWS.len() as u32 + number, value);
                }
            }
        }
    }

    /// Queues, rates and positions, where they have changed.
    fn sample_nodes(&mut self, simulation: &Simulation, now: Instant, news: &mut News) {
        let first = (self.flows.len() * OF_FLOWS.len()) as u32;
        for (node, shown) in (0..).zip(&mut self.nodes) {
            let queued = simulation.queued(NodeId(node));
            if queued != shown.queued.unwrap_or(0) {
                shown.queued = Some(queued);
                write_sample(&mut news.samples, now, first + 2 * node, queued as f64);
            }
            let rate = simulation.stations_of(NodeId(node)).find_map(Dcf::chosen_rate);
            if let Some(kbps) =
                rate.map(|rate| rate.data_rate().as_kbps()).filter(|&kbps| shown.rate_kbps != Some(kbps))
            {
                shown.rate_kbps = Some(kbps);
                write_sample(&mut news.samples, now, first + 2 * node + 1, f64::from(kbps) * 1e3);
            }
            if self.is_mobile[node as usize] {
                let at = self.motion.position(NodeId(node), now);
                let at = [at.x as f32, at.y as f32];
                if shown.position != Some(at) {
                    shown.position = Some(at);
                    news.positions.extend(now.as_nanos().to_le_bytes());
                    news.positions.extend(node.to_le_bytes());
                    news.positions.extend([0; 4]);
                    news.positions.extend(at[0].to_le_bytes());
                    news.positions.extend(at[1].to_le_bytes());
                }
            }
        }
    }
}
