//! Events in virtual time: encoders, pacers, the bottleneck, receivers and the controllers' timers.

use std::collections::BTreeMap;

use super::super::MediaCongestionControl;
use super::bottleneck::Bottleneck;
pub(in super::super) use super::bottleneck::Path;
use super::flow::{Flow, Received};
pub(in super::super) use super::flow::{Reports, Source};
use crate::time::{Duration, Instant};

#[derive(Debug)]
enum Event {
    Encode(usize),
    Pace(usize),
    Timeout(usize),
    Report(usize),
    Transmitted,
    Arrive(usize, Received, u32),
    Feedback(usize, Vec<Received>, Instant),
}

/// Flows that share one bottleneck.
#[derive(Debug)]
pub(in super::super) struct Bench {
    now: Instant,
    events: BTreeMap<(Instant, u64), Event>,
    order: u64,
    link: Bottleneck,
    pub(in super::super) flows: Vec<Flow>,
}

impl Bench {
    pub(in super::super) fn new(path: Path, seed: u64) -> Self {
        let link = Bottleneck::new(path, seed);
        Self { now: Instant::START, events: BTreeMap::new(), order: 0, link, flows: Vec::new() }
    }

    /// Adds a flow that starts now, and returns its number.
    pub(in super::super) fn add(
        &mut self,
        control: Box<dyn MediaCongestionControl>,
        source: Source,
        reports: Reports,
    ) -> usize {
        let flow = self.flows.len();
        self.flows.push(Flow::new(control, source, reports, self.now));
        self.schedule(self.now, Event::Encode(flow));
        self.schedule(self.now, Event::Pace(flow));
        if let Reports::Periodic(every) = reports {
            self.schedule(self.now + every, Event::Report(flow));
        }
        flow
    }

    /// The path changes now.
    pub(in super::super) fn change(&mut self, path: Path) {
        self.link.path = path;
    }

    /// A flow's source changes now.
    pub(in super::super) fn set_source(&mut self, flow: usize, source: Source) {
        self.flows[flow].source = source;
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.order += 1;
        self.events.insert((at, self.order), event);
    }

    /// Lets `duration` pass.
    pub(in super::super) fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, _), event) = entry.remove_entry();
            self.now = at;
            self.handle(event);
        }
        self.now = end;
    }

    fn handle(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Encode(flow) => {
                if let Some(next) = self.flows[flow].encode(now) {
                    self.schedule(now + next, Event::Encode(flow));
                }
                self.pace(flow);
            }
            Event::Pace(flow) => self.pace(flow),
            Event::Timeout(flow) => {
                if self.flows[flow].control.poll_timeout().is_some_and(|at| at <= now) {
                    self.flows[flow].control.handle_timeout(now);
                    self.pace(flow);
                }
            }
            Event::Transmitted => {
                let (packet, arrival, next) = self.link.pop(now);
                let received = Received { number: packet.number, time: arrival, ecn: packet.ecn };
                self.schedule(arrival, Event::Arrive(packet.flow, received, packet.size));
                if let Some(next) = next {
                    self.schedule(next, Event::Transmitted);
                }
            }
            Event::Arrive(flow, received, size) => {
                let at_once = self.flows[flow].receive(received, size);
                if at_once {
                    self.report(flow);
                } else if self.flows[flow].reports == Reports::Scream && self.flows[flow].received.len() == 1 {
                    self.schedule(now + Duration::from_millis(40), Event::Report(flow));
                }
            }
            Event::Report(flow) => match self.flows[flow].reports {
                Reports::Periodic(every) => {
                    self.report(flow);
                    self.schedule(now + every, Event::Report(flow));
                }
                // The report for which this was set may have left already.
                Reports::Scream => {
                    let due = |since: Instant| now - since >= Duration::from_millis(40);
                    if self.flows[flow].held_since.is_some_and(due) {
                        self.report(flow);
                    }
                }
            },
            Event::Feedback(flow, received, left) => {
                self.flows[flow].on_report(&received, left, now);
                self.pace(flow);
            }
        }
    }

    fn report(&mut self, flow: usize) {
        let received = core::mem::take(&mut self.flows[flow].received);
        self.flows[flow].held_since = None;
        if !received.is_empty() {
            self.schedule(self.now + self.link.path.delay, Event::Feedback(flow, received, self.now));
        }
    }

    /// Sends what may leave, and asks to be called again when more may.
    fn pace(&mut self, flow: usize) {
        let now = self.now;
        while let Some(departure) = self.flows[flow].depart(now) {
            let ecn = self.flows[flow].control.ecn();
            if let Some(at) = self.link.push(flow, departure.number, departure.size, ecn, now) {
                self.schedule(at, Event::Transmitted);
            }
        }
        let pacer = self.flows[flow].pacer;
        if pacer > now && self.flows[flow].wants_pacer() && self.flows[flow].wake.replace(pacer) != Some(pacer) {
            self.schedule(pacer, Event::Pace(flow));
        }
        if let Some(at) = self.flows[flow].control.poll_timeout() {
            self.schedule(at.max(now), Event::Timeout(flow));
        }
    }

    /// A flow's target rate now, in kb/s.
    pub(in super::super) fn target(&self, flow: usize) -> u64 {
        self.flows[flow].control.target_rate() / 1000
    }

    /// What a flow's controller shows under a name.
    pub(in super::super) fn metric(&self, flow: usize, name: &str) -> f64 {
        let mut found = None;
        self.flows[flow].control.metrics(&mut |shown, value| found = (shown == name).then_some(value).or(found));
        found.expect("a metric of that name")
    }

    /// Runs for `duration`, and returns what arrived of a flow meanwhile, in kb/s with headers.
    pub(in super::super) fn throughput(&mut self, flow: usize, duration: Duration) -> u64 {
        let before = self.flows[flow].arrived;
        self.run(duration);
        (self.flows[flow].arrived - before) * 8_000_000 / duration.as_nanos()
    }
}
