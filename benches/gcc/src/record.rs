//! Logs of feedback from the simulator.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use hopcast_protocols::time::Instant;
use hopcast_protocols::transport::media::gcc::Gcc;
use hopcast_protocols::transport::media::{Feedback, Frame, MediaCongestionControl, Probe, SentPacket};
use hopcast_sim::registry::Registry;
use hopcast_sim::run::Simulation;
use hopcast_sim::scenario::{Scenario, Source};
use serde::Deserialize;

use crate::replay::{CONFIG, Event, TICK};

/// The scenes, a scenario each. Their call runs under hopcast's GCC.
pub(super) const SCENES: [(&str, &str); 4] = [
    ("steady", include_str!("../steady.toml")),
    ("step", include_str!("../step.toml")),
    ("loss", include_str!("../loss.toml")),
    ("cell", include_str!("../cell.toml")),
];

type Log = Arc<Mutex<Vec<Event>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// GCC that writes down what it is told.
#[derive(Debug)]
struct Recorded {
    gcc: Gcc,
    log: Log,
}

impl Recorded {
    fn note(&self, event: Event) {
        self.log.lock().expect("one thread").push(event);
    }
}

impl MediaCongestionControl for Recorded {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.note(Event::Sent { at: packet.sent.as_nanos(), size: packet.size, probe: packet.probe });
        self.gcc.on_sent(packet);
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let ticks = |time: Instant| {
            let nanos = i64::try_from(time.as_nanos()).expect("a time of the run");
            assert_eq!(nanos % TICK, 0, "arrivals come in ticks");
            nanos / TICK
        };
        let fates = feedback.packets.iter();
        let fates = fates.map(|result| (result.packet.number, result.arrival.map(|arrival| ticks(arrival.time))));
        let rtt = feedback.rtt.map(hopcast_protocols::time::Duration::as_nanos);
        self.note(Event::Feedback { at: feedback.now.as_nanos(), rtt, fates: fates.collect() });
        self.gcc.on_feedback(feedback);
    }

    fn on_frame(&mut self, frame: &Frame) {
        self.gcc.on_frame(frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.note(Event::Timer { at: now.as_nanos() });
        self.gcc.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.gcc.poll_timeout()
    }

    fn target_rate(&self) -> u64 {
        self.gcc.target_rate()
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.gcc.pacing_rate()
    }

    fn poll_probe(&mut self, now: Instant) -> Option<Probe> {
        let probe = self.gcc.poll_probe(now)?;
        let Probe { id, rate, packets, bytes } = probe;
        self.note(Event::Probe { at: now.as_nanos(), id, rate, packets, bytes });
        Some(probe)
    }

    fn metrics(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.gcc.metrics(show);
    }
}

/// Runs a scenario, and returns the log of its call.
pub(super) fn run(text: &str) -> String {
    let log = Log::default();
    let mut registry = Registry::default();
    let kept = Arc::clone(&log);
    registry.add_media_congestion_control("recorded", move |_, _: &Nothing| Recorded {
        gcc: Gcc::new(CONFIG),
        log: Arc::clone(&kept),
    });
    let source = Source { text: text.into(), name: "scene.toml".into(), registry, ..Source::default() };
    let scenario = Scenario::parse(&source, &[]).expect("a scenario").scenario;
    let mut simulation = Simulation::new(&scenario, scenario.seed).expect("it can run");
    simulation.run_until(simulation.end());
    simulation.check().expect("nothing vanishes");
    let events = log.lock().expect("the run is over");
    write(&events)
}

fn write(events: &[Event]) -> String {
    let (mut text, mut before, mut arrival) = (String::new(), 0, 0);
    for event in events {
        let at = match event {
            Event::Sent { at, .. } | Event::Timer { at } | Event::Probe { at, .. } | Event::Feedback { at, .. } => *at,
        };
        let since = at - std::mem::replace(&mut before, at);
        match event {
            Event::Sent { size, probe: None, .. } => write!(text, "s {since} {size}"),
            Event::Sent { size, probe: Some(probe), .. } => write!(text, "s {since} {size} {probe}"),
            Event::Timer { .. } => write!(text, "t {since}"),
            Event::Probe { id, rate, packets, bytes, .. } => write!(text, "p {since} {id} {rate} {packets} {bytes}"),
            Event::Feedback { rtt, fates, .. } => {
                let rtt = rtt.map_or("-".into(), |rtt| rtt.to_string());
                write!(text, "f {since} {rtt}{}", write_fates(fates, &mut arrival))
            }
        }
        .expect("memory");
        text.push('\n');
    }
    text
}

fn write_fates(fates: &[(u64, Option<i64>)], arrival: &mut i64) -> String {
    let (mut next, mut text) = (None, String::new());
    for (number, fate) in fates {
        if next != Some(*number) {
            text += &format!(" @{number}");
        }
        next = Some(number + 1);
        match fate {
            None => text += " x",
            Some(at) => text += &format!(" {}", at - std::mem::replace(arrival, *at)),
        }
    }
    text
}
