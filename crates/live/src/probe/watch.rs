//! A receiver or a relay as a recording for `hopcast view`: each unit that a receiver reads, and how flows develop.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopcast_protocols::time::{Duration, Instant};
use hopcast_sim::metrics::FlowSummary;
use hopcast_sim::record::{Carried, Flow, Happening, Measurement, Node, Step};

use super::control::{Open, Relayed};
use crate::failure::Failure;
use crate::recording::{INTERVAL, Rate, Recording};

/// The most units of a flow that wait to be recorded; others are counted, in the series `unrecorded`.
const MOST_ARRIVALS: usize = 50_000;
/// A sending whose unit took longer than that may stand at a later time.
const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// A unit that a receiver has read, by its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    /// When.
    pub(super) time: Instant,
    /// How long after its source's system took it.
    pub(super) delay: Duration,
    /// Its number.
    pub(super) sequence: u64,
    /// Its bytes.
    pub(super) octets: u32,
}

/// Arrivals of a flow, on their way to the recording.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    units: Vec<Arrival>,
    unrecorded: u64,
}

impl Arrivals {
    /// One more.
    pub(super) fn push(&mut self, arrival: Arrival) {
        if self.units.len() < MOST_ARRIVALS { self.units.push(arrival) } else { self.unrecorded += 1 }
    }
}

/// The recording of a host, which the threads of its flows share; `None` once it is finished.
#[derive(Debug)]
pub(super) struct Record(Mutex<Option<Known>>);

#[derive(Debug)]
struct Known {
    recording: Recording,
    here: Node,
    hosts: BTreeMap<IpAddr, Node>,
}

/// The part of one flow at a receiver.
#[derive(Debug)]
pub(super) struct Received<'a> {
    record: &'a Record,
    flow: Flow,
    from: Node,
    due: Instant,
    rate: Rate,
    octets: u64,
    unrecorded: u64,
    goodput: Option<usize>,
    delay: Option<usize>,
    units: [Option<usize>; 4],
}

/// The part of one flow at a relay.
#[derive(Debug)]
pub(super) struct PassedOn<'a> {
    record: &'a Record,
    due: Instant,
    units: [Option<usize>; 5],
}

impl Record {
    /// A recording in `folder`, with this title.
    ///
    /// # Errors
    /// [`Failure::Input`]: the folder can't be written, or another command writes to it.
    pub(super) fn create(folder: &Path, title: &'static str) -> Result<Self, Failure> {
        let mut recording = Recording::create(folder, title)?;
        let here = recording.about().add_node("here");
        Ok(Self(Mutex::new(Some(Known { recording, here, hosts: BTreeMap::new() }))))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        // Numbers and files, which no panic leaves half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A flow that comes from `from` and ends here.
    pub(super) fn received(&self, open: &Open, from: IpAddr, now: Instant) -> Option<Received<'_>> {
        let mut known = self.lock();
        let known = known.as_mut()?;
        let (from, to) = (known.host(from), known.here);
        let flow = known.flow(open, from, to);
        let (name, node) = (["units sent", "units received", "units lost", "unrecorded"], Some(to));
        let units = name.map(|name| known.series([name, "units", "units"], node, flow));
        let goodput = known.series(["rate", "b/s", "rate"], node, flow);
        let delay = known.series(["one-way delay", "s", "delay"], node, flow);
        let (due, rate) = (now + INTERVAL, Rate::since(now));
        Some(Received { record: self, flow, from, due, rate, octets: 0, unrecorded: 0, goodput, delay, units })
    }

    /// A flow that comes from `from`, and that this host passes on to `to`.
    pub(super) fn passed_on(&self, open: &Open, from: IpAddr, to: IpAddr, now: Instant) -> Option<PassedOn<'_>> {
        let mut known = self.lock();
        let known = known.as_mut()?;
        let (from, to, here) = (known.host(from), known.host(to), known.here);
        let flow = known.flow(open, from, to);
        let names = ["units received", "units passed on", "units held", "units without room", "garbage"];
        let units = names.map(|name| known.series([name, "units", "units"], Some(here), flow));
        Some(PassedOn { record: self, due: now + INTERVAL, units })
    }

    /// Writes the rest, at the end.
    ///
    /// # Errors
    /// [`Failure::Run`]: a file that could not be written.
    pub(super) fn finish(&self, now: Instant) -> Result<(), Failure> {
        let known = self.lock().take();
        known.map_or(Ok(()), |known| known.recording.finish(now))
    }
}

impl Known {
    fn host(&mut self, address: IpAddr) -> Node {
        let about = self.recording.about();
        *self.hosts.entry(address).or_insert_with(|| about.add_node(address.to_string()))
    }

    fn flow(&mut self, open: &Open, from: Node, to: Node) -> Flow {
        let name = format!("{:016x}", open.session);
        self.recording.about().add_flow(Carried { name, from, to, protocol: open.protocol.name() })
    }

    fn series(&mut self, [name, unit, panel]: [&'static str; 3], node: Option<Node>, flow: Flow) -> Option<usize> {
        self.recording.about().add_series(Measurement { name, unit, panel, node, flow: Some(flow) })
    }
}

impl Received<'_> {
    /// Whether something is to be written at `now`.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }

    /// Writes what has arrived since the last time, and what is known of the flow.
    pub(super) fn look(&mut self, arrivals: Arrivals, summary: &FlowSummary, now: Instant) {
        self.due = now + INTERVAL;
        let mut known = self.record.lock();
        let Some(known) = known.as_mut() else { return };
        let (here, count) = (known.here, arrivals.units.len());
        let mut delays = 0.0;
        for Arrival { time, delay, sequence, octets } in arrivals.units {
            delays += delay.as_secs_f64();
            self.octets += u64::from(octets);
            let happening = Happening {
                time: time.saturating_before(delay),
                step: Step::Sent(sequence),
                node: self.from,
                peer: here,
                flow: self.flow,
                size: octets,
            };
            known.recording.happening(happening);
            let step = Step::Delivered(Some(delay));
            known.recording.happening(Happening { time, step, node: here, peer: self.from, ..happening });
        }
        self.unrecorded += arrivals.unrecorded;
        if let Some(rate) = self.rate.at(self.octets, now) {
            known.recording.sample(now, self.goodput, rate);
        }
        if count > 0 {
            known.recording.sample(now, self.delay, delays / count as f64);
        }
        let values =
            [summary.sent_packets, summary.received_packets, summary.lost_packets, self.unrecorded].map(|n| n as f64);
        self.units.into_iter().zip(values).for_each(|(series, value)| known.recording.sample(now, series, value));
        known.recording.release(now.saturating_before(LONGEST_DELAY));
    }
}

impl PassedOn<'_> {
    /// Writes what the relay has counted, if it is time or the flow `has_ended`.
    pub(super) fn look(&mut self, count: impl FnOnce() -> Relayed, has_ended: bool, now: Instant) {
        if now < self.due && !has_ended {
            return;
        }
        self.due = now + INTERVAL;
        let Relayed { received, forwarded, garbage, overflowed } = count();
        let values = [received, forwarded, received.saturating_sub(forwarded), overflowed, garbage].map(|n| n as f64);
        let mut known = self.record.lock();
        let Some(known) = known.as_mut() else { return };
        self.units.into_iter().zip(values).for_each(|(series, value)| known.recording.sample(now, series, value));
    }
}
